# SPDX-License-Identifier: Apache-2.0
"""Images: drawing them, images with boxes, and images with a class for each pixel."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterable, Sequence
from typing import Any

from afterglow import image, nd
from afterglow.gluon import utils

from .._figures import pyplot
from ..english import images, scenes

__all__ = [
    "VOCSegDataset",
    "download_voc_pascal",
    "load_data_pikachu",
    "read_voc_images",
    "show_fashion_mnist",
    "show_images",
]

_DATA = os.path.join("..", "data")
_PIKACHU = "https://apache-mxnet.s3-accelerate.amazonaws.com/gluon/dataset/pikachu/"
_PIKACHU_SUMS = {
    "train.rec": "e6bcb6ffba1ac04ff8a9b1115e650af56ee969c8",
    "train.idx": "dcf7318b2602c06428b9988470c731621716c393",
    "val.rec": "d6c33f799b4d058e82f2cb5bd9a976f69d72d520",
}
_VOC = "http://host.robots.ox.ac.uk/pascal/VOC/voc2012/VOCtrainval_11-May-2012.tar"


def show_images(imgs: Sequence[Any], num_rows: int, num_cols: int, scale: float = 2) -> Any:
    """Draw images in rows; return the axes of each, by row and column."""
    axes = images.show_images(imgs, num_rows, num_cols, scale=scale)
    return axes.reshape(num_rows, num_cols)


def show_fashion_mnist(images: Sequence[Any], labels: Iterable[str]) -> None:
    """Draw images of 28 by 28 pixels side by side, each under its label."""
    _, axes = pyplot().subplots(1, len(images), figsize=(12, 12), squeeze=False)
    for place, img, label in zip(axes[0], images, labels, strict=False):
        place.imshow(img.reshape((28, 28)).asnumpy())
        place.set_title(label)
        place.axes.get_xaxis().set_visible(False)
        place.axes.get_yaxis().set_visible(False)


def load_data_pikachu(
    batch_size: int, edge_size: int = 256
) -> tuple[image.ImageDetIter, image.ImageDetIter]:
    """Return batches for training and for validation: images, and the box in each."""
    files = {
        name: utils.download(_PIKACHU + name, os.path.join(_DATA, "pikachu", name), sha1_hash=sha1)
        for name, sha1 in _PIKACHU_SUMS.items()
    }
    shape = (3, edge_size, edge_size)
    train = image.ImageDetIter(
        batch_size,
        shape,
        path_imgrec=files["train.rec"],
        path_imgidx=files["train.idx"],
        shuffle=True,
        rand_crop=1,
        min_object_covered=0.95,
        max_attempts=200,
    )
    return train, image.ImageDetIter(batch_size, shape, path_imgrec=files["val.rec"])


# --- classes of pixels ---


def download_voc_pascal(data_dir: str = _DATA) -> str:
    """Fetch and unpack Pascal VOC 2012; return its folder."""
    archive = utils.download(_VOC, data_dir, sha1_hash="4e443f8a2eca6b1dac8a6c57641b67dd40621a49")
    with tarfile.open(archive) as members:
        members.extractall(data_dir, filter="data")
    return os.path.join(data_dir, "VOCdevkit", "VOC2012")


def read_voc_images(
    root: str = os.path.join(_DATA, "VOCdevkit", "VOC2012"), is_train: bool = True
) -> tuple[list[Any], list[Any]]:
    """Return images, and pictures with the colour of its class for each pixel."""
    return scenes.read_voc_images(root, is_train)


class VOCSegDataset(scenes.VOCSegDataset):
    """Parts of images, and the classes of their pixels; ``colormap2label`` has these by colour."""

    def __init__(
        self, is_train: bool, crop_size: tuple[int, int], voc_dir: str, colormap2label: Any
    ) -> None:
        self.rgb_mean, self.rgb_std = nd.array(scenes.MEAN), nd.array(scenes.DEVIATION)
        self.crop_size, self.colormap2label = crop_size, colormap2label
        self._read(voc_dir, is_train)

    @property
    def data(self) -> list[Any]:
        """The images, as this book calls them."""
        return self.features
