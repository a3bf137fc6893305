# SPDX-License-Identifier: Apache-2.0
"""Datasets of images, out of the very files that MXNet reads."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as onp
import pytest

import afterglow as mx
from afterglow import gluon, nd, np, recordio
from afterglow._formats import fetching
from afterglow.gluon.data import vision
from tests.vision import files
from tests.vision.server import Server


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    """Stand in for the store of MXNet; nothing is in it at first."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(fetching, "_PAUSE", 0.001)
    with Server() as server:
        monkeypatch.setenv("MXNET_GLUON_REPO", server.address("store"))
        yield server


# --- MNIST and its kin ---


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("kind", [vision.MNIST, vision.FashionMNIST])
def test_mnist(tmp_path: Path, kind: Any, train: bool) -> None:
    images, labels = files.mnist(tmp_path, train, 5)
    data = kind(str(tmp_path), train=train)
    assert len(data) == 5
    for place, (image, label) in enumerate(data):
        assert isinstance(image, nd.NDArray)
        assert (image.shape, image.dtype) == ((28, 28, 1), onp.uint8)
        onp.testing.assert_array_equal(image[:, :, 0], images[place])
        assert label == labels[place]
        assert label.dtype == onp.int32
    with mx.util.np_array(True):
        image, label = kind(str(tmp_path), train=train)[3]
    assert isinstance(image, np.ndarray)
    assert isinstance(label, np.ndarray)
    assert (label.shape, label.dtype, int(label)) == ((), onp.int32, labels[3])
    onp.testing.assert_array_equal(image[:, :, 0], images[3])


def test_several_samples_and_transforms(tmp_path: Path) -> None:
    images, labels = files.mnist(tmp_path, True, 5)
    data = vision.MNIST(str(tmp_path), transform=lambda image, label: (image + 1, -label))
    onp.testing.assert_array_equal(data[2][0][:, :, 0], (images[2] + 1) % 256)
    assert data[2][1] == -labels[2]
    several, their_labels = vision.MNIST(str(tmp_path))[1:4]
    onp.testing.assert_array_equal(several[..., 0], images[1:4])
    onp.testing.assert_array_equal(their_labels, labels[1:4])
    again = pickle.loads(pickle.dumps(vision.MNIST(str(tmp_path))))
    onp.testing.assert_array_equal(again[4][0][:, :, 0], images[4])


def test_home(tmp_path: Path) -> None:
    images, _ = files.mnist(tmp_path / "home" / "datasets" / "fashion-mnist", False, 2)
    onp.testing.assert_array_equal(vision.FashionMNIST(train=False)[1][0][:, :, 0], images[1])


def test_files_are_fetched(store: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images, _ = files.mnist(tmp_path / "there", True, 4)
    sums = []
    for (name, _), _ in zip(vision.MNIST._sums[True], range(2), strict=True):
        content = (tmp_path / "there" / name).read_bytes()
        store.files[f"store/gluon/dataset/mnist/{name}"] = content
        sums.append((name, files.sum_of(content)))
    monkeypatch.setitem(vision.MNIST._sums, True, tuple(sums))
    data = vision.MNIST(str(tmp_path / "here"))
    onp.testing.assert_array_equal(data[3][0][:, :, 0], images[3])
    assert sorted(one.name for one in (tmp_path / "here").iterdir()) == sorted(
        name for name, _ in sums
    )
    vision.MNIST(str(tmp_path / "here"))
    assert len(store.asked) == 2  # not again
    (tmp_path / "here" / sums[0][0]).write_bytes(b"damaged")
    assert len(vision.MNIST(str(tmp_path / "here"))) == 4
    assert len(store.asked) == 3


def test_files_that_cannot_be_had(store: Server, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="404") as told:
        vision.MNIST(str(tmp_path / "here"))
    text = str(told.value)
    address = store.address("store/gluon/dataset/mnist/train-images-idx3-ubyte.gz")
    assert text.startswith(f"train-images-idx3-ubyte.gz could not be fetched from {address}")
    assert f"into the folder {tmp_path / 'here'} yourself" in text


def test_files_of_ones_own(
    store: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is there is taken where MXNet's own file cannot be had, and that is said."""
    files.mnist(tmp_path, True, 3)
    assert len(vision.MNIST(str(tmp_path))) == 3
    assert "train-images-idx3-ubyte.gz is read as it is" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "is not a file of MNIST"),
        (b"\x00\x00\x08\x03\x00\x00", "is not a file of MNIST"),
        (b"\x1f\x8bgarbage", "cannot be unpacked"),
        (files.idx_bytes(onp.zeros((4, 28, 28)))[:-9], "cannot be unpacked"),
        (b"\x00\x00\x08\x03" + b"\x7f\xff\xff\xff" * 3, "bytes that it announces"),
        (b"\x00\x00\x08\x03" + b"\xff\xff\xff\xff" * 3, "bytes that it announces"),
        (files.idx_bytes(onp.zeros((2, 28, 28))), "2 images and 3 labels"),
    ],
)
def test_damaged_files(tmp_path: Path, content: bytes, text: str) -> None:
    files.mnist(tmp_path, True, 3)
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(content)
    with pytest.raises(mx.MXNetError, match=text):
        vision.MNIST(str(tmp_path))


