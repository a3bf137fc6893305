# SPDX-License-Identifier: Apache-2.0
"""Cells with one mask of dropout for all steps, and with projected states."""

from __future__ import annotations

from typing import Any

from .... import symbol
from ...._package.constructors import handed_on
from ..._functions import functions, has_shape
from ...parameter import Parameter, ParameterDict
from ...rnn import BidirectionalCell, ModifierCell, _sequences
from ...rnn.rnn_cell import Info, _GatedCell

__all__ = ["LSTMPCell", "VariationalDropoutCell"]

_symbols: Any = symbol


class VariationalDropoutCell(ModifierCell):
    """Zeroes the same elements of inputs, states and outputs of another cell in all steps.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.contrib.rnn.VariationalDropoutCell(gluon.rnn.RNNCell(3), drop_states=0.5)
    >>> cell.initialize()
    >>> outputs, states = cell.unroll(2, nd.ones((1, 2, 4)), merge_outputs=True)
    >>> outputs.shape
    (1, 2, 3)
    """

    def __init__(
        self,
        base_cell: Any,
        drop_inputs: float = 0.0,
        drop_states: float = 0.0,
        drop_outputs: float = 0.0,
    ) -> None:
        assert not drop_states or not isinstance(base_cell, BidirectionalCell), (
            "BidirectionalCell doesn't support variational state dropout. Please add "
            "VariationalDropoutCell to the cells underneath instead."
        )
        super().__init__(base_cell)
        self.drop_inputs = drop_inputs
        self.drop_states = drop_states
        self.drop_outputs = drop_outputs

    def _alias(self) -> str:
        return "vardrop"

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p_out = {self.drop_outputs}, p_state = {self.drop_states})"

    def reset(self) -> None:
        """Begin a new sequence, with other masks."""
        super().reset()
        self.drop_inputs_mask: Any = None
        self.drop_states_mask: Any = None
        self.drop_outputs_mask: Any = None

    def _dropped(self, what: str, x: Any) -> Any:
        rate, mask = getattr(self, f"drop_{what}"), getattr(self, f"drop_{what}_mask")
        if not rate:
            return x
        if mask is None:
            f = functions(x)
            mask = f.Dropout(f.ones_like(x), p=rate)
            setattr(self, f"drop_{what}_mask", mask)
        return functions(x).times(x, mask)

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        """Take one step of the other cell."""
        states = [self._dropped("states", states[0]), *states[1:]] if states else states
        output, states = self.base_cell(self._dropped("inputs", inputs), states)
        return self._dropped("outputs", output), states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Return the outputs of all steps and the last states."""
        if self.drop_states:
            return super().unroll(
                length, inputs, begin_state, layout, merge_outputs, valid_length=valid_length
            )
        self.reset()
        axis = layout.find("T")
        inputs = _sequences.formatted(length, inputs, layout, True)
        states = _sequences.begin(self, begin_state, inputs, layout.find("N"))
        f = functions(inputs)
        if self.drop_inputs:
            inputs = f.Dropout(inputs, p=self.drop_inputs, axes=(axis,))
        outputs, states = self._of_base(
            "unroll",
            length=length,
            inputs=inputs,
            begin_state=states,
            layout=layout,
            merge_outputs=True,
            valid_length=valid_length,
        )
        if self.drop_outputs:
            outputs = f.Dropout(outputs, p=self.drop_outputs, axes=(axis,))
        merge = merge_outputs is not False
        if valid_length is not None:
            return _sequences.masked(outputs, length, valid_length, axis, merge), states
        return _sequences.formatted(length, outputs, layout, merge), states


class LSTMPCell(_GatedCell):
    """One step of a long short-term memory whose output is projected.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.contrib.rnn.LSTMPCell(hidden_size=5, projection_size=3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((2, 4)), cell.begin_state(batch_size=2))
    >>> output.shape, states[1].shape
    ((2, 3), (2, 5))
    """

    h2r_weight: Parameter

    def __init__(
        self,
        hidden_size: int,
        projection_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        h2r_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._projection_size = projection_size
        self._add_weights(
            4,
            state_size=projection_size,
            **handed_on(locals(), "projection_size", "h2r_weight_initializer", "prefix", "params"),
        )
        self._add_weight("h2r_weight", (projection_size, hidden_size), h2r_weight_initializer)

    def state_info(self, batch_size: int = 0) -> Info:
        """Return shape and layout of the states: what is shown, and the cells."""
        return [
            {"shape": (batch_size, units), "__layout__": "NC"}
            for units in (self._projection_size, self._hidden_size)
        ]

    def _alias(self) -> str:
        return "lstmp"

    def _mapping(self) -> str:
        return f"{super()._mapping()} -> {self._projection_size}"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, h2r_weight: Any, **weights: Any
    ) -> Any:
        """Take one step."""
        f, prefix = functions(inputs), f"t{self._counter}_"
        i2h, h2h = self._products(prefix, inputs, states[0], **weights)
        gates = f.SliceChannel(f.plus(i2h, h2h), num_outputs=4, name=f"{prefix}slice")
        opened = f.Activation(gates[0], act_type="sigmoid", name=f"{prefix}i")
        kept = f.Activation(gates[1], act_type="sigmoid", name=f"{prefix}f")
        proposed = f.Activation(gates[2], act_type="tanh", name=f"{prefix}c")
        shown = f.Activation(gates[3], act_type="sigmoid", name=f"{prefix}o")
        cell = f.elemwise_add(
            f.times(kept, states[1]), f.times(opened, proposed), name=f"{prefix}state"
        )
        hidden = f.elemwise_mul(shown, f.Activation(cell, act_type="tanh"), name=f"{prefix}hidden")
        projected = f.FullyConnected(
            hidden,
            h2r_weight,
            num_hidden=self._projection_size,
            no_bias=True,
            name=f"{prefix}out",
        )
        return projected, [projected, cell]


def dynamic_unroll(
    cell: Any,
    inputs: Any,
    begin_state: Any,
    drop_inputs: float = 0,
    drop_outputs: float = 0,
    layout: str = "TNC",
    valid_length: Any = None,
) -> tuple[Any, list[Any]]:
    """Return the outputs of all steps in one array, and the last states."""
    axis, f = layout.find("T"), functions(inputs)
    if drop_inputs:
        inputs = f.Dropout(inputs, p=drop_inputs, axes=(axis,))
    if has_shape(inputs):
        outputs, states = cell.unroll(
            inputs.shape[axis], inputs, begin_state, layout, True, valid_length
        )
    else:
        outputs, states = _looped(cell, inputs, begin_state, axis, valid_length)
    if drop_outputs:
        outputs = f.Dropout(outputs, p=drop_outputs, axes=(axis,))
    return outputs, states


def _looped(
    cell: Any, inputs: Any, states: Any, axis: int, valid_length: Any
) -> tuple[Any, list[Any]]:
    """Return the outputs of all steps over a symbol, which does not say how many there are."""
    steps = inputs.swapaxes(0, axis) if axis else inputs
    if valid_length is None:
        outputs, states = symbol.contrib.foreach(cell, steps, states)
        return outputs.swapaxes(0, axis) if axis else outputs, states

    def step(row: Any, before: Any) -> Any:
        states, number = before
        out, new = cell(row, states)
        goes_on = _symbols.broadcast_greater(valid_length, number)
        kept = zip(new, states, strict=True)
        return out, [[_symbols.where(goes_on, one, old) for one, old in kept], number + 1]

    begin = [list(states), symbol.zeros((1,))]
    outputs, (states, _) = symbol.contrib.foreach(step, steps, begin)
    outputs = outputs.swapaxes(0, axis) if axis else outputs
    return _symbols.SequenceMask(
        outputs, sequence_length=valid_length, use_sequence_length=True, axis=axis
    ), states
