# SPDX-License-Identifier: Apache-2.0
"""Blocks: names, texts, children, hooks, files, summaries, all as MXNet has them; and the utils."""

from __future__ import annotations

import hashlib
import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from support import output_of

import afterglow as mx
from afterglow import autograd, gluon, nd, np, npx
from afterglow.gluon import nn, utils
from afterglow.gluon._deferred import Unknown
from afterglow.name import NameManager


@pytest.fixture(autouse=True)
def fresh_names() -> Iterator[None]:
    """Count from 0 in every test."""
    with NameManager():
        yield


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of arrays, in a simple format where there is no other."""
    if hasattr(nd, "save"):
        return

    def save(filename: str, data: Any) -> None:
        Path(filename).write_bytes(pickle.dumps({key: data[key].asnumpy() for key in data}))

    def load(filename: str) -> Any:
        held = pickle.loads(Path(filename).read_bytes())
        return {key: nd.array(value, dtype=value.dtype) for key, value in held.items()}

    monkeypatch.setattr(nd, "save", save, raising=False)
    monkeypatch.setattr(nd, "load", load, raising=False)


class Mine(gluon.Block):
    """One child with a name of its own, one in the scope, one that shares, and a parameter."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.a = nn.Dense(3)
        with self.name_scope():
            self.b = nn.Dense(2, activation="relu")
            self.w = self.params.get("w", shape=(2,))
            self.c = nn.Dense(3, params=self.a.params)

    def forward(self, x: Any) -> Any:
        return self.b(self.c(self.a(x)))


def nested() -> Any:
    net = nn.HybridSequential()
    with net.name_scope():
        net.add(nn.Dense(3, activation="relu"), nn.Dense(2))
        inner = nn.HybridSequential(prefix="inner_")
        with inner.name_scope():
            inner.add(nn.Dense(2), nn.BatchNorm(), nn.Dropout(0.5))
        net.add(inner)
    return net


NESTED = """\
HybridSequential(
  (0): Dense(None -> 3, Activation(relu))
  (1): Dense(None -> 2, linear)
  (2): HybridSequential(
    (0): Dense(None -> 2, linear)
    (1): BatchNorm(axis=1, eps=1e-05, momentum=0.9, fix_gamma=False, use_global_stats=False, \
in_channels=None)
    (2): Dropout(p = 0.5, axes=())
  )
)"""

NESTED_PARAMS = """\
hybridsequential0_ (
  Parameter hybridsequential0_dense0_weight (shape=(3, 0), dtype=float32)
  Parameter hybridsequential0_dense0_bias (shape=(3,), dtype=float32)
  Parameter hybridsequential0_dense1_weight (shape=(2, 0), dtype=float32)
  Parameter hybridsequential0_dense1_bias (shape=(2,), dtype=float32)
  Parameter hybridsequential0_inner_dense0_weight (shape=(2, 0), dtype=float32)
  Parameter hybridsequential0_inner_dense0_bias (shape=(2,), dtype=float32)
  Parameter hybridsequential0_inner_batchnorm0_gamma (shape=(0,), dtype=<class 'numpy.float32'>)
  Parameter hybridsequential0_inner_batchnorm0_beta (shape=(0,), dtype=<class 'numpy.float32'>)
  Parameter hybridsequential0_inner_batchnorm0_running_mean (shape=(0,), dtype=<class \
'numpy.float32'>)
  Parameter hybridsequential0_inner_batchnorm0_running_var (shape=(0,), dtype=<class \
'numpy.float32'>)
)"""

STRUCTURED = [
    *("0.weight", "0.bias", "1.weight", "1.bias", "2.0.weight", "2.0.bias"),
    *("2.1.gamma", "2.1.beta", "2.1.running_mean", "2.1.running_var"),
]


# --- names and texts ---


