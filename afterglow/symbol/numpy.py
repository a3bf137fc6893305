# SPDX-License-Identifier: Apache-2.0
"""``mx.sym.np``: the functions of ``mx.np`` for symbols."""

from __future__ import annotations

from functools import cache
from numbers import Number
from typing import Any

import numpy as onp

from .. import numpy as _arrays
from ..context import current_context
from ..error import (
    ArrayIndexError,
    ArrayNotImplementedError,
    ArrayTypeError,
    MissingNameError,
)
from . import _np_ops
from ._functions import function_of
from ._ops import find
from .symbol import Symbol, create


class _Symbol(Symbol):
    """A symbol of ``np``: operators and methods follow NumPy."""

    __slots__ = ()

    @staticmethod
    def _operation(name: str, left: Any, right: Any) -> Symbol:
        """Return the symbol of an operator between two symbols, or one and a number."""
        if isinstance(left, Symbol) and isinstance(right, Symbol):
            return create(f"_npi_{name}", (left, right), {}, hint=name)
        if isinstance(left, Symbol) and isinstance(right, (Number, onp.generic)):
            given = {"scalar": float(right), "is_int": isinstance(right, int)}  # type: ignore[arg-type]
            return create(f"_npi_{name}_scalar", (left,), given, hint=f"{name}_scalar")
        if isinstance(right, Symbol) and isinstance(left, (Number, onp.generic)):
            given = {"scalar": float(left), "is_int": False}  # type: ignore[arg-type]
            ordered = find(f"_npi_r{name}_scalar").is_known  # operands that cannot change places
            op = f"{_SWAPPED.get(name, f'r{name}' if ordered else name)}_scalar"
            return create(f"_npi_{op}", (right,), given, hint=op)
        raise ArrayTypeError(f"types ({type(left)}, {type(right)}) not supported")

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other)

    def __abs__(self) -> Any:
        return create("_npi_abs", (self,), {}, hint="abs")

    def __getattr__(self, name: str) -> Any:
        function = _method(name)
        if function is None:
            raise AttributeError(f"{type(self).__name__} object has no attribute {name}")
        return lambda *args, **kwargs: function(self, *args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        """Return a part along axes, or, of several outputs, some of them."""
        if len(self._outputs) > 1 or isinstance(key, str):
            return super().__getitem__(key)
        keys = key if isinstance(key, tuple) else (key,)
        begin: list[Any] = []
        end: list[Any] = []
        step: list[Any] = []
        codes: list[int] = []
        for one in keys:
            if isinstance(one, (int, onp.integer)):
                # From -1 to the end: the last one.
                begin.append(int(one))
                end.append(None if one == -1 else int(one) + 1)
                step.append(None)
                codes.append(-3)
            elif isinstance(one, slice):
                begin.append(one.start)
                end.append(one.stop)
                step.append(one.step)
                codes.append(-2)
            else:
                raise ArrayIndexError(
                    f"Only integer, slice, or tuple of these types are supported! Received {key=}"
                )
        given = {"begin": tuple(begin), "end": tuple(end), "step": tuple(step)}
        part = create("_npi_slice", (self,), given, hint="slice")
        if -3 not in codes:
            return part
        return create("_npx_reshape", (part,), {"newshape": (*codes, -4)}, hint="reshape")

    @property
    def T(self) -> Any:  # noqa: N802
        """The symbol with its axes reversed."""
        return self.transpose()

    def reshape(self, *shape: Any, order: str = "C", **kwargs: Any) -> Any:
        """Return the symbol in another shape."""
        wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return create("_np_reshape", (self,), {"newshape": wanted, "order": order}, hint="reshape")

    def flatten(self, order: str = "C") -> Any:
        """Return the symbol with one axis."""
        return self.reshape((-1,), order=order)

    def transpose(self, *axes: Any) -> Any:
        """Return the symbol with its axes in another order."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return transpose(self, order or None)

    def expand_dims(self, axis: int) -> Any:
        """Return the symbol with one more axis; arrays of np have no such method."""
        return create("_npi_expand_dims", (self,), {"axis": axis}, hint="expand_dims")

    def astype(self, dtype: Any, **kwargs: Any) -> Any:
        """Return the symbol in another type."""
        return create("_npi_cast", (self,), {"dtype": dtype}, hint="cast")

    def as_np_ndarray(self) -> Any:
        """Return the symbol itself."""
        return self


@cache
def _method(name: str) -> Any:
    """Return the function that a method of arrays is here; None if there is none."""
    if name.startswith("_") or not callable(vars(_arrays.ndarray).get(name)):
        return None
    try:
        return globals().get(name) or __getattr__(name)
    except MissingNameError:
        return None


_SWAPPED = {
    "greater": "less",
    "greater_equal": "less_equal",
    "less": "greater",
    "less_equal": "greater_equal",
}

#: Functions whose ops have other names.
_OPS = {"divide": "true_divide", "remainder": "mod"}


def matmul(a: Any, b: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the product of matrices."""
    return create("_npi_matmul", (a, b), {}, hint="matmul")


def einsum(subscripts: str, *operands: Any, out: Any = None, optimize: bool = False) -> Any:
    """Return sums of products, as Einstein wrote them."""
    given = {"subscripts": subscripts, "optimize": int(optimize)}
    return create("_npi_einsum", operands, given, hint="einsum")


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Return sums of products over axes."""
    if isinstance(axes, int):
        return create("_npi_tensordot_int_axes", (a, b), {"axes": axes}, hint="tensordot_int_axes")
    first, second = (one if isinstance(one, (list, tuple)) else (one,) for one in axes)
    given = {"a_axes_summed": tuple(first), "b_axes_summed": tuple(second)}
    return create("_npi_tensordot", (a, b), given, hint="tensordot")


def outer(a: Any, b: Any) -> Any:
    """Return all products of two elements."""
    return tensordot(ravel(a), ravel(b), 0)


def inner(a: Any, b: Any) -> Any:
    """Return sums of products over the last axes."""
    return tensordot(a, b, ((-1,), (-1,)))


def ravel(x: Any, order: str = "C") -> Any:
    """Return the elements with one axis."""
    return create("_npx_reshape", (x,), {"newshape": -1}, hint="reshape")


def concatenate(seq: Any, axis: int | None = 0, out: Any = None) -> Any:
    """Return symbols joined along an axis."""
    return create("_npi_concatenate", tuple(seq), {"axis": axis}, hint="concatenate")


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Return a symbol with another one behind it along an axis, or all elements in a row."""
    return concatenate((arr, values), axis)


def stack(arrays: Any, axis: int = 0, out: Any = None) -> Any:
    """Return symbols joined along a new axis."""
    return create("_npi_stack", tuple(arrays), {"axis": axis}, hint="stack")


def _stacked(name: str) -> Any:
    def function(arrays: Any) -> Any:
        return create(f"_npi_{name}", tuple(arrays), {}, hint=name)

    function.__name__ = name
    return function


vstack, hstack, dstack, column_stack = map(_stacked, ("vstack", "hstack", "dstack", "column_stack"))
row_stack = vstack


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Return parts along an axis: that many equal ones, or cut at indices."""
    sections = indices_or_sections if isinstance(indices_or_sections, int) else 0
    indices = () if sections else (0, *indices_or_sections)
    given = {"indices": indices, "axis": axis, "squeeze_axis": False, "sections": sections}
    return create("_npi_split", (ary,), given, hint="split")


def reshape(a: Any, newshape: Any, reverse: bool = False, order: str = "C") -> Any:
    """Return a symbol in another shape."""
    return create("_np_reshape", (a,), {"newshape": newshape, "order": order}, hint="reshape")


def transpose(a: Any, axes: Any = None) -> Any:
    """Return a symbol with its axes in another order."""
    text = "None" if axes is None else tuple(axes)
    return create("_np_transpose", (a,), {"axes": text}, hint="transpose")


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Return a symbol with two axes exchanged."""
    return create("_npi_swapaxes", (a,), {"dim1": axis1, "dim2": axis2}, hint="swapaxes")


def expand_dims(a: Any, axis: int) -> Any:
    """Return a symbol with one more axis."""
    return create("_npi_expand_dims", (a,), {"axis": axis}, hint="expand_dims")


def clip(a: Any, a_min: Any, a_max: Any, out: Any = None) -> Any:
    """Return elements kept between two bounds."""
    return create("_npi_clip", (a,), {"a_min": a_min, "a_max": a_max}, hint="clip")


def take(
    a: Any, indices: Any, axis: int | None = None, mode: str = "raise", out: Any = None
) -> Any:
    """Return elements along an axis, named by indices."""
    if axis is None:
        a, axis = reshape(a, -1), 0
    return create("_npi_take", (a, indices), {"axis": axis, "mode": mode}, hint="take")


def argsort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> Any:
    """Return the indices that put the elements along an axis in order."""
    if order is not None:
        raise ArrayNotImplementedError("[argsort] order names fields, which arrays do not have")
    text = "None" if axis is None else axis
    given = {"axis": text, "is_ascend": True, "dtype": "int64"}
    return create("_npi_argsort", (a,), given, hint="argsort")


def tile(A: Any, reps: Any) -> Any:  # noqa: N803
    """Return a symbol repeated as a whole."""
    return create("_npi_tile", (A,), {"reps": reps}, hint="tile")


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Return a symbol with every element repeated."""
    given = {"repeats": repeats, "axis": "None" if axis is None else axis}
    return create("_np_repeat", (a,), given, hint="repeat")


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Return elements of one or of the other."""
    if isinstance(x, Symbol) and isinstance(y, Symbol):
        return create("_npi_where", (condition, x, y), {}, hint="where")
    if isinstance(y, Symbol):
        return create(
            "_npi_where_lscalar", (condition, y), {"scalar": float(x)}, hint="where_lscalar"
        )
    return create("_npi_where_rscalar", (condition, x), {"scalar": float(y)}, hint="where_rscalar")


def full_like(a: Any, fill_value: Any, dtype: Any = None, ctx: Any = None, **kwargs: Any) -> Any:
    """Return a number in the shape of a symbol."""
    given = {"fill_value": fill_value, "dtype": dtype, "ctx": str(ctx or current_context())}
    return create("_npi_full_like", (a,), given, hint="full_like")


def zeros_like(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Return zeros in the shape of a symbol."""
    return full_like(a, 0, dtype)


def ones_like(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Return ones in the shape of a symbol."""
    return full_like(a, 1, dtype)


def _created(op: str, given: dict[str, Any], dtype: Any, ctx: Any) -> Any:
    context = str(ctx or current_context())
    values = {**given, "dtype": dtype or "float32", "ctx": context}
    hint = op.removeprefix("_npi_").removeprefix("_")
    return create(op, (), values, kind=_Symbol, hint=hint)


def zeros(shape: Any, dtype: Any = None, order: str = "C", ctx: Any = None) -> Any:
    """Return zeros."""
    return _created("_npi_zeros", {"shape": shape}, dtype, ctx)


def ones(shape: Any, dtype: Any = None, order: str = "C", ctx: Any = None) -> Any:
    """Return ones."""
    return _created("_npi_ones", {"shape": shape}, dtype, ctx)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", ctx: Any = None) -> Any:
    """Return an array filled with a number."""
    return _created("_npi_full", {"shape": shape, "value": fill_value}, dtype, ctx)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, ctx: Any = None) -> Any:
    """Return numbers from ``start`` to ``stop``."""
    first, last = (0, start) if stop is None else (start, stop)
    return _created("_npi_arange", {"start": first, "stop": last, "step": step}, dtype, ctx)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None, **kwargs: Any) -> Any:  # noqa: N803
    """Return a matrix with ones on a diagonal."""
    return _created("_npi_eye", {"N": N, "M": "None" if M is None else M, "k": k}, dtype, None)


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, ctx: Any = None
) -> Any:
    """Return equally distant numbers."""
    given = {"start": start, "stop": stop, "num": num, "endpoint": endpoint}
    return _created("_npi_linspace", given, dtype, ctx)


