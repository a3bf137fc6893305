# SPDX-License-Identifier: Apache-2.0
"""The processes that train together, as Horovod names what they do.

A program that was started alone is a group of one: nothing travels, and MPI is not needed.
"""

from __future__ import annotations

import atexit
import os
import secrets
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import autograd
from .._arrays.dtypes import BOOL, DTYPES, FLOATING
from .._core import Array
from ..error import ArrayTypeError, ArrayValueError
from . import watch
from .buckets import buckets
from .collectives import ENDED, Asked, Channel, Collective

__all__ = [
    "allgather_object",
    "allreduce",
    "allreduce_",
    "barrier",
    "broadcast",
    "broadcast_",
    "broadcast_parameters",
    "init",
    "is_initialized",
    "join",
    "local_rank",
    "local_size",
    "rank",
    "shutdown",
    "size",
]

#: Where other launchers say rank, ranks, and both on this machine: those of MPICH and Open MPI.
_OTHERS = (
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    (
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
    ),
)


def _told() -> tuple[list[int], list[str]]:
    """Return rank, ranks and both on this machine, and the launcher's address and token, if any."""
    ours = os.environ.get("AFTERGLOW_GROUP", "").split()
    try:
        if ours:
            return [int(word) for word in ours[:4]], ours[4:]
        for names in _OTHERS:
            if names[0] in os.environ and names[1] in os.environ:
                defaults = ("0", "1", "0", "1")
                told = zip(names, defaults, strict=True)
                return [int(os.environ.get(name, default)) for name, default in told], []
    except ValueError:
        raise ArrayValueError("[init] the launcher gave no numbers of ranks") from None
    return [0, 1, 0, 1], []


class Group:
    """A process among the others."""

    def __init__(self) -> None:
        numbers, watched = _told()
        self.rank, self.size, self.local_rank, self.local_size = numbers
        self.channel: Channel | None = None
        self._watch: watch.Rank | None = None
        if self.size > 1:
            self._join(watched)
        elif os.environ.get("DMLC_NUM_WORKER", "1") != "1":
            raise ArrayValueError(
                f"[init] DMLC_NUM_WORKER={os.environ['DMLC_NUM_WORKER']}, but this process was "
                "started alone; `afterglow launch -n 4 FILE` starts four of a group"
            )

    def _join(self, watched: list[str]) -> None:
        channel = Channel()
        if watched:
            # The start of MPI waits for all ranks, and Python meanwhile: only when all are there.
            channel.wait_for(self._connect(channel, *watched).complete)
        channel.open()
        if channel.size != self.size:
            raise ArrayValueError(
                f"[init] {self.size} ranks were started, but MPI knows of {channel.size}: it was "
                "not started by this launcher; use that of the MPI that mpi4py has found"
            )
        self.rank = channel.rank
        self.channel = channel
        if self._watch is None:
            self._watch_each_other(channel)
        atexit.register(self.leave)

    def _watch_each_other(self, channel: Channel) -> None:
        """Let rank 0 be the watcher, since no launcher of ours is there."""
        told = ""
        if self.rank == 0:
            token = secrets.token_hex(16)
            watcher = watch.Watcher(self.size, "", token)
            watcher.start()
            told = f"{watch.own_address()}:{watcher.port} {token}"
        address, token = self.exchange("watch", told.encode())[0].decode().split()
        self._connect(channel, address, token)

    def _connect(self, channel: Channel, address: str, token: str) -> watch.Rank:
        host, _, port = address.rpartition(":")
        place = (host, int(port))
        made = watch.Rank(self.rank, place, token, channel.waits_for, channel.fail)
        channel.tell = made.tell
        self._watch = made
        return made

    def leave(self) -> None:
        """Wait until all ranks have done what was queued, unless one is lost."""
        if self.channel is None or self.channel.is_forked:
            return
        if self.channel.failure is None:
            raised = getattr(sys, "last_value", None)
            how = f"by {type(raised).__name__}: {raised}" if raised is not None else ""
            last = self.channel.submit(ENDED, how)
            last.ended.wait()
        self.channel.close()
        if self._watch is not None:
            self._watch.leave()
        self.channel = None

    def exchange(self, name: str, payload: bytes) -> list[bytes]:
        """Return what each rank gave. Waits for all of them."""
        if self.channel is None:
            return [payload]
        made = self.channel.submit("exchange", name, payload=payload)
        self.channel.wait(made)
        return made.received

    def asked(self) -> Iterator[Asked]:
        """Go through what the others do, until all of them are here, too."""
        while self.channel is not None and (what := self.channel.asked()) is not None:
            yield what

    def give_nothing(self, asked: Asked, payload: bytes = b"") -> None:
        """Take part in what the others do, with zeros, or with bytes."""
        from ..numpy import zeros

        assert self.channel is not None
        if asked.kind == "broadcast" and asked.root == self.rank:
            self.channel.tell(f"rank {self.rank} has joined, and has no {asked.name} to broadcast")
        self.channel.submit(
            asked.kind,
            asked.name,
            [
                zeros(shape, dtype=DTYPES[number])
                for shape, number in zip(asked.shapes, asked.dtypes, strict=True)
            ],
            root=asked.root,
            threshold=asked.threshold,
            payload=payload,
        )


_group: Group | None = None
_lock = threading.Lock()


def group() -> Group:
    """Return the group of this process, which is formed when it is first asked for."""
    global _group
    with _lock:
        if _group is None:
            _group = Group()
        return _group


def init(comm: Any = None) -> None:
    """Form the group: waits until all ranks do so. Other functions call it when it is needed."""
    if comm is not None:
        raise ArrayValueError("[init] the group is that of all ranks; comm must be None")
    group()


