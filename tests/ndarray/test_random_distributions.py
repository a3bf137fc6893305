# SPDX-License-Identifier: Apache-2.0
"""Every distribution follows its law; seeds are fixed, so these verdicts never change.

Shapes, types and error classes are MXNet's answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as onp
import pytest
from support import output_of, raises_at_the_read

import afterglow as mx
from afterglow import nd, np, npx

Host = onp.ndarray[Any, Any]
COUNT = 100_000


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    mx.random.seed(20_240)
    yield
    mx.random.seed(int.from_bytes(onp.random.default_rng().bytes(6)))


# --- goodness of fit ---


def distance(values: Host, law: Callable[[Host], Host]) -> float:
    """Return the Kolmogorov-Smirnov statistic, scaled so that 1.95 is passed once in 1000."""
    ordered = onp.sort(values.astype("float64").ravel())
    expected = law(ordered)
    count = len(ordered)
    steps = onp.arange(count + 1) / count
    worst = max((expected - steps[:-1]).max(), (steps[1:] - expected).max())
    return float(worst * math.sqrt(count))


def integrated(density: Callable[[Host], Host], low: float, high: float) -> Callable[[Host], Host]:
    """Return the distribution function of a density that is smooth from low to high."""
    grid = onp.linspace(low, high, 400_001)
    with onp.errstate(all="ignore"):
        values = onp.nan_to_num(density((grid[1:] + grid[:-1]) / 2))
    sums = onp.concatenate([[0.0], onp.cumsum(values)]) * (grid[1] - grid[0])
    assert abs(sums[-1] - 1) < 1e-3
    return lambda x: onp.interp(x, grid, sums)


def elementwise(function: Callable[[float], float]) -> Callable[[Host], Host]:
    return lambda x: onp.array([function(value) for value in x])


def gamma_density(shape: float) -> Callable[[Host], Host]:
    return lambda x: onp.exp((shape - 1) * onp.log(x) - x - math.lgamma(shape))


def beta_density(a: float, b: float) -> Callable[[Host], Host]:
    factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return lambda x: onp.exp(factor + (a - 1) * onp.log(x) + (b - 1) * onp.log1p(-x))


def f_law(m: float, n: float) -> Callable[[Host], Host]:
    law = integrated(beta_density(m / 2, n / 2), 0, 1)
    return lambda x: law(m * x / (m * x + n))


def normal_law(mean: float = 0, deviation: float = 1) -> Callable[[Host], Host]:
    return elementwise(lambda x: 0.5 * math.erfc((mean - x) / deviation / math.sqrt(2)))


gamma_laws = {
    0.5: elementwise(lambda x: math.erf(math.sqrt(x))),
    1.0: lambda x: 1 - onp.exp(-x),
    2.0: lambda x: 1 - onp.exp(-x) * (1 + x),
    3.7: integrated(gamma_density(3.7), 0, 60),
    200.0: integrated(gamma_density(200.0), 50, 400),
}

R, N = np.random, nd.random
CONTINUOUS: dict[str, tuple[Callable[[], Any], Callable[[Host], Host]]] = {
    "exponential": (lambda: N.exponential(3, shape=COUNT), lambda x: 1 - onp.exp(-x / 3)),
    "exponential float64": (
        lambda: N.exponential(3, shape=COUNT, dtype="float64"),
        lambda x: 1 - onp.exp(-x / 3),
    ),
    "sample_exponential": (
        lambda: nd.sample_exponential(nd.array([4.0]), shape=COUNT),
        lambda x: 1 - onp.exp(-x * 4),
    ),
    "np exponential": (lambda: R.exponential(np.full(COUNT, 2.0)), lambda x: 1 - onp.exp(-x / 2)),
    "np gamma": (lambda: R.gamma(2.0, 5.0, COUNT), lambda x: gamma_laws[2.0](x / 5)),
    "gamma arrays": (
        lambda: N.gamma(nd.array([3.7]), nd.array([2.0]), shape=COUNT),
        lambda x: gamma_laws[3.7](x / 2),
    ),
    "beta": (lambda: R.beta(2.5, 4.0, COUNT), integrated(beta_density(2.5, 4.0), 0, 1)),
    "chisquare": (lambda: R.chisquare(4.0, COUNT), lambda x: gamma_laws[2.0](x / 2)),
    "f": (lambda: R.f(6.0, 8.0, COUNT), f_law(6, 8)),
    "lognormal": (lambda: R.lognormal(1, 0.5, COUNT), lambda x: normal_law(1, 0.5)(onp.log(x))),
    "logistic": (lambda: R.logistic(2, 3, COUNT), lambda x: 1 / (1 + onp.exp(-(x - 2) / 3))),
    "gumbel": (lambda: R.gumbel(2, 3, COUNT), lambda x: onp.exp(-onp.exp(-(x - 2) / 3))),
    "laplace": (
        lambda: R.laplace(2, 3, COUNT),
        lambda x: 0.5 + 0.5 * onp.sign(x - 2) * (1 - onp.exp(-abs(x - 2) / 3)),
    ),
    "rayleigh": (lambda: R.rayleigh(3, COUNT), lambda x: 1 - onp.exp(-(x**2) / 18)),
    "weibull": (lambda: R.weibull(2.5, COUNT), lambda x: 1 - onp.exp(-(x**2.5))),
    "pareto": (lambda: R.pareto(2.5, COUNT), lambda x: 1 - (1 + x) ** -2.5),
    "power": (lambda: R.power(2.5, COUNT), lambda x: x**2.5),
    "uniform_n": (lambda: npx.random.uniform_n(np.array([2.0]), 3, COUNT), lambda x: x - 2),
    "normal_n": (lambda: npx.random.normal_n(np.array([2.0]), 3, COUNT), normal_law(2, 3)),
    "uniform arrays": (
        lambda: N.uniform(nd.array([2.0]), nd.array([6.0]), shape=COUNT),
        lambda x: (x - 2) / 4,
    ),
    "normal arrays": (lambda: R.normal(np.full(COUNT, 2.0), 3), normal_law(2, 3)),
    "uniform_like": (lambda: N.uniform_like(nd.zeros(COUNT), 2, 6), lambda x: (x - 2) / 4),
    "normal_like": (lambda: N.normal_like(nd.zeros(COUNT), 2, 3), normal_law(2, 3)),
    "exponential_like": (
        lambda: N.exponential_like(nd.zeros(COUNT), lam=4),
        lambda x: 1 - onp.exp(-x * 4),
    ),
    "gamma_like": (
        lambda: N.gamma_like(nd.zeros(COUNT), 2, 3),
        lambda x: gamma_laws[2.0](x / 3),
    ),
    "random_exponential": (
        lambda: nd.random_exponential(4.0, shape=COUNT),
        lambda x: 1 - onp.exp(-x * 4),
    ),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_law(name: str) -> None:
    draw, law = CONTINUOUS[name]
    values = draw().asnumpy()
    assert values.size == COUNT
    assert onp.isfinite(values).all()
    assert distance(values, law) < 1.95


@pytest.mark.parametrize("shape", gamma_laws)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gamma_law(shape: float, dtype: str) -> None:
    values = N.gamma(shape, 1, shape=COUNT, dtype=dtype).asnumpy().astype("float64")
    assert distance(values, gamma_laws[shape]) < 1.95
    assert abs(values.mean() - shape) < 5 * math.sqrt(shape / COUNT)
    spread = math.sqrt((3 + 6 / shape - 1) / COUNT)
    assert abs(values.var() / shape - 1) < 5 * spread
    assert abs(onp.corrcoef(values[:-1], values[1:])[0, 1]) < 5 / math.sqrt(COUNT)


def test_gamma_of_extreme_shapes() -> None:
    small = N.gamma(0.01, 1, shape=COUNT, dtype="float64").asnumpy()
    assert (small >= 0).all()
    # For small x the distribution function is x**a / (a * gamma(a)).
    below = 1e-20**0.01 / math.gamma(1.01)
    assert abs((small < 1e-20).mean() - below) < 5 * math.sqrt(below * (1 - below) / COUNT)
    large = N.gamma(1e8, 1, shape=COUNT, dtype="float64").asnumpy()
    assert distance((large - 1e8) / 1e4, normal_law()) < 1.95


def chi_square(values: Host, probabilities: Host) -> float:
    """Return by how many deviations the chi-square statistic is too large.

    ``probabilities`` belong to 0, 1, 2 ...; what is expected less than ten times is put together.
    """
    whole = values.astype("int64").ravel()
    assert (whole == values.ravel()).all()
    assert whole.min() >= 0
    seen = onp.bincount(whole, minlength=len(probabilities)).astype("float64")
    rare = len(whole) * probabilities < 10
    rest = max(0.0, 1 - probabilities.sum())
    seen_rare = seen[: len(probabilities)][rare].sum() + seen[len(probabilities) :].sum()
    expected_rare = len(whole) * (probabilities[rare].sum() + rest)
    seen = seen[: len(probabilities)][~rare]
    expected = len(whole) * probabilities[~rare]
    if expected_rare >= 1:
        seen, expected = onp.append(seen, seen_rare), onp.append(expected, expected_rare)
    else:
        assert seen_rare < 10
    freedom = max(1, len(seen) - 1)
    statistic = ((seen - expected) ** 2 / expected).sum()
    return float((statistic - freedom) / math.sqrt(2 * freedom))


def poisson_law(mean: float) -> Host:
    if mean == 0:
        return onp.array([1.0])
    top = int(mean + 12 * math.sqrt(mean) + 20)
    return onp.array([math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(top)])


def negative_binomial_law(k: float, p: float) -> Host:
    return onp.array(
        [
            math.exp(math.lgamma(x + k) - math.lgamma(x + 1) - math.lgamma(k) + x * math.log(1 - p))
            * p**k
            for x in range(300)
        ]
    )


@pytest.mark.parametrize("mean", [0, 0.3, 3, 9.99, 10, 35.5, 800])
def test_poisson_law(mean: float) -> None:
    law = poisson_law(mean)
    one = nd.array([mean])
    drawn: list[Any] = [
        N.poisson(mean, shape=COUNT),
        N.poisson(one, shape=COUNT),
        nd.sample_poisson(one, shape=COUNT, dtype="float64"),
        N.poisson_like(nd.zeros(COUNT), mean),
        nd.random_poisson(mean, shape=COUNT),
        R.poisson(mean, COUNT),
    ]
    for values in drawn:
        host = values.asnumpy()
        assert chi_square(host, law) < 4
        assert abs(host.astype("float64").mean() - mean) <= 5 * math.sqrt(mean / COUNT)


def test_poisson_of_a_large_mean() -> None:
    values = N.poisson(1e10, shape=COUNT, dtype="float64").asnumpy()
    assert distance((values - 1e10) / 1e5, normal_law()) < 1.95


@pytest.mark.parametrize(("k", "p"), [(1, 0.5), (4, 0.3), (20, 0.6)])
def test_negative_binomial_law(k: int, p: float) -> None:
    law = negative_binomial_law(k, p)
    for values in (
        N.negative_binomial(k, p, shape=COUNT),
        N.negative_binomial(nd.array([k]), nd.array([p]), shape=COUNT),
        N.negative_binomial_like(nd.zeros(COUNT), k, p),
        nd.random_negative_binomial(k, p, shape=COUNT),
        nd.sample_negative_binomial(nd.array([k]), nd.array([p]), shape=COUNT),
    ):
        assert chi_square(values.asnumpy(), law) < 4


@pytest.mark.parametrize(("mu", "alpha"), [(2, 0.5), (10, 0.1), (3, 0)])
def test_generalized_negative_binomial_law(mu: float, alpha: float) -> None:
    law = negative_binomial_law(1 / alpha, 1 / (1 + mu * alpha)) if alpha else poisson_law(mu)
    for values in (
        N.generalized_negative_binomial(mu, alpha, shape=COUNT),
        N.generalized_negative_binomial(nd.array([mu]), nd.array([alpha]), shape=COUNT),
        N.generalized_negative_binomial_like(nd.zeros(COUNT), mu, alpha),
        nd.random_generalized_negative_binomial(mu, alpha, shape=COUNT),
        nd.sample_generalized_negative_binomial(nd.array([mu]), nd.array([alpha]), shape=COUNT),
    ):
        assert chi_square(values.asnumpy(), law) < 4


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize(("low", "high"), [(0, 7), (-3, 3), (0, 1), (100, 1100)])
def test_randint_law(low: int, high: int, dtype: str) -> None:
    span = high - low
    for values in (
        N.randint(low, high, shape=COUNT, dtype=dtype),
        nd.random_randint(low, high, shape=COUNT, dtype=dtype),
        R.randint(low, high, COUNT, dtype=dtype),
    ):
        host = values.asnumpy()
        assert host.dtype == dtype
        assert chi_square(host - low, onp.full(span, 1 / span)) < 4


def test_randint_of_wide_ranges() -> None:
    half = 2**62 + 2**61  # not a power of two: taking a remainder would be biased
    values = N.randint(-half, half, shape=COUNT, dtype="int64").asnumpy()
    assert values.min() >= -half
    assert values.max() < half
    assert distance(values / 2**62, lambda x: (x + 1.5) / 3) < 1.95
    odd = values[values > 0] & 1
    assert abs(odd.mean() - 0.5) < 5 * 0.5 / math.sqrt(len(odd))
    least = N.randint(-(2**63), 2**63 - 1, shape=COUNT, dtype="int64").asnumpy()
    assert distance(least / 2**63, lambda x: (x + 1) / 2) < 1.95


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_multinomial_law(dtype: str) -> None:
    host = onp.array([[0.1, 0.2, 0.0, 0.7], [0.25, 0.25, 0.5, 0.0]])
    drawn = N.multinomial(nd.array(host, dtype=dtype), shape=COUNT).asnumpy()
    assert drawn.shape == (2, COUNT)
    for row in range(2):
        assert chi_square(drawn[row], host[row]) < 4
    many = nd.array(onp.tile(host, (COUNT // 2, 1)), dtype=dtype)
    single = nd.sample_multinomial(many).asnumpy()
    assert single.shape == (COUNT,)
    for row in range(2):
        assert chi_square(single[row::2], host[row]) < 4


def test_multinomial_of_many_categories() -> None:
    weights = onp.random.default_rng(1).uniform(size=1000)
    law = weights / weights.sum()
    assert chi_square(N.multinomial(nd.array(law), shape=4 * COUNT).asnumpy(), law) < 4
    # What does not sum up to 1 is taken relative to its sum.
    assert chi_square(N.multinomial(nd.array(weights), shape=4 * COUNT).asnumpy(), law) < 4


def test_multinomial_with_probabilities() -> None:
    host = onp.array([[0.1, 0.9], [0.5, 0.5], [1.0, 0.0]], dtype="float32")
    drawn, logarithms = N.multinomial(nd.array(host), shape=(4, 5), get_prob=True)
    assert drawn.shape == logarithms.shape == (3, 4, 5)
    assert (drawn.dtype, logarithms.dtype) == (onp.int32, onp.float32)
    places = drawn.asnumpy().reshape(3, 20)
    expected = onp.log(onp.take_along_axis(host, places, axis=1))
    onp.testing.assert_allclose(logarithms.asnumpy().reshape(3, 20), expected, rtol=1e-6)
    targets = [nd.zeros((3,), dtype="int32"), nd.ones((3,))]
    N.multinomial(nd.array(host), get_prob=True, out=targets)
    assert (targets[1].asnumpy() <= 0).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradient_of_drawn_probabilities(dtype: str) -> None:
    # As MXNet, also where the probabilities do not add up to 1.
    law = nd.array([[0.2, 0.6], [1, 3]], dtype=dtype)
    law.attach_grad()
    with mx.autograd.record():
        drawn, logarithms = N.multinomial(law, shape=(2, 3), get_prob=True)
    logarithms.backward()
    places = drawn.asnumpy().reshape(2, 6)
    counts = onp.stack([(places == category).sum(1) for category in (0, 1)], 1)
    onp.testing.assert_allclose(law.grad.asnumpy(), counts / law.asnumpy(), rtol=1e-6)
    assert logarithms.dtype == onp.dtype(dtype).type


def test_multinomial_counts_law() -> None:
    law = [0.2, 0.3, 0.5]
    counts = R.multinomial(20, law, size=20_000).asnumpy()
    assert counts.shape == (20_000, 3)
    assert counts.dtype == onp.int64
    assert (counts.sum(axis=1) == 20).all()
    for category, p in enumerate(law):
        binomial = onp.array([math.comb(20, k) * p**k * (1 - p) ** (20 - k) for k in range(21)])
        assert chi_square(counts[:, category], binomial) < 4
    single = R.multinomial(1, np.array(law), size=COUNT).asnumpy()
    assert chi_square(single.argmax(axis=1), onp.array(law)) < 4


def test_bernoulli_law() -> None:
    for values in (
        npx.random.bernoulli(0.3, size=COUNT),
        npx.random.bernoulli(np.full(COUNT, 0.3)),
        npx.random.bernoulli(logit=math.log(3 / 7), size=COUNT),
        npx.random.bernoulli(logit=np.full(COUNT, math.log(3 / 7))),
    ):
        assert chi_square(values.asnumpy(), onp.array([0.7, 0.3])) < 4
    assert npx.random.bernoulli(0.0, size=1000).sum() == 0
    assert npx.random.bernoulli(1.0, size=1000).sum() == 1000


def orders(rows: Host) -> Host:
    """Return the number of each row of four among the 24 permutations."""
    codes = (rows * [64, 16, 4, 1]).sum(axis=1)
    return onp.unique(codes, return_inverse=True)[1]


def test_all_orders_are_equally_likely() -> None:
    law = onp.full(24, 1 / 24)
    shuffled = onp.array([N.shuffle(nd.arange(4)).asnumpy() for _ in range(5000)])
    assert chi_square(orders(shuffled.astype("int64")), law) < 4
    permuted = onp.array([R.permutation(4).asnumpy() for _ in range(5000)])
    assert chi_square(orders(permuted), law) < 4
    chosen = onp.array([R.choice(4, 4, replace=False).asnumpy() for _ in range(5000)])
    assert chi_square(orders(chosen), law) < 4


@pytest.mark.parametrize("shape", [(1000,), (1000, 3), (1, 5), (0, 3), (300, 2, 700)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "float16"])
def test_shuffle_moves_rows(shape: tuple[int, ...], dtype: str) -> None:
    host = (onp.arange(math.prod(shape)) % 250).reshape(shape).astype(dtype)
    source = nd.array(host, dtype=dtype)
    shuffled = N.shuffle(source)
    assert shuffled.shape == shape
    result = shuffled.asnumpy()

    def sorted_rows(rows: Host) -> list[Any]:
        return sorted(row.tobytes() for row in rows)

    assert sorted_rows(result) == sorted_rows(host)
    onp.testing.assert_array_equal(source.asnumpy(), host)
    if shape[0] > 100:
        assert (result != host).any()
    inplace = np.array(host, dtype=dtype)
    alias = inplace.detach()
    assert R.shuffle(inplace) is None
    assert sorted_rows(inplace.asnumpy()) == sorted_rows(host)
    onp.testing.assert_array_equal(inplace.asnumpy(), alias.asnumpy())


def test_shuffle_of_a_view() -> None:
    whole = np.arange(3000).reshape(3, 1000)
    row = whole[1]
    R.shuffle(row)
    host = whole.asnumpy()
    onp.testing.assert_array_equal(row.asnumpy(), host[1])
    onp.testing.assert_array_equal(onp.sort(host[1]), onp.arange(1000, 2000))
    assert (host[1] != onp.arange(1000, 2000)).any()
    onp.testing.assert_array_equal(host[[0, 2]].ravel(), [*range(1000), *range(2000, 3000)])
    with pytest.raises(ValueError, match="dimension"):
        R.shuffle(np.array(1.0))


def test_choice() -> None:
    law = onp.array([0.1, 0.2, 0.7])
    p = np.array(law)
    assert chi_square(R.choice(3, COUNT).asnumpy(), onp.full(3, 1 / 3)) < 4
    assert chi_square(R.choice(3, COUNT, p=p).asnumpy(), law) < 4
    rows = np.array([[10.0, 11.0], [20.0, 21.0], [30.0, 31.0]])
    chosen = R.choice(rows, COUNT, p=p).asnumpy()
    assert chosen.shape == (COUNT, 2)
    assert chi_square(chosen[:, 0] / 10 - 1, law) < 4
    # Without replacement: the first follows p, the second what is left of it.
    pairs = onp.array([R.choice(3, 2, replace=False, p=p).asnumpy() for _ in range(4000)])
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert chi_square(pairs[:, 0], law) < 4
    after_two = pairs[pairs[:, 0] == 2, 1]
    assert chi_square(after_two, onp.array([1 / 3, 2 / 3])) < 4
    subset = R.choice(1000, (20, 30), replace=False)
    assert subset.shape == (20, 30)
    assert len(set(subset.asnumpy().ravel().tolist())) == 600
    assert R.choice(np.array([4, 5], dtype="int32")).dtype == onp.int32
    target = np.zeros(3, dtype="int64")
    assert R.choice(5, 3, out=target) is target


def test_multivariate_normal() -> None:
    mean, cov = onp.array([1.0, -2.0]), onp.array([[2.0, 0.6], [0.6, 0.5]])
    drawn = R.multivariate_normal(
        np.array(mean, dtype="float32"), np.array(cov, dtype="float32"), size=COUNT
    ).asnumpy()
    assert drawn.shape == (COUNT, 2)
    assert drawn.dtype == onp.float32
    onp.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.03)
    onp.testing.assert_allclose(onp.cov(drawn.T), cov, atol=0.05)
    whitened = onp.linalg.solve(onp.linalg.cholesky(cov), (drawn - mean).T)
    for component in whitened:
        assert distance(component, normal_law()) < 1.95
    batch = R.multivariate_normal(np.zeros((4, 2)), np.eye(2, dtype="float64"), size=(3,))
    assert batch.shape == (3, 4, 2)
    assert batch.dtype == onp.float64
    assert R.multivariate_normal(np.zeros(2), np.zeros((5, 2, 2))).asnumpy().sum() == 0
    with pytest.raises(ValueError, match="same length"):
        R.multivariate_normal(np.zeros(3), np.eye(2))
    with pytest.raises(ValueError, match="positive"):
        R.multivariate_normal(np.zeros(2), -np.eye(2)).asnumpy()


# --- parameters of arrays ---


def test_each_element_has_its_parameters() -> None:
    means = onp.array([[0.5, 5.0, 50.0], [2.0, 20.0, 200.0]])
    array = nd.array(means)
    one = nd.ones((2, 3))
    for drawn in (
        N.poisson(array, shape=(10, 1000)),
        N.exponential(array, shape=(10, 1000)),
        N.gamma(array, one, shape=(10, 1000)),
        N.gamma(one, array, shape=(10, 1000)),
        N.normal(array, one, shape=(10, 1000)),
        N.uniform(array - 0.1, array + 0.1, shape=(10, 1000)),
        N.generalized_negative_binomial(array, one * 0.01, shape=(10, 1000)),
    ):
        assert drawn.shape == (2, 3, 10, 1000)
        seen = drawn.asnumpy().astype("float64").mean(axis=(2, 3))
        onp.testing.assert_allclose(seen, means, rtol=0.1, atol=0.05)
    columns = np.array(means)
    for drawn in (
        R.poisson(columns, size=(10_000, 2, 3)),
        R.exponential(columns, size=(10_000, 2, 3)),
        R.gamma(columns, 1, size=(10_000, 2, 3)),
        R.gamma(2, columns / 2, size=(10_000, 2, 3)),
        R.chisquare(columns, size=(10_000, 2, 3)),
        R.logistic(columns, 0.1, size=(10_000, 2, 3)),
        R.rayleigh(columns / math.sqrt(math.pi / 2), size=(10_000, 2, 3)),
        R.pareto(1 + 1 / columns, size=(10_000, 2, 3)) * 0 + columns,
    ):
        seen = drawn.asnumpy().astype("float64").mean(axis=0)
        onp.testing.assert_allclose(seen, means, rtol=0.1, atol=0.05)


def test_parameters_broadcast() -> None:
    row, column = np.array([1.0, 2.0]), np.array([[1.0], [2.0], [3.0]])
    for draw in (R.uniform, R.normal, R.gamma, R.beta, R.f, R.gumbel, R.logistic, R.lognormal):
        assert draw(row, column).shape == (3, 2)
        assert draw(row, 1.0).shape == (2,)
        assert draw(1.0, column, size=(4, 3, 2)).shape == (4, 3, 2)
        with pytest.raises(ValueError, match="fit size"):
            draw(row, column, size=(2,))
        with pytest.raises(ValueError, match="broadcast"):
            draw(row, np.ones(3))
    for draw in (R.exponential, R.weibull, R.pareto, R.power, R.rayleigh, R.chisquare, R.poisson):
        assert draw(column).shape == (3, 1)
        assert draw(column, size=(3, 5)).shape == (3, 5)
        assert draw(1.0).shape == ()
    for draw in (npx.random.uniform_n, npx.random.normal_n):
        assert draw(row, column, batch_shape=(3, 4)).shape == (3, 4, 3, 2)
        assert draw(0, 1).shape == ()
        assert draw(row, 1, batch_shape=5, dtype="float64").dtype == onp.float64


# --- shapes, types, places ---

FLOATING = [
    N.uniform,
    N.normal,
    N.exponential,
    N.gamma,
    N.poisson,
    N.negative_binomial,
    N.generalized_negative_binomial,
]


@pytest.mark.parametrize("draw", FLOATING)
def test_arguments_of_nd(draw: Callable[..., Any]) -> None:
    assert draw().shape == (1,)
    assert draw().dtype is onp.float32
    assert draw(shape=3).shape == (3,)
    assert draw(shape=(2, 3)).shape == (2, 3)
    assert draw(shape=(0, 3)).asnumpy().shape == (0, 3)
    for dtype in ("float16", "float32", "float64"):
        assert draw(shape=(2,), dtype=dtype).asnumpy().dtype == dtype
        target = nd.zeros((2, 3), dtype=dtype)
        assert draw(out=target) is target
        assert draw(shape=(2, 3), out=target, name="x") is target
    assert draw(ctx=mx.cpu(1)).context == mx.cpu(1)
    for dtype in ("int32", "uint8", "bool"):
        with pytest.raises(TypeError):
            draw(shape=(2,), dtype=dtype)
    with pytest.raises(mx.MXNetError):
        draw(shape=(2, 3), out=nd.zeros((3, 2)))
    with pytest.raises(mx.MXNetError):
        draw(shape=(2,), dtype="float32", out=nd.zeros((2,), dtype="float64"))
    with pytest.raises(mx.MXNetError):
        draw(nothing=1)
    with pytest.raises(mx.MXNetError):
        draw(shape=(-1,))


@pytest.mark.parametrize("draw", FLOATING)
def test_out_of_arrays(draw: Callable[..., Any]) -> None:
    count = 1 if draw in (N.exponential, N.poisson) else 2
    parameters = [nd.ones((2,))] * count
    assert draw(*parameters).shape == (2,)
    assert draw(*parameters).dtype is onp.float32
    assert draw(*(one.astype("float64") for one in parameters)).dtype is onp.float32
    assert draw(*(one.astype("int32") for one in parameters)).dtype is onp.float32
    assert draw(*parameters, shape=(4,), dtype="float16").dtype is onp.float16
    target = nd.full((2, 3), -7.5)
    assert draw(*parameters, shape=(3,), out=target) is target
    assert (target.asnumpy() != -7.5).all()
    with pytest.raises(mx.MXNetError):
        draw(*parameters, shape=(3,), out=nd.zeros((3, 2)))
    if count == 2:
        with pytest.raises(AssertionError):
            draw(nd.ones((2,)), 1)
        with pytest.raises(AssertionError):
            draw(1, nd.ones((2,)))
        with pytest.raises(mx.MXNetError):
            draw(nd.ones((2,)), nd.ones((3,)))
    with pytest.raises(ValueError, match="must be either NDArray or numbers"):
        draw("a")


NUMPY_DRAWS: list[Callable[..., Any]] = [
    R.uniform,
    R.normal,
    R.lognormal,
    R.exponential,
    R.logistic,
    R.gumbel,
    R.laplace,
    R.rayleigh,
    R.poisson,
]


@pytest.mark.parametrize("draw", NUMPY_DRAWS)
def test_arguments_of_np(draw: Callable[..., Any]) -> None:
    assert draw().shape == ()
    assert draw().dtype == onp.float32
    assert draw(size=()).shape == ()
    assert draw(size=3).shape == (3,)
    assert draw(size=(0, 3)).asnumpy().shape == (0, 3)
    assert draw(size=(2, 3), ctx=mx.cpu(1)).context == mx.cpu(1)
    for dtype in ("float16", "float32", "float64"):
        target = np.zeros((2, 3), dtype=dtype)
        assert draw(size=(2, 3), out=target) is target
    with pytest.raises(mx.MXNetError):
        draw(size=(2, 3), out=np.zeros((3, 2)))
    with pytest.raises(mx.MXNetError):
        draw([0, 1])


def test_parameters_may_be_large_integers() -> None:
    for drawn in (N.normal(2**70, 1), nd.random_normal(2**70, 1), R.normal(2**70, 1)):
        assert float(drawn.asnumpy().item()) == 2.0**70


def test_draws_are_made_where_the_program_is() -> None:
    with mx.cpu(1):
        for drawn in (R.uniform(), R.power(2.0), R.f(1, 2), nd.random_gamma(), N.randint(0, 2)):
            assert drawn.context == mx.cpu(1)
    assert nd.random_gamma(ctx="cpu(1)").context == mx.cpu(1)
    assert R.power(np.ones(2, ctx=mx.cpu(1))).context == mx.cpu(1)


@pytest.mark.parametrize("shape", [-1, (2, -1)])
def test_no_draws_of_negative_shape(shape: Any) -> None:
    for draw in (
        lambda: N.uniform(shape=shape),
        lambda: N.gamma(nd.ones(2), nd.ones(2), shape=shape),
        lambda: R.uniform(size=shape),
        lambda: R.gamma(2.0, size=shape),
        lambda: R.beta(2.0, 3.0, size=shape),
    ):
        with pytest.raises(ValueError, match="-1"):
            draw()


@pytest.mark.parametrize("draw", [R.uniform, R.normal, R.lognormal, R.laplace])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_types_of_np(draw: Callable[..., Any], dtype: str) -> None:
    assert draw(size=3, dtype=dtype).dtype == dtype
    assert draw(np.zeros(3), 1, dtype=dtype).dtype == dtype
    assert draw(np.zeros(3, dtype="float64"), 1).dtype == onp.float32
    with pytest.raises(TypeError):
        draw(size=3, dtype="int32")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_types_of_gamma_and_kin(dtype: str) -> None:
    assert R.gamma(2, 1, 3, dtype=dtype).dtype == dtype
    assert R.gamma(np.ones(3), np.ones(3), dtype=dtype).dtype == dtype
    assert R.beta(2, 1, 3, dtype=dtype).dtype == dtype
    assert R.chisquare(2, 3, dtype=dtype).dtype == dtype
    assert R.rand(3, dtype=dtype).dtype == dtype
    assert R.randn(3, dtype=dtype).dtype == dtype
    moments = R.gamma(4, 1, COUNT, dtype=dtype).asnumpy().astype("float64")
    assert abs(moments.mean() - 4) < 0.05
    assert abs(moments.var() - 4) < 0.15


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int32", "int64", "float16", "float64"])
def test_types_of_bernoulli(dtype: str) -> None:
    drawn = npx.random.bernoulli(np.array([[0.0, 1.0]]), size=(3, 2), dtype=dtype)
    assert drawn.dtype == dtype
    onp.testing.assert_array_equal(drawn.asnumpy(), onp.array([[0, 1]] * 3).astype(dtype))
    target = np.ones((2, 2), dtype=dtype)
    assert npx.random.bernoulli(0.0, size=(2, 2), out=target) is target
    assert not target.asnumpy().any()


def test_shapes_of_discrete_draws() -> None:
    row, rows = nd.array([0.1, 0.2, 0.7]), nd.array([[0.1, 0.9], [0.5, 0.5]])
    assert N.multinomial(row).shape == (1,)
    assert N.multinomial(row, 3).shape == (3,)
    assert N.multinomial(rows).shape == (2,)
    assert N.multinomial(rows, shape=(3, 2)).shape == (2, 3, 2)
    assert N.multinomial(nd.ones((2, 3, 4)), shape=5).shape == (2, 3, 5)
    for dtype in ("uint8", "int32", "float16", "float32", "float64"):
        assert N.multinomial(rows, dtype=dtype).asnumpy().dtype == dtype
    for dtype in ("int8", "bool"):
        with pytest.raises(mx.MXNetError):
            N.multinomial(rows, dtype=dtype)
    with pytest.raises(mx.MXNetError):
        N.multinomial(nd.ones((2,), dtype="int32"))
    target = nd.zeros((2,), dtype="int32")
    assert N.multinomial(rows, out=target) is target
    assert R.multinomial(3, [0.5, 0.5]).shape == (2,)
    assert R.multinomial(3, [0.5, 0.5], size=(4, 5)).shape == (4, 5, 2)
    assert R.multinomial(0, [0.5, 0.5]).tolist() == [0, 0]
    assert R.multinomial(7, [0.0, 0.0]).tolist() == [0, 7]
    assert R.multinomial(3, [0.5, 0.5], size=(0,)).asnumpy().shape == (0, 2)
    assert N.randint(0, 10).shape == (1,)
    assert N.randint(0, 10, shape=(2, 3)).dtype is onp.int32
    assert R.randint(5).shape == ()
    assert R.randint(5, size=3).dtype == onp.int64
    assert R.randint(2, 5, (0, 2)).asnumpy().shape == (0, 2)
    assert R.choice(5).shape == ()
    assert R.choice(5, (3, 2)).shape == (3, 2)
    assert R.choice(np.ones((4, 2)), (3, 5)).shape == (3, 5, 2)
    assert nd.uniform(shape=(2,), ctx="cpu(1)").context == mx.cpu(1)
    assert nd.normal(1.0, 2.0, (2, 3)).shape == (2, 3)
    assert nd.shuffle(nd.ones((4, 2))).shape == (4, 2)


REFUSED: list[tuple[type[BaseException], Callable[[], Any]]] = [
    (ValueError, lambda: N.uniform(2, 1, shape=3)),
    (ValueError, lambda: N.normal(0, -1, shape=2)),
    (ValueError, lambda: N.normal(0, 0, shape=2)),
    (ValueError, lambda: N.exponential(-2.0)),
    (ValueError, lambda: N.exponential(0.0)),
    (ValueError, lambda: N.gamma(0, 3.0)),
    (ValueError, lambda: N.gamma(-2.0, 3.0)),
    (ValueError, lambda: N.gamma(2.0, -3.0)),
    (ValueError, lambda: N.poisson(-1)),
    (ValueError, lambda: N.negative_binomial(-3, 0.4)),
    (mx.MXNetError, lambda: N.negative_binomial(3.5, 0.4)),
    (ValueError, lambda: N.negative_binomial(3, 0)),
    (ValueError, lambda: N.generalized_negative_binomial(-3, 0.4)),
    (ValueError, lambda: N.generalized_negative_binomial(3, -1)),
    (ValueError, lambda: N.randint(10, 0)),
    (ValueError, lambda: N.randint(10, 10)),
    (mx.MXNetError, lambda: N.randint(0.5, 10.5)),
    (TypeError, lambda: N.randint(5)),
    (mx.MXNetError, lambda: N.randint(0, 10, dtype="int8")),
    (mx.MXNetError, lambda: N.randint(0, 10, dtype="float32")),
    (ValueError, lambda: N.normal_like(nd.ones(2), scale=-1)),
    (TypeError, lambda: N.uniform_like(nd.ones(2, dtype="int32"))),
    (AssertionError, lambda: N.shuffle([1, 2])),
    (mx.MXNetError, lambda: N.shuffle(nd.arange(4), out=nd.ones(2))),
    (ValueError, lambda: nd.random_exponential(0.0)),
    (ValueError, lambda: nd.uniform(ctx="somewhere")),
    (ValueError, lambda: R.normal(0, -1, 3)),
    (ValueError, lambda: R.lognormal(0, -1, 3)),
    (ValueError, lambda: R.logistic(0, -1, 3)),
    (ValueError, lambda: R.gumbel(0, -1)),
    (ValueError, lambda: R.rayleigh(-1, 3)),
    (ValueError, lambda: R.exponential(-2, 3)),
    (ValueError, lambda: R.weibull(-2, 3)),
    (ValueError, lambda: R.weibull(0, 3)),
    (ValueError, lambda: R.pareto(-2, 3)),
    (ValueError, lambda: R.power(-2, 3)),
    (ValueError, lambda: R.gamma(0, 1, 3)),
    (ValueError, lambda: R.randint(5, 2)),
    (ValueError, lambda: R.choice(5, 6, replace=False)),
    (ValueError, lambda: R.choice(0, 4)),
    (ValueError, lambda: R.choice(3, 4, p=np.array([0.5, 0.5]))),
    (AssertionError, lambda: R.choice(3, 4, p=[0.5, 0.25, 0.25])),
    (ValueError, lambda: R.multinomial(10, onp.array([0.5, 0.5]))),
    (ValueError, lambda: R.multinomial(10, [0.5, 0.6])),
    (ValueError, lambda: R.multinomial(10, [[0.5, 0.5]])),
    (ValueError, lambda: R.multinomial(10, np.array([[0.5, 0.5]]))),
    (ValueError, lambda: R.multinomial(-1, [0.5, 0.5])),
    (AssertionError, lambda: R.shuffle(onp.arange(4))),
    (NotImplementedError, lambda: R.multivariate_normal(np.zeros(2), np.eye(2), tol=1)),
    (AssertionError, lambda: R.multivariate_normal([0, 0], np.eye(2))),
    (ValueError, lambda: npx.random.bernoulli()),
    (ValueError, lambda: npx.random.bernoulli(0.3, 0.5)),
    (ValueError, lambda: npx.random.bernoulli(1.5, size=3)),
    (ValueError, lambda: npx.random.bernoulli(-1, size=3)),
    (ValueError, lambda: npx.random.normal_n(0, -1, batch_shape=3)),
    (ValueError, lambda: mx.random.seed(1.5)),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("error", "draw"), REFUSED)
def test_refused_at_the_call(error: type[BaseException], draw: Callable[[], Any]) -> None:
    with pytest.raises(error):
        draw()


@raises_at_the_read
@pytest.mark.parametrize(
    "draw",
    [
        lambda: R.normal(np.zeros(2), np.array([1.0, -1.0])),
        lambda: R.exponential(np.array([1.0, -1.0])),
        lambda: R.gamma(np.array([1.0, 0.0])),
        lambda: R.weibull(np.array([0.0])),
        lambda: npx.random.bernoulli(np.array([0.5, 1.5])),
        lambda: R.multinomial(10, np.array([0.5, 0.6])),
        lambda: R.multinomial(10, np.array([-0.5, 0.6])),
    ],
)
def test_elements_are_refused_at_the_read(draw: Callable[[], Any]) -> None:
    drawn = draw()
    with pytest.raises(ValueError, match="must"):
        drawn.asnumpy()


def test_parameters_without_a_law_give_nan() -> None:
    assert onp.isnan(N.poisson(nd.array([-1.0, float("nan")])).asnumpy()).all()
    assert onp.isnan(N.gamma(nd.array([-1.0]), nd.array([1.0])).asnumpy()).all()
    assert N.negative_binomial(0, 0.4, shape=3).asnumpy().tolist() == [0, 0, 0]


# --- contract 5 ---

PROGRAM = """
import hashlib
from afterglow import nd, np, npx
mx.random.seed(77)
def draws():
    yield nd.random.exponential(2, shape=(70_001,))
    yield nd.random.gamma(0.7, 2, shape=(50_003,))
    yield nd.random.gamma(nd.array([0.3, 5.0]), nd.ones(2), shape=(30_000,))
    yield nd.random.poisson(4, shape=(50_003,))
    yield nd.random.poisson(nd.array([3.0, 300.0]), shape=(30_001,))
    yield nd.random.negative_binomial(3, 0.3, shape=(20_000,))
    yield nd.random.randint(-5, 2**40, shape=(70_001,), dtype="int64")
    yield nd.random.multinomial(nd.array([[0.2, 0.8], [0.5, 0.5]]), shape=(40_001,))
    yield nd.random.multinomial(nd.ones((3000, 50)))
    yield nd.random.shuffle(nd.arange(400_000))
    yield np.random.multinomial(30, [0.3, 0.3, 0.4], size=(3000,))
    yield np.random.beta(2, 3, size=(20_000,))
    yield np.random.choice(1000, (30,), replace=False)
    yield np.random.gumbel(size=(20_000,))
    yield npx.random.bernoulli(0.5, size=(20_000,))
    yield np.random.gamma(2, 1, size=(1001,), dtype="float16")
