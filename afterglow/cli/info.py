# SPDX-License-Identifier: Apache-2.0
"""``afterglow info``: everything about this installation that a report of a problem should say."""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import platform
import sys
import textwrap
from typing import Any

import numpy

from .. import _core, engine, environment, memory
from .._package import machine as _machine
from ..version import MXNET_VERSION, version


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``afterglow info``."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(arguments: argparse.Namespace) -> int:
    """Print what :func:`collect` finds."""
    found = collect()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # values may have any letters
    if arguments.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        print("\n\n".join(_section(name, entries) for name, entries in found.items()))
    return 0


def collect() -> dict[str, dict[str, Any]]:
    """Return sections of named facts; bytes and counts are numbers, ``None`` is no limit."""
    held, results, seconds = (None if math.isinf(one) else one for one in engine.run_ahead())
    total, available = _machine.available_memory() or (None, None)
    pool = {  # before anything is computed below
        "limit_bytes": memory.limit(),
        "active_bytes": memory.active(),
        "peak_bytes": memory.peak(),
        "cached_bytes": memory.cached(),
    }
    return {
        "versions": {
            "afterglow": version(),
            "mxnet_api": MXNET_VERSION,
            "python": f"{platform.python_version()} ({platform.python_implementation()})",
            "numpy": numpy.__version__,
            "compiler": _machine.compiler(),
            "openblas": _blas_version(),
        },
        "machine": {
            "platform": platform.platform(),
            "processor": _machine.processor_name(),
            "features": _machine.features(),
            "instruction_set_in_use": engine.instruction_set(),
            "processors": os.cpu_count(),
            "usable_processors": _machine.usable_processors(),
            "control_group_grants": _machine.quota(),
            "memory_bytes": total,
            "available_memory_bytes": available,
        },
        "engine": {
            "type": "serial" if engine.is_serial() else "threaded",
            "thread_limit": engine.thread_limit(),
            "limit_set_by": _machine.why_so_many_threads(),
            "passes_on": [name for name, on in engine.passes().items() if on],
            "passes_off": [name for name, on in engine.passes().items() if not on],
            "run_ahead_held_bytes": held,
            "run_ahead_all_bytes": results,
            "run_ahead_time_seconds": seconds,
        },
        "memory": pool,
        "files": {
            "python": sys.executable,
            "package": os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
            "core": _core.__file__,
            "openblas": _machine.blas_path(),
            "numpy": os.path.dirname(os.path.abspath(numpy.__file__)),
        },
        "environment": {
            name: {"value": os.environ[name], "effect": effect}
            for name, effect in environment.explain(os.environ).items()
        },
    }


def _blas_version() -> str:
    """Return the version of OpenBLAS; or why products do not work, which a report should say."""
    try:
        return _machine.blas_version()
    except Exception as error:
        return f"does not work: {error}"


def _section(name: str, entries: dict[str, Any]) -> str:
    if name == "environment":
        lines = [
            f"  {key}={entry['value']}\n{_wrapped('      ', entry['effect'])}"
            for key, entry in entries.items()
        ]
        return "\n".join([name, *(lines or ["  no variable that is known here is set"])])
    width = max(len(_label(key)) for key in entries) + 2
    rows = [_wrapped(f"  {_label(key):{width}}", _value(key, it)) for key, it in entries.items()]
    return "\n".join([name, *rows])


def _wrapped(start: str, text: str) -> str:
    return textwrap.fill(
        text,
        100,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _label(key: str) -> str:
    return key.removesuffix("_bytes").removesuffix("_seconds").replace("_", " ")


def _value(key: str, entry: Any) -> str:
    """Write a fact for people."""
    if entry is None:
        return "no limit" if key.startswith(("run_", "limit_", "control_")) else "not known"
    if isinstance(entry, list):
        return " ".join(entry) or "none"
    if key.endswith("_bytes"):
        return _size(entry)
    if key.endswith("_seconds"):
        return f"{entry:g} s"
    return str(entry)


def _size(size: float) -> str:
    """Write a number of bytes in the unit that suits it."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} GiB"
