# SPDX-License-Identifier: Apache-2.0
"""Datasets, samplers, batches and the loader; what MXNet 1.9.1 gave is written down here."""

from __future__ import annotations

import os
import time

import numpy as onp
import pytest
from support import run_child

from afterglow import nd, np, npx
from afterglow.gluon import data

TEN = data.SimpleDataset(list(range(10)))


def _all(dataset):
    return [dataset[index] for index in range(len(dataset))]


def _described(batch):
    if isinstance(batch, (list, tuple)):
        return [type(batch).__name__, *map(_described, batch)]
    name = "np" if type(batch) is np.ndarray else "nd"
    return name, str(onp.dtype(batch.dtype)), batch.asnumpy().tolist()


def _first(*arguments, **options):
    return _described(next(iter(data.DataLoader(*arguments, **options))))


def _lists(loader):
    return [batch.asnumpy().tolist() for batch in loader]


# --- datasets ---


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        (TEN.filter(lambda x: x % 3 == 0), [0, 3, 6, 9]),
        (TEN.shard(3, 0), [0, 1, 2, 3]),
        (TEN.shard(3, 1), [4, 5, 6]),
        (TEN.shard(3, 2), [7, 8, 9]),
        (TEN.take(4), [0, 1, 2, 3]),
        (TEN.take(99), list(range(10))),
        (TEN.take(None), list(range(10))),
        (TEN.sample(data.SequentialSampler(3, 4)), [4, 5, 6]),
        (TEN.take(3).transform(lambda x: 2 * x), [0, 2, 4]),
        (TEN.take(3).transform(lambda x: 2 * x, lazy=False), [0, 2, 4]),
        (TEN.take(2).transform_first(lambda x: x + 10), [10, 11]),
        (data.ArrayDataset([1, 2]), [1, 2]),
        (data.ArrayDataset([1, 2], [3, 4]), [(1, 3), (2, 4)]),
        (data.ArrayDataset([1, 2], [3, 4]).transform(lambda a, b: (a + 1, b)), [(2, 3), (3, 4)]),
        (data.ArrayDataset([1, 2], [3, 4]).transform_first(lambda a: -a), [(-1, 3), (-2, 4)]),
    ],
)
def test_datasets(dataset, expected):
    assert len(dataset) == len(expected)
    assert _all(dataset) == expected


def test_transform_waits_for_its_turn():
    seen = []
    dataset = TEN.transform(seen.append)
    assert seen == []
    dataset[3]
    assert seen == [3]


def test_array_dataset_of_arrays():
    dataset = data.ArrayDataset(nd.arange(6).reshape((3, 2)), nd.arange(3))
    first, second = dataset[1]
    assert first.asnumpy().tolist() == [2, 3]
    assert second == 1
    assert [one[1] for one in dataset] == [0, 1, 2]


def test_refusals_of_datasets():
    with pytest.raises(AssertionError, match="at least 1"):
        data.ArrayDataset()
    with pytest.raises(AssertionError, match="same length"):
        data.ArrayDataset([1], [1, 2])
    with pytest.raises(AssertionError, match="from 0 to 2"):
        TEN.shard(3, 3)
    with pytest.raises(NotImplementedError):
        data.Dataset()[0]
    with pytest.raises(NotImplementedError):
        len(data.Dataset())
    with pytest.raises(FileNotFoundError, match=r"x\.rec"):
        data.RecordFileDataset("x.rec")


# --- samplers ---


def test_samplers():
    assert list(data.SequentialSampler(3)) == [0, 1, 2]
    assert list(data.SequentialSampler(2, 5)) == [5, 6]
    assert list(data.FilterSampler(lambda x: x > 7, TEN)) == [8, 9]
    assert list(data.IntervalSampler(5, 2)) == [0, 2, 4, 1, 3]
    rarely = data.IntervalSampler(5, 2, rollover=False)
    assert (list(rarely), len(rarely)) == ([0, 2, 4], 3)
    with pytest.raises(ValueError, match="Interval"):
        data.IntervalSampler(2, 3)
    with pytest.raises(NotImplementedError):
        len(data.Sampler())


def test_random_order_is_that_of_mxnet():
    onp.random.seed(7)
    sampler = data.RandomSampler(6)
    assert list(sampler) == [3, 5, 0, 2, 1, 4]
    assert len(sampler) == 6


@pytest.mark.parametrize(
    ("last_batch", "lengths", "rounds"),
    [
        ("keep", [3, 3, 3], [[[0, 1, 2], [3, 4, 5], [6]]] * 2),
        ("discard", [2, 2, 2], [[[0, 1, 2], [3, 4, 5]]] * 2),
        ("rollover", [2, 2, 3], [[[0, 1, 2], [3, 4, 5]], [[6, 0, 1], [2, 3, 4]]]),
    ],
)
def test_last_batch(last_batch, lengths, rounds):
    loader = data.DataLoader(list(range(7)), 3, last_batch=last_batch)
    assert len(loader) == lengths[0]
    for length, expected in zip(lengths[1:], rounds, strict=True):
        assert _lists(loader) == expected
        assert len(loader) == length


