# SPDX-License-Identifier: Apache-2.0
"""``io.ImageRecordIter`` beside MXNet's answers: draws, rounds, threads, damaged files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from image.test_recorded_pictures import FILES
from support import output_of

import afterglow as mx
from afterglow import image, io, nd, recordio
from afterglow.error import FileError


@pytest.fixture
def rec(tmp_path: Path) -> str:
    """Write eleven records, of pictures that say their number at each place."""
    writer = recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "w")
    y, x = onp.mgrid[:20, :30]
    for number in range(11):
        pixels = onp.stack([x + 3 * number, y + 3 * number, x * 0 + number], -1).astype("uint8")
        header = (0, number, 100 + number, 0)
        writer.write_idx(number, recordio.pack_img(header, pixels, 1, ".png"))
    writer.close()
    return str(tmp_path / "a.rec")


def labels(iterator: Any) -> list[list[float]]:
    found = [batch.label[0].asnumpy()[: iterator.batch_size - batch.pad] for batch in iterator]
    iterator.reset()
    return [one.tolist() for one in found]


def flat(lists: list[list[float]]) -> list[float]:
    return [one for each in lists for one in each]


def options(rec: str, **others: Any) -> dict[str, Any]:
    return {"path_imgrec": rec, "data_shape": (3, 8, 9), "batch_size": 4, **others}


# --- rounds ---


def test_orders(rec: str) -> None:
    by_seed = {}
    for seed in (0, 1):
        iterator = io.ImageRecordIter(**options(rec, shuffle=True, seed=seed, round_batch=False))
        rounds = [flat(labels(iterator)) for _ in range(3)]
        assert all(sorted(one) == list(range(11)) for one in rounds)
        assert len({tuple(one) for one in rounds}) == 3
        index = rec.replace(".rec", ".idx")
        indexed = options(rec, shuffle=True, seed=seed, round_batch=False, path_imgidx=index)
        again = io.ImageRecordIter(**indexed)
        assert [flat(labels(again)) for _ in range(3)] == rounds
        by_seed[seed] = rounds
    assert by_seed[0] != by_seed[1]


def test_parts(rec: str) -> None:
    found = []
    for part in range(3):
        iterator = io.ImageRecordIter(**options(rec, num_parts=3, part_index=part))
        found += flat(labels(iterator))
    assert found == list(range(11))


def test_a_round_goes_on_where_the_last_batch_ended(rec: str) -> None:
    iterator = io.ImageRecordIter(**options(rec))
    assert labels(iterator) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]
    assert labels(iterator) == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]
    assert labels(iterator) == [[2, 3, 4, 5], [6, 7, 8, 9], [10]]
    assert labels(iterator) == [[3, 4, 5, 6], [7, 8, 9, 10]]
    assert labels(iterator) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]


def test_reset_in_the_middle(rec: str) -> None:
    for prefetch in (1, 9):
        iterator = io.ImageRecordIter(**options(rec, prefetch_buffer=prefetch))
        iterator.reset()
        assert iterator.next().label[0].asnumpy().tolist() == [0, 1, 2, 3]
        iterator.reset()
        iterator.reset()
        assert labels(iterator) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]
    shuffled = options(rec, shuffle=True, rand_crop=True)
    one, other = (io.ImageRecordIter(**shuffled, prefetch_buffer=some) for some in (1, 9))
    for _ in range(3):
        first, second = one.next(), other.next()
        assert first.label[0].asnumpy().tolist() == second.label[0].asnumpy().tolist()
        onp.testing.assert_array_equal(first.data[0].asnumpy(), second.data[0].asnumpy())
        one.reset()
        other.reset()


def test_the_rest_of_the_last_batch_is_nothing(rec: str) -> None:
    iterator = io.ImageRecordIter(**options(rec, round_batch=False, mean_r=5, mean_g=5, mean_b=5))
    *_, last = iterator
    assert last.pad == 1
    assert last.label[0].asnumpy().tolist() == [8, 9, 10, 0]
    assert last.index.tolist() == [108, 109, 110, 0]
    onp.testing.assert_array_equal(last.data[0][3].asnumpy(), -5)
    with pytest.raises(StopIteration):
        iterator.next()
    with pytest.raises(StopIteration):
        iterator.next()


def test_step_by_step(rec: str) -> None:
    iterator = io.ImageRecordIter(**options(rec, data_name="x", label_name="y"))
    with pytest.raises(ValueError, match="there is no batch before the first"):
        iterator.getdata()
    assert iterator.provide_data[0] == ("x", (4, 3, 8, 9))
    assert iterator.provide_label[0] == ("y", (4,))
    assert iterator.iter_next()
    assert iterator.getdata().shape == (4, 3, 8, 9)
    assert iterator.getlabel().asnumpy().tolist() == [0, 1, 2, 3]
    assert (iterator.getpad(), iterator.getindex().tolist()) == (0, [100, 101, 102, 103])
    ahead = io.PrefetchingIter(io.ImageRecordIter(**options(rec)))
    assert [batch.pad for batch in ahead] == [0, 0, 1]


def test_memory_of_batches_is_their_own(rec: str) -> None:
    batches = list(io.ImageRecordIter(**options(rec)))
    assert [batch.label[0].asnumpy()[0] for batch in batches] == [0, 4, 8]
    assert [batch.data[0][0, 0, 0, 0].asscalar() for batch in batches] == [0, 4, 8]


# --- draws ---

EVERYTHING: dict[str, Any] = {
    "resize": 25, "rand_crop": True, "rand_mirror": True, "max_rotate_angle": 20,
    "max_shear_ratio": 0.1, "max_aspect_ratio": 0.2, "max_random_scale": 1.2,
    "min_random_scale": 0.9, "pad": 2, "brightness": 0.2, "contrast": 0.2, "saturation": 0.2,
    "pca_noise": 0.1, "random_h": 10, "random_s": 20, "random_l": 20, "inter_method": 10,
    "max_random_contrast": 0.2, "max_random_illumination": 10, "shuffle": True,
}  # fmt: skip


@pytest.mark.parametrize(
    "others", [EVERYTHING, {"random_resized_crop": True, "min_random_area": 0.1}]
)
def test_threads_change_nothing(others: dict[str, Any], rec: str) -> None:
    def found(threads: int, **more: Any) -> list[Any]:
        iterator = io.ImageRecordIter(**options(rec, **others, preprocess_threads=threads, **more))
        return [
            batch.data[0].asnumpy() for _ in range(2) for batch in (iterator.reset(), *iterator)[1:]
        ]

    one = found(1)
    for more in found(4), found(3, prefetch_buffer=1):
        for ours, same in zip(one, more, strict=True):
            onp.testing.assert_array_equal(ours, same)
    for other in found(2, seed=9), found(2, seed_aug=9):
        assert any((ours != theirs).any() for ours, theirs in zip(one, other, strict=True))
    assert (one[0] != one[len(one) // 2]).any()  # other draws in the next round


def test_crops_are_parts(rec: str) -> None:
    places, mirrored = set(), 0
    iterator = io.ImageRecordIter(**options(rec, rand_crop=True, rand_mirror=True, dtype="uint8"))
    for _ in range(4):
        for batch in iterator:
            for data, number in zip(batch.data[0].asnumpy(), batch.label[0].asnumpy(), strict=True):
                assert (data[0] == number).all()  # red
                rows, columns = data[1, :, 0] - 3 * number, data[2, 0] - 3 * number
                assert onp.diff(rows).tolist() == [1] * 7
                step = {*onp.diff(columns)}
                assert step in ({1}, {-1})
                mirrored += step == {-1}
                places.add((rows[0], min(columns)))
        iterator.reset()
    assert all(0 <= y <= 12 and 0 <= x <= 21 for y, x in places)
    assert len(places) > 20
    assert 8 < mirrored < 40


def uniform(tmp_path: Path, colour: tuple[int, ...]) -> str:
    """Write a record of a picture of one colour: blue, green, red."""
    path = str(tmp_path / "one.rec")
    pixels = onp.full((20, 20, len(colour)), colour, "uint8")
    recordio.MXRecordIO(path, "w").write(recordio.pack_img((0, 1, 0, 0), pixels, 1, ".png"))
    return path


def drawn(path: str, **others: Any) -> onp.ndarray[Any, Any]:
    """Return 200 colours that are made of one."""
    iterator = io.ImageRecordIter(path_imgrec=path, data_shape=(3, 1, 1), batch_size=200, **others)
    return iterator.next().data[0].asnumpy().reshape(200, 3)


def test_colours(tmp_path: Path) -> None:
    path = uniform(tmp_path, (40, 100, 200))
    plain = onp.array([200, 100, 40])
    gray = round(0.299 * 200 + 0.587 * 100 + 0.114 * 40)

    factors = drawn(path, brightness=0.2) / plain
    assert onp.ptp(factors, 1).max() < 0.03
    assert (factors.min(), factors.max()) == (
        pytest.approx(0.8, abs=0.03),
        pytest.approx(1.2, abs=0.03),
    )
    for name in ("contrast", "saturation"):  # the same for a picture of one colour
        found = drawn(path, **{name: 0.2}) - gray
        factors = found[:, [0, 2]] / (plain - gray)[[0, 2]]
        assert onp.ptp(factors, 1).max() < 0.03
        assert 0.77 < factors.min() < 0.83
        assert 1.17 < factors.max() < 1.23
    shifts = drawn(path, pca_noise=0.1) - plain
    assert onp.abs(shifts.mean(0)).max() < 1.5
    assert onp.corrcoef(shifts.T)[0, 1] > 0.9  # mostly brighter or darker
    jittered = drawn(path, max_random_contrast=0.5, mean_r=200, mean_g=0, mean_b=0)
    assert onp.abs(jittered[:, 0]).max() < 1e-3
    assert 50 < jittered[:, 1].min() < 60
    assert 140 < jittered[:, 1].max() < 150
    shifted = drawn(path, max_random_illumination=10, scale=2.0) / 2 - plain
    assert onp.ptp(shifted, 1).max() < 1e-3
    assert -10 <= shifted.min() < -9
    assert 9 < shifted.max() <= 10
    lights = drawn(path, random_l=30) - plain
    assert lights.min() < -20
    assert lights.max() > 20
    assert len(onp.unique(drawn(path, random_h=20), axis=0)) > 10
    assert len(onp.unique(drawn(path, random_s=20), axis=0)) > 10


def test_channels(tmp_path: Path) -> None:
    path = uniform(tmp_path, (40, 100, 200, 7))
    four = io.ImageRecordIter(path_imgrec=path, data_shape=(4, 5, 5), batch_size=1, mean_a=2)
    assert four.next().data[0][0, :, 0, 0].asnumpy().tolist() == [200, 100, 40, 5]
    three = io.ImageRecordIter(path_imgrec=path, data_shape=(3, 5, 5), batch_size=1, std_b=2)
    assert three.next().data[0][0, :, 0, 0].asnumpy().tolist() == [200, 100, 20]
    one = io.ImageRecordIter(
        path_imgrec=path, data_shape=(1, 5, 5), batch_size=1, brightness=1e-9, contrast=1e-9,
        saturation=1e-9, rotate=45, resize=9, pad=1, mirror=True,
    )  # fmt: skip
    assert one.next().data[0].shape == (1, 1, 5, 5)
    wrong = io.ImageRecordIter(
        path_imgrec=uniform(tmp_path, (1, 2, 3)), data_shape=(4, 5, 5), batch_size=1
    )
    with pytest.raises(FileError, match="Expected 4 channels, got 3"):
        wrong.next()


def test_parts_of_any_size(tmp_path: Path) -> None:
    path = str(tmp_path / "one.rec")
    ramp = onp.repeat(onp.arange(200, dtype="uint8")[None, :, None], 100, 0).repeat(3, 2)
    recordio.MXRecordIO(path, "w").write(recordio.pack_img((0, 1, 0, 0), ramp, 1, ".png"))

    def widths(**others: Any) -> onp.ndarray[Any, Any]:
        iterator = io.ImageRecordIter(
            path_imgrec=path, data_shape=(3, 50, 50), batch_size=60, random_resized_crop=True,
            dtype="uint8", **others,
        )  # fmt: skip
        data = iterator.next().data[0].asnumpy().astype(int)
        return data[:, 0, 25, -1] - data[:, 0, 25, 0]

    squares = widths(
        min_random_area=0.1, max_random_area=0.4, min_aspect_ratio=1, max_aspect_ratio=1
    )
    assert 40 <= squares.min() < 55
    assert 75 < squares.max() <= 90
    assert (widths(min_random_area=1, max_aspect_ratio=0.0) >= 95).all()  # none fits: the middle


def test_means_in_a_file(rec: str, tmp_path: Path) -> None:
    mean = tmp_path / "mean.bin"
    data = onp.concatenate(
        [batch.data[0].asnumpy() for batch in io.ImageRecordIter(**options(rec, round_batch=False))]
    )[:11]
    for _ in range(2):  # it is made, then it is read
        iterator = io.ImageRecordIter(**options(rec, mean_img=mean, round_batch=False))
        batch = iterator.next()
        onp.testing.assert_allclose(batch.data[0].asnumpy(), data[:4] - data.mean(0), 1e-5, 1e-4)
        assert batch.label[0].asnumpy().tolist() == [0, 1, 2, 3]
    assert nd.load(str(mean))["mean_img"].shape == (3, 8, 9)
    with pytest.raises(FileError, match=r"mean\.bin' has no mean_img of shape \(3, 8, 8\)"):
        io.ImageRecordIter(**options(rec, mean_img=mean) | {"data_shape": (3, 8, 8)})


# --- what goes wrong ---


@pytest.mark.parametrize(
    ("others", "kind", "text"),
    [
        ({"path_imgrec": ""}, AssertionError, "path_imgrec, a data_shape"),
        ({"data_shape": (3, 8)}, AssertionError, "a data_shape"),
        ({"batch_size": 0}, AssertionError, "a batch_size are needed"),
        ({"data_shape": (2, 8, 8)}, ValueError, r"\(2, 8, 8\); 1, 3 or 4 channels"),
        ({"data_shape": (3, 0, 8)}, ValueError, "sides of 1 at least"),
        ({"dtype": "int32"}, ValueError, "int32; use float32, uint8 or int8"),
        ({"num_parts": 2, "part_index": 2}, AssertionError, "part 2 of 2"),
        ({"rand_corp": True}, TypeError, "did you mean 'rand_crop'"),
        ({"path_imgrec": "gone.rec"}, FileNotFoundError, r"gone\.rec"),
        ({"path_imglist": "gone.lst"}, FileNotFoundError, r"gone\.lst"),
    ],
)
def test_mistakes(others: dict[str, Any], kind: type[Exception], text: str, rec: str) -> None:
    for one in (kind, mx.MXNetError):
        with pytest.raises(one, match=text):
            io.ImageRecordIter(**options(rec) | others)


@pytest.mark.parametrize(
    ("others", "text"),
    [
        ({"label_width": 2}, "it has 1 labels, and label_width is 2"),
        ({"max_crop_size": 40, "min_crop_size": 30}, "input image size smaller than max_crop_size"),
        ({"max_crop_size": 5, "min_crop_size": 9}, "crops of 9 to 5"),
        ({"resize": 10, "inter_method": 7}, "Unknown interp method 7"),
    ],
)
def test_mistakes_that_pictures_tell(others: dict[str, Any], text: str, rec: str) -> None:
    iterator = io.ImageRecordIter(**options(rec, **others))
    for _ in range(2):
        with pytest.raises(FileError, match=rf"a\.rec', record \d of round 0: .*{text}"):
            iterator.next()


def test_lists_without_a_picture(rec: str, tmp_path: Path) -> None:
    path = tmp_path / "few.lst"
    path.write_text("".join(f"{100 + number}\t{number}\tx\n" for number in range(6)))
    iterator = io.ImageRecordIter(**options(rec, path_imglist=path))
    assert iterator.next().label[0].asnumpy().tolist() == [0, 1, 2, 3]
    with pytest.raises(FileError, match="fail to find imagelabel for id 106"):
        iterator.next()


def test_damaged_pictures(tmp_path: Path) -> None:
    path = str(tmp_path / "a.rec")
    writer = recordio.MXRecordIO(path, "w")
    for content in (FILES["95.jpg"], FILES["95.jpg"][:-300], FILES["95.jpg"], b"text"):
        writer.write(recordio.pack((0, 1, 0, 0), content))
    writer.write(b"no header")
    iterator = io.ImageRecordIter(path_imgrec=path, data_shape=(3, 8, 8), batch_size=1)
    for text in ("", "record 1 .* cut off", "", "record 3 .* no picture", "record 4 .* header"):
        if text:
            with pytest.raises(FileError, match=text):
                iterator.next()
        else:
            assert iterator.next().data[0].shape == (1, 3, 8, 8)


@pytest.mark.parametrize("shuffle", [False, True])
def test_damaged_files(shuffle: bool, rec: str) -> None:
    data = Path(rec).read_bytes()
    Path(rec).write_bytes(data[: len(data) // 2])
    if shuffle:
        with pytest.raises(FileError, match=r"a\.rec' is no file of records, or damaged, at byte"):
            io.ImageRecordIter(**options(rec, shuffle=True))
        return
    iterator = io.ImageRecordIter(**options(rec))
    assert iterator.next().label[0].asnumpy().tolist() == [0, 1, 2, 3]
    for _ in range(9):
        with pytest.raises(FileError, match=r"a\.rec' is no file of records, or damaged, at byte"):
            iterator.next()
    Path(rec).write_bytes(b"")
    empty = io.ImageRecordIter(**options(rec))
    with pytest.raises(FileError, match=r"a\.rec' has no records"):
        empty.next()


def test_records_without_an_index(rec: str, tmp_path: Path) -> None:
    magic = b"\x0a\x23\xd7\xce"
    records = [b"", magic, b"abc" + magic, magic * 3 + b"end", bytes(1000), b"last"]
    path = tmp_path / "parts.rec"
    writer = recordio.MXRecordIO(path, "w")
    for record in records:
        writer.write(record)
    reader = recordio.ScannedRecordIO(path)
    assert [reader.read_idx(key) for key in reversed(reader.keys)] == records[::-1]
    data = path.read_bytes()
    for cut in (len(data) - 1, len(data) - 5, 13):
        path.write_bytes(data[:cut])
        with pytest.raises(FileError, match="damaged, at byte"):
            recordio.ScannedRecordIO(path)
    path.write_bytes(data[:8] + b"\0\0\0\0" + data[12:])
    with pytest.raises(FileError, match="at byte 8: a record begins with"):
        recordio.ScannedRecordIO(path)


def test_the_end_of_a_program_waits_for_threads_whose_owner_is_gone() -> None:
    script = """
    import threading, time
    import afterglow
    from afterglow._package.background import Background

    def work(started):
        started.set()
        time.sleep(0.3)
        print("done", flush=True)

    readers, started = Background(1, "reader"), threading.Event()
    readers.submit(work, started)
    started.wait()
    del readers
    """
    assert output_of(script) == ["done"]


def test_ends_and_forks(rec: str) -> None:
    """A program ends at once with batches on their way; a fork is refused."""
    assert output_of(
        f"""
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons: forks beside threads
        iterator = mx.io.ImageRecordIter(path_imgrec={rec!r}, data_shape=(3, 8, 8), batch_size=4)
        print(iterator.next().data[0].shape)
        if os.fork() == 0:
            try:
                iterator.next()
            except mx.MXNetError as error:
                print(str(error)[:27], flush=True)
            os._exit(0)
        os.wait()
        print(iterator.next().data[0].shape)
        """
    ) == ["(4, 3, 8, 8)", "threads that read ahead bel", "(4, 3, 8, 8)"]


def test_pictures_are_those_of_image(rec: str) -> None:
    """Without draws it gives what ImageIter gives."""
    ours = io.ImageRecordIter(**options(rec, resize=10, round_batch=False))
    theirs = image.ImageIter(
        4, (3, 8, 9), path_imgrec=rec, resize=10, inter_method=1, last_batch_handle="discard"
    )
    for batch, other in zip(ours, theirs, strict=False):
        onp.testing.assert_array_equal(batch.data[0].asnumpy(), other.data[0].asnumpy())


# --- objects ---


@pytest.fixture
def boxed(tmp_path: Path) -> str:
    """Write pictures that are dark but for two bright objects, whose places the labels tell."""
    writer = recordio.MXRecordIO(tmp_path / "boxed.rec", "w")
    for number in range(4):
        pixels = onp.zeros((40, 60, 3), "uint8")
        pixels[4:16, 6:24] = 255
        pixels[20:36, 30:54] = 128
        objects = [0, 0.1, 0.1, 0.4, 0.4, 7, 1, 0.5, 0.5, 0.9, 0.9, 8, 2, 0.3, 0.3, 0.3, 0.9, 9]
        header = (0, [3, 6, number, *objects], number, 0)
        writer.write(recordio.pack_img(header, pixels, 1, ".png"))
    writer.close()
    return str(tmp_path / "boxed.rec")


@pytest.mark.parametrize(
    "changes",
    [
        {"rand_mirror_prob": 0.5},
        {"rand_pad_prob": 1, "max_pad_scale": 3, "rand_mirror_prob": 0.5},
        {"rand_crop_prob": 1, "min_crop_scales": 0.6, "min_crop_object_coverages": 0.9},
        {"rand_crop_prob": 1, "num_crop_sampler": 2, "min_crop_scales": (0.3, 0.7),
         "max_crop_scales": (0.5, 1), "min_crop_overlaps": (0.5, 0.1), "crop_emit_mode": "overlap"},
        {"rand_crop_prob": 0.5, "min_crop_scales": 0.5, "rand_pad_prob": 0.5, "max_pad_scale": 2,
         "resize_mode": "fit"},
    ],
)  # fmt: skip
def test_boxes_go_with_what_they_are_around(boxed: str, changes: dict[str, Any]) -> None:
    options = {"path_imgrec": boxed, "data_shape": (3, 80, 80), "batch_size": 4, "fill_value": 9}
    iterator = io.ImageDetRecordIter(**options, **changes, inter_method=0, label_pad_width=24)
    seen = set()
    for _ in range(6):
        (batch,) = iterator
        for picture, label in zip(batch.data[0].asnumpy(), batch.label[0].asnumpy(), strict=True):
            channels, height, width, length = map(int, label[:4])
            assert label.shape == (28,)
            assert channels == 3
            assert (label[4 + length :] == -1).all()
            assert label[4:6].tolist() == [3, 6]
            for kind, left, top, right, bottom, more in label[7 : 4 + length].reshape(-1, 6):
                assert kind in (0, 1)
                assert more == 7 + kind
                x, y = int((left + right) / 2 * width), int((top + bottom) / 2 * height)
                assert picture[0, y, x] == (255 if kind == 0 else 128)
                seen.add((float(left), float(top)))
        iterator.reset()
    assert len(seen) > 3


def test_colours_of_objects_change(boxed: str) -> None:
    options = {"path_imgrec": boxed, "data_shape": (3, 8, 8), "batch_size": 4}
    plain = next(io.ImageDetRecordIter(**options)).data[0].asnumpy()
    for name, most in (("hue", 30), ("saturation", 50), ("illumination", 50), ("contrast", 0.5)):
        changes = {f"max_random_{name}": most, f"random_{name}_prob": 1.0}
        other = next(io.ImageDetRecordIter(**options, **changes, seed=3)).data[0].asnumpy()
        again = next(io.ImageDetRecordIter(**options, **changes, seed=3)).data[0].asnumpy()
        assert (other == again).all()
        if name in ("illumination", "contrast"):  # the others leave greys as they are
            assert (other != plain).any()


def test_labels_that_are_no_lengths(boxed: str) -> None:
    for first in ([onp.nan, 5], [2, onp.inf], [1, 5], [2, 4], [2, 6], [8, 5], [2, 1e30]):
        writer = recordio.MXRecordIO(boxed, "w")
        header = (0, [*first, 0, 0.1, 0.1, 0.4, 0.4], 0, 0)
        writer.write(recordio.pack_img(header, onp.zeros((8, 8, 3), "uint8"), 1, ".png"))
        writer.close()
        with pytest.raises(FileError, match="a header of 2 at least"):
            next(io.ImageDetRecordIter(path_imgrec=boxed, data_shape=(3, 8, 8), batch_size=1))


def test_labels_that_are_no_objects(boxed: str, rec: str) -> None:
    options = {"data_shape": (3, 8, 8), "batch_size": 2}
    with pytest.raises(mx.MXNetError, match="a header of 2 at least"):
        next(io.ImageDetRecordIter(path_imgrec=rec, **options))
    with pytest.raises(mx.MXNetError, match="label_pad_width is 7, and a record has 21"):
        io.ImageDetRecordIter(path_imgrec=boxed, label_pad_width=7, **options)
    with pytest.raises(mx.MXNetError, match="label_width is 9"):
        io.ImageDetRecordIter(path_imgrec=boxed, label_width=9, **options)
    for wrong in (
        {"resize_mode": "squeeze"},
        {"crop_emit_mode": "corner"},
        {"min_crop_scales": 1.0},
        {"num_crop_sampler": 2, "min_crop_scales": (0.1, 0.2, 0.3)},
    ):
        with pytest.raises(mx.MXNetError, match="ImageDetRecordIter"):
            io.ImageDetRecordIter(path_imgrec=boxed, **options, **wrong)
