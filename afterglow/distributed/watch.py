# SPDX-License-Identifier: Apache-2.0
"""Who is still there: a connection of every rank to one watcher, beside MPI.

MPI does not tell the others that a rank is dead, and what waits for it waits for ever. So every
rank tells the watcher now and then that it lives. When one is lost, the watcher asks the others
what they wait for, and tells all of them the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

__all__ = ["Rank", "Watcher", "own_address", "seconds_allowed"]

Message = dict[str, Any]


def seconds_allowed() -> float:
    """Return how long a rank that is lost may stay unnoticed: AFTERGLOW_RANK_TIMEOUT, or 30."""
    given = os.environ.get("AFTERGLOW_RANK_TIMEOUT", "")
    try:
        seconds = float(given or 30)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        from ..error import ArrayValueError

        raise ArrayValueError(f"AFTERGLOW_RANK_TIMEOUT={given!r} must be a number of seconds")
    return seconds


def own_address() -> str:
    """Return an address by which other machines reach this one; where there is none, loopback."""
    interface = os.environ.get("AFTERGLOW_ADDRESS")
    if interface:
        return interface
    try:
        # Nothing is sent: the system only says from where it would be.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))
            address: str = probe.getsockname()[0]
            return address
    except OSError:
        return "127.0.0.1"


class _Line:
    """A connection that carries messages, a line each."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.socket.settimeout(1.0)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""
        self._lock = threading.Lock()

    def send(self, message: Message) -> bool:
        """Send it, or tell that nobody is there to take it."""
        with self._lock:
            try:
                self.socket.sendall(json.dumps(message).encode() + b"\n")
                return True
            except OSError:
                return False

    def receive(self) -> list[Message] | None:
        """Return what has come, after the socket said so; None at the end of the connection."""
        try:
            data = self.socket.recv(65536)
        except TimeoutError:
            return []
        except OSError:
            return None
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > 1 << 20:
            return None
        try:
            messages = [json.loads(line) for line in lines]
        except ValueError:
            return None
        return messages if all(isinstance(one, dict) for one in messages) else None

    def close(self) -> None:
        """End the connection."""
        with contextlib.suppress(OSError):
            self.socket.close()


class _Seen:
    """What the watcher knows of a rank."""

    def __init__(self, line: _Line, hello: Message) -> None:
        self.line = line
        self.host = str(hello.get("host", "?"))
        self.pid = hello.get("pid")
        self.heard = time.monotonic()
        self.left = False  #: it said goodbye
        self.gone_at: float | None = None  #: its connection ended without that
        self.waits_for: Message | None = None  #: its answer to "lost"


