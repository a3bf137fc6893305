# SPDX-License-Identifier: Apache-2.0
"""Gradients that programs define: ``autograd.Function`` and ``mx.operator``."""

from __future__ import annotations

import weakref

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, nd, np, operator


class Sigmoid(autograd.Function):
    def forward(self, x):
        exp = np.exp if isinstance(x, np.ndarray) else nd.exp
        y = 1 / (1 + exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy):
        (y,) = self.saved_tensors
        return dy * y * (1 - y)


class ProductAndSum(autograd.Function):
    def forward(self, x, y):
        self.save_for_backward(x, y)
        return x * y, x + y

    def backward(self, product, total):
        x, y = self.saved_tensors
        return product * y + total, product * x + total


def _variables(*values, world=nd):
    arrays = [world.array(value, dtype="float32") for value in values]
    for array in arrays:
        array.attach_grad()
    return arrays


def _lists(*arrays):
    return [array.asnumpy().tolist() for array in arrays]


# --- autograd.Function ---


@pytest.mark.parametrize("world", [nd, np], ids=["nd", "np"])
def test_one_input_one_output(world):
    (x,) = _variables([0, 1, -2], world=world)
    with autograd.record():
        y = Sigmoid()(2 * x)
    y.backward()
    expected = 1 / (1 + onp.exp(-2 * onp.array([0, 1, -2])))
    onp.testing.assert_allclose(y.asnumpy(), expected, rtol=1e-6)
    onp.testing.assert_allclose(x.grad.asnumpy(), 2 * expected * (1 - expected), rtol=1e-5)
    assert type(y) is type(x)
    assert type(x.grad) is type(x)


def test_several_inputs_and_outputs():
    x, y = _variables([1, 2], [3, 4])
    with autograd.record():
        product, total = ProductAndSum()(x * 2, y)
        loss = product + 10 * total
    loss.backward()
    assert _lists(x.grad, y.grad) == [[2 * (3 + 10), 2 * (4 + 10)], [2 + 10, 4 + 10]]


@pytest.mark.parametrize(
    ("chosen", "expected"), [(0, [[3, 4], [1, 2]]), (1, [[1, 1], [1, 1]])], ids=["first", "second"]
)
def test_an_output_that_is_not_used(chosen, expected):
    x, y = _variables([1, 2], [3, 4])
    with autograd.record():
        outputs = ProductAndSum()(x, y)
    outputs[chosen].backward()
    assert _lists(x.grad, y.grad) == expected


def test_one_input_twice():
    (x,) = _variables([3])
    with autograd.record():
        product, _ = ProductAndSum()(x, x)
    product.backward()
    assert _lists(x.grad) == [[6]]


def test_inputs_without_gradient():
    x, constant = _variables([1, 2])[0], nd.array([5, 6])
    with autograd.record():
        product, _ = ProductAndSum()(x, constant)
    product.backward()
    assert _lists(x.grad) == [[5, 6]]
    with autograd.record():
        unconnected, _ = ProductAndSum()(constant, constant)
    with pytest.raises(mx.MXNetError, match="not in a computational graph"):
        unconnected.backward()


def test_after_each_other_and_with_ops():
    (x,) = _variables([0.5])
    with autograd.record():
        y = Sigmoid()(Sigmoid()(x)) * 3
    y.backward()
    (other,) = _variables([0.5])
    with autograd.record():
        nd.sigmoid(nd.sigmoid(other)).__mul__(3).backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), other.grad.asnumpy(), rtol=1e-5)


def test_backward_is_called_once_each_time():
    calls = []

    class Counted(ProductAndSum):
        def backward(self, *gradients):
            calls.append(_lists(*gradients))
            return super().backward(*gradients)

    x, y = _variables([1], [2])
    with autograd.record():
        product, total = Counted()(x, y)
        loss = product * 3 + total
    loss.backward(retain_graph=True)
    loss.backward(nd.array([2]))
    assert calls == [[[3], [1]], [[6], [2]]]
    assert _lists(x.grad, y.grad) == [[6 * 2 + 2], [6 * 1 + 2]]
    with pytest.raises(mx.MXNetError, match="retain_graph"):
        loss.backward()


