# SPDX-License-Identifier: Apache-2.0
"""How the ops of ``np`` run whose arguments in files differ from those of the functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

from .. import numpy as np
from .. import numpy_extension as npx
from ..context import cpu

Function = Callable[..., Any]


def with_number(function: Function, legacy: bool, swapped: bool) -> Function:
    """Return the function of an op of two arrays as one of an array and a number."""

    def call(data: Any, scalar: Any = 1, is_int: Any = True) -> Any:
        # A truth value rather than a whole number is what MXNet writes for swapped operands.
        number = scalar if legacy else float(scalar) if swapped else _number(scalar, is_int)
        return function(number, data) if swapped else function(data, number)

    return call


def _number(scalar: Any, is_int: Any) -> Any:
    """Return the number of a scalar op: files write whole numbers as 2.0 beside ``is_int``."""
    return int(scalar) if is_int and float(scalar).is_integer() else float(scalar)


def _two(function: Function) -> Function:
    def call(lhs: Any, rhs: Any) -> Any:
        return function(lhs, rhs)

    return call


def _joined(function: Function) -> Function:
    def call(*data: Any, axis: Any = 0) -> Any:
        return function(data, axis=axis)

    return call


def _stacked(function: Function) -> Function:
    def call(*data: Any) -> Any:
        return function(data)

    return call


def _einsum(*data: Any, subscripts: str = "", optimize: Any = 0) -> Any:
    return np.einsum(subscripts, *data)


def _tensordot_int_axes(a: Any, b: Any, axes: int = 2) -> Any:
    return np.tensordot(a, b, axes)


def _tensordot(a: Any, b: Any, a_axes_summed: Any = (), b_axes_summed: Any = ()) -> Any:
    return np.tensordot(a, b, (a_axes_summed, b_axes_summed))


def _full_like(a: Any, fill_value: Any = 0, dtype: Any = None, ctx: Any = None) -> Any:
    return np.full_like(a, fill_value, dtype=dtype)


def _zeros(shape: Any = (), dtype: Any = None, ctx: Any = None) -> Any:
    return np.zeros(shape, dtype=dtype)


def _ones(shape: Any = (), dtype: Any = None, ctx: Any = None) -> Any:
    return np.ones(shape, dtype=dtype)


def _arange(
    start: Any = 0, stop: Any = None, step: Any = 1, dtype: Any = None, ctx: Any = None
) -> Any:
    return np.arange(start, stop, step, dtype=dtype)


def _eye(N: int = 0, M: Any = None, k: int = 0, dtype: Any = None, ctx: Any = None) -> Any:  # noqa: N803
    return np.eye(N, M, k, dtype=dtype)


def _pad(
    x: Any,
    pad_width: Any = (),
    mode: str = "constant",
    constant_values: Any = 0,
    constant_value: Any = 0,
    reflect_type: str = "even",
) -> Any:
    if mode != "constant":
        return np.pad(x, pad_width, mode)
    return np.pad(x, pad_width, mode, constant_values=constant_values or constant_value)


def _norm(x: Any, ord: Any = 2, axis: Any = None, keepdims: bool = False, flag: int = -2) -> Any:
    # Without an order files say 2 beside the flag -2.
    return np.linalg.norm(x, None if flag == -2 else ord, axis, keepdims)


def _uniform(
    low: Any = 0.0, high: Any = 1.0, size: Any = None, ctx: Any = None, dtype: Any = None
) -> Any:
    return np.random.uniform(low, high, size, dtype=dtype, ctx=cpu())


def _normal(
    loc: Any = 0.0, scale: Any = 1.0, size: Any = None, ctx: Any = None, dtype: Any = None
) -> Any:
    return np.random.normal(loc, scale, size, dtype=dtype, ctx=cpu())


def _where_lscalar(condition: Any, x: Any, scalar: Any = 0.0) -> Any:
    return np.where(condition, scalar, x)


def _where_rscalar(condition: Any, x: Any, scalar: Any = 0.0) -> Any:
    return np.where(condition, x, scalar)


def _around(x: Any, decimals: int = 0) -> Any:
    return np.around(x, decimals)


def _argmax(data: Any, axis: Any = None, keepdims: bool = False) -> Any:
    result = np.argmax(data, axis=axis)
    return np.expand_dims(result, axis) if keepdims and axis is not None else result


def _argmin(data: Any, axis: Any = None, keepdims: bool = False) -> Any:
    result = np.argmin(data, axis=axis)
    return np.expand_dims(result, axis) if keepdims and axis is not None else result


#: By the name in files: the function and how many of its first arguments are arrays.
FUNCTIONS: dict[str, tuple[Function, int]] = {
    "_npi_ldexp": (_two(np.ldexp), 2),
    "_npi_ldexp_scalar": (with_number(np.ldexp, False, False), 1),
    "_npi_rldexp_scalar": (with_number(np.ldexp, False, True), 1),
    "_npi_lcm": (_two(np.lcm), 2),
    "_npi_lcm_scalar": (with_number(np.lcm, False, False), 1),
    "_npi_concatenate": (_joined(np.concatenate), 0),
    "_npi_stack": (_joined(np.stack), 0),
    "_npi_vstack": (_stacked(np.vstack), 0),
    "_npi_hstack": (_stacked(np.hstack), 0),
    "_npi_dstack": (_stacked(np.dstack), 0),
    "_npi_column_stack": (_stacked(np.column_stack), 0),
    "_npi_einsum": (_einsum, 0),
    "_npi_tensordot_int_axes": (_tensordot_int_axes, 2),
    "_npi_tensordot": (_tensordot, 2),
    "_npi_full_like": (_full_like, 1),
    "_npi_zeros": (_zeros, 0),
    "_npi_ones": (_ones, 0),
    "_npi_arange": (_arange, 0),
    "_npi_eye": (_eye, 0),
    "_npi_pad": (_pad, 1),
    "_npi_norm": (_norm, 1),
    "_npi_uniform": (_uniform, 0),
    "_npi_normal": (_normal, 0),
    "_npi_where_lscalar": (_where_lscalar, 2),
    "_npi_where_rscalar": (_where_rscalar, 2),
    "_npi_around": (_around, 1),
    "_npi_argmax": (_argmax, 1),
    "_npi_argmin": (_argmin, 1),
}

#: Where functions of arrays are defined.
_HOMES = ("afterglow.numpy", "numpy")

#: How many arrays functions take, where it is not one.
_INPUTS = {
    **dict.fromkeys(("dot", "matmul", "cross", "kron", "polyval", "solve", "tensorsolve"), 2),
    **dict.fromkeys(("identity", "indices", "logspace", "hanning", "hamming", "blackman"), 0),
    "where": 3,
}


def find(name: str) -> tuple[Function, int] | None:
    """Return the function of an op of ``np`` or ``npx`` and how many arrays it takes."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    for prefix, module in (("_npi_", np), ("_npx_", npx), ("_np_", np)):
        if name.startswith(prefix):
            short = name.removeprefix(prefix)
            function = getattr(module, short, None)
            if function is None and prefix == "_npi_":
                function = getattr(np.linalg, short, None)
            return (function, _INPUTS.get(short, 1)) if _is_of_arrays(function) else None
    return None


def _is_of_arrays(value: Any) -> TypeGuard[Function]:
    """Tell functions of np and npx, also NumPy's, from types, devices and switches there."""
    home = getattr(value, "__module__", None) or ""
    return callable(value) and not isinstance(value, type) and home.startswith(_HOMES)
