# SPDX-License-Identifier: Apache-2.0
"""The helpers for tests: that they accept what is right and refuse what is wrong, as MXNet's do."""

from __future__ import annotations

import gzip
import os
import statistics
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd, np, sym
from afterglow import test_utils as tu

A = onp.arange(12.0).reshape(3, 4)
B = A.copy()
B[1, 2] += 1
B[0, 0] = 0.1


# --- comparisons ---


def test_tolerances_like_mxnet() -> None:
    assert tu.default_rtols() == {
        onp.dtype("float16"): 1e-2,
        onp.dtype("float32"): 1e-4,
        onp.dtype("float64"): 1e-5,
        **{
            onp.dtype(name): 0
            for name in ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64"]
        },
    }
    assert tu.default_atols()[onp.dtype("float64")] == 1e-20
    assert tu.default_numeric_eps()[onp.dtype("float32")] == 0.001953125
    assert (tu.get_rtol(), tu.get_atol(), tu.get_etol()) == (1e-5, 1e-20, 0)
    assert (tu.get_rtol(0.5), tu.get_atol(0.5), tu.get_etol(0.5)) == (0.5, 0.5, 0.5)
    assert tu.get_tols(onp.ones(2, "f"), onp.ones(2, "float16"), None, None) == (1e-2, 1e-1)
    assert tu.get_tols(nd.ones((2,)), 1.0, None, None) == (1e-4, 1e-3)
    assert tu.get_tols(nd.ones((2,)), nd.ones((2,)), {"float32": 0.3}, 0.2) == (0.3, 0.2)
    assert tu.effective_dtype(nd.ones((1,))) == "float32"


def test_message_like_mxnet(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AssertionError) as caught:
        tu.assert_almost_equal(A, B)
    assert str(caught.value) == (
        "\nItems are not equal:\n"
        "Error 100000.000000 exceeds tolerance rtol=1.000000e-05, atol=1.000000e-20 "
        "(mismatch 16.666667%).\n"
        "Location of maximum error: (0, 0), a=0.00000000, b=0.10000000\n"
        f" ACTUAL: {A!r}\n DESIRED: {B!r}"
    )
    assert capsys.readouterr().out == (
        "\n*** Maximum errors for vector of size 12:  rtol=1e-05, atol=1e-20\n\n"
        "  1: Error 100000.000000  Location of error: (0, 0), a=0.00000000, b=0.10000000\n"
        "  2: Error 14285.714286  Location of error: (1, 2), a=6.00000000, b=7.00000000\n"
    )


@pytest.mark.parametrize(
    ("first", "second", "options"),
    [
        (A, A, {}),
        (nd.array(A), A, {}),
        (np.array(A), nd.array(A), {}),
        (A, A + 1e-7, {"atol": 1e-6}),
        (A, B, {"atol": 1.01}),
        (onp.ones((2, 1)), onp.ones((2, 2)), {}),
        (onp.ones((2, 2)), 1.0, {}),
        (A * onp.nan, A * onp.nan, {"equal_nan": True}),
        (onp.zeros(0), onp.zeros(0), {}),
        (onp.array([onp.inf]), onp.array([onp.inf]), {}),
        (onp.array([1, 2]), onp.array([1, 2]), {}),
    ],
)
def test_equal(first: Any, second: Any, options: Any) -> None:
    tu.assert_almost_equal(first, second, **options)
    assert tu.almost_equal(first, second, **options)


@pytest.mark.parametrize(
    ("first", "second", "options"),
    [
        (A, B, {}),
        (nd.array(A), nd.array(B), {"rtol": 1e-3, "atol": 0, "names": ("x", "y")}),
        (A * onp.nan, A * onp.nan, {}),
        (A, A * onp.nan, {"equal_nan": True}),
        (onp.array([onp.inf]), onp.array([1.0]), {}),
        (onp.array([1, 2]), onp.array([1, 3]), {}),
        (onp.ones((2, 1)), onp.ones((2, 2)), {"use_broadcast": False}),
    ],
)
def test_not_equal(first: Any, second: Any, options: Any) -> None:
    with pytest.raises(AssertionError, match="Items are not equal"):
        tu.assert_almost_equal(first, second, **options)
    options = {name: value for name, value in options.items() if name != "names"}
    assert not tu.almost_equal(first, second, **options)


