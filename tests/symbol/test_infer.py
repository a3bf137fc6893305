# SPDX-License-Identifier: Apache-2.0
"""Shapes that are known in part, attributes that belong to no op, groups of devices."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd, sym

A, B, C = sym.var("a"), sym.var("b"), sym.var("c")

#: A symbol, what is known of its inputs, and of its first output.
FORWARD: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "dot": (sym.dot(A, B), {"a": (0, 3, 4), "b": (4, 5)}, (0, 3, 5)),
    "batch_dot": (sym.batch_dot(A, B), {"a": (0, 3, 4), "b": (0, 4, 5)}, (0, 3, 5)),
    "a common extent is missing": (sym.batch_dot(A, B), {"a": (0, 3, 4), "b": (0, 0, 5)}, ()),
    "transpose": (sym.transpose(A, axes=(0, 2, 1)), {"a": (0, 3, 0)}, (0, 0, 3)),
    "pick": (sym.pick(A, B, axis=1), {"a": (0, 3, 3), "b": (0, 3)}, (0, 3)),
    "embedding": (
        sym.Embedding(A, weight=B, input_dim=9, output_dim=2),
        {"a": (0, 5), "b": (9, 2)},
        (0, 5, 2),
    ),
    "dense": (sym.FullyConnected(A, num_hidden=7), {"a": (0, 3)}, (0, 7)),
    "dense keeps axes": (
        sym.FullyConnected(A, num_hidden=7, flatten=False),
        {"a": (0, 5, 3)},
        (0, 5, 7),
    ),
    "convolution": (
        sym.Convolution(A, kernel=(3, 3), num_filter=4, stride=(2, 2)),
        {"a": (0, 3, 32, 0)},
        (0, 4, 15, 0),
    ),
    "pooling": (sym.Pooling(A, kernel=(2, 2), stride=(2, 2)), {"a": (0, 3, 8, 8)}, (0, 3, 4, 4)),
    "reduction": (sym.sum(A, axis=1), {"a": (0, 3, 4)}, (0, 4)),
    "reduction of what is unknown": (sym.mean(A, axis=0), {"a": (0, 3)}, (3,)),
    "expanded": (sym.expand_dims(A, axis=0), {"a": (0, 3)}, (1, 0, 3)),
    "reshaped": (sym.reshape(A, shape=(0, -1)), {"a": (0, 3, 4)}, (0, 12)),
    "flattened": (sym.flatten(A), {"a": (0, 3, 4)}, (0, 12)),
    "concatenated": (sym.concat(A, B, dim=1), {"a": (0, 3), "b": (0, 4)}, (0, 7)),
    "stacked": (sym.stack(A, B, axis=1), {"a": (0, 3), "b": (0, 3)}, (0, 2, 3)),
    "sliced": (sym.slice_axis(A, axis=1, begin=1, end=3), {"a": (0, 5)}, (0, 2)),
    "what there is of a slice": (sym.slice_axis(A, axis=1, begin=0, end=5), {"a": (9, 0)}, (9, 0)),
    "slices of both": (
        sym.slice(A, begin=(2, 3), end=(7, 10), step=(3, 3)),
        {"a": (0, 20)},
        (0, 3),
    ),
    "tiled": (sym.tile(A, reps=(1, 2)), {"a": (0, 3)}, (0, 6)),
    "softmax": (sym.softmax(A), {"a": (0, 3)}, (0, 3)),
    "broadcast": (sym.broadcast_add(A, B), {"a": (0, 3), "b": (1, 3)}, (0, 3)),
    "where needs all": (sym.where(C, A, B), {"a": (0, 2), "b": (0, 2), "c": (0, 2)}, ()),
}


@pytest.mark.parametrize("name", FORWARD)
def test_unknown_extents_pass_through_ops(name: str) -> None:
    symbol, given, wanted = FORWARD[name]
    assert symbol.infer_shape_partial(**given)[1] == [wanted]
    if name in ("reshaped",):  # whose parameter has a 0 of its own
        return
    with mx.np_shape(True):
        known = {key: tuple(extent or -1 for extent in shape) for key, shape in given.items()}
        shape = tuple(extent or -1 for extent in wanted) or None
        assert symbol.infer_shape_partial(**known)[1] == [shape]


#: A symbol, what is known, and what follows for the input ``a``.
BACKWARD: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "elements": (A + B, {"a": (0, 10), "b": (12, 0)}, (12, 10)),
    "dense": (sym.FullyConnected(A, num_hidden=4) + B, {"a": (0, 10), "b": (5, 0)}, (5, 10)),
    "convolution": (
        sym.Convolution(A, kernel=(3, 3), num_filter=4) + B,
        {"a": (0, 10, 0, 0), "b": (5, 4, 30, 28)},
        (5, 10, 32, 30),
    ),
    "parts": (
        sym.SliceChannel(A, num_outputs=3)[1] + B,
        {"a": (0, 15, 0), "b": (3, 5, 2)},
        (3, 15, 2),
    ),
    "parts without the axis": (
        sym.SliceChannel(A, num_outputs=10, squeeze_axis=True)[1] + B,
        {"a": (0, 10), "b": (5,)},
        (5, 10),
    ),
    "concatenated": (
        sym.concat(A, C, dim=1) + B,
        {"a": (0, 10), "c": (0, 5), "b": (2, 0)},
        (2, 10),
    ),
    "what is left": (
        sym.concat(A, C, dim=1) + B,
        {"a": (2, 0), "c": (2, 5), "b": (2, 12)},
        (2, 7),
    ),
    "transpose": (sym.transpose(A) + B, {"a": (0, 3), "b": (3, 7)}, (7, 3)),
    "twice the size is no extent of the input": (
        sym.tile(A, reps=(2, 1)) + B,
        {"a": (0, 3), "b": (8, 3)},
        (0, 3),
    ),
    "reshaped": (
        sym.reshape(A, shape=(-1, 0, 0), reverse=True) + B,
        {"a": (2, 3, 0, 4), "b": (6, 5, 4)},
        (2, 3, 5, 4),
    ),
    "reshaped to what cannot be": (
        sym.reshape(A, shape=(-1, 2)) + B,
        {"a": (5, 0), "b": (6, 2)},
        (5, 0),
    ),
    "as another": (
        sym._internal._identity_with_attr_like_rhs(sym.broadcast_add(A, B), A),
        {"a": (0, 3), "b": (1,)},
        (0, 3),
    ),
}


@pytest.mark.parametrize("name", BACKWARD)
def test_extents_of_inputs_follow_from_results(name: str) -> None:
    symbol, given, wanted = BACKWARD[name]
    shapes = dict(zip(symbol.list_arguments(), symbol.infer_shape_partial(**given)[0], strict=True))
    assert shapes["a"] == wanted


def test_weights_that_are_computed_get_their_shapes() -> None:
    weight = sym._internal._identity_with_attr_like_rhs(sym.broadcast_add(A, B), A)
    net = sym.FullyConnected(C, weight=weight, num_hidden=11, no_bias=True)
    names, shapes = net.list_arguments(), net.infer_shape(c=(7, 100), b=(1,))[0]
    assert dict(zip(names, shapes, strict=True))["a"] == (11, 100)


def test_nothing_is_drawn_or_computed_to_find_shapes() -> None:
    mx.random.seed(3)
    before = nd.random.uniform(shape=(2,)).asnumpy()
    mx.random.seed(3)
    noisy = sym.Dropout(sym.FullyConnected(A, num_hidden=10**6), p=0.5)
    assert noisy.infer_shape_partial(a=(0, 10**6))[1] == [(0, 10**6)]
    assert nd.random.uniform(shape=(2,)).asnumpy().tolist() == before.tolist()


@pytest.mark.parametrize(
    ("left", "right"), [((2, 3), (-1, -1)), ((2, -1), (3, -1)), ((0, 3), (0, 2))]
)
def test_open_extents_of_new_arrays_follow_from_each_other(left: Any, right: Any) -> None:
    net = sym.ones(shape=left) + sym.transpose(sym.ones(shape=right))
    assert net.infer_shape()[1] == [(2, 3)]
    (result,) = net.bind(mx.cpu(), {}).forward()
    assert result.asnumpy().tolist() == [[2] * 3] * 2


def test_what_is_unknown_is_told_as_each_world_tells_it() -> None:
    assert sym.sin(A).infer_shape_partial() == ([()], [()], [])
    with mx.np_shape(True):
        assert sym.sin(A).infer_shape_partial() == ([None], [None], [])


def test_shapes_that_are_given_go_before_those_of_variables() -> None:
    x = sym.var("x", shape=(2, 3))
    assert (x + A).infer_shape()[0] == [(2, 3), (2, 3)]
    assert (x + A).infer_shape(x=(5, 6))[0] == [(5, 6), (5, 6)]


def test_files_with_open_extents_mean_the_same_with_shapes_of_np() -> None:
    weight = sym.var("weight", shape=(8, 0))
    text = sym.FullyConnected(sym.var("data"), weight, num_hidden=8).tojson()
    for flag in (False, True):
        with mx.np_shape(flag):
            assert sym.load_json(text).infer_shape(data=(2, 5))[0][1] == (8, 5)


def test_types_follow_from_what_results_are_needed_as() -> None:
    symbol = sym.elemwise_add(A * 2, sym.var("b", dtype="float64"))
    assert symbol.infer_type()[0] == [onp.float64, onp.float64]


# --- attributes ---


def test_lengths_are_integers() -> None:
    net = sym.softmax(A, B, use_length=True, axis=1)
    assert net.infer_type(a="float16") == ([onp.float16, onp.int32], [onp.float16], [])
    run = net.simple_bind(mx.cpu(), a=(2, 3), b=(2,))
    run.arg_dict["b"][:] = [1, 2]
    assert run.forward()[0].asnumpy().tolist() == [[1, 0, 0], [0.5, 0.5, 0]]


def test_multipliers_of_ops_are_those_of_their_variables() -> None:
    net = sym.FullyConnected(A, name="fc", num_hidden=2, lr_mult=0.5, wd_mult=0)
    attributes = net.attr_dict()
    assert attributes["fc"]["lr_mult"] == attributes["fc"]["__lr_mult__"] == "0.5"
    assert attributes["fc_weight"]["__wd_mult__"] == "0"
    assert sym.load_json(net.tojson()).attr_dict() == attributes
    optimizer = mx.optimizer.SGD(learning_rate=1, sym=net, param_idx2name={0: "fc_weight"})
    assert optimizer._get_lr(0) == 0.5


def test_keywords_of_ops_without_parameters_are_kept_and_ignored() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            product = sym.broadcast_div(A, B, axis=-1)
    assert [str(one.message) for one in caught] == [
        "broadcast_div has no parameters; axis is ignored"
    ]
    assert product.list_attr() == {"axis": "-1"}
    assert product.eval(a=nd.ones((2,)), b=nd.ones((2,)))[0].asnumpy().tolist() == [1, 1]
    with pytest.raises(mx.MXNetError, match="Cannot find argument 'foo'"):
        sym.FullyConnected(A, num_hidden=2, foo=3)


def test_symbols_that_are_no_inputs() -> None:
    """MXNet 1.9.1 ignores them where an op has no inputs at all, and refuses them elsewhere."""
    with pytest.warns(UserWarning, match="_ones has no inputs; data is ignored"):
        ones = sym.ones((2,), data=A)
    assert ones.list_inputs() == []
    assert ones.list_attr() == {"dtype": "float32", "shape": "(2,)"}
    with pytest.raises(mx.MXNetError, match="Keyword argument name other not found"):
        sym.exp(A, other=B)


@pytest.mark.parametrize(
    "drawn", [sym.random.normal, sym.random.uniform, sym.random.randn, lambda: sym.random.gamma()]
)
def test_random_numbers_without_a_shape_have_that_of_what_is_beside_them(drawn: Any) -> None:
    symbol = drawn() + A
    assert symbol.infer_shape(a=(2, 3)) == ([(2, 3)], [(2, 3)], [])
    (result,) = symbol.eval(a=nd.zeros((2, 3)))
    assert result.shape == (2, 3)
    assert len({*result.asnumpy().ravel()}) == 6
    with pytest.warns(UserWarning, match="Cannot decide shape"):
        assert drawn().infer_shape() == (None, None, None)


def test_numbers_of_numpy_are_written_as_numbers() -> None:
    symbol = sym.transpose(A, axes=tuple(onp.array([1, 0])))
    assert json.loads(symbol.tojson())["nodes"][1]["attrs"] == {"axes": "(1, 0)"}
    assert symbol.eval(a=nd.ones((2, 3)))[0].shape == (3, 2)


def test_children_of_several_outputs_of_one_node_are_listed_once() -> None:
    parts = sym.SliceChannel(A, num_outputs=3, name="parts")
    children = parts.get_children()
    assert children is not None
    assert children.list_outputs() == ["a"]


def test_an_op_alone() -> None:
    alone = sym.SliceChannel(A, num_outputs=2, name="parts")._gen_atomic_symbol()
    assert (alone.list_inputs(), alone.list_outputs()) == ([], ["output0", "output1"])


def test_arrays_live_on_the_devices_of_their_groups() -> None:
    with mx.AttrScope(ctx_group="first"):
        hidden = sym.FullyConnected(A, num_hidden=3, name="fc1")
    with mx.AttrScope(ctx_group="second"):
        net = sym.FullyConnected(hidden, num_hidden=2, name="fc2")
    devices = {"first": mx.cpu(1), "second": mx.cpu(2)}
    run = net.simple_bind(mx.cpu(0), group2ctx=devices, a=(4, 5))
    for name, array in run.arg_dict.items():
        assert array.context == (mx.cpu(2) if name.startswith("fc2") else mx.cpu(1))
        assert run.grad_dict[name].context == array.context
        array[:] = 1
    assert run.forward(is_train=True)[0].asnumpy().tolist() == [[19, 19]] * 4
    run.backward(nd.ones((4, 2)))
    assert run.grad_dict["a"].asnumpy().tolist() == [[6] * 5] * 4


def test_calls_that_are_only_inferred_leave_nothing_behind() -> None:
    from afterglow._core import infer_only

    x = nd.ones((2, 3))

    def inner() -> Any:
        return infer_only(lambda: nd.dot(x, x.T))

    def outer() -> Any:
        inner()
        x[:] = 5  # inferred as well, though another such scope has ended before
        return x + 1

    y = infer_only(outer)
    assert y.shape == (2, 3)
    with pytest.raises(mx.MXNetError):
        y.asnumpy()
    assert x.asnumpy().tolist() == [[1] * 3] * 2
    assert (x + 1).asnumpy().tolist() == [[2] * 3] * 2


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("layers", [1, 2])
def test_recurrent_layers_of_both_directions_find_the_size_of_their_data(
    kind: str, layers: int
) -> None:
    net = getattr(mx.gluon.rnn, kind)(3, layers, bidirectional=True)
    net.initialize()
    symbol = net(sym.var("data"))
    shapes, outputs, _ = symbol.infer_shape(data=(5, 2, 4))
    assert outputs == [(5, 2, 6)]
    found = dict(zip(symbol.list_arguments(), shapes, strict=True))
    gates = {"RNN": 1, "LSTM": 4, "GRU": 3}[kind]
    for side in "lr":
        assert found[f"{net.prefix}{side}0_i2h_weight"] == (3 * gates, 4)
        if layers == 2:
            assert found[f"{net.prefix}{side}1_i2h_weight"] == (3 * gates, 6)
