# SPDX-License-Identifier: Apache-2.0
"""A symbol with its parameters and an optimizer."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

from .. import ndarray as nd
from .. import optimizer as optimizers
from .._formats import params as _files
from ..context import Context, cpu
from ..error import ArrayNotImplementedError, ArrayValueError, MXNetError
from ..initializer import InitDesc, Uniform
from ..io import DataDesc
from ..kvstore.base import store_for
from ..model import load_checkpoint
from .base_module import (
    DEFAULT_OPTIMIZER_PARAMS,
    BaseModule,
    OptimizerParams,
    Params,
    as_list,
    need,
)
from .executor_group import DataParallelExecutorGroup, described

__all__ = ["Module"]

_PARAMETER_ENDINGS = ("_weight", "_bias", "_gamma", "_beta")


def _check_names(symbol: Any, names: Sequence[str], what: str, refuses: bool) -> None:
    """Raise, or warn, if the symbol has no arguments of these names."""
    arguments = symbol.list_arguments()
    for name in names:
        if name in arguments:
            continue
        candidates = [one for one in arguments if not one.endswith(_PARAMETER_ENDINGS)]
        message = (
            f"You created Module with Module(..., {what}={list(names)}) but input with name "
            f"'{name}' is not found in symbol.list_arguments(). Did you mean one of:\n\t"
            + "\n\t".join(candidates)
        )
        if refuses:
            raise ArrayValueError(message)
        warnings.warn(message, stacklevel=3)


def _check_shapes(shapes: list[DataDesc], names: list[str], what: str, refuses: bool) -> None:
    """Raise, or warn, unless the shapes are those of the names."""
    given = [one.name for one in shapes]
    if sorted(given) == sorted(names):
        return
    message = (
        f"Data provided by {what}_shapes don't match names specified by {what}_names "
        f"({shapes} vs. {names})"
    )
    if refuses:
        raise ArrayValueError(message)
    warnings.warn(message, stacklevel=3)


def _devices_of_groups(given: Any, count: int) -> list[dict[str, Context]]:
    """Return for each device of a module where the groups of its symbol live.

    ``given`` is a dictionary with one device, or one for each of the module's, by the names of
    groups (attribute ``ctx_group``), or a list of dictionaries.
    """
    if given is None:
        return [{}] * count
    if isinstance(given, Mapping):
        lists = {name: as_list(devices) for name, devices in given.items()}
        for name, devices in lists.items():
            need(
                len(devices) in (1, count),
                f"group {name!r} has {len(devices)} devices; 1 or {count} are needed",
            )
        return [
            {name: devices[number % len(devices)] for name, devices in lists.items()}
            for number in range(count)
        ]
    need(len(given) == count, f"{len(given)} groups of devices for {count} devices")
    return [dict(one) for one in given]


class Module(BaseModule):
    """Trains a symbol.

    >>> from afterglow import io, mod, nd, sym
    >>> net = sym.FullyConnected(sym.Variable("data"), num_hidden=2, name="fc")
    >>> module = mod.Module(sym.SoftmaxOutput(net, name="softmax"))
    >>> batches = io.NDArrayIter(nd.ones((4, 3)), nd.zeros((4,)), batch_size=2)
    >>> module.fit(batches, num_epoch=2, optimizer_params={"learning_rate": 0.5})
    >>> module.score(batches, "acc")
    [('accuracy', 1.0)]
    """

    def __init__(
        self,
        symbol: Any,
        data_names: Sequence[str] = ("data",),
        label_names: Sequence[str] | None = ("softmax_label",),
        logger: Any = logging,
        context: Context | Sequence[Context] | None = None,
        work_load_list: Sequence[float] | None = None,
        fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        group2ctxs: Any = None,
        compression_params: Any = None,
    ) -> None:
        super().__init__(logger)
        if compression_params is not None:
            raise ArrayNotImplementedError("[Module] nothing travels between machines")
        self._symbol = symbol
        self._context = as_list(cpu() if context is None else context)
        self._work_load_list = list(work_load_list or [1] * len(self._context))
        need(
            len(self._work_load_list) == len(self._context),
            f"{len(self._work_load_list)} loads for {len(self._context)} devices",
        )
        self._groups = _devices_of_groups(group2ctxs, len(self._context))
        self._data_names = list(data_names)
        self._label_names = list(label_names or ())
        self._state_names = list(state_names or ())
        self._fixed_param_names = list(fixed_param_names or ())
        inputs = self._data_names + self._label_names + self._state_names
        self._param_names = [name for name in symbol.list_arguments() if name not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names = symbol.list_outputs()
        for names, what, refuses in (
            (self._data_names, "data_names", True),
            (self._label_names, "label_names", False),
            (self._state_names, "state_names", True),
            (self._fixed_param_names, "fixed_param_names", True),
        ):
            _check_names(symbol, names, what, refuses)
        self._kept_arguments: dict[str, Any] | None = None
        self._kept_states: dict[str, Any] | None = None
        self._params_dirty = False
        self._optimizer: Any = None
        self._kvstore: Any = None
        self._update_on_kvstore = False
        self._updater: Any = None
        self._preload_opt_states: str | None = None
        self._group: DataParallelExecutorGroup | None = None
        self._grad_req: Any = "write"

    # --- files ---

    @staticmethod
    def load(prefix: str, epoch: int, load_optimizer_states: bool = False, **kwargs: Any) -> Module:
        """Return a module with symbol and parameters of a checkpoint."""
        symbol, arguments, states = load_checkpoint(prefix, epoch)
        module = Module(symbol=symbol, **kwargs)
        module._kept_arguments, module._kept_states = arguments, states
        module.params_initialized = True
        if load_optimizer_states:
            module._preload_opt_states = f"{prefix}-{epoch:04d}.states"
        return module

    def save_checkpoint(
        self,
        prefix: str,
        epoch: int,
        save_optimizer_states: bool = False,
        remove_amp_cast: bool = True,
    ) -> None:
        """Write ``prefix-symbol.json``, ``prefix-0001.params`` and, if asked, ``.states``."""
        self._symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
        parameters = f"{prefix}-{epoch:04d}.params"
        self.save_params(parameters)
        logging.info('Saved checkpoint to "%s"', parameters)
        if save_optimizer_states:
            states = f"{prefix}-{epoch:04d}.states"
            self.save_optimizer_states(states)
            logging.info('Saved optimizer state to "%s"', states)

    def save_optimizer_states(self, fname: str) -> None:
        """Write the states of the optimizer to a file."""
        self._need_optimizer()
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname)
        else:
            states = self._updater.get_states()
            _files.replace(fname, lambda file: file.write(states))

    def load_optimizer_states(self, fname: str) -> None:
        """Read the states of the optimizer from a file."""
        self._need_optimizer()
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
        else:
            self._updater.set_states(_files.read(fname))

    # --- inputs and outputs ---

    @property
    def data_names(self) -> list[str]:
        """The names of the inputs."""
        return self._data_names

    @property
    def label_names(self) -> list[str]:
        """The names of the labels."""
        return self._label_names

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        return self._output_names  # type: ignore[no-any-return]

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Names and shapes of the inputs."""
        return self._exec_group.data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """Names and shapes of the labels."""
        return self._exec_group.label_shapes or None

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes of the outputs."""
        group = self._exec_group
        arguments = self._symbol.list_arguments()
        known = {
            one.name: one.shape
            for one in group.data_shapes + group.label_shapes
            if one.name in arguments
        }
        _, shapes, _ = self._symbol.infer_shape(**known)
        return list(zip(self._output_names, shapes, strict=True))

    @property
    def _data_shapes(self) -> list[DataDesc] | None:
        """What ``data_shapes`` says, None before binding: programs bind with it again."""
        return None if self._group is None else self._group.data_shapes

    @property
    def _label_shapes(self) -> list[DataDesc] | None:
        """What ``label_shapes`` says, None before binding."""
        return None if self._group is None else self.label_shapes

    @property
    def _exec_group(self) -> DataParallelExecutorGroup:
        if self._group is None:
            need(False, "the module is not bound; call bind() first")
        return self._group  # type: ignore[return-value]

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
        """Make room for inputs of certain shapes, parameters and gradients.

        ``shared_module`` lends its parameters, which are then the same arrays.
        """
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        need(for_training or not inputs_need_grad, "gradients of inputs need for_training=True")
        if self._group is not None and self.params_initialized:
            self.get_params()
        data, labels = described(data_shapes), described(label_shapes)
        _check_shapes(data, self._data_names, "data", True)
        if label_shapes is not None:
            _check_shapes(labels, self._label_names, "label", False)
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._grad_req = grad_req
        self._group = DataParallelExecutorGroup(
            self._symbol,
            self._context,
            self._work_load_list,
            data,
            labels,
            {
                "data": self._data_names,
                "label": self._label_names,
                "state": self._state_names,
                "param": self._param_names,
            },
            for_training,
            inputs_need_grad,
            grad_req,
            self._fixed_param_names,
            None if shared_module is None else shared_module._exec_group,
            self._groups,
        )
        self.binded = True
        if shared_module is not None:
            self.params_initialized = shared_module.params_initialized
            self._params_dirty = True
            if shared_module.optimizer_initialized:
                self.borrow_optimizer(shared_module)
        elif self.params_initialized:
            self._group.set_params(self._kept_arguments, self._kept_states, allow_extra=True)

    def reshape(self, data_shapes: Any, label_shapes: Any = None) -> None:
        """Bind to inputs of other shapes; parameters stay."""
        self._exec_group.bind_exec(described(data_shapes), described(label_shapes))

    # --- parameters ---

    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return copies of the parameters and the auxiliary states by name."""
        if self._group is None:
            need(self._kept_arguments is not None, "the module has no parameters yet")
        elif self._params_dirty or self._kept_arguments is None:
            self._need_parameters()
            self._kept_arguments, self._kept_states = self._group.get_params()
            self._params_dirty = False
        return self._kept_arguments or {}, self._kept_states or {}

    @property
    def _arg_params(self) -> dict[str, Any]:
        """The parameters, by the name that MXNet keeps them under."""
        return self.get_params()[0]

    @_arg_params.setter
    def _arg_params(self, arrays: dict[str, Any] | None) -> None:
        """Keep others, which the next binding takes, as MXNet's own ``load`` did."""
        self._kept_arguments = arrays

    @property
    def _aux_params(self) -> dict[str, Any]:
        """The auxiliary states."""
        return self.get_params()[1]

    @_aux_params.setter
    def _aux_params(self, arrays: dict[str, Any] | None) -> None:
        self._kept_states = arrays

    def _sync_params_from_devices(self) -> None:
        """Copy the parameters anew: programs of MXNet's time have written to those of devices."""
        self._params_dirty = True
        self.get_params()

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
            warnings.warn(
                "Parameters already initialized and force_init=False. init_params call ignored.",
                stacklevel=2,
            )
            return
        need(self.binded, "call bind before initializing the parameters")
        attributes = self._symbol.attr_dict()
        group = self._exec_group
        values: list[dict[str, Any]] = []
        for names, arrays, given in (
            (group.param_names, group.param_arrays, arg_params),
            (group.aux_names, group.aux_arrays, aux_params),
        ):
            chosen: dict[str, Any] = {}
            for name, (array, *_) in sorted(zip(names, arrays, strict=True), key=lambda x: x[0]):
                if given is not None and name in given:
                    chosen[name] = given[name]
                elif given is not None and not allow_missing:
                    raise MXNetError(f"{name} is not presented")
                elif initializer is not None:
                    chosen[name] = nd.zeros(array.shape, dtype=array.dtype)
                    initializer(InitDesc(name, attributes.get(name)), chosen[name])
            values.append(chosen)
        group.set_params(values[0], values[1], allow_extra)
        self.params_initialized = True
        self._params_dirty = True

    def set_params(
        self,
        arg_params: Params | None,
        aux_params: Params | None,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Set the parameters from dictionaries; with ``allow_missing`` the others stay."""
        if not allow_missing:
            self.init_params(None, arg_params, aux_params, False, force_init, allow_extra)
            return
        if self.params_initialized and not force_init:
            warnings.warn(
                "Parameters already initialized and force_init=False. set_params call ignored.",
                stacklevel=2,
            )
            return
        self._exec_group.set_params(arg_params, aux_params, allow_extra)
        self.params_initialized = True
        self._params_dirty = True

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the states: arguments that neither batches nor optimizers set."""
        self._need_parameters()
        arrays = self._exec_group.state_arrays
        return self._merged(arrays, [0] * len(arrays), merge_multi_context)

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Set the states from arrays, or all of them to a number."""
        self._need_parameters()
        self._exec_group.set_states(states, value)

    # --- updates ---

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: OptimizerParams = DEFAULT_OPTIMIZER_PARAMS,
        force_init: bool = False,
    ) -> None:
        """Choose how parameters are updated.

        Gradients are divided by the number of examples unless ``rescale_grad`` says otherwise.
        """
        self._need_parameters()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring...")
            return
        group = self._exec_group
        largest = max((one[0].size for one in self._exec_group.param_arrays), default=0)
        self._kvstore, self._update_on_kvstore = store_for(kvstore, len(self._context), largest)
        devices = 1 if self._update_on_kvstore else len(self._context)
        numbers = dict(enumerate(name for name in group.param_names for _ in range(devices)))
        workers = self._kvstore.num_workers if self._kvstore is not None else 1
        scale = 1.0 / (group.batch_size * workers)
        if isinstance(optimizer, str):
            options = {"rescale_grad": scale, **dict(optimizer_params)}
            optimizer = optimizers.create(
                optimizer, sym=self.symbol, param_idx2name=numbers, **options
            )
        else:
            if optimizer.rescale_grad != scale:
                warnings.warn(
                    "Optimizer created manually outside Module but rescale_grad is not normalized "
                    f"to 1.0/batch_size/num_workers ({optimizer.rescale_grad} vs. {scale}). "
                    "Is this intended?",
                    stacklevel=2,
                )
            if not optimizer.idx2name:
                optimizer.idx2name = numbers
        self._optimizer = optimizer
        self._updater = None
        if self._kvstore is not None:
            for name, weights in zip(group.param_names, group.param_arrays, strict=True):
                self._kvstore.broadcast(name, weights[0], weights)
        if self._update_on_kvstore:
            self._kvstore.set_optimizer(optimizer)
        else:
            self._updater = optimizers.get_updater(optimizer)
        self.optimizer_initialized = True
        if self._preload_opt_states is not None:
            self.load_optimizer_states(self._preload_opt_states)
            self._preload_opt_states = None

    def borrow_optimizer(self, shared_module: Self) -> None:
        """Update with the optimizer of another module, and its states."""
        shared_module._need_optimizer()
        for name in ("_optimizer", "_kvstore", "_update_on_kvstore", "_updater"):
            setattr(self, name, getattr(shared_module, name))
        self.optimizer_initialized = True

    def update(self) -> None:
        """Change the parameters by their gradients."""
        self._need_optimizer()
        self._params_dirty = True
        group = self._exec_group
        devices = len(self._context)
        for index, (name, weights, gradients) in enumerate(
            zip(group.param_names, group.param_arrays, group.grad_arrays, strict=True)
        ):
            if gradients[0] is None:
                continue
            if self._kvstore is not None:
                pulled = weights if self._update_on_kvstore else gradients
                self._kvstore.pushpull(name, gradients, out=pulled, priority=-index)
            if self._update_on_kvstore:
                continue
            for device, (weight, gradient) in enumerate(zip(weights, gradients, strict=True)):
                self._updater(index * devices + device, gradient, weight)

    def _need_optimizer(self) -> None:
        self._need_parameters()
        need(self.optimizer_initialized, "there is no optimizer; call init_optimizer() first")

    # --- steps ---

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs; a batch of other shapes binds the module to them."""
        self._need_parameters()
        if not isinstance(data_batch, list):
            self._fit_to(data_batch)
        self._exec_group.forward(data_batch, is_train)

    def _fit_to(self, batch: Any) -> None:
        group = self._exec_group
        shapes = [tuple(one.shape) for one in batch.data]
        if shapes == [one.shape for one in group.data_shapes]:
            return
        data = described(getattr(batch, "provide_data", None)) or [
            DataDesc(one.name, shape, one.dtype, one.layout)
            for one, shape in zip(group.data_shapes, shapes, strict=True)
        ]
        labels = described(getattr(batch, "provide_label", None))
        given = getattr(batch, "label", None)
        if not labels and given:
            labels = [
                DataDesc(one.name, label.shape, one.dtype, one.layout)
                for one, label in zip(group.label_shapes, given, strict=False)
            ]
        self.reshape(data, labels)

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradients; outputs that are no losses need ``out_grads``."""
        self._need_parameters()
        self._exec_group.backward(None if out_grads is None else as_list(out_grads))

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the outputs: joined, or a list with those of each device."""
        self._need_parameters()
        group = self._exec_group
        return self._merged(group.outputs(), group.output_axes, merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the gradients of the inputs."""
        self._need_parameters()
        need(self.inputs_need_grad, "bind with inputs_need_grad=True first")
        group = self._exec_group
        return self._merged(group.input_grad_arrays, group.input_axes, merge_multi_context)

    def _merged(self, arrays: list[list[Any]], axes: list[int], merge: bool) -> list[Any]:
        if not merge:
            return arrays
        place = self._context[0]
        return [
            parts[0]
            if len(parts) == 1 or axis < 0
            else nd.concat(*(part.as_in_context(place) for part in parts), dim=axis)
            for parts, axis in zip(arrays, axes, strict=True)
        ]

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Let a metric take the last outputs into account."""
        self._exec_group.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        """Let a monitor watch the executors."""
        for executor in self._exec_group.execs:
            mon.install(executor)

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        """Do nothing: updates bring all rows of sparse parameters to the devices."""
        need(self.binded, "the module is not bound; call bind() first")
