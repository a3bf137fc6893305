# SPDX-License-Identifier: Apache-2.0
"""Programs whose answers were recorded from MXNet 1.9.1, run with Afterglow."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from golden.differences import BETTER

import afterglow as mx

FILE = Path(__file__).parent / "golden" / "foundation.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["cases"]
#: Relative and absolute tolerance: a few units in the last place of MXNet's own arithmetic.
TOLERANCE = {"float16": (2e-3, 1e-4), "float32": (2e-6, 1e-7), "float64": (1e-12, 1e-14)}


def run(case: dict[str, Any]) -> Any:
    """Run the program of a case and return its result."""
    names: dict[str, Any] = {
        "mx": mx,
        "nd": mx.nd,
        "np": mx.np,
        "npx": mx.npx,
        "onp": onp,
        "pickle": pickle,
        "copy": copy,
    }
    if case["namespace"] == "np":
        mx.npx.set_np()
    else:
        mx.npx.reset_np()
    try:
        exec(compile(case["code"], case["name"], "exec"), names)
        result = names["result"]
        if isinstance(result, mx.nd.NDArray):
            result.wait_to_read()
        return result
    finally:
        mx.npx.reset_np()


def numbers(values: Any) -> Any:
    """Read recorded numbers: nan and infinities are written as text."""
    if isinstance(values, list):
        return [numbers(value) for value in values]
    return float(values) if isinstance(values, str) else values


def check_array(case: dict[str, Any], result: Any) -> None:
    """Class, shape, type and place must be equal, values to the precision of the type."""
    assert isinstance(result, mx.nd.NDArray), f"an array was expected, not {result!r}"
    assert type(result).__name__ == case["type"]
    host = result.asnumpy()
    assert host.dtype.name == case["dtype"]
    assert list(result.shape) == case["shape"]
    assert repr(result.ctx) == case.get("ctx", "cpu(0)")
    expected = onp.array(numbers(case["values"]), dtype=case["dtype"]).reshape(case["shape"])
    if case["dtype"] in TOLERANCE:
        relative, absolute = TOLERANCE[case["dtype"]]
        onp.testing.assert_allclose(host, expected, rtol=relative, atol=absolute)
    else:
        assert host.tolist() == expected.tolist()


def check_value(expected: dict[str, Any], result: Any) -> None:
    """Plain values must be equal, in type too."""
    if expected["type"] in ("list", "tuple"):
        assert type(result).__name__ == expected["type"]
        assert len(result) == len(expected["value"])
        for item, wanted in zip(result, expected["value"], strict=True):
            check_value(wanted, item)
        return
    kind = (
        f"numpy.{result.dtype.name}" if isinstance(result, onp.generic) else type(result).__name__
    )
    assert kind == expected["type"]
    value = numbers(expected["value"]) if kind != "str" else expected["value"]
    if isinstance(value, float):
        assert result == pytest.approx(value, rel=2e-6, nan_ok=True)
    else:
        assert result == value


def check_error(case: dict[str, Any]) -> None:
    """The class that MXNet raises must be among those of the error; a limit may be none of ours."""
    raised: list[str] = []
    text = ""
    try:
        run(case)
    except Exception as error:
        raised = [kind.__name__ for kind in type(error).__mro__]
        text = str(error)
    if raised:
        assert case["error"] in raised, f"{case['error']} was expected, not {raised[0]}: {text}"
        assert text, "an error must say what went wrong"
        assert case.get("part", "") in text
    else:
        assert case.get("limit"), f"{case['error']} was expected: {case['message']}"


def check(case: dict[str, Any]) -> None:
    """Run a case and compare with the recording."""
    if case["kind"] == "error":
        check_error(case)
        return
    result = run(case)
    if case["kind"] == "array":
        check_array(case, result)
    elif case["kind"] == "text":
        assert result == case["text"]
    else:
        check_value(case, result)


def meant(case: dict[str, Any]) -> dict[str, Any]:
    """Return the case with the outcome that is meant: MXNet's, or ours where that is better."""
    better = BETTER.get(case["name"])
    if better is None:
        return case
    world = "NDArray" if case["namespace"] == "nd" else "ndarray"
    program = {key: case[key] for key in ("name", "namespace", "code")}
    return {**program, "type": world, **better.outcome}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_golden(case: dict[str, Any]) -> None:
    check(meant(case))


def test_every_difference_is_one() -> None:
    recorded = {case["name"]: case for case in CASES}
    assert set(BETTER) <= set(recorded)
    for name, difference in BETTER.items():
        outcome, mxnets = difference.outcome, recorded[name]
        facts = ("kind", "error", "dtype", "shape", "values", "text")
        assert any(outcome.get(fact) != mxnets.get(fact) for fact in facts), name


def test_every_recording_has_its_recorder() -> None:
    tests = Path(__file__).parent
    recordings = sorted(tests.rglob("*.json"))
    assert FILE in recordings
    for recording in recordings:
        folder = recording.parent
        # In the folder of whole programs, these write them.
        names = ("__main__.py", "data.py") if folder.name == "whole_programs" else ("record*.py",)
        recorders = [path.read_text() for name in names for path in folder.glob(name)]
        assert any(f'"{recording.name}"' in text for text in recorders), recording
