# SPDX-License-Identifier: Apache-2.0
"""Attention in blocks of whole rows of scores: the bits of separate calls, not their memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as onp
import pytest
from support import gained, output_of

import afterglow as mx
from afterglow import _core, autograd, gluon, nd, np, npx

MB = 1 << 20
HEADS = 4

Host = onp.ndarray[Any, Any]
Form = Callable[..., Any]


class Block(gluon.HybridBlock):
    """A function of arrays as a block."""

    def __init__(self, function: Form) -> None:
        super().__init__()
        self.function = function

    def hybrid_forward(self, F: Any, *inputs: Any) -> Any:
        return self.function(F, *inputs)


def replayed(function: Form) -> Block:
    """Return a hybridized block; its third call is the first replay."""
    block = Block(function)
    block.hybridize()
    return block


@contextmanager
def separate_calls() -> Iterator[None]:
    mx.engine.waitall()
    was = mx.engine.set_pass("fuse", False)
    try:
        yield
        mx.engine.waitall()
    finally:
        mx.engine.set_pass("fuse", was)


def peak_of(run: Callable[[], Any]) -> tuple[Any, int]:
    """Return what a function returns, once it is there, and how many bytes that took at most."""
    mx.engine.waitall()
    before = mx.memory.active()
    mx.memory.reset_peak()
    result = run()
    mx.engine.waitall()
    return result, mx.memory.peak() - before


def plain(F: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
    scores = F.batch_dot(q, k, transpose_b=True) * 0.125
    return F.batch_dot(F.softmax(scores, axis=-1), v)


def transposed(F: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
    scores = F.batch_dot(q, F.transpose(k, axes=(0, 2, 1)))
    return F.batch_dot(F.softmax(scores), v)


def masked(F: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
    scores = F.reshape(F.batch_dot(q, k, transpose_b=True) / 8, shape=(-4, -1, HEADS, 0, 0))
    scores = F.broadcast_add(scores, F.expand_dims(F.expand_dims(mask, 1), 1))
    return F.batch_dot(F.reshape(F.softmax(scores), shape=(-3, 0, 0)), v)


def causal(F: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
    scores = F.batch_dot(q, k, transpose_b=True)
    steps = F.contrib.arange_like(q, axis=1), F.contrib.arange_like(k, axis=1)
    allowed = F.broadcast_greater_equal(F.expand_dims(steps[0], 1), F.expand_dims(steps[1], 0))
    scores = F.broadcast_add(scores, F.expand_dims((allowed - 1) * 1e9, 0))
    return F.batch_dot(F.softmax(scores), v)


def with_dropout(F: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
    return F.batch_dot(F.Dropout(F.softmax(F.batch_dot(q, k, transpose_b=True)), p=0.5), v)


def sequence_masked(F: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
    scores = F.batch_dot(q, k, transpose_b=True) / 8
    lengths = F.repeat(F.sum(mask == 0, axis=1), repeats=HEADS * q.shape[1])
    flat = F.reshape(scores, shape=(-3, 0))
    flat = F.SequenceMask(flat, lengths, use_sequence_length=True, value=-1e6, axis=1)
    return F.batch_dot(F.softmax(F.reshape_like(flat, scores)), v)


FORMS = [plain, transposed, masked, causal, with_dropout, sequence_masked]


def samples(
    batch: int, queries: int, keys: int, width: int, values: int, dtype: str = "float32"
) -> list[Host]:
    chance = onp.random.RandomState(batch + queries)
    stack = batch * HEADS
    lengths = chance.randint(1, keys + 1, batch)
    return [
        chance.normal(size=(stack, queries, width)).astype(dtype),
        chance.normal(size=(stack, keys, width)).astype(dtype),
        chance.normal(size=(stack, keys, values)).astype(dtype),
        onp.where(onp.arange(keys) < lengths[:, None], 0, -1e6).astype(dtype),
    ]


def reference(q: Host, k: Host, v: Host, added: Any = 0, scale: float = 1) -> Host:
    scores = onp.einsum("hic,hjc->hij", *(x.astype("float64") for x in (q, k))) * scale + added
    powers = onp.exp(scores - scores.max(-1, keepdims=True))
    return onp.asarray(onp.einsum("hij,hjc->hic", powers / powers.sum(-1, keepdims=True), v))


def compare(form: Form, hosts: list[Host], world: Any = nd) -> Any:
    """Assert that blocks give the bits of separate calls; return them."""
    arrays = [world.array(host, dtype=host.dtype) for host in hosts]
    block = replayed(form)
    for _ in range(4):
        result = block(*arrays).asnumpy()
    with separate_calls():
        expected = Block(form)(*arrays).asnumpy()
    onp.testing.assert_array_equal(result, expected)
    return result


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "shape", [(2, 128, 128, 64, 64), (1, 100, 77, 24, 40), (3, 64, 515, 16, 16), (1, 1, 5000, 8, 8)]
)
def test_blocks_have_the_bits_of_separate_calls(
    form: Form, shape: tuple[int, int, int, int, int]
) -> None:
    hosts = samples(*shape)
    result = compare(form, hosts)
    q, k, v, mask = hosts
    added = onp.repeat(mask, HEADS, 0)[:, None]
    if form is plain:
        onp.testing.assert_allclose(result, reference(q, k, v, 0, 0.125), rtol=1e-3, atol=1e-4)
    if form in (masked, sequence_masked):
        onp.testing.assert_allclose(result, reference(q, k, v, added, 0.125), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tiles_of_large_matrices(dtype: str) -> None:
    hosts = samples(1, 700, 2100, 32, 32, dtype)
    compare(masked, hosts)
    result = compare(plain, hosts)
    q, k, v, _ = hosts
    onp.testing.assert_allclose(result, reference(q, k, v, 0, 0.125), rtol=1e-3, atol=1e-4)


def test_numpy_world() -> None:
    class Numpy(gluon.HybridBlock):
        def forward(self, q: Any, k: Any, v: Any, mask: Any) -> Any:
            heads = [x.reshape(-1, HEADS, *x.shape[1:]) for x in (q, k, v)]
            scores = np.matmul(heads[0], heads[1].swapaxes(2, 3)) / 8
            scores = np.where(mask[:, None, None] == 0, scores, -1e6)
            return np.matmul(npx.softmax(scores, axis=-1), heads[2])

    hosts = samples(2, 130, 140, 64, 64)
    arrays = [np.array(host) for host in hosts]
    block = Numpy()
    with separate_calls():
        expected = block(*arrays).asnumpy()
    block.hybridize()
    for _ in range(4):
        result = block(*arrays).asnumpy()
    onp.testing.assert_array_equal(result, expected)
    q, k, v, mask = hosts
    added = onp.repeat(mask, HEADS, 0)[:, None]
    wanted = reference(q, k, v, added, 0.125).reshape(result.shape)
    onp.testing.assert_allclose(result, wanted, rtol=1e-3, atol=1e-4)


def test_interleaved_products() -> None:
    def interleaved(F: Any, x: Any) -> Any:
        scores = F.contrib.interleaved_matmul_selfatt_qk(x, heads=HEADS)
        return F.contrib.interleaved_matmul_selfatt_valatt(x, F.softmax(scores), heads=HEADS)

    host = onp.random.RandomState(0).normal(size=(150, 2, HEADS * 3 * 32)).astype("float32")
    compare(interleaved, [host])


@pytest.mark.parametrize("form", [plain, masked, causal, with_dropout, sequence_masked])
def test_prediction_holds_no_scores(form: Form) -> None:
    arrays = [nd.array(host) for host in samples(2, 1024, 1024, 32, 32)]
    scores = 2 * HEADS * 1024 * 1024 * 4
    block = replayed(form)
    for _ in range(3):
        block(*arrays).wait_to_read()
    before = mx.engine.stats()
    _, peak = peak_of(lambda: block(*arrays))
    assert peak < scores * 3 / 4  # SequenceMask has a boolean for each score
    assert gained(before)["fused_calls"] >= 3


def test_prediction_of_long_sequences_stays_below_64_megabytes() -> None:
    lines = output_of(
        """
        from afterglow import gluon, nd

        class Attention(gluon.HybridBlock):
            def hybrid_forward(self, F, q, k, v):
                scores = F.batch_dot(q, k, transpose_b=True) / 8
                return F.batch_dot(F.softmax(scores), v)

        block = Attention()
        block.hybridize()
        q, k, v = (nd.random.normal(shape=(8, 4096, 64)) for _ in range(3))
        for _ in range(4):  # as it is, written down, replayed
            mx.memory.reset_peak()
            block(q, k, v).wait_to_read()
            print(mx.memory.peak())
        """
    )
    serial = mx.engine.is_serial()  # which holds nothing back before the replay
    assert max(map(int, lines[2 if serial else 0 :])) <= 64 * MB


@pytest.mark.parametrize(
    "settings",
    [{"NUM_THREADS": "1"}, {"NUM_THREADS": "2"}, {"NUM_THREADS": "3"}, {"ENGINE": "serial"}],
)
def test_any_number_of_threads(settings: dict[str, str]) -> None:
    lines = output_of(
        """
        from afterglow import gluon, nd

        class Attention(gluon.HybridBlock):
            def hybrid_forward(self, F, q, k, v):
                scores = F.batch_dot(q, k, transpose_b=True) / 8
                return F.batch_dot(F.softmax(scores), v)

        onp.random.seed(0)
        for stack, rows, keys in [(2, 300, 4000), (5, 90, 100), (16, 64, 64)]:
            q, k, v = (
                nd.array(onp.random.normal(size=(stack, length, 48)))
                for length in (rows, keys, keys)
            )
            block = Attention()
            block.hybridize()
            for _ in range(3):
                result = block(q, k, v).asnumpy()
            mx.engine.set_pass("fuse", False)
            scores = nd.batch_dot(q, k, transpose_b=True)
            scores.wait_to_read()
            weights = nd.softmax(scores / 8)
            print((result == nd.batch_dot(weights, v).asnumpy()).all())
            mx.engine.set_pass("fuse", True)
        """,
        **{f"AFTERGLOW_{name}": value for name, value in settings.items()},
    )
    assert lines == ["True"] * 3


def test_scores_that_are_read_later_are_kept() -> None:
    def with_scores(F: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
        scores = F.batch_dot(q, k, transpose_b=True)
        weights = F.softmax(scores * 0.5)
        return [F.batch_dot(weights, v), scores, weights, F.sum(weights, axis=1)]

    hosts = samples(2, 96, 96, 32, 32)
    arrays = [nd.array(host) for host in hosts]
    block = replayed(with_scores)
    for _ in range(4):
        results = [result.asnumpy() for result in block(*arrays)]
    with separate_calls():
        expected = [result.asnumpy() for result in Block(with_scores)(*arrays)]
    for result, wanted in zip(results, expected, strict=True):
        onp.testing.assert_array_equal(result, wanted)


def test_written_in_place_and_into_views() -> None:
    q, k, v, _ = (nd.array(host) for host in samples(2, 96, 96, 32, 32))

    def run() -> list[Host]:
        scores = nd.batch_dot(q, k, transpose_b=True)
        scores *= 0.25
        seen = scores[0]
        weights = nd.softmax(scores)
        del scores
        out = nd.zeros((3, *v.shape))
        out[1] = nd.batch_dot(weights, v)
        weights[:] = 0
        return [out.asnumpy(), seen.asnumpy(), weights.asnumpy()]

    results = run()
    with separate_calls():
        expected = run()
    for result, wanted in zip(results, expected, strict=True):
        onp.testing.assert_array_equal(result, wanted)


def test_a_factor_that_changes_between_the_calls() -> None:
    def changing(F: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
        scores = F.batch_dot(q, k, transpose_b=True)
        q[:] = q * 2
        return F.batch_dot(F.softmax(scores), v) + F.sum(q)

    arrays = [nd.array(host) for host in samples(2, 96, 96, 32, 32)]
    queries = arrays[0].copy()
    block = replayed(changing)
    results = []
    for _ in range(4):
        arrays[0][:] = queries
        results.append(block(*arrays).asnumpy())
    for result in results[1:]:
        onp.testing.assert_array_equal(result, results[0])


def test_a_poisoned_factor_poisons_the_result_alone() -> None:
    block = replayed(plain)
    arrays = [nd.array(host) for host in samples(2, 96, 96, 32, 32)]
    for _ in range(3):
        expected = block(*arrays).asnumpy()
    for poisoned in range(3):
        given = list(arrays)
        _core.inject_failure(0, 0)
        try:
            given[poisoned] = arrays[poisoned] * 1
        except mx.MXNetError:
            pytest.skip("the serial engine raises at the call")
        result = block(*given)
        with pytest.raises(mx.MXNetError, match="injected"):
            result.asnumpy()
        onp.testing.assert_array_equal(block(*arrays).asnumpy(), expected)


@pytest.mark.parametrize("form", [plain, masked, sequence_masked])
def test_gradients_are_those_of_separate_calls(form: Form) -> None:
    arrays = [nd.array(host) for host in samples(2, 96, 96, 32, 32)]
    for array in arrays[:3]:
        array.attach_grad()

    def gradients(block: Block) -> list[Host]:
        with autograd.record():
            loss = (block(*arrays) ** 2).sum()
        loss.backward()
        return [array.grad.asnumpy() for array in arrays[:3]]

    block = replayed(form)
    for _ in range(4):
        results = gradients(block)
    with separate_calls():
        expected = gradients(Block(form))
    for result, wanted in zip(results, expected, strict=True):
        onp.testing.assert_array_equal(result, wanted)


def test_training_keeps_the_scores_once() -> None:
    arrays = [nd.array(host) for host in samples(2, 512, 512, 32, 32)]
    scores = 2 * HEADS * 512 * 512 * 4
    for array in arrays[:3]:
        array.attach_grad()
    block = replayed(plain)

    def forward() -> Any:
        with autograd.record():
            return block(*arrays)

    for _ in range(3):
        forward().backward()
        mx.engine.waitall()
    small = 8 * arrays[0].size * 4
    result, peak = peak_of(forward)
    assert peak <= scores + small
    _, peak = peak_of(result.backward)
    assert peak <= scores + small  # beside the scores one array of their size
