# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - each program is one line
"""Record how MXNet 1.9.1 answers the programs in this file.

Run it with an interpreter that has MXNet 1.9.1 (a virtual environment of its own with ``numpy==1.23.5`` and
``mxnet==1.9.1``)::

    python tests/golden/record.py

It writes ``foundation.json`` next to itself. Our tests never need MXNet: they execute the same programs with
Afterglow as ``mx`` and compare with what was recorded.

The file is ``{"oracle": ..., "numpy": ..., "cases": [...]}``, one case to a line. Each case has

``name``       unique, ``<namespace>/<group>/<what>``
``namespace``  ``"nd"``: run with NumPy semantics off; ``"np"``: run after ``npx.set_np()``
``code``       statements that leave their answer in ``result``; they may use ``mx``, ``nd``, ``np``, ``npx`` (all
               MXNet's), ``onp`` (NumPy), ``pickle`` and ``copy``
``kind``       ``"array"``: ``type``, ``dtype``, ``shape``, ``values`` and, when not cpu(0), ``ctx``;
               ``"text"``: ``text``, to be met exactly;
               ``"value"``: ``type`` and ``value``, see :func:`encode`;
               ``"error"``: ``error`` (the class) and ``message`` (the line that says what went wrong)
``limit``      only on errors, and only ``true``: MXNet refuses because nobody wrote that combination, not because a
               rule forbids it. A compatible library may raise the same class or give the answer of the rule.

Numbers in ``values`` are exact: a float is written in its shortest form that reads back as the same double, and nan
and the infinities are the strings ``"nan"``, ``"inf"`` and ``"-inf"``.

Left out on purpose are programs whose answer is garbage or a crash: integer division by zero, casts that are undefined
in C, overlapping assignments in ``nd``, ``nd.reshape`` to another size, long float16 sums.
"""

from __future__ import annotations

import copy
import importlib
import json
import pickle
import sys
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as onp

DTYPES = ("float16", "float32", "float64", "uint8", "int8", "int32", "int64", "bool")
SHORT = {
    "float16": "f2",
    "float32": "f4",
    "float64": "f8",
    "uint8": "u1",
    "int8": "i1",
    "int32": "i4",
    "int64": "i8",
    "bool": "b",
}
#: Pairs that stand for the mixed part of the dtype table where recording all of it would be long-winded.
MIXED = (
    ("float32", "int32"),
    ("int32", "float32"),
    ("float16", "float32"),
    ("float32", "float64"),
    ("float16", "int64"),
    ("int64", "int32"),
    ("uint8", "int32"),
    ("bool", "float32"),
    ("int32", "bool"),
)
#: Texts of errors that mean "not written yet" and not "not allowed".
LIMITS = (
    "does not support combination",
    "not implemented yet",
    "Unknown type enum",
    "does not support boolean type",
    "only supports float32/float64",
    "only support floating point types",
    "is not supported yet",
)


@dataclass(frozen=True)
class Case:
    """One program: what it is called, which array class it is about, and its text."""

    name: str
    namespace: str
    code: str
    #: An MXNetError here means that MXNet lacks the combination: mark it as a limit.
    partial: bool = False


def spell(template: str, namespace: str) -> str:
    """Write a program for one namespace: ``M`` is nd or np, ``F`` is nd or npx, and the other words differ too."""
    legacy = namespace == "nd"
    words = {
        "M.": f"{namespace}.",
        "F.": "nd." if legacy else "npx.",
        "NORM(": "nd.norm(" if legacy else "np.linalg.norm(",
        "MOVE(": "as_in_context(" if legacy else "as_in_ctx(",
        "CTX": "context" if legacy else "ctx",
        "LESS(": "nd.lesser(" if legacy else "np.less(",
        "X34": f"{namespace}.arange(12).reshape((3, 4))",
        "X234": f"{namespace}.arange(24).reshape((2, 3, 4))",
    }
    for word, meaning in words.items():
        template = template.replace(word, meaning)
    return template


def program(text: str) -> str:
    """Turn an expression into a program; leave alone what names ``result`` itself."""
    return text if "result" in text else f"result = {text}"


def cases_from(group: str, namespace: str, templates: str, partial: bool = False) -> Iterator[Case]:
    """One case for each line of ``templates``, called by that line, or by its beginning and a hash if it is long."""
    for line in templates.strip().splitlines():
        text = line.strip()
        if text:
            short = text if len(text) <= 40 else f"{text[:32]}... {zlib.crc32(text.encode()):08x}"
            yield Case(
                f"{namespace}/{group}/{short}", namespace, program(spell(text, namespace)), partial
            )


# ---- the programs --------------------------------------------------------------------------------------------------


def creation(namespace: str) -> Iterator[Case]:
    """Which dtype, shape and values the creation functions give."""
    yield from cases_from(
        "creation",
        namespace,
        """
        M.array([1, 2])
        M.array([1.5, -2.5])
        M.array([True, False])
        M.array([[1, 2], [3, 4]])
        M.array((1, 2))
        M.array(range(3))
        M.array(3)
        M.array(3.5)
        M.array([])
        M.array([1, 2], dtype=None)
        M.array([1, 2], dtype=float)
        M.array([1, 2], dtype=int)
        M.array([1, 2], dtype=bool)
        M.array([1, 2], dtype=onp.float64)
        M.array([1, 2], dtype=onp.dtype('int8'))
        M.array([1.7, -1.7], dtype='int32')
        M.array([2 ** 40], dtype='int64')
        M.array([2 ** 24 + 1])
        M.array(onp.float64(2))
        M.array(onp.zeros((), 'float32'))
        M.array(onp.zeros((0, 2), 'float32'))
        M.array(onp.arange(6).reshape(2, 3).T)
        M.array(onp.arange(6.)[::-2])
        M.array(M.array([1, 2], dtype='int64'))
        M.array(M.array([1, 2], dtype='int64'), dtype='float32')
        M.array([1, 2], ctx=mx.cpu(1))
        M.zeros((2,))
        M.zeros(2)
        M.zeros([2, 1])
        M.zeros((2, 3), dtype=None)
        M.zeros((2,), dtype=int)
        M.zeros((2,), dtype=float)
        M.zeros((2,), ctx=mx.cpu(1))
        M.ones((2,))
        M.ones(3)
        M.full((2,), 7)
        M.full((2,), 7.5)
        M.full((2,), 7.5, dtype='int32')
        M.full((2,), True)
        M.full((2,), 1, dtype='bool')
        M.full(2, 3)
        M.full((1,), 2 ** 40, dtype='int64')
        M.full((1,), 16777217, dtype='int32')
        M.full((1,), 16777217)
        result = M.empty((2, 3)).shape
        result = onp.dtype(M.empty((2,)).dtype).name
        result = onp.dtype(M.empty((2,), dtype='int32').dtype).name
        M.arange(3)
        M.arange(1, 3)
        M.arange(3, 1, -1)
        M.arange(0, 1, 0.3)
        M.arange(2.5)
        M.arange(0.5, 3)
        M.arange(5, 0, -2)
        M.arange(3, 1)
        M.arange(0)
        M.arange(3, step=0)
        M.arange(3, dtype='bool')
        M.arange(0, 10, 3, dtype='int32')
        M.arange(2 ** 24, 2 ** 24 + 3, dtype='int64')
        M.zeros_like(M.ones((2,), dtype='int32'))
        M.ones_like(M.zeros((2, 1), dtype='uint8'))
        M.eye(2)
        M.linspace(0, 1, 3)
        """,
    )
    yield from cases_from(
        "creation", namespace, "M.zeros((0,))\nM.zeros((2, 0))\nM.zeros(())", partial=True
    )
    for dtype in DTYPES:
        yield from cases_from(
            "creation-dtype",
            namespace,
            f"""
            M.array(onp.array([0, 1, 2]).astype('{dtype}'))
            M.array([0, 1, 2], dtype='{dtype}')
            M.ones((2,), dtype='{dtype}')
            """,
        )
        if dtype != "bool":
            yield from cases_from("creation-dtype", namespace, f"M.arange(1, 4, dtype='{dtype}')")
    if namespace == "nd":
        yield from cases_from(
            "creation", namespace, "nd.arange(2, repeat=2)\nnd.arange(0, 4, 2, repeat=3)"
        )
    else:
        yield from cases_from(
            "creation",
            namespace,
            """
            np.array([np.array([1, 2]), np.array([3, 4])])
            np.array(onp.int32(2))
            np.full((2, 2), np.array([1, 2]))
            np.full((2,), np.array([1, 2], dtype='int64'))
            np.full_like(np.ones((2,), dtype='int32'), 7.5)
            np.identity(2)
            np.zeros((2,), order='F')
            """,
        )


