# SPDX-License-Identifier: Apache-2.0
"""The workers seen from the command: a process per column, asked for one round at a time."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
#: The settings of malloc that a peer may run with, by name.
MALLOCS: dict[str, dict[str, str]] = {
    "as it is": {},
    "thresholds off": {
        "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=4294967296:"
        "glibc.malloc.trim_threshold=4294967296"
    },
}


class FailedError(Exception):
    """A library could not do what it was asked to; its process goes on."""


class GoneError(FailedError):
    """The process of a library ended, or had to be ended."""


class Process:
    """A worker. It starts at once and is there when :meth:`ready` returns."""

    def __init__(
        self, interpreter: str, *words: str, timeout: float, environment: Mapping[str, str] = {}
    ) -> None:
        self.timeout = timeout
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (close closes it)
        self.process = subprocess.Popen(
            [interpreter, str(FOLDER / "worker.py"), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={"TORCHINDUCTOR_COMPILE_THREADS": "1", **os.environ, **environment},
        )

    def ready(self) -> dict[str, Any]:
        """Wait until the library is imported."""
        return self.receive()

    def send(self, **request: object) -> None:
        """Let the process work on a request."""
        assert self.process.stdin
        with suppress(OSError):  # it has ended, as the answer will tell
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Wait for the answer to a request."""
        assert self.process.stdout
        if not select.select([self.process.stdout], [], [], self.timeout)[0]:
            self.process.kill()
            raise GoneError(f"no answer within {self.timeout:g} s")
        line = self.process.stdout.readline()
        if not line:
            raise GoneError(self._last_words())
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            self.process.kill()
            raise GoneError(f"answered {line[:60]!r}, not a worker's JSON") from None
        if "error" in answer:
            raise FailedError(" ".join(answer["error"].split())[:200])
        return answer

    def ask(self, **request: object) -> dict[str, Any]:
        """Answer one request."""
        self.send(**request)
        return self.receive()

    def _last_words(self) -> str:
        status = self.process.wait()
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "no message")
        return f"ended with status {status}: {last[:200]}"

    def resident(self, which: str) -> int:
        """Return VmRSS, the resident memory, or VmHWM, the most there was, in bytes."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(which):
                return int(line.split()[1]) * 1024
        raise FailedError(f"the kernel does not tell {which}")

    def watched(self, **request: object) -> dict[str, Any]:
        """Answer a request for a round, with the bytes by which resident memory grew at most.

        The kernel's high-water mark starts anew when the worker has warmed up: nothing is missed
        between samples, and nothing runs beside the worker.
        """
        self.ask(**request, prepare=True)
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        before = self.resident("VmRSS")
        answer = self.ask(**request)
        return {"bytes": self.resident("VmHWM") - before, **answer}

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin
        assert self.process.stdout
        with suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()
