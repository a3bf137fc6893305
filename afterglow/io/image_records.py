# SPDX-License-Identifier: Apache-2.0
"""Batches of pictures out of files of records, which threads decode ahead.

Threads turn records into bytes of pictures in the size of a batch; whatever else is done to numbers
is queued for the engine, like all other calls.
"""

from __future__ import annotations

import math
import os
import random
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, fields
from itertools import count
from typing import Any, ClassVar, NamedTuple

import numpy as onp

from .. import ndarray as nd
from .. import recordio
from .._formats import picture_lists, pictures
from .._package.background import Background
from .._package.keywords import unknown_keyword
from ..error import ArgumentError, ArrayValueError, FileError, MXNetError
from .batches import DataBatch, DataDesc, MXDataIter

__all__ = [
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordIter_v1",
    "ImageRecordUInt8Iter",
    "ImageRecordUInt8Iter_v1",
]

Host = onp.ndarray[Any, Any]

#: Of the colours of ImageNet's pictures, red first: variances along the principal components.
_VARIANCES = onp.array([55.46, 4.794, 1.148])
_COMPONENTS = onp.array(
    [[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]
)
#: The greatest hue, lightness and saturation of OpenCV.
_MOST_HLS = onp.array([180, 255, 255])


# --- one picture ---


def decoded(content: bytes, channels: int) -> Host:
    """Return a picture of (height, width, channels), blue first."""
    pixels = pictures.decode(content, {1: 0, 3: 1, 4: -1}[channels], "the picture")
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    if pixels.shape[2] != channels:
        raise FileError(f"Expected {channels} channels, got {pixels.shape[2]}")
    return pixels


def red_first(pixels: Host) -> Host:
    """Return a picture whose first colour was blue."""
    channels = pixels.shape[2]
    if channels == 1:
        return pixels
    cv2 = pictures.opencv()
    turned: Host = cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB if channels == 3 else cv2.COLOR_BGRA2RGBA)
    return turned


