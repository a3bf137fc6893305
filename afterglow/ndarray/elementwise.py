# SPDX-License-Identifier: Apache-2.0
"""Functions of each element by itself: spellings of the elementwise ops."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._core import Array, Operation, operation
from .._dtype import FLOAT16, FLOAT32, FLOAT64, FLOATING, dtype_number
from ..error import ArrayTypeError, ArrayValueError, as_ours
from ._arguments import bound, mask, need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "Cast",
    "ElementWiseSum",
    "abs",
    "add",
    "add_n",
    "all_finite",
    "amp_cast",
    "amp_multicast",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "cast",
    "cbrt",
    "ceil",
    "clip",
    "cos",
    "cosh",
    "degrees",
    "divide",
    "equal",
    "erf",
    "erfinv",
    "exp",
    "expm1",
    "fix",
    "floor",
    "gamma",
    "gammaln",
    "greater",
    "greater_equal",
    "hard_sigmoid",
    "lesser",
    "lesser_equal",
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
    "modulo",
    "multi_all_finite",
    "multiply",
    "negative",
    "not_equal",
    "power",
    "radians",
    "rcbrt",
    "reciprocal",
    "relu",
    "rint",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "smooth_l1",
    "softsign",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
    "where",
]

_copy = operation("copy", True)
_abs = operation("abs", True)
_negative = operation("negative", True)
_exp = operation("exp", True)
_log = operation("log", True)
_sqrt = operation("sqrt", True)
_square = operation("square", True)
_tanh = operation("tanh", True)
_sigmoid = operation("sigmoid", True)
_relu = operation("relu", True)
_sin = operation("sin", True)
_cos = operation("cos", True)
_tan = operation("tan", True)
_arcsin = operation("arcsin", True)
_arccos = operation("arccos", True)
_arctan = operation("arctan", True)
_sinh = operation("sinh", True)
_cosh = operation("cosh", True)
_arcsinh = operation("arcsinh", True)
_arccosh = operation("arccosh", True)
_arctanh = operation("arctanh", True)
_degrees = operation("degrees", True)
_radians = operation("radians", True)
_expm1 = operation("expm1", True)
_log1p = operation("log1p", True)
_log2 = operation("log2", True)
_log10 = operation("log10", True)
_rsqrt = operation("rsqrt", True)
_cbrt = operation("cbrt", True)
_reciprocal = operation("reciprocal", True)
_sign = operation("sign", True)
_floor = operation("floor", True)
_ceil = operation("ceil", True)
_trunc = operation("trunc", True)
_round = operation("round", True)
_rint = operation("rint", True)
_gamma = operation("gamma", True)
_gammaln = operation("gammaln", True)
_erf = operation("erf", True)
_erfinv = operation("erfinv", True)
_softsign = operation("softsign", True)
_smooth_l1 = operation("smooth_l1", True)
_logical_and = operation("logical_and", True)
_logical_or = operation("logical_or", True)
_logical_xor = operation("logical_xor", True)
_min = operation("min", True)
_add = operation("add", True)
_subtract = operation("subtract", True)
_multiply = operation("multiply", True)
_divide = operation("divide", True)
_modulo = operation("modulo", True)
_power = operation("power", True)
_maximum = operation("maximum", True)
_minimum = operation("minimum", True)
_equal = operation("equal", True)
_not_equal = operation("not_equal", True)
_less = operation("less", True)
_less_equal = operation("less_equal", True)
_greater = operation("greater", True)
_greater_equal = operation("greater_equal", True)
_where = operation("where", True)
_clip = operation("clip", True)

# --- one array ---


def _unary(call: Operation, data: NDArray, out: NDArray | None) -> NDArray:
    result: NDArray = call(need(data), out=out)
    return result


def abs(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the absolute values.

    >>> from afterglow import nd
    >>> print(nd.abs(nd.array([-1, 2])).asnumpy())
    [1. 2.]
    """
    return _unary(_abs, data, out)


