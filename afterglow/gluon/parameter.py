# SPDX-License-Identifier: Apache-2.0
"""Parameters: arrays that training changes, one copy per device, made when their shape is known."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from copy import copy, deepcopy
from typing import Any, ClassVar, Self

import numpy as onp

from .. import autograd, initializer, ndarray, numpy, symbol
from .._arrays.base import ArrayBase
from .._arrays.dtypes import dtype_number
from .._arrays.shapes import Shape, as_integers
from .._core import Array, operation
from ..context import Context, context_numbers, context_of, cpu, current_context
from ..error import MismatchError, MXNetError
from ..util import is_np_array, is_np_shape
from ._mxnet_internals import ParameterInternals
from ._watchers import Watchers

__all__ = [
    "Constant",
    "DeferredInitializationError",
    "Parameter",
    "ParameterDict",
    "tensor_types",
]

tensor_types = (ArrayBase,)  #: what a block takes for an array

_default_init = initializer.Uniform()

#: Kinds of contexts whose arrays are computed with on the processor: pinned and shared memory.
_HOST_MEMORY = (3, 5)


class DeferredInitializationError(MXNetError):
    """A parameter was read whose shape will only be known after the first batch."""


def _completes(new: Shape, old: Shape) -> bool:
    """Tell whether a shape differs from an older one only in extents that were unknown."""
    return len(new) == len(old) and all(
        before in (0, -1, extent) for before, extent in zip(old, new, strict=True)
    )


def _fits(given: Shape, known: Shape) -> bool:
    """Tell whether two shapes can be the same once the unknown extents are known."""
    return len(given) == len(known) and all(
        one in (0, -1, other) or other in (0, -1) for one, other in zip(given, known, strict=True)
    )


def _contexts(ctx: Any) -> list[Context]:
    if ctx is None:
        return [current_context()]
    contexts = list(ctx) if isinstance(ctx, (list, tuple)) else [ctx]
    for one in contexts:
        context_numbers(one)  # refuses what is not a context
    return contexts


class Parameter(ParameterInternals):
    """A weight of a block.

    ``shape`` may have unknown extents (0 or -1); the array is then made when the first batch has
    told them. ``init`` is preferred to the initializer that the whole network gets.

    >>> from afterglow import gluon
    >>> weight = gluon.Parameter("weight", shape=(2, 2))
    >>> weight.initialize("ones")
    >>> weight.data()
    <BLANKLINE>
    [[1. 1.]
     [1. 1.]]
    <NDArray 2x2 @cpu(0)>
    """

    #: How often parameters have got other arrays, requests or factors: what a trainer has found out
    #: about its parameters holds as long as this stays the same.
    changes: ClassVar[int] = 0

    def __init__(
        self,
        name: str,
        grad_req: str = "write",
        shape: Any = None,
        dtype: Any = onp.float32,
        lr_mult: float = 1.0,
        wd_mult: float = 1.0,
        init: Any = None,
        allow_deferred_init: bool = False,
        differentiable: bool = True,
        stype: str = "default",
        grad_stype: str = "default",
    ) -> None:
        for what, given in (("stype", stype), ("grad_stype", grad_stype)):
            assert given in ("default", "row_sparse", "csr"), (
                f"{what} for Parameter '{name}' must be one of 'default', 'row_sparse', or 'csr', "
                f"but got '{given}'"
            )
        self._stype = stype
        self._grad_stype = grad_stype
        #: hybridized blocks that hold the arrays
        self._parameter_watchers = Watchers()
        self._parameter_arrays: dict[tuple[int, int], Any] | None = None
        self._parameter_multipliers = (lr_mult, wd_mult)
        self._parameter_deferred: tuple[Any, list[Context], Any, Any] | None = None
        self._parameter_trainer: weakref.ref[Any] | None = None
        self._var: tuple[Shape | None, Any] | None = None
        self._differentiable = differentiable
        self._allow_deferred_init = allow_deferred_init
        self._grad_req = "null"
        self._shape: Shape | None = None if shape is None else as_integers(shape, "shape")
        self._dtype = dtype
        self.name = name
        self.init = init
        self.grad_req = grad_req

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.name} (shape={self.shape}, dtype={self.dtype})"

    def __getstate__(self) -> dict[str, Any]:
        own = {"_parameter_watchers": None, "_parameter_trainer": None}
        return {name: own.get(name, value) for name, value in vars(self).items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what a pickle holds: arrays, which have no gradients yet."""
        vars(self).update(state, _parameter_watchers=Watchers())
        self._mark()

    def __copy__(self) -> Self:
        """Return a parameter with the same arrays, and the gradients that they have."""
        copied = object.__new__(type(self))
        vars(copied).update(vars(self), _parameter_watchers=Watchers(), _parameter_trainer=None)
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a parameter with arrays of its own, which have gradients of their own."""
        copied = copy(self)
        memo[id(self)] = copied
        copied._parameter_arrays = deepcopy(self._parameter_arrays, memo)
        copied._mark()
        return copied

    # --- description ---

    @property
    def shape(self) -> Shape | None:
        """The shape; unknown extents are 0, or -1 with NumPy shapes."""
        if self._shape is None or not is_np_shape():
            return self._shape
        return tuple(extent or -1 for extent in self._shape)

    @shape.setter
    def shape(self, shape: Any) -> None:
        new = as_integers(shape, "shape")
        if self._shape is not None:
            assert _completes(new, self._shape), (
                f"Expected shape {new} is incompatible with given shape {self._shape}."
            )
        self._shape = new

    def _is_incomplete(self) -> bool:
        """Tell whether the shape is not known in full."""
        return self._shape is None or any(extent <= 0 for extent in self._shape)

    @property
    def dtype(self) -> Any:
        """The type of the elements, as it was given."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self.cast(dtype)

    @property
    def stype(self) -> str:
        """The storage type: "default" is dense."""
        return self._stype

    @property
    def grad_stype(self) -> str:
        """The storage type of the gradient."""
        return self._grad_stype

    @property
    def grad_req(self) -> str:
        """What ``backward`` does with the gradient: "write", "add" or "null" (nothing)."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, request: str) -> None:
        assert request in ("write", "add", "null"), (
            f"grad_req must be one of 'write', 'add', or 'null', but got '{request}'"
        )
        if not self._differentiable:
            request = "null"
        if request != self._grad_req:
            self._grad_req = request
            self._mark()

    @property
    def lr_mult(self) -> float:
        """The factor of the learning rate."""
        return self._parameter_multipliers[0]

    @lr_mult.setter
    def lr_mult(self, factor: float) -> None:
        self._parameter_multipliers = (factor, self.wd_mult)
        Parameter.changes += 1

    @property
    def wd_mult(self) -> float:
        """The factor of the weight decay."""
        return self._parameter_multipliers[1]

    @wd_mult.setter
    def wd_mult(self, factor: float) -> None:
        self._parameter_multipliers = (self.lr_mult, factor)
        Parameter.changes += 1

    def _parameter_changed(self) -> None:
        """Tell whoever holds the arrays, or has found something out about them."""
        Parameter.changes += 1
        self._parameter_watchers.forget()

    def _mark(self) -> None:
        """Make the arrays variables, or ordinary arrays if no gradient is wanted."""
        self._parameter_changed()
        if self._parameter_arrays is None:
            return
        for place, array in self._parameter_arrays.items():
            if self._grad_req == "null":
                self._parameter_arrays[place] = array.detach()
            else:
                array.attach_grad(self._grad_req, self._grad_stype)

    # --- values ---

    def initialize(
        self,
        init: Any = None,
        ctx: Any = None,
        default_init: Any = _default_init,
        force_reinit: bool = False,
    ) -> None:
        """Make the arrays on the given devices, now or when the shape is known."""
        if self._parameter_arrays is not None and not force_reinit:
            warnings.warn(
                f"Parameter '{self.name}' is already initialized, ignoring. Set force_reinit=True "
                "to re-initialize.",
                stacklevel=2,
            )
            return
        self._parameter_arrays = None
        self._parameter_changed()
        if init is None:
            init = default_init if self.init is None else self.init
        self._parameter_deferred = (init, _contexts(ctx), default_init, None)
        if not self._is_incomplete():
            self._finish_deferred_init()
        elif not self._allow_deferred_init:
            self._parameter_deferred = None
            raise ValueError(
                f"Cannot initialize Parameter '{self.name}' because it has invalid shape: "
                f"{self.shape}."
            )

    def _finish_deferred_init(self) -> None:
        """Make the arrays, now that the shape is known."""
        if self._parameter_deferred is None:
            return
        init, contexts, default_init, value = self._parameter_deferred
        self._parameter_deferred = None
        assert not self._is_incomplete(), (
            f"Cannot initialize Parameter '{self.name}' because it has invalid shape: {self.shape}."
            " Please specify in_units, in_channels, etc for `Block`s."
        )
        with autograd.pause():
            if value is None:
                value = self._new(contexts[0])
                desc = initializer.InitDesc(self.name, {"__init__": init})
                initializer.create(default_init)(desc, value)
            self._set_copies(value, contexts)

    def _new(self, ctx: Context) -> Any:
        """Return zeros in shape and type of the parameter."""
        return operation("copy", not is_np_array())(
            0, shape=self._shape, dtype=dtype_number(self._dtype), ctx=ctx.numbers
        )

    def _set_copies(self, value: Any, contexts: list[Context]) -> None:
        """Keep an array of our own, and copies of it on the other devices."""
        if self._stype != "default":
            value = _in_storage(value, self._stype)
        elif value.stype != "default":
            value = value.tostype("default")
        self._parameter_arrays = {ctx.numbers: value.as_in_ctx(ctx) for ctx in contexts}
        self._mark()

    def _load_init(
        self, data: Any, ctx: Any, cast_dtype: bool = False, dtype_source: str = "current"
    ) -> None:
        """Take the value from a file."""
        failed = f"Failed loading Parameter '{self.name}' from saved params: "
        assert dtype_source in ("current", "saved"), "dtype_source must be 'current' or 'saved'"
        if self._shape is not None and not _fits(self._shape, data.shape):
            raise MismatchError(
                f"{failed}shape incompatible expected {self.shape} vs saved {data.shape}"
            )
        if self._dtype is not None and dtype_number(self._dtype) != data._dtype_number:
            if not cast_dtype:
                raise MismatchError(
                    f"{failed}dtype incompatible expected {self.dtype} vs saved {data.dtype}. Set "
                    "cast_dtype=True to cast the dtype of saved params."
                )
            if dtype_source == "current":
                data = data.astype(self._dtype)
            else:
                self.cast(data.dtype)
        self._shape = data.shape
        contexts = None if ctx is None else _contexts(ctx)
        if self._parameter_arrays is None:
            if contexts is None:
                contexts = (
                    [cpu()] if self._parameter_deferred is None else self._parameter_deferred[1]
                )
            self._parameter_deferred = None
            with autograd.pause():
                sparse = data.stype != "default"
                value = data if sparse else data._as_class(not is_np_array())
                self._set_copies(value.copyto(contexts[0]), contexts)
            return
        if contexts is not None and set(contexts) != set(self.list_ctx()):
            raise MismatchError(
                f"Failed to load Parameter '{self.name}' on {contexts} because it was previous "
                f"initialized on {self.list_ctx()}."
            )
        self.set_data(data)

    def _initialized(self) -> dict[tuple[int, int], Any]:
        """Return the arrays by device, or say why there are none."""
        if self._parameter_arrays is not None:
            return self._parameter_arrays
        if self._parameter_deferred is not None:
            raise DeferredInitializationError(
                f"Parameter '{self.name}' has not been initialized yet because initialization was "
                "deferred. Actual initialization happens during the first forward pass. Please "
                "pass one batch of data through the network before accessing Parameters, or "
                "specify in_units, in_channels, etc. of the layers."
            )
        raise RuntimeError(
            f"Parameter '{self.name}' has not been initialized. Note that you should initialize "
            "parameters and create Trainer with Block.collect_params() instead of Block.params "
            "because the later does not include Parameters of nested child Blocks"
        )

    def _at(self, place: tuple[int, int]) -> Any:
        """Return the array on a device, given by its numbers."""
        arrays = self._initialized()
        try:
            return arrays[place]
        except KeyError:
            kind, number = place
            host = (cpu().numbers[0], number)
            if kind in _HOST_MEMORY and host in arrays:
                return arrays[host]
            raise RuntimeError(
                f"Parameter '{self.name}' was not initialized on context {context_of(place)}. It "
                f"was only initialized on {self.list_ctx()}."
            ) from None

    def _place(self, ctx: Context | None) -> tuple[int, int]:
        if ctx is not None:
            return context_numbers(ctx)
        arrays = self._initialized()
        return next(iter(arrays)) if len(arrays) == 1 else current_context().numbers

    def data(self, ctx: Context | None = None) -> Any:
        """Return the array on a device; without one, the only array there is."""
        self._need_dense("data")
        return self._at(self._place(ctx))

    def list_data(self) -> list[Any]:
        """Return the arrays of all devices."""
        self._need_dense("list_data")
        return list(self._initialized().values())

    def _need_dense(self, name: str) -> None:
        if self._stype != "default":
            raise RuntimeError(
                f"Cannot return a copy of Parameter '{self.name}' via {name}() because its storage "
                f"type is {self._stype}. Please use row_sparse_data() instead."
            )

    def list_ctx(self) -> list[Context]:
        """Return the devices."""
        if self._parameter_arrays is not None:
            return [context_of(place) for place in self._parameter_arrays]
        if self._parameter_deferred is not None:
            return self._parameter_deferred[1]
        raise RuntimeError(f"Parameter '{self.name}' has not been initialized")

    def set_data(self, data: Any) -> None:
        """Write a value into the arrays of all devices."""
        self.shape = data.shape
        if self._parameter_arrays is None:
            assert self._parameter_deferred is not None, (
                f"Parameter '{self.name}' has not been initialized"
            )
            init, contexts, default_init, _ = self._parameter_deferred
            with autograd.pause():
                value = self._new(contexts[0])
                _write(value, data)
            self._parameter_deferred = (init, contexts, default_init, value)
            return
        trainer = self._trainer
        if trainer is not None and trainer._update_on_kvstore:
            trainer._reset_kvstore()  # the store has the values from before
        with autograd.pause():
            for array in self._parameter_arrays.values():
                if self._stype != "default":
                    array[:] = _in_storage(data, self._stype)
                    continue
                _write(array, data)

    def cast(self, dtype: Any) -> None:
        """Change the type of the elements."""
        self._dtype = dtype
        if self._parameter_arrays is None:
            return
        with autograd.pause():
            self._parameter_arrays = {
                place: array.astype(dtype) for place, array in self._parameter_arrays.items()
            }
        self._mark()

    def reset_ctx(self, ctx: Any) -> None:
        """Move the parameter to other devices."""
        contexts = _contexts(ctx)
        if self._parameter_arrays is not None:
            with autograd.pause():
                self._set_copies(self._reduce().copyto(contexts[0]), contexts)
        elif self._parameter_deferred is not None:
            init, _, default_init, value = self._parameter_deferred
            self._parameter_deferred = (init, contexts, default_init, value)
        else:
            raise ValueError(
                f"Cannot reset context for Parameter '{self.name}' because it has not been "
                "initialized."
            )

    def _reduce(self) -> Any:
        """Return the mean over all devices, in the memory of the processor."""
        if self._stype != "default":
            return self._every_row().as_in_context(cpu())
        arrays = [array.detach().as_in_ctx(cpu()) for array in self.list_data()]
        if len(arrays) == 1:
            return arrays[0]
        return sum(arrays[1:], arrays[0]) * (1 / len(arrays))

    # --- gradients ---

    def _gradient_of(self, array: Any) -> Any:
        if self._grad_req == "null":
            raise RuntimeError(
                f"Cannot get gradient array for Parameter '{self.name}' because grad_req='null'"
            )
        return array.grad

    def grad(self, ctx: Context | None = None) -> Any:
        """Return the gradient on a device; without one, the only gradient there is."""
        return self._gradient_of(self._at(self._place(ctx)))

    def list_grad(self) -> list[Any]:
        """Return the gradients of all devices."""
        return [self._gradient_of(array) for array in self._initialized().values()]

    def zero_grad(self) -> None:
        """Set the gradients of all devices to zero."""
        if self._parameter_arrays is not None and self._grad_req != "null":
            for array in self._parameter_arrays.values():
                array.zero_grad()

    def var(self) -> Any:
        """Return the symbol that stands for the parameter: always the same."""
        made = self._var
        if made is None or made[0] != self.shape:
            init = self.init if isinstance(self.init, str) or hasattr(self.init, "dumps") else None
            variable = symbol.var(
                self.name,
                shape=self.shape,
                dtype=self.dtype,
                lr_mult=self.lr_mult,
                wd_mult=self.wd_mult,
                init=init,
                stype=self._stype,
            )
            self._var = made = (self.shape, variable)
        return made[1].as_np_ndarray() if is_np_array() else made[1]

    # --- rows ---

    def _set_trainer(self, trainer: Any) -> None:
        """Note who updates it; a row_sparse parameter is updated by one trainer alone."""
        known = (None, trainer)
        if self._stype != "default" and trainer is not None and self._trainer not in known:
            raise RuntimeError(
                f"Failed to set the trainer for Parameter '{self.name}' because it was already "
                "set. More than one trainers for a sparse Parameter is not supported."
            )
        super()._set_trainer(trainer)

    def _every_row(self) -> Any:
        """Return all rows: a device has those that were last asked for."""
        array = next(iter(self._initialized().values())).detach()
        if self._trainer is None:
            return array
        whole = ndarray.sparse.zeros(self._stype, array.shape, array.context, array.dtype)
        rows = ndarray.arange(array.shape[0], ctx=array.context, dtype="int64")
        self._trainer._row_sparse_pull(self, whole, rows)
        return whole

    def _take_every_row(self) -> None:
        """Give all devices all rows, before the store that has them is forgotten."""
        whole = self._every_row()
        for array in self._initialized().values():
            array[:] = whole.as_in_context(array.context)

    def row_sparse_data(self, row_id: Any) -> Any:
        """Return the array with the rows of these numbers, on the device that they are on."""
        return self._with_rows(row_id, self._place(row_id.context), "row_sparse_data")

    def list_row_sparse_data(self, row_id: Any) -> list[Any]:
        """Return the arrays of all devices with the rows of these numbers."""
        name = "list_row_sparse_data"
        return [self._with_rows(row_id, place, name) for place in self._initialized()]

    def _with_rows(self, row_id: Any, place: tuple[int, int], name: str) -> Any:
        if self._stype != "row_sparse":
            raise RuntimeError(
                f"Cannot return a copy of Parameter {self.name} via {name}() because its storage "
                "type is default. Please use data() instead."
            )
        array = self._at(place)
        if self._trainer is None:
            raise RuntimeError(
                f"Cannot get row_sparse data for Parameter '{self.name}' when no Trainer is "
                "created with it."
            )
        self._trainer._row_sparse_pull(self, array, row_id)
        return array


def _in_storage(value: Any, stype: str) -> Any:
    """Return a value in a storage type; row_sparse has all rows, so that updates find them."""
    if value.stype == stype:
        return value
    if stype == "row_sparse" and value.stype == "default":
        from ..ndarray.sparse._calls import rows_of_dense

        return rows_of_dense(value, onp.arange(value.shape[0]))
    return value.tostype(stype)


def _write(target: Any, value: Any) -> None:
    """Write an array of either world, or NumPy's, wherever it is."""
    if isinstance(value, ndarray.NDArray) and value.stype != "default":
        value = value.tostype("default")
    if isinstance(value, ArrayBase):
        value = value._as_class(target._legacy)
        if value._context_numbers != target._context_numbers:
            value = value.copyto(target.context)
        if value._dtype_number != target._dtype_number:
            value = value.astype(target.dtype)
    target[:] = value


