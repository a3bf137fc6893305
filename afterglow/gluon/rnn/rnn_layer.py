# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: all steps of sequences in one call."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ... import ndarray, symbol
from ..._arrays.worlds import in_world
from ..._core import Array
from ..._package.constructors import handed_on
from ...name import NameManager
from .._functions import functions
from ..block import HybridBlock
from ..parameter import Parameter, tensor_types
from . import _sequences, rnn_cell
from .rnn_cell import Info

__all__ = ["GRU", "LSTM", "RNN"]

_zeros: Any = ndarray.zeros
_symbol_zeros: Any = symbol.zeros

_GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}

#: What only LSTM layers can be given.
_PLAIN: dict[str, Any] = {
    "projection_size": None,
    "h2r_weight_initializer": None,
    "state_clip_min": None,
    "state_clip_max": None,
    "state_clip_nan": False,
}

#: The name of a weight: direction, layer, which product, what it is.
_WEIGHT = re.compile(r"(l|r)(\d+)_(i2h|h2h|h2r)_(weight|bias)\Z")


class _RNNLayer(HybridBlock):
    """Layers one above the other, each in one or both directions."""

    l0_i2h_weight: Parameter

    def __init__(
        self,
        hidden_size: int,
        num_layers: int,
        layout: str,
        dropout: float,
        bidirectional: bool,
        input_size: int,
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
        mode: str,
        projection_size: int | None,
        h2r_weight_initializer: Any,
        state_clip_min: float | None,
        state_clip_max: float | None,
        state_clip_nan: bool,
        dtype: Any,
        use_sequence_length: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        assert layout in ("TNC", "NTC"), f"Invalid layout {layout}; must be one of ['TNC' or 'NTC']"
        self._hidden_size = hidden_size
        self._projection_size = projection_size or None
        self._num_layers = num_layers
        self._mode = mode
        self._layout = layout
        self._dropout = dropout
        self._dir = 2 if bidirectional else 1
        self._input_size = input_size
        self._initializers = {
            "i2h_weight": i2h_weight_initializer,
            "h2h_weight": h2h_weight_initializer,
            "h2r_weight": h2r_weight_initializer,
            "i2h_bias": i2h_bias_initializer,
            "h2h_bias": h2h_bias_initializer,
        }
        self._lstm_state_clip_min = state_clip_min
        self._lstm_state_clip_max = state_clip_max
        self._lstm_state_clip_nan = state_clip_nan
        self._dtype = dtype
        self._use_sequence_length = use_sequence_length
        self._gates = _GATES[mode]
        self._add_weights()

    def _add_weights(self) -> None:
        rows = self._gates * self._hidden_size
        state = self._projection_size or self._hidden_size
        columns = self._input_size
        for layer in range(self._num_layers):
            shapes: dict[str, tuple[int, ...]] = {
                "i2h_weight": (rows, columns),
                "h2h_weight": (rows, state),
                "i2h_bias": (rows,),
                "h2h_bias": (rows,),
            }
            if self._projection_size:
                shapes["h2r_weight"] = (state, self._hidden_size)
            for direction in "lr"[: self._dir]:
                for kind, shape in shapes.items():
                    name = f"{direction}{layer}_{kind}"
                    parameter = self.params.get(
                        name,
                        shape=shape,
                        init=self._initializers[kind],
                        allow_deferred_init=True,
                        dtype=self._dtype,
                    )
                    setattr(self, name, parameter)
            columns = state * self._dir

    def __repr__(self) -> str:
        rows, columns = self.l0_i2h_weight.shape or (0, 0)
        parts = [f"{columns or None} -> {rows // self._gates}", self._layout]
        if self._num_layers != 1:
            parts.append(f"num_layers={self._num_layers}")
        if self._dropout:
            parts.append(f"dropout={self._dropout}")
        if self._dir == 2:
            parts.append("bidirectional")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Parameter]:
        """Return the parameters by the names that files know: those of a stack of cells."""
        result = {}
        for name, parameter in self._reg_params.items():
            match = _WEIGHT.match(name)
            assert match is not None
            direction, layer, product, kind = match.groups()
            cell = f"{direction}_cell." if self._dir == 2 else ""
            result[f"{prefix}_unfused.{layer}.{cell}{product}_{kind}"] = parameter
        for name, child in self._children.items():
            result.update(child._collect_params_with_prefix(f"{prefix}{name}."))
        return result

    _collect_params_with_prefix = _collect_params_with_prefix

    def _state(self, batch_size: int, units: int) -> dict[str, Any]:
        shape = (self._num_layers * self._dir, batch_size, units)
        return {"shape": shape, "__layout__": "LNC", "dtype": self._dtype}

    def state_info(self, batch_size: int = 0) -> Info:
        """Return shape, layout and type of the states."""
        return [self._state(batch_size, self._hidden_size)]

    def begin_state(
        self, batch_size: int = 0, func: Callable[..., Any] = _zeros, **kwargs: Any
    ) -> list[Any]:
        """Return the states before the first step, made by ``func``.

        >>> from afterglow import gluon
        >>> [state.shape for state in gluon.rnn.LSTM(3, num_layers=2).begin_state(batch_size=5)]
        [(2, 5, 3), (2, 5, 3)]
        """
        return [
            _sequences.state(func, f"{self.prefix}h0_{number}", {**info, **kwargs})
            for number, info in enumerate(self.state_info(batch_size))
        ]

    def _unfuse(self) -> rnn_cell.HybridSequentialRNNCell:
        """Return a stack of cells that computes the same with the same parameters."""
        assert not self._projection_size, "_unfuse does not support projection layer yet!"
        bounds = self._lstm_state_clip_min or self._lstm_state_clip_max
        assert not bounds, "_unfuse does not support state clipping yet!"
        kinds: dict[str, tuple[Any, dict[str, Any]]] = {
            "rnn_relu": (rnn_cell.RNNCell, {"activation": "relu"}),
            "rnn_tanh": (rnn_cell.RNNCell, {"activation": "tanh"}),
            "lstm": (rnn_cell.LSTMCell, {}),
            "gru": (rnn_cell.GRUCell, {}),
        }
        kind, given = kinds[self._mode]
        for name, one in self._initializers.items():
            if name != "h2r_weight":
                given[f"{name}_initializer"] = one
        stack = rnn_cell.HybridSequentialRNNCell(prefix=self.prefix, params=self.params)
        with stack.name_scope():
            columns = self._input_size
            for layer in range(self._num_layers):
                cells = [
                    kind(self._hidden_size, input_size=columns, prefix=f"{side}{layer}_", **given)
                    for side in "lr"[: self._dir]
                ]
                stack.add(cells[0] if self._dir == 1 else rnn_cell.BidirectionalCell(*cells))
                if self._dropout > 0 and layer != self._num_layers - 1:
                    stack.add(rnn_cell.DropoutCell(self._dropout))
                columns = self._hidden_size * self._dir
        return stack

    def cast(self, dtype: Any) -> None:
        """Change the type of all parameters, and of the states to begin with."""
        super().cast(dtype)
        self._dtype = dtype

    def __call__(  # type: ignore[override]
        self, inputs: Any, states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> Any:
        """Return the outputs of all steps; with ``states`` also the last states."""
        if isinstance(states, tensor_types):
            states = [states]
        given = [states, sequence_length if self._use_sequence_length else None]
        while given and given[-1] is None:
            given.pop()
        return super().__call__(inputs, *given, **kwargs)

    def infer_shape(self, inputs: Any, *args: Any, **kwargs: Any) -> None:
        """Complete the shapes of the first weights."""
        for direction in "lr"[: self._dir]:
            weight = getattr(self, f"{direction}0_i2h_weight")
            weight.shape = (weight.shape[0], inputs.shape[2])

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any = None, sequence_length: Any = None, **weights: Any
    ) -> Any:
        """Run through all steps."""
        f = functions(inputs)
        begin = self._begin(inputs) if states is None else states
        self._check(inputs, begin)
        if self._layout == "NTC":
            inputs = f.swapaxes(inputs, 0, 1)
        names = [
            f"{direction}{layer}_{product}_{kind}"
            for kind in ("weight", "bias")
            for layer in range(self._num_layers)
            for direction in "lr"[: self._dir]
            for product in ("i2h", "h2h", "h2r")
        ]
        outputs, *after = f.recurrent(
            inputs,
            [weights[name] for name in names if name in weights],
            begin,
            [sequence_length] if self._use_sequence_length else [],
            use_sequence_length=self._use_sequence_length,
            state_size=self._hidden_size,
            projection_size=self._projection_size,
            num_layers=self._num_layers,
            bidirectional=self._dir == 2,
            p=self._dropout,
            state_outputs=True,
            mode=self._mode,
            lstm_state_clip_min=self._lstm_state_clip_min,
            lstm_state_clip_max=self._lstm_state_clip_max,
            lstm_state_clip_nan=self._lstm_state_clip_nan,
        )
        if self._layout == "NTC":
            outputs = f.swapaxes(outputs, 0, 1)
        return outputs if states is None else (outputs, after)

    def _begin(self, inputs: Any) -> list[Any]:
        if not isinstance(inputs, Array):
            with NameManager():  # which adds no prefix: their names have it
                return self.begin_state(_sequences.open_batch(), func=_symbol_zeros)
        batch_size = inputs.shape[self._layout.find("N")]
        states = self.begin_state(batch_size, ctx=inputs.context, dtype=inputs.dtype)  # type: ignore[attr-defined]
        return [in_world(one, inputs._legacy) for one in states]  # type: ignore[attr-defined]

    def _check(self, inputs: Any, states: list[Any]) -> None:
        if not isinstance(inputs, Array):
            return
        needed = self.state_info(inputs.shape[self._layout.find("N")])
        if len(states) != len(needed):
            raise ValueError(
                f"Invalid number of recurrent states. Expecting {len(needed)}, got {len(states)}."
            )
        for state, info in zip(states, needed, strict=True):
            if state.shape != info["shape"]:
                raise ValueError(
                    f"Invalid recurrent state shape. Expecting {info['shape']}, got {state.shape}."
                )


