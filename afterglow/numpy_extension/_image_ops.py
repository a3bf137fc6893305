# SPDX-License-Identifier: Apache-2.0
"""Ops of the core's table as functions of ``npx.image``; the stub beside this says which."""

from .._arrays.op_functions import functions

_functions = functions("npx.image")
globals().update(_functions)
__all__ = sorted(_functions)
