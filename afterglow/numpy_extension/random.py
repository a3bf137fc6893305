# SPDX-License-Identifier: Apache-2.0
"""``mx.npx.random``."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

from .._core import Array, operation
from ..context import Context
from ..error import ArrayValueError
from ..numpy.random import _draws, _target
from ..random import seed

if TYPE_CHECKING:
    from ..numpy import ndarray

__all__ = ["bernoulli", "normal_n", "seed", "uniform_n"]

_sigmoid = operation("sigmoid", False)


def bernoulli(
    prob: Any = None,
    logit: Any = None,
    size: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return ones with a probability, or its logit, and else zeros.

    >>> npx.random.bernoulli(1.0, size=(3,))
    array([1., 1., 1.])
    """
    if (prob is None) == (logit is None):
        raise ArrayValueError(
            "Either `prob` or `logit` must be specified, but not both. "
            f"Received prob={prob}, logit={logit}"
        )
    target = _target((logit if prob is None else prob,), size, dtype, ctx, out)
    if prob is None:
        prob = _sigmoid(logit) if isinstance(logit, Array) else 1 / (1 + exp(-logit))
    else:
        prob = _draws.at_least(prob, 0, "random_bernoulli", "prob", highest=1)
    result: ndarray = _draws.bernoulli(prob, target)
    return result


def uniform_n(
    low: Any = 0.0,
    high: Any = 1.0,
    batch_shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
) -> ndarray:
    """Return a batch of evenly spread numbers for each pair of parameters.

    >>> npx.random.uniform_n(np.zeros(2), 1, batch_shape=(3, 4)).shape
    (3, 4, 2)
    """
    target = _target((low, high), None, dtype, ctx, None, batch_shape)
    result: ndarray = _draws.uniform(low, high, target)
    return result


def normal_n(
    loc: Any = 0.0,
    scale: Any = 1.0,
    batch_shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
) -> ndarray:
    """Return a batch of normally distributed numbers for each pair of parameters.

    >>> npx.random.normal_n(np.zeros(2), 1, batch_shape=(3, 4)).shape
    (3, 4, 2)
    """
    target = _target((loc, scale), None, dtype, ctx, None, batch_shape)
    result: ndarray = _draws.normal(
        loc, _draws.at_least(scale, 0, "random_normal_n", "scale"), target
    )
    return result
