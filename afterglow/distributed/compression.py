# SPDX-License-Identifier: Apache-2.0
"""Gradients of two bits an element; what is left out is made up for later.

MXNet's rule: of the gradient and what was left of those before, elements of at least the threshold
travel as the threshold, those of at most minus the threshold as that, and all others as 0. What is
left of each is added to the next gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as onp

__all__ = ["pack", "unpack"]

Host = onp.ndarray[Any, Any]


def pack(values: Host, threshold: float) -> Host:
    """Return the codes of what travels, four elements a byte, and leave the rest in ``values``."""
    above, below = values >= threshold, values <= -threshold
    values -= threshold * above
    values += threshold * below
    bits = onp.empty((values.size, 2), onp.bool_)
    bits[:, 0], bits[:, 1] = (above | below).reshape(-1), above.reshape(-1)
    return onp.packbits(bits)


def unpack(codes: Host, size: int, threshold: float) -> Host:
    """Return the values of codes: 0, the threshold or minus the threshold."""
    bits = onp.unpackbits(codes, count=2 * size).reshape(size, 2).astype(onp.int8)
    return (bits[:, 0] * (2 * bits[:, 1] - 1)) * onp.float32(threshold)
