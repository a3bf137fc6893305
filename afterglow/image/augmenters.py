# SPDX-License-Identifier: Apache-2.0
"""What is done to pictures before a network sees them, by chance or always.

Those that change colours change the array that they are given, as in MXNet.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as onp

from .. import ndarray as nd
from .. import numpy as np
from .._arrays.worlds import in_world
from .._core import Array
from ..error import ArgumentError, ArrayNotImplementedError
from .functions import (
    Size,
    center_crop,
    color_normalize,
    least_area,
    random_crop,
    random_size_crop,
    resize_short,
    resized,
)

__all__ = [
    "Augmenter",
    "BrightnessJitterAug",
    "CastAug",
    "CenterCropAug",
    "ColorJitterAug",
    "ColorNormalizeAug",
    "ContrastJitterAug",
    "CreateAugmenter",
    "ForceResizeAug",
    "HorizontalFlipAug",
    "HueJitterAug",
    "LightingAug",
    "RandomCropAug",
    "RandomGrayAug",
    "RandomOrderAug",
    "RandomSizedCropAug",
    "ResizeAug",
    "SaturationJitterAug",
    "SequentialAug",
]

#: How bright red, green and blue are.
_BRIGHTNESS = [[[0.299, 0.587, 0.114]]]
#: Of the pictures of ImageNet: means and deviations of channels, and their principal components.
MEAN = (123.68, 116.28, 103.53)
DEVIATION = (58.395, 57.12, 57.375)
_VARIANCES = (55.46, 4.794, 1.148)
_COMPONENTS = (
    (-0.5675, 0.7192, 0.4009),
    (-0.5808, -0.0045, -0.8140),
    (-0.5836, -0.6948, 0.4203),
)


def _world(src: Any) -> Any:
    """Return the functions for an array."""
    return nd if src._legacy else np


def as_plain(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments as JSON can hold them: arrays are lists."""
    hosts = {
        name: value.asnumpy() if isinstance(value, Array) else value
        for name, value in arguments.items()
    }
    return {
        name: host.tolist() if isinstance(host, onp.ndarray) else host
        for name, host in hosts.items()
    }


class Augmenter:
    """The base class of what is done to a picture: a function of it, with arguments of its own."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = as_plain(kwargs)

    def dumps(self) -> Any:
        """Return name and arguments as a text.

        >>> from afterglow import image
        >>> image.ResizeAug(224).dumps()
        '["resizeaug", {"size": 224, "interp": 2}]'
        """
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: Any) -> Any:
        """Return the picture that becomes of one."""
        raise ArrayNotImplementedError(f"{type(self).__name__} must define __call__")


class _Several(Augmenter):
    """Others, one after another."""

    def __init__(self, ts: list[Augmenter]) -> None:
        super().__init__()
        self.ts = ts

    def dumps(self) -> Any:
        """Return the name, and what the others say."""
        return [type(self).__name__.lower(), [one.dumps() for one in self.ts]]

    def __call__(self, src: Any) -> Any:
        """Do all of it."""
        for one in self.ts:
            src = one(src)
        return src


class SequentialAug(_Several):
    """Does what others do, in their order."""


class RandomOrderAug(_Several):
    """Does what others do, in an order that is drawn."""

    def __call__(self, src: Any) -> Any:
        """Do all of it."""
        random.shuffle(self.ts)
        return super().__call__(src)


# --- sizes ---


class _Sized(Augmenter):
    """Gives pictures a size, by a method of interpolation."""

    def __init__(self, size: Any, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp


class ResizeAug(_Sized):
    """Resizes the shorter side to ``size``."""

    def __call__(self, src: Any) -> Any:
        """Resize it."""
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(_Sized):
    """Resizes to ``size``, (width, height), whatever the proportions."""

    def __call__(self, src: Any) -> Any:
        """Resize it."""
        return resized(src, self.size, self.interp)


class RandomCropAug(_Sized):
    """Takes any part of ``size``, (width, height)."""

    def __call__(self, src: Any) -> Any:
        """Take a part."""
        return random_crop(src, self.size, self.interp)[0]


class CenterCropAug(_Sized):
    """Takes the middle, of ``size`` (width, height)."""

    def __call__(self, src: Any) -> Any:
        """Take the middle."""
        return center_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """Takes any part and resizes it to ``size``. See :func:`random_size_crop`."""

    def __init__(
        self, size: Size, area: Any, ratio: Sequence[float], interp: int = 2, **kwargs: Any
    ) -> None:
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        self.size = size
        self.area = least_area("RandomSizedCropAug", area, kwargs)
        self.ratio = ratio
        self.interp = interp

    def __call__(self, src: Any) -> Any:
        """Take a part."""
        return random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


def mirrored(src: Any) -> Any:
    """Return a picture with left and right exchanged."""
    return _world(src).flip(src, axis=1)


class HorizontalFlipAug(Augmenter):
    """Mirrors pictures from left to right, with probability ``p``."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: Any) -> Any:
        """Mirror it, or not."""
        return mirrored(src) if random.random() < self.p else src


