# SPDX-License-Identifier: Apache-2.0
"""Training on several processes and machines, with names as Horovod has them.

>>> from afterglow import distributed as hvd
>>> hvd.init()
>>> hvd.rank(), hvd.size()
(0, 1)

``afterglow launch -n 4 train.py`` starts four ranks.
"""

from __future__ import annotations

from .._package.namespace import tend
from . import group
from .group import *  # noqa: F403
from .trainer import DistributedTrainer

__all__ = [*group.__all__, "DistributedTrainer"]

tend(__name__)
