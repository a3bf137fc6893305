# SPDX-License-Identifier: Apache-2.0
"""``mx.random``: the seed, and the draws of ``nd``."""

from __future__ import annotations

import numpy as onp

from . import _core
from .context import Context, context_numbers
from .error import ArrayValueError
from .ndarray.random import (
    exponential,
    gamma,
    generalized_negative_binomial,
    multinomial,
    negative_binomial,
    normal,
    poisson,
    randint,
    randn,
    shuffle,
    uniform,
)

__all__ = [
    "exponential",
    "gamma",
    "generalized_negative_binomial",
    "multinomial",
    "negative_binomial",
    "normal",
    "poisson",
    "randint",
    "randn",
    "seed",
    "shuffle",
    "uniform",
]


def seed(seed_state: int, ctx: Context | str = "all") -> None:
    """Restart the random numbers of one device, or of all devices, from a number.

    >>> mx.random.seed(1)
    """
    if not isinstance(seed_state, (int, onp.integer)):
        raise ArrayValueError("seed_state must be int")
    state = int(seed_state) & 0xFFFF_FFFF_FFFF_FFFF
    if isinstance(ctx, str) and ctx in Context.devstr2type:
        ctx = Context(ctx)
    if isinstance(ctx, str):
        if ctx != "all":
            raise ArrayValueError(f"ctx must be a Context or 'all', but got {ctx!r}")
        _core.seed(state)
    else:
        _core.seed_context(state, *context_numbers(ctx))
