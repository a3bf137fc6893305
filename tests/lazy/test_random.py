# SPDX-License-Identifier: Apache-2.0
"""Contract 5: random numbers depend on the seed and the order of statements, on nothing else."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as onp
import pytest

import afterglow as mx


@pytest.fixture(autouse=True)
def unseeded_afterwards() -> Iterator[None]:
    yield
    mx.random.seed(int.from_bytes(onp.random.default_rng().bytes(6)))


def uniform(count: int, **options: Any) -> Any:
    return mx.nd.random.uniform(0, 1, shape=(count,), **options)


def normal(count: int, **options: Any) -> Any:
    return mx.nd.random.normal(0, 1, shape=(count,), **options)


def some_numbers() -> list[bytes]:
    drawn = [
        uniform(1),
        normal(7),
        mx.np.random.uniform(size=(3, 5), dtype="float64"),
        normal(200_001),
        uniform(200_003),
        mx.np.random.normal(size=(2, 2), dtype="float16"),
        normal(2),
    ]
    return [array.asnumpy().tobytes() for array in drawn]


def test_same_seed_same_numbers() -> None:
    mx.random.seed(7)
    first = some_numbers()
    second = some_numbers()
    mx.random.seed(7)
    again = some_numbers()
    assert first == again
    assert all(one != other for one, other in zip(first, second, strict=True))
    mx.random.seed(8)
    assert all(one != other for one, other in zip(first, some_numbers(), strict=True))


def test_front_ends_share_a_stream() -> None:
    mx.random.seed(3)
    legacy = uniform(5).asnumpy()
    mx.random.seed(3)
    numpy = mx.np.random.uniform(size=(5,)).asnumpy()
    onp.testing.assert_array_equal(legacy, numpy)


def test_waiting_and_other_work_change_nothing() -> None:
    mx.random.seed(11)
    plain = [normal(50_000) for _ in range(6)]
    mx.random.seed(11)
    mixed = []
    ballast = mx.nd.ones((600, 600))
    for step in range(6):
        ballast = mx.nd.dot(ballast, ballast) * 0.001
        mixed.append(normal(50_000))
        if step % 2:
            mixed[-1].wait_to_read()
    for one, other in zip(plain, mixed, strict=True):
        onp.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


def test_results_nobody_reads_still_count() -> None:
    mx.random.seed(5)
    uniform(1000)
    kept = uniform(1000)
    mx.random.seed(5)
    first = uniform(1000).asnumpy()
    onp.testing.assert_array_equal(kept.asnumpy(), uniform(1000).asnumpy())
    assert not onp.array_equal(first, kept.asnumpy())


def test_drawn_at_issue_not_at_run() -> None:
    mx.random.seed(9)
    first, second = uniform(4), uniform(4)
    mx.random.seed(1)  # after the statements
    later = second.asnumpy(), first.asnumpy()
    mx.random.seed(9)
    onp.testing.assert_array_equal(uniform(4).asnumpy(), later[1])
    onp.testing.assert_array_equal(uniform(4).asnumpy(), later[0])


def test_every_context_has_a_stream() -> None:
    mx.random.seed(2)
    streams = [uniform(1000, ctx=mx.cpu(i)).asnumpy() for i in range(4)]
    for i in range(4):
        for j in range(i):
            assert abs(onp.corrcoef(streams[i], streams[j])[0, 1]) < 0.2
    mx.random.seed(2)
    # In another order: what one context draws does not move the others.
    again = [uniform(1000, ctx=mx.cpu(i)).asnumpy() for i in (3, 1, 0, 2)]
    for index, values in zip((3, 1, 0, 2), again, strict=True):
        onp.testing.assert_array_equal(values, streams[index])


def test_seed_of_one_context() -> None:
    mx.random.seed(4)
    mx.random.seed(5, ctx=mx.cpu(1))
    one, other = uniform(10), uniform(10, ctx=mx.cpu(1))
    mx.random.seed(99)
    mx.random.seed(5, ctx=mx.cpu(1))
    onp.testing.assert_array_equal(uniform(10, ctx=mx.cpu(1)).asnumpy(), other.asnumpy())
    assert not onp.array_equal(uniform(10).asnumpy(), one.asnumpy())


def test_threads_draw_disjoint_numbers() -> None:
    mx.random.seed(6)
    expected = {uniform(64).asnumpy().tobytes() for _ in range(8 * 20)}
    mx.random.seed(6)
    drawn: list[bytes] = []

    def draw() -> None:
        arrays = [uniform(64) for _ in range(20)]
        drawn.extend(array.asnumpy().tobytes() for array in arrays)

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawn) == 160
    assert set(drawn) == expected


def test_unseeded_runs_differ() -> None:
    script = (
        "import afterglow as mx; print(mx.nd.random.uniform(0, 1, shape=(4,)).asnumpy().tobytes())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
        ).stdout
        for _ in range(3)
    }
    assert len(outputs) == 3


# --- distributions; the seeds are fixed, so these verdicts never change ---


def distance(values: onp.ndarray[Any, Any], law: Any) -> float:
    """Return the Kolmogorov-Smirnov statistic, scaled so that 1.95 is passed once in 1000."""
    ordered = onp.sort(values.astype("float64"))
    expected = law(ordered)
    count = len(ordered)
    steps = onp.arange(count + 1) / count
    worst = max((expected - steps[:-1]).max(), (steps[1:] - expected).max())
    return float(worst * math.sqrt(count))


def normal_law(x: onp.ndarray[Any, Any]) -> onp.ndarray[Any, Any]:
    return onp.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in x])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_uniform_law(seed: int, dtype: str) -> None:
    mx.random.seed(seed)
    values = mx.nd.random.uniform(-2, 3, shape=(100_000,), dtype=dtype).asnumpy()
    assert values.dtype == dtype
    assert values.min() >= -2
    assert values.max() < 3
    assert distance(values, lambda x: (x + 2) / 5) < 1.95
    unit = (values.astype("float64") + 2) / 5
    assert abs(unit.mean() - 1 / 2) < 5 * math.sqrt(1 / 12 / len(unit))
    assert abs(unit.var() - 1 / 12) < 5 * math.sqrt(1 / 180 / len(unit))
    assert abs(onp.corrcoef(unit[:-1], unit[1:])[0, 1]) < 5 / math.sqrt(len(unit))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_normal_law(seed: int, dtype: str) -> None:
    mx.random.seed(seed)
    values = mx.nd.random.normal(10, 2, shape=(100_000,), dtype=dtype).asnumpy()
    assert values.dtype == dtype
    z = (values.astype("float64") - 10) / 2
    count = len(z)
    assert distance(z, normal_law) < 1.95
    assert abs(z.mean()) < 5 / math.sqrt(count)
    assert abs(z.var() - 1) < 5 * math.sqrt(2 / count)
    assert abs((z**3).mean()) < 5 * math.sqrt(15 / count)
    assert abs((z**4).mean() - 3) < 5 * math.sqrt(96 / count)
    assert abs(onp.corrcoef(z[:-1], z[1:])[0, 1]) < 5 / math.sqrt(count)
    assert abs(onp.corrcoef(z[::2], z[1::2])[0, 1]) < 5 / math.sqrt(count / 2)
    assert onp.abs(z).max() > 3.9  # the tails are there: fewer than one in 10^4 runs ends below


def test_float16_stays_in_range() -> None:
    mx.random.seed(1)
    values = mx.nd.random.uniform(0, 1, shape=(100_000,), dtype="float16").asnumpy()
    assert values.dtype == "float16"
    assert values.min() >= 0
    assert values.max() < 1
    assert abs(values.astype("float64").mean() - 0.5) < 0.01
