# SPDX-License-Identifier: Apache-2.0
"""The activations that ``nd`` and ``npx`` choose by name."""

from __future__ import annotations

from typing import Any

from ._core import operation
from ._shapes import Shape
from .error import ArrayValueError

#: Of the scaled exponential linear unit: it keeps mean 0 and variance 1.
_SELU_SLOPE = 1.6732632423543772
_SELU_SCALE = 1.0507009873554805


class Activations:
    """The activations, answering as ``nd`` (legacy) or as ``np``."""

    def __init__(self, *, legacy: bool) -> None:
        names = ("relu", "sigmoid", "softrelu", "softsign", "tanh")
        self._plain = {name: operation(name, legacy) for name in names}
        self._leaky = operation("leaky_relu", legacy)
        self._elu = operation("elu", legacy)
        self._gelu = operation("gelu", legacy)
        self._multiply = operation("multiply", legacy)

    def activate(self, name: str, data: Any, act_type: str | None, out: Any) -> Any:
        """Return an activation without parameters."""
        call = self._plain.get(act_type or "")
        if call is None:
            raise ArrayValueError(
                f"[{name}] act_type is {act_type!r}; there are {', '.join(sorted(self._plain))}"
            )
        return call(data, out=out)

    def leak(
        self,
        name: str,
        data: Any,
        gamma: Any,
        act_type: str,
        slope: float,
        bounds: tuple[float, float],
        out: Any,
    ) -> Any:
        """Return a variant of the rectifier that lets something of negative numbers through."""
        if (gamma is None) == (act_type == "prelu"):
            raise ArrayValueError(f"[{name}] takes gamma with act_type 'prelu', and only then")
        if act_type == "leaky":
            return self._leaky(data, slope, out=out)
        if act_type == "elu":
            return self._elu(data, slope, out=out)
        if act_type == "selu":
            return self._multiply(self._elu(data, _SELU_SLOPE), _SELU_SCALE, out=out)
        if act_type == "gelu":
            return self._gelu(data, out=out)
        if act_type == "prelu":
            return self._leaky(data, _along_axis_1(name, gamma, data.shape), out=out)
        if act_type == "rrelu":
            mean = (bounds[0] + bounds[1]) / 2
            return [self._leaky(data, mean, out=out), data._filled_like(0)]
        raise ArrayValueError(
            f"[{name}] act_type is {act_type!r}; there are elu, gelu, leaky, prelu, rrelu, selu"
        )


def _along_axis_1(name: str, gamma: Any, shape: Shape) -> Any:
    """Return one slope for all, or a view with one for each index of axis 1."""
    if gamma.size == 1:
        return gamma._shaped((1,) * len(shape))
    axis = min(1, len(shape) - 1)
    if len(gamma.shape) != 1 or gamma.size != shape[axis]:
        raise ArrayValueError(
            f"[{name}] gamma has shape {gamma.shape}, data {shape}; gamma needs one element, or as "
            f"many as axis {axis}"
        )
    return gamma._shaped((gamma.size,) + (1,) * (len(shape) - axis - 1))
