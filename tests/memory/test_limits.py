# SPDX-License-Identifier: Apache-2.0
"""Memory that cannot be had, and memory that is given back."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from support import not_under_address_sanitizer, output_of

import afterglow as mx
from afterglow import _core

MB = 1 << 20


@pytest.fixture
def cap() -> Iterator[Any]:
    """Set the hard cap, counted from what is live now."""

    def set_cap(extra: int) -> int:
        mx.nd.waitall()
        limit = mx.engine.stats()["live_bytes"] + extra
        _core.set_memory_cap(limit)
        return limit

    yield set_cap
    _core.set_memory_cap(0)


def text_of(array: Any, kind: type[Exception]) -> str:
    try:
        array.wait_to_read()
    except kind as problem:
        return str(problem)
    pytest.fail("nothing was raised")


@pytest.mark.parametrize("front", [mx.nd, mx.np])
def test_cap(cap: Any, front: Any) -> None:
    limit = cap(20 * MB)
    small = front.ones((1000, 1000))  # 4 MB
    large = front.ones((3000, 3000))  # 36 MB
    issued = test_cap.__code__.co_firstlineno + 4
    dependent = large + 1
    for array in (large, dependent):
        text = text_of(array, MemoryError)
        assert str(36_000_000) in text
        assert str(limit) in text
        assert re.search(rf"{re.escape(__file__)}:{issued}\b", text)
    assert isinstance(_raised(large), mx.MXNetError)
    assert float((small + 1).sum()) == 2_000_000
    _core.set_memory_cap(0)
    assert (front.ones((3000, 3000)).asnumpy() == 1).all()


def _raised(array: Any) -> BaseException:
    try:
        array.wait_to_read()
    except MemoryError as problem:
        return problem.with_traceback(None)
    pytest.fail("nothing was raised")


def test_cap_at_the_call(cap: Any) -> None:
    """A copy of host memory is made at once, so it is refused at once."""
    host = onp.ones((3000, 3000), dtype="float32")
    limit = cap(20 * MB)
    with pytest.raises(MemoryError, match=rf"36000000 bytes.*{limit}"):
        mx.nd.array(host)
    assert mx.nd.array(host[:10]).shape == (10, 3000)


def test_what_fits_serially_fits(cap: Any) -> None:
    """Freed memory is found again: a loop whose live arrays fit never meets the cap."""
    x = mx.nd.ones((1000, 1000))
    x.wait_to_read()
    cap(40 * MB)
    for _ in range(50):
        y = x + 1
        z = y * 2
        z.wait_to_read()
        del y, z
    assert float(x[0, 0]) == 1


def test_cached_memory_makes_room(cap: Any) -> None:
    mx.memory.trim()
    x = mx.nd.ones((2500, 1000))  # 10 MB
    x.wait_to_read()
    del x
    mx.nd.waitall()
    (mx.nd.ones((1,)) + 1).wait_to_read()
    cap(14 * MB)
    assert float(mx.nd.ones((3000, 1000)).sum()) == 3_000_000  # 12 MB: only beside no cache of 10


def test_trim() -> None:
    x = mx.nd.ones((500, 1000))
    x.wait_to_read()
    del x
    mx.nd.waitall()
    (mx.nd.ones((1,)) + 1).wait_to_read()
    assert _core.statistics()["cached_bytes"] >= 2_000_000
    mx.memory.trim()
    assert _core.statistics()["cached_bytes"] == 0
    assert float(mx.nd.ones((500, 1000)).sum()) == 500_000


@not_under_address_sanitizer("it keeps what is freed")
def test_trim_gives_memory_back_to_the_system() -> None:
    script = """
import afterglow as mx
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20
mx.nd.ones((2,)).wait_to_read()
base = resident()
arrays = [mx.nd.ones((2000, 2000)) for _ in range(12)]
small = [mx.nd.ones((100, 100)) for _ in range(500)]
mx.nd.waitall()
full = resident()
del arrays, small
mx.nd.waitall()
(mx.nd.ones((1,)) + 1).wait_to_read()
mx.memory.trim()
print(full - base > 180, resident() - base < 40)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True True\n", "")


def test_memory_is_reused() -> None:
    """A thousand results of 4 MB, one after the other, need a few of them at a time."""
    x = mx.nd.ones((1000, 1000))
    x.wait_to_read()
    base = mx.engine.stats()["live_bytes"]
    _core.reset_peak_memory()
    for _ in range(1000):
        y = x + 1
        y.wait_to_read()
    assert mx.engine.stats()["peak_bytes"] - base < 20 * MB


