# SPDX-License-Identifier: Apache-2.0
"""Forms of the functions of ``np`` that need more than the call of one op.

Numbers without any array are NumPy's; masks (``where=``) and first values (``initial=``) are calls
of their own. The compiled functions come here with the arguments that they were given.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as onp

from .._arrays.dtypes import BOOL, DTYPES, FLOAT32, FLOATING, optional_number
from .._arrays.op_functions import Spelling, spellings
from .._arrays.shapes import Shape, as_axes, normal_axis
from .._arrays.worlds import NUMPY
from .._core import Array
from ..error import (
    ArrayNotImplementedError,
    ArrayTypeError,
    ArrayValueError,
    UnknownFormError,
    as_ours,
)
from . import indexing
from ._arguments import check_options, need, truth


def elementwise(
    call: Callable[..., Any],
    name: str,
    operands: tuple[Any, ...],
    out: Any,
    options: dict[str, Any],
) -> Any:
    """Call an op where a mask is true; operands without any array are worked out by NumPy."""
    chosen = options.pop("where", True)
    if options:
        check_options(name, options)
    if chosen is False and out is None:
        raise ArrayNotImplementedError(f"[{name}] where=False leaves all out; out is needed then")
    if chosen is not True:
        return _call_where(call, operands, out, truth(chosen))
    if any(isinstance(operand, (Array, onp.ndarray)) for operand in operands):
        return call(*operands, out=out)
    for operand in operands:
        if not isinstance(operand, (int, float, onp.generic)):
            raise ArrayTypeError(f"type {type(operand)} not supported")
    with as_ours(name):
        return getattr(onp, name)(*operands)


def _call_where(call: Callable[..., Any], operands: tuple[Any, ...], out: Any, chosen: Any) -> Any:
    """Call an op where a mask is true. Elsewhere ``out`` stays as it is; without one there is 0."""
    if not any(isinstance(operand, (Array, onp.ndarray)) for operand in operands):
        operands = (need(onp.asarray(operands[0])), *operands[1:])
    result = call(*operands, out=None)
    if out is None:
        outside = NUMPY.copy(0, result._dtype_number, (), ctx=result._context_numbers)
        return NUMPY.where(chosen, result, outside)
    return NUMPY.where(chosen, result, out, out=out)


def _of_elements(spelling: Spelling) -> Callable[..., Any]:
    """Return the rare forms of a function of elements."""
    name, *names = spelling.names[0], *(s.name for s in spelling.slots if s.role == "input")

    def function(*args: Any, **kwargs: Any) -> Any:
        missing = [one for one in names[len(args) :] if one not in kwargs]
        if missing:
            raise ArrayTypeError(f"[{name}] needs {' and '.join(missing)}")
        operands = (*args[: len(names)], *(kwargs.pop(one) for one in names[len(args) :]))
        out = args[len(names)] if len(args) > len(names) else kwargs.pop("out", None)
        return elementwise(getattr(NUMPY, spelling.op), name, operands, out, kwargs)

    return function


def _clip(a: Any, a_min: Any, a_max: Any, out: Any = None) -> Any:
    if isinstance(a, (int, float, onp.generic)):
        with as_ours("clip"):
            return onp.clip(a, a_min, a_max)
    return NUMPY.clip(need(a, "data"), a_min, a_max, out=out)


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return indexing.nonzero(condition)
    if x is None or y is None:
        raise ArrayTypeError("[where] needs both x and y")
    if isinstance(condition, (int, float, onp.generic)):
        return x if condition != 0 else y
    return NUMPY.where(need(condition, "condition"), x, y)


# --- reductions ---


def reduced_axes(a: Any, axis: Any) -> Shape:
    """Return the axes of a reduction in full, counted from the front."""
    axes = as_axes(axis)
    if axes is None:
        return tuple(range(a.ndim))
    known = [normal_axis(one, max(a.ndim, 1)) for one in axes]
    return tuple(known) if a.ndim else ()


def count_of(a: Any, axis: Any) -> int:
    """Return how many elements are reduced into each."""
    return prod(a.shape[one] for one in reduced_axes(a, axis))


def reduced_shape(a: Any, axis: Any, keepdims: bool) -> Shape:
    """Return the shape of the result of a reduction."""
    axes = reduced_axes(a, axis)
    if keepdims:
        return tuple(1 if one in axes else extent for one, extent in enumerate(a.shape))
    return tuple(extent for one, extent in enumerate(a.shape) if one not in axes)


def filled(value: Any, shape: Shape, number: int, like: Any, out: Any) -> Any:
    """Return an array with one number everywhere, where another array is."""
    return NUMPY.copy(value, shape=shape, dtype=number, ctx=like._context_numbers, out=out)


def mask_of(where: Any, a: Any) -> Any:
    """Return which elements count, as an array of truth values that broadcasts to ``a``."""
    mask = truth(where)
    if not isinstance(where, Array):
        mask = mask.as_in_ctx(a.ctx)
    extents = zip(reversed(mask.shape), reversed(a.shape), strict=False)
    if mask.ndim > a.ndim or any(own not in (1, extent) for own, extent in extents):
        raise ArrayValueError(f"where of shape {mask.shape} does not broadcast to {a.shape}")
    return mask


def _reduce(op: str, a: Any, axis: Any, keepdims: bool, dtype: Any, out: Any) -> Any:
    return getattr(NUMPY, op)(
        a, as_axes(axis), keepdims=bool(keepdims), dtype=optional_number(dtype), out=out
    )


#: The op that takes one more element in, and what counts for nothing.
_FOLDS: dict[str, tuple[str, Any]] = {
    "sum": ("add", 0),
    "prod": ("multiply", 1),
    "max": ("maximum", None),
    "min": ("minimum", None),
}


def _fold(
    op: str,
    a: Any,
    axis: Any = None,
    keepdims: Any = False,
    dtype: Any = None,
    initial: Any = None,
    out: Any = None,
    where: Any = True,
) -> Any:
    """Call a reduction of the elements that a mask names, and of one more number."""
    combine, identity = _FOLDS[op]
    a = need(a)
    if isinstance(out, bool):  # NumPy and MXNet differ in the order of these two
        keepdims, out = out, keepdims
    if where is not True:
        if initial is None and identity is None:
            raise ArrayValueError("a mask may leave nothing: initial is needed beside where")
        number = initial if identity is None else identity
        outside = NUMPY.copy(number, a._dtype_number, (), ctx=a._context_numbers)
        a = NUMPY.where(mask_of(where, a), a, outside)
    if initial is None:
        return _reduce(op, a, axis, keepdims, dtype, out)
    if identity is None and not count_of(a, axis):
        return filled(initial, reduced_shape(a, axis, keepdims), a._dtype_number, a, out)
    reduced = _reduce(op, a, axis, keepdims, dtype, None)
    return getattr(NUMPY, combine)(reduced, initial, out=out)


def _of_fold(spelling: Spelling) -> Callable[..., Any]:
    """Return the rare forms of a reduction in ``_FOLDS``, with arguments in the spelled order."""
    names = [slot.name for slot in spelling.slots]

    def fold(*args: Any, **kwargs: Any) -> Any:
        return _fold(spelling.op, **dict(zip(names, args, strict=False)), **kwargs)

    return fold


def _mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    where: Any = True,
) -> Any:
    a = need(a)
    if isinstance(out, bool):
        keepdims, out = out, keepdims
    if where is True:
        return _reduce("mean", a, axis, keepdims, dtype, out)
    mask = mask_of(where, a)
    own = a._dtype_number if a._dtype_number in FLOATING else FLOAT32
    total = _fold("sum", a, axis, keepdims, DTYPES[own] if dtype is None else dtype, where=mask)
    whole = mask if mask.shape == a.shape else NUMPY.copy(mask, shape=a.shape)
    count = NUMPY.sum(whole, as_axes(axis))
    return NUMPY.divide(total, count._shaped(total.shape), out=out)


def _decide(op: str, nothing: bool) -> Callable[..., Any]:
    """Return the rare forms of ``any`` or ``all``; over no elements the answer is ``nothing``."""

    def decide(
        a: Any, axis: Any = None, keepdims: Any = False, out: Any = None, where: Any = True
    ) -> Any:
        a = need(a)
        if isinstance(out, bool):
            keepdims, out = out, keepdims
        if where is not True:
            outside = NUMPY.copy(nothing, BOOL, (), ctx=a._context_numbers)
            a = NUMPY.where(mask_of(where, a), truth(a), outside)
        return getattr(NUMPY, op)(a, axis, bool(keepdims), out=out)

    return decide


# --- more elements ---


def _tile(A: Any, reps: Any) -> Any:  # noqa: N803
    """Repeat a number: it stays with NumPy, as in MXNet."""
    if isinstance(A, (int, float)):
        with as_ours("tile"):
            return onp.full(reps, A)
    return NUMPY.tile(need(A, "A"), reps)


# --- pad ---

#: The keywords that each mode of ``pad`` takes.
_pad_keywords = {
    "constant": "constant_values",
    "edge": None,
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
    "maximum": "stat_length",
    "minimum": "stat_length",
    "wrap": None,
}


def _pad(x: Any, pad_width: Any = None, mode: str = "constant", **kwargs: Any) -> Any:
    """Pad with keywords: constants for each side, and what else NumPy knows."""
    if mode not in _pad_keywords:
        raise UnknownFormError(
            f"[pad] mode must be one of {', '.join(_pad_keywords)}, but got {mode!r}"
        )
    for key in kwargs:
        if key != _pad_keywords[mode]:
            raise ArrayValueError(f"[pad] mode {mode!r} takes no argument {key!r}")
    if kwargs.get("reflect_type", "even") != "even" or kwargs.get("stat_length") is not None:
        raise UnknownFormError(f"[pad] there is no {kwargs} for mode {mode!r}")
    array = need(x, "x")
    widths = _pairs(pad_width, array, "pad_width")
    if not all(type(width) is int for width in widths):
        raise ArrayTypeError(f"[pad] pad_width must hold integers, but got {pad_width}")
    values = _pairs(kwargs.get("constant_values", 0), array, "constant_values")
    if len(set(values)) < 2:
        return NUMPY.pad(array, mode, widths, *values[:1])
    for place, value in enumerate(values):
        alone = [width if one == place else 0 for one, width in enumerate(widths)]
        array = NUMPY.pad(array, mode, alone, value)
    return array


def _pairs(given: Any, array: Any, name: str) -> list[Any]:
    """Return two numbers for each axis, in one list."""
    numbers = onp.asarray(given)
    try:
        pairs: list[Any] = onp.broadcast_to(numbers, (array.ndim, 2)).ravel().tolist()
    except ValueError:
        raise ArrayValueError(
            f"[pad] {name} of shape {numbers.shape} does not fit an array of shape {array.shape}"
        ) from None
    return pairs


def forms() -> dict[str, Callable[..., Any]]:
    """Return the functions by name."""
    spelled = [spelling for spelling in spellings() if spelling.space == "np"]
    of_elements = {
        spelling.names[0]: _of_elements(spelling)
        for spelling in spelled
        if spelling.slots[-1].role == "options"
    }
    folds = {spelling.op: _of_fold(spelling) for spelling in spelled if spelling.op in _FOLDS}
    return {
        **of_elements,
        **folds,
        **indexing.RARE_FORMS,
        "clip": _clip,
        "where": _where,
        "mean": _mean,
        "any": _decide("any", False),
        "all": _decide("all", True),
        "tile": _tile,
        "pad": _pad,
    }
