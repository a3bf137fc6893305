# SPDX-License-Identifier: Apache-2.0
"""Containers, dense layers, normalisation, embeddings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ... import ndarray, numpy, numpy_extension
from ..._arrays.dtypes import DTYPES, FLOAT16, dtype_number
from ..._arrays.shapes import Shape
from ...error import ArrayValueError
from ...symbol import Symbol
from ...util import is_np_array
from .._functions import functions
from ..block import Block, HybridBlock
from ..parameter import Parameter, ParameterDict
from .activations import Activation

__all__ = [
    "BatchNorm",
    "BatchNormReLU",
    "Dense",
    "Dropout",
    "Embedding",
    "Flatten",
    "GroupNorm",
    "HybridLambda",
    "HybridSequential",
    "InstanceNorm",
    "Lambda",
    "LayerNorm",
    "Sequential",
]


class _Chain(Block):
    """What both kinds of ``Sequential`` share: a list of children."""

    def add(self, *blocks: Block) -> None:
        """Append blocks."""
        for block in blocks:
            self.register_child(block)

    def _block_is_container(self) -> bool:
        return True

    def _pass_on(self, x: Any) -> Any:
        for block in self._children.values():
            x = block(x)
        return x

    def _block_shown(self) -> Iterable[tuple[str, Any]]:
        return self._children.items()

    def __getitem__(self, key: int | slice) -> Any:
        layers = list(self._children.values())[key]
        if not isinstance(layers, list):
            return layers
        part = type(self)(prefix=self._prefix)
        with part.name_scope():
            part.add(*layers)
        return part

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._children.values())


class Sequential(_Chain):
    """Blocks one after another.

    >>> from afterglow.gluon import nn
    >>> net = nn.Sequential()
    >>> net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
    >>> net
    Sequential(
      (0): Dense(None -> 4, Activation(relu))
      (1): Dense(None -> 2, linear)
    )
    """

    def forward(self, x: Any) -> Any:
        """Pass the input on from block to block."""
        return self._pass_on(x)

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Pass ``hybridize`` on to the children."""
        if self._children and all(isinstance(child, HybridBlock) for child in self):
            warnings.warn(
                f"All children of this Sequential layer '{self.prefix}' are HybridBlocks. Consider "
                "using HybridSequential for the best performance.",
                stacklevel=2,
            )
        super().hybridize(active, **kwargs)


class HybridSequential(_Chain, HybridBlock):
    """Hybrid blocks one after another.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> net = nn.HybridSequential()
    >>> net.add(nn.Flatten(), nn.Activation("relu"))
    >>> net(nd.ones((2, 3, 4))).shape
    (2, 12)
    """

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Pass the input on from block to block."""
        return self._pass_on(x)


def _deferred(block: Block, name: str, shape: Shape, init: Any, dtype: Any) -> Parameter:
    """Return a parameter of a block whose shape may be known later."""
    return block.params.get(name, shape=shape, init=init, dtype=dtype, allow_deferred_init=True)


class Dense(HybridBlock):
    """Rows times a matrix, plus a bias, and an activation.

    With ``flatten`` all axes but the first are one row, else the last axis is.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> layer = nn.Dense(1, weight_initializer="ones", in_units=3)
    >>> layer.initialize()
    >>> layer(nd.array([[1, 2, 3]]))
    <BLANKLINE>
    [[6.]]
    <NDArray 1x1 @cpu(0)>
    """

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_units: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._flatten = flatten
        self._units = units
        self.bias: Parameter | None = None
        self.act: Activation | None = None
        with self.name_scope():
            self.weight = _deferred(self, "weight", (units, in_units), weight_initializer, dtype)
            if use_bias:
                self.bias = _deferred(self, "bias", (units,), bias_initializer, dtype)
            if activation is not None:
                self.act = Activation(activation, prefix=f"{activation}_")

    def __repr__(self) -> str:
        units, in_units = self.weight.shape or (0, 0)
        kind = self.act if self.act is not None else "linear"
        return f"{type(self).__name__}({in_units or None} -> {units}, {kind})"

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        """Multiply, add, activate."""
        result = functions(x).FullyConnected(
            x,
            weight,
            bias,
            num_hidden=self._units,
            no_bias=bias is None,
            flatten=self._flatten,
            name="fwd",
        )
        return result if self.act is None else self.act(result)


class Dropout(HybridBlock):
    """Zeroes elements at random in training, and makes the others larger by as much.

    Along ``axes`` all elements share one fate.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> nn.Dropout(0.5)(nd.ones((2,)))
    <BLANKLINE>
    [1. 1.]
    <NDArray 2 @cpu(0)>
    """

    def __init__(self, rate: float, axes: Shape = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= rate <= 1:
            raise ArrayValueError(f"[Dropout] rate is {rate}; it must be a number from 0 to 1")
        self._rate = rate
        self._axes = axes

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p = {self._rate}, axes={self._axes})"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Drop, if this is training."""
        ops = functions(x)
        if not self._rate:
            return ops.copy(x)
        return ops.Dropout(x, p=self._rate, axes=self._axes, cudnn_off=False, name="fwd")


