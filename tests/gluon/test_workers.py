# SPDX-License-Identifier: Apache-2.0
"""Worker processes of the loader: what travels, what they draw, what they do without."""

from __future__ import annotations

import dataclasses
import os
import pickle
import random
import resource
import tempfile
import threading
from typing import Any, NamedTuple

import numpy as onp
import pytest
from support import run_child

import afterglow as mx
from afterglow import nd, np
from afterglow.gluon import data
from afterglow.gluon.data import _workers


def _descriptors():
    return sorted(os.listdir("/proc/self/fd"))


@pytest.fixture(autouse=True)
def no_descriptors_left():
    before = _descriptors()
    yield
    assert _descriptors() == before


# --- what travels ---


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclasses.dataclass
class Record:
    array: Any
    text: str


def _batch(samples):
    """Return all sorts of things, some too large for a pipe."""
    (number,) = samples
    host = onp.arange(100_000, dtype="float64") + number
    return Pair(
        nd.array(onp.full((3, 2), number), dtype="float16"),
        {
            "empty": [np.zeros((0, 3)), onp.zeros((2, 0), "int8")],
            "scalars": (np.array(3.5), onp.float32(number), onp.str_("text"), b"bytes", None, 7),
            "large": (host, np.array(host), nd.array(host, dtype="int64")),
            "ours": Record(nd.array(host), "text"),
            "orders": [host[::2], onp.asfortranarray(host[:6].reshape(2, 3)), host.reshape(1, -1)],
            "types": [nd.array([1, 2], dtype=kind) for kind in ("uint8", "int32", "float64")],
            "strings": onp.array(["ab", "c"]),
            "objects": onp.array(["a", None], object),
            "long": ["a sentence"] * 9000,
        },
    )  # fmt: skip


