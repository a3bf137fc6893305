# SPDX-License-Identifier: Apache-2.0
"""Starting the ranks of a run, showing what they print, and ending all of them.

Ranks on this machine are processes of the launcher, others those of an ``ssh`` each. The launcher
answers what MPI asks when it starts (`process_manager`) and watches the ranks (`watch`).
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import secrets
import selectors
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any, NamedTuple

from .process_manager import ProcessManager
from .watch import Watcher, own_address, seconds_allowed

__all__ = ["Run", "end_with_parent", "is_local", "launch"]

#: Seconds between asking ranks to end and ending them.
_PATIENCE = 3.0
_LOCAL = frozenset(("localhost", "127.0.0.1", "::1"))


def is_local(host: str) -> bool:
    """Tell whether a host is this machine."""
    return host in _LOCAL or host == socket.gethostname()


def end_with_parent() -> None:
    """Let this process end when the one that started it does, however that ends."""
    kill_when_parent_ends = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(kill_when_parent_ends, signal.SIGKILL, 0, 0, 0)


class Run(NamedTuple):
    """What is to be started."""

    command: Sequence[str]
    hosts: Sequence[str]  #: one for each rank; ranks of a host stand together
    environment: Mapping[str, str] = {}
    ssh: str = "ssh"
    python: str = sys.executable  #: on the other hosts

    @property
    def size(self) -> int:
        """The number of ranks."""
        return len(self.hosts)

    @property
    def address(self) -> str:
        """Where ranks find the launcher."""
        return "127.0.0.1" if all(map(is_local, self.hosts)) else own_address()


class _Stream:
    """What a rank writes, line by line, with its number in front."""

    def __init__(self, rank: int, source: IO[bytes], target: IO[str]) -> None:
        self.source = source
        self._prefix = f"[{rank}] "
        self._target = target
        self._rest = b""
        os.set_blocking(source.fileno(), False)

    def show(self) -> bool:
        """Show what there is; false at the end."""
        try:
            data = self.source.read(1 << 16)
        except OSError:
            data = b""
        if data is None:
            return True
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not data and self._rest:
            lines, self._rest = [self._rest], b""
        for line in lines:
            self._target.write(f"{self._prefix}{line.decode(errors='replace')}\n")
        self._target.flush()
        return bool(data)


class _Process:
    """One rank, as the launcher sees it."""

    def __init__(self, run: Run, rank: int, environment: dict[str, str]) -> None:
        self.rank = rank
        self.host = run.hosts[rank]
        self.remote = not is_local(self.host)
        self.status: int | None = None
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        if self.remote:
            told = {"command": run.command, "environment": environment, "folder": os.getcwd()}
            remote = [run.python, "-m", "afterglow.distributed.remote"]
            self.popen = subprocess.Popen(
                [*shlex.split(run.ssh), self.host, shlex.join(remote)],
                stdin=subprocess.PIPE,
                start_new_session=True,
                **pipes,
            )
            assert self.popen.stdin is not None
            self.popen.stdin.write(json.dumps(told).encode() + b"\n")
            self.popen.stdin.flush()
        else:
            self.popen = subprocess.Popen(
                run.command,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=end_with_parent,
                **pipes,
            )
        assert self.popen.stdout is not None
        assert self.popen.stderr is not None
        self.streams = [
            _Stream(rank, self.popen.stdout, sys.stdout),
            _Stream(rank, self.popen.stderr, sys.stderr),
        ]

    def signal(self, number: int) -> None:
        """Send a signal to the rank and to what it has started."""
        if self.status is not None:
            return
        with contextlib.suppress(OSError):
            if self.remote and self.popen.stdin is not None:
                self.popen.stdin.close()  # its end over there does the same
            if not self.remote or number == signal.SIGKILL:
                os.killpg(self.popen.pid, number)

    def poll(self) -> bool:
        """Tell whether it has ended since the last look."""
        if self.status is not None or self.popen.poll() is None:
            return False
        self.status = self.popen.returncode
        with contextlib.suppress(OSError):  # what it started and left behind
            os.killpg(self.popen.pid, signal.SIGKILL)
        return True

    def how(self) -> str:
        """Say how it ended."""
        assert self.status is not None
        if self.status < 0:
            return f"was ended by {signal.Signals(-self.status).name}"
        return f"has ended with exit status {self.status}"


def _environment(run: Run, rank: int, watched: str) -> dict[str, str]:
    """Return what a rank is told of itself, under our names and MXNet's."""
    host = run.hosts[rank]
    local = [number for number, one in enumerate(run.hosts) if one == host]
    told = {
        "AFTERGLOW_GROUP": f"{rank} {run.size} {local.index(rank)} {len(local)} {watched}",
        "PYTHONUNBUFFERED": 1,
    }
    mxnet = {"ROLE": "worker", "NUM_WORKER": run.size, "NUM_SERVER": 0, "WORKER_ID": rank}
    told |= {f"DMLC_{name}": value for name, value in mxnet.items()}
    if is_local(host) and "AFTERGLOW_NUM_THREADS" not in os.environ:
        cores = len(os.sched_getaffinity(0))
        told["AFTERGLOW_NUM_THREADS"] = max(1, cores // len(local))
    return {name: str(value) for name, value in told.items()} | dict(run.environment)


def launch(run: Run, restarts: int = 0) -> int:
    """Start all ranks and return the exit status: that of the first that failed, or 0.

    After a failure all of them are started again, at most so many times.
    """
    interrupted = _Interrupts()
    with interrupted:
        for left in range(restarts, -1, -1):
            status = _launch_once(run, interrupted)
            if status == 0 or interrupted.number is not None or not left:
                break
            _say(f"starting all ranks again; {left - 1} more times after this")
    return status


def _launch_once(run: Run, interrupted: _Interrupts) -> int:
    token = secrets.token_hex(16)
    binding = "127.0.0.1" if run.address == "127.0.0.1" else ""
    manager = ProcessManager(run.hosts, binding)
    watcher = Watcher(run.size, binding, token)
    processes: list[_Process] = []
    try:
        for rank in range(run.size):
            watched = f"{run.address}:{watcher.port} {token}"
            told = _environment(run, rank, watched) | manager.environment(rank, run.address)
            processes.append(_Process(run, rank, told))
        manager.start()
        watcher.start()
        return _attend(processes, watcher, interrupted)
    finally:
        for process in processes:
            process.signal(signal.SIGKILL)
        watcher.close()
        manager.close()


class _Interrupts:
    """While it is entered, signals that would end the launcher are counted instead."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.count = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._before[number] = signal.signal(number, self._note)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, _: object) -> None:
        self.number = self.number or number
        self.count += 1


def _say(text: str) -> None:
    print(f"afterglow launch: {text}", file=sys.stderr, flush=True)


def _attend(processes: list[_Process], watcher: Watcher, interrupted: _Interrupts) -> int:
    """Show what ranks print until all have ended."""
    first: int | None = None  # exit status of the first failure
    end_at = kill_at = float("inf")
    selector = selectors.DefaultSelector()
    for process in processes:
        for stream in process.streams:
            selector.register(stream.source, selectors.EVENT_READ, stream)
    while any(process.status is None for process in processes):
        for key, _ in selector.select(0.02):
            if not key.data.show():
                selector.unregister(key.fileobj)
        now = time.monotonic()
        for process in processes:
            if not process.poll():
                continue
            watcher.ended(process.rank, process.how())
            if process.status and first is None:
                first = process.status
                end_at = now + seconds_allowed() + _PATIENCE
                _say(f"rank {process.rank} on {process.host} {process.how()}")
        if interrupted.number is not None and first is None:
            first = -interrupted.number
            for process in processes:
                process.signal(interrupted.number)
            kill_at = now + _PATIENCE
        if watcher.failure is not None and first is None and end_at == float("inf"):
            _say(watcher.failure)
            end_at = now + seconds_allowed() + _PATIENCE
        if now > end_at:
            for process in processes:
                process.signal(signal.SIGTERM)
                process.signal(signal.SIGCONT)
            end_at, kill_at = float("inf"), now + _PATIENCE
        if now > kill_at or interrupted.count > 1:
            for process in processes:
                process.signal(signal.SIGKILL)
    for process in processes:  # what came at the very end
        for stream in process.streams:
            while stream.source.fileno() in selector.get_map() and stream.show():
                pass
    if first is None:
        return 0 if watcher.failure is None else 1
    return 128 - first if first < 0 else first
