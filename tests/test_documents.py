# SPDX-License-Identifier: Apache-2.0
"""The documents: examples run as they stand, both languages say the same, links lead somewhere.

A guide is any file of docs/. Its Python blocks are one session in a process of its own.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support import run_child

ROOT = Path(__file__).parents[1]
GUIDES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
PAIRS = sorted(
    {(f"{stem}.md", f"{stem}.zh.md") for stem in (name.split(".", 1)[0] for name in GUIDES)}
)
DOCUMENTS = [path.name for path in ROOT.glob("*.md")] + GUIDES


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks_of(name: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text_of(name), re.DOTALL)


def prose_of(name: str) -> str:
    return re.sub(r"^( *)```.*?^\1```", "", text_of(name), flags=re.DOTALL | re.MULTILINE)


def headings_of(name: str) -> list[str]:
    return re.findall(r"^#+ +(.*)$", prose_of(name), re.MULTILINE)


# --- examples ---


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_examples_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = blocks_of(name)
    assert blocks
    for block in blocks:
        exec(compile(block, name, "exec"), {})
    printed = capsys.readouterr().out
    assert "<NDArray 1 @cpu(0)>" in printed
    assert "'issued'" in printed


def test_front_pages_show_the_same() -> None:
    english, chinese = (
        [re.sub(r" *#.*", "", block) for block in blocks_of(name)]
        for name in ("README.md", "README.zh.md")
    )
    assert english == chinese
    assert len(headings_of("README.md")) == len(headings_of("README.zh.md"))
    rows, others = (
        re.findall(r"^\|.*", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        for name in ("README.md", "README.zh.md")
    )
    assert len(rows) == len(others)
    for row, other in zip(rows, others, strict=True):
        assert re.findall(r"\d[\d.]*", row.split("|", 2)[2]) == re.findall(
            r"\d[\d.]*", other.split("|", 2)[2]
        )


#: What a child does: names in examples are those of a fresh interpreter.
_SESSION = """
import doctest, warnings
warnings.simplefilter("error")
names, name, report = {{"__name__": "__main__"}}, {name!r}, []
session = doctest.DocTestParser().get_doctest({text!r}, names, name, name, 0)
runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
results = runner.run(session, out=report.append)
print("".join(report), end="")
raise SystemExit(min(results.failed, 100) if results.attempted else 101)
"""


@pytest.mark.parametrize("name", [english for english, _ in PAIRS if blocks_of(english)])
def test_guides_print_what_they_say(name: str, tmp_path: Path) -> None:
    """In a folder for what they write; the Chinese guide has the very same code and results."""
    blocks = blocks_of(name)
    assert all(block.startswith(">>> ") for block in blocks), "an example that shows no result"
    session = _SESSION.format(text="\n".join(blocks), name=name)
    done = run_child(session, prelude=False, folder=tmp_path)
    assert (done.code, done.err) == (0, ""), f"{done.out}\n{done.err}"


# --- two languages ---


@pytest.mark.parametrize(("english", "chinese"), PAIRS)
def test_guides_say_the_same_in_both_languages(english: str, chinese: str) -> None:
    """Line by line the same code and results; only comments are translated."""
    one, two = (
        [re.sub("  # .*", "", block) for block in blocks_of(name)] for name in (english, chinese)
    )
    assert one == two
    assert len(headings_of(english)) == len(headings_of(chinese))
    for name, other in ((english, chinese), (chinese, english)):
        assert f"]({Path(other).name})" in text_of(name), f"{name} does not lead to {other}"


def entries_of(name: str) -> list[tuple[int, list[list[str]]]]:
    """Return per heading its level and the code words of each row, item and paragraph below."""
    sections: list[tuple[int, list[list[str]]]] = []
    for line in re.split(r"\n(?=#|\||- )|\n\n", text_of(name)):
        heading = re.match(r"(#+) ", line)
        if heading:
            sections.append((len(heading[1]), []))
        sections[-1][1].append(sorted(re.findall(r"`([^`]+)`", line)))
    return sections


def test_differences_have_the_same_entries_in_both_languages() -> None:
    english, chinese = (entries_of(f"docs/differences{end}") for end in (".md", ".zh.md"))
    assert [level for level, _ in english] == [level for level, _ in chinese]
    for number, ((_, one), (_, two)) in enumerate(zip(english, chinese, strict=True)):
        for entry, other in zip(one, two, strict=False):
            assert entry == other, f"section {number}"
        assert len(one) == len(two), f"section {number}"


# --- links ---


def anchors_of(file: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a document."""
    return {
        re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")
        for heading in headings_of(str(file))
    }


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str) -> None:
    lost = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose_of(name)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        if not file.exists() or (anchor and anchor not in anchors_of(file)):
            lost.append(target)
    assert not lost, f"links of {name} that lead nowhere"


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_are_named_are_there(name: str) -> None:
    """By the end of their path, such as `lazy/op.h`."""
    named = set(re.findall(r"`([\w./-]+\.(?:cpp|def|h|json|py|pyi))`", prose_of(name)))
    folders = ("afterglow", "benchmarks", "include", "src", "tests")
    there = [f"/{path}" for folder in folders for path in (ROOT / folder).rglob("*.*")]
    assert {one for one in named if not any(path.endswith(f"/{one}") for path in there)} == set()


@pytest.mark.parametrize("number", [0, 1])
def test_index_lists_every_guide(number: int) -> None:
    index, *others = sorted((pair[number] for pair in PAIRS), key=lambda name: "README" not in name)
    listed = set(re.findall(r"\]\(([\w.-]+)\)", text_of(index)))
    assert {Path(name).name for name in others} <= listed
