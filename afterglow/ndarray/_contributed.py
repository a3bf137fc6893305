# SPDX-License-Identifier: Apache-2.0
"""Functions of ``nd.contrib`` over lists of arrays, over draws, and those that NumPy computes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._core import operation
from .._interoperation.host_calls import Host, Spec, declare_host
from .._mathematics.gradients import Rule
from ..error import ArrayValueError
from . import _ops
from ._arguments import need

if TYPE_CHECKING:
    from ..context import Context
    from .ndarray import NDArray

__all__ = [
    "fft",
    "ifft",
    "multi_adamw_update",
    "multi_lamb_update",
    "multi_mp_adamw_update",
    "multi_mp_lamb_update",
    "rand_zipfian",
]


# --- transforms ---


def _transformed(a: Host) -> Host:
    """Return real and imaginary parts in turn."""
    found = onp.fft.fft(a)
    return onp.stack([found.real, found.imag], axis=-1).reshape(*a.shape[:-1], -1).astype(a.dtype)


def _transformed_back(a: Host) -> Host:
    """Return the real parts of what such numbers are transforms of, times their count."""
    pairs = a.reshape(*a.shape[:-1], -1, 2)
    found: Host = onp.fft.ifft(pairs[..., 0] + 1j * pairs[..., 1]).real * pairs.shape[-2]
    return found.astype(a.dtype)


def _cost(a: Spec) -> float:
    return 5e3 + 50.0 * math.prod(a.shape)


#: Each is the other's gradient: both are linear, and one is the transpose of the other.
_forward = declare_host(
    "fft",
    infer=lambda a: Spec((*a.shape[:-1], 2 * a.shape[-1]), a.dtype),
    gradient=[Rule(lambda c, g: _backward(g))],
    cost=_cost,
)(_transformed)
_backward: Any = declare_host(
    "ifft",
    infer=lambda a: Spec((*a.shape[:-1], a.shape[-1] // 2), a.dtype),
    gradient=[Rule(lambda c, g: _forward(g))],
    cost=_cost,
)(_transformed_back)


def _rows(op: str, data: NDArray) -> NDArray:
    if need(data).ndim not in (2, 4) or not onp.issubdtype(data.dtype, onp.floating):
        raise ArrayValueError(f"[{op}] needs reals of 2 or 4 dimensions, not {data.shape}")
    return data


def fft(
    data: NDArray, compute_size: int = 128, out: Any = None, name: str | None = None
) -> NDArray:
    """Return Fourier transforms along the last axis: real and imaginary parts in turn.

    >>> from afterglow import nd
    >>> nd.contrib.fft(nd.array([[1, 0, 0]])).asnumpy().tolist()
    [[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]]
    """
    result: NDArray = _forward(_rows("fft", data))
    return result if out is None else operation("copy", True)(result, out=out)


def ifft(
    data: NDArray, compute_size: int = 128, out: Any = None, name: str | None = None
) -> NDArray:
    """Return the real parts of inverse transforms, times their length.

    >>> from afterglow import nd
    >>> nd.contrib.ifft(nd.contrib.fft(nd.array([[1, 2, 3]]))).asnumpy().round(3).tolist()
    [[3.0, 6.0, 9.0]]
    """
    if _rows("ifft", data).shape[-1] % 2:
        raise ArrayValueError(f"[ifft] needs pairs along the last axis, not {data.shape}")
    result: NDArray = _backward(data)
    return result if out is None else operation("copy", True)(result, out=out)


# --- draws ---


def rand_zipfian(
    true_classes: NDArray, num_sampled: int, range_max: int, ctx: Context | None = None
) -> tuple[NDArray, NDArray, NDArray]:
    """Return classes drawn by Zipf's law, and how often true and drawn ones are expected.

    >>> from afterglow import nd
    >>> drawn, true_count, drawn_count = nd.contrib.rand_zipfian(nd.array([3]), 4, 5)
    >>> drawn.shape, true_count.asnumpy().round(4).tolist()
    ((4,), [0.4982])
    """
    need(true_classes, "true_classes")
    if not isinstance(range_max, int) or range_max < 1 or range_max >= 2**63:
        raise ArrayValueError(f"[rand_zipfian] range_max must be from 1 to 2**63 - 1: {range_max}")
    whole = math.log(range_max + 1)
    chances = _ops.random_uniform(0, whole, shape=(num_sampled,), dtype="float64", ctx=ctx)
    drawn = (chances.exp() - 1).astype("int64") % range_max

    def expected(classes: NDArray) -> Any:
        number = classes.astype("float64")
        return ((number + 2) / (number + 1)).log() / whole * num_sampled

    return drawn, expected(true_classes.as_in_context(drawn.context)), expected(drawn)


# --- steps of many weights ---


def _in_turn(*lists: Sequence[NDArray]) -> list[NDArray]:
    """Return the first of each list, then the second of each and so on."""
    if len({len(one) for one in lists}) != 1:
        raise ArrayValueError(f"lists of {[len(one) for one in lists]} arrays; as many are needed")
    return [array for row in zip(*lists, strict=True) for array in row]


def multi_adamw_update(
    weights: Sequence[NDArray],
    grads: Sequence[NDArray],
    mean: Sequence[NDArray],
    var: Sequence[NDArray],
    rescale_grad: Any,
    lrs: Any,
    wds: Any,
    etas: Any,
    out: Any = None,
    name: str | None = None,
    size: int = 0,
    **kwargs: Any,
) -> Any:
    """Return weights after steps of AdamW; see ``adamw_update``."""
    data = _in_turn(weights, grads, mean, var)
    return _adamw(
        "_multi_adamw_update", data, len(weights), rescale_grad, lrs, wds, etas, out, kwargs
    )


def multi_mp_adamw_update(
    weights: Sequence[NDArray],
    grads: Sequence[NDArray],
    mean: Sequence[NDArray],
    var: Sequence[NDArray],
    weights32: Sequence[NDArray],
    rescale_grad: Any,
    lrs: Any,
    wds: Any,
    etas: Any,
    out: Any = None,
    name: str | None = None,
    size: int = 0,
    **kwargs: Any,
) -> Any:
    """Return weights of two precisions after steps of AdamW; see ``adamw_update``."""
    data = _in_turn(weights, grads, mean, var, weights32)
    return _adamw(
        "_multi_mp_adamw_update", data, len(weights), rescale_grad, lrs, wds, etas, out, kwargs
    )


def _adamw(
    op: str,
    data: list[NDArray],
    count: int,
    factor: Any,
    lrs: Any,
    wds: Any,
    etas: Any,
    out: Any,
    kwargs: dict[str, Any],
) -> Any:
    if not hasattr(factor, "shape"):
        from .creation import full

        factor = full((1,), factor, dtype="float32", ctx=data[0].context)
    rates = {"lrs": tuple(lrs), "wds": tuple(wds), "etas": tuple(etas)}
    return operation(op, True)([*data, factor], **rates, num_weights=count, out=out, **kwargs)


def multi_lamb_update(
    weights: Sequence[NDArray],
    grads: Sequence[NDArray],
    mean: Sequence[NDArray],
    var: Sequence[NDArray],
    step_count: Any,
    lrs: Any,
    wds: Any,
    out: Any = None,
    num_tensors: int = 0,
    **kwargs: Any,
) -> Any:
    """Return weights after steps of LAMB, of which each has its number."""
    data = _in_turn(weights, grads, mean, var)
    return _lamb("_multi_lamb_update", data, len(weights), step_count, lrs, wds, out, kwargs)


def multi_mp_lamb_update(
    weights: Sequence[NDArray],
    grads: Sequence[NDArray],
    mean: Sequence[NDArray],
    var: Sequence[NDArray],
    weights32: Sequence[NDArray],
    step_count: Any,
    lrs: Any,
    wds: Any,
    out: Any = None,
    num_tensors: int = 0,
    **kwargs: Any,
) -> Any:
    """Return weights of two precisions after steps of LAMB."""
    data = _in_turn(weights, grads, mean, var, weights32)
    return _lamb("_multi_mp_lamb_update", data, len(weights), step_count, lrs, wds, out, kwargs)


def _lamb(
    op: str,
    data: list[NDArray],
    count: int,
    steps: Any,
    lrs: Any,
    wds: Any,
    out: Any,
    kwargs: dict[str, Any],
) -> Any:
    rates = {"learning_rates": tuple(lrs), "wds": tuple(wds), "step_count": tuple(steps)}
    return operation(op, True)(data, **rates, num_tensors=count, out=out, **kwargs)
