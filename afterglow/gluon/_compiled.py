# SPDX-License-Identifier: Apache-2.0
"""What ``hybridize`` does: the calls of a block are written down once, and issued again as a whole.

A call is told from others by its *signature*: shapes, types, devices and nesting of the arrays,
values of plain arguments, whether it is recorded and whether in training. The first call of a
signature runs as it is. The second does too, but what it issues is written down (``Plan``, in
C++); from the third on the plan is issued, and no line of the block's Python runs. Where that
would not give the same result, the block goes on running as it is, and says why, once.

While a call is written down, ``forward`` gets handles of its own for the arrays it is given. So
what it reads of an input is known from what it reads of a parameter, also if they share memory.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from .. import autograd
from .._core import (
    Array,
    BlockCapture,
    Plan,
    call_hybridized,
    input_handles,
    is_recording,
    origin_of,
    replayed_call,
    run_as_is,
    run_forward,
    set_block_functions,
)
from .._mathematics.gradients import RecordedCall, Rule, define
from ..error import ArrayNotImplementedError, ArrayValueError, MXNetError
from . import _layers

if TYPE_CHECKING:
    from .block import HybridBlock

#: So many signatures are remembered; the oldest is forgotten for a new one.
_MOST_SIGNATURES = 512

#: Results are looked into so deep: a list may also be inside of itself.
_MOST_NESTED = 32

#: What is known of a signature: None if it was seen once, False if its calls cannot be written
#: down, else the plan and what the block returns.
_Known: TypeAlias = "tuple[Plan, Any] | Literal[False] | None"


class _Input(NamedTuple):
    """Stands for an array among the arguments."""

    number: int


class _Output(NamedTuple):
    """Stands for an array that the block makes."""

    number: int


class _RefusedError(Exception):
    """Why calls cannot be written down."""


class Compiled:
    """The calls of one hybridized block, by signature."""

    def __init__(self) -> None:
        self._plans: dict[bytes, _Known] = {}
        self._changes = 0
        self._has_warned = False
        self._given: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave the plans out of copies and files: they belong to the arrays of this block."""
        return {**vars(self), "_plans": {}, "_has_warned": False}

    def forget(self) -> None:
        """Start anew: the block, a child or a parameter has changed."""
        self._changes += 1
        self._plans.clear()

    def holds(self, array: Any) -> bool:
        """Tell whether a plan reads or writes the memory of an array by reference."""
        return any(known and known[0].holds(array) for known in self._plans.values())

    def __call__(self, block: HybridBlock, args: tuple[Any, ...]) -> Any:
        """Compute what ``forward`` of the block returns."""
        return call_hybridized(self, self._plans, block, args)

    def inputs_like_given(self, make: Callable[[int, int], Any]) -> Any:
        """Return arguments nested as those of the last new kind of call, or None before the first.

        Arrays are what ``make`` returns for their number, and how many there are.
        """
        count = _count_inputs(self._given)
        return _mapped(
            self._given, lambda one: make(one.number, count) if type(one) is _Input else one
        )

    def _meet(self, key: bytes, args: tuple[Any, ...]) -> None:
        """Remember that a kind of call was seen once, and how its arguments are nested."""
        numbers = itertools.count()
        self._given = _mapped(
            args, lambda one: _Input(next(numbers)) if isinstance(one, Array) else one
        )
        self._remember(key, None)

    def _remember(self, key: bytes, known: _Known) -> None:
        while len(self._plans) >= _MOST_SIGNATURES and key not in self._plans:
            del self._plans[next(iter(self._plans))]
        self._plans[key] = known

    def _write_down(
        self,
        capture: BlockCapture,
        block: HybridBlock,
        key: bytes,
        args: tuple[Any, ...],
        arrays: list[Any],
    ) -> Any:
        """Call ``forward`` and make a plan of what it issued."""
        if any(child._forward_hooks or child._forward_pre_hooks for child in _blocks_below(block)):
            self._remember(key, False)  # a hook sees every call
            return run_forward(block, args)
        self._watch(block)
        changes = self._changes
        inputs = capture.inputs
        places = {id(array): index for index, array in enumerate(arrays)}
        arguments = _mapped(
            args, lambda one: _Input(places[id(one)]) if isinstance(one, Array) else one
        )
        result = run_forward(block, _filled(arguments, [], inputs))
        try:
            capture.pass_writes_on()
            outputs: list[Any] = []
            described = _described(result, inputs, outputs)
            result = _filled(described, outputs, arrays)
            plan = _plan(capture, block, inputs, outputs, arguments)
        except _RefusedError as refusal:
            self._refuse(block, key, str(refusal))
        else:
            if changes == self._changes:  # else it may hold arrays that are none of the block's now
                self._remember(key, (plan, None if type(described) is _Output else described))
        return result

    def _refuse(self, block: HybridBlock, key: bytes, reason: str) -> None:
        self._remember(key, False)
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"hybridize: {type(block).__name__} {block.name} runs as it is, call by"
                f" call, because {reason}",
                stacklevel=5,
            )

    def _watch(self, block: HybridBlock) -> None:
        """Be told of changes to the blocks and parameters that plans depend on."""
        for one in (block, *_blocks_below(block)):
            one._block_watchers.add(self)
        for parameter in block.collect_params().values():
            parameter._parameter_watchers.add(self)


