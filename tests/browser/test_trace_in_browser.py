# SPDX-License-Identifier: Apache-2.0
"""The trace page in a real browser: what it shows, and what mouse and keyboard do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from driver import Browser, Page
from recordings import many, training, two_devices

from afterglow.trace import Recording
from afterglow.trace.measures import (
    passes,
    queue_depth,
    queue_waits,
    readable,
    readable_bytes,
    short_site,
)
from afterglow.trace.page import write_page
from afterglow.trace.recording import DROPPED, RAN
from afterglow.trace.summary import summarize

RECORDING = training(60)
SUMMARY = summarize(RECORDING)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("trace") / "trace.html"
    write_page(RECORDING, path, title="A <training> loop")
    return path.as_uri()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    opened = browser.open(address)
    opened.wait_for("window.afterglow")
    yield opened
    assert opened.errors == []
    opened.close()


def state(page: Page) -> dict[str, Any]:
    return dict(page.evaluate("afterglow.state()"))


def show(page: Page, begin: float, end: float) -> None:
    page.evaluate(f"afterglow.view.show({begin}, {end})")
    page.settle()


def where(page: Page, table: str, index: int) -> tuple[float, float]:
    point = page.evaluate(f"afterglow.where('{table}', {index})")
    return point["x"], point["y"]


def show_bar(page: Page, table: str, index: int, times: float = 5) -> tuple[float, float]:
    """Zoom so that a bar takes a part of the view, and return its middle."""
    row = getattr(RECORDING, table)
    begin, end = int(row["begin"][index]), int(row["end"][index])
    length = (end - begin) * times
    show(page, (begin + end - length) / 2, (begin + end + length) / 2)
    return where(page, table, index)


def colour(page: Page, name: str) -> list[int]:
    """The colour of a variable of the style sheet, as the canvas has it."""
    text = page.evaluate(f"afterglow.timeline.colours['{name}']")
    return [int(text[i : i + 2], 16) for i in (1, 3, 5)]


def colour_at(page: Page, x: float, y: float) -> list[int]:
    return list(page.evaluate(f"afterglow.colourAt({x}, {y})"))[:3]


def text_of(number: int) -> str:
    return RECORDING.texts[number]


def fused_run() -> int:
    """The first run of a pass of three calls."""
    members = passes(RECORDING).members
    return int(onp.flatnonzero(members[RECORDING.runs["pass"]] == 3)[0])


def test_opens_without_network_and_errors(page: Page, address: str) -> None:
    assert page.requests == [address]
    assert page.evaluate("document.title") == "A <training> loop"
    assert page.text("h1") == "A <training> loop"
    assert page.text("#headline") == SUMMARY.headline()
    assert page.errors == []


def test_lanes_have_all_bars(page: Page) -> None:
    lanes = {lane["name"]: lane for lane in page.evaluate("afterglow.lanes()")}
    assert list(lanes) == [*RECORDING.threads, "training", "queue depth", "memory"]
    kinds = {"issue": "calls", "wait": "waits", "run": "runs"}
    for thread, name in enumerate(RECORDING.threads):
        wanted = {}
        for kind, table in kinds.items():
            bars = int((getattr(RECORDING, table)["thread"] == thread).sum())
            if bars:
                wanted[kind] = bars
        assert {row["kind"]: row["bars"] for row in lanes[name]["rows"]} == wanted
    assert [row["label"] for row in lanes["training"]["rows"]] == ["task", "marker"]
    assert lanes["training"]["plots"] == ["loss"]
    labels = page.text("#labels")
    for name in (*RECORDING.threads, "queue depth", "memory"):
        assert name in labels


def test_bars_are_where_their_times_are(page: Page) -> None:
    run = fused_run()
    x, y = show_bar(page, "runs", run)
    assert page.evaluate(f"afterglow.hit({x}, {y})") == {"kind": "run", "index": run, "count": 1}
    assert colour_at(page, x, y - 9) == colour(page, "fused")
    view = state(page)
    box = page.evaluate(
        "(b => [b.left, b.width])(document.querySelector('#bars').getBoundingClientRect())"
    )
    middle = int(RECORDING.runs["begin"][run] + RECORDING.runs["end"][run]) / 2
    wanted = box[0] + box[1] * (middle - view["begin"]) / (view["end"] - view["begin"])
    assert x == pytest.approx(wanted, abs=0.5)


def test_dropped_calls_are_hollow(page: Page) -> None:
    dropped = int(onp.flatnonzero(RECORDING.calls["state"] == DROPPED)[0])
    ran = int(
        onp.flatnonzero((RECORDING.calls["state"] == RAN) & (RECORDING.calls["thread"] == 0))[3]
    )
    for call, filled in ((dropped, False), (ran, True)):
        x, y = show_bar(page, "calls", call)
        # Below the text, inside of the edge.
        inside = colour_at(page, x, y + 7)
        assert (inside == colour(page, "issue")) is filled
        edge = {tuple(colour_at(page, x + step, y - 10)) for step in range(8)}
        assert tuple(colour(page, "issue")) in edge


def test_a_dropped_call_among_many_is_hollow_too(page: Page) -> None:
    page.key("f")
    # Calls are narrower than a pixel here; one in which all are dropped has an empty middle.
    begin, state_of = RECORDING.calls["begin"], RECORDING.calls["state"]
    dropped = onp.flatnonzero(state_of == DROPPED)
    first = int(dropped[3])
    x, y = where(page, "calls", first)
    view = state(page)
    assert (view["end"] - view["begin"]) / 900 > int(RECORDING.calls["end"][first] - begin[first])
    columns = [colour_at(page, x + step, y) for step in (-1, 0, 1)]
    edges = [colour_at(page, x + step, y - 10) for step in (-1, 0, 1)]
    assert any(middle != edge for middle, edge in zip(columns, edges, strict=True))


def test_a_fused_bar_opens_to_its_members(page: Page) -> None:
    run = fused_run()
    page.click(*show_bar(page, "runs", run))
    assert state(page)["selected"] == {"kind": "run", "index": run, "count": 1}
    members = onp.flatnonzero(RECORDING.calls["pass"] == RECORDING.runs["pass"][run])
    waits = queue_waits(RECORDING, passes(RECORDING))
    wanted = []
    for call in members.tolist():
        op, layer, site, shapes = (
            text_of(RECORDING.calls[name][call]) for name in ("op", "layer", "site", "shapes")
        )
        first = f"{op}\n{layer}" if layer else op
        wanted.append([first, f"{short_site(site)}\n{shapes}", readable(waits[call])])
    rows = page.evaluate(
        "[...document.querySelectorAll('.members tbody tr')]"
        ".map(r => [...r.cells].map(c => c.innerText))"
    )
    assert [[cell.strip() for cell in row] for row in rows] == wanted
    assert len(wanted) == 3
    page.click_on(".members tbody tr:nth-child(2) button")
    assert state(page)["selected"] == {"kind": "issue", "index": int(members[1]), "count": 1}
    assert state(page)["begin"] <= RECORDING.calls["begin"][members[1]] <= state(page)["end"]


def test_tooltip_tells_what_is_known(page: Page) -> None:
    calls, runs = RECORDING.calls, RECORDING.runs
    number = int(onp.flatnonzero(runs["share"] == 1)[2])
    (call,) = onp.flatnonzero(calls["pass"] == runs["pass"][number]).tolist()
    page.move(*show_bar(page, "runs", number))
    mine = runs["pass"] == runs["pass"][number]
    shares = runs["end"][mine] - runs["begin"][mine]
    share = readable(int(runs["end"][number] - runs["begin"][number]))
    lines = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#tooltip dt')]"
        ".map(t => [t.innerText, t.nextElementSibling.innerText]))"
    )
    assert page.text("#tooltip strong") == text_of(calls["op"][call])
    assert lines["layer"] == text_of(calls["layer"][call])
    assert lines["line"] == short_site(text_of(calls["site"][call]))
    assert lines["shapes"] == text_of(calls["shapes"][call])
    assert lines["bytes"] == readable_bytes(int(calls["bytes"][call]))
    assert lines["queue wait"] == readable(int(queue_waits(RECORDING, passes(RECORDING))[call]))
    assert lines["run time"] == f"{readable(int(shares.sum()))} in 2 shares"
    assert lines["share"] == f"2 of 2, {share}"
    assert lines["thread"] == RECORDING.threads[runs["thread"][number]]
    page.move(5, 5)
    assert page.evaluate("document.querySelector('#tooltip').hidden")


def test_a_wait_tells_what_its_line_cost(page: Page) -> None:
    page.click(*show_bar(page, "waits", 1))
    site, what = (text_of(RECORDING.waits[name][1]) for name in ("site", "what"))
    (point,) = (row for row in SUMMARY.waits if (row.site, row.what) == (site, what))
    details = page.text("#panel")
    assert f"{point.waits} waits of this line, {readable(point.time)}" in details
    assert site in details


def test_plots_have_tooltips_and_exact_depths(page: Page) -> None:
    times, depths = queue_depth(RECORDING, passes(RECORDING))
    got = page.evaluate(f"{json.dumps(times.tolist())}.map(t => afterglow.depthAt(t))")
    assert got == depths.tolist()
    between = ((times[:-1] + times[1:]) / 2).tolist()
    got = page.evaluate(f"{json.dumps(between)}.map(t => afterglow.depthAt(t))")
    assert got == depths[:-1].tolist()
    x = where(page, "calls", 40)[0]
    y = page.evaluate("(p => p.top + 10)(afterglow.timeline.lanes.at(-2).plots[0])")
    y += page.evaluate("document.querySelector('#bars').getBoundingClientRect().top")
    page.move(x, y)
    assert page.text("#tooltip strong").startswith("queue depth: ")


def test_search_goes_through_hits_in_time(page: Page) -> None:
    calls = RECORDING.calls
    page.key("/")
    page.type("dot")
    wanted = [i for i, op in enumerate(calls["op"].tolist()) if "dot" in text_of(op)]
    assert page.text("#hits") == f"{len(wanted)} hits"
    seen = []
    for _ in range(5):
        page.key("Enter")
        seen.append(state(page)["selected"]["index"])
    assert seen == wanted[:5]
    assert page.text("#hits") == f"5 of {len(wanted)}"
    page.key("Enter", shift=True)
    assert state(page)["selected"]["index"] == wanted[3]
    for _ in range(4):
        page.key("Enter", shift=True)
    assert state(page)["selected"]["index"] == wanted[-1], "goes round"
    assert page.text("#hits") == f"{len(wanted)} of {len(wanted)}"
    page.key("Enter")
    assert state(page)["selected"]["index"] == wanted[0]
    page.key("Escape")
    assert state(page)["hits"] == 0
    assert page.evaluate("document.querySelector('#search').value") == ""


@pytest.mark.parametrize(
    ("query", "column", "matches"),
    [
        ('op:"dot"', "op", lambda text: text == "dot"),
        ("op:DOT", "op", lambda text: "dot" in text),
        ("layer:dense1", "layer", lambda text: "dense1" in text),
        ("line:train.py:14", "site", lambda text: "train.py:14" in text),
        ("loader.py:8", "site", lambda text: "loader.py:8" in text),
        ("nowhere", "op", lambda text: False),
    ],
)
def test_search_fields(page: Page, query: str, column: str, matches: Any) -> None:
    page.key("/")
    page.type(query)
    wanted = sum(matches(text_of(text)) for text in RECORDING.calls[column].tolist())
    assert state(page)["hits"] == wanted
    assert wanted or query == "nowhere"


def test_hits_of_one_moment_are_all_visited(page: Page) -> None:
    page.key("/")
    page.type("train")
    total = state(page)["hits"]
    seen = set()
    for step in range(total):
        page.evaluate("document.querySelector('#next').click()")
        now = state(page)
        assert now["rank"] == step + 1
        seen.add((now["selected"]["kind"], now["selected"]["index"]))
    assert len(seen) == total
    assert {kind for kind, _ in seen} == {"issue", "wait", "mark"}


def test_hits_are_highlighted(page: Page) -> None:
    call = int(onp.flatnonzero(RECORDING.calls["op"] == RECORDING.texts.index("relu"))[0])
    x, y = show_bar(page, "calls", call, times=40)
    page.key("/")
    page.type("op:relu")
    edge = colour_at(page, x, y - 10)
    assert edge == colour(page, "hit")
    other = where(page, "calls", call - 1)
    assert colour_at(page, other[0], other[1] - 10) != colour(page, "hit")


def test_keyboard_zooms_and_moves(page: Page) -> None:
    whole = state(page)
    length = whole["end"] - whole["begin"]
    middle = (whole["end"] + whole["begin"]) / 2
    for key in ("w", "+", "="):
        before = state(page)
        page.key(key)
        after = state(page)
        assert after["end"] - after["begin"] == pytest.approx(
            0.7 * (before["end"] - before["begin"])
        )
        assert (after["end"] + after["begin"]) / 2 == pytest.approx(middle)
    for forth, back in (("d", "a"), ("ArrowRight", "ArrowLeft")):
        before = state(page)
        page.key(forth)
        after = state(page)
        part = 0.2 * (before["end"] - before["begin"])
        assert after["begin"] == pytest.approx(before["begin"] + part)
        page.key(back)
        assert state(page)["begin"] == pytest.approx(before["begin"])
    page.key("s")
    assert state(page)["end"] - state(page)["begin"] == pytest.approx(0.49 * length)
    for key in ("f", "0"):
        page.key("w")
        page.key(key)
        assert state(page)["begin"] == pytest.approx(whole["begin"])
        assert state(page)["end"] == pytest.approx(whole["end"])
    page.key("a")
    assert state(page)["begin"] == pytest.approx(whole["begin"]), (
        "there is nothing before the begin"
    )


def test_keys_typed_into_the_search_do_not_move_the_view(page: Page) -> None:
    page.key("/")
    before = state(page)
    for key in "wasd0f":
        page.key(key)
    assert page.evaluate("document.querySelector('#search').value") == "wasd0f"
    after = state(page)
    assert (after["begin"], after["end"]) == (before["begin"], before["end"])


def test_wheel_zooms_at_the_pointer(page: Page) -> None:
    x, y = map(round, where(page, "calls", 200))
    at_pointer = (
        f"afterglow.timeline.timeAt({x} - afterglow.timeline.bars.getBoundingClientRect().x)"
    )
    time = page.evaluate(at_pointer)
    length = RECORDING.duration
    for down in (-400, -4000):
        page.wheel(x, y, down)
        view = state(page)
        assert view["end"] - view["begin"] < 0.7 * length
        length = view["end"] - view["begin"]
        assert page.evaluate(at_pointer) == pytest.approx(time, abs=length / 1000)
    before = state(page)
    page.wheel(x, y, 0, right=100)
    after = state(page)
    assert after["begin"] > before["begin"]
    assert after["end"] - after["begin"] == pytest.approx(before["end"] - before["begin"])
    page.wheel(x, y, 20000)
    assert state(page)["begin"] <= 0 < RECORDING.duration <= state(page)["end"]


def test_dragging_moves_what_is_grabbed(page: Page) -> None:
    show(page, 500_000, 900_000)
    x, _ = where(page, "calls", 150)
    page.drag((500, 300), (640, 300))
    assert where(page, "calls", 150)[0] == pytest.approx(x + 140, abs=1)
    assert state(page)["selected"] is None


def test_a_range_can_be_selected_and_zoomed_to(page: Page) -> None:
    show(page, 500_000, 900_000)
    page.drag((300, 300), (600, 300), shift=True)
    chosen = state(page)["range"]
    begin, end = sorted((chosen["begin"], chosen["end"]))
    assert end - begin == pytest.approx(300 * 400_000 / page.evaluate("afterglow.timeline.width"))
    assert page.text("#panel h2") == f"Range of {readable(end - begin)}"
    rows = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.range tbody tr')]"
        ".map(r => [r.cells[0].innerText, [r.cells[1].innerText, r.cells[2].innerText]]))"
    )
    runs = RECORDING.runs
    mine = (runs["thread"] == 2) & (runs["end"] >= begin) & (runs["begin"] <= end)
    covered = onp.minimum(runs["end"][mine], end) - onp.maximum(runs["begin"][mine], begin)
    assert rows["worker 0, run"] == [str(mine.sum()), readable(covered.sum())]
    page.key("z")
    assert state(page)["begin"] == pytest.approx(begin)
    assert state(page)["end"] == pytest.approx(end)
    page.key("Escape")
    assert state(page)["range"] is None


def test_selecting_with_keys(page: Page) -> None:
    call = 100
    show_bar(page, "calls", call, times=50)
    page.evaluate("document.querySelector('#lanes').focus()")
    page.key("Enter")
    first = state(page)["selected"]
    page.evaluate(f"afterglow.timeline.selected = afterglow.timeline.itemOf('calls', {call})")
    assert first is not None
    page.key("Tab")
    assert state(page)["selected"] == {"kind": "issue", "index": call + 1, "count": 1}
    page.key("Tab", shift=True)
    assert state(page)["selected"]["index"] == call
    page.key("ArrowDown")
    assert state(page)["selected"]["kind"] == "wait"
    page.key("ArrowUp")
    assert state(page)["selected"]["kind"] == "issue"
    assert page.text("#announcement")
    page.key("Escape")
    assert state(page)["selected"] is None
    page.key("Tab")
    assert page.evaluate("document.activeElement.id") != "lanes", "without a selection Tab leaves"


def test_arrows(page: Page) -> None:
    painted = (
        "(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data"
        ".reduce((n, v, i) => n + (i % 4 === 3 && v > 0), 0))(document.querySelector('#overlay'))"
    )
    assert state(page)["arrows"] == 0
    assert page.evaluate(painted) == 0
    show(page, 0, 60_000)
    assert state(page)["arrows"] > 5
    faint = page.evaluate(painted)
    assert faint > 0
    run = int(onp.flatnonzero(RECORDING.runs["begin"] > 20_000)[0])
    page.evaluate(f"afterglow.timeline.hovered = afterglow.timeline.itemOf('runs', {run})")
    page.evaluate("afterglow.timeline.drawOverlay()")
    assert page.evaluate(painted) > faint


def test_help(page: Page) -> None:
    page.key("?")
    assert page.evaluate("document.querySelector('#help').open")
    assert "zoom in and out" in page.text("#help")
    page.key("Escape")
    assert not page.evaluate("document.querySelector('#help').open")


def table(page: Page, tab: str) -> list[list[str]]:
    page.click_on(f"#tab-{tab}")
    rows = page.evaluate(
        "[...document.querySelectorAll('#panel .summary tbody tr')]"
        ".map(r => [...r.cells].map(c => c.innerText.trim()))"
    )
    return list(rows)


def test_summary_has_the_numbers_of_python(page: Page) -> None:
    for tab, costs, nameless in (
        ("Ops", SUMMARY.ops, ""),
        ("Layers", SUMMARY.layers, "(no layer)"),
        ("Lines", SUMMARY.lines, ""),
    ):
        assert table(page, tab) == [
            [
                short_site(row.name) or nameless,
                f"{row.calls:,}",
                readable(row.run),
                readable(row.queue),
                readable_bytes(row.bytes),
                f"{row.dropped:,}",
                f"{row.fused:,}",
            ]
            for row in costs
        ]
    assert table(page, "Waits") == [
        [f"{short_site(row.site)} ({row.what})", f"{row.waits:,}", readable(row.time),
         readable(row.longest), readable(row.helped)]
        for row in SUMMARY.waits
    ]  # fmt: skip
    assert table(page, "Threads") == [
        [row.name, readable(row.issue), readable(row.wait), readable(row.run),
         readable(row.own) if row.python else "-", "-" if row.python else f"{row.idle:.1%}"]
        for row in SUMMARY.threads
    ]  # fmt: skip


def test_a_row_of_the_summary_searches_for_it(page: Page) -> None:
    table(page, "Ops")
    page.click_on("#panel .summary tbody tr:nth-child(2) button")
    row = SUMMARY.ops[1]
    assert page.evaluate("document.querySelector('#search').value") == f'op:"{row.name}"'
    assert state(page)["hits"] == row.calls
    assert page.evaluate("document.querySelector('#tab-Ops').ariaSelected") == "true"
    table(page, "Waits")
    page.click_on("#panel .summary tbody tr:nth-child(1) button")
    assert state(page)["selected"]["kind"] == "wait"


def test_tables_can_be_sorted(page: Page) -> None:
    table(page, "Ops")
    page.click_on("#panel th:nth-child(2) button")
    counts = [int(row[1].replace(",", "")) for row in table(page, "Ops")]
    assert counts == sorted(counts, reverse=True)
    page.click_on("#panel th:nth-child(2) button")
    counts = [int(row[1].replace(",", "")) for row in table(page, "Ops")]
    assert counts == sorted(counts)


def test_everything_has_a_name(page: Page) -> None:
    page.click_on("#tab-Ops")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    wanted = {"button", "searchbox", "tab", "tabpanel", "application", "tablist", "complementary"}
    seen = set()
    for node in nodes:
        role = node.get("role", {}).get("value")
        if role in wanted and not node.get("ignored"):
            seen.add(role)
            assert node.get("name", {}).get("value"), node
    assert seen == wanted


def test_dark_scheme(page: Page) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    bright = colour(page, "issue")
    page.set_dark(True)
    page.settle()
    dark = page.evaluate(background)
    assert dark != light
    assert max(int(part) for part in dark[4:-1].split(",")) < 60
    x, y = show_bar(page, "calls", 3)
    assert colour_at(page, x, y + 7) == colour(page, "issue") != bright


@pytest.mark.parametrize("width", [700, 1000, 1400, 2500])
def test_widths(page: Page, width: int) -> None:
    page.resize(width, 700)
    page.settle()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("afterglow.timeline.width") > 300
    boxes = page.evaluate(
        "['#search', '#fit', '#show-help', '#window', '#panel', '#tab-Threads'].map(s => "
        "(b => [b.left, b.right, b.top, b.bottom])"
        "(document.querySelector(s).getBoundingClientRect()))"
    )
    for left, right, top, bottom in boxes:
        assert 0 <= left < right - 10 <= width
        assert 0 <= top < bottom - 10 <= 690
    edges = page.evaluate(
        "['#ruler', '#bars'].map(s => "
        "(b => [b.left, b.right])(document.querySelector(s).getBoundingClientRect()))"
    )
    assert edges[0] == edges[1], "the ruler stands above the lanes"
    run = fused_run()
    x, y = show_bar(page, "runs", run)
    assert page.evaluate(f"afterglow.hit({x}, {y})")["index"] == run


def test_nothing_is_drawn_without_a_reason(page: Page) -> None:
    page.move(300, 300)
    before = state(page)["draws"]
    page.move(500, 350)
    page.move(600, 200)
    page.settle()
    assert state(page)["draws"] == before, "the pointer moves over the bars, which stay"
    page.key("w")
    assert state(page)["draws"] == before + 1


@pytest.mark.parametrize(
    "recording", [Recording(), Recording(duration=5, threads=["MainThread"], python_threads=1)]
)
def test_empty_recordings_open(browser: Browser, tmp_path: Path, recording: Recording) -> None:
    write_page(recording, tmp_path / "empty.html")
    page = browser.open((tmp_path / "empty.html").as_uri())
    page.wait_for("window.afterglow")
    for key in ("w", "d", "f", "Escape"):
        page.key(key)
    page.evaluate("document.querySelector('#lanes').focus()")
    page.key("Enter")
    page.key("/")
    page.type("dot")
    page.key("Enter")
    assert page.text("#hits") == "0 hits"
    assert page.errors == []
    page.close()


def test_a_spoilt_file_says_so(browser: Browser, address: str, tmp_path: Path) -> None:
    write_page(RECORDING, tmp_path / "spoilt.html")
    text = (tmp_path / "spoilt.html").read_text("utf-8")
    start = text.index('type="text/plain">') + 500
    (tmp_path / "spoilt.html").write_text(text[:start] + "AAAA" * 50 + text[start + 200 :])
    page = browser.open((tmp_path / "spoilt.html").as_uri())
    page.wait_for("document.querySelector('#headline').innerText.includes('could not be read')")
    assert page.errors
    page.close()


def test_a_million_events_open_and_redraw(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = many(1_000_000)
    path = tmp_path / "million.html"
    write_page(recording, path)
    page = browser.open(path.as_uri())
    page.wait_for("window.afterglow")
    events = sum(page.evaluate("afterglow.counts")[name] for name in ("calls", "runs", "waits"))
    assert events > 950_000
    loaded = page.evaluate("afterglow.loadTime")
    times = {}
    for name, length in (
        ("all", recording.duration),
        ("a tenth", recording.duration / 10),
        ("1 ms", 1e6),
    ):
        show(page, recording.duration * 0.4, recording.duration * 0.4 + length)
        times[name] = sorted(page.evaluate("afterglow.redraw()") for _ in range(5))[2]
    page.key("f")
    x = page.evaluate("document.querySelector('#bars').getBoundingClientRect().left + 500.5")
    y = where(page, "runs", 0)[1]
    merged = page.evaluate(f"afterglow.hit({x}, {y})")
    assert merged["count"] > 100
    page.click(x, y)
    now = state(page)
    assert now["end"] - now["begin"] < recording.duration / 100, "a click on many bars zooms in"
    page.key("/")
    page.type('op:"dot"')
    assert state(page)["hits"] == (recording.calls["op"] == recording.texts.index("dot")).sum()
    page.key("Enter")
    assert page.errors == []
    page.close()
    with capsys.disabled():
        redraws = ", ".join(f"{name} {time:.1f} ms" for name, time in times.items())
        size = f"{path.stat().st_size / 1e6:.1f} MB"
        print(f"\n{events:,} events: {size}, loaded in {loaded:.0f} ms; redraw {redraws}")
    assert loaded < 10_000
    assert max(times.values()) < 1000


def test_many_threads_scroll(browser: Browser, tmp_path: Path) -> None:
    recording = training(10)
    # A thread of Python for each call, and the workers after them.
    calls = len(recording.calls["begin"])
    recording.threads = [f"Thread-{number}" for number in range(calls)] + ["worker 0", "worker 1"]
    recording.python_threads = calls
    recording.calls["thread"] = onp.arange(calls, dtype="i4")
    for table in (recording.runs, recording.waits, recording.marks):
        table["thread"] = onp.where(table["thread"] < 2, 0, table["thread"] + calls - 2).astype(
            "i4"
        )
    write_page(recording, tmp_path / "threads.html")
    page = browser.open((tmp_path / "threads.html").as_uri(), height=600)
    page.wait_for("window.afterglow")
    assert page.evaluate("document.querySelector('#bars').height") < 600
    last = calls - 1
    assert where(page, "calls", last)[1] > 600
    page.evaluate(
        f"document.querySelector('#scroller').scrollTop = {where(page, 'calls', last)[1] - 300}"
    )
    begin = int(recording.calls["begin"][last])
    show(page, begin - 2000, begin + 3000)
    x, y = where(page, "calls", last)
    assert 100 < y < 600
    page.click(x, y)
    assert state(page)["selected"] == {"kind": "issue", "index": last, "count": 1}
    assert colour_at(page, x, y + 7)[2] > 150
    page.key("/")
    page.type("op:copy")
    page.key("Enter")
    chosen = state(page)["selected"]["index"]
    assert 100 < where(page, "calls", chosen)[1] < 600, "the hit is scrolled into view"
    assert page.errors == []
    page.close()


def test_runs_whose_calls_are_lost_are_shown(browser: Browser, tmp_path: Path) -> None:
    recording = training(5)
    recording.calls = {name: column[:20] for name, column in recording.calls.items()}
    recording.lost = 25
    write_page(recording, tmp_path / "lost.html")
    page = browser.open((tmp_path / "lost.html").as_uri())
    page.wait_for("window.afterglow")
    assert "25 events left out" in page.text("#headline")
    last = len(recording.runs["begin"]) - 1
    begin, end = (int(recording.runs[name][last]) for name in ("begin", "end"))
    show(page, begin - 1000, end + 1000)
    page.click(*where(page, "runs", last))
    assert page.text("#panel h2") == f"pass {recording.runs['pass'][last]}"
    assert page.errors == []
    page.close()


def test_counters_below_zero_are_drawn_from_zero(browser: Browser, tmp_path: Path) -> None:
    recording = Recording(duration=1000, threads=["MainThread"], python_threads=1)
    recording.texts += ["counter", "gain", "game"]
    values = [4.0, -4.0, float("inf"), float("nan"), 0.0]
    columns = {
        "kind": [1] * 5,
        "name": [2] * 5,
        "domain": [3] * 5,
        "thread": [0] * 5,
        "begin": range(0, 1000, 200),
        "end": range(0, 1000, 200),
        "value": values,
    }
    for name, column in columns.items():
        recording.marks[name] = onp.array(column, recording.marks[name].dtype)
    write_page(recording, tmp_path / "counter.html")
    page = browser.open((tmp_path / "counter.html").as_uri())
    page.wait_for("window.afterglow")
    assert "-4 to 4" in page.text("#labels")
    top = page.evaluate("document.querySelector('#bars').getBoundingClientRect().top")
    left = page.evaluate("document.querySelector('#bars').getBoundingClientRect().left")
    plot = page.evaluate("afterglow.timeline.lanes.find(l => l.name === 'game').plots[0].top") + top
    height = page.evaluate("afterglow.timeline.plotHeight")

    def drawn(time: float) -> tuple[bool, bool]:
        """Whether there is colour in the upper and in the lower half of the plot."""
        x = left + page.evaluate(f"afterglow.timeline.x({time})")
        empty = colour_at(page, left + page.evaluate("afterglow.timeline.x(900)"), plot + 10)
        return (
            colour_at(page, x, plot + height / 4) != empty,
            colour_at(page, x, plot + height * 3 / 4) != empty,
        )

    assert [drawn(time) for time in (110, 310, 900)] == [
        (True, False),
        (False, True),
        (False, False),
    ]
    assert page.errors == []
    page.close()


def test_the_legend_fits_into_its_place(page: Page) -> None:
    words = page.evaluate("[...document.querySelectorAll('#legend span')].map(e => e.innerText)")
    assert words == ["issue", "wait", "run", "dropped", "fused"]
    inside = page.evaluate(
        "(box => [...document.querySelectorAll('#legend span')].every(e => {"
        " const b = e.getBoundingClientRect(); return b.left >= box.left && b.right <= box.right"
        " && b.top >= box.top && b.bottom <= box.bottom; }))"
        "(document.querySelector('#legend').getBoundingClientRect())"
    )
    assert inside


@pytest.mark.parametrize("width", [1000, 1400])
def test_long_names_leave_the_timeline_its_place(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    recording = training(10)
    recording.texts = [text and f"{text}{'_and_so_on' * 12}" for text in recording.texts]
    write_page(recording, tmp_path / "long.html")
    page = browser.open((tmp_path / "long.html").as_uri(), width=width)
    page.wait_for("window.afterglow")
    run = int(onp.flatnonzero(passes(recording).members[recording.runs["pass"]] == 3)[0])
    begin, end = (int(recording.runs[name][run]) for name in ("begin", "end"))
    show(page, begin - 10, end + 10)
    page.click(*where(page, "runs", run))  # lists the members
    widths = [page.evaluate("document.querySelector('#timeline').clientWidth")]
    for tab in ("Ops", "Layers", "Lines", "Waits", "Threads"):
        page.click_on(f"#tab-{tab}")
        widths.append(page.evaluate("document.querySelector('#timeline').clientWidth"))
        assert page.evaluate(
            "(p => p.scrollWidth <= p.clientWidth)(document.querySelector('#panel'))"
        )
    assert len(set(widths)) == 1
    assert widths[0] > width / 2
    assert page.errors == []
    page.close()


def test_several_devices_have_lanes_and_arrows(browser: Browser, tmp_path: Path) -> None:
    write_page(two_devices(), tmp_path / "devices.html")
    page = browser.open((tmp_path / "devices.html").as_uri())
    page.wait_for("window.afterglow")
    page.settle()
    lanes = {lane["name"]: lane["rows"] for lane in page.evaluate("afterglow.lanes()")}
    assert [[row["bars"] for row in lanes[name]] for name in ("cpu(0)", "gpu(1)")] == [[4, 1], [3]]
    assert {row["kind"] for name in ("cpu(0)", "gpu(1)") for row in lanes[name]} == {"span"}
    assert state(page)["copies"] == 2
    page.click(*where(page, "spans", 2))
    assert state(page)["selected"] == {"kind": "span", "index": 2, "count": 1}
    assert "cpu(0) to gpu(1)" in page.text("#panel")
    page.evaluate("afterglow.view.show(0, 4500)")
    page.settle()
    assert state(page)["copies"] == 0
    assert page.errors == []
    page.close()