def _reduction(op: str, name: str, extra: dict[str, Any]) -> Any:
    """Return the function of a reduction, whose nodes spell out what is not given."""

    def function(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, **kwargs: Any
    ) -> Any:
        given: dict[str, Any] = {"axis": "None" if axis is None else axis, **extra, **kwargs}
        if dtype is not None:
            given["dtype"] = dtype
        return create(op, (a,), given, hint=name)

    function.__name__ = name
    function.__doc__ = f"Return {name} over axes of a symbol."
    return function


_KEPT = {"keepdims": False}
sum = _reduction("_np_sum", "sum", _KEPT)
prod = _reduction("_np_prod", "prod", _KEPT)
mean = _reduction("_npi_mean", "mean", _KEPT)
max = amax = _reduction("_np_max", "max", _KEPT)
min = amin = _reduction("_np_min", "min", _KEPT)
std = _reduction("_npi_std", "std", {"ddof": 0, **_KEPT})
var = _reduction("_npi_var", "var", {"ddof": 0, **_KEPT})
argmax = _reduction("_npi_argmax", "argmax", _KEPT)
argmin = _reduction("_npi_argmin", "argmin", _KEPT)
squeeze = _reduction("_np_squeeze", "squeeze", {})
cumsum = _reduction("_np_cumsum", "cumsum", {})


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, out: Any = None
) -> Any:
    """Return the mean over axes, of elements that count as much as their weights say.

    With ``returned`` there is a second output, the sums of the weights.
    """
    given = {"axis": "None" if axis is None else axis, "returned": returned}
    if weights is None:
        return create("_npi_average", (a,), {**given, "weighted": False}, hint="average")
    return create("_npi_average", (a, weights), given, hint="average")


