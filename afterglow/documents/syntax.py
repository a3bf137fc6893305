# SPDX-License-Identifier: Apache-2.0
"""From the text of a cell to Python: magics, and characters that only look like code.

Texts are parsed as they stand. Only where Python refuses a line is it looked at again, so strings
and comments keep every character that they have.
"""

from __future__ import annotations

import ast
import re
from types import CodeType

from .cells import Cell

#: The name under which a cell finds what runs its magics.
NOTEBOOK = "__notebook__"

#: Characters that word processors and PDF files put in the place of plain ones.
_LOOK_ALIKES = {
    **dict.fromkeys("\u00a0\u1680\u202f\u205f\u3000", " "),
    **{chr(code): " " for code in range(0x2000, 0x200B)},
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),
    **dict.fromkeys("\u2018\u2019", "'"),  # as in _QUOTES
    **dict.fromkeys("\u201c\u201d", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
}
_QUOTES = {"'": "[\u2018\u2019]", '"': "[\u201c\u201d]"}

# Spaces are taken whole (*+), or a long line of them would be tried at every place.
_MAGIC = re.compile(
    r"(?P<indent>\s*+)(?P<target>[\w\s,.\[\]]+=\s*+)?(?P<mark>%|!)(?P<text>(?=\S).*)", re.DOTALL
)
_HELP = re.compile(r"(?P<indent>\s*+)(?:\?{1,2}(?P<after>[\w.]+)|(?P<before>[\w.]+)\?{1,2})\s*+")

#: Lines that go on with the statement before them, which looks complete without them.
_GOES_ON = re.compile(r"\s|(?:else|elif|except|finally)\b")

_TOO_DEEP = "it is nested too deeply for Python to read"

#: So many lines and characters of one statement are mended; then it is taken as it is.
_MOST_MENDED = 1000


def check_characters(cell: Cell) -> None:
    """Raise :class:`SyntaxError` for a cell that no file could hold, as JSON can spell it."""
    try:
        cell.source.encode()
    except UnicodeEncodeError as problem:
        number = cell.line + cell.source.count("\n", 0, problem.start)
        half = f"\\u{ord(cell.source[problem.start]):04x} is half of a character"
        raise SyntaxError(half, (cell.filename, number, None, None)) from None


def parse(source: str, filename: str, line: int = 1) -> tuple[ast.Module, list[str]]:
    """Parse the text of a cell that begins at a line of a file; return its lines as they were read.

    Raises :class:`SyntaxError` with the file's line.
    """
    lines = source.split("\n")
    shown = list(lines)
    done: list[ast.stmt] = []  # the statements of the lines before `start`
    start = mended = 0
    while True:
        try:
            rest = _parsed(lines[start:], filename, line + start)
            return ast.Module([*done, *rest.body], []), shown
        except SyntaxError as problem:
            number = (problem.lineno or 0) - line
            if not start <= number < len(lines) or mended == _MOST_MENDED:
                raise
            before = _complete(lines, start, number, filename, line)
            if before is not None:  # they need not be read again
                done += before
                start, mended = number, 0
            mended += 1
            if _mend_characters(lines, number, problem):
                shown[number] = lines[number]
            elif not _translate(lines, number, line):
                raise


def _parsed(lines: list[str], filename: str, line: int) -> ast.Module:
    """Parse lines that begin at a line of a file; whatever is wrong is a :class:`SyntaxError`."""
    try:
        return ast.increment_lineno(ast.parse("\n".join(lines), filename), line - 1)
    except SyntaxError as problem:
        if problem.lineno is not None:
            # Python would show the line of that number in the file, if there is one.
            shown = lines[problem.lineno - 1 : problem.lineno]
            problem.text = f"{shown[0]}\n" if shown else None
            problem.lineno += line - 1
        if problem.end_lineno is not None:
            problem.end_lineno += line - 1
        raise
    except (MemoryError, RecursionError):
        raise SyntaxError(_TOO_DEEP, (filename, line, None, None)) from None


def _complete(
    lines: list[str], start: int, end: int, filename: str, line: int
) -> list[ast.stmt] | None:
    """Return the statements of some lines, if they are whole and the next line begins another."""
    if start == end or _GOES_ON.match(lines[end]):
        return None
    try:
        return _parsed(lines[start:end], filename, line + start).body
    except SyntaxError:
        return None


def compile_cell(
    tree: ast.Module, lines: list[str], filename: str, line: int, *, show_all: bool = False
) -> list[CodeType]:
    """Compile a cell in pieces to be run one after the other.

    The value of the last expression is given to ``sys.displayhook``, unless a semicolon follows;
    with ``show_all`` those of all expressions.
    """
    body, shown = tree.body, list[ast.stmt]()
    if show_all:
        body, shown = [], body
    elif body and isinstance(body[-1], ast.Expr) and not _silenced(body[-1], lines, line):
        body, shown = body[:-1], body[-1:]
    silent = [ast.Module(body, [])] if body else []
    try:
        return [
            *(compile(part, filename, "exec", dont_inherit=True) for part in silent),
            *(
                compile(ast.Interactive([one]), filename, "single", dont_inherit=True)
                for one in shown
            ),
        ]
    except (MemoryError, RecursionError):
        raise SyntaxError(_TOO_DEEP, (filename, line, None, None)) from None


def _silenced(statement: ast.stmt, lines: list[str], line: int) -> bool:
    assert statement.end_lineno is not None
    rest = lines[statement.end_lineno - line].encode()[statement.end_col_offset :]
    return rest.lstrip().startswith(b";")


def _mend_characters(lines: list[str], number: int, problem: SyntaxError) -> bool:
    """Replace what Python refused in this line by what was meant, if that is known."""
    text = lines[number]
    place = (problem.offset or 0) - 1
    character = text[place] if 0 <= place < len(text) else ""
    if character in _LOOK_ALIKES:
        plain = _LOOK_ALIKES[character]
        rest = text[place + 1 :]
        if plain in ("'", '"'):
            # Python would not complain of the other end any more: it is part of a string now.
            rest = re.sub(_QUOTES[plain], plain, rest, count=1)
        lines[number] = text[:place] + plain + rest
    elif text != text.rstrip() and text.rstrip().endswith("\\"):
        lines[number] = text.rstrip()
    else:
        return False
    return True


def _translate(lines: list[str], number: int, line: int) -> bool:
    """Make a call of a line that is a magic, a command of the shell or a question."""
    asked = _HELP.fullmatch(lines[number])
    if asked is not None:
        name = asked["after"] or asked["before"]
        lines[number] = f"{asked['indent']}{NOTEBOOK}.help({name!r})"
        return True
    last = number
    while lines[last].endswith("\\") and last + 1 < len(lines):
        last += 1
    text = " ".join(part.removesuffix("\\") for part in lines[number : last + 1])
    magic = _MAGIC.fullmatch(text)
    if magic is None:
        return False
    target = magic["target"] or ""
    if magic["mark"] == "%":
        name, _, rest = magic["text"].partition(" ")
        call = f"magic({name!r}, {rest!r}, {line + number})"
    else:
        call = f"{'lines_of' if target else 'shell'}({magic['text']!r})"
    lines[number] = f"{magic['indent']}{target.lstrip()}{NOTEBOOK}.{call}"
    lines[number + 1 : last + 1] = [""] * (last - number)
    return True