def test_other_comparisons() -> None:
    assert tu.same(A, nd.array(A))
    assert not tu.same(A, B)
    tu.assert_almost_equal_ignore_nan(onp.array([1, onp.nan]), onp.array([1, 2.0]))
    with pytest.raises(AssertionError):
        tu.assert_almost_equal_ignore_nan(onp.array([1, onp.nan]), onp.array([2, 2.0]))
    tu.assert_almost_equal_with_err(A, B, etol=0.5)
    with pytest.raises(AssertionError):
        tu.assert_almost_equal_with_err(A, B, etol=0.1)
    tu.compare_ndarray_tuple((nd.ones((2,)), None, (nd.ones((1,)),)),
                             (nd.ones((2,)), None, (nd.ones((1,)),)))  # fmt: skip
    with pytest.raises(AssertionError):
        tu.compare_ndarray_tuple((nd.ones((2,)),), (nd.zeros((2,)),))
    x = nd.ones((4,))
    assert tu.same_array(x, x)
    assert tu.same_array(x, x[:])
    assert not tu.same_array(x, x.copy())
    tu.checkShapes(A, A)
    with pytest.raises(AssertionError, match=r"a.shape = \(3, 4\) and b.shape = \(1, 4\)"):
        tu.checkShapes(A, B[:1])


def test_sums_over_axes() -> None:
    assert tu.np_reduce(A, (0, 1), True, onp.sum).tolist() == [[66]]
    assert tu.np_reduce(A, -1, False, onp.max).tolist() == [3, 7, 11]
    assert tu.np_reduce(A, None, False, onp.sum) == 66
    assert tu.collapse_sum_like(A, (4,)).tolist() == [12, 15, 18, 21]
    assert tu.collapse_sum_like(A, (3, 1)).tolist() == [[6], [22], [38]]
    with pytest.raises(ValueError, match="broadcast"):
        tu.collapse_sum_like(A, (2, 3, 4))


# --- inputs ---


def test_random_inputs() -> None:
    for _ in range(20):
        assert all(1 <= extent <= 5 for extent in tu.rand_shape_nd(3, 5))
        assert len(tu.rand_shape_2d()) == 2
        assert len(tu.rand_shape_3d(allow_zero_size=True)) == 3
        row, column = tu.rand_coord_2d(1, 3, 5, 6)
        assert row in (1, 2)
        assert column == 5
    assert 0 in {tu.rand_shape_nd(1, 2, allow_zero_size=True)[0] for _ in range(99)}
    assert tu.random_arrays((2, 3)).shape == (2, 3)
    assert [one.dtype for one in tu.random_arrays((2,), ())] == ["float32", "float32"]
    (uniform,) = tu.random_uniform_arrays((50,), low=3, high=4)
    assert 3 <= uniform.min() <= uniform.max() <= 4
    assert tu.rand_ndarray((2, 3), dtype="int32").dtype is onp.int32
    assert tu.random_sample([3, 1, 2], 3) == [3, 1, 2]
    assert tu.rand_ndarray((2, 3), stype="csr").stype == "csr"
    rows = tu.create_sparse_array_zd((4, 2), "row_sparse", 0.5, data_init=2, rsp_indices=[3, 1])
    assert rows.asnumpy()[:, 0].tolist() == [0, 2, 0, 2]
    counts, _ = tu.rand_sparse_ndarray((5, 16), "csr", density=0.5, distribution="powerlaw")
    assert onp.diff(counts.indptr.asnumpy()).tolist() == [2, 4, 8, 16, 10]


def test_made_inputs() -> None:
    assert tu.create_2d_tensor(3, 2).asnumpy().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert tu.create_vector(3).dtype is onp.int64
    assert tu.get_identity_mat(2).asnumpy().tolist() == [[1, 0], [0, 1]]
    assert tu.get_identity_mat_batch(2).shape == (2, 2, 2)
    assert tu.assign_each(A, lambda value: value + 1).tolist() == (A + 1).tolist()
    assert tu.assign_each2(A, A, lambda one, two: one * two).tolist() == (A * A).tolist()
    batches = tu.DummyIter(mx.io.NDArrayIter(A, batch_size=2))
    assert [batches.next().data[0].asnumpy().tolist() for _ in range(3)] == [A[:2].tolist()] * 3


