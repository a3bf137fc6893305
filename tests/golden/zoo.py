# SPDX-License-Identifier: Apache-2.0
"""Networks of the model zoo, small ones with parameters by a rule, and what is asked of them.

``record_zoo.py`` asks MXNet, the tests ask Afterglow.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as onp

#: Sizes of images for which a network is not made with 224.
SIZES = {"inceptionv3": 299}

#: By name: how to make a network from ``vision``, and the size of its images. All families and
#: blocks are there, with fewer channels and layers where that can be said.
NETS: dict[str, tuple[str, int]] = {
    "alexnet": ("alexnet(classes=4)", 67),
    "vgg": ("VGG([1, 2], [4, 8], classes=4)", 8),
    "vgg, normalised": ("VGG([1, 2], [4, 8], classes=4, batch_norm=True)", 8),
    "resnet18_v1": ("resnet18_v1(classes=4, thumbnail=True)", 16),
    "resnet18_v2": ("resnet18_v2(classes=4, thumbnail=True)", 16),
    "resnet, basic, 1": ("ResNetV1(BasicBlockV1, [1, 2], [4, 4, 6], classes=4)", 33),
    "resnet, narrow, 1": ("ResNetV1(BottleneckV1, [2, 1], [4, 8, 12], classes=4)", 32),
    "resnet, basic, 2": ("ResNetV2(BasicBlockV2, [2, 1], [4, 4, 6], classes=4)", 32),
    "resnet, narrow, 2": ("ResNetV2(BottleneckV2, [1, 2], [4, 8, 12], classes=4)", 33),
    "resnet, tiny": ("ResNetV1(BasicBlockV1, [1], [2, 3], classes=2, thumbnail=True)", 4),
    "densenet": ("DenseNet(6, 4, [2, 1], bn_size=2, dropout=0.1, classes=4)", 56),
    "squeezenet1_0": ("squeezenet1_0(classes=4)", 224),
    "squeezenet1_1": ("squeezenet1_1(classes=4)", 224),
    "inception_v3": ("inception_v3(classes=4)", 299),
    "mobilenet": ("mobilenet0_25(classes=4)", 32),
    "mobilenet, wide": ("MobileNet(0.3, classes=4)", 33),
    "mobilenet_v2": ("mobilenet_v2_0_25(classes=4)", 32),
}

#: Networks of few parameters, of which all names are recorded; of the first also the files.
SMALL = ["resnet, tiny", "resnet, narrow, 2", "densenet"]


def make_net(mx: Any, text: str) -> Any:
    """Return a network whose names are those of the first in a process."""
    with mx.name.NameManager():
        return eval(text, vars(mx.gluon.model_zoo.vision))


def shapes_of(graph: Any, size: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all parameters, which are known when that of the images is."""
    arguments, _, states = graph.infer_shape(data=(1, 3, size, size))
    names = [*graph.list_arguments(), *graph.list_auxiliary_states()]
    return dict(zip(names, [*arguments, *states]))  # noqa: B905


def lines_of(net: Any, graph: Any, size: int) -> list[str]:
    """Return a line for each parameter, in order: attributes, name, shape, whether it is learnt."""
    shapes = shapes_of(graph, size)
    places = {id(one): place for place, one in net._collect_params_with_prefix().items()}
    return [
        f"{places[id(one)]} {name} {tuple(shapes[name])} {one.grad_req}"
        for name, one in net.collect_params().items()
    ]


def digest(text: str) -> str:
    """Return a short sum of a text."""
    return hashlib.sha1(text.encode()).hexdigest()[:16]


def graph_of(mx: Any, net: Any) -> tuple[Any, str]:
    """Return the graph of a network, and its nodes as text."""
    with mx.name.NameManager():
        graph = net(mx.sym.var("data"))
    nodes = json.loads(graph.tojson())["nodes"]
    return graph, "\n".join(json.dumps(node, sort_keys=True) for node in nodes)


def answer_of_model(mx: Any, name: str) -> list[Any]:
    """Return what is known of a model of ``get_model``: how many parameters, sums of the rest."""
    with mx.name.NameManager():
        net = mx.gluon.model_zoo.vision.get_model(name)
    graph, nodes = graph_of(mx, net)
    lines = lines_of(net, graph, SIZES.get(name, 224))
    return [len(lines), digest("\n".join(lines)), digest(nodes), digest(repr(net))]


def value_of(name: str, shape: tuple[int, ...]) -> Any:
    """Return values for a parameter that depend on its name alone, so that results stay near 1."""
    values = onp.random.RandomState(zlib.crc32(name.encode())).uniform(-1, 1, shape)
    if name.endswith("weight"):
        values *= (5 / onp.prod(shape[1:])) ** 0.5
    elif name.endswith(("gamma", "running_var")):
        values = 1 + values / 2
    else:
        values /= 10
    return values.astype("float32")


def filled(mx: Any, name: str) -> tuple[Any, Any]:
    """Return a network whose parameters have their values, and two images for it."""
    text, size = NETS[name]
    net, twin = (make_net(mx, text) for _ in range(2))
    shapes = shapes_of(graph_of(mx, twin)[0], size)
    for name, one in net.collect_params().items():
        one.shape = shapes[name]
        one.initialize(init="zeros")
        one.set_data(mx.nd.array(value_of(name, shapes[name])))
    return net, mx.nd.array(images(size))


def images(size: int) -> Any:
    """Return two images."""
    return onp.random.RandomState(size).uniform(-1, 1, (2, 3, size, size)).astype("float32")


def names_in(mx: Any, name: str) -> list[str]:
    """Return the lines of a small network."""
    text, size = NETS[name]
    net = make_net(mx, text)
    return lines_of(net, graph_of(mx, net)[0], size)


def answer_of_net(mx: Any, name: str) -> list[list[float]]:
    """Return what a network says of the images."""
    net, x = filled(mx, name)
    result: list[list[float]] = net(x).asnumpy().tolist()
    return result


def files_of(mx: Any, name: str, folder: Path) -> dict[str, str]:
    """Return the files of a small network, coded as text where they are bytes."""
    net, x = filled(mx, name)
    net.hybridize()
    net(x)
    net.export(str(folder / "net"))
    net.save_parameters(str(folder / "attributes.params"))
    files = {"symbol": (folder / "net-symbol.json").read_text()}
    for kind, file in (("exported", "net-0000"), ("attributes", "attributes")):
        files[kind] = base64.b64encode((folder / f"{file}.params").read_bytes()).decode()
    return files
