# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N802, N803, RUF022, RUF100
# Written by `python -m tests.stubs`.

from typing import Any

from .multiarray import ndarray

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
    "argsort",
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
    "cross",
    "cumsum",
    "deg2rad",
    "degrees",
    "diag",
    "diagflat",
    "diagonal",
    "diff",
    "divide",
    "dot",
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
    "full",
    "full_like",
    "greater",
    "greater_equal",
    "hstack",
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
    "searchsorted",
    "sign",
    "sin",
    "sinh",
    "sort",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tile",
    "trace",
    "transpose",
    "tri",
    "tril",
    "triu",
    "true_divide",
    "trunc",
    "var",
    "vdot",
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
) -> ndarray: ...
def any(
    a: Any,
    axis: Any = None,
    keepdims: Any = False,
    out: Any = None,
    where: Any = True,
) -> ndarray: ...
def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: Any = None,
    ctx: Any = None,
) -> ndarray: ...
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
def atleast_1d(
    *arys: Any,
) -> ndarray: ...
def atleast_2d(
    *arys: Any,
) -> ndarray: ...
def atleast_3d(
    *arys: Any,
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
def column_stack(
    tup: Any,
) -> ndarray: ...
def concatenate(
    seq: Any,
    axis: Any = 0,
    out: Any = None,
) -> ndarray: ...
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
def diagflat(
    array: Any,
    k: Any = 0,
) -> ndarray: ...
def diagonal(
    a: Any,
    offset: Any = 0,
    axis1: Any = 0,
    axis2: Any = 1,
) -> ndarray: ...
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
def dstack(
    arrays: Any,
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
def expand_dims(
    a: Any,
    axis: Any,
) -> ndarray: ...
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
) -> ndarray: ...
def flip(
    m: Any,
    axis: Any = None,
    out: Any = None,
) -> ndarray: ...
def fliplr(
    m: Any,
) -> ndarray: ...
def flipud(
    m: Any,
) -> ndarray: ...
def floor(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "C",
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "C",
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
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
) -> ndarray: ...
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
def moveaxis(
    a: Any,
    source: Any,
    destination: Any,
) -> ndarray: ...
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
) -> ndarray: ...
def diag(
    array: Any,
    k: Any = 0,
) -> ndarray: ...
def repeat(
    a: Any,
    repeats: Any,
    axis: Any = None,
) -> ndarray: ...
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
) -> ndarray: ...
def outer(
    a: Any,
    b: Any,
) -> ndarray: ...
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
) -> ndarray: ...
def radians(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def ravel(
    x: Any,
    order: Any = "C",
) -> ndarray: ...
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
) -> ndarray: ...
def resize(
    a: Any,
    new_shape: Any,
) -> ndarray: ...
def rint(
    x: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any: ...
def roll(
    a: Any,
    shift: Any,
    axis: Any = None,
) -> ndarray: ...
def rollaxis(
    a: Any,
    axis: Any,
    start: Any = 0,
) -> ndarray: ...
def rot90(
    m: Any,
    k: Any = 1,
    axes: Any = (0, 1),
) -> ndarray: ...
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
def squeeze(
    a: Any,
    axis: Any = None,
    out: Any = None,
) -> ndarray: ...
def stack(
    arrays: Any,
    axis: Any = 0,
    out: Any = None,
) -> ndarray: ...
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
) -> ndarray: ...
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
def swapaxes(
    a: Any,
    axis1: Any,
    axis2: Any,
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
def tile(
    A: Any,
    reps: Any,
) -> ndarray: ...
def trace(
    a: Any,
    offset: Any = 0,
    axis1: Any = 0,
    axis2: Any = 1,
    out: Any = None,
) -> ndarray: ...
def transpose(
    a: Any,
    axes: Any = None,
) -> ndarray: ...
def tri(
    N: Any,
    M: Any = None,
    k: Any = 0,
    dtype: Any = None,
    ctx: Any = None,
) -> ndarray: ...
def tril(
    m: Any,
    k: Any = 0,
) -> ndarray: ...
def triu(
    m: Any,
    k: Any = 0,
) -> ndarray: ...
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
) -> ndarray: ...
def vdot(
    a: Any,
    b: Any,
) -> ndarray: ...
def vstack(
    arrays: Any,
    out: Any = None,
) -> ndarray: ...
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
) -> ndarray: ...

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
