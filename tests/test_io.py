# SPDX-License-Identifier: Apache-2.0
"""Iterators over batches: what MXNet's give, recorded by hand, and what they refuse."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from support import output_of

import afterglow as mx
from afterglow import nd, np

X = onp.arange(10).reshape(5, 2)
Y = onp.arange(5)


def contents(iterator: Any) -> list[Any]:
    """Return labels and pad of each batch, after a reset."""
    iterator.reset()
    return [(batch.label[0].asnumpy().tolist(), batch.pad) for batch in iterator]


# --- descriptions and batches ---


def test_description() -> None:
    one = mx.io.DataDesc("a", (2, 3))
    assert repr(one) == "DataDesc[a,(2, 3),<class 'numpy.float32'>,NCHW]"
    assert repr(mx.io.DataDesc("a", (2, 3), "int32", "NT")) == "DataDesc[a,(2, 3),int32,NT]"
    assert one == ("a", (2, 3))
    assert tuple(one) == ("a", (2, 3))
    assert (one.name, one.shape, one.dtype, one.layout) == ("a", (2, 3), onp.float32, "NCHW")
    assert [one.get_batch_axis(layout) for layout in ("TNC", None, "TC")] == [1, 0, -1]
    listed = mx.io.DataDesc.get_list([("a", (1, 2)), ("b", (1,))], [("a", "int32"), ("b", "int8")])
    assert [one.dtype for one in listed] == ["int32", "int8"]
    assert mx.io.DataDesc.get_list([("a", (1, 2))], None) == [("a", (1, 2))]


def test_batch() -> None:
    batch = mx.io.DataBatch([nd.ones((2, 3))], [nd.ones((2,))], 1, bucket_key=3)
    assert str(batch) == "DataBatch: data shapes: [(2, 3)] label shapes: [(2,)]"
    assert str(mx.io.DataBatch([nd.ones((2, 3))])) == (
        "DataBatch: data shapes: [(2, 3)] label shapes: None"
    )
    assert (batch.pad, batch.index, batch.bucket_key) == (1, None, 3)
    with pytest.raises(AssertionError, match="Data must be list"):
        mx.io.DataBatch(nd.ones((2,)))
    with pytest.raises(AssertionError, match="Label must be list"):
        mx.io.DataBatch([nd.ones((2,))], nd.ones((2,)))


def test_base_class() -> None:
    base = mx.io.DataIter(7)
    assert base.batch_size == 7
    assert list(base) == []
    assert (base.getdata(), base.getlabel(), base.getindex(), base.getpad()) == (None,) * 4


# --- NDArrayIter ---


@pytest.mark.parametrize(
    ("handle", "epochs"),
    [
        ("pad", [[([0, 1], 0), ([2, 3], 0), ([4, 0], 1)]] * 3),
        ("discard", [[([0, 1], 0), ([2, 3], 0)]] * 3),
        (
            "roll_over",
            [
                [([0, 1], 0), ([2, 3], 0)],
                [([4, 0], 1), ([1, 2], 0), ([3, 4], 0)],
                [([0, 1], 0), ([2, 3], 0)],
            ],
        ),
    ],
)
def test_last_batch(handle: str, epochs: Any) -> None:
    iterator = mx.io.NDArrayIter(X, Y, 2, last_batch_handle=handle)
    assert [contents(iterator) for _ in epochs] == epochs
    iterator.reset()
    for batch in iterator:
        rows = batch.label[0].asnumpy().astype(int)
        onp.testing.assert_array_equal(batch.data[0].asnumpy(), X[rows])


def test_batch_larger_than_the_data() -> None:
    iterator = mx.io.NDArrayIter(onp.arange(3), None, 8)
    batch = iterator.next()
    assert batch.data[0].asnumpy().tolist() == [0, 1, 2, 0, 1, 2, 0, 1]
    assert batch.pad == 5
    assert list(iterator) == []
    assert list(mx.io.NDArrayIter(onp.arange(3), None, 5, last_batch_handle="discard")) == []


def test_names_and_types() -> None:
    one = mx.io.NDArrayIter(X.astype("float64"), Y, 3)
    assert repr(one.provide_data) == "[DataDesc[data,(3, 2),<class 'numpy.float32'>,NCHW]]"
    assert repr(one.provide_label) == "[DataDesc[softmax_label,(3,),<class 'numpy.float32'>,NCHW]]"
    several = mx.io.NDArrayIter([X, X], [Y], 3, data_name="foo", label_name="bar")
    assert [one.name for one in several.provide_data] == ["_0_foo", "_1_foo"]
    assert [one.name for one in several.provide_label] == ["bar"]
    named = mx.io.NDArrayIter({"b": X, "a": X * 2}, None, 2, layout="NC")
    assert [(one.name, one.layout) for one in named.provide_data] == [("a", "NC"), ("b", "NC")]
    assert named.provide_label == []
    assert named.next().data[0].asnumpy().tolist() == [[0, 2], [4, 6]]
    kept = mx.io.NDArrayIter(nd.array(X, dtype="int32"), batch_size=5)
    assert kept.provide_data[0].dtype is onp.int32
    assert kept.next().data[0].dtype is onp.int32
    assert isinstance(mx.io.NDArrayIter(np.array(X), batch_size=2).next().data[0], np.ndarray)


def test_attributes() -> None:
    iterator = mx.io.NDArrayIter(X, Y, 2)
    assert (iterator.num_data, iterator.num_source, iterator.cursor) == (5, 2, -2)
    assert iterator.idx.tolist() == [0, 1, 2, 3, 4]
    assert iterator.iter_next()
    assert iterator.cursor == 0
    assert iterator.getdata()[0].shape == (2, 2)
    assert iterator.getlabel()[0].shape == (2,)
    assert (iterator.getpad(), iterator.getindex()) == (0, None)
    iterator.hard_reset()
    assert iterator.cursor == -2
    with pytest.raises(ValueError, match="iter_next"):
        iterator.getdata()


def test_shuffle_like_mxnet() -> None:
    """The same rows in the same order, from the same seed of NumPy."""
    onp.random.seed(1)
    iterator = mx.io.NDArrayIter(X, Y, 2, shuffle=True)
    assert contents(iterator) == [([4, 3], 0), ([0, 2], 0), ([1, 4], 1)]
    assert contents(iterator) == [([2, 4], 0), ([1, 3], 0), ([0, 2], 1)]
    assert iterator.idx.tolist() == [3, 0, 4, 1, 2]


def test_shuffle_keeps_rows_that_are_left_over() -> None:
    """Every row comes as often as every other over whole rounds."""
    iterator = mx.io.NDArrayIter(X, Y, 2, shuffle=True, last_batch_handle="roll_over")
    seen: list[float] = []
    for _ in range(4):
        for batch in iterator:
            labels = batch.label[0].asnumpy()
            onp.testing.assert_array_equal(batch.data[0].asnumpy()[:, 0], labels * 2)
            seen += labels.tolist()
        iterator.reset()
    assert len(seen) == 20
    assert [seen.count(row) for row in range(5)] == [4] * 5


def test_nothing_waits_for_values() -> None:
    """Batches are views or queued copies: a failed value fails where it is read."""
    data = nd.take(nd.arange(4), nd.array([0, 1, 2, 9]), mode="raise")
    batches = list(mx.io.NDArrayIter(data, batch_size=3))
    with pytest.raises(IndexError):
        batches[1].data[0].asnumpy()


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: mx.io.NDArrayIter([], Y, 2), AssertionError),
        (lambda: mx.io.NDArrayIter(None, Y, 2), AssertionError),
        (lambda: mx.io.NDArrayIter("abc", Y, 2), TypeError),
        (lambda: mx.io.NDArrayIter({"a": "abc"}, Y, 2), TypeError),
        (lambda: mx.io.NDArrayIter(X, Y[:3], 2), ValueError),
    ],
)
def test_refusal(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()
    with pytest.raises(mx.MXNetError):
        make()


# --- iterators around others ---


def test_resize() -> None:
    longer = mx.io.ResizeIter(mx.io.NDArrayIter(X, Y, 2), 4)
    assert (longer.batch_size, longer.size, longer.cur) == (2, 4, 0)
    assert longer.provide_data == [("data", (2, 2))]
    rows = [([0, 1], 0), ([2, 3], 0), ([4, 0], 1), ([0, 1], 0)]
    assert [contents(longer), contents(longer)] == [rows, rows]
    shorter = mx.io.ResizeIter(mx.io.NDArrayIter(X, Y, 2), 2, reset_internal=False)
    assert [contents(shorter) for _ in range(3)] == [rows[:2], rows[2:], [rows[1], rows[2]]]
    with pytest.raises(ValueError, match="iter_next"):
        mx.io.ResizeIter(mx.io.NDArrayIter(X, Y, 2), 2).getdata()


def test_prefetch() -> None:
    both = mx.io.PrefetchingIter(
        [mx.io.NDArrayIter(X, Y, 2), mx.io.NDArrayIter(X * 2, Y, 2)],
        rename_data=[{"data": "d1"}, {"data": "d2"}],
        rename_label=[{"softmax_label": "l1"}, {"softmax_label": "l2"}],
    )
    assert both.provide_data == [("d1", (2, 2)), ("d2", (2, 2))]
    assert both.provide_label == [("l1", (2,)), ("l2", (2,))]
    assert both.batch_size == 2
    for _ in range(2):
        both.reset()
        batches = list(both)
        assert [batch.pad for batch in batches] == [0, 0, 1]
        for batch in batches:
            onp.testing.assert_array_equal(batch.data[1].asnumpy(), batch.data[0].asnumpy() * 2)
            assert len(batch.label) == 2
            assert batch.provide_data == both.provide_data
    assert not both.iter_next()


def test_prefetch_of_different_lengths() -> None:
    both = mx.io.PrefetchingIter(
        [mx.io.NDArrayIter(X, Y, 5), mx.io.NDArrayIter(onp.arange(10), batch_size=5)]
    )
    both.next()
    with pytest.raises(ValueError, match="different batches"):
        both.next()


def test_prefetch_passes_errors_on() -> None:
    class Broken(mx.io.DataIter):
        provide_data = (mx.io.DataDesc("data", (1,)),)
        provide_label = ()

        def next(self) -> Any:
            raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        mx.io.PrefetchingIter(Broken(1)).next()


def test_batches_of_gluon() -> None:
    rows = mx.gluon.data.ArrayDataset(X.astype("float32"), Y.astype("float32"))
    iterator = mx.contrib.io.DataLoaderIter(mx.gluon.data.DataLoader(rows, 2))
    assert iterator.batch_size == 2
    assert iterator.provide_data == [("data", (2, 2))]
    assert iterator.provide_label == [("softmax_label", (2,))]
    for _ in range(2):
        assert contents(iterator) == [([0, 1], 0), ([2, 3], 0), ([4, 0], 1)]


# --- files ---


@pytest.fixture
def table(tmp_path: Path) -> tuple[str, str]:
    onp.savetxt(tmp_path / "d.csv", onp.arange(12).reshape(4, 3), delimiter=",", fmt="%g")
    onp.savetxt(tmp_path / "l.csv", onp.arange(4), fmt="%g")
    return str(tmp_path / "d.csv"), str(tmp_path / "l.csv")


def table_rounds(iterator: Any, count: int) -> list[Any]:
    rounds = []
    for _ in range(count):
        rounds.append([(batch.index.tolist(), batch.pad) for batch in iterator])
        iterator.reset()
    return rounds


def test_csv_goes_round(table: tuple[str, str]) -> None:
    iterator = mx.io.CSVIter(data_csv=table[0], data_shape=(3,), batch_size=3)
    assert iterator.provide_data == [("data", (3, 3))]
    assert iterator.provide_label == [("softmax_label", (3,))]
    assert table_rounds(iterator, 3) == [
        [([0, 1, 2], 0), ([3, 0, 1], 2)],
        [([2, 3, 0], 1)],
        [([1, 2, 3], 0)],
    ]
    batch = iterator.next()
    assert batch.label[0].asnumpy().tolist() == [0, 0, 0]
    assert batch.data[0].dtype is onp.float32
    assert iterator.getdata().shape == (3, 3)  # an array: there is one
    assert iterator.getlabel().asnumpy().tolist() == [0, 0, 0]


def test_csv_without_going_round(table: tuple[str, str]) -> None:
    iterator = mx.io.CSVIter(
        data_csv=table[0], data_shape=(3, 1), label_csv=table[1], batch_size=3, round_batch=False
    )
    expected = [([0, 1, 2], 0), ([3, 1, 2], 2)]
    assert table_rounds(iterator, 2) == [expected, expected]
    batch = iterator.next()
    assert batch.data[0].asnumpy().tolist() == onp.arange(9).reshape(3, 3, 1).tolist()
    assert batch.label[0].asnumpy().tolist() == [0, 1, 2]


def test_csv_of_integers_with_wide_labels(table: tuple[str, str]) -> None:
    iterator = mx.io.CSVIter(
        data_csv=table[0], data_shape=(3,), label_csv=table[0], label_shape=(3,), batch_size=2,
        dtype="int32", data_name="a", label_name="b",
    )  # fmt: skip
    assert iterator.provide_label == [("b", (2, 3))]
    batch = iterator.next()
    assert batch.data[0].dtype is onp.int32
    assert batch.label[0].asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_file_of_labels_that_is_called_null_is_none(
    table: tuple[str, str], tmp_path: Path
) -> None:
    """MXNet's default is this name."""
    iterator = mx.io.CSVIter(data_csv=table[0], data_shape=(3,), batch_size=2, label_csv="NULL")
    assert iterator.next().label[0].asnumpy().tolist() == [0, 0]
    (tmp_path / "rows").write_text("7 0:1\n")
    iterator = mx.io.LibSVMIter(
        data_libsvm=tmp_path / "rows", data_shape=(2,), batch_size=1, label_libsvm="NULL"
    )
    assert iterator.next().label[0].asnumpy().tolist() == [7]
    with pytest.raises(OSError, match="'' cannot be opened"):  # and not the current folder
        mx.io.CSVIter(data_csv="", data_shape=(3,), batch_size=2)


