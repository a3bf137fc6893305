# SPDX-License-Identifier: Apache-2.0
"""What layers and losses compute, as compositions of ops, for arrays of both worlds.

Each function answers in the world of its first argument. Chains of elementwise calls and the
reductions of rows are fused into one pass, and gradients come from the rules of the ops.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

from . import autograd
from ._core import Operation, operation
from ._dtype import FLOAT16, FLOAT32, FLOAT64
from ._shapes import Shape, normal_axis
from ._worlds import where
from .error import ArrayValueError

_operation = cache(operation)

#: A longer row is cut into parts for several threads.
_LONGEST_ROW = 16384


def op(x: Any, name: str) -> Operation:
    """Return an op that answers in the world of an array."""
    return _operation(name, x._legacy)


def reduce(name: str, x: Any, axes: Shape, keepdims: bool = False) -> Any:
    """Return a reduction over some axes; over none of them it is the array itself."""
    return op(x, name)(x, axis=axes, keepdims=keepdims) if axes else x


def all_axes_but(x: Any, *kept: int) -> Shape:
    """Return the axes of an array without some."""
    left_out = {normal_axis(axis, x.ndim) for axis in kept}
    return tuple(axis for axis in range(x.ndim) if axis not in left_out)


def along(vector: Any, x: Any, axis: int, layer: str) -> Any:
    """Return a vector of a layer's as it lies along one axis of an array."""
    position = normal_axis(axis, x.ndim)
    if vector.shape != (x.shape[position],):
        raise ArrayValueError(
            f"[{layer}] got a parameter of shape {vector.shape} for axis {axis} of an input of "
            f"shape {x.shape}; needs shape {(x.shape[position],)}"
        )
    return vector._shaped((1,) * position + vector.shape + (1,) * (x.ndim - position - 1))


# --- layers ---


def fully_connected(x: Any, weight: Any, bias: Any, flatten: bool) -> Any:
    """Return the product with the rows of ``weight``, plus ``bias``."""
    if not x.shape or len(weight.shape) != 2:
        raise ArrayValueError(
            f"[FullyConnected] got data of shape {x.shape} and a weight of shape {weight.shape}; "
            "needs data of at least one dimension and a matrix of weights"
        )
    if flatten:
        rows, leading = x.shape[0], x.shape[:1]
        width = prod(x.shape[1:])
    else:
        leading, width = x.shape[:-1], x.shape[-1]
        rows = prod(leading)
    units = weight.shape[0]
    if weight.shape[1] != width:
        raise ArrayValueError(
            f"[FullyConnected] the input of shape {x.shape} has {width} values per row; the weight "
            f"of shape {weight.shape} needs {weight.shape[1]}"
        )
    matrix = x if x.shape == (rows, width) else x._shaped((rows, width))
    result = op(x, "dot")(matrix, weight, False, True)
    if bias is not None:
        result = result + bias
    return result if len(leading) == 1 else result._shaped((*leading, units))


def activation(x: Any, kind: str) -> Any:
    """Return relu, sigmoid, tanh, softrelu or softsign of each element."""
    if kind in ("relu", "sigmoid", "tanh"):
        return op(x, kind)(x)
    if kind == "softrelu":
        return softrelu(x)
    if kind == "softsign":
        return x / (1 + abs(x))
    raise ArrayValueError(
        f"[Activation] got act_type {kind!r}; it is one of 'relu', 'sigmoid', 'softrelu', "
        "'softsign', 'tanh'"
    )


def softrelu(x: Any) -> Any:
    """Return log(1 + exp(x)), also where exp(x) is too large for a number."""
    return op(x, "softrelu")(x)


def leaky_relu(x: Any, slope: Any) -> Any:
    """Return the elements, negative ones times ``slope``."""
    return op(x, "leaky_relu")(x, slope)


def elu(x: Any, alpha: float) -> Any:
    """Return the elements, negative ones as ``alpha * (exp(x) - 1)``."""
    return op(x, "elu")(x, alpha)


def gelu(x: Any) -> Any:
    """Return each element times the probability that a normal variable is smaller."""
    return op(x, "gelu")(x)


def dropout(x: Any, rate: float, axes: Shape) -> Any:
    """Return the array with elements zeroed at random and the others made larger.

    Along ``axes`` all elements share one fate.
    """
    kept = 1.0 - rate
    positions = {normal_axis(axis, x.ndim) for axis in axes}
    shape = tuple(1 if axis in positions else extent for axis, extent in enumerate(x.shape))
    drawn = op(x, "random_uniform")(0.0, 1.0, shape, x._dtype_number, ctx=x._context_numbers)
    return where(drawn < kept, x * (1.0 / kept if kept else 0.0), 0)


def moments(x: Any, axes: Shape) -> tuple[Any, Any, Any]:
    """Return the distance from the mean, the mean and the variance over axes, axes kept."""
    mean = reduce("mean", x, axes, keepdims=True)
    distance = x - mean
    return distance, mean, reduce("mean", distance * distance, axes, keepdims=True)


def standardised(x: Any, axes: Shape, epsilon: float) -> tuple[Any, Any, Any]:
    """Return the elements minus their mean, by their deviation; that mean and deviation, axes kept.

    The deviation is the square root of the variance plus ``epsilon``.
    """
    distance, mean, variance = moments(x, axes)
    deviation = op(x, "sqrt")(variance + epsilon)
    return distance / deviation, mean, deviation