def negative(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the values with their signs turned.

    >>> from afterglow import nd
    >>> print(nd.negative(nd.array([-1, 2])).asnumpy())
    [ 1. -2.]
    """
    return _unary(_negative, data, out)


def exp(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return e to the power of each element.

    >>> from afterglow import nd
    >>> print(nd.exp(nd.array([0, 1])).asnumpy())
    [1.        2.7182817]
    """
    return _unary(_exp, data, out)


def log(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the natural logarithms.

    >>> from afterglow import nd
    >>> print(nd.log(nd.array([1, 2])).asnumpy())
    [0.        0.6931472]
    """
    return _unary(_log, data, out)


def sqrt(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the square roots.

    >>> from afterglow import nd
    >>> print(nd.sqrt(nd.array([4, 9])).asnumpy())
    [2. 3.]
    """
    return _unary(_sqrt, data, out)


def square(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the elements multiplied by themselves.

    >>> from afterglow import nd
    >>> print(nd.square(nd.array([2, 3])).asnumpy())
    [4. 9.]
    """
    return _unary(_square, data, out)


def tanh(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the hyperbolic tangents.

    >>> from afterglow import nd
    >>> print(nd.tanh(nd.array([0, 1])).asnumpy())
    [0.        0.7615942]
    """
    return _unary(_tanh, data, out)


def sigmoid(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return 1 / (1 + exp(-x)).

    >>> from afterglow import nd
    >>> print(nd.sigmoid(nd.array([0, 2])).asnumpy())
    [0.5      0.880797]
    """
    return _unary(_sigmoid, data, out)


def relu(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the elements with negative ones replaced by 0.

    >>> from afterglow import nd
    >>> print(nd.relu(nd.array([-1, 2])).asnumpy())
    [0. 2.]
    """
    return _unary(_relu, data, out)


def sin(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the sines.

    >>> from afterglow import nd
    >>> print(nd.sin(nd.array([0, 1, 2])).asnumpy())
    [0.         0.84147096 0.9092974 ]
    """
    return _unary(_sin, data, out)


def cos(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the cosines.

    >>> from afterglow import nd
    >>> print(nd.cos(nd.array([0, 1, 2])).asnumpy())
    [ 1.         0.5403023 -0.4161468]
    """
    return _unary(_cos, data, out)


def tan(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the tangents.

    >>> from afterglow import nd
    >>> print(nd.tan(nd.array([0, 1, 2])).asnumpy())
    [ 0.         1.5574077 -2.1850398]
    """
    return _unary(_tan, data, out)


def arcsin(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the angles with these sines, from -pi/2 to pi/2.

    >>> from afterglow import nd
    >>> print(nd.arcsin(nd.array([0, 0.5, 1])).asnumpy())
    [0.        0.5235988 1.5707964]
    """
    return _unary(_arcsin, data, out)


def arccos(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the angles with these cosines, from 0 to pi.

    >>> from afterglow import nd
    >>> print(nd.arccos(nd.array([0, 0.5, 1])).asnumpy())
    [1.5707964 1.0471976 0.       ]
    """
    return _unary(_arccos, data, out)


def arctan(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the angles with these tangents, from -pi/2 to pi/2.

    >>> from afterglow import nd
    >>> print(nd.arctan(nd.array([0, 0.5, 1])).asnumpy())
    [0.        0.4636476 0.7853982]
    """
    return _unary(_arctan, data, out)


def sinh(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the hyperbolic sines.

    >>> from afterglow import nd
    >>> print(nd.sinh(nd.array([0, 1, 2])).asnumpy())
    [0.        1.1752012 3.6268604]
    """
    return _unary(_sinh, data, out)


def cosh(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the hyperbolic cosines.

    >>> from afterglow import nd
    >>> print(nd.cosh(nd.array([0, 1, 2])).asnumpy())
    [1.        1.5430807 3.7621956]
    """
    return _unary(_cosh, data, out)


def arcsinh(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the inverses of the hyperbolic sine.

    >>> from afterglow import nd
    >>> print(nd.arcsinh(nd.array([0, 1, 2])).asnumpy())
    [0.        0.8813736 1.4436355]
    """
    return _unary(_arcsinh, data, out)


def arccosh(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the inverses of the hyperbolic cosine.

    >>> from afterglow import nd
    >>> print(nd.arccosh(nd.array([1, 2, 3])).asnumpy())
    [0.        1.316958  1.7627472]
    """
    return _unary(_arccosh, data, out)


def arctanh(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the inverses of the hyperbolic tangent.

    >>> from afterglow import nd
    >>> print(nd.arctanh(nd.array([0, 0.5, 1])).asnumpy())
    [0.         0.54930615        inf]
    """
    return _unary(_arctanh, data, out)


def degrees(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return angles of radians in degrees.

    >>> from afterglow import nd
    >>> print(nd.degrees(nd.array([0, 1, 2])).asnumpy())
    [  0.       57.29578 114.59156]
    """
    return _unary(_degrees, data, out)


def radians(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return angles of degrees in radians.

    >>> from afterglow import nd
    >>> print(nd.radians(nd.array([0, 90, 180])).asnumpy())
    [0.        1.5707964 3.1415927]
    """
    return _unary(_radians, data, out)


def expm1(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return exp(x) - 1, precise near 0.

    >>> from afterglow import nd
    >>> print(nd.expm1(nd.array([0, 1e-8])).asnumpy())
    [0.e+00 1.e-08]
    """
    return _unary(_expm1, data, out)


def log1p(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return log(1 + x), precise near 0.

    >>> from afterglow import nd
    >>> print(nd.log1p(nd.array([0, 1e-8, 1])).asnumpy())
    [0.000000e+00 1.000000e-08 6.931472e-01]
    """
    return _unary(_log1p, data, out)


def log2(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the logarithms to base 2.

    >>> from afterglow import nd
    >>> print(nd.log2(nd.array([1, 8, 10])).asnumpy())
    [0.       3.       3.321928]
    """
    return _unary(_log2, data, out)


def log10(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the logarithms to base 10.

    >>> from afterglow import nd
    >>> print(nd.log10(nd.array([1, 8, 1000])).asnumpy())
    [0.      0.90309 3.     ]
    """
    return _unary(_log10, data, out)


def rsqrt(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return 1 / sqrt(x).

    >>> from afterglow import nd
    >>> print(nd.rsqrt(nd.array([1, 4, 16])).asnumpy())
    [1.   0.5  0.25]
    """
    return _unary(_rsqrt, data, out)


def cbrt(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the cube roots.

    >>> from afterglow import nd
    >>> print(nd.cbrt(nd.array([-8, 1, 27])).asnumpy())
    [-2.  1.  3.]
    """
    return _unary(_cbrt, data, out)


def reciprocal(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return 1 / x.

    >>> from afterglow import nd
    >>> print(nd.reciprocal(nd.array([1, 2, 4])).asnumpy())
    [1.   0.5  0.25]
    """
    return _unary(_reciprocal, data, out)


def sign(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return -1, 0 or 1 by the sign of each element.

    >>> from afterglow import nd
    >>> print(nd.sign(nd.array([-2, 0, 3])).asnumpy())
    [-1.  0.  1.]
    """
    return _unary(_sign, data, out)


def floor(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the greatest integers that are not greater.

    >>> from afterglow import nd
    >>> print(nd.floor(nd.array([-1.5, 0.5, 2])).asnumpy())
    [-2.  0.  2.]
    """
    return _unary(_floor, data, out)


def ceil(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the smallest integers that are not smaller.

    >>> from afterglow import nd
    >>> print(nd.ceil(nd.array([-1.5, 0.5, 2])).asnumpy())
    [-1.  1.  2.]
    """
    return _unary(_ceil, data, out)


def trunc(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the elements without their fractions.

    >>> from afterglow import nd
    >>> print(nd.trunc(nd.array([-1.5, 0.5, 2])).asnumpy())
    [-1.  0.  2.]
    """
    return _unary(_trunc, data, out)


fix = trunc


def round(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the nearest integers; ties go away from 0.

    >>> from afterglow import nd
    >>> print(nd.round(nd.array([-2.5, 0.5, 1.4])).asnumpy())
    [-3.  1.  1.]
    """
    return _unary(_round, data, out)


def rint(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the nearest integers; ties go to the lower one, as in MXNet.

    >>> from afterglow import nd
    >>> print(nd.rint(nd.array([-2.5, 0.5, 1.6])).asnumpy())
    [-3.  0.  2.]
    """
    return _unary(_rint, data, out)


def gamma(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the gamma function: (n - 1)! for an integer n.

    >>> from afterglow import nd
    >>> print(nd.gamma(nd.array([1, 0.5, 5])).asnumpy())
    [ 1.         1.7724539 24.       ]
    """
    return _unary(_gamma, data, out)


def gammaln(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the logarithms of the size of the gamma function.

    >>> from afterglow import nd
    >>> print(nd.gammaln(nd.array([1, 0.5, 5])).asnumpy())
    [0.        0.5723649 3.1780539]
    """
    return _unary(_gammaln, data, out)


def erf(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the error function.

    >>> from afterglow import nd
    >>> print(nd.erf(nd.array([-1, 0, 0.5])).asnumpy())
    [-0.8427008  0.         0.5204999]
    """
    return _unary(_erf, data, out)


def erfinv(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the inverse of the error function.

    >>> from afterglow import nd
    >>> print(nd.erfinv(nd.array([-0.5, 0, 0.5])).asnumpy())
    [-0.47693628  0.          0.47693628]
    """
    return _unary(_erfinv, data, out)


def softsign(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return x / (1 + abs(x)).

    >>> from afterglow import nd
    >>> print(nd.softsign(nd.array([-1, 0, 3])).asnumpy())
    [-0.5   0.    0.75]
    """
    return _unary(_softsign, data, out)


def rcbrt(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return 1 / cbrt(x).

    >>> from afterglow import nd
    >>> print(nd.rcbrt(nd.array([1, 8, 27])).asnumpy())
    [1.         0.5        0.33333334]
    """
    return _unary(_reciprocal, _unary(_cbrt, data, None), out)


def logical_not(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return 1 where the element is 0, else 0.

    >>> from afterglow import nd
    >>> print(nd.logical_not(nd.array([0, 2])).asnumpy())
    [1. 0.]
    """
    result: NDArray = _equal(need(data), 0, out=out)
    return result


def hard_sigmoid(
    data: NDArray,
    alpha: float = 0.2,
    beta: float = 0.5,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return ``alpha * x + beta``, but no less than 0 and no more than 1.

    >>> from afterglow import nd
    >>> print(nd.hard_sigmoid(nd.array([-3, 0, 1])).asnumpy())
    [0.  0.5 0.7]
    """
    if need(data)._dtype_number not in FLOATING:
        raise ArrayTypeError(f"[hard_sigmoid] is for floats only; the array is of {data.dtype}")
    result: NDArray = _clip(_add(_multiply(data, alpha), beta), 0.0, 1.0, out=out)
    return result


def smooth_l1(
    data: NDArray, scalar: float = 1.0, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the squares of small elements, continued straight; ``scalar`` says what is small.

    With s its square: ``s / 2 * x**2`` where ``abs(x) < 1 / s``, else ``abs(x) - 1 / (2 * s)``.

    >>> from afterglow import nd
    >>> print(nd.smooth_l1(nd.array([-2, 0.5, 1])).asnumpy())
    [1.5   0.125 0.5  ]
    """
    result: NDArray = _smooth_l1(need(data), scalar, out=out)
    return result


def clip(
    data: NDArray, a_min: Any, a_max: Any, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the elements, but ``a_min`` for smaller and ``a_max`` for greater ones; nan stays.

    >>> from afterglow import nd
    >>> print(nd.clip(nd.array([-1, 0.5, 3]), 0, 1).asnumpy())
    [0.  0.5 1. ]
    """
    result: NDArray = _clip(need(data), bound(a_min, "a_min"), bound(a_max, "a_max"), out=out)
    return result


def cast(data: NDArray, dtype: Any, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the values in another type.

    >>> from afterglow import nd
    >>> print(nd.cast(nd.array([0.9, 2.5]), "int32").asnumpy())
    [0 2]
    """
    result: NDArray = _copy(need(data), dtype=dtype_number(dtype), out=out)
    return result


Cast = cast


def amp_cast(
    data: NDArray, dtype: Any, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return floats in another type; integers keep theirs.

    >>> from afterglow import nd
    >>> nd.amp_cast(nd.array([1, 2]), "float16").dtype
    <class 'numpy.float16'>
    """
    if need(data)._dtype_number not in FLOATING:
        return _unary(_copy, data, out)
    return cast(data, dtype, out)


def amp_multicast(
    *data: NDArray,
    num_outputs: int | None = None,
    cast_narrow: bool = False,
    out: Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Return all floats in the widest type among them, or the narrowest with ``cast_narrow``.

    >>> from afterglow import nd
    >>> pair = nd.amp_multicast(nd.ones((2,)), nd.ones((2,), dtype="float16"), num_outputs=2)
    >>> [one.dtype for one in pair]
    [<class 'numpy.float32'>, <class 'numpy.float32'>]
    """
    if num_outputs != len(data):
        raise ArrayValueError(f"[amp_multicast] got {len(data)} arrays, num_outputs={num_outputs}")
    kinds = {need(one)._dtype_number for one in data} & FLOATING
    order = [kind for kind in (FLOAT16, FLOAT32, FLOAT64) if kind in kinds]
    chosen = order[0 if cast_narrow else -1] if order else None
    targets: Sequence[NDArray | None] = out or [None] * len(data)
    return [
        _copy(one, dtype=chosen if one._dtype_number in FLOATING else None, out=target)
        for one, target in zip(data, targets, strict=True)
    ]


def all_finite(
    data: NDArray,
    init_output: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return 1 if no element is infinite or nan, else 0, in an array of shape (1,).

    >>> from afterglow import nd
    >>> print(nd.all_finite(nd.array([1, float("inf")])).asnumpy())
    [0.]
    """
    return multi_all_finite(data, num_arrays=1, init_output=init_output, out=out)


def multi_all_finite(
    *data: NDArray,
    num_arrays: int = 1,
    init_output: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return 1 if no element of any array is infinite or nan, else 0, in an array of shape (1,).

    Without ``init_output`` a 0 that is in ``out`` already stays.

    >>> from afterglow import nd
    >>> print(nd.multi_all_finite(nd.ones((2,)), nd.zeros((3,)), num_arrays=2).asnumpy())
    [1.]
    """
    if num_arrays != len(data) or not data:
        raise ArrayValueError(
            f"[multi_all_finite] got {len(data)} arrays, but num_arrays={num_arrays}"
        )
    results = [_copy(_min(_equal(_subtract(need(one), one), 0)), dtype=FLOAT32) for one in data]
    if out is not None and not init_output:
        results.append(out)
    for one in results[1:]:
        results[0] = _multiply(results[0], one)
    return _unary(_copy, results[0], out)


def where(
    condition: NDArray,
    x: NDArray,
    y: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the elements of ``x`` where the condition is not 0, else those of ``y``.

    A condition with one dimension chooses between the rows of ``x`` and ``y``.

    >>> from afterglow import nd
    >>> print(nd.where(nd.array([1, 0]), nd.array([1, 2]), nd.array([3, 4])).asnumpy())
    [1. 4.]
    """
    need(condition, "condition")
    need(x, "x")
    need(y, "y")
    result: NDArray = _where(mask(_not_equal, condition, x, y), x, y, out=out)
    return result


# --- two operands, arrays or numbers ---


def _binary(call: Operation, host: Callable[[Any, Any], Any], lhs: Any, rhs: Any) -> Any:
    """Call an op; two numbers are worked out by Python, as MXNet does."""
    if isinstance(lhs, Array) or isinstance(rhs, Array):
        return call(lhs, rhs)
    if not isinstance(lhs, (int, float)) or not isinstance(rhs, (int, float)):
        raise ArrayTypeError(f"types ({type(lhs)}, {type(rhs)}) not supported")
    with as_ours(call.name):
        return host(lhs, rhs)


def _number_power(base: float, exponent: float) -> Any:
    """Return a power of a number; none of integers that would fill the memory with digits."""
    digits = base.bit_length() * exponent if isinstance(base, int) else 0
    if isinstance(exponent, int) and builtins.abs(base) > 1 and digits > 2**16:
        raise OverflowError(f"a power with about {digits} binary digits")
    return base**exponent


def add(lhs: Any, rhs: Any) -> Any:
    """Return the sums, broadcast.

    >>> from afterglow import nd
    >>> print(nd.add(nd.array([1, 5]), 2).asnumpy())
    [3. 7.]
    """
    return _binary(_add, operator.add, lhs, rhs)


def subtract(lhs: Any, rhs: Any) -> Any:
    """Return the differences, broadcast.

    >>> from afterglow import nd
    >>> print(nd.subtract(nd.array([1, 5]), 2).asnumpy())
    [-1.  3.]
    """
    return _binary(_subtract, operator.sub, lhs, rhs)


def multiply(lhs: Any, rhs: Any) -> Any:
    """Return the products, broadcast.

    >>> from afterglow import nd
    >>> print(nd.multiply(nd.array([1, 5]), 2).asnumpy())
    [ 2. 10.]
    """
    return _binary(_multiply, operator.mul, lhs, rhs)


def divide(lhs: Any, rhs: Any) -> Any:
    """Return the quotients, broadcast; integers stay integers.

    >>> from afterglow import nd
    >>> print(nd.divide(nd.array([1, 5]), 2).asnumpy())
    [0.5 2.5]
    """
    return _binary(_divide, operator.truediv, lhs, rhs)


true_divide = divide


def modulo(lhs: Any, rhs: Any) -> Any:
    """Return the remainders with the sign of the divisor, broadcast.

    >>> from afterglow import nd
    >>> print(nd.modulo(nd.array([1, 5]), 2).asnumpy())
    [1. 1.]
    """
    return _binary(_modulo, operator.mod, lhs, rhs)


def power(base: Any, exp: Any) -> Any:
    """Return base to the power of exp, broadcast.

    >>> from afterglow import nd
    >>> print(nd.power(nd.array([1, 5]), 2).asnumpy())
    [ 1. 25.]
    """
    return _binary(_power, _number_power, base, exp)


def maximum(lhs: Any, rhs: Any) -> Any:
    """Return the greater of each pair, broadcast; nan wins.

    >>> from afterglow import nd
    >>> print(nd.maximum(nd.array([1, 5]), 2).asnumpy())
    [2. 5.]
    """
    return _binary(_maximum, builtins.max, lhs, rhs)


def minimum(lhs: Any, rhs: Any) -> Any:
    """Return the smaller of each pair, broadcast; nan wins.

    >>> from afterglow import nd
    >>> print(nd.minimum(nd.array([1, 5]), 2).asnumpy())
    [1. 2.]
    """
    return _binary(_minimum, builtins.min, lhs, rhs)


def equal(lhs: Any, rhs: Any) -> Any:
    """Return 1 where the operands are equal, else 0.

    >>> from afterglow import nd
    >>> print(nd.equal(nd.array([1, 5]), 2).asnumpy())
    [0. 0.]
    """
    return _binary(_equal, lambda x, y: 1 if x == y else 0, lhs, rhs)


def not_equal(lhs: Any, rhs: Any) -> Any:
    """Return 1 where the operands differ, else 0.

    >>> from afterglow import nd
    >>> print(nd.not_equal(nd.array([1, 5]), 2).asnumpy())
    [1. 1.]
    """
    return _binary(_not_equal, lambda x, y: 1 if x != y else 0, lhs, rhs)


def lesser(lhs: Any, rhs: Any) -> Any:
    """Return 1 where the left operand is smaller, else 0.

    >>> from afterglow import nd
    >>> print(nd.lesser(nd.array([1, 5]), 2).asnumpy())
    [1. 0.]
    """
    return _binary(_less, lambda x, y: 1 if x < y else 0, lhs, rhs)


def lesser_equal(lhs: Any, rhs: Any) -> Any:
    """Return 1 where the left operand is not greater, else 0.

    >>> from afterglow import nd
    >>> print(nd.lesser_equal(nd.array([1, 5]), 2).asnumpy())
    [1. 0.]
    """
    return _binary(_less_equal, lambda x, y: 1 if x <= y else 0, lhs, rhs)


def greater(lhs: Any, rhs: Any) -> Any:
    """Return 1 where the left operand is greater, else 0.

    >>> from afterglow import nd
    >>> print(nd.greater(nd.array([1, 5]), 2).asnumpy())
    [0. 1.]
    """
    return _binary(_greater, lambda x, y: 1 if x > y else 0, lhs, rhs)


def greater_equal(lhs: Any, rhs: Any) -> Any:
    """Return 1 where the left operand is not smaller, else 0.

    >>> from afterglow import nd
    >>> print(nd.greater_equal(nd.array([1, 5]), 2).asnumpy())
    [0. 1.]
    """
    return _binary(_greater_equal, lambda x, y: 1 if x >= y else 0, lhs, rhs)


def logical_and(lhs: Any, rhs: Any) -> Any:
    """Return 1 where both operands are not 0, else 0.

    >>> from afterglow import nd
    >>> print(nd.logical_and(nd.array([0, 2]), nd.array([3, 4])).asnumpy())
    [0. 1.]
    """
    return _binary(_logical_and, lambda x, y: 1 if x and y else 0, lhs, rhs)


def logical_or(lhs: Any, rhs: Any) -> Any:
    """Return 1 where one of the operands is not 0, else 0.

    >>> from afterglow import nd
    >>> print(nd.logical_or(nd.array([0, 2]), 0).asnumpy())
    [0. 1.]
    """
    return _binary(_logical_or, lambda x, y: 1 if x or y else 0, lhs, rhs)


def logical_xor(lhs: Any, rhs: Any) -> Any:
    """Return 1 where just one of the operands is not 0, else 0.

    >>> from afterglow import nd
    >>> print(nd.logical_xor(nd.array([0, 2]), 1).asnumpy())
    [1. 0.]
    """
    return _binary(_logical_xor, lambda x, y: 1 if bool(x) ^ bool(y) else 0, lhs, rhs)


# --- several arrays ---


def add_n(*args: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the sums of any number of arrays of one shape.

    >>> from afterglow import nd
    >>> print(nd.add_n(nd.array([1, 2]), nd.array([3, 4]), nd.array([5, 6])).asnumpy())
    [ 9. 12.]
    """
    if not args:
        raise ArrayValueError("[add_n] needs at least one array")
    for one in args:
        if need(one, "args").shape != args[0].shape:
            raise ArrayValueError(
                f"[add_n] the shapes {args[0].shape} and {one.shape} must be equal"
            )
    if len(args) == 1:
        return _unary(_copy, args[0], out)
    total = args[0]
    for one in args[1:-1]:
        total = _add(total, one)
    result: NDArray = _add(total, args[-1], out=out)
    return result


ElementWiseSum = add_n
