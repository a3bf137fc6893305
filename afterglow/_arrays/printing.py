# SPDX-License-Identifier: Apache-2.0
"""Text of arrays, letter for letter as MXNet 1.9.1 prints them.

``nd`` prints NumPy's ``str`` with a line below. ``np`` prints the ``repr`` of NumPy 1.23, which
newer NumPy no longer gives, with float32 in the place of the default type.
"""

from __future__ import annotations

from typing import Any

import numpy as onp

from ..context import Context


def legacy_text(host: onp.ndarray[Any, Any], context: Context) -> str:
    """Return what ``print`` shows of an ``nd`` array."""
    shape = "x".join(str(extent) for extent in host.shape)
    return f"\n{host!s}\n<NDArray {shape} @{context}>"


def numpy_str(host: onp.ndarray[Any, Any], context: Context) -> str:
    """Return what ``print`` shows of an ``np`` array."""
    text = str(host)
    return text if context.device_type == "cpu" else f"{text} @{context}"


def numpy_repr(host: onp.ndarray[Any, Any], context: Context) -> str:
    """Return the ``repr`` of an ``np`` array: the type is named unless it is float32 or boolean."""
    name = host.dtype.name
    implied = name in ("float64", "int64", "bool") and host.size > 0
    prefix = "array("
    suffix = ")" if implied else ","
    if host.size > 0 or host.shape == (0,):
        body = onp.array2string(host, separator=", ", prefix=prefix, suffix=suffix)
    else:
        body = f"[], shape={host.shape!r}"
    if name == "float32":
        text = f"{prefix}{body})"
    elif name == "bool":
        text = f"{prefix}{body})" if implied else f"{prefix}{body}, dtype=bool)"
    elif implied:
        text = f"{prefix}{body}, dtype={name})"
    else:
        text = _with_type(f"{prefix}{body},", f"dtype={name})", len(prefix))
    return text if context.device_type == "cpu" else f"{text[:-1]}, ctx={context})"


def _with_type(text: str, dtype: str, indent: int) -> str:
    """Put the type behind the numbers, or on a line of its own when the line would get too long."""
    width = onp.get_printoptions()["linewidth"]
    last_line = len(text) - (text.rfind("\n") + 1)
    spacer = " " if last_line + len(dtype) + 1 <= width else "\n" + " " * indent
    return text + spacer + dtype
