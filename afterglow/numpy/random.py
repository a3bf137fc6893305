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

from .. import random as _streams
from .._arrays.dtypes import FLOAT32, FLOAT64, INT64
from .._arrays.keys import contiguous_strides
from .._arrays.shapes import Shape, as_shape
from .._arrays.worlds import NUMPY
from .._core import Array
from .._interoperation.host import from_host
from .._interoperation.host_calls import Host, Spec, declare_host
from ..context import Context, context_numbers
from ..error import (
    ArgumentError,
    ArrayNotImplementedError,
    ArrayTypeError,
    ArrayValueError,
    as_ours,
)
from . import _random_ops
from ._arguments import need
from ._random_ops import *  # noqa: F403
from ._random_ops import normal, uniform

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = [
    "choice",
    "multinomial",
    "multivariate_normal",
    "rand",
    "randn",
    "seed",
    "shuffle",
    *_random_ops.__all__,
]


def seed(seed: int, ctx: Context | str = "all") -> None:
    """Restart the random numbers of one device, or of all devices, from a number.

    >>> np.random.seed(1)
    """
    _streams.seed(seed, ctx)


# --- continuous distributions ---


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
    shapes = mean.shape[:-1], cov.shape[:-2]
    try:
        batch = onp.broadcast_shapes(*shapes)
    except ValueError:
        raise ArrayValueError(
            f"[multivariate_normal] shapes {shapes} cannot be broadcast together"
        ) from None
    shape = _plain_shape(size) + batch + mean.shape[-1:]
    standard = NUMPY.fill_normal(0.0, 1.0, shape, FLOAT64, ctx=mean._context_numbers)
    result: ndarray = _correlated(mean, cov, standard, legacy=False)
    return result


@declare_host(
    "multivariate_normal",
    infer=lambda mean, cov, standard: Spec(
        standard.shape, FLOAT64 if FLOAT64 in (mean.dtype, cov.dtype) else FLOAT32
    ),
)
def _correlated(mean: Host, cov: Host, standard: Host) -> Host:
    """Return standard normal vectors with their means and covariances."""
    values, vectors = onp.linalg.eigh(cov.astype("float64"))
    largest = onp.abs(values).max(initial=0.0)
    if (values < -1e-6 * largest).any():
        raise ArrayValueError("[multivariate_normal] cov must be positive semidefinite")
    factor = vectors * onp.sqrt(onp.maximum(values, 0))[..., None, :]
    turned: Host = (factor @ standard[..., None])[..., 0] + mean
    return turned


# --- discrete distributions ---


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
    trials, shape = _integer("multinomial", n), _plain_shape(size)
    if pvals.shape == (0,):
        return NUMPY.copy(0, shape=(*shape, 0), dtype=INT64, ctx=pvals._context_numbers)
    return NUMPY.fill_counts(NUMPY.copy(pvals, dtype=FLOAT64), n=trials, shape=shape)


# --- order ---


def shuffle(x: ndarray) -> None:
    """Put the rows of an array, along the first axis, into random order, in place.

    >>> x = np.arange(10)
    >>> np.random.shuffle(x)
    >>> x.sum()
    array(45.)
    """
    NUMPY.shuffle(_array(x, "x"), out=x)


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
        places = _picked(pool, places, legacy=False)
    result: ndarray = places if out is None else NUMPY.copy(places, out=out)
    return result


@declare_host("choice", infer=lambda a, places: Spec(places.shape + a.shape[1:], a.dtype))
def _picked(a: Host, places: Host) -> Host:
    """Return elements of an array."""
    return a[places]


@declare_host("choice_by_waiting", infer=lambda waits, p, shape: Spec(shape, INT64))
def _shortest(waits: Host, p: Host, *, shape: Shape) -> Host:
    """Return who waits shortest for a first event: the law of drawing one after another."""
    with onp.errstate(divide="ignore"):
        order: Host = onp.argsort(waits / p)[: prod(shape)].reshape(shape)
    return order


def _places(count: int, shape: Shape, replace: bool, p: Any, context: tuple[int, int]) -> Any:
    if count < 1:
        raise ArrayValueError(f"[choice] there are {count} elements to choose from")
    if p is not None and _array(p, "p").shape != (count,):
        raise ArrayValueError(f"[choice] {count} elements need as many p, but p has {p.shape}")
    if replace:
        if p is None:
            return NUMPY.fill_integers(0, count, shape, INT64, ctx=context)
        return NUMPY.fill_categories(p, shape=shape, dtype=INT64)
    wanted = prod(shape)
    if wanted > count:
        raise ArrayValueError(
            f"[choice] cannot take {wanted} of {count} elements without replacement"
        )
    if p is None:
        order = NUMPY.permutation(count, ctx=context)
        return NUMPY.copy(order._view(0, shape, contiguous_strides(shape)))
    waits = NUMPY.fill_exponential(1.0, (count,), FLOAT64, ctx=context)
    return _shortest(waits, p, shape=shape, legacy=False)


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
