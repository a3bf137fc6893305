# SPDX-License-Identifier: Apache-2.0
"""How the ops of ``np`` run whose arguments in files differ from those of the functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from .. import numpy as np
from .. import numpy_extension as npx
from .._core import operation

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


def by_name(op: str, inputs: Sequence[str]) -> Function:
    """Return an op as a function that takes its inputs by name, as nodes call it."""
    function = operation(op, False)

    def call(**given: Any) -> Any:
        arrays = [given.pop(name) for name in inputs]
        return function(*arrays, **given)

    return call


def _einsum(*data: Any, subscripts: str = "", optimize: Any = 0) -> Any:
    return np.einsum(subscripts, *data)


def _pad(
    x: Any,
    pad_width: Any = (),
    mode: str = "constant",
    constant_values: Any = 0,
    constant_value: Any = 0,
    reflect_type: str = "even",
) -> Any:
    """Return an array with more elements at the ends of axes."""
    if mode != "constant":
        return np.pad(x, pad_width, mode)
    return np.pad(x, pad_width, mode, constant_values=constant_values or constant_value)


def _norm(x: Any, ord: Any = 2, axis: Any = None, keepdims: bool = False, flag: int = -2) -> Any:
    # Without an order files say 2 beside the flag -2.
    return np.linalg.norm(x, None if flag == -2 else ord, axis, keepdims)


def _average(
    a: Any, weights: Any = None, axis: Any = None, returned: bool = False, weighted: bool = True
) -> Any:
    return np.average(a, axis, weights, returned)


#: By the name in files: the function and how many of its first arguments are arrays.
FUNCTIONS: dict[str, tuple[Function, int]] = {
    "_npi_average": (_average, 2),
    "_npi_einsum": (_einsum, 0),
    "_npi_full_like": (
        lambda a, fill_value=0, dtype=None, ctx=None: np.full_like(a, fill_value, dtype=dtype),
        1,
    ),
    "_npi_lcm_scalar": (with_number(np.lcm, False, False), 1),
    "_npi_ldexp_scalar": (with_number(np.ldexp, False, False), 1),
    "_npi_norm": (_norm, 1),
    "_npi_normal": (np.random.normal, 0),
    "_npi_pad": (_pad, 1),
    "_npi_rldexp_scalar": (with_number(np.ldexp, False, True), 1),
    "_npi_uniform": (np.random.uniform, 0),
    "_npi_where_lscalar": (lambda condition, x, scalar=0.0: np.where(condition, scalar, x), 2),
    "_npi_where_rscalar": (lambda condition, x, scalar=0.0: np.where(condition, x, scalar), 2),
}

#: Those that take in files what the declaration of the op says, unlike the functions.
AS_DECLARED = frozenset(["_npi_argmax", "_npi_argmin", "_npi_tensordot", "_npi_tensordot_int_axes"])

#: Where functions of arrays are defined.
_HOMES = ("afterglow.numpy", "numpy")

#: How many arrays functions take that are written in Python, where it is not one.
_INPUTS = {
    **dict.fromkeys(("lcm", "polyval"), 2),
    **dict.fromkeys(("identity", "indices", "logspace", "hanning", "hamming", "blackman"), 0),
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
