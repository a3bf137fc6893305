# SPDX-License-Identifier: Apache-2.0
"""The page's file: its data read back here, without the browser, which has tests of its own."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from recordings import many, training
from support import output_of

import afterglow.trace
from afterglow.trace import Recording
from afterglow.trace.page import write_page
from afterglow.trace.summary import summarize

PARTS = Path(afterglow.trace.__file__).parent / "page"
TABLES = ("calls", "runs", "waits", "memory", "marks")


def read_back(path: Path) -> dict[str, Any]:
    """Return the header of a page's data with the tables in it."""
    text = path.read_text("utf-8")
    (encoded,) = re.findall(r'<script id="data" type="text/plain">([^<]*)</script>', text)
    block = zlib.decompress(base64.b64decode(encoded))
    size = int.from_bytes(block[:4], "little")
    header = json.loads(block[4 : 4 + size])
    start = -(-(4 + size) // 8) * 8
    for name in TABLES:
        table = header[name] = {}
        for column, told in header["tables"][name].items():
            at, dtype = start + told["at"], onp.dtype("<" + told["type"])
            assert at % 8 == 0
            values = onp.frombuffer(block, dtype, told["length"], at).astype("f8")
            if told["stored"] == "steps":
                values = onp.cumsum(values)
            elif told["stored"] == "lengths":
                values = table["begin"] + values
            table[column] = values
    return header


@pytest.mark.parametrize("make", [training, lambda: many(30_000), Recording])
def test_data_reads_back(make: Any, tmp_path: Path) -> None:
    recording = make()
    write_page(recording, tmp_path / "page.html")
    header = read_back(tmp_path / "page.html")
    assert header["duration"] == recording.duration
    assert header["threads"] == recording.threads
    assert header["texts"] == recording.texts
    for name in TABLES:
        table = getattr(recording, name)
        assert set(header[name]) == set(table)
        for column, values in table.items():
            onp.testing.assert_array_equal(header[name][column], values, f"{name}.{column}")


def test_long_times_are_exact(tmp_path: Path) -> None:
    recording = training(4)
    shift = 5 * 3600 * 10**9
    for name in ("begin", "end"):
        recording.calls[name][20:] += shift
    recording.calls["end"][-1] += shift
    write_page(recording, tmp_path / "page.html")
    header = read_back(tmp_path / "page.html")
    onp.testing.assert_array_equal(header["calls"]["begin"], recording.calls["begin"])
    onp.testing.assert_array_equal(header["calls"]["end"], recording.calls["end"])


def test_summary_is_the_same(tmp_path: Path) -> None:
    recording = training()
    write_page(recording, tmp_path / "page.html")
    header, summary = read_back(tmp_path / "page.html"), summarize(recording)
    assert header["headline"] == summary.headline()
    assert [row["run"] for row in header["summary"]["ops"]] == [row.run for row in summary.ops]
    assert [row["time"] for row in header["summary"]["waits"]] == [
        row.time for row in summary.waits
    ]


def test_texts_cannot_break_the_page(tmp_path: Path) -> None:
    recording = training(3)
    recording.texts[1] = "</script><script>alert(1)</script> @@data@@"
    write_page(recording, tmp_path / "page.html", title="<b>&@@data@@")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "<title>&lt;b&gt;&amp;@@data@@</title>" in text
    assert "alert(1)" not in text
    assert text.count("</script>") == 2
    assert read_back(tmp_path / "page.html")["texts"][1] == recording.texts[1]


def test_all_parts_are_in_the_page(tmp_path: Path) -> None:
    write_page(training(), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    parts = [*PARTS.glob("*.js"), PARTS / "page.css"]
    assert len(parts) > 5
    for part in parts:
        assert part.read_text("utf-8") in text, part.name
    assert {part.suffix for part in PARTS.iterdir()} == {".js", ".css", ".html"}


def test_the_file_needs_nothing_else(tmp_path: Path) -> None:
    write_page(training(), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert re.findall(r"https?://|url\(|@import|src=", text) == []
    assert re.findall(r'href="([^"]*)"', text) == ["data:,"]


def test_small_numbers_make_small_files(tmp_path: Path) -> None:
    recording = many(100_000)
    write_page(recording, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 20 * 100_000


def test_importing_afterglow_does_not_import_pages() -> None:
    script = """
    parts = ("page", "summary", "events", "measures")
    print([name for name in parts if f"afterglow.trace.{name}" in sys.modules])
    """
    assert output_of(script) == ["[]"]