def test_names_are_counted_by_kind() -> None:
    found = [nn.Dense(1), nn.Dense(1), nn.Activation("relu"), nn.BatchNorm(), gluon.Block()]
    assert [block.name for block in found] == ["dense0", "dense1", "relu0", "batchnorm0", "block0"]
    assert found[1].prefix == "dense1_"
    assert found[1].weight.name == "dense1_weight"
    assert gluon.loss.SoftmaxCELoss().name == "softmaxcrossentropyloss0"


def test_names_in_scopes() -> None:
    net = nested()
    assert repr(net) == NESTED
    assert repr(net.collect_params()) == NESTED_PARAMS
    assert repr(net.params) == "hybridsequential0_ (\n\n)"
    assert list(net._collect_params_with_prefix()) == STRUCTURED
    assert net[0].act.name == "hybridsequential0_dense0_relu"


def test_names_of_children_made_outside_of_the_scope() -> None:
    block = Mine()
    assert repr(block) == (
        "Mine(\n  (a): Dense(None -> 3, linear)\n  (b): Dense(None -> 2, Activation(relu))\n"
        "  (c): Dense(None -> 3, linear)\n)"
    )
    assert list(block.collect_params()) == [
        *("mine0_w", "dense0_weight", "dense0_bias", "mine0_dense0_weight", "mine0_dense0_bias")
    ]


def test_prefixes() -> None:
    net = nn.Sequential(prefix="model_")
    with net.name_scope():
        net.add(nn.Dense(1), nn.Dense(1, prefix="out_"))
    assert [child.prefix for child in net] == ["model_dense0_", "model_out_"]
    bare = nn.Sequential(prefix="")
    with bare.name_scope():
        assert nn.Dense(1).prefix == "dense0_"
    assert (bare.name, repr(bare.params)) == ("", "(\n\n)")


def test_a_block_without_a_prefix_has_no_scope() -> None:
    """Names of its children go on counting those of the block around it."""
    net = nn.Sequential(prefix="model_")
    with net.name_scope():
        inner = nn.Sequential(prefix="")
        with inner.name_scope():
            inner.add(nn.Dense(1), nn.Dense(1))
        net.add(inner, nn.Dense(1))
    names = [name for name in net.collect_params() if name.endswith("weight")]
    assert names == ["model_dense0_weight", "model_dense1_weight", "model_dense2_weight"]


def test_selection() -> None:
    names = list(nested().collect_params(".*weight|.*gamma"))
    assert [name.removeprefix("hybridsequential0_") for name in names] == [
        *("dense0_weight", "dense1_weight", "inner_dense0_weight", "inner_batchnorm0_gamma")
    ]


def test_shared_parameters() -> None:
    first = nn.Dense(3, in_units=2)
    second = nn.Dense(3, in_units=2, prefix="other_", params=first.params)
    assert second.prefix == "other_"
    assert second.weight is first.weight
    first.initialize()
    x = nd.ones((1, 2))
    assert first(x).asnumpy().tolist() == second(x).asnumpy().tolist()
    block = Mine()
    assert Mine(params=block.params).w is block.w


def test_block_without_children() -> None:
    assert repr(gluon.Block()) == "Block(\n\n)"
    assert repr(nn.Sequential()) == "Sequential(\n\n)"


# --- children ---


def test_sequential() -> None:
    net = nn.Sequential()
    net.add(nn.Dense(3), nn.Dense(2), nn.Dense(1))
    assert len(net) == 3
    assert net[-1] is list(net)[2]
    part = net[1:]
    assert type(part) is nn.Sequential
    assert [part[0], part[1]] == [net[1], net[2]]
    assert part.prefix == net.prefix
    with pytest.raises(IndexError):
        net[7]
    net.initialize()
    assert net(nd.ones((4, 5))).shape == (4, 1)
    assert part(nd.ones((4, 3))).shape == (4, 1)


def test_hybrid_children_only() -> None:
    net = nn.HybridSequential()
    with pytest.raises(ValueError, match="must also be HybridBlock"):
        net.add(nn.Lambda("tanh"))


