# SPDX-License-Identifier: Apache-2.0
"""Functions in Python that do nothing but call one op: those should be ops with a spelling."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from afterglow._arrays.worlds import NUMPY, World
from afterglow._core import Operation, operation
from afterglow.cli import _inventory

#: Functions that stay in Python all the same, and why.
STILL_PYTHON = {
    "nd.identity": "is an op that also casts, moves and stretches, which it shows nobody",
    "np.copy": "is an op that also casts, moves and stretches, which it shows nobody",
    "np.random.rand": "takes the extents of the shape one by one",
    "np.random.randn": "takes the extents of the shape one by one",
}


def _is_op(called: ast.expr, names: dict[str, Any]) -> bool:
    """Tell whether an expression stands for an op: ``NUMPY.x``, ``_x``, ``operation("x", ...)``."""
    if isinstance(called, ast.Name):
        return isinstance(names.get(called.id), Operation)
    if isinstance(called, ast.Call):
        return isinstance(called.func, ast.Name) and called.func.id.endswith(("operation", "_op"))
    world = called.value if isinstance(called, ast.Attribute) else called
    if isinstance(world, ast.Subscript):  # WORLDS[x._legacy]
        world = world.value
    found = names.get(world.id) if isinstance(world, ast.Name) else None
    return isinstance(found, (World, tuple)) and isinstance(called, ast.Attribute)


def _definition(function: Callable[..., Any]) -> ast.FunctionDef:
    found = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(found, ast.FunctionDef)
    return found


def _calls(node: ast.AST) -> Iterator[ast.expr]:
    return (one.func for one in ast.walk(node) if isinstance(one, ast.Call))


def _computes(node: ast.AST, names: dict[str, Any]) -> bool:
    """Tell whether ops are called in there, or by functions that are called there."""
    for called in _calls(node):
        helper = names.get(called.id) if isinstance(called, ast.Name) else None
        if _is_op(called, names):
            return True
        if inspect.isfunction(helper) and any(
            _is_op(one, helper.__globals__) for one in _calls(_definition(helper))
        ):
            return True
    return False


def is_one_call(function: Callable[..., Any]) -> bool:
    """Tell whether a function returns the result of an op and does nothing else.

    Arguments may be converted on the way, but not be computed by other ops.
    """
    names, definition = function.__globals__, _definition(function)
    body = definition.body[1 if ast.get_docstring(definition) else 0 :]
    if len(body) != 1 or not isinstance(body[0], ast.Return):
        return False
    called = body[0].value
    if not isinstance(called, ast.Call) or not _is_op(called.func, names):
        return False
    arguments = [*called.args, *(one.value for one in called.keywords)]
    return not any(_computes(one, names) for one in arguments)


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions of ``nd``, ``np`` and ``npx`` that are written in Python."""
    for path, module in _inventory.public_modules().items():
        if re.match(r"(nd|np|npx)\b", path):
            for name in _inventory.public_names()[path]:
                value = inspect.unwrap(vars(module).get(name, len))
                if inspect.isfunction(value):
                    yield f"{path}.{name}", value


def test_functions_that_call_one_op_are_ops() -> None:
    functions = dict(public_functions())
    assert len(functions) > 100
    found = {name for name, function in functions.items() if is_one_call(function)}
    assert found - STILL_PYTHON.keys() == set()
    assert STILL_PYTHON.keys() - found == set()


_negative = operation("negative", False)


def _plain(x: Any, out: Any = None) -> Any:
    return NUMPY.negative(x, out=out)


def _converted(x: Any) -> Any:
    """Turn the sign."""
    return _negative(list(x))


def _looked_up(x: Any) -> Any:
    return operation("negative", True)(x)


def _two(x: Any) -> Any:
    return _negative(NUMPY.negative(x))


def _two_by_a_helper(x: Any) -> Any:
    return _negative(_plain(x))


def _more(x: Any) -> Any:
    y = x + 1
    return _negative(y)


@pytest.mark.parametrize("function", [_plain, _converted, _looked_up])
def test_one_call_is_seen(function: Callable[..., Any]) -> None:
    assert is_one_call(function)


@pytest.mark.parametrize("function", [_two, _two_by_a_helper, _more])
def test_more_than_one_call_is_fine(function: Callable[..., Any]) -> None:
    assert not is_one_call(function)
