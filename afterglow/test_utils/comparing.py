# SPDX-License-Identifier: Apache-2.0
"""Comparisons of arrays within tolerances that depend on their type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as onp

from .._core import Array
from ..error import ArrayValueError

__all__ = [
    "almost_equal",
    "assert_almost_equal",
    "assert_almost_equal_ignore_nan",
    "assert_almost_equal_with_err",
    "checkShapes",
    "collapse_sum_like",
    "compare_ndarray_tuple",
    "default_atols",
    "default_numeric_eps",
    "default_rtols",
    "effective_dtype",
    "get_atol",
    "get_etol",
    "get_rtol",
    "get_tolerance",
    "get_tols",
    "locationError",
    "np_reduce",
    "same",
    "same_array",
]

Host = onp.ndarray[Any, Any]
Tolerance = float | Mapping[Any, float] | None
Names = tuple[str, str]

_EXACT = ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64")


def _by_type(**tolerances: float) -> dict[Any, float]:
    every = {**tolerances, **dict.fromkeys(_EXACT, 0)}
    return {onp.dtype(name): value for name, value in every.items()}


def host(value: Any) -> Host:
    """Return a NumPy array of an array or a number. Waits."""
    return value.asnumpy() if isinstance(value, Array) else onp.asarray(value)


def default_rtols() -> dict[Any, float]:
    """Return the relative tolerance of each type."""
    return _by_type(float16=1e-2, float32=1e-4, float64=1e-5)


def default_atols() -> dict[Any, float]:
    """Return the absolute tolerance of each type."""
    return _by_type(float16=1e-1, float32=1e-3, float64=1e-20)


def default_numeric_eps() -> dict[Any, float]:
    """Return the step of finite differences of each type: powers of two, which add no error."""
    steps = {"float16": 2.0**-6, "float32": 2.0**-9, "float64": 2.0**-14}
    return {onp.dtype(name): step for name, step in steps.items()}


def get_rtol(rtol: float | None = None, dtype: Any = "float64") -> float:
    """Return a relative tolerance: the one given, or that of a type."""
    return default_rtols()[onp.dtype(dtype)] if rtol is None else rtol


def get_atol(atol: float | None = None, dtype: Any = "float64") -> float:
    """Return an absolute tolerance: the one given, or that of a type."""
    return default_atols()[onp.dtype(dtype)] if atol is None else atol


def get_etol(etol: float | None = None) -> float:
    """Return which share of the elements may be wrong: the one given, or none."""
    return 0 if etol is None else etol


def effective_dtype(dat: Any) -> onp.dtype[Any]:
    """Return the type whose precision an array has.

    >>> from afterglow import nd, test_utils
    >>> test_utils.effective_dtype(nd.ones((2,)))
    dtype('float32')
    """
    dtype: onp.dtype[Any] = onp.dtype(dat.dtype)
    return dtype


def get_tolerance(dat: Any, tol: Tolerance, default_tol: Mapping[Any, float]) -> float:
    """Return the tolerance for an array: a number as it is, or what a table says of its type."""
    if isinstance(tol, (int, float)):
        return tol
    dtype = effective_dtype(dat)
    table = default_tol if tol is None else {onp.dtype(key): one for key, one in tol.items()}
    return table.get(dtype, default_tol[dtype])


def get_tols(x: Any, y: Any, rtol: Tolerance, atol: Tolerance) -> tuple[float, float]:
    """Return the tolerances for two arrays: those of the less precise one.

    >>> import numpy
    >>> from afterglow import nd, test_utils
    >>> test_utils.get_tols(nd.ones((2,)), numpy.ones(2, "float16"), None, None)
    (0.01, 0.1)
    """
    arrays = [one for one in (x, y) if hasattr(one, "dtype")] or [onp.float64(0)]
    return (
        max(get_tolerance(one, rtol, default_rtols()) for one in arrays),
        max(get_tolerance(one, atol, default_atols()) for one in arrays),
    )


def same(a: Any, b: Any) -> bool:
    """Tell whether two arrays are equal in shape and every element.

    >>> from afterglow import nd, test_utils
    >>> test_utils.same(nd.ones((2,)), nd.ones((2,)))
    True
    """
    return onp.array_equal(host(a), host(b))


def same_array(array1: Any, array2: Any) -> bool:
    """Tell whether two arrays share their memory."""
    return array1.shape == array2.shape and bool(array1._shares_memory(array2))


def almost_equal(
    a: Any,
    b: Any,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    equal_nan: bool = False,
    use_broadcast: bool = True,
) -> bool:
    """Tell whether two arrays agree within tolerances.

    >>> from afterglow import nd, test_utils
    >>> test_utils.almost_equal(nd.ones((2,)), nd.ones((2,)) + 1e-6)
    True
    """
    rtol, atol = get_tols(a, b, rtol, atol)
    first, second = host(a), host(b)
    if not use_broadcast and first.shape != second.shape:
        return False
    return bool(onp.isclose(first, second, rtol, atol, equal_nan).all())


def checkShapes(a: Any, b: Any) -> None:  # noqa: N802
    """Raise an AssertionError unless two arrays have the same shape."""
    if a.shape != b.shape:
        raise AssertionError(
            f"\nItems are not equal: a.shape = {a.shape} and b.shape = {b.shape} are not equal"
            f"\n ACTUAL: {host(a)!r}\n DESIRED: {host(b)!r}"
        )


def locationError(  # noqa: N802
    a: Any,
    b: Any,
    index: Any,
    names: Names,
    maxError: bool = False,  # noqa: N803
) -> str:
    """Return a text that says where two arrays differ, and their elements there."""
    which = "maximum error" if maxError else "error"
    place = tuple(index)
    return (
        f"Location of {which}: {index}, {names[0]}={_element(a, place):.8f}, "
        f"{names[1]}={_element(b, place):.8f}"
    )


def _element(array: Any, place: tuple[Any, ...]) -> float:
    return float(onp.asarray(array)[place].item())


def _mismatches(
    a: Host, b: Host, rtol: float, atol: float, equal_nan: bool
) -> tuple[Host, Host, Host]:
    """Return both arrays in one shape, and by how many tolerances they differ."""
    a, b = onp.broadcast_arrays(a, b)
    wide = [one.astype("float64") if one.dtype != "float64" else one for one in (a, b)]
    with onp.errstate(all="ignore"):
        difference = onp.abs(wide[0] - wide[1])
        # 1e-20 keeps two equal zeros without tolerance from being 0/0.
        violation = difference / (atol + rtol * onp.abs(wide[1]) + 1e-20)
    violation = onp.where(onp.isclose(a, b, rtol, atol, equal_nan), 0, violation)
    return a, b, violation


def assert_almost_equal_with_err(
    a: Any,
    b: Any,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    etol: float | None = None,
    names: Names = ("a", "b"),
    equal_nan: bool = False,
    mismatches: tuple[int, int] = (10, 10),
) -> None:
    """Raise an AssertionError if more than a share ``etol`` of the elements differs."""
    rtol, atol = get_tols(a, b, rtol, atol)
    first, second = host(a), host(b)
    close = onp.isclose(first, second, rtol, atol, equal_nan)
    if onp.count_nonzero(~close) > get_etol(etol) * close.size:
        assert_almost_equal(first, second, rtol, atol, names, equal_nan, mismatches=mismatches)


def assert_almost_equal(
    a: Any,
    b: Any,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    names: Names = ("a", "b"),
    equal_nan: bool = False,
    use_broadcast: bool = True,
    mismatches: tuple[int, int] = (10, 10),
) -> None:
    """Raise an AssertionError that lists the worst places unless two arrays agree.

    The tolerances are those of the less precise type unless they are given, as numbers or as a
    table by type. ``mismatches`` is how many places are printed.

    >>> import numpy
    >>> from afterglow import nd, test_utils
    >>> test_utils.assert_almost_equal(nd.ones((2,)), numpy.ones(2))
    """
    rtol, atol = get_tols(a, b, rtol, atol)
    first, second = host(a), host(b)
    if not use_broadcast:
        checkShapes(first, second)
    if almost_equal(first, second, rtol, atol, equal_nan):
        return
    first, second, violation = _mismatches(first, second, rtol, atol, equal_nan)
    wrong = onp.flatnonzero(violation != 0)
    worst = wrong[onp.argsort(-violation.ravel()[wrong], kind="stable")]
    places = [tuple(map(int, onp.unravel_index(one, violation.shape))) for one in worst]
    print(f"\n*** Maximum errors for vector of size {first.size}:  rtol={rtol}, atol={atol}\n")
    for number, place in enumerate(places[: mismatches[0]], 1):
        text = locationError(first, second, place, names)
        print(f"{number:3d}: Error {violation[place]:f}  {text}")
    raise AssertionError(
        f"\nItems are not equal:\nError {violation[places[0]]:f} exceeds tolerance "
        f"rtol={rtol:e}, atol={atol:e} (mismatch {100 * len(wrong) / first.size:f}%).\n"
        f"{locationError(first, second, places[0], names, maxError=True)}"
        f"\n ACTUAL: {first!r}\n DESIRED: {second!r}"
    )


def assert_almost_equal_ignore_nan(
    a: Any, b: Any, rtol: Tolerance = None, atol: Tolerance = None, names: Names = ("a", "b")
) -> None:
    """Raise an AssertionError unless two arrays agree where neither is nan."""
    first, second = onp.array(host(a)), onp.array(host(b))
    either = onp.isnan(first) | onp.isnan(second)
    first[either] = second[either] = 0
    assert_almost_equal(first, second, rtol, atol, names)


def compare_ndarray_tuple(t1: Any, t2: Any, rtol: Tolerance = None, atol: Tolerance = None) -> None:
    """Compare arrays in nested tuples; None in either is skipped."""
    if t1 is None or t2 is None:
        return
    if isinstance(t1, tuple):
        for one, other in zip(t1, t2, strict=True):
            compare_ndarray_tuple(one, other, rtol, atol)
    else:
        assert_almost_equal(t1, t2, rtol, atol)


def np_reduce(dat: Host, axis: Any, keepdims: bool, numpy_reduce_func: Any) -> Host:
    """Reduce a NumPy array along several axes with a function that takes one of them."""
    axes = range(dat.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    numbers = sorted(one % dat.ndim for one in axes)
    result = dat
    for one in reversed(numbers):
        result = numpy_reduce_func(result, axis=one)
    if keepdims:
        result = onp.reshape(
            result, [1 if one in numbers else extent for one, extent in enumerate(dat.shape)]
        )
    return result


def collapse_sum_like(a: Host, shape: tuple[int, ...]) -> Host:
    """Sum up the axes along which a shape was broadcast to that of an array.

    >>> import numpy
    >>> from afterglow import test_utils
    >>> test_utils.collapse_sum_like(numpy.ones((2, 3)), (3,))
    array([2., 2., 2.])
    """
    if a.ndim < len(shape):
        raise ArrayValueError(f"[collapse_sum_like] {shape} cannot be broadcast to {a.shape}")
    padded = (1,) * (a.ndim - len(shape)) + tuple(shape)
    axes = tuple(one for one, extent in enumerate(padded) if extent == 1)
    return onp.reshape(a.sum(axis=axes, keepdims=True), shape)