class Watcher:
    """The other end of the connections: in the launcher, or in rank 0 where there is none."""

    def __init__(self, size: int, address: str, token: str) -> None:
        self._size = size
        self._token = token
        self._seconds = seconds_allowed()
        self._listener = socket.create_server((address, 0))
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._unknown: set[_Line] = set()
        self._seen: dict[int, _Seen] = {}
        self._ended: dict[int, str] = {}
        self._lock = threading.Lock()
        self._wake_out, self._wake_in = socket.socketpair()
        self._selector.register(self._wake_out, selectors.EVENT_READ)
        self._lost: tuple[int, str] | None = None
        self._answers_until = 0.0
        self._failure: str | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """Where it listens."""
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def failure(self) -> str | None:
        """What all ranks were told, once one was lost."""
        return self._failure

    def start(self) -> None:
        """Begin to watch, on a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._wake_in.send(b".")
        if self._thread is not None:
            self._thread.join(1.0)

    def ended(self, rank: int, how: str) -> None:
        """Hear from the launcher that the process of a rank has ended."""
        with self._lock:
            self._ended[rank] = how
        with contextlib.suppress(OSError):
            self._wake_in.send(b".")

    # --- its thread ---

    def _run(self) -> None:
        step = min(0.25, self._seconds / 20)
        while not self._closed:
            for key, _ in self._selector.select(step):
                if key.fileobj is self._listener:
                    connection, _ = self._listener.accept()
                    line = _Line(connection)
                    self._unknown.add(line)
                    self._selector.register(connection, selectors.EVENT_READ, line)
                elif key.fileobj is self._wake_out:
                    self._wake_out.recv(4096)
                else:
                    self._hear(key.data)
            self._look()
        for seen in self._seen.values():
            seen.line.close()
        self._listener.close()

    def _hear(self, line: _Line) -> None:
        messages = line.receive()
        if messages is None:
            self._selector.unregister(line.socket)
            self._unknown.discard(line)
            for seen in self._seen.values():
                if seen.line is line:
                    seen.gone_at = time.monotonic()
            line.close()
            return
        for message in messages:
            if line in self._unknown:
                self._greet(line, message)
                continue
            for rank, seen in self._seen.items():
                if seen.line is line:
                    self._heed(rank, seen, message)

    def _greet(self, line: _Line, message: Message) -> None:
        rank = message.get("hello")
        self._unknown.discard(line)
        if message.get("token") != self._token or not isinstance(rank, int):
            self._selector.unregister(line.socket)
            line.close()
            return
        self._seen[rank] = _Seen(line, message)
        if self._failure is not None:
            line.send({"failed": self._failure})
        elif self._lost is not None:
            line.send({"lost": self._lost[1]})
        elif len(self._seen) == self._size:
            for seen in self._seen.values():
                seen.line.send({"complete": True})

    def _heed(self, rank: int, seen: _Seen, message: Message) -> None:
        seen.heard = time.monotonic()
        if "left" in message:
            seen.left = True
        elif "stuck" in message and self._failure is None:
            self._tell(str(message["stuck"]))
        elif "waits" in message:
            seen.waits_for = message
        else:
            seen.line.send({"beat": 0})

    def _look(self) -> None:
        """Look for ranks that are lost, and tell of the first."""
        if self._failure is not None:
            return
        if self._lost is None:
            self._lost = self._first_lost()
            if self._lost is None:
                return
            self._answers_until = time.monotonic() + min(1.0, self._seconds / 5)
            for rank, seen in self._seen.items():
                if rank != self._lost[0] and not seen.left:
                    seen.line.send({"lost": self._lost[1]})
        asked = [
            seen
            for rank, seen in self._seen.items()
            if rank != self._lost[0] and not seen.left and seen.gone_at is None
        ]
        late = time.monotonic() > self._answers_until
        if late or all(seen.waits_for is not None for seen in asked):
            waits = [seen.waits_for for seen in asked if seen.waits_for is not None]
            known = [one for one in waits if one["waits"] >= 0]
            first = min(known, key=lambda one: one["waits"], default=None)
            self._tell(self._lost[1] + (f", while {first['what']} waited for it" if first else ""))

    def _first_lost(self) -> tuple[int, str] | None:
        now = time.monotonic()
        with self._lock:
            ended = dict(self._ended)
        for rank, how in ended.items():
            seen = self._seen.get(rank)
            # Where no rank has come, the programs form no group, and nobody waits.
            if self._seen and (seen is None or not seen.left):
                return rank, f"{self._name(rank)} {how}"
        for rank, seen in self._seen.items():
            if seen.left:
                continue
            # A moment later the launcher may know more of it.
            if seen.gone_at is not None and now - seen.gone_at > min(0.5, self._seconds / 5):
                return rank, f"{self._name(rank)} has ended, or was cut off"
            if seen.gone_at is None and now - seen.heard > 0.6 * self._seconds:
                silent = f"has not been heard of for {now - seen.heard:.1f} s"
                return rank, f"{self._name(rank)} {silent}: it is stopped, or cut off"
        return None

    def _name(self, rank: int) -> str:
        seen = self._seen.get(rank)
        return f"rank {rank} on {seen.host} (process {seen.pid})" if seen else f"rank {rank}"

    def _tell(self, text: str) -> None:
        self._failure = text
        for seen in self._seen.values():
            if not seen.left:
                seen.line.send({"failed": text})


class Rank:
    """A rank's own end: a thread that says that it lives, and hears who does not."""

    def __init__(
        self,
        rank: int,
        address: tuple[str, int],
        token: str,
        waits_for: Callable[[], tuple[int, str]],
        failed: Callable[[str], None],
    ) -> None:
        """``waits_for()`` gives the number of the collective that waits, or -1, and its name.

        ``failed(text)`` is called once, on the thread of the watch.
        """
        self._rank = rank
        self._waits_for = waits_for
        self._failed: Callable[[str], None] | None = failed
        self._seconds = seconds_allowed()
        self._line = _Line(socket.create_connection(address, timeout=self._seconds))
        hello = {"hello": rank, "token": token, "host": socket.gethostname(), "pid": os.getpid()}
        self._line.send(hello)
        self._leaving = False
        self.complete = threading.Event()  #: all ranks are there
        os.register_at_fork(after_in_child=self._line.close)
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def tell(self, text: str) -> None:
        """Tell all ranks, this one included, that the group cannot go on."""
        if not self._line.send({"stuck": text}):
            self._fail(text)

    def leave(self) -> None:
        """Say that this rank has ended as it should."""
        self._leaving = True
        self._line.send({"left": self._rank})
        with contextlib.suppress(OSError):
            self._line.socket.shutdown(socket.SHUT_RD)  # wakes the thread
        self._thread.join(1.0)

    def _run(self) -> None:
        interval = min(2.0, self._seconds / 10)
        heard = time.monotonic()
        said = 0.0
        with selectors.DefaultSelector() as selector:
            selector.register(self._line.socket, selectors.EVENT_READ)
            while not self._leaving:
                if time.monotonic() - said >= interval:
                    self._line.send({"beat": 0})
                    said = time.monotonic()
                if selector.select(interval):
                    messages = self._line.receive()
                    if messages is None:
                        self._fail(f"rank {self._rank} has lost its connection to the launcher")
                        return
                    heard = time.monotonic()
                    for message in messages:
                        self._heed(message)
                elif time.monotonic() - heard > 0.6 * self._seconds:
                    host = socket.gethostname()
                    self._fail(
                        f"rank {self._rank} on {host} is cut off from the launcher, of which it "
                        f"has not heard for {time.monotonic() - heard:.1f} s"
                    )
                    return

    def _heed(self, message: Message) -> None:
        if "lost" in message:
            number, what = self._waits_for()
            self._line.send({"waits": number, "what": what})
        elif "complete" in message:
            self.complete.set()
        elif "failed" in message:
            self._fail(str(message["failed"]))

    def _fail(self, text: str) -> None:
        failed, self._failed = self._failed, None
        if failed is not None and not self._leaving:
            failed(text)
