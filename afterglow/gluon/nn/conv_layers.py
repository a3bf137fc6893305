# SPDX-License-Identifier: Apache-2.0
"""Convolutions and their transposes."""

from __future__ import annotations

from typing import Any

from ..._arrays.shapes import Shape
from ..._package.constructors import handed_on, inherit_constructor
from ...error import ArrayValueError, MismatchError
from .._functions import functions
from ..block import HybridBlock
from ..parameter import Parameter
from .activations import Activation

__all__ = [
    "Conv1D",
    "Conv1DTranspose",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
]

#: By the number of axes of space: the layouts of data and weights.
_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def described(layer: Any, weight: Parameter, bias: Any, settings: dict[str, Any]) -> str:
    """Return the text that stands for a layer with windows; what is as usual is left out."""
    shape, axes = weight.shape or (0, 0), len(settings["kernel"])
    parts = [
        f"{shape[1] or None} -> {shape[0]}",
        f"kernel_size={settings['kernel']}",
        f"stride={settings['stride']}",
    ]
    if settings["pad"] != (0,) * axes:
        parts.append(f"padding={settings['pad']}")
    if settings["dilate"] != (1,) * axes:
        parts.append(f"dilation={settings['dilate']}")
    if settings["num_group"] != 1:
        parts.append(f"groups={settings['num_group']}")
    if bias is None:
        parts.append("bias=False")
    if layer.act is not None:
        parts.append(repr(layer.act))
    return f"{type(layer).__name__}({', '.join(parts)})"


