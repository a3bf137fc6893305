# SPDX-License-Identifier: Apache-2.0
"""What the tests of devices share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import afterglow as mx


@pytest.fixture
def gpus() -> Iterator[list[mx.Context]]:
    """Two GPUs that are pretended."""
    before = mx.engine.pretend_gpus(2)
    yield [mx.gpu(0), mx.gpu(1)]
    mx.nd.waitall()
    mx.engine.pretend_gpus(before)


@pytest.fixture(params=["cpus", "shares", "gpus"])
def two_devices(request: pytest.FixtureRequest) -> Iterator[list[mx.Context]]:
    """Two devices, with all threads for each, with a share for each, and as pretended GPUs."""
    if request.param == "gpus":
        yield request.getfixturevalue("gpus")
        return
    before = mx.engine.set_devices(2 if request.param == "shares" else None)
    yield [mx.cpu(0), mx.cpu(1)]
    mx.nd.waitall()
    mx.engine.set_devices(before)
