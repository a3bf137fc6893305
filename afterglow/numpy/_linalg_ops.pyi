# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N802, N803, RUF022, RUF100
# Written by `python -m tests.stubs`.

from typing import Any

from .multiarray import ndarray

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
) -> ndarray: ...
def det(
    a: Any,
) -> ndarray: ...
def inv(
    a: Any,
) -> ndarray: ...
def norm(
    x: Any,
    ord: Any = None,
    axis: Any = None,
    keepdims: Any = False,
) -> ndarray: ...
def matrix_power(
    a: Any,
    n: Any,
) -> ndarray: ...
def multi_dot(
    arrays: Any,
    *,
    out: Any = None,
) -> ndarray: ...
def solve(
    a: Any,
    b: Any,
) -> ndarray: ...
def tensorinv(
    a: Any,
    ind: Any = 2,
) -> ndarray: ...
def tensorsolve(
    a: Any,
    b: Any,
    axes: Any = None,
) -> ndarray: ...
