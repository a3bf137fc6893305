# SPDX-License-Identifier: Apache-2.0
"""Calls of ops with sparse arrays.

``HANDLERS`` has, by the name of an op, a function that takes what the op takes and answers without
storing zeros, or gives ``NotImplemented`` where MXNet does not either. What has no handler falls
back as in MXNet: dense copies of the sparse arrays are made, and a warning says so, once for each
op. Indices are looked at here, so calls wait for those, but not for values.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from ... import autograd
from ..._arrays.op_functions import table
from ..._arrays.worlds import LEGACY
from ..._core import Array, is_recording, origin_of, record_call, set_sparse_parts, sparse_parts
from ...error import ArgumentError, ArrayTypeError, ArrayValueError, MXNetError
from ._arrays import BaseSparseNDArray, empty, zeros_like
from ._structure import (
    assemble,
    distinct,
    from_indices,
    from_places,
    indices_of,
    indptr_from,
    indptr_of,
    places_of,
    rows_of,
)

Gradients = Callable[[list[Any]], Sequence[Any]]

HANDLERS: dict[str, Callable[..., Any]] = {}
#: The same for ops that change what they are given; these see where the result goes.
UPDATES: dict[str, Callable[..., Any]] = {}

_fallen_back: set[str] = set()


class StorageFallbackWarning(UserWarning):
    """An op has no form for sparse arrays and was given dense copies of them."""


def handles(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a function answer the calls of ops that are given sparse arrays."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        HANDLERS.update(dict.fromkeys(names, function))
        return function

    return register


def is_sparse(value: Any) -> bool:
    """Tell whether a value is a sparse array."""
    return isinstance(value, BaseSparseNDArray)


def call(operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Answer the call of an op that has sparse arrays among its arguments."""
    kwargs.pop("name", None)
    if operation.name in UPDATES:
        return UPDATES[operation.name](operation, *args, **kwargs)
    out = kwargs.pop("out", None)
    result = NotImplemented
    handler = HANDLERS.get(operation.name)
    if handler is not None and any(map(is_sparse, _flat([args, list(kwargs.values())]))):
        result = handler(operation, *args, **kwargs)
    if result is NotImplemented:
        result = _fall_back(operation, args, kwargs)
    if out is None:
        return result
    results = result if isinstance(out, (list, tuple)) else [result]
    for target, one in zip(out if isinstance(out, (list, tuple)) else [out], results, strict=True):
        if target is not one:
            write(target, one)
    return out


def _flat(values: Any) -> list[Any]:
    if isinstance(values, (list, tuple)):
        return [item for value in values for item in _flat(value)]
    return [values]


