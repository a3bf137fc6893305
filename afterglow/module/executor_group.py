# SPDX-License-Identifier: Apache-2.0
"""One executor of a symbol on each of several devices; every batch is cut into a part for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as onp

from .. import ndarray as nd
from ..context import Context
from ..error import ArrayValueError
from ..executor import devices_of_variables
from ..io import DataDesc
from ..symbol._storage import gradient_storage, storage_of

__all__ = ["DataParallelExecutorGroup", "described", "split_batch"]

Slice = slice


def described(shapes: Any) -> list[DataDesc]:
    """Return descriptions of (name, shape) pairs, or of descriptions."""
    return [one if isinstance(one, DataDesc) else DataDesc(*one) for one in shapes or ()]


def split_batch(batch_size: int, work_load_list: Sequence[float]) -> list[Slice]:
    """Return which examples each device gets, in proportion to its load."""
    total = sum(work_load_list)
    counts = [round(load * batch_size / total) for load in work_load_list]
    counts[-1] += max(batch_size - sum(counts), 0)
    slices, begin = [], 0
    for count in counts:
        end = min(begin + count, batch_size)
        if begin >= end:
            raise ArrayValueError(
                f"Too many slices. Some splits are empty: {batch_size} examples for "
                f"{len(counts)} devices"
            )
        slices.append(slice(begin, end))
        begin = end
    return slices


class DataParallelExecutorGroup:
    """The executors of a module, with the arrays that they compute from and to.

    Parameters, auxiliary states and gradients of parameters belong to the group and survive
    another binding; a group that shares them with another one is given it as ``shared_group``.
    """

    def __init__(
        self,
        symbol: Any,
        contexts: list[Context],
        workload: Sequence[float],
        data_shapes: list[DataDesc],
        label_shapes: list[DataDesc],
        names: dict[str, list[str]],
        for_training: bool,
        inputs_need_grad: bool,
        grad_req: Any,
        fixed_param_names: Sequence[str],
        shared_group: DataParallelExecutorGroup | None = None,
        groups: Sequence[Mapping[str, Context]] = (),
    ) -> None:
        self.symbol = symbol
        self._groups = groups or [{}] * len(contexts)
        self.contexts = contexts
        self.workload = workload
        self.data_names, self.label_names = names["data"], names["label"]
        self.state_names, self.param_names = names["state"], names["param"]
        self.arg_names = symbol.list_arguments()
        self.aux_names = symbol.list_auxiliary_states()
        self.output_names = symbol.list_outputs()
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self.grad_req = self._requests(grad_req, fixed_param_names)
        #: For each device what stays from binding to binding: arguments, gradients, states.
        self._kept: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = (
            shared_group._kept
            if shared_group is not None
            else [({}, {}, {}) for _ in self.contexts]
        )
        self.execs: list[Any] = []
        self.bind_exec(data_shapes, label_shapes)

    def _requests(self, grad_req: Any, fixed: Sequence[str]) -> dict[str, str]:
        names = self.arg_names
        if isinstance(grad_req, str):
            wanted = dict.fromkeys(names, grad_req)
        elif isinstance(grad_req, dict):
            wanted = {name: grad_req.get(name, "write") for name in names}
        else:
            wanted = dict(zip(names, grad_req, strict=True))
        for name in names:
            is_input = name in self.data_names and self.inputs_need_grad
            is_parameter = name in self.param_names and name not in fixed
            if not self.for_training or not (is_input or is_parameter):
                wanted[name] = "null"
        return wanted

    def bind_exec(self, data_shapes: list[DataDesc], label_shapes: list[DataDesc]) -> None:
        """Make executors for inputs of these shapes."""
        axis = max(DataDesc.get_batch_axis(data_shapes[0].layout), 0)
        self.batch_size = data_shapes[0].shape[axis]
        self.slices = split_batch(self.batch_size, self.workload)
        self.data_shapes, self.label_shapes = data_shapes, label_shapes
        before = self.execs
        self.execs = [self._bound(number) for number in range(len(self.contexts))]
        for old, new in zip(before, self.execs, strict=False):
            new._watch_as(old)

    def _bound(self, number: int) -> Any:
        ctx, part = self.contexts[number], self.slices[number]
        devices = devices_of_variables(self.symbol, ctx, self._groups[number])
        inputs = self.data_shapes + self.label_shapes
        shapes = {one.name: self._part_shape(one, part) for one in inputs}
        known = {name: shape for name, shape in shapes.items() if name in self.arg_names}
        arg_shapes, _, aux_shapes = self.symbol.infer_shape(**known)
        if arg_shapes is None:
            raise ArrayValueError(f"[bind] the shapes {shapes} do not say those of all arguments")
        types = {one.name: onp.dtype(one.dtype) for one in inputs if one.name in self.arg_names}
        arg_types, _, aux_types = self.symbol.infer_type(**types)
        kept_arguments, kept_gradients, kept_states = self._kept[number]
        nodes = self.symbol._nodes()
        storage = {node.name: storage_of(node, {}) for node in nodes if node.is_variable}
        rows = gradient_storage(nodes, {})
        arguments: dict[str, Any] = {}
        gradients: dict[str, Any] = {}
        states: dict[str, Any] = {}
        for name, shape, dtype in zip(self.arg_names, arg_shapes, arg_types, strict=True):
            keeps = name in self.param_names
            stype, kind, device = storage[name], rows.get(name, "default"), devices[name]
            arguments[name] = _room(kept_arguments, name, shape, dtype, device, keeps, stype)
            if self.grad_req[name] != "null":
                gradients[name] = _room(kept_gradients, name, shape, dtype, device, keeps, kind)
        for name, shape, dtype in zip(self.aux_names, aux_shapes, aux_types, strict=True):
            states[name] = _room(kept_states, name, shape, dtype, devices[name], True)
        return self.symbol.bind(
            ctx,
            args=arguments,
            args_grad=gradients,
            grad_req=self.grad_req,
            aux_states=states,
            group2ctx=self._groups[number],
        )

    @staticmethod
    def _part_shape(one: DataDesc, part: Slice) -> tuple[int, ...]:
        axis = DataDesc.get_batch_axis(one.layout)
        shape = list(one.shape)
        if axis >= 0 and shape:
            shape[axis] = part.stop - part.start
        return tuple(shape)

    # --- arrays, as lists of one array for each device ---

    @property
    def param_arrays(self) -> list[list[Any]]:
        """The parameters."""
        return [[one.arg_dict[name] for one in self.execs] for name in self.param_names]

    @property
    def grad_arrays(self) -> list[list[Any]]:
        """The gradients of the parameters; None where there is none."""
        return [[one.grad_dict.get(name) for one in self.execs] for name in self.param_names]

    @property
    def aux_arrays(self) -> list[list[Any]]:
        """The auxiliary states."""
        return [[one.aux_dict[name] for one in self.execs] for name in self.aux_names]

    @property
    def state_arrays(self) -> list[list[Any]]:
        """The states."""
        return [[one.arg_dict[name] for one in self.execs] for name in self.state_names]

    @property
    def input_grad_arrays(self) -> list[list[Any]]:
        """The gradients of the inputs."""
        return [[one.grad_dict[name] for one in self.execs] for name in self.data_names]

    def set_params(self, arg_params: Any, aux_params: Any, allow_extra: bool = False) -> None:
        """Copy parameters and auxiliary states to all devices."""
        for executor in self.execs:
            for values, arrays, kind in (
                (arg_params, executor.arg_dict, "arguments"),
                (aux_params, executor.aux_dict, "auxiliary states"),
            ):
                for name, value in (values or {}).items():
                    if name in arrays:
                        _copy_into(arrays[name], value, name)
                    elif not allow_extra:
                        raise ArrayValueError(f'Find name "{name}" that is not in the {kind}')

    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return copies of parameters and auxiliary states: the mean over the devices."""
        return (
            dict(zip(self.param_names, map(_mean, self.param_arrays), strict=True)),
            dict(zip(self.aux_names, map(_mean, self.aux_arrays), strict=True)),
        )

    # --- computing ---

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Give every device its part of a batch, or its batch of a list of them, and compute."""
        whole = not isinstance(data_batch, list)
        batches = [data_batch] * len(self.execs) if whole else data_batch
        for executor, batch, part in zip(self.execs, batches, self.slices, strict=True):
            for descriptions, arrays in (
                (self.data_shapes, batch.data),
                (self.label_shapes, getattr(batch, "label", None)),
            ):
                for one, array in zip(descriptions, arrays or (), strict=False):
                    if one.name in executor.arg_dict:
                        taken = self._part(array, one.layout, part) if whole else array
                        _copy_into(executor.arg_dict[one.name], taken, one.name)
            executor.forward(is_train=self.for_training if is_train is None else is_train)

    def _part(self, array: Any, layout: str, part: Slice) -> Any:
        axis = DataDesc.get_batch_axis(layout)
        if len(self.execs) == 1 or axis < 0:
            return array
        if axis == 0:
            return array[part]
        return nd.slice_axis(array, axis=axis, begin=part.start, end=part.stop)

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradients on every device."""
        for number, executor in enumerate(self.execs):
            heads = out_grads
            if heads is not None:
                ctx, part = self.contexts[number], self.slices[number]
                heads = [
                    self._part(one, layout, part).as_in_context(ctx)
                    for one, layout in zip(heads, self._output_layouts, strict=False)
                ]
            executor.backward(heads)

    @property
    def _output_layouts(self) -> list[str]:
        """The layouts that outputs state, by which they are cut and joined; N where none is."""
        return [one.attr("__layout__") or "N" for one in self.symbol]

    @property
    def output_axes(self) -> list[int]:
        """The axes of the batch in the outputs; -1 where there is none."""
        return [DataDesc.get_batch_axis(layout) for layout in self._output_layouts]

    @property
    def input_axes(self) -> list[int]:
        """The axes of the batch in the inputs; -1 where there is none."""
        return [DataDesc.get_batch_axis(one.layout) for one in self.data_shapes]

    def outputs(self) -> list[list[Any]]:
        """Return for each output a list with that of each device."""
        return [list(parts) for parts in zip(*(one.outputs for one in self.execs), strict=True)]

    def set_states(self, states: Any, value: Any) -> None:
        """Set the states: from arrays, or to a number."""
        for number, arrays in enumerate(self.state_arrays):
            for device, array in enumerate(arrays):
                if states is None:
                    array[:] = value
                    continue
                source = states[number]
                given = source[device] if isinstance(source, (list, tuple)) else source
                _copy_into(array, given, self.state_names[number])

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Let a metric take the outputs of every device into account."""
        for number, (executor, part) in enumerate(zip(self.execs, self.slices, strict=True)):
            if pre_sliced:
                taken = labels[number]
            else:
                layouts = [one.layout for one in self.label_shapes]
                layouts += ["N"] * (len(labels or ()) - len(layouts))
                taken = [
                    self._part(label, layout, part)
                    for label, layout in zip(labels or (), layouts, strict=False)
                ]
            eval_metric.update_dict(
                dict(zip(self.label_names, taken, strict=False)),
                dict(zip(self.output_names, executor.outputs, strict=True)),
            )


def _room(
    kept: dict[str, Any],
    name: str,
    shape: Any,
    dtype: Any,
    ctx: Context,
    keeps: bool,
    stype: str = "default",
) -> Any:
    """Return the array kept under a name, or a new one."""
    present = kept.get(name) if keeps else None
    if present is not None:
        if present.shape != tuple(shape):
            raise ArrayValueError(
                f"[bind] {name} has the shape {present.shape}, but {tuple(shape)} is needed"
            )
        return present
    array = nd.zeros(tuple(shape), ctx=ctx, dtype=dtype or onp.float32, stype=stype)
    if keeps:
        kept[name] = array
    return array


def _copy_into(target: Any, source: Any, name: str) -> None:
    if tuple(source.shape) != target.shape:
        raise ArrayValueError(
            f"[{name}] has the shape {tuple(source.shape)}, but {target.shape} is needed"
        )
    if isinstance(source, onp.ndarray):
        source = nd.array(source, dtype=target.dtype)
    target[:] = source.astype(target.dtype, copy=False).as_in_context(target.context)


def _mean(arrays: list[Any]) -> Any:
    cpu = Context("cpu", 0)
    total = arrays[0].as_in_context(cpu).copy()
    for one in arrays[1:]:
        total = total + one.as_in_context(cpu)
    return total / len(arrays) if len(arrays) > 1 else total
