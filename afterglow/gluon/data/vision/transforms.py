# SPDX-License-Identifier: Apache-2.0
"""Changes of images on their way from a dataset to a network.

Images are (height, width, channels), mostly of bytes, until ``ToTensor`` makes tensors of them,
(channels, height, width) of float32. Sizes are (width, height). All take arrays of ``nd`` and of
``np``; those that are hybrid blocks take symbols, too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

import numpy as onp

from ....error import ArrayTypeError, ArrayValueError
from ..._functions import functions
from ...block import Block, HybridBlock
from ...nn import HybridSequential, Sequential

__all__ = [
    "Cast",
    "CenterCrop",
    "Compose",
    "CropResize",
    "Normalize",
    "RandomApply",
    "RandomBrightness",
    "RandomColorJitter",
    "RandomContrast",
    "RandomCrop",
    "RandomFlipLeftRight",
    "RandomFlipTopBottom",
    "RandomGray",
    "RandomHue",
    "RandomLighting",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSaturation",
    "Resize",
    "Rotate",
    "ToTensor",
]

#: Width and height; one number stands for both.
Size = int | Sequence[int]


def _image() -> Any:
    """Return ``mx.image``, which not every program needs.

    Transforms ask for it when they are made: else every worker of a loader would import it again.
    """
    from .... import image

    return image


def _both(size: Any) -> Any:
    return (size, size) if isinstance(size, Number) else size


class Compose(Sequential):
    """Transforms one after another; hybrid ones that follow each other are hybridized.

    >>> from afterglow import nd
    >>> from afterglow.gluon.data.vision import transforms
    >>> change = transforms.Compose([transforms.Resize(8), transforms.ToTensor()])
    >>> change(nd.zeros((4, 6, 3), dtype="uint8")).shape
    (3, 8, 8)
    """

    def __init__(self, transforms: Sequence[Block]) -> None:
        super().__init__()
        hybrid: list[HybridBlock] = []
        for transform in transforms:
            if isinstance(transform, HybridBlock):
                hybrid.append(transform)
                continue
            self._add_hybrid(hybrid)
            hybrid = []
            self.add(transform)
        self._add_hybrid(hybrid)

    def _add_hybrid(self, blocks: list[HybridBlock]) -> None:
        if len(blocks) > 1:
            together = HybridSequential()
            together.add(*blocks)
            together.hybridize()
            self.add(together)
        else:
            self.add(*blocks)


class RandomApply(Sequential):
    """Transforms that are applied in some cases, and left out in others.

    ``transforms`` is one block, such as a ``Compose``, or a list of them; ``p`` how likely it is
    that they are applied.
    """

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = (
            Compose(transforms) if isinstance(transforms, (list, tuple)) else transforms
        )
        self.p = p

    def forward(self, x: Any) -> Any:
        """Return the image, changed or as it is."""
        return x if self.p < random.random() else self.transforms(x)


# --- types and tensors ---


class Cast(HybridBlock):
    """Gives images another type."""

    def __init__(self, dtype: Any = "float32") -> None:
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the image in the type."""
        return functions(x).cast(x, dtype=self._dtype)


class ToTensor(HybridBlock):
    """Makes tensors of images: float32 with channels first, from 0 to 1 where bytes go to 255.

    >>> from afterglow import np
    >>> from afterglow.gluon.data.vision import transforms
    >>> transforms.ToTensor()(np.full((4, 6, 3), 51, dtype="uint8")).shape
    (3, 4, 6)
    """

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the tensor."""
        return functions(x).image_to_tensor(x)


class Normalize(HybridBlock):
    """Takes means of channels away from tensors and divides them by deviations.

    Each is one number, or one for each channel.
    """

    def __init__(
        self, mean: float | Sequence[float] = 0.0, std: float | Sequence[float] = 1.0
    ) -> None:
        super().__init__()
        self._mean = mean
        self._std = std

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the tensor, normalized."""
        return functions(x).image_normalize(x, mean=self._mean, std=self._std)


# --- turns and flips ---


