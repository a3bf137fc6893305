# SPDX-License-Identifier: Apache-2.0
"""What books on MXNet show of asynchronous computation, with their imports, in small.

Each chapter is a program of its own: ``mxnet``, ``d2l`` and ``d2lzh`` are looked up once per
process.
"""

from __future__ import annotations

import re

import pytest
from support import asks_ps, run_child

#: The program, and what the lines that it prints must look like.
CHAPTERS = {
    "queued, then finished": (
        """
        from mxnet import nd
        from time import time

        start = time()
        x = nd.random_uniform(shape=(1500, 1500))
        y = nd.dot(x, x)
        queued = time() - start
        print(y)
        print('queued sooner: %s' % (queued < (time() - start) / 4))
        z = nd.dot(x, x)
        nd.waitall()
        z.wait_to_read()
        print(z.asnumpy().shape, y.norm().asscalar() > 0)
        """,
        [
            "",
            r"\[\[.*",
            *[r" .*"] * 6,
            r"<NDArray 1500x1500 @cpu\(0\)>",
            "queued sooner: True",
            r"\(1500, 1500\) True",
        ],
    ),
    "synchronous and asynchronous": (
        """
        from mxnet import nd
        import d2lzh as d2l

        x = nd.ones((300, 300))
        with d2l.Benchmark('synchronous.'):
            for _ in range(100):
                y = x + 1
                y.wait_to_read()
        with d2l.Benchmark():
            for _ in range(100):
                y = x + 1
            nd.waitall()
        print(y.sum().asscalar())
        """,
        [r"synchronous\. time: \d+\.\d{4} sec", r"time: \d+\.\d{4} sec", r"180000\.0"],
    ),
    "memory of training": (
        """
        from mxnet import autograd, gluon, nd
        from mxnet.gluon import loss as gloss, nn
        import os
        import subprocess
        import time

        def data_iter():
            start = time.time()
            num_batches, batch_size = 20, 64
            for i in range(num_batches):
                X = nd.random.normal(shape=(batch_size, 512))
                y = nd.ones((batch_size,))
                yield X, y
                if (i + 1) % 10 == 0:
                    print('batch %d, time %f sec' % (i + 1, time.time() - start))

        net = nn.Sequential()
        with net.name_scope():
            net.add(nn.Dense(256, activation='relu'), nn.Dense(1))
        net.initialize()
        trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.005})
        loss = gloss.L2Loss()

        def get_mem():
            res = subprocess.check_output(['ps', 'u', '-p', str(os.getpid())])
            return int(str(res).split()[15]) / 1e3

        for X, y in data_iter():
            break
        loss(y, net(X)).wait_to_read()

        for synchronous in (True, False):
            l_sum, mem = 0, get_mem()
            for X, y in data_iter():
                with autograd.record():
                    l = loss(y, net(X))
                if synchronous:
                    l_sum += l.mean().asscalar()
                l.backward()
                trainer.step(X.shape[0])
            nd.waitall()
            print('modest: %s' % (get_mem() - mem < 60))
        """,
        [r"batch 10, time .* sec", r"batch 20, time .* sec", "modest: True"] * 2,
    ),
    "hybrid networks": (
        """
        import tempfile
        from mxnet import nd, sym
        from mxnet.gluon import nn

        def get_net():
            net = nn.HybridSequential()
            net.add(nn.Dense(32, activation='relu'), nn.Dense(2))
            net.initialize()
            return net

        x = nd.random.normal(shape=(1, 64))
        net = get_net()
        before = net(x)
        net.hybridize()
        print((net(x) == before).asnumpy().all())
        print(net(sym.var('data')))
        with tempfile.TemporaryDirectory() as folder:
            path = f'{folder}/my_mlp'
            net.export(path)
            block = nn.SymbolBlock.imports(f'{path}-symbol.json', ['data'], f'{path}-0000.params')
            print(block(x).shape)
        print(hasattr(sym, 'no_such_function'), isinstance(x, sym.Symbol))
        """,
        ["True", "<Symbol dense1_fwd>", r"\(1, 2\)", "False False"],
    ),
    "the newer interface": (
        """
        import d2l, numpy, os, subprocess
        from mxnet import autograd, gluon, np, npx
        from mxnet.gluon import nn
        npx.set_np()

        with d2l.benchmark('numpy   : %.4f sec'):
            a = numpy.random.normal(size=(200, 200))
            b = numpy.dot(a, a)
        with d2l.benchmark():
            for _ in range(10):
                a = np.random.normal(size=(200, 200))
                b = np.dot(a, a)
            npx.waitall()
        z = np.ones((1, 2)) * np.ones((1, 2)) + 2
        print(z)
        timer = d2l.Timer()
        net = nn.Sequential()
        net.add(nn.Dense(8, activation='relu'), nn.Dense(1))
        net.initialize()
        trainer = gluon.Trainer(net.collect_params(), 'sgd')
        loss = gluon.loss.L2Loss()
        X, y = np.random.normal(size=(16, 4)), np.ones((16,))
        with autograd.record():
            l = loss(y, net(X))
        l.backward()
        trainer.step(X.shape[0])
        l.wait_to_read()
        print(b.sum().item() != 0, timer.stop() > 0)
        """,
        [r"numpy   : \d\.\d{4} sec", r"Done in \d\.\d{4} sec", r"\[\[3\. 3\.\]\]", "True True"],
    ),
    "linear regression from scratch": (
        """
        from d2l import mxnet as d2l
        import d2l.mxnet as again
        from mxnet import autograd, np, npx
        npx.set_np()

        true_w, true_b = np.array([2, -3.4]), 4.2
        features, labels = d2l.synthetic_data(true_w, true_b, 1000)
        w = np.random.normal(0, 0.01, (2, 1))
        b = np.zeros(1)
        w.attach_grad()
        b.attach_grad()
        for epoch in range(3):
            for X, y in d2l.data_iter(10, features, labels):
                with autograd.record():
                    l = d2l.squared_loss(d2l.linreg(X, w, b), y)
                l.backward()
                d2l.sgd([w, b], 0.03, 10)
        print(abs(true_w - w.reshape(true_w.shape)).max().item() < 0.02)
        print(abs(true_b - b).item() < 0.02, again is d2l)
        """,
        ["True", "True True"],
    ),
    "classifiers": (
        """
        import d2lzh
        from d2l import mxnet as d2l
        from mxnet import gluon, nd, np, npx
        from mxnet.gluon import nn

        def train(world, d2l, run):
            X = world.random.uniform(-1, 1, (400, 2)) if world is np else \\
                world.random.uniform(-1, 1, shape=(400, 2))
            y = (X[:, 0] > X[:, 1]).astype('float32')
            batches = gluon.data.DataLoader(gluon.data.ArrayDataset(X, y), 20, shuffle=True)
            net = nn.Dense(2)
            net.initialize()
            trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.1})
            run(net, batches, gluon.loss.SoftmaxCrossEntropyLoss(), trainer)
            return net, batches

        net, batches = train(nd, d2lzh, lambda net, batches, loss, trainer: d2lzh.train_ch3(
            net, batches, batches, loss, 2, 20, trainer=trainer))
        print(d2lzh.evaluate_accuracy(batches, net) > 0.9)
        npx.set_np()
        net, batches = train(np, d2l, lambda net, batches, loss, trainer: d2l.train_ch3(
            net, batches, batches, loss, 2, trainer))
        print(d2l.evaluate_accuracy(net, batches) > 0.9)
        """,
        [r"epoch \d, loss .*, train acc .*, test acc [01]\.\d{3}"] * 2 + ["True", "True"],
    ),
    "helpers": (
        """
        import d2lzh
        import d2l
        from mxnet import autograd, gluon, nd, np

        print(d2l.try_gpu(), d2lzh.try_all_gpus())
        sums = d2l.Accumulator(2)
        sums.add(1, 2); sums.add(3, 4)
        print(sums[0], sums[1])
        animator = d2l.Animator(xlabel='epoch', xlim=[1, 3], legend=['a', 'b'])
        animator.add(1, (0.5, None)); animator.add(2, (0.4, 0.9))
        print(animator.X, animator.Y)
        timer = d2l.Timer(); timer.stop(); timer.start(); timer.stop()
        print(len(timer.times), timer.sum() >= timer.avg(), len(timer.cumsum()))
        print(d2lzh.corr2d(nd.arange(9).reshape((3, 3)), nd.array([[0, 1], [2, 3]])).asnumpy())
        print([one.shape for one in d2lzh.to_onehot(nd.arange(10).reshape((2, 5)), 10)])
        w = nd.array([3, 4]); w.attach_grad()
        with autograd.record():
            l = (w * w).sum() / 2
        l.backward()
        d2lzh.grad_clipping([w], 1)
        print(w.grad.asnumpy().round(3))
        d2lzh.grad_clipping([w], 2)
        print(w.grad.norm().asscalar())
        for X, y in d2l.load_array((np.ones((5, 2)), np.ones((5, 1))), 3):
            print(X.shape, y.shape)
        """,
        [
            r"cpu\(0\) \[cpu\(0\)\]",
            r"4\.0 6\.0",
            r"\[\[1, 2\], \[2\]\] \[\[0\.5, 0\.4\], \[0\.9\]\]",
            "2 True 2",
            r"\[\[19\. 25\.\]",
            r" \[37\. 43\.\]\]",
            r"\[\(2, 10\), \(2, 10\), \(2, 10\), \(2, 10\), \(2, 10\)\]",
            r"\[0\.6 0\.8\]",
            r"(1\.0|0\.99999).*",
            r"\(3, 2\) \(3, 1\)",
            r"\(2, 2\) \(2, 1\)",
        ],
    ),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=asks_ps if "'ps'" in script else ())
        for name, (script, _) in CHAPTERS.items()
    ],
)
def test_chapter(name: str) -> None:
    script, expected = CHAPTERS[name]
    done = run_child("import afterglow.as_mxnet\n" + script_of(script), prelude=False)
    assert (done.code, done.err) == (0, ""), done.out + done.err
    lines = done.out.splitlines()
    assert len(lines) == len(expected), done.out
    for line, pattern in zip(lines, expected, strict=True):
        assert re.fullmatch(pattern, line), (pattern, line)


def script_of(text: str) -> str:
    return re.sub(r"^ {8}", "", text, flags=re.MULTILINE)


def test_installed_packages_come_first(tmp_path) -> None:
    (tmp_path / "d2l.py").write_text("here = 'the real one'\n")
    script = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import afterglow.as_mxnet
import d2l, d2lzh
print(d2l.here, d2lzh.__name__)
"""
    done = run_child(script, prelude=False)
    assert (done.out, done.err) == ("the real one afterglow.books.d2lzh\n", "")
