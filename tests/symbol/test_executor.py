# SPDX-License-Identifier: Apache-2.0
"""Executors: forward and backward, requests, arrays that stay, random networks against autograd."""

from __future__ import annotations

import ctypes
import random
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, nd, sym


def test_gradients_by_request() -> None:
    x, y = sym.var("x"), sym.var("y")
    arrays = {"x": nd.array([2, 3]), "y": nd.array([5, 7])}
    gradients = {"x": nd.ones((2,)), "y": nd.ones((2,))}
    for request, wanted in (("write", [5, 7]), ("add", [6, 8]), ("null", [1, 1])):
        gradients["x"][:] = 1
        run = (x * y).bind(mx.cpu(), arrays, gradients, {"x": request})
        assert run.forward(is_train=True)[0].asnumpy().tolist() == [10, 21]
        run.backward(nd.ones((2,)))
        assert gradients["x"].asnumpy().tolist() == wanted
        assert gradients["y"].asnumpy().tolist() == [1, 1]


def test_gradients_of_losses_that_were_made_into_something_else() -> None:
    """No gradient of an output gets past a loss, so it need not be given."""
    x, label = sym.var("x"), sym.var("label")
    loss = sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=3, name="fc"), label)
    shaped = sym.reshape(loss, shape=(2, 1, 3)) * 5
    both = sym.Group([shaped, sym.BlockGrad(x * 2)])
    gradients = []
    for net in (loss, both):
        run = net.simple_bind(mx.cpu(), x=(2, 4), label=(2,))
        run.arg_dict["x"][:] = nd.arange(8).reshape((2, 4))
        run.arg_dict["fc_weight"][:] = nd.arange(12).reshape((3, 4)) / 12
        run.forward(is_train=True)
        run.backward()
        gradients.append(run.grad_dict["fc_weight"].asnumpy())
    assert abs(gradients[0]).max() > 0.1
    onp.testing.assert_array_equal(gradients[0], gradients[1])
    run = (shaped + sym.reshape(sym.var("y"), shape=(2, 1, 3))).simple_bind(
        mx.cpu(), x=(2, 4), label=(2,), y=(2, 3)
    )
    run.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match="not Loss function"):
        run.backward()


def test_gradients_of_what_does_not_matter() -> None:
    net = sym.BatchNorm(sym.var("x"), name="bn") + sym.BlockGrad(sym.var("y"))
    run = net.simple_bind(mx.cpu(), x=(2, 3))
    for gradient in run.grad_arrays:
        gradient[:] = 7
    run.forward(is_train=True)
    run.backward(nd.ones((2, 3)))
    assert run.grad_dict["y"].asnumpy().tolist() == [[0, 0, 0]] * 2
    assert run.grad_dict["bn_gamma"].asnumpy().tolist() == [0, 0, 0]


def test_backward_again() -> None:
    x = sym.var("x")
    run = (x * x).simple_bind(mx.cpu(), x=(2,))
    run.arg_dict["x"][:] = 3
    run.forward(is_train=True)
    for scale in (1, 2, 3):
        run.backward([nd.ones((2,)) * scale])
        assert run.grad_dict["x"].asnumpy().tolist() == [6 * scale] * 2
    run.forward(is_train=False)
    run.backward([nd.ones((2,)), nd.ones((5,))])  # more than there are outputs are not looked at
    assert run.grad_dict["x"].asnumpy().tolist() == [6, 6]


def test_backward_without_training() -> None:
    """Gradients are those of what the pass before computed: dropout keeps all elements."""
    x = sym.var("x")
    run = (sym.Dropout(x, p=0.5) * x).simple_bind(mx.cpu(), x=(100,))
    run.arg_dict["x"][:] = 3
    run.forward()
    run.backward(nd.ones((100,)))
    assert run.grad_dict["x"].asnumpy().tolist() == [6] * 100
    fresh = (x * x).simple_bind(mx.cpu(), x=(2,))
    fresh.arg_dict["x"][:] = 2
    fresh.backward(nd.ones((2,)))
    assert fresh.grad_dict["x"].asnumpy().tolist() == [4, 4]


