# SPDX-License-Identifier: Apache-2.0
"""What :mod:`arrays` measures: calls in the words of each library.

``m`` is the library's module of array functions (``afterglow.np``, ``numpy``, ``torch``,
``jax.numpy``). A call names its inputs, which all libraries get with the same values:

    x y v w p    vectors of n elements: normal, normal, sorted, of small integers, positive
    a b          matrices of n elements; ``row`` and ``column`` fit beside them
    c            an array of n elements with three axes
    s t q        square matrices, and one that is positive definite
    u            a tall and thin matrix; ``e f`` batches of small matrices
    i j k l      indices: into x, into the rows of a, a column for each row of a, classes
    g            places in a: rows and columns
    o            a mask over x; ``h`` the elements of x on the host
    n side rows columns    numbers
"""

from __future__ import annotations

from typing import NamedTuple

LIBRARIES = ("afterglow", "numpy", "torch", "jax")


class Call(NamedTuple):
    """One call; a library without an expression has no such function."""

    family: str
    name: str
    inputs: str
    expressions: dict[str, str]
    #: Whether all libraries answer with the same values (up to rounding).
    comparable: bool = True
    #: Whether the call answers with a list of arrays.
    several: bool = False
    #: Whether the call is a statement that writes to its first input.
    statement: bool = False
    #: Takes too long for a large array in some library.
    only_small: bool = False


def call(family: str, name: str, inputs: str, same: str | None = None, **more: object) -> Call:
    """Make a call: the same words for all libraries, except where a library has its own."""
    own = {key: more.pop(key) for key in LIBRARIES if key in more}
    expressions = {key: str(own.get(key, same)) for key in LIBRARIES if own.get(key, same)}
    return Call(family, name, inputs, expressions, **more)  # type: ignore[arg-type]


def _creation() -> list[Call]:
    f = "creation"
    return [
        call(f, "zeros", "n", "m.zeros(n, dtype=float32)"),
        call(f, "full", "n", "m.full((n,), 2.5, dtype=float32)"),
        call(f, "arange", "n", "m.arange(0, n, dtype=float32)"),
        call(f, "linspace", "n", "m.linspace(0, 1, n, dtype=float32)", torch="m.linspace(0, 1, n)"),
        call(f, "eye", "side", "m.eye(side, dtype=float32)"),
        call(f, "ones_like", "x", "m.ones_like(x)"),
        call(f, "array of the host's", "h", "m.array(h)", torch="m.tensor(h)"),
        call(f, "copy", "x", "x.copy()", torch="x.clone()"),
    ]


def _elementwise() -> list[Call]:
    f = "elementwise"
    rows = [
        call(f, "x + y", "x y", "x + y"),
        call(f, "x + 1.5", "x", "x + 1.5"),
        call(f, "x / y", "x y", "x / y"),
        call(f, "a * row", "a row", "a * row"),
        call(f, "a + column", "a column", "a + column"),
        call(f, "integers + 1", "w", "w + 1"),
        call(f, "maximum", "x y", "m.maximum(x, y)"),
        call(f, "x > y", "x y", "x > y"),
        call(f, "x == 0", "x", "x == 0"),
        call(f, "where", "o x y", "m.where(o, x, y)"),
        call(f, "clip", "x", "m.clip(x, -1, 1)"),
        call(f, "cast to int32", "x", "x.astype('int32')", torch="x.to(m.int32)"),
        call(f, "p ** y", "p y", "p ** y"),
        call(
            f,
            "erf",
            "x",
            afterglow="npx.erf(x)",
            torch="m.erf(x)",
            jax="jax.scipy.special.erf(x)",
        ),
    ]
    for name in ("exp", "tanh", "sin", "square", "abs"):
        rows.append(call(f, name, "x", f"m.{name}(x)"))
    for name in ("log", "sqrt"):
        rows.append(call(f, name, "p", f"m.{name}(p)"))
    return rows


