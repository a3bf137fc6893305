# SPDX-License-Identifier: Apache-2.0
"""``mx.optimizer``: rules by which weights follow their gradients.

Every rule is written with ordinary array calls in place, which the window of pending calls fuses
into one pass over weight, gradient and state.
"""

from __future__ import annotations

from . import adaptive, base, contrib, large_batch, layerwise, sgd, updater
from .adaptive import *  # noqa: F403
from .base import Optimizer, create, register
from .large_batch import *  # noqa: F403
from .layerwise import *  # noqa: F403
from .sgd import *  # noqa: F403
from .updater import Updater, get_updater

__all__ = [
    "Optimizer",
    "Updater",
    "base",
    "contrib",
    "create",
    "get_updater",
    "register",
    "updater",
    *adaptive.__all__,
    *large_batch.__all__,
    *layerwise.__all__,
    *sgd.__all__,
]
