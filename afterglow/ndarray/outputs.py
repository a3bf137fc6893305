# SPDX-License-Identifier: Apache-2.0
"""Outputs of networks that bring their loss with them.

Their value is the prediction and their gradient that of a loss, whatever gradient they are given.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

from .. import _layers, autograd
from .._core import operation, record_call
from .._shapes import Shape
from ..error import ArrayValueError
from ._arguments import need
from .elementwise import sign
from .indexing import one_hot
from .softmax import softmax

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "LinearRegressionOutput",
    "LogisticRegressionOutput",
    "MAERegressionOutput",
    "MakeLoss",
    "SVMOutput",
    "Softmax",
    "SoftmaxOutput",
    "make_loss",
]

_copy = operation("copy", True)
_sigmoid = operation("sigmoid", True)


def _with_loss(
    data: NDArray, label: NDArray | None, output: Any, gradient: Callable[[Any], Any], out: Any
) -> Any:
    """Return ``output`` as computed from ``data``, with a gradient of its own."""

    def backward(gradients: list[Any]) -> list[Any]:
        with autograd.pause(True):
            result = [gradient(gradients[0])._shaped(data.shape)]
            return result if label is None else [*result, _zeros_like(label)]

    inputs = [data] if label is None else [data, label]
    (result,) = record_call(inputs, [output], backward)
    return result if out is None else _copy(result, out=out)


def _zeros_like(array: Any) -> Any:
    return _copy(0, shape=array.shape, dtype=array._dtype_number, ctx=array._context_numbers)


def _count(condition: Any) -> Any:
    """Return how many elements are not 0, at least 1, as an array of one element."""
    total = _layers.reduce("sum", condition, tuple(range(condition.ndim)))
    return _layers.op(total, "maximum")(total, 1)


def SoftmaxOutput(  # noqa: N802
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool = False,
    use_ignore: bool = False,
    preserve_shape: bool = False,
    normalization: str = "null",
    out_grad: bool = False,
    smooth_alpha: float = 0.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the softmax of each row: of everything but the first axis.

    With ``multi_output`` it is that along axis 1, with ``preserve_shape`` along the last. The
    gradient is that of the cross entropy with the label, an index per row or a probability per
    element, times ``grad_scale``. Labels of ``ignore_label`` have none with ``use_ignore``.
    ``normalization`` "batch" divides by the number of rows, "valid" by that of rows not ignored.

    >>> from afterglow import autograd, nd
    >>> x = nd.zeros((1, 2))
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = nd.SoftmaxOutput(x, nd.array([1]))
    >>> y.backward()
    >>> y.asnumpy(), x.grad.asnumpy()
    (array([[0.5, 0.5]], dtype=float32), array([[ 0.5, -0.5]], dtype=float32))
    """
    need(label, "label")
    shape = need(data).shape
    if normalization not in ("null", "batch", "valid"):
        raise ArrayValueError(
            f"[SoftmaxOutput] normalization is {normalization!r}; it is null, batch or valid"
        )
    rows = _rows(shape, multi_output, preserve_shape)
    fits = label.shape == shape or label.size == prod(rows) // max(1, rows[1])
    if not fits and autograd.is_recording():  # it matters for the gradient only
        raise ArrayValueError(
            f"[SoftmaxOutput] the label has shape {label.shape}; data of shape {shape} needs "
            f"{prod(rows) // max(1, rows[1])} classes, or its own shape: it does not fit"
        )
    with autograd.pause(autograd.is_training()):
        values = data.detach()._shaped(rows)
        probabilities = softmax(values, axis=1 if multi_output else -1)
    known = label.detach()

    def gradient(head: Any) -> Any:
        if known.shape == shape:
            result = (probabilities - known.astype(data.dtype)._shaped(rows)) * grad_scale
        else:
            result = _row_gradient(
                probabilities,
                known,
                multi_output,
                grad_scale,
                ignore_label,
                bool(use_ignore),
                normalization,
                smooth_alpha,
            )
        return result * head._shaped(rows) if out_grad else result

    result: NDArray = _with_loss(data, label, probabilities._shaped(shape), gradient, out)
    return result


def _rows(shape: Shape, multi_output: bool, preserve_shape: bool) -> Shape:
    """Return the shape in which rows lie along axis 1, or along the last of two."""
    if not shape:
        return (1, 1)
    if multi_output:
        return (*shape[:2], prod(shape[2:]))
    if preserve_shape:
        return prod(shape[:-1]), shape[-1]
    return (shape[0], prod(shape[1:])) if len(shape) > 1 else (1, *shape)


def _row_gradient(
    probabilities: Any,
    label: Any,
    multi_output: bool,
    scale: float,
    ignored: float,
    leaves_out: bool,
    normalization: str,
    smooth: float,
) -> Any:
    """Return probabilities minus those that indices of classes stand for."""
    classes = probabilities.shape[1]
    # A label per row, or with several outputs one per row and place.
    places = (probabilities.shape[0], *probabilities.shape[2:])
    indices = label._shaped(places).astype(probabilities.dtype)
    wanted = one_hot(indices, classes, dtype=probabilities.dtype)
    if multi_output:
        wanted = wanted.transpose((0, 2, 1))
    elif smooth:
        share = smooth / max(1, classes - 1)
        wanted = wanted * (1 - smooth - share) + share
    result = (probabilities - wanted) * scale
    counted = indices != ignored  # among the valid ones they do not count in any case
    if leaves_out:
        mask = counted._shaped((places[0], 1, *places[1:]))
        result = _layers.op(result, "multiply")(result, mask)
    if normalization == "valid":
        return _layers.op(result, "divide")(result, _count(counted))
    divisor = prod(places[1:])
    if normalization == "batch":
        divisor *= places[0]
    return result / divisor if divisor != 1 else result