def test_grad_and_grad_req_add():
    x, y = _variables([1, 2], [3, 4])
    with autograd.record():
        product, _ = ProductAndSum()(x, y)
    (gradient,) = autograd.grad(product, [y], retain_graph=True)
    assert _lists(gradient) == [[1, 2]]
    assert _lists(y.grad) == [[0, 0]]
    x.attach_grad("add")
    for _ in range(2):
        with autograd.record():
            product, _ = ProductAndSum()(x, y)
        product.backward()
    assert _lists(x.grad) == [[6, 8]]


def test_outside_of_recording():
    (x,) = _variables([0.0])
    assert _lists(Sigmoid()(x)) == [[0.5]]
    with autograd.record(), autograd.pause():
        y = Sigmoid()(x)
    with pytest.raises(mx.MXNetError, match="not in a computational graph"):
        y.backward()


def test_forward_is_not_recorded_but_knows_the_mode():
    seen = []

    class Curious(autograd.Function):
        def forward(self, x):
            seen.append((autograd.is_recording(), autograd.is_training()))
            return x

        def backward(self, dy):
            seen.append((autograd.is_recording(), autograd.is_training()))
            return dy * 7

    (x,) = _variables([1])
    with autograd.record():
        y = Curious()(x)
    y.backward()
    assert seen == [(False, True), (False, True)]
    assert _lists(x.grad) == [[7]]  # though forward returned its very input


def test_once_per_instance():
    (x,) = _variables([1])
    function = Sigmoid()
    function(x)
    with pytest.raises(AssertionError, match="can only be called once"):
        function(x)


def test_wrong_number_of_gradients():
    class Wrong(ProductAndSum):
        def backward(self, product, total):
            return product

    x, y = _variables([1], [2])
    with autograd.record():
        product, _ = Wrong()(x, y)
    with pytest.raises(AssertionError, match="exactly as many arrays as forward takes: 2"):
        product.backward()


def test_errors_of_the_program_come_through():
    class Broken(autograd.Function):
        def forward(self, x):
            return x + 1

        def backward(self, dy):
            raise KeyError("mine")

    (x,) = _variables([1])
    with autograd.record():
        y = Broken()(x)
    with pytest.raises(KeyError, match="mine"):
        y.backward()


@pytest.mark.parametrize("end", ["backward", "forgotten"])
def test_lives_as_long_as_the_tape(end):
    class Hoarder(Sigmoid):
        def forward(self, x):
            self.everything = [x, super().forward(x)]
            return self.everything[1]

    (x,) = _variables([1.0])
    function = Hoarder()
    watch = weakref.ref(function)
    with autograd.record():
        y = function(x) * 2
    del function
    assert watch() is not None
    if end == "backward":
        y.backward()
    else:
        del y
    assert watch() is None


@pytest.mark.skipif(mx.engine.is_serial(), reason="every call runs at once")
def test_nothing_waits():
    x = nd.ones((1500, 1500))
    x.attach_grad()
    with autograd.record():
        y = Sigmoid()(nd.dot(x, x))
    assert not y.is_ready()
    y.backward()
    assert not x.grad.is_ready()
    assert x.grad[0, 0].asscalar() == 0  # 1 / (1 + exp(-1500)) is flat


@pytest.mark.parametrize("world", [nd, np], ids=["nd", "np"])
def test_gradient_of_the_gradient(world):
    (x,) = _variables([0.5, -1], world=world)
    with autograd.record():
        y = Sigmoid()(x)
        (slope,) = autograd.grad(y, [x], create_graph=True)
        total = (slope * slope).sum()
        del y, slope
    total.backward()
    y = 1 / (1 + onp.exp(-onp.array([0.5, -1])))
    slope = y * (1 - y)
    onp.testing.assert_allclose(x.grad.asnumpy(), 2 * slope * slope * (1 - 2 * y), rtol=1e-5)


def test_gradient_of_the_gradient_of_several():
    x, y = _variables([2, 3], [5, 7])
    with autograd.record():
        product, total = ProductAndSum()(x, y)
        slopes = autograd.grad([product * product, total], [x, y], create_graph=True)
        slopes[0].sum().backward()
    # The slope for x is 2 x y y + 1.
    assert _lists(x.grad, y.grad) == [[50, 98], [40, 84]]


class _Cube(operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] ** 3)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 3 * out_data[0] / in_data[0] * out_grad[0])