def binary(namespace: str) -> Iterator[Case]:
    """Two arrays: the dtype table, values, broadcasting."""
    operators = ("+", "-", "*", "/", "**", "%", "==", "!=", "<", "<=", ">", ">=")
    functions = ("maximum", "minimum", "add", "power")
    signed_unsigned = {("uint8", "int8"), ("int8", "uint8")}
    for op in operators + functions:
        pairs = [(dtype, dtype) for dtype in DTYPES]
        pairs += MIXED if namespace == "np" else MIXED[:3]
        if namespace == "np" and op in ("+", "/"):
            pairs = [(left, right) for left in DTYPES for right in DTYPES]
        elif op in ("!=", "<=", ">", ">=", "add", "power"):
            pairs = [("float32", "float32"), ("int32", "int32"), ("float32", "int32")]
        for left, right in pairs:
            if (left, right) in signed_unsigned and op in ("+", "*", "**"):
                continue  # it fails inside the kernel, at the next wait
            arrays = f"x = M.array([3, 0], dtype='{left}'); y = M.array([2, 1], dtype='{right}'); "
            call = f"M.{op}(x, y)" if op.isalpha() else f"x {op} y"
            yield Case(
                f"{namespace}/binary/{SHORT[left]} {op} {SHORT[right]}",
                namespace,
                spell(f"{arrays}result = {call}", namespace),
                partial=namespace == "np" or left == "bool" == right,
            )
    yield from cases_from(
        "binary",
        namespace,
        """
        M.array([7, -7, 7, -7], dtype='int32') % M.array([3, 3, -3, -3], dtype='int32')
        M.array([7, -7, 7, -7]) % M.array([3, 3, -3, -3])
        M.array([7.5, -7.5]) % M.array([2, 2])
        M.array([1, 0]) % M.array([0, 0])
        M.array([1, 0], dtype='int32') % M.array([0, 0], dtype='int32')
        M.array([7, -7], dtype='int32') / M.array([2, 2], dtype='int32')
        M.array([1, 0, -1]) / M.array([0, 0, 0])
        M.array([2, 3], dtype='int32') ** M.array([3, 2], dtype='int32')
        M.array([2, 3], dtype='int32') ** M.array([-1, -2], dtype='int32')
        M.array([250, 5], dtype='uint8') + M.array([10, 1], dtype='uint8')
        M.array([1, 2], dtype='uint8') - M.array([2, 2], dtype='uint8')
        M.array([2 ** 53 + 1], dtype='int64') + M.array([1], dtype='int64')
        M.array([0, 2]) ** M.array([0, -1])
        M.array([float('nan'), 1]) == M.array([float('nan'), 1])
        M.array([float('nan'), 1]) != M.array([float('nan'), 1])
        M.maximum(M.array([float('nan'), 1]), M.array([1, float('nan')]))
        M.minimum(M.array([float('nan'), 1]), M.array([1, float('nan')]))
        M.maximum(M.array([-float('inf'), 2]), M.array([0, float('inf')]))
        M.ones((2, 3)) + M.ones((3,))
        M.ones((2, 1)) + M.ones((1, 3))
        M.ones((2, 1, 3)) * M.arange(4).reshape((4, 1))
        M.arange(6).reshape((2, 3)) - M.array([[1], [2]])
        M.array([1]) + M.arange(3)
        M.minimum(M.array([1, 2]), M.array([[2], [1]]))
        M.array([1, 2]) < M.array([[2], [1]])
        M.maximum(3, 4) == 4
        M.add(M.array([1, 2]), 1)
        M.subtract(3, M.array([1, 2]))
        M.multiply(M.array([1, 2]), M.array([3, 4]))
        M.divide(M.array([1, 2]), M.array([4, 4]))
        M.power(2, M.array([3, 2]))
        LESS(M.array([1, 2]), 2)
        M.equal(M.array([1, 2]), M.array([1, 3]))
        M.greater_equal(M.array([1, 2]), M.array([2, 2]))
        M.ones((2, 3)) + M.ones((2, 4))
        M.ones((2, 3)) + M.ones((2,))
        M.ones((2, 3)) == M.ones((2, 4))
        M.maximum(M.ones((2, 3)), M.ones((2,)))
        M.array([5, 7]) // 2
        +M.array([1., 2.])
        """,
    )
    if namespace == "nd":
        yield from cases_from(
            "binary",
            namespace,
            """
            nd.modulo(nd.array([7, 8]), 3)
            nd.elemwise_add(nd.ones((2, 3)), nd.ones((2, 3)))
            nd.elemwise_add(nd.ones((2, 3)), nd.ones((3,)))
            nd.broadcast_add(nd.ones((2, 1)), nd.ones((1, 2)))
            nd.broadcast_maximum(nd.array([1, 5]), nd.array([3, 3]))
            nd.array([1, 2]) @ nd.array([1, 2])
            ~nd.array([1, 2], dtype='int32')
            """,
        )
    else:
        yield from cases_from(
            "binary",
            namespace,
            """
            np.mod(np.array([7, -7]), 3)
            np.true_divide(np.array([1, 2], dtype='int32'), 2)
            np.ones((0, 3)) + np.ones((1, 3))
            np.ones((0, 3)) * 2
            np.zeros((0,)) + np.zeros((1,))
            np.ones(()) + np.ones((2,))
            np.ones(()) + np.ones(())
            np.array(2, dtype='int32') + np.array(3.5)
            np.array([True, False], dtype='bool') & np.array([True, True], dtype='bool')
            ~np.array([True, False], dtype='bool')
            ~np.array([1, 2], dtype='int32')
            ~np.array([1., 2.])
            np.array([1, 2], dtype='int32') | np.array([4, 4], dtype='int32')
            np.array([1, 2], dtype='int32') ^ 3
            """,
        )


def scalars(namespace: str) -> Iterator[Case]:
    """An array and a Python or NumPy scalar, on either side, for each dtype."""
    for dtype in DTYPES if namespace == "nd" else ("float16", "float32", "uint8", "int32", "bool"):
        lines = "\n".join(
            f"x = M.array([1, 2], dtype='{dtype}'); result = {expression}"
            for expression in (
                "x + 1",
                "x + 1.5",
                "1.5 - x",
                "x * 2.5",
                "x / 2",
                "7 / x",
                "x ** 0.5",
                "2.5 ** x",
                "x % 1.5",
                "x + True",
                "onp.float32(2.5) * x",
                "x == 1",
                "x < 1.5",
                "-x",
                "M.maximum(x, 1.5)",
            )
        )
        yield from cases_from(f"scalar-{SHORT[dtype]}", namespace, lines)
    yield from cases_from(
        "scalar",
        namespace,
        """
        M.array([7, -7], dtype='int32') % -3
        M.array([7, -7]) % -3
        7 % M.array([3, -3], dtype='int32')
        -7 % M.array([3, -3])
        M.array([7, -7], dtype='int32') / 2
        M.array([1, 2], dtype='uint8') + 300
        M.array([250, 1], dtype='uint8') + 10
        M.array([1, 2], dtype='uint8') - 2
        -M.array([1, 2], dtype='uint8')
        M.array([100, 1], dtype='int8') * 2
        M.array([16777217, 1], dtype='int32') + 0
        M.array([2 ** 53 + 1, 1], dtype='int64') + 0
        M.array([1, 2], dtype='float16') + 70000
        M.array([0.1, 2]) + 0.1
        M.array([0.1, 2], dtype='float64') + 0.1
        M.array([1, 0]) / 0
        M.array([1, 0]) % 0
        M.array([-8, 8]) ** (1 / 3)
        M.array([0, 0]) ** 0
        M.array([1, 2], dtype='int32') == 1.5
        M.maximum(M.array([float('nan'), 1]), 0)
        M.array([1, 2]) + None
        M.array([1, 2]) + 'a'
        M.array([1, 2]) + [1, 2]
        M.array([1, 2]) * onp.array([1, 2])
        onp.array([1, 2]) * M.array([1, 2])
        M.array([1, 2]) == None
        M.array([1, 2]) != 'a'
        onp.float64(2) + M.arange(3)
        onp.int64(2) - M.arange(3)
        onp.float32(2) ** M.arange(3)
        M.arange(3) < onp.float32(2)
        """,
    )


def unary(namespace: str) -> Iterator[Case]:
    """Functions of one array, for each dtype."""
    names = ("M.exp", "M.log", "M.sqrt", "M.tanh", "M.abs", "M.negative", "F.sigmoid", "F.relu")
    for name in names:
        for dtype in DTYPES if namespace == "nd" else ("float16", "float32", "int32", "bool"):
            wants_positive = name in ("M.log", "M.sqrt") or dtype in ("uint8", "bool")
            values = "[1, 2, 4]" if wants_positive else "[-2, 0, 2]"
            yield Case(
                f"{namespace}/unary/{name[2:]} {SHORT[dtype]}",
                namespace,
                spell(f"result = {name}(M.array({values}, dtype='{dtype}'))", namespace),
            )
        yield Case(
            f"{namespace}/unary/{name[2:]} range",
            namespace,
            spell(
                f"result = {name}(M.array([-0.0, 1e-3, 0.5, 3.25, 20, 80, float('inf'), float('nan')]))",
                namespace,
            ),
        )
    yield from cases_from(
        "unary",
        namespace,
        """
        M.log(M.array([0., -1.]))
        M.sqrt(M.array([-1., 4.]))
        M.exp(M.array([1000., -1000.]))
        M.exp(M.array([12.], dtype='float16'))
        M.tanh(M.array([-1000., 1000.]))
        F.sigmoid(M.array([-1000., 1000.]))
        F.relu(M.array([float('nan'), -1, 2]))
        abs(M.array([-1.5, 2]))
        M.exp(M.ones((2, 3)))
        M.array([0.5, 0]).astype('bool')
        M.array([2.7, -2.7]).astype('int32')
        M.array([300, -1], dtype='int32').astype('uint8')
        M.array([0.3, 2]).astype('float16')
        M.array([-1, 0], dtype='int8').astype('bool')
        M.array([1, 2]).astype(float)
        M.array([1, 2]).astype(int)
        M.array([1, 2]).astype(None)
        M.array([1, 2]).astype('foo')
        x = M.array([1, 2]); result = x.astype('float32', copy=False) is x
        x = M.array([1, 2]); result = x.astype('float32') is x
        """,
    )
    for source in DTYPES:
        for target in DTYPES:
            if namespace == "np" and "float32" not in (source, target):
                continue  # the table is the same
            yield Case(
                f"{namespace}/cast/{SHORT[source]} to {SHORT[target]}",
                namespace,
                spell(
                    f"result = M.array([0, 1, 3], dtype='{source}').astype('{target}')", namespace
                ),
            )
    if namespace == "nd":
        yield from cases_from(
            "unary",
            namespace,
            """
            nd.cast(nd.array([1.7]), dtype='int32')
            nd.Cast(nd.array([1.7]), dtype='float64')
            nd.array([1., 4.]).sqrt()
            nd.array([-1., 4.]).relu()
            nd.array([-1., 4.]).abs()
            nd.exp(2)
            nd.exp([1, 2])
            """,
        )
    else:
        yield from cases_from(
            "unary",
            namespace,
            """
            np.exp(np.array(0.))
            np.exp(np.zeros((0, 2)))
            np.exp([1, 2])
            np.exp(onp.array([1, 2]))
            np.ones((2,)).exp()
            """,
        )


