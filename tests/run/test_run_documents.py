# SPDX-License-Identifier: Apache-2.0
"""Cells read out of documents, and what becomes of their text."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from afterglow.documents import Cell, DocumentError, read
from afterglow.documents.syntax import compile_cell, parse


def cells_of(folder: Path, text: str, name: str = "chapter.md") -> list[Cell]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return list(read(str(path)).cells)


def sources(cells: list[Cell]) -> list[str]:
    return [cell.source.strip("\n") for cell in cells if not cell.skipped]


def assert_lines_are_those_of_the_file(cells: list[Cell]) -> None:
    """A cell's lines stand where it says, but for indentation, quotes and escapes of the file."""
    for cell in cells:
        lines = Path(cell.filename).read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(cell.source.split("\n"), cell.line):
            assert line.strip() in lines[number - 1]


BOOK = """\
# A chapter

```{.python .input  n=1}
a = 1
```

Text with `code`, and a block to be read only:

```python
raise SystemError
```

```{.python .input #a-name}
#@tab mxnet, pytorch
b = 2
```
```{.python .input}
#@tab pytorch
import torch
```
```{.python .input}
%%tab tensorflow, jax
import jax
```
```{.input .python}
%%tab all
c = 3
```
```{.r .input}
d <- 4
```
````{.python .input}
# hide
e = '''
```
'''
````
```{.python}
raise SystemError
```
"""


def test_chapter_of_a_book(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, BOOK, "chapter.txt")
    assert sources(cells) == ["a = 1", "b = 2", "c = 3", "# hide\ne = '''\n```\n'''"]
    assert [(cell.number, cell.line) for cell in cells] == [
        (1, 4),
        (2, 14),
        (3, 18),
        (4, 22),
        (5, 26),
        (6, 33),
    ]
    assert [cell.skipped for cell in cells if cell.skipped] == [
        "it is for pytorch",
        "it is for tensorflow, jax",
    ]
    assert_lines_are_those_of_the_file([cell for cell in cells if "tab" not in cell.source])


ORDINARY = """\
```python
a = 1
```

~~~ py title="x"
b = '''
```python
'''
~~~

1. a list

   ```python3
   if b:
       c = 3
   ```

\t```{.python}
\td = 4
\t```

```bash
rm -rf x
```

```
not Python
```

``` Python
e = 5
```

```python
```
"""


def test_ordinary_text(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, ORDINARY)
    assert sources(cells) == [
        "a = 1",
        "b = '''\n```python\n'''",
        "if b:\n    c = 3",
        "d = 4",
        "e = 5",
    ]
    assert_lines_are_those_of_the_file(cells)


def test_line_ends_of_windows_and_a_mark_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_bytes(b"\xef\xbb\xbf```python\r\na = 1\r\nb = 2\r\n```\r\n")
    [cell] = read(str(tmp_path / "x.md")).cells
    assert (cell.source, cell.line) == ("a = 1\nb = 2", 2)


def test_recorded_session(tmp_path: Path) -> None:
    text = "```pycon\n>>> for i in range(2):\n...     i\n0\n1\n>>> 1 / 0\nTraceback (x):\n```\n"
    [cell] = cells_of(tmp_path, text)
    assert cell.source == "for i in range(2):\n    i\n\n\n1 / 0\n"
    assert cell.prompts
    assert cell.may_fail
    [plain] = cells_of(tmp_path, "```python\nx = '''\n>>> no\n'''\n```\n")
    assert not plain.prompts


# --- notebooks ---


def notebook(version: int = 4, *, joined: bool = False) -> dict[str, Any]:
    texts = [
        ("markdown", ["a = 1\n", "b = 2"], []),
        ("code", ["a = 1\n", "b = '中文'\n", "\n", 'c = "x\\ty"'], []),
        ("code", [], []),
        ("raw", ["d"], []),
        ("code", ["a = 1\n", "b = 2"], ["skip-execution"]),
        ("code", ["a = 1"], ["raises-exception", "other"]),
    ]
    cells = []
    for kind, lines, tags in texts:
        source = "".join(lines) if joined else lines
        key = "input" if version == 3 and kind == "code" else "source"
        cells.append({"cell_type": kind, "metadata": {"tags": tags}, "outputs": [], key: source})
    inside = {"worksheets": [{"cells": cells}]} if version == 3 else {"cells": cells}
    return {**inside, "metadata": {}, "nbformat": version, "nbformat_minor": 0}


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_notebook(tmp_path: Path, version: int, ascii_only: bool) -> None:
    text = json.dumps(notebook(version), indent=1, ensure_ascii=ascii_only)
    cells = cells_of(tmp_path, text, "n.ipynb")
    assert [cell.source for cell in cells] == [
        "a = 1\nb = '中文'\n\nc = \"x\\ty\"",
        "",
        "a = 1\nb = 2",
        "a = 1",
    ]
    assert [bool(cell.skipped) for cell in cells] == [False, False, True, False]
    assert [cell.may_fail for cell in cells] == [False, False, False, True]
    written = text.split("\n")
    for cell in cells:
        for number, line in enumerate(cell.source.split("\n") if cell.source else [], cell.line):
            assert json.loads(written[number - 1].strip().rstrip(",")).rstrip("\n") == line
    assert cells[0].filename == str(tmp_path / "n.ipynb")


