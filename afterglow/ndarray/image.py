# SPDX-License-Identifier: Apache-2.0
"""``mx.nd.image``: images as files have them, height, width and channels, and batches of them."""

from __future__ import annotations

from . import _image_ops
from ._image_ops import *  # noqa: F403

__all__ = [*_image_ops.__all__]
