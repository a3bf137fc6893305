# SPDX-License-Identifier: Apache-2.0
"""Check that MXNet reads our files of optimizer states and goes on training as we do.

``check_states.py write FOLDER`` with Afterglow, then ``check_states.py read FOLDER`` with MXNet.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as onp
from states import AFTER, BEFORE, CASES, SCHEDULERS, make_optimizer, make_weights, numbers, train


def _names(mx: Any) -> list[tuple[str, str, Any]]:
    """Return a name for files, the case and what makes arrays; the last is in MXNet's np mode."""
    cases = [(name, name, mx.nd.array) for name in [*CASES, *SCHEDULERS]]
    return [*cases, ("np", "adam", mx.np.array)]


def write(folder: Path) -> None:
    """Train with Afterglow; write states in the middle, and weights there and at the end."""
    import afterglow as mx

    folder.mkdir(parents=True, exist_ok=True)
    for file, name, array in _names(mx):
        if file == "np":
            mx.npx.set_np()
        weights = make_weights(array, name)
        updater = mx.optimizer.get_updater(make_optimizer(mx, name))
        train(array, updater, weights, 0, BEFORE)
        (folder / f"{file}.states").write_bytes(updater.get_states())
        (folder / f"{file}.whole").write_bytes(updater.get_states(dump_optimizer=True))
        before = numbers(weights)
        train(array, updater, weights, BEFORE, BEFORE + AFTER)
        (folder / f"{file}.json").write_text(json.dumps([before, numbers(weights)]))


def read(folder: Path) -> None:
    """Go on with MXNet, and compare."""
    import mxnet as mx

    for file, name, array in _names(mx):
        if file == "np":
            mx.npx.set_np()
        before, after = json.loads((folder / f"{file}.json").read_text())
        weights = make_weights(array, name)
        for key, weight in weights.items():
            weight[:] = array(onp.reshape(before[str(key)], weight.shape), dtype=weight.dtype)
        # A file without the optimizer goes with one that has counted as far.
        first = mx.optimizer.get_updater(make_optimizer(mx, name))
        first.set_states((folder / f"{file}.states").read_bytes())
        assert sorted(map(str, first.states)) == sorted(before), file
        updater = mx.optimizer.get_updater(mx.optimizer.create("sgd"))
        updater.set_states((folder / f"{file}.whole").read_bytes())
        updater.aggregate_updates = updater.optimizer.aggregate_num > 0
        train(array, updater, weights, BEFORE, BEFORE + AFTER)
        theirs = numbers(weights)
        tolerance = 5e-3 if "float16" in name else 1e-5
        for key, ours in after.items():
            if not onp.allclose(ours, theirs[key], rtol=tolerance, atol=tolerance):
                print(f"{file}, {key}: {ours} against {theirs[key]}")
    print("read everything")


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](Path(sys.argv[2]))
