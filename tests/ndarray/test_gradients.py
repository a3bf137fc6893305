# SPDX-License-Identifier: Apache-2.0
"""The gradient of every public function along a random direction, of first and second order.

Values keep away from integers, where functions jump or have corners.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest
from records import RECORDS, Record, as_list

import afterglow as mx
from afterglow import _core, autograd

#: Functions that say that they have no gradient.
WITHOUT = {"np.linalg.cond", "np.linalg.eig", "np.linalg.eigvals"}
#: Functions whose gradient is not the derivative, on purpose.
OTHERWISE = {
    *("nd.BlockGrad", "nd.LinearRegressionOutput", "nd.LogisticRegressionOutput"),
    *("nd.MAERegressionOutput", "nd.MakeLoss", "nd.SVMOutput", "nd.Softmax", "nd.SoftmaxOutput"),
    *("nd.contrib.gradientmultiplier", "nd.contrib.round_ste", "nd.contrib.sign_ste"),
    *("nd.make_loss", "nd.stop_gradient"),
}
#: Functions whose gradient has none.
ONCE = {"nd.CTCLoss", "nd.ctc_loss"}
#: Functions of symmetric matrices, of which only one triangle is read: the gradient is symmetric.
SYMMETRIC = {
    *("nd.linalg.potrf", "nd.linalg_potrf", "nd.linalg.syevd", "nd.linalg_syevd"),
    *("np.linalg.cholesky", "np.linalg.eigh", "np.linalg.eigvalsh"),
}
#: Functions that do not depend on the values of floating arguments.
CONSTANT = {
    *("all_finite", "all", "amp_cast", "any", "arange_like", "argmax", "argmax_channel", "argmin"),
    *("argsort", "argwhere", "broadcast_equal", "broadcast_greater", "broadcast_greater_equal"),
    *("broadcast_lesser", "broadcast_lesser_equal", "broadcast_logical_and"),
    *("broadcast_logical_or", "broadcast_logical_xor", "broadcast_not_equal", "count_nonzero"),
    *("equal", "flatnonzero", "full_like", "greater", "greater_equal", "isfinite", "isinf"),
    *("isnan", "isneginf", "isposinf", "less", "less_equal", "lesser", "lesser_equal"),
    *("logical_and", "logical_not", "logical_or", "logical_xor", "matrix_rank"),
    *("multi_all_finite", "nonzero", "not_equal", "ones_like", "ravel_multi_index"),
    *("index_array", "searchsorted", "shape_array", "size_array", "topk"),
    *("unravel_index", "zeros_like"),
}


class Case:
    """A record with values at which the function is smooth."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.generator = onp.random.default_rng(zlib.crc32(record.name.encode()))
        hosts = record.hosts("float64")
        self.free = [sample.dtype is None for sample in record.samples()]
        self.hosts = [
            self._moved(host) if free else host for host, free in zip(hosts, self.free, strict=True)
        ]

    def _moved(self, host: Any) -> Any:
        towards_zero = onp.where(host > 0, -1.0, 1.0)  # to stay within the domain
        step = self.generator.uniform(0.003, 0.03, host.shape)
        return host + self._symmetric(towards_zero * step)

    def _symmetric(self, host: Any) -> Any:
        return host + host.T if self.record.name in SYMMETRIC else host

    def direction(self) -> list[Any]:
        """Return a random change of each argument that may change."""
        return [
            self._symmetric(self.generator.normal(size=host.shape))
            for host, free in zip(self.hosts, self.free, strict=True)
            if free
        ]

    def value(self, hosts: list[Any]) -> tuple[list[Any], Any]:
        """Return the free arguments and a weighted sum of all floating results, recorded."""
        arrays = self.record.arrays(hosts)
        free = [array for array, one in zip(arrays, self.free, strict=True) if one]
        for array in free:
            array.attach_grad()
        results = as_list(self.record.call(arrays))
        parts = [
            part.as_np_ndarray()
            for part in results
            if isinstance(part, mx.nd.NDArray) and part.dtype == onp.float64
        ]
        return free, sum((_weighted(part, i) for i, part in enumerate(parts)), start=0.0)

    def slope(self, hosts: list[Any], direction: list[Any]) -> tuple[list[Any], Any]:
        """Return the free arguments and the derivative along a direction, recorded."""
        free, value = self.value(hosts)
        for array in free:  # some are looked at for their shape only
            value = value + array.as_np_ndarray().sum()
        gradients = autograd.grad(value, free, create_graph=True)
        return free, sum(
            (gradient.as_np_ndarray() * mx.np.array(way, dtype="float64")).sum()
            for gradient, way in zip(gradients, direction, strict=True)
        )

    def compare(self, function: Callable[[list[Any]], tuple[list[Any], Any]], step: float) -> None:
        """Compare the gradient of a function with its difference along a direction."""
        with autograd.record():
            free, value = function(self.hosts)
        value.backward()
        direction = self.direction()
        found = sum(
            float((array.grad.asnumpy() * way).sum())
            for array, way in zip(free, direction, strict=True)
        )
        ends = []
        for sign in (1, -1):
            ways = iter(direction)
            moved = [
                host + sign * step * next(ways) if one else host
                for host, one in zip(self.hosts, self.free, strict=True)
            ]
            with autograd.record():
                ends.append(float(function(moved)[1].asnumpy()))
        expected = (ends[0] - ends[1]) / (2 * step)
        assert found == pytest.approx(expected, rel=2e-4, abs=2e-4)


