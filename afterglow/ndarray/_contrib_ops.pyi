# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N802, N803, RUF022, RUF100
# Written by `python -m tests.stubs`.

from typing import Any

from .ndarray import NDArray

__all__ = [
    "AdaptiveAvgPooling2D",
    "BatchNormWithReLU",
    "BilinearResize2D",
    "DeformableConvolution",
    "ModulatedDeformableConvolution",
    "ROIAlign",
    "SyncBatchNorm",
    "arange_like",
    "div_sqrt_dim",
    "gradientmultiplier",
    "index_array",
    "index_copy",
    "round_ste",
    "sign_ste",
]

def AdaptiveAvgPooling2D(
    data: NDArray,
    output_size: int | tuple[int, ...] = (),
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def BatchNormWithReLU(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    moving_mean: NDArray,
    moving_var: NDArray,
    eps: float = 0.001,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> Any: ...
def BilinearResize2D(
    data: NDArray,
    like: NDArray | None = None,
    height: int = 1,
    width: int = 1,
    scale_height: float | None = None,
    scale_width: float | None = None,
    mode: str = "size",
    align_corners: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def DeformableConvolution(
    data: NDArray,
    offset: NDArray,
    weight: NDArray,
    bias: NDArray | None = None,
    kernel: int | tuple[int, ...] | None = None,
    stride: int | tuple[int, ...] = (),
    dilate: int | tuple[int, ...] = (),
    pad: int | tuple[int, ...] = (),
    num_filter: int | None = None,
    num_group: int = 1,
    num_deformable_group: int = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    layout: str | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def ModulatedDeformableConvolution(
    data: NDArray,
    offset: NDArray,
    mask: NDArray,
    weight: NDArray,
    bias: NDArray | None = None,
    kernel: int | tuple[int, ...] | None = None,
    stride: int | tuple[int, ...] = (),
    dilate: int | tuple[int, ...] = (),
    pad: int | tuple[int, ...] = (),
    num_filter: int | None = None,
    num_group: int = 1,
    num_deformable_group: int = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    im2col_step: int = 64,
    layout: str | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def ROIAlign(
    data: NDArray,
    rois: NDArray,
    pooled_size: int | tuple[int, ...] | None = None,
    spatial_scale: float | None = None,
    sample_ratio: int = -1,
    position_sensitive: bool = False,
    aligned: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def SyncBatchNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    moving_mean: NDArray,
    moving_var: NDArray,
    eps: float = 0.001,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    ndev: int = 1,
    key: str = "",
    out: NDArray | None = None,
    name: str | None = None,
) -> Any: ...
def arange_like(
    data: NDArray,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: str | None = None,
    axis: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def div_sqrt_dim(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def gradientmultiplier(
    data: NDArray,
    scalar: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def index_array(
    data: NDArray,
    axes: int | tuple[int, ...] | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def index_copy(
    old_tensor: NDArray,
    index_vector: NDArray,
    new_tensor: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def round_ste(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sign_ste(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
