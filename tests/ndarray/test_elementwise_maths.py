# SPDX-License-Identifier: Apache-2.0
"""Functions of single elements against NumPy, and against answers recorded from MXNet 1.9.1."""

from __future__ import annotations

import doctest
import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd, np, npx

Host = onp.ndarray[Any, Any]

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, math.inf, -math.inf, math.nan]
SPECIAL += [1e-40, -1e-40, 1e-45, 3e38, -3e38, 1e10, -1e10, 2.0**20 + 1]

_erf = onp.vectorize(math.erf, otypes=[float])


def _gammaln(x: float) -> float:
    return math.inf if x == 0 else math.lgamma(x)


_gammalns = onp.vectorize(_gammaln, otypes=[float])

#: Name, NumPy's function, ranges of arguments, and units in the last place of float32.
FUNCTIONS: list[tuple[str, Callable[[Host], Host], list[tuple[float, float]], float]] = [
    ("sin", onp.sin, [(-10, 10), (-1e6, 1e6), (-1e30, 1e30)], 2),
    ("cos", onp.cos, [(-10, 10), (-1e6, 1e6), (-1e30, 1e30)], 2),
    ("tan", onp.tan, [(-10, 10), (-1e6, 1e6), (-1e30, 1e30)], 2),
    ("arcsin", onp.arcsin, [(-1, 1), (-1e-4, 1e-4)], 2),
    ("arccos", onp.arccos, [(-1, 1), (0.999, 1)], 2),
    ("arctan", onp.arctan, [(-3, 3), (-1e6, 1e6)], 2),
    ("sinh", onp.sinh, [(-1, 1), (-90, 90)], 2),
    ("cosh", onp.cosh, [(-1, 1), (-90, 90)], 2),
    ("tanh", onp.tanh, [(-1, 1), (-9, 9)], 3),
    ("arcsinh", onp.arcsinh, [(-3, 3), (-1e6, 1e6)], 2),
    ("arccosh", onp.arccosh, [(-3, 3), (1, 1.001), (1, 1e6)], 2),
    ("arctanh", onp.arctanh, [(-1, 1), (-1e-4, 1e-4)], 2),
    ("degrees", onp.degrees, [(-10, 10)], 2),
    ("radians", onp.radians, [(-500, 500)], 2),
    ("exp", onp.exp, [(-104, 89)], 2),
    ("expm1", onp.expm1, [(-20, 89), (-0.5, 0.5), (-1e-5, 1e-5)], 2),
    ("log", onp.log, [(0, 3), (0, 1e30)], 2),
    ("log2", onp.log2, [(0, 3), (0, 1e30)], 2),
    ("log10", onp.log10, [(0, 3), (0, 1e30)], 2),
    ("log1p", onp.log1p, [(-1, 3), (-1e-5, 1e-5), (0, 1e30)], 2),
    ("sqrt", onp.sqrt, [(0, 9)], 1),
    ("rsqrt", lambda x: 1 / onp.sqrt(x), [(0, 9)], 2),
    ("cbrt", onp.cbrt, [(-9, 9), (-1e30, 1e30)], 2),
    ("rcbrt", lambda x: 1 / onp.cbrt(x), [(-9, 9)], 2),
    ("square", onp.square, [(-9, 9)], 1),
    ("reciprocal", lambda x: 1 / x, [(-9, 9)], 1),
    ("floor", onp.floor, [(-9, 9)], 0),
    ("ceil", onp.ceil, [(-9, 9)], 0),
    ("trunc", onp.trunc, [(-9, 9)], 0),
    ("fix", onp.trunc, [(-9, 9)], 0),
    ("sign", onp.sign, [(-9, 9)], 0),
    ("abs", onp.abs, [(-9, 9)], 0),
    ("negative", onp.negative, [(-9, 9)], 0),
    ("erf", _erf, [(-1, 1), (-4.5, 4.5)], 2),
    ("gammaln", _gammalns, [(0.1, 50)], 2),
    ("softsign", lambda x: x / (1 + abs(x)), [(-9, 9)], 2),
]
NAMES = [entry[0] for entry in FUNCTIONS]
#: What mx.np and mx.npx do not have.
ONLY_ND = {"rsqrt", "rcbrt", "softsign"}
#: Units of float64, where they are more than 4: of the maths library, and of Python's own lgamma.
COARSE = {"gammaln": 16, "rcbrt": 6}


