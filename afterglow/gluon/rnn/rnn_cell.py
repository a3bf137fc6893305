# SPDX-License-Identifier: Apache-2.0
"""Cells: what a recurrent network does in one step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Number
from typing import Any

from ... import ndarray, symbol
from ..._arrays.shapes import Shape
from ..._package.constructors import handed_on
from ...error import ArrayValueError
from .._functions import functions
from ..block import Block, HybridBlock
from ..nn import LeakyReLU
from ..parameter import Parameter, ParameterDict
from . import _sequences

__all__ = [
    "BidirectionalCell",
    "DropoutCell",
    "GRUCell",
    "HybridRecurrentCell",
    "HybridSequentialRNNCell",
    "LSTMCell",
    "ModifierCell",
    "RNNCell",
    "RecurrentCell",
    "ResidualCell",
    "SequentialRNNCell",
    "ZoneoutCell",
]

Info = list[dict[str, Any]]

_zeros: Any = ndarray.zeros
_symbol_zeros: Any = symbol.zeros

#: Activations that are ops of their own.
_NAMED = frozenset(("tanh", "relu", "sigmoid", "softsign"))


def activated(x: Any, activation: Any, name: str | None = None) -> Any:
    """Return the activation of each element, by its name or by a layer."""
    f = functions(x)
    if activation in _NAMED:
        return getattr(f, activation)(x, name=name)
    if isinstance(activation, str):
        return f.Activation(x, act_type=activation, name=name)
    if isinstance(activation, LeakyReLU):
        return f.LeakyReLU(x, act_type="leaky", slope=activation._alpha, name=name)
    return activation(x)


class RecurrentCell(Block):
    """What takes the input of one step and the states before it, and returns output and states.

    ``unroll`` calls it for all steps of a sequence.
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._modified = False
        self.reset()

    def reset(self) -> None:
        """Begin a new sequence."""
        self._init_counter = -1
        self._counter = -1
        for cell in self._children.values():
            if isinstance(cell, RecurrentCell):
                cell.reset()

    def state_info(self, batch_size: int = 0) -> Info:
        """Return shape and layout of the states."""
        raise NotImplementedError

    def begin_state(
        self, batch_size: int = 0, func: Callable[..., Any] = _zeros, **kwargs: Any
    ) -> list[Any]:
        """Return the states before the first step, made by ``func``.

        >>> from afterglow import gluon
        >>> [state.shape for state in gluon.rnn.LSTMCell(3).begin_state(batch_size=2)]
        [(2, 3), (2, 3)]
        """
        self._refuse_modified()
        states = []
        for info in self.state_info(batch_size):
            self._init_counter += 1
            name = f"{self._prefix}begin_state_{self._init_counter}"
            states.append(_sequences.state(func, name, {**info, **kwargs}))
        return states

    def _refuse_modified(self) -> None:
        assert not self._modified, (
            "After applying modifier cells (e.g. ZoneoutCell) the base cell cannot be called "
            "directly. Call the modifier cell instead."
        )

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Return the outputs of all steps and the last states.

        The inputs are one array or a list of steps. So are the outputs, as ``merge_outputs`` says;
        ``None`` leaves them as they come. Behind the valid lengths, if those are given, outputs
        are 0, and states are those after the last valid step.

        >>> from afterglow import gluon, nd
        >>> cell = gluon.rnn.GRUCell(3)
        >>> cell.initialize()
        >>> outputs, states = cell.unroll(5, nd.ones((2, 5, 4)), merge_outputs=True)
        >>> outputs.shape, states[0].shape
        ((2, 5, 3), (2, 3))
        """
        self.reset()
        axis = layout.find("T")
        steps = _sequences.formatted(length, inputs, layout, False)
        states = _sequences.begin(self, begin_state, steps, 0)
        outputs: Any = []
        passed = []
        for one in steps:
            output, states = self(one, states)
            outputs.append(output)
            passed.append(states)
        if valid_length is not None:
            states = [
                _sequences.last_valid(list(one), valid_length) for one in zip(*passed, strict=True)
            ]
            outputs = _sequences.masked(outputs, length, valid_length, axis, True)
        return _sequences.formatted(length, outputs, layout, merge_outputs), states

    def forward(self, inputs: Any, states: Any) -> Any:
        """Take one step."""
        self._count_step(states)
        return super().forward(inputs, states)

    def _count_step(self, states: Any) -> None:
        count = len(self.state_info())
        if len(states) != count:
            raise ArrayValueError(
                f"[{type(self).__name__}] got {len(states)} states; it needs {count}, as "
                f"begin_state() returns them"
            )
        self._counter += 1


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """A cell that can be hybridized: its step is a ``hybrid_forward``."""

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)


class _GatedCell(HybridRecurrentCell):
    """What cells with weights share: products of the input and of the state, for each gate."""

    i2h_weight: Parameter
    h2h_weight: Parameter
    i2h_bias: Parameter
    h2h_bias: Parameter

    def _add_weights(
        self,
        gates: int,
        hidden_size: int,
        input_size: int,
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
        state_size: int | None = None,
    ) -> None:
        self._hidden_size = hidden_size
        self._input_size = input_size
        rows = gates * hidden_size
        self._rows = rows
        self._add_weight("i2h_weight", (rows, input_size), i2h_weight_initializer)
        self._add_weight("h2h_weight", (rows, state_size or hidden_size), h2h_weight_initializer)
        self._add_weight("i2h_bias", (rows,), i2h_bias_initializer)
        self._add_weight("h2h_bias", (rows,), h2h_bias_initializer)

    def _add_weight(self, name: str, shape: Shape, init: Any) -> None:
        parameter = self.params.get(name, shape=shape, init=init, allow_deferred_init=True)
        setattr(self, name, parameter)

    def state_info(self, batch_size: int = 0) -> Info:
        """Return shape and layout of the states."""
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"}]

    def _mapping(self) -> str:
        rows, columns = self.i2h_weight.shape or (0, 0)
        return f"{columns or None} -> {rows}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._mapping()})"

    def _products(
        self,
        prefix: str,
        inputs: Any,
        state: Any,
        i2h_weight: Any,
        h2h_weight: Any,
        i2h_bias: Any,
        h2h_bias: Any,
    ) -> tuple[Any, Any]:
        f = functions(inputs)
        rows = self._rows
        i2h = f.FullyConnected(inputs, i2h_weight, i2h_bias, num_hidden=rows, name=f"{prefix}i2h")
        h2h = f.FullyConnected(state, h2h_weight, h2h_bias, num_hidden=rows, name=f"{prefix}h2h")
        return i2h, h2h


class RNNCell(_GatedCell):
    """One step of an Elman network: the activation of both products together.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.rnn.RNNCell(3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((2, 4)), cell.begin_state(batch_size=2))
    >>> output.shape, len(states)
    ((2, 3), 1)
    """

    def __init__(
        self,
        hidden_size: int,
        activation: Any = "tanh",
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._activation = activation
        self._add_weights(1, **handed_on(locals(), "activation", "prefix", "params"))

    def _alias(self) -> str:
        return "rnn"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._mapping()}, {self._activation})"

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, **weights: Any) -> Any:
        """Take one step."""
        prefix = f"t{self._counter}_"
        i2h, h2h = self._products(prefix, inputs, states[0], **weights)
        together = functions(inputs).elemwise_add(i2h, h2h, name=f"{prefix}plus0")
        output = activated(together, self._activation, f"{prefix}out")
        return output, [output]


class LSTMCell(_GatedCell):
    """One step of a long short-term memory.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.rnn.LSTMCell(3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((2, 4)), cell.begin_state(batch_size=2))
    >>> output.shape, len(states)
    ((2, 3), 2)
    """

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._add_weights(
            4, **handed_on(locals(), "activation", "recurrent_activation", "prefix", "params")
        )
        self._activation = activation
        self._recurrent_activation = recurrent_activation

    def state_info(self, batch_size: int = 0) -> Info:
        """Return shape and layout of the states."""
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"} for _ in range(2)]

    def _alias(self) -> str:
        return "lstm"

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, **weights: Any) -> Any:
        """Take one step."""
        f, prefix = functions(inputs), f"t{self._counter}_"
        i2h, h2h = self._products(prefix, inputs, states[0], **weights)
        gates = f.SliceChannel(
            f.elemwise_add(i2h, h2h, name=f"{prefix}plus0"), num_outputs=4, name=f"{prefix}slice"
        )
        opened = activated(gates[0], self._recurrent_activation, f"{prefix}i")
        kept = activated(gates[1], self._recurrent_activation, f"{prefix}f")
        proposed = activated(gates[2], self._activation, f"{prefix}c")
        shown = activated(gates[3], self._recurrent_activation, f"{prefix}o")
        cell = f.elemwise_add(
            f.elemwise_mul(kept, states[1], name=f"{prefix}mul0"),
            f.elemwise_mul(opened, proposed, name=f"{prefix}mul1"),
            name=f"{prefix}state",
        )
        hidden = f.elemwise_mul(
            shown,
            f.Activation(cell, act_type=self._activation, name=f"{prefix}activation0"),
            name=f"{prefix}out",
        )
        return hidden, [hidden, cell]


class GRUCell(_GatedCell):
    """One step of a network of gated recurrent units; the reset gate acts behind the product.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.rnn.GRUCell(3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((2, 4)), cell.begin_state(batch_size=2))
    >>> output.shape, len(states)
    ((2, 3), 1)
    """

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._add_weights(3, **handed_on(locals(), "prefix", "params"))

    def _alias(self) -> str:
        return "gru"

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, **weights: Any) -> Any:
        """Take one step."""
        f, prefix = functions(inputs), f"t{self._counter}_"
        before = states[0]
        i2h, h2h = self._products(prefix, inputs, before, **weights)
        x = f.SliceChannel(i2h, num_outputs=3, name=f"{prefix}i2h_slice")
        h = f.SliceChannel(h2h, num_outputs=3, name=f"{prefix}h2h_slice")
        reset, update = (
            f.Activation(
                f.elemwise_add(x[gate], h[gate], name=f"{prefix}plus{gate}"),
                act_type="sigmoid",
                name=f"{prefix}{name}_act",
            )
            for gate, name in enumerate("rz")
        )
        proposed = f.Activation(
            f.elemwise_add(
                x[2], f.elemwise_mul(reset, h[2], name=f"{prefix}mul0"), name=f"{prefix}plus2"
            ),
            act_type="tanh",
            name=f"{prefix}h_act",
        )
        ones = f.ones_like(update, name=f"{prefix}ones_like0")
        output = f.elemwise_add(
            f.elemwise_mul(
                f.elemwise_sub(ones, update, name=f"{prefix}minus0"), proposed, name=f"{prefix}mul1"
            ),
            f.elemwise_mul(update, before, name=f"{prefix}mul20"),
            name=f"{prefix}out",
        )
        return output, [output]


class _Stack(RecurrentCell):
    """What both kinds of stacks share: cells one above the other."""

    def __repr__(self) -> str:
        shown = (f"({name}): {cell!r}" for name, cell in self._children.items())
        lines = "\n".join(one.replace("\n", "\n  ") for one in shown)
        return f"{type(self).__name__}(\n{lines}\n)"

    def add(self, cell: RecurrentCell) -> None:
        """Put a cell on top."""
        self.register_child(cell)

    def _cells(self) -> list[Any]:
        return list(self._children.values())

    def state_info(self, batch_size: int = 0) -> Info:
        """Return shape and layout of the states of all cells."""
        return _all_info(self._cells(), batch_size)

    def begin_state(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Return the states of all cells before the first step."""
        self._refuse_modified()
        return _all_states(self._cells(), *args, **kwargs)

    def _climb(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        """Take one step from cell to cell."""
        assert not any(isinstance(cell, BidirectionalCell) for cell in self._cells()), (
            f"{type(self).__name__} has a BidirectionalCell, which cannot be stepped; use unroll"
        )
        after: list[Any] = []
        for cell in self._cells():
            count = len(cell.state_info())
            inputs, own = cell(inputs, states[:count])
            states = states[count:]
            after += own
        return inputs, after

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Return the outputs of all steps and the last states: one cell after the other."""
        self.reset()
        inputs = _sequences.formatted(length, inputs, layout, None)
        states = _sequences.begin(self, begin_state, inputs, layout.find("N"))
        after: list[Any] = []
        cells = self._cells()
        for cell in cells:
            count = len(cell.state_info())
            inputs, own = cell.unroll(
                length,
                inputs=inputs,
                begin_state=states[:count],
                layout=layout,
                merge_outputs=merge_outputs if cell is cells[-1] else None,
                valid_length=valid_length,
            )
            states = states[count:]
            after.extend(own)
        return inputs, after

    def __getitem__(self, i: int) -> Any:
        return self._children[str(i)]

    def __len__(self) -> int:
        return len(self._children)


def _all_info(cells: Iterable[Any], batch_size: int) -> Info:
    return [info for cell in cells for info in cell.state_info(batch_size)]


def _all_states(cells: Iterable[Any], *args: Any, **kwargs: Any) -> list[Any]:
    return [state for cell in cells for state in cell.begin_state(*args, **kwargs)]


class SequentialRNNCell(_Stack):
    """Cells one above the other: each takes the output of the one below as its input.

    >>> from afterglow import gluon, nd
    >>> stack = gluon.rnn.SequentialRNNCell()
    >>> stack.add(gluon.rnn.LSTMCell(3))
    >>> stack.add(gluon.rnn.GRUCell(2))
    >>> stack.initialize()
    >>> output, states = stack(nd.ones((5, 4)), stack.begin_state(batch_size=5))
    >>> output.shape, len(states)
    ((5, 2), 3)
    """

    def forward(self, inputs: Any, states: Any) -> Any:
        """Take one step."""
        self._count_step(states)
        return self._climb(inputs, states)


class HybridSequentialRNNCell(_Stack, HybridRecurrentCell):
    """Hybrid cells one above the other: each takes the output of the one below as its input.

    >>> from afterglow import gluon, nd
    >>> stack = gluon.rnn.HybridSequentialRNNCell()
    >>> stack.add(gluon.rnn.LSTMCell(3))
    >>> stack.add(gluon.rnn.GRUCell(2))
    >>> stack.initialize()
    >>> output, states = stack(nd.ones((5, 4)), stack.begin_state(batch_size=5))
    >>> output.shape, len(states)
    ((5, 2), 3)
    """

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        """Take one step."""
        return self._climb(inputs, states)


class DropoutCell(HybridRecurrentCell):
    """Zeroes elements of its input at random in training, and makes the others larger by as much.

    >>> from afterglow import gluon, nd
    >>> gluon.rnn.DropoutCell(0.5)(nd.ones((1, 2)), [])
    (
    [[1. 1.]]
    <NDArray 1x2 @cpu(0)>, [])
    """

    def __init__(
        self,
        rate: float,
        axes: Shape = (),
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix, params)
        assert isinstance(rate, Number), "rate must be a number"
        self._rate = rate
        self._axes = axes

    def __repr__(self) -> str:
        return f"{type(self).__name__}(rate={self._rate}, axes={self._axes})"

    def state_info(self, batch_size: int = 0) -> Info:
        """Return nothing: there are no states."""
        return []

    def _alias(self) -> str:
        return "dropout"

    def _dropped(self, x: Any) -> Any:
        if not self._rate:
            return x
        name = f"t{self._counter}_fwd"
        return functions(x).Dropout(x, p=self._rate, axes=self._axes, name=name)

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        """Drop, if this is training."""
        return self._dropped(inputs), states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Drop from all steps; at once where they are one array."""
        self.reset()
        inputs = _sequences.formatted(length, inputs, layout, merge_outputs)
        if _sequences.is_merged(inputs):
            return self._dropped(inputs), begin_state or []
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)