def choices(namespace: str) -> Iterator[Case]:
    """Where, clip and square: dtypes, shapes, bounds."""
    for dtype in DTYPES:
        yield from cases_from(
            f"choice-{SHORT[dtype]}",
            namespace,
            f"""
            M.where(M.array([0, 2, 1], dtype='{dtype}'), M.array([1, 2, 3]), M.array([4, 5, 6]))
            M.where(M.array([0, 2, 1]), M.array([1, 2, 3], dtype='{dtype}'), M.array([4, 5, 6], dtype='{dtype}'))
            M.clip(M.array([0, 2, 7], dtype='{dtype}'), 1, 5)
            M.clip(M.array([0, 2, 7], dtype='{dtype}'), 1.5, 5.5)
            M.clip(M.array([0, 2, 7], dtype='{dtype}'), -1.5, 300)
            M.square(M.array([0, 2, 20], dtype='{dtype}'))
            """,
        )
        if namespace == "np":
            yield from cases_from(
                f"choice-{SHORT[dtype]}",
                namespace,
                f"""
                np.where(np.array([0, 2, 1]), np.array([1, 2, 3], dtype='{dtype}'), 1.5)
                np.where(np.array([0, 2, 1]), 300, np.array([1, 2, 3], dtype='{dtype}'))
                np.where(np.array([0, 2, 1], dtype='{dtype}'), 1.5, 2)
                """,
            )
    for left, right in MIXED:
        yield Case(
            f"{namespace}/choice/where {SHORT[left]}, {SHORT[right]}",
            namespace,
            spell(
                "result = M.where(M.array([0, 2, 1]), "
                f"M.array([1, 2, 3], dtype='{left}'), M.array([4, 5, 6], dtype='{right}'))",
                namespace,
            ),
            partial=namespace == "np",
        )
    yield from cases_from(
        "choice",
        namespace,
        """
        M.where(M.array([1e-300, 0], dtype='float64'), M.array([1, 2]), M.array([3, 4]))
        M.where(M.array([2 ** 40, 0], dtype='int64'), M.array([1, 2], dtype='int32'), M.array([3, 4], dtype='int32'))
        M.where(M.array([0.5, 0]), M.array([1, 2], dtype='int32'), M.array([3, 4], dtype='int32'))
        M.where(M.array([float('nan'), -0.0]), M.array([1, 2]), M.array([3, 4]))
        M.where(M.array([1, 0]), M.array([float('nan'), 2]), M.array([3, -float('inf')]))
        M.where(M.array([1, 0], dtype='int64'), M.array([2 ** 53 + 1, 1], dtype='int64'), M.array([1, 2 ** 53 + 1], dtype='int64'))
        M.where(M.array([1, 0]), M.array([[1, 2], [3, 4]]), M.array([[5, 6], [7, 8]]))
        M.where(M.array([1, 0]), X234, -X234)
        M.where(M.array([1, 0, 1, 0]), X234, -X234)
        M.where(M.array([[1], [0]]), M.array([[1, 2], [3, 4]]), M.array([[5, 6], [7, 8]]))
        M.where(M.array([[1, 0]]), M.array([[1, 2], [3, 4]]), M.array([[5, 6], [7, 8]]))
        M.where(M.array([[1, 0], [0, 1]]), M.array([1, 2]), M.array([5, 6]))
        M.where(M.array([1, 0]), M.array([1, 2]), M.array([[5, 6], [7, 8]]))
        M.where(M.array([1, 0]), M.array([1, 2]), M.array([5]))
        M.where(M.array([1]), M.array([1, 2]), M.array([5, 6]))
        M.where(M.array([1]), M.array([[1, 2]]), M.array([[5, 6]]))
        M.where(M.array([1, 0, 1]), M.array([1, 2]), M.array([5, 6]))
        M.where(X34 > 5, X34, -X34)
        M.where(M.array([1, 0]), 1, M.array([5, 6]))
        M.where(M.array([1, 0]), M.array([5, 6]), 1)
        M.where(M.array([1, 0]), 1, 2)
        M.where(1, M.array([1, 2]), M.array([5, 6]))
        M.where([1, 0], M.array([1, 2]), M.array([5, 6]))
        M.where(M.array([1, 0]), [1, 2], M.array([5, 6]))
        M.where(condition=M.array([1, 0]), x=M.array([1, 2]), y=M.array([5, 6]))
        M.array([1, 0]).where(M.array([1, 2]), M.array([5, 6]))
        M.clip(M.array([float('nan'), -float('inf'), float('inf'), -0.0]), 0, 1)
        1 / M.clip(M.array([-0.0]), 0, 1)
        M.clip(M.array([0, 1, 2, 3]), 2, 1)
        M.clip(M.array([0, 1, 2, 3]), float('nan'), 1)
        M.clip(M.array([0, 1, 2, 3]), 1, float('nan'))
        M.clip(M.array([0, 1, 2, 3], dtype='int32'), float('nan'), 1)
        M.clip(M.array([0, 1, 2, 3], dtype='int32'), -float('inf'), 1)
        M.clip(M.array([0, 1, 2, 3], dtype='int32'), 1, float('inf'))
        M.clip(M.array([-3, -2, 2, 3], dtype='int32'), -1.5, 1.5)
        M.clip(M.array([-3, -2, 2, 3], dtype='int32'), -2.5, -1.5)
        M.clip(M.array([-3, -2, 2, 3], dtype='int8'), -1000, 1000)
        M.clip(M.array([1, 2, 3], dtype='uint8'), -1, 2)
        M.clip(M.array([1, 2, 3], dtype='uint8'), 0, 257)
        M.clip(M.array([16777217, 1], dtype='int32'), 0, 16777217)
        M.clip(M.array([2 ** 53 + 1, 1], dtype='int64'), 0, 2 ** 60)
        M.clip(M.array([2 ** 60, 1], dtype='int64'), 0, 2 ** 53 + 1)
        M.clip(M.array([0, 1], dtype='float64'), 0.1, 0.3)
        M.clip(M.array([0, 1], dtype='float64'), 0.25, 0.5)
        M.clip(M.array([1, 2, 3]), None, 2)
        M.clip(M.array([1, 2, 3]), 2, None)
        M.clip(M.array([1, 2, 3]), None, None)
        M.clip(M.array([1, 2, 3]), 2)
        M.clip(M.array([1, 2, 3]), a_min=1, a_max=2)
        M.clip(M.array([1, 2, 3]), M.array([1, 1, 1]), 2)
        M.clip(M.array([1, 2, 3]), [1, 1, 1], 2)
        M.clip(M.array([1, 2, 3]), 'a', 2)
        M.clip(M.array([1, 2, 3]), onp.float32(1.5), onp.int64(2))
        M.clip(2.5, 0, 1)
        M.clip([1, 2, 3], 0, 1)
        M.array([1, 2, 3]).clip(1.5, 2)
        M.array([1, 2, 3]).clip(2)
        M.array([1, 2, 3]).clip(a_min=2, a_max=2.5)
        M.array([1, 2, 3]).clip()
        M.clip(X34, 2, 7)
        x = M.array([1, 2, 3]); o = M.zeros((3,)); r = M.clip(x, 1, 2, out=o); result = (r is o, o.asnumpy().tolist())
        x = M.array([1, 2, 3]); o = M.zeros((3,)); r = x.clip(1, 2, out=o); result = (r is o, o.asnumpy().tolist())
        x = M.array([1, 2, 3]); r = M.clip(x, 1, 2, out=x); result = (r is x, x.asnumpy().tolist())
        M.clip(M.array([1, 2, 3]), 1, 2, out=M.zeros((2,)))
        M.clip(M.array([1, 2, 3]), 1, 2, out=M.zeros((3,), dtype='int32'))
        M.square(M.array([-2.5, float('nan'), -float('inf'), 1e30]))
        M.square(M.array([100, -3], dtype='int8'))
        M.square(M.array([2 ** 31], dtype='int64'))
        M.square(3)
        M.square([1, 2])
        M.array([3., -2.]).square()
        x = M.array([1, 2, 3]); o = M.zeros((3,)); r = M.square(x, out=o); result = (r is o, o.asnumpy().tolist())
        M.array([1., 2.]).exp().sqrt()
        """,
    )
    if namespace == "nd":
        yield from cases_from(
            "choice",
            namespace,
            """
            o = nd.zeros((2,)); r = nd.where(nd.array([1, 0]), nd.array([1, 2]), nd.array([5, 6]), out=o); result = (r is o, o.asnumpy().tolist())
            nd.where(nd.array([1, 0]), nd.array([1, 2]), nd.array([5, 6]), out=nd.zeros((3,)))
            nd.where(nd.array([1, 0]), nd.array([1, 2]), nd.array([5, 6]), out=nd.zeros((2,), dtype='int32'))
            nd.where(nd.array([1, 0]), nd.array([1, 2]))
            nd.array([1., 2.]).square().sqrt().tanh().log().abs().relu().sigmoid()
            nd.array([1., 2.]).sum().log()
            nd.array([1., 2.]).exp(out=nd.zeros((2,)))
            nd.array([1., 2.]).clip(1, 1.5).square()
            nd.array([1., 2.]).maximum(1)
            nd.array([1., 2.]).negative()
            """,
        )
    else:
        yield from cases_from(
            "choice",
            namespace,
            """
            np.where(np.array([[1], [0]]), np.array([1, 2, 3]), np.array([[9]]))
            np.where(np.array([[1], [0]]), np.array([1, 2, 3]), 9)
            np.where(np.array([[1, 0]]), np.array([[1], [2], [3]]), np.array(9.))
            np.where(np.array([1, 0]), True, False)
            np.where(np.array([1, 0]), 2 ** 40, 2)
            np.where(0, np.array([1, 2]), np.array([[5], [6]]))
            np.where(0, np.array([1, 2], dtype='int32'), 2.5)
            np.where(True, 1, 2)
            np.where(np.array(1.), 1, 2)
            np.where(np.array(1), np.array(2.), np.array(3.))
            np.where(np.array([1, 0]), np.array([1, 2]))
            np.where(np.array([1, 0]), None, np.array([1, 2]))
            np.where(onp.array([1, 0]), np.array([1, 2]), np.array([5, 6]))
            np.where(np.array([1, 0]), onp.float32(1), np.array([5, 6]))
            np.where(np.array([1, 0]), float('nan'), np.array([5, 6], dtype='float16'))
            np.where(np.array([1, 0]), -1, np.array([5, 6], dtype='uint8'))
            np.where(np.array([1, 0]), 1, np.array([5, 6]), out=np.zeros((2,)))
            np.where(np.zeros((0,)), np.zeros((0,)), np.zeros((0,)))
            np.where(np.zeros((0, 2)), np.zeros((2,)), 1)
            np.clip(np.zeros((0, 2)), 0, 1)
            np.clip(np.array(3.), 0, 1)
            np.clip(np.array([1, 2, 3]), np.array(2), 2.5)
            np.clip(2, 0, 1)
            np.array([1, 2, 3]).clip(None, 2)
            np.array([1, 2, 3]).clip(max=2)
            """,
        )


