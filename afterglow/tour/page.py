# SPDX-License-Identifier: Apache-2.0
"""The tour as one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .chapter import Chapter, Table
from .drawing import DARK, LIGHT, STYLE
from .words import Words

#: Each picture is drawn twice, so that its letters keep their size on a phone.
_WIDE, _NARROW = 820, 340

_STYLE = (
    f":root{{color-scheme:light dark;{LIGHT}}}"
    f"@media(prefers-color-scheme:dark){{:root{{{DARK}}}}}"
    + STYLE
    + """
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:17px/1.6 system-ui,-apple-system,
"Segoe UI",Roboto,"PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif;
border-top:6px solid;border-image:linear-gradient(90deg,#4a3aa0,#a5468f,#e0672a,#f3b562) 1}
main{max-width:980px;margin:0 auto;padding:64px 40px 96px}
h1,h2,.number{font-family:"Iowan Old Style","Palatino Linotype",Palatino,"Book Antiqua",Georgia,
"Songti SC","Noto Serif CJK SC",serif;font-weight:600;letter-spacing:-.01em;line-height:1.15}
h1{font-size:clamp(38px,6vw,60px);margin:0}
.subtitle{font-size:20px;color:var(--soft);margin:12px 0 30px}
.introduction{max-width:42em;margin:0 0 14px}
.note{font-size:14px;color:var(--soft);margin:0}
.summary{list-style:none;margin:44px 0 0;padding:0;border-top:1px solid var(--line)}
.summary a{display:grid;grid-template-columns:1.6em minmax(0,17em) 1fr;gap:4px 14px;padding:11px 0;
border-bottom:1px solid var(--line);color:inherit;text-decoration:none}
.summary a:hover b{color:var(--run)}
.summary i{font-style:normal;color:var(--soft);font-variant-numeric:tabular-nums}
.summary b{font-weight:600}
section{margin-top:88px;position:relative}
.number{position:absolute;right:100%;margin-right:26px;font-size:54px;line-height:1;
color:var(--wait);top:-6px}
h2{font-size:32px;margin:0 0 12px}
.text{max-width:42em;margin:0 0 20px}
.finding{font-size:20px;line-height:1.45;font-weight:600;margin:26px 0;padding-left:16px;
border-left:3px solid var(--run);max-width:36em}
.codes{display:flex;flex-wrap:wrap;gap:12px;margin:0 0 28px}
pre{margin:0;padding:12px 16px;background:var(--card);border:1px solid var(--line);
border-radius:8px;overflow-x:auto;font:13.5px/1.55 ui-monospace,"SF Mono",Menlo,Consolas,
"DejaVu Sans Mono",monospace;max-width:100%}
figure{margin:0;padding:26px 28px 20px;background:var(--card);border:1px solid var(--line);
border-radius:12px}
figure svg{display:block;width:100%;height:auto}
figcaption{font-size:14px;line-height:1.5;color:var(--soft);margin-top:16px;max-width:56em}
.narrow{display:none}
.scroll{overflow-x:auto;margin:28px 0 0}
table{border-collapse:collapse;font-size:15px;font-variant-numeric:tabular-nums;min-width:60%}
th,td{padding:7px 0 7px 28px;text-align:right;border-bottom:1px solid var(--line);
white-space:nowrap}
th:first-child,td:first-child{padding-left:0;text-align:left}
thead th{font-weight:600;color:var(--soft)}
tbody th{font-weight:400;white-space:normal}
.remark{font-size:15px;color:var(--soft);max-width:46em;margin:16px 0 0}
.remark+.remark{margin-top:8px}
@media(max-width:1180px){.number{position:static;display:block;margin:0 0 8px;font-size:40px}}
@media(max-width:640px){
body{font-size:16px} main{padding:36px 18px 64px} h2{font-size:26px} section{margin-top:64px}
.wide{display:none} .narrow{display:block} figure{padding:18px 14px 14px}
.finding{font-size:18px} .summary a{grid-template-columns:1.4em 1fr}
.summary span{grid-column:2;color:var(--soft)}
th,td{padding-left:14px} table{min-width:100%;font-size:14px}
th{white-space:normal;vertical-align:bottom} td{vertical-align:bottom}}
@media print{section{break-inside:avoid}}
"""
)


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.header)
    rows = []
    for name, *cells in table.rows:
        values = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{values}</tr>')
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _section(number: int, chapter: Chapter, words: Words) -> str:
    codes = "".join(f"<pre><code>{escape(code)}</code></pre>" for code in chapter.code)
    remarks = "".join(f'<p class="remark">{escape(remark)}</p>' for remark in chapter.remarks)
    title = words(f"{chapter.name}.title")
    return (
        f'<section id="{chapter.name}"><span class="number" aria-hidden="true">{number}</span>'
        f"<h2>{escape(title)}</h2>"
        f'<p class="text">{escape(words(f"{chapter.name}.text"))}</p>'
        f'<div class="codes">{codes}</div>'
        f'<figure><div class="wide">{chapter.draw(_WIDE, title)}</div>'
        f'<div class="narrow">{chapter.draw(_NARROW, title)}</div>'
        f"<figcaption>{escape(chapter.caption)}</figcaption></figure>"
        f'<p class="finding">{escape(chapter.finding)}</p>'
        f"{_table(chapter.table)}{remarks}</section>"
    )


def page(chapters: Sequence[Chapter], notes: Sequence[str], words: Words) -> str:
    """Return the page as HTML."""
    summary = "".join(
        f'<li><a href="#{chapter.name}"><i>{number}</i>'
        f"<b>{escape(words(f'{chapter.name}.title'))}</b>"
        f"<span>{escape(chapter.finding)}</span></a></li>"
        for number, chapter in enumerate(chapters, 1)
    )
    sections = "".join(
        _section(number, chapter, words) for number, chapter in enumerate(chapters, 1)
    )
    language = {"zh": "zh-CN"}.get(words.language, words.language)
    return (
        f'<!DOCTYPE html>\n<html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Afterglow: {escape(words('title'))}</title><style>{_STYLE}</style></head>"
        f"<body><main><header><h1>{escape(words('title'))}</h1>"
        f'<p class="subtitle">{escape(words("subtitle"))}</p>'
        f'<p class="introduction">{escape(words("introduction"))}</p>'
        f"{''.join(f'<p class=note>{escape(note)}</p>' for note in notes)}</header>"
        f'<ol class="summary">{summary}</ol>{sections}</main></body></html>\n'
    )
