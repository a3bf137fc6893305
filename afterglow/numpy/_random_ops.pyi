# SPDX-License-Identifier: Apache-2.0
# Written by `python -m tests.stubs`.

from typing import Any

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
) -> Any: ...
def chisquare(
    df: Any,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
) -> Any: ...
def exponential(
    scale: Any = 1.0,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> Any: ...
def f(
    dfnum: Any,
    dfden: Any,
    size: Any = None,
    ctx: Any = None,
) -> Any: ...
def gamma(
    shape: Any,
    scale: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> Any: ...
def gumbel(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> Any: ...
def laplace(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> Any: ...
def logistic(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> Any: ...
def lognormal(
    mean: Any = 0.0,
    sigma: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> Any: ...
def normal(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> Any: ...
def pareto(
    a: Any,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> Any: ...
def poisson(
    lam: Any = 1.0,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> Any: ...
def power(
    a: Any,
    size: Any = None,
) -> Any: ...
def randint(
    low: Any,
    high: Any = None,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> Any: ...
def rayleigh(
    scale: Any = 1.0,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> Any: ...
def uniform(
    low: Any = 0.0,
    high: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> Any: ...
def weibull(
    a: Any,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> Any: ...
