# SPDX-License-Identifier: Apache-2.0
"""``mx.sym.np``: the functions of ``mx.np`` for symbols."""

from __future__ import annotations

from functools import cache
from numbers import Number
from typing import Any

import numpy as onp

from .. import numpy as _arrays
from .._arrays.op_functions import signature_of, spelling_of
from .._package.namespace import mxnet_ops
from ..context import current_context
from ..error import (
    ArrayIndexError,
    ArrayNotImplementedError,
    ArrayTypeError,
    MissingNameError,
)
from ._ops import find
from .symbol import Symbol, create, function_of


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
        return _spelled("matmul")(self, other)

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
        if not all(isinstance(one, (int, onp.integer, slice)) for one in keys):
            raise ArrayIndexError(
                f"Only integer, slice, or tuple of these types are supported! Received {key=}"
            )
        # From -1 to the end: the last one.
        ranges = [
            one if isinstance(one, slice) else slice(int(one), int(one) + 1 or None) for one in keys
        ]
        sides = {"begin": "start", "end": "stop", "step": "step"}
        given = {name: tuple(getattr(one, of) for one in ranges) for name, of in sides.items()}
        part = create("_npi_slice", (self,), given, hint="slice")
        codes = [-2 if isinstance(one, slice) else -3 for one in keys]
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
        return _spelled("transpose")(self, order or None)

    def expand_dims(self, axis: int) -> Any:
        """Return the symbol with one more axis; arrays of np have no such method."""
        return _spelled("expand_dims")(self, axis)

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

#: Functions whose nodes say all parameters, also those that are not given.
_SPELLED_OUT = (
    "argmax argmin clip column_stack concatenate cumsum dstack expand_dims eye hstack matmul max "
    "mean min ones prod repeat squeeze stack std sum swapaxes tile transpose var vstack zeros"
)

#: What their nodes say besides.
_BESIDES = {name: {"keepdims": False} for name in ("argmax", "argmin")}


def _op(name: str) -> str:
    """Return the op of a function in files."""
    return f"_np_{name}" if f"_np_{name}" in mxnet_ops()[0] else f"_npi_{name}"


@cache
def _spelled(name: str, space: str = "") -> Any:
    """Return the function that takes what that of arrays takes, and writes all of it down."""
    arrays = getattr(getattr(_arrays, space) if space else _arrays, name)
    slots, signature = spelling_of(arrays).slots, signature_of(arrays)
    is_new = not any(slot.role.startswith("input") and slot.required for slot in slots)

    def function(*args: Any, **kwargs: Any) -> Any:
        op = _op(name)  # not before it is called: this reads a file
        others = {"name", "attr", *find(op).parameters} - {*signature.parameters}
        given = {**_BESIDES.get(name, {}), **{key: kwargs.pop(key) for key in others & {*kwargs}}}
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArrayTypeError(f"{name}(): {error}") from None
        bound.apply_defaults()
        symbols: list[Any] = []
        for slot in slots:
            value = bound.arguments[slot.name]
            if slot.role == "inputs":
                symbols = [*value]
            elif slot.role == "input" and slot.required:
                symbols.append(value)
            elif slot.role == "context":
                given["ctx"] = str(value or current_context())
            elif slot.role in ("input", "parameter") and slot.name != "order":
                given[slot.parameter or slot.name] = value
            elif slot.role == "option" and value is not slot.default:
                given[slot.name] = value
        if is_new:
            given["dtype"] = given["dtype"] or "float32"
        return create(op, symbols, given, kind=_Symbol if is_new else None, hint=name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = arrays.__doc__
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


@cache
def _of_two(name: str, op: str) -> Any:
    """Return the function of an operator between two symbols, or one and a number."""

    def function(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
        return _Symbol._operation(op, x1, x2)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = getattr(_arrays, name).__doc__
    return function


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


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Return a symbol with another one behind it along an axis, or all elements in a row."""
    return _spelled("concatenate")((arr, values), axis)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Return parts along an axis: that many equal ones, or cut at indices; one in a list."""
    sections = indices_or_sections if isinstance(indices_or_sections, int) else 0
    indices = () if sections else (0, *indices_or_sections)
    given = {"indices": indices, "axis": axis, "squeeze_axis": False, "sections": sections}
    parts = create("_npi_split", (ary,), given, hint="split")
    return parts if len(parts._outputs) > 1 else [parts]


def reshape(a: Any, newshape: Any, reverse: bool = False, order: str = "C") -> Any:
    """Return a symbol in another shape."""
    return create("_np_reshape", (a,), {"newshape": newshape, "order": order}, hint="reshape")


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
    given = {"axis": axis, "is_ascend": True, "dtype": "int64"}
    return create("_npi_argsort", (a,), given, hint="argsort")


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
    values = {**given, "dtype": dtype or "float32", "ctx": str(ctx or current_context())}
    return create(op, (), values, kind=_Symbol, hint=op.removeprefix("_npi_"))


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", ctx: Any = None) -> Any:
    """Return an array filled with a number."""
    return _created("_npi_full", {"shape": shape, "value": fill_value}, dtype, ctx)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, ctx: Any = None) -> Any:
    """Return numbers from ``start`` to ``stop``."""
    first, last = (0, start) if stop is None else (start, stop)
    return _created("_npi_arange", {"start": first, "stop": last, "step": step}, dtype, ctx)


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, ctx: Any = None
) -> Any:
    """Return equally distant numbers."""
    given = {"start": start, "stop": stop, "num": num, "endpoint": endpoint}
    return _created("_npi_linspace", given, dtype, ctx)


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, out: Any = None
) -> Any:
    """Return the mean over axes, of elements that count as much as their weights say.

    With ``returned`` there is a second output, the sums of the weights.
    """
    given = {"axis": axis, "returned": returned}
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

    inv, det, cholesky = (
        staticmethod(_spelled(name, "linalg")) for name in ("inv", "det", "cholesky")
    )


class random:  # noqa: N801
    """``mx.sym.np.random``."""

    uniform, normal = (staticmethod(_spelled(name, "random")) for name in ("uniform", "normal"))


def __getattr__(name: str) -> Any:
    """Return the function of an op."""
    if name.startswith("_"):  # what imports ask for
        raise MissingNameError(__name__, name)
    binary = _OPS.get(name, name)
    if find(f"_npi_{binary}_scalar").is_known:
        return _of_two(name, binary)
    own = getattr(getattr(_arrays, name, None), "__name__", name)  # amax is another name of max
    if own in _SPELLED_OUT.split():
        return _spelled(own)
    return function_of(_op(name), __name__, name, name)