# --- CIFAR ---


def test_cifar10(tmp_path: Path) -> None:
    batches = [files.cifar_records(4, 10, 1, seed) for seed in range(6)]
    for number, records in enumerate(batches[:5], 1):
        (tmp_path / f"data_batch_{number}.bin").write_bytes(records.tobytes())
    (tmp_path / "test_batch.bin").write_bytes(batches[5].tobytes())
    train, test = vision.CIFAR10(str(tmp_path)), vision.CIFAR10(str(tmp_path), train=False)
    assert (len(train), len(test)) == (20, 4)
    image, label = train[9]
    assert (image.shape, image.dtype, label.dtype) == ((32, 32, 3), onp.uint8, onp.int32)
    onp.testing.assert_array_equal(image, files.images_of(batches[2])[1])
    assert label == batches[2][1, 0]
    onp.testing.assert_array_equal(test[3][0], files.images_of(batches[5])[3])
    with mx.util.np_array(True):
        image, label = vision.CIFAR10(str(tmp_path), train=False)[0]
    assert isinstance(image, np.ndarray)
    assert isinstance(label, np.ndarray)


@pytest.mark.parametrize("fine", [False, True])
def test_cifar100(tmp_path: Path, fine: bool) -> None:
    records = files.cifar_records(6, 100, 2, 1)
    (tmp_path / "train.bin").write_bytes(records.tobytes())
    data = vision.CIFAR100(str(tmp_path), fine_label=fine)
    onp.testing.assert_array_equal([label for _, label in data], records[:, int(fine)])
    onp.testing.assert_array_equal(data[5][0], files.images_of(records)[5])


