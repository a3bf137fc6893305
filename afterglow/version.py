# SPDX-License-Identifier: Apache-2.0
"""Afterglow's own version, also where ``mxnet.__version__`` says 1.9.1, the version it speaks."""

from __future__ import annotations

import functools

__all__ = ["MXNET_VERSION", "version"]

#: The version of MXNet whose API is spoken.
MXNET_VERSION = "1.9.1"


@functools.cache
def version() -> str:
    """Return the version of the installed package."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("afterglow")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0+unknown"
