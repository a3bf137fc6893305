# SPDX-License-Identifier: Apache-2.0
"""Contract 1: a program gives what its statements give one by one, on any number of threads."""

from __future__ import annotations

import os
import subprocess
import sys

import programs
import pytest

NUMPY_PROGRAMS = 320
LEGACY_PROGRAMS = 120
#: How many of them other settings repeat.
REPEATED = 80

_SETTINGS = ("AFTERGLOW_ENGINE", "AFTERGLOW_NUM_THREADS", "MXNET_ENGINE_TYPE", "OMP_NUM_THREADS")


@pytest.mark.parametrize("part", range(8))
def test_numpy_programs_agree_with_numpy(part: int) -> None:
    each = NUMPY_PROGRAMS // 8
    programs.digests("np", part * each, (part + 1) * each)


@pytest.mark.parametrize("part", range(4))
def test_legacy_programs_agree_with_numpy(part: int) -> None:
    each = LEGACY_PROGRAMS // 4
    programs.digests("nd", part * each, (part + 1) * each)


def test_programs_differ() -> None:
    assert len(set(programs.digests("np", 0, 20))) == 20


@pytest.fixture(scope="module")
def here() -> dict[str, list[str]]:
    return {front: programs.digests(front, 0, REPEATED) for front in ("np", "nd")}


@pytest.mark.parametrize("front", ["np", "nd"])
@pytest.mark.parametrize(
    "settings",
    [
        {"AFTERGLOW_ENGINE": "serial"},
        {"AFTERGLOW_NUM_THREADS": "1"},
        {"AFTERGLOW_NUM_THREADS": "4"},
    ],
    ids=["serial", "1 thread", "4 threads"],
)
def test_same_bits_under_other_settings(
    here: dict[str, list[str]], settings: dict[str, str], front: str
) -> None:
    plain = {name: value for name, value in os.environ.items() if name not in _SETTINGS}
    done = subprocess.run(
        [sys.executable, programs.__file__, front, "0", str(REPEATED)],
        capture_output=True,
        text=True,
        timeout=120,
        env=plain | settings,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == here[front]


def test_same_bits_again(here: dict[str, list[str]]) -> None:
    assert programs.digests("np", 0, 30) == here["np"][:30]
