# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers.

Such as every framework writes run as one call; peepholes, clipping, lengths and other activations
step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp

from .graph import Node
from .registry import imports

#: ONNX's name: the number of gates, and where those stand that ``npx.rnn`` has in its order.
_GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}
_USUAL = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}


def _activation(f: Any, name: str, alpha: float | None, beta: float | None) -> Callable[[Any], Any]:
    """Return an activation by its name in ONNX."""

    def number(given: float | None, usual: float) -> float:
        return usual if given is None else given

    rules: dict[str, Callable[[Any], Any]] = {
        "affine": lambda x: number(alpha, 1.0) * x + number(beta, 0.0),
        "elu": lambda x: f.where(x > 0, x, number(alpha, 1.0) * f.expm1(x)),
        "hardsigmoid": lambda x: f.clip(number(alpha, 0.2) * x + number(beta, 0.5), 0, 1),
        "leakyrelu": lambda x: f.where(x > 0, x, number(alpha, 0.01) * x),
        "relu": f.relu,
        "scaledtanh": lambda x: number(alpha, 1.0) * f.tanh(number(beta, 1.0) * x),
        "sigmoid": f.sigmoid,
        "softplus": lambda x: f.log1p(f.exp(x)),
        "softsign": lambda x: x / (1 + f.abs(x)),
        "tanh": f.tanh,
        "thresholdedrelu": lambda x: f.where(x > number(alpha, 1.0), x, 0 * x),
    }
    return rules[name.lower()]


