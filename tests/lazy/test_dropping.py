# SPDX-License-Identifier: Apache-2.0
"""Calls nobody can observe are not run, and all others are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest
from support import busy_engine, gained, runs_later

import afterglow as mx
from afterglow import _core

pytestmark = runs_later

SMALL = (20, 30)  #: stays pending until it is read
FRONTS = pytest.mark.parametrize("front", [mx.nd, mx.np])


@FRONTS
def test_overwritten_results(front: Any) -> None:
    """The promise of the README: of 1000 overwritten results a handful is computed."""
    x = front.ones((2000, 2000))
    x.wait_to_read()
    before = mx.engine.stats()
    for _ in range(1000):
        y = x + 1
    mx.nd.waitall()
    change = gained(before)
    assert change["issued"] == 1000
    assert 1 <= change["run"] <= 20
    assert change["run"] + change["dropped"] == 1000
    assert (y.asnumpy() == 2).all()


@FRONTS
def test_overwritten_results_of_a_busy_engine(front: Any) -> None:
    x = front.ones((2000, 2000))
    x.wait_to_read()
    with busy_engine(), mx.engine.record() as events:
        before = mx.engine.stats()
        for step in range(1000):
            y = x + step
        assert (y.asnumpy() == 1000).all()
        # The window looks through its calls whenever it is full: only the last one is wanted.
        assert gained(before)["dropped"] >= 936
    assert len({event.task for event in events if "add" in event.op}) == 1


@FRONTS
def test_overwritten_small_results(front: Any) -> None:
    x = front.ones(SMALL)
    x.wait_to_read()
    before = mx.engine.stats()
    for step in range(1000):
        y = x + step
    mx.nd.waitall()
    change = gained(before)
    assert (change["run"], change["dropped"]) == (1, 999)
    assert (y.asnumpy() == 1000).all()


def test_chain_is_dropped_backwards() -> None:
    x = mx.nd.ones(SMALL)
    x.wait_to_read()
    before = mx.engine.stats()
    y = x
    for _ in range(20):
        y = mx.nd.sqrt(y * 2) + x
    del y
    mx.nd.waitall()
    assert (gained(before)["run"], gained(before)["dropped"]) == (0, 60)


def test_branch_is_dropped_and_trunk_is_kept() -> None:
    x = mx.nd.ones(SMALL)
    x.wait_to_read()
    before = mx.engine.stats()
    trunk = x + 1
    branch = mx.nd.dot(trunk, trunk.T).sum(axis=0) * 3
    kept = trunk * 2
    del trunk, branch
    mx.nd.waitall()
    change = gained(before)
    assert (change["run"], change["dropped"]) == (2, change["issued"] - 2)
    assert (kept.asnumpy() == 4).all()


def test_chain_in_the_engine_is_dropped() -> None:
    """Calls that wait in the engine's queue are not safe either."""
    x = mx.nd.ones((500, 500))
    x.wait_to_read()
    with busy_engine():
        before = mx.engine.stats()
        y = x
        for _ in range(10):
            y = mx.nd.dot(y, x)
        y.is_ready()  # published, and behind many products
        del y
    mx.nd.waitall()
    # Of the ten nearly all are dropped, and so are the products that did not run yet.
    assert gained(before)["dropped"] >= 10


def test_a_view_keeps_its_base() -> None:
    x = mx.nd.ones(SMALL)
    y = x * 3
    view = y[2:4]
    del x, y
    mx.nd.waitall()
    assert (view.asnumpy() == 3).all()


def store(x: Any) -> None:
    x[:] = 5


def add(x: Any) -> None:
    x += 4


def multiply(x: Any) -> None:
    x *= 5


def into(x: Any) -> None:
    mx.nd.broadcast_add(mx.nd.ones(SMALL), mx.nd.ones(SMALL) * 4, out=x)


def into_itself(x: Any) -> None:
    mx.nd.broadcast_add(x, x * 4, out=x)


def store_slices(x: Any) -> None:
    x[:7] = 5
    x[7:] = x[:1] * 1


def through_a_view(x: Any) -> None:
    view = x[3:]
    view += 4
    x[:3] += 4


def through_a_view_of_a_view(x: Any) -> None:
    whole = x.reshape((-1,))
    part = whole[10:]
    part[:] = 5
    whole[:10] = 5


def from_a_dead_array(x: Any) -> None:
    source = mx.nd.ones(SMALL) * 5
    x[:] = source


def strided(x: Any) -> None:
    x[::2] += 4
    x[1::2] = x[::2] + 0


WRITES = [
    store,
    add,
    multiply,
    into,
    into_itself,
    store_slices,
    through_a_view,
    through_a_view_of_a_view,
    from_a_dead_array,
    strided,
]


@pytest.mark.parametrize("pause", ["at once", "after waitall", "many calls later"])
@pytest.mark.parametrize("write", WRITES)
def test_write_to_held_storage_is_never_dropped(write: Callable[[Any], None], pause: str) -> None:
    x = mx.nd.ones(SMALL)
    write(x)
    if pause == "after waitall":
        mx.nd.waitall()
    elif pause == "many calls later":
        other = mx.nd.ones((4,))
        for _ in range(300):
            other = other + 1
    assert (x.asnumpy() == 5).all()


@pytest.mark.parametrize("write", WRITES)
def test_write_to_storage_held_by_a_view_is_never_dropped(write: Callable[[Any], None]) -> None:
    x = mx.nd.ones(SMALL)
    view = x[5:8]
    write(x)
    del x
    mx.nd.waitall()
    assert (view.asnumpy() == 5).all()


