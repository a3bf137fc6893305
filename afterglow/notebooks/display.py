# SPDX-License-Identifier: Apache-2.0
"""Values as small pieces of HTML: arrays, blocks, figures of the engine and of timers.

All text is escaped. Colours are those of the page around, dark or bright.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from ..gluon.block import Block
    from ..gluon.parameter import Parameter
    from ..ndarray import NDArray

#: Of longer axes so many elements are shown at either end, with at most so many decimals.
_EDGE, _DIGITS = 4, 4
#: So many layers of a network are shown.
_MOST_LAYERS = 60

_LINE = "1px solid rgba(128,128,128,.35)"
_PLACE = "padding:.1em .6em;border:0;background:none;white-space:pre"
_SMALL = "opacity:.75;font-size:90%"
_ERROR = "color:#d1453b;font-family:monospace"  # to be read on black and on white


# --- arrays ---


def array_html(array: NDArray) -> str:
    """Return a corner of an array with its shape, type and device; of a failed one its error."""
    heading = _described(array)
    try:
        host = array.asnumpy()
    except Exception as problem:
        return _framed(f"{heading}, failed", f'<pre style="{_ERROR}">{escape(str(problem))}</pre>')
    size = readable_bytes(host.nbytes)
    return _framed(f"{heading}, {size}", _corner(host) if host.size else "")


def array_text(array: NDArray) -> str:
    """Return what IPython shows of an array: what is printed, or the error of a failed one."""
    try:
        return repr(array)
    except Exception as problem:
        return f"<{_described(array)}, failed>\n{type(problem).__name__}: {problem}"


def _described(array: NDArray) -> str:
    dtype = numpy.dtype(array.dtype).name
    extents = "x".join(map(str, array.shape)) or "()"
    return f"{type(array).__name__} {extents} {dtype} @{array.context}"


def _corner(host: numpy.ndarray[Any, Any]) -> str:
    """Return a table of the ends of the last two axes, where the others are 0."""
    above = (0,) * max(host.ndim - 2, 0)
    matrix = host[above]
    while matrix.ndim < 2:
        matrix = matrix[numpy.newaxis]
    rows, columns = (_ends(extent) for extent in matrix.shape)
    chosen = matrix[numpy.ix_([i for i in rows if i >= 0], [j for j in columns if j >= 0])]
    numbers = iter(_written(chosen))
    table = [
        ["⋮" if row < 0 else "…" if column < 0 else next(numbers) for column in columns]
        for row in rows
    ]
    index = ", ".join([*map(str, above), ":", ":"])
    note = f'<div style="{_SMALL}">[{index}]</div>' if above else ""
    return note + _table(table)


def _ends(extent: int) -> list[int]:
    """Return the places of an axis that are shown; -1 stands for those in between."""
    if extent <= 2 * _EDGE + 1:
        return list(range(extent))
    return [*range(_EDGE), -1, *range(extent - _EDGE, extent)]


def _written(values: numpy.ndarray[Any, Any]) -> list[str]:
    """Return numbers as NumPy prints them together, with the same digits."""
    options: dict[str, Any] = {"max_line_width": 2**31, "threshold": values.size + 1}
    digits = min(numpy.get_printoptions()["precision"], _DIGITS)
    text = numpy.array2string(values.ravel(), precision=digits, separator=";", **options)
    return text[1:-1].split(";")


# --- blocks ---


def block_html(block: Block) -> str:
    """Return the layers of a network with their parameters."""
    rows = list(_layers(block, ""))
    shown = rows[:_MOST_LAYERS]
    if len(rows) > len(shown):
        shown.append([f"… {len(rows) - len(shown)} more", "", ""])
    known, unknown = 0, 0
    for parameter in {id(one): one for one in _parameters(block)}.values():
        extents = _shape(parameter)
        if min(extents, default=1) > 0:
            known += int(numpy.prod(extents, dtype=numpy.int64))
        else:
            unknown += 1
    later = f", and {unknown} whose shape the first batch tells" if unknown else ""
    title = f"{type(block).__name__}, {known:,} parameters{later}"
    return _framed(title, _table(shown, ("layer", "kind", "parameters"), align="left"))


def _layers(block: Block, path: str) -> Iterable[list[str]]:
    own = [
        f"{name} {'x'.join(str(extent) if extent > 0 else '?' for extent in _shape(one)) or '()'}"
        for name, one in block._reg_params.items()
    ]
    text = repr(block)  # layers say their extents; what is made of others prints all of them
    kind = type(block).__name__ if "\n" in text else text
    if path or own or not block._children:
        depth = "  " * (path.count(".") - 1)
        yield [depth + (path.rpartition(".")[2] or "·"), kind, ", ".join(own)]
    for name, child in block._children.items():
        yield from _layers(child, f"{path}.{name}")


def _shape(parameter: Parameter) -> tuple[int, ...]:
    return (0,) if parameter.shape is None else parameter.shape


def _parameters(block: Block) -> Iterable[Parameter]:
    yield from block._reg_params.values()
    for child in block._children.values():
        yield from _parameters(child)


# --- figures ---


def figures_html(title: str, figures: Iterable[tuple[str, str]]) -> str:
    """Return names with their figures, and a title."""
    return _framed(title, _table([list(row) for row in figures]))


def readable_bytes(count: int) -> str:
    """Return a number of bytes with three digits and a unit."""
    from ..trace.measures import readable_bytes

    return readable_bytes(count)


# --- parts ---


def _framed(title: str, content: str) -> str:
    return f'<div><div style="{_SMALL}"><code>{escape(title)}</code></div>{content}</div>'


def _table(
    rows: Sequence[Sequence[str]], names: Sequence[str] = (), *, align: str = "right"
) -> str:
    style = f'style="{_PLACE};text-align:{align}"'
    head = "".join(f"<th {style}>{escape(name)}</th>" for name in names)
    body = "".join(
        '<tr style="background:none">'
        + "".join(f"<td {style}>{escape(one)}</td>" for one in row)
        + "</tr>"
        for row in rows
    )
    head = f'<tr style="background:none;border-bottom:{_LINE}">{head}</tr>' if head else ""
    outer = f"border-collapse:collapse;border:{_LINE};margin:.2em 0;font-family:monospace"
    return f'<table style="{outer}">{head}{body}</table>'
