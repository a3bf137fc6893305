# SPDX-License-Identifier: Apache-2.0
"""What must be so before ranks start, looked at on each host; ``-m`` looks at this one."""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from ..version import version
from .collectives import import_mpi
from .launcher import Run, is_local

__all__ = ["Problem", "check", "table"]

#: Seconds that a host has to answer.
_LONGEST = 10.0


class Problem(NamedTuple):
    """Something that keeps ranks from starting."""

    host: str
    what: str
    found: str
    mend: str


def _look(command: list[str], folder: str, address: tuple[str, int] | None) -> dict[str, Any]:
    """Return what is found on this machine."""
    file = next((word for word in command if word.endswith(".py")), None)
    found: dict[str, Any] = {
        "afterglow": version(),
        "python": platform.python_version(),
        "program": shutil.which(command[0]) is not None,
        "file": file is None or os.path.exists(os.path.join(folder, file)),
        "folder": os.path.isdir(folder),
    }
    try:
        import mpi4py

        mpi4py.rc.initialize = False
        found["mpi"] = import_mpi().Get_library_version().partition("\n")[0].strip("\0 ")
    except Exception as problem:
        found["no mpi"] = str(problem)
    if address is not None:
        try:
            socket.create_connection(address, timeout=3).close()
        except OSError as problem:
            found["unreachable"] = str(problem)
    return found


def _ask(run: Run, host: str, address: tuple[str, int]) -> dict[str, Any] | str:
    """Return what is found on another machine, or what went wrong on the way."""
    told = [json.dumps([list(run.command), os.getcwd(), address])]
    remote = [run.python, "-m", "afterglow.distributed.checks", *told]
    try:
        done = subprocess.run(
            [*shlex.split(run.ssh), host, shlex.join(remote)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LONGEST,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {_LONGEST:.0f} s"
    except OSError as problem:
        return str(problem)
    try:
        answer = json.loads(done.stdout.strip().splitlines()[-1])
        assert isinstance(answer, dict)
        return answer
    except (ValueError, IndexError, AssertionError):
        said = done.stderr.strip().splitlines()
        return said[-1] if said else f"exit status {done.returncode}"


def check(run: Run) -> list[Problem]:
    """Return what keeps the ranks from starting, on this machine and the others."""
    here = _look(list(run.command), os.getcwd(), None)
    others = [host for host in dict.fromkeys(run.hosts) if not is_local(host)]
    problems = []
    if len(others) < len(set(run.hosts)):
        problems += _problems(run, "localhost", here, here)
    if not others:
        return problems
    with (
        socket.create_server(("", 0)) as listener,
        ThreadPoolExecutor(min(32, len(others))) as threads,
    ):
        address = (run.address, listener.getsockname()[1])
        answers = threads.map(lambda host: _ask(run, host, address), others)
        for host, answer in zip(others, answers, strict=True):
            if isinstance(answer, str):
                mend = f"{run.ssh} {host} {run.python} -m afterglow info   must work by itself"
                problems.append(Problem(host, "ssh", answer, mend))
            else:
                problems += _problems(run, host, answer, here)
    return problems


def _problems(run: Run, host: str, there: dict[str, Any], here: dict[str, Any]) -> list[Problem]:
    found = []

    def add(what: str, value: object, mend: str) -> None:
        found.append(Problem(host, what, str(value), mend))

    for name in ("afterglow", "python"):
        ours, theirs = (str(one[name]).rpartition(".")[0] for one in (here, there))
        if ours != theirs:
            add(name, f"{there[name]}, but {here[name]} here", f"install {name} {here[name]} there")
    if not there["folder"]:
        add("folder", f"{os.getcwd()} is missing", "copy or mount it there")
    elif not there["file"]:
        file = next(word for word in run.command if word.endswith(".py"))
        add("program", f"{file} is missing", "name a file that is there")
    if not there["program"]:
        add("program", f"{run.command[0]} is missing", "install it, or name a .py file")
    if run.size > 1 and "no mpi" in there:
        add("mpi", there["no mpi"].partition(":")[0], "pip install 'afterglow[mpi]'")
    elif run.size > 1 and not any(one in there["mpi"] for one in ("MPICH", "Intel", "MVAPICH")):
        add(
            "mpi",
            f"{there['mpi'][:40]} has a launcher of its own",
            f"mpirun -n {run.size} {shlex.join(run.command)}   or pip install mpich",
        )
    elif run.size > 1 and there["mpi"] != here.get("mpi"):
        add("mpi", f"{there['mpi']}, but {here.get('mpi')} here", "install the same")
    if "unreachable" in there:
        mend = "open the ports between the hosts, or set AFTERGLOW_ADDRESS to this host's address"
        add("connection", f"cannot reach {run.address}: {there['unreachable']}", mend)
    return found


def table(problems: list[Problem]) -> str:
    """Return problems and how to mend them, as lines of columns."""
    rows = [Problem("host", "what", "found", "how to mend it"), *problems]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return "\n".join(
        "  " + "  ".join([*(row[i].ljust(widths[i]) for i in range(3)), row.mend]) for row in rows
    )


if __name__ == "__main__":
    asked, in_folder, listening = json.loads(sys.argv[1])
    print(json.dumps(_look(asked, in_folder, tuple(listening))))
