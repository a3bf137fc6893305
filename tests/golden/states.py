# SPDX-License-Identifier: Apache-2.0
"""Optimizers in training: ``record_states.py`` asks MXNet, the tests ask Afterglow."""

from __future__ import annotations

from typing import Any

import numpy as onp

#: name: the optimizer, its arguments.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("sgd", {"learning_rate": 0.1, "wd": 0.01}),
    "momentum": ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}),
    "float16": ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "multi_precision": True}),
    "float16 without momentum": ("sgd", {"learning_rate": 0.1, "multi_precision": True}),
    "ccsgd": ("ccsgd", {"momentum": 0.5}),
    "nag": ("nag", {"momentum": 0.9, "wd": 0.01}),
    "nag in float16": ("nag", {"momentum": 0.9, "multi_precision": True}),
    "signum": ("signum", {"momentum": 0.8, "wd_lh": 0.1}),
    "dcasgd": ("dcasgd", {"lamda": 0.1}),
    "lbsgd": ("lbsgd", {"momentum": 0.9, "batch_scale": 2, "warmup_epochs": 1}),
    "lars": ("lars", {"momentum": 0.9, "eta": 0.1}),
    "lars in float16": ("lars", {"momentum": 0.9, "multi_precision": True}),
    "lamb": ("lamb", {"wd": 0.1}),
    "adam": ("adam", {"learning_rate": 0.1, "wd": 0.01, "clip_gradient": 0.5}),
    "adam in float16": ("adam", {"learning_rate": 0.1, "multi_precision": True}),
    "adagrad": ("adagrad", {"learning_rate": 0.1}),
    "rmsprop": ("rmsprop", {"learning_rate": 0.1}),
    "rmsprop, centred": ("rmsprop", {"learning_rate": 0.1, "centered": True}),
    "adadelta": ("adadelta", {"wd": 0.01}),
    "ftrl": ("ftrl", {}),
    "ftml": ("ftml", {"learning_rate": 0.1}),
    "adamax": ("adamax", {}),
    "nadam": ("nadam", {}),
    "test": ("test", {"rescale_grad": 0.1}),
}
#: name: the scheduler, its arguments; all with momentum.
SCHEDULERS: dict[str, tuple[str, dict[str, Any]]] = {
    "factor": ("FactorScheduler", {"step": 2, "factor": 0.5, "base_lr": 0.1}),
    "multi factor": ("MultiFactorScheduler", {"step": [2, 4], "factor": 0.1, "base_lr": 0.2}),
    "poly": ("PolyScheduler", {"max_update": 10, "base_lr": 0.1, "pwr": 2}),
    "cosine": ("CosineScheduler", {"max_update": 10, "base_lr": 0.1, "warmup_steps": 2}),
}
BEFORE, AFTER = 3, 4  #: updates of each weight before the states are written, and after
SHAPES = {0: (2, 3), 1: (1,), "name": (4,)}


def make_optimizer(mx: Any, name: str) -> Any:
    """Return the optimizer of a case."""
    if name in SCHEDULERS:
        kind, arguments = SCHEDULERS[name]
        scheduler = getattr(mx.lr_scheduler, kind)(**arguments)
        return mx.optimizer.create("sgd", momentum=0.9, lr_scheduler=scheduler)
    kind, arguments = CASES[name]
    return mx.optimizer.create(kind, **arguments)


def make_weights(array: Any, name: str) -> dict[Any, Any]:
    """Return weights to begin with."""
    dtype = "float16" if "float16" in name else "float32"
    return {
        key: array(onp.cos(onp.arange(onp.prod(shape))).reshape(shape), dtype=dtype)
        for key, shape in SHAPES.items()
    }


def train(array: Any, updater: Any, weights: dict[Any, Any], first: int, last: int) -> None:
    """Update every weight by gradients that its key and the number of the update decide."""
    for number in range(first, last):
        for place, (key, weight) in enumerate(weights.items()):
            angles = onp.arange(weight.size).reshape(weight.shape) + 0.5 + 3 * place + 7 * number
            updater(key, array(onp.sin(angles), dtype=weight.dtype), weight)


def numbers(weights: dict[Any, Any]) -> dict[str, Any]:
    """Return the weights as lists."""
    return {str(key): weight.asnumpy().ravel().tolist() for key, weight in weights.items()}
