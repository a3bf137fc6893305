# SPDX-License-Identifier: Apache-2.0
"""Random numbers. They depend on the seed and the order of the calls, on nothing else.

The parameters of a distribution are numbers, or arrays of one shape: then ``shape`` numbers are
drawn for each of their elements.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._core import Array, operation
from .._dtype import BOOL, FLOAT32, INT8, INT32, INT64, TYPES, dtype_number
from .._random import Draws, Target
from .._shapes import Shape, as_shape
from ..context import Context, context_numbers
from ..error import ArgumentError, ArrayTypeError, ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "exponential",
    "exponential_like",
    "gamma",
    "gamma_like",
    "generalized_negative_binomial",
    "generalized_negative_binomial_like",
    "multinomial",
    "negative_binomial",
    "negative_binomial_like",
    "normal",
    "normal_like",
    "poisson",
    "poisson_like",
    "randint",
    "randn",
    "shuffle",
    "uniform",
    "uniform_like",
]

_draws = Draws(True)
_arange = operation("arange", True)
_gather = operation("gather", True)
_log = operation("log", True)
_multinomial = operation("sample_multinomial", True)
_shuffle = operation("shuffle", True)


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
    (low, high), target = _request("uniform", (low, high), shape, dtype, ctx, out, kwargs)
    if not isinstance(low, Array) and low > high:
        raise ArrayValueError(f"[random_uniform] low is {low}, high is {high}; low must be less")
    result: NDArray = _draws.uniform(low, high, target)
    return result


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
    (loc, scale), target = _request("normal", (loc, scale), shape, dtype, ctx, out, kwargs)
    _positive("normal", "scale", scale)
    result: NDArray = _draws.normal(loc, scale, target)
    return result


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
    (scale,), target = _request("exponential", (scale,), shape, dtype, ctx, out, kwargs)
    _positive("exponential", "scale", scale)
    result: NDArray = _draws.exponential(scale, target)
    return result


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
    (alpha, beta), target = _request("gamma", (alpha, beta), shape, dtype, ctx, out, kwargs)
    _positive("gamma", "alpha", alpha)
    _positive("gamma", "beta", beta)
    result: NDArray = _draws.gamma(alpha, beta, target)
    return result


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
    (lam,), target = _request("poisson", (lam,), shape, dtype, ctx, out, kwargs)
    _not_negative("poisson", "lam", lam)
    result: NDArray = _draws.poisson(lam, target)
    return result


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
    name = "negative_binomial"
    (k, p), target = _request(name, (k, p), shape, dtype, ctx, out, kwargs)
    if not isinstance(k, Array):
        k = _integer(name, "k", k)
        _not_negative(name, "k", k)
        if not 0 < p <= 1:
            raise ArrayValueError(f"[random_{name}] p is {p}; it must be greater than 0, at most 1")
    result: NDArray = _draws.negative_binomial(k, p, target)
    return result


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
    name = "generalized_negative_binomial"
    (mu, alpha), target = _request(name, (mu, alpha), shape, dtype, ctx, out, kwargs)
    _not_negative(name, "mu", mu)
    _not_negative(name, "alpha", alpha)
    result: NDArray = _draws.generalized_negative_binomial(mu, alpha, target)
    return result


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
    _refuse_unknown("multinomial", kwargs)
    number = dtype_number(dtype)
    if number in (INT8, BOOL):
        raise ArrayTypeError(f"[sample_multinomial] cannot give {TYPES[number].__name__}")
    drawn = _multinomial(
        need(data), shape=as_shape(shape), dtype=number, out=None if get_prob else out
    )
    if not get_prob:
        return drawn
    both = [drawn, _log(_chosen(data, drawn))]
    if out is None:
        return both
    for target, source in zip(out, both, strict=True):
        target[:] = source
    return out


def _chosen(data: NDArray, drawn: NDArray) -> Any:
    """Return the probabilities, as they were given, of the categories that were drawn."""
    categories = data.shape[-1]
    rows = data.size // max(1, categories)
    line = _arange(rows, dtype=INT64, ctx=data._context_numbers)._shaped((rows, 1))
    index = drawn._shaped((rows, drawn.size // max(1, rows)))
    found = _gather([data._shaped((rows, categories)), line, index], mode="clip")
    return found._shaped(drawn.shape)


def shuffle(data: NDArray, out: NDArray | None = None, **kwargs: Any) -> NDArray:
    """Return a copy with the rows, along the first axis, in random order.

    >>> nd.random.shuffle(nd.arange(10)).sum().asscalar()
    np.float32(45.0)
    """
    _refuse_unknown("shuffle", kwargs)
    result: NDArray = _shuffle(need(data), out=out)
    return result


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
    _refuse_unknown("randint", kwargs)
    result: NDArray = _draws.randint(
        _integer("randint", "low", low),
        _integer("randint", "high", high),
        _scalar_shape(shape, out),
        dtype_number(dtype, need(out, "out")._dtype_number if out is not None else INT32),
        ctx=context_numbers(ctx),
        out=out,
    )
    return result


def uniform_like(
    data: NDArray,
    low: float = 0.0,
    high: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return numbers spread evenly from low up to, not including, high, shaped as ``data``.

    >>> nd.random.uniform_like(nd.zeros((2, 3))).shape
    (2, 3)
    """
    return uniform(low, high, **_like(data, out))


