# SPDX-License-Identifier: Apache-2.0
"""What ``hybridize`` does: the calls of a block are written down once, and issued again as a whole.

A call is told from others by its *signature*: shapes, types, devices and nesting of the arrays,
values of plain arguments, whether it is recorded and whether in training. The first call of a
signature runs as it is. The second does too, but what it issues is written down (``Recipe``, in
C++); from the third on the recipe is issued, and no line of the block's Python runs. Where that
would not give the same result, the block goes on running as it is, and says why, once.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .. import autograd
from .._core import (
    Array,
    Recipe,
    abandon_capture,
    answer,
    arguments_of_replay,
    finish_capture,
    is_recording,
    next_tape_sequence,
    origin_of,
    split_capture,
    start_capture,
)
from .._gradients import RecordedCall, Rule, define
from ..error import ArrayNotImplementedError
from ._layers import run_forward

if TYPE_CHECKING:
    from .block import HybridBlock

#: So many signatures are remembered; the oldest is forgotten for a new one.
_MOST_SIGNATURES = 512


class _Busy(threading.local):
    """Whether this thread is inside of a block that looks after its children's calls."""

    now = False


_busy = _Busy()


class _Seen:
    """A signature that was seen once: the next call is written down."""


class _Refused:
    """A signature whose calls cannot be written down."""


_SEEN, _REFUSED = _Seen(), _Refused()


class _RefusedError(Exception):
    """Why calls cannot be written down."""


class Compiled:
    """The calls of one hybridized block, by signature."""

    def __init__(self) -> None:
        self._plans: dict[bytes, Recipe | _Seen | _Refused] = {}
        self._has_warned = False

    def __getstate__(self) -> dict[str, Any]:
        """Leave the plans out of copies and files: they belong to the arrays of this block."""
        return {**vars(self), "_plans": {}, "_has_warned": False}

    def forget(self) -> None:
        """Start anew: the block, a child or a parameter has changed."""
        self._plans.clear()

    def __call__(self, block: HybridBlock, args: tuple[Any, ...]) -> Any:
        """Compute what ``forward`` of the block returns."""
        if _busy.now:
            return run_forward(block, args)
        found = answer(self._plans, block, args)
        if found is None:
            return run_forward(block, args)
        if found[0]:
            return found[1]
        _, key, plan, arrays = found
        if plan is not None and plan is not _SEEN:  # refused, or the inputs overlap
            return run_forward(block, args)
        _busy.now = True
        try:
            if plan is None:
                result = run_forward(block, args)
                self._remember(key, _SEEN)
                return result
            return self._write_down(block, key, args, arrays)
        finally:
            _busy.now = False

    def _remember(self, key: bytes, plan: Recipe | _Seen | _Refused) -> None:
        while len(self._plans) >= _MOST_SIGNATURES and key not in self._plans:
            del self._plans[next(iter(self._plans))]
        self._plans[key] = plan

    # --- writing down ---

    def _write_down(
        self, block: HybridBlock, key: bytes, args: tuple[Any, ...], arrays: list[Any]
    ) -> Any:
        """Call ``forward`` and make a plan of what it issued."""
        hooked = any(
            child._forward_hooks or child._forward_pre_hooks for child in _blocks_below(block)
        )
        if hooked or not arrays:  # a hook sees every call; without arrays there is nothing to gain
            self._remember(key, _REFUSED)
            return run_forward(block, args)
        self._watch(block)
        first_node = next_tape_sequence()
        start_capture()
        try:
            result = run_forward(block, args)
            try:
                plan = _plan(block, arrays, result, first_node)
            except _RefusedError as refusal:
                self._refuse(block, key, str(refusal))
            else:
                self._remember(key, plan)
        finally:
            abandon_capture()
        return result

    def _refuse(self, block: HybridBlock, key: bytes, reason: str) -> None:
        self._remember(key, _REFUSED)
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"hybridize: {type(block).__name__} {block.name} runs as it is, call by"
                f" call, because {reason}",
                UserWarning,
                stacklevel=5,
            )

    def _watch(self, block: HybridBlock) -> None:
        """Be told of changes to the blocks and parameters that plans depend on."""
        for one in (block, *_blocks_below(block)):
            one._watchers.add(self)
        for parameter in block.collect_params().values():
            parameter._watchers.add(self)


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


