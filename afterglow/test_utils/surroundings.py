# SPDX-License-Identifier: Apache-2.0
"""What tests run in: device, type, environment variables, error output, repetition."""

from __future__ import annotations

import functools
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as onp

from ..context import Context, current_context, num_gpus

__all__ = [
    "assert_exception",
    "default_context",
    "default_dtype",
    "discard_stderr",
    "environment",
    "has_tvm_ops",
    "is_aarch64_run",
    "is_cd_run",
    "is_op_runnable",
    "list_gpus",
    "retry",
]


def default_context() -> Context:
    """Return the device on which tests run: the current one."""
    return current_context()


def default_dtype() -> type[Any]:
    """Return the type of inputs: float32."""
    return onp.float32


def list_gpus() -> range:
    """Return the numbers of the GPUs."""
    return range(num_gpus())


def is_aarch64_run() -> bool:
    """Tell whether this is an ARM processor."""
    return platform.machine() == "aarch64"


def is_cd_run() -> bool:
    """Tell whether a continuous delivery says so in CD_JOB."""
    return os.environ.get("CD_JOB", "0") == "1"


def has_tvm_ops() -> bool:
    """Return False: there are no ops compiled by TVM."""
    return False


def is_op_runnable() -> bool:
    """Return True: every op runs on a CPU."""
    return True


@contextmanager
def environment(*args: Any) -> Iterator[None]:
    """Set environment variables for a ``with`` block; None unsets one.

    >>> import os
    >>> from afterglow import test_utils
    >>> with test_utils.environment({"GREETING": "hello"}):
    ...     print(os.environ["GREETING"])
    hello
    """
    wanted = {args[0]: args[1]} if len(args) == 2 else dict(args[0])
    before = {name: os.environ.get(name) for name in wanted}
    try:
        _set_variables(wanted)
        yield
    finally:
        _set_variables(before)


def _set_variables(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = str(value)


@contextmanager
def discard_stderr() -> Iterator[None]:
    """Let nothing of what is written to the error output in a ``with`` block appear."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def assert_exception(
    f: Callable[..., Any], exception_type: type[BaseException], *args: Any, **kwargs: Any
) -> None:
    """Raise an AssertionError unless a function raises an exception of a type."""
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(f"{f} did not raise {exception_type.__name__}")


def retry(n: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that calls a test up to ``n`` times, until no assertion fails."""
    if n <= 0:
        raise AssertionError("the number of attempts must be at least 1")

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def attempts(*args: Any, **kwargs: Any) -> Any:
            for _ in range(n - 1):
                try:
                    return test(*args, **kwargs)
                except AssertionError:
                    continue
            return test(*args, **kwargs)

        return attempts

    return decorate
