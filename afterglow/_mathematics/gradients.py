# SPDX-License-Identifier: Apache-2.0
"""Gradients of what Python computes: host ops, and hybridized blocks that are replayed.

Other ops have theirs beside their declarations (``src/ops``). A rule here gives the gradient
of one input from the recorded call and the gradient ``g`` of its output. It says which inputs it
reads and whether it reads the output: nothing else is kept for it. Since rules issue ordinary ops,
they are queued, fused and dropped like all others, and recorded when a gradient of the gradient is
wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .._arrays.worlds import WORLDS
from .._core import TapeNode, set_gradient_reads


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

    @property
    def output(self) -> Any:
        """The (first) result."""
        return self._node.output(0)

    def output_at(self, index: int) -> Any:
        """Return one of several results."""
        return self._node.output(index)

    def output_zeros(self, index: int) -> Any:
        """Return the gradient of a result that nobody used."""
        node = self._node
        return self._zeros(
            node.output_shape(index), node.output_dtype(index), node.output_context(index)
        )

    def shape(self, index: int) -> tuple[int, ...]:
        """Return the shape of an input."""
        return self._node.input_shape(index)

    def zeros(self, index: int) -> Any:
        """Return zeros in the shape, type and place of an input."""
        node = self._node
        return self._zeros(
            node.input_shape(index), node.input_dtype(index), node.input_context(index)
        )

    def _zeros(self, shape: tuple[int, ...], dtype: int, context: tuple[int, int]) -> Any:
        return WORLDS[self.legacy].copy(0, shape=shape, dtype=dtype, ctx=context)


class Rule(NamedTuple):
    """The gradient of one input."""

    function: Callable[[RecordedCall, Any], Any]
    inputs: tuple[int, ...] = ()  #: the inputs that the function reads
    output: bool = False  #: whether it reads the result


#: By name: one rule per input, ``None`` where the gradient is zero by nature. The last one serves
#: all further inputs of functions with any number of them.
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


#: Of places of elements, and of how many there are.
ZERO = Rule(lambda c, g: c.zeros(c.index))
