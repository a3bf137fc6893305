# SPDX-License-Identifier: Apache-2.0
"""Pictures with boxes: augmenters that change both, and batches of them.

A label is a NumPy array with a row for each object: its class, then left, top, right and bottom of
its box as shares of width and height, then whatever else there is.
"""

from __future__ import annotations

import json
import logging
import random
import warnings
from collections.abc import Iterator, Sequence
from math import sqrt
from numbers import Number
from typing import Any

import numpy as onp

from .. import io
from .._formats import pictures
from ..error import (
    ArgumentError,
    ArrayNotImplementedError,
    ArrayTypeError,
    ArrayValueError,
    MXNetError,
)
from .augmenters import (
    DEVIATION,
    MEAN,
    Augmenter,
    ForceResizeAug,
    ResizeAug,
    as_plain,
    by_channel,
    colour_augmenters,
    mirrored,
)
from .functions import copyMakeBorder, fixed_crop
from .iterator import ImageIter

__all__ = [
    "CreateDetAugmenter",
    "CreateMultiRandCropAugmenter",
    "DetAugmenter",
    "DetBorrowAug",
    "DetHorizontalFlipAug",
    "DetRandomCropAug",
    "DetRandomPadAug",
    "DetRandomSelectAug",
    "ImageDetIter",
]

Host = onp.ndarray[Any, Any]
#: Left, top, width and height.
Box = tuple[int, int, int, int]
Range = float | Sequence[float]


class DetAugmenter:
    """The base class of what is done to a picture and its label."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = as_plain(kwargs)

    def dumps(self) -> Any:
        """Return name and arguments as a text."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: Any, label: Host) -> tuple[Any, Host]:
        """Return the picture and the label that become of those given."""
        raise ArrayNotImplementedError(f"{type(self).__name__} must define __call__")


class DetBorrowAug(DetAugmenter):
    """Does to a picture what another augmenter does, which leaves boxes where they are."""

    def __init__(self, augmenter: Augmenter) -> None:
        if not isinstance(augmenter, Augmenter):
            raise ArrayTypeError("Borrowing from invalid Augmenter")
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def dumps(self) -> Any:
        """Return the name, and what the other says."""
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src: Any, label: Host) -> tuple[Any, Host]:
        """Change the picture."""
        return self.augmenter(src), label


class DetRandomSelectAug(DetAugmenter):
    """Does what one of several does, or nothing with probability ``skip_prob``."""

    def __init__(self, aug_list: Any, skip_prob: float = 0) -> None:
        super().__init__(skip_prob=skip_prob)
        several = aug_list if isinstance(aug_list, (list, tuple)) else [aug_list]
        if not all(isinstance(one, DetAugmenter) for one in several):
            raise ArrayValueError("Allow DetAugmenter in list only")
        self.aug_list = list(several)
        self.skip_prob = skip_prob if several else 1

    def dumps(self) -> Any:
        """Return the name, and what the others say."""
        return [type(self).__name__.lower(), [one.dumps() for one in self.aug_list]]

    def __call__(self, src: Any, label: Host) -> tuple[Any, Host]:
        """Do one of them, or nothing."""
        if random.random() < self.skip_prob:
            return src, label
        random.shuffle(self.aug_list)
        return self.aug_list[0](src, label)  # type: ignore[no-any-return]


