# SPDX-License-Identifier: Apache-2.0
"""Damaged files of every format: each is read, and used if it could be, or raises an error of ours.

Memory is limited while a file is read, and a file may not take long: a number in a file is no
reason for either.
"""

from __future__ import annotations

import base64
import functools
import gzip
import io
import json
import math
import pickle
import random
import re
import resource
import shutil
import signal
import struct
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import gluon, nd, np
from afterglow._formats import pictures
from afterglow._formats.pickles import Made, Name, numpy_array, read, write
from afterglow.error import ArrayMemoryError

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))

from states import BEFORE, make_weights, numbers, train

_GOLDEN = Path(__file__).parents[1] / "golden"
#: Bytes of address space beyond what is in use. The files have kilobytes.
MEMORY = 256 << 20
#: Files are read in milliseconds, so this is a hang.
SECONDS = 30


def run(seed: int, seconds: float) -> int:
    """Damage and read files for so long, at least one; return how many.

    The file of a seed is always the same. One that goes wrong is kept, as a hexadecimal text whose
    name is in the error.
    """
    end = time.monotonic() + seconds
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "damaged"))
        while count == 0 or time.monotonic() < end:
            try:
                _read_one(seed + count, path)
            except BaseException as problem:
                problem.add_note(f"seed {seed + count}")
                raise
            count += 1
    return count


def _read_one(seed: int, path: str) -> None:
    generator = random.Random(seed)
    name = generator.choice(list(FORMATS))
    reader, originals, is_text = FORMATS[name]
    original = generator.choice(originals())
    if name == "values of states":
        data = write(_with_another_value(generator, read(original)))
    else:
        data = damaged(generator, original, is_text)
    Path(path).write_bytes(data)
    try:
        with limits():
            reader(path)
    except (mx.MXNetError, *ALLOWED.get(name, ())) as error:
        if not isinstance(error, ArrayMemoryError):
            return
        problem: BaseException = error
    except Exception as error:
        problem = error
    else:
        return
    kept = Path(tempfile.gettempdir(), f"afterglow-damaged-{seed}.hex")
    kept.write_text(data.hex())
    raise AssertionError(
        f"a damaged file ({name}, seed {seed}, {len(data)} bytes, kept in {kept}): {problem!r}"
    ) from problem


