# SPDX-License-Identifier: Apache-2.0
"""Cells whose products are convolutions: states are images of several channels."""

from __future__ import annotations

from typing import Any

from ...._arrays.shapes import Shape
from ...._package.constructors import inherit_constructor
from ..._functions import functions
from ...parameter import Parameter, ParameterDict
from ...rnn import HybridRecurrentCell
from ...rnn.rnn_cell import Info, activated

__all__ = [
    "Conv1DGRUCell",
    "Conv1DLSTMCell",
    "Conv1DRNNCell",
    "Conv2DGRUCell",
    "Conv2DLSTMCell",
    "Conv2DRNNCell",
    "Conv3DGRUCell",
    "Conv3DLSTMCell",
    "Conv3DRNNCell",
]

Extents = int | tuple[int, ...]


class _ConvCell(HybridRecurrentCell):
    """What all of them share: convolutions of the input and of the state, for each gate."""

    i2h_weight: Parameter
    _axes: int
    _gates: int

    def __init_subclass__(cls, axes: int | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if axes is not None:
            cls._axes = axes
            ones = (1,) * axes
            known = {"i2h_pad": (0,) * axes, "i2h_dilate": ones, "h2h_dilate": ones}
            inherit_constructor(cls, conv_layout="NC" + "DHW"[-axes:], **known)

    def __init__(
        self,
        input_shape: Shape,
        hidden_channels: int,
        i2h_kernel: Extents,
        h2h_kernel: Extents,
        i2h_pad: Extents = 0,
        i2h_dilate: Extents = 1,
        h2h_dilate: Extents = 1,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = "",
        activation: Any = "tanh",
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        axes = self._axes
        given = (i2h_kernel, i2h_pad, i2h_dilate, h2h_kernel, h2h_dilate)
        assert all(isinstance(one, int) or len(one) == axes for one in given), (
            f"For {axes}D convolution, the convolution settings can only be either int or "
            f"list/tuple of length {axes}"
        )
        assert len(input_shape) == axes + 1, (
            f"For {axes}D convolution, input_shape needs {axes + 1} extents, got {input_shape}"
        )
        kernel, pad, dilate, state_kernel, state_dilate = (
            (one,) * axes if isinstance(one, int) else tuple(one) for one in given
        )
        assert all(one % 2 == 1 for one in state_kernel), (
            f"Only support odd number, get h2h_kernel= {h2h_kernel}"
        )
        self._hidden_channels = hidden_channels
        self._input_shape = input_shape
        self._conv_layout = conv_layout
        self._activation = activation
        self._i2h = {"kernel": kernel, "pad": pad, "dilate": dilate}
        state_pad = tuple(d * (k - 1) // 2 for d, k in zip(state_dilate, state_kernel, strict=True))
        self._h2h = {"kernel": state_kernel, "pad": state_pad, "dilate": state_dilate}
        self._channel_axis = conv_layout.find("C")
        first = self._channel_axis == 1

        def shaped(channels: int, extents: Shape) -> Shape:
            return (channels, *extents) if first else (*extents, channels)

        channels = input_shape[self._channel_axis - 1]
        extents = input_shape[1:] if first else input_shape[:-1]
        after = tuple(
            extent + 2 * p - d * (k - 1) if extent else 0
            for extent, k, p, d in zip(extents, kernel, pad, dilate, strict=True)
        )
        self._state_shape = shaped(hidden_channels, after)
        rows = hidden_channels * self._gates
        weights: dict[str, tuple[Shape, Any]] = {
            "i2h_weight": ((rows, *shaped(channels, kernel)), i2h_weight_initializer),
            "h2h_weight": (
                (rows, *shaped(hidden_channels, state_kernel)),
                h2h_weight_initializer,
            ),
            "i2h_bias": ((rows,), i2h_bias_initializer),
            "h2h_bias": ((rows,), h2h_bias_initializer),
        }
        for name, (shape, init) in weights.items():
            parameter = self.params.get(name, shape=shape, init=init, allow_deferred_init=True)
            setattr(self, name, parameter)

    def __repr__(self) -> str:
        shape = self.i2h_weight.shape or (0, 0)
        channels = shape[1 if self._channel_axis == 1 else -1]
        return (
            f"{type(self).__name__}({channels or None} -> {shape[0]}, {self._activation}, "
            f"{self._conv_layout})"
        )

    def state_info(self, batch_size: int = 0) -> Info:
        """Return shape and layout of the states."""
        return [{"shape": (batch_size, *self._state_shape), "__layout__": self._conv_layout}]

    def _convolved(self, inputs: Any, state: Any, weights: dict[str, Any]) -> tuple[Any, Any]:
        f = functions(inputs)

        def convolved(x: Any, name: str, settings: dict[str, Shape]) -> Any:
            return f.Convolution(
                x,
                weights[f"{name}_weight"],
                weights[f"{name}_bias"],
                num_filter=self._hidden_channels * self._gates,
                stride=(1,) * len(settings["kernel"]),
                layout=self._conv_layout,
                name=f"t{self._counter}_{name}",
                **settings,
            )

        return convolved(inputs, "i2h", self._i2h), convolved(state, "h2h", self._h2h)

    def _split(self, x: Any, name: str) -> Any:
        """Return the parts of the gates."""
        return functions(x).SliceChannel(
            x, num_outputs=self._gates, axis=self._channel_axis, name=f"t{self._counter}_{name}"
        )

    def _opened(self, x: Any, name: str) -> Any:
        name = f"t{self._counter}_{name}"
        return functions(x).Activation(x, act_type="sigmoid", name=name)


class _ConvRNN(_ConvCell):
    _gates = 1

    def _alias(self) -> str:
        return "conv_rnn"

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, **weights: Any) -> Any:
        """Take one step."""
        i2h, h2h = self._convolved(inputs, states[0], weights)
        together = functions(inputs).plus(i2h, h2h)
        output = activated(together, self._activation, f"t{self._counter}_out")
        return output, [output]


class _ConvLSTM(_ConvCell):
    _gates = 4

    def _alias(self) -> str:
        return "conv_lstm"

    def state_info(self, batch_size: int = 0) -> Info:
        """Return shape and layout of the states."""
        return [*super().state_info(batch_size), *super().state_info(batch_size)]

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, **weights: Any) -> Any:
        """Take one step."""
        f, prefix = functions(inputs), f"t{self._counter}_"
        gates = self._split(f.plus(*self._convolved(inputs, states[0], weights)), "slice")
        opened, kept = self._opened(gates[0], "i"), self._opened(gates[1], "f")
        proposed = activated(gates[2], self._activation, f"{prefix}c")
        shown = self._opened(gates[3], "o")
        cell = f.elemwise_add(
            f.times(kept, states[1]), f.times(opened, proposed), name=f"{prefix}state"
        )
        hidden = f.elemwise_mul(shown, activated(cell, self._activation), name=f"{prefix}out")
        return hidden, [hidden, cell]


class _ConvGRU(_ConvCell):
    _gates = 3

    def _alias(self) -> str:
        return "conv_gru"

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, **weights: Any) -> Any:
        """Take one step."""
        f, prefix = functions(inputs), f"t{self._counter}_"
        i2h, h2h = self._convolved(inputs, states[0], weights)
        x, h = self._split(i2h, "i2h_slice"), self._split(h2h, "h2h_slice")
        reset = self._opened(f.plus(x[0], h[0]), "r_act")
        update = self._opened(f.plus(x[1], h[1]), "z_act")
        proposed = activated(f.plus(x[2], f.times(reset, h[2])), self._activation, f"{prefix}h_act")
        output = f.elemwise_add(
            f.times(1.0 - update, proposed), f.times(update, states[0]), name=f"{prefix}out"
        )
        return output, [output]