def powers(namespace: str) -> Iterator[Case]:
    """Powers whose exponent is a number: the ones that need no general power."""
    for dtype in DTYPES:
        for exponent in ("0", "1", "1.0", "2", "2.0", "2.5", "3", "0.5"):
            yield Case(
                f"{namespace}/power/{SHORT[dtype]} ** {exponent}",
                namespace,
                spell(
                    f"result = M.array([0, 2, 20], dtype='{dtype}') ** {exponent}",
                    namespace,
                ),
            )
    for exponent in ("0.5", "1", "2", "3", "-1"):
        special = "M.array([-0.0, -float('inf'), float('inf'), -1.5, float('nan'), 0, 4, 2])"
        yield from cases_from(
            "power", namespace, f"{special} ** {exponent}\n1 / {special} ** {exponent}"
        )
    yield from cases_from(
        "power",
        namespace,
        """
        M.array([-3, 3, 1000], dtype='int32') ** 2
        M.array([-3, 3, 1000], dtype='int32') ** 3
        M.array([-3, 3, 16, 100], dtype='int8') ** 2
        M.array([200, 3], dtype='uint8') ** 2
        M.array([3, 7], dtype='int32') ** 2.9
        M.array([300, 2], dtype='float16') ** 2
        M.array([50, 2], dtype='float16') ** 3
        M.array([1e20, 1e-25, -1e13]) ** 3
        M.power(M.array([1, 2, 3]), 2)
        M.power(M.array([1, 2, 3]), True)
        M.array([1, 2, 3]) ** onp.float32(2)
        x = M.array([1, 2, 3]); y = x ** 1; y[:] = 0; result = x
        x = M.array([1, 2, 3]); x **= 2; result = x
        (X34 ** 2).sum(axis=0)
        2 ** M.array([1, 2, 3])
        """,
    )


def reductions(namespace: str) -> Iterator[Case]:
    """Sum, mean, max, min and norm: shapes, dtypes, axes."""
    functions = ("M.sum(", "M.mean(", "M.max(", "M.min(", "NORM(")
    for function in functions:
        label = function[2:-1].lower() if function != "NORM(" else "norm"
        for dtype in DTYPES:
            for arguments in ("", ", axis=0") if dtype in ("float32", "int32", "bool") else ("",):
                yield Case(
                    f"{namespace}/reduce/{label}{arguments} {SHORT[dtype]}",
                    namespace,
                    spell(
                        f"result = {function}M.array([[1, 2], [0, 4]], dtype='{dtype}'){arguments})",
                        namespace,
                    ),
                )
        axes = ("-1", "(0, 2)", "1, keepdims=True", "(0, 1, 2)", "3", "-4")
        for axis in axes:
            if function == "NORM(" and axis in ("(0, 1, 2)", "-4") and namespace == "np":
                continue  # not a matrix norm; not checked by MXNet
            yield Case(
                f"{namespace}/reduce/{label} axis={axis}",
                namespace,
                spell(f"result = {function}X234, axis={axis})", namespace),
            )
        yield Case(
            f"{namespace}/reduce/{label} keepdims",
            namespace,
            spell(f"result = {function}X34, keepdims=True)", namespace),
        )
    yield from cases_from(
        "reduce",
        namespace,
        """
        M.sum(X34, axis=())
        M.sum(X234, axis=(2, 0))
        M.sum(X234, axis=(-1, 0))
        M.sum(X34, axis=(0, 0))
        M.sum(M.array([200, 100], dtype='uint8'))
        M.mean(M.array([200, 100], dtype='uint8'), axis=0)
        M.sum(M.array([float('nan'), 1]))
        M.max(M.array([float('nan'), 1]))
        M.min(M.array([1, float('nan')]))
        M.max(M.array([-float('inf'), -1]))
        M.max(M.array([-5, -7], dtype='int8'))
        M.min(M.array([-5, -7], dtype='int64'))
        X34.sum()
        X34.sum(axis=0)
        X34.sum(axis=1, keepdims=True)
        X34.mean(axis=1)
        X34.max(axis=0)
        X34.min()
        NORM(M.array([[3, 4], [6, 8]]))
        NORM(M.array([3, -4]), ord=1)
        NORM(M.array([[3, -4], [6, 8]]), ord=1, axis=0)
        NORM(M.array([[3, 4], [6, 8]]), ord=2, axis=1)
        NORM(M.array([[3, 4], [6, 8]]), axis=1, keepdims=True)
        NORM(M.array([3e20, 4e20]))
        M.sum(2)
        M.sum([1, 2])
        """,
    )
    if namespace == "nd":
        yield from cases_from(
            "reduce",
            namespace,
            """
            nd.sum(X234, axis=1, exclude=True)
            nd.sum(X234, axis=(0, 2), exclude=True)
            nd.sum(X234, axis=(0, 1, 2), exclude=True)
            nd.mean(X234, axis=-1, exclude=True)
            nd.max(X234, axis=1, exclude=True, keepdims=True)
            nd.sum(X34, 0)
            nd.sum(X34, 1, True)
            X34.sum(0)
            X34.norm()
            nd.norm(nd.array([3, 4]), ord=3)
            nd.sum(X34, axis='a')
            nd.sum(X34, foo=1)
            nd.sum()
            """,
        )
    else:
        yield from cases_from(
            "reduce",
            namespace,
            """
            np.sum(np.zeros((0,)))
            np.sum(np.zeros((0, 3)), axis=0)
            np.max(np.zeros((0,)))
            np.max(np.zeros((0, 3)), axis=1)
            np.sum(np.array(3.), axis=0)
            np.max(np.array(3.))
            np.sum(X34, dtype='float64')
            np.sum(np.ones((2, 3), dtype='int32'), dtype='float32')
            np.sum(np.ones((2, 3), dtype='bool'), dtype='int32')
            np.mean(np.ones((2, 3), dtype='int32'), dtype='float64')
            np.linalg.norm(np.array([[3, 4], [6, 8]]), ord='fro')
            np.linalg.norm(np.array([[3, -4], [1, 1]]), ord=1)
            np.linalg.norm(np.array(-3.))
            X34.max(1)
            X34.mean(dtype='float64')
            """,
        )


def products(namespace: str) -> Iterator[Case]:
    """The dot product."""
    yield from cases_from(
        "dot",
        namespace,
        """
        M.dot(M.array([1, 2]), M.array([3, 4]))
        M.dot(M.arange(6).reshape((2, 3)), M.arange(12).reshape((3, 4)))
        M.dot(M.arange(6).reshape((2, 3)), M.arange(3))
        M.dot(M.arange(3), M.arange(6).reshape((3, 2)))
        M.dot(X234, M.arange(8).reshape((4, 2)))
        M.dot(M.arange(6, dtype='float64').reshape((2, 3)), M.arange(6, dtype='float64').reshape((3, 2)))
        M.dot(M.ones((2, 3)), M.ones((4, 5)))
        M.dot(M.ones((3,)), M.ones((4,)))
        M.dot(M.ones((2, 2)), M.ones((2, 2), dtype='float64'))
        M.dot(M.ones((2, 2), dtype='int32'), M.ones((2, 2), dtype='int32'))
        M.dot(M.ones((2, 2), dtype='float16'), M.ones((2, 2), dtype='float16'))
        M.dot(M.ones((2, 2)), 2)
        o = M.zeros((2, 2)); r = M.dot(M.ones((2, 2)), M.ones((2, 2)), out=o); result = (r is o, o.asnumpy().tolist())
        """,
    )
    if namespace == "nd":
        yield from cases_from(
            "dot",
            namespace,
            """
            nd.dot(X234, nd.arange(24).reshape((4, 2, 3)))
            nd.dot(nd.arange(6).reshape((2, 3)), nd.arange(6).reshape((2, 3)), transpose_a=True)
            nd.dot(nd.arange(6).reshape((2, 3)), nd.arange(6).reshape((2, 3)), transpose_b=True)
            nd.dot(nd.arange(6).reshape((3, 2)), nd.arange(12).reshape((4, 3)), transpose_a=True, transpose_b=True)
            nd.dot(X234, nd.arange(4).reshape((2, 2)), transpose_a=True)
            nd.dot(nd.arange(6).reshape((2, 3)), nd.arange(24).reshape((4, 2, 3)), transpose_b=True)
            nd.dot(nd.arange(3), nd.arange(6).reshape((3, 2)), transpose_a=True)
            nd.dot(nd.arange(6).reshape((3, 2)), nd.arange(2), transpose_b=True)
            nd.dot(nd.ones((3,)), nd.ones((3,)), transpose_a=True)
            nd.dot(nd.ones((2, 3)), nd.ones((2, 3)), transpose_a=False)
            """,
        )
    else:
        yield from cases_from(
            "dot",
            namespace,
            """
            np.dot(X234, np.arange(24).reshape((3, 4, 2)))
            np.dot(X234, np.arange(4))
            np.dot(np.array(2.), np.ones((2, 2)))
            np.dot(np.array(2.), np.array(3.))
            np.dot(np.ones((2, 0)), np.ones((0, 3)))
            np.dot(np.ones((0, 2)), np.ones((2, 3)))
            np.arange(6).reshape((2, 3)).dot(np.arange(3))
            np.arange(6).reshape((2, 3)) @ np.arange(6).reshape((3, 2))
            np.ones((2, 3)) @ 2
            """,
        )


