# SPDX-License-Identifier: Apache-2.0
"""Kernels that take another way by the size, order or type of their data, beside NumPy."""

from __future__ import annotations

import numpy as onp
import pytest

from afterglow import np, npx

GENERATOR = onp.random.default_rng(7)


def _orders(count: int, dtype: str) -> dict[str, onp.ndarray]:
    values = GENERATOR.standard_normal(count) * 1000
    return {
        "random": values.astype(dtype),
        "sorted": onp.sort(values).astype(dtype),
        "reversed": onp.sort(values)[::-1].astype(dtype),
        "equal": onp.full(count, 3, dtype),
        "few": GENERATOR.integers(0, 3, count).astype(dtype),
        "organ pipe": onp.abs(onp.arange(count) - count // 2).astype(dtype),
        "extremes": onp.where(values < 0, onp.finfo("float32").min, 1).astype(dtype)
        if dtype.startswith("float")
        else onp.where(values < 0, onp.iinfo(dtype).min, onp.iinfo(dtype).max).astype(dtype),
    }


@pytest.mark.parametrize("count", [1, 7, 16, 17, 63, 64, 65, 128, 129, 1000, 5003])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_lines_of_any_order_are_sorted(count: int, dtype: str) -> None:
    for values in _orders(count, dtype).values():
        array = np.array(values, dtype=dtype)
        onp.testing.assert_array_equal(np.sort(array).asnumpy(), onp.sort(values))
        onp.testing.assert_array_equal(
            np.argsort(array).asnumpy(), onp.argsort(values, kind="stable")
        )
        rows = npx.topk(array, k=count, ret_typ="value", is_ascend=False)
        onp.testing.assert_array_equal(rows.asnumpy(), onp.sort(values)[::-1])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "int8", "uint8"])
def test_long_lines_of_any_order_are_sorted(dtype: str) -> None:
    count = (1 << 17) + 77
    orders = _orders(count, "float32" if dtype in ("int8", "uint8") else dtype)
    for values in orders.values():
        host = values if values.dtype == dtype else values.view("uint32").astype(dtype)
        array = np.array(host, dtype=dtype)
        onp.testing.assert_array_equal(np.sort(array).asnumpy(), onp.sort(host))
        onp.testing.assert_array_equal(np.unique(array).asnumpy(), onp.unique(host))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("shape", [(65,), (30, 41), (5, 6, 700)])
def test_unique_of_many_elements(shape: tuple[int, ...], dtype: str) -> None:
    values = GENERATOR.integers(-50, 50, shape).astype(dtype)
    if dtype.startswith("float"):
        values = onp.where(values == 7, -0.0, onp.where(values == 8, onp.nan, values)).astype(dtype)
    result = np.unique(np.array(values, dtype=dtype))
    assert result.dtype == dtype
    onp.testing.assert_array_equal(result.asnumpy(), onp.unique(values))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "bool"])
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_single_elements_are_stacked_and_repeated(count: int, dtype: str) -> None:
    for size in (0, 1, 300, 70001):
        hosts = [GENERATOR.integers(0, 2, size).astype(dtype) for _ in range(count)]
        arrays = [np.array(host, dtype=dtype) for host in hosts]
        onp.testing.assert_array_equal(np.stack(arrays, 1).asnumpy(), onp.stack(hosts, 1))
        onp.testing.assert_array_equal(
            np.repeat(arrays[0], count).asnumpy(), onp.repeat(hosts[0], count)
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_tall_and_thin_matrices(dtype: str) -> None:
    for rows, columns in ((1000, 10), (20000, 10), (9000, 64), (800, 33), (769, 2)):
        tall = GENERATOR.standard_normal((rows, columns)).astype(dtype)
        wide = tall.astype("float64")
        array = np.array(tall, dtype=dtype)
        # The largest sums are about as many.
        tolerance = (2e-6 if dtype == "float32" else 4e-15) * rows
        expected = wide.T @ wide
        for result in (np.dot(array.T, array), np.tensordot(array, array, ((0,), (0,)))):
            onp.testing.assert_allclose(result.asnumpy(), expected, 0, tolerance)


@pytest.mark.parametrize("shape", [(37, 100), (5, 300), (100, 3), (3, 4, 130)])
@pytest.mark.parametrize("axis", [0, -1])
def test_rows_and_columns_are_sorted(shape: tuple[int, ...], axis: int) -> None:
    values = GENERATOR.standard_normal(shape).astype("float32")
    array = np.array(values)
    onp.testing.assert_array_equal(np.sort(array, axis).asnumpy(), onp.sort(values, axis))
    onp.testing.assert_array_equal(np.argsort(array, axis).asnumpy(), onp.argsort(values, axis))


def test_nan_is_sorted_behind_all_others() -> None:
    values = GENERATOR.standard_normal(500).astype("float32")
    values[::7] = onp.nan
    values[3] = onp.inf
    onp.testing.assert_array_equal(np.sort(np.array(values)).asnumpy(), onp.sort(values))


@pytest.mark.parametrize("values", [[3, 1, 3, 2], [[2.5, -1], [2.5, 7]], [True, False, True], []])
def test_unique_of_all_elements(values: list) -> None:
    host = onp.array(values)
    host = host.astype("float32") if host.dtype.kind == "f" else host
    result = np.unique(np.array(host, dtype=host.dtype))
    assert result.dtype == host.dtype
    onp.testing.assert_array_equal(result.asnumpy(), onp.unique(host))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(5,), (3, 1), (4, 15), (4, 16), (4, 33), (2, 3, 100), (2, 5000)])
