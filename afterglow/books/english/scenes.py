# SPDX-License-Identifier: Apache-2.0
"""Images with boxes, images with a class for each pixel, and folders of images."""

from __future__ import annotations

import csv
import math
import os
import shutil
from collections import Counter
from typing import Any

from afterglow import gluon, image, np

from .._common import get_dataloader_workers
from . import downloads

__all__ = [
    "VOC_CLASSES",
    "VOC_COLORMAP",
    "BananasDataset",
    "VOCSegDataset",
    "copyfile",
    "load_data_bananas",
    "load_data_voc",
    "read_csv_labels",
    "read_data_bananas",
    "read_voc_images",
    "reorg_test",
    "reorg_train_valid",
    "voc_colormap2label",
    "voc_label_indices",
    "voc_rand_crop",
]


# --- bananas ---


def read_data_bananas(is_train: bool = True) -> tuple[list[Any], Any]:
    """Return images, and the class and box of the banana in each, in parts of its size."""
    folder = os.path.join(
        downloads.download_extract("banana-detection"),
        "bananas_train" if is_train else "bananas_val",
    )
    with open(os.path.join(folder, "label.csv"), encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    images = [image.imread(os.path.join(folder, "images", name)) for name, *_ in rows]
    targets = np.array([[[float(value) for value in values]] for _, *values in rows])
    return images, targets / 256


class BananasDataset(gluon.data.Dataset):
    """Images of bananas."""

    def __init__(self, is_train: bool) -> None:
        self.features, self.labels = read_data_bananas(is_train)
        part = "training" if is_train else "validation"
        print(f"read {len(self.features)} {part} examples")

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        return self.features[idx].astype("float32").transpose(2, 0, 1), self.labels[idx]

    def __len__(self) -> int:
        return len(self.features)


def load_data_bananas(batch_size: int) -> tuple[gluon.data.DataLoader, gluon.data.DataLoader]:
    """Return batches for training and for validation."""
    train = gluon.data.DataLoader(BananasDataset(True), batch_size, shuffle=True)
    return train, gluon.data.DataLoader(BananasDataset(False), batch_size)


# --- classes of pixels ---

VOC_CLASSES = [
    *("background", "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat"),
    *("chair", "cow", "diningtable", "dog", "horse", "motorbike", "person", "potted plant"),
    *("sheep", "sofa", "train", "tv/monitor"),
]


#: Of red, green and blue in large collections of images.
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def _color(number: int) -> list[int]:
    """Return the colour of a class: its bits go to red, green and blue in turn, high ones first."""
    color = [0, 0, 0]
    for place in range(8):
        for channel in range(3):
            color[channel] |= (number >> (3 * place + channel) & 1) << (7 - place)
    return color


VOC_COLORMAP = [_color(number) for number in range(len(VOC_CLASSES))]


def read_voc_images(voc_dir: str, is_train: bool = True) -> tuple[list[Any], list[Any]]:
    """Return images, and pictures with the colour of its class for each pixel."""
    listed = os.path.join(
        voc_dir, "ImageSets", "Segmentation", "train.txt" if is_train else "val.txt"
    )
    with open(listed, encoding="utf-8") as file:
        names = file.read().split()
    features = [image.imread(os.path.join(voc_dir, "JPEGImages", f"{one}.jpg")) for one in names]
    labels = [
        image.imread(os.path.join(voc_dir, "SegmentationClass", f"{one}.png")) for one in names
    ]
    return features, labels


def _color_number(red: Any, green: Any, blue: Any) -> Any:
    return (red * 256 + green) * 256 + blue


def voc_colormap2label() -> Any:
    """Return the classes by the numbers of their colours."""
    table = np.zeros(256**3)
    for number, color in enumerate(VOC_COLORMAP):
        table[_color_number(*color)] = number
    return table


def voc_label_indices(colormap: Any, colormap2label: Any) -> Any:
    """Return the class of each pixel."""
    colormap = colormap.astype(np.int32)
    return colormap2label[_color_number(colormap[:, :, 0], colormap[:, :, 1], colormap[:, :, 2])]


def voc_rand_crop(feature: Any, label: Any, height: int, width: int) -> tuple[Any, Any]:
    """Return the same part of an image and its label, from a random place."""
    feature, place = image.random_crop(feature, (width, height))
    return feature, image.fixed_crop(label, *place)


class VOCSegDataset(gluon.data.Dataset):
    """Parts of images, and the classes of their pixels."""

    rgb_mean: Any
    rgb_std: Any

    def __init__(self, is_train: bool, crop_size: tuple[int, int], voc_dir: str) -> None:
        self.rgb_mean, self.rgb_std = np.array(MEAN), np.array(DEVIATION)
        self.crop_size, self.colormap2label = crop_size, voc_colormap2label()
        self._read(voc_dir, is_train)

    def _read(self, voc_dir: str, is_train: bool) -> None:
        features, labels = read_voc_images(voc_dir, is_train)
        self.features = [self.normalize_image(one) for one in self.filter(features)]
        self.labels = self.filter(labels)
        print(f"read {len(self.features)} examples")

    def normalize_image(self, img: Any) -> Any:
        """Return an image with the mean 0 and the deviation 1 of large collections."""
        return (img.astype("float32") / 255 - self.rgb_mean) / self.rgb_std

    def filter(self, imgs: list[Any]) -> list[Any]:  # type: ignore[override]
        """Return the images that are large enough."""
        height, width = self.crop_size
        return [img for img in imgs if img.shape[0] >= height and img.shape[1] >= width]

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        feature, label = voc_rand_crop(self.features[idx], self.labels[idx], *self.crop_size)
        return feature.transpose((2, 0, 1)), voc_label_indices(label, self.colormap2label)

    def __len__(self) -> int:
        return len(self.features)


def load_data_voc(
    batch_size: int, crop_size: tuple[int, int]
) -> tuple[gluon.data.DataLoader, gluon.data.DataLoader]:
    """Return batches for training and for testing."""
    folder = downloads.download_extract("voc2012", os.path.join("VOCdevkit", "VOC2012"))
    workers = get_dataloader_workers()
    train, test = (
        gluon.data.DataLoader(
            VOCSegDataset(is_train, crop_size, folder),
            batch_size,
            shuffle=is_train,
            last_batch="discard",
            num_workers=workers,
        )
        for is_train in (True, False)
    )
    return train, test


# --- folders of images ---


def read_csv_labels(fname: str) -> dict[str, str]:
    """Return the labels of files by their names, from a table with a heading."""
    with open(fname, encoding="utf-8") as file:
        _, *lines = file.read().splitlines()
    return dict(line.split(",") for line in lines)


def copyfile(filename: str, target_dir: str) -> None:
    """Copy a file into a folder."""
    os.makedirs(target_dir, exist_ok=True)
    shutil.copy(filename, target_dir)


def reorg_train_valid(data_dir: str, labels: dict[str, str], valid_ratio: float) -> int:
    """Sort images for training into folders by label; part of each label is for validation.

    Return how many of each label: that share of the rarest one.
    """
    rarest = min(Counter(labels.values()).values())
    per_label = max(1, math.floor(rarest * valid_ratio))
    taken: Counter[str] = Counter()
    for name in os.listdir(os.path.join(data_dir, "train")):
        label = labels[name.split(".")[0]]
        parts = ["train_valid", "valid" if taken[label] < per_label else "train"]
        taken[label] += 1
        for part in parts:
            copyfile(
                os.path.join(data_dir, "train", name),
                os.path.join(data_dir, "train_valid_test", part, label),
            )
    return per_label


def reorg_test(data_dir: str) -> None:
    """Put images for testing into the folder of an unknown label."""
    for name in os.listdir(os.path.join(data_dir, "test")):
        copyfile(
            os.path.join(data_dir, "test", name),
            os.path.join(data_dir, "train_valid_test", "test", "unknown"),
        )
