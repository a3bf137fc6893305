# SPDX-License-Identifier: Apache-2.0
"""What ``afterglow bench`` makes of samples: figures, tables, JSON and the chart."""

from __future__ import annotations

import importlib
import math
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import numpy as onp
import pytest

from afterglow.cli import main
from afterglow.cli.bench import folder

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(folder()))
    return importlib.import_module("results")


def made(results: ModuleType, name: str = "training/large", **columns: list[float]) -> Any:
    goal = sys.modules["rows"].Goal
    return results.Result(
        name=name,
        text=f"text of `{name}`",
        unit="seconds",
        readme=True,
        ours="afterglow",
        samples={key.replace("_", "."): {"as it is": list(some)} for key, some in columns.items()},
        failures={"mxnet": "OSError: gone"},
        goals=[goal(0.5, ("torch",)), goal(2.0, ("torch", "jax.jit"), 0.5)],
        notes={},
    )


def test_figures_are_medians_and_quartiles(results: ModuleType) -> None:
    samples = list(onp.random.default_rng(5).uniform(1, 2, 9))
    result = made(results, afterglow=samples, torch=[4.0, 2.0])
    assert result.median("afterglow") == pytest.approx(onp.median(samples))
    assert result.spread("afterglow") == pytest.approx(tuple(onp.percentile(samples, [25, 75])))
    assert result.spread("torch") == pytest.approx((2.5, 3.5))
    assert result.times_as_long("torch") == pytest.approx(3 / onp.median(samples))
    assert result.times_as_long("afterglow") is None


def test_a_goal_is_beside_the_least_of_its_columns(results: ModuleType) -> None:
    result = made(results, afterglow=[1.0], torch=[1.5], jax_jit=[0.2])
    verdicts = [(goal.ratio, column, met) for goal, column, met in result.verdicts()]
    assert verdicts == [(0.5, "torch", False), (2.0, "jax.jit", False)]
    slower = made(results, afterglow=[0.7], torch=[1.5], jax_jit=[0.2])
    assert [met for _, _, met in slower.verdicts()] == [True, True]
    alone = made(results, afterglow=[0.7])
    assert list(alone.verdicts()) == []


def test_json_comes_back_as_it_was(results: ModuleType, tmp_path: Path) -> None:
    first = made(results, afterglow=[1.0, 2.0], torch=[3.0, 5.0])
    other = made(results, "training/small", afterglow=[1.0])
    again = made(results, afterglow=[7.0])
    for number, some in enumerate(([first, other], [again])):
        results.write(tmp_path / f"{number}.json", some, {"torch": f"{number}"}, {"jax": "why"})
    found, versions, left_out = results.read([tmp_path / "0.json"])
    assert found == [first, other]
    found, versions, left_out = results.read([tmp_path / "0.json", tmp_path / "1.json"])
    assert found == [again, other]
    assert (versions, left_out) == ({"torch": "1"}, {"jax": "why"})