def _flat(value):
    """Return types and contents, to compare."""
    if isinstance(value, (nd.NDArray, np.ndarray)):
        return type(value), str(onp.dtype(value.dtype)), _flat(value.asnumpy())
    if isinstance(value, onp.ndarray):
        return type(value), value.dtype, value.shape, value.tolist()
    if isinstance(value, dict):
        return type(value), {key: _flat(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value), [_flat(one) for one in value]
    if isinstance(value, Record):
        return Record, _flat(value.array), value.text
    return type(value), value


def _same_as_here(batches):
    batches = list(batches)
    assert len(batches) == 3
    for number, batch in enumerate(batches):
        assert _flat(batch) == _flat(_batch([number]))
    return batches


def _loader(**options):
    return data.DataLoader(range(3), 1, batchify_fn=_batch, num_workers=2, **options)


def test_batches_arrive_as_they_were_made():
    first, *_ = _same_as_here(_loader())
    host = first.right["large"][0]
    host[0] = -1  # NumPy arrays are the receiver's own
    assert host[0] == -1


_BATCHIFY = data.batchify
_MANY = 1500


class Ragged(list):
    """Samples of any kind, as a dataset."""


def _kinds(number, rows=_MANY):
    host = onp.random.RandomState(number).randint(0, 99, (rows, 3))
    return [
        nd.array(host, dtype="float32"),
        nd.array(host, dtype="uint8"),
        np.array(host, dtype="float64"),
        host.astype("int32"),
        host.astype("uint16"),
        host % 2 == 0,
        host.astype("float16")[::2],
        float(number),
    ]


def _keeping(samples, kept=[]):  # noqa: B006
    """Return a batch, and those from before, as a function of somebody else may do."""
    kept.append(_BATCHIFY.default_batchify_fn(samples))
    return list(kept)


@pytest.mark.parametrize("is_np", [False, True])
def test_batches_of_workers_are_those_made_here(is_np):
    samples = [tuple(_kinds(number)) for number in range(6)]
    lengths = [
        (nd.array(onp.ones((_MANY + number, 2))), onp.ones((_MANY - number, 1), "float32"), number)
        for number in range(6)
    ]
    pad, stack = _BATCHIFY.Pad, _BATCHIFY.Stack()
    group = _BATCHIFY.Group(pad(pad_val=-1, ret_length=True), pad(), stack)
    with mx.util.np_array(is_np):
        for content, batchify in (
            (samples, None),
            (samples, stack),
            (lengths, group),
            ([one[0] for one in samples], _keeping),
            ([samples[0][0], *(one[1] for one in samples[1:])], None),  # of different types
        ):
            plain = [*data.DataLoader(Ragged(content), 2, batchify_fn=batchify)]
            _keeping.__defaults__[0].clear()
            loader = data.DataLoader(Ragged(content), 2, batchify_fn=batchify, num_workers=1)
            for ours, expected in zip(loader, plain, strict=True):
                _same(ours, expected)


def test_arrays_of_a_batch_are_in_the_file():
    with tempfile.TemporaryFile() as file:
        target = _workers._File(file.fileno())
        batch = _BATCHIFY.make_batch(
            _BATCHIFY.default_batchify_fn, [_kinds(number) for number in range(3)], target.place
        )
        stretches = _workers._packed(batch, target.made)
        starts = [one.start for one in stretches if one.content.nbytes >= _workers._WORTH]
        assert None not in starts
        assert len(starts) == 7
        parts = target.write(stretches)
        file.seek(0)
        _same(
            _workers._unpacked(parts, file.read()),
            _BATCHIFY.default_batchify_fn([_kinds(number) for number in range(3)]),
        )
        del batch, stretches
        _workers._mapped.clear()


def test_without_room_for_batches_in_files(monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    samples = [tuple(_kinds(number)) for number in range(4)]
    plain = [*data.DataLoader(Ragged(samples), 2)]
    for ours, expected in zip(
        data.DataLoader(Ragged(samples), 2, num_workers=1), plain, strict=True
    ):
        _same(ours, expected)


def _same(ours, expected):
    if isinstance(expected, (list, tuple)):
        assert len(ours) == len(expected)
        for one, other in zip(ours, expected, strict=True):
            _same(one, other)
        return
    assert type(ours) is type(expected)
    assert ours.dtype == expected.dtype
    onp.testing.assert_array_equal(ours.asnumpy(), expected.asnumpy())


def test_without_files_in_memory(monkeypatch):
    def refused(*arguments):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "memfd_create", refused)
    _same_as_here(_loader())


def test_on_systems_that_have_no_such_files(monkeypatch):
    monkeypatch.delattr(os, "memfd_create")
    _same_as_here(_loader())


def test_without_room_in_files(monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    _same_as_here(_loader())


@pytest.mark.parametrize("memory", [True, False])
def test_large_tasks_and_many_of_them(memory, monkeypatch):
    if not memory:
        monkeypatch.delattr(os, "memfd_create")
    length = 40_000
    rows = [[number] * length for number in range(100)]
    loader = data.DataLoader(
        range(100), batch_sampler=rows, batchify_fn=sum, num_workers=2, prefetch=90
    )
    assert list(loader) == [number * length for number in range(100)]


# --- random numbers ---


class Draws(data.Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        return onp.random.rand(), random.random(), nd.random.uniform(shape=(1,)).asscalar()


def _drawn(workers):
    loaders = [data.DataLoader(Draws(), 4, num_workers=workers) for _ in range(2)]
    batches = [batch for loader in loaders for _ in range(2) for batch in loader]
    here = onp.random.rand(), random.random(), nd.random.uniform(shape=(1,)).asscalar()
    return onp.array([[one.asnumpy() for one in batch] for batch in batches]), here


def _seed(number):
    mx.random.seed(number)
    onp.random.seed(number)
    random.seed(number)


def test_what_to_do_is_read_wherever_others_read_it():
    """Workers that were spawned share the place in the file, which their reads move."""
    told = (sum, b"entropy" * 10000)
    over = threading.Event()
    with tempfile.TemporaryFile() as file:
        file.write(pickle.dumps(told))
        file.flush()

        def read() -> None:
            while not over.is_set():
                os.lseek(file.fileno(), random.randrange(70000), os.SEEK_SET)

        other = threading.Thread(target=read)
        other.start()
        try:
            assert all(_workers._read_program(file.fileno()) == told for _ in range(200))
        finally:
            over.set()
            other.join()


def test_workers_never_repeat_each_other():
    drawn, _ = _drawn(3)
    for kind in range(3):
        assert len(set(drawn[:, kind].ravel())) == drawn[:, kind].size


def test_draws_depend_on_the_seed_alone():
    _seed(3)
    drawn, here = _drawn(2)
    _seed(3)
    again, after = _drawn(3)
    assert (drawn == again).all()
    assert here == after
    _seed(3)
    assert here == (onp.random.rand(), random.random(), nd.random.uniform(shape=(1,)).asscalar())
    _seed(4)
    other, _ = _drawn(2)
    assert not onp.isin(other, drawn).any()


# --- what cannot be had ---


def test_a_fork_that_fails(monkeypatch):
    fork, calls = os.fork, []

    def sometimes():
        calls.append(1)
        if len(calls) == 3:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        return fork()

    monkeypatch.setattr(os, "fork", sometimes)
    with pytest.raises(
        OSError, match=r"worker 3 of 4 .* temporarily unavailable.* fewer workers"
    ) as caught:
        list(data.DataLoader(range(8), 2, num_workers=4))
    assert isinstance(caught.value, mx.MXNetError)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_descriptors_that_run_out():
    first = os.dup(0)
    os.close(first)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    samples = [onp.full(50_000, number) for number in range(4)]
    said, complete = set(), 0
    try:
        for more in range(24):
            resource.setrlimit(resource.RLIMIT_NOFILE, (first + more, limits[1]))
            try:
                got = [
                    batch[0, 0].asscalar() for batch in data.DataLoader(samples, 1, num_workers=2)
                ]
            except OSError as error:
                said.add(str(error).partition(":")[0])
            else:
                assert got == [0, 1, 2, 3]
                complete += 1
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert complete > 5
    assert said == {f"[DataLoader] worker {which} of 2 could not be started" for which in (1, 2)}


def test_what_was_printed_is_printed_once():
    done = run_child(
        """
        from afterglow.gluon import data
        print("before", end=" ")
        print(len(list(data.DataLoader(range(4), 2, num_workers=2))))
        """
    )
    assert (done.out, done.err) == ("before 2\n", "")


# --- threads ---


def test_threads_that_cannot_be_had(monkeypatch):
    start, calls = threading.Thread.start, []

    def sometimes(thread):
        calls.append(thread)
        if len(calls) == 3:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", sometimes)
    loader = data.DataLoader(range(8), 2, num_workers=3, thread_pool=True)
    with pytest.raises(mx.MXNetError, match="can't start new thread to read ahead, after 2 of 3"):
        list(loader)
    for thread in calls[:2]:
        thread.join(10)
        assert not thread.is_alive()


HANGS = """
    from afterglow import io
    from afterglow.gluon import data
    class Hangs:
        def __len__(self): return 8
        def __getitem__(self, index):
            if index > 1: time.sleep(1000)
            return index
    class HangingIter(io.NDArrayIter):
        def next(self):
            if self.cursor >= 0: time.sleep(1000)
            return super().next()
    def threads():
        return iter(data.DataLoader(Hangs(), 2, num_workers=2, thread_pool=True, timeout=1000))
    def prefetching():
        return io.PrefetchingIter(HangingIter(mx.nd.arange(8), batch_size=2))
    batches = {batches}()
    next(batches)
"""


@pytest.mark.parametrize("batches", ["threads", "prefetching"])
@pytest.mark.parametrize("kept", ["", "batches = None"])
def test_threads_that_hang_do_not_keep_the_program(batches, kept):
    done = run_child(HANGS.format(batches=batches) + f"    {kept}\n    print('end')", timeout=20)
    assert (done.code, done.out, done.err) == (0, "end\n", "")


def test_workers_beside_threads_come_without_a_warning():
    """Python 3.12 and later warns those who fork such a process; here the library does."""
    done = run_child(
        """
        import warnings
        from afterglow.gluon import data
        warnings.simplefilter("always")
        filters = list(warnings.filters)
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        print([batch.asnumpy().tolist() for batch in data.DataLoader(range(4), 2, num_workers=2)])
        assert warnings.filters == filters
        """,
        timeout=20,
    )
    assert (done.code, done.out, done.err) == (0, "[[0, 1], [2, 3]]\n", "")


@pytest.mark.parametrize("batches", ["threads", "prefetching"])
def test_threads_stay_with_their_process(batches):
    done = run_child(
        HANGS.format(batches=batches)
        + """
    import warnings
    warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.12 on: of the threads
    if os.fork():
        print(os.wait()[1])
    else:
        try:
            next(batches)
        except mx.MXNetError as error:
            os._exit(0 if "its fork" in str(error) else 1)
        """,
        timeout=20,
    )
    assert (done.code, done.out, done.err) == (0, "0\n", "")
