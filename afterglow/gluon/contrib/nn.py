# SPDX-License-Identifier: Apache-2.0
"""``gluon.contrib.nn``: children side by side, and channels as pixels."""

from __future__ import annotations

from math import prod
from typing import Any

from ... import autograd, ndarray
from ..._arrays.dtypes import FLOAT16
from ..._arrays.shapes import as_integers
from ..._core import Array, is_stand_in
from ..._package.constructors import handed_on
from ...context import num_gpus
from ...error import ArrayValueError
from .._functions import functions, has_shape
from ..block import Block, HybridBlock
from ..nn.basic_layers import BatchNorm, HybridSequential, Sequential, _Chain
from ..parameter import ParameterDict

__all__ = [
    "Concurrent",
    "HybridConcurrent",
    "Identity",
    "PixelShuffle1D",
    "PixelShuffle2D",
    "PixelShuffle3D",
    "SparseEmbedding",
    "SyncBatchNorm",
]


class _Beside(_Chain):
    """Gives the same input to all children, and puts their outputs next to each other."""

    def __init__(
        self, axis: int = -1, prefix: str | None = None, params: ParameterDict | None = None
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def _pass_on(self, x: Any) -> Any:
        return functions(x).join([child(x) for child in self], self.axis)


class Concurrent(_Beside, Sequential):
    """Gives its input to every child and concatenates what they return.

    >>> from afterglow import gluon, nd
    >>> both = gluon.contrib.nn.Concurrent(axis=1)
    >>> both.add(gluon.contrib.nn.Identity(), gluon.nn.Activation("relu"))
    >>> both(nd.array([[1, -2]]))
    <BLANKLINE>
    [[ 1. -2.  1.  0.]]
    <NDArray 1x4 @cpu(0)>
    """


class HybridConcurrent(_Beside, HybridSequential):
    """Gives its input to every child and concatenates what they return.

    >>> from afterglow import gluon, nd
    >>> both = gluon.contrib.nn.HybridConcurrent(axis=1)
    >>> both.add(gluon.contrib.nn.Identity(), gluon.nn.Activation("relu"))
    >>> both(nd.array([[1, -2]])).shape
    (1, 4)
    """


class SparseEmbedding(Block):
    """A vector for each of ``input_dim`` indices; weight and gradient are row_sparse.

    A trainer must have been made with the parameter before the block is called: it has the whole
    weight, and devices the rows that are looked up.

    >>> from afterglow import gluon, nd
    >>> layer = gluon.contrib.nn.SparseEmbedding(3, 2, weight_initializer="ones")
    >>> layer.initialize()
    >>> trainer = gluon.Trainer(layer.collect_params(), "sgd")
    >>> layer(nd.array([0, 2])).shape
    (2, 2)
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = {
            "input_dim": input_dim,
            "output_dim": output_dim,
            "dtype": dtype,
            "sparse_grad": True,
        }
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            grad_stype="row_sparse",
            stype="row_sparse",
        )

    def forward(self, x: Any) -> Any:
        """Look the vectors up."""
        weight = self.weight.row_sparse_data(x)
        return ndarray.Embedding(x, weight, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        name, given = type(self).__name__, self._kwargs
        return f"{name}({given['input_dim']} -> {given['output_dim']}, {given['dtype']})"


class Identity(HybridBlock):
    """Returns its input.

    >>> from afterglow import gluon, nd
    >>> gluon.contrib.nn.Identity()(nd.ones((2, 3))).shape
    (2, 3)
    """

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the input."""
        return x


class _PixelShuffle(HybridBlock):
    """Makes an image larger by ``factor`` along each of its axes, with pixels out of channels."""

    _axes: int

    def __init__(self, factor: Any) -> None:
        super().__init__()
        factors = as_integers(factor, "factor")
        self._factors = factors * self._axes if len(factors) == 1 else factors
        if len(self._factors) != self._axes:
            raise ArrayValueError(
                f"[{type(self).__name__}] factor is {factor}; it needs {self._axes} numbers"
            )

    def __repr__(self) -> str:
        factors = self._factors[0] if self._axes == 1 else self._factors
        return f"{type(self).__name__}({factors})"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Let the channels of each group of ``prod(factors)`` fill the gaps between the pixels."""
        ops, rank, group = functions(x), self._axes, prod(self._factors)
        if has_shape(x) and (x.ndim != rank + 2 or x.shape[1] % group):
            raise ArrayValueError(
                f"[{type(self).__name__}] the input has shape {x.shape}; it needs {rank + 2} axes "
                f"and channels that {group} divides"
            )
        # Axes: samples, channels, the factors, the extents. All factors go behind the next extent,
        # and the first of them joins it: MXNet, which reads such graphs, has no more than six axes.
        x = ops.reshape(x, (0, -4, -1, group, -2))
        for place, factor in enumerate(self._factors, 2):
            x = ops.swapaxes(x, place, place + 1)
            if place < rank + 1:
                x = ops.reshape(x, (*(0,) * (place + 1), -4, factor, -1, -2))
            x = ops.reshape(x, (*(0,) * place, -3, -2))
        return x


class PixelShuffle1D(_PixelShuffle):
    """Makes (N, factor * C, W) to (N, C, W * factor), with pixels out of channels.

    >>> from afterglow import gluon, nd
    >>> gluon.contrib.nn.PixelShuffle1D(2)(nd.array([[[0, 1], [5, 6]]]))
    <BLANKLINE>
    [[[0. 5. 1. 6.]]]
    <NDArray 1x1x4 @cpu(0)>
    """

    _axes = 1


class PixelShuffle2D(_PixelShuffle):
    """Makes (N, f * g * C, H, W) to (N, C, H * f, W * g), with pixels out of channels.

    >>> from afterglow import gluon, nd
    >>> gluon.contrib.nn.PixelShuffle2D((2, 3))(nd.ones((1, 12, 3, 5))).shape
    (1, 2, 6, 15)
    """

    _axes = 2


class PixelShuffle3D(_PixelShuffle):
    """Makes (N, f * g * h * C, D, H, W) to (N, C, D * f, H * g, W * h).

    >>> from afterglow import gluon, nd
    >>> gluon.contrib.nn.PixelShuffle3D(2)(nd.ones((1, 8, 1, 2, 3))).shape
    (1, 1, 2, 4, 6)
    """

    _axes = 3


class SyncBatchNorm(BatchNorm):
    """Normalises each channel over the parts of a batch that all devices have.

    In training the devices wait for each other, so the block has to be called on ``num_devices``
    of them, by default the number of GPUs, before a result or a gradient is read. In a group of
    processes (:mod:`afterglow.distributed`), each of which has one device, means and variances are
    those of what all of them have.

    >>> from afterglow import gluon
    >>> gluon.contrib.nn.SyncBatchNorm(in_channels=4, num_devices=2).gamma.shape
    (4,)
    """

    def __init__(
        self,
        in_channels: int = 0,
        num_devices: int | None = None,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        **kwargs: Any,
    ) -> None:
        super().__init__(axis=1, **handed_on(locals(), "num_devices"))
        self._num_devices = num_devices or max(1, num_gpus())

    def hybrid_forward(
        self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any
    ) -> Any:
        """Normalise with the statistics of all devices or processes, or of earlier batches."""
        given = (gamma, beta, running_mean, running_var)
        is_of_batch = autograd.is_training() and not self._use_global_stats
        if is_of_batch and isinstance(x, Array) and not any(map(is_stand_in, given)):
            from ...distributed import size

            if size() > 1:
                return self._normalise_together(x, *given)
        statistics = self._statistics()
        del statistics["axis"]
        return functions(x).SyncBatchNorm(
            x, *given, ndev=self._num_devices, key=self.prefix, **statistics
        )

    def _normalise_together(
        self, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any
    ) -> Any:
        from ...distributed import allreduce

        f = functions(x)
        wide = x.astype("float32") if x._dtype_number == FLOAT16 else x
        channels = x.shape[1]
        axes = (0, *range(2, x.ndim))
        along = (1, channels, *(1,) * (x.ndim - 2))
        count = gamma[:1] * 0 + x.size // channels
        sums = f.join([wide.sum(axis=axes), count.detach()], 0)
        sums = allreduce(sums, average=False, name=f"{self.name} means")
        mean, count = sums[:channels] / sums[channels:], sums[channels:].detach()
        distance = wide - mean.reshape(along)
        squares = (distance * distance).sum(axis=axes)
        variance = allreduce(squares, average=False, name=f"{self.name} variances") / count
        result = distance / (variance + self._epsilon).sqrt().reshape(along)
        if self._scale:
            result = result * gamma.reshape(along)
        result = result + beta.reshape(along)
        if autograd.is_recording():
            with autograd.pause():
                for average, latest in ((running_mean, mean), (running_var, variance)):
                    average[:] = average * self._momentum + latest * (1 - self._momentum)
        return result.astype("float16") if wide is not x else result

    def __repr__(self) -> str:
        channels = (self.gamma.shape or (0,))[0]
        return (
            f"SyncBatchNorm(eps={self._epsilon}, momentum={self._momentum}, "
            f"fix_gamma={not self._scale}, use_global_stats={self._use_global_stats}, "
            f"ndev={self._num_devices}, key='{self.prefix}', in_channels={channels or None})"
        )
