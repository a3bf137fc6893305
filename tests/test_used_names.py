# SPDX-License-Identifier: Apache-2.0
"""Every name that books and examples use exists here and takes the keywords they pass.

``golden/names.json`` is written by ``golden/record_names.py``.
"""

from __future__ import annotations

import inspect
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

import afterglow as mx

NAMES = json.loads((Path(__file__).parent / "golden" / "names.json").read_text(encoding="utf-8"))

_SPARSE = "sparse arrays"
_EXTERNAL = "loads code that was compiled for MXNet"

#: Names that belong to parts which do not exist yet, and to which.
LATER: dict[str, str] = {
    "NDArray.data": _SPARSE,
    "NDArray.indices": _SPARSE,
}

#: Names that are left out for good: made by the programs, meant for other classes or devices, or
#: missing in MXNet 1.9.1 as well.
LEFT_OUT: dict[str, str] = {
    **{
        f"nd.{name}": _EXTERNAL
        for name in (
            "my_gemm",
            "my_noisy_relu",
            "my_relu",
            "my_state_relu",
            "my_state_transposecsr",
            "my_state_transposerowsp",
            "my_transposecsr",
            "my_transposerowsp",
            "state_gemm",
        )
    },
    "NDArray.all": "counted by mistake: a method of np arrays",
    "NDArray.std": "counted by mistake: a method of np arrays",
    "gluon.data.vision.image.imread": "missing in MXNet: mx.image has it",
    "library.load": _EXTERNAL,
    "rtc.CudaModule": "needs a GPU",
    "notebook.callback.LiveTimeSeries": "draws in notebooks",
    "ndarray.abs": "raises in MXNet",
    "ndarray.asscalar": "raises in MXNet",
    "ndarray.sqrt": "raises in MXNet",
}

WANTED = [
    (namespace, name, keywords)
    for namespace, names in NAMES.items()
    for name, keywords in names.items()
    if f"{namespace}.{name}" not in LATER | LEFT_OUT
]


#: Classes whose members are looked for, as objects that have all of them together.
OBJECTS: dict[str, tuple[Any, ...]] = {
    "NDArray": (mx.nd.NDArray,),
    "ndarray": (mx.np.ndarray,),
    "gluon.data.Dataset": (
        mx.gluon.data.Dataset(),
        mx.gluon.data.vision.ImageFolderDataset(tempfile.mkdtemp()),
    ),
    "gluon.HybridBlock": (
        mx.gluon.nn.Dense(1),
        mx.gluon.nn.BatchNorm(),
        mx.gluon.nn.HybridSequential(),
        mx.gluon.rnn.LSTM(1),
        mx.gluon.rnn.LSTMCell(1),
        mx.gluon.model_zoo.vision.alexnet(),
    ),
    "gluon.Parameter": (mx.gluon.Parameter("weight", shape=(1,)),),
    "lr_scheduler.LRScheduler": (mx.lr_scheduler.LRScheduler(),),
    "metric.EvalMetric": (mx.metric.EvalMetric("one"), mx.metric.CompositeEvalMetric()),
    "optimizer.Optimizer": (
        mx.optimizer.Optimizer(lr_scheduler=mx.lr_scheduler.FactorScheduler(10)),
    ),
}


def find(namespace: str, name: str) -> Any:
    """Return what a name stands for here. What only NumPy computes does not count."""
    if namespace in OBJECTS:
        members = (getattr(owner, name, None) for owner in OBJECTS[namespace])
        return next((member for member in members if member is not None), None)
    home: Any = mx.nd if namespace.split(".")[0] == "F" else mx
    for part in namespace.split("."):
        home = home if part in ("mx", "F") else getattr(home, part, None)
    if home in (mx.np, mx.np.linalg):
        return vars(home).get(name)
    return getattr(home, name, None)


def accepts(function: Any, keyword: str) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(
        parameter.kind is parameter.VAR_KEYWORD
        or (parameter.name == keyword and parameter.kind is not parameter.POSITIONAL_ONLY)
        for parameter in parameters
    )


@pytest.mark.parametrize(
    ("namespace", "name", "keywords"), WANTED, ids=[f"{space}.{name}" for space, name, _ in WANTED]
)
def test_name(namespace: str, name: str, keywords: list[str]) -> None:
    found = find(namespace, name)
    assert found is not None, f"{namespace}.{name} does not exist"
    assert not inspect.ismodule(found), f"{namespace}.{name} is a module"
    refused = [keyword for keyword in keywords if not accepts(found, keyword)]
    assert refused == [], f"{namespace}.{name} does not take {refused}"


def test_lists_are_up_to_date() -> None:
    known = {f"{namespace}.{name}" for namespace, names in NAMES.items() for name in names}
    assert set(LATER | LEFT_OUT) <= known
    done = [name for name in LATER if find(*name.rsplit(".", 1)) is not None]
    assert done == [], f"{done} exist by now: they are no longer for later"
