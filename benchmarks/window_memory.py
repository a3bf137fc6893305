# SPDX-License-Identifier: Apache-2.0
"""Resident memory of programs, seen from outside: used by ``window.py``.

Each program runs in a process of its own, says when it has warmed up, and goes on when told to. The
parent then lets the kernel's high-water mark of resident memory start anew, and reads it when the
program is through: nothing is missed between samples, and nothing runs beside the program.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

LOOPS = {  # rows of a batch, features, width of the layers, batches
    "64 x 1024, 1024 wide": (64, 1024, 1024, 500),
    "512 x 784, 256 wide": (512, 784, 256, 500),
    "4096 x 1024, 256 wide": (4096, 1024, 256, 100),
}
VARIANTS = ("default", "synchronised", "unlimited")


class Run(NamedTuple):
    """What a program took."""

    seconds: float
    growth: float  #: peak resident bytes over those after the warm-up
    value: float  #: of its result


def resident(process: int, field: str) -> int:
    """VmRSS or VmHWM in bytes."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"the kernel does not tell {field}")


def measure(*arguments: str, file: str = __file__) -> Run:
    """Run a program of this file, or of another one like it, in a process of its own."""
    with subprocess.Popen(
        [sys.executable, file, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        if not process.stdout.readline():
            raise RuntimeError(f"{' '.join(arguments)} ended in its warm-up")
        Path(f"/proc/{process.pid}/clear_refs").write_text("5")
        before = resident(process.pid, "VmRSS")
        process.stdin.write("go\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(arguments)} ended")
        growth = resident(process.pid, "VmHWM") - before
        answer = json.loads(line)
    return Run(answer["seconds"], growth, answer["value"])


def warmed_up() -> None:
    """Tell the parent, and wait for it."""
    print("warmed up", flush=True)
    sys.stdin.readline()


def report(begin: float, value: float) -> None:
    """Tell what was measured, and stay until the parent has looked."""
    print(json.dumps({"seconds": time.perf_counter() - begin, "value": value}), flush=True)
    sys.stdin.readline()


def loop(size: str, variant: str) -> None:
    """Batches through a small network, their losses added up, nothing read until the end."""
    import numpy as np

    import afterglow as mx

    nd = mx.nd
    if variant == "unlimited":
        mx.engine.set_run_ahead(bytes=float("inf"), seconds=float("inf"))
    rows, features, width, batches = LOOPS[size]
    random = np.random.RandomState(3)

    def draw(*shape: int) -> Any:
        return random.uniform(-1, 1, shape).astype(np.float32)

    data = [draw(rows, features) for _ in range(4)]
    first, second, third = (
        nd.array(draw(*shape) / 32) for shape in ((features, width), (width, width), (width, 16))
    )
    bias = nd.array(draw(1, width))
    total = nd.zeros((1,))

    def batch(number: int, total: Any) -> Any:
        x = nd.array(data[number % len(data)])
        hidden = nd.maximum(nd.dot(x, first) + bias, 0.0)
        hidden = nd.tanh(nd.dot(hidden, second) + bias) * 0.5
        error = nd.dot(hidden, third) - 0.25
        total = total + (error * error).mean()
        if variant == "synchronised":
            total.wait_to_read()
        return total

    for number in range(3):
        total = batch(number, total)
    nd.waitall()
    warmed_up()
    begin = time.perf_counter()
    for number in range(batches):
        total = batch(number, total)
    report(begin, float(total.asnumpy()[0]))


def steps(count: str) -> None:
    """``s = s + x`` on a tiny array, nothing read until the end."""
    import afterglow as mx

    values = [mx.nd.ones((1, 2)) * i for i in range(1, 5)]
    total = mx.nd.zeros((1, 2))

    def run(number: int, total: Any) -> Any:
        for i in range(number):
            total = total + values[i & 3]
        return total

    for _ in range(3):
        total = run(1000, total)
        mx.nd.waitall()
    warmed_up()
    total = mx.nd.zeros((1, 2))
    begin = time.perf_counter()
    total = run(int(count), total)
    report(begin, float(total.asnumpy()[0, 0]))


def formula(task: str) -> None:
    """One formula on a large array, after the same on small ones."""
    from window_worker import FORMULAS, Window

    import afterglow as mx

    window = Window("afterglow")
    large = [window.words.array(array) for array in FORMULAS[task].inputs()]
    window.task = task
    window.inputs = [array[:8] for array in large]
    window.waited(window.inputs)
    for _ in range(3):
        window.once("afterglow", task)
    window.inputs = large
    window.waited(large)
    mx.memory.trim()  # what the warm-up left must not serve as the result
    warmed_up()
    begin = time.perf_counter()
    results = window.once("afterglow", task)
    report(begin, float(results[0][:1].asnumpy()[0, 0]))


if __name__ == "__main__":
    PROGRAMS: dict[str, Callable[..., None]] = {"loop": loop, "steps": steps, "formula": formula}
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
