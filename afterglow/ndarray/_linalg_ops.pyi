# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N802, N803, RUF022, RUF100
# Written by `python -m tests.stubs`.

from .ndarray import NDArray

__all__ = [
    "det",
    "extractdiag",
    "extracttrian",
    "gemm",
    "gemm2",
    "inverse",
    "makediag",
    "maketrian",
    "potrf",
    "potri",
    "sumlogdiag",
    "syrk",
    "trmm",
]

def det(
    A: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def extractdiag(
    A: NDArray,
    offset: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def extracttrian(
    A: NDArray,
    offset: int = 0,
    lower: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def gemm(
    A: NDArray,
    B: NDArray,
    C: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    axis: int = -2,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def gemm2(
    A: NDArray,
    B: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    axis: int = -2,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def inverse(
    A: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def makediag(
    A: NDArray,
    offset: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def maketrian(
    A: NDArray,
    offset: int = 0,
    lower: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def potrf(
    A: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
    *,
    lower: bool = True,
) -> NDArray: ...
def potri(
    A: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
    *,
    lower: bool = True,
) -> NDArray: ...
def sumlogdiag(
    A: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def syrk(
    A: NDArray,
    transpose: bool = False,
    alpha: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def trmm(
    A: NDArray,
    B: NDArray,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
