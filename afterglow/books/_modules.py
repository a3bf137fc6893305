# SPDX-License-Identifier: Apache-2.0
"""Models, data and trainers as classes, as newer editions of the English book have them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from afterglow import autograd, context, gluon, init, np
from afterglow.context import gpu
from afterglow.gluon import nn

from ._common import clip_gradients
from ._figures import pyplot, set_figsize

__all__ = [
    "SGD",
    "Classifier",
    "DataModule",
    "HyperParameters",
    "LinearRegression",
    "LinearRegressionScratch",
    "Module",
    "ProgressBoard",
    "SyntheticRegressionData",
    "Trainer",
    "add_to_class",
]


def add_to_class(Class: type) -> Callable[[Callable[..., Any]], None]:  # noqa: N803
    """Make a method of a function: ``@add_to_class(A)``."""

    def add(function: Callable[..., Any]) -> None:
        setattr(Class, function.__name__, function)

    return add


class HyperParameters:
    """Keeps the arguments of ``__init__`` as attributes."""

    hparams: dict[str, Any]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Those arguments have any type."""

    def save_hyperparameters(self, ignore: Sequence[str] = ()) -> None:
        """Keep the arguments of the calling method, but for some."""
        self.hparams = {
            name: value
            for name, value in sys._getframe(1).f_locals.items()
            if name != "self" and name not in ignore and not name.startswith("_")
        }
        for name, value in self.hparams.items():
            setattr(self, name, value)


class _Point(NamedTuple):
    x: float
    y: float


class ProgressBoard(HyperParameters):
    """Curves that grow during training; their points are in ``data`` by label."""

    xlabel: str | None
    xlim: Any

    def __init__(
        self,
        xlabel: str | None = None,
        ylabel: str | None = None,
        xlim: Any = None,
        ylim: Any = None,
        xscale: str = "linear",
        yscale: str = "linear",
        ls: Sequence[str] = ("-", "--", "-.", ":"),
        colors: Sequence[str] = ("C0", "C1", "C2", "C3"),
        fig: Any = None,
        axes: Any = None,
        figsize: tuple[float, float] = (3.5, 2.5),
        display: bool = True,
    ) -> None:
        self.save_hyperparameters()
        self.data: dict[str, list[_Point]] = {}
        self.raw_points: dict[str, list[_Point]] = {}

    def draw(self, x: float, y: float, label: str, every_n: int = 1) -> None:
        """Add a point to the curve of this label; means of ``every_n`` points are drawn."""
        points = self.raw_points.setdefault(label, [])
        line = self.data.setdefault(label, [])
        points.append(_Point(float(x), float(y)))
        if len(points) < every_n:
            return
        line.append(_Point(*(sum(values) / len(points) for values in zip(*points, strict=True))))
        points.clear()
        if self.display:
            self._show()

    def _show(self) -> None:
        set_figsize(self.figsize)
        axes = self.axes or pyplot().gca()
        axes.cla()
        for number, (label, line) in enumerate(self.data.items()):
            axes.plot(
                [point.x for point in line],
                [point.y for point in line],
                self.ls[number % len(self.ls)],
                color=self.colors[number % len(self.colors)],
                label=label,
            )
        names = ("xlabel", "ylabel", "xlim", "ylim", "xscale", "yscale")
        axes.set(**{name: getattr(self, name) for name in names})
        axes.legend()


