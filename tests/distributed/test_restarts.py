# SPDX-License-Identifier: Apache-2.0
"""Ranks that are killed and started again follow the losses of a run without that, bit for bit."""

import signal

import pytest

from tests.distributed.ranks import end, launch, needs_mpi, start, write

pytestmark = needs_mpi

_RUN = """
    folder, store = sys.argv[1], sys.argv[2]
    log = open(f"{folder}/log-{rank}", "a")
    attempt = open(f"{folder}/log-{rank}").read().count("start")
    print("start", file=log, flush=True)
    # The attempts that end early: by whom, and behind how many steps.
    kills = dict(enumerate(((1, 4), (0, 3), (1, 0)))) if sys.argv[3] == "kill" else {}
    mx.random.seed(5 + rank + attempt)
    net = gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(gluon.nn.Dense(12, activation="relu"), gluon.nn.Dropout(0.3), gluon.nn.Dense(1))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    options = {"learning_rate": 0.01}
    compression = {"type": "2bit", "threshold": 0.05} if store == "compressed" else None
    trainer = gluon.Trainer(net.collect_params(), "adam", options, kvstore="dist_sync",
                            compression_params=compression)
    source = onp.random.RandomState(0).normal(size=(45, 4)).astype("float32")
    dataset = gluon.data.ArrayDataset(source, source.sum(axis=1))
    loader = gluon.data.DataLoader(dataset, 4, sampler=gluon.data.DistributedSampler(45))
    loss_of = gluon.loss.L2Loss()
    progress = trainer.resume(f"{folder}/checkpoints")
    if progress.epoch == progress.batch == 0:
        mx.random.seed(5 + rank)
        hvd.broadcast_parameters(net.collect_params())
    steps = 0
    for epoch in progress.epochs(3):
        for x, y in progress.batches(loader):
            with autograd.record():
                loss = loss_of(net(x), y).mean()
            loss.backward()
            trainer.step(len(x) * size)
            print(epoch, progress.batch, float(loss.asscalar()).hex(), file=log, flush=True)
            steps += 1
            if kills.get(attempt) == (rank, steps):
                os.kill(os.getpid(), signal.SIGKILL)
            if progress.batch % 2 == 0:
                trainer.save_checkpoint()
        trainer.join()
    print("weights", net[0].weight.data().asnumpy().tobytes().hex(), file=log, flush=True)
    """


def _lines(folder, rank):
    return [one for one in (folder / f"log-{rank}").read_text().splitlines() if one != "start"]


@pytest.mark.parametrize("store", ["plain", "compressed"])
def test_restarts_follow_the_same_losses(tmp_path, store):
    file = write(tmp_path, "onp.random.seed(3)\n" + _RUN.replace("\n    ", "\n"))
    folders = [tmp_path / "whole", tmp_path / "parts"]
    for folder in folders:
        folder.mkdir()
    assert launch(2, file, str(folders[0]), store, "whole").status == 0
    options = ("--restarts", "3")
    outcome = launch(2, file, str(folders[1]), store, "kill", options=options)
    assert outcome.status == 0, outcome.err
    assert outcome.err.count("starting all ranks again") == 2
    for rank in range(2):
        wanted, found = (_lines(folder, rank) for folder in folders)
        assert len(wanted) == 3 * 6 + 1
        assert len(found) > len(wanted)
        assert set(found) == set(wanted)


def test_a_failure_that_stays(tmp_path):
    file = write(tmp_path, "print('here', flush=True); sys.exit(5)")
    outcome = launch(2, file, options=("--restarts", "2"))
    assert outcome.status == 5
    assert outcome.of(0) == ["here"] * 3


def test_an_interrupt_is_no_failure(tmp_path):
    file = write(tmp_path, "print('here', flush=True); time.sleep(60)")
    process = start(2, file, options=("--restarts", "2"))
    for _ in range(2):
        assert "here" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    outcome = end(process)
    assert outcome.status == 128 + signal.SIGINT
    assert "again" not in outcome.err


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", range(4))
def test_ranks_that_are_killed_at_any_moment(tmp_path, case):
    killer = f"""
    import threading
    onp.random.seed(3)
    if sys.argv[3] == "random" and os.path.getsize(sys.argv[1] + f"/log-{{rank}}") < 4000:
        seconds = onp.random.RandomState({case}).uniform(0, 0.6, (20, 2))
        starts = open(sys.argv[1] + f"/log-{{rank}}").read().count("start")
        if starts % 2 == rank and starts < 20:
            threading.Timer(
                seconds[starts, rank], os.kill, (os.getpid(), signal.SIGKILL)
            ).start()
    """
    dedented = (text.replace("\n    ", "\n") for text in (killer, _RUN))
    file = write(tmp_path, "".join(dedented))
    folders = [tmp_path / "whole", tmp_path / "parts"]
    for folder in folders:
        folder.mkdir()
        for rank in range(2):
            (folder / f"log-{rank}").touch()
    assert launch(2, file, str(folders[0]), "plain", "whole").status == 0
    outcome = end(
        start(2, file, str(folders[1]), "plain", "random", options=("--restarts", "25")),
        seconds=240,
    )
    assert outcome.status == 0, outcome.err
    for rank in range(2):
        wanted, found = (_lines(folder, rank) for folder in folders)
        assert set(found) == set(wanted)
