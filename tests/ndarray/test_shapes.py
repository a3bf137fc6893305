# SPDX-License-Identifier: Apache-2.0
"""Shapes, orders, parts and joints: against NumPy and answers recorded from MXNet 1.9.1."""

from __future__ import annotations

import operator
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd, np, npx

both = pytest.mark.parametrize("front", [nd, np], ids=["nd", "np"])
TYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool")


def sample(shape: tuple[int, ...], dtype: str = "float32") -> onp.ndarray[Any, Any]:
    size = int(onp.prod(shape))
    numbers = onp.arange(size) % 2 if dtype == "bool" else onp.arange(size)
    return numbers.reshape(shape).astype(dtype)


def host(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [host(one) for one in value]
    return value.asnumpy() if hasattr(value, "asnumpy") else value


def check(ours: Any, expected: Any) -> None:
    if isinstance(expected, (list, tuple)) and isinstance(ours, (list, tuple)):
        assert len(ours) == len(expected)
        for one, other in zip(ours, expected, strict=True):
            check(one, other)
    elif isinstance(expected, onp.ndarray):
        assert isinstance(ours, nd.NDArray)
        assert onp.dtype(ours.dtype) == expected.dtype
        assert ours.shape == expected.shape
        onp.testing.assert_array_equal(ours.asnumpy(), expected)
    else:
        assert ours == expected


# --- np: what NumPy says ---

# Evaluated with `np` and the arrays of either library.
NUMPY_CALLS = """
np.reshape(x, (4, -1))
np.reshape(x, 24)
np.reshape(z, (3, 0, -1, 2)[:2])
np.ravel(x)
np.expand_dims(x, 0)
np.expand_dims(x, -1)
np.expand_dims(v, (0, 2))
np.squeeze(np.expand_dims(x, (0, 2)))
np.squeeze(np.expand_dims(x, (0, 2)), axis=0)
np.squeeze(np.expand_dims(x, (0, 2)), (0, -3))
np.transpose(x)
np.transpose(x, (1, 0, 2))
np.transpose(x, (-1, 0, 1))
np.swapaxes(x, 0, -1)
np.moveaxis(x, 0, -1)
np.moveaxis(x, (0, 1), (1, 0))
np.moveaxis(x, [2], [0])
np.rollaxis(x, 2)
np.rollaxis(x, 0, 3)
np.rollaxis(x, 1, -1)
np.flip(x)
np.flip(x, 1)
np.flip(x, (0, -1))
np.flip(z)
np.flip(s)
np.fliplr(m)
np.flipud(v)
np.rot90(m)
np.rot90(m, 2)
np.rot90(m, 3)
np.rot90(m, -1)
np.rot90(m, 4)
np.rot90(x, 1, (2, 0))
np.roll(v, 1)
np.roll(v, -7)
np.roll(m, 2)
np.roll(m, 1, axis=1)
np.roll(m, (1, 2), axis=(0, 1))
np.roll(m, 1, axis=(0, 1))
np.roll(m, (1, 1), axis=(1, 1))
np.roll(z, 1, axis=0)
np.roll(v, 0)
np.roll(v, 3, axis=0)
np.tile(v, 2)
np.tile(m, (2, 1))
np.tile(m, (2, 1, 2))
np.tile(x, (1, 2))
np.tile(m, ())
np.tile(m, (0, 1))
np.tile(s, (2, 2))
np.tile(z, 2)
np.repeat(m, 2)
np.repeat(m, 2, 1)
np.repeat(m, 3, axis=-2)
np.repeat(m, 0)
np.repeat(m, [1, 2], axis=0)
np.repeat(v, (1, 0, 2))
np.repeat(m, [2], axis=1)
np.repeat(s, 3)
np.repeat(z, 2, axis=1)
np.broadcast_to(v, (2, 2, 3))
np.broadcast_to(s, (2, 2))
np.broadcast_to(z, (3, 0, 3))
list(np.broadcast_arrays(v, m, s))
np.atleast_1d(s)
np.atleast_1d(v, s)
np.atleast_2d(s)
np.atleast_2d(v, m)
np.atleast_3d(s, v, m)
np.atleast_3d(x)
np.resize(m, (3, 3))
np.resize(m, 4)
np.resize(m, (0,))
np.resize(m, (2, 3))
np.resize(z, (2, 2))
np.pad(v, 1)
np.pad(v, (1, 2))
np.pad(m, ((1, 0), (0, 2)))
np.pad(m, 1, constant_values=1)
np.pad(m, ((1, 2), (2, 1)), 'constant', constant_values=((1, 0), (0, 1)))
np.pad(z, ((1, 0), (2, 1)))
np.pad(m, ((1, 2), (1, 2)), mode='edge')
np.pad(x, ((0, 0), (2, 0), (0, 3)), 'edge')
np.pad(m, ((1, 1), (1, 2)), mode='reflect')
np.pad(v, (5, 6), mode='reflect')
np.pad(m, ((3, 4), (5, 5)), mode='reflect')
np.pad(v[:1], (2, 1), mode='reflect')
np.pad(v, (5, 7), mode='symmetric')
np.pad(m, ((3, 1), (1, 4)), mode='symmetric', reflect_type='even')
np.pad(v, (4, 5), mode='wrap')
np.pad(m, ((3, 1), (1, 4)), mode='wrap')
np.pad(m, ((0, 0), (0, 0)), mode='edge')
np.concatenate([m, m])
np.concatenate((m, m), axis=-1)
np.concatenate([m, v], axis=None)
np.concatenate([z, z], axis=1)
np.stack([m, m])
np.stack([m, m, m], axis=-1)
np.stack([s, s])
np.vstack([v, v])
np.vstack((m, v))
np.hstack([v, v])
np.hstack([m, m])
np.hstack([s, v])
np.dstack([v, v])
np.dstack([m, m])
np.dstack([x, x])
np.column_stack([v, v])
np.column_stack([v[:2], m])
np.split(m, 2)
np.split(m, 1)
np.split(m, [1], axis=1)
np.split(m, (1, 2), axis=-1)
np.split(v, [2, 1, 5])
np.split(v, [-1])
np.split(v, [])
np.array_split(v, 2)
np.array_split(v, 5)
np.array_split(x, 3, axis=2)
np.array_split(m, [1], axis=1)
np.hsplit(m, 3)
np.hsplit(v, 3)
np.vsplit(m, 2)
np.dsplit(x, [1, 3])
np.shape(x)
np.ndim(x)
np.size(x)
np.size(x, 1)
np.size(x, -1)
np.shape([[1, 2]])
np.size(3)
np.ndim([1])
""".strip().splitlines()


def arguments(dtype: str) -> dict[str, Any]:
    return {
        "x": sample((2, 3, 4), dtype),
        "m": sample((2, 3), dtype),
        "v": sample((3,), dtype),
        "s": sample((), dtype),
        "z": sample((0, 3), dtype),
    }


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
@pytest.mark.parametrize("call", NUMPY_CALLS)
def test_np_answers_as_numpy(call: str, dtype: str) -> None:
    hosts = arguments(dtype)
    ours = eval(call, {"np": np, **{name: np.array(value) for name, value in hosts.items()}})
    check(ours, eval(call, {"np": onp, **hosts}))


@pytest.mark.parametrize("mode", ["maximum", "minimum"])
def test_pad_by_extremes(mode: Any) -> None:
    x = onp.random.RandomState(1).rand(3, 4, 2).astype("float32")
    widths = ((1, 2), (0, 3), (2, 0))
    check(np.pad(np.array(x), widths, mode=mode), onp.pad(x, widths, mode=mode))


@pytest.mark.parametrize("dtype", TYPES)
@both
def test_every_type(front: Any, dtype: str) -> None:
    x = sample((2, 3), dtype)
    a = front.array(x, dtype=dtype)
    check(front.flip(a, axis=1), onp.flip(x, 1))
    check(front.tile(a, (2, 2)), onp.tile(x, (2, 2)))
    check(front.repeat(a, 2, axis=1), onp.repeat(x, 2, 1))
    check(front.transpose(a), x.T.copy())
    check(front.diag(a), onp.diag(x))
    check(front.split(a, 3, axis=1), onp.split(x, 3, 1))
    check(front.stack(*((a, a) if front is nd else ([a, a],))), onp.stack([x, x]))


def test_number_arguments_may_be_arrays_of_numpy() -> None:
    x = np.arange(6).reshape(2, 3)
    check(np.tile(x, onp.array([1, 2])), onp.tile(x.asnumpy(), (1, 2)))
    check(np.roll(x, onp.int64(1)), onp.roll(x.asnumpy(), 1))
    check(np.split(x, [onp.int64(1)]), onp.split(x.asnumpy(), [1]))
    check(np.split(x, onp.int64(3), 1), onp.split(x.asnumpy(), 3, 1))
    check(np.array_split(x, onp.array([1]), 1), onp.array_split(x.asnumpy(), [1], 1))


def test_host_arrays_are_taken() -> None:
    x = sample((2, 3))
    for call in (np.flip, np.rot90, np.ravel, np.fliplr, np.transpose, np.atleast_3d):
        check(call(x), getattr(onp, call.__name__)(x))
    check(np.roll(x, 1), onp.roll(x, 1))
    check(np.pad(x, 1), onp.pad(x, 1))
    check(np.tile(3, 2).tolist(), [3, 3])


# --- nd: what MXNet 1.9.1 said ---


def legacy(shape: tuple[int, ...]) -> Any:
    return nd.array(sample(shape))


@pytest.mark.parametrize(
    ("shape", "wanted", "reverse", "expected"),
    [
        ((2, 3, 4), (0, -1), False, (2, 12)),
        ((2, 3, 4), (-3, 0), False, (6, 4)),
        ((2, 3, 4), (-2, 1), False, (2, 3, 4, 1)),
        ((2, 3, 4), (-2, 1, 1), False, (2, 3, 4, 1, 1)),
        ((2, 3, 4), (2, -2), False, (2, 3, 4)),
        ((2, 3, 4), (-4, 1, 2, -2), False, (1, 2, 3, 4)),
        ((2, 3, 4), (0, -4, -1, 3, 0), False, (2, 1, 3, 4)),
        ((2, 3, 4), (-1, 0, 0), False, (2, 3, 4)),
        ((2, 3, 4), (0, 0, 0, -1), False, (2, 3, 4, 1)),
        ((2, 3, 4), (-4, -1, 1, -3), False, (2, 1, 12)),
        ((2, 3, 4), 24, False, (24,)),
        ((8, 3, 3, 3, 4, 4), (-4, 2, -1, -3, -2), False, (2, 4, 9, 3, 4, 4)),
        ((2, 3, 4, 5), (-3, -3), False, (6, 20)),
        ((2, 3, 4), (-1, 0), True, (6, 4)),
        ((2, 3, 4), (0, -3), True, (2, 12)),
        ((10, 5, 4), (-1, 0), False, (40, 5)),
        ((10, 5, 4), (-1, 0), True, (50, 4)),
        ((2, 3, 4), (-2, 2, 2, -4), True, (2, 3, 2, 2)),
    ],
)
def test_reshape_codes(shape: Any, wanted: Any, reverse: bool, expected: tuple[int, ...]) -> None:
    x = legacy(shape)
    for result in (
        nd.reshape(x, shape=wanted, reverse=reverse),
        nd.Reshape(x, wanted, reverse),
        x.reshape(wanted, reverse=reverse),
        x.reshape(shape=wanted, reverse=reverse),
    ):
        check(result, x.asnumpy().reshape(expected))


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ((2, 3, 4), (0, 0, 0, 0)),
        ((2, 3, 4), (-1, -1)),
        ((2, 3, 4), (5, 5)),
        ((2, 3, 4), (-5,)),
        ((8, 3), (0, -4, -1, 2)),
        ((2, 3, 4), (-4, 2)),
        ((2, 3, 4), (-3, -3)),
    ],
)
def test_reshape_refuses(shape: Any, wanted: Any) -> None:
    with pytest.raises(mx.MXNetError, match=r"(?i)reshape"):
        nd.reshape(legacy(shape), shape=wanted)
    with pytest.raises(ValueError, match=r"(?i)reshape"):
        legacy(shape).reshape(wanted)


