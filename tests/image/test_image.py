# SPDX-License-Identifier: Apache-2.0
"""``mx.image`` beside MXNet's answers: damaged pictures, mistakes, both worlds, other iterators."""

from __future__ import annotations

import doctest
import random
import resource
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from image.test_recorded_pictures import FILES
from support import busy_engine, output_of, run_child, runs_later

import afterglow as mx
from afterglow import image, nd, np, npx, recordio
from afterglow._formats import pictures
from afterglow.error import FileError
from afterglow.image import augmenters, detection, functions

PIXELS = onp.random.RandomState(0).randint(0, 255, (12, 9, 3)).astype("uint8")


@pytest.mark.parametrize("module", [augmenters, detection, functions])
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


def test_npx_image_has_the_names_of_image() -> None:
    assert npx.image.imread is image.imread
    assert all(getattr(npx.image, name) is getattr(image, name) for name in image.__all__)
    assert npx.image.resize is not getattr(image, "resize", None)  # its own
    with pytest.raises(AttributeError, match="no attribute 'rezise'; did you mean resize"):
        npx.image.rezise


# --- damaged pictures ---


def png(width: int, height: int, depth: int = 8, colours: int = 2, data: bytes = b"") -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", width, height, depth, colours, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def with_size(name: str, width: int, height: int) -> bytes:
    """Return a picture whose header announces another size."""
    if name == "webp":
        data = bytearray(pictures.encode(PIXELS, ".webp", 100))
        assert data[12:16] == b"VP8L"
        struct.pack_into("<I", data, 21, width - 1 | height - 1 << 14)
        return bytes(data)
    if name == "gif":
        data = bytearray(pictures.encode(PIXELS, ".gif", 1))
        struct.pack_into("<2H", data, 6, width, height)
        return bytes(data)
    data = bytearray(FILES[name])
    if name.endswith("png"):
        struct.pack_into(">2I", data, 16, width, height)
        struct.pack_into(">I", data, 29, zlib.crc32(data[12:29]))
    elif name.endswith("jpg"):
        frame = max(data.find(b"\xff\xc0"), data.find(b"\xff\xc2"))
        struct.pack_into(">2H", data, frame + 5, height, width)
    elif name.endswith("bmp"):
        struct.pack_into("<2i", data, 18, width, height)
    else:
        (place,) = struct.unpack_from("<I", data, 4)
        for entry in range(place + 2, place + 2 + 12 * data[place], 12):
            (tag,) = struct.unpack_from("<H", data, entry)
            if tag in (0x100, 0x101):
                side = width if tag == 0x100 else height
                struct.pack_into("<HHII", data, entry, tag, 4, 1, side)
    return bytes(data)


@pytest.mark.parametrize(
    ("name", "width", "height"),
    [
        ("colour.png", 40000, 40000),
        ("gray.png", 2**31 - 1, 2**31 - 1),
        ("palette.png", 2**31 - 1, 1000),
        ("95.jpg", 65535, 65535),
        ("95.jpg", 5000, 5000),
        ("progressive.jpg", 30000, 30000),
        ("turned.jpg", 30000, 30000),
        ("colour.bmp", 2**31 - 1, 2**31 - 1),
        ("colour.bmp", 30000, -30000),
        ("colour.bmp", 100, -(2**31)),
        ("colour.tiff", 2**31, 2**31),
        ("colour.tiff", 30000, 30000),
        ("webp", 16383, 16383),
        ("gif", 65535, 65535),
    ],
)
def test_sizes_take_no_memory(name: str, width: int, height: int) -> None:
    content = with_size(name, width, height)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = rf"\[imdecode\] buf is damaged: its \w+ header announces {width} x {abs(height)} pixels"
    with pytest.raises(FileError, match=text):
        image.imdecode(content)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_sizes_of_nothing() -> None:
    for name in ("colour.png", "95.jpg", "colour.bmp", "colour.tiff", "gif"):
        for width, height in ((0, 5), (5, 0)):
            with pytest.raises(FileError, match=f"announces {width} x {height} pixels"):
                image.imdecode(with_size(name, width, height))


