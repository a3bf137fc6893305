# SPDX-License-Identifier: Apache-2.0
"""``mx.image``: reading pictures, changing them, and batches of them.

Needs ``pip install afterglow[image]``.
"""

from __future__ import annotations

from .._package.namespace import tend
from . import augmenters, detection, functions, iterator
from . import detection as det
from .augmenters import *  # noqa: F403
from .detection import *  # noqa: F403
from .functions import *  # noqa: F403
from .iterator import *  # noqa: F403

__all__ = [
    *augmenters.__all__,
    "det",
    "detection",
    *detection.__all__,
    *functions.__all__,
    *iterator.__all__,
]

tend(__name__)
