# SPDX-License-Identifier: Apache-2.0
"""Files for tests. What is there already is used; the rest has to be fetched."""

from __future__ import annotations

import bz2
import gzip
import os
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as onp

from .._formats import params as _files
from .._formats import pickles as _pickles
from ..error import ArrayNotImplementedError, FileError
from ..gluon import utils
from ..io import MNISTIter

__all__ = [
    "download",
    "download_model",
    "get_bz2_data",
    "get_cifar10",
    "get_im2rec_path",
    "get_mnist",
    "get_mnist_iterator",
    "get_mnist_pkl",
    "get_mnist_ubyte",
    "get_zip_data",
]

_ADDRESS = "http://data.mxnet.io/data/"
_MNIST = "https://repo.mxnet.io/gluon/dataset/mnist/"
#: Twice the bytes of the images of MNIST as float32.
_LARGEST = 2**29
_UBYTE_FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


def download(
    url: str,
    fname: str | None = None,
    dirname: str | None = None,
    overwrite: bool = False,
    retries: int = 5,
) -> str:
    """Fetch a file, unless it is there already; return where it is."""
    path = Path(dirname or "") / (fname or url.split("/")[-1])
    return utils.download(url, str(path), overwrite=overwrite, retries=retries)


def get_mnist() -> dict[str, Any]:
    """Return MNIST as NumPy arrays, from four files in the current folder or from the network.

    The keys are train_data, train_label, test_data and test_label; images have the shape
    (1, 28, 28) and values from 0 to 1.
    """

    def content(name: str, header: int) -> Any:
        data = _unpacked(download(f"{_MNIST}{name}.gz", retries=1))
        return onp.frombuffer(data, "uint8", offset=header)

    def pair(images: str, labels: str) -> tuple[Any, Any]:
        pixels = content(images, 16).reshape(-1, 1, 28, 28).astype("float32") / 255
        return pixels, content(labels, 8).astype("int8")

    names = ("train_data", "train_label", "test_data", "test_label")
    arrays = (*pair(*_UBYTE_FILES[:2]), *pair(*_UBYTE_FILES[2:]))
    return dict(zip(names, arrays, strict=True))


def get_mnist_ubyte() -> None:
    """Have the four files of MNIST in the folder data."""
    if not all(Path("data", name).exists() for name in _UBYTE_FILES):
        get_zip_data("data", _ADDRESS + "mnist.zip", "mnist.zip")


def get_mnist_iterator(
    batch_size: int, input_shape: tuple[int, ...], num_parts: int = 1, part_index: int = 0
) -> tuple[MNISTIter, MNISTIter]:
    """Return iterators over the training and the test images of MNIST."""
    get_mnist_ubyte()
    flat = len(input_shape) != 3
    part: dict[str, Any] = {"num_parts": num_parts, "part_index": part_index}
    images, labels, test_images, test_labels = (f"data/{name}" for name in _UBYTE_FILES)
    return (
        MNISTIter(images, labels, batch_size, True, flat, **part),
        MNISTIter(test_images, test_labels, batch_size, False, flat, **part),
    )


def get_mnist_pkl() -> Any:
    """Return MNIST from data/mnist.pkl.gz: three pairs of images and labels."""
    path = Path("data", "mnist.pkl.gz")
    try:
        train, valid, test = _pickles.read(_unpacked(path))
        return tuple(
            (onp.array(_pickles.numpy_array(images)), onp.array(_pickles.numpy_array(labels)))
            for images, labels in (train, valid, test)
        )
    except (TypeError, ValueError) as error:
        raise FileError(f"[get_mnist_pkl] {path} is damaged: {error}") from None


def _unpacked(path: str | os.PathLike[str]) -> bytes:
    """Return what is packed in a file, if it is no more than any data set here has."""
    packed = BytesIO(_files.read(path))
    try:
        with gzip.open(packed) as file:
            data = file.read(_LARGEST + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise FileError(f"[get_mnist] {path} cannot be unpacked: {error}") from error
    if len(data) > _LARGEST:
        raise FileError(f"[get_mnist] {path} holds more than {_LARGEST} bytes")
    return data


def get_cifar10() -> None:
    """Have the record files of CIFAR-10 in the folder data."""
    if not all(Path("data/cifar", name).exists() for name in ("train.rec", "test.rec")):
        get_zip_data("data", _ADDRESS + "cifar10.zip", "cifar10.zip")


def get_zip_data(data_dir: str, url: str, data_origin_name: str) -> None:
    """Fetch an archive into a folder, unless it is there, and unpack it."""
    archive = download(url, dirname=data_dir, fname=data_origin_name, retries=1)
    with zipfile.ZipFile(archive) as file:
        file.extractall(data_dir)


def get_bz2_data(data_dir: str, data_name: str, url: str, data_origin_name: str) -> None:
    """Fetch a compressed file into a folder and unpack it, unless that is done."""
    target = Path(data_dir, data_name)
    if target.exists():
        return
    packed = download(url, dirname=data_dir, fname=data_origin_name, retries=1)
    with bz2.open(packed) as file:
        target.write_bytes(file.read())
    os.remove(packed)


def download_model(model_name: str, dst_dir: str = "./", meta_info: Any = None) -> Any:
    """Raise: the models of MXNet's site are gone."""
    raise ArrayNotImplementedError(f"[download_model] {model_name} cannot be had")


def get_im2rec_path(home_env: str = "MXNET_HOME") -> str:
    """Raise: there is no tool that packs images."""
    raise ArrayNotImplementedError("[get_im2rec_path] there is no im2rec.py")
