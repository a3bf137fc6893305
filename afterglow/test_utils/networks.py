# SPDX-License-Identifier: Apache-2.0
"""Checks of symbols, layers and optimizers: values, gradients, agreement between types."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as onp

from .. import autograd
from .. import ndarray as nd
from .._core import Array
from ..context import Context
from ..error import ArrayValueError
from ..initializer import Initializer
from .comparing import (
    Tolerance,
    assert_almost_equal,
    compare_ndarray_tuple,
    default_atols,
    default_numeric_eps,
    default_rtols,
    host,
)
from .making import rand_ndarray
from .surroundings import default_context

__all__ = [
    "check_consistency",
    "check_gluon_hybridize_consistency",
    "check_numeric_gradient",
    "check_speed",
    "check_symbolic_backward",
    "check_symbolic_forward",
    "compare_optimizer",
    "numeric_grad",
    "same_symbol_structure",
    "simple_forward",
]

Host = onp.ndarray[Any, Any]
Values = Mapping[str, Any] | Sequence[Any]
Requests = str | Sequence[str] | Mapping[str, str]


# --- arguments ---


def _array(value: Any, ctx: Context, dtype: Any) -> nd.NDArray:
    if isinstance(value, Array):
        array: Any = value
        kept = array if dtype == "asnumpy" else array.astype(dtype)
        return kept.as_in_context(ctx).copy()  # type: ignore[no-any-return]
    values = onp.asarray(value)
    return nd.array(values, ctx=ctx, dtype=values.dtype if dtype == "asnumpy" else dtype)


def _arrays(sym: Any, values: Values | None, ctx: Context, dtype: Any, states: bool = False) -> Any:
    """Return arguments or states as arrays by name; a list goes by the order of the names."""
    if values is None:
        return None
    names = sym.list_auxiliary_states() if states else sym.list_arguments()
    if not isinstance(values, Mapping):
        values = dict(zip(names, values, strict=False))
    elif set(names) != set(values):
        raise ArrayValueError(
            f"Symbol {'aux_states' if states else 'arguments'} and keys of the given location do "
            f"not match.symbol args:{sorted(names)}, location.keys():{sorted(values)}"
        )
    return {name: _array(value, ctx, dtype) for name, value in values.items()}


def _bound(
    sym: Any,
    ctx: Context,
    arguments: dict[str, nd.NDArray],
    states: dict[str, nd.NDArray] | None,
    requests: Mapping[str, str],
    spread: float,
    stypes: Mapping[str, str] | None,
) -> tuple[Any, dict[str, Host]]:
    """Return an executor that computes some gradients, and the random numbers they begin with.

    Gradients in a sparse storage type begin with zeros.
    """
    gradients = {}
    for name in requests:
        shape, dtype = arguments[name].shape, arguments[name].dtype
        stype = (stypes or {}).get(name) or "default"
        if stype == "default":
            gradients[name] = nd.array(onp.random.normal(0, spread, shape), ctx, dtype)
        else:
            gradients[name] = nd.zeros(shape, ctx, dtype, stype)
    every = {name: requests.get(name, "null") for name in sym.list_arguments()}
    executor = sym.bind(ctx, arguments, gradients, every, states)
    return executor, {name: gradient.asnumpy() for name, gradient in gradients.items()}


def _requests(sym: Any, grad_req: Requests) -> dict[str, str]:
    names = sym.list_arguments()
    if isinstance(grad_req, str):
        return dict.fromkeys(names, grad_req)
    if isinstance(grad_req, Mapping):
        return {name: grad_req.get(name, "null") for name in names}
    return dict(zip(names, grad_req, strict=True))


def _tolerances(rtol: Tolerance, atol: Tolerance, dtype: Any) -> tuple[Tolerance, Tolerance]:
    """Return the tolerances of the type that was computed in, unless they are given."""
    if dtype == "asnumpy":
        return rtol, atol
    kind = onp.dtype(dtype)
    return (
        default_rtols()[kind] if rtol is None else rtol,
        default_atols()[kind] if atol is None else atol,
    )


# --- symbols ---


def simple_forward(
    sym: Any, ctx: Context | None = None, is_train: bool = False, **inputs: Any
) -> Any:
    """Return what a symbol computes from NumPy arrays: a NumPy array, or a list of several.

    >>> from afterglow import sym, test_utils
    >>> test_utils.simple_forward(sym.Variable("x") + 1, x=[1, 2])
    array([2., 3.], dtype=float32)
    """
    ctx = ctx or default_context()
    arguments = {name: nd.array(value, ctx=ctx) for name, value in inputs.items()}
    executor = sym.bind(ctx, args=arguments)
    outputs = [output.asnumpy() for output in executor.forward(is_train=is_train)]
    return outputs[0] if len(outputs) == 1 else outputs


def same_symbol_structure(sym1: Any, sym2: Any) -> bool:
    """Tell whether two symbols are made of the same ops, connected alike."""
    return _structure(sym1) == _structure(sym2)


def _structure(sym: Any) -> list[tuple[str, list[Any]]]:
    return [(node["op"], node["inputs"]) for node in json.loads(sym.tojson())["nodes"]]


def numeric_grad(
    executor: Any,
    location: Mapping[str, Any],
    aux_states: Mapping[str, Any] | None = None,
    eps: float = 1e-4,
    use_forward_train: bool = True,
    dtype: Any = onp.float32,
) -> dict[str, Host]:
    """Return the gradients of the sum of the first output by central differences."""
    return _differences(executor, location, aux_states, eps, use_forward_train, None)


def _differences(
    executor: Any,
    location: Mapping[str, Any],
    aux_states: Mapping[str, Any] | None,
    eps: float,
    use_forward_train: bool,
    weights: list[Host] | None,
) -> dict[str, Host]:
    """Return the gradients of the weighted sum of the outputs by central differences."""

    def value() -> float:
        for name, state in (aux_states or {}).items():
            executor.aux_dict[name][:] = state
        outputs = executor.forward(is_train=use_forward_train)
        if weights is None:
            return float(outputs[0].asnumpy().sum(dtype="float64"))
        return sum(
            float((output.asnumpy().astype("float64") * weight).sum())
            for output, weight in zip(outputs, weights, strict=True)
        )

    gradients = {}
    for name, initial in location.items():
        start = onp.array(host(initial))
        gradient = onp.zeros(start.shape, start.dtype if start.dtype.kind == "f" else "float32")
        if start.dtype.kind == "f":
            for place in onp.ndindex(start.shape):
                ends = []
                for sign in (1, -1):
                    moved = start.copy()
                    moved[place] += sign * eps / 2
                    executor.arg_dict[name][:] = nd.array(moved, dtype=moved.dtype)
                    ends.append(value())
                gradient[place] = (ends[0] - ends[1]) / eps
        executor.arg_dict[name][:] = nd.array(start, dtype=start.dtype)
        gradients[name] = gradient
    return gradients


def check_numeric_gradient(
    sym: Any,
    location: Values,
    aux_states: Values | None = None,
    numeric_eps: float | None = None,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    grad_nodes: Sequence[str] | Mapping[str, str] | None = None,
    use_forward_train: bool = True,
    ctx: Context | None = None,
    grad_stype_dict: Mapping[str, str] | None = None,
    dtype: Any = onp.float32,
) -> None:
    """Raise an AssertionError unless the gradients of a symbol are those of finite differences.

    The outputs are multiplied by random numbers and summed up first.

    >>> import numpy
    >>> from afterglow import sym, test_utils
    >>> x = sym.Variable("x")
    >>> test_utils.check_numeric_gradient(x * x, [numpy.ones((2, 3))], rtol=1e-2)
    """
    ctx = ctx or default_context()
    arguments = _arrays(sym, location, ctx, dtype)
    states = _arrays(sym, aux_states, ctx, dtype, states=True)
    initial_states = {name: state.copy() for name, state in (states or {}).items()}
    requests: dict[str, str] = (
        dict(grad_nodes)
        if isinstance(grad_nodes, Mapping)
        else dict.fromkeys(sym.list_arguments() if grad_nodes is None else grad_nodes, "write")
    )
    executor, before = _bound(sym, ctx, arguments, states, requests, 0.01, grad_stype_dict)
    outputs = executor.forward(is_train=True)
    # Numbers away from zero, so that no element goes unchecked.
    weights = [onp.random.rand(*output.shape) + 0.1 for output in outputs]
    executor.backward([nd.array(weight, ctx=ctx, dtype=dtype) for weight in weights])
    computed = {name: executor.grad_dict[name].asnumpy() for name in requests}
    if numeric_eps is None:
        numeric_eps = default_numeric_eps()[onp.dtype(dtype)]
    numeric = _differences(
        executor,
        {name: arguments[name].asnumpy() for name in requests},
        initial_states,
        numeric_eps,
        use_forward_train,
        weights,
    )
    rtol, atol = _tolerances(rtol, atol, dtype)
    for name, request in requests.items():
        expected = {"write": numeric[name], "add": before[name] + numeric[name]}.get(
            request, before[name]
        )
        names = (f"NUMERICAL_{name}", f"BACKWARD_{name}")
        assert_almost_equal(expected, computed[name], rtol, atol, names)


def check_symbolic_forward(
    sym: Any,
    location: Values,
    expected: Values,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    aux_states: Values | None = None,
    ctx: Context | None = None,
    equal_nan: bool = False,
    dtype: Any = onp.float32,
) -> list[nd.NDArray]:
    """Raise an AssertionError unless a symbol computes what is expected; return its outputs.

    >>> import numpy
    >>> from afterglow import sym, test_utils
    >>> x = sym.Variable("x")
    >>> outputs = test_utils.check_symbolic_forward(x * 2, [numpy.ones(3)], [numpy.full(3, 2)])
    """
    ctx = ctx or default_context()
    states = _arrays(sym, aux_states, ctx, dtype, states=True)
    executor = sym.bind(ctx, args=_arrays(sym, location, ctx, dtype), aux_states=states)
    outputs: list[nd.NDArray] = executor.forward(is_train=False)
    rtol, atol = _tolerances(rtol, atol, dtype)
    names = sym.list_outputs()
    wanted = [expected[name] for name in names] if isinstance(expected, Mapping) else expected
    for name, one, output in zip(names, wanted, outputs, strict=True):
        pair = (f"EXPECTED_{name}", f"FORWARD_{name}")
        assert_almost_equal(one, output, rtol, atol, pair, equal_nan=equal_nan)
    return outputs


def check_symbolic_backward(
    sym: Any,
    location: Values,
    out_grads: Values | None,
    expected: Values,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    aux_states: Values | None = None,
    grad_req: Requests = "write",
    ctx: Context | None = None,
    grad_stypes: Mapping[str, str] | None = None,
    equal_nan: bool = False,
    dtype: Any = onp.float32,
) -> dict[str, Any]:
    """Raise an AssertionError unless the gradients are those expected; return all by name.

    With the request ``"add"`` the expected gradient is what is added, with ``"null"`` nothing may
    change.

    >>> import numpy
    >>> from afterglow import sym, test_utils
    >>> x, one = sym.Variable("x"), numpy.ones(3)
    >>> gradients = test_utils.check_symbolic_backward(x * 2, [one], [one], {"x": one * 2})
    """
    ctx = ctx or default_context()
    arguments = _arrays(sym, location, ctx, dtype)
    states = _arrays(sym, aux_states, ctx, dtype, states=True)
    requests = _requests(sym, grad_req)
    wanted = (
        dict(expected)
        if isinstance(expected, Mapping)
        else dict(zip(sym.list_arguments(), expected, strict=False))
    )
    asked = {name: requests[name] for name in wanted}
    executor, before = _bound(sym, ctx, arguments, states, asked, 1.0, grad_stypes)
    outputs = executor.forward(is_train=True)
    if isinstance(out_grads, Mapping):
        out_grads = [out_grads[name] for name in sym.list_outputs()]
    heads = None
    if out_grads is not None:
        pairs = zip(out_grads, outputs, strict=False)  # what is too much is left, as in MXNet
        heads = [_array(gradient, ctx, output.dtype) for gradient, output in pairs]
    executor.backward(heads)
    rtol, atol = _tolerances(rtol, atol, dtype)
    for name, target in wanted.items():
        computed = executor.grad_dict[name].asnumpy()
        if requests[name] == "add":
            computed = computed - before[name]
        one = before[name] if requests[name] == "null" else host(target)
        pair = (f"EXPECTED_{name}", f"BACKWARD_{name}")
        assert_almost_equal(one, computed, rtol, atol, pair, equal_nan=equal_nan)
    return dict(executor.grad_dict)


def check_consistency(
    sym: Any,
    ctx_list: list[dict[str, Any]],
    scale: float = 1.0,
    grad_req: Requests = "write",
    arg_params: dict[str, Any] | None = None,
    aux_params: dict[str, Any] | None = None,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    raise_on_err: bool = True,
    ground_truth: dict[str, Any] | None = None,
    equal_nan: bool = False,
    use_uniform: bool = False,
    rand_type: Any = onp.float64,
) -> dict[str, Any]:
    """Raise an AssertionError unless a symbol computes alike on devices and in types.

    Each entry of ``ctx_list`` is what ``simple_bind`` takes: ``ctx``, the shapes by name and
    ``type_dict``. The most precise one is what the others are compared with; its outputs and
    gradients are returned.
    """
    symbols = list(sym) if isinstance(sym, (list, tuple)) else [sym] * len(ctx_list)
    executors = [
        one.simple_bind(grad_req=grad_req, **place)
        for one, place in zip(symbols, ctx_list, strict=True)
    ]
    first = executors[0]
    arg_params, aux_params = dict(arg_params or {}), dict(aux_params or {})
    for name, array in first.arg_dict.items():
        if name not in arg_params:
            draw = (
                onp.random.uniform(-0.9 * scale, 0.9 * scale, size=array.shape)
                if use_uniform
                else onp.random.normal(size=array.shape, scale=scale)
            )
            arg_params[name] = draw.astype(rand_type)
    for name in first.aux_dict:
        aux_params.setdefault(name, 0)
    results: list[dict[str, Any]] = []
    for executor in executors:
        for values, arrays in ((arg_params, executor.arg_dict), (aux_params, executor.aux_dict)):
            for name, array in arrays.items():
                array[:] = nd.array(
                    onp.broadcast_to(host(values[name]), array.shape), dtype=array.dtype
                )
        outputs = executor.forward(is_train=grad_req != "null")
        result = dict(zip(symbols[0].list_outputs(), outputs, strict=True))
        if grad_req != "null":
            executor.backward(outputs)
            result |= {
                name: gradient
                for name, gradient in executor.grad_dict.items()
                if gradient is not None
            }
        results.append({name: array.asnumpy() for name, array in result.items()})
    firsts = [next(iter(result.values())).dtype for result in results]
    precision = [onp.finfo(one).eps if one.kind == "f" else 0 for one in firsts]
    reference = int(onp.argmin(precision))
    truth = (
        results[reference]
        if ground_truth is None
        else {name: host(value) for name, value in ground_truth.items()}
    )
    for number, result in enumerate(results):
        if number == reference and ground_truth is None:
            continue
        for name, array in result.items():
            try:
                assert_almost_equal(array, truth[name], rtol, atol, equal_nan=equal_nan)
            except AssertionError as error:
                message = f"{name} of ctx_list[{number}] {ctx_list[number]}: {error}"
                if raise_on_err:
                    raise AssertionError(message) from None
                print(message)
    return truth


def check_speed(
    sym: Any,
    location: Mapping[str, Any] | None = None,
    ctx: Context | None = None,
    N: int = 20,  # noqa: N803
    grad_req: Requests | None = None,
    typ: str = "whole",
    **kwargs: Any,
) -> float:
    """Return how many seconds a symbol takes: forward, or with ``typ="whole"`` and back."""
    if typ not in ("whole", "forward"):
        raise ArrayValueError('typ can only be "whole" or "forward".')
    ctx = ctx or default_context()
    shapes = kwargs if location is None else {name: host(v).shape for name, v in location.items()}
    executor = sym.simple_bind(ctx, grad_req=grad_req or "write", **shapes)
    for name, array in executor.arg_dict.items():
        array[:] = onp.random.normal(size=array.shape) if location is None else location[name]

    def run() -> None:
        outputs = executor.forward(is_train=typ == "whole")
        if typ == "whole":
            executor.backward(outputs)
            for gradient in executor.grad_dict.values():
                if gradient is not None:
                    gradient.wait_to_read()
        for output in outputs:
            output.wait_to_read()

    run()
    begin = time.perf_counter()
    for _ in range(N):
        run()
    return (time.perf_counter() - begin) / N


# --- layers and optimizers ---


class _Known(Initializer):
    """Gives parameters the values that others of their names had."""

    def __init__(self, values: Mapping[str, Host]) -> None:
        super().__init__()
        self._values = values

    def __call__(self, desc: str, arr: Any) -> None:
        arr[:] = self._values[desc]


def check_gluon_hybridize_consistency(
    net_builder: Callable[..., Any],
    data_l: list[Any],
    numpy_func: Callable[..., Any] | None = None,
    test_grad: bool = True,
    rtol: float = 1e-4,
    atol: float = 1e-4,
) -> None:
    """Raise an AssertionError unless a block computes alike with and without ``hybridize()``.

    ``net_builder`` is called with a ``prefix``; all blocks begin with the parameters of the first.
    """
    saved: tuple[Host, list[Host], dict[str, Host]] | None = None
    initial: Initializer | None = None
    for hybridize in (False, True):
        inputs = [one.copy() for one in data_l]
        for one in inputs:
            one.attach_grad()
        net = net_builder(prefix="net_")
        net.initialize(*([] if initial is None else [initial]))
        if hybridize:
            net.hybridize()
        with autograd.record() if test_grad else autograd.predict_mode():
            output = net(*inputs)
        if test_grad:
            output.backward(output)
        params = net.collect_params()
        known = {name: param.data().asnumpy() for name, param in params.items()}
        result = (
            output.asnumpy(),
            [one.grad.asnumpy() for one in inputs] if test_grad else [],
            {
                name: param.grad().asnumpy()
                for name, param in params.items()
                if test_grad and param.grad_req != "null"
            },
        )
        if numpy_func is not None:
            truth = numpy_func(*(one.asnumpy() for one in data_l))
            assert_almost_equal(result[0], truth, rtol, atol)
        if saved is None:
            saved, initial = result, _Known(known)
            continue
        assert_almost_equal(saved[0], result[0], rtol, atol)
        for one, other in zip(saved[1], result[1], strict=True):
            assert_almost_equal(one, other, rtol, atol)
        for name, gradient in saved[2].items():
            assert_almost_equal(gradient, result[2][name], rtol, atol)


def compare_optimizer(
    opt1: Any,
    opt2: Any,
    shape: Any,
    dtype: Any,
    w_stype: str = "default",
    g_stype: str = "default",
    rtol: float = 1e-4,
    atol: float = 1e-5,
    compare_states: bool = True,
    ntensors: int = 1,
) -> None:
    """Raise an AssertionError unless two optimizers change weights alike.

    >>> from afterglow import optimizer, test_utils
    >>> test_utils.compare_optimizer(optimizer.SGD(), optimizer.SGD(), (2, 3), "float32")
    """
    shapes = shape if isinstance(shape, list) else [shape] * ntensors
    for number, one in enumerate(shapes):
        if w_stype == "default":
            start = nd.array(onp.random.uniform(-1, 1, one), dtype=dtype)
        else:
            start = rand_ndarray(one, w_stype, density=1, dtype=dtype)
        if g_stype == "default":
            given = nd.array(onp.random.uniform(-1, 1, one), dtype=dtype)
        else:
            given = rand_ndarray(one, g_stype, dtype=dtype)
        # The first works with dense arrays, as a reference; each may change what it is given.
        weights = start.copy().tostype("default"), start.copy()
        gradients = given.copy().tostype("default"), given
        states = []
        for optimizer, weight, gradient in zip((opt1, opt2), weights, gradients, strict=True):
            state = optimizer.create_state_multi_precision(number, weight)
            optimizer.update_multi_precision(number, weight, gradient, state)
            states.append(state)
        if compare_states:
            compare_ndarray_tuple(states[0], states[1], rtol, atol)
        assert_almost_equal(*weights, rtol=rtol, atol=atol)
