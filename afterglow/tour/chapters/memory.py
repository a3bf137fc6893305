# SPDX-License-Identifier: Apache-2.0
"""What a training loop that never waits does to memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy

from ... import _core, autograd, engine, gluon, memory, nd
from ..chapter import Chapter, Setting, Table
from ..drawing import Curve, draw_curves
from ..quantities import duration, megabytes
from ..resident import Watch

CODE = """\
for features, labels in batches:
    with autograd.record():
        l = loss(net(features), labels)
    l.backward()
    trainer.step(len(features))
    total += l.mean().asscalar()  # {comment}"""

_ROWS, _COLUMNS, _HIDDEN = 2048, 1024, 256


class Training:
    """A small network and data for it."""

    def __init__(self) -> None:
        self._net = gluon.nn.Sequential()
        self._net.add(
            gluon.nn.Dense(_HIDDEN, activation="relu"),
            gluon.nn.Dense(_HIDDEN, activation="relu"),
            gluon.nn.Dense(1),
        )
        self._net.initialize()
        self._trainer = gluon.Trainer(self._net.collect_params(), "sgd", {"learning_rate": 0.005})
        self._loss = gluon.loss.L2Loss()
        random = numpy.random.default_rng(3)
        self._data = random.normal(size=(_ROWS, _COLUMNS)).astype(numpy.float32)
        self._labels = numpy.ones(_ROWS, numpy.float32)

    def step(self, read: bool) -> None:
        """Train with a new batch, and read its loss or not."""
        features, labels = nd.array(self._data), nd.array(self._labels)
        with autograd.record():
            loss = self._loss(self._net(features), labels)
        loss.backward()
        self._trainer.step(_ROWS)
        if read:
            loss.mean().asscalar()

    def calls(self, read: bool) -> int:
        """Return how many calls a step issues."""
        before = engine.stats()["issued"]
        self.step(read)
        return engine.stats()["issued"] - before


@contextmanager
def no_limit(lifted: bool) -> Iterator[None]:
    """Take the limits on running ahead away, if asked to."""
    before = engine.run_ahead()
    if lifted:
        engine.set_run_ahead(bytes=float("inf"), seconds=float("inf"))
    try:
        yield
    finally:
        # Not by the engine's function: it sets one limit of bytes, and there are two.
        _core.set_run_ahead(*before)


@dataclass
class Variant:
    """How a loop went."""

    issued: float
    finished: float
    watch: Watch


def _loop(training: Training, batches: int, read: bool) -> Variant:
    nd.waitall()
    memory.trim()
    with Watch() as watch:
        begin = time.perf_counter()
        for _ in range(batches):
            training.step(read)
        issued = time.perf_counter() - begin
        nd.waitall()
        finished = time.perf_counter() - begin
    return Variant(issued, finished, watch)


def measure(setting: Setting) -> Chapter:
    """Train in three ways and watch the memory."""
    words = setting.words
    batches = setting.count(60, 12)
    training = Training()
    training.step(read=True)  # makes the parameters
    calls = {read: training.calls(read) for read in (True, False)}
    names = ("each", "bounded", "unbounded")
    variants: dict[str, Variant] = {}
    for name in names:
        with (
            setting.progress(words(f"memory.{name}"), batches * calls[name == "each"]),
            no_limit(name == "unbounded"),
        ):
            variants[name] = _loop(training, batches, read=name == "each")
    memory.trim()
    kinds = {"each": "issue", "bounded": "run", "unbounded": "read"}
    curves = [
        Curve(
            words(f"memory.{name}"),
            [(moment, size / 1e6) for moment, size in variants[name].watch.samples],
            kinds[name],
            variants[name].issued,
        )
        for name in names
    ]
    peaks = {name: variant.watch.peak for name, variant in variants.items()}
    return Chapter(
        "memory",
        [CODE.format(comment=words("memory.comment"))],
        Table(
            ("", words("memory.issued"), words("memory.finished"), words("memory.peak")),
            [
                (
                    words(f"memory.{name}"),
                    duration(variant.issued),
                    duration(variant.finished),
                    megabytes(variant.watch.peak),
                )
                for name, variant in variants.items()
            ],
        ),
        words(
            "memory.finding",
            each=megabytes(peaks["each"]),
            bounded=megabytes(peaks["bounded"]),
            unbounded=megabytes(peaks["unbounded"]),
        ),
        words("memory.caption", batches=batches),
        lambda width, label: draw_curves(curves, width, words("memory.unit"), label),
    )
