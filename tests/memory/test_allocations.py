# SPDX-License-Identifier: Apache-2.0
"""Whichever allocation fails, a program ends with an answer or an exception, and the next is right.

Buffers of arrays come from the pool, which fails when told to. All other memory of the compiled
module comes from ``operator new``; a small library that is preloaded lets a chosen one fail.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import allocation_programs
import pytest
from support import environment, not_under_address_sanitizer

#: Every how many allocations one fails, where there are more than a thousand.
STEPS = {("new", "training"): 23}


@pytest.fixture(scope="session")
def failing_new(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Compile the library."""
    source = Path(__file__).with_name("failing_new.cpp")
    library = tmp_path_factory.mktemp("library") / "failing_new.so"
    compiler = os.environ.get("CXX", "c++")
    subprocess.run(
        [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", str(source), "-o", str(library)],
        check=True,
        timeout=120,
    )
    return str(library)


def _deaths(kind: str, program: str, first: int, step: int, library: str) -> list[str]:
    """Let allocations fail one by one; return which of them no process has survived."""
    script = str(Path(allocation_programs.__file__))
    settings = {"LD_PRELOAD": library} if kind == "new" else {}
    deaths: list[str] = []
    while len(deaths) < 5:
        done = subprocess.run(
            [sys.executable, script, kind, program, str(first), str(step)],
            capture_output=True,
            text=True,
            timeout=600,
            env=environment(**settings),
            check=False,
        )
        *_, last = done.stdout.split() or [""]
        if last == "done" and done.returncode == 0:
            break
        deaths.append(f"allocation {last}: exit status {done.returncode}\n{done.stderr[-1000:]}")
        if not last.isdigit():
            break
        first = int(last) + step
    return deaths


@pytest.mark.parametrize("program", allocation_programs.PROGRAMS)
@pytest.mark.parametrize(
    "kind",
    [
        "pool",
        pytest.param("new", marks=not_under_address_sanitizer("it brings its own operator new")),
    ],
)
def test_any_allocation_may_fail(kind: str, program: str, seed: int, failing_new: str) -> None:
    step = STEPS.get((kind, program), 1)
    assert _deaths(kind, program, seed % step, step, failing_new) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(("kind", "program"), STEPS)
def test_every_allocation_may_fail(kind: str, program: str, failing_new: str) -> None:
    assert _deaths(kind, program, 0, 1, failing_new) == []
