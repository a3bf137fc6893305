# SPDX-License-Identifier: Apache-2.0
"""Introduces the compiled core to the package. Imported once, before any array exists."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .. import _core
from .._arrays import base
from .._arrays.dtypes import SPELLINGS, dtype_number
from .._arrays.op_functions import need_array, signature_of
from .._interoperation.host import convert
from ..context import as_context_numbers
from ..error import CLASSES
from ..ndarray import NDArray
from ..numpy import ndarray


def start() -> None:
    """Tell the core about classes, errors and files, and hook it into fork and exit."""
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise ImportError(
            "Afterglow needs the GIL, which PYTHON_GIL=0 or -X gil=0 keeps off; leave them out: "
            "importing Afterglow then switches it on"
        )
    here = sys.modules[__name__]
    if getattr(_core, "_started_by", here) is not here:
        raise ImportError(
            "afterglow was imported before and then taken out of sys.modules; a process can have "
            "it once only, so leave it there (importlib.reload works)"
        )
    if hasattr(_core, "_started_by"):
        return
    _core._started_by = here
    sys.modules["afterglow._array"] = base  # the name in pickles of earlier versions
    _core.set_error_classes(CLASSES)
    _core.set_package_folder(str(Path(__file__).parents[1]) + os.sep)
    _core.set_dtype_spellings(SPELLINGS)
    _core.register_classes(NDArray, ndarray, convert)
    _core.set_function_helpers(need_array, dtype_number, signature_of, as_context_numbers)
    # Opened when the first product needs it.
    _core.set_blas_path(str(Path(_core.__file__).parent / "lib" / "libscipy_openblas.so"))
    # Lets no queued Python function run while the process is copied.
    os.register_at_fork(
        before=_core.before_fork,
        after_in_parent=_core.after_fork,
        after_in_child=_core.after_fork,
    )
    # Whoever sets none of these does not pay for the table of them.
    named = [name for name in os.environ if name.startswith(("AFTERGLOW_", "MXNET_"))]
    if named:
        from .. import environment

        environment.apply(named)
    if "IPython" in sys.modules:
        from ..notebooks.extension import load, running_shell

        if (shell := running_shell()) is not None:
            load(shell, replace=False)
    if os.environ.get("MXNET_PROFILER_AUTOSTART", "0") == "1":
        from ..profiler import start_with_process

        start_with_process()
