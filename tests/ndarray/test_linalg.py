# SPDX-License-Identifier: Apache-2.0
"""``np.linalg`` and ``nd.linalg`` against NumPy and against answers of MXNet 1.9.1.

Factors of decompositions are unique up to signs, so what they multiply to is compared.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as onp
import pytest
from support import raises_at_the_read

import afterglow as mx
from afterglow import nd, np

STACKS = [(), (2,), (2, 3), (0,)]
REAL = ("float32", "float64")


def matrices(*shape: int, dtype: str = "float32") -> onp.ndarray:
    """Return matrices that are far from singular if they are square."""
    values = onp.random.rand(*shape)
    if shape[-1] == shape[-2]:
        values = values + 3 * onp.eye(shape[-1])
    return values.astype(dtype)


def positive(*shape: int, dtype: str = "float32") -> onp.ndarray:
    """Return symmetric positive definite matrices."""
    root = matrices(*shape, dtype=dtype)
    return root @ root.swapaxes(-1, -2)


def close(found: Any, wanted: Any, tolerance: float = 2e-3) -> None:
    wanted = onp.asarray(wanted)
    assert found.shape == wanted.shape
    assert onp.dtype(found.dtype) == wanted.dtype
    onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=tolerance, atol=tolerance)


def test_names_are_those_of_mxnet() -> None:
    assert set(nd.linalg.__all__) == {
        "det", "extractdiag", "extracttrian", "gelqf", "gemm", "gemm2", "inverse", "makediag",
        "maketrian", "potrf", "potri", "slogdet", "sumlogdiag", "syevd", "syrk", "trmm", "trsm",
    }  # fmt: skip
    for name in set(nd.linalg.__all__) - {"syevd"}:
        one, other = getattr(nd, f"linalg_{name}"), getattr(nd.linalg, name)
        assert one is other or one.name == other.name
    assert str(inspect.signature(np.linalg.pinv)).startswith("(a: 'Any', rcond: 'Any' = 1e-15,")


# --- norms ---

ORDERS = [None, "fro", "nuc", onp.inf, -onp.inf, 1, -1, 2, -2]


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_matrix_norms(order: Any, keepdims: bool, dtype: str) -> None:
    a = (onp.arange(24).reshape(2, 3, 4) - 7).astype(dtype)
    x = np.array(a, dtype=dtype)
    close(
        np.linalg.norm(x[0], order, keepdims=keepdims),
        onp.linalg.norm(a[0], order, keepdims=keepdims),
    )
    for axes in ((0, 2), (-1, 0), (1, 2)):
        close(
            np.linalg.norm(x, order, axis=axes, keepdims=keepdims),
            onp.linalg.norm(a, order, axis=axes, keepdims=keepdims),
        )


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("order", [None, onp.inf, -onp.inf, 0, 1, -1, 2, -2, 3, 0.5])
def test_vector_norms(order: Any, keepdims: bool) -> None:
    a = onp.array([[1.0, -2.0, 4.0], [3.0, 5.0, -1.0]], "float32")
    x = np.array(a)
    for axis in (0, 1, -1, (1,)):
        close(
            np.linalg.norm(x, order, axis=axis, keepdims=keepdims),
            onp.linalg.norm(a, order, axis=axis, keepdims=keepdims),
        )
    close(
        np.linalg.norm(x[0], order, keepdims=keepdims),
        onp.linalg.norm(a[0], order, keepdims=keepdims),
    )


def test_norms_as_mxnet_has_them() -> None:
    cube = np.arange(1, 25).reshape((2, 3, 4))
    assert np.linalg.norm(cube).item() == 70
    close(np.linalg.norm(cube, 2), onp.array([25.436838, 65.18856], "float32"))
    close(np.linalg.norm(np.array([-1.0, 0.0, 1.0]), "fro"), onp.float32(1.4142135))
    close(np.linalg.norm(np.array(-2.0)), onp.float32(2))
    assert np.linalg.norm(cube, keepdims=True).shape == (1, 1, 1)


@pytest.mark.parametrize(
    ("order", "axis", "error"),
    [("bad", (0, 1), ValueError), ("bad", 0, ValueError), ("nuc", 0, ValueError),
     (3, (0, 1), ValueError), (None, (0, 1, 2), ValueError), (1, (0, 1, 2), ValueError),
     (1, (0, 0), ValueError), (None, [0, 1], TypeError), (None, 5, ValueError)],
)  # fmt: skip
def test_norms_that_do_not_exist(order: Any, axis: Any, error: type[Exception]) -> None:
    x = np.ones((2, 3, 4))
    for kind in (error, mx.MXNetError):
        with pytest.raises(kind):
            np.linalg.norm(x, order, axis)


# --- one result ---


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize(
    "name", ["det", "inv", "cholesky", "eigvalsh", "cond", "pinv", "matrix_rank"]
)
def test_single_results(name: str, stack: tuple[int, ...], dtype: str) -> None:
    a = positive(*stack, 3, 3, dtype=dtype)
    close(getattr(np.linalg, name)(np.array(a, dtype=dtype)), getattr(onp.linalg, name)(a))


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("stack", STACKS)
def test_legacy_single_results(stack: tuple[int, ...], dtype: str) -> None:
    a = positive(*stack, 3, 3, dtype=dtype)
    x = nd.array(a, dtype=dtype)
    determinant = onp.linalg.det(a)
    close(nd.linalg.det(x), determinant if stack else determinant[None])
    sign, logarithm = nd.linalg.slogdet(x)
    wanted = onp.linalg.slogdet(a)
    close(sign, wanted[0] if stack else wanted[0][None])
    close(logarithm, wanted[1] if stack else wanted[1][None])
    close(nd.linalg.inverse(x), onp.linalg.inv(a))
    lower = onp.linalg.cholesky(a)
    close(nd.linalg.potrf(x), lower)
    close(nd.linalg.potrf(x, lower=False), lower.swapaxes(-1, -2))
    junk = lower + onp.triu(onp.ones_like(lower), 1)
    close(nd.linalg.potri(nd.array(junk, dtype=dtype)), onp.linalg.inv(a))
    flipped = nd.array(junk.swapaxes(-1, -2).copy(), dtype=dtype)
    close(nd.linalg.potri(flipped, lower=False), onp.linalg.inv(a))
    target = nd.zeros(a.shape, dtype=dtype)
    assert nd.linalg.inverse(x, out=target) is target
    close(target, onp.linalg.inv(a))


@pytest.mark.parametrize("rcond", [1e-15, 0.5, "array"])
def test_pinv(rcond: Any) -> None:
    a = onp.random.rand(2, 3, 5).astype("float32")
    limit = onp.array([0.1, 0.6], "float32") if rcond == "array" else rcond
    given = np.array(limit) if rcond == "array" else rcond
    close(np.linalg.pinv(np.array(a), rcond=given), onp.linalg.pinv(a, limit))


@pytest.mark.parametrize("dtype", REAL)
def test_solve(dtype: str) -> None:
    a = matrices(2, 3, 3, dtype=dtype)
    x = np.array(a, dtype=dtype)
    for shape in ((2, 3, 4), (2, 3), (1, 3, 2)):
        b = onp.random.rand(*shape).astype(dtype)
        right = b[..., None] if len(shape) == 2 else b
        wanted = onp.linalg.inv(a) @ right
        close(
            np.linalg.solve(x, np.array(b, dtype=dtype)),
            wanted[..., 0] if len(shape) == 2 else wanted,
        )
    close(np.linalg.solve(x[0], x[1, 0]), onp.linalg.inv(a[0]) @ a[1, 0])
    for shape in ((2, 4), (3, 2), (2, 4, 1), ()):
        with pytest.raises(ValueError, match="solve"):
            np.linalg.solve(x, np.ones(shape, dtype=dtype))


def test_tensor_equations() -> None:
    a = matrices(24, 24, dtype="float64")
    x = np.array(a, dtype="float64")
    cube = x.reshape((4, 6, 8, 3))
    close(np.linalg.tensorinv(cube), onp.linalg.tensorinv(a.reshape(4, 6, 8, 3)))
    flat = x.reshape((24, 8, 3))
    close(np.linalg.tensorinv(flat, ind=1), onp.linalg.tensorinv(a.reshape(24, 8, 3), ind=1))
    for ind in (0, 1):
        with pytest.raises(ValueError, match="tensorinv"):
            np.linalg.tensorinv(cube, ind=ind)
    b = onp.random.rand(6, 4)
    y = np.array(b, dtype="float64")
    close(
        np.linalg.tensorsolve(x.reshape((6, 4, 2, 3, 4)), y),
        onp.linalg.tensorsolve(a.reshape(6, 4, 2, 3, 4), b),
    )
    close(
        np.linalg.tensorsolve(x.reshape((2, 3, 6, 4, 4)), y, axes=(0, 1)),
        onp.linalg.tensorsolve(a.reshape(2, 3, 6, 4, 4), b, axes=(0, 1)),
    )
    with pytest.raises(ValueError, match="tensorsolve"):
        np.linalg.tensorsolve(np.ones((2, 3, 4)), np.ones((2,)))


def test_lstsq() -> None:
    a, b = onp.random.rand(5, 2), onp.random.rand(5)
    found = np.linalg.lstsq(np.array(a, dtype="float64"), np.array(b, dtype="float64"))
    wanted = onp.linalg.lstsq(a, b, rcond=None)
    for one, other in zip(
        (found[0], found[1], found[3]), (wanted[0], wanted[1], wanted[3]), strict=True
    ):
        close(one, other)
    assert found[2] == 2
    assert np.linalg.lstsq(np.ones((3, 3)), np.ones((3, 2)), rcond=0.1)[1].shape == (0,)


# --- several results ---


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2)])
def test_svd_and_qr(shape: tuple[int, int], stack: tuple[int, ...], dtype: str) -> None:
    a = matrices(*stack, *shape, dtype=dtype)
    x = np.array(a, dtype=dtype)
    ut, values, v = np.linalg.svd(x)
    assert (ut.shape, v.shape) == ((*stack, shape[0], min(shape)), (*stack, min(shape), shape[1]))
    close(values, onp.linalg.svd(a, compute_uv=False))
    close(np.matmul(ut * np.expand_dims(values, -2), v), a)
    q, r = np.linalg.qr(x)
    close(np.matmul(q, r), a)
    assert onp.allclose(onp.tril(r.asnumpy(), -1), 0)
    full, _ = np.linalg.qr(x, mode="complete")
    assert full.shape == (*stack, shape[0], shape[0])
    close(np.linalg.qr(x, mode="r"), r.asnumpy())
    with pytest.raises(NotImplementedError):
        np.linalg.qr(x, mode="raw")


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("stack", STACKS)
def test_eigenvalues(stack: tuple[int, ...], dtype: str) -> None:
    a = positive(*stack, 3, 3, dtype=dtype)
    x = np.array(a, dtype=dtype)
    values, vectors = np.linalg.eigh(x)
    close(values, onp.linalg.eigvalsh(a))
    close(np.matmul(vectors * np.expand_dims(values, -2), np.swapaxes(vectors, -1, -2)), a)
    upper = np.array(onp.triu(a), dtype=dtype)
    close(np.linalg.eigvalsh(upper, "U"), onp.linalg.eigvalsh(a))
    close(np.linalg.eigh(upper, UPLO="U")[0], onp.linalg.eigvalsh(a))
    values, vectors = np.linalg.eig(x)
    close(np.matmul(x, vectors), (vectors * np.expand_dims(values, -2)).asnumpy())
    found = np.linalg.eigvals(x)
    onp.testing.assert_allclose(onp.sort(found.asnumpy()), onp.linalg.eigvalsh(a), rtol=1e-3)
    sign, logarithm = np.linalg.slogdet(x)
    close(sign, onp.linalg.slogdet(a)[0])
    close(logarithm, onp.linalg.slogdet(a)[1])
    u, values = nd.linalg.syevd(nd.array(a, dtype=dtype))
    close(values, onp.linalg.eigvalsh(a))
    rows = u.asnumpy()
    rebuilt = (rows.swapaxes(-1, -2) * values.asnumpy()[..., None, :]) @ rows
    onp.testing.assert_allclose(rebuilt, a, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("stack", STACKS)
def test_gelqf(stack: tuple[int, ...]) -> None:
    a = matrices(*stack, 2, 4)
    q, low = nd.linalg.gelqf(nd.array(a))
    assert (q.shape, low.shape) == ((*stack, 2, 4), (*stack, 2, 2))
    onp.testing.assert_allclose(low.asnumpy() @ q.asnumpy(), a, rtol=1e-4, atol=1e-5)
    assert onp.allclose(onp.triu(low.asnumpy(), 1), 0)
    with pytest.raises(ValueError, match="columns"):
        nd.linalg.gelqf(nd.ones((3, 2)))


# --- refusals and late errors ---


@pytest.mark.parametrize("name", ["det", "slogdet", "inv", "cholesky", "eig", "eigh", "eigvals"])
def test_np_refusals(name: str) -> None:
    function = getattr(np.linalg, name)
    for shape in ((2, 3), (3,), ()):
        with pytest.raises(ValueError, match=name):
            function(np.ones(shape))
    with pytest.raises(TypeError, match="float16"):
        function(np.eye(2, dtype="float16"))
    with pytest.raises(AssertionError):
        function([[1.0]])


def test_integers_are_taken_as_float64() -> None:
    x = np.array([[2, 1], [1, 3]], dtype="int32")
    close(np.linalg.eigvalsh(x), onp.linalg.eigvalsh(x.asnumpy()))
    close(np.linalg.solve(x, x), onp.eye(2))
    close(np.linalg.det(x), onp.float64(5))


@raises_at_the_read
@pytest.mark.parametrize(
    "statement",
    [
        lambda: np.linalg.inv(np.ones((2, 2))),
        lambda: np.linalg.solve(np.ones((2, 2)), np.ones((2,))),
        lambda: np.linalg.cholesky(-np.eye(2)),
        lambda: np.linalg.eigvals(np.array([[0.0, -1.0], [1.0, 0.0]])),
        lambda: nd.linalg.inverse(nd.ones((2, 2))),
        lambda: nd.linalg.potrf(-nd.ones((2, 2))),
        lambda: nd.linalg.potri(nd.zeros((2, 2))),
    ],
)
def test_matrices_without_an_answer(statement: Any) -> None:
    for kind in (ValueError, mx.MXNetError):
        later = statement() + 1  # nothing is raised before somebody reads
        with pytest.raises(kind, match=r"test_linalg\.py"):
            later.asnumpy()


def test_legacy_types_and_shapes() -> None:
    for name in set(nd.linalg.__all__) - {"gemm", "gemm2", "trmm", "trsm"}:
        function = getattr(nd.linalg, name)
        for dtype in ("float16", "int32"):
            with pytest.raises(TypeError, match=name):
                function(nd.ones((2, 2), dtype=dtype))
        if name not in ("makediag", "maketrian"):
            with pytest.raises(ValueError, match=name):
                function(nd.ones((3,)))


# --- products ---


def test_gemm() -> None:
    a, b, c = matrices(4, 2, 3), matrices(4, 3, 5), matrices(4, 2, 5)
    x, y, z = nd.array(a), nd.array(b), nd.array(c)
    close(nd.linalg.gemm(x, y, z), a @ b + c)
    close(nd.linalg.gemm(x, y, z, alpha=2.0, beta=3.0), 2 * (a @ b) + 3 * c)
    close(nd.linalg.gemm2(x, y, alpha=0.5), 0.5 * (a @ b))
    turned = nd.transpose(x, (0, 2, 1)), nd.transpose(y, (0, 2, 1))
    close(nd.linalg.gemm2(*turned, transpose_a=True, transpose_b=True), a @ b)
    close(nd.linalg.gemm(*turned, z, True, True), a @ b + c)
    close(nd.linalg.gemm2(x[0], y[0]), a[0] @ b[0])
    target = nd.zeros((4, 2, 5))
    assert nd.linalg.gemm2(x, y, out=target) is target
    close(target, a @ b)
    assert nd.linalg.gemm(x, y, z, out=target) is target
    close(target, a @ b + c)
    for left, right in (((2, 3), (2, 3)), ((1, 2, 3), (4, 3, 2)), ((2, 3), (4, 3, 2))):
        with pytest.raises(ValueError, match=r"gemm2|batch_dot"):
            nd.linalg.gemm2(nd.ones(left), nd.ones(right))
    with pytest.raises(ValueError, match="gemm"):
        nd.linalg.gemm(x, y, z[:1])


def test_gemm_along_another_axis() -> None:
    a, b = nd.arange(1, 25).reshape((2, 4, 3)), nd.arange(1, 25).reshape((3, 4, 2))
    wanted = onp.einsum("ibk,kbj->ibj", a.asnumpy(), b.asnumpy())
    found = nd.linalg.gemm2(a, b, axis=0)
    assert found.asnumpy().ravel()[:6].tolist() == [70, 76, 181, 196, 328, 352]
    close(found, wanted)
    close(nd.linalg.gemm(a, b, nd.ones((2, 4, 2)), axis=-3), wanted + 1)


@pytest.mark.parametrize("stack", STACKS)
def test_syrk(stack: tuple[int, ...]) -> None:
    a = matrices(*stack, 2, 3)
    turned = a.swapaxes(-1, -2)
    close(nd.linalg.syrk(nd.array(a), alpha=0.5), 0.5 * (a @ turned))
    close(nd.linalg.syrk(nd.array(a), transpose=True), turned @ a)


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("rightside", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
def test_triangular(transpose: bool, rightside: bool, lower: bool, stack: tuple[int, ...]) -> None:
    a = matrices(*stack, 3, 3)
    b = matrices(*stack, 2, 3) if rightside else matrices(*stack, 3, 2)
    triangle = onp.tril(a) if lower else onp.triu(a)
    factor = triangle.swapaxes(-1, -2) if transpose else triangle
    options = {"transpose": transpose, "rightside": rightside, "lower": lower, "alpha": 2.0}
    wanted = 2 * (b @ factor if rightside else factor @ b)
    close(nd.linalg.trmm(nd.array(a), nd.array(b), **options), wanted)
    inverse = onp.linalg.inv(factor)
    solution = 2 * (b @ inverse if rightside else inverse @ b)
    close(nd.linalg.trsm(nd.array(a), nd.array(b), **options), solution)


def test_triangular_edges() -> None:
    odd = nd.array([[1, onp.nan], [1, 1]])
    assert nd.linalg.trmm(odd, nd.ones((2, 1))).asnumpy().tolist() == [[1], [2]]
    found = nd.linalg.trsm(nd.zeros((2, 2)), nd.array([[1, 2], [3, 4]])).asnumpy()
    assert onp.isinf(found[0]).all()
    assert onp.isnan(found[1]).all()
    with pytest.raises(ValueError, match="trsm"):
        nd.linalg.trsm(nd.ones((2, 2)), nd.ones((2, 2, 3)))


# --- diagonals and triangles: answers of MXNet ---


@pytest.mark.parametrize(
    ("offset", "diagonal", "lower", "upper"),
    [
        (0, [1, 5, 9], [1, 4, 5, 7, 8, 9], [1, 2, 5, 3, 6, 9]),
        (1, [2, 6], [2, 3, 6], [2, 3, 6]),
        (-1, [4, 8], [4, 7, 8], [4, 7, 8]),
        (2, [3], [3], [3]),
    ],
)
def test_extraction(offset: int, diagonal: Any, lower: Any, upper: Any) -> None:
    x = nd.arange(1, 10).reshape((3, 3))
    assert nd.linalg.extractdiag(x, offset=offset).asnumpy().tolist() == diagonal
    assert nd.linalg.extracttrian(x, offset=offset).asnumpy().tolist() == lower
    assert nd.linalg.extracttrian(x, offset=offset, lower=False).asnumpy().tolist() == upper
    pair = nd.concat(x, x + 1, dim=0).reshape((2, 3, 3))
    plus = [[*diagonal], [each + 1 for each in diagonal]]
    assert nd.linalg.extractdiag(pair, offset=offset).asnumpy().tolist() == plus
    for low in (True, False):
        packed = nd.linalg.extracttrian(pair, offset=offset, lower=low)
        full = nd.linalg.maketrian(packed, offset=offset, lower=low)
        again = nd.linalg.extracttrian(full, offset=offset, lower=low)
        assert again.asnumpy().tolist() == packed.asnumpy().tolist()
        kept = full.asnumpy() != 0
        assert onp.array_equal(full.asnumpy()[kept], pair.asnumpy()[kept])


@pytest.mark.parametrize("offset", [0, 1, -1, 2, -3])
@pytest.mark.parametrize("stack", STACKS)
def test_makediag(offset: int, stack: tuple[int, ...]) -> None:
    a = onp.random.rand(*stack, 2).astype("float32")
    side = 2 + abs(offset)
    wanted = onp.zeros((*stack, side, side), "float32")
    for index in onp.ndindex(*stack):
        wanted[index] = onp.diag(a[index], offset)
    x = nd.array(a)
    close(nd.linalg.makediag(x, offset=offset), wanted)
    target = nd.zeros(wanted.shape)
    assert nd.linalg.makediag(x, offset=offset, out=target) is target
    close(target, wanted)


def test_diagonal_edges() -> None:
    assert nd.linalg.sumlogdiag(nd.array([[1, 5], [5, onp.e]])).asnumpy().round(4).tolist() == [1]
    assert onp.isnan(nd.linalg.sumlogdiag(-nd.ones((2, 2))).asnumpy()).all()
    close(nd.linalg.sumlogdiag(nd.ones((3, 2, 2)) * 2), onp.full(3, 2 * onp.log(2), "float32"))
    for statement in (
        lambda: nd.linalg.extractdiag(nd.ones((3, 3)), offset=3),
        lambda: nd.linalg.extractdiag(nd.ones((2, 3))),
        lambda: nd.linalg.extracttrian(nd.ones((3, 3)), offset=-3),
        lambda: nd.linalg.maketrian(nd.ones((5,))),
        lambda: nd.linalg.sumlogdiag(nd.ones((2, 3))),
    ):
        with pytest.raises(ValueError, match=r"diag|trian"):
            statement()


# --- powers and chains ---


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 6, -1, -3])
@pytest.mark.parametrize("stack", [(), (2,)])
def test_matrix_power(exponent: int, stack: tuple[int, ...]) -> None:
    a = matrices(*stack, 3, 3, dtype="float64")
    x = np.array(a, dtype="float64")
    found = np.linalg.matrix_power(x, exponent)
    close(found, onp.linalg.matrix_power(a, exponent))
    found[...] = 0
    close(x, a)
    if exponent >= 0:
        whole = np.array([[1, 1], [0, 1]], dtype="int32")
        close(np.linalg.matrix_power(whole, exponent), onp.array([[1, exponent], [0, 1]], "int32"))


@pytest.mark.parametrize(
    "shapes",
    [((2, 3), (3, 4)), ((9, 2), (2, 9), (9, 1)), ((3,), (3, 4), (4, 2)), ((2, 3), (3, 4), (4,)),
     ((3,), (3, 4), (4,)), ((4, 9), (9, 2), (2, 7), (7, 3), (3, 5))],
)  # fmt: skip
def test_multi_dot(shapes: Any) -> None:
    given = [onp.random.rand(*shape) for shape in shapes]
    arrays = [np.array(each, dtype="float64") for each in given]
    wanted = onp.linalg.multi_dot(given)
    close(np.linalg.multi_dot(arrays), wanted, 1e-10)
    target = np.zeros(wanted.shape, dtype="float64")
    assert np.linalg.multi_dot(arrays, out=target) is target
    close(target, wanted, 1e-10)
    with pytest.raises(ValueError, match="multi_dot"):
        np.linalg.multi_dot(arrays[:1])


# --- NumPy's own functions on our arrays ---


def test_functions_of_numpy() -> None:
    a = matrices(3, 2)
    x = np.array(a)
    assert isinstance(onp.linalg.inv(x[:2]), np.ndarray)
    u, values, _ = onp.linalg.svd(x)
    assert (type(u), u.shape) == (np.ndarray, (3, 3))
    close(onp.linalg.svd(x, compute_uv=False), values.asnumpy())
    close(onp.trace(x, dtype="float64"), onp.trace(a, dtype="float64"))
    close(onp.einsum("ij,ik->jk", x, x), a.T @ a)


@pytest.mark.parametrize("computed", [True, False])
def test_both_worlds_are_refused_whether_the_inputs_are_there_or_not(computed: bool) -> None:
    old, new = nd.array([[2, 0], [1, 3]]) + 0, np.ones((2, 2)) + 0
    if computed:
        nd.waitall()
    for call in (
        lambda: nd.linalg.trsm(old, new),
        lambda: nd.linalg.trsm(new, old),
        lambda: np.linalg.lstsq(new, old, rcond=None),
    ):
        with pytest.raises(TypeError, match="converts it"):
            call()
