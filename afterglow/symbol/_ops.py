# SPDX-License-Identifier: Apache-2.0
"""What symbols know of each op: what it takes, what it gives, and how it runs.

All of it is read: from the declaration of the op in the core's table, where it has one, and else
from the signature of its function in ``nd`` or ``np``, where arguments that are arrays are
annotated as such. What neither says of functions that are written in Python stands here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from typing import Any, TypeGuard

from .. import ndarray
from .._arrays.dtypes import INT64, dtype_number
from .._arrays.op_functions import Slot, spelling_of, spellings, table
from .._arrays.shapes import Shape, as_integers
from .._arrays.worlds import WORLDS, pick_labels
from .._core import Operation, complete_shapes, describe_node, operation
from .._package.namespace import mxnet_ops
from ..error import ArrayNotImplementedError, MXNetError
from ..ndarray.sparse._named import NAMED as SPARSE
from . import _custom, _loops, _np_ops
from ._attributes import Attributes, as_value
from ._names import canonical, other_names
from ._shapes import merged

Function = Callable[..., Any]
#: Shapes of inputs and of results; unknown extents are -1, unknown shapes ``None``.
Shapes = tuple[list[Shape | None], list[Shape]]
Complete = Callable[[Attributes, list[Shape | None]], Shapes]
#: Types of inputs and of results; unknown ones are ``None``.
Types = Callable[[Attributes, list[int | None]], tuple[list[int | None], list[int | None]]]
#: The names of outputs that symbols can use, and how many there are for files.
Outputs = tuple[tuple[str, ...], int]
#: By parameter: its kind as declarations write it, whether it is needed, and what it does.
Kinds = Mapping[str, tuple[str, bool, str]]

_functions: Any = ndarray

#: More outputs than this a node cannot have: who asks for them reads a damaged file.
_MOST_OUTPUTS = 1 << 16


@dataclass(frozen=True)
class Entry:
    """What is known of an op."""

    name: str
    inputs: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    function: Function | None = None  # none: it cannot run yet
    legacy: bool = True  # whether it runs with arrays of nd
    variadic: bool = False
    is_known: bool = True
    any_parameter: bool = False
    required: frozenset[str] = frozenset()
    text: frozenset[str] = frozenset()  # parameters that are text even where they look like numbers
    optional: frozenset[str] = frozenset()  # inputs that are there only if they are given
    auxiliary: frozenset[str] = frozenset()
    initial: Mapping[str, str] = field(default_factory=dict)  # how inputs begin that nobody gives
    is_loss: bool = False  # whether its gradient starts by itself
    is_random: bool = False  # whether it draws numbers
    present: Callable[[Attributes], tuple[str, ...]] | None = None  # which inputs are there
    outputs: Callable[[Attributes], Outputs] | None = None
    alike: bool = False  # whether the inputs that must be given and the results have one shape
    complete: Complete | None = None
    result_type: int | None = None  # where it is neither that of the inputs nor ``dtype``
    takes_unknown: bool = True  # whether shapes that are known in part say anything of the results
    types: Types | None = None  # where types follow in a way of its own
    own_names: Mapping[str, str] = field(default_factory=dict)  # of parameters, in the table

    def values(self, attributes: dict[str, str]) -> Attributes:
        """Return the parameters among the attributes of a node, as what they mean."""
        return {
            name: text if name in self.text and text != "None" else as_value(text)
            for name, text in attributes.items()
            if name in self.parameters or (self.any_parameter and not name.startswith("__"))
        }

    @property
    def takes_parameters(self) -> bool:
        """Whether it has any."""
        return bool({*self.parameters} - {"num_args"})

    def input_names(self, given: Attributes, count: int | None = None) -> tuple[str, ...]:
        """Return the names of the inputs; ``count`` is how many there are, if that is known."""
        if self.variadic:
            return tuple(f"arg{i}" for i in range(count or 0))
        if self.present is not None:
            names = self.present(given)
        else:
            asked = {name for name in self.optional if given.get(f"use_{name}")}
            names = tuple(
                name for name in self.inputs if name in asked or name not in self.optional
            )
        if count is None:
            return names
        # Optional ones are given in their order.
        return (self.inputs if count > len(names) else names)[:count]

    def output_names(self, given: Attributes) -> tuple[str, ...]:
        """Return the names of the outputs that symbols can use."""
        return ("output",) if self.outputs is None else self.outputs(given)[0]

    def count_outputs(self, given: Attributes) -> int:
        """Return how many outputs files count."""
        return 1 if self.outputs is None else self.outputs(given)[1]

    def places_alike(self, names: tuple[str, ...]) -> list[int]:
        """Return which inputs have the shape of the results."""
        if not self.alike:
            return []
        return [place for place, name in enumerate(names) if name not in self.optional]

    def completed(
        self, given: Attributes, names: tuple[str, ...], shapes: list[Shape | None]
    ) -> Shapes:
        """Return the shapes of the inputs and of the results of a node, as far as they follow."""
        shapes, results = list(shapes), []
        places = self.places_alike(names)
        known = reduce(merged, (shapes[place] for place in places), None)
        if known is not None:
            for place in places:
                shapes[place] = known
            if -1 in known:  # what is known wholly is told by a call, with the type
                results = [known]
        if self.complete is None:
            return shapes, results
        if self.variadic:
            return self.complete(given, shapes)
        by_name = dict(zip(names, shapes, strict=True))
        found, results = self.complete(given, [by_name.get(name) for name in self.inputs])
        by_name = dict(zip(self.inputs, found, strict=True))
        return [by_name[name] for name in names], results

    def call(self, given: Attributes, names: tuple[str, ...], arrays: list[Any]) -> list[Any]:
        """Run the op and return its outputs."""
        if self.function is None:
            raise ArrayNotImplementedError(f"[{self.name}] the op is not implemented")
        # A graph runs where its inputs are, whatever files say.
        unused = {"num_args", "ctx"} & {*self.parameters}
        parameters = {name: value for name, value in given.items() if name not in unused}
        if self.variadic:
            result = self.function(*arrays, **parameters)
        else:
            result = self.function(**dict(zip(names, arrays, strict=True)), **parameters)
        return list(result) if isinstance(result, (list, tuple)) else [result]


# --- ops whose arguments in files differ from those of the functions ---


def _pick(
    data: Any,
    index: Any,
    axis: int = -1,
    keepdims: bool = False,
    mode: str = "clip",
    __labels__: bool = False,
) -> Any:
    """Pick elements. Losses say of their node that the indices are labels, which are checked."""
    if __labels__:
        return pick_labels(data, index, axis)
    return WORLDS[data._legacy].pick(data, index, axis, keepdims, mode)


def _full(shape: Any = (1,), value: Any = 0, ctx: Any = None, dtype: Any = None) -> Any:
    return _functions.full(shape, value, dtype=dtype or "float32")


def _split_v2(
    data: Any, indices: Any = (), axis: int = 0, squeeze_axis: bool = False, sections: int = 0
) -> Any:
    # The bounds in nodes begin with 0.
    where = sections or tuple(indices)[1:]
    return _functions.split_v2(data, where, axis, squeeze_axis)


def _identity_with_attr_like_rhs(lhs: Any, rhs: Any) -> Any:
    return _functions.identity(lhs)


def _histogram(data: Any, bins: Any = None, bin_cnt: int | None = None, range: Any = None) -> Any:
    """Return how many elements are in each bin, and the edges of the bins."""
    return _functions.histogram(data, bin_cnt if bins is None else bins, range)


def _rnn_param_concat(*data: Any, dim: int = 1) -> Any:
    return _functions.concat(*data, dim=dim)


#: By the name in files: the function and how many of its first arguments are arrays; all of them
#: for None.
_IN_FILES: dict[str, tuple[Function, int | None]] = {
    "_full": (_full, 0),
    "_identity_with_attr_like_rhs": (_identity_with_attr_like_rhs, 2),
    "_histogram": (_histogram, 2),
    "_linalg_syevd": (_functions.linalg.syevd, 1),
    "_npx_pick": (_pick, 2),
    "_rnn_param_concat": (_rnn_param_concat, None),
    "_split_v2": (_split_v2, 1),
    "pick": (_pick, 2),
    **SPARSE,
}


# --- what signatures do not say ---


#: How many outputs functions give.
_COUNTS: dict[str, Callable[[Attributes], int]] = {
    "amp_multicast": lambda given: given["num_outputs"],
    "_split_v2": lambda given: given.get("sections") or len(given.get("indices", ())),
    **dict.fromkeys(("moments", "_histogram", "_linalg_gelqf", "_linalg_syevd"), lambda given: 2),
}

#: Names of outputs, and how many files count.
_OUTPUTS: dict[str, Outputs] = {
    "_linalg_slogdet": (("output0", "output1"), 4),
    "_npi_concatenate": (("out",), 1),
    "_npi_norm": (("output0",), 4),
}

#: Functions whose arguments and results have one shape.
_ALIKE = frozenset(["_identity_with_attr_like_rhs"])

#: Ops of which MXNet says nothing before it knows the shapes of all inputs.
_OF_KNOWN = frozenset(["where"])

#: Types of results, where they are not those of the inputs.
_TYPES = dict.fromkeys(("shape_array", "size_array", "_contrib_index_array"), INT64)


def _numbered(count: int) -> Outputs:
    if not isinstance(count, int) or not 0 < count <= _MOST_OUTPUTS:
        raise MXNetError(f"{count!r} outputs; a node has 1 to {_MOST_OUTPUTS}")
    return (tuple(f"output{i}" for i in range(count)) if count > 1 else ("output",)), count


def _outputs(name: str, function: Function | None) -> Callable[[Attributes], Outputs] | None:
    """Return how to find the outputs of a function that is written in Python."""
    if name in _OUTPUTS:
        return lambda given: _OUTPUTS[name]
    if name == "_npi_average":  # the sum of the weights is hidden unless it is asked for
        return lambda given: (("output0", "output1")[: 1 + bool(given.get("returned"))], 2)
    if name in _COUNTS:
        return lambda given: _numbered(_COUNTS[name](given))
    result = str(getattr(function, "__annotations__", {}).get("return"))
    count = result.count("rray") if result.startswith("tuple[") else 1  # NDArray, ndarray
    return (lambda given: _numbered(count)) if count > 1 else None


def _drawn(given: Attributes, shapes: list[Shape | None]) -> Shapes:
    """Return the shape of random numbers, which must not be drawn to find it."""
    if "size" in given:  # of np
        return shapes, [() if given["size"] is None else as_integers(given["size"], "size")]
    return shapes, [as_integers(given.get("shape") or (1,), "shape")]


# --- finding entries ---


@cache
def declared() -> dict[str, str]:
    """Return the ops of the core's table by MXNet's names."""
    found: dict[str, str] = {}
    for op, description in table().items():
        for name in description["mxnet_names"]:
            if op == name or name not in found:
                found[name] = op
    return found


def _legacy_function(name: str) -> Function | None:
    """Return the function of nd that an op stands for."""
    for candidate in (name, *other_names(name)):
        function = getattr(_functions, candidate, None)
        if _is_function(function) and candidate in mxnet_ops()[0]:
            return function
    for prefix, module in (("_contrib_", _functions.contrib), ("_image_", _functions.image)):
        if name.startswith(prefix):
            found = getattr(module, name.removeprefix(prefix), None)
            return found if _is_function(found) else None
    if name.startswith("_random_"):  # functions there choose between ops
        drawn = getattr(_functions.random, name.removeprefix("_random_"), None)
        return drawn if isinstance(drawn, Operation) else None
    if name[0] == "_" and not name.startswith("_np"):  # the function has another name
        for one in spellings():
            if one.op == declared().get(name) and one.space == "nd":
                return getattr(_functions, one.names[0])  # type: ignore[no-any-return]
    return None


def _is_function(value: Any) -> TypeGuard[Function]:
    return isinstance(value, Operation) or inspect.isfunction(inspect.unwrap(value))


def _of_sequence(function: Operation) -> Function:
    """Return a function of arrays, as nodes have them, for one of a sequence of arrays."""

    def called(*arrays: Any, **given: Any) -> Any:
        return function(arrays, **given)

    called.__doc__ = function.__doc__
    return called


def _entry(
    name: str, function: Function | None, legacy: bool, slots: Iterable[Slot], kinds: Kinds
) -> Entry:
    """Return the entry of an op that takes arguments in these roles."""
    inputs, parameters, required, text, optional = [], {}, set(), set(), set()
    variadic = any_parameter = False
    result_type = None
    for slot in slots:
        if slot.role == "inputs":
            variadic = True
            if isinstance(function, Operation) and not slot.starred:
                function = _of_sequence(function)
        elif slot.role == "options":
            any_parameter = legacy
        elif slot.role == "input" and not isinstance(slot.default, (int, float)):
            inputs.append(slot.name)
            if not slot.required:
                optional.add(slot.name)
        elif slot.role not in ("out", "name"):
            kind, needed, _ = kinds.get(slot.parameter, (" ", False, ""))
            parameters[slot.name] = slot.parameter
            if slot.parameter == "dtype" and slot.default is not None:
                result_type = dtype_number(slot.default)
            if slot.required or needed:
                required.add(slot.name)
            if kind[0] in "'t":
                text.add(slot.name)
    if variadic:
        parameters["num_args"] = ""
    return Entry(
        name,
        tuple(inputs),
        tuple(parameters),
        function,
        legacy,
        variadic,
        any_parameter=any_parameter,
        required=frozenset(required),
        text=frozenset(text),
        optional=frozenset(optional),
        result_type=result_type,
        own_names={name: own for name, own in parameters.items() if own},
    )


def _slot(name: str, role: str, required: bool = True) -> Slot:
    return Slot(name, role, name, required, by_position=True, starred=False, default=None)


def _as_declared(name: str, op: str, function: Function | None, legacy: bool) -> Entry:
    """Return the entry of an op that takes in graphs what its declaration says."""
    description = table()[op]
    needed = len(description["inputs"]) - description["optional"]
    if description["variadic"]:
        slots = [_slot("", "inputs")]
    else:
        inputs = enumerate(description["inputs"])
        slots = [_slot(one, "input", place < needed) for place, one in inputs]
    slots += [_slot(one, "parameter", required=False) for one in description["described"]]
    return _entry(name, function, legacy, slots, description["described"])


def _declares(entry: Entry, op: str) -> Entry:
    """Return an entry with what the declaration of its op says of graphs."""
    description = table()[op]
    inputs = entry.inputs
    count = len(description["inputs"])
    result_type = description["types"][0 if entry.legacy else 1]
    if result_type is None:
        result_type = entry.result_type
    if result_type is None and isinstance(entry.function, Operation):
        default = description["parameters"].get("dtype")
        result_type = None if default is None else dtype_number(default)

    def owned(given: Attributes) -> Attributes:
        return {entry.own_names.get(name, name): value for name, value in given.items()}

    def complete(given: Attributes, shapes: list[Shape | None]) -> Shapes:
        padding: list[Shape | None] = [None] * (0 if entry.variadic else count - len(shapes))
        found, results = complete_shapes(op, owned(given), [*shapes, *padding])
        return found[: len(shapes)], results

    def present(given: Attributes) -> tuple[str, ...]:
        return tuple(inputs[place] for place in describe_node(op, owned(given))[0])

    def outputs(given: Attributes) -> Outputs:
        return describe_node(op, owned(given))[1:]

    is_drawn = description["random"] and not inputs
    alike = description["alike"] or entry.alike
    return replace(
        entry,
        auxiliary=frozenset(inputs[len(inputs) - description["auxiliary"] :]),
        initial=description["beginnings"],
        is_loss=description["loss"],
        is_random=description["random"],
        present=present if description["has_form"] and inputs else None,
        outputs=outputs if description["has_form"] else entry.outputs,
        alike=alike,
        complete=complete if description["completes"] else _drawn if is_drawn else None,
        takes_unknown=not (description["random"] or alike or entry.name in _OF_KNOWN),
        result_type=result_type,
    )


def _derived(name: str, function: Function, arrays: int | None, legacy: bool) -> Entry:
    """Return the entry that a signature tells; ``arrays`` is how many arguments are arrays."""
    if isinstance(function, Operation):
        kinds = table()[function.name]["described"]
        return _entry(name, function, legacy, spelling_of(function).slots, kinds)
    slots, kinds = [], {}
    for position, one in enumerate(inspect.signature(function).parameters.values()):
        annotation = str(one.annotation)
        is_array = position < arrays if arrays is not None else "NDArray" in annotation
        role = _ROLES.get(one.kind) or ("input" if is_array else "parameter")
        if one.name in ("out", "name"):
            role = one.name
        slots.append(_slot(one.name, role, one.default is one.empty))
        kinds[one.name] = ("t" if annotation in ("str", "str | None") else " ", False, "")
    return _entry(name, function, legacy, slots, kinds)


_ROLES: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "inputs",
    inspect.Parameter.VAR_KEYWORD: "options",
}


def _of_two(name: str, op: str) -> Entry:
    """Return the entry of an op of two arrays, or of one and a number, that only files name."""
    legacy = not name.startswith("_npi_")
    function = operation(op, legacy)
    if not name.endswith("_scalar"):
        return Entry(
            name, ("lhs", "rhs"), (), lambda lhs, rhs: function(lhs, rhs), legacy, alike=legacy
        )
    called = _np_ops.with_number(function, legacy, name.removeprefix("_npi").startswith("_r"))
    return Entry(name, ("data",), ("scalar", "is_int"), called, legacy, alike=True)


def _is_of_two(name: str, op: str) -> bool:
    """Tell whether an op works on the elements of two arrays and is no public function."""
    description = table()[op]
    return (
        name.startswith("_")
        and not name.startswith("_npx_")
        and description["elementwise"]
        and len(description["inputs"]) == 2
    )


def _basic(name: str) -> Entry:
    """Return how an op is called."""
    op = declared().get(name)
    if op is not None and _is_of_two(name, op):
        return _of_two(name, op)
    if name == "Custom":
        return Entry(
            name,
            parameters=("op_type",),
            function=_functions.Custom,
            variadic=True,
            any_parameter=True,
            required=frozenset(("op_type",)),
            outputs=_custom.outputs,
            complete=_custom.complete,
            takes_unknown=False,
        )
    if name in _loops.FUNCTIONS:
        return Entry(
            name,
            parameters=(*_loops.PARAMETERS[name][0], "num_args"),
            function=_loops.FUNCTIONS[name],
            variadic=True,
            required=frozenset(_loops.PARAMETERS[name][0]),
            text=frozenset(("subgraph",)),
            outputs=lambda given: _numbered(_loops.count_outputs(given)),
            complete=_loops.SHAPES[name],
            types=_loops.TYPES[name],
        )
    if name in _IN_FILES:
        return _derived(name, *_IN_FILES[name], name != "_npx_pick")
    function = _legacy_function(name)
    if function is not None:
        return _derived(name, function, None, True)
    if op is not None and name in _np_ops.AS_DECLARED:
        return _as_declared(name, op, _np_ops.by_name(op, table()[op]["inputs"]), False)
    found = _np_ops.find(name)
    if found is not None:
        return _derived(name, *found, False)
    if op is not None and not name.startswith("_np"):  # nobody's function but MXNet's internals'
        return _as_declared(name, op, operation(op, True), True)
    return Entry(name, variadic=True, is_known=False, any_parameter=True)


@cache
def find(op: str) -> Entry:
    """Return the entry of an op; one that nobody knows can still be written down."""
    name = canonical(op)
    entry = _basic(name)
    entry = replace(
        entry,
        outputs=entry.outputs or _outputs(name, entry.function),
        result_type=_TYPES.get(name, entry.result_type),
        alike=entry.alike or name in _ALIKE,
    )
    return _declares(entry, declared()[name]) if name in declared() else entry
