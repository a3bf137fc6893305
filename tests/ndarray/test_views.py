# SPDX-License-Identifier: Apache-2.0
"""Views share memory, copies do not, and writes go where the statement says."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest

import afterglow as mx

both = pytest.mark.parametrize("front", [mx.nd, mx.np], ids=["nd", "np"])


def table(front: Any) -> Any:
    return front.arange(12).reshape((3, 4))


@both
@pytest.mark.parametrize(
    "key", [0, -1, slice(1, 3), (1, slice(1, 3)), slice(None), ..., None, (1, 2), (slice(0, 1), 0)]
)
def test_contiguous_block_shares(front: Any, key: Any) -> None:
    x = table(front)
    expected = x.asnumpy()
    view = x[key]
    view += 100
    expected[key] += 100
    onp.testing.assert_array_equal(x.asnumpy(), expected)
    x[:] = 7
    assert (view.asnumpy() == 7).all()


@both
@pytest.mark.parametrize(
    "key", [(slice(None), 1), slice(None, None, 2), slice(None, None, -1), [0]]
)
def test_gaps_are_copied(front: Any, key: Any) -> None:
    x = table(front)
    expected = x.asnumpy()
    part = x[key]
    part[:] = -1
    onp.testing.assert_array_equal(x.asnumpy(), expected)


@both
def test_view_of_a_view(front: Any) -> None:
    x = front.zeros((2, 3, 4))
    x[1][2][1:3] = 5
    expected = onp.zeros((2, 3, 4), "float32")
    expected[1, 2, 1:3] = 5
    onp.testing.assert_array_equal(x.asnumpy(), expected)


def test_nd_reshape_shares_and_np_reshape_copies() -> None:
    x = mx.nd.arange(6)
    x.reshape((2, 3))[0] = 9
    assert x.asnumpy().tolist() == [9, 9, 9, 3, 4, 5]
    y = mx.np.arange(6)
    y.reshape((2, 3))[0] = 9
    assert y.asnumpy().tolist() == [0, 1, 2, 3, 4, 5]


@both
def test_view_outlives_its_base(front: Any) -> None:
    view = table(front)[1]
    assert view.asnumpy().tolist() == [4, 5, 6, 7]


@both
def test_overlapping_stores(front: Any) -> None:
    x = front.arange(6)
    x[1:] = x[:-1] + 1
    assert x.asnumpy().tolist() == [0, 1, 2, 3, 4, 5]
    x[1:] = x[:-1]
    assert x.asnumpy().tolist() == [0, 0, 1, 2, 3, 4]
    x[:-1] = x[1:]
    assert x.asnumpy().tolist() == [0, 1, 2, 3, 4, 4]
    x[::-1] = x
    assert x.asnumpy().tolist() == [4, 4, 3, 2, 1, 0]


@both
def test_strided_in_place(front: Any) -> None:
    x = front.arange(8)
    x[::2] += x[1::2]
    assert x.asnumpy().tolist() == [1, 1, 5, 3, 9, 5, 13, 7]


@both
def test_in_place_operators_keep_the_array(front: Any) -> None:
    x = front.ones((3,))
    same, view = x, x[1:]
    identity = id(x)
    x += 1
    x *= 6
    x -= 2
    x /= 4
    x %= 2
    assert x is same
    assert id(x) == identity
    assert x.asnumpy().tolist() == [0.5, 0.5, 0.5]
    assert view.asnumpy().tolist() == [0.5, 0.5]


@both
def test_power_in_place_makes_a_new_array(front: Any) -> None:
    x = front.full((2,), 3)
    y = x
    y **= 2
    assert y is not x
    assert (x.asnumpy().tolist(), y.asnumpy().tolist()) == ([3, 3], [9, 9])


@both
def test_rebinding_leaves_the_old_array(front: Any) -> None:
    x = front.zeros((2,))
    y = x
    x = x + 1
    assert (x.asnumpy().tolist(), y.asnumpy().tolist()) == ([1, 1], [0, 0])


@both
def test_out_is_returned_and_written(front: Any) -> None:
    out = front.zeros((2, 2))
    assert front.exp(front.zeros((2, 2)), out=out) is out
    assert out.asnumpy().tolist() == [[1, 1], [1, 1]]
    assert front.dot(front.ones((2, 2)), front.ones((2, 2)), out=out) is out
    assert out.asnumpy().tolist() == [[2, 2], [2, 2]]
    front.sqrt(out, out=out)
    onp.testing.assert_allclose(out.asnumpy(), 2**0.5, rtol=1e-6)
    whole = front.zeros((4,))
    front.exp(front.zeros((2,)), out=whole[1:3])
    assert whole.asnumpy().tolist() == [0, 1, 1, 0]


@both
def test_product_into_its_own_operand(front: Any) -> None:
    x = front.arange(4).reshape((2, 2))
    front.dot(x, x, out=x)
    assert x.asnumpy().tolist() == [[2, 3], [6, 11]]


@both
def test_readers_see_the_value_of_their_line(front: Any) -> None:
    x = front.zeros((50, 50))
    seen = []
    for step in range(20):
        seen.append(x + 0)
        x[:] = step + 1
    assert [one.asnumpy()[0, 0] for one in seen] == list(range(20))


@both
def test_iteration_gives_views(front: Any) -> None:
    x = table(front)
    for row in x:
        row *= 2
    assert x.asnumpy().sum() == 2 * 66
    assert len(list(front.arange(3))) == 3


@both
def test_iteration_over_nothing(front: Any) -> None:
    assert list(front.zeros((0, 3))) == []
    with pytest.raises(TypeError):
        list(front.array(3.0))


@both
def test_another_shape_has_the_same_elements(front: Any) -> None:
    part = front.arange(100)[10:14]
    for shape in [(4, 2), (5,), (3,), (0,), ()]:
        with pytest.raises(ValueError, match=r"\(4,\) has 4 elements"):
            part._shaped(shape)
    assert part._shaped((2, 2)).asnumpy().tolist() == [[10, 11], [12, 13]]
    turned = table(front)._reordered((1, 0))
    with pytest.raises(ValueError, match="gaps"):
        turned._shaped((12,))


@both
def test_views_stay_inside_of_their_array(front: Any) -> None:
    part = front.arange(100)[10:14]
    for offset, shape, strides in [
        (-1, (4,), (1,)),
        (1, (4,), (1,)),
        (0, (3,), (2,)),
        (0, (2,), (-1,)),
    ]:
        with pytest.raises(IndexError, match="outside"):
            part._view(offset, shape, strides)
        with pytest.raises(IndexError, match="outside"):
            part._write(7, offset, shape, strides)
    backwards = part._view(3, (2, 2), (-1, -2)) + 0
    assert backwards.asnumpy().tolist() == [[13, 11], [12, 10]]
    assert front.zeros((0,))._view(5, (0,), (1,)).shape == (0,)