class ModifierCell(HybridRecurrentCell):
    """A cell that does something to what another cell takes or returns.

    The other cell is not to be called by itself any more.
    """

    def __init__(self, base_cell: Any) -> None:
        assert not base_cell._modified, (
            f"Cell {base_cell.name} is already modified. One cell cannot be modified twice"
        )
        base_cell._modified = True
        super().__init__(prefix=base_cell.prefix + self._alias(), params=None)
        self.base_cell = base_cell

    @property
    def params(self) -> ParameterDict:
        """The parameters of the other cell."""
        base: ParameterDict = self.base_cell.params
        return base

    def state_info(self, batch_size: int = 0) -> Info:
        """Return shape and layout of the states."""
        info: Info = self.base_cell.state_info(batch_size)
        return info

    def begin_state(self, func: Callable[..., Any] = _symbol_zeros, **kwargs: Any) -> list[Any]:  # type: ignore[override]
        """Return the states before the first step; symbols unless ``func`` makes others."""
        self._refuse_modified()
        return self._of_base("begin_state", func=func, **kwargs)  # type: ignore[no-any-return]

    def _of_base(self, method: str, **kwargs: Any) -> Any:
        """Call what only this cell may call."""
        self.base_cell._modified = False
        try:
            return getattr(self.base_cell, method)(**kwargs)
        finally:
            self.base_cell._modified = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_cell})"


