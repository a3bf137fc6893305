# SPDX-License-Identifier: Apache-2.0
"""Modules that are written in Python instead of being made of a symbol."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from .. import ndarray as nd
from .._core import Array
from ..initializer import Uniform
from .base_module import DEFAULT_OPTIMIZER_PARAMS, BaseModule, OptimizerParams, Params, need
from .executor_group import described

__all__ = ["PythonLossModule", "PythonModule"]


class PythonModule(BaseModule):
    """A module without parameters; subclasses define forward and, if needed, backward."""

    def __init__(
        self,
        data_names: Sequence[str],
        label_names: Sequence[str] | None,
        output_names: Sequence[str],
        logger: Any = logging,
    ) -> None:
        super().__init__(logger)
        self._data_names = list(data_names)
        self._label_names = None if label_names is None else list(label_names)
        self._output_names = list(output_names)
        self._data_shapes: Any = None
        self._label_shapes: Any = None
        self._output_shapes: list[tuple[str, tuple[int, ...]]] = []

    @property
    def data_names(self) -> list[str]:
        """The names of the inputs."""
        return self._data_names

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self) -> Any:
        """Names and shapes of the inputs."""
        return self._data_shapes

    @property
    def label_shapes(self) -> Any:
        """Names and shapes of the labels."""
        return self._label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes of the outputs."""
        return self._output_shapes

    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return no parameters."""
        return {}, {}

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008 - it has no state
        arg_params: Params | None = None,
        aux_params: Params | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Do nothing: there are no parameters."""
        self.params_initialized = True

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: OptimizerParams = DEFAULT_OPTIMIZER_PARAMS,
        force_init: bool = False,
    ) -> None:
        """Do nothing: there are no parameters."""
        self.optimizer_initialized = True

    def update(self) -> None:
        """Do nothing: there are no parameters."""

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Let a metric take the last outputs into account, if there are labels."""
        if self._label_shapes is None:
            return
        need(not pre_sliced, "PythonModule does not support presliced labels")
        eval_metric.update_dict(
            dict(zip(self._label_names or (), labels, strict=False)),
            dict(zip(self._output_names, self.get_outputs(), strict=True)),
        )

    def bind(
        self,
        data_shapes: Any,
        label_shapes: Any = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Remember the shapes of the inputs."""
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        need(grad_req == "write", "Python module only support write gradient")
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._data_shapes = described(data_shapes)
        need(
            [one.name for one in self._data_shapes] == self._data_names,
            f"the inputs are {self._data_names}, not {self._data_shapes}",
        )
        self._label_shapes = None if label_shapes is None else described(label_shapes)
        self._output_shapes = self._compute_output_shapes()
        self.binded = True

    def _compute_output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        raise NotImplementedError


class PythonLossModule(PythonModule):
    """A loss: its output is its input, its gradient a function of output and labels.

    >>> from afterglow import io, mod, nd
    >>> loss = mod.PythonLossModule(grad_func=lambda scores, labels: scores - labels)
    >>> loss.bind([("data", (2,))], [("softmax_label", (2,))])
    >>> loss.forward(io.DataBatch([nd.array([1, 2])], [nd.array([3, 3])]))
    >>> loss.backward()
    >>> loss.get_input_grads()[0].asnumpy().tolist()
    [-2.0, -1.0]
    """

    def __init__(
        self,
        name: str = "pyloss",
        data_names: Sequence[str] = ("data",),
        label_names: Sequence[str] = ("softmax_label",),
        logger: Any = logging,
        grad_func: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        super().__init__(data_names, label_names, [f"{name}_output"], logger)
        self._name = name
        need(len(data_names) == 1, "a loss has one input")
        need(len(label_names) == 1, "a loss has one label")
        self._scores: Any = None
        self._labels: Any = None
        self._scores_grad: Any = None
        self._grad_func = grad_func

    def _compute_output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        return [(f"{self._name}_output", self._data_shapes[0].shape)]

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Keep scores and labels."""
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the scores."""
        need(merge_multi_context, "a loss computes on one device")
        return [self._scores]

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradient of the scores."""
        need(out_grads is None, "For a loss module, out_grads should be None")
        need(self.for_training, "the module is not bound for training")
        self._backward_impl()

    def _backward_impl(self) -> None:
        if self._grad_func is None:
            raise NotImplementedError("a loss needs grad_func, or a subclass with _backward_impl")
        gradient = self._grad_func(self._scores, self._labels)
        self._scores_grad = gradient if isinstance(gradient, Array) else nd.array(gradient)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the gradient of the scores."""
        need(merge_multi_context, "a loss computes on one device")
        return [self._scores_grad]

    def install_monitor(self, mon: Any) -> None:
        """Refuse: there is no executor."""
        raise NotImplementedError("there is no executor to watch")
