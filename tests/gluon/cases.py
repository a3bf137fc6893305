# SPDX-License-Identifier: Apache-2.0
"""Layers and losses on given numbers. ``record.py`` asks MXNet, the tests ask Afterglow."""

from __future__ import annotations

from typing import Any

import numpy as onp

#: name: how to make the layer from ``gluon``, the shape of its input.
LAYERS: dict[str, tuple[str, tuple[int, ...]]] = {
    "dense": ("nn.Dense(3)", (2, 4)),
    "dense flattens": ("nn.Dense(3, activation='tanh')", (2, 2, 3)),
    "dense keeps axes": ("nn.Dense(3, flatten=False, activation='relu')", (2, 2, 3)),
    "dense of a vector": ("nn.Dense(2, flatten=False)", (3,)),
    "dense of a vector, flattened": ("nn.Dense(2)", (3,)),
    "dense without bias": ("nn.Dense(2, use_bias=False, in_units=4)", (3, 4)),
    "dense in float64": ("nn.Dense(2, dtype='float64')", (3, 4)),
    "relu": ("nn.Activation('relu')", (3, 4)),
    "sigmoid": ("nn.Activation('sigmoid')", (3, 4)),
    "tanh": ("nn.Activation('tanh')", (3, 4)),
    "softrelu": ("nn.Activation('softrelu')", (3, 4)),
    "softsign": ("nn.Activation('softsign')", (3, 4)),
    "leaky": ("nn.LeakyReLU(0.1)", (3, 4)),
    "prelu": ("nn.PReLU()", (3, 4)),
    "prelu of channels": ("nn.PReLU(in_channels=3)", (2, 3, 2)),
    "elu": ("nn.ELU(0.7)", (3, 4)),
    "selu": ("nn.SELU()", (3, 4)),
    "gelu": ("nn.GELU()", (3, 4)),
    "swish": ("nn.Swish(1.5)", (3, 4)),
    "dropout of nothing": ("nn.Dropout(0)", (3, 4)),
    "batch norm": ("nn.BatchNorm()", (4, 3)),
    "batch norm of images": ("nn.BatchNorm(momentum=0.8, epsilon=0.01)", (2, 3, 2, 2)),
    "batch norm, last axis": ("nn.BatchNorm(axis=-1)", (2, 2, 3)),
    "batch norm, fixed": ("nn.BatchNorm(scale=False, center=False)", (4, 3)),
    "batch norm, global": ("nn.BatchNorm(use_global_stats=True)", (4, 3)),
    "layer norm": ("nn.LayerNorm()", (2, 3, 4)),
    "layer norm, axis 1": ("nn.LayerNorm(axis=1, epsilon=0.01)", (2, 3, 4)),
    "instance norm": ("nn.InstanceNorm(scale=True)", (2, 3, 4)),
    "instance norm, axis 2": ("nn.InstanceNorm(axis=2)", (2, 3, 4)),
    "group norm": ("nn.GroupNorm(2)", (2, 4, 3)),
    "flatten": ("nn.Flatten()", (2, 3, 2)),
    "lambda": ("nn.Lambda('tanh')", (2, 3)),
    "hybrid lambda": ("nn.HybridLambda(lambda F, x: F.square(x))", (2, 3)),
    "identity": ("contrib.nn.Identity()", (2, 3)),
}

