# SPDX-License-Identifier: Apache-2.0
"""Checks of random generators against the distribution they should have."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from .comparing import host

__all__ = [
    "chi_square_check",
    "gen_buckets_probs_with_ppf",
    "mean_check",
    "var_check",
    "verify_generator",
]

Generator = Callable[[int], Any]


def gen_buckets_probs_with_ppf(
    ppf: Callable[[float], float], nbuckets: int
) -> tuple[list[tuple[float, float]], list[float]]:
    """Return intervals of equal probability of a distribution, and their probabilities.

    >>> from afterglow import test_utils
    >>> test_utils.gen_buckets_probs_with_ppf(lambda share: 2 * share, 2)
    ([(0.0, 1.0), (1.0, 2.0)], [0.5, 0.5])
    """
    ends = [ppf(number / nbuckets) for number in range(nbuckets + 1)]
    return list(itertools.pairwise(ends)), [1 / nbuckets] * nbuckets


def mean_check(generator: Generator, mu: float, sigma: float, nsamples: int = 1000000) -> bool:
    """Tell whether the mean of samples is within three standard errors of the expected one."""
    mean = host(generator(nsamples)).mean()
    return bool(abs(mean - mu) < 3 * sigma / math.sqrt(nsamples))


def var_check(generator: Generator, sigma: float, nsamples: int = 1000000) -> bool:
    """Tell whether the variance of samples is within three standard errors of the expected one."""
    variance = host(generator(nsamples)).var(ddof=1)
    return bool(abs(variance - sigma**2) < 3 * math.sqrt(2 * sigma**4 / (nsamples - 1)))


def chi_square_check(
    generator: Generator, buckets: Sequence[Any], probs: Sequence[float], nsamples: int = 1000000
) -> tuple[float, Any, Any]:
    """Return the p value that samples fall into buckets with probabilities, and both frequencies.

    Buckets are intervals in ascending order, or the values themselves.
    """
    if not math.isclose(sum(probs), 1, abs_tol=1e-6):
        raise AssertionError(f"the probabilities must add up to 1, not to {sum(probs)}")
    samples = host(generator(nsamples)).reshape(-1)
    if isinstance(buckets[0], (list, tuple)):
        ends = onp.array([bucket[1] for bucket in buckets])
        begin = buckets[0][0]
        places = onp.searchsorted(ends, samples[(samples >= begin) & (samples < ends[-1])], "right")
        observed = onp.bincount(places, minlength=len(buckets))
    else:
        observed = onp.array([(samples == value).sum() for value in buckets])
    expected = (len(samples) * onp.array(probs)).astype("int64")
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return _exceeded(statistic, len(buckets) - 1), observed, expected


def _exceeded(statistic: float, degrees: int) -> float:
    """Return the probability that a chi-square variable is greater.

    For an even number of degrees it is a finite sum, for an odd one the sum begins with erfc.
    """
    half = statistic / 2
    if half == 0:
        return 1.0
    if degrees % 2:
        total, exponent = math.erfc(math.sqrt(half)), 0.5
    else:
        total, exponent = math.exp(-half), 1.0
    while exponent < degrees / 2:
        total += math.exp(exponent * math.log(half) - half - math.lgamma(exponent + 1))
        exponent += 1
    return total


def verify_generator(
    generator: Generator,
    buckets: Sequence[Any],
    probs: Sequence[float],
    nsamples: int = 1000000,
    nrepeat: int = 5,
    success_rate: float = 0.2,
    alpha: float = 0.05,
) -> list[float]:
    """Repeat the chi-square test; raise an AssertionError if it succeeds too rarely.

    >>> import numpy
    >>> from afterglow import test_utils
    >>> values = test_utils.verify_generator(
    ...     lambda count: numpy.random.randint(0, 2, count), [0, 1], [0.5, 0.5], 1000
    ... )
    >>> len(values)
    5
    """
    results = [chi_square_check(generator, buckets, probs, nsamples) for _ in range(nrepeat)]
    values = [result[0] for result in results]
    succeeded = sum(value > alpha for value in values)
    if succeeded < nrepeat * success_rate:
        raise AssertionError(
            f"the generator does not fit its distribution: p values {values}, buckets {buckets}, "
            f"observed {[result[1] for result in results]}, expected {results[0][2]}"
        )
    return values
