# SPDX-License-Identifier: Apache-2.0
"""``mx.test_utils``: comparisons, random inputs and checks of gradients for tests."""

from __future__ import annotations

from .._package.mxnet_internals import STAR_IMPORTED
from .._package.namespace import tend
from ..context import set_default_context
from ..util import use_np
from . import comparing, datasets, making, networks, sparse, statistics, surroundings
from .comparing import *  # noqa: F403
from .datasets import *  # noqa: F403
from .making import *  # noqa: F403
from .networks import *  # noqa: F403
from .sparse import *  # noqa: F403
from .statistics import *  # noqa: F403
from .surroundings import *  # noqa: F403

_star_imported = STAR_IMPORTED  # which are no names of ours: `dir` does not show them

__all__ = [
    "set_default_context",
    "use_np",
    *comparing.__all__,
    *datasets.__all__,
    *making.__all__,
    *networks.__all__,
    *sparse.__all__,
    *statistics.__all__,
    *surroundings.__all__,
    *_star_imported,
]

tend(__name__)