def _weighted(part: Any, number: int) -> Any:
    weights = onp.random.default_rng(number).normal(size=part.shape)
    return (part * mx.np.array(weights, dtype="float64")).sum()


CHOSEN = [
    record
    for record in RECORDS
    if not record.random
    and record.name not in OTHERWISE
    and "float64" in record.types
    and any(sample.dtype is None for sample in record.samples())
]
#: The results of these are integers, unless they are asked for values.
SMOOTH = [
    record
    for record in CHOSEN
    if record.name not in WITHOUT
    and (
        record.name.split(".")[-1] not in CONSTANT
        or record.keywords.get("ret_typ") in ("value", "both")
    )
]


def _all(records: list[Record], check: Callable[[Record], None]) -> None:
    """Check all records, and report all that fail together."""
    problems = []
    for record in records:
        try:
            check(record)
        except Exception as problem:
            text = " ".join(f"{type(problem).__name__}: {problem}".split())
            problems.append(f"{record.name} {record.keywords}: {text[:300]}")
    assert not problems, f"{len(problems)} records:\n" + "\n".join(problems)


def _first_order(record: Record) -> None:
    case = Case(record)
    case.compare(case.value, 1e-6)


def _second_order(record: Record) -> None:
    case = Case(record)
    direction = case.direction()
    case.compare(lambda hosts: case.slope(hosts, direction), 1e-5)


def test_first_order() -> None:
    _all(SMOOTH, _first_order)


def test_second_order() -> None:
    _all([record for record in SMOOTH if record.name not in ONCE], _second_order)


def test_without_gradient() -> None:
    for record in CHOSEN:
        if record.name in WITHOUT:
            with autograd.record():
                _, value = Case(record).value(Case(record).hosts)
            with pytest.raises(NotImplementedError, match="has no gradient"):
                value.backward()


def test_constant() -> None:
    def check(record: Record) -> None:
        with autograd.record():
            free, value = Case(record).value(Case(record).hosts)
        if isinstance(value, mx.nd.NDArray) and _core.origin_of(value) is not None:
            value.backward()
            assert all(not array.grad.asnumpy().any() for array in free)

    _all(
        [record for record in CHOSEN if record not in SMOOTH and record.name not in WITHOUT], check
    )
