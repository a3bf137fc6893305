# SPDX-License-Identifier: Apache-2.0
"""The gradient of every op, one line each, written with ops.

A rule gives the gradient of one input from the recorded call and the gradient ``g`` of its output.
It says which inputs it reads and whether it reads the output: nothing else is kept for it. Since
rules issue ordinary ops, they are queued, fused and dropped like all others, and recorded when a
gradient of the gradient is wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any, NamedTuple

from ._core import Operation, TapeNode, operation, set_gradient_reads
from ._dtype import INT64
from ._worlds import in_world, where

Shape = tuple[int, ...]
_operation = cache(operation)


class RecordedCall:
    """One call on the tape, as its rules see it."""

    __slots__ = ("_node", "index", "legacy", "memo")

    def __init__(self, node: TapeNode) -> None:
        self._node = node
        self.legacy = node.legacy
        self.index = 0  #: the input whose gradient is wanted, for ops with any number of them
        self.memo: Any = None  #: what the rule of one input leaves for those of the others

    def __getitem__(self, index: int) -> Any:
        """Return an input: an array or a number."""
        return self._node.input(index)

    @property
    def node(self) -> TapeNode:
        """The call itself."""
        return self._node

    def output_zeros(self, index: int) -> Any:
        """Return the gradient of a result that nobody used."""
        node = self._node
        return self.op("copy")(
            0,
            shape=node.output_shape(index),
            dtype=node.output_dtype(index),
            ctx=node.output_context(index),
        )

    @property
    def output(self) -> Any:
        """The (first) result."""
        return self._node.output(0)

    def output_at(self, index: int) -> Any:
        """Return one of several results."""
        return self._node.output(index)

    def shape(self, index: int) -> Shape:
        """Return the shape of an input."""
        return self._node.input_shape(index)

    @property
    def output_shape(self) -> Shape:
        """The shape of the (first) result."""
        return self._node.output_shape(0)

    @property
    def input_count(self) -> int:
        """The number of inputs."""
        return self._node.input_count

    @property
    def arguments(self) -> dict[str, Any]:
        """The parameters of the call by name."""
        return self._node.arguments

    def op(self, name: str) -> Operation:
        """Return an op that answers in the same world as the recorded call."""
        return _operation(name, self.legacy)

    def fit(self, index: int, g: Any) -> Any:
        """Return a gradient in the shape, type and place of an input that was stretched or cast."""
        if self._node.input_fits(index, g):
            return g
        wanted = self.shape(index)
        if g.shape != wanted:
            extra = g.ndim - len(wanted)
            padded = (1,) * extra + wanted
            axes = tuple(
                axis
                for axis, (have, want) in enumerate(zip(g.shape, padded, strict=True))
                if want == 1 and have != 1
            )
            if axes:
                stay = len(axes) > extra or axes != tuple(range(extra))
                g = self.op("sum")(g, axis=axes, keepdims=stay)
            if g.shape != wanted:
                g = g._shaped(wanted)
        dtype, place = self._node.input_dtype(index), self._node.input_context(index)
        if g._dtype_number != dtype or g._context_numbers != place:
            g = self.op("copy")(g, dtype=dtype, context=place)
        return g

    def fit_type(self, g: Any) -> Any:
        """Return a gradient in the type of the input."""
        dtype = self._node.input_dtype(0)
        return g if g._dtype_number == dtype else self.op("copy")(g, dtype=dtype)

    def strides(self, index: int) -> Shape:
        """Return the steps between the elements of an input."""
        return self._node.input_strides(index)

    def is_contiguous(self, index: int) -> bool:
        """Tell whether an input was in one piece."""
        return self._node.input_is_contiguous(index)

    def where(self, condition: Any, left: Any, right: Any) -> Any:
        """Return elements of one or of the other; numbers and broadcasting as in NumPy."""
        return in_world(where(condition, left, right), self.legacy)

    def zeros(self, index: int) -> Any:
        """Return zeros in the shape, type and place of an input."""
        return self.op("copy")(
            0,
            shape=self.shape(index),
            dtype=self._node.input_dtype(index),
            ctx=self._node.input_context(index),
        )

    def unreduced(self, value: Any) -> Any:
        """Return what a reduction left, with the reduced axes kept, so that it broadcasts."""
        return value._shaped(kept_shape(self.shape(0), self.arguments, self.legacy))


def kept_shape(shape: Shape, arguments: dict[str, Any], legacy: bool) -> Shape:
    """Return the shape of a reduction of ``shape`` with the reduced axes as ones."""
    axes = arguments["axis"]
    if axes is None or (legacy and not axes):
        reduced = set(range(len(shape)))
    else:
        reduced = {axis % len(shape) for axis in axes}
        if arguments.get("exclude"):
            reduced = set(range(len(shape))) - reduced
    return tuple(1 if axis in reduced else extent for axis, extent in enumerate(shape))


class Rule(NamedTuple):
    """The gradient of one input."""

    function: Callable[[RecordedCall, Any], Any]
    inputs: tuple[int, ...] = ()  #: the inputs that the function reads
    output: bool = False  #: whether it reads the result


#: By op name: one rule per input, ``None`` where the gradient is zero by nature. The last one
#: serves all further inputs of ops with any number of them.
RULES: dict[str, tuple[Rule | None, ...]] = {}

_every_input = 2**32 - 1


def define(name: str, *rules: Rule | None) -> None:
    """State the gradient of an op."""
    RULES[name] = rules
    set_gradient_reads(
        name,
        [
            rule and (sum(1 << index for index in rule.inputs) & _every_input, rule.output)
            for rule in rules
        ],
    )


def constant(*names: str) -> None:
    """State that the gradient of these ops is zero."""
    for name in names:
        define(name, None)


# --- elementwise ---

_flat = Rule(lambda c, g: c.zeros(c.index))
# Computed on the host: places of elements, and how many there are.
for _name in ("argsort", "topk", "searchsorted", "histogram", "matrix_rank", "lcm"):
    define(_name, _flat)


def _clipped(c: RecordedCall, g: Any) -> Any:
    low, high = c.arguments["a_min"], c.arguments["a_max"]
    if low is not None:
        g = c.where(c[0] >= low, g, 0)
    return g if high is None else c.where(c[0] <= high, g, 0)


define("clip", Rule(_clipped, (0,)))

# --- reductions ---


def _spread(c: RecordedCall, g: Any) -> Any:
    """Return a reduced gradient, stretched to the shape of the input."""
    return c.op("copy")(c.fit_type(c.unreduced(g)), shape=c.shape(0))


def _reduced_count(c: RecordedCall) -> int:
    return prod(c.shape(0)) // max(1, prod(c.output_shape))


def _extreme(c: RecordedCall, g: Any) -> Any:
    return c.where(c[0] == c.unreduced(c.output), c.unreduced(g), 0)


define("sum", Rule(_spread))
define("mean", Rule(lambda c, g: _spread(c, g * (1 / max(1, _reduced_count(c))))))
define("max", Rule(_extreme, (0,), output=True))
define("min", Rule(_extreme, (0,), output=True))
define(
    "norm1",
    Rule(
        lambda c, g: c.where(c[0] > 0, c.unreduced(g), c.where(c[0] < 0, -c.unreduced(g), 0)), (0,)
    ),
)
define(
    "norm2",
    Rule(lambda c, g: c.unreduced(g) * (c[0] / c.unreduced(c.output)), (0,), output=True),
)

define(
    "prod",
    Rule(lambda c, g: c.unreduced(g) * (c.unreduced(c.output) / c[0]), (0,), output=True),
)
constant("argmax", "argmin")
define(
    "cumsum",
    Rule(
        lambda c, g: c.op("cumsum")(g, axis=c.arguments["axis"], reverse=not c.arguments["reverse"])
    ),
)


def _through_softmax(c: RecordedCall, g: Any) -> Any:
    total, last = c.op("sum"), (c.output.ndim - 1,)
    if c.arguments["logarithm"]:
        return g - c.op("exp")(c.output) * total(g, last, True)
    weighted = g * c.output
    return weighted - c.output * total(weighted, last, True)


define("softmax", Rule(_through_softmax, output=True))


def _standardised(c: RecordedCall) -> Any:
    """Return the rows of a layer norm minus their means, by their deviations."""
    if c.memo is None:
        c.memo = (c[0] - c.output_at(1)) / c.output_at(2)
    return c.memo


def _through_layer_norm(c: RecordedCall, g: Any) -> Any:
    to_result, to_mean, to_deviation = g
    unit, last = _standardised(c), (len(c.shape(0)) - 1,)
    average = c.op("mean")
    gradient: Any = None
    if to_result is not None:
        scaled = to_result * c[1]
        gradient = scaled - average(scaled, last, True) - unit * average(scaled * unit, last, True)
        gradient = gradient / c.output_at(2)
    for head, slope in ((to_mean, 1), (to_deviation, unit)):
        if head is not None:
            part = slope * head / c.shape(0)[-1]
            gradient = part if gradient is None else gradient + part
    return gradient if gradient.shape == c.shape(0) else c.op("copy")(gradient, shape=c.shape(0))


define(
    "layer_norm",
    Rule(_through_layer_norm, (0, 1), output=True),
    Rule(
        lambda c, g: c.zeros(1) if g[0] is None else c.fit(1, g[0] * _standardised(c)),
        (0,),
        output=True,
    ),
    Rule(lambda c, g: c.zeros(2) if g[0] is None else c.fit(2, g[0])),
)
define("SequenceReverse", Rule(lambda c, g: c.op("SequenceReverse")(g, c[1]), (1,)), None)

# --- products ---


def _matrix(array: Any, contracted_first: bool) -> Any:
    """Return an array as a matrix whose rows or columns are the contracted axis."""
    shape = array.shape
    if len(shape) == 2:
        return array
    if contracted_first:
        return array._shaped((shape[0], prod(shape[1:])))
    return array._shaped((prod(shape[:-1]), shape[-1]))


def _dot_parts(c: RecordedCall, g: Any, first: Shape, second: Shape) -> tuple[Any, bool, bool]:
    """Return the gradient as a matrix, and which factor is transposed."""
    arguments = c.arguments
    left, right = arguments["transpose_a"], arguments["transpose_b"]
    rows = prod(first) // max(1, first[0] if left else first[-1])
    columns = prod(second) // max(1, second[-1] if right else second[0])
    return _shaped(g, (rows, columns)), left, right


def _shaped(g: Any, shape: Shape) -> Any:
    return g if g.shape == shape else g._shaped(shape)


def _dot_first(c: RecordedCall, g: Any) -> Any:
    first, second = c.shape(0), c.shape(1)
    if not prod(first) or not prod(second):
        return c.zeros(0)
    if not first or not second:
        return c.fit(0, g * c[1])
    matrix, left, right = _dot_parts(c, g, first, second)
    other = _matrix(c[1], not right)
    if left:
        result = c.op("dot")(other, matrix, right, True)
    else:
        result = c.op("dot")(matrix, other, False, not right)
    return _shaped(result, first)


def _dot_second(c: RecordedCall, g: Any) -> Any:
    first, second = c.shape(0), c.shape(1)
    if not prod(first) or not prod(second):
        return c.zeros(1)
    if not first or not second:
        return c.fit(1, g * c[0])
    matrix, left, right = _dot_parts(c, g, first, second)
    other = _matrix(c[0], left)
    if right:
        result = c.op("dot")(matrix, other, True, left)
    else:
        result = c.op("dot")(other, matrix, not left, False)
    return _shaped(result, second)


define("dot", Rule(_dot_first, (1,)), Rule(_dot_second, (0,)))


def _batch_dot_first(c: RecordedCall, g: Any) -> Any:
    left, right = c.arguments["transpose_a"], c.arguments["transpose_b"]
    if left:
        return c.op("batch_dot")(c[1], g, right, True)
    return c.op("batch_dot")(g, c[1], False, not right)


def _batch_dot_second(c: RecordedCall, g: Any) -> Any:
    left, right = c.arguments["transpose_a"], c.arguments["transpose_b"]
    if right:
        return c.op("batch_dot")(g, c[0], True, left)
    return c.op("batch_dot")(c[0], g, not left, False)


define("batch_dot", Rule(_batch_dot_first, (1,)), Rule(_batch_dot_second, (0,)))

# --- elements picked by index ---

_indices = tuple(range(1, 32))


def _scattered(c: RecordedCall, g: Any) -> Any:
    """Return zeros with the gradient added at the places that were read."""
    arguments = c.arguments
    indices = [c[index] for index in range(1, c.input_count)]
    return c.op("scatter_nd")(
        [c.zeros(0), g, *indices], axis=arguments["axis"], mode=arguments["mode"], add=True
    )


def _unwritten(c: RecordedCall, g: Any) -> Any:
    """Return the gradient of what was there before some elements were written."""
    arguments = c.arguments
    if arguments["add"]:
        return g
    indices = [c[index] for index in range(2, c.input_count)]
    result = c.op("copy")(g)
    zeros = c.op("copy")(0, shape=c.shape(1), dtype=g._dtype_number, ctx=g._context_numbers)
    return c.op("scatter_nd")(
        [result, zeros, *indices], axis=arguments["axis"], mode=arguments["mode"]
    )


def _read_back(c: RecordedCall, g: Any) -> Any:
    arguments = c.arguments
    indices = [c[index] for index in range(2, c.input_count)]
    found = c.op("gather_nd")([g, *indices], axis=arguments["axis"], mode=arguments["mode"])
    return c.fit(1, found)


def _along_all(c: RecordedCall, g: Any, axis: int, index: Any) -> list[Any]:
    """Return index arrays of all axes: the one given, and along each other axis its own places."""
    result, shape = [], c.shape(0)
    for other, extent in enumerate(shape):
        if other == axis:
            result.append(index)
        else:
            line = c.op("arange")(0.0, 1.0, extent, 1, INT64, ctx=g._context_numbers)
            result.append(line._shaped((extent, *(1,) * (len(shape) - other - 1))))
    return result


def _put_where_picked(c: RecordedCall, g: Any) -> Any:
    shape, index, mode = c.shape(0), c[1], c.arguments["mode"]
    axis = c.arguments["axis"] % len(shape)
    kept = (*shape[:axis], 1, *shape[axis + 1 :])
    depth = shape[axis]
    if index.ndim == len(shape) and index.shape != kept:
        # Several indices for a line, or one for several lines: gradients of one element add up.
        everywhere = _along_all(c, g, axis, index)
        return c.op("scatter_nd")([c.zeros(0), g, *everywhere], axis=0, mode=mode, add=True)
    index = index._shaped(kept)
    clips = mode in ("clip", "label")
    index = c.op("clip")(index, 0, depth - 1) if clips else index % depth
    line = c.op("arange")(0.0, 1.0, depth, 1, index._dtype_number, ctx=g._context_numbers)
    places = line._shaped((depth, *(1,) * (len(shape) - axis - 1)))
    broadcast = _operation("equal", False)(places._as_class(False), index._as_class(False))
    return c.where(broadcast, g._shaped(kept), 0)


define("take", Rule(_scattered, _indices), None)
define("gather_nd", Rule(_scattered, _indices), None)
define("scatter_nd", Rule(_unwritten, _indices[1:]), Rule(_read_back, _indices[1:]), None)
define("pick", Rule(_put_where_picked, (1,)), None)
constant("one_hot")

# --- order ---


def _put_where_sorted(c: RecordedCall, g: Any) -> Any:
    """Return the gradient of each element that was kept, and zeros for the others."""
    axis, ascending = c.arguments["axis"], c.arguments["ascending"]
    argsort, depth = c.op("argsort"), g.shape[axis]
    ranks = argsort(argsort(c[0], axis, ascending), axis)
    lines = _along_all(c, g, axis % g.ndim, c.op("minimum")(ranks, depth - 1))
    found = c.op("gather_nd")([g, *lines], axis=0, mode="clip")
    kept = _operation("less", False)(ranks._as_class(False), depth)
    return c.where(kept, found, 0)


define("sort", Rule(_put_where_sorted, (0,)))
constant("argsort", "searchsorted")

# --- random numbers ---

constant("random_gamma", "random_poisson", "sample_multinomial", "multinomial_counts", "shuffle")
define("check_parameter", Rule(lambda c, g: g))

# --- copies and views ---


def _slice_of_concat(c: RecordedCall, g: Any) -> Any:
    axis = c.arguments["axis"] % g.ndim
    start = sum(c.shape(index)[axis] for index in range(c.index))
    view = g._view(start * g._strides[axis], c.shape(c.index), g._strides)
    return c.fit(c.index, c.op("copy")(view))


define("copy", Rule(lambda c, g: c.fit(0, g)))
define("concat", Rule(_slice_of_concat))