@pytest.mark.parametrize("name", ["95.jpg", "progressive.jpg", "colour.png", "colour.bmp"])
def test_pictures_that_are_cut_off(name: str) -> None:
    content = FILES[name]
    for length in {*range(0, len(content) - 2, 7), len(content) // 2}:
        with pytest.raises(FileError, match=r"\[imdecode\] buf"):
            image.imdecode(content[:length])


def test_small_pictures_of_few_bytes() -> None:
    """What is one colour takes hardly any bytes, and is no damaged picture."""
    plain = onp.full((3000, 3000, 3), 90, "uint8")
    for form in (".png", ".jpg", ".webp"):
        content = pictures.encode(plain, form, 9)
        assert len(content) < 200_000
        assert image.imdecode(content).shape == plain.shape
    rows = (b"\0" + bytes(6000 // 8)) * 6000
    assert image.imdecode(png(6000, 6000, 1, 0, rows), 0).shape == (6000, 6000, 1)


@pytest.mark.parametrize(
    "content",
    [b"", b"no", b"BM", b"\xff\xd8\xff", b"\xff\xd8\xff\xe0\0\2", b"\xff\xd8\xff\xd9",
     b"RIFF0000WEBPVP8X", b"II*\0" + b"\xff" * 4, b"GIF89a", b"P6\n2 2\n255\n" + bytes(12)],
)  # fmt: skip
def test_no_pictures(content: bytes) -> None:
    with pytest.raises(FileError, match=r"\[imdecode\] buf"):
        image.imdecode(content)


def test_files_of_pictures(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(FILES["colour.png"])
    assert image.imread(path).shape == (17, 23, 3)
    with pytest.raises(FileNotFoundError):
        image.imread(tmp_path / "nothing.png")
    path.write_bytes(b"text")
    with pytest.raises(FileError, match=r"\[imread\] '.*a\.png' is no picture"):
        image.imread(path)


# --- arguments ---

P = "image.imdecode(FILES['colour.png'])"


@pytest.mark.parametrize(
    ("statement", "kind", "text"),
    [
        ("image.imdecode('text')", ValueError, "got a str"),
        ("image.imdecode(onp.zeros(3))", TypeError, "Input needs to be uint8 buffer"),
        ("image.imdecode(nd.zeros((3,)))", TypeError, "Input needs to be uint8 buffer"),
        ("image.imdecode(FILES['95.jpg'], 3)", ValueError, "flag is 3; 0 for gray or 1"),
        ("image.imdecode(FILES['95.jpg'], out=nd.zeros((2, 2)))", ValueError, "out is .*float32"),
        (f"image.imresize({P}, 0, 4)", ValueError, "value 0 for Parameter w should be"),
        (f"image.imresize({P}, 4, -4)", ValueError, "value -4 for Parameter h should be"),
        (f"image.imresize({P}, 4.5, 4)", ValueError, r"w is 4\.5; a whole number"),
        (f"image.imresize({P}, 4, 4, 9)", ValueError, "Unknown interp method 9; 0 to 4"),
        (f"image.imresize({P}[:, :, 0], 4, 4)", ValueError, r"\(17, 23\); \(height, width, ch"),
        ("image.imresize(nd.zeros((0, 2, 3)), 4, 4)", ValueError, r"shape \(0, 2, 3\)"),
        (f"image.imresize({P}.astype('int32'), 4, 4)", TypeError, "of int32 cannot be resized"),
        (f"image.resize_short({P}, 4, 11)", ValueError, "Unknown interp method 11; 0 to 4, 9"),
        (f"image.copyMakeBorder({P}, -1, 0, 0, 0)", ValueError, "none may be negative"),
        (f"image.copyMakeBorder({P}, 1, 0, 0, 0, 9)", ValueError, "there is no type 9"),
        ("image.copyMakeBorder(nd.ones((2, 2, 5)), 1, 0, 0, 0, values=(1, 2))", ValueError, "5 ch"),
        (f"image.random_size_crop({P}, (2, 2), 1, (1, 1), a=1)", AssertionError, "keyword .*: a"),
        (f"image.imrotate({P}, 3)", TypeError, "Only `float32` images"),
        ("image.imrotate(nd.ones((2, 3)), 3)", ValueError, "Only 3D and 4D"),
        ("image.imrotate(nd.ones((1, 2, 3)), nd.ones((1,)))", TypeError, "by one number"),
        ("image.imrotate(nd.ones((2, 1, 2, 3)), nd.ones((3,)))", ValueError, "3 angles for 2"),
        ("image.imrotate(nd.ones((1, 2, 3)), 3, True, True)", ValueError, "cannot be both True"),
        ("image.Augmenter()(1)", NotImplementedError, "must define __call__"),
        ("image.DetAugmenter()(1, 2)", NotImplementedError, "must define __call__"),
        ("image.DetBorrowAug(3)", TypeError, "Borrowing from invalid Augmenter"),
        ("image.DetRandomSelectAug([3])", ValueError, "Allow DetAugmenter in list only"),
        ("image.DetRandomCropAug(area_range='a')", AssertionError, "area_range is 'a'"),
        ("image.CreateMultiRandCropAugmenter([1, 2], [1, 2, 3])", AssertionError, "has 2 values"),
        ("image.CreateAugmenter((3, 4, 4), rand_resize=True)", AssertionError, "needs rand_crop"),
        ("image.CreateAugmenter((3, 4, 4), mean=3)", AssertionError, "mean is 3"),
        ("image.CreateAugmenter((3, 4, 4), std=onp.ones(2))", AssertionError, "1 or 3 numbers"),
        ("image.ImageIter(2, (3, 4, 4))", AssertionError, "one of path_imgrec, path_imglist and"),
        ("image.ImageIter(2, (4, 4), imglist=[])", ValueError, "should have length 3"),
        ("image.ImageIter(2, (1, 4, 4), imglist=[])", ValueError, "expects inputs to have 3 ch"),
        ("image.ImageIter(2, (3, 4, 4), imglist=[], dtype='int8')", AssertionError, "int8 label"),
        ("image.ImageIter(2, (3, 4, 4), imglist=[['a', 'b']])", ValueError, "has no labels"),
        ("image.ImageIter(2, (3, 4, 4), imglist=[], last_batch_handle='a')", ValueError, "'pad'"),
        ("image.ImageIter(2, (3, 4, 4), imglist=[], num_parts=2, part_index=2)", AssertionError,
         "part 2 of 2"),
        ("image.ImageDetIter(2, (3, 4, 4), imglist=[])", ValueError, "there are no pictures"),
    ],
)  # fmt: skip
def test_mistakes(statement: str, kind: type[Exception], text: str) -> None:
    for one in (kind, mx.MXNetError):
        with pytest.raises(one, match=text):
            eval(statement)


def test_results_in_arrays_that_are_given() -> None:
    target = nd.zeros((17, 23, 3), dtype="uint8")
    assert image.imdecode(FILES["colour.png"], out=target) is target
    onp.testing.assert_array_equal(target, image.imdecode(FILES["colour.png"]))
    small = nd.zeros((4, 5, 3), dtype="uint8")
    assert image.imresize(target, 5, 4, out=small) is small
    onp.testing.assert_array_equal(small, image.imresize(target, 5, 4))


def test_old_names_of_arguments() -> None:
    picture = nd.array(PIXELS, dtype="uint8")
    with pytest.warns(DeprecationWarning, match="`min_area` is deprecated"):
        image.random_size_crop(picture, (2, 2), None, (1, 1), min_area=0.5)
    with pytest.warns(DeprecationWarning, match="`min_area` is deprecated"):
        augmenter = image.RandomSizedCropAug((2, 2), None, (1, 1), min_area=0.5)
    assert augmenter(picture).shape == (2, 2, 3)
    with pytest.warns(UserWarning, match="Skip DetRandomCropAug due to invalid area_range"):
        image.DetRandomCropAug(area_range=(2, 1))
    with pytest.warns(UserWarning, match="Skip DetRandomPadAug due to invalid aspect_ratio_range"):
        pad = image.DetRandomPadAug(aspect_ratio_range=(2, 1))
    label = onp.array([[0, 0, 0, 1, 1.0]])
    assert pad(picture, label)[0] is picture


def test_a_number_is_a_colour_for_all_channels() -> None:
    picture, label = nd.zeros((20, 20, 3), dtype="uint8"), onp.array([[0, 0, 0, 1, 1.0]])
    padded, _ = image.DetRandomPadAug(1, (2.0, 3.0), pad_val=9)(picture, label)
    assert {*padded.asnumpy().ravel().tolist()} == {0, 9}


# --- asynchrony, worlds, surroundings ---


@runs_later
def test_resizing_is_queued() -> None:
    with busy_engine() as products:
        picture = nd.repeat(products[0][:30, :30].expand_dims(2), 3, axis=2)
        resized = image.imresize(picture, 300, 300)
        bordered = image.copyMakeBorder(resized, 1, 1, 1, 1)
        cropped, _ = image.center_crop(bordered, (200, 200))
        assert not resized.is_ready()
        assert cropped.shape == (200, 200, 3)


def test_threads_of_opencv_keep_their_switch() -> None:
    cv2 = pictures.opencv()
    for is_on in (True, False):
        cv2.ipp.setUseIPP(is_on)
        before = cv2.ipp.useIPP()
        image.imresize(nd.ones((3, 3, 3)), 2, 2).asnumpy()
        assert cv2.ipp.useIPP() == before
    cv2.ipp.setUseIPP(True)


def test_arrays_of_np(tmp_path: Path) -> None:
    """With set_np() functions and iterators give arrays of np, and all augmenters take them."""
    rec, idx = _boxes(tmp_path, [[[0, 0.1, 0.1, 0.9, 0.9]]] * 3)
    everything = {
        "rand_mirror": True, "mean": True, "std": True, "brightness": 0.1, "contrast": 0.1,
        "saturation": 0.1, "hue": 0.1, "pca_noise": 0.1, "rand_gray": 0.5,
    }  # fmt: skip

    def found() -> list[Any]:
        random.seed(1)
        onp.random.seed(1)
        options: dict[str, Any] = {"path_imgrec": rec, "path_imgidx": idx, **everything}
        plain = image.ImageIter(2, (3, 8, 8), rand_crop=True, **options, label_width=7)
        boxed = image.ImageDetIter(2, (3, 8, 8), rand_crop=0.5, rand_pad=0.5, **options)
        batches = [batch for iterator in (plain, boxed) for batch in iterator]
        return [array for batch in batches for array in (*batch.data, *batch.label)]

    classic = found()
    npx.set_np()
    try:
        modern = found()
        picture = image.imdecode(FILES["95.jpg"])
        bordered = image.copyMakeBorder(image.imresize(picture, 5, 5), 1, 1, 1, 1)
        modern += [picture, bordered]
    finally:
        npx.reset_np()
    assert all(isinstance(one, np.ndarray) for one in modern)
    for one, other in zip(classic, modern, strict=False):
        onp.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


def test_without_opencv() -> None:
    assert output_of(
        """
        sys.modules["cv2"] = None
        from afterglow import image, nd
        print(image.scale_down((4, 4), (2, 2)), image.CreateAugmenter((3, 4, 4))[0].dumps())
        for use in (
            lambda: image.imdecode(b""),
            lambda: image.imresize(nd.ones((2, 2, 3)), 1, 1),
            lambda: mx.recordio.pack_img((0, 1, 0, 0), onp.ones((2, 2, 3), "uint8")),
        ):
            try:
                use()
            except ImportError as error:
                print(str(error).partition(": ")[2])
        """
    ) == [
        '(2, 2) ["centercropaug", {"size": [4, 4], "interp": 2}]',
        *["pip install afterglow[image]"] * 3,
    ]


def test_importing_starts_nothing() -> None:
    done = run_child("import afterglow.image; print('cv2' in sys.modules)")
    assert (done.out, done.err) == ("False\n", "")


def test_forks() -> None:
    """Pictures are resized before a fork, in it and after it."""
    assert output_of(
        """
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons: forks beside threads
        from afterglow import image, nd
        def work():
            pictures = [image.imresize(nd.ones((500, 500, 3)), 700, 700) for _ in range(3)]
            return sum(float(one.mean().asscalar()) for one in pictures)
        print(work())
        later = image.imresize(nd.ones((500, 500, 3)), 700, 700)
        if os.fork() == 0:
            print(work(), float(later.mean().asscalar()), flush=True)
            os._exit(0)
        os.wait()
        print(work())
        """
    ) == ["3.0", "3.0 1.0", "3.0"]


# --- iterators ---


def _boxes(folder: Path, objects: list[Any], contents: list[bytes] | None = None) -> list[str]:
    """Write records of pictures with objects."""
    paths = [str(folder / "boxes.rec"), str(folder / "boxes.idx")]
    writer = recordio.MXIndexedRecordIO(paths[1], paths[0], "w")
    for number, one in enumerate(objects):
        content = FILES["95.jpg"] if contents is None else contents[number]
        label = [2, len(one[0]), *onp.ravel(one)]
        writer.write_idx(number, recordio.pack((0, label, number, 0), content))
    writer.close()
    return paths


def test_broken_pictures_are_named(tmp_path: Path) -> None:
    (tmp_path / "good.jpg").write_bytes(FILES["95.jpg"])
    (tmp_path / "bad.jpg").write_bytes(FILES["95.jpg"][:-300])
    listed = image.ImageIter(
        2, (3, 8, 8), imglist=[[0, "good.jpg"], [1, "bad.jpg"]], path_root=tmp_path
    )
    with pytest.raises(RuntimeError, match=r"Broken image filename: bad\.jpg, \[imdecode\] buf"):
        listed.next()
    rec, idx = _boxes(tmp_path, [[[0, 0, 0, 1, 1]]] * 2, [FILES["95.jpg"], b"text"])
    for options, text in (({"path_imgidx": idx}, "index: 1,"), ({}, "in a file of records,")):
        records = image.ImageIter(2, (3, 8, 8), 7, path_imgrec=rec, **options)
        with pytest.raises(FileError, match=f"Broken image {text}"):
            records.next()


def test_missing_pictures_and_records(tmp_path: Path) -> None:
    listed = image.ImageIter(1, (3, 8, 8), imglist=[[0, "gone.jpg"]], path_root=str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"gone\.jpg"):
        listed.next()
    rec, idx = _boxes(tmp_path, [[[0, 0, 0, 1, 1]]])
    Path(idx).write_text(f"0\t{Path(rec).stat().st_size}\n")
    records = image.ImageIter(1, (3, 8, 8), path_imgrec=rec, path_imgidx=idx)
    with pytest.raises(FileError, match=r"boxes\.rec' ends before record 0"):
        records.next()
    with pytest.raises(AssertionError, match="shuffle and num_parts need path_imgidx"):
        image.ImageIter(1, (3, 8, 8), path_imgrec=rec, shuffle=True)


@pytest.mark.parametrize("line", ["", "1", "a\t0\tx.jpg", "1\tb\tx.jpg", "1\tx.jpg"])
def test_damaged_lists(line: str, tmp_path: Path) -> None:
    path = tmp_path / "list.lst"
    path.write_text(f"0\t1\tgood.jpg\n{line}\n3\t1\tgood.jpg\n")
    with pytest.raises(FileError, match=r"line 2 of '.*list\.lst' is no picture: "):
        image.ImageIter(1, (3, 8, 8), path_imglist=path, path_root=tmp_path)


def test_hard_reset(tmp_path: Path) -> None:
    rec, idx = _boxes(tmp_path, [[[number, 0, 0, 1, 1]] for number in range(5)])

    def labels(iterator: image.ImageIter) -> list[list[float]]:
        return [batch.label[0][:, 2].asnumpy().tolist() for batch in iterator]

    options: dict[str, Any] = {"path_imgrec": rec, "path_imgidx": idx, "label_width": 7}
    rolls = image.ImageIter(2, (3, 8, 8), last_batch_handle="roll_over", **options)
    assert labels(rolls) == [[0, 1], [2, 3]]
    rolls.reset()
    assert labels(rolls) == [[4, 0], [1, 2], [3, 4]]
    rolls.hard_reset()
    assert labels(rolls) == [[0, 1], [2, 3]]
    rolls.hard_reset()
    assert labels(rolls) == [[0, 1], [2, 3]]


def test_other_ways_to_make_batches(tmp_path: Path) -> None:
    """What programs override is used."""
    rec, _ = _boxes(tmp_path, [[[0, 0, 0, 1, 1]]] * 2)

    class Red(image.ImageIter):
        def imdecode(self, s: Any) -> Any:
            return super().imdecode(s) * 0 + 3

        def check_valid_image(self, data: Any) -> None:
            super().check_valid_image(data)
            if random.random() < 0.5:
                raise RuntimeError("not this one")

        def postprocess_data(self, datum: Any) -> Any:
            return super().postprocess_data(datum) + 1

    red = Red(2, (3, 8, 8), 7, path_imgrec=rec, last_batch_handle="discard")
    random.seed(0)
    for _ in range(50):
        for batch in red:
            assert batch.data[0].asnumpy().tolist() == onp.full((2, 3, 8, 8), 4).tolist()
            return
        red.reset()


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ([2, 5, 0, 0], "Label shape is invalid"),
        ([2, 5, 0, 0, 0, 1, 1, 9], "inconsistent with annotation width 5 behind 2"),
        ([2, 4, 0, 0, 0, 1, 0, 0, 1, 1], "inconsistent with annotation width 4"),
        ([2, 0, 0, 0, 0, 1, 1], "inconsistent with annotation width 0"),
        ([-3, 5, 0, 0, 0, 1, 1], "behind -3 numbers"),
        ([900, 5, 0, 0, 0, 1, 1], "behind 900 numbers"),
        ([onp.nan, 5, 0, 0, 0, 1, 1], "A label begins with nan"),
        ([2, onp.inf, 0, 0, 0, 1, 1], "A label begins with 2.0 and inf"),
        ([2, 5, 0, 0.5, 0.5, 0.5, 0.9], "no valid label"),
    ],
)
def test_labels_that_are_none(label: Any, text: str, tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    writer = recordio.MXRecordIO(path, "w")
    writer.write(recordio.pack((0, label, 0, 0), FILES["95.jpg"]))
    with pytest.raises(RuntimeError, match=text):
        image.ImageDetIter(1, (3, 8, 8), path_imgrec=path)


def test_shapes_of_labels(tmp_path: Path) -> None:
    one, two = [[1, 0, 0, 1, 1]], [[1, 0, 0, 1, 1], [2, 0, 0, 0.5, 0.5]]
    few = image.ImageDetIter(1, (3, 8, 8), path_imgrec=_boxes(tmp_path, [one])[0])
    (tmp_path / "more").mkdir()
    many = image.ImageDetIter(1, (3, 8, 8), path_imgrec=_boxes(tmp_path / "more", [one, two])[0])
    assert (few.label_shape, many.label_shape) == ((1, 5), (2, 5))
    assert many.sync_label_shape(few) is few
    assert (few.label_shape, few.provide_label[0].shape) == ((2, 5), (1, 2, 5))
    assert few.next().label[0].asnumpy().tolist() == [[[1, 0, 0, 1, 1], [-1] * 5]]
    few.reset()
    few.auglist = [image.DetBorrowAug(image.ForceResizeAug((6, 4)))]
    few.reshape((3, 4, 6), (4, 5))
    batch = few.next()
    assert (batch.data[0].shape, batch.label[0].shape) == ((1, 3, 4, 6), (1, 4, 5))
    assert few.sync_label_shape(many, verbose=True).label_shape == (4, 5)
    mistakes: list[tuple[Callable[[], Any], str]] = [
        (lambda: few.reshape(None, (3,)), "should have length 2"),
        (lambda: few.reshape(None, (3, 5)), "reduce label count from 4 to 3"),
        (lambda: few.reshape(None, (9, 6)), "inconsistent: 5 vs 6"),
        (lambda: few.sync_label_shape(3), "invalid iterator"),  # type: ignore[arg-type]
    ]
    for mistake, text in mistakes:
        with pytest.raises(mx.MXNetError, match=text):
            mistake()


def test_drawn_boxes(tmp_path: Path) -> None:
    rec, _ = _boxes(tmp_path, [[[1, 0.2, 0.2, 0.8, 0.8], [0, 0.4, 0.4, 0.6, 0.6]]] * 2)
    drawn = image.ImageDetIter(1, (3, 40, 40), path_imgrec=rec, mean=True, std=True)
    plain = image.ImageDetIter(1, (3, 40, 40), path_imgrec=rec).next().data[0].asnumpy()[0]
    found = list(drawn.draw_next((255, 0, 0), 1, True, True, id2labels={1: "cat"}))
    assert len(found) == 2
    picture = found[0]
    assert (picture.shape, picture.dtype) == ((40, 40, 3), "uint8")
    assert picture[8, 8:33].tolist() == [[0, 0, 255]] * 25  # blue comes first
    outside = onp.abs(picture[:7, :, ::-1].transpose(2, 0, 1) - plain[:, :7].clip(0, 255))
    assert outside.max() <= 1
    drawn.reset()
    assert all(one.shape == (40, 40, 3) for one in drawn.draw_next())