def _units(got: Host, want: Host, kind: type, least: float = 0) -> Host:
    """Return errors in units of the last place; 0 for equal infinities and nan.

    The units of values below ``least`` are those of ``least``.
    """
    with onp.errstate(all="ignore"):
        rounded = want.astype(kind)
        unit = onp.spacing(onp.maximum(onp.abs(rounded), kind(least))).astype(onp.float64)
        errors = onp.abs(got.astype(onp.float64) - want) / unit
    errors[(got == rounded) | (onp.isnan(got) & onp.isnan(rounded))] = 0
    errors[onp.isnan(errors)] = math.inf
    return errors


def _home(name: str) -> Any:
    return np if hasattr(np, name) else npx


@pytest.mark.parametrize(("name", "truth", "ranges", "units"), FUNCTIONS, ids=NAMES)
def test_accuracy(
    name: str, truth: Callable[[Host], Host], ranges: list[tuple[float, float]], units: float
) -> None:
    call = getattr(nd, name)
    for low, high in [*ranges, (0.0, 0.0)]:
        sample = onp.random.uniform(low, high, 5000) if high else onp.array(SPECIAL)
        if name == "gammaln":
            sample = abs(sample)
        for kind, allowed in ((onp.float32, units), (onp.float64, COARSE.get(name, 4))):
            x = sample.astype(kind)
            with onp.errstate(all="ignore"):
                want = truth(x.astype(onp.float64))
            got = call(nd.array(x, dtype=kind)).asnumpy()
            assert got.dtype == kind
            # Near 1 and 2, where gammaln is 0, the truth itself is a difference of larger numbers.
            least = 1 if (name, kind) == ("gammaln", onp.float64) else 0
            errors = _units(got, want, kind, least)
            worst = errors.argmax()
            assert errors[worst] <= allowed, (kind, x[worst], got[worst], want[worst])
    zeros = onp.array([0.0, -0.0])
    with onp.errstate(all="ignore"):
        want = truth(zeros)
    if not onp.isnan(want).any():
        got = call(nd.array(zeros)).asnumpy()
        assert onp.signbit(got).tolist() == onp.signbit(want).tolist()


@pytest.mark.parametrize("name", NAMES)
def test_forms(name: str) -> None:
    """One answer from every spelling: both namespaces, methods, views, ``out=``, float16."""
    host = onp.linspace(0.1, 0.9, 24, dtype=onp.float32).reshape(4, 6)
    if name == "arccosh":
        host += 1
    x = nd.array(host)
    call = getattr(nd, name)
    want = call(x).asnumpy()
    method = getattr(x, name, None)
    if method is not None:
        assert (method().asnumpy() == want).all()
    transposed = x._view(0, (6, 4), (1, 6))
    assert (call(transposed).asnumpy() == want.T).all()
    assert (call(x[1:3]).asnumpy() == want[1:3]).all()
    out = nd.zeros((4, 6))
    assert call(x, out=out) is out
    assert (out.asnumpy() == want).all()
    assert (call(data=x, name="named").asnumpy() == want).all()
    assert call(nd.zeros((0, 3))).shape == (0, 3)
    half = call(x.astype("float16"))
    assert half.dtype == onp.float16
    onp.testing.assert_allclose(half.asnumpy(), want, rtol=6e-3, atol=2e-3)
    if name not in ONLY_ND:
        function = getattr(_home(name), name)
        y = np.array(host)
        assert (function(y).asnumpy() == want).all()
        assert function(np.array(host[0, 0])).shape == ()
        result = np.zeros((4, 6))
        assert function(y, out=result) is result
        assert (result.asnumpy() == want).all()
    with pytest.raises(AssertionError, match="NDArray"):
        call(1.5)
    with pytest.raises(mx.MXNetError, match="out has shape"):
        call(x, out=nd.zeros((3,)))


