# SPDX-License-Identifier: Apache-2.0
"""Several ranks train as one does: samples, seeds, ranks without data, batch norm over all."""

import json

import numpy as onp
import pytest

import afterglow as mx
from afterglow import gluon
from tests.distributed.ranks import launch, needs_mpi, succeed, write


def test_parts_are_all_samples_once():
    for length, parts in ((10, 3), (2, 4), (7, 1), (0, 2)):
        samplers = [gluon.data.DistributedSampler(length, parts, i, seed=5) for i in range(parts)]
        rounds = []
        for _ in range(2):
            taken = [list(sampler) for sampler in samplers]
            assert [len(one) for one in taken] == [len(one) for one in samplers]
            assert max(map(len, taken)) - min(map(len, taken)) <= 1
            assert sorted([i for one in taken for i in one]) == list(range(length))
            rounds.append(taken)
        if length > 5:
            assert rounds[0] != rounds[1]
    # Batches of all parts together are those of one part that has them all.
    whole = list(gluon.data.DistributedSampler(24, 1, 0, seed=3))
    parts = [list(gluon.data.DistributedSampler(24, 4, i, seed=3)) for i in range(4)]
    for batch in range(3):
        together = sorted(i for part in parts for i in part[2 * batch : 2 * batch + 2])
        assert together == sorted(whole[8 * batch : 8 * batch + 8])


def test_samplers_go_to_a_position():
    sampler = gluon.data.DistributedSampler(9, 2, 1, seed=1)
    batches = gluon.data.BatchSampler(sampler, 3, "rollover")
    first = list(batches)
    position = json.loads(json.dumps(batches.position()))
    second = list(batches)
    other = gluon.data.BatchSampler(gluon.data.DistributedSampler(9, 2, 1, seed=7), 3, "rollover")
    other.go_to(position)
    assert list(other) == second != first


def test_samplers_without_a_seed_follow_numpy():
    onp.random.seed(3)
    first = list(gluon.data.DistributedSampler(20))
    onp.random.seed(3)
    assert list(gluon.data.DistributedSampler(20)) == first


def test_parts_that_make_no_sense():
    with pytest.raises(ValueError, match="part_index 2 of num_parts 2"):
        gluon.data.DistributedSampler(5, 2, 2)
    with pytest.raises(ValueError, match="the same seed"):
        gluon.data.DistributedSampler(5, 2, 1)


@needs_mpi
def test_random_numbers_begin_as_those_of_rank_0(tmp_path):
    file = write(
        tmp_path,
        """
        print(nd.random.uniform(shape=(3,)).asnumpy().tolist())
        mx.random.seed(rank)
        print(nd.random.uniform(shape=(3,)).asnumpy().tolist())
        print(list(gluon.data.DistributedSampler(8)))
        """,
    )
    outcome = succeed(2, file)
    first, second = outcome.of(0), outcome.of(1)
    assert first[0] == second[0]
    assert first[1] != second[1]
    assert sorted(json.loads(first[2]) + json.loads(second[2])) == list(range(8))


#: Trains on ranks with unequal parts of the data, or alone on all of it.
_UNEVEN = """
    how, batch = sys.argv[1], 12
    source = onp.random.RandomState(1)
    data = source.normal(size=(41, 6)).astype("float32")
    labels = source.randint(0, 3, 41).astype("float32")
    mx.random.seed(4)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(16, activation="relu"))
    if how == "norm":
        net.add(gluon.contrib.nn.SyncBatchNorm())
    net.add(gluon.nn.Dense(3))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    options = {"learning_rate": 0.05, "momentum": 0.9, "wd": 0.01}
    if how == "trainer":
        trainer = hvd.DistributedTrainer(net.collect_params(), "sgd", options)
    else:
        trainer = gluon.Trainer(net.collect_params(), "sgd", options, kvstore="dist_sync",
                                update_on_kvstore=how == "store" or None)
    sampler = gluon.data.DistributedSampler(41, seed=2)
    loader = gluon.data.DataLoader(
        gluon.data.ArrayDataset(data, labels), batch // size, sampler=sampler)
    seen = 0
    for epoch in range(3):
        for x, y in loader:
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            count = len(x) if how == "trainer" else len(x) * size
            trainer.step(count)
            seen += 1
        trainer.join()
        outputs = net(nd.array(data))
        print(epoch, float(loss_of(outputs, nd.array(labels)).mean().asscalar()))
    print(net[-1].weight.data().asnumpy().tobytes().hex())
    print(seen)
    """


