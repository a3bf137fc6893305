# SPDX-License-Identifier: Apache-2.0
"""The node tests of onnx: all of documented ops pass, and most of all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="the package onnx is not installed")

from afterglow.onnx._importers import supported

from .node_cases import OTHER_ANSWERS, all_cases, failure, is_counted, is_documented

_DOCUMENTS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
def test_node_cases_of_onnx() -> None:
    cases = [case for case in all_cases() if is_counted(case)]
    wrong = {case.name: failure(case) for case in cases}
    failed = {name: text for name, text in wrong.items() if text is not None}
    share = 1 - len(failed) / len(cases)
    print(f"{len(cases) - len(failed)} of {len(cases)} node tests pass ({share:.1%})")
    documented = {case.name for case in cases if is_documented(case)}
    unexpected = {
        name: text
        for name, text in failed.items()
        if name in documented and name not in OTHER_ANSWERS
    }
    assert not unexpected
    assert share >= 0.85


LISTS = {
    "ops of ai.onnx": supported(),
    "ops that NumPy computes": supported(on_host=True),
    "ops of ai.onnx.ml": supported("ai.onnx.ml"),
}


@pytest.mark.parametrize("language", ["", ".zh"])
@pytest.mark.parametrize("title", LISTS)
def test_the_guide_lists_the_ops_of_the_table(language: str, title: str) -> None:
    text = (_DOCUMENTS / f"onnx{language}.md").read_text(encoding="utf-8")
    found = re.search(f"<!-- {title} -->(.*?)<!-- end -->", text, re.DOTALL)
    assert found is not None
    assert re.findall(r"`(\w+)`", found[1]) == LISTS[title]
