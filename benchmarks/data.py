# SPDX-License-Identifier: Apache-2.0
"""The figures of data: loaders, pictures, records.

python benchmarks/data.py [--rounds 5] [--peer torch=INTERPRETER] [--peer mxnet=INTERPRETER]

Loaders give batches of small pictures that are changed at random, with two workers; a round is all
pictures once, the start of the workers included. PyTorch's changes are written with OpenCV or with
Pillow; what they draw and in which order is the same everywhere.
"""

from __future__ import annotations

import importlib
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rows import Figure, Goal, Row, Task, goals, library_of, timed

WORKERS = 2

# --- small pictures through a loader ---

SMALL_PICTURES, SMALL_BATCH = 10_000, 128
MEANS, DEVIATIONS = (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)
JITTER = 0.4


def small_pictures() -> tuple[Any, Any]:
    """Return pictures of 32 x 32 with labels."""
    generator = np.random.default_rng(0)
    pixels = generator.integers(0, 256, (SMALL_PICTURES, 32, 32, 3), np.uint8)
    return pixels, generator.integers(0, 10, SMALL_PICTURES).astype(np.int32)


def gluon_loader(column: str) -> Callable[[], None]:
    """Make the loop over a loader of Gluon's."""
    mx = importlib.import_module(library_of(column))
    data = importlib.import_module(f"{library_of(column)}.gluon.data")
    changes = data.vision.transforms

    class PaddedCrop(mx.gluon.Block):  # type: ignore[misc, name-defined]
        """What MXNet lacks."""

        def forward(self, x: Any) -> Any:
            padded = mx.nd.zeros((40, 40, 3), dtype="uint8")
            padded[4:36, 4:36] = x
            return mx.image.random_crop(padded, (32, 32))[0]

    has_crop = hasattr(changes, "RandomCrop")
    change = changes.Compose(
        [
            changes.RandomCrop(32, pad=4) if has_crop else PaddedCrop(),
            changes.RandomFlipLeftRight(),
            changes.RandomColorJitter(JITTER, JITTER, JITTER),
            changes.ToTensor(),
            changes.Normalize(MEANS, DEVIATIONS),
        ]
    )
    pixels, labels = small_pictures()
    dataset = data.ArrayDataset(mx.nd.array(pixels, dtype="uint8"), labels)
    loader = data.DataLoader(
        dataset.transform_first(change), SMALL_BATCH, shuffle=True, num_workers=WORKERS
    )

    def run() -> None:
        for batch, _ in loader:
            batch.wait_to_read()
            assert batch.shape[1:] == (3, 32, 32), batch.shape

    return run


def jitter_factors() -> list[tuple[str, float]]:
    """Draw how much brightness, contrast and saturation change, in any order."""
    names = ["brightness", "contrast", "saturation"]
    random.shuffle(names)
    return [(name, random.uniform(1 - JITTER, 1 + JITTER)) for name in names]


def change_with_opencv(pixels: Any) -> Any:
    """Change a picture as the transforms of Gluon do, with OpenCV."""
    import cv2

    padded = cv2.copyMakeBorder(pixels, 4, 4, 4, 4, cv2.BORDER_CONSTANT)
    y, x = random.randint(0, 8), random.randint(0, 8)
    pixels = padded[y : y + 32, x : x + 32]
    if random.random() < 0.5:
        pixels = cv2.flip(pixels, 1)
    for name, factor in jitter_factors():
        if name == "brightness":
            pixels = cv2.convertScaleAbs(pixels, alpha=factor)
            continue
        grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
        if name == "contrast":
            pixels = cv2.convertScaleAbs(pixels, alpha=factor, beta=(1 - factor) * grey.mean())
        else:
            colours = cv2.cvtColor(grey, cv2.COLOR_GRAY2RGB)
            pixels = cv2.addWeighted(pixels, factor, colours, 1 - factor, 0)
    return pixels


def change_with_pillow(pixels: Any) -> Any:
    """Change a picture as the transforms of Gluon do, with Pillow."""
    from PIL import Image, ImageEnhance, ImageOps

    picture = ImageOps.expand(Image.fromarray(pixels), 4)
    y, x = random.randint(0, 8), random.randint(0, 8)
    picture = picture.crop((x, y, x + 32, y + 32))
    if random.random() < 0.5:
        picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    kinds = {
        "brightness": ImageEnhance.Brightness,
        "contrast": ImageEnhance.Contrast,
        "saturation": ImageEnhance.Color,
    }
    for name, factor in jitter_factors():
        picture = kinds[name](picture).enhance(factor)
    return np.asarray(picture)


SCALE = (1 / (255 * np.array(DEVIATIONS))).astype(np.float32).reshape(3, 1, 1)
SHIFT = (np.array(MEANS) / DEVIATIONS).astype(np.float32).reshape(3, 1, 1)


