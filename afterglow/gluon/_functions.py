# SPDX-License-Identifier: Apache-2.0
"""What layers and losses compute, as compositions of ops, for arrays of both worlds.

Each function answers in the world of its first argument. Chains of elementwise calls and the
reductions of rows are fused into one pass, and gradients come from the rules of the ops.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

from .._core import Array, Operation, operation
from .._shapes import Shape, normal_axis
from ..error import ArrayValueError

_operation = cache(operation)


def op(x: Any, name: str) -> Operation:
    """Return an op that answers in the world of an array."""
    return _operation(name, x._legacy)


def where(condition: Any, left: Any, right: Any) -> Any:
    """Return elements of one or of the other; numbers and broadcasting as in NumPy."""
    legacy = condition._legacy
    values = (
        value._as_class(False) if isinstance(value, Array) else value
        for value in (condition, left, right)
    )
    return _operation("where", False)(*values)._as_class(legacy)


def reduce(name: str, x: Any, axes: Shape, keepdims: bool = False) -> Any:
    """Return a reduction over some axes; over none of them it is the array itself."""
    return op(x, name)(x, axis=axes, keepdims=keepdims) if axes else x


def all_axes_but(x: Any, *kept: int) -> Shape:
    """Return the axes of an array without some."""
    left_out = {normal_axis(axis, x.ndim) for axis in kept}
    return tuple(axis for axis in range(x.ndim) if axis not in left_out)


def along(vector: Any, x: Any, axis: int) -> Any:
    """Return a vector as it lies along one axis of an array."""
    position = normal_axis(axis, x.ndim)
    return vector._shaped((1,) * position + vector.shape + (1,) * (x.ndim - position - 1))


# --- layers ---


def fully_connected(x: Any, weight: Any, bias: Any, flatten: bool) -> Any:
    """Return the product with the rows of ``weight``, plus ``bias``."""
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
    return where(drawn < kept, x * (1.0 / kept), 0)


def moments(x: Any, axes: Shape) -> tuple[Any, Any, Any]:
    """Return the distance from the mean, the mean and the variance over axes, axes kept."""
    mean = reduce("mean", x, axes, keepdims=True)
    distance = x - mean
    return distance, mean, reduce("mean", distance * distance, axes, keepdims=True)


def standardised(x: Any, axes: Shape, epsilon: float) -> Any:
    """Return the elements minus their mean, by their standard deviation."""
    distance, _, variance = moments(x, axes)
    return distance / op(x, "sqrt")(variance + epsilon)


def embedding(indices: Any, weight: Any) -> Any:
    """Return the rows of ``weight`` that the indices name; those outside mean the nearest row."""
    return op(weight, "take")(weight, indices._as_class(weight._legacy), axis=0, mode="clip")


# --- losses ---


def log_softmax(x: Any, axis: int) -> Any:
    """Return the logarithm of the softmax along an axis."""
    axes = (normal_axis(axis, x.ndim),)
    shifted = x - reduce("max", x, axes, keepdims=True).detach()
    return shifted - op(x, "log")(reduce("sum", op(x, "exp")(shifted), axes, keepdims=True))


def pick(x: Any, indices: Any, axis: int) -> Any:
    """Return one element along an axis, named by an index; the axis is kept with extent 1."""
    position = normal_axis(axis, x.ndim)
    lines = x.shape[:position] + x.shape[position + 1 :]
    index = indices._as_class(x._legacy)._shaped(lines)
    return op(x, "pick")(x, index, axis=position, keepdims=True, mode="clip")
