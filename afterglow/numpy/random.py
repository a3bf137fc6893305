# SPDX-License-Identifier: Apache-2.0
"""``np.random``. Numbers depend on the seed and the order of the calls, on nothing else.

Parameters of a distribution are numbers or arrays, which broadcast; ``size`` is the shape of the
result, by default that of the parameters.
"""

from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._core import Array, operation
from .._dtype import FLOAT32, FLOAT64, INT64, dtype_number
from .._host import from_host
from .._host_calls import Host, on_host
from .._indexing import contiguous_strides
from .._random import Draws, Target
from .._shapes import Shape, as_shape
from .._shortcut import shortcut
from ..context import Context, context_numbers
from ..error import (
    ArgumentError,
    ArrayNotImplementedError,
    ArrayTypeError,
    ArrayValueError,
    as_ours,
)
from ..random import seed
from ._arguments import need

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = [
    "beta",
    "chisquare",
    "choice",
    "exponential",
    "f",
    "gamma",
    "gumbel",
    "laplace",
    "logistic",
    "lognormal",
    "multinomial",
    "multivariate_normal",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "power",
    "rand",
    "randint",
    "randn",
    "rayleigh",
    "seed",
    "shuffle",
    "uniform",
    "weibull",
]

_draws = Draws(False)
_multinomial = operation("sample_multinomial", False)
_counts = operation("multinomial_counts", False)
_shuffle = operation("shuffle", False)
_permutation = operation("permutation", False)
_exponential = operation("random_exponential", False)
_normal = operation("random_normal", False)
_copy = operation("copy", False)

# --- continuous distributions ---


