# SPDX-License-Identifier: Apache-2.0
"""Contract 3: sums and broadcasts of several ranks against NumPy; what does not agree is named."""

import pytest

from tests.distributed.ranks import launch, line_of, needs_mpi, succeed, write

pytestmark = needs_mpi


@pytest.mark.parametrize("ranks", [2, 4])
def test_sums_means_and_broadcasts(tmp_path, ranks):
    file = write(
        tmp_path,
        """
        def values(rank, shape, dtype):
            return (onp.random.RandomState(rank).uniform(-9, 9, shape)).astype(dtype)

        for dtype in ("float32", "float64", "float16", "int32", "int64", "uint8", "int8"):
            for shape in ((), (3,), (0, 2), (7, 5), (700_000,)):
                mine = nd.array(values(rank, shape, dtype), dtype=dtype)
                total = hvd.allreduce(mine, average=False, name="x")
                everyone = [values(one, shape, dtype) for one in range(size)]
                wide = "float32" if dtype == "float16" else dtype
                wanted = sum(one.astype(wide) for one in everyone).astype(dtype)
                onp.testing.assert_allclose(total.asnumpy(), wanted, 1e-5, 1e-5, err_msg=dtype)
                onp.testing.assert_array_equal(mine.asnumpy(), everyone[rank])
                root = size - 1
                got = hvd.broadcast(mine, root).asnumpy()
                onp.testing.assert_array_equal(got, everyone[root])
        mean = hvd.allreduce(mx.np.full((4,), float(rank)))
        assert mean.asnumpy().tolist() == [(size - 1) / 2] * 4

        # Work before and behind it, and arrays in place.
        x = nd.ones((1000,)) * (rank + 1)
        for _ in range(20):
            hvd.allreduce_(x, average=True)
            x += 1
        assert abs(float(x[0].asscalar()) - ((size + 1) / 2 + 20)) < 1e-3

        # The gradient of a sum is the sum of the gradients.
        w = nd.array([1.0, 2.0])
        w.attach_grad()
        with autograd.record():
            loss = (hvd.allreduce(w * (rank + 1), average=False) ** 2).sum() * (rank + 2)
        loss.backward()
        s = size * (size + 1) / 2
        heads = sum(one + 2 for one in range(size))
        wanted = 2 * s * w.asnumpy() * heads * (rank + 1)
        onp.testing.assert_allclose(w.grad.asnumpy(), wanted, 1e-5)

        assert hvd.allgather_object(b"*" * rank) == [b"*" * one for one in range(size)]
        hvd.barrier()
        print(rank, size, hvd.local_rank(), hvd.local_size())
        """,
    )
    outcome = succeed(ranks, file)
    for rank in range(ranks):
        assert outcome.of(rank) == [f"{rank} {ranks} {rank} {ranks}"]


@pytest.mark.parametrize("engine", ["ThreadedEngine", "NaiveEngine"])
def test_results_that_nobody_reads_are_sent_all_the_same(tmp_path, engine):
    file = write(
        tmp_path,
        """
        total = hvd.allreduce(nd.ones((3,)), average=False)
        if rank == 0:
            print(total.asnumpy().tolist())
        del total
        """,
    )
    outcome = succeed(2, file, MXNET_ENGINE_TYPE=engine)
    assert outcome.of(0) == ["[2.0, 2.0, 2.0]"]


_DIFFERENT = {
    "shape": ("hvd.allreduce(nd.ones((3 + rank,)), name='w')", "allreduce w (3,) float32"),
    "type": ("hvd.allreduce(nd.ones((3,), dtype=('float32', 'float64')[rank]))", "(3,) float64"),
    "order": ("(hvd.allreduce, hvd.broadcast)[rank](nd.ones((3,)))", "broadcast (3,) float32"),
    "root": ("hvd.broadcast(nd.ones((3,)), rank)", "broadcast (3,) float32 from rank 1"),
}


@pytest.mark.parametrize("kind", _DIFFERENT)
def test_ranks_that_do_not_agree_are_told(tmp_path, kind):
    statement, wanted = _DIFFERENT[kind]
    file = write(
        tmp_path,
        f"""
        hvd.barrier()
        x = {statement}
        try:
            x.asnumpy()
        except mx.MXNetError as error:
            print(str(error).splitlines()[0])
            print("program.py" in str(error))
        """,
    )
    outcome = launch(2, file)
    first, second = outcome.of(0), outcome.of(1)
    assert "ranks do not agree on collective 1: rank 0 issued" in first[0]
    assert wanted in first[0]
    assert line_of(file, "x = ") in first[0]
    said = [one[0].partition("; inputs")[0] for one in (first, second)]
    assert said[0] == said[1]
    assert first[1] == "True"


def test_a_rank_that_has_ended_is_told(tmp_path):
    file = write(
        tmp_path,
        """
        if rank == 0:
            hvd.allreduce(nd.ones((3,))).asnumpy()
        if rank == 1:
            raise ValueError("no data")
        """,
    )
    outcome = launch(2, file)
    assert outcome.status == 1
    assert "rank 1 has ended by ValueError: no data" in outcome.errors_of(0)
    assert line_of(file, "allreduce") in outcome.errors_of(0)


def test_a_value_that_cannot_be_computed_is_told_to_all(tmp_path):
    file = write(
        tmp_path,
        """
        from afterglow import _core
        x = nd.ones((30,))
        if rank == 1:
            _core.inject_failure(0, 0)
        x = x * 2
        try:
            hvd.allreduce_(x, name="gradient").asnumpy()
        except mx.MXNetError as error:
            print(str(error).splitlines()[0])
        try:
            hvd.barrier()
        except mx.MXNetError as error:
            print(str(error).splitlines()[0])
        """,
    )
    outcome = launch(2, file)
    wanted = "rank 1 cannot take part in allreduce gradient (30,) float32 (collective 0, program.py"
    assert wanted in outcome.of(0)[0]
    assert wanted in outcome.of(0)[1]
    assert wanted in outcome.of(1)[1]
