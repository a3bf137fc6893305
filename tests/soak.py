# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.soak [--seconds N]``: rounds of everyday work, after which nothing has grown.

A round trains a new network as it is and hybridized, saves and loads it, draws batches from worker
processes, leaves a loader early, forks, runs functions of NumPy on workers, and fails on purpose.
After each round the arrays, threads, descriptors, children and bytes of the process are counted.
The first fifth of the rounds warms up; what the others add to the largest figures of those is
growth.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as onp

import afterglow as mx
from afterglow import _core, autograd, gluon, nd, np

#: Bytes by which a process may grow from the first fifth of the rounds to the last one.
ROOM = 24 << 20


@dataclass(frozen=True)
class Figures:
    """What a process holds."""

    arrays: int
    threads: int
    descriptors: int
    children: int
    active: int
    resident: int


def figures() -> Figures:
    """Count after everything is done and collected."""
    nd.waitall()
    gc.collect()
    mx.memory.trim()
    status = Path("/proc/self/status").read_text()
    resident = int(status.partition("VmRSS:")[2].split()[0]) * 1024
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return Figures(
        arrays=_core.live_handles(),
        threads=len(os.listdir("/proc/self/task")),
        descriptors=len(os.listdir("/proc/self/fd")),
        children=len(children),
        active=mx.memory.active(),
        resident=resident,
    )


def _network() -> gluon.HybridBlock:
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(32, activation="relu"), gluon.nn.Dropout(0.1), gluon.nn.Dense(10))
    net.initialize()
    return net


def _train(hybridize: bool) -> None:
    net = _network()
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam")
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    images = nd.array(onp.random.rand(64, 20))
    labels = nd.array(onp.random.randint(0, 10, 64))
    for _ in range(20):
        with autograd.record():
            loss = loss_of(net(images), labels)
        loss.backward()
        trainer.step(64)
    assert onp.isfinite(loss.asnumpy()).all()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "net"))
        net.save_parameters(path)
        trainer.save_states(path + ".states")
        trainer.load_states(path + ".states")
        other = _network()
        other.load_parameters(path)
        assert onp.array_equal(other(images).asnumpy(), net(images).asnumpy())


def _load() -> None:
    data = gluon.data.ArrayDataset(onp.random.rand(64, 5000).astype("float32"), onp.arange(64))
    loader = gluon.data.DataLoader(data, batch_size=16, num_workers=2)
    assert sum(batch.shape[0] for batch, _ in loader) == 64
    for _ in loader:
        break


def _fork() -> None:
    x = nd.ones((100, 100))
    busy = nd.dot(x, x)
    child = os.fork()
    if child == 0:
        os._exit(int(float((x + 1).sum().asscalar()) != 20000))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    busy.wait_to_read()


def _on_host() -> None:
    x = np.array(onp.random.rand(40, 40))
    values = np.linalg.eigvalsh(x + x.T)
    thread = threading.Thread(target=lambda: np.percentile(x, 40).asnumpy())
    thread.start()
    values.asnumpy()
    thread.join()


def _fail() -> None:
    x = nd.ones((3,))
    with contextlib.suppress(mx.MXNetError):
        nd.dot(x, nd.ones((4,)))
    _core.inject_failure(0, 0)
    with contextlib.suppress(mx.MXNetError):
        (x + 1).asnumpy()
    _core.inject_failure(-1, 0)


def work() -> None:
    """Do all of it once."""
    _train(hybridize=False)
    _train(hybridize=True)
    _load()
    _fork()
    _on_host()
    _fail()


def growth(seen: list[Figures]) -> list[str]:
    """Tell what the rounds after the first fifth have added to it."""
    warm = max(1, len(seen) // 5)
    problems = []
    for name in Figures.__dataclass_fields__:
        before = max(getattr(one, name) for one in seen[:warm])
        after = getattr(seen[-1], name)
        if after > before + (ROOM if name == "resident" else 0):
            problems.append(f"{name}: {before} after {warm} rounds, {after} after {len(seen)}")
    return problems


def main() -> int:
    """Work for so long, count after each round, and tell what has grown."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    end = time.monotonic() + parser.parse_args().seconds
    seen: list[Figures] = []
    told = 0.0
    while len(seen) < 5 or time.monotonic() < end:
        work()
        seen.append(figures())
        if time.monotonic() >= told:
            told = time.monotonic() + 10
            print(f"round {len(seen)}: {seen[-1]}", flush=True)
    problems = growth(seen)
    print(f"{len(seen)} rounds, {'nothing has grown' if not problems else 'growth:'}")
    for problem in problems:
        print(f"  {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
