# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/c-api.md print what stands below them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from support_c import BUILT, built, run

ROOT = Path(__file__).parents[2]
COMPILERS = {
    "c": (os.environ.get("CC", "cc"), "-std=c11"),
    "cpp": (os.environ.get("CXX", "c++"), "-std=c++17"),
}


def programs(guide: str) -> list[tuple[str, ...]]:
    """Return language, program and what it prints."""
    text = (ROOT / "docs" / guide).read_text(encoding="utf-8")
    pattern = r"```(c|cpp)\n(.*?)```\n\n```text\n(.*?)```"
    return re.findall(pattern, text, re.DOTALL)


def test_both_languages_have_the_same_programs() -> None:
    assert len(programs("c-api.md")) == 2
    assert programs("c-api.md") == programs("c-api.zh.md")


@pytest.mark.parametrize(("language", "program", "printed"), programs("c-api.md"))
def test_programs(language: str, program: str, printed: str, tmp_path: Path) -> None:
    built("libafterglow.so")
    source, result = tmp_path / f"program.{language}", tmp_path / "program"
    source.write_text(program, encoding="utf-8")
    subprocess.run(
        [*COMPILERS[language], "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", source,
         f"-L{BUILT}", "-lafterglow", f"-Wl,-rpath,{BUILT}", "-o", result],
        check=True,
    )  # fmt: skip
    assert run(result) == printed
