# SPDX-License-Identifier: Apache-2.0
"""``mx.nd.sparse``: arrays that do not store their zeros, and the functions that know them.

>>> from afterglow import nd
>>> x = nd.sparse.csr_matrix(([1, 2, 3], [1, 0, 2], [0, 1, 3]), shape=(2, 3))
>>> nd.sparse.dot(x, nd.ones((3, 1)))
<BLANKLINE>
[[1.]
 [5.]]
<NDArray 2x1 @cpu(0)>

Functions of ``nd`` take such arrays too; those without a form of their own for them are given
dense copies, and a warning says so once.
"""

from __future__ import annotations

from ..._core import register_sparse
from .. import _ops
from .. import reduce as _reduce
from .. import shape as _shape
from . import _arrays, _calls, _creation
from ._arrays import *  # noqa: F403
from ._arrays import CSRNDArray, RowSparseNDArray, attach_gradient, cast_storage
from ._calls import StorageFallbackWarning, retain
from ._creation import *  # noqa: F403
from ._updates import adagrad_update

#: Functions of ``nd`` that MXNet lists here too.
_FUNCTIONS = (
    "ElementWiseSum",
    "Embedding",
    "FullyConnected",
    "LinearRegressionOutput",
    "LogisticRegressionOutput",
    "MAERegressionOutput",
    "abs",
    "adam_update",
    "add",
    "add_n",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "broadcast_add",
    "broadcast_div",
    "broadcast_minus",
    "broadcast_mul",
    "broadcast_plus",
    "broadcast_sub",
    "cbrt",
    "ceil",
    "clip",
    "concat",
    "cos",
    "cosh",
    "degrees",
    "divide",
    "dot",
    "elemwise_add",
    "elemwise_div",
    "elemwise_mul",
    "elemwise_sub",
    "exp",
    "expm1",
    "fix",
    "floor",
    "ftrl_update",
    "gamma",
    "gammaln",
    "log",
    "log10",
    "log1p",
    "log2",
    "make_loss",
    "mean",
    "multiply",
    "negative",
    "radians",
    "relu",
    "rint",
    "round",
    "rsqrt",
    "sgd_mom_update",
    "sgd_update",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "stop_gradient",
    "subtract",
    "sum",
    "tan",
    "tanh",
    "trunc",
    "where",
    "zeros_like",
)

globals().update({name: getattr(_ops, name) for name in _FUNCTIONS if hasattr(_ops, name)})
norm = _reduce.norm
slice = _shape.slice

__all__ = [
    "StorageFallbackWarning",
    "adagrad_update",
    "attach_gradient",
    "cast_storage",
    "norm",
    "retain",
    "slice",
    *(name for name in _FUNCTIONS if hasattr(_ops, name)),
    *_arrays.__all__,
    *_creation.__all__,
]


register_sparse(
    CSRNDArray,
    RowSparseNDArray,
    _calls.call,
    _calls.to_dense,
    _calls.add,
    _calls.write,
    _calls.sum_rows,
)
