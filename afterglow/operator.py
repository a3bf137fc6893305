# SPDX-License-Identifier: Apache-2.0
"""``mx.operator``: ops written in Python, called with ``nd.Custom(..., op_type=name)``.

>>> import afterglow as mx
>>> class Square(mx.operator.CustomOp):
...     def forward(self, is_train, req, in_data, out_data, aux):
...         self.assign(out_data[0], req[0], in_data[0] * in_data[0])
...
...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
...         self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])
>>> @mx.operator.register("my_square")
... class SquareProp(mx.operator.CustomOpProp):
...     def create_operator(self, ctx, shapes, dtypes):
...         return Square()
>>> mx.nd.Custom(mx.nd.array([1, 2, 3]), op_type="my_square")
<BLANKLINE>
[1. 4. 9.]
<NDArray 3 @cpu(0)>
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple, TypeVar

import numpy as onp

from . import autograd
from ._arrays.dtypes import dtype_number
from ._arrays.shapes import Shape
from ._core import Array, is_stand_in, operation, record_call
from .context import Context, current_context
from .error import ArrayTypeError, ArrayValueError, MXNetError
from .ndarray import sparse

#: What MXNet's module imports and a star import of it gives.
_star_imported = ("NDArray", "NDArrayHandle", "cast", "ctypes", "py_str")

__all__ = [
    "CustomOp",
    "CustomOpProp",
    "NDArrayOp",
    "NumpyOp",
    "OperatorArguments",
    "PythonOp",
    "custom",
    "get_all_registered_operators",
    "get_operator_arguments",
    "register",
    *_star_imported,
]

Shapes = Sequence[Sequence[int]]
_registered: dict[str, type[CustomOpProp]] = {}


class CustomOp:
    """What an op computes. Results are written to arrays that are there already."""

    def forward(
        self, is_train: bool, req: list[str], in_data: Any, out_data: Any, aux: Any
    ) -> None:
        """Write the outputs to ``out_data``. Subclasses define it."""

    def backward(
        self, req: list[str], out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
    ) -> None:
        """Write the gradients of the inputs to ``in_grad``. Subclasses define it."""

    def assign(self, dst: Any, req: str, src: Any) -> None:
        """Write to an array what is asked for: nothing, the value, or the sum with it."""
        everything = () if dst.stype == "default" else slice(None)  # as sparse arrays want it
        if req in ("write", "inplace"):
            dst[everything] = src
        elif req == "add":
            dst[everything] += src


class CustomOpProp:
    """What is known of an op before it computes: its arguments, outputs and their shapes.

    Keyword arguments of ``nd.Custom`` come to the constructor of the subclass, as text.
    """

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad

    def list_arguments(self) -> list[str]:
        """Return the names of the inputs."""
        return ["data"]

    def list_outputs(self) -> list[str]:
        """Return the names of the outputs."""
        return ["output"]

    def list_auxiliary_states(self) -> list[str]:
        """Return the names of the states, which come after the inputs and have no gradient."""
        return []

    def infer_shape(self, in_shape: list[Any]) -> tuple[Any, ...]:
        """Return the shapes of inputs, outputs and states; all as the first input, unless told."""
        return in_shape, (in_shape[0],) * len(self.list_outputs()), ()

    def infer_type(self, in_type: list[Any]) -> tuple[Any, ...]:
        """Return the types of inputs, outputs and states; all as the first input, unless told."""
        return (
            in_type,
            [in_type[0]] * len(self.list_outputs()),
            [in_type[0]] * len(self.list_auxiliary_states()),
        )

    def infer_storage_type(self, in_stype: list[str]) -> tuple[list[str], list[str], list[str]]:
        """Return how inputs, outputs and states are stored; all dense, unless told."""
        return (
            _dense("infer_storage_type", in_stype),
            ["default"] * len(self.list_outputs()),
            ["default"] * len(self.list_auxiliary_states()),
        )

    def infer_storage_type_backward(
        self,
        ograd_stype: list[str],
        in_stype: list[str],
        out_stype: list[str],
        igrad_stype: list[str],
        aux_stype: list[str],
    ) -> tuple[list[str], ...]:
        """Return how everything that ``backward`` sees is stored; all dense, unless told."""
        given = (ograd_stype, in_stype, out_stype, igrad_stype, aux_stype)
        return tuple(_dense("infer_storage_type_backward", kinds) for kinds in given)

    def declare_backward_dependency(
        self, out_grad: list[int], in_data: list[int], out_data: list[int]
    ) -> list[int]:
        """Return what ``backward`` reads. It is asked by nobody: everything is kept."""
        return [*(out_grad if self.need_top_grad_ else []), *in_data, *out_data]

    def create_operator(self, ctx: Any, in_shapes: Shapes, in_dtypes: Sequence[Any]) -> CustomOp:
        """Return what computes. Subclasses define it."""
        return CustomOp()


def _dense(method: str, kinds: list[str]) -> list[str]:
    """Return how dense arrays are stored; an op that takes sparse ones says so itself."""
    if any(kind != "default" for kind in kinds):
        raise ArrayValueError(
            f"[Custom] arrays are stored as {', '.join(kinds)}: an op that takes sparse arrays "
            f"needs a {method} of its own"
        )
    return ["default"] * len(kinds)


Prop = TypeVar("Prop", bound=type[CustomOpProp])


def register(reg_name: str) -> Callable[[Prop], Prop]:
    """Return a decorator that makes a subclass of ``CustomOpProp`` an op of that name."""

    def add(prop: Prop) -> Prop:
        if not (isinstance(prop, type) and issubclass(prop, CustomOpProp)):
            raise ArrayTypeError(f"[register] {prop!r} must be a subclass of CustomOpProp")
        _registered[reg_name] = prop
        return prop

    return add


class OperatorArguments(NamedTuple):
    """What an op takes: how much, the names, and what each may be."""

    narg: int
    names: list[str]
    types: list[str]


def get_all_registered_operators() -> list[str]:
    """Return the names of all ops, and of those that were registered."""
    from .symbol._signatures import names

    return [*names(), *_registered]


def get_operator_arguments(op_name: str) -> OperatorArguments:
    """Return what an op takes, in MXNet's words.

    >>> import afterglow as mx
    >>> mx.operator.get_operator_arguments("FullyConnected").types[-2:]
    ['boolean, optional, default=0', 'boolean, optional, default=1']
    """
    from .symbol._signatures import arguments

    found = arguments(op_name)
    return OperatorArguments(len(found), [name for name, _ in found], [kind for _, kind in found])


def custom(*data: Any, op_type: str = "", name: str | None = None, **kwargs: Any) -> Any:
    """Call a registered op: ``nd.Custom``. Arrays may be given by the names of the arguments.

    ``forward`` runs at once, but what it calls is queued as always.
    """
    named = {
        key: value
        for key, value in kwargs.items()
        if isinstance(value, Array) or is_stand_in(value)
    }
    prop = prop_of(op_type, {key: str(kwargs[key]) for key in kwargs if key not in named})
    arguments, states = prop.list_arguments(), prop.list_auxiliary_states()
    arrays = _in_order(op_type, [*arguments, *states], data, named)
    if any(is_stand_in(one) for one in arrays):  # parameters whose shapes the op tells
        shapes, _ = inferred_shapes(prop, [list(one.shape) for one in arrays[: len(arguments)]])
        if len(shapes) != len(arrays):
            raise ArrayValueError(
                f"[Custom] infer_shape of {op_type!r} tells {len(shapes)} shapes of the "
                f"{len(arrays)} arrays {', '.join([*arguments, *states])}"
            )
        arrays = [
            one.completed(shape) if is_stand_in(one) else one
            for one, shape in zip(arrays, shapes, strict=True)
        ]
    return _call(prop, arrays[: len(arguments)], arrays[len(arguments) :])


def prop_of(op_type: str, parameters: Mapping[str, str]) -> CustomOpProp:
    """Return what is known of a registered op, for parameters given as text."""
    if op_type not in _registered:
        raise MXNetError(
            f"[Custom] there is no op {op_type!r}; mx.operator.register makes one of a CustomOpProp"
        )
    make: Callable[..., CustomOpProp] = _registered[op_type]
    return make(**parameters)


def inferred_shapes(prop: CustomOpProp, known: list[Any]) -> tuple[list[Shape], list[Shape]]:
    """Return the shapes of arguments and states, and those of the outputs."""
    inputs, outputs, *rest = prop.infer_shape(known)
    states = rest[0] if rest else ()
    return [tuple(one) for one in (*inputs, *states)], [tuple(one) for one in outputs]


def _in_order(op_type: str, names: list[str], given: Any, named: dict[str, Any]) -> list[Any]:
    """Return all arrays in the order of their names."""
    found = {**dict(zip(names, given, strict=False)), **named}
    if len(given) + len(named) != len(names) or found.keys() != set(names):
        raise ArrayValueError(
            f"[Custom] {op_type!r} needs the arrays {', '.join(names)}, but got {len(given)} by "
            f"position and {', '.join(named) or 'none'} by name"
        )
    return [found[name] for name in names]


def _call(prop: CustomOpProp, inputs: list[Any], states: list[Any]) -> Any:
    for one in (*inputs, *states):
        if not isinstance(one, Array):
            raise ArrayTypeError(f"[Custom] inputs and states must be arrays, but got {one!r}")
    shapes, types = [list(one.shape) for one in inputs], [one.dtype for one in inputs]
    out_shapes = inferred_shapes(prop, shapes)[1]
    out_types = prop.infer_type(types)[1]
    out_storage = prop.infer_storage_type([one.stype for one in inputs])[1]
    ctx, legacy = _place(inputs)
    operator = prop.create_operator(ctx, shapes, types)
    in_data = [one.detach() for one in inputs]
    out_data = [
        _zeros(ctx, legacy, *one) for one in zip(out_shapes, out_types, out_storage, strict=True)
    ]

    is_train = autograd.is_training()
    with autograd.pause(is_train):
        operator.forward(
            is_train=is_train,
            req=["write"] * len(out_data),
            in_data=in_data,
            out_data=out_data,
            aux=states,
        )
    gradients = partial(_gradients, prop, operator, inputs, out_data, states)
    results = record_call(inputs, out_data, gradients)
    return results[0] if len(results) == 1 else results


def _gradients(
    prop: CustomOpProp,
    operator: CustomOp,
    inputs: list[Any],
    outputs: list[Any],
    states: list[Any],
    out_grad: Any,
) -> list[Any]:
    in_data, out_data = [one.detach() for one in inputs], outputs
    if autograd.is_recording():  # a gradient of this gradient is wanted
        again = partial(_gradients, prop, operator, inputs, outputs, states)
        in_data, out_data = inputs, record_call(inputs, outputs, again)
    kinds = [
        [one.stype for one in arrays] for arrays in (out_grad, inputs, outputs, inputs, states)
    ]
    storage = prop.infer_storage_type_backward(*kinds)[3]
    ctx, legacy = _place(inputs)
    in_grad = [
        _zeros(ctx, legacy, one.shape, one.dtype, kind)
        for one, kind in zip(inputs, storage, strict=True)
    ]
    operator.backward(
        req=["write"] * len(in_grad),
        out_grad=out_grad,
        in_data=in_data,
        out_data=out_data,
        in_grad=in_grad,
        aux=states,
    )
    return in_grad


def _place(inputs: list[Any]) -> tuple[Context, bool]:
    """Return where new arrays live, and whether they are those of ``nd``: as the first input."""
    return (inputs[0].context, inputs[0]._legacy) if inputs else (current_context(), True)


def _zeros(ctx: Context, legacy: bool, shape: Sequence[int], dtype: Any, storage: str) -> Any:
    if storage != "default":
        return sparse.zeros(storage, tuple(shape), ctx, dtype)
    return operation("copy", legacy)(
        0, shape=tuple(shape), dtype=dtype_number(onp.dtype(dtype)), ctx=ctx.numbers
    )


# --- ops of symbols, as they were written before CustomOp ---

_numbers = count()


class PythonOp:
    """The base class of :class:`NumpyOp` and :class:`NDArrayOp`. Calling an op makes a symbol."""

    def __init__(self, need_top_grad: bool = True) -> None:
        warnings.warn(
            f"{type(self).__name__} has been deprecated. Please use CustomOp", stacklevel=2
        )
        self.need_top_grad_ = need_top_grad
        self._op_type: str | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return a symbol, as :meth:`get_symbol` does."""
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args: Any, **kwargs: Any) -> Any:
        """Return a symbol that computes what ``forward`` does."""
        from . import symbol

        if self._op_type is None:
            self._op_type = f"{type(self).__name__}{next(_numbers)}"
            _registered[self._op_type] = partial(_PythonOpProp, self)  # type: ignore[assignment]
        custom: Any = symbol.Custom
        return custom(*args, op_type=self._op_type, **kwargs)

    def forward(self, in_data: Any, out_data: Any) -> None:
        """Write the outputs to ``out_data``. Subclasses define it."""
        out_data[0][:] = in_data[0]

    def backward(self, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any) -> None:
        """Write the gradients of the inputs to ``in_grad``. Subclasses define it."""
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape: Any) -> tuple[Any, Any]:
        """Return the shapes of inputs and outputs: one output, shaped as the first input."""
        return in_shape, [in_shape[0]]

    def list_outputs(self) -> list[str]:
        """Return the names of the outputs."""
        return ["output"]

    def list_arguments(self) -> list[str]:
        """Return the names of the inputs."""
        return ["data"]

    def need_top_grad(self) -> bool:
        """Tell whether gradients of the outputs are needed: not by losses."""
        return self.need_top_grad_