def _losses(lines):
    return [float(line.split()[1]) for line in lines[:3]]


@needs_mpi
@pytest.mark.parametrize("how", ["dist", "trainer", "store"])
def test_ranks_that_run_out_of_data_join(tmp_path, how):
    file = write(tmp_path, _UNEVEN)
    alone = succeed(1, file, how)
    together = succeed(4, file, how)  # 11, 10, 10 and 10 samples, in batches of 3
    assert [together.of(rank)[4] for rank in range(4)] == ["12"] * 4
    for rank in range(1, 4):
        assert together.of(rank)[:4] == together.of(0)[:4]
    onp.testing.assert_allclose(_losses(together.of(0)), _losses(alone.of(0)), rtol=1e-4)
    three = succeed(5, file, how)  # batches of 2: one rank has 5 of them, the others 4
    assert [three.of(rank)[4] for rank in range(5)] == ["15", "12", "12", "12", "12"]
    assert three.of(1)[:4] == three.of(0)[:4]


@needs_mpi
def test_batch_norm_over_all_ranks(tmp_path):
    file = write(
        tmp_path,
        """
        for shape in ((12, 3), (8, 3, 4, 5)):
            source = onp.random.RandomState(7)
            data = source.normal(2, 3, shape).astype("float32")
            heads = source.normal(size=shape).astype("float32")
            rows = len(data)
            cut = rows // 4  # the others have more
            part = slice(0, cut) if rank == 0 else slice(cut, rows)
            results = []
            for layer, mine in ((gluon.contrib.nn.SyncBatchNorm(), part),
                                (gluon.nn.BatchNorm(), slice(0, rows))):
                layer.initialize(mx.init.Uniform(1))
                layer.hybridize()
                for _ in range(3):
                    x = nd.array(data[mine])
                    x.attach_grad()
                    with autograd.record():
                        y = layer(x)
                    y.backward(nd.array(heads[mine]))
                gamma = layer.gamma.grad()
                if layer.running_mean.name.startswith("sync"):
                    gamma = hvd.allreduce(gamma, average=False)
                found = [y.asnumpy(), x.grad.asnumpy(), gamma.asnumpy(),
                         layer.running_mean.data().asnumpy(), layer.running_var.data().asnumpy()]
                results.append(found)
            ours, wanted = results
            for mine, whole in zip(ours[:2], wanted[:2]):
                onp.testing.assert_allclose(mine, whole[part], 2e-4, 2e-5)
            for mine, whole in zip(ours[2:], wanted[2:]):
                onp.testing.assert_allclose(mine, whole, 2e-4, 2e-5)
        half = gluon.contrib.nn.SyncBatchNorm()
        half.initialize()
        with autograd.record():
            assert half(nd.ones((2, 3), dtype="float16") * rank).dtype == onp.float16
        """,
    )
    succeed(2, file)


@needs_mpi
def test_training_with_batch_norm_is_that_of_one_rank(tmp_path):
    file = write(tmp_path, _UNEVEN)
    alone, together = succeed(1, file, "norm"), succeed(2, file, "norm")
    assert together.of(0)[:4] == together.of(1)[:4]
    onp.testing.assert_allclose(_losses(together.of(0)), _losses(alone.of(0)), rtol=1e-3)


@needs_mpi
def test_ranks_that_joined_give_zeros_to_anything(tmp_path):
    file = write(
        tmp_path,
        """
        if rank == 0:
            for step in range(3):
                total = hvd.allreduce(nd.ones((2,)), average=False, name="w")
                print(total.asnumpy().tolist(), [len(x) for x in hvd.allgather_object(b"abc")])
            hvd.barrier()
        hvd.join()
        print(hvd.allreduce(nd.ones((1,)), average=False).asscalar())
        if rank == 0:
            try:
                hvd.broadcast(nd.ones((1,)), 1, name="weight").asnumpy()
            except mx.MXNetError as error:
                print(error)
                os._exit(0)
        hvd.join()
        """,
    )
    outcome = launch(2, file)
    assert outcome.of(0)[:4] == ["[1.0, 1.0] [3, 0]"] * 3 + ["2.0"]
    assert "rank 1 has joined, and has no weight to broadcast" in outcome.of(0)[4]
    assert outcome.of(1)[0] == "2.0"


def test_a_group_of_one_joins_at_once():
    mx.distributed.join()
    net = gluon.nn.Dense(1, in_units=1)
    net.initialize()
    gluon.Trainer(net.collect_params(), "sgd", kvstore="dist_sync").join()
