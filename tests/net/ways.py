# SPDX-License-Identifier: Apache-2.0
"""The ways in which one call can be made, and what is seen of each."""

from __future__ import annotations

import contextlib
import inspect
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as onp

import afterglow as mx
from afterglow import autograd, gluon
from afterglow.name import NameManager

from .lines import Seen, outcome, problem, shown
from .tables import Record, as_list

#: Calls of a hybridized block after which it has been replayed.
CALLS = 3


def parameters_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function, as far as it tells them."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def weights(like: Any, number: int) -> Any:
    """Return numbers of the shape and type of a result, the same in every run."""
    host = onp.random.default_rng(number).integers(-8, 9, like.shape) / 4
    kind = mx.np.array if isinstance(like, mx.np.ndarray) else mx.nd.array
    return kind(host.astype(like.dtype), dtype=like.dtype)


def _heads(results: Any) -> tuple[list[Any], list[Any]]:
    """Return the arrays among results to differentiate, floats if there are any, with weights."""
    arrays = [one for one in as_list(results) if isinstance(one, mx.nd.NDArray)]
    heads = [one for one in arrays if onp.dtype(one.dtype).kind == "f"] or arrays
    return heads, [weights(one, number) for number, one in enumerate(heads)]


def _backward(results: Any, variables: list[Any]) -> list[Any]:
    autograd.backward(*_heads(results))
    return [variable.grad for variable in variables]


def gradients(results: Any, variables: list[Any]) -> Seen:
    """Return the gradients of a weighted sum of all results, or why there are none."""
    return outcome(_backward, results, variables)


@contextlib.contextmanager
def numpy_mode(on: bool) -> Iterator[None]:
    """Switch NumPy's semantics on or off."""
    with mx.np_shape(on), mx.np_array(on):
        yield


def executed(symbol: Any, values: dict[str, Any], states: dict[str, Any]) -> Any:
    """Return what an executor answers in both modes, its gradients and its states."""
    slopes = {
        name: value * 0 for name, value in values.items() if onp.dtype(value.dtype).kind == "f"
    }
    wanted = {name: "write" if name in slopes else "null" for name in values}
    run = symbol.bind(mx.cpu(), values, slopes, wanted, states)
    predicted = shown(list(run.forward()))
    trained = run.forward(is_train=True)
    run.backward([weights(one, number) for number, one in enumerate(trained)])
    return predicted, list(trained), slopes, states


class _Block(gluon.HybridBlock):
    """A block that makes one call."""

    def __init__(self, record: Record) -> None:
        super().__init__(prefix="block_")
        self.record = record

    def hybrid_forward(self, F: Any, *arrays: Any) -> Any:
        return self.record.call(list(arrays))