def test_backward_again_moves_states_once() -> None:
    run = sym.BatchNorm(sym.var("x"), name="bn", fix_gamma=False).simple_bind(mx.cpu(), x=(2, 1))
    run.arg_dict["x"][:] = nd.array([[1], [3]])
    run.forward(is_train=True)
    run.backward(nd.ones((2, 1)))
    moved = run.aux_dict["bn_moving_mean"].asnumpy()
    run.backward(nd.ones((2, 1)))
    assert moved == pytest.approx(0.2)
    assert run.aux_dict["bn_moving_mean"].asnumpy() == moved


def test_arrays_stay() -> None:
    x = sym.var("x")
    run = sym.exp(x, name="e").simple_bind(mx.cpu(), x=(2,))
    held = run.outputs[0]
    assert held.shape == (2,)
    run.forward(x=nd.array([0, 1]))
    assert onp.allclose(held.asnumpy(), onp.exp([0, 1]))
    run.forward(x=onp.zeros(2, "float32"))
    assert held.asnumpy().tolist() == [1, 1]
    assert list(run.output_dict) == ["e_output"]
    assert run.arg_arrays[0] is run.arg_dict["x"]
    assert run.grad_arrays[0] is run.grad_dict["x"]
    assert run.aux_arrays == []


def test_outputs_may_be_written_before_gradients_are_asked() -> None:
    x = sym.var("x")
    run = sym.exp(x).simple_bind(mx.cpu(), x=(2,))
    for _ in range(2):  # the first pass makes the arrays of the outputs, later ones fill them
        held = run.forward(is_train=True, x=nd.array([0, 1]))[0]
        held += 5
        run.backward(nd.ones(2))
        assert onp.allclose(run.grad_arrays[0].asnumpy(), onp.exp([0, 1]))
        assert onp.allclose(run.outputs[0].asnumpy(), onp.exp([0, 1]) + 5)


def test_bind_by_list_and_what_is_refused() -> None:
    x, y = sym.var("x"), sym.var("y")
    one = nd.ones((2,))
    assert (x + y).bind(mx.cpu(), [one, one]).forward()[0].asnumpy().tolist() == [2, 2]
    run = (x + y).bind(mx.cpu(), {"x": one, "y": one, "unused": one})
    for call, kind in (
        (lambda: (x + y).bind(mx.cpu(), {"x": one}), ValueError),
        (lambda: (x + y).bind(mx.cpu(), [one]), ValueError),
        (lambda: (x + y).bind(mx.cpu(), [one, 3]), TypeError),
        (lambda: (x + y).bind(mx.cpu(), 3), TypeError),
        (lambda: (x + y).bind(mx.cpu(), [one, one], grad_req="foo"), ValueError),
        (lambda: sym.BatchNorm(x, name="b").bind(mx.cpu(), [one] * 3), ValueError),
        (lambda: run.forward(x=nd.ones((3,))), ValueError),
        (lambda: run.forward(nothing=one), TypeError),
        (lambda: run.forward(x=3), ValueError),
        (lambda: run.copy_params_from({"nothing": one}), ValueError),
    ):
        with pytest.raises(kind):
            call()
    run = (x * y).bind(mx.cpu(), [one, one], [one * 0, None])
    run.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match="not Loss function"):
        run.backward()
    with pytest.raises(TypeError):
        run.backward([3])


def test_params_and_reshape() -> None:
    net = sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc")
    run = net.simple_bind(mx.cpu(), data=(4, 3), grad_req="write")
    run.copy_params_from({"fc_weight": nd.ones((2, 3)), "fc_bias": nd.array([1, 2])})
    run.copy_params_from({"more": nd.ones((1,))}, {"states": nd.ones((1,))}, True)
    small = run.reshape(data=(2, 3))
    assert small.arg_dict["fc_weight"] is run.arg_dict["fc_weight"]
    assert small.forward(data=nd.ones((2, 3)))[0].asnumpy().tolist() == [[4, 5]] * 2
    # Smaller arrays are the beginnings of the same memory.
    assert run.arg_dict["data"].asnumpy().tolist() == [[1] * 3] * 2 + [[0] * 3] * 2
    assert run.outputs[0].asnumpy()[:2].tolist() == [[4, 5]] * 2
    with pytest.raises(AssertionError):
        run.reshape(data=(8, 3))
    assert run.reshape(allow_up_sizing=True, data=(8, 3)).outputs[0].shape == (8, 2)
    with pytest.raises(AssertionError):
        run.reshape(data=(4, 2))


