# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N802, N803, RUF022, RUF100
# Written by `python -m tests.stubs`.

from typing import Any

from ..numpy import ndarray

__all__ = [
    "activation",
    "arange_like",
    "batch_dot",
    "batch_flatten",
    "batch_norm",
    "cast",
    "convolution",
    "deconvolution",
    "digamma",
    "dropout",
    "embedding",
    "erf",
    "erfinv",
    "fully_connected",
    "gamma",
    "gammaln",
    "gather_nd",
    "index_add",
    "index_update",
    "layer_norm",
    "leaky_relu",
    "log_softmax",
    "multibox_detection",
    "multibox_prior",
    "multibox_target",
    "one_hot",
    "pick",
    "pooling",
    "relu",
    "reshape",
    "reshape_like",
    "rnn",
    "roi_pooling",
    "sequence_mask",
    "sigmoid",
    "smooth_l1",
    "softmax",
    "topk",
]

def activation(
    data: ndarray,
    act_type: str | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def batch_norm(
    data: ndarray,
    gamma: ndarray,
    beta: ndarray,
    moving_mean: ndarray,
    moving_var: ndarray,
    eps: float = 0.001,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> Any: ...
def convolution(
    data: ndarray,
    weight: ndarray,
    bias: ndarray | None = None,
    kernel: int | tuple[int, ...] | None = None,
    stride: int | tuple[int, ...] = (),
    dilate: int | tuple[int, ...] = (),
    pad: int | tuple[int, ...] = (),
    num_filter: int | None = None,
    num_group: int = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    cudnn_tune: str | None = None,
    cudnn_off: bool = False,
    layout: str | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def deconvolution(
    data: ndarray,
    weight: ndarray,
    bias: ndarray | None = None,
    kernel: int | tuple[int, ...] | None = None,
    stride: int | tuple[int, ...] = (),
    dilate: int | tuple[int, ...] = (),
    pad: int | tuple[int, ...] = (),
    adj: int | tuple[int, ...] = (),
    target_shape: int | tuple[int, ...] = (),
    num_filter: int | None = None,
    num_group: int = 1,
    workspace: int = 512,
    no_bias: bool = True,
    cudnn_tune: str | None = None,
    cudnn_off: bool = False,
    layout: str | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def dropout(
    data: ndarray,
    p: float = 0.5,
    mode: str = "training",
    axes: int | tuple[int, ...] = (),
    cudnn_off: bool = False,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def embedding(
    data: ndarray,
    weight: ndarray,
    input_dim: int | None = None,
    output_dim: int | None = None,
    dtype: Any = "float32",
    sparse_grad: bool = False,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def batch_flatten(
    data: ndarray,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def fully_connected(
    data: ndarray,
    weight: ndarray,
    bias: ndarray | None = None,
    num_hidden: int | None = None,
    no_bias: bool = False,
    flatten: bool = True,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def layer_norm(
    data: ndarray,
    gamma: ndarray,
    beta: ndarray,
    axis: int = -1,
    eps: float = 1e-05,
    output_mean_var: bool = False,
    out: ndarray | None = None,
    name: str | None = None,
) -> Any: ...
def leaky_relu(
    data: ndarray,
    gamma: ndarray | None = None,
    act_type: str = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
    out: ndarray | None = None,
    name: str | None = None,
) -> Any: ...
def multibox_detection(
    cls_prob: ndarray,
    loc_pred: ndarray,
    anchor: ndarray,
    clip: bool = True,
    threshold: float = 0.01,
    background_id: int = 0,
    nms_threshold: float = 0.5,
    force_suppress: bool = False,
    variances: float | tuple[float, ...] = (0.1, 0.1, 0.2, 0.2),
    nms_topk: int = -1,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def multibox_prior(
    data: ndarray,
    sizes: float | tuple[float, ...] = (1.0,),
    ratios: float | tuple[float, ...] = (1.0,),
    clip: bool = False,
    steps: float | tuple[float, ...] = (-1.0, -1.0),
    offsets: float | tuple[float, ...] = (0.5, 0.5),
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def multibox_target(
    anchor: ndarray,
    label: ndarray,
    cls_pred: ndarray,
    overlap_threshold: float = 0.5,
    ignore_label: float = -1.0,
    negative_mining_ratio: float = -1.0,
    negative_mining_thresh: float = 0.5,
    minimum_negative_samples: int = 0,
    variances: float | tuple[float, ...] = (0.1, 0.1, 0.2, 0.2),
    out: ndarray | None = None,
    name: str | None = None,
) -> Any: ...
def pooling(
    data: ndarray,
    kernel: int | tuple[int, ...] = (),
    pool_type: str = "max",
    global_pool: bool = False,
    cudnn_off: bool = False,
    pooling_convention: str = "valid",
    stride: int | tuple[int, ...] = (),
    pad: int | tuple[int, ...] = (),
    p_value: int | None = None,
    count_include_pad: bool | None = None,
    layout: str | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def rnn(
    data: ndarray,
    parameters: ndarray,
    state: ndarray,
    state_cell: ndarray | None = None,
    sequence_length: ndarray | None = None,
    state_size: int | None = None,
    num_layers: int | None = None,
    bidirectional: bool = False,
    mode: str | None = None,
    p: float = 0.0,
    state_outputs: bool = False,
    projection_size: int | None = None,
    lstm_state_clip_min: float | None = None,
    lstm_state_clip_max: float | None = None,
    lstm_state_clip_nan: bool = False,
    use_sequence_length: bool = False,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def roi_pooling(
    data: ndarray,
    rois: ndarray,
    pooled_size: int | tuple[int, ...] | None = None,
    spatial_scale: float | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def sequence_mask(
    data: ndarray,
    sequence_length: ndarray | None = None,
    use_sequence_length: bool = False,
    value: float = 0.0,
    axis: int = 0,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def arange_like(
    data: ndarray,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: str | None = None,
    axis: int | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def batch_dot(
    lhs: ndarray,
    rhs: ndarray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: str | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def cast(
    data: ndarray,
    dtype: Any,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def digamma(
    data: ndarray,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def erf(
    data: ndarray,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def erfinv(
    data: ndarray,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def gamma(
    data: ndarray,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def gammaln(
    data: ndarray,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def gather_nd(
    data: ndarray,
    indices: ndarray,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def index_add(
    a: ndarray,
    ind: ndarray,
    val: ndarray,
) -> ndarray: ...
def index_update(
    a: ndarray,
    ind: ndarray,
    val: ndarray,
) -> ndarray: ...
def log_softmax(
    data: ndarray,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Any = None,
    use_length: bool = False,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def reshape(
    a: ndarray,
    newshape: int | tuple[int, ...],
    reverse: bool = False,
    order: str = "C",
) -> ndarray: ...
def one_hot(
    indices: ndarray,
    depth: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: Any = "float32",
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def pick(
    data: ndarray,
    index: ndarray,
    axis: int = -1,
    keepdims: bool = False,
    mode: str = "clip",
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def relu(
    data: ndarray,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def reshape_like(
    lhs: ndarray,
    rhs: ndarray,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def sigmoid(
    data: ndarray,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def smooth_l1(
    data: ndarray,
    scalar: float = 1.0,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def softmax(
    data: ndarray,
    length: ndarray | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Any = None,
    use_length: bool = False,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray: ...
def topk(
    data: ndarray,
    axis: int = -1,
    k: int = 1,
    ret_typ: str = "indices",
    is_ascend: bool = False,
    dtype: Any = "float32",
    out: ndarray | None = None,
    name: str | None = None,
) -> Any: ...
