# SPDX-License-Identifier: Apache-2.0
"""Batches out of files in LibSVM's format, as csr arrays."""

from __future__ import annotations

import os
from typing import Any

import numpy as onp

from .. import ndarray as nd
from .._formats import params as _files
from ..error import ArrayValueError
from .batches import DataDesc, MXDataIter

__all__ = ["LibSVMIter"]

Path = str | os.PathLike[str]


class _Rows:
    """The lines of a file: a first number each, and numbers by their column."""

    def __init__(self, path: Path, width: int) -> None:
        self.path = path
        self.width = width
        first, columns, values, starts = [], [], [], [0]
        for number, line in enumerate(_files.read(path).splitlines(), 1):
            words = line.split(b"#")[0].split()
            if not words:
                continue
            try:
                first.append(float(words[0]))
                for word in words[1:]:
                    column, _, value = word.partition(b":")
                    columns.append(int(column))
                    values.append(float(value))
            except ValueError:
                raise self._damaged(
                    number, "it must be a number and pairs of column:value"
                ) from None
            start = starts[-1]
            row = columns[start:]
            if row and (min(row) < 0 or max(row) >= width):
                raise self._damaged(number, f"columns must be from 0 to {width - 1}")
            starts.append(len(columns))
        self.first = onp.array(first, "float32")
        self.columns = onp.array(columns, "int64")
        self.values = onp.array(values, "float32")
        self.starts = onp.array(starts, "int64")

    def _damaged(self, line: int, what: str) -> ArrayValueError:
        return ArrayValueError(f"[LibSVMIter] {os.fspath(self.path)!r}, line {line}: {what}")

    def __len__(self) -> int:
        return len(self.first)

    def at(self, rows: Any) -> Any:
        """Return some rows as a csr array."""
        counts = onp.diff(self.starts)[rows]
        indptr = onp.concatenate(([0], onp.cumsum(counts)))
        places = onp.arange(indptr[-1]) - onp.repeat(indptr[:-1] - self.starts[rows], counts)
        parts = (self.values[places], self.columns[places], indptr)
        return nd.sparse.csr_matrix(parts, shape=(len(rows), self.width))


class LibSVMIter(MXDataIter):
    r"""Gives the lines ``label column:value column:value ...`` of a file as csr arrays.

    Columns are counted from 0. Labels are the first numbers of the lines, or with ``label_libsvm``
    the lines of another file (``NULL``: none), as csr arrays. With ``round_batch`` the last batch
    is filled up with the first lines, otherwise it is left out. Of ``num_parts`` parts of the lines
    the one with number ``part_index`` is read.

    >>> import os, tempfile
    >>> from afterglow import io
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "data.t")
    ...     with open(path, "w") as file:
    ...         _ = file.write("1 0:0.5 2:1.5\n-1 1:2\n")
    ...     batch = io.LibSVMIter(data_libsvm=path, data_shape=(3,), batch_size=2).next()
    >>> batch.data[0].asnumpy()
    array([[0.5, 0. , 1.5],
           [0. , 2. , 0. ]], dtype=float32)
    >>> batch.label[0].asnumpy()
    array([ 1., -1.], dtype=float32)
    """

    def __init__(
        self,
        data_libsvm: Path,
        data_shape: Any,
        label_libsvm: Path | None = None,
        label_shape: Any = (1,),
        num_parts: int = 1,
        part_index: int = 0,
        batch_size: int = 1,
        round_batch: bool = True,
        prefetch_buffer: int = 4,
        ctx: str = "cpu",
        dtype: Any = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
    ) -> None:
        super().__init__(batch_size)
        self._names = (data_name, label_name)
        self._data = _Rows(data_libsvm, _width(data_shape, "data_shape"))
        self._label = None
        if label_libsvm not in (None, "NULL"):
            self._label = _Rows(label_libsvm, _width(label_shape, "label_shape"))
            if len(self._label) != len(self._data):
                raise ArrayValueError(
                    f"[LibSVMIter] {len(self._data)} lines of data, {len(self._label)} of labels"
                )
        if not 0 <= part_index < num_parts:
            raise ArrayValueError(f"[LibSVMIter] part {part_index} of {num_parts} was asked for")
        count = len(self._data)
        part = range(count * part_index // num_parts, count * (part_index + 1) // num_parts)
        self._lines = onp.array(part, "int64")
        if not len(self._lines):
            raise ArrayValueError(f"[LibSVMIter] {os.fspath(data_libsvm)!r} has no lines")
        self._round = bool(round_batch)
        self._next = self._pad = 0
        self._rows = self._lines[:0]

    @property
    def provide_data(self) -> list[DataDesc]:
        """Name, shape and type of the input."""
        return [DataDesc(self._names[0], (self.batch_size, self._data.width), onp.float32)]

    @property
    def provide_label(self) -> list[DataDesc]:
        """Name, shape and type of the label."""
        width = () if self._label is None else (self._label.width,)
        return [DataDesc(self._names[1], (self.batch_size, *width), onp.float32)]

    def reset(self) -> None:
        """Begin again."""
        self._next = 0

    def iter_next(self) -> bool:
        """Move on to the next batch; tell whether there is one."""
        count, end = len(self._lines), self._next + self.batch_size
        if self._next >= count or (end > count and not self._round):
            return False
        self._pad = max(end - count, 0)
        self._rows = self._lines[onp.arange(self._next, end) % count]
        self._next = end
        return True

    def getdata(self) -> list[Any]:
        """Return the inputs of the batch."""
        return [self._data.at(self._rows)]

    def getlabel(self) -> list[Any]:
        """Return the labels of the batch."""
        if self._label is not None:
            return [self._label.at(self._rows)]
        return [nd.array(self._data.first[self._rows])]

    def getindex(self) -> Any:
        """Return the numbers of the lines."""
        return self._rows

    def getpad(self) -> int:
        """Return how many lines only fill the batch up."""
        return self._pad


def _width(shape: Any, name: str) -> int:
    extents = tuple(int(extent) for extent in onp.atleast_1d(shape))
    if len(extents) != 1:
        raise ArrayValueError(f"[LibSVMIter] {name} is {extents}; one extent is needed")
    return extents[0]
