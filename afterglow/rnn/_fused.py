# SPDX-License-Identifier: Apache-2.0
"""Whole layers over whole sequences as one call of the op ``RNN``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from .. import initializer
from .. import ndarray as nd
from .. import symbol as sym
from ..error import ArrayNotImplementedError, ArrayValueError
from ._base import BaseRNNCell, RNNParams, Weights, arranged_steps, merged_steps, time_axis
from ._combined import BidirectionalCell, DropoutCell, SequentialRNNCell
from ._plain import GRUCell, LSTMCell, RNNCell

_GATES = {
    "rnn_relu": [""],
    "rnn_tanh": [""],
    "lstm": ["_i", "_f", "_c", "_o"],
    "gru": ["_r", "_z", "_o"],
}


class FusedRNNCell(BaseRNNCell):
    """Layers of an RNN, LSTM or GRU as one call; all their weights are one vector.

    >>> from afterglow import rnn, sym
    >>> cell = rnn.FusedRNNCell(5, num_layers=2, mode="gru")
    >>> outputs, _ = cell.unroll(3, sym.var("data"), layout="TNC", merge_outputs=True)
    >>> outputs.infer_shape(data=(3, 2, 4))[1]
    [(3, 2, 5)]
    """

    def __init__(
        self,
        num_hidden: int,
        num_layers: int = 1,
        mode: str = "lstm",
        bidirectional: bool = False,
        dropout: float = 0.0,
        get_next_state: bool = False,
        forget_bias: float = 1.0,
        prefix: str | None = None,
        params: RNNParams | None = None,
    ) -> None:
        if mode not in _GATES:
            raise ArrayValueError(
                f"[FusedRNNCell] mode must be one of {', '.join(_GATES)}, but got {mode!r}"
            )
        super().__init__(prefix=f"{mode}_" if prefix is None else prefix, params=params)
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._dropout = dropout
        self._get_next_state = get_next_state
        self._forget_bias = forget_bias
        self._directions = ["l", "r"] if bidirectional else ["l"]
        first = initializer.FusedRNN(None, num_hidden, num_layers, mode, bidirectional, forget_bias)
        self._parameter = self.params.get("parameters", init=first)

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """Shape and layout of each state."""
        shape = (len(self._directions) * self._num_layers, 0, self._num_hidden)
        return [{"shape": shape, "__layout__": "LNC"}] * (2 if self._mode == "lstm" else 1)

    @property
    def _gate_names(self) -> Sequence[str]:
        return _GATES[self._mode]

    def _parts(self, num_input: int) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield names and shapes of all weights of all gates, in their order in the vector."""
        hidden, count = self._num_hidden, len(self._directions)
        for kind in ("weight", "bias"):
            for layer in range(self._num_layers):
                width = {"i2h": count * hidden if layer else num_input, "h2h": hidden}
                for direction in self._directions:
                    for group, columns in width.items():
                        shape = (hidden, columns) if kind == "weight" else (hidden,)
                        for gate in self._gate_names:
                            yield f"{self._prefix}{direction}{layer}_{group}{gate}_{kind}", shape

    def _slice_weights(self, vector: Any, num_input: int) -> Weights:
        """Return views of the vector, by the names of the weights that they are."""
        parts, begin = {}, 0
        for name, shape in self._parts(num_input):
            end = begin + shape[0] * (shape[1] if len(shape) > 1 else 1)
            parts[name] = vector[begin:end].reshape(shape)
            begin = end
        if begin != vector.size:
            raise ArrayValueError(
                f"Invalid parameters size for FusedRNNCell: {begin} are needed, got {vector.size}"
            )
        return parts

    def unpack_weights(self, args: Mapping[str, Any]) -> Weights:
        """Return the weights with the vector cut into those of all layers and gates."""
        weights = dict(args)
        vector = weights.pop(str(self._parameter.name))
        hidden, count = self._num_hidden, len(self._directions)
        above = (self._num_layers - 1) * (hidden + count * hidden + 2)
        num_input = vector.size // count // hidden // self._num_gates - above - hidden - 2
        parts = self._slice_weights(vector, num_input)
        return weights | {name: part.copy() for name, part in parts.items()}

    def pack_weights(self, args: Mapping[str, Any]) -> Weights:
        """Return the weights with those of all layers and gates put together as one vector."""
        weights = dict(args)
        first = weights[f"{self._prefix}l0_i2h{self._gate_names[0]}_weight"]
        parts = [weights.pop(name).reshape((-1,)) for name, _ in self._parts(first.shape[1])]
        weights[str(self._parameter.name)] = nd.concat(*parts, dim=0)
        return weights

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Refuse: the op takes whole sequences."""
        raise ArrayNotImplementedError("FusedRNNCell cannot be stepped. Please use unroll")

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, Any]:
        """Return the outputs of all steps; with ``get_next_state``, the states after the last."""
        self.reset()
        axis = time_axis(layout)
        assert axis in (0, 1), f"Unsupported layout {layout}"
        inputs = merged_steps(length, inputs, layout)
        if axis == 1:
            warnings.warn(
                "NTC layout detected. Consider using TNC for FusedRNNCell for faster speed",
                stacklevel=2,
            )
            inputs = sym.swapaxes(inputs, dim1=0, dim2=1)
        given = self.begin_state() if begin_state is None else begin_state
        called = sym.RNN(
            data=inputs,
            parameters=self._parameter,
            state_size=self._num_hidden,
            num_layers=self._num_layers,
            bidirectional=self._bidirectional,
            p=self._dropout,
            state_outputs=self._get_next_state,
            mode=self._mode,
            name=f"{self._prefix}rnn",
            **dict(zip(("state", "state_cell"), given, strict=False)),
        )
        outputs, states = called, []
        if self._get_next_state:
            outputs, *states = called
            for state in states:
                state._set_attr(__layout__="LNC")
        if axis == 1:
            outputs = sym.swapaxes(outputs, dim1=0, dim2=1)
        return arranged_steps(length, outputs, layout, merge_outputs), states

    def unfuse(self) -> SequentialRNNCell:
        """Return a stack of plain cells that computes the same from unpacked weights."""
        make: Any = {
            "rnn_relu": partial(RNNCell, self._num_hidden, "relu"),
            "rnn_tanh": partial(RNNCell, self._num_hidden, "tanh"),
            "lstm": partial(LSTMCell, self._num_hidden, forget_bias=self._forget_bias),
            "gru": partial(GRUCell, self._num_hidden),
        }[self._mode]
        stack = SequentialRNNCell()
        for layer in range(self._num_layers):
            left = make(prefix=f"{self._prefix}l{layer}_")
            if self._bidirectional:
                right = make(prefix=f"{self._prefix}r{layer}_")
                prefix = f"{self._prefix}bi_l{layer}_"
                stack.add(BidirectionalCell(left, right, output_prefix=prefix))
            else:
                stack.add(left)
            if self._dropout > 0 and layer != self._num_layers - 1:
                prefix = f"{self._prefix}_dropout{layer}_"
                stack.add(DropoutCell(self._dropout, prefix=prefix))
        return stack