@pytest.mark.parametrize("write", WRITES)
def test_write_to_storage_held_by_a_pending_call_is_never_dropped(
    write: Callable[[Any], None],
) -> None:
    x = mx.nd.ones(SMALL)
    write(x)
    kept = x + 1
    del x
    mx.nd.waitall()
    assert (kept.asnumpy() == 6).all()


@pytest.mark.parametrize("write", WRITES)
def test_write_to_forgotten_storage_is_dropped(write: Callable[[Any], None]) -> None:
    x = mx.nd.ones(SMALL)
    x.wait_to_read()
    before = mx.engine.stats()
    write(x)
    del x
    mx.nd.waitall()
    change = gained(before)
    assert (change["run"], change["dropped"]) == (0, change["issued"])


@pytest.mark.parametrize("write", WRITES)
def test_large_write_to_held_storage(write: Callable[[Any], None]) -> None:
    """In the engine as well as in the window."""
    with busy_engine():
        x = mx.nd.ones(SMALL)
        held = [x, mx.nd.ones((1500, 1500))]
        write(x)
        x.is_ready()
        held[1] += 1
        assert (x.asnumpy() == 5).all()
        assert (held[1].asnumpy() == 2).all()


def test_later_write_is_not_seen_by_an_earlier_read() -> None:
    """A dropped overwrite of a storage leaves the value for those who read it before."""
    x = mx.nd.ones(SMALL)
    early = x + 1
    x[:] = 7
    late = x + 1
    del x
    mx.nd.waitall()
    assert (early.asnumpy() == 2).all()
    assert (late.asnumpy() == 8).all()


@FRONTS
@pytest.mark.parametrize("distribution", ["uniform", "normal"])
def test_dropped_draws_leave_the_others_as_they_were(front: Any, distribution: str) -> None:
    draw = getattr(front.random, distribution)
    size = "shape" if front is mx.nd else "size"

    def numbers(forget: bool) -> list[onp.ndarray[Any, Any]]:
        mx.random.seed(7)
        kept = []
        for step in range(12):
            numbers = draw(0, 1, **{size: (5 + step, 7)})
            if step % 3 == 0:
                kept.append(numbers)
            elif not forget:
                numbers.wait_to_read()
            del numbers
        mx.nd.waitall()
        return [array.asnumpy() for array in kept]

    all_run = numbers(forget=False)
    before = mx.engine.stats()
    some_dropped = numbers(forget=True)
    assert gained(before)["dropped"] == 8
    for one, other in zip(all_run, some_dropped, strict=True):
        onp.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("calls_before", range(5))
def test_dropped_failure_raises_nothing(calls_before: int) -> None:
    x = mx.nd.ones(SMALL)
    x.wait_to_read()
    before = mx.engine.stats()
    _core.inject_failure(calls_before, 0)
    y = mx.nd.sqrt((x + 1) * 2 - 1) + 3
    z = x * 2
    del y
    mx.nd.waitall()
    assert (z.asnumpy() == 2).all()
    assert (gained(before)["run"], gained(before)["dropped"]) == (1, 5)


def test_failure_of_what_is_kept_is_raised_by_waitall() -> None:
    x = mx.nd.ones(SMALL)
    x.wait_to_read()
    _core.inject_failure(1, 0)
    dead = x + 1
    kept = x * 2
    del dead
    with pytest.raises(mx.MXNetError, match="injected"):
        mx.nd.waitall()
    with pytest.raises(mx.MXNetError, match="injected"):
        kept.asnumpy()
    mx.nd.waitall()


@FRONTS
def test_waitall_does_not_run_droppable_calls(front: Any) -> None:
    x = front.ones((300, 300))
    x.wait_to_read()
    with busy_engine() as products, mx.engine.record() as events:
        before = mx.engine.stats()
        for step in range(20):
            front.dot(x + step, x).sum()
        products.clear()
        mx.nd.waitall()
        change = gained(before)
    assert change["issued"] == 60
    assert change["dropped"] >= 60
    assert {event.op for event in events if event.what != "pushed"} <= {"dot"}  # the products
    assert not any("add" in event.op for event in events)


@FRONTS
def test_waitall_drops_small_calls(front: Any) -> None:
    x = front.ones(SMALL)
    x.wait_to_read()
    before = mx.engine.stats()
    for step in range(20):
        (x + step) * 2
    mx.nd.waitall()
    assert (gained(before)["run"], gained(before)["dropped"]) == (0, 40)


def test_reading_does_not_run_what_it_does_not_need() -> None:
    x = mx.nd.ones(SMALL)
    x.wait_to_read()
    before = mx.engine.stats()
    wanted = x + 1
    unwanted = x * 3
    assert (wanted.asnumpy() == 2).all()
    assert gained(before)["run"] == 1
    del unwanted
    mx.nd.waitall()
    assert (gained(before)["run"], gained(before)["dropped"]) == (1, 1)


def test_without_the_pass_everything_runs() -> None:
    assert mx.engine.set_pass("drop", False) is True
    x = mx.nd.ones(SMALL)
    x.wait_to_read()
    before = mx.engine.stats()
    for step in range(100):
        y = x + step
    mx.nd.waitall()
    assert (gained(before)["run"], gained(before)["dropped"]) == (100, 0)
    assert (y.asnumpy() == 100).all()
    assert mx.engine.set_pass("drop", True) is False


def test_passes() -> None:
    assert list(mx.engine.passes()) == ["drop", "fuse", "reuse"]
    with pytest.raises(ValueError, match="no pass named 'melt'"):
        mx.engine.set_pass("melt", True)
