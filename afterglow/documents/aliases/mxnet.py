# SPDX-License-Identifier: Apache-2.0
"""What ``import mxnet`` finds in a process that does not know of Afterglow yet.

Processes that a program starts by :mod:`multiprocessing` begin with nothing but the path of their
parent, where the folder of this file is. ``afterglow install-shim`` puts a copy among the packages.
"""

import sys

del sys.modules[__name__]  # Afterglow does not take the place of another mxnet

import afterglow.as_mxnet  # noqa: E402, F401
