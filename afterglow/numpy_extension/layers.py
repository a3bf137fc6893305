# SPDX-License-Identifier: Apache-2.0
"""Layers as functions, for ``np`` arrays: weights and statistics are arguments."""

from __future__ import annotations

from typing import Any

from .._core import operation
from .._shapes import as_integers
from ..numpy import ndarray
from ..numpy._arguments import need

__all__ = ["batch_norm", "dropout", "fully_connected", "layer_norm"]

_fully_connected = operation("FullyConnected", legacy=False)
_dropout = operation("Dropout", legacy=False)
_batch_norm = operation("BatchNorm", legacy=False)
_layer_norm = operation("LayerNorm", legacy=False)


def fully_connected(
    data: Any,
    weight: Any,
    bias: Any = None,
    num_hidden: int | None = None,
    no_bias: bool = False,
    flatten: bool = True,
    out: Any = None,
    name: str | None = None,
) -> ndarray:
    """Return the product of the rows of ``data`` and those of ``weight``, plus ``bias``.

    A row is all of a sample, or with ``flatten=False`` the last axis.

    >>> from afterglow import np, npx
    >>> npx.fully_connected(np.array([[1, 2]]), np.ones((3, 2)), np.array([0, 1, 2]), num_hidden=3)
    array([[3., 4., 5.]])
    """
    data, weight = need(data, "data"), need(weight, "weight")
    bias = None if no_bias else need(bias, "bias")
    result: ndarray = _fully_connected(data, weight, bias, num_hidden, no_bias, flatten, out=out)
    return result


def dropout(
    data: Any,
    p: float = 0.5,
    mode: str = "training",
    axes: Any = (),
    cudnn_off: bool = False,
    out: Any = None,
    name: str | None = None,
) -> ndarray:
    """Return the array with a share ``p`` of its elements zeroed and the others made larger.

    That is so in training, or with mode "always"; along ``axes`` all elements share one fate.

    >>> from afterglow import np, npx
    >>> npx.dropout(np.ones((3,)), p=0.5)
    array([1., 1., 1.])
    """
    result: ndarray = _dropout(need(data, "data"), p, mode, as_integers(axes, "axes"), out=out)
    return result


def batch_norm(
    data: Any,
    gamma: Any,
    beta: Any,
    moving_mean: Any,
    moving_var: Any,
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

    >>> from afterglow import np, npx
    >>> x, one, zero = np.array([[1], [3]]), np.ones((1,)), np.zeros((1,))
    >>> npx.batch_norm(x, one, zero, zero + 1, one * 4, eps=0)
    array([[0.],
           [1.]])
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


def layer_norm(
    data: Any,
    gamma: Any,
    beta: Any,
    axis: int = -1,
    eps: float = 1e-5,
    output_mean_var: bool = False,
    out: Any = None,
    name: str | None = None,
) -> Any:
    """Return the elements minus their mean along an axis, by their deviation, scaled and shifted.

    With ``output_mean_var`` the means and deviations come too.

    >>> from afterglow import np, npx
    >>> npx.layer_norm(np.array([[1, 3]]), np.ones((2,)), np.zeros((2,)), eps=0)
    array([[-1.,  1.]])
    """
    data, gamma, beta = need(data, "data"), need(gamma, "gamma"), need(beta, "beta")
    return _layer_norm(data, gamma, beta, axis, eps, output_mean_var, out=out)
