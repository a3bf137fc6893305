# SPDX-License-Identifier: Apache-2.0
"""Cells made of other cells: stacks, both directions, dropout, zoneout, residuals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .. import symbol as sym
from ..error import ArrayNotImplementedError
from ..symbol import Symbol
from ._base import (
    BaseRNNCell,
    RNNParams,
    Weights,
    arranged_steps,
    in_all,
    separate_steps,
    time_axis,
)


class _CellOfCells(BaseRNNCell):
    """A cell that has the variables and states of several others."""

    def __init__(self, params: RNNParams | None) -> None:
        super().__init__(prefix="", params=params)
        self._override_cell_params = params is not None

    def _take(self, cell: BaseRNNCell) -> None:
        self._cells.append(cell)
        if self._override_cell_params:
            assert cell._own_params, (
                f"Either specify params for {type(self).__name__} or child cells, not both."
            )
            cell.params._params.update(self.params._params)
        self.params._params.update(cell.params._params)

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """Shape and layout of each state."""
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, func: Callable[..., Symbol] = sym.zeros, **kwargs: Any) -> list[Symbol]:
        """Return the states of all cells before the first step."""
        self._need_unmodified()
        return [state for cell in self._cells for state in cell.begin_state(func=func, **kwargs)]

    def unpack_weights(self, args: Mapping[str, Any]) -> Weights:
        """Return the weights with those of all cells cut into one for each gate."""
        return in_all(self._cells, "unpack_weights", args)

    def pack_weights(self, args: Mapping[str, Any]) -> Weights:
        """Return the weights with those of all cells put together again."""
        return in_all(self._cells, "pack_weights", args)

    def _each_with_states(self, states: Any) -> Iterator[tuple[BaseRNNCell, Any]]:
        begin = 0
        for cell in self._cells:
            end = begin + len(cell.state_info)
            yield cell, states[begin:end]
            begin = end


class SequentialRNNCell(_CellOfCells):
    """Cells one upon the other.

    >>> from afterglow import rnn
    >>> stack = rnn.SequentialRNNCell()
    >>> stack.add(rnn.LSTMCell(4, prefix="below_"))
    >>> stack.add(rnn.GRUCell(3, prefix="above_"))
    >>> stack.state_shape
    [(0, 4), (0, 4), (0, 3)]
    """

    def __init__(self, params: RNNParams | None = None) -> None:
        super().__init__(params)

    def add(self, cell: BaseRNNCell) -> None:
        """Put a cell on top."""
        self._take(cell)

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Return output and new states of one step."""
        self._counter += 1
        following = []
        for cell, own in self._each_with_states(states):
            inputs, own = cell(inputs, own)
            following.extend(own)
        return inputs, following

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, Any]:
        """Return the outputs of all steps, and the states after the last one."""
        self.reset()
        states = self.begin_state() if begin_state is None else begin_state
        following = []
        last = len(self._cells) - 1
        for place, (cell, own) in enumerate(self._each_with_states(states)):
            merge = merge_outputs if place == last else None
            inputs, own = cell.unroll(length, inputs, own, layout, merge)
            following.extend(own)
        return inputs, following


