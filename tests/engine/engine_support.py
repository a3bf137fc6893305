# SPDX-License-Identifier: Apache-2.0
"""Scripts in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass

#: Every child starts with these names.
_PRELUDE = """\
import os, sys, time, threading
import numpy as onp
import afterglow as mx
from afterglow import _core
"""

#: Settings of the surroundings that would change what a test sees.
_SETTINGS = (
    "AFTERGLOW_ENGINE",
    "AFTERGLOW_NUM_THREADS",
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
    script: str, *, prelude: bool = True, timeout: float = 60, **settings: str
) -> Finished:
    """Run a script with these environment variables; raises when it does not end in time."""
    code = (_PRELUDE if prelude else "") + textwrap.dedent(script)
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment(**settings),
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr, time.monotonic() - start)


def output_of(script: str, *, timeout: float = 60, **settings: str) -> list[str]:
    """Run a script that must end well and in silence; return the lines it printed."""
    done = run_child(script, timeout=timeout, **settings)
    assert (done.code, done.err) == (0, ""), f"exit code {done.code}\n{done.out}\n{done.err}"
    return done.out.splitlines()
