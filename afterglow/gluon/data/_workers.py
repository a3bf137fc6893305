# SPDX-License-Identifier: Apache-2.0
"""Worker processes of a loader: how they are started, what travels between, how they end.

All workers of one iteration read tasks from one socket, whose messages come whole and to one of
them each. With a task travels a file without a name (``memfd``), into which the worker writes the
batch; small batches, and all where there is no such file, come back through the worker's own pipe.
Arrays of a batch are made in the file itself where the function that makes batches is ours.

Every end of a pipe or socket has one owner. So a worker that dies is the end of its pipe for the
parent, and a parent that dies, however, is the end of a third pipe for the worker: that is a signal
which ends it even inside of a sample. Nothing has a name in the file system, so nothing is left.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import hashlib
import io
import math
import mmap
import multiprocessing
import os
import pickle
import random
import select
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, reduction, resource_tracker, util
from types import FunctionType
from typing import Any, NamedTuple

import numpy as onp

from ... import _core
from ... import ndarray as nd
from ... import numpy as np
from ..._core import Array
from ...error import FileError, MXNetError
from .batchify import Place

__all__ = ["Workers", "late"]

#: Bytes that travel through pipes and sockets rather than files, and how many a pipe shall hold.
_SMALL, _PIPE = 32768, 1 << 18
#: Bytes of an array from which on it is made in the file.
_WORTH = 4096
#: Files of one iteration; tasks beyond do without.
_MOST_FILES = 32
#: Seconds after which whoever waits looks whether the other process is still there. The ends of
#: pipes tell it at once, unless a fork in another thread has just copied one.
_TICK = 1.0
#: Seconds for a worker to end by itself after its last batch, and for a killed one to be gone.
_PATIENCE, _BURIAL = 2.0, 10.0

_LENGTH = struct.Struct("<I")

#: Makes a batch of indices, its arrays in memory of that function if one is given.
Make = Callable[[Any, Place | None], Any]


# --- descriptors ---

#: Whatever is open here, in the process that owns it.
_open: set[Any] = set()


class _Starting(threading.local):
    """What the fork that this thread is about to make leaves open in the child."""

    kept: tuple[Any, ...] = ()


_starting = _Starting()


def _close(*files: Any) -> None:
    for one in files:
        _open.discard(one)  # first: a number that is free may be somebody else's in a child
        with suppress(BufferError):  # a mapping that a traceback looks at goes with it
            one.close()


def _close_in_child() -> None:
    _close(*_open.difference(_starting.kept))
    _open.clear()
    _begun.clear()


os.register_at_fork(after_in_child=_close_in_child)


def _pipe() -> tuple[io.FileIO, io.FileIO]:
    reader, writer = os.pipe()
    ends = io.FileIO(reader, "rb"), io.FileIO(writer, "wb")
    _open.update(ends)
    with suppress(OSError):  # users have a limit for all of theirs
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, _PIPE)
    return ends


def _sockets() -> tuple[socket.socket, socket.socket]:
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    _open.update(ends)
    tick = struct.pack("ll", int(_TICK), 0)
    ends[1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, tick)
    return ends


def _nameless_file() -> Any:
    """Return a file in memory that is gone with its last descriptor, wherever /dev/shm is full."""
    if hasattr(os, "memfd_create"):
        file: Any = io.FileIO(os.memfd_create("afterglow-loader", os.MFD_CLOEXEC), "r+")
    else:
        file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
    _open.add(file)
    return file


class _Passed:
    """A descriptor on its way to a process that does not inherit it."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (reduction.DupFd(self._file.fileno()),)


def _arrived(passed: Any) -> int:
    number: int = passed.detach()
    return number


def _check_room(count: int) -> None:
    """Raise OSError if so many more descriptors cannot be had."""
    taken: list[int] = []
    try:
        taken.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(count))
    finally:
        for one in taken:
            os.close(one)


def _write_at(descriptor: int, part: memoryview, place: int) -> None:
    while part:
        written = os.pwrite(descriptor, part, place)
        part, place = part[written:], place + written


