# SPDX-License-Identifier: Apache-2.0
"""Batches of pictures out of files of records, or of pictures in files of their own."""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Sequence
from numbers import Number
from typing import Any

from .. import io, recordio
from .. import ndarray as nd
from .. import numpy as np
from .._formats import params as _files
from .._formats import picture_lists
from ..error import (
    ArgumentError,
    ArrayTypeError,
    ArrayValueError,
    FileError,
    MXNetError,
)
from ..util import is_np_array
from .augmenters import CreateAugmenter
from .functions import imdecode

__all__ = ["ImageIter"]

_LABEL_TYPES = ("int32", "float32", "int64", "float64")
_LAST = ("pad", "discard", "roll_over")


class ImageIter(io.DataIter):
    """Gives batches of pictures, each changed by augmenters on its way.

    Pictures come from a file of records, ``path_imgrec``, or from files of their own below
    ``path_root``, which a list names: ``path_imglist``, a text with a line for each (a number,
    labels, a path, with tabs between) or ``imglist``, a list of [label, path]. ``path_imgidx``, the
    index of a file of records, is needed for ``shuffle`` and ``num_parts``.

    ``aug_list`` is what is done to pictures; without it :func:`CreateAugmenter` makes one of the
    other arguments. ``last_batch_handle`` says what becomes of pictures that do not fill a batch:
    ``"pad"`` fills it up from the beginning, ``"discard"`` leaves them out, ``"roll_over"`` keeps
    them for the next round.
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
        label_width: int = 1,
        path_imgrec: str | os.PathLike[str] | None = None,
        path_imglist: str | os.PathLike[str] | None = None,
        path_root: str | os.PathLike[str] | None = None,
        path_imgidx: str | os.PathLike[str] | None = None,
        shuffle: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: Any = None,
        imglist: Any = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: str = "float32",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if not path_imgrec and not path_imglist and not isinstance(imglist, list):
            raise ArgumentError(f"[{name}] one of path_imgrec, path_imglist and imglist is needed")
        if dtype not in _LABEL_TYPES:
            raise ArgumentError(f"[{name}] {dtype} label not supported; see {_LABEL_TYPES}")
        if last_batch_handle not in _LAST:
            raise ArrayValueError(
                f"[{name}] last_batch_handle is {last_batch_handle!r}; one of {_LAST} is needed"
            )
        self.imgrec: recordio.MXRecordIO | None = None
        self.imgidx: list[Any] | None = None
        if path_imgrec and path_imgidx:
            logging.info("%s: loading recordio %s...", name, path_imgrec)
            indexed = recordio.MXIndexedRecordIO(path_imgidx, path_imgrec, "r")
            self.imgrec, self.imgidx = indexed, list(indexed.keys)
        elif path_imgrec:
            logging.info("%s: loading recordio %s...", name, path_imgrec)
            self.imgrec = recordio.MXRecordIO(path_imgrec, "r")
        #: Labels and path of each picture, by its key.
        self.imglist: dict[Any, tuple[Any, Any]] | None = None
        if path_imglist:
            logging.info("%s: loading image list %s...", name, path_imglist)
            self.imglist = {
                entry.number: (_world().array(entry.labels, dtype=dtype), entry.path)
                for entry in picture_lists.checked(path_imglist)
            }
        elif isinstance(imglist, list):
            logging.info("%s: loading image list...", name)
            self.imglist = {
                str(number): (_labels(entry, dtype), entry[-1])
                for number, entry in enumerate(imglist, 1)
            }
        self.path_root = path_root
        self.check_data_shape(data_shape)
        self.provide_data = [io.DataDesc(data_name, (batch_size, *data_shape))]
        labels = (batch_size, label_width) if label_width > 1 else (batch_size,)
        self.provide_label = [io.DataDesc(label_name, labels)]
        self.batch_size = batch_size
        self.data_shape = tuple(data_shape)
        self.label_width = label_width
        self.shuffle = shuffle
        self.seq: list[Any] | None = self.imgidx
        if self.imgrec is None:
            self.seq = list(self.imglist or ())
        elif self.seq is None and (shuffle or num_parts > 1):
            raise ArgumentError(f"[{name}] shuffle and num_parts need path_imgidx")
        if num_parts > 1 and self.seq is not None:
            if part_index >= num_parts:
                raise ArgumentError(f"[{name}] part {part_index} of {num_parts}")
            count = len(self.seq) // num_parts
            self.seq = self.seq[part_index * count : (part_index + 1) * count]
        self.auglist: list[Any] = (
            CreateAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        )
        self.cur = 0
        self.last_batch_handle = last_batch_handle
        self.num_image = None if self.seq is None else len(self.seq)
        #: Whether another picture may be read before the next reset.
        self._may_read = True
        #: Data, labels and count of a batch that waits for the next round.
        self._rolled: tuple[Any, Any, int] | None = None
        self.reset()

    def reset(self) -> None:
        """Begin again; pictures that were rolled over come first."""
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        if self._rolled is None:
            self._begin()

    def hard_reset(self) -> None:
        """Begin again, and forget pictures that were rolled over."""
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        self._rolled = None
        self._begin()

    def _begin(self) -> None:
        if self.imgrec is not None:
            self.imgrec.reset()
        self.cur = 0
        self._may_read = True

    def next_sample(self) -> tuple[Any, bytes]:
        """Return the label and the encoded picture that come next."""
        if not self._may_read:
            raise StopIteration
        goes_round = self.last_batch_handle != "discard"
        if self.seq is None:
            assert self.imgrec is not None
            record = self.imgrec.read()
            if record is None:
                if goes_round:
                    self.imgrec.reset()
                raise StopIteration
            header, content = recordio.unpack(record)
            return header.label, content
        if self.cur >= len(self.seq):
            if goes_round:
                self.cur = 0
            raise StopIteration
        key = self.seq[self.cur]
        self.cur += 1
        if self.imgrec is None:
            assert self.imglist is not None
            label, path = self.imglist[key]
            return label, self.read_image(path)
        assert isinstance(self.imgrec, recordio.MXIndexedRecordIO)
        record = self.imgrec.read_idx(key)
        if record is None:
            raise FileError(f"[next_sample] {self.imgrec.uri!r} ends before record {key!r}")
        header, content = recordio.unpack(record)
        return header.label if self.imglist is None else self.imglist[key][0], content

    def _fill(self, data: Any, labels: Any, begin: int) -> int:
        """Put pictures into a batch, from a place on; return how many are in it then."""
        count = begin
        try:
            while count < self.batch_size:
                label, content = self.next_sample()
                picture = self.imdecode(content)
                try:
                    self.check_valid_image([picture])
                except RuntimeError as error:
                    logging.debug("Invalid image, skipping:  %s", error)
                    continue
                picture = self.augmentation_transform(picture)
                data[count] = self.postprocess_data(picture)
                labels[count] = label
                count += 1
        except StopIteration:
            if count == 0:
                raise
        return count

    def _new_labels(self) -> Any:
        """Return an array for the labels of a batch."""
        return _world().zeros(self.provide_label[0].shape)

    def next(self) -> io.DataBatch:
        """Return the next batch, or raise StopIteration."""
        if self._rolled is not None:
            data, labels, count = self._rolled
        else:
            data = _world().zeros((self.batch_size, *self.data_shape))
            labels = self._new_labels()
            count = self._fill(data, labels, 0)
        pad = self.batch_size - count
        if pad:
            if self.last_batch_handle == "discard":
                raise StopIteration
            if self.last_batch_handle == "roll_over" and self._rolled is None:
                self._rolled = (data, labels, count)
                raise StopIteration
            self._fill(data, labels, count)
            self._rolled = None
            if self.last_batch_handle == "pad":
                self._may_read = False
        return io.DataBatch([data], [labels], pad=pad)

    def check_data_shape(self, data_shape: Sequence[int]) -> None:
        """Refuse a shape that pictures cannot have here."""
        if len(data_shape) != 3:
            raise ArrayValueError("data_shape should have length 3, with dimensions CxHxW")
        if data_shape[0] != 3:
            raise ArrayValueError("This iterator expects inputs to have 3 channels.")

    def check_valid_image(self, data: Any) -> None:
        """Refuse what is no picture."""
        if len(data[0].shape) == 0:
            raise MXNetError("Data shape is wrong")

    def imdecode(self, s: Any) -> Any:
        """Return a decoded picture; an error says which one it is."""
        try:
            return imdecode(s)
        except MXNetError as error:
            raise FileError(f"Broken image {self._last_read()}, {error}") from error

    def _last_read(self) -> str:
        if self.seq is None:
            return "in a file of records"
        key = self.seq[self.cur - 1]
        return f"index: {key}" if self.imglist is None else f"filename: {self.imglist[key][1]}"

    def read_image(self, fname: str | os.PathLike[str]) -> bytes:
        """Return what is in the file of a picture."""
        return _files.read(os.path.join(self.path_root or "", fname))

    def augmentation_transform(self, data: Any) -> Any:
        """Return what augmenters make of a picture."""
        for augmenter in self.auglist:
            data = augmenter(data)
        return data

    def postprocess_data(self, datum: Any) -> Any:
        """Return a picture as it stands in a batch: with its channels first."""
        return datum.transpose((2, 0, 1))


def _world() -> Any:
    return np if is_np_array() else nd


def _labels(entry: Sequence[Any], dtype: str) -> Any:
    """Return the labels of an entry in a list: all but its last element, the path."""
    labels: Any = entry[:-1]
    if len(entry) == 2 and not isinstance(entry[0], Number):
        labels = entry[0]
    try:
        return _world().array(labels, dtype=dtype)
    except (ArrayTypeError, ArrayValueError) as error:
        raise ArrayValueError(f"[ImageIter] {entry!r} has no labels: {error}") from None
