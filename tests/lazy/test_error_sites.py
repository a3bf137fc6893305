# SPDX-License-Identifier: Apache-2.0
"""The file and line that an error names: the innermost statement outside of our package."""

from __future__ import annotations

import gc
import re
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from support import raises_at_the_read

import afterglow as mx
from afterglow import _core

pytestmark = raises_at_the_read

SIZES = (3, 100_000)


def site_of(read: Callable[[], object]) -> tuple[str, int, str]:
    """Return file, line and function that the failure of ``read`` names."""
    try:
        read()
    except mx.MXNetError as problem:
        text = str(problem)
    else:
        pytest.fail("nothing was raised")
    found = re.search(r"issued at (.+):(\d+) in (.+)$", text)
    assert found, text
    return found[1], int(found[2]), found[3]


def fails_in(statement: str, calls: int, **names: Any) -> tuple[str, int, str]:
    """Run ``statement`` as line 7 of a file, its call number ``calls`` failing; ``y`` is read."""
    source = f"def user():\n    global y\n\n\n\n    if True:\n        {statement}\n"
    scope: dict[str, Any] = {"mx": mx, "nd": mx.nd, "np": mx.np, **names}
    exec(compile(source, "/user/program.py", "exec"), scope)
    _core.inject_failure(calls, 0)
    scope["user"]()
    _core.inject_failure(-1, 0)
    y = scope["y"]
    scope.clear()  # it holds the function, whose globals it is
    return site_of(y.asnumpy)


