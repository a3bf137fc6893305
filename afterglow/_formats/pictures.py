# SPDX-License-Identifier: Apache-2.0
"""Pictures in files: OpenCV decodes and encodes them, after a look at what their headers announce.

A decoder takes memory for as many pixels as a header says. So the size is read here first, and a
picture is refused that has fewer bytes than any picture of that size. Formats are those of which
this can be said; OpenCV is never asked about others.
"""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as onp

from ..error import ArrayMemoryError, ArrayValueError, FileError

Host = onp.ndarray[Any, Any]

#: Where a format says nothing of how few bytes are enough, this many pixels are always decoded...
_ALWAYS = 1 << 24
#: ... and of larger pictures at most so many for each byte: what deflate makes of one.
_MOST_UNPACKED = 1032
#: A block of a JPEG picture, of 8 by 8 pixels, takes a bit at least.
_PIXELS_OF_A_JPEG_BYTE = 8 * 8 * 8


@cache
def opencv() -> Any:
    """Return OpenCV, which is imported when it is first needed."""
    try:
        import cv2
    except ImportError as error:
        raise ImportError(
            "OpenCV is needed to decode, encode and resize pictures: pip install afterglow[image]"
        ) from error
    return cv2


def decode(content: Any, flag: int, name: str) -> Host:
    """Return the pixels of a picture; blue comes first. ``flag`` is OpenCV's: -1, 0 or 1.

    ``name`` begins the texts of errors: a function in brackets and what is decoded.
    """
    cv2 = opencv()
    data = onp.frombuffer(content, "uint8")
    check(data.data, name)
    try:
        pixels: Host | None = cv2.imdecode(data, flag)
    except cv2.error as error:
        raise _refused(error, name) from None
    if pixels is None:
        raise FileError(f"{name} is a damaged picture, or one that is cut off")
    return pixels


def encode(pixels: Host, form: str, quality: int) -> bytes:
    """Return a picture in a format that is named by its ending, such as ``.jpg``."""
    cv2 = opencv()
    options = {
        ".jpg": [cv2.IMWRITE_JPEG_QUALITY, min(int(quality), 100)],
        ".jpeg": [cv2.IMWRITE_JPEG_QUALITY, min(int(quality), 100)],
        ".png": [cv2.IMWRITE_PNG_COMPRESSION, min(int(quality), 9)],
    }
    try:
        done, data = cv2.imencode(form, pixels, options.get(form.lower(), []))
    except (cv2.error, TypeError) as error:
        raise ArrayValueError(f"[pack_img] failed to encode image as {form!r}: {error}") from None
    if not done:
        raise ArrayValueError(f"[pack_img] failed to encode image as {form!r}")
    return bytes(data)


def resize(pixels: Host, width: int, height: int, method: int) -> Host:
    """Return a picture of another size, by one of OpenCV's methods."""
    cv2 = opencv()
    # Intel's library, which OpenCV has for some methods, gives other pixels than MXNet's OpenCV.
    # The switch belongs to the thread.
    before = cv2.ipp.useIPP()
    cv2.ipp.setUseIPP(False)
    try:
        resized: Host = cv2.resize(pixels, (width, height), interpolation=method)
    finally:
        cv2.ipp.setUseIPP(before)
    return resized


#: OpenCV's methods of interpolation: nearest, linear, cubic, areas, Lanczos' way.
METHODS = range(5)


def interpolation(
    interp: int, before: Sequence[int], after: Sequence[int], draw: Any = random
) -> int:
    """Return a method of OpenCV: 9 asks for one that suits the sizes, 10 for any."""
    if interp == 9:
        if all(new > old for old, new in zip(before, after, strict=True)):
            return 2
        return 3 if all(new < old for old, new in zip(before, after, strict=True)) else 1
    if interp == 10:
        return int(draw.randint(0, 4))
    if interp not in METHODS:
        raise ArrayValueError(f"Unknown interp method {interp}; 0 to 4, 9 and 10 are known")
    return interp


def _refused(error: Exception, name: str) -> Exception:
    """Return an error of ours for one of OpenCV's."""
    cv2 = opencv()
    if getattr(error, "code", 0) == cv2.Error.StsNoMem:
        return ArrayMemoryError(f"{name} needs more memory than there is: {error}")
    return FileError(f"{name} cannot be decoded: {error}")


# --- what headers announce ---


