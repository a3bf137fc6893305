# SPDX-License-Identifier: Apache-2.0
"""Markdown as HTML: as much of it as chapters and notebooks use.

Everything is escaped, also HTML in the text; formulas stay as they are written. The books' own
marks are understood: ``:label:``, ``:numref:``, texts for some frameworks only. Pictures are
embedded, so that a page needs no other file.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from .cells import is_for_mxnet

_PICTURES = {
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}
_LARGEST_PICTURE = 20_000_000

#: Lists and quotations in each other, and characters of a paragraph; more is shown as plain text.
_DEEPEST, _LONGEST = 8, 20_000

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*+){3,}|(?:-[ \t]*+){3,}|(?:_[ \t]*+){3,})$")
_ITEM = re.compile(r"(?P<indent> *)(?P<mark>[-*+]|\d{1,9}[.)])(?P<gap> +)(?P<text>.*)")
_TAB = re.compile(r"\s*:begin_tab:`([^`]*)`\s*$")
#: Marks of the books that stand for nothing a reader sees.
_MARKS = re.compile(r":(?:label|eqlabel|width|height|ref):`[^`]{0,200}`")

# What is tried at each place ends after so many characters, or a long paragraph would take long.
_INLINE = re.compile(
    r"\\(?P<plain>[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`{1,3})(?P<code>.{1,1000}?)(?<!`)(?P=ticks)(?!`)"
    r"|(?P<formula>\$\$[^$]{1,2000}\$\$|\$(?=\S)[^$]{1,1000}(?<=\S)\$)"
    r"|:(?:numref|eqref|cite[pt]?|citet|ref):`(?P<role>[^`]{1,200})`"
    r"|!\[(?P<alt>[^\]]{0,500})\]\((?P<picture>[^)\s]{1,1000}+)(?:\s[^)]{0,200}+)?\)"
    r"|\[(?P<label>(?:[^\[\]]|\[[^\[\]]{0,200}\]){1,500}+)\]"
    r"\((?P<address>[^)\s]{1,1000}+)(?:\s[^)]{0,200}+)?\)"
    r"|<(?P<link>https?://[^<>\s]{1,1000})>"
    r"|\*\*(?=\S)(?P<strong>.{1,1000}?)(?<=\S)\*\*"
    r"|\*(?=[^\s*])(?P<weak>[^*]{1,1000}?)(?<=\S)\*(?!\*)"
    r"|(?<!\w)__(?=\S)(?P<strong2>.{1,1000}?)(?<=\S)__(?!\w)"
    r"|(?<!\w)_(?=[^\s_])(?P<weak2>[^_]{1,1000}?)(?<=\S)_(?!\w)",
    re.DOTALL,
)
_ADDRESS = re.compile(r"(?:https?:|mailto:|#|[^:]*$)", re.IGNORECASE)


def html_of(markdown: str, folder: Path) -> str:
    """Return a text as HTML; pictures are looked for from a folder on."""
    return "\n".join(_blocks(list(_read(markdown)), folder, 0))


def picture(data: bytes, kind: str, alt: str = "", width: int = 0) -> str:
    """Return a picture that is part of the page; a width in pixels, unless it is its own."""
    text = base64.b64encode(data).decode("ascii")
    size = f' width="{width}"' if width else ""
    return f'<img alt="{escape(alt)}"{size} src="data:{kind};base64,{text}">'


def _read(markdown: str) -> Iterator[str]:
    """Yield the lines for readers of the part on MXNet, without marks."""
    shown, fence = True, ""
    for line in markdown.expandtabs(4).split("\n"):
        fenced = _FENCE.match(line)
        if fenced is not None and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else fenced[1]
        elif not fence:
            tab = _TAB.match(line)
            if tab is not None or line.strip() == ":end_tab:":
                shown = tab is None or is_for_mxnet(tab[1])
                continue
            bare = _MARKS.sub("", line)
            if bare != line and not bare.strip():
                continue
            line = line if bare == line else bare.rstrip()
        if shown:
            yield line


# --- blocks ---


def _blocks(lines: list[str], folder: Path, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        yield f"<p>{escape(' '.join(lines))}</p>"
        return
    number = 0
    while number < len(lines):
        line = lines[number]
        if not line.strip():
            number += 1
        elif (fence := _FENCE.match(line)) is not None:
            end = _until(lines, number + 1, lambda one, mark=fence[1]: one.strip().startswith(mark))
            yield f"<pre>{escape(chr(10).join(lines[number + 1 : end]))}</pre>"
            number = end + 1
        elif (heading := _HEADING.match(line)) is not None:
            level, text = len(heading[1]), heading[2].rstrip("# ")
            yield f"<h{level}>{_inline(text, folder)}</h{level}>"
            number += 1
        elif line.strip().startswith("$$"):
            # A line that opens and closes is whole; else the formula ends where the next $$ is.
            whole = line.strip().count("$$") > 1
            end = number if whole else _until(lines, number + 1, lambda one: "$$" in one)
            yield f'<pre class="formula">{escape(chr(10).join(lines[number : end + 1]))}</pre>'
            number = end + 1
        elif _RULE.match(line):
            yield "<hr>"
            number += 1
        elif line.lstrip().startswith(">"):
            end = _until(lines, number, lambda one: not one.lstrip().startswith(">"))
            inner = [one.lstrip()[1:].removeprefix(" ") for one in lines[number:end]]
            yield f"<blockquote>{chr(10).join(_blocks(inner, folder, depth + 1))}</blockquote>"
            number = end
        elif (item := _ITEM.match(line)) is not None:
            end = _end_of_list(lines, number, len(item["indent"]))
            yield _list(lines[number:end], folder, depth)
            number = end
        elif line.startswith("    "):
            end = _until(lines, number, lambda one: bool(one.strip()) and one[:4].strip() != "")
            code = "\n".join(one[4:] for one in lines[number:end]).rstrip()
            yield f"<pre>{escape(code)}</pre>"
            number = end
        elif "|" in line and number + 1 < len(lines) and _is_rule_of_table(lines[number + 1]):
            end = _until(lines, number + 2, lambda one: "|" not in one)
            yield _table([line, *lines[number + 2 : end]], folder)
            number = end
        else:
            end = _until(lines, number + 1, _begins_block)
            yield f"<p>{_inline(chr(10).join(lines[number:end]).strip(), folder)}</p>"
            number = end


def _is_rule_of_table(line: str) -> bool:
    return "-" in line and set(line) <= set(" :|-")


def _until(lines: list[str], start: int, is_end: object) -> int:
    """Return the first line from a start on that ends something, or how many there are."""
    assert callable(is_end)
    return next((n for n in range(start, len(lines)) if is_end(lines[n])), len(lines))


def _begins_block(line: str) -> bool:
    begins = (_HEADING, _FENCE, _RULE, _ITEM)
    return (
        not line.strip()
        or line.lstrip().startswith((">", "$$"))
        or any(pattern.match(line) for pattern in begins)
    )


def _end_of_list(lines: list[str], start: int, indent: int) -> int:
    """Return where a list ends: at a line that is neither an item nor further to the right."""
    for number in range(start + 1, len(lines)):
        line = lines[number]
        margin = len(line) - len(line.lstrip())
        if not line.strip() or margin > indent or (margin == indent and _ITEM.match(line)):
            continue
        if not lines[number - 1].strip() or _begins_block(line):
            return number
    return len(lines)


def _list(lines: list[str], folder: Path, depth: int) -> str:
    first = _ITEM.match(lines[0])
    assert first is not None
    indent = len(first["indent"])
    items: list[list[str]] = []
    for line in lines:
        item = _ITEM.match(line)
        if item is not None and (len(item["indent"]) <= indent or not items):
            items.append([item["text"]])
            width = len(item["indent"]) + len(item["mark"]) + min(len(item["gap"]), 4)
        else:
            margin = len(line) - len(line.lstrip())
            items[-1].append(line[min(margin, width) :])
    name = "ol" if first["mark"][0].isdigit() else "ul"
    shown = (_item(item, folder, depth) for item in items)
    return f"<{name}>{''.join(f'<li>{one}</li>' for one in shown)}</{name}>"


def _item(lines: list[str], folder: Path, depth: int) -> str:
    blocks = list(_blocks(lines, folder, depth + 1))
    if blocks and blocks[0].startswith("<p>"):  # the first words stand beside the mark
        blocks[0] = blocks[0].removeprefix("<p>").removesuffix("</p>")
    return "\n".join(blocks)


def _table(lines: list[str], folder: Path) -> str:
    rows = [re.split(r"(?<!\\)\|", line.strip().strip("|"))[:100] for line in lines]
    head, *body = (
        "".join(f"<{tag}>{_inline(one.strip(), folder)}</{tag}>" for one in row)
        for tag, row in zip(["th"] + ["td"] * (len(rows) - 1), rows, strict=True)
    )
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in body)}</table>"


# --- lines ---


def _inline(text: str, folder: Path, depth: int = 0) -> str:
    if len(text) > _LONGEST or depth > _DEEPEST:
        return escape(text)
    parts, passed = [], 0
    for found in _INLINE.finditer(text):
        parts += [escape(text[passed : found.start()]), _marked(found, folder, depth)]
        passed = found.end()
    return "".join([*parts, escape(text[passed:])])


def _marked(found: re.Match[str], folder: Path, depth: int) -> str:
    """Return what a mark and the words in it become."""
    if found["plain"] is not None:
        return escape(found["plain"])
    if found["code"] is not None:
        return f"<code>{escape(found['code'].strip())}</code>"
    if found["formula"] is not None:
        return f'<span class="formula">{escape(found["formula"])}</span>'
    if found["role"] is not None:
        return f"<em>{escape(found['role'])}</em>"
    if found["picture"] is not None:
        return _picture(found["picture"], found["alt"], folder)
    if found["link"] is not None:
        return f'<a href="{escape(found["link"])}">{escape(found["link"])}</a>'
    if found["label"] is not None:
        label = _inline(found["label"], folder, depth + 1)
        if _ADDRESS.match(found["address"]) is None:
            return label
        return f'<a href="{escape(found["address"])}">{label}</a>'
    tag = "strong" if found["strong"] or found["strong2"] else "em"
    words = found["strong"] or found["strong2"] or found["weak"] or found["weak2"]
    return f"<{tag}>{_inline(words, folder, depth + 1)}</{tag}>"


def _picture(address: str, alt: str, folder: Path) -> str:
    """Return a picture of the document's; what is not a file at hand is only named."""
    path = folder / address
    kind = _PICTURES.get(path.suffix.lower())
    try:
        if kind and path.is_file() and path.stat().st_size <= _LARGEST_PICTURE:
            return picture(path.read_bytes(), kind, alt)
    except (OSError, ValueError):  # it may not be read; it is an address that is no path
        pass
    words = escape(f"[picture: {alt or address}]")
    return f'<a href="{escape(address)}">{words}</a>' if _ADDRESS.match(address) else words