for number, array in enumerate(draws()):
    if number % 2:  # the others are dropped, or run for nobody
        print(number, hashlib.sha256(array.asnumpy().tobytes()).hexdigest())
"""


def test_neither_threads_nor_passes_change_numbers() -> None:
    expected = output_of(PROGRAM, AFTERGLOW_NUM_THREADS="1")
    assert len(expected) == 8
    assert output_of(PROGRAM, AFTERGLOW_NUM_THREADS="4") == expected
    assert output_of(PROGRAM, AFTERGLOW_DISABLE_PASSES="drop") == expected
    assert output_of(PROGRAM, AFTERGLOW_DISABLE_PASSES="all", AFTERGLOW_NUM_THREADS="3") == expected
    assert output_of(PROGRAM, AFTERGLOW_ENGINE="serial") == expected


REPEATED: list[Callable[[], Any]] = [
    lambda: N.exponential(shape=50),
    lambda: N.gamma(2, 1, shape=50),
    lambda: N.poisson(50, shape=50),
    lambda: N.negative_binomial(5, 0.1, shape=50),
    lambda: N.randint(0, 1000, shape=50),
    lambda: N.multinomial(nd.ones(50), shape=50),
    lambda: N.shuffle(nd.arange(50)),
    lambda: R.permutation(50),
    lambda: R.choice(50, 20, replace=False),
    lambda: R.choice(50, 20, replace=False, p=np.full(50, 0.02)),
    lambda: R.multinomial(100, [0.1] * 10),
    lambda: R.multivariate_normal(np.zeros(2), np.eye(2), size=5),
    lambda: R.beta(1, 2, 50),
    lambda: npx.random.bernoulli(0.5, size=50),
    lambda: N.normal_like(nd.zeros(50)),
]


@pytest.mark.parametrize("draw", REPEATED)
def test_seeds_repeat_and_calls_differ(draw: Callable[[], Any]) -> None:
    mx.random.seed(5)
    first, second = draw().asnumpy(), draw().asnumpy()
    np.random.seed(5)
    onp.testing.assert_array_equal(draw().asnumpy(), first)
    onp.testing.assert_array_equal(draw().asnumpy(), second)
    assert (first != second).any()
    npx.random.seed(6)
    assert (draw().asnumpy() != first).any()


def test_seed_of_a_device_by_name() -> None:
    mx.random.seed(5, ctx="cpu")
    first = N.poisson(50, shape=50).asnumpy()
    mx.random.seed(5, ctx=mx.cpu())
    onp.testing.assert_array_equal(N.poisson(50, shape=50).asnumpy(), first)
    with pytest.raises(ValueError, match="ctx"):
        mx.random.seed(5, ctx="somewhere")


def test_elements_of_rejection_samplers_are_independent() -> None:
    """Shapes where many attempts fail: neighbours and later draws must not share numbers."""
    first = N.gamma(1.0, 1, shape=COUNT, dtype="float64").asnumpy()
    second = N.gamma(1.0, 1, shape=COUNT, dtype="float64").asnumpy()
    joined = onp.concatenate([first, second])
    assert len(onp.unique(joined)) == 2 * COUNT
    for lag in (1, 2, 15, 16, 17, 64):
        assert abs(onp.corrcoef(first[:-lag], first[lag:])[0, 1]) < 5 / math.sqrt(COUNT)
        assert abs(onp.corrcoef(first[:-lag], second[lag:])[0, 1]) < 5 / math.sqrt(COUNT)


# --- how often each of some categories comes up in many trials ---


def counted(trials: int, law: Any, rows: int) -> Host:
    return np.random.multinomial(trials, np.array(law, dtype="float64"), size=(rows,)).asnumpy()


@pytest.mark.parametrize("trials", [20_000, 10**6, 10**9, 10**15])
@pytest.mark.parametrize("law", [[0.2, 0.8], [1e-9, 1e-4, 0.5, 0.4999], [0.0, 0.25, 0.75, 0.0]])
def test_moments_of_counts_in_many_trials(trials: int, law: list[float]) -> None:
    rows = 4000
    counts = counted(trials, law, rows)
    assert (counts >= 0).all()
    assert (counts.sum(axis=1) == trials).all()
    exact = onp.array(law)
    exact[-1] = 1 - exact[:-1].sum()
    mean, variance = trials * exact, trials * exact * (1 - exact)
    spread = onp.sqrt(variance / rows)
    assert (onp.abs(counts.mean(axis=0) - mean) <= 4.5 * spread + 1e-6).all()
    wide = variance > 100
    ratio = counts.var(axis=0)[wide] / variance[wide]
    assert (onp.abs(ratio - 1) < 4.5 * math.sqrt(2 / rows)).all()


@pytest.mark.parametrize(("trials", "chance"), [(20_000, 1e-4), (20_000, 0.002), (10_000, 0.7)])
def test_law_of_counts_in_many_trials(trials: int, chance: float) -> None:
    counts = counted(trials, [chance, 1 - chance], COUNT // 2)[:, 0]
    values = onp.arange(trials + 1)
    logarithms = onp.array([math.lgamma(value + 1) for value in values])
    law = onp.exp(
        logarithms[-1]
        - logarithms
        - logarithms[::-1]
        + values * math.log(chance)
        + (trials - values) * math.log1p(-chance)
    )
    expected = law * len(counts)
    often = expected > 20
    seen = onp.bincount(counts, minlength=trials + 1)
    parts = (seen[often] - expected[often]) ** 2 / expected[often]
    freedom = often.sum()
    assert abs(parts.sum() - freedom) < 4.5 * math.sqrt(2 * freedom)
    rest = expected[~often].sum()
    assert abs(seen[~often].sum() - rest) < 4.5 * math.sqrt(rest) + 1


def test_counts_depend_on_the_seed_alone() -> None:
    def draw() -> list[list[int]]:
        mx.random.seed(7)
        few = counted(10, [0.5, 0.3, 0.2], 2)
        many = counted(10**9, [0.5, 0.3, 0.2], 2)
        return [*few.tolist(), *many.tolist()]

    first = draw()
    assert draw() == first
    assert first[2] != first[3]