def test_reshape_older_form() -> None:
    x = legacy((2, 3, 4))
    assert nd.reshape(x, target_shape=(2, 0)).shape == (2, 12)
    assert nd.reshape(x, target_shape=(0, 12), keep_highest=True).shape == (2, 12)
    for call in (lambda: nd.reshape(x), lambda: x.reshape()):
        with pytest.raises(AssertionError, match="Shape must be provided"):
            call()


@pytest.mark.parametrize(
    ("shape", "wanted", "reverse", "expected"),
    [
        ((2, 3, 4), (-2, -1), False, (2, 12)),
        ((2, 3, 4), (-5, -2), False, (6, 4)),
        ((2, 3, 4), (-5, -1), False, (6, 4)),
        ((2, 3, 4), (-4,), False, (2, 3, 4)),
        ((2, 3, 4), (-6, 1, 2, -4), False, (1, 2, 3, 4)),
        ((1, 3, 4), (-3, -4), False, (3, 4)),
        ((8, 3, 3, 3, 4, 4), (-6, 2, -1, -4), False, (2, 4, 3, 3, 3, 4, 4)),
        ((8, 3, 3, 3, 4, 4), (-5, -4), False, (24, 3, 3, 4, 4)),
        ((8, 3, 3, 3, 4, 4), (-2, -2, -5, -5), False, (8, 3, 9, 16)),
        ((8, 3, 1, 3, 4, 4), (-2, -2, -3, -4), False, (8, 3, 3, 4, 4)),
        ((2, 3, 1, 4), (-5, -3, -2), False, (6, 4)),
        ((8, 3, 3, 3, 4, 8), (-4, -1, 2, -6), True, (8, 3, 3, 3, 4, 4, 2)),
        ((2, 3, 4), (-4, 2, 2, -6), True, (2, 3, 2, 2)),
        ((2, 3, 4), (-2, -2, -2, 1), False, (2, 3, 4, 1)),
        ((2, 3, 4), -1, False, (24,)),
        ((0, 3), (0, 5), False, (0, 5)),
    ],
)
def test_npx_reshape_codes(
    shape: Any, wanted: Any, reverse: bool, expected: tuple[int, ...]
) -> None:
    x = np.array(sample(shape))
    check(npx.reshape(x, wanted, reverse), x.asnumpy().reshape(expected))


