# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N802, N803, RUF022, RUF100
# Written by `python -m tests.stubs`.

from typing import Any

from .multiarray import ndarray

__all__ = [
    "abs",
    "absolute",
    "add",
    "amax",
    "amin",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argsort",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "clip",
    "copysign",
    "cos",
    "cosh",
    "cross",
    "cumsum",
    "deg2rad",
    "degrees",
    "diff",
    "divide",
    "dot",
    "equal",
    "exp",
    "expm1",
    "fabs",
    "fix",
    "floor",
    "greater",
    "greater_equal",
    "hypot",
    "inner",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "kron",
    "ldexp",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mod",
    "multiply",
    "negative",
    "not_equal",
    "positive",
    "power",
    "prod",
    "rad2deg",
    "radians",
    "reciprocal",
    "remainder",
    "rint",
    "searchsorted",
    "sign",
    "sin",
    "sinh",
    "sort",
    "sqrt",
    "square",
    "subtract",
    "sum",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "trace",
    "true_divide",
    "trunc",
    "vdot",
    "where",
]

def abs(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def add(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def arccos(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def arccosh(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def arcsin(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def arcsinh(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def arctan(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def arctan2(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def arctanh(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def argmax(
    a: Any,
    axis: Any = None,
    out: Any = None,
) -> ndarray: ...
def argmin(
    a: Any,
    axis: Any = None,
    out: Any = None,
) -> ndarray: ...
def argsort(
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
) -> ndarray: ...
def bitwise_and(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def bitwise_or(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def bitwise_xor(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def cbrt(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def ceil(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def clip(
    a: Any,
    a_min: Any,
    a_max: Any,
    out: Any = None,
) -> Any: ...
def copysign(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def cos(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def cosh(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def cross(
    a: Any,
    b: Any,
    axisa: Any = -1,
    axisb: Any = -1,
    axisc: Any = -1,
    axis: Any = None,
) -> ndarray: ...
def cumsum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
) -> ndarray: ...
def degrees(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def diff(
    a: Any,
    n: Any = 1,
    axis: Any = -1,
    prepend: Any = None,
    append: Any = None,
) -> ndarray: ...
def divide(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def dot(
    a: Any,
    b: Any,
    out: Any = None,
) -> ndarray: ...
def equal(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def exp(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def expm1(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def floor(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def greater(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def greater_equal(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def hypot(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def inner(
    a: Any,
    b: Any,
) -> ndarray: ...
def invert(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def isfinite(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def isinf(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def isnan(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def isneginf(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def isposinf(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def kron(
    a: Any,
    b: Any,
) -> ndarray: ...
def ldexp(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def less(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def less_equal(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def log(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def log10(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def log1p(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def log2(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def logical_and(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def logical_not(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def logical_or(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def logical_xor(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def matmul(
    a: Any,
    b: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def max(
    a: Any,
    axis: Any = None,
    keepdims: Any = False,
    out: Any = None,
    initial: Any = None,
    where: Any = True,
) -> ndarray: ...
def maximum(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    where: Any = True,
) -> ndarray: ...
def min(
    a: Any,
    axis: Any = None,
    keepdims: Any = False,
    out: Any = None,
    initial: Any = None,
    where: Any = True,
) -> ndarray: ...
def minimum(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def mod(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def multiply(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def negative(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def not_equal(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def positive(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def power(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> ndarray: ...
def radians(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def reciprocal(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def rint(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def searchsorted(
    a: Any,
    v: Any,
    side: Any = "left",
    sorter: Any = None,
) -> ndarray: ...
def sign(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def sin(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def sinh(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def sort(
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
) -> ndarray: ...
def sqrt(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def square(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def subtract(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    out: Any = None,
    where: Any = True,
) -> ndarray: ...
def take(
    a: Any,
    indices: Any,
    axis: Any = None,
    mode: Any = "raise",
    out: Any = None,
) -> ndarray: ...
def take_along_axis(
    arr: Any,
    indices: Any,
    axis: Any,
) -> ndarray: ...
def tan(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def tanh(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def trace(
    a: Any,
    offset: Any = 0,
    axis1: Any = 0,
    axis2: Any = 1,
    out: Any = None,
) -> ndarray: ...
def trunc(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def vdot(
    a: Any,
    b: Any,
) -> ndarray: ...
def where(
    condition: Any,
    x: Any = None,
    y: Any = None,
) -> Any: ...

absolute = abs
fabs = abs
rad2deg = degrees
true_divide = divide
bitwise_not = invert
amax = max
amin = min
remainder = mod
deg2rad = radians
fix = trunc
