# SPDX-License-Identifier: Apache-2.0
"""``mx.test_utils``: comparisons, random inputs and checks of gradients for tests."""

from __future__ import annotations

from .._package.namespace import tend
from ..context import set_default_context
from ..util import use_np
from .comparing import *  # noqa: F403
from .comparing import __all__ as _comparing
from .datasets import *  # noqa: F403
from .datasets import __all__ as _datasets
from .making import *  # noqa: F403
from .making import __all__ as _making
from .networks import *  # noqa: F403
from .networks import __all__ as _networks
from .statistics import *  # noqa: F403
from .statistics import __all__ as _statistics
from .surroundings import *  # noqa: F403
from .surroundings import __all__ as _surroundings

__all__ = [
    "set_default_context",
    "use_np",
    *_comparing,
    *_datasets,
    *_making,
    *_networks,
    *_statistics,
    *_surroundings,
]

tend(__name__)
