# SPDX-License-Identifier: Apache-2.0
"""What a benchmark is made of: rows, their figures and goals, and the columns that take part.

A file of a group (``training.py``, ...) lists its ``ROWS``. The command reads them to know what to
measure; the workers, one process per column, read them to know how. So these files must load under
the interpreter of every library, with nothing but NumPy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

OURS = "afterglow"
#: What may stand before ``=`` in ``--peer NAME=INTERPRETER``.
PEERS = ("numpy", "torch", "jax", "mxnet", "onnxruntime")
#: Columns that are a library in another form, and beside another library.
COMPILED = {"torch.compile": "torch", "jax.jit": "jax"}
FORMS = {**COMPILED, "torch.opencv": "torch", "torch.pillow": "torch"}

#: The figures of one round by name; ``seconds`` are those of one operation.
Answer = dict[str, float]
#: Makes one round.
Task = Callable[[], Answer]


def library_of(column: str) -> str:
    """Return the library that a column runs; a name of its own is a form of Afterglow."""
    library = FORMS.get(column, column)
    return library if library in PEERS else OURS


@dataclass(frozen=True)
class Goal:
    """Ours should be at most ``ratio`` of the least of some columns, ``more`` added."""

    ratio: float
    columns: tuple[str, ...]
    more: float = 0.0


def goals(**ratios: float) -> tuple[Goal, ...]:
    """Make goals beside one column each."""
    return tuple(Goal(ratio, (column.replace("_", "."),)) for column, ratio in ratios.items())


@dataclass(frozen=True)
class Figure:
    """One of the figures that come out of a row."""

    text: str
    goals: tuple[Goal, ...] = ()
    unit: str = "seconds"  #: also the name in the answers: seconds or bytes
    readme: bool = False  #: whether it stands in the README's table, and so in the quick run


@dataclass(frozen=True)
class Row:
    """One question, and how each column answers it."""

    name: str  #: the group and the row, as in ``training/large``
    figures: tuple[Figure, ...]
    columns: tuple[str, ...]  #: the first is compared with the others
    make: Callable[[str], Task]  #: makes the task of a column, inputs and warm-up included
    rounds: int = 15
    rest: float = (
        0.005  #: seconds before a turn, in which the threads of the last one stop spinning
    )
    #: Whether peers also run with glibc's mmap and trim thresholds off, the better median counting.
    both_mallocs: bool = False
    #: Whether each round is a process of its own, whose resident memory is watched from outside.
    fresh: bool = False
    environment: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  #: by column
    #: Makes an array of what a column computes, which all must agree upon before they are timed.
    values: Callable[[str], Any] | None = None
    tolerance: tuple[float, float] = (1e-4, 1e-5)  #: relative and absolute, for the values
    enough: float = float("inf")  #: seconds after which two rounds will do; three times that, one
    notes: Mapping[str, str] = field(default_factory=dict)  #: what other figures of ours mean


def no_preparation() -> None:
    """Do nothing."""


def timed(
    run: Callable[[], Any], before: Callable[[], Any] = no_preparation, count: int = 1
) -> Task:
    """Return a task that takes the time of ``run``, which makes ``count`` operations and waits."""

    def task() -> Answer:
        before()
        begin = time.perf_counter()
        run()
        return {"seconds": (time.perf_counter() - begin) / count}

    return task