def test_attributes_keep_their_type() -> None:
    block = Mine()
    block.a = nn.Dense(7)
    assert block._children["a"] is block.a
    for name, value in (("a", nn.Activation("relu")), ("a", 3), ("w", 3)):
        with pytest.raises(TypeError, match="Changing attribute type"):
            setattr(block, name, value)


def test_register_child() -> None:
    block = gluon.Block()
    block.register_child(nn.Dense(1))
    block.register_child(nn.Dense(1), "other")
    assert list(block._children) == ["0", "other"]


def test_apply_and_cast() -> None:
    seen: list[str] = []
    net = nested()
    assert net.apply(lambda block: seen.append(type(block).__name__)) is net
    assert seen == [
        *("Activation", "Dense", "Dense", "Dense", "BatchNorm", "Dropout"),
        *("HybridSequential", "HybridSequential"),
    ]
    net.cast("float16")
    assert net[0].weight.dtype == "float16"
    assert net[2][1].gamma.dtype == "float32"


def test_initialize() -> None:
    net = nested()
    net.initialize(mx.init.Constant(0.5), ctx=[mx.cpu(0), mx.cpu(1)])
    net(nd.ones((2, 4), ctx=mx.cpu(1)))
    assert [array.context for array in net[0].weight.list_data()] == [mx.cpu(0), mx.cpu(1)]
    assert (net[0].weight.data(mx.cpu(1)).asnumpy() == 0.5).all()
    assert (net[0].bias.data(mx.cpu(1)).asnumpy() == 0).all()
    with pytest.warns(UserWarning, match="already initialized"):
        net.initialize()
    net.initialize(mx.init.One(), force_reinit=True)
    assert net[0].weight.list_ctx() == [mx.cpu(0)]


# --- forward ---


