# SPDX-License-Identifier: Apache-2.0
"""What ``import mxnet`` finds in a process that a program started by :mod:`multiprocessing`.

Such a process begins with nothing but the path of its parent, where this folder is.
"""

import sys

del sys.modules[__name__]  # Afterglow does not take the place of another mxnet

import afterglow.as_mxnet  # noqa: E402, F401
