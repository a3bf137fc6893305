# SPDX-License-Identifier: Apache-2.0
"""Calls of functions of images, whose answers ``record_images.py`` asks MXNet for."""

from __future__ import annotations

from typing import Any

import numpy as onp

#: By name: the function of ``nd.image``, type and shape of the image, arguments.
CASES: dict[str, tuple[str, str, tuple[int, ...], dict[str, Any]]] = {}

_IMAGE, _GREY, _BATCH = (6, 7, 3), (5, 4, 1), (2, 4, 5, 3)
_TYPES = ("uint8", "float32")


def _add(what: str, function: str, dtype: str, shape: tuple[int, ...], **arguments: Any) -> None:
    CASES[f"{function} {dtype} {what}".strip()] = (function, dtype, shape, arguments)


for _type in ("uint8", "int32", "float32", "float64"):
    _add("", "to_tensor", _type, _IMAGE)
_add("batch", "to_tensor", "uint8", _BATCH)
_add("grey", "to_tensor", "uint8", _GREY)
for _type in ("uint8", "int8", "int32", "int64"):
    # Of results that the type does not have MXNet makes others.
    _add("", "normalize", _type, (3, 4, 5), mean=0, std=(2.5, 3, 4))
for _type in ("float16", "float32", "float64"):
    _add("", "normalize", _type, (3, 4, 5), mean=(1.5, 2, 30), std=(2.5, 3, 0.75))
_add("batch", "normalize", "float32", (2, 3, 4, 5), mean=(0.1, 0.2, 0.3), std=0.5)
_add("one", "normalize", "float32", (1, 4, 5), mean=0.25, std=(3,))
for _type in (*_TYPES, "float16", "int64"):
    _add("", "crop", _type, _IMAGE, x=2, y=1, width=4, height=3)
_add("batch", "crop", "uint8", _BATCH, x=0, y=2, width=5, height=2)
for _type in _TYPES:
    # Where the middle is a row or column of its own, MXNet leaves it as it finds it.
    _add("", "flip_left_right", _type, (5, 6, 3))
    _add("", "flip_top_bottom", _type, (6, 5, 3))
    _add("grey", "flip_left_right", _type, (5, 4, 1))
for _type in (*_TYPES, "float64", "float16", "int32"):
    _add("1.3", "random_brightness", _type, _IMAGE, min_factor=1.3, max_factor=1.3)
for _type in (*_TYPES, "float64"):
    for _factor in (0, 0.4, 1.7):
        _both = {"min_factor": _factor, "max_factor": _factor}
        _add(f"{_factor}", "random_contrast", _type, _IMAGE, **_both)
        _add(f"{_factor} grey", "random_contrast", _type, _GREY, **_both)
        _add(f"{_factor} grey", "random_saturation", _type, _GREY, **_both)
        _add(f"{_factor}", "random_hue", _type, _IMAGE, **_both)
for _type in _TYPES:
    for _factor in (0.1, 0.33, 0.5, 0.99, 5.25):
        _add(f"{_factor}", "random_hue", _type, _IMAGE, min_factor=_factor, max_factor=_factor)
    _add("", "adjust_lighting", _type, _IMAGE, alpha=(0.1, 0.2, -0.3))
    _add("", "random_lighting", _type, _IMAGE, alpha_std=0)
for _type in ("uint8", "float32", "float64"):
    for _way in range(5):
        # Up, down, both, to halves and other whole parts, to one pixel, and as it is.
        _sizes = (9, 13), (3, 4), (5, 4), (12, 3), (5, 2), (15, 16), (1, 1), (10, 8)
        for _size in _sizes if _type == "uint8" else _sizes[:3]:
            _add(f"{_way} {_size}", "resize", _type, (8, 10, 3), size=_size, interp=_way)
        _add(f"{_way} grey", "resize", _type, (9, 6, 1), size=(7, 5), interp=_way)
for _way in range(5):
    _add(f"{_way} two channels", "resize", "uint8", (8, 6, 2), size=(3, 4), interp=_way)
    _add(f"{_way} batch", "resize", "uint8", _BATCH, size=(7, 9), interp=_way)
_add("nearest", "resize", "int32", _IMAGE, size=(3, 9), interp=0)
_add("one size", "resize", "uint8", _IMAGE, size=4)
_add("kept, wide", "resize", "uint8", _IMAGE, size=9, keep_ratio=True)
_add("kept, high", "resize", "uint8", (7, 3, 3), size=2, keep_ratio=True)
_add("kept, two", "resize", "uint8", _IMAGE, size=(4, 3), keep_ratio=True)


def image(name: str) -> onp.ndarray[Any, Any]:
    """Return the image of a case: numbers of a generator that is the same everywhere."""
    _, dtype, shape, _ = CASES[name]
    state, numbers = 1 + len(name), []
    for _ in range(int(onp.prod(shape))):
        state = (1103515245 * state + 12345) % 2**31
        numbers.append(state >> 16)
    whole = onp.array(numbers, "int64").reshape(shape)
    if dtype in ("float32", "float64"):
        return (whole % 25600 / 100).astype(dtype)
    return (whole % 256 - (128 if dtype == "int8" else 0)).astype(dtype)


def answer(mx: Any, name: str, np: bool = False) -> onp.ndarray[Any, Any]:
    """Return what a library answers to a case."""
    function, dtype, _, arguments = CASES[name]
    arrays, functions = (mx.np, mx.npx.image) if np else (mx.nd, mx.nd.image)
    given = arrays.array(image(name), dtype=dtype)
    result: onp.ndarray[Any, Any] = getattr(functions, function)(given, **arguments).asnumpy()
    return result
