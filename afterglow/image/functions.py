# SPDX-License-Identifier: Apache-2.0
"""Pictures as arrays of (height, width, channels): reading, resizing, cropping and turning them.

OpenCV decodes and resizes (``pip install afterglow[image]``), with the pixels that MXNet has from
it. Decoding is done when a function returns; resizing is queued like any other call. What is drawn
comes from Python's ``random`` and from ``numpy.random``, in the order in which MXNet draws.
"""

from __future__ import annotations

import math
import os
import random
import warnings
from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

import numpy as onp

from .. import ndarray as nd
from .. import numpy as np
from .._arrays.dtypes import DTYPES
from .._core import Array
from .._formats import params as _files
from .._formats import pictures
from .._interoperation.host_calls import Host, Spec, declare_host
from ..error import ArgumentError, ArrayTypeError, ArrayValueError
from ..util import is_np_array

__all__ = [
    "center_crop",
    "color_normalize",
    "copyMakeBorder",
    "fixed_crop",
    "imdecode",
    "imread",
    "imresize",
    "imrotate",
    "random_crop",
    "random_rotate",
    "random_size_crop",
    "resize_short",
    "scale_down",
]

#: Width and height, as OpenCV orders them.
Size = Sequence[int]
#: Left, top, width and height.
Box = tuple[int, int, int, int]


# --- reading ---


def imread(
    filename: str | os.PathLike[str], flag: int = 1, to_rgb: bool = True, out: Any = None
) -> Any:
    """Return the picture in a file as an array of bytes, (height, width, channels).

    With ``flag=0`` it is gray, of one channel; without ``to_rgb`` blue comes first. Formats are
    JPEG, PNG, BMP, GIF, WebP and TIFF.
    """
    name = f"[imread] {os.fspath(filename)!r}"
    return _decoded(_files.read(filename), flag, to_rgb, out, name)


def imdecode(buf: Any, flag: int = 1, to_rgb: bool = True, out: Any = None) -> Any:
    """Return the picture that bytes, or an array of bytes, hold. See :func:`imread`."""
    if isinstance(buf, Array):
        buf = buf.asnumpy()
    if not isinstance(buf, (bytes, bytearray, onp.ndarray)):
        raise ArrayValueError(
            f"[imdecode] buf must be of type bytes, bytearray or numpy.ndarray; got a "
            f"{type(buf).__name__}"
        )
    if isinstance(buf, onp.ndarray) and buf.dtype != "uint8":
        raise ArrayTypeError(f"[imdecode] Input needs to be uint8 buffer; got {buf.dtype}")
    return _decoded(buf, flag, to_rgb, out, "[imdecode] buf")


def _decoded(content: Any, flag: int, to_rgb: bool, out: Any, name: str) -> Any:
    if flag not in (0, 1):
        raise ArrayValueError(f"{name}: flag is {flag}; 0 for gray or 1 for colour is needed")
    pixels = pictures.decode(content, flag, name)
    if not flag:
        pixels = pixels[:, :, onp.newaxis]
    elif to_rgb:
        cv2 = pictures.opencv()
        pixels = cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB)
    world: Any = np if is_np_array() else nd
    return _into(out, world.array(pixels, dtype="uint8"), name)


def _into(out: Any, result: Any, name: str) -> Any:
    """Return a result, in the array that was given for it."""
    if out is None:
        return result
    if out.shape != result.shape or out.dtype != result.dtype:
        raise ArrayValueError(
            f"{name}: out is {out.dtype} of shape {out.shape}; {result.dtype} of shape "
            f"{result.shape} is needed"
        )
    out[:] = result
    return out


# --- other sizes ---

#: What OpenCV resizes. MXNet takes bytes with a sign for bytes without.
_RESIZED = ("uint8", "int8", "float32", "float64")