class BidirectionalCell(_CellOfCells):
    """Two cells, of which one reads the sequence from its end; their outputs are put together."""

    def __init__(
        self,
        l_cell: BaseRNNCell,
        r_cell: BaseRNNCell,
        params: RNNParams | None = None,
        output_prefix: str = "bi_",
    ) -> None:
        super().__init__(params)
        self._output_prefix = output_prefix
        self._take(l_cell)
        self._take(r_cell)

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Refuse: the last step is needed for the first."""
        raise ArrayNotImplementedError("Bidirectional cannot be stepped. Please use unroll")

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, Any]:
        """Return the outputs of all steps, and the states of both cells after their last one."""
        self.reset()
        steps = separate_steps(length, inputs, layout)
        states = self.begin_state() if begin_state is None else begin_state
        (left, left_states), (right, right_states) = self._each_with_states(states)
        forward, left_states = left.unroll(length, steps, left_states, layout, merge_outputs)
        backward, right_states = right.unroll(
            length, steps[::-1], right_states, layout, merge_outputs
        )
        if merge_outputs is None:
            merge_outputs = isinstance(forward, Symbol) and isinstance(backward, Symbol)
        forward = arranged_steps(length, forward, layout, merge_outputs)
        backward = arranged_steps(length, backward, layout, merge_outputs)
        outputs: Any
        if merge_outputs:
            backward = sym.reverse(backward, axis=time_axis(layout))
            outputs = sym.concat(forward, backward, dim=2, name=f"{self._output_prefix}out")
        else:
            outputs = [
                sym.concat(one, other, dim=1, name=f"{self._output_prefix}t{step}")
                for step, (one, other) in enumerate(zip(forward, backward[::-1], strict=True))
            ]
        return outputs, [left_states, right_states]


class DropoutCell(BaseRNNCell):
    """Drops elements of its inputs in training; it has no states."""

    def __init__(
        self, dropout: float, prefix: str = "dropout_", params: RNNParams | None = None
    ) -> None:
        super().__init__(prefix, params)
        assert isinstance(dropout, (int, float)), "dropout probability must be a number"
        self.dropout = dropout

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """No state."""
        return []

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Return the input with elements dropped."""
        return (sym.Dropout(inputs, p=self.dropout) if self.dropout > 0 else inputs), states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, Any]:
        """Return all inputs with elements dropped; of one symbol, in one call."""
        inputs = arranged_steps(length, inputs, layout, merge_outputs)
        if isinstance(inputs, Symbol):
            self.reset()
            return self(inputs, [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)


class ModifierCell(BaseRNNCell):
    """Changes what another cell, its ``base_cell``, gives. That one is then not called directly."""

    def __init__(self, base_cell: BaseRNNCell) -> None:
        super().__init__()
        base_cell._modified = True
        self.base_cell = base_cell
        self._cells = [base_cell]

    @property
    def params(self) -> RNNParams:
        """The variables of the cell below."""
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """Shape and layout of each state."""
        return self.base_cell.state_info

    def begin_state(
        self,
        func: Callable[..., Symbol] = sym.zeros,
        init_sym: Callable[..., Symbol] | None = None,
        **kwargs: Any,
    ) -> list[Symbol]:
        """Return the states before the first step, made by ``func``, also called ``init_sym``."""
        self._need_unmodified()
        with self._base_is_free():
            return self.base_cell.begin_state(init_sym or func, **kwargs)

    @contextmanager
    def _base_is_free(self) -> Iterator[None]:
        """Let the cell below be called directly in a ``with`` scope."""
        self.base_cell._modified = False
        try:
            yield
        finally:
            self.base_cell._modified = True

    def unpack_weights(self, args: Mapping[str, Any]) -> Weights:
        """Return the weights with those of the cell below cut into one for each gate."""
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args: Mapping[str, Any]) -> Weights:
        """Return the weights with those of the cell below put together again."""
        return self.base_cell.pack_weights(args)


class ZoneoutCell(ModifierCell):
    """Keeps elements of the previous output and states, by chance, in training."""

    def __init__(
        self, base_cell: BaseRNNCell, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0
    ) -> None:
        from ._fused import FusedRNNCell

        assert not isinstance(base_cell, FusedRNNCell), (
            "FusedRNNCell doesn't support zoneout. Please unfuse first."
        )
        assert not isinstance(base_cell, BidirectionalCell), (
            "BidirectionalCell doesn't support zoneout since it doesn't support step. "
            "Please add ZoneoutCell to the cells underneath instead."
        )
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states

    def reset(self) -> None:
        """Forget the previous output."""
        super().reset()
        self.prev_output: Symbol | None = None

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Return output and new states of one step."""
        output, following = self.base_cell(inputs, states)
        if self.zoneout_outputs:
            before = sym.zeros_like(output) if self.prev_output is None else self.prev_output
            output = _mixed(output, before, self.zoneout_outputs)
        if self.zoneout_states:
            following = [
                _mixed(new, old, self.zoneout_states)
                for new, old in zip(following, states, strict=True)
            ]
        self.prev_output = output
        return output, following


def _mixed(new: Symbol, old: Symbol, rate: float) -> Symbol:
    """Return new elements, but old ones at that rate where training drops."""
    mixed: Symbol = sym.where(sym.Dropout(sym.ones_like(new), p=rate), new, old)
    return mixed


class ResidualCell(ModifierCell):
    """Adds the input of the cell below to its output."""

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Return output and new states of one step."""
        output, states = self.base_cell(inputs, states)
        return _plus(output, inputs), states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, Any]:
        """Return the outputs of all steps, and the states after the last one."""
        self.reset()
        with self._base_is_free():
            outputs, states = self.base_cell.unroll(
                length, inputs, begin_state, layout, merge_outputs
            )
        merge = isinstance(outputs, Symbol)
        inputs = arranged_steps(length, inputs, layout, merge)
        if merge:
            return _plus(outputs, inputs), states
        return [_plus(one, other) for one, other in zip(outputs, inputs, strict=True)], states


def _plus(output: Symbol, inputs: Symbol) -> Symbol:
    total: Symbol = sym.elemwise_add(output, inputs, name=f"{output.name}_plus_residual")
    return total
