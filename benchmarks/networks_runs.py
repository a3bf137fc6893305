# SPDX-License-Identifier: Apache-2.0
"""Training steps and predictions of the nets of the group ``networks``, in each library."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import networks_nets as nets
import numpy as np
from rows import OURS, Answer, Task, library_of

RATE, MOMENTUM = 0.005, 0.9
#: Steps before the first round: the third call of a hybridized block is the first replay.
WARM_UP = 3
#: Tells the process of ONNX Runtime which Python has Afterglow, which writes its model.
EXPORTER = "AFTERGLOW_BENCH_EXPORTER"

MakeLayers = Callable[[nets.Layers], Any]


@dataclass(frozen=True)
class Training:
    """A net in training: how libraries make it, and on what it is trained."""

    gluon: Callable[[Any], Any]  #: of the module ``gluon``
    torch: Callable[[Any], Any]  #: of the module ``torch``
    data: Any  #: batches have their samples, or steps, in the first dimension
    labels: Any
    steps: int  #: of one round
    jax: Callable[[list[Any], Any], Any] | None = None  #: of the parameters and the data
    shapes: Callable[[], list[nets.Shape]] | None = None  #: of the parameters in JAX


def on_images(make: MakeLayers, shape: nets.Shape, steps: int) -> Training:
    """Return the training of a net of images."""
    generator = np.random.default_rng(0)
    return Training(
        lambda gluon: make(nets.GluonLayers(gluon)),
        lambda torch: make(nets.TorchLayers(torch)),
        generator.standard_normal(shape, np.float32),
        generator.integers(0, 10, shape[:1]),
        steps,
    )


def language_model(steps: int) -> Training:
    """Return the training of a language model of two layers: 35 steps, 32 samples."""
    words = np.random.default_rng(0).integers(0, nets.WORDS, (36, 32))
    return Training(
        nets.gluon_language_model,
        nets.torch_language_model,
        *(words[:-1], words[1:], steps),
        nets.jax_language_model,
        nets.language_model_shapes,
    )


def transformer(steps: int) -> Training:
    """Return the training of a transformer: 16 samples of 128 tokens."""
    tokens = np.random.default_rng(0).integers(0, nets.TOKENS, (16, nets.LENGTH))
    return Training(
        nets.gluon_transformer,
        nets.torch_transformer,
        *(tokens, tokens[:, ::-1].copy(), steps),
        nets.jax_transformer,
        nets.transformer_shapes,
    )


@dataclass(frozen=True)
class Stepper:
    """Training on one batch, in one library."""

    step: Callable[[], Any]  #: returns the loss
    wait: Callable[[], Any] = lambda: None
    read: Callable[[Any], float] = float


def gluon_stepper(
    package: str, training: Training, hybridized: bool
) -> Callable[[Any, Any], Stepper]:
    """Return what makes steps in Afterglow or MXNet, of data and labels."""
    autograd = import_module(f"{package}.autograd")
    gluon = import_module(f"{package}.gluon")
    nd = import_module(f"{package}.ndarray")
    net = nets.gluon_net(package, training.gluon)
    measure = gluon.loss.SoftmaxCrossEntropyLoss()
    if hybridized:
        for block in (net, measure):
            block.hybridize(static_alloc=True, static_shape=True)
    rates = {"learning_rate": RATE, "momentum": MOMENTUM}
    trainer = gluon.Trainer(net.collect_params(), "sgd", rates)

    def stepper(data: Any, labels: Any) -> Stepper:
        x, y = nd.array(data), nd.array(labels)

        def step() -> Any:
            with autograd.record():
                loss = measure(net(x), y)
            loss.backward()
            trainer.step(len(data))
            return loss

        return Stepper(lambda: step().mean(), nd.waitall, lambda loss: float(loss.asscalar()))

    return stepper


def torch_stepper(training: Training, compiled: bool) -> Callable[[Any, Any], Stepper]:
    """Return what makes steps in PyTorch, of data and labels."""
    import torch

    net = nets.torch_net(training.torch)
    descent = torch.optim.SGD(net.parameters(), lr=RATE, momentum=MOMENTUM)

    def measure(x: Any, y: Any) -> Any:
        predicted = net(x)
        return torch.nn.functional.cross_entropy(
            predicted.reshape(-1, predicted.shape[-1]), y.reshape(-1)
        )

    measured = torch.compile(measure) if compiled else measure

    def stepper(data: Any, labels: Any) -> Stepper:
        x, y = torch.from_numpy(data), torch.from_numpy(labels)

        def step() -> Any:
            descent.zero_grad()
            loss = measured(x, y)
            loss.backward()
            descent.step()
            return loss.detach()

        return Stepper(step)

    return stepper


def jax_stepper(training: Training) -> Callable[[Any, Any], Stepper]:
    """Return what makes steps in JAX, of data and labels: the whole step is compiled."""
    import jax
    import jax.numpy as jnp

    assert training.jax
    assert training.shapes
    net = training.jax
    filling = nets.Filling()
    weights = [jnp.asarray(filling.value(shape, False)) for shape in training.shapes()]
    state = [weights, [jnp.zeros_like(weight) for weight in weights]]

    def measure(weights: list[Any], x: Any, y: Any) -> Any:
        logarithms = jax.nn.log_softmax(net(weights, x))
        return -jnp.take_along_axis(logarithms, y[..., None], -1).mean()

    @jax.jit
    def descend(weights: list[Any], speeds: list[Any], x: Any, y: Any) -> Any:
        loss, slopes = jax.value_and_grad(measure)(weights, x, y)
        speeds = [MOMENTUM * speed + slope for speed, slope in zip(speeds, slopes, strict=True)]
        weights = [weight - RATE * speed for weight, speed in zip(weights, speeds, strict=True)]
        return loss, weights, speeds

    def stepper(data: Any, labels: Any) -> Stepper:
        x, y = jnp.asarray(data), jnp.asarray(labels)

        def step() -> Any:
            loss, *state[:] = descend(*state, x, y)
            return loss

        return Stepper(step, lambda: jax.block_until_ready(state))

    return stepper


def stepper_of(training: Training, hybridized: bool, column: str) -> Callable[[Any, Any], Stepper]:
    """Return what makes steps in a column; ``eager`` is Afterglow without ``hybridize``."""
    library = library_of(column)
    if library == "torch":
        return torch_stepper(training, column == "torch.compile")
    if library == "jax":
        return jax_stepper(training)
    return gluon_stepper(library, training, hybridized and column != "eager")


def train(training: Training, hybridized: bool, column: str) -> Task:
    """Return a task that takes the time of a step; all agree upon the loss after the first."""
    on = stepper_of(training, hybridized, column)(training.data, training.labels)
    for _ in range(WARM_UP):
        loss = on.step()
        on.wait()
    value = on.read(loss)

    def task() -> Answer:
        begin = time.perf_counter()
        losses = [on.step() for _ in range(training.steps)]
        on.wait()
        seconds = time.perf_counter() - begin
        del losses
        return {"seconds": seconds / training.steps, "value": value}

    return task


def train_watched(training: Training, column: str) -> Task:
    """Return a task of a few steps, after steps with two samples; its memory is watched."""
    make = stepper_of(training, True, column)
    small = make(training.data[:2], training.labels[:2])
    for _ in range(WARM_UP):
        small.step()
        small.wait()
    on = make(training.data, training.labels)
    if column == OURS:
        import_module(f"{OURS}.memory").trim()

    def task() -> Answer:
        begin = time.perf_counter()
        for _ in range(WARM_UP):
            loss = on.step()
            on.wait()
            del loss
        return {"seconds": (time.perf_counter() - begin) / WARM_UP}

    return task


def onnx_predictor(name: str, images: Any) -> Callable[[], Any]:
    """Return the prediction of ONNX Runtime, with the model that Afterglow writes."""
    import onnxruntime

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "net.onnx"
        words = [name, *map(str, images.shape), str(file)]
        subprocess.run([os.environ[EXPORTER], __file__, *words], check=True)
        session = onnxruntime.InferenceSession(file)
    feed = {session.get_inputs()[0].name: images}
    return lambda: session.run(None, feed)[0]


def write_onnx(name: str, *words: str) -> None:
    """Write a net of this file's for images of a shape, both given as words, with Afterglow."""
    from afterglow import nd, onnx

    *shape, file = words
    extents = tuple(map(int, shape))
    make: MakeLayers = getattr(nets, name)
    net = nets.gluon_net(OURS, lambda gluon: make(nets.GluonLayers(gluon)))
    net.hybridize()
    net(nd.zeros(extents))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "net")
        net.export(path)
        names = f"{path}-symbol.json", f"{path}-0000.params"
        onnx.export_model(*names, [extents], onnx_file_path=file)