def batch_norm(
    x: Any,
    gamma: Any,
    beta: Any,
    running_mean: Any,
    running_var: Any,
    axis: int = 1,
    epsilon: float = 1e-3,
    momentum: float = 0.9,
    scale: bool = True,
    use_global_stats: bool = False,
) -> tuple[Any, Any, Any]:
    """Return the elements normalised per channel, and the mean and deviation used, axes kept.

    Those are the ones of the batch in training, and the averages of earlier batches otherwise. The
    averages move when a training pass is recorded.
    """
    narrow = x._dtype_number == FLOAT16
    values = x.astype("float32") if narrow else x
    if gamma.shape != (x.shape[axis],):
        raise ArrayValueError(
            f"[BatchNorm] the input of shape {x.shape} has {x.shape[axis]} channels in axis "
            f"{axis}; the layer has gamma of shape {gamma.shape}"
        )
    if autograd.is_training() and not use_global_stats:
        distance, mean, variance = moments(values, all_axes_but(values, axis))
        if autograd.is_recording():
            _average(running_mean, mean, momentum)
            _average(running_var, variance, momentum)
    else:
        mean, variance = (
            along(each, values, axis, "BatchNorm") for each in (running_mean, running_var)
        )
        distance = values - mean
    deviation = op(values, "sqrt")(variance + epsilon)
    result = distance / deviation
    if scale:
        result = result * along(gamma, values, axis, "BatchNorm")
    result = result + along(beta, values, axis, "BatchNorm")
    return result.astype("float16") if narrow else result, mean, deviation


def _average(running: Any, batch: Any, momentum: float) -> None:
    """Move an average of all batches towards the latest one."""
    with autograd.pause():
        latest = batch.detach()._shaped(running.shape)
        running._assign(running * momentum + latest * (1 - momentum))


def layer_norm(
    x: Any, gamma: Any, beta: Any, axis: int = -1, epsilon: float = 1e-5
) -> tuple[Any, Any, Any]:
    """Return the elements normalised along an axis, and the means and deviations, axis kept."""
    position = normal_axis(axis, x.ndim)
    kind, columns = x._dtype_number, x.shape[position]
    if (
        position == x.ndim - 1
        and 0 < columns <= _LONGEST_ROW
        and kind in (FLOAT32, FLOAT64)
        and kind == gamma._dtype_number == beta._dtype_number
        and gamma.shape == beta.shape == (columns,)
        and x._contiguous
    ):
        result, mean, deviation = op(x, "layer_norm")(x, gamma, beta, epsilon)
        return result, mean, deviation
    result, mean, deviation = standardised(x, (position,), epsilon)
    scaled = result * along(gamma, x, position, "LayerNorm")
    return scaled + along(beta, x, position, "LayerNorm"), mean, deviation


def instance_norm(x: Any, gamma: Any, beta: Any, axis: int = 1, epsilon: float = 1e-3) -> Any:
    """Return the elements normalised per sample and channel."""
    if x.ndim < 3:
        raise ArrayValueError(
            f"[InstanceNorm] the input has shape {x.shape}; it needs at least 3 axes"
        )
    result, _, _ = standardised(x, all_axes_but(x, 0, axis), epsilon)
    return result * along(gamma, x, axis, "InstanceNorm") + along(beta, x, axis, "InstanceNorm")


def group_norm(
    x: Any, gamma: Any, beta: Any, groups: int = 1, epsilon: float = 1e-5
) -> tuple[Any, Any, Any]:
    """Return the elements normalised per sample and group of channels.

    The means and deviations that come with them have the shape (samples, groups).
    """
    if x.ndim < 3 or x.shape[1] % groups:
        raise ArrayValueError(
            f"[GroupNorm] the input has shape {x.shape}; it needs at least 3 axes and channels "
            f"that {groups} divides"
        )
    grouped = x._shaped((x.shape[0], groups, x.size // max(1, x.shape[0] * groups)))
    result, mean, deviation = standardised(grouped, (2,), epsilon)
    result = result * along(gamma, grouped, 1, "GroupNorm") + along(beta, grouped, 1, "GroupNorm")
    per_group = grouped.shape[:2]
    return result._shaped(x.shape), mean._shaped(per_group), deviation._shaped(per_group)


def embedding(indices: Any, weight: Any) -> Any:
    """Return the rows of ``weight`` that the indices name; those outside mean the nearest row."""
    return op(weight, "take")(weight, indices._as_class(weight._legacy), axis=0, mode="clip")


# --- losses ---


def log_softmax(x: Any, axis: int) -> Any:
    """Return the logarithm of the softmax along an axis."""
    axes = (normal_axis(axis, x.ndim),)
    shifted = x - reduce("max", x, axes, keepdims=True).detach()
    return shifted - op(x, "log")(reduce("sum", op(x, "exp")(shifted), axes, keepdims=True))


def pick_labels(x: Any, labels: Any, axis: int) -> Any:
    """Return the element of each line along an axis that its label names; the axis is kept.

    A negative label names the first element. The result of one that is too great cannot be read.
    """
    index = labels._as_class(x._legacy)
    return op(x, "pick")(x, index, axis=axis, keepdims=True, mode="label")
