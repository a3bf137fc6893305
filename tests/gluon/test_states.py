# SPDX-License-Identifier: Apache-2.0
"""Files of optimizer states: MXNet's, those of earlier versions, damaged and hostile ones."""

from __future__ import annotations

import base64
import json
import pickle
import pickletools
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, lr_scheduler, nd, optimizer
from afterglow._formats.pickles import Made, Name, read, write
from afterglow.error import ArrayValueError, MismatchError

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))

from states import AFTER, BEFORE, CASES, SCHEDULERS, make_optimizer, make_weights, numbers, train

_GOLDEN = Path(__file__).parents[1] / "golden"
RECORDED = json.loads((_GOLDEN / "states.json").read_text())
OLD = json.loads((_GOLDEN / "old_states.json").read_text())


def _decoded(text: str) -> bytes:
    return base64.b64decode(text)


def _continued(recorded: dict[str, Any], name: str, updater: Any, array: Any) -> dict[str, Any]:
    """Return the weights after training from the middle on."""
    weights = make_weights(array, name)
    for key, weight in weights.items():
        start = onp.reshape(recorded["weights"][str(key)], weight.shape)
        weight[:] = array(start, dtype=weight.dtype)
    train(array, updater, weights, BEFORE, BEFORE + AFTER)
    return numbers(weights)


def _compare(found: dict[str, Any], wanted: dict[str, Any], name: str) -> None:
    tolerance = 5e-3 if "float16" in name else 1e-5
    for key, values in wanted.items():
        onp.testing.assert_allclose(found[key], values, tolerance, tolerance)


@pytest.mark.parametrize("name", [*CASES, *SCHEDULERS])
def test_training_of_mxnet_goes_on(name: str) -> None:
    recorded = RECORDED["cases"][name]
    updater = optimizer.get_updater(optimizer.SGD(learning_rate=99))
    updater.set_states(_decoded(recorded["whole"]))
    assert type(updater.optimizer).__name__.lower() == CASES.get(name, ("sgd",))[0]
    _compare(_continued(recorded, name, updater, nd.array), recorded["continued"], name)


@pytest.mark.parametrize("name", [*CASES, *SCHEDULERS])
def test_training_goes_on_from_our_own_file(name: str) -> None:
    weights = make_weights(nd.array, name)
    updater = optimizer.get_updater(make_optimizer(mx, name))
    train(nd.array, updater, weights, 0, BEFORE)
    recorded = {"weights": numbers(weights)}
    again = optimizer.get_updater(optimizer.SGD(learning_rate=99))
    again.set_states(updater.get_states(dump_optimizer=True))
    train(nd.array, updater, weights, BEFORE, BEFORE + AFTER)
    assert _continued(recorded, name, again, nd.array) == numbers(weights)


@pytest.mark.parametrize("name", sorted({*CASES, *SCHEDULERS} - {"test"}))  # counts nothing there
def test_what_is_written_says_the_same_as_mxnets(name: str) -> None:
    """The names, arguments and attributes are those in MXNet's file; a few more do no harm."""
    weights = make_weights(nd.array, name)
    updater = optimizer.get_updater(make_optimizer(mx, name))
    train(nd.array, updater, weights, 0, BEFORE)
    for form, given in (("states", False), ("whole", True)):
        ours = read(updater.get_states(dump_optimizer=given))
        _alike(ours, read(_decoded(RECORDED["cases"][name][form])), name)


#: Set by MXNet's constructors and never read; the last is there only while MXNet looks for a mode.
_UNUSED = {"weight_previous", "skip", "lbmult", "adaptive", "admult", "allow_np_array"}


