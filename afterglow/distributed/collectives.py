# SPDX-License-Identifier: Apache-2.0
"""Operations that all ranks take part in, as tasks of the engine.

A statement queues a host call that reads and writes its arrays, and the program goes on. The call
starts when the arrays are there; it hands their memory to the one thread of the process that talks
to MPI, and waits aside. That thread takes collectives in the order of the program, which is that of
all ranks. It never blocks in MPI: what it does is started and asked for, so a rank that is lost
ends the wait.

Before data move, ranks compare what they are about to do, of which the sum of all bits is enough as
long as they agree. So different shapes, types or orders are found and told instead of hanging.
"""

from __future__ import annotations

import collections
import contextlib
import hashlib
import json
import os
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as onp

from .. import _core
from .._arrays.dtypes import DTYPES
from .._core import Array
from ..error import MXNetError
from .compression import pack, unpack
from .watch import seconds_allowed

__all__ = ["COMPRESSED", "ENDED", "EXAMPLES", "Asked", "Channel", "Collective", "import_mpi"]

Host = onp.ndarray[Any, Any]
#: Something that is under way: each step asks once, and tells whether it went on or waits.
Steps = Generator[object]
_GOES_ON, _WAITS, _ENDED = object(), object(), object()

#: Bytes that one message of a reduction carries: what is summed stays in the nearer caches.
_PIECE = 1 << 20
_PIECES_AT_ONCE = 4
#: Characters of what a rank was about to do, when ranks disagree.
_HEADER = 1024

