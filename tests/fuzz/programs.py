# SPDX-License-Identifier: Apache-2.0
"""Programs over ``np``, ``nd`` and ``autograd`` against NumPy and finite differences.

There are three sorts: one function of an odd array; many statements with views and writes in place
(those of ``tests/lazy/programs.py``); and a formula whose gradient is compared with differences
that NumPy alone computes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as onp
from lazy.programs import digests

import afterglow as mx
from afterglow import autograd

from ._samples import TOLERANCE, Host, Samples
from ._seeds import run_programs

np, nd, npx = mx.np, mx.nd, mx.npx

#: A name, what we answer, what NumPy answers, and how far they may be apart.
Comparison = tuple[str, Callable[[], Any], Callable[[], Any], float]


def run(seed: int, seconds: float) -> int:
    """Run programs of all sorts."""
    return run_programs(seed, seconds, _program)


def _program(seed: int) -> None:
    sort = seed % 8
    if sort == 0:
        digests("np" if seed % 16 else "nd", seed, seed + 1)
    elif sort < 6:
        _functions(seed)
    else:
        _formula(seed)


# --- one function of an odd array ---


def _functions(seed: int) -> None:
    samples = Samples(seed)
    shape = samples.shape()
    x = samples.values(shape)
    group = samples.random.choice(_GROUPS)
    with warnings.catch_warnings(), onp.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, ours, theirs, tolerance in group(samples, x):
            _compare(f"{group.__name__}: {name} of {x.dtype} {shape}", ours, theirs, tolerance)


def _compare(
    name: str, ours: Callable[[], Any], theirs: Callable[[], Any], tolerance: float
) -> None:
    try:
        expected = theirs()
    except Exception:
        expected = None
    try:
        given = _hosts(ours())
    except mx.MXNetError as problem:
        # What we do not have is said to be missing; whatever else NumPy answers we do, too.
        if expected is None or isinstance(problem, (NotImplementedError, TypeError)):
            return
        raise AssertionError(f"{name} raises {problem!r}") from problem
    if expected is None:  # we may know more than NumPy
        return
    wanted = _hosts(expected)
    assert len(given) == len(wanted), name
    for one, other in zip(given, wanted, strict=True):
        assert _agree(one, other, tolerance), f"{name}: {one} against {other}"


def _hosts(value: Any) -> list[Host]:
    if isinstance(value, (list, tuple)):
        return [host for one in value for host in _hosts(one)]
    return [onp.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)]


def _agree(one: Host, other: Host, tolerance: float) -> bool:
    if one.shape != other.shape:
        return False
    if not tolerance:
        return onp.array_equal(one, other, equal_nan=one.dtype.kind == other.dtype.kind == "f")
    one, other = one.astype("float64"), other.astype("float64")
    finite = onp.abs(other[onp.isfinite(other)])
    largest = 1 + (finite.max() if finite.size else 0.0)
    return onp.allclose(one, other, rtol=tolerance, atol=tolerance * largest, equal_nan=True)


def _tolerance(x: Host) -> float:
    return TOLERANCE.get(x.dtype.name, 0.0)


def _exact(x: Host) -> Host:
    return x.astype("float64") if x.dtype.kind == "f" else x


def _reductions(samples: Samples, x: Host) -> Iterator[Comparison]:
    if x.dtype == "float16":
        return
    ours = np.array(x, dtype=x.dtype)
    real = x.dtype.kind == "f"
    axis = samples.axis(x.shape)
    some = tuple(sorted({samples.random.randrange(x.ndim) for _ in range(2)}))
    where = samples.random.choice([axis, None, some])
    keep = samples.random.random() < 0.5
    for name in ("sum", "mean", "max", "min", "prod", "any", "all"):
        function, known = getattr(np, name), getattr(onp, name)
        if name in ("sum", "prod") and x.dtype == "bool":
            continue
        if name == "prod" and (not real or x.size > 50 or not onp.isfinite(x).all()):
            continue
        tolerance = 0.0
        if name in ("sum", "mean", "prod"):
            tolerance = 20 * _tolerance(x) if real else 1e-5 if name == "mean" else 0.0
        options = {"axis": where, "keepdims": keep}

        def theirs(
            known: Callable[..., Any] = known, options: dict[str, Any] = options, name: str = name
        ) -> Any:
            if name == "sum" and not real:
                return known(x, dtype="int64", **options).astype(x.dtype)
            if name == "prod":
                return known(x, **options)
            return known(_exact(x), **options)

        yield name, lambda f=function, o=options: f(ours, **o), theirs, tolerance
    old = ours.as_nd_ndarray()
    if real and x.size and onp.isfinite(x).all():
        yield (
            "nd.sum",
            lambda: nd.sum(old, axis=axis, keepdims=True),
            lambda: _exact(x).sum(axis=axis, keepdims=True),
            20 * _tolerance(x),
        )
        yield (
            "nd.max",
            lambda: nd.max(old, axis=axis, keepdims=True),
            lambda: x.max(axis=axis, keepdims=True),
            0,
        )


def _order(samples: Samples, x: Host) -> Iterator[Comparison]:
    ours, axis = np.array(x, dtype=x.dtype), samples.axis(x.shape)
    yield "sort", lambda: np.sort(ours, axis=axis), lambda: onp.sort(x, axis=axis), 0
    yield (
        "argsort",
        lambda: np.argsort(ours, axis=axis),
        lambda: onp.argsort(x, axis=axis, kind="stable"),
        0,
    )
    if x.shape[axis]:
        yield "argmax", lambda: np.argmax(ours, axis=axis), lambda: onp.argmax(x, axis=axis), 0
        yield "argmin", lambda: np.argmin(ours, axis=axis), lambda: onp.argmin(x, axis=axis), 0
    if not x.size or x.dtype in ("bool", "int64") or (x.dtype.kind == "f" and onp.isnan(x).any()):
        return
    count, ascending = samples.random.randint(1, x.shape[axis]), samples.random.random() < 0.5

    def largest() -> Host:
        keys = x.astype("float64") if ascending else -x.astype("float64")
        order = onp.argsort(keys, axis=axis, kind="stable")
        return onp.take(onp.take_along_axis(x, order, axis), range(count), axis=axis)

    old = ours.as_nd_ndarray()
    options = {"axis": axis, "k": count, "ret_typ": "value", "is_ascend": ascending}
    yield "topk", lambda: nd.topk(old, **options), largest, 0


def _sums_so_far(samples: Samples, x: Host) -> Iterator[Comparison]:
    if x.dtype in ("bool", "float16"):
        return
    ours, axis = np.array(x, dtype=x.dtype), samples.axis(x.shape)
    yield (
        "cumsum",
        lambda: np.cumsum(ours, axis=axis),
        lambda: onp.cumsum(_exact(x), axis=axis).astype(
            "float64" if x.dtype.kind == "f" else x.dtype
        ),
        50 * _tolerance(x),
    )


def _take(samples: Samples, x: Host) -> Iterator[Comparison]:
    axis = samples.axis(x.shape)
    size = x.shape[axis]
    if not size:
        return
    ours, dtype = np.array(x, dtype=x.dtype), samples.random.choice(["int32", "int64"])
    near = samples.host.randint(-size, size, size=samples.shape(2)).astype(dtype)
    far = samples.host.randint(-5 * size - 3, 5 * size + 3, size=near.shape).astype(dtype)
    if near.size * (x.size // size) > 2_000_000:
        return
    for mode, places in (("wrap", near), ("clip", far)):
        yield (
            f"take {mode}",
            lambda m=mode, p=places: np.take(ours, np.array(p, dtype=dtype), axis=axis, mode=m),
            lambda m=mode, p=places: onp.take(x, p, axis=axis, mode=m),
            0,
        )
    first = samples.host.randint(-x.shape[0], x.shape[0], size=5) if x.shape[0] else onp.array([])
    yield (
        "index",
        lambda: ours[np.array(first, dtype="int64")],
        lambda: x[first.astype("int64")],
        0,
    )


def _slices(samples: Samples, x: Host) -> Iterator[Comparison]:
    ours, key = np.array(x, dtype=x.dtype), samples.slices(x.shape)
    order = tuple(samples.random.sample(range(x.ndim), x.ndim))
    yield "transpose", lambda: np.transpose(ours, order), lambda: onp.transpose(x, order), 0
    yield f"slice {key}", lambda: ours[key], lambda: x[key], 0
    written = samples.values(x[key].shape, x.dtype.name, special=False)

    def write(target: Any, value: Any) -> Any:
        target[key] = value
        return target

    yield (
        f"write {key}",
        lambda: write(ours.copy(), np.array(written, dtype=x.dtype)),
        lambda: write(x.copy(), written),
        0,
    )
    if x.dtype != "bool":
        yield f"write 3 {key}", lambda: write(ours.copy(), 3), lambda: write(x.copy(), 3), 0


def _pairs(samples: Samples, x: Host) -> Iterator[Comparison]:
    shape = tuple(1 if samples.random.random() < 0.3 else size for size in x.shape)
    y = samples.values(shape[samples.random.randrange(len(shape)) :], x.dtype.name)
    left, right = np.array(x, dtype=x.dtype), np.array(y, dtype=x.dtype)
    for name in ("add", "subtract", "multiply", "maximum", "minimum", "less", "equal"):
        if x.dtype == "bool" and name == "subtract":
            continue
        yield (
            f"{name} with {y.shape}",
            lambda name=name: getattr(np, name)(left, right),
            lambda name=name: getattr(onp, name)(x, y),
            _tolerance(x) if x.dtype == "float16" else 0,
        )


_UNARY = (
    *("exp", "log", "sin", "cos", "tanh", "sqrt", "cbrt", "log1p", "expm1", "arctan", "sinh"),
    *("square", "sign", "floor", "ceil", "trunc", "arcsinh", "abs", "reciprocal", "negative"),
)


def _maths(samples: Samples, x: Host) -> Iterator[Comparison]:
    if x.dtype.kind != "f" or x.dtype == "float16":
        return
    ours = np.array(x, dtype=x.dtype)
    for name in samples.random.sample(_UNARY, 5):
        yield (
            name,
            lambda name=name: getattr(np, name)(ours),
            lambda name=name: getattr(onp, name)(x),
            _tolerance(x),
        )


def _casts(samples: Samples, x: Host) -> Iterator[Comparison]:
    ours = np.array(x, dtype=x.dtype)
    for target in ("float16", "float32", "float64", "bool", "int8", "uint8", "int32", "int64"):
        if x.dtype.kind == "f" and not target.startswith(("float", "bool")):
            continue
        yield target, lambda t=target: ours.astype(t), lambda t=target: x.astype(t), 0


def _products(samples: Samples, x: Host) -> Iterator[Comparison]:
    if x.dtype not in ("float32", "float64", "int32", "int64"):
        return
    sizes = (0, 1, 2, 3, 7, 12, 13, 16, 17, 20, 31, 33, 64, 65, 100, 800)
    rows, inner, columns = (samples.random.choice(sizes) for _ in range(3))
    if rows * inner * columns > 3_000_000:
        return
    a = samples.values((rows, inner), x.dtype.name, special=False)
    b = samples.values((inner, columns), x.dtype.name, special=False)
    if x.dtype.kind == "i":
        a, b = a % 100, b % 100
    many = samples.random.randint(1, 4)
    a3, b3 = onp.stack([a] * many), onp.stack([b] * many)
    limit = 30 * _tolerance(x) * (1 + inner**0.5)
    yield (
        f"dot {rows} x {inner} x {columns}",
        lambda: np.dot(np.array(a, dtype=a.dtype), np.array(b, dtype=b.dtype)),
        lambda: onp.dot(_exact(a), _exact(b)),
        limit,
    )
    yield (
        f"matmul {many} x {rows} x {inner} x {columns}",
        lambda: np.matmul(np.array(a3, dtype=a.dtype), np.array(b3, dtype=b.dtype)),
        lambda: onp.matmul(_exact(a3), _exact(b3)),
        limit,
    )


def _joins(samples: Samples, x: Host) -> Iterator[Comparison]:
    ours, axis = np.array(x, dtype=x.dtype), samples.axis(x.shape)
    parts = []
    for _ in range(samples.random.randint(1, 5)):
        shape = list(x.shape)
        shape[axis] = samples.random.randint(0, 8)
        parts.append(samples.values(tuple(shape), x.dtype.name))
    yield (
        "concatenate",
        lambda: np.concatenate([np.array(part, dtype=x.dtype) for part in parts], axis=axis),
        lambda: onp.concatenate(parts, axis=axis),
        0,
    )
    yield "stack", lambda: np.stack([ours] * 3, axis=axis), lambda: onp.stack([x] * 3, axis=axis), 0
    yield "flip", lambda: np.flip(ours, axis), lambda: onp.flip(x, axis), 0
    yield "roll", lambda: np.roll(ours, 3, axis), lambda: onp.roll(x, 3, axis), 0
    yield "repeat", lambda: np.repeat(ours, 3, axis), lambda: onp.repeat(x, 3, axis), 0
    yield "tile", lambda: np.tile(ours, (2, 3)), lambda: onp.tile(x, (2, 3)), 0


def _softmax(samples: Samples, x: Host) -> Iterator[Comparison]:
    if x.dtype not in ("float32", "float64") or not x.size or not onp.isfinite(x).all():
        return
    ours, axis = np.array(x, dtype=x.dtype), samples.axis(x.shape)
    limit = 1e-5 if x.dtype == "float32" else 1e-10

    def logarithms() -> Host:
        shifted = x.astype("float64") - x.astype("float64").max(axis, keepdims=True)
        return shifted - onp.log(onp.exp(shifted).sum(axis, keepdims=True))

    yield "softmax", lambda: npx.softmax(ours, axis=axis), lambda: onp.exp(logarithms()), limit
    yield "log_softmax", lambda: npx.log_softmax(ours, axis=axis), logarithms, limit


def _search(samples: Samples, x: Host) -> Iterator[Comparison]:
    if x.dtype == "bool" or not x.size or (x.dtype.kind == "f" and onp.isnan(x).any()):
        return
    line = onp.sort(x.reshape(-1))
    wanted = samples.values(samples.shape(2), x.dtype.name)
    yield (
        "searchsorted",
        lambda: np.searchsorted(np.array(line, dtype=x.dtype), np.array(wanted, dtype=x.dtype)),
        lambda: onp.searchsorted(line, wanted),
        0,
    )
    yield "unique", lambda: np.unique(np.array(x, dtype=x.dtype)), lambda: onp.unique(x), 0


def _masks(samples: Samples, x: Host) -> Iterator[Comparison]:
    ours, mask = np.array(x, dtype=x.dtype), samples.host.rand(*x.shape) < 0.4
    chosen = np.array(mask, dtype="bool")
    yield "mask", lambda: ours[chosen], lambda: x[mask], 0
    yield (
        "where",
        lambda: np.where(chosen, ours, ours[::-1]),
        lambda: onp.where(mask, x, x[::-1]),
        0,
    )
    yield "nonzero", lambda: list(np.nonzero(ours)), lambda: list(onp.nonzero(x)), 0


_GROUPS: list[Callable[[Samples, Host], Iterator[Comparison]]] = [
    _reductions,
    _order,
    _sums_so_far,
    _take,
    _slices,
    _pairs,
    _maths,
    _casts,
    _products,
    _joins,
    _softmax,
    _search,
    _masks,
]


# --- formulas and their gradients ---


def _formula(seed: int) -> None:
    """Compare value and gradient of a formula, written once for NumPy's arrays and for ours."""
    samples = Samples(seed)
    rows, columns = samples.random.randint(1, 6), samples.random.randint(1, 6)
    hosts = [samples.host.uniform(-1, 1, shape) for shape in _shapes(rows, columns)]
    arrays = [np.array(host, dtype="float64") for host in hosts]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        total = _evaluated(np, seed, arrays)
    total.backward()
    expected = float(_evaluated(onp, seed, hosts))
    assert onp.isclose(float(total), expected, rtol=1e-9, atol=1e-9), (float(total), expected)
    for number, (host, array) in enumerate(zip(hosts, arrays, strict=True)):
        direction = samples.host.randn(*host.shape)

        def moved(step: float) -> float:
            where = [*hosts[:number], host + step * direction, *hosts[number + 1 :]]  # noqa: B023
            return float(_evaluated(onp, seed, where))

        # A maximum may change sides within a step; within a shorter one it hardly does.
        slopes = [(moved(step) - moved(-step)) / (2 * step) for step in (1e-5, 1e-7, 1e-9)]
        ours = float((array.grad.asnumpy() * direction).sum())
        assert onp.isclose(ours, slopes, rtol=1e-4, atol=1e-4 * (1 + abs(expected))).any(), (
            f"variable {number}: {ours} against {slopes}"
        )


