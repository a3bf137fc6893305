# SPDX-License-Identifier: Apache-2.0
"""``mx.npx.random``."""

from __future__ import annotations

from ..numpy.random import seed
from . import _random_ops
from ._random_ops import *  # noqa: F403

__all__ = ["seed", *_random_ops.__all__]
