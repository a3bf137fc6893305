# SPDX-License-Identifier: Apache-2.0
"""Sparse gradients: which rows they have, what they hold, and where they go."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as onp
import pytest

from afterglow import autograd, gluon, memory, nd, np, npx
from afterglow.ndarray.sparse import StorageFallbackWarning
from afterglow.test_utils import check_numeric_gradient, rand_ndarray

INDICES = [[1, 3], [1, 0]]


def _weight(stype: str | None = "row_sparse", request: str = "write") -> Any:
    weight = nd.array(onp.arange(12).reshape(6, 2) / 8)
    weight.attach_grad(request, stype)
    return weight


def _looked_up(weight: Any, indices: Any = INDICES, sparse_grad: bool = True) -> Any:
    rows, columns = weight.shape
    return nd.Embedding(nd.array(indices), weight, rows, columns, sparse_grad=sparse_grad)


def _expected() -> Any:
    """Return the gradient of the sum of squares of what was looked up."""
    host = onp.arange(12).reshape(6, 2) / 8
    counts = onp.bincount(onp.ravel(INDICES), minlength=6)
    return 2 * host * counts[:, None]


def test_embedding() -> None:
    weight = _weight()
    assert weight.grad.stype == "row_sparse"
    for _ in range(2):
        with autograd.record():
            loss = (_looked_up(weight) ** 2).sum()
        loss.backward()
    assert weight.grad.indices.asnumpy().tolist() == [0, 1, 3]
    weight.grad.check_format()
    onp.testing.assert_allclose(weight.grad.asnumpy(), _expected(), rtol=1e-6)
    weight.zero_grad()
    assert weight.grad.data.size == 0


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
@pytest.mark.parametrize("sparse_grad", [True, False])
def test_the_gradient_keeps_its_storage_type(stype: str, sparse_grad: bool) -> None:
    weight = _weight(stype)
    with autograd.record():
        loss = (_looked_up(weight, sparse_grad=sparse_grad) ** 2).sum()
    loss.backward()
    assert weight.grad.stype == stype
    onp.testing.assert_allclose(weight.grad.asnumpy(), _expected(), rtol=1e-6)


def test_take_has_a_sparse_gradient_where_the_variable_wants_one() -> None:
    for mode, indices in (("clip", [-3, 3, 9]), ("wrap", [-1, 3, 6])):
        weight, other = _weight(), _weight("default")
        for one in (weight, other):
            with autograd.record():
                loss = (nd.take(one, nd.array(indices), mode=mode) ** 2).sum()
            loss.backward()
        assert weight.grad.indices.shape[0] <= 3
        assert (weight.grad.asnumpy() == other.grad.asnumpy()).all()


def test_sums_of_gradients() -> None:
    weight = _weight()
    with autograd.record():
        loss = (_looked_up(weight, [1, 2]) + 2 * _looked_up(weight, [2, 5])).sum()
    loss.backward()
    assert weight.grad.indices.asnumpy().tolist() == [1, 2, 5]
    assert weight.grad.data.asnumpy()[:, 0].tolist() == [1, 3, 2]
    with autograd.record():
        loss = _looked_up(weight, [1]).sum() + weight.sum()  # sparse and dense
    loss.backward()
    assert weight.grad.asnumpy()[:, 0].tolist() == [1, 2, 1, 1, 1, 1]


def test_added_gradients() -> None:
    weight = _weight(request="add")
    for indices in ([1], [1, 4]):
        with autograd.record():
            loss = _looked_up(weight, indices).sum()
        loss.backward()
    assert weight.grad.indices.asnumpy().tolist() == [1, 4]
    assert weight.grad.data.asnumpy()[:, 0].tolist() == [2, 1]


def test_through_an_op_without_a_form() -> None:
    weight = _weight()
    with autograd.record():
        loss = _looked_up(nd.sigmoid(weight)).sum()
    loss.backward()
    host = 1 / (1 + onp.exp(-onp.arange(12).reshape(6, 2) / 8))
    counts = onp.bincount(onp.ravel(INDICES), minlength=6)[:, None]
    onp.testing.assert_allclose(weight.grad.asnumpy(), host * (1 - host) * counts, rtol=1e-5)


def test_grad_returns_sparse_arrays() -> None:
    weight = _weight()
    with autograd.record():
        loss = _looked_up(weight).sum()
    (gradient,) = autograd.grad([loss], [weight])
    assert gradient.stype == "row_sparse"
    with autograd.record():
        loss = (_looked_up(weight) ** 3).sum()
        (first,) = autograd.grad([loss], [weight], create_graph=True)
        total = first.sum()
    total.backward()
    host = onp.arange(12).reshape(6, 2) / 8
    counts = onp.bincount(onp.ravel(INDICES), minlength=6)[:, None]
    onp.testing.assert_allclose(weight.grad.asnumpy(), 6 * host * counts, rtol=1e-6)


@pytest.mark.parametrize("stype", ["row_sparse", "default"])
@pytest.mark.parametrize("transpose", [False, True])
def test_dot(stype: str, transpose: bool) -> None:
    left = rand_ndarray((5, 8), "csr", density=0.3)
    right = nd.random.normal(shape=(5 if transpose else 8, 3))
    right.attach_grad(stype=stype)
    with autograd.record():
        loss = (nd.dot(left, right, transpose_a=transpose).tostype("default") ** 2).sum()
    loss.backward()
    matrix = left.asnumpy().T if transpose else left.asnumpy()
    expected = 2 * matrix.T @ (matrix @ right.asnumpy())
    assert right.grad.stype == stype
    onp.testing.assert_allclose(right.grad.asnumpy(), expected, rtol=1e-4, atol=1e-5)
    if stype == "row_sparse" and not transpose:
        used = onp.unique(left.indices.asnumpy())
        assert right.grad.indices.asnumpy().tolist() == used.tolist()


@pytest.mark.parametrize("transpose", [False, True])
def test_dot_with_stored_rows(transpose: bool) -> None:
    left = rand_ndarray((5, 8), "csr", density=0.3)
    right = rand_ndarray((5 if transpose else 8, 3), "row_sparse", density=0.5)
    right.attach_grad()
    with autograd.record():
        loss = (nd.dot(left, right, transpose_a=transpose).tostype("default") ** 2).sum()
    loss.backward()
    matrix = left.asnumpy().T if transpose else left.asnumpy()
    expected = 2 * matrix.T @ (matrix @ right.asnumpy())
    assert right.grad.stype == "row_sparse"
    onp.testing.assert_allclose(right.grad.asnumpy(), expected, rtol=1e-4, atol=1e-5)


def test_dot_with_stored_rows_makes_no_dense_gradient() -> None:
    rows = 200_000
    left = nd.sparse.csr_matrix(([1.0, 2.0], [7, rows - 1], [0, 1, 2]), shape=(2, rows))
    right = nd.sparse.row_sparse_array((nd.ones((2, 16)), [7, 9]), shape=(rows, 16))
    right.attach_grad()
    memory.reset_peak()
    before = memory.active()
    with autograd.record():
        loss = nd.dot(left, right).sum()
    loss.backward()
    assert right.grad.indices.asnumpy().tolist() == [7, rows - 1]
    assert right.grad.data.asnumpy().tolist() == [[1] * 16, [2] * 16]
    assert memory.peak() - before < 2**20  # a dense gradient has 12.8 MB


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_elementwise(stype: str) -> None:
    host = onp.array([[0.3, 0, -0.4], [0, 0, 0], [0.25, 0.5, 0]], "float32")
    for call in (
        nd.sin,
        nd.square,
        lambda x: x * 3 / 2,
        lambda x: x + x * x,
        lambda x: nd.elemwise_mul(x, nd.ones((3, 3)) * 2),
        lambda x: -x + nd.ones((3, 3)),
        lambda x: nd.clip(x, -0.3, 0.3),
        lambda x: x.copy().tostype("default"),
    ):
        gradients = []
        for kind in (stype, "default"):
            x = nd.array(host).tostype(kind)
            x.attach_grad()
            with autograd.record():
                y = call(x)
            y.backward(nd.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
            assert x.grad.stype == kind
            gradients.append(x.grad.asnumpy())
        onp.testing.assert_allclose(*gradients, rtol=1e-6)


def test_retain() -> None:
    from afterglow import sym

    symbol = sym.sparse.retain(sym.Variable("data", stype="row_sparse"), sym.Variable("indices"))
    given = [rand_ndarray((6, 2), "row_sparse", density=0.7), nd.array([0, 2, 5])]
    kinds = {"data": "row_sparse"}
    check_numeric_gradient(symbol, given, grad_nodes=["data"], grad_stype_dict=kinds)


class _Product(gluon.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        self.w = self.params.get("w", shape=(4, 4), grad_stype="row_sparse")

    def hybrid_forward(self, F: Any, x: Any, w: Any) -> Any:
        return F.dot(x, w)


@pytest.mark.parametrize("records", [False, True])
def test_hybridized_blocks_see_each_sparse_input(records: bool) -> None:
    net = _Product()
    net.initialize("ones")
    net.hybridize()
    for seed in range(5):
        rng = onp.random.RandomState(seed)
        host = (rng.rand(3, 4) * (rng.rand(3, 4) < 0.4)).astype("float32")
        with autograd.record() if records else autograd.pause():
            result = net(nd.array(host).tostype("csr" if seed else "default"))
        onp.testing.assert_allclose(result.asnumpy(), host @ onp.ones((4, 4)), rtol=1e-6)
        if records:
            result.backward()
            expected = host.T @ onp.ones((3, 4))
            onp.testing.assert_allclose(net.w.grad().asnumpy(), expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:hybridize")
def test_hybridized_embeddings_touch_other_rows_each_time() -> None:
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Embedding(10, 3, sparse_grad=True), gluon.nn.Dense(2))
    net.initialize()
    net.hybridize()
    for seed in range(5):
        indices = onp.random.RandomState(seed).randint(0, 10, 4)
        with autograd.record():
            loss = net(nd.array(indices)).sum()
        loss.backward()
        assert net[0].weight.grad().indices.asnumpy().tolist() == onp.unique(indices).tolist()


def test_arrays_of_np() -> None:
    weight = np.array(onp.arange(12).reshape(6, 2) / 8)
    weight.attach_grad(stype="row_sparse")
    with autograd.record():
        rows = npx.embedding(np.array(INDICES), weight, 6, 2, sparse_grad=True)
        loss = (rows**2).sum()
    loss.backward()
    assert weight.grad.indices.asnumpy().tolist() == [0, 1, 3]
    onp.testing.assert_allclose(weight.grad.asnumpy(), _expected(), rtol=1e-6)


def test_a_fallback_has_gradients() -> None:
    x = rand_ndarray((3, 4), "csr", density=0.5)
    x.attach_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StorageFallbackWarning)
        with autograd.record():
            y = nd.softmax(x)
        y.backward(nd.array(onp.arange(12).reshape(3, 4)))
    dense = nd.array(x.asnumpy())
    dense.attach_grad()
    with autograd.record():
        y = nd.softmax(dense)
    y.backward(nd.array(onp.arange(12).reshape(3, 4)))
    assert x.grad.stype == "csr"
    onp.testing.assert_allclose(x.grad.asnumpy(), dense.grad.asnumpy(), rtol=1e-5, atol=1e-6)
