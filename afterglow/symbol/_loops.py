# SPDX-License-Identifier: Apache-2.0
"""Loops and branches as nodes: how ``_foreach``, ``_while_loop`` and ``_cond`` run and infer.

Such a node holds graphs, and its attributes say, as numbers, which of the node's inputs are which
inputs of these. Steps are issued one after another, so gradients are those of the calls. A node
``_CachedOp`` runs one graph once, which it keeps as text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._arrays.dtypes import FLOAT32
from .._arrays.shapes import Shape
from .._arrays.worlds import LEGACY
from ..ndarray import contrib
from ._attributes import Attributes

if TYPE_CHECKING:
    from ._subgraph import Subgraph

#: What is known of inputs and of results: shapes or types.
_Found = tuple[list[Any], list[Any]]

#: Parameters of the nodes, and how many graphs they hold.
PARAMETERS: dict[str, tuple[tuple[str, ...], int]] = {
    "_foreach": (
        ("num_outputs", "num_out_data", "in_state_locs", "in_data_locs", "remain_locs"),
        1,
    ),
    "_while_loop": (
        (
            "num_outputs",
            "num_out_data",
            "max_iterations",
            "cond_input_locs",
            "func_input_locs",
            "func_var_locs",
        ),
        2,
    ),
    "_cond": (("num_outputs", "cond_input_locs", "then_input_locs", "else_input_locs"), 3),
    "_CachedOp": (("subgraph",), 1),
}


def places(op: str, given: Attributes) -> list[Sequence[int]]:
    """Return for each graph of a node which inputs of the node its own inputs are."""
    if op == "_foreach":
        locations = (*given["in_data_locs"], *given["in_state_locs"], *given["remain_locs"])
        return [sorted(range(len(locations)), key=locations.__getitem__)]
    if op == "_CachedOp":
        return [range(len(given["subgraphs"][0].inputs))]
    names = ("cond", "func") if op == "_while_loop" else ("cond", "then", "else")
    return [given[f"{name}_input_locs"] for name in names]


def variable_places(given: Attributes) -> list[int]:
    """Return which inputs of a while loop are its variables."""
    return [given["func_input_locs"][place] for place in given["func_var_locs"]]


def check(op: str, given: Attributes, count: int) -> None:
    """Refuse a node whose attributes, inputs and graphs do not fit together."""
    names, graphs = PARAMETERS[op]
    subgraphs: Sequence[Subgraph] = given.get("subgraphs", ())
    if op == "_CachedOp":
        if count != len(subgraphs[0].inputs):
            raise ValueError(f"{count} inputs of a graph that takes {len(subgraphs[0].inputs)}")
        return
    if len(subgraphs) != graphs:
        raise ValueError(f"{op} holds {len(subgraphs)} graphs; there must be {graphs}")
    for name in names:
        value = given[name]
        numbers = value if name.endswith("_locs") else (value,)
        if not isinstance(numbers, tuple) or any(type(one) is not int for one in numbers):
            raise ValueError(f"{name} of {op} is {value!r}; it must be whole numbers")
    outputs = (*(1,) * (op != "_foreach"), *(given["num_outputs"],) * (2 if op == "_cond" else 1))
    for graph, taken, wanted in zip(subgraphs, places(op, given), outputs, strict=True):
        if len(taken) != len(graph.inputs) or any(not 0 <= one < count for one in taken):
            raise ValueError(
                f"a graph of {op} takes inputs {tuple(taken)} of {count}; it has "
                f"{len(graph.inputs)} variables"
            )
        if len(graph.heads) != wanted:
            raise ValueError(f"a graph of {op} has {len(graph.heads)} outputs, not {wanted}")
    if op != "_cond":
        variables = given["in_state_locs" if op == "_foreach" else "func_var_locs"]
        if len(variables) != given["num_outputs"] - given["num_out_data"]:
            raise ValueError(f"{op} has {len(variables)} variables, and other numbers of outputs")
        if op == "_foreach":
            taken = (*given["in_data_locs"], *variables, *given["remain_locs"])
            fit = sorted(taken) == list(range(count)) and bool(given["in_data_locs"])
        else:
            fit = all(0 <= one < len(given["func_input_locs"]) for one in variables)
        if not fit:
            raise ValueError(f"locations of {op} name inputs that are not there, or twice")


# --- running ---


def _run(graph: Subgraph, taken: Sequence[int], arrays: Sequence[Any]) -> list[Any]:
    return graph.run([arrays[place] for place in taken])


def foreach(*arrays: Any, **given: Any) -> list[Any]:
    """Run a graph for every row of the data, with the states that it gave for the row before."""
    (body,), (taken,) = given["subgraphs"], places("_foreach", given)
    rows, states, outs = (
        len(given["in_data_locs"]),
        len(given["in_state_locs"]),
        given["num_out_data"],
    )
    rest = arrays[rows + states :]
    if not arrays[0].shape[0]:
        _, shapes = _foreach_shapes(given, [array.shape for array in arrays])
        kinds = [array._dtype_number for array in arrays]
        return [
            *_zeros(shapes[:outs], _foreach_types(given, kinds)[1]),
            *arrays[rows : rows + states],
        ]

    def step(row: list[Any], state: list[Any]) -> tuple[list[Any], list[Any]]:
        results = _run(body, taken, [*row, *state, *rest])
        return results[:outs], results[outs:]

    stacked, last = contrib.foreach(step, list(arrays[:rows]), list(arrays[rows : rows + states]))
    return [*stacked, *last]


def while_loop(*arrays: Any, **given: Any) -> list[Any]:
    """Run a graph as long as another one says; outputs have a row for each step there can be."""
    (cond, func), (tested, taken) = given["subgraphs"], places("_while_loop", given)
    variables, outs = variable_places(given), given["num_out_data"]

    def with_variables(current: Sequence[Any]) -> list[Any]:
        known = list(arrays)
        for place, value in zip(variables, current, strict=True):
            known[place] = value
        return known

    def step(*current: Any) -> tuple[list[Any], list[Any]]:
        results = _run(func, taken, with_variables(current))
        return results[:outs], results[outs:]

    stacked, last = contrib.while_loop(
        lambda *current: _run(cond, tested, with_variables(current))[0],
        step,
        [arrays[place] for place in variables],
        given["max_iterations"],
    )
    if len(stacked) < outs:  # no step was made
        _, shapes = _while_shapes(given, [array.shape for array in arrays])
        _, kinds = _while_types(given, [array._dtype_number for array in arrays])
        stacked = _zeros(shapes[:outs], kinds)
    return [*stacked, *last]


def cond(*arrays: Any, **given: Any) -> list[Any]:
    """Run one of two graphs, as a third one says."""
    (pred, then, other), (tested, first, second) = given["subgraphs"], places("_cond", given)
    result: list[Any] = contrib.cond(
        _run(pred, tested, arrays)[0],
        lambda: _run(then, first, arrays),
        lambda: _run(other, second, arrays),
    )
    return result


def _zeros(shapes: Sequence[Shape], kinds: Sequence[int | None]) -> list[Any]:
    return [
        LEGACY.copy(0, shape=shape, dtype=FLOAT32 if kind is None else kind)
        for shape, kind in zip(shapes, kinds, strict=False)
    ]


def whole(*arrays: Any, subgraphs: Sequence[Subgraph], subgraph: str) -> list[Any]:
    """Run a graph once."""
    return subgraphs[0].run(arrays)


FUNCTIONS: dict[str, Callable[..., list[Any]]] = {
    "_CachedOp": whole,
    "_foreach": foreach,
    "_while_loop": while_loop,
    "_cond": cond,
}


# --- what comes out ---


def count_outputs(given: Attributes) -> int:
    """Return how many outputs a node has."""
    count: int = given.get("num_outputs") or len(given["subgraphs"][0].heads)
    return count


def _either(first: Any, second: Any) -> Any:
    """Return what is known, where one of two sides may know nothing."""
    return second if first is None else first


def _told(
    graph: Subgraph, taken: Sequence[int], known: list[Any], ask: Callable[..., _Found]
) -> list[Any]:
    """Return what is known of a graph's heads, and add to what is known of the node's inputs."""
    inputs, heads = ask([known[place] for place in taken])
    for place, found in zip(taken, inputs, strict=True):
        known[place] = _either(found, known[place])
    return heads


def _below(shape: Shape | None) -> Shape | None:
    """Return the shape of a row; nd has no arrays without axes."""
    return None if shape is None else shape[1:] or (1,)


def _above(rows: int, shape: Shape | None) -> Shape | None:
    return None if shape is None else (rows, *shape)


def _foreach_shapes(given: Attributes, shapes: list[Shape | None]) -> _Found:
    (body,), (taken,) = given["subgraphs"], places("_foreach", given)
    count, outs = len(given["in_data_locs"]), given["num_out_data"]
    data = shapes[:count]
    rows = max((shape[0] for shape in data if shape), default=-1)
    known = [*map(_below, data), *shapes[count:]]
    heads = _told(body, taken, known, body.shapes)
    found: list[Any] = [
        _above(rows, inner) if shape is None or len(shape) > 1 else (rows,)
        for shape, inner in zip(data, known, strict=False)
    ]
    for place, state in enumerate(heads[outs:], count):
        known[place] = _either(state, known[place])
    return [*found, *known[count:]], [
        *(_above(rows, shape) for shape in heads[:outs]),
        *heads[outs:],
    ]


def _foreach_types(given: Attributes, kinds: list[int | None]) -> _Found:
    (body,), (taken,) = given["subgraphs"], places("_foreach", given)
    known = list(kinds)
    return known, _told(body, taken, known, body.types)


def _while_shapes(given: Attributes, shapes: list[Shape | None]) -> _Found:
    known, heads = _while_found(given, shapes, "shapes")
    outs, most = given["num_out_data"], given["max_iterations"]
    return known, [*(_above(most, shape) for shape in heads[:outs]), *heads[outs:]]


def _while_types(given: Attributes, kinds: list[int | None]) -> _Found:
    return _while_found(given, kinds, "types")


def _while_found(given: Attributes, told: list[Any], what: str) -> _Found:
    known = list(told)
    test, step = zip(given["subgraphs"], places("_while_loop", given), strict=True)
    _told(*test, known, getattr(test[0], what))
    heads = _told(*step, known, getattr(step[0], what))
    for place, found in zip(variable_places(given), heads[given["num_out_data"] :], strict=True):
        known[place] = _either(found, known[place])
    return known, heads


def _cond_found(given: Attributes, told: list[Any], what: str) -> _Found:
    known = list(told)
    _, first, second = (
        _told(graph, taken, known, getattr(graph, what))
        for graph, taken in zip(given["subgraphs"], places("_cond", given), strict=True)
    )
    # Sides may differ; then what comes out follows from values.
    return known, [one if one == other else None for one, other in zip(first, second, strict=True)]


SHAPES: dict[str, Callable[[Attributes, list[Shape | None]], _Found]] = {
    "_CachedOp": lambda given, shapes: given["subgraphs"][0].shapes(shapes),
    "_foreach": _foreach_shapes,
    "_while_loop": _while_shapes,
    "_cond": lambda given, shapes: _cond_found(given, shapes, "shapes"),
}

TYPES: dict[str, Callable[[Attributes, list[int | None]], _Found]] = {
    "_CachedOp": lambda given, kinds: given["subgraphs"][0].types(kinds),
    "_foreach": _foreach_types,
    "_while_loop": _while_types,
    "_cond": lambda given, kinds: _cond_found(given, kinds, "types"),
}
