# SPDX-License-Identifier: Apache-2.0
"""A run that goes on from a checkpoint is the run that was never interrupted, bit for bit."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
import zipfile

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd

_LOSS = gluon.loss.L2Loss()


def make_run(folder, optimizer="adam", keep=3, **loader):
    """Return a net, its trainer, batches in random order and the progress of a run."""
    net = gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(gluon.nn.Dense(8, activation="relu"), gluon.nn.BatchNorm(), gluon.nn.Dropout(0.5))
        net.add(gluon.nn.Dense(1))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    schedule = mx.lr_scheduler.FactorScheduler(step=4, factor=0.7, base_lr=0.05)
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"lr_scheduler": schedule})
    source = onp.random.RandomState(0).normal(size=(23, 5)).astype("float32")
    dataset = gluon.data.ArrayDataset(source, source.sum(axis=1))
    noisy = dataset.transform_first(lambda x: x + onp.random.normal(0, 0.1) + random.random())
    given = {"batch_size": 4, "shuffle": True, **loader}
    batches = gluon.data.DataLoader(noisy, **given)
    return net, trainer, batches, trainer.resume(folder, keep=keep)


def train(run, epochs, stop=None, every=1):
    """Return the loss of each step until the given one; saves behind steps, or behind an epoch."""
    net, trainer, batches, progress = run
    losses = {}
    for epoch in progress.epochs(epochs):
        for x, y in progress.batches(batches):
            with autograd.record():
                loss = _LOSS(net(x), y).mean()
            loss.backward()
            trainer.step(1)
            losses[epoch, progress.batch] = float(loss.asscalar()).hex()
            if every and progress.batch % every == 0:
                trainer.save_checkpoint()
            if (epoch, progress.batch) == stop:
                return losses
        if not every:
            trainer.save_checkpoint()
            return losses
    return losses


def seed():
    mx.random.seed(11)
    onp.random.seed(12)
    random.seed(13)


@pytest.mark.parametrize(
    "options",
    [{}, {"num_workers": 2}, {"last_batch": "rollover"}, {"optimizer": "sgd"}],
    ids=["plain", "workers", "rollover", "sgd"],
)
def test_a_run_goes_on_where_it_was(tmp_path, options):
    seed()
    wanted = train(make_run(tmp_path / "whole", **options), 3)
    assert len(set(wanted.values())) == len(wanted) > 15
    seed()
    found = {}
    for stop in ((0, 2), (1, 1), (1, 3), None):  # each in a net and with numbers of its own
        run = make_run(tmp_path / "parts", **options)
        found |= train(run, 3, stop)
        seed()
    assert found == wanted


def test_what_was_done_since_the_checkpoint_is_done_again(tmp_path):
    seed()
    wanted = train(make_run(tmp_path / "whole"), 2)
    first = train(make_run(tmp_path / "parts", last_batch="keep"), 1, (0, 5), every=4)
    random.seed(99)
    second = train(make_run(tmp_path / "parts"), 2)
    assert (0, 5) in first
    assert (0, 5) in second
    assert set(second) < set(wanted)
    seed()
    first = train(make_run(tmp_path / "again"), 1, (0, 5), every=4)
    second = train(make_run(tmp_path / "again"), 2)
    assert first | second == wanted
    assert first[0, 5] == second[0, 5]


def test_a_checkpoint_behind_the_last_batch(tmp_path):
    seed()
    wanted = train(make_run(tmp_path / "whole"), 2)
    seed()
    run = make_run(tmp_path / "parts")
    first = train(run, 1, every=0)
    net, trainer, batches, progress = make_run(tmp_path / "parts")
    assert repr(progress) == "Progress(epoch=0, batch=6)"
    second = train((net, trainer, batches, progress), 2)
    assert min(second) == (1, 1)
    assert first | second == wanted


def test_files_that_are_kept(tmp_path):
    seed()
    run = make_run(tmp_path, keep=2)
    train(run, 1)
    assert sorted(os.listdir(tmp_path)) == ["checkpoint-00000005.zip", "checkpoint-00000006.zip"]
    run[1].save_checkpoint(tmp_path / "other", keep=1)
    assert os.listdir(tmp_path / "other") == ["checkpoint-00000001.zip"]
    newest = tmp_path / "checkpoint-00000006.zip"
    newest.write_bytes(newest.read_bytes()[:-100])
    with pytest.warns(UserWarning, match="checkpoint-00000006.zip is damaged"):
        assert make_run(tmp_path)[3].batch == 5
    data = bytearray((tmp_path / "checkpoint-00000005.zip").read_bytes())
    data[200] ^= 1
    newest.write_bytes(data)
    with pytest.warns(UserWarning, match="damaged"):
        make_run(tmp_path)


def test_refusals(tmp_path):
    net, trainer, _, progress = make_run(tmp_path / "nothing")
    assert (progress.epoch, progress.batch) == (0, 0)
    with pytest.raises(ValueError, match="without a shape"):
        trainer.save_checkpoint()
    net(nd.ones((2, 5)))
    with pytest.raises(ValueError, match="0 files to keep"):
        trainer.save_checkpoint(keep=0)
    trainer.save_checkpoint(tmp_path)
    other = gluon.nn.Dense(1, in_units=5, prefix="other_")
    other.initialize()
    with pytest.raises(
        ValueError, match=r"only in the checkpoint net_.*only in the trainer other_"
    ):
        gluon.Trainer(other.collect_params(), "sgd").resume(tmp_path)
    (tmp_path / "empty").mkdir()
    with zipfile.ZipFile(tmp_path / "empty" / "checkpoint-1.zip", "w") as archive:
        archive.writestr("something", "else")
    with pytest.raises(ValueError, match="no checkpoint"):
        trainer.resume(tmp_path / "empty")
    untold = gluon.Trainer(other.collect_params(), "sgd")
    with pytest.raises(ValueError, match="needs a folder"):
        untold.save_checkpoint()


def test_mixed_precision_and_stores_go_on(tmp_path):
    def run_of(folder):
        net = gluon.nn.Dense(1, in_units=3, prefix="net_")
        net.initialize(mx.init.Xavier())
        trainer = gluon.Trainer(
            net.collect_params(), "sgd", {"momentum": 0.9}, mx.kv.create("local"), None, True
        )
        return net, trainer, [(nd.ones((2, 3)), nd.ones((2, 1)))] * 4, trainer.resume(folder)

    seed()
    wanted = train(run_of(tmp_path / "whole"), 2)
    seed()
    first = train(run_of(tmp_path / "parts"), 2, (0, 3))
    assert first | train(run_of(tmp_path / "parts"), 2) == wanted


_PROGRAM = """
    import os, random, sys, numpy as onp, afterglow as mx
    from tests.gluon.test_checkpoints import make_run, seed, _LOSS
    from afterglow import autograd
    seed()
    net, trainer, batches, progress = make_run(sys.argv[1])
    log = open(sys.argv[2], "a")
    for epoch in progress.epochs(6):
        for x, y in progress.batches(batches):
            with autograd.record():
                loss = _LOSS(net(x), y).mean()
            loss.backward()
            trainer.step(1)
            print(epoch, progress.batch, float(loss.asscalar()).hex(), file=log, flush=True)
            trainer.save_checkpoint()
    print("end", file=log, flush=True)
    """


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", range(5))
def test_a_process_that_is_killed_at_any_moment(tmp_path, case):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(_PROGRAM))
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    environment = {**os.environ, "PYTHONPATH": root}

    def start(name):
        words = [sys.executable, program, tmp_path / f"{name}s", tmp_path / name]
        return subprocess.Popen(words, env=environment)

    assert start("whole").wait() == 0
    wanted = (tmp_path / "whole").read_text().splitlines()
    moments = random.Random(case)
    log = tmp_path / "part"
    kills = 0
    while not log.exists() or "end" not in log.read_text():
        process = start("part")
        before = log.stat().st_size if log.exists() else 0
        while process.poll() is None and (not log.exists() or log.stat().st_size == before):
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    lines = [one for one in log.read_text().splitlines() if one]
    assert kills > 1
    assert set(lines) == set(wanted)
