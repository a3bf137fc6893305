# SPDX-License-Identifier: Apache-2.0
"""Every name that books and examples use exists here and takes the keywords they pass.

``golden/names.json`` is written by ``golden/record_names.py``.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import afterglow as mx

NAMES = json.loads((Path(__file__).parent / "golden" / "names.json").read_text(encoding="utf-8"))

_LAYERS = "a layer of neural networks"
_DETECTION = "detection of objects"
_SPARSE = "sparse arrays"
_EXTERNAL = "loads code that was compiled for MXNet"

#: Names that belong to parts which do not exist yet, and to which.
LATER: dict[str, str] = {
    "nd.Convolution": _LAYERS,
    "nd.Pooling": _LAYERS,
    "nd.FullyConnected": _LAYERS,
    "nd.UpSampling": _LAYERS,
    "nd.ROIPooling": _DETECTION,
    "nd.contrib.MultiBoxDetection": _DETECTION,
    "nd.contrib.MultiBoxPrior": _DETECTION,
    "nd.contrib.MultiBoxTarget": _DETECTION,
    "npx.convolution": _LAYERS,
    "npx.pooling": _LAYERS,
    "npx.roi_pooling": _DETECTION,
    "npx.multibox_prior": _DETECTION,
    "NDArray.data": _SPARSE,
    "NDArray.indices": _SPARSE,
    "NDArray.tostype": _SPARSE,
    "mx.AttrScope": "symbols",
}

#: Names that MXNet 1.9.1 does not have either: made by the programs, or meant for other classes.
NOT_IN_MXNET: dict[str, str] = {
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
    "ndarray.abs": "raises in MXNet",
    "ndarray.asscalar": "raises in MXNet",
    "ndarray.sqrt": "raises in MXNet",
}

WANTED = [
    (namespace, name, keywords)
    for namespace, names in NAMES.items()
    for name, keywords in names.items()
    if f"{namespace}.{name}" not in LATER | NOT_IN_MXNET
]


def find(namespace: str, name: str) -> Any:
    """Return what a name stands for here. What only NumPy computes does not count."""
    if namespace == "NDArray":
        return getattr(mx.nd.NDArray, name, None)
    if namespace == "ndarray":
        return getattr(mx.np.ndarray, name, None)
    home: Any = mx
    for part in namespace.split("."):
        home = home if part == "mx" else getattr(home, part)
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
    assert set(LATER | NOT_IN_MXNET) <= known
    done = [name for name in LATER if find(*name.rsplit(".", 1)) is not None]
    assert done == [], f"{done} exist by now: they are no longer for later"
