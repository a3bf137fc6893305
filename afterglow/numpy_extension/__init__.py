# SPDX-License-Identifier: Apache-2.0
"""``mx.npx``: what ``np`` arrays need and NumPy does not have."""

from __future__ import annotations

from .._core import waitall
from ..context import Context, cpu, cpu_pinned, current_context, gpu, gpu_memory_info, num_gpus
from ..util import (
    get_cuda_compute_capability,
    is_np_array,
    is_np_shape,
    np_array,
    np_shape,
    reset_np,
    set_np,
    set_np_shape,
    use_np,
    use_np_array,
    use_np_shape,
)
from . import _ops, checks, files, image, indexing, random, shape
from ._ops import *  # noqa: F403
from .checks import *  # noqa: F403
from .files import *  # noqa: F403
from .indexing import *  # noqa: F403
from .random import seed
from .shape import *  # noqa: F403

__all__ = [
    "Context",
    "cpu",
    "cpu_pinned",
    "current_context",
    "get_cuda_compute_capability",
    "gpu",
    "gpu_memory_info",
    "image",
    "is_np_array",
    "is_np_shape",
    "np_array",
    "np_shape",
    "num_gpus",
    "random",
    "reset_np",
    "seed",
    "set_np",
    "set_np_shape",
    "use_np",
    "use_np_array",
    "use_np_shape",
    "waitall",
    *_ops.__all__,
    *checks.__all__,
    *files.__all__,
    *indexing.__all__,
    *shape.__all__,
]
