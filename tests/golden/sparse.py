# SPDX-License-Identifier: Apache-2.0
"""Calls with sparse arrays, as MXNet is asked and Afterglow: storage types, values, gradients.

Needs NumPy alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp

Host = onp.ndarray[Any, Any]
Call = Callable[..., Any]

LEFT = onp.array([[0, 1, 0], [2, 0, -3], [0, 0, 0], [0.25, 0, 0.5]], "float32")
RIGHT = onp.array([[1, 4, 0], [0, 0, 0], [0, 5, 0], [0.5, 0, 2]], "float32")
ROW = onp.array([[1, 2, 4]], "float32")
COLUMN = onp.array([[1], [2], [4], [8]], "float32")
DENSE = onp.arange(1, 13, dtype="float32").reshape(4, 3) / 8
NARROW = onp.array([[1, -2], [3, 0.5], [-1, 4]], "float32")

_UNARY = (
    "abs arcsin arcsinh arctan arctanh cbrt ceil degrees expm1 fix floor log1p negative radians "
    "relu rint round sign sin sinh sqrt square tan tanh trunc sigmoid exp cos zeros_like ones_like "
    "BlockGrad identity"
)


def unary(mx: Any) -> dict[str, Call]:
    """Return calls of one sparse array, by name."""
    nd = mx.nd
    calls: dict[str, Call] = {
        name: lambda x, name=name: getattr(nd, name)(x) for name in _UNARY.split()
    }
    return calls | {
        "plus zero": lambda x: x + 0,
        "plus one": lambda x: x + 1,
        "minus zero": lambda x: x - 0,
        "from one": lambda x: 1 - x,
        "times": lambda x: x * 3,
        "by two": lambda x: x / 2,
        "two by": lambda x: 2 / (x + 5),
        "power": lambda x: x**2,
        "negated": lambda x: -x,
        "greater": lambda x: x > 0,
        "greater than minus": lambda x: x > -1,
        "at most": lambda x: x <= -1,
        "at most zero": lambda x: x <= 0,
        "not zero": lambda x: x != 0,
        "zero less": lambda x: x > 0,
        "clip": lambda x: x.clip(-1, 1),
        "sum": nd.sum,
        "norm": lambda x: x.norm(),
        "transposed": lambda x: x.T,
        "astype": lambda x: x.astype("float64"),
        "copy": lambda x: x.copy(),
        "reshape": lambda x: nd.reshape(x, (3, 4)),
        "sum of columns": lambda x: nd.sum(x, axis=0),
        "sum of rows": lambda x: nd.sum(x, axis=1),
        "mean of rows": lambda x: nd.mean(x, axis=1),
        "dense": lambda x: x.tostype("default"),
        "slice": lambda x: nd.slice(x, begin=(1, 0), end=(4, 2)),
        "slice step": lambda x: nd.slice(x, begin=(0,), end=(4,), step=(2,)),
        "take": lambda x: nd.take(x, nd.array([3, 1, 9])),
        "take wrapped": lambda x: nd.take(x, nd.array([5, -1]), mode="wrap"),
        "concat": lambda x: nd.concat(x, x, dim=0),
        "concat columns": lambda x: nd.concat(x, x, dim=1),
        "stack": lambda x: nd.stack(x, x),
        "add_n dense": lambda x: nd.add_n(x, nd.array(DENSE)),
        "rows at once": lambda x: nd.add_n(x, x, x) if x.stype == "row_sparse" else x * 1,
        "plus dense": lambda x: nd.elemwise_add(x, nd.array(DENSE)),
        "dense plus": lambda x: nd.elemwise_add(nd.array(DENSE), x),
        "minus dense": lambda x: nd.elemwise_sub(x, nd.array(DENSE)),
        "times dense": lambda x: nd.elemwise_mul(x, nd.array(DENSE)),
        "dense times": lambda x: nd.elemwise_mul(nd.array(DENSE), x),
        "over dense": lambda x: nd.elemwise_div(x, nd.array(DENSE)),
        "times row": lambda x: nd.broadcast_mul(x, nd.array(ROW)),
        "over row": lambda x: nd.broadcast_div(x, nd.array(ROW)),
        "plus row": lambda x: nd.broadcast_add(x, nd.array(ROW)),
        "times column": lambda x: nd.broadcast_mul(x, nd.array(COLUMN)),
        "dot dense": lambda x: nd.dot(x, nd.array(NARROW)),
        "transposed dot": lambda x: nd.dot(x, nd.array(DENSE), transpose_a=True),
        "transposed dot dense": lambda x: nd.dot(
            x, nd.array(DENSE), transpose_a=True, forward_stype="default"
        ),
        "dense dot": lambda x: nd.dot(nd.array(DENSE.T), x),
        "dense dot dense": lambda x: nd.dot(nd.array(DENSE.T), x, forward_stype="default"),
        "dense dot transposed": lambda x: nd.dot(nd.array(DENSE), x, transpose_b=True),
        "dot rows": lambda x: nd.dot(x, nd.array(NARROW * [[1], [0], [1]]).tostype("row_sparse")),
        "transposed dot rows": lambda x: nd.dot(
            x, nd.array(RIGHT).tostype("row_sparse"), transpose_a=True
        ),
        "dot transposed": lambda x: nd.dot(x, nd.array(NARROW.T.copy()), transpose_b=True),
    }


def binary(mx: Any) -> dict[str, Call]:
    """Return calls of two sparse arrays of a kind, by name."""
    nd = mx.nd
    return {
        "add": lambda x, y: x + y,
        "elemwise_add": nd.elemwise_add,
        "elemwise_sub": nd.elemwise_sub,
        "elemwise_mul": nd.elemwise_mul,
        "equal": lambda x, y: x == y,
        "power": lambda x, y: (x + 1) ** y,
        "where": lambda x, y: nd.where(x, nd.array(DENSE), -nd.array(DENSE)),
    }


def answer(mx: Any, call: Call, stype: str, *hosts: Host) -> dict[str, Any]:
    """Return storage type, type, shape and values of a result."""
    result = call(*(mx.nd.array(host).tostype(stype) for host in hosts))
    return {
        "stype": result.stype,
        "dtype": onp.dtype(result.dtype).name,
        "shape": list(result.shape),
        "values": [float(f"{one:.7g}") for one in result.asnumpy().reshape(-1).tolist()],
    }


def answers(mx: Any) -> dict[str, Any]:
    """Return all answers, by storage type and name."""
    found = {}
    for stype in ("csr", "row_sparse"):
        for name, call in unary(mx).items():
            found[f"{stype} {name}"] = answer(mx, call, stype, LEFT)
        for name, call in binary(mx).items():
            if (stype, name) == ("csr", "elemwise_sub"):
                continue  # MXNet reads memory that nobody wrote
            found[f"{stype} of two {name}"] = answer(mx, call, stype, LEFT, RIGHT)
    return found
