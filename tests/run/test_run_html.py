# SPDX-License-Identifier: Apache-2.0
"""``afterglow run --html``: a page with text, code, output, pictures and errors."""

from __future__ import annotations

import base64
import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support import run_command

from afterglow.documents.markup import html_of
from afterglow.documents.page import _coloured, _printed

_VOID = {"br", "hr", "img", "link", "meta"}

#: Matplotlib for tests: its figures are files that say which figure they are.
PYPLOT = """
rcParams = {}
class Figure:
    def __init__(self, number): self.number, self.axes = number, []
    def get_axes(self): return self.axes
    def savefig(self, file, format, **options): file.write(f"figure {self.number}".encode())
_figures = {}
def figure(number=None):
    return _figures.setdefault(number or len(_figures) + 1, Figure(number or len(_figures) + 1))
def plot(*points): figure(max(_figures, default=1)).axes.append(points)
def get_fignums(): return sorted(_figures)
def close(which): _figures.clear()
"""


class Balance(HTMLParser):
    """Fails for elements that are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: object) -> None:
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_balance(html: str) -> str:
    parser = Balance()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return html


def page_of(folder: Path, name: str, text: str, *options: str, status: int = 0) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    done = run_command("run", "--html", "page.html", *options, name, folder=folder)
    assert done.returncode == status, done.stderr
    return check_balance((folder / "page.html").read_text(encoding="utf-8"))


def outputs_of(page: str) -> list[str]:
    """Return the texts of outputs, without marks."""
    found = re.findall(r'<div class="output[^"]*">(.*?)</div>(?:</div>)?(?=<div|</sec)', page, re.S)
    return [unescape(re.sub(r"<[^>]*>", " ", one)).strip() for one in found]


def install_matplotlib(folder: Path) -> None:
    (folder / "matplotlib").mkdir()
    (folder / "matplotlib" / "__init__.py").write_text("", encoding="utf-8")
    (folder / "matplotlib" / "pyplot.py").write_text(PYPLOT, encoding="utf-8")


CHAPTER = """\
# A chapter
:label:`sec_chapter`