class ZoneoutCell(ModifierCell):
    """Keeps elements of the outputs and states of the step before, at random in training.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.rnn.ZoneoutCell(gluon.rnn.RNNCell(3), zoneout_outputs=0.5)
    >>> cell.initialize()
    >>> outputs, states = cell.unroll(2, nd.ones((1, 2, 4)), merge_outputs=True)
    >>> outputs.shape
    (1, 2, 3)
    """

    def __init__(
        self, base_cell: Any, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0
    ) -> None:
        assert not isinstance(base_cell, BidirectionalCell), (
            "BidirectionalCell doesn't support zoneout since it doesn't support step. Please add "
            "ZoneoutCell to the cells underneath instead."
        )
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self._prev_output: Any = None

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(p_out={self.zoneout_outputs}, p_state={self.zoneout_states}, "
            f"{self.base_cell})"
        )

    def _alias(self) -> str:
        return "zoneout"

    def reset(self) -> None:
        """Begin a new sequence."""
        super().reset()
        self._prev_output = None

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        """Take one step of the other cell, and keep some of what was."""
        after, next_states = self.base_cell(inputs, states)
        f = functions(after)

        def mixed(p: float, new: Any, old: Any) -> Any:
            return f.choose(f.Dropout(f.ones_like(new), p=p), new, old) if p else new

        before = self._prev_output
        output = mixed(
            self.zoneout_outputs, after, f.zeros_like(after) if before is None else before
        )
        result = [
            mixed(self.zoneout_states, new, old)
            for new, old in zip(next_states, states, strict=True)
        ]
        self._prev_output = output
        return output, result