class Module(nn.Block, HyperParameters):
    """A model with its loss and its optimizer."""

    def __init__(self, plot_train_per_epoch: int = 2, plot_valid_per_epoch: int = 1) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.board = ProgressBoard()

    def loss(self, y_hat: Any, y: Any) -> Any:
        """Return the loss of a batch."""
        raise NotImplementedError

    def forward(self, X: Any, *args: Any) -> Any:  # noqa: N803
        """Return the predictions of ``self.net``."""
        assert hasattr(self, "net"), "Neural network is defined"
        return self.net(X, *args)

    def plot(self, key: str, value: Any, train: bool) -> None:
        """Add a point to a curve of the board."""
        assert hasattr(self, "trainer"), "Trainer is not inited"
        self.board.xlabel = "epoch"
        if train:
            x = self.trainer.train_batch_idx / self.trainer.num_train_batches
            every = self.trainer.num_train_batches / self.plot_train_per_epoch
        else:
            x = self.trainer.epoch + 1
            every = self.trainer.num_val_batches / self.plot_valid_per_epoch
        label = ("train_" if train else "val_") + key
        self.board.draw(x, value.asnumpy().item(), label, every_n=int(every))

    def training_step(self, batch: Sequence[Any]) -> Any:
        """Return the loss of a batch to be learned from."""
        value = self.loss(self(*batch[:-1]), batch[-1])
        self.plot("loss", value, train=True)
        return value

    def validation_step(self, batch: Sequence[Any]) -> None:
        """Measure how good the model is at a batch."""
        self.plot("loss", self.loss(self(*batch[:-1]), batch[-1]), train=False)

    def parameters(self) -> Any:
        """Return the parameters, or the arrays with a gradient where there are none."""
        parameters = self.collect_params()
        if isinstance(parameters, gluon.ParameterDict) and parameters.keys():
            return parameters
        return [array for array in self.get_scratch_params() if array.grad is not None]

    def get_scratch_params(self) -> list[Any]:
        """Return the arrays that are attributes, and those of models in them."""
        found = []
        for value in vars(self).values():
            for one in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(one, Module):
                    found += one.get_scratch_params()
                elif isinstance(one, np.ndarray):
                    found.append(one)
        return found

    def set_scratch_params_device(self, device: Any) -> None:
        """Move the arrays that are attributes, and those of models in them."""
        for name, value in list(vars(self).items()):
            for one in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(one, Module):
                    one.set_scratch_params_device(device)
                elif isinstance(one, np.ndarray) and one is value:
                    moved = one.as_in_ctx(device)
                    if one.grad is not None:
                        moved.attach_grad()
                    setattr(self, name, moved)

    def configure_optimizers(self) -> Any:
        """Return what updates the parameters."""
        raise NotImplementedError


class Classifier(Module):
    """A model that chooses one of several classes."""

    def validation_step(self, batch: Sequence[Any]) -> None:
        """Measure loss and accuracy of a batch."""
        y_hat = self(*batch[:-1])
        self.plot("loss", self.loss(y_hat, batch[-1]), train=False)
        self.plot("acc", self.accuracy(y_hat, batch[-1]), train=False)

    def configure_optimizers(self) -> Any:
        """Return stochastic gradient descent."""
        parameters = self.parameters()
        if isinstance(parameters, list):
            return SGD(parameters, self.lr)
        return gluon.Trainer(parameters, "sgd", {"learning_rate": self.lr})

    def accuracy(self, Y_hat: Any, Y: Any, averaged: bool = True) -> Any:  # noqa: N803
        """Return the share of right choices, or which are right."""
        chosen = Y_hat.reshape((-1, Y_hat.shape[-1])).argmax(axis=1).astype(Y.dtype)
        right = (chosen == Y.reshape(-1)).astype("float32")
        return right.mean() if averaged else right

    def layer_summary(self, X_shape: Sequence[int]) -> None:  # noqa: N803
        """Print what shapes the layers of ``self.net`` make of one."""
        X = np.random.randn(*X_shape)  # noqa: N806
        for layer in self.net:
            X = layer(X)  # noqa: N806
            print(type(layer).__name__, "output shape:\t", X.shape)

    def loss(self, Y_hat: Any, Y: Any, averaged: bool = True) -> Any:  # noqa: N803
        """Return the cross entropy."""
        value = gluon.loss.SoftmaxCrossEntropyLoss()(
            Y_hat.reshape((-1, Y_hat.shape[-1])), Y.reshape(-1)
        )
        return value.mean() if averaged else value


class DataModule(HyperParameters):
    """Data for training and for validation."""

    def __init__(self, root: str = "../data", num_workers: int = 4) -> None:
        self.save_hyperparameters()

    def get_dataloader(self, train: bool) -> Any:
        """Return an iterable over batches."""
        raise NotImplementedError

    def train_dataloader(self) -> Any:
        """Return the batches to learn from."""
        return self.get_dataloader(train=True)

    def val_dataloader(self) -> Any:
        """Return the batches to measure with."""
        return self.get_dataloader(train=False)

    def get_tensorloader(
        self, tensors: Iterable[Any], train: bool, indices: slice = slice(0, None)
    ) -> gluon.data.DataLoader:
        """Return batches of arrays."""
        dataset = gluon.data.ArrayDataset(*(array[indices] for array in tensors))
        return gluon.data.DataLoader(dataset, self.batch_size, shuffle=train)


