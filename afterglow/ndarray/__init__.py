# SPDX-License-Identifier: Apache-2.0
"""``mx.nd``: arrays and functions that answer as MXNet's classic interface."""

from __future__ import annotations

from .._core import waitall
from . import (
    _ops,
    contrib,
    creation,
    elementwise,
    files,
    image,
    indexing,
    linalg,
    ndarray,
    random,
    reduce,
    shape,
    sharing,
    sorting,
    sparse,
)
from ._ops import *  # noqa: F403
from .creation import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .files import *  # noqa: F403
from .indexing import *  # noqa: F403
from .linalg import gelqf as linalg_gelqf
from .linalg import slogdet as linalg_slogdet
from .linalg import trsm as linalg_trsm
from .ndarray import NDArray
from .reduce import *  # noqa: F403
from .shape import *  # noqa: F403
from .sharing import *  # noqa: F403
from .sorting import *  # noqa: F403
from .sparse import cast_storage

__all__ = [
    "NDArray",
    "cast_storage",
    "contrib",
    "image",
    "linalg",
    "ndarray",
    "random",
    "sparse",
    "waitall",
    *_ops.__all__,
    *creation.__all__,
    *elementwise.__all__,
    *files.__all__,
    *indexing.__all__,
    "linalg_gelqf",
    "linalg_slogdet",
    "linalg_trsm",
    *reduce.__all__,
    *shape.__all__,
    *sharing.__all__,
    *sorting.__all__,
]