def _shapes(rows: int, columns: int) -> list[tuple[int, ...]]:
    return [(rows, columns), (rows, columns), (columns,), (rows, 1)]


def _evaluated(m: Any, seed: int, variables: list[Any]) -> Any:
    """Return one number made of the variables; ``m`` is NumPy or our ``np``."""
    rng = Samples(seed + 1).random
    rows, columns = variables[0].shape
    values = list(variables)
    for _ in range(rng.randint(3, 12)):
        statement = rng.choice(_STATEMENTS)
        values.append(statement(m, rng, rng.choice(values), rng.choice(values)))
        if values[-1].shape != (rows, columns):
            values[-1] = values[-1] + m.zeros((rows, columns), dtype="float64")
    total = m.tanh(values[-1]).sum()
    for value in values[-4:-1]:
        total = total + m.sin(value).sum()
    return total


def _written(m: Any, rng: Any, x: Any, y: Any) -> Any:
    """A part of a copy is written, and the copy is changed in place."""
    result = x * 1.0 + y * 0.0
    stop = rng.randint(0, result.shape[0])
    result[:stop] = (x * y)[:stop]
    result += 0.5 * y
    return result


def _joined(m: Any, rng: Any, x: Any, y: Any) -> Any:
    both = m.concatenate([x + y, x * y], axis=0)
    start = rng.randint(0, (x + y).shape[0])
    return both[start : start + (x + y).shape[0]]


