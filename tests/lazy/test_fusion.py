# SPDX-License-Identifier: Apache-2.0
"""Calls over the same elements become one pass over memory, and keep every bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as onp
import pytest
from support import busy_engine, gained, runs_later

import afterglow as mx
from afterglow import _core, nd

pytestmark = runs_later

MB = 1 << 20
SMALL = (16, 24)  #: stays pending until it is read, whatever the time
LARGE = (600, 700)  #: cut for several threads

Host = onp.ndarray[Any, Any]


@dataclass(frozen=True)
class Inputs:
    """Arrays whose values exist: x, y over a shape, and what goes with them."""

    x: Any
    y: Any
    row: Any  #: as long as the last axis
    column: Any  #: one value per row
    one: Any  #: an array of one element
    weight: Any
    bias: Any


def inputs(shape: tuple[int, int], dtype: str = "float32") -> Inputs:
    chance = onp.random.RandomState(3)

    def make(*size: int) -> Any:
        array = nd.array(chance.uniform(-2, 2, size), dtype=dtype)
        array.wait_to_read()
        return array

    rows, columns = shape
    return Inputs(
        x=make(rows, columns),
        y=make(rows, columns),
        row=make(1, columns),
        column=make(rows, 1),
        one=make(1, 1),
        weight=make(columns, 40),
        bias=make(1, 40),
    )


Pattern = Callable[[Inputs], Any]
#: The pattern, how many calls it issues, and how many of them run as one pass (None: any number).
PATTERNS: dict[str, tuple[Pattern, int, int | None]] = {}


def pattern(calls: int, fused: int | None) -> Callable[[Pattern], Pattern]:
    def add(function: Pattern) -> Pattern:
        PATTERNS[function.__name__] = function, calls, fused
        return function

    return add


@pattern(6, 6)
def unary(a: Inputs) -> Any:
    return nd.tanh(nd.sqrt(nd.square(abs(-nd.exp(a.x)))))


@pattern(5, 5)
def unary_transcendental(a: Inputs) -> Any:
    return nd.log(nd.sigmoid(nd.relu(nd.tanh(a.x)))) * 2


@pattern(5, 5)
def binary(a: Inputs) -> Any:
    return ((a.x + a.y) * a.x - a.y) / a.x + a.y


@pattern(4, 4)
def extremes(a: Inputs) -> Any:
    return nd.maximum(nd.minimum(nd.maximum(a.x, a.y) * 2, a.x), 0.25)


@pattern(3, 3)
def powers(a: Inputs) -> Any:
    return nd.power(abs(a.x) + 0.5, a.y)


@pattern(3, 3)
def remainder(a: Inputs) -> Any:
    return (a.x * 10) % 3 % a.y


@pattern(4, 4)
def comparison(a: Inputs) -> Any:
    return ((a.x > a.y) + a.x <= 0.5) * a.y


@pattern(3, 3)
def choice(a: Inputs) -> Any:
    return nd.where(a.x + a.y > 0, a.x, a.y)


@pattern(4, 4)
def choice_chain(a: Inputs) -> Any:
    positive = a.x > 0
    return nd.where(positive, a.y, a.x) * positive - 1


@pattern(4, 4)
def casts(a: Inputs) -> Any:
    return ((a.x * 50).astype("int32") + 3).astype("float64")


@pattern(4, 4)
def casts_to_half(a: Inputs) -> Any:
    return ((a.x / 3).astype("float16") * 7).astype("float32")


@pattern(4, 4)
def clips(a: Inputs) -> Any:
    return nd.clip(nd.clip(a.x * 3, -1, 2) - 0.5, 0, 1)


@pattern(5, 5)
def scalars(a: Inputs) -> Any:
    return (1 - a.x * 2 + 3) / 7 % 2


@pattern(3, 3)
def array_of_one_element(a: Inputs) -> Any:
    return nd.broadcast_mul(nd.broadcast_add(a.x, a.one), a.one) - 1


@pattern(3, 3)
def rows(a: Inputs) -> Any:
    return nd.broadcast_mul(nd.broadcast_add(a.x, a.row), a.row) - 1


@pattern(3, 3)
def columns(a: Inputs) -> Any:
    return nd.broadcast_mul(nd.broadcast_add(a.x, a.column), a.column) - 1


@pattern(4, 4)
def rows_and_columns(a: Inputs) -> Any:
    return nd.relu(nd.broadcast_sub(nd.broadcast_add(a.x, a.row), a.column) * a.y)


@pattern(5, 5)
def several_outputs(a: Inputs) -> Any:
    trunk = a.x * a.y
    one = trunk + 1
    other = nd.exp(trunk)
    return trunk, one, other, one * other, other - trunk


@pattern(4, 4)
def output_used_twice(a: Inputs) -> Any:
    y = a.x + 1
    return (y * y - y) * y


@pattern(4, 4)
def in_place(a: Inputs) -> Any:
    z = a.x + 0
    z += a.y
    z *= 2
    z -= z
    return z


@pattern(4, 4)
def written_over(a: Inputs) -> Any:
    z = a.x + 1
    early = z * 2
    z[:] = early - a.y
    return early, z


@pattern(3, 3)
def into_out(a: Inputs) -> Any:
    z = a.x + 1
    nd.broadcast_mul(z, a.y, out=z)
    nd.broadcast_add(z, z, out=z)
    return z


@pattern(3, 3)
def sum_of_all(a: Inputs) -> Any:
    return (a.x * a.y + 1).sum()


@pattern(3, 3)
def mean_of_all(a: Inputs) -> Any:
    return nd.square(a.x - a.y).mean()


@pattern(3, 3)
def largest_of_the_last_axis(a: Inputs) -> Any:
    return (a.x * a.y - 1).max(axis=1)


@pattern(3, 3)
def smallest_of_the_last_axis(a: Inputs) -> Any:
    return (a.x * a.y - 1).min(axis=-1, keepdims=True)


@pattern(4, 4)
def sum_and_its_terms(a: Inputs) -> Any:
    """Both the reduction and what it reduces are results."""
    terms = nd.exp(a.x) * a.y
    return terms, terms.sum(axis=1), terms.max(axis=1)


@pattern(5, 5)
def sum_of_rows_goes_on(a: Inputs) -> Any:
    return nd.sqrt((a.x * a.x).sum(axis=1) + 1) * 2


@pattern(5, 5)
def softmax(a: Inputs) -> Any:
    powers = nd.exp(a.x - a.x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@pattern(9, 9)
def layer_norm(a: Inputs) -> Any:
    centred = a.x - a.x.mean(axis=1, keepdims=True)
    variance = nd.square(centred).mean(axis=1, keepdims=True)
    normal = centred / nd.sqrt(variance + 1e-5)
    return nd.broadcast_add(nd.broadcast_mul(normal, a.row), a.row)


@pattern(6, 6)
def log_softmax(a: Inputs) -> Any:
    shifted = a.x - a.x.max(axis=1, keepdims=True)
    return shifted - nd.log(nd.exp(shifted).sum(axis=1, keepdims=True))


@pattern(2, 2)
def product_and_bias(a: Inputs) -> Any:
    return nd.broadcast_add(nd.dot(a.x, a.weight), a.bias)


@pattern(3, 3)
def product_bias_and_relu(a: Inputs) -> Any:
    return nd.relu(nd.broadcast_add(nd.dot(a.x, a.weight), a.bias))


@pattern(4, 4)
def product_bias_and_more(a: Inputs) -> Any:
    product = nd.dot(a.x, a.weight)
    return nd.sigmoid(nd.broadcast_add(product, a.bias)) * 0.5


@pattern(3, 3)
def product_kept_as_well(a: Inputs) -> Any:
    product = nd.dot(a.x, a.weight)
    sums = nd.broadcast_add(product, a.bias)
    return product, sums, nd.tanh(sums)


@pattern(3, 3)
def product_in_place(a: Inputs) -> Any:
    product = nd.dot(a.x, a.weight)
    product += a.bias
    product *= 2
    return product


@pattern(3, None)
def shifted_onto_itself(a: Inputs) -> Any:
    """The right side is computed first: it must not see what the left side writes."""
    z = a.x + 0
    z[1:] = z[:-1] + 1
    return z


@pattern(4, None)
def shifted_back(a: Inputs) -> Any:
    z = a.x + 0
    z[:-1] = z[1:] * 2 + 1
    return z


@pattern(5, None)
def odd_rows_onto_even_ones(a: Inputs) -> Any:
    z = a.x + 0
    z[::2] += z[1::2]
    return z


@pattern(3, None)
def halves(a: Inputs) -> Any:
    """Disjoint parts of one storage."""
    z = a.x + 0
    middle = z.shape[0] // 2
    z[:middle] = z[middle:] + 1
    return z


def hosts_of(results: Any) -> list[Host]:
    """Read everything; what is read last is needed for nothing else."""
    arrays = results if isinstance(results, tuple) else (results,)
    return [array.asnumpy() for array in reversed(arrays)]


def assert_same_bits(left: list[Host], right: list[Host]) -> None:
    assert len(left) == len(right)
    for one, other in zip(left, right, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes()


@contextmanager
def without(name: str) -> Iterator[None]:
    mx.engine.set_pass(name, False)
    try:
        yield
    finally:
        mx.engine.set_pass(name, True)


def unfused(function: Pattern, given: Inputs) -> list[Host]:
    before = mx.engine.stats()
    with without("fuse"):
        expected = hosts_of(function(given))
    assert gained(before)["fused_calls"] == 0
    return expected


@pytest.mark.usefixtures("everything_fuses")
@pytest.mark.parametrize("name", PATTERNS)
def test_small(name: str) -> None:
    function, calls, fused = PATTERNS[name]
    given = inputs(SMALL)
    mx.nd.waitall()
    before = mx.engine.stats()
    results = function(given)
    mx.nd.waitall()
    change = gained(before)
    assert (change["issued"], change["run"]) == (calls, calls)
    if fused is not None:
        assert (change["fused_calls"], change["fused"]) == (fused, 1)
    assert_same_bits(hosts_of(results), unfused(function, given))


def run_together(issue: Callable[[], Any], calls: int) -> tuple[Any, dict[str, int]]:
    """Return what is issued, and what the engine did, once all calls left the window together.

    A worker that is about to sleep while the engine gets its products may ask for what is there of
    the calls: then there is nothing to be seen, and they are issued again.
    """
    for _ in range(5):
        with busy_engine() as products:
            before = mx.engine.stats()
            results = issue()
            assert gained(before)["issued"] == calls
            held = _core.held_calls()
            products.clear()
            mx.nd.waitall()
            change = gained(before)
        if held == calls:
            return results, change
    pytest.fail(f"only {held} of {calls} calls were held by the window, five times")


@pytest.mark.parametrize("name", [name for name in PATTERNS if PATTERNS[name][2]])
def test_large(name: str) -> None:
    """Cut for several threads, by whole rows where the pattern needs them."""
    function, calls, fused = PATTERNS[name]
    given = inputs(LARGE)
    results, change = run_together(lambda: function(given), calls)
    assert (change["fused_calls"], change["fused"]) == (fused, 1)
    assert_same_bits(hosts_of(results), unfused(function, given))


@pytest.mark.parametrize("name", [name for name in PATTERNS if not PATTERNS[name][2]])
def test_large_onto_itself(name: str) -> None:
    function, calls, _ = PATTERNS[name]
    given = inputs(LARGE)
    with busy_engine() as products:
        before = mx.engine.stats()
        results = function(given)
        assert gained(before)["issued"] == calls
        products.clear()
    assert_same_bits(hosts_of(results), unfused(function, given))


@pytest.mark.usefixtures("everything_fuses")
@pytest.mark.parametrize("shape", [SMALL, LARGE])
def test_overlapping_views_agree_with_numpy(shape: tuple[int, int]) -> None:
    """Every part of one storage that a statement reads has its value from before the statement."""
    host = onp.arange(shape[0] * shape[1], dtype="float32").reshape(shape) % 1000
    middle = shape[0] // 2
    x = nd.array(host)
    y = x * 1
    y[1:] = y[:-1] + 1
    y[::2] += y[1::2]
    y[:-1] = y[1:] * 0.5 - y[:-1]
    y[:middle] = y[middle:] + y[:middle]
    y[middle:] -= y[:1]
    y[:, 1:] = y[:, :-1] + 1
    y[:] = y[::-1] + y
    z = y + x
    host = host.copy()
    expected = host.copy()
    expected[1:] = expected[:-1] + 1
    expected[::2] += expected[1::2].copy()
    expected[:-1] = expected[1:] * 0.5 - expected[:-1]
    expected[:middle] = expected[middle:] + expected[:middle]
    expected[middle:] -= expected[:1].copy()
    expected[:, 1:] = expected[:, :-1] + 1
    expected[:] = expected[::-1] + expected
    onp.testing.assert_array_equal(z.asnumpy(), expected + host)
    onp.testing.assert_array_equal(y.asnumpy(), expected)


@pytest.mark.usefixtures("everything_fuses")
@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 30), (30, 1), (3, 2), (7, 1030), (1030, 7), (130, 65)]
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_same_bits_for_every_shape_and_type(shape: tuple[int, int], dtype: str) -> None:
    given = inputs(shape, dtype)
    for name, (function, _, _) in PATTERNS.items():
        if shape[0] == 1 and name.startswith("shifted"):
            continue  # no rows to shift
        if shape[0] % 2 and name in ("halves", "odd_rows_onto_even_ones"):
            continue
        results = function(given)
        mx.nd.waitall()
        assert_same_bits(hosts_of(results), unfused(function, given))


@pytest.mark.parametrize("number_dtype", ["int32", "int64", "uint8", "int8"])
@pytest.mark.usefixtures("everything_fuses")
def test_integers(number_dtype: str) -> None:
    host = (onp.arange(384).reshape(SMALL) % 19).astype(number_dtype)
    x = nd.array(host, dtype=number_dtype)
    x.wait_to_read()

    def function(x: Any) -> Any:
        y = nd.where(x > 7, x * 3, x + 100) - 5
        return y, (y % 7).sum(axis=1), (y * 2).astype("float32").max()

    before = mx.engine.stats()
    results = function(x)
    mx.nd.waitall()
    assert gained(before)["fused_calls"] >= 6
    with without("fuse"):
        expected = hosts_of(function(x))
    assert_same_bits(hosts_of(results), expected)


def independent(x: Any) -> list[Any]:
    return [x + 1, x * 2, nd.sqrt(x)]


@pytest.mark.usefixtures("everything_fuses")
def test_small_independent_calls_stay_apart() -> None:
    """They can run side by side."""
    x = nd.ones(SMALL)
    x.wait_to_read()
    before = mx.engine.stats()
    kept = independent(x)
    mx.nd.waitall()
    assert gained(before)["fused_calls"] == 0
    assert [float(array[3, 4]) for array in kept] == [2, 2, 1]


def test_large_independent_calls_read_their_input_once() -> None:
    x = nd.ones(LARGE)
    x.wait_to_read()
    kept, change = run_together(lambda: independent(x), 3)
    assert change["fused_calls"] == 3
    assert [float(array[3, 4]) for array in kept] == [2, 2, 1]


def test_small_passes_are_not_worth_fusing() -> None:
    x = nd.ones(SMALL)
    x.wait_to_read()
    before = mx.engine.stats()
    y = x * 2 + 1
    y.wait_to_read()
    assert gained(before)["fused"] == 0


@pytest.mark.usefixtures("everything_fuses")
def test_contexts_stay_apart() -> None:
    x = nd.ones(SMALL)
    x.wait_to_read()
    before = mx.engine.stats()
    y = ((x + 1) * 3).as_in_context(mx.cpu(1)) * 2 + 5
    mx.nd.waitall()
    assert gained(before)["fused_calls"] == 4  # those of each device; the copy runs alone
    assert (y.asnumpy() == 17).all()
    assert y.context == mx.cpu(1)


@pytest.mark.usefixtures("everything_fuses")
@pytest.mark.parametrize("failing", range(4))
def test_failing_call_stays_alone(failing: int) -> None:
    """A failure names its own call, and what came before is right."""
    x = nd.ones(SMALL)
    x.wait_to_read()
    _core.inject_failure(failing, 0)
    steps = [x]
    names = ["multiply", "add", "sqrt", "negative"]
    for step in (lambda y: y * 3, lambda y: y + 1, nd.sqrt, lambda y: -y):
        steps.append(step(steps[-1]))
    expected = [1, 3, 4, 2, -2]
    for number, (array, value) in enumerate(zip(steps, expected, strict=True)):
        if number <= failing:
            assert (array.asnumpy() == value).all()
        else:
            with pytest.raises(
                mx.MXNetError, match=rf"\[{names[failing]}\] a failure was injected"
            ):
                array.asnumpy()


@pytest.mark.usefixtures("everything_fuses")
def test_poisoned_input_poisons_a_fused_chain() -> None:
    x = nd.ones(SMALL)
    x.wait_to_read()
    _core.inject_failure(0, 0)
    bad = x + 1
    good = x * 2
    mixed = nd.exp(good + bad) - 1
    still_good = good * 2 + 1
    with pytest.raises(mx.MXNetError, match="injected"):
        mixed.asnumpy()
    assert (still_good.asnumpy() == 5).all()
    bad[:] = 1  # heals
    assert ((bad + good).asnumpy() == 3).all()


@pytest.mark.usefixtures("everything_fuses")
@pytest.mark.parametrize("length", [20, 31, 32, 33, 60, 200])
def test_long_chains(length: int) -> None:
    x = nd.ones(SMALL)
    x.wait_to_read()

    def chain() -> Any:
        y = x
        for step in range(length):
            y = y * 0.5 + step if step % 2 else nd.maximum(y, x) - step
        return y

    before = mx.engine.stats()
    result = hosts_of(chain())
    assert gained(before)["fused_calls"] >= length
    with without("fuse"):
        assert_same_bits(result, hosts_of(chain()))


@pytest.mark.usefixtures("everything_fuses")
def test_many_inputs() -> None:
    """More arrays than a pass can take."""
    xs = [nd.ones(SMALL) * number for number in range(50)]
    mx.nd.waitall()
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    assert (total.asnumpy() == sum(range(50))).all()


@pytest.mark.parametrize("length", [6, 60])
@pytest.mark.parametrize("who", ["reader", "workers"])
def test_peak_of_a_chain_is_one_output(who: str, length: int) -> None:
    """Temporaries of a pass take no memory, and a pass takes over the buffer of the one before."""
    x = nd.ones((1000, 1000))
    x.wait_to_read()
    with busy_engine() as products:
        mx.memory.reset_peak()
        base = mx.memory.active()
        y = x
        for step in range(length // 2):
            y = y * 0.5 + step
        if who == "workers":
            products.clear()
            mx.nd.waitall()
        y.wait_to_read()
        assert mx.memory.peak() - base < 1.2 * 4_000_000
        assert float(y[0, 0]) == float(y[-1, -1])


def test_peak_of_a_softmax_is_one_output() -> None:
    x = nd.ones((1000, 1000))
    x.wait_to_read()
    with busy_engine():
        mx.memory.reset_peak()
        base = mx.memory.active()
        powers = nd.exp(x - x.max(axis=1, keepdims=True))
        result = powers / powers.sum(axis=1, keepdims=True)
        del powers
        result.wait_to_read()
        assert mx.memory.peak() - base < 1.2 * 4_000_000


def test_without_reuse_a_chain_is_right_as_well() -> None:
    given = inputs(LARGE)
    for function, _, _ in PATTERNS.values():
        expected = hosts_of(function(given))
        with without("reuse"):
            assert_same_bits(hosts_of(function(given)), expected)