class _Norm(HybridBlock):
    """What all normalisations share: a scale and a shift per channel."""

    gamma: Parameter
    beta: Parameter
    _axis: int
    _epsilon: float

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(eps={self._epsilon}, axis={self._axis}, "
            f"center={self._center}, scale={self._scale}, "
            f"in_channels={(self.gamma.shape or (0,))[0]})"
        )

    def _add_scale_and_shift(
        self, scale: bool, center: bool, gamma: Any, beta: Any, channels: int
    ) -> None:
        self._scale, self._center = scale, center
        self.gamma = self._vector("gamma", gamma, channels, scale)
        self.beta = self._vector("beta", beta, channels, center)

    def _vector(
        self, name: str, init: Any, channels: int, learnt: bool, **kwargs: Any
    ) -> Parameter:
        return self.params.get(
            name,
            grad_req="write" if learnt else "null",
            shape=(channels,),
            init=init,
            allow_deferred_init=True,
            **kwargs,
        )


class BatchNorm(_Norm):
    """Values minus their mean over the batch, by their standard deviation, scaled and shifted.

    The means and variances of the batches in training are averaged, with ``momentum`` for what was
    there before, and used in prediction, or always with ``use_global_stats``.

    >>> from afterglow import autograd, nd
    >>> from afterglow.gluon import nn
    >>> layer = nn.BatchNorm()
    >>> layer.initialize()
    >>> with autograd.record():
    ...     y = layer(nd.array([[1], [3]]))
    >>> layer.running_mean.data()
    <BLANKLINE>
    [0.2]
    <NDArray 1 @cpu(0)>
    """

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._axis = axis
        self._momentum = momentum
        self._epsilon = epsilon
        self._use_global_stats = use_global_stats
        self._add_scale_and_shift(scale, center, gamma_initializer, beta_initializer, in_channels)
        self.running_mean = self._vector(
            "running_mean", running_mean_initializer, in_channels, False, differentiable=False
        )
        self.running_var = self._vector(
            "running_var", running_variance_initializer, in_channels, False, differentiable=False
        )

    def __repr__(self) -> str:
        channels = (self.gamma.shape or (0,))[0]
        return (
            f"{type(self).__name__}(axis={self._axis}, eps={self._epsilon}, "
            f"momentum={self._momentum}, fix_gamma={not self._scale}, "
            f"use_global_stats={self._use_global_stats}, in_channels={channels or None})"
        )

    def cast(self, dtype: Any) -> None:
        """Change the type of the parameters, but not to float16: statistics need more."""
        super().cast("float32" if dtype_number(dtype) == FLOAT16 else dtype)

    def hybrid_forward(
        self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any
    ) -> Any:
        """Normalise with the statistics of the batch, or with those of earlier ones."""
        return functions(x).BatchNorm(
            x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs
        )

    @property
    def _kwargs(self) -> dict[str, Any]:
        """What the op is told; classes of other packages hand it on by this name."""
        return {
            "axis": self._axis,
            "eps": self._epsilon,
            "momentum": self._momentum,
            "fix_gamma": not self._scale,
            "use_global_stats": self._use_global_stats,
        }


class BatchNormReLU(BatchNorm):
    """Batch normalisation, with negative results replaced by 0.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> layer = nn.BatchNormReLU(epsilon=0)
    >>> layer.initialize()
    >>> layer(nd.array([[-1], [2]]))
    <BLANKLINE>
    [[0.]
     [2.]]
    <NDArray 2x1 @cpu(0)>
    """

    def hybrid_forward(
        self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any
    ) -> Any:
        """Normalise and activate."""
        return functions(x).BatchNormWithReLU(
            x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs
        )


class LayerNorm(_Norm):
    """Values minus their mean along an axis, by their standard deviation, scaled and shifted.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> layer = nn.LayerNorm()
    >>> layer.initialize()
    >>> layer(nd.array([[1, 3]]))
    <BLANKLINE>
    [[-0.999995  0.999995]]
    <NDArray 1x2 @cpu(0)>
    """

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._axis = axis
        self._epsilon = epsilon
        self._add_scale_and_shift(scale, center, gamma_initializer, beta_initializer, in_channels)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any) -> Any:
        """Normalise."""
        return functions(x).LayerNorm(x, gamma, beta, axis=self._axis, eps=self._epsilon)