COMPRESSED = "2-bit allreduce"
#: The last collective of a rank.
ENDED = "has ended"
#: Counts the examples of a step.
EXAMPLES = "count"
#: Asks what the others do, on a rank that has nothing of its own to do.
JOINED = "join"

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def line_of_program() -> str:
    """Return the file and line outside of this package that is being run."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return "?"
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


class Asked(NamedTuple):
    """What other ranks do, told to one that has nothing of its own to do."""

    kind: str
    name: str
    shapes: list[list[int]]
    dtypes: list[int]
    root: int
    threshold: float


@dataclass
class Collective:
    """One operation of all ranks, from the statement to its end."""

    sequence: int
    kind: str
    name: str
    line: str  #: of the program
    arrays: list[Any]  #: held: it may be that nobody else reads them, but others wait
    root: int = 0  #: whose value is broadcast
    divisor: int = 1  #: of sums
    weight: float = 0.0  #: examples of this rank, of all of them once it has ended
    examples: Collective | None = None  #: by whose mean over ranks sums are divided, too
    threshold: float = 0.0  #: of compression
    payload: bytes = b""  #: of an exchange
    received: list[bytes] = field(default_factory=list)  #: what came of that
    agreed: bool = False
    hosts: list[Host] | None = None  #: the memory of the arrays, once their values are there
    error: str | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        """Say what it is."""
        shapes = ", ".join(f"{one.shape} {DTYPES[one._dtype_number].name}" for one in self.arrays)
        source = f"from rank {self.root}" if self.root else ""
        self.header = " ".join(part for part in (self.kind, self.name, shapes, source) if part)

    def __str__(self) -> str:
        return f"{self.header} (collective {self.sequence}, {self.line})"

    def asked(self) -> bytes:
        """Say what it is to a rank that has nothing of its own to do."""
        shapes = [list(one.shape) for one in self.arrays]
        dtypes = [one._dtype_number for one in self.arrays]
        told = Asked(self.kind, self.name, shapes, dtypes, self.root, self.threshold)
        return json.dumps(told).encode()

    def is_due(self) -> bool:
        """Tell whether all ranks have issued it, and the values of this one are there."""
        return self.agreed and self.hosts is not None

    def end(self, error: str | None = None) -> None:
        """Let those go on that wait for it."""
        if not self.ended.is_set():
            self.error = error
            self.arrays = []
            self.hosts = None
            self.ended.set()


_OP = "_collective"
_core.declare_host(_OP, ["data"], 0, [], "Return arrays that all ranks have worked on.")


class Channel:
    """The thread that owns MPI, and what it has to do."""

    def __init__(self) -> None:
        self.rank = 0
        self.size = 1
        self._changed = threading.Condition()
        self._queue: collections.deque[Collective] = collections.deque()
        self._unagreed: collections.deque[Collective] = collections.deque()
        self._next = 0
        self._failure: str | None = None
        self._opened = threading.Event()
        self._open_error: BaseException | None = None
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._run, name="communication", daemon=True)
        self._closed = False
        #: Told of what ends the group, so that it tells the other ranks.
        self.tell: Callable[[str], None] = self.fail
        self._mpi: Any = None
        self._data: Any = None
        self._headers: Any = None

    # --- for threads of the program ---

    def open(self) -> None:
        """Start the thread and MPI; wait until all ranks have done so."""
        self._thread.start()
        self.wait_for(self._opened)
        if self._open_error is not None:
            raise self._open_error

    def wait_for(self, event: threading.Event) -> None:
        """Wait for a step of the beginning, or raise what ended the group."""
        while not event.wait(0.1):
            if self._failure is not None:
                raise MXNetError(f"[init] {self._failure}")

    def submit(
        self, kind: str, name: str, arrays: Sequence[Array] = (), **options: Any
    ) -> Collective:
        """Queue an operation on arrays, which it changes when its turn comes."""
        if self.is_forked:
            raise MXNetError(f"[{kind}] this process was forked from a rank, and is none itself")
        line = line_of_program()
        with self._changed:
            made = Collective(self._next, kind, name, line, list(arrays), **options)
            self._next += kind != JOINED  # which others do not have
            self._queue.append(made)
            self._unagreed.append(made)
            if self._failure is not None:
                made.end(self._failure)
            elif not arrays:
                made.hosts = []
            self._changed.notify_all()
        if not arrays:
            return made
        try:
            _core.call_host_on(
                _OP,
                lambda _, hosts: self._take_part(made, hosts),
                lambda why: self._skip(made, why),
                list(arrays),
            )
        except BaseException as problem:  # an interrupt: others may wait already
            if made.error is None:
                self._skip(made, f"{type(problem).__name__} {problem}")
            raise
        return made

    def wait(self, collective: Collective) -> None:
        """Wait for one that has no arrays, and raise what went wrong."""
        while not collective.ended.wait(0.1):
            pass
        if collective.error is not None:
            raise MXNetError(f"[{collective.kind}] {collective.error}")

    def asked(self) -> Asked | None:
        """Return what other ranks do next, or None when all of them ask."""
        made = self.submit(JOINED, "")
        self.wait(made)
        return Asked(*json.loads(made.received[0])) if made.received else None

    def close(self) -> None:
        """End the thread: one inside of MPI must not live on into the end of the process."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(1.0)

    def waits_for(self) -> tuple[int, str]:
        """Return the number of the collective that waits, or -1, and its name."""
        with self._changed:
            for one in self._queue:
                if not one.ended.is_set():
                    return one.sequence, str(one)
        return -1, ""

    def fail(self, text: str) -> None:
        """End all collectives, those to come as well."""
        with self._changed:
            if self._failure is not None:
                return
            self._failure = text
            for one in self._queue:
                one.end(text)
            self._changed.notify_all()

    @property
    def is_forked(self) -> bool:
        """Whether this process came of the one that has the channel."""
        return self._pid != os.getpid()

    @property
    def failure(self) -> str | None:
        """What ended the group, if anything did."""
        return self._failure

    # --- on the threads of host calls ---

    def _take_part(self, collective: Collective, hosts: list[Host]) -> None:
        with self._changed:
            collective.hosts = hosts
            self._changed.notify_all()
        _core.wait_outside(collective.ended.wait)
        if collective.error is not None:
            raise MXNetError(collective.error)

    def _skip(self, collective: Collective, why: str) -> None:
        self.tell(f"rank {self.rank} cannot take part in {collective}: {why}")

    # --- on the thread of MPI ---

    def _run(self) -> None:
        try:
            self._open_mpi()
        except BaseException as problem:
            self._open_error = problem
            self._opened.set()
            return
        self._opened.set()
        try:
            self._serve()
        except BaseException as problem:
            # The connection to a rank that is lost: the watch will say which.
            with self._changed:
                self._changed.wait_for(lambda: self._failure is not None, seconds_allowed())
            if self._failure is None:
                self.tell(f"rank {self.rank}: MPI failed: {type(problem).__name__} {problem}")

    def _open_mpi(self) -> None:
        mpi = import_mpi()
        if mpi.Query_thread() < mpi.THREAD_MULTIPLE and not mpi.Is_thread_main():
            raise MXNetError(
                "[init] MPI was initialised by another thread, for that thread alone; call "
                "afterglow.distributed.init() before importing mpi4py.MPI"
            )
        self._mpi = mpi
        # Apart from each other, and from what the program itself may send.
        self._data = mpi.COMM_WORLD.Dup()
        self._headers = mpi.COMM_WORLD.Dup()
        self.rank, self.size = self._data.rank, self._data.size
        _core.set_random_state(*self._data.bcast(_core.random_state()))  # those of rank 0
        self._data.Barrier()
        _forget_shared_memory()

    def _serve(self) -> None:
        """Do what is due, a step of everything at a time."""
        agreeing: Steps | None = None
        moving: Steps | None = None
        fruitless = 0
        while True:
            with self._changed:
                while self._queue and self._queue[0].ended.is_set():
                    self._queue.popleft()
                head = self._queue[0] if self._queue else None
                due = head if head is not None and head.is_due() else None
                if self._failure is not None or self._closed:
                    return
                if moving is None and agreeing is None and due is None and not self._unagreed:
                    self._changed.wait()
                    fruitless = 0
                    continue
                if fruitless > 50:
                    # Where data move a long sleep would be seen; where a rank is awaited, not.
                    longest = 5e-5 if moving is not None else 1e-3
                    self._changed.wait(min(longest, 1e-6 * fruitless))
            if agreeing is None and self._unagreed:
                agreeing = self._agree(self._unagreed.popleft())
            if moving is None and due is not None:
                moving = self._move(due)
            fruitless += 1
            if agreeing is not None and (step := next(agreeing, _ENDED)) is not _WAITS:
                fruitless = 0
                agreeing = None if step is _ENDED else agreeing
            if moving is not None and (step := next(moving, _ENDED)) is not _WAITS:
                fruitless = 0
                moving = None if step is _ENDED else moving

    def _agree(self, collective: Collective) -> Steps:
        """Compare what the ranks are about to do."""
        header = collective.header.encode()
        digest = int.from_bytes(hashlib.blake2b(header, digest_size=7).digest())
        bounds = onp.array([digest, -digest, collective.kind == JOINED], onp.int64)
        yield from self._until(
            self._headers.Iallreduce(self._mpi.IN_PLACE, bounds, op=self._mpi.MAX)
        )
        if bounds[0] == -bounds[1]:
            collective.agreed = True
            return
        if bounds[2] and (yield from self._tell_those_who_ask(collective)):
            return
        told = f"{collective.header} ({collective.line})".encode()[:_HEADER]
        mine = onp.frombuffer(told.ljust(_HEADER, b"\0"), onp.uint8)
        everyone = onp.empty((self.size, _HEADER), onp.uint8)
        yield from self._until(self._headers.Iallgather(mine, everyone))
        texts = [row.tobytes().rstrip(b"\0").decode(errors="replace") for row in everyone]
        self.fail(f"ranks do not agree on collective {collective.sequence}: {_grouped(texts)}")

    def _tell_those_who_ask(self, collective: Collective) -> Generator[object, None, bool]:
        """Let ranks that have nothing to do know what the others do, if those agree."""
        mine = b"" if collective.kind == JOINED else collective.asked()
        told = {one for one in (yield from self._exchange(mine, self._headers)) if one}
        if len(told) != 1 or Asked(*json.loads(next(iter(told)))).kind == ENDED:
            return False
        with self._changed:
            if collective.kind == JOINED:
                collective.received = list(told)
                collective.end()
            else:
                self._unagreed.appendleft(collective)  # once more, with them
        return True

    def _move(self, collective: Collective) -> Steps:
        hosts = collective.hosts or []
        divisor = float(collective.divisor)
        if collective.examples is not None:
            divisor *= collective.examples.weight / self.size
        if collective.kind == "allreduce":
            yield from self._sum(hosts, divisor)
        elif collective.kind == "broadcast":
            for host in hosts:
                yield from self._spread(host, collective.root)
        elif collective.kind == COMPRESSED:
            yield from self._sum_compressed(hosts[0], hosts[1], collective.threshold)
            if divisor != 1:
                hosts[0] /= divisor
        elif collective.kind == "exchange":
            collective.received = yield from self._exchange(collective.payload, self._data)
        elif collective.kind == EXAMPLES:
            count = onp.array([collective.weight])
            yield from self._sum([count], 1)
            collective.weight = float(count[0])
        with self._changed:
            collective.end()

    def _sum(self, hosts: list[Host], divisor: float) -> Steps:
        """Replace each array by the sum of those of all ranks, divided."""
        whole = hosts[0].reshape(-1)
        # MPI knows no float16; and small arrays travel together.
        apart = len(hosts) > 1 or whole.dtype == onp.float16
        if apart:
            wide = onp.float32 if whole.dtype == onp.float16 else whole.dtype
            whole = onp.concatenate([host.reshape(-1) for host in hosts], dtype=wide)
        step = _PIECE // whole.itemsize
        under_way: collections.deque[tuple[Host, Any]] = collections.deque()
        for start in range(0, whole.size, step):
            piece = whole[start : start + step]
            under_way.append((piece, self._data.Iallreduce(self._mpi.IN_PLACE, piece)))
            if len(under_way) == _PIECES_AT_ONCE:
                yield from self._end_piece(*under_way.popleft(), divisor)
        while under_way:
            yield from self._end_piece(*under_way.popleft(), divisor)
        if apart:
            start = 0
            for host in hosts:
                host[...] = whole[start : start + host.size].reshape(host.shape)
                start += host.size

    def _end_piece(self, piece: Host, request: Any, divisor: float) -> Steps:
        yield from self._until(request)
        if divisor != 1:
            onp.divide(piece, divisor, out=piece)

    def _sum_compressed(self, total: Host, left: Host, threshold: float) -> Steps:
        """Sum what travels of ``left`` over all ranks, in their order, which is kept."""
        codes = pack(left, threshold)
        everyone = onp.empty((self.size, codes.size), onp.uint8)
        yield from self._until(self._data.Iallgather(codes, everyone))
        values = (unpack(row, total.size, threshold) for row in everyone)
        total[...] = sum(values, onp.float32(0)).reshape(total.shape)

    def _spread(self, host: Host, root: int) -> Steps:
        data = host.reshape(-1).view(onp.uint8)
        for start in range(0, data.size, _PIECE):
            yield from self._until(self._data.Ibcast(data[start : start + _PIECE], root=root))

    def _exchange(self, payload: bytes, communicator: Any) -> Generator[object, None, list[bytes]]:
        """Return what each rank gave."""
        lengths = onp.empty(self.size, onp.int64)
        mine = onp.array([len(payload)], onp.int64)
        yield from self._until(communicator.Iallgather(mine, lengths))
        ends = onp.cumsum(lengths)
        everything = onp.empty(int(ends[-1]), onp.uint8)
        starts = ends - lengths
        target = [everything, lengths.tolist(), starts.tolist(), self._mpi.BYTE]
        given = [onp.frombuffer(payload, onp.uint8), self._mpi.BYTE]
        yield from self._until(communicator.Iallgatherv(given, target))
        return [everything[start:end].tobytes() for start, end in zip(starts, ends, strict=True)]

    def _until(self, request: Any) -> Steps:
        while not request.Test():
            yield _WAITS
        yield _GOES_ON