# --- interrupts ---


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait: workers are wholly started and wholly ended."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    handler = signal.getsignal(signal.SIGINT)
    came: list[int] = []
    # The mask is for the child. Here another thread may take the signal, for which Python calls
    # the handler in its main thread all the same.
    replaced = callable(handler) and threading.current_thread() is threading.main_thread()
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        if replaced:
            signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
        yield
    finally:
        if replaced:
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if came:
            signal.raise_signal(signal.SIGINT)


def _ignore(number: int, frame: Any) -> None:
    """Do nothing; other than SIG_IGN this is not inherited by programs that a sample starts."""


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, _ignore)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


# --- what travels ---


class _Stretch(NamedTuple):
    """Some bytes of what travels."""

    content: memoryview
    copied: bool  #: by its reader anyway: others keep what they are given
    start: int | None  #: where in the file it was made


class _Pickler(pickle.Pickler):
    """Pickles arrays of ours and of NumPy's without a copy of their bytes."""

    def __init__(self, file: io.BytesIO, made: dict[int, int]) -> None:
        self.buffers: list[pickle.PickleBuffer] = []
        # No method of its own: it would hold itself, and all that it has pickled, in a cycle.
        super().__init__(file, protocol=5, buffer_callback=self.buffers.append)
        self._made = made
        self._of_arrays: list[tuple[pickle.PickleBuffer, int | None]] = []

    def stretches(self) -> list[_Stretch]:
        """Return the bytes of arrays that the pickle speaks of."""
        found = []
        for buffer in self.buffers:
            ours = [start for one, start in self._of_arrays if one is buffer]
            found.append(_Stretch(buffer.raw(), bool(ours), ours[0] if ours else None))
        return found

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, Array):
            return NotImplemented
        host: Any = onp.ascontiguousarray(value.__array__(copy=False))  # type: ignore[attr-defined]
        buffer = pickle.PickleBuffer(host)
        self._of_arrays.append((buffer, self._made.get(_address(host))))
        return _restored, (buffer, host.dtype.name, value.shape, value._legacy)  # type: ignore[attr-defined]


def _address(host: Any) -> int:
    address: int = host.__array_interface__["data"][0]
    return address


def _restored(buffer: Any, dtype: str, shape: tuple[int, ...], legacy: bool) -> Any:
    host: Any = onp.ndarray(shape, dtype, buffer)
    return (nd if legacy else np).array(host, dtype=dtype)


#: Where stretches begin, their lengths, and of each whether its reader makes a copy anyway.
_Parts = list[tuple[int, int, bool]]


def _packed(value: Any, made: dict[int, int]) -> list[_Stretch]:
    """Return a value as stretches of bytes; ``made`` has arrays of the file by their addresses."""
    file = io.BytesIO()
    pickler = _Pickler(file, made)
    pickler.dump(value)
    return [_Stretch(file.getbuffer(), False, None), *pickler.stretches()]


def _unpacked(parts: _Parts, memory: Any) -> Any:
    with memoryview(memory) as view:
        first, *rest = [
            view[start : start + length] if copied else bytearray(view[start : start + length])
            for start, length, copied in parts
        ]
        return pickle.loads(first, buffers=rest)


