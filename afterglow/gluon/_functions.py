# SPDX-License-Identifier: Apache-2.0
"""What layers and losses compute, as compositions of ops, for arrays of both worlds.

Each function answers in the world of its first argument. Chains of elementwise calls and the
reductions of rows are fused into one pass, and gradients come from the rules of the ops.
"""

from __future__ import annotations

from functools import cache
from math import prod, sqrt
from typing import Any

from .._core import Array, Operation, operation
from .._dtype import INT32
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
    return op(x, "relu")(x) + op(x, "log")(1 + op(x, "exp")(-abs(x)))


def leaky_relu(x: Any, slope: Any) -> Any:
    """Return the elements, negative ones times ``slope``."""
    return where(x > 0, x, x * slope)


def elu(x: Any, alpha: float) -> Any:
    """Return the elements, negative ones as ``alpha * (exp(x) - 1)``."""
    below = op(x, "exp")(op(x, "minimum")(x, 0)) - 1  # else exp(x) could overflow, and its gradient
    return where(x > 0, x, below * alpha)


def erf(x: Any) -> Any:
    """Return the error function, to within 1.5e-7 (Abramowitz and Stegun, 7.1.26)."""
    size = abs(x)
    t = 1 / (1 + 0.3275911 * size)
    series = 1.421413741 + t * (-1.453152027 + t * 1.061405429)
    series = t * (0.254829592 + t * (-0.284496736 + t * series))
    rest = series * op(x, "exp")(-size * size)
    return where(x < 0, rest - 1, 1 - rest)


def gelu(x: Any) -> Any:
    """Return each element times the probability that a normal variable is smaller."""
    return x * (0.5 + 0.5 * erf(x * sqrt(0.5)))


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
    count, width = weight.shape
    legacy = weight._legacy
    rows = one_hot(indices._shaped((indices.size,)), count, weight)
    return _operation("dot", legacy)(rows, weight)._shaped((*indices.shape, width))


def one_hot(indices: Any, count: int, like: Any) -> Any:
    """Return rows of zeros with a one where the index says, in the type of ``like``."""
    chosen = _chosen(indices._as_class(like._legacy)._shaped((indices.size, 1)), count)
    return op(like, "copy")(chosen, dtype=like._dtype_number)


def _chosen(indices: Any, count: int) -> Any:
    """Compare indices, whose last axis has one element, with all that there are."""
    whole = op(indices, "copy")(op(indices, "clip")(indices, 0, count - 1), dtype=INT32)
    every = op(indices, "arange")(
        start=0.0, step=1.0, count=count, dtype=INT32, ctx=indices._context_numbers
    )
    return whole == every


# --- losses ---


def log_softmax(x: Any, axis: int) -> Any:
    """Return the logarithm of the softmax along an axis."""
    axes = (normal_axis(axis, x.ndim),)
    shifted = x - reduce("max", x, axes, keepdims=True).detach()
    return shifted - op(x, "log")(reduce("sum", op(x, "exp")(shifted), axes, keepdims=True))


def pick(x: Any, indices: Any, axis: int) -> Any:
    """Return one element along an axis, named by an index; the axis is kept with extent 1."""
    position = normal_axis(axis, x.ndim)
    count = x.shape[position]
    lines = x.shape[:position] + x.shape[position + 1 :]
    chosen = _chosen(indices._as_class(x._legacy)._shaped((*lines, 1)), count)
    if position != x.ndim - 1:
        order = (*range(position), x.ndim - 1, *range(position, x.ndim - 1))
        chosen = chosen._permuted(order)
    return reduce("sum", where(chosen, x, 0), (position,), keepdims=True)
