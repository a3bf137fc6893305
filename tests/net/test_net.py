# SPDX-License-Identifier: Apache-2.0
"""The net tells every sort of change, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import afterglow as mx
from net import errors, names
from net.__main__ import lines, main
from net.comparison import Difference, differences, told
from net.lines import Line, read, write
from net.tables import RECORDS

RECORD = next(record for record in RECORDS if record.name == "nd.square")


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return what a recording of one function says, perhaps with another in its place."""

    def run(function: Any = mx.nd.square) -> Any:
        monkeypatch.setitem(RECORD.__dict__, "function", function)
        monkeypatch.setattr(mx.nd, "square", function)
        write(tmp_path / "lines.txt", lines("^nd.square$"))
        return read(tmp_path / "lines.txt")

    return run


def changes(before: Any, after: Any) -> Counter[tuple[str, str]]:
    return Counter((one.kind, one.what) for one in differences(before, after))


def test_the_same_twice(recorded: Callable[..., Any]) -> None:
    before = recorded()
    assert len(before) > 90
    ways = ("value", "gradient", "second gradient", "hybridized", "symbol", "method", "out")
    for way in ways:
        assert ("bits", "nd.square", f"(3x4) float32 {way}") in before
    assert changes(before, recorded()) == {}


def test_other_bits(recorded: Callable[..., Any]) -> None:
    """Half of the values, and values that differ by what rounding may be."""
    original, before = mx.nd.square, recorded()

    def by_a_bit(data: Any, out: Any = None, name: Any = None) -> Any:
        return original(data, out=out, name=name) * (1 + 2**-22)

    def by_half(data: Any, out: Any = None, name: Any = None) -> Any:
        return original(data, out=out, name=name) / 2

    key = ("bits", "nd.square", "(3x4) float32 value")
    for function, what in ((by_a_bit, "last bits"), (by_half, "values")):
        found = {one[:3]: one.what for one in differences(before, recorded(function))}
        assert found[key] == what
        assert found[*key[:2], "(3x4) float32 second gradient"] == what


def test_another_gradient(recorded: Callable[..., Any]) -> None:
    original, before = mx.nd.square, recorded()

    def constant(data: Any, out: Any = None, name: Any = None) -> Any:
        return mx.nd.BlockGrad(original(data, out=out, name=name))

    found = {one.case: one.what for one in differences(before, recorded(constant))}
    assert "(3x4) float32 value" not in found
    assert "(3x4) float32 gradient" in found
    assert "(3x4) float32 hybridized" in found


def test_another_error(recorded: Callable[..., Any]) -> None:
    original, before = mx.nd.square, recorded()

    def raising(kind: type[Exception], text: str) -> Any:
        def function(data: Any, out: Any = None, name: Any = None) -> Any:
            if not isinstance(data, mx.nd.NDArray):
                raise kind(text)
            return original(data, out=out, name=name)

        return function

    case = ("errors", "nd.square", "array 0 is text")
    for kind, what in ((mx.error.ArgumentError, "text of the error"), (OSError, "class of the")):
        found = {one[:3]: one.what for one in differences(before, recorded(raising(kind, "no")))}
        assert found[case].startswith(what)
    taken = recorded(lambda data, out=None, name=None: mx.nd.zeros((2,)))
    assert {one[:3]: one.what for one in differences(before, taken)}[case] == "answers now"


def test_texts_do_not_depend_on_lines_and_places(recorded: Callable[..., Any]) -> None:
    def function(line: int) -> Any:
        def fails(data: Any) -> Any:
            text = f"[square] at {Path(__file__)}:{line} line {line}, <object at {line:#x}>"
            raise mx.MXNetError(f"{text}\n  issued at x.py:{line} in f")

        return fails

    first = recorded(function(7))
    assert changes(first, recorded(function(19))) == {}
    text = first["bits", "nd.square", "(3x4) float32 value"]
    where = "tests/net/test_net.py:... line ..., <object at 0x...>"
    assert text == f"MXNetError/RuntimeError: [square] at {where}"


def test_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def run() -> Any:
        write(tmp_path / "names.txt", names.lines(lambda path: path == "nd"))
        return read(tmp_path / "names.txt")

    before = run()

    def other(data: Any, out: Any = 1, name: Any = None) -> Any:
        """Every element times itself, and more."""

    monkeypatch.setattr(mx.nd, "square", other)
    monkeypatch.delattr(mx.nd.NDArray, "tile")
    monkeypatch.setattr(mx.nd, "__all__", [*mx.nd.__all__, "np"])
    (square,) = (one for one in differences(before, run()) if one.case == "square")
    assert square.what == "parameters and annotations and documentation"
    assert changes(before, run()) == {
        ("names", square.what): 1,
        ("names", "gone"): 1,
        ("names", "new"): 1,
    }


def test_random_numbers_and_new_memory_are_no_differences() -> None:
    for name in ("nd.random.normal", "np.empty_like"):
        first, second = (list(errors.lines(name.__eq__)) for _ in range(2))
        assert len(first) > 10
        assert first == second


def test_cases_of_one_name_are_counted(tmp_path: Path) -> None:
    same = [Line("bits", "f", "case", outcome) for outcome in ("1", "2")]
    assert write(tmp_path / "lines.txt", iter(same)) == {"bits": 2}
    assert read(tmp_path / "lines.txt") == {
        ("bits", "f", "case"): "1",
        ("bits", "f", "case #2"): "2",
    }


def test_report() -> None:
    found = [Difference("bits", "f", str(number), "values", "1", "2") for number in range(5)]
    text = list(told(found, Counter(bits=9, names=3), 2))
    assert text[:2] == ["bits: 9 lines, 5 differ: 5 values", "names: 3 lines, 0 differ"]
    assert text[3] == "bits f: 5 values"
    assert text[4:7] == ["    0: values", "      - 1", "      + 2"]
    assert text[-1] == "    and 3 more"


def test_what_many_functions_share_is_told_once() -> None:
    found = [
        Difference("errors", f"nd.{name}", "x", "text of the error", f"E: {name}() 2", f"E: {name}")
        for name in ("exp", "log", "sin", "cos", "tan")
    ]
    text = list(told(found, Counter(errors=9), 2))
    assert text[2:5] == ["5 lines, text of the error", "      - E: NAME# #", "      + E: NAME"]


def test_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "lines.txt"

    def run(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["net", *words, "--only", "^nd.square$"])
        return main()

    assert run("record", str(file)) == 0
    assert run("compare", str(file)) == 0
    assert "bits" in capsys.readouterr().out
    file.write_text(file.read_text().replace("12", "13", 1))
    assert run("compare", str(file)) == 1
    assert "1 differ" in capsys.readouterr().out
    assert run("compare", str(file), "--but", ": .*") == 0


def test_times() -> None:
    words = ["-m", "tests.net", "time", "--rounds", "1", "--only", r"^x \+ 1"]
    done = subprocess.run(
        [sys.executable, *words, "--against", sys.executable],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    title, row = done.stdout.splitlines()
    assert title.split()[-4:] == ["there", "here/there", "middle", "half"]
    assert row.startswith("x + 1 ")
    assert float(row.split()[3].replace(",", "")) > 0