class _Given(initializer.Initializer):
    """Fills a constant with its value."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self._value = value

    def _init_weight(self, name: str, arr: Any) -> None:
        _write(arr, self._value)


class Constant(Parameter):
    """A parameter that training does not change.

    >>> from afterglow import gluon
    >>> constant = gluon.Constant("constant", [1, 2])
    >>> constant.initialize()
    >>> constant.data()
    <BLANKLINE>
    [1. 2.]
    <NDArray 2 @cpu(0)>
    """

    def __init__(self, name: str, value: Any) -> None:
        if not isinstance(value, Array):
            make: Any = numpy.array if is_np_array() else ndarray.array
            value = make(onp.asarray(value, dtype="float32"))
        self.value = value
        super().__init__(name, "null", value.shape, value.dtype, init=_Given(value))

    @property
    def grad_req(self) -> str:
        """Always "null"."""
        return "null"

    @grad_req.setter
    def grad_req(self, request: str) -> None:
        if request != "null":
            warnings.warn(
                f'Constant parameter "{self.name}" does not support grad_req other than "null", '
                f'and new value "{request}" is ignored.',
                stacklevel=2,
            )


class ParameterDict:
    """Parameters by name, all with the same prefix.

    >>> from afterglow import gluon
    >>> params = gluon.ParameterDict("net_")
    >>> params.get("weight", shape=(2, 3))
    Parameter net_weight (shape=(2, 3), dtype=<class 'numpy.float32'>)
    >>> params
    net_ (
      Parameter net_weight (shape=(2, 3), dtype=<class 'numpy.float32'>)
    )
    """

    def __init__(self, prefix: str = "", shared: ParameterDict | None = None) -> None:
        self._prefix = prefix
        self._params: dict[str, Parameter] = {}
        self._shared = shared

    @property
    def prefix(self) -> str:
        """What all names begin with."""
        return self._prefix

    def __repr__(self) -> str:
        lines = "\n".join(f"  {parameter!r}" for parameter in self.values())
        return f"{self._prefix + ' ' if self._prefix else ''}(\n{lines}\n)"

    def __getitem__(self, key: str) -> Parameter:
        return self._params[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __contains__(self, key: object) -> bool:
        return key in self._params

    def items(self) -> ItemsView[str, Parameter]:
        """Return names and parameters."""
        return self._params.items()

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return self._params.keys()

    def values(self) -> ValuesView[Parameter]:
        """Return the parameters."""
        return self._params.values()

    def _find(self, name: str) -> Parameter | None:
        """Return a parameter of ours, or one shared with us, which is then ours too."""
        if name in self._params:
            return self._params[name]
        found = None if self._shared is None else self._shared._find(name)
        if found is not None:
            self._params[name] = found
        return found

    def get(self, name: str, **kwargs: Any) -> Parameter:
        """Return the parameter of that name after the prefix; make it if there is none."""
        name = self._prefix + name
        found = self._find(name)
        if found is None:
            self._params[name] = found = Parameter(name, **kwargs)
        else:
            for attribute, wanted in kwargs.items():
                self._agree(found, attribute, wanted)
        return found

    @staticmethod
    def _agree(parameter: Parameter, attribute: str, wanted: Any) -> None:
        """Check that a parameter has an attribute, or give it to it where it has none."""
        stored = getattr(parameter, attribute, None)
        if stored is None:
            setattr(parameter, attribute, wanted)
            return
        if wanted is None:
            return
        if attribute == "shape":
            wanted = as_integers(wanted, "shape")
            if _fits(stored, wanted):
                parameter._shape = tuple(
                    max(one, other) for one, other in zip(stored, wanted, strict=True)
                )
                return
            agree = False
        elif attribute == "dtype":
            agree = dtype_number(wanted) == dtype_number(stored)
        else:
            agree = bool(wanted == stored)
        assert agree, (
            f"Cannot retrieve Parameter '{parameter.name}' because desired attribute does not "
            f"match with stored for attribute '{attribute}': desired '{wanted}' vs stored "
            f"'{stored}'."
        )

    def get_constant(self, name: str, value: Any = None) -> Constant:
        """Return the constant of that name after the prefix; make it if there is a value."""
        name = self._prefix + name
        found = self._find(name)
        if found is None:
            if value is None:
                raise KeyError(
                    f"No constant named '{name}'. Please specify value if you want to create a new "
                    "constant."
                )
            self._params[name] = constant = Constant(name, value)
            return constant
        assert isinstance(found, Constant), (
            f"Parameter '{name}' already exists but it is not a constant."
        )
        if value is not None:
            host = value.asnumpy() if isinstance(value, Array) else onp.asarray(value)
            assert onp.array_equal(host.astype(found.value.dtype), found.value.asnumpy()), (
                f"Constant '{name}' already exists but it's value doesn't match new value"
            )
        return found

    def update(self, other: ParameterDict) -> None:
        """Take over the parameters of another dictionary."""
        for name, parameter in other.items():
            assert self._params.get(name, parameter) is parameter, (
                "Cannot update self with other because they have different Parameters with the "
                f"same name '{name}'"
            )
        self._params.update(other.items())

    def initialize(
        self,
        init: Any = _default_init,
        ctx: Any = None,
        verbose: bool = False,
        force_reinit: bool = False,
    ) -> None:
        """Initialize all parameters; those with an initializer of their own keep it."""
        init = initializer.create(init)
        if verbose:
            init.set_verbosity(verbose=verbose)
        for parameter in self.values():
            parameter.initialize(None, ctx, init, force_reinit=force_reinit)

    def zero_grad(self) -> None:
        """Set all gradients to zero."""
        for parameter in self.values():
            parameter.zero_grad()

    def reset_ctx(self, ctx: Any) -> None:
        """Move all parameters to other devices."""
        for parameter in self.values():
            parameter.reset_ctx(ctx)

    def list_ctx(self) -> list[Context]:
        """Return the devices of all parameters."""
        return list({ctx: None for parameter in self.values() for ctx in parameter.list_ctx()})

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute of all parameters."""
        for parameter in self.values():
            setattr(parameter, name, value)

    # --- files ---

    def save(self, filename: str, strip_prefix: str = "") -> None:
        """Write the values to a file, with names without that prefix."""
        values = {}
        for parameter in self.values():
            if not parameter.name.startswith(strip_prefix):
                raise ValueError(
                    f"Prefix '{strip_prefix}' is to be striped before saving, but Parameter's name "
                    f"'{parameter.name}' does not start with '{strip_prefix}'. A Block may share "
                    "Parameters of other Blocks, or a child may have been made outside of "
                    "'with name_scope()'."
                )
            name = parameter.name.removeprefix(strip_prefix)
            values[name] = parameter._reduce().as_nd_ndarray()
        ndarray.save(filename, values)

    def load(
        self,
        filename: str,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Read the values from a file, with names that lack ``restore_prefix``."""
        given = (ctx, allow_missing, ignore_extra, restore_prefix, filename)
        self.load_dict(load_file(filename), *given, cast_dtype, dtype_source)

    def load_dict(
        self,
        param_dict: Mapping[str, Any],
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        filename: str | None = None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Take the values from a dictionary, with names that lack ``restore_prefix``."""
        for name in self.keys():
            if not name.startswith(restore_prefix):
                raise MismatchError(
                    f"restore_prefix is '{restore_prefix}' but Parameters name '{name}' does not "
                    f"start with '{restore_prefix}'."
                )
        source = f"file: {filename}" if filename else "param_dict"
        loaded = {
            restore_prefix + (key[4:] if key.startswith(("arg:", "aux:")) else key): value
            for key, value in param_dict.items()
        }
        missing = next((name for name in self.keys() if name not in loaded), None)
        if missing is not None and not allow_missing:
            raise MismatchError(
                f"Parameter '{missing.removeprefix(restore_prefix)}' is missing in {source}, "
                f"which contains parameters: {quoted(param_dict)}. Please make sure source "
                "and target networks have the same prefix."
            )
        for name, value in loaded.items():
            if name in self._params:
                self._params[name]._load_init(value, ctx, cast_dtype, dtype_source)
            elif not ignore_extra:
                raise MismatchError(
                    f"Parameter '{name.removeprefix(restore_prefix)}' loaded from {source} is not "
                    f"present in ParameterDict, choices are: {quoted(self.keys())}. Set "
                    "ignore_extra to True to ignore."
                )


def load_file(filename: str) -> dict[str, Any]:
    """Return the named arrays of a file."""
    loaded = ndarray.load(filename)
    if loaded and not isinstance(loaded, dict):
        raise MismatchError(f"the arrays in '{filename}' have no names")
    return dict(loaded)


def quoted(names: Any) -> str:
    """Return names for a message, not too many of them."""
    listed = [f"'{name}'" for name in names]
    if len(listed) > 10:
        listed = [*listed[:5], "...", *listed[-5:]]
    return ", ".join(listed)