FOREVER = 1 << 40

threaded = pytest.mark.skipif(
    mx.engine.is_serial(), reason="a serial engine has nothing to wait for before it fails"
)


def sound_program(front: Any) -> None:
    """Take 21 allocations of 8000 bytes, and check every value."""
    x = front.ones((40, 50))
    ys = [x + i for i in range(10)]
    zs = [y * 2 for y in ys]
    mixed = zs[0] + ys[9]
    total = mixed.sum()
    temporary = front.sqrt(front.dot(x.T, x) * 10) + 1
    mx.nd.waitall()
    for i, (y, z) in enumerate(zip(ys, zs, strict=True)):
        assert (y.asnumpy() == i + 1).all()
        assert (z.asnumpy() == 2 * i + 2).all()
    assert (mixed.asnumpy() == 2 + 10).all()
    assert float(total) == 2000 * (2 + 10)
    assert (temporary.asnumpy() == 21).all()


@threaded
@pytest.mark.parametrize("passes", ["all passes", "no passes"])
@pytest.mark.parametrize("front", [mx.nd, mx.np])
def test_one_failed_allocation_changes_nothing(front: Any, passes: str) -> None:
    """Whichever allocation fails, it is tried again when other calls have given memory back."""
    if passes == "no passes":
        for name in mx.engine.passes():
            mx.engine.set_pass(name, False)
    base = settled()
    for allocation in range(30):
        _core.fail_allocation(allocation)
        sound_program(front)
        _core.fail_allocation(-1)
        assert settled(base) == base, allocation


@threaded
@pytest.mark.parametrize("shape", [(40, 50), (700, 700)])
def test_one_failed_allocation_of_a_chain(shape: tuple[int, int]) -> None:
    """Inline, in the engine, fused or not: a chain meets one refusal and is right."""
    x = mx.nd.ones(shape)
    x.wait_to_read()
    for allocation in range(6):
        _core.fail_allocation(allocation)
        y = mx.nd.relu(mx.nd.sqrt(x * 3 + 1) - 1) * x
        row = (y + 1).sum(axis=1)
        assert (y.asnumpy() == 1).all()
        assert (row.asnumpy() == 2 * shape[1]).all()
        _core.fail_allocation(-1)


def is_lost(array: Any, value: float) -> bool:
    """Tell whether the array raises; if it does not, its value must be right."""
    try:
        right = bool((array.asnumpy() == value).all())
    except MemoryError as problem:
        text = str(problem)
    else:
        assert right
        return False
    assert "8000 bytes" in text
    assert __file__ in text
    return True


def lose_allocations(front: Any, allocation: int) -> None:
    x = front.ones((40, 50))
    x.wait_to_read()
    _core.fail_allocation(allocation, FOREVER)
    ys = [x + i for i in range(10)]
    zs = [y * 2 for y in ys]
    mixed = zs[0] + ys[9]
    total = mixed.sum()
    if allocation <= 20:
        with pytest.raises(MemoryError, match="8000 bytes"):
            mx.nd.waitall()
    _core.fail_allocation(-1)
    while True:
        try:
            mx.nd.waitall()
        except MemoryError:
            continue
        break
    lost_ys = [i for i, y in enumerate(ys) if is_lost(y, i + 1)]
    lost_zs = [i for i, z in enumerate(zs) if is_lost(z, 2 * i + 2)]
    lost_mixed = is_lost(mixed, 2 + 10)
    # 21 results of 8000 bytes take an allocation each, the sum needs none. Those that could not be
    # had are lost, and what was computed from them.
    assert set(lost_ys) <= set(lost_zs)
    assert len(lost_ys) + len(lost_zs) + lost_mixed >= 21 - allocation
    assert bool(lost_zs or lost_ys or lost_mixed) == (allocation <= 20)
    assert lost_mixed or not (0 in lost_zs or 9 in lost_ys)
    if lost_mixed:
        with pytest.raises(MemoryError):
            total.wait_to_read()
    else:
        assert float(total) == 2000 * (2 + 10)
    assert not is_lost(x, 1)
    for y in ys:  # a full overwrite takes the buffer that could not be had before
        y[:] = 3
        assert not is_lost(y, 3)


