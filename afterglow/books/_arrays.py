# SPDX-License-Identifier: Apache-2.0
"""Functions of arrays under the names that the English book has for all frameworks."""

from __future__ import annotations

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


def argmax(x: Any, *args: Any, **options: Any) -> Any:
    """Return where the largest elements are."""
    return x.argmax(*args, **options)


def astype(x: Any, *args: Any, **options: Any) -> Any:
    """Return an array with another type of elements."""
    return x.astype(*args, **options)


def numpy(x: Any, *args: Any, **options: Any) -> Any:
    """Return an array of NumPy."""
    return x.asnumpy(*args, **options)


def reduce_mean(x: Any, *args: Any, **options: Any) -> Any:
    """Return means."""
    return x.mean(*args, **options)


def reduce_sum(x: Any, *args: Any, **options: Any) -> Any:
    """Return sums."""
    return x.sum(*args, **options)


def repeat(x: Any, *args: Any, **options: Any) -> Any:
    """Return an array with elements repeated."""
    return x.repeat(*args, **options)


def reshape(x: Any, *args: Any, **options: Any) -> Any:
    """Return an array in another shape."""
    return x.reshape(*args, **options)


def size(x: Any) -> int:
    """Return the number of elements."""
    return int(x.size)


def swapaxes(x: Any, *args: Any, **options: Any) -> Any:
    """Return an array with two axes exchanged."""
    return x.swapaxes(*args, **options)


def to(x: Any, device: Any) -> Any:
    """Return an array on a device."""
    return x.as_in_context(device)


def transpose(x: Any, *args: Any, **options: Any) -> Any:
    """Return an array with its axes in another order."""
    return x.transpose(*args, **options)