def round(x: Any, decimals: int = 0, out: Any = None) -> Any:
    """Return the elements with that many decimals."""
    return create("_npi_around", (x,), {"decimals": decimals}, hint="around")


around = round_ = round


class linalg:  # noqa: N801
    """``mx.sym.np.linalg``."""

    @staticmethod
    def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
        """Return the norms of vectors or matrices."""
        axes = "None" if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        flag = -2 if axis is None and ord is None else 1 if len(axes) == 1 else 2
        given = {"ord": 2 if ord is None else ord, "axis": axes, "keepdims": keepdims}
        return create("_npi_norm", (x,), {**given, "flag": flag}, hint="norm")

    @staticmethod
    def inv(a: Any) -> Any:
        """Return the inverse of matrices."""
        return create("_npi_inv", (a,), {}, hint="inv")

    @staticmethod
    def det(a: Any) -> Any:
        """Return the determinants of matrices."""
        return create("_npi_det", (a,), {}, hint="det")

    @staticmethod
    def cholesky(a: Any) -> Any:
        """Return the triangular factors of matrices."""
        return create("_npi_cholesky", (a,), {}, hint="cholesky")


class random:  # noqa: N801
    """``mx.sym.np.random``."""

    @staticmethod
    def uniform(
        low: Any = 0.0, high: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None
    ) -> Any:
        """Return numbers that are equally likely between two bounds."""
        return _created("_npi_uniform", {"low": low, "high": high, "size": size}, dtype, ctx)

    @staticmethod
    def normal(
        loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None
    ) -> Any:
        """Return normally distributed numbers."""
        return _created("_npi_normal", {"loc": loc, "scale": scale, "size": size}, dtype, ctx)


def __getattr__(name: str) -> Any:
    """Return the function of an op."""
    binary = _OPS.get(name, name)
    if find(f"_npi_{binary}_scalar").is_known:
        return lambda x1, x2, out=None, **kwargs: _Symbol._operation(binary, x1, x2)
    for prefix in ("_npi_", "_np_"):
        op = f"{prefix}{name}"
        if (op in _np_ops.FUNCTIONS or name not in _NP_PREFIX) == (prefix == "_npi_"):
            return function_of(op, __name__, name, name)
    raise MissingNameError(__name__, name)


#: Functions whose ops begin with _np_ in files; those of all others begin with _npi_.
_NP_PREFIX = frozenset(
    [
        "all",
        "any",
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "copy",
        "cumsum",
        "diag",
        "diagflat",
        "diagonal",
        "dot",
        "max",
        "min",
        "moveaxis",
        "prod",
        "reshape",
        "roll",
        "squeeze",
        "sum",
        "trace",
        "transpose",
    ]
)
