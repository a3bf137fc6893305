# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N802, N803, RUF022, RUF100
# Written by `python -m tests.stubs`.

from .ndarray import NDArray

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
    data: NDArray,
    alpha: float | tuple[float, ...] | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def crop(
    data: NDArray,
    x: int | None = None,
    y: int | None = None,
    width: int | None = None,
    height: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def flip_left_right(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def flip_top_bottom(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def normalize(
    data: NDArray,
    mean: float | tuple[float, ...] = (0.0,),
    std: float | tuple[float, ...] = (1.0,),
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_brightness(
    data: NDArray,
    min_factor: float | None = None,
    max_factor: float | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_color_jitter(
    data: NDArray,
    brightness: float | None = None,
    contrast: float | None = None,
    saturation: float | None = None,
    hue: float | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_contrast(
    data: NDArray,
    min_factor: float | None = None,
    max_factor: float | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_flip_left_right(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_flip_top_bottom(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_hue(
    data: NDArray,
    min_factor: float | None = None,
    max_factor: float | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_lighting(
    data: NDArray,
    alpha_std: float = 0.05,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_saturation(
    data: NDArray,
    min_factor: float | None = None,
    max_factor: float | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def resize(
    data: NDArray,
    size: int | tuple[int, ...] = (),
    keep_ratio: bool = False,
    interp: int = 1,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def to_tensor(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
