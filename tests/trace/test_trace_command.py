# SPDX-License-Identifier: Apache-2.0
"""afterglow trace FILE, and afterglow run --trace: a page of what a program did."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import environment, run_command

from afterglow.cli import main

CHAPTER = """\
# A chapter

```python
from mxnet import nd
x = nd.ones((50, 50))
y = nd.dot(x, x)
```

```python
y.asnumpy()[0, 0]
```
"""


def test_page_events_and_tables(tmp_path: Path) -> None:
    (tmp_path / "chapter.md").write_text(CHAPTER)
    done = run_command("trace", "--events", "events.json.gz", "chapter.md", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "50.0" in done.stdout
    assert "chapter.md:10" in done.stderr  # the line that waited
    assert str(tmp_path / "chapter-trace.html") in done.stderr
    page = (tmp_path / "chapter-trace.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    with gzip.open(tmp_path / "events.json.gz", "rt") as file:
        events = json.load(file)["traceEvents"]
    assert any(event["name"] == "dot" and event["ph"] == "X" for event in events)


def test_a_program_that_fails_is_shown_too(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import sys\nfrom mxnet import nd\nnd.exp(nd.ones((2,))).wait_to_read()\n"
        "assert sys.argv[1:] == ['--rows', '7']\nsys.exit(5)\n"
    )
    words = ("trace", "--output", "out.html", "program.py", "--rows", "7")
    done = run_command(*words, folder=tmp_path)
    assert done.returncode == 5, done.stderr
    assert "exp" in done.stderr
    assert (tmp_path / "out.html").exists()


def test_run_writes_the_page_as_well(tmp_path: Path) -> None:
    (tmp_path / "chapter.md").write_text(CHAPTER)
    done = run_command("run", "--trace", "out.html", "chapter.md", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.html").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("trace", "missing.md"), "missing.md"),
        (("trace", "--output", "nowhere/out.html", "chapter.md"), "there is no folder"),
        (("trace", "--output", ".", "chapter.md"), "is a folder"),
        (("run", "--trace", "nowhere/out.html", "chapter.md"), "there is no folder"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    tmp_path: Path, words: tuple[str, ...], text: str
) -> None:
    (tmp_path / "chapter.md").write_text(CHAPTER)
    done = run_command(*words, folder=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert text in done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["chapter.md"]


@pytest.mark.parametrize("option", ["--rows", "--most-events"])
@pytest.mark.parametrize("number", ["0", "-3", "many"])
def test_numbers_must_be_positive(
    tmp_path: Path, option: str, number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["trace", option, number, str(tmp_path / "chapter.md")])
    assert stopped.value.code == 2
    assert f"{number!r} was given; a positive number is needed" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["trace", "run"])
def test_a_program_that_ends_the_recording_itself(tmp_path: Path, command: str) -> None:
    (tmp_path / "program.py").write_text(
        "from afterglow import nd, trace\nnd.ones((2,)).wait_to_read()\n"
        "print(len(trace.stop().calls['op']))\n"
    )
    words = ("trace",) if command == "trace" else ("run", "--trace", "out.html")
    done = run_command(*words, "program.py", folder=tmp_path)
    assert done.stdout.splitlines() == ["1"]
    assert "Traceback" not in done.stderr
    if command == "trace":
        assert done.returncode == 2
        assert done.stderr == ("afterglow trace: no page: the program ended the recording itself\n")


def test_a_page_that_can_no_longer_be_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "program.py").write_text("import os, sys\nos.rmdir('there')\nsys.exit(0)\n")
    done = run_command("trace", "--output", "there/out.html", "program.py", folder=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("afterglow trace: [Errno 2]")
    assert "0 calls" in done.stderr


def test_the_page_is_there_although_nobody_reads_the_tables(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("from mxnet import nd\nnd.ones((2,)).wait_to_read()\n")
    subprocess.run(
        ["sh", "-c", f"{sys.executable} -m afterglow trace program.py 2>&1 | true"],
        cwd=tmp_path,
        env=environment(),
        timeout=120,
        check=True,
    )
    assert (tmp_path / "program-trace.html").exists()


def test_a_forked_child_writes_no_page(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import os, sys\nfrom mxnet import nd\nx = nd.ones((2,)) + 1\n"
        "child = os.fork()\n"
        "if child:\n    assert os.waitpid(child, 0)[1] >> 8 == 7\n"
        "print(x.asnumpy()[0])\nsys.exit(0 if child else 7)\n"
    )
    done = run_command("trace", "program.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2.0", "2.0"]
    assert done.stderr.count("page: ") == 1


def test_the_page_is_named_after_the_program(tmp_path: Path) -> None:
    (tmp_path / "chapter.md").write_text(CHAPTER)
    for words in (("trace", "--output", "out.html"), ("run", "--trace", "out.html")):
        run_command(*words, "chapter.md", folder=tmp_path)
        page = (tmp_path / "out.html").read_text(encoding="utf-8")
        assert "<title>Trace of chapter.md</title>" in page
        (tmp_path / "out.html").unlink()
