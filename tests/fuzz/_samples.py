# SPDX-License-Identifier: Apache-2.0
"""Shapes and values at random, the odd ones more often than they come by themselves."""

from __future__ import annotations

import random
from typing import Any

import numpy as onp

Host = onp.ndarray[Any, Any]
Shape = tuple[int, ...]

DTYPES = ("float32", "float64", "float16", "int32", "int64", "int8", "uint8", "bool")
#: Around the sizes at which kernels change their way.
EDGES = (15, 16, 17, 31, 63, 64, 65, 127, 255, 256, 257, 511, 512, 1023, 1025, 2047, 2049, 4097)
LONG = (65535, 65537, 131072, 200001)
TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-10}


class Samples:
    """What one program is made of."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.host = onp.random.RandomState(seed % 2**32)

    def shape(self, most_axes: int = 4) -> Shape:
        """Return a shape, now and then empty, of one long line or of a larger matrix."""
        kind = self.random.random()
        if kind < 0.12:
            return (self.random.choice(EDGES + LONG if kind < 0.03 else EDGES),)
        if kind < 0.2:
            return (self.random.randint(1, 300), self.random.randint(1, 700))
        sizes = [1, 2, 3, 5, 17, self.random.randint(1, 20), self.random.randint(1, 70)]
        shape = [self.random.choice(sizes) for _ in range(self.random.randint(1, most_axes))]
        if self.random.random() < 0.05:
            shape[self.random.randrange(len(shape))] = 0
        while onp.prod(shape) > 500_000:
            shape[shape.index(max(shape))] = 3
        return tuple(shape)

    def values(self, shape: Shape, dtype: str | None = None, special: bool = True) -> Host:
        """Return an array of the host; ``special``: perhaps with nan, infinities and both zeros."""
        dtype = dtype or self.random.choice(DTYPES)
        if dtype == "bool":
            return self.host.rand(*shape) < 0.5
        if dtype.startswith("float"):
            scale = 10.0 ** self.random.randint(-2, 2)
            values = onp.asarray(self.host.randn(*shape) * scale).astype(dtype)
            if special and values.size and self.random.random() < 0.2:
                flat = values.reshape(-1)
                for value in (onp.nan, onp.inf, -onp.inf, 0.0, -0.0):
                    if self.random.random() < 0.5:
                        flat[self.random.randrange(flat.size)] = value
            return values
        wide = (-1000, 1000) if self.random.random() < 0.7 else (-(2**31), 2**31 - 1)
        low, high = {"int8": (-128, 128), "uint8": (0, 256)}.get(dtype, wide)
        return self.host.randint(low, high, size=shape).astype(dtype)

    def axis(self, shape: Shape) -> int:
        """Return an axis, counted from either end."""
        return self.random.randrange(-len(shape), len(shape))

    def slices(self, shape: Shape) -> tuple[slice, ...]:
        """Return slices that may reach over the ends, be empty or go backwards."""

        def bound(size: int) -> int | None:
            return None if self.random.random() < 0.4 else self.random.randint(-size - 2, size + 2)

        steps = (-3, -2, -1, 1, 1, 1, 2, 3)
        return tuple(slice(bound(n), bound(n), self.random.choice(steps)) for n in shape)
