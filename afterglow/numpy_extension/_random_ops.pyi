# SPDX-License-Identifier: Apache-2.0
# Written by `python -m tests.stubs`.

from typing import Any

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
) -> Any: ...
def normal_n(
    loc: Any = 0.0,
    scale: Any = 1.0,
    batch_shape: Any = None,
    dtype: Any = None,
    ctx: Any = None,
) -> Any: ...
def uniform_n(
    low: Any = 0.0,
    high: Any = 1.0,
    batch_shape: Any = None,
    dtype: Any = None,
    ctx: Any = None,
) -> Any: ...
