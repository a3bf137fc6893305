# SPDX-License-Identifier: Apache-2.0
"""What a notebook has beside Python: magics, commands of the shell, questions."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .cells import Cell
from .outputs import is_recorded
from .syntax import compile_cell, parse

_CELL_MAGIC = re.compile(r"\s*%%(?P<name>\w+)[ \t]*(?P<rest>[^\n]*)")

_SHELLS = {"bash", "sh"}

#: Commands that change the installation, above all to another NumPy than Afterglow needs.
_INSTALLATION = re.compile(
    r"\s*(?:sudo\s+)?(?:\S+\s+-m\s+)?(?P<name>pip|conda|mamba)3?\s+(?:install|uninstall)\b.*",
    re.DOTALL,
)

#: What ``%timeit`` runs; the statements and those before them take the places of ``pass``.
_TIMED = """
def __timed__(__loops__, __clock__):
    pass
    __begin__ = __clock__()
    for __loop__ in __loops__:
        pass
    return __clock__() - __begin__
"""


def cell_magic(cell: Cell) -> tuple[str, str, str]:
    """Return name and argument of a magic for a whole cell, and the text without it."""
    found = _CELL_MAGIC.match(cell.source)
    if found is None:
        return "", "", cell.source
    head = "\n" * cell.source.count("\n", 0, found.end())
    return found["name"], found["rest"].strip(), head + cell.source[found.end() :]


class Notebook:
    """Runs what is not Python in the cells of a document."""

    def __init__(
        self, namespace: dict[str, Any], filename: str, note: Callable[[str], None]
    ) -> None:
        self._namespace = namespace
        self._filename = filename
        self._note = note

    # --- lines ---

    def magic(self, name: str, rest: str, line: int) -> Any:
        """Run a magic of one line; those that are not known are skipped."""
        if name == "time":
            with _clocks():
                return self._value_of(rest, line)
        if name == "timeit":
            loops, runs, statements = _options(rest)
            return self._measure("", statements, line, loops, runs)
        if (name, rest.strip()) == ("load_ext", "d2lbook.tab"):
            from ..books import tab

            self._namespace["tab"] = tab
            return None
        if name in ("pip", "conda", "mamba"):
            self._skip_installation(name)
        else:
            self._note(f"%{name} is skipped")
        return None

    def shell(self, command: str) -> None:
        """Run a command of the shell; what would change the installation is skipped."""
        if (installation := _INSTALLATION.fullmatch(command)) is not None:
            self._skip_installation(installation["name"])
            return
        _run_shown(self._filled(command), shell=True)

    def lines_of(self, command: str) -> list[str]:
        """Return the lines that a command of the shell prints."""
        done = subprocess.run(
            self._filled(command), shell=True, check=False, stdout=subprocess.PIPE, text=True
        )
        return done.stdout.splitlines()

    def help(self, name: str) -> None:
        """Print what is known of a name."""
        thing = eval(name, self._namespace)
        with contextlib.suppress(TypeError, ValueError):
            print(f"{name}{inspect.signature(thing)}")
        print(inspect.getdoc(thing) or f"{name} is {thing!r}")

    # --- cells ---

    def run_cell(self, name: str, rest: str, cell: Cell, run: Callable[[], None]) -> bool:
        """Run a cell with a magic; ``run`` runs it as Python. False: the magic is not known."""
        _, _, body = cell_magic(cell)
        if name == "time":
            with _clocks():
                run()
        elif name == "timeit":
            loops, runs, setup = _options(rest)
            self._measure(setup, body, cell.line, loops, runs)
        elif name == "capture":
            with contextlib.redirect_stdout(io.StringIO()):
                run()
        elif name == "writefile":
            Path(rest).write_text(body.lstrip("\n"), encoding="utf-8")
            print(f"Writing {rest}")
        elif name in _SHELLS or (name == "script" and rest in _SHELLS):
            _run_shown([rest if name == "script" else name], input=body).check_returncode()
        elif name == "trace":
            self._trace(rest, cell, run)
        else:
            return False
        return True

    # --- parts ---

    def _trace(self, path: str, cell: Cell, run: Callable[[], None]) -> None:
        from ..notebooks.extension import recorded
        from ..trace import is_recording

        if is_recording():  # the whole document is traced
            run()
            return
        display, last_line = self._namespace["display"], cell.line + cell.source.count("\n")
        with recorded(f"Trace of cell {cell.number}", path, display, cell.filename, last_line):
            run()

    def _skip_installation(self, name: str) -> None:
        self._note(f"{name} is skipped: install by hand what the document needs beside mxnet")

    def _filled(self, command: str) -> str:
        """Put values in the places of $name and {name}, where there are such names."""

        def value(found: re.Match[str]) -> str:
            name = found[1] or found[2]
            return str(self._namespace[name]) if name in self._namespace else found[0]

        return re.sub(r"\$([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\}", value, command)

    def _value_of(self, source: str, line: int) -> Any:
        """Run statements; return the value of the last if it is an expression."""
        tree, lines = parse(source, self._filename, line)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            tree.body.pop()
        for code in compile_cell(tree, lines, self._filename, line):
            exec(code, self._namespace)
        if not isinstance(last, ast.Expr):
            return None
        expression = compile(ast.Expression(last.value), self._filename, "eval", dont_inherit=True)
        return eval(expression, self._namespace)

    def _measure(self, setup: str, source: str, line: int, loops: int, runs: int) -> None:
        """Print how long statements take; what sets them up is run before each of the runs."""
        template = ast.parse(_TIMED)
        function = template.body[0]
        assert isinstance(function, ast.FunctionDef)
        inner = function.body[2]
        assert isinstance(inner, ast.For)
        inner.body = parse(source, self._filename, line)[0].body or inner.body
        function.body[:1] = parse(setup, self._filename, line)[0].body or function.body[:1]
        exec(compile(template, self._filename, "exec", dont_inherit=True), self._namespace)
        timed = self._namespace.pop("__timed__")
        loops = loops or _enough(timed)
        times = [timed(range(loops), time.perf_counter) / loops for _ in range(runs)]
        print(
            f"{_duration(statistics.mean(times))} ± {_duration(statistics.pstdev(times))} per loop "
            f"(mean ± std. dev. of {runs} runs, {loops:,} loops each)"
        )


def _run_shown(command: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command, and show what it prints where the cell prints."""
    sys.stdout.flush()
    if not is_recorded(sys.stdout):
        return subprocess.run(command, text=True, check=False, **options)
    both: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, text=True, errors="replace", check=False, **both, **options)
    sys.stdout.write(done.stdout)
    return done


