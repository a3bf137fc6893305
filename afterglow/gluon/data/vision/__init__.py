# SPDX-License-Identifier: Apache-2.0
"""``gluon.data.vision``: datasets of images, and what is done to images on their way."""

from __future__ import annotations

from . import datasets, transforms
from .datasets import *  # noqa: F403

__all__ = ["datasets", "transforms", *datasets.__all__]
