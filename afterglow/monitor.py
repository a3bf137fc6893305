# SPDX-License-Identifier: Apache-2.0
"""``mx.mon``: statistics of what flows through an executor, for finding mistakes."""

from __future__ import annotations

import logging
import math
import re
import weakref
from collections.abc import Callable
from typing import Any

from . import ndarray as nd
from ._core import Array
from ._package.namespace import tend

__all__ = ["Monitor"]


def _root_mean_square(x: Any) -> Any:
    return nd.norm(x) / math.sqrt(x.size)


class Monitor:
    r"""Collects a statistic of every output, weight and gradient whose name fits a pattern.

    ``tic()`` before and ``toc()`` after a batch; every ``interval`` batches they do something.
    The statistic is the root of the mean square unless ``stat_func`` is given.

    >>> from afterglow import mon, nd, sym
    >>> run = sym.relu(sym.var("x"), name="relu").bind(args={"x": nd.array([-1, 2])})
    >>> monitor = mon.Monitor(1, stat_func=nd.max)
    >>> monitor.install(run)
    >>> monitor.tic()
    >>> outputs = run.forward()
    >>> monitor.toc()
    [(1, 'relu_output', '2.0\t'), (1, 'x', '2.0\t')]
    """

    def __init__(
        self,
        interval: int,
        stat_func: Callable[[Any], Any] | None = None,
        pattern: str = ".*",
        sort: bool = False,
        monitor_all: bool = False,
    ) -> None:
        self.interval = interval
        self.stat_func = stat_func or _root_mean_square
        self.re_prog = re.compile(pattern)
        self.sort = sort
        self.monitor_all = monitor_all
        self.activated = False
        self.queue: list[tuple[int, str, Any]] = []
        self.step = 0
        self.exes: list[Any] = []

    def stat_helper(self, name: bytes | str, array: Any) -> None:
        """Take notice of an output that an executor has computed."""
        name = name.decode() if isinstance(name, bytes) else name
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe: Any) -> None:
        """Watch an executor."""
        # The monitor holds the executor: held in turn, both would wait for the garbage collector.
        reference = weakref.WeakMethod(self.stat_helper)

        def watch(name: bytes, array: Any) -> None:
            helper = reference()
            if helper is not None:
                helper(name, array)

        exe.set_monitor_callback(watch, self.monitor_all)
        self.exes.append(exe)

    def tic(self) -> None:
        """Begin to collect, if it is the turn of this batch."""
        if self.step % self.interval == 0:
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self) -> list[tuple[int, str, str]]:
        """Return (batch, name, statistic) for what was collected. Waits for the values."""
        if not self.activated:
            return []
        for exe in self.exes:
            names = exe._symbol.list_arguments() + exe._symbol.list_auxiliary_states()
            for name, array in zip(names, exe.arg_arrays + exe.aux_arrays, strict=True):
                self.stat_helper(name, array)
        self.activated = False
        collected, self.queue = self.queue, []
        if self.sort:
            collected.sort(key=lambda entry: entry[1])
        return [(step, name, _text(value)) for step, name, value in collected]

    def toc_print(self) -> None:
        """Log what was collected."""
        for step, name, value in self.toc():
            logging.info("Batch: %7d %-30s %s", step, name, value)


def _text(value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    return "".join(f"{_plain(one) if isinstance(one, Array) else one}\t" for one in values)


def _plain(array: Array) -> str:
    values = array.asnumpy()
    # A number in as many digits as its own type needs, which its formatting does not respect.
    return str(values.reshape(())[()] if values.size == 1 else values)


tend(__name__)
