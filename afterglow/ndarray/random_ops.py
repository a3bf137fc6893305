# SPDX-License-Identifier: Apache-2.0
"""Random numbers under the names of MXNet's ops: ``nd.random_uniform``, ``nd.sample_gamma`` ...

``random_*`` take numbers, ``sample_*`` arrays of parameters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..context import Context
from ..error import ArrayValueError
from . import random
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "normal",
    "random_exponential",
    "random_gamma",
    "random_generalized_negative_binomial",
    "random_negative_binomial",
    "random_normal",
    "random_poisson",
    "random_randint",
    "random_uniform",
    "sample_exponential",
    "sample_gamma",
    "sample_generalized_negative_binomial",
    "sample_multinomial",
    "sample_negative_binomial",
    "sample_normal",
    "sample_poisson",
    "sample_uniform",
    "shuffle",
    "uniform",
]


def random_uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: Any = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what ``nd.random.uniform`` gives for numbers.

    >>> nd.random_uniform(shape=(2, 3)).shape
    (2, 3)
    """
    return random.uniform(low, high, shape, dtype, _context(ctx), out)


def random_normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: Any = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what ``nd.random.normal`` gives for numbers.

    >>> nd.random_normal(shape=(2, 3)).shape
    (2, 3)
    """
    return random.normal(loc, scale, shape, dtype, _context(ctx), out)


def random_exponential(
    lam: float = 1.0,
    shape: Any = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what ``nd.random.exponential`` gives for numbers of mean ``1 / lam``.

    >>> nd.random_exponential(shape=(2, 3)).shape
    (2, 3)
    """
    return random.exponential(_inverse(lam), shape, dtype, _context(ctx), out)


def random_gamma(
    alpha: float = 1.0,
    beta: float = 1.0,
    shape: Any = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what ``nd.random.gamma`` gives for numbers.

    >>> nd.random_gamma(shape=(2, 3)).shape
    (2, 3)
    """
    return random.gamma(alpha, beta, shape, dtype, _context(ctx), out)


def random_poisson(
    lam: float = 1.0,
    shape: Any = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what ``nd.random.poisson`` gives for numbers.

    >>> nd.random_poisson(shape=(2, 3)).shape
    (2, 3)
    """
    return random.poisson(lam, shape, dtype, _context(ctx), out)


def random_negative_binomial(
    k: float = 1,
    p: float = 1.0,
    shape: Any = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what ``nd.random.negative_binomial`` gives for numbers.

    >>> nd.random_negative_binomial(shape=(2, 3)).shape
    (2, 3)
    """
    return random.negative_binomial(k, p, shape, dtype, _context(ctx), out)


def random_generalized_negative_binomial(
    mu: float = 1.0,
    alpha: float = 1.0,
    shape: Any = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what ``nd.random.generalized_negative_binomial`` gives for numbers.

    >>> nd.random_generalized_negative_binomial(shape=(2, 3)).shape
    (2, 3)
    """
    return random.generalized_negative_binomial(mu, alpha, shape, dtype, _context(ctx), out)


uniform = random_uniform
normal = random_normal


def random_randint(
    low: int,
    high: int,
    shape: Any = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return integers from low up to, not including, high.

    >>> nd.random_randint(0, 10, shape=(2, 3)).shape
    (2, 3)
    """
    return random.randint(low, high, shape, dtype, _context(ctx), out)


def sample_uniform(
    low: NDArray,
    high: NDArray,
    shape: Any = (),
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what ``nd.random.uniform`` gives for arrays.

    >>> nd.sample_uniform(nd.array([1, 1]), nd.array([1, 1]), shape=(3,)).shape
    (2, 3)
    """
    return random.uniform(need(low, "low"), need(high, "high"), shape=shape, dtype=dtype, out=out)


def sample_normal(
    mu: NDArray,
    sigma: NDArray,
    shape: Any = (),
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what ``nd.random.normal`` gives for arrays.

    >>> nd.sample_normal(nd.array([1, 1]), nd.array([1, 1]), shape=(3,)).shape
    (2, 3)
    """
    return random.normal(need(mu, "mu"), need(sigma, "sigma"), shape=shape, dtype=dtype, out=out)


def sample_exponential(
    lam: NDArray,
    shape: Any = (),
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what ``nd.random.exponential`` gives for arrays of mean ``1 / lam``.

    >>> nd.sample_exponential(nd.array([1, 1]), shape=(3,)).shape
    (2, 3)
    """
    return random.exponential(1 / need(lam, "lam"), shape=shape, dtype=dtype, out=out)


def sample_gamma(
    alpha: NDArray,
    beta: NDArray,
    shape: Any = (),
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what ``nd.random.gamma`` gives for arrays.

    >>> nd.sample_gamma(nd.array([1, 1]), nd.array([1, 1]), shape=(3,)).shape
    (2, 3)
    """
    return random.gamma(need(alpha, "alpha"), need(beta, "beta"), shape=shape, dtype=dtype, out=out)


def sample_poisson(
    lam: NDArray,
    shape: Any = (),
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what ``nd.random.poisson`` gives for arrays.

    >>> nd.sample_poisson(nd.array([1, 1]), shape=(3,)).shape
    (2, 3)
    """
    return random.poisson(need(lam, "lam"), shape=shape, dtype=dtype, out=out)


def sample_negative_binomial(
    k: NDArray,
    p: NDArray,
    shape: Any = (),
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what ``nd.random.negative_binomial`` gives for arrays.

    >>> nd.sample_negative_binomial(nd.array([1, 1]), nd.array([1, 1]), shape=(3,)).shape
    (2, 3)
    """
    return random.negative_binomial(need(k, "k"), need(p, "p"), shape=shape, dtype=dtype, out=out)


def sample_generalized_negative_binomial(
    mu: NDArray,
    alpha: NDArray,
    shape: Any = (),
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what ``nd.random.generalized_negative_binomial`` gives for arrays.

    >>> one = nd.ones(2)
    >>> nd.sample_generalized_negative_binomial(one, one, shape=(3,)).shape
    (2, 3)
    """
    return random.generalized_negative_binomial(
        need(mu, "mu"), need(alpha, "alpha"), shape=shape, dtype=dtype, out=out
    )


def sample_multinomial(
    data: NDArray,
    shape: Any = (),
    get_prob: bool = False,
    dtype: Any = "int32",
    out: Any = None,
    name: str | None = None,
) -> Any:
    """Return numbers of categories, drawn by the probabilities along the last axis.

    >>> nd.sample_multinomial(nd.array([[0, 1], [1, 0]]))
    <BLANKLINE>
    [1 0]
    <NDArray 2 @cpu(0)>
    """
    return random.multinomial(data, shape, get_prob, out, dtype)


def shuffle(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return a copy with the rows, along the first axis, in random order.

    >>> nd.shuffle(nd.ones((2, 2))).shape
    (2, 2)
    """
    return random.shuffle(data, out)


def _inverse(lam: float) -> float:
    if not lam > 0:
        raise ArrayValueError(f"[random_exponential] lam is {lam}; it must be positive")
    return 1 / lam


def _context(ctx: Any) -> Context | None:
    """Return a context that may be given as text, such as "cpu(0)"."""
    if not isinstance(ctx, str):
        given: Context | None = ctx
        return given
    match = re.fullmatch(r"(\w+)\((\d+)\)", ctx)
    if match is None or match[1] not in Context.devstr2type:
        raise ArrayValueError(f'ctx must be a Context or text such as "cpu(0)", but got {ctx!r}')
    return Context(match[1], int(match[2]))
