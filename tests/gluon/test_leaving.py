# SPDX-License-Identifier: Apache-2.0
"""Every way of leaving a loader with worker processes: none hangs, and nothing is left behind."""

from __future__ import annotations

import itertools
import os
import random
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from support import environment

PROGRAM = Path(__file__).with_name("leaving.py")

#: The ways of leaving, with the status of the program and a last line that it writes.
WAYS = {
    "all": (0, ""),
    "break": (0, ""),
    "closed": (0, ""),
    "exception": (1, "BoomError: in the loop"),
    "exit": (3, ""),
    "forgotten": (0, ""),
    "fork": (0, ""),
    "interrupted": (-signal.SIGINT, "KeyboardInterrupt"),
    "interrupted_by_itself": (-signal.SIGINT, "KeyboardInterrupt"),
    "interrupted_in_a_sample": (-signal.SIGINT, "KeyboardInterrupt"),
    "interrupted_while_starting": (-signal.SIGINT, "KeyboardInterrupt"),
    "kept": (0, ""),
    "killed": (-signal.SIGKILL, ""),
    "killed_in_a_sample": (-signal.SIGKILL, ""),
    "left_in_a_sample": (0, ""),
    "never_begun": (0, ""),
    "return": (0, ""),
    "sample_exits": (0, ""),
    "sample_hangs": (0, ""),
    "sample_raises": (0, ""),
    "sample_raises_strangely": (0, ""),
    "worker_exits": (0, ""),
    "worker_killed": (0, ""),
}
#: Said by multiprocessing in a process whose parent, a worker, was killed while it started it, or
#: in the server that this worker had just asked for it.
_UNBORN = re.compile(
    r"Traceback \(most recent call last\):\n(?:  .*\n)*EOFError(?:: Ran out of input)?\n"
)
#: Said by a process that the server of multiprocessing has just made, and that is interrupted while
#: it imports what it needs to find out what it shall do.
_INTERRUPTED_AT_BIRTH = re.compile(
    r"(?:Traceback \(most recent call last\):\n(?:  .*\n)*ImportError: .*\n"
    r"\nThe above exception .*\n\n)?"
    r"Traceback \(most recent call last\):\n"
    r'  File ".*forkserver\.py", line \d+, in main\n(?:  .*\n)*'
    r"(?:KeyboardInterrupt\n|ImportError: .*\n)?"
)
METHODS = ("fork", "spawn", "forkserver")
WORKERS = (1, 2, 3, 4)
SIZES = (1 << 10, 1 << 16, 1 << 22)
PLACES = ("one", "two", "nested", "thread")


class Case(NamedTuple):
    way: str
    method: str
    workers: int
    size: int
    place: str


EVERY = [
    Case(*one)
    for one in itertools.product(WAYS, METHODS, WORKERS, SIZES, PLACES)
    # The main thread alone is interrupted; it kills the thread of such a loader with the program.
    if not (one[0] == "interrupted_by_itself" and one[4] == "thread")
]


def _some(number: int) -> list[Case]:
    """Return every way, with all else mixed; three of four are forks, which start sooner."""
    mixed = random.Random(number).sample(EVERY, len(EVERY))
    forks = [case for case in mixed if case.method == "fork"]
    chosen = {case.way: case for case in forks}  # one of each
    others = [case for case in mixed if case.method != "fork"][: number // 4]
    more = [case for case in forks if case not in chosen.values()]
    return [*chosen.values(), *others, *more][:number]


def _survivors(session: int) -> list[str]:
    """Return the processes of a session."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                stat = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
                words = Path("/proc", name, "cmdline").read_text().split("\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(stat[3]) == session and stat[0] != "Z":
                found.append(f"{name} {stat[0]} {words}")
    return found


def _trouble(case: Case, delay: float) -> str:
    """Run a case; return what is wrong with it."""
    code, last = WAYS[case.way]
    with subprocess.Popen(
        [sys.executable, str(PROGRAM), *map(str, case)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    ) as program:
        try:
            if case.way.startswith("interrupted") and case.way != "interrupted_by_itself":
                assert program.stdout is not None
                program.stdout.readline()
                time.sleep(delay)
                os.killpg(program.pid, signal.SIGINT)
            _, errors = program.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            left = _survivors(program.pid)
            os.killpg(program.pid, signal.SIGKILL)
            return f"hangs: {left}\n{program.communicate()[1]}"
        deadline = time.monotonic() + 10
        while (left := _survivors(program.pid)) and time.monotonic() < deadline:
            time.sleep(0.01)
        if left:
            os.killpg(program.pid, signal.SIGKILL)
            return f"leaves processes: {left}"
    if case.place == "nested" and case.method != "fork":
        errors = _UNBORN.sub("", errors)
    if case.way == "interrupted_while_starting" and case.method == "forkserver":
        errors = _INTERRUPTED_AT_BIRTH.sub("", errors)
    lines = errors.splitlines()
    tracebacks = errors.count("Traceback (most recent call last)")
    # Python forgets that an interrupt was the end where another thread evaluates text meanwhile, as
    # the making of a namedtuple does: `eval("1")` in a loop is enough.
    status = program.returncode
    if status == 1 and code == -signal.SIGINT and case.place == "thread":
        status = code
    if status != code or (lines[-1:] != [last] if last else lines):
        return f"status {program.returncode}\n{errors}"
    return "" if tracebacks <= 1 else errors


def _run(cases: list[Case], delays: random.Random) -> None:
    def report(case: Case, delay: float) -> str:
        trouble = _trouble(case, delay)
        return f"{' '.join(map(str, case))} (delay {delay:.3f}): {trouble}" if trouble else ""

    shared = set(os.listdir("/dev/shm"))
    with ThreadPoolExecutor(2) as pool:
        times = [delays.uniform(0, 0.3) for _ in cases]
        troubles = [one for one in pool.map(report, cases, times) if one]
    assert not troubles, f"{len(troubles)} of {len(cases)}:\n" + "\n".join(troubles)
    deadline = time.monotonic() + 5  # other programs have files there for a moment
    while (new := set(os.listdir("/dev/shm")) - shared) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not new


def test_ways_of_leaving(seed):
    _run(_some(50), random.Random(seed))


BEGUN_AT_EXIT = """
import multiprocessing.util  # so that it ends its things after ours
import atexit, threading, time
import numpy as onp

exiting = threading.Event()
atexit.register(lambda: (exiting.set(), time.sleep(0.3)))

from afterglow.gluon import data

def begin():
    exiting.wait()
    next(iter(data.DataLoader(data.SimpleDataset([onp.ones(2)]), 1, num_workers=1)))

threading.Thread(target=begin, daemon=True).start()
"""


def test_begun_by_a_daemon_when_the_engine_has_ended() -> None:
    command = [sys.executable, "-c", BEGUN_AT_EXIT]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env=environment(), check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.exhaustive
def test_ways_of_leaving_exhaustively(seed):
    _run(_some(1000), random.Random(seed))