def shapes(namespace: str) -> Iterator[Case]:
    """Reshape, transpose, slice, concat and their kin."""
    yield from cases_from(
        "shape",
        namespace,
        """
        X234.reshape((6, 4))
        X234.reshape(6, 4)
        X234.reshape(-1)
        X234.reshape((4, -1))
        X234.reshape((5, 5))
        X234.reshape((-1, 5))
        X234.reshape((-1, -1))
        M.ones((1,)).reshape(())
        M.reshape(X34, (4, 3))
        M.transpose(X34)
        M.transpose(X234)
        M.transpose(X234, axes=(1, 0, 2))
        M.transpose(X234, axes=(1, 0))
        X234.transpose((2, 0, 1))
        X34.T
        M.arange(3).T
        M.expand_dims(X34, axis=1)
        M.expand_dims(X34, axis=-1)
        M.expand_dims(X34, axis=3)
        M.squeeze(M.ones((1, 3, 1)))
        M.squeeze(M.ones((1, 3, 1)), axis=0)
        M.squeeze(M.ones((1, 3, 1)), axis=1)
        M.squeeze(M.ones((1, 1)))
        X234.flatten()
        M.swapaxes(X234, 0, 2)
        M.broadcast_to(M.arange(3).reshape((1, 3)), (2, 3))
        M.arange(3).broadcast_to((2, 3))
        M.arange(2).broadcast_to((2, 3))
        M.concatenate([M.ones((1, 2)), M.zeros((2, 2))])
        M.concatenate([M.ones((2, 1)), M.zeros((2, 2))], axis=1)
        M.concatenate([M.ones((2, 1), dtype='int32'), M.zeros((2, 1), dtype='int32')], axis=1)
        M.concatenate([M.ones((2, 1)), M.zeros((3, 2))], axis=1)
        M.concatenate([M.ones((2, 1)), M.zeros((2, 1), dtype='int32')], axis=1)
        M.concatenate([M.ones((2, 1)), M.zeros((2, 1))], axis=2)
        """,
    )
    if namespace == "nd":
        yield from cases_from(
            "shape",
            namespace,
            """
            X234.reshape((0, -1)).shape
            X234.reshape((0, 0, -1)).shape
            X234.reshape((-2,)).shape
            X234.reshape((2, -2)).shape
            X234.reshape((-2, 1, 1)).shape
            X234.reshape((-3, 4)).shape
            X234.reshape((0, -3)).shape
            X234.reshape((-3, -2)).shape
            nd.ones((2, 3, 4, 5)).reshape((-3, -3)).shape
            X234.reshape((-4, 1, 2, -2)).shape
            X234.reshape((2, -4, -1, 3, -2)).shape
            nd.ones((8, 3)).reshape((-4, -1, 2, 0)).shape
            nd.ones((8, 3)).reshape((-4, 2, -1, 0)).shape
            nd.ones((10, 5, 4)).reshape((-1, 0), reverse=True).shape
            nd.ones((10, 5, 4)).reshape((-1, 0)).shape
            X234.reshape(shape=(4, 6)).shape
            X234.reshape((5, 4))
            X234.reshape((2, 2))
            X234.reshape((-5,))
            X234.reshape()
            X234.reshape((24.0,))
            X34.reshape_like(nd.ones((4, 3)))
            nd.reshape(X34, shape=(0, -1)).shape
            nd.slice(X34, begin=(0, 1), end=(2, 3))
            nd.slice(X34, begin=(None, 1), end=(None, 3))
            nd.slice(X34, begin=(1,), end=(3,))
            nd.slice(X34, begin=(None, 0), end=(None, 3), step=(-1, 2))
            nd.slice(X34, begin=(-2,), end=(None,))
            nd.slice(X34, begin=(0,), end=(9,))
            nd.slice_axis(X34, axis=1, begin=1, end=3)
            nd.slice_axis(X34, axis=-1, begin=-3, end=-1)
            nd.slice_axis(X34, axis=0, begin=1, end=None)
            nd.slice_axis(X34, axis=0, begin=0, end=10)
            nd.slice_axis(X34, axis=2, begin=0, end=1)
            nd.slice_axis(X34, axis=0, begin=2, end=1)
            X34.slice_axis(axis=0, begin=0, end=2)
            nd.concat(nd.ones((1, 2)), nd.zeros((2, 2)), dim=0)
            nd.concat(nd.ones((2, 1)), nd.zeros((2, 2)))
            nd.concat(nd.ones((2, 1)), nd.zeros((2, 2)), dim=-1)
            nd.concat(nd.ones((2,)), nd.zeros((3,)), dim=0)
            nd.concat(nd.ones((2,)), nd.zeros((3,)))
            nd.concat(nd.ones((2, 1)), dim=0)
            nd.concat(nd.ones((2, 1)), nd.zeros((3, 2)), dim=1)
            nd.concat(nd.ones((2, 1)), nd.zeros((2, 1), dtype='int32'), dim=1)
            nd.concat(nd.ones((2, 1)), nd.zeros((2, 1)), dim=2)
            nd.concat()
            nd.concat([nd.ones((2, 1)), nd.zeros((2, 1))], dim=1)
            nd.stack(nd.ones((2,)), nd.zeros((2,)))
            nd.stack(nd.ones((2,)), nd.zeros((2,)), axis=-1)
            X234.transpose(2, 0, 1)
            X34.expand_dims(0).shape
            nd.flatten(X234).shape
            """,
        )
    else:
        yield from cases_from(
            "shape",
            namespace,
            """
            X234.reshape((0, -1))
            X234.reshape((-2,))
            np.ones(()).reshape((1, 1))
            np.ones((0,)).reshape((0, 3))
            np.ones((0,)).reshape((-1, 3))
            X34.reshape(4, 3, order='F')
            npx.reshape(np.ones((2, 3, 8)), (-2, -2, -1)).shape
            npx.reshape(np.ones((2, 3, 8)), (-4,)).shape
            npx.reshape(np.ones((2, 3, 8)), (-5, -2)).shape
            npx.reshape(np.ones((2, 3, 8)), (-2, -2, -6, 2, 4)).shape
            np.transpose(X234, (-1, 0, 1))
            np.transpose(X234, (1, 1, 0))
            X234.transpose(2, 0, 1)
            np.ones(()).T
            np.expand_dims(np.ones(()), 0)
            np.ravel(X34)
            np.concatenate((np.ones((2,)), np.zeros((3,))))
            np.concatenate([np.ones((2, 1)), np.zeros((2, 2))], axis=-1)
            np.concatenate([np.ones((2, 2)), np.zeros((2, 1))], axis=None)
            np.concatenate([np.ones((2, 1), dtype='bool'), np.zeros((2, 1), dtype='bool')], axis=1)
            np.concatenate([np.ones((0, 2)), np.zeros((2, 2))])
            np.concatenate([])
            np.stack([np.ones((2,)), np.zeros((2,))])
            np.stack([np.ones((2,)), np.zeros((2,))], axis=-1)
            """,
        )