def _turned(m: Any, rng: Any, x: Any, y: Any) -> Any:
    both = x - y
    return m.transpose(m.transpose(both).reshape((-1,)).reshape(both.shape[::-1])) * 0.9


def _gathered(m: Any, rng: Any, x: Any, y: Any) -> Any:
    both = x + 0.3 * y
    rows = [rng.randrange(both.shape[0]) for _ in range(both.shape[0])]
    return m.take(both, m.array(rows, dtype="int64"), axis=0)


def _product(m: Any, rng: Any, x: Any, y: Any) -> Any:
    left, right = x + 0.0 * y, y + 0.0 * x
    return m.tanh(m.dot(m.dot(left, m.transpose(right)), right))


def _softened(m: Any, rng: Any, x: Any, y: Any) -> Any:
    both = x + y
    powers = m.exp(both - m.max(both, axis=-1, keepdims=True))
    return powers / m.sum(powers, axis=-1, keepdims=True)


_STATEMENTS: list[Callable[[Any, Any, Any, Any], Any]] = [
    lambda m, rng, x, y: x + y,
    lambda m, rng, x, y: x - 2 * y,
    lambda m, rng, x, y: m.tanh(x) * y,
    lambda m, rng, x, y: x / (1 + y * y),
    lambda m, rng, x, y: m.exp(m.sin(x)) - y,
    lambda m, rng, x, y: m.log(1 + x * x) + y,
    lambda m, rng, x, y: m.sqrt(1 + x * x + y * y),
    lambda m, rng, x, y: m.arctan(x) + m.cos(y),
    lambda m, rng, x, y: m.sum(x * y, axis=0, keepdims=True),
    lambda m, rng, x, y: m.mean(x + y, axis=-1, keepdims=True),
    # Without a jump: where both are made of the same values, rounding decides which is greater.
    lambda m, rng, x, y: m.where(x > y, x, 1.5 * y - 0.5 * x),
    lambda m, rng, x, y: m.cumsum(x * 1.0 + y * 0.0, axis=0) * 0.5,
    lambda m, rng, x, y: m.flip(x + y, 0),
    lambda m, rng, x, y: m.maximum(x, y),
    _written,
    _joined,
    _turned,
    _gathered,
    _product,
    _softened,
]
