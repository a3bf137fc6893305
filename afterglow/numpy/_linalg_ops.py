# SPDX-License-Identifier: Apache-2.0
"""Ops of the core's table as functions of ``np.linalg``; the stub beside this says which."""

from .._arrays.op_functions import functions
from ._norms import RARE

_functions = functions("np.linalg", RARE)
globals().update(_functions)
__all__ = sorted(_functions)
