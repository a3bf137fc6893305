# SPDX-License-Identifier: Apache-2.0
"""Storage types of the arrays that stand for the variables of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._graph import Node

#: By number, as graphs write them.
_NAMES = {"0": "default", "1": "row_sparse", "2": "csr"}
#: Ops that read rows of their second input.
_LOOK_UPS = ("Embedding", "_contrib_SparseEmbedding")


def storage_of(node: Node, given: Mapping[str, Any]) -> str:
    """Return the storage type of a variable: what is given by its name, or what it says itself."""
    stype = given.get(node.name) or _NAMES.get(node.attributes.get("__storage_type__", "0"))
    return str(stype or "default")


def gradient_storage(nodes: list[Node], given: Mapping[str, Any]) -> dict[str, str]:
    """Return which variables have row_sparse gradients: all calls that use them give such ones."""
    found: dict[Node, set[str]] = {}
    for node in nodes:
        for place, (source, _) in enumerate(node.inputs):
            if source.is_variable:
                rows = _gives_rows(node, place, given)
                found.setdefault(source, set()).add("row_sparse" if rows else "default")
    return {node.name: "row_sparse" for node, kinds in found.items() if kinds == {"row_sparse"}}


def _gives_rows(node: Node, place: int, given: Mapping[str, Any]) -> bool:
    """Tell whether the gradient of one input of a call has few rows."""
    source, values = node.inputs[place][0], node.values
    if node.op == "_square_sum":
        return storage_of(source, given) == "row_sparse"
    if place != 1:
        return False
    if node.op in _LOOK_UPS:
        return node.op != "Embedding" or bool(values.get("sparse_grad"))
    if node.op != "dot" or values.get("transpose_a") or values.get("transpose_b"):
        return False
    left = node.inputs[0][0]
    return left.is_variable and storage_of(left, given) == "csr"