class DetHorizontalFlipAug(DetAugmenter):
    """Mirrors picture and boxes from left to right, with probability ``p``."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: Any, label: Host) -> tuple[Any, Host]:
        """Mirror both, or neither; the label in place."""
        if random.random() < self.p:
            src = mirrored(src)
            label[:, (1, 3)] = 1.0 - label[:, (3, 1)]
        return src, label


class _Ranged(DetAugmenter):
    """Draws a box of an area and proportions that lie in ranges."""

    def __init__(self, least: float, **kwargs: Any) -> None:
        name = type(self).__name__
        ratios = kwargs["aspect_ratio_range"] = self._as_range("aspect_ratio_range", kwargs)
        areas = kwargs["area_range"] = self._as_range("area_range", kwargs)
        super().__init__(**kwargs)
        self.aspect_ratio_range = ratios
        self.area_range = areas
        self.enabled = False
        if areas[1] <= least or areas[0] > areas[1]:
            warnings.warn(f"Skip {name} due to invalid area_range: {areas}", stacklevel=3)
        elif ratios[0] <= 0 or ratios[0] > ratios[1]:
            warnings.warn(f"Skip {name} due to invalid aspect_ratio_range: {ratios}", stacklevel=3)
        else:
            self.enabled = True

    def _as_range(self, what: str, arguments: dict[str, Any]) -> Sequence[float]:
        given = arguments[what]
        if isinstance(given, (tuple, list)):
            return given
        if not isinstance(given, Number):
            raise ArgumentError(f"{what} is {given!r}; a number or two of them are needed")
        logging.info("Using fixed %s: %s in %s", what, given, type(self).__name__)
        return (given, given)  # type: ignore[return-value]


def _areas(boxes: Host) -> Host:
    """Return the areas of boxes: left, top, right and bottom in their first columns."""
    heights = onp.maximum(0, boxes[:, 3] - boxes[:, 1])
    widths = onp.maximum(0, boxes[:, 2] - boxes[:, 0])
    return heights * widths  # type: ignore[no-any-return]


class DetRandomCropAug(_Ranged):
    """Takes any part of a picture that shows enough of some object.

    Parts have an area in ``area_range``, as shares of the picture, and width by height in
    ``aspect_ratio_range``. Every object that is seen at all must be seen to more than
    ``min_object_covered``; those seen to no more than ``min_eject_coverage`` are left out of the
    label. After ``max_attempts`` draws without success the picture stays as it is.
    """

    def __init__(
        self,
        min_object_covered: float = 0.1,
        aspect_ratio_range: Range = (0.75, 1.33),
        area_range: Range = (0.05, 1.0),
        min_eject_coverage: float = 0.3,
        max_attempts: int = 50,
    ) -> None:
        super().__init__(
            0,
            min_object_covered=min_object_covered,
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            min_eject_coverage=min_eject_coverage,
            max_attempts=max_attempts,
        )
        self.min_object_covered = min_object_covered
        self.min_eject_coverage = min_eject_coverage
        self.max_attempts = max_attempts

    def __call__(self, src: Any, label: Host) -> tuple[Any, Host]:
        """Take a part of the picture, and the label of it."""
        height, width, _ = src.shape
        if self.enabled and height > 0 and width > 0:
            for _ in range(self.max_attempts):
                box = self._drawn(height, width)
                if box is None or not self._shows_enough(label, box, height, width):
                    continue
                inside = self._label_inside(label, box, height, width)
                if inside is not None:
                    return fixed_crop(src, *box, None), inside
        return src, label

    def _drawn(self, height: int, width: int) -> Box | None:
        """Draw a box; None if it does not fit."""
        least, most = (share * height * width for share in self.area_range)
        ratio = random.uniform(*self.aspect_ratio_range)
        if ratio <= 0:
            return None
        h = round(sqrt(least / ratio))
        highest = round(sqrt(most / ratio))
        if round(highest * ratio) > width:
            highest = int((width + 0.4999999) / ratio)  # round(highest * ratio) is the width then
        highest = min(highest, height)
        h = min(h, highest)
        if h < highest:
            h = random.randint(h, highest)
        w = round(h * ratio)
        # Rounding may have led out of the range.
        if w * h < least:
            h += 1
            w = round(h * ratio)
        if w * h > most:
            h -= 1
            w = round(h * ratio)
        if not (least <= w * h <= most and 0 <= w <= width and 0 <= h <= height):
            return None
        y = random.randint(0, max(0, height - h))
        x = random.randint(0, max(0, width - w))
        return x, y, w, h

    def _shows_enough(self, label: Host, box: Box, height: int, width: int) -> bool:
        """Tell whether every object that is seen in the box is seen well enough."""
        x, y, w, h = box
        if w * h < 2:
            return False
        areas = _areas(label[:, 1:])
        counted = areas * width * height > 2
        seen = label[counted, 1:5].copy()
        seen[:, :2] = onp.maximum(seen[:, :2], (x / width, y / height))
        seen[:, 2:] = onp.minimum(seen[:, 2:], ((x + w) / width, (y + h) / height))
        shares = _areas(seen) / areas[counted]
        shares = shares[shares > 0]
        return bool(shares.size > 0 and shares.min() > self.min_object_covered)

    def _label_inside(self, label: Host, box: Box, height: int, width: int) -> Host | None:
        """Return the label of the part in a box, None if nothing is left."""
        x, y, w, h = box
        wide, high = w / width, h / height
        inside = label.copy()
        inside[:, (1, 3)] -= x / width
        inside[:, (2, 4)] -= y / height
        inside[:, (1, 3)] /= wide
        inside[:, (2, 4)] /= high
        inside[:, 1:5] = onp.clip(inside[:, 1:5], 0, 1)
        with onp.errstate(divide="ignore", invalid="ignore"):  # boxes without an area
            shares = _areas(inside[:, 1:]) * wide * high / _areas(label[:, 1:])
        kept = (inside[:, 3] > inside[:, 1]) & (inside[:, 4] > inside[:, 2])
        kept &= shares > self.min_eject_coverage
        return inside[kept] if kept.any() else None


class DetRandomPadAug(_Ranged):
    """Puts a picture somewhere into a larger one of a colour, ``pad_val``.

    The larger one has an area in ``area_range``, in areas of the picture, and width by height in
    ``aspect_ratio_range``. After ``max_attempts`` draws without success the picture stays as it is.
    """

    def __init__(
        self,
        aspect_ratio_range: Range = (0.75, 1.33),
        area_range: Range = (1.0, 3.0),
        max_attempts: int = 50,
        pad_val: Range = (128, 128, 128),
    ) -> None:
        color = pad_val if isinstance(pad_val, (list, tuple)) else (pad_val,) * 3
        super().__init__(
            1.0,
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            max_attempts=max_attempts,
            pad_val=color,
        )
        self.pad_val = color
        self.max_attempts = max_attempts

    def __call__(self, src: Any, label: Host) -> tuple[Any, Host]:
        """Enlarge the picture, and move the boxes."""
        height, width, _ = src.shape
        if self.enabled and height > 0 and width > 0:
            for _ in range(self.max_attempts):
                box = self._drawn(height, width)
                if box is not None:
                    x, y, w, h = box
                    moved = label.copy()
                    moved[:, (1, 3)] = (moved[:, (1, 3)] * width + x) / w
                    moved[:, (2, 4)] = (moved[:, (2, 4)] * height + y) / h
                    margins = (y, h - y - height, x, w - x - width)
                    return copyMakeBorder(src, *margins, values=self.pad_val), moved
        return src, label

    def _drawn(self, height: int, width: int) -> Box | None:
        """Draw where the picture stands in which size; None if that is hardly larger."""
        ratio = random.uniform(*self.aspect_ratio_range)
        if ratio <= 0:
            return None
        h, highest = (round(sqrt(share * height * width / ratio)) for share in self.area_range)
        if round(h * ratio) < width:
            h = int((width + 0.499999) / ratio)
        h = min(max(h, height), highest)
        if h < highest:
            h = random.randint(h, highest)
        w = round(h * ratio)
        if h - height < 2 or w - width < 2:
            return None
        y = random.randint(0, max(0, h - height))
        x = random.randint(0, max(0, w - width))
        return x, y, w, h


def CreateMultiRandCropAugmenter(  # noqa: N802 - as MXNet calls it
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 1.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    skip_prob: float = 0,
) -> DetRandomSelectAug:
    """Return an augmenter that chooses among several :class:`DetRandomCropAug`.

    Arguments that are lists have one value for each; others are the same for all.
    """
    given = {
        "min_object_covered": min_object_covered,
        "aspect_ratio_range": aspect_ratio_range,
        "area_range": area_range,
        "min_eject_coverage": min_eject_coverage,
        "max_attempts": max_attempts,
    }
    lists = {name: one if isinstance(one, list) else [one] for name, one in given.items()}
    count = max(map(len, lists.values()))
    for name, values in lists.items():
        if len(values) not in (1, count):
            raise ArgumentError(
                f"[CreateMultiRandCropAugmenter] {name} has {len(values)} values, others {count}"
            )
    crops = [
        DetRandomCropAug(**{name: values[number % len(values)] for name, values in lists.items()})
        for number in range(count)
    ]
    return DetRandomSelectAug(crops, skip_prob=skip_prob)


def CreateDetAugmenter(  # noqa: N802 - as MXNet calls it
    data_shape: Sequence[int],
    resize: int = 0,
    rand_crop: float = 0,
    rand_pad: float = 0,
    rand_gray: float = 0,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    pca_noise: float = 0,
    hue: float = 0,
    inter_method: int = 2,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 3.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    pad_val: Any = (127, 127, 127),
) -> list[DetAugmenter]:
    """Return a list of what is done to pictures with boxes, in the shape ``data_shape`` at the end.

    ``rand_crop`` and ``rand_pad`` are how probable a crop, and a larger picture around it, are. The
    others are those of :func:`CreateAugmenter`, :class:`DetRandomCropAug` and
    :class:`DetRandomPadAug`.
    """
    found: list[DetAugmenter] = []
    if resize > 0:
        found.append(DetBorrowAug(ResizeAug(resize, inter_method)))
    if rand_crop > 0:
        found.append(
            CreateMultiRandCropAugmenter(
                min_object_covered,
                aspect_ratio_range,
                area_range,
                min_eject_coverage,
                max_attempts,
                skip_prob=1 - rand_crop,
            )
        )
    if rand_mirror > 0:
        found.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        pad = DetRandomPadAug(aspect_ratio_range, (1.0, area_range[1]), max_attempts, pad_val)
        found.append(DetRandomSelectAug([pad], 1 - rand_pad))
    borrowed: list[Augmenter] = [ForceResizeAug((data_shape[2], data_shape[1]), inter_method)]
    borrowed += colour_augmenters(
        brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std
    )
    return found + [DetBorrowAug(one) for one in borrowed]


class ImageDetIter(ImageIter):
    """Gives batches of pictures with boxes, both changed by augmenters on their way.

    Labels in files are: how many numbers come before the first object, how many each object has
    (five at least), whatever else, then the objects. In batches each picture has as many rows as
    the most objects that a picture has; rows behind its own objects are -1.
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
        path_imgrec: Any = None,
        path_imglist: Any = None,
        path_root: Any = None,
        path_imgidx: Any = None,
        shuffle: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: Any = None,
        imglist: Any = None,
        data_name: str = "data",
        label_name: str = "label",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            batch_size=batch_size,
            data_shape=data_shape,
            path_imgrec=path_imgrec,
            path_imglist=path_imglist,
            path_root=path_root,
            path_imgidx=path_imgidx,
            shuffle=shuffle,
            part_index=part_index,
            num_parts=num_parts,
            aug_list=[],
            imglist=imglist,
            data_name=data_name,
            label_name=label_name,
            last_batch_handle=last_batch_handle,
        )
        self.auglist = CreateDetAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.label_shape = self._estimate_label_shape()
        self.provide_label = [io.DataDesc(label_name, (batch_size, *self.label_shape))]

    def _estimate_label_shape(self) -> tuple[int, int]:
        """Return the most objects of a picture, and how many numbers each has."""
        shapes = []
        self.reset()
        try:
            while True:
                shapes.append(self._parse_label(self.next_sample()[0]).shape)
        except StopIteration:
            pass
        self.reset()
        if not shapes:
            raise ArrayValueError("[ImageDetIter] there are no pictures")
        return max(count for count, _ in shapes), shapes[-1][1]

    def _parse_label(self, label: Any) -> Host:
        """Return the objects of a label as it stands in a file; those without an area are gone."""
        host = label.asnumpy() if hasattr(label, "asnumpy") else onp.asarray(label)
        raw = host.ravel()
        if raw.size < 7:
            raise MXNetError(f"Label shape is invalid: {raw.shape}")
        if not onp.isfinite(raw[:2]).all():
            raise MXNetError(f"A label begins with {raw[0]} and {raw[1]}; widths are needed")
        before, width = int(raw[0]), int(raw[1])
        if before < 2 or width < 5 or before > raw.size or (raw.size - before) % width:
            raise MXNetError(
                f"Label shape {raw.shape} inconsistent with annotation width {width} behind "
                f"{before} numbers; a width of 5 at least behind 2 numbers at least is needed"
            )
        objects = raw[before:].reshape(-1, width)
        kept = (objects[:, 3] > objects[:, 1]) & (objects[:, 4] > objects[:, 2])
        if not kept.any():
            raise MXNetError("Encounter sample with no valid label.")
        return objects[kept]

    def _check_valid_label(self, label: Host) -> None:
        """Refuse a label without any object."""
        if label.ndim != 2 or label.shape[1] < 5:
            raise MXNetError(f"Label with shape (1+, 5+) required, {label} received.")
        real = (label[:, 0] >= 0) & (label[:, 3] > label[:, 1]) & (label[:, 4] > label[:, 2])
        if not real.any():
            raise MXNetError("Invalid label occurs.")

    def reshape(
        self,
        data_shape: Sequence[int] | None = None,
        label_shape: Sequence[int] | None = None,
    ) -> None:
        """Give pictures, or labels, another shape from the next batch on."""
        if data_shape is not None:
            self.check_data_shape(data_shape)
            name = self.provide_data[0].name
            self.provide_data = [io.DataDesc(name, (self.batch_size, *data_shape))]
            self.data_shape = tuple(data_shape)
        if label_shape is not None:
            self.check_label_shape(label_shape)
            name = self.provide_label[0].name
            self.provide_label = [io.DataDesc(name, (self.batch_size, *label_shape))]
            self.label_shape = (label_shape[0], label_shape[1])

    def check_label_shape(self, label_shape: Sequence[int]) -> None:
        """Refuse a shape that labels do not fit into."""
        if len(label_shape) != 2:
            raise ArrayValueError("label_shape should have length 2")
        count, width = self.label_shape
        if label_shape[0] < count:
            raise ArrayValueError(
                f"Attempts to reduce label count from {count} to {label_shape[0]}, not allowed."
            )
        if label_shape[1] != width:
            raise ArrayValueError(
                f"label_shape object width inconsistent: {width} vs {label_shape[1]}."
            )

    def _new_labels(self) -> Any:
        labels = super()._new_labels()
        labels[:] = -1
        return labels

    def _fill(self, data: Any, labels: Any, begin: int) -> int:
        count = begin
        try:
            while count < self.batch_size:
                sample = self._next_objects()
                if sample is None:
                    continue
                try:
                    picture, objects = self.augmentation_transform(*sample)
                    self._check_valid_label(objects)
                except RuntimeError as error:
                    logging.debug("Invalid image, skipping:  %s", error)
                    continue
                data[count] = self.postprocess_data(picture)
                rows = onp.full(self.label_shape, -1, "float32")
                rows[: len(objects)] = objects
                labels[count] = rows
                count += 1
        except StopIteration:
            if count == 0:
                raise
        return count

    def _next_objects(self) -> tuple[Any, Host] | None:
        """Return the next picture with its objects, None if its label is no good."""
        label, content = self.next_sample()
        picture = self.imdecode(content)
        try:
            self.check_valid_image([picture])
            return picture, self._parse_label(label)
        except RuntimeError as error:
            logging.debug("Invalid image, skipping:  %s", error)
            return None

    def augmentation_transform(self, data: Any, label: Any = None) -> Any:
        """Return what augmenters make of a picture and its label."""
        for augmenter in self.auglist:
            data, label = augmenter(data, label)
        return data, label

    def draw_next(
        self,
        color: Sequence[float] | None = None,
        thickness: int = 2,
        mean: Any = None,
        std: Any = None,
        clip: bool = True,
        waitKey: int | None = None,  # noqa: N803 - as MXNet calls it
        window_name: str = "draw_next",
        id2labels: dict[int, str] | None = None,
    ) -> Iterator[Host]:
        """Give the next pictures one by one with their boxes drawn, as NumPy arrays of bytes.

        Blue comes first in them; ``color`` is red, green and blue, drawn by NumPy for each box
        without it. ``mean`` and ``std`` undo what was done to colours, ``id2labels`` names classes.
        With ``waitKey``, milliseconds, pictures are shown in a window.
        """
        cv2 = pictures.opencv()
        deviation, shift = by_channel("std", std, DEVIATION), by_channel("mean", mean, MEAN)
        while True:
            try:
                sample = self._next_objects()
            except StopIteration:
                return
            if sample is None:
                continue
            picture, label = self.augmentation_transform(*sample)
            host = picture.asnumpy().astype("float64")
            if deviation is not None:
                host *= onp.asarray(deviation)
            if shift is not None:
                host += onp.asarray(shift)
            host = host[:, :, ::-1]
            drawn = onp.ascontiguousarray(onp.clip(host, 0, 255) if clip else host).astype("uint8")
            height, width, _ = drawn.shape
            for one in label:
                left, top, right, bottom = (one[1:5] * (width, height, width, height)).astype(int)
                if left < 0:
                    continue
                shade = onp.random.rand(3) * 255 if not color else color[::-1]
                corners = (int(left), int(top)), (int(right), int(bottom))
                cv2.rectangle(drawn, *corners, tuple(map(float, shade)), thickness)
                if id2labels is not None and int(one[0]) in id2labels:
                    text, font = str(id2labels[int(one[0])]), cv2.FONT_HERSHEY_SIMPLEX
                    below = cv2.getTextSize(text, font, 0.5, 2)[0][1] + 5
                    place = (int(left) + 5, int(top) + below)
                    cv2.putText(drawn, text, place, font, 0.5, (255, 255, 255), 2)
            if waitKey is not None:
                cv2.imshow(window_name, drawn)
                cv2.waitKey(waitKey)
            yield drawn

    def sync_label_shape(self, it: ImageDetIter, verbose: bool = False) -> ImageDetIter:
        """Give labels of this iterator and another room for as many objects; return the other."""
        if not isinstance(it, ImageDetIter):
            raise ArgumentError("Synchronize with invalid iterator.")
        (ours, width), (theirs, other) = self.label_shape, it.label_shape
        if width != other:
            raise ArgumentError(f"object width mismatch: {width} and {other}")
        most = max(ours, theirs)
        for one in (self, it):
            if one.label_shape[0] < most:
                one.reshape(None, (most, width))
        if verbose and ours != theirs:
            logging.info("Resized label_shape to (%d, %d).", most, width)
        return it