def indexing(namespace: str) -> Iterator[Case]:
    """Loads, stores, which of them share memory, in-place operators, out=."""
    loads = (
        "0", "-1", "1:3", "0:1", ":", "...", "::2", "::-1", "2:0:-1", "1:10", "10:", "-2:", "1:1", "()", "None",
        ":, 1", "1, :", "1, 1:3", "0:2, 0:2", ":2, :", "1, 2", "..., 0", ":, None", "None, ..., None", ":, ::-2",
        "onp.int64(1)", "[0, 2]", "[0, 2], [1, 3]", "onp.array([0, 2])",
        "5", "-4", "3, 0", "0, 4", "0, 0, 0", "::0", "'a'", "1.0", "..., ...",
    )  # fmt: skip
    for key in loads:
        yield Case(
            f"{namespace}/load/x[{key}]", namespace, spell(f"result = X34[{key}]", namespace)
        )
    for key in (
        "1, :, 2",
        "..., 1:3",
        "1, ..., 0",
        ":, 0",
        "0, 1, 2",
        "-1, -1, -1",
        "0, None, 1",
        ":, 1:, ::2",
    ):
        yield Case(
            f"{namespace}/load/x3[{key}]", namespace, spell(f"result = X234[{key}]", namespace)
        )
    shared = (
        "x[1:3]", "x[0]", "x[-1]", "x[:, 1]", "x[::2]", "x[::-1]", "x[0:2, 0:2]", "x[:2, :]", "x[:]", "x[...]",
        "x[..., 0]", "x[None]", "x[:, None]", "x[1, :]", "x[1, 1:3]", "x[0:1]", "x[0:3:1]", "x[[0, 1]]",
        "x.reshape((4, 3))", "x.T", "x.copy()", "x.astype('float32')", "x.astype('float32', copy=False)",
        "x.as_in_context(mx.cpu(0))", "x.detach()", "M.reshape(x, (4, 3))", "M.transpose(x)", "M.squeeze(x)",
        "x.as_np_ndarray()", "x.as_nd_ndarray()", "x[1:][0]", "x[0:2][1:2]", "M.array(x)",
    )  # fmt: skip
    for view in shared:
        yield Case(
            f"{namespace}/share/{view}",
            namespace,
            spell(f"x = X34; v = {view}; v[:] = -99; result = x", namespace),
        )
    yield from cases_from(
        "share",
        namespace,
        """
        x = X34; v = x[1:]; v += 100; result = x
        x = X34; x[0][1:3] = 50; result = x
        x = X34; x[:, 1][0:1] = 50; result = x
        x = X34; v = x[1:]; x[:] = 7; result = v
        x = X34; v = x[0]; x += 1; result = v
        x = X234; v = x[1, 1]; v[:] = 0; result = x
        x = X234; v = x[1, 1:3]; v[:] = 0; result = x
        x = X234; v = x[0:2, 1]; v[:] = 0; result = x
        x = M.arange(24).reshape((1, 6, 4)); v = x[:, 1:3]; v[:] = 0; result = x
        x = M.arange(4); y = x; x = x + 1; result = y
        """,
    )
    yield from cases_from(
        "store",
        namespace,
        """
        x = X34; x[0] = 5; result = x
        x = X34; x[-1] = 5; result = x
        x = X34; x[:] = 7; result = x
        x = X34; x[...] = 7; result = x
        x = X34; x[()] = 2; result = x
        x = X34; x[None] = 3; result = x
        x = X34; x[1:3] = [1, 2, 3, 4]; result = x
        x = X34; x[1:10] = 5; result = x
        x = X34; x[1:1] = 3; result = x
        x = X34; x[:, 1] = 9; result = x
        x = X34; x[:, 1] = M.array([1, 2, 3]); result = x
        x = X34; x[:, 1] = M.array([1, 2, 3], dtype='int32'); result = x
        x = X34; x[:, 1] = onp.array([1.5, 2, 3]); result = x
        x = X34; x[:, 1] = [1, 2, 3]; result = x
        x = X34; x[:, 1:2] = M.array([1, 2, 3]).reshape((3, 1)); result = x
        x = X34; x[::2] = -1; result = x
        x = X34; x[::-1] = X34; result = x
        x = X34; x[0] = M.arange(4).reshape((1, 4)); result = x
        x = X34; x[:] = M.arange(4); result = x
        x = X34; x[:] = onp.arange(4); result = x
        x = X34; x[:] = M.ones((3, 1)); result = x
        x = X34; x[:] = (1, 2, 3, 4); result = x
        x = X34; x[:] = range(4); result = x
        x = X34; x[1, 2] = 100; result = x
        x = X34; x[1, 2] = M.array([100]); result = x
        x = X34; x[1, 2] = True; result = x
        x = X34; x[1, 2] = onp.float64(3.5); result = x
        x = X34; x[0:2, 1:3] = M.array([[1, 2], [3, 4]]); result = x
        x = X34; x[0:2, 1:3] = [[1, 2], [3, 4]]; result = x
        x = X34; x[[0, 2]] = 3; result = x
        x = X34; x[:] = x; result = x
        x = X34; x[1] = x[0] * 2; result = x
        x = X34; x[0] = M.arange(3); result = x
        x = X34; x[:] = M.arange(3); result = x
        x = X34; x[0] = onp.arange(3); result = x
        x = X34; x[0] = [1, 2, 3]; result = x
        x = X34; x[0] = M.arange(8).reshape((2, 4)); result = x
        x = X34; x[0] = 'a'; result = x
        x = X34; x[5] = 1; result = x
        x = X34; x[0, 4] = 1; result = x
        y = M.array([1, 2, 3], dtype='int32'); y[0] = 2.7; result = y
        y = M.array([1, 2, 3], dtype='int32'); y[:] = M.array([1.7, -1.7, 0.2]); result = y
        y = M.array([1, 2, 3], dtype='int32'); y[:] = [1.7, -1.7, 0.2]; result = y
        y = M.array([1, 2, 3], dtype='uint8'); y[:] = M.array([300, 2, 3], dtype='int32'); result = y
        y = M.array([1, 2, 3], dtype='bool'); y[0] = 0; result = y
        y = M.array([0, 0, 0], dtype='bool'); y[:] = 2; result = y
        y = M.arange(5); y[3:1:-1] = M.array([10, 20]); result = y
        y = M.zeros((2, 2)); y[:] = M.array([[1.5, 2], [3, 4]], dtype='float64'); result = y
        """,
    )
    yield from cases_from(
        "in-place",
        namespace,
        """
        y = M.array([5, 7]); z = y; y += 1; result = (z is y, z.asnumpy().tolist())
        y = M.array([5, 7]); z = y; y -= 1; result = (z is y, z.asnumpy().tolist())
        y = M.array([5, 7]); z = y; y *= 2; result = (z is y, z.asnumpy().tolist())
        y = M.array([5, 7]); z = y; y /= 2; result = (z is y, z.asnumpy().tolist())
        y = M.array([5, 7]); z = y; y %= 2; result = (z is y, z.asnumpy().tolist())
        y = M.array([5, 7]); z = y; y **= 2; result = (z is y, z.asnumpy().tolist(), y.asnumpy().tolist())
        y = M.array([1, 2], dtype='int32'); y += 1.5; result = y
        y = M.array([1, 2], dtype='int32'); y *= 2.5; result = y
        y = M.array([1, 2], dtype='int32'); y -= 2.9; result = y
        y = M.array([5, 7], dtype='int32'); y /= 2; result = y
        y = M.array([5, 7], dtype='int32'); y %= 3; result = y
        y = M.array([5, 7], dtype='int32'); y //= 3; result = y
        y = M.array([5, 7], dtype='bool'); y += 1; result = y
        y = M.array([5, 7]); y += M.array([1, 2], dtype='int32'); result = y
        y = M.array([5, 7], dtype='int32'); y += M.array([1.5, 2]); result = y
        y = M.array([5, 7], dtype='int32'); y /= M.array([2, 2], dtype='int32'); result = y
        y = M.array([5, 7]); y += M.array([[1, 2], [3, 4]]); result = y
        y = M.array([[5, 7]]); y += M.array([[1, 2], [3, 4]]); result = y
        y = M.array([[5, 7], [1, 1]]); y += M.array([1, 2]); result = y
        y = M.array([5, 7]); y += M.array([1, 2, 3]); result = y
        y = M.array([5, 7]); y += onp.array([1, 2]); result = y
        y = M.array([5, 7]); y += [1, 2]; result = y
        y = M.arange(3); y += y; result = y
        y = M.ones((2,)); y /= 0; result = y
        x = X34; x[0] += 1; result = x
        x = X34; x[:, 1] += 1; result = x
        x = X34; x[::2] *= 2; result = x
        x = X34; x[1, 2] -= 10; result = x
        """,
    )
    yield from cases_from(
        "out",
        namespace,
        """
        o = M.zeros((2,)); r = M.exp(M.array([0, 1]), out=o); result = (r is o, o.asnumpy().tolist())
        o = M.zeros((3,)); r = M.exp(M.array([0, 1]), out=o); result = o
        o = M.zeros((2,), dtype='int32'); r = M.exp(M.array([0, 1]), out=o); result = o
        o = M.zeros((2,)); r = M.sum(X34.reshape((2, 6)), axis=1, out=o); result = (r is o, o.asnumpy().tolist())
        o = M.zeros((4,)); M.exp(M.array([0, 1]), out=o[:2]); result = o
        o = M.zeros((2, 2)); M.exp(M.array([0, 1]), out=o[:, 0]); result = o
        a = M.array([1, 2]); M.exp(a, out=a); result = a
        o = M.zeros((2,)); r = M.add(M.array([1, 2]), M.array([3, 4]), out=o); result = (r is o, o.asnumpy().tolist())
        o = M.zeros((2,)); r = M.maximum(M.array([1, 2]), 1.5, out=o); result = (r is o, o.asnumpy().tolist())
        o = M.zeros((2,), dtype='float64'); M.add(M.array([1, 2]), M.array([3, 4]), out=o); result = o
        o = M.zeros((1,), ctx=mx.cpu(1)); r = M.exp(M.array([0]), out=o); result = r
        """,
    )
    if namespace == "nd":
        yield from cases_from(
            "load",
            namespace,
            """
            nd.arange(3)[0]
            nd.arange(3)[-1]
            nd.arange(3)[3]
            X34[True].shape
            X34[nd.array([0, 2])]
            X34[nd.array([0, 2], dtype='int32')]
            X34[2:1]
            o = nd.zeros((2,)); r = nd.elemwise_add(nd.array([1, 2]), nd.array([3, 4]), out=o); result = r is o
            """,
        )
    else:
        yield from cases_from(
            "load",
            namespace,
            """
            np.arange(3)[0]
            np.arange(3)[-1]
            np.arange(3)[3]
            np.array(3.)[()]
            np.array(3.)[0]
            X34[True].shape
            X34[False].shape
            X34[X34 > 5]
            X34[np.array([0, 2])]
            X34[2:1]
            y = np.array(1.); y[()] = 5; result = y
            y = np.array(1.); y[:] = 5; result = y
            x = X34; x[x > 5] = 0; result = x
            x = X34; x[1:] = x[:2]; result = x
            x = X34; x[:2] = x[1:]; result = x
            """,
        )


