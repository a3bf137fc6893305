# SPDX-License-Identifier: Apache-2.0
"""Stores of several processes, and of a group of one."""

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd
from afterglow.distributed.buckets import buckets
from tests.distributed.ranks import needs_mpi, succeed, write


@needs_mpi
def test_push_and_pull_of_two_ranks(tmp_path):
    file = write(
        tmp_path,
        """
        store = mx.kv.create("dist_sync")
        assert (store.rank, store.num_workers, store.type) == (rank, 2, "dist_sync")
        out = nd.zeros((2, 3))

        store.init(3, nd.full((2, 3), rank + 5))
        store.pull(3, out=out)
        assert (out.asnumpy() == 5).all()  # that of rank 0

        sent = nd.full((2, 3), rank + 1)
        store.push(3, sent)
        store.pull(3, out=out)
        assert (out.asnumpy() == 3).all()
        assert (sent.asnumpy() == rank + 1).all()

        store.init([4, 5], [nd.zeros((3,))] * 2)
        store.push([4, 5], [[nd.ones((3,))] * 3, [nd.full((3,), rank)] * 2])
        outs = [nd.zeros((3,)), nd.zeros((3,))]
        store.pull([4, 5], out=outs)
        assert [one.asnumpy().tolist() for one in outs] == [[6] * 3, [2] * 3]

        value = nd.full((3,), rank + 1.0)
        store.pushpull(4, value)
        assert value.asnumpy().tolist() == [3] * 3
        store.pull(4, out=outs[0])
        assert outs[0].asnumpy().tolist() == [3] * 3

        target = nd.zeros((3,))
        store.broadcast(8, nd.full((3,), rank + 7), out=target)
        assert target.asnumpy().tolist() == [7] * 3

        # Weights in the store: the same everywhere.
        weights = mx.kv.create("dist_device_sync")
        weights.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))
        weights.init(0, nd.zeros((4,)))
        for step in range(3):
            weights.push(0, nd.full((4,), rank + step), priority=-1)
        result = nd.zeros((4,))
        weights.pull(0, out=result)
        assert result.asnumpy().tolist() == [-0.5 * (1 + 3 + 5)] * 4

        # Rows: those that any rank has.
        sparse = mx.kv.create("dist_sync")
        zeros = mx.nd.sparse.zeros("row_sparse", (5, 2))
        sparse.init("w", zeros)
        rows = nd.array([[1, 1], [2, 2]])
        sparse.push("w", mx.nd.sparse.row_sparse_array((rows, [rank, 3]), shape=(5, 2)))
        got = mx.nd.sparse.zeros("row_sparse", (5, 2))
        sparse.row_sparse_pull("w", out=got, row_ids=nd.array([0, 3, 4]))
        wanted = onp.zeros((5, 2))
        wanted[0], wanted[3] = 1, 4
        assert (got.tostype("default").asnumpy() == wanted).all()
        store.barrier()
        """,
    )
    succeed(2, file)


@needs_mpi
def test_two_bits_an_element(tmp_path):
    file = write(
        tmp_path,
        """
        store = mx.kv.create("dist_sync")
        store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
        size_ = 1003
        left = [onp.zeros(size_, "float32") for _ in range(size)]
        for step in range(5):
            gradients = [
                onp.random.RandomState(10 * step + one).normal(0, 0.6, size_).astype("float32")
                for one in range(size)
            ]
            wanted = onp.zeros(size_, "float32")
            for one, gradient in enumerate(gradients):
                whole = left[one] + gradient
                travels = onp.where(whole >= 0.5, 0.5, onp.where(whole <= -0.5, -0.5, 0.0))
                left[one] = (whole - travels).astype("float32")
                wanted += travels.astype("float32")
            value = nd.array(gradients[rank])
            store.pushpull("w", value)
            onp.testing.assert_array_equal(value.asnumpy(), wanted)
        """,
    )
    succeed(2, file)


_TRAINING = """
    store, steps = sys.argv[1], 6
    mx.random.seed(3 + rank)  # other weights on each rank, until those of rank 0 are broadcast
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(600, activation="relu"), gluon.nn.Dense(500), gluon.nn.Dense(3))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    hvd.broadcast_parameters(net.collect_params())  # as soon as their shapes are known
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    batch = 24
    if store == "trainer":
        trainer = hvd.DistributedTrainer(net.collect_params(), "adam", {"learning_rate": 0.001})
        parts = batch // size  # means over ranks
    else:
        trainer = gluon.Trainer(
            net.collect_params(), "adam", {"learning_rate": 0.001}, kvstore=store,
            update_on_kvstore=True if sys.argv[2:] else None,
        )
        parts = batch
    for step in range(steps):
        source = onp.random.RandomState(step)
        data, labels = source.normal(size=(batch, 8)), source.randint(0, 3, batch)
        mine = slice(rank * batch // size, (rank + 1) * batch // size)
        with autograd.record():
            loss = loss_of(net(nd.array(data[mine])), nd.array(labels[mine]))
        loss.backward()
        trainer.step(parts)
        print(float(hvd.allreduce(loss.sum(), average=False).asscalar()) / batch)
    weight = net[2].weight.data().asnumpy()
    print(onp.abs(weight).sum(), weight.tobytes()[:400].hex())
    """