# --- batches ---


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ([1, 2, 3], ("nd", "int64", [1, 2])),
        ([1.5, 2.0], ("nd", "float64", [1.5, 2.0])),
        ([onp.float32(1), onp.float32(2)], ("nd", "float32", [1.0, 2.0])),
        ([(1, 2.0), (3, 4.0)], ["list", ("nd", "int64", [1, 3]), ("nd", "float64", [2.0, 4.0])]),
        (
            data.ArrayDataset(onp.arange(6, dtype="int8").reshape(3, 2), [1, 2, 3]),
            ["list", ("nd", "int8", [[0, 1], [2, 3]]), ("nd", "int64", [1, 2])],
        ),
    ],
)
def test_batch_types(dataset, expected):
    assert _first(dataset, 2) == expected


def test_batches_of_arrays():
    dataset = data.ArrayDataset(nd.arange(6).reshape((3, 2)), nd.arange(3))
    assert _first(dataset, 2) == [
        "list",
        ("nd", "float32", [[0, 1], [2, 3]]),
        ("nd", "float32", [0, 1]),
    ]
    assert _first([np.ones(2), np.zeros(2)], 2) == ("np", "float32", [[1, 1], [0, 0]])


def test_np_mode():
    npx.set_np()
    try:
        assert _first([1, 2, 3], 2) == ("np", "int64", [1, 2])
        assert _first([1.5, 2.0], 2) == ("np", "float64", [1.5, 2.0])
        dataset = data.ArrayDataset(np.ones((3, 2)), np.arange(3))
        assert [one[0] for one in _first(dataset, 2)[1:]] == ["np", "np"]
        for threads in (False, True):
            here = _first([1, 2, 3], 3, num_workers=1, thread_pool=threads)
            assert here == ("np", "int64", [1, 2, 3])
    finally:
        npx.reset_np()


def test_batchify():
    stacked = data.batchify.Stack()([[1, 2], [3, 4]])
    assert stacked.asnumpy().tolist() == [[1, 2], [3, 4]]
    padded, lengths = data.batchify.Pad(pad_val=-1, ret_length=True)(
        [onp.array([1, 2, 3]), onp.array([4])]
    )
    assert padded.asnumpy().tolist() == [[1, 2, 3], [4, -1, -1]]
    assert lengths.asnumpy().tolist() == [3, 1]
    half = data.batchify.Pad(axis=1, dtype="float16")([nd.ones((1, 2)), nd.ones((1, 1))])
    assert (half.dtype, half.asnumpy().tolist()) == (onp.float16, [[[1, 1]], [[1, 0]]])
    group = data.batchify.Group(data.batchify.Pad(), data.batchify.Stack())
    left, right = group([([1], 5), ([2, 3], 6)])
    assert left.asnumpy().tolist() == [[1, 0], [2, 3]]
    assert right.asnumpy().tolist() == [5, 6]


def test_a_list_of_numbers_is_one_sample():
    """MXNet 1.9.1 was asked; it refuses lists of its arrays, which are columns here."""
    batchify = data.dataloader.default_batchify_fn
    for samples, shape in (
        ([[1.0], [2.0]], (2, 1)),
        ([[1, 2], [3, 4]], (2, 2)),
        ([[(1, 2)], [(3, 4)]], (2, 1, 2)),
        ([[onp.ones(2), onp.ones(2)]] * 3, (3, 2, 2)),
        ([[], []], (2, 0)),
    ):
        assert batchify(samples).shape == shape
    features, labels = batchify([(nd.ones(3), [1.0]), (nd.ones(3), [0.0])])
    assert (features.shape, labels.shape, labels.dtype) == ((2, 3), (2, 1), onp.float64)
    assert [part.shape for part in batchify([[nd.ones(2), nd.ones(3)]] * 4)] == [(4, 2), (4, 3)]


# --- the loader ---


class _Squares(data.Dataset):
    def __len__(self):
        return 11

    def __getitem__(self, index):
        return nd.array([index, index * index]), index


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_workers": 1},
        {"num_workers": 2},
        {"num_workers": 2, "prefetch": 1},
        {"num_workers": 2, "thread_pool": True},
        {"num_workers": 1, "pin_memory": True},
    ],
    ids=str,
)
def test_same_batches_whoever_makes_them(options):
    loader = data.DataLoader(_Squares(), 4, **options)
    for _ in range(2):  # a loader can be used again
        seen = [(x.asnumpy().tolist(), y.asnumpy().tolist()) for x, y in loader]
        assert seen == [
            ([[i, i * i] for i in part], list(part))
            for part in (range(4), range(4, 8), range(8, 11))
        ]


@pytest.mark.parametrize("workers", [0, 2])
def test_loops_begin_anew(workers):
    samples = [1.0, 2.0]
    loader = data.DataLoader(samples, 2, num_workers=workers, auto_reload=True)
    for first in (1.0, 5.0):
        samples[0] = first
        loader.refresh()
        (batch,) = loader
        assert batch.asnumpy().tolist() == [first, 2]
        loader.clean()


