# SPDX-License-Identifier: Apache-2.0
"""``mx.executor``: a symbol with arrays for its variables, run forward and backward."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as onp

from . import autograd
from ._arrays.dtypes import FLOAT32, TYPES, dtype_number
from ._arrays.handles import lent
from ._arrays.worlds import in_world
from ._core import Array, mark_variable, operation, origin_of
from .context import Context, current_context
from .error import ArrayTypeError, ArrayValueError, MXNetError
from .ndarray import sparse
from .symbol._graph import Node, auxiliary
from .symbol._infer import Inference
from .symbol._run import Plan
from .symbol._shapes import is_complete
from .symbol._storage import gradient_storage, storage_of
from .symbol.symbol import Symbol
from .util import is_np_array, is_np_shape

__all__ = ["Executor"]


class Executor:
    """Computes a symbol; made by :meth:`Symbol.bind` and :meth:`Symbol.simple_bind`.

    >>> from afterglow import nd, sym
    >>> x = sym.var("x")
    >>> run = (x * x).bind(args={"x": nd.array([3])}, args_grad={"x": nd.zeros((1,))})
    >>> run.forward(is_train=True)
    [
    [9.]
    <NDArray 1 @cpu(0)>]
    >>> run.backward(nd.ones((1,)))
    >>> run.grad_dict["x"]
    <BLANKLINE>
    [6.]
    <NDArray 1 @cpu(0)>
    """

    def __init__(
        self,
        symbol: Symbol,
        ctx: Context | None,
        args: Any,
        args_grad: Any = None,
        grad_req: Any = "write",
        aux_states: Any = None,
        group2ctx: Any = None,
    ) -> None:
        self._symbol = symbol
        self._ctx = ctx or current_context()
        self._legacy = not is_np_array()
        self._zeros = partial(_zeros, ctx=self._ctx, legacy=self._legacy)
        self._groups = dict(group2ctx or {})
        devices = _devices_of_calls(symbol, self._ctx, self._groups) if self._groups else None
        self._plan = Plan(symbol._outputs, devices)
        states = auxiliary(symbol._nodes())
        variables = [node for _, node in self._plan.variables]
        self._arguments = [node for node in variables if node not in states]
        self._states = [node for node in variables if node in states]
        self._arg_names = [node.name for node in self._arguments]
        self._aux_names = [node.name for node in self._states]
        self._output_names = symbol.list_outputs()
        self.arg_arrays = _listed("args", args, self._arg_names, False)
        self.aux_arrays = _listed("aux_states", aux_states, self._aux_names, False)
        self.grad_arrays = _listed("args_grad", args_grad, self._arg_names, True)
        self._requests = _requests(grad_req, self._arg_names)
        self.arg_dict = dict(zip(self._arg_names, self.arg_arrays, strict=True))
        self.aux_dict = dict(zip(self._aux_names, self.aux_arrays, strict=True))
        self.grad_dict = dict(zip(self._arg_names, self.grad_arrays, strict=True))
        self._given: dict[Node, Any] = dict(zip(self._states, self.aux_arrays, strict=True))
        for node, array, gradient, request in zip(
            self._arguments, self.arg_arrays, self.grad_arrays, self._requests, strict=True
        ):
            # A handle of our own on the same memory: the user's array may be a variable already.
            handle = array._detached()
            if gradient is not None and request != "null":
                mark_variable(handle, gradient, autograd.request_number(request))
            self._given[node] = handle
        self._draws = any(not node.is_variable and node.draws for node in symbol._nodes())
        self._outputs: list[Any] | None = None
        self._heads: list[Any] | None = None  # recorded, until gradients have been asked of them
        self._was_training = False
        self._monitor: Callable[[bytes, Any], Any] | None = None
        self._monitor_all = False

    # --- running ---

    def forward(self, is_train: bool = False, **kwargs: Any) -> list[Any]:
        """Compute the outputs, after writing the given values to arguments of those names."""
        for name, value in kwargs.items():
            if name not in self.arg_dict:
                raise ArrayTypeError(f"Unknown argument {name}")
            if not isinstance(value, (Array, onp.ndarray)):
                raise ArrayValueError("only accept keyword argument of NDArrays")
            target = self.arg_dict[name]
            if target.shape != value.shape:
                raise ArrayValueError(
                    f"Shape not match! Argument {name}, need: {target.shape}, received: "
                    f"{value.shape}"
                )
            if isinstance(value, Array):
                value = in_world(value, target._legacy)
            with autograd.pause():
                target[:] = value
        self._was_training = bool(is_train)
        watch = None if self._monitor is None else self._watch
        is_recorded = self._was_training or self._draws  # a second pass would draw other numbers
        with autograd.record(self._was_training) if is_recorded else autograd.pause(False):
            heads = self._plan.run(self._given, watch)
        self._heads = heads if is_recorded else None
        self._keep([head._detached() for head in heads])
        return self.outputs

    def _recorded(self) -> list[Any]:
        """Return the recorded heads: once more from the same arguments where they are used up.

        So it is after a pass that was not recorded, too. States move only once.
        """
        heads, self._heads = self._heads, None
        if heads is None:
            states = {node: self._given[node].copy() for node in self._states}
            with autograd.record(self._was_training):
                heads = self._plan.run({**self._given, **states})
        return heads

    def _keep(self, results: list[Any]) -> None:
        """Write the results into the arrays that the user may hold since an earlier pass.

        What is recorded is not among them: programs write to outputs before gradients are asked.
        """
        if self._outputs is None:
            self._outputs = [
                in_world(result if self._heads is None else result.copy(), self._legacy)
                for result in results
            ]
            return
        with autograd.pause():
            for position, result in enumerate(results):
                kept = self._outputs[position]
                same = [(one.shape, one._dtype_number, one.stype) for one in (kept, result)]
                if same[0] == same[1]:
                    kept._assign(in_world(result, kept._legacy))
                else:
                    self._outputs[position] = in_world(result, self._legacy)

    @property
    def outputs(self) -> list[Any]:
        """The outputs of the latest pass; their memory stays the same."""
        if self._outputs is None:
            found = self._inferred()
            known = [(found.shapes.get(one), found.types.get(one)) for one in self._symbol._outputs]
            if not all(is_complete(shape) for shape, _ in known):
                raise MXNetError("[outputs] their shapes follow from values only; call forward")
            self._outputs = [
                self._zeros(shape, TYPES[FLOAT32 if kind is None else kind])
                for shape, kind in known
            ]
        return self._outputs

    @property
    def output_dict(self) -> dict[str, Any]:
        """The outputs by name."""
        if len(set(self._output_names)) != len(self._output_names):
            raise ArrayValueError(f"Duplicate names detected, {self._output_names}")
        return dict(zip(self._output_names, self.outputs, strict=True))

    def backward(self, out_grads: Any = None, is_train: bool = True) -> None:
        """Queue the gradients of the arguments from those of the outputs.

        Outputs that are losses, or are made of nothing else, need none.
        """
        gradients = self._head_gradients(out_grads)
        heads, wanted = [], []
        for position, head in enumerate(self._recorded()):
            if origin_of(head) is None:
                continue
            node = self._symbol._outputs[position][0]
            gradient = gradients[position]
            if gradient is None and not node.is_variable and self._needs_gradient(node):
                raise MXNetError(
                    "Because the last operator is not Loss function, head_gradient is required "
                    f"when calling backward: output {self._output_names[position]} has none. If "
                    "you are attempting to minimize the output as an objective, please modify "
                    "your network and use MakeLoss"
                )
            heads.append(head)
            wanted.append(None if gradient is None else in_world(gradient, head._legacy))
        written = [
            (gradient, gradient._version)
            for gradient, request in zip(self.grad_arrays, self._requests, strict=True)
            if gradient is not None and request == "write"
        ]
        if heads:
            autograd.backward(heads, wanted, False, is_train)
        for gradient, version in written:
            if gradient._version == version:  # no output depends on the argument
                gradient._assign(0)

    def _needs_gradient(self, head: Any) -> bool:
        """Tell whether a gradient of an output would reach an argument, past all losses."""
        seen, found = set(), [head]
        while found:
            node = found.pop()
            if node.is_variable:
                if self.grad_dict.get(node.name) is not None:
                    return True
            elif node not in seen and not node.is_loss and node.op != "BlockGrad":
                seen.add(node)
                found.extend(source for source, _ in node.inputs)
        return False

    def _head_gradients(self, given: Any) -> list[Any]:
        count = len(self._output_names)
        if given is None:
            return [None] * count
        if isinstance(given, Array):
            given = [given]
        elif isinstance(given, Mapping):
            given = [given.get(name) for name in self._output_names]
        gradients = list(given)[:count]  # MXNet looks at no more either
        if any(one is not None and not isinstance(one, Array) for one in gradients):
            raise ArrayTypeError("inputs must be NDArray, one for each output")
        return gradients + [None] * (count - len(gradients))

    # --- arrays ---

    def copy_params_from(
        self,
        arg_params: Mapping[str, Any],
        aux_params: Mapping[str, Any] | None = None,
        allow_extra_params: bool = False,
    ) -> None:
        """Write values into arguments and states, by name."""
        for kind, given, own in (
            ("arguments", arg_params, self.arg_dict),
            ("auxiliary states", aux_params or {}, self.aux_dict),
        ):
            for name, value in given.items():
                if name in own:
                    target = own[name]
                    with autograd.pause():
                        target[:] = in_world(value, target._legacy).astype(target.dtype)
                elif not allow_extra_params:
                    raise ArrayValueError(f'Find name "{name}" that is not in the {kind}')

    def reshape(
        self, partial_shaping: bool = False, allow_up_sizing: bool = False, **kwargs: Any
    ) -> Executor:
        """Return an executor for other shapes that shares the memory of this one.

        Arrays of arguments, gradients, states and outputs are the same where their shape stays, and
        the beginnings of the same memory where they become smaller.
        """
        shapes, output_shapes, aux_shapes = self._symbol.infer_shape(**kwargs)
        if shapes is None:
            raise ArrayValueError("Insufficient argument shapes provided.")
        arrays, gradients, states = [], [], []
        for name, shape in zip(self._arg_names, shapes, strict=True):
            array, gradient = self.arg_dict[name], self.grad_dict[name]
            if shape != array.shape:
                if not partial_shaping and name not in kwargs:
                    raise AssertionError(
                        f"Shape of unspecified array arg:{name} changed. This can cause the new "
                        "executor to not share parameters with the old one. Please check for "
                        "error in network. If this is intended, set partial_shaping=True."
                    )
                if not allow_up_sizing and onp.prod(shape) > array.size:
                    raise AssertionError(
                        f"New shape of arg:{name} larger than original. First making a big "
                        "executor and then down sizing it is more efficient than the reverse. If "
                        "you really want to up size, set allow_up_sizing=True."
                    )
                array = self._reshaped(array, shape)
                gradient = None if gradient is None else self._reshaped(gradient, shape)
            arrays.append(array)
            gradients.append(gradient)
        for name, shape in zip(self._aux_names, aux_shapes, strict=True):
            state = self.aux_dict[name]
            states.append(state if state.shape == shape else self._reshaped(state, shape))
        new = Executor(
            self._symbol, self._ctx, arrays, gradients, self._requests, states, self._groups
        )
        new._watch_as(self)
        new._outputs = [
            self._reshaped(output, shape)
            for output, shape in zip(self.outputs, output_shapes, strict=True)
        ]
        return new

    def _reshaped(self, array: Any, shape: Any) -> Any:
        """Return an array of another shape: the beginning of the same memory, if that suffices."""
        if onp.prod(shape) > array.size:
            return self._zeros(shape, array.dtype)
        strides = [1]
        for extent in shape[:0:-1]:
            strides.insert(0, strides[0] * extent)
        return array._view(0, tuple(shape), tuple(strides[: len(shape)]))

    # --- looking at it ---

    def set_monitor_callback(
        self, callback: Callable[[bytes, Any], Any], monitor_all: bool = False
    ) -> None:
        """Let ``callback(name, array)`` see the outputs of all ops, or also their inputs.

        Names are bytes, as MXNet gives them.
        """
        self._monitor = callback
        self._monitor_all = monitor_all

    def _watch(self, node: Node, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        if self._monitor_all:
            told = zip(node.watched_names(), node.inputs, inputs, strict=True)
            for name, (source, _), array in told:
                if source.is_variable:
                    self._tell(source.name, array)
                self._tell(f"{node.name}_{name}", array)
        for index, array in enumerate(results):
            self._tell(node.output_name(index), array)

    def _tell(self, name: str, array: Any) -> None:
        assert self._monitor is not None
        told = in_world(array._detached(), self._legacy)
        with lent(told):
            self._monitor(name.encode(), told)

    def _watch_as(self, other: Executor) -> None:
        """Tell the monitor of an executor whose place this one takes."""
        self._monitor, self._monitor_all = other._monitor, other._monitor_all

    def get_optimized_symbol(self) -> Symbol:
        """Return the symbol: what it says is computed, and calls are optimised as they run."""
        return self._symbol

    def debug_str(self) -> str:
        """Return a text that lists all nodes and tells what results of a pass take at once."""
        return f"{self._symbol.debug_str()}Total {self._bytes() >> 20} MB allocated\n"

    def _bytes(self) -> int:
        """Return how many bytes of results there are at once, at most, as shapes tell.

        What gradients pass through stays until they have done so; all else goes with its last
        reader, as in :class:`Plan`.
        """
        found = self._inferred()

        def size(node: Node) -> int:
            outputs = [(node, index) for index in range(len(node.output_names()))]
            known = [(found.shapes.get(one), found.types.get(one)) for one in outputs]
            return sum(
                math.prod(shape) * onp.dtype(TYPES[kind or FLOAT32]).itemsize
                for shape, kind in known
                if shape is not None and is_complete(shape)
            )

        kept = self._on_the_way_back(found.nodes)
        calls = [node for node in found.nodes if not node.is_variable]
        last = {source: node for node in calls for source, _ in node.inputs}
        held = kept | {node for node, _ in self._symbol._outputs}
        now = most = 0
        for node in calls:
            now += size(node)
            most = max(most, now)
            ends = {one for one, _ in node.inputs if last[one] is node} - held
            now -= sum(size(one) for one in ends if not one.is_variable)
        return most

    def _inferred(self) -> Inference:
        """Return the shapes and types that follow from those of the arguments and states."""
        found = Inference(self._symbol._outputs, is_np_shape())
        given = [*zip(self._arguments, self.arg_arrays, strict=True)]
        given += zip(self._states, self.aux_arrays, strict=True)
        found.complete_types({node: array._dtype_number for node, array in given})
        found.complete_shapes({node: array.shape for node, array in given})
        return found

    def _on_the_way_back(self, nodes: Sequence[Node]) -> set[Node]:
        """Return the nodes between arguments that want gradients and the heads."""
        wanting = {
            node
            for node, gradient, request in zip(
                self._arguments, self.grad_arrays, self._requests, strict=True
            )
            if gradient is not None and request != "null"
        }
        for node in nodes:
            if node.op != "BlockGrad" and any(source in wanting for source, _ in node.inputs):
                wanting.add(node)
        reached = {node for node, _ in self._symbol._outputs} & wanting
        for node in reversed(nodes):
            if node in reached:
                reached.update(source for source, _ in node.inputs if source in wanting)
        return reached


def _zeros(shape: Any, dtype: Any, ctx: Context, legacy: bool, stype: str = "default") -> Any:
    if stype != "default":
        return sparse.zeros(stype, tuple(shape), ctx, dtype)
    return operation("copy", legacy)(
        0, shape=tuple(shape), dtype=dtype_number(dtype), ctx=ctx.numbers
    )


def _listed(what: str, given: Any, names: Sequence[str], may_lack: bool) -> list[Any]:
    """Return arrays, given as a list or by name, in the order of the names."""
    if given is None:
        given = {}
    if isinstance(given, Mapping):
        for name in names:
            if name not in given and not may_lack:
                raise ArrayValueError(f"key `{name}` is missing in `{what}`")
        arrays = [given.get(name) for name in names]
    elif isinstance(given, (list, tuple)):
        arrays = list(given)
        if len(arrays) != len(names):
            raise ArrayValueError(
                f"Length of {what} does not match the number of arguments: {len(arrays)} for "
                f"{', '.join(names) or 'none'}"
            )
    else:
        raise ArrayTypeError("Only accept list of NDArrays or dict of str to NDArray")
    for array in arrays:
        if not isinstance(array, Array) and not (may_lack and array is None):
            raise ArrayTypeError("Only accept list of NDArrays or dict of str to NDArray")
    return arrays


def _requests(given: Any, names: Sequence[str]) -> list[str]:
    """Return what backward does with each gradient."""
    if isinstance(given, str):
        requests = [given] * len(names)
    elif isinstance(given, Mapping):
        requests = [given.get(name, "null") for name in names]
    elif isinstance(given, (list, tuple)) and len(given) == len(names):
        requests = list(given)
    else:
        raise ArrayValueError("grad_req must be in write, add, null: one, a list or by name")
    for request in requests:
        if request not in ("write", "add", "null"):
            raise ArrayValueError(f"grad_req must be in write, add, null, but got {request!r}")
    return requests


def devices_of_variables(
    symbol: Symbol, ctx: Context, groups: Mapping[str, Context]
) -> dict[str, Context]:
    """Return where the arrays of variables live: with their groups, or with who reads them."""
    found: dict[Node, str | None] = {}
    for node in symbol._nodes():
        own = node.attributes.get("__ctx_group__")
        if node.is_variable:
            found[node] = own
        for source, _ in node.inputs:
            if source.is_variable:
                found[source] = found[source] or own
    return {node.name: groups.get(group or "", ctx) for node, group in found.items()}


def _devices_of_calls(
    symbol: Symbol, ctx: Context, groups: Mapping[str, Context]
) -> dict[Node, Context]:
    """Return where calls run: with their groups, or where their first input is."""
    variables = devices_of_variables(symbol, ctx, groups)
    found: dict[Node, Context] = {}
    for node in symbol._nodes():
        if node.is_variable:
            found[node] = variables[node.name]
            continue
        first = found[node.inputs[0][0]] if node.inputs else ctx
        found[node] = groups.get(node.attributes.get("__ctx_group__", ""), first)
    return found


def simple_bind(
    symbol: Symbol,
    ctx: Context | None,
    grad_req: Any,
    types: Mapping[str, Any] | None,
    stypes: Mapping[str, Any] | None,
    shared_names: Sequence[str] | None,
    shared: Executor | None,
    buffer: dict[str, Any] | None,
    shapes: Mapping[str, Any],
    group2ctx: Mapping[str, Context] | None = None,
) -> Executor:
    """Return an executor with new arrays, or with those of another one where they fit.

    Arrays of variables of a group, by the attribute ``ctx_group``, live on its device, and its
    calls run there.
    """
    ctx = ctx or current_context()
    devices = devices_of_variables(symbol, ctx, group2ctx or {})
    legacy = not is_np_array()
    inputs = symbol.list_inputs()
    stray = [name for name in shapes if name not in inputs]
    if stray:  # MXNet ignores them silently
        warnings.warn(
            f"simple_bind ignores {', '.join(stray)}: the symbol's variables are "
            f"{', '.join(inputs)}",
            UserWarning,
            stacklevel=3,
        )
    shapes = {name: shape for name, shape in shapes.items() if name in inputs}
    arg_shapes, _, aux_shapes = symbol.infer_shape(**shapes)
    if arg_shapes is None:
        given = "\n".join(f"  {name}: {shape}" for name, shape in shapes.items())
        calls = (node for node in symbol._nodes() if not node.is_variable)
        missing = sorted({node.op for node in calls if node.entry.function is None})
        unknown = f"\nThese ops are not implemented: {', '.join(missing)}" if missing else ""
        raise MXNetError(
            f"simple_bind error. Shapes do not follow from those given:\n{given}{unknown}"
        )
    arg_types, _, aux_types = symbol.infer_type_partial(**(types or {}))
    names, aux_names = symbol.list_arguments(), symbol.list_auxiliary_states()
    requests = _requests(grad_req, names)
    sharable = set(names if shared_names is None else shared_names)
    nodes = symbol._nodes()
    storage = {node.name: storage_of(node, stypes or {}) for node in nodes if node.is_variable}
    rows = gradient_storage(nodes, stypes or {})

    def new(name: str, shape: Any, dtype: Any, others: Mapping[str, Any]) -> Any:
        number = dtype_number(dtype)
        for pool in (others if name in sharable else {}, buffer or {}):
            found = pool.get(name)
            if found is not None and found.shape == shape and found._dtype_number == number:
                return found
        array = _zeros(shape, dtype, devices[name], legacy, storage[name])
        if buffer is not None:
            buffer[name] = array
        return array

    old: Any = shared.arg_dict if shared is not None and shared_names is not None else {}
    old_states: Any = shared.aux_dict if shared is not None else {}
    arrays = [new(*one, old) for one in zip(names, arg_shapes, arg_types, strict=True)]
    gradients = [
        None
        if request == "null"
        else _zeros(shape, dtype, devices[name], legacy, rows.get(name, "default"))
        for name, shape, dtype, request in zip(names, arg_shapes, arg_types, requests, strict=True)
    ]
    states = [new(*one, old_states) for one in zip(aux_names, aux_shapes, aux_types, strict=True)]
    return Executor(symbol, ctx, arrays, gradients, requests, states, group2ctx)
