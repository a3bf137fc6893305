# SPDX-License-Identifier: Apache-2.0
"""The parts of the tour: words, bars, timelines, memory, pictures."""

from __future__ import annotations

import io
import itertools
import re
import string
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as onp
import pytest

import afterglow as mx
from afterglow import engine, memory, nd
from afterglow.tour import resident
from afterglow.tour.chapter import Chapter, Table
from afterglow.tour.chapters import CHAPTERS
from afterglow.tour.chapters.loops import Comparison, Loop, sample
from afterglow.tour.chapters.memory import no_limit
from afterglow.tour.drawing import (
    Bar,
    Curve,
    Dot,
    draw_bars,
    draw_cells,
    draw_curves,
    draw_dots,
    ticks,
)
from afterglow.tour.lanes import lanes_picture
from afterglow.tour.loops_picture import _picture
from afterglow.tour.page import page
from afterglow.tour.progress import Progress
from afterglow.tour.quantities import duration, megabytes, padded, width, wrapped
from afterglow.tour.resident import Watch
from afterglow.tour.terminal import print_chapter, print_heading, print_summary
from afterglow.tour.timeline import PYTHON, Recorder, Span, Timeline
from afterglow.tour.words import LANGUAGES, Words, preferred_language

SVG = "{http://www.w3.org/2000/svg}"


def gaps(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


def test_languages_have_the_same_sentences_with_the_same_gaps() -> None:
    english, chinese = LANGUAGES["en"], LANGUAGES["zh"]
    assert list(english) == list(chinese)
    for key, sentence in english.items():
        assert gaps(sentence) == gaps(chinese[key]), key
        formula = key in ("machine", "loops.predicted_each", "loops.predicted_once")
        name_only = key in ("hybridized.bar",)
        if not formula and not name_only:
            assert re.search(r"[\u4e00-\u9fff]", chinese[key]), key
        assert not re.search(r"[\u4e00-\u9fff]", sentence), key
        assert not re.search(r"[,;!?]", re.sub(r"\{.*?\}|\w\(.*?\)", "", chinese[key])), key
    for name in CHAPTERS:
        assert {f"{name}.title", f"{name}.text", f"{name}.finding"} <= set(english)


def test_the_locale_chooses_the_language() -> None:
    assert preferred_language({}) == "en"
    assert preferred_language({"LANG": "zh_CN.UTF-8"}) == "zh"
    assert preferred_language({"LANG": "zh_CN.UTF-8", "LC_ALL": "de_DE.UTF-8"}) == "en"
    assert preferred_language({"LANG": "C", "LC_ALL": "", "LC_MESSAGES": "zh_TW"}) == "zh"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1.234, "1.23 s"),
        (12.345, "12.3 s"),
        (0.0999, "99.9 ms"),
        (0.1, "100 ms"),
        (3.21e-5, "32.1 µs"),
        (4.2e-7, "420 ns"),
        (9.996e-3, "10.0 ms"),
        (0, "0 ns"),
    ],
)
def test_durations_have_three_digits(seconds: float, text: str) -> None:
    assert duration(seconds).replace("\N{NO-BREAK SPACE}", " ") == text


def test_lines_are_cut_by_their_width_on_the_screen() -> None:
    assert width("ab文字") == 6
    assert padded("文字", 6) == "文字  "
    assert padded("1", 3, right=True) == "  1"
    assert megabytes(2.5e9).replace("\N{NO-BREAK SPACE}", " ") == "2,500 MB"
    english = "Python waits only where a value is read, and nowhere else."
    assert wrapped(english, 24) == [
        "Python waits only where",
        "a value is read, and",
        "nowhere else.",
    ]
    for language in LANGUAGES:
        for columns in (30, 44, 61):
            for sentence in LANGUAGES[language].values():
                lines = wrapped(sentence, columns)
                assert re.sub(r"\s", "", "".join(lines)) == re.sub(r"\s", "", sentence)
                for line in lines:
                    assert width(line) <= columns + 4 or " " not in line  # marks may hang over
                    assert line[0] not in "，。；：、）”》"
                    assert line[-1] not in "（“《"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def counts(progress: Progress) -> tuple[int, int]:
    found = re.search(r"(\d+) of 40 calls finished, (\d+) queued", progress.line())
    assert found
    return int(found[1]), int(found[2])


def test_bars_count_what_is_finished() -> None:
    x = nd.ones((1000, 1000))
    nd.waitall()
    with Progress(io.StringIO(), Words("en"), "products", 40) as progress:
        assert counts(progress) == (0, 0)
        kept = [nd.dot(x, x) for _ in range(40)]
        done, queued = counts(progress)
        assert done + queued == 40  # issued is all of it, finished is not
        assert done < 40
        nd.waitall()
        assert counts(progress) == (40, 0)
    del kept