def test_what_cannot_be_written_is_printed_all_the_same(
    results: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    results.write(file, [made(results, afterglow=[1.0], torch=[2.0])], {"torch": "1"}, {})
    assert main(["bench", "--from", str(file), "--json", "/dev/full"]) == 2
    printed = capsys.readouterr()
    assert "training/large" in printed.out
    assert printed.err.startswith("afterglow bench: [Errno 28]")
    assert len(printed.err.splitlines()) == 1


def test_the_table_for_the_readme(
    results: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        made(results, afterglow=[1.25e-3], torch=[3e-6], jax_jit=[0.0999]),
        made(results, "training/small", afterglow=[42e-9], numpy=[2.52e-7]),
    ]
    results.write(tmp_path / "x.json", rows, {"mxnet": "1.9.1"}, {})
    assert main(["bench", "--readme", "--from", str(tmp_path / "x.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "| | Afterglow | NumPy | PyTorch | JAX |",
        "|---|---|---|---|---|",
        "| text of `training/large` | 1.25 ms |  | 0.0024 x | 80 x |",
        "| text of `training/small` | 42.0 ns | 6.0 x |  |  |",
    ]


def test_the_tables_for_the_terminal(
    results: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [made(results, afterglow=[0.5, 0.7, 0.6], torch=[1.0], jax_jit=[0.5])]
    results.write(tmp_path / "x.json", rows, {}, {"torch.compile": "it broke"})
    assert main(["bench", "--from", str(tmp_path / "x.json")]) == 0
    shown = capsys.readouterr()
    words = [" ".join(line.split()) for line in shown.out.splitlines()]
    assert "afterglow 600 ms 550 ms .. 650 ms" in words
    assert "torch 1.00 s 1.00 s .. 1.00 s 1.67 x goal: we take at most 500 ms: MISSED" in words
    assert "jax.jit 500 ms 500 ms .. 500 ms 0.833 x goal: we take at most 1.50 s: met" in words
    assert "mxnet - OSError: gone" in words
    assert "text of training/large 1.7 x 0.83 x" in words
    assert "training: 1 of 2 goals met" in words
    assert "left out: torch.compile: it broke" in shown.err


def test_the_chart_draws_ratios_on_a_logarithmic_axis(
    results: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        made(results, afterglow=[1.0], torch=[10.0], numpy=[1000.0], jax_jit=[0.1]),
        made(results, "window/x < y & z", **{"passes on": [1.0]}),
        made(results, "window/a < b & c", afterglow=[2.0], numpy=[20.0]),
    ]
    rows[1].ours = "passes on"
    results.write(tmp_path / "x.json", rows, {}, {})
    file = tmp_path / "x.svg"
    assert main(["bench", "--from", str(tmp_path / "x.json"), "--chart", str(file)]) == 0
    capsys.readouterr()
    root = ElementTree.parse(file).getroot()
    bars: dict[str, list[ElementTree.Element]] = {}
    for rectangle in root.iter(f"{SVG}rect"):
        if rectangle.find(f"{SVG}title") is not None:
            bars.setdefault(rectangle.attrib["class"], []).append(rectangle)
    widths = {name: [float(bar.attrib["width"]) for bar in some] for name, some in bars.items()}
    assert set(widths) == {"torch", "numpy", "jax-jit"}
    decade = widths["torch"][0]
    assert widths["numpy"] == pytest.approx([3 * decade, decade], abs=0.2)
    assert widths["jax-jit"] == pytest.approx([decade], abs=0.2)
    (one,) = [line for line in root.iter(f"{SVG}line") if line.attrib["class"] == "one"]
    start = float(one.attrib["x1"])
    assert float(bars["torch"][0].attrib["x"]) == pytest.approx(start, abs=0.2)
    assert float(bars["jax-jit"][0].attrib["x"]) == pytest.approx(start - decade, abs=0.2)
    width = float(root.attrib["width"])
    assert all(start + part <= width for some in widths.values() for part in some)
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert "text of window/a < b & c" in texts
    assert not any("passes on" in text for text in texts)
    style = "".join(root.find(f"{SVG}style").itertext())  # type: ignore[union-attr]
    assert "prefers-color-scheme: dark" in style
    named = set(re.findall(r"\.([a-z-]+)\{fill", style))
    assert set(widths) <= named


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.0123456, "0.0123"), (123456.0, "123456"), (9.999, "10.0"), (0.0, "0"), (math.inf, "inf")],
)
def test_numbers_have_so_many_digits(results: ModuleType, number: float, text: str) -> None:
    assert results.significant(number, 3) == text


def test_seconds_have_the_unit_that_suits_them(results: ModuleType) -> None:
    assert results.readable(999.6e-9) == "1.00 us"
    assert results.readable(0.0421) == "42.1 ms"
    assert results.readable(17e6, "bytes") == "17.0 MB"
