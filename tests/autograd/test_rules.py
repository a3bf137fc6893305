# SPDX-License-Identifier: Apache-2.0
"""Every gradient rule against finite differences, for write and add, and of second order."""

from __future__ import annotations

import numpy as onp
import pytest

import afterglow as mx
from afterglow import _core, autograd
from afterglow._arrays.worlds import NUMPY, in_world
from afterglow._mathematics.gradients import RULES

POSITIVE = (
    *("log", "sqrt", "power", "reciprocal", "rsqrt", "log2", "log10", "log1p", "gamma", "gammaln"),
    *("arctan2", "hypot", "prod"),
)
SMALL = ("arcsin", "arccos", "arctanh", "erfinv")  # of what lies between -1 and 1


def _values(shape, seed, positive=False):
    host = onp.random.default_rng(seed).uniform(0.3, 2.0, shape)
    if not positive:
        host *= onp.random.default_rng(seed + 1).choice([-1.0, 1.0], shape)
    return host


def _call(name, legacy, *arguments, **parameters):
    return _core.operation(name, legacy)(*arguments, **parameters)


def _indices(legacy, values):
    world = mx.nd if legacy else mx.np
    return world.array(values, dtype="int64")


def _stored(legacy, x, y):
    result = x * 2
    result[[2, 0]] = y * y
    return result * 3


def _masked(legacy, x):
    result = x * x
    result[_indices(legacy, [[1, 0, 0, 1], [0, 0, 0, 1], [1, 1, 1, 0]]).astype("bool")] = 5.0
    return result * x


