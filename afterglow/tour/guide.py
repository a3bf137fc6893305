# SPDX-License-Identifier: Apache-2.0
"""Taking the tour: all chapters in their order, printed as they come."""

from __future__ import annotations

import platform
import time
from typing import TextIO

from .. import engine, random
from ..version import version
from .chapter import Chapter, Setting
from .chapters import CHAPTERS
from .page import page
from .progress import Progress
from .quantities import duration
from .terminal import print_chapter, print_heading, print_summary, print_text
from .words import Words


def machine(words: Words) -> str:
    """Say what the figures were measured with."""
    return words(
        "machine",
        version=version(),
        python=platform.python_version(),
        threads=engine.thread_limit(),
        kernels=engine.instruction_set(),
    )


def take(words: Words, stream: TextIO, *, quick: bool) -> str:
    """Take the tour, print it, and return the page."""
    begin = time.perf_counter()
    random.seed(0)
    setting = Setting(words, lambda label, total: Progress(stream, words, label, total), quick)
    print(f"{words('title')}\n{words('subtitle')}\n", file=stream)
    print_text(stream, words("introduction"))
    print_text(stream, machine(words))
    if quick:
        print_text(stream, words("quick"))
    chapters: list[Chapter] = []
    for number, (name, measure) in enumerate(CHAPTERS.items(), 1):
        print_heading(stream, number, name, words)
        stream.flush()
        chapters.append(measure(setting))
        print_chapter(stream, chapters[-1])
        stream.flush()
    print_summary(stream, chapters, words)
    print(file=stream)
    print_text(stream, words("took", seconds=duration(time.perf_counter() - begin)))
    notes = [machine(words), *([words("quick")] if quick else [])]
    return page(chapters, notes, words)
