# SPDX-License-Identifier: Apache-2.0
"""Running programs on several ranks of this machine, as users do."""

import importlib.util
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

_MISSING = [name for name in ("mpi4py",) if importlib.util.find_spec(name) is None]

#: For tests that start several ranks.
needs_mpi = pytest.mark.skipif(
    bool(_MISSING), reason=f"{', '.join(_MISSING)} is not installed: pip install 'afterglow[mpi]'"
)

#: Seconds after which ranks that are lost have been told of, in tests of that. In others a busy
#: machine must not look like a rank that has stopped.
TIMEOUT = 2.0

_BEGINNING = """\
import os, signal, sys, time
import numpy as onp
import afterglow as mx
from afterglow import autograd, distributed as hvd, gluon, nd
rank, size = hvd.rank(), hvd.size()
"""


def environment(**more):
    ours = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AFTERGLOW_RANK", "AFTERGLOW_SIZE", "PMI_", "DMLC_"))
    }
    return {**ours, "AFTERGLOW_RANK_TIMEOUT": "20", **more}


def write(folder: Path, body: str) -> Path:
    file = folder / "program.py"
    file.write_text(_BEGINNING + textwrap.dedent(body))
    return file


def line_of(file: Path, text: str) -> str:
    """Return "program.py:12", the first line that has the text."""
    lines = file.read_text().splitlines()
    return f"program.py:{next(i for i, one in enumerate(lines, 1) if text in one)}"


def start(ranks, file, *words, options=(), **variables):
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "afterglow",
            "launch",
            "-n",
            str(ranks),
            *options,
            str(file),
            *words,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**variables),
        cwd=file.parent,
    )


class Outcome:
    """What a run printed, by rank, and how it ended."""

    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err

    def of(self, rank):
        return [line[4:] for line in self.out.splitlines() if line.startswith(f"[{rank}] ")]

    def errors_of(self, rank):
        lines = [line[4:] for line in self.err.splitlines() if line.startswith(f"[{rank}] ")]
        return "\n".join(lines)


def end(process, seconds=60):
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        time.sleep(5)
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"the run hangs\n{out}\n{err}") from None
    return Outcome(process.returncode, out, err)


def launch(ranks, file, *words, **variables):
    return end(start(ranks, file, *words, **variables))


def succeed(ranks, file, *words, **variables):
    outcome = launch(ranks, file, *words, **variables)
    assert outcome.status == 0, outcome.err
    return outcome


def is_running(pid):
    """Tell whether a process is there, and is more than a name in the table."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
