# SPDX-License-Identifier: Apache-2.0
"""``mx.sym``: graphs of ops, written down before there are arrays.

Every op of ``mx.nd`` has a function here that takes symbols instead; they are made from the table
of ops when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from types import ModuleType
from typing import Any

from ..error import ArrayValueError
from . import contrib, image, linalg, numpy, numpy_extension, random, symbol
from . import numpy as np
from . import numpy_extension as npx
from .symbol import Group, Symbol, Variable, create, function_of, load, load_json, var

__all__ = [
    "Group",
    "Symbol",
    "Variable",
    "arange",
    "contrib",
    "eye",
    "full",
    "hypot",
    "image",
    "linalg",
    "linspace",
    "load",
    "load_json",
    "maximum",
    "minimum",
    "np",
    "npx",
    "numpy",
    "numpy_extension",
    "ones",
    "pow",
    "power",
    "random",
    "split_v2",
    "symbol",
    "var",
    "zeros",
]


class _Internal(ModuleType):
    """``mx.sym._internal``: ops by the names that operators know them by."""

    def __getattr__(self, name: str) -> Any:
        return function_of(name, self.__name__, name)


_internal = _Internal(f"{__name__}._internal")
op = _Internal(f"{__name__}.op")


class _Sparse(ModuleType):
    """``mx.sym.sparse``: ops that know sparse arrays, which are those of ``mx.sym``."""

    def __getattr__(self, name: str) -> Any:
        return function_of("_sparse_retain" if name == "retain" else name, self.__name__, name)


sparse = _Sparse(f"{__name__}.sparse")


# --- new arrays ---


def zeros(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return zeros.

    >>> from afterglow import sym
    >>> sym.zeros((2,)).eval()[0].asnumpy()
    array([0., 0.], dtype=float32)
    """
    return create("_zeros", (), {"shape": shape, "dtype": dtype or "float32", **kwargs})


def ones(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return ones."""
    return create("_ones", (), {"shape": shape, "dtype": dtype or "float32", **kwargs})


def full(shape: Any, val: float, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return an array filled with a number."""
    given = {"shape": shape, "value": float(val), "dtype": dtype or "float32"}
    return create("_full", (), {**given, **kwargs})


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool = False,
    name: str | None = None,
    dtype: Any = None,
) -> Symbol:
    """Return numbers from ``start`` to ``stop``."""
    given: dict[str, Any] = {"start": start, "step": step, "repeat": repeat}
    given |= {"infer_range": infer_range, "name": name, "dtype": dtype or "float32"}
    return create("_arange", (), {**given, "stop": "None" if stop is None else stop})


def linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    name: str | None = None,
    dtype: Any = None,
) -> Symbol:
    """Return equally distant numbers."""
    given = {"start": start, "stop": stop, "num": num, "endpoint": endpoint}
    return create("_linspace", (), {**given, "name": name, "dtype": dtype or "float32"})


def eye(N: int, M: int = 0, k: int = 0, dtype: Any = None, **kwargs: Any) -> Symbol:  # noqa: N803
    """Return a matrix with ones on a diagonal."""
    return create("_eye", (), {"N": N, "M": M, "k": k, "dtype": dtype or "float32", **kwargs})


# --- functions of symbols and numbers ---


def _mixed(name: str, left: Any, right: Any, numbers: Callable[..., Any]) -> Any:
    """Call the op for two symbols, for one and a number, or the function for two numbers."""
    if not (isinstance(left, (Symbol, Number)) and isinstance(right, (Symbol, Number))):
        raise TypeError(f"types ({type(left)}, {type(right)}) not supported")
    if isinstance(left, Number) and isinstance(right, Number):
        return numbers(left, right)
    return Symbol._operation(name, left, right)


def pow(base: Any, exp: Any) -> Any:
    """Return ``base`` to the power of ``exp``; one of them may be a number."""
    return _mixed("power", base, exp, lambda x, y: x**y)


power = pow


def maximum(left: Any, right: Any) -> Any:
    """Return the larger elements; one of both may be a number."""
    return _mixed("maximum", left, right, max)


def minimum(left: Any, right: Any) -> Any:
    """Return the smaller elements; one of both may be a number."""
    return _mixed("minimum", left, right, min)


def hypot(left: Any, right: Any) -> Any:
    """Return the long sides of right triangles; one of both may be a number."""
    return _mixed("hypot", left, right, lambda x, y: (x * x + y * y) ** 0.5)


def histogram(a: Symbol, bins: Any = 10, range: Any = None, name: str | None = None) -> Symbol:
    """Return counts of elements in bins, and their edges; ``bins`` is their number, or the edges.

    A number of bins needs the range that they cover.
    """
    if isinstance(bins, Symbol):
        return create("_histogram", (a, bins), {"name": name})
    if not isinstance(bins, int):
        raise ArrayValueError("[histogram] bins must be an integer or a symbol")
    if range is None:
        raise ArrayValueError("[histogram] a number of bins needs a range")
    return create("_histogram", (a,), {"bin_cnt": bins, "range": range, "name": name})


def split_v2(
    ary: Symbol, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False
) -> Symbol:
    """Return parts along an axis: that many equal ones, or cut at indices."""
    given: dict[str, Any] = {"axis": axis, "squeeze_axis": squeeze_axis}
    if isinstance(indices_or_sections, int):
        given |= {"indices": (), "sections": indices_or_sections}
    else:
        given |= {"indices": (0, *indices_or_sections), "sections": 0}
    return create("_split_v2", (ary,), given)


def __getattr__(name: str) -> Any:
    """Return the function of an op, by the name that nd or MXNet gives it."""
    return function_of(name, __name__, name)
