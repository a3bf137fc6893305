# SPDX-License-Identifier: Apache-2.0
"""Products of matrices."""

from __future__ import annotations

from typing import Any

from .graph import Node
from .registry import imports
from .values import dtype_of, is_float


@imports("MatMul")
def _matmul(node: Node) -> Any:
    f, x = node.f, node[0]
    if is_float(x) or f.is_host:
        return f.cast(f.matmul(x, node[1]), dtype_of(x))
    return f.cast(product_of_integers(f, x, node[1]), dtype_of(x))


def product_of_integers(f: Any, x: Any, y: Any) -> Any:
    """Return a product of whole numbers, as real ones that hold them."""
    return f.matmul(f.cast(x, "float64"), f.cast(y, "float64"))


@imports("Gemm")
def _gemm(node: Node) -> Any:
    f, x, y = node.f, node[0], node[1]
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    is_dense = node.get("transB", 0) and not node.get("transA", 0) and alpha == beta == 1
    if is_dense and node.has(2) and len(node[2].shape) == 1 and node[2].shape[0] == y.shape[0]:
        return f.fully_connected(x, y, node[2], num_hidden=y.shape[0], flatten=False)
    x = f.transpose(x) if node.get("transA", 0) else x
    y = f.transpose(y) if node.get("transB", 0) else y
    if not is_float(x) and not f.is_host:
        return f.cast(_added(node, product_of_integers(f, x, y), alpha, beta), dtype_of(x))
    return f.cast(_added(node, f.matmul(x, y), alpha, beta), dtype_of(x))


def _added(node: Node, product: Any, alpha: float, beta: float) -> Any:
    product = product if alpha == 1 else product * alpha
    if not node.has(2):
        return product
    return product + (node[2] if beta == 1 else node[2] * beta)


@imports("Einsum")
def _einsum(node: Node) -> Any:
    operands = [node[index] for index in range(len(node))]
    dtype = dtype_of(operands[0])
    if node.f.is_host and dtype.kind == "V":  # of which NumPy has no sums of products
        operands = [one.astype("float32") for one in operands]
    return node.f.cast(node.f.einsum(node.get("equation").replace(" ", ""), *operands), dtype)