def protocols(namespace: str) -> Iterator[Case]:
    """What Python and NumPy ask of an array: bool, len, iteration, hash, pickle, attributes."""
    yield from cases_from(
        "protocol",
        namespace,
        """
        bool(M.array([1, 2]))
        bool(M.array([0.]))
        bool(M.array([2]))
        bool(M.array([[2]]))
        bool(M.array([]))
        not M.array([0])
        len(X34)
        len(M.array(3.))
        [row.shape for row in X34]
        [row.asnumpy().tolist() for row in X34[1:]]
        list(M.arange(2))[1]
        list(reversed(M.arange(3)))[0]
        sum(M.array([1, 2, 3]))
        max(M.array([1, 3, 2]))
        1 in M.arange(3)
        5 in M.arange(3)
        M.array([1, 2]) in [M.array([1, 2])]
        [1, 2, 3][M.array([1], dtype='int64')]
        pickle.loads(pickle.dumps(M.array([1, 2], dtype='int32')))
        pickle.loads(pickle.dumps(M.arange(6).reshape((2, 3))[1]))
        copy.copy(M.arange(2))
        x = M.arange(2); y = copy.deepcopy(x); y[:] = 5; result = x
        x = X34; result = (x.size, x.ndim, x.shape, x.stype)
        result = onp.dtype(X34.dtype).name
        result = isinstance(X34.dtype, type)
        result = isinstance(X34.dtype, onp.dtype)
        result = type(X34.shape).__name__
        result = type(X34.size).__name__
        X34.grad
        X34.foo
        result = X34.__array_priority__
        result = isinstance(M.array([1]), nd.NDArray)
        result = type(M.array([1])).__name__
        a = M.ones((2,)).asnumpy(); result = (type(a).__name__, a.flags.writeable, str(a.dtype), a.shape)
        x = M.ones((2,)); a = x.asnumpy(); a[:] = 5; result = x
        a = onp.ones((2,), 'float32'); x = M.array(a); a[:] = 5; result = x
        a = onp.ones((2,), 'float32'); x = M.zeros((2,)); x[:] = a; a[:] = 5; result = x
        M.ones((2,)).wait_to_read()
        x = X34; x.shape = (4, 3); result = x
        x = X34; x.dtype = 'int32'; result = x
        x = M.arange(3); x.attach_grad(); result = x.grad
        """,
    )
    if namespace == "nd":
        yield from cases_from(
            "protocol",
            namespace,
            """
            nd.array([1.5]).asscalar()
            nd.array([1], dtype='int32').asscalar()
            nd.array([2], dtype='float16').asscalar()
            repr(nd.arange(3)) == str(nd.arange(3))
            nd.array([1], dtype='bool').asscalar()
            nd.array([1, 2]).asscalar()
            x = nd.array([1, 2]); result = {x: 1}[x]
            onp.sum(nd.arange(3))
            nd.waitall()
            issubclass(np.ndarray, nd.NDArray)
            """,
        )
    else:
        yield from cases_from(
            "protocol",
            namespace,
            """
            float(np.array([1.5]))
            float(np.array([[1.5]]))
            float(np.array(1.5))
            float(np.array([1.5, 2]))
            int(np.array([1.5]))
            int(np.array([1, 2]))
            np.array([1.5]).item()
            np.array([1], dtype='int32').item()
            np.array([1], dtype='bool').item()
            np.array([1.5, 2]).item()
            np.array([1.5, 2]).item(1)
            np.array([[1, 2], [3, 4]]).item(1, 0)
            np.array([1.5, 2]).tolist()
            np.array([[1, 2], [3, 4]], dtype='int32').tolist()
            np.array(1.5).tolist()
            round(np.array(1.567), 1)
            onp.sum(np.arange(3))
            onp.mean(np.arange(3), axis=0)
            onp.exp(np.arange(2))
            onp.add(np.arange(2), 1)
            onp.add(np.arange(2), np.arange(2))
            onp.maximum(np.arange(3), 1)
            onp.dot(np.ones((2, 2)), np.ones((2, 2)))
            onp.concatenate([np.arange(2), np.arange(2)])
            onp.stack([np.arange(2), np.arange(2)])
            onp.transpose(np.ones((2, 3)))
            onp.reshape(np.ones((2, 3)), (3, 2))
            onp.linalg.norm(np.array([3., 4.]))
            onp.ones_like(np.ones((2,), dtype='int32'))
            npx.waitall()
            np.float32 is onp.float32
            np.array([1, 2]).as_nd_ndarray()
            npx.is_np_shape(), npx.is_np_array()
            nd.sum(nd.array([1, 2]))
            nd.array([1, 2]) + np.array([1, 2])
            np.array([1, 2]) + nd.array([1, 2])
            nd.exp(np.array([1]))
            np.exp(nd.array([1]))
            np.array(nd.array([1, 2]))
            x = np.zeros((2,)); x[:] = nd.array([1, 2]); result = x
            """,
        )


def printing(namespace: str) -> Iterator[Case]:
    """repr and str, which must agree letter for letter."""
    arrays = """
        M.array(3.)
        M.array([1.])
        M.arange(3)
        M.array([[1, 2], [3, 4]])
        M.zeros((2, 3, 2))
        M.zeros((2, 1, 1))
        M.array([])
        M.array([], dtype='int32')
        M.array(onp.zeros((2, 0), 'float32'))
        M.array(onp.zeros((0, 3), 'float32'))
        M.array([1.5, -2.25, 3e10])
        M.array([1e-8, 1])
        M.array([float('nan'), float('inf'), -float('inf'), 1])
        M.array([1 / 3, 2 / 3])
        M.array([1 / 3, 2 / 3], dtype='float64')
        M.array([1 / 3, 2 / 3], dtype='float16')
        M.array([1, 2], dtype='int32')
        M.array([1, 2], dtype='int64')
        M.array([1, 2], dtype='int8')
        M.array([1, 2], dtype='uint8')
        M.array([1, 0], dtype='bool')
        M.array([-1, 10, 100], dtype='int32')
        M.array(3, dtype='int32')
        M.array(True, dtype='bool')
        M.array(0.5, dtype='float64')
        M.zeros((2,), ctx=mx.cpu(1))
        M.zeros((2, 2), ctx=mx.cpu_pinned(0))
        M.arange(2000)
        M.arange(2000, dtype='int64')
        M.zeros((100, 100))
        M.zeros((3, 2000))
        M.arange(40)
        M.arange(40, dtype='float64')
        M.array([123456789., 1])
        M.array([0.1, 100000.])
        M.array([-0.0])
        M.arange(30).reshape((2, 3, 5))
        M.array([[0.1, 2.], [-3.25, 4e5]])
        M.array([1e38, -1e-38])
        M.array([0.1, 0.12, 0.123])
        """
    for line in arrays.strip().splitlines():
        yield from cases_from("print", namespace, f"repr({line.strip()})")
        if namespace == "np":  # in nd the two are one
            yield from cases_from("print", namespace, f"str({line.strip()})")
    yield from cases_from(
        "print",
        namespace,
        """
        f'{M.arange(2)}'
        '%s' % M.arange(2)
        '{:.2f}'.format(M.array([1.5, 2.5]))
        repr(M.arange(12).reshape((3, 4))[1:, 2])
        str(M.arange(3)[1])
        repr(X34.T)
        """,
    )
    if namespace == "np":
        yield from cases_from("print", namespace, "f'{np.array(1.5):.2f}'\n'%f' % np.array(1.5)")


def contexts(namespace: str) -> Iterator[Case]:
    """Contexts, and arrays moving between them."""
    yield from cases_from(
        "context",
        namespace,
        """
        M.zeros((2,), ctx=mx.cpu(1)) + M.zeros((2,))
        M.zeros((2,)) + M.zeros((2,), ctx=mx.cpu(1))
        M.ones((2,), ctx=mx.cpu(1)) + 1
        M.dot(M.ones((2, 2), ctx=mx.cpu(1)), M.ones((2, 2)))
        M.ones((2,), ctx=mx.cpu(1)).copy()
        M.ones((2,), ctx=mx.cpu(1)).astype('int32')
        M.ones((2,), ctx=mx.cpu(1)).reshape((1, 2))
        M.ones((2,), ctx=mx.cpu(1))[0:1]
        M.zeros_like(M.ones((2,), ctx=mx.cpu(1)))
        M.ones((2,)).MOVE(mx.cpu(1))
        M.ones((2,)).as_in_context(mx.cpu(1))
        M.ones((2,)).copyto(mx.cpu(1))
        x = M.ones((2,)); result = x.as_in_context(mx.cpu(0)) is x
        x = M.ones((2,)); result = x.copyto(mx.cpu(0)) is x
        x = M.ones((2,)); y = M.zeros((2,)); r = x.copyto(y); result = (r is y, y.asnumpy().tolist())
        x = M.ones((2,)); y = M.zeros((2,), dtype='int32'); x.copyto(y); result = y
        x = M.ones((2,)); y = M.zeros((2,), ctx=mx.cpu(1)); x.copyto(y); result = y
        x = M.ones((2,)); y = M.zeros((3,)); x.copyto(y); result = y
        M.ones((2,)).copyto('cpu')
        M.ones((2,)).as_in_context('cpu')
        x = M.ones((2,), ctx=mx.cpu(1)); x[:] = M.zeros((2,)); result = x
        repr(M.ones((2,)).CTX)
        repr(M.ones((2,), ctx=mx.cpu(3)).CTX)
        with mx.cpu(1): result = M.zeros((2,))
        with mx.cpu(1): result = M.array([1, 2])
        with mx.cpu(1): result = M.arange(2)
        M.zeros((1,), ctx=mx.gpu(0))
        M.array([1], ctx=mx.gpu(0))
        M.ones((1,)).as_in_context(mx.gpu(0))
        M.ones((1,)).copyto(mx.gpu(0))
        """,
    )
    if namespace == "nd":
        yield from cases_from(
            "context",
            namespace,
            """
            repr(mx.cpu()), str(mx.cpu()), repr(mx.cpu(1)), repr(mx.gpu(0)), repr(mx.gpu()), repr(mx.cpu_pinned(2))
            mx.cpu() == mx.cpu(0), mx.cpu() == mx.cpu(1), mx.cpu() == mx.gpu(), mx.cpu() == mx.cpu_pinned()
            mx.cpu() == 'cpu(0)', mx.cpu() != mx.cpu(1)
            hash(mx.cpu()) == hash(mx.cpu(0)), {mx.gpu(1): 5}[mx.gpu(1)]
            mx.cpu().device_type, mx.cpu(1).device_id, mx.gpu(2).device_typeid, mx.cpu_pinned().device_typeid
            repr(mx.Context('cpu', 1)), repr(mx.Context('gpu')), repr(mx.Context(mx.gpu(3)))
            mx.Context('foo', 0)
            repr(mx.current_context())
            with mx.gpu(0): result = repr(mx.current_context())
            with mx.cpu(1) as c: result = repr(c)
            with mx.cpu(1), mx.cpu(2): result = repr(mx.current_context())
            mx.context.num_gpus()
            repr(mx.nd.array(mx.nd.ones((2,), ctx=mx.cpu(1))).context)
            mx.Context.devtype2str == {1: 'cpu', 2: 'gpu', 3: 'cpu_pinned', 5: 'cpu_shared'}
            issubclass(mx.base.MXNetError, RuntimeError), mx.MXNetError is mx.base.MXNetError
            mx.__version__
            mx.engine.set_bulk_size(10); result = mx.engine.set_bulk_size(15)
            with mx.engine.bulk(10): result = nd.ones((2,)) + 1
            nd.concat(nd.ones((1, 1), ctx=mx.cpu(1)), nd.ones((1, 1)), dim=0)
            """,
        )


