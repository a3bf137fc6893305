# SPDX-License-Identifier: Apache-2.0
"""An ONNX graph that grows, and a call of an op that is to be written into it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as onp

from ..error import ArrayNotImplementedError
from ..symbol._attributes import as_value

OPSET = 13

Host = onp.ndarray[Any, Any]
Shape = tuple[int, ...]


def onnx_module(name: str = "onnx") -> Any:
    """Return the package ``onnx`` or a part of it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            "the package onnx is needed to write ONNX models: pip install afterglow[onnx]"
        ) from error


class Graph:
    """Nodes and constants, under names that are all different."""

    def __init__(self, is_dynamic: bool) -> None:
        self.is_dynamic = is_dynamic
        self.nodes: list[Any] = []
        self.constants: dict[str, Host] = {}
        self._taken: set[str] = set()

    def reserve(self, *names: str) -> None:
        """Keep names from being given to results inside of a call."""
        self._taken.update(names)

    def new_name(self, stem: str) -> str:
        """Return a name that nothing has yet."""
        name, number = stem, 0
        while name in self._taken:
            number += 1
            name = f"{stem}_{number}"
        self._taken.add(name)
        return name

    def constant(self, value: Any, dtype: Any = None, stem: str = "constant") -> str:
        """Return the name of a constant; equal ones are the same."""
        array = onp.asarray(value, dtype)
        for name, present in self.constants.items():
            same = present.dtype == array.dtype and onp.array_equal(present, array)
            if name.startswith(stem) and same:
                return name
        name = self.new_name(stem)
        self.constants[name] = array
        return name

    def add(
        self, op: str, *inputs: str, stem: str, outputs: list[str] | None = None, **attrs: Any
    ) -> Any:
        """Append a node; return the name of its result, or of several."""
        names = [self.new_name(f"{stem}_{op}".lower())] if outputs is None else outputs
        helper = onnx_module("onnx.helper")
        node_name = self.new_name(f"{stem}_{op.lower()}_node")
        self.nodes.append(helper.make_node(op, list(inputs), names, name=node_name, **attrs))
        return names[0] if len(names) == 1 else names


@dataclass
class Call:
    """One node of a symbol with the names of its inputs in the ONNX graph."""

    graph: Graph
    name: str
    op: str
    attrs: dict[str, str]
    inputs: list[str]
    shapes: list[Shape]
    types: list[Any]
    output_shapes: list[Shape]
    output_types: list[Any]
    is_swapped: bool = False  # whether its number is the first of two operands

    def get(self, key: str, default: Any = None) -> Any:
        """Return a parameter: numbers, tuples and truth values are read, other text stays."""
        return as_value(self.attrs[key]) if key in self.attrs else default

    def axes(self, key: str = "axis", default: Any = None) -> list[int] | None:
        """Return a parameter that is one axis or several, counted from the front."""
        value = self.get(key, default)
        if value is None:
            return None
        numbers = [value] if isinstance(value, int) else list(value)
        return [number % max(self.rank, 1) for number in numbers]

    @property
    def rank(self) -> int:
        """The number of axes of the first input."""
        return len(self.shapes[0])

    @property
    def is_numpy(self) -> bool:
        """Whether it answers as NumPy does."""
        return self.op.startswith("_np")

    def add(self, op: str, *inputs: str, **attrs: Any) -> Any:
        """Append a node that belongs to this call."""
        return self.graph.add(op, *inputs, stem=self.name, **attrs)

    def constant(self, value: Any, dtype: Any = None) -> str:
        """Return a constant, in the type of the first input unless another is given."""
        return self.graph.constant(value, self.types[0] if dtype is None else dtype)

    def integers(self, *values: int) -> str:
        """Return a constant of int64, as shapes and axes are given."""
        return self.graph.constant(list(values), "int64", "shape")

    def cast(self, name: str, dtype: Any) -> str:
        """Return a value in another type."""
        return self.add("Cast", name, to=element_type(dtype))  # type: ignore[no-any-return]

    def refuse(self, why: str) -> ArrayNotImplementedError:
        """Return the error that says why a call cannot be written."""
        return ArrayNotImplementedError(f"[onnx] {self.op} ({self.name}): {why}")

    def static(self, shape: Shape) -> Shape:
        """Return a shape that goes into the model as it is; refused where inputs may vary."""
        if self.graph.is_dynamic:
            raise self.refuse("its shape must be known; export it without dynamic=True")
        return shape


def element_type(dtype: Any) -> int:
    """Return ONNX's number of a type."""
    number: int = onnx_module("onnx.helper").np_dtype_to_tensor_dtype(onp.dtype(dtype))
    return number
