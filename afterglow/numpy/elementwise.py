# SPDX-License-Identifier: Apache-2.0
"""Functions of each element by itself: spellings of the elementwise ops."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from math import inf
from typing import Any

import numpy as onp

from .._core import Array, operation
from .._dtype import FLOAT64, FLOATING, dtype_number, is_known
from .._host import host_array
from .._host_calls import on_host
from .._shortcut import shortcut
from ..error import ArrayTypeError, as_ours
from ..ndarray._arguments import bound, mask
from ._arguments import check_options, need, truth
from .indexing import nonzero

__all__ = [
    "abs",
    "absolute",
    "add",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "around",
    "cbrt",
    "ceil",
    "clip",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "equal",
    "exp",
    "expm1",
    "fabs",
    "fix",
    "floor",
    "greater",
    "greater_equal",
    "hypot",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "lcm",
    "ldexp",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "nan_to_num",
    "negative",
    "not_equal",
    "positive",
    "power",
    "rad2deg",
    "radians",
    "reciprocal",
    "remainder",
    "rint",
    "round",
    "round_",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
    "where",
]

_abs = operation("abs", False)
_negative = operation("negative", False)
_exp = operation("exp", False)
_log = operation("log", False)
_sqrt = operation("sqrt", False)
_square = operation("square", False)
_tanh = operation("tanh", False)
_sin = operation("sin", False)
_cos = operation("cos", False)
_tan = operation("tan", False)
_arcsin = operation("arcsin", False)
_arccos = operation("arccos", False)
_arctan = operation("arctan", False)
_sinh = operation("sinh", False)
_cosh = operation("cosh", False)
_arcsinh = operation("arcsinh", False)
_arccosh = operation("arccosh", False)
_arctanh = operation("arctanh", False)
_degrees = operation("degrees", False)
_radians = operation("radians", False)
_expm1 = operation("expm1", False)
_log1p = operation("log1p", False)
_log2 = operation("log2", False)
_log10 = operation("log10", False)
_cbrt = operation("cbrt", False)
_reciprocal = operation("reciprocal", False)
_sign = operation("sign", False)
_floor = operation("floor", False)
_ceil = operation("ceil", False)
_trunc = operation("trunc", False)
_rint = operation("rint", False)
_round_half_to_even = operation("round_half_to_even", False)
_hypot = operation("hypot", False)
_arctan2 = operation("arctan2", False)
_copysign = operation("copysign", False)
_logical_and = operation("logical_and", False)
_logical_or = operation("logical_or", False)
_logical_xor = operation("logical_xor", False)
_copy = operation("copy", False)
_add = operation("add", False)
_subtract = operation("subtract", False)
_multiply = operation("multiply", False)
_divide = operation("divide", False)
_modulo = operation("modulo", False)
_power = operation("power", False)
_maximum = operation("maximum", False)
_minimum = operation("minimum", False)
_equal = operation("equal", False)
_not_equal = operation("not_equal", False)
_less = operation("less", False)
_less_equal = operation("less_equal", False)
_greater = operation("greater", False)
_greater_equal = operation("greater_equal", False)
_where = operation("where", False)
_clip = operation("clip", False)


def _call(
    call: Callable[..., Any],
    host: Callable[..., Any],
    operands: tuple[Any, ...],
    out: Any,
    options: dict[str, Any] | None = None,
) -> Any:
    """Call an op; operands without any array among them are worked out by NumPy."""
    chosen = options.pop("where", True) if options else True
    if options:
        check_options(host.__name__, options)
    if chosen is not True:
        return _call_where(call, operands, out, truth(chosen))
    if any(isinstance(operand, (Array, onp.ndarray)) for operand in operands):
        return call(*operands, out=out)
    for operand in operands:
        if not isinstance(operand, (int, float, onp.generic)):
            raise ArrayTypeError(f"type {type(operand)} not supported")
    with as_ours(host.__name__):
        return host(*operands)


def _call_where(call: Callable[..., Any], operands: tuple[Any, ...], out: Any, chosen: Any) -> Any:
    """Call an op where a mask is true. Elsewhere ``out`` stays as it is; without one there is 0."""
    if not any(isinstance(operand, (Array, onp.ndarray)) for operand in operands):
        operands = (need(onp.asarray(operands[0])), *operands[1:])
    result = call(*operands, out=None)
    if out is None:
        return _where(chosen, result, _copy(0, result._dtype_number, ()))
    return _where(chosen, result, out, out=out)


# --- one operand ---


@shortcut("abs", "array")
def abs(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the absolute values.

    >>> from afterglow import np
    >>> np.abs(np.array([-1, 2]))
    array([1., 2.])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_abs, onp.absolute, (x,), out, kwargs)
    return _abs(x, out=out)


absolute = abs


@shortcut("negative", "array")
def negative(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the values with their signs turned.

    >>> from afterglow import np
    >>> np.negative(np.array([-1, 2]))
    array([ 1., -2.])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_negative, onp.negative, (x,), out, kwargs)
    return _negative(x, out=out)


@shortcut("exp", "array")
def exp(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return e to the power of each element.

    >>> from afterglow import np
    >>> np.exp(np.array([0, 1]))
    array([1.       , 2.7182817])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_exp, onp.exp, (x,), out, kwargs)
    return _exp(x, out=out)


@shortcut("log", "array")
def log(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the natural logarithms.

    >>> from afterglow import np
    >>> np.log(np.array([1, 2]))
    array([0.       , 0.6931472])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_log, onp.log, (x,), out, kwargs)
    return _log(x, out=out)


@shortcut("sqrt", "array")
def sqrt(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the square roots.

    >>> from afterglow import np
    >>> np.sqrt(np.array([4, 9]))
    array([2., 3.])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_sqrt, onp.sqrt, (x,), out, kwargs)
    return _sqrt(x, out=out)


@shortcut("square", "array")
def square(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the elements multiplied by themselves.

    >>> from afterglow import np
    >>> np.square(np.array([2, 3]))
    array([4., 9.])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_square, onp.square, (x,), out, kwargs)
    return _square(x, out=out)


@shortcut("tanh", "array")
def tanh(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the hyperbolic tangents.

    >>> from afterglow import np
    >>> np.tanh(np.array([0, 1]))
    array([0.       , 0.7615942])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_tanh, onp.tanh, (x,), out, kwargs)
    return _tanh(x, out=out)


@shortcut("sin", "array")
def sin(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the sines.

    >>> from afterglow import np
    >>> np.sin(np.array([0, 1, 2]))
    array([0.        , 0.84147096, 0.9092974 ])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_sin, onp.sin, (x,), out, kwargs)
    return _sin(x, out=out)


@shortcut("cos", "array")
def cos(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the cosines.

    >>> from afterglow import np
    >>> np.cos(np.array([0, 1, 2]))
    array([ 1.       ,  0.5403023, -0.4161468])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_cos, onp.cos, (x,), out, kwargs)
    return _cos(x, out=out)


@shortcut("tan", "array")
def tan(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the tangents.

    >>> from afterglow import np
    >>> np.tan(np.array([0, 1, 2]))
    array([ 0.       ,  1.5574077, -2.1850398])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_tan, onp.tan, (x,), out, kwargs)
    return _tan(x, out=out)


@shortcut("arcsin", "array")
def arcsin(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the angles with these sines, from -pi/2 to pi/2.

    >>> from afterglow import np
    >>> np.arcsin(np.array([0, 0.5, 1]))
    array([0.       , 0.5235988, 1.5707964])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_arcsin, onp.arcsin, (x,), out, kwargs)
    return _arcsin(x, out=out)


@shortcut("arccos", "array")
def arccos(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the angles with these cosines, from 0 to pi.

    >>> from afterglow import np
    >>> np.arccos(np.array([0, 0.5, 1]))
    array([1.5707964, 1.0471976, 0.       ])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_arccos, onp.arccos, (x,), out, kwargs)
    return _arccos(x, out=out)


@shortcut("arctan", "array")
def arctan(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the angles with these tangents, from -pi/2 to pi/2.

    >>> from afterglow import np
    >>> np.arctan(np.array([0, 0.5, 1]))
    array([0.       , 0.4636476, 0.7853982])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_arctan, onp.arctan, (x,), out, kwargs)
    return _arctan(x, out=out)


@shortcut("sinh", "array")
def sinh(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the hyperbolic sines.

    >>> from afterglow import np
    >>> np.sinh(np.array([0, 1, 2]))
    array([0.       , 1.1752012, 3.6268604])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_sinh, onp.sinh, (x,), out, kwargs)
    return _sinh(x, out=out)


@shortcut("cosh", "array")
def cosh(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the hyperbolic cosines.

    >>> from afterglow import np
    >>> np.cosh(np.array([0, 1, 2]))
    array([1.       , 1.5430807, 3.7621956])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_cosh, onp.cosh, (x,), out, kwargs)
    return _cosh(x, out=out)


@shortcut("arcsinh", "array")
def arcsinh(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the inverses of the hyperbolic sine.

    >>> from afterglow import np
    >>> np.arcsinh(np.array([0, 1, 2]))
    array([0.       , 0.8813736, 1.4436355])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_arcsinh, onp.arcsinh, (x,), out, kwargs)
    return _arcsinh(x, out=out)


@shortcut("arccosh", "array")
def arccosh(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the inverses of the hyperbolic cosine.

    >>> from afterglow import np
    >>> np.arccosh(np.array([1, 2, 3]))
    array([0.       , 1.316958 , 1.7627472])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_arccosh, onp.arccosh, (x,), out, kwargs)
    return _arccosh(x, out=out)


@shortcut("arctanh", "array")
def arctanh(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the inverses of the hyperbolic tangent.

    >>> from afterglow import np
    >>> np.arctanh(np.array([0, 0.5, 1]))
    array([0.        , 0.54930615,        inf])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_arctanh, onp.arctanh, (x,), out, kwargs)
    return _arctanh(x, out=out)


@shortcut("degrees", "array")
def degrees(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return angles of radians in degrees.

    >>> from afterglow import np
    >>> np.degrees(np.array([0, 1, 2]))
    array([  0.     ,  57.29578, 114.59156])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_degrees, onp.degrees, (x,), out, kwargs)
    return _degrees(x, out=out)


@shortcut("radians", "array")
def radians(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return angles of degrees in radians.

    >>> from afterglow import np
    >>> np.radians(np.array([0, 90, 180]))
    array([0.       , 1.5707964, 3.1415927])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_radians, onp.radians, (x,), out, kwargs)
    return _radians(x, out=out)


deg2rad = radians
rad2deg = degrees


@shortcut("expm1", "array")
def expm1(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return exp(x) - 1, precise near 0.

    >>> from afterglow import np
    >>> np.expm1(np.array([0, 1e-8]))
    array([0.e+00, 1.e-08])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_expm1, onp.expm1, (x,), out, kwargs)
    return _expm1(x, out=out)


@shortcut("log1p", "array")
def log1p(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return log(1 + x), precise near 0.

    >>> from afterglow import np
    >>> np.log1p(np.array([0, 1e-8, 1]))
    array([0.000000e+00, 1.000000e-08, 6.931472e-01])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_log1p, onp.log1p, (x,), out, kwargs)
    return _log1p(x, out=out)


@shortcut("log2", "array")
def log2(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the logarithms to base 2.

    >>> from afterglow import np
    >>> np.log2(np.array([1, 8, 10]))
    array([0.      , 3.      , 3.321928])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_log2, onp.log2, (x,), out, kwargs)
    return _log2(x, out=out)


@shortcut("log10", "array")
def log10(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the logarithms to base 10.

    >>> from afterglow import np
    >>> np.log10(np.array([1, 8, 1000]))
    array([0.     , 0.90309, 3.     ])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_log10, onp.log10, (x,), out, kwargs)
    return _log10(x, out=out)


@shortcut("cbrt", "array")
def cbrt(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the cube roots.

    >>> from afterglow import np
    >>> np.cbrt(np.array([-8, 1, 27]))
    array([-2.,  1.,  3.])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_cbrt, onp.cbrt, (x,), out, kwargs)
    return _cbrt(x, out=out)


@shortcut("reciprocal", "array")
def reciprocal(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return 1 / x.

    >>> from afterglow import np
    >>> np.reciprocal(np.array([1, 2, 4]))
    array([1.  , 0.5 , 0.25])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_reciprocal, onp.reciprocal, (x,), out, kwargs)
    return _reciprocal(x, out=out)


@shortcut("sign", "array")
def sign(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return -1, 0 or 1 by the sign of each element.

    >>> from afterglow import np
    >>> np.sign(np.array([-2, 0, 3]))
    array([-1.,  0.,  1.])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_sign, onp.sign, (x,), out, kwargs)
    return _sign(x, out=out)


@shortcut("floor", "array")
def floor(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the greatest integers that are not greater.

    >>> from afterglow import np
    >>> np.floor(np.array([-1.5, 0.5, 2]))
    array([-2.,  0.,  2.])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_floor, onp.floor, (x,), out, kwargs)
    return _floor(x, out=out)


@shortcut("ceil", "array")
def ceil(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the smallest integers that are not smaller.

    >>> from afterglow import np
    >>> np.ceil(np.array([-1.5, 0.5, 2]))
    array([-1.,  1.,  2.])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_ceil, onp.ceil, (x,), out, kwargs)
    return _ceil(x, out=out)


@shortcut("trunc", "array")
def trunc(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the elements without their fractions.

    >>> from afterglow import np
    >>> np.trunc(np.array([-1.5, 0.5, 2]))
    array([-1.,  0.,  2.])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_trunc, onp.trunc, (x,), out, kwargs)
    return _trunc(x, out=out)


fix = trunc


@shortcut("rint", "array")
def rint(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the nearest integers; ties go to the lower one, as in MXNet.

    >>> from afterglow import np
    >>> np.rint(np.array([-2.5, 0.5, 1.6]))
    array([-3.,  0.,  2.])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_rint, onp.rint, (x,), out, kwargs)
    return _rint(x, out=out)


fabs = abs


@shortcut("copy", "array")
def positive(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return a copy.

    >>> from afterglow import np
    >>> np.positive(np.array([-1, 2]))
    array([-1.,  2.])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_copy, onp.positive, (x,), out, kwargs)
    return _copy(x, out=out)


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
        return _round_half_to_even(x, out=out)
    if decimals > 0:
        return _divide(_round_half_to_even(_multiply(x, scale)), scale, out=out)
    if x._dtype_number in FLOATING:
        return _multiply(_round_half_to_even(_divide(x, scale)), scale, out=out)
    tens = _round_half_to_even(_divide(_copy(x, dtype=FLOAT64), scale))
    return _copy(_multiply(tens, scale), dtype=x._dtype_number, out=out)


round = round_ = around


def logical_not(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where the element is 0.

    >>> from afterglow import np
    >>> np.logical_not(np.array([0, 2]))
    array([ True, False])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_is_zero, onp.logical_not, (x,), out, kwargs)
    return _is_zero(x, out=out)


def _is_zero(x: Any, out: Any) -> Any:
    return _equal(x, 0, out=out)


def isnan(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where the element is not a number.

    >>> from afterglow import np
    >>> np.isnan(np.array([1, np.nan, np.inf]))
    array([False,  True, False])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_is_nan, onp.isnan, (x,), out, kwargs)
    return _is_nan(x, out=out)


def _is_nan(x: Any, out: Any) -> Any:
    x = need(x, "x")
    return _not_equal(x, x, out=out)


def isinf(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where the element is infinite.

    >>> from afterglow import np
    >>> np.isinf(np.array([1, np.nan, -np.inf]))
    array([False, False,  True])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_is_inf, onp.isinf, (x,), out, kwargs)
    return _is_inf(x, out=out)


def _is_inf(x: Any, out: Any) -> Any:
    x = need(x, "x")
    return _is_this(_abs(x), inf, out) if x._dtype_number in FLOATING else _is_nan(x, out)


def _is_this(x: Any, number: float, out: Any) -> Any:
    """Tell where an element is a number that integers cannot be."""
    x = need(x, "x")
    return _equal(x, number, out=out) if x._dtype_number in FLOATING else _is_nan(x, out)


def isposinf(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where the element is infinite and positive.

    >>> from afterglow import np
    >>> np.isposinf(np.array([-np.inf, np.inf]))
    array([False,  True])
    """
    return _call(lambda x, out: _is_this(x, inf, out), onp.isposinf, (x,), out, kwargs)


