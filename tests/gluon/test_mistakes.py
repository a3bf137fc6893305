# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the making of networks: what the warning or error says."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import pytest

import afterglow as mx
from afterglow import gluon, nd
from afterglow.gluon import nn

# --- blocks that nobody finds ---


class Held(gluon.Block):
    def __init__(self, held: Any, register: bool = False) -> None:
        super().__init__()
        self.held = held
        if register:
            self.inner = nn.Sequential()
            self.inner.add(*held)


def _warnings_of(block: gluon.Block) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        block.collect_params()
    return [str(one.message) for one in caught]


@pytest.mark.parametrize(
    "container",
    [
        lambda dense: [dense],
        lambda dense: (1, dense),
        lambda dense: {"a": dense},
        lambda dense: {"a": [3, ("b", [dense])]},
    ],
)
def test_blocks_in_containers_are_warned_of(container: Any) -> None:
    (message,) = _warnings_of(Held(container(nn.Dense(2, prefix="lost_"))))
    assert message.startswith("Held.held holds 'lost'")
    assert "nn.Sequential" in message
    with pytest.warns(UserWarning, match="'lost'"):
        Held(container(nn.Dense(2, prefix="lost_"))).initialize()


def test_the_container_may_be_deep_inside() -> None:
    outer = nn.Sequential()
    outer.add(Held([nn.Dense(2)]))
    assert len(_warnings_of(outer)) == 1


def test_a_parameter_in_a_list_is_warned_of() -> None:
    (message,) = _warnings_of(Held([gluon.Parameter("alone", shape=(2,))]))
    assert "'alone'" in message


def test_what_is_found_elsewhere_or_has_no_parameters_is_fine() -> None:
    assert not _warnings_of(Held([nn.Dense(2), nn.Dense(3)], register=True))
    assert not _warnings_of(Held([nn.Activation("relu"), gluon.loss.L2Loss(), "text", 3]))
    block = Held([])
    block.held.append(block.params.get("weight", shape=(2,)))
    assert not _warnings_of(block)
    block.held.append(block.held)
    assert not _warnings_of(block)


# --- a forgotten super().__init__() ---


def _forgetful(base: type, init: Any) -> type:
    return type("Forgetful", (base,), {"__init__": init})


@pytest.mark.parametrize("base", [gluon.Block, gluon.HybridBlock, nn.Sequential])
@pytest.mark.parametrize(
    "init",
    [
        lambda self: setattr(self, "dense", nn.Dense(2)),
        lambda self: setattr(self, "weight", gluon.Parameter("w")),
        lambda self: self.register_child(nn.Dense(2)),
        lambda self: self.name_scope().__enter__(),
        lambda self: self.params.get("w"),
    ],
)
def test_forgotten_while_made(base: type, init: Any) -> None:
    with pytest.raises(AttributeError, match=r"\[Forgetful\].* call super\(\).__init__\(\) first"):
        _forgetful(base, init)()


@pytest.mark.parametrize("base", [gluon.Block, gluon.HybridBlock])
@pytest.mark.parametrize(
    "use",
    [
        lambda block: block(nd.ones((2,))),
        lambda block: block.hybridize(),
        lambda block: block.initialize(),
        lambda block: block.collect_params(),
        lambda block: block.save_parameters("nowhere"),
        lambda block: block.cast("float16"),
    ],
)
def test_forgotten_and_used(base: type, use: Any) -> None:
    block = _forgetful(base, lambda self: None)()
    with pytest.raises(mx.MXNetError, match=r"call super\(\).__init__\(\) first"):
        use(block)
    with pytest.raises(AttributeError):
        use(block)


def test_other_attributes_are_missed_as_ever() -> None:
    with pytest.raises(AttributeError, match="no attribute 'wieght'"):
        _ = nn.Dense(2).wieght


# --- keywords ---


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: nn.Dense(3, activaton="relu"),
            r"\[Dense\].*did you mean 'activation'.*; it takes",
        ),
        (lambda: nn.BatchNorm(eps=1), r"\[BatchNorm\].*'epsilon'"),
        (lambda: nn.Sequential(foo=1), r"\[Sequential\].*'foo'; it takes prefix, params"),
        (lambda: nn.Lambda(abs, foo=1), r"\[Lambda\].*it takes function, prefix"),
        (lambda: gluon.Block(foo=1), r"\[Block\]"),
        (lambda: gluon.loss.SoftmaxCELoss(sparse_labels=True), "'sparse_label'"),
        (lambda: mx.optimizer.SGD(moment=1), r"\[SGD\].*'momentum'.*learning_rate"),
        (lambda: mx.optimizer.create("adam", learnig_rate=1), r"\[Adam\].*'learning_rate'"),
        (lambda: gluon.Trainer({}, "sgd", {"lr": 1}), r"\[SGD\].*'lr'.*learning_rate"),
        (lambda: gluon.Trainer({}, "sgd", rate=1), r"\[Trainer\].*optimizer_params"),
        (lambda: mx.init.Normal(sigmma=1), "'sigma'"),
        (lambda: mx.init.Zero(foo=1), "takes no keywords"),
        (lambda: mx.init.create("xavier", magnitud=1), "'magnitude'"),
        (lambda: mx.lr_scheduler.FactorScheduler(3, facto=1), "'factor'"),
        (lambda: mx.metric.Accuracy(axs=1), r"\[Accuracy\].*'axis'"),
        (lambda: gluon.data.DataLoader([1], batchsize=1), r"\[DataLoader\].*'batch_size'"),
    ],
)
def test_unknown_keywords(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()
    with pytest.raises(mx.MXNetError, match=message):
        call()


def test_classes_of_ones_own_may_take_any_keyword() -> None:
    class Open(nn.HybridSequential):
        def __init__(self, **options: Any) -> None:
            super().__init__()
            self.options = options

    class Closed(gluon.HybridBlock):
        def __init__(self, width: int) -> None:
            super().__init__()

    assert Open(anything=3).options == {"anything": 3}
    with pytest.raises(TypeError, match=r"\[Closed\].*it takes width$"):
        Closed(widht=3)
    optimizer = mx.optimizer.Adam(beta1=0.5)
    assert pickle.loads(pickle.dumps(optimizer)).beta1 == 0.5
    assert copy.deepcopy(mx.init.Normal(0.3)).sigma == 0.3