@pytest.mark.parametrize(
    "wanted", [(-2, -2, -2, -2), (-7,), (5, 5), (-2, -3, -2), (-1, -1), (-6, 2), (-6, 2, 2, -4)]
)
def test_npx_reshape_refuses(wanted: Any) -> None:
    with pytest.raises(mx.MXNetError, match=r"(?i)reshape"):
        npx.reshape(np.zeros((2, 3, 4)), wanted)


@pytest.mark.parametrize("call", [nd.reshape_like, npx.reshape_like], ids=["nd", "npx"])
def test_reshape_like(call: Any) -> None:
    front = nd if call is nd.reshape_like else np
    zeros = front.zeros
    assert call(zeros((6,)), zeros((2, 3))).shape == (2, 3)
    bounds = {"lhs_begin": 0, "lhs_end": 1, "rhs_begin": 0, "rhs_end": 2}
    assert call(zeros((30, 7)), zeros((15, 2, 4)), **bounds).shape == (15, 2, 7)
    tail = {"lhs_begin": -1, "lhs_end": None, "rhs_begin": 1, "rhs_end": None}
    assert call(zeros((30, 12)), zeros((4, 2, 2, 3)), **tail).shape == (30, 2, 2, 3)
    last = {"lhs_begin": 0, "lhs_end": -1, "rhs_begin": 0, "rhs_end": -1}
    assert call(zeros((30, 7)), zeros((15, 2, 7)), **last).shape == (15, 2, 7)
    for wrong in ({}, {"lhs_end": 1, "rhs_end": 1}, {"lhs_begin": 0, "lhs_end": 5, "rhs_end": 2}):
        with pytest.raises(mx.MXNetError, match="reshape_like"):
            call(zeros((30, 7)), zeros((15, 2, 4)), **wrong)


