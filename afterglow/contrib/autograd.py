# SPDX-License-Identifier: Apache-2.0
"""``mx.contrib.autograd``: what :mod:`afterglow.autograd` was called before it was stable.

>>> from afterglow import nd
>>> from afterglow.contrib import autograd
>>> autograd.grad(lambda x: x * x)(nd.array([3.0]))[0].asnumpy()
array([6.], dtype=float32)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import autograd as _autograd
from ..autograd import mark_variables
from ..error import ArrayTypeError
from ..ndarray import NDArray, zeros_like

__all__ = [
    "TrainingStateScope",
    "backward",
    "compute_gradient",
    "grad",
    "grad_and_loss",
    "mark_variables",
    "set_is_training",
    "test_section",
    "train_section",
]


def set_is_training(is_train: bool) -> bool:
    """Record and train, or neither; return what it was."""
    _autograd.set_training(is_train)
    return _autograd.set_recording(is_train)


class TrainingStateScope:
    """Records and trains in a ``with`` scope, or does neither."""

    def __init__(self, enter_state: bool) -> None:
        self._scope = _autograd.record() if enter_state else _autograd.pause()

    def __enter__(self) -> None:
        self._scope.__enter__()

    def __exit__(self, *exception: object) -> None:
        self._scope.__exit__(*exception)


def train_section() -> TrainingStateScope:
    """Record in a ``with`` scope, in training mode."""
    return TrainingStateScope(True)


def test_section() -> TrainingStateScope:
    """Record nothing in a ``with`` scope, in prediction mode."""
    return TrainingStateScope(False)


def backward(
    outputs: Sequence[Any], out_grads: Sequence[Any] | None = None, retain_graph: bool = False
) -> None:
    """Compute the gradients of the variables that outputs depend on."""
    assert isinstance(outputs, (list, tuple)), "outputs must be a list or tuple of NDArrays"
    _autograd.backward(list(outputs), None if out_grads is None else list(out_grads), retain_graph)


def compute_gradient(outputs: Sequence[Any]) -> None:
    """Compute gradients, as :func:`backward` does."""
    backward(outputs)


def grad_and_loss(
    func: Callable[..., Any], argnum: int | Sequence[int] | None = None
) -> Callable[..., tuple[list[Any], Any]]:
    """Return a function that gives the gradients of its arguments, and what ``func`` returns.

    ``argnum`` tells of which arguments; without it, of all.
    """

    @functools.wraps(func)
    def wrapped(*args: Any) -> tuple[list[Any], Any]:
        wanted = [argnum] if isinstance(argnum, int) else argnum
        variables = list(args) if wanted is None else [args[number] for number in wanted]
        for one in variables:
            if not isinstance(one, NDArray):
                raise ArrayTypeError(f"[grad] arguments must be NDArrays, but got {type(one)}")
        gradients = [zeros_like(one) for one in variables]
        mark_variables(variables, gradients)
        with train_section():
            outputs = func(*args)
        compute_gradient([outputs] if isinstance(outputs, NDArray) else outputs)
        return gradients, outputs

    return wrapped


def grad(
    func: Callable[..., Any], argnum: int | Sequence[int] | None = None
) -> Callable[..., list[Any]]:
    """Return a function that gives the gradients of the arguments of ``func``."""
    both = grad_and_loss(func, argnum)

    @functools.wraps(both)
    def wrapped(*args: Any) -> list[Any]:
        return both(*args)[0]

    return wrapped
