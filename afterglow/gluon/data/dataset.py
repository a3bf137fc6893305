# SPDX-License-Identifier: Apache-2.0
"""Samples by index."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..._core import Array
from .sampler import FilterSampler

__all__ = ["ArrayDataset", "Dataset", "RecordFileDataset", "SimpleDataset"]


class Dataset:
    """The base class: subclasses define ``__getitem__`` and ``__len__``."""

    def __getitem__(self, idx: int) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def filter(self, fn: Callable[[Any], bool]) -> Dataset:
        """Return the samples for which a function is true."""
        return _Chosen(self, list(FilterSampler(fn, self)))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Return one of several parts of nearly equal length."""
        assert 0 <= index < num_shards, (
            f"[shard] the index {index} must be from 0 to {num_shards - 1}"
        )
        length, rest = divmod(len(self), num_shards)
        start = length * index + min(index, rest)
        return _Chosen(self, range(start, start + length + (index < rest)))

    def take(self, count: int | None) -> Dataset:
        """Return the first samples."""
        return _Chosen(self, range(len(self) if count is None else min(count, len(self))))

    def sample(self, sampler: Any) -> Dataset:
        """Return the samples in the order of a sampler."""
        return _Chosen(self, list(sampler))

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """Return the samples changed by a function, when they are read or at once."""
        changed = _Transformed(self, fn)
        return changed if lazy else SimpleDataset([changed[i] for i in range(len(changed))])

    def transform_first(self, fn: Callable[[Any], Any], lazy: bool = True) -> Dataset:
        """Return the samples with their first element changed by a function."""
        return self.transform(_First(fn), lazy)


class SimpleDataset(Dataset):
    """Anything with ``len`` and an index."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: int) -> Any:
        return self._data[idx]


class _Chosen(Dataset):
    """Some of the samples of another dataset."""

    def __init__(self, data: Dataset, indices: Sequence[int]) -> None:
        self._data = data
        self._indices = indices

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, idx: int) -> Any:
        return self._data[self._indices[idx]]


class _Transformed(Dataset):
    """Samples of another dataset, changed when they are read."""

    def __init__(self, data: Dataset, function: Callable[..., Any]) -> None:
        self._data = data
        self._function = function

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: int) -> Any:
        item = self._data[idx]
        return self._function(*item) if isinstance(item, tuple) else self._function(item)


class _First:
    """Changes the first element of a sample; a class, so that it can travel to a worker."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def __call__(self, first: Any, *rest: Any) -> Any:
        return (self._function(first), *rest) if rest else self._function(first)


class ArrayDataset(Dataset):
    """Several arrays or lists of equal length; a sample has one element of each."""

    def __init__(self, *args: Any) -> None:
        assert args, "Needs at least 1 arrays"
        self._length = len(args[0])
        for position, data in enumerate(args):
            assert len(data) == self._length, (
                "All arrays must have the same length; array[0] has length "
                f"{self._length} while array[{position}] has {len(data)}."
            )
        # A row of a vector of ours is a number: reading those from the host is much cheaper.
        self._data = [
            data.asnumpy() if isinstance(data, Array) and data.ndim == 1 else data for data in args
        ]

    def __getitem__(self, idx: int) -> Any:
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple(data[idx] for data in self._data)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(self._length))


class RecordFileDataset(Dataset):
    """The records of a file as they are, by the index beside it, ``.idx``.

    >>> import os, tempfile
    >>> from afterglow import gluon, recordio
    >>> path = os.path.join(tempfile.mkdtemp(), "data")
    >>> writer = recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "w")
    >>> for i in range(3):
    ...     writer.write_idx(i, b"record %d" % i)
    >>> writer.close()
    >>> gluon.data.RecordFileDataset(path + ".rec")[1]
    b'record 1'
    """

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        from ... import recordio

        self.filename = os.fspath(filename)
        self.idx_file = os.path.splitext(self.filename)[0] + ".idx"
        self._record = recordio.MXIndexedRecordIO(self.idx_file, self.filename, "r")

    def __getitem__(self, idx: int) -> Any:
        return self._record.read_idx(self._record.keys[idx])

    def __len__(self) -> int:
        return len(self._record.keys)


class _DownloadedDataset(Dataset):
    """The base class of those whose files are fetched into a folder, if they are not there.

    Subclasses define ``_get_data``, which sets ``_data`` and ``_label``.
    """

    def __init__(self, root: str | os.PathLike[str], transform: Callable[..., Any] | None) -> None:
        self._transform = transform
        self._data: Any = None
        self._label: Any = None
        self._root = os.path.expanduser(root)
        os.makedirs(self._root, exist_ok=True)
        self._get_data()

    def __getitem__(self, idx: int) -> Any:
        if self._transform is not None:
            return self._transform(self._data[idx], self._label[idx])
        return self._data[idx], self._label[idx]

    def __len__(self) -> int:
        return len(self._label)

    def _get_data(self) -> None:
        raise NotImplementedError