LEGACY_CALLS: list[tuple[Any, Any]] = [
    (lambda x, m, v: nd.flatten(x), lambda x, m, v: x.reshape(2, 12)),
    (lambda x, m, v: nd.Flatten(v), lambda x, m, v: v.reshape(3, 1)),
    (lambda x, m, v: v.flatten(), lambda x, m, v: v.reshape(3, 1)),
    (lambda x, m, v: nd.identity(x), lambda x, m, v: x),
    (lambda x, m, v: nd.expand_dims(m, -1), lambda x, m, v: m[..., None]),
    (lambda x, m, v: nd.squeeze(m.reshape((1, 2, 1, 3)), axis=(0, -2)), lambda x, m, v: m),
    (lambda x, m, v: nd.squeeze(nd.ones((1, 1))), lambda x, m, v: onp.ones(1, "float32")),
    (lambda x, m, v: nd.transpose(x, axes=(1, 0, 2)), lambda x, m, v: x.transpose(1, 0, 2)),
    (lambda x, m, v: nd.transpose(x, axes=()), lambda x, m, v: x.T),
    (lambda x, m, v: x.transpose((2, 0, 1)), lambda x, m, v: x.transpose(2, 0, 1)),
    (lambda x, m, v: nd.swapaxes(x, 0, 2), lambda x, m, v: x.swapaxes(0, 2)),
    (lambda x, m, v: nd.SwapAxis(x, dim1=0, dim2=-1), lambda x, m, v: x.swapaxes(0, 2)),
    (lambda x, m, v: nd.swapaxes(m), lambda x, m, v: m),
    (lambda x, m, v: nd.moveaxis(x, 0, 2), lambda x, m, v: onp.moveaxis(x, 0, 2)),
    (lambda x, m, v: nd.moveaxis(x, [0, 1], [1, 0]), lambda x, m, v: x.swapaxes(0, 1)),
    (lambda x, m, v: nd.flip(m, axis=1), lambda x, m, v: m[:, ::-1]),
    (lambda x, m, v: nd.reverse(x, axis=(0, 2)), lambda x, m, v: x[::-1, :, ::-1]),
    (lambda x, m, v: m.flip(axis=0), lambda x, m, v: m[::-1]),
    (lambda x, m, v: nd.tile(m, reps=(2, 1, 2)), lambda x, m, v: onp.tile(m, (2, 1, 2))),
    (lambda x, m, v: nd.tile(m, reps=2), lambda x, m, v: onp.tile(m, 2)),
    (lambda x, m, v: m.tile((2, 2)), lambda x, m, v: onp.tile(m, (2, 2))),
    (lambda x, m, v: m.tile(reps=()), lambda x, m, v: m),
    (lambda x, m, v: nd.repeat(m, 2), lambda x, m, v: onp.repeat(m, 2)),
    (lambda x, m, v: nd.repeat(m, repeats=2, axis=-1), lambda x, m, v: onp.repeat(m, 2, 1)),
    (lambda x, m, v: m.repeat(3, axis=0), lambda x, m, v: onp.repeat(m, 3, 0)),
    (lambda x, m, v: nd.repeat(m, 0), lambda x, m, v: m.ravel()[:0]),
    (lambda x, m, v: nd.broadcast_to(m[:1], (4, 0)), lambda x, m, v: onp.tile(m[:1], (4, 1))),
    (
        lambda x, m, v: nd.broadcast_axis(m[:1].reshape((1, 3, 1)), axis=(0, 2), size=(2, 4)),
        lambda x, m, v: onp.broadcast_to(m[:1].reshape(1, 3, 1), (2, 3, 4)),
    ),
    (lambda x, m, v: m[:1].broadcast_axes(axis=0, size=2), lambda x, m, v: m[[0, 0]]),
    (lambda x, m, v: nd.broadcast_axis(m), lambda x, m, v: m),
    (lambda x, m, v: nd.broadcast_like(m[:1], m), lambda x, m, v: m[[0, 0]]),
    (
        lambda x, m, v: nd.broadcast_like(m[:1], x, lhs_axes=(-2,), rhs_axes=(-1,)),
        lambda x, m, v: onp.tile(m[:1], (4, 1)),
    ),
    (lambda x, m, v: nd.concat(m, m, dim=0), lambda x, m, v: onp.concatenate([m, m])),
    (lambda x, m, v: nd.concat(m, m, num_args=2), lambda x, m, v: onp.concatenate([m, m], 1)),
    (lambda x, m, v: nd.Concat(x, x, dim=-1), lambda x, m, v: onp.concatenate([x, x], -1)),
    (lambda x, m, v: nd.concatenate([m, m], axis=1), lambda x, m, v: onp.concatenate([m, m], 1)),
    (lambda x, m, v: nd.stack(m, m, axis=-1), lambda x, m, v: onp.stack([m, m], -1)),
    (lambda x, m, v: nd.stack(v), lambda x, m, v: v[None]),
    (lambda x, m, v: nd.split(x, num_outputs=3), lambda x, m, v: onp.split(x, 3, 1)),
    (lambda x, m, v: nd.split(x, 2, axis=0), lambda x, m, v: onp.split(x, 2, 0)),
    (lambda x, m, v: nd.split(x, 2, axis=0, squeeze_axis=True), lambda x, m, v: list(x)),
    (lambda x, m, v: nd.SliceChannel(m, 1, axis=0), lambda x, m, v: m),
    (lambda x, m, v: nd.split(m, 3, axis=-1), lambda x, m, v: onp.split(m, 3, 1)),
    (lambda x, m, v: x.split(num_outputs=4, axis=2), lambda x, m, v: onp.split(x, 4, 2)),
    (lambda x, m, v: nd.split_v2(m, 2), lambda x, m, v: onp.split(m, 2)),
    (lambda x, m, v: nd.split_v2(m, (0, 1, 2), axis=1), lambda x, m, v: onp.split(m, (0, 1, 2), 1)),
    (lambda x, m, v: m.split_v2(2, squeeze_axis=True), lambda x, m, v: list(m)),
    (lambda x, m, v: nd.slice(x, begin=(0, 1), end=(2, 3)), lambda x, m, v: x[:, 1:3]),
    (lambda x, m, v: nd.slice(m, begin=1, end=2), lambda x, m, v: m[1:2]),
    (
        lambda x, m, v: nd.slice(x, (None, 2, None), (None, 0, None), (1, -1, 3)),
        lambda x, m, v: x[:, 2:0:-1, ::3],
    ),
    (lambda x, m, v: nd.slice(m, (-2, -2), (None, None), ()), lambda x, m, v: m[:, -2:]),
    (lambda x, m, v: nd.crop(m, begin=(0, 0), end=(10, 1)), lambda x, m, v: m[:, :1]),
    (lambda x, m, v: nd.slice(m, begin=(1,), end=(0,)), lambda x, m, v: m[1:0]),
    (lambda x, m, v: x.slice_axis(axis=-1, begin=-3, end=None), lambda x, m, v: x[..., 1:]),
    (lambda x, m, v: nd.slice_axis(x, 1, 1, 3), lambda x, m, v: x[:, 1:3]),
    (lambda x, m, v: nd.slice_like(x, nd.zeros((1, 2, 3))), lambda x, m, v: x[:1, :2, :3]),
    (lambda x, m, v: nd.slice_like(x, m, axes=(0, 1)), lambda x, m, v: x),
    (lambda x, m, v: x.slice_like(nd.zeros((9, 9, 2)), axes=(-1,)), lambda x, m, v: x[..., :2]),
    (lambda x, m, v: nd.diag(v), lambda x, m, v: onp.diag(v)),
    (lambda x, m, v: nd.diag(v, k=-2), lambda x, m, v: onp.diag(v, -2)),
    (lambda x, m, v: nd.diag(m, k=1), lambda x, m, v: onp.diag(m, 1)),
    (lambda x, m, v: nd.diag(m, k=3), lambda x, m, v: onp.diag(m, 3)),
    (lambda x, m, v: m.diag(-1), lambda x, m, v: onp.diag(m, -1)),
    (lambda x, m, v: nd.diag(x), lambda x, m, v: onp.diagonal(x)),
    (lambda x, m, v: nd.diag(x, k=1, axis1=-1, axis2=0), lambda x, m, v: onp.diagonal(x, 1, -1, 0)),
    (lambda x, m, v: nd.shape_array(x), lambda x, m, v: onp.array([2, 3, 4])),
    (lambda x, m, v: x.size_array(), lambda x, m, v: onp.array([24])),
    (
        lambda x, m, v: nd.Crop(x.reshape((1, 2, 3, 4)), h_w=(2, 2), offset=(1, 1)),
        lambda x, m, v: x[None, :, 1:3, 1:3],
    ),
    (
        lambda x, m, v: nd.Crop(x.reshape((1, 2, 3, 4)), nd.ones((1, 1, 1, 2)), center_crop=True),
        lambda x, m, v: x[None, :, 1:2, 1:3],
    ),
]


