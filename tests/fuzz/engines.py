# SPDX-License-Identifier: Apache-2.0
"""The same bits from the default engine, the serial one and without passes, for each thread count.

Programs without library products, or whose products are exact, have the same bits for every number
of threads as well. As a script, this file prints the digests of programs: those, and after them
those of networks in training, whose products may depend on the number of threads.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as onp
from lazy.programs import digests
from support import environment

import afterglow as mx
from afterglow import autograd, gluon, nd
from fuzz._samples import Samples
from fuzz._seeds import run_programs

#: Programs that a process runs of each sort.
EACH = 6
SETTINGS: list[dict[str, str]] = [
    {},
    {"AFTERGLOW_ENGINE": "serial"},
    {"AFTERGLOW_DISABLE_PASSES": "all"},
]


def run(seed: int, seconds: float) -> int:
    """Run programs under all settings with two numbers of threads, by turns."""
    return 3 * EACH * run_programs(seed, seconds, _compare)


def _compare(seed: int) -> None:
    few, many = Samples(seed).random.sample([1, 2, 3, 4], 2)
    by_threads = []
    for threads in (few, many):
        answers = [_printed(seed, threads, settings) for settings in SETTINGS]
        for settings, answer in zip(SETTINGS, answers, strict=True):
            assert answer == answers[0], f"{threads} threads: {settings} is not as the default"
        by_threads.append(answers[0][: 2 * EACH])
    assert by_threads[0] == by_threads[1], f"{few} threads are not as {many}"


def _printed(seed: int, threads: int, settings: dict[str, str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, __file__, str(seed * EACH)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(AFTERGLOW_NUM_THREADS=str(threads), **settings),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), (threads, settings, done.stderr)
    lines = done.stdout.split()
    assert len(lines) == 3 * EACH
    return lines


def _trained(seed: int) -> str:
    """Return a digest of losses, gradients and weights of a small network in training."""
    samples = Samples(seed)
    units, width, batch = (samples.random.choice([1, 3, 10, 33, 64, 130]) for _ in range(3))
    digest = hashlib.sha256()
    mx.random.seed(seed)
    net = gluon.nn.HybridSequential()
    net.add(
        gluon.nn.Dense(units, activation=samples.random.choice(["relu", "tanh", "sigmoid"])),
        samples.random.choice([gluon.nn.LayerNorm, gluon.nn.BatchNorm])(),
        gluon.nn.Dense(3),
    )
    net.initialize(mx.init.Xavier())
    if samples.random.random() < 0.5:
        net.hybridize()
    rule = samples.random.choice(["sgd", "adam", "rmsprop"])
    trainer = gluon.Trainer(net.collect_params(), rule, {"learning_rate": 0.01})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in range(4):
        x = nd.array(samples.host.randn(batch, width).astype("float32"))
        y = nd.array(samples.host.randint(0, 3, batch))
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(batch)
        digest.update(loss.asnumpy().tobytes())
    for parameter in net.collect_params().values():
        arrays = [parameter.data()]
        if parameter.grad_req != "null":
            arrays.append(parameter.grad())
        for array in arrays:
            host = array.asnumpy()
            assert onp.isfinite(host).all()
            digest.update(host.tobytes())
    return digest.hexdigest()


def main() -> None:
    """Print the digests of programs of all sorts."""
    first = int(sys.argv[1])
    for front in ("np", "nd"):
        print(*digests(front, first, first + EACH), sep="\n")
    for seed in range(first, first + EACH):
        print(_trained(seed))


if __name__ == "__main__":
    main()