class Call:
    """A call of a record's function with these values, of which the free ones are of any type."""

    def __init__(self, record: Record, hosts: list[Any], free: list[int]) -> None:
        self.record, self.hosts, self.free = record, hosts, free
        self.seed = zlib.crc32(record.name.encode()) % 2**31

    def arrays(self) -> list[Any]:
        """Return new arrays of the values."""
        return list(self.record.arrays(self.hosts))

    def variables(self, arrays: list[Any]) -> list[Any]:
        """Return those that have gradients from now on: all but indices."""
        found = [
            array
            for number, array in enumerate(arrays)
            if number in self.free or self.hosts[number].dtype.kind == "f"
        ]
        for variable in found:
            variable.attach_grad()
        return found

    def apply(self, arrays: list[Any], **more: Any) -> Any:
        """Make the call, with random numbers that start anew."""
        mx.random.seed(self.seed)
        return self.record.call(arrays, **more)

    def seen(self, results: Any, arrays: list[Any]) -> Seen:
        """Return what can be seen of results, and of arguments that were written to."""
        text = shown(results)
        for number, (array, host) in enumerate(zip(arrays, self.hosts, strict=True)):
            if array.asnumpy().tobytes() != host.tobytes():
                text = Seen(f"{text}, argument {number} is {shown(array)}")
        return text

    def value(self) -> Seen:
        """Return what is answered."""

        def run() -> Any:
            arrays = self.arrays()
            return self.seen(self.apply(arrays), arrays)

        return outcome(run)

    def gradient(self) -> Seen | None:
        """Return what is answered while a tape records, and the gradients."""
        if not self.hosts:
            return None

        def run() -> Any:
            arrays = self.arrays()
            variables = self.variables(arrays)
            with autograd.record():
                results = self.apply(arrays)
            return self.seen(results, arrays), gradients(results, variables)

        return outcome(run)

    def second_gradient(self) -> Seen | None:
        """Return the gradients of every gradient."""
        if not any(self.hosts[number].dtype.kind == "f" for number in self.free):
            return None

        def run(number: int) -> Any:
            arrays = self.arrays()
            variables = self.variables(arrays)
            with autograd.record():
                results, heads = _heads(self.apply(arrays))
                slopes = autograd.grad(results, [variables[number]], heads, create_graph=True)
            return _backward(slopes, variables)

        count = len(self.variables(self.arrays()))
        return shown([outcome(run, number) for number in range(count)])

    def hybridized(self) -> Seen | None:
        """Return values and gradients of a block that is replayed."""
        if not self.hosts:
            return None

        def run() -> Any:
            arrays = self.arrays()
            variables = self.variables(arrays)
            block = _Block(self.record)
            block.hybridize()
            mx.random.seed(self.seed)
            for _ in range(CALLS):
                plain = block(*arrays)
            for _ in range(CALLS):
                with autograd.record():
                    results = block(*arrays)
            return plain, self.seen(results, arrays), gradients(results, variables)

        with numpy_mode(not self.record.legacy):
            return outcome(run)

    def symbol_function(self) -> Callable[..., Any]:
        """Return the function of symbols that makes the same call; AttributeError without one."""
        space, *path = self.record.name.split(".")
        function = mx.sym if space == "nd" else getattr(mx.sym, space)
        for part in path:
            function = getattr(function, part)
        return function  # type: ignore[return-value]

    def graph(self) -> tuple[Any, dict[str, Any]]:
        """Return the symbol that the call is, and the values of its variables."""
        values = {f"x{number}": array for number, array in enumerate(self.arrays())}
        variables: list[Any] = [mx.sym.var(name) for name in values]
        if not self.record.legacy:
            variables = [variable.as_np_ndarray() for variable in variables]
        with NameManager():
            args, keywords = self.record.filled(variables)
            return self.symbol_function()(*args, **keywords), values

    def symbol(self) -> Seen | None:
        """Return the graph, and what its executor answers, for types that have answers."""
        if self.free and self.hosts[self.free[0]].dtype.name not in self.record.types:
            return None
        try:
            self.symbol_function()
        except AttributeError as error:
            return problem(error)

        def run() -> Any:
            symbol, values = self.graph()
            mx.random.seed(self.seed)
            states = {name: values.pop(name) for name in symbol.list_auxiliary_states()}
            return symbol, executed(symbol, values, states)

        with numpy_mode(not self.record.legacy):
            return outcome(run)

    def symbol_method(self) -> Seen | None:
        """Return the graph that the method of a symbol makes; types make no difference."""
        variables = [mx.sym.var(f"x{number}") for number in range(len(self.hosts))]
        if not self.record.legacy:
            variables = [variable.as_np_ndarray() for variable in variables]
        args, keywords = self.record.filled(variables)
        name = self.record.name.split(".", 1)[1]
        if not args or not isinstance(args[0], mx.sym.Symbol) or not hasattr(args[0], name):
            return None
        if self.free and self.hosts[self.free[0]].dtype.name != self.record.types[0]:
            return None
        with NameManager(), numpy_mode(not self.record.legacy):
            return outcome(lambda: getattr(args[0], name)(*args[1:], **keywords))

    def method(self) -> Seen | None:
        """Return what the method of the same name answers."""
        args, keywords = self.record.filled(self.arrays())
        name = self.record.name.split(".", 1)[1]
        if not args or not isinstance(args[0], mx.nd.NDArray) or not hasattr(args[0], name):
            return None
        mx.random.seed(self.seed)
        return outcome(lambda: getattr(args[0], name)(*args[1:], **keywords))

    def out(self) -> Seen | None:
        """Return what is written to an array that is given."""
        if "out" not in parameters_of(self.record.function):
            return None

        def run() -> Any:
            target = self.apply(self.arrays())
            if not isinstance(target, mx.nd.NDArray):
                return "several results"
            target[...] = 1
            return self.apply(self.arrays(), out=target) is target, target

        return outcome(run)


#: Every way, and what it is called in recordings. Some have nothing to say of some calls.
WAYS: dict[str, Callable[[Call], Seen | None]] = {
    "value": Call.value,
    "gradient": Call.gradient,
    "second gradient": Call.second_gradient,
    "hybridized": Call.hybridized,
    "symbol": Call.symbol,
    "method of a symbol": Call.symbol_method,
    "method": Call.method,
    "out": Call.out,
}