#: name: how to make the loss from ``gluon.loss``, the kind of input, further arguments.
LOSSES: dict[str, tuple[str, str]] = {
    "l1": ("L1Loss()", "values"),
    "l1 weighted": ("L1Loss(weight=0.3)", "values weighted"),
    "l2": ("L2Loss()", "values"),
    "l2 weighted": ("L2Loss(weight=3)", "values weighted"),
    "l2, other axis": ("L2Loss(batch_axis=1)", "values"),
    "l2 of vectors": ("L2Loss()", "vectors"),
    "sigmoid": ("SigmoidBinaryCrossEntropyLoss()", "binary"),
    "sigmoid weighted": ("SigmoidBCELoss()", "binary weighted positive"),
    "from sigmoid": ("SigmoidBCELoss(from_sigmoid=True)", "probable binary"),
    "from sigmoid weighted": (
        "SigmoidBCELoss(from_sigmoid=True)",
        "probable binary weighted positive",
    ),
    "softmax": ("SoftmaxCrossEntropyLoss()", "classes"),
    "softmax weighted": ("SoftmaxCELoss(weight=0.5)", "classes weighted"),
    "softmax, axis 1": ("SoftmaxCELoss(axis=1)", "images"),
    "softmax, dense": ("SoftmaxCELoss(sparse_label=False)", "distributions"),
    "softmax, logits": ("SoftmaxCELoss(from_logits=True)", "classes"),
    "kl": ("KLDivLoss()", "distributions"),
    "kl, not logits": ("KLDivLoss(from_logits=False)", "distributions"),
    "huber": ("HuberLoss()", "values"),
    "huber 0.4": ("HuberLoss(rho=0.4)", "values weighted"),
    "hinge": ("HingeLoss()", "signed"),
    "hinge 2": ("HingeLoss(margin=2)", "signed weighted"),
    "squared hinge": ("SquaredHingeLoss()", "signed"),
    "logistic": ("LogisticLoss()", "signed"),
    "logistic, binary": ("LogisticLoss(label_format='binary')", "binary"),
    "triplet": ("TripletLoss()", "triplet"),
    "triplet 3": ("TripletLoss(margin=3, weight=2)", "triplet"),
    "poisson": ("PoissonNLLLoss()", "counts"),
    "poisson, rates": ("PoissonNLLLoss(from_logits=False)", "probable counts"),
    "cosine": ("CosineEmbeddingLoss()", "pairs"),
    "cosine 0.2": ("CosineEmbeddingLoss(margin=0.2, weight=2)", "pairs"),
    "sdml": ("SDMLLoss()", "values"),
    "sdml 0.1": ("SDMLLoss(smoothing_parameter=0.1)", "values"),
    "ctc": ("CTCLoss()", "sequences"),
    "ctc weighted": ("CTCLoss(weight=0.5)", "sequences with lengths weights"),
    "ctc, time first": ("CTCLoss(layout='TNC', label_layout='TN')", "turned sequences"),
    "ctc with lengths": ("CTCLoss(layout='TNC')", "time sequences with lengths"),
}

#: Losses of a prediction and a label, and shapes of both that may fit or not.
LOSSES_OF_TWO = [
    "L1Loss()",
    "L2Loss()",
    "SigmoidBCELoss()",
    "SigmoidBCELoss(from_sigmoid=True)",
    "SoftmaxCELoss()",
    "SoftmaxCELoss(axis=0)",
    "SoftmaxCELoss(sparse_label=False)",
    "KLDivLoss()",
    "HuberLoss()",
    "HingeLoss()",
    "SquaredHingeLoss()",
    "LogisticLoss()",
    "PoissonNLLLoss()",
    "CosineEmbeddingLoss()",
]
SHAPES_OF_TWO = [
    *(((4, 3), shape) for shape in [(4, 3), (5, 3), (3, 4), (12,), (4,), (5,), (4, 1), (1, 4)]),
    *(((4, 3), shape) for shape in [(2, 2), (1,), (3,), (1, 3)]),
    *(((4, 2), shape) for shape in [(4,), (100,)]),
    *(((4,), shape) for shape in [(4,), (1,), (5,)]),
    *(((2, 3, 4), shape) for shape in [(2, 3), (2, 3, 1), (6,), (2, 4), (2, 1), (24,), (2, 3, 4)]),
    *(((1, 3), shape) for shape in [(1,), (5,)]),
]