def _resized_spec(src: Spec, *, w: int, h: int, interp: int) -> Spec:
    _check_picture("imresize", src)
    if DTYPES[src.dtype] not in _RESIZED:
        raise ArrayTypeError(
            f"[imresize] pictures of {DTYPES[src.dtype]} cannot be resized; one of "
            f"{', '.join(_RESIZED)} is needed"
        )
    for name, side in (("w", w), ("h", h)):
        if side < 1:
            raise ArrayValueError(
                f"[imresize] value {side} for Parameter {name} should be greater equal to 1"
            )
    if interp not in pictures.METHODS:
        raise ArrayValueError(f"[imresize] Unknown interp method {interp}; 0 to 4 are known")
    return Spec((h, w, src.shape[2]), src.dtype)


def _check_picture(name: str, src: Spec) -> None:
    if len(src.shape) != 3 or 0 in src.shape:
        raise ArrayValueError(
            f"[{name}] src has the shape {src.shape}; (height, width, channels) is needed"
        )


@declare_host(
    "imresize",
    infer=_resized_spec,
    cost=lambda src, *, w, h, interp: 2.0 * w * h * src.shape[2] * (1 + interp),
)
def _resized(src: Host, *, w: int, h: int, interp: int) -> Host:
    """Return a picture of another size, by one of OpenCV's methods."""
    pixels = src.view("uint8") if src.dtype == "int8" else src
    return pictures.resize(pixels, w, h, interp).reshape(h, w, src.shape[2]).view(src.dtype)


def imresize(src: Any, w: int, h: int, interp: int = 1, out: Any = None) -> Any:
    """Return a picture of another size.

    ``interp`` is 0 for the nearest pixel, 1 for linear and 2 for cubic interpolation, 3 for means
    of areas, which is best for smaller pictures, and 4 for Lanczos' way.
    """
    pictures.opencv()  # whether it is there is told here, not where the result is read
    w, h, interp = _whole("imresize", w=w, h=h, interp=interp)
    return _into(out, _resized(src, w=w, h=h, interp=interp), "[imresize]")


def _whole(function: str, **numbers: Any) -> list[int]:
    """Return numbers that are whole."""
    for name, number in numbers.items():
        if int(number) != number:
            raise ArrayValueError(f"[{function}] {name} is {number}; a whole number is needed")
    return [int(number) for number in numbers.values()]


def _bordered_spec(
    src: Spec, *, top: int, bot: int, left: int, right: int, type: int, values: tuple[float, ...]
) -> Spec:
    _check_picture("copyMakeBorder", src)
    if min(top, bot, left, right) < 0:
        raise ArrayValueError(
            f"[copyMakeBorder] margins of {top}, {bot}, {left} and {right}; none may be negative"
        )
    if type not in _BORDERS:
        raise ArrayValueError(f"[copyMakeBorder] there is no type {type}; 0 to 4 are known")
    height, width, channels = src.shape
    if channels > len(values) and len({*values}) > 1:
        raise ArrayValueError(f"[copyMakeBorder] {len(values)} values for {channels} channels")
    return Spec((height + top + bot, width + left + right, channels), src.dtype)


#: OpenCV's kinds of borders, by NumPy's names; 16 is a colour as well.
_BORDERS = {0: "", 1: "edge", 2: "symmetric", 3: "wrap", 4: "reflect", 16: ""}


@declare_host("copy_make_border", infer=_bordered_spec)
def _bordered(
    src: Host, *, top: int, bot: int, left: int, right: int, type: int, values: tuple[float, ...]
) -> Host:
    """Return a picture with a border, of a colour or of its own pixels."""
    if mode := _BORDERS[type]:
        return onp.pad(src, ((top, bot), (left, right), (0, 0)), mode)  # type: ignore[call-overload,no-any-return]
    height, width, channels = src.shape
    color = onp.resize(values, channels)
    if src.dtype.kind in "iu":
        limits = onp.iinfo(src.dtype)
        color = onp.clip(onp.rint(color), limits.min, limits.max)
    found = onp.empty((height + top + bot, width + left + right, channels), src.dtype)
    found[:] = color
    found[top : top + height, left : left + width] = src
    return found


