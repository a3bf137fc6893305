# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N802, N803, RUF022, RUF100
# Written by `python -m tests.stubs`.

from typing import Any

from .ndarray import NDArray

__all__ = [
    "Activation",
    "BatchNorm",
    "BatchNorm_v1",
    "BilinearSampler",
    "BlockGrad",
    "CTCLoss",
    "Cast",
    "Concat",
    "Convolution",
    "Correlation",
    "Crop",
    "Deconvolution",
    "Dropout",
    "ElementWiseSum",
    "Embedding",
    "Flatten",
    "FullyConnected",
    "GridGenerator",
    "GroupNorm",
    "IdentityAttachKLSparseReg",
    "InstanceNorm",
    "L2Normalization",
    "LRN",
    "LayerNorm",
    "LeakyReLU",
    "LinearRegressionOutput",
    "LogisticRegressionOutput",
    "MAERegressionOutput",
    "MakeLoss",
    "Pad",
    "Pooling",
    "RNN",
    "ROIPooling",
    "Reshape",
    "SVMOutput",
    "SequenceLast",
    "SequenceMask",
    "SequenceReverse",
    "SliceChannel",
    "Softmax",
    "SoftmaxActivation",
    "SoftmaxOutput",
    "SpatialTransformer",
    "SwapAxis",
    "UpSampling",
    "abs",
    "adam_update",
    "add",
    "add_n",
    "amp_cast",
    "arange",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "argmax",
    "argmax_channel",
    "argmin",
    "argsort",
    "batch_dot",
    "batch_take",
    "broadcast_add",
    "broadcast_axes",
    "broadcast_axis",
    "broadcast_div",
    "broadcast_equal",
    "broadcast_greater",
    "broadcast_greater_equal",
    "broadcast_hypot",
    "broadcast_lesser",
    "broadcast_lesser_equal",
    "broadcast_like",
    "broadcast_logical_and",
    "broadcast_logical_or",
    "broadcast_logical_xor",
    "broadcast_maximum",
    "broadcast_minimum",
    "broadcast_minus",
    "broadcast_mod",
    "broadcast_mul",
    "broadcast_not_equal",
    "broadcast_plus",
    "broadcast_power",
    "broadcast_sub",
    "broadcast_to",
    "cast",
    "cbrt",
    "ceil",
    "choose_element_0index",
    "clip",
    "col2im",
    "concat",
    "cos",
    "cosh",
    "ctc_loss",
    "cumsum",
    "degrees",
    "depth_to_space",
    "diag",
    "digamma",
    "divide",
    "dot",
    "elemwise_add",
    "elemwise_div",
    "elemwise_mul",
    "elemwise_sub",
    "equal",
    "erf",
    "erfinv",
    "exp",
    "expand_dims",
    "expm1",
    "eye",
    "fill_element_0index",
    "fix",
    "flatten",
    "flip",
    "floor",
    "ftml_update",
    "ftrl_update",
    "gamma",
    "gammaln",
    "gather_nd",
    "greater",
    "greater_equal",
    "hard_sigmoid",
    "im2col",
    "khatri_rao",
    "lamb_update_phase1",
    "lamb_update_phase2",
    "lesser",
    "lesser_equal",
    "linalg_det",
    "linalg_extractdiag",
    "linalg_extracttrian",
    "linalg_gemm",
    "linalg_gemm2",
    "linalg_inverse",
    "linalg_makediag",
    "linalg_maketrian",
    "linalg_potrf",
    "linalg_potri",
    "linalg_sumlogdiag",
    "linalg_syrk",
    "linalg_trmm",
    "linspace",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "make_loss",
    "max",
    "max_axis",
    "maximum",
    "mean",
    "min",
    "min_axis",
    "minimum",
    "modulo",
    "moveaxis",
    "mp_lamb_update_phase1",
    "mp_lamb_update_phase2",
    "mp_nag_mom_update",
    "mp_sgd_mom_update",
    "mp_sgd_update",
    "multi_lars",
    "multi_mp_sgd_mom_update",
    "multi_mp_sgd_update",
    "multi_sgd_mom_update",
    "multi_sgd_update",
    "multi_sum_sq",
    "multiply",
    "nag_mom_update",
    "negative",
    "normal",
    "not_equal",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "pick",
    "power",
    "preloaded_multi_mp_sgd_mom_update",
    "preloaded_multi_mp_sgd_update",
    "preloaded_multi_sgd_mom_update",
    "preloaded_multi_sgd_update",
    "prod",
    "radians",
    "random_exponential",
    "random_gamma",
    "random_generalized_negative_binomial",
    "random_negative_binomial",
    "random_normal",
    "random_pdf_dirichlet",
    "random_pdf_exponential",
    "random_pdf_gamma",
    "random_pdf_generalized_negative_binomial",
    "random_pdf_negative_binomial",
    "random_pdf_normal",
    "random_pdf_poisson",
    "random_pdf_uniform",
    "random_poisson",
    "random_randint",
    "random_uniform",
    "ravel_multi_index",
    "rcbrt",
    "reciprocal",
    "relu",
    "repeat",
    "reset_arrays",
    "reshape",
    "reshape_like",
    "reverse",
    "rint",
    "rmsprop_update",
    "rmspropalex_update",
    "round",
    "rsqrt",
    "sample_exponential",
    "sample_gamma",
    "sample_generalized_negative_binomial",
    "sample_multinomial",
    "sample_negative_binomial",
    "sample_normal",
    "sample_poisson",
    "sample_uniform",
    "scatter_nd",
    "sgd_mom_update",
    "sgd_update",
    "shuffle",
    "sigmoid",
    "sign",
    "signsgd_update",
    "signum_update",
    "sin",
    "sinh",
    "slice_axis",
    "slice_like",
    "smooth_l1",
    "softmax",
    "softmax_cross_entropy",
    "softmin",
    "softsign",
    "sort",
    "space_to_depth",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "stop_gradient",
    "subtract",
    "sum",
    "sum_axis",
    "swapaxes",
    "take",
    "tan",
    "tanh",
    "tile",
    "topk",
    "transpose",
    "true_divide",
    "trunc",
    "uniform",
    "unravel_index",
    "where",
    "zeros",
    "zeros_like",
]