class SyntheticRegressionData(DataModule):
    """Random features, and labels that depend on them linearly but for some noise."""

    def __init__(
        self,
        w: Any,
        b: Any,
        noise: float = 0.01,
        num_train: int = 1000,
        num_val: int = 1000,
        batch_size: int = 32,
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        count = num_train + num_val
        self.X = np.random.normal(0, 1, (count, len(w)))
        errors = np.random.normal(0, 1, (count, 1)) * noise
        self.y = np.dot(self.X, w.reshape((-1, 1))) + b + errors

    def get_dataloader(self, train: bool) -> gluon.data.DataLoader:
        """Return the batches of one of the two parts."""
        part = slice(0, self.num_train) if train else slice(self.num_train, None)
        return self.get_tensorloader((self.X, self.y), train, part)


class Trainer(HyperParameters):
    """Trains a model with data."""

    def __init__(self, max_epochs: int, num_gpus: int = 0, gradient_clip_val: float = 0) -> None:
        self.save_hyperparameters()
        self.gpus = [gpu(i) for i in range(min(num_gpus, context.num_gpus()))]

    def prepare_data(self, data: DataModule) -> None:
        """Ask for the batches."""
        self.train_dataloader = data.train_dataloader()
        self.val_dataloader = data.val_dataloader()
        self.num_train_batches = len(self.train_dataloader)
        self.num_val_batches = len(self.val_dataloader) if self.val_dataloader is not None else 0

    def prepare_model(self, model: Module) -> None:
        """Let the model know its trainer."""
        model.trainer = self
        model.board.xlim = [0, self.max_epochs]
        if self.gpus:
            model.collect_params().reset_ctx(self.gpus)
            model.set_scratch_params_device(self.gpus[0])
        self.model = model

    def prepare_batch(self, batch: Any) -> Any:
        """Return a batch as the model needs it."""
        return [array.as_in_ctx(self.gpus[0]) for array in batch] if self.gpus else batch

    def fit(self, model: Module, data: DataModule) -> None:
        """Train for ``max_epochs`` epochs."""
        self.prepare_data(data)
        self.prepare_model(model)
        self.optim = model.configure_optimizers()
        self.epoch = self.train_batch_idx = self.val_batch_idx = 0
        while self.epoch < self.max_epochs:
            self.fit_epoch()
            self.epoch += 1

    def fit_epoch(self) -> None:
        """Train on all batches once, and measure."""
        for batch in self.train_dataloader:
            with autograd.record():
                value = self.model.training_step(self.prepare_batch(batch))
            value.backward()
            if self.gradient_clip_val > 0:
                self.clip_gradients(self.gradient_clip_val, self.model)
            self.optim.step(1)
            self.train_batch_idx += 1
        for batch in self.val_dataloader or ():
            self.model.validation_step(self.prepare_batch(batch))
            self.val_batch_idx += 1

    def clip_gradients(self, grad_clip_val: float, model: Module) -> None:
        """Scale gradients down so that their common norm is at most this."""
        parameters = model.parameters()
        if not isinstance(parameters, list):
            parameters = [parameter.data() for parameter in parameters.values()]
        clip_gradients(parameters, grad_clip_val)


class SGD(HyperParameters):
    """Stochastic gradient descent on arrays."""

    def __init__(self, params: Sequence[Any], lr: float) -> None:
        self.save_hyperparameters()

    def step(self, _: int) -> None:
        """Take a step against the gradients."""
        for param in self.params:
            param -= self.lr * param.grad


class LinearRegressionScratch(Module):
    """Linear regression on arrays alone."""

    def __init__(self, num_inputs: int, lr: float, sigma: float = 0.01) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.w = np.random.normal(0, sigma, (num_inputs, 1))
        self.b = np.zeros(1)
        self.w.attach_grad()
        self.b.attach_grad()

    def forward(self, X: Any, *args: Any) -> Any:  # noqa: N803
        """Return the predictions."""
        return np.dot(X, self.w) + self.b

    def loss(self, y_hat: Any, y: Any) -> Any:
        """Return half the mean of squared differences."""
        return ((y_hat - y) ** 2 / 2).mean()

    def configure_optimizers(self) -> SGD:
        """Return stochastic gradient descent."""
        return SGD([self.w, self.b], self.lr)


class LinearRegression(Module):
    """Linear regression with a layer."""

    def __init__(self, lr: float) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Dense(1)
        self.net.initialize(init.Normal(sigma=0.01))

    def loss(self, y_hat: Any, y: Any) -> Any:
        """Return half the mean of squared differences."""
        return gluon.loss.L2Loss()(y_hat, y).mean()

    def configure_optimizers(self) -> gluon.Trainer:
        """Return stochastic gradient descent."""
        return gluon.Trainer(self.collect_params(), "sgd", {"learning_rate": self.lr})

    def get_w_b(self) -> tuple[Any, Any]:
        """Return weights and bias."""
        assert self.net.bias is not None
        return self.net.weight.data(), self.net.bias.data()
