# SPDX-License-Identifier: Apache-2.0
"""For every test: a seed to replay a failure with, checks for arrays and files left behind."""

from __future__ import annotations

import gc
import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as onp
import pytest

import afterglow as mx
from afterglow import _core


def _seed_of_run() -> int:
    given = os.environ.get("AFTERGLOW_TEST_SEED")
    return int(given) if given else random.SystemRandom().randrange(2**31)


SEED = _seed_of_run()
_ROOT = Path(__file__).parents[1]

# Background jobs of a shell ignore Ctrl-C, and children inherit that; some are interrupted here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Leave what exists by now out of the collections after every test: they are slow."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def seed() -> int:
    """Seed every generator; the same for all tests of a run, so that one test can be run alone."""
    random.seed(SEED)
    onp.random.seed(SEED)
    mx.random.seed(SEED)
    return SEED


def _forget_failures() -> None:
    """Switch fault injection off and let ``waitall`` raise whatever nobody was told of."""
    _core.inject_failure(-1, 0)
    _core.fail_allocation(-1)
    while True:
        try:
            _core.waitall()
        except Exception:
            continue
        return


@pytest.fixture(autouse=True)
def nothing_injected() -> Iterator[None]:
    """Keep injected failures from reaching into the next test."""
    _forget_failures()
    yield
    _forget_failures()


@pytest.fixture(autouse=True)
def settings_as_before() -> Iterator[None]:
    """Let a test set limits and switch passes without a thought of the next one."""
    run_ahead, passes, memory_cap = _core.run_ahead(), _core.passes(), _core.memory_cap()
    smallest_fused = _core.set_smallest_fused(0)
    _core.set_smallest_fused(smallest_fused)
    yield
    _core.set_run_ahead(*run_ahead)
    _core.set_memory_cap(memory_cap)
    _core.set_smallest_fused(smallest_fused)
    for name, on in passes.items():
        if _core.passes()[name] != on:
            _core.set_pass(name, on)


@pytest.fixture
def everything_fuses(settings_as_before: None) -> None:
    """Let passes over few elements fuse as well.

    Calls worth less than a thread stay pending until they are read, whatever the time: with small
    arrays it is certain what is fused with what.
    """
    _core.set_smallest_fused(0)


#: Tests for which a traceback, of their own or of the test before, may hold on to arrays.
_tracebacks = 0


def _unreachable_arrays() -> int:
    """Return how many arrays are alive that no object leads to that the collector knows."""
    gc.unfreeze()
    seen = {
        id(one)
        for holder in gc.get_objects()
        for one in gc.get_referents(holder)
        if issubclass(type(one), _core.Array)
    }
    gc.freeze()
    return _core.live_handles() - len(seen)


@pytest.fixture(autouse=True)
def no_arrays_in_cycles() -> Iterator[None]:
    """Fail when a test leaves arrays in a cycle, whether the collector finds them or not."""
    gc.collect()
    gc.disable()
    start = _core.live_handles()
    try:
        yield
        before = _core.live_handles()
        gc.collect()
        after = _core.live_handles()
    finally:
        gc.enable()
    if not _tracebacks:
        assert before <= after, f"{before - after} arrays were kept alive by reference cycles"
        lost = _unreachable_arrays() if after > start else 0
        assert lost <= 0, f"{lost} arrays are alive that nobody can reach"


def _files_of_the_root() -> set[str]:
    """Return what stands beside the documents, without the caches of tools."""
    return {name for name in os.listdir(_ROOT) if name[0] not in "._"}


@pytest.fixture(autouse=True)
def no_files_in_the_work_tree() -> Iterator[None]:
    """Fail when a test, an example or a doctest writes to the folder where tests are started."""
    before = _files_of_the_root()
    yield
    left = _files_of_the_root() - before
    assert not left, f"files left in the work tree: {sorted(left)}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Say with a failure how to run it again."""
    global _tracebacks
    if call.excinfo is not None:
        _tracebacks = 2
    elif call.when == "setup" and _tracebacks:
        _tracebacks -= 1
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.when == "call" and report.failed:
        report.sections.append(("seed", f"replay with AFTERGLOW_TEST_SEED={SEED}"))
