# SPDX-License-Identifier: Apache-2.0
"""Ops that take, or change, what indices name."""

from __future__ import annotations

import math
from typing import Any

import numpy as onp

from .graph import Node
from .registry import imports
from .values import is_float


@imports("Gather")
def _gather(node: Node) -> Any:
    """Negative indices count from the end."""
    return node.f.take(node[0], node[1], axis=node.get("axis", 0), mode="wrap")


@imports("GatherElements")
def _gather_elements(node: Node) -> Any:
    f, x = node.f, node[0]
    places = _elements(node, x.shape, node[1], node.get("axis", 0))
    return f.take(f.reshape(x, (-1,)), places, axis=0)


@imports("GatherND")
def _gather_nd(node: Node) -> Any:
    f, x = node.f, node[0]
    batch = node.get("batch_dims", 0)
    places, depth = _points(node, x.shape, node[1], batch)
    rows = f.reshape(x, (math.prod(x.shape[:depth]), *x.shape[depth:]))
    return f.take(rows, places, axis=0)


def _elements(node: Node, shape: tuple[int, ...], indices: Any, axis: int) -> Any:
    """Return where elements lie in a row, whose place along one axis is given."""
    axis %= len(shape)
    strides = [math.prod(shape[one + 1 :]) for one in range(len(shape))]
    base = onp.zeros(indices.shape, "int64")
    for one, stride in enumerate(strides):
        if one != axis:
            extent = indices.shape[one]
            numbers = onp.arange(extent).reshape([-1] + [1] * (len(shape) - 1 - one))
            base += numbers * stride
    inside = node.f.cast(node.f.mod(indices, shape[axis]), "int64")
    return inside * strides[axis] + node.f.value(base)


def _points(node: Node, shape: tuple[int, ...], indices: Any, batch: int) -> tuple[Any, int]:
    """Return which row each index is that names several axes, and how many axes these are."""
    f = node.f
    length = indices.shape[-1]
    depth = batch + length
    total: Any = None
    for place in range(length):
        one = f.mod(f.take(indices, f.value(onp.asarray(place)), axis=-1), shape[batch + place])
        one = f.cast(one, "int64") * math.prod(shape[batch + place + 1 : depth])
        total = one if total is None else total + one
    if batch:
        base = onp.arange(math.prod(shape[:batch])) * math.prod(shape[batch:depth])
        rest = len(indices.shape) - 1 - batch
        total = total + f.value(base.reshape(*indices.shape[:batch], *[1] * rest))
    return total, depth


_AT = {"mul": onp.multiply, "max": onp.maximum, "min": onp.minimum, "add": onp.add}


def _scattered(node: Node, data: Any, places: Any, values: Any) -> Any:
    """Return rows of which some are replaced, or joined with others."""
    reduction = node.get("reduction", "none")
    if reduction == "none":
        return node.f.update(data, places, values)
    if reduction == "add":
        return node.f.add_at(data, places, values)
    found = data.copy()
    _AT[reduction].at(found, places, values)
    return found


def _scatter_node(node: Node) -> Node:
    """Return a node on the host where arrays have no function."""
    is_simple = node.get("reduction", "none") in ("none", "add") and is_float(node.values[0])
    return node if node.f.is_host or is_simple else node.on_host()


@imports("Scatter", "ScatterElements")
def _scatter_elements(node: Node) -> Any:
    node = _scatter_node(node)
    f, x = node.f, node[0]
    places = _elements(node, x.shape, node[1], node.get("axis", 0))
    flat = _scattered(
        node, f.reshape(x, (-1,)), f.reshape(places, (-1,)), f.reshape(node[2], (-1,))
    )
    return f.reshape(flat, x.shape)


@imports("ScatterND")
def _scatter_nd(node: Node) -> Any:
    node = _scatter_node(node)
    f, x = node.f, node[0]
    places, depth = _points(node, x.shape, node[1], 0)
    rows = f.reshape(x, (math.prod(x.shape[:depth]), *x.shape[depth:]))
    values = f.reshape(node[2], (-1, *x.shape[depth:]))
    return f.reshape(_scattered(node, rows, f.reshape(places, (-1,)), values), x.shape)


@imports("TensorScatter")
def _tensor_scatter(node: Node) -> Any:
    """Write a stretch along an axis, which begins elsewhere in each sample."""
    node = node.on_host()
    cache, update = node[0].copy(), node[1]
    axis = node.get("axis", -2) % cache.ndim
    starts = node[2] if node.has(2) else onp.zeros(cache.shape[0], "int64")
    length = update.shape[axis]
    for sample, start in enumerate(starts.tolist()):
        places = start + onp.arange(length)
        if node.get("mode", "linear") == "circular":
            places %= cache.shape[axis]
        onp.moveaxis(cache[sample], axis - 1, 0)[places] = onp.moveaxis(update[sample], axis - 1, 0)
    return cache


@imports("Compress", on_host=True)
def _compress(node: Node) -> Any:
    return onp.compress(node[1], node[0], axis=node.get("axis"))


@imports("NonZero", on_host=True)
def _non_zero(node: Node) -> Any:
    return onp.asarray(onp.atleast_1d(node[0]).nonzero(), "int64")


@imports("Unique", on_host=True)
def _unique(node: Node) -> Any:
    """What there is, where it is first, which each is, how often; in order or as it comes."""
    axis = node.get("axis")
    values, first, inverse, counts = onp.unique(node[0], True, True, True, axis=axis)
    inverse = inverse.ravel()
    if not node.get("sorted", 1):
        order = onp.argsort(first)
        values = onp.take(values, order, axis=0 if axis is None else axis)
        first, counts = first[order], counts[order]
        rank = onp.empty_like(order)
        rank[order] = onp.arange(len(order))
        inverse = rank[inverse]
    return values, *(one.astype("int64") for one in (first, inverse, counts))


@imports("TopK")
def _top_k(node: Node) -> Any:
    """The greatest along an axis, or the least; of equal ones the first. k is an input since 10."""
    x, axis = node[0], node.get("axis", -1)
    count = int(node.number(1)) if node.has(1) else node.get("k")
    least = not node.get("largest", 1)
    if not is_float(x):
        return _top_k_on_host(node.on_host(), axis, count, least)
    found, places = node.f.topk(
        x, axis=axis, k=count, ret_typ="both", is_ascend=least, dtype="int64"
    )
    return found, places


def _top_k_on_host(node: Node, axis: int, count: int, least: bool) -> Any:
    x = node[0]
    key = x.astype("int64") if x.dtype.kind in "iu" and x.dtype != "uint64" else x.astype("float64")
    order = onp.argsort(key if least else -key, axis=axis, kind="stable")
    places = onp.take(order, onp.arange(count), axis=axis)
    return onp.take_along_axis(x, places, axis), places.astype("int64")


@imports("ReverseSequence", on_host=True)
def _reverse_sequence(node: Node) -> Any:
    x, lengths = node[0], node[1]
    time, batch = node.get("time_axis", 0), node.get("batch_axis", 1)
    steps = onp.moveaxis(x, (time, batch), (0, 1))
    found = steps.copy()
    for sample, length in enumerate(lengths.tolist()):
        found[:length, sample] = steps[:length, sample][::-1]
    return onp.moveaxis(found, (0, 1), (time, batch))
