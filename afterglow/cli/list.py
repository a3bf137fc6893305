# SPDX-License-Identifier: Apache-2.0
"""``afterglow list``: which names there are, and which of MXNet's there are not."""

from __future__ import annotations

import argparse
import fnmatch
import inspect
import re
import shutil
import sys
import textwrap
from collections.abc import Callable
from typing import Any

from .._package.namespace import did_you_mean
from ..version import MXNET_VERSION
from . import _inventory

_NOTES = """\
PATTERN is a part of a name, such as softmax, nd.random or gluon.nn, or has *, ?
and [...] in it, such as 'nd.broadcast_*'. Capital letters do not matter.

Of np and its parts all functions of NumPy are shown: native ones run
asynchronously, as everything does; those through NumPy wait for their arguments
and are computed by NumPy, with a warning; the others are missing.

With --missing: every public name that MXNet has and Afterglow has not, and how
many of the ops that MXNet registers are there.

examples
  afterglow list softmax
  afterglow list 'np.random.*'
  afterglow list --missing conv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what ``afterglow list`` takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _NOTES
    parser.add_argument("pattern", metavar="PATTERN", nargs="?", default="", help="which names")
    parser.add_argument(
        "--missing", action="store_true", help=f"names of MXNet {MXNET_VERSION} that are missing"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the names; the status is 1 if none is like the pattern."""
    wanted = _matcher(arguments.pattern)
    sections = _missing(wanted) if arguments.missing else _there(wanted)
    if not sections:
        return _nothing(arguments, wanted)
    if arguments.missing:
        sections.append(_summary())
    print("\n\n".join(sections))
    return 0


def _matcher(pattern: str) -> Callable[[str, str], bool]:
    """Return a function that tells whether a name in a namespace is wanted."""
    wanted = pattern.lower().removeprefix("mx.")
    if not re.search(r"[*?[]", wanted):
        return lambda path, name: wanted in _whole(path, name).lower()

    def is_like(path: str, name: str) -> bool:
        names = (name.lower(), _whole(path, name).lower())
        return any(fnmatch.fnmatchcase(one, wanted) for one in names)

    return is_like


def _whole(path: str, name: str) -> str:
    return f"{path}.{name}".removeprefix("..")


def _title(path: str) -> str:
    return f"mx.{path}".removesuffix("..")


# --- names that are there ---


def _there(wanted: Callable[[str, str], bool]) -> list[str]:
    sections = []
    for path, names in _inventory.public_names().items():
        rows = [(name, _inventory.state(path, name)) for name in names if wanted(path, name)]
        if rows:
            sections.append("\n".join([_title(path), *_lines(path, rows)]))
    return sections


def _lines(path: str, rows: list[tuple[str, str]]) -> list[str]:
    wide, states = (max(map(len, column)) for column in zip(*rows, strict=True))
    limit = shutil.get_terminal_size((0, 0)).columns  # 0: not a terminal, so nothing is cut
    lines = []
    for name, state in rows:
        left = f"  {name:{wide}}  " + (f"{state:{states}}  " if states else "")
        line = (left + _summary_of(_inventory.value_of(path, name))).rstrip()
        lines.append(line if not limit or len(line) <= limit else line[: limit - 3] + "...")
    return lines


def _summary_of(value: Any) -> str:
    """Return what is said of a value in a line: of functions, classes and modules their text."""
    if not callable(value) and not inspect.ismodule(value):
        return f"= {value!r}"
    first = re.split(r"\n\s*\n", _inventory.text_of(value), maxsplit=1)[0]
    return " ".join(first.split()).replace("``", "`")


# --- names that are missing ---


def _missing(wanted: Callable[[str, str], bool]) -> list[str]:
    sections = []
    for path, (names, total) in _inventory.missing_names().items():
        chosen = [name for name in names if wanted(path, name)]
        if chosen:
            count = f"all {total}" if len(names) == total else f"{len(names)} of {total}"
            listed = _filled("  ".join(chosen), "  ")
            sections.append(f"{_title(path)}: {count} missing\n{listed}")
    return sections


def _summary() -> str:
    ops = _inventory.ops()
    public = len(ops.there) + len(ops.missing)
    return _filled(
        f"MXNet {MXNET_VERSION} registers {len(ops)} names of ops. Programs can reach {public} of "
        f"them: {len(ops.there)} are there, {len(ops.missing)} are missing. Not listed are "
        f"{len(ops.gradients)} names of gradients and {len(ops.private)} that no public function "
        f"uses, of which {len(ops.private_that_run)} run where a file of a symbol has them."
    )


def _filled(text: str, indent: str = "") -> str:
    width = max(shutil.get_terminal_size((100, 0)).columns, 40)
    return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent)


def _nothing(arguments: argparse.Namespace, wanted: Callable[[str, str], bool]) -> int:
    """Say that no name is like the pattern, and where there is one."""
    pattern = arguments.pattern
    there = {name for names in _inventory.public_names().values() for name in names}
    if arguments.missing:
        said = f"no name of MXNet {MXNET_VERSION} like {pattern!r} is missing"
        found = " ".join(["afterglow list", pattern]) if _there(wanted) else ""
    else:
        said = f"there is no public name like {pattern!r}"
        found = " ".join(["afterglow list --missing", pattern]) if _missing(wanted) else ""
    hint = f"see {found}" if found else did_you_mean(pattern.rpartition(".")[2], there)
    print(f"afterglow list: {said}" + (f"; {hint}" if hint else ""), file=sys.stderr)
    return 1
