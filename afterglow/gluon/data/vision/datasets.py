# SPDX-License-Identifier: Apache-2.0
"""Datasets of images: those that everybody knows, and those in folders and record files.

Samples are an image, (height, width, channels) of bytes, and its label.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import copyfileobj
from typing import Any, ClassVar

import numpy as onp

from .... import ndarray, numpy
from ...._formats import idx
from ...._formats import params as _files
from ....base import data_dir
from ....error import ArrayValueError, FileError
from ....util import is_np_array
from ...utils import _get_repo_file_url, check_sha1, download
from ..dataset import Dataset, RecordFileDataset, _DownloadedDataset

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "MNIST",
    "FashionMNIST",
    "ImageFolderDataset",
    "ImageRecordDataset",
]

Host = onp.ndarray[Any, Any]
Transform = Callable[..., Any] | None
#: A name in the store of MXNet, and its SHA-1 sum.
File = tuple[str, str]


class _Stored(_DownloadedDataset):
    """A dataset whose files are in the store of MXNet."""

    _namespace: ClassVar[str]

    def __init__(self, root: str | None, train: bool, transform: Transform) -> None:
        self._train = train
        folder = os.path.join(data_dir(), "datasets", self._namespace)
        super().__init__(folder if root is None else root, transform)

    def _path(self, name: str) -> str:
        return os.path.join(self._root, name)

    def _fetched(self, file: File) -> str:
        """Return where a file is that was there, or has been fetched.

        One with another sum than MXNet's that cannot be fetched was put there on purpose.
        """
        name, sha1 = file
        address = _get_repo_file_url(f"gluon/dataset/{self._namespace}", name)
        try:
            return download(address, path=self._root, sha1_hash=sha1)
        except FileError:
            if not os.path.exists(self._path(name)):
                raise
        print(
            f"{self._path(name)} is read as it is: it has not the SHA-1 sum {sha1}, and could not "
            f"be fetched from {address}"
        )
        return self._path(name)

    def _keep(self, images: Host, labels: Host) -> None:
        """Keep what was read as arrays of the world that is switched on."""
        if len(images) != len(labels):
            raise ArrayValueError(
                f"[{type(self).__name__}] {len(images)} images and {len(labels)} labels in "
                f"{self._root}"
            )
        labels = labels.astype("int32")
        if is_np_array():
            self._data = numpy.array(images, dtype="uint8")
            self._label = numpy.array(labels, dtype="int32")
        else:
            self._data = ndarray.array(images, dtype="uint8")
            self._label = labels


class MNIST(_Stored):
    """Handwritten digits, http://yann.lecun.com/exdb/mnist: images of (28, 28, 1).

    Files are looked for in ``root``, ``$MXNET_HOME/datasets/mnist`` unless it is given, and fetched
    if they are not there. ``transform(image, label)`` is called for every sample that is read.
    """

    _namespace = "mnist"
    _sums: ClassVar[dict[bool, tuple[File, File]]] = {
        True: (
            ("train-images-idx3-ubyte.gz", "6c95f4b05d2bf285e1bfb0e7960c31bd3b3f8a7d"),
            ("train-labels-idx1-ubyte.gz", "2a80914081dc54586dbdf242f9805a6b8d2a15fc"),
        ),
        False: (
            ("t10k-images-idx3-ubyte.gz", "c3a25af1f52dad7f726cce8cacb138654b760d48"),
            ("t10k-labels-idx1-ubyte.gz", "763e7fa3757d93b0cdec073cef058b2004252c17"),
        ),
    }

    def __init__(
        self, root: str | None = None, train: bool = True, transform: Transform = None
    ) -> None:
        super().__init__(root, train, transform)

    def _get_data(self) -> None:
        images, labels = (self._fetched(file) for file in self._sums[bool(self._train)])
        name = type(self).__name__
        pixels = idx.read(images, idx.IMAGES, name)
        self._keep(pixels[..., onp.newaxis], idx.read(labels, idx.LABELS, name))


class FashionMNIST(MNIST):
    """Clothes, https://github.com/zalandoresearch/fashion-mnist: images of (28, 28, 1).

    Files are looked for in ``root``, ``$MXNET_HOME/datasets/fashion-mnist`` unless it is given.
    """

    _namespace = "fashion-mnist"
    _sums: ClassVar[dict[bool, tuple[File, File]]] = {
        True: (
            ("train-images-idx3-ubyte.gz", "0cf37b0d40ed5169c6b3aba31069a9770ac9043d"),
            ("train-labels-idx1-ubyte.gz", "236021d52f1e40852b06a4c3008d8de8aef1e40b"),
        ),
        False: (
            ("t10k-images-idx3-ubyte.gz", "626ed6a7c06dd17c0eec72fa3be1740f146a2863"),
            ("t10k-labels-idx1-ubyte.gz", "17f9ab60e7257a1620f4ad76bbbaf857c3920701"),
        ),
    }


class CIFAR10(_Stored):
    """Small photographs of ten classes, https://www.cs.toronto.edu/~kriz/cifar.html: (32, 32, 3).

    Files are looked for in ``root``, ``$MXNET_HOME/datasets/cifar10`` unless it is given, as they
    are or in their archive, which is fetched if it is not there. ``transform(image, label)`` is
    called for every sample that is read.
    """

    _namespace = "cifar10"
    _archive: ClassVar[File] = (
        "cifar-10-binary.tar.gz",
        "fab780a1e191a7eda0f345501ccd62d20f7ed891",
    )
    _sums: ClassVar[dict[bool, list[File]]] = {
        True: [
            ("data_batch_1.bin", "aadd24acce27caa71bf4b10992e9e7b2d74c2540"),
            ("data_batch_2.bin", "c0ba65cce70568cd57b4e03e9ac8d2a5367c1795"),
            ("data_batch_3.bin", "1dd00a74ab1d17a6e7d73e185b69dbf31242f295"),
            ("data_batch_4.bin", "aab85764eb3584312d3c7f65fd2fd016e36a258e"),
            ("data_batch_5.bin", "26e2849e66a845b7f1e4614ae70f4889ae604628"),
        ],
        False: [("test_batch.bin", "67eb016db431130d61cd03c7ad570b013799c88c")],
    }
    #: Bytes before the pixels of a record, and which of them is the label.
    _labels, _chosen = 1, 0

    def __init__(
        self, root: str | None = None, train: bool = True, transform: Transform = None
    ) -> None:
        super().__init__(root, train, transform)

    def _get_data(self) -> None:
        files = self._sums[bool(self._train)]
        if not all(self._is_right(*file) for file in files):
            self._unpack_archive(files)
        images, labels = zip(*(self._read(self._path(name)) for name, _ in files), strict=True)
        self._keep(onp.concatenate(images), onp.concatenate(labels))

    def _is_right(self, name: str, sha1: str) -> bool:
        return os.path.exists(self._path(name)) and check_sha1(self._path(name), sha1)

    def _unpack_archive(self, files: list[File]) -> None:
        try:
            archive = self._fetched(self._archive)
        except FileError:
            if not all(os.path.exists(self._path(name)) for name, _ in files):
                raise
            print(f"the files in {self._root} are read as they are: others cannot be fetched")
            return
        import tarfile  # not every program reads packed files
        import zlib

        wanted = {name for every in self._sums.values() for name, _ in every}
        try:
            with tarfile.open(archive) as members:
                for member in members:
                    content = members.extractfile(member)
                    name = os.path.basename(member.name)
                    if content is not None and name in wanted:
                        _files.replace(self._path(name), partial(copyfileobj, content))
        except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
            raise FileError(
                f"[{type(self).__name__}] {archive} cannot be unpacked: {error}"
            ) from None

    def _read(self, path: str) -> tuple[Host, Host]:
        """Return the images and labels of a file: records of labels, red, green and blue."""
        content = onp.frombuffer(_files.read(path), "uint8")
        record = self._labels + 3072
        if len(content) % record:
            raise FileError(
                f"[{type(self).__name__}] {path} has {len(content)} bytes, which are no records of "
                f"{record}"
            )
        records = content.reshape(-1, record)
        pixels = records[:, self._labels :].reshape(-1, 3, 32, 32)
        return pixels.transpose(0, 2, 3, 1), records[:, self._chosen]


class CIFAR100(CIFAR10):
    """Small photographs of 100 classes in 20 groups; see :class:`CIFAR10`.

    Labels are groups, with ``fine_label`` classes. Files are looked for in ``root``,
    ``$MXNET_HOME/datasets/cifar100`` unless it is given.
    """

    _namespace = "cifar100"
    _archive: ClassVar[File] = (
        "cifar-100-binary.tar.gz",
        "a0bb982c76b83111308126cc779a992fa506b90b",
    )
    _sums: ClassVar[dict[bool, list[File]]] = {
        True: [("train.bin", "e207cd2e05b73b1393c74c7f5e7bea451d63e08e")],
        False: [("test.bin", "8fb6623e830365ff53cf14adec797474f5478006")],
    }
    _labels = 2

    def __init__(
        self,
        root: str | None = None,
        fine_label: bool = False,
        train: bool = True,
        transform: Transform = None,
    ) -> None:
        self._chosen = int(bool(fine_label))
        super().__init__(root, train, transform)


class ImageRecordDataset(RecordFileDataset):
    """Images and labels out of a record file, such as ``tools/im2rec`` writes.

    Beside the file there is an index of the same name, ``.idx``. With ``flag=0`` images are grey,
    of one channel. ``transform(image, label)`` is called for every sample that is read.
    """

    def __init__(
        self, filename: str | os.PathLike[str], flag: int = 1, transform: Transform = None
    ) -> None:
        super().__init__(filename)
        self._flag = flag
        self._transform = transform

    def __getitem__(self, idx: int) -> Any:
        from .... import image, recordio

        header, content = recordio.unpack(super().__getitem__(idx))
        picture = image.imdecode(content, self._flag)
        if self._transform is not None:
            return self._transform(picture, header.label)
        return picture, header.label


class ImageFolderDataset(Dataset):
    """Images in folders, one for each class, whose number in their order is the label.

    ``synsets`` are the names of the classes, ``items`` the files with their labels. With ``flag=0``
    images are grey, of one channel. ``transform(image, label)`` is called for every sample that is
    read.
    """

    _exts: ClassVar[list[str]] = [".jpg", ".jpeg", ".png"]

    def __init__(
        self, root: str | os.PathLike[str], flag: int = 1, transform: Transform = None
    ) -> None:
        self._root = os.path.expanduser(root)
        self._flag = flag
        self._transform = transform
        self.synsets: list[str] = []
        self.items: list[tuple[str, int]] = []
        self._list_images(Path(self._root))

    def _list_images(self, root: Path) -> None:
        if not root.is_dir():
            raise FileError(f"[ImageFolderDataset] {root} is not a folder")
        for folder in sorted(root.iterdir()):
            if not folder.is_dir():
                warnings.warn(f"Ignoring {folder}, which is not a directory.", stacklevel=3)
                continue
            for file in sorted(folder.iterdir()):
                if file.suffix.lower() in self._exts:
                    self.items.append((str(file), len(self.synsets)))
                else:
                    warnings.warn(
                        f"Ignoring {file} of type {file.suffix}. Only support "
                        f"{', '.join(self._exts)}",
                        stacklevel=3,
                    )
            self.synsets.append(folder.name)

    def __getitem__(self, idx: int) -> Any:
        from .... import image

        file, label = self.items[idx]
        picture = image.imread(file, self._flag)
        if self._transform is not None:
            return self._transform(picture, label)
        return picture, label

    def __len__(self) -> int:
        return len(self.items)