STATEMENTS = {
    "operator": "y = x + 1",
    "operator from the right": "y = 1 - x",
    "unary operator": "y = -x",
    "comparison": "y = x < 2",
    "function": "y = {f}.exp(x)",
    "function of two": "y = {f}.maximum(x, 2)",
    "function with out": "y = x; {f}.exp(x, out=y)",
    "method": "y = x.sum()",
    "method with arguments": "y = x.mean(axis=0, keepdims=True)",
    "cast": "y = x.astype('int32')",
    "copy": "y = x.copy()",
    "copyto an array": "y = t; x.copyto(y)",
    "copy to a context": "y = x.copyto(mx.cpu(1))",
    "in place": "y = x; y += 1",
    "in place with an array": "y = x; y *= x",
    "store a number": "y = x; y[:] = 1",
    "store into a slice": "y = x; y[1:] = 1",
    "store with steps": "y = x; y[::2] = 1",
    "store an array": "y = x; y[:] = x + 1",
    "store one element": "y = x; y[0] = 1",
    "update a slice": "y = x; y[1:] += 1",
    "update with steps": "y = x; y[::2] += 1",
    "numpy array on the right": "y = x + onp.ones(x.shape, dtype='float32')",
    "dot": "y = {f}.dot(x, x)",
    "creation": "y = {f}.ones((3,))",
    "full": "y = {f}.full((3,), 2)",
    "arange": "y = {f}.arange(3)",
    "random": "y = {f}.random.uniform(0, 1, (3,))",
    "random of mx": "y = mx.random.normal(0, 1, (3,))",
    "reshape": "y = (x + 1).reshape((-1, 1))",
    "transpose": "y = (x + 1).T",
    "in a comprehension": "y = [x + 1 for _ in range(1)][0]",
    "in a lambda": "y = (lambda: x + 1)()",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statement(name: str) -> None:
    for front in ("nd", "np"):
        statement = STATEMENTS[name].format(f=front)
        for size in SIZES:
            x = getattr(mx, front).ones((size,))
            x.wait_to_read()
            # Whichever of its calls fails, the statement is named.
            for calls in range(calls_in(statement, x.copy())):
                fresh = {"x": x.copy(), "t": x.copy()}
                mx.nd.waitall()
                file, number, function = fails_in(statement, calls, **fresh, onp=onp)
                assert (file, number) == ("/user/program.py", 7), (front, size, calls)
                assert function in ("user", "<listcomp>", "<lambda>")


def calls_in(statement: str, x: Any) -> int:
    """Return how many calls the statement issues."""
    scope: dict[str, Any] = {"mx": mx, "nd": mx.nd, "np": mx.np, "x": x, "t": x.copy(), "onp": onp}
    before = _core.statistics()["issued"]
    exec(statement, scope)
    count = _core.statistics()["issued"] - before
    assert count >= 1
    return count


@pytest.mark.parametrize("front", [mx.nd, mx.np])
def test_overlapping_store(front: Any) -> None:
    for calls in (0, 1):  # the right side is computed first, then copied: both name the line
        x = front.arange(6)
        x.wait_to_read()
        assert fails_in("y = x; y[1:] = y[:-1]", calls, x=x)[:2] == ("/user/program.py", 7)


def test_lines_of_this_file() -> None:
    def outer(array: Any) -> Any:
        def inner(array: Any) -> Any:
            _core.inject_failure(0, 0)
            return array * 2

        return inner(array) + 1

    y = outer(mx.nd.ones((2,)))
    file, number, function = site_of(y.asnumpy)
    first = outer.__code__.co_firstlineno
    assert (file, number, function) == (__file__, first + 3, "inner")


def test_statement_over_several_lines() -> None:
    x = mx.nd.ones((2,))
    source = "y = (\n  x\n  + 1\n)\n"
    _core.inject_failure(0, 0)
    scope: dict[str, Any] = {"x": x}
    exec(compile(source, "several.py", "exec"), scope)
    file, number, function = site_of(scope["y"].asnumpy)
    assert (file, function) == ("several.py", "<module>")
    assert 1 <= number <= 4


def test_code_without_a_file() -> None:
    scope: dict[str, Any] = {"mx": mx}
    _core.inject_failure(0, 0)
    exec("\n\ny = mx.nd.ones((2,))\n", scope)
    assert site_of(scope["y"].asnumpy) == ("<string>", 3, "<module>")


def test_module_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "with blanks: and colons"
    folder.mkdir()
    module = folder / "layers_of_a_user.py"
    module.write_text(
        textwrap.dedent("""\
        def forward(x):
            # a comment
            return x.exp() if hasattr(x, "exp") else -x
        """)
    )
    monkeypatch.syspath_prepend(str(folder))
    import layers_of_a_user  # type: ignore[import-not-found]

    x = mx.nd.ones((2,))
    _core.inject_failure(0, 0)
    y = layers_of_a_user.forward(x)
    assert site_of(y.asnumpy) == (str(module), 3, "forward")


def test_issued_in_a_thread_read_in_another() -> None:
    made: list[Any] = []

    def issue() -> None:
        _core.inject_failure(0, 0)
        made.append(mx.nd.ones((2,)) + 1)

    thread = threading.Thread(target=issue)
    thread.start()
    thread.join()
    assert site_of(made.pop().asnumpy) == (__file__, issue.__code__.co_firstlineno + 2, "issue")


def test_called_back_by_a_library() -> None:
    # The innermost frame outside of our package is the user's function, not the caller of map.
    def double(x: Any) -> Any:
        return x * 2

    x = mx.nd.ones((2,))
    _core.inject_failure(0, 0)
    (y,) = map(double, [x])
    assert site_of(y.asnumpy) == (__file__, double.__code__.co_firstlineno + 1, "double")


def test_code_object_that_is_gone() -> None:
    x = mx.nd.ones((2,))
    _core.inject_failure(0, 0)
    scope: dict[str, Any] = {"x": x}
    exec(compile("\n" * 41 + "y = x + 1", "gone.py", "exec"), scope)
    y = scope.pop("y")
    del scope
    for number in range(200):  # reuses the memory if the code object was not kept
        compile(f"a{number} = {number}", f"other{number}.py", "exec")
    assert site_of(y.asnumpy) == ("gone.py", 42, "<module>")


def test_long_chain_keeps_the_first_line() -> None:
    x = mx.np.ones((2,))
    _core.inject_failure(10, 0)
    y = x
    for _ in range(5):
        y = y + 1
        y = y * 1
        y = y - 0
        y = y / 1
    file, number, function = site_of(y.asnumpy)
    first = test_long_chain_keeps_the_first_line.__code__.co_firstlineno
    # The calls are the lines of the loop in turn: number 10 is the third line of the third round.
    assert (file, number - first, function) == (__file__, 7, "test_long_chain_keeps_the_first_line")


def test_sites_are_released() -> None:
    code = compile("y = x + 1", "counted.py", "exec")
    scope: dict[str, Any] = {"x": mx.nd.ones((2,))}
    before = sys.getrefcount(code)
    for _ in range(100):
        exec(code, scope)
    scope["y"].wait_to_read()
    mx.nd.waitall()
    (mx.nd.ones((2,)) + 1).wait_to_read()
    gc.collect()
    assert sys.getrefcount(code) == before
    _core.inject_failure(0, 0)
    exec(code, scope)
    site_of(scope["y"].asnumpy)
    assert sys.getrefcount(code) == before + 1
    del scope["y"]
    (mx.nd.ones((2,)) + 1).wait_to_read()
    mx.nd.waitall()
    (mx.nd.ones((2,)) + 1).wait_to_read()
    assert sys.getrefcount(code) == before
