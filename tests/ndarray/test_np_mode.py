# SPDX-License-Identifier: Apache-2.0
"""The switches for NumPy semantics, and the two kinds of arrays beside each other."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import afterglow as mx
from afterglow import nd, np, npx, util


@pytest.fixture(autouse=True)
def classic() -> Iterator[None]:
    npx.reset_np()
    yield
    npx.reset_np()


def state() -> tuple[bool, bool]:
    return npx.is_np_shape(), npx.is_np_array()


def test_spellings() -> None:
    for name in ("np_array", "np_shape", "use_np", "use_np_array", "use_np_shape", "set_np_shape"):
        assert getattr(mx, name) is getattr(util, name) is getattr(npx, name)
    for name in ("set_np", "reset_np", "is_np_array", "is_np_shape"):
        assert getattr(npx, name) is getattr(util, name)
    assert mx.is_np_array is util.is_np_array
    assert mx.is_np_shape is util.is_np_shape


def test_setting_and_resetting() -> None:
    assert state() == (False, False)
    npx.set_np()
    assert state() == (True, True)
    npx.set_np(array=False)
    assert state() == (True, False)
    npx.set_np(1, 1)  # type: ignore[arg-type]
    assert state() == (True, True)
    npx.reset_np()
    assert state() == (False, False)
    with pytest.raises(ValueError, match="set_np"):
        npx.set_np(shape=False)
    assert state() == (False, False)


def test_set_np_shape_returns_what_was() -> None:
    assert util.set_np_shape(True) is False
    assert util.set_np_shape(True) is True
    assert util.set_np_shape(False) is True
    assert state() == (False, False)


def test_scopes() -> None:
    with mx.np_shape(True) as shape:
        assert shape is None
        assert state() == (True, False)
        with mx.np_shape(False):
            assert state() == (False, False)
        with util.np_array():
            assert state() == (True, True)
        assert state() == (True, False)
    assert state() == (False, False)
    with pytest.raises(KeyError), mx.np_shape(), mx.np_array():
        raise KeyError
    assert state() == (False, False)


def test_threads_have_their_own() -> None:
    npx.set_np()
    seen = []

    def work() -> None:
        seen.append(state())
        npx.set_np(array=False)
        seen.append(state())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(False, False), (True, False)]
    assert state() == (True, True)


def test_decorated_functions() -> None:
    @mx.use_np
    def everything() -> tuple[bool, bool]:
        """Said here."""
        return state()

    assert everything() == (True, True)
    assert (everything.__name__, everything.__doc__) == ("everything", "Said here.")
    assert util.use_np_shape(state)() == (True, False)
    assert util.use_np_array(state)() == (False, True)
    assert state() == (False, False)
    for decorate in (mx.use_np, util.use_np_shape, util.use_np_array):
        with pytest.raises(TypeError, match="can decorate"):
            decorate(5)


@mx.use_np
class Decorated:
    value = 3

    def __init__(self) -> None:
        self.made = state()

    def method(self) -> tuple[bool, bool]:
        return state()

    @property
    def attribute(self) -> tuple[bool, bool]:
        """Said there."""
        return state()

    @staticmethod
    def static() -> tuple[bool, bool]:
        return state()

    @classmethod
    def of_class(cls) -> tuple[type, tuple[bool, bool]]:
        return cls, state()


class Derived(Decorated):
    def own(self) -> tuple[bool, bool]:
        return state()


def test_decorated_classes() -> None:
    made = Decorated()
    assert isinstance(made, Decorated)
    assert made.made == made.method() == made.attribute == made.static() == (True, True)
    assert Decorated.attribute.__doc__ == "Said there."
    assert Derived.of_class() == (Derived, (True, True))
    assert Derived().own() == (False, False)
    assert Derived().method() == (True, True)


def test_the_mode_changes_no_answers() -> None:
    npx.set_np()
    assert nd.sum(nd.ones((2,))).shape == (1,)
    assert np.sum(np.ones((2,))).shape == ()
    npx.reset_np()
    assert np.sum(np.ones((2,))).shape == ()
    assert np.zeros((0, 3)).shape == (0, 3)


def test_conversion_shares_memory() -> None:
    x = nd.ones((2, 3))
    y = x.as_np_ndarray()
    assert type(y) is np.ndarray
    y += 1
    assert x.asnumpy().tolist() == [[2] * 3] * 2
    z = y.as_nd_ndarray()
    assert type(z) is nd.NDArray
    z[0] = 5
    assert y.tolist() == [[5] * 3, [2] * 3]


MIXED: dict[str, Callable[[Any, Any], Any]] = {
    "nd + np": operator.add,
    "np * nd": lambda x, y: y * x,
    "nd == np": operator.eq,
    "nd += np": operator.iadd,
    "np -= nd": lambda x, y: operator.isub(y, x),
    "nd.dot": lambda x, y: nd.dot(x, y),
    "np.dot": lambda x, y: np.dot(y, x),
    "nd.concat": lambda x, y: nd.concat(x, y, dim=0),
    "np.concatenate": lambda x, y: np.concatenate([x, y]),
    "nd.exp": lambda x, y: nd.exp(y),
    "np.exp": lambda x, y: np.exp(x),
    "np.sum": lambda x, y: np.sum(x),
    "nd.sum": lambda x, y: nd.sum(y),
    "nd[:] = np": lambda x, y: operator.setitem(x, slice(None), y),
    "np[:] = nd": lambda x, y: operator.setitem(y, slice(None), x),
    "copyto": lambda x, y: x.copyto(y),
}


@pytest.mark.parametrize("name", MIXED)
def test_mixing_is_refused(name: str) -> None:
    x, y = nd.ones((2,)), np.ones((2,))
    with pytest.raises(TypeError):
        MIXED[name](x, y)
    assert x.asnumpy().tolist() == y.tolist() == [1, 1]


def test_environment() -> None:
    assert util.getenv("AFTERGLOW_NO_SUCH_VARIABLE") is None
    util.setenv("AFTERGLOW_NO_SUCH_VARIABLE", "3")
    assert util.getenv("AFTERGLOW_NO_SUCH_VARIABLE") == "3"
    util.setenv("AFTERGLOW_NO_SUCH_VARIABLE", None)
    assert util.getenv("AFTERGLOW_NO_SUCH_VARIABLE") is None
    assert util.get_gpu_count() == 0
    for call in (
        lambda: util.get_gpu_memory(0),
        lambda: util.get_cuda_compute_capability(mx.gpu()),
    ):
        with pytest.raises(mx.MXNetError, match="num_gpus"):
            call()
    with pytest.raises(ValueError, match="gpu context"):
        util.get_cuda_compute_capability(mx.cpu())
