# SPDX-License-Identifier: Apache-2.0
"""Writes states.json: files of optimizer states that MXNet 1.9.1 wrote, and how training goes on.

Needs an environment with MXNet (see CONTRIBUTING.md).

    python tests/golden/record_states.py

With ``old`` it writes old_states.json: files as Afterglow wrote them with Python's pickle, before
it wrote those of MXNet. That takes a revision of Afterglow before ``afterglow/_pickles.py``.
"""

from __future__ import annotations

import base64
import json
import pickle
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as onp
from states import AFTER, BEFORE, CASES, SCHEDULERS, make_optimizer, make_weights, numbers, train


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _case(mx: Any, name: str, array: Any) -> dict[str, Any]:
    """Return the weights and the states in the middle of training, and the weights at its end."""
    weights = make_weights(array, name)
    updater = mx.optimizer.get_updater(make_optimizer(mx, name))
    train(array, updater, weights, 0, BEFORE)
    recorded = {
        "states": _encoded(updater.get_states()),
        "whole": _encoded(updater.get_states(dump_optimizer=True)),
        "weights": numbers(weights),
    }
    train(array, updater, weights, BEFORE, BEFORE + AFTER)
    return {**recorded, "continued": numbers(weights)}


def _written_by_others(mx: Any) -> dict[str, str]:
    """Return the files that a trainer, a module and a store write."""
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "states")
        net = mx.gluon.nn.Dense(1, in_units=2)
        net.initialize(mx.init.One())
        trainer = mx.gluon.Trainer(net.collect_params(), "adam")
        with mx.autograd.record():
            loss = net(mx.nd.ones((3, 2)))
        loss.backward()
        trainer.step(3)
        trainer.save_states(str(path))
        files["trainer"] = _encoded(path.read_bytes())

        symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="layer")
        module = mx.mod.Module(
            mx.sym.LinearRegressionOutput(symbol, name="out"), ["data"], ["out_label"]
        )
        data = mx.io.NDArrayIter(
            onp.ones((2, 2), "f"), onp.ones((2, 1), "f"), 2, label_name="out_label"
        )
        module.fit(data, num_epoch=1, optimizer="adam", kvstore=None)
        module.save_optimizer_states(str(path))
        files["module"] = _encoded(path.read_bytes())

        store = mx.kv.create("local")
        store.set_optimizer(mx.optimizer.create("sgd", momentum=0.9))
        store.init("w", mx.nd.ones((1,)))
        store.push("w", mx.nd.ones((1,)))
        store.save_optimizer_states(str(path), dump_optimizer=True)
        files["store"] = _encoded(path.read_bytes())
    return files


def main() -> None:
    import mxnet as mx

    cases = {name: _case(mx, name, mx.nd.array) for name in [*CASES, *SCHEDULERS]}
    files = _written_by_others(mx)
    updater = mx.optimizer.get_updater(make_optimizer(mx, "adam"))
    train(mx.nd.array, updater, make_weights(mx.nd.array, "adam"), 0, BEFORE)
    for protocol in (3, 5):  # what other versions of Python use by themselves
        files[f"protocol {protocol}"] = _encoded(
            pickle.dumps((updater.states, updater.optimizer), protocol)
        )
    mx.npx.set_np()
    cases["np"] = _case(mx, "adam", mx.np.array)
    _save("states.json", {"cases": cases, "files": files})


def old() -> None:
    import afterglow as mx

    names = ["momentum", "float16", "lbsgd", "adam", "factor"]
    cases = {name: _case(mx, name, mx.nd.array) for name in names}
    cases["np"] = _case(mx, "adam", mx.np.array)
    import afterglow.as_mxnet

    cases["as mxnet"] = _case(mx, "adam", mx.nd.array)
    _save("old_states.json", cases)


def _save(name: str, recorded: dict[str, Any]) -> None:
    text = json.dumps(recorded, indent=1) + "\n"
    Path(__file__).with_name(name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    old() if sys.argv[1:] == ["old"] else main()