def predictor(name: str, images: Any, column: str) -> Callable[[], Any]:
    """Return the prediction of a net of images by a column, as an array of NumPy's."""
    make: MakeLayers = getattr(nets, name)
    if column == "onnxruntime":
        return onnx_predictor(name, images)
    if column == "torch":
        import torch

        net = nets.torch_net(lambda torch: make(nets.TorchLayers(torch))).eval()
        batch = torch.from_numpy(images)

        def predict() -> Any:
            with torch.inference_mode():
                return net(batch).numpy()

        return predict
    nd = import_module(f"{column}.ndarray")
    hybrid = nets.gluon_net(column, lambda gluon: make(nets.GluonLayers(gluon)))
    hybrid.hybridize(static_alloc=True, static_shape=True)
    array = nd.array(images)
    return lambda: hybrid(array).asnumpy()


def predict(name: str, batch: int, count: int, column: str) -> Task:
    """Return a task that takes the time of one of some predictions, each of which is read."""
    images = np.random.default_rng(0).standard_normal((batch, 3, 224, 224), np.float32)
    run = predictor(name, images, column)
    for _ in range(WARM_UP):
        answer = run()
    # All numbers count; relative to the greatest, as rounding is.
    value = float(np.mean(answer * np.cos(np.arange(answer.size)).reshape(answer.shape)))
    value /= float(np.abs(answer).max())

    def task() -> Answer:
        begin = time.perf_counter()
        for _ in range(count):
            run()
        return {"seconds": (time.perf_counter() - begin) / count, "value": value}

    return task


if __name__ == "__main__":
    write_onnx(*sys.argv[1:])