def _grouped(texts: list[str]) -> str:
    """Say who does what: "rank 0 issued allreduce ...; ranks 1, 2 issued barrier ..."."""
    ranks: dict[str, list[str]] = {}
    for rank, text in enumerate(texts):
        ranks.setdefault(text, []).append(str(rank))
    said = [
        f"rank{'s' if len(those) > 1 else ''} {', '.join(those[:8])}"
        f"{f' and {len(those) - 8} more' if len(those) > 8 else ''} "
        f"{text if text.startswith(ENDED) else f'issued {text}'}"
        for text, those in ranks.items()
    ]
    return "; ".join(said[:4]) + (f"; and {len(said) - 4} more" if len(said) > 4 else "")


def _forget_shared_memory() -> None:
    """Take away the names of memory that ranks share, now that all have it: none is left over."""
    with open("/proc/self/maps", encoding="utf-8") as lines:
        files = {line.rpartition(" ")[2].strip() for line in lines if "/dev/shm/mpich" in line}
    for file in files:
        with contextlib.suppress(OSError):  # another rank was faster
            os.unlink(file)


def import_mpi() -> Any:
    """Return ``mpi4py.MPI``, which starts MPI in the process, or say how to get it."""
    wanted = "pip install 'afterglow[mpi]' brings both; groups of one process need neither"
    try:
        import mpi4py
    except ImportError:
        raise MXNetError(f"[init] several processes need mpi4py and an MPI: {wanted}") from None
    mpi4py.rc.finalize = False  # it waits for ranks that may be lost
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as problem:
        raise MXNetError(f"[init] mpi4py finds no MPI ({problem}): {wanted}") from None
    return MPI
