# SPDX-License-Identifier: Apache-2.0
"""The ops of the group ``networks``: each written in the words of MXNet and of PyTorch."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from rows import Answer, Task

#: Seconds that the calls of one round take at least.
ROUND = 0.02


@dataclass(frozen=True)
class Operation:
    """A function of arrays; all but the last ``states`` of them get gradients."""

    shapes: tuple[tuple[int, ...], ...]
    gluon: Callable[..., Any]  #: of MXNet's ``nd`` and the arrays
    torch: Callable[..., Any]  #: of PyTorch's ``functional`` and the arrays
    states: int = 0


def convolution(
    data: tuple[int, ...],
    filters: int,
    kernel: int,
    stride: int = 1,
    pad: int = 0,
    dilation: int = 1,
    groups: int = 1,
) -> Operation:
    """Return a convolution without bias in as many dimensions as the data has."""
    rank = len(data) - 2

    def gluon(nd: Any, x: Any, weight: Any) -> Any:
        return nd.Convolution(
            x,
            weight,
            kernel=(kernel,) * rank,
            stride=(stride,) * rank,
            pad=(pad,) * rank,
            dilate=(dilation,) * rank,
            num_filter=filters,
            num_group=groups,
            no_bias=True,
        )

    def torch(functional: Any, x: Any, weight: Any) -> Any:
        call = getattr(functional, f"conv{rank}d")
        return call(x, weight, None, stride, pad, dilation, groups)

    weight = (filters, data[1] // groups, *(kernel,) * rank)
    return Operation((data, weight), gluon, torch)


def transposed_convolution(
    data: tuple[int, ...], filters: int, kernel: int, stride: int, pad: int
) -> Operation:
    """Return a transposed convolution of images."""

    def gluon(nd: Any, x: Any, weight: Any) -> Any:
        return nd.Deconvolution(
            x,
            weight,
            kernel=(kernel, kernel),
            stride=(stride, stride),
            pad=(pad, pad),
            num_filter=filters,
            no_bias=True,
        )

    def torch(functional: Any, x: Any, weight: Any) -> Any:
        return functional.conv_transpose2d(x, weight, None, stride, pad)

    return Operation((data, (data[1], filters, kernel, kernel)), gluon, torch)


def batch_norm(data: tuple[int, ...]) -> Operation:
    """Return a batch norm in training, whose running mean and variance are states."""

    def gluon(nd: Any, x: Any, gamma: Any, beta: Any, mean: Any, variance: Any) -> Any:
        return nd.BatchNorm(x, gamma, beta, mean, variance, fix_gamma=False, eps=1e-5)

    def torch(functional: Any, x: Any, gamma: Any, beta: Any, mean: Any, variance: Any) -> Any:
        return functional.batch_norm(x, mean, variance, gamma, beta, training=True, eps=1e-5)

    return Operation((data, *((data[1],),) * 4), gluon, torch, states=2)


def pooling(data: tuple[int, ...], kind: str, kernel: int, stride: int, pad: int = 0) -> Operation:
    """Return the greatest or the mean (``max``, ``avg``) of windows of images."""

    def gluon(nd: Any, x: Any) -> Any:
        return nd.Pooling(
            x, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad), pool_type=kind
        )

    def torch(functional: Any, x: Any) -> Any:
        return getattr(functional, f"{kind}_pool2d")(x, kernel, stride, pad)

    return Operation((data,), gluon, torch)


@dataclass(frozen=True)
class Calls:
    """What is timed, in one library."""

    forward: Callable[[], Any]
    backward: Callable[[Any], Any]  #: of what ``forward`` returned
    wait: Callable[[], Any]
    values: Callable[[Any], list[Any]]  #: of what ``forward`` returned: that, then the gradients


def draw(*shape: int, seed: int = 0) -> Any:
    """Return numbers that all libraries get the same."""
    return np.random.default_rng((seed, *shape)).standard_normal(shape, np.float32)


def gluon_calls(column: str, function: Callable[[], Any], arrays: list[Any]) -> Calls:
    """Return the calls of a function in Afterglow or MXNet, with gradients of some arrays."""
    autograd = import_module(f"{column}.autograd")
    nd = import_module(f"{column}.ndarray")
    head = nd.array(draw(*function().shape, seed=1))

    def forward() -> Any:
        with autograd.record():
            return function()

    def values(y: Any) -> list[Any]:
        return [array.asnumpy() for array in (y, *(array.grad for array in arrays))]

    return Calls(forward, lambda y: y.backward(head), nd.waitall, values)


def torch_calls(function: Callable[[], Any], arrays: list[Any]) -> Calls:
    """Return the calls of a function in PyTorch, with gradients of some arrays."""
    import torch

    head = torch.from_numpy(draw(*function().shape, seed=1))

    def forward() -> Any:
        for array in arrays:
            array.grad = None
        return function()

    def values(y: Any) -> list[Any]:
        return [array.detach().numpy() for array in (y, *(array.grad for array in arrays))]

    return Calls(forward, lambda y: y.backward(head), lambda: None, values)


def calls_of(operation: Operation, column: str) -> Calls:
    """Return the calls of an op in the library of a column."""
    drawn = [draw(*shape) for shape in operation.shapes]
    differentiated = len(drawn) - operation.states
    if column == "torch":
        import torch

        tensors = [torch.from_numpy(array) for array in drawn]
        for tensor in tensors[:differentiated]:
            tensor.requires_grad_()
        functional = torch.nn.functional
        return torch_calls(lambda: operation.torch(functional, *tensors), tensors[:differentiated])
    nd = import_module(f"{column}.ndarray")
    arrays = [nd.array(array) for array in drawn]
    for array in arrays[:differentiated]:
        array.attach_grad()
    return gluon_calls(column, lambda: operation.gluon(nd, *arrays), arrays[:differentiated])


def chain_calls(column: str) -> Calls:
    """Return the calls of three layers of convolutions with bias and relu, hybridized."""
    x = draw(64, 64, 32, 32)
    weights = [0.05 * draw(64, 64, 3, 3, seed=seed) for seed in (2, 3, 4)]
    if column == "torch":
        import torch

        layers: list[Any] = []
        for weight in weights:
            layer = torch.nn.Conv2d(64, 64, 3, padding=1)
            layer.weight.data, layer.bias.data = torch.from_numpy(weight), torch.zeros(64)
            layers += [layer, torch.nn.ReLU()]
        net = torch.nn.Sequential(*layers)
        data = torch.from_numpy(x).requires_grad_()
        return torch_calls(lambda: net(data), [data, *net.parameters()])
    gluon = import_module(f"{column}.gluon")
    nd = import_module(f"{column}.ndarray")
    chain = gluon.nn.HybridSequential()
    for _ in weights:
        chain.add(gluon.nn.Conv2D(64, 3, padding=1, in_channels=64, activation="relu"))
    chain.initialize()
    for layer, weight in zip(chain, weights, strict=True):
        layer.weight.set_data(nd.array(weight))
    chain.hybridize(static_alloc=True, static_shape=True)
    images = nd.array(x)
    images.attach_grad()
    parameters = [parameter.data() for parameter in chain.collect_params().values()]
    return gluon_calls(column, lambda: chain(images), [images, *parameters])


def recurrent_calls(kind: str, width: int, column: str) -> Calls:
    """Return the calls of a recurrent layer (LSTM, GRU): 35 steps, 32 samples."""
    x = draw(35, 32, width)
    gates = {"LSTM": 4, "GRU": 3}[kind]
    scale = np.float32(width**-0.5)
    weights = [scale * draw(gates * width, width, seed=seed) for seed in (2, 3)]
    biases = [scale * draw(gates * width, seed=seed) for seed in (4, 5)]
    if column == "torch":
        import torch

        layer = getattr(torch.nn, kind)(width, width)
        for parameter, value in zip(layer.parameters(), weights + biases, strict=True):
            parameter.data = torch.from_numpy(value)
        data = torch.from_numpy(x).requires_grad_()
        return torch_calls(lambda: layer(data)[0], [data, *layer.parameters()])
    nd = import_module(f"{column}.ndarray")
    recurrent = getattr(import_module(f"{column}.gluon").rnn, kind)(width, input_size=width)
    recurrent.initialize()
    parameters = list(recurrent.collect_params().values())
    for parameter, value in zip(parameters, weights + biases, strict=True):
        parameter.set_data(nd.array(value))
    steps = nd.array(x)
    steps.attach_grad()
    arrays = [steps, *(parameter.data() for parameter in parameters)]
    return gluon_calls(column, lambda: recurrent(steps), arrays)


def task_of(calls: Calls, part: str) -> Task:
    """Return a task that times ``forward``, ``backward`` or ``both``; all wait for the results."""

    def once() -> float:
        calls.wait()
        begin = time.perf_counter()
        y = calls.forward()
        if part != "both":
            calls.wait()
        between = time.perf_counter()
        if part == "forward":
            return between - begin
        calls.backward(y)
        calls.wait()
        return time.perf_counter() - (begin if part == "both" else between)

    for _ in range(3):  # hybridized layers take three calls
        taken = once()
    count = max(1, math.ceil(ROUND / taken))
    return lambda: {"seconds": sum(once() for _ in range(count)) / count}


def geometric_mean(tasks: list[Task]) -> Task:
    """Return a task whose time is the geometric mean of those of others."""

    def task() -> Answer:
        return {"seconds": math.exp(np.mean([math.log(one()["seconds"]) for one in tasks]))}

    return task


def values_of(calls: Calls) -> Any:
    """Return the result and all gradients, each by its greatest value, in one array."""
    y = calls.forward()
    calls.backward(y)
    return np.concatenate([each.ravel() / np.abs(each).max() for each in calls.values(y)])