@operator.register("test_cube")
class _CubeProp(operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return _Cube()


def test_gradient_of_the_gradient_of_a_custom_op():
    (x,) = _variables([1, 2])
    with autograd.record():
        y = nd.Custom(x, op_type="test_cube")
        (slope,) = autograd.grad(y, [x], create_graph=True)
        (second,) = autograd.grad(slope, [x], create_graph=True)
        second.sum().backward()
    assert _lists(slope, second, x.grad) == [[3, 12], [6, 12], [6, 6]]


# --- mx.operator ---


class _Scale(operator.CustomOp):
    def __init__(self, factor):
        self._factor = factor

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * self._factor)
        if aux and is_train:
            aux[0][:] += 1

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * self._factor)


@operator.register("test_scale")
class _ScaleProp(operator.CustomOpProp):
    def __init__(self, factor="2"):
        super().__init__(need_top_grad=True)
        self._factor = float(factor)

    def create_operator(self, ctx, shapes, dtypes):
        assert ctx == mx.cpu(0)
        return _Scale(self._factor)


@operator.register("test_counted_scale")
class _CountedScaleProp(_ScaleProp):
    def list_auxiliary_states(self):
        return ["calls"]


@operator.register("test_halves")
class _HalvesProp(operator.CustomOpProp):
    def list_arguments(self):
        return ["left", "right"]

    def list_outputs(self):
        return ["sum", "count"]

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0], (1,)], []

    def infer_type(self, in_type):
        return in_type, [in_type[0], onp.int32], []

    def create_operator(self, ctx, shapes, dtypes):
        return _Halves()


class _Halves(operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] + in_data[1])
        self.assign(out_data[1], req[1], in_data[0].size)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * in_data[1])
        self.assign(in_grad[1], "add", out_grad[0] * out_data[0])


@pytest.mark.parametrize("world", [nd, np], ids=["nd", "np"])
def test_custom_op(world):
    (x,) = _variables([1, 2, 3], world=world)
    with autograd.record():
        y = nd.Custom(x * 1, op_type="test_scale", factor=5)
        z = nd.Custom(data=y, op_type="test_scale")
    z.backward()
    assert _lists(y, z, x.grad) == [[5, 10, 15], [10, 20, 30], [10, 10, 10]]
    assert type(y) is type(x)


def test_custom_op_with_several_of_everything():
    x, y = _variables([1, 2], [3, 4])
    with autograd.record():
        total, count = nd.Custom(x, y, op_type="test_halves", name="halves")
    total.backward()
    assert _lists(total, count) == [[4, 6], [2]]
    assert count.dtype == onp.int32
    assert _lists(x.grad, y.grad) == [[3, 4], [4, 6]]
    assert _lists(nd.Custom(x, right=y, op_type="test_halves")[0]) == [[4, 6]]


def test_states_of_custom_ops():
    (x,) = _variables([1])
    calls = nd.zeros((1,))
    nd.Custom(x, calls, op_type="test_counted_scale")
    assert _lists(calls) == [[0]]
    for _ in range(2):
        with autograd.record():
            y = nd.Custom(x, calls, op_type="test_counted_scale")
        y.backward()
    assert _lists(calls, x.grad) == [[2], [2]]


def test_refusals_of_custom_ops():
    x = nd.ones((1,))
    with pytest.raises(mx.MXNetError, match="nope"):
        nd.Custom(x, op_type="nope")
    with pytest.raises(mx.MXNetError, match="register"):
        nd.Custom(x)
    with pytest.raises(ValueError, match="left, right"):
        nd.Custom(x, op_type="test_halves")
    with pytest.raises(ValueError, match="data"):
        nd.Custom(x, x, op_type="test_scale")
    with pytest.raises(TypeError, match="must be arrays"):
        nd.Custom(1.5, op_type="test_scale")
    with pytest.raises(TypeError, match="CustomOpProp"):
        operator.register("wrong")(int)


def test_states_of_custom_ops_in_graphs():
    symbol = mx.sym.Custom(mx.sym.var("x"), op_type="test_counted_scale", name="op")
    assert symbol.list_arguments() == ["x"]
    assert symbol.list_auxiliary_states() == ["op_calls"]
    calls, gradient = nd.zeros((1,)), nd.zeros((1,))
    run = symbol.bind(mx.cpu(), {"x": nd.ones((1,))}, {"x": gradient}, aux_states=[calls])
    run.forward(is_train=True)
    run.backward(nd.ones((1,)))
    assert _lists(calls, gradient) == [[1], [2]]


