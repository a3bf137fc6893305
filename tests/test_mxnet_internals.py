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