class Conv1DRNNCell(_ConvRNN, axes=1):
    """One step of an Elman network over images of one axis.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.contrib.rnn.Conv1DRNNCell((2, 6), 3, i2h_kernel=3, h2h_kernel=3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((1, *(2, 6))), cell.begin_state(batch_size=1))
    >>> output.shape
    (1, 3, 4)
    """


class Conv2DRNNCell(_ConvRNN, axes=2):
    """One step of an Elman network over images of two axes.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.contrib.rnn.Conv2DRNNCell((2, 6, 6), 3, i2h_kernel=3, h2h_kernel=3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((1, *(2, 6, 6))), cell.begin_state(batch_size=1))
    >>> output.shape
    (1, 3, 4, 4)
    """


class Conv3DRNNCell(_ConvRNN, axes=3):
    """One step of an Elman network over images of three axes.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.contrib.rnn.Conv3DRNNCell((2, 6, 6, 6), 3, i2h_kernel=3, h2h_kernel=3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((1, *(2, 6, 6, 6))), cell.begin_state(batch_size=1))
    >>> output.shape
    (1, 3, 4, 4, 4)
    """


class Conv1DLSTMCell(_ConvLSTM, axes=1):
    """One step of a long short-term memory over images of one axis.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.contrib.rnn.Conv1DLSTMCell((2, 6), 3, i2h_kernel=3, h2h_kernel=3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((1, *(2, 6))), cell.begin_state(batch_size=1))
    >>> output.shape
    (1, 3, 4)
    """


class Conv2DLSTMCell(_ConvLSTM, axes=2):
    """One step of a long short-term memory over images of two axes.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.contrib.rnn.Conv2DLSTMCell((2, 6, 6), 3, i2h_kernel=3, h2h_kernel=3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((1, *(2, 6, 6))), cell.begin_state(batch_size=1))
    >>> output.shape
    (1, 3, 4, 4)
    """


class Conv3DLSTMCell(_ConvLSTM, axes=3):
    """One step of a long short-term memory over images of three axes.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.contrib.rnn.Conv3DLSTMCell((2, 6, 6, 6), 3, i2h_kernel=3, h2h_kernel=3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((1, *(2, 6, 6, 6))), cell.begin_state(batch_size=1))
    >>> output.shape
    (1, 3, 4, 4, 4)
    """


class Conv1DGRUCell(_ConvGRU, axes=1):
    """One step of a network of gated recurrent units over images of one axis.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.contrib.rnn.Conv1DGRUCell((2, 6), 3, i2h_kernel=3, h2h_kernel=3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((1, *(2, 6))), cell.begin_state(batch_size=1))
    >>> output.shape
    (1, 3, 4)
    """


class Conv2DGRUCell(_ConvGRU, axes=2):
    """One step of a network of gated recurrent units over images of two axes.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.contrib.rnn.Conv2DGRUCell((2, 6, 6), 3, i2h_kernel=3, h2h_kernel=3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((1, *(2, 6, 6))), cell.begin_state(batch_size=1))
    >>> output.shape
    (1, 3, 4, 4)
    """


class Conv3DGRUCell(_ConvGRU, axes=3):
    """One step of a network of gated recurrent units over images of three axes.

    >>> from afterglow import gluon, nd
    >>> cell = gluon.contrib.rnn.Conv3DGRUCell((2, 6, 6, 6), 3, i2h_kernel=3, h2h_kernel=3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((1, *(2, 6, 6, 6))), cell.begin_state(batch_size=1))
    >>> output.shape
    (1, 3, 4, 4, 4)
    """
