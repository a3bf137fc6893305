# SPDX-License-Identifier: Apache-2.0
"""``gluon.contrib.cnn``: convolutions whose windows another convolution moves."""

from __future__ import annotations

from typing import Any

from ..._arrays.shapes import Shape
from ...error import MismatchError
from .._functions import functions
from ..block import HybridBlock
from ..nn import Activation
from ..nn.conv_layers import described
from ..parameter import Parameter, ParameterDict

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]


class DeformableConvolution(HybridBlock):
    """Moves windows over images, each place of them by an offset that a convolution computes.

    >>> from afterglow import nd
    >>> from afterglow.gluon.contrib import cnn
    >>> layer = cnn.DeformableConvolution(4, kernel_size=3, padding=1)
    >>> layer.initialize()
    >>> layer(nd.ones((1, 3, 5, 5))).shape
    (1, 4, 5, 5)
    """

    #: Numbers that the offsets' convolution computes for each place of a window.
    _numbers = 2

    def __init__(
        self,
        channels: int,
        kernel_size: int | Shape = (1, 1),
        strides: int | Shape = (1, 1),
        padding: int | Shape = (0, 0),
        dilation: int | Shape = (1, 1),
        groups: int = 1,
        num_deformable_group: int = 1,
        layout: str = "NCHW",
        use_bias: bool = True,
        in_channels: int = 0,
        activation: str | None = None,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        offset_weight_initializer: Any = "zeros",
        offset_bias_initializer: Any = "zeros",
        offset_use_bias: bool = True,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        if layout != "NCHW":
            raise MismatchError(f"[{type(self).__name__}] layout is {layout!r}; it knows 'NCHW'")
        kernel = _pair(kernel_size)
        self._channels = channels
        self._in_channels = in_channels
        moving = {
            "kernel": kernel,
            "stride": _pair(strides),
            "dilate": _pair(dilation),
            "pad": _pair(padding),
            "num_group": groups,
            "layout": layout,
        }
        places = num_deformable_group * kernel[0] * kernel[1]
        self.offset_split_index = 2 * places
        numbers = self._numbers * places
        self._kwargs_offset = {**moving, "num_filter": numbers, "no_bias": not offset_use_bias}
        self._kwargs_deformable_conv = {
            **moving,
            "num_filter": channels,
            "num_deformable_group": num_deformable_group,
            "no_bias": not use_bias,
        }
        self.act: Activation | None = None
        inner = in_channels // groups
        with self.name_scope():
            self.offset_weight, self.offset_bias = self._weights(
                "offset",
                (numbers, inner, *kernel),
                (offset_weight_initializer, offset_bias_initializer),
                offset_use_bias,
            )
            self.deformable_conv_weight, self.deformable_conv_bias = self._weights(
                "deformable_conv",
                (channels, inner, *kernel),
                (weight_initializer, bias_initializer),
                use_bias,
            )
            if activation:
                self.act = Activation(activation, prefix=f"{activation}_")

    def _weights(
        self, name: str, shape: Shape, beginnings: tuple[Any, Any], use_bias: bool
    ) -> tuple[Parameter, Parameter | None]:
        weight = self.params.get(
            f"{name}_weight", shape=shape, init=beginnings[0], allow_deferred_init=True
        )
        if not use_bias:
            return weight, None
        return weight, self.params.get(
            f"{name}_bias", shape=shape[:1], init=beginnings[1], allow_deferred_init=True
        )

    def _alias(self) -> str:
        return "deformable_conv"

    def __repr__(self) -> str:
        weight, bias = self.deformable_conv_weight, self.deformable_conv_bias
        return described(self, weight, bias, self._kwargs_deformable_conv)

    def hybrid_forward(
        self,
        F: Any,
        x: Any,
        offset_weight: Any,
        deformable_conv_weight: Any,
        offset_bias: Any = None,
        deformable_conv_bias: Any = None,
    ) -> Any:
        """Compute the offsets, move the windows, activate."""
        numbers = functions(x).Convolution(
            x, offset_weight, offset_bias, cudnn_off=True, **self._kwargs_offset
        )
        result = self._convolve(x, numbers, deformable_conv_weight, deformable_conv_bias)
        return result if self.act is None else self.act(result)

    def _convolve(self, x: Any, numbers: Any, weight: Any, bias: Any) -> Any:
        return functions(x).DeformableConvolution(
            x, numbers, weight, bias, name="fwd", **self._kwargs_deformable_conv
        )


class ModulatedDeformableConvolution(DeformableConvolution):
    """Moves windows over images by offsets, and scales what each place of them sees.

    >>> from afterglow import nd
    >>> from afterglow.gluon.contrib import cnn
    >>> layer = cnn.ModulatedDeformableConvolution(4, kernel_size=3, padding=1)
    >>> layer.initialize()
    >>> layer(nd.ones((1, 3, 5, 5))).shape
    (1, 4, 5, 5)
    """

    _numbers = 3

    def _alias(self) -> str:
        return "modulated_deformable_conv"

    def _convolve(self, x: Any, numbers: Any, weight: Any, bias: Any) -> Any:
        ops = functions(x)
        offset = ops.slice_axis(numbers, axis=1, begin=0, end=self.offset_split_index)
        mask = ops.slice_axis(numbers, axis=1, begin=self.offset_split_index, end=None)
        return ops.ModulatedDeformableConvolution(
            x,
            offset,
            ops.sigmoid(mask) * 2,
            weight,
            bias,
            name="fwd",
            **self._kwargs_deformable_conv,
        )


def _pair(given: int | Shape) -> Shape:
    """Return a number for each axis of an image."""
    return tuple(given) if isinstance(given, tuple | list) else (given, given)