class NumpyOp(PythonOp):
    """An op whose ``forward`` and ``backward`` read and write NumPy arrays.

    >>> import warnings
    >>> from afterglow import nd, operator, sym
    >>> class Cube(operator.NumpyOp):
    ...     def forward(self, in_data, out_data):
    ...         out_data[0][:] = in_data[0] ** 3
    >>> with warnings.catch_warnings(action="ignore"):
    ...     cube = Cube()
    >>> cube(sym.var("x")).eval(x=nd.array([2, 3]))[0].asnumpy()
    array([ 8., 27.], dtype=float32)
    """


class NDArrayOp(PythonOp):
    """An op whose ``forward`` and ``backward`` read and write arrays of ``nd``."""

    def declare_backward_dependency(
        self, out_grad: list[int], in_data: list[int], out_data: list[int]
    ) -> list[int]:
        """Return what ``backward`` reads. It is asked by nobody: everything is kept."""
        return [*(out_grad if self.need_top_grad() else []), *in_data, *out_data]


class _PythonOpProp(CustomOpProp):
    """What is known of an op of the old kind."""

    def __init__(self, op: PythonOp) -> None:
        super().__init__(need_top_grad=op.need_top_grad())
        self._op = op

    def list_arguments(self) -> list[str]:
        return self._op.list_arguments()

    def list_outputs(self) -> list[str]:
        return self._op.list_outputs()

    def infer_shape(self, in_shape: Any) -> Any:
        inputs, outputs = self._op.infer_shape(in_shape)
        return inputs, outputs, []

    def create_operator(self, ctx: Any, in_shapes: Shapes, in_dtypes: Sequence[Any]) -> CustomOp:
        return _PythonOpCall(self._op)


class _PythonOpCall(CustomOp):
    """Calls an op of the old kind, with arrays of the kind that it wants."""

    def __init__(self, op: PythonOp) -> None:
        self._op = op

    def _call(self, method: Callable[..., None], written: str, **arrays: list[Any]) -> None:
        if not isinstance(self._op, NumpyOp):
            method(**arrays)
            return
        hosts = {name: [one.asnumpy() for one in group] for name, group in arrays.items()}
        method(**hosts)
        for array, host in zip(arrays[written], hosts[written], strict=True):
            array[:] = host

    def forward(
        self, is_train: bool, req: list[str], in_data: Any, out_data: Any, aux: Any
    ) -> None:
        self._call(self._op.forward, "out_data", in_data=in_data, out_data=out_data)

    def backward(
        self, req: list[str], out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
    ) -> None:
        self._call(
            self._op.backward,
            "in_grad",
            out_grad=out_grad,
            in_data=in_data,
            out_data=out_data,
            in_grad=in_grad,
        )
