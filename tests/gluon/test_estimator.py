# SPDX-License-Identifier: Apache-2.0
"""``gluon.contrib.estimator``: what is trained, measured, logged and written, and when."""

from __future__ import annotations

import doctest
import logging
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd
from afterglow.gluon.contrib import estimator as est

pytestmark = pytest.mark.filterwarnings("ignore:No trainer", "ignore:.*operator will be used")


def loader(rows: int = 12, batch: int = 4) -> gluon.data.DataLoader:
    draw = onp.random.RandomState(5)
    data = draw.normal(size=(rows, 3)).astype("float32")
    labels = (data[:, 0] > 0).astype("float32")
    return gluon.data.DataLoader(
        gluon.data.ArrayDataset(nd.array(data), nd.array(labels)), batch_size=batch
    )


def make(net: Any = None, rate: float = 0.1, **kwargs: Any) -> est.Estimator:
    net = gluon.nn.Dense(2) if net is None else net
    net.initialize(mx.init.Constant(0.1))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": rate, "momentum": 0.9})
    loss = kwargs.pop("loss", gluon.loss.SoftmaxCrossEntropyLoss())
    made = est.Estimator(net, loss, trainer=trainer, **kwargs)
    made.logger.handlers.clear()
    return made


def lines_of(estimator: est.Estimator) -> list[str]:
    """Return a list that fills with what the estimator logs."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    estimator.logger.addHandler(handler)
    return lines


def test_fit_is_the_loop_that_one_would_write() -> None:
    trained = make()
    trained.fit(loader(), epochs=3)
    net = gluon.nn.Dense(2)
    net.initialize(mx.init.Constant(0.1))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in range(3):
        for data, label in loader():
            with autograd.record():
                losses = loss(net(data), label)
            losses.backward()
            trainer.step(data.shape[0])
    onp.testing.assert_array_equal(trained.net.weight.data().asnumpy(), net.weight.data().asnumpy())


def test_metrics_and_their_names() -> None:
    trained = make()
    assert [metric.name for metric in trained.train_metrics] == [
        "training accuracy",
        "training softmaxcrossentropyloss",
    ]
    assert [metric.name for metric in trained.val_metrics] == [
        "validation accuracy",
        "validation softmaxcrossentropyloss",
    ]
    trained.fit(loader(), val_data=loader(), epochs=20)
    assert trained.train_metrics[0].get()[1] > 0.9
    assert trained.val_metrics[0].get()[1] > 0.9
    both = mx.metric.CompositeEvalMetric([mx.metric.Accuracy(), mx.metric.Accuracy(name="b")])
    assert [one.name for one in make(train_metrics=both).train_metrics] == [
        "training accuracy",
        "training b",
    ]


def test_lines_that_are_logged() -> None:
    trained = make(train_metrics=mx.metric.Accuracy(), rate=0.0)
    lines = lines_of(trained)
    interval = est.LoggingHandler(log_interval=2, metrics=trained.train_metrics)
    trained.fit(loader(), epochs=1, event_handlers=interval)
    texts = [line.split(" time")[0].split(" in ")[0] for line in lines]
    assert texts[:2] == [
        "Training begin: using optimizer SGD with current learning rate 0.0000 ",
        "Train for 1 epochs.",
    ]
    assert texts[2:-1] == [
        "[Epoch 0] Begin, current learning rate: 0.0000",
        "[Epoch 0][Batch 0][Samples 4]",
        "[Epoch 0][Batch 2][Samples 12]",
        "[Epoch 0] Finished",
    ]
    assert lines[-1].startswith("Train finished using total 0s with 1 epochs. training accuracy: ")


class Counter(est.TrainBegin, est.EpochBegin, est.BatchEnd, est.EpochEnd, est.TrainEnd):
    """Counts events, and stops after some batches."""

    def __init__(self, stop_after: int) -> None:
        self.stop_after = stop_after
        self.seen: list[str] = []

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.seen.append("train")

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.seen.append("epoch")

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        assert kwargs["loss"][0].shape == (kwargs["batch"][0].shape[0],)
        self.seen.append("batch")
        return self.seen.count("batch") == self.stop_after

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.seen.append("end")


def test_a_handler_ends_training() -> None:
    counter = Counter(4)
    make().fit(loader(), epochs=9, event_handlers=[counter])
    assert counter.seen == ["train", "epoch", *["batch"] * 3, "epoch", "batch", "end"]
    counter = Counter(99)
    make().fit(loader(), batches=5, event_handlers=[counter])
    assert counter.seen.count("batch") == 5


def test_order_of_handlers() -> None:
    trained = make()
    trained.max_epoch = 1
    handlers = trained._prepare_default_handlers(loader(), [Counter(1)])
    assert [type(one).__name__ for one in handlers] == [
        "GradientUpdateHandler",
        "MetricHandler",
        "ValidationHandler",
        "Counter",
        "StoppingHandler",
        "LoggingHandler",
    ]


@pytest.mark.parametrize(
    ("mode", "expected"), [("max", [False, False, True]), ("min", [False, False, False])]
)
def test_early_stopping(mode: str, expected: list[bool]) -> None:
    metric = mx.metric.Loss("accuracy")
    handler = est.EarlyStoppingHandler(metric, patience=2, mode=mode)
    handler.train_begin(None)
    told = []
    for value in (0.9, 0.8, 0.7):
        metric.reset()
        metric.update(0, [nd.array([value])])
        told.append(handler.epoch_end(None))
    assert told == expected
    assert handler.best == pytest.approx(0.9 if mode == "max" else 0.7)


def test_the_direction_of_a_metric_is_found_by_its_name() -> None:
    with pytest.warns(UserWarning, match="`greater` operator"):
        est.EarlyStoppingHandler(mx.metric.Accuracy())
    with pytest.warns(UserWarning, match="`less` operator"):
        est.EarlyStoppingHandler(mx.metric.Loss())
    with pytest.raises(ValueError, match="one simple metric"):
        est.EarlyStoppingHandler(mx.metric.CompositeEvalMetric())


def test_checkpoints_and_going_on(tmp_path: Path) -> None:
    whole = make()
    whole.fit(loader(), epochs=4)
    first = make()
    first.fit(
        loader(),
        epochs=2,
        event_handlers=est.CheckpointHandler(
            str(tmp_path),
            "net",
            monitor=first.train_metrics[0],
            save_best=True,
            mode="max",
            max_checkpoints=1,
        ),
    )
    assert {path.name for path in tmp_path.iterdir()} == {
        "net-epoch1batch6.params",
        "net-epoch1batch6.states",
        "net-best.params",
        "net-best.states",
    }
    second = make()
    handler = est.CheckpointHandler(str(tmp_path), "net", resume_from_checkpoint=True)
    second.fit(loader(), epochs=4, event_handlers=handler)
    assert second.max_epoch == 2
    assert (tmp_path / "net-epoch3batch12.params").exists()
    onp.testing.assert_array_equal(
        second.net.weight.data().asnumpy(), whole.net.weight.data().asnumpy()
    )
    again = est.CheckpointHandler(str(tmp_path), "net", resume_from_checkpoint=True)
    with pytest.raises(ValueError, match="maximum number of epoch 4 reached"):
        make().fit(loader(), epochs=4, event_handlers=again)


def test_checkpoints_by_batches_and_the_graph(tmp_path: Path) -> None:
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(2))
    net.hybridize()
    trained = make(net)
    handler = est.CheckpointHandler(str(tmp_path), epoch_period=None, batch_period=2)
    trained.fit(loader(), batches=4, event_handlers=handler)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "model-epoch0batch1.params",
        "model-epoch0batch1.states",
        "model-epoch1batch3.params",
        "model-epoch1batch3.states",
        "model-symbol.json",
    ]
    loaded = mx.sym.load(str(tmp_path / "model-symbol.json"))
    assert "data" in loaded.list_arguments()


def test_a_processor_of_ones_own() -> None:
    class Doubled(est.BatchProcessor):
        def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: int = 0) -> Any:
            return super().fit_batch(estimator, [2 * train_batch[0], train_batch[1]], batch_axis)

    make(batch_processor=Doubled()).fit(loader(), epochs=1)
    with pytest.raises(ValueError, match="must contain fit_batch"):
        make(batch_processor=object())


def test_several_devices_and_another_axis() -> None:
    net = gluon.nn.Dense(1, in_units=3)
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    trained = est.Estimator(
        net, gluon.loss.L2Loss(), trainer=trainer, context=[mx.cpu(0), mx.cpu(1)]
    )
    trained.logger.handlers.clear()
    trained.fit(loader(), epochs=1)
    one, other = (weight.asnumpy() for weight in net.weight.list_data())
    onp.testing.assert_array_equal(one, other)


def test_refusals() -> None:
    trained = make()
    for data in (nd.ones((2, 2)), [1], mx.io.NDArrayIter(nd.ones((4, 3)))):
        with pytest.raises(ValueError, match="Gluon DataLoader"):
            trained.fit(data, epochs=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one and only one"):
        trained.fit(loader())
    with pytest.raises(ValueError, match="one and only one"):
        trained.fit(loader(), epochs=1, batches=1)
    other = est.LoggingHandler(metrics=[mx.metric.Accuracy()])
    with pytest.raises(ValueError, match="outside of the known"):
        trained.fit(loader(), epochs=1, event_handlers=other)
    with pytest.raises(ValueError, match="EventHandler"):
        trained.fit(loader(), epochs=1, event_handlers=[object()])
    with pytest.raises(ValueError, match="must be a Loss"):
        make(loss="mse")
    with pytest.raises(ValueError, match="list of Metric"):
        make(train_metrics="acc")
    with pytest.raises(ValueError, match="must be a Context"):
        make(context="cpu")
    with pytest.raises(AssertionError, match="not available"):
        make(context=mx.gpu(0))
    with pytest.warns(UserWarning, match="already fully initialized"):
        make(gluon.nn.Dense(2, in_units=3), initializer=mx.init.Xavier())
    with pytest.warns(UserWarning, match="No trainer specified"):
        est.Estimator(gluon.nn.Dense(1), gluon.loss.L2Loss())


def test_examples() -> None:
    assert doctest.testmod(est).failed == 0
