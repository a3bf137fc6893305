# SPDX-License-Identifier: Apache-2.0
"""Symbols: names, attributes, composition, parts, shapes, types, what is refused."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from typing import Any

import numpy as onp
import pytest
from support import runs_later

import afterglow as mx
from afterglow import nd, np, npx, sym


def dense() -> Any:
    return sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc")


def test_names_count_up() -> None:
    with mx.name.NameManager():
        x = sym.var("x")
        names = [
            (x + 1).name,
            (x + 1).name,
            (x + x).name,
            sym.exp(x).name,
            sym.exp(x, name="e").name,
        ]
    assert names == ["_plusscalar0", "_plusscalar1", "_plus0", "exp0", "e"]
    with mx.name.Prefix("left_"):
        assert sym.exp(x).name == "left_exp0"
        assert sym.exp(x, name="e").name == "left_e"


def test_lists() -> None:
    net = sym.BatchNorm(dense(), name="bn")
    assert net.list_arguments() == ["data", "fc_weight", "fc_bias", "bn_gamma", "bn_beta"]
    assert net.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert net.list_outputs() == ["bn_output"]
    assert net.list_inputs() == [*net.list_arguments(), *net.list_auxiliary_states()]
    assert sym.BatchNorm(sym.var("x"), name="b", output_mean_var=True).list_outputs() == [
        "b_output",
        "b_mean",
        "b_var",
    ]
    assert sym.var("x").list_outputs() == ["x"]
    assert sym.topk(sym.var("x"), k=2, ret_typ="both", name="t").list_outputs() == [
        "t_output0",
        "t_output1",
    ]


def test_attributes() -> None:
    with mx.AttrScope(ctx_group="dev1", __foo__="1"), mx.attribute.AttrScope(more="2"):
        x = sym.var("data", attr={"mood": "angry"}, lr_mult=2, shape=(2, 3))
        y = sym.FullyConnected(x, num_hidden=3, name="fc", attr={"__bar__": "3"})
    assert x.attr("mood") == "angry"
    assert x.attr("ctx_group") == x.attr("__ctx_group__") == "dev1"
    assert (x.attr("lr_mult"), x.attr("more"), x.attr("nothing")) == ("2", "2", None)
    assert y.list_attr()["__bar__"] == "3"
    assert y.attr_dict()["fc"]["num_hidden"] == "3"
    # Inputs that are made along the way take the attributes of the op, as in MXNet.
    assert y.attr_dict()["fc_weight"]["__bar__"] == "3"
    x._set_attr(mood="calm")
    assert y.attr_dict()["data"]["mood"] == "calm"
    assert mx.AttrScope.current.get(None) == {}


def test_variables() -> None:
    x = sym.Variable(
        "v", shape=(2, 0), lr_mult=1.5, wd_mult=2, dtype="float16", init=mx.init.One(), stype="csr"
    )
    assert x.list_attr() == {
        "__shape__": "(2, 0)",
        "__lr_mult__": "1.5",
        "lr_mult": "1.5",
        "__wd_mult__": "2",
        "wd_mult": "2",
        "__dtype__": "2",
        "__init__": '["one", {}]',
        "__storage_type__": "2",
    }
    assert sym.var("v", __mine__=3).attr("__mine__") == "3"


def test_parts() -> None:
    net = sym.Activation(dense(), act_type="relu", name="act")
    internals = net.get_internals()
    assert internals.list_outputs() == ["data", "fc_weight", "fc_bias", "fc_output", "act_output"]
    assert internals["fc_output"].name == "fc"
    assert internals["data"].list_arguments() == ["data"]
    assert internals[3].list_outputs() == ["fc_output"]
    assert internals[1:3].list_outputs() == ["fc_weight", "fc_bias"]
    assert net.get_children().list_outputs() == ["fc_output"]
    assert sym.var("x").get_children() is None
    parts = sym.split(sym.var("x"), num_outputs=3, name="cut")
    assert len(parts) == parts.num_outputs == 3
    assert [one.list_outputs() for one in parts] == [[f"cut_output{i}"] for i in range(3)]
    assert parts[1].list_outputs() == ["cut_output1"]


def test_groups() -> None:
    x = sym.var("x")
    group = sym.Group([x, x + 1, sym.split(x, num_outputs=2, name="cut")])
    assert len(group) == 4
    assert group.name is None
    assert repr(sym.Group([x, sym.exp(x, name="e")])) == "<Symbol group [x, e]>"
    answers = group.eval(x=nd.array([[1, 2]]))
    assert [one.asnumpy().tolist() for one in answers] == [[[1, 2]], [[2, 3]], [[1]], [[2]]]
    with pytest.raises(TypeError):
        sym.Group([])
    with pytest.raises(TypeError):
        sym.Group([1])


def test_composition() -> None:
    net = dense()
    other = net(data=sym.exp(sym.var("z")), name="again")
    assert other.list_arguments() == ["z", "fc_weight", "fc_bias"]
    assert (other.name, net.name) == ("again", "fc")
    assert net.list_arguments() == ["data", "fc_weight", "fc_bias"]
    weights = {"fc_weight": nd.ones((3, 2)), "fc_bias": nd.zeros((3,))}
    answer = other.eval(z=nd.zeros((1, 2)), **weights)[0]
    assert answer.asnumpy().tolist() == [[2, 2, 2]]
    twice = net(data=net(fc_weight=sym.var("w"), fc_bias=sym.var("b")))
    assert twice.list_arguments() == ["data", "w", "b", "fc_weight", "fc_bias"]
    with pytest.raises(TypeError):
        net(sym.var("z"))
    with pytest.raises(TypeError):
        net(data=3)
    with pytest.raises(mx.MXNetError, match="nothing"):
        net(nothing=sym.var("z"))


def test_copies_and_pickles() -> None:
    net = sym.BatchNorm(dense(), name="bn")
    for other in (copy.copy(net), copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.tojson() == net.tojson()
        other.get_internals()["data"]._set_attr(mood="x")
    assert "data" not in net.attr_dict()


def test_functions_are_those_of_nd() -> None:
    assert sym.concat.__name__ == "concat"
    assert sym.exp.__doc__ == nd.exp.__doc__
    assert not hasattr(sym, "no_such_function")
    assert not hasattr(sym, "array")
    assert {"exp", "FullyConnected", "var"} <= set(dir(sym))
    assert sym.linalg.gemm2(sym.var("a"), sym.var("b")).list_arguments() == ["a", "b"]
    assert sym.contrib.isnan(sym.var("a")).eval(a=nd.array([1]))[0].asscalar() == 0
    assert sym._internal._plus_scalar(sym.var("a"), scalar=2).eval(a=nd.ones((1,)))[0] == 3
    assert mx.sym is mx.symbol is sym


def test_methods() -> None:
    x = sym.var("x")
    value = onp.arange(6, dtype="float32").reshape(2, 3)
    for symbol, wanted in (
        (x.sum(axis=1), value.sum(1)),
        (x.reshape((3, 2)), value.reshape(3, 2)),
        (x.reshape(3, -1), value.reshape(3, 2)),
        (x.reshape(shape=(-1,)), value.ravel()),
        (x.transpose(), value.T),
        (x.transpose((1, 0)), value.T),
        (x.astype("int32"), value.astype("int32")),
        (x.slice(begin=(0, 1), end=(2, 3)), value[:, 1:3]),
        (x.expand_dims(axis=0), value[None]),
        (x.clip(1, 4), value.clip(1, 4)),
        (x.detach().square(), value**2),
    ):
        answer = symbol.eval(x=nd.array(value))[0].asnumpy()
        assert answer.dtype == wanted.dtype
        assert onp.array_equal(answer, wanted)
    for name in ("asnumpy", "asscalar", "wait_to_read", "copy", "backward"):
        with pytest.raises(mx.error.NotImplementedForSymbol):
            getattr(x, name)
    with pytest.raises(AttributeError):
        x.nothing


def test_none_is_a_value() -> None:
    x = sym.slice_axis(sym.var("x"), axis=0, begin=1, end=None)
    assert x.attr("end") == "None"
    assert x.eval(x=nd.arange(3))[0].asnumpy().tolist() == [1, 2]
    assert sym.sum(x, axis=None).attr("axis") == "None"
    wide = sym.broadcast_to(sym.var("x"), shape=(3, 0))
    assert wide.infer_shape(x=(1, 4))[1] == [(3, 4)]


def test_refusals() -> None:
    x = sym.var("x")
    for call, kind in (
        (lambda: bool(x), mx.error.NotImplementedForSymbol),
        (lambda: x.__iadd__(1), mx.error.NotImplementedForSymbol),
        (lambda: (x + x)[3], IndexError),
        (lambda: (x + x)["nothing"], ValueError),
        (lambda: (x + x)[1.5], TypeError),
        (lambda: x + "text", TypeError),
        (lambda: sym.FullyConnected(x), mx.MXNetError),
        (lambda: sym.FullyConnected(x, num_hidden=3, foo=1), mx.MXNetError),
        (lambda: sym.FullyConnected(5, num_hidden=3), AssertionError),
        (lambda: sym.exp(nd.ones((1,))), AssertionError),
        (lambda: sym.exp(sym.Group([x, x])), mx.MXNetError),
        (lambda: sym.exp(x, x, x), TypeError),
        (lambda: sym.var(3), TypeError),
        (lambda: sym.var("v", foo=1), ValueError),
        (lambda: sym.var("v", attr={"a": 1}), ValueError),
        (lambda: mx.AttrScope(a=1), ValueError),
        (lambda: x.gradient(["x"]), mx.MXNetError),
        (lambda: sym.contrib.foreach(lambda row, s: (row, s), [], []), ValueError),
        (lambda: sym.load_json(3), TypeError),
        (lambda: sym.Group([x, x + 1]).list_attr(), mx.MXNetError),
        (lambda: x.list_attr(recursive=True), DeprecationWarning),
    ):
        with pytest.raises(kind):
            call()


# --- shapes and types ---


def test_shapes_complete_each_other() -> None:
    a, b = sym.var("a"), sym.var("b")
    assert (a + b).infer_shape(a=(2, 3)) == ([(2, 3), (2, 3)], [(2, 3)], [])
    assert (a + b).infer_shape((2, 3)) == ([(2, 3), (2, 3)], [(2, 3)], [])
    # From behind: what is added must have the shape of the product.
    net = sym.exp(b) + dense()
    assert net.infer_shape(data=(5, 2)) == (
        [(5, 3), (5, 2), (3, 2), (3,)],
        [(5, 3)],
        [],
    )
    declared = sym.FullyConnected(sym.var("x", shape=(4, 2)), num_hidden=1)
    assert declared.infer_shape() == ([(4, 2), (1, 2), (1,)], [(4, 1)], [])


def test_unknown_shapes() -> None:
    net = dense()
    with pytest.warns(UserWarning, match="data"):
        assert net.infer_shape() == (None, None, None)
    assert net.infer_shape_partial() == ([(), (), ()], [()], [])
    assert net.infer_shape_partial(data=(0, 7)) == ([(0, 7), (3, 7), (3,)], [(0, 3)], [])
    with pytest.warns(UserWarning, match="Cannot decide"):
        assert net.infer_shape(data=(0, 7)) == (None, None, None)


def test_shapes_that_do_not_fit() -> None:
    net = dense()
    with pytest.raises(mx.MXNetError, match=r"Error in operator fc.*\(3, 8\).*\(3, 7\)"):
        net.infer_shape(data=(2, 7), fc_weight=(3, 8))
    with pytest.raises(mx.MXNetError, match="nothing"):
        net.infer_shape(nothing=(2, 7))
    with pytest.raises(ValueError, match="positional"):
        net.infer_shape((2, 7), fc_weight=(3, 7))
    with pytest.raises(mx.MXNetError, match=r"Error in operator r: .*\n.*\(2, 3\)"):
        sym.reshape(sym.var("x"), shape=(7, 7), name="r").infer_shape(x=(2, 3))


@runs_later
def test_nothing_is_computed_for_shapes() -> None:
    huge = 1 << 18
    x = sym.var("x")
    net = sym.dot(sym.exp(x), sym.transpose(x))
    mx.memory.reset_peak()
    before = mx.memory.peak()
    assert net.infer_shape(x=(huge, huge))[1] == [(huge, huge)]
    nd.waitall()
    assert mx.memory.peak() - before < 1 << 24


def test_random_numbers_are_not_drawn_for_shapes() -> None:
    net = sym.random.normal(shape=(2, 3)) + sym.Dropout(sym.var("x"), p=0.5)
    mx.random.seed(1)
    wanted = nd.random.normal(shape=(4,)).asnumpy()
    mx.random.seed(1)
    assert net.infer_shape(x=(2, 3))[1] == [(2, 3)]
    assert onp.array_equal(nd.random.normal(shape=(4,)).asnumpy(), wanted)


def test_types() -> None:
    f32, f64, f16, i32 = onp.float32, onp.float64, onp.float16, onp.int32
    a, b = sym.var("a"), sym.var("b")
    assert dense().infer_type(data="float64") == ([f64] * 3, [f64], [])
    assert sym.cast(a, "float16").infer_type(a="float64") == ([f64], [f16], [])
    assert (a + b).infer_type(b="float64") == ([f64, f64], [f64], [])
    embed = sym.Embedding(a, input_dim=3, output_dim=4)
    assert embed.infer_type(a="int32") == ([i32, f32], [f32], [])
    net = sym.BatchNorm(a, name="bn")
    assert net.infer_type(a="float16") == ([f16, f32, f32], [f16], [f32, f32])
    chosen = sym.where(a > 0, b, b)
    assert chosen.infer_type(a="int32", b="float64") == ([i32, f64], [f64], [])
    chosen = sym.np.where(a.as_np_ndarray() > 0, b.as_np_ndarray(), 0.5)
    assert chosen.infer_type(a="int32", b="float64") == ([i32, f64], [f64], [])
    assert sym.argmax(a, axis=0).infer_type(a="float64")[1] == [f32]
    with pytest.warns(UserWarning, match="Cannot decide"):
        assert dense().infer_type() == (None, None, None)
    assert dense().infer_type_partial() == ([None] * 3, [None], [])


def test_numpy_functions_take_what_those_of_arrays_take() -> None:
    x = sym.var("x").as_np_ndarray()
    for name in ("sum", "max", "argmax", "concatenate", "vstack", "swapaxes", "clip", "eye"):
        wanted = inspect.signature(getattr(np, name))
        assert inspect.signature(getattr(sym.np, name)) == wanted
    assert sym.np.max(x, 1, True).infer_shape(x=(2, 3))[1] == [(2, 1)]
    assert sym.np.argmax(x, axis=1, keepdims=True).list_attr() == {"axis": "1", "keepdims": "True"}
    assert sym.np.sum(x, name="total").name == "total"
    with pytest.raises(TypeError, match=r"clip\(\): missing a required argument: 'a_max'"):
        sym.np.clip(x, 1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'bogus'"):
        sym.np.sum(x, bogus=1)


def test_numpy_functions_of_two_names_are_one_op() -> None:
    x = sym.var("x").as_np_ndarray()
    for name, op in (("amax", "_np_max"), ("product", "_np_prod"), ("sometrue", "_np_any")):
        assert json.loads(getattr(sym.np, name)(x).tojson())["nodes"][1]["op"] == op


def test_operators_between_both_kinds_are_those_of_numpy() -> None:
    x, y = sym.var("x"), sym.var("y").as_np_ndarray()
    for symbol in (x + y, y + x, x - y, y - x, x > y, y > x):
        assert type(symbol) is type(y)
        assert json.loads(symbol.tojson())["nodes"][2]["op"].startswith("_npi_")
    assert (x - y).list_arguments() == ["x", "y"]


def test_numpy_symbols() -> None:
    npx.set_np()
    try:
        x = sym.var("x").as_np_ndarray()
        y = sym.np.sum(sym.npx.relu(x[:, 1:] * 2 - 1)) / 3
        assert repr(y).startswith("<_Symbol true_divide_scalar")
        answer = y.eval(x=np.array([[1, 2], [3, 4]]))[0]
        assert type(answer) is np.ndarray
        assert answer.shape == ()
        assert float(answer) == pytest.approx(10 / 3)
        assert y.infer_shape(x=(2, 2)) == ([(2, 2)], [()], [])
        assert x.as_nd_ndarray().list_outputs() == ["x"]
        value = onp.arange(6, dtype="float32").reshape(2, 3)
        for symbol, wanted in (
            (x.T, value.T),
            (x[1], value[1]),
            (x[-1], value[-1]),
            (x[:, 1], value[:, 1]),
            (x.reshape(3, 2) @ x, value.reshape(3, 2) @ value),
            (2 - x, 2 - value),
            (2 / (x + 1), 2 / (value + 1)),
            (x.mean(axis=1, keepdims=True), value.mean(1, keepdims=True)),
            (sym.np.concatenate([x, x], axis=1), onp.concatenate([value, value], 1)),
            (sym.np.stack([x, x]), onp.stack([value, value])),
            (sym.np.einsum("ij,kj->ik", x, x), value @ value.T),
            (sym.np.where(x > 2, x, 0), onp.where(value > 2, value, 0)),
            (sym.np.maximum(x, 2), onp.maximum(value, 2)),
            (sym.np.split(x, 3, axis=1)[1], value[:, 1:2]),
            (sym.np.tensordot(x, x, ([1], [1])), onp.tensordot(value, value, ([1], [1]))),
            (sym.np.linalg.norm(x), onp.linalg.norm(value)),
            (sym.np.ones((2, 3)) + x, value + 1),
            (sym.np.var(x, axis=0), value.var(0)),
        ):
            found = symbol.eval(x=np.array(value))[0].asnumpy()
            assert found.shape == wanted.shape
            assert onp.allclose(found, wanted, rtol=1e-5)
            again = sym.load_json(symbol.tojson()).eval(x=np.array(value))[0].asnumpy()
            assert onp.array_equal(again, found)
    finally:
        npx.reset_np()


def test_average_and_append_take_symbols() -> None:
    """Nodes, attributes and outputs are those of MXNet 1.9.1."""
    x, w = (sym.var(name).as_np_ndarray() for name in "xw")
    values = {"x": np.array([[1, 2, 3], [4, 5, 7]]), "w": np.array([[1, 2, 1], [3, 1, 1]])}
    first, second = (one.asnumpy() for one in values.values())
    for axis in (None, 0, 1, (0, 1)):
        symbol = sym.np.average(x, axis, w)
        assert symbol.list_outputs() == [f"{symbol.name}_output0"]
        attributes = symbol.attr_dict()[symbol.name]
        assert attributes == {"axis": str(axis), "returned": "False"}
        found = sym.load_json(symbol.tojson()).as_np_ndarray().eval(**values)[0]
        onp.testing.assert_allclose(found.asnumpy(), onp.average(first, axis, second), rtol=1e-6)
        assert symbol.infer_shape(x=(2, 3), w=(2, 3))[1] == [found.shape]
    plain = sym.np.average(x, axis=1)
    assert plain.attr_dict()[plain.name] == {"axis": "1", "returned": "False", "weighted": "False"}
    onp.testing.assert_allclose(plain.eval(x=values["x"])[0].asnumpy(), first.mean(1), rtol=1e-6)
    mean, weight = sym.np.average(x, axis=0, weights=w, returned=True)
    assert mean.list_outputs() + weight.list_outputs() == [f"{mean.name}_output{i}" for i in (0, 1)]
    assert weight.eval(**values)[0].asnumpy().tolist() == [4, 3, 2]

    for axis in (None, 0, 1):
        symbol = sym.np.append(x, w, axis=axis)
        assert symbol.list_outputs() == [f"{symbol.name}_out"]
        assert symbol.attr_dict()[symbol.name] == {"axis": str(axis), "num_args": "2"}
        found = symbol.eval(**values)[0].asnumpy()
        assert found.tolist() == onp.append(first, second, axis).tolist()


def test_outputs_of_a_randomized_leak() -> None:
    """The noise is an output that programs see, as in MXNet."""
    symbol = sym.LeakyReLU(
        sym.var("x"), act_type="rrelu", lower_bound=0.1, upper_bound=0.5, name="act"
    )
    assert symbol.list_outputs() == ["act_output", "act_mask"]
    assert symbol.infer_shape(x=(2, 3))[1] == [(2, 3), (2, 3)]
    for again in (symbol, sym.load_json(symbol.tojson())):
        result, noise = again.eval(x=nd.array([-10, 1]))
        onp.testing.assert_allclose(result.asnumpy(), [-3, 1], rtol=1e-6)
        assert noise.shape == (2,)
    with pytest.raises(mx.MXNetError):
        sym.sum(symbol)


def test_types_of_sorted_indices() -> None:
    """They are int64 in np, whatever is sorted, and float32 in nd unless it is told."""
    value = onp.array([3, 1, 2])
    for dtype in ("float32", "float64", "int32"):
        x = sym.var("x").as_np_ndarray()
        answer = sym.np.argsort(x).bind(mx.cpu(), {"x": np.array(value, dtype=dtype)}).forward()[0]
        assert answer.dtype == onp.int64
        assert sym.np.argsort(x).infer_type(x=dtype)[1] == [onp.int64]
    assert sym.argsort(sym.var("x")).eval(x=nd.array(value))[0].dtype == onp.float32


@pytest.mark.parametrize("name", ["_zeros", "_ones", "_full", "_arange", "_eye", "_linspace"])
@pytest.mark.parametrize("prefix", ["", "_npi"])
def test_new_arrays_in_files_of_other_devices(name: str, prefix: str) -> None:
    """Files name the device of whoever wrote them, and parameters that have no effect here."""
    given = {
        "_zeros": {"shape": "(2,)"},
        "_ones": {"shape": "(2,)"},
        "_full": {"shape": "(2,)", "value": "3.0"},
        "_arange": {"start": "1.0", "stop": "3.0", "step": "1.0", "repeat": "1"},
        "_eye": {"N": "2", "M": "0" if prefix == "" else "None", "k": "0"},
        "_linspace": {"start": "1.0", "stop": "2.0", "step": "None", "num": "2", "repeat": "1"},
    }[name]
    node = {
        "op": f"{prefix}{name}",
        "name": "new",
        "attrs": {**given, "infer_range": "False", "ctx": "gpu(0)", "dtype": "float64"},
        "inputs": [],
    }
    graph = {"nodes": [node], "arg_nodes": [], "node_row_ptr": [0, 1], "heads": [[0, 0, 0]]}
    answer = sym.load_json(json.dumps(graph)).eval()[0]
    wanted = {"_zeros": [0, 0], "_ones": [1, 1], "_full": [3, 3], "_eye": [[1, 0], [0, 1]]}
    assert answer.asnumpy().tolist() == wanted.get(name, [1, 2])
    assert answer.dtype == onp.float64


def test_methods_are_those_of_arrays() -> None:
    """A symbol has the methods of arrays that are functions; each world has its own."""
    a = sym.var("a")
    value = nd.array([[1, 0], [2, 3]])
    for name, expected in {"exp": "exp", "relu": "abs", "sum": "sum"}.items():
        found = getattr(a, name)().eval(a=value)[0].asnumpy()
        onp.testing.assert_allclose(onp.squeeze(found), getattr(onp, expected)(value.asnumpy()))
    x = a.as_np_ndarray()
    for name in ("sum", "all", "any", "ravel", "cumsum", "std", "argmax"):
        found = getattr(x, name)().eval(a=value)[0].asnumpy()
        onp.testing.assert_allclose(found, getattr(onp, name)(value.asnumpy()), 1e-6)
    for symbol, names in ((a, ("ravel", "shape", "_copy", "item")), (x, ("exp", "shape", "item"))):
        for name in names:
            with pytest.raises(AttributeError, match=name):
                getattr(symbol, name)