def _blocks_below(block: HybridBlock) -> Iterator[Any]:
    """Yield all blocks below a block, each once."""
    pending = list(block._children.values())
    seen = set()
    while pending:
        child = pending.pop()
        if id(child) not in seen:
            seen.add(id(child))
            yield child
            pending.extend(child._children.values())


# --- nested arguments and results ---


def _mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """Return lists and tuples like those given, with what a function makes of each element."""
    kind = type(value)
    if kind in (_Input, _Output) or not isinstance(value, (list, tuple)):
        return function(value)
    make = getattr(kind, "_make", kind)  # of a named tuple
    return make([_mapped(one, function) for one in value])


def _count_inputs(described: Any) -> int:
    """Return for how many arrays there is a place."""
    if type(described) is _Input:
        return 1
    return sum(map(_count_inputs, described)) if isinstance(described, (list, tuple)) else 0


def _filled(described: Any, outputs: list[Any], inputs: list[Any]) -> Any:
    """Return what was described, with these arrays."""

    def fill(value: Any) -> Any:
        kind = type(value)
        if kind is _Input:
            return inputs[value.number]
        return outputs[value.number] if kind is _Output else value

    return _mapped(described, fill)


def _described(result: Any, inputs: list[Any], outputs: list[Any], depth: int = 0) -> Any:
    """Return a result with numbers in the places of its arrays, which are added to ``outputs``."""
    for index, array in enumerate(inputs):
        if result is array:
            return _Input(index)
    if isinstance(result, Array):
        outputs.append(result)
        return _Output(len(outputs) - 1)
    kind = type(result)
    if kind in (list, tuple) or (isinstance(result, tuple) and hasattr(kind, "_make")):
        if depth == _MOST_NESTED:
            raise _RefusedError("it returns lists within lists without end")
        parts = [_described(one, inputs, outputs, depth + 1) for one in result]
        return getattr(kind, "_make", kind)(parts)
    if result is None or isinstance(result, (bool, int, float, str)):
        return result
    raise _RefusedError(f"it returns a {kind.__name__}")


# --- plans ---


def _plan(
    capture: BlockCapture, block: HybridBlock, inputs: list[Any], outputs: list[Any], arguments: Any
) -> Plan:
    """Return the plan of what was written down, with the gradients of what is recorded."""
    refusal = capture.refusal()
    if refusal:  # at once: what other processes take part in must not be issued for nothing
        raise _RefusedError(refusal)
    recorded = [False] * len(outputs)
    heads: list[Any] = []
    gradients: list[Any] = []
    wanted_inputs: list[int] = []
    parameters: list[Any] = []
    if is_recording():
        recorded = [_is_recorded(output, capture.first_node) for output in outputs]
        chosen = [output for output, one in zip(outputs, recorded, strict=True) if one]
        candidates = _candidates(block, inputs)
        _check_boundary(chosen, candidates, capture.first_node)
        heads = capture.begin_gradients(chosen)
        try:
            found = autograd.gradients_where_reached(chosen, candidates, heads) if chosen else []
        except Exception as error:  # for backward to tell, if anybody calls it
            raise _RefusedError(f"its gradients cannot be computed: {error}") from error
        reached = set()
        for index, (candidate, gradient) in enumerate(zip(candidates, found, strict=False)):
            place = _place(candidate)
            if gradient is None or place in reached:  # of parameters that share an array
                continue
            reached.add(place)
            gradients.append(gradient)
            if index < len(inputs):
                wanted_inputs.append(index)
            else:
                parameters.append(candidate)
    plan = capture.finish(outputs, recorded, heads, gradients, wanted_inputs, parameters, arguments)
    if isinstance(plan, str):
        raise _RefusedError(plan)
    return plan


