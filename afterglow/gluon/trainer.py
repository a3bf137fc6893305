# SPDX-License-Identifier: Apache-2.0
"""``gluon.Trainer``: applies an optimizer to a set of parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import nullcontext
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import autograd
from .. import optimizer as opt
from .._core import first_stale, set_stale
from .._formats import params as _files
from .._package.keywords import NamedKeywords
from ..error import ArrayValueError
from ..kvstore.base import create, store_for
from .parameter import Parameter

if TYPE_CHECKING:
    from os import PathLike

    from ..contrib.amp.loss_scaler import LossScaler
    from ..kvstore.dist import DistStore
    from .checkpoint import Progress

__all__ = ["Trainer"]

#: What processes exchange when they write one.
CHECKPOINT = "checkpoint"


class _Device(NamedTuple):
    """The weights on one device that have gradients."""

    indices: list[int]  #: of their parameters
    weights: list[Any]


class Trainer(NamedKeywords):
    """Updates parameters after ``backward``: sums gradients over devices, then steps.

    Several devices share their gradients through a store, ``kvstore``: its name, or one of your
    own (:class:`mx.kvstore.KVStoreBase`). One device needs none, unless it is of your own.
    """

    _amp_loss_scaler: LossScaler | None = None  #: set by ``contrib.amp.init_trainer``

    def __init__(
        self,
        params: Any,
        optimizer: str | opt.Optimizer,
        optimizer_params: Mapping[str, Any] | None = None,
        kvstore: Any = "device",
        compression_params: Any = None,
        update_on_kvstore: bool | None = None,
    ) -> None:
        if isinstance(params, Mapping) or hasattr(params, "values"):
            params = [params[name] for name in sorted(params.keys())]
        wanted = "First argument must be a list or dict of Parameters"
        if not isinstance(params, (list, tuple)):
            raise ArrayValueError(f"{wanted}, got {type(params)}.")
        for parameter in params:
            if not isinstance(parameter, Parameter):
                raise ArrayValueError(f"{wanted}, got list of {type(parameter)}.")
        self._params: list[Any] = list(params)
        self._param2idx = {parameter.name: i for i, parameter in enumerate(self._params)}
        for parameter in self._params:
            parameter._set_trainer(self)
        if update_on_kvstore and kvstore is None:
            raise ArrayValueError("update_on_kvstore needs a kvstore")
        self._compression_params = compression_params
        self._kvstore_params = {"kvstore": kvstore, "update_on_kvstore": update_on_kvstore}
        self._init_optimizer(optimizer, dict(optimizer_params or {}))
        self._scale = self._optimizer.rescale_grad
        self._updaters: list[opt.Updater] = []
        self._trained: tuple[int, list[_Device]] | None = None
        self._kv_initialized = False
        self._params_to_init: list[Any] = []
        self._progress: Progress | None = None
        self._checkpoints: tuple[str | PathLike[str], int] | None = None
        self._reset_kvstore()

    def _init_optimizer(self, optimizer: str | opt.Optimizer, arguments: dict[str, Any]) -> None:
        by_index: dict[Any, Any] = dict(enumerate(self._params))
        if isinstance(optimizer, opt.Optimizer):
            assert not arguments, (
                "optimizer_params must be None if optimizer is an instance of Optimizer instead "
                "of str"
            )
            self._optimizer = optimizer
            self._optimizer.param_dict = by_index
        else:
            self._optimizer = opt.create(optimizer, param_dict=by_index, **arguments)

    # --- rates ---

    @property
    def optimizer(self) -> opt.Optimizer:
        """The optimizer."""
        if isinstance(self._optimizer, opt.Optimizer):
            return self._optimizer
        raise UserWarning("Optimizer has not been initialized yet")

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        return self._optimizer.learning_rate

    def set_learning_rate(self, lr: float) -> None:
        """Set the learning rate."""
        self._optimizer.set_learning_rate(lr)

    # --- the store ---

    def _reset_kvstore(self) -> None:
        """Forget the store: parameters get other values, or there has been none yet."""
        if self._kv_initialized:
            for _, parameter in self._wanting_gradients(sparse=True):
                if parameter not in self._params_to_init:
                    parameter._take_every_row()
        self._kv_initialized = False
        self._kvstore: Any = None
        self._update_on_kvstore: bool | None = None
        self._params_to_init = list(self._params)

    def _init_kvstore(self) -> None:
        """Make the store, where one is needed, and say who updates the weights."""
        wanted, updates = self._kvstore_params.values()
        devices = max(1, len(self._params[0].list_ctx() if self._params else ()))
        has_rows = any(one.stype != "default" for one in self._params)
        if has_rows and updates is False:
            raise ArrayValueError(
                "Cannot set update_on_kvstore=False when sparse weights are present."
            )
        if has_rows and (wanted is None or isinstance(wanted, str)):
            wanted = create(wanted or "local")  # which has the rows that devices have not
        largest = max((prod(one.shape or ()) for one in self._params), default=0)
        store, usual = store_for(wanted, devices, largest)
        if store is None:
            self._kv_initialized = True
            return
        if updates is None:
            sparse = any(one.grad_stype != "default" for one in self._params)
            updates = has_rows or (usual and not sparse)
        elif updates and not store.is_capable("optimizer"):
            raise ArrayValueError(
                f"[Trainer] update_on_kvstore=True needs a kvstore that runs optimizers; "
                f"{type(store).__name__} does not"
            )
        if self._compression_params:
            store.set_gradient_compression(self._compression_params)
        if updates:
            store.set_optimizer(self._optimizer)
        self._kvstore, self._update_on_kvstore = store, bool(updates)
        self._kv_initialized = True  # last, so that what is refused is refused again

    def _init_params(self, rows_alone: bool = False) -> None:
        """Give the store the first values of the parameters that have some.

        With ``rows_alone`` of those whose weights are sparse: others may be in use.
        """
        waiting = []
        for parameter in self._params_to_init:
            if parameter._deferred_init or (rows_alone and parameter.stype == "default"):
                waiting.append(parameter)
            elif parameter.stype != "default":
                whole = next(iter(parameter._initialized().values()))
                self._kvstore.init(self._param2idx[parameter.name], whole.detach())
            elif self._kvstore is not None:
                weights = parameter.list_data()
                self._kvstore.broadcast(self._param2idx[parameter.name], weights[0], out=weights)
        self._params_to_init = waiting

    def _prepare(self, rows_alone: bool = False) -> None:
        """Have a store, if one is needed, that knows all parameters."""
        if not self._kv_initialized:
            self._init_kvstore()
        if self._params_to_init:
            self._init_params(rows_alone)

    # --- steps ---

    def step(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """Queue one update of all parameters; gradients are divided by ``batch_size``.

        A parameter whose gradient ``backward`` has not computed since the last step is an error,
        or with ``ignore_stale_grad`` left as it is.
        """
        rescale = self._scale / batch_size  # which raises for 0
        self._prepare()
        if not ignore_stale_grad:  # before anything is updated
            for device in self._trained_by_device():
                self._check_fresh(device)
        self._step(batch_size, rescale, ignore_stale_grad)

    def _step(self, examples: float, rescale: float, ignore_stale_grad: bool) -> None:
        """Sum gradients up and update; several processes divide by the examples of all of them."""
        processes = self._processes
        self._optimizer.rescale_grad = rescale if processes is None else self._scale
        with nullcontext() if processes is None else processes.dividing_by(examples):
            if not self._overflows():
                self._allreduce_grads()
                self._update(ignore_stale_grad)

    @property
    def _processes(self) -> DistStore | None:
        """The store, if it is one of several processes."""
        if self._kvstore is None or self._kvstore.num_workers == 1:
            return None
        from ..kvstore.dist import DistStore

        return self._kvstore if isinstance(self._kvstore, DistStore) else None

    def join(self) -> None:
        """Take part in the steps of the other processes, with weight 0, until none has data left.

        For a process that runs out of data before others, behind the loop of an epoch; all call it.
        Weights stay the same in all of them. A process alone returns at once.
        """
        self._prepare()
        processes = self._processes
        if processes is None:
            return
        from ..distributed.collectives import EXAMPLES
        from . import checkpoint

        for asked in processes.asked():
            if asked.kind == EXAMPLES:
                for _, parameter in self._wanting_gradients():
                    parameter.zero_grad()
                self._step(0, self._scale, ignore_stale_grad=False)  # stale ones are updated, too
            elif asked.name == CHECKPOINT:
                progress = self._progress or checkpoint.Progress()
                self._gather_checkpoint(processes, {"note": checkpoint.note(self, progress)})
            else:
                processes.give_nothing(asked)

    def allreduce_grads(self) -> None:
        """Give every device the sum of the gradients of all of them."""
        self._prepare()
        self._refuse_apart("allreduce_grads")
        self._allreduce_grads()

    def _allreduce_grads(self) -> None:
        if self._kvstore is None:
            return
        wanting = self._wanting_gradients()
        if self._kvstore.num_workers > 1:
            # All dense ones at once, in the order in which backward computes them, so that small
            # ones travel together and the others meanwhile.
            dense = [pair for pair in reversed(wanting) if pair[1].stype == "default"]
            keys = [index for index, _ in dense]
            out = [one.list_data() for _, one in dense] if self._update_on_kvstore else None
            self._kvstore.pushpull(keys, [one.list_grad() for _, one in dense], out=out)
            wanting = [pair for pair in wanting if pair[1].stype != "default"]
        for index, parameter in wanting:
            if parameter.stype != "default":  # whose rows are pulled when they are asked for
                self._kvstore.push(index, parameter.list_grad(), priority=-index)
                continue
            pulled = parameter.list_data() if self._update_on_kvstore else None
            self._kvstore.pushpull(index, parameter.list_grad(), out=pulled, priority=-index)

    def _wanting_gradients(self, sparse: bool | None = None) -> list[tuple[int, Any]]:
        """Return the parameters with gradients; all, or those with dense or sparse weights."""
        return [
            (index, one)
            for index, one in enumerate(self._params)
            if one.grad_req != "null" and sparse in (None, one.stype != "default")
        ]

    def _row_sparse_pull(self, parameter: Any, out: Any, row_id: Any) -> None:
        """Write rows of a parameter into an array, which then has those alone."""
        index = self._param2idx[parameter.name]
        with autograd.pause():
            self._prepare(rows_alone=True)
            self._kvstore.row_sparse_pull(index, out=out, row_ids=row_id, priority=-index)

    def update(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """Queue the updates alone, after ``allreduce_grads``."""
        self._prepare()
        self._refuse_apart("update")
        self._optimizer.rescale_grad = self._scale / batch_size
        if not ignore_stale_grad:
            for device in self._trained_by_device():
                self._check_fresh(device)
        if not self._overflows():
            self._update(ignore_stale_grad)

    def _overflows(self) -> bool:
        """Tell whether mixed precision is used and gradients are too large for it."""
        scaler = self._amp_loss_scaler
        return scaler is not None and scaler.has_overflow(self._params, self._processes)

    def _refuse_apart(self, what: str) -> None:
        assert not self._update_on_kvstore, (
            f"[Trainer.{what}] several devices are updated together by step(); make the Trainer "
            "with update_on_kvstore=False to call allreduce_grads() and update()"
        )

    def _update(self, ignore_stale_grad: bool) -> None:
        if self._update_on_kvstore:  # which has done it; as in MXNet, gradients stay fresh
            return
        updaters = self._need_updaters()
        devices = self._trained_by_device()
        if len(devices) > len(updaters):
            raise ArrayValueError(
                f"there are parameters on {len(devices)} devices, the first one is on "
                f"{len(updaters)}"
            )
        for updater, (indices, weights) in zip(updaters, devices, strict=False):
            if ignore_stale_grad and first_stale(weights) >= 0:
                fresh = [number for number, one in enumerate(weights) if first_stale([one]) < 0]
                indices = [indices[number] for number in fresh]
                weights = [weights[number] for number in fresh]
            updater.update_all(indices, weights)
            set_stale(weights)

    def _trained_by_device(self) -> list[_Device]:
        """Return what has gradients; the same lists as long as no parameter has changed."""
        if self._trained is None or self._trained[0] != Parameter.changes:
            devices: list[_Device] = []
            for index, parameter in self._wanting_gradients(sparse=False):
                for number, weight in enumerate(parameter.list_data()):
                    if number == len(devices):
                        devices.append(_Device([], []))
                    devices[number].indices.append(index)
                    devices[number].weights.append(weight)
            self._trained = (Parameter.changes, devices)
        return self._trained[1]

    def _check_fresh(self, device: _Device) -> None:
        """Raise if ``backward`` has not computed the gradient of a parameter on a device."""
        stale = first_stale(device.weights)
        if stale >= 0:
            raise UserWarning(
                f"[Trainer] the gradient of Parameter `{self._params[device.indices[stale]].name}` "
                f"on context {device.weights[stale].context} has not been updated by backward "
                "since last `step`; if only some parameters are meant to be used, call step with "
                "ignore_stale_grad=True, which leaves the others as they are"
            )

    def _need_updaters(self) -> list[opt.Updater]:
        if not self._updaters:
            count = max(1, len(self._params[0].list_ctx() if self._params else ()))
            self._updaters = [opt.get_updater(self._optimizer) for _ in range(count)]
        return self._updaters

    # --- files ---

    def _stateful(self) -> list[opt.Updater]:
        """Return the updaters that hold the states of the optimizer."""
        self._prepare()
        return [self._kvstore._updater] if self._update_on_kvstore else self._need_updaters()

    def save_states(self, fname: str) -> None:
        """Write the states of the optimizer to a file. Waits for their values."""
        states = self._stateful()[0].get_states(dump_optimizer=True)
        _files.replace(fname, lambda file: file.write(states))

    def load_states(self, fname: str) -> None:
        """Read the states of the optimizer from a file."""
        self._set_states(_files.read(fname))

    def _set_states(self, states: bytes) -> None:
        updaters = self._stateful()
        for updater in updaters:
            updater.set_states(states)
        self._optimizer = updaters[0].optimizer
        for updater in updaters:
            updater.optimizer = self._optimizer
        self._optimizer.param_dict = dict(enumerate(self._params))

    def resume(self, folder: str | PathLike[str], keep: int = 3) -> Progress:
        """Go on from the last checkpoint of a folder, if there is one, and return where the run is.

        All processes call it. Parameters, states of the optimizer, its counts and schedule, and the
        random numbers of the library, of Python and of NumPy are what they were; the
        :class:`Progress` goes through the epochs and batches that are left.
        :meth:`save_checkpoint` writes to the same folder, and keeps so many.
        """
        from . import checkpoint

        self._checkpoints = folder, keep
        processes = self._processes_now()
        rank = processes.rank if processes is not None else 0
        data = checkpoint.latest(folder) if rank == 0 else b""
        if processes is not None:
            data = processes.exchange("resume", data)[0]
        if data:
            size = processes.num_workers if processes is not None else 1
            self._progress = checkpoint.resume(self, data, rank, size)
        else:
            self._progress = checkpoint.Progress()
        return self._progress

    def save_checkpoint(
        self, folder: str | PathLike[str] | None = None, keep: int | None = None
    ) -> None:
        """Write all that :meth:`resume` needs into a file of its own, and remove older ones.

        To be called behind ``step``, by all processes; the first one writes. The file appears under
        its name when it is on the disk as a whole. Waits for the values.
        """
        from . import checkpoint

        self._prepare()
        processes = self._processes_now()
        known, known_keep = self._checkpoints or (None, 3)
        folder, keep = known if folder is None else folder, known_keep if keep is None else keep
        waiting = [one.name for one in self._params if one._deferred_init]
        if folder is None or keep < 1 or waiting:
            raise ArrayValueError(
                f"[save_checkpoint] got the folder {folder!r}, {keep} files to keep and "
                f"{len(waiting)} Parameters without a shape; it needs a folder, which may be "
                "given to resume(), a file to keep, and parameters that have values"
            )
        noted = checkpoint.note(self, self._progress or checkpoint.Progress())
        if processes is None:
            checkpoint.save(self, folder, [noted], keep)
            return
        told = {"note": noted, "folder": str(folder), "keep": keep}
        self._gather_checkpoint(processes, told)

    def _gather_checkpoint(self, processes: DistStore, told: Any) -> None:
        """Let the first process write what all have noted, where those say that know it."""
        from . import checkpoint

        gathered = processes.exchange(CHECKPOINT, json.dumps(told).encode())
        if processes.rank == 0:
            given = [json.loads(one) for one in gathered]
            first = next(one for one in given if "folder" in one)
            notes = [one["note"] for one in given]
            checkpoint.save(self, first["folder"], notes, first["keep"])

    def _processes_now(self) -> DistStore | None:
        """Return the store of several processes; parameters need not have values yet."""
        if not self._kv_initialized:
            self._init_kvstore()
        return self._processes
