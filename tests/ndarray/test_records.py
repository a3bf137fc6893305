# SPDX-License-Identifier: Apache-2.0
"""What holds for every public function of the array API, checked over all records."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest
import records
from records import FLOATS, RECORDS, TOLERANCE, WITHOUT_RECORD, Record, as_list
from support import environment

import afterglow as mx

WITH_REFERENCE = [record for record in RECORDS if record.reference and not record.random]
WITH_OUT = [record for record in WITH_REFERENCE if "out" in record.parameters]
WITH_ARRAYS = [record for record in WITH_REFERENCE if record.samples()]
#: Shapes of which NumPy's own answers, or refusals, are expected.
SMALL_SHAPES = [(), (1,), (0,), (0, 3), (2, 0)]
#: By the number of dimensions.
LARGE_SHAPES = {2: (67, 301), 3: (6, 35, 130)}
#: Whatever refuses an argument: the classes of NumPy, and MXNet's, which is the base of ours.
REFUSALS = (ValueError, IndexError, TypeError, mx.MXNetError)


def over(chosen: list[Record]) -> Any:
    """Run a test over these records, by namespace, and report all that fail together.

    One test for each would spend most of its time in what surrounds every test.
    """

    def decorate(check: Callable[[Record], None]) -> Callable[[str], None]:
        @pytest.mark.parametrize("namespace", ["nd", "np", "npx"])
        def run(namespace: str) -> None:
            problems = []
            for record in chosen:
                if record.module != namespace:
                    continue
                try:
                    check(record)
                except Exception as problem:
                    text = " ".join(f"{type(problem).__name__}: {problem}".split())
                    problems.append(f"{record.name} {record.keywords}: {text[:300]}")
            assert not problems, f"{len(problems)} records:\n" + "\n".join(problems)

        return run

    return decorate


def refuses(call: Callable[[], Any], kinds: tuple[type[Exception], ...] = REFUSALS) -> None:
    """Check that a call, or waiting for its answer, ends with a text and one of these classes."""
    try:
        results = as_list(call())
        for result in results:
            on_host(result)
    except kinds as error:
        if not str(error):
            raise AssertionError("an error says what is wrong") from None
        return
    raise AssertionError(
        f"{kinds[0].__name__} expected, not an answer {[on_host(r) for r in results]}"
    )


def on_host(result: Any) -> onp.ndarray:
    """Return a result in NumPy, also when it is a number."""
    return result.asnumpy() if isinstance(result, mx.nd.NDArray) else onp.asarray(result)


def close(result: Any, expected: onp.ndarray, factor: float = 1) -> None:
    """Compare shape and values; values to the precision of the type that the result has."""
    host = on_host(result)
    assert host.shape == expected.shape
    tolerance = TOLERANCE.get(host.dtype.name, 0) * factor
    if not tolerance:
        assert host.tolist() == expected.astype(host.dtype).tolist()
        return
    finite = expected[onp.isfinite(expected)]
    size = max(1.0, abs(finite).max()) if finite.size else 1.0
    onp.testing.assert_allclose(host, expected, rtol=tolerance, atol=tolerance * size)


def answers(record: Record, hosts: list[onp.ndarray], arrays: list[Any]) -> None:
    """Call the function and compare with NumPy."""
    results, expected = as_list(record.call(arrays)), record.expected(hosts)
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        close(result, wanted, record.tolerance)


def test_every_public_name_has_a_record() -> None:
    public = set(records.public_names())
    recorded = {record.name for record in RECORDS}
    assert public - recorded - set(WITHOUT_RECORD) == set()
    assert (recorded | set(WITHOUT_RECORD)) - public == set()
    assert recorded & set(WITHOUT_RECORD) == set()


@over(RECORDS)
def test_values_types_and_shapes(record: Record) -> None:
    for dtype in record.types:
        hosts = record.hosts(dtype)
        results = as_list(record.call(record.arrays(hosts)))
        if record.reference is None:
            continue
        expected = record.expected(hosts)
        assert len(results) == len(expected)
        for result, wanted in zip(results, expected, strict=True):
            if isinstance(result, mx.nd.NDArray):
                assert type(result) is (mx.nd.NDArray if record.legacy else mx.np.ndarray)
                found = onp.dtype(result.dtype).name
                assert record.gives == "" or found == record.type_of(dtype), (found, dtype)
            if record.random:
                assert result.shape == wanted.shape
            else:
                close(result, wanted, record.tolerance)


@over(WITH_OUT)
def test_out(record: Record) -> None:
    for dtype in record.types:
        hosts = record.hosts(dtype)
        arrays = record.arrays(hosts)
        plain = record.call(arrays)
        if isinstance(plain, (list, tuple)):
            return
        wanted = plain.asnumpy()
        target = plain.copy()
        target[...] = 1
        assert record.call(arrays, out=target) is target
        assert target.asnumpy().tolist() == wanted.tolist()
        assert [array.asnumpy().tolist() for array in arrays] == [host.tolist() for host in hosts]
        for place, array in enumerate(arrays):
            if (array.shape, array.dtype) == (plain.shape, plain.dtype):
                own = record.arrays(hosts)
                assert record.call(own, out=own[place]) is own[place]
                assert own[place].asnumpy().tolist() == wanted.tolist(), "into an argument"


@over(WITH_OUT)
def test_out_of_another_shape_is_refused(record: Record) -> None:
    arrays = record.arrays(record.hosts(record.types[0]))
    target = (mx.nd if record.legacy else mx.np).zeros((5, 7, 2))
    before = target.asnumpy()
    refuses(lambda: record.call(arrays, out=target))
    assert (target.asnumpy() == before).all()


@over(WITH_ARRAYS)
def test_pending_and_strided_arguments(record: Record) -> None:
    """Rows of a larger array, every other element of one, and a transposed array not yet made."""
    dtype = record.types[0]
    hosts = record.hosts(dtype)
    array = mx.nd.array if record.legacy else mx.np.array

    def row(host: onp.ndarray) -> Any:
        return array(onp.stack([host, host, host]), dtype=host.dtype)[1]

    def every_other(host: onp.ndarray) -> Any:
        return array(onp.repeat(host, 2, axis=0), dtype=host.dtype)[::2]

    def transposed(host: onp.ndarray) -> Any:
        return array(host.T, dtype=host.dtype).T

    for view in (row, every_other, transposed):
        answers(record, hosts, [view(host) for host in hosts])


@over(WITH_ARRAYS)
def test_large_arrays(record: Record) -> None:
    """Enough elements to be shared among threads, in rows that fill no block of the kernels."""
    samples = record.samples()
    shape = LARGE_SHAPES.get(len(samples[0].shape))
    if shape is None or len({sample.shape for sample in samples}) != 1:
        return
    if any(sample.values is not None for sample in samples) or record.name == "np.diagflat":
        return  # whose result would be the square of that
    hosts = record.hosts(record.types[0], shape)
    try:
        record.expected(hosts)
    except ValueError:
        return  # the keywords fit the small shape only
    answers(record, hosts, record.arrays(hosts))


@over([record for record in WITH_ARRAYS if not record.legacy])
def test_small_shapes(record: Record) -> None:
    """Arrays without dimensions and without elements: NumPy's answer, or an error as NumPy's."""
    samples = record.samples()
    if any(sample.values is not None for sample in samples):
        return
    if len({sample.shape for sample in samples}) != 1:
        return  # they depend on each other
    for shape in SMALL_SHAPES:
        if (record.name, shape) in UNLIKE_NUMPY:
            continue
        hosts = record.hosts(record.types[0], shape)
        try:
            expected = record.expected(hosts)
        except Exception:
            expected = None
        try:
            results = as_list(record.call(record.arrays(hosts)))
            found = [on_host(result) for result in results]
        except REFUSALS:
            assert expected is None, f"refused {shape}"
            continue
        assert expected is not None, f"answered {shape}: {found}"
        assert [one.shape for one in found] == [one.shape for one in expected], shape
        for result, wanted in zip(found, expected, strict=True):
            close(result, wanted, record.tolerance)


_NO_AXIS = "an array without dimensions may be reduced over axis 0 or -1"
_ANY_EXTENT = "-1 could be any extent where there are no elements"
#: Shapes that end otherwise than in NumPy, as in MXNet.
UNLIKE_NUMPY: dict[tuple[str, tuple[int, ...]], str] = {
    ("np.argsort", ()): "there is no axis to sort along",
    ("npx.reshape", (0,)): _ANY_EXTENT,
    ("npx.reshape", (0, 3)): _ANY_EXTENT,
    ("npx.topk", (2, 0)): "k is greater than the extent",
    ("np.average", ()): _NO_AXIS,
    ("np.linalg.norm", ()): _NO_AXIS,
    ("np.mean", ()): _NO_AXIS,
    ("np.median", ()): _NO_AXIS,
    ("np.std", ()): _NO_AXIS,
    ("np.var", ()): _NO_AXIS,
    ("np.average", (0,)): "0 / 0 is nan",
    ("np.average", (0, 3)): "0 / 0 is nan",
    ("np.bincount", ()): "one number is counted",
    ("np.nonzero", ()): "one number has one place",
    ("npx.batch_flatten", ()): "one number is one row",
}


@over(WITH_ARRAYS)
def test_methods_equal_functions(record: Record) -> None:
    method = record.name.split(".")[-1]
    kind = mx.nd.NDArray if record.legacy else mx.np.ndarray
    if record.name.count(".") > 1 or record.name in NO_METHOD:
        return
    arrays = record.arrays(record.hosts(record.types[0]))
    args, keywords = record.filled(arrays)
    if not isinstance(args[0], kind) or not callable(getattr(args[0], method, None)):
        return
    by_function = as_list(record.call(arrays))
    by_method = as_list(getattr(args[0], method)(*args[1:], **keywords))
    for one, other in zip(by_function, by_method, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        assert one.asnumpy().tobytes() == other.asnumpy().tobytes()


#: Methods that mean something else than the function of their name.
NO_METHOD = {
    "np.sort": "sorts in place",
    "npx.nonzero": "one array, the method gives one for each axis",
    "npx.reshape": "has codes of its own",
}


@over(RECORDS)
def test_unknown_keywords_are_refused(record: Record) -> None:
    arrays = record.arrays(record.hosts(record.types[0]))
    kind = ValueError if record.name == "np.pad" else TypeError  # as in NumPy
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            record.call(arrays, no_such_keyword=1)
        except kind:
            return
    # Ops of nd without parameters ignore them, as in MXNet, and say so.
    assert record.module == "nd"
    assert any("no_such_keyword is ignored" in str(one.message) for one in said)


@over([record for record in WITH_ARRAYS if "axis" in record.parameters])
def test_an_axis_that_is_not_there_is_refused(record: Record) -> None:
    for axis in (57, -57):
        arrays = record.arrays(record.hosts(record.types[0]))
        args, keywords = record.filled(arrays)
        if len(args) > record.parameters.index("axis"):
            args[record.parameters.index("axis")] = axis
        else:
            keywords["axis"] = axis
        refuses(
            functools.partial(record.function, *args, **keywords),
            (ValueError, IndexError, mx.MXNetError),
        )


@over(WITH_ARRAYS)
def test_what_is_no_array_is_refused(record: Record) -> None:
    if record.name in TAKES_ANYTHING:
        return
    for wrong in ("text", object(), {"a": 1}):
        arrays = record.arrays(record.hosts(record.types[0]))
        arrays[0] = wrong
        refuses(functools.partial(record.call, arrays))


#: Functions whose first argument may be whatever NumPy makes an array of.
TAKES_ANYTHING = ("np.shape", "np.ndim", "np.size", "np.extract", "np.compress")


@over([record for record in WITH_ARRAYS if len(record.samples()) > 1])
def test_shapes_that_do_not_fit_are_refused(record: Record) -> None:
    """Where NumPy refuses to put two shapes together, so do we; else shapes agree."""
    hosts = record.hosts(record.types[0])
    hosts[-1] = onp.ones((5, 7), hosts[-1].dtype)
    try:
        record.expected(hosts)
    except Exception:
        refuses(lambda: record.call(record.arrays(hosts)))


@pytest.mark.skipif(mx.engine.is_serial(), reason="compares the serial engine with the other")
def test_serial_gives_the_same_bits() -> None:
    child = subprocess.run(
        [sys.executable, records.__file__],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(AFTERGLOW_ENGINE="serial"),
        check=False,
    )
    assert (child.returncode, child.stderr) == (0, "")
    here, serial = records.digests(), child.stdout.split()
    assert len(here) == len(serial)
    names = [record.name for record in records.with_digest()]
    differ = [name for name, one, two in zip(names, here, serial, strict=True) if one != two]
    assert differ == []


def test_random_numbers_repeat_with_their_seed() -> None:
    drawn = [record for record in RECORDS if record.random and "empty" not in record.name]
    assert len(drawn) > 50
    assert [records.digest(record) for record in drawn] == [
        records.digest(record) for record in drawn
    ]


def test_an_axis_error_is_of_both_classes() -> None:
    """``np.split`` raises IndexError in NumPy and MXNet, most functions ValueError."""
    with pytest.raises(IndexError):
        mx.np.split(mx.np.ones((4,)), 2, axis=1)
    with pytest.raises(ValueError, match="axis 1 is out of bounds"):
        mx.np.split(mx.np.ones((4,)), 2, axis=1)


def test_an_array_without_dimensions_has_no_axis_1() -> None:
    for reduce in (mx.np.median, mx.np.mean, mx.np.var):
        assert reduce(mx.np.array(3.0), axis=-1).item() == reduce(onp.array(3.0)).item()
        with pytest.raises(ValueError, match="axis 1"):
            reduce(mx.np.array(3.0), axis=1)
    with pytest.raises(ValueError, match="axis 1"):
        mx.np.percentile(mx.np.array(3.0), 30, axis=1)


def test_creation_writes_out() -> None:
    """The functions of ``nd`` that MXNet hands ``out`` to."""
    out = mx.nd.full((2, 2), 7)
    assert mx.nd.zeros((2, 2), out=out) is out
    assert out.asnumpy().tolist() == [[0, 0], [0, 0]]
    assert mx.nd.ones((2, 2), out=out) is out
    assert out.asnumpy().tolist() == [[1, 1], [1, 1]]
    assert mx.nd.eye(2, out=out) is out
    assert out.asnumpy().tolist() == [[1, 0], [0, 1]]
    pair = mx.nd.ones((2,)), mx.nd.ones((2,), dtype="float16")
    targets = [mx.nd.zeros((2,)), mx.nd.zeros((2,))]
    results = mx.nd.amp_multicast(*pair, num_outputs=2, out=targets)
    assert all(result is target for result, target in zip(results, targets, strict=True))
    assert [target.asnumpy().tolist() for target in targets] == [[1, 1], [1, 1]]


def test_signatures_have_no_surprises() -> None:
    """Whatever takes ``out`` takes it by name and has None for default."""
    for record in RECORDS:
        parameter = inspect.signature(record.function).parameters.get("out")
        if parameter is not None:
            assert parameter.default is None, record.name


def test_most_records_are_tried_with_many_types() -> None:
    assert len(RECORDS) > 700
    assert sum(set(FLOATS) <= set(record.types) for record in RECORDS) > 400
