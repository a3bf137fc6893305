# SPDX-License-Identifier: Apache-2.0
"""``mx.libinfo``: where the compiled part is, and the version of MXNet that is spoken."""

from __future__ import annotations

import os
from typing import NoReturn

from . import _core
from ._package.namespace import tend
from .error import MXNetError
from .version import MXNET_VERSION

__all__ = ["find_include_path", "find_lib_path"]

__version__ = MXNET_VERSION


def find_lib_path(prefix: str = "libmxnet") -> list[str]:
    """Return the path of the compiled module. It has no functions of MXNet's C interface.

    >>> from afterglow import libinfo
    >>> "_core" in libinfo.find_lib_path()[0]
    True
    """
    return [os.path.abspath(str(_core.__file__))]


def find_include_path() -> NoReturn:
    """Raise: there is no C interface, so there are no headers."""
    raise MXNetError("Cannot find the MXNet include path: Afterglow has no C interface")


tend(__name__)
