# SPDX-License-Identifier: Apache-2.0
"""Contract 1: a program gives what its statements give one by one, on any schedule.

On any number of threads, with any choice of passes, alone or beside other programs.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading

import programs
import pytest
from support import environment, gained, runs_later

import afterglow as mx

NUMPY_PROGRAMS = 180
LEGACY_PROGRAMS = 90
#: How many of them other settings repeat.
REPEATED = 40
#: How many of them each choice of passes repeats.
WITH_PASSES = 15
#: How many, with large arrays, run under a limit of memory.
WITHIN_LIMITS = 4


@pytest.mark.parametrize("part", range(6))
def test_numpy_programs_agree_with_numpy(part: int) -> None:
    each = NUMPY_PROGRAMS // 6
    programs.digests("np", part * each, (part + 1) * each)


@pytest.mark.parametrize("part", range(3))
def test_legacy_programs_agree_with_numpy(part: int) -> None:
    each = LEGACY_PROGRAMS // 3
    programs.digests("nd", part * each, (part + 1) * each)


def test_programs_differ() -> None:
    assert len(set(programs.digests("np", 0, 20))) == 20


@runs_later
@pytest.mark.parametrize("front", ["np", "nd"])
def test_programs_are_optimised(front: str) -> None:
    """Without this the other tests here would prove little."""
    before = mx.engine.stats()
    programs.digests(front, 0, 20)
    mx.nd.waitall()
    change = gained(before)
    assert change["issued"] == change["run"] + change["dropped"]
    assert change["dropped"] > 0.1 * change["issued"]
    assert change["fused_calls"] > 0.2 * change["run"]


@pytest.fixture(scope="module")
def here() -> dict[str, list[str]]:
    return {front: programs.digests(front, 0, REPEATED) for front in ("np", "nd")}


def printed(*arguments: str, **settings: str) -> list[str]:
    """Return what the programs print in a process of their own."""
    done = subprocess.run(
        [sys.executable, programs.__file__, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(**settings),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize("front", ["np", "nd"])
@pytest.mark.parametrize(
    "settings",
    [
        {"AFTERGLOW_ENGINE": "serial"},
        {"AFTERGLOW_NUM_THREADS": "1"},
        {"AFTERGLOW_NUM_THREADS": "4"},
        {"AFTERGLOW_DISABLE_PASSES": "all"},
        {"AFTERGLOW_RUN_AHEAD_BYTES": "0"},
    ],
    ids=["serial", "1 thread", "4 threads", "no passes", "no running ahead"],
)
def test_same_bits_under_other_settings(
    here: dict[str, list[str]], settings: dict[str, str], front: str
) -> None:
    assert printed(front, "0", str(REPEATED), **settings) == here[front]


@pytest.mark.parametrize("front", ["np", "nd"])
@pytest.mark.parametrize(
    "passes",
    list(itertools.product([True, False], repeat=3)),
    ids=lambda passes: "+".join(itertools.compress(["drop", "fuse", "reuse"], passes)) or "none",
)
def test_same_bits_with_any_passes(
    here: dict[str, list[str]], passes: tuple[bool, ...], front: str
) -> None:
    for name, on in zip(mx.engine.passes(), passes, strict=True):
        mx.engine.set_pass(name, on)
    assert list(mx.engine.passes().values()) == list(passes)
    assert programs.digests(front, 0, WITH_PASSES) == here[front][:WITH_PASSES]


def test_same_bits_again(here: dict[str, list[str]]) -> None:
    assert programs.digests("np", 0, 30) == here["np"][:30]


@pytest.mark.parametrize("front", ["np", "nd"])
def test_same_bits_beside_other_programs(front: str) -> None:
    """Threads share the window: their calls are fused, dropped and run together."""
    each, count = 12, 4
    alone = programs.digests(front, 0, each * count, alone=False)
    together: dict[int, list[str]] = {}
    problems: list[str] = []
    start = threading.Barrier(count)

    def work(number: int) -> None:
        try:
            start.wait()
            together[number] = programs.digests(
                front, each * number, each * (number + 1), alone=False
            )
        except BaseException as problem:
            problems.append(repr(problem))

    with programs.everything_fuses():
        threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
            assert not thread.is_alive()
    assert problems == []
    assert [digest for number in range(count) for digest in together[number]] == alone


@pytest.mark.parametrize("front", ["np", "nd"])
def test_what_fits_serially_fits(front: str) -> None:
    """A limit just above what a serial run needs is met on threads as well."""
    which = front, "0", str(WITHIN_LIMITS)
    peaks = printed(*which, "peaks", AFTERGLOW_ENGINE="serial")
    limits = [str(int(peak) + 64 * 1024) for peak in peaks]
    serial = printed(*which, *limits, AFTERGLOW_ENGINE="serial")
    assert printed(*which, *limits) == serial
    assert printed(*which, *limits, AFTERGLOW_NUM_THREADS="4") == serial
