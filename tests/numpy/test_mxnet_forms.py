# SPDX-License-Identifier: Apache-2.0
"""Forms of calls that MXNet's NumPy interface takes, and its answers to them."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, np, npx
from tests.support import raises_at_the_read


def _gradients(function: Any, *arrays: Any) -> list[Any]:
    """Return the gradients of the sum of a function's result."""
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        result = function(*arrays)
    result.backward()
    return [array.grad.asnumpy() for array in arrays]


# --- shapes ---


def test_broadcast_to_keeps_an_extent_by_its_code() -> None:
    x = np.arange(5)
    assert np.broadcast_to(x, (3, 4, -2)).shape == (3, 4, 5)
    assert np.broadcast_to(np.ones((1, 0)), (2, -2, -2)).shape == (2, 1, 0)
    onp.testing.assert_array_equal(_gradients(lambda a: np.broadcast_to(a, (2, -2)), x)[0], 2)
    with pytest.raises(ValueError, match="negative"):
        np.broadcast_to(x, (2, -1))
    with pytest.raises(ValueError, match="negative"):
        np.broadcast_to(x, (-2, 5))


@pytest.mark.parametrize("axis", [0, -1, ()])
def test_one_number_has_an_axis_to_squeeze(axis: Any) -> None:
    assert np.squeeze(np.array(3.0), axis).shape == onp.squeeze(onp.array(3.0), axis).shape
    with pytest.raises(ValueError, match="out of bounds"):
        np.squeeze(np.array(3.0), 1)


def test_arange_without_a_step() -> None:
    onp.testing.assert_array_equal(np.arange(0, 3, None).asnumpy(), [0, 1, 2])
    onp.testing.assert_array_equal(np.arange(0, 3, np.array(2)).asnumpy(), [0, 2])


def test_a_diagonal_of_nothing_leads_back() -> None:
    x = np.array([])
    x.attach_grad()
    with autograd.record():
        matrix = np.diag(x, 2)
    matrix.backward()
    assert matrix.shape == (2, 2)
    assert x.grad.shape == (0,)


def test_axes_of_the_solution_of_tensor_equations() -> None:
    for a, b in [((1, 1, 1), (1, 1, 1)), ((1, 1), (1,) * 5)]:
        wanted = onp.linalg.tensorsolve(onp.full(a, 2.0), onp.full(b, 3.0))
        given = np.linalg.tensorsolve(np.full(a, 2.0), np.full(b, 3.0))
        assert given.shape == wanted.shape
        onp.testing.assert_allclose(given.asnumpy(), wanted)
    solved = np.linalg.tensorsolve(
        np.eye(12).reshape((1, 12, 4, 1, 3)), np.ones((1, 2, 1, 2, 1, 3, 1))
    )
    assert solved.shape == (4, 1, 3)  # MXNet's


def test_broadcast_like_needs_axes_where_they_are_given() -> None:
    with pytest.raises(mx.MXNetError, match="no axes"):
        nd.broadcast_like(nd.ones((1,)), nd.ones((3,)), lhs_axes=(), rhs_axes=())


# --- functions of elements ---


def test_polynomials_and_their_gradients() -> None:
    coefficients, places = onp.array([2.0, -1, 0, 3]), onp.array([[0.5, -2], [1, 4]])
    wanted = onp.polyval(coefficients, places)
    p, x = np.array(coefficients, dtype="float64"), np.array(places, dtype="float64")
    onp.testing.assert_allclose(np.polyval(p, x).asnumpy(), wanted)
    onp.testing.assert_allclose(np.polyval(coefficients.tolist(), x).asnumpy(), wanted)
    of_p, of_x = _gradients(np.polyval, p, x)
    onp.testing.assert_allclose(of_p, [(places**power).sum() for power in (3, 2, 1, 0)])
    onp.testing.assert_allclose(of_x, onp.polyval(onp.polyder(coefficients), places))
    assert np.polyval(np.array([]), x).asnumpy().tolist() == onp.zeros((2, 2)).tolist()
    symbol = mx.sym.np.polyval(*(mx.sym.var(name).as_np_ndarray() for name in "px"))
    onp.testing.assert_allclose(symbol.eval(p=p, x=x)[0].asnumpy(), wanted)
    with pytest.raises(ValueError, match="one dimension"):
        np.polyval(x, x)


