# SPDX-License-Identifier: Apache-2.0
"""Contract 8: whole programs take the steps that they take with MXNet, in every mode."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import environment

from tests.whole_programs.__main__ import LOSSES, MODES, PROGRAMS, distance

ROOT = Path(__file__).parents[2]
RECORDED = json.loads(LOSSES.read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_trains_as_with_mxnet(name: str) -> None:
    """In a process of its own, in which ``mxnet`` means Afterglow."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.whole_programs", "--json", name],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(MXNET_GLUON_REPO="file:///nowhere"),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)[name]
    for mode in MODES:
        answer, expected = found[mode], RECORDED[name][mode]
        if "error" in expected:  # MXNet cannot run it in this mode
            expected = RECORDED[name]["nd plain"]
        assert distance(answer["losses"], expected["losses"]) < 1e-4, mode
        assert answer["score"] == pytest.approx(expected["score"], abs=0.02), mode
        assert answer["score"] >= PROGRAMS[name], mode
