# SPDX-License-Identifier: Apache-2.0
"""Names that MXNet's modules hold beside their interface, and that programs use."""

from __future__ import annotations

import ctypes
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow.error import MissingNameError
from afterglow.gluon.data import dataloader
from afterglow.gluon.data._pool_batches import PoolBatches
from tests.support import output_of


def test_a_star_import_gives_what_the_module_imports() -> None:
    names: dict[str, object] = {}
    exec("from afterglow.test_utils import *", names)
    assert names["mx"] is mx
    assert names["np"] is onp
    assert names["rnd"] is onp.random
    assert names["Context"] is mx.Context
    assert {"os", "sys", "json", "logging", "time", "assert_allclose", "ss"} <= set(names)
    exec("from afterglow.operator import *", names)
    assert names["NDArrayHandle"] is names["ctypes"].c_void_p  # type: ignore[attr-defined]
    assert names["NDArray"] is mx.nd.NDArray
    assert "ctypes" not in dir(mx.operator)


def test_helpers_of_base() -> None:
    assert mx.base.py_str(b"caf\xc3\xa9") == "café"
    assert mx.base.c_str("café").value == b"caf\xc3\xa9"
    assert mx.base._as_list(3) == [3]
    assert mx.base._as_list([3]) == [3]
    assert mx.base.mx_real_t is onp.float32
    assert list(mx.base.c_array(mx.base.mx_uint, [1, 2])) == [1, 2]
    assert list(mx.base.c_str_array(["a", "b"])) == [b"a", b"b"]
    assert mx.base.NDArrayHandle is ctypes.c_void_p
    assert mx.nd.ndarray._STORAGE_TYPE_STR_TO_ID["csr"] == 2
    assert mx.nd.ndarray.py_slice is slice


def test_c_functions_may_be_imported() -> None:
    from afterglow.base import _LIB, check_call

    with pytest.raises(AttributeError, match="no C function 'MXGetVersion'"):
        _LIB.MXGetVersion
    check_call(0)
    with pytest.raises(mx.MXNetError, match="returned -1"):
        check_call(-1)


def test_modules_that_data_sets_import() -> None:
    from afterglow.gluon.data.vision import datasets

    assert (datasets.image, datasets.nd) == (mx.image, mx.nd)


class Doubled(PoolBatches):
    """An iterator as GluonCV derives it, which sends other arguments."""

    def __init__(self, factor: int, pool: Any, batches: Any, **given: Any) -> None:
        super().__init__(pool, list, batches, worker_fn=make, prefetch=0, **given)
        self._factor = factor
        self._push_next()

    def _push_next(self) -> None:
        for indices in self._iter:
            result = self._worker_pool.apply_async(self._worker_fn, (indices, self._factor))
            self._data_buffer[self._sent_idx] = result
            self._sent_idx += 1
            return


def make(indices: list[int], factor: int) -> bytes:
    if 7 in indices:
        raise KeyError(7)
    buffer = io.BytesIO()
    dataloader.ForkingPickler(buffer, pickle.HIGHEST_PROTOCOL).dump(mx.nd.array(indices) * factor)
    return buffer.getvalue()


def test_an_iterator_over_what_a_pool_makes() -> None:
    assert dataloader._MultiWorkerIter is PoolBatches
    with dataloader.ThreadPool(2) as pool:
        batches = Doubled(2, pool, [[1, 2], [3, 4], [5]])
        assert len(batches) == 3
        assert [one.asnumpy().tolist() for one in batches] == [[2, 4], [6, 8], [10]]
        given = {"dataset": [10, 20, 30], "prefetch": 1, "pin_memory": True}
        plain = PoolBatches(pool, mx.nd.array, [[0, 2], [1]], worker_fn=take, **given)
        one, other = next(plain), plain.next()
        assert (one.asnumpy().tolist(), other.asnumpy().tolist()) == ([10, 30], [20])
        assert one.context == mx.cpu_pinned()
        with pytest.raises(StopIteration):
            next(plain)


def take(indices: list[int], batchify: Any, dataset: Any) -> Any:
    return batchify([dataset[index] for index in indices])


def test_a_worker_that_fails_ends_the_pool() -> None:
    with dataloader.ThreadPool(2) as pool:
        failing = Doubled(2, pool, [[7], [8], [9]])
        with pytest.raises(KeyError):
            next(failing)
        with pytest.raises(ValueError, match="Pool not running"):
            next(failing)


def test_a_pool_of_processes_sends_arrays() -> None:
    program = """
    import multiprocessing
    from tests.test_mxnet_internals import Doubled
    if __name__ == "__main__":
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print([one.asnumpy().tolist() for one in Doubled(3, pool, [[1], [2, 3]])])
    """
    assert output_of(program, PYTHONPATH=str(Path(__file__).parents[1])) == ["[[3.0], [6.0, 9.0]]"]


def test_layers_tell_what_their_op_is_told() -> None:
    class Plain(mx.gluon.nn.BatchNorm):
        def hybrid_forward(
            self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any
        ) -> Any:
            given = {"name": "fwd", "cudnn_off": True, **self._kwargs}
            return F.BatchNorm(x, gamma, beta, running_mean, running_var, **given)

    layer, same = Plain(epsilon=0.5), mx.gluon.nn.BatchNorm(epsilon=0.5)
    x = mx.nd.array([[1, 2], [3, 5]])
    for net in (layer, same):
        net.initialize()
    onp.testing.assert_array_equal(layer(x).asnumpy(), same(x).asnumpy())
    assert layer._kwargs == {
        **{"axis": 1, "eps": 0.5, "momentum": 0.9},
        **{"fix_gamma": False, "use_global_stats": False},
    }


def test_functions_by_names_of_ops() -> None:
    from afterglow.numpy_op_signature import _get_builtin_op

    assert _get_builtin_op("_np_sum") is mx.np.sum
    assert _get_builtin_op("_npx_relu") is mx.npx.relu
    assert _get_builtin_op("_npi_random_uniform") is mx.np.random.uniform
    assert _get_builtin_op("_np_not_there") is None


def test_functions_of_numpy_that_meet_arrays() -> None:
    from afterglow import numpy_dispatch_protocol as protocol

    @protocol.with_array_function_protocol
    def total(x: mx.np.ndarray) -> mx.np.ndarray:
        return onp.sum(x)

    assert isinstance(total(mx.np.ones(3)), mx.np.ndarray)
    assert {"sum", "linalg.norm"} <= {*protocol._NUMPY_ARRAY_FUNCTION_LIST}
    assert all(
        isinstance(getattr(onp, name), onp.ufunc) for name in protocol._NUMPY_ARRAY_UFUNC_LIST
    )


def test_they_are_not_shown_nor_loaded() -> None:
    assert "py_str" not in dir(mx.base)
    with pytest.raises(MissingNameError, match="no attribute '_not_there'"):
        mx.base._not_there
    script = """
    import sys
    import afterglow
    print("afterglow._package.mxnet_internals" in sys.modules)
    """
    assert output_of(script) == ["False"]