#: name: the optimizer and its arguments, for the training of a small network.
OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {"learning_rate": 0.5}),
    "sgd momentum": ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}),
    "sgd clip": ("SGD", {"learning_rate": 0.5, "momentum": 0.5, "clip_gradient": 0.02}),
    "sgd half": ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "multi_precision": True}),
    "nag": ("NAG", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}),
    "sgld": ("SGLD", {"learning_rate": 0.5}),
    "signum": ("Signum", {"learning_rate": 0.02, "momentum": 0.9, "wd_lh": 0.01}),
    "adam": ("Adam", {"learning_rate": 0.03}),
    "adam half": ("Adam", {"learning_rate": 0.03, "wd": 0.01, "multi_precision": True}),
    "adamw": ("AdamW", {"learning_rate": 0.03, "wd": 0.01}),
    "adagrad": ("AdaGrad", {"learning_rate": 0.1}),
    "rmsprop": ("RMSProp", {"learning_rate": 0.02, "wd": 0.01}),
    "rmsprop centered": ("RMSProp", {"learning_rate": 0.02, "centered": True}),
    "adadelta": ("AdaDelta", {"rho": 0.8, "epsilon": 1e-3}),
    "ftrl": ("Ftrl", {"learning_rate": 0.3, "lamda1": 0.001}),
    "adamax": ("Adamax", {"learning_rate": 0.05}),
    "nadam": ("Nadam", {"learning_rate": 0.03}),
    "lamb": ("LAMB", {"learning_rate": 0.05, "wd": 0.01}),
    "ftml": ("FTML", {"learning_rate": 0.05}),
    "dcasgd": ("DCASGD", {"learning_rate": 0.5}),
    "lars": ("LARS", {"learning_rate": 1.0, "momentum": 0.9, "eta": 0.02}),
    "lbsgd": ("LBSGD", {"learning_rate": 0.2, "momentum": 0.9}),
}


def numbers(shape: tuple[int, ...], seed: int, dtype: str = "float32") -> Any:
    """Return numbers between -2 and 2 that are not close to 0."""
    drawn = onp.random.RandomState(seed).uniform(0.1, 2, shape)
    signs = onp.random.RandomState(seed + 1).choice([-1.0, 1.0], shape)
    return (drawn * signs).astype(dtype)


def answer_of_layer(mx: Any, name: str, array: Any) -> dict[str, Any]:
    """Return output, gradients and parameters of a layer after one step in training."""
    text, shape = LAYERS[name]
    layer = eval(text, {"nn": mx.gluon.nn, "contrib": mx.gluon.contrib})
    dtype = "float64" if "float64" in text else "float32"
    layer.initialize()
    x = array(numbers(shape, 1, dtype))
    layer(x)
    params = layer._collect_params_with_prefix()
    for seed, (key, parameter) in enumerate(sorted(params.items())):
        values = numbers(parameter.shape, 10 + seed, dtype)
        parameter.set_data(array(abs(values) if key.endswith("var") else values))
    x.attach_grad()
    with mx.autograd.record():
        y = layer(x)
    y.backward(array(numbers(y.shape, 2, dtype)))
    result = {"output": y, "grad": x.grad}
    for key, parameter in params.items():
        result[key] = parameter.data()
        if parameter.grad_req != "null":
            result[f"{key} grad"] = parameter.grad()
    with mx.autograd.predict_mode():
        result["predicted"] = layer(x)
    return {key: value.asnumpy().tolist() for key, value in result.items()}


def inputs_of_loss(kind: str, array: Any) -> tuple[list[Any], list[Any]]:
    """Return the predictions, and all other arguments."""
    words = kind.split()
    if "sequences" in words:
        return _sequences(words, array)
    shape = {"vectors": (4,), "images": (2, 3, 4)}.get(words[-1], (4, 3))
    if "classes" in words:
        shape = (4, 5)
    pred = numbers(shape, 3)
    if "probable" in words:
        pred = 1 / (1 + onp.exp(-pred))
    further: list[Any] = [numbers(shape, 5)]
    if "binary" in words:
        further = [(further[0] > 0).astype("float32")]
    elif "signed" in words:
        further = [onp.sign(further[0])]
    elif "classes" in words:
        further = [onp.array([0, 3, 4, 1], "float32")]
    elif "images" in words:
        further = [onp.array([[0, 1, 2, 1], [2, 2, 0, 1]], "float32")]
    elif "distributions" in words:
        further = [abs(further[0]) / abs(further[0]).sum(-1, keepdims=True)]
    elif "counts" in words:
        further = [onp.array([[0, 1, 2], [3, 4, 0], [1, 1, 7], [2, 5, 1]], "float32")]
    elif "triplet" in words:
        further.append(numbers(shape, 7))
    elif "pairs" in words:
        further.append(onp.array([1, -1, 1, -1], "float32"))
    if "weighted" in words:
        further.append(onp.array([[0.5], [1], [0], [2]], "float32"))
    if "positive" in words:
        further.append(onp.array([[0.5, 1, 3]], "float32"))
    return [array(pred)], [array(value) for value in further]


