# SPDX-License-Identifier: Apache-2.0
"""Sparse arrays beside MXNet's recorded answers: storage types, values, files, lazy updates."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from tests.golden import sparse

GOLDEN = Path(__file__).parent.parent / "golden"
RECORDED: dict[str, Any] = json.loads((GOLDEN / "sparse.json").read_text())


@pytest.mark.filterwarnings("ignore::afterglow.ndarray.sparse.StorageFallbackWarning")
def test_answers_are_those_of_mxnet() -> None:
    found = sparse.answers(mx)
    assert found.keys() == RECORDED["answers"].keys()
    different = {}
    for name, wanted in RECORDED["answers"].items():
        ours = found[name]
        values = (onp.array(one.pop("values")) for one in (dict(ours), dict(wanted)))
        same = onp.allclose(*values, rtol=1e-5, atol=1e-6, equal_nan=True)
        plain = [{**one, "values": None} for one in (ours, wanted)]
        if not same or plain[0] != plain[1]:
            different[name] = (ours, wanted)
    assert not different


@pytest.mark.filterwarnings("ignore::afterglow.ndarray.sparse.StorageFallbackWarning")
def test_updates_are_those_of_mxnet() -> None:
    for name, given, wanted in RECORDED["updates"]:
        updater = mx.optimizer.get_updater(mx.optimizer.create(name, **given))
        weight = mx.nd.array(sparse.LEFT + 1)
        for step in range(3):
            rows = [[1, 3], [0], [1, 2]][step]
            values = onp.cos(onp.arange(len(rows) * 3) + step).reshape(-1, 3).astype("float32")
            shape = sparse.LEFT.shape
            updater(0, mx.nd.sparse.row_sparse_array((values, rows), shape=shape), weight)
        onp.testing.assert_allclose(
            weight.asnumpy().ravel(), wanted, rtol=1e-5, atol=1e-6, err_msg=f"{name} {given}"
        )


def test_files_are_those_of_mxnet(tmp_path: Path) -> None:
    content = base64.b64decode(RECORDED["file"])
    theirs, ours = tmp_path / "theirs.params", tmp_path / "ours.params"
    theirs.write_bytes(content)
    loaded = mx.nd.load(theirs)
    assert {name: array.stype for name, array in loaded.items()} == {
        "csr": "csr",
        "rows": "row_sparse",
        "nothing": "row_sparse",
        "dense": "default",
    }
    for name in ("csr", "rows", "dense"):
        assert (loaded[name].asnumpy() == sparse.LEFT).all()
    mx.nd.save(ours, loaded)
    assert ours.read_bytes() == content


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    content = bytearray(base64.b64decode(RECORDED["file"]))
    path = tmp_path / "damaged.params"
    refused = 0
    for place in range(0, len(content), 7):
        damaged = content.copy()
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        try:
            for array in mx.nd.load(path).values():
                array.asnumpy()
        except (mx.MXNetError, MemoryError):
            refused += 1
    assert refused > 20