class ResidualCell(ModifierCell):
    """Adds its input to the output of another cell.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.rnn.ResidualCell(gluon.rnn.GRUCell(4))
    >>> cell.initialize()
    >>> outputs, states = cell.unroll(2, nd.ones((1, 2, 4)), merge_outputs=True)
    >>> outputs.shape
    (1, 2, 4)
    """

    def __init__(self, base_cell: Any) -> None:
        super().__init__(base_cell)

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        """Take one step of the other cell, and add its input."""
        output, states = self.base_cell(inputs, states)
        name = f"t{self._counter}_fwd"
        return functions(inputs).elemwise_add(output, inputs, name=name), states

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
        self.reset()
        outputs, states = self._of_base(
            "unroll",
            length=length,
            inputs=inputs,
            begin_state=begin_state,
            layout=layout,
            merge_outputs=merge_outputs,
            valid_length=valid_length,
        )
        merge = _sequences.is_merged(outputs) if merge_outputs is None else merge_outputs
        inputs = _sequences.formatted(length, inputs, layout, merge)
        if valid_length is not None:
            inputs = _sequences.masked(inputs, length, valid_length, layout.find("T"), merge)
        if merge:
            return functions(inputs).elemwise_add(outputs, inputs), states
        add = functions(inputs[0]).elemwise_add
        return [add(one, other) for one, other in zip(outputs, inputs, strict=True)], states


