# SPDX-License-Identifier: Apache-2.0
"""The whole tour, quickly, in a process of its own: what it prints and the page it writes."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support import environment, run_command

from afterglow.tour.words.english import ENGLISH

CHAPTERS = ["queued", "touches", "overwritten", "loops", "memory", "hybridized", "parallel"]
VOID = {"meta", "br"}


@dataclass
class Page(HTMLParser):
    """What a reader finds on the page; a tag that is not closed is an error."""

    open_tags: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str]] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    summary: list[str] = field(default_factory=list)
    pictures: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.attributes += given.items()
        if tag not in VOID:
            self.open_tags.append(tag)
        if tag == "section":
            self.sections.append(given["id"])
            self.tables[given["id"]] = []
        elif tag == "svg":
            self.pictures[self.sections[-1]] = self.pictures.get(self.sections[-1], 0) + 1
        elif tag == "tr":
            self.tables[self.sections[-1]].append([])
        elif tag in ("td", "th"):
            self.tables[self.sections[-1]][-1].append("")
        elif tag == "p" and given.get("class") == "finding":
            self.findings.append("")

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.attributes += ((name, value or "") for name, value in attributes)

    def handle_endtag(self, tag: str) -> None:
        assert self.open_tags.pop() == tag

    def handle_data(self, data: str) -> None:
        last = self.open_tags[-1] if self.open_tags else ""
        if last in ("td", "th"):
            self.tables[self.sections[-1]][-1][-1] += data
        elif last == "span" and "ol" in self.open_tags:
            self.summary.append(data)
        elif last == "p" and len(self.findings) == len(self.sections) > 0 and not self.findings[-1]:
            self.findings[-1] = data


@dataclass
class Tour:
    out: str
    text: str
    page: Page


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Tour:
    folder = tmp_path_factory.mktemp("tour")
    done = subprocess.run(
        [sys.executable, "-m", "afterglow.tour", "--quick"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env=environment(LC_ALL="C.UTF-8"),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in folder.iterdir()] == ["afterglow-tour.html"]
    text = (folder / "afterglow-tour.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    page.close()
    return Tour(done.stdout, text, page)


def test_every_chapter_has_a_table_and_a_picture_for_both_widths(tour: Tour) -> None:
    assert tour.page.open_tags == []
    assert tour.page.sections == CHAPTERS
    assert tour.page.pictures == dict.fromkeys(CHAPTERS, 2)
    assert all(len(rows) > 2 for rows in tour.page.tables.values())
    for name in CHAPTERS:
        assert ENGLISH[f"{name}.title"] in tour.out
        assert ENGLISH[f"{name}.title"] in tour.text


def test_the_page_and_the_terminal_show_the_same_figures(tour: Tour) -> None:
    lines = [re.sub(r" {2,}", "|", line.strip(" ")) for line in tour.out.splitlines()]
    for rows in tour.page.tables.values():
        for row in rows:
            assert "|".join(cell for cell in row if cell) in lines, row
    assert len(tour.page.findings) == len(CHAPTERS)
    assert tour.page.summary == tour.page.findings
    in_terminal = re.sub(r"\s+", "", tour.out)
    for finding in tour.page.findings:
        assert re.search(r"\d", finding), finding
        assert re.sub(r"\s+", "", finding) in in_terminal


def test_the_page_needs_nothing_from_elsewhere(tour: Tour) -> None:
    without_names_of_formats = tour.text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "://" not in without_names_of_formats
    assert not re.search(r"@import|url\(|<script|<link|<img|<iframe", tour.text)
    links = {value for name, value in tour.page.attributes if name in ("href", "src", "srcset")}
    assert links == {f"#{name}" for name in CHAPTERS}
    assert "prefers-color-scheme:dark" in tour.text


def test_no_escape_codes_without_a_terminal(tour: Tour) -> None:
    assert "\x1b" not in tour.out
    assert "\r" not in tour.out


def test_what_must_have_waited_is_said_to_wait(tour: Tour) -> None:
    waits = {row[0]: row[2] for row in tour.page.tables["touches"][1:]}
    for touch in ("y.wait_to_read()", "nd.waitall()", "y.asnumpy()", "float(y.sum())", "print(y)"):
        assert waits[touch] == "yes"
    assert {"y.shape", "y + 1", "nd.dot(y, y)"} < set(waits)


def test_every_overwritten_call_is_computed_or_dropped(tour: Tour) -> None:
    rows = {row[0]: row[1:] for row in tour.page.tables["overwritten"]}
    counts = {name: [int(cell.replace(",", "")) for cell in rows[name]] for name in list(rows)[2:]}
    assert counts[ENGLISH["issued"]] == [200, 200]
    assert counts[ENGLISH["dropped"]][0] == 0
    assert counts[ENGLISH["dropped"]][1] > 100
    for column in (0, 1):
        run, dropped = counts[ENGLISH["run"]][column], counts[ENGLISH["dropped"]][column]
        assert run + dropped == 200


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        (["--output", "missing/page.html"], {}, "the folder missing does not exist"),
        (["--output", "."], {}, ". is a folder, but a file is needed"),
        (["--picture", "missing/x.svg"], {}, "the folder missing does not exist"),
        ([], {"AFTERGLOW_ENGINE": "serial"}, "the tour needs its threads"),
    ],
)
def test_what_cannot_work_is_said_before_anything_runs(
    arguments: list[str], settings: dict[str, str], message: str, tmp_path: Path
) -> None:
    done = run_command("tour", *arguments, folder=tmp_path, **settings)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("afterglow tour: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_importing_the_package_does_not_import_the_tour() -> None:
    script = "import sys, afterglow; print([m for m in sys.modules if 'afterglow.tour' in m])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
