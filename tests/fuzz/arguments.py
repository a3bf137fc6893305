# SPDX-License-Identifier: Apache-2.0
"""Wrong sizes, types and huge numbers into every public function of arrays.

Each call answers, or raises an exception that says what is wrong, before memory or time in
proportion to a number is taken. Calls are made by a child with little room, which tells what it is
about to call: so a crash and a hang have a name, too.
"""

from __future__ import annotations

import inspect
import json
import math
import random
import resource
import select
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as onp

import afterglow as mx
from afterglow import nd, np, npx
from afterglow.error import MXNetError

#: Bytes of address space beyond what the child has to begin with.
ROOM = 2 << 30
#: No call takes so long, on any machine under any load.
PATIENCE = 60
#: Seconds of the processor's that a call may take.
MOST_SECONDS = 5.0
#: Results of more bytes are not read.
MOST_BYTES = 1 << 24

NUMBERS: list[Any] = [
    *(0, 1, 2, 3, -1, -2, 7, 127, 128, 255, 256, 2**15, 2**31 - 1, 2**31, 2**32, 2**32 + 1),
    *(2**40, 2**53 + 1, 2**59, 2**61, 2**62, 2**63 - 1, 2**63, 2**64, 2**70, 10**400, -(2**31)),
    *(-(2**62), -(2**63), -(2**63) - 1, -(2**70), -(10**400), 0.5, -0.0, 1.5, 1e-320, 1e300, -1e30),
    *(2.0**63, math.inf, -math.inf, math.nan, True, False),
]
TYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool"]
WORDS: list[Any] = ["", "a", "float32", "int8", "mean", "same", "raise", "clip", "\ud800", b"a"]


class Odd:
    """An integer to whoever asks, of no class that anybody knows."""

    def __index__(self) -> int:
        return 2

    def __repr__(self) -> str:
        return "Odd()"


def functions() -> dict[str, Callable[..., Any]]:
    """Return what is tried, by the name under which programs know it."""
    homes = {
        "nd": nd,
        "np": np,
        "npx": npx,
        "nd.random": nd.random,
        "np.random": np.random,
        "nd.linalg": nd.linalg,
        "np.linalg": np.linalg,
        "nd.contrib": nd.contrib,
        "NDArray": nd.NDArray,
        "ndarray": np.ndarray,
    }
    found: dict[str, Callable[..., Any]] = {}
    for home, module in homes.items():
        for name in dir(module):
            function = getattr(module, name, None)
            if name.startswith("_") or not callable(function) or isinstance(function, type):
                continue
            owner = sys.modules.get(getattr(function, "__module__", None) or "")
            ours = owner is not None and owner.__name__.startswith("afterglow")
            public = isinstance(module, type) or (ours and name in getattr(owner, "__all__", ()))
            if public and name not in _LEFT_OUT:
                found[f"{home}.{name}"] = function
    operators = "add sub mul truediv floordiv mod pow matmul lt le eq ne gt ge and or xor getitem"
    for name in f"{operators} setitem iadd isub imul itruediv contains".split():
        for home in (nd.NDArray, np.ndarray):
            method = getattr(home, f"__{name}__", None)
            if method is not None:
                found[f"{home.__name__}.__{name}__"] = method
    return found


#: These read files, wait for others, change how the process goes on, or call what they are given.
_LEFT_OUT = {
    *("load", "save", "savez", "waitall", "load_frombuffer", "from_dlpack", "set_np", "reset_np"),
    "set_printoptions",
    *("to_dlpack_for_read", "to_dlpack_for_write", "Custom", "seed", "attach_grad", "backward"),
    *(
        "foreach",
        "while_loop",
        "cond",
        "wait_to_read",
        "wait_to_write",
        "tofile",
        "dump",
        "genfromtxt",
    ),
}