def is_initialized() -> bool:
    """Tell whether the group is formed."""
    return _group is not None


def shutdown() -> None:
    """Wait for all that was queued, and leave the group; the end of a program does so, too."""
    if _group is not None:
        _group.leave()


def rank() -> int:
    """Return the number of this process, 0 to ``size() - 1``."""
    return group().rank


def size() -> int:
    """Return the number of processes."""
    return group().size


def local_rank() -> int:
    """Return the number of this process among those on its machine."""
    return group().local_rank


def local_size() -> int:
    """Return the number of processes on this machine."""
    return group().local_size


def barrier() -> None:
    """Wait until all ranks are here."""
    channel = group().channel
    if channel is not None:
        channel.wait(channel.submit("barrier", ""))


def join() -> None:
    """Wait until all ranks have joined, and give zeros to what the others do meanwhile.

    For a rank that runs out of data before the others. One with a trainer calls
    :meth:`Trainer.join`, which also keeps its weights the same as theirs.
    """
    mine = group()
    for asked in mine.asked():
        mine.give_nothing(asked)


def allgather_object(value: bytes, name: str = "") -> list[bytes]:
    """Return the bytes that each rank gives, by rank. Waits for all of them."""
    return group().exchange(name, bytes(value))


def _check(array: Any, what: str) -> None:
    if not isinstance(array, Array):
        raise ArrayTypeError(f"[{what}] needs an array, but got {type(array).__name__}")
    if array.stype != "default":  # type: ignore[attr-defined]
        raise ArrayTypeError(f"[{what}] needs a dense array, but got {array.stype}")  # type: ignore[attr-defined]


def allreduce_(
    tensor: Any, average: bool = True, name: str | None = None, priority: int = 0
) -> Any:
    """Replace an array by the mean, or the sum, of those of all ranks, and return it.

    The statement returns at once; reading the array waits for the other ranks. Ranks issue their
    collectives in the same order, which ``priority`` does not change.
    """
    allreduce_all([tensor], average=average, names=[name])
    return tensor


def allreduce(tensor: Any, average: bool = True, name: str | None = None, priority: int = 0) -> Any:
    """Return the mean, or the sum, of the arrays of all ranks, as a new array.

    Its gradient is the same of the gradients.
    """
    _check(tensor, "allreduce")
    if autograd.is_recording():
        return _Allreduce(average, name)(tensor)
    return allreduce_(tensor.copy(), average, name, priority)


class _Allreduce(autograd.Function):
    def __init__(self, average: bool, name: str | None) -> None:
        super().__init__()
        self._arguments = (average, name)

    def forward(self, tensor: Any) -> Any:
        return allreduce_(tensor.copy(), *self._arguments)

    def backward(self, gradient: Any) -> Any:
        average, name = self._arguments
        return allreduce_(gradient.copy(), average, f"gradient of {name or 'allreduce'}")


def allreduce_all(
    tensors: Sequence[Any],
    average: bool = False,
    names: Sequence[str | None] = (),
    examples: Collective | None = None,
) -> None:
    """Replace arrays by sums, or means; small ones travel together, in the order given.

    Sums are divided by the mean of what ranks gave to ``examples``.
    """
    for tensor in tensors:
        _check(tensor, "allreduce")
        number = tensor._dtype_number
        if number == BOOL or (average and number not in FLOATING):
            raise ArrayTypeError(
                f"[allreduce] {'means' if average else 'sums'} of {DTYPES[number].name} are not "
                "defined; cast the array first"
            )
    channel = group().channel
    if channel is None:
        return
    divisor = channel.size if average else 1
    for bucket in buckets(tensors):
        name = (names[bucket[0]] if names else None) or ""
        together = [tensors[i] for i in bucket]
        channel.submit("allreduce", name, together, divisor=divisor, examples=examples)


def broadcast_(tensor: Any, root_rank: int = 0, name: str | None = None, priority: int = 0) -> Any:
    """Replace an array by that of one rank, and return it."""
    _check(tensor, "broadcast")
    mine = group()
    if not 0 <= root_rank < mine.size:
        raise ArrayValueError(f"[broadcast] there is no rank {root_rank}; ranks are {mine.size}")
    if mine.channel is not None:
        mine.channel.submit("broadcast", name or "", [tensor], root=root_rank)
    return tensor


def broadcast(tensor: Any, root_rank: int = 0, name: str | None = None, priority: int = 0) -> Any:
    """Return the array of one rank, as a new array."""
    _check(tensor, "broadcast")
    return broadcast_(tensor.copy(), root_rank, name, priority)


def broadcast_parameters(
    params: Mapping[str, Any] | Any, root_rank: int = 0, prefix: str | None = None
) -> None:
    """Give all ranks the parameters of one of them: a dictionary of arrays, or of Parameters.

    Parameters whose shapes are not known yet are broadcast when they get their values.
    """
    from ..gluon import Parameter

    for name, value in sorted(params.items()):
        told = f"{prefix or ''}{name}"
        if not isinstance(value, Parameter):
            broadcast_(value, root_rank, told)
        elif value._deferred_init:
            _broadcast_when_known(value, root_rank, told)
        else:
            for array in value.list_data():
                broadcast_(array, root_rank, told)


def _broadcast_when_known(parameter: Any, root_rank: int, name: str) -> None:
    def finish_and_broadcast() -> None:
        del parameter._finish_deferred_init  # the method itself is there again
        parameter._finish_deferred_init()
        for array in parameter.list_data():
            broadcast_(array, root_rank, name)

    parameter._finish_deferred_init = finish_and_broadcast
