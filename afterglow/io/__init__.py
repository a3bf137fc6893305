# SPDX-License-Identifier: Apache-2.0
"""``mx.io``: iterators over batches, as :class:`~afterglow.module.Module` reads them."""

from __future__ import annotations

from .._package.namespace import tend
from .arrays import NDArrayIter
from .batches import DataBatch, DataDesc, DataIter, MXDataIter
from .detection_records import ImageDetRecordIter
from .files import CSVIter, MNISTIter
from .image_records import (
    ImageRecordInt8Iter,
    ImageRecordIter,
    ImageRecordIter_v1,
    ImageRecordUInt8Iter,
    ImageRecordUInt8Iter_v1,
)
from .libsvm import LibSVMIter
from .wrappers import PrefetchingIter, ResizeIter

__all__ = [
    "CSVIter",
    "DataBatch",
    "DataDesc",
    "DataIter",
    "ImageDetRecordIter",
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordIter_v1",
    "ImageRecordUInt8Iter",
    "ImageRecordUInt8Iter_v1",
    "LibSVMIter",
    "MNISTIter",
    "MXDataIter",
    "NDArrayIter",
    "PrefetchingIter",
    "ResizeIter",
]

tend(__name__)
