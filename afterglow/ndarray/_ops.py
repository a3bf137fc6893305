# SPDX-License-Identifier: Apache-2.0
"""Ops of the core's table as functions of ``nd``; the stub beside this says which."""

from .._arrays.op_functions import functions
from ._rare_forms import forms

_functions = functions("nd", forms())
globals().update(_functions)
__all__ = sorted(_functions)
