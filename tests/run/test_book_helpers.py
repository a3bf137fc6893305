# SPDX-License-Identifier: Apache-2.0
"""The helpers of *Dive into Deep Learning*: their results against NumPy and against each other."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator

import numpy as onp
import pytest

from afterglow import autograd, context, gluon, nd, np, npx
from afterglow.books import d2l, d2lzh, tab
from afterglow.gluon import nn


@pytest.fixture
def numpy_arrays() -> Iterator[None]:
    npx.set_np()
    yield
    npx.reset_np()


def test_names_for_all_frameworks() -> None:
    x = d2l.reshape(d2l.arange(6), (2, 3))
    host = onp.arange(6.0).reshape(2, 3)
    for ours, expected in [
        (d2l.matmul(x, d2l.transpose(x)), host @ host.T),
        (d2l.concat([x, x], 0), onp.concatenate([host, host])),
        (d2l.reduce_sum(x, 0), host.sum(0)),
        (d2l.reduce_mean(x), host.mean()),
        (d2l.argmax(x, axis=1), host.argmax(1)),
        (d2l.swapaxes(x, 0, 1), host.T),
        (d2l.repeat(x, 2, axis=0), host.repeat(2, 0)),
        (d2l.to(x, d2l.cpu()), host),
        (d2l.sigmoid(x), 1 / (1 + onp.exp(-host))),
        (d2l.tensor([1, 2]), onp.array([1, 2])),
    ]:
        onp.testing.assert_allclose(d2l.numpy(ours), expected, rtol=1e-5)
    assert d2l.size(x) == 6
    assert d2l.astype(x, d2l.int32).dtype == onp.int32
    assert issubclass(d2l.Module, d2l.nn_Module)
    for name in d2l.__all__:
        assert hasattr(d2l, name), name
    for name in d2lzh.__all__:
        assert hasattr(d2lzh, name), name


def test_helpers_that_are_not_there_say_where_they_are() -> None:
    for helpers, package in ((d2l, "d2l"), (d2lzh, "d2lzh")):
        with pytest.raises(
            AttributeError, match=rf"^{package}\.no_such_helper .* install .* {package}"
        ):
            helpers.no_such_helper


def test_hyperparameters_and_added_methods() -> None:
    class Setting(d2l.HyperParameters):
        def __init__(self, a: int, b: int, c: int = 3) -> None:
            _unseen = 4
            self.save_hyperparameters(ignore=["b"])

    @d2l.add_to_class(Setting)
    def total(self: Setting) -> int:
        return self.a + self.c

    setting = Setting(1, 2)
    assert setting.hparams == {"a": 1, "c": 3}
    assert setting.total() == 4
    assert not hasattr(setting, "b")


def test_progress_board_draws_means() -> None:
    board = d2l.ProgressBoard("x")
    for x in range(6):
        board.draw(x, x * x, "squares", every_n=2)
        board.draw(x, -x, "line")
    assert [tuple(point) for point in board.data["squares"]] == [
        (0.5, 0.5),
        (2.5, 6.5),
        (4.5, 20.5),
    ]
    assert len(board.data["line"]) == 6


@pytest.mark.usefixtures("numpy_arrays")
@pytest.mark.parametrize("scratch", [True, False])
def test_linear_regression_as_classes(scratch: bool) -> None:
    data = d2l.SyntheticRegressionData(w=np.array([2, -3.4]), b=4.2, num_train=320, num_val=64)
    model = d2l.LinearRegressionScratch(2, lr=0.1) if scratch else d2l.LinearRegression(lr=0.1)
    trainer = d2l.Trainer(max_epochs=10, gradient_clip_val=100)
    trainer.fit(model, data)
    w, b = (model.w, model.b) if scratch else model.get_w_b()
    onp.testing.assert_allclose(w.asnumpy().ravel(), [2, -3.4], atol=0.05)
    onp.testing.assert_allclose(b.asnumpy(), [4.2], atol=0.05)
    assert (trainer.train_batch_idx, trainer.val_batch_idx) == (100, 20)
    losses = [point.y for point in model.board.data["val_loss"]]
    assert len(losses) == 10
    assert losses[-1] < losses[0] / 10
    model.trainer = None  # it holds the model


@pytest.mark.usefixtures("numpy_arrays")
def test_classifier() -> None:
    class Data(d2l.DataModule):
        def __init__(self) -> None:
            super().__init__()
            self.batch_size = 32
            self.X = np.random.uniform(-1, 1, (320, 2))
            self.y = (self.X[:, 0] > self.X[:, 1]).astype("float32")

        def get_dataloader(self, train: bool) -> object:
            return self.get_tensorloader((self.X, self.y), train)

    class Net(d2l.Classifier):
        def __init__(self, lr: float) -> None:
            super().__init__()
            self.save_hyperparameters()
            self.net = nn.Dense(2)
            self.net.initialize()

    model = Net(lr=0.5)
    d2l.Trainer(max_epochs=6).fit(model, Data())
    shares = [point.y for point in model.board.data["val_acc"]]
    assert len(shares) == 6
    assert shares[-1] > 0.9
    right = model.accuracy(np.array([[1, 2], [2, 1], [0, 1]]), np.array([1, 1, 1]), averaged=False)
    assert right.asnumpy().tolist() == [1, 0, 1]
    model.trainer = None  # it holds the model


def test_optimizers_of_two_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    def trainer(x1: float, x2: float, s1: float, s2: float) -> tuple[float, float, float, float]:
        return x1 * 0.8, x2 * 0.2, s1 + 1, s2

    places = d2lzh.train_2d(trainer)
    assert len(places) == 21
    assert places[-1] == pytest.approx((-5 * 0.8**20, -2 * 0.2**20))
    d2l.train_2d(lambda x1, x2, s1, s2, grad: (*grad(x1, x2), 0, 0), 3, lambda a, b: (a / 2, b))
    assert capsys.readouterr().out == (
        f"epoch 20, x1 {-5 * 0.8**20:f}, x2 -0.000000\nepoch 3, x1: -0.625000, x2: -2.000000\n"
    )
    d2l.show_trace_2d(lambda x1, x2: x1**2 + x2**2, results=places)
    d2lzh.show_trace_2d(lambda x1, x2: x1**2 + x2**2, res=places)


def test_devices_by_number() -> None:
    assert d2l.gpu(i=1) == context.gpu(1)
    assert d2l.gpu() == context.gpu(0)


class Recorder:
    """Stands for pyplot and its axes; writes the calls down."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[object, ...]]] = []
        self.rcParams: dict[str, object] = {}

    def __getattr__(self, name: str) -> object:
        def call(*args: object, **options: object) -> Recorder:
            self.calls.append((name, args))
            return self

        return call