@pytest.mark.parametrize("workers", [0, 2])
def test_shuffle(workers):
    loader = data.DataLoader(list(range(50)), 8, shuffle=True, num_workers=workers)
    first, second = ([one for batch in _lists(loader) for one in batch] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second
    assert first != list(range(50))


def test_samplers_of_ones_own():
    assert _lists(data.DataLoader(TEN, 2, sampler=data.SequentialSampler(3, 4))) == [[4, 5], [6]]
    assert _lists(data.DataLoader(TEN, batch_sampler=[[1, 2], [9]])) == [[1, 2], [9]]
    assert _lists(data.DataLoader(TEN, batch_sampler=[[1, 2], [9]], num_workers=1)) == [[1, 2], [9]]


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        ([onp.ones(1), onp.ones((2, 3))], r"shapes \(1,\), \(2, 3\); .*Pad fills them up"),
        ([[1, 2], [3]], r"shapes \(2,\), \(1,\)"),
        ([[1, [2, 3]]] * 2, r"shapes \(uneven\)"),
        ([(1, 2), (1, 2, 3)], "2 and 3 elements; those of a batch need as many"),
    ],
)
@pytest.mark.parametrize("workers", [0, 1])
def test_samples_that_make_no_batch(samples, said, workers):
    loader = data.DataLoader(data.SimpleDataset(samples), 2, num_workers=workers)
    with pytest.raises(ValueError, match=rf"\[batchify\] samples of {said}"):
        list(loader)


def test_batchify_of_ones_own():
    def total(samples):
        return {"sum": nd.array([sum(samples)]), "count": len(samples)}

    for workers in (0, 1):
        batches = list(data.DataLoader(TEN, 5, batchify_fn=total, num_workers=workers))
        assert [batch["sum"].asscalar() for batch in batches] == [10, 35]
        assert [batch["count"] for batch in batches] == [5, 5]


def test_refusals_of_the_loader():
    with pytest.raises(ValueError, match="batch_size"):
        data.DataLoader(TEN)
    with pytest.raises(ValueError, match="shuffle"):
        data.DataLoader(TEN, 1, shuffle=True, sampler=data.SequentialSampler(1))
    with pytest.raises(ValueError, match="batch_sampler"):
        data.DataLoader(TEN, 1, batch_sampler=[[0]])
    with pytest.raises(ValueError, match="last_batch"):
        data.DataLoader(TEN, 1, last_batch="lose")
    with pytest.raises(AssertionError, match="timeout"):
        data.DataLoader(TEN, 1, timeout=0)


# --- what goes wrong in workers ---


class _PickyError(Exception):
    """Cannot be unpickled: its constructor needs more than its text."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


class _Troubled(data.Dataset):
    def __init__(self, trouble):
        self._trouble = trouble

    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index == 5:
            self._trouble()
        return index


def _divide():
    return 1 // 0


def _pick():
    raise _PickyError("one", "two")


@pytest.mark.parametrize(
    "options",
    [{}, {"num_workers": 2}, {"num_workers": 2, "thread_pool": True}],
    ids=["here", "processes", "threads"],
)
def test_a_worker_that_raises(options):
    loader = data.DataLoader(_Troubled(_divide), 2, **options)
    batches = iter(loader)
    assert next(batches).asnumpy().tolist() == [0, 1]
    with pytest.raises(ZeroDivisionError) as caught:
        list(batches)
    if options == {"num_workers": 2}:
        assert "return 1 // 0" in str(caught.value.__cause__)  # the line in the worker


def test_an_exception_that_cannot_travel():
    with pytest.raises(RuntimeError, match="one and two"):
        list(data.DataLoader(_Troubled(_pick), 2, num_workers=1))


def test_a_worker_that_dies():
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="worker process of the DataLoader died"):
        list(data.DataLoader(_Troubled(lambda: os._exit(3)), 2, num_workers=2))
    assert time.monotonic() - start < 10


def test_a_worker_that_hangs():
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=r"within 0\.5 seconds"):
        list(data.DataLoader(_Troubled(lambda: time.sleep(60)), 2, num_workers=1, timeout=0.5))
    assert time.monotonic() - start < 10


def test_leaving_early_does_not_wait():
    start = time.monotonic()
    for batch in data.DataLoader(_Troubled(lambda: time.sleep(60)), 2, num_workers=1):
        assert batch.asnumpy().tolist() == [0, 1]
        break
    assert time.monotonic() - start < 10


SPAWNED = """
    import multiprocessing
    multiprocessing.set_start_method("spawn")
    from afterglow.gluon import data
    mx.npx.set_np()

    class Own(data.Dataset):
        def __len__(self): return 2
        def __getitem__(self, index): return index

    try:
        for batch in data.DataLoader({dataset}, 2, num_workers=1):
            print(type(batch) is mx.np.ndarray, batch.asnumpy().tolist())
    except TypeError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ("[3, 4]", "True [3, 4]"),
        ("Own()", "__main__"),
        ("[lambda: 1, 2]", "which fails"),
    ],
)
def test_spawned_workers(dataset, expected):
    done = run_child(SPAWNED.format(dataset=dataset))
    assert done.code == 0, done.err
    assert expected in done.out
    if expected != "True [3, 4]":
        assert "thread_pool=True" in done.out
