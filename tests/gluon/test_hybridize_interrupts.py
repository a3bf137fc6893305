# SPDX-License-Identifier: Apache-2.0
"""An interrupt may come between any two instructions of Python, and must leave nothing behind."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from afterglow import _core, autograd, gluon, nd
from afterglow.gluon import nn

OWN = tuple(
    str(Path(gluon.__file__).parent / name) for name in ("_compiled.py", "_layers.py", "block.py")
)


class Interrupt(BaseException):
    """What a handler of a signal raises."""


class Countdown:
    """Interrupts this thread before one of the instructions of some files."""

    def __init__(self, left):
        self.left = left

    def __call__(self, frame, event, argument):
        if not frame.f_code.co_filename.endswith(OWN):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.left -= 1
            if self.left == 0:
                raise Interrupt
        return self


def call(net, x, recorded):
    if not recorded:
        return net(x)
    with autograd.record():
        y = net(x)
    y.backward()
    return y


def has_plan(x):
    """Return whether this thread writes calls of a new block down, and so is inside of none."""
    net = nn.Dense(2, in_units=2)
    net.initialize()
    net.hybridize()
    for _ in range(2):
        net(x)
    return any(net._block_compiled._plans.values())


@pytest.mark.parametrize("recorded", [False, True], ids=["plain", "recorded"])
def test_interrupts_at_every_instruction(recorded):
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2))
    net.initialize()
    x = nd.ones((1, 2))
    expected = net(x).asnumpy().tolist()
    previous = sys.gettrace()
    interrupted, left, step = True, 1, 3 if recorded else 1
    while interrupted:
        net.hybridize()  # both the first call and the one that is written down are interrupted
        countdown = Countdown(left)
        interrupted = False
        sys.settrace(countdown)
        try:
            for _ in range(3):
                call(net, x, recorded)
        except Interrupt:  # its traceback holds on to all that was there
            interrupted = True
            sys.settrace(previous)
            autograd.set_recording(False)
            autograd.set_training(False)
            assert _core.current_layer() == 0, left
            assert has_plan(x), left
        finally:
            sys.settrace(previous)
        left += step
    assert left > 500
    for _ in range(3):
        assert net(x).asnumpy().tolist() == expected


def test_signals():
    net = nn.Dense(2, in_units=2)
    net.initialize()
    armed = hits = 0

    def interrupt(*_):
        if armed:
            raise Interrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for number in range(600):
            net.hybridize()
            x = nd.ones((1, 2))
            signal.setitimer(signal.ITIMER_REAL, 1e-6 * (1 + number))
            try:
                armed = 1
                for _ in range(3):
                    net(x)
                armed = 0
            except Interrupt:
                armed = 0
                hits += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert _core.current_layer() == 0
            if number % 10 == 0:
                assert has_plan(x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert has_plan(nd.ones((1, 2)))
    assert hits > 0
