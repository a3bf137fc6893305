# SPDX-License-Identifier: Apache-2.0
"""Functions of arrays under the names that the English book has for all frameworks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from afterglow import np, npx

__all__ = [
    "abs",
    "arange",
    "argmax",
    "astype",
    "batch_matmul",
    "concat",
    "cos",
    "cosh",
    "exp",
    "expand_dims",
    "eye",
    "float32",
    "int32",
    "int64",
    "linspace",
    "log",
    "matmul",
    "meshgrid",
    "normal",
    "numpy",
    "ones",
    "ones_like",
    "rand",
    "randn",
    "reduce_mean",
    "reduce_sum",
    "repeat",
    "reshape",
    "sigmoid",
    "sin",
    "sinh",
    "size",
    "stack",
    "swapaxes",
    "tanh",
    "tensor",
    "to",
    "transpose",
    "zeros",
    "zeros_like",
]

abs = np.abs
arange = np.arange
batch_matmul = npx.batch_dot
concat = np.concatenate
cos = np.cos
cosh = np.cosh
exp = np.exp
expand_dims = np.expand_dims
eye = np.eye
float32 = np.float32
int32 = np.int32
int64 = np.int64
linspace = np.linspace
log = np.log
matmul = np.dot
meshgrid = np.meshgrid
normal = np.random.normal
ones = np.ones
ones_like = np.ones_like
rand = np.random.rand
randn = np.random.randn
sigmoid = npx.sigmoid
sin = np.sin
sinh = np.sinh
stack = np.stack
tanh = np.tanh
tensor = np.array
zeros = np.zeros
zeros_like = np.zeros_like


def _method(name: str, method: str, doc: str) -> Callable[..., Any]:
    """Return a method of arrays as a function."""

    def call(x: Any, *args: Any, **options: Any) -> Any:
        return getattr(x, method)(*args, **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return call


argmax = _method("argmax", "argmax", "Return where the largest elements are.")
astype = _method("astype", "astype", "Return an array with another type of elements.")
numpy = _method("numpy", "asnumpy", "Return an array of NumPy.")
reduce_mean = _method("reduce_mean", "mean", "Return means.")
reduce_sum = _method("reduce_sum", "sum", "Return sums.")
repeat = _method("repeat", "repeat", "Return an array with elements repeated.")
reshape = _method("reshape", "reshape", "Return an array in another shape.")
swapaxes = _method("swapaxes", "swapaxes", "Return an array with two axes exchanged.")
transpose = _method("transpose", "transpose", "Return an array with its axes in another order.")


def size(x: Any) -> int:
    """Return the number of elements."""
    return int(x.size)


def to(x: Any, device: Any) -> Any:
    """Return an array on a device."""
    return x.as_in_context(device)
