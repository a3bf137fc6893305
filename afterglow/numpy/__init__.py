# SPDX-License-Identifier: Apache-2.0
"""``mx.np``: arrays and functions that answer as NumPy does."""

from __future__ import annotations

import functools
from math import e, inf, nan, pi
from typing import Any

import numpy as onp
from numpy import (
    bool_,
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    uint8,
)

from . import (
    _ops,
    creation,
    elementwise,
    fallback,
    files,
    indexing,
    linalg,
    multiarray,
    products,
    random,
    reduce,
    sharing,
    sorting,
)
from . import shape as shapes  # np.shape is a function
from ._ops import *  # noqa: F403
from .creation import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .files import *  # noqa: F403
from .indexing import *  # noqa: F403
from .multiarray import ndarray
from .products import *  # noqa: F403
from .reduce import *  # noqa: F403
from .shape import *  # noqa: F403
from .sharing import *  # noqa: F403
from .sorting import *  # noqa: F403

newaxis = None
bool = bool_


def set_printoptions(
    precision: int | None = None, threshold: int | None = None, **kwargs: Any
) -> None:
    """Set how arrays are printed: the options of NumPy itself."""
    onp.set_printoptions(precision=precision, threshold=threshold, **kwargs)


__all__ = [
    "bool",
    "bool_",
    "e",
    "float16",
    "float32",
    "float64",
    "inf",
    "int8",
    "int32",
    "int64",
    "linalg",
    "multiarray",
    "nan",
    "ndarray",
    "newaxis",
    "pi",
    "random",
    "set_printoptions",
    "uint8",
    *_ops.__all__,
    *creation.__all__,
    *elementwise.__all__,
    *files.__all__,
    *indexing.__all__,
    *products.__all__,
    *reduce.__all__,
    *shapes.__all__,
    *sharing.__all__,
    *sorting.__all__,
]


def __getattr__(name: str) -> Any:
    """Find what only NumPy has: functions compute on the host, after a warning."""
    return fallback.find("numpy", name)


linalg.__getattr__ = functools.partial(fallback.find, "numpy.linalg")  # type: ignore[method-assign]