@pytest.mark.parametrize("number", range(len(LEGACY_CALLS)))
def test_nd_calls(number: int) -> None:
    hosts = sample((2, 3, 4)), sample((2, 3)), sample((3,))
    ours, expected = LEGACY_CALLS[number]
    check(ours(*map(nd.array, hosts)), host(expected(*hosts)))


def test_depth_and_space() -> None:
    x = nd.arange(24).reshape((1, 4, 2, 3))
    spread = nd.depth_to_space(x, 2)
    assert spread.asnumpy()[0, 0].tolist() == [
        [0, 6, 1, 7, 2, 8],
        [12, 18, 13, 19, 14, 20],
        [3, 9, 4, 10, 5, 11],
        [15, 21, 16, 22, 17, 23],
    ]
    check(spread.space_to_depth(block_size=2), x.asnumpy())
    y = nd.arange(48).reshape((2, 8, 1, 3))
    check(nd.space_to_depth(y.depth_to_space(2), 2), y.asnumpy())
    for call, shape, block in (
        (nd.depth_to_space, (1, 3, 2, 3), 2),
        (nd.space_to_depth, (1, 3, 3, 4), 2),
        (nd.depth_to_space, (2, 3), 2),
        (nd.depth_to_space, (1, 4, 2, 3), 0),
    ):
        with pytest.raises(mx.MXNetError, match=call.__name__):
            call(nd.zeros(shape), block)


