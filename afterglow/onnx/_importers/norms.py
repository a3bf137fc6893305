# SPDX-License-Identifier: Apache-2.0
"""Normalisation, and what drops out."""

from __future__ import annotations

from typing import Any

import numpy as onp

from ... import numpy as np
from .graph import Node
from .registry import imports
from .shape import padded
from .values import dtype_of


def _by_channel(node: Node, value: Any) -> Any:
    """Return a vector so that it goes with the second axis."""
    return node.f.reshape(value, (1, -1, *[1] * (len(node[0].shape) - 2)))


@imports("BatchNormalization")
def _batch_normalization(node: Node) -> Any:
    """With the statistics that are given; in training mode with those of the batch."""
    f, x = node.f, node[0]
    gamma, beta, mean, variance = (node[index] for index in range(1, 5))
    epsilon, momentum = node.get("epsilon", 1e-5), node.get("momentum", 0.9)
    if not node.get("training_mode", 0) and not f.is_host:
        given = {"eps": epsilon, "momentum": momentum, "fix_gamma": False, "axis": 1}
        return f.batch_norm(x, gamma, beta, mean, variance, **given)
    results: tuple[Any, ...] = ()
    if node.get("training_mode", 0):
        axes = tuple(axis for axis in range(len(x.shape)) if axis != 1)
        own = f.mean(x, axis=axes)
        spread = f.mean(f.square(x - _by_channel(node, own)), axis=axes)
        results = tuple(
            f.cast(old * momentum + new * (1 - momentum), dtype_of(old))
            for old, new in ((mean, own), (variance, spread))
        )
        mean, variance = own, spread
    factor = gamma / f.sqrt(variance + epsilon)
    result = (x - _by_channel(node, mean)) * _by_channel(node, factor) + _by_channel(node, beta)
    return (f.cast(result, dtype_of(x)), *results)


def _standard(node: Node, x: Any, axes: tuple[int, ...], epsilon: float) -> Any:
    """Return elements with mean 0 and variance 1 over axes, the mean, one over the deviation."""
    f = node.f
    mean = f.mean(x, axis=axes, keepdims=True)
    rest = x - mean
    inverse = 1 / f.sqrt(f.mean(f.square(rest), axis=axes, keepdims=True) + epsilon)
    return rest * inverse, mean, inverse


@imports("InstanceNormalization")
def _instance_normalization(node: Node) -> Any:
    x = node[0]
    axes = tuple(range(2, len(x.shape)))
    found, _, _ = _standard(node, x, axes, node.get("epsilon", 1e-5))
    return node.f.cast(found * _by_channel(node, node[1]) + _by_channel(node, node[2]), dtype_of(x))


@imports("GroupNormalization")
def _group_normalization(node: Node) -> Any:
    """Scale and bias are those of groups before version 21, then those of channels."""
    f, x = node.f, node[0]
    count, groups = x.shape[0], node.get("num_groups")
    parts = f.reshape(x, (count, groups, -1))
    found, _, _ = _standard(node, parts, (2,), node.get("epsilon", 1e-5))
    if node.version < 21:
        found = found * f.reshape(node[1], (1, -1, 1)) + f.reshape(node[2], (1, -1, 1))
        return f.reshape(found, x.shape)
    found = f.reshape(found, x.shape)
    return f.cast(found * _by_channel(node, node[1]) + _by_channel(node, node[2]), dtype_of(x))


@imports("LayerNormalization")
def _layer_normalization(node: Node) -> Any:
    """Over the last axes; also the mean, and one over the deviation."""
    f, x, dtype = node.f, node[0], dtype_of(node[0])
    rank = len(x.shape)
    axis = node.get("axis", -1) % rank
    epsilon = node.get("epsilon", 1e-5)
    if node.count == 1 and axis == rank - 1 and node.has(2) and not f.is_host:
        return f.layer_norm(x, node[1], node[2], axis=-1, eps=epsilon)
    narrow = dtype.itemsize < 4
    wide = f.cast(x, "float32") if narrow else x
    found, mean, inverse = _standard(node, wide, tuple(range(axis, rank)), epsilon)
    found = f.cast(found, dtype) * node[1]
    if node.has(2):
        found = found + node[2]
    return (f.cast(found, dtype), mean, inverse)[: node.count]


@imports("LRN")
def _lrn(node: Node) -> Any:
    """Divide by the squares of neighbouring channels."""
    f, x, size = node.f, node[0], node.get("size")
    alpha, beta = node.get("alpha", 1e-4), node.get("beta", 0.75)
    before = (size - 1) // 2
    sides = [(0, 0), (before, size - 1 - before), *[(0, 0)] * (len(x.shape) - 2)]
    squares = padded(f, f.square(x), sides)
    total: Any = 0
    for place in range(size):
        total = total + squares[:, place : place + x.shape[1]]
    return x / (node.get("bias", 1.0) + alpha / size * total) ** beta


@imports("LpNormalization")
def _lp_normalization(node: Node) -> Any:
    f, x, axis = node.f, node[0], node.get("axis", -1)
    if node.get("p", 2) == 1:
        norm = f.sum(f.abs(x), axis=axis, keepdims=True)
    else:
        norm = f.sqrt(f.sum(f.square(x), axis=axis, keepdims=True))
    return f.where(norm == 0, f.zeros_like(x), x / f.where(norm == 0, f.ones_like(norm), norm))


@imports("Dropout", draws=True)
def _dropout(node: Node) -> Any:
    """Drop in training: that of the program, or (since version 12) if an input says so."""
    f, x = node.f, node[0]
    ratio = node.get("ratio", 0.5) if node.version < 12 else node.number(1, 0.5)
    is_training = bool(node.number(2, False))
    if node.count > 1 and node.step.outputs[1]:
        if is_training and ratio:
            kept = f.value(np.random.uniform(0, 1, x.shape) >= ratio)
            return f.where(kept, x / (1 - ratio), f.zeros_like(x)), kept
        return x, onp.ones(x.shape, bool)
    if f.is_host and not is_training:
        return x
    return f.dropout(x, p=ratio, mode="always" if is_training else "training")


@imports("Det")
def _det(node: Node) -> Any:
    f, x = node.f, node[0]
    return f.cast(f.linalg.det(x), dtype_of(x))


@imports("MeanVarianceNormalization")
def _mean_variance_normalization(node: Node) -> Any:
    f, x = node.f, node[0]
    axes = tuple(node.get("axes", (0, 2, 3)))
    mean = f.mean(x, axis=axes, keepdims=True)
    spread = f.sqrt(f.mean(f.square(x), axis=axes, keepdims=True) - f.square(mean))
    return (x - mean) / (spread + 1e-9)


@imports("RMSNormalization")
def _rms_normalization(node: Node) -> Any:
    f, x = node.f, node[0]
    dtype, rank = dtype_of(x), len(x.shape)
    wide = f.cast(x, "float32") if dtype.itemsize < 4 else x
    axes = tuple(range(node.get("axis", -1) % rank, rank))
    mean = f.mean(f.square(wide), axis=axes, keepdims=True)
    found = wide / f.sqrt(mean + node.get("epsilon", 1e-5))
    return f.cast(f.cast(found, dtype) * node[1], dtype_of(node[1]))