def test_simple_bind_types_and_sharing() -> None:
    net = sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc")
    run = net.simple_bind(mx.cpu(), "null", {"data": "float64"}, data=(4, 3))
    assert run.arg_dict["fc_weight"].dtype == onp.float64
    assert run.grad_arrays == [None] * 3
    buffer: dict[str, Any] = {}
    first = net.simple_bind(mx.cpu(), shared_buffer=buffer, data=(4, 3))
    second = net.simple_bind(mx.cpu(), shared_buffer=buffer, data=(4, 3))
    assert second.arg_dict["fc_weight"] is first.arg_dict["fc_weight"]
    third = net.simple_bind(
        mx.cpu(), shared_arg_names=["fc_weight"], shared_exec=first, data=(2, 3)
    )
    assert third.arg_dict["fc_weight"] is first.arg_dict["fc_weight"]
    assert third.arg_dict["fc_bias"] is not first.arg_dict["fc_bias"]
    with (
        pytest.warns(UserWarning, match="Cannot decide"),
        pytest.raises(mx.MXNetError, match="simple_bind"),
    ):
        net.simple_bind(mx.cpu())


def test_simple_bind_ignores_what_is_no_variable() -> None:
    with pytest.warns(UserWarning, match="ignores axis, other: the symbol's variables are x"):
        run = (sym.var("x") + 1).simple_bind(mx.cpu(), x=(2,), axis=1, other=(3, 4))
    assert run.outputs[0].shape == (2,)


def test_outputs_have_their_types_before_they_are_computed() -> None:
    x = sym.var("x", dtype="int32")
    run = sym.Group([sym.Cast(x, dtype="float16"), x * 2]).simple_bind(mx.cpu(), x=(2, 3))
    assert [one.dtype for one in run.outputs] == [onp.float16, onp.int32]
    given = {"x": nd.ones((2,), dtype="float16")}
    assert sym.exp(sym.var("x")).bind(mx.cpu(), given).outputs[0].dtype == onp.float16


def test_what_was_drawn_in_a_pass_that_does_not_train_has_its_own_gradient() -> None:
    run = sym.Dropout(sym.var("x"), p=0.5, mode="always").simple_bind(mx.cpu(), x=(100,))
    run.arg_dict["x"][:] = 1
    run.forward(is_train=False)
    kept = run.outputs[0].asnumpy()
    run.backward(nd.ones((100,)), is_train=False)
    assert set(kept) == {0, 2}
    assert run.grad_dict["x"].asnumpy().tolist() == kept.tolist()


def _watched(symbol: Any, everything: bool, **shapes: Any) -> list[tuple[bytes, tuple[int, ...]]]:
    run = symbol.simple_bind(mx.cpu(), **shapes)
    seen: list[tuple[bytes, tuple[int, ...]]] = []
    run.set_monitor_callback(lambda name, array: seen.append((name, array.shape)), everything)
    run.forward()
    return seen


def test_monitors_see_outputs() -> None:
    net = sym.SliceChannel(sym.exp(sym.var("x"), name="e"), num_outputs=2, name="s")
    assert _watched(net[1], False, x=(2, 4)) == [
        (b"e_output", (2, 4)),
        (b"s_output0", (2, 2)),
        (b"s_output1", (2, 2)),
    ]


def test_monitors_see_inputs_by_the_names_that_mxnet_tells() -> None:
    """Variables come before what reads them; most ops of one input tell its number."""
    x = sym.var("x")
    net = sym.Convolution(x, kernel=(2, 2), num_filter=2, name="conv")
    net = sym.relu(net, name="relu")
    pooled = sym.Pooling(net, kernel=(1, 1), name="pool")
    net = sym.FullyConnected(net + pooled, num_hidden=3, name="fc")
    names = [name.decode() for name, _ in _watched(net, True, x=(1, 1, 3, 3))]
    plus = next(name for name in names if name.endswith("_lhs")).removesuffix("_lhs")
    assert names == [
        *("x", "conv_data", "conv_weight", "conv_weight", "conv_bias", "conv_bias", "conv_output"),
        *("relu_input0", "relu_output", "pool_data", "pool_output"),
        *(f"{plus}_lhs", f"{plus}_rhs", f"{plus}_output"),
        *("fc_data", "fc_weight", "fc_weight", "fc_bias", "fc_bias", "fc_output"),
    ]


