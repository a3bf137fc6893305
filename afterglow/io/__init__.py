# SPDX-License-Identifier: Apache-2.0
"""``mx.io``: iterators over batches, as :class:`~afterglow.module.Module` reads them."""

from __future__ import annotations

from .._package.namespace import tend
from .arrays import NDArrayIter
from .batches import DataBatch, DataDesc, DataIter
from .files import CSVIter, ImageRecordIter, LibSVMIter, MNISTIter
from .wrappers import PrefetchingIter, ResizeIter

__all__ = [
    "CSVIter",
    "DataBatch",
    "DataDesc",
    "DataIter",
    "ImageRecordIter",
    "LibSVMIter",
    "MNISTIter",
    "NDArrayIter",
    "PrefetchingIter",
    "ResizeIter",
]

tend(__name__)
