# SPDX-License-Identifier: Apache-2.0
"""``afterglow launch``: hosts, checks, what is printed, exit statuses."""

import stat
import subprocess
import sys

import pytest
from support import run_child

from afterglow.distributed.hosts import HostsError, deal, read_hosts
from afterglow.distributed.process_manager import _mapping
from tests.distributed.ranks import environment, launch, needs_mpi, write


@pytest.mark.parametrize(
    ("hosts", "ranks", "wanted"),
    [
        (None, 3, "localhost localhost localhost"),
        (None, None, "localhost"),
        ("a,b:2", None, "a b b"),
        ("a,b:2", 4, "a a b b"),
        ("a,b,c", 5, "a a b b c"),
    ],
)
def test_ranks_are_dealt_to_hosts(hosts, ranks, wanted):
    assert deal(read_hosts(hosts, None), ranks) == wanted.split()


def test_files_of_hosts(tmp_path):
    file = tmp_path / "hosts"
    file.write_text("# ours\na slots=2\n\nb:1  # small\n")
    assert deal(read_hosts(None, str(file)), None) == ["a", "a", "b"]


@pytest.mark.parametrize(
    ("hosts", "ranks"), [("a:x", None), ("a,a", None), ("a:2", 3), ("a,b", 1), ("", 0), (":2", 2)]
)
def test_hosts_that_make_no_sense(hosts, ranks):
    with pytest.raises(HostsError):
        deal(read_hosts(hosts or "a", None), ranks)


def test_which_ranks_share_a_machine():
    assert _mapping(["a", "a", "b"]) == "(vector,(0,1,2),(1,1,1))"


def command(*words, **variables):
    return subprocess.run(
        [sys.executable, "-m", "afterglow", "launch", *words],
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_what_fails_is_told_before_the_start(tmp_path):
    missing = command("-n", "2", str(tmp_path / "nowhere.py"))
    assert missing.returncode == 2
    assert "nowhere.py is missing" in missing.stderr
    assert "how to mend it" in missing.stderr
    asked = command("--hosts", "a,a", "x.py")
    assert asked.returncode == 2
    assert "a is named twice" in asked.stderr
    refused = command("--launcher", "yarn", "x.py")
    assert refused.returncode == 2
    assert "--hosts" in refused.stderr


@needs_mpi
def test_statuses_and_prefixes(tmp_path):
    file = write(
        tmp_path,
        """
        print("to the one", flush=True)
        print("to the other", file=sys.stderr, flush=True)
        print(os.environ["DMLC_ROLE"], os.environ["DMLC_NUM_WORKER"], os.environ["SEEN"])
        sys.exit(7 if rank == 1 else 0)
        """,
    )
    outcome = launch(2, file, options=("-s", "2", "--launcher", "local", "--env", "SEEN:yes"))
    assert outcome.status == 7
    assert outcome.of(0) == outcome.of(1) == ["to the one", "worker 2 yes"]
    assert "to the other" in outcome.errors_of(0)
    assert "there are no servers" in outcome.err


@needs_mpi
def test_other_machines_by_what_stands_for_ssh(tmp_path):
    """The command that is given for ssh runs here what it was asked to run on another machine."""
    ssh = tmp_path / "ssh"
    ssh.write_text(
        '#!/bin/sh\nif [ "$1" = nobody ]; then echo refused >&2; exit 255; fi\n'
        'shift; exec sh -c "$*"\n'
    )
    ssh.chmod(ssh.stat().st_mode | stat.S_IXUSR)
    file = write(tmp_path, "print(hvd.allreduce(nd.ones((2,)), False).asnumpy())")
    words = ("--ssh", str(ssh), "--python", sys.executable)
    outcome = subprocess.run(
        [sys.executable, "-m", "afterglow", "launch", "--hosts", "one,two", *words, str(file)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert sorted(outcome.stdout.splitlines()) == ["[0] [2. 2.]", "[1] [2. 2.]"]
    failed = command("--hosts", "localhost,nobody", *words, str(file))
    assert failed.returncode == 2
    assert "nobody" in failed.stderr
    assert "refused" in failed.stderr


def test_alone_mpi_is_not_needed():
    code = """
    sys.modules["mpi4py"] = None
    from afterglow import distributed as hvd
    print(hvd.size(), hvd.allreduce(mx.nd.ones((1,))).asscalar())
    os.environ["AFTERGLOW_GROUP"] = "0 2 0 2 127.0.0.1:1 x"
    try:
        from afterglow.distributed.collectives import import_mpi
        import_mpi()
    except mx.MXNetError as error:
        print(error)
    """
    out = run_child(code).out
    assert out.startswith("1 1.0")
    assert "pip install 'afterglow[mpi]'" in out


def test_a_process_that_misses_its_group_says_so():
    code = "from afterglow import distributed as hvd\nhvd.init()"
    child = run_child(code, DMLC_NUM_WORKER="4")
    assert "DMLC_NUM_WORKER=4, but this process was started alone" in child.err