def test_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    package = types.ModuleType("matplotlib")
    package.pyplot = recorder  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "matplotlib", package)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", recorder)  # type: ignore[arg-type]
    assert d2l.plt is recorder
    x = nd.arange(3)
    d2l.plot(x, [x, x * 2], "x", "f(x)", legend=["a", "b"], figsize=(1, 2))
    drawn = [args for name, args in recorder.calls if name == "plot"]
    assert [onp.asarray(args[1]).tolist() for args in drawn] == [[0, 1, 2], [0, 2, 4]]
    assert [args[2] for args in drawn] == ["-", "m--"]
    assert ("legend", (["a", "b"],)) in recorder.calls
    assert recorder.rcParams == {"figure.figsize": (1, 2)}
    recorder.calls.clear()
    d2lzh.semilogy([1, 2], [3, 4], "x", "y", [1, 2], [5, 6], ["a", "b"])
    assert [args for name, args in recorder.calls if name == "semilogy"] == [
        ([1, 2], [3, 4]),
        ([1, 2], [5, 6]),
    ]


def test_without_matplotlib_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    plt = d2lzh.plt
    plt.rcParams["figure.figsize"] = (3, 2)
    _, axes = plt.subplots(2, 2)
    axes[0][1].imshow(1).set_title("x")
    plt.scatter(nd.ones(2).asnumpy(), [1, 2], 1)
    d2l.plot([1, 2], xlabel="x")
    d2lzh.semilogy([1], [2], "x", "y")
    animator = d2l.Animator(legend=["a"])
    animator.add(1, 2)
    assert (animator.X, animator.Y) == ([[1]], [[2]])


def test_tab_is_mxnet() -> None:
    tab.interact_select(["mxnet", "pytorch"])
    assert tab.selected("pytorch", "mxnet")
    assert not tab.selected("jax")


def test_folders(tmp_path) -> None:
    for path in (str(tmp_path / "a"), (str(tmp_path), "b", "c")):
        d2lzh.mkdir_if_not_exist(path)
        d2l.mkdir_if_not_exist(path)
    assert (tmp_path / "a").is_dir()
    assert (tmp_path / "b" / "c").is_dir()
    assert d2l.get_fashion_mnist_labels(nd.array([9, 0])) == ["ankle boot", "t-shirt"]


def test_gradients_reach_arrays_of_children() -> None:
    class Inner(d2l.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = np.ones(2)
            self.w.attach_grad()

    class Outer(d2l.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()
            self.v = np.ones(2)
            self.v.attach_grad()

    model = Outer()
    with autograd.record():
        value = (model.v * model.inner.w * 3).sum()
    value.backward()
    found = model.parameters()
    assert {id(one) for one in found} == {id(model.v), id(model.inner.w)}
    d2l.SGD(found, 0.1).step(1)
    assert model.v.asnumpy() == pytest.approx([0.7, 0.7])
    assert isinstance(d2l.LinearRegression(0.1).parameters(), gluon.ParameterDict)