# --- colours ---


class CastAug(Augmenter):
    """Converts to another type."""

    def __init__(self, typ: Any = "float32") -> None:
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src: Any) -> Any:
        """Convert it."""
        return src.astype(self.typ)


class BrightnessJitterAug(Augmenter):
    """Makes pictures brighter or darker, by a factor of 1 and up to ``brightness`` more or less."""

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def __call__(self, src: Any) -> Any:
        """Change it."""
        src *= 1.0 + random.uniform(-self.brightness, self.brightness)
        return src


class ContrastJitterAug(Augmenter):
    """Brings pixels nearer to the mean brightness of a picture or away, by up to ``contrast``."""

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast=contrast)
        self.contrast = contrast
        self.coef = nd.array(_BRIGHTNESS)

    def __call__(self, src: Any) -> Any:
        """Change it."""
        alpha = 1.0 + random.uniform(-self.contrast, self.contrast)
        gray = (3.0 * (1.0 - alpha) / src.size) * (src * in_world(self.coef, src._legacy)).sum()
        src *= alpha
        src += gray
        return src


class SaturationJitterAug(Augmenter):
    """Brings pixels nearer to their own brightness or away, by up to ``saturation``."""

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation=saturation)
        self.saturation = saturation
        self.coef = nd.array(_BRIGHTNESS)

    def __call__(self, src: Any) -> Any:
        """Change it."""
        alpha = 1.0 + random.uniform(-self.saturation, self.saturation)
        gray = (src * in_world(self.coef, src._legacy)).sum(axis=2, keepdims=True)
        src *= alpha
        src += gray * (1.0 - alpha)
        return src


class HueJitterAug(Augmenter):
    """Turns colours around the gray ones, by up to ``hue`` of half a turn."""

    def __init__(self, hue: float) -> None:
        super().__init__(hue=hue)
        self.hue = hue
        # To brightness and two numbers of colour, and back.
        self.tyiq = onp.array(
            [[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]]
        )
        self.ityiq = onp.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]])

    def __call__(self, src: Any) -> Any:
        """Change it."""
        angle = random.uniform(-self.hue, self.hue) * onp.pi
        u, w = onp.cos(angle), onp.sin(angle)
        turn = onp.array([[1.0, 0.0, 0.0], [0.0, u, -w], [0.0, w, u]])
        matrix = nd.array((self.ityiq @ turn @ self.tyiq).T)
        return _world(src).dot(src, in_world(matrix, src._legacy))


class ColorJitterAug(RandomOrderAug):
    """Changes brightness, contrast and saturation, in an order that is drawn."""

    def __init__(self, brightness: float, contrast: float, saturation: float) -> None:
        ts: list[Augmenter] = []
        if brightness > 0:
            ts.append(BrightnessJitterAug(brightness))
        if contrast > 0:
            ts.append(ContrastJitterAug(contrast))
        if saturation > 0:
            ts.append(SaturationJitterAug(saturation))
        super().__init__(ts)


class LightingAug(Augmenter):
    """Adds a colour along the principal components of pictures, as if the light were another.

    ``alphastd`` is the deviation of what is drawn by NumPy, ``eigval`` the variances along the
    components ``eigvec``.
    """

    def __init__(self, alphastd: float, eigval: Any, eigvec: Any) -> None:
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd = alphastd
        self.eigval = eigval
        self.eigvec = eigvec

    def __call__(self, src: Any) -> Any:
        """Change it."""
        alpha = onp.random.normal(0, self.alphastd, size=(3,))
        src += in_world(nd.array(onp.dot(self.eigvec * alpha, self.eigval)), src._legacy)
        return src


