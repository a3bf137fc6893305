# SPDX-License-Identifier: Apache-2.0
"""``mx.sym.random``: random numbers as symbols, of given parameters or of parameters in symbols."""

from __future__ import annotations

from typing import Any

from ..error import ArrayValueError, MissingNameError
from .symbol import Symbol, create, function_of

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
]


def _drawn(name: str, parameters: dict[str, Any], shape: Any, dtype: Any, kwargs: Any) -> Symbol:
    """Return samples: per element of symbols, or of one distribution."""
    symbols = [value for value in parameters.values() if isinstance(value, Symbol)]
    given = {"dtype": None if dtype == "None" else dtype, **kwargs}
    if shape is not None:
        given["shape"] = shape
    if not symbols:
        return create(f"_random_{name}", (), {**parameters, **given})
    if len(symbols) != len(parameters):
        raise ArrayValueError(
            f"Distribution parameters must all have the same type, but got {list(parameters)}: "
            "all symbols or all numbers"
        )
    return create(f"_sample_{name}", tuple(symbols), given)


def uniform(
    low: Any = 0, high: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Return numbers that are equally likely between two bounds."""
    return _drawn("uniform", {"low": low, "high": high}, shape, dtype, kwargs)


def normal(
    loc: Any = 0, scale: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Return normally distributed numbers."""
    if isinstance(loc, Symbol):
        return _drawn("normal", {"mu": loc, "sigma": scale}, shape, dtype, kwargs)
    return _drawn("normal", {"loc": loc, "scale": scale}, shape, dtype, kwargs)


def randn(*shape: int, **kwargs: Any) -> Symbol:
    """Return normally distributed numbers in a shape."""
    return normal(kwargs.pop("loc", 0), kwargs.pop("scale", 1), shape, **kwargs)


def exponential(scale: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return exponentially distributed numbers."""
    return _drawn("exponential", {"lam": 1.0 / scale}, shape, dtype, kwargs)


def poisson(lam: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return Poisson distributed numbers."""
    return _drawn("poisson", {"lam": lam}, shape, dtype, kwargs)


def gamma(
    alpha: Any = 1, beta: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Return gamma distributed numbers."""
    return _drawn("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, kwargs)


def negative_binomial(
    k: Any = 1, p: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Return numbers of failures before ``k`` successes."""
    return _drawn("negative_binomial", {"k": k, "p": p}, shape, dtype, kwargs)


def generalized_negative_binomial(
    mu: Any = 1, alpha: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Return negative binomial numbers of a mean and a dispersion."""
    given = {"mu": mu, "alpha": alpha}
    return _drawn("generalized_negative_binomial", given, shape, dtype, kwargs)


def randint(low: int, high: int, shape: Any = None, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return whole numbers that are equally likely between two bounds."""
    return _drawn("randint", {"low": low, "high": high}, shape, dtype, kwargs)


def multinomial(
    data: Symbol, shape: Any = None, get_prob: bool = False, dtype: Any = "int32", **kwargs: Any
) -> Symbol:
    """Return indices drawn with the probabilities in rows of ``data``."""
    given = {"get_prob": get_prob, "dtype": dtype, **kwargs}
    if shape is not None:
        given["shape"] = shape
    return create("_sample_multinomial", (data,), given)


def shuffle(data: Symbol, **kwargs: Any) -> Symbol:
    """Return the rows in random order."""
    return create("_shuffle", (data,), kwargs)


def __getattr__(name: str) -> Any:
    """Find the functions that draw in the shape of a symbol."""
    if not name.endswith("_like"):
        raise MissingNameError(__name__, name)
    return function_of(f"_random_{name}", __name__, name)
