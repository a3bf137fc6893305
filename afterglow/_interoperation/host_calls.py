# SPDX-License-Identifier: Apache-2.0
"""Ops whose work NumPy does: queued like any other, computed by a thread for such calls alone.

For what is rare or long (decompositions, sorting); what training does in every step has a kernel of
its own in src/kernels. Each has one declaration, which adds it to the core's table of ops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as onp

from .. import _core
from .._arrays.dtypes import DTYPES
from .._arrays.shapes import Shape
from .._core import at_hand, call_host, from_buffer
from .._mathematics.gradients import Rule, define

Host = onp.ndarray[Any, Any]

#: Queueing costs more than work of fewer nanoseconds does.
_quick = 20e3


class Spec(NamedTuple):
    """Shape of an array, and the number of its type."""

    shape: Shape
    dtype: int


def _kept(value: Any, spec: Spec, like: Any, legacy: bool) -> Any:
    """Return a value as a new array."""
    host, (shape, number) = value, spec
    plain = type(host) is onp.ndarray and host.shape == shape and host.flags.c_contiguous
    if not plain or host.dtype != DTYPES[number]:
        host = onp.empty(shape, DTYPES[number])
        host[...] = value
    return from_buffer(host, shape, number, like._context_numbers, legacy)


_Value = TypeVar("_Value")


def _at_once(compute: Callable[[], _Value]) -> _Value | None:
    """Return what the function computes, or None if it fails.

    What a signal handler raises meanwhile is no failure of the function, which succeeds the second
    time; it goes on to the caller.
    """
    try:
        return compute()
    except Exception:
        try:
            compute()
        except Exception:
            return None
        raise


class HostOp:
    """A declared op, as Python calls it."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        infer: Callable[..., Spec | list[Spec]],
        cost: Callable[..., float] | None,
    ) -> None:
        self._name = name
        self._function = function
        self._infer = infer
        self._cost = cost
        self._defaults = function.__kwdefaults__ or {}

    def __call__(self, *inputs: Any, legacy: bool | None = None, **parameters: Any) -> Any:
        """Queue the function; return the new array, or a list of them if it returns several values.

        ``legacy`` says in which world, where that need not be the one of the first array. What is
        quick by the guess of its cost is computed at once where the inputs are there. An exception
        of the function poisons the results.
        """
        given = [each for each in inputs if each is not None]
        if legacy is None:
            legacy = given[0]._legacy
        specs = [each if each is None else Spec(each.shape, each._dtype_number) for each in inputs]
        parameters = self._defaults | parameters
        inferred = self._infer(*specs, **parameters)
        outputs = [inferred] if isinstance(inferred, Spec) else inferred
        is_one = outputs is not inferred
        cost = self._cost(*specs, **parameters) if self._cost else 0.0

        def compute(hosts: Iterable[Host]) -> Sequence[Any]:
            rest = iter(hosts)
            arguments = [each if each is None else next(rest) for each in specs]
            value = self._function(*arguments, **parameters)
            return (value,) if is_one else value

        # Arrays of both worlds are left to the queued call, which refuses them.
        in_one_world = all(each._legacy == legacy for each in given)
        if 0 < cost < _quick and in_one_world and at_hand(given):
            hosts = [each.asnumpy() for each in given]
            found = _at_once(
                lambda: [
                    _kept(value, spec, given[0], legacy)
                    for value, spec in zip(compute(hosts), outputs, strict=True)
                ]
            )
            if found is not None:  # else a queued call fails again, and the read tells of it
                return found[0] if is_one else found

        def run(arguments: list[Host], results: list[Host]) -> None:
            for result, value in zip(results, compute(arguments), strict=True):
                result[...] = value

        shapes, numbers = [one.shape for one in outputs], [one.dtype for one in outputs]
        queued = call_host(self._name, run, legacy, given, shapes, numbers, cost)
        return queued[0] if is_one else queued


def declare_host(
    name: str,
    *,
    infer: Callable[..., Spec | list[Spec]],
    gradient: Sequence[Rule | None] = (),
    cost: Callable[..., float] | None = None,
) -> Callable[[Callable[..., Any]], HostOp]:
    """Declare the op that the decorated function computes; its name becomes that of the `HostOp`.

    The function is given NumPy arrays, which it must not write or keep, and returns what can be
    assigned to the results. Its arguments are the inputs of the op, at the end those that may be
    None; keyword-only ones are the parameters, its docstring tells front ends what the op does.

    ``infer`` is given a `Spec` (or None) for each input, and the parameters; it returns that of the
    result, or a list where the function returns several values, or raises. ``cost`` is given the
    same and guesses nanoseconds. ``gradient`` has a rule for each input, as `define` takes them.
    """

    def declare(function: Callable[..., Any]) -> HostOp:
        code, defaults = function.__code__, function.__kwdefaults__ or {}
        inputs, count = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
        parameters = [
            (one, defaults.get(one), one not in defaults) for one in code.co_varnames[inputs:count]
        ]
        _core.declare_host(
            name,
            list(code.co_varnames[:inputs]),
            len(function.__defaults__ or ()),
            parameters,
            function.__doc__ or "",
        )
        if gradient:
            define(name, *gradient)
        return HostOp(name, function, infer, cost)

    return declare
