# SPDX-License-Identifier: Apache-2.0
"""Small data in the files of well-known datasets, made up from a seed."""

from __future__ import annotations

import gzip
import hashlib
import io
import struct
import tarfile
from pathlib import Path
from typing import Any

import numpy as onp

Host = onp.ndarray[Any, Any]


def idx_bytes(array: Host) -> bytes:
    """Return an array of bytes in the format of MNIST."""
    magic = {1: 2049, 3: 2051}[array.ndim]
    header = struct.pack(f">{array.ndim + 1}i", magic, *array.shape)
    return gzip.compress(header + array.astype("uint8").tobytes(), mtime=0)


def mnist(folder: Path, train: bool, count: int, seed: int = 0) -> tuple[Host, Host]:
    """Write MNIST's files of one kind; return the images and labels in them."""
    generator = onp.random.RandomState(seed)
    images, labels = generator.randint(0, 256, (count, 28, 28)), generator.randint(0, 10, count)
    kind = "train" if train else "t10k"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{kind}-images-idx3-ubyte.gz").write_bytes(idx_bytes(images))
    (folder / f"{kind}-labels-idx1-ubyte.gz").write_bytes(idx_bytes(labels))
    return images, labels


def cifar_records(count: int, classes: int, labels: int, seed: int) -> Host:
    """Return records of CIFAR-10 (one label) or CIFAR-100 (two)."""
    generator = onp.random.RandomState(seed)
    head = generator.randint(0, classes, (count, labels))
    return onp.hstack([head, generator.randint(0, 256, (count, 3072))]).astype("uint8")


def images_of(records: Host) -> Host:
    """Return the images of such records, (height, width, channels)."""
    return records[:, -3072:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)


def archive(content: dict[str, bytes]) -> bytes:
    """Return files in an archive that is packed."""
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w:gz") as file:
        for name, data in content.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            file.addfile(member, io.BytesIO(data))
    return memory.getvalue()


def sum_of(content: bytes) -> str:
    """Return a SHA-1 sum."""
    return hashlib.sha1(content).hexdigest()