def test_matrices() -> None:
    basis = tu.new_orthonormal_matrix_2d(4)
    onp.testing.assert_allclose(basis @ basis.T, onp.eye(4), atol=1e-9)
    for matrix in tu.new_matrix_with_real_eigvals_nd((2, 3, 4, 4)).reshape(-1, 4, 4):
        values = onp.linalg.eigvals(matrix)
        assert abs(onp.imag(values)).max() < 1e-9
        assert abs(values).max() < 1.001
    symmetric = tu.new_sym_matrix_with_real_eigvals_nd((2, 4, 4))
    onp.testing.assert_array_equal(symmetric, symmetric.swapaxes(1, 2))


# --- surroundings ---


def test_device_and_type() -> None:
    assert tu.default_context() == mx.cpu()
    assert tu.default_dtype() is onp.float32
    try:
        tu.set_default_context(mx.cpu(2))
        assert tu.default_context() == mx.cpu(2)
        assert nd.ones((1,)).context == mx.cpu(2)
        with mx.cpu(1):
            assert tu.default_context() == mx.cpu(1)
    finally:
        tu.set_default_context(mx.cpu())
    assert list(tu.list_gpus()) == []
    assert not tu.has_tvm_ops()
    assert tu.is_op_runnable()


def test_environment_comes_back() -> None:
    with tu.environment("AFTERGLOW_NAME", "1"):
        assert os.environ["AFTERGLOW_NAME"] == "1"
        with tu.environment({"AFTERGLOW_NAME": None, "AFTERGLOW_OTHER": "2"}):
            assert "AFTERGLOW_NAME" not in os.environ
        assert os.environ["AFTERGLOW_NAME"] == "1"
    assert not {"AFTERGLOW_NAME", "AFTERGLOW_OTHER"} & set(os.environ)


def test_error_output_is_discarded(capfd: pytest.CaptureFixture[str]) -> None:
    with tu.discard_stderr():
        os.write(2, b"hidden\n")
        print("hidden too", file=sys.stderr)
    os.write(2, b"shown\n")
    assert "hidden" not in capfd.readouterr().err.replace("hidden too", "")


def test_attempts() -> None:
    calls: list[int] = []

    @tu.retry(3)
    def test(limit: int) -> int:
        calls.append(1)
        assert len(calls) >= limit
        return len(calls)

    assert test(3) == 3
    with pytest.raises(AssertionError):
        test(9)
    assert len(calls) == 6


def test_expected_exception() -> None:
    tu.assert_exception(lambda x: 1 / x, ZeroDivisionError, 0)
    with pytest.raises(AssertionError):
        tu.assert_exception(lambda: 1, ValueError)


def test_use_np() -> None:
    assert tu.use_np is mx.util.use_np


# --- random generators ---


def test_distributions() -> None:
    quantile = statistics.NormalDist(0, 1).inv_cdf

    def ends(share: float) -> float:
        return {0: -onp.inf, 1: onp.inf}.get(share) or quantile(share)

    buckets, probs = tu.gen_buckets_probs_with_ppf(ends, 5)
    assert probs == [0.2] * 5
    assert buckets[2] == pytest.approx((-0.2533471, 0.2533471))
    draw = onp.random.RandomState(0)
    values = tu.verify_generator(lambda count: draw.normal(0, 1, count), buckets, probs, 10000)
    assert len(values) == 5
    with pytest.raises(AssertionError, match="does not fit"):
        tu.verify_generator(lambda count: draw.normal(1, 1, count), buckets, probs, 10000)
    tu.verify_generator(lambda count: draw.randint(0, 3, count), [0, 1, 2], [1 / 3] * 3, 9999)
    assert tu.mean_check(lambda count: draw.normal(0, 1, count), 0, 1, 10000)
    assert not tu.mean_check(lambda count: draw.normal(1, 1, count), 0, 1, 10000)
    assert tu.var_check(lambda count: draw.normal(0, 1, count), 1, 10000)
    assert not tu.var_check(lambda count: draw.normal(0, 2, count), 1, 10000)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([30, 70], 6.334248366623988e-05),
        ([25, 25, 25, 25], 1.0),
        ([10, 20, 30, 40], 0.00016974243555282646),
        ([18, 21, 19, 22, 20], 0.9735009788392561),
    ],
)
def test_probability_of_chi_square(counts: list[int], expected: float) -> None:
    samples = onp.repeat(onp.arange(len(counts)), counts)
    kinds = list(range(len(counts)))
    value, seen, wanted = tu.chi_square_check(
        lambda count: samples, kinds, [1 / len(counts)] * len(counts)
    )
    assert seen.tolist() == counts
    assert sum(wanted) == 100
    assert value == pytest.approx(expected, rel=1e-9)


