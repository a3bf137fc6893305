# SPDX-License-Identifier: Apache-2.0
"""Attributes of nodes: they are text, in files and in memory."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Any

import numpy as onp

Attributes = dict[str, Any]  #: parameters of a node, as what they mean

#: What is kept between underscores, ``__lr_mult__``, and found under both names.
HIDDEN = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage", "profiler_scope")

_LONG = re.compile(r"(?<=\d)[lL]\b")  # Python 2 wrote (2L, 3L)
_NUMBER = re.compile(r"[+-]?(inf|nan)", re.IGNORECASE)


def as_text(name: str, value: Any) -> str:
    """Return a parameter as nodes keep it."""
    if isinstance(value, str):
        return value
    if name == "dtype" and value is not None:
        return str(onp.dtype(value).name)
    if isinstance(value, onp.generic):
        return str(value.item())
    if isinstance(value, onp.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return str(tuple(one.item() if isinstance(one, onp.generic) else one for one in value))
    return str(value)


@lru_cache(4096)  # large graphs repeat the same few texts
def as_value(text: str) -> Any:
    """Return what a text means: a number, a tuple, a truth value, ``None``, or the text itself."""
    stripped = text.strip()
    if _NUMBER.fullmatch(stripped):
        return float(stripped)
    if stripped in ("true", "false"):
        return stripped == "true"
    try:
        value = ast.literal_eval(_LONG.sub("", stripped))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return tuple(value) if isinstance(value, list) else value


def hidden(attributes: dict[str, str]) -> dict[str, str]:
    """Return attributes with underscores around the names that need them."""
    return {f"__{name}__" if name in HIDDEN else name: text for name, text in attributes.items()}


def shown(attributes: dict[str, str]) -> dict[str, str]:
    """Return attributes as they are listed: hidden names in both forms."""
    result = dict(attributes)
    for name in HIDDEN:
        if f"__{name}__" in attributes:
            result[name] = attributes[f"__{name}__"]
    return result
