# SPDX-License-Identifier: Apache-2.0
"""Conditions that arrays must meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._arrays.dtypes import BOOL
from .._interoperation.host_calls import Host, Spec, declare_host
from .._mathematics.gradients import ZERO
from ..error import ArrayTypeError, ArrayValueError
from ..numpy._arguments import need

if TYPE_CHECKING:
    from ..numpy import ndarray

__all__ = ["constraint_check"]


def constraint_check(input: Any, msg: str = "Constraint violated!") -> ndarray:
    """Return True, if all elements are; else whoever reads it meets a ValueError with a message.

    Results that are multiplied by it fail as it does. Nothing waits.

    >>> from afterglow import np, npx
    >>> scale = np.array([1.0, 2.0])
    >>> scale * npx.constraint_check(scale > 0, "scale must be positive")
    array([1., 2.])
    """
    condition = need(input, "input")
    if condition._dtype_number != BOOL:
        raise ArrayTypeError(f"[constraint_check] needs truth values, not {condition.dtype}")
    result: ndarray = _check(condition, msg=msg, legacy=False)
    return result


@declare_host("constraint_check", infer=lambda input, msg: Spec((), BOOL), gradient=[ZERO])
def _check(input: Host, *, msg: str) -> bool:
    """Return True; False is an error."""
    if not input.all():
        raise ArrayValueError(f"[constraint_check] {msg}")
    return True
