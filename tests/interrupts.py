# SPDX-License-Identifier: Apache-2.0
"""Signals at chosen bytecodes of a function.

A signal that arrives at any moment is answered by Python at certain points only: where a function
begins, after calls, at the ends of loops, and where our own waits ask. So the tracer, which sees
every bytecode, does not raise an exception itself. It lets a C function send a signal to this
thread, and Python answers it when and where it would answer a real one.
"""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

_SIGNAL = signal.SIGUSR1


class _First:
    """The argument of ``raise``: the signal for the first event of the tracer, then none."""

    armed = False

    @classmethod
    def from_param(cls, _: object) -> ctypes.c_int:
        sys.settrace(None)
        armed, cls.armed = cls.armed, False
        return ctypes.c_int(_SIGNAL if armed else 0)


class _Rest:
    """What else a tracer is given."""

    @classmethod
    def from_param(cls, _: object) -> ctypes.c_int:
        return ctypes.c_int(0)


# As a tracer: a function without bytecode between the signal and the end of the function.
_shoot: Any = ctypes.CDLL(None)["raise"]
_shoot.argtypes = [_First, _Rest, _Rest]
_shoot.restype = None


def _traced(function: Callable[[], object], shot: int) -> int:
    """Call a function; a signal arrives after so many bytecodes. Return how many there were."""
    count = 0

    def tracer(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        frame.f_trace = tracer  # first: else Python 3.13 shows bytecodes of the next call only
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            count += 1
            if count == shot:  # the next event, whichever it is
                _First.armed = True
                frame.f_trace = _shoot
                sys.settrace(_shoot)
                return _shoot
        return tracer

    outer = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # Python 3.12 looks for it as tracing begins
    sys.settrace(tracer)
    try:
        function()
        for _ in range(2):  # a signal that has just come is answered here
            pass
    finally:
        sys.settrace(outer)
        _First.armed = False
    return count


def bytecodes_of(function: Callable[[], object]) -> int:
    """Return how many bytecodes a function takes, with all that it calls."""
    return _traced(function, 0)


def interrupt(function: Callable[[], object], shot: int) -> bool:
    """Call a function that is interrupted after so many bytecodes; tell whether it was."""
    lost: list[bool] = []
    before, hook = signal.signal(_SIGNAL, signal.default_int_handler), sys.unraisablehook
    sys.unraisablehook = lambda _: lost.append(True)  # Python drops what finalizers raise
    try:
        _traced(function, shot)
    except KeyboardInterrupt:
        return True
    finally:
        sys.unraisablehook = hook
        signal.signal(_SIGNAL, before)
    return bool(lost)