def test_monitors_may_take_arrays_for_handles() -> None:
    """As those that were written for MXNet do, which gives them no arrays."""
    seen: dict[bytes, list[float]] = {}

    def see(name: bytes, given: Any) -> None:
        handle = ctypes.cast(given, mx.base.NDArrayHandle)
        seen[name] = mx.nd.NDArray(handle, writable=False).asnumpy().tolist()

    run = sym.exp(sym.var("x"), name="e").simple_bind(mx.cpu(), x=(2,))
    run.set_monitor_callback(see, monitor_all=True)
    run.forward()
    assert seen == {b"x": [0, 0], b"e_input0": [0, 0], b"e_output": [1, 1]}
    handle = ctypes.cast(run.outputs[0], mx.base.NDArrayHandle)
    with pytest.raises(TypeError, match="a monitor is looking at"):
        mx.nd.NDArray(handle)


def test_monitors_stay_with_executors_of_other_shapes() -> None:
    seen: list[tuple[int, ...]] = []
    run = sym.exp(sym.var("data"), name="e").simple_bind(mx.cpu(), data=(4,))
    run.set_monitor_callback(lambda name, array: seen.append(array.shape))
    run.reshape(data=(2,)).forward()
    module = mx.mod.Module(sym.exp(sym.var("data")), label_names=None)
    module.bind([("data", (2, 3))], for_training=False)
    module.init_params()
    module._exec_group.execs[0].set_monitor_callback(lambda name, array: seen.append(array.shape))
    module.forward(mx.io.DataBatch([nd.ones((2, 5))]))
    assert seen == [(2,), (2, 5)]


@pytest.mark.parametrize(
    ("symbol", "wanted"),
    [
        (lambda x: sym.concat(x, x, name="op"), ["x", "op_arg0", "x", "op_arg1"]),
        (lambda x: sym.softmax(x, name="op"), ["x", "op_data"]),
        (lambda x: sym.softmin(x, name="op"), ["x", "op_input0"]),
        (lambda x: sym.squeeze(x, name="op"), ["x", "op_data"]),
        (lambda x: sym.expand_dims(x, axis=0, name="op"), ["x", "op_input0"]),
        (lambda x: sym.Activation(x, act_type="relu", name="op"), ["x", "op_input0"]),
        (lambda x: sym.one_hot(x, depth=3, name="op"), ["x", "op_indices"]),
    ],
)
def test_names_of_single_inputs(symbol: Any, wanted: list[str]) -> None:
    seen = [name.decode() for name, _ in _watched(symbol(sym.var("x")), True, x=(2, 3))]
    assert seen == [*wanted, "op_output"]


def test_custom_ops() -> None:
    class Scale(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):  # type: ignore[no-untyped-def]
            # Values are read here: shapes must be found without a call.
            self.assign(out_data[0], req[0], nd.array(in_data[0].asnumpy()) * in_data[1])

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):  # type: ignore[no-untyped-def]
            self.assign(in_grad[0], req[0], out_grad[0] * in_data[1])
            self.assign(in_grad[1], req[1], out_grad[0] * in_data[0])

    @mx.operator.register("symbol_scale")
    class ScaleProp(mx.operator.CustomOpProp):
        def __init__(self, times: str = "1") -> None:
            super().__init__()
            self.times = int(times)

        def list_arguments(self) -> list[str]:
            return ["data", "factor"]

        def infer_shape(self, in_shape: Any) -> Any:
            return [in_shape[0], in_shape[0]], [in_shape[0]], []

        def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> Scale:
            assert self.times == 2
            return Scale()

    net = sym.Custom(sym.var("x"), op_type="symbol_scale", times=2, name="mine")
    assert net.list_arguments() == ["x", "mine_factor"]
    x, factor = nd.array([1, 2]), nd.array([3, 4])
    gradients = [nd.zeros((2,)), nd.zeros((2,))]
    run = net.bind(mx.cpu(), [x, factor], gradients)
    assert run.forward(is_train=True)[0].asnumpy().tolist() == [3, 8]
    run.backward(nd.ones((2,)))
    assert [one.asnumpy().tolist() for one in gradients] == [[3, 4], [1, 2]]
    assert sym.load_json(net.tojson()).list_arguments() == ["x", "mine_factor"]
    assert net.infer_shape(x=(2, 3)) == ([(2, 3), (2, 3)], [(2, 3)], [])
    run = net.simple_bind(mx.cpu(), x=(2,))
    assert run.forward(x=x, mine_factor=factor)[0].asnumpy().tolist() == [3, 8]
    by_name = sym.Custom(factor=sym.var("f"), data=sym.var("d"), op_type="symbol_scale")
    assert by_name.list_arguments() == ["d", "f"]


