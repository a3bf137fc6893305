# SPDX-License-Identifier: Apache-2.0
"""``mx.optimizer``: rules by which weights follow their gradients.

A rule is a call of an op that updates a weight, such as ``sgd_update``; those that have no op are
written with array calls in place. Either way the window of pending calls fuses what there is to do
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
