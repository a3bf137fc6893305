# SPDX-License-Identifier: Apache-2.0
"""What is logged and printed in training is what MXNet logs and prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from module.log_cases import CASES, lines_of

import afterglow as mx

LINES = json.loads(Path(__file__).with_name("logs.json").read_text())


@pytest.mark.parametrize("name", CASES)
def test_like_mxnet(name: str) -> None:
    assert lines_of(mx, name) == LINES[name]