@pytest.mark.parametrize("folder", ["", "cifar-100-binary/"])
def test_archives(
    store: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """They are fetched and unpacked once; nothing else in them is written anywhere."""
    train, test = (files.cifar_records(3, 100, 2, seed) for seed in (1, 2))
    content = {
        f"{folder}train.bin": train.tobytes(),
        f"{folder}test.bin": test.tobytes(),
        "../outside.bin": b"x",
        f"{folder}readme.html": b"x",
    }
    packed = files.archive(content)
    name = vision.CIFAR100._archive[0]
    store.files[f"store/gluon/dataset/cifar100/{name}"] = packed
    monkeypatch.setattr(vision.CIFAR100, "_archive", (name, files.sum_of(packed)))
    sums = {
        True: [("train.bin", files.sum_of(train.tobytes()))],
        False: [("test.bin", files.sum_of(test.tobytes()))],
    }
    monkeypatch.setattr(vision.CIFAR100, "_sums", sums)
    root = tmp_path / "here"
    data = vision.CIFAR100(str(root))
    onp.testing.assert_array_equal(data[2][0], files.images_of(train)[2])
    assert sorted(one.name for one in root.iterdir()) == [name, "test.bin", "train.bin"]
    assert len(vision.CIFAR100(str(root), train=False)) == 3
    assert len(store.asked) == 1
    assert not (tmp_path / "outside.bin").exists()


def test_archive_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = files.cifar_records(3, 100, 2, 1)
    packed = files.archive({"train.bin": records.tobytes()})
    (tmp_path / "cifar-100-binary.tar.gz").write_bytes(packed)
    assert len(vision.CIFAR100(str(tmp_path))) == 3
    assert "is read as it is" in capsys.readouterr().out


def test_damaged_archives(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"cifar-10-binary.tar.gz could not be fetched"):
        vision.CIFAR10(str(tmp_path))
    (tmp_path / "cifar-10-binary.tar.gz").write_bytes(b"no archive")
    with pytest.raises(mx.MXNetError, match="cannot be unpacked"):
        vision.CIFAR10(str(tmp_path))
    packed = files.archive({"train.bin": bytes(3074 * 50)})
    (tmp_path / "cifar-100-binary.tar.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(mx.MXNetError, match="cannot be unpacked"):
        vision.CIFAR100(str(tmp_path))
    (tmp_path / "train.bin").write_bytes(b"x" * 3075)
    (tmp_path / "cifar-100-binary.tar.gz").unlink()
    with pytest.raises(mx.MXNetError, match="no records of 3074"):
        vision.CIFAR100(str(tmp_path))


def test_archive_without_the_files(tmp_path: Path) -> None:
    (tmp_path / "cifar-100-binary.tar.gz").write_bytes(files.archive({"other.bin": b"x"}))
    with pytest.raises(OSError, match=r"train.bin"):
        vision.CIFAR100(str(tmp_path))


# --- pictures in record files and folders ---


def photographs(count: int) -> list[Any]:
    """Return smooth pictures, of which JPEG loses little."""
    steps = onp.linspace(0, 1, 24)
    return [
        (255 * onp.stack([onp.outer(steps, steps**k) for k in (1, place % 5, 0)], 2)).astype(
            "uint8"
        )
        for place in range(count)
    ]


@pytest.fixture
def record_file(tmp_path: Path) -> str:
    path = str(tmp_path / "data.rec")
    writer = recordio.MXIndexedRecordIO(str(tmp_path / "data.idx"), path, "w")
    for place, picture in enumerate(photographs(6)):
        header = recordio.IRHeader(0, float(place) if place % 2 else [place, 7.0], place, 0)
        content = recordio.pack_img(header, picture[:, :, ::-1], img_fmt=".png")
        writer.write_idx(place, content)
    writer.close()
    return path


def test_records(record_file: str) -> None:
    data = gluon.data.RecordFileDataset(record_file)
    assert len(data) == 6
    header, _ = recordio.unpack(data[3])
    assert header.label == 3
    assert len(pickle.loads(pickle.dumps(data))) == 6


def test_pictures_in_records(record_file: str) -> None:
    data = vision.ImageRecordDataset(record_file)
    pictures = photographs(6)
    for place in range(6):
        picture, label = data[place]
        onp.testing.assert_array_equal(picture, pictures[place])
        onp.testing.assert_array_equal(label, place if place % 2 else [place, 7])
    assert vision.ImageRecordDataset(record_file, flag=0)[0][0].shape == (24, 24, 1)
    changed = vision.ImageRecordDataset(record_file, transform=lambda x, y: (x.shape, y + 1))
    assert changed[1] == ((24, 24, 3), 2)
    with mx.util.np_array(True):
        assert isinstance(data[0][0], np.ndarray)


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    root = tmp_path / "pictures"
    for place, picture in enumerate(photographs(6)):
        folder = root / ("cat", "bird", "dog")[place % 3]
        folder.mkdir(parents=True, exist_ok=True)
        suffix = (".png", ".PNG", ".jpeg")[place % 3]
        assert cv2.imwrite(str(folder / f"{place}{suffix}"), picture[:, :, ::-1])
    return root


def test_pictures_in_folders(folders: Path) -> None:
    data = vision.ImageFolderDataset(str(folders))
    assert data.synsets == ["bird", "cat", "dog"]
    assert [(Path(file).name, label) for file, label in data.items] == [
        ("1.PNG", 0), ("4.PNG", 0), ("0.png", 1), ("3.png", 1), ("2.jpeg", 2), ("5.jpeg", 2)
    ]  # fmt: skip
    assert len(data) == 6
    picture, label = data[3]
    onp.testing.assert_array_equal(picture, photographs(6)[3])
    assert label == 1
    assert vision.ImageFolderDataset(str(folders), flag=0)[0][0].shape == (24, 24, 1)
    changed = vision.ImageFolderDataset(folders, transform=lambda x, y: (x.mean(), -y))
    assert changed[5][1] == -2


def test_what_is_no_picture(folders: Path) -> None:
    (folders / "readme.txt").write_text("x")
    with pytest.warns(UserWarning, match=r"readme.txt, which is not a directory"):
        assert len(vision.ImageFolderDataset(str(folders))) == 6
    (folders / "readme.txt").unlink()
    (folders / "cat" / "notes.txt").write_text("x")
    with pytest.warns(UserWarning, match=r"notes.txt of type .txt. Only support .jpg"):
        assert len(vision.ImageFolderDataset(str(folders))) == 6
    with pytest.raises(OSError, match="is not a folder"):
        vision.ImageFolderDataset(str(folders / "nowhere"))


# --- through a loader ---


def as_tensor(image: Any, label: Any) -> Any:
    return vision.transforms.ToTensor()(image), label


@pytest.mark.parametrize("options", [{}, {"thread_pool": True}, {"pin_memory": True}])
@pytest.mark.parametrize("world", ["nd", "np"])
def test_loader(tmp_path: Path, options: dict[str, Any], world: str) -> None:
    images, labels = files.mnist(tmp_path, True, 11)
    with mx.util.np_array(world == "np"):
        data = vision.MNIST(str(tmp_path)).transform(as_tensor)
        batches = list(gluon.data.DataLoader(data, 4, num_workers=2, **options))
    assert [len(batch[1]) for batch in batches] == [4, 4, 3]
    kind: Any = np.ndarray if world == "np" else nd.NDArray
    assert all(isinstance(one, kind) for batch in batches for one in batch)
    pixels = onp.concatenate([batch[0].asnumpy() for batch in batches])
    onp.testing.assert_allclose(pixels[:, 0], images / 255, rtol=1e-6)
    onp.testing.assert_array_equal(
        onp.concatenate([batch[1].asnumpy() for batch in batches]), labels
    )


def test_pictures_through_workers(record_file: str, folders: Path) -> None:
    for data in (
        vision.ImageRecordDataset(record_file).transform(lambda x, y: x),
        vision.ImageFolderDataset(str(folders)).transform_first(lambda x: x),
    ):
        once = list(gluon.data.DataLoader(data, 2))
        again = list(gluon.data.DataLoader(data, 2, num_workers=2))
        assert len(once) == len(again) == 3
        for one, other in zip(once, again, strict=True):
            pair = zip(*(x if isinstance(x, list) else [x] for x in (one, other)), strict=True)
            for left, right in pair:
                onp.testing.assert_array_equal(left, right)


def test_draws_of_workers(tmp_path: Path) -> None:
    """Batches are the same with any number of workers, and others in the next iteration."""
    files.mnist(tmp_path, True, 16)
    change = vision.transforms.Compose(
        [
            vision.transforms.RandomCrop(28, pad=4),
            vision.transforms.RandomFlipLeftRight(),
            vision.transforms.RandomBrightness(0.5),
            vision.transforms.ToTensor(),
        ]
    )
    data = vision.MNIST(str(tmp_path)).transform_first(change)

    def epochs(workers: int) -> list[onp.ndarray[Any, Any]]:
        mx.random.seed(7)
        loader = gluon.data.DataLoader(data, 4, num_workers=workers)
        return [onp.concatenate([x.asnumpy() for x, _ in loader]) for _ in range(2)]

    first, second = epochs(1)
    for workers in (2, 3):
        onp.testing.assert_array_equal(epochs(workers), [first, second])
    assert (first != second).any()