@pytest.mark.parametrize("shape", [(2, 1, 3, 4), (1, 2, 3, 2, 4)])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_nd_pad(mode: Any, shape: tuple[int, ...]) -> None:
    x = legacy(shape)
    pairs = [(0, 0), (0, 0), (1, 2), (1, 0), (0, 3)][: len(shape)]
    widths = tuple(width for pair in pairs for width in pair)
    keywords = {"constant_values": 7} if mode == "constant" else {}
    expected = onp.pad(x.asnumpy(), pairs, mode=mode, **keywords)
    check(nd.pad(x, mode=mode, pad_width=widths, constant_value=7), expected)
    check(x.pad(mode, widths, constant_value=7), expected)
    check(nd.Pad(x, mode, widths, 7), expected)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda x: nd.pad(x, mode="wrong", pad_width=(0,) * 4), ValueError),
        (lambda x: nd.pad(x, mode="edge", pad_width=(0,) * 3), ValueError),
        (lambda x: nd.pad(x, mode="edge", pad_width=(-1, 0, 0, 0)), ValueError),
        (lambda x: nd.flip(x, axis=2), ValueError),
        (lambda x: nd.tile(x, reps=(-1,)), ValueError),
        (lambda x: nd.repeat(x, -1), ValueError),
        (lambda x: nd.repeat(x, (1, 2), axis=0), TypeError),
        (lambda x: nd.repeat(x, 2, axis=2), ValueError),
        (lambda x: nd.split(x, 2, axis=1), ValueError),
        (lambda x: nd.split_v2(x, 2, axis=1), ValueError),
        (lambda x: nd.split_v2(x, "a"), ValueError),
        (lambda x: nd.slice(x, begin=(0, 0), end=(1,)), ValueError),
        (lambda x: nd.slice(x, begin=(0,), end=(2,), step=(0,)), ValueError),
        (lambda x: nd.slice(x, begin=(0, 0, 0), end=(1, 1, 1)), IndexError),
        (lambda x: nd.slice(x, begin=("a",), end=(1,)), TypeError),
        (lambda x: nd.slice_axis(x, axis=0, begin=2, end=1), ValueError),
        (lambda x: nd.slice_axis(x, axis=0, begin=1, end=10), ValueError),
        (lambda x: nd.slice_axis(x, axis=0, begin=0, end=2.0), TypeError),
        (lambda x: nd.slice_axis(x, axis=0, begin=10**400, end=2), mx.MXNetError),
        (lambda x: nd.slice_like(x, nd.zeros((2, 3, 5))), ValueError),
        (lambda x: nd.slice_like(x, nd.zeros((5, 3))), ValueError),
        (lambda x: nd.moveaxis(x, 5, 0), ValueError),
        (lambda x: nd.moveaxis(x, (0,), (1, 0)), ValueError),
        (lambda x: nd.transpose(x, axes=(0,)), ValueError),
        (lambda x: nd.swapaxes(x, 0, 3), ValueError),
        (lambda x: nd.squeeze(x, axis=0), ValueError),
        (lambda x: nd.expand_dims(x, 4), ValueError),
        (lambda x: nd.diag(x, axis1=0, axis2=0), ValueError),
        (lambda x: nd.broadcast_axis(x, axis=1, size=4), ValueError),
        (lambda x: nd.broadcast_axis(x, axis=(0, 1), size=4), ValueError),
        (lambda x: nd.broadcast_to(x, shape=(2, 4)), ValueError),
        (lambda x: nd.concat(x, nd.zeros((3,)), dim=0), ValueError),
        (lambda x: nd.concat(), ValueError),
        (lambda x: nd.concat(x, x.astype("int32")), mx.MXNetError),
        (lambda x: nd.stack(x, nd.zeros((3,))), ValueError),
        (lambda x: nd.stack(), ValueError),
        (lambda x: nd.Crop(x, h_w=(1, 1)), ValueError),
        (lambda x: nd.Crop(nd.zeros((1, 1, 2, 2)), h_w=(3, 1)), ValueError),
        (lambda x: nd.flip([1, 2], axis=0), AssertionError),
        (lambda x: nd.tile(3, reps=2), AssertionError),
    ],
)
def test_nd_refuses(call: Any, kind: type[Exception]) -> None:
    for expected in (kind, mx.MXNetError):
        with pytest.raises(expected):
            call(legacy((2, 3)))


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda x: np.flip(x, 3), ValueError),
        (lambda x: np.fliplr(x[0]), ValueError),
        (lambda x: np.rot90(x, axes=(0, 0)), ValueError),
        (lambda x: np.rot90(x[0]), ValueError),
        (lambda x: np.roll(x, 1, axis=2), ValueError),
        (lambda x: np.roll(x, (1, 2, 3), axis=(0, 1)), ValueError),
        (lambda x: np.moveaxis(x, 0, 3), ValueError),
        (lambda x: np.moveaxis(x, (0, 0), (1, 0)), ValueError),
        (lambda x: np.moveaxis(x, (0, 1), (1,)), ValueError),
        (lambda x: np.expand_dims(x, 4), ValueError),
        (lambda x: np.expand_dims(x, (0, 0)), ValueError),
        (lambda x: np.squeeze(x, 0), ValueError),
        (lambda x: np.transpose(x, (1,)), ValueError),
        (lambda x: np.reshape(x, (5, 5)), ValueError),
        (lambda x: np.reshape(x, (0, -1)), ValueError),
        (lambda x: np.reshape(x, (-2,)), ValueError),
        (lambda x: np.ravel(x, "F"), NotImplementedError),
        (lambda x: x.flatten("F"), NotImplementedError),
        (lambda x: np.split(x, 2, axis=1), ValueError),
        (lambda x: np.split(x, 0), ValueError),
        (lambda x: np.split(x, 3, axis=5), ValueError),
        (lambda x: np.split(x, "ab"), ValueError),
        (lambda x: np.array_split(x, 0), ValueError),
        (lambda x: np.vsplit(x[0], 3), ValueError),
        (lambda x: np.dsplit(x, 2), ValueError),
        (lambda x: np.hsplit(np.array(1.0), 1), ValueError),
        (lambda x: np.repeat(x, [1, 2, 3], axis=0), ValueError),
        (lambda x: np.repeat(x, [1, -1], axis=0), ValueError),
        (lambda x: np.repeat(3, 2), AssertionError),
        (lambda x: np.pad(x), TypeError),
        (lambda x: np.pad(x, ((1.5, 1), (0, 0))), TypeError),
        (lambda x: np.pad(x, -1), ValueError),
        (lambda x: np.pad(x, ((1, 2),) * 3), ValueError),
        (lambda x: np.pad(x, 1, mode="mean"), NotImplementedError),
        (lambda x: np.pad(x, 1, mode="median"), ValueError),
        (lambda x: np.pad(x, 1, mode="reflect", reflect_type="odd"), ValueError),
        (lambda x: np.pad(x, 1, mode="edge", constant_values=1), ValueError),
        (lambda x: np.pad(np.zeros((0,)), 1, mode="edge"), ValueError),
        (lambda x: np.broadcast_to(x, (2, 2)), ValueError),
        (lambda x: np.broadcast_arrays(x, np.ones((2,))), ValueError),
        (lambda x: np.concatenate((x, x[0])), ValueError),
        (lambda x: np.column_stack([x, x[0]]), ValueError),
        (lambda x: np.stack([]), ValueError),
        (lambda x: np.vstack([]), ValueError),
        (lambda x: np.vstack((1, 2)), AssertionError),
        (lambda x: np.atleast_1d(), ValueError),
        (lambda x: np.atleast_2d(3), AssertionError),
        (lambda x: np.resize(3, (2, 2)), AssertionError),
        (lambda x: np.tile(x, -1), ValueError),
    ],
)
def test_np_refuses(call: Any, kind: type[Exception]) -> None:
    for expected in (kind, mx.MXNetError):
        with pytest.raises(expected):
            call(np.array(sample((2, 3))))