def test_csv_refusals(table: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="float64 is not supported"):
        mx.io.CSVIter(data_csv=table[0], data_shape=(3,), batch_size=2, dtype="float64")
    with pytest.raises(OSError, match="cannot be opened"):
        mx.io.CSVIter(data_csv=str(tmp_path / "none.csv"), data_shape=(3,), batch_size=2)
    with pytest.raises(ValueError, match="no table"):
        mx.io.CSVIter(data_csv=table[0], data_shape=(5,), batch_size=2)
    labels = tmp_path / "short.csv"
    labels.write_text("1\n2\n3\n")
    with pytest.raises(ValueError, match="4 rows of data, 3 of labels"):
        mx.io.CSVIter(data_csv=table[0], data_shape=(3,), label_csv=labels, batch_size=2)
    (tmp_path / "comment.csv").write_text("# 1, 2")
    with pytest.raises(ValueError, match=r"is no table of rows of shape \(2,\): could not convert"):
        mx.io.CSVIter(data_csv=str(tmp_path / "comment.csv"), data_shape=(2,), batch_size=1)


@pytest.fixture
def digits(tmp_path: Path) -> dict[str, str]:
    images = onp.arange(28, dtype="uint8").reshape(7, 2, 2) * 5
    (tmp_path / "i").write_bytes(struct.pack(">4i", 2051, 7, 2, 2) + images.tobytes())
    (tmp_path / "l").write_bytes(struct.pack(">2i", 2049, 7) + bytes(range(7)))
    return {"image": str(tmp_path / "i"), "label": str(tmp_path / "l")}