def test_ops_that_do_not_exist() -> None:
    net = sym.load_json(
        '{"nodes": [{"op": "null", "name": "x", "inputs": []}, {"op": "Nonsense", "name": "n", '
        '"attrs": {"how": "3"}, "inputs": [[0, 0, 0]]}], "heads": [[1, 0, 0]]}'
    )
    assert net.list_arguments() == ["x"]
    assert "Op:Nonsense, Name=n" in net.debug_str()
    run = net.bind(mx.cpu(), [nd.ones((1,))])
    with pytest.raises(NotImplementedError, match=r"operator n: \[Nonsense\]"):
        run.forward()


def test_an_error_names_the_node() -> None:
    net = sym.dot(sym.var("a"), sym.var("b"), name="product")
    run = net.bind(mx.cpu(), [nd.ones((2, 3)), nd.ones((2, 3))])
    with pytest.raises(mx.MXNetError, match=r"Error in operator product(.|\n)*\(2, 3\), \(2, 3\)"):
        run.forward()


UNARY = ("exp", "tanh", "sigmoid", "square", "relu", "abs", "sin")
BINARY = ("__add__", "__sub__", "__mul__")


def build(functions: Any, x: Any, y: Any, seed: int) -> Any:
    """Return a random network: the same from symbols and from arrays."""
    draw = random.Random(seed)
    values = [x, y]
    for _ in range(draw.randint(3, 15)):
        kind = draw.random()
        chosen = draw.choice(values)
        if kind < 0.4:
            values.append(getattr(functions, draw.choice(UNARY))(chosen * 0.5))
        elif kind < 0.8:
            values.append(getattr(chosen, draw.choice(BINARY))(draw.choice(values)))
        elif kind < 0.9:
            values.append(functions.FullyConnected(chosen, y, num_hidden=3, no_bias=True))
        else:
            values.append(
                functions.broadcast_mul(chosen, functions.mean(chosen, axis=0, keepdims=True))
            )
    return functions.tanh(functions.add_n(x, y, *values[-3:]))


@pytest.mark.parametrize("number", range(40))
def test_random_networks_equal_eager_calls(number: int, seed: int) -> None:
    onp.random.seed(seed + number)
    x, y = (nd.array(onp.random.uniform(-1, 1, (3, 3))) for _ in range(2))
    symbol = build(sym, sym.var("x"), sym.var("y"), seed + number)
    assert symbol.infer_shape(x=(3, 3), y=(3, 3))[1] == [(3, 3)]
    gradients = {"x": nd.zeros((3, 3)), "y": nd.zeros((3, 3))}
    for graph in (symbol, sym.load_json(symbol.tojson())):
        run = graph.bind(mx.cpu(), {"x": x, "y": y}, gradients)
        answer = run.forward(is_train=True)[0]
        run.backward(nd.ones((3, 3)))
        x.attach_grad()
        y.attach_grad()
        with autograd.record():
            wanted = build(nd, x, y, seed + number)
        wanted.backward()
        assert onp.array_equal(answer.asnumpy(), wanted.asnumpy())
        for name, array in (("x", x), ("y", y)):
            found, eager = gradients[name].asnumpy(), array.grad.asnumpy()
            assert onp.allclose(found, eager, rtol=1e-4, atol=1e-5)


def test_what_results_take_at_once() -> None:
    """Without gradients a chain needs two of its results, with them all."""

    def megabytes(symbol: mx.sym.Symbol, **given: object) -> int:
        text = symbol.simple_bind(mx.cpu(), x=(1024, 1024), **given).debug_str()
        return int(text.split("Total ")[1].split(" MB")[0])

    chain = sym.var("x")
    for _ in range(5):
        chain = chain * chain
    assert megabytes(chain) == 20
    assert megabytes(chain, grad_req="null") == 8
    assert megabytes(sym.stop_gradient(chain)) == 8
