# SPDX-License-Identifier: Apache-2.0
"""Layers as graphs: the nodes that MXNet writes for them.

With arrays a layer may compute in any way it likes. Called with symbols it makes the nodes that
files of MXNet have, by the functions in this table or, where there is none, by ``hybrid_forward``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .. import symbol
from ..error import ArrayNotImplementedError
from ..symbol.numpy import _Symbol
from . import loss, nn
from .contrib import nn as contrib_nn

_functions: Any = symbol


def _call(x: Any, legacy: str, extension: str, /, *args: Any, **kwargs: Any) -> Any:
    """Call a function of ``sym``, or for symbols of ``np`` the one of ``sym.npx``."""
    if isinstance(x, _Symbol):
        return getattr(_functions.npx, extension)(x, *args, **kwargs)
    return getattr(_functions, legacy)(x, *args, **kwargs)


def _dense(block: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    result = _call(
        x,
        "FullyConnected",
        "fully_connected",
        weight,
        bias,
        no_bias=bias is None,
        num_hidden=block._units,
        flatten=block._flatten,
        name="fwd",
    )
    return result if block.act is None else block.act(result)


def _activation(block: Any, x: Any) -> Any:
    return _call(x, "Activation", "activation", act_type=block._act_type, name="fwd")


def _leaky(x: Any, act_type: str, **kwargs: Any) -> Any:
    return _call(x, "LeakyReLU", "leaky_relu", act_type=act_type, **kwargs)


def _dropout(block: Any, x: Any) -> Any:
    if not block._rate:
        return _functions.identity(x)
    given = {"p": block._rate, "axes": block._axes, "cudnn_off": False}
    return _call(x, "Dropout", "dropout", name="fwd", **given)


def _statistics(block: Any) -> dict[str, Any]:
    return {
        "name": "fwd",
        "axis": block._axis,
        "eps": block._epsilon,
        "momentum": block._momentum,
        "fix_gamma": not block._scale,
        "use_global_stats": block._use_global_stats,
    }


def _batch_norm(
    block: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any
) -> Any:
    given = (gamma, beta, running_mean, running_var)
    return _call(x, "BatchNorm", "batch_norm", *given, **_statistics(block))


def _batch_norm_relu(
    block: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any
) -> Any:
    given = (gamma, beta, running_mean, running_var)
    return _functions.contrib.BatchNormWithReLU(x, *given, **_statistics(block))


def _layer_norm(block: Any, x: Any, gamma: Any, beta: Any) -> Any:
    given = {"axis": block._axis, "eps": block._epsilon}
    return _call(x, "LayerNorm", "layer_norm", gamma, beta, **given)


def _instance_norm(block: Any, x: Any, gamma: Any, beta: Any) -> Any:
    if block._axis == 1:
        return _functions.InstanceNorm(x, gamma, beta, name="fwd", eps=block._epsilon)
    moved = x.swapaxes(1, block._axis)
    result = _functions.InstanceNorm(moved, gamma, beta, name="fwd", eps=block._epsilon)
    return result.swapaxes(1, block._axis)


def _group_norm(block: Any, x: Any, gamma: Any, beta: Any) -> Any:
    given = {"num_groups": block._num_groups, "eps": block._epsilon}
    return _functions.GroupNorm(x, gamma, beta, **given)


def _embedding(block: Any, x: Any, weight: Any) -> Any:
    return _call(
        x,
        "Embedding",
        "embedding",
        weight,
        name="fwd",
        input_dim=block._input_dim,
        output_dim=block._output_dim,
        dtype=block._dtype,
        sparse_grad=False,
    )


def _swish(block: Any, x: Any) -> Any:
    scaled = x * block._beta
    if isinstance(x, _Symbol):
        return x * _functions.npx.sigmoid(scaled)
    return x * _functions.sigmoid(scaled, name="fwd")


def _hybrid_lambda(block: Any, x: Any, *args: Any) -> Any:
    if not block._named:
        return block._function.call(_functions, x, *args)
    return getattr(_functions, block._function.name)(x, *args)


def _concurrent(block: Any, x: Any) -> Any:
    results = [child(x) for child in block._children.values()]
    return _functions.concat(*results, dim=block.axis)


# --- losses ---


def _finished(block: Any, result: Any, sample_weight: Any, factor: float = 1.0) -> Any:
    """Return a loss weighted, and its mean over all axes but that of the batch."""
    if sample_weight is not None:
        result = _functions.broadcast_mul(result, sample_weight)
    if block._weight is not None:
        result = result * (block._weight if factor == 1.0 else block._weight * factor)
    return _functions.mean(result, axis=block._batch_axis, exclude=True)


def _l2_loss(block: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
    distance = _functions.reshape_like(label, pred) - pred
    return _finished(block, _functions.square(distance), sample_weight, 0.5)


def _l1_loss(block: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
    distance = _functions.reshape_like(label, pred) - pred
    return _finished(block, _functions.abs(distance), sample_weight)


def _softmax_loss(block: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
    axis = block._axis
    if not block._from_logits:
        pred = _functions.log_softmax(pred, axis=axis)
    if block._sparse_label:
        result = -_functions.pick(pred, label, axis=axis, keepdims=True, __labels__=True)
    else:
        product = pred * _functions.reshape_like(label, pred)
        result = -_functions.sum(product, axis=axis, keepdims=True)
    return _finished(block, result, sample_weight)


def _sigmoid_loss(
    block: Any, pred: Any, label: Any, sample_weight: Any = None, pos_weight: Any = None
) -> Any:
    label = _functions.reshape_like(label, pred)
    if pos_weight is not None:
        raise ArrayNotImplementedError("[SigmoidBCELoss] symbols take no pos_weight")
    if block._from_sigmoid:
        least = 1e-12
        hits = _functions.log(pred + least) * label
        result = -(hits + _functions.log(1.0 - pred + least) * (1.0 - label))
    else:
        rest = _functions.Activation(-_functions.abs(pred), act_type="softrelu")
        result = _functions.relu(pred) - pred * label + rest
    return _finished(block, result, sample_weight)


_GRAPHS: dict[type, Callable[..., Any]] = {
    nn.Dense: _dense,
    nn.Activation: _activation,
    nn.LeakyReLU: lambda block, x: _leaky(x, "leaky", slope=block._alpha, name="fwd"),
    nn.PReLU: lambda block, x, alpha: _leaky(x, "prelu", gamma=alpha, name="fwd"),
    nn.ELU: lambda block, x: _leaky(x, "elu", slope=block._alpha),
    nn.SELU: lambda block, x: _leaky(x, "selu", name="fwd"),
    nn.GELU: lambda block, x: _leaky(x, "gelu", name="fwd"),
    nn.Swish: _swish,
    nn.Dropout: _dropout,
    nn.BatchNorm: _batch_norm,
    nn.BatchNormReLU: _batch_norm_relu,
    nn.LayerNorm: _layer_norm,
    nn.InstanceNorm: _instance_norm,
    nn.GroupNorm: _group_norm,
    nn.Embedding: _embedding,
    nn.Flatten: lambda block, x: _call(x, "flatten", "batch_flatten"),
    nn.HybridLambda: _hybrid_lambda,
    contrib_nn.HybridConcurrent: _concurrent,
    loss.L2Loss: _l2_loss,
    loss.L1Loss: _l1_loss,
    loss.SoftmaxCrossEntropyLoss: _softmax_loss,
    loss.SigmoidBinaryCrossEntropyLoss: _sigmoid_loss,
}


def graph_of(block: Any) -> Callable[..., Any]:
    """Return what makes the nodes of a block from symbols: inputs, then parameters by name."""
    for kind in type(block).__mro__:
        if "hybrid_forward" in vars(kind):
            if kind in _GRAPHS:
                return partial(_GRAPHS[kind], block)
            break
    return partial(block.hybrid_forward, _functions)
