# SPDX-License-Identifier: Apache-2.0
"""Types of ONNX, and going from one to the other."""

from __future__ import annotations

from typing import Any

import numpy as onp

from ..._arrays.dtypes import is_known
from ...error import ArrayTypeError
from .._graph import onnx_module
from .graph import Node
from .registry import imports
from .values import as_array, as_host, dtype_of

_STRING = 8


def dtype_named(number: int) -> onp.dtype[Any]:
    """Return NumPy's type for the number that ONNX has for it."""
    if number == _STRING:
        return onp.dtype(object)
    try:
        found: onp.dtype[Any] = onnx_module("onnx.helper").tensor_dtype_to_np_dtype(number)
    except KeyError:
        raise ArrayTypeError(f"[onnx] there is no type with the number {number}") from None
    return found


def cast(node: Node, value: Any, dtype: onp.dtype[Any], saturates: bool = True) -> Any:
    """Return a value in another type; such as arrays do not have are computed by NumPy."""
    if is_known(dtype) and is_known(dtype_of(value)) and not node.f.is_host:
        return node.f.cast(value, dtype)
    if hasattr(value, "sketcher"):
        raise node.refuse(f"no array of a symbol can be of {dtype}")
    host = as_host(value)
    if dtype.kind == "O":
        return onp.asarray([_text(one) for one in host.ravel().tolist()], object).reshape(
            host.shape
        )
    if host.dtype.kind == "O":
        host = host.astype("float64" if dtype.kind == "f" else dtype)
    if dtype.name == "float8_e8m0fnu":
        host = _power_of_two(host.astype("float64"), node.get("round_mode", "up"))
    elif dtype.name.startswith("float8") and saturates:
        most = float(onnx_module("ml_dtypes").finfo(dtype).max)
        host = onp.clip(host.astype("float32"), -most, most)
    elif dtype.name.startswith("float4"):
        host = onp.clip(host.astype("float32"), -6, 6)
    elif host.dtype.name.startswith(("float8", "float4", "bfloat")):
        host = host.astype("float32")
    with onp.errstate(all="ignore"):  # what does not fit is as undefined as in C
        found = host.astype(dtype)
    return as_array(found) if not node.f.is_host and is_known(dtype) else found


def _power_of_two(x: onp.ndarray[Any, Any], mode: str) -> onp.ndarray[Any, Any]:
    """Return the power of two above, below or next to positive numbers."""
    share, exponent = onp.frexp(x)  # 0.5 for powers, less than 1 for all others
    limit = {"up": 0.5, "down": 1.0, "nearest": 0.75}[mode]
    is_next = share > limit if mode == "up" else share >= limit
    power = onp.clip(onp.where(x == 0, -127, exponent - 1 + is_next), -127, 127)
    return onp.where(x >= 0, onp.ldexp(1.0, power), onp.nan)


def _text(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


@imports("Cast")
def _cast(node: Node) -> Any:
    return cast(node, node[0], dtype_named(node.get("to")), bool(node.get("saturate", 1)))


@imports("CastLike")
def _cast_like(node: Node) -> Any:
    return cast(node, node[0], dtype_of(node.values[1]), bool(node.get("saturate", 1)))


@imports("BitCast", on_host=True)
def _bit_cast(node: Node) -> Any:
    return node[0].view(dtype_named(node.get("to")))