class _Conv(HybridBlock):
    """Windows that slide over one, two or three axes of space, with an activation.

    Channels of the data are told by the first call, unless ``in_channels`` says them.
    """

    _axes: int
    _op_name = "Convolution"

    def __init_subclass__(cls, axes: int | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if axes is not None:
            cls._axes = axes
            zero, one = (0, 1) if axes == 1 else ((0,) * axes, (1,) * axes)
            known = {"strides": one, "padding": zero, "output_padding": zero, "dilation": one}
            inherit_constructor(cls, layout=_LAYOUTS[axes][0], **known)

    def __init__(
        self,
        channels: int,
        kernel_size: int | Shape,
        strides: int | Shape = 1,
        padding: int | Shape = 0,
        dilation: int | Shape = 1,
        groups: int = 1,
        layout: str = "",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        adj = kwargs.pop("adj", None)
        super().__init__(**kwargs)
        if layout not in _LAYOUTS[self._axes]:
            known = " and ".join(repr(one) for one in _LAYOUTS[self._axes])
            raise MismatchError(f"[{type(self).__name__}] layout is {layout!r}; it knows {known}")
        self._channels = channels
        self._in_channels = in_channels
        self._kwargs: dict[str, Any] = {
            "kernel": self._for_each_axis("kernel_size", kernel_size),
            "stride": self._for_each_axis("strides", strides),
            "dilate": self._for_each_axis("dilation", dilation),
            "pad": self._for_each_axis("padding", padding),
            "num_filter": channels,
            "num_group": groups,
            "no_bias": not use_bias,
            "layout": layout,
        }
        if adj is not None:
            self._kwargs["adj"] = self.outpad = self._for_each_axis("output_padding", adj)
        self.bias: Parameter | None = None
        self.act: Activation | None = None
        with self.name_scope():
            self.weight = self.params.get(
                "weight",
                shape=self._weight_shape(groups),
                init=weight_initializer,
                allow_deferred_init=True,
            )
            if use_bias:
                self.bias = self.params.get(
                    "bias", shape=(channels,), init=bias_initializer, allow_deferred_init=True
                )
            if activation is not None:
                self.act = Activation(activation, prefix=f"{activation}_")

    def _for_each_axis(self, name: str, given: int | Shape) -> Shape:
        numbers = tuple(given) if isinstance(given, tuple | list) else (given,) * self._axes
        if len(numbers) != self._axes:
            raise MismatchError(
                f"[{type(self).__name__}] {name} is {given}; it needs one number or {self._axes}"
            )
        return numbers

    def _weight_shape(self, groups: int) -> Shape:
        """Return the shape in the order of the layout; 0 where it is not known yet."""
        if self._channels % groups or self._in_channels % groups:
            raise ArrayValueError(
                f"[{type(self).__name__}] channels are {self._channels} of {self._in_channels}; "
                f"both must be multiples of groups, {groups}"
            )
        first, second = self._channels, self._in_channels // groups
        if self._op_name == "Deconvolution":
            first, second = self._in_channels, self._channels // groups
        kernel = self._kwargs["kernel"]
        if self._kwargs["layout"][1] == "C":
            return (first, second, *kernel)
        return (first, *kernel, second)

    def _alias(self) -> str:
        return "conv"

    def __repr__(self) -> str:
        return described(self, self.weight, self.bias, self._kwargs)

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        """Slide the windows, add the bias, activate."""
        op = getattr(functions(x), self._op_name)
        result = op(x, weight, bias, name="fwd", **self._kwargs)
        return result if self.act is None else self.act(result)


class Conv1D(_Conv, axes=1):
    """Moves a window along sequences, one for each channel of the result.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> layer = nn.Conv1D(1, 2, weight_initializer="ones", in_channels=1)
    >>> layer.initialize()
    >>> layer(nd.array([[[1, 2, 4]]]))
    <BLANKLINE>
    [[[3. 6.]]]
    <NDArray 1x1x2 @cpu(0)>
    """


class Conv2D(_Conv, axes=2):
    """Moves a window over images, one for each channel of the result.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> layer = nn.Conv2D(6, kernel_size=3, padding=1, activation="relu")
    >>> layer.initialize()
    >>> layer(nd.ones((2, 3, 8, 8))).shape
    (2, 6, 8, 8)
    >>> layer
    Conv2D(3 -> 6, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), Activation(relu))
    """


class Conv3D(_Conv, axes=3):
    """Moves a window over volumes, one for each channel of the result.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> layer = nn.Conv3D(6, kernel_size=2, strides=2)
    >>> layer.initialize()
    >>> layer(nd.ones((2, 3, 4, 6, 8))).shape
    (2, 6, 2, 3, 4)
    """


class _ConvTranspose(_Conv):
    """What transposes share: the op, and what its results have beyond the windows."""

    _op_name = "Deconvolution"

    def __init__(
        self,
        channels: int,
        kernel_size: int | Shape,
        strides: int | Shape = 1,
        padding: int | Shape = 0,
        output_padding: int | Shape = 0,
        dilation: int | Shape = 1,
        groups: int = 1,
        layout: str = "",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(adj=output_padding, **handed_on(locals(), "output_padding"))


class Conv1DTranspose(_ConvTranspose, axes=1):
    """Spreads each place of sequences over a window: the transpose of ``Conv1D``.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> layer = nn.Conv1DTranspose(1, 2, weight_initializer="ones", in_channels=1)
    >>> layer.initialize()
    >>> layer(nd.array([[[1, 2, 4]]]))
    <BLANKLINE>
    [[[1. 3. 6. 4.]]]
    <NDArray 1x1x4 @cpu(0)>
    """


class Conv2DTranspose(_ConvTranspose, axes=2):
    """Spreads each place of images over a window: the transpose of ``Conv2D``.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> layer = nn.Conv2DTranspose(6, kernel_size=4, strides=2, padding=1)
    >>> layer.initialize()
    >>> layer(nd.ones((2, 3, 8, 8))).shape
    (2, 6, 16, 16)
    """


class Conv3DTranspose(_ConvTranspose, axes=3):
    """Spreads each place of volumes over a window: the transpose of ``Conv3D``.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> layer = nn.Conv3DTranspose(6, kernel_size=2, strides=2)
    >>> layer.initialize()
    >>> layer(nd.ones((2, 3, 2, 3, 4))).shape
    (2, 6, 4, 6, 8)
    """
