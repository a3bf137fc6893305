# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.fuzz [--seconds N] [--seed S] [KIND...]``: random programs of every kind.

Each kind runs in processes of its own, a part of the time in each, so that one that crashes or
hangs is told from one that answers wrongly and neither ends the others.
"""

from __future__ import annotations

import argparse
import importlib
import math
import random
import re
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).parent
#: Seconds of one process.
PART = 20.0
#: Programs of a part have numbers below this.
SEEDS = 1_000_000
#: Besides its own seconds a part may take this long to begin and to end.
PATIENCE = 120.0


def kinds() -> list[str]:
    """Return the names of the modules that run programs."""
    names = (path.stem for path in FOLDER.glob("*.py"))
    return sorted(name for name in names if not name.startswith(("_", "test_")))


def run_here(kind: str, seed: int, seconds: float) -> int:
    """Run programs in this process."""
    if str(FOLDER.parent) not in sys.path:
        sys.path.insert(0, str(FOLDER.parent))
    count: int = importlib.import_module(f"fuzz.{kind}").run(seed, seconds)
    return count


def run_part(kind: str, seed: int, seconds: float) -> int | None:
    """Run programs in a process of their own; print what went wrong and return ``None`` then."""
    command = [sys.executable, str(Path(__file__)), "--here", "--seed", str(seed)]
    try:
        done = subprocess.run(
            [*command, "--seconds", str(seconds), kind],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds + PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        print(f"{kind} hangs; replay with SEED={seed} SECONDS={seconds:g} KINDS={kind}")
        return None
    count = re.search(r"(\d+) programs\s*\Z", done.stdout)
    if done.returncode == 0 and count is not None:
        return int(count[1])
    print(done.stdout + done.stderr, end="")
    single = re.findall(r"^seed (\d+)$", done.stderr, re.MULTILINE)
    again = f"SEED={single[-1]} SECONDS=0" if single else f"SEED={seed} SECONDS={seconds:g}"
    print(f"{kind} failed with exit status {done.returncode}; replay with {again} KINDS={kind}")
    return None


def main() -> int:
    """Give every kind its share of the time, part by part, and tell how far they came."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="for all kinds together")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    parser.add_argument("--here", action="store_true", help="one kind, in this process")
    parser.add_argument("kinds", metavar="KIND", nargs="*", help=", ".join(kinds()))
    arguments = parser.parse_args()
    chosen: list[str] = arguments.kinds or kinds()
    if unknown := sorted(set(chosen) - set(kinds())):
        parser.error(f"there is no kind {', '.join(unknown)}; there are {', '.join(kinds())}")
    if arguments.here:
        for kind in chosen:
            print(f"{run_here(kind, arguments.seed, arguments.seconds)} programs")
        return 0
    print(f"seed {arguments.seed}, {arguments.seconds:g} seconds for {', '.join(chosen)}")
    totals = dict.fromkeys(chosen, 0)
    failed: set[str] = set()
    share = arguments.seconds / len(chosen)
    parts = max(1, math.ceil(share / PART))
    begin = time.monotonic()
    for part in range(parts):
        for kind in chosen:
            if kind in failed:
                continue
            count = run_part(kind, arguments.seed + part * SEEDS, share / parts)
            if count is None:
                failed.add(kind)
            else:
                totals[kind] += count
                print(f"{time.monotonic() - begin:6.0f} s  {kind}: {totals[kind]}", flush=True)
    summary = ", ".join(f"{count} {kind}" for kind, count in totals.items())
    print(f"programs run with seed {arguments.seed}: {summary}")
    if failed:
        print(f"went wrong: {', '.join(sorted(failed))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
