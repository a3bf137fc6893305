# SPDX-License-Identifier: Apache-2.0
# Written by `python -m tests.stubs`.

from typing import Any

__all__ = [
    "cholesky",
    "det",
    "inv",
    "matrix_power",
    "multi_dot",
    "norm",
    "solve",
    "tensorinv",
    "tensorsolve",
]

def cholesky(
    a: Any,
) -> Any: ...
def det(
    a: Any,
) -> Any: ...
def inv(
    a: Any,
) -> Any: ...
def norm(
    x: Any,
    ord: Any = None,
    axis: Any = None,
    keepdims: Any = False,
) -> Any: ...
def matrix_power(
    a: Any,
    n: Any,
) -> Any: ...
def multi_dot(
    arrays: Any,
    *,
    out: Any = None,
) -> Any: ...
def solve(
    a: Any,
    b: Any,
) -> Any: ...
def tensorinv(
    a: Any,
    ind: Any = 2,
) -> Any: ...
def tensorsolve(
    a: Any,
    b: Any,
    axes: Any = None,
) -> Any: ...