class _Squares(operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        (x,) = in_data
        squares = nd.sparse.csr_matrix((x.data * x.data, x.indices, x.indptr), shape=x.shape)
        self.assign(out_data[0], req[0], squares)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 2 * nd.sparse.elemwise_mul(in_data[0], out_grad[0]))


@operator.register("test_sparse_squares")
class _SquaresProp(operator.CustomOpProp):
    def infer_storage_type(self, in_stype):
        return in_stype, in_stype, []

    def infer_storage_type_backward(self, ograd, inputs, outputs, igrad, aux):
        return ograd, inputs, outputs, inputs, aux

    def create_operator(self, ctx, shapes, dtypes):
        return _Squares()


def test_custom_ops_of_sparse_arrays():
    x = nd.array([[0, 2, 0], [3, 0, 0]]).tostype("csr")
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="test_sparse_squares")
    y.backward()
    assert (y.stype, x.grad.stype) == ("csr", "csr")
    assert _lists(y, x.grad) == [[[0, 4, 0], [9, 0, 0]], [[0, 4, 0], [6, 0, 0]]]
    with pytest.raises(ValueError, match="infer_storage_type of its own"):
        nd.Custom(x, op_type="test_scale")


def test_a_custom_op_without_inputs():
    class Ones(operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], onp.ones(out_data[0].shape))

    @operator.register("test_ones")
    class OnesProp(operator.CustomOpProp):
        def __init__(self, length):
            super().__init__()
            self.length = int(length)

        def list_arguments(self):
            return []

        def infer_shape(self, in_shape):
            return [], [(self.length,)], []

        def infer_type(self, in_type):
            return [], [onp.float32], []

        def create_operator(self, ctx, shapes, dtypes):
            return Ones()

    with autograd.record():
        result = nd.Custom(op_type="test_ones", length=3)
    assert _lists(result) == [[1, 1, 1]]


def test_ops_tell_what_they_take():
    """In MXNet's words."""
    names = operator.get_all_registered_operators()
    assert {"Activation", "broadcast_add", "_npi_add", "test_scale", "test_halves"} <= {*names}
    found = operator.get_operator_arguments("Activation")
    assert isinstance(found, operator.OperatorArguments)
    assert found == (
        2,
        ["data", "act_type"],
        [
            "NDArray-or-Symbol",
            "{'relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'}, required",
        ],
    )
    told = {
        op: dict(zip(*operator.get_operator_arguments(op)[1:], strict=True))
        for op in ("FullyConnected", "concat", "clip", "Dropout", "topk")
    }
    assert told["FullyConnected"]["num_hidden"] == "int, required"
    assert told["FullyConnected"]["flatten"] == "boolean, optional, default=1"
    assert told["concat"]["data"] == "NDArray-or-Symbol[]"
    assert told["concat"]["dim"] == "int, optional, default='1'"
    assert told["clip"]["a_min"] == "float, required"
    assert told["Dropout"]["p"] == "float, optional, default=0.5"
    assert told["Dropout"]["axes"] == "Shape(tuple), optional, default=[]"
    assert told["Dropout"]["mode"] == "{'always', 'training'},optional, default='training'"
    assert told["topk"]["k"] == "int, optional, default='1'"
    with pytest.raises(mx.MXNetError, match="no op 'arange'"):
        operator.get_operator_arguments("arange")


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32"])
def test_shares_of_a_mean_are_not_rounded_to_its_type(dtype):
    (x,) = _variables([1, 2, 4], world=np)
    with autograd.record():
        y = np.mean(x, dtype=dtype)
    y.backward()
    assert x.grad.asnumpy().tolist() == (onp.ones(3, "float32") / 3).tolist()


def test_custom_op_inside_of_a_block():
    class Doubled(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.Custom(x, op_type="test_scale")

    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(1, in_units=2, weight_initializer="ones"), Doubled())
    net.initialize()
    with autograd.record():
        y = net(nd.array([[1, 2]]))
    y.backward()
    assert _lists(y, net[0].weight.grad()) == [[[6]], [[2, 4]]]
