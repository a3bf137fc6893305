# SPDX-License-Identifier: Apache-2.0
"""What MPI asks when it starts: who takes part, and where.

MPICH and what descends from it speak a protocol of lines over TCP with whoever started them (PMI,
version 1). Answering it here means that no ``mpiexec`` stands between the launcher and the ranks,
which would end all of them when one dies.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
from collections.abc import Sequence

__all__ = ["ProcessManager"]


def _mapping(hosts: Sequence[str]) -> str:
    """Return which ranks share a machine, as MPICH writes it: (vector,(node,nodes,ranks),...)."""
    numbers = {host: number for number, host in enumerate(dict.fromkeys(hosts))}
    blocks: list[list[int]] = []
    for host in hosts:
        if blocks and blocks[-1][0] == numbers[host]:
            blocks[-1][1] += 1
        else:
            blocks.append([numbers[host], 1])
    return "(vector," + ",".join(f"({node},1,{count})" for node, count in blocks) + ")"


class ProcessManager:
    """Answers the ranks of one run, on a thread for each of them."""

    def __init__(self, hosts: Sequence[str], address: str) -> None:
        self._size = len(hosts)
        self._name = f"afterglow-{secrets.token_hex(8)}"  # MPICH names shared memory after it
        self._values = {"PMI_process_mapping": _mapping(hosts)}
        self._lock = threading.Lock()
        self._waiting: list[socket.socket] = []
        self._listener = socket.create_server((address, 0))
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """Where it listens; known before it starts."""
        port: int = self._listener.getsockname()[1]
        return port

    def environment(self, rank: int, address: str) -> dict[str, str]:
        """Return the variables by which a rank finds it."""
        return {
            "PMI_PORT": f"{address}:{self.port}",
            "PMI_ID": str(rank),
            "PMI_RANK": str(rank),
            "PMI_SIZE": str(self._size),
        }

    def start(self) -> None:
        """Begin to answer."""
        self._thread = threading.Thread(target=self._accept, name="process-manager", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no further ranks, and end the thread: a process that forks should have one."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # which wakes the thread
        self._listener.close()
        if self._thread is not None:
            self._thread.join(1.0)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("r") as lines:
                for line in lines:
                    answer = self._answer(line.strip(), connection)
                    if answer:
                        connection.sendall(f"{answer}\n".encode())
        except OSError:  # the rank is gone; the watch tells of it
            pass

    def _answer(self, line: str, connection: socket.socket) -> str | None:
        given = dict(part.split("=", 1) for part in line.split() if "=" in part)
        match given.get("cmd"):
            case "initack":
                values = (f"size={self._size}", f"rank={given.get('pmiid')}", "debug=0")
                return "\n".join(["cmd=initack rc=0", *(f"cmd=set {one}" for one in values)])
            case "init":
                return "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1"
            case "get_maxes":
                return "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=4096"
            case "get_appnum":
                return "cmd=appnum rc=0 appnum=0"
            case "get_my_kvsname":
                return f"cmd=my_kvsname rc=0 kvsname={self._name}"
            case "get_universe_size":
                return f"cmd=universe_size rc=0 size={self._size}"
            case "put":
                with self._lock:
                    self._values[given["key"]] = line.split("value=", 1)[1]
                return "cmd=put_result rc=0 msg=success"
            case "get":
                with self._lock:
                    value = self._values.get(given["key"])
                if value is None:
                    return "cmd=get_result rc=-1 msg=key_not_found value=unknown"
                return f"cmd=get_result rc=0 msg=success value={value}"
            case "barrier_in":
                self._pass_barrier(connection)
                return None
            case "finalize":
                return "cmd=finalize_ack rc=0"
            case other:
                return f"cmd={other}_result rc=-1 msg=unknown_command"

    def _pass_barrier(self, connection: socket.socket) -> None:
        with self._lock:
            self._waiting.append(connection)
            if len(self._waiting) < self._size:
                return
            here, self._waiting = self._waiting, []
        for one in here:
            one.sendall(b"cmd=barrier_out rc=0\n")
