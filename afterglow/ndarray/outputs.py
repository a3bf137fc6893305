# SPDX-License-Identifier: Apache-2.0
"""Outputs of networks that bring their loss with them.

Their value is the prediction and their gradient that of a loss, whatever gradient they are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core import operation
from ._arguments import need

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

_softmax_output = operation("SoftmaxOutput", True)
_linear = operation("LinearRegressionOutput", True)
_mean_absolute = operation("MAERegressionOutput", True)
_logistic = operation("LogisticRegressionOutput", True)
_svm = operation("SVMOutput", True)
_make_loss = operation("MakeLoss", True)
_make_plain_loss = operation("make_loss", True)


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
    result: NDArray = _softmax_output(
        need(data),
        need(label, "label"),
        grad_scale,
        ignore_label,
        multi_output,
        use_ignore,
        preserve_shape,
        normalization,
        out_grad,
        smooth_alpha,
        out=out,
    )
    return result


Softmax = SoftmaxOutput


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
    result: NDArray = _linear(need(data), need(label, "label"), grad_scale, out=out)
    return result


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
    result: NDArray = _mean_absolute(need(data), need(label, "label"), grad_scale, out=out)
    return result


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
    result: NDArray = _logistic(need(data), need(label, "label"), grad_scale, out=out)
    return result


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
    result: NDArray = _svm(
        need(data),
        need(label, "label"),
        margin,
        regularization_coefficient,
        use_linear,
        out=out,
    )
    return result


def make_loss(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return a copy that gradients start from: its own is 1.

    >>> from afterglow import nd
    >>> print(nd.make_loss(nd.array([1, 2])).asnumpy())
    [1. 2.]
    """
    result: NDArray = _make_plain_loss(need(data), out=out)
    return result


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
    result: NDArray = _make_loss(need(data), grad_scale, valid_thresh, normalization, out=out)
    return result
