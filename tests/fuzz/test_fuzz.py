# SPDX-License-Identifier: Apache-2.0
"""A few programs of every kind; ``make fuzz`` runs many."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fuzz.__main__ import kinds, run_here

#: Always the same programs, which are known to be right; ``make fuzz`` looks at others.
SEED = 2026


@pytest.mark.parametrize("kind", kinds())
def test_programs_of_every_kind(kind: str) -> None:
    assert run_here(kind, SEED, 3) >= 1


def test_the_command_says_how_to_replay() -> None:
    command = [sys.executable, "-m", "tests.fuzz"]
    done = subprocess.run(
        [*command, "--seconds", "0", "--seed", "7", "gradients"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "programs run with seed 7: 1 gradients" in done.stdout