class Scaled(gluon.HybridBlock):
    """Uses everything that ``hybrid_forward`` is given."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.scale = self.params.get("scale", shape=(2,), init="ones")
            self.shift = self.params.get_constant("shift", [1, 2])

    def hybrid_forward(self, F: Any, x: Any, scale: Any, shift: Any) -> Any:
        assert F is mx.nd
        if isinstance(x, np.ndarray):
            return F.np.tanh(x) * scale + F.npx.relu(shift)
        return F.broadcast_mul(x, scale) + F.relu(shift)


def test_hybrid_forward() -> None:
    block = Scaled()
    block.initialize()
    assert block(nd.ones((2,))).asnumpy().tolist() == [2, 3]
    assert type(block(np.zeros((2,)))) is np.ndarray
    with autograd.record():
        y = block(nd.array([3, 4]))
    y.backward()
    assert block.scale.grad().asnumpy().tolist() == [3, 4]


def test_gradients_reach_parameters_from_either_world() -> None:
    block = nn.Dense(1, in_units=2)
    block.initialize("ones")
    with autograd.record():
        y = block(np.array([[3, 4]]))
    y.backward()
    assert type(y) is np.ndarray
    assert block.weight.grad().asnumpy().tolist() == [[3, 4]]


def test_plain_forward() -> None:
    class Plain(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.dense = nn.Dense(1, in_units=1)

        def forward(self, x: Any, times: int) -> Any:
            return self.dense(x) * times

    block = Plain()
    block.initialize("ones")
    block.hybridize()
    assert block(nd.ones((1, 1)), 3).asscalar() == 3


def test_lists_as_inputs() -> None:
    class Sum(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, y: Any) -> Any:
            return x[0] + x[1] + y

    assert Sum()([nd.ones((1,)), nd.ones((1,))], 2).asscalar() == 4


@pytest.mark.parametrize("active", [True, False])
def test_hybridize_only_takes_note(active: bool) -> None:
    net = nested()
    net.initialize()
    before = net(nd.ones((2, 4))).asnumpy()
    net.hybridize(active, static_alloc=True, static_shape=True)
    onp.testing.assert_array_equal(net(nd.ones((2, 4))).asnumpy(), before)
    assert net[2][0]._active is active
    assert net._flags["static_alloc"]


def test_sequential_advises() -> None:
    net = nn.Sequential()
    net.hybridize()
    net.add(nn.Dense(1))
    with pytest.warns(UserWarning, match="Consider using HybridSequential"):
        net.hybridize()


def test_shapes_that_cannot_be_inferred() -> None:
    class Unknown(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.w = self.params.get("w", shape=(0,), allow_deferred_init=True)

        def hybrid_forward(self, F: Any, x: Any, w: Any) -> Any:
            return x + w

    block = Unknown()
    block.initialize()
    with pytest.raises(ValueError, match="'unknown0_w' cannot be inferred"):
        block(nd.ones((2,)))

    class Known(Unknown):
        def infer_shape(self, x: Any) -> None:
            self.w.shape = x.shape

    block = Known()
    block.initialize("ones")
    assert block(nd.ones((2,))).asnumpy().tolist() == [2, 2]


def fully_connected(
    data: Any, weight: Any, bias: Any, num_hidden: int, flatten: bool = True
) -> Any:
    return nd.dot(data, weight, transpose_b=True) + bias


def test_shapes_are_found_by_calling_hybrid_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(nd, "FullyConnected"):
        monkeypatch.setattr(nd, "FullyConnected", fully_connected, raising=False)

    class Own(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.weight = self.params.get("weight", shape=(3, 0), allow_deferred_init=True)
                self.bias = self.params.get("bias", shape=(3,), allow_deferred_init=True)
                self.out = self.params.get("out", shape=(0, 2), allow_deferred_init=True)

        def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any, out: Any) -> Any:
            hidden = F.FullyConnected(x, weight, bias, num_hidden=3)
            return F.dot(F.relu(hidden), out)

    block = Own()
    block.initialize("ones")
    with autograd.record():
        y = block(nd.ones((2, 4)))
    y.backward()
    assert (block.weight.shape, block.out.shape) == ((3, 4), (3, 2))
    assert y.asnumpy().tolist() == [[15, 15], [15, 15]]
    assert block.out.grad().asnumpy().tolist() == [[10, 10]] * 3
    block = Own()
    block.initialize()
    block.infer_shape(nd.ones((2, 5)))
    assert block.weight.data().shape == (3, 5)


@pytest.mark.parametrize(
    ("name", "arguments", "shapes"),
    [
        ("FullyConnected", {"num_hidden": 2}, {"weight": (2, 30), "bias": (2,)}),
        ("FullyConnected", {"num_hidden": 2, "flatten": False}, {"weight": (2, 5), "bias": (2,)}),
        ("Embedding", {"input_dim": 7, "output_dim": 3}, {"weight": (7, 3)}),
        (
            "BatchNorm",
            {},
            {"gamma": (6,), "beta": (6,), "moving_mean": (6,), "moving_var": (6,)},
        ),
        ("LayerNorm", {}, {"gamma": (5,), "beta": (5,)}),
        ("LayerNorm", {"axis": 1}, {"gamma": (6,), "beta": (6,)}),
        ("InstanceNorm", {}, {"gamma": (6,), "beta": (6,)}),
        ("GroupNorm", {"num_groups": 3}, {"gamma": (3,), "beta": (3,)}),
        ("LeakyReLU", {"act_type": "prelu"}, {"gamma": (6,)}),
        ("dot", {}, {"rhs": (5, 4)}),
        ("dot", {"transpose_b": True}, {"rhs": (4, 5)}),
    ],
)
def test_ops_complete_shapes_of_weights(
    name: str, arguments: Any, shapes: dict[str, tuple[int, ...]]
) -> None:
    x = nd.ones((2, 6, 5))
    params = {
        key: gluon.Parameter(
            key, shape=tuple(4 * (extent == 4) for extent in shape), allow_deferred_init=True
        )
        for key, shape in shapes.items()
    }
    for parameter in params.values():
        parameter.initialize(mx.init.One())
    unknown = {key: Unknown(parameter, x) for key, parameter in params.items()}
    found = getattr(nd, name)(x, **unknown, **arguments)
    assert {key: parameter.shape for key, parameter in params.items()} == shapes
    values = {key: parameter.data() for key, parameter in params.items()}
    wanted = getattr(nd, name)(x, **values, **arguments)
    assert onp.array_equal(found.asnumpy(), wanted.asnumpy())


def test_ops_in_python_tell_shapes_of_parameters() -> None:
    class Scaling(mx.operator.CustomOp):
        def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            self.assign(out_data[0], req[0], in_data[0] * in_data[1] + aux[0])

    @mx.operator.register("scaling_of_columns")
    class ScalingProp(mx.operator.CustomOpProp):
        def __init__(self, tells: str) -> None:
            super().__init__()
            self.tells = tells == "True"

        def list_arguments(self) -> list[str]:
            return ["data", "scale"]

        def list_auxiliary_states(self) -> list[str]:
            return ["offset"]

        def infer_shape(self, in_shape: list[Any]) -> tuple[Any, ...]:
            data = in_shape[0]
            return [data, [data[1]]], [data], [[1, data[1]]] if self.tells else []

        def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Scaling:
            return Scaling()

    class Block(gluon.HybridBlock):
        def __init__(self, tells: bool) -> None:
            super().__init__()
            with self.name_scope():
                self.tells = tells
                self.scale = self.params.get(
                    "scale", shape=(0,), init="ones", allow_deferred_init=True
                )
                self.offset = self.params.get(
                    "offset", shape=(0, 0), init="ones", allow_deferred_init=True
                )

        def hybrid_forward(self, F: Any, x: Any, scale: Any, offset: Any) -> Any:
            return F.Custom(x, scale, offset=offset, tells=self.tells, op_type="scaling_of_columns")

    for hybridized in (False, True):
        block = Block(True)
        block.initialize()
        if hybridized:
            block.hybridize()
        assert block(nd.ones((2, 3))).asnumpy().tolist() == [[2, 2, 2]] * 2
        assert (block.scale.shape, block.offset.shape) == ((3,), (1, 3))
    block = Block(False)
    block.initialize()
    with pytest.raises(ValueError, match="tells 2 shapes of the 3 arrays data, scale, offset"):
        block(nd.ones((2, 3)))


def test_ops_that_cannot_tell_a_shape_say_so() -> None:
    parameter = gluon.Parameter("weight", shape=(0, 4), allow_deferred_init=True)
    parameter.initialize()
    x = nd.ones((2, 3))
    with pytest.raises(TypeError, match="shape of lhs does not follow"):
        nd.dot(Unknown(parameter, x), x)
    with pytest.raises(TypeError):
        nd.broadcast_add(Unknown(parameter, x), x)


def test_value_set_before_the_first_batch() -> None:
    layer = nn.Dense(1)
    layer.initialize()
    layer.weight.set_data(nd.array([[2, 3]]))
    assert layer(nd.ones((1, 2))).asscalar() == 5


def test_errors() -> None:
    with pytest.raises(NotImplementedError):
        gluon.Block()(nd.ones((1,)))
    with pytest.raises(NotImplementedError):
        gluon.HybridBlock()(nd.ones((1,)))
    with pytest.raises(ValueError, match="must be one NDArray"):
        nested()(1)
    with pytest.raises(RuntimeError, match="has not been initialized"):
        Mine()(nd.ones((2, 3)))


@pytest.mark.parametrize("hybridized", [False, True])
def test_arrays_and_symbols_do_not_mix(hybridized: bool) -> None:
    class Sum(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, *others: Any) -> Any:
            return x + sum(others[0])

    block = Sum()
    block.hybridize(hybridized)
    x, s = nd.ones((2,)), mx.sym.var("s")
    for given in ((x, [x, s]), (s, [s, x]), (s, (x,))):
        with pytest.raises(ValueError, match="Sum was given arrays and symbols"):
            block(*given)
    assert block(x, [x, 2]).asnumpy().tolist() == [4, 4]


def test_nothing_is_kept_in_cycles() -> None:
    net = nested()
    net.initialize()
    with autograd.record():
        total = net(nd.ones((2, 4))).sum()
    total.backward()  # the check after each test finds arrays that only a cycle holds


# --- hooks ---


def test_hooks() -> None:
    seen: list[Any] = []
    layer = nn.Dense(2, in_units=1)
    layer.initialize()
    before = layer.register_forward_pre_hook(lambda block, inputs: seen.append(("pre", block)))
    after = layer.register_forward_hook(
        lambda block, inputs, output: seen.append((type(inputs), output.shape))
    )
    layer(nd.ones((3, 1)))
    assert seen == [("pre", layer), (tuple, (3, 2))]
    before.detach()
    after.detach()
    after.detach()
    layer(nd.ones((3, 1)))
    assert len(seen) == 2
    with layer.register_forward_hook(lambda *arguments: seen.append(1)):
        layer(nd.ones((3, 1)))
    layer(nd.ones((3, 1)))
    assert len(seen) == 3


# --- files ---


@pytest.mark.usefixtures("files")
def test_save_and_load(tmp_path: Path) -> None:
    name = str(tmp_path / "net.params")
    net = nested()
    net.initialize(mx.init.Normal(1))
    x = nd.ones((2, 4))
    expected = net(x).asnumpy()
    net.save_parameters(name)
    assert sorted(nd.load(name)) == sorted(STRUCTURED)
    other = nested()
    other.load_parameters(name, ctx=mx.cpu(1))
    onp.testing.assert_array_equal(other(x.copyto(mx.cpu(1))).asnumpy(), expected)
    other = nested()
    other.initialize()
    other.load_parameters(name)
    onp.testing.assert_array_equal(other(x).asnumpy(), expected)


@pytest.mark.usefixtures("files")
def test_missing_and_extra(tmp_path: Path) -> None:
    name = str(tmp_path / "mine.params")
    block = Mine()
    block.initialize()
    block(nd.ones((2, 3)))
    block.save_parameters(name)
    assert list(nd.load(name)) == [
        *("w", "a.weight", "a.bias", "b.weight", "b.bias", "c.weight", "c.bias")
    ]
    with pytest.raises(AssertionError, match="Parameter 'weight' is missing in file"):
        nn.Dense(3).load_parameters(name)
    with pytest.raises(ValueError, match=r"'w' loaded from file .* is not present in Block"):
        nn.Dense(3).load_parameters(name, allow_missing=True)
    nn.Dense(3).load_parameters(name, allow_missing=True, ignore_extra=True)
    block.save_parameters(name, deduplicate=True)
    assert list(nd.load(name)) == ["w", "c.weight", "c.bias", "b.weight", "b.bias"]
    other = Mine()
    other.load_parameters(name)
    onp.testing.assert_array_equal(
        other(nd.ones((2, 3))).asnumpy(), block(nd.ones((2, 3))).asnumpy()
    )


@pytest.mark.usefixtures("files")
def test_types_of_files(tmp_path: Path) -> None:
    name = str(tmp_path / "dense.params")
    layer = nn.Dense(1, in_units=1)
    layer.initialize()
    layer.save_parameters(name)
    layer.cast("float64")
    with pytest.raises(AssertionError, match="Set cast_dtype=True"):
        layer.load_parameters(name)
    layer.load_parameters(name, cast_dtype=True)
    assert layer.weight.data().dtype == onp.float64
    layer.load_parameters(name, cast_dtype=True, dtype_source="saved")
    assert layer.weight.data().dtype == onp.float32


@pytest.mark.usefixtures("files")
def test_deprecated_files(tmp_path: Path) -> None:
    name = str(tmp_path / "old.params")
    net = nn.HybridSequential()
    with net.name_scope():
        net.add(nn.Dense(1, in_units=2))
    net.initialize()
    with pytest.warns(UserWarning, match="save_params is deprecated"):
        net.save_params(name)
    assert sorted(nd.load(name)) == ["dense0_bias", "dense0_weight"]
    other = nn.HybridSequential()
    with other.name_scope():
        other.add(nn.Dense(1, in_units=2))
    with pytest.warns(UserWarning, match="load_params is deprecated"):
        other.load_params(name)
    onp.testing.assert_array_equal(other[0].weight.data().asnumpy(), net[0].weight.data().asnumpy())


@pytest.mark.usefixtures("files")
def test_files_in_numpy_mode(tmp_path: Path) -> None:
    name = str(tmp_path / "dense.params")
    npx.set_np()
    try:
        layer = nn.Dense(1, in_units=2)
        layer.initialize()
        layer.save_parameters(name)
        other = nn.Dense(1)
        other.load_parameters(name)
        assert type(other.weight.data()) is np.ndarray
        assert other.weight.data().tolist() == layer.weight.data().tolist()
    finally:
        npx.reset_np()


# --- summary ---


def test_summary(capsys: pytest.CaptureFixture[str]) -> None:
    block = Mine()
    block.initialize()
    block.summary(nd.ones((2, 3)))
    assert (
        capsys.readouterr().out
        == """\
