# SPDX-License-Identifier: Apache-2.0
"""``mx.npx.image``: images as files have them, height, width and channels, and batches of them."""

from __future__ import annotations

from typing import Any

from ..error import MissingNameError
from . import _image_ops
from ._image_ops import *  # noqa: F403

__all__ = [*_image_ops.__all__]


def __getattr__(name: str) -> Any:
    """Return a name of ``mx.image``, which MXNet has here too; imported when first asked for."""
    from .. import image

    if name not in image.__all__:
        raise MissingNameError(__name__, name)
    return getattr(image, name)