class BidirectionalCell(HybridRecurrentCell):
    """Two cells, of which one goes from the first step to the last and one the other way.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.rnn.BidirectionalCell(gluon.rnn.LSTMCell(3), gluon.rnn.LSTMCell(3))
    >>> cell.initialize()
    >>> outputs, states = cell.unroll(5, nd.ones((2, 5, 4)), merge_outputs=True)
    >>> outputs.shape, len(states)
    ((2, 5, 6), 4)
    """

    def __init__(self, l_cell: Any, r_cell: Any, output_prefix: str = "bi_") -> None:
        super().__init__(prefix="", params=None)
        self.register_child(l_cell, "l_cell")
        self.register_child(r_cell, "r_cell")
        self._output_prefix = output_prefix

    def __call__(self, inputs: Any, states: Any) -> Any:
        """Raise: the last step is needed for the first output."""
        raise NotImplementedError("Bidirectional cannot be stepped. Please use unroll")

    def __repr__(self) -> str:
        l_cell, r_cell = self._children.values()
        return f"{type(self).__name__}(forward={l_cell}, backward={r_cell})"

    def state_info(self, batch_size: int = 0) -> Info:
        """Return shape and layout of the states of both cells."""
        return _all_info(self._children.values(), batch_size)

    def begin_state(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Return the states of both cells before their first steps."""
        self._refuse_modified()
        return _all_states(self._children.values(), *args, **kwargs)

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Return the outputs of both cells side by side, and the last states of both."""
        self.reset()
        axis = layout.find("T")
        steps = _sequences.formatted(length, inputs, layout, False)
        states = _sequences.begin(self, begin_state, steps, 0)
        l_cell, r_cell = self._children.values()
        count = len(l_cell.state_info())  # type: ignore[attr-defined]
        given = {"layout": layout, "valid_length": valid_length}
        ahead, l_states = l_cell.unroll(  # type: ignore[attr-defined]
            length,
            inputs=steps,
            begin_state=states[:count],
            merge_outputs=merge_outputs,
            **given,
        )
        back, r_states = r_cell.unroll(  # type: ignore[attr-defined]
            length,
            inputs=_sequences.reversed_steps(steps, valid_length),
            begin_state=states[count:],
            merge_outputs=False,
            **given,
        )
        back = _sequences.reversed_steps(back, valid_length)
        merge = _sequences.is_merged(ahead) if merge_outputs is None else merge_outputs
        f = functions(back[0])
        if merge:
            name = f"{self._output_prefix}out"
            outputs = f.join([ahead, f.stack(back, axis)], 2, name=name)
        else:
            outputs = [
                f.join([one, other], 1, name=f"{self._output_prefix}t{time}")
                for time, (one, other) in enumerate(zip(ahead, back, strict=True))
            ]
        if valid_length is not None:
            outputs = _sequences.masked(outputs, length, valid_length, axis, merge)
        return outputs, l_states + r_states
