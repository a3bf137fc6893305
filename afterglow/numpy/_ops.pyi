# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N803
# Written by `python -m tests.stubs`.

from typing import Any

__all__ = [
    "abs",
    "absolute",
    "add",
    "all",
    "amax",
    "amin",
    "any",
    "arange",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "broadcast_to",
    "cbrt",
    "ceil",
    "clip",
    "column_stack",
    "concatenate",
    "copysign",
    "cos",
    "cosh",
    "cumsum",
    "deg2rad",
    "degrees",
    "diag",
    "diagflat",
    "diagonal",
    "divide",
    "dstack",
    "equal",
    "exp",
    "expand_dims",
    "expm1",
    "eye",
    "fabs",
    "fix",
    "flip",
    "fliplr",
    "flipud",
    "floor",
    "full_like",
    "greater",
    "greater_equal",
    "hstack",
    "hypot",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
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
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mod",
    "moveaxis",
    "multiply",
    "negative",
    "not_equal",
    "ones",
    "ones_like",
    "outer",
    "pad",
    "positive",
    "power",
    "prod",
    "rad2deg",
    "radians",
    "ravel",
    "reciprocal",
    "remainder",
    "repeat",
    "reshape",
    "resize",
    "rint",
    "roll",
    "rollaxis",
    "rot90",
    "row_stack",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "swapaxes",
    "tan",
    "tanh",
    "tile",
    "transpose",
    "tri",
    "tril",
    "triu",
    "true_divide",
    "trunc",
    "var",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
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
def all(
    a: Any,
    axis: Any = None,
    keepdims: Any = False,
    out: Any = None,
    where: Any = True,
) -> Any: ...
def any(
    a: Any,
    axis: Any = None,
    keepdims: Any = False,
    out: Any = None,
    where: Any = True,
) -> Any: ...
def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: Any = None,
    ctx: Any = None,
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
) -> Any: ...
def argmin(
    a: Any,
    axis: Any = None,
    out: Any = None,
) -> Any: ...
def atleast_1d(
    *arys: Any,
) -> Any: ...
def atleast_2d(
    *arys: Any,
) -> Any: ...
def atleast_3d(
    *arys: Any,
) -> Any: ...
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
def column_stack(
    tup: Any,
) -> Any: ...
def concatenate(
    seq: Any,
    axis: Any = 0,
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
def cumsum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
) -> Any: ...
def degrees(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def diagflat(
    array: Any,
    k: Any = 0,
) -> Any: ...
def diagonal(
    a: Any,
    offset: Any = 0,
    axis1: Any = 0,
    axis2: Any = 1,
) -> Any: ...
def divide(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def dstack(
    arrays: Any,
) -> Any: ...
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
def expand_dims(
    a: Any,
    axis: Any,
) -> Any: ...
def expm1(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def eye(
    N: Any,
    M: Any = None,
    k: Any = 0,
    dtype: Any = None,
    ctx: Any = None,
    order: Any = "C",
) -> Any: ...
def flip(
    m: Any,
    axis: Any = None,
    out: Any = None,
) -> Any: ...
def fliplr(
    m: Any,
) -> Any: ...
def flipud(
    m: Any,
) -> Any: ...
def floor(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "C",
    ctx: Any = None,
    out: Any = None,
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
def hstack(
    arrays: Any,
) -> Any: ...
def hypot(
    x1: Any,
    x2: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
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
def max(
    a: Any,
    axis: Any = None,
    keepdims: Any = False,
    out: Any = None,
    initial: Any = None,
    where: Any = True,
) -> Any: ...
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
) -> Any: ...
def min(
    a: Any,
    axis: Any = None,
    keepdims: Any = False,
    out: Any = None,
    initial: Any = None,
    where: Any = True,
) -> Any: ...
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
def moveaxis(
    a: Any,
    source: Any,
    destination: Any,
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
def broadcast_to(
    array: Any,
    shape: Any,
) -> Any: ...
def diag(
    array: Any,
    k: Any = 0,
) -> Any: ...
def repeat(
    a: Any,
    repeats: Any,
    axis: Any = None,
) -> Any: ...
def ones(
    shape: Any,
    dtype: Any = None,
    order: Any = "C",
    ctx: Any = None,
) -> Any: ...
def ones_like(
    a: Any,
    dtype: Any = None,
    order: Any = "C",
    ctx: Any = None,
    out: Any = None,
) -> Any: ...
def outer(
    a: Any,
    b: Any,
) -> Any: ...
def pad(
    x: Any,
    pad_width: Any = None,
    mode: Any = "constant",
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
) -> Any: ...
def radians(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def ravel(
    x: Any,
    order: Any = "C",
) -> Any: ...
def reciprocal(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def reshape(
    a: Any,
    newshape: Any,
    order: Any = "C",
    out: Any = None,
) -> Any: ...
def resize(
    a: Any,
    new_shape: Any,
) -> Any: ...
def rint(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def roll(
    a: Any,
    shift: Any,
    axis: Any = None,
) -> Any: ...
def rollaxis(
    a: Any,
    axis: Any,
    start: Any = 0,
) -> Any: ...
def rot90(
    m: Any,
    k: Any = 1,
    axes: Any = (0, 1),
) -> Any: ...
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
def squeeze(
    a: Any,
    axis: Any = None,
    out: Any = None,
) -> Any: ...
def stack(
    arrays: Any,
    axis: Any = 0,
    out: Any = None,
) -> Any: ...
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
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
) -> Any: ...
def swapaxes(
    a: Any,
    axis1: Any,
    axis2: Any,
) -> Any: ...
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
def tile(
    A: Any,
    reps: Any,
) -> Any: ...
def transpose(
    a: Any,
    axes: Any = None,
) -> Any: ...
def tri(
    N: Any,
    M: Any = None,
    k: Any = 0,
    dtype: Any = None,
    ctx: Any = None,
) -> Any: ...
def tril(
    m: Any,
    k: Any = 0,
) -> Any: ...
def triu(
    m: Any,
    k: Any = 0,
) -> Any: ...
def trunc(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
) -> Any: ...
def vstack(
    arrays: Any,
    out: Any = None,
) -> Any: ...
def where(
    condition: Any,
    x: Any = None,
    y: Any = None,
) -> Any: ...
def zeros(
    shape: Any,
    dtype: Any = None,
    order: Any = "C",
    ctx: Any = None,
) -> Any: ...
def zeros_like(
    a: Any,
    dtype: Any = None,
    order: Any = "C",
    ctx: Any = None,
    out: Any = None,
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
row_stack = vstack
