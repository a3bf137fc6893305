# SPDX-License-Identifier: Apache-2.0
"""Names that MXNet's modules hold beside their interface, and that programs use nevertheless.

A module asks here for a name that it lacks, so none of these is loaded or shown before somebody
uses it. What there is stands for the thing of ours that does the same.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as onp

__all__ = ["STAR_IMPORTED", "internal"]

#: What ``from mxnet.test_utils import *`` gives beside its functions: all that the module imports.
STAR_IMPORTED = {
    "Context": "afterglow.context:Context",
    "Features": "afterglow.runtime:Features",
    "OrderedDict": "collections:OrderedDict",
    "Symbol": "afterglow.symbol:Symbol",
    "array": "afterglow.ndarray:array",
    "assert_allclose": "numpy.testing:assert_allclose",
    "bz2": "bz2",
    "contextmanager": "contextlib:contextmanager",
    "current_context": "afterglow.context:current_context",
    "errno": "errno",
    "get_cuda_compute_capability": "afterglow.util:get_cuda_compute_capability",
    "getenv": "afterglow.util:getenv",
    "gzip": "gzip",
    "json": "json",
    "logging": "logging",
    "mx": "afterglow",
    "np": "numpy",
    "np_symbol": "afterglow.symbol.numpy:_Symbol",
    "npt": "numpy.testing",
    "numbers": "numbers",
    "os": "os",
    "platform": "platform",
    "rnd": "numpy.random",
    "setenv": "afterglow.util:setenv",
    "ss": "scipy.stats",
    "struct": "struct",
    "sys": "sys",
    "time": "time",
    "traceback": "traceback",
    "zipfile": "zipfile",
}

#: MXNet works without these, and its modules then hold None.
_OPTIONAL = ("scipy",)

_STORAGE_TYPES = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}
_STORAGE = {
    "_STORAGE_TYPE_STR_TO_ID": _STORAGE_TYPES,
    "_STORAGE_TYPE_ID_TO_STR": {number: name for name, number in _STORAGE_TYPES.items()},
    **{f"_STORAGE_TYPE_{name.upper()}": number for name, number in _STORAGE_TYPES.items()},
}
_GRAD_REQUESTS = {"_GRAD_REQ_MAP": {"null": 0, "write": 1, "add": 3}}
_NUMBERS = {
    "mx_uint": ctypes.c_uint,
    "mx_int": ctypes.c_int,
    "mx_int64": ctypes.c_int64,
    "mx_float": ctypes.c_float,
    "mx_float_p": ctypes.POINTER(ctypes.c_float),
    "mx_real_t": onp.float32,
}
_HANDLES = dict.fromkeys(
    (
        *("NDArrayHandle", "FunctionHandle", "OpHandle", "CachedOpHandle", "SymbolHandle"),
        *("ExecutorHandle", "DataIterCreatorHandle", "DataIterHandle", "KVStoreHandle"),
        *("RecordIOHandle", "RtcHandle", "CudaModuleHandle", "CudaKernelHandle", "ProfileHandle"),
        "DLPackHandle",
    ),
    ctypes.c_void_p,
)


def _as_list(given: Any) -> list[Any]:
    """Return a list or tuple as it is, and anything else alone in a list."""
    return given if isinstance(given, (list, tuple)) else [given]  # type: ignore[return-value]


def _py_str(given: bytes) -> str:
    """Return what C calls a string."""
    return given.decode("utf-8")


def _c_str(given: str) -> ctypes.c_char_p:
    """Return a string for C."""
    return ctypes.c_char_p(given.encode("utf-8"))


def _c_str_array(strings: Iterable[str]) -> Any:
    """Return strings for C."""
    encoded = [one.encode("utf-8") for one in strings]
    return (ctypes.c_char_p * len(encoded))(*encoded)


def _c_array(kind: Any, values: Sequence[Any]) -> Any:
    """Return values for C."""
    return (kind * len(values))(*values)


def _c_array_buf(kind: Any, buffer: Any) -> Any:
    """Return the values of a buffer for C, which are not copied."""
    return (kind * len(buffer)).from_buffer(buffer)


class _Null:
    """What an argument is that is not given."""

    def __repr__(self) -> str:
        return "_Null"


_NULL = {"_Null": _Null(), "_NullType": _Null}
_STRINGS = {
    "py_str": _py_str,
    "c_str": _c_str,
    "c_array": _c_array,
    "c_array_buf": _c_array_buf,
    "c_str_array": _c_str_array,
}

#: By module, what a name stands for: a thing, or "MODULE" or "MODULE:NAME" of a thing to load.
_INTERNALS: dict[str, dict[str, Any]] = {
    "autograd": {
        **_GRAD_REQUESTS,
        "NDArray": "afterglow.ndarray:NDArray",
        "Symbol": "afterglow.symbol:Symbol",
        "traceback": "traceback",
    },
    "base": {
        **_NUMBERS,
        **_HANDLES,
        **_STRINGS,
        **_NULL,
        "_LIB": "afterglow._package.c_functions:LIBRARY",
        "_as_list": _as_list,
        "basestring": str,
        "check_call": "afterglow._package.c_functions:check_call",
        "ctypes": ctypes,
        "long": int,
    },
    "context": {"c_str": _c_str},
    "gluon.block": {
        "_BlockScope": "afterglow.gluon._block_scope:BlockScope",
        "_flatten": "afterglow.gluon._mxnet_internals:flatten",
        "_regroup": "afterglow.gluon._mxnet_internals:regroup",
    },
    "gluon.data.dataloader": {
        "ForkingPickler": "multiprocessing.reduction:ForkingPickler",
        "ThreadPool": "multiprocessing.pool:ThreadPool",
        "_MultiWorkerIter": "afterglow.gluon.data._pool_batches:PoolBatches",
        "context": "afterglow.context",
        "nd": "afterglow.ndarray",
    },
    "gluon.data.vision.datasets": {"image": "afterglow.image", "nd": "afterglow.ndarray"},
    "metric": {"ndarray": "afterglow.ndarray", "numpy": onp, "np": onp},
    "ndarray": {
        **_STORAGE,
        "CachedOp": "afterglow.ndarray.cached_op:CachedOp",
        "_internal": "afterglow.ndarray._internal",
        "op": "afterglow.ndarray",
    },
    "ndarray.ndarray": {
        **_STORAGE,
        **_GRAD_REQUESTS,
        **_NUMBERS,
        "NDArrayBase": "afterglow._arrays.base:ArrayBase",
        "np": onp,
        "py_slice": slice,
    },
    "numpy": {"_internal": "afterglow.ndarray._internal:of_numpy"},
    "operator": {
        **_STRINGS,
        **_STORAGE,
        **_HANDLES,
        "NDArray": "afterglow.ndarray:NDArray",
        "cast": ctypes.cast,
        "ctypes": ctypes,
    },
    "symbol.symbol": {**_STRINGS, **_STORAGE, **_GRAD_REQUESTS, "py_slice": slice},
    "test_utils": {**STAR_IMPORTED, **_STORAGE},
    "util": {"py_str": _py_str, "c_str": _c_str},
}


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    package = module.split(".")[0]
    if package in _OPTIONAL and find_spec(package) is None:
        return None
    found: Any = importlib.import_module(module)
    return getattr(found, name) if name else found


def internal(module: str, name: str) -> tuple[bool, Any]:
    """Tell whether a module of MXNet's, given by its path, has a name, and what it stands for."""
    found = _INTERNALS.get(module, {})
    if name not in found:
        return False, None
    value = found[name]
    return True, _load(value) if isinstance(value, str) else value
