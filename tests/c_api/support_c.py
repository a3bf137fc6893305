# SPDX-License-Identifier: Apache-2.0
"""Where the C interface and its examples are built: ``make build-cpp`` does."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import scipy_openblas32

BUILT = Path(__file__).parents[2] / "build" / "cpp"
BLAS = str(Path(scipy_openblas32.get_lib_dir()) / "libscipy_openblas.so")


def built(name: str) -> Path:
    """Return a file of the C++ build; without one the test is skipped."""
    path = BUILT / name
    if not path.exists():
        pytest.skip(f"{path.name} is not there: make build-cpp")
    return path


def run(*command: object) -> str:
    """Return what a program printed, which must end well."""
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, "AFTERGLOW_BLAS": BLAS},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout
