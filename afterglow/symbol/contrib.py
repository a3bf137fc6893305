# SPDX-License-Identifier: Apache-2.0
"""``mx.sym.contrib``: control flow as nodes that hold graphs, and ops under that name.

What a function of the user writes down is told from what was there before by an attribute,
``__subgraph_name__``, as in MXNet's files. It becomes the graph of a node; where it uses something
from outside, the graph has a variable and the node an input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._arrays.nesting import flat, like
from ..attribute import AttrScope
from ..error import ArrayValueError
from ..name import NameManager
from ._attributes import hidden
from ._graph import VARIABLE, Node, Output, in_order
from ._subgraph import Subgraph
from .symbol import Symbol, create, function_of

_MARK = "__subgraph_name__"


class _Body:
    """What a function writes down for each step or one side, with the variables it is given."""

    def __init__(self, name: str, inputs: Sequence[Symbol], form: Any) -> None:
        self._name = AttrScope._name_of_graph(name)
        self._scope = AttrScope(**{_MARK: self._name})
        with self._scope:
            self._inputs = [self._variable(one, inputs[:i]) for i, one in enumerate(inputs)]
        self.arguments = like(form, iter(self._inputs))

    @staticmethod
    def _variable(given: Symbol, before: Sequence[Symbol]) -> Symbol:
        node, index = given._outputs[0]
        name = f"{node.name}-{index}"
        again = sum(one._outputs == given._outputs for one in before)
        if again:  # one symbol for several places
            name += f"-{again}"
        attributes = hidden(AttrScope.current.get(None))
        return type(given)([(Node(VARIABLE, name, attributes), 0)])

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return what the function writes down."""
        with self._scope:
            return function(*args)

    def heads(self, symbols: Sequence[Symbol], all_different: int | None = None) -> None:
        """Set what comes out: nodes of its own, from a place on all different from the others."""
        outputs = [one._outputs[0] for one in symbols]
        names = {node.name for node, _ in outputs[:all_different]}
        with self._scope:
            for place, (node, _) in enumerate(outputs):
                is_again = all_different is not None and place >= all_different
                if not self._is_inside(node) or (is_again and node.name in names):
                    outputs[place] = create("identity", (symbols[place],), {})._outputs[0]
        self._cut(outputs)

    def _is_inside(self, node: Node) -> bool:
        return not node.is_variable and node.attributes.get(_MARK) == self._name

    def _cut(self, heads: Sequence[Output]) -> None:
        """Copy the nodes inside, with a variable for whatever they use from outside."""
        own = {one._outputs[0]: place for place, one in enumerate(self._inputs)}
        sources: dict[Output, Output] = {}  # outside, to the variable inside
        copies: dict[Node, Node] = {}

        def inner(output: Output) -> Output:
            node, index = output
            if node in copies:
                return copies[node], index
            if output not in sources:
                if output in own:
                    variable = node
                else:
                    is_own = node.attributes.get(_MARK) == self._name  # made by the function
                    attributes = dict(node.attributes) if is_own else {}
                    variable = Node(VARIABLE, node.output_name(index), attributes)
                sources[output] = variable, 0
            return sources[output]

        for node in in_order(node for node, _ in heads):
            if self._is_inside(node):
                copies[node] = node.copy([inner(one) for one in node.inputs])
        self.graph = Subgraph([inner(head) for head in heads])
        outside = {variable: output for output, (variable, _) in sources.items()}
        #: For each input of the graph: the number of the body's own one, or what it is outside.
        self.sources: list[int | Output] = [
            own.get(outside[variable], outside[variable]) for variable in self.graph.inputs
        ]

    def places(self, count: int, what: str) -> list[int]:
        """Return which inputs of the graph its own ones are, all of which must be used."""
        for number in range(count):
            if number not in self.sources:
                raise AssertionError(f"{what} have to be used: number {number} is not")
        return [self.sources.index(number) for number in range(count)]


def _node(
    op: str, graphs: list[Subgraph], inputs: list[Output], kind: type[Symbol], **given: Any
) -> list[Symbol]:
    """Return the outputs of a node that holds graphs."""
    attributes = {key: str(value) for key, value in given.items()}
    attributes["num_args"] = str(len(inputs) + len(graphs))
    attributes.update(hidden(AttrScope.current.get(None)))
    node = Node(op, NameManager.current.get(None, op), attributes, inputs, graphs)
    return [kind([(node, index)]) for index in range(given["num_outputs"])]


def _symbols(nested: Any, what: str) -> tuple[list[Symbol], Any]:
    """Return the symbols in nested lists one by one, and how they are nested."""
    if isinstance(nested, Symbol) and len(nested) > 1:
        nested = list(nested)
    if isinstance(nested, Symbol):
        return [nested], nested
    form = [
        list(one) if isinstance(one, Symbol) and len(one) > 1 else one
        for one in (nested if isinstance(nested, (list, tuple)) else flat(nested, (Symbol,), what))
    ]
    return flat(form, (Symbol,), what), form


def _form(nested: Any) -> Any:
    return [_form(one) for one in nested] if isinstance(nested, (list, tuple)) else None


def foreach(
    body: Callable[[Any, Any], tuple[Any, Any]],
    data: Any,
    init_states: Any,
    name: str = "foreach",
) -> tuple[Any, Any]:
    """Write down ``out, states = body(row, states)`` for every row of the data.

    Returns the stacked outs and the last states. Data, outs and states are symbols or nested lists.

    >>> from afterglow import nd, sym
    >>> x, zero = sym.var("x"), sym.var("zero")
    >>> out, total = sym.contrib.foreach(lambda row, s: (row + s, row + s), x, zero)
    >>> total.eval(x=nd.array([1, 2, 3]), zero=nd.zeros((1,)))[0].asnumpy().tolist()
    [6.0]
    """
    rows, data_form = _symbols(data, "foreach input")
    states, state_form = _symbols(init_states, "foreach states")
    if not rows:
        raise ArrayValueError("[foreach] there is no symbol to go over")
    step = _Body(name, [*rows, *states], [data_form, state_form])
    out, new_states = step.call(body, *step.arguments)
    outs, out_form = _symbols(out, "foreach output")
    lasts, last_form = _symbols(new_states, "foreach loop_vars")
    if _form(last_form) != _form(state_form):
        raise AssertionError("The input and output loop_vars have different format")
    step.heads([*outs, *lasts], len(outs))
    locations = step.places(len(rows) + len(states), "the data and state arrays of a loop")
    rest = [source for source in step.sources if not isinstance(source, int)]
    results = _node(
        "_foreach",
        [step.graph],
        [*(one._outputs[0] for one in (*rows, *states)), *rest],
        type(rows[0]),
        num_outputs=len(outs) + len(lasts),
        num_out_data=len(outs),
        in_state_locs=locations[len(rows) :],
        in_data_locs=locations[: len(rows)],
        remain_locs=[step.sources.index(source) for source in rest],
    )
    return (
        like(out_form, iter(results[: len(outs)])),
        like(state_form, iter(results[len(outs) :])),
    )


def while_loop(
    cond: Callable[..., Any],
    func: Callable[..., tuple[Any, Any]],
    loop_vars: Any,
    max_iterations: int | None = None,
    name: str = "while_loop",
) -> tuple[Any, Any]:
    """Write down ``out, loop_vars = func(*loop_vars)`` as long as ``cond(*loop_vars)``.

    Returns the stacked outs, which have ``max_iterations`` rows, and the last variables.

    >>> from afterglow import nd, sym
    >>> i = sym.var("i")
    >>> out, last = sym.contrib.while_loop(lambda i: i < 3, lambda i: (i, i + 1), i, 4)
    >>> last.eval(i=nd.zeros((1,)))[0].asnumpy().tolist()
    [3.0]
    """
    if max_iterations is None:
        raise ArrayValueError("max_iterations should be specified")
    try:
        most = int(max_iterations)
    except (TypeError, ValueError):
        raise ArrayValueError("Cannot convert max_iteration to python int") from None
    variables, form = _symbols(loop_vars, "while loop_vars")
    if not variables:
        raise ArrayValueError("loop_vars should contain at least one element")
    test, step = (_Body(f"{name}_{part}", variables, form) for part in ("cond", "func"))
    test.heads(_single(test.call(cond, *_arguments(test.arguments)), "cond of while_loop"))
    out, new_variables = step.call(func, *_arguments(step.arguments))
    outs, out_form = _symbols([] if out is None else out, "while output")
    lasts, _ = _symbols([] if new_variables is None else new_variables, "while loop_vars")
    if len(lasts) != len(variables):
        raise ArrayValueError("The number of loop_vars should be consistent during the loop")
    step.heads([*outs, *lasts])
    try:
        locations = step.places(len(variables), "loop_vars")
    except AssertionError as error:
        raise ArrayValueError(f"[while_loop] {error}") from None
    inputs, (tested, taken) = _united([test, step], variables)
    results = _node(
        "_while_loop",
        [test.graph, step.graph],
        inputs,
        type(variables[0]),
        max_iterations=most,
        cond_input_locs=tested,
        func_input_locs=taken,
        func_var_locs=locations,
        num_out_data=len(outs),
        num_outputs=len(outs) + len(lasts),
    )
    return like(out_form, iter(results[: len(outs)])), like(form, iter(results[len(outs) :]))


def cond(
    pred: Symbol,
    then_func: Callable[[], Any],
    else_func: Callable[[], Any],
    name: str = "cond",
) -> Any:
    """Write down ``then_func()`` for where ``pred``, of one element, is not 0, and ``else_func()``.

    >>> from afterglow import nd, sym
    >>> a = sym.var("a")
    >>> b = sym.contrib.cond(a > 1, lambda: a * 10, lambda: a)
    >>> b.eval(a=nd.array([2]))[0].asnumpy().tolist()
    [20.0]
    """
    test, first, second = (_Body(f"{name}_{part}", (), []) for part in ("pred", "then", "else"))
    test.heads(_single(pred, "pred of cond"))
    outs, form = _symbols(first.call(then_func), "cond outputs")
    first.heads(outs)
    others, _ = _symbols(second.call(else_func), "cond outputs")
    second.heads(others)
    if len(outs) != len(others):
        raise ArrayValueError("Number of outputs differs between then-branch and else-branch")
    inputs, (tested, then, other) = _united([test, first, second], ())
    results = _node(
        "_cond",
        [test.graph, first.graph, second.graph],
        inputs,
        type(pred),
        cond_input_locs=tested,
        then_input_locs=then,
        else_input_locs=other,
        num_outputs=len(outs),
    )
    return like(form, iter(results))


def _single(value: Any, what: str) -> list[Symbol]:
    symbols, _ = _symbols(value, what)
    if len(symbols) != 1:
        raise ArrayValueError(f"{what} should always be a single output")
    return symbols


def _arguments(form: Any) -> Any:
    return (form,) if isinstance(form, Symbol) else form


def _united(bodies: Sequence[_Body], own: Sequence[Symbol]) -> tuple[list[Output], list[list[int]]]:
    """Return the inputs of a node that holds several graphs, and which of them each takes."""
    found: dict[int | Output, int] = {}
    places = [[found.setdefault(source, len(found)) for source in body.sources] for body in bodies]
    inputs = [own[one]._outputs[0] if isinstance(one, int) else one for one in found]
    return inputs, places


def __getattr__(name: str) -> Any:
    """Return the function of an op."""
    return function_of(f"_contrib_{name}", __name__, name, name)
