# SPDX-License-Identifier: Apache-2.0
"""Branches and loops, whose bodies are graphs, and random numbers."""

from __future__ import annotations

from typing import Any

import numpy as onp

from ... import numpy as np
from .graph import Graph, Node
from .registry import imports
from .types import cast, dtype_named
from .values import HOSTS, dtype_of


def _run(node: Node, graph: Graph, values: list[Any]) -> list[Any]:
    """Return the outputs of a graph inside of a node."""
    scope = {**node.scope, **graph.weights, **dict(zip(graph.inputs, values, strict=True))}
    return graph.run(scope)


def _stacked(node: Node, values: list[Any], axis: int = 0) -> Any:
    """Return the results of all turns of a loop as one."""
    if not values:
        raise node.refuse("its loop had no turn, so the shape of its output is not known")
    if all(isinstance(one, onp.ndarray) for one in values):
        return onp.stack(values, axis)
    functions = node.f if not node.f.is_host else Node(node.step, values, node.scope).f
    return functions.stack([functions.value(one) for one in values], axis=axis)


@imports("If")
def _if(node: Node) -> Any:
    branch = node.get("then_branch" if node.host(0).all() else "else_branch")
    return tuple(_run(node, branch, []))


@imports("Loop")
def _loop(node: Node) -> Any:
    """Values that are carried from turn to turn, and such that are gathered."""
    body: Graph = node.get("body")
    most = int(node.number(0)) if node.has(0) else None
    goes_on = bool(node.number(1, True))
    carried = list(node.values[2:])
    gathered: list[list[Any]] = [[] for _ in range(len(body.outputs) - 1 - len(carried))]
    turn = 0
    while goes_on and (most is None or turn < most):
        given = [onp.asarray(turn, "int64"), onp.asarray(goes_on), *carried]
        condition, *results = _run(node, body, given)
        goes_on = bool(HOSTS.value(condition).all())
        carried = results[: len(carried)]
        for values, one in zip(gathered, results[len(carried) :], strict=True):
            values.append(one)
        turn += 1
    return (*carried, *(_stacked(node, values) for values in gathered))


@imports("Scan")
def _scan(node: Node) -> Any:
    """A loop over the parts of arrays. Before version 9 each sample has a loop of its own."""
    if node.version < 9:
        return _scan_of_samples(node)
    count = node.get("num_scan_inputs")
    states, inputs = node.values[: len(node) - count], node.values[len(node) - count :]
    axes = node.get("scan_input_axes") or [0] * count
    backwards = node.get("scan_input_directions") or [0] * count
    results, gathered = _scanned(node, states, inputs, axes, backwards)
    turns = node.get("scan_output_directions") or [0] * len(gathered)
    ends = node.get("scan_output_axes") or [0] * len(gathered)
    rows = zip(gathered, turns, ends, strict=True)
    made = [_stacked(node, one[::-1] if turn else one, axis) for one, turn, axis in rows]
    return (*results, *made)


def _scanned(
    node: Node, states: list[Any], inputs: list[Any], axes: list[int], backwards: list[int]
) -> tuple[list[Any], list[list[Any]]]:
    body: Graph = node.get("body")
    length = inputs[0].shape[axes[0]]
    gathered: list[list[Any]] = [[] for _ in range(len(body.outputs) - len(states))]
    for turn in range(length):
        parts = []
        for value, axis, is_back in zip(inputs, axes, backwards, strict=True):
            key: list[Any] = [slice(None)] * len(value.shape)
            key[axis] = length - 1 - turn if is_back else turn
            parts.append(value[tuple(key)])
        results = _run(node, body, [*states, *parts])
        states = results[: len(states)]
        for values, one in zip(gathered, results[len(states) :], strict=True):
            values.append(one)
    return states, gathered


def _scan_of_samples(node: Node) -> tuple[Any, ...]:
    count = node.get("num_scan_inputs")
    values = node.values[1:]
    if node.has(0):
        raise node.refuse("lengths of sequences; sequences as long as their axis are needed")
    backwards = node.get("directions") or [0] * count
    rows = []
    for sample in range(values[0].shape[0]):
        own = [value[sample] for value in values]
        split = len(own) - count
        states, gathered = _scanned(node, own[:split], own[split:], [0] * count, backwards)
        rows.append([*states, *(_stacked(node, one) for one in gathered)])
    return tuple(_stacked(node, list(column)) for column in zip(*rows, strict=True))


# --- random numbers, from the library's own streams: the seed of a node is not looked at ---


def _drawn(node: Node, shape: tuple[int, ...], dtype: onp.dtype[Any]) -> Any:
    if node.step.op.startswith("RandomNormal"):
        found = np.random.normal(node.get("mean", 0.0), node.get("scale", 1.0), shape)
    else:
        found = np.random.uniform(node.get("low", 0.0), node.get("high", 1.0), shape)
    return cast(node, found, dtype)


@imports("RandomNormal", "RandomUniform", draws=True)
def _random(node: Node) -> Any:
    return _drawn(node, tuple(node.get("shape")), dtype_named(node.get("dtype", 1)))


@imports("RandomNormalLike", "RandomUniformLike", draws=True)
def _random_like(node: Node) -> Any:
    like = node.values[0]
    dtype = dtype_named(node.get("dtype")) if node.get("dtype") else dtype_of(like)
    return _drawn(node, tuple(like.shape), dtype)


@imports("Bernoulli", draws=True)
def _bernoulli(node: Node) -> Any:
    """1 with the probabilities that are given."""
    like = node[0]
    dtype = dtype_named(node.get("dtype")) if node.get("dtype") else dtype_of(like)
    drawn = node.f.value(np.random.uniform(0, 1, like.shape))
    return cast(node, drawn < like, dtype)


@imports("Multinomial", draws=True)
def _multinomial(node: Node) -> Any:
    """Numbers of classes, drawn by the logarithms of their weights (the greatest of noisy ones)."""
    x, count = node.host(0), node.get("sample_size", 1)
    noise = np.random.gumbel(size=(x.shape[0], count, x.shape[1])).asnumpy()
    dtype = dtype_named(node.get("dtype", 6))
    return (x[:, None] + noise).argmax(-1).astype(dtype)