def _fall_back(operation: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    arrays = [one for one in _flat([args, list(kwargs.values())]) if _is_array(one)]
    if any(map(is_sparse, arrays)):  # otherwise it is the result alone that goes into a sparse one
        warn_of_fallback(operation.name, [one.stype for one in arrays])
    values = [_dense_in(value) for value in args]
    named = {name: _dense_in(value) for name, value in kwargs.items()}
    result = operation(*values, **named)
    for place, state in _states(operation.name):  # which the call has changed
        old, new = (
            (args[place], values[place])
            if place < len(args)
            else (kwargs.get(state), named.get(state))
        )
        if is_sparse(old):
            write(old, new)
    return result


def warn_of_fallback(name: str, given: list[str]) -> None:
    """Say once that an op has no form for sparse arrays."""
    if name in _fallen_back or os.environ.get("MXNET_STORAGE_FALLBACK_LOG_VERBOSE") == "0":
        return
    _fallen_back.add(name)
    warnings.warn(
        f"[{name}] has no form for the storage types {', '.join(given)}; sparse arrays are made "
        "dense for it (said once for each op)",
        StorageFallbackWarning,
        stacklevel=5,
    )


def _states(name: str) -> list[tuple[int, str]]:
    """Return places and names of the inputs that an op changes."""
    description = table().get(name)
    if description is None or not description["auxiliary"]:
        return []
    inputs = list(enumerate(description["inputs"]))
    return inputs[len(inputs) - description["auxiliary"] :]


def _is_array(value: Any) -> bool:
    return isinstance(value, Array)


def _dense_in(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_dense_in(one) for one in value)
    return cast(value, "default") if is_sparse(value) else value


# --- gradients ---


def recorded(inputs: Sequence[Any], result: Any, gradients: Gradients) -> Any:
    """Return a result as computed from inputs, whose gradients a function tells."""
    if not is_recording():
        return result
    return record_call(list(inputs), [result], gradients)[0]


def unrecorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let what a function calls leave no traces on the tape."""

    def quiet(*args: Any, **kwargs: Any) -> Any:
        if not is_recording():
            return function(*args, **kwargs)
        with autograd.pause(train_mode=autograd.is_training()):
            return function(*args, **kwargs)

    return quiet


def _dense_gradients(operation: Any, inputs: Sequence[Any], kwargs: dict[str, Any]) -> Gradients:
    """Return the gradients that dense copies of the inputs would have."""

    def gradients(heads: list[Any]) -> list[Any]:
        copies = [cast(one, "default").copy() if _is_array(one) else one for one in inputs]
        arrays = [one for one in copies if _is_array(one)]
        for one in arrays:
            one.attach_grad()
        with autograd.record(autograd.is_training()):
            result = operation(*copies, **kwargs)
        found = iter(autograd.grad([result], arrays, [cast(heads[0], "default")]))
        return [next(found) if _is_array(one) else None for one in copies]

    return gradients


def _same_places(one: Any, other: Any) -> bool:
    """Tell whether two arrays of a kind store the same places, in the same order."""
    mine, theirs = sparse_parts(one), sparse_parts(other)
    if mine[1].shape != theirs[1].shape:
        return False
    return all(
        left is None or onp.array_equal(left.asnumpy(), right.asnumpy())
        for left, right in zip(mine[1:], theirs[1:], strict=True)
    )


def with_data(array: Any, data: Any) -> Any:
    """Return an array with other values at the same places."""
    _, indices, indptr = sparse_parts(array)
    return assemble(array.shape, data, indices, indptr)


# --- storage types ---


def cast(data: Any, stype: str, out: Any = None) -> Any:
    """Return an array in a storage type: "default", "row_sparse" or "csr"."""
    if stype not in ("default", "row_sparse", "csr"):
        raise ArrayValueError(
            f"[cast_storage] stype is {stype!r}; 'default', 'row_sparse' or 'csr' is needed"
        )
    if data.stype == stype:
        result = LEGACY.copy(data) if is_sparse(data) else data
    else:
        result = recorded([data], _cast(data, stype), lambda heads: heads)
    if out is None:
        return result
    write(out, result)
    return out


@unrecorded
def _cast(data: Any, stype: str) -> Any:
    if stype == "default":
        return _to_dense(data)
    if is_sparse(data):
        raise ArrayValueError(f"cast_storage from {data.stype} to {stype} is not supported")
    if stype == "csr":
        if data.ndim != 2:
            raise ArrayValueError(
                f"[cast_storage] an array of shape {data.shape} was given; csr has two axes"
            )
        places = onp.flatnonzero(data.asnumpy())
        kept = LEGACY.take(data._shaped((data.size,)), from_indices(places, data._context_numbers))
        rows, columns = onp.divmod(places, max(1, data.shape[1]))
        return assemble(data.shape, kept, columns, indptr_from(rows, data.shape[0]))
    if not data.ndim:
        raise ArrayValueError("[cast_storage] a number was given; row_sparse has an axis of rows")
    host = data.asnumpy().reshape(data.shape[0], -1) if data.size else onp.zeros((data.shape[0], 0))
    return rows_of_dense(data, onp.flatnonzero(host.any(axis=1)))


def rows_of_dense(data: Any, rows: Any) -> Any:
    """Return a row_sparse array of some rows of a dense one, in order."""
    indices = from_indices(rows, data._context_numbers)
    return assemble(data.shape, LEGACY.take(data, indices, axis=0), indices)


def _to_dense(array: Any) -> Any:
    data, indices, _ = sparse_parts(array)
    zeros = empty(array.shape, "default", array._dtype_number, array._context_numbers)
    if not array.size or not data.size:
        return zeros
    if array.stype == "row_sparse":
        return LEGACY.scatter([zeros, data, indices])
    places = from_indices(places_of(array), array._context_numbers)
    return LEGACY.scatter([zeros._shaped((zeros.size,)), data, places])._shaped(array.shape)


def to_dense(array: Any) -> Any:
    """Return a dense copy of a sparse array, for those who cannot do without."""
    return cast(array, "default")


def add(left: Any, right: Any) -> Any:
    """Return the sum of two gradients, one of which is sparse."""
    if is_sparse(left) and is_sparse(right) and left.stype != right.stype:
        left = cast(left, "default")
    return LEGACY.add(left, right)


@unrecorded
def write(target: Any, value: Any) -> None:
    """Write a value into an array, both of any kind; ``None`` stands for zeros."""
    if is_sparse(target):
        if value is None:
            set_sparse_parts(target, *sparse_parts(zeros_like(target)))
        elif is_sparse(value) and value.stype != target.stype:
            target._become(cast(value, "default"))
        else:
            target._become(value)
    else:
        target._assign(cast(value, "default"))


@unrecorded
def sum_rows(indices: Any, values: Any, shape: Any) -> Any:
    """Return zeros of a shape, with values added to the rows that indices name. Waits for these."""
    named = indices.asnumpy().reshape(-1).astype(onp.int64)
    rows, places = distinct(named, shape[0])
    place = values._context_numbers
    lines = values._shaped((len(named), *shape[1:]))
    if len(rows) == len(named) and (onp.diff(named) > 0).all():
        return assemble(shape, lines, rows)
    sums = empty((len(rows), *shape[1:]), "default", values._dtype_number, place)
    where = from_indices(places, place)
    return assemble(shape, LEGACY.scatter([sums, lines, where], add=True), rows)


# --- elements ---

#: Zero where their argument is.
_KEEP_ZEROS = (
    "abs arcsin arcsinh arctan arctanh cbrt ceil degrees expm1 floor log1p negative radians relu "
    "rint round sign sin sinh sqrt square tan tanh trunc"
)


@handles(*_KEEP_ZEROS.split())
def _unary(operation: Any, data: Any, *args: Any, **kwargs: Any) -> Any:
    result = unrecorded(operation)(sparse_parts(data)[0], *args, **kwargs)

    def gradients(heads: list[Any]) -> list[Any]:
        (head,) = heads
        # Their slope at zero shows in the gradient of all elements, if that is dense.
        infinite = operation.name in ("sqrt", "cbrt") and not is_sparse(data.grad)
        if infinite or head.stype != data.stype or not _same_places(head, data):
            return list(_dense_gradients(operation, [data], kwargs)(heads))
        values = sparse_parts(data)[0].copy()
        values.attach_grad()
        with autograd.record(autograd.is_training()):
            made = operation(values, *args, **kwargs)
        return [with_data(data, autograd.grad([made], [values], [sparse_parts(head)[0]])[0])]

    return recorded([data], with_data(data, result), gradients)


@handles("clip")
def _clip(operation: Any, data: Any, a_min: Any = None, a_max: Any = None) -> Any:
    if not (a_min is None or a_min <= 0) or not (a_max is None or a_max >= 0):
        return NotImplemented
    return _unary(operation, data, a_min=a_min, a_max=a_max)


@handles("copy", "cast", "make_loss")
def _copy(operation: Any, data: Any, *args: Any, **kwargs: Any) -> Any:
    if not is_sparse(data):
        return NotImplemented  # numbers that fill an array
    copied = unrecorded(_copied)(operation, data, args, kwargs)
    return recorded([data], copied, lambda heads: heads)


def _copied(operation: Any, data: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    values, *others = sparse_parts(data)
    made = operation(values, *args, **kwargs)
    if made._context_numbers != values._context_numbers:
        place = made._context_numbers
        others = [None if one is None else LEGACY.copy(one, context=place) for one in others]
    return assemble(data.shape, made, *others)


@handles("BlockGrad")
def _block_grad(operation: Any, data: Any) -> Any:
    return unrecorded(LEGACY.copy)(data)


@handles("zeros_like")
def _zeros_like(operation: Any, data: Any, *args: Any, **kwargs: Any) -> Any:
    return zeros_like(data)


_COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]


@handles(*_COMPARISONS)
def _compared(operation: Any, lhs: Any, rhs: Any) -> Any:
    """Compare with a number that zero does not compare with."""
    compare = getattr(onp, operation.name)
    if isinstance(lhs, (int, float)) and not compare(lhs, 0):
        return with_data(rhs, operation(lhs, sparse_parts(rhs)[0]))
    if isinstance(rhs, (int, float)) and not compare(0, rhs):
        return with_data(lhs, operation(sparse_parts(lhs)[0], rhs))
    return NotImplemented


@handles("add", "subtract", "elemwise_add", "elemwise_sub")
def _sum(operation: Any, lhs: Any, rhs: Any) -> Any:
    """Add or subtract: zero, arrays of one kind, or a sparse and a dense array."""
    subtracts = operation.name in ("subtract", "elemwise_sub")
    if isinstance(rhs, (int, float)):
        if rhs:
            return NotImplemented
        return LEGACY.copy(lhs)
    if isinstance(lhs, (int, float)):
        if lhs or subtracts:
            return NotImplemented
        return LEGACY.copy(rhs)
    if lhs.shape != rhs.shape or lhs._dtype_number != rhs._dtype_number:
        return NotImplemented

    def gradients(heads: list[Any]) -> list[Any]:
        return [heads[0], -heads[0] if subtracts else heads[0]]

    if lhs.stype == rhs.stype:
        result = unrecorded(_merged)(operation, lhs, rhs)
    elif not is_sparse(lhs):
        result = unrecorded(_added)(lhs, -rhs if subtracts else rhs)
    elif not is_sparse(rhs):
        result = unrecorded(lambda: _added(-rhs if subtracts else rhs, lhs))()
    else:
        return NotImplemented
    return recorded([lhs, rhs], result, gradients)


def _added(dense: Any, sparse: Any) -> Any:
    """Return the sum of a dense and a sparse array: dense."""
    result = LEGACY.copy(dense)
    data, indices, _ = sparse_parts(sparse)
    if not data.size:
        return result
    if sparse.stype == "row_sparse":
        return LEGACY.scatter([result, data, indices], add=True)
    places = from_indices(places_of(sparse), dense._context_numbers)
    flat = LEGACY.scatter([result._shaped((result.size,)), data, places], add=True)
    return flat._shaped(dense.shape)


def _merged(operation: Any, lhs: Any, rhs: Any) -> Any:
    """Return a function of two arrays of a kind that is zero where both are."""
    left, right = sparse_parts(lhs)[0], sparse_parts(rhs)[0]
    if _same_places(lhs, rhs):
        return with_data(lhs, operation(left, right))
    ours, theirs = places_of(lhs), places_of(rhs)
    union, places = onp.unique(onp.concatenate((ours, theirs)), return_inverse=True)
    place = left._context_numbers

    def spread(data: Any, at: Any) -> Any:
        zeros = empty((len(union), *data.shape[1:]), "default", data._dtype_number, place)
        return LEGACY.scatter([zeros, data, from_indices(at, place)]) if len(at) else zeros

    places = places.reshape(-1)
    first, second = spread(left, places[: len(ours)]), spread(right, places[len(ours) :])
    return from_places(lhs, operation(first, second), union)


@handles("maximum", "minimum", "hypot")
def _extreme(operation: Any, lhs: Any, rhs: Any) -> Any:
    if not (is_sparse(lhs) and is_sparse(rhs)) or (lhs.stype, lhs.shape) != (rhs.stype, rhs.shape):
        return NotImplemented
    result = unrecorded(_merged)(operation, lhs, rhs)
    return recorded([lhs, rhs], result, _dense_gradients(operation, [lhs, rhs], {}))


@handles("multiply", "elemwise_mul")
def _product(operation: Any, lhs: Any, rhs: Any) -> Any:
    """Multiply by a number, by an array of the same shape, or by a row or column of a csr."""
    if isinstance(lhs, (int, float)) or isinstance(rhs, (int, float)):
        array, number = (rhs, lhs) if isinstance(lhs, (int, float)) else (lhs, rhs)
        result = unrecorded(lambda: with_data(array, sparse_parts(array)[0] * number))()
        return recorded([array], result, lambda heads: [heads[0] * number])
    if is_sparse(lhs) and is_sparse(rhs) and (lhs.stype != rhs.stype or lhs.shape != rhs.shape):
        return NotImplemented
    result = unrecorded(_multiplied)(lhs, rhs)
    if result is NotImplemented:
        return NotImplemented
    if lhs.shape != rhs.shape:
        return recorded([lhs, rhs], result, _dense_gradients(operation, [lhs, rhs], {}))
    return recorded([lhs, rhs], result, lambda heads: [heads[0] * rhs, heads[0] * lhs])


def _multiplied(lhs: Any, rhs: Any) -> Any:
    if is_sparse(lhs) and is_sparse(rhs):
        left, right = sparse_parts(lhs)[0], sparse_parts(rhs)[0]
        if _same_places(lhs, rhs):
            return with_data(lhs, left * right)
        found = onp.intersect1d(places_of(lhs), places_of(rhs), return_indices=True)
        ours, theirs = (from_indices(one, left._context_numbers) for one in found[1:])
        values = LEGACY.take(left, ours) * LEGACY.take(right, theirs)
        return from_places(lhs, values, found[0])
    sparse, dense = (lhs, rhs) if is_sparse(lhs) else (rhs, lhs)
    beside = values_beside(sparse, dense)
    if beside is NotImplemented:
        return NotImplemented
    return with_data(sparse, sparse_parts(sparse)[0] * beside)


def values_beside(sparse: Any, dense: Any) -> Any:
    """Return what stands in a dense array, stretched, at the places that a sparse one stores."""
    place = dense._context_numbers
    if dense.shape == sparse.shape:
        if sparse.stype == "row_sparse":
            return LEGACY.take(dense, sparse_parts(sparse)[1], axis=0)
        flat = dense._shaped((dense.size,))
        return LEGACY.take(flat, from_indices(places_of(sparse), place), axis=0)
    if sparse.stype == "csr" and dense.shape in ((sparse.shape[1],), (1, sparse.shape[1])):
        return LEGACY.take(dense._shaped((dense.size,)), sparse_parts(sparse)[1], axis=0)
    if sparse.stype == "csr" and dense.shape == (sparse.shape[0], 1):
        rows = from_indices(rows_of(sparse), place)
        return LEGACY.take(dense._shaped((dense.size,)), rows, axis=0)
    return NotImplemented


@handles("divide")
def _quotient(operation: Any, lhs: Any, rhs: Any) -> Any:
    """Divide by a number, or a csr array by a row or column."""
    if not is_sparse(lhs):
        return NotImplemented
    if isinstance(rhs, (int, float)):
        result = unrecorded(lambda: with_data(lhs, sparse_parts(lhs)[0] / rhs))()
        return recorded([lhs], result, lambda heads: [heads[0] / rhs])
    if is_sparse(rhs) or rhs.shape == lhs.shape:
        return NotImplemented
    beside = unrecorded(values_beside)(lhs, rhs)
    if beside is NotImplemented:
        return NotImplemented
    result = unrecorded(lambda: with_data(lhs, sparse_parts(lhs)[0] / beside))()
    return recorded([lhs, rhs], result, _dense_gradients(operation, [lhs, rhs], {}))


@handles("add_n")
def _add_n(operation: Any, *args: Any, **kwargs: Any) -> Any:
    arrays = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
    if any(one.stype == "csr" for one in arrays):
        return NotImplemented
    total = arrays[0]
    for one in arrays[1:]:
        total = LEGACY.add(total, one)
    return LEGACY.copy(total) if len(arrays) == 1 else total


# --- reductions ---


@handles("sum", "mean")
def _reduced(operation: Any, data: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Add up the columns, or the rows, of a csr array."""
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if data.stype != "csr" or len(axes) != 1 or axes[0] not in (0, 1, -1, -2):
        return NotImplemented
    if args or any(kwargs.get(name) for name in ("keepdims", "exclude", "dtype")):
        return NotImplemented
    along_rows = axes[0] in (0, -2)
    result = unrecorded(_sums)(data, along_rows)
    if operation.name == "mean":
        result = unrecorded(lambda: result / data.shape[0 if along_rows else 1])()
    return recorded([data], result, _dense_gradients(operation, [data], {"axis": axis}))


def _sums(data: Any, along_rows: bool) -> Any:
    values, columns, _ = sparse_parts(data)
    place = data._context_numbers
    count = data.shape[1 if along_rows else 0]
    zeros = empty((count,), "default", data._dtype_number, place)
    at = columns if along_rows else from_indices(rows_of(data), place)
    return LEGACY.scatter([zeros, values, at], add=True) if values.size else zeros


@handles("norm2")
def _norm(operation: Any, data: Any, axis: Any = None, keepdims: Any = False, **kwargs: Any) -> Any:
    if axis not in (None, ()) or keepdims or not sparse_parts(data)[0].size:
        return NotImplemented
    result = unrecorded(operation)(sparse_parts(data)[0], axis=axis, **kwargs)
    return recorded([data], result, _dense_gradients(operation, [data], {"axis": axis}))


# --- rows ---


def row_range(data: Any, start: int, stop: int) -> Any:
    """Return some neighbouring rows of a csr array."""
    result = unrecorded(_block)(data, start, stop, 0, data.shape[1])
    shape, place = data.shape, data._context_numbers

    def gradients(heads: list[Any]) -> list[Any]:
        whole = empty(shape, "default", data._dtype_number, place)
        whole[start:stop] = cast(heads[0], "default")
        return [whole]

    return recorded([data], result, gradients)


def _block(data: Any, start: int, stop: int, left: int, right: int) -> Any:
    values, indices, _ = sparse_parts(data)
    starts = indptr_of(data)
    first, last = int(starts[start]), int(starts[stop])
    shape, place = (stop - start, right - left), data._context_numbers
    if (left, right) == (0, data.shape[1]):
        kept, columns = values[first:last], indices[first:last]
        return assemble(shape, kept.copy(), columns.copy(), starts[start : stop + 1] - first)
    columns = indices_of(data)[first:last]
    rows = onp.repeat(onp.arange(stop - start), onp.diff(starts[start : stop + 1]))
    inside = onp.flatnonzero((columns >= left) & (columns < right))
    kept = LEGACY.take(values, from_indices(inside + first, place))
    return assemble(shape, kept, columns[inside] - left, indptr_from(rows[inside], stop - start))


def slice_block(data: Any, begin: Any, end: Any, step: Any = None) -> Any:
    """Return a block of a csr array, or ``NotImplemented`` where MXNet has no such form."""
    begins, ends = (one if isinstance(one, (tuple, list)) else (one,) for one in (begin, end))
    steps = step if isinstance(step, (tuple, list)) else (step,)
    if data.stype != "csr" or any(one not in (None, 1) for one in steps):
        return NotImplemented
    bounds = []
    for axis, extent in enumerate(data.shape):
        given = slice(begins[axis], ends[axis]) if axis < len(begins) else slice(None)
        start, stop, _ = given.indices(extent)
        bounds += [start, max(start, stop)]
    result = unrecorded(_block)(data, *bounds)
    kwargs = {"begin": begin, "end": end}
    from ..shape import slice as dense_slice

    return recorded([data], result, _dense_gradients(dense_slice, [data], kwargs))


@handles("concat")
def _concat(operation: Any, *args: Any, **kwargs: Any) -> Any:
    arrays = list(args[0]) if args and isinstance(args[0], (list, tuple)) else list(args)
    dim = kwargs.get("dim", kwargs.get("axis", 1))
    if dim != 0 or any(one.stype != "csr" for one in arrays):
        return NotImplemented
    result = unrecorded(_stacked)(arrays)
    return recorded(arrays, result, _dense_gradients(operation, arrays, {"dim": 0}))


def _stacked(arrays: list[Any]) -> Any:
    parts = [sparse_parts(one) for one in arrays]
    data = LEGACY.concat([one[0] for one in parts], axis=0)
    indices = onp.concatenate([indices_of(one) for one in arrays])
    counts = onp.concatenate([onp.diff(indptr_of(one)) for one in arrays])
    indptr = onp.concatenate(([0], onp.cumsum(counts)))
    shape = (sum(one.shape[0] for one in arrays), arrays[0].shape[1])
    return assemble(shape, data, indices, indptr)


@handles("take")
def _take(operation: Any, a: Any, indices: Any, axis: Any = 0, mode: Any = "clip") -> Any:
    if is_sparse(indices) or axis != 0 or mode not in ("clip", "wrap"):
        return NotImplemented
    wanted = indices.asnumpy().astype(onp.int64)
    rows = onp.clip(wanted, 0, a.shape[0] - 1) if mode == "clip" else wanted % a.shape[0]
    if a.stype == "row_sparse":
        return _looked_up(a, rows)
    if wanted.ndim != 1:
        return NotImplemented
    result = unrecorded(_rows_taken)(a, rows)
    kwargs = {"axis": axis, "mode": mode}
    return recorded([a, indices], result, _dense_gradients(operation, [a, indices], kwargs))


def _rows_taken(data: Any, rows: Any) -> Any:
    starts = indptr_of(data)
    counts = onp.diff(starts)[rows]
    indptr = onp.concatenate(([0], onp.cumsum(counts)))
    elements = onp.arange(indptr[-1]) - onp.repeat(indptr[:-1] - starts[rows], counts)
    kept = LEGACY.take(sparse_parts(data)[0], from_indices(elements, data._context_numbers))
    return assemble((len(rows), data.shape[1]), kept, indices_of(data)[elements], indptr)


@handles("Embedding", "SparseEmbedding")
def _embedding(
    operation: Any,
    data: Any,
    weight: Any,
    input_dim: Any = None,
    output_dim: Any = None,
    dtype: Any = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    if is_sparse(data) or weight.stype != "row_sparse":
        return NotImplemented
    wanted = onp.clip(data.asnumpy().astype(onp.int64), 0, weight.shape[0] - 1)
    return _looked_up(weight, wanted)


def _looked_up(weight: Any, wanted: Any) -> Any:
    """Return rows of a row_sparse array, dense; its gradient is row_sparse."""

    def gradients(heads: list[Any]) -> list[Any]:
        rows = from_indices(wanted, weight._context_numbers)
        return [sum_rows(rows, cast(heads[0], "default"), weight.shape)]

    return recorded([weight], unrecorded(rows_found)(weight, wanted), gradients)


def rows_found(weight: Any, wanted: Any) -> Any:
    data, place = sparse_parts(weight)[0], weight._context_numbers
    positions, is_there = find_rows(indices_of(weight), wanted)
    if not data.size:
        return empty((*wanted.shape, *weight.shape[1:]), "default", data._dtype_number, place)
    found = LEGACY.take(data, from_indices(positions, place), axis=0)
    if is_there.all():
        return found
    mask = is_there.astype(data.dtype).reshape(*wanted.shape, *(1,) * (weight.ndim - 1))
    from ..creation import array

    return LEGACY.multiply(found, array(mask, weight.context, data.dtype))


def find_rows(rows: Any, wanted: Any) -> tuple[Any, Any]:
    """Return where rows in order have the wanted ones, and whether they do."""
    if not len(rows):
        return onp.zeros(wanted.shape, onp.int64), onp.zeros(wanted.shape, bool)
    positions = onp.minimum(onp.searchsorted(rows, wanted), len(rows) - 1)
    return positions, rows[positions] == wanted


def retain(data: Any, indices: Any = None, out: Any = None, **kwargs: Any) -> Any:
    """Return a row_sparse array with the rows that indices name, and zeros elsewhere.

    >>> from afterglow import nd
    >>> x = nd.sparse.row_sparse_array(([[1, 2], [3, 4], [5, 6]], [0, 2, 3]), shape=(5, 2))
    >>> print(nd.sparse.retain(x, nd.array([0, 3])).indices.asnumpy())
    [0 3]
    """
    if indices is None or set(kwargs) - {"name"}:
        raise ArgumentError(f"[retain] got {sorted(kwargs)}; it takes data, indices and out")
    if not _is_array(data) or data.stype != "row_sparse":
        kind = data.stype if _is_array(data) else type(data)
        raise ArrayTypeError(f"[retain] data is {kind}; a row_sparse array is needed")
    wanted = onp.unique(indices.asnumpy().astype(onp.int64))

    def gradients(heads: list[Any]) -> list[Any]:
        if is_sparse(heads[0]):
            return [retain(heads[0], indices)]
        return [rows_of_dense(heads[0], wanted)]

    result = recorded([data], unrecorded(_retained)(data, wanted), gradients)
    if out is None:
        return result
    write(out, result)
    return out


def _retained(data: Any, wanted: Any) -> Any:
    positions, is_there = find_rows(indices_of(data), wanted)
    kept = from_indices(positions[is_there], data._context_numbers)
    values = sparse_parts(data)[0]
    rows = LEGACY.take(values, kept, axis=0) if len(kept) else values[0:0].copy()
    return assemble(data.shape, rows, wanted[is_there])


def square_sum(data: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the sums of squares along an axis, of row_sparse arrays without their zeros."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if data.stype != "row_sparse" or data.ndim != 2 or tuple(axes) not in ((1,), (-1,)):
        return LEGACY.sum(LEGACY.square(cast(data, "default")), axis=axis, keepdims=keepdims)
    result = unrecorded(_squares_of_rows)(data, keepdims)

    def gradients(heads: list[Any]) -> list[Any]:
        (head,) = heads
        values, rows, _ = sparse_parts(data)
        if is_sparse(head):
            beside = rows_found(head, indices_of(data))
        else:
            beside = LEGACY.take(head._shaped((data.shape[0], 1)), rows, axis=0)
        return [with_data(data, 2 * LEGACY.multiply(values, beside))]

    return recorded([data], result, gradients)


def _squares_of_rows(data: Any, keepdims: bool) -> Any:
    values, rows, _ = sparse_parts(data)
    sums = LEGACY.sum(LEGACY.square(values), axis=1, keepdims=True)
    result = assemble((data.shape[0], 1), sums, rows)
    return result if keepdims else _to_dense(result)._shaped((data.shape[0],))


def getnnz(data: Any, axis: int | None = None) -> Any:
    """Return how many values a csr array stores, in each row or column, or altogether."""
    if not _is_array(data) or data.stype != "csr":
        raise ArrayTypeError("[getnnz] a csr array is needed")
    if axis is None:
        host = onp.array([sparse_parts(data)[0].shape[0]])
    elif axis in (1, -1):
        host = onp.diff(indptr_of(data))
    else:
        host = onp.bincount(indices_of(data), minlength=data.shape[1])
    return from_indices(host, data._context_numbers)


@handles("BatchNorm")
def _batch_norm(operation: Any, *args: Any, fix_gamma: Any = True, **kwargs: Any) -> Any:
    if fix_gamma:
        raise MXNetError("[BatchNorm] fix_gamma=True is not there for sparse arrays")
    return NotImplemented


@handles("quadratic", "_contrib_quadratic")
def _quadratic(operation: Any, data: Any, a: float = 0, b: float = 0, c: float = 0) -> Any:
    if data.stype != "csr" or c:
        return NotImplemented
    return _unary(operation, data, a=a, b=b)


# --- products ---


@handles("FullyConnected")
def _fully_connected(
    operation: Any, data: Any, weight: Any, bias: Any = None, **kwargs: Any
) -> Any:
    """Multiply by a weight of any storage type, which is needed whole; csr data fall back."""
    if is_sparse(data):
        warn_of_fallback(operation.name, [data.stype])
    data, weight = cast(data, "default"), cast(weight, "default")
    if bias is not None:
        bias = cast(bias, "default").reshape((-1,))
    return operation(data, weight, bias, **kwargs)


#: Types that ``compressed_dot`` has a kernel for.
_MULTIPLIED = ("float32", "float64", "int32", "int64")


@handles("dot")
def _dot(
    operation: Any,
    lhs: Any,
    rhs: Any,
    transpose_a: Any = False,
    transpose_b: Any = False,
    forward_stype: Any = None,
) -> Any:
    """Multiply a csr matrix by dense or stored rows, or a dense matrix by a csr one."""
    kinds = lhs.stype, rhs.stype
    fits = lhs._dtype_number == rhs._dtype_number and onp.dtype(lhs.dtype).name in _MULTIPLIED
    if kinds in (("csr", "default"), ("csr", "row_sparse")):
        fits = fits and not transpose_b and rhs.ndim <= 2
    else:
        fits = fits and kinds == ("default", "csr") and not transpose_a and lhs.ndim == 2
    if not fits or lhs.shape[0 if transpose_a else -1] != rhs.shape[-1 if transpose_b else 0]:
        return NotImplemented  # what does not fit, the op refuses
    multiply = unrecorded(_csr_dot if lhs.stype == "csr" else _dense_csr_dot)
    transposed = bool(transpose_a or transpose_b)
    makes_dense = forward_stype == "default" or rhs.ndim == 1
    result = multiply(lhs, rhs, transposed, makes_dense)
    kwargs = {"transpose_a": bool(transpose_a), "transpose_b": bool(transpose_b)}

    def gradients(heads: list[Any]) -> list[Any]:
        if lhs.stype != "csr" or origin_of(lhs) is not None:
            return list(_dense_gradients(operation, [lhs, rhs], kwargs)(heads))
        gradient = rhs.grad
        into_dense = rhs.ndim == 1 or (gradient is not None and not is_sparse(gradient))
        return [None, _csr_dot(lhs, cast(heads[0], "default"), not transposed, into_dense)]

    result = recorded([lhs, rhs], result, gradients)
    if forward_stype in (None, result.stype) or not makes_dense:
        return result
    return cast(result, forward_stype)


def _csr_dot(lhs: Any, rhs: Any, transposed: bool, makes_dense: bool) -> Any:
    """Return a csr matrix, transposed or not, times an array; transposed that is row_sparse."""
    if is_sparse(rhs):
        rows = indices_of(rhs)
        lhs = _rows_taken(lhs, rows) if transposed else _columns_found(lhs, rows)
        rhs = sparse_parts(rhs)[0]
    data, columns, starts = sparse_parts(lhs)
    lines = rhs._shaped((rhs.shape[0], 1)) if rhs.ndim == 1 else rhs
    if not transposed:
        product = LEGACY.compressed_dot(data, columns, starts, lines)
    elif makes_dense:
        product = LEGACY.compressed_dot(data, columns, starts, lines, lhs.shape[1], True)
    else:
        return _stored_rows(lhs, lines)
    return product._shaped((product.shape[0],)) if rhs.ndim == 1 else product


def _stored_rows(matrix: Any, lines: Any) -> Any:
    """Return a transposed csr matrix times rows, with the rows for columns that it has."""
    data, _, starts = sparse_parts(matrix)
    found, places = distinct(indices_of(matrix), matrix.shape[1])
    columns = from_indices(places, matrix._context_numbers)
    sums = LEGACY.compressed_dot(data, columns, starts, lines, len(found), True)
    return assemble((matrix.shape[1], lines.shape[1]), sums, found)


def _columns_found(matrix: Any, rows: Any) -> Any:
    """Return a csr matrix of the columns that are among some rows, numbered as those are."""
    positions, is_there = find_rows(rows, indices_of(matrix))
    kept = onp.flatnonzero(is_there)
    data = LEGACY.take(sparse_parts(matrix)[0], from_indices(kept, matrix._context_numbers))
    starts = indptr_from(rows_of(matrix)[kept], matrix.shape[0])
    return assemble((matrix.shape[0], len(rows)), data, positions[kept], starts)


def _dense_csr_dot(lhs: Any, rhs: Any, transposed: bool, makes_dense: bool) -> Any:
    """Return a dense matrix times a csr one, transposed or not: csr, unless dense is wanted."""
    lines = LEGACY.transpose(lhs)
    if makes_dense:
        return LEGACY.transpose(_csr_dot(rhs, lines, not transposed, True))
    if transposed:
        found = onp.flatnonzero(onp.diff(indptr_of(rhs)))
        product = LEGACY.take(
            _csr_dot(rhs, lines, False, True), from_indices(found, rhs._context_numbers), axis=0
        )
    else:
        rows = _stored_rows(rhs, lines)
        product, found = sparse_parts(rows)[0], indices_of(rows)
    count = lhs.shape[0]
    data = LEGACY.transpose(product)._shaped((count * len(found),))
    starts = onp.arange(count + 1) * len(found)
    shape = (count, rhs.shape[0 if transposed else 1])
    return assemble(shape, data, onp.tile(found, count), starts)
