# SPDX-License-Identifier: Apache-2.0
"""What :mod:`arrays` measures: a row per call, in the words of each library.

``m`` is the library's module of array functions (``afterglow.np``, ``numpy``, ``torch``,
``jax.numpy``). A row names its inputs, which all libraries get with the same values:

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


class Row(NamedTuple):
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


def row(family: str, name: str, inputs: str, same: str | None = None, **more: object) -> Row:
    """Make a row: the same words for all libraries, except where a library has its own."""
    own = {key: more.pop(key) for key in LIBRARIES if key in more}
    expressions = {key: str(own.get(key, same)) for key in LIBRARIES if own.get(key, same)}
    return Row(family, name, inputs, expressions, **more)  # type: ignore[arg-type]


def _creation() -> list[Row]:
    f = "creation"
    return [
        row(f, "zeros", "n", "m.zeros(n, dtype=float32)"),
        row(f, "full", "n", "m.full((n,), 2.5, dtype=float32)"),
        row(f, "arange", "n", "m.arange(0, n, dtype=float32)"),
        row(f, "linspace", "n", "m.linspace(0, 1, n, dtype=float32)", torch="m.linspace(0, 1, n)"),
        row(f, "eye", "side", "m.eye(side, dtype=float32)"),
        row(f, "ones_like", "x", "m.ones_like(x)"),
        row(f, "array of the host's", "h", "m.array(h)", torch="m.tensor(h)"),
        row(f, "copy", "x", "x.copy()", torch="x.clone()"),
    ]


def _elementwise() -> list[Row]:
    f = "elementwise"
    rows = [
        row(f, "x + y", "x y", "x + y"),
        row(f, "x + 1.5", "x", "x + 1.5"),
        row(f, "x / y", "x y", "x / y"),
        row(f, "a * row", "a row", "a * row"),
        row(f, "a + column", "a column", "a + column"),
        row(f, "integers + 1", "w", "w + 1"),
        row(f, "maximum", "x y", "m.maximum(x, y)"),
        row(f, "x > y", "x y", "x > y"),
        row(f, "x == 0", "x", "x == 0"),
        row(f, "where", "o x y", "m.where(o, x, y)"),
        row(f, "clip", "x", "m.clip(x, -1, 1)"),
        row(f, "cast to int32", "x", "x.astype('int32')", torch="x.to(m.int32)"),
        row(f, "p ** y", "p y", "p ** y"),
        row(
            f,
            "erf",
            "x",
            afterglow="npx.erf(x)",
            torch="m.erf(x)",
            jax="jax.scipy.special.erf(x)",
        ),
    ]
    for name in ("exp", "tanh", "sin", "square", "abs"):
        rows.append(row(f, name, "x", f"m.{name}(x)"))
    for name in ("log", "sqrt"):
        rows.append(row(f, name, "p", f"m.{name}(p)"))
    return rows


def _reductions() -> list[Row]:
    f = "reductions"
    rows = []
    for axis in ("", "0", "1"):
        where = f"axis {axis}" if axis else "all"
        for name in ("sum", "mean", "max", "argmax"):
            rows.append(
                row(
                    f,
                    f"{name}, {where}",
                    "a",
                    f"m.{name}(a{', axis=' + axis if axis else ''})",
                    torch=f"m.{'a' if name == 'max' else ''}{name}(a{', ' + axis if axis else ''})",
                )
            )
        rows.append(
            row(
                f,
                f"std, {where}",
                "a",
                f"m.std(a{', axis=' + axis if axis else ''})",
                torch=f"m.std(a, {axis or None}, correction=0)",
            )
        )
        rows.append(
            row(
                f,
                f"norm, {where}",
                "a",
                f"m.linalg.norm(a{', axis=' + axis if axis else ''})",
                torch=f"m.linalg.vector_norm(a{', dim=' + axis if axis else ''})",
            )
        )
        if axis:
            rows.append(row(f, f"cumsum, {where}", "a", f"m.cumsum(a, {axis})"))
            formula = f"m.log(m.sum(m.exp(a - m.max(a, axis={axis}, keepdims=True)), axis={axis}))"
            rows.append(
                row(
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
        row(f, "cumsum of a vector", "x", "m.cumsum(x, 0)", comparable=False),
        row(f, "any", "o", "m.any(o)"),
        row(f, "all", "o", "m.all(o)"),
        row(f, "any, axis 1", "a", "m.any(a, axis=1)", torch="m.any(a, 1)"),
    ]


def _sorting() -> list[Row]:
    f = "sorting"
    return [
        row(f, "sort", "x", "m.sort(x)", torch="m.sort(x)[0]"),
        row(f, "sort rows", "a", "m.sort(a, axis=1)", torch="m.sort(a, 1)[0]"),
        row(f, "sort columns", "a", "m.sort(a, axis=0)", torch="m.sort(a, 0)[0]"),
        row(f, "sort integers", "w", "m.sort(w)", torch="m.sort(w)[0]"),
        row(f, "argsort", "x", "m.argsort(x)", comparable=False),
        row(f, "argsort rows", "a", "m.argsort(a, axis=1)"),
        row(
            f,
            "topk of rows",
            "a",
            afterglow="npx.topk(a, k=2, ret_typ='value')",
            torch="m.topk(a, 2)[0]",
            jax="jax.lax.top_k(a, 2)[0]",
        ),
        row(
            f,
            "topk of a vector",
            "x",
            afterglow="npx.topk(x, k=5, ret_typ='indices')",
            torch="m.topk(x, 5)[1]",
            jax="jax.lax.top_k(x, 5)[1]",
        ),
        row(f, "unique of integers", "w", "m.unique(w)"),
        row(f, "unique", "x", "m.unique(x)"),
        row(f, "searchsorted", "v x", "m.searchsorted(v, x)", only_small=True),
    ]


def _shape() -> list[Row]:
    f = "shape"
    return [
        row(f, "transpose", "a", "a.T", numpy="m.ascontiguousarray(a.T)", torch="a.T.contiguous()"),
        row(
            f,
            "swapaxes(0, 1)",
            "c",
            "m.swapaxes(c, 0, 1)",
            numpy="m.ascontiguousarray(m.swapaxes(c, 0, 1))",
            torch="m.swapaxes(c, 0, 1).contiguous()",
        ),
        row(
            f,
            "swapaxes(1, 2)",
            "c",
            "m.swapaxes(c, 1, 2)",
            numpy="m.ascontiguousarray(m.swapaxes(c, 1, 2))",
            torch="m.swapaxes(c, 1, 2).contiguous()",
        ),
        row(f, "concatenate, axis 0", "a b", "m.concatenate((a, b), 0)"),
        row(f, "concatenate, axis 1", "a b", "m.concatenate((a, b), 1)"),
        row(f, "stack", "x y", "m.stack((x, y))"),
        row(f, "stack, axis 1", "x y", "m.stack((x, y), 1)"),
        row(
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
        row(f, "tile", "a", "m.tile(a, (2, 1))"),
        row(f, "tile a column", "column columns", "m.tile(column, (1, columns))"),
        row(f, "repeat", "x", "m.repeat(x, 3)", torch="m.repeat_interleave(x, 3)"),
        row(f, "pad", "a", "m.pad(a, ((1, 1), (1, 1)))", torch="F.pad(a, (1, 1, 1, 1))"),
        row(
            f,
            "flip",
            "x",
            "m.flip(x, 0)",
            numpy="m.ascontiguousarray(m.flip(x, 0))",
            torch="m.flip(x, (0,))",
        ),
        row(f, "roll", "x", "m.roll(x, 3)"),
        row(
            f,
            "broadcast_to, copied",
            "row rows columns",
            "m.broadcast_to(row, (rows, columns))",
            numpy="m.broadcast_to(row, (rows, columns)).copy()",
            torch="m.broadcast_to(row, (rows, columns)).contiguous()",
        ),
    ]


def _indexing() -> list[Row]:
    f = "indexing"
    return [
        row(f, "take rows", "a j", "m.take(a, j, axis=0)", torch="a[j]"),
        row(f, "take elements", "x i", "m.take(x, i)"),
        row(f, "x[i]", "x i", "x[i]"),
        row(f, "take columns", "a k", "m.take(a, k, axis=1)", torch="a[:, k]"),
        row(f, "x[mask]", "x o", "x[o]"),
        row(f, "x[mask] = 0", "x o", "x[o] = 0", jax="x.at[o].set(0)", statement=True),
        row(f, "x[i] = y", "x i y", "x[i] = y", jax="x.at[i].set(y)", statement=True),
        row(
            f,
            "gather_nd",
            "a g",
            "a[g[0], g[1]]",
            afterglow="npx.gather_nd(a, g)",
        ),
        row(
            f,
            "one_hot",
            "l",
            afterglow="npx.one_hot(l, 10)",
            torch="F.one_hot(l, 10).float()",
            jax="jax.nn.one_hot(l, 10)",
        ),
        row(
            f,
            "pick",
            "a k",
            afterglow="npx.pick(a, k)",
            numpy="m.take_along_axis(a, k[:, None], 1)[:, 0]",
            torch="a.gather(1, k[:, None])[:, 0]",
            jax="m.take_along_axis(a, k[:, None], 1)[:, 0]",
        ),
        row(f, "x[::2]", "x", "x[::2]", numpy="x[::2].copy()", torch="x[::2].clone()"),
        row(f, "a[:, 1]", "a", "a[:, 1]", numpy="a[:, 1].copy()", torch="a[:, 1].clone()"),
        row(f, "x[2:7] = 1", "x", "x[2:7] = 1", jax="x.at[2:7].set(1)", statement=True),
        row(f, "nonzero", "w", "m.nonzero(w)[0]", torch="m.nonzero(w)[:, 0]"),
    ]


def _products() -> list[Row]:
    f = "products"
    return [
        row(f, "dot", "s t", "m.dot(s, t)", torch="m.mm(s, t)", comparable=False),
        row(f, "dot, tall and thin", "u t", "m.dot(u.T, u)", torch="m.mm(u.T, u)"),
        row(f, "matrix and vector", "a row", "m.dot(a, row)", torch="m.mv(a, row)"),
        row(f, "inner of vectors", "x y", "m.dot(x, y)"),
        row(
            f,
            "batch_dot",
            "e f",
            afterglow="npx.batch_dot(e, f)",
            numpy="m.matmul(e, f)",
            torch="m.bmm(e, f)",
            jax="m.matmul(e, f)",
        ),
        row(f, "einsum ij,ij->i", "u", "m.einsum('ij,ij->i', u, u)"),
        row(f, "tensordot", "e f", "m.tensordot(e, e, ((0, 1), (0, 1)))"),
        row(f, "outer", "column row", "m.outer(column, row)", torch="m.outer(column[:, 0], row)"),
    ]


def _softmax() -> list[Row]:
    f = "softmax"
    return [
        row(
            f,
            "softmax",
            "a",
            afterglow="npx.softmax(a)",
            torch="F.softmax(a, 1)",
            jax="jax.nn.softmax(a)",
        ),
        row(
            f,
            "log_softmax",
            "a",
            afterglow="npx.log_softmax(a)",
            torch="F.log_softmax(a, 1)",
            jax="jax.nn.log_softmax(a)",
        ),
        row(f, "relu", "x", afterglow="npx.relu(x)", torch="F.relu(x)", jax="jax.nn.relu(x)"),
        row(
            f,
            "sigmoid",
            "x",
            afterglow="npx.sigmoid(x)",
            torch="m.sigmoid(x)",
            jax="jax.nn.sigmoid(x)",
        ),
        row(
            f,
            "gelu",
            "x",
            afterglow="npx.leaky_relu(x, act_type='gelu')",
            torch="F.gelu(x)",
            jax="jax.nn.gelu(x, approximate=False)",
        ),
        row(
            f,
            "layer_norm",
            "a row columns",
            afterglow="npx.layer_norm(a, row, row)",
            torch="F.layer_norm(a, (columns,), row, row)",
        ),
    ]


def _random() -> list[Row]:
    f = "random"
    return [
        row(
            f,
            "uniform",
            "n",
            afterglow="m.random.uniform(size=n)",
            numpy="generator.random(n, m.float32)",
            torch="m.rand(n)",
            jax="jax.random.uniform(key, (n,))",
            comparable=False,
        ),
        row(
            f,
            "normal",
            "n",
            afterglow="m.random.normal(size=n)",
            numpy="generator.standard_normal(n, m.float32)",
            torch="m.randn(n)",
            jax="jax.random.normal(key, (n,))",
            comparable=False,
        ),
        row(
            f,
            "randint",
            "n",
            afterglow="m.random.randint(0, 100, n)",
            numpy="generator.integers(0, 100, n)",
            torch="m.randint(0, 100, (n,))",
            jax="jax.random.randint(key, (n,), 0, 100)",
            comparable=False,
        ),
        row(
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


def _linalg() -> list[Row]:
    f = "linalg"
    return [
        row(f, "solve", "q", "m.linalg.solve(q, q)", comparable=False),
        row(f, "cholesky", "q", "m.linalg.cholesky(q)", comparable=False),
        row(f, "inv", "q", "m.linalg.inv(q)", comparable=False),
        row(
            f,
            "svd",
            "q",
            "m.linalg.svd(q, full_matrices=False)",
            afterglow="m.linalg.svd(q)",
            comparable=False,
            several=True,
        ),
        row(f, "det", "q", "m.linalg.det(q)", comparable=False),
    ]


ROWS = [
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