class InstanceNorm(_Norm):
    """Values of each channel of each sample minus their mean, by their standard deviation.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> layer = nn.InstanceNorm()
    >>> layer.initialize()
    >>> layer(nd.array([[[1, 3]]]))
    <BLANKLINE>
    [[[-0.999995  0.999995]]]
    <NDArray 1x1x2 @cpu(0)>
    """

    def __init__(
        self,
        axis: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._axis = axis
        self._epsilon = epsilon
        self._add_scale_and_shift(scale, center, gamma_initializer, beta_initializer, in_channels)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any) -> Any:
        """Normalise."""
        moved = x if self._axis == 1 else x.swapaxes(1, self._axis)
        result = functions(x).InstanceNorm(moved, gamma, beta, name="fwd", eps=self._epsilon)
        return result if self._axis == 1 else result.swapaxes(1, self._axis)


class GroupNorm(_Norm):
    """Values of each group of channels of each sample minus their mean, by their deviation.

    As in MXNet there is one scale and one shift per group.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> layer = nn.GroupNorm(2)
    >>> layer.initialize()
    >>> layer(nd.array([[[1], [3], [5], [7]]])).reshape((4,))
    <BLANKLINE>
    [-0.999995  0.999995 -0.999995  0.999995]
    <NDArray 4 @cpu(0)>
    """

    def __init__(
        self,
        num_groups: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._num_groups = num_groups
        self._epsilon = epsilon
        self._add_scale_and_shift(scale, center, gamma_initializer, beta_initializer, num_groups)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(eps={self._epsilon}, num_groups={self._num_groups}, "
            f"center={self._center}, scale={self._scale})"
        )

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any) -> Any:
        """Normalise."""
        given = {"num_groups": self._num_groups, "eps": self._epsilon}
        return functions(x).GroupNorm(x, gamma, beta, **given)


class Embedding(HybridBlock):
    """A vector of ``output_dim`` numbers for each of ``input_dim`` indices.

    With ``sparse_grad`` the gradient of the weight is row_sparse: it has the rows that were looked
    up, and an update with "sgd", "adam", "adagrad" or "ftrl" changes those alone.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> layer = nn.Embedding(3, 2, weight_initializer="ones")
    >>> layer.initialize()
    >>> layer(nd.array([0, 2])).shape
    (2, 2)
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        sparse_grad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._input_dim = input_dim
        self._output_dim = output_dim
        self._dtype = dtype
        self._sparse_grad = sparse_grad
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            allow_deferred_init=True,
            grad_stype="row_sparse" if sparse_grad else "default",
        )

    def __repr__(self) -> str:
        kind = DTYPES[dtype_number(self._dtype)].name
        return f"{type(self).__name__}({self._input_dim} -> {self._output_dim}, {kind})"

    def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
        """Look the vectors up."""
        return functions(x).Embedding(
            x,
            weight,
            name="fwd",
            input_dim=self._input_dim,
            output_dim=self._output_dim,
            dtype=self._dtype,
            sparse_grad=self._sparse_grad,
        )


class Flatten(HybridBlock):
    """Makes one row of each sample.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> nn.Flatten()(nd.ones((2, 3, 4))).shape
    (2, 12)
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def __repr__(self) -> str:
        return type(self).__name__

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Merge all axes but the first."""
        return functions(x).Flatten(x)


def _find_function(name: str) -> Callable[..., Any]:
    """Return the function of that name, of the world that is switched on."""
    modules = (numpy, numpy_extension, ndarray) if is_np_array() else (ndarray,)
    found: Any
    for found in (getattr(module, name, None) for module in modules):
        if callable(found):
            return found  # type: ignore[no-any-return]
    raise AssertionError(f"Function name {name} is not found in ndarray.")


class _Calling(Block):
    """What both kinds of lambda layers share: a function, and the name that is printed."""

    def __init__(self, function: Any, prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        self._named = isinstance(function, str)
        if self._named:
            self._function, self._shown_name = _find_function(function), function
        elif callable(function):
            self._function = function
            self._shown_name = getattr(function, "__name__", str(function))
        else:
            raise ValueError(
                f"Unrecognized function in lambda: {function} of type {type(function)}"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._shown_name})"


class Lambda(_Calling):
    """Calls a function, given as such or by its name in ``mx.nd``.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> nn.Lambda("relu")(nd.array([-1, 2]))
    <BLANKLINE>
    [0. 2.]
    <NDArray 2 @cpu(0)>
    """

    def forward(self, *args: Any) -> Any:
        """Call the function."""
        return self._function(*args)


class HybridLambda(_Calling, HybridBlock):
    """Calls a function of ``F`` and the inputs, or the one of that name in ``mx.nd``.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> nn.HybridLambda(lambda F, x: F.square(x))(nd.array([-1, 2]))
    <BLANKLINE>
    [1. 4.]
    <NDArray 2 @cpu(0)>
    """

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
        """Call the function."""
        if not self._named:
            return self._function(F, x, *args)
        function = getattr(F, self._shown_name) if isinstance(x, Symbol) else self._function
        return function(x, *args)