def test_softmax_of_rows(shape: tuple[int, ...], dtype: str) -> None:
    values = (GENERATOR.standard_normal(shape) * 20).astype(dtype)
    wide = values.astype("float64")
    powers = onp.exp(wide - wide.max(-1, keepdims=True))
    expected = powers / powers.sum(-1, keepdims=True)
    tolerance = 1e-5 if dtype == "float32" else 1e-14
    array = np.array(values, dtype=dtype)
    onp.testing.assert_allclose(npx.softmax(array).asnumpy(), expected, tolerance, 1e-37)
    onp.testing.assert_allclose(
        npx.log_softmax(array).asnumpy(),
        wide - wide.max(-1, keepdims=True) - onp.log(powers.sum(-1, keepdims=True)),
        tolerance,
        tolerance,
    )


def test_softmax_of_special_values() -> None:
    rows = np.array([[0.0, onp.nan], [-onp.inf, 1.0], [-onp.inf, -onp.inf], [1e30, -1e30]])
    expected = [[onp.nan, onp.nan], [0, 1], [onp.nan, onp.nan], [1, 0]]
    onp.testing.assert_array_equal(npx.softmax(rows).asnumpy(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("shape", [(3,), (10, 7), (4, 1025), (3000,)])
def test_running_sums(shape: tuple[int, ...], dtype: str) -> None:
    values = GENERATOR.integers(-9, 9, shape).astype(dtype)
    result = np.cumsum(np.array(values, dtype=dtype), -1)
    onp.testing.assert_array_equal(result.asnumpy(), onp.cumsum(values, -1).astype(dtype))


def test_running_sums_keep_infinity_and_nan() -> None:
    values = onp.ones(40, "float32")
    values[13], values[30] = onp.inf, -onp.inf
    with onp.errstate(invalid="ignore"):
        expected = onp.cumsum(values)
    onp.testing.assert_array_equal(np.cumsum(np.array(values)).asnumpy(), expected)


@pytest.mark.parametrize("place", [None, 0, 70_000, 299_999])
def test_one_truth_value_decides(place: int | None) -> None:
    values = onp.zeros(300_000, bool)
    if place is not None:
        values[place] = True
    assert bool(np.any(np.array(values, dtype=bool)).asnumpy()) == values.any()
    assert bool(np.all(np.array(~values, dtype=bool)).asnumpy()) == (~values).all()


@pytest.mark.parametrize("index_dtype", ["int32", "int64"])
def test_elements_named_by_indices(index_dtype: str) -> None:
    values = GENERATOR.standard_normal(2000).astype("float32")
    indices = GENERATOR.integers(-2000, 2000, 1500).astype(index_dtype)
    inside = onp.abs(indices) % 2000
    for places in (inside, indices):
        at = np.array(places, dtype=index_dtype)
        array = np.array(values)
        onp.testing.assert_array_equal(array[at].asnumpy(), values[places])
        expected = values.copy()
        expected[places] = values[:1500]
        array[at] = np.array(values[:1500])
        onp.testing.assert_array_equal(array.asnumpy(), expected)
        expected[places] = 5
        array[at] = 5
        onp.testing.assert_array_equal(array.asnumpy(), expected)
    with pytest.raises(IndexError):
        array[np.array([2000], dtype=index_dtype)].asnumpy()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
@pytest.mark.parametrize("count", [1, 15, 64, 1001])
def test_reversed_and_every_other_element(count: int, dtype: str) -> None:
    values = GENERATOR.integers(0, 200, count).astype(dtype)
    array = np.array(values, dtype=dtype)
    onp.testing.assert_array_equal(np.flip(array, 0).asnumpy(), values[::-1])
    onp.testing.assert_array_equal(array[::2].asnumpy(), values[::2])
    matrix = np.array(onp.stack([values, values]), dtype=dtype)
    onp.testing.assert_array_equal(np.flip(matrix).asnumpy(), onp.stack([values, values])[:, ::-1])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [1, 15, 16, 17, 100, 255, 1500])
def test_rows_of_any_length_are_folded(columns: int, dtype: str) -> None:
    values = GENERATOR.standard_normal((7, columns)).astype(dtype)
    array = np.array(values, dtype=dtype)
    wide = values.astype("float64")
    onp.testing.assert_allclose(np.sum(array, 1).asnumpy(), wide.sum(1), 1e-5, 1e-5)
    onp.testing.assert_array_equal(np.max(array, 1).asnumpy(), values.max(1))
    onp.testing.assert_array_equal(np.min(array, 1).asnumpy(), values.min(1))
    onp.testing.assert_array_equal(np.argmax(array, 1).asnumpy(), values.argmax(1))
    onp.testing.assert_allclose(
        np.linalg.norm(array, axis=1).asnumpy(), onp.sqrt((wide**2).sum(1)), 1e-6
    )
    values[3, columns // 2] = onp.nan
    assert onp.isnan(np.max(np.array(values, dtype=dtype), 1).asnumpy())[3]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_inner_product_of_vectors(dtype: str) -> None:
    x, y = GENERATOR.standard_normal((2, 1000)).astype(dtype)
    result = np.dot(np.array(x, dtype=dtype), np.array(y, dtype=dtype))
    onp.testing.assert_allclose(result.asnumpy(), onp.dot(x.astype("d"), y), 1e-4)
