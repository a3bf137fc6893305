# SPDX-License-Identifier: Apache-2.0
"""Libraries take turns: one process each, one round of one task after another, medians.

A benchmark script calls :func:`main` with its tasks. It is started once per library with
``--work NAME`` and then answers each task name on standard input with the seconds of one round.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

#: Seconds between rounds, in which the threads of the last library stop spinning.
REST = 0.3
#: What comes before a round, and the round itself.
Task = tuple[Callable[[], Any], Callable[[], Any]]
#: Makes the task of a library; ``None`` where the library has no such task.
MakeTask = Callable[[str, str], "Task | None"]


def _work(name: str, make_task: MakeTask) -> None:
    tasks: dict[str, Task | None] = {}
    for line in sys.stdin:
        task = line.strip()
        if task not in tasks:
            tasks[task] = made = make_task(name, task)
            for warm_up in made or ():
                warm_up()
        found = tasks[task]
        if found is None:
            print("null", flush=True)
            continue
        prepare, run = found
        prepare()
        begin = time.perf_counter()
        run()
        print(json.dumps(time.perf_counter() - begin), flush=True)


def main(
    script: str,
    what: str,
    tasks: Sequence[str],
    make_task: MakeTask,
    goals: dict[tuple[str, str], float],
    own: Sequence[str] = ("afterglow",),
) -> None:
    """Let the libraries take turns and print the table.

    ``own``: the ways in which Afterglow itself takes part; the first is compared with all others.
    ``goals``: by task and library, what our time divided by theirs should be at most.
    """
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", default=",".join(tasks))
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=INTERPRETER")
    parser.add_argument("--work", metavar="NAME", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        _work(arguments.work, make_task)
        return
    interpreters = dict.fromkeys(own, sys.executable)
    interpreters.update(peer.split("=", 1) for peer in arguments.peer)
    processes = {
        name: subprocess.Popen(
            [interpreter, script, "--work", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, interpreter in interpreters.items()
    }
    for task in arguments.tasks.split(","):
        times: dict[str, list[float]] = {name: [] for name in processes}
        for _ in range(arguments.rounds):
            for name, process in processes.items():
                assert process.stdin
                assert process.stdout
                time.sleep(REST)
                process.stdin.write(task + "\n")
                process.stdin.flush()
                seconds = json.loads(process.stdout.readline())
                if seconds is not None:
                    times[name].append(seconds)
        ours = statistics.median(times[own[0]])
        for name, rounds in times.items():
            if not rounds:
                continue
            theirs = statistics.median(rounds)
            goal = goals.get((task, name))
            verdict = "" if goal is None else "met" if ours <= goal * theirs else "MISSED"
            print(
                f"{task:8} {name:10} {theirs * 1e3:10.2f} ms   ours / theirs {ours / theirs:.3f}"
                f"   {'' if goal is None else f'goal {goal:.3f}'} {verdict}".rstrip(),
                flush=True,
            )
    for process in processes.values():
        assert process.stdin
        process.stdin.close()
        process.wait()
