# SPDX-License-Identifier: Apache-2.0
"""Activation layers."""

from __future__ import annotations

from typing import Any

from ... import initializer
from .._functions import functions
from ..block import HybridBlock

__all__ = ["ELU", "GELU", "SELU", "Activation", "LeakyReLU", "PReLU", "Swish"]


class Activation(HybridBlock):
    """relu, sigmoid, tanh, softrelu or softsign of each element.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> nn.Activation("relu")(nd.array([-1, 2]))
    <BLANKLINE>
    [0. 2.]
    <NDArray 2 @cpu(0)>
    """

    def __init__(self, activation: str, **kwargs: Any) -> None:
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._act_type})"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Apply the function."""
        return functions(x).Activation(x, act_type=self._act_type, name="fwd")


class LeakyReLU(HybridBlock):
    """The elements, negative ones times ``alpha``.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> nn.LeakyReLU(0.5)(nd.array([-1, 2]))
    <BLANKLINE>
    [-0.5  2. ]
    <NDArray 2 @cpu(0)>
    """

    def __init__(self, alpha: float, **kwargs: Any) -> None:
        assert alpha >= 0, "Slope coefficient for LeakyReLU must be no less than 0."
        super().__init__(**kwargs)
        self._alpha = alpha

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._alpha})"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Apply the function."""
        return functions(x).LeakyReLU(x, act_type="leaky", slope=self._alpha, name="fwd")


class PReLU(HybridBlock):
    """The elements, negative ones times a slope that is learnt: one, or one per channel.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> layer = nn.PReLU()
    >>> layer.initialize()
    >>> layer(nd.array([-1, 2]))
    <BLANKLINE>
    [-0.25  2.  ]
    <NDArray 2 @cpu(0)>
    """

    def __init__(
        self,
        alpha_initializer: Any = initializer.Constant(0.25),  # noqa: B008
        in_channels: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.alpha = self.params.get("alpha", shape=(in_channels,), init=alpha_initializer)

    def hybrid_forward(self, F: Any, x: Any, alpha: Any) -> Any:
        """Apply the function."""
        return functions(x).LeakyReLU(x, gamma=alpha, act_type="prelu", name="fwd")


class ELU(HybridBlock):
    """The elements, negative ones as ``alpha * (exp(x) - 1)``.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> nn.ELU()(nd.array([-1, 2]))
    <BLANKLINE>
    [-0.63212055  2.        ]
    <NDArray 2 @cpu(0)>
    """

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Apply the function."""
        return functions(x).LeakyReLU(x, act_type="elu", slope=self._alpha)


class _Fixed(HybridBlock):
    """A function of each element that has no parameters."""

    _act_type: str

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Apply the function."""
        return functions(x).LeakyReLU(x, act_type=self._act_type, name="fwd")


class SELU(_Fixed):
    """ELU, scaled so that activations keep mean 0 and variance 1 from layer to layer.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> nn.SELU()(nd.array([-1, 2]))
    <BLANKLINE>
    [-1.1113307  2.101402 ]
    <NDArray 2 @cpu(0)>
    """

    _act_type = "selu"


class GELU(_Fixed):
    """Each element times the probability that a normal variable is smaller.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> nn.GELU()(nd.array([0, 20]))
    <BLANKLINE>
    [ 0. 20.]
    <NDArray 2 @cpu(0)>
    """

    _act_type = "gelu"


class Swish(HybridBlock):
    """Each element times the sigmoid of ``beta`` times itself.

    >>> from afterglow import nd
    >>> from afterglow.gluon import nn
    >>> nn.Swish()(nd.array([0, 20]))
    <BLANKLINE>
    [ 0. 20.]
    <NDArray 2 @cpu(0)>
    """

    def __init__(self, beta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._beta = beta

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Apply the function."""
        return x * functions(x).sigmoid(x * self._beta, name="fwd")
