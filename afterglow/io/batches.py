# SPDX-License-Identifier: Apache-2.0
"""What iterators give: batches, and descriptions of what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as onp

from .._core import Array
from ..error import ArgumentError

__all__ = ["DataBatch", "DataDesc", "DataIter", "MXDataIter"]


class _NameAndShape(NamedTuple):
    name: str
    shape: tuple[int, ...]


class DataDesc(_NameAndShape):
    """Name and shape of an input, with its type and the meaning of its axes.

    >>> from afterglow import io
    >>> io.DataDesc("data", (32, 10))
    DataDesc[data,(32, 10),<class 'numpy.float32'>,NCHW]
    """

    dtype: Any
    layout: str

    def __new__(
        cls, name: str, shape: Sequence[int], dtype: Any = onp.float32, layout: str = "NCHW"
    ) -> Self:
        """Describe an input."""
        description = super().__new__(cls, name, tuple(shape))
        description.dtype = dtype
        description.layout = layout
        return description

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return (DataDesc, (self.name, self.shape, self.dtype, self.layout))

    @staticmethod
    def get_batch_axis(layout: str | None) -> int:
        """Return which axis counts the examples: that of the letter N, or the first.

        >>> DataDesc.get_batch_axis("TNC")
        1
        """
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(
        shapes: Iterable[tuple[str, Sequence[int]]], types: Iterable[tuple[str, Any]] | None
    ) -> list[DataDesc]:
        """Return descriptions from (name, shape) pairs and (name, type) pairs.

        >>> DataDesc.get_list([("data", (2, 3))], [("data", "int32")])
        [DataDesc[data,(2, 3),int32,NCHW]]
        """
        if types is None:
            return [DataDesc(*pair) for pair in shapes]
        by_name = dict(types)
        return [DataDesc(name, shape, by_name[name]) for name, shape in shapes]


@dataclass(eq=False, repr=False)
class DataBatch:
    """The arrays of one step: inputs, labels, and how many examples only fill it up.

    >>> from afterglow import io, nd
    >>> print(io.DataBatch([nd.ones((2, 3))], [nd.zeros((2,))]))
    DataBatch: data shapes: [(2, 3)] label shapes: [(2,)]
    """

    data: list[Any] | tuple[Any, ...]
    label: list[Any] | tuple[Any, ...] | None = None
    pad: int | None = None
    index: Any = None
    bucket_key: Any = None
    provide_data: list[DataDesc] | None = None
    provide_label: list[DataDesc] | None = None

    def __post_init__(self) -> None:
        for name, given in (("Data", self.data), ("Label", self.label)):
            if given is not None and not isinstance(given, (list, tuple)):
                raise ArgumentError(f"{name} must be list of NDArrays")

    def __str__(self) -> str:
        data = [array.shape for array in self.data]
        label = [array.shape for array in self.label] if self.label else None
        return f"{type(self).__name__}: data shapes: {data} label shapes: {label}"


class DataIter:
    """The base class of iterators over batches.

    Subclasses have ``provide_data`` and ``provide_label`` and define either :meth:`next`, or
    :meth:`iter_next` with the functions that give the parts of a batch.

    >>> from afterglow import io, nd
    >>> class Counter(io.DataIter):
    ...     count = 0
    ...
    ...     def iter_next(self):
    ...         self.count += 1
    ...         return self.count < 3
    ...
    ...     def getdata(self):
    ...         return [nd.full((1,), self.count)]
    >>> [batch.data[0].asscalar().item() for batch in Counter()]
    [1.0, 2.0]
    """

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> DataBatch:
        return self.next()

    def reset(self) -> None:
        """Begin again."""

    def next(self) -> DataBatch:
        """Return the next batch, or raise StopIteration."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(
            data=_as_list(self.getdata()),
            label=_as_list(self.getlabel()),
            pad=self.getpad(),
            index=self.getindex(),
        )

    def iter_next(self) -> bool:
        """Move on to the next batch; tell whether there is one."""
        return False

    def getdata(self) -> Any:
        """Return the inputs of the batch."""

    def getlabel(self) -> Any:
        """Return the labels of the batch."""

    def getindex(self) -> Any:
        """Return the numbers of the examples, if they are known."""

    def getpad(self) -> Any:
        """Return how many examples at the end only fill the batch up."""


class MXDataIter(DataIter):
    """The base class of iterators over files, as MXNet calls those that are written in C++.

    ``getdata`` and ``getlabel`` return arrays, those of other iterators lists of them.
    """


def _as_list(arrays: Any) -> Any:
    return [arrays] if isinstance(arrays, Array) else arrays