def Activation(
    data: NDArray,
    act_type: str | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def BatchNorm(
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
def BilinearSampler(
    data: NDArray,
    grid: NDArray,
    cudnn_off: bool | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def BlockGrad(
    data: NDArray,
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
def Convolution(
    data: NDArray,
    weight: NDArray,
    bias: NDArray | None = None,
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
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def Correlation(
    data1: NDArray,
    data2: NDArray,
    kernel_size: int = 1,
    max_displacement: int = 1,
    stride1: int = 1,
    stride2: int = 1,
    pad_size: int = 0,
    is_multiply: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def Crop(
    *data: NDArray,
    num_args: int | None = None,
    offset: int | tuple[int, ...] = (0, 0),
    h_w: int | tuple[int, ...] = (0, 0),
    center_crop: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def Deconvolution(
    data: NDArray,
    weight: NDArray,
    bias: NDArray | None = None,
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
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def Dropout(
    data: NDArray,
    p: float = 0.5,
    mode: str = "training",
    axes: int | tuple[int, ...] = (),
    cudnn_off: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def Embedding(
    data: NDArray,
    weight: NDArray,
    input_dim: int | None = None,
    output_dim: int | None = None,
    dtype: Any = "float32",
    sparse_grad: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def Flatten(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def FullyConnected(
    data: NDArray,
    weight: NDArray,
    bias: NDArray | None = None,
    num_hidden: int | None = None,
    no_bias: bool = False,
    flatten: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def GridGenerator(
    data: NDArray,
    transform_type: str | None = None,
    target_shape: int | tuple[int, ...] = (0, 0),
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def GroupNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    num_groups: int = 1,
    eps: float = 1e-05,
    output_mean_var: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> Any: ...
def IdentityAttachKLSparseReg(
    data: NDArray,
    moving_avg: NDArray,
    sparseness_target: float = 0.1,
    penalty: float = 0.001,
    momentum: float = 0.9,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def InstanceNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    eps: float = 0.001,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def L2Normalization(
    data: NDArray,
    eps: float = 1e-10,
    mode: str = "instance",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def LRN(
    data: NDArray,
    alpha: float = 0.0001,
    beta: float = 0.75,
    knorm: float = 2.0,
    nsize: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def LayerNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    axis: int = -1,
    eps: float = 1e-05,
    output_mean_var: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> Any: ...
def LeakyReLU(
    data: NDArray,
    gamma: NDArray | None = None,
    act_type: str = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
    out: NDArray | None = None,
    name: str | None = None,
) -> Any: ...
def LinearRegressionOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def LogisticRegressionOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def MAERegressionOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def MakeLoss(
    data: NDArray,
    grad_scale: float = 1.0,
    valid_thresh: float = 0.0,
    normalization: str = "null",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def pad(
    data: NDArray,
    mode: str,
    pad_width: str,
    constant_value: float = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def Pooling(
    data: NDArray,
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
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def RNN(
    data: NDArray,
    parameters: NDArray,
    state: NDArray,
    state_cell: NDArray | None = None,
    sequence_length: NDArray | None = None,
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
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def ROIPooling(
    data: NDArray,
    rois: NDArray,
    pooled_size: int | tuple[int, ...] | None = None,
    spatial_scale: float | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def reshape(
    data: NDArray,
    shape: int | tuple[int, ...] | None = None,
    reverse: bool = False,
    target_shape: int | tuple[int, ...] | None = None,
    keep_highest: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def SVMOutput(
    data: NDArray,
    label: NDArray,
    margin: float = 1.0,
    regularization_coefficient: float = 1.0,
    use_linear: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def SequenceLast(
    data: NDArray,
    sequence_length: NDArray | None = None,
    use_sequence_length: bool = False,
    axis: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def SequenceMask(
    data: NDArray,
    sequence_length: NDArray | None = None,
    use_sequence_length: bool = False,
    value: float = 0.0,
    axis: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def SequenceReverse(
    data: NDArray,
    sequence_length: NDArray | None = None,
    use_sequence_length: bool = False,
    axis: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def split(
    data: NDArray,
    num_outputs: int,
    axis: int = 1,
    squeeze_axis: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def SoftmaxActivation(
    data: NDArray,
    mode: str = "instance",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def SoftmaxOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool = False,
    use_ignore: bool = False,
    preserve_shape: bool = False,
    normalization: str = "null",
    out_grad: bool = False,
    smooth_alpha: float = 0.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def SpatialTransformer(
    data: NDArray,
    loc: NDArray,
    target_shape: int | tuple[int, ...] = (0, 0),
    transform_type: str | None = None,
    sampler_type: str | None = None,
    cudnn_off: bool | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def UpSampling(
    *data: NDArray,
    scale: int | None = None,
    num_filter: int = 0,
    sample_type: str | None = None,
    multi_input_mode: str = "concat",
    num_args: int | None = None,
    workspace: int = 512,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def abs(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def adam_update(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    lr: float | None = None,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def add(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_add(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def add_n(
    *args: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def amp_cast(
    data: NDArray,
    dtype: Any,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | None = None,
    ctx: Any = None,
    dtype: Any = "float32",
) -> NDArray: ...
def arccos(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def arccosh(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def arcsin(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def arcsinh(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def arctan(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def arctanh(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def argmax(
    data: NDArray,
    axis: int | None = None,
    keepdims: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def argmax_channel(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def argmin(
    data: NDArray,
    axis: int | None = None,
    keepdims: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def argsort(
    data: NDArray,
    axis: int = -1,
    is_ascend: bool = True,
    dtype: Any = "float32",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def batch_dot(
    lhs: NDArray,
    rhs: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: str | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def batch_take(
    a: NDArray,
    indices: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def broadcast_axis(
    data: NDArray,
    axis: int | tuple[int, ...] = (),
    size: int | tuple[int, ...] = (),
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def broadcast_like(
    lhs: NDArray,
    rhs: NDArray,
    lhs_axes: int | tuple[int, ...] | None = None,
    rhs_axes: int | tuple[int, ...] | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def broadcast_to(
    data: NDArray,
    shape: int | tuple[int, ...],
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def cast(
    data: NDArray,
    dtype: Any,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def cbrt(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def ceil(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def clip(
    data: NDArray,
    a_min: float,
    a_max: float,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def col2im(
    data: NDArray,
    output_size: int | tuple[int, ...] | None = None,
    kernel: int | tuple[int, ...] | None = None,
    stride: int | tuple[int, ...] = (),
    dilate: int | tuple[int, ...] = (),
    pad: int | tuple[int, ...] = (),
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def concat(
    *data: NDArray,
    dim: int = 1,
    num_args: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def cos(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def cosh(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def cumsum(
    a: NDArray,
    axis: int | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def degrees(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def depth_to_space(
    data: NDArray,
    block_size: int,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_det(
    A: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def diag(
    data: NDArray,
    k: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def digamma(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def divide(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_div(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def dot(
    lhs: NDArray,
    rhs: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: str | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def elemwise_add(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def elemwise_div(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def elemwise_mul(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def elemwise_sub(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def equal(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_equal(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def erf(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def erfinv(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def exp(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def expand_dims(
    data: NDArray,
    axis: int | tuple[int, ...],
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def expm1(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_extractdiag(
    A: NDArray,
    offset: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_extracttrian(
    A: NDArray,
    offset: int = 0,
    lower: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def fill_element_0index(
    lhs: NDArray,
    mhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def flip(
    data: NDArray,
    axis: int | tuple[int, ...],
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def floor(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def ftml_update(
    weight: NDArray,
    grad: NDArray,
    d: NDArray,
    v: NDArray,
    z: NDArray,
    lr: float | None = None,
    beta1: float = 0.6,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    t: int | None = None,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_grad: float = -1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def ftrl_update(
    weight: NDArray,
    grad: NDArray,
    z: NDArray,
    n: NDArray,
    lr: float | None = None,
    lamda1: float = 0.01,
    beta: float = 1.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def gamma(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def gammaln(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def gather_nd(
    data: NDArray,
    indices: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_gemm(
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
def linalg_gemm2(
    A: NDArray,
    B: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    axis: int = -2,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def greater(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_greater(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def greater_equal(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_greater_equal(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def hard_sigmoid(
    data: NDArray,
    alpha: float = 0.2,
    beta: float = 0.5,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def broadcast_hypot(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def im2col(
    data: NDArray,
    kernel: int | tuple[int, ...] | None = None,
    stride: int | tuple[int, ...] = (),
    dilate: int | tuple[int, ...] = (),
    pad: int | tuple[int, ...] = (),
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_inverse(
    A: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def khatri_rao(
    *args: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def lamb_update_phase1(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    t: int | None = None,
    bias_correction: bool = True,
    wd: float | None = None,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def lamb_update_phase2(
    weight: NDArray,
    g: NDArray,
    r1: NDArray,
    r2: NDArray,
    lr: float | None = None,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def lesser(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_lesser(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def lesser_equal(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_lesser_equal(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    ctx: Any = None,
    dtype: Any = "float32",
) -> NDArray: ...
def log(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def log10(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def log1p(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def log2(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def log_softmax(
    data: NDArray,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Any = None,
    use_length: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def logical_and(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_logical_and(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def logical_not(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def logical_or(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_logical_or(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def logical_xor(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_logical_xor(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def make_loss(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_makediag(
    A: NDArray,
    offset: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_maketrian(
    A: NDArray,
    offset: int = 0,
    lower: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def max(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def maximum(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_maximum(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def mean(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def min(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def minimum(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_minimum(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def modulo(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_mod(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def moveaxis(
    tensor: NDArray,
    source: int | tuple[int, ...],
    destination: int | tuple[int, ...],
) -> NDArray: ...
def mp_lamb_update_phase1(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    weight32: NDArray,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-06,
    t: int | None = None,
    bias_correction: bool = True,
    wd: float | None = None,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def mp_lamb_update_phase2(
    weight: NDArray,
    g: NDArray,
    r1: NDArray,
    r2: NDArray,
    weight32: NDArray,
    lr: float | None = None,
    lower_bound: float = -1.0,
    upper_bound: float = -1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def mp_nag_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    weight32: NDArray,
    lr: float | None = None,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def mp_sgd_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    weight32: NDArray,
    lr: float | None = None,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def mp_sgd_update(
    weight: NDArray,
    grad: NDArray,
    weight32: NDArray,
    lr: float | None = None,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def multi_lars(
    lrs: NDArray,
    weights_sum_sq: NDArray,
    grads_sum_sq: NDArray,
    wds: NDArray,
    eta: float | None = None,
    eps: float | None = None,
    rescale_grad: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def multi_mp_sgd_mom_update(
    *data: NDArray,
    lrs: float | tuple[float, ...] | None = None,
    wds: float | tuple[float, ...] | None = None,
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def multi_mp_sgd_update(
    *data: NDArray,
    lrs: float | tuple[float, ...] | None = None,
    wds: float | tuple[float, ...] | None = None,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def multi_sgd_mom_update(
    *data: NDArray,
    lrs: float | tuple[float, ...] | None = None,
    wds: float | tuple[float, ...] | None = None,
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def multi_sgd_update(
    *data: NDArray,
    lrs: float | tuple[float, ...] | None = None,
    wds: float | tuple[float, ...] | None = None,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def multi_sum_sq(
    *data: NDArray,
    num_arrays: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def multiply(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_mul(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def nag_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    lr: float | None = None,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def eye(
    N: int,
    M: int = 0,
    k: int = 0,
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def negative(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def not_equal(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_not_equal(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def one_hot(
    indices: NDArray,
    depth: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: Any = "float32",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def ones(
    shape: int | tuple[int, ...],
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def ones_like(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def pick(
    data: NDArray,
    index: NDArray,
    axis: int = -1,
    keepdims: bool = False,
    mode: str = "clip",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_potrf(
    A: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
    *,
    lower: bool = True,
) -> NDArray: ...
def linalg_potri(
    A: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
    *,
    lower: bool = True,
) -> NDArray: ...
def power(
    base: NDArray,
    exp: NDArray,
) -> NDArray: ...
def broadcast_power(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def preloaded_multi_mp_sgd_mom_update(
    *data: NDArray,
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def preloaded_multi_mp_sgd_update(
    *data: NDArray,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def preloaded_multi_sgd_mom_update(
    *data: NDArray,
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def preloaded_multi_sgd_update(
    *data: NDArray,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def prod(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def radians(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_exponential(
    lam: float = 1.0,
    shape: int | tuple[int, ...] = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_gamma(
    alpha: float = 1.0,
    beta: float = 1.0,
    shape: int | tuple[int, ...] = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_generalized_negative_binomial(
    mu: float = 1.0,
    alpha: float = 1.0,
    shape: int | tuple[int, ...] = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_negative_binomial(
    k: int = 1,
    p: float = 1.0,
    shape: int | tuple[int, ...] = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: int | tuple[int, ...] = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_pdf_dirichlet(
    sample: NDArray,
    alpha: NDArray,
    is_log: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_pdf_exponential(
    sample: NDArray,
    lam: NDArray,
    is_log: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_pdf_gamma(
    sample: NDArray,
    alpha: NDArray,
    beta: NDArray,
    is_log: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_pdf_generalized_negative_binomial(
    sample: NDArray,
    mu: NDArray,
    alpha: NDArray,
    is_log: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_pdf_negative_binomial(
    sample: NDArray,
    k: NDArray,
    p: NDArray,
    is_log: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_pdf_normal(
    sample: NDArray,
    mu: NDArray,
    sigma: NDArray,
    is_log: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_pdf_poisson(
    sample: NDArray,
    lam: NDArray,
    is_log: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_pdf_uniform(
    sample: NDArray,
    low: NDArray,
    high: NDArray,
    is_log: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_poisson(
    lam: float = 1.0,
    shape: int | tuple[int, ...] = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_randint(
    low: int,
    high: int,
    shape: int | tuple[int, ...] = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: int | tuple[int, ...] = (),
    ctx: Any = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def ravel_multi_index(
    data: NDArray,
    shape: int | tuple[int, ...],
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def rcbrt(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def reciprocal(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def relu(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def repeat(
    data: NDArray,
    repeats: int,
    axis: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def reset_arrays(
    *data: NDArray,
    num_arrays: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def reshape_like(
    lhs: NDArray,
    rhs: NDArray,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def rint(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def rmsprop_update(
    weight: NDArray,
    grad: NDArray,
    n: NDArray,
    lr: float | None = None,
    gamma1: float = 0.95,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    clip_weights: float = -1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def rmspropalex_update(
    weight: NDArray,
    grad: NDArray,
    n: NDArray,
    g: NDArray,
    delta: NDArray,
    lr: float | None = None,
    gamma1: float = 0.95,
    gamma2: float = 0.9,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    clip_weights: float = -1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def round(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def rsqrt(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sample_exponential(
    lam: NDArray,
    shape: int | tuple[int, ...] = (),
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sample_gamma(
    alpha: NDArray,
    beta: NDArray,
    shape: int | tuple[int, ...] = (),
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sample_generalized_negative_binomial(
    mu: NDArray,
    alpha: NDArray,
    shape: int | tuple[int, ...] = (),
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sample_multinomial(
    data: NDArray,
    shape: int | tuple[int, ...] = (),
    get_prob: bool = False,
    dtype: Any = "int32",
    out: NDArray | None = None,
    name: str | None = None,
) -> Any: ...
def sample_negative_binomial(
    k: NDArray,
    p: NDArray,
    shape: int | tuple[int, ...] = (),
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sample_normal(
    mu: NDArray,
    sigma: NDArray,
    shape: int | tuple[int, ...] = (),
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sample_poisson(
    lam: NDArray,
    shape: int | tuple[int, ...] = (),
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sample_uniform(
    low: NDArray,
    high: NDArray,
    shape: int | tuple[int, ...] = (),
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def scatter_nd(
    data: NDArray,
    indices: NDArray,
    shape: int | tuple[int, ...],
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sgd_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    lr: float | None = None,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sgd_update(
    weight: NDArray,
    grad: NDArray,
    lr: float | None = None,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def shuffle(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sigmoid(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sign(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def signsgd_update(
    weight: NDArray,
    grad: NDArray,
    lr: float | None = None,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def signum_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    lr: float | None = None,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    wd_lh: float = 0.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sin(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sinh(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def slice_axis(
    data: NDArray,
    axis: int,
    begin: int,
    end: int,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def slice_like(
    data: NDArray,
    shape_like: NDArray,
    axes: int | tuple[int, ...] = (),
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def smooth_l1(
    data: NDArray,
    scalar: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def softmax(
    data: NDArray,
    length: NDArray | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Any = None,
    use_length: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def softmax_cross_entropy(
    data: NDArray,
    label: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def softmin(
    data: NDArray,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Any = None,
    use_length: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def softsign(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sort(
    data: NDArray,
    axis: int = -1,
    is_ascend: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def space_to_depth(
    data: NDArray,
    block_size: int,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sqrt(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def square(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def squeeze(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def stack(
    *data: NDArray,
    axis: int = 0,
    num_args: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def subtract(
    lhs: NDArray,
    rhs: NDArray,
) -> NDArray: ...
def broadcast_sub(
    lhs: NDArray,
    rhs: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def sum(
    data: NDArray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_sumlogdiag(
    A: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def swapaxes(
    data: NDArray,
    dim1: int = 0,
    dim2: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_syrk(
    A: NDArray,
    transpose: bool = False,
    alpha: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def take(
    a: NDArray,
    indices: NDArray,
    axis: int = 0,
    mode: str = "clip",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def tan(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def tanh(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def tile(
    data: NDArray,
    reps: int | tuple[int, ...],
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def topk(
    data: NDArray,
    axis: int = -1,
    k: int = 1,
    ret_typ: str = "indices",
    is_ascend: bool = False,
    dtype: Any = "float32",
    out: NDArray | None = None,
    name: str | None = None,
) -> Any: ...
def transpose(
    data: NDArray,
    axes: int | tuple[int, ...] | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def linalg_trmm(
    A: NDArray,
    B: NDArray,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def trunc(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def unravel_index(
    data: NDArray,
    shape: int | tuple[int, ...],
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def where(
    condition: NDArray,
    x: NDArray,
    y: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def zeros(
    shape: int | tuple[int, ...],
    ctx: Any = None,
    dtype: Any = None,
    stype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...
def zeros_like(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...

BatchNorm_v1 = BatchNorm
stop_gradient = BlockGrad
ctc_loss = CTCLoss
flatten = Flatten
Pad = pad
Reshape = reshape
SliceChannel = split
Softmax = SoftmaxOutput
broadcast_plus = broadcast_add
ElementWiseSum = add_n
broadcast_axes = broadcast_axis
Cast = cast
Concat = concat
true_divide = divide
reverse = flip
max_axis = max
min_axis = min
choose_element_0index = pick
normal = random_normal
uniform = random_uniform
broadcast_minus = broadcast_sub
sum_axis = sum
SwapAxis = swapaxes
fix = trunc
