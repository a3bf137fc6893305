# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N802, N803, RUF022, RUF100
# Written by `python -m tests.stubs`.

from typing import Any

from .ndarray import NDArray

__all__ = [
    "AdaptiveAvgPooling2D",
    "BatchNormWithReLU",
    "BilinearResize2D",
    "CTCLoss",
    "DeformableConvolution",
    "ModulatedDeformableConvolution",
    "MultiBoxDetection",
    "MultiBoxPrior",
    "MultiBoxTarget",
    "MultiProposal",
    "Proposal",
    "ROIAlign",
    "SparseEmbedding",
    "SyncBatchNorm",
    "arange_like",
    "bipartite_matching",
    "box_decode",
    "box_encode",
    "box_iou",
    "box_nms",
    "box_non_maximum_suppression",
    "ctc_loss",
    "div_sqrt_dim",
    "gradientmultiplier",
    "index_array",
    "index_copy",
    "interleaved_matmul_encdec_qk",
    "interleaved_matmul_encdec_valatt",
    "interleaved_matmul_selfatt_qk",
    "interleaved_matmul_selfatt_valatt",
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
def CTCLoss(
    data: NDArray,
    label: NDArray,
    data_lengths: NDArray | None = None,
    label_lengths: NDArray | None = None,
    use_data_lengths: bool = False,
    use_label_lengths: bool = False,
    blank_label: str = "first",
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
def MultiBoxDetection(
    cls_prob: NDArray,
    loc_pred: NDArray,
    anchor: NDArray,
    clip: bool = True,
    threshold: float = 0.01,
    background_id: int = 0,
    nms_threshold: float = 0.5,
    force_suppress: bool = False,
    variances: float | tuple[float, ...] = (0.1, 0.1, 0.2, 0.2),
    nms_topk: int = -1,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def MultiBoxPrior(
    data: NDArray,
    sizes: float | tuple[float, ...] = (1.0,),
    ratios: float | tuple[float, ...] = (1.0,),
    clip: bool = False,
    steps: float | tuple[float, ...] = (-1.0, -1.0),
    offsets: float | tuple[float, ...] = (0.5, 0.5),
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def MultiBoxTarget(
    anchor: NDArray,
    label: NDArray,
    cls_pred: NDArray,
    overlap_threshold: float = 0.5,
    ignore_label: float = -1.0,
    negative_mining_ratio: float = -1.0,
    negative_mining_thresh: float = 0.5,
    minimum_negative_samples: int = 0,
    variances: float | tuple[float, ...] = (0.1, 0.1, 0.2, 0.2),
    out: NDArray | None = None,
    name: str | None = None,
) -> Any: ...
def MultiProposal(
    cls_prob: NDArray,
    bbox_pred: NDArray,
    im_info: NDArray,
    rpn_pre_nms_top_n: int = 6000,
    rpn_post_nms_top_n: int = 300,
    threshold: float = 0.7,
    rpn_min_size: int = 16,
    scales: float | tuple[float, ...] = (4.0, 8.0, 16.0, 32.0),
    ratios: float | tuple[float, ...] = (0.5, 1.0, 2.0),
    feature_stride: int = 16,
    output_score: bool = False,
    iou_loss: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> Any: ...
def Proposal(
    cls_prob: NDArray,
    bbox_pred: NDArray,
    im_info: NDArray,
    rpn_pre_nms_top_n: int = 6000,
    rpn_post_nms_top_n: int = 300,
    threshold: float = 0.7,
    rpn_min_size: int = 16,
    scales: float | tuple[float, ...] = (4.0, 8.0, 16.0, 32.0),
    ratios: float | tuple[float, ...] = (0.5, 1.0, 2.0),
    feature_stride: int = 16,
    output_score: bool = False,
    iou_loss: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> Any: ...
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
def SparseEmbedding(
    data: NDArray,
    weight: NDArray,
    input_dim: int | None = None,
    output_dim: int | None = None,
    dtype: Any = "float32",
    deterministic: bool = False,
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
def bipartite_matching(
    data: NDArray,
    is_ascend: bool = False,
    threshold: float | None = None,
    topk: int = -1,
    out: NDArray | None = None,
    name: str | None = None,
) -> Any: ...
def box_decode(
    data: NDArray,
    anchors: NDArray,
    std0: float = 1.0,
    std1: float = 1.0,
    std2: float = 1.0,
    std3: float = 1.0,
    clip: float = -1.0,
    format: str = "center",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def box_encode(
    samples: NDArray,
    matches: NDArray,
    anchors: NDArray,
    refs: NDArray,
    means: NDArray,
    stds: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> Any: ...
def box_iou(
    lhs: NDArray,
    rhs: NDArray,
    format: str = "corner",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def box_nms(
    data: NDArray,
    overlap_thresh: float = 0.5,
    valid_thresh: float = 0.0,
    topk: int = -1,
    coord_start: int = 2,
    score_index: int = 1,
    id_index: int = -1,
    background_id: int = -1,
    force_suppress: bool = False,
    in_format: str = "corner",
    out_format: str = "corner",
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
def interleaved_matmul_encdec_qk(
    queries: NDArray,
    keys_values: NDArray,
    heads: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def interleaved_matmul_encdec_valatt(
    keys_values: NDArray,
    attention: NDArray,
    heads: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def interleaved_matmul_selfatt_qk(
    queries_keys_values: NDArray,
    heads: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def interleaved_matmul_selfatt_valatt(
    queries_keys_values: NDArray,
    attention: NDArray,
    heads: int | None = None,
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

ctc_loss = CTCLoss
box_non_maximum_suppression = box_nms
