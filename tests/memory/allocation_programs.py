# SPDX-License-Identifier: Apache-2.0
"""Programs in which the k-th allocation fails, for every k from a number on.

As a script::

    python allocation_programs.py KIND PROGRAM FIRST STEP

KIND is ``pool`` (buffers of arrays) or ``new`` (everything else; needs the preloaded library of
``failing_new.cpp``). Each k is printed before it is tried, so that the last line of a process that
died says which one it was; the last line of all is ``done``. A program must end with its own answer
or with a Python exception, and after it the same program must give the right answer.
"""

from __future__ import annotations

import ctypes
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as onp

import afterglow as mx
from afterglow import _core, autograd, gluon, nd, np


def chain() -> Any:
    x = nd.arange(5000)
    y = nd.exp(x * 0.001) + 1
    y[2:5] = 7
    y += x
    return (y * 2 - x).sum()


def views() -> Any:
    x = np.arange(12).reshape((3, 4))
    y = np.concatenate([x[1:], x[:1]], axis=0).T
    y[::2] = 3
    return np.sort(y, axis=-1)[..., 1] + y[np.array([0, 1, 2])].sum()


def products() -> Any:
    x = nd.arange(64 * 64).reshape((64, 64)) * 0.001
    return nd.relu(nd.dot(x, x) + 1).mean(axis=1)


def gradients() -> Any:
    x = nd.array([[1.0, 2.0], [3.0, 4.0]])
    x.attach_grad()
    with autograd.record():
        y = (nd.tanh(x) * x).reshape((-1,))[1:3].sum()
    y.backward()
    return x.grad


def training() -> Any:
    mx.random.seed(3)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(4, activation="relu"), gluon.nn.Dense(2))
    net.initialize(mx.init.Uniform(0.5))
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam")
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    x, y = nd.arange(12).reshape((4, 3)) * 0.1, nd.array([0, 1, 1, 0])
    for _ in range(4):
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(4)
    return loss


def replays() -> Any:
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize(mx.init.One())
    net.hybridize()
    x = nd.arange(6).reshape((2, 3))
    x.attach_grad()
    for _ in range(3):  # looked at, written down, replayed
        with autograd.record():
            y = net(x)
        y.backward()
    return x.grad


def files() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "arrays"))
        nd.save(path, {"a": nd.ones((3, 4)), "b": nd.arange(3)})
        return nd.load(path)["b"]


def host() -> Any:
    x = np.arange(9).reshape((3, 3)) + np.eye(3) * 5
    return np.linalg.eigvalsh(x) + np.percentile(x, 30)


def numbers() -> Any:
    mx.random.seed(5)
    return nd.random.normal(shape=(50,)) + nd.random.uniform(shape=(50,))


def many() -> Any:
    """More calls than the window holds, of which most are dropped."""
    kept = nd.zeros((300,))
    for number in range(150):
        kept = kept + number
        kept * 2
    return kept


def copies() -> Any:
    text = io.StringIO()
    x = nd.array(onp.arange(30).reshape((5, 6)))
    print(x, file=text)
    return x.astype("int32").copy()[1:3].as_np_ndarray()


PROGRAMS: dict[str, Callable[[], Any]] = {
    program.__name__: program
    for program in (
        *(chain, views, products, gradients, training, replays),
        *(files, host, numbers, many, copies),
    )
}


class Failures:
    """Switches the failures of one kind on and off."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.library = ctypes.CDLL(None) if kind == "new" else None

    def begin(self, number: int) -> None:
        if self.library is not None:
            self.library.fail_new(ctypes.c_long(number))
        else:
            _core.fail_allocation(number)

    def end(self) -> None:
        self.begin(-1)


def _answer(program: Callable[[], Any]) -> Any:
    return program().asnumpy()


def _attempt(program: Callable[[], Any]) -> Any:
    """Run a program to its end, whatever becomes of it; return its answer or ``None``."""
    try:
        answer = _answer(program)
        nd.waitall()
    except (MemoryError, mx.MXNetError):
        return None
    return answer


def _settle() -> None:
    """Let ``waitall`` raise what nobody was told of."""
    while True:
        try:
            nd.waitall()
        except (MemoryError, mx.MXNetError):
            continue
        return


def main() -> None:
    """Let one allocation after another fail."""
    kind, name, first, step = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    program, failures = PROGRAMS[name], Failures(kind)
    expected = _answer(program)
    number, whole = first, 0
    while whole < 3:  # programs that ended before their failure: threads make the count vary
        print(number, flush=True)
        failures.begin(number)
        answer = _attempt(program)
        reached = kind != "new" or bool(failures.library and failures.library.new_has_failed())
        failures.end()
        _settle()
        if answer is not None:
            onp.testing.assert_array_equal(answer, expected)
            whole += kind == "pool" or not reached
        onp.testing.assert_array_equal(_answer(program), expected)
        number += step
    print("done")


if __name__ == "__main__":
    main()
