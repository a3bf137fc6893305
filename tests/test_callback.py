# SPDX-License-Identifier: Apache-2.0
"""Callbacks: the lines MXNet logs."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

import afterglow as mx
from afterglow import nd
from afterglow.model import BatchEndParam


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Any:
    caplog.set_level(logging.INFO)
    return lambda: [record.getMessage() for record in caplog.records]


def feed(metric: Any) -> None:
    metric.update([nd.array([0, 1])], [nd.array([[1, 0], [1, 0]])])


def at(number: int, metric: Any = None, epoch: int = 1) -> BatchEndParam:
    return BatchEndParam(epoch=epoch, nbatch=number, eval_metric=metric, locals={})


def timeless(texts: list[str]) -> list[str]:
    return [re.sub(r"\d+\.\d\d samples", "# samples", text) for text in texts]


def test_speedometer(lines: Any) -> None:
    metric, callback = mx.metric.Accuracy(), mx.callback.Speedometer(2, 2)
    for number in range(5):
        feed(metric)
        callback(at(number, metric))
    assert timeless(lines()) == [
        "Epoch[1] Batch [0-2]\tSpeed: # samples/sec\taccuracy=0.500000",
        "Epoch[1] Batch [2-4]\tSpeed: # samples/sec\taccuracy=0.500000",
    ]
    assert metric.num_inst == 0  # it was reset with the last line
    assert metric.get_global()[1] == 0.5


def test_speedometer_without_reset_and_of_several_metrics(lines: Any) -> None:
    metric = mx.metric.create(["acc", "ce"])
    callback = mx.callback.Speedometer(2, 2, auto_reset=False)
    for number in range(5):
        feed(metric)
        callback(at(number, metric))
    assert timeless(lines()) == [
        f"Epoch[1] Batch [0-{end}]\tSpeed: # samples/sec\taccuracy=0.500000"
        "\tcross-entropy=13.815511"
        for end in (2, 4)
    ]


def test_speedometer_without_metric_begins_anew_in_every_epoch(lines: Any) -> None:
    callback = mx.callback.Speedometer(2, 2)
    for epoch in range(2):
        for number in range(3):
            callback(at(number, epoch=epoch))
    assert timeless(lines()) == [
        f"Iter[{epoch}] Batch [2]\tSpeed: # samples/sec" for epoch in range(2)
    ]


def test_speed_is_right(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 10.5, 10.5])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    callback = mx.callback.Speedometer(8, 2)
    for number in range(3):
        callback(at(number))
    assert lines() == ["Iter[1] Batch [2]\tSpeed: 32.00 samples/sec"]


def test_log_of_the_metric(lines: Any) -> None:
    metric, callback = mx.metric.Accuracy(), mx.callback.log_train_metric(2, auto_reset=True)
    for number in range(5):
        feed(metric)
        callback(at(number, metric, 0))
    callback(at(0))
    assert lines() == [f"Iter[0] Batch[{number}] Train-accuracy=0.500000" for number in (0, 2, 4)]


def test_log_of_the_validation(lines: Any) -> None:
    metric = mx.metric.create(["acc", "ce"])
    feed(metric)
    mx.callback.LogValidationMetricsCallback()(at(0, metric, 3))
    mx.callback.LogValidationMetricsCallback()(at(0))
    assert lines() == [
        "Epoch[3] Validation-accuracy=0.500000",
        "Epoch[3] Validation-cross-entropy=13.815511",
    ]


def test_progress_bar(lines: Any) -> None:
    callback = mx.callback.ProgressBar(total=3, length=20)
    for number in range(4):
        callback(at(number))
    assert lines() == [
        "[--------------------] 0%\r",
        "[=======-------------] 34%\r",
        "[=============-------] 67%\r",
        "[====================] 100%\r",
    ]


@pytest.mark.parametrize("period", [0, 1, 2])
def test_checkpoint_of_a_module(period: int) -> None:
    class Module:
        saved: tuple[Any, ...] = ()

        def save_checkpoint(self, *args: Any) -> None:
            self.saved += (args,)

    module = Module()
    callback = mx.callback.module_checkpoint(module, "net", period, True)
    for epoch in range(2):
        callback(epoch)
    expected = [("net", epoch, True) for epoch in (1, 2) if epoch % max(period, 1) == 0]
    assert list(module.saved) == expected
