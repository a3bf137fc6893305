# SPDX-License-Identifier: Apache-2.0
"""Afterglow: arrays that run ahead of Python, with the API of Apache MXNet 1.x.

``import afterglow as mx`` gives MXNet's layout of names. Statements return before their work is
done; whoever asks for a value waits for just that value.
"""

from __future__ import annotations

from . import (
    _startup,
    autograd,
    base,
    context,
    engine,
    error,
    gluon,
    initializer,
    kvstore,
    log,
    lr_scheduler,
    memory,
    metric,
    name,
    ndarray,
    numpy,
    numpy_extension,
    operator,
    optimizer,
    random,
    registry,
    symbol,
    util,
)
from . import initializer as init
from . import kvstore as kv
from . import ndarray as nd
from . import numpy as np
from . import numpy_extension as npx
from . import random as rnd
from . import symbol as sym
from .base import MXNetError
from .context import Context, cpu, cpu_pinned, current_context, gpu, num_gpus
from .ndarray import waitall
from .util import (
    is_np_array,
    is_np_shape,
    np_array,
    np_shape,
    set_np_shape,
    use_np,
    use_np_array,
    use_np_shape,
)

_startup.start()
del _startup

# Where code for MXNet finds them when it is given nd as F.
ndarray.np = numpy  # type: ignore[attr-defined]
ndarray.npx = numpy_extension  # type: ignore[attr-defined]
ndarray.Custom = operator.custom  # type: ignore[attr-defined]

__all__ = [
    "Context",
    "MXNetError",
    "__version__",
    "autograd",
    "base",
    "context",
    "cpu",
    "cpu_pinned",
    "current_context",
    "engine",
    "error",
    "gluon",
    "gpu",
    "init",
    "initializer",
    "is_np_array",
    "is_np_shape",
    "kv",
    "kvstore",
    "log",
    "lr_scheduler",
    "memory",
    "metric",
    "name",
    "nd",
    "ndarray",
    "np",
    "np_array",
    "np_shape",
    "npx",
    "num_gpus",
    "numpy",
    "numpy_extension",
    "operator",
    "optimizer",
    "random",
    "registry",
    "rnd",
    "set_np_shape",
    "sym",
    "symbol",
    "use_np",
    "use_np_array",
    "use_np_shape",
    "util",
    "waitall",
]

__version__: str


def __getattr__(name: str) -> str:
    """Look the version up when it is first asked for: reading metadata is slow at import."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .version import version

    return version()
