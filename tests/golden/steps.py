# SPDX-License-Identifier: Apache-2.0
"""Calls of steps of optimizers, densities, columns and regions, the same for MXNet and for us."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp

#: By op: how many states it has, and the parameters of calls.
STEPS: dict[str, tuple[int, list[dict[str, Any]]]] = {
    "sgd_update": (0, [{}, {"wd": 0.1, "rescale_grad": 0.5, "clip_gradient": 0.3}]),
    "sgd_mom_update": (1, [{"momentum": 0.9}, {"momentum": 0.5, "wd": 0.1, "clip_gradient": 0.3}]),
    "nag_mom_update": (1, [{"momentum": 0.9}, {"momentum": 0.5, "wd": 0.1, "clip_gradient": 0.3}]),
    "signsgd_update": (0, [{}, {"wd": 0.1}]),
    "signum_update": (1, [{"momentum": 0.9}, {"momentum": 0.5, "wd": 0.1, "wd_lh": 0.2}]),
    "adam_update": (2, [{}, {"beta1": 0.8, "wd": 0.1, "rescale_grad": 2, "clip_gradient": 0.3}]),
    "rmsprop_update": (1, [{}, {"gamma1": 0.8, "wd": 0.1, "clip_weights": 0.4}]),
    "rmspropalex_update": (3, [{}, {"gamma1": 0.8, "gamma2": 0.5, "wd": 0.1, "clip_weights": 0.4}]),
    "ftrl_update": (2, [{}, {"lamda1": 0.3, "beta": 0.5, "wd": 0.1, "clip_gradient": 0.3}]),
    "ftml_update": (3, [{"t": 1}, {"t": 3, "wd": 0.1, "clip_grad": 0.3}]),
}


def numbers(*shape: int, start: int = 0) -> Any:
    """Return numbers of both signs, none of them twice."""
    return onp.sin(onp.arange(start, start + int(onp.prod(shape))) * 1.7 + 0.3).reshape(shape)


def positive(*shape: int, start: int = 0) -> Any:
    """Return numbers between 0.2 and 2.2."""
    return numbers(*shape, start=start) + 1.2


def _steps(nd: Any) -> dict[str, list[Any]]:
    """Return weights and states after two steps."""
    found = {}
    for name, (count, calls) in STEPS.items():
        for number, given in enumerate(calls):
            weight = nd.array(numbers(4, 2))
            states = [nd.array(numbers(4, 2, start=9 + i) ** 2) for i in range(count)]
            if name == "rmspropalex_update":  # the mean square is no less than the mean's
                states[0] += 2
            for step in range(2):
                gradient = nd.array(numbers(4, 2, start=20 + step))
                getattr(nd, name)(weight, gradient, *states, out=weight, lr=0.1, **given)
            found[f"{name} {number}"] = [weight, *states]
    return found


def _half(nd: Any, start: int) -> Any:
    return nd.array(numbers(3, start=start), dtype="float16")


def _mixed_steps(nd: Any) -> dict[str, list[Any]]:
    found = {}
    for name, has_momentum in [
        ("mp_sgd_update", False),
        ("mp_sgd_mom_update", True),
        ("mp_nag_mom_update", True),
    ]:
        weight, gradient = _half(nd, 0), _half(nd, 5)
        master = weight.astype("float32")
        states = [nd.array(numbers(3, start=7))] if has_momentum else []
        given = {"momentum": 0.9} if has_momentum else {}
        function = getattr(nd, name)
        function(weight, gradient, *states, master, out=weight, lr=0.1, wd=0.1, **given)
        found[name] = [weight, *states, master]
    return found


def _lamb(nd: Any) -> dict[str, list[Any]]:
    found = {}
    for prefix in ("", "mp_"):
        weight, gradient = _half(nd, 0), _half(nd, 5)
        master = weight.astype("float32")
        if not prefix:
            weight, gradient = master, gradient.astype("float32")
        more = [master] if prefix else []
        mean, var = nd.array(numbers(3, start=7)), nd.array(positive(3))
        phases = [getattr(nd, f"{prefix}lamb_update_phase{one}") for one in (1, 2)]
        direction = phases[0](weight, gradient, mean, var, *more, wd=0.1, t=2, clip_gradient=0.5)
        norms = [one.astype("float32").norm().reshape((1,)) for one in (master, direction)]
        phases[1](weight, direction, *norms, *more, lr=0.1, upper_bound=1.0, out=weight)
        found[f"{prefix}lamb"] = [direction, weight, mean, var]
    return found


def _many(nd: Any) -> dict[str, list[Any]]:
    shapes = [(2,), (2, 3)]
    rates: dict[str, Any] = {"lrs": (0.1, 0.2), "wds": (0.0, 0.1)}

    def arrays(start: int, kind: str = "float32") -> list[Any]:
        return [nd.array(numbers(*one, start=start), dtype=kind) for one in shapes]

    def in_turn(*lists: list[Any]) -> list[Any]:
        return [one for row in zip(*lists, strict=True) for one in row]

    found = {}
    for prefix, kind in (("", "float32"), ("mp_", "float16")):
        for middle in ("", "mom_"):
            for loaded in (False, True):
                weights, grads, moms = arrays(0, kind), arrays(5, kind), arrays(9)
                masters = [one.astype("float32") for one in weights]
                lists = [
                    weights,
                    grads,
                    *([moms] if middle else []),
                    *([masters] if prefix else []),
                ]
                given: dict[str, Any] = {"momentum": 0.9} if middle else {}
                data = in_turn(*lists)
                name = f"multi_{prefix}sgd_{middle}update"
                if loaded:
                    name = f"preloaded_{name}"
                    data += [nd.array(rates["lrs"]), nd.array(rates["wds"])]
                else:
                    given |= rates
                getattr(nd, name)(*data, num_weights=2, out=weights, clip_gradient=0.5, **given)
                found[name] = [*weights, *moms, *masters]
        squares = [one**2 for one in arrays(11)]
        weights, grads, means = arrays(0, kind), arrays(5, kind), arrays(9)
        masters = [one.astype("float32") for one in weights]
        more = [masters] if prefix else []
        function = getattr(nd.contrib, f"multi_{prefix}adamw_update")
        lists = [weights, grads, means, squares, *more]
        factor = nd.array([0.5])
        function(*lists, factor, (0.1, 0.2), (0.0, 0.1), (1.0, 0.5), out=weights, size=2)
        found[f"multi_{prefix}adamw"] = [*weights, *means, *squares]
        function(*lists, nd.array([float("nan")]), (1, 1), (0, 0), (1, 1), out=weights, size=2)
        found[f"multi_{prefix}adamw, skipped"] = [*weights, *means, *squares]
        function = getattr(nd.contrib, f"multi_{prefix}lamb_update")
        function(*lists, (1, 2), (0.1, 0.2), (0.0, 0.1), out=weights, num_tensors=2)
        found[f"multi_{prefix}lamb"] = [*weights, *means, *squares]
    sums = [nd.multi_sum_sq(*arrays(start), num_arrays=2) for start in (0, 5)]
    lars = nd.multi_lars(nd.array([0.1, 0.2]), *sums, nd.array([0, 0.1]), eta=0.1, eps=1e-6)
    found["lars"] = [*sums, lars]
    return found


def _gradients(mx: Any, function: Callable[..., Any], inputs: list[Any]) -> list[Any]:
    """Return the result and the gradients of all inputs."""
    arrays = [mx.nd.array(one) for one in inputs]
    for one in arrays:
        one.attach_grad()
    with mx.autograd.record():
        result = function(*arrays)
    result.backward(mx.nd.array(numbers(*result.shape, start=3)))
    return [result, *(one.grad for one in arrays)]


def _with_gradients(mx: Any) -> dict[str, list[Any]]:
    nd, found = mx.nd, {}
    counts = onp.arange(6).reshape((2, 3))
    shares = positive(2, 3, 4) / positive(2, 3, 4).sum(axis=-1, keepdims=True)
    one, other, chance = positive(2), positive(2, start=4), positive(2) / 3
    densities: dict[str, list[Any]] = {
        "uniform": [positive(2, 3), one, one + other],
        "normal": [numbers(2, 3), numbers(2), one],
        "gamma": [positive(2, 3), one, other],
        "exponential": [positive(2, 3), one],
        "poisson": [counts, one],
        "negative_binomial": [counts, one, chance],
        "generalized_negative_binomial": [counts, one, other],
        "dirichlet": [shares, positive(2, 4)],
    }
    for name, inputs in densities.items():
        for is_log in (False, True):
            function = getattr(nd, f"random_pdf_{name}")
            answers = _gradients(mx, lambda *given: function(*given, is_log=is_log), inputs)  # noqa: B023
            found[f"random_pdf_{name}, is_log={is_log}"] = answers
    windows: dict[str, Any] = {"kernel": (2, 3), "stride": (2, 1), "dilate": (1, 2), "pad": (1, 2)}
    images = numbers(2, 2, 5, 6)
    found["im2col"] = _gradients(mx, lambda x: nd.im2col(x, **windows), [images])
    columns = numbers(2, 12, 18)
    found["col2im"] = _gradients(
        mx, lambda x: nd.col2im(x, output_size=(5, 6), **windows), [columns]
    )
    found["quadratic"] = _gradients(mx, lambda x: nd.contrib.quadratic(x, a=2, b=3, c=4), [images])
    rois = nd.array([[0, 1, 1, 6, 8], [1, 0, 2, 9, 9], [0, 3, 3, 3, 3]])
    found["PSROIPooling"] = _gradients(
        mx,
        lambda x: nd.contrib.PSROIPooling(x, rois, 0.5, output_dim=2, pooled_size=3, group_size=2),
        [numbers(2, 8, 6, 6)],
    )
    turned = nd.array([[0, 4, 4, 5, 3, 30], [1, 6, 5, 8, 4, -70], [0, 1, 1, 9, 9, 45]])
    for samples in (2, -1):
        found[f"RROIAlign {samples}"] = [
            nd.contrib.RROIAlign(
                nd.array(images), turned, (2, 3), spatial_scale=0.5, sampling_ratio=samples
            )
        ]
    return found


def answers(mx: Any) -> dict[str, list[Any]]:
    """Return all arrays, by what was called."""
    found = {**_steps(mx.nd), **_mixed_steps(mx.nd), **_lamb(mx.nd), **_many(mx.nd)}
    return {
        name: [one.asnumpy().astype("float64").ravel().round(6).tolist() for one in arrays]
        for name, arrays in {**found, **_with_gradients(mx)}.items()
    }
