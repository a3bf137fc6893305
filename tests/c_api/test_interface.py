# SPDX-License-Identifier: Apache-2.0
"""The library without Python: what it shows, refuses, and predicts."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as onp
import pytest
from support_c import built, run

import afterglow as mx
from afterglow import nd

LIBRARY = """
import ctypes, json, sys
import numpy as np

library = ctypes.CDLL(sys.argv[1])
library.AGGetLastError.restype = ctypes.c_char_p

def check(outcome):
    assert outcome == 0, library.AGGetLastError().decode()

def listed(function):
    count, names = ctypes.c_size_t(), ctypes.POINTER(ctypes.c_char_p)()
    check(function(ctypes.byref(count), ctypes.byref(names)))
    return [names[i].decode() for i in range(count.value)]
"""


def in_library(script: str, *arguments: object) -> str:
    """Return what a script prints that knows the library through ctypes alone."""
    code = LIBRARY + textwrap.dedent(script)
    return run(sys.executable, "-c", code, built("libafterglow.so"), *arguments)


def test_only_the_interface_is_shown() -> None:
    library = built("libafterglow.so")
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    names = {line.split()[-1].split("@")[0] for line in listing.stdout.splitlines()}
    assert {name for name in names if not name.startswith(("AG", "MX"))} == {"AFTERGLOW_1"}
    headers = Path(__file__).parents[2].glob("include/afterglow/*.h")
    declared = "".join(header.read_text(encoding="utf-8") for header in headers)
    assert [name for name in names if f"{name}(" not in declared] == ["AFTERGLOW_1"]
    needed = run("ldd", library)
    assert "python" not in needed


def test_refused_ops_are_those_that_numpy_computes() -> None:
    hosts = run(
        sys.executable,
        "-c",
        "import afterglow, afterglow.image, afterglow.initializer\n"
        "from afterglow import nd, np, npx, _core\n"
        "np.linalg, np.random, npx, nd.linalg, nd.contrib\n"
        "print(*(name for name, op in _core.describe_table().items() if op['host']))",
    ).split()
    refused = in_library("print(*listed(library.AGListRefusedOps))").split()
    assert sorted(refused) == sorted(hosts)


def test_every_name_of_the_table_can_be_called() -> None:
    names = set(in_library("print(*listed(library.AGListOps))").split())
    table = mx._core.describe_table()
    wanted = {name for op in table.values() if not op["host"] for name in op["mxnet_names"]}
    assert wanted <= names
    assert {"nd.dot", "np.add", "npx.softmax", "nd.contrib.box_nms", "_plus_scalar"} <= names


@pytest.mark.parametrize("shape", [(2, 1, 8, 8), (5, 1, 8, 8)])
def test_predictions_through_the_interface_of_mxnet(tmp_path: Path, shape: tuple[int, ...]) -> None:
    data = mx.sym.var("data")
    layer = mx.sym.Convolution(data, kernel=(3, 3), num_filter=4, name="conv")
    layer = mx.sym.BatchNorm(layer, fix_gamma=False, name="norm")
    layer = mx.sym.Activation(layer, act_type="relu", name="active")
    layer = mx.sym.FullyConnected(layer, num_hidden=3, name="fc")
    net = mx.sym.SoftmaxOutput(layer, mx.sym.var("softmax_label"), name="softmax")
    executor = net.simple_bind(mx.cpu(), data=shape)
    weights = {}
    for kind, arrays in ("arg", executor.arg_dict), ("aux", executor.aux_dict):
        for name, array in arrays.items():
            if name not in ("data", "softmax_label"):
                array[:] = nd.random.uniform(0.1, 1, array.shape)
                weights[f"{kind}:{name}"] = array
    x = nd.random.uniform(-1, 1, shape)
    (expected,) = executor.forward(is_train=False, data=x)
    net.save(str(tmp_path / "net.json"))
    nd.save(str(tmp_path / "net.params"), weights)
    onp.save(tmp_path / "x.npy", x.asnumpy())
    printed = in_library(
        """
        graph, weights = open(sys.argv[2], "rb").read(), open(sys.argv[3], "rb").read()
        x = np.load(sys.argv[4])

        def arguments(shape):
            keys = (ctypes.c_char_p * 1)(b"data")
            return keys, (ctypes.c_uint * 2)(0, len(shape)), (ctypes.c_uint * len(shape))(*shape)

        first, handle = ctypes.c_void_p(), ctypes.c_void_p()
        keys, begins, extents = arguments((1, *x.shape[1:]))
        check(library.MXPredCreate(graph, weights, len(weights), 1, 0, 1, keys, begins, extents,
                                   ctypes.byref(first)))
        keys, begins, extents = arguments(x.shape)
        check(library.MXPredReshape(1, keys, begins, extents, first, ctypes.byref(handle)))
        check(library.MXPredFree(first))
        pointer = x.ctypes.data_as(ctypes.c_void_p)
        assert library.MXPredSetInput(handle, b"dat", pointer, x.size) == -1
        assert library.MXPredSetInput(handle, b"data", pointer, x.size - 1) == -1
        check(library.MXPredSetInput(handle, b"data", pointer, x.size))
        shape, rank = ctypes.POINTER(ctypes.c_uint)(), ctypes.c_uint()
        check(library.MXPredGetOutputShape(handle, 0, ctypes.byref(shape), ctypes.byref(rank)))
        result = np.empty(shape[: rank.value], np.float32)
        check(library.MXPredForward(handle))
        target = result.ctypes.data_as(ctypes.c_void_p)
        assert library.MXPredGetOutput(handle, 1, target, result.size) == -1
        check(library.MXPredGetOutput(handle, 0, target, result.size))
        check(library.MXPredFree(handle))
        assert library.MXPredForward(handle) == -1

        # Several that share the weights, and an output inside of the graph.
        both, left, kind = (ctypes.c_void_p * 2)(), ctypes.c_int(-1), ctypes.c_int(-1)
        check(library.MXPredCreateMultiThread(graph, weights, len(weights), 1, 0, 1, keys, begins,
                                              extents, 2, both))
        for one in both:
            one, again = ctypes.c_void_p(one), np.zeros_like(result)
            check(library.MXPredSetInput(one, b"data", pointer, x.size))
            check(library.MXPredPartialForward(one, 0, ctypes.byref(left)))
            check(library.MXPredGetOutputType(one, 0, ctypes.byref(kind)))
            copy = again.ctypes.data_as(ctypes.c_void_p)
            check(library.MXPredGetOutput(one, 0, copy, again.size))
            check(library.MXPredFree(one))
            assert (left.value, kind.value) == (0, 0)
            assert (again == result).all()
        inner = (ctypes.c_char_p * 1)(b"active")
        check(library.MXPredCreatePartialOut(graph, weights, len(weights), 1, 0, 1, keys, begins,
                                             extents, 1, inner, ctypes.byref(handle)))
        check(library.MXPredGetOutputShape(handle, 0, ctypes.byref(shape), ctypes.byref(rank)))
        assert shape[: rank.value] == [len(x), 4, 6, 6]
        check(library.MXPredFree(handle))

        arrays, count = ctypes.c_void_p(), ctypes.c_uint()
        check(library.MXNDListCreate(weights, len(weights), ctypes.byref(arrays),
                                     ctypes.byref(count)))
        key, data = ctypes.c_char_p(), ctypes.POINTER(ctypes.c_float)()
        names = []
        for i in range(count.value):
            check(library.MXNDListGet(arrays, i, ctypes.byref(key), ctypes.byref(data),
                                      ctypes.byref(shape), ctypes.byref(rank)))
            names.append(key.value.decode())
        check(library.MXNDListFree(arrays))
        # Damaged files are refused, wherever they end.
        for length in range(0, len(weights), 7):
            assert library.MXNDListCreate(weights, length, ctypes.byref(arrays),
                                          ctypes.byref(count)) == -1
        for length in range(0, len(graph), 11):
            cut = graph[:length]
            assert library.MXPredCreate(cut, weights, len(weights), 1, 0, 1, keys, begins, extents,
                                        ctypes.byref(first)) == -1
        print(json.dumps([result.tolist(), names]))
        """,
        tmp_path / "net.json",
        tmp_path / "net.params",
        tmp_path / "x.npy",
    )
    result, names = json.loads(printed)
    onp.testing.assert_allclose(result, expected.asnumpy(), rtol=1e-5, atol=1e-6)
    assert sorted(names) == sorted(weights)