def isneginf(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where the element is infinite and negative.

    >>> from afterglow import np
    >>> np.isneginf(np.array([-np.inf, np.inf]))
    array([ True, False])
    """
    return _call(lambda x, out: _is_this(x, -inf, out), onp.isneginf, (x,), out, kwargs)


def isfinite(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where the element is neither infinite nor nan.

    >>> from afterglow import np
    >>> np.isfinite(np.array([1, np.nan, np.inf]))
    array([ True, False, False])
    """
    if kwargs or not isinstance(x, Array):
        return _call(_is_finite, onp.isfinite, (x,), out, kwargs)
    return _is_finite(x, out=out)


def _is_finite(x: Any, out: Any) -> Any:
    x = need(x, "x")
    return _less(_abs(x), inf, out=out) if x._dtype_number in FLOATING else _equal(x, x, out=out)


def nan_to_num(
    x: Any,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Any:
    """Return the elements with nan and infinities replaced; without ``copy`` in place.

    Infinities become the greatest and the lowest number of the type unless others are given.

    >>> from afterglow import np
    >>> np.nan_to_num(np.array([np.nan, 1, np.inf]), posinf=9)
    array([0., 1., 9.])
    """
    if isinstance(x, (int, float, onp.generic)):
        with as_ours("nan_to_num"):
            return onp.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
    x = need(x, "x")
    target = None if copy else x
    if x._dtype_number not in FLOATING:
        return _copy(x) if copy else x
    largest = float(onp.finfo(x.dtype).max)
    result = x
    if posinf is not None:
        result = _where(_equal(x, inf), posinf, result)
    if neginf is not None:
        result = _where(_equal(x, -inf), neginf, result)
    if posinf is None or neginf is None:
        result = _clip(result, -largest, largest)
    return _where(_not_equal(x, x), nan, result, out=target)


@shortcut("clip", "array", "number!", "number!")
def clip(a: Any, a_min: Any, a_max: Any, out: Any = None) -> Any:
    """Return the elements, but ``a_min`` for smaller and ``a_max`` for greater ones; nan stays.

    One of the bounds may be ``None``.

    >>> from afterglow import np
    >>> np.clip(np.array([-1, 0.5, 3]), 0, 1)
    array([0. , 0.5, 1. ])
    """
    if isinstance(a, (int, float, onp.generic)):
        with as_ours("clip"):
            return onp.clip(a, a_min, a_max)
    return _clip(need(a, "data"), bound(a_min, "a_min"), bound(a_max, "a_max"), out=out)


# --- two operands ---


@shortcut("add", "operand", "operand")
def add(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the sums, broadcast.

    >>> from afterglow import np
    >>> np.add(np.array([1, 5]), 2)
    array([3., 7.])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_add, onp.add, (x1, x2), out, kwargs)
    return _add(x1, x2, out=out)


@shortcut("subtract", "operand", "operand")
def subtract(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the differences, broadcast.

    >>> from afterglow import np
    >>> np.subtract(np.array([1, 5]), 2)
    array([-1.,  3.])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_subtract, onp.subtract, (x1, x2), out, kwargs)
    return _subtract(x1, x2, out=out)


@shortcut("multiply", "operand", "operand")
def multiply(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the products, broadcast.

    >>> from afterglow import np
    >>> np.multiply(np.array([1, 5]), 2)
    array([ 2., 10.])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_multiply, onp.multiply, (x1, x2), out, kwargs)
    return _multiply(x1, x2, out=out)


@shortcut("divide", "operand", "operand")
def divide(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the quotients, broadcast; integers give float32.

    >>> from afterglow import np
    >>> np.divide(np.array([1, 5]), 2)
    array([0.5, 2.5])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_divide, onp.divide, (x1, x2), out, kwargs)
    return _divide(x1, x2, out=out)


true_divide = divide


@shortcut("modulo", "operand", "operand")
def mod(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the remainders with the sign of the divisor, broadcast.

    >>> from afterglow import np
    >>> np.mod(np.array([1, 5]), 2)
    array([1., 1.])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_modulo, onp.mod, (x1, x2), out, kwargs)
    return _modulo(x1, x2, out=out)


remainder = mod


@shortcut("power", "operand", "operand")
def power(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return powers, broadcast.

    >>> from afterglow import np
    >>> np.power(np.array([1, 5]), 2)
    array([ 1., 25.])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_power, onp.power, (x1, x2), out, kwargs)
    return _power(x1, x2, out=out)


@shortcut("maximum", "operand", "operand")
def maximum(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the greater of each pair, broadcast; nan wins.

    >>> from afterglow import np
    >>> np.maximum(np.array([1, 5]), 2)
    array([2., 5.])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_maximum, onp.maximum, (x1, x2), out, kwargs)
    return _maximum(x1, x2, out=out)


@shortcut("minimum", "operand", "operand")
def minimum(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the smaller of each pair, broadcast; nan wins.

    >>> from afterglow import np
    >>> np.minimum(np.array([1, 5]), 2)
    array([1., 2.])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_minimum, onp.minimum, (x1, x2), out, kwargs)
    return _minimum(x1, x2, out=out)


def equal(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where the operands are equal.

    >>> from afterglow import np
    >>> np.equal(np.array([1, 5]), 2)
    array([False, False])
    """
    return _call(_equal, onp.equal, (x1, x2), out, kwargs)


def not_equal(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where the operands differ.

    >>> from afterglow import np
    >>> np.not_equal(np.array([1, 5]), 2)
    array([ True,  True])
    """
    return _call(_not_equal, onp.not_equal, (x1, x2), out, kwargs)


def less(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where the first operand is smaller.

    >>> from afterglow import np
    >>> np.less(np.array([1, 5]), 2)
    array([ True, False])
    """
    return _call(_less, onp.less, (x1, x2), out, kwargs)


def less_equal(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where the first operand is not greater.

    >>> from afterglow import np
    >>> np.less_equal(np.array([1, 5]), 2)
    array([ True, False])
    """
    return _call(_less_equal, onp.less_equal, (x1, x2), out, kwargs)


def greater(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where the first operand is greater.

    >>> from afterglow import np
    >>> np.greater(np.array([1, 5]), 2)
    array([False,  True])
    """
    return _call(_greater, onp.greater, (x1, x2), out, kwargs)


def greater_equal(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where the first operand is not smaller.

    >>> from afterglow import np
    >>> np.greater_equal(np.array([1, 5]), 2)
    array([False,  True])
    """
    return _call(_greater_equal, onp.greater_equal, (x1, x2), out, kwargs)


@shortcut("hypot", "operand", "operand")
def hypot(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return sqrt(x1**2 + x2**2), broadcast.

    >>> from afterglow import np
    >>> np.hypot(np.array([3, 5]), np.array([4, 12]))
    array([ 5., 13.])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_hypot, onp.hypot, (x1, x2), out, kwargs)
    return _hypot(x1, x2, out=out)


@shortcut("arctan2", "operand", "operand")
def arctan2(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the angles of the points (x2, x1), from -pi to pi, broadcast.

    >>> from afterglow import np
    >>> np.arctan2(np.array([1, 1]), np.array([1, -1]))
    array([0.7853982, 2.3561945])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_arctan2, onp.arctan2, (x1, x2), out, kwargs)
    return _arctan2(x1, x2, out=out)


@shortcut("copysign", "operand", "operand")
def copysign(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the sizes of x1 with the signs of x2, broadcast.

    >>> from afterglow import np
    >>> np.copysign(np.array([1, -2]), np.array([-3, 4]))
    array([-1.,  2.])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_copysign, onp.copysign, (x1, x2), out, kwargs)
    return _copysign(x1, x2, out=out)


def ldexp(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return x1 * 2**x2, broadcast; the exponents need not be integers.

    >>> from afterglow import np
    >>> np.ldexp(np.array([1, 3]), np.array([2, -1]))
    array([4. , 1.5])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_scale_by_power, _host_ldexp, (x1, x2), out, kwargs)
    return _scale_by_power(x1, x2, out=out)


def _scale_by_power(x1: Any, x2: Any, out: Any) -> Any:
    with as_ours("ldexp"):
        scale = 2.0**x2 if isinstance(x2, (int, float)) else _power(2.0, x2)
    return _multiply(x1, scale, out=out)


def _host_ldexp(x1: Any, x2: Any) -> Any:
    return x1 * 2.0**x2


def lcm(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the least common multiples of integers, broadcast.

    >>> from afterglow import np
    >>> np.lcm(np.array([4, 6], dtype="int32"), np.array([6, 9], dtype="int32"))
    array([12, 18], dtype=int32)
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_lcm, onp.lcm, (x1, x2), out, kwargs)
    return _lcm(x1, x2, out=out)


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
    shape = onp.broadcast_shapes(*(one.shape for one in arrays))
    result = on_host("lcm", onp.lcm, *arrays, shape=shape, dtype=kind, legacy=False)
    return result if out is None else _copy(result, out=out)


@shortcut("logical_and", "operand", "operand")
def logical_and(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where both operands are not 0.

    >>> from afterglow import np
    >>> np.logical_and(np.array([0, 2]), np.array([3, 4]))
    array([False,  True])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_logical_and, onp.logical_and, (x1, x2), out, kwargs)
    return _logical_and(x1, x2, out=out)


@shortcut("logical_or", "operand", "operand")
def logical_or(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where one of the operands is not 0.

    >>> from afterglow import np
    >>> np.logical_or(np.array([0, 2]), 0)
    array([False,  True])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_logical_or, onp.logical_or, (x1, x2), out, kwargs)
    return _logical_or(x1, x2, out=out)


@shortcut("logical_xor", "operand", "operand")
def logical_xor(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return where just one of the operands is not 0.

    >>> from afterglow import np
    >>> np.logical_xor(np.array([0, 2]), 1)
    array([ True, False])
    """
    if kwargs or not isinstance(x1, Array):
        return _call(_logical_xor, onp.logical_xor, (x1, x2), out, kwargs)
    return _logical_xor(x1, x2, out=out)


# --- a choice ---


@shortcut("where", "mask", "operand", "operand")
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Return the elements of ``x`` where the condition is not 0, else those of ``y``, broadcast.

    A condition that is a number returns ``x`` or ``y`` as they are; one that is alone is asked for
    its :func:`nonzero`.

    >>> from afterglow import np
    >>> np.where(np.array([1, 0]), np.array([1, 2]), 5)
    array([1., 5.])
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ArrayTypeError("[where] needs both x and y")
    if isinstance(condition, (int, float, onp.generic)):
        return x if condition != 0 else y
    condition = need(condition, "condition")
    return _where(mask(_not_equal, condition, x, y), x, y)
