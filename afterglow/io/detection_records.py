# SPDX-License-Identifier: Apache-2.0
"""Batches of pictures with boxes around objects, out of files of records.

The labels of a record are the length of their header, the length of an object, the rest of the
header, and the objects: a class and left, top, right and bottom as parts of the picture, then
whatever else is known of it.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as onp

from .. import recordio
from .._formats import pictures
from ..error import ArrayValueError, FileError
from .image_records import (
    Batch,
    Host,
    ImageRecordIter,
    Maker,
    decoded,
    red_first,
    shifted_colours,
)

__all__ = ["ImageDetRecordIter"]

#: A pad that enlarges a picture by less is not worth it.
_LEAST_PAD = 1.05

#: Left, top, right and bottom.
_Box = tuple[float, float, float, float]


@dataclass(frozen=True, kw_only=True)
class DetectionChanges:
    """What is done to pictures and the boxes in them; the names are MXNet's.

    Those of crops are one number for all ``num_crop_sampler`` samplers, or one for each.
    """

    data_shape: tuple[int, int, int]
    resize: int = -1
    rand_crop_prob: float = 0.0
    min_crop_scales: Any = 0.0
    max_crop_scales: Any = 1.0
    min_crop_aspect_ratios: Any = 1.0
    max_crop_aspect_ratios: Any = 1.0
    min_crop_overlaps: Any = 0.0
    max_crop_overlaps: Any = 1.0
    min_crop_sample_coverages: Any = 0.0
    max_crop_sample_coverages: Any = 1.0
    min_crop_object_coverages: Any = 0.0
    max_crop_object_coverages: Any = 1.0
    max_crop_trials: Any = 25
    num_crop_sampler: int = 1
    crop_emit_mode: str = "center"
    emit_overlap_thresh: float = 0.3
    rand_pad_prob: float = 0.0
    max_pad_scale: float = 1.0
    max_random_hue: int = 0
    random_hue_prob: float = 0.0
    max_random_saturation: int = 0
    random_saturation_prob: float = 0.0
    max_random_illumination: int = 0
    random_illumination_prob: float = 0.0
    max_random_contrast: float = 0.0
    random_contrast_prob: float = 0.0
    rand_mirror_prob: float = 0.0
    fill_value: int = 127
    inter_method: int = 1
    resize_mode: str = "force"

    def __post_init__(self) -> None:
        for name, known in (
            ("crop_emit_mode", ("center", "overlap")),
            ("resize_mode", ("force", "shrink", "fit")),
        ):
            if getattr(self, name) not in known:
                raise ArrayValueError(
                    f"[ImageDetRecordIter] {name} is {getattr(self, name)!r}; "
                    f"{', '.join(known)} are known"
                )
        for field in fields(self):
            if "_crop_" in field.name and isinstance(field.default, (int, float)):
                self._give_each_sampler(field.name)
        for low, high in zip(self.min_crop_scales, self.max_crop_scales, strict=True):
            if not 0 <= low < high <= 1:
                raise ArrayValueError(
                    f"[ImageDetRecordIter] crops from {low} to {high} of a picture; numbers from 0 "
                    "to 1 are needed, the first less than the second"
                )

    def _give_each_sampler(self, name: str) -> None:
        """Make a tuple with a number for each sampler."""
        if name in ("rand_crop_prob", "num_crop_sampler"):
            return
        given, count = getattr(self, name), max(self.num_crop_sampler, 1)
        numbers = tuple(onp.atleast_1d(given).tolist())
        if len(numbers) == 1:
            numbers *= count
        if len(numbers) != count:
            raise ArrayValueError(
                f"[ImageDetRecordIter] {name} has {len(numbers)} numbers for {count} crop samplers"
            )
        object.__setattr__(self, name, numbers)

    def picture(self, content: bytes, objects: Host, draw: random.Random) -> tuple[Host, Host]:
        """Return a picture, red first and at most as large as a batch has them, and its objects."""
        pixels = decoded(content, self.data_shape[0])
        if self.resize != -1:
            height, width, _ = pixels.shape
            shorter = min(height, width)
            size = (self.resize * width // shorter, self.resize * height // shorter)
            pixels = self._resized(pixels, size, draw)
        pixels = self._colours(pixels, draw)
        if self.rand_mirror_prob > 0 and draw.random() < self.rand_mirror_prob:
            pixels = pixels[:, ::-1]
            objects[:, 1], objects[:, 3] = 1 - objects[:, 3], 1 - objects[:, 1]
        if self.max_pad_scale > 1 and draw.random() < self.rand_pad_prob:
            pixels, objects = self._padded(pixels, objects, draw)
        if self.num_crop_sampler > 0 and draw.random() < self.rand_crop_prob:
            pixels, objects = self._cropped(pixels, objects, draw)
        return red_first(self._fitted(onp.ascontiguousarray(pixels), draw)), objects

    def _colours(self, pixels: Host, draw: random.Random) -> Host:
        def drawn(name: str) -> float:
            reach = draw.uniform(-1, 1) * getattr(self, f"max_random_{name}")
            return reach if draw.random() < getattr(self, f"random_{name}_prob") else 0.0

        shift = [int(drawn(name)) for name in ("hue", "illumination", "saturation")]
        contrast = drawn("contrast")
        if any(shift) and pixels.shape[2] == 3:
            pixels = shifted_colours(pixels, shift)
        if abs(contrast) > 1e-3:
            changed = onp.rint(pixels * onp.float32(1 + contrast))
            pixels = onp.clip(changed, 0, 255).astype("uint8")
        return pixels

    def _padded(self, pixels: Host, objects: Host, draw: random.Random) -> tuple[Host, Host]:
        """Put a picture anywhere into a larger one."""
        scale = draw.uniform(1, self.max_pad_scale)
        if scale < _LEAST_PAD:
            return pixels, objects
        x, y = draw.uniform(0, scale - 1), draw.uniform(0, scale - 1)
        height, width, channels = pixels.shape
        top, bottom = int(y * height), int((scale - y - 1) * height)
        left, right = int(x * width), int((scale - x - 1) * width)
        padded: Host = onp.zeros((top + height + bottom, left + width + right, channels), "uint8")
        padded[:, :, :3] = self.fill_value
        padded[top : top + height, left : left + width] = pixels
        return padded, _seen_from((-x, -y, scale - x, scale - y), objects)

    def _cropped(self, pixels: Host, objects: Host, draw: random.Random) -> tuple[Host, Host]:
        """Take the first part that one of the samplers draws and its limits allow."""
        height, width, _ = pixels.shape
        for sampler in draw.sample(range(self.num_crop_sampler), self.num_crop_sampler):
            for _ in range(int(self.max_crop_trials[sampler])):
                box = self._any_box(sampler, width / height, draw)
                kept = self._kept(sampler, box, objects)
                if kept is None:
                    continue
                left, top = int(box[0] * width), int(box[1] * height)
                wide = max(int((box[2] - box[0]) * width), 1)
                high = max(int((box[3] - box[1]) * height), 1)
                return pixels[top : top + high, left : left + wide], kept
        return pixels, objects

    def _any_box(self, sampler: int, ratio_of_picture: float, draw: random.Random) -> _Box:
        scale = draw.uniform(self.min_crop_scales[sampler], self.max_crop_scales[sampler]) + 1e-12
        least = max(self.min_crop_aspect_ratios[sampler] / ratio_of_picture, scale * scale)
        most = min(self.max_crop_aspect_ratios[sampler] / ratio_of_picture, 1 / (scale * scale))
        ratio = math.sqrt(draw.uniform(least, most))
        width, height = min(1.0, scale * ratio), min(1.0, scale / ratio)
        x, y = draw.uniform(0, 1 - width), draw.uniform(0, 1 - height)
        return x, y, x + width, y + height

    def _kept(self, sampler: int, box: _Box, objects: Host) -> Host | None:
        """Return the objects that a part shows, as seen from it; None if it is not allowed."""
        if not len(objects):
            return objects
        common, own = _common_areas(box, objects), _areas(objects[:, 1:5])
        whole = (box[2] - box[0]) * (box[3] - box[1])
        allowed = onp.ones(len(objects), bool)
        for name, shares in (
            ("overlaps", common / (whole + own - common)),
            ("sample_coverages", common / whole),
            ("object_coverages", common / own),
        ):
            low = getattr(self, f"min_crop_{name}")[sampler]
            high = getattr(self, f"max_crop_{name}")[sampler]
            if low > 0 or high < 1:
                allowed &= (shares >= low) & (shares <= high)
        if not allowed.any():
            return None
        if self.crop_emit_mode == "center":
            x, y = (objects[:, 1] + objects[:, 3]) / 2, (objects[:, 2] + objects[:, 4]) / 2
            stays = (box[0] <= x) & (x < box[2]) & (box[1] <= y) & (y < box[3])
        else:
            stays = common / own > self.emit_overlap_thresh
        return _seen_from(box, objects[stays]) if stays.any() else None

    def _fitted(self, pixels: Host, draw: random.Random) -> Host:
        _, height, width = self.data_shape
        rows, columns, _ = pixels.shape
        size = (width, height)
        if self.resize_mode != "force":
            ratio = min(
                onp.float32(height) / onp.float32(rows), onp.float32(width) / onp.float32(columns)
            )
            if self.resize_mode == "shrink" and ratio >= 1:
                return pixels
            size = (max(int(ratio * columns), 1), max(int(ratio * rows), 1))
        return self._resized(pixels, size, draw)

    def _resized(self, pixels: Host, size: tuple[int, int], draw: random.Random) -> Host:
        height, width, channels = pixels.shape
        method = pictures.interpolation(self.inter_method, (width, height), size, draw)
        return pictures.resize(pixels, *size, method).reshape(size[1], size[0], channels)


def _areas(boxes: Host) -> Host:
    areas: Host = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return areas


def _common_areas(box: _Box, objects: Host) -> Host:
    common = onp.column_stack(
        [onp.maximum(objects[:, 1:3], box[:2]), onp.minimum(objects[:, 3:5], box[2:])]
    )
    common[:, 2:] = onp.maximum(common[:, 2:], common[:, :2])
    return _areas(common)


def _seen_from(box: _Box, objects: Host) -> Host:
    """Return objects by their places in a part of the picture, or in a larger one."""
    seen = objects.copy()
    corner, sides = onp.array(box[:2]), onp.subtract(box[2:], box[:2])
    seen[:, 1:3] = onp.maximum(0, (objects[:, 1:3] - corner) / sides)
    seen[:, 3:5] = onp.minimum(1, (objects[:, 3:5] - corner) / sides)
    return seen


@dataclass(frozen=True)
class DetectionMaker(Maker):
    """Makes pictures with objects; their labels are filled up with a value."""

    pad_value: float

    def put(
        self, batch: Batch, place: int, labels: Any, content: bytes, draw: random.Random
    ) -> None:
        """Put a picture, changed, and its labels into their places."""
        header, objects = _split(onp.asarray(labels, "float32"))
        with onp.errstate(all="ignore"):  # boxes may be infinite
            pixels, objects = self.changes.picture(content, objects, draw)
        rows, columns, channels = pixels.shape
        batch.pixels[place, :rows, :columns] = pixels
        found = [channels, rows, columns, len(header) + objects.size]
        batch.labels[place] = self.pad_value
        batch.labels[place, : 4 + found[3]] = onp.concatenate([found, header, objects.ravel()])


def _split(labels: Host) -> tuple[Host, Host]:
    """Return the header, and the objects that have an area."""
    count = len(labels)
    # Which are compared as they are: one that is damaged may be nan.
    are_lengths = count >= 7 and 2 <= labels[0] <= count and 5 <= labels[1] <= count
    header, width = (int(one) for one in labels[:2]) if are_lengths else (0, 1)
    if not header or (count - header) % width:
        raise ArrayValueError(
            f"it has {count} labels, {labels[:2].tolist()} first; the length of a header of 2 at "
            "least, that of an object of 5 at least, and as many whole objects are needed"
        )
    objects = labels[header:].reshape(-1, width)
    is_there = (objects[:, 3] > objects[:, 1]) & (objects[:, 4] > objects[:, 2])
    return labels[:header], objects[is_there]


class ImageDetRecordIter(ImageRecordIter):
    """Gives batches of pictures and of the boxes around what they show, out of a file of records.

    Options are those of :class:`ImageRecordIter` and, for what is done to pictures, those of
    :class:`DetectionChanges`: mirrored, padded and cropped pictures take their boxes with them.
    ``resize_mode`` tells how a picture gets its size: ``force`` whatever its proportions, ``fit``
    as large as they allow, ``shrink`` only where it is too large; what a picture leaves free is 0.

    The labels of a picture are its channels, height and width, how many labels there are, these
    labels, and ``label_pad_value`` up to ``label_pad_width``, or to the most that a record has.
    """

    _CHANGES: ClassVar[type] = DetectionChanges

    def __init__(
        self,
        *args: Any,
        label_width: int = -1,
        label_pad_width: int = 0,
        label_pad_value: float = -1.0,
        std_r: float = 0.0,
        std_g: float = 0.0,
        std_b: float = 0.0,
        std_a: float = 0.0,
        max_random_contrast: float = 0.0,
        max_random_illumination: float = 0.0,
        **kwargs: Any,
    ) -> None:
        self._pad_width, self._pad_value = int(label_pad_width), label_pad_value
        # Those of the plain iterator are something else.
        self._colour_changes = {
            "max_random_contrast": max_random_contrast,
            "max_random_illumination": max_random_illumination,
        }
        deviations = {"std_r": std_r, "std_g": std_g, "std_b": std_b, "std_a": std_a}
        kwargs.update({name: one if one > 0 else 1.0 for name, one in deviations.items()})
        kwargs["label_width"] = label_width
        super().__init__(*args, **kwargs)

    def _maker_for(self, changes: Any, *options: Any) -> Maker:
        path, seed, given_width, _, labels, *_ = options
        maker = Maker(changes, path, seed, given_width, 0, labels, 0.0, 0.0)
        if labels is None:
            widest = self._most_labels(maker)
        else:
            widest = max(map(len, labels.values()), default=0)
        if 0 < self._pad_width < widest:
            raise ArrayValueError(
                f"[ImageDetRecordIter] label_pad_width is {self._pad_width}, and a record has "
                f"{widest} labels"
            )
        width = 4 + max(widest, self._pad_width)
        whole = replace(changes, **self._colour_changes)
        return DetectionMaker(
            whole, path, seed, given_width, width, labels, 0.0, 0.0, self._pad_value
        )

    def _most_labels(self, maker: Maker) -> int:
        """Look through the records for the one with the most labels."""
        most = 0
        for number, record in enumerate(self._records.round(0)):
            try:
                most = max(most, len(maker.labels_of(recordio.unpack(record)[0])))
            except ArrayValueError as error:
                raise FileError(
                    f"[ImageDetRecordIter] {maker.path!r}, record {number}: {error}"
                ) from error
        return most