class _Layer:
    """A recurrent layer as a node describes it. Time is the first axis, then come samples."""

    def __init__(self, node: Node) -> None:
        self.node, self.f, self.kind = node, node.f, node.step.op
        self.is_batch_first = bool(node.get("layout", 0))
        self.x = self._turned(node[0])
        self.steps, self.samples = self.x.shape[:2]
        self.weight, self.recurrent = node[1], node[2]
        self.directions, _, self.size = self.recurrent.shape
        self.direction = node.get("direction", "forward")
        self.gates = len(_GATES[self.kind])
        usual = _USUAL[self.kind] * self.directions
        self.activations: list[str] = node.get("activations") or usual
        self.lengths = node.numbers(4)
        has_cell = self.kind == "LSTM"
        self.state = self._initial(5)
        self.cell = self._initial(6) if has_cell else None
        self.peepholes = node[7] if has_cell and node.has(7) else None
        if node.has(3):
            self.bias = node[3]
        else:
            zeros = onp.zeros((self.directions, 2 * self.gates * self.size), "float32")
            self.bias = self.f.cast(self.f.value(zeros), self.x.dtype)

    def _turned(self, x: Any) -> Any:
        """Return samples and time in each other's place, if samples come first in the model."""
        rest = range(2, len(x.shape))
        return self.f.transpose(x, (1, 0, *rest)) if self.is_batch_first else x

    def _initial(self, index: int) -> Any:
        if self.node.has(index):
            return self._turned(self.node[index])
        zeros = onp.zeros((self.directions, self.samples, self.size), "float32")
        return self.f.cast(self.f.value(zeros), self.x.dtype)

    def results(self) -> tuple[Any, ...]:
        """Return all states, the last one and (LSTM) the last cell."""
        if self._is_usual():
            outputs, last = self._at_once()
        else:
            outputs, last = self._step_by_step()
        if self.is_batch_first:
            outputs = self.f.transpose(outputs, (2, 0, 1, 3))
            last = [self.f.transpose(one, (1, 0, 2)) for one in last]
        return (outputs, *last)

    def _is_usual(self) -> bool:
        node = self.node
        lower = [name.lower() for name in self.activations]
        usual = [name.lower() for name in _USUAL[self.kind]] * self.directions
        is_relu = self.kind == "RNN" and set(lower) == {"relu"}
        return (
            (lower == usual or is_relu)
            and self.lengths is None
            and self.peepholes is None
            and node.get("clip") is None
            and not node.get("input_forget", 0)
            and (self.kind != "GRU" or bool(node.get("linear_before_reset", 0)))
            and self.x.dtype == onp.float32
        )

    # --- by one call ---

    def _ordered(self, value: Any) -> Any:
        """Return the lines of the gates in the order of ``npx.rnn``."""
        parts = [value[gate * self.size : (gate + 1) * self.size] for gate in _GATES[self.kind]]
        return self.f.concatenate(parts, axis=0)

    def _at_once(self) -> tuple[Any, list[Any]]:
        f, half = self.f, self.gates * self.size
        weights, biases = [], []
        for number in range(self.directions):
            weights += [self._ordered(self.weight[number]), self._ordered(self.recurrent[number])]
            bias = self.bias[number]
            biases += [self._ordered(bias[:half]), self._ordered(bias[half:])]
        packed = f.concatenate([f.reshape(one, (-1,)) for one in (*weights, *biases)], axis=0)
        is_relu = self.activations[0].lower() == "relu"
        mode = self.kind.lower() if self.kind != "RNN" else "rnn_relu" if is_relu else "rnn_tanh"
        states = [self.state] if self.cell is None else [self.state, self.cell]
        is_reversed = self.direction == "reverse"
        x = f.flip(self.x, 0) if is_reversed else self.x
        outputs, *last = f.rnn(
            x,
            packed,
            *states,
            state_size=self.size,
            num_layers=1,
            bidirectional=self.directions == 2,
            mode=mode,
            state_outputs=True,
        )
        outputs = f.flip(outputs, 0) if is_reversed else outputs
        shape = (self.steps, self.samples, self.directions, self.size)
        return f.transpose(f.reshape(outputs, shape), (0, 2, 1, 3)), last

    # --- step by step ---

    def _step_by_step(self) -> tuple[Any, list[Any]]:
        f = self.f
        outputs, states, cells = [], [], []
        for number in range(self.directions):
            is_reversed = self.direction == "reverse" or number == 1
            x = self._backwards(self.x) if is_reversed else self.x
            found, state, cell = self._one_direction(number, x)
            outputs.append(self._backwards(found) if is_reversed else found)
            states.append(state)
            cells.append(cell)
        last = [f.stack(states, axis=0)]
        if self.cell is not None:
            last.append(f.stack(cells, axis=0))
        return f.stack(outputs, axis=1), last

    def _backwards(self, x: Any) -> Any:
        """Return steps in reverse, those of a sample before its end."""
        if self.lengths is None:
            return self.f.flip(x, 0)
        steps = onp.arange(self.steps)[:, None]
        lengths = onp.asarray(self.lengths, "int64")
        places = onp.where(steps < lengths, lengths - 1 - steps, steps)
        rows = places * self.samples + onp.arange(self.samples)
        flat = self.f.reshape(x, (-1, *x.shape[2:]))
        return self.f.take(flat, self.f.value(rows), axis=0)

    def _one_direction(self, number: int, x: Any) -> tuple[Any, Any, Any]:
        f = self.f
        state = self.state[number]
        cell = None if self.cell is None else self.cell[number]
        inputs = f.matmul(x, f.transpose(self.weight[number]))
        half = self.gates * self.size
        bias = self.bias[number]
        inputs = inputs + bias[:half]
        step = getattr(self, f"_{self.kind.lower()}")
        outputs = []
        for time in range(self.steps):
            new, new_cell = step(number, inputs[time], state, cell, bias[half:])
            if self.lengths is None:
                state, cell = new, new_cell
                outputs.append(new)
                continue
            goes_on = f.value(onp.asarray([[time < length] for length in self.lengths]))
            state = f.where(goes_on, new, state)
            cell = None if cell is None else f.where(goes_on, new_cell, cell)
            outputs.append(f.where(goes_on, new, f.zeros_like(new)))
        return f.stack(outputs, axis=0), state, cell

    def _gate(self, values: Any, place: int) -> Any:
        return values[:, place * self.size : (place + 1) * self.size]

    def _activate(self, number: int, place: int, value: Any) -> Any:
        """Apply the activation of that place; numbers beyond the clip are cut."""
        clip = self.node.get("clip")
        if clip:
            value = self.f.clip(value, -clip, clip)
        index = number * len(_USUAL[self.kind]) + place
        given = (self.node.get("activation_alpha"), self.node.get("activation_beta"))
        alpha, beta = (one[index] if one and index < len(one) else None for one in given)
        return _activation(self.f, self.activations[index], alpha, beta)(value)

    def _recur(self, number: int, state: Any, bias: Any) -> Any:
        return self.f.matmul(state, self.f.transpose(self.recurrent[number])) + bias

    def _rnn(self, number: int, x: Any, state: Any, _: Any, bias: Any) -> tuple[Any, Any]:
        return self._activate(number, 0, x + self._recur(number, state, bias)), None

    def _gru(self, number: int, x: Any, state: Any, _: Any, bias: Any) -> tuple[Any, Any]:
        size = self.size
        hidden = self._recur(number, state, bias)
        update = self._activate(number, 0, self._gate(x, 0) + self._gate(hidden, 0))
        reset = self._activate(number, 0, self._gate(x, 1) + self._gate(hidden, 1))
        if self.node.get("linear_before_reset", 0):
            inner = reset * self._gate(hidden, 2)
        else:
            weight = self.f.transpose(self.recurrent[number][2 * size :])
            inner = self.f.matmul(reset * state, weight) + bias[2 * size :]
        new = self._activate(number, 1, self._gate(x, 2) + inner)
        return (1 - update) * new + update * state, None

    def _lstm(self, number: int, x: Any, state: Any, cell: Any, bias: Any) -> tuple[Any, Any]:
        total = x + self._recur(number, state, bias)

        def seen(place: int, value: Any) -> Any:
            if self.peepholes is None:
                return 0
            return self.peepholes[number][place * self.size : (place + 1) * self.size] * value

        enter = self._activate(number, 0, self._gate(total, 0) + seen(0, cell))
        if self.node.get("input_forget", 0):
            forget = 1 - enter
        else:
            forget = self._activate(number, 0, self._gate(total, 2) + seen(2, cell))
        new = forget * cell + enter * self._activate(number, 1, self._gate(total, 3))
        leave = self._activate(number, 0, self._gate(total, 1) + seen(1, new))
        clipless = len(_USUAL["LSTM"]) * number + 2
        return leave * _activation(self.f, self.activations[clipless], None, None)(new), new


@imports("LSTM", "GRU", "RNN")
def _recurrent(node: Node) -> Any:
    return _Layer(node).results()