Softmax = SoftmaxOutput


def _regression(
    data: NDArray,
    label: NDArray,
    scale: float,
    output: Any,
    difference: Callable[[Any, Any], Any],
    out: NDArray | None,
) -> NDArray:
    """Return a prediction whose gradient is a function of it and the label, per output."""
    known = need(label, "label").detach()
    if known.size != data.size:
        raise ArrayValueError(
            f"[RegressionOutput] the label has the shape {known.shape}, the data {data.shape}; "
            "they need as many elements"
        )
    number = known.size // max(1, known.shape[0]) if known.ndim else 1

    def gradient(head: Any) -> Any:
        wanted = known._shaped(data.shape).astype(data.dtype)
        return difference(output, wanted) * (scale / max(1, number))

    result: NDArray = _with_loss(data, label, output, gradient, out)
    return result


def LinearRegressionOutput(  # noqa: N802
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy; the gradient is that of half the squared difference from the label.

    >>> from afterglow import nd
    >>> nd.LinearRegressionOutput(nd.array([1, 2]), nd.array([0, 0])).asnumpy()
    array([1., 2.], dtype=float32)
    """
    output = _copy(need(data).detach())
    return _regression(data, label, grad_scale, output, lambda x, y: x - y, out)


def MAERegressionOutput(  # noqa: N802
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy; the gradient is that of the absolute difference from the label.

    >>> from afterglow import nd
    >>> nd.MAERegressionOutput(nd.array([1, 2]), nd.array([0, 0])).asnumpy()
    array([1., 2.], dtype=float32)
    """
    output = _copy(need(data).detach())
    return _regression(data, label, grad_scale, output, _side, out)


def _side(x: Any, y: Any) -> Any:
    # Where both are equal MXNet goes down.
    return sign(x - y) - (x == y)


def LogisticRegressionOutput(  # noqa: N802
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return 1 / (1 + exp(-x)); the gradient is that of the cross entropy with the label.

    >>> from afterglow import nd
    >>> nd.LogisticRegressionOutput(nd.array([0, 100]), nd.array([0, 0])).asnumpy()
    array([0.5, 1. ], dtype=float32)
    """
    output = _sigmoid(need(data).detach())
    return _regression(data, label, grad_scale, output, lambda x, y: x - y, out)


def SVMOutput(  # noqa: N802
    data: NDArray,
    label: NDArray,
    margin: float = 1.0,
    regularization_coefficient: float = 1.0,
    use_linear: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy; the gradient is that of the hinge loss, squared unless ``use_linear``.

    >>> from afterglow import nd
    >>> nd.SVMOutput(nd.array([[1, 2]]), nd.array([0])).asnumpy()
    array([[1., 2.]], dtype=float32)
    """
    known = need(label, "label").detach()
    scores = need(data).detach()
    if not scores.shape:
        raise ArrayValueError("[SVMOutput] data has shape (); at least one dimension is needed")
    if known.size != scores.size // max(1, scores.shape[-1]):
        raise ArrayValueError(
            f"[SVMOutput] the label has shape {known.shape}; data of shape {data.shape} needs "
            f"{data.shape[:-1]}"
        )

    def gradient(head: Any) -> Any:
        rows = scores._shaped((scores.size // scores.shape[-1], scores.shape[-1]))
        chosen = one_hot(known._shaped(rows.shape[:1]), rows.shape[1], dtype=data.dtype)
        signs = 1 - 2 * chosen  # -1 at the label, 1 elsewhere
        distance = margin + signs * rows
        inside = distance > 0
        size = inside if use_linear else 2 * distance * inside
        return regularization_coefficient * signs * size

    result: NDArray = _with_loss(data, label, _copy(scores), gradient, out)
    return result


def make_loss(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return a copy that gradients start from: its own is 1.

    >>> from afterglow import nd
    >>> print(nd.make_loss(nd.array([1, 2])).asnumpy())
    [1. 2.]
    """
    return MakeLoss(data, out=out)


def MakeLoss(  # noqa: N802
    data: NDArray,
    grad_scale: float = 1.0,
    valid_thresh: float = 0.0,
    normalization: str = "null",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy that gradients start from, at ``grad_scale``.

    ``normalization`` "batch" divides that by the number of rows, "valid" by how many elements are
    larger than ``valid_thresh``.

    >>> from afterglow import nd
    >>> print(nd.MakeLoss(nd.array([1, 2])).asnumpy())
    [1. 2.]
    """
    values = need(data).detach()
    if normalization not in ("null", "batch", "valid"):
        raise ArrayValueError(
            f"[MakeLoss] normalization is {normalization!r}; it is null, batch or valid"
        )

    def gradient(head: Any) -> Any:
        scale = grad_scale / values.shape[0] if normalization == "batch" else grad_scale
        result = _zeros_like(values) + scale
        if normalization != "valid":
            return result
        return _layers.op(result, "divide")(result, _count(values > valid_thresh))

    result: NDArray = _with_loss(data, None, _copy(values), gradient, out)
    return result