def test_notebook_for_several_frameworks(tmp_path: Path) -> None:
    sources = [["%%tab mxnet\n", "a = 1"], ["#@tab jax\n", "b = 2"], "%%tab all\nc = 3", "%%tab"]
    cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in sources]
    read = cells_of(tmp_path, json.dumps({"nbformat": 4, "cells": cells}, indent=1), "n.ipynb")
    assert [cell.source for cell in read] == ["\na = 1", "\nb = 2", "\nc = 3", "%%tab"]
    assert [cell.skipped for cell in read] == ["", "it is for jax", "", ""]


@pytest.mark.parametrize("joined", [True, False])
def test_notebook_whose_file_has_no_such_lines(tmp_path: Path, joined: bool) -> None:
    text = json.dumps(notebook(joined=joined), indent=1 if joined else None)
    cells = cells_of(tmp_path, text, "n.ipynb")
    assert [(cell.filename.rpartition("/")[2], cell.line) for cell in cells] == [
        (f"n.ipynb#cell-{number}", 1) for number in (1, 2, 3, 4)
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.md", "no cells here", "has no cells; fenced blocks"),
        ("x.md", "\n```python\nx = 1\n", ":2: the fenced block is never closed"),
        ("x.md", b"\xff", "is not UTF-8: byte 0xff at 0"),
        ("x.rst", "x", "is no file to run; .py, .ipynb, .md and .txt are"),
        ("x.ipynb", "{", "is no notebook; JSON is needed: Expecting"),
        ("x.ipynb", "[]", "is no notebook: it has no nbformat"),
        ("x.ipynb", '{"nbformat": 2}', "is a notebook of format 2; 3 or 4 is needed"),
        ("x.ipynb", '{"nbformat": 4, "cells": [1]}', "is no notebook"),
        ("x.ipynb", '{"nbformat": 4}', "has no cells"),
        (
            "x.ipynb",
            '{"nbformat": 4, "metadata": {"language_info": {"name": "R"}}}',
            "is a notebook in R; Python is needed",
        ),
    ],
)
def test_refused(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DocumentError) as caught:
        read(str(path))
    assert str(caught.value).startswith(f"{path}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="No such file"):
        read(str(tmp_path / "x.md"))
    with pytest.raises(DocumentError, match="is a folder"):
        read(str(tmp_path))


# --- text that is not quite Python ---


def parsed(source: str) -> str:
    return ast.dump(parse(source, "x.md", 5)[0])


@pytest.mark.parametrize(
    ("source", "meant"),
    [
        ("a\u00a0=\u00a01", "a = 1"),
        ("if\u3000a:\n\u00a0\u00a0\u00a0\u00a0b = 2", "if a:\n    b = 2"),
        ("a = 1\u200b\nb\u2009= 2\u00a0", "a = 1\nb = 2"),
        ("print(\u201ca\u201d, \u2018b\u2019)", "print(\"a\", 'b')"),
        ("print(\u201ca\u201d, 'keep \u201cthis\u201d')", "print(\"a\", 'keep \u201cthis\u201d')"),
        ("a = 3 \u2212 1", "a = 3 - 1"),
        ("a = 1 + \\  \n  2", "a = 1 + \\\n  2"),
    ],
)
def test_characters_that_only_look_like_code(source: str, meant: str) -> None:
    assert parsed(source) == parsed(meant)


def test_strings_and_comments_keep_their_characters() -> None:
    source = "a = '\u00a0\u3000\u201c'  # \u00a0\u201c"
    assert ast.literal_eval(parse(source, "x.md")[0].body[0].value) == "\u00a0\u3000\u201c"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("source", "meant"),
    [
        ("%matplotlib inline\na = 1", "__notebook__.magic('matplotlib', 'inline', 5)\na = 1"),
        ("if a:\n    %time f('x')", "if a:\n    __notebook__.magic('time', \"f('x')\", 6)"),
        ("!ls it's | wc", '__notebook__.shell("ls it\'s | wc")'),
        ("!pip \\\n  x\na = 1", "__notebook__.shell('pip    x')\n\na = 1"),
        ("files = !ls", "files = __notebook__.lines_of('ls')"),
        ("nd.dot?", "__notebook__.help('nd.dot')"),
        ("?nd.dot", "__notebook__.help('nd.dot')"),
        ("a = (7\n%2)", "a = (7\n%2)"),
        ("a = '''\n%x\n!y\n'''", "a = '''\n%x\n!y\n'''"),
    ],
)
def test_magics_become_calls(source: str, meant: str) -> None:
    tree = parse(source, "x.md", 5)[0]
    assert ast.dump(tree) == parsed(meant)
    assert tree.body[0].lineno >= 5


def test_wrong_syntax_is_told_with_the_line_of_the_file() -> None:
    with pytest.raises(SyntaxError) as caught:
        parse("%time f()\nx = = 1\n", "x.md", 40)
    assert (caught.value.filename, caught.value.lineno, caught.value.text) == (
        "x.md",
        41,
        "x = = 1\n",
    )


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("1\n2", [2]),
        ("1;\n", []),
        ("(1) ; # why", []),
        ("'中文';", []),
        ("'; '", ["; "]),
        ("x = 1", []),
        ("for i in range(3):\n    i", []),
        ("1; 2", [2]),
        ("", []),
    ],
)
def test_what_is_shown(source: str, shown: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    values: list[object] = []
    monkeypatch.setattr("sys.displayhook", values.append)
    tree, lines = parse(source, "x.md", 3)
    for code in compile_cell(tree, lines, "x.md", 3):
        exec(code, {})
    assert values == shown
