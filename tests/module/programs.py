# SPDX-License-Identifier: Apache-2.0
"""Programs that train modules on given numbers, for ``record.py`` and for the tests."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from typing import Any

import numpy as onp


def numbers(shape: tuple[int, ...], seed: int) -> Any:
    return onp.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def perceptron(mx: Any, classes: int = 3, norm: bool = False) -> Any:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="fc1")
    if norm:
        net = mx.sym.BatchNorm(net, fix_gamma=False, momentum=0.7, eps=1e-3, name="bn")
    net = mx.sym.Activation(net, act_type="relu", name="relu1")
    net = mx.sym.FullyConnected(net, num_hidden=classes, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def line(mx: Any) -> Any:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc")
    return mx.sym.LinearRegressionOutput(net, name="lro")


def parameters(mx: Any, **shapes: tuple[int, ...]) -> dict[str, Any]:
    return {name: mx.nd.array(numbers(shape, len(name))) for name, shape in shapes.items()}


def start(mx: Any, width: int = 5, classes: int = 3) -> dict[str, Any]:
    return parameters(
        mx,
        fc1_weight=(8, width),
        fc1_bias=(8,),
        fc2_weight=(classes, 8),
        fc2_bias=(classes,),
    )


def batches(mx: Any, rows: int = 20, size: int = 4, **options: Any) -> Any:
    return mx.io.NDArrayIter(numbers((rows, 5), 7), onp.arange(rows) % 3, size, **options)


class Lines(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextlib.contextmanager
def logged() -> Any:
    handler, logger = Lines(), logging.getLogger()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def flat(arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: array.asnumpy().tolist() for name, array in sorted(arrays.items())}


def trained(mx: Any, contexts: Any = None, symbol: Any = None, **options: Any) -> dict[str, Any]:
    """Train for three epochs; return parameters, metrics and predictions."""
    train = batches(mx)
    module = mx.mod.Module(
        perceptron(mx) if symbol is None else symbol,
        context=contexts or mx.cpu(),
        fixed_param_names=options.pop("fixed_param_names", None),
    )
    seen: list[Any] = []
    options.setdefault("arg_params", start(mx))
    module.fit(
        train,
        eval_data=batches(mx, rows=9),
        num_epoch=3,
        eval_metric=["acc", "ce"],
        batch_end_callback=lambda p: seen.append(
            [p.epoch, p.nbatch, *(value for _, value in p.eval_metric.get_name_value())]
        ),
        **options,
    )
    arguments, states = module.get_params()
    return {
        "arguments": flat(arguments),
        "states": flat(states),
        "seen": seen,
        "score": [list(pair) for pair in module.score(train, ["acc", "ce"])],
        "prediction": module.predict(batches(mx, rows=9)).asnumpy().tolist(),
    }


def plain(mx: Any) -> Any:
    return trained(mx, optimizer_params={"learning_rate": 0.3})


def momentum(mx: Any) -> Any:
    return trained(mx, optimizer_params=(("learning_rate", 0.2), ("momentum", 0.9), ("wd", 0.01)))


def adam(mx: Any) -> Any:
    return trained(mx, optimizer="adam", optimizer_params={"learning_rate": 0.05})


def fixed(mx: Any) -> Any:
    return trained(
        mx, fixed_param_names=["fc1_weight", "fc1_bias"], optimizer_params={"learning_rate": 0.3}
    )


def two_devices(mx: Any) -> Any:
    return trained(mx, [mx.cpu(0), mx.cpu(1)], optimizer_params={"learning_rate": 0.3})


def two_devices_adam(mx: Any) -> Any:
    return trained(
        mx,
        [mx.cpu(0), mx.cpu(1)],
        kvstore="device",
        optimizer="adam",
        optimizer_params={"learning_rate": 0.05},
    )


def normalised(mx: Any) -> Any:
    given = {
        **start(mx),
        "bn_gamma": mx.nd.ones((8,)),
        "bn_beta": mx.nd.zeros((8,)),
    }
    return trained(
        mx,
        symbol=perceptron(mx, norm=True),
        arg_params=given,
        aux_params={"bn_moving_mean": mx.nd.zeros((8,)), "bn_moving_var": mx.nd.ones((8,))},
        optimizer_params={"learning_rate": 0.1},
    )


def regression(mx: Any) -> Any:
    data = numbers((12, 2), 3)
    truth = data @ onp.array([2.0, -3.4], "float32") + 4.2
    train = mx.io.NDArrayIter(data, truth, 4, label_name="lro_label")
    module = mx.mod.Module(line(mx), label_names=["lro_label"])
    module.fit(
        train,
        num_epoch=5,
        eval_metric="mse",
        arg_params=parameters(mx, fc_weight=(1, 2), fc_bias=(1,)),
        optimizer_params={"learning_rate": 0.2},
    )
    return {
        "arguments": flat(module.get_params()[0]),
        "score": [list(pair) for pair in module.score(train, "mse")],
    }


def by_hand(mx: Any) -> Any:
    """Forward, backward and update step by step, with gradients of the inputs and other sizes."""
    module = mx.mod.Module(perceptron(mx))
    module.bind([("data", (4, 5))], [("softmax_label", (4,))], inputs_need_grad=True)
    module.init_params(arg_params=start(mx))
    module.init_optimizer(optimizer_params={"learning_rate": 0.5})
    found: dict[str, Any] = {"shapes": [], "gradients": [], "outputs": []}
    for step, size in enumerate((4, 4, 2, 6)):
        batch = mx.io.DataBatch(
            [mx.nd.array(numbers((size, 5), step))], [mx.nd.array(onp.arange(size) % 3)]
        )
        module.forward_backward(batch)
        module.update()
        found["shapes"].append([list(shape) for _, shape in module.output_shapes])
        found["gradients"].append(module.get_input_grads()[0].asnumpy().tolist())
        found["outputs"].append(module.get_outputs()[0].asnumpy().tolist())
    found["arguments"] = flat(module.get_params()[0])
    return found


def buckets(mx: Any) -> Any:
    """Sums over sequences of two lengths, with shared parameters."""

    def symbol(length: int) -> Any:
        data = mx.sym.Variable("data")
        net = mx.sym.sum(mx.sym.reshape(data, shape=(0, length, -1)), axis=1)
        net = mx.sym.FullyConnected(net, num_hidden=3, name="fc")
        return mx.sym.SoftmaxOutput(net, name="softmax"), ("data",), ("softmax_label",)

    module = mx.mod.BucketingModule(symbol, default_bucket_key=3)
    module.bind([("data", (4, 6))], [("softmax_label", (4,))])
    module.init_params(arg_params=parameters(mx, fc_weight=(3, 2), fc_bias=(3,)))
    module.init_optimizer(optimizer_params={"learning_rate": 0.3, "momentum": 0.5})
    outputs = []
    for step, length in enumerate((3, 2, 3, 2)):
        data = mx.nd.array(numbers((4, 2 * length), step))
        batch = mx.io.DataBatch(
            [data],
            [mx.nd.array([0, 1, 2, 0])],
            bucket_key=length,
            provide_data=[("data", data.shape)],
            provide_label=[("softmax_label", (4,))],
        )
        module.forward(batch)
        module.backward()
        module.update()
        outputs.append(module.get_outputs()[0].asnumpy().tolist())
    return {"outputs": outputs, "arguments": flat(module.get_params()[0])}


def chain(mx: Any) -> Any:
    """Two modules one after another."""
    first = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="fc1")
    first = mx.sym.Activation(first, act_type="tanh", name="tanh")
    second = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc2")
    second = mx.sym.SoftmaxOutput(second, name="softmax")
    modules = mx.mod.SequentialModule()
    modules.add(mx.mod.Module(first, label_names=[]))
    modules.add(mx.mod.Module(second), take_labels=True, auto_wiring=True)
    train = batches(mx)
    modules.fit(
        train, num_epoch=2, arg_params=start(mx), optimizer_params={"learning_rate": 0.3},
        allow_missing=False,
    )  # fmt: skip
    return {
        "arguments": flat(modules.get_params()[0]),
        "score": [list(pair) for pair in modules.score(train, "acc")],
    }


def python_loss(mx: Any) -> Any:
    """A loss in Python after a module."""
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    modules = mx.mod.SequentialModule()
    modules.add(mx.mod.Module(net, label_names=[]))
    modules.add(
        mx.mod.PythonLossModule(grad_func=lambda scores, labels: scores - mx.nd.one_hot(labels, 3)),
        take_labels=True,
        auto_wiring=True,
    )
    modules.fit(
        batches(mx),
        num_epoch=2,
        arg_params=parameters(mx, fc_weight=(3, 5), fc_bias=(3,)),
        optimizer_params={"learning_rate": 0.1},
    )
    return {"arguments": flat(modules.get_params()[0])}


def states(mx: Any) -> Any:
    """States that are neither inputs nor parameters."""
    state = mx.sym.Variable("state")
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc") + state
    module = mx.mod.Module(net, label_names=None, state_names=["state"])
    module.bind([("data", (2, 3)), ("state", (2, 2))][:1], for_training=False)
    module.init_params(arg_params=parameters(mx, fc_weight=(2, 3), fc_bias=(2,)))
    found = []
    for value in (0, 3):
        module.set_states(value=value)
        module.forward(mx.io.DataBatch([mx.nd.array(numbers((2, 3), 1))]))
        found.append(module.get_outputs()[0].asnumpy().tolist())
    module.set_states(states=module.get_outputs(merge_multi_context=False))
    found.append(module.get_states(merge_multi_context=False)[0][0].asnumpy().tolist())
    return {"found": found}


def monitored(mx: Any) -> Any:
    """Which tensors a monitor sees, and their statistics."""
    watch = mx.mon.Monitor(2, pattern=".*(weight|bias|output)$", sort=True)
    module = mx.mod.Module(perceptron(mx))
    with logged() as lines:
        module.fit(
            batches(mx),
            num_epoch=1,
            arg_params=start(mx),
            monitor=watch,
            optimizer_params={"learning_rate": 0.3},
        )
    return {"lines": [line for line in lines if line.startswith("Batch:")]}


def log_of_fit(mx: Any) -> Any:
    module = mx.mod.Module(perceptron(mx))
    with logged() as lines:
        module.fit(
            batches(mx),
            eval_data=batches(mx, rows=9),
            num_epoch=2,
            eval_metric=["acc", "ce"],
            arg_params=start(mx),
            batch_end_callback=mx.callback.Speedometer(4, 2),
            eval_end_callback=mx.callback.LogValidationMetricsCallback(),
            optimizer_params={"learning_rate": 0.3},
        )
    return {"lines": lines}


def summaries(mx: Any) -> Any:
    """Texts of ``viz.print_summary``."""
    data = mx.sym.Variable("data")
    embedded = mx.sym.Embedding(data, input_dim=10, output_dim=4, name="emb")
    first = mx.sym.FullyConnected(data, num_hidden=8, name="fc1")
    both = mx.sym.concat(first, mx.sym.relu(first, name="relu"), name="both")
    image = mx.sym.Flatten(mx.sym.Dropout(data, name="drop"), name="flat")
    image = mx.sym.FullyConnected(image, num_hidden=3, no_bias=True, name="out")
    texts = {}
    for name, symbol, options in (
        ("perceptron", perceptron(mx, norm=True), {"shape": {"data": (4, 5)}}),
        ("without shapes", perceptron(mx, norm=True), {}),
        ("embedding", mx.sym.sum(embedded, axis=1, name="sum"), {"shape": {"data": (2, 3)}}),
        (
            "narrow",
            mx.sym.tanh(both, name="tanh"),
            {"shape": {"data": (4, 8)}, "line_length": 80, "positions": [0.4, 0.6, 0.8, 1.0]},
        ),
        ("image", image, {"shape": {"data": (2, 3, 4, 4)}}),
    ):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            mx.viz.print_summary(symbol, **options)
        texts[name] = printed.getvalue().split("\n")
    return texts


PROGRAMS = (
    plain, momentum, adam, fixed, two_devices, two_devices_adam, normalised, regression, by_hand,
    buckets, chain, python_loss, states, monitored, log_of_fit, summaries,
)  # fmt: skip


def answer(mx: Any, program: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return program(mx)
