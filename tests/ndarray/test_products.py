# SPDX-License-Identifier: Apache-2.0
"""Products in all their forms against NumPy, and the rules of MXNet."""

from __future__ import annotations

import random
from typing import Any

import numpy as onp
import pytest
from support import gained

import afterglow as mx
from afterglow import nd, np, npx

TYPES = ("float32", "float64", "float16", "int32", "int64", "int8", "uint8")


def host(*shape: int, dtype: str = "float32") -> onp.ndarray:
    values = onp.random.randint(0, 5, shape) if shape else onp.array(onp.random.randint(0, 5))
    return values.astype(dtype)


def close(found: Any, wanted: Any, tolerance: float = 1e-4) -> None:
    wanted = onp.asarray(wanted)
    assert found.shape == wanted.shape
    assert onp.dtype(found.dtype) == wanted.dtype
    onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=tolerance, atol=tolerance)


# --- stacks of matrices ---


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("front", [nd, npx])
@pytest.mark.parametrize("stack", [(1,), (3,), (2, 3), (0,), (2, 0)])
@pytest.mark.parametrize("transposes", [(False, False), (True, False), (False, True), (True, True)])
def test_batch_dot(
    dtype: str, front: Any, stack: tuple[int, ...], transposes: tuple[bool, bool]
) -> None:
    make = nd.array if front is nd else np.array
    for m, n, k in ((2, 3, 4), (1, 3, 4), (2, 1, 4), (1, 1, 4), (2, 3, 1), (2, 3, 0), (0, 3, 2)):
        a, b = host(*stack, m, k, dtype=dtype), host(*stack, k, n, dtype=dtype)
        given_a = a.swapaxes(-1, -2) if transposes[0] else a
        given_b = b.swapaxes(-1, -2) if transposes[1] else b
        found = front.batch_dot(
            make(given_a, dtype=dtype),
            make(given_b, dtype=dtype),
            transpose_a=transposes[0],
            transpose_b=transposes[1],
        )
        close(found, onp.matmul(a, b))


@pytest.mark.parametrize(("height", "side"), [(700, 8), (64, 32), (7, 200), (2, 500)])
def test_tall_stacks_are_shared_out(height: int, side: int) -> None:
    a = onp.random.rand(height, side, side).astype("float32")
    b = onp.random.rand(height, side, side).astype("float32")
    found = nd.batch_dot(nd.array(a), nd.array(b)) * 2 + 1
    onp.testing.assert_allclose(found.asnumpy(), onp.matmul(a, b) * 2 + 1, rtol=1e-4)


def test_batch_dot_fuses_with_what_follows(everything_fuses: None) -> None:
    a, b = onp.random.rand(4, 5, 6), onp.random.rand(4, 6, 7)
    bias = onp.random.rand(7)
    y = nd.batch_dot(nd.array(a), nd.array(b))
    z = nd.relu(nd.broadcast_add(y, nd.array(bias).reshape((1, 1, 7))) - 1.5)
    total = nd.sum(z, axis=2)
    wanted = onp.maximum(a @ b + bias - 1.5, 0)
    onp.testing.assert_allclose(total.asnumpy(), wanted.sum(2), rtol=1e-4, atol=1e-5)
    onp.testing.assert_allclose(z.asnumpy(), wanted, rtol=1e-4, atol=1e-5)


def test_batch_dot_into_out() -> None:
    a, b = host(3, 2, 2), host(3, 2, 2)
    x = nd.array(a)
    target = nd.zeros((3, 2, 2))
    assert nd.batch_dot(x, nd.array(b), out=target) is target
    close(target, a @ b)
    nd.batch_dot(x, x, out=x)
    close(x, a @ a)


@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 3), (3, 2)), ((1, 2, 4), (3, 4, 5)), ((2, 3, 4), (2, 5, 4)), ((2, 3, 4), (2, 1, 4, 5))],
)
def test_batch_dot_refuses(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="batch_dot"):
        nd.batch_dot(nd.ones(left), nd.ones(right))
    with pytest.raises(mx.MXNetError, match="batch_dot"):
        npx.batch_dot(np.ones(left), np.ones(right))


# --- nd.dot ---


