# SPDX-License-Identifier: Apache-2.0
"""Sums, products and extremes over axes, and where extremes are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as onp

from .graph import Node
from .registry import imports
from .values import dtype_of, is_float


def _axes(node: Node, since: int) -> tuple[int, ...]:
    """Return the axes, which are an input since a version; without any they are all."""
    rank = len(node[0].shape)
    given = node.numbers(1) if node.version >= since else node.get("axes")
    if not given:
        return () if node.get("noop_with_empty_axes", 0) else tuple(range(rank))
    return tuple(sorted(axis % rank for axis in given))


def _reduction(op: str, rule: Callable[[Any, Any, Callable[[str, Any], Any]], Any]) -> None:
    since = 13 if op == "ReduceSum" else 18

    @imports(op)
    def compute(node: Node) -> Any:
        x = node[0]
        axes, keep = _axes(node, since), bool(node.get("keepdims", 1))
        shape = tuple(
            1 if axis in axes else extent
            for axis, extent in enumerate(x.shape)
            if keep or axis not in axes
        )

        def over(name: str, value: Any) -> Any:
            if not axes:
                return value
            if math.prod(value.shape) == 0:
                return node.f.full(shape, _of_nothing(name, dtype_of(value)), dtype=dtype_of(value))
            function = getattr(node.f, name)
            if dtype_of(value).kind == "b":  # of which arrays have no extremes
                number = function(node.f.cast(value, "int8"), axis=axes, keepdims=keep)
                return node.f.cast(number, "bool")
            return function(value, axis=axes, keepdims=keep)

        return node.f.cast(rule(node.f, x, over), dtype_of(x))


def _of_nothing(name: str, dtype: onp.dtype[Any]) -> Any:
    """Return a reduction of no elements."""
    if name in ("max", "min"):
        sign = -1 if name == "max" else 1
        if dtype.kind == "b":
            return name == "min"
        if dtype.kind in "iu":
            limits = onp.iinfo(dtype)
            return limits.min if name == "max" else limits.max
        return sign * math.inf
    return {"sum": 0, "prod": 1, "mean": math.nan}[name]


def _log_of_sum(f: Any, x: Any, over: Callable[[str, Any], Any]) -> Any:
    """Return the logarithms of sums of exponentials, none of which is too great."""
    x = x if is_float(x) else f.cast(x, "float64")
    if math.prod(x.shape) == 0:
        return f.log(over("sum", x))
    top = f.max(x)
    top = f.where(f.isfinite(top), top, 0 * f.ones_like(top))
    return f.log(over("sum", f.exp(x - top))) + top


#: ONNX's name: what is computed with ``over("sum", x)``, a sum over the axes, and the like.
for _op, _rule in {
    "ReduceL1": lambda f, x, over: over("sum", f.abs(x)),
    "ReduceL2": lambda f, x, over: f.sqrt(over("sum", f.square(x))),
    "ReduceLogSum": lambda f, x, over: f.log(over("sum", x)),
    "ReduceLogSumExp": _log_of_sum,
    "ReduceMax": lambda f, x, over: over("max", x),
    "ReduceMean": lambda f, x, over: over("mean", x),
    "ReduceMin": lambda f, x, over: over("min", x),
    "ReduceProd": lambda f, x, over: over("prod", x),
    "ReduceSum": lambda f, x, over: over("sum", x),
    "ReduceSumSquare": lambda f, x, over: over("sum", f.square(x)),
}.items():
    _reduction(_op, _rule)


@imports("ArgMax", "ArgMin")
def _arg(node: Node) -> Any:
    """Return where the extreme is; the first one, or the last."""
    x, axis = node[0], node.get("axis", 0)
    name = "argmax" if node.step.op == "ArgMax" else "argmin"
    extent = x.shape[axis]
    if node.get("select_last_index", 0):
        found = extent - 1 - getattr(node.f, name)(node.f.flip(x, axis), axis=axis)
    else:
        found = getattr(node.f, name)(x, axis=axis)
    if node.get("keepdims", 1):
        found = node.f.expand_dims(found, axis % len(x.shape))
    return node.f.cast(found, "int64")


@imports("CumSum", "CumProd")
def _cumulative(node: Node) -> Any:
    """Sums or products of all elements up to each, or (exclusive) before it."""
    f, x, axis = node.f, node[0], int(node.number(1))
    is_sum = node.step.op == "CumSum"
    if not is_sum and not f.is_host:
        node = node.on_host()
        f, x = node.f, node[0]
    if node.get("reverse", 0):
        x = f.flip(x, axis)
    found = (f.cumsum if is_sum else f.cumprod)(x, axis=axis)
    if node.get("exclusive", 0):
        first = [slice(None)] * len(x.shape)
        first[axis] = slice(0, 1)
        rest = list(first)
        rest[axis] = slice(0, x.shape[axis] - 1)
        start = (f.zeros_like if is_sum else f.ones_like)(found[tuple(first)])
        found = f.concatenate([start, found[tuple(rest)]], axis=axis)
    if node.get("reverse", 0):
        found = f.flip(found, axis)
    return f.cast(found, dtype_of(x))


@imports("Hardmax")
def _hardmax(node: Node) -> Any:
    """1 where the first of the greatest is. Before version 13 over all axes from one on."""
    f, x = node.f, node[0]
    shape, axis = x.shape, node.get("axis", 1 if node.version < 13 else -1)
    if node.version < 13:
        x, axis = f.reshape(x, (math.prod(shape[:axis]), -1)), 1
    axis %= len(x.shape)
    count = x.shape[axis]
    places = onp.arange(count).reshape([-1] + [1] * (len(x.shape) - 1 - axis))
    top = f.cast(f.expand_dims(f.argmax(x, axis=axis), axis), "int64")
    return f.reshape(f.cast(f.equal(top, f.value(places)), dtype_of(x)), shape)


@imports("Softmax", "LogSoftmax")
def _softmax(node: Node) -> Any:
    """Along an axis; before version 13 over all axes from one on."""
    f, x = node.f, node[0]
    function = f.softmax if node.step.op == "Softmax" else f.log_softmax
    if node.version >= 13:
        return function(x, axis=node.get("axis", -1))
    axis = node.get("axis", 1) % max(len(x.shape), 1)
    if axis == len(x.shape) - 1:
        return function(x, axis=-1)
    rows = f.reshape(x, (math.prod(x.shape[:axis]), -1))
    return f.reshape(function(rows, axis=-1), x.shape)