#: name of the case -> function of (legacy, arrays), shapes of its inputs, positive inputs only
CASES = {
    **{
        name: (lambda legacy, x, name=name: _call(name, legacy, x), [(2, 3)], name in POSITIVE)
        for name in (
            *("negative", "abs", "exp", "log", "sqrt", "square", "tanh", "sigmoid", "relu"),
            *("sin", "cos", "tan", "arctan", "sinh", "cosh", "arcsinh", "expm1", "log1p", "log2"),
            *("log10", "cbrt", "rsqrt", "reciprocal", "degrees", "radians", "erf", "gammaln"),
            *(
                "digamma",
                "gamma",
                "softsign",
                "softrelu",
                "gelu",
                "sign",
                "floor",
                "ceil",
                "trunc",
                "round",
            ),
            *("rint", "round_half_to_even"),
        )
    },
    **{
        name: (lambda legacy, x, name=name: _call(name, legacy, x * 0.4), [(2, 3)], False)
        for name in SMALL
    },
    "arccosh": (lambda legacy, x: _call("arccosh", legacy, x + 1), [(2, 3)], True),
    **{
        f"{name} with a number": (
            lambda legacy, x, name=name: _call(name, legacy, x, 0.7),
            [(3, 4)],
            False,
        )
        for name in ("leaky_relu", "elu", "smooth_l1")
    },
    **{
        f"{name} with an array": (
            lambda legacy, x, y, name=name: _call(name, legacy, x, y),
            [(3, 4), (4,)],
            False,
        )
        for name in ("leaky_relu", "elu", "copysign")
    },
    **{
        f"{name} {shapes}": (
            lambda legacy, x, y, name=name: _call(name, legacy, x, y),
            shapes,
            name in POSITIVE,
        )
        for name in (
            *("add", "subtract", "multiply", "divide", "power", "maximum", "minimum"),
            *("hypot", "arctan2"),
        )
        for shapes in ([(2, 3), (2, 3)], [(2, 3), (3,)], [(2, 1), (1, 3)], [(3,), (2, 3)])
    },
    "clip": (lambda legacy, x: _call("clip", legacy, x, -1.0, 1.0), [(3, 4)], False),
    "modulo": (lambda legacy, x, y: _call("modulo", legacy, x, y), [(2, 3), (2, 3)], True),
    "numbers": (lambda legacy, x: 2 / (x * 3 + 1) - x**3 + 2**x - (1 - x), [(2, 3)], True),
    "where": (
        lambda legacy, x, y: _call("where", legacy, x > 0, x * 2, y * 3),
        [(2, 3), (2, 3)],
        False,
    ),
    **{
        f"{name} {parameters}": (
            lambda legacy, x, name=name, parameters=parameters: _call(
                name, legacy, x, **parameters
            ),
            [(2, 3, 4)],
            False,
        )
        for name in ("sum", "mean", "max", "min", "norm1", "norm2", "prod")
        for parameters in ({}, {"axis": (1,)}, {"axis": (0, 2), "keepdims": True}, {"axis": (-1,)})
    },
    **{
        f"dot {flags}": (
            lambda legacy, x, y, flags=flags: _call("dot", legacy, x, y, *flags),
            [(4, 3) if flags[0] else (3, 4), (2, 4) if flags[1] else (4, 2)],
            False,
        )
        for flags in ((False, False), (False, True), (True, False), (True, True))
    },
    **{
        f"batch_dot {flags}": (
            lambda legacy, x, y, flags=flags: _call("batch_dot", legacy, x, y, *flags),
            [(2, 4, 3) if flags[0] else (2, 3, 4), (2, 2, 4) if flags[1] else (2, 4, 2)],
            False,
        )
        for flags in ((False, False), (False, True), (True, False), (True, True))
    },
    "cumsum": (lambda legacy, x: _call("cumsum", legacy, x, axis=1), [(2, 3)], False),
    **{
        f"layer_norm, output {output}": (
            lambda legacy, x, scale, shift, output=output: _call(
                "layer_norm", legacy, x, scale, shift, 0.1
            )[output],
            [(2, 4), (4,), (4,)],
            False,
        )
        for output in range(3)
    },
    **{
        name: (lambda legacy, x, name=name: _call(name, legacy, x), [(2, 3)], False)
        for name in ("softmax_of_rows", "log_softmax_of_rows")
    },
    "reverse_sequences": (
        lambda legacy, x: _call("reverse_sequences", legacy, x, _indices(legacy, [2, 3])),
        [(3, 2, 2)],
        False,
    ),
    "take": (
        lambda legacy, x: _call("take", legacy, x, _indices(legacy, [[2, 0], [2, 1]]), axis=1),
        [(2, 3, 2)],
        False,
    ),
    "take of all elements": (
        lambda legacy, x: in_world(
            NUMPY.take(in_world(x, False), _indices(False, [[5, 0], [5, -2]]), axis=None), legacy
        ),
        [(2, 3)],
        False,
    ),
    "key of arrays": (lambda legacy, x: x[[1, 0, 1], :, [0, 2, 2]], [(2, 2, 3)], False),
    "pick": (
        lambda legacy, x: _call("pick", legacy, x, _indices(legacy, [2, 0]), axis=1),
        [(2, 3)],
        False,
    ),
    "pick on axis 0": (
        lambda legacy, x: _call("pick", legacy, x, _indices(legacy, [1, 0, 1]), axis=0),
        [(2, 3)],
        False,
    ),
    **{
        f"take_along_axis {indices}": (
            lambda legacy, x, indices=indices: _call(
                "take_along_axis", legacy, x * x, _indices(legacy, indices), axis=1
            ),
            [(2, 3)],
            False,
        )
        # The last one, several for a line, one for all lines.
        for indices in ([[-1], [0]], [[0, 2, 2, 1], [1, -1, -3, 0]], [[1]], [[2, 2, 0]])
    },
    "take_along_axis from one line": (
        lambda legacy, x: _call(
            "take_along_axis", legacy, x, _indices(legacy, [[0, 1], [1, 1], [2, 0]]), axis=1
        ),
        [(1, 3)],
        False,
    ),
    "take_along_axis of all elements": (
        lambda legacy, x: _call("take_along_axis", legacy, x, _indices(legacy, [-1, 0, 3])),
        [(2, 3)],
        False,
    ),
    "pick_labels": (
        lambda legacy, x: _call("pick_labels", legacy, x, _indices(legacy, [2, 0]), axis=1),
        [(2, 3)],
        False,
    ),
    "store by arrays": (lambda legacy, x, y: _stored(legacy, x, y), [(3, 4), (2, 4)], False),
    "store by mask": (lambda legacy, x: _masked(legacy, x), [(3, 4)], False),
    **{
        f"matmul of {shapes}": (
            lambda legacy, x, y: _call("matmul", legacy, x, y),
            [*shapes],
            False,
        )
        for shapes in (
            ((2, 1, 3, 4), (5, 4, 2)),
            ((2, 3, 4), (4, 2)),
            ((4,), (2, 4, 3)),
            ((2, 3, 4), (4,)),
            ((2, 3, 4), (1, 4, 2)),
        )
    },
    "matmul of transposed stacks": (
        lambda legacy, x, y: _call("matmul", legacy, x, y, True, True),
        [(2, 4, 3), (1, 2, 4)],
        False,
    ),
    "inverse_or_zero": (
        lambda legacy, x: _call("inverse_or_zero", legacy, x),
        [(2, 2, 2)],
        False,
    ),
    **{
        f"topk {wanted}": (
            lambda legacy, x, wanted=wanted: (
                _call("topk", legacy, x, 1, 2, wanted)
                if wanted == "value"
                else _call("topk", legacy, x, None, 3, wanted)[0]
            ),
            [(2, 4)],
            False,
        )
        for wanted in ("value", "both")
    },
    "dot of vectors": (lambda legacy, x, y: _call("dot", legacy, x, y), [(4,), (4,)], False),
    "dot with a vector": (lambda legacy, x, y: _call("dot", legacy, x, y), [(3, 4), (4,)], False),
    "concat": (
        lambda legacy, x, y: _call("concat", legacy, [x, y, x], 1),
        [(2, 3), (2, 1)],
        False,
    ),
    "reshape": (lambda legacy, x: x.reshape((3, 2)) * 2, [(2, 3)], False),
    "transpose": (lambda legacy, x: x.T * 2, [(2, 3)], False),
    "row": (lambda legacy, x: x[1] * x[0], [(2, 3)], False),
    "slice": (lambda legacy, x: x[:, 1:] * 2, [(3, 4)], False),
    "step": (lambda legacy, x: x[::2, ::-1] * 2, [(4, 3)], False),
}
CASES["broadcast"] = (
    lambda legacy, x: _call("copy", legacy, x, shape=(4, 2, 3)),
    [(2, 1)],
    False,
)


