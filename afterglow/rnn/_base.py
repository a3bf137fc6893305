# SPDX-License-Identifier: Apache-2.0
"""What all cells of ``mx.rnn`` share: their variables, states, weights and unrolling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .. import ndarray as nd
from .. import symbol as sym
from ..symbol import Symbol

#: Weights by name.
Weights = dict[str, Any]

#: A sequence as one symbol with an axis of time, or as a list of one symbol for each step.
Steps = Symbol | list[Symbol]

_GROUPS = ("i2h", "h2h")  #: from input to hidden, from hidden to hidden


class RNNParams:
    """Variables by name, which cells share when they are given the same container.

    >>> from afterglow import rnn
    >>> shared = rnn.RNNParams("lstm_")
    >>> shared.get("i2h_weight") is shared.get("i2h_weight")
    True
    """

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._params: dict[str, Symbol] = {}

    def get(self, name: str, **kwargs: Any) -> Symbol:
        """Return the variable of that name; the first time it is made, with these arguments."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = sym.var(name, **kwargs)
        return self._params[name]


class BaseRNNCell:
    """A function from an input and states to an output and states, made of symbols.

    A cell is called once per step, or unrolled over a whole sequence. ``prefix`` begins the names
    of its nodes, and those of its variables unless ``params`` is given.
    """

    def __init__(self, prefix: str = "", params: RNNParams | None = None) -> None:
        self._own_params = params is None
        self._prefix = prefix
        self._params = RNNParams(prefix) if params is None else params
        self._modified = False
        self._cells: list[BaseRNNCell] = []
        self.reset()

    def reset(self) -> None:
        """Begin to count steps again, before the cell is used for another graph."""
        self._init_counter = -1
        self._counter = -1
        for cell in self._cells:
            cell.reset()

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Return output and new states of one step."""
        raise NotImplementedError(f"{type(self).__name__} does not say what a step is")

    @property
    def params(self) -> RNNParams:
        """The variables; a cell that was asked for them no longer has them for itself."""
        self._own_params = False
        return self._params

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """Shape and layout of each state; the size of the batch is left open as 0."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its states are")

    @property
    def state_shape(self) -> list[tuple[int, ...]]:
        """The shape of each state."""
        return [info["shape"] for info in self.state_info]

    @property
    def _gate_names(self) -> Sequence[str]:
        """The ends of names under which the parts of a weight are known, in their order."""
        return ()

    @property
    def _num_gates(self) -> int:
        return len(self._gate_names)

    def begin_state(self, func: Callable[..., Symbol] = sym.zeros, **kwargs: Any) -> list[Symbol]:
        """Return the states before the first step, made by ``func`` such as ``sym.var``."""
        self._need_unmodified()
        states = []
        for info in self.state_info:
            self._init_counter += 1
            name = f"{self._prefix}begin_state_{self._init_counter}"
            states.append(func(name=name, **{**kwargs, **info}))
        return states

    def _need_unmodified(self) -> None:
        assert not self._modified, (
            "After applying modifier cells (e.g. DropoutCell) the base cell cannot be called "
            "directly. Call the modifier cell instead."
        )

    def unpack_weights(self, args: Mapping[str, Any]) -> Weights:
        """Return the weights with those of this cell cut into one for each gate."""
        weights = dict(args)
        for group in _GROUPS if self._gate_names else ():
            for kind in ("weight", "bias"):
                whole = weights.pop(f"{self._prefix}{group}_{kind}")
                size = whole.shape[0] // self._num_gates
                for place, gate in enumerate(self._gate_names):
                    part = whole[place * size : (place + 1) * size]
                    weights[f"{self._prefix}{group}{gate}_{kind}"] = part.copy()
        return weights

    def pack_weights(self, args: Mapping[str, Any]) -> Weights:
        """Return the weights with those of this cell put together again."""
        weights = dict(args)
        for group in _GROUPS if self._gate_names else ():
            for kind in ("weight", "bias"):
                names = [f"{self._prefix}{group}{gate}_{kind}" for gate in self._gate_names]
                whole = nd.concat(*(weights.pop(name) for name in names), dim=0)
                weights[f"{self._prefix}{group}_{kind}"] = whole
        return weights

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, Any]:
        """Return the outputs of all steps, and the states after the last one.

        ``inputs`` is a symbol with an axis of time, where ``layout`` says, or a list of symbols.
        Outputs are one symbol if ``merge_outputs`` is True, a list if it is False, and whatever is
        cheaper if it is None.
        """
        self.reset()
        steps = separate_steps(length, inputs, layout)
        states = self.begin_state() if begin_state is None else begin_state
        outputs = []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
        return arranged_steps(length, outputs, layout, merge_outputs), states

    @staticmethod
    def _get_activation(inputs: Symbol, activation: Any, **kwargs: Any) -> Symbol:
        """Return an activation that is given by its name or as a function."""
        if isinstance(activation, str):
            result: Symbol = sym.Activation(inputs, act_type=activation, **kwargs)
            return result
        called: Symbol = activation(inputs, **kwargs)
        return called

    def _step_prefix(self) -> str:
        """Return what the names of the next step's nodes begin with."""
        self._counter += 1
        return f"{self._prefix}t{self._counter}_"


def in_all(cells: Iterable[BaseRNNCell], method: str, weights: Mapping[str, Any]) -> Weights:
    """Return what packing or unpacking makes of weights, cell after cell."""
    result = dict(weights)
    for cell in cells:
        result = getattr(cell, method)(result)
    return result


def time_axis(layout: str) -> int:
    """Return the axis of time, refusing layouts without one."""
    axis = layout.find("T")
    assert axis >= 0, f"layout must have a T for time, as NTC and TNC have, but got {layout!r}"
    return axis


def separate_steps(length: int, inputs: Any, layout: str) -> list[Symbol]:
    """Return a sequence as a list of steps."""
    steps: list[Symbol] = arranged_steps(length, inputs, layout, merge=False)
    return steps


def merged_steps(length: int, inputs: Any, layout: str) -> Symbol:
    """Return a sequence as one symbol."""
    whole: Symbol = arranged_steps(length, inputs, layout, merge=True)
    return whole


def arranged_steps(length: int, inputs: Any, layout: str, merge: bool | None) -> Any:
    """Return a sequence as one symbol, as a list of steps, or (``merge=None``) as it is."""
    assert inputs is not None, (
        "unroll(inputs=None) has been deprecated. Please create input variables outside unroll."
    )
    axis = time_axis(layout)
    if isinstance(inputs, Symbol):
        if merge is not False:
            return inputs
        assert len(inputs.list_outputs()) == 1, (
            "unroll doesn't allow grouped symbol as input. Please convert to list with list(inputs)"
            " first or let unroll handle splitting."
        )
        return list(sym.split(inputs, axis=axis, num_outputs=length, squeeze_axis=True))
    steps = list(inputs)
    assert length is None or len(steps) == length, (
        f"unroll needs {length} steps, but got {len(steps)}"
    )
    if merge is not True:
        return steps
    return sym.concat(*(sym.expand_dims(step, axis=axis) for step in steps), dim=axis)