class Sample:
    """One call, made from a seed."""

    def __init__(self, seed: int, known: dict[str, Callable[..., Any]]) -> None:
        self._random = random.Random(seed)
        self.name = self._random.choice(sorted(known))
        self._function = known[self.name]
        self._world = np if self.name.startswith(("np", "ndarray")) else nd
        self.arguments: list[Any] = []
        self.options: dict[str, Any] = {}
        self.all_numbers = True
        self._choose()

    def __repr__(self) -> str:
        parts = [_text(value) for value in self.arguments]
        parts += [f"{name}={_text(value)}" for name, value in self.options.items()]
        return f"{self.name}({', '.join(parts)})"

    def _choose(self) -> None:
        draw = self._random
        try:
            parameters = list(inspect.signature(self._function).parameters.values())
        except (TypeError, ValueError):
            parameters = [
                inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in ("a", "b")
            ]
        is_method = self.name.startswith(("NDArray", "ndarray"))
        for place, parameter in enumerate(parameters):
            if parameter.kind is parameter.VAR_POSITIONAL:
                self.arguments += [self._value("data") for _ in range(draw.randrange(3))]
            elif parameter.kind is parameter.VAR_KEYWORD:
                continue
            elif place == 0 and is_method:
                self.arguments.append(self._array())
            elif parameter.default is parameter.empty:
                value = self._value(parameter.name)
                if parameter.kind is parameter.KEYWORD_ONLY:
                    self.options[parameter.name] = value
                else:
                    self.arguments.append(value)
            elif draw.random() < 0.35:
                self.options[parameter.name] = self._value(parameter.name)
        if self.name.endswith("__setitem__"):
            self.arguments = [self._array(), self._value("key"), self._value("value")]

    def _array(self, odd: bool = True) -> Any:
        draw = self._random
        shapes = [(), (0,), (1,), (3,), (2, 3), (3, 3), (2, 0), (2, 3, 4), (1, 3, 1, 2)]
        shape = draw.choice(shapes if odd else shapes[3:6])
        kind = draw.choice(TYPES if odd else TYPES[:2])
        host = (onp.arange(math.prod(shape)).reshape(shape) % 5).astype(kind)
        if kind.startswith("float") and host.size and draw.random() < 0.3:
            host.reshape(-1)[0] = draw.choice([math.nan, math.inf, -math.inf, 1e4])
        return self._world.array(host, dtype=kind)

    def _value(self, name: str) -> Any:
        """Return something: often what the name lets expect, with an odd number; else anything."""
        draw = self._random
        arrays = ("a", "x", "data", "lhs", "rhs", "x1", "x2", "b", "y", "array", "indices", "index")
        if name in arrays and draw.random() < 0.7:
            return self._array()
        if name in ("arrays", "args", "seq", "ary") and draw.random() < 0.7:
            return [self._array(False) for _ in range(draw.randrange(4))]
        if name == "dtype" and draw.random() < 0.8:
            return draw.choice(TYPES)
        if name in ("out", "ctx", "name") and draw.random() < 0.8:
            return None
        chance = draw.random()
        if chance < 0.5:
            return draw.choice(NUMBERS)
        if chance < 0.65:
            return tuple(draw.choice(NUMBERS) for _ in range(draw.randrange(4)))
        if chance < 0.75:
            return self._array()
        self.all_numbers = False
        return draw.choice(
            [
                *(
                    None,
                    Odd(),
                    {},
                    {"a": 1},
                    {1},
                    [],
                    [1, "a"],
                    [[1], [2, 3]],
                    object,
                    1j,
                    slice(1),
                ),
                *(range(3), onp.arange(3), onp.float32(2), onp.array(["a"]), mx.cpu(), mx.gpu()),
                *(..., lambda *_: None, nd.ones((2,)), np.ones((2,)), *WORDS),
            ]
        )

    def run(self) -> BaseException | None:
        """Make the call and read what comes of it; return what was raised."""
        try:
            result = self._function(*self.arguments, **self.options)
            for value in [*_arrays(result), *_arrays(self.arguments)]:
                if value.size * value.dtype.itemsize <= MOST_BYTES if _sized(value) else False:
                    value.wait_to_read()
        except Exception as error:
            return error.with_traceback(None)
        return None


def _sized(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(onp.dtype(value.dtype), "itemsize")


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, (nd.NDArray, np.ndarray)):
        return [value]
    if isinstance(value, (list, tuple)):
        return [array for item in value for array in _arrays(item)]
    return []


def _text(value: Any) -> str:
    if isinstance(value, (nd.NDArray, np.ndarray)):
        return f"<{value.shape} {onp.dtype(value.dtype).name}>"
    if isinstance(value, int) and abs(value) > 2**100:
        return f"<an integer of {value.bit_length()} bits>"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_text, value))})"
    return ascii(value)


def problem_of(sample: Sample, error: BaseException | None, seconds: float) -> str | None:
    """Return what is wrong with the outcome of a call; ``None`` if nothing is."""
    if seconds > MOST_SECONDS:
        return f"took {seconds:.1f} s"
    if error is None or isinstance(error, MXNetError):
        return None
    # What is of another class than a number may also be met by Python's or NumPy's own errors.
    fitting: tuple[type[BaseException], ...] = (TypeError, ValueError)
    if not sample.all_numbers:
        fitting += (AttributeError, LookupError, NotImplementedError, AssertionError)
    if isinstance(error, fitting):
        return None
    return f"raised {type(error).__name__}: {error}"


def child(seed: int, seconds: float) -> None:
    """Make calls; a line on the standard output before and after each."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    known = functions()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))
    end = time.monotonic() + seconds
    number = seed
    while number == seed or time.monotonic() < end:
        sample = Sample(number, known)
        print(json.dumps([number, repr(sample)]), flush=True)
        onp.random.seed(0)
        start = time.thread_time()
        error = sample.run()
        problem = problem_of(sample, error, time.thread_time() - start)
        del error
        print(json.dumps(problem), flush=True)
        number += 1
    with suppress(MXNetError):
        nd.waitall()


def run(seed: int, seconds: float) -> int:
    """Make calls for so long, at least one; return how many.

    Raises an AssertionError that names each call with a wrong outcome, and its seed.
    """
    start = time.monotonic()
    count, problems = 0, []
    while count == 0 or time.monotonic() < start + seconds:
        left = max(0.0, start + seconds - time.monotonic())
        made, found = _run_child(seed + count, left)
        count += made
        problems += found
    assert not problems, "\n".join(problems)
    return count


def _run_child(seed: int, seconds: float) -> tuple[int, list[str]]:
    """Run a child until it ends, however it does; return how many calls it made, and complaints."""
    command = [sys.executable, __file__, str(seed), str(seconds)]
    # Without a buffer, in which a line could wait unseen by select.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    assert process.stdout is not None
    assert process.stderr is not None
    count, problems, call = 0, [], "nothing yet"
    try:
        while True:
            if not select.select([process.stdout], [], [], PATIENCE)[0]:
                problems.append(f"{call}: hangs")
                return max(count, 1), problems
            line = process.stdout.readline()
            if not line:
                break
            told = json.loads(line)
            if isinstance(told, list):
                count, call = count + 1, f"[{told[0]}] {told[1]}"
            elif told is not None:
                problems.append(f"{call}: {told}")
    finally:
        process.kill()
        errors = process.stderr.read()
        code = process.wait()
        process.stdout.close()
        process.stderr.close()
    if code not in (0, -signal.SIGKILL):
        problems.append(
            f"{call}: the process ended with {code}: {errors[-500:].decode(errors='replace')}"
        )
    return max(count, 1), problems


if __name__ == "__main__":
    child(int(sys.argv[1]), float(sys.argv[2]))