def _alike(ours: Any, theirs: Any, name: str) -> None:
    assert type(ours) is type(theirs)
    if isinstance(ours, Made):
        assert (ours.name, ours.is_new) == (theirs.name, theirs.is_new)
        if ours.name != Name("builtins", "bytearray"):
            _alike(ours.arguments, theirs.arguments, name)
            _alike(ours.state, theirs.state, name)
        else:  # of an array: all but the values, which differ in the last bit
            header = len(ours.arguments[0]) - _length_of_values(theirs.arguments[0])
            assert ours.arguments[0][:header] == theirs.arguments[0][:header]
            assert len(ours.arguments[0]) == len(theirs.arguments[0])
    elif isinstance(ours, dict):
        assert set(theirs) - _UNUSED <= set(ours)
        for key in set(theirs) - _UNUSED:
            if key != "lr" or theirs[key] is not None:  # MXNet has none beside a scheduler
                _alike(ours[key], theirs[key], name)
    elif isinstance(ours, (tuple, list)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            _alike(one, other, name)
    else:
        assert ours == pytest.approx(theirs) if isinstance(ours, float) else ours == theirs


def _length_of_values(content: bytes) -> int:
    rank = int.from_bytes(content[8:12], "little")
    return len(content) - (12 + 8 * rank + 12)


@pytest.mark.parametrize("name", RECORDED["files"])
def test_files_of_trainer_module_store_and_other_protocols(name: str) -> None:
    updater = optimizer.get_updater(optimizer.SGD())
    updater.set_states(_decoded(RECORDED["files"][name]))
    kind = {"store": optimizer.SGD, "module": optimizer.SGD}.get(name, optimizer.Adam)
    assert type(updater.optimizer) is kind
    assert updater.states
    for state in updater.states.values():
        for array in state if isinstance(state, tuple) else (state,):
            assert onp.isfinite(array.asnumpy()).all()
            assert array.asnumpy().any()


def test_states_of_np_arrays() -> None:
    recorded = RECORDED["cases"]["np"]
    updater = optimizer.get_updater(optimizer.SGD())
    updater.set_states(_decoded(recorded["whole"]))
    _compare(_continued(recorded, "adam", updater, mx.np.array), recorded["continued"], "adam")
    assert all(type(one) is mx.np.ndarray for one in updater.states[0])
    # MXNet reads them in its np mode, where arrays have another magic.
    written = read(updater.get_states())[0][0].state["handle"].arguments[0]
    theirs = read(_decoded(recorded["states"]))[0][0].state["handle"].arguments[0]
    assert written[:4] == theirs[:4]


@pytest.mark.parametrize("name", OLD)
@pytest.mark.parametrize("form", ["states", "whole"])
def test_files_of_earlier_versions(name: str, form: str) -> None:
    recorded = OLD[name]
    case = "adam" if name in ("np", "as mxnet") else name
    updater = optimizer.get_updater(make_optimizer(mx, case))
    # Without the optimizer its counts are missing: bring it as far.
    array = mx.np.array if name == "np" else nd.array
    if form == "states":
        train(array, updater, make_weights(array, case), 0, BEFORE)
    updater.set_states(_decoded(recorded[form]))
    _compare(_continued(recorded, case, updater, array), recorded["continued"], case)


def _names_in(data: bytes) -> set[str]:
    """Return the modules of all names in a pickle."""
    found, texts = set(), []
    for code, argument, _ in pickletools.genops(data):
        if code.name == "GLOBAL":
            found.add(argument)
        elif "UNICODE" in code.name or code.name == "MEMOIZE":
            texts += [argument] if argument is not None else []
        elif code.name == "STACK_GLOBAL":
            found.add(" ".join(texts[-2:]))
    return found


def test_names_in_our_files_are_fixed() -> None:
    updater = optimizer.get_updater(make_optimizer(mx, "factor"))
    train(nd.array, updater, make_weights(nd.array, "factor"), 0, 1)
    assert _names_in(updater.get_states(dump_optimizer=True)) == {
        "mxnet.ndarray.ndarray NDArray",
        "builtins bytearray",
        "mxnet.optimizer.optimizer SGD",
        "mxnet.lr_scheduler FactorScheduler",
    }


def test_parameters_of_one_element_where_mxnet_is_afterglow(tmp_path: Path) -> None:
    script = """
import afterglow.as_mxnet, pickle, sys
import mxnet as mx
net = mx.gluon.nn.Dense(1, in_units=1)
net.initialize()
trainer = mx.gluon.Trainer(net.collect_params(), "adam")
with mx.autograd.record():
    loss = net(mx.nd.ones((2, 1)))
loss.backward()
trainer.step(2)
trainer.save_states("one.states")
trainer.load_states("one.states")
with mx.autograd.record():
    loss = net(mx.nd.ones((2, 1)))
loss.backward()
trainer.step(2)
for protocol in range(2, 6):
    data = pickle.dumps([mx.nd.ones((1,)).asnumpy(), net.bias.data().asnumpy()], protocol)
    assert b"afterglow" not in data
    open(f"{protocol}.pickle", "wb").write(data)
"""
    run = [sys.executable, "-c"]
    subprocess.run([*run, script], cwd=tmp_path, check=True, timeout=60)
    plain = """
import pickle, sys
for protocol in range(2, 6):
    one, other = pickle.load(open(f"{protocol}.pickle", "rb"))
    assert type(one).__module__ == "numpy" and one.tolist() == [1], one
assert "afterglow" not in sys.modules
"""
    subprocess.run([*run, plain], cwd=tmp_path, check=True, timeout=60)


# --- what a program derives ---


class Doubled(optimizer.SGD):
    """An optimizer of a program."""

    def __init__(self, factor: Any = 2.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.factor = factor


class Halves(lr_scheduler.LRScheduler):
    """A scheduler of a program."""

    def __call__(self, num_update: int) -> float:
        return self.base_lr / 2**num_update


def test_classes_of_a_program() -> None:
    rule = Doubled(onp.float32(3), momentum=0.5, lr_scheduler=Halves(0.25))
    updater = optimizer.get_updater(rule)
    updater(0, nd.ones((1,)), nd.ones((1,)))
    again = optimizer.get_updater(optimizer.SGD())
    again.set_states(updater.get_states(dump_optimizer=True))
    found = again.optimizer
    assert isinstance(found, Doubled)
    assert isinstance(found.lr_scheduler, Halves)
    assert (found.factor, found.momentum, found.learning_rate) == (3, 0.5, 0.125)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "states"
    path.write_bytes(b"before")
    net = gluon.nn.Dense(1, in_units=1)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"lr_scheduler": lambda n: 0.1})
    with pytest.raises(TypeError, match=r"\[get_states\] lr_scheduler of SGD is <function"):
        trainer.save_states(str(path))
    assert path.read_bytes() == b"before"
    itself: list[Any] = []
    itself.append(itself)
    updater = optimizer.get_updater(Doubled(itself))
    with pytest.raises(ValueError, match="holds itself"):
        updater.get_states(dump_optimizer=True)