def check(content: memoryview, name: str) -> None:
    """Raise where a picture has fewer bytes than one of the size that it announces."""
    known = [one for one in _FORMATS if re.match(one[1], content)]
    if not known:
        *forms, last = (form for form, *_ in _FORMATS)
        raise FileError(
            f"{name} is no picture: it begins with {bytes(content[:8])!r}, as no "
            f"{', '.join(forms)} or {last} does"
        )
    form, _, look = known[0]
    try:
        width, height, least = look(content)
    except (IndexError, struct.error):
        raise FileError(f"{name}: its {form} header is cut off") from None
    if width < 1 or height < 1:
        raise FileError(f"{name}: its {form} header announces {width} x {height} pixels")
    if len(content) < least:
        raise FileError(
            f"{name} is damaged: its {form} header announces {width} x {height} pixels, for which "
            f"{least} bytes are the least; it has {len(content)}"
        )


#: Width, height, and the least bytes of such a picture.
_Size = tuple[int, int, int]


def _png(content: memoryview) -> _Size:
    width, height, depth, colors = struct.unpack_from(">IIBB", content, 16)
    channels = {2: 3, 4: 2, 6: 4}.get(colors, 1)
    return width, height, height * (width * depth * channels + 7) // 8 // _MOST_UNPACKED


def _jpeg(content: memoryview) -> _Size:
    place = 2
    while True:
        # As libjpeg does, to whatever comes next that looks like a marker.
        while content[place] != 0xFF:
            place += 1
        while content[place] == 0xFF:
            place += 1
        marker = content[place]
        place += 1
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", content, place + 3)
            return width, height, width * height // _PIXELS_OF_A_JPEG_BYTE
        if marker in (0xD9, 0xDA):  # the end, or the pixels: nothing has told the size
            return 0, 0, 0
        if marker not in _BARE_JPEG_MARKERS:
            place += struct.unpack_from(">H", content, place)[0]


_JPEG_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_BARE_JPEG_MARKERS = {0x00, 0x01, *range(0xD0, 0xD9)}


def _bmp(content: memoryview) -> _Size:
    (header,) = struct.unpack_from("<I", content, 14)
    packed = 0
    if header == 12:
        width, height, _, depth = struct.unpack_from("<4H", content, 18)
    else:
        width, height, _, depth, packed = struct.unpack_from("<2i2HI", content, 18)
    height = abs(height)  # below 0: the first row comes first
    if packed in (1, 2):  # in runs
        return width, height, _few(width, height)
    return width, height, height * (width * depth // 8)


def _gif(content: memoryview) -> _Size:
    width, height = struct.unpack_from("<2H", content, 6)
    return width, height, _few(width, height)


def _webp(content: memoryview) -> _Size:
    match bytes(content[12:16]):
        case b"VP8 ":
            width, height = (side & 0x3FFF for side in struct.unpack_from("<2H", content, 26))
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", content, 21)
            width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case _:
            low, high, low_height, high_height = struct.unpack_from("<HBHB", content, 24)
            width, height = (low | high << 16) + 1, (low_height | high_height << 16) + 1
    return width, height, _few(width, height)


def _tiff(content: memoryview) -> _Size:
    order = "<" if content[0] == ord("I") else ">"
    (place,) = struct.unpack_from(order + "I", content, 4)
    (count,) = struct.unpack_from(order + "H", content, place)
    sides = {0x100: 0, 0x101: 0}
    for entry in range(place + 2, place + 2 + 12 * count, 12):
        tag, kind = struct.unpack_from(order + "2H", content, entry)
        if tag in sides:
            form = {1: "B", 3: "H", 4: "I"}.get(kind, "I")
            sides[tag] = max(sides[tag], *struct.unpack_from(order + form, content, entry + 8))
    width, height = sides.values()
    return width, height, _few(width, height)


def _few(width: int, height: int) -> int:
    """Return how many bytes are asked for where a format leaves that open."""
    return 0 if width * height <= _ALWAYS else width * height // _MOST_UNPACKED


#: Name, how it begins, and what its header announces.
_FORMATS: list[tuple[str, bytes, Callable[[memoryview], _Size]]] = [
    ("JPEG", rb"\xff\xd8\xff", _jpeg),
    ("PNG", rb"\x89PNG\r\n\x1a\n", _png),
    ("BMP", rb"BM", _bmp),
    ("GIF", rb"GIF8[79]a", _gif),
    ("WebP", rb"(?s:RIFF....WEBP)", _webp),
    ("TIFF", rb"II\*\0|MM\0\*", _tiff),
]
