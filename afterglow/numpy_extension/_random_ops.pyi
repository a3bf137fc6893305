# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N802, N803, RUF022, RUF100
# Written by `python -m tests.stubs`.

from typing import Any

from ..numpy import ndarray

__all__ = [
    "bernoulli",
    "normal_n",
    "uniform_n",
]

def bernoulli(
    prob: Any = None,
    logit: Any = None,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
) -> ndarray: ...
def normal_n(
    loc: float = 0.0,
    scale: float = 1.0,
    batch_shape: Any = None,
    dtype: Any = None,
    ctx: Any = None,
) -> ndarray: ...
def uniform_n(
    low: float = 0.0,
    high: float = 1.0,
    batch_shape: Any = None,
    dtype: Any = None,
    ctx: Any = None,
) -> ndarray: ...