def _aligned(place: int) -> int:
    """Return the next place as processors like it."""
    return -(-place // 64) * 64


def _behind_each_other(stretches: list[_Stretch]) -> _Parts:
    parts, end = [], 0
    for content, copied, _ in stretches:
        parts.append((end, content.nbytes, copied))
        end = _aligned(end + content.nbytes)
    return parts


class _Reply(NamedTuple):
    """What a worker says of a task; its bytes follow, unless they are in the file of the task."""

    number: int
    made: bool
    parts: _Parts
    in_file: bool

    @property
    def size(self) -> int:
        return _aligned(max((start + length for start, length, _ in self.parts), default=0))


#: Sent by a worker that ends because there is nothing more to do.
_FAREWELL = -1


class _Failure(NamedTuple):
    """What a sample raised."""

    error: bytes | None  # a pickle, if it can be one
    text: str


class _WorkerTraceback(Exception):  # noqa: N818
    """Where it happened in the worker, as the cause of the exception that is raised here."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


def _failure(error: BaseException) -> _Failure:
    text = "".join(traceback.format_exception(error))
    try:
        pickled = pickle.dumps(error)
        travels = type(pickle.loads(pickled)) is type(error)
    except Exception:
        travels = False
    return _Failure(pickled if travels else None, text)


def _raise(failure: _Failure) -> None:
    error: Any = None
    if failure.error is not None:
        with suppress(Exception):
            error = pickle.loads(failure.error)
    if not isinstance(error, BaseException):
        raise MXNetError(failure.text)
    error.__cause__ = _WorkerTraceback(failure.text)
    try:
        raise error
    finally:
        del error  # else it would hold itself, by the traceback


def late(seconds: float) -> MXNetError:
    """Return what to raise for a batch that is not there in time."""
    return MXNetError(
        f"a worker of the DataLoader has not made a batch within {seconds} seconds; "
        "give it more with timeout="
    )


# --- random numbers ---


def _entropy() -> bytes:
    """Return what the draws of one iteration begin from: another for each, none is used up here."""
    states = _core.draw_iteration(), random.getstate(), onp.random.get_state(legacy=False)
    return hashlib.blake2b(pickle.dumps(states), digest_size=32).digest()


def _seed(entropy: bytes, number: int) -> None:
    """Let the draws for a batch depend on its number, whichever worker makes it."""
    digest = hashlib.blake2b(entropy, digest_size=20, salt=number.to_bytes(16, "little")).digest()
    ours, pythons, numpys = struct.unpack("<QQI", digest)
    _core.seed(ours)
    random.seed(pythons)
    onp.random.seed(numpys)


# --- in the worker ---


def _end_with(lifeline: int) -> None:
    """Have the kernel send a signal, of which one dies, when the other end closes."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGIO})
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC)
    gone = select.poll()
    gone.register(lifeline, 0)  # of the end a poll always tells
    if gone.poll(0):
        os._exit(1)


class _File:
    """The file of a task, and what the worker makes in it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.made: dict[int, int] = {}  #: where arrays begin in it, by their addresses
        self._end = 0

    def place(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return memory for an array, as a NumPy array; None where there is no room."""
        size = math.prod(shape) * onp.dtype(dtype).itemsize
        if size < _WORTH:
            return None
        start, self._end = self._end, _aligned(self._end + size)
        try:
            memory: Any = onp.ndarray(shape, dtype, self._mapped(), start)
        except (OSError, ValueError):
            return None
        self.made[_address(memory)] = start
        return memory

    def _mapped(self) -> mmap.mmap:
        """Return the file as memory up to the end of what is made in it."""
        about = os.fstat(self.descriptor)
        # A write to memory cannot be refused, so the room is asked for here.
        if about.st_size < self._end:
            os.posix_fallocate(self.descriptor, 0, self._end)
        mapped = _mapped.get(about.st_ino)
        if mapped is None or len(mapped) < self._end:
            mapped = _mapped[about.st_ino] = mmap.mmap(self.descriptor, 0)
        return mapped

    def write(self, stretches: list[_Stretch]) -> _Parts:
        """Write what was not made here behind what was."""
        parts: _Parts = []
        for content, copied, start in stretches:
            if start is None:
                start, self._end = self._end, _aligned(self._end + content.nbytes)
                _write_at(self.descriptor, content, start)
            parts.append((start, content.nbytes, copied))
        return parts


#: The memory of files that this worker was given, by their numbers: they come again and again.
_mapped: dict[int, mmap.mmap] = {}


