# SPDX-License-Identifier: Apache-2.0
"""What notebooks show of values."""

from __future__ import annotations

import math
import re
from html import unescape
from typing import Any

import numpy as onp
import pytest
from support import raises_at_the_read

import afterglow as mx
from afterglow import gluon, nd, np


def rows_of(value: Any) -> list[list[str]]:
    """Return the cells of the table in what a notebook shows."""
    return [
        [unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", value._repr_html_())
    ]


@pytest.mark.parametrize("world", [nd, np])
@pytest.mark.parametrize("shape", [(3, 4), (9, 9), (5,), (1, 1), (2, 3, 4, 5)])
def test_a_small_array_is_shown_with_all_values(world: Any, shape: tuple[int, ...]) -> None:
    host = onp.random.randint(-9, 9, shape).astype("float32") / 4
    array = world.array(host)
    matrix = host[(0,) * max(0, host.ndim - 2)]
    shown = onp.array(rows_of(array), "float32")
    onp.testing.assert_array_equal(shown, onp.atleast_2d(matrix))
    assert f"{'x'.join(map(str, shape))} float32 @cpu(0)" in array._repr_html_()


def test_of_a_large_array_the_ends_are_shown() -> None:
    host = onp.arange(20.0 * 30).reshape(20, 30)
    html = nd.array(host, dtype="int64")._repr_html_()
    rows = rows_of(nd.array(host, dtype="int64"))
    ends = [0, 1, 2, 3, -4, -3, -2, -1]
    numbers = [[int(one) for one in row if one != "…"] for row in rows if row[0] != "⋮"]
    assert numbers == host[onp.ix_(ends, ends)].astype(int).tolist()
    assert "20x30 int64 @cpu(0), 4.80 kB" in html
    assert len(html) < 20_000


def test_arrays_without_values_and_without_axes() -> None:
    assert "<td" not in np.ones((0, 3))._repr_html_()
    assert "ndarray 0x3 float32" in np.ones((0, 3))._repr_html_()
    assert rows_of(np.array(2.5)) == [["2.5"]]
    assert rows_of(np.array([True, False], dtype="bool")) == [[" True", "False"]]


def test_numbers_have_few_digits() -> None:
    assert rows_of(nd.array([1 / 3, 2.0])) == [["0.3333", "2.    "]]
    with onp.printoptions(precision=2):
        assert rows_of(nd.array([1 / 3, 2.0])) == [["0.33", "2.  "]]


@raises_at_the_read
def test_a_failed_array_shows_its_error() -> None:
    array = np.linalg.cholesky(-np.eye(3))
    html = array._repr_html_()
    assert "ndarray 3x3 float32 @cpu(0), failed" in html
    assert "Matrix is not positive definite" in html
    assert "test_display.py" in html

    class Printer:
        text_so_far = ""

        def text(self, text: str) -> None:
            self.text_so_far += text

        def break_(self) -> None:
            self.text_so_far += "\n"

    printer = Printer()
    array._repr_pretty_(printer, False)
    assert printer.text_so_far.startswith("<ndarray 3x3 float32 @cpu(0), failed>\nArrayValueError:")
    with pytest.raises(mx.MXNetError):
        repr(array)
    good = Printer()
    np.ones((2, 2))._repr_pretty_(good, False)
    assert good.text_so_far == repr(np.ones((2, 2)))


def test_a_network_is_shown_with_its_parameters() -> None:
    net = gluon.nn.HybridSequential()
    inner = gluon.nn.HybridSequential()
    inner.add(gluon.nn.Dense(4, in_units=3), gluon.nn.Dropout(0.5))
    net.add(inner, gluon.nn.Dense(2))
    html = net._repr_html_()
    assert "HybridSequential, 18 parameters, and 1 whose shape the first batch tells" in html
    assert rows_of(net)[1:] == [
        ["0", "HybridSequential", ""],
        ["  0", "Dense(3 -> 4, linear)", "weight 4x3, bias 4"],
        ["  1", "Dropout(p = 0.5, axes=())", ""],
        ["1", "Dense(None -> 2, linear)", "weight 2x?, bias 2"],
    ]
    net.initialize()
    net(nd.ones((5, 3)))
    assert "HybridSequential, 26 parameters<" in net._repr_html_()


def test_shared_parameters_count_once_and_many_layers_are_cut() -> None:
    first = gluon.nn.Dense(3, in_units=3)
    net = gluon.nn.Sequential()
    net.add(first, *(gluon.nn.Dense(3, in_units=3, params=first.params) for _ in range(99)))
    assert "Sequential, 12 parameters<" in net._repr_html_()
    assert rows_of(net)[-1][0] == "… 40 more"


def test_parameters_without_axes_and_without_a_shape() -> None:
    class Odd(gluon.Block):
        def __init__(self) -> None:
            super().__init__()
            self.scale = gluon.Parameter("scale", shape=())
            self.open = gluon.Parameter("open", allow_deferred_init=True)

    assert rows_of(Odd())[1][2] == "scale (), open ?"
    assert "Odd, 1 parameters, and 1 whose shape the first batch tells" in Odd()._repr_html_()


def test_text_is_escaped() -> None:
    class Loud(gluon.Block):
        def __repr__(self) -> str:
            return "<script>alert(1)</script>"

    assert "<script>" not in Loud()._repr_html_()
    assert rows_of(Loud()) == [[], ["·", "<script>alert(1)</script>", ""]]


def test_counts_of_the_engine_are_a_dictionary_and_a_table() -> None:
    stats = mx.engine.stats()
    assert repr(stats) == repr(dict(stats))
    assert [row[0] for row in rows_of(stats)] == list(stats)
    counts = dict(rows_of(stats))
    assert counts["issued"] == f"{stats['issued']:,}"
    assert counts["live_bytes"].endswith("B")


def test_timers_are_tables() -> None:
    timer = mx.timer()
    assert {row[1] for row in rows_of(timer)} == {"not finished"}
    with timer:
        nd.ones((3, 3)).wait_to_read()
    assert [row[0] for row in rows_of(timer)] == ["issued in", "finished after", "computing"]
    assert not math.isnan(timer.total)
    measured = mx.benchmark(lambda: nd.ones((3, 3)), samples=3, seconds=0.1, calls=2)
    rows = dict(rows_of(measured))
    assert (rows["samples"], rows["calls in each"]) == ("3", "2")
    assert "&lt;lambda&gt;" in measured._repr_html_()