def test_integers_are_scaled_as_floats() -> None:
    x, exponents = np.array([-3, -2, 3], dtype="int32"), np.array([-1, -1, 2], dtype="int32")
    result = np.ldexp(x, exponents)
    assert result.dtype == "int32"
    assert result.asnumpy().tolist() == [-1, -1, 12]
    assert np.ldexp(x, 2).asnumpy().tolist() == [-12, -8, 12]


def test_gradients_beside_integers() -> None:
    base, exponent = np.array([1, 2, 3], dtype="int32"), np.array([1, 2, 3], dtype="float32")
    _, given = _gradients(np.power, base, exponent)
    wanted = onp.array([1, 4, 27]) * onp.log([1, 2, 3])
    onp.testing.assert_allclose(given, wanted, rtol=1e-6)
    whole = np.array([7, 8], dtype="int32")
    assert [one.tolist() for one in _gradients(np.mod, whole, np.array([2, 3], dtype="int32"))] == [
        [0, 0],
        [0, 0],
    ]
    (given,) = _gradients(lambda x: np.mean(x, dtype="int32"), np.array([1.0, 2, 3, 4]))
    assert given.tolist() == [0.25] * 4


def test_options_of_functions_of_elements() -> None:
    x = np.array([1.0, np.nan])
    with pytest.raises(NotImplementedError, match="where=False"):
        np.add(x, x, where=False)
    onp.testing.assert_array_equal(np.add(x, x, out=np.zeros(2), where=False).asnumpy(), 0)
    for options in ({"dtype": "no type"}, {"casting": "no cast"}, {"unknown": 1}):
        with pytest.raises(TypeError):
            np.add(x, x, **options)
    for options in ({"dtype": "int8"}, {"casting": "safe"}, {"order": "F"}, {"subok": False}):
        with pytest.raises(NotImplementedError):
            np.add(x, x, **options)
    with pytest.raises(TypeError, match="out has type float32, the result has type bool"):
        np.isnan(x, out=np.zeros(2))
    with pytest.raises(NotImplementedError, match="order"):
        x.copy(order="F")


def test_a_variable_is_not_written_to_while_recording() -> None:
    x = np.array([np.nan, 1])
    (given,) = _gradients(lambda a: np.nan_to_num(a, copy=False), x)
    assert given.tolist() == [0, 1]
    assert onp.isnan(x.asnumpy()[0])
    np.nan_to_num(x, copy=False)
    assert x.asnumpy().tolist() == [0, 1]


# --- numbers and conditions ---


@pytest.mark.parametrize("order", ["inf", "-inf"])
def test_norms_by_words(order: str) -> None:
    for shape in ((4,), (2, 3)):
        x = onp.linspace(-3, 2, onp.prod(shape)).reshape(shape)
        given = np.linalg.norm(np.array(x), ord=order)
        onp.testing.assert_allclose(given.asnumpy(), onp.linalg.norm(x, float(order)), rtol=1e-6)


def test_seeds_and_parameters_of_random_numbers() -> None:
    drawn = []
    for _ in range(2):
        npx.random.seed(seed=7)
        drawn.append(np.random.uniform(size=3).asnumpy())
    assert drawn[0].tolist() == drawn[1].tolist()
    np.random.seed(seed=7)
    assert np.random.uniform(size=3).asnumpy().tolist() == drawn[0].tolist()
    for shape, scale in ((1, 0), (1, np.array(0.0)), (1, -1), (0, 1), (np.array(0.0), 1)):
        with pytest.raises(ValueError, match="greater than 0"):
            np.random.gamma(shape, scale).asnumpy()
    assert np.random.multinomial(3, []).shape == (0,)
    assert np.random.multinomial(3, np.array([]), size=(2, 0)).shape == (2, 0, 0)


@raises_at_the_read
def test_conditions_on_values() -> None:
    scale = np.array([1.0, -2.0])
    assert (scale * npx.constraint_check(scale < 5, "too large")).asnumpy().tolist() == [1, -2]
    assert npx.constraint_check(np.zeros((0,), dtype="bool")).item() is True
    failed = scale * npx.constraint_check(scale > 0, "scale must be positive")
    for _ in range(2):
        with pytest.raises(ValueError, match="scale must be positive"):
            failed.asnumpy()
    with pytest.raises(TypeError, match="truth values"):
        npx.constraint_check(scale)