@pytest.mark.parametrize("front", [mx.nd, mx.np])
def test_allocations_fail(front: Any) -> None:
    """From whichever allocation on: what was computed from them raises, all else is right."""
    base = settled()
    for allocation in range(30):
        lose_allocations(front, allocation)
        assert settled(base) == base, allocation


def settled(most: int = 0) -> int:
    """Return the live bytes when they have come down to ``most``, or will not any more."""
    for _ in range(50):
        mx.nd.waitall()
        (mx.nd.ones((1,)) + 1).wait_to_read()
        live = mx.engine.stats()["live_bytes"]
        if live <= most:
            break
        time.sleep(0.002)
    return live


def test_allocation_fails_at_the_call() -> None:
    host = onp.ones((100, 100), dtype="float32")
    _core.fail_allocation(0, FOREVER)
    with pytest.raises(MemoryError, match="40000 bytes"):
        mx.nd.array(host)
    _core.fail_allocation(-1)
    x = mx.nd.zeros((100, 100))
    x.wait_to_read()
    _core.fail_allocation(0, FOREVER)
    with pytest.raises(MemoryError):
        x[:] = host
    _core.fail_allocation(-1)
    assert float(x.sum()) == 0


def test_one_failed_allocation_at_the_call() -> None:
    """Host memory is copied at once; when refused, it waits for unfinished calls first."""
    host = onp.ones((100, 100), dtype="float32")
    _core.fail_allocation(0)
    x = mx.nd.array(host)
    _core.fail_allocation(0)
    x[:] = 2 * host
    _core.fail_allocation(0)
    y = x + host
    _core.fail_allocation(-1)
    assert (y.asnumpy() == 3).all()
    assert (x.asnumpy() == 2).all()


def test_array_waits_for_unfinished_calls(cap: Any) -> None:
    """What only unfinished calls hold is given back before a copy of host memory is refused."""
    host = onp.ones((3000, 1000), dtype="float32")  # 12 MB
    cap(20 * MB)
    totals = []
    for batch in range(20):
        x = mx.nd.array(host * (batch % 4))
        totals.append(mx.nd.dot(x, x[:1].T).sum())
        del x
    assert [float(total) for total in totals] == [3e6 * (batch % 4) ** 2 for batch in range(20)]


def test_refused_array_has_waited_for_unfinished_calls() -> None:
    host = onp.ones((1000, 1000), dtype="float32")
    x = mx.nd.array(host)
    product = mx.nd.dot(x, x)
    _core.fail_allocation(1, 1)  # the first is the product's
    y = mx.nd.array(host)
    _core.fail_allocation(-1)
    assert (y.asnumpy() == 1).all()
    assert (product.asnumpy() == 1000).all()


def test_run_ahead_stays_below_a_cap(cap: Any) -> None:
    """Results that nobody waits for do not meet the cap either."""
    x = mx.nd.ones((1000, 1000))
    x.wait_to_read()
    cap(22 * MB)
    totals = []
    for step in range(60):
        y = x * step
        totals.append(mx.nd.sqrt(y * y).sum())
        del y
    assert [float(total) for total in totals] == [1e6 * step for step in range(60)]


@pytest.mark.skipif(
    Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "1",
    reason="this system promises any amount of memory",
)
def test_more_than_the_machine_has_is_an_error_not_the_end() -> None:
    x = mx.nd.ones((400_000, 400_000))
    with pytest.raises(MemoryError, match=r"the system refused \d+ bytes"):
        x.wait_to_read()
    assert (mx.nd.ones((2,)) + 1).asnumpy().tolist() == [2, 2]


@pytest.mark.parametrize("room", [20, 60, 100, 140, 200])
def test_the_maths_library_needs_more_addresses_than_there_are(room: int) -> None:
    """It ends the process where it cannot map its buffers, so that is looked at before."""
    lines = output_of(
        f"""
        import resource
        a = mx.nd.ones((300, 300))
        a.wait_to_read()
        size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + ({room} << 20), resource.RLIM_INFINITY))
        for product in (lambda: mx.nd.dot(a, a), lambda: mx.np.linalg.inv(mx.np.eye(300))):
            try:
                product().wait_to_read()
            except MemoryError as error:
                print(isinstance(error, mx.MXNetError))
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        print(mx.nd.dot(a, a).sum().asscalar())
        """,
        AFTERGLOW_NUM_THREADS="2",
    )
    assert set(lines) <= {"True", "2.7e+07"}
    assert lines[-1] == "2.7e+07"
    if room < 60:
        assert lines[0] == "True"
