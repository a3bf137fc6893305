# SPDX-License-Identifier: Apache-2.0
"""Functions of single elements that NumPy does not have."""

from __future__ import annotations

from typing import Any

from .._core import Operation, operation
from .._dtype import dtype_number
from .._shortcut import shortcut
from ..numpy import ndarray
from ..numpy._arguments import need

__all__ = [
    "cast",
    "digamma",
    "erf",
    "erfinv",
    "gamma",
    "gammaln",
    "relu",
    "sigmoid",
    "smooth_l1",
]

_copy = operation("copy", False)
_digamma = operation("digamma", False)
_erf = operation("erf", False)
_erfinv = operation("erfinv", False)
_gamma = operation("gamma", False)
_gammaln = operation("gammaln", False)
_relu = operation("relu", False)
_sigmoid = operation("sigmoid", False)
_smooth_l1 = operation("smooth_l1", False)


def _unary(call: Operation, data: Any, out: ndarray | None) -> ndarray:
    result: ndarray = call(need(data, "data"), out=out)
    return result


@shortcut("relu", "array")
def relu(data: Any, out: ndarray | None = None, name: str | None = None) -> ndarray:
    """Return the elements with negative ones replaced by 0.

    >>> from afterglow import np, npx
    >>> npx.relu(np.array([-1, 2]))
    array([0., 2.])
    """
    return _unary(_relu, data, out)


@shortcut("sigmoid", "array")
def sigmoid(data: Any, out: ndarray | None = None, name: str | None = None) -> ndarray:
    """Return 1 / (1 + exp(-x)).

    >>> from afterglow import np, npx
    >>> npx.sigmoid(np.array([0, 2]))
    array([0.5     , 0.880797])
    """
    return _unary(_sigmoid, data, out)


@shortcut("erf", "array")
def erf(data: Any, out: ndarray | None = None, name: str | None = None) -> ndarray:
    """Return the error function.

    >>> from afterglow import np, npx
    >>> npx.erf(np.array([-1, 0, 0.5]))
    array([-0.8427008,  0.       ,  0.5204999])
    """
    return _unary(_erf, data, out)


@shortcut("erfinv", "array")
def erfinv(data: Any, out: ndarray | None = None, name: str | None = None) -> ndarray:
    """Return the inverse of the error function.

    >>> from afterglow import np, npx
    >>> npx.erfinv(np.array([-0.5, 0, 0.5]))
    array([-0.47693628,  0.        ,  0.47693628])
    """
    return _unary(_erfinv, data, out)


@shortcut("gamma", "array")
def gamma(data: Any, out: ndarray | None = None, name: str | None = None) -> ndarray:
    """Return the gamma function: (n - 1)! for an integer n.

    >>> from afterglow import np, npx
    >>> npx.gamma(np.array([1, 0.5, 5]))
    array([ 1.       ,  1.7724539, 24.       ])
    """
    return _unary(_gamma, data, out)


@shortcut("gammaln", "array")
def gammaln(data: Any, out: ndarray | None = None, name: str | None = None) -> ndarray:
    """Return the logarithms of the size of the gamma function.

    >>> from afterglow import np, npx
    >>> npx.gammaln(np.array([1, 0.5, 5]))
    array([0.       , 0.5723649, 3.1780539])
    """
    return _unary(_gammaln, data, out)


@shortcut("digamma", "array")
def digamma(data: Any, out: ndarray | None = None, name: str | None = None) -> ndarray:
    """Return the derivative of ``gammaln``.

    >>> from afterglow import np, npx
    >>> npx.digamma(np.array([1, 0.5, 5]))
    array([-0.5772157, -1.96351  ,  1.5061177])
    """
    return _unary(_digamma, data, out)


def smooth_l1(
    data: Any, scalar: float = 1.0, out: ndarray | None = None, name: str | None = None
) -> ndarray:
    """Return the squares of small elements, continued straight; ``scalar`` says what is small.

    With s its square: ``s / 2 * x**2`` where ``abs(x) < 1 / s``, else ``abs(x) - 1 / (2 * s)``.

    >>> from afterglow import np, npx
    >>> npx.smooth_l1(np.array([-2, 0.5, 1]))
    array([1.5  , 0.125, 0.5  ])
    """
    result: ndarray = _smooth_l1(need(data, "data"), scalar, out=out)
    return result


def cast(data: Any, dtype: Any, out: ndarray | None = None, name: str | None = None) -> ndarray:
    """Return the values in another type.

    >>> from afterglow import np, npx
    >>> npx.cast(np.array([0.9, 2.5]), "int32")
    array([0, 2], dtype=int32)
    """
    result: ndarray = _copy(need(data, "data"), dtype=dtype_number(dtype), out=out)
    return result
