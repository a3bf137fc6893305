# SPDX-License-Identifier: Apache-2.0
"""Ops of the core's table as functions of ``np``; the stub beside this says which."""

from .._arrays.op_functions import functions
from . import products, sorting
from ._rare_forms import forms

_functions = functions("np", {**forms(), **products.RARE, **sorting.RARE})
globals().update(_functions)
__all__ = sorted(_functions)
