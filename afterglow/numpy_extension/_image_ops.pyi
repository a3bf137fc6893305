# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N802, N803, RUF022, RUF100
# Written by `python -m tests.stubs`.

from ..numpy import ndarray

__all__ = [
    "adjust_lighting",
    "crop",
    "flip_left_right",
    "flip_top_bottom",
    "normalize",
    "random_brightness",
    "random_color_jitter",
    "random_contrast",
    "random_flip_left_right",
    "random_flip_top_bottom",
    "random_hue",
    "random_lighting",
    "random_saturation",
    "resize",
    "to_tensor",
]

def adjust_lighting(
    data: ndarray,
    alpha: float | tuple[float, ...] | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def crop(
    data: ndarray,
    x: int | None = None,
    y: int | None = None,
    width: int | None = None,
    height: int | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def flip_left_right(
    data: ndarray,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def flip_top_bottom(
    data: ndarray,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def normalize(
    data: ndarray,
    mean: float | tuple[float, ...] = (0.0,),
    std: float | tuple[float, ...] = (1.0,),
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def random_brightness(
    data: ndarray,
    min_factor: float | None = None,
    max_factor: float | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def random_color_jitter(
    data: ndarray,
    brightness: float | None = None,
    contrast: float | None = None,
    saturation: float | None = None,
    hue: float | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def random_contrast(
    data: ndarray,
    min_factor: float | None = None,
    max_factor: float | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def random_flip_left_right(
    data: ndarray,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def random_flip_top_bottom(
    data: ndarray,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def random_hue(
    data: ndarray,
    min_factor: float | None = None,
    max_factor: float | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def random_lighting(
    data: ndarray,
    alpha_std: float = 0.05,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def random_saturation(
    data: ndarray,
    min_factor: float | None = None,
    max_factor: float | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def resize(
    data: ndarray,
    size: int | tuple[int, ...] = (),
    keep_ratio: bool = False,
    interp: int = 1,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def to_tensor(
    data: ndarray,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
