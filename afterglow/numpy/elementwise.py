# SPDX-License-Identifier: Apache-2.0
"""Functions of each element that are more than an op: several of them, or NumPy's."""

from __future__ import annotations

import builtins
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._arrays.dtypes import FLOAT64, FLOATING, dtype_number, is_known
from .._arrays.worlds import NUMPY
from .._core import Array, is_recording, is_stand_in
from .._interoperation.host import host_array
from .._interoperation.host_calls import Host, Spec, declare_host
from .._mathematics.gradients import ZERO
from ..error import ArrayTypeError, as_ours
from ._arguments import check_options, need
from ._rare_forms import elementwise
from .creation import array

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = [
    "around",
    "lcm",
    "nan_to_num",
    "polyval",
    "round",
    "round_",
]


def around(x: Any, decimals: int = 0, out: Any = None, **kwargs: Any) -> Any:
    """Return the elements rounded to so many decimals; ties go to the even digit.

    >>> from afterglow import np
    >>> np.around(np.array([0.5, 1.5, 2.567]), 1)
    array([0.5, 1.5, 2.6])
    """
    with as_ours("around"):
        if isinstance(x, (int, float, onp.generic)):
            return onp.around(x, decimals)
        scale = 10.0 ** builtins.abs(decimals)
    check_options("around", kwargs)
    x = need(x, "x")
    if not decimals or (decimals > 0 and x._dtype_number not in FLOATING):
        return NUMPY.round_half_to_even(x, out=out)
    if decimals > 0:
        return NUMPY.divide(NUMPY.round_half_to_even(NUMPY.multiply(x, scale)), scale, out=out)
    if x._dtype_number in FLOATING:
        return NUMPY.multiply(NUMPY.round_half_to_even(NUMPY.divide(x, scale)), scale, out=out)
    tens = NUMPY.round_half_to_even(NUMPY.divide(NUMPY.copy(x, dtype=FLOAT64), scale))
    return NUMPY.copy(NUMPY.multiply(tens, scale), dtype=x._dtype_number, out=out)


round = round_ = around


def nan_to_num(
    x: Any,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Any:
    """Return the elements with nan and infinities replaced; without ``copy`` in place.

    Infinities become the greatest and the lowest number of the type unless others are given. A
    variable (``attach_grad``) is not written to while recording; there is a copy then.

    >>> from afterglow import np
    >>> np.nan_to_num(np.array([np.nan, 1, np.inf]), posinf=9)
    array([0., 1., 9.])
    """
    if isinstance(x, (int, float, onp.generic)):
        with as_ours("nan_to_num"):
            return onp.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
    x = need(x, "x")
    copy = copy or (is_recording() and x.grad is not None)
    target = None if copy else x
    if x._dtype_number not in FLOATING:
        return NUMPY.copy(x) if copy else x
    largest = float(onp.finfo(x.dtype).max)
    result = NUMPY.where(NUMPY.not_equal(x, x), nan, x)
    result = NUMPY.where(NUMPY.equal(x, inf), largest if posinf is None else posinf, result)
    lowest = -largest if neginf is None else neginf
    return NUMPY.where(NUMPY.equal(x, -inf), lowest, result, out=target)


def polyval(p: Any, x: Any) -> ndarray:
    """Return the values of a polynomial whose coefficients begin with the greatest power.

    >>> from afterglow import np
    >>> np.polyval(np.array([1, 2, 3]), np.array([0, 1, 10]))
    array([  3.,   6., 123.])
    """
    result: ndarray = NUMPY.polyval(
        *(one if isinstance(one, Array) or is_stand_in(one) else array(one) for one in (p, x))
    )
    return result


def lcm(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the least common multiples of integers, broadcast.

    >>> from afterglow import np
    >>> np.lcm(np.array([4, 6], dtype="int32"), np.array([6, 9], dtype="int32"))
    array([12, 18], dtype=int32)
    """
    return elementwise(_lcm, "lcm", (x1, x2), out, kwargs)


def _lcm(x1: Any, x2: Any, out: Any) -> Any:
    kind = onp.result_type(*(one.dtype for one in (x1, x2) if hasattr(one, "shape")))
    if kind.kind not in "iu":
        raise ArrayTypeError(f"[lcm] is for integers, not for {kind}")
    if not is_known(kind):
        kind = onp.dtype(onp.int32)  # of uint8 with int8, as for all ops
    arrays = [
        one if isinstance(one, Array) else need(host_array(one, dtype_number(kind)))
        for one in (x1, x2)
    ]
    result = _multiples(*arrays, dtype=dtype_number(kind), legacy=False)
    return result if out is None else NUMPY.copy(result, out=out)


@declare_host(
    "lcm",
    infer=lambda x1, x2, dtype: Spec(onp.broadcast_shapes(x1.shape, x2.shape), dtype),
    gradient=[ZERO],
)
def _multiples(x1: Host, x2: Host, *, dtype: int) -> Any:
    """Return the least common multiples of integers, broadcast."""
    return onp.lcm(x1, x2)
