# SPDX-License-Identifier: Apache-2.0
"""Inputs for tests: random shapes, arrays and matrices."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from .. import ndarray as nd
from ..io import DataBatch, DataIter
from .comparing import host
from .sparse import rand_sparse_ndarray
from .surroundings import default_dtype

__all__ = [
    "DummyIter",
    "assign_each",
    "assign_each2",
    "create_2d_tensor",
    "create_vector",
    "get_identity_mat",
    "get_identity_mat_batch",
    "new_matrix_with_real_eigvals_2d",
    "new_matrix_with_real_eigvals_nd",
    "new_orthonormal_matrix_2d",
    "new_sym_matrix_with_real_eigvals_2d",
    "new_sym_matrix_with_real_eigvals_nd",
    "rand_coord_2d",
    "rand_ndarray",
    "rand_shape_2d",
    "rand_shape_3d",
    "rand_shape_nd",
    "random_arrays",
    "random_sample",
    "random_uniform_arrays",
]

Host = Any  # a NumPy array


def rand_shape_nd(num_dim: int, dim: int = 10, allow_zero_size: bool = False) -> tuple[int, ...]:
    """Return a shape of extents up to ``dim``.

    >>> from afterglow import test_utils
    >>> len(test_utils.rand_shape_nd(4))
    4
    """
    least = 0 if allow_zero_size else 1
    return tuple(onp.random.randint(least, dim + 1, size=num_dim).tolist())


def rand_shape_2d(dim0: int = 10, dim1: int = 10, allow_zero_size: bool = False) -> tuple[int, int]:
    """Return two extents, up to ``dim0`` and ``dim1``."""
    (first,) = rand_shape_nd(1, dim0, allow_zero_size)
    (second,) = rand_shape_nd(1, dim1, allow_zero_size)
    return first, second


def rand_shape_3d(
    dim0: int = 10, dim1: int = 10, dim2: int = 10, allow_zero_size: bool = False
) -> tuple[int, int, int]:
    """Return three extents, up to ``dim0``, ``dim1`` and ``dim2``."""
    (last,) = rand_shape_nd(1, dim2, allow_zero_size)
    return (*rand_shape_2d(dim0, dim1, allow_zero_size), last)


def rand_coord_2d(x_low: int, x_high: int, y_low: int, y_high: int) -> tuple[int, int]:
    """Return a row and a column, each at least low and less than high."""
    return (
        int(onp.random.randint(x_low, x_high)),
        int(onp.random.randint(y_low, y_high)),
    )


def random_arrays(*shapes: Any) -> Any:
    """Return NumPy arrays of normal numbers in float32: one, or a list of several.

    >>> from afterglow import test_utils
    >>> [array.shape for array in test_utils.random_arrays((2, 3), (4,))]
    [(2, 3), (4,)]
    """
    arrays = [
        onp.array(onp.random.randn(), dtype=default_dtype())[()]
        if shape == ()
        else onp.random.randn(*onp.atleast_1d(shape)).astype(default_dtype())
        for shape in shapes
    ]
    return arrays[0] if len(arrays) == 1 else arrays


def random_uniform_arrays(*shapes: Any, **kwargs: Any) -> list[Host]:
    """Return a list of NumPy arrays of numbers from ``low`` to ``high``."""
    low, high = kwargs.pop("low", 0.0), kwargs.pop("high", 1.0)
    dtype = kwargs.pop("dtype", default_dtype())
    return [onp.random.uniform(low, high, size=shape).astype(dtype) for shape in shapes]


def random_sample(population: Sequence[Any], k: int) -> list[Any]:
    """Return different elements, in their order in the population."""
    chosen = sorted(random.sample(range(len(population)), k))
    return [population[one] for one in chosen]


def rand_ndarray(
    shape: Any,
    stype: str = "default",
    density: float | None = None,
    dtype: Any = None,
    modifier_func: Any = None,
    shuffle_csr_indices: bool = False,
    distribution: str | None = None,
    ctx: Any = None,
) -> Any:
    """Return an array of normal numbers; of a sparse array the numbers are uniform.

    >>> from afterglow import test_utils
    >>> test_utils.rand_ndarray((2, 3)).shape
    (2, 3)
    """
    if stype != "default":
        return rand_sparse_ndarray(
            shape,
            stype,
            density,
            dtype,
            distribution,
            modifier_func=modifier_func,
            shuffle_csr_indices=shuffle_csr_indices,
            ctx=ctx,
        )[0]
    return nd.array(random_arrays(tuple(onp.atleast_1d(shape))), dtype=dtype, ctx=ctx)


def create_vector(size: int, dtype: Any = onp.int64) -> nd.NDArray:
    """Return 0, 1, 2 ... up to a size."""
    return nd.arange(0, size, dtype=dtype)


def create_2d_tensor(rows: int, columns: int, dtype: Any = onp.int64) -> nd.NDArray:
    """Return a matrix whose rows hold their own number."""
    return nd.broadcast_to(nd.arange(0, rows, dtype=dtype).reshape((rows, 1)), (rows, columns))


def get_identity_mat(size: int) -> nd.NDArray:
    """Return a unit matrix."""
    return nd.array(onp.eye(size))


def get_identity_mat_batch(size: int) -> nd.NDArray:
    """Return two unit matrices."""
    return nd.array(onp.stack([onp.eye(size)] * 2))


def assign_each(the_input: Any, function: Callable[[Any], Any] | None) -> Host:
    """Return a NumPy array with a function of every element."""
    return _assigned(function, the_input)


def assign_each2(input1: Any, input2: Any, function: Callable[[Any, Any], Any] | None) -> Host:
    """Return a NumPy array with a function of every pair of elements."""
    return _assigned(function, input1, input2)


def _assigned(function: Callable[..., Any] | None, first: Any, *others: Any) -> Host:
    values = onp.array(host(first))
    if function is None:
        return values
    return onp.vectorize(function, otypes=[values.dtype])(values, *map(host, others))


def new_orthonormal_matrix_2d(n: int) -> Host:
    """Return a random matrix whose rows have length one and are at right angles."""
    factor, _ = onp.linalg.qr(onp.random.randn(n, n))
    return factor


def _small_eigenvalues(n: int) -> Host:
    """Return distinct numbers well apart from each other, so that matrices are well conditioned."""
    return onp.random.permutation(onp.arange(1, n + 1) / n) * onp.random.choice([-1, 1], n)


def new_matrix_with_real_eigvals_2d(n: int) -> Host:
    """Return a random matrix with real eigenvalues of at most 1."""
    basis = new_orthonormal_matrix_2d(n) @ (onp.eye(n) + onp.triu(onp.random.rand(n, n), 1) / n)
    return basis @ onp.diag(_small_eigenvalues(n)) @ onp.linalg.inv(basis)


def new_sym_matrix_with_real_eigvals_2d(n: int) -> Host:
    """Return a random symmetric matrix with eigenvalues of at most 1."""
    basis = new_orthonormal_matrix_2d(n)
    matrix = basis @ onp.diag(_small_eigenvalues(n)) @ basis.T
    return (matrix + matrix.T) / 2


def _stacked(make: Callable[[int], Host], shape: Sequence[int]) -> Host:
    count = int(onp.prod(shape[:-2], dtype="int64"))
    return onp.stack([make(shape[-1]) for _ in range(count)]).reshape(shape)


def new_matrix_with_real_eigvals_nd(shape: Sequence[int]) -> Host:
    """Return such matrices in the last two axes."""
    return _stacked(new_matrix_with_real_eigvals_2d, shape)


def new_sym_matrix_with_real_eigvals_nd(shape: Sequence[int]) -> Host:
    """Return such symmetric matrices in the last two axes."""
    return _stacked(new_sym_matrix_with_real_eigvals_2d, shape)


class DummyIter(DataIter):
    """Gives the first batch of an iterator again and again, to measure everything but reading."""

    def __init__(self, real_iter: Any) -> None:
        super().__init__(real_iter.batch_size)
        self.real_iter = real_iter
        self.provide_data = real_iter.provide_data
        self.provide_label = real_iter.provide_label
        self.the_batch: DataBatch = next(iter(real_iter))

    def next(self) -> DataBatch:
        """Return the batch."""
        return self.the_batch
