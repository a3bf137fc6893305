# SPDX-License-Identifier: Apache-2.0
"""What the command line says of words that it does not know, or that are not for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import run_command

from afterglow.cli import main


@pytest.mark.parametrize(
    ("words", "usage", "said"),
    [
        (["trcae", "x.py"], "afterglow", "there is no command 'trcae'; did you mean trace?"),
        (["qqq"], "afterglow", "there is no command 'qqq'; commands are tour, run, trace"),
        (["trace", "--outptu", "x", "y"], "afterglow trace", "did you mean --output?"),
        (["run", "--keepgoing", "x.py"], "afterglow run", "did you mean --keep-going?"),
        (["info", "--zzz"], "afterglow info", "there is no --zzz; see afterglow info --help"),
        (["run"], "afterglow run", "the following arguments are required: FILE"),
    ],
)
def test_a_word_that_is_not_known(
    words: list[str], usage: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"usage: {usage} [-h]")
    assert said in shown


@pytest.mark.parametrize("command", ["run", "trace"])
def test_an_option_behind_the_file_is_the_programs(tmp_path: Path, command: str) -> None:
    (tmp_path / "show.py").write_text("import json, sys; print(json.dumps(sys.argv[1:]))")
    words = ["--keep-going", "-x", "--help", "3"]
    done = run_command(command, "show.py", *words, folder=tmp_path)
    assert json.loads(done.stdout) == words
    said = f"afterglow {command}: --keep-going, --help behind FILE is given to the program"
    assert done.stderr.splitlines()[0].startswith(said)
    quiet = run_command(command, "show.py", "-x", folder=tmp_path)
    assert "behind FILE" not in quiet.stderr


def test_the_page_has_a_short_option(tmp_path: Path) -> None:
    (tmp_path / "nothing.py").write_text("")
    done = run_command("trace", "-o", "page.html", "nothing.py", folder=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "page.html").is_file()
