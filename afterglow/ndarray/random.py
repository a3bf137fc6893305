# SPDX-License-Identifier: Apache-2.0
"""Random numbers. They depend on the seed and the order of the calls, on nothing else.

The parameters of a distribution are numbers, or arrays of one shape: then ``shape`` numbers are
drawn for each of their elements. MXNet has two ops for the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as onp

from .._arrays.dtypes import optional_number
from .._arrays.worlds import LEGACY
from .._core import Array
from ..context import Context, context_numbers
from ..error import ArgumentError, ArrayValueError
from . import _ops, _random_ops
from ._random_ops import *  # noqa: F403

if TYPE_CHECKING:
    from .ndarray import NDArray

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
    "shuffle",
    "uniform",
    *_random_ops.__all__,
]


def uniform(
    low: Any = 0,
    high: Any = 1,
    shape: Any = (),
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return numbers spread evenly from low up to, not including, high.

    >>> nd.random.uniform(0, 1, shape=(2, 3)).shape
    (2, 3)
    >>> nd.random.uniform(nd.array([0, 10]), nd.array([1, 11]), shape=(4,)).shape
    (2, 4)
    """
    return _drawn("uniform", (low, high), shape, dtype, ctx, out, kwargs)


def normal(
    loc: Any = 0,
    scale: Any = 1,
    shape: Any = (),
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return normally distributed numbers: mean ``loc``, standard deviation ``scale``.

    >>> nd.random.normal(0, 0.1, shape=(2, 3), dtype="float64").dtype
    <class 'numpy.float64'>
    """
    return _drawn("normal", (loc, scale), shape, dtype, ctx, out, kwargs)


def randn(
    *shape: int,
    loc: Any = 0,
    scale: Any = 1,
    dtype: Any = None,
    ctx: Context | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return normally distributed numbers in a shape given as arguments.

    >>> nd.random.randn(2, 3, loc=5).shape
    (2, 3)
    """
    return normal(loc, scale, shape, dtype, ctx, **kwargs)


def exponential(
    scale: Any = 1,
    shape: Any = (),
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return exponentially distributed numbers of mean ``scale``.

    >>> bool(nd.random.exponential(2, shape=(5,)).min().asscalar() > 0)
    True
    """
    return _drawn("scaled_exponential", (scale,), shape, dtype, ctx, out, kwargs)


def gamma(
    alpha: Any = 1,
    beta: Any = 1,
    shape: Any = (),
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return gamma distributed numbers of shape ``alpha`` and scale ``beta``.

    >>> nd.random.gamma(nd.array([1, 9]), nd.array([1, 2]), shape=(3,)).shape
    (2, 3)
    """
    return _drawn("gamma", (alpha, beta), shape, dtype, ctx, out, kwargs)


def poisson(
    lam: Any = 1,
    shape: Any = (),
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return Poisson distributed whole numbers of mean ``lam``.

    >>> nd.random.poisson(0, shape=(3,))
    <BLANKLINE>
    [0. 0. 0.]
    <NDArray 3 @cpu(0)>
    """
    return _drawn("poisson", (lam,), shape, dtype, ctx, out, kwargs)


def negative_binomial(
    k: Any = 1,
    p: Any = 1,
    shape: Any = (),
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return how often a trial of success ``p`` fails before it succeeds ``k`` times.

    >>> nd.random.negative_binomial(3, 1, shape=(2,))
    <BLANKLINE>
    [0. 0.]
    <NDArray 2 @cpu(0)>
    """
    return _drawn("negative_binomial", (k, p), shape, dtype, ctx, out, kwargs)


def generalized_negative_binomial(
    mu: Any = 1,
    alpha: Any = 1,
    shape: Any = (),
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return whole numbers of mean ``mu`` and variance ``mu + alpha * mu**2``.

    >>> nd.random.generalized_negative_binomial(10, 0.5, shape=(2, 3)).shape
    (2, 3)
    """
    return _drawn("generalized_negative_binomial", (mu, alpha), shape, dtype, ctx, out, kwargs)


def multinomial(
    data: NDArray,
    shape: Any = (),
    get_prob: bool = False,
    out: Any = None,
    dtype: Any = "int32",
    **kwargs: Any,
) -> Any:
    """Return numbers of categories, drawn by the probabilities along the last axis of ``data``.

    With ``get_prob`` also the logarithms of the probabilities of what was drawn, as they were
    given; their gradient is that of the policy in reinforcement learning.

    >>> nd.random.multinomial(nd.array([[0, 1], [1, 0]]), shape=(3,))
    <BLANKLINE>
    [[1 1 1]
     [0 0 0]]
    <NDArray 2x3 @cpu(0)>
    """
    return _ops.sample_multinomial(data, shape, get_prob, dtype, out, **kwargs)


def shuffle(data: NDArray, out: NDArray | None = None, **kwargs: Any) -> NDArray:
    """Return a copy with the rows, along the first axis, in random order.

    >>> nd.random.shuffle(nd.arange(10)).sum().asscalar()
    np.float32(45.0)
    """
    return _ops.shuffle(data, out, **kwargs)


def randint(
    low: Any,
    high: Any,
    shape: Any = (),
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return integers from low up to, not including, high; int32 or int64.

    >>> nd.random.randint(5, 6, shape=(3,))
    <BLANKLINE>
    [5 5 5]
    <NDArray 3 @cpu(0)>
    """
    return _ops.random_randint(low, high, shape, ctx, dtype, out, **kwargs)


def _drawn(
    name: str,
    parameters: tuple[Any, ...],
    shape: Any,
    dtype: Any,
    ctx: Context | None,
    out: NDArray | None,
    kwargs: dict[str, Any],
) -> NDArray:
    """Return what the op for numbers gives, or the one for arrays."""
    first = parameters[0]
    if not isinstance(first, (Array, int, float, onp.generic)):
        raise ArrayValueError(
            f"Distribution parameters must be either NDArray or numbers, but got {type(first)}."
        )
    kinds = Array if isinstance(first, Array) else (int, float, onp.generic)
    for other in parameters[1:]:
        if not isinstance(other, kinds):
            raise ArgumentError(
                "Distribution parameters must all have the same type, but got both "
                f"{type(first)} and {type(other)}."
            )
    given = {"shape": shape, "dtype": optional_number(dtype), "out": out, **kwargs}
    if isinstance(first, Array):
        return getattr(LEGACY, f"sample_{name}")(*parameters, **given)  # type: ignore[no-any-return]
    draw = getattr(LEGACY, f"random_{name}")
    return draw(*parameters, **given, ctx=context_numbers(ctx))  # type: ignore[no-any-return]