#: Recorded: what MXNet makes of [1, 2, 3] of int32, in nd and in np.
INTEGERS = {
    "sin": [0, 0, 0],
    "cos": [0, 0, 0],
    "tan": [1, -2, 0],
    "arctan": [0, 1, 1],
    "sinh": [1, 3, 10],
    "cosh": [1, 3, 10],
    "arcsinh": [0, 1, 1],
    "degrees": [57, 114, 171],
    "radians": [0, 0, 0],
    "expm1": [1, 6, 19],
    "log1p": [0, 1, 1],
    "log2": [0, 1, 1],
    "log10": [0, 0, 0],
    "sqrt": [1, 1, 1],
    "rsqrt": [1, 0, 0],
    "cbrt": [1, 1, 1],
    "reciprocal": [1, 0, 0],
    "floor": [1, 2, 3],
    "round": [1, 2, 3],
    "rint": [1, 2, 3],
    "sign": [1, 1, 1],
    "gammaln": [0, 0, 0],
    "erf": [0, 0, 0],
    "softsign": [0, 0, 0],
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_stay_integers(name: str) -> None:
    for dtype in ("int32", "int64", "int8", "uint8"):
        got = getattr(nd, name)(nd.array([1, 2, 3], dtype=dtype))
        want = onp.array(INTEGERS[name]).astype(dtype).tolist()
        assert (got.dtype, got.asnumpy().tolist()) == (onp.dtype(dtype).type, want)
        home = _home(name)
        if hasattr(home, name):
            result = getattr(home, name)(np.array([1, 2, 3], dtype=dtype))
            assert (result.dtype, result.asnumpy().tolist()) == (dtype, want)
    with pytest.raises(TypeError, match="booleans"):
        getattr(nd, name)(nd.array([1, 0], dtype="bool"))


ROUNDED = [-math.inf, -2.5, -1.5, -0.5, -0.0, 0.5, 0.75, 1.5, 2.5, 4194305.5, math.inf, math.nan]


def test_rounding() -> None:
    x = nd.array(ROUNDED)
    inf, nan = math.inf, math.nan
    for call, want in (
        (nd.round, [-inf, -3, -2, -1, -0.0, 1, 1, 2, 3, 4194306, inf, nan]),
        (nd.rint, [-inf, -3, -2, -1, -0.0, 0, 1, 1, 2, 4194305, inf, nan]),
        (nd.fix, [-inf, -2, -1, -0.0, -0.0, 0, 0, 1, 2, 4194305, inf, nan]),
    ):
        onp.testing.assert_array_equal(call(x).asnumpy(), onp.array(want, onp.float32))
    y = np.array(ROUNDED)
    for call in (np.round, np.around, np.round_, lambda v: v.round(), round):
        onp.testing.assert_array_equal(call(y).asnumpy(), onp.round(y.asnumpy()))
    assert nd.round(nd.array([0.49999997])).asnumpy().tolist() == [0]
    for decimals in (-2, -1, 1, 3):
        for host in (onp.array([123.456, -5.5, 250.25]), onp.array([155, 245, -35])):
            got = np.round(np.array(host, dtype=host.dtype), decimals)
            assert got.dtype == host.dtype
            onp.testing.assert_allclose(got.asnumpy(), onp.round(host, decimals), rtol=1e-12)
    assert math.floor(y[1:4]).asnumpy().tolist() == [-3, -2, -1]
    assert math.ceil(y[1:4]).asnumpy().tolist() == [-2, -1, 0]
    assert math.trunc(y[1:4]).asnumpy().tolist() == [-2, -1, 0]


X = [-2.5, -1.5, -0.75, -0.25, 0.0, 0.25, 0.75, 1.5, 2.5]
# fmt: off
ACTIVATIONS = {
    "relu": [0.0, 0.0, 0.0, 0.0, 0.0, 0.25, 0.75, 1.5, 2.5],
    "sigmoid": [0.0758581832, 0.182425529, 0.320821285, 0.437823504, 0.5, 0.562176466, 0.679178715,
                0.817574501, 0.924141824],
    "tanh": [-0.986614287, -0.905148268, -0.635148942, -0.244918659, 0.0, 0.244918659, 0.635148942,
             0.905148268, 0.986614287],
    "softrelu": [0.0788898468, 0.201413274, 0.386871099, 0.575939417, 0.693147242, 0.825939476,
                 1.13687086, 1.70141315, 2.57888985],
    "softsign": [-0.714285731, -0.600000024, -0.428571433, -0.200000003, 0.0, 0.200000003,
                 0.428571433, 0.600000024, 0.714285731],
}
LEAKS: list[tuple[str, dict[str, float], list[float]]] = [
    ("leaky", {}, [-0.625, -0.375, -0.1875, -0.0625, 0.0, 0.25, 0.75, 1.5, 2.5]),
    ("leaky", {"slope": 0.1}, [-0.25, -0.15, -0.075, -0.025, 0.0, 0.25, 0.75, 1.5, 2.5]),
    ("elu", {}, [-0.229478747, -0.194217458, -0.131908357, -0.0552998036, 0.0, 0.25, 0.75, 1.5,
                 2.5]),
    ("elu", {"slope": 1.0}, [-0.917914987, -0.776869833, -0.527633429, -0.221199214, 0.0, 0.25,
                             0.75, 1.5, 2.5]),
    ("selu", {}, [-1.61378574, -1.36581433, -0.927631974, -0.388890177, 0.0, 0.262675256,
                  0.788025737, 1.57605147, 2.62675261]),
    ("gelu", {}, [-0.0155241787, -0.100210853, -0.169970453, -0.100323424, 0.0, 0.149676561,
                  0.580029488, 1.39978898, 2.48447585]),
]
RECORDED: list[tuple[str, dict[str, float], list[float]]] = [
    ("hard_sigmoid", {}, [0.0, 0.2, 0.35, 0.45, 0.5, 0.55, 0.65, 0.8, 1.0]),
    ("hard_sigmoid", {"alpha": 0.5, "beta": 0.25}, [0.0, 0.0, 0.0, 0.125, 0.25, 0.375, 0.625, 1.0,
                                                    1.0]),
    ("smooth_l1", {}, [2.0, 1.0, 0.28125, 0.03125, 0.0, 0.03125, 0.28125, 1.0, 2.0]),
    ("smooth_l1", {"scalar": 2.0}, [2.375, 1.375, 0.625, 0.125, 0.0, 0.125, 0.625, 1.375, 2.375]),
    ("smooth_l1", {"scalar": 0.5}, [0.78125, 0.28125, 0.0703125, 0.0078125, 0.0, 0.0078125,
                                    0.0703125, 0.28125, 0.78125]),
    ("gamma", {}, [-0.945308626, 2.36327171, -4.83414698, -4.90166712, math.inf, 3.62560987,
                   1.22541666, 0.886226952, 1.32934058]),
    ("gammaln", {}, [-0.0562437139, 0.860047042, 1.57570469, 1.58957529, math.inf, 1.28802252,
                     0.203280956, -0.120782234, 0.28468287]),
]
# fmt: on


def _close(got: Any, want: Any) -> None:
    onp.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("act_type", ACTIVATIONS)
def test_activation(act_type: str) -> None:
    want = ACTIVATIONS[act_type]
    _close(nd.Activation(nd.array(X), act_type), want)
    _close(npx.activation(np.array(X), act_type=act_type), want)
    out = nd.zeros((9,))
    assert nd.Activation(data=nd.array(X), act_type=act_type, out=out) is out
    _close(out, want)


def test_softrelu_of_large_numbers() -> None:
    x = nd.array([-80, -20, 20, 100, math.inf, -math.inf, math.nan])
    with onp.errstate(invalid="ignore"):
        want = onp.logaddexp(0, x.asnumpy().astype("float64"))
    onp.testing.assert_allclose(nd.Activation(x, "softrelu").asnumpy(), want, rtol=3e-7)


@pytest.mark.parametrize(("act_type", "options", "want"), LEAKS)
def test_leaky(act_type: str, options: dict[str, float], want: list[float]) -> None:
    _close(nd.LeakyReLU(nd.array(X), act_type=act_type, **options), want)
    _close(npx.leaky_relu(np.array(X), act_type=act_type, **options), want)
    large = nd.LeakyReLU(nd.array(X * 1000), act_type=act_type, **options)
    _close(large, want * 1000)


def test_leaky_with_slopes() -> None:
    x = -onp.ones((2, 3, 2), onp.float32)
    slopes = onp.array([0.1, 0.2, 0.3], onp.float32)
    got = nd.LeakyReLU(nd.array(x), nd.array(slopes), act_type="prelu")
    _close(got, x * slopes[:, None])
    _close(nd.LeakyReLU(nd.array(x), nd.array([0.5]), act_type="prelu"), x / 2)
    _close(nd.LeakyReLU(nd.array([-1, -2]), nd.array([0.5, 0.1]), act_type="prelu"), [-0.5, -0.2])
    _close(npx.leaky_relu(np.array(x), np.array(slopes), act_type="prelu"), x * slopes[:, None])
    result, noise = nd.LeakyReLU(nd.array(x), act_type="rrelu", lower_bound=0.2, upper_bound=0.4)
    _close(result, 0.3 * x)
    assert not noise.asnumpy().any()


@pytest.mark.parametrize(("name", "options", "want"), RECORDED)
def test_recorded(name: str, options: dict[str, float], want: list[float]) -> None:
    _close(getattr(nd, name)(nd.array(X), **options), want)
    if hasattr(npx, name):
        _close(getattr(npx, name)(np.array(X), **options), want)


def test_inverse_of_erf() -> None:
    _close(
        nd.erfinv(nd.array([-0.9, -0.5, 0, 0.1, 0.999])),
        [-1.16308713, -0.476936281, 0, 0.0888559893, 2.32675624],
    )
    ends = nd.erfinv(nd.array([-1, 1, 1.5, math.nan])).asnumpy()
    assert ends[:2].tolist() == [-math.inf, math.inf]
    assert onp.isnan(ends[2:]).all()
    y = onp.random.uniform(-1, 1, 1000)
    x = nd.erfinv(nd.array(y, dtype="float64")).asnumpy()
    onp.testing.assert_allclose(_erf(x), y, rtol=1e-14)


def test_digamma() -> None:
    x = np.array([1, 0.5, 5, -0.5, 1e5, 0], dtype="float64")
    want = [-0.5772156649015329, -1.9635100260214235, 1.5061176684318003, 0.03648997397857652]
    want += [11.512920464961896, math.inf]  # the last one as MXNet has it
    onp.testing.assert_allclose(npx.digamma(x).asnumpy(), want, rtol=1e-13)


def test_gamma_of_integers_and_ends() -> None:
    x = nd.array([1, 2, 5, 20, 40, -2, -1.5, 0, -0.0])
    got = nd.gamma(x).asnumpy()
    want = [1, 1, 24, 1.21645096e17, math.inf, math.nan, 2.3632718, math.inf, -math.inf]
    onp.testing.assert_allclose(got, onp.array(want, onp.float32), rtol=3e-7)


TWO: list[tuple[str, Any]] = [
    ("hypot", onp.hypot),
    ("arctan2", onp.arctan2),
    ("copysign", onp.copysign),
    ("power", onp.power),
    ("maximum", onp.maximum),
    ("minimum", onp.minimum),
    ("equal", onp.equal),
    ("not_equal", onp.not_equal),
    ("less", onp.less),
    ("less_equal", onp.less_equal),
    ("greater", onp.greater),
    ("greater_equal", onp.greater_equal),
    ("logical_and", onp.logical_and),
    ("logical_or", onp.logical_or),
    ("logical_xor", onp.logical_xor),
]


@pytest.mark.parametrize(("name", "truth"), TWO, ids=[entry[0] for entry in TWO])
def test_two_operands(name: str, truth: Any) -> None:
    function = getattr(np, name)
    a, b = onp.meshgrid(onp.array(SPECIAL), onp.array(SPECIAL))
    for kind in ("float32", "float64"):
        x, y = a.astype(kind), b.astype(kind)
        with onp.errstate(all="ignore"):
            want = truth(x, y)
        got = function(np.array(x, dtype=kind), np.array(y, dtype=kind)).asnumpy()
        assert got.dtype == want.dtype
        onp.testing.assert_allclose(got, want, rtol=3e-7 if kind == "float32" else 1e-15)
        if name == "copysign":
            assert (onp.signbit(got) == onp.signbit(want)).all()
    column, row = onp.array([[0.0], [-3.0]]), onp.array([4.0, 0.0, 1.5])
    with onp.errstate(all="ignore"):
        want = truth(column, row)
        beside = truth(column, 2.5)
        behind = truth(2.5, row)
    onp.testing.assert_allclose(function(np.array(column), np.array(row)).asnumpy(), want, 1e-6)
    onp.testing.assert_allclose(function(np.array(column), 2.5).asnumpy(), beside, rtol=1e-6)
    onp.testing.assert_allclose(function(2.5, np.array(row)).asnumpy(), behind, rtol=1e-6)
    out = np.zeros((2, 3), dtype=want.dtype)
    assert function(np.array(column), np.array(row), out=out) is out
    assert type(function(1.5, 2.5)) in (onp.float64, onp.bool_)
    assert function(np.zeros((0, 2)), 1.0).shape == (0, 2)


def test_other_functions_of_two() -> None:
    a, b = np.array([7, -7, 5, -5]), np.array([3, 3, -3, -3])
    assert np.ldexp(a, b).asnumpy().tolist() == [56, -56, 0.625, -0.625]
    assert np.ldexp(a, 2).asnumpy().tolist() == [28, -28, 20, -20]
    assert np.ldexp(2, b).asnumpy().tolist() == [16, 16, 0.25, 0.25]
    assert np.ldexp(3.0, 2) == 12
    x, y = onp.array([4, 6, -3, 0]), onp.array([6, 4, 2, 5])
    got = np.lcm(np.array(x, dtype="int32"), np.array(y, dtype="int32"))
    assert (got.dtype, got.asnumpy().tolist()) == ("int32", [12, 12, 6, 0])
    assert np.lcm(np.array(x, dtype="int64"), 6).asnumpy().tolist() == [12, 6, 6, 0]
    assert np.lcm(4, 6) == 12
    with pytest.raises(TypeError, match="integers"):
        np.lcm(a, b)


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8", "uint8", "bool"])
def test_bits(dtype: str) -> None:
    host = onp.array([0, 1, 1, 0] if dtype == "bool" else [5, 3, 127, 0]).astype(dtype)
    other = onp.array([1, 1, 0, 0] if dtype == "bool" else [6, 1, 85, 9]).astype(dtype)
    x, y = np.array(host, dtype=dtype), np.array(other, dtype=dtype)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        want = getattr(onp, name)(host, other)
        got = getattr(np, name)(x, y)
        assert (got.dtype, got.asnumpy().tolist()) == (dtype, want.tolist())
        out = np.zeros((4,), dtype=dtype)
        assert getattr(np, name)(x, y, out=out) is out
        assert out.asnumpy().tolist() == want.tolist()
        want = getattr(onp, name)(host, onp.array(1).astype(dtype))
        assert getattr(np, name)(x, 1).asnumpy().tolist() == want.tolist()
        assert getattr(np, name)(1, x).asnumpy().tolist() == want.tolist()
    for name in ("invert", "bitwise_not"):
        assert getattr(np, name)(x).asnumpy().tolist() == onp.invert(host).tolist()
    assert (~x).asnumpy().tolist() == onp.invert(host).tolist()
    for statement in ("x & y", "x | y", "x ^ y"):
        want = eval(statement, {"x": host, "y": other})
        assert eval(statement, {"x": x, "y": y}).asnumpy().tolist() == want.tolist()
    for statement in ("x &= y", "x |= y", "x ^= y"):
        names, hosts = {"x": x.copy(), "y": y}, {"x": host.copy(), "y": other}
        before = names["x"]
        exec(statement, names)
        exec(statement, hosts)
        assert names["x"] is before
        assert before.asnumpy().tolist() == hosts["x"].tolist()
    assert np.bitwise_and(6, 3) == 2
    assert np.invert(5) == -6


def test_bits_of_floats_are_refused() -> None:
    for call in (np.bitwise_and, np.bitwise_or, np.bitwise_xor):
        with pytest.raises(TypeError, match="integers"):
            call(np.ones((2,)), np.ones((2,)))
    with pytest.raises(TypeError, match="integers"):
        np.invert(np.ones((2,)))


@pytest.mark.parametrize("name", ["isnan", "isinf", "isposinf", "isneginf", "isfinite"])
def test_kinds_of_numbers(name: str) -> None:
    function, truth = getattr(np, name), getattr(onp, name)
    host = onp.array(SPECIAL)
    for dtype in ("float32", "float64", "float16"):
        x = np.array(host, dtype=dtype)
        got = function(x)
        assert got.dtype == bool
        assert got.asnumpy().tolist() == truth(x.asnumpy()).tolist()
    for dtype in ("int32", "int64", "uint8", "bool"):
        ends = onp.array([0, 1, onp.iinfo("uint8").max if dtype == "uint8" else 1], dtype)
        if dtype.startswith("int"):
            ends = onp.array([0, onp.iinfo(dtype).min, onp.iinfo(dtype).max], dtype)
        assert function(np.array(ends, dtype=dtype)).asnumpy().tolist() == [name == "isfinite"] * 3
    out = np.zeros((len(host),), dtype="bool")
    assert function(np.array(host), out=out) is out
    assert function(math.inf) == truth(math.inf)


def test_nan_to_num() -> None:
    host = onp.array([math.nan, math.inf, -math.inf, 1.5])
    for dtype in ("float32", "float64", "float16"):
        x = np.array(host, dtype=dtype)
        for options in ({}, {"nan": 7.0}, {"posinf": 8.0}, {"neginf": -9.0, "posinf": 3.0}):
            want = onp.nan_to_num(x.asnumpy(), **options)
            onp.testing.assert_array_equal(np.nan_to_num(x, **options).asnumpy(), want)
        same = np.nan_to_num(x, copy=False, nan=2.0)
        assert same is x
        assert x.asnumpy()[0] == 2
    integers = np.array([1, 2], dtype="int32")
    assert np.nan_to_num(integers).asnumpy().tolist() == [1, 2]
    assert np.nan_to_num(math.nan) == 0


def test_logic_of_nd() -> None:
    a, b = [1, 0, 2, 0], [2, 1, 0, 0]
    for dtype in ("float32", "float64", "float16", "int32", "int64", "uint8"):
        x, y = nd.array(a, dtype=dtype), nd.array(b, dtype=dtype)
        for name, want in (("and", [1, 0, 0, 0]), ("or", [1, 1, 1, 0]), ("xor", [0, 1, 1, 0])):
            for call in (getattr(nd, f"logical_{name}"), getattr(nd, f"broadcast_logical_{name}")):
                got = call(x, y)
                assert (got.dtype, got.asnumpy().tolist()) == (x.dtype, want)
        assert nd.logical_not(x).asnumpy().tolist() == [0, 1, 0, 1]
        assert nd.logical_not(x).dtype == x.dtype
    tiny = nd.array([1e-300, 0], dtype="float64")
    assert nd.logical_and(tiny, 1).asnumpy().tolist() == [1, 0]
    assert nd.logical_or(0, nd.array([0, 3])).asnumpy().tolist() == [0, 1]
    assert (nd.logical_and(3, 2), nd.logical_or(0, 0), nd.logical_xor(0, 2)) == (1, 0, 1)
    mask = np.logical_and(np.array([1, 0]), np.array([True, True]))
    assert (mask.dtype, mask.asnumpy().tolist()) == (bool, [True, False])
    assert np.logical_not(np.array([0, 2], dtype="int32")).asnumpy().tolist() == [True, False]


def test_broadcast_and_same_shape() -> None:
    x, y = nd.array([[3.0], [5.0]]), nd.array([4.0, 12.0])
    _close(nd.broadcast_hypot(x, y), onp.hypot([[3.0], [5.0]], [4.0, 12.0]))
    out = nd.zeros((2, 2))
    assert nd.broadcast_hypot(lhs=x, rhs=y, out=out) is out
    with pytest.raises(ValueError, match="must be equal"):
        nd.elemwise_add(x, y)
    with pytest.raises(AssertionError, match="NDArray"):
        nd.broadcast_hypot(x, 2.0)
    with pytest.raises(mx.MXNetError, match="same type"):
        nd.broadcast_hypot(x, y.astype("float64"))


def test_sum_of_several() -> None:
    arrays = [nd.array([i, 2 * i]) for i in range(1, 6)]
    assert nd.add_n(*arrays).asnumpy().tolist() == [15, 30]
    assert nd.ElementWiseSum(*arrays[:2]).asnumpy().tolist() == [3, 6]
    alone = nd.add_n(arrays[0])
    assert alone is not arrays[0]
    assert alone.asnumpy().tolist() == [1, 2]
    out = nd.zeros((2,))
    assert nd.add_n(*arrays, out=out) is out
    assert out.asnumpy().tolist() == [15, 30]
    into_itself = nd.add_n(*arrays[:3], out=arrays[0])
    assert into_itself.asnumpy().tolist() == [6, 12]
    for wrong in ((), (arrays[0], nd.ones((1,))), (arrays[0], arrays[1].astype("int32"))):
        with pytest.raises(mx.MXNetError):
            nd.add_n(*wrong)
    with pytest.raises(AssertionError, match="NDArray"):
        nd.add_n([arrays[0]])


def test_copies_and_casts() -> None:
    x = nd.array([1.5, -2])
    for call in (nd.stop_gradient, nd.BlockGrad, nd.make_loss, nd.MakeLoss):
        copied = call(x)
        assert copied.asnumpy().tolist() == [1.5, -2]
        copied += 1
    assert x.asnumpy().tolist() == [1.5, -2]
    assert nd.amp_cast(x, dtype="float16").dtype == onp.float16
    assert nd.amp_cast(nd.ones((1,), dtype="int32"), dtype="float16").dtype == onp.int32
    mixed = [x, x.astype("float16"), x.astype("int32")]
    wide = [one.dtype for one in nd.amp_multicast(*mixed, num_outputs=3)]
    narrow = [one.dtype for one in nd.amp_multicast(*mixed, num_outputs=3, cast_narrow=True)]
    assert wide == [onp.float32, onp.float32, onp.int32]
    assert narrow == [onp.float16, onp.float16, onp.int32]
    with pytest.raises(mx.MXNetError, match="num_outputs"):
        nd.amp_multicast(x, x)
    cut = npx.cast(np.array([1.5]), dtype="int32")
    assert (cut.dtype, cut.asnumpy().tolist()) == ("int32", [1])


def test_finite() -> None:
    fine, bad = nd.array([1, 2]), nd.array([1, math.inf])
    assert nd.all_finite(fine).asnumpy().tolist() == [1]
    assert nd.all_finite(bad).asnumpy().tolist() == [0]
    assert nd.multi_all_finite(fine, bad, num_arrays=2).asnumpy().tolist() == [0]
    flag = nd.zeros((1,))
    nd.all_finite(fine, init_output=False, out=flag)
    assert flag.asnumpy().tolist() == [0]
    nd.all_finite(fine, out=flag)
    assert flag.asnumpy().tolist() == [1]


@pytest.mark.parametrize("module", [nd, np])
def test_operators_with_numbers_on_either_side(module: Any) -> None:
    host = onp.array([1.0, -2.0, 4.0])
    for sign in ("+", "-", "*", "/", "%", "**", "<", "<=", ">", ">=", "==", "!="):
        for statement in (f"x {sign} 2.5", f"2.5 {sign} x", f"x {sign} x"):
            with onp.errstate(all="ignore"):
                want = eval(statement, {"x": host})
            got = eval(statement, {"x": module.array(host)})
            onp.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)
    for sign in ("+=", "-=", "*=", "/=", "%=", "**="):
        names, hosts = {"x": module.array(host)}, {"x": host.copy()}
        before = names["x"]
        exec(f"x {sign} 2", names)
        exec(f"x {sign} 2", hosts)
        onp.testing.assert_allclose(names["x"].asnumpy(), hosts["x"], rtol=1e-6)
        assert (names["x"] is before) == (sign != "**=")  # as in MXNet, a new array


