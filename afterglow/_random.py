# SPDX-License-Identifier: Apache-2.0
"""Random numbers for ``nd`` and ``np``: the distributions, whatever their arguments are called.

Parameters are numbers, or arrays that broadcast to the shape of the result. What has no kernel of
its own is composed of draws that have one, in float64 if the result is, else in float32.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from ._core import Array, Operation, operation
from ._dtype import FLOAT32, FLOAT64, FLOATING, TYPES
from ._shapes import Shape, as_float
from .error import ArrayTypeError, ArrayValueError


class Target(NamedTuple):
    """What is drawn: shape, type and place of the result."""

    shape: Shape
    dtype: int
    context: tuple[int, int]
    out: Any = None

    def check(self, name: str) -> Target:
        """Refuse types that are not floating."""
        if self.dtype not in FLOATING:
            raise ArrayTypeError(
                f"[{name}] gives float16, float32 or float64, not {TYPES[self.dtype].__name__}"
            )
        return self

    @property
    def work(self) -> int:
        """The type in which compositions are computed."""
        return FLOAT64 if self.dtype == FLOAT64 else FLOAT32


class Draws:
    """The distributions, answering as ``nd`` (legacy) or as ``np``."""

    def __init__(self, legacy: bool) -> None:
        self._uniform = operation("random_uniform", legacy)
        self._normal = operation("random_normal", legacy)
        self._exponential = operation("random_exponential", legacy)
        self._gamma = operation("random_gamma", legacy)
        self._poisson = operation("random_poisson", legacy)
        self._check = operation("check_parameter", legacy)
        self._copy = operation("copy", legacy)
        self._log = operation("log", legacy)
        self._exp = operation("exp", legacy)
        self._sqrt = operation("sqrt", legacy)
        self._power = operation("power", legacy)
        self._maximum = operation("maximum", legacy)
        self._less = operation("less", legacy)
        self.randint = operation("random_randint", legacy)

    # --- parameters ---

    def at_least(
        self,
        value: Any,
        lowest: float,
        name: str,
        what: str,
        strict: bool = False,
        highest: float = inf,
    ) -> Any:
        """Return a parameter that must not be less than a bound, nor greater than another.

        A number is refused at once; the elements of an array are looked at when it is computed.
        """
        if isinstance(value, Array):
            wide = self._copy(value, dtype=FLOAT64)
            return self._check(wide, float(lowest), strict, float(highest))
        value = as_float(value, f"[{name}] {what}")
        if value < lowest or value > highest or (strict and value == lowest):
            bound = f"greater than {lowest}" if strict else f"at least {lowest}"
            limit = "" if highest == inf else f" and at most {highest}"
            raise ArrayValueError(f"[{name}] {what} is {value}; it must be {bound}{limit}")
        return value

    def _typed(self, value: Any, number: int) -> Any:
        if isinstance(value, Array) and value._dtype_number != number:
            return self._copy(value, dtype=number)
        return value

    # --- results ---

    def _finish(self, result: Any, target: Target) -> Any:
        """Return a composition in the type that was asked for, in ``out`` if there is one."""
        if target.out is None and result._dtype_number == target.dtype:
            return result
        return self._copy(result, dtype=target.dtype, out=target.out)

    def _shifted(self, standard: Any, scale: Any, loc: Any, target: Target) -> Any:
        """Return ``standard * scale + loc``; all that is neutral is left out."""
        if isinstance(scale, Array) or scale != 1:
            standard = standard * self._typed(scale, target.work)
        if isinstance(loc, Array) or loc != 0:
            standard = standard + self._typed(loc, target.work)
        return self._finish(standard, target)

    # --- distributions that have a kernel ---

    def uniform(self, low: Any, high: Any, target: Target) -> Any:
        """From ``low`` up to, not including, ``high``."""
        if target.dtype != FLOAT32:
            target.check("random_uniform")
        if not isinstance(low, Array) and not isinstance(high, Array):
            return self._fill(self._uniform, (low, high), target)
        low, high = self._typed(low, target.work), self._typed(high, target.work)
        unit = self._uniform(0.0, 1.0, target.shape, target.work, ctx=target.context)
        return self._shifted(unit, high - low, low, target)

    def normal(self, loc: Any, scale: Any, target: Target) -> Any:
        """Mean ``loc`` and standard deviation ``scale``."""
        if target.dtype != FLOAT32:
            target.check("random_normal")
        if not isinstance(loc, Array) and not isinstance(scale, Array):
            return self._fill(self._normal, (loc, scale), target)
        standard = self._normal(0.0, 1.0, target.shape, target.work, ctx=target.context)
        return self._shifted(standard, scale, loc, target)

    def exponential(self, scale: Any, target: Target) -> Any:
        """Mean ``scale``."""
        target.check("random_exponential")
        if not isinstance(scale, Array):
            return self._fill(self._exponential, (scale,), target)
        return self._shifted(self._standard_exponential(target), scale, 0, target)

    def _standard_exponential(self, target: Target) -> Any:
        return self._exponential(1.0, target.shape, target.work, ctx=target.context)

    def _fill(self, call: Operation, parameters: tuple[Any, ...], target: Target) -> Any:
        numbers = [as_float(one, f"[{call.name}] a parameter") for one in parameters]
        shape, dtype, context, out = target
        return call(*numbers, shape, dtype, ctx=context, out=out)

    def gamma(self, shape: Any, scale: Any, target: Target) -> Any:
        """Mean ``shape * scale``."""
        target.check("random_gamma")
        return self._shifted(
            self._sample(self._gamma, shape, target, target.work), scale, 0, target
        )

    def poisson(self, lam: Any, target: Target) -> Any:
        """Whole numbers of mean ``lam``."""
        target.check("random_poisson")
        return self._finish(self._sample(self._poisson, lam, target, target.dtype), target)

    def _sample(self, call: Operation, parameter: Any, target: Target, dtype: int) -> Any:
        if not isinstance(parameter, Array):
            return call(
                as_float(parameter, f"[{call.name}] a parameter"),
                target.shape,
                dtype,
                ctx=target.context,
            )
        # The kernel takes one parameter for each element.
        return call(self._copy(parameter, dtype=FLOAT64, shape=target.shape), dtype=dtype)

    # --- compositions ---

    def negative_binomial(self, k: Any, p: Any, target: Target) -> Any:
        """Failures before the ``k``-th success, where a trial succeeds with probability ``p``."""
        k, p = self._typed(k, FLOAT64), self._typed(p, FLOAT64)
        mean = self._sample(self._gamma, k, target, FLOAT64) * ((1 - p) / p)
        return self.poisson(mean, target)

    def generalized_negative_binomial(self, mu: Any, alpha: Any, target: Target) -> Any:
        """Mean ``mu`` and variance ``mu + alpha * mu**2``."""
        if not isinstance(alpha, Array):
            alpha = as_float(alpha, "[random_generalized_negative_binomial] alpha")
            if alpha == 0:
                return self.poisson(mu, target)
        else:
            # So little dispersion cannot be told from none.
            alpha = self._maximum(self._typed(alpha, FLOAT64), 1e-9)
        if not isinstance(mu, Array):
            mu = as_float(mu, "[random_generalized_negative_binomial] mu")
        spread = self._sample(self._gamma, 1 / alpha, target, FLOAT64)
        return self.poisson(spread * (alpha * self._typed(mu, FLOAT64)), target)

    def beta(self, a: Any, b: Any, target: Target) -> Any:
        """On (0, 1), with mean ``a / (a + b)``."""
        target.check("random_beta")
        first = self._sample(self._gamma, a, target, FLOAT64)
        second = self._sample(self._gamma, b, target, FLOAT64)
        return self._finish(first / (first + second), target)

    def f(self, dfnum: Any, dfden: Any, target: Target) -> Any:
        """The ratio of two mean squares."""
        above = self._sample(self._gamma, dfnum / 2, target, FLOAT64)
        below = self._sample(self._gamma, dfden / 2, target, FLOAT64)
        ratio = self._typed(dfden, FLOAT64) / self._typed(dfnum, FLOAT64)
        return self._finish(above / below * ratio, target)

    def lognormal(self, mean: Any, sigma: Any, target: Target) -> Any:
        """The exponential of normally distributed numbers."""
        normal = self.normal(mean, sigma, target._replace(dtype=target.work, out=None))
        return self._finish(self._exp(normal), target.check("random_lognormal"))

    def logistic(self, loc: Any, scale: Any, target: Target) -> Any:
        """The logarithm of the ratio of two exponential numbers."""
        above, below = self._standard_exponential(target), self._standard_exponential(target)
        return self._shifted(self._log(above / below), scale, loc, target)

    def gumbel(self, loc: Any, scale: Any, target: Target) -> Any:
        """The limit of the greatest of many numbers."""
        return self._shifted(-self._log(self._standard_exponential(target)), scale, loc, target)

    def laplace(self, loc: Any, scale: Any, target: Target) -> Any:
        """The difference of two exponential numbers."""
        left, right = self._standard_exponential(target), self._standard_exponential(target)
        return self._shifted(left - right, scale, loc, target.check("random_laplace"))

    def rayleigh(self, scale: Any, target: Target) -> Any:
        """The length of a vector of two normal numbers."""
        return self._shifted(self._sqrt(self._standard_exponential(target) * 2), scale, 0, target)

    def weibull(self, a: Any, target: Target) -> Any:
        """A power of an exponential number."""
        inverse = self._typed(1 / a, target.work)
        return self._finish(self._power(self._standard_exponential(target), inverse), target)

    def pareto(self, a: Any, target: Target) -> Any:
        """The tail ``(1 + x)**-a``."""
        tail = self._exp(self._standard_exponential(target) / self._typed(a, target.work))
        return self._finish(tail - 1, target)

    def power(self, a: Any, target: Target) -> Any:
        """Density ``a * x**(a - 1)`` on (0, 1)."""
        tail = self._exp(-self._standard_exponential(target) / self._typed(a, target.work))
        return self._finish(tail, target)

    def bernoulli(self, probability: Any, target: Target) -> Any:
        """1 with a probability, else 0."""
        unit = self._uniform(0.0, 1.0, target.shape, FLOAT32, ctx=target.context)
        return self._finish(self._less(unit, self._typed(probability, FLOAT32)), target)