def _turned(x: Any, turn: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return a tensor that a function of ``nd`` has turned."""
    if x.dtype != onp.float32:
        raise ArrayTypeError(
            f"[Rotate] needs float32, not {onp.dtype(x.dtype)}; it stands after ToTensor"
        )
    result = turn(x.as_nd_ndarray(), *arguments)
    return result if x._legacy else result.as_np_ndarray()


class Rotate(Block):
    """Turns tensors by an angle in degrees around their middle; their shape stays.

    What comes from outside is 0. With ``zoom_in`` images are enlarged until nothing does, with
    ``zoom_out`` made smaller until all of them can be seen.
    """

    def __init__(
        self, rotation_degrees: float, zoom_in: bool = False, zoom_out: bool = False
    ) -> None:
        super().__init__()
        _image()
        self._args = (rotation_degrees, zoom_in, zoom_out)

    def forward(self, x: Any) -> Any:
        """Return the tensor, turned."""
        return _turned(x, _image().imrotate, self._args)


class RandomRotation(Block):
    """Turns tensors by an angle between two limits, in some cases. See :class:`Rotate`."""

    def __init__(
        self,
        angle_limits: tuple[float, float],
        zoom_in: bool = False,
        zoom_out: bool = False,
        rotate_with_proba: float = 1.0,
    ) -> None:
        super().__init__()
        _image()
        lower, upper = angle_limits
        if lower >= upper:
            raise ArrayValueError("`angle_limits` must be an ordered tuple")
        if not 0 <= rotate_with_proba <= 1:
            raise ArrayValueError("Probability of rotating the image should be between 0 and 1")
        self._args = (angle_limits, zoom_in, zoom_out)
        self._rotate_with_proba = rotate_with_proba

    def forward(self, x: Any) -> Any:
        """Return the tensor, turned or as it is."""
        if onp.random.random() > self._rotate_with_proba:
            return x
        return _turned(x, _image().random_rotate, self._args)


class RandomFlipLeftRight(HybridBlock):
    """Mirrors every second image, so that left is right."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the image, mirrored or as it is."""
        return functions(x).image_random_flip_left_right(x)


class RandomFlipTopBottom(HybridBlock):
    """Mirrors every second image, so that top is bottom."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the image, mirrored or as it is."""
        return functions(x).image_random_flip_top_bottom(x)


# --- parts and sizes ---


class Resize(HybridBlock):
    """Gives images, or a batch of them, another size.

    With ``keep_ratio`` one number is the length of the shorter side. ``interpolation`` is 0 for
    the nearest pixel, 1 bilinear, 2 bicubic, 3 for means of areas, 4 for Lanczos' way.
    """

    def __init__(self, size: Size, keep_ratio: bool = False, interpolation: int = 1) -> None:
        super().__init__()
        self._keep = keep_ratio
        self._size = size
        self._interpolation = interpolation

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the image in its new size."""
        return functions(x).image_resize(
            x, size=self._size, keep_ratio=self._keep, interp=self._interpolation
        )


class CropResize(HybridBlock):
    """Takes a part of images, or of a batch of them, and gives it another size if one is given.

    >>> from afterglow import nd
    >>> from afterglow.gluon.data.vision import transforms
    >>> change = transforms.CropResize(x=1, y=0, width=4, height=3, size=(8, 6))
    >>> change(nd.zeros((4, 6, 3))).shape
    (6, 8, 3)
    """

    def __init__(
        self,
        x: int,
        y: int,
        width: int,
        height: int,
        size: Size | None = None,
        interpolation: int | None = None,
    ) -> None:
        super().__init__()
        self._part = {"x": x, "y": y, "width": width, "height": height}
        self._size = size
        self._interpolation = 1 if interpolation is None else interpolation

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the part."""
        f = functions(x)
        part = f.image_crop(x, **self._part)
        if not self._size:
            return part
        return f.image_resize(part, size=self._size, interp=self._interpolation)


class CenterCrop(Block):
    """Takes the middle of images; what is smaller than ``size`` is enlarged."""

    def __init__(self, size: Size, interpolation: int = 1) -> None:
        super().__init__()
        _image()
        self._args = (_both(size), interpolation)

    def forward(self, x: Any) -> Any:
        """Return the middle."""
        return _image().center_crop(x, *self._args)[0]


class RandomCrop(Block):
    """Takes any part of images; what is smaller than ``size`` is enlarged.

    ``pad`` is how many zeros go around them first: one number for all sides, or ((top, bottom),
    (left, right)).

    >>> from afterglow import nd
    >>> from afterglow.gluon.data.vision import transforms
    >>> transforms.RandomCrop(32, pad=4)(nd.zeros((32, 32, 3), dtype="uint8")).shape
    (32, 32, 3)
    """

    def __init__(self, size: Size, pad: Any = None, interpolation: int = 1) -> None:
        super().__init__()
        _image()
        self._args = (_both(size), interpolation)
        sides = ((pad, pad), (pad, pad)) if isinstance(pad, Number) else pad
        self._pad = None if not pad else (*sides[0], *sides[1], 0, 0)

    def forward(self, x: Any) -> Any:
        """Return a part."""
        if self._pad is not None:
            x = functions(x).pad(x, mode="constant", pad_width=self._pad)
        return _image().random_crop(x, *self._args)[0]


class RandomResizedCrop(Block):
    """Takes any part of images, of a share of their area and of proportions, in one size.

    ``scale`` are the least and the greatest share of the area, ``ratio`` the least and the
    greatest width by height.
    """

    def __init__(
        self,
        size: Size,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: int = 1,
    ) -> None:
        super().__init__()
        _image()
        self._args = (_both(size), scale, ratio, interpolation)

    def forward(self, x: Any) -> Any:
        """Return a part in its new size."""
        return _image().random_size_crop(x, *self._args)[0]


# --- colours ---


class _RandomFactor(HybridBlock):
    """Changes images by a factor that is drawn around 1."""

    def __init__(self, reach: float, change: str) -> None:
        super().__init__()
        self._change = change
        self._factors = {"min_factor": max(0, 1 - reach), "max_factor": 1 + reach}

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the image, changed."""
        return getattr(functions(x), self._change)(x, **self._factors)


class RandomBrightness(_RandomFactor):
    """Makes images brighter or darker, by a factor as far from 1 as ``brightness`` says."""

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness, "image_random_brightness")


class RandomContrast(_RandomFactor):
    """Moves images from their mean grey or towards it, as far as ``contrast`` says."""

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast, "image_random_contrast")


class RandomSaturation(_RandomFactor):
    """Moves colours from their grey or towards it, as far as ``saturation`` says."""

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation, "image_random_saturation")


class RandomHue(_RandomFactor):
    """Turns hues, as far as ``hue`` says, in parts of the circle."""

    def __init__(self, hue: float) -> None:
        super().__init__(hue, "image_random_hue")


class RandomColorJitter(HybridBlock):
    """Changes brightness, contrast, saturation and hue in any order, each as far as it is given."""

    def __init__(
        self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0
    ) -> None:
        super().__init__()
        self._reaches = {
            "brightness": brightness,
            "contrast": contrast,
            "saturation": saturation,
            "hue": hue,
        }

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the image, changed."""
        return functions(x).image_random_color_jitter(x, **self._reaches)


class RandomLighting(HybridBlock):
    """Adds light as AlexNet was trained with; ``alpha`` is the deviation of its strengths."""

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the image with more or less light."""
        return functions(x).image_random_lighting(x, alpha_std=self._alpha)


class RandomGray(Block):
    """Makes some images grey, of as many channels as before; ``p`` is how likely that is."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Any) -> Any:
        """Return the image, grey or as it is."""
        if self.p < random.random():
            return x
        red, green, blue = (x[..., i : i + 1].astype("float32") for i in range(3))
        grey = 0.21 * red + 0.72 * green + 0.07 * blue
        return functions(x).broadcast_to(grey, shape=x.shape).astype(x.dtype)
