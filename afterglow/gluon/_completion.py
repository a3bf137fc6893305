# SPDX-License-Identifier: Apache-2.0
"""Shapes of parameters found by calling ``hybrid_forward`` once with parameters that lack them.

A parameter of unknown shape stands in that call for itself (:class:`Unknown`). The functions of
``F`` that take weights complete its shape from the data they are called with, and go on with the
array that can then be made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from types import ModuleType
from typing import Any

from .._shapes import Shape, as_integers
from .parameter import Parameter

Arguments = dict[str, Any]


class Unknown:
    """A parameter whose shape is not known yet, in place of its array."""

    def __init__(self, parameter: Parameter, like: Any) -> None:
        self._parameter = parameter
        self._like = like

    @property
    def shape(self) -> Shape:
        """The shape, as far as it is known."""
        return self._parameter.shape or ()

    def completed(self, shape: Shape) -> Any:
        """Return the array, now that the shape is known."""
        self._parameter.shape = shape
        self._parameter._finish_deferred_init()
        return self._parameter._at(self._like._context_numbers)._as_class(self._like._legacy)


def _dense(given: Arguments) -> dict[str, Shape]:
    x = given["data"].shape
    units = given.get("num_hidden") or given["weight"].shape[0]
    return {
        "weight": (units, prod(x[1:]) if given.get("flatten", True) else x[-1]),
        "bias": (units,),
    }


def _convolution(given: Arguments) -> dict[str, Shape]:
    filters = given["num_filter"]
    channels = given["data"].shape[1] // given.get("num_group", 1)
    return {
        "weight": (filters, channels, *as_integers(given["kernel"], "kernel")),
        "bias": (filters,),
    }


def _embedding(given: Arguments) -> dict[str, Shape]:
    return {"weight": (given["input_dim"], given["output_dim"])}


def _norm(default_axis: int, given: Arguments) -> dict[str, Shape]:
    channels = (given["data"].shape[given.get("axis", default_axis)],)
    return dict.fromkeys(("gamma", "beta", "moving_mean", "moving_var"), channels)


def _product(given: Arguments) -> dict[str, Shape]:
    depth = given["lhs"].shape[0 if given.get("transpose_a") else -1]
    known = given["rhs"].shape
    if given.get("transpose_b"):
        return {"rhs": (*known[:-1], depth)}
    return {"rhs": (depth, *known[1:])}


_Rule = Callable[[Arguments], dict[str, Shape]]

#: By function: the names of its first arguments, and how the shapes of weights are found.
_RULES: dict[str, tuple[tuple[str, ...], _Rule]] = {
    "FullyConnected": (("data", "weight", "bias", "num_hidden"), _dense),
    "Convolution": (("data", "weight", "bias", "kernel"), _convolution),
    "Embedding": (("data", "weight", "input_dim", "output_dim"), _embedding),
    "BatchNorm": (("data", "gamma", "beta", "moving_mean", "moving_var"), partial(_norm, 1)),
    "LayerNorm": (("data", "gamma", "beta", "axis"), partial(_norm, -1)),
    "InstanceNorm": (("data", "gamma", "beta"), partial(_norm, 1)),
    "dot": (("lhs", "rhs", "transpose_a", "transpose_b"), _product),
}
_RULES.update(
    {
        "fully_connected": _RULES["FullyConnected"],
        "convolution": _RULES["Convolution"],
        "embedding": _RULES["Embedding"],
        "batch_norm": _RULES["BatchNorm"],
        "layer_norm": _RULES["LayerNorm"],
    }
)


class Completing:
    """``F``, with functions that complete the shapes of the parameters they are given."""

    def __init__(self, functions: Any) -> None:
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._functions, name)
        if isinstance(found, ModuleType):
            return Completing(found)
        if name not in _RULES:
            return found
        return partial(_call, found, *_RULES[name])


def _call(
    function: Callable[..., Any], names: tuple[str, ...], rule: _Rule, *args: Any, **kwargs: Any
) -> Any:
    """Call a function with arrays in place of parameters of unknown shape."""
    if not any(isinstance(value, Unknown) for value in (*args, *kwargs.values())):
        return function(*args, **kwargs)
    shapes = rule({**dict(zip(names, args, strict=False)), **kwargs})

    def known(name: str, value: Any) -> Any:
        return value.completed(shapes[name]) if isinstance(value, Unknown) else value

    further = args[len(names) :]
    return function(
        *(known(name, value) for name, value in zip(names, args, strict=False)),
        *further,
        **{name: known(name, value) for name, value in kwargs.items()},
    )
