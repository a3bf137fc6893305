# SPDX-License-Identifier: Apache-2.0
"""Cells whose steps are convolutions: their inputs and states are pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import symbol as sym
from ..symbol import Symbol
from ._base import BaseRNNCell, RNNParams
from ._plain import gru_step, lstm_step

_Pair = tuple[int, int]


def _leaky(inputs: Symbol, **kwargs: Any) -> Symbol:
    result: Symbol = sym.LeakyReLU(inputs, act_type="leaky", slope=0.2, **kwargs)
    return result


class BaseConvRNNCell(BaseRNNCell):
    """A cell with a convolution of the input (``i2h``) and one of the state (``h2h``).

    ``input_shape`` is that of one step, batch included. The convolution of the state keeps its
    height and width, so its kernel is odd.
    """

    _state_count = 1
    _usual_prefix = ""

    def __init__(
        self,
        input_shape: tuple[int, ...],
        num_hidden: int,
        h2h_kernel: _Pair = (3, 3),
        h2h_dilate: _Pair = (1, 1),
        i2h_kernel: _Pair = (3, 3),
        i2h_stride: _Pair = (1, 1),
        i2h_pad: _Pair = (1, 1),
        i2h_dilate: _Pair = (1, 1),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        activation: Any = _leaky,
        prefix: str | None = None,
        params: RNNParams | None = None,
        conv_layout: str = "NCHW",
    ) -> None:
        super().__init__(self._usual_prefix if prefix is None else prefix, params)
        assert all(extent % 2 for extent in h2h_kernel), (
            f"Only support odd number, get h2h_kernel= {h2h_kernel}"
        )
        self._num_hidden = num_hidden
        self._input_shape = input_shape
        self._conv_layout = conv_layout
        self._activation = activation
        self._of_input: dict[str, Any] = {
            "kernel": i2h_kernel,
            "stride": i2h_stride,
            "pad": i2h_pad,
            "dilate": i2h_dilate,
            "layout": conv_layout,
        }
        self._of_state: dict[str, Any] = {
            "kernel": h2h_kernel,
            "stride": (1, 1),
            "pad": tuple(
                step * (extent - 1) // 2
                for step, extent in zip(h2h_dilate, h2h_kernel, strict=True)
            ),
            "dilate": h2h_dilate,
            "layout": conv_layout,
        }
        once = sym.Convolution(sym.var("data"), num_filter=num_hidden, **self._of_input)
        self._state_shape = (0, *once.infer_shape(data=input_shape)[1][0][1:])
        self._iW = self.params.get("i2h_weight", init=i2h_weight_initializer)
        self._hW = self.params.get("h2h_weight", init=h2h_weight_initializer)
        self._iB = self.params.get("i2h_bias", init=i2h_bias_initializer)
        self._hB = self.params.get("h2h_bias", init=h2h_bias_initializer)

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """Shape and layout of each state."""
        info = {"shape": self._state_shape, "__layout__": self._conv_layout}
        return [dict(info) for _ in range(self._state_count)]

    @property
    def _channels(self) -> int:
        return self._conv_layout.find("C")

    def _convolutions(self, inputs: Symbol, state: Symbol, name: str) -> tuple[Symbol, Symbol]:
        size = self._num_hidden * self._num_gates
        of_input = sym.Convolution(
            data=inputs,
            weight=self._iW,
            bias=self._iB,
            num_filter=size,
            name=f"{name}i2h",
            **self._of_input,
        )
        of_state = sym.Convolution(
            data=state,
            weight=self._hW,
            bias=self._hB,
            num_filter=size,
            name=f"{name}h2h",
            **self._of_state,
        )
        return of_input, of_state


class ConvRNNCell(BaseConvRNNCell):
    """A recurrent layer of convolutions without gates.

    >>> from afterglow import rnn, sym
    >>> cell = rnn.ConvRNNCell((1, 3, 8, 8), num_hidden=4)
    >>> cell.state_shape
    [(0, 4, 8, 8)]
    """

    _usual_prefix = "ConvRNN_"

    @property
    def _gate_names(self) -> Sequence[str]:
        return ("",)

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Return output and new states of one step."""
        name = self._step_prefix()
        of_input, of_state = self._convolutions(inputs, states[0], name)
        output = self._get_activation(of_input + of_state, self._activation, name=f"{name}out")
        return output, [output]


class ConvLSTMCell(BaseConvRNNCell):
    """A cell of long short-term memory whose products are convolutions."""

    _state_count = 2
    _usual_prefix = "ConvLSTM_"

    @property
    def _gate_names(self) -> Sequence[str]:
        return ["_i", "_f", "_c", "_o"]

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Return output and new states of one step."""
        name = self._step_prefix()
        of_input, of_state = self._convolutions(inputs, states[0], name)
        gates = sym.SliceChannel(
            of_input + of_state, num_outputs=4, axis=self._channels, name=f"{name}slice"
        )
        return lstm_step(gates, states[1], name, self._activation)


class ConvGRUCell(BaseConvRNNCell):
    """A gated recurrent unit whose products are convolutions."""

    _usual_prefix = "ConvGRU_"

    @property
    def _gate_names(self) -> Sequence[str]:
        return ["_r", "_z", "_o"]

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Return output and new states of one step."""
        name = self._step_prefix()
        of_input, of_state = self._convolutions(inputs, states[0], name)
        return gru_step(of_input, of_state, states[0], name, self._activation, axis=self._channels)