def _definite(x):
    """Symmetric positive definite matrices, far from having two equal eigenvalues."""
    product = mx.nd.linalg.gemm2(x, x, transpose_b=True)
    return product + mx.nd.array(
        onp.diag([3.0, 1, 0.3, 2])[: x.shape[-1], : x.shape[-1]], dtype=x.dtype
    )


def _in_nd(function):
    return lambda legacy, *arrays: function(*(array.as_nd_ndarray() for array in arrays))


def _in_np(function):
    return lambda legacy, *arrays: function(*(array.as_np_ndarray() for array in arrays))


def _of_matrices(*matrices):
    """All elements of several results in a row, each with another weight."""
    return mx.np.concatenate([matrix.as_np_ndarray().reshape(-1) for matrix in matrices])


#: Functions that NumPy computes on a worker; their gradients are compositions.
HOST_CASES = {
    "nd.linalg.det": (_in_nd(mx.nd.linalg.det), [(3, 3)], False),
    "stack of nd.linalg.det": (_in_nd(mx.nd.linalg.det), [(2, 3, 3)], False),
    "nd.linalg.slogdet": (_in_nd(lambda x: mx.nd.linalg.slogdet(x)[1]), [(2, 3, 3)], False),
    "nd.linalg.inverse": (_in_nd(mx.nd.linalg.inverse), [(2, 2, 2)], False),
    **{
        f"nd.linalg.potrf lower={lower}": (
            _in_nd(lambda x, lower=lower: mx.nd.linalg.potrf(_definite(x), lower=lower)),
            [(3, 3)],
            False,
        )
        for lower in (True, False)
    },
    **{
        f"nd.linalg.potri lower={lower}": (
            _in_nd(lambda x, lower=lower: mx.nd.linalg.potri(x, lower=lower)),
            [(2, 2)],
            True,
        )
        for lower in (True, False)
    },
    **{
        f"nd.linalg.{name} {flags}": (
            _in_nd(
                lambda x, y, name=name, flags=flags: getattr(mx.nd.linalg, name)(
                    x, y, *flags, alpha=2.0
                )
            ),
            [(2, 3, 3), (2, 3, 3)],
            True,
        )
        for name in ("trsm", "trmm")
        for flags in ((False, False), (True, False), (False, True, False), (True, True, False))
    },
    "nd.linalg.syevd": (
        _in_nd(lambda x: _of_matrices(*mx.nd.linalg.syevd(_definite(x)))),
        [(3, 3)],
        False,
    ),
    "nd.linalg.gelqf": (_in_nd(lambda x: _of_matrices(*mx.nd.linalg.gelqf(x))), [(2, 3)], False),
    "nd.linalg.sumlogdiag": (_in_nd(mx.nd.linalg.sumlogdiag), [(2, 3, 3)], True),
    "nd.linalg.extracttrian": (
        _in_nd(lambda x: mx.nd.linalg.extracttrian(x, 1)),
        [(2, 3, 3)],
        False,
    ),
    "nd.linalg.maketrian": (_in_nd(lambda x: mx.nd.linalg.maketrian(x, -1)), [(2, 3)], False),
    "nd.linalg.makediag": (_in_nd(lambda x: mx.nd.linalg.makediag(x, 1)), [(2, 3)], False),
    "nd.sort": (_in_nd(lambda x: mx.nd.sort(x, axis=0, is_ascend=False)), [(3, 4)], False),
    "nd.topk": (_in_nd(lambda x: mx.nd.topk(x, axis=1, k=2, ret_typ="value")), [(3, 4)], False),
    "both of nd.topk": (
        _in_nd(lambda x: mx.nd.topk(x, axis=None, k=3, ret_typ="both")[0]),
        [(3, 4)],
        False,
    ),
    "np.linalg.cholesky": (
        _in_np(lambda x: mx.np.linalg.cholesky(_definite(x.as_nd_ndarray()).as_np_ndarray())),
        [(2, 3, 3)],
        False,
    ),
    **{
        f"np.linalg.svd {shape}": (
            _in_np(lambda x: _of_matrices(*mx.np.linalg.svd(x))),
            [shape],
            False,
        )
        for shape in ((2, 3), (3, 2), (3, 3))
    },
    **{
        f"np.linalg.qr {shape}": (
            _in_np(lambda x: _of_matrices(*mx.np.linalg.qr(x))),
            [shape],
            False,
        )
        for shape in ((2, 3), (3, 2), (2, 2, 2))
    },
    "np.linalg.eigvalsh": (_in_np(lambda x: mx.np.linalg.eigvalsh(x + x.T, "U")), [(3, 3)], False),
    "np.linalg.solve": (_in_np(mx.np.linalg.solve), [(2, 2, 2), (1, 2, 3)], False),
    "np.linalg.solve of vectors": (_in_np(mx.np.linalg.solve), [(3, 3), (3,)], False),
    "np.linalg.pinv": (_in_np(mx.np.linalg.pinv), [(2, 3)], False),
    "np.linalg.lstsq": (_in_np(lambda x, y: mx.np.linalg.lstsq(x, y)[0]), [(3, 2), (3,)], False),
    "np.linalg.matrix_power": (_in_np(lambda x: mx.np.linalg.matrix_power(x, -2)), [(2, 2)], False),
    "np.linalg.tensorinv": (_in_np(lambda x: mx.np.linalg.tensorinv(x, 1)), [(2, 2, 1)], False),
    **{
        f"np.linalg.norm {order}": (
            _in_np(lambda x, order=order: mx.np.linalg.norm(x, order)),
            [(2, 3)],
            False,
        )
        for order in (2, -2, "nuc", "fro")
    },
    "np.sort": (_in_np(lambda x: mx.np.sort(x, axis=None)), [(3, 2)], False),
    "np.unique": (_in_np(mx.np.unique), [(3, 2)], False),
    "np.median": (_in_np(lambda x: mx.np.median(x, axis=1)), [(2, 4)], False),
    **{
        f"np.percentile {how}": (
            _in_np(
                lambda x, how=how: mx.np.percentile(
                    x, [10, 66], axis=(0, 2), interpolation=how, keepdims=True
                )
            ),
            [(2, 3, 2)],
            False,
        )
        for how in ("linear", "lower", "higher", "midpoint", "nearest")
    },
}
CASES.update(HOST_CASES)