def normal_like(
    data: NDArray,
    loc: float = 0.0,
    scale: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return numbers normally distributed, shaped as ``data``.

    >>> nd.random.normal_like(nd.zeros((2, 3))).shape
    (2, 3)
    """
    return normal(loc, scale, **_like(data, out))


def exponential_like(
    data: NDArray,
    lam: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return numbers exponentially distributed with mean ``1 / lam``, shaped as ``data``.

    >>> nd.random.exponential_like(nd.zeros((2, 3))).shape
    (2, 3)
    """
    return exponential(_inverse(lam), **_like(data, out))


def gamma_like(
    data: NDArray,
    alpha: float = 1.0,
    beta: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return numbers gamma distributed, shaped as ``data``.

    >>> nd.random.gamma_like(nd.zeros((2, 3))).shape
    (2, 3)
    """
    return gamma(alpha, beta, **_like(data, out))


def poisson_like(
    data: NDArray,
    lam: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return numbers Poisson distributed, shaped as ``data``.

    >>> nd.random.poisson_like(nd.zeros((2, 3))).shape
    (2, 3)
    """
    return poisson(lam, **_like(data, out))


def negative_binomial_like(
    data: NDArray,
    k: float = 1,
    p: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return numbers of failures before ``k`` successes, shaped as ``data``.

    >>> nd.random.negative_binomial_like(nd.zeros((2, 3))).shape
    (2, 3)
    """
    return negative_binomial(k, p, **_like(data, out))


def generalized_negative_binomial_like(
    data: NDArray,
    mu: float = 1.0,
    alpha: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return numbers of mean ``mu`` and variance ``mu + alpha * mu**2``, shaped as ``data``.

    >>> nd.random.generalized_negative_binomial_like(nd.zeros((2, 3))).shape
    (2, 3)
    """
    return generalized_negative_binomial(mu, alpha, **_like(data, out))


def _like(data: NDArray, out: NDArray | None) -> dict[str, Any]:
    source = need(data)
    return {"shape": source.shape, "dtype": source.dtype, "ctx": source.context, "out": out}


def _inverse(lam: float) -> float:
    _positive("exponential", "lam", lam)
    return 1 / lam


def _request(
    name: str,
    parameters: tuple[Any, ...],
    shape: Any,
    dtype: Any,
    ctx: Context | None,
    out: NDArray | None,
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], Target]:
    """Return the parameters, in a shape that broadcasts, and what is to be drawn."""
    _refuse_unknown(name, kwargs)
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
    number = dtype_number(dtype, need(out, "out")._dtype_number if out is not None else FLOAT32)
    if not isinstance(first, Array):
        target = Target(_scalar_shape(shape, out), number, context_numbers(ctx), out)
        return parameters, target.check(f"random_{name}")
    for other in parameters[1:]:
        if first.shape != other.shape:
            raise ArrayValueError(
                f"[sample_{name}] the parameters must have the same shape, but have "
                f"{first.shape} and {other.shape}"
            )
    drawn = as_shape(shape)
    stretched = first.shape + (1,) * len(drawn)
    target = Target(first.shape + drawn, number, first._context_numbers, out)
    shaped = tuple(parameter._shaped(stretched) for parameter in parameters)
    return shaped, target.check(f"sample_{name}")


def _scalar_shape(shape: Any, out: NDArray | None) -> Shape:
    """Return the shape of draws with plain parameters; without one, that of out or (1,)."""
    if isinstance(shape, (tuple, list)) and not shape:
        return need(out, "out").shape if out is not None else (1,)
    return as_shape(shape)


def _refuse_unknown(name: str, kwargs: dict[str, Any]) -> None:
    unknown = set(kwargs) - {"name"}
    if unknown:
        raise ArrayTypeError(f"[{name}] got an unexpected argument {min(unknown)!r}")


def _integer(name: str, what: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ArrayTypeError(f"[random_{name}] {what} must be an integer, not {value!r}") from None


def _positive(name: str, what: str, value: Any) -> None:
    """Refuse a number that is not positive; elements of arrays are not looked at."""
    if not isinstance(value, Array) and not value > 0:
        raise ArrayValueError(f"[random_{name}] {what} is {value}; it must be positive")


def _not_negative(name: str, what: str, value: Any) -> None:
    if not isinstance(value, Array) and not value >= 0:
        raise ArrayValueError(f"[random_{name}] {what} is {value}; it must not be negative")
