# SPDX-License-Identifier: Apache-2.0
"""Writes files.json: small files of arrays that MXNet 1.9.1 wrote, and what it reads from them.

Needs an environment with MXNet (see CONTRIBUTING.md). The two oldest layouts, which MXNet 1.9.1
reads but no longer writes, are put together here by hand; what MXNet reads from them is recorded.

    python tests/golden/record_files.py
"""

from __future__ import annotations

import base64
import json
import struct
import tempfile
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as onp

DTYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64"]


def describe(loaded: Any) -> Any:
    """Return shape, type and values of all arrays."""
    if isinstance(loaded, dict):
        return {name: describe(array) for name, array in loaded.items()}
    if isinstance(loaded, list):
        return [describe(array) for array in loaded]
    host = loaded.asnumpy()
    return {"dtype": str(host.dtype), "shape": list(host.shape), "values": host.ravel().tolist()}


def old_file(magic: int | None, shape: tuple[int, ...], values: list[float]) -> bytes:
    """Return a list of one float32 array without storage type, or even without magic."""
    rank = len(shape)
    if magic is None:
        head = struct.pack(f"<I{rank}I", rank, *shape)
    else:
        head = struct.pack(f"<Ii{rank}q", magic, rank, *shape)
    body = struct.pack("<3i", 1, 0, 0) + onp.array(values, "<f4").tobytes()
    return struct.pack("<3Q", 0x112, 0, 1) + head + body + struct.pack("<Q", 0)


def main() -> None:
    nd, np, npx = mx.nd, mx.np, mx.npx
    classic: dict[str, Any] = {
        "single": nd.array([[1, 2, 3], [4, 5, 6]]),
        "list": [nd.array([1, 2]), nd.array([[3]])],
        "dictionary": {"weight": nd.array([[1.5, -2]]), "bias": nd.array([0.25])},
        "names": {"arg:w\u00e9ight": nd.array([1]), "": nd.array([2]), "a b/c": nd.array([3])},
        "empty list": [],
        "types": {name: nd.array([0, 1, 100], dtype=name) for name in DTYPES},
        "special": [nd.array([float("nan"), float("inf"), -0.0])],
        "rank 6": [nd.ones((1, 2, 1, 2, 1, 1))],
        "row_sparse": mx.nd.sparse.row_sparse_array(nd.array([[1, 2], [0, 0]])),
        "csr": {"m": mx.nd.sparse.csr_matrix(nd.array([[1, 2], [0, 0]]))},
    }
    old = {
        "first magic": old_file(0xF993FAC8, (2, 3), [1, 2, 3, 4, 5, 6]),
        "no magic": old_file(None, (2, 3), [1, 2, 3, 4, 5, 6]),
    }
    recorded: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "file")

        def keep(name: str, loaded: Any, form: str) -> None:
            recorded[name] = {
                "form": form,
                "data": base64.b64encode(Path(path).read_bytes()).decode(),
                "loaded": loaded,
            }

        for name, arrays in classic.items():
            nd.save(path, arrays)
            sparse = name in ("row_sparse", "csr")
            keep(name, None if sparse else describe(nd.load(path)), "classic")
        for name, data in old.items():
            Path(path).write_bytes(data)
            keep(name, describe(nd.load(path)), "old")
        npx.set_np()
        modern: dict[str, Any] = {
            "np single": np.array([[1, 2]], dtype="int32"),
            "np number": np.array(3.5),
            "np empty": [np.zeros((0, 2)), np.ones((1,), dtype="bool")],
            "np dictionary": {"a": np.array(7, dtype="int64"), "b": np.ones((2,), "float16")},
        }
        for name, arrays in modern.items():
            npx.save(path, arrays)
            keep(name, describe(npx.load(path)), "numpy")
    target = Path(__file__).with_name("files.json")
    target.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
