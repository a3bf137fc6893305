# SPDX-License-Identifier: Apache-2.0
"""Files that the chapters work with: where they are, fetching them, unpacking them."""

from __future__ import annotations

import os
import tarfile
import zipfile

from afterglow.gluon import utils

__all__ = ["DATA_HUB", "DATA_URL", "download", "download_all", "download_extract", "extract"]

DATA_URL = "http://d2l-data.s3-accelerate.amazonaws.com/"

#: Addresses and SHA-1 sums by name. Chapters add theirs.
DATA_HUB: dict[str, tuple[str, str]] = {
    name: (DATA_URL + file, sha1)
    for name, file, sha1 in (
        ("airfoil", "airfoil_self_noise.dat", "76e5be1548fd8222e5074cf0faae75edff8cf93f"),
        ("hotdog", "hotdog.zip", "fba480ffa8aa7e0febbb511d181409f899b9baa5"),
        ("banana-detection", "banana-detection.zip", "5de26c8fce5ccdea9f91267273464dc968d20d72"),
        ("voc2012", "VOCtrainval_11-May-2012.tar", "4e443f8a2eca6b1dac8a6c57641b67dd40621a49"),
        ("cifar10_tiny", "kaggle_cifar10_tiny.zip", "2068874e4b9a9f0fb07ebe0ad2b29754449ccacd"),
        ("dog_tiny", "kaggle_dog_tiny.zip", "0cb91d09b814ecdc07b50f31f8dcad3e81d6a86d"),
        ("ptb", "ptb.zip", "319d85e578af0cdc590547f26231e4e31cdf1e42"),
        ("glove.6b.50d", "glove.6B.50d.zip", "0b8703943ccdb6eb788e6f091b8946e82231bc4d"),
        ("glove.6b.100d", "glove.6B.100d.zip", "cd43bfb07e44e6f27cbcc7bc9ae3d80284fdaf5a"),
        ("glove.42b.300d", "glove.42B.300d.zip", "b5116e234e9eb9076672cfeabf5469f3eec904fa"),
        ("wiki.en", "wiki.en.zip", "c1816da3821ae9f43899be655002f6c723e91b88"),
        ("aclImdb", "aclImdb_v1.tar.gz", "01ada507287d82875905620988597833ad4e0903"),
        ("pokemon", "pokemon.zip", "c065c0e2593b8b161a2d7873e42418bf6a21106c"),
        ("ctr", "ctr.zip", "e18327c48c8e8e5c23da714dd614e390d369843f"),
        ("fra-eng", "fra-eng.zip", "94646ad1522d915e7b0f9296181140edcf86a4f5"),
        ("time_machine", "timemachine.txt", "090b5e7e70c295757f55df93cb0a180b9691891a"),
        (
            "kaggle_house_train",
            "kaggle_house_pred_train.csv",
            "585e9cc93e70b39160e7921475f9bcd7d31219ce",
        ),
        (
            "kaggle_house_test",
            "kaggle_house_pred_test.csv",
            "fa19780a7b011d9b009e8bff8e99922a8ee2eb90",
        ),
    )
} | {
    "wikitext-2": (
        "https://s3.amazonaws.com/research.metamind.io/wikitext/wikitext-2-v1.zip",
        "3c914d17d80b1459be871a5039ac23e752a53cbe",
    ),
    "SNLI": (
        "https://nlp.stanford.edu/projects/snli/snli_1.0.zip",
        "9fcde07509c7e87ec61c640c1b2753d9041758e4",
    ),
    "ml-100k": (
        "https://files.grouplens.org/datasets/movielens/ml-100k.zip",
        "cd4dcac4241c8a4ad7badc7ca635da8a69dddb83",
    ),
}


def download(
    url: str = "",
    folder: str = os.path.join("..", "data"),
    sha1_hash: str | None = None,
    *,
    name: str = "",
    cache_dir: str = "",
) -> str:
    """Fetch a file by its address, or by its name in ``DATA_HUB``; return where it is.

    Version 0.17 of the package calls the first arguments ``name`` and ``cache_dir``.
    """
    url, folder = name or url, cache_dir or folder
    if not url.startswith(("http://", "https://")):
        assert url in DATA_HUB, f"{url} does not exist in DATA_HUB."
        url, sha1_hash = DATA_HUB[url]
    os.makedirs(folder, exist_ok=True)
    return utils.download(url, os.path.join(folder, url.split("/")[-1]), sha1_hash=sha1_hash)


def extract(filename: str, folder: str | None = None) -> None:
    """Unpack a zip or tar file, beside it unless another folder is given."""
    folder = folder or os.path.dirname(filename)
    if filename.endswith(".zip"):
        with zipfile.ZipFile(filename) as archive:
            archive.extractall(folder)
    elif filename.endswith((".tar", ".tar.gz", ".tgz")):
        with tarfile.open(filename) as archive:
            archive.extractall(folder, filter="data")
    else:
        raise ValueError(f"only zip and tar files can be unpacked, but got {filename}")


def download_extract(name: str, folder: str | None = None) -> str:
    """Fetch and unpack a file; return the folder of its name, or the one that is given."""
    file = download(name)
    extract(file)
    place, own = os.path.split(file)
    for ending in (".gz", ".zip", ".tar", ".tgz"):
        own = own.removesuffix(ending)
    return os.path.join(place, folder or own)


def download_all() -> None:
    """Fetch all files of ``DATA_HUB``."""
    for name in DATA_HUB:
        download(name)
