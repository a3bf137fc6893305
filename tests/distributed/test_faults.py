# SPDX-License-Identifier: Apache-2.0
"""A rank that dies, stops or is cut off: every other one raises the same in time, nothing stays."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.distributed.ranks import (
    TIMEOUT,
    end,
    environment,
    is_running,
    line_of,
    needs_mpi,
    start,
    write,
)

pytestmark = needs_mpi

_LOOP = """
    hvd.barrier()
    print(os.getpid(), flush=True)
    x = nd.ones((1000,))
    try:
        while True:
            x = hvd.allreduce(x, name="gradient")
            x.wait_to_read()
            time.sleep(0.01)
    except mx.MXNetError as error:
        print(f"{time.time()} {str(error).splitlines()[0]}", flush=True)
        sys.exit(3)
    """


def read_pids(process, ranks):
    """Return the processes that ranks told of, and the lines so far."""
    pids = {}
    while len(pids) < ranks:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        rank, pid = line[1:].split("] ")
        pids[int(rank)] = int(pid)
    return pids


def end_of(pids, seconds=10.0):
    """Wait until none of the processes is there."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and any(map(is_running, pids)):
        time.sleep(0.05)
    return [pid for pid in pids if is_running(pid)]


@pytest.mark.parametrize(
    ("number", "ranks", "wanted"),
    [(signal.SIGKILL, 4, "was ended by SIGKILL"), (signal.SIGSTOP, 2, "is stopped, or cut off")],
    ids=["killed", "stopped"],
)
def test_the_others_name_a_rank_that_is_lost(tmp_path, number, ranks, wanted):
    file = write(tmp_path, _LOOP)
    process = start(ranks, file, AFTERGLOW_RANK_TIMEOUT=str(TIMEOUT))
    pids = read_pids(process, ranks)
    time.sleep(0.3)
    at = time.time()
    os.kill(pids[1], number)
    outcome = end(process)
    said = []
    for rank in set(range(ranks)) - {1}:
        when, text = outcome.of(rank)[0].split(" ", 1)
        # Not a measurement: what is promised, and room for a busy machine.
        assert float(when) - at < TIMEOUT + 3
        said.append(text.partition("; inputs")[0])
    assert len(set(said)) == 1
    assert f"rank 1 on {os.uname().nodename} (process {pids[1]})" in said[0]
    assert wanted in said[0]
    assert "while allreduce gradient (1000,) float32 (collective" in said[0]
    assert line_of(file, "hvd.allreduce") in said[0]
    assert outcome.status == (128 + signal.SIGKILL if number == signal.SIGKILL else 3)
    assert not end_of(pids.values())


def test_interrupting_the_launcher_ends_all_ranks(tmp_path):
    file = write(tmp_path, "print(os.getpid(), flush=True)\nwhile True: time.sleep(1)")
    process = start(2, file)
    pids = read_pids(process, 2)
    process.send_signal(signal.SIGINT)
    outcome = end(process)
    assert outcome.status == 128 + signal.SIGINT
    assert not end_of(pids.values(), 0)


def test_ranks_end_when_the_launcher_is_killed(tmp_path):
    file = write(tmp_path, "print(os.getpid(), flush=True)\nwhile True: time.sleep(1)")
    process = start(2, file)
    pids = read_pids(process, 2)
    process.kill()
    process.communicate()
    assert not end_of(pids.values())


def test_ranks_of_other_launchers_watch_each_other(tmp_path):
    mpiexec = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    if not os.path.exists(mpiexec):
        pytest.skip("there is no mpiexec beside Python")
    file = write(
        tmp_path,
        """
        total = hvd.allreduce(nd.ones((3,)), average=False)
        print(total.asnumpy().tolist(), hvd.local_rank(), flush=True)
        if rank == 1:
            os._exit(0)
        try:
            hvd.allreduce(total).wait_to_read()
        except mx.MXNetError as error:
            print(str(error).splitlines()[0], flush=True)
        os._exit(0)
        """,
    )
    outcome = subprocess.run(
        [mpiexec, "-disable-auto-cleanup", "-n", "2", sys.executable, str(file)],
        env=environment(AFTERGLOW_RANK_TIMEOUT=str(TIMEOUT)),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert outcome.stdout.count("[2.0, 2.0, 2.0]") == 2, outcome.stderr
    assert "has ended, or was cut off" in outcome.stdout
