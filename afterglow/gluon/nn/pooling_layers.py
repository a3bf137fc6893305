# SPDX-License-Identifier: Apache-2.0
"""Pooling layers, and the reflection of images at their edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._package.constructors import handed_on
from .._functions import functions
from ..block import HybridBlock

__all__ = [
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "ReflectionPad2D",
]

#: A number for all axes, or one for each.
_Sizes = int | Sequence[int]

#: The orders of axes, by the number of those of space.
_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def _each(sizes: _Sizes, count: int) -> tuple[int, ...]:
    """Return a number for each axis."""
    return (int(sizes),) * count if not isinstance(sizes, Sequence) else tuple(sizes)


class _Pooling(HybridBlock):
    """What all pooling layers share: one op and its arguments."""

    def __init__(
        self,
        axes: int,
        pool_size: _Sizes,
        strides: _Sizes | None,
        padding: _Sizes,
        ceil_mode: bool,
        global_pool: bool,
        pool_type: str,
        layout: str,
        count_include_pad: bool | None = None,
        **kwargs: Any,
    ) -> None:
        first, last = _LAYOUTS[axes]
        assert layout in (first, last), (
            f"Only {first} and {last} layouts are valid for {axes}D Pooling"
        )
        size = _each(pool_size, axes)
        assert len(size) == axes, f"pool_size must be a number or a list of {axes} ints"
        super().__init__(**kwargs)
        self._kwargs: dict[str, Any] = {
            "kernel": size,
            "stride": size if strides is None else _each(strides, axes),
            "pad": _each(padding, axes),
            "global_pool": global_pool,
            "pool_type": pool_type,
            "layout": layout,
            "pooling_convention": "full" if ceil_mode else "valid",
        }
        if count_include_pad is not None:
            self._kwargs["count_include_pad"] = count_include_pad

    def _alias(self) -> str:
        return "pool"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Reduce the windows."""
        return functions(x).Pooling(x, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        given = self._kwargs
        return (
            f"{type(self).__name__}(size={given['kernel']}, stride={given['stride']}, "
            f"padding={given['pad']}, ceil_mode={given['pooling_convention'] == 'full'}, "
            f"global_pool={given['global_pool']}, pool_type={given['pool_type']}, "
            f"layout={given['layout']})"
        )


class MaxPool1D(_Pooling):
    """The greatest elements of windows of sequences.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> print(nn.MaxPool1D()(nd.array([[[1, 3, 2, 0]]])).asnumpy())
    [[[3. 2.]]]
    """

    def __init__(
        self,
        pool_size: _Sizes = 2,
        strides: _Sizes | None = None,
        padding: _Sizes = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(1, global_pool=False, pool_type="max", **handed_on(locals()))


class MaxPool2D(_Pooling):
    """The greatest elements of windows of images.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> print(nn.MaxPool2D()(nd.array([[[[1, 3], [2, 0]]]])).asnumpy())
    [[[[3.]]]]
    """

    def __init__(
        self,
        pool_size: _Sizes = (2, 2),
        strides: _Sizes | None = None,
        padding: _Sizes = 0,
        layout: str = "NCHW",
        ceil_mode: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(2, global_pool=False, pool_type="max", **handed_on(locals()))


class MaxPool3D(_Pooling):
    """The greatest elements of windows of volumes.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> print(nn.MaxPool3D()(nd.array([[[[[1, 3], [2, 0]], [[5, 5], [0, 0]]]]])).asnumpy())
    [[[[[5.]]]]]
    """

    def __init__(
        self,
        pool_size: _Sizes = (2, 2, 2),
        strides: _Sizes | None = None,
        padding: _Sizes = 0,
        ceil_mode: bool = False,
        layout: str = "NCDHW",
        **kwargs: Any,
    ) -> None:
        super().__init__(3, global_pool=False, pool_type="max", **handed_on(locals()))


class AvgPool1D(_Pooling):
    """The means of windows of sequences.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> print(nn.AvgPool1D()(nd.array([[[1, 3, 2, 0]]])).asnumpy())
    [[[2. 1.]]]
    """

    def __init__(
        self,
        pool_size: _Sizes = 2,
        strides: _Sizes | None = None,
        padding: _Sizes = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(1, global_pool=False, pool_type="avg", **handed_on(locals()))


class AvgPool2D(_Pooling):
    """The means of windows of images.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> print(nn.AvgPool2D()(nd.array([[[[1, 3], [2, 0]]]])).asnumpy())
    [[[[1.5]]]]
    """

    def __init__(
        self,
        pool_size: _Sizes = (2, 2),
        strides: _Sizes | None = None,
        padding: _Sizes = 0,
        ceil_mode: bool = False,
        layout: str = "NCHW",
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(2, global_pool=False, pool_type="avg", **handed_on(locals()))


class AvgPool3D(_Pooling):
    """The means of windows of volumes.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> print(nn.AvgPool3D()(nd.array([[[[[1, 3], [2, 0]], [[5, 5], [0, 0]]]]])).asnumpy())
    [[[[[2.]]]]]
    """

    def __init__(
        self,
        pool_size: _Sizes = (2, 2, 2),
        strides: _Sizes | None = None,
        padding: _Sizes = 0,
        ceil_mode: bool = False,
        layout: str = "NCDHW",
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(3, global_pool=False, pool_type="avg", **handed_on(locals()))


class GlobalMaxPool1D(_Pooling):
    """The greatest elements of whole sequences.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> print(nn.GlobalMaxPool1D()(nd.array([[[1, 3, 2, 0]]])).asnumpy())
    [[[3.]]]
    """

    def __init__(self, layout: str = "NCW", **kwargs: Any) -> None:
        super().__init__(1, 1, None, 0, True, True, "max", layout, **kwargs)


class GlobalMaxPool2D(_Pooling):
    """The greatest elements of whole images.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> print(nn.GlobalMaxPool2D()(nd.array([[[[1, 3], [2, 0]]]])).asnumpy())
    [[[[3.]]]]
    """

    def __init__(self, layout: str = "NCHW", **kwargs: Any) -> None:
        super().__init__(2, 1, None, 0, True, True, "max", layout, **kwargs)


class GlobalMaxPool3D(_Pooling):
    """The greatest elements of whole volumes.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> print(nn.GlobalMaxPool3D()(nd.array([[[[[1, 3], [2, 0]], [[5, 5], [0, 0]]]]])).asnumpy())
    [[[[[5.]]]]]
    """

    def __init__(self, layout: str = "NCDHW", **kwargs: Any) -> None:
        super().__init__(3, 1, None, 0, True, True, "max", layout, **kwargs)


class GlobalAvgPool1D(_Pooling):
    """The means of whole sequences.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> print(nn.GlobalAvgPool1D()(nd.array([[[1, 3, 2, 0]]])).asnumpy())
    [[[1.5]]]
    """

    def __init__(self, layout: str = "NCW", **kwargs: Any) -> None:
        super().__init__(1, 1, None, 0, True, True, "avg", layout, **kwargs)


class GlobalAvgPool2D(_Pooling):
    """The means of whole images.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> print(nn.GlobalAvgPool2D()(nd.array([[[[1, 3], [2, 0]]]])).asnumpy())
    [[[[1.5]]]]
    """

    def __init__(self, layout: str = "NCHW", **kwargs: Any) -> None:
        super().__init__(2, 1, None, 0, True, True, "avg", layout, **kwargs)


class GlobalAvgPool3D(_Pooling):
    """The means of whole volumes.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> print(nn.GlobalAvgPool3D()(nd.array([[[[[1, 3], [2, 0]], [[5, 5], [0, 0]]]]])).asnumpy())
    [[[[[2.]]]]]
    """

    def __init__(self, layout: str = "NCDHW", **kwargs: Any) -> None:
        super().__init__(3, 1, None, 0, True, True, "avg", layout, **kwargs)


class ReflectionPad2D(HybridBlock):
    """Images with their mirror images around them.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> print(nn.ReflectionPad2D(1)(nd.array([[[[1, 2], [3, 4]]]])).asnumpy())
    [[[[4. 3. 4. 3.]
       [2. 1. 2. 1.]
       [4. 3. 4. 3.]
       [2. 1. 2. 1.]]]]
    """

    def __init__(self, padding: _Sizes = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        widths = _each(padding, 4)
        self._padding = (0, 0, 0, 0, *widths) if len(widths) == 4 else widths
        assert len(self._padding) == 8

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Pad the images."""
        return functions(x).Pad(x, mode="reflect", pad_width=self._padding)
