# SPDX-License-Identifier: Apache-2.0
"""Names that MXNet's modules hold beside their interface, and that programs use."""

from __future__ import annotations

import ctypes

import numpy as onp
import pytest

import afterglow as mx
from afterglow.error import MissingNameError
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