# --- memory ---


@pytest.mark.parametrize(
    ("call", "shared"),
    [
        (lambda x: np.reshape(x, (2, 3)), False),
        (lambda x: x.reshape(2, 3), False),
        (lambda x: x.reshape_view(2, 3), True),
        (lambda x: x.reshape_view((0, -1)), True),
        (lambda x: npx.reshape(x, (2, 3)), False),
        (lambda x: np.ravel(x), False),
        (lambda x: x.flatten(), False),
        (lambda x: np.expand_dims(x, 0), False),
        (lambda x: np.squeeze(x), False),
        (lambda x: x.squeeze(), False),
        (lambda x: np.split(x, 2)[0], False),
        (lambda x: np.atleast_1d(x), False),
        (lambda x: np.broadcast_to(x, (6,)), False),
        (lambda x: np.broadcast_arrays(x)[0], True),
        (lambda x: np.roll(x, 6), False),
        (lambda x: np.moveaxis(x, 0, 0), False),
        (lambda x: np.meshgrid(x)[0], False),
        (lambda x: np.tile(x, 1), False),
        (lambda x: np.flip(x, ()), False),
        (lambda x: x[1:3], True),
    ],
)
def test_np_sharing(call: Any, shared: bool) -> None:
    x = np.arange(6)
    y = call(x)
    assert np.shares_memory(x, y) is shared
    assert np.may_share_memory(y, x) is shared
    y[:] = -1
    assert bool((x.asnumpy() == -1).any()) is shared


@pytest.mark.parametrize(
    ("call", "shared"),
    [
        (lambda x: x.reshape((2, 3)), True),
        (lambda x: nd.reshape(x, (2, 3)), False),
        (lambda x: nd.identity(x), False),
        (lambda x: x.reshape_like(nd.zeros((2, 3))), False),
        (lambda x: x.expand_dims(0), False),
        (lambda x: x.expand_dims(0, inplace=True), True),
        (lambda x: x.flatten(inplace=True), True),
        (lambda x: nd.split(x, 1, axis=0), False),
        (lambda x: nd.broadcast_to(x, (6,)), False),
        (lambda x: nd.transpose(x), False),
        (lambda x: x[2:4], True),
        (lambda x: x[::2], False),
    ],
)
def test_nd_sharing(call: Any, shared: bool) -> None:
    x = nd.arange(6)
    call(x)[:] = -1
    assert bool((x.asnumpy() == -1).any()) is shared


def test_parts_of_one_array_share_nothing() -> None:
    x = np.arange(6).reshape(2, 3)
    assert not np.shares_memory(x[0], x[1])
    assert np.shares_memory(x, x[1], max_work=1)
    assert not np.may_share_memory(x, x.copy())
    assert np.shares_memory(x, x)


# --- out, views, methods ---


@pytest.mark.parametrize(
    "call",
    [
        lambda x, **kwargs: nd.flip(x, axis=(0, 1), **kwargs),
        lambda x, **kwargs: nd.tile(x, reps=(2, 2), **kwargs),
        lambda x, **kwargs: nd.repeat(x, 2, axis=1, **kwargs),
        lambda x, **kwargs: nd.repeat(x, 2, **kwargs),
        lambda x, **kwargs: nd.transpose(x, **kwargs),
        lambda x, **kwargs: nd.reshape(x, (3, 2), **kwargs),
        lambda x, **kwargs: nd.diag(x, **kwargs),
        lambda x, **kwargs: nd.diag(x[0], **kwargs),
        lambda x, **kwargs: nd.slice(x, (0, 1), (2, 3), **kwargs),
        lambda x, **kwargs: nd.slice_axis(x, 1, 0, 2, **kwargs),
        lambda x, **kwargs: nd.stack(x, x, axis=1, **kwargs),
        lambda x, **kwargs: nd.pad(x, mode="reflect", pad_width=(1, 0, 0, 2), **kwargs),
        lambda x, **kwargs: nd.broadcast_axis(x[:1], axis=0, size=3, **kwargs),
        lambda x, **kwargs: nd.shape_array(x, **kwargs),
    ],
)
def test_out(call: Any) -> None:
    x = nd.array(sample((2, 3)))
    expected = call(x)
    out = nd.empty(expected.shape, dtype=expected.dtype)
    assert call(x, out=out) is out
    check(out, expected.asnumpy())
    if out.shape != (7,):
        with pytest.raises(ValueError, match="out has shape"):
            call(x, out=nd.empty((7,), dtype=expected.dtype))


