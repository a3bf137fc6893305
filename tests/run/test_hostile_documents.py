# SPDX-License-Identifier: Apache-2.0
"""Documents that nobody wrote to be read: long, deep, half a character, without an end."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest
from support import run_command

from afterglow.documents import DocumentError, read
from afterglow.documents.syntax import parse


def fenced(text: str) -> str:
    return f"```python\n{text}\n```\n"


def notebook(source: str) -> str:
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]})


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.md", fenced(" " * 300_000 + "x"), "IndentationError: unexpected indent"),
        ("a.md", fenced("a" + " " * 300_000 + "?x"), "SyntaxError: invalid syntax"),
        ("a.md", "```" + " " * 300_000 + "`\n", "has no cells"),
        ("a.md", fenced("-" * 100_000 + "1"), "nested too deeply"),
        ("a.md", fenced("a" + ".a" * 100_000), "nested too deeply"),
        ("a.md", fenced("x\u00a0=\u00a01;" * 20_000), "non-printable character U+00A0"),
        ("a.ipynb", notebook("x = '\ud800'"), r"\ud800 is half of a character"),
        ("a.ipynb", notebook("!echo \ud800"), r"\ud800 is half of a character"),
        ("a.ipynb", notebook("%%bash\necho \ud800"), r"\ud800 is half of a character"),
        ("a.ipynb", '{"nbformat": ' + "9" * 10_000 + "}", "is no notebook"),
        ("a.ipynb", "[" * 100_000, "is no notebook"),
        ("a.ipynb", notebook(" \n"), "has no cells"),
    ],
)
def test_it_is_refused_in_a_few_words(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = run_command("run", "--quiet", name, folder=tmp_path, timeout=60)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_lines_that_are_mended_are_not_read_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python stops at the first line it refuses; what is before it was read already."""
    read_lines = 0
    python_parse = ast.parse

    def counting(text: str, filename: str) -> ast.Module:
        nonlocal read_lines
        try:
            tree = python_parse(text, filename)
        except SyntaxError as problem:
            read_lines += problem.lineno or 0
            raise
        read_lines += text.count("\n") + 1
        return tree

    monkeypatch.setattr(ast, "parse", counting)
    count = 1000
    tree, _ = parse("!x\ny = 1\nif y:\n    z = 2\n" * count, "x.md", 7)
    assert len(tree.body) == 3 * count
    assert [tree.body[0].lineno, tree.body[-1].lineno] == [7, 7 + 4 * count - 2]
    assert read_lines < 10 * 4 * count


@pytest.mark.parametrize("mark", ["else\u00a0:", "elif\u00a0x:", "finally\u00a0:", "except\u00a0:"])
def test_a_mended_line_may_go_on_with_the_statement_before(mark: str) -> None:
    word = mark.split("\u00a0")[0]
    opening = "if x:" if word in ("else", "elif") else "try:"
    middle = "" if word != "finally" else "except ValueError:\n    b = 2\n"
    text = f"{opening}\n    a = 1\n{middle}{mark}\n    c = 3\n"
    tree, _ = parse(text, "x.md", 1)
    assert ast.dump(tree) == ast.dump(ast.parse(text.replace("\u00a0", " ")))


def test_a_file_without_an_end_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "zero.md").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.py")
    for name in ("zero.md", "pipe.py"):
        done = run_command("run", name, folder=tmp_path, timeout=60)
        assert (done.returncode, done.stdout) == (2, "")
        assert "a file is needed" in done.stderr


def test_cells_of_a_long_notebook_have_the_lines_of_the_file(tmp_path: Path) -> None:
    """Equal cells stand where they stand, also after one that is not in the usual form."""
    sources = [["x = 1\n", "y"], "in one piece", ["x = 1\n", "y"], ["z"]]
    cells = [{"cell_type": "code", "source": one, "metadata": {}} for one in sources]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "cells": cells}, indent=1), encoding="utf-8")
    lines = path.read_text(encoding="utf-8").split("\n")
    firsts = [lines[cell.line - 1].strip() for cell in read(str(path)).cells]
    assert firsts == ['"x = 1\\n",', "{", '"x = 1\\n",', '"z"']
    with pytest.raises(DocumentError, match="cannot be read"):
        read("a\0.md")