def _reductions() -> list[Call]:
    f = "reductions"
    rows = []
    for axis in ("", "0", "1"):
        where = f"axis {axis}" if axis else "all"
        for name in ("sum", "mean", "max", "argmax"):
            rows.append(
                call(
                    f,
                    f"{name}, {where}",
                    "a",
                    f"m.{name}(a{', axis=' + axis if axis else ''})",
                    torch=f"m.{'a' if name == 'max' else ''}{name}(a{', ' + axis if axis else ''})",
                )
            )
        rows.append(
            call(
                f,
                f"std, {where}",
                "a",
                f"m.std(a{', axis=' + axis if axis else ''})",
                torch=f"m.std(a, {axis or None}, correction=0)",
            )
        )
        rows.append(
            call(
                f,
                f"norm, {where}",
                "a",
                f"m.linalg.norm(a{', axis=' + axis if axis else ''})",
                torch=f"m.linalg.vector_norm(a{', dim=' + axis if axis else ''})",
            )
        )
        if axis:
            rows.append(call(f, f"cumsum, {where}", "a", f"m.cumsum(a, {axis})"))
            formula = f"m.log(m.sum(m.exp(a - m.max(a, axis={axis}, keepdims=True)), axis={axis}))"
            rows.append(
                call(
                    f,
                    f"logsumexp, {where}",
                    "a",
                    formula,
                    torch=f"m.logsumexp(a, {axis})",
                    jax=f"jax.nn.logsumexp(a, axis={axis})",
                    comparable=False,
                )
            )
    return [
        *rows,
        call(f, "cumsum of a vector", "x", "m.cumsum(x, 0)", comparable=False),
        call(f, "any", "o", "m.any(o)"),
        call(f, "all", "o", "m.all(o)"),
        call(f, "any, axis 1", "a", "m.any(a, axis=1)", torch="m.any(a, 1)"),
    ]


def _sorting() -> list[Call]:
    f = "sorting"
    return [
        call(f, "sort", "x", "m.sort(x)", torch="m.sort(x)[0]"),
        call(f, "sort rows", "a", "m.sort(a, axis=1)", torch="m.sort(a, 1)[0]"),
        call(f, "sort columns", "a", "m.sort(a, axis=0)", torch="m.sort(a, 0)[0]"),
        call(f, "sort integers", "w", "m.sort(w)", torch="m.sort(w)[0]"),
        call(f, "argsort", "x", "m.argsort(x)", comparable=False),
        call(f, "argsort rows", "a", "m.argsort(a, axis=1)"),
        call(
            f,
            "topk of rows",
            "a",
            afterglow="npx.topk(a, k=2, ret_typ='value')",
            torch="m.topk(a, 2)[0]",
            jax="jax.lax.top_k(a, 2)[0]",
        ),
        call(
            f,
            "topk of a vector",
            "x",
            afterglow="npx.topk(x, k=5, ret_typ='indices')",
            torch="m.topk(x, 5)[1]",
            jax="jax.lax.top_k(x, 5)[1]",
        ),
        call(f, "unique of integers", "w", "m.unique(w)"),
        call(f, "unique", "x", "m.unique(x)"),
        call(f, "searchsorted", "v x", "m.searchsorted(v, x)", only_small=True),
    ]


