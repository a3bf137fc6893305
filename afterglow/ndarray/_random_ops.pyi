# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N802, N803, RUF022, RUF100
# Written by `python -m tests.stubs`.

from .ndarray import NDArray

__all__ = [
    "exponential_like",
    "gamma_like",
    "generalized_negative_binomial_like",
    "negative_binomial_like",
    "normal_like",
    "poisson_like",
    "uniform_like",
]

def exponential_like(
    data: NDArray,
    lam: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def gamma_like(
    data: NDArray,
    alpha: float = 1.0,
    beta: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def generalized_negative_binomial_like(
    data: NDArray,
    mu: float = 1.0,
    alpha: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def negative_binomial_like(
    data: NDArray,
    k: int = 1,
    p: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def normal_like(
    data: NDArray,
    loc: float = 0.0,
    scale: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def poisson_like(
    data: NDArray,
    lam: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def uniform_like(
    data: NDArray,
    low: float = 0.0,
    high: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
