# SPDX-License-Identifier: Apache-2.0
"""The examples of the README and of the guides run as they stand."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDES = ("arrays", "autograd", "timing")
GUIDE_ENDINGS = (".md", ".zh.md")


def blocks_of(name: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    return blocks


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_examples_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks_of(name):
        exec(compile(block, name, "exec"), {})
    printed = capsys.readouterr().out
    assert "<NDArray 1 @cpu(0)>" in printed
    assert "'issued'" in printed
    weight, bias = re.findall(r"\[+ *([-\d. ]+)\]+", printed)[-2:]
    assert [float(number) for number in weight.split()] == pytest.approx([2, -3.4], abs=0.1)
    assert float(bias) == pytest.approx(4.2, abs=0.1)


@pytest.mark.parametrize(
    "name",
    [f"docs/{guide}{ending}" for guide in GUIDES for ending in GUIDE_ENDINGS],
)
def test_guides_print_what_they_say(name: str) -> None:
    """All blocks of a guide are one session."""
    session = doctest.DocTestParser().get_doctest("\n".join(blocks_of(name)), {}, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report: list[str] = []
    assert runner.run(session, out=report.append).failed == 0, "".join(report)


def test_guides_say_the_same_in_both_languages() -> None:
    for guide in GUIDES:
        english, chinese = (
            [re.sub(r" *#.*", "", block) for block in blocks_of(f"docs/{guide}{ending}")]
            for ending in GUIDE_ENDINGS
        )
        assert english == chinese
