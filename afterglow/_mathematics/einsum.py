# SPDX-License-Identifier: Apache-2.0
"""Sums of products over named axes.

Everything is done two arrays at a time: axes that both have and nobody needs any more are summed by
a matrix product over views, so that most contractions copy nothing. Which ops that takes follows
from names and shapes alone: it is found once and kept.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as onp

from .._arrays.dtypes import BOOL
from .._arrays.keys import contiguous_strides
from .._arrays.shapes import Shape
from .._arrays.worlds import NUMPY
from ..error import ArrayTypeError, ArrayValueError

#: The name of an axis: a letter's code, or a number below zero for an axis that ``...`` stands for.
Label = int
Labels = tuple[Label, ...]
_MOST_LETTERS = 52  #: as in NumPy


# --- reading subscripts ---


@lru_cache(maxsize=1024)
def letters(subscripts: str, shapes: tuple[Shape, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """Return the names of every array's axes and of the result's.

    >>> letters("ij,jk", ((2, 3), (3, 4)))
    (((105, 106), (106, 107)), (105, 107))
    """
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(shapes):
        raise ArrayValueError(
            f"[einsum] {subscripts!r} names {len(terms)} arrays, but {len(shapes)} were given"
        )
    read = [_codes(term, subscripts) for term in terms]
    return named(read, _codes(output, subscripts) if arrow else None, shapes, subscripts)


def _codes(term: str, subscripts: str) -> list[Any]:
    """Return letters as numbers and dots as one ``Ellipsis``."""
    codes: list[Any] = []
    for place, part in enumerate(term.split("...")):
        if place:
            codes.append(...)
        if part and not (part.isascii() and part.isalpha()):
            raise ArrayValueError(
                f"[einsum] {subscripts!r} may hold letters, commas, '->' and '...'"
            )
        codes.extend(map(ord, part))
    return codes


def check_numbers(terms: Iterable[Any]) -> None:
    """Refuse numbers in place of letters that do not stand for one."""
    for term in terms:
        try:
            known = all(
                label is ... or 0 <= operator.index(label) < _MOST_LETTERS for label in term
            )
        except TypeError:
            raise ArrayTypeError(f"[einsum] axes are named {term!r}; numbers are needed") from None
        if not known:
            raise ArrayValueError(
                f"[einsum] axes are named {term!r}; numbers must be from 0 to {_MOST_LETTERS - 1}"
            )


def named(
    terms: Sequence[Sequence[Any]],
    output: Sequence[Any] | None,
    shapes: Sequence[Shape],
    subscripts: Any,
) -> tuple[tuple[Labels, ...], Labels]:
    """Replace each ``Ellipsis`` by names of its own, and find the result's axes if not given."""
    spread = tuple(
        _spread(term, len(shape), subscripts) for term, shape in zip(terms, shapes, strict=True)
    )
    hidden = max((sum(label < 0 for label in labels) for labels in spread), default=0)
    dots = tuple(range(-hidden, 0))
    once = [label for labels in spread for label in labels if label >= 0]
    if output is None:
        result = (*dots, *sorted(label for label in set(once) if once.count(label) == 1))
    else:
        if hidden and ... not in output:
            raise ArrayValueError(f"[einsum] the result of {subscripts!r} needs '...' as well")
        result = _with_dots(output, dots, subscripts)
    if len(set(result)) < len(result):
        raise ArrayValueError(f"[einsum] the result of {subscripts!r} names an axis twice")
    for label in result:
        if label >= 0 and label not in once:
            raise ArrayValueError(
                f"[einsum] an axis of the result of {subscripts!r} is in none of the arrays"
            )
    return spread, result


def _spread(term: Sequence[Any], ndim: int, subscripts: Any) -> Labels:
    hidden = ndim - sum(label is not ... for label in term)
    if hidden < 0 or (hidden and ... not in term):
        raise ArrayValueError(
            f"[einsum] {subscripts!r} names another number of axes than an array has: {ndim}"
        )
    return _with_dots(term, tuple(range(-hidden, 0)), subscripts)


def _with_dots(term: Sequence[Any], dots: Labels, subscripts: Any) -> Labels:
    if sum(label is ... for label in term) > 1:
        raise ArrayValueError(f"[einsum] {subscripts!r} has two '...' for one array")
    labels: list[Label] = []
    for label in term:
        labels.extend(dots if label is ... else (operator.index(label),))
    return tuple(labels)


# --- contracting ---


def contract(
    arrays: Sequence[Any], inputs: tuple[Labels, ...], output: Labels, optimize: Any = False
) -> Any:
    """Return the sum of products. The axes of ``inputs`` that ``output`` lacks are summed over."""
    shapes = tuple(array.shape for array in arrays)
    boolean = arrays[0]._dtype_number == BOOL
    return _run(_steps(inputs, output, shapes, _order(optimize), boolean), arrays)


