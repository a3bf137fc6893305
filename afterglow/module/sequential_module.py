# SPDX-License-Identifier: Apache-2.0
"""Modules one after another: the outputs of each are the inputs of the next."""

from __future__ import annotations

import logging
from typing import Any, ClassVar, Self

from ..error import ArgumentError
from ..initializer import Uniform
from ..io import DataBatch, DataDesc
from .base_module import DEFAULT_OPTIMIZER_PARAMS, BaseModule, OptimizerParams, Params, need
from .executor_group import described

__all__ = ["SequentialModule"]


class SequentialModule(BaseModule):
    """A chain of modules.

    ``add(module, take_labels=True)`` gives a module the labels of the batch, ``auto_wiring=True``
    names its inputs after its own names.

    >>> from afterglow import mod, sym
    >>> first = sym.FullyConnected(sym.var("data"), num_hidden=4, name="first")
    >>> second = sym.FullyConnected(sym.var("data"), num_hidden=2, name="second")
    >>> chain = mod.SequentialModule()
    >>> for net in (first, second):
    ...     chain = chain.add(mod.Module(net, label_names=[]), auto_wiring=True)
    >>> chain.bind([("data", (5, 3))])
    >>> chain.output_shapes
    [('second_output', (5, 2))]
    """

    META_TAKE_LABELS: ClassVar[str] = "take_labels"
    META_AUTO_WIRING: ClassVar[str] = "auto_wiring"

    def __init__(self, logger: Any = logging) -> None:
        super().__init__(logger)
        self._modules: list[BaseModule] = []
        self._metas: list[dict[str, Any]] = []
        self._label_shapes: Any = None

    def add(self, module: BaseModule, **kwargs: Any) -> Self:
        """Append a module; return the chain."""
        known = (self.META_TAKE_LABELS, self.META_AUTO_WIRING)
        for key in kwargs:
            if key not in known:
                raise ArgumentError(f'Unknown meta "{key}", a typo? There are {", ".join(known)}')
        self._modules.append(module)
        self._metas.append(kwargs)
        self.binded = self.params_initialized = self.optimizer_initialized = False
        return self

    # --- inputs and outputs ---

    @property
    def data_names(self) -> list[str]:
        """The names of the inputs of the first module."""
        return self._modules[0].data_names if self._modules else []

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs of the last module."""
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self) -> Any:
        """Names and shapes of the inputs."""
        need(self.binded, "the module is not bound; call bind() first")
        return self._modules[0].data_shapes

    @property
    def label_shapes(self) -> Any:
        """Names and shapes of the labels."""
        need(self.binded, "the module is not bound; call bind() first")
        return self._label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes of the outputs."""
        need(self.binded, "the module is not bound; call bind() first")
        return self._modules[-1].output_shapes

    # --- parameters ---

    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the parameters and the auxiliary states of all modules."""
        self._need_parameters()
        arguments: dict[str, Any] = {}
        states: dict[str, Any] = {}
        for module in self._modules:
            more = module.get_params()
            arguments |= more[0]
            states |= more[1]
        return arguments, states

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008 - it has no state
        arg_params: Params | None = None,
        aux_params: Params | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Set the parameters of all modules."""
        if self.params_initialized and not force_init:
            return
        need(self.binded, "call bind before initializing the parameters")
        owners: dict[str, int] = {}
        for number, module in enumerate(self._modules):
            module.init_params(
                initializer, arg_params, aux_params, allow_missing, force_init, allow_extra
            )
            for name in (*module.get_params()[0], *module.get_params()[1]):
                if name in owners:
                    raise ArgumentError(
                        f'Duplicated parameter names: name "{name}" in layer {number} is already '
                        f"used in layer {owners[name]}"
                    )
                owners[name] = number
        self.params_initialized = True

    # --- binding and updates ---

    def bind(
        self,
        data_shapes: Any,
        label_shapes: Any = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Bind every module to the outputs of the one before."""
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        need(shared_module is None, "Shared module is not supported")
        need(len(self._modules) > 0, "Attempting to bind an empty SequentialModule")
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        shapes, anybody_labels = described(data_shapes), False
        for number, (module, meta) in enumerate(zip(self._modules, self._metas, strict=True)):
            takes = bool(meta.get(self.META_TAKE_LABELS))
            anybody_labels |= takes
            if meta.get(self.META_AUTO_WIRING):
                names = module.data_names
                need(len(names) == len(shapes), f"module {number} has other inputs than {shapes}")
                shapes = [
                    DataDesc(name, one.shape, one.dtype, one.layout)
                    for name, one in zip(names, shapes, strict=True)
                ]
            module.bind(
                shapes,
                label_shapes if takes else None,
                for_training,
                for_training and (inputs_need_grad or number > 0),
                force_rebind,
                None,
                grad_req,
            )
            shapes = described(module.output_shapes)
        self._label_shapes = described(label_shapes) if anybody_labels else None
        self.binded = True

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: OptimizerParams = DEFAULT_OPTIMIZER_PARAMS,
        force_init: bool = False,
    ) -> None:
        """Choose how the parameters of all modules are updated."""
        self._need_parameters()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        for module in self._modules:
            module.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        self.optimizer_initialized = True

    def update(self) -> None:
        """Change the parameters of all modules by their gradients."""
        self._need_parameters()
        for module in self._modules:
            module.update()

    # --- steps ---

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute module after module."""
        self._need_parameters()
        batch = DataBatch(
            data_batch.data, data_batch.label, data_batch.pad, data_batch.index,
            provide_data=data_batch.provide_data, provide_label=data_batch.provide_label,
        )  # fmt: skip
        for number, module in enumerate(self._modules):
            module.forward(batch, is_train)
            if number + 1 < len(self._modules):
                batch.data = module.get_outputs()
                batch.provide_data = [
                    DataDesc(name, array.shape)
                    for name, array in zip(
                        self._modules[number + 1].data_names, batch.data, strict=True
                    )
                ]

    def backward(self, out_grads: Any = None) -> None:
        """Compute gradients, the last module first."""
        self._need_parameters()
        for number in reversed(range(len(self._modules))):
            self._modules[number].backward(out_grads)
            if number:
                out_grads = self._modules[number].get_input_grads()

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the outputs of the last module."""
        self._need_parameters()
        return self._modules[-1].get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the gradients of the inputs of the first module."""
        need(self.inputs_need_grad, "bind with inputs_need_grad=True first")
        return self._modules[0].get_input_grads(merge_multi_context)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Let a metric take the outputs of the modules that see labels into account."""
        for module, meta in zip(self._modules, self._metas, strict=True):
            if meta.get(self.META_TAKE_LABELS):
                module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        """Let a monitor watch all modules."""
        for module in self._modules:
            module.install_monitor(mon)