@shortcut("random_uniform", "number", "number", "shape=shape", "real", shape=())
def uniform(
    low: Any = 0.0,
    high: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return numbers spread evenly from low up to, not including, high.

    >>> np.random.uniform(0, 1, size=(2, 3)).shape
    (2, 3)
    """
    target = _target((low, high), size, dtype, ctx, out)
    result: ndarray = _draws.uniform(low, high, target)
    return result


@shortcut("random_normal", "number", "positive", "shape=shape", "real", shape=())
def normal(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return normally distributed numbers: mean ``loc``, standard deviation ``scale``.

    >>> np.random.normal(np.zeros(3), 1, size=(2, 3)).shape
    (2, 3)
    """
    target = _target((loc, scale), size, dtype, ctx, out)
    if type(scale) is not float or not scale >= 0:
        scale = _draws.at_least(scale, 0, "random_normal", "scale")
    result: ndarray = _draws.normal(loc, scale, target)
    return result


def rand(*size: int, **kwargs: Any) -> ndarray:
    """Return numbers from 0 to 1 in a shape given as arguments.

    >>> np.random.rand(2, 3).shape
    (2, 3)
    """
    return uniform(0.0, 1.0, size, **kwargs)


def randn(*size: int, **kwargs: Any) -> ndarray:
    """Return normally distributed numbers in a shape given as arguments.

    >>> np.random.randn(2, 3).shape
    (2, 3)
    """
    return normal(0.0, 1.0, size, **kwargs)


def lognormal(
    mean: Any = 0.0,
    sigma: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return numbers whose logarithms are normally distributed.

    >>> bool(np.random.lognormal(0, 1, 5).min() > 0)
    True
    """
    target = _target((mean, sigma), size, dtype, ctx, out)
    sigma = _draws.at_least(sigma, 0, "random_lognormal", "sigma")
    result: ndarray = _draws.lognormal(mean, sigma, target)
    return result


def exponential(
    scale: Any = 1.0,
    size: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return exponentially distributed numbers of mean ``scale``.

    >>> np.random.exponential(2.0, size=3).shape
    (3,)
    """
    target = _target((scale,), size, None, ctx, out)
    scale = _draws.at_least(scale, 0, "random_exponential", "scale")
    result: ndarray = _draws.exponential(scale, target)
    return result


def gamma(
    shape: Any,
    scale: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return gamma distributed numbers of mean ``shape * scale``.

    >>> np.random.gamma(np.array([1, 2]), 3, size=(4, 2)).shape
    (4, 2)
    """
    target = _target((shape, scale), size, dtype, ctx, out)
    shape = _draws.at_least(shape, 0, "random_gamma", "shape", strict=True)
    scale = _draws.at_least(scale, 0, "random_gamma", "scale")
    result: ndarray = _draws.gamma(shape, scale, target)
    return result


def beta(
    a: Any,
    b: Any,
    size: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
) -> ndarray:
    """Return beta distributed numbers of mean ``a / (a + b)``.

    >>> bool(np.random.beta(2, 3, size=5).max() < 1)
    True
    """
    target = _target((a, b), size, dtype, ctx, None)
    a = _draws.at_least(a, 0, "random_beta", "a", strict=True)
    b = _draws.at_least(b, 0, "random_beta", "b", strict=True)
    result: ndarray = _draws.beta(a, b, target)
    return result


def chisquare(
    df: Any,
    size: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
) -> ndarray:
    """Return sums of ``df`` squares of standard normal numbers.

    >>> np.random.chisquare(3, size=(2, 2)).shape
    (2, 2)
    """
    target = _target((df,), size, dtype, ctx, None)
    df = _draws.at_least(df, 0, "random_chisquare", "df", strict=True)
    result: ndarray = _draws.gamma(df / 2, 2, target)
    return result


def f(
    dfnum: Any,
    dfden: Any,
    size: Any = None,
    ctx: Context | None = None,
) -> ndarray:
    """Return ratios of mean squares of ``dfnum`` and of ``dfden`` standard normal numbers.

    >>> np.random.f(3, 5, size=(2, 2)).shape
    (2, 2)
    """
    target = _target((dfnum, dfden), size, None, ctx, None)
    dfnum = _draws.at_least(dfnum, 0, "random_f", "dfnum", strict=True)
    dfden = _draws.at_least(dfden, 0, "random_f", "dfden", strict=True)
    result: ndarray = _draws.f(dfnum, dfden, target)
    return result


def logistic(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return numbers of the logistic distribution.

    >>> np.random.logistic(0, 1, size=3).shape
    (3,)
    """
    target = _target((loc, scale), size, None, ctx, out)
    scale = _draws.at_least(scale, 0, "random_logistic", "scale")
    result: ndarray = _draws.logistic(loc, scale, target)
    return result


def gumbel(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return numbers of the Gumbel distribution.

    >>> np.random.gumbel(0, 1, size=3).shape
    (3,)
    """
    target = _target((loc, scale), size, None, ctx, out)
    scale = _draws.at_least(scale, 0, "random_gumbel", "scale")
    result: ndarray = _draws.gumbel(loc, scale, target)
    return result


def laplace(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return numbers of the Laplace distribution, also called double exponential.

    >>> np.random.laplace(0, 1, size=3).shape
    (3,)
    """
    target = _target((loc, scale), size, dtype, ctx, out)
    scale = _draws.at_least(scale, 0, "random_laplace", "scale")
    result: ndarray = _draws.laplace(loc, scale, target)
    return result


def rayleigh(
    scale: Any = 1.0,
    size: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return numbers of the Rayleigh distribution.

    >>> bool(np.random.rayleigh(1, size=5).min() >= 0)
    True
    """
    target = _target((scale,), size, None, ctx, out)
    scale = _draws.at_least(scale, 0, "random_rayleigh", "scale")
    result: ndarray = _draws.rayleigh(scale, target)
    return result


def weibull(
    a: Any,
    size: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return numbers of the Weibull distribution of scale 1.

    >>> bool(np.random.weibull(2, size=5).min() >= 0)
    True
    """
    target = _target((a,), size, None, ctx, out)
    a = _draws.at_least(a, 0, "random_weibull", "a", strict=True)
    result: ndarray = _draws.weibull(a, target)
    return result


def pareto(
    a: Any,
    size: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return numbers of the Pareto distribution that starts at 0 (Lomax).

    >>> bool(np.random.pareto(3, size=5).min() >= 0)
    True
    """
    target = _target((a,), size, None, ctx, out)
    a = _draws.at_least(a, 0, "random_pareto", "a", strict=True)
    result: ndarray = _draws.pareto(a, target)
    return result


def power(
    a: Any,
    size: Any = None,
) -> ndarray:
    """Return numbers from 0 to 1 of density ``a * x**(a - 1)``.

    >>> bool(np.random.power(3, size=5).max() <= 1)
    True
    """
    target = _target((a,), size, None, None, None)
    a = _draws.at_least(a, 0, "random_power", "a", strict=True)
    result: ndarray = _draws.power(a, target)
    return result


def multivariate_normal(
    mean: ndarray,
    cov: ndarray,
    size: Any = None,
    check_valid: Any = None,
    tol: Any = None,
) -> ndarray:
    """Return vectors with these means and covariances; leading axes are batches and broadcast.

    >>> np.random.multivariate_normal(np.zeros(2), np.eye(2), size=(3,)).shape
    (3, 2)
    """
    if check_valid is not None or tol is not None:
        raise ArrayNotImplementedError("[multivariate_normal] check_valid and tol do not exist")
    mean, cov = _array(mean, "mean"), _array(cov, "cov")
    if mean.ndim < 1 or cov.ndim < 2 or not mean.shape[-1] == cov.shape[-1] == cov.shape[-2]:
        raise ArrayValueError(
            "[multivariate_normal] mean and cov must have same length; they have shapes "
            f"{mean.shape} and {cov.shape}"
        )
    batch = _broadcast("multivariate_normal", mean.shape[:-1], cov.shape[:-2])
    shape = _plain_shape(size) + batch + mean.shape[-1:]
    number = FLOAT64 if FLOAT64 in (mean._dtype_number, cov._dtype_number) else FLOAT32
    standard = _normal(0.0, 1.0, shape, FLOAT64, ctx=mean._context_numbers)
    result: ndarray = on_host(
        "multivariate_normal",
        _correlated,
        mean,
        cov,
        standard,
        shape=shape,
        dtype=number,
        legacy=False,
    )
    return result


def _correlated(mean: Host, cov: Host, standard: Host) -> Host:
    """Give standard normal vectors their means and covariances."""
    values, vectors = onp.linalg.eigh(cov.astype("float64"))
    largest = onp.abs(values).max(initial=0.0)
    if (values < -1e-6 * largest).any():
        raise ArrayValueError("[multivariate_normal] cov must be positive semidefinite")
    factor = vectors * onp.sqrt(onp.maximum(values, 0))[..., None, :]
    turned: Host = (factor @ standard[..., None])[..., 0] + mean
    return turned


# --- discrete distributions ---


def poisson(
    lam: Any = 1.0,
    size: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return Poisson distributed whole numbers of mean ``lam``.

    >>> np.random.poisson(0, size=3)
    array([0., 0., 0.])
    """
    target = _target((lam,), size, None, ctx, out)
    lam = _draws.at_least(lam, 0, "random_poisson", "lam")
    result: ndarray = _draws.poisson(lam, target)
    return result


@shortcut("random_randint", "integer", "integer!", "shape=shape", "dtype", shape=(), dtype=INT64)
def randint(
    low: int,
    high: int | None = None,
    size: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return integers from low up to, not including, high; with one number, from 0 up to it.

    >>> np.random.randint(5, 6, size=(3,))
    array([5, 5, 5], dtype=int64)
    """
    if high is None:
        low, high = 0, low
    result: ndarray = _draws.randint(
        _integer("randint", low),
        _integer("randint", high),
        _plain_shape(size),
        dtype_number(dtype, need(out, "out")._dtype_number if out is not None else INT64),
        ctx=context_numbers(ctx),
        out=out,
    )
    return result


def multinomial(n: int, pvals: Any, size: Any = None) -> ndarray:
    """Return how often each category comes up in ``n`` trials; the last one takes the rest.

    >>> np.random.multinomial(10, [0.0, 1.0], size=2)
    array([[ 0, 10],
           [ 0, 10]], dtype=int64)
    """
    if isinstance(pvals, onp.ndarray):
        raise ArrayValueError("[multinomial] numpy ndarray is not supported!")
    if not isinstance(pvals, Array):
        with as_ours("multinomial"):
            host = onp.asarray(pvals, dtype="float64")
        if host.ndim != 1:
            raise ArrayValueError("[multinomial] object too deep for desired array")
        if (host < 0).any() or host.sum() > 1 + 1e-5:
            raise ArrayValueError(f"[multinomial] {pvals} are no probabilities with a sum up to 1")
        pvals = from_host(host, context_numbers(None), False)
    result: ndarray = _counts(
        _copy(pvals, dtype=FLOAT64), n=_integer("multinomial", n), shape=_plain_shape(size)
    )
    return result


# --- order ---


def shuffle(x: ndarray) -> None:
    """Put the rows of an array, along the first axis, into random order, in place.

    >>> x = np.arange(10)
    >>> np.random.shuffle(x)
    >>> x.sum()
    array(45.)
    """
    _shuffle(_array(x, "x"), out=x)


def permutation(x: Any) -> ndarray:
    """Return a copy in random order; for a number, the integers below it in random order.

    >>> np.random.permutation(10).sum()
    array(45, dtype=int64)
    """
    number = x if isinstance(x, Array) else _integer("permutation", x)
    return _permutation(number, ctx=context_numbers(None))  # type: ignore[no-any-return]


def choice(
    a: Any,
    size: Any = None,
    replace: bool = True,
    p: ndarray | None = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return elements of an array, or integers below a number, with probabilities ``p``.

    >>> np.random.choice(5, 3).shape
    (3,)
    >>> np.random.choice(np.array([1.0, 2.0, 3.0]), 3, replace=False).sum()
    array(6.)
    """
    pool = need(a) if isinstance(a, (Array, onp.ndarray)) else None
    count = _integer("choice", a) if pool is None else len(pool)
    context = context_numbers(ctx) if pool is None else pool._context_numbers
    shape = _plain_shape(size)
    places = _places(count, shape, bool(replace), p, context)
    if pool is not None:
        places = on_host(
            "choice",
            operator.getitem,
            pool,
            places,
            shape=shape + pool.shape[1:],
            dtype=pool._dtype_number,
            legacy=False,
        )
    result: ndarray = places if out is None else _copy(places, out=out)
    return result


def _places(count: int, shape: Shape, replace: bool, p: Any, context: tuple[int, int]) -> Any:
    if count < 1:
        raise ArrayValueError(f"[choice] there are {count} elements to choose from")
    if p is not None and _array(p, "p").shape != (count,):
        raise ArrayValueError(f"[choice] {count} elements need as many p, but p has {p.shape}")
    if replace:
        if p is None:
            return _draws.randint(0, count, shape, INT64, ctx=context)
        return _multinomial(p, shape=shape, dtype=INT64)
    wanted = prod(shape)
    if wanted > count:
        raise ArrayValueError(
            f"[choice] cannot take {wanted} of {count} elements without replacement"
        )
    if p is None:
        order = _permutation(count, ctx=context)
        return _copy(order._view(0, shape, contiguous_strides(shape)))
    # Who waits shortest for a first event comes first: the law of drawing one after another.
    waits = _exponential(1.0, (count,), FLOAT64, ctx=context)

    def first(waits: Host, p: Host) -> Host:
        with onp.errstate(divide="ignore"):
            order: Host = onp.argsort(waits / p)[:wanted].reshape(shape)
        return order

    return on_host("choice", first, waits, p, shape=shape, dtype=INT64, legacy=False)


# --- arguments ---


def _integer(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ArrayTypeError(f"[{name}] needs an integer, not {value!r}") from None


def _array(value: Any, name: str) -> Any:
    if not isinstance(value, Array):
        raise ArgumentError(f"Argument {name} must have NDArray type, but got {value}")
    return value


def _plain_shape(size: Any) -> Shape:
    return () if size is None else as_shape(size)


def _broadcast(name: str, *shapes: Shape) -> Shape:
    try:
        return onp.broadcast_shapes(*shapes)
    except ValueError:
        raise ArrayValueError(f"[{name}] shapes {shapes} cannot be broadcast together") from None


def _fits(parameters: Shape, size: Shape) -> bool:
    """Tell whether parameters of a shape can be stretched to the shape of the result."""
    return len(parameters) <= len(size) and all(
        extent in (1, wanted)
        for extent, wanted in zip(reversed(parameters), reversed(size), strict=False)
    )


def _target(
    parameters: tuple[Any, ...],
    size: Any,
    dtype: Any,
    ctx: Context | None,
    out: ndarray | None,
    batch: Any = None,
) -> Target:
    """Return what is to be drawn; with ``batch``, that many times the shape of the parameters."""
    arrays = []
    for parameter in parameters:
        if type(parameter) is float:
            continue
        if isinstance(parameter, Array):
            arrays.append(parameter)
        elif not isinstance(parameter, (int, float, onp.generic)):
            raise ArrayTypeError(
                f"[random] a parameter must be a number or an array, not {type(parameter)}"
            )
    shape = () if size is None else as_shape(size)
    if arrays:
        together = _broadcast("random", *(parameter.shape for parameter in arrays))
        shape = together if size is None else shape
        if not _fits(together, shape):
            raise ArrayValueError(
                f"[random] parameters of shape {together} do not fit size {shape}"
            )
    return Target(
        shape if batch is None else _plain_shape(batch) + shape,
        dtype_number(dtype, need(out, "out")._dtype_number if out is not None else FLOAT32),
        arrays[0]._context_numbers if arrays else context_numbers(ctx),
        out,
    )
