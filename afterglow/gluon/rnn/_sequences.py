# SPDX-License-Identifier: Apache-2.0
"""Sequences as one array or as a list with an entry for each step, and the states they begin with.

``merge`` tells which of both is wanted, ``None`` that either will do.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ... import ndarray, numpy, symbol
from ..._arrays.worlds import in_world
from ..._core import Array
from ...symbol.symbol import Symbol
from ...util import is_np_array
from .._functions import functions

#: Modules of functions that make arrays, and take no attributes of nodes.
_OF_ARRAYS = (ndarray.__name__, numpy.__name__)


def is_merged(sequence: Any) -> bool:
    """Tell whether a sequence is one array or symbol."""
    return isinstance(sequence, (Array, Symbol))


def formatted(length: int | None, inputs: Any, layout: str, merge: bool | None) -> Any:
    """Return a sequence in the form that is wanted."""
    assert inputs is not None, (
        "unroll(inputs=None) has been deprecated. Please create input variables outside unroll."
    )
    axis = layout.find("T")
    if is_merged(inputs):
        return steps_of(inputs, length, axis) if merge is False else inputs
    assert length is None or len(inputs) == length, (
        f"there are {len(inputs)} inputs for {length} steps"
    )
    return functions(inputs[0]).stack(list(inputs), axis) if merge else list(inputs)


def steps_of(inputs: Any, length: int | None, axis: int) -> list[Any]:
    """Return the steps along an axis one by one."""
    if isinstance(inputs, Symbol):
        assert len(inputs.list_outputs()) == 1, (
            "unroll doesn't allow grouped symbol as input. Please convert to list with "
            "list(inputs) first or let unroll handle splitting."
        )
    else:
        assert length is None or length == inputs.shape[axis], (
            f"the inputs of shape {inputs.shape} have {inputs.shape[axis]} steps, not {length}"
        )
        length = inputs.shape[axis]
    steps: list[Any] = functions(inputs).steps(inputs, length, axis)
    return steps


def masked(sequence: Any, length: int, valid_length: Any, axis: int, merge: bool) -> Any:
    """Return a sequence with zeros behind the valid lengths."""
    f = functions(sequence if is_merged(sequence) else sequence[0])
    data = sequence if is_merged(sequence) else f.stack(list(sequence), axis)
    result = f.SequenceMask(data, sequence_length=valid_length, use_sequence_length=True, axis=axis)
    return result if merge else steps_of(result, length, axis)


def reversed_steps(steps: list[Any], valid_length: Any = None) -> list[Any]:
    """Return steps from the last to the first, for each sequence those that are valid."""
    if valid_length is None:
        return steps[::-1]
    f = functions(steps[0])
    together = f.SequenceReverse(
        f.stack(steps, 0), sequence_length=valid_length, use_sequence_length=True
    )
    return steps_of(together, len(steps), 0)


def last_valid(steps: list[Any], valid_length: Any) -> Any:
    """Return what each sequence has in its last valid step."""
    f = functions(steps[0])
    return f.SequenceLast(
        f.stack(steps, 0), sequence_length=valid_length, use_sequence_length=True, axis=0
    )


def state(func: Callable[..., Any], name: str, info: dict[str, Any]) -> Any:
    """Return a state that ``func`` makes, in np mode an array or symbol of ``np``."""
    given = {"name": name, **info}
    if str(getattr(func, "__module__", "")).startswith(_OF_ARRAYS):
        known = inspect.signature(func).parameters
        given = {key: value for key, value in given.items() if key in known}
    made = func(**given)
    return made.as_np_ndarray() if is_np_array() else made


def open_batch() -> int:
    """Return the extent of a batch that is not known yet."""
    return -1 if is_np_array() else 0


def begin(cell: Any, begin_state: Any, inputs: Any, batch_axis: int) -> Any:
    """Return the states that a cell begins with: zeros like the inputs unless some are given."""
    if begin_state is not None:
        return begin_state
    if not is_merged(inputs):
        inputs, batch_axis = inputs[0], 0
    if isinstance(inputs, Symbol):
        return cell.begin_state(func=symbol.zeros, batch_size=open_batch())
    with inputs.context:
        states = cell.begin_state(func=ndarray.zeros, batch_size=inputs.shape[batch_axis])
    return [in_world(one, inputs._legacy) for one in states]