def randomness(namespace: str) -> Iterator[Case]:
    """Shapes, dtypes, bounds and repetition of random draws; never the numbers themselves."""
    yield from cases_from(
        "random",
        namespace,
        """
        M.random.uniform().shape
        M.random.normal().shape
        M.random.uniform(0, 1, (2, 3)).shape
        M.random.uniform(0, 1, 3).shape
        M.random.normal(0, 1, (2, 3)).shape
        M.random.randn(2, 3).shape
        onp.dtype(M.random.uniform(0, 1, (2,)).dtype).name
        onp.dtype(M.random.normal(0, 1, (2,), dtype='float64').dtype).name
        onp.dtype(M.random.uniform(0, 1, (2,), dtype='float16').dtype).name
        M.random.uniform(0, 1, (2,), dtype='int32')
        repr(M.random.uniform(0, 1, (2,), ctx=mx.cpu(1)).CTX)
        M.random.uniform(M.array([0, 10]), M.array([1, 11])).shape
        M.random.normal(M.array([0, 10]), M.array([1, 2])).shape
        a = M.random.uniform(-3, 2, (1000,)).asnumpy(); result = bool((a >= -3).all() and (a < 2).all())
        a = M.random.uniform(0, 1, (10000,)).asnumpy(); result = bool(abs(a.mean() - 0.5) < 0.05)
        a = M.random.normal(5, 2, (10000,)).asnumpy(); result = bool(abs(a.mean() - 5) < 0.2 and abs(a.std() - 2) < 0.2)
        f = M.random.uniform; mx.random.seed(7); a = f(0, 1, 3); mx.random.seed(7); b = f(0, 1, 3); result = a == b
        f = M.random.normal; mx.random.seed(7); a = f(0, 1, 9); b = f(0, 1, 9); result = a == b
        f = M.random.normal; mx.random.seed(7); a = f(0, 1, 3); mx.random.seed(8); b = f(0, 1, 3); result = a == b
        mx.random.seed(1)
        mx.random.seed(1, ctx=mx.cpu())
        mx.random.seed('a')
        mx.random.seed(1.5)
        """,
    )
    if namespace == "nd":
        yield from cases_from(
            "random",
            namespace,
            """
            nd.random.uniform(shape=(2, 3)).shape
            nd.random.uniform(nd.array([0, 10]), nd.array([1, 11]), shape=(3,)).shape
            nd.random.normal(nd.array([0, 10]), nd.array([1, 2]), shape=(3, 4)).shape
            nd.random.normal(nd.array([0, 10]), 1)
            nd.random.uniform(nd.array([0, 10]), nd.array([1]))
            o = nd.zeros((2, 2)); r = nd.random.uniform(0, 1, out=o); result = (r is o, r.shape)
            o = nd.zeros((2, 2)); r = nd.random.uniform(0, 1, shape=(3,), out=o); result = r.shape
            nd.random.normal(0, -1, (2,))
            mx.random.uniform(0, 1, (2,)).shape
            """,
        )
    else:
        yield from cases_from(
            "random",
            namespace,
            """
            np.random.uniform(size=()).shape
            np.random.uniform(size=(0, 2)).shape
            np.random.uniform(np.array([0, 10]), 11, size=(3, 2)).shape
            np.random.normal(np.array([0, 10]), np.array([[1], [2]])).shape
            np.random.normal(3, 0, (2,))
            np.random.normal(0, -1, (2,))
            o = np.zeros((2, 2)); r = np.random.normal(0, 1, size=(2, 2), out=o); result = (r is o, r.shape)
            np.random.rand(2, 3).shape
            """,
        )


def errors(namespace: str) -> Iterator[Case]:
    """Refusals that no other group shows."""
    yield from cases_from(
        "error",
        namespace,
        """
        M.array([[1, 2], [3]])
        M.array(['a'])
        M.array([1, 2], dtype='foo')
        M.array([1, 2], dtype='uint16')
        M.zeros((2,), dtype='foo')
        M.zeros((-1,))
        M.zeros((2,)).astype('uint16')
        M.foo
        M.array([1, 2], foo=1)
        """,
    )


GROUPS = (
    creation, binary, scalars, unary, choices, powers, reductions, products, shapes, indexing, protocols, printing,
    contexts, randomness, errors,
)  # fmt: skip


def all_cases() -> list[Case]:
    """Every program, in a fixed order, each once."""
    found: dict[str, Case] = {}
    for namespace in ("nd", "np"):
        for group in GROUPS:
            for case in group(namespace):
                if found.setdefault(case.name, case) != case:
                    raise ValueError(f"two programs are called {case.name}")
    return list(found.values())


# ---- recording -----------------------------------------------------------------------------------------------------


class Unrecordable(BaseException):
    """A program of ours left something that has no place in the file: our mistake, not MXNet's answer."""


def number(value: Any) -> Any:
    """Make one array element fit for JSON without losing anything."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value


def numbers(values: Any) -> Any:
    """The same for nested lists."""
    return [numbers(item) for item in values] if isinstance(values, list) else number(values)


def encode(value: Any) -> dict[str, Any]:
    """Describe a plain value as ``{"type": ..., "value": ...}``; sequences hold such descriptions of their items."""
    if isinstance(value, (list, tuple)):
        return {"type": type(value).__name__, "value": [encode(item) for item in value]}
    if isinstance(value, onp.generic):
        return {"type": f"numpy.{value.dtype.name}", "value": number(value.item())}
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"type": type(value).__name__, "value": number(value)}
    raise Unrecordable(f"cannot record a {type(value).__name__}")


def message(error: BaseException) -> str:
    """The line of an error that says what went wrong: MXNet puts a C++ traceback around it."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    if not lines:
        return ""
    classes = ("MXNetError: ", "ValueError: ", "IndexError: ", "TypeError: ")
    for line in lines:
        if line.startswith(classes):
            return line.split(": ", 1)[1]
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]


def describe(result: Any, mx: Any) -> dict[str, Any]:
    """Describe what a program left in ``result``."""
    if isinstance(result, mx.nd.NDArray):
        host = result.asnumpy()
        described = {
            "kind": "array",
            "type": type(result).__name__,
            "dtype": host.dtype.name,
            "shape": list(result.shape),
            "values": numbers(host.tolist()),
        }
        place = repr(result.ctx)
        if place != "cpu(0)":
            described["ctx"] = place
        return described
    if isinstance(result, str):
        return {"kind": "text", "text": result}
    return {"kind": "value", **encode(result)}


def settle(mx: Any) -> None:
    """Use up errors of earlier programs, which MXNet hands to whoever waits next."""
    for _ in range(8):
        try:
            mx.nd.waitall()
        except Exception:
            continue
        return


def run(case: Case, mx: Any) -> dict[str, Any]:
    """Run one program by itself and describe the outcome."""
    settle(mx)
    if case.namespace == "np":
        mx.npx.set_np()
    else:
        mx.npx.reset_np()
    names = {
        "mx": mx,
        "nd": mx.nd,
        "np": mx.np,
        "npx": mx.npx,
        "onp": onp,
        "pickle": pickle,
        "copy": copy,
    }
    outcome: dict[str, Any]
    try:
        exec(compile(case.code, case.name, "exec"), names)
        outcome = describe(names["result"], mx)
        mx.nd.waitall()
    except Exception as error:
        text = message(error)
        outcome = {"kind": "error", "error": type(error).__name__, "message": text}
        if (case.partial and isinstance(error, mx.MXNetError)) or any(
            limit in text for limit in LIMITS
        ):
            outcome["limit"] = True
    finally:
        settle(mx)
        mx.npx.reset_np()
    return {"name": case.name, "namespace": case.namespace, "code": case.code, **outcome}


def main() -> int:
    """Record every program and write the file."""
    warnings.simplefilter("ignore")
    mx: Any = importlib.import_module("mxnet")
    if mx.__version__ != "1.9.1":
        print(f"this needs MXNet 1.9.1, not {mx.__version__}", file=sys.stderr)
        return 1
    rows = [json.dumps(run(case, mx), separators=(",", ":")) for case in all_cases()]
    target = Path(__file__).with_name("foundation.json")
    head = json.dumps({"oracle": f"mxnet {mx.__version__}", "numpy": onp.__version__})
    with target.open("w", encoding="utf-8", newline="\n") as file:
        file.write(head[:-1] + ', "cases": [\n' + ",\n".join(rows) + "\n]}\n")
    print(f"{len(rows)} cases, {target.stat().st_size} bytes: {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
