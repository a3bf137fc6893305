# SPDX-License-Identifier: Apache-2.0
"""Names that MXNet programs import from ``mx.base``."""

from __future__ import annotations

import os
from numbers import Number
from pathlib import Path

import numpy as onp

from .error import MXNetError, NotImplementedForSymbol

__all__ = [
    "MXNetError",
    "NotImplementedForSymbol",
    "data_dir",
    "integer_types",
    "numeric_types",
    "string_types",
]

#: What counts as a number beside an array.
numeric_types: tuple[type, ...] = (float, int, onp.generic, Number)
integer_types: tuple[type, ...] = (int, onp.int32, onp.int64)
string_types: tuple[type, ...] = (str,)


def data_dir() -> str:
    """Return the folder for files that are fetched: ``$MXNET_HOME``, or ``~/.mxnet``."""
    return os.environ.get("MXNET_HOME") or str(Path("~", ".mxnet").expanduser())