--------------------------------------------------------------------------------
        Layer (type)                                Output Shape         Param #
================================================================================
               Input                                      (2, 3)               0
             Dense-1                                      (2, 3)              12
             Dense-2                                      (2, 3)              12
        Activation-3                                      (2, 2)               0
             Dense-4                                      (2, 2)               8
              Mine-5                                      (2, 2)               2
================================================================================
Parameters in forward computation graph, duplicate included
   Total params: 34
   Trainable params: 34
   Non-trainable params: 0
Shared params in forward computation graph: 12
Unique parameters in model: 22
--------------------------------------------------------------------------------
"""
    )
    assert not block.a._forward_hooks


def test_summary_of_several_inputs_and_outputs(capsys: pytest.CaptureFixture[str]) -> None:
    class Both(gluon.Block):
        def forward(self, x: Any, y: Any) -> Any:
            return [x, [y, x]]

    Both().summary(nd.ones((2, 3)), nd.ones(4))
    shapes = [line[22:64].strip() for line in capsys.readouterr().out.splitlines()[3:5]]
    assert shapes == ["(2, 3), (4,)", "(2, 3), [(4,), (2, 3)]"]


def test_summary_counts_what_is_not_trained(capsys: pytest.CaptureFixture[str]) -> None:
    net = nested()
    net.initialize()
    net.summary(nd.ones((2, 4)))
    lines = capsys.readouterr().out.splitlines()
    assert lines[8].split() == ["BatchNorm-5", "(2,", "2)", "8"]
    assert "   Non-trainable params: 4" in lines
    net.hybridize()
    net.summary(nd.ones((2, 4)))
    assert capsys.readouterr().out.splitlines() == lines


# --- utils ---


@pytest.mark.parametrize("world", [nd, np, onp])
def test_split_data(world: Any) -> None:
    data = world.arange(5)
    with pytest.raises(ValueError, match="cannot be evenly split into 2 slices"):
        utils.split_data(data, 2)
    parts = utils.split_data(data, 2, even_split=False)
    assert [part.tolist() for part in parts] == [[0, 1, 2], [3, 4]]
    matrix = world.arange(6).reshape((2, 3))
    assert [part.tolist() for part in utils.split_data(matrix, 3, batch_axis=1)] == [
        [[0], [3]],
        [[1], [4]],
        [[2], [5]],
    ]


def test_split_data_of_sparse_arrays() -> None:
    """MXNet 1.9.1 leaves rows sparse, and makes columns dense; here it says so."""
    rows = [[0, 1], [3, 0], [0, 5], [0, 0]]
    matrix = nd.array(rows).tostype("csr")
    parts = utils.split_and_load(matrix, [mx.cpu(0), mx.cpu(0)])
    assert [part.stype for part in parts] == ["csr", "csr"]
    assert [part.asnumpy().tolist() for part in parts] == [rows[:2], rows[2:]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said once
        left, right = utils.split_data(matrix, 2, batch_axis=1)
    assert left.stype == right.stype == "default"
    assert right.asnumpy().tolist() == [[1], [0], [5], [0]]


def test_split_and_load() -> None:
    parts = utils.split_and_load(nd.arange(4), [mx.cpu(0), mx.cpu(1)])
    assert [(part.tolist(), part.context) for part in parts] == [
        ([0, 1], mx.cpu(0)),
        ([2, 3], mx.cpu(1)),
    ]
    (only,) = utils.split_and_load(onp.arange(4), [mx.cpu(1)])
    assert (only.tolist(), only.context) == ([0, 1, 2, 3], mx.cpu(1))
    npx.set_np()
    try:
        assert type(utils.split_and_load([1, 2], [mx.cpu(0)])[0]) is np.ndarray
    finally:
        npx.reset_np()


@pytest.mark.parametrize("world", [nd, np])
def test_clip_global_norm(world: Any) -> None:
    arrays = [world.ones((2, 2)), world.ones((4,))]
    assert utils.clip_global_norm(arrays, 1.0) == pytest.approx(8**0.5)
    onp.testing.assert_allclose(arrays[1].asnumpy(), [8**-0.5] * 4, 1e-6)
    assert utils.clip_global_norm(arrays, 3.0) == pytest.approx(1)
    onp.testing.assert_allclose(arrays[1].asnumpy(), [8**-0.5] * 4, 1e-6)
    norm = utils.clip_global_norm(arrays, 0.5, check_isfinite=False)
    assert float(norm) == pytest.approx(1)
    onp.testing.assert_allclose(arrays[0].asnumpy(), [[0.5 * 8**-0.5] * 2] * 2, 1e-6)
    with pytest.warns(UserWarning, match="nan or inf is detected"):
        utils.clip_global_norm([world.array([float("nan")])], 1.0)
    with pytest.raises(AssertionError):
        utils.clip_global_norm([], 1.0)


def test_shape_is_known() -> None:
    assert utils.shape_is_known((1, 2))
    assert not utils.shape_is_known((0, 1))
    assert not utils.shape_is_known(None)
    with pytest.raises(AssertionError, match="cannot be less than 0"):
        utils.shape_is_known((-1, 1))
    with mx.util.np_shape():
        assert utils.shape_is_known(())
        assert utils.shape_is_known((0,))
        assert not utils.shape_is_known((-1,))


def test_download(tmp_path: Path) -> None:
    source = tmp_path / "source.bin"
    source.write_bytes(b"afterglow")
    digest = hashlib.sha1(b"afterglow").hexdigest()
    assert utils.check_sha1(str(source), digest)
    assert not utils.check_sha1(str(source), "0" * 40)
    target = tmp_path / "folder" / "target.bin"
    assert utils.download(source.as_uri(), str(target), sha1_hash=digest) == str(target)
    assert target.read_bytes() == b"afterglow"
    source.unlink()
    assert utils.download(source.as_uri(), str(target)) == str(target)
    with pytest.raises(OSError, match=r"could not be fetched.*put the file into the folder"):
        utils.download(source.as_uri(), str(target), overwrite=True, retries=2)
    assert list(target.parent.iterdir()) == [target]


def test_imports_as_mxnet() -> None:
    script = """
        import afterglow.as_mxnet
        import mxnet.gluon.nn
        import mxnet.init
        from mxnet import gluon, init
        from mxnet.gluon.nn import Dense
        from mxnet.initializer import Xavier
        print(gluon is mx.gluon, gluon.nn.Dense is Dense, init.Xavier is Xavier)
        """
    assert output_of(script) == ["True True True"]