def test_bars_are_drawn_on_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        with Progress(stream, Words("en"), "nothing", 3):
            nd.ones((3,)).wait_to_read()
            time.sleep(0.25)
    assert file.getvalue() == ""
    *bars, last = terminal.getvalue().split("\r\x1b[K")
    assert last == ""  # erased
    assert len(bars) > 1
    assert all(width(bar) < 60 for bar in bars)
    monkeypatch.setenv("TERM", "dumb")
    dumb = Terminal()
    with Progress(dumb, Words("en"), "nothing", 3):
        time.sleep(0.15)
    assert dumb.getvalue() == ""


def test_a_timeline_has_what_python_and_the_workers_did() -> None:
    x = nd.ones((800, 800))
    nd.dot(x, x).wait_to_read()
    nd.waitall()
    recorder = Recorder()
    before = time.monotonic_ns()
    with recorder.recording():
        with recorder.doing("issue"):
            kept = [nd.dot(x, x) for _ in range(6)]
        with recorder.doing("wait"):
            nd.waitall()
    after = time.monotonic_ns()
    line = recorder.timeline()
    assert before <= line.begin < line.end <= after
    assert [span.kind for span in line.lanes[PYTHON]][:2] == ["issue", "wait"]
    computed = 0
    for lane, spans in line.lanes.items():
        runs = sorted(span for span in spans if span.kind in ("run", "other"))
        computed += len(runs)
        for first, second in itertools.pairwise(runs):
            assert first.end <= second.begin, lane  # a thread does one thing at a time
        assert all(line.begin <= span.begin < span.end <= line.end for span in runs)
    assert computed >= 6
    middle = (line.begin + line.end) // 2
    part = line.cut(middle, line.end)
    assert all(span.begin >= middle for spans in part.lanes.values() for span in spans)
    del kept


def test_the_three_parts_of_a_step_add_up_to_it() -> None:
    weight = nd.ones((300, 300))
    loop = Loop(nd.ones((300, 300)), lambda y: nd.dot(y, weight), reading=0.004)
    begin = time.perf_counter()
    phases = sample(loop, 10)
    took = time.perf_counter() - begin
    parts = [part for step in phases for part in step]
    assert len(parts) == 30
    assert all(part > 0 for part in parts)
    assert all(issue >= 0.004 for issue, _, _ in phases)  # reading belongs to it
    assert 0.04 < sum(parts) <= took
    tiny = sample(Loop(nd.ones((1, 2)), lambda y: y + 1), 10)
    assert all(part >= 0 for step in tiny for part in step)


def test_predictions_follow_their_formulas() -> None:
    loop = Comparison(1000, (0.5, 2.0, 0.25), each=0.0, once=0.0)
    assert loop.predicted_each == 2750.0
    assert loop.predicted_once == 2000.75


def test_limits_on_running_ahead_come_back() -> None:
    before = engine.run_ahead()
    with no_limit(True):
        assert engine.run_ahead() == (float("inf"),) * 3
    assert engine.run_ahead() == before
    with pytest.raises(ZeroDivisionError), no_limit(True):
        1 / 0
    assert engine.run_ahead() == before
    with no_limit(False):
        assert engine.run_ahead() == before


def test_memory_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    with Watch() as watch:
        block = onp.ones(100_000_000, onp.uint8)
        time.sleep(0.03)
        del block
    assert 90e6 < watch.peak < 200e6
    moments = [moment for moment, _ in watch.samples]
    assert moments == sorted(moments)
    monkeypatch.setattr(resident, "_STATM", "/nowhere/statm")
    kept = mx.nd.ones((1000, 1000))
    kept.wait_to_read()
    assert resident.resident_bytes() == memory.active() + memory.cached() >= 4_000_000


def line_of(*spans: tuple[int, int, str]) -> Timeline:
    return Timeline(0, 1000, {PYTHON: [Span(*span) for span in spans], 0: [Span(0, 500, "run")]})


def rectangles(picture: str, kind: str) -> list[dict[str, float]]:
    root = ElementTree.fromstring(picture)
    found = [rect for rect in root.iter(f"{SVG}rect") if rect.get("class") == kind]
    return [{name: float(rect.get(name, 0)) for name in ("x", "y", "width")} for rect in found]