def _plan(block: HybridBlock, arrays: list[Any], result: Any, first_node: int) -> Recipe:
    """Return the recipe of what was written down, with the gradients of what is recorded."""
    leaves: list[Any] = []
    rebuild = _structure(result, arrays, leaves)
    recorded = [False] * len(leaves)
    heads: list[Any] = []
    gradients: list[Any] = []
    wanted_inputs: list[int] = []
    parameters: list[Any] = []
    if is_recording():
        recorded = [_is_recorded(leaf, first_node) for leaf in leaves]
        chosen = [leaf for leaf, one in zip(leaves, recorded, strict=True) if one]
        candidates = _candidates(block, arrays)
        _check_boundary(chosen, candidates, first_node)
        heads = split_capture(chosen)
        found = autograd.gradients_where_reached(chosen, candidates, heads) if chosen else []
        reached = set()
        for index, (candidate, gradient) in enumerate(zip(candidates, found, strict=False)):
            place = _place(candidate)
            if gradient is None or place in reached:  # one that is given twice counts once
                continue
            reached.add(place)
            gradients.append(gradient)
            if index < len(arrays):
                wanted_inputs.append(index)
            else:
                parameters.append(candidate)
    recipe = finish_capture(
        arrays, leaves, recorded, heads, gradients, wanted_inputs, parameters, rebuild
    )
    if isinstance(recipe, str):
        raise _RefusedError(recipe)
    return recipe


def _candidates(block: HybridBlock, arrays: list[Any]) -> list[Any]:
    """Return all arrays that may want a gradient, inputs first."""
    place = arrays[0]._context_numbers
    owned = [(one._data or {}).get(place) for one in block.collect_params().values()]
    return [*arrays, *(one for one in owned if one is not None and origin_of(one) is not None)]


def _is_recorded(leaf: Any, first_node: int) -> bool:
    origin = origin_of(leaf)
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


def _structure(
    result: Any, arrays: list[Any], leaves: list[Any]
) -> Callable[[list[Any], list[Any]], Any] | None:
    """Add the arrays of a result to ``leaves``; return how to make such a result of others."""
    for index, array in enumerate(arrays):
        if result is array:
            return lambda results, inputs: inputs[index]
    if isinstance(result, Array):
        place = len(leaves)
        leaves.append(result)
        return None if place == 0 else lambda results, inputs: results[place]
    if isinstance(result, (list, tuple)):
        kind = type(result)
        parts = [_structure(item, arrays, leaves) for item in result]

        def rebuild(results: list[Any], inputs: list[Any]) -> Any:
            return kind(results[0] if part is None else part(results, inputs) for part in parts)

        return rebuild
    if result is None or isinstance(result, (bool, int, float, str)):
        return lambda results, inputs: result
    raise _RefusedError(f"it returns a {type(result).__name__}")


def _gradients_again(
    block: HybridBlock, recipe: Recipe, args: tuple[Any, ...], heads: list[Any]
) -> Any:
    """Return the gradients of a replayed call as results that are recorded themselves."""
    if recipe.has_effects:
        raise ArrayNotImplementedError(
            f"[{block.name}] a gradient of the gradient of a hybridized block that draws random "
            "numbers or writes statistics cannot be computed; call hybridize(False)"
        )
    _busy.now = True
    try:
        result = run_forward(block, args)
    finally:
        _busy.now = False
    arrays = list(_arrays_in(args))
    leaves: list[Any] = []
    _structure(result, arrays, leaves)
    recorded = [leaf for leaf in leaves if origin_of(leaf) is not None]
    wanted = [*(arrays[index] for index in recipe.wanted_inputs), *recipe.wanted_arrays]
    return autograd.grad(recorded, wanted, heads, retain_graph=True, create_graph=True)


def _arrays_in(args: Any) -> Iterator[Any]:
    for one in args:
        if isinstance(one, Array):
            yield one
        elif isinstance(one, (list, tuple)):
            yield from _arrays_in(one)


def _replayed_gradient(call: RecordedCall, gradient: Any) -> Any:
    """Return the recorded gradient of one wanted array of a replayed call; all are made at once.

    Gradients that need not be recorded are issued by the walk itself.
    """
    if call.memo is None:
        given = gradient if isinstance(gradient, list) else [gradient]
        heads = [
            call.output_zeros(index) if head is None else head for index, head in enumerate(given)
        ]
        call.memo = _gradients_again(*arguments_of_replay(call.node), heads)
    return call.memo[call.index]


define("replay", Rule(_replayed_gradient))
