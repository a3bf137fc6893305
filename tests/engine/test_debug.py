# SPDX-License-Identifier: Apache-2.0
"""AFTERGLOW_DEBUG tells on standard error what the window does."""

from __future__ import annotations

import re

import pytest
from support import run_child

SCRIPT = """
_core.set_smallest_fused(0)
x = mx.nd.ones((20, 30))
x.wait_to_read()
dead = x - 5
del dead
y = mx.nd.sqrt(x * 3 + 1)
mx.nd.waitall()
big = mx.nd.ones((400, 400))
mx.nd.dot(big, big).wait_to_read()
print(float(y[0, 0]))
"""

FLUSH = re.compile(
    r"\[afterglow\] flush: (\d+) calls, (\d+) dropped, (\d+) fused into (\d+) passes, "
    r"(\d+) passes run here, (\d+) tasks"
)
TASK = re.compile(
    r"\[afterglow\] task [\w+ ]+: \d+ calls in \d+ passes, first #\d+ \w+\(.*\) -> .*, "
    r"estimated \d+\.\d us"
)
PLAN = re.compile(r"\[afterglow\] (before|after) \w+: \d+ calls in \d+ passes, \d+ dropped")
MEMBER = re.compile(r"\[afterglow\]   (pass \d+|dropped) #\d+ \w+\(.*\) -> .*")
CALL = re.compile(r"\[afterglow\] call #\d+ \w+\(.*\) -> .*")
KINDS = {"flush": FLUSH, "task": TASK, "plan": PLAN, "member": MEMBER, "call": CALL}


def lines_of(level: str | None, **settings: str) -> dict[str, list[str]]:
    """Return what the script prints, by kind of line; every line must be of a known kind."""
    if level is not None:
        settings["AFTERGLOW_DEBUG"] = level
    done = run_child(SCRIPT, **settings)
    assert (done.code, done.out) == (0, "2.0\n")
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for line in done.err.splitlines():
        kinds = [kind for kind, form in KINDS.items() if form.fullmatch(line)]
        assert len(kinds) == 1, line
        found[kinds[0]].append(line)
    return found


@pytest.mark.parametrize("level", [None, "0", "", "no"])
def test_silence(level: str | None) -> None:
    assert not any(lines_of(level).values())


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("1", {"flush"}),
        ("2", {"flush", "task"}),
        ("3", {"flush", "task", "plan", "member"}),
        ("4", {"flush", "task", "plan", "member", "call"}),
        ("9", {"flush", "task", "plan", "member", "call"}),
    ],
)
def test_each_level_tells_more(level: str, expected: set[str]) -> None:
    assert {kind for kind, lines in lines_of(level).items() if lines} == expected


def test_flush_counts_calls() -> None:
    flushes = [
        [int(figure) for figure in FLUSH.fullmatch(line).groups()]  # type: ignore[union-attr]
        for line in lines_of("1")["flush"]
    ]
    assert [1, 1, 0, 0, 0, 0] in flushes  # dead was dropped
    assert [3, 0, 3, 1, 1, 0] in flushes  # y: one pass, run by the thread that waits


def test_passes_are_shown_before_and_after() -> None:
    lines = lines_of("3")
    plans = [line.split("] ")[1] for line in lines["plan"]]
    assert "after drop: 3 calls in 3 passes, 1 dropped" in plans
    assert "before fuse: 3 calls in 3 passes, 0 dropped" in plans
    assert "after fuse: 3 calls in 1 passes, 0 dropped" in plans
    assert any(re.search(r"dropped #\d+ subtract\(\(20, 30\)", line) for line in lines["member"])
    ops = [line.split("(")[0].split()[-1] for line in lines["member"] if " pass 0 " in line]
    assert "multiply add sqrt" in " ".join(ops)


def test_every_call_is_shown_in_order() -> None:
    calls = lines_of("4")["call"]
    numbers = [int(re.search(r"#(\d+)", line).group(1)) for line in calls]  # type: ignore[union-attr]
    assert numbers == sorted(numbers)
    ops = [line.split("(")[0].split()[-1] for line in calls]
    for op in ("subtract", "multiply", "add", "sqrt", "dot"):
        assert ops.count(op) == 1
    product = next(line for line in calls if " dot(" in line)
    assert product.endswith("dot((400, 400) float32, (400, 400) float32) -> (400, 400) float32")


def test_large_products_are_tasks() -> None:
    tasks = lines_of("2")["task"]
    assert any("task dot: 1 calls in 1 passes" in line for line in tasks)


def test_serial_engine() -> None:
    found = lines_of("4", AFTERGLOW_ENGINE="serial")
    assert found["call"]
    assert found["task"]
    assert not found["plan"]


def test_lines_of_several_threads_do_not_mix() -> None:
    done = run_child(
        """
        def work(number):
            x = mx.nd.ones((40, 50))
            for _ in range(50):
                x = x + number
            mx.nd.dot(x, x.T).wait_to_read()
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """,
        AFTERGLOW_DEBUG="4",
    )
    assert (done.code, done.out) == (0, "")
    lines = done.err.splitlines()
    assert len(lines) > 200
    for line in lines:
        assert any(form.fullmatch(line) for form in KINDS.values()), line


def test_unknown_passes_are_named_once() -> None:
    script = "print(mx.engine.passes()['fuse'])"
    done = run_child(script, AFTERGLOW_DISABLE_PASSES="fuse,fusion,,other")
    assert (done.code, done.out.strip()) == (0, "False")
    assert done.err.count("RuntimeWarning") == 1
    assert "fusion, other; known are" in done.err
    assert "drop" in done.err
    for known in ("fuse,reuse", "all", "fuse,"):
        assert not run_child(script, AFTERGLOW_DISABLE_PASSES=known).err
