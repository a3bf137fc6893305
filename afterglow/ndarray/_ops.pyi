# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N802
# Written by `python -m tests.stubs`.

from typing import Any

from .ndarray import NDArray

__all__ = [
    "Activation",
    "BatchNorm",
    "BatchNorm_v1",
    "BlockGrad",
    "Dropout",
    "Embedding",
    "Flatten",
    "FullyConnected",
    "GroupNorm",
    "InstanceNorm",
    "LayerNorm",
    "LeakyReLU",
    "LinearRegressionOutput",
    "LogisticRegressionOutput",
    "MAERegressionOutput",
    "MakeLoss",
    "SVMOutput",
    "Softmax",
    "SoftmaxOutput",
    "flatten",
    "make_loss",
    "stop_gradient",
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
def BlockGrad(
    data: NDArray,
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
def InstanceNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    eps: float = 0.001,
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
def SVMOutput(
    data: NDArray,
    label: NDArray,
    margin: float = 1.0,
    regularization_coefficient: float = 1.0,
    use_linear: bool = False,
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
def make_loss(
    data: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray: ...

BatchNorm_v1 = BatchNorm
stop_gradient = BlockGrad
flatten = Flatten
Softmax = SoftmaxOutput
