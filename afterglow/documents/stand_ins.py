# SPDX-License-Identifier: Apache-2.0
"""Helper packages of books in processes that do not know of Afterglow yet."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def import_elsewhere(name: str, file: str) -> None:
    """Import a module that a file in ``aliases`` stands in the way of, and put it in its place."""
    importlib.import_module("afterglow.as_mxnet")
    folder = str(Path(file).parent)
    path = list(sys.path)
    del sys.modules[name]
    sys.path.remove(folder)
    try:
        importlib.import_module(name)
    finally:
        sys.path[:] = path
