# SPDX-License-Identifier: Apache-2.0
"""Functions of arrays under the names that the English book has for all frameworks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from afterglow import np, npx


def _method(name: str, method: str, doc: str) -> Callable[..., Any]:
    """Return a method of arrays as a function."""

    def call(x: Any, *args: Any, **options: Any) -> Any:
        return getattr(x, method)(*args, **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return call


#: Those that ``np`` has by the same name.
_SAME = (
    "abs arange cos cosh exp expand_dims eye float32 int32 int64 linspace log meshgrid ones "
    "ones_like sin sinh stack tanh zeros zeros_like"
)
#: Methods of arrays, and what is said of them here.
_METHODS = {
    "argmax": ("argmax", "Return where the largest elements are."),
    "astype": ("astype", "Return an array with another type of elements."),
    "numpy": ("asnumpy", "Return an array of NumPy."),
    "reduce_mean": ("mean", "Return means."),
    "reduce_sum": ("sum", "Return sums."),
    "repeat": ("repeat", "Return an array with elements repeated."),
    "reshape": ("reshape", "Return an array in another shape."),
    "swapaxes": ("swapaxes", "Return an array with two axes exchanged."),
    "transpose": ("transpose", "Return an array with its axes in another order."),
}
_functions = {
    **{name: getattr(np, name) for name in _SAME.split()},
    **{name: _method(name, *described) for name, described in _METHODS.items()},
    "batch_matmul": npx.batch_dot,
    "concat": np.concatenate,
    "matmul": np.dot,
    "normal": np.random.normal,
    "rand": np.random.rand,
    "randn": np.random.randn,
    "sigmoid": npx.sigmoid,
    "tensor": np.array,
}
globals().update(_functions)
__all__ = [*_functions, "size", "to"]


def size(x: Any) -> int:
    """Return the number of elements."""
    return int(x.size)


def to(x: Any, device: Any) -> Any:
    """Return an array on a device."""
    return x.as_in_context(device)
