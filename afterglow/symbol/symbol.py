# SPDX-License-Identifier: Apache-2.0
"""Symbols: outputs of graphs of ops, written down before there are arrays."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from numbers import Number
from typing import Any, NoReturn, Self

import numpy as onp

from .._arrays.dtypes import TYPES, dtype_number
from .._formats import params as _files
from ..attribute import AttrScope
from ..context import Context, current_context
from ..error import (
    ArgumentError,
    ArrayIndexError,
    ArrayTypeError,
    ArrayValueError,
    FileError,
    MissingNameError,
    MXNetError,
    NotImplementedForSymbol,
)
from ..name import NameManager
from ..ndarray import NDArray
from ..util import is_np_array, is_np_shape
from ._attributes import HIDDEN, as_text, as_value, hidden, shown
from ._custom import input_names
from ._graph import VARIABLE, Node, Output, auxiliary, in_order, substituted
from ._infer import Inference
from ._json import from_json, to_json
from ._names import canonical
from ._ops import Entry, find
from ._shapes import is_complete

__all__ = ["Group", "Symbol", "Variable", "load", "load_json", "var"]


def _operator(name: str, is_swapped: bool = False) -> Callable[[Any, Any], Symbol]:
    """Return the method of an operator; where it is swapped, ``self`` stands on the right."""

    def operate(self: Symbol, other: Any) -> Symbol:
        left, right = (other, self) if is_swapped else (self, other)
        # The result is a symbol of np if one of both is.
        kinds = [type(one) for one in (left, right) if isinstance(one, Symbol)]
        kind = max(kinds, key=lambda kind: len(kind.mro()))
        return kind(kind._operation(name, left, right)._outputs)

    return operate


def _refused(name: str) -> Callable[[Any, Any], NoReturn]:
    def refuse(self: Symbol, other: Any) -> NoReturn:
        raise _only_of_arrays(name)

    return refuse


def _only_of_arrays(name: str) -> NotImplementedForSymbol:
    return NotImplementedForSymbol(
        f"Function {name} is not implemented for Symbol and only available in NDArray."
    )


class Symbol:
    """One or several outputs of a graph.

    Symbols are made of others by operators and by the functions of ``mx.sym``, which are named as
    those of ``mx.nd``. ``bind`` gives them arrays.

    >>> from afterglow import nd, sym
    >>> x, y = sym.var("x"), sym.var("y")
    >>> z = sym.sqrt(x * x + y * y)
    >>> z.list_arguments()
    ['x', 'y']
    >>> z.eval(x=nd.array([3]), y=nd.array([4]))
    [
    [5.]
    <NDArray 1 @cpu(0)>]
    """

    __slots__ = ("__weakref__", "_outputs")
    __array_priority__ = 1000.0

    def __init__(self, outputs: Sequence[Output]) -> None:
        self._outputs = list(outputs)

    # --- names and attributes ---

    def __repr__(self) -> str:
        name = self.name
        if name is None:
            names = ", ".join(str(one.name) for one in self)
            return f"<{type(self).__name__} group [{names}]>"
        return f"<{type(self).__name__} {name}>"

    @property
    def name(self) -> str | None:
        """The name of the node; ``None`` for outputs of several."""
        nodes = {id(node): node for node, _ in self._outputs}
        return next(iter(nodes.values())).name if len(nodes) == 1 else None

    def attr(self, key: str) -> str | None:
        """Return an attribute of the node, or its name; None for what there is not."""
        if self.name is None:
            return None
        attributes = shown(self._node("attr").attributes)
        return attributes.get(key, self.name if key == "name" else None)

    def list_attr(self, recursive: bool = False) -> dict[str, str]:
        """Return all attributes of the node."""
        if recursive:
            raise DeprecationWarning(
                "Symbol.list_attr with recursive=True has been deprecated. Please use attr_dict "
                "instead."
            )
        return shown(self._node("list_attr").attributes)

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """Return the attributes of all nodes that have some, by name."""
        return {node.name: shown(node.attributes) for node in self._nodes() if node.attributes}

    def _set_attr(self, **kwargs: str) -> None:
        """Set attributes of the node."""
        for key, value in kwargs.items():
            if not isinstance(value, str):
                raise ArrayValueError("Set Attr only accepts string values")
            self._node("_set_attr").attributes.update(hidden({key: value}))

    def _node(self, what: str) -> Node:
        if self.name is None:
            raise MXNetError(f"[{what}] a group of symbols has no attributes; take one of them")
        return self._outputs[0][0]

    def _nodes(self) -> list[Node]:
        return in_order(node for node, _ in self._outputs)

    # --- lists ---

    def list_arguments(self) -> list[str]:
        """Return the names of the variables that are no states."""
        nodes = self._nodes()
        states = auxiliary(nodes)
        return [node.name for node in nodes if node.is_variable and node not in states]

    def list_auxiliary_states(self) -> list[str]:
        """Return the names of the variables that ops change, as BatchNorm its averages."""
        nodes = self._nodes()
        states = auxiliary(nodes)
        return [node.name for node in nodes if node in states]

    def list_inputs(self) -> list[str]:
        """Return the names of all variables."""
        return [node.name for node in self._nodes() if node.is_variable]

    def list_outputs(self) -> list[str]:
        """Return the names of the outputs."""
        return [node.output_name(index) for node, index in self._outputs]

    # --- parts ---

    def __len__(self) -> int:
        return len(self._outputs)

    @property
    def num_outputs(self) -> int:
        """How many outputs there are."""
        return len(self._outputs)

    def __iter__(self) -> Iterator[Self]:
        return (self._new([output]) for output in self._outputs)

    def __getitem__(self, key: int | slice | str) -> Self:
        if isinstance(key, str):
            return self._new([self._outputs[self._position(key)]])
        if isinstance(key, slice):
            return self._new(self._outputs[key])
        if not isinstance(key, (int, onp.integer)):
            raise ArrayTypeError(f"Symbol only supports integer and slice indices, not {key!r}")
        if not 0 <= key < len(self._outputs):
            raise ArrayIndexError(f"output {key} of a symbol that has {len(self._outputs)}")
        return self._new([self._outputs[key]])

    def _position(self, name: str) -> int:
        found = [
            position
            for position, (node, index) in enumerate(self._outputs)
            if name == node.output_name(index) or (node.is_variable and name == node.name)
        ]
        if not found:
            raise ArrayValueError(f'Cannot find output that matches name "{name}"')
        if len(found) > 1:
            raise ArrayValueError(f'There are multiple outputs with name "{name}"')
        return found[0]

    def _new(self, outputs: Sequence[Output]) -> Self:
        return type(self)(outputs)

    def get_internals(self) -> Self:
        """Return the outputs of all nodes as one symbol."""
        return self._new(
            [(node, index) for node in self._nodes() for index in range(len(node.output_names()))]
        )

    def get_children(self) -> Self | None:
        """Return the inputs of the last op as one symbol; ``None`` for variables."""
        nodes = dict.fromkeys(node for node, _ in self._outputs)
        inputs = [one for node in nodes for one in node.inputs]
        return self._new(inputs) if inputs else None

    # --- composition ---

    def __call__(self, *args: Any, name: str | None = None, **kwargs: Symbol) -> Self:
        """Return a copy in which variables, given by name, are other symbols."""
        if args:
            raise ArrayTypeError("compose only accept input Symbols as keyword arguments")
        return self._composed(kwargs, name)

    def _composed(self, given: Mapping[str, Any], name: str | None) -> Self:
        known = set(self.list_inputs())
        for key, value in given.items():
            if not isinstance(value, Symbol):
                raise ArrayTypeError(f"compose expect `Symbol` as arguments, but {key} is {value}")
            if key not in known:
                raise MXNetError(f"Keyword argument name {key} not found; there are {known}")

        def replace(node: Node) -> Output | None:
            return given[node.name]._output(node.name) if node.name in given else None

        result = self._new(substituted(self._outputs, replace))
        if name and result.name is not None and not result._outputs[0][0].is_variable:
            result._outputs[0][0].name = name
        return result

    def _output(self, argument: str) -> Output:
        """Return the only output, where one is needed."""
        if len(self._outputs) != 1:
            raise MXNetError(
                f"Argument {argument} is a symbol of {len(self._outputs)} outputs; one is needed"
            )
        return self._outputs[0]

    def _gen_atomic_symbol(self) -> Self:
        """Return the op alone: without a name and without inputs."""
        node = self._node("_gen_atomic_symbol").copy(())
        node.name = ""
        return self._new([(node, index) for index in range(len(node.output_names()))])

    def __copy__(self) -> Self:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: Any) -> Self:
        def copied(node: Node) -> Output:
            return node.copy(()), 0

        return self._new(substituted(self._outputs, copied))

    def __reduce__(self) -> tuple[Any, ...]:
        return (restore_symbol, (type(self), self.tojson(remove_amp_cast=False)))

    # --- operators ---

    __add__ = __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("subtract"), _operator("subtract", is_swapped=True)
    __mul__ = __rmul__ = _operator("multiply")
    __truediv__, __rtruediv__ = _operator("true_divide"), _operator("true_divide", is_swapped=True)
    __mod__, __rmod__ = _operator("mod"), _operator("mod", is_swapped=True)
    __pow__, __rpow__ = _operator("power"), _operator("power", is_swapped=True)
    __eq__, __ne__ = _operator("equal"), _operator("not_equal")  # type: ignore[assignment]
    __gt__, __ge__ = _operator("greater"), _operator("greater_equal")
    __lt__, __le__ = _operator("less"), _operator("less_equal")

    def __neg__(self) -> Symbol:
        return self.__mul__(-1.0)

    def __abs__(self) -> Symbol:
        return create("abs", (self,), {})

    @staticmethod
    def _operation(name: str, left: Any, right: Any) -> Symbol:
        """Return the symbol of an operator between two symbols, or one and a number."""
        op, scalar, swapped = _OPERATORS[name]
        if isinstance(left, Symbol) and isinstance(right, Symbol):
            return create(op, (left, right), {})
        if isinstance(left, Symbol) and isinstance(right, (Number, onp.generic)):
            return create(scalar, (left,), {"scalar": right})
        if isinstance(left, (Number, onp.generic)) and isinstance(right, Symbol):
            return create(swapped or scalar, (right,), {"scalar": left})
        raise ArrayTypeError(
            f"type {type(right if isinstance(left, Symbol) else left)} not supported"
        )

    def __hash__(self) -> int:
        return id(self) >> 4

    def __bool__(self) -> NoReturn:
        raise _only_of_arrays('__bool__ (namely operator "bool")')

    __iadd__, __isub__ = _refused("__iadd__"), _refused("__isub__")
    __imul__, __itruediv__ = _refused("__imul__"), _refused("__itruediv__")

    # --- methods that are ops ---

    def __getattr__(self, name: str) -> Any:
        if name in ONLY_ARRAYS:
            raise _only_of_arrays(name)
        if not _is_method(name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return lambda *args, **kwargs: create(name, (self, *args), kwargs)

    def reshape(self, *shape: Any, **kwargs: Any) -> Symbol:
        """Return the symbol in another shape, as ``nd.NDArray.reshape`` has it."""
        if len(shape) == 1 and isinstance(shape[0], (list, tuple)):
            shape = tuple(shape[0])
        wanted = tuple(shape) or tuple(kwargs.pop("shape", ()))
        return create("reshape", (self,), {"shape": wanted, **kwargs})

    def astype(self, dtype: Any) -> Symbol:
        """Return the symbol in another type."""
        return create("cast", (self,), {"dtype": dtype})

    def transpose(self, *axes: Any, **kwargs: Any) -> Symbol:
        """Return the symbol with its axes in another order."""
        if len(axes) == 1 and isinstance(axes[0], (list, tuple)):
            axes = tuple(axes[0])
        order = tuple(axes) or kwargs.pop("axes", None)
        return create("transpose", (self,), {} if order is None else {"axes": tuple(order)})

    def detach(self) -> Symbol:
        """Return the symbol without what its gradient would go to."""
        return create("BlockGrad", (self,), {})

    def as_np_ndarray(self) -> Any:
        """Return the same outputs as a symbol of ``np``."""
        from .numpy import _Symbol

        return _Symbol(self._outputs)

    def as_nd_ndarray(self) -> Symbol:
        """Return the same outputs as a symbol of ``nd``."""
        return Symbol(self._outputs)

    # --- shapes and types ---

    def infer_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Return the shapes of arguments, outputs and states; ``None`` three times if unknown.

        >>> from afterglow import sym
        >>> dense = sym.FullyConnected(sym.var("x"), num_hidden=2, name="fc")
        >>> dense.infer_shape(x=(4, 3))
        ([(4, 3), (2, 3), (2,)], [(4, 2)], [])
        """
        found = self._infer_shapes(args, kwargs)
        unknown = [
            node
            for node in found.nodes
            if node.is_variable and not is_complete(found.shapes[node, 0])
        ]
        if unknown or not all(is_complete(found.shapes.get(one)) for one in self._outputs):
            lines = "\n".join(
                f"  {node.name}: {found.public(found.shapes[node, 0])}" for node in unknown
            )
            warnings.warn(
                "Cannot decide shape for the following arguments (0s in shape means unknown "
                f"dimensions). Consider providing them as input:\n{lines}",
                UserWarning,
                stacklevel=2,
            )
            return None, None, None
        return self._shapes_by_kind(found)

    def infer_shape_partial(self, *args: Any, **kwargs: Any) -> Any:
        """Return what is known of the shapes: unknown extents are 0, unknown shapes ()."""
        return self._shapes_by_kind(self._infer_shapes(args, kwargs))

    def _shapes_by_kind(self, found: Inference) -> Any:
        return self._by_kind(found.nodes, lambda output: found.public(found.shapes.get(output)))

    def _infer_shapes(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Inference:
        found = Inference(self._outputs, is_np_shape())
        found.infer_types({})
        found.infer_shapes(self._given(args, kwargs, "infer_shape"))
        return found

    def _given(self, args: Sequence[Any], kwargs: Mapping[str, Any], what: str) -> dict[str, Any]:
        """Return what is given by position or by name, by name."""
        if args and kwargs:
            raise ArrayValueError("Can only specify known argument either by positional or kwargs.")
        if args:
            return dict(zip(self.list_arguments(), args, strict=False))
        known = set(self.list_inputs())
        for name in kwargs:
            if name not in known:
                raise MXNetError(
                    f"[{what}] Keyword argument name {name} not found. Candidate arguments: "
                    f"{', '.join(self.list_inputs())}"
                )
        return dict(kwargs)

    def _by_kind(
        self, nodes: Sequence[Node], public: Callable[[Output], Any]
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Return what is told of arguments, of outputs and of states."""
        states = auxiliary(nodes)
        variables = [node for node in nodes if node.is_variable]
        return (
            [public((node, 0)) for node in variables if node not in states],
            [public(output) for output in self._outputs],
            [public((node, 0)) for node in variables if node in states],
        )

    def infer_type(self, *args: Any, **kwargs: Any) -> Any:
        """Return the types of arguments, outputs and states; ``None`` three times if unknown.

        >>> from afterglow import sym
        >>> (sym.var("x") + sym.var("y")).infer_type(x="float64")
        ([<class 'numpy.float64'>, <class 'numpy.float64'>], [<class 'numpy.float64'>], [])
        """
        result = self.infer_type_partial(*args, **kwargs)
        if any(kind is None for kinds in result for kind in kinds):
            warnings.warn(
                "Cannot decide type for all arguments. Consider providing them as input.",
                UserWarning,
                stacklevel=2,
            )
            return None, None, None
        return result

    def infer_type_partial(self, *args: Any, **kwargs: Any) -> Any:
        """Return what is known of the types; ``None`` for the others."""
        found = Inference(self._outputs, is_np_shape())
        found.infer_types(self._given(args, kwargs, "infer_type"))

        def public(output: Output) -> Any:
            kind = found.types.get(output)
            return None if kind is None else TYPES[kind]

        return self._by_kind(found.nodes, public)

    # --- running ---

    def bind(
        self,
        ctx: Context | None = None,
        args: Any = None,
        args_grad: Any = None,
        grad_req: Any = "write",
        aux_states: Any = None,
        group2ctx: Any = None,
        shared_exec: Any = None,
    ) -> Any:
        """Return an executor that computes with the given arrays."""
        from ..executor import Executor

        return Executor(self, ctx, args, args_grad, grad_req, aux_states, group2ctx)

    def simple_bind(
        self,
        ctx: Context | None = None,
        grad_req: Any = "write",
        type_dict: Mapping[str, Any] | None = None,
        stype_dict: Mapping[str, Any] | None = None,
        group2ctx: Any = None,
        shared_arg_names: Sequence[str] | None = None,
        shared_exec: Any = None,
        shared_buffer: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return an executor with new arrays, whose shapes follow from some that are given.

        >>> from afterglow import sym
        >>> dense = sym.FullyConnected(sym.var("x"), num_hidden=2, name="fc")
        >>> dense.simple_bind(x=(4, 3)).arg_dict["fc_weight"].shape
        (2, 3)
        """
        from ..executor import simple_bind

        return simple_bind(
            self,
            ctx,
            grad_req,
            type_dict,
            stype_dict,
            shared_arg_names,
            shared_exec,
            shared_buffer,
            kwargs,
            group2ctx,
        )

    def eval(self, ctx: Context | None = None, **kwargs: Any) -> list[Any]:
        """Return the outputs, computed from arrays given by name."""
        outputs: list[Any] = self.bind(ctx or current_context(), kwargs).forward()
        return outputs

    def gradient(self, wrt: Sequence[str]) -> NoReturn:
        """Raise: gradients are those of executors."""
        raise MXNetError("[gradient] not implemented; bind the symbol and call backward")

    def get_backend_symbol(self, backend: str) -> Self:
        """Return the symbol: no backend changes graphs."""
        return self

    def optimize_for(self, backend: str, *args: Any, **kwargs: Any) -> Self:
        """Return the symbol: no backend changes graphs."""
        return self

    # --- text and files ---

    def tojson(self, remove_amp_cast: bool = True) -> str:
        """Return the graph as the text of a file that MXNet can read."""
        heads = _without_casts(self._outputs) if remove_amp_cast else self._outputs
        return to_json(heads, is_np_shape())

    def save(self, fname: Any, remove_amp_cast: bool = True) -> None:
        """Write the graph to a file that MXNet can read."""
        text = _files.as_utf8(self.tojson(remove_amp_cast))
        _files.replace(_path(fname), lambda file: file.write(text))

    def debug_str(self) -> str:
        """Return a text that lists all nodes with their inputs and attributes."""
        nodes = self._nodes()
        states = auxiliary(nodes)
        lines = ["Symbol Outputs:"]
        lines += [f"\toutput[{i}]={node.name}({j})" for i, (node, j) in enumerate(self._outputs)]
        for node in nodes:
            if node.is_variable:
                lines.append(f"Variable:{node.name}")
                continue
            lines += ["-" * 20, f"Op:{node.op}, Name={node.name}", "Inputs:"]
            for position, (source, index) in enumerate(node.inputs):
                version = f" version={int(source in states)}" if source.is_variable else ""
                lines.append(f"\targ[{position}]={source.name}({index}){version}")
            if node.attributes:
                lines.append("Attrs:")
                lines += [f"\t{key}={value}" for key, value in sorted(node.attributes.items())]
        return "\n".join(lines) + "\n"


@cache
def _is_method(name: str) -> bool:
    """Tell whether arrays have a method that is the op of that name; symbols have it too."""
    return not name.startswith("_") and hasattr(NDArray, name) and find(name).is_known


#: Methods that arrays have and symbols cannot have.
ONLY_ARRAYS = frozenset(
    ["asnumpy", "asscalar", "wait_to_read", "copy", "as_in_context", "backward"]
)


def _path(fname: Any) -> str:
    try:
        return os.fspath(fname)  # type: ignore[no-any-return]
    except TypeError:
        raise ArrayTypeError("fname need to be string") from None


def restore_symbol(kind: type[Symbol], text: str) -> Symbol:
    """Return the symbol that a pickle holds. Pickles name this function, so it stays here."""
    return kind(from_json(text, "the pickle")[0])


_restored = restore_symbol  # the name in pickles of earlier versions


def _without_casts(heads: Sequence[Output]) -> list[Output]:
    """Return the heads without casts that mixed precision put there."""
    kinds = ("amp_cast", "amp_multicast")
    if not any(node.op in kinds for node in in_order(node for node, _ in heads)):
        return list(heads)
    copies: dict[Node, Node] = {}

    def source(output: Output) -> Output:
        node, index = output
        while node.op in kinds:
            node, index = node.inputs[index if node.op == "amp_multicast" else 0]
        return copies[node], index

    for node in in_order(node for node, _ in heads):
        if node.op not in kinds:
            copies[node] = node.copy([source(one) for one in node.inputs])
    return [source(head) for head in heads]


#: By the name in ``np``: the op of two symbols, of one and a number, and of a number and one where
#: that is another one.
_OPERATORS = {
    "add": ("_Plus", "_PlusScalar", None),
    "subtract": ("_Minus", "_MinusScalar", "_RMinusScalar"),
    "multiply": ("_Mul", "_MulScalar", None),
    "true_divide": ("_Div", "_DivScalar", "_RDivScalar"),
    "mod": ("_Mod", "_ModScalar", "_RModScalar"),
    "power": ("_Power", "_PowerScalar", "_rpower_scalar"),
    "maximum": ("_Maximum", "_MaximumScalar", None),
    "minimum": ("_Minimum", "_MinimumScalar", None),
    "hypot": ("_Hypot", "_HypotScalar", None),
    "equal": ("_equal", "_equal_scalar", None),
    "not_equal": ("_not_equal", "_not_equal_scalar", None),
    "greater": ("_greater", "_greater_scalar", None),
    "greater_equal": ("_greater_equal", "_greater_equal_scalar", None),
    "less": ("_lesser", "_lesser_scalar", None),
    "less_equal": ("_lesser_equal", "_lesser_equal_scalar", None),
}


# --- making symbols ---


def create(
    function: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    kind: type[Symbol] | None = None,
    hint: str | None = None,
) -> Symbol:
    """Return the outputs of a new call of an op, named as its function in ``mx.sym``.

    Arguments are symbols and parameters, by position as in the signature or by name. Inputs that
    are not given become variables named after the node.
    """
    entry = find(function)
    given = dict(kwargs)
    name = given.pop("name", None)
    attr = given.pop("attr", None)
    given.pop("out", None)
    symbols, parameters = _sorted(entry, function, args, given)
    attributes = hidden({key: as_text(key, value) for key, value in parameters.items()})
    if entry.variadic and entry.name not in ("Custom", "_CachedOp"):
        attributes["num_args"] = str(len(symbols))
    for key in entry.required:
        if key not in attributes:
            raise MXNetError(
                f"Required parameter {key} is not presented, in operator {entry.name}"
                f'(name="{name or ""}")'
            )
    attributes.update(hidden(AttrScope.current.get(attr)))
    node_name = NameManager.current.get(name, (hint or function).lower())
    node = Node(canonical(function), node_name, attributes)
    node.inputs = _inputs(node, symbols)
    for input_name, (source, _) in zip(node.input_names(), node.inputs, strict=False):
        source.begin(entry.initial.get(input_name))
    if kind is None:
        kind = next((type(one) for one in symbols.values()), Symbol)
    try:
        count = len(node.output_names())
    except (KeyError, TypeError) as error:
        raise MXNetError(f"Invalid parameters of {entry.name}: {error}") from None
    return kind([(node, index) for index in range(count)])


@cache
def function_of(
    op: str, module: str, public: str, hint: str | None = None
) -> Callable[..., Symbol]:
    """Return the function of a module that makes a symbol of an op; ``hint`` names the nodes."""
    entry = find(op)
    if not entry.is_known:
        raise MissingNameError(module, public)

    def function(*args: Any, **kwargs: Any) -> Symbol:
        return create(op, args, kwargs, hint=hint)

    function.__name__ = function.__qualname__ = public
    if entry.function is None:
        function.__doc__ = "Write the op down; it can be saved and loaded, but does not run yet."
    else:
        function.__doc__ = entry.function.__doc__
    return function


def _sorted(
    entry: Entry, function: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[dict[str, Symbol], dict[str, Any]]:
    """Return the symbols by the names of inputs, and the parameters."""
    symbols: dict[str, Symbol] = {}
    parameters: dict[str, Any] = {}
    if entry.variadic:
        flat = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        for position, value in enumerate(flat):
            symbols[f"arg{position}"] = _need(value, "data")
        names: tuple[str, ...] = ()
    else:
        names = (*entry.inputs, *entry.parameters)
        if len(args) > len(names):
            raise ArrayTypeError(
                f"{function}() takes {len(names)} arguments, but {len(args)} were given"
            )
    for key, value in [*zip(names, args, strict=False), *kwargs.items()]:
        if key in entry.inputs or (entry.variadic and isinstance(value, Symbol)):
            if value is not None:
                symbols[key] = _need(value, key)
        elif key in entry.parameters or entry.any_parameter or entry.name == "Custom":
            if isinstance(value, Symbol):
                raise ArgumentError(f"Argument {key} of {function} must not be a symbol: {value}")
            if value is not None or key != "dtype":  # without a type there is a default one
                parameters[key] = value
        elif key in HIDDEN or (key.startswith("__") and key.endswith("__")):
            parameters[key] = value
        elif isinstance(value, Symbol):
            if entry.inputs:
                raise MXNetError(
                    f"Keyword argument name {key} not found. Candidate arguments: "
                    f"{', '.join(entry.inputs)}, in operator {entry.name}"
                )
            _warn_of(entry.name, key, "inputs")  # MXNet ignores them too
        elif not entry.takes_parameters:  # and these
            parameters[key] = value
            _warn_of(entry.name, key, "parameters")
        else:
            public = ", ".join(one for one in entry.parameters if not one.startswith("__"))
            raise MXNetError(
                f"Cannot find argument '{key}', Possible Arguments: {public}, in operator "
                f"{entry.name}"
            )
    return symbols, parameters


@cache  # once for each
def _warn_of(op: str, key: str, kind: str) -> None:
    warnings.warn(f"{op} has no {kind}; {key} is ignored", UserWarning, stacklevel=5)


def _need(value: Any, name: str) -> Symbol:
    if not isinstance(value, Symbol):
        raise ArgumentError(f"Argument {name} must be Symbol instances, but got {value}")
    return value


def _inputs(node: Node, symbols: dict[str, Symbol]) -> list[Output]:
    entry = node.entry
    if entry.name == "Custom":
        names: Sequence[str] = input_names(node.attributes)
        by_position = [key for key in symbols if key.startswith("arg")]
        found = dict(zip(names, by_position, strict=False))
        given = {name: symbols.get(found.get(name, name)) for name in names}
        symbols = {name: symbol for name, symbol in given.items() if symbol is not None}
    elif entry.variadic:
        return [one for symbol in symbols.values() for one in symbol._outputs]
    else:
        present = {*symbols, *entry.input_names(node.values)}
        names = [name for name in entry.inputs if name in present]
    return [
        symbols[name]._output(name) if name in symbols else node.new_input(name) for name in names
    ]


def var(
    name: str,
    attr: Mapping[str, str] | None = None,
    shape: Any = None,
    lr_mult: float | None = None,
    wd_mult: float | None = None,
    dtype: Any = None,
    init: Any = None,
    stype: str | None = None,
    **kwargs: Any,
) -> Symbol:
    """Return a variable: an array to come.

    >>> from afterglow import sym
    >>> sym.var("x", shape=(2, 3)).list_attr()
    {'__shape__': '(2, 3)'}
    """
    if not isinstance(name, str):
        raise ArrayTypeError("Expect a string for variable `name`")
    given = {} if attr is None else dict(attr)
    for value in given.values():
        if not isinstance(value, str):
            raise ArrayValueError("Set Attr only accepts string values")
    attributes = hidden(AttrScope.current.get(given))
    if shape is not None:
        attributes["__shape__"] = str(tuple(shape) if isinstance(shape, (list, tuple)) else shape)
    for key, number in (("__lr_mult__", lr_mult), ("__wd_mult__", wd_mult)):
        if number is not None:
            attributes[key] = str(number)
    if dtype is not None:
        attributes["__dtype__"] = str(dtype_number(dtype))
    if init is not None:
        attributes["__init__"] = init if isinstance(init, str) else init.dumps()
    if stype is not None:
        attributes["__storage_type__"] = str(_STORAGE[stype])
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise ArrayValueError(
                f"Attribute name={key} is not supported. Additional attributes must start and end "
                "with double underscores, e.g, __yourattr__"
            )
        attributes[key] = str(value)
    return Symbol([(Node(VARIABLE, name, attributes), 0)])


Variable = var

_STORAGE = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}


def Group(symbols: Sequence[Symbol], create_fn: type[Symbol] | None = None) -> Symbol:  # noqa: N802
    """Return the outputs of several symbols as one.

    >>> from afterglow import sym
    >>> sym.Group([sym.var("x"), sym.var("y")])
    <Symbol group [x, y]>
    """
    given = list(symbols)
    if not given or any(not isinstance(one, Symbol) for one in given):
        raise ArrayTypeError("Expected a list of symbols as input")
    kind = create_fn or (type(given[0]) if is_np_array() else Symbol)
    return kind([output for one in given for output in one._outputs])


def load(fname: Any) -> Symbol:
    """Return the graph in a file of MXNet.

    >>> from afterglow import sym
    >>> (sym.var("x") * 2).save("twice-symbol.json")
    >>> sym.load("twice-symbol.json").list_arguments()
    ['x']
    """
    path = _path(fname)
    try:
        text = _files.read(path).decode()
    except UnicodeDecodeError as error:
        raise FileError(f"[load] {path} is no graph: {error}") from None
    return _loaded(text, path)


def load_json(json_str: str) -> Symbol:
    """Return the graph in the text of a file of MXNet."""
    if not isinstance(json_str, str):
        raise ArrayTypeError("fname required to be string")
    return _loaded(json_str, "the text")


def _open_extents(nodes: Sequence[Node]) -> None:
    """Let variables of a graph whose unknown extents are 0 mean the same with shapes of np."""
    for node in nodes:
        shape = as_value(node.attributes.get("__shape__", ""))
        if node.is_variable and isinstance(shape, tuple):
            node.attributes["__shape__"] = str(tuple(extent or -1 for extent in shape))


def _loaded(text: str, source: str) -> Symbol:
    heads, numpy_shapes = from_json(text, source)
    symbol = Symbol(heads)
    if is_np_shape() and not numpy_shapes:
        _open_extents(symbol._nodes())
    return symbol.as_np_ndarray() if numpy_shapes and is_np_array() else symbol