# --- hostile files ---


def _array(content: Any) -> Made:
    state = {"handle": Made(Name("builtins", "bytearray"), (content,))}
    return Made(Name("mxnet.ndarray.ndarray", "NDArray"), (None,), state)


def _sgd(**attributes: Any) -> bytes:
    kind = Name("mxnet.optimizer.optimizer", "SGD")
    return write(({}, Made(kind, (), attributes, is_new=True)))


def _factor(**attributes: Any) -> bytes:
    kind = Name("mxnet.lr_scheduler", "FactorScheduler")
    return _sgd(lr_scheduler=Made(kind, (), attributes, is_new=True))


class _Call:
    """Is pickled as a call."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self._made = function, arguments

    def __reduce__(self) -> Any:
        return self._made


_POINTER = _Call(onp.ndarray, (2,), onp.dtype("O"), (0x414141414141).to_bytes(8, "little") * 2)
_ENDLESS = struct.pack("<Iii2q3i", 0xF993FAC9, 0, 2, 2**31 - 1, 2**31 - 1, 1, 0, 0)
_GOOD = RECORDED["cases"]["momentum"]["states"]

HOSTILE = {
    "pointers": pickle.dumps({0: _Call(onp.ndarray, _POINTER)}, 2),
    "objects": pickle.dumps({0: _POINTER}),
    "memory": pickle.dumps({0: _Call(onp.ndarray, (2**36,), onp.dtype("u1"))}),
    "2 GB in 9 bytes": b"\x80\x02}r\xff\xff\xff\x7fs.",
    "long text": b"\x80\x04\x8d" + b"\xff" * 7 + b"\x00.",
    "call": pickle.dumps({0: _Call(print, "run by a file")}),
    "import": pickle.dumps({0: _Call(__import__, "this")}),
    "codec": pickle.dumps({0: _Call(str.encode, "x", "../evil")}),
    "itself": b"\x80\x04}\x94K\x00h\x00s.",
    "a list in itself": b"\x80\x04}K\x00]\x94h\x00as.",
    "laughs": b"\x80\x04}K\x00]\x94" + b"]\x94(" + b"h\x00" * 50 + b"e"
    + b"".join(b"]\x94(" + bytes([104, i]) * 50 + b"e" for i in range(1, 9)) + b"s.",
    "deep": b"\x80\x04}K\x00" + b")" + b"\x85" * 100_000 + b"s.",
    "deep key": b"\x80\x04})" + b"\x85" * 100_000 + b"K\x00s.",
    "array without end": write({0: _array(_ENDLESS)}),
    "array of text": write({0: _array("text")}),
    "array of numbers": write({0: _array(3)}),
    "no array": write({0: Made(Name("mxnet.ndarray.ndarray", "NDArray"), (None,))}),
    "old array": write({0: Made(Name("afterglow._array", "_restore"), (1, 2, 3))}),
    "method": _sgd(update=3),
    "property": _sgd(learning_rate=3),
    "class": _sgd(__class__=3),
    "text for a number": _sgd(lr="x"),
    "list for a dictionary": _sgd(_all_index_update_counts=[1]),
    "number for a dictionary": _sgd(_all_index_update_counts={0: 3}),
    "huge number": _sgd(num_update=10**80),
    "number for a scheduler": _sgd(lr_scheduler=3),
    "endless scheduler": _factor(step=0),
    "backward scheduler": _factor(step=-1.5),
    "not a class": write(({}, Made(Name("os", "system"), ("true",)))),
    "cut off": _decoded(_GOOD)[:-20],
    "two values": b"\x80\x04NN.",
    "nothing": b"\x80\x04.",
    "list": pickle.dumps([1, 2]),
    "no optimizer": pickle.dumps(({}, 3)),
    "empty": b"",
    "nonsense": b"nonsense",
}  # fmt: skip


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = gluon.nn.Dense(1, in_units=2)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    file = tmp_path / "states"
    file.write_bytes(content)
    with pytest.raises(ArrayValueError, match="no file of optimizer states"):
        trainer.load_states(str(file))
    assert not capsys.readouterr().out
    with autograd.record():
        loss = net(nd.ones((1, 2)))
    loss.backward()
    trainer.step(1)  # still usable


def test_shared_bytes_are_not_multiplied() -> None:
    """A thousand arrays of the same 100 kB in a file of 130 kB are refused, not made."""
    content = nd.zeros((25_000,))
    updater = optimizer.get_updater(optimizer.SGD())
    updater.states = {0: content}
    data = updater.get_states()
    start, rest = data.index(b"}("), data.index(b"\x8e")
    name = b"cmxnet.ndarray.ndarray\nNDArray\n\x94N\x85R}X\x06\x00\x00\x00handle"
    end = rest + 9 + int.from_bytes(data[rest + 1 : rest + 9], "little")
    bomb = data[:start] + b"}(K\x00" + name + data[rest:end] + b"\x94sb"
    again = b"K\x01h\x00N\x85R}X\x06\x00\x00\x00handleh\x01sb"
    bomb += b"".join(again[:1] + bytes([i % 256]) + again[2:] for i in range(1, 250)) + b"u."
    with pytest.raises(ValueError, match="more bytes than the file"):
        updater.set_states(bomb)


WRONG = {
    "another shape": nd.zeros((5,)),
    "another type": nd.zeros((3,), dtype="float64"),
    "a pair": (nd.zeros((3,)), nd.zeros((3,))),
    "a number": 3,
    "text": "text",
}


@pytest.mark.parametrize("name", WRONG)
def test_states_of_other_weights(name: str) -> None:
    """A file of another network, or of another rule, is told from a fitting one."""
    written = optimizer.get_updater(optimizer.SGD(momentum=0.9))
    written.states = {"w": WRONG[name]}
    updater = optimizer.get_updater(optimizer.SGD(momentum=0.9))
    updater.set_states(written.get_states())
    weight = nd.zeros((3,))
    with pytest.raises(
        MismatchError, match=r"weight w of shape \(3,\) .* SGD needs \(3,\) float32"
    ):
        updater("w", nd.ones((3,)), weight)
    assert weight.asnumpy().tolist() == [0, 0, 0]


def test_states_of_a_rule_without_momentum() -> None:
    """A momentum that is not there begins at zero, and one that is not needed does no harm."""
    for before, after, expected in ((0.0, 0.5, -2.5), (0.5, 0.0, -2)):
        written = optimizer.get_updater(optimizer.SGD(momentum=before))
        written(0, nd.ones((3,)), nd.zeros((3,)))
        updater = optimizer.get_updater(optimizer.SGD(learning_rate=1, momentum=after))
        updater.set_states(written.get_states())
        weight = nd.zeros((3,))
        for _ in range(2):
            updater(0, nd.ones((3,)), weight)
        assert weight.asnumpy().tolist() == [expected] * 3


def test_missing_file(tmp_path: Path) -> None:
    trainer = gluon.Trainer(gluon.nn.Dense(1, in_units=1).collect_params(), "sgd")
    for kind in (FileNotFoundError, mx.MXNetError):
        with pytest.raises(kind, match="cannot be opened"):
            trainer.load_states(str(tmp_path / "nothing"))
