# SPDX-License-Identifier: Apache-2.0
"""A document and what became of it as one HTML file that needs nothing else."""

from __future__ import annotations

import io
import keyword
import os
import re
import token
import tokenize
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

from .cells import Cell, Document, Text
from .markup import html_of
from .outputs import Output, Shown

#: Of what a cell prints so many characters are shown, half of them from each end.
_MOST_PRINTED = 100_000

#: Code with longer lines has no colours.
_LONGEST_LINE = 1000

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

#: How pages look that have text and code.
STYLE = """
:root { color-scheme: light dark; --ink: #1c2127; --faint: #5d6670; --paper: #fff;
  --raised: #f4f5f7; --line: #d9dde2; --key: #8250a8; --text: #1a7f4b; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #dfe3e8; --faint: #98a2ad; --paper: #16191d;
  --raised: #1f242a; --line: #353c44; --key: #c7a0e8; --text: #7fce9f; --bad: #ff8a80; } }
body { background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif;
  margin: 0 auto; max-width: 54rem; padding: 1.5rem; overflow-wrap: break-word; }
header { color: var(--faint); border-bottom: 1px solid var(--line); margin-bottom: 1.5rem; }
header .bad { color: var(--bad); }
pre, code, .formula { font: 13.5px/1.45 ui-monospace, monospace; }
pre { margin: 0; overflow-x: auto; padding: .6rem .8rem; white-space: pre-wrap; }
p > code, li > code, td > code { background: var(--raised); border-radius: 3px; padding: 0 .25em; }
.formula { color: var(--faint); }
body > pre { background: var(--raised); margin: 1em 0; }
img { max-width: 100%; }
.output img { background: #fff; border-radius: 4px; }
table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: .2em .6em; }
blockquote { border-left: 3px solid var(--line); color: var(--faint); margin: 1em 0;
  padding-left: 1em; }
.cell { border: 1px solid var(--line); border-radius: 6px; margin: 1em 0; overflow: hidden; }
.cell.failed { border-color: var(--bad); }
.code { background: var(--raised); position: relative; }
.place { color: var(--faint); font: 11.5px system-ui, sans-serif; padding: .3rem .8rem 0;
  display: flex; justify-content: space-between; }
.output { border-top: 1px solid var(--line); overflow-x: auto; }
.output > div { padding: .5rem .8rem; }
.error { color: var(--bad); }
.skipped { opacity: .6; }
.k { color: var(--key); } .s { color: var(--text); } .c { color: var(--faint); }
"""


def write_page(document: Document, shown: Mapping[int, Shown], path: str) -> None:
    """Write text, code, output and pictures of a document that was run."""
    title = os.path.basename(document.path)
    failed = [n for n, cell in shown.items() if any(one.kind == "error" for one in cell.outputs)]
    links = ", ".join(
        f'<a class="bad" href="#cell-{number}">cell {number}</a>' for number in failed
    )
    seconds = sum(cell.seconds for cell in shown.values())
    summary = f"{len(shown)} cell{'s' if len(shown) != 1 else ''} run in {seconds:.1f} s"
    summary += f'; <span class="bad">failed: {links}</span>' if failed else ""
    folder = Path(document.path).parent
    body = "\n".join(_part(part, shown, folder) for part in document.parts)
    page = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n<link rel="icon" href="data:,">\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header><p>{escape(title)}: {summary}</p></header>\n{body}\n</body>\n</html>\n"
    )
    with open(path, "w", encoding="utf-8", errors="replace", newline="\n") as file:
        file.write(page)


def _part(part: Text | Cell, shown: Mapping[int, Shown], folder: Path) -> str:
    if isinstance(part, Text):
        return html_of(part.markdown, folder)
    if part.is_for_others or not part.source.strip():
        return ""
    run = shown.get(part.number)
    outputs = run.outputs if run is not None else []
    failed = any(output.kind == "error" for output in outputs)
    note = part.skipped and f"skipped: {part.skipped}"
    if not note:
        note = "not run" if run is None else _seconds(run.seconds)
    kinds = "".join([" failed" * failed, " skipped" * (run is None)])
    place = f"<span>cell {part.number}</span><span>{escape(note)}</span>"
    code = "".join(_coloured(part.source.strip("\n")))
    return (
        f'<section class="cell{kinds}" id="cell-{part.number}"><div class="code">'
        f'<div class="place">{place}</div><pre>{code}</pre></div>'
        f"{''.join(map(_output, outputs))}</section>"
    )


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.95 else f"{seconds * 1000:.0f} ms"


def _output(output: Output) -> str:
    if output.kind == "html":
        return f'<div class="output"><div>{output.content}</div></div>'
    text = _printed(output.content)
    kind = " error" if output.kind == "error" else ""
    return f'<div class="output{kind}"><pre>{escape(text)}</pre></div>' if text.strip() else ""


def _printed(text: str) -> str:
    """Return a text as a terminal shows it in the end: without colours and overwritten lines."""
    if len(text) > _MOST_PRINTED:
        half = _MOST_PRINTED // 2
        left = len(text) - 2 * half
        text = f"{text[:half]}\n... {left} characters are left out ...\n{text[-half:]}"
    lines = _ESCAPES.sub("", text).rstrip("\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def _coloured(source: str) -> Iterator[str]:
    """Yield code in pieces, words of Python, texts and comments marked."""
    lines = source.split("\n")
    if max(map(len, lines)) > _LONGEST_LINE:  # which may take the reader of words long
        yield escape(source)
        return
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    passed = 0
    try:
        for one in tokenize.generate_tokens(io.StringIO(source).readline):
            kind = {token.STRING: "s", token.COMMENT: "c"}.get(one.type, "")
            if one.type == token.NAME and keyword.iskeyword(one.string):
                kind = "k"
            if kind:
                begin, end = (starts[row - 1] + column for row, column in (one.start, one.end))
                yield escape(source[passed:begin])
                yield f'<span class="{kind}">{escape(source[begin:end])}</span>'
                passed = end
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass  # magics, and what Python does not understand
    yield escape(source[passed:])
