# SPDX-License-Identifier: Apache-2.0
"""``afterglow bench``: the benchmarks, which live beside the package or inside of it."""

from __future__ import annotations

import argparse
import importlib
import sys
from functools import cache
from pathlib import Path
from typing import Any


def folder() -> Path:
    """Return where the benchmarks are: inside an installed package, beside it in a source tree."""
    package = Path(__file__).parents[1]
    for place in (package / "benchmarks", package.parent / "benchmarks"):
        if (place / "bench.py").is_file():
            return place
    print(f"afterglow bench: no folder of benchmarks in or beside {package}", file=sys.stderr)
    raise SystemExit(2)


@cache
def _command() -> Any:
    # Plain scripts, no package: workers load them under interpreters that have no Afterglow.
    sys.path.insert(0, str(folder()))
    return importlib.import_module("bench")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    _command().add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure; return the exit status."""
    return int(_command().run(arguments))