@contextmanager
def limits() -> Iterator[None]:
    """Let memory that nobody should want be refused, and time that nobody should need end."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (wanted if soft < 0 else min(wanted, soft), hard))
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGALRM, _too_long) if is_main else None
    if is_main:
        signal.alarm(SECONDS)
    try:
        yield
    finally:
        if is_main:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _too_long(*_: Any) -> None:
    raise AssertionError(f"not read after {SECONDS} s")


# --- damage ---

_NUMBERS = (0, 1, 127, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**36, 2**40, 2**63, 2**64 - 1)
_TEXTS = ("-1", "0", "1e999", "nan", "99999999999", "1" * 400, "null", "true", "{}", "[", '"', "\\",
          "\0", "()", "(1,2", "[[0,0,0]]", "None", "é", "\ud7ff", " " * 50, "[" * 5000)  # fmt: skip


def damaged(generator: random.Random, data: bytes, is_text: bool) -> bytes:
    """Return data with a few bits, numbers, words or parts changed, cut, doubled or moved."""
    changed = bytearray(data)
    for _ in range(generator.choice((1, 1, 2, 5))):
        if not changed:
            break
        if is_text and generator.random() < 0.7:
            _change_text(generator, changed)
        else:
            _change_bytes(generator, changed)
    return bytes(changed)


def _change_text(generator: random.Random, changed: bytearray) -> None:
    """Put another number, word or sign in the place of one."""
    words = [*re.finditer(rb"-?\d+(?:\.\d+)?|\w+|[^\w\s]", changed)]
    if words:
        begin, end = generator.choice(words).span()
        other = generator.choice(words).group()
        choices = (generator.choice(_TEXTS).encode(), other, other, changed[begin:end] * 2)
        changed[begin:end] = generator.choice(choices)


def _change_bytes(generator: random.Random, changed: bytearray) -> None:
    place = generator.randrange(len(changed))
    other = generator.randrange(len(changed))
    length = generator.choice((1, 2, 4, 8, 16, 64, 1024))
    match generator.randrange(7):
        case 0:
            changed[place] ^= 1 << generator.randrange(8)
        case 1:
            changed[place] = generator.randrange(256)
        case 2:
            size, order = generator.choice((1, 2, 4, 8)), generator.choice(("little", "big"))
            number = generator.choice(_NUMBERS) % 256**size
            changed[place : place + size] = number.to_bytes(size, order)  # type: ignore[arg-type]
        case 3:
            del changed[place : place + length]
        case 4:
            changed[place:place] = changed[other : other + length]
        case 5:
            changed[place : place + length] = changed[other : other + length]
        case 6:
            del changed[place:]


_VALUES = (None, True, 0, -1, 2**40, 10**100, 0.0, -1e300, math.inf, math.nan, "", "text", b"", (),
           (None,), [], [0], {}, {0: 0}, {"a": None}, Name("os", "system"),
           Made(Name("os", "system"), ("true",)))  # fmt: skip


def _with_another_value(generator: random.Random, value: Any) -> Any:
    """Return what a pickle holds with another value somewhere inside, names and all else kept."""
    inside = [value.arguments, value.state] if isinstance(value, Made) else value
    if not isinstance(inside, (tuple, list, dict)) or not inside or generator.random() < 0.05:
        return generator.choice(_VALUES)
    changed = dict(inside) if isinstance(inside, dict) else dict(enumerate(inside))
    place = generator.choice([*changed])
    changed[place] = _with_another_value(generator, changed[place])
    if isinstance(value, Made):
        arguments = changed[0] if isinstance(changed[0], tuple) else ()
        return Made(value.name, arguments, changed[1], value.is_new)
    return changed if isinstance(value, dict) else type(value)(changed.values())


# --- formats ---

_IMAGE = (1, 1, 6, 6)


def _golden(name: str) -> Any:
    return json.loads((_GOLDEN / name).read_text(encoding="utf-8"))


def _arrays() -> list[bytes]:
    return [base64.b64decode(case["data"]) for case in _golden("files.json").values()]


def _parameters() -> list[bytes]:
    net = _net()
    net.initialize()
    net(nd.ones((2, 4)))
    originals = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "net.params")
        net.save_parameters(str(path))
        originals.append(path.read_bytes())
        net.collect_params().save(str(path), strip_prefix="net_")
        originals.append(path.read_bytes())
    return originals


def _npy() -> list[bytes]:
    originals = []
    for host in (onp.arange(10.0), onp.ones((2, 3), "float32", "F"), onp.array(3, ">i4")):
        file = io.BytesIO()
        onp.save(file, host)
        originals.append(file.getvalue())
    return originals


def _npz() -> list[bytes]:
    originals = []
    for save in (onp.savez, onp.savez_compressed):
        file = io.BytesIO()
        save(file, a=onp.arange(40), b=onp.ones((2, 3), "float32"))
        originals.append(file.getvalue())
    return originals


def _safetensors() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "arrays.safetensors")
        kinds = ("float32", "float16", "int64", "uint8", "bool")
        nd.save(path, {kind: nd.ones((2, 3), dtype=kind) for kind in kinds})
        return [path.read_bytes()]


def _graphs() -> list[bytes]:
    recorded = _golden("symbols.json")
    cases = [case for kind in ("symbols", "drawn", "old") for case in recorded[kind].values()]
    return [case["json"].encode() for case in cases]


def _models() -> list[bytes]:
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(2, 3, in_channels=1), gluon.nn.BatchNorm(in_channels=2))
    net.add(gluon.nn.MaxPool2D(2, 2), gluon.nn.Dense(3, in_units=8, activation="tanh"))
    net.initialize()
    net(nd.ones(_IMAGE))
    with tempfile.TemporaryDirectory() as folder:
        prefix = f"{folder}/net"
        net.export(prefix)
        files = (f"{prefix}-symbol.json", f"{prefix}-0000.params")
        mx.onnx.export_model(*files, [_IMAGE], onnx_file_path=f"{prefix}.onnx")
        return [Path(f"{prefix}.onnx").read_bytes()]


def _states() -> list[bytes]:
    recorded, old = _golden("states.json"), _golden("old_states.json")
    texts = [case[form] for case in recorded["cases"].values() for form in ("states", "whole")]
    texts += recorded["files"].values()
    texts += [case[form] for case in old.values() for form in ("states", "whole")]
    originals = [base64.b64decode(text) for text in texts]
    updater = mx.optimizer.get_updater(mx.optimizer.SGD())
    for data in originals[: len(recorded["cases"]) * 2 : 2]:
        updater.set_states(data)
        originals.append(updater.get_states(dump_optimizer=True))
    return originals


def _pickles() -> list[bytes]:
    host = onp.arange(6.0).reshape(2, 3)
    return [
        pickle.dumps(one, protocol) for one in (host, host.T, host[0, 0]) for protocol in (3, 4, 5)
    ]


def _images() -> list[bytes]:
    plain = struct.pack(">4i", 2051, 3, 4, 4) + bytes(range(48))
    return [plain, gzip.compress(plain)]


def _labels() -> list[bytes]:
    return [struct.pack(">2i", 2049, 3) + bytes([1, 2, 3])]


def _archives() -> list[bytes]:
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w") as file:
        member = tarfile.TarInfo("train.bin")
        member.size = 2 * 3074
        file.addfile(member, io.BytesIO(bytes(range(251)) * 25))
    return [memory.getvalue(), gzip.compress(memory.getvalue())]


def _records() -> list[bytes]:
    recorded = _golden("records.json")
    files = [*recorded["files"].values(), *recorded["headers"]]
    return [base64.b64decode(text) for text in files]


def _pictures() -> list[bytes]:
    pixels = onp.random.RandomState(0).randint(0, 255, (12, 9, 3)).astype("uint8")
    found = [pictures.encode(pixels, form, 9) for form in (".gif", ".webp", ".tiff")]
    for form in (".jpg", ".png", ".bmp"):
        found += [pictures.encode(one, form, 9) for one in (pixels, pixels[:, :, 0])]
    return found


def _pictures_of_records() -> list[bytes]:
    boxes = [2, 5, 0, 0.1, 0.1, 0.9, 0.9]
    originals = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        writer = mx.recordio.MXRecordIO(path, "w")
        for number, picture in enumerate(_pictures()):
            writer.write(mx.recordio.pack((0, boxes, number, 0), picture))
            if number % 3 == 2:
                writer.close()
                originals.append(path.read_bytes())
                writer.reset()
        writer.close()
    return originals


def _text_archives() -> list[bytes]:
    originals = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        memory = io.BytesIO()
        with zipfile.ZipFile(memory, "w", method) as file:
            file.writestr("wikitext-2/wiki.test.tokens", " = A = \n\n the cat \n the é \n" * 5)
        originals.append(memory.getvalue())
    return originals


def _picture_lists() -> list[bytes]:
    return [b"0\t1.000000\ta.jpg\n1\t2.5\t-3\tb/c d.png\n", b""]


def _tables() -> list[bytes]:
    return [b"1,2\n3,4\n5,6\n", b"1.5,-2e3\n,\n", b"\n"]


def _use_arrays(path: str) -> None:
    size = Path(path).stat().st_size
    for module in (nd, np):
        loaded: Any = module.load(path)
        arrays = loaded.values() if isinstance(loaded, dict) else loaded
        if module is nd:
            assert sum(array.asnumpy().nbytes for array in arrays) <= 1032 * size


def _net() -> gluon.nn.HybridSequential:
    net = gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(gluon.nn.Dense(5), gluon.nn.BatchNorm(), gluon.nn.Dense(3))
    return net


def _use_parameters(path: str) -> None:
    net = _net()
    net.load_parameters(path)
    net(nd.ones((2, 4))).asnumpy()


def _use_graph(path: str) -> None:
    graph = mx.sym.load(path)
    graph.list_auxiliary_states(), graph.attr_dict()
    mx.sym.load_json(graph.tojson()).list_outputs()
    graph.infer_shape_partial(**dict.fromkeys(graph.list_arguments()[:1], (2, 3)))


def _use_model(path: str) -> None:
    block = mx.onnx.import_to_gluon(path)
    results = block(nd.ones(_IMAGE))
    for one in results if isinstance(results, list) else [results]:
        one.asnumpy()
    symbol, _, _ = mx.onnx.import_model(path)
    symbol.list_arguments()


def _use_states(path: str) -> None:
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.1))
    updater.set_states(Path(path).read_bytes())
    updater.set_states(updater.get_states(dump_optimizer=True))
    weights = make_weights(nd.array, "float32")
    train(nd.array, updater, weights, BEFORE, BEFORE + 1)
    numbers(weights)


def _use_pickle(path: str) -> None:
    numpy_array(read(Path(path).read_bytes())).sum()


def _use_images(path: str) -> None:
    label = path + ".label"
    Path(label).write_bytes(_labels()[0])
    for batch in mx.io.MNISTIter(image=path, label=label, batch_size=2):
        batch.data[0].asnumpy()


def _use_labels(path: str) -> None:
    image = path + ".image"
    Path(image).write_bytes(_images()[0])
    for batch in mx.io.MNISTIter(image=image, label=path, batch_size=2):
        batch.label[0].asnumpy()


def _use_archive(path: str) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setenv("MXNET_GLUON_REPO", "file:///nowhere")
        shutil.copy(path, Path(folder, "cifar-100-binary.tar.gz"))
        with redirect_stdout(io.StringIO()):
            data = gluon.data.vision.CIFAR100(folder)
        for image, _ in data:
            image.asnumpy()


def _use_records(path: str) -> None:
    for record in iter(mx.recordio.MXRecordIO(path, "r").read, None):
        mx.recordio.unpack(record)


def _use_picture(path: str) -> None:
    for flag in (-1, 0, 1):
        pictures.decode(Path(path).read_bytes(), flag, "a picture").sum()


def _use_pictures_of_records(path: str) -> None:
    options = {"path_imgrec": path, "data_shape": (3, 8, 8), "batch_size": 2, "round_batch": False}
    for iterator in (
        mx.io.ImageDetRecordIter(**options, rand_crop_prob=1, min_crop_scales=0.5),
        mx.io.ImageRecordIter(**options, label_width=7),
    ):
        for batch in iterator:
            batch.data[0].asnumpy(), batch.label[0].asnumpy()


def _use_text_archive(path: str) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setenv("MXNET_GLUON_REPO", "file:///nowhere")
        shutil.copy(path, Path(folder, "wikitext-2-v1.zip"))
        with redirect_stdout(io.StringIO()):
            texts = gluon.contrib.data.text.WikiText2(folder, "test", seq_len=3)
        for number in range(len(texts)):
            texts[number][0].asnumpy()


def _use_picture_list(path: str) -> None:
    mx.image.ImageIter(1, (3, 8, 8), path_imglist=path)


def _use_table(path: str) -> None:
    for batch in mx.io.CSVIter(data_csv=path, data_shape=(2,), batch_size=2):
        batch.data[0].asnumpy()


#: name: what reads a file and uses what it holds, what makes files that are whole, are they text?
FORMATS: dict[str, tuple[Callable[[str], None], Callable[[], list[bytes]], bool]] = {
    name: (reader, functools.cache(originals), is_text)
    for name, (reader, originals, is_text) in {
        "arrays": (_use_arrays, _arrays, False),
        "parameters": (_use_parameters, _parameters, False),
        "npy": (_use_arrays, _npy, False),
        "npy header": (_use_arrays, _npy, True),
        "npz": (_use_arrays, _npz, False),
        "safetensors": (_use_arrays, _safetensors, False),
        "safetensors header": (_use_arrays, _safetensors, True),
        "model": (_use_model, _models, False),
        "graph": (_use_graph, _graphs, True),
        "states": (_use_states, _states, False),
        "values of states": (_use_states, _states, False),
        "pickle": (_use_pickle, _pickles, False),
        "images": (_use_images, _images, False),
        "labels": (_use_labels, _labels, False),
        "archive": (_use_archive, _archives, False),
        "table": (_use_table, _tables, True),
        "records": (_use_records, _records, False),
        "pictures of records": (_use_pictures_of_records, _pictures_of_records, False),
        "archive of texts": (_use_text_archive, _text_archives, False),
        "list of pictures": (_use_picture_list, _picture_lists, True),
        "picture": (_use_picture, _pictures, False),
    }.items()
}  # fmt: skip
#: What may be raised besides errors of ours.
ALLOWED: dict[str, tuple[type[BaseException], ...]] = {
    "pickle": (ValueError,),
    "values of states": (ArithmeticError,),  # rates that a rule cannot compute with
}