def shifted_colours(pixels: Host, shift: Sequence[int]) -> Host:
    """Return a picture with other hues, lightnesses and saturations."""
    cv2 = pictures.opencv()
    changed = cv2.cvtColor(pixels, cv2.COLOR_BGR2HLS).astype("int32") + shift
    changed = onp.clip(changed, 0, _MOST_HLS).astype("uint8")
    shifted: Host = cv2.cvtColor(changed, cv2.COLOR_HLS2BGR)
    return shifted


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What is done to pictures; the names are MXNet's."""

    data_shape: tuple[int, int, int]
    resize: int = -1
    rand_crop: bool = False
    random_resized_crop: bool = False
    max_rotate_angle: int = 0
    max_aspect_ratio: float = 0.0
    min_aspect_ratio: float | None = None
    max_shear_ratio: float = 0.0
    max_crop_size: int = -1
    min_crop_size: int = -1
    max_random_scale: float = 1.0
    min_random_scale: float = 1.0
    max_random_area: float = 1.0
    min_random_area: float = 1.0
    max_img_size: float = 1e10
    min_img_size: float = 0.0
    brightness: float = 0.0
    contrast: float = 0.0
    saturation: float = 0.0
    pca_noise: float = 0.0
    random_h: int = 0
    random_s: int = 0
    random_l: int = 0
    rotate: int = -1
    fill_value: int = 255
    inter_method: int = 1
    pad: int = 0
    mirror: bool = False
    rand_mirror: bool = False

    def picture(self, content: bytes, draw: random.Random) -> Host:
        """Return a decoded picture of (height, width, channels), red first."""
        pixels = decoded(content, self.data_shape[0])
        pixels = self._colours(self._part(pixels, draw), draw)
        if self.mirror or (self.rand_mirror and draw.random() < 0.5):
            pixels = pictures.opencv().flip(pixels, 1)
        return red_first(pixels.reshape(self.data_shape[1:] + self.data_shape[:1]))

    def _part(self, pixels: Host, draw: random.Random) -> Host:
        """Return the part of a picture that is seen, in its size."""
        if self.resize > 0:
            height, width, _ = pixels.shape
            shorter = min(height, width)
            size = (width * self.resize // shorter, height * self.resize // shorter)
            pixels = self._resized(pixels, size, draw)
        if self.random_resized_crop:
            return self._any_part(pixels, draw)
        if self._is_warped():
            pixels = self._warped(pixels, draw)
        if self.pad > 0:
            margins = ((self.pad, self.pad), (self.pad, self.pad), (0, 0))
            pixels = onp.pad(pixels, margins, constant_values=self.fill_value)
        _, height, width = self.data_shape
        if self.max_crop_size != -1 or self.min_crop_size != -1:
            if not self.min_crop_size <= self.max_crop_size <= min(pixels.shape[:2]):
                raise ArrayValueError(
                    f"input image size smaller than max_crop_size: {pixels.shape}, crops of "
                    f"{self.min_crop_size} to {self.max_crop_size}"
                )
            side = draw.randint(self.min_crop_size, self.max_crop_size)
            return self._resized(self._crop(pixels, side, side, draw), (width, height), draw)
        if pixels.shape[0] < height:
            wide = int(onp.float32(height) / onp.float32(pixels.shape[0]) * pixels.shape[1])
            pixels = self._resized(pixels, (wide, height), draw)
        if pixels.shape[1] < width:
            high = int(onp.float32(width) / onp.float32(pixels.shape[1]) * pixels.shape[0])
            pixels = self._resized(pixels, (width, high), draw)
        return self._crop(pixels, height, width, draw)

    def _resized(self, pixels: Host, size: tuple[int, int], draw: random.Random) -> Host:
        height, width, channels = pixels.shape
        method = pictures.interpolation(self.inter_method, (width, height), size, draw)
        return pictures.resize(pixels, *size, method).reshape(size[1], size[0], channels)

    def _crop(self, pixels: Host, height: int, width: int, draw: random.Random) -> Host:
        rooms = (pixels.shape[0] - height, pixels.shape[1] - width)
        y, x = (draw.randint(0, room) if self.rand_crop else room // 2 for room in rooms)
        return pixels[y : y + height, x : x + width]

    def _ratio(self, draw: random.Random) -> float:
        """Draw what width by height is."""
        least, most = self.min_aspect_ratio, self.max_aspect_ratio
        if least is None:
            least, most = 1 - most, 1 + most
        return draw.uniform(least, most)

    def _any_part(self, pixels: Host, draw: random.Random) -> Host:
        """Return a part of any area and proportions; the middle if ten draws do not fit."""
        height, width, _ = pixels.shape
        size = (self.data_shape[2], self.data_shape[1])
        for _ in range(10):
            area = draw.uniform(self.min_random_area, self.max_random_area) * height * width
            ratio = self._ratio(draw)
            w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < w <= width and 0 < h <= height:
                y, x = draw.randint(0, height - h), draw.randint(0, width - w)
                return self._resized(pixels[y : y + h, x : x + w], size, draw)
        w, h = min(width, height * size[0] // size[1]), min(height, width * size[1] // size[0])
        y, x = (height - h) // 2, (width - w) // 2
        return self._resized(pixels[y : y + h, x : x + w], size, draw)

    def _is_warped(self) -> bool:
        return (
            self.max_rotate_angle > 0
            or self.rotate > 0
            or self.max_shear_ratio > 0
            or (self.min_random_scale, self.max_random_scale) != (1, 1)
            or (self.min_img_size, self.max_img_size) != (0, 1e10)
            or self.min_aspect_ratio is not None
            or self.max_aspect_ratio != 0
        )

    def _warped(self, pixels: Host, draw: random.Random) -> Host:
        """Return a picture that is turned, sheared, scaled and stretched around its middle."""
        height, width, channels = pixels.shape
        shear = draw.uniform(-self.max_shear_ratio, self.max_shear_ratio)
        degrees = draw.randint(-self.max_rotate_angle, self.max_rotate_angle)
        angle = math.radians(self.rotate if self.rotate > 0 else degrees)
        scale = draw.uniform(self.min_random_scale, self.max_random_scale)
        ratio = self._ratio(draw)
        high = 2 * scale / (1 + ratio)
        wide = ratio * high
        cosine, sine = math.cos(angle), math.sin(angle)
        turn = onp.array(
            [
                [high * cosine - shear * sine * wide, high * sine + shear * cosine * wide],
                [-sine * wide, cosine * wide],
            ]
        )
        sides = onp.clip(
            (scale * width, scale * height), self.min_img_size, max(self.max_img_size, 1)
        )
        shift = (sides - turn @ (width, height)) / 2
        method = pictures.interpolation(
            self.inter_method, (width, height), [*map(int, sides)], draw
        )
        warped: Host = pictures.opencv().warpAffine(
            pixels,
            onp.column_stack([turn, shift]).astype("float32"),
            (int(sides[0]), int(sides[1])),
            flags=method,
            borderValue=(self.fill_value,) * 4,
        )
        return warped.reshape(*warped.shape[:2], channels)

    def _colours(self, pixels: Host, draw: random.Random) -> Host:
        """Return a picture in other colours."""
        cv2 = pictures.opencv()
        jitters = [
            name for name in ("brightness", "contrast", "saturation") if getattr(self, name) > 0
        ]
        draw.shuffle(jitters)
        for name in jitters:
            factor = 1 + draw.uniform(-getattr(self, name), getattr(self, name))
            gray: Any = 0.0
            if name != "brightness":
                gray = pixels if pixels.shape[2] == 1 else cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
                gray = gray.mean() if name == "contrast" else gray.reshape(*pixels.shape[:2], 1)
            pixels = _as_bytes(pixels * factor + gray * (1 - factor))
        if pixels.shape[2] != 3:
            return pixels
        if self.pca_noise > 0:
            alpha = [draw.gauss(0, self.pca_noise) for _ in range(3)]
            pixels = _as_bytes(pixels + (_COMPONENTS @ (alpha * _VARIANCES))[::-1])
        if self.random_h or self.random_s or self.random_l:
            most = (self.random_h, self.random_l, self.random_s)
            shift = [draw.randint(-one, one) for one in most]
            pixels = shifted_colours(pixels, shift)
        return pixels


def _as_bytes(pixels: Host) -> Host:
    return onp.clip(onp.rint(pixels), 0, 255).astype("uint8")


# --- batches ---


class Sample(NamedTuple):
    """A record, with its number in a round and that of the round; or why there is none."""

    round: int
    number: int
    record: bytes | MXNetError


class Batch(NamedTuple):
    """A batch that is being made: what threads fill, and what is left to them."""

    pixels: Host
    labels: Host
    jitters: Host
    numbers: Host
    parts: list[Future[None]]
    round: int
    pad: int
    is_last: bool

    def wait(self) -> None:
        """Wait for the threads, and raise what went wrong first."""
        while self.parts:
            # No name for it: an error that it holds would hold it by its traceback.
            self.parts.pop(0).result()


class Records:
    """The records of a file, round after round."""

    def __init__(
        self, path: Any, index: Any, shuffle: bool, seed: int, part_index: int, num_parts: int
    ) -> None:
        self.path = os.fspath(path)
        self._seed = seed if shuffle else None
        self._keys: list[Any] | None = None
        if index or shuffle or num_parts > 1:
            self._indexed = (
                recordio.MXIndexedRecordIO(index, path, "r")
                if index
                else recordio.ScannedRecordIO(path)
            )
            size = len(self._indexed.keys)
            part = slice(size * part_index // num_parts, size * (part_index + 1) // num_parts)
            self._keys = self._indexed.keys[part]
        else:
            self._reader = recordio.MXRecordIO(path, "r")

    def samples(self, first: int) -> Iterator[Sample]:
        """Give all samples of all rounds from one on; behind what cannot be read, errors."""
        for number in count(first):
            index = 0
            try:
                for record in self.round(number):
                    yield Sample(number, index, record)
                    index += 1
                if index == 0:
                    raise FileError(f"[ImageRecordIter] {self.path!r} has no records")
            except MXNetError as error:
                failed = Sample(number, index, error)
                break
        while True:
            yield failed

    def round(self, number: int) -> Iterator[bytes]:
        """Give all records once."""
        if self._keys is None:
            self._reader.reset()
            yield from iter(self._reader.read, None)
            return
        order = list(self._keys)
        if self._seed is not None:
            random.Random(f"{self._seed} {number}").shuffle(order)
        for key in order:
            record = self._indexed.read_idx(key)
            if record is None:
                raise FileError(f"[ImageRecordIter] {self.path!r} ends before record {key!r}")
            yield record


@dataclass(frozen=True)
class Maker:
    """Turns records into the pictures and labels of batches, on threads."""

    changes: Any  #: a Changes, or what else has a data_shape and changes pictures
    path: str
    seed: int
    given_width: int  #: how many labels a record has; others have any number
    label_width: int  #: how many a batch has for each picture
    labels: dict[int, list[float]] | None
    contrast: float
    illumination: float

    def fill(self, batch: Batch, place: int, sample: Sample) -> None:
        """Put a picture and its labels into their places."""
        if isinstance(sample.record, MXNetError):
            raise sample.record
        try:
            header, content = recordio.unpack(sample.record)
            batch.numbers[place] = header.id
            labels = self.labels_of(header)
            draw = random.Random(f"{self.seed} {sample.round} {sample.number}")
            self.put(batch, place, labels, content, draw)
        except MXNetError as error:
            raise FileError(
                f"[ImageRecordIter] {self.path!r}, record {sample.number} of round "
                f"{sample.round}: {error}"
            ) from error

    def put(
        self, batch: Batch, place: int, labels: Any, content: bytes, draw: random.Random
    ) -> None:
        """Put a picture, changed, and its labels into their places."""
        batch.labels[place] = labels
        batch.pixels[place] = self.changes.picture(content, draw)
        batch.jitters[place] = (
            1 + draw.uniform(-self.contrast, self.contrast),
            draw.uniform(-self.illumination, self.illumination),
        )

    def labels_of(self, header: recordio.HEADER) -> Any:
        """Return the labels of a record, in its header or in the list."""
        labels: Any = onp.atleast_1d(header.label)
        if self.labels is not None:
            if header.id not in self.labels:
                raise ArrayValueError(f"fail to find imagelabel for id {header.id}")
            labels = self.labels[header.id]
        if self.given_width > 0 and len(labels) != self.given_width:
            raise ArrayValueError(
                f"it has {len(labels)} labels, and label_width is {self.given_width}"
            )
        return labels


class ImageRecordIter(MXDataIter):
    """Gives batches of pictures out of a file of records, decoded by threads while Python goes on.

    ``path_imgrec`` is the file, ``data_shape`` (channels, height, width) the shape of a picture and
    ``batch_size`` how many a batch has. ``path_imgidx`` is its index; without it the file is looked
    through first where pictures are shuffled or parted. ``path_imglist`` has other labels.

    Pictures are changed by draws that depend on ``seed`` and the number of the record, not on
    threads: first ``resize`` for the shorter side, then turns and stretches, ``pad``, and a crop of
    the middle, with ``rand_crop`` of any part, with ``random_resized_crop`` of any part of any
    size. Pictures that are too small are enlarged. Then means (``mean_r``, ``mean_g``, ``mean_b``,
    or those in the file ``mean_img``, which is made if it is not there) are subtracted, and numbers
    are multiplied by ``scale`` and divided by ``std_r``, ``std_g`` and ``std_b``; with ``dtype`` of
    ``uint8`` they stay as they are. :class:`Changes` has the others.

    With ``round_batch`` the last batch goes on with the first pictures, and the next round after
    them; without it the rest of the last batch is 0. ``prefetch_buffer`` batches are made ahead.
    """

    _DTYPE = "float32"
    _CHANGES: ClassVar[type] = Changes

    def __init__(
        self,
        path_imgrec: str | os.PathLike[str] = "",
        data_shape: Sequence[int] = (),
        batch_size: int = 0,
        path_imgidx: str | os.PathLike[str] = "",
        path_imglist: str | os.PathLike[str] = "",
        label_width: int = 1,
        shuffle: bool = False,
        seed: int = 0,
        seed_aug: int | None = None,
        num_parts: int = 1,
        part_index: int = 0,
        round_batch: bool = True,
        prefetch_buffer: int = 4,
        preprocess_threads: int = 4,
        dtype: Any = None,
        mean_img: str | os.PathLike[str] = "",
        mean_r: float = 0.0,
        mean_g: float = 0.0,
        mean_b: float = 0.0,
        mean_a: float = 0.0,
        std_r: float = 1.0,
        std_g: float = 1.0,
        std_b: float = 1.0,
        std_a: float = 1.0,
        scale: float = 1.0,
        max_random_contrast: float = 0.0,
        max_random_illumination: float = 0.0,
        data_name: str = "data",
        label_name: str = "softmax_label",
        verbose: bool = True,
        ctx: str = "cpu",
        device_id: int = 0,
        shuffle_chunk_size: int = 0,
        shuffle_chunk_seed: int = 0,
        aug_seq: str = "aug_default",
        **kwargs: Any,
    ) -> None:
        super().__init__(batch_size)
        name = type(self).__name__
        if not path_imgrec or len(data_shape) != 3 or batch_size < 1:
            raise ArgumentError(
                f"[{name}] path_imgrec, a data_shape (channels, height, width) and a batch_size "
                "are needed"
            )
        channels, height, width = data_shape
        if channels not in (1, 3, 4) or min(height, width) < 1:
            raise ArrayValueError(
                f"[{name}] data_shape is {tuple(data_shape)}; 1, 3 or 4 channels and sides of 1 at "
                "least are needed"
            )
        if not 0 <= part_index < num_parts:
            raise ArgumentError(f"[{name}] part {part_index} of {num_parts}")
        self.dtype = onp.dtype(self._DTYPE if dtype is None else dtype)
        if self.dtype not in ("float32", "uint8", "int8"):
            raise ArrayValueError(f"[{name}] {self.dtype}; use float32, uint8 or int8")
        known = [one.name for one in fields(self._CHANGES)]
        for keyword in kwargs:
            if keyword not in known:
                raise unknown_keyword(name, keyword, known[1:])
        pictures.opencv()
        self._data_name, self._label_name = data_name, label_name
        self._records = Records(path_imgrec, path_imgidx, shuffle, seed, part_index, num_parts)
        self._maker = self._maker_for(
            self._CHANGES(data_shape=(channels, height, width), **kwargs),
            self._records.path,
            seed if seed_aug is None else seed_aug,
            label_width,
            label_width,
            {one.number: one.labels for one in picture_lists.checked(path_imglist)}
            if path_imglist
            else None,
            max_random_contrast,
            max_random_illumination,
        )
        self._is_round = bool(round_batch)
        self._ahead = max(int(prefetch_buffer), 1)
        self._threads = Background(max(int(preprocess_threads), 1), "decode")
        self._begin(0)
        means, deviations = (mean_r, mean_g, mean_b, mean_a), (std_r, std_g, std_b, std_a)
        self._mean = onp.array(means[:channels], "float32").reshape(-1, 1, 1)
        if mean_img and self.dtype != "uint8":
            self._mean = self._mean_picture(mean_img)
        factors = scale / onp.array(deviations[:channels], "float64")
        self._factor = factors.astype("float32").reshape(-1, 1, 1)
        self._batch: DataBatch | None = None

    def _maker_for(self, *options: Any) -> Maker:
        return Maker(*options)

    @property
    def provide_data(self) -> list[DataDesc]:
        """Name, shape and type of the pictures."""
        shape = (self.batch_size, *self._maker.changes.data_shape)
        return [DataDesc(self._data_name, shape, self.dtype.type)]

    @property
    def provide_label(self) -> list[DataDesc]:
        """Name, shape and type of the labels."""
        width = self._maker.label_width
        shape = (self.batch_size, width) if width > 1 else (self.batch_size,)
        return [DataDesc(self._label_name, shape)]

    def _begin(self, number: int) -> None:
        """Begin a round, and forget what was read ahead."""
        self._samples = self._records.samples(number)
        self._next_sample = next(self._samples)
        self._round = number
        self._coming: deque[Batch] = deque()
        self._has_begun = self._has_ended = False

    def reset(self) -> None:
        """Begin again: with ``round_batch`` after the pictures that filled up the last batch."""
        if self._has_ended:
            self._has_begun = self._has_ended = False
        elif self._has_begun:
            self._begin(self._round + 1)

    def _start(self) -> Batch:
        """Hand a batch to the threads."""
        size, (channels, height, width) = self.batch_size, self._maker.changes.data_shape
        number, pad = self._next_sample.round, 0
        batch = Batch(
            onp.zeros((size, height, width, channels), "uint8"),
            onp.zeros((size, self._maker.label_width), "float32"),
            onp.zeros((size, 2), "float32"),
            onp.zeros(size, "uint64"),
            [],
            number,
            0,
            False,
        )
        for place in range(size):
            if self._next_sample.round != number:
                pad += 1
                if not self._is_round:
                    continue
            work = (batch, place, self._next_sample)
            batch.parts.append(self._threads.submit(self._maker.fill, *work))
            self._next_sample = next(self._samples)
        return batch._replace(pad=pad, is_last=self._next_sample.round != number)

    def iter_next(self) -> bool:
        """Move on to the next batch; tell whether there is one."""
        self._threads.check()
        if self._has_ended:
            return False
        self._has_begun = True
        while len(self._coming) <= self._ahead:
            self._coming.append(self._start())
        batch = self._coming.popleft()
        self._round, self._has_ended = batch.round, batch.is_last
        batch.wait()
        labels = batch.labels if self._maker.label_width > 1 else batch.labels[:, 0]
        self._batch = DataBatch(
            [self._finished(batch)], [nd.array(labels)], batch.pad, batch.numbers
        )
        return True

    def _finished(self, batch: Batch) -> Any:
        """Return the numbers of pictures."""
        data = nd.array(batch.pixels, dtype="uint8").transpose((0, 3, 1, 2))
        if self.dtype == "uint8":
            return data
        data = data.astype("float32") - nd.array(self._mean)
        if self.dtype == "int8":
            return data.clip(-128, 127).astype("int8")
        if self._maker.contrast or self._maker.illumination:
            jitters = nd.array(batch.jitters).reshape((-1, 2, 1, 1))
            data = data * jitters[:, :1] + jitters[:, 1:]
        return data * nd.array(self._factor)

    def _mean_picture(self, path: str | os.PathLike[str]) -> Host:
        """Return the mean of all pictures, which is kept in a file."""
        if os.path.exists(path):
            found = nd.load(path)
            mean = found.get("mean_img") if isinstance(found, dict) else found[0]
            if mean is None or mean.shape != self._maker.changes.data_shape:
                raise FileError(
                    f"[ImageRecordIter] {os.fspath(path)!r} has no mean_img of shape "
                    f"{self._maker.changes.data_shape}"
                )
            return mean.asnumpy()  # type: ignore[no-any-return]
        total, number, is_last = onp.zeros(1), 0, False
        while not is_last:
            batch = self._start()
            batch.wait()
            pixels = batch.pixels[: self.batch_size - batch.pad]
            total = total + pixels.sum(0, dtype="float64")
            number, is_last = number + len(pixels), batch.is_last
        mean = nd.array((total / number).transpose(2, 0, 1))
        nd.save(path, {"mean_img": mean})
        self._begin(0)
        return mean.asnumpy()

    def getdata(self) -> Any:
        """Return the pictures of the batch."""
        return self._current().data[0]

    def getlabel(self) -> Any:
        """Return the labels of the batch."""
        return (self._current().label or [None])[0]

    def getindex(self) -> Any:
        """Return the numbers that the records of the batch have in their headers."""
        return self._current().index

    def getpad(self) -> int:
        """Return how many pictures at the end are of the next round, or 0."""
        return self._current().pad or 0

    def _current(self) -> DataBatch:
        if self._batch is None:
            raise ArrayValueError(
                f"[{type(self).__name__}] there is no batch before the first iter_next()"
            )
        return self._batch


class ImageRecordUInt8Iter(ImageRecordIter):
    """Gives batches of bytes, as :class:`ImageRecordIter` does with ``dtype="uint8"``."""

    _DTYPE = "uint8"


class ImageRecordInt8Iter(ImageRecordIter):
    """Gives batches of int8, as :class:`ImageRecordIter` does with ``dtype="int8"``."""

    _DTYPE = "int8"


ImageRecordIter_v1 = ImageRecordIter
ImageRecordUInt8Iter_v1 = ImageRecordUInt8Iter