# --- variables, blocks and graphs ---


def test_no_gradient_where_none_is_asked_for() -> None:
    for make in (nd.ones, np.ones):
        x, constant = make((2,)), make((2,))
        x.attach_grad()
        constant.attach_grad("null")
        with autograd.record():
            y = x * constant
        y.backward()
        assert constant.grad is None
        assert x.grad.asnumpy().tolist() == [1, 1]


def test_classes_under_use_np_inherit_the_mode() -> None:
    @mx.util.use_np
    class Block(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.w = self.params.get("w", shape=(3, 2))

        def hybrid_forward(self, F: Any, x: Any, w: Any) -> Any:
            return F.np.dot(x, w)

    for hybridize in (False, True):
        block = Block()
        block.initialize()
        if hybridize:
            block.hybridize()
        assert type(block(np.ones((4, 3)))) is np.ndarray
        assert type(block.w.data()) is np.ndarray


def test_a_graph_splits_into_one_part() -> None:
    x = mx.sym.var("x").as_np_ndarray()
    (part,) = mx.sym.np.split(x, 1)
    assert part.eval(x=np.ones((2, 3)))[0].shape == (2, 3)


def test_optimizers_know_their_world() -> None:
    assert not mx.optimizer.SGD().allow_np_array
    with mx.util.np_array(True):
        assert mx.optimizer.SGD().allow_np_array


# --- ops by the names of graphs ---


def test_ops_by_the_names_of_graphs() -> None:
    x = nd.array([1, 2])
    assert nd._internal._mul_scalar(x, scalar=3).asnumpy().tolist() == [3, 6]
    assert nd._internal._maximum(x, nd.array([2, 1])).asnumpy().tolist() == [2, 2]
    out = nd.zeros((2,))
    assert nd._internal._plus_scalar(x, scalar=1, out=out) is out
    assert out.asnumpy().tolist() == [2, 3]
    assert nd.op.relu is nd.relu
    with pytest.raises(AttributeError, match="_no_such_op"):
        nd._internal._no_such_op


def test_assignments_by_the_names_of_graphs() -> None:
    x = nd.ones((2, 3))
    copied = nd._internal._crop_assign(x, nd.zeros((2, 1)), begin=(0, 1), end=(2, 2))
    assert copied.asnumpy().tolist() == [[1, 0, 1]] * 2
    assert x.asnumpy().sum() == 6
    nd._internal._crop_assign_scalar(x, scalar=5, begin=(0, 0), end=(1, 3), out=x)
    assert x.asnumpy().tolist() == [[5] * 3, [1] * 3]
    host = onp.arange(24.0).reshape(2, 3, 4)
    mask = host[0] % 2 == 0
    for value in (9.0, onp.arange(2.0)[:, None]):
        wanted = host.copy()
        wanted[:, mask] = value
        given = np._internal.boolean_mask_assign_tensor(
            np.array(host), np.array(mask, dtype="bool"), np.array(value), start_axis=1
        )
        onp.testing.assert_array_equal(given.asnumpy(), wanted)


def test_graphs_as_functions_of_arrays() -> None:
    a, b = mx.sym.var("a"), mx.sym.var("b")
    function = nd.CachedOp(mx.sym.Group([a * b, a + b]))
    x, y = nd.array([1, 2]), nd.array([3, 4])
    assert [one.asnumpy().tolist() for one in function(x, y)] == [[3, 8], [4, 6]]
    out = [nd.zeros((2,)), nd.zeros((2,))]
    assert function(x, y, out=out) is out
    assert out[1].asnumpy().tolist() == [4, 6]
    onp.testing.assert_array_equal(_gradients(lambda a: nd.CachedOp(b * 2)(a), x)[0], 2)
    with pytest.raises(TypeError, match="2 are needed: a, b"):
        function(x)


def test_keywords_of_functions_without_parameters_are_ignored() -> None:
    x = nd.array([1, -2])
    with pytest.warns(UserWarning, match="broadcast_maximum.*axis.* is ignored"):
        assert nd.broadcast_maximum(x, nd.zeros((1,)), axis=1).asnumpy().tolist() == [1, 0]
    with pytest.raises(TypeError, match="unexpected argument 'other'"):
        nd.sum(x, other=1)
    with pytest.raises(TypeError):
        np.add(np.ones(2), 1, other=1)