Some *words* & a [link](https://d2l.ai), see :numref:`sec_other`.

:begin_tab:`pytorch`
Not for these readers.
:end_tab:

![](dot.svg)

```{.python .input}
#@tab mxnet
from mxnet import nd
from matplotlib import pyplot as plt
print("a < b")
plt.plot([1, 2])
nd.ones((2, 2))
```

```{.python .input}
#@tab pytorch
import torch
```

```{.python .input}
!echo from a command
display(HTML("<b>bold</b>"))
```

```{.python .input}
1 / 0
```

The *end*.
"""


def test_a_chapter_becomes_a_page(tmp_path: Path) -> None:
    install_matplotlib(tmp_path)
    (tmp_path / "dot.svg").write_text("<svg/>", encoding="utf-8")
    text = CHAPTER.replace("!echo", "from IPython.display import HTML, display\n!echo")
    page = page_of(tmp_path, "chapter.md", text, "--keep-going", status=1)
    assert "<h1>A chapter</h1>" in page
    assert '<em>words</em> &amp; a <a href="https://d2l.ai">link</a>' in page
    assert "The <em>end</em>." in page
    for left_out in ("sec_chapter", "Not for these", "import torch"):
        assert left_out not in page
    for picture in (b"<svg/>", b"figure 1"):
        assert base64.b64encode(picture).decode() in page
    assert "<b>bold</b>" in page
    shown = outputs_of(page)
    assert "a < b" in shown
    assert any(one.startswith("NDArray 2x2 float32 @cpu(0)") for one in shown)
    assert any("from a command" in one for one in shown)
    assert 'failed: <a class="bad" href="#cell-4">cell 4</a>' in page
    failed = page[page.index('class="cell failed" id="cell-4"') :]
    assert "ZeroDivisionError: division by zero" in failed
    assert 'src="http' not in page
    assert not (tmp_path / "chapter-figures").exists()


def test_in_the_terminal_figures_are_files(tmp_path: Path) -> None:
    install_matplotlib(tmp_path)
    cells = [
        "import matplotlib.pyplot as plt\nplt.plot(1)\nplt.figure(2)\nplt.figure(3)\nplt.plot(3)",
        "plt.figure()",  # with nothing in it
        "import os\nos.chdir('/')\nplt.plot(4);",
    ]
    text = "\n".join(f"```python\n{cell}\n```\n" for cell in cells)
    (tmp_path / "chapter.md").write_text(text, encoding="utf-8")
    done = run_command("run", "chapter.md", folder=tmp_path)
    folder = tmp_path / "chapter-figures"
    told = [line for line in done.stderr.splitlines() if line.startswith("figure: ")]
    names = ["cell-1.png", "cell-1-2.png", "cell-3.png"]
    assert told == [f"figure: {folder / name}" for name in names]
    assert [(folder / name).read_text() for name in names] == ["figure 1", "figure 3", "figure 1"]


def test_a_notebook_becomes_a_page(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["## Title\n", "\n", "* one\n"]},
        {"cell_type": "code", "metadata": {}, "source": "%%trace\n1 + 1", "outputs": []},
        {"cell_type": "raw", "metadata": {}, "source": "raw words"},
        {
            "cell_type": "code",
            "metadata": {"tags": ["skip-execution"]},
            "source": "print('no')",
            "outputs": [],
        },
    ]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    page = page_of(tmp_path, "book.ipynb", json.dumps(notebook))
    assert page.index("<h2>Title</h2>") < page.index("<li>one</li>") < page.index("cell-1")
    assert "2" in outputs_of(page)
    assert "srcdoc=" in page
    assert "Trace of cell 1" in page
    assert "raw words" not in page
    assert "skipped: its tag is skip-execution" in page


def test_a_script_becomes_a_page(tmp_path: Path) -> None:
    page = page_of(tmp_path, "program.py", "import sys\nprint(1)\nprint(2, file=sys.stderr)\n")
    assert outputs_of(page) == ["1\n2"]
    bytes_too = "import sys\nsys.stdout.buffer.write(b'raw')\nsys.stdout.reconfigure()\nprint(3)\n"
    assert outputs_of(page_of(tmp_path, "program.py", bytes_too)) == ["3"]
    failing = page_of(tmp_path, "program.py", "print(1)\nraise ValueError('<no>')\n", status=1)
    assert "ValueError: &lt;no&gt;" in failing
    assert "failed: " in failing
    leaving = page_of(tmp_path, "program.py", "print('bye')\nraise SystemExit(3)\n", status=3)
    assert outputs_of(leaving) == ["bye"]


def test_what_is_taken_back_is_not_shown(tmp_path: Path) -> None:
    text = """\
```python
from IPython.display import clear_output
for epoch in range(3):
    print("epoch", epoch)
    clear_output(wait=True)
```

```python
import sys
print("10 %\\r20 %\\rdone \\x1b[31mred\\x1b[0m")
```
"""
    assert outputs_of(page_of(tmp_path, "text.md", text)) == ["epoch 2", "done red"]


def test_the_terminal_shows_the_same_as_without_a_page(tmp_path: Path) -> None:
    text = "```python\nprint(1)\n2\n```\n```python\n!echo 3\n```\n"
    (tmp_path / "text.md").write_text(text, encoding="utf-8")
    plain = run_command("run", "text.md", folder=tmp_path)
    paged = run_command("run", "--html", "page.html", "text.md", folder=tmp_path)
    assert plain.stdout == paged.stdout == "1\n2\n3\n"
    without_times = [re.sub(r"[\d.]+ s$", "", one.stderr.strip()) for one in (plain, paged)]
    assert without_times[0] == without_times[1]


def test_a_page_that_cannot_be_written_is_told_first(tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("```python\nprint(1)\n```\n", encoding="utf-8")
    done = run_command("run", "--html", "none/page.html", "text.md", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot write none/page.html: there is no folder" in done.stderr


def _row(tag: str, *places: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{one}</{tag}>' for one in places)}</tr>"


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("## Two ##", "<h2>Two</h2>"),
        ("one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>"),
        ("**a _b_ c** `x*y*z`", "<p><strong>a <em>b</em> c</strong> <code>x*y*z</code></p>"),
        ("snake_case_name 2 * 3 * 4", "<p>snake_case_name 2 * 3 * 4</p>"),
        ("$a_1 * b_2 *$", '<p><span class="formula">$a_1 * b_2 *$</span></p>'),
        ("$$\na_1\n$$", '<pre class="formula">$$\na_1\n$$</pre>'),
        ("* a\n* b\n    1. c\n* d", "<ul><li>a</li><li>b\n<ol><li>c</li></ol></li><li>d</li></ul>"),
        ("- a\n\n  more\n- b", "<ul><li>a\n<p>more</p></li><li>b</li></ul>"),
        ("> a\n> b", "<blockquote><p>a\nb</p></blockquote>"),
        (
            "a|b\n-|-\n1|2",
            "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
        ),
        ("    code <x>", "<pre>code &lt;x&gt;</pre>"),
        ("```c\n*a*\n```", "<pre>*a*</pre>"),
        ("---", "<hr>"),
        ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>"),
        ("[a](javascript:x)", "<p>a</p>"),
        (r"\*a\*", "<p>*a*</p>"),
        ("text :label:`l`", "<p>text</p>"),
        ("![a](http://x/y.png)", '<p><a href="http://x/y.png">[picture: a]</a></p>'),
    ],
)
def test_markdown(markdown: str, html: str, tmp_path: Path) -> None:
    assert check_balance(html_of(markdown, tmp_path)) == html


@pytest.mark.parametrize(
    "text",
    [
        *("*a " * 30000, "[" * 50000, "> " * 20000, "`" * 50001, "- " * 20000, "$" * 9999),
        *("**" * 9999, "![a](" * 3000, "| a " * 20000 + "\n|-|\n", "_a" * 9000),
        *("a" + " " * 100_000 + "b", " " * 100_000 + "?", "a|b\n" + "-" * 50_000 + "x"),
        *(" " * 50_000 + "|\n" + " " * 50_000 + "x", ":label:`" * 10_000, "* " * 20_000 + "x"),
        "\n".join(" " * n + "- x" for n in range(300)),
    ],
)
def test_hostile_markdown_is_shown(text: str, tmp_path: Path) -> None:
    check_balance(html_of(text, tmp_path))
    shown = "".join(_coloured(f"x = 1\n{text}"))
    assert unescape(re.sub(r"</?span[^>]*>", "", shown)) == f"x = 1\n{text}"


def test_code_is_shown_letter_for_letter() -> None:
    source = "%magic x\nfor x in '<a>':  # why\x0c&\u2028how\n    print(f'{x}')\n\tbad \"\n"
    assert unescape(re.sub(r"<[^>]*>", "", "".join(_coloured(source)))) == source
    assert '<span class="k">for</span>' in "".join(_coloured("for x in y: pass"))


def test_long_output_is_cut() -> None:
    shown = _printed("a" * 10**6)
    assert len(shown) < 110_000
    assert "900000 characters are left out" in shown