def test_options_of_numpy() -> None:
    x = np.array([0.5])
    assert np.sin(x, where=True, order="K", subok=True, casting="same_kind").shape == (1,)
    for options in ({"dtype": "float64"}, {"order": "C"}):
        with pytest.raises(NotImplementedError):
            np.sin(x, **options)
    with pytest.raises(TypeError, match="invalid keyword"):
        np.sin(x, unknown=1)
    with pytest.raises(TypeError, match="not supported"):
        np.sin([0.5])
    assert np.sin(1.0) == math.sin(1.0)
    assert (onp.sin(x).asnumpy() == np.sin(x).asnumpy()).all()
    assert isinstance(onp.sin(x), np.ndarray)


def test_refusals() -> None:
    x = nd.array([1.0, 2.0])
    for statement in (
        lambda: nd.Activation(x, act_type="mish"),
        lambda: nd.Activation(x),
        lambda: nd.LeakyReLU(x, act_type="mish"),
        lambda: nd.LeakyReLU(x, act_type="prelu"),
        lambda: nd.LeakyReLU(x, nd.ones((1,))),
        lambda: nd.LeakyReLU(x, nd.ones((3,)), act_type="prelu"),
        lambda: nd.LeakyReLU(x.astype("int32")),
        lambda: nd.hard_sigmoid(x.astype("int32")),
        lambda: nd.Activation(x.astype("int32"), act_type="softrelu"),
    ):
        with pytest.raises(mx.MXNetError):
            statement()
    for name in ("sin", "rsqrt", "floor", "sign", "rint"):
        assert not hasattr(np.ones((1,)), name)


