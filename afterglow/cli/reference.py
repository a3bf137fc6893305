# SPDX-License-Identifier: Apache-2.0
"""``afterglow reference``: every public name with its signature and text, as a page to search."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ._reference import markdown
from ._reference.entries import namespaces
from ._reference.page import page

_NOTES = """\
FOLDER/index.html is one page with a search, which needs neither a network nor
other files. Beside it is a Markdown file for each namespace, such as mx.nd.md.

What is written is what this version has: the same names as `afterglow list`.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what ``afterglow reference`` takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _NOTES
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="where the files are written")


def run(arguments: argparse.Namespace) -> int:
    """Write the page and the Markdown files."""
    folder: Path = arguments.folder
    spaces = namespaces()
    texts = {"index.html": page(spaces)}
    texts |= {markdown.file_of(space): markdown.text_of(space) for space in spaces}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, "utf-8", newline="\n")
    except OSError as problem:
        print(f"afterglow reference: cannot write to {folder}: {problem.strerror}", file=sys.stderr)
        return 1
    count = sum(len(space.entries) for space in spaces)
    print(f"{folder / 'index.html'}: {count} names in {len(spaces)} namespaces")
    return 0