def losses_of(lines):
    return onp.array([float(line) for line in lines[:-1]])


@needs_mpi
def test_ranks_train_as_one_does(tmp_path):
    file = write(tmp_path, _TRAINING)
    alone = succeed(1, file, "device").of(0)
    losses = losses_of(alone)
    assert len(set(losses)) == 6
    for words in (("dist_sync",), ("dist_sync", "update"), ("horovod",), ("trainer",)):
        run = succeed(2, file, *words)
        assert run.of(0) == run.of(1)
        onp.testing.assert_allclose(losses_of(run.of(0)), losses, rtol=1e-4, err_msg=str(words))
    four = succeed(4, file, "dist_sync")
    onp.testing.assert_allclose(losses_of(four.of(3)), losses, rtol=1e-4)
    again = succeed(4, file, "dist_sync")
    assert again.of(2) == four.of(3)  # every bit


@needs_mpi
def test_a_module_trains_on_two_ranks(tmp_path):
    file = write(
        tmp_path,
        """
        source = onp.random.RandomState(0)
        data, labels = source.normal(size=(64, 5)), source.randint(0, 2, 64)
        part = slice(rank * 64 // size, (rank + 1) * 64 // size)
        batches = mx.io.NDArrayIter(data[part], labels[part], 32 // size)
        dense = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="f")
        net = mx.sym.SoftmaxOutput(dense, name="softmax")
        module = mx.mod.Module(net)
        initial = {"f_weight": nd.full((2, 5), 0.1 * (rank == 0)), "f_bias": nd.zeros((2,))}
        module.fit(batches, num_epoch=3, kvstore="dist_sync" if size > 1 else "local",
                   arg_params=initial, optimizer_params={"learning_rate": 0.5})
        print(*module.get_params()[0]["f_weight"].asnumpy().ravel())
        """,
    )
    # The same examples in another order: the sum over a batch of one rank would be another one.
    two = succeed(2, file)
    assert two.of(0) == two.of(1)


def test_what_travels_together():
    large, small, half = nd.zeros((300_000,)), nd.zeros((1000,)), nd.zeros((150_000,))
    other = nd.zeros((5,), dtype="float64")
    assert buckets([]) == []
    assert buckets([large, small, large, small]) == [[0], [2], [1, 3]]
    assert buckets([half, small, half, small]) == [[0, 1], [2, 3]]
    assert buckets([small, other, small]) == [[1], [0, 2]]


def test_a_group_of_one():
    hvd = mx.distributed
    assert (hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size()) == (0, 1, 0, 1)
    x = nd.arange(3)
    assert hvd.allreduce(x).asnumpy().tolist() == [0, 1, 2]
    assert hvd.broadcast_(x) is x
    assert hvd.allgather_object(b"x") == [b"x"]
    hvd.barrier()
    hvd.shutdown()
    for kind in ("dist_sync", "dist_device_sync", "horovod", "dist"):
        store = mx.kv.create(kind)
        assert (store.rank, store.num_workers, store.type) == (0, 1, kind)
        value = nd.ones((2,))
        store.pushpull(1, value)
        assert value.asnumpy().tolist() == [1, 1]
    net = mx.gluon.nn.Dense(2, in_units=2)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", kvstore="dist_sync")
    with mx.autograd.record():
        loss = net(nd.ones((1, 2))).sum()
    loss.backward()
    before = net.bias.data().asnumpy()
    trainer.step(1)
    onp.testing.assert_allclose(net.bias.data().asnumpy(), before - 0.01)


def test_refusals():
    hvd = mx.distributed
    with pytest.raises(TypeError, match="sums of bool"):
        hvd.allreduce(mx.np.array([True], dtype="bool"), average=False)
    with pytest.raises(TypeError, match="means of int32"):
        hvd.allreduce(nd.array([1], dtype="int32"))
    with pytest.raises(TypeError, match="needs an array"):
        hvd.allreduce([1.0])
    with pytest.raises(TypeError, match="dense"):
        hvd.allreduce(mx.nd.sparse.zeros("csr", (2, 2)))
    with pytest.raises(ValueError, match="no rank 1"):
        hvd.broadcast(nd.ones((1,)), 1)
    store = mx.kv.create("dist_sync")
    for wrong in ({"type": "1bit"}, {"type": "2bit", "threshold": 0}, {"type": "2bit", "x": 1}):
        with pytest.raises(ValueError, match="set_gradient_compression"):
            store.set_gradient_compression(wrong)