def test_mnist(digits: dict[str, str]) -> None:
    iterator = mx.io.MNISTIter(**digits, batch_size=3, shuffle=False)
    assert iterator.provide_data == [("data", (3, 1, 2, 2))]
    for _ in range(2):
        assert contents(iterator) == [([0, 1, 2], 0), ([3, 4, 5], 0)]
    iterator.reset()
    first = iterator.next().data[0].asnumpy()
    assert first[1].tolist() == [[[0.078125, 0.09765625], [0.1171875, 0.13671875]]]
    flat = mx.io.MNISTIter(**digits, batch_size=2, shuffle=False, flat=True, silent=True)
    assert flat.provide_data == [("data", (2, 4))]
    part = mx.io.MNISTIter(**digits, batch_size=2, shuffle=False, num_parts=2, part_index=1)
    assert contents(part) == [([3, 4], 0), ([5, 6], 0)]


def test_mnist_leaves_the_log_to_the_program(digits: dict[str, str]) -> None:
    program = f"""
import logging, sys
import afterglow as mx
mx.io.MNISTIter(**{digits!r}, batch_size=3)
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
logging.info("mine")
mx.io.MNISTIter(**{digits!r}, batch_size=3)
"""
    assert output_of(program) == ["mine", "MNISTIter: load 7 images, shuffle=1"]


def test_mnist_is_shuffled_once(digits: dict[str, str]) -> None:
    one, other = (mx.io.MNISTIter(**digits, batch_size=7, seed=3) for _ in range(2))
    order = contents(one)
    assert order == contents(other) == contents(one)
    assert sorted(order[0][0]) == list(range(7))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "first number"),
        (struct.pack(">4i", 7, 7, 2, 2), "first number"),
        (struct.pack(">4i", 2051, 7, 2, 2) + b"12", "announces"),
        (struct.pack(">4i", 2051, -1, 2, 2), "announces"),
    ],
)
def test_damaged_mnist(digits: dict[str, str], content: bytes, text: str) -> None:
    Path(digits["image"]).write_bytes(content)
    with pytest.raises(OSError, match=text):
        mx.io.MNISTIter(**digits)
