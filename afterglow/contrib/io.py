# SPDX-License-Identifier: Apache-2.0
"""Batches of Gluon for modules."""

from __future__ import annotations

from typing import Any

from .. import ndarray as nd
from ..io import DataDesc, DataIter

__all__ = ["DataLoaderIter"]


class DataLoaderIter(DataIter):
    """Gives the (data, label) batches of a ``DataLoader``; a short one is filled up with zeros.

    >>> from afterglow import contrib, gluon, nd
    >>> rows = gluon.data.ArrayDataset(nd.ones((3, 2)), nd.arange(3))
    >>> batches = contrib.io.DataLoaderIter(gluon.data.DataLoader(rows, batch_size=2))
    >>> [(batch.label[0].asnumpy().tolist(), batch.pad) for batch in batches]
    [([0.0, 1.0], 0), ([2.0, 0.0], 1)]
    """

    def __init__(
        self,
        loader: Any,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: Any = "float32",
    ) -> None:
        self._loader = loader
        data, label = next(iter(loader))
        super().__init__(data.shape[0])
        self.dtype = dtype
        self.provide_data = [DataDesc(data_name, data.shape, dtype)]
        self.provide_label = [DataDesc(label_name, label.shape, dtype)]
        self._batches = iter(loader)
        self._current: tuple[Any, Any] | None = None

    def reset(self) -> None:
        """Begin again."""
        self._batches = iter(self._loader)

    def iter_next(self) -> bool:
        """Move on to the next batch; tell whether there is one."""
        self._current = next(self._batches, None)
        return self._current is not None

    def getdata(self) -> list[Any]:
        """Return the inputs of the batch."""
        return self._part(0)

    def getlabel(self) -> list[Any]:
        """Return the labels of the batch."""
        return self._part(1)

    def getpad(self) -> int:
        """Return how many examples at the end only fill the batch up."""
        return self.batch_size - int(self._current[0].shape[0]) if self._current else 0

    def _part(self, which: int) -> list[Any]:
        if self._current is None:
            return []
        values = self._current[which].astype(self.dtype)
        if not self.getpad():
            return [values]
        zeros = nd.zeros((self.getpad(), *values.shape[1:]), dtype=self.dtype, ctx=values.context)
        return [nd.concat(values, zeros, dim=0)]