@pytest.mark.parametrize(
    ("left", "right", "transposes", "wanted"),
    [
        ((3,), (3,), {}, "i,i->"),
        ((3,), (3, 2), {}, "i,ij->j"),
        ((2, 3), (3,), {}, "ij,j->i"),
        ((3,), (3, 2), {"transpose_a": True}, "i,ij->j"),
        ((3,), (2, 3), {"transpose_b": True}, "i,ji->j"),
        ((3, 2), (3,), {"transpose_a": True}, "ij,i->j"),
        ((2, 3), (3,), {"transpose_b": True}, "ij,j->i"),
        ((2, 3, 4), (4, 3, 2), {}, "abc,cde->abde"),
        ((4, 2, 3), (4, 3, 2), {"transpose_a": True}, "cab,cde->abde"),
        ((2, 3, 4), (3, 2, 4), {"transpose_b": True}, "abc,dec->abde"),
    ],
)
def test_legacy_dot(
    left: tuple[int, ...], right: tuple[int, ...], transposes: dict[str, bool], wanted: str
) -> None:
    a, b = host(*left), host(*right)
    result = onp.einsum(wanted, a, b)
    close(nd.dot(nd.array(a), nd.array(b), **transposes), result if result.ndim else result[None])


def test_khatri_rao() -> None:
    a, b, c = ([[1, 2], [3, 4]], [[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4]])
    two = nd.khatri_rao(nd.array(a), nd.array(b))
    assert two.asnumpy().tolist() == [[1, 4], [3, 8], [5, 12], [3, 8], [9, 16], [15, 24]]
    three = nd.khatri_rao(nd.array(a), nd.array(b), nd.array(c))
    assert three.asnumpy().tolist() == [
        [row[0] * last[0], row[1] * last[1]] for row in two.asnumpy().tolist() for last in c
    ]
    assert nd.khatri_rao(nd.array(a)).asnumpy().tolist() == a
    with pytest.raises(mx.MXNetError, match="columns"):
        nd.khatri_rao(nd.ones((2, 2)), nd.ones((2, 3)))


# --- np ---