def test_values_do_not_depend_on_their_place() -> None:
    """A block with an angle too large for the fast path has the same bits elsewhere."""
    host = onp.random.uniform(-100, 100, 3000).astype(onp.float32)
    alone = nd.sin(nd.array(host)).asnumpy()
    host[::100] = 1e9
    mixed = nd.sin(nd.array(host)).asnumpy()
    keep = host != 1e9
    assert (alone[keep] == mixed[keep]).all()
    onp.testing.assert_allclose(mixed[::100], onp.sin(onp.float64(1e9)), rtol=1e-6)


@pytest.mark.usefixtures("everything_fuses")
def test_chains_have_the_bits_of_single_calls() -> None:
    def chain(x: Any) -> list[Any]:
        y = nd.LeakyReLU(nd.sin(x * 3), slope=0.1) + nd.gammaln(nd.abs(x) + 0.5)
        z = nd.logical_or(nd.floor(y), nd.erf(x)) * nd.Activation(y, "softrelu")
        return [y, z, nd.rsqrt(nd.square(z) + 1), nd.LeakyReLU(z - y, act_type="elu")]

    x = nd.array(onp.random.normal(size=(7, 700)))
    x[3, 3] = 1e8
    fused = [one.asnumpy() for one in chain(x)]
    mx.engine.set_pass("fuse", False)
    for got, want in zip(fused, chain(x), strict=True):
        assert (got == want.asnumpy()).all()


@pytest.mark.parametrize("module", ["ndarray.elementwise", "numpy.elementwise"])
def test_examples(module: str) -> None:
    found = importlib.import_module(f"afterglow.{module}")
    assert doctest.testmod(found).failed == 0
    for name in found.__all__:
        assert ">>> " in getattr(found, name).__doc__, name
