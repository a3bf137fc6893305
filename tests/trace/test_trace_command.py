# SPDX-License-Identifier: Apache-2.0
"""afterglow trace FILE, and afterglow run --trace: a page of what a program did."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import environment

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


def afterglow(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "afterglow", *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_page_events_and_tables(tmp_path: Path) -> None:
    (tmp_path / "chapter.md").write_text(CHAPTER)
    done = afterglow("trace", "--events", "events.json.gz", "chapter.md", folder=tmp_path)
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
    done = afterglow(*words, folder=tmp_path)
    assert done.returncode == 5, done.stderr
    assert "exp" in done.stderr
    assert (tmp_path / "out.html").exists()


def test_run_writes_the_page_as_well(tmp_path: Path) -> None:
    (tmp_path / "chapter.md").write_text(CHAPTER)
    done = afterglow("run", "--trace", "out.html", "chapter.md", folder=tmp_path)
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
    done = afterglow(*words, folder=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert text in done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["chapter.md"]