class ChangedPictures:
    """A dataset of PyTorch's: it has a length and items."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.pixels, self.labels = small_pictures()
        self.change = change

    def __len__(self) -> int:
        return SMALL_PICTURES

    def __getitem__(self, index: int) -> Any:
        import torch

        changed = self.change(self.pixels[index]).transpose(2, 0, 1) * SCALE - SHIFT
        return torch.from_numpy(changed), int(self.labels[index])


def torch_loader(column: str) -> Callable[[], None]:
    """Make the loop over a loader of PyTorch's."""
    from torch.utils.data import DataLoader

    changes = {"torch.opencv": change_with_opencv, "torch.pillow": change_with_pillow}
    dataset: Any = ChangedPictures(changes[column])
    loader: Any = DataLoader(dataset, SMALL_BATCH, shuffle=True, num_workers=WORKERS)

    def run() -> None:
        for batch, _ in loader:
            assert batch.shape[1:] == (3, 32, 32), batch.shape

    return run


def loader(column: str) -> Task:
    """All small pictures once, changed, in batches."""
    make = torch_loader if library_of(column) == "torch" else gluon_loader
    return timed(make(column), count=SMALL_PICTURES)


# --- large pictures out of records ---

LARGE_PICTURES, LARGE_BATCH = 512, 32


def large_picture(number: int) -> Any:
    """Return a picture of 500 x 375 with edges, slopes and some noise."""
    import cv2

    generator = np.random.default_rng(number)
    coarse = generator.integers(0, 256, (15, 20, 3), np.uint8)
    smooth = cv2.resize(coarse, (500, 375), interpolation=cv2.INTER_CUBIC)
    noise = generator.integers(0, 24, (375, 500, 3), np.uint8)
    return cv2.addWeighted(smooth, 0.9, noise, 1.0, 0)


def pictures_of_records(column: str) -> Task:
    """All large pictures of a file once, decoded, cropped and mirrored, in batches."""
    mx = importlib.import_module(library_of(column))
    recordio = importlib.import_module(f"{library_of(column)}.recordio")
    folder = tempfile.TemporaryDirectory()  # lives as long as the task
    path = str(Path(folder.name, "pictures.rec"))
    writer = recordio.MXRecordIO(path, "w")
    packed = [
        recordio.pack_img(recordio.IRHeader(0, float(i), i, 0), large_picture(i), quality=90)
        for i in range(16)
    ]
    for number in range(LARGE_PICTURES):
        writer.write(packed[number % len(packed)])
    writer.close()

    def run() -> None:
        assert Path(folder.name).is_dir()
        batches = mx.io.ImageRecordIter(
            path_imgrec=path,
            data_shape=(3, 224, 224),
            batch_size=LARGE_BATCH,
            preprocess_threads=WORKERS,
            rand_crop=True,
            rand_mirror=True,
            mean_r=123.68,
            mean_g=116.78,
            mean_b=103.94,
            std_r=58.4,
            std_g=57.1,
            std_b=57.4,
        )
        count = 0
        for batch in batches:
            batch.data[0].wait_to_read()
            count += 1
        assert count == LARGE_PICTURES // LARGE_BATCH, count

    return timed(run, count=LARGE_PICTURES)


# --- records ---


def records(column: str, size: int, count: int) -> Task:
    """All records of a file once, by a reader or as plain reads of as many bytes."""
    library = importlib.import_module(f"{library_of(column)}.recordio")
    folder = tempfile.TemporaryDirectory()
    path = str(Path(folder.name, "file.rec"))
    writer = library.MXRecordIO(path, "w")
    content = np.random.default_rng(0).bytes(size)
    for _ in range(count):
        writer.write(content)
    writer.close()

    def read_records() -> None:
        assert Path(folder.name).is_dir()
        reader = library.MXRecordIO(path, "r")
        found = 0
        while reader.read() is not None:
            found += 1
        reader.close()
        assert found == count, found

    def read_file() -> None:
        assert Path(folder.name).is_dir()
        with open(path, "rb") as file:
            while file.read(size):
                pass

    return timed(read_file if column == "file.read" else read_records, count=count)


LOADER_GOALS = (Goal(0.9, ("torch.opencv", "torch.pillow")), Goal(0.5, ("mxnet",)))
ROWS = [
    Row(
        "data/loader",
        (Figure("a picture of 32 x 32 through `DataLoader`, cropped, jittered", LOADER_GOALS),),
        ("afterglow", "torch.opencv", "torch.pillow", "mxnet"),
        loader,
        rounds=5,
        rest=0.1,
    ),
    Row(
        "data/image_records",
        (Figure("a picture of 500 x 375 through `ImageRecordIter`", goals(mxnet=1.0)),),
        ("afterglow", "mxnet"),
        pictures_of_records,
        rounds=5,
        rest=0.1,
    ),
    Row(
        "data/large_records",
        (Figure("a record of 100 kB", (Goal(2.0, ("file.read",)),)),),
        ("afterglow", "file.read", "mxnet"),
        lambda column: records(column, 100_000, 1_000),
    ),
    Row(
        "data/small_records",
        (Figure("a record of 1 kB", goals(mxnet=1 / 1.5)),),
        ("afterglow", "file.read", "mxnet"),
        lambda column: records(column, 1_000, 20_000),
    ),
]

if __name__ == "__main__":
    from bench import main

    main("data")