def contract_as(subscripts: str, arrays: Sequence[Any], optimize: Any = False) -> Any:
    """Return the sum of products that subscripts describe."""
    shapes = tuple([array.shape for array in arrays])
    boolean = arrays[0]._dtype_number == BOOL
    order = _order(optimize) if optimize else False
    return _run(_described_steps(subscripts, shapes, order, boolean), arrays)


@lru_cache(maxsize=1024)
def _described_steps(
    subscripts: str, shapes: tuple[Shape, ...], optimize: Any, boolean: bool
) -> list[_Step]:
    inputs, output = letters(subscripts, shapes)
    return _steps(inputs, output, shapes, optimize, boolean)


def _order(optimize: Any) -> Any:
    """Return a path as tuples, or the name of a way to find one."""
    if isinstance(optimize, (list, tuple)):
        is_path = optimize[0] == "einsum_path"
        return tuple(map(tuple, optimize[1:])) if is_path else optimize[0]
    return optimize


def _run(steps: list[_Step], arrays: Sequence[Any]) -> Any:
    values = [*arrays]
    for call, operands, arguments, shape in steps:
        given = [
            values[place] if view is None else values[place]._view(0, *view)
            for place, view in operands
        ]
        result = call(*given, **arguments)
        values.append(result if shape is None else result._shaped(shape))
    return values[-1]


class _Step(NamedTuple):
    """One call of an op."""

    call: Callable[..., Any]
    #: Which of the values so far, and the shape and the strides of the view that is taken; none
    #: where that is the value as it is.
    operands: tuple[tuple[int, tuple[Shape, Shape] | None], ...]
    arguments: dict[str, Any]
    #: Of the result of a matrix product, which took several axes for one.
    shape: Shape | None


class _Term(NamedTuple):
    """A view of a value, its axes with their names."""

    place: int
    axes: dict[Label, tuple[int, int]]  #: extents and strides

    def view(self, labels: Iterable[Label]) -> tuple[int, tuple[Shape, Shape]]:
        """Return it as an operand with the axes in that order; one that it lacks is repeated."""
        return self.of_axes(self.axes.get(label, (1, 0)) for label in labels)

    def of_axes(self, axes: Iterable[tuple[int, int]]) -> tuple[int, tuple[Shape, Shape]]:
        pairs = list(axes)
        return self.place, (tuple(extent for extent, _ in pairs), tuple(step for _, step in pairs))


@lru_cache(maxsize=1024)
def _steps(*described: Any) -> list[_Step]:
    return _Plan(*described).steps