def _candidates(block: HybridBlock, inputs: list[Any]) -> list[Any]:
    """Return all arrays that may want a gradient, inputs first."""
    place = inputs[0]._context_numbers
    owned = [(one._parameter_arrays or {}).get(place) for one in block.collect_params().values()]
    return [*inputs, *(one for one in owned if one is not None and origin_of(one) is not None)]


def _is_recorded(output: Any, first_node: int) -> bool:
    origin = origin_of(output, without_gradient=True)
    if origin is None:
        return False
    if origin[0].sequence < first_node:
        raise _RefusedError("it returns an array that was recorded before the call")
    return True


def _place(array: Any) -> tuple[int, int] | None:
    origin = origin_of(array)
    return None if origin is None else (origin[0].key, origin[1])


def _check_boundary(heads: list[Any], candidates: list[Any], first_node: int) -> None:
    """Raise if gradients lead to arrays other than inputs and parameters."""
    known = {_place(candidate) for candidate in candidates}
    for node in autograd.nodes_behind(heads, first_node):
        for _, key, output, sequence in node.sources:
            if sequence < first_node and (key, output) not in known:
                raise _RefusedError(
                    "it uses an array with a gradient that is neither an input nor a parameter"
                )


# --- gradients of replayed calls that the walk does not issue itself ---


def _gradients_again(call: RecordedCall, heads: list[Any]) -> Any:
    """Return the gradients of a replayed call from its calls, made one by one."""
    block, has_effects, training, arguments, given, wanted, parameters = replayed_call(call.node)
    if block is None:
        raise MXNetError("[hybridize] the block of the call is gone, and so are its gradients")
    if has_effects:
        _refuse_effects(block, heads)
    with autograd.record(training):
        inputs = input_handles(given)
        result = run_as_is(block, _filled(arguments, [], inputs.handles))
        outputs: list[Any] = []
        _described(result, inputs.handles, outputs)
    recorded = [output for output in outputs if origin_of(output, without_gradient=True)]
    arrays = [*(inputs.handles[index] for index in wanted), *parameters]
    inputs.cut()
    found = autograd.grad(recorded, arrays, heads, retain_graph=True, create_graph=is_recording())
    inputs.restore()  # of use to nobody if the gradients failed
    return found


def _refuse_effects(block: HybridBlock, heads: list[Any]) -> None:
    """Raise: random numbers would be drawn, or statistics written, a second time."""
    effects = "a hybridized block that draws random numbers or writes statistics"
    if is_recording():
        raise ArrayNotImplementedError(
            f"[{block.name}] a gradient of the gradient of {effects} cannot be computed; call "
            "hybridize(False)"
        )
    given = ", ".join(str(head.dtype) for head in heads)
    raise ArrayValueError(
        f"[{block.name}] the head gradients have types or devices other than their heads (given: "
        f"{given}), which {effects} cannot take; cast them, or call hybridize(False)"
    )


def _replayed_gradient(call: RecordedCall, gradient: Any) -> Any:
    """Return the gradient of one wanted array of a replayed call; all are made at once.

    Gradients that are not recorded, from heads as they were written down, the walk issues itself.
    """
    if call.memo is None:
        given = gradient if isinstance(gradient, list) else [gradient]
        heads = [
            call.output_zeros(index) if head is None else head for index, head in enumerate(given)
        ]
        call.memo = _gradients_again(call, heads)
    return call.memo[call.index]


define("replay", Rule(_replayed_gradient))
set_block_functions(_layers.add, Compiled._write_down, _filled)
