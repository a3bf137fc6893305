# SPDX-License-Identifier: Apache-2.0
"""Last layers of networks that bring their loss along: only its gradient is ever computed.

What comes from above as a gradient does not matter to them, as in MXNet. Gradients are compositions
of ops, made when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ._core import is_recording, operation
from ._dtype import INT64
from ._python_calls import record_call
from ._worlds import in_world, where
from .error import ArrayValueError

_NORMALIZATIONS = ("null", "batch", "valid")


def _detached(*arrays: Any) -> list[Any]:
    return [array.detach() for array in arrays]


def with_gradient(data: Any, value: Any, gradient: Callable[[Any], Any], out: Any = None) -> Any:
    """Return a value, made of detached arrays, whose gradient to ``data`` a function gives."""
    if is_recording():
        (value,) = record_call([data], [value], lambda heads: [gradient(heads[0])])
    return value if out is None else operation("copy", value._legacy)(value, out=out)


def blocked(data: Any, out: Any = None) -> Any:
    """Return a copy that takes no part in gradients."""
    return operation("copy", data._legacy)(data.detach(), out=out)


def straight_through(op: str, data: Any) -> Any:
    """Return what an op gives for each element, with the gradient of a copy."""
    value = operation(op, data._legacy)(data.detach())
    return with_gradient(data, value, lambda head: head)


def scaled_gradient(data: Any, scalar: float) -> Any:
    """Return a copy whose gradient is multiplied."""
    return with_gradient(data, blocked(data), lambda head: head * scalar)


def _check_normalization(name: str, normalization: str) -> None:
    if normalization not in _NORMALIZATIONS:
        raise ArrayValueError(
            f"[{name}] normalization is {normalization!r}; known are {', '.join(_NORMALIZATIONS)}"
        )


def _count(condition: Any, like: Any) -> Any:
    """Return how often a condition holds, but 1 at least, as an array that broadcasts."""
    legacy = like._legacy
    number = operation("copy", legacy)(in_world(condition, legacy), dtype=like._dtype_number)
    total = operation("sum", legacy)(number)
    return operation("maximum", legacy)(total, 1)._shaped((1,) * like.ndim)


def made_loss(
    data: Any, grad_scale: float, valid_thresh: float, normalization: str, out: Any
) -> Any:
    """Return a copy whose gradient is a constant."""
    _check_normalization("MakeLoss", normalization)
    (held,) = _detached(data)

    def gradient(head: Any) -> Any:
        ones = operation("copy", held._legacy)(
            grad_scale, shape=held.shape, dtype=held._dtype_number, ctx=held._context_numbers
        )
        if normalization == "batch":
            return ones / held.shape[0]
        return ones / _count(held > valid_thresh, held) if normalization == "valid" else ones

    return with_gradient(data, blocked(data), gradient, out)


def regression(
    data: Any, label: Any, grad_scale: float, out: Any, activation: str, slope: str
) -> Any:
    """Return the data, or an activation of it, with the gradient of its distance from the label."""
    if data.size != label.size:
        raise ArrayValueError(
            f"[RegressionOutput] data of shape {data.shape} and label of shape {label.shape} must "
            "have the same number of elements"
        )
    (held,) = _detached(label)
    value = operation(activation, data._legacy)(data.detach())
    kept = value.detach()
    outputs = prod(label.shape[1:])

    def gradient(head: Any) -> Any:
        apart = kept - in_world(held, kept._legacy)._shaped(kept.shape)
        if slope == "sign":
            apart = operation("sign", apart._legacy)(apart)
        return apart * (grad_scale / max(1, outputs))

    return with_gradient(data, value, gradient, out)


def _one_hot(label: Any, depth: int, like: Any, off: float, on: float) -> Any:
    """Return a row per label; labels that are no number of a class have no place in theirs."""
    return operation("one_hot", like._legacy)(
        operation("copy", like._legacy)(label, dtype=INT64),
        depth=depth,
        on_value=on,
        off_value=off,
        dtype=like._dtype_number,
    )


class SoftmaxLoss:
    """The gradient of the cross entropy of a softmax with a label."""

    def __init__(
        self,
        grad_scale: float,
        ignore_label: float,
        multi_output: bool,
        use_ignore: bool,
        normalization: str,
        out_grad: bool,
        smooth_alpha: float,
    ) -> None:
        _check_normalization("SoftmaxOutput", normalization)
        self._scale = grad_scale
        self._ignored = ignore_label
        self._multi = multi_output
        self._ignores = use_ignore
        self._normalization = normalization
        self._weighted = out_grad
        self._smooth = smooth_alpha

    def attach(self, data: Any, label: Any, value: Any, axis: int, out: Any) -> Any:
        """Return the softmax along an axis of detached data, with the gradient of the loss."""
        classes = value.shape[axis]
        rows = value.size // max(1, classes)
        if is_recording() and label.shape != value.shape and label.size != rows:
            raise ArrayValueError(
                f"[SoftmaxOutput] {value.shape} has {rows} rows of {classes} classes; a label of "
                f"shape {label.shape} does not fit"
            )
        (held, kept) = _detached(in_world(label, value._legacy), value)
        shape = data.shape

        def gradient(head: Any) -> Any:
            if held.shape == kept.shape:
                result = (kept - held) * self._scale
            else:
                result = self._slope(kept, held, axis)
            result = result._shaped(shape)
            return result * head if self._weighted else result

        return with_gradient(data, value._shaped(shape), gradient, out)

    def _slope(self, value: Any, label: Any, axis: int) -> Any:
        rest = (*value.shape[:axis], *value.shape[axis + 1 :])
        label = label._shaped(rest)
        classes = value.shape[axis]
        smooth = 0.0 if self._multi else self._smooth
        wanted = _one_hot(label, classes, value, smooth / max(1, classes - 1), 1 - smooth)
        order = (*range(axis), len(rest), *range(axis, len(rest)))
        result = (value - wanted._permuted(order)) * self._factor(value, rest)
        if self._normalization == "valid":
            result = result / _count(label != self._ignored, value)
        if self._ignores:
            ignored = (label == self._ignored)._shaped((*rest[:axis], 1, *rest[axis:]))
            result = where(ignored, 0, result)
        return result

    def _factor(self, value: Any, rest: tuple[int, ...]) -> float:
        if self._normalization == "valid":
            return self._scale
        rows = value.shape[0] if self._multi else prod(rest)
        places = prod(rest[1:]) if self._multi else 1
        batch = rows if self._normalization == "batch" else 1
        return self._scale / max(1, places * batch)


def support_vectors(
    data: Any, label: Any, margin: float, coefficient: float, use_linear: bool, out: Any
) -> Any:
    """Return a copy with the gradient of the hinge loss, or of its square."""
    held, kept = _detached(label, data)
    shape = data.shape

    def gradient(head: Any) -> Any:
        rows = kept._shaped((shape[0], prod(shape[1:])))
        signs = _one_hot(held._shaped((shape[0],)), rows.shape[1], rows, 1.0, -1.0)
        # How much the score of the right class, and minus the others, lacks of the margin.
        lack = margin + signs * rows
        slope = signs if use_linear else 2 * signs * lack
        return (where(lack > 0, slope, 0) * coefficient)._shaped(shape)

    return with_gradient(data, blocked(data), gradient, out)
