# SPDX-License-Identifier: Apache-2.0
"""Hostile documents for ``afterglow run``: it ends soon, and what it says is for the reader.

Texts with very many spaces, lines or fences, notebooks that are nearly JSON or nearly notebooks,
characters that cannot be encoded, deep nesting. Each is run as the command does, in a process of
its own with a limit of memory.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support import ADDRESS_SANITIZER, environment

from ._samples import Samples
from ._seeds import run_programs

#: Bytes of address space: much more than a document of a megabyte needs.
MEMORY = 4 << 30
#: Whatever takes time in proportion to the text takes a few seconds at most.
SECONDS = 60.0


def run(seed: int, seconds: float) -> int:
    """Run documents."""
    return run_programs(seed, seconds, _document)


def _document(seed: int) -> None:
    samples = Samples(seed)
    made = samples.random.choice(_TEXTS)
    suffix, content = made(samples.random)
    if samples.random.random() < 0.2:
        content = _damaged(samples.random, content)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"document{suffix}")
        path.write_bytes(content)
        page = ["--html", "page.html"] if samples.random.random() < 0.5 else []
        _run(path, f"{made.__name__}, {len(content)} bytes {' '.join(page)}", page)


def _run(path: Path, what: str, page: list[str]) -> None:
    def limit() -> None:
        if not ADDRESS_SANITIZER:  # which reserves terabytes of addresses
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    options = ["--keep-going", "--quiet", *page]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "afterglow", "run", *options, str(path)],
            cwd=path.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            env=environment(),
            preexec_fn=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{what}: no end after {SECONDS:g} seconds") from None
    said = done.stderr.decode(errors="replace")
    assert 0 <= done.returncode <= 125, f"{what}: exit status {done.returncode}\n{said[-2000:]}"
    ours = [line for line in said.split("\n") if "/afterglow/" in line and 'File "' in line]
    assert not ours, f"{what}: frames of ours in the traceback\n{said[-2000:]}"
    if page and not said.startswith("afterglow run: "):
        html = Path(path.parent, "page.html").read_text(encoding="utf-8")
        assert html.endswith("</html>\n"), f"{what}: the page has no end"
    if done.returncode:
        assert said.strip(), f"{what}: exit status {done.returncode} without a word"


def _damaged(random: Any, content: bytes) -> bytes:
    """Return the bytes with some of them changed, or without their end."""
    bytes_ = bytearray(content)
    for _ in range(random.randint(1, 5)):
        if bytes_:
            bytes_[random.randrange(len(bytes_))] = random.randrange(256)
    return bytes(bytes_[: random.randrange(len(bytes_) + 1)] if random.random() < 0.5 else bytes_)


# --- texts ---


def _markdown(*cells: str) -> tuple[str, bytes]:
    text = "".join(f"```python\n{cell}\n```\n" for cell in cells)
    return ".md", text.encode("utf-8", "surrogatepass")


def _many(random: Any) -> int:
    return int(10 ** random.uniform(2, 5))


def _spaces(random: Any) -> tuple[str, bytes]:
    spaces = random.choice([" ", "\t", "\u00a0", " \t"]) * _many(random)
    line = random.choice(
        [
            "x = 1{0}\\{0}",
            "if 0:\n    !echo{0}x{0}",
            "{0}x = 1",
            "%time{0}1{0}",
            "a{0}={0}!true{0}",
            "{0}?x",
            "%%time{0}\n1",
            "{0}!",
            "a,{0}b{0}",
            "a{0}.{0}[{0}%",
            "x = 1 #{0}",
            "!pip{0}install",
        ]
    )
    return _markdown(line.format(spaces))


def _lines(random: Any) -> tuple[str, bytes]:
    count = _many(random) // 10
    line = random.choice(
        ["    !x", "    %x", "    a = !x", "    ?x", "    x?", "    \u201cx\u201d", "    !x \\"]
    )
    return _markdown("if 0:\n    pass\n" + "\n".join([line] * count))


def _fences(random: Any) -> tuple[str, bytes]:
    fence = random.choice(["```", "~~~", "````", "   ```", "`" * _many(random)])
    info = random.choice(["python", "{.python .input}", "{" * 50, "python" * 1000, ""])
    return ".md", (f"{fence}{info}\n1\n" * (_many(random) // 50)).encode()


def _quotes(random: Any) -> tuple[str, bytes]:
    return _markdown("\u201c" * (_many(random) // 10), "x = \u2018a" * (_many(random) // 50))


def _cells(random: Any) -> tuple[str, bytes]:
    return _markdown(*["1"] * (_many(random) // 20))


def _nesting(random: Any) -> tuple[str, bytes]:
    depth = _many(random)
    pair = random.choice(["()", "[]", "{}"])
    return _markdown(
        random.choice(
            [
                pair[0] * depth + pair[1] * depth,
                "-" * depth + "1",
                "not " * depth + "1",
                "+".join(["1"] * depth),
                "a" + ".b" * depth,
                "\n".join(" " * level + "if 1:" for level in range(min(depth, 300))),
                "x = " + "lambda: " * depth + "1",
                "1" * depth,
            ]
        )
    )


def _prompts(random: Any) -> tuple[str, bytes]:
    line = random.choice([">>> 1", ">>> !x{", "... 1", ">>> 1/0\nTraceback (", ">>> '\\ud800'"])
    return _markdown("\n".join([">>> 1", *[line] * (_many(random) // 30)]))


def _surrogates(random: Any) -> tuple[str, bytes]:
    cell = random.choice(
        [
            "print('\\ud800')",
            "raise ValueError('\\ud800')",
            "'\\ud800'",
            "import sys; sys.exit('\\ud800')",
            "exec(chr(0xd800))",
            "raise ValueError('\\ud800') from KeyError('\\udcff')",
            "!echo \ud800",
            "x = '\ud800'",
        ]
    )
    return random.choice([_markdown(cell), _notebook([cell])])


def _bytes(random: Any) -> tuple[str, bytes]:
    suffix = random.choice([".md", ".ipynb", ".txt", ".py"])
    text = "```python\nprint(1)\n```\n" if suffix != ".py" else "print(1)\n"
    encoding = random.choice(["utf-16", "utf-32", "utf-8-sig", "latin-1"])
    content = text.encode(encoding)
    return suffix, random.choice([content, bytes(1000), random.randbytes(2000), content * 200, b""])


# --- notebooks ---


def _notebook(sources: list[Any], **changed: Any) -> tuple[str, bytes]:
    cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in sources]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5} | changed
    return ".ipynb", json.dumps(notebook, indent=1).encode()


_VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1e308,
    float("nan"),
    "",
    "x",
    "\ud800",
    [],
    {},
    [[]],
    [None],
    {"cells": 1},
]


def _wrong_types(random: Any) -> tuple[str, bytes]:
    """A notebook with something else in one or two of its places."""
    cell: dict[str, Any] = {"cell_type": "code", "metadata": {"tags": []}, "source": ["1"]}
    notebook: dict[str, Any] = {"cells": [cell], "metadata": {}, "nbformat": 4}
    places: list[tuple[Any, str]] = [(notebook, key) for key in notebook]
    places += [(cell, key) for key in cell]
    places += [(cell["metadata"], "tags"), (notebook["metadata"], "language_info")]
    for _ in range(random.randint(1, 2)):
        place, key = random.choice(places)
        place[key] = random.choice(_VALUES)
    whole = notebook if random.random() < 0.9 else random.choice(_VALUES)
    return ".ipynb", json.dumps(whole).encode()


def _long_notebook(random: Any) -> tuple[str, bytes]:
    count = _many(random) // 10
    lines = [f"x = {number}\n" for number in range(count)]
    return random.choice(
        [
            lambda: _notebook([lines]),
            lambda: _notebook([["1"]] * (count // 10)),
            lambda: _notebook(["\n" * count]),
            lambda: _notebook(["if 0:\n" + "    !x\n" * count + "    pass"]),
            lambda: (".ipynb", b'"source": [\n' * count),
            lambda: (".ipynb", b'{"nbformat": 4, "cells": [' + b'"source": [\n' * count),
        ]
    )()


def _odd_json(random: Any) -> tuple[str, bytes]:
    depth = _many(random)
    return ".ipynb", random.choice(
        [
            b"[" * depth,
            b'{"a":' * depth,
            b'{"nbformat": ' + b"1" * depth + b"}",
            b'{"nbformat": 1e' + b"9" * depth + b"}",
            b'{"nbformat": 4, "cells": ' + b"[" * depth + b"]" * depth + b"}",
            b'{"nbformat": 4, "nbformat": 4, "cells": []}',
            b'"' + b"\\" * depth,
            b"\xef\xbb\xbf" * 3,
            b'{"nbformat": 4, "metadata": {"language_info": {"name": "\\ud800"}}}',
        ]
    )


_TEXTS: list[Callable[[Any], tuple[str, bytes]]] = [
    _spaces,
    _lines,
    _fences,
    _quotes,
    _cells,
    _nesting,
    _prompts,
    _surrogates,
    _bytes,
    _wrong_types,
    _long_notebook,
    _odd_json,
]