def copyMakeBorder(  # noqa: N802 - OpenCV's name
    src: Any,
    top: int,
    bot: int,
    left: int,
    right: int,
    type: int = 0,
    value: float = 0,
    values: Any = (),
    out: Any = None,
) -> Any:
    """Return a picture with a border.

    ``type`` is 0 for a colour: ``values`` of up to four channels, or one ``value`` for all. Others
    go on with the picture: 1 with the pixels of the edge, 2 mirrored, 4 mirrored without the edge,
    3 with the other side.
    """
    given = [float(one) for one in (values if isinstance(values, Sequence) else [values])]
    color = (*given, *[0.0] * (4 - len(given))) if given else (float(value),) * 4
    top, bot, left, right, type = _whole(
        "copyMakeBorder", top=top, bot=bot, left=left, right=right, type=type
    )
    bordered = _bordered(src, top=top, bot=bot, left=left, right=right, type=type, values=color)
    return _into(out, bordered, "[copyMakeBorder]")


def resized(src: Any, size: Size, interp: int) -> Any:
    """Return a picture of another size, by a method that may be 9 or 10."""
    width, height = size
    before = src.shape[1], src.shape[0]
    return imresize(src, width, height, pictures.interpolation(interp, before, size))


def resize_short(src: Any, size: int, interp: int = 2) -> Any:
    """Return a picture whose shorter side is so long, with the proportions that it has.

    ``interp`` is that of :func:`imresize`, or 9: cubic for larger pictures, areas for smaller ones
    and linear for others, or 10: any, drawn by ``random``.
    """
    height, width, _ = src.shape
    if height > width:
        return resized(src, (size, size * height // width), interp)
    return resized(src, (size * width // height, size), interp)


def scale_down(src_size: Size, size: Size) -> tuple[int, int]:
    """Return a size with the proportions of another that is not larger than a picture.

    Sizes are (width, height).

    >>> from afterglow import image
    >>> image.scale_down((640, 480), (720, 120))
    (640, 106)
    """
    width: float
    height: float
    width, height = size
    most_width, most_height = src_size
    if most_height < height:
        width, height = float(width * most_height) / height, most_height
    if most_width < width:
        width, height = most_width, float(height * most_width) / width
    return int(width), int(height)


# --- crops ---


def fixed_crop(
    src: Any, x0: int, y0: int, w: int, h: int, size: Size | None = None, interp: int = 2
) -> Any:
    """Return a part of a picture, and resize it to ``size`` (width, height) if that is given."""
    part = src[y0 : y0 + h, x0 : x0 + w]
    if size is None or (w, h) == tuple(size):
        return part
    return imresize(part, size[0], size[1], pictures.interpolation(interp, (w, h), size))


def random_crop(src: Any, size: Size, interp: int = 2) -> tuple[Any, Box]:
    """Return any part of a picture in a size (width, height), and where it was.

    A picture that is smaller is cut to the proportions of ``size``, and resized.
    """
    return _crop(src, size, interp, lambda room: random.randint(0, room))


def center_crop(src: Any, size: Size, interp: int = 2) -> tuple[Any, Box]:
    """Return the middle of a picture in a size (width, height), and where it was.

    A picture that is smaller is cut to the proportions of ``size``, and resized.
    """
    return _crop(src, size, interp, lambda room: int(room / 2))


def _crop(src: Any, size: Size, interp: int, place: Callable[[int], int]) -> tuple[Any, Box]:
    height, width, _ = src.shape
    w, h = scale_down((width, height), size)
    x0 = place(width - w)
    y0 = place(height - h)
    return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)


def random_size_crop(
    src: Any, size: Size, area: Any, ratio: Sequence[float], interp: int = 2, **kwargs: Any
) -> tuple[Any, Box]:
    """Return any part of a picture, resized to ``size`` (width, height), and where it was.

    ``area`` is which share of the picture it has, from the first number to the second or from one
    number to 1; ``ratio`` what width by height may be. If ten draws do not fit into the picture,
    the answer is that of :func:`center_crop`.
    """
    area = least_area("random_size_crop", area, kwargs)
    height, width, _ = src.shape
    if isinstance(area, Number):
        area = (area, 1.0)
    for _ in range(10):
        wanted = random.uniform(area[0], area[1]) * (height * width)
        proportion = onp.exp(random.uniform(onp.log(ratio[0]), onp.log(ratio[1])))
        w = round(onp.sqrt(wanted * proportion))
        h = round(onp.sqrt(wanted / proportion))
        if w <= width and h <= height:
            x0 = random.randint(0, width - w)
            y0 = random.randint(0, height - h)
            return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)
    return center_crop(src, size, interp)


def least_area(function: str, area: Any, others: dict[str, Any]) -> Any:
    """Return an area, which may have been given by its old name."""
    if "min_area" in others:
        warnings.warn(
            "`min_area` is deprecated. Please use `area` instead.", DeprecationWarning, stacklevel=3
        )
        area = others.pop("min_area")
    if others:
        raise ArgumentError(f"[{function}] unexpected keyword arguments: {', '.join(others)}")
    return area


# --- colours and turns ---


def color_normalize(src: Any, mean: Any, std: Any = None) -> Any:
    """Subtract the means of channels from a picture, then divide it by their deviations; in place.

    What is None is left out.
    """
    if mean is not None:
        src -= mean
    if std is not None:
        src /= std
    return src


def imrotate(src: Any, rotation_degrees: Any, zoom_in: bool = False, zoom_out: bool = False) -> Any:
    """Return pictures, turned by an angle in degrees around their middle.

    Here pictures are float32 in the shape (channels, height, width), or a stack of them with an
    angle for all or for each. What comes from outside is 0. With ``zoom_in`` pictures are
    enlarged until nothing does, with ``zoom_out`` made smaller until all of them can be seen.
    """
    if zoom_in and zoom_out:
        raise ArrayValueError("[imrotate] `zoom_in` and `zoom_out` cannot be both True")
    if src.dtype != onp.float32:
        raise ArrayTypeError(f"[imrotate] Only `float32` images are supported; got {src.dtype}")
    if src.ndim == 3:
        if not isinstance(rotation_degrees, Number):
            raise ArrayTypeError("[imrotate] one picture is turned by one number")
        return imrotate(src.expand_dims(axis=0), rotation_degrees, zoom_in, zoom_out)[0]
    if src.ndim != 4:
        raise ArrayValueError(f"[imrotate] Only 3D and 4D are supported; got shape {src.shape}")
    if isinstance(rotation_degrees, Number):
        rotation_degrees = nd.array([rotation_degrees] * len(src))
    if len(src) != len(rotation_degrees):
        raise ArrayValueError(f"[imrotate] {len(rotation_degrees)} angles for {len(src)} pictures")
    height, width = src.shape[2:]
    angle = (rotation_degrees.as_in_context(src.context) * (math.pi / 180)).reshape((-1, 1, 1))
    cosine, sine = nd.cos(angle), nd.sin(angle)
    # Where a pixel comes from, from the middle on.
    x = nd.arange(width, ctx=src.context).reshape((1, 1, -1)) - (width - 1) / 2
    y = nd.arange(height, ctx=src.context).reshape((1, -1, 1)) - (height - 1) / 2
    x, y = x * cosine - y * sine, x * sine + y * cosine
    grid = nd.stack(x / ((width - 1) / 2 or 1), y / ((height - 1) / 2 or 1), axis=1)
    if zoom_in or zoom_out:
        # The corners of the turned picture, of which two are the others mirrored.
        diagonal, slope = math.hypot(height, width), math.atan2(height, width)
        turns = (slope + nd.abs(angle), slope - nd.abs(angle))
        wide, high = (
            nd.maximum(*(nd.abs(diagonal * function(turn)) for turn in turns)) / side
            for function, side in ((nd.cos, width), (nd.sin, height))
        )
        scale = nd.maximum(wide, high)
        grid = grid * (scale if zoom_out else 1 / scale).expand_dims(axis=3)
    return nd.BilinearSampler(src, grid)


def random_rotate(
    src: Any, angle_limits: Sequence[float], zoom_in: bool = False, zoom_out: bool = False
) -> Any:
    """Return pictures, each turned by an angle between limits. See :func:`imrotate`."""
    low, high = angle_limits
    if src.ndim == 3:
        return imrotate(src, onp.random.uniform(low, high), zoom_in, zoom_out)
    angles = nd.array(onp.random.uniform(low, high, size=src.shape[0]))
    return imrotate(src, angles, zoom_in, zoom_out)