PAIRS = [
    ((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((4, 2, 3), (3,)),
    ((3,), (4, 3, 2)), ((4, 2, 3), (3, 2)), ((2, 3), (4, 3, 5)), ((4, 1, 2, 3), (5, 3, 2)),
    ((1, 2, 3), (4, 3, 2)), ((4, 2, 3), (1, 3, 2)), ((2, 0), (0, 3)), ((0, 2, 3), (3, 3)),
    ((5, 2, 0), (5, 0, 3)), ((1, 3), (2, 3, 1)), ((3, 1, 1, 4), (1, 2, 4, 1)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_matmul(left: tuple[int, ...], right: tuple[int, ...], dtype: str) -> None:
    a, b = host(*left, dtype=dtype), host(*right, dtype=dtype)
    x, y = np.array(a, dtype=dtype), np.array(b, dtype=dtype)
    wanted = onp.matmul(a, b)
    close(np.matmul(x, y), wanted)
    close(x @ y, wanted)
    target = np.zeros(wanted.shape, dtype=dtype)
    assert np.matmul(x, y, out=target) is target
    close(target, wanted)


def test_matmul_in_place_and_refusals() -> None:
    a, b = host(2, 2), host(2, 2)
    x = np.array(a)
    same = x
    x @= np.array(b)
    assert x is same
    close(x, a @ b)
    for left, right in (
        ((2, 3), (2, 3)),
        ((2, 2, 3), (3, 3, 2)),
        ((2, 3), ()),
        ((2, 2), (4, 3, 2)),
    ):
        with pytest.raises(ValueError, match=r"matmul|dot"):
            np.matmul(np.ones(left), np.ones(right))
    with pytest.raises(mx.MXNetError, match="same type"):
        np.matmul(np.ones((2, 2)), np.ones((2, 2), dtype="float64"))
    with pytest.raises(AssertionError):
        np.matmul(np.ones((2, 2)), 2)
    with pytest.raises(ValueError, match="out has shape"):
        np.matmul(np.ones((3,)), np.ones((4, 3, 2)), out=np.zeros((4, 1, 2)))


@pytest.mark.parametrize("dtype", TYPES)
def test_products_of_vectors(dtype: str) -> None:
    a, b, c = host(2, 3, dtype=dtype), host(4, 5, 3, dtype=dtype), host(3, 2, dtype=dtype)
    x, y, z = (np.array(each, dtype=dtype) for each in (a, b, c))
    close(np.inner(x, y), onp.inner(a, b))
    close(np.inner(x[0], y[0, 0]), onp.inner(a[0], b[0, 0]))
    close(np.inner(x, np.array(2, dtype=dtype)), onp.inner(a, onp.array(2, dtype)))
    close(np.vdot(x, z), onp.vdot(a, c))
    close(np.outer(x, z), onp.outer(a, c))
    close(np.outer(np.array(2, dtype=dtype), x[0]), onp.outer(onp.array(2, dtype), a[0]))
    close(np.kron(x, z), onp.kron(a, c))
    close(np.kron(x[0], y), onp.kron(a[0], b))
    close(np.tensordot(x, z, 1), onp.tensordot(a, c, 1))
    with pytest.raises(ValueError, match="inner dimensions"):
        np.vdot(x, y)


@pytest.mark.parametrize(
    ("left", "right", "axes"),
    [
        ((2,), (3,), 0),
        ((2, 3, 4), (4, 3, 5), ([1, 2], [1, 0])),
        ((2, 3), (3, 2), (1, 0)),
        ((2, 3), (2, 3), ((-1,), (-1,))),
        ((2, 3), (2, 3), 2),
        ((2, 3), (2, 3), 0),
        ((4, 3, 2), (5, 2, 4), ((0, 2), (2, 1))),
        ((2, 0), (0, 3), 1),
        ((3, 4, 5, 2), (4, 6, 3), ((1, 0), (0, 2))),
    ],
)
def test_tensordot(left: tuple[int, ...], right: tuple[int, ...], axes: Any) -> None:
    a, b = host(*left), host(*right)
    close(np.tensordot(np.array(a), np.array(b), axes), onp.tensordot(a, b, axes))


@pytest.mark.parametrize(
    "axes", [(), ((0,),), ((0,), (1,)), ((0,), (0, 1)), 3, ((0, 0), (0, 0)), ((5,), (0,))]
)
def test_tensordot_refuses(axes: Any) -> None:
    with pytest.raises(mx.MXNetError):
        np.tensordot(np.ones((2, 3)), np.ones((2, 3)), axes)


@pytest.mark.parametrize("dtype", TYPES)
def test_trace(dtype: str) -> None:
    a = host(3, 4, 5, dtype=dtype)
    x = np.array(a, dtype=dtype)
    for offset in (-3, -1, 0, 1, 2, 6):
        for axes in ((0, 1), (1, 2), (2, 0), (-1, -2)):
            close(np.trace(x, offset, *axes), onp.trace(a, offset, *axes, dtype=dtype))
    close(np.trace(x[0], axis1=1, axis2=0, offset=1), onp.trace(a[0], -1, dtype=dtype))
    target = np.zeros((5,), dtype=dtype)
    assert np.trace(x, out=target) is target
    close(target, onp.trace(a, dtype=dtype))
    for axes in ((0, 0), (0, 3)):
        with pytest.raises(ValueError, match="axis"):
            np.trace(x, 0, *axes)
    with pytest.raises(ValueError, match="two dimensions"):
        np.trace(x[0, 0])


def test_cross() -> None:
    a, b = onp.random.rand(4, 3).astype("float32"), onp.random.rand(4, 3).astype("float32")
    x, y = np.array(a), np.array(b)
    close(np.cross(x, y), onp.cross(a, b))
    close(np.cross(x[0], y), onp.cross(a[0], b))
    close(np.cross(x.T, y.T, axis=0), onp.cross(a.T, b.T, axis=0))
    close(np.cross(x.T, y, axisa=0, axisc=0), onp.cross(a.T, b, axisa=0, axisc=0))
    flat = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    close(np.cross(x[:, :2], y[:, :2]), flat)
    padded = onp.concatenate([b[:, :2], onp.zeros((4, 1), "float32")], axis=1)
    close(np.cross(x, y[:, :2]), onp.cross(a, padded))
    with pytest.raises(ValueError, match="2 or 3"):
        np.cross(np.ones((4,)), np.ones((4,)))


# --- einsum ---

SUMS = [
    ("ii", (3, 3)), ("ii->i", (3, 3)), ("ii->i", (1, 1)), ("ij->ji", (2, 3)), ("ij", (2, 3)),
    ("ji", (2, 3)), ("i,i", (3,), (3,)), ("...j,j", (2, 3), (3,)), ("i...->...", (2, 3)),
    ("ij->", (2, 3)), ("i,j->ij", (2,), (3,)), (" ij , jk -> ik ", (2, 3), (3, 4)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), ("bij,bjk->bik", (2, 2, 3), (2, 3, 4)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)), ("...ij,...jk->...ik", (5, 2, 3), (4, 1, 3, 4)),
    ("ijk,jil->kl", (2, 3, 4), (3, 2, 5)), ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,kj->", (2, 3), (4, 3)), ("i,i->i", (3,), (1,)), ("ij,->ij", (2, 3), ()),
    ("ab,bc", (2, 3), (3, 4)), ("ba,bc", (3, 2), (3, 4)), ("iij->j", (2, 2, 3)), ("...", (2, 3)),
    ("...,...", (2, 3), (3,)), ("ij,ij->i", (4, 3), (4, 3)), ("ij,jk->ki", (2, 3), (3, 4)),
    ("bi,bij,bj->b", (4, 2), (4, 2, 3), (4, 3)), ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("bqhd,bkhd->bhqk", (2, 4, 3, 5), (2, 6, 3, 5)),
    ("bhqk,bkhd->bqhd", (2, 3, 4, 6), (2, 6, 3, 5)), ("ijk,k->ij", (2, 3, 4), (4,)),
    ("abcd,cdef->abef", (2, 3, 4, 2), (4, 2, 3, 2)),
    ("abcd,dcef->abef", (2, 3, 4, 2), (2, 4, 3, 2)), ("ij,jk", (0, 3), (3, 2)),
    ("ij,jk", (2, 0), (0, 3)), ("i,ij,j,k->k", (2,), (2, 3), (3,), (4,)),
    ("a,b,c,d->dcba", (2,), (3,), (4,), (5,)), ("ii,ij->j", (3, 3), (3, 2)),
    ("i...,i...->...", (3, 2, 4), (3, 4)), ("->", ()), (",i", (), (3,)), ("ijij->ij", (2, 3, 2, 3)),
    ("ij,ji->", (2, 3), (3, 2)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("case", SUMS, ids=str)
def test_einsum(case: tuple[Any, ...], dtype: str) -> None:
    subscripts, *shapes = case
    given = [host(*shape, dtype=dtype) for shape in shapes]
    wanted = onp.einsum(subscripts, *given)
    arrays = [np.array(each, dtype=dtype) for each in given]
    found = np.einsum(subscripts, *arrays)
    close(found, wanted, 1e-2 if dtype == "float16" else 1e-5)
    target = np.zeros(wanted.shape, dtype=dtype)
    assert np.einsum(subscripts, *arrays, out=target) is target
    close(target, wanted, 1e-2 if dtype == "float16" else 1e-5)
    found[...] = 7  # what comes out is never the memory of what went in
    for array, each in zip(arrays, given, strict=True):
        assert onp.array_equal(array.asnumpy(), each)


@pytest.mark.parametrize(
    "optimize",
    [True, False, "greedy", ("optimal", 1000), ["einsum_path", (1, 2), (0, 1)]],
)
def test_einsum_paths(optimize: Any) -> None:
    given = [onp.random.rand(*shape) for shape in ((4, 5), (5, 6), (6, 3))]
    wanted = onp.einsum("ij,jk,kl->li", *given)
    arrays = [np.array(each, dtype="float64") for each in given]
    close(np.einsum("ij,jk,kl->li", *arrays, optimize=optimize), wanted, 1e-12)


def test_random_sums() -> None:
    for _ in range(150):
        extents = {letter: random.choice([1, 2, 3]) for letter in "abcde"}
        terms = [
            random.choices("abcde", k=random.randint(0, 4)) for _ in range(random.randint(1, 3))
        ]
        used = sorted(set().union(*terms))
        output = random.sample(used, random.randint(0, len(used)))
        given = [
            host(*(random.choice([extents[letter], extents[letter], 1]) for letter in term))
            for term in terms
        ]
        subscripts = ",".join(map("".join, terms)) + "->" + "".join(output)
        try:
            wanted = onp.einsum(subscripts, *given)
        except ValueError:
            continue  # a diagonal of unequal extents
        found = np.einsum(subscripts, *map(np.array, given))
        onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, err_msg=subscripts)
        assert found.shape == wanted.shape


def test_einsum_with_lists_and_booleans() -> None:
    a, b = host(2, 3), host(3, 4)
    x, y = np.array(a), np.array(b)
    close(np.einsum(x, [0, 1], y, [1, 2], [2, 0]), (a @ b).T)
    close(np.einsum(x, [0, 1], y, [1, 2]), a @ b)
    close(np.einsum(x, [..., 7], y.T, [2, 7]), a @ b)
    truth = onp.array([[True, False], [False, False]])
    for subscripts in ("ij->i", "ij,jk->ik", "ij,ij->i"):
        count = subscripts.count(",") + 1
        found = np.einsum(subscripts, *[np.array(truth, dtype="bool")] * count)
        wanted = onp.einsum(subscripts, *[truth.astype("int64")] * count) != 0
        close(found, wanted)


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk", ((2, 3), (4, 2))), ("ij->k", ((2, 3),)), ("ij->ii", ((2, 3),)), ("i", ((2, 3),)),
        ("ij", ()), ("ij,jk", ((2, 3),)), ("i-j", ((2, 3),)), ("...i...", ((2, 3),)),
        ("...i->i", ((2, 3),)), ("ijk", ((2, 3),)),
    ],
)  # fmt: skip
def test_einsum_refuses(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ValueError, match="einsum"):
        np.einsum(subscripts, *[np.ones(shape) for shape in shapes])


@pytest.mark.parametrize("axes", [(-1, 0), (0, 52), (-(2**31), 256), "ab", 5, (0.5, 1)])
def test_einsum_refuses_numbers_that_are_no_letters(axes: Any) -> None:
    with pytest.raises((mx.error.ArrayTypeError, mx.error.ArrayValueError), match="axes are named"):
        np.einsum(np.ones((3, 3)), axes)


def test_einsum_takes_one_type_and_arrays_only() -> None:
    with pytest.raises(mx.MXNetError, match="same type"):
        np.einsum("ij,jk", np.ones((2, 2)), np.ones((2, 2), dtype="float64"))
    with pytest.raises(AssertionError):
        np.einsum("i", [1, 2])


def test_a_contraction_of_views_copies_nothing() -> None:
    """Heads in the middle, as attention has them: the products read the arrays where they are."""
    q, k = np.ones((2, 40, 3, 16)), np.ones((2, 40, 3, 16))
    before = mx.engine.stats()
    np.einsum("bqhd,bkhd->bhqk", q, k).wait_to_read()
    assert gained(before)["issued"] == 1


def test_khatri_rao_refuses_two_types() -> None:
    x = nd.ones((2, 3))
    with pytest.raises(ValueError, match="same type"):
        nd.khatri_rao(x, x.astype("int32"))
    with pytest.raises(TypeError, match="booleans"):
        nd.khatri_rao(x.astype("bool"), x.astype("bool"))


def test_khatri_rao_needs_a_matrix() -> None:
    with pytest.raises(ValueError, match="at least one matrix"):
        mx.nd.khatri_rao()


def test_tensordot_of_nothing() -> None:
    assert np.tensordot(np.ones((2, 0, 3)), np.ones((3, 2, 4)), 1).shape == (2, 0, 2, 4)
    assert np.tensordot(np.ones((2, 0)), np.ones((0, 3)), 1).asnumpy().tolist() == [[0] * 3] * 2


@pytest.mark.parametrize(
    ("shapes", "axes"),
    [
        (((2, 0, 3), (3, 0, 2)), ((2, 1), (0, 1))),
        (((0, 3, 2), (2, 3, 4)), ((2, 1), (0, 1))),
        (((3, 2, 0), (2, 3, 0)), ((0, 1), (1, 0))),
        (((2, 3, 4), (4, 0)), ((2,), (0,))),
    ],
)
def test_tensordot_without_elements(shapes: Any, axes: Any) -> None:
    a, b = (np.ones(shape) for shape in shapes)
    a.attach_grad()
    with mx.autograd.record():
        result = np.tensordot(a, b, axes)
    result.backward()
    expected = onp.tensordot(onp.ones(shapes[0]), onp.ones(shapes[1]), axes)
    assert result.shape == expected.shape
    assert not result.asnumpy().any()
    assert a.grad.shape == shapes[0]