def _scalar(function, legacy, hosts, weights):
    world = mx.nd if legacy else mx.np
    arrays = [world.array(host, dtype="float64") for host in hosts]
    result = function(legacy, *arrays).asnumpy()
    return float((result * weights.reshape(result.shape)).sum())


def _differences(function, legacy, hosts, weights, index, step=1e-6):
    gradient = onp.zeros(hosts[index].shape)
    for place in onp.ndindex(*hosts[index].shape):
        values = []
        for sign in (1, -1):
            moved = [host.copy() for host in hosts]
            moved[index][place] += sign * step
            values.append(_scalar(function, legacy, moved, weights))
        gradient[place] = (values[0] - values[1]) / (2 * step)
    return gradient


@pytest.mark.parametrize("legacy", [True, False], ids=["nd", "np"])
@pytest.mark.parametrize("name", CASES)
def test_against_differences(name, legacy):
    function, shapes, positive = CASES[name]
    hosts = [_values(shape, 7 * i, positive) for i, shape in enumerate(shapes)]
    world = mx.nd if legacy else mx.np
    plain = function(legacy, *(world.array(host, dtype="float64") for host in hosts))
    weights = onp.random.default_rng(5).normal(size=plain.shape)
    for request in ("write", "add"):
        arrays = [world.array(host, dtype="float64") for host in hosts]
        for array in arrays:
            array.attach_grad(request)
            array.grad[:] = 0.5
        with autograd.record():
            result = function(legacy, *arrays)
        result.backward(world.array(weights, dtype="float64"))
        for index, array in enumerate(arrays):
            expected = _differences(function, legacy, hosts, weights, index)
            expected = expected + 0.5 if request == "add" else expected
            onp.testing.assert_allclose(array.grad.asnumpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_second_order(name):
    function, shapes, _ = CASES[name]
    hosts = [_values(shape, 3 * i, True) for i, shape in enumerate(shapes)]

    def first(legacy, *arrays):
        for array in arrays:
            array.attach_grad()
        with autograd.record():
            result = (function(legacy, *arrays) ** 2).sum()
            gradients = autograd.grad(result, list(arrays), create_graph=True)
        return gradients[0]

    arrays = [mx.nd.array(host, dtype="float64") for host in hosts]
    with autograd.record():
        gradient = first(True, *arrays)
        total = (gradient * gradient).sum()
    total.backward()
    step = 1e-5
    for place in onp.ndindex(*hosts[0].shape):
        values = []
        for sign in (1, -1):
            moved = hosts[0].copy()
            moved[place] += sign * step
            others = [mx.nd.array(host, dtype="float64") for host in (moved, *hosts[1:])]
            values.append(float((first(True, *others).asnumpy() ** 2).sum()))
        expected = (values[0] - values[1]) / (2 * step)
        onp.testing.assert_allclose(arrays[0].grad.asnumpy()[place], expected, rtol=5e-4, atol=1e-4)


def test_rules_stand_in_one_place():
    """Those of ops beside their declarations, the others beside functions that are no ops."""
    table = _core.describe_table()
    assert not set(RULES) & {name for name, op in table.items() if not op["host"]}


@pytest.mark.parametrize("kind", ["float32", "int64"])
def test_places_have_no_gradient(kind):
    """Whether the types are the same or not, and with a sorter too."""
    x, y = mx.np.array([1.0, 2.0, 4.0]), mx.np.array([3.0, 0.0])
    order = mx.np.array([0, 1, 2], dtype="int64")
    x.attach_grad()
    y.attach_grad()
    with autograd.record():
        places = mx.np.searchsorted(x, y.astype(kind))
        sorted_places = mx.np.searchsorted(x, y, sorter=order)
        ranks = mx.np.argsort(x)
        result = (x * ranks.astype("float32")).sum() + places.sum() + sorted_places.sum()
    result.backward()
    assert x.grad.asnumpy().tolist() == [0, 1, 2]
    assert y.grad.asnumpy().tolist() == [0, 0]


#: Recipes without gradients issue them, and nobody else.
PREDICTED = {"convolve_pixels", "pack_filters", "pack_scaled_filters"}
#: Issued where nothing is recorded; what is recorded is made of other ops.
UNRECORDED = {"max_windows", "normalise_gradient"}
#: MXNet has no gradient of it either.
WITHOUT = {"image_resize"}


def test_every_op_has_a_rule():
    without = {
        name
        for name, op in _core.describe_table().items()
        if op["inputs"]
        and not op["has_gradient"]
        and not op["composed"]  # whose gradients are those of its parts
        and not op["host"]  # not all that NumPy computes has one
        and name not in RULES
    }
    assert without == PREDICTED | UNRECORDED | WITHOUT
