# SPDX-License-Identifier: Apache-2.0
"""afterglow info: what a report of a problem should say, for people and for programs."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from support import environment

import afterglow as mx
from afterglow import _core
from afterglow._package import machine as _machine
from afterglow.cli import main


def info_of(*words: str, before: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, after some statements."""
    code = f"import os, sys\n{before}\nfrom afterglow.cli import main\nsys.exit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-c", code, "info", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(**settings),
        check=False,
    )


def facts_of(before: str = "", **settings: str) -> dict[str, Any]:
    done = info_of("--json", before=before, **settings)
    assert done.returncode == 0, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def test_facts() -> None:
    facts = facts_of()
    assert facts["versions"]["python"].startswith(platform.python_version())
    assert facts["versions"]["numpy"] == onp.__version__
    assert facts["versions"]["mxnet_api"] == "1.9.1"
    assert facts["versions"]["afterglow"] == mx.version.version()
    assert facts["versions"]["openblas"].startswith("OpenBLAS ")
    assert facts["machine"]["instruction_set_in_use"] == mx.engine.instruction_set()
    assert facts["machine"]["processors"] == os.cpu_count()
    assert facts["machine"]["usable_processors"] == len(os.sched_getaffinity(0))
    assert facts["engine"]["type"] == "threaded"
    assert facts["engine"]["passes_off"] == []
    assert facts["engine"]["run_ahead_time_seconds"] == 10
    assert facts["memory"]["limit_bytes"] is None
    assert facts["memory"]["active_bytes"] == 0
    for path in facts["files"].values():
        assert Path(path).exists()
    assert facts["files"]["core"] == _core.__file__


def test_settings_are_seen() -> None:
    facts = facts_of(
        "import afterglow as mx; mx.memory.set_limit(3 << 30)",
        AFTERGLOW_RUN_AHEAD_SECONDS="inf",
        AFTERGLOW_DISABLE_PASSES="fuse",
        AFTERGLOW_NUM_THREADS="7",
        MXNET_HOME="/somewhere",
    )
    assert facts["engine"]["thread_limit"] == 7
    assert facts["engine"]["limit_set_by"] == "AFTERGLOW_NUM_THREADS"
    assert facts["engine"]["passes_off"] == ["fuse"]
    assert facts["engine"]["run_ahead_time_seconds"] is None
    assert facts["memory"]["limit_bytes"] == 3 << 30
    assert facts["environment"]["MXNET_HOME"] == {
        "value": "/somewhere",
        "effect": "where files that are fetched are kept: trained models in models, data in "
        "datasets, vectors of words in embeddings; read when one is asked for",
    }
    assert set(facts["environment"]) >= {"AFTERGLOW_NUM_THREADS", "AFTERGLOW_DISABLE_PASSES"}


@pytest.mark.parametrize(
    ("before", "settings", "why", "limit"),
    [
        ("", {"AFTERGLOW_ENGINE": "serial"}, "the engine is serial", None),
        ("", {"OMP_NUM_THREADS": "1", "AFTERGLOW_NUM_THREADS": "x"}, "OMP_NUM_THREADS", 1),
        (
            "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); os.cpu_count = lambda: 2",
            {"MXNET_CPU_WORKER_NTHREADS": "4000", "OMP_NUM_THREADS": "1"},
            "affinity: 1 of 2 processors",
            1,
        ),
    ],
    ids=["serial", "OMP", "affinity"],
)
def test_what_limits_the_threads(
    before: str, settings: dict[str, str], why: str, limit: int | None
) -> None:
    engine = facts_of(before, **settings)["engine"]
    assert engine["limit_set_by"] == why
    assert limit is None or engine["thread_limit"] == limit


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/", {}, None),
        ("0::/", {"cpu.max": "max 100000"}, None),
        ("0::/", {"cpu.max": "150000 100000"}, 1.5),
        ("0::/a/b", {"a/cpu.max": "200000 100000", "a/b/cpu.max": "max 100000"}, 2),
        ("0::/a/b", {"a/cpu.max": "200000 100000", "a/b/cpu.max": "50000 100000"}, 0.5),
        ("0::/not/seen", {"cpu.max": "300000 100000"}, 3),
        (
            "5:memory:/m\n4:cpu,cpuacct:/a",
            {
                "cpu,cpuacct/a/cpu.cfs_quota_us": "400000",
                "cpu,cpuacct/a/cpu.cfs_period_us": "100000",
                "cpu,cpuacct/cpu.cfs_quota_us": "-1",
                "cpu,cpuacct/cpu.cfs_period_us": "100000",
            },
            4,
        ),
        ("nonsense", {"cpu.max": "1 1"}, None),
    ],
)
def test_control_groups(
    tmp_path: Path, groups: str, files: dict[str, str], expected: float | None
) -> None:
    contents = {"proc/self/cgroup": groups + "\n"}
    contents |= {f"sys/fs/cgroup/{name}": text + "\n" for name, text in files.items()}
    for name, text in contents.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert _machine.quota(str(tmp_path)) == expected


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == [
        "versions",
        "machine",
        "engine",
        "memory",
        "files",
        "environment",
    ]
    facts = [line.strip() for line in lines]
    assert f"instruction set in use  {mx.engine.instruction_set()}" in facts
    assert "run ahead all   1 GiB" in facts
    assert "run ahead held  8 MiB" in facts
    assert "limit   no limit" in facts


def test_products_that_do_not_work_are_told() -> None:
    facts = facts_of("import afterglow; afterglow._core.set_blas_path('/not/there.so')")
    assert facts["versions"]["openblas"].startswith("does not work: ")
    assert "/not/there.so" in facts["versions"]["openblas"]


def test_odd_values_of_variables() -> None:
    settings = {"AFTERGLOW_NOTE": "\u6570", "AFTERGLOW_ENGINE": "", "PYTHONIOENCODING": "ascii"}
    done = info_of(**settings)
    assert done.returncode == 0, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[lines.index(r"AFTERGLOW_NOTE=\u6570") + 1] == "is unknown"
    assert lines[lines.index("AFTERGLOW_ENGINE=") + 1] == "is empty: nothing is asked for"
    assert "type            threaded" in lines
    told = json.loads(info_of("--json", **settings).stdout)["environment"]
    assert told["AFTERGLOW_NOTE"] == {"value": "\u6570", "effect": "is unknown"}


def test_without_a_command_the_commands_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert all(f"\n    {name} " in err for name in ("tour", "run", "trace", "bench", "info"))


def test_bad_arguments() -> None:
    done = info_of("--yaml")
    assert done.returncode == 2
    assert "there is no --yaml" in done.stderr
    assert "Traceback" not in done.stderr


def test_sizes_and_features() -> None:
    flags = Path("/proc/cpuinfo").read_text().split()
    assert _machine.features() == [name for name in _machine.features() if name in flags]
    memory = _machine.available_memory()
    assert memory is not None
    total, available = memory
    assert 0 < available < total
    assert total == pytest.approx(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), rel=0.1)