# --- symbols ---


X, Y = sym.Variable("x"), sym.Variable("y")


def test_simple_forward() -> None:
    onp.testing.assert_array_equal(tu.simple_forward(X + Y, x=A, y=A), 2 * A)
    both = tu.simple_forward(sym.Group([X, X * 2]), x=A)
    onp.testing.assert_array_equal(both[1], 2 * A)


def test_structure() -> None:
    assert tu.same_symbol_structure(X * Y, X * Y)
    assert not tu.same_symbol_structure(X * Y, X + Y)


def test_numeric_gradients() -> None:
    tu.check_numeric_gradient(X * Y, [A / 9, A / 7], rtol=1e-2)
    tu.check_numeric_gradient(sym.tanh(X), {"x": A / 9}, numeric_eps=1e-2, rtol=1e-2)
    tu.check_numeric_gradient(X * Y, [A, A], dtype=onp.float64)
    tu.check_numeric_gradient(X * Y, [A, A], grad_nodes=["x"], dtype=onp.float64)
    tu.check_numeric_gradient(X * Y, [A, A], grad_nodes={"x": "add"}, dtype=onp.float64)
    norm = sym.BatchNorm(X, fix_gamma=False, name="bn")
    tu.check_numeric_gradient(
        norm,
        [onp.random.randn(5, 2), onp.ones(2), onp.ones(2)],
        [onp.zeros(2), onp.ones(2)],
        dtype=onp.float64,
        rtol=1e-3,
        atol=1e-5,
    )
    with pytest.raises(ValueError, match="do not match"):
        tu.check_numeric_gradient(X * Y, {"x": A})


def test_wrong_gradient_is_found() -> None:
    """A graph whose gradient is not that of its value."""
    wrong = X * sym.BlockGrad(X)
    with pytest.raises(AssertionError, match="BACKWARD_x"):
        tu.check_numeric_gradient(wrong, [A + 1], dtype=onp.float64)


def test_numeric_grad() -> None:
    run = (X * X).bind(mx.cpu(), {"x": nd.array(A)})
    found = tu.numeric_grad(run, {"x": A.astype("float32")}, eps=1e-2)
    onp.testing.assert_allclose(found["x"], 2 * A, 1e-2, 1e-2)
    onp.testing.assert_array_equal(run.arg_dict["x"].asnumpy(), A)


def test_forward_values() -> None:
    outputs = tu.check_symbolic_forward(X * Y, [A, A], [A * A])
    onp.testing.assert_array_equal(outputs[0].asnumpy(), A * A)
    tu.check_symbolic_forward(sym.identity(X, name="i"), {"x": A}, {"i_output": A})
    tu.check_symbolic_forward(X + 1, [A.astype("int32")], [A + 1], dtype="asnumpy")
    with pytest.raises(AssertionError, match="FORWARD_"):
        tu.check_symbolic_forward(X * Y, [A, A], [A * A + 1])
    with pytest.raises(ValueError, match="do not match"):
        tu.check_symbolic_forward(X * Y, {"x": A, "z": A}, [A])


@pytest.mark.parametrize("request_", ["write", "add", {"x": "add", "y": "null"}, ["write", "null"]])
def test_backward_values(request_: Any) -> None:
    ones = onp.ones_like(A)
    found = tu.check_symbolic_backward(
        X * Y, [A, A + 1], [ones], [A + 1, A], grad_req=request_, dtype=onp.float64, atol=1e-9
    )
    assert set(found) == {"x", "y"}
    with pytest.raises(AssertionError, match="BACKWARD_x"):
        tu.check_symbolic_backward(X * Y, [A, A], [ones], {"x": A + 1}, grad_req=request_)


