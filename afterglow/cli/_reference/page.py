# SPDX-License-Identifier: Apache-2.0
"""The reference as one HTML file that needs nothing else, with a search in it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path

from ...documents.markup import html_of
from ...documents.page import STYLE
from ...version import version
from .entries import Entry, Namespace

_FOLDER = Path(__file__).parent


def page(spaces: list[Namespace]) -> str:
    """Return the page as HTML."""
    count = sum(len(space.entries) for space in spaces)
    links = "".join(
        f'<li><a href="#{escape(space.title)}:">{escape(space.title)}</a> '
        f"<small>{len(space.entries)}</small></li>"
        for space in spaces
    )
    style = (_FOLDER / "page.css").read_text("utf-8")
    script = (_FOLDER / "search.js").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<title>Afterglow: reference</title>\n<link rel="icon" href="data:,">\n'
        f"<style>{STYLE}{style}</style>\n</head>\n<body>\n<nav>\n"
        '<input id="query" type="search" placeholder="Search (/)" aria-label="Search" '
        'autocomplete="off" spellcheck="false">\n'
        f"<ol>{links}</ol>\n</nav>\n<main>\n"
        f"<header><h1>Reference</h1><p>Afterglow {escape(version())}: {count} public names. "
        "<code>mx</code> is <code>import afterglow as mx</code>.</p></header>\n"
        '<section id="found" hidden><p id="count" role="status"></p><ol></ol></section>\n'
        f'<div id="all">\n{"".join(map(_section, spaces))}</div>\n</main>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _section(space: Namespace) -> str:
    # Names of namespaces are names of entries too; theirs end with a colon.
    title = escape(space.title)
    entries = "".join(map(_article, space.entries))
    return f'<section><h2 id="{title}:">{title}</h2>\n{_html(space.text)}\n{entries}</section>\n'


def _article(entry: Entry) -> str:
    whole = escape(entry.whole)
    kinds = f"{entry.kind}, {entry.state}" if entry.state else entry.kind
    return (
        f'<article id="{whole}"><h3><a href="#{whole}">{whole}</a> <small>{kinds}</small></h3>'
        f"{_body(entry)}{''.join(map(_member, entry.members))}</article>\n"
    )


def _member(entry: Entry) -> str:
    whole = escape(entry.whole)
    name = escape(entry.whole.rpartition(".")[2])
    return (
        f'<details id="{whole}"><summary><a href="#{whole}">{name}</a> '
        f"{_line(entry.summary)}</summary>{_body(entry)}</details>"
    )


def _body(entry: Entry) -> str:
    parts = [f'<pre class="signature">{escape(entry.signature)}</pre>', _html(entry.text)]
    if entry.kind == "module":
        parts.append(f"<p>See {_link(entry.same, ':')}.</p>")
    elif entry.same:
        parts.append(f"<p>The same as {_link(entry.same)}.</p>")
    if entry.bases:
        parts.append(f"<p>Has what {_links(entry.bases)} has.</p>")
    return "".join(parts)


def _links(names: Iterable[str]) -> str:
    return " and ".join(map(_link, names))


def _link(name: str, end: str = "") -> str:
    return f'<a href="#{escape(name)}{end}"><code>{escape(name)}</code></a>'


def _html(markdown: str) -> str:
    return html_of(markdown, _FOLDER) if markdown else ""


def _line(markdown: str) -> str:
    return _html(markdown).removeprefix("<p>").removesuffix("</p>")