class ColorNormalizeAug(Augmenter):
    """Subtracts means of channels, and divides by deviations."""

    def __init__(self, mean: Any, std: Any) -> None:
        super().__init__(mean=mean, std=std)
        self.mean = mean if mean is None or isinstance(mean, Array) else nd.array(mean)
        self.std = std if std is None or isinstance(std, Array) else nd.array(std)

    def __call__(self, src: Any) -> Any:
        """Change it."""
        mean, std = (
            one if one is None else in_world(one, src._legacy) for one in (self.mean, self.std)
        )
        return color_normalize(src, mean, std)


class RandomGrayAug(Augmenter):
    """Makes pictures gray, of three equal channels, with probability ``p``."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p
        self.mat = nd.array([[0.21] * 3, [0.72] * 3, [0.07] * 3])

    def __call__(self, src: Any) -> Any:
        """Make it gray, or not."""
        if random.random() < self.p:
            src = _world(src).dot(src, in_world(self.mat, src._legacy))
        return src


# --- lists of them ---


def colour_augmenters(
    brightness: float,
    contrast: float,
    saturation: float,
    hue: float,
    pca_noise: float,
    rand_gray: float,
    mean: Any,
    std: Any,
) -> list[Augmenter]:
    """Return what is done to colours, of pictures that are converted first."""
    found: list[Augmenter] = [CastAug()]
    if brightness or contrast or saturation:
        found.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        found.append(HueJitterAug(hue))
    if pca_noise > 0:
        found.append(LightingAug(pca_noise, onp.array(_VARIANCES), onp.array(_COMPONENTS)))
    if rand_gray > 0:
        found.append(RandomGrayAug(rand_gray))
    mean, std = by_channel("mean", mean, MEAN), by_channel("std", std, DEVIATION)
    if mean is not None or std is not None:
        found.append(ColorNormalizeAug(mean, std))
    return found


def by_channel(name: str, given: Any, usual: Sequence[float]) -> Any:
    """Return a number for each channel: the usual ones for True, None for None."""
    if given is True:
        return onp.array(usual)
    if given is not None and not (
        isinstance(given, (onp.ndarray, Array)) and given.shape[:1] in ((1,), (3,))
    ):
        raise ArgumentError(f"{name} is {given!r}; an array of 1 or 3 numbers, or True, is needed")
    return given


def CreateAugmenter(  # noqa: N802 - as MXNet calls it
    data_shape: Sequence[int],
    resize: int = 0,
    rand_crop: bool = False,
    rand_resize: bool = False,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    hue: float = 0,
    pca_noise: float = 0,
    rand_gray: float = 0,
    inter_method: int = 2,
) -> list[Augmenter]:
    """Return a list of what is done to pictures that shall have ``data_shape`` (channels first).

    ``resize`` is for the shorter side, ``rand_crop`` takes any part instead of the middle, with
    ``rand_resize`` of any size; ``mean`` and ``std`` may be True for those of ImageNet. Without
    arguments pictures are cropped and converted to float32.

    >>> from afterglow import image
    >>> for one in image.CreateAugmenter((3, 224, 224), resize=256, rand_mirror=True):
    ...     print(one.dumps())
    ["resizeaug", {"size": 256, "interp": 2}]
    ["centercropaug", {"size": [224, 224], "interp": 2}]
    ["horizontalflipaug", {"p": 0.5}]
    ["castaug", {"type": "float32"}]
    """
    found: list[Augmenter] = []
    if resize > 0:
        found.append(ResizeAug(resize, inter_method))
    size = (data_shape[2], data_shape[1])
    if rand_resize:
        if not rand_crop:
            raise ArgumentError("[CreateAugmenter] rand_resize needs rand_crop")
        found.append(RandomSizedCropAug(size, 0.08, (3.0 / 4.0, 4.0 / 3.0), inter_method))
    elif rand_crop:
        found.append(RandomCropAug(size, inter_method))
    else:
        found.append(CenterCropAug(size, inter_method))
    if rand_mirror:
        found.append(HorizontalFlipAug(0.5))
    mean = nd.array(MEAN) if mean is True else mean
    std = nd.array(DEVIATION) if std is True else std
    return found + colour_augmenters(
        brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std
    )
