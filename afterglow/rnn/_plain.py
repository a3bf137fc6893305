# SPDX-License-Identifier: Apache-2.0
"""Cells whose steps are products of matrices: RNN, LSTM and GRU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import initializer
from .. import symbol as sym
from ..symbol import Symbol
from ._base import BaseRNNCell, RNNParams


class _ProductCell(BaseRNNCell):
    """A cell with one product of the input and one of the state."""

    _state_count = 1

    def __init__(
        self, num_hidden: int, prefix: str, params: RNNParams | None, input_bias: Any = None
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        self._iW = self.params.get("i2h_weight")
        self._iB = self.params.get("i2h_bias", init=input_bias)
        self._hW = self.params.get("h2h_weight")
        self._hB = self.params.get("h2h_bias")

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """Shape and layout of each state."""
        return [{"shape": (0, self._num_hidden), "__layout__": "NC"}] * self._state_count

    def _products(self, inputs: Symbol, state: Symbol, name: str) -> tuple[Symbol, Symbol]:
        size = self._num_hidden * self._num_gates
        of_input = sym.FullyConnected(
            data=inputs, weight=self._iW, bias=self._iB, num_hidden=size, name=f"{name}i2h"
        )
        of_state = sym.FullyConnected(
            data=state, weight=self._hW, bias=self._hB, num_hidden=size, name=f"{name}h2h"
        )
        return of_input, of_state


class RNNCell(_ProductCell):
    """A recurrent layer without gates: ``activation(W x + b + V h + c)``.

    >>> from afterglow import rnn, sym
    >>> cell = rnn.RNNCell(5, prefix="rnn_")
    >>> outputs, states = cell.unroll(2, sym.var("data"), merge_outputs=True)
    >>> outputs.infer_shape(data=(3, 2, 4))[1]
    [(3, 2, 5)]
    """

    def __init__(
        self,
        num_hidden: int,
        activation: Any = "tanh",
        prefix: str = "rnn_",
        params: RNNParams | None = None,
    ) -> None:
        super().__init__(num_hidden, prefix, params)
        self._activation = activation

    @property
    def _gate_names(self) -> Sequence[str]:
        return ("",)

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Return output and new states of one step."""
        name = self._step_prefix()
        of_input, of_state = self._products(inputs, states[0], name)
        output = self._get_activation(of_input + of_state, self._activation, name=f"{name}out")
        return output, [output]


class LSTMCell(_ProductCell):
    """A cell of long short-term memory. ``forget_bias`` is where the forget gate begins."""

    _state_count = 2

    def __init__(
        self,
        num_hidden: int,
        prefix: str = "lstm_",
        params: RNNParams | None = None,
        forget_bias: float = 1.0,
    ) -> None:
        bias = initializer.LSTMBias(forget_bias=forget_bias)
        super().__init__(num_hidden, prefix, params, input_bias=bias)

    @property
    def _gate_names(self) -> Sequence[str]:
        return ["_i", "_f", "_c", "_o"]

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Return output and new states of one step."""
        name = self._step_prefix()
        of_input, of_state = self._products(inputs, states[0], name)
        gates = sym.SliceChannel(of_input + of_state, num_outputs=4, name=f"{name}slice")
        return lstm_step(gates, states[1], name, "tanh")


def lstm_step(gates: Symbol, memory: Symbol, name: str, activation: Any) -> tuple[Any, Any]:
    """Return output and new states of an LSTM from its four gates before their functions."""
    act = BaseRNNCell._get_activation
    taken = act(gates[0], "sigmoid", name=f"{name}i")
    kept = act(gates[1], "sigmoid", name=f"{name}f")
    candidate = act(gates[2], activation, name=f"{name}c")
    shown = act(gates[3], "sigmoid", name=f"{name}o")
    memory = sym.elemwise_add(kept * memory, taken * candidate, name=f"{name}state")
    output = sym.elemwise_mul(shown, act(memory, activation), name=f"{name}out")
    return output, [output, memory]


class GRUCell(_ProductCell):
    """A gated recurrent unit, as cuDNN computes it: the reset gate works on the product."""

    def __init__(
        self, num_hidden: int, prefix: str = "gru_", params: RNNParams | None = None
    ) -> None:
        super().__init__(num_hidden, prefix, params)

    @property
    def _gate_names(self) -> Sequence[str]:
        return ["_r", "_z", "_o"]

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Return output and new states of one step."""
        name = self._step_prefix()
        of_input, of_state = self._products(inputs, states[0], f"{name}_")
        return gru_step(of_input, of_state, states[0], name, "tanh")


def gru_step(
    of_input: Symbol, of_state: Symbol, state: Symbol, name: str, activation: Any, axis: int = 1
) -> tuple[Any, Any]:
    """Return output and new states of a GRU from its two products."""
    act = BaseRNNCell._get_activation
    from_input = sym.SliceChannel(of_input, num_outputs=3, axis=axis, name=f"{name}_i2h_slice")
    from_state = sym.SliceChannel(of_state, num_outputs=3, axis=axis, name=f"{name}_h2h_slice")
    reset = act(from_input[0] + from_state[0], "sigmoid", name=f"{name}_r_act")
    update = act(from_input[1] + from_state[1], "sigmoid", name=f"{name}_z_act")
    candidate = act(from_input[2] + reset * from_state[2], activation, name=f"{name}_h_act")
    output = sym.elemwise_add((1.0 - update) * candidate, update * state, name=f"{name}out")
    return output, [output]
