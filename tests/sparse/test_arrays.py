# SPDX-License-Identifier: Apache-2.0
"""Sparse arrays as objects: how they are made, copied, indexed, written, checked and refused."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd
from afterglow.ndarray.sparse import CSRNDArray, RowSparseNDArray, StorageFallbackWarning

DENSE = onp.array([[0, 1, 0], [2, 0, 3], [0, 0, 0]], "float32")
KINDS = [("csr", CSRNDArray), ("row_sparse", RowSparseNDArray)]


def _same(array: Any, host: Any) -> None:
    array.check_format()
    onp.testing.assert_array_equal(array.asnumpy(), host)


@pytest.mark.parametrize(("stype", "kind"), KINDS)
def test_there_and_back(stype: str, kind: type) -> None:
    array = nd.array(DENSE).tostype(stype)
    assert type(array) is kind
    assert isinstance(array, nd.NDArray)
    assert (array.stype, array.shape, array.dtype) == (stype, (3, 3), onp.float32)
    assert array.context == mx.cpu()
    _same(array, DENSE)
    assert array.tostype("default").stype == "default"
    assert repr(array) == f"\n<{kind.__name__} 3x3 @cpu(0)>"


def test_what_csr_is_made_of() -> None:
    array = nd.array(DENSE).tostype("csr")
    assert array.data.asnumpy().tolist() == [1, 2, 3]
    assert array.indices.asnumpy().tolist() == [1, 0, 2]
    assert array.indptr.asnumpy().tolist() == [0, 1, 3, 3]
    assert array.indices.dtype == array.indptr.dtype == onp.int64
    array.data[:] = 7  # a copy
    _same(array, DENSE)


def test_ways_to_make_csr() -> None:
    make = nd.sparse.csr_matrix
    _same(make(([1, 2, 3], [1, 0, 2], [0, 1, 3, 3]), shape=(3, 3)), DENSE)
    _same(make(([3, 1, 1.5, 0.5], ([1, 0, 1, 1], [2, 1, 0, 0])), shape=(3, 3)), DENSE)
    _same(make(DENSE), DENSE)
    _same(make(DENSE.tolist()), DENSE)
    _same(make(nd.array(DENSE).tostype("csr"), dtype="int32"), DENSE)
    _same(make((2, 5)), onp.zeros((2, 5)))
    assert make(([1.0], [4], [0, 1])).shape == (1, 5)
    assert make(onp.ones((2, 2)), ctx=mx.cpu(1), dtype="float64").context == mx.cpu(1)
    with pytest.raises(ValueError, match="shape"):
        make(nd.ones((2, 2)), shape=(3, 2))
    with pytest.raises(ValueError, match="shape"):
        make((2, 2), shape=(3, 2))


def test_ways_to_make_rows() -> None:
    make = nd.sparse.row_sparse_array
    values = onp.array([[0, 1, 0], [2, 0, 3]])
    _same(make((values, [0, 1]), shape=(3, 3)), DENSE)
    _same(make(DENSE), DENSE)
    assert make((values, [0, 4])).shape == (5, 3)
    assert make((onp.ones((2, 3, 4)), [1, 2]), shape=(9, 3, 4)).asnumpy().sum() == 24
    with pytest.raises(ValueError, match="indices"):
        make((values, [0, 1, 2]), shape=(3, 3))
    with pytest.raises(ValueError, match="storage type"):
        nd.sparse.zeros("dense", (2, 2))


def test_scipy() -> None:
    matrices = pytest.importorskip("scipy.sparse", reason="the package scipy is not installed")
    given = matrices.csr_matrix(([1, 2, 3, 4.0], [2, 0, 0, 1], [0, 3, 4]), shape=(2, 3))
    for make in (nd.array, nd.sparse.array, nd.sparse.csr_matrix):
        array = make(given)
        _same(array, given.toarray())  # in order, and each place once
        assert (array.asscipy() != given).nnz == 0


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_copies_are_their_own(stype: str) -> None:
    array = nd.array(DENSE).tostype(stype)
    copies = [array.copy(), copy.copy(array), copy.deepcopy(array), nd.array(array)]
    copies += [array.copyto(mx.cpu(1)), array.astype("float64")]
    copies.append(pickle.loads(pickle.dumps(array)))
    array *= 2
    for one in copies:
        assert one.stype == stype
        _same(one, DENSE)
    _same(array, DENSE * 2)
    assert array.astype("float32", copy=False) is array
    dense = nd.zeros((3, 3))
    assert array.copyto(dense) is dense
    assert (dense.asnumpy() == 2 * DENSE).all()


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_writes(stype: str) -> None:
    array = nd.zeros((3, 3), stype=stype)
    alias = array[:]
    array[:] = nd.array(DENSE)
    _same(array, DENSE)
    array[:] = DENSE * 2
    _same(array, DENSE * 2)
    array[:] = nd.array(DENSE).tostype(stype)
    _same(alias, DENSE)
    array[:] = 0
    assert array.data.size == 0
    with pytest.raises(ValueError, match="shape"):
        array[:] = nd.zeros((2, 3))
    with pytest.raises(TypeError):
        array[0] = 1
    dense = nd.ones((3, 3))
    dense += nd.array(DENSE).tostype(stype)
    dense[:] = dense + nd.array(DENSE).tostype(stype)
    assert (dense.asnumpy() == 1 + 2 * DENSE).all()
    dense[:] = nd.array(DENSE).tostype(stype)
    assert (dense.asnumpy() == DENSE).all()


def test_rows_of_csr() -> None:
    array = nd.array(DENSE).tostype("csr")
    _same(array[1], DENSE[1:2])
    _same(array[-1], DENSE[2:])
    _same(array[:2], DENSE[:2])
    _same(array[1:1], DENSE[1:1])
    for key in (slice(0, 3, 2), (0, 1), [1]):
        with pytest.raises(ValueError, match=r"csr|CSR"):
            array[key]
    with pytest.raises(IndexError):
        array[3]
    with pytest.raises(mx.MXNetError, match="retain"):
        nd.array(DENSE).tostype("row_sparse")[1]


def test_what_no_array_is() -> None:
    make = nd.sparse.csr_matrix
    for indices, indptr in [
        ([0, 2, 1], [0, 5, 2, 3]),
        ([2, 1, 1], [0, 2, 2, 3]),
        ([1, 2, 1], [0, 2, 2, 4]),
        ([0, 2, 1], [0, -2, 2, 3]),
        ([0, 9, 1], [0, 2, 2, 3]),
    ]:
        array = make(([7, 8, 9], indices, indptr), shape=(3, 4))
        with pytest.raises(mx.MXNetError, match="check_format"):
            array.check_format()
    for rows in ([1, 4], [1, 0], [-2, 1], [1, 1]):
        array = nd.sparse.row_sparse_array(([[1, 2], [3, 4]], rows), shape=(3, 2))
        with pytest.raises(mx.MXNetError, match="check_format"):
            array.check_format()
    for shape in ((3,), (1, 2, 3)):
        with pytest.raises(ValueError, match="two axes"):
            nd.ones(shape).tostype("csr")
    for one, other in (("csr", "row_sparse"), ("row_sparse", "csr")):
        with pytest.raises(ValueError, match="not supported"):
            nd.array(DENSE).tostype(one).tostype(other)
    with pytest.raises(mx.MXNetError, match="reshape"):
        nd.array(DENSE).tostype("csr").reshape((9,))


def test_a_column_beyond_the_matrix_is_an_error() -> None:
    array = nd.sparse.csr_matrix(([1.0], [7], [0, 1]), shape=(1, 3))
    with pytest.raises(IndexError, match="outside of 3 columns"):
        nd.dot(array, nd.ones((3, 2))).asnumpy()


def test_a_fallback_is_told_once() -> None:
    array = nd.array(DENSE).tostype("csr")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(2):
            result = nd.log_softmax(array)
    assert [one.category for one in told] in ([StorageFallbackWarning], [])  # an earlier test's
    assert all("log_softmax" in str(one.message) for one in told)
    onp.testing.assert_allclose(result.asnumpy(), nd.log_softmax(nd.array(DENSE)).asnumpy())


def test_results_go_where_they_are_wanted() -> None:
    rows, csr = (nd.zeros((3, 3), stype=stype) for stype in ("row_sparse", "csr"))
    dense = nd.zeros((3, 3))
    given = nd.array(DENSE)
    nd.broadcast_add(given, given, out=csr)
    _same(csr, 2 * DENSE)
    nd.square(given.tostype("row_sparse"), out=rows)
    _same(rows, DENSE**2)
    nd.elemwise_add(rows, rows, out=dense)
    assert (dense.asnumpy() == 2 * DENSE**2).all()
    mx.random.seed(3)
    nd.random.uniform(shape=(3, 3), out=rows)
    mx.random.seed(3)
    assert (rows.asnumpy() == nd.random.uniform(shape=(3, 3)).asnumpy()).all()


def test_columns_in_any_order() -> None:
    array = nd.sparse.csr_matrix(([3, 2, 1], [2, 0, 1], [0, 2, 3]), shape=(2, 3))
    host = onp.array([[2, 0, 3], [0, 1, 0]], "float32")
    other = nd.sparse.csr_matrix(([5.0], [1], [0, 1, 1]), shape=(2, 3))
    assert (array.asnumpy() == host).all()
    _same(array + other, host + other.asnumpy())
    _same(array * other, host * other.asnumpy())
    assert (nd.dot(array, nd.array(host.T.copy())).asnumpy() == host @ host.T).all()
    assert (nd.sum(array, axis=0).asnumpy() == host.sum(0)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "float16"])
def test_products_of_types(dtype: str) -> None:
    rng = onp.random.RandomState(0)
    left = (rng.randint(-4, 5, (40, 30)) * (rng.rand(40, 30) < 0.2)).astype(dtype)
    right = rng.randint(-4, 5, (30, 70)).astype(dtype)
    product = left.astype("float64") @ right.astype("float64")
    csr = nd.array(left, dtype=dtype).tostype("csr")
    dense = nd.array(right, dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StorageFallbackWarning)
        assert (nd.dot(csr, dense).asnumpy() == product).all()
        other = nd.array(product.astype(dtype), dtype=dtype)
        back = nd.dot(csr, other, transpose_a=True)
        exact = left.T.astype("float64") @ product.astype(dtype).astype("float64")
        onp.testing.assert_allclose(back.asnumpy(), exact, rtol=1e-2 if dtype == "float16" else 0)


def test_retain_and_counts() -> None:
    rows = nd.sparse.row_sparse_array(([[1, 2], [3, 4], [5, 6]], [0, 2, 3]), shape=(5, 2))
    kept = rows.retain(nd.array([3, 1, 0]))
    assert kept.indices.asnumpy().tolist() == [0, 3]
    assert kept.asnumpy().sum() == 14
    csr = nd.array(DENSE).tostype("csr")
    assert nd.contrib.getnnz(csr).asscalar() == 3
    assert nd.contrib.getnnz(csr, axis=0).asnumpy().tolist() == [1, 1, 1]
    assert nd.contrib.getnnz(csr, axis=1).asnumpy().tolist() == [1, 2, 0]
    for wrong in (nd.ones((2, 2)), csr):
        with pytest.raises(TypeError, match="row_sparse"):
            nd.sparse.retain(wrong, nd.array([0]))


def test_huge_arrays_take_what_they_store() -> None:
    rows = nd.sparse.row_sparse_array((onp.ones((2, 3)), [5, 10**9]), shape=(2 * 10**9, 3))
    total = rows + rows * 2 - rows.retain(nd.array([5], dtype="int64"))
    assert total.indices.asnumpy().tolist() == [5, 10**9]
    assert total.data.asnumpy().tolist() == [[2] * 3, [3] * 3]
    csr = nd.sparse.csr_matrix(([1.0, 2.0], [3, 10**9], [0, 2]), shape=(1, 2 * 10**9))
    assert nd.sum(csr * csr, axis=1).asscalar() == 5


@pytest.mark.parametrize(("values", "kind"), [([1, 2], "int64"), ([1.0, 2.0], "float64")])
def test_values_by_place_keep_the_type_that_numpy_gives_them(
    values: list[float], kind: str
) -> None:
    places = ([0, 1], [2, 0])
    assert onp.dtype(nd.sparse.csr_matrix((values, places), shape=(2, 3)).dtype) == kind
    given = nd.sparse.csr_matrix((values, places), shape=(2, 3), dtype="float32")
    assert onp.dtype(given.dtype) == "float32"
