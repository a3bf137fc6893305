# SPDX-License-Identifier: Apache-2.0
"""What Python's pickle makes of our objects: it loads again, and names public things only."""

from __future__ import annotations

import base64
import copy
import io
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, np
from afterglow._formats.pickles import numpy_array, read, write


def _net(hybridized: bool = False) -> gluon.nn.HybridSequential:
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(3, in_units=2, activation="tanh"), gluon.nn.BatchNorm())
    net.initialize(mx.init.Xavier())
    if hybridized:
        net.hybridize()
        for _ in range(3):
            net(nd.ones((1, 2)))
    return net


class _Names(pickle.Unpickler):
    """Loads a pickle and keeps the names in it."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.found: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        self.found.add(f"{module}.{name}")
        return super().find_class(module, name)


MAKERS = {
    "nd": lambda: nd.ones((2,)),
    "np": lambda: np.ones(()),
    "context": lambda: mx.cpu(1),
    "symbol": lambda: mx.sym.var("x") * 2,
    "initializer": lambda: mx.init.Xavier(),
    "scheduler": lambda: mx.lr_scheduler.FactorScheduler(3),
    "metric": lambda: mx.metric.Accuracy(),
    "optimizer": lambda: mx.optimizer.Adam(),
    "parameter": lambda: _net()[0].weight,
    "parameters": lambda: _net().collect_params(),
    "block": _net,
    "hybridized block": lambda: _net(True),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_names_are_public(make: Any) -> None:
    names = _Names(pickle.dumps(make()))
    names.load()
    ours = {name for name in names.found if not name.startswith(("numpy.", "builtins."))}
    assert ours
    assert all(name.startswith("afterglow.") and "._" not in name for name in ours), ours


@pytest.mark.parametrize("hybridized", [False, True])
def test_blocks(hybridized: bool) -> None:
    net, x = _net(hybridized), nd.array([[1, -2], [3, 4]])
    expected = net(x).asnumpy()
    again = pickle.loads(pickle.dumps(net))
    for _ in range(3):
        assert again(x).asnumpy().tolist() == expected.tolist()
    trainer = gluon.Trainer(again.collect_params(), "sgd", {"learning_rate": 0.1})
    with autograd.record():
        loss = (again(x) ** 2).sum()
    loss.backward()
    trainer.step(1)
    assert again(x).asnumpy().tolist() != expected.tolist()
    assert net(x).asnumpy().tolist() == expected.tolist()


def test_parameters() -> None:
    parameter = _net()[0].weight
    parameter.grad()[:] = 7
    again = pickle.loads(pickle.dumps(parameter))
    onp.testing.assert_array_equal(again.data().asnumpy(), parameter.data().asnumpy())
    assert not again.grad().asnumpy().any()
    shallow = copy.copy(parameter)
    assert shallow.data() is parameter.data()
    assert (parameter.grad().asnumpy() == 7).all()


def test_names_of_earlier_versions() -> None:
    data = pickle.dumps(nd.array([1, 2]), 0)
    old = data.replace(b"afterglow.util\nrestore_array", b"afterglow._array\n_restore")
    assert old != data
    assert pickle.loads(old).asnumpy().tolist() == [1, 2]


# --- pickles as data ---

PLAIN = [None, True, False, 0, -1, 255, 65536, 2**31, -(2**31) - 1, 2**200, 0.1, float("inf"), "",
         "é\ud800", b"", b"bytes", (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], [1, [2, []]],
         {}, {1: {"a": (None,)}, "b": []}]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values(value: Any) -> None:
    assert pickle.loads(write(value)) == value
    for protocol in (3, 4, 5):
        for pickler in (pickle.dumps, pickle._dumps):  # type: ignore[attr-defined]
            assert read(pickler([value, value], protocol)) == [value, value]


@pytest.mark.parametrize("protocol", [3, 4, 5])
@pytest.mark.parametrize("dtype", ["float32", ">f8", "float16", "int64", "uint8", "bool"])
def test_arrays_of_numpy(dtype: str, protocol: int) -> None:
    host = onp.arange(6).reshape(2, 3).astype(dtype)
    for one in (host, host.T, host[0, 0], host[:0], host[1, 1]):
        found = numpy_array(read(pickle.dumps(one, protocol)))
        assert found.dtype == one.dtype.newbyteorder("=")
        onp.testing.assert_array_equal(found, one)


@pytest.mark.parametrize(
    "host", [onp.array(["text"]), onp.array([None]), onp.zeros(2, "f4,i4"), onp.zeros(1, "M8[s]")]
)
def test_other_arrays_of_numpy(host: Any) -> None:
    with pytest.raises(ValueError, match=r"array|damaged|not known"):
        numpy_array(read(pickle.dumps(host)))


def test_no_module_reads_pickles_of_files() -> None:
    """Modules that read what others wrote use the reader above."""
    folder = Path(mx.__file__).parent
    unpickles = re.compile(
        r"^\s*(import|from) (pickle|_pickle|marshal|shelve|dill)\b|allow_pickle", re.MULTILINE
    )
    found = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if unpickles.search(path.read_text(encoding="utf-8"))
    }
    # What a loader sends to its own workers.
    workers = {"gluon/data/dataloader.py", "gluon/data/_workers.py", "gluon/data/_pool_batches.py"}
    assert found <= workers


def test_values_that_cannot_be_written() -> None:
    for value in (object(), {1, 2}, 1j, 2**3000):
        with pytest.raises(TypeError, match="cannot be written"):
            write([value])
    itself: list[Any] = []
    itself.append(itself)
    with pytest.raises(RecursionError):
        write(itself)


#: What MXNet 1.9.1 pickles, by protocol 4, of arrays of each class; and their values.
MXNET_PICKLES: dict[str, tuple[str, Any]] = {
    "nd": (
        "gASVgwAAAAAAAACMFW14bmV0Lm5kYXJyYXkubmRhcnJheZSMB05EQXJyYXmUk5ROhZRSlH2UjAZoYW5kbGWUjAhidWls"
        "dGluc5SMCWJ5dGVhcnJheZSTlEMsyfqT+QAAAAABAAAAAwAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAACAPwAAAECUhZRS"
        "lHNiLg==",
        [0, 1, 2],
    ),
    "np without dimensions": (
        "gASVaQAAAAAAAACMC214bmV0Lm51bXB5lIwHbmRhcnJheZSTlE6FlFKUfZSMBmhhbmRsZZSMCGJ1aWx0aW5zlIwJYnl0"
        "ZWFycmF5lJOUQxzK+pP5AAAAAAAAAAABAAAAAAAAAAAAAAAAAGBAlIWUUpRzYi4=",
        3.5,
    ),
    "csr": (
        "gASV3QAAAAAAAACMFG14bmV0Lm5kYXJyYXkuc3BhcnNllIwKQ1NSTkRBcnJheZSTlE6FlFKUfZSMBmhhbmRsZZSMCGJ1"
        "aWx0aW5zlIwJYnl0ZWFycmF5lJOUQ4TJ+pP5AgAAAAEAAAACAAAAAAAAAAIAAAACAAAAAAAAAAIAAAAAAAAAAQAAAAAA"
        "AAAAAAAABgAAAAEAAAADAAAAAAAAAAYAAAABAAAAAgAAAAAAAAAAAIA/AAAAQAAAAAAAAAAAAQAAAAAAAAACAAAAAAAA"
        "AAEAAAAAAAAAAAAAAAAAAACUhZRSlHNiLg==",
        [[0, 1], [2, 0]],
    ),
    "row_sparse": (
        "gASVuwAAAAAAAACMFG14bmV0Lm5kYXJyYXkuc3BhcnNllIwQUm93U3BhcnNlTkRBcnJheZSTlE6FlFKUfZSMBmhhbmRs"
        "ZZSMCGJ1aWx0aW5zlIwJYnl0ZWFycmF5lJOUQ1zJ+pP5AQAAAAIAAAABAAAAAAAAAAIAAAAAAAAAAgAAAAIAAAAAAAAA"
        "AgAAAAAAAAABAAAAAAAAAAAAAAAGAAAAAQAAAAEAAAAAAAAAAAAAQAAAAAABAAAAAAAAAJSFlFKUc2Iu",
        [[0, 0], [2, 0]],
    ),
}


class _AsAfterglow(pickle.Unpickler):
    """Loads what MXNet has pickled, as programs do that import ``afterglow.as_mxnet``."""

    def find_class(self, module: str, name: str) -> Any:
        return super().find_class(module.replace("mxnet", "afterglow"), name)


@pytest.mark.parametrize(("data", "expected"), MXNET_PICKLES.values(), ids=MXNET_PICKLES)
def test_arrays_that_mxnet_has_pickled(data: str, expected: Any) -> None:
    found = _AsAfterglow(io.BytesIO(base64.b64decode(data))).load()
    assert found.asnumpy().tolist() == expected
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is type(found)
    assert again.asnumpy().tolist() == expected


def test_an_array_that_mxnet_had_on_a_gpu() -> None:
    x = nd.arange(3)
    x.attach_grad()
    state = "c9fa93f9 00000000 01000000 0100000000000000 02000000 00000000 00000000 0000e040"
    x.__setstate__({"handle": bytearray.fromhex(state)})
    assert (x.asnumpy().tolist(), x.context, x.grad) == ([7], mx.cpu(0), None)
    with autograd.record(), pytest.raises(mx.MXNetError):
        (x * 2).backward()  # no variable any more


def test_states_that_are_no_arrays_of_the_class() -> None:
    x = nd.arange(3)
    content, _ = MXNET_PICKLES["csr"]
    state = base64.b64decode(content)
    start = state.index(bytes.fromhex("c9fa93f9"))
    with pytest.raises(TypeError, match="same class"):
        x.__setstate__({"handle": state[start : start + 0x84]})
    with pytest.raises(mx.MXNetError, match="a pickle is no file of arrays, or damaged"):
        x.__setstate__({"handle": state[start : start + 20]})
    assert x.asnumpy().tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match=r"array\(\) makes arrays"):
        nd.NDArray([1, 2])  # type: ignore[arg-type]
