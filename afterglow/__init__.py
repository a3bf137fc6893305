# SPDX-License-Identifier: Apache-2.0
"""Afterglow: arrays that run ahead of Python, with the API of Apache MXNet 1.x.

``import afterglow as mx`` gives MXNet's layout of names. Statements return before their work is
done; whoever asks for a value waits for just that value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import (
    attribute,
    autograd,
    base,
    context,
    engine,
    error,
    executor,
    gluon,
    initializer,
    kvstore,
    log,
    lr_scheduler,
    memory,
    metric,
    model,
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
from ._package import namespace as _namespace
from ._package import startup as _startup
from .attribute import AttrScope
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

if TYPE_CHECKING:
    from . import (
        callback,
        contrib,
        distributed,
        executor_manager,
        image,
        io,
        libinfo,
        module,
        monitor,
        onnx,
        profiler,
        recordio,
        rnn,
        runtime,
        test_utils,
        trace,
        visualization,
    )
    from . import image as img
    from . import module as mod
    from . import monitor as mon
    from . import visualization as viz
    from .timing import benchmark, timer

_startup.start()
del _startup

# Where code for MXNet finds them when it is given nd as F.
ndarray.np = numpy  # type: ignore[attr-defined]
ndarray.npx = numpy_extension  # type: ignore[attr-defined]
ndarray.Custom = operator.custom  # type: ignore[attr-defined]

__all__ = [
    "AttrScope",
    "Context",
    "MXNetError",
    "__version__",
    "attribute",
    "autograd",
    "base",
    "benchmark",
    "callback",
    "context",
    "contrib",
    "cpu",
    "cpu_pinned",
    "current_context",
    "distributed",
    "engine",
    "error",
    "executor",
    "executor_manager",
    "gluon",
    "gpu",
    "image",
    "img",
    "init",
    "initializer",
    "io",
    "is_np_array",
    "is_np_shape",
    "kv",
    "kvstore",
    "libinfo",
    "log",
    "lr_scheduler",
    "memory",
    "metric",
    "mod",
    "model",
    "module",
    "mon",
    "monitor",
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
    "onnx",
    "operator",
    "optimizer",
    "profiler",
    "random",
    "recordio",
    "registry",
    "rnd",
    "rnn",
    "runtime",
    "set_np_shape",
    "sym",
    "symbol",
    "test_utils",
    "timer",
    "trace",
    "use_np",
    "use_np_array",
    "use_np_shape",
    "util",
    "visualization",
    "viz",
    "waitall",
]

__version__: str

#: Parts that not every program uses; they are imported when they are first asked for.
_LATER = {"img": "image", "mod": "module", "mon": "monitor", "viz": "visualization"}
_LATER |= {part: part for part in (*_LATER.values(), "callback", "contrib", "io", "onnx")}
_LATER |= {part: part for part in ("executor_manager", "libinfo", "profiler", "recordio")}
_LATER |= {part: part for part in ("rnn", "runtime", "test_utils", "trace", "distributed")}

#: Functions of such parts, and where they are.
_LATER_FUNCTIONS = {"benchmark": "timing", "timer": "timing"}


def __getattr__(name: str) -> Any:
    """Return what would make the import slow: parts of the package, the version in its metadata."""
    if name == "__version__":
        from .version import version

        return version()
    part = _LATER.get(name) or _LATER_FUNCTIONS.get(name)
    if part is None:
        raise error.MissingNameError(__name__, name)
    from importlib import import_module

    module = import_module(f"{__name__}.{part}")
    return module if name in _LATER else getattr(module, name)


def load_ipython_extension(shell: Any) -> None:
    """Do what ``%load_ext afterglow`` asks for: name cells in errors, and add ``%%trace``."""
    from .notebooks.extension import load

    load(shell, replace=True)


_namespace.tend(__name__)
del _namespace
