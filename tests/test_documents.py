# SPDX-License-Identifier: Apache-2.0
"""The examples of the README run as they stand."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_examples_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL
    )
    assert blocks
    for block in blocks:
        exec(compile(block, name, "exec"), {})
    printed = capsys.readouterr().out
    assert "<NDArray 1 @cpu(0)>" in printed
    assert "'issued'" in printed
