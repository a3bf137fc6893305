# SPDX-License-Identifier: Apache-2.0
"""afterglow reference: every public name is in the page and in the Markdown files."""

from __future__ import annotations

import doctest
import inspect
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from afterglow._arrays.op_functions import table
from afterglow._core import Operation
from afterglow.cli import _inventory, main

ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """What stands in a page: its anchors, and per article or member the text of its parts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.loaded: list[str] = []
        self.entries: dict[str, dict[str, str]] = {}
        self._open: list[tuple[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.ids.append(given["id"])
        if "href" in given:
            (self.targets if tag == "a" else self.loaded).append(given["href"])
        if "src" in given:
            self.loaded.append(given["src"])
        if tag in ("article", "details"):
            self.entries[given["id"]] = {"signature": "", "examples": "", "text": ""}
            self._open.append((tag, given["id"]))
        elif tag in ("h2", "h3", "pre", "summary"):
            self._open.append((tag, given.get("class", "")))

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1][0] == tag:
            self.handle_data("\n\n")  # examples are apart
            self._open.pop()

    def handle_data(self, data: str) -> None:
        entry = next(
            (name for tag, name in reversed(self._open) if tag in ("article", "details")), ""
        )
        inside = self._open[-1] if self._open else ("", "")
        part = {"pre": inside[1] or "examples", "h3": "", "summary": ""}.get(inside[0], "text")
        if entry and part:
            self.entries[entry][part] += data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reference") / "new"
    assert main(["reference", str(made)]) == 0
    return made


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return Page((folder / "index.html").read_text("utf-8"))


NAMES = {
    ".".join(filter(None, ("mx", path.strip("."), name))): (path, name)
    for path, names in _inventory.public_names().items()
    for name in names
}


def test_every_public_name_has_a_signature_and_a_text(page: Page) -> None:
    """Those of `afterglow list`, which stand in the modules."""
    assert len(NAMES) > 2500
    articles = {name for name in page.entries if name in NAMES}
    assert articles == {*NAMES}
    assert {name for name in NAMES if not page.entries[name]["signature"]} == set()
    without = {name for name in NAMES if not page.entries[name]["text"].strip()}
    assert without == set()


def test_signatures_are_those_of_python(page: Page) -> None:
    for name in ("mx.nd.softmax", "mx.np.random.normal", "mx.npx.one_hot", "mx.gluon.nn.Dense"):
        path, last = NAMES[name]
        names = [*inspect.signature(_inventory.value_of(path, last)).parameters]
        shown = page.entries[name]["signature"]
        assert shown.startswith(f"{last}(")
        assert [one for one in names if not re.search(rf"\b{one}\b", shown)] == []
    assert "act_type=None" in page.entries["mx.sym.Activation"]["signature"]
    assert "ignore_label" in page.entries["mx.sym.Softmax"]["signature"]
    assert page.entries["mx.np.pi"]["signature"].startswith("pi = 3.14159")
    assert (
        "(units: int, activation: str | None = None,"
        in page.entries["mx.gluon.nn.Dense"]["signature"]
    )
    assert not [name for name, entry in page.entries.items() if " at 0x" in entry["signature"]]


def test_ops_tell_what_the_table_says(page: Page) -> None:
    """Their first line, their parameters, and their examples as the tests run them."""
    told = 0
    for name, (path, last) in NAMES.items():
        function: Any = _inventory.value_of(path, last)
        if not isinstance(function, Operation) or "The same as" in page.entries[name]["text"]:
            continue
        text = page.entries[name]["text"]
        for parameter, (_, _, described) in table()[function.name]["described"].items():
            assert parameter in text
            assert re.sub(r"[`*\s]", "", described) in re.sub(r"[`*\s]", "", text), name
        examples = doctest.DocTestParser().get_examples(function.__doc__ or "")
        shown = doctest.DocTestParser().get_examples(page.entries[name]["examples"])
        assert [(one.source, one.want) for one in shown] == [
            (one.source, one.want) for one in examples
        ], name
        told += 1
    assert told > 500


def test_one_thing_is_told_once(page: Page) -> None:
    """By its own name, in the first namespace above where it is written."""
    for name, other in {
        "mx.np.absolute": "mx.np.abs",
        "mx.gluon.nn.Block": "mx.gluon.Block",
        "mx.gluon.block.Block": "mx.gluon.Block",
        "mx.nd.ndarray.NDArray": "mx.nd.NDArray",
        "mx.random.uniform": "mx.nd.random.uniform",
        "mx.nd.NDArray.exp": "mx.nd.exp",
    }.items():
        assert f"The same as {other}." in page.entries[name]["text"]
        assert "The same as" not in page.entries[other]["text"]
    assert "Has what mx.gluon.HybridBlock has." in page.entries["mx.gluon.nn.Dense"]["text"]
    assert "mx.nd.NDArray.asnumpy" in page.entries
    assert "mx.gluon.nn.Dense.collect_params" not in page.entries


def test_anchors_lead_somewhere_and_nothing_is_loaded(page: Page) -> None:
    assert len(page.ids) == len({*page.ids})
    inner = {target.removeprefix("#") for target in page.targets if target.startswith("#")}
    assert inner - {*page.ids} == set()
    assert {*NAMES} <= inner
    assert [one for one in page.loaded if not one.startswith("data:")] == []


def test_markdown_files_have_the_same(folder: Path) -> None:
    for path, names in _inventory.public_names().items():
        title = ".".join(filter(None, ("mx", path.strip("."))))
        text = (folder / f"{title}.md").read_text("utf-8")
        assert text.startswith(f"# {title}\n")
        headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
        assert headings == [f"{title}.{name}" for name in names]
    assert "softmax(data" in (folder / "mx.nd.md").read_text("utf-8")


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["reference", str(tmp_path / "file")]) == 1
    assert "cannot write to" in capsys.readouterr().err


@pytest.mark.parametrize("pattern", ["docs/reference/index.html", "docs/reference/mx*.md"])
def test_what_is_written_is_not_checked_in(pattern: str) -> None:
    assert pattern in (ROOT / ".gitignore").read_text().splitlines()