def _options(text: str) -> tuple[int, int, str]:
    """Return loops (0: enough) and runs of ``[-n LOOPS] [-r RUNS]``, and what follows."""
    loops, runs, rest = 0, 7, text.strip()
    while (found := re.match(r"-(\w)\s*(\d*)\s*", rest)) is not None:
        if found[1] == "n":
            loops = int(found[2] or 0)
        elif found[1] == "r":
            runs = int(found[2] or runs)
        rest = rest[found.end() :]
    return loops, max(runs, 1), rest


def _enough(timed: Callable[..., float]) -> int:
    """Return how many loops take a fifth of a second, as a power of ten."""
    loops = 1
    while timed(range(loops), time.perf_counter) < 0.2 and loops < 10**7:
        loops *= 10
    return loops


@contextlib.contextmanager
def _clocks() -> Iterator[None]:
    """Print what a scope takes, of the processor and on the clock."""
    processor, clock = time.process_time(), time.perf_counter()
    yield
    processor, clock = time.process_time() - processor, time.perf_counter() - clock
    print(f"CPU times: total: {_duration(processor)}\nWall time: {_duration(clock)}")


def _duration(seconds: float) -> str:
    for unit, length in {"s": 1.0, "ms": 1e-3, "µs": 1e-6}.items():
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
