# SPDX-License-Identifier: Apache-2.0
"""Introduces the compiled core to the package. Imported once, before any array exists."""

from __future__ import annotations

import atexit
import os
from pathlib import Path

from . import _core
from ._host import convert
from .error import CLASSES
from .ndarray import NDArray
from .numpy import ndarray


def start() -> None:
    """Tell the core about classes, errors and files, and hook it into fork and exit."""
    _core.set_error_classes(CLASSES)
    _core.set_package_folder(str(Path(__file__).parent) + os.sep)
    _core.register_classes(NDArray, ndarray, convert)
    # Opened when the first product needs it.
    _core.set_blas_path(str(Path(_core.__file__).parent / "lib" / "libscipy_openblas.so"))
    # Tells the core that it is Python that forks; a subprocess is started without its knowledge.
    os.register_at_fork(
        before=_core.before_fork,
        after_in_parent=_core.after_fork,
        after_in_child=_core.after_fork,
    )
    atexit.register(_core.shut_down)
    # Whoever sets none of these does not pay for the table of them.
    named = [name for name in os.environ if name.startswith(("AFTERGLOW_", "MXNET_"))]
    if named:
        from . import environment

        environment.apply(named)
    if os.environ.get("MXNET_PROFILER_AUTOSTART", "0") == "1":
        from .profiler import start_with_process

        start_with_process()