class _Worker:
    """Makes batches until there are no more tasks, or nobody to give them."""

    def __init__(self, make: Make, entropy: bytes, tasks: int, results: int, lifeline: int) -> None:
        self._make = make
        self._entropy = entropy
        self._numbers = tasks, results, lifeline

    def run(self) -> None:
        tasks, self._results, lifeline = self._numbers
        _leave_interrupts_to_the_parent()
        _end_with(lifeline)
        self._tasks = socket.socket(fileno=tasks)
        with suppress(BrokenPipeError):  # nobody reads any more
            while (task := self._next_task()) is not None:
                self._answer(*task)
            self._reply(_Reply(_FAREWELL, True, [], False), [])

    def _next_task(self) -> tuple[int, Any, int | None] | None:
        parent = os.getppid()
        while True:
            try:
                message, files, _, _ = socket.recv_fds(
                    self._tasks, 2 * _SMALL, 1, socket.MSG_CMSG_CLOEXEC
                )
            except BlockingIOError:  # a tick
                if os.getppid() != parent:
                    return None
                continue
            if not message:
                return None
            file = files[0] if files else None
            number, indices, length = pickle.loads(message)
            if length is not None:
                assert file is not None, "[DataLoader] a task has not found its way"
                indices = pickle.loads(os.pread(file, length, 0))
            return number, indices, file

    def _answer(self, number: int, indices: Any, descriptor: int | None) -> None:
        file = None if descriptor is None else _File(descriptor)
        try:
            _seed(self._entropy, number)
            try:
                batch = self._make(indices, file.place if file else None)
                made, stretches = True, _packed(batch, file.made if file else {})
            except BaseException as error:
                made, stretches = False, _packed(_failure(error), {})
            reply = _Reply(number, made, _behind_each_other(stretches), False)
            if file is not None and reply.size > _SMALL:
                with suppress(OSError):  # no room there: through the pipe, then
                    reply = _Reply(number, made, file.write(stretches), True)
            self._reply(reply, stretches)
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _reply(self, reply: _Reply, stretches: list[_Stretch]) -> None:
        head = pickle.dumps(tuple(reply))
        message = bytearray(_LENGTH.pack(len(head)) + head)
        if not reply.in_file:
            for stretch in stretches:
                message += stretch.content
                message += bytes(-stretch.content.nbytes % 64)
        rest = memoryview(message)
        while rest:
            rest = rest[os.write(self._results, rest) :]


def _work_elsewhere(tasks: int, results: int, lifeline: int, program: int) -> None:
    """Be the worker in a process that has inherited nothing."""
    make, entropy = _read_program(program)
    os.close(program)
    _Worker(make, entropy, tasks, results, lifeline).run()


def _read_program(program: int) -> tuple[Make, bytes]:
    """Return what workers are to do.

    All of them read one file at the same time, and share the place in it where a plain read begins.
    """
    with mmap.mmap(program, 0, access=mmap.ACCESS_READ) as content:
        told: tuple[Make, bytes] = pickle.loads(content)
    return told


# --- in the parent: processes ---


#: From Python 3.12 on ``os.fork`` warns its caller of other threads. Workers are forked on purpose,
#: and with care for threads: Python warns no caller whose module has no name. Filters of warnings,
#: which all threads share, stay as they are.
_fork = FunctionType((lambda: os.fork()).__code__, {"__name__": None, "os": os})


class _Forked:
    """A process that was forked here."""

    def __init__(self, work: Callable[[], None], kept: tuple[Any, ...]) -> None:
        self._ended = False
        process = multiprocessing.get_context("fork").Process(target=work, daemon=False)
        for stream in (sys.stdout, sys.stderr):
            with suppress(AttributeError, ValueError, OSError):
                stream.flush()  # else the child writes it as well
        _starting.kept = kept
        try:
            self._number: int = _fork()
        finally:
            _starting.kept = ()
        if self._number == 0:
            status = 1
            try:
                # As multiprocessing does it, whose objects datasets may hold. Its own way to start
                # a process keeps descriptors when the fork fails.
                status = process._bootstrap()  # type: ignore[attr-defined]
            finally:
                os._exit(status)

    def ended_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        pause = 0.0005
        while not self._has_ended():
            if time.monotonic() >= deadline:
                return False
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
        return True

    def _has_ended(self) -> bool:
        if not self._ended:
            try:
                self._ended = os.waitpid(self._number, os.WNOHANG)[0] != 0
            except ChildProcessError:  # somebody else has waited for it
                self._ended = True
        return self._ended

    def kill(self) -> None:
        if not self.ended_within(0):
            os.kill(self._number, signal.SIGKILL)

    def close(self) -> None:
        self.ended_within(_BURIAL)


