# SPDX-License-Identifier: Apache-2.0
"""``mx.numpy_dispatch_protocol``: functions of NumPy that MXNet lets arrays answer to.

Here arrays answer to all functions of NumPy, so the decorators change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ._package.namespace import tend

__all__ = ["with_array_function_protocol", "with_array_ufunc_protocol"]

Function = TypeVar("Function", bound=Callable[..., object])

_functions = """
    all any sometrue argmin argmax around round round_ argsort sort append broadcast_arrays
    broadcast_to clip concatenate copy cumsum diag diagonal diagflat dot expand_dims fix
    flip flipud fliplr inner insert max amax mean min amin nonzero ones_like atleast_1d
    atleast_2d atleast_3d prod product ravel repeat reshape roll split array_split hsplit
    vsplit dsplit squeeze stack std sum swapaxes take tensordot tile transpose unique
    unravel_index diag_indices_from delete var vdot vstack column_stack hstack dstack
    zeros_like linalg.norm linalg.cholesky linalg.inv linalg.solve linalg.tensorinv
    linalg.tensorsolve linalg.pinv linalg.eigvals linalg.eig linalg.eigvalsh linalg.eigh
    shape trace tril meshgrid outer einsum polyval shares_memory may_share_memory quantile
    percentile diff ediff1d resize where full_like bincount empty_like nan_to_num isnan
    isfinite isposinf isneginf isinf pad
"""
_ufuncs = """
    abs fabs add arctan2 copysign degrees hypot lcm subtract multiply true_divide negative
    power mod matmul absolute rint sign exp log log2 log10 expm1 sqrt square cbrt reciprocal
    invert bitwise_not remainder sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh
    arccosh arctanh maximum minimum ceil trunc floor bitwise_and bitwise_xor bitwise_or
    logical_not equal not_equal less less_equal greater greater_equal
"""
#: MXNet's own, which programs go through.
_NUMPY_ARRAY_FUNCTION_LIST = _functions.split()
_NUMPY_ARRAY_UFUNC_LIST = _ufuncs.split()


def with_array_function_protocol(func: Function) -> Function:
    """Let functions of NumPy meet arrays in a function, as they do everywhere."""
    return func


def with_array_ufunc_protocol(func: Function) -> Function:
    """Let ufuncs of NumPy meet arrays in a function, as they do everywhere."""
    return func


tend(__name__)