def test_out_of_split_and_of_np() -> None:
    x = nd.array(sample((2, 6)))
    outs = [nd.zeros((2, 3)), nd.zeros((2, 3))]
    assert nd.split(x, 2, out=outs)[1] is outs[1]
    check(outs, onp.split(x.asnumpy(), 2, 1))
    with pytest.raises(ValueError, match="out has 2 arrays; there are 3 results"):
        nd.split(x, 3, out=outs)
    y = np.array(sample((2, 3)))
    out = np.empty((2, 3))
    assert np.flip(y, 1, out=out) is out
    check(out, y.asnumpy()[:, ::-1])
    tall = np.empty((4, 3))
    assert np.vstack([y, y], out=tall) is tall
    check(tall, onp.vstack([y.asnumpy()] * 2))


def test_into_the_array_itself() -> None:
    x = nd.array(sample((3, 3)))
    nd.flip(x, axis=0, out=x)
    check(x, sample((3, 3))[::-1])
    nd.transpose(x, out=x)
    check(x, sample((3, 3))[::-1].T)
    y = nd.arange(6)
    nd.flip(y[:3], axis=0, out=y[2:5])
    assert y.asnumpy().tolist() == [0, 1, 2, 1, 0, 5]


@both
def test_views_as_input(front: Any) -> None:
    x = front.array(sample((4, 3)))
    row = onp.arange(3, 6, dtype="float32")
    check(front.flip(x[1], axis=0), row[::-1])
    check(front.tile(x[1], 2), onp.tile(row, 2))
    check(front.repeat(x[1], 2), onp.repeat(row, 2))
    check(front.diag(x[1:3]), onp.diag(sample((4, 3))[1:3]))
    check(front.split(x[1:3], 2, axis=0), onp.split(sample((4, 3))[1:3], 2))


def test_results_are_new_and_keep_their_place() -> None:
    x = nd.array(sample((2, 3)), ctx=mx.cpu(1))
    for result in (
        nd.tile(x, 2),
        nd.pad(x, "edge", (1, 1, 0, 0)),
        nd.diag(x[0]),
        nd.shape_array(x),
        nd.split(x, 3)[0],
    ):
        assert result.ctx == mx.cpu(1)


def test_large_arrays() -> None:
    """More than one share and more than one block of the kernels."""
    x = onp.random.RandomState(0).rand(257, 1031).astype("float32")
    a = np.array(x)
    check(np.flip(a), onp.flip(x))
    check(np.tile(a, (2, 3)), onp.tile(x, (2, 3)))
    check(np.repeat(a, 3, axis=1), onp.repeat(x, 3, 1))
    check(np.repeat(a, 2, axis=0), onp.repeat(x, 2, 0))
    check(np.roll(a, (5, -9), (0, 1)), onp.roll(x, (5, -9), (0, 1)))
    check(np.rot90(a), onp.rot90(x))
    check(np.pad(a, ((3, 600), (7, 2)), "reflect"), onp.pad(x, ((3, 600), (7, 2)), "reflect"))
    check(np.split(a, [100, 200], axis=1), onp.split(x, [100, 200], axis=1))


def test_random_pads() -> None:
    random = onp.random.RandomState(7)
    for _ in range(60):
        shape = tuple(random.randint(1, 5, random.randint(1, 4)))
        widths = [tuple(int(w) for w in random.randint(0, 9, 2)) for _ in shape]
        mode = random.choice(["edge", "reflect", "symmetric", "wrap", "maximum", "constant"])
        x = random.randint(0, 100, shape).astype("int32")
        check(np.pad(np.array(x), widths, mode=mode), onp.pad(x, widths, mode=mode))


def test_methods_that_np_has_not() -> None:
    x = np.ones((2, 3))
    for name in (
        "flip",
        "tile",
        "pad",
        "split",
        "split_v2",
        "diag",
        "broadcast_axes",
        "depth_to_space",
        "space_to_depth",
        "slice_like",
        "shape_array",
        "size_array",
        "expand_dims",
        "reshape_like",
    ):
        assert not hasattr(x, name), name
    check(x.repeat(2, axis=0), onp.ones((4, 3), "float32"))
    check(x.repeat(repeats=[1, 2], axis=0), onp.ones((3, 3), "float32"))
    check(npx.batch_flatten(np.ones((2, 3, 4))), onp.ones((2, 12), "float32"))
    check(npx.slice(x, begin=(0, 1), end=(1, 3)), onp.ones((1, 2), "float32"))
    check(npx.shape_array(x), onp.array([2, 3]))


def test_slice_assign() -> None:
    x = nd.array(sample((2, 3)))
    assert x.slice_assign(nd.ones((1, 3)), begin=(0,), end=(1,), step=(1,)) is x
    assert x.slice_assign_scalar(7.0, (1, None), (2, None), (1, -2)) is x
    assert x.asnumpy().tolist() == [[1, 1, 1], [7, 4, 7]]


@both
def test_in(front: Any) -> None:
    x = front.array([[1, 2], [3, 4]])
    assert 3 in x
    assert 5 not in x
    assert 1 not in front.zeros((0,))


def test_index() -> None:
    assert list(range(nd.array(3, dtype="int32"))) == [0, 1, 2]
    assert [5, 6, 7][np.array(1, dtype="int64")] == 6
    assert operator.index(np.array([4, 5], dtype="int8")[1]) == 5
    for wrong in (np.array(1.0), nd.array([1], dtype="int32"), np.array(True, dtype="bool")):
        with pytest.raises(TypeError, match="scalar index"):
            operator.index(wrong)
    assert np.zeros(np.array([2, 3], dtype="int32")).shape == (2, 3)
