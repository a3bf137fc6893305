# SPDX-License-Identifier: Apache-2.0
"""Write MXNet's answers to the calls of ``sparse.py`` to ``sparse.json``. Needs MXNet.

With them goes a file of sparse arrays as MXNet writes it, and weights after lazy updates.
"""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as onp
from sparse import LEFT, answers


def _file() -> str:
    arrays = {
        "csr": mx.nd.array(LEFT).tostype("csr"),
        "rows": mx.nd.array(LEFT, dtype="float64").tostype("row_sparse"),
        "nothing": mx.nd.sparse.zeros("row_sparse", (5, 2)),
        "dense": mx.nd.array(LEFT),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays.params"
        mx.nd.save(str(path), arrays)
        return base64.b64encode(path.read_bytes()).decode()


#: Name, arguments, whether updates of the rows alone are wanted.
OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("sgd", {"learning_rate": 0.1, "wd": 0.01}),
    ("sgd", {"learning_rate": 0.1, "wd": 0.01, "momentum": 0.9}),
    ("sgd", {"learning_rate": 0.1, "wd": 0.01, "momentum": 0.9, "lazy_update": False}),
    ("sgd", {"learning_rate": 0.1, "clip_gradient": 0.5, "rescale_grad": 2.0}),
    ("adam", {"learning_rate": 0.1, "wd": 0.01}),
    ("adam", {"learning_rate": 0.1, "wd": 0.01, "lazy_update": False}),
    ("adagrad", {"learning_rate": 0.1}),
    ("ftrl", {"learning_rate": 0.1, "wd": 0.01}),
    ("rmsprop", {"learning_rate": 0.1}),
]


def _updates() -> list[Any]:
    found = []
    for name, given in OPTIMIZERS:
        updater = mx.optimizer.get_updater(mx.optimizer.create(name, **given))
        weight = mx.nd.array(LEFT + 1)
        for step in range(3):
            rows = [[1, 3], [0], [1, 2]][step]
            values = onp.cos(onp.arange(len(rows) * 3) + step).reshape(-1, 3).astype("float32")
            gradient = mx.nd.sparse.row_sparse_array((values, rows), shape=LEFT.shape)
            updater(0, gradient, weight)
        found.append([name, given, [float(f"{one:.7g}") for one in weight.asnumpy().flat]])
    return found


def main() -> None:
    """Record everything."""
    lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in answers(mx).items()]
    text = '{"answers": {\n' + ",\n".join(lines) + "\n},\n"
    text += '"updates": [\n' + ",\n".join(map(json.dumps, _updates())) + "\n],\n"
    text += f'"file": {json.dumps(_file())}}}\n'
    Path(__file__).with_name("sparse.json").write_text(text)


if __name__ == "__main__":
    main()