class _Process(multiprocessing.Process):
    """A process of multiprocessing that only its parent ever waits for."""

    def __init__(self, *files: Any) -> None:
        # Where descriptors run out half-way, multiprocessing would keep those that it has.
        _check_room(len(files) + 8)
        passed = tuple(map(_Passed, files))
        super().__init__(target=_work_elsewhere, args=passed, daemon=False)
        self._owner = os.getpid()

    def __setstate__(self, state: dict[str, Any]) -> None:
        _leave_interrupts_to_the_parent()
        self.__dict__.update(state)

    def join(self, timeout: float | None = None) -> None:
        if os.getpid() == self._owner:  # multiprocessing also tries in forks, as they exit
            super().join(timeout)


class _Spawned:
    """A process that multiprocessing starts in another way than by forking this one."""

    def __init__(self, *files: Any) -> None:
        self._process = _Process(*files)
        self._process.start()

    def ended_within(self, seconds: float) -> bool:
        self._process.join(seconds)
        return not self._process.is_alive()

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self._process.join(_BURIAL)
        with suppress(ValueError):  # it is still there
            self._process.close()


class _Inbox:
    """The replies of one worker, as they come."""

    def __init__(self, file: io.FileIO) -> None:
        self.file = file
        self.ended = False  # the worker said so, or is gone
        self._bytes = bytearray()
        self._head: _Reply | None = None

    def read(self) -> bool:
        """Take what is there; return whether that was the end."""
        got = os.read(self.file.fileno(), 1 << 20)
        self._bytes += got
        return not got

    def replies(self) -> Iterator[tuple[_Reply, bytearray]]:
        """Give every reply that is complete, with its bytes."""
        while True:
            if self._head is None:
                if len(self._bytes) < _LENGTH.size:
                    return
                end = _LENGTH.size + _LENGTH.unpack_from(self._bytes)[0]
                if len(self._bytes) < end:
                    return
                number, made, parts, in_file = pickle.loads(self._bytes[_LENGTH.size : end])
                self._head = _Reply(number, made, parts, in_file)
                del self._bytes[:end]
            size = 0 if self._head.in_file else self._head.size
            if len(self._bytes) < size:
                return
            head, self._head = self._head, None
            memory = self._bytes[:size]
            del self._bytes[:size]
            yield head, memory