def _shape() -> list[Call]:
    f = "shape"
    return [
        call(
            f, "transpose", "a", "a.T", numpy="m.ascontiguousarray(a.T)", torch="a.T.contiguous()"
        ),
        call(
            f,
            "swapaxes(0, 1)",
            "c",
            "m.swapaxes(c, 0, 1)",
            numpy="m.ascontiguousarray(m.swapaxes(c, 0, 1))",
            torch="m.swapaxes(c, 0, 1).contiguous()",
        ),
        call(
            f,
            "swapaxes(1, 2)",
            "c",
            "m.swapaxes(c, 1, 2)",
            numpy="m.ascontiguousarray(m.swapaxes(c, 1, 2))",
            torch="m.swapaxes(c, 1, 2).contiguous()",
        ),
        call(f, "concatenate, axis 0", "a b", "m.concatenate((a, b), 0)"),
        call(f, "concatenate, axis 1", "a b", "m.concatenate((a, b), 1)"),
        call(f, "stack", "x y", "m.stack((x, y))"),
        call(f, "stack, axis 1", "x y", "m.stack((x, y), 1)"),
        call(
            f,
            "split in two, copied",
            "a",
            "m.split(a, 1)",
            afterglow="m.split(a, 2)",
            numpy="[part.copy() for part in m.split(a, 2)]",
            torch="[part.clone() for part in m.chunk(a, 2)]",
            jax="m.split(a, 2)",
            several=True,
        ),
        call(f, "tile", "a", "m.tile(a, (2, 1))"),
        call(f, "tile a column", "column columns", "m.tile(column, (1, columns))"),
        call(f, "repeat", "x", "m.repeat(x, 3)", torch="m.repeat_interleave(x, 3)"),
        call(f, "pad", "a", "m.pad(a, ((1, 1), (1, 1)))", torch="F.pad(a, (1, 1, 1, 1))"),
        call(
            f,
            "flip",
            "x",
            "m.flip(x, 0)",
            numpy="m.ascontiguousarray(m.flip(x, 0))",
            torch="m.flip(x, (0,))",
        ),
        call(f, "roll", "x", "m.roll(x, 3)"),
        call(
            f,
            "broadcast_to, copied",
            "row rows columns",
            "m.broadcast_to(row, (rows, columns))",
            numpy="m.broadcast_to(row, (rows, columns)).copy()",
            torch="m.broadcast_to(row, (rows, columns)).contiguous()",
        ),
    ]


def _indexing() -> list[Call]:
    f = "indexing"
    return [
        call(f, "take rows", "a j", "m.take(a, j, axis=0)", torch="a[j]"),
        call(f, "take elements", "x i", "m.take(x, i)"),
        call(f, "x[i]", "x i", "x[i]"),
        call(f, "take columns", "a k", "m.take(a, k, axis=1)", torch="a[:, k]"),
        call(f, "x[mask]", "x o", "x[o]"),
        call(f, "x[mask] = 0", "x o", "x[o] = 0", jax="x.at[o].set(0)", statement=True),
        call(f, "x[i] = y", "x i y", "x[i] = y", jax="x.at[i].set(y)", statement=True),
        call(
            f,
            "gather_nd",
            "a g",
            "a[g[0], g[1]]",
            afterglow="npx.gather_nd(a, g)",
        ),
        call(
            f,
            "one_hot",
            "l",
            afterglow="npx.one_hot(l, 10)",
            torch="F.one_hot(l, 10).float()",
            jax="jax.nn.one_hot(l, 10)",
        ),
        call(
            f,
            "pick",
            "a k",
            afterglow="npx.pick(a, k)",
            numpy="m.take_along_axis(a, k[:, None], 1)[:, 0]",
            torch="a.gather(1, k[:, None])[:, 0]",
            jax="m.take_along_axis(a, k[:, None], 1)[:, 0]",
        ),
        call(f, "x[::2]", "x", "x[::2]", numpy="x[::2].copy()", torch="x[::2].clone()"),
        call(f, "a[:, 1]", "a", "a[:, 1]", numpy="a[:, 1].copy()", torch="a[:, 1].clone()"),
        call(f, "x[2:7] = 1", "x", "x[2:7] = 1", jax="x.at[2:7].set(1)", statement=True),
        call(f, "nonzero", "w", "m.nonzero(w)[0]", torch="m.nonzero(w)[:, 0]"),
    ]