class RNN(_RNNLayer):
    """Layers of Elman units: the activation, relu or tanh, of both products together.

    The data has the axes steps, samples and values ("TNC"), or samples first ("NTC").

    >>> from afterglow import gluon, nd
    >>> layer = gluon.rnn.RNN(4, num_layers=2)
    >>> layer.initialize()
    >>> layer(nd.ones((5, 3, 2))).shape
    (5, 3, 4)
    >>> output, states = layer(nd.ones((5, 3, 2)), layer.begin_state(batch_size=3))
    >>> states[0].shape
    (2, 3, 4)
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        activation: str = "relu",
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(mode=f"rnn_{activation}", **_PLAIN, **handed_on(locals(), "activation"))


class LSTM(_RNNLayer):
    """Layers of long short-term memory.

    The data has the axes steps, samples and values ("TNC"), or samples first ("NTC").

    >>> from afterglow import gluon, nd
    >>> layer = gluon.rnn.LSTM(4, bidirectional=True)
    >>> layer.initialize()
    >>> layer(nd.ones((5, 3, 2))).shape
    (5, 3, 8)
    >>> output, states = layer(nd.ones((5, 3, 2)), layer.begin_state(batch_size=3))
    >>> [state.shape for state in states]
    [(2, 3, 4), (2, 3, 4)]
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        projection_size: int | None = None,
        h2r_weight_initializer: Any = None,
        state_clip_min: float | None = None,
        state_clip_max: float | None = None,
        state_clip_nan: bool = False,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(mode="lstm", **handed_on(locals()))

    def state_info(self, batch_size: int = 0) -> Info:
        """Return shape, layout and type of the states: what is shown, and the cells."""
        projected = self._projection_size or self._hidden_size
        return [self._state(batch_size, units) for units in (projected, self._hidden_size)]


class GRU(_RNNLayer):
    """Layers of gated recurrent units; the reset gate acts behind the product.

    The data has the axes steps, samples and values ("TNC"), or samples first ("NTC").

    >>> from afterglow import gluon, nd
    >>> layer = gluon.rnn.GRU(4, layout="NTC")
    >>> layer.initialize()
    >>> layer(nd.ones((3, 5, 2))).shape
    (3, 5, 4)
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(mode="gru", **_PLAIN, **handed_on(locals()))
