# SPDX-License-Identifier: Apache-2.0
"""Small data in the files that well-known datasets have, made up from seeds.

Pictures are PNG files that are written here, so that they are the same everywhere. JPEG files are
those of ``scenes.json``, which ``python -m tests.whole_programs.data`` encodes with OpenCV.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as onp

from tests.vision.files import idx_bytes

Host = onp.ndarray[Any, Any]
SCENES = Path(__file__).with_name("scenes.json")


def png(pixels: Host) -> bytes:
    """Return a picture of (height, width) or (height, width, 3) bytes as a PNG file."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        sum_of = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + sum_of

    height, width = pixels.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    rows = b"".join(b"\0" + row.astype("uint8").tobytes() for row in pixels)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


# --- pictures of classes ---


def pictures(
    seed: int, count: int, classes: int, size: int, channels: int = 1
) -> tuple[Host, Host]:
    """Return pictures, each a pattern of its class that is moved a little, and their classes."""
    blocks = onp.random.RandomState(classes).randint(0, 2, (classes, 7, 7, channels))
    patterns = blocks.repeat(size // 7, 1).repeat(size // 7, 2)
    rest = size - patterns.shape[1]
    patterns = onp.pad(patterns, ((0, 0), (0, rest), (0, rest), (0, 0)))
    random = onp.random.RandomState(seed)
    labels = random.randint(0, classes, count)
    found = random.normal(40, 10, (count, size, size, channels))
    for picture, label in zip(found, labels, strict=True):
        picture += 150 * onp.roll(patterns[label], random.randint(-1, 2, 2), (0, 1))
    return onp.clip(found, 0, 255).astype("uint8"), labels


def fashion_mnist(folder: Path) -> None:
    """Write the files of FashionMNIST."""
    for kind, seed, count in (("train", 1, 800), ("t10k", 2, 200)):
        images, labels = pictures(seed, count, 10, 28)
        (folder / f"{kind}-images-idx3-ubyte.gz").write_bytes(idx_bytes(images[..., 0]))
        (folder / f"{kind}-labels-idx1-ubyte.gz").write_bytes(idx_bytes(labels))


def cifar(folder: Path) -> None:
    """Write the files of CIFAR-10 and CIFAR-100, of which the latter have two labels."""
    names = [f"data_batch_{number}.bin" for number in range(1, 6)]
    for seed, name in enumerate([*names, "test_batch.bin", "train.bin", "test.bin"]):
        images, labels = pictures(10 + seed, 80, 10, 32, 3)
        heads = [labels[:, None]] * (2 if name in ("train.bin", "test.bin") else 1)
        planes = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
        (folder / name).write_bytes(onp.hstack([*heads, planes]).astype("uint8").tobytes())


def folders(folder: Path) -> None:
    """Write pictures into a folder for each of their classes."""
    for part, seed, count in (("train", 3, 96), ("test", 4, 32)):
        found = zip(*pictures(seed, count, 2, 40, 3), strict=True)
        for number, (pixels, label) in enumerate(found):
            place = folder / part / ("hotdog", "not-hotdog")[label]
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{number:03d}.png").write_bytes(png(pixels))


# --- scenes: things before a background ---


class Scene(NamedTuple):
    """A picture of one thing."""

    pixels: Host  # (height, width, 3)
    kind: int  # 0: a square, 1: a disc
    box: tuple[float, ...]  # left, top, right, bottom, by the size of the picture
    mask: Host  # (height, width): where the thing is


def scene(number: int, size: int = 48) -> Scene:
    """Return a picture of a red square or a blue disc before a smooth background."""
    random = onp.random.RandomState(number)
    kind, extent = number % 2, random.randint(16, 25)
    left, top = random.randint(0, size - extent, 2)
    y, x = onp.mgrid[:size, :size]
    across, down = (x - left + 0.5) / extent - 0.5, (y - top + 0.5) / extent - 0.5
    mask = onp.maximum(abs(across), abs(down)) < 0.5 if kind == 0 else across**2 + down**2 < 0.25
    waves = [onp.sin((x + y * random.uniform(-1, 1)) / random.uniform(5, 9)) for _ in range(3)]
    pixels = 120 + 25 * onp.stack(waves, -1)
    pixels[mask] = ([220, 50, 40], [40, 60, 220])[kind]
    corners = (left, top, left + extent, top + extent)
    return Scene(pixels.astype("uint8"), kind, tuple(one / size for one in corners), mask)


def photographs() -> list[bytes]:
    """Return scenes as JPEG files, from number 0 on."""
    return [base64.b64decode(text) for text in json.loads(SCENES.read_text())]


def detection(folder: Path) -> None:
    """Write scenes and their boxes as records with an index."""
    from mxnet import recordio

    records = recordio.MXIndexedRecordIO(str(folder / "train.idx"), str(folder / "train.rec"), "w")
    for number, photograph in enumerate(photographs()):
        shown = scene(number)
        # How long the head is, how long an object is, and the object.
        label = [2.0, 5.0, float(shown.kind), *shown.box]
        picture = png(shown.pixels) if number % 4 == 3 else photograph
        records.write_idx(number, recordio.pack(recordio.IRHeader(0, label, number, 0), picture))
    records.close()


#: The colours of masks: nothing, a square, a disc.
COLOURS = ((0, 0, 0), (128, 0, 0), (0, 128, 0))


def segmentation(folder: Path) -> None:
    """Write scenes and their masks into the folders of VOC."""
    for name in ("ImageSets/Segmentation", "JPEGImages", "SegmentationClass"):
        (folder / name).mkdir(parents=True)
    names = []
    for number, photograph in enumerate(photographs()):
        shown, name = scene(number), f"2012_{number:06d}"
        names.append(name)
        classes = shown.mask * (1 + shown.kind)
        (folder / f"JPEGImages/{name}.jpg").write_bytes(photograph)
        (folder / f"SegmentationClass/{name}.png").write_bytes(png(onp.array(COLOURS)[classes]))
    (folder / "ImageSets/Segmentation/train.txt").write_text("\n".join(names) + "\n")


# --- texts ---

#: Words that stand together, because they are about the same.
TOPICS = (
    ("river", "water", "boat", "fish", "wave", "shore"),
    ("bread", "butter", "oven", "flour", "salt", "cake"),
    ("horse", "rider", "saddle", "stable", "hoof", "rein"),
    ("star", "moon", "night", "sky", "comet", "light"),
)


def paragraphs(folder: Path) -> None:
    """Write a text, a paragraph a line: sentences about one topic each."""
    random = onp.random.RandomState(5)
    lines = []
    for _ in range(60):
        topic = TOPICS[random.randint(len(TOPICS))]
        sentences = []
        for _ in range(random.randint(2, 5)):
            first, second, third = random.choice(topic, 3, replace=False)
            verb = random.choice(["meets", "needs"])
            sentences.append(f"the {first} {verb} a {second} and a {third}")
        lines.append(" . ".join(sentences) + " .")
    (folder / "text.txt").write_text("\n".join(lines) + "\n")


def pairs(folder: Path) -> None:
    """Write sentences with their translations, whose verbs stand at the end."""
    random = onp.random.RandomState(6)
    nouns = {"dog": "hund", "cat": "katze", "bird": "vogel", "child": "kind", "man": "mann"}
    verbs = {"sees": "sehen", "hears": "hören", "finds": "finden", "calls": "rufen"}
    lines = []
    for _ in range(240):
        who, whom = random.choice(list(nouns), 2)
        verb = random.choice(list(verbs))
        old = random.randint(2)
        lines.append(
            f"the {'old ' * old}{who} {verb} the {whom} .\t"
            f"{'alt ' * old}{nouns[who]} {nouns[whom]} {verbs[verb]} ."
        )
    (folder / "pairs.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def reviews(folder: Path) -> None:
    """Write reviews, a file each, in the folders of those that praise and those that do not."""
    random = onp.random.RandomState(7)
    opinions = {"pos": "fine lovely bright moving", "neg": "dull poor tired empty"}
    plain = ["the", "film", "was", "a", "story", "of", "two", "people", "and", "their", "way"]
    for part in ("train", "test"):
        for opinion, words in opinions.items():
            (folder / part / opinion).mkdir(parents=True)
            for number in range(80):
                text = [str(random.choice(plain)) for _ in range(random.randint(6, 12))]
                for _ in range(2):
                    text.insert(random.randint(len(text)), str(random.choice(words.split())))
                (folder / part / opinion / f"{number}_1.txt").write_text(" ".join(text))
    known = sorted({*plain, *" ".join(opinions.values()).split()})
    vectors = [[word, *map("{:.4f}".format, random.normal(0, 1, 8))] for word in known]
    (folder / "vectors.txt").write_text("\n".join(map(" ".join, vectors)) + "\n")


def inferences(folder: Path) -> None:
    """Write pairs of sentences in the files of SNLI: a label, and both with their grammar."""
    random = onp.random.RandomState(11)
    who = ["dog", "man", "girl", "horse"]
    what = ["runs", "sleeps", "eats", "sings"]
    others = {"runs": "rests", "sleeps": "wakes", "eats": "fasts", "sings": "listens"}
    for part, count in (("train", 320), ("test", 120)):
        lines = ["gold_label\tsentence1_binary_parse\tsentence2_binary_parse"]
        for _ in range(count):
            one, verb = random.choice(who), random.choice(what)
            label, ending = (
                ("entailment", verb),
                ("contradiction", others[verb]),
                ("neutral", "smiles"),
                ("-", verb),  # nobody agreed
            )[random.choice(4, p=[0.3, 0.3, 0.3, 0.1])]
            lines.append(f"{label}\t( ( a {one} ) ( {verb} outside ) )\t( ( the {one} ) {ending} )")
        (folder / f"snli_1.0_{part}.txt").write_text("\n".join(lines) + "\n")


# --- tables ---


def houses(folder: Path) -> None:
    """Write a table of houses and their prices, some fields of which are empty."""
    random = onp.random.RandomState(8)
    lines = ["Id,Area,Rooms,Year,Street,SalePrice"]
    for number in range(200):
        area, rooms, year = (
            random.randint(50, 200),
            random.randint(1, 7),
            random.randint(1950, 2010),
        )
        street = random.choice(["Pave", "Grvl", "NA"])
        price = area * 900 + rooms * 5000 + (year - 1950) * 300 + 8000 * (street == "Pave")
        rooms_text = "NA" if number % 17 == 0 else rooms
        lines.append(f"{number},{area},{rooms_text},{year},{street},{price}")
    (folder / "houses.csv").write_text("\n".join(lines) + "\n")


def ratings(folder: Path) -> None:
    """Write the file of MovieLens: user, item, rating and time, between tabs."""
    random = onp.random.RandomState(9)
    users, items = random.normal(0, 1, (30, 3)), random.normal(0, 1, (40, 3))
    lines = []
    for time in range(1200):
        user, item = random.randint(30), random.randint(40)
        rating = int(onp.clip(round(3 + 0.8 * float(users[user] @ items[item])), 1, 5))
        lines.append(f"{user + 1}\t{item + 1}\t{rating}\t{time}")
    (folder / "u.data").write_text("\n".join(lines) + "\n")


def write_scenes() -> None:
    """Encode the scenes."""
    import cv2

    found = []
    for number in range(24):
        colours = cv2.cvtColor(scene(number).pixels, cv2.COLOR_RGB2BGR)
        encoded = cv2.imencode(".jpg", colours, [cv2.IMWRITE_JPEG_QUALITY, 85])[1]
        found.append(base64.b64encode(encoded.tobytes()).decode())
    SCENES.write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    write_scenes()
