# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N802, N803, RUF022, RUF100
# Written by `python -m tests.stubs`.

from typing import Any

from .multiarray import ndarray

__all__ = [
    "beta",
    "chisquare",
    "exponential",
    "f",
    "gamma",
    "gumbel",
    "laplace",
    "logistic",
    "lognormal",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "power",
    "randint",
    "rayleigh",
    "uniform",
    "weibull",
]

def beta(
    a: Any,
    b: Any,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
) -> ndarray: ...
def chisquare(
    df: Any,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
) -> ndarray: ...
def exponential(
    scale: float = 1.0,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def f(
    dfnum: Any,
    dfden: Any,
    size: Any = None,
    ctx: Any = None,
) -> ndarray: ...
def gamma(
    shape: Any,
    scale: float = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def gumbel(
    loc: float = 0.0,
    scale: float = 1.0,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def laplace(
    loc: float = 0.0,
    scale: float = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def logistic(
    loc: float = 0.0,
    scale: float = 1.0,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def lognormal(
    mean: float = 0.0,
    sigma: float = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def normal(
    loc: float = 0.0,
    scale: float = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def pareto(
    a: Any,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def poisson(
    lam: float = 1.0,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def power(
    a: Any,
    size: Any = None,
) -> ndarray: ...
def randint(
    low: Any,
    high: Any = None,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def rayleigh(
    scale: float = 1.0,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def uniform(
    low: float = 0.0,
    high: float = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def weibull(
    a: Any,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def permutation(
    x: Any,
) -> ndarray: ...