@pytest.mark.parametrize("width", [340, 820])
def test_lanes_are_to_scale(width: int) -> None:
    panels = [
        ("first", line_of((0, 250, "issue"), (250, 1000, "wait"))),
        ("second", line_of((0, 500, "read"))),
    ]
    picture = lanes_picture(panels, Words("en"), width, "a <label>")
    _, wait = rectangles(picture, "wait")  # the first one is in the legend
    _, issue = rectangles(picture, "issue")
    _, read = rectangles(picture, "read")
    _, *runs = rectangles(picture, "run")
    assert wait["width"] == pytest.approx(3 * issue["width"], abs=0.1)
    assert issue["x"] == pytest.approx(read["x"])  # one scale, one start
    assert [run["width"] for run in runs] == [read["width"]] * 2
    assert wait["x"] + wait["width"] <= width


def test_bars_are_to_scale() -> None:
    bars = [Bar("slow", 4.0, "4 s", "wait"), Bar("fast", 1.0, "1 s", "run")]
    picture = draw_bars(bars, 400, "bars")
    (slow,), (fast,) = rectangles(picture, "wait"), rectangles(picture, "run")
    assert slow["width"] == pytest.approx(4 * fast["width"], abs=0.1)


def test_cells_are_as_many_as_calls() -> None:
    picture = draw_cells(7, 1000, 820, "cells")
    assert len(rectangles(picture, "run")) == 7
    assert len(rectangles(picture, "drop")) == 993


def test_curves_and_dots_stay_inside() -> None:
    curve = Curve("memory", [(0.0, 0.0), (1.0, 50.0), (2.0, 100.0)], "run", 1.0)
    root = ElementTree.fromstring(draw_curves([curve], 340, "MB", "curves"))
    line = root.find(f"{SVG}polyline")
    assert line is not None
    points = [tuple(map(float, pair.split(","))) for pair in line.get("points", "").split()]
    assert points[1][0] == pytest.approx((points[0][0] + points[2][0]) / 2, abs=0.1)
    assert points[1][1] == pytest.approx((points[0][1] + points[2][1]) / 2, abs=0.1)
    assert 0 <= points[2][1] < points[0][1] <= float(root.get("height", 0))
    dots = [Dot("y.shape", 1e-6, "issue"), Dot("mid", 1e-4, "issue"), Dot("print(y)", 1e-2, "run")]
    circles = ElementTree.fromstring(draw_dots(dots, 340, "dots")).findall(f"{SVG}circle")
    places = [float(circle.get("cx", 0)) for circle in circles]
    assert places[1] == pytest.approx((places[0] + places[2]) / 2, abs=0.1)  # logarithmic
    assert places[2] < 340


@pytest.mark.parametrize(("end", "most"), [(0.0013, 4), (25.0, 7), (7e8, 5), (1.0, 7)])
def test_ticks_are_few_and_reach_far(end: float, most: int) -> None:
    found = ticks(end, most)
    assert found[0] == 0
    assert 2 <= len(found) <= most + 1
    assert end * 0.5 < found[-1] <= end * 1.000001


@pytest.mark.parametrize("language", list(LANGUAGES))
def test_both_languages_make_a_page_and_text(language: str) -> None:
    words = Words(language)
    draw: Callable[[int, str], str] = lambda width, label: draw_cells(1, 3, width, label)  # noqa: E731
    chapters = [
        Chapter(
            name,
            ["a < b"],
            Table(("", words("time")), [(words("each"), "1.00 s"), (words("once"), "2.00 s")]),
            f"<finding {number}>",
            words("overwritten.caption"),
            draw,
        )
        for number, name in enumerate(CHAPTERS)
    ]
    text = page(chapters, ["note"], words)
    assert f'<html lang="{"zh-CN" if language == "zh" else "en"}">' in text
    assert "<finding" not in text
    assert "&lt;finding 3&gt;" in text
    stream = io.StringIO()
    for number, chapter in enumerate(chapters, 1):
        print_heading(stream, number, chapter.name, words)
        print_chapter(stream, chapter)
    print_summary(stream, chapters, words)
    out = stream.getvalue()
    for name in CHAPTERS:
        assert out.count(words(f"{name}.title")) == 2
        assert words(f"{name}.title") in text
    rows = [line for line in out.splitlines() if line.startswith(f"  {words('each')}")]
    assert len({width(row) for row in rows}) == 1  # columns are aligned


@pytest.mark.parametrize("name", ["timeline.svg", "timeline.zh.svg"])
def test_pictures_of_the_documents_are_narrow_and_self_contained(name: str) -> None:
    file = Path(__file__).parents[2] / "docs" / "pictures" / name
    stored = file.read_text(encoding="utf-8")
    fresh = _picture({"each": line_of((0, 9, "issue"))}, Words("zh" if ".zh" in name else "en"))
    for text in (stored, fresh):
        root = ElementTree.fromstring(text)
        assert float(root.get("width", 0)) <= 900
        assert "://" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert len(rectangles(text, "paper")) == 1
    assert len(rectangles(stored, "run")) > 8
