# SPDX-License-Identifier: Apache-2.0
"""``afterglow launch -n 4 train.py``: a program on several processes or machines."""

from __future__ import annotations

import argparse
import os
import sys

from ._program import add_program, note_options_of_program

_NOTES = """\
Each process (rank) runs FILE with its arguments; files that do not end in .py
are commands. What ranks print has their number in front. The programs form a
group by kvstore='dist_sync', or by afterglow.distributed; started alone they
are groups of one.

Before ranks are started, hosts, versions and connections are checked; what
fails is told in a table. Ctrl-C ends all ranks. A rank that dies, stops or is
cut off is told to the others, whose programs raise an error that names it,
within AFTERGLOW_RANK_TIMEOUT seconds (30).

The exit status is that of the first rank that failed, or 128 and the number of
the signal that ended it; 2 where nothing could be started.

Options of MXNet's launch.py are understood. There are no servers here (-s).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what ``afterglow launch`` takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _NOTES
    parser.add_argument(
        "-n", "--num-workers", type=int, metavar="RANKS", help="how many; default: one a host"
    )
    parser.add_argument(
        "--hosts", metavar="A,B:2", help="machines, and how many ranks each has; default: this one"
    )
    parser.add_argument("-H", "--hostfile", metavar="FILE", help="the same, a machine on each line")
    parser.add_argument(
        "--launcher",
        choices=("local", "ssh", "mpi", "sge", "yarn"),
        help="local: on this machine; ssh: on --hosts, which is told by naming them",
    )
    parser.add_argument(
        "--env", metavar="NAME:VALUE", action="append", default=[], help="a variable of the ranks"
    )
    parser.add_argument(
        "--ssh", default="ssh -o BatchMode=yes -o ConnectTimeout=5", help="how to reach machines"
    )
    parser.add_argument("--python", default=sys.executable, help="the Python of other machines")
    parser.add_argument(
        "--restarts",
        type=int,
        default=0,
        metavar="TIMES",
        help="how often all ranks are started again when one fails",
    )
    parser.add_argument("--check", action="store_true", help="check hosts and versions, then end")
    parser.add_argument("-s", "--num-servers", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--sync-dst-dir", help=argparse.SUPPRESS)
    add_program(parser, "what each rank runs")


def run(arguments: argparse.Namespace) -> int:
    """Start the ranks."""
    from ..distributed.checks import check, table
    from ..distributed.hosts import HostsError, deal, read_hosts
    from ..distributed.launcher import Run, launch

    note_options_of_program(arguments)
    try:
        if arguments.launcher in ("mpi", "sge", "yarn"):
            raise HostsError(
                f"--launcher {arguments.launcher} is not needed: --hosts starts ranks by ssh, and "
                "what other launchers start (mpiexec -n 4 python train.py) forms a group as well"
            )
        if arguments.restarts < 0:
            raise HostsError(f"--restarts {arguments.restarts}: it must be 0 or more")
        if arguments.sync_dst_dir:
            raise HostsError("--sync-dst-dir: copy files before, for example with rsync")
        hosts = deal(read_hosts(arguments.hosts, arguments.hostfile), arguments.num_workers)
        environment = dict(_pair(text) for text in arguments.env)
    except (HostsError, OSError) as problem:
        print(f"afterglow launch: {problem}", file=sys.stderr)
        return 2
    if arguments.num_servers:
        print("afterglow launch: there are no servers; -s is not needed", file=sys.stderr)
    file = arguments.file
    command = [file, *arguments.arguments]
    if file.endswith(".py"):
        command = [sys.executable, *command]
    planned = Run(command, hosts, environment, arguments.ssh, arguments.python)
    problems = check(planned)
    if problems:
        print(f"afterglow launch: cannot start\n{table(problems)}", file=sys.stderr)
        return 2
    if arguments.check:
        print(f"{len(hosts)} ranks can start on {', '.join(dict.fromkeys(hosts))}")
        return 0
    return launch(planned, arguments.restarts)


def _pair(text: str) -> tuple[str, str]:
    """Return a name and a value, which is that of this process where none is given."""
    from ..distributed.hosts import HostsError

    for separator in "=:":
        name, found, value = text.partition(separator)
        if found:
            return name, value
    if text not in os.environ:
        raise HostsError(f"--env {text}: write NAME:VALUE")
    return text, os.environ[text]