def _products() -> list[Call]:
    f = "products"
    return [
        call(f, "dot", "s t", "m.dot(s, t)", torch="m.mm(s, t)", comparable=False),
        call(f, "dot, tall and thin", "u t", "m.dot(u.T, u)", torch="m.mm(u.T, u)"),
        call(f, "matrix and vector", "a row", "m.dot(a, row)", torch="m.mv(a, row)"),
        call(f, "inner of vectors", "x y", "m.dot(x, y)"),
        call(
            f,
            "batch_dot",
            "e f",
            afterglow="npx.batch_dot(e, f)",
            numpy="m.matmul(e, f)",
            torch="m.bmm(e, f)",
            jax="m.matmul(e, f)",
        ),
        call(f, "einsum ij,ij->i", "u", "m.einsum('ij,ij->i', u, u)"),
        call(f, "tensordot", "e f", "m.tensordot(e, e, ((0, 1), (0, 1)))"),
        call(f, "outer", "column row", "m.outer(column, row)", torch="m.outer(column[:, 0], row)"),
    ]


def _softmax() -> list[Call]:
    f = "softmax"
    return [
        call(
            f,
            "softmax",
            "a",
            afterglow="npx.softmax(a)",
            torch="F.softmax(a, 1)",
            jax="jax.nn.softmax(a)",
        ),
        call(
            f,
            "log_softmax",
            "a",
            afterglow="npx.log_softmax(a)",
            torch="F.log_softmax(a, 1)",
            jax="jax.nn.log_softmax(a)",
        ),
        call(f, "relu", "x", afterglow="npx.relu(x)", torch="F.relu(x)", jax="jax.nn.relu(x)"),
        call(
            f,
            "sigmoid",
            "x",
            afterglow="npx.sigmoid(x)",
            torch="m.sigmoid(x)",
            jax="jax.nn.sigmoid(x)",
        ),
        call(
            f,
            "gelu",
            "x",
            afterglow="npx.leaky_relu(x, act_type='gelu')",
            torch="F.gelu(x)",
            jax="jax.nn.gelu(x, approximate=False)",
        ),
        call(
            f,
            "layer_norm",
            "a row columns",
            afterglow="npx.layer_norm(a, row, row)",
            torch="F.layer_norm(a, (columns,), row, row)",
        ),
    ]


def _random() -> list[Call]:
    f = "random"
    return [
        call(
            f,
            "uniform",
            "n",
            afterglow="m.random.uniform(size=n)",
            numpy="generator.random(n, m.float32)",
            torch="m.rand(n)",
            jax="jax.random.uniform(key, (n,))",
            comparable=False,
        ),
        call(
            f,
            "normal",
            "n",
            afterglow="m.random.normal(size=n)",
            numpy="generator.standard_normal(n, m.float32)",
            torch="m.randn(n)",
            jax="jax.random.normal(key, (n,))",
            comparable=False,
        ),
        call(
            f,
            "randint",
            "n",
            afterglow="m.random.randint(0, 100, n)",
            numpy="generator.integers(0, 100, n)",
            torch="m.randint(0, 100, (n,))",
            jax="jax.random.randint(key, (n,), 0, 100)",
            comparable=False,
        ),
        call(
            f,
            "permutation",
            "n",
            afterglow="m.random.permutation(n)",
            numpy="generator.permutation(n)",
            torch="m.randperm(n)",
            jax="jax.random.permutation(key, n)",
            comparable=False,
        ),
    ]


def _linalg() -> list[Call]:
    f = "linalg"
    return [
        call(f, "solve", "q", "m.linalg.solve(q, q)", comparable=False),
        call(f, "cholesky", "q", "m.linalg.cholesky(q)", comparable=False),
        call(f, "inv", "q", "m.linalg.inv(q)", comparable=False),
        call(
            f,
            "svd",
            "q",
            "m.linalg.svd(q, full_matrices=False)",
            afterglow="m.linalg.svd(q)",
            comparable=False,
            several=True,
        ),
        call(f, "det", "q", "m.linalg.det(q)", comparable=False),
    ]


CALLS = [
    *_creation(),
    *_elementwise(),
    *_reductions(),
    *_sorting(),
    *_shape(),
    *_indexing(),
    *_products(),
    *_softmax(),
    *_random(),
    *_linalg(),
]
