# SPDX-License-Identifier: Apache-2.0
"""``afterglow bench``: real rows beside NumPy, and peers made up here, whose figures are known."""

from __future__ import annotations

import importlib
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import environment, run_command

from afterglow.cli import main
from afterglow.cli.bench import folder

#: Stands in for an interpreter: it says it has the library, then answers as ``{answer}`` says.
PRETENDER = """\
#!{python}
import json, os, sys, time
import numpy
print(json.dumps({{"version": "9"}}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    {answer}
    print(json.dumps(reply), flush=True)
"""


def bench(*words: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    return run_command("bench", *words, timeout=timeout)


MakePeer = Callable[[str], str]


@pytest.fixture
def pretender(tmp_path: Path) -> MakePeer:
    def make(answer: str) -> str:
        file = tmp_path / f"pretender{len(list(tmp_path.iterdir()))}"
        file.write_text(PRETENDER.format(python=sys.executable, answer=answer))
        file.chmod(0o755)
        return str(file)

    return make


def rows_of(file: Path) -> dict[str, Any]:
    return {row["name"]: row for row in json.loads(file.read_text())["rows"]}


def test_real_rows_beside_numpy(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    chosen = ["foundation/value", "arrays/sorting/sort/10", "memory/chain, own count"]
    words = [word for name in chosen for word in ("--rows", name)]
    done = bench(*words, "--rounds", "2", "--json", str(file))
    assert done.returncode == 0, done.stderr
    rows = rows_of(file)
    assert list(rows) == chosen
    for name, row in rows.items():
        assert row["failures"] == {}, name
        assert row["ours"] == "afterglow"
        best = {}
        for column, settings in row["samples"].items():
            for samples in settings.values():
                assert len(samples) == 2
                assert min(samples) > 0
            best[column] = min(sum(samples) / 2 for samples in settings.values())
            assert row["figures"][column]["median"] == pytest.approx(best[column])
        for column in set(best) - {"afterglow"}:
            times = row["figures"][column]["times_as_long"]
            assert times == pytest.approx(best[column] / best["afterglow"])
    # Peers run with both settings of malloc where large results are made, Afterglow as it is.
    assert set(rows["foundation/value"]["samples"]["numpy"]) == {"as it is", "thresholds off"}
    assert set(rows["foundation/value"]["samples"]["afterglow"]) == {"as it is"}
    assert set(rows["arrays/sorting/sort/10"]["samples"]["numpy"]) == {"as it is"}
    # A result is 2000 x 2000 numbers of four bytes, and the formula needs little more.
    memory = rows["memory/chain, own count"]
    assert memory["unit"] == "bytes"
    assert memory["samples"]["one result"]["as it is"] == [16e6] * 2
    assert 16e6 <= memory["figures"]["afterglow"]["median"] < 32e6
    assert "[1/" in done.stderr
    assert "foundation/value" in done.stderr


def test_networks_by_themselves_and_beside_onnx_runtime(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    file = tmp_path / "figures.json"
    chosen = [
        "networks/convolution 64,6,14,14 -> 16, 5",
        "networks/average pooling 2x2 of 64,64,32,32, backward",
        "networks/LeNet, hybridized",
        "networks/MobileNetV2 prediction, batch 1",
    ]
    words = [word for name in chosen for word in ("--rows", name)]
    done = bench(*words, "--rounds", "1", "--json", str(file))
    assert done.returncode == 0, done.stderr
    rows = rows_of(file)
    assert list(rows) == chosen
    for name, row in rows.items():
        assert row["failures"] == {}, name
        assert row["samples"]["afterglow"]["as it is"][0] > 0
    # Afterglow wrote its model, and both agree upon the answer.
    assert set(rows[chosen[-1]]["samples"]) == {"afterglow", "onnxruntime"}


def test_peers_that_are_well_fail_and_break_off(tmp_path: Path, pretender: MakePeer) -> None:
    answers = {
        "torch": 'reply = {"seconds": 0.25 if "GLIBC_TUNABLES" in os.environ else 0.5}',
        "mxnet": 'reply = {"error": "ValueError: no"} if "issue" in request["row"] '
        'else {"seconds": 1.0}',
        "jax": 'sys.exit("out of luck")',
    }
    file = tmp_path / "figures.json"
    done = bench(
        *("--rows", "foundation/issue_kept", "--rows", "foundation/value", "--rounds", "2"),
        *("--json", str(file)),
        *(f"--peer={name}={pretender(answer)}" for name, answer in answers.items()),
    )
    assert done.returncode == 0, done.stderr
    rows = rows_of(file)
    issue, value = rows["foundation/issue_kept"], rows["foundation/value"]
    # The better setting of malloc counts.
    assert issue["samples"]["torch"] == {"as it is": [0.5, 0.5], "thresholds off": [0.25, 0.25]}
    ours = statistics.median(issue["samples"]["afterglow"]["as it is"])
    assert issue["figures"]["torch"]["times_as_long"] == pytest.approx(0.25 / ours)
    assert "250 ms" in done.stdout
    assert json.loads(file.read_text())["versions"]["torch"] == "9"
    # A row that fails does not stop the others.
    assert issue["failures"]["mxnet"] == "ValueError: no"
    assert value["samples"]["mxnet"]["as it is"] == [1.0, 1.0]
    # Who breaks off is left out from then on.
    reason = "ended with status 1: out of luck"
    assert f"left out: jax: {reason} (in foundation/issue_kept)" in done.stderr
    assert reason in issue["failures"]["jax"]
    assert reason in value["failures"]["jax"]
    assert done.stdout.count("  jax                      -") == 2


def test_an_answer_that_does_not_come(pretender: MakePeer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(folder()))
    processes = importlib.import_module("processes")
    process = processes.Process(pretender("time.sleep(60)"), "torch", timeout=60)
    assert process.ready() == {"version": "9"}
    process.timeout = 0.1
    with pytest.raises(processes.GoneError, match=r"no answer within 0\.1 s"):
        process.ask(row="foundation/value", column="torch")
    process.close()
    assert process.process.returncode == -9


def test_who_answers_nonsense_is_left_out(pretender: MakePeer) -> None:
    nonsense = pretender('reply = 0; print("Loading ...", flush=True)')
    done = bench("--rows", "foundation/value", "--rounds", "1", "--peer", f"torch={nonsense}")
    assert done.returncode == 0, done.stderr
    assert "left out: torch: answered b'Loading ...\\n', not a worker's JSON" in done.stderr
    assert "foundation/value" in done.stdout


def test_values_that_differ_are_not_timed(tmp_path: Path, pretender: MakePeer) -> None:
    answer = (
        'reply = {"seconds": 1.0}\n'
        '    if "file" in request: numpy.save(request["file"], numpy.zeros(10))'
    )
    file = tmp_path / "figures.json"
    bench(
        *("--rows", "arrays/sorting/sort/10", "--rounds", "1"),
        *("--peer", f"torch={pretender(answer)}", "--json", str(file)),
    )
    row = rows_of(file)["arrays/sorting/sort/10"]
    assert "differ" in row["failures"]["torch"]
    assert "numpy" in row["samples"]


def test_a_library_that_cannot_be_imported_is_left_out(tmp_path: Path) -> None:
    interpreter = tmp_path / "bare"
    interpreter.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    interpreter.chmod(0o755)
    done = bench("--rows", "training/many", "--rounds", "1", "--peer", f"torch={interpreter}")
    assert done.returncode == 0, done.stderr
    assert "left out: torch: ModuleNotFoundError: No module named 'torch'" in done.stderr
    assert "training/many" in done.stdout
    assert "torch" not in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--peer", "torch"), "NAME=INTERPRETER is needed"),
        (("--peer", "tensorflow=python"), "NAME one of numpy, torch"),
        (("--peer", "torch=/no/such/python"), "there is no program '/no/such/python'"),
        (("--group", "speed"), "there is no such group; foundation"),
        (("--rows", "no such row"), "no row was chosen; --list names them"),
        (("--rounds", "0"), "at least 1 is needed"),
        (("--timeout", "nan"), "a positive number is needed"),
        (("--timeout", "-1"), "a positive number is needed"),
        (("--json", "/no/such/folder/x.json"), "there is no folder /no/such/folder"),
        (("--json", "/"), "it is a folder; a file is needed"),
        (("--chart", "/"), "it is a folder; a file is needed"),
        (("--from", "/no/such.json"), "is no file of results"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(["bench", *words])
    except SystemExit as stopped:  # argparse's way
        status = stopped.code
    assert status == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_the_list_names_every_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    groups = {line[2:].split("/")[0] for line in lines[:-1]}
    assert {"foundation", "window", "latency", "threads", "arrays", "training"} <= groups
    assert {"memory", "hybridize", "networks"} <= groups
    assert sum(line.startswith("*") for line in lines[:-1]) == 16


def test_files_of_groups_are_commands() -> None:
    done = subprocess.run(
        [sys.executable, str(folder() / "training.py"), "--rows", "many", "--rounds", "1"],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(),
        check=True,
    )
    assert "training/many" in done.stdout


def test_rows_load_without_the_libraries() -> None:
    """Workers load them under interpreters that have one library each."""
    script = """
    import sys
    sys.modules.update(dict.fromkeys(["afterglow", "torch", "jax", "mxnet", "onnxruntime"]))
    sys.path.insert(0, sys.argv[1])
    import importlib, bench
    names = [row.name for group in bench.GROUPS for row in importlib.import_module(group).ROWS]
    assert len(set(names)) == len(names)
    for group in bench.GROUPS:
        assert all(row.name.startswith(group + "/") for row in importlib.import_module(group).ROWS)
    print(len(names))
    """
    lines = "\n".join(line.removeprefix("    ") for line in script.splitlines())
    done = subprocess.run(
        [sys.executable, "-c", lines, str(folder())], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 300


def test_the_folder_inside_an_installed_package(tmp_path: Path) -> None:
    package = tmp_path / "afterglow"
    (package / "cli").mkdir(parents=True)
    (package / "benchmarks").mkdir()
    (package / "benchmarks" / "bench.py").touch()
    source = Path(sys.modules[folder.__module__].__file__ or "")
    (package / "cli" / "bench.py").write_text(source.read_text())
    script = "import sys; sys.path.insert(0, sys.argv[1]); import bench; print(bench.folder())"
    done = subprocess.run(
        [sys.executable, "-c", script, str(package / "cli")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()) == package / "benchmarks"
