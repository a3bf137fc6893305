# SPDX-License-Identifier: Apache-2.0
"""The nets of the group ``networks``.

Nets of images are written once, in a few layers that Gluon and PyTorch both have. Texts have a
module of Gluon and one of PyTorch each, whose parameters come in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

#: Of the language model; the number of words is that of the Penn Treebank.
WORDS, WIDTH = 10000, 256
#: Of the transformer.
TOKENS, MODEL, HEADS, INNER, BLOCKS, LENGTH = 1000, 256, 4, 1024, 4, 128

Layer = Any
Shape = tuple[int, ...]


class GluonLayers:
    """Layers of Afterglow's or MXNet's Gluon."""

    def __init__(self, gluon: Any) -> None:
        class Residual(gluon.HybridBlock):
            def __init__(self, body: Any, shortcut: Any, after: Any) -> None:
                super().__init__()
                self.body, self.shortcut, self.after = body, shortcut, after

            def hybrid_forward(self, F: Any, x: Any) -> Any:
                total = self.body(x) + (self.shortcut(x) if self.shortcut else x)
                return self.after(total) if self.after else total

        self.residual = Residual
        self.nn = gluon.nn

    def chain(self, layers: Iterable[Layer]) -> Layer:
        chain = self.nn.HybridSequential()
        chain.add(*layers)
        return chain

    def convolution(
        self, inputs: int, filters: int, kernel: int, stride: int, pad: int, groups: int, bias: bool
    ) -> Layer:
        return self.nn.Conv2D(
            *(filters, kernel, stride, pad), groups=groups, use_bias=bias, in_channels=inputs
        )

    def norm(self, channels: int) -> Layer:
        return self.nn.BatchNorm(in_channels=channels, epsilon=1e-5)

    def relu(self) -> Layer:
        return self.nn.Activation("relu")

    def relu6(self) -> Layer:
        return self.nn.HybridLambda(lambda F, x: F.clip(x, 0, 6))

    def max_pool(self, kernel: int, stride: int, pad: int) -> Layer:
        return self.nn.MaxPool2D(kernel, stride, pad)

    def mean(self) -> Layer:
        return self.nn.GlobalAvgPool2D()

    def flatten(self) -> Layer:
        return self.nn.Flatten()

    def dense(self, inputs: int, outputs: int) -> Layer:
        return self.nn.Dense(outputs, in_units=inputs)


class TorchLayers:
    """Layers of PyTorch."""

    def __init__(self, torch: Any) -> None:
        class Residual(torch.nn.Module):
            def __init__(self, body: Any, shortcut: Any, after: Any) -> None:
                super().__init__()
                self.body, self.shortcut, self.after = body, shortcut, after

            def forward(self, x: Any) -> Any:
                total = self.body(x) + (self.shortcut(x) if self.shortcut else x)
                return self.after(total) if self.after else total

        self.residual = Residual
        self.nn = torch.nn

    def chain(self, layers: Iterable[Layer]) -> Layer:
        return self.nn.Sequential(*layers)

    def convolution(
        self, inputs: int, filters: int, kernel: int, stride: int, pad: int, groups: int, bias: bool
    ) -> Layer:
        return self.nn.Conv2d(inputs, filters, kernel, stride, pad, groups=groups, bias=bias)

    def norm(self, channels: int) -> Layer:
        return self.nn.BatchNorm2d(channels)

    def relu(self) -> Layer:
        return self.nn.ReLU(inplace=True)

    def relu6(self) -> Layer:
        return self.nn.ReLU6(inplace=True)

    def max_pool(self, kernel: int, stride: int, pad: int) -> Layer:
        return self.nn.MaxPool2d(kernel, stride, pad)

    def mean(self) -> Layer:
        return self.nn.AdaptiveAvgPool2d(1)

    def flatten(self) -> Layer:
        return self.nn.Flatten()

    def dense(self, inputs: int, outputs: int) -> Layer:
        return self.nn.Linear(inputs, outputs)


Layers = GluonLayers | TorchLayers


def normed(
    nn: Layers, inputs: int, filters: int, kernel: int, stride: int = 1, groups: int = 1
) -> list[Layer]:
    """Return a convolution that keeps the size of images (but for the stride) and its norm."""
    convolution = nn.convolution(inputs, filters, kernel, stride, kernel // 2, groups, False)
    return [convolution, nn.norm(filters)]


def lenet(nn: Layers) -> Layer:
    return nn.chain(
        [
            *(nn.convolution(1, 20, 5, 1, 0, 1, True), nn.relu(), nn.max_pool(2, 2, 0)),
            *(nn.convolution(20, 50, 5, 1, 0, 1, True), nn.relu(), nn.max_pool(2, 2, 0)),
            *(nn.flatten(), nn.dense(800, 500), nn.relu(), nn.dense(500, 10)),
        ]
    )


def resnet(nn: Layers, repeats: tuple[int, ...], bottleneck: bool, small: bool) -> Layer:
    """Return a residual net; for small images it begins without strides."""
    if small:
        layers = [*normed(nn, 3, 64, 3), nn.relu()]
    else:
        first = nn.convolution(3, 64, 7, 2, 3, 1, False)
        layers = [first, nn.norm(64), nn.relu(), nn.max_pool(3, 2, 1)]
    inputs = 64
    for stage, count in enumerate(repeats):
        width = 64 << stage
        outputs = 4 * width if bottleneck else width
        for number in range(count):
            stride = 2 if stage and not number else 1
            if bottleneck:
                body = [*normed(nn, inputs, width, 1), nn.relu()]
                body += [*normed(nn, width, width, 3, stride), nn.relu()]
                body += normed(nn, width, outputs, 1)
            else:
                body = [*normed(nn, inputs, width, 3, stride), nn.relu()]
                body += normed(nn, width, width, 3)
            shortcut = None
            if stride > 1 or inputs != outputs:
                shortcut = nn.chain(normed(nn, inputs, outputs, 1, stride))
            layers.append(nn.residual(nn.chain(body), shortcut, nn.relu()))
            inputs = outputs
    classes = 10 if small else 1000
    return nn.chain([*layers, nn.mean(), nn.flatten(), nn.dense(inputs, classes)])


def resnet18(nn: Layers) -> Layer:
    return resnet(nn, (2, 2, 2, 2), bottleneck=False, small=True)


def resnet50(nn: Layers) -> Layer:
    return resnet(nn, (3, 4, 6, 3), bottleneck=True, small=False)


def mobilenet(nn: Layers, multiplier: float, small: bool) -> Layer:
    """Return MobileNetV2; for small images the first two strides are left out."""

    def width(channels: int) -> int:
        return max(8, int(channels * multiplier + 4) // 8 * 8)

    inputs = width(32)
    layers = [*normed(nn, 3, inputs, 3, 1 if small else 2), nn.relu6()]
    stages = [(1, 16, 1, 1), (6, 24, 2, 1 if small else 2), (6, 32, 3, 2), (6, 64, 4, 2)]
    stages += [(6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, channels, count, first in stages:
        outputs = width(channels)
        for number in range(count):
            stride = 1 if number else first
            inner = inputs * expansion
            body = [*normed(nn, inputs, inner, 1), nn.relu6()] if expansion > 1 else []
            body += [*normed(nn, inner, inner, 3, stride, groups=inner), nn.relu6()]
            body += normed(nn, inner, outputs, 1)
            chain = nn.chain(body)
            layers.append(nn.residual(chain, None, None) if number else chain)
            inputs = outputs
    last, classes = max(1280, width(1280)), 10 if small else 1000
    layers += [*normed(nn, inputs, last, 1), nn.relu6(), nn.mean(), nn.flatten()]
    return nn.chain([*layers, nn.dense(last, classes)])


def mobilenet_half(nn: Layers) -> Layer:
    return mobilenet(nn, 0.5, small=True)


def mobilenet_whole(nn: Layers) -> Layer:
    return mobilenet(nn, 1.0, small=False)


def gluon_language_model(gluon: Any) -> Any:
    nn = gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Embedding(WORDS, WIDTH))
    net.add(gluon.rnn.LSTM(WIDTH, 2, input_size=WIDTH))
    net.add(nn.Dense(WORDS, flatten=False, in_units=WIDTH))
    return net


def torch_language_model(torch: Any) -> Any:
    class LanguageModel(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = torch.nn.Embedding(WORDS, WIDTH)
            self.recurrent = torch.nn.LSTM(WIDTH, WIDTH, 2)
            self.words = torch.nn.Linear(WIDTH, WORDS)

        def forward(self, x: Any) -> Any:
            return self.words(self.recurrent(self.embedding(x))[0])

    return LanguageModel()


def language_model_shapes() -> list[Shape]:
    """Return the shapes of the parameters, in the order of the libraries."""
    gates = 4 * WIDTH
    layer = [(gates, WIDTH), (gates, WIDTH), (gates,), (gates,)]
    return [(WORDS, WIDTH), *layer, *layer, (WORDS, WIDTH), (WORDS,)]


def jax_language_model(parameters: list[Any], x: Any) -> Any:
    import jax
    import jax.numpy as jnp

    y = parameters[0][x]
    for layer in (1, 5):
        into, over, *biases = parameters[layer : layer + 4]

        def step(state: Any, one: Any, over: Any = over) -> Any:
            hidden, cell = state
            i, f, g, o = jnp.split(one + hidden @ over.T, 4, axis=1)
            cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
            hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
            return (hidden, cell), hidden

        start = jnp.zeros((x.shape[1], WIDTH))
        y = jax.lax.scan(step, (start, start), y @ into.T + biases[0] + biases[1])[1]
    return y @ parameters[9].T + parameters[10]


def gluon_transformer(gluon: Any) -> Any:
    nn = gluon.nn

    def dense(outputs: int, inputs: int, activation: str | None = None) -> Any:
        return nn.Dense(outputs, activation, flatten=False, in_units=inputs)

    class Attention(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.into, self.out = dense(3 * MODEL, MODEL), dense(MODEL, MODEL)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            def heads(y: Any) -> Any:
                apart = F.reshape(y, shape=(0, 0, -4, HEADS, -1))
                return F.reshape(F.transpose(apart, axes=(0, 2, 1, 3)), shape=(-3, 0, 0))

            queries, keys, values = map(heads, F.split(self.into(x), num_outputs=3, axis=2))
            scores = F.batch_dot(queries, keys, transpose_b=True) / math.sqrt(MODEL // HEADS)
            y = F.reshape(F.batch_dot(F.softmax(scores), values), shape=(-4, -1, HEADS, 0, 0))
            return self.out(F.reshape(F.transpose(y, axes=(0, 2, 1, 3)), shape=(0, 0, -3)))

    class Block(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.attention, self.first = Attention(), nn.LayerNorm(in_channels=MODEL)
            self.inner, self.outer = dense(INNER, MODEL, "relu"), dense(MODEL, INNER)
            self.second = nn.LayerNorm(in_channels=MODEL)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            x = self.first(x + self.attention(x))
            return self.second(x + self.outer(self.inner(x)))

    class Transformer(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.places = self.params.get("places", shape=(LENGTH, MODEL))
            self.embedding = nn.Embedding(TOKENS, MODEL)
            self.blocks = nn.HybridSequential()
            self.blocks.add(*(Block() for _ in range(BLOCKS)))
            self.tokens = dense(TOKENS, MODEL)

        def hybrid_forward(self, F: Any, x: Any, places: Any) -> Any:
            y = F.broadcast_add(self.embedding(x), F.expand_dims(places, axis=0))
            return self.tokens(self.blocks(y))

    return Transformer()


def torch_transformer(torch: Any) -> Any:
    nn = torch.nn

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.into, self.out = nn.Linear(MODEL, 3 * MODEL), nn.Linear(MODEL, MODEL)

        def forward(self, x: Any) -> Any:
            parts = self.into(x).unflatten(2, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
            y = nn.functional.scaled_dot_product_attention(*parts.unbind(0))
            return self.out(y.transpose(1, 2).flatten(2))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention, self.first = Attention(), nn.LayerNorm(MODEL)
            self.inner, self.outer = nn.Linear(MODEL, INNER), nn.Linear(INNER, MODEL)
            self.second = nn.LayerNorm(MODEL)

        def forward(self, x: Any) -> Any:
            x = self.first(x + self.attention(x))
            return self.second(x + self.outer(nn.functional.relu(self.inner(x))))

    class Transformer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.places = nn.Parameter(torch.empty(LENGTH, MODEL))
            self.embedding = nn.Embedding(TOKENS, MODEL)
            self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
            self.tokens = nn.Linear(MODEL, TOKENS)

        def forward(self, x: Any) -> Any:
            return self.tokens(self.blocks(self.embedding(x) + self.places))

    return Transformer()


def transformer_shapes() -> list[Shape]:
    """Return the shapes of the parameters, in the order of the libraries."""

    def dense(outputs: int, inputs: int) -> list[Shape]:
        return [(outputs, inputs), (outputs,)]

    norm = [(MODEL,), (MODEL,)]
    block = [*dense(3 * MODEL, MODEL), *dense(MODEL, MODEL), *norm]
    block += [*dense(INNER, MODEL), *dense(MODEL, INNER), *norm]
    return [(LENGTH, MODEL), (TOKENS, MODEL), *block * BLOCKS, *dense(TOKENS, MODEL)]


def jax_transformer(parameters: list[Any], x: Any) -> Any:
    import jax
    import jax.numpy as jnp

    left = iter(parameters)

    def dense(y: Any) -> Any:
        return y @ next(left).T + next(left)

    def norm(y: Any) -> Any:
        centred = y - y.mean(-1, keepdims=True)
        scale = jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        return centred * scale * (1 + next(left)) + next(left)  # all begin with zeros

    places, embedding = next(left), next(left)
    y = embedding[x] + places
    for _ in range(BLOCKS):
        parts = dense(y).reshape(*x.shape, 3, HEADS, -1)
        queries, keys, values = (parts[:, :, part] for part in range(3))
        scores = jnp.einsum("nihc,njhc->nhij", queries, keys) / math.sqrt(MODEL // HEADS)
        attended = jnp.einsum("nhij,njhc->nihc", jax.nn.softmax(scores), values)
        y = norm(y + dense(attended.reshape(*x.shape, MODEL)))
        y = norm(y + dense(jax.nn.relu(dense(y))))
    return dense(y)


class Filling:
    """Draws the values of parameters one after another, the same in every library."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(0)

    def value(self, shape: Shape, is_scale: bool) -> Any:
        """Return the next: a matrix is drawn, a scale is one, what is added zero."""
        if len(shape) == 1:
            return np.full(shape, 1 if is_scale else 0, np.float32)
        return self.generator.standard_normal(shape, np.float32) * math.sqrt(
            2 / math.prod(shape[1:])
        )


def gluon_net(column: str, make: Callable[[Any], Any]) -> Any:
    """Return a net of Afterglow or MXNet with its values."""
    from importlib import import_module

    nd = import_module(f"{column}.ndarray")
    net = make(import_module(f"{column}.gluon"))
    net.initialize()
    filling = Filling()
    for name, parameter in net.collect_params().items():
        if parameter.grad_req != "null":
            is_scale = name.endswith("gamma")
            parameter.set_data(nd.array(filling.value(parameter.shape, is_scale)))
    return net


def torch_net(make: Callable[[Any], Any]) -> Any:
    """Return a net of PyTorch with its values."""
    import torch

    net = make(torch)
    filling = Filling()
    for name, parameter in net.named_parameters():
        is_scale = name.endswith("weight")
        parameter.data = torch.from_numpy(filling.value(tuple(parameter.shape), is_scale))
    return net
