# SPDX-License-Identifier: Apache-2.0
"""Files in the safetensors format: ours read by the format's own words, and those that lie."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import gluon, nd, np, npx

TYPES = {
    "float32": "F32",
    "float64": "F64",
    "float16": "F16",
    "uint8": "U8",
    "int32": "I32",
    "int8": "I8",
    "int64": "I64",
    "bool": "BOOL",
}


def written(path: Path, header: Any, data: bytes, length: int | None = None) -> str:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return str(path)


def entry(kind: str, shape: list[int], begin: int, end: int) -> dict[str, Any]:
    return {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}


def parts(path: Path) -> tuple[dict[str, Any], bytes]:
    """Take a file apart as the format says."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length]), data[8 + length :]


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_goes_both_ways(dtype: str, tmp_path: Path) -> None:
    host = (onp.arange(6).reshape(2, 3) % 4).astype(dtype)
    path = tmp_path / "one.safetensors"
    npx.save(path, {"x": np.array(host, dtype=dtype)})
    header, data = parts(path)
    assert header["x"]["dtype"] == TYPES[dtype]
    begin, end = header["x"]["data_offsets"]
    assert data[begin:end] == host.tobytes()
    loaded = npx.load(path)["x"]
    assert loaded.dtype == dtype
    assert onp.array_equal(loaded.asnumpy(), host)


def test_elements_lie_at_multiples_of_their_size(tmp_path: Path) -> None:
    path = tmp_path / "several.safetensors"
    arrays = {
        "a": np.ones((3,), dtype="int8"),
        "b": np.ones((2,), dtype="float64"),
        "c": np.array(1.5),
        "d": np.zeros((0, 4)),
    }
    npx.save(path, arrays)
    header, data = parts(path)
    start = path.stat().st_size - len(data)
    for name, array in arrays.items():
        assert (start + header[name]["data_offsets"][0]) % onp.dtype(array.dtype).itemsize == 0
    loaded = npx.load(path)
    assert {name: one.shape for name, one in loaded.items()} == {
        "a": (3,),
        "b": (2,),
        "c": (),
        "d": (0, 4),
    }


def test_the_other_library_agrees(tmp_path: Path) -> None:
    other = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    hosts = {dtype: (onp.arange(12).reshape(3, 4) % 5).astype(dtype) for dtype in TYPES}
    hosts |= {"one": onp.array(2.5, "float32"), "none": onp.zeros((0, 3)), 'ü "名"': onp.ones(3)}
    ours, theirs = tmp_path / "ours.safetensors", tmp_path / "theirs"
    npx.save(ours, {name: np.array(host, dtype=host.dtype) for name, host in hosts.items()})
    other.save_file(hosts, theirs, metadata={"format": "np"})
    loaded = {name: one.asnumpy() for name, one in npx.load(theirs).items()}
    for found in (other.load_file(ours), loaded):
        assert found.keys() == hosts.keys()
        for name, host in hosts.items():
            assert (found[name].dtype, found[name].shape) == (host.dtype, host.shape)
            assert onp.array_equal(found[name], host)


def test_bfloat16_is_read_as_float32(tmp_path: Path) -> None:
    host = onp.array([1.5, -2.0, 3.140625, onp.inf], "float32")
    half = (host.view("uint32") >> 16).astype("uint16")
    path = written(tmp_path / "brain", {"x": entry("BF16", [2, 2], 0, 8)}, half.tobytes())
    loaded = nd.load(path)["x"]
    assert loaded.dtype == onp.float32
    assert onp.array_equal(loaded.asnumpy().ravel(), host)


def test_content_tells_the_format_under_any_name(tmp_path: Path) -> None:
    header = {"__metadata__": {"format": "np"}, "x": entry("I32", [2], 0, 8)}
    text = json.dumps(header).encode() + b"   "
    path = written(tmp_path / "some.params", text, onp.array([4, 5], "<i4").tobytes())
    assert nd.load(path)["x"].asnumpy().tolist() == [4, 5]


def test_parameters_of_a_block(tmp_path: Path) -> None:
    def made() -> gluon.nn.HybridSequential:
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(3, in_units=4), gluon.nn.BatchNorm(in_channels=3))
        net.initialize(mx.init.Xavier())
        return net

    path, net, other = str(tmp_path / "net.safetensors"), made(), made()
    net.save_parameters(path)
    assert "0.weight" in parts(Path(path))[0]
    other.load_parameters(path)
    x = nd.ones((2, 4))
    assert onp.array_equal(net(x).asnumpy(), other(x).asnumpy())


def test_what_the_format_cannot_hold_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match="needs a dictionary"):
        nd.save(path, [nd.ones((2,))])
    with pytest.raises(NotImplementedError, match="row_sparse"):
        nd.save(path, {"x": nd.ones((2, 2)).tostype("row_sparse")})
    with pytest.raises(ValueError, match="can be named"):
        nd.save(path, {"__metadata__": nd.ones((2,))})
    assert not Path(path).exists()


TWO = bytes(8)
#: header, data, announced length of the header, part of the message
DAMAGED: dict[str, tuple[Any, bytes, int | None, str]] = {
    "empty": (b"", b"", 10, "is announced"),
    "length beyond the file": ({}, b"", 2**63, "is announced"),
    "no brace": (b"[1, 2]  ", b"", None, "does not begin with a brace"),
    "no JSON": (b"{'a': 1}", b"", None, "no JSON"),
    "deep JSON": (b'{"a":' + b"[" * 100000, b"", None, "no JSON"),
    "a name twice": (
        b'{"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},'
        b'"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}',
        b"",
        None,
        "stands twice",
    ),
    "overlap": (
        {"x": entry("F32", [2], 0, 8), "y": entry("F32", [1], 4, 8)},
        TWO,
        None,
        "overlaps",
    ),
    "hole": (
        {"x": entry("U8", [2], 0, 2), "y": entry("U8", [2], 6, 8)},
        TWO,
        None,
        "leaves a hole",
    ),
    "left over": ({"x": entry("U8", [2], 0, 2)}, TWO, None, "left over"),
    "cut off": ({"x": entry("F32", [4], 0, 16)}, TWO, None, "ends at byte 16"),
    "another shape": ({"x": entry("F32", [3], 0, 8)}, TWO, None, "does not fit into 8 bytes"),
    "a huge shape": ({"x": entry("F32", [2**62, 2**62], 0, 8)}, TWO, None, "does not fit"),
    "a negative extent": ({"x": entry("F32", [-2, -1], 0, 8)}, TWO, None, "no type and shape"),
    "true as an extent": (
        {"x": {"dtype": "U8", "shape": [True], "data_offsets": [0, 1]}},
        b"1",
        None,
        "no type and shape",
    ),
    "offsets the wrong way": ({"x": entry("F32", [0], 8, 0)}, TWO, None, "no two offsets"),
    "no offsets": ({"x": {"dtype": "F32", "shape": [2]}}, TWO, None, "no two offsets"),
    "no entry": ({"x": 3}, TWO, None, "no two offsets"),
    "metadata": ({"__metadata__": {"a": 1}}, b"", None, "no texts"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_files_raise(case: str, tmp_path: Path) -> None:
    header, data, length, message = DAMAGED[case]
    path = written(tmp_path / "damaged.safetensors", header, data, length)
    with pytest.raises(mx.MXNetError, match=message):
        nd.load(path)


def test_other_types_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "x.safetensors", {"x": entry("U16", [1], 0, 2)}, b"ab")
    with pytest.raises(TypeError, match="of type U16, which no array can have"):
        nd.load(path)
