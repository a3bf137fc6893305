# SPDX-License-Identifier: Apache-2.0
"""Symbols of several lengths that share their parameters."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from .. import ndarray as nd
from .. import symbol as symbols
from ..error import ArrayValueError
from ..initializer import Uniform
from ..name import NameManager
from .base_module import (
    DEFAULT_OPTIMIZER_PARAMS,
    BaseModule,
    OptimizerParams,
    Params,
    need,
    parameter_dictionaries,
)
from .module import Module

__all__ = ["BucketingModule"]


class BucketingModule(BaseModule):
    """Trains symbols that differ by a key, such as the length of a sequence.

    ``sym_gen(key)`` returns a symbol, the names of its inputs and those of its labels. A batch says
    with ``bucket_key`` which one it is for; its parameters are those of the default key.

    >>> from afterglow import io, mod, nd, sym
    >>> def network(length):
    ...     total = sym.sum(sym.reshape(sym.var("data"), shape=(0, length, -1)), axis=1)
    ...     return sym.FullyConnected(total, num_hidden=1, name="fc"), ("data",), ()
    >>> module = mod.BucketingModule(network, default_bucket_key=3)
    >>> module.bind([("data", (2, 6))])
    >>> module.init_params()
    >>> shorter = io.DataBatch(
    ...     [nd.ones((2, 4))], bucket_key=2, provide_data=[("data", (2, 4))], provide_label=[]
    ... )
    >>> module.forward(shorter)
    >>> module.get_outputs()[0].shape
    (2, 1)
    """

    def __init__(
        self,
        sym_gen: Callable[[Any], tuple[Any, Sequence[str], Sequence[str]]],
        default_bucket_key: Any = None,
        logger: Any = logging,
        context: Any = None,
        work_load_list: Sequence[float] | None = None,
        fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        group2ctxs: Any = None,
        compression_params: Any = None,
    ) -> None:
        super().__init__(logger)
        need(default_bucket_key is not None, "default_bucket_key is needed")
        self._sym_gen = sym_gen
        self._default_bucket_key = default_bucket_key
        names = (fixed_param_names, state_names)
        self._options = (logger, context, work_load_list, *names, group2ctxs, compression_params)
        self._make(default_bucket_key)  # wrong names are told at once
        self._buckets: dict[Any, Module] = {}
        self._curr_module: Any = None
        self._curr_bucket_key: Any = None
        self._grad_req: Any = "write"
        self._monitor: Any = None
        self._loaded: tuple[dict[str, Any], dict[str, Any]] | None = None

    def _make(self, key: Any) -> Module:
        symbol, data_names, label_names = self._generated(key)
        return Module(symbol, data_names, label_names, *self._options)

    def _generated(self, key: Any) -> tuple[Any, Any, Any]:
        """Return the symbol of a key; what it does not name has the same names for all keys."""
        with NameManager():
            symbol, data_names, label_names = self._sym_gen(key)
        return symbol, data_names, label_names

    @property
    def _current(self) -> Module:
        if self._curr_module is None:
            need(False, "the module is not bound; call bind() first")
        return self._curr_module  # type: ignore[no-any-return]

    # --- inputs and outputs ---

    @property
    def data_names(self) -> list[str]:
        """The names of the inputs."""
        if self.binded:
            return self._current.data_names
        return list(self._generated(self._default_bucket_key)[1])

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        if self.binded:
            return self._current.output_names
        names: list[str] = self._generated(self._default_bucket_key)[0].list_outputs()
        return names

    @property
    def data_shapes(self) -> Any:
        """Names and shapes of the inputs of the current bucket."""
        return self._current.data_shapes

    @property
    def label_shapes(self) -> Any:
        """Names and shapes of the labels of the current bucket."""
        return self._current.label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes of the outputs of the current bucket."""
        return self._current.output_shapes

    @property
    def symbol(self) -> Any:
        """The symbol of the current bucket."""
        return self._current.symbol

    # --- binding ---

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
        """Bind the bucket of the default key."""
        need(shared_module is None, "shared_module for BucketingModule is not supported")
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        params = self.get_params() if self.params_initialized else None
        self._buckets = {}
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._grad_req = grad_req
        module = self._make(self._default_bucket_key)
        module.bind(
            data_shapes, label_shapes, for_training, inputs_need_grad, False, None, grad_req
        )
        self._curr_module, self._curr_bucket_key = module, self._default_bucket_key
        self._buckets[self._default_bucket_key] = module
        self.binded = True
        if params is not None:
            self.set_params(*params)

    def switch_bucket(self, bucket_key: Any, data_shapes: Any, label_shapes: Any = None) -> None:
        """Compute with the symbol of a key from now on."""
        default = self._current if not self._buckets else self._buckets[self._default_bucket_key]
        if bucket_key not in self._buckets:
            module = self._make(bucket_key)
            module.bind(
                data_shapes,
                label_shapes,
                default.for_training,
                default.inputs_need_grad,
                False,
                default,
                self._grad_req,
            )
            if self._monitor is not None:
                module.install_monitor(self._monitor)
            self._buckets[bucket_key] = module
        self._curr_module = self._buckets[bucket_key]
        self._curr_bucket_key = bucket_key

    # --- parameters ---

    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return copies of the parameters and the auxiliary states by name."""
        if not self.binded and self._loaded is not None:
            return self._loaded
        default = self._buckets[self._default_bucket_key] if self._buckets else self._current
        default._params_dirty = True  # another bucket may have changed what they share
        return default.get_params()

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008 - it has no state
        arg_params: Params | None = None,
        aux_params: Params | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Set the parameters: from dictionaries, and by the initializer what they lack."""
        if self.params_initialized and not force_init:
            return
        need(self.binded, "call bind before initializing the parameters")
        self._current.init_params(
            initializer, arg_params, aux_params, allow_missing, force_init, allow_extra
        )
        self._share_flags()

    def set_params(
        self,
        arg_params: Params | None,
        aux_params: Params | None,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Set the parameters from dictionaries; with ``allow_missing`` the others stay."""
        if self.params_initialized and not force_init:
            warnings.warn(
                "Parameters already initialized and force_init=False. set_params call ignored.",
                stacklevel=2,
            )
            return
        default = self._buckets[self._default_bucket_key] if self._buckets else self._current
        default.set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
        self._share_flags()

    def _share_flags(self) -> None:
        for module in self._buckets.values():
            module.params_initialized = True
            module._params_dirty = True
        self.params_initialized = True

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the states of the current bucket."""
        return self._current.get_states(merge_multi_context)

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Set the states of the current bucket."""
        self._current.set_states(states, value)

    # --- files ---

    def save_checkpoint(self, prefix: str, epoch: int, remove_amp_cast: bool = False) -> None:
        """Write the symbols of all buckets, their keys and the parameters."""
        for key, module in self._buckets.items():
            module.symbol.save(f"{prefix}-symbol-{key}.json", remove_amp_cast=remove_amp_cast)
        nd.save(f"{prefix}.buckets", nd.array(list(self._buckets), dtype="int32"))
        self.save_params(f"{prefix}-{epoch:04d}.params")

    @staticmethod
    def load(
        prefix: str,
        epoch: int,
        sym_gen: Any = None,
        default_bucket_key: Any = None,
        **kwargs: Any,
    ) -> BucketingModule:
        """Return a module from a checkpoint; without ``sym_gen`` its symbols are read as well."""
        need(sym_gen is not None or default_bucket_key is not None, "default_bucket_key is needed")
        saved = nd.load(f"{prefix}-{epoch:04d}.params")
        arguments, states = parameter_dictionaries(saved, prefix)
        keys = nd.load(f"{prefix}.buckets")[0].asnumpy().tolist()
        by_key = {key: symbols.load(f"{prefix}-symbol-{key}.json") for key in keys}
        return BucketingModule.load_dict(
            by_key, sym_gen, default_bucket_key, arguments, states, **kwargs
        )

    @staticmethod
    def load_dict(
        sym_dict: dict[Any, Any] | None = None,
        sym_gen: Any = None,
        default_bucket_key: Any = None,
        arg_params: Params | None = None,
        aux_params: Params | None = None,
        **kwargs: Any,
    ) -> BucketingModule:
        """Return a module with given symbols and parameters."""
        if sym_gen is None:
            if sym_dict is None:
                raise ArrayValueError("[load_dict] sym_dict or sym_gen is needed")
            data_names = kwargs.pop("data_names", ("data",))
            label_names = kwargs.pop("label_names", ("softmax_label",))
            by_key = sym_dict

            def sym_gen(key: Any) -> tuple[Any, Any, Any]:
                return by_key[key], data_names, label_names

        module = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        module._loaded = dict(arg_params or {}), dict(aux_params or {})
        module.params_initialized = True
        return module

    # --- updates ---

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: OptimizerParams = DEFAULT_OPTIMIZER_PARAMS,
        force_init: bool = False,
    ) -> None:
        """Choose how parameters are updated, in all buckets."""
        self._need_parameters()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        current = self._current
        current.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        for module in self._buckets.values():
            if module is not current:
                module.borrow_optimizer(current)
        self.optimizer_initialized = True

    def update(self) -> None:
        """Change the parameters by the gradients of the current bucket."""
        self._current.update()

    # --- steps ---

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        """Bind the bucket of a batch that comes next; the current one stays current."""
        need(self.binded, "the module is not bound; call bind() first")
        key, module = self._curr_bucket_key, self._curr_module
        self._switch_to(data_batch)
        self._curr_bucket_key, self._curr_module = key, module

    def _switch_to(self, batch: Any) -> None:
        key = self._default_bucket_key if batch.bucket_key is None else batch.bucket_key
        if key in self._buckets:
            self._curr_module, self._curr_bucket_key = self._buckets[key], key
        else:
            self.switch_bucket(key, batch.provide_data, batch.provide_label)

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs with the symbol of the batch's key."""
        self._need_parameters()
        self._switch_to(data_batch)
        self._current.forward(data_batch, is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradients."""
        self._current.backward(out_grads)

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the outputs of the last forward pass."""
        return self._current.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the gradients of the inputs."""
        return self._current.get_input_grads(merge_multi_context)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Let a metric take the last outputs into account."""
        self._current.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        """Let a monitor watch all buckets."""
        need(self.binded, "the module is not bound; call bind() first")
        self._monitor = mon
        for module in self._buckets.values():
            module.install_monitor(mon)
