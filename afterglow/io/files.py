# SPDX-License-Identifier: Apache-2.0
"""Batches out of files: tables of numbers, and the files of MNIST."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as onp

from .. import ndarray as nd
from .._formats import idx
from .._formats import params as _files
from ..error import ArrayValueError, MXNetError
from .batches import DataDesc, MXDataIter

#: Not the functions of ``logging``: they set up the log, and a program could no more.
_logger = logging.getLogger(__name__)

__all__ = ["CSVIter", "MNISTIter"]

Host = onp.ndarray[Any, Any]


class _HostIter(MXDataIter):
    """Gives rows of arrays on the host as batches; subclasses choose which rows."""

    def __init__(
        self, data: Host, label: Host, batch_size: int, data_name: str, label_name: str
    ) -> None:
        super().__init__(batch_size)
        self._data, self._label = data, label
        self._names = (data_name, label_name)
        self._rows: Host = onp.arange(0)
        self._pad = self._next_row = 0

    @property
    def provide_data(self) -> list[DataDesc]:
        """Name, shape and type of the input."""
        return [self._described(0, self._data)]

    @property
    def provide_label(self) -> list[DataDesc]:
        """Name, shape and type of the label."""
        return [self._described(1, self._label)]

    def getdata(self) -> Any:
        """Return the input of the batch."""
        return nd.array(self._data[self._rows], dtype=self._data.dtype)

    def getlabel(self) -> Any:
        """Return the label of the batch."""
        return nd.array(self._label[self._rows], dtype=self._label.dtype)

    def getindex(self) -> Host:
        """Return the numbers of the rows."""
        return self._rows

    def getpad(self) -> int:
        """Return how many rows only fill the batch up."""
        return self._pad

    def _described(self, which: int, array: Host) -> DataDesc:
        return DataDesc(self._names[which], (self.batch_size, *array.shape[1:]), array.dtype.type)


def _table(path: str | os.PathLike[str], shape: tuple[int, ...], dtype: str) -> Host:
    """Return the rows of a file, or of all files of a folder, each in a shape."""
    files: Sequence[str | os.PathLike[str]] = [path]
    if os.path.isdir(path):
        files = sorted(one for one in Path(path).iterdir() if one.is_file())
    try:
        contents = [content for file in files if (content := _files.read(file).strip())]
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a file without numbers
            tables = [
                onp.loadtxt(BytesIO(one), dtype, comments=None, delimiter=",", ndmin=2)
                for one in contents
            ]
        return onp.concatenate(tables).reshape(-1, *shape)
    except MXNetError:
        raise
    except (OverflowError, ValueError, UserWarning) as error:
        raise ArrayValueError(
            f"[CSVIter] {path} is no table of rows of shape {tuple(map(int, shape))}: {error}"
        ) from None


class CSVIter(_HostIter):
    r"""Gives the rows of a file of numbers separated by commas, each reshaped to ``data_shape``.

    With ``round_batch`` the last batch goes on with the first rows, and the next round after them;
    without it the last batch is filled up with rows that do not count. Without a ``label_csv``, or
    with the name ``NULL``, labels are 0.

    >>> import os, tempfile
    >>> from afterglow import io
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "data.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("1,2\n3,4\n")
    ...     io.CSVIter(data_csv=path, data_shape=(2,), batch_size=2).next().data[0].asnumpy()
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """

    def __init__(
        self,
        data_csv: str | os.PathLike[str],
        data_shape: Any,
        label_csv: str | os.PathLike[str] | None = None,
        label_shape: Any = (1,),
        batch_size: int = 1,
        round_batch: bool = True,
        prefetch_buffer: int = 4,
        ctx: str = "cpu",
        dtype: Any = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
    ) -> None:
        kind = onp.dtype("float32" if dtype is None else dtype).name
        if kind not in ("float32", "int32", "int64"):
            raise ArrayValueError(f"[CSVIter] {kind} is not supported; use float32, int32 or int64")
        data = _table(data_csv, tuple(onp.atleast_1d(data_shape)), kind)
        width = tuple(int(extent) for extent in onp.atleast_1d(label_shape))
        label = (
            onp.zeros((len(data), *width), kind)
            if label_csv in (None, "NULL")
            else _table(label_csv, width, kind)
        )
        if len(label) != len(data):
            raise ArrayValueError(f"[CSVIter] {len(data)} rows of data, {len(label)} of labels")
        if width == (1,):
            label = label.reshape(-1)
        super().__init__(data, label, batch_size, data_name, label_name)
        self._round = bool(round_batch)

    def reset(self) -> None:
        """Begin again: with ``round_batch`` after the rows that filled up the last batch."""
        count = len(self._data)
        self._next_row = self._next_row - count if self._round and self._next_row > count else 0

    def iter_next(self) -> bool:
        """Move on to the next batch; tell whether there is one."""
        count, begin = len(self._data), self._next_row
        if begin >= count:
            return False
        rows = onp.arange(begin, begin + self.batch_size)
        self._pad = max(begin + self.batch_size - count, 0)
        if self._round or len(self._rows) == 0:
            self._rows = rows % count
        else:
            # What stood in the places of the batch before stays there.
            self._rows = onp.where(rows < count, rows, self._rows)
        self._next_row += self.batch_size
        return True


class MNISTIter(_HostIter):
    """Gives images and labels out of MNIST's files, with values from 0 to 1.

    Images have the shape (1, 28, 28), with ``flat`` (784,). With ``shuffle`` they are put into
    another order once, by ``seed``. Images that do not fill a batch are left out.
    """

    def __init__(
        self,
        image: str | os.PathLike[str] = "./train-images-idx3-ubyte",
        label: str | os.PathLike[str] = "./train-labels-idx1-ubyte",
        batch_size: int = 128,
        shuffle: bool = True,
        flat: bool = False,
        seed: int = 0,
        silent: bool = False,
        num_parts: int = 1,
        part_index: int = 0,
        prefetch_buffer: int = 4,
        ctx: str = "cpu",
        dtype: Any = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
        input_shape: Any = None,
        data_shape: Any = None,
    ) -> None:
        images = idx.read(image, idx.IMAGES, "MNISTIter")
        labels = idx.read(label, idx.LABELS, "MNISTIter")
        if len(images) != len(labels):
            raise ArrayValueError(f"[MNISTIter] {len(images)} images, {len(labels)} labels")
        part = slice(
            len(images) * part_index // num_parts, len(images) * (part_index + 1) // num_parts
        )
        images, labels = images[part], labels[part]
        if shuffle:
            order = onp.random.RandomState(seed).permutation(len(images))
            images, labels = images[order], labels[order]
        kind = onp.dtype("float32" if dtype is None else dtype)
        scaled = images.astype("float32") / 256
        shaped = scaled.reshape(len(images), -1) if flat else scaled[:, onp.newaxis]
        super().__init__(
            shaped.astype(kind), labels.astype(kind), batch_size, data_name, label_name
        )
        if not silent:
            _logger.info("MNISTIter: load %d images, shuffle=%d", len(images), int(shuffle))

    def reset(self) -> None:
        """Begin again."""
        self._next_row = 0

    def iter_next(self) -> bool:
        """Move on to the next batch; tell whether there is one."""
        begin, self._next_row = self._next_row, self._next_row + self.batch_size
        if self._next_row > len(self._data):
            return False
        self._rows = onp.arange(begin, self._next_row)
        return True