class _Held:
    """Everything that must end with an iteration."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.processes: list[_Forked | _Spawned] = []
        self.files: list[Any] = []
        self.ended = False
        # At exit the thread that iterates may be about to start or to end workers.
        self.lock = threading.RLock()
        _begun.add(self)

    def end(self) -> None:
        if os.getpid() != self.owner:
            return  # a fork: its descriptors are closed, and the processes are not its own
        with _uninterrupted(), self.lock:
            self.ended = True
            _begun.discard(self)
            for process in self.processes:
                process.kill()
            _close(*self.files)
            self.files.clear()
            for process in self.processes:
                process.close()
            self.processes.clear()


#: All that have not ended.
_begun: set[_Held] = set()
_exiting = False


def _end_all() -> None:
    """End with the program, before the engine does: a thread that forks then stays in the fork."""
    global _exiting
    _exiting = True
    for held in list(_begun):
        held.end()


atexit.register(_end_all)


class Workers:
    """Processes that make batches of lists of indices, ahead of time and in any order."""

    def __init__(self, make: Make, count: int, method: str) -> None:
        self._make = make
        self._count = count
        self._method = method
        self._held = _Held()
        # Also when this is forgotten, or the interpreter ends: multiprocessing calls it before it
        # waits for its processes.
        self._forgotten = util.Finalize(self, self._held.end, exitpriority=100)
        self._inboxes: list[_Inbox] = []
        self._unsent: deque[tuple[bytes, Any]] = deque()
        self._ready: dict[int, tuple[_Reply, bytearray]] = {}
        self._spare: list[Any] = []
        self._files: dict[int, Any] = {}
        self._mapped: dict[Any, mmap.mmap] = {}
        self._submitted = 0
        self._no_more = False
        self._lost = False

    # --- begin and end ---

    def start(self) -> None:
        """Start the processes, by one of the methods of multiprocessing."""
        try:
            # The processes that it keeps for itself do not inherit what is blocked below.
            if self._method == "spawn":
                resource_tracker.ensure_running()
            elif self._method == "forkserver":
                forkserver.ensure_running()
            with _uninterrupted(), self._held.lock:
                if not self._has_ended():
                    self._start()
            self._check()  # which may stay here, and not with the lock
        except (OSError, EOFError) as error:  # EOFError: the server that forks has died
            started = len(self._held.processes)
            reason = error.strerror if isinstance(error, OSError) else error
            self.close()
            raise FileError(
                f"[DataLoader] worker {started + 1} of {self._count} could not be started: "
                f"{reason}. Each takes a process and a few descriptors; use fewer workers, "
                "thread_pool=True, or raise the limits of the process (ulimit -u, ulimit -n)"
            ) from error.with_traceback(None)  # whose frames keep descriptors

    def _start(self) -> None:
        held, entropy = self._held.files, _entropy()
        self._tasks, for_workers = _sockets()
        held += self._tasks, for_workers
        theirs: list[Any] = [for_workers]
        if self._method != "fork":
            program = _nameless_file()
            held.append(program)
            theirs.append(program)
            _write_at(program.fileno(), memoryview(pickle.dumps((self._make, entropy))), 0)
        for _ in range(self._count):
            mine, results = _pipe()
            held += mine, results
            lifeline, kept_open = _pipe()
            held += lifeline, kept_open
            if self._method == "fork":
                numbers = [one.fileno() for one in (for_workers, results, lifeline)]
                work = _Worker(self._make, entropy, *numbers).run
                process: Any = _Forked(work, (for_workers, results, lifeline))
            else:
                process = _Spawned(for_workers, results, lifeline, program)
            self._held.processes.append(process)
            self._inboxes.append(_Inbox(mine))
            _close(results, lifeline)
        _close(*theirs)

    def no_more(self) -> None:
        """Let workers end after the last task, while its batch is still being waited for."""
        if not self._no_more:
            self._no_more = True
            self._send()

    def finish(self) -> None:
        """Wait for workers to end by themselves, but not for long."""
        deadline = time.monotonic() + _PATIENCE
        for process in self._held.processes:
            process.ended_within(max(0.0, deadline - time.monotonic()))

    def close(self) -> None:
        """End whatever is left, at once."""
        self._held.end()
        self._forgotten.cancel()

    # --- tasks and batches ---

    def submit(self, indices: Any) -> int:
        """Ask for a batch; returns its number."""
        self._check()
        number = self._submitted
        self._submitted += 1
        message = pickle.dumps((number, indices, None))
        file = self._file(needed=len(message) > _SMALL)
        if len(message) > _SMALL:
            content = pickle.dumps(indices)
            _write_at(file.fileno(), memoryview(content), 0)
            message = pickle.dumps((number, None, len(content)))
        if file is not None:
            self._files[number] = file
        self._unsent.append((message, file))
        self._send()
        return number

    def _file(self, needed: bool) -> Any:
        if self._spare:
            return self._spare.pop()
        if len(self._files) >= _MOST_FILES and not needed:
            return None
        try:
            file = _nameless_file()
        except OSError:  # no descriptor for it
            if needed:
                raise
            return None
        self._held.files.append(file)
        return file

    def _send(self) -> None:
        """Give the workers what fits into the socket."""
        try:
            while self._unsent:
                message, file = self._unsent[0]
                numbers = [] if file is None else [file.fileno()]
                socket.send_fds(self._tasks, [message], numbers, socket.MSG_DONTWAIT)
                self._unsent.popleft()
            if self._no_more:
                self._tasks.shutdown(socket.SHUT_WR)
        except OSError as error:
            if error.errno in (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN):
                self._lost = True
            elif error.errno not in (errno.EAGAIN, errno.ETOOMANYREFS):  # full, of files too
                raise

    def result(self, number: int, seconds: float) -> Any:
        """Return a batch; raises what the worker raised, that one died, or that it takes long."""
        self._check()
        deadline = time.monotonic() + seconds
        while number not in self._ready:
            left = deadline - time.monotonic()
            if self._lost:
                self._check()
                raise MXNetError(self._epitaph())
            if left <= 0:
                raise late(seconds)
            try:
                self._exchange(min(left, _TICK))
            except (OSError, ValueError):  # a closed file
                self._check()
                raise
        reply, memory = self._ready.pop(number)
        file = self._files.pop(number, None)
        value = _unpacked(reply.parts, self._contents(file) if reply.in_file else memory)
        if file is not None:
            self._spare.append(file)
        if not reply.made:
            _raise(value)
        return value

    def _contents(self, file: Any) -> Any:
        """Return the memory of a file; it stays mapped, for that takes longer than the copy."""
        mapped = self._mapped.get(file)
        if mapped is None or len(mapped) < os.fstat(file.fileno()).st_size:
            if mapped is not None:
                _close(mapped)
            try:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except OSError:  # that takes a descriptor, too
                file.seek(0)
                return file.readall()
            _open.add(mapped)
            self._held.files.append(mapped)
            self._mapped[file] = mapped
        return mapped

    def _check(self) -> None:
        if os.getpid() != self._held.owner:
            raise MXNetError(
                "[DataLoader] this iterator belongs to the process that began it, not to its fork; "
                "begin another one with iter(loader)"
            )
        if self._has_ended():
            # Nothing but the end of the program ends what is in use; daemon threads sleep from
            # then on, whereas functions of atexit may still begin another loader.
            if threading.current_thread().daemon:
                threading.Event().wait()
            raise MXNetError("[DataLoader] this iterator has ended with the program")

    def _has_ended(self) -> bool:
        return self._held.ended or (_exiting and threading.current_thread().daemon)

    def _epitaph(self) -> str:
        text = (
            "a worker process of the DataLoader died (killed, out of memory, or a crash in the "
            "dataset)"
        )
        if self._method == "fork":
            return text
        return (
            f"{text}; with the start method {self._method!r} the program must make the loader "
            'under if __name__ == "__main__", for workers import it'
        )

    def _exchange(self, seconds: float) -> None:
        """Send and receive what can be, and wait for more if that is nothing."""
        waiting = select.poll()
        if self._unsent:
            waiting.register(self._tasks, select.POLLOUT)
        inboxes = {one.file.fileno(): one for one in self._inboxes if not one.ended}
        for descriptor in inboxes:
            waiting.register(descriptor, select.POLLIN)
        events = waiting.poll(1000 * seconds)
        if not events:
            couples = zip(self._inboxes, self._held.processes, strict=True)
            self._lost = any(not one.ended and process.ended_within(0) for one, process in couples)
        for descriptor, _ in events:
            if descriptor not in inboxes:
                self._send()
                continue
            inbox = inboxes[descriptor]
            over = inbox.read()
            for reply, memory in inbox.replies():
                if reply.number == _FAREWELL:
                    inbox.ended = True
                else:
                    self._ready[reply.number] = reply, memory
            if over and not inbox.ended:
                inbox.ended = self._lost = True
