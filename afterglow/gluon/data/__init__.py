# SPDX-License-Identifier: Apache-2.0
"""``gluon.data``: datasets, the order they are read in, and batches of them."""

from __future__ import annotations

from . import batchify, dataloader, dataset, sampler, vision
from .dataloader import *  # noqa: F403
from .dataset import *  # noqa: F403
from .sampler import *  # noqa: F403

__all__ = ["batchify", *dataloader.__all__, *dataset.__all__, *sampler.__all__, "vision"]