def answer_of_loss(mx: Any, name: str, array: Any) -> dict[str, Any]:
    """Return a loss and the gradient of the prediction."""
    text, kind = LOSSES[name]
    loss = eval(text, vars(mx.gluon.loss))
    (pred,), further = inputs_of_loss(kind, array)
    pred.attach_grad()
    with mx.autograd.record():
        value = loss(pred, *further)
    value.backward(array(numbers(value.shape, 9)))
    return {"loss": value.asnumpy().tolist(), "grad": pred.grad.asnumpy().tolist()}


def shapes_that_fit(mx: Any, text: str, array: Any, hybridized: bool = False) -> dict[str, Any]:
    """Return the numbers of the shapes for which a loss gives an answer."""
    found = []
    for number, (shape, label) in enumerate(SHAPES_OF_TWO):
        loss = eval(text, vars(mx.gluon.loss))
        if hybridized:
            loss.hybridize()
        first = [array(onp.full(shape, 0.5, "float32"))] * (2 if "Cosine" in text else 1)
        try:
            loss(*first, array(onp.ones(label, "float32"))).asnumpy()
        except (ValueError, mx.MXNetError):
            continue
        found.append(number)
    return {"fits": found}


def _sequences(words: list[str], array: Any) -> tuple[list[Any], list[Any]]:
    pred = numbers((3, 5, 4), 3)
    label = onp.array([[0, 1, -1], [2, 2, -1], [0, 1, 2]], "float32")
    if words[0] in ("time", "turned"):
        pred = pred.swapaxes(0, 1).copy()
    if words[0] == "turned":
        label = label.T.copy()
    further = [label]
    if "lengths" in words:
        further += [onp.array([5, 4, 3], "float32"), onp.array([2, 1, 3], "float32")]
    if "weights" in words:
        further.append(onp.array([0.5, 1, 2], "float32"))
    return [array(pred)], [array(value) for value in further]


def training_curve(mx: Any, name: str, array: Any) -> list[float]:
    """Return the losses of a small network in training, from given weights on given data."""
    kind, arguments = OPTIMIZERS[name]
    dtype = "float16" if "half" in name else "float32"
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(8, in_units=4), mx.gluon.nn.Dense(3, in_units=8))
    net.initialize()
    net.cast(dtype)
    for seed, (_, parameter) in enumerate(sorted(net._collect_params_with_prefix().items())):
        parameter.set_data(array((numbers(parameter.shape, 20 + seed) * 0.3).astype(dtype)))
    trainer = mx.gluon.Trainer(net.collect_params(), kind, dict(arguments))
    loss, tanh = mx.gluon.loss.SoftmaxCrossEntropyLoss(), mx.gluon.nn.Activation("tanh")
    features = numbers((24, 4), 40)
    classes = (features[:, :3] ** 2).argmax(1).astype("float32")
    curve = []
    for step in range(24):
        part = slice(8 * (step % 3), 8 * (step % 3) + 8)
        x, y = array(features[part]), array(classes[part])
        with mx.autograd.record():
            # MXNet multiplies no float16 on a processor.
            for layer in net:
                weight = layer.weight.data().astype("float32")
                bias = layer.bias.data().astype("float32")
                x = (x.reshape((8, 1, -1)) * weight.reshape((1, *weight.shape))).sum(axis=2)
                x = x + bias.reshape((1, -1))
                x = tanh(x) if layer is net[0] else x
            value = loss(x, y)
        value.backward()
        trainer.step(8)
        curve.append(float(value.mean().asnumpy().item()))
    return curve
