# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: a node of ONNX for each of them, in both directions."""

from __future__ import annotations

from typing import Any

from .._graph import Call
from .registry import converts

#: By mode: ONNX's op, the order in which it has MXNet's gates, and what else it is told.
_KINDS: dict[str, tuple[str, list[int], dict[str, Any]]] = {
    "rnn_relu": ("RNN", [0], {"activations": ["Relu"]}),
    "rnn_tanh": ("RNN", [0], {"activations": ["Tanh"]}),
    "lstm": ("LSTM", [0, 3, 1, 2], {}),
    "gru": ("GRU", [1, 0, 2], {"linear_before_reset": 1}),
}


class _Weights:
    """Parts of the vector of all weights, one after another."""

    def __init__(self, call: Call, units: int, order: list[int]) -> None:
        self._call = call
        self._start = 0
        self._units = units
        self._order = order

    def take(self, columns: int) -> str:
        """Return the next matrix with its gates in ONNX's order, for one direction."""
        call, gates = self._call, len(self._order)
        end = self._start + gates * self._units * columns
        bounds = (call.integers(self._start), call.integers(end), call.integers(0))
        part = call.add("Slice", call.inputs[1], *bounds)
        self._start = end
        split = call.add("Reshape", part, call.integers(gates, self._units, columns))
        ordered = call.add("Gather", split, call.integers(*self._order), axis=0)
        return call.add(  # type: ignore[no-any-return]
            "Reshape", ordered, call.integers(1, gates * self._units, columns)
        )


@converts("RNN")
def _rnn(call: Call) -> Any:
    if call.get("projection_size") or call.get("lstm_state_clip_min") is not None:
        raise call.refuse("ONNX has neither projected states nor bounds of cells")
    op, order, given = _KINDS[call.get("mode")]
    units, layers = int(call.get("state_size")), int(call.get("num_layers"))
    directions = 2 if call.get("bidirectional", False) else 1
    weights = _Weights(call, units, order)
    columns = [call.shapes[0][2], *[units * directions] * (layers - 1)]
    both = range(directions)
    matrices = [[(weights.take(width), weights.take(units)) for _ in both] for width in columns]
    biases = [[(weights.take(1), weights.take(1)) for _ in both] for _ in columns]
    x, *states = call.inputs[:1] + call.inputs[2:]
    lengths = ""
    if call.get("use_sequence_length", False):
        lengths = call.cast(states.pop(), "int32")
    if "activations" in given:
        given = {"activations": given["activations"] * directions}
    last: list[list[str]] = [[] for _ in states]
    for layer in range(layers):
        bounds = [layer * directions, (layer + 1) * directions]
        begin = [
            call.add("Slice", state, *(call.integers(one) for one in (*bounds, 0)))
            for state in states
        ]
        of_input, of_state = (
            call.add("Concat", *parts, axis=0) for parts in zip(*matrices[layer], strict=True)
        )
        vectors = [call.add("Concat", *pair, axis=1) for pair in biases[layer]]
        bias = call.add("Squeeze", call.add("Concat", *vectors, axis=0), call.integers(2))
        y, *after = call.graph.add(
            op,
            x,
            of_input,
            of_state,
            bias,
            lengths,
            *begin,
            stem=call.name,
            outputs=[call.graph.new_name(f"{call.name}_layer") for _ in range(1 + len(states))],
            hidden_size=units,
            direction="bidirectional" if directions == 2 else "forward",
            **given,
        )
        # Steps, directions, samples, units: both directions go side by side.
        moved = call.add("Transpose", y, perm=[0, 2, 1, 3])
        x = call.add("Reshape", moved, call.integers(0, 0, -1))
        for all_last, one in zip(last, after, strict=True):
            all_last.append(one)
    if not call.get("state_outputs", False):
        return x
    return [x, *(call.add("Concat", *one, axis=0) for one in last)]
