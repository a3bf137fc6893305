# SPDX-License-Identifier: Apache-2.0
"""What tests of several folders share: scripts in a process of their own, and a busy engine."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import afterglow as mx

#: For tests of what a call leaves undone, and of errors that wait for somebody to read.
runs_later = pytest.mark.skipif(
    mx.engine.is_serial(), reason="the serial engine runs every call at once"
)
raises_at_the_read = pytest.mark.skipif(
    mx.engine.is_serial(), reason="the serial engine raises at the call, not at the read"
)

#: The tests run under AddressSanitizer (`make test-address`).
ADDRESS_SANITIZER = hasattr(ctypes.CDLL(None), "__asan_init")

#: Every child starts with these names.
_PRELUDE = """\
import os, sys, time, threading
import numpy as onp
import afterglow as mx
from afterglow import _core
"""

#: Settings of the surroundings that would change what a test sees.
_SETTINGS = (
    "AFTERGLOW_DEBUG",
    "AFTERGLOW_DEVICES",
    "AFTERGLOW_DISABLE_PASSES",
    "AFTERGLOW_ENGINE",
    "AFTERGLOW_GPUS",
    "AFTERGLOW_NUM_THREADS",
    "AFTERGLOW_OLDER_NAMES",
    "AFTERGLOW_RUN_AHEAD_BYTES",
    "AFTERGLOW_RUN_AHEAD_SECONDS",
    "MXNET_CPU_WORKER_NTHREADS",
    "MXNET_ENGINE_TYPE",
    "OMP_NUM_THREADS",
)


@dataclass(frozen=True)
class Finished:
    """What became of a child."""

    code: int
    out: str
    err: str
    seconds: float


def environment(**settings: str) -> dict[str, str]:
    """Return the environment without our settings, but with these."""
    plain = {name: value for name, value in os.environ.items() if name not in _SETTINGS}
    return plain | settings


def run_child(
    script: str,
    *,
    prelude: bool = True,
    folder: Path | None = None,
    timeout: float = 60,
    **settings: str,
) -> Finished:
    """Run a script with these environment variables; raises when it does not end in time."""
    code = (_PRELUDE if prelude else "") + textwrap.dedent(script)
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment(**settings),
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr, time.monotonic() - start)


def run_command(
    *words: str, folder: Path | None = None, timeout: float = 120, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run the command ``afterglow`` in a folder; raises when it does not end in time."""
    return subprocess.run(
        [sys.executable, "-m", "afterglow", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment(**settings),
        check=False,
    )


def output_of(script: str, *, timeout: float = 60, **settings: str) -> list[str]:
    """Run a script that must end well and in silence; return the lines it printed."""
    done = run_child(script, timeout=timeout, **settings)
    assert (done.code, done.err) == (0, ""), f"exit code {done.code}\n{done.out}\n{done.err}"
    return done.out.splitlines()


def not_under_address_sanitizer(reason: str) -> pytest.MarkDecorator:
    """Mark a test that asks for something that the sanitizer does in another way."""
    return pytest.mark.skipif(ADDRESS_SANITIZER, reason=f"AddressSanitizer: {reason}")


#: For tests in which somebody asks ``ps`` for the memory of the process.
asks_ps = not_under_address_sanitizer("ps, where it is preloaded, never ends")


@contextmanager
def busy_engine(products: int = 40) -> Iterator[list[Any]]:
    """Give all workers products to compute, so that calls of the scope stay pending until read.

    The window hands calls out by itself only when the engine has little to do. The products, about
    a second of them, take no new memory. They are forgotten at the end of the scope, or when the
    list given is cleared: those that do not run yet are dropped.
    """
    if mx.engine.is_serial():
        pytest.skip("the serial engine has nothing to do between calls")
    x = mx.nd.ones((1500, 1500))
    targets = [mx.nd.zeros((1500, 1500)) for _ in range(4)]
    mx.nd.waitall()
    for number in range(products):
        mx.nd.dot(x, x, out=targets[number % 4])
    for target in targets:
        target.is_ready()  # publishes what it needs
    del target
    try:
        yield targets
    finally:
        assert not all(target.is_ready() for target in targets) or not targets, (
            "the products were too few"
        )
        targets.clear()


def within_tries(attempt: Callable[[], bool], problem: str) -> None:
    """Try for a while: a loaded machine may give all its time to one thread now and then."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if attempt():
            return
        time.sleep(0.05)
    pytest.fail(problem)


def gained(before: dict[str, int]) -> dict[str, int]:
    """Return by how much the figures of the engine have grown."""
    return {name: figure - before[name] for name, figure in mx.engine.stats().items()}