class _Plan:
    """Finds the steps. The values are those given, then the result of each step."""

    def __init__(
        self,
        inputs: tuple[Labels, ...],
        output: Labels,
        shapes: tuple[Shape, ...],
        optimize: Any,
        boolean: bool,
    ) -> None:
        self.steps: list[_Step] = []
        self._layouts = [(shape, contiguous_strides(shape)) for shape in shapes]
        self._given = len(inputs)
        self._output = output
        self._boolean = boolean
        self._extents = _extents(inputs, shapes)
        terms = [
            self._without_repeats(place, labels, shape)
            for place, (labels, shape) in enumerate(zip(inputs, shapes, strict=True))
        ]
        for chosen in _path(inputs, output, shapes, optimize):
            taken = [terms.pop(place) for place in sorted(chosen, reverse=True)][::-1]
            term = taken[0]
            for number, other in enumerate(taken[1:], 2):
                waiting = (*terms, *taken[number:])
                needed = set(output).union(*(each.axes for each in waiting))
                term = self._pair(term, other, needed)
            terms.append(term)
        if len(terms) > 1:
            raise ArrayValueError(f"[einsum] the path {optimize} does not end with one array")
        self._arrange(self._summed(terms[0], set(output)))

    def _add(
        self, call: Callable[..., Any], *operands: Any, labels: Iterable[Label], **arguments: Any
    ) -> _Term:
        names = tuple(labels)
        shape = tuple(self._extents[label] for label in names)
        strides = contiguous_strides(shape)
        taken = tuple(
            (place, None if view == self._layouts[place] else view) for place, view in operands
        )
        merged = shape if call is NUMPY.matmul else None
        self.steps.append(_Step(call, taken, arguments, merged))
        self._layouts.append((shape, strides))
        axes = dict(zip(names, zip(shape, strides, strict=True), strict=True))
        return _Term(self._given + len(self.steps) - 1, axes)

    def _without_repeats(self, place: int, labels: Labels, shape: Shape) -> _Term:
        """Return the diagonal where a name comes twice, without axes of 1 that others stretch."""
        axes: dict[Label, tuple[int, int]] = {}
        for label, extent, stride in zip(labels, shape, contiguous_strides(shape), strict=True):
            if extent != 1 or self._extents[label] == 1:
                axes[label] = (extent, axes.get(label, (0, 0))[1] + stride)
        return _Term(place, axes)

    def _summed(self, term: _Term, needed: set[Label]) -> _Term:
        """Sum over the axes that nobody needs."""
        unneeded = tuple(axis for axis, label in enumerate(term.axes) if label not in needed)
        if not unneeded:
            return term
        kept = tuple(label for label in term.axes if label in needed)
        total = self._add(NUMPY.sum, term.view(term.axes), labels=kept, axis=unneeded)
        if not self._boolean:
            return total
        return self._add(NUMPY.copy, total.view(kept), labels=kept, dtype=BOOL)

    def _pair(self, left: _Term, right: _Term, needed: set[Label]) -> _Term:
        """Multiply two arrays and sum over what is needed by nobody else."""
        left = self._summed(left, needed.union(right.axes))
        right = self._summed(right, needed.union(left.axes))
        both = [label for label in left.axes if label in right.axes]
        stacked = tuple(label for label in both if label in needed)
        inner = tuple(label for label in both if label not in needed)
        rows = tuple(label for label in left.axes if label not in both)
        columns = tuple(label for label in right.axes if label not in both)
        if not inner or (stacked and not rows and not columns):
            every = (*stacked, *rows, *columns)
            kept = self._output if set(self._output) == set(every) else every
            labels = (*kept, *inner)
            product = self._add(
                NUMPY.multiply, left.view(labels), right.view(labels), labels=labels
            )
            return self._summed(product, needed)
        if (*stacked, *columns, *rows) == self._output:  # this way round nothing is transposed
            left, right, rows, columns = right, left, columns, rows
        return self._add(
            NUMPY.matmul,
            self._matrices(left, stacked, rows, inner),
            self._matrices(right, stacked, inner, columns),
            labels=(*stacked, *rows, *columns),
        )

    def _matrices(self, term: _Term, stacked: Labels, rows: Labels, columns: Labels) -> Any:
        """Return a stack of matrices: a view if rows or columns can lie without gaps in it."""
        stack = [term.axes[label] for label in stacked]
        high, wide = (_merged([term.axes[label] for label in group]) for group in (rows, columns))
        if high and wide and (high[0] <= 1 or wide[0] <= 1 or high[1] == 1 or wide[1] == 1):
            return term.of_axes((*stack, high, wide))
        labels = (*stacked, *rows, *columns)
        plain = self._add(NUMPY.copy, term.view(labels), labels=labels)
        return self._matrices(plain, stacked, rows, columns)

    def _arrange(self, term: _Term) -> None:
        """End with a value that has its axes in order and is no memory that was given."""
        if term.place < self._given or tuple(term.axes) != self._output:
            self._add(NUMPY.copy, term.view(self._output), labels=self._output)


def _extents(inputs: Sequence[Labels], shapes: Sequence[Shape]) -> dict[Label, int]:
    """Return every axis's extent; 1 goes with any other."""
    extents: dict[Label, int] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        for label, extent in zip(labels, shape, strict=True):
            known = extents.get(label, 1)
            if known not in (1, extent) and extent != 1:
                raise ArrayValueError(f"[einsum] one axis has extents {known} and {extent}")
            extents[label] = extent if known == 1 else known
    return extents


def _path(
    inputs: tuple[Labels, ...], output: Labels, shapes: tuple[Shape, ...], optimize: Any
) -> Iterable[Shape]:
    """Return which arrays are contracted in every step; what comes out goes to the end."""
    if isinstance(optimize, tuple):
        return optimize
    if len(inputs) < 3:
        return [tuple(range(len(inputs)))]
    # NumPy looks at the shapes only: an element that is repeated costs no memory.
    given: list[Any] = []
    numbers: dict[Label, int] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        given.append(onp.broadcast_to(onp.float32(0), shape))
        given.append([numbers.setdefault(label, len(numbers)) for label in labels])
    given.append([numbers[label] for label in output])
    method = optimize if isinstance(optimize, str) else "greedy"
    path: list[Any] = onp.einsum_path(*given, optimize=method)[0]
    return path[1:]


def _merged(axes: list[tuple[int, int]]) -> tuple[int, int] | None:
    """Return one axis that walks through the same elements, if there is one."""
    long = [axis for axis in axes if axis[0] != 1]
    if not long:
        return (1, 1)
    for (_, outer), (extent, inner) in pairwise(long):
        if outer != extent * inner:
            return None
    return (prod(extent for extent, _ in long), long[-1][1])
