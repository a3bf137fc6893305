# SPDX-License-Identifier: Apache-2.0
"""Layers as functions: weights and statistics are arguments."""

from __future__ import annotations

from typing import Any

from .._core import operation
from .._shapes import as_integers
from ._arguments import need
from .ndarray import NDArray

__all__ = ["BatchNorm", "Dropout", "FullyConnected", "GroupNorm", "InstanceNorm", "LayerNorm"]

_fully_connected = operation("FullyConnected", legacy=True)
_dropout = operation("Dropout", legacy=True)
_batch_norm = operation("BatchNorm", legacy=True)
_layer_norm = operation("LayerNorm", legacy=True)
_instance_norm = operation("InstanceNorm", legacy=True)
_group_norm = operation("GroupNorm", legacy=True)


def FullyConnected(  # noqa: N802
    data: NDArray,
    weight: NDArray,
    bias: NDArray | None = None,
    num_hidden: int | None = None,
    no_bias: bool = False,
    flatten: bool = True,
    out: Any = None,
    name: str | None = None,
) -> NDArray:
    """Return the product of the rows of ``data`` and those of ``weight``, plus ``bias``.

    A row is all of a sample, or with ``flatten=False`` the last axis.

    >>> from afterglow import nd
    >>> nd.FullyConnected(nd.array([[1, 2]]), nd.ones((3, 2)), nd.array([0, 1, 2]), num_hidden=3)
    <BLANKLINE>
    [[3. 4. 5.]]
    <NDArray 1x3 @cpu(0)>
    """
    data, weight = need(data, "data"), need(weight, "weight")
    bias = None if no_bias else need(bias, "bias")
    result: NDArray = _fully_connected(data, weight, bias, num_hidden, no_bias, flatten, out=out)
    return result


def Dropout(  # noqa: N802
    data: NDArray,
    p: float = 0.5,
    mode: str = "training",
    axes: Any = (),
    cudnn_off: bool = False,
    out: Any = None,
    name: str | None = None,
) -> NDArray:
    """Return the array with a share ``p`` of its elements zeroed and the others made larger.

    That is so in training, or with mode "always"; along ``axes`` all elements share one fate.

    >>> from afterglow import nd
    >>> nd.Dropout(nd.ones((3,)), p=0.5)
    <BLANKLINE>
    [1. 1. 1.]
    <NDArray 3 @cpu(0)>
    """
    result: NDArray = _dropout(need(data, "data"), p, mode, as_integers(axes, "axes"), out=out)
    return result


def BatchNorm(  # noqa: N802
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    moving_mean: NDArray,
    moving_var: NDArray,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    out: Any = None,
    name: str | None = None,
) -> Any:
    """Return the elements minus their mean per channel, by their deviation, scaled and shifted.

    In training those are the mean and deviation of the batch, and the moving ones follow them while
    a pass is recorded; else they are the moving ones. ``gamma`` counts unless ``fix_gamma``. With
    ``output_mean_var`` the mean and one by the deviation come too.

    >>> from afterglow import nd
    >>> x, one, zero = nd.array([[1], [3]]), nd.ones((1,)), nd.zeros((1,))
    >>> nd.BatchNorm(x, one, zero, zero + 1, one * 4, eps=0)
    <BLANKLINE>
    [[0.]
     [1.]]
    <NDArray 2x1 @cpu(0)>
    """
    return _batch_norm(
        need(data, "data"),
        need(gamma, "gamma"),
        need(beta, "beta"),
        need(moving_mean, "moving_mean"),
        need(moving_var, "moving_var"),
        eps,
        momentum,
        fix_gamma,
        use_global_stats,
        output_mean_var,
        axis,
        out=out,
    )


def LayerNorm(  # noqa: N802
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    axis: int = -1,
    eps: float = 1e-5,
    output_mean_var: bool = False,
    out: Any = None,
    name: str | None = None,
) -> Any:
    """Return the elements minus their mean along an axis, by their deviation, scaled and shifted.

    With ``output_mean_var`` the means and deviations come too.

    >>> from afterglow import nd
    >>> nd.LayerNorm(nd.array([[1, 3]]), nd.ones((2,)), nd.zeros((2,)), eps=0)
    <BLANKLINE>
    [[-1.  1.]]
    <NDArray 1x2 @cpu(0)>
    """
    data, gamma, beta = need(data, "data"), need(gamma, "gamma"), need(beta, "beta")
    return _layer_norm(data, gamma, beta, axis, eps, output_mean_var, out=out)


def InstanceNorm(  # noqa: N802
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    eps: float = 1e-3,
    out: Any = None,
    name: str | None = None,
) -> NDArray:
    """Return the elements minus their mean per sample and channel, by their deviation.

    They are scaled and shifted per channel.

    >>> from afterglow import nd
    >>> nd.InstanceNorm(nd.array([[[1, 3]]]), nd.ones((1,)), nd.zeros((1,)), eps=0)
    <BLANKLINE>
    [[[-1.  1.]]]
    <NDArray 1x1x2 @cpu(0)>
    """
    data, gamma, beta = need(data), need(gamma, "gamma"), need(beta, "beta")
    result: NDArray = _instance_norm(data, gamma, beta, eps, out=out)
    return result


def GroupNorm(  # noqa: N802
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    num_groups: int = 1,
    eps: float = 1e-5,
    output_mean_var: bool = False,
    out: Any = None,
    name: str | None = None,
) -> Any:
    """Return the elements minus their mean per sample and group of channels, by their deviation.

    They are scaled and shifted per group. With ``output_mean_var`` the means and deviations come
    too.

    >>> from afterglow import nd
    >>> nd.GroupNorm(nd.array([[[1], [3]]]), nd.ones((1,)), nd.zeros((1,)), eps=0)
    <BLANKLINE>
    [[[-1.]
      [ 1.]]]
    <NDArray 1x2x1 @cpu(0)>
    """
    data, gamma, beta = need(data), need(gamma, "gamma"), need(beta, "beta")
    return _group_norm(data, gamma, beta, num_groups, eps, output_mean_var, out=out)