def test_consistency() -> None:
    net = sym.FullyConnected(X, num_hidden=3, name="fc")
    places = [
        {"ctx": mx.cpu(number), "x": (2, 5), "type_dict": {"x": kind}}
        for number, kind in enumerate((onp.float64, onp.float32))
    ]
    found = tu.check_consistency(net, places)
    assert {name: value.shape for name, value in found.items()} == {
        "fc_output": (2, 3),
        "x": (2, 5),
        "fc_weight": (3, 5),
        "fc_bias": (3,),
    }
    assert found["fc_output"].dtype == "float64"
    with pytest.raises(AssertionError, match=r"fc_output of ctx_list\[1\]"):
        tu.check_consistency(
            [net, sym.FullyConnected(X * 2, num_hidden=3, name="fc")], places, use_uniform=True
        )
    truth = {name: value + 1 for name, value in found.items()}
    with pytest.raises(AssertionError):
        tu.check_consistency(net, places, ground_truth=truth)
    shapes = tu.check_consistency(sym.shape_array(X, name="s"), [places[0]] * 2, grad_req="null")
    assert shapes["s_output"].tolist() == [2, 5]


def test_speed() -> None:
    assert tu.check_speed(X * Y, x=(3, 4), y=(3, 4), N=3) > 0
    assert tu.check_speed(X * Y, {"x": A, "y": A}, N=1, typ="forward") > 0
    with pytest.raises(ValueError, match="typ"):
        tu.check_speed(X, x=(1,), typ="backward")


# --- layers and optimizers ---


def test_hybridized_block() -> None:
    def build(prefix: str) -> Any:
        net = mx.gluon.nn.HybridSequential(prefix=prefix)
        with net.name_scope():
            net.add(mx.gluon.nn.Dense(2, activation="tanh"))
        return net

    tu.check_gluon_hybridize_consistency(build, [nd.array(A)])
    tu.check_gluon_hybridize_consistency(build, [nd.array(A)], test_grad=False)
    with pytest.raises(AssertionError):
        tu.check_gluon_hybridize_consistency(build, [nd.array(A)], numpy_func=lambda x: x[:, :2])


def test_optimizers() -> None:
    def sgd(**options: Any) -> Any:
        return mx.optimizer.SGD(momentum=0.9, **options)

    tu.compare_optimizer(sgd(), sgd(), (3, 4), "float32")
    tu.compare_optimizer(sgd(), sgd(), [(3, 4), (2,)], "float64", ntensors=2)
    with pytest.raises(AssertionError):
        tu.compare_optimizer(sgd(), sgd(learning_rate=0.3), (3, 4), "float32")


# --- files ---


def test_mnist_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for kind, count in (("train", 4), ("t10k", 2)):
        images = struct.pack(">4i", 2051, count, 28, 28) + bytes([51]) * 784 * count
        labels = struct.pack(">2i", 2049, count) + bytes(range(count))
        for name, content in (
            (f"{kind}-images-idx3-ubyte", images),
            (f"{kind}-labels-idx1-ubyte", labels),
        ):
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content))
            (tmp_path / "data" / name).write_bytes(content)
    found = tu.get_mnist()
    assert found["train_data"].shape == (4, 1, 28, 28)
    assert found["train_data"].max() == pytest.approx(0.2)
    assert found["test_label"].tolist() == [0, 1]
    train, test = tu.get_mnist_iterator(2, (784,))
    assert train.provide_data == [("data", (2, 784))]
    assert len(list(test)) == 1


def test_file_that_is_there_is_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("x")
    found = tu.download("http://nowhere.invalid/file.txt", dirname=str(tmp_path))
    assert found == str(tmp_path / "file.txt")


def test_what_cannot_be_had() -> None:
    with pytest.raises(NotImplementedError):
        tu.download_model("resnet")
    with pytest.raises(NotImplementedError):
        tu.get_im2rec_path()
