# SPDX-License-Identifier: Apache-2.0
"""``mx.metric``: how good predictions are, summed up over batches. Updates wait for the values.

>>> from afterglow import metric, nd
>>> accuracy = metric.Accuracy()
>>> accuracy.update([nd.array([0, 1, 1])], [nd.array([[0.3, 0.7], [0, 1.0], [0.4, 0.6]])])
>>> accuracy.get()
('accuracy', 0.6666666666666666)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import exp, nan, sqrt
from typing import Any, ClassVar

import numpy as onp

from ._core import Array
from ._package.constructors import inherit_constructor
from ._package.keywords import NamedKeywords
from .error import ArrayValueError

__all__ = [
    "F1",
    "MAE",
    "MCC",
    "MSE",
    "PCC",
    "RMSE",
    "Accuracy",
    "Caffe",
    "CompositeEvalMetric",
    "CrossEntropy",
    "CustomMetric",
    "EvalMetric",
    "Loss",
    "NegativeLogLikelihood",
    "PearsonCorrelation",
    "Perplexity",
    "TopKAccuracy",
    "Torch",
    "alias",
    "check_label_shapes",
    "create",
    "np",
    "register",
]

Host = onp.ndarray[Any, Any]
_registry: dict[str, type[EvalMetric]] = {}


def _host(value: Any) -> Host:
    return value.asnumpy() if isinstance(value, Array) else onp.asarray(value)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def check_label_shapes(labels: Any, preds: Any, wrap: bool = False, shape: bool = False) -> Any:
    """Raise unless there are as many labels as predictions (or their shapes agree)."""
    seen = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if seen[0] != seen[1]:
        raise ArrayValueError(
            f"Shape of labels {seen[0]} does not match shape of predictions {seen[1]}"
        )
    return (_as_list(labels), _as_list(preds)) if wrap else (labels, preds)


def _host_pairs(labels: Any, preds: Any) -> Iterator[tuple[Host, Host]]:
    """Return labels and predictions, of which there are equally many, as NumPy arrays."""
    labels, preds = check_label_shapes(_as_list(labels), _as_list(preds))
    return zip(map(_host, labels), map(_host, preds), strict=True)


def register(klass: type[EvalMetric], name: str | None = None) -> type[EvalMetric]:
    """Make a class known by its name or another one, in any case."""
    _registry[(name or klass.__name__).lower()] = klass
    return klass


def alias(*names: str) -> Callable[[type[EvalMetric]], type[EvalMetric]]:
    """Return a decorator that lets a metric be created by further names."""

    def add(klass: type[EvalMetric]) -> type[EvalMetric]:
        for name in names:
            _registry[name.lower()] = klass
        return klass

    return add


def create(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric:
    """Return a metric by name, from a function, of several in a list, or of its configuration.

    That is what ``get_config`` returns, as a dictionary or as JSON; ``["name", {arguments}]``, as
    JSON, is understood too.

    >>> import json
    >>> from afterglow import metric
    >>> text = json.dumps(metric.TopKAccuracy(3).get_config())
    >>> metric.create(text).get_config()["top_k"]
    3
    """
    if callable(metric):
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, EvalMetric):
        return metric
    if isinstance(metric, list):
        several = CompositeEvalMetric()
        for one in metric:
            several.add(create(one, *args, **kwargs))
        return several
    if isinstance(metric, str) and metric.startswith(("{", "[")):
        given = json.loads(metric)
        if isinstance(given, list) and len(given) == 2 and isinstance(given[1], dict):
            return create(given[0], **given[1])
        return create(given, *args, **kwargs)
    if isinstance(metric, dict):
        return create(**metric)
    klass = _registry.get(str(metric).lower())
    if klass is None:
        known = ", ".join(sorted(_registry))
        raise ArrayValueError(f"{metric} is not registered; there are {known}")
    return klass(*args, **kwargs)


class EvalMetric(NamedKeywords):
    """The base class: a sum and a count, since the last reset and over all.

    Subclasses define :meth:`measure`, which returns both for one pair of arrays. Those of programs
    may define ``update``, and count in ``sum_metric`` and ``num_inst`` alone.
    """

    global_num_inst: float = 0

    def __init_subclass__(cls, name: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if name is not None:
            inherit_constructor(cls, name=name)

    def __init__(
        self,
        name: str,
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> None:
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._kwargs = kwargs
        self.reset()

    def __str__(self) -> str:
        return f"EvalMetric: {dict(self.get_name_value())}"

    def get_config(self) -> dict[str, Any]:
        """Return what the metric was made with."""
        return {
            **self._kwargs,
            "metric": type(self).__name__,
            "name": self.name,
            "output_names": self.output_names,
            "label_names": self.label_names,
        }

    # --- sums ---

    def reset(self) -> None:
        """Forget everything."""
        self.num_inst: float = 0
        self.sum_metric: float = 0.0
        self.global_num_inst = 0
        self.global_sum_metric: float = 0.0

    def reset_local(self) -> None:
        """Begin a new average; the one over all goes on."""
        self.num_inst = 0
        self.sum_metric = 0.0

    def _count(self, total: float, instances: float) -> None:
        self.sum_metric += total
        self.global_sum_metric += total
        self.num_inst += instances
        self.global_num_inst += instances

    def measure(self, label: Host, pred: Host) -> tuple[float, float]:
        """Return the sum and the count of one batch."""
        raise NotImplementedError(f"{type(self).__name__} does not define measure()")

    def update(self, labels: Any, preds: Any) -> None:
        """Take labels and predictions of a batch into account."""
        for label, pred in _host_pairs(labels, preds):
            self._count(*self.measure(label, pred))

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        """Take those of a batch into account that ``label_names`` and ``output_names`` name."""
        outputs = self.output_names
        names = self.label_names
        preds = [pred[one] for one in outputs] if outputs is not None else list(pred.values())
        labels = [label[one] for one in names] if names is not None else list(label.values())
        self.update(labels, preds)

    # --- results ---

    def finish(self, total: float, instances: float) -> float:
        """Return the result of a sum and a count."""
        return total / instances

    def _result(self, total: float, instances: float) -> tuple[Any, Any]:
        return (self.name, self.finish(total, instances) if instances else nan)

    def get(self) -> tuple[Any, Any]:
        """Return name and value since the last reset."""
        return self._result(self.sum_metric, self.num_inst)

    def get_global(self) -> tuple[Any, Any]:
        """Return name and value over all; since the last reset, if that is all that is counted."""
        if not self.global_num_inst:
            return self.get()
        return self._result(self.global_sum_metric, self.global_num_inst)

    def get_name_value(self) -> list[tuple[str, float]]:
        """Return pairs of names and values."""
        names, values = self.get()
        return list(zip(_as_list(names), _as_list(values), strict=True))

    def get_global_name_value(self) -> list[tuple[str, float]]:
        """Return pairs of names and values over all."""
        names, values = self.get_global()
        return list(zip(_as_list(names), _as_list(values), strict=True))


@alias("composite")
@register
class CompositeEvalMetric(EvalMetric):
    """Several metrics at once."""

    def __init__(
        self,
        metrics: Sequence[Any] | None = None,
        name: str = "composite",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        self.metrics = [create(metric) for metric in metrics or []]
        super().__init__(name, output_names, label_names)

    def add(self, metric: Any) -> None:
        """Add one."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> Any:
        """Return one of them."""
        try:
            return self.metrics[index]
        except IndexError:
            raise ArrayValueError(
                f"Metric index {index} is out of range 0 and {len(self.metrics)}"
            ) from None

    def update(self, labels: Any, preds: Any) -> None:
        """Update all."""
        for metric in self.metrics:
            metric.update(labels, preds)

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        """Update all, each with what it names."""
        if self.label_names is not None:
            label = {name: label[name] for name in self.label_names if name in label}
        if self.output_names is not None:
            pred = {name: pred[name] for name in self.output_names if name in pred}
        for metric in self.metrics:
            metric.update_dict(label, pred)

    def reset(self) -> None:
        """Reset all."""
        for metric in self.metrics:
            metric.reset()

    def reset_local(self) -> None:
        """Begin new averages."""
        for metric in self.metrics:
            metric.reset_local()

    @staticmethod
    def _joined(pairs: list[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
        names: list[Any] = []
        values: list[Any] = []
        for name, value in pairs:
            names.extend(_as_list(name))
            values.extend(_as_list(value))
        return names, values

    def get(self) -> tuple[Any, Any]:
        """Return all names and all values."""
        return self._joined([metric.get() for metric in self.metrics])

    def get_global(self) -> tuple[Any, Any]:
        """Return all names and all values over all."""
        return self._joined([metric.get_global() for metric in self.metrics])

    def get_config(self) -> dict[str, Any]:
        """Return what the metric was made with."""
        config = super().get_config()
        config["metrics"] = [metric.get_config() for metric in self.metrics]
        return config


# --- classes ---


@alias("acc")
@register
class Accuracy(EvalMetric):
    """The share of right classes; predictions may be classes or scores along ``axis``."""

    def __init__(
        self,
        axis: int = 1,
        name: str = "accuracy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, axis=axis)
        self.axis = axis

    def measure(self, label: Host, pred: Host) -> tuple[float, float]:
        """Count the right ones."""
        if pred.shape != label.shape:
            pred = pred.argmax(self.axis)
        label, pred = label.astype("int64").ravel(), pred.astype("int64").ravel()
        check_label_shapes(label, pred)
        return float((label == pred).sum()), label.size


@alias("top_k_accuracy", "top_k_acc")
@register
class TopKAccuracy(EvalMetric):
    """The share of labels among the classes with the highest scores."""

    def __init__(
        self,
        top_k: int = 1,
        name: str = "top_k_accuracy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        if top_k <= 1:
            raise ArrayValueError("Please use Accuracy if top_k is no more than 1")
        super().__init__(f"{name}_{top_k}", output_names, label_names, top_k=top_k)
        self.top_k = top_k

    def measure(self, label: Host, pred: Host) -> tuple[float, float]:
        """Count the labels that are among the first."""
        if pred.ndim > 2:
            raise ArrayValueError("Predictions should be no more than 2 dims")
        label = label.astype("int64").ravel()
        check_label_shapes(label, pred)
        if pred.ndim == 1:
            return float((pred.astype("int64") == label).sum()), label.size
        first = onp.argsort(pred.astype("float32"), axis=1, kind="stable")[:, -self.top_k :]
        return float((first == label[:, None]).any(1).sum()), label.size


class _Counted(EvalMetric):
    """Adds up how often each pair of label and prediction comes, beside the sums."""

    _shape: ClassVar[tuple[int, ...]]

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self._all = onp.zeros(self._shape)
        self._local = onp.zeros(self._shape)

    def reset_local(self) -> None:
        """Begin a new average."""
        super().reset_local()
        self._local = onp.zeros(self._shape)


class _Binary(_Counted):
    """Counts of right and wrong answers in two classes; averaged over batches or over all."""

    _shape = (4,)

    def __init__(
        self,
        name: str = "",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        average: str = "macro",
    ) -> None:
        self.average = average
        super().__init__(name, output_names, label_names, average=average)

    def score(self, right: float, false: float, missed: float, rejected: float) -> float:
        """Return the measure from true and false positives, false and true negatives."""
        raise NotImplementedError

    def update(self, labels: Any, preds: Any) -> None:
        """Take labels and predictions of a batch into account."""
        counts = onp.zeros(4)
        for label, pred in _host_pairs(labels, preds):
            counts += self._counts(label.astype("int64").ravel(), pred)
        self._local += counts
        self._all += counts
        if self.average == "macro":
            self._count(self.score(*counts.tolist()), 1)
        else:
            self.num_inst, self.global_num_inst = int(self._local.sum()), int(self._all.sum())
            self.sum_metric = self.score(*self._local.tolist()) * self.num_inst
            self.global_sum_metric = self.score(*self._all.tolist()) * self.global_num_inst

    def _counts(self, label: Host, pred: Host) -> Host:
        chosen = pred.argmax(1) if pred.ndim > 1 else pred.astype("int64")
        check_label_shapes(label, chosen)
        if len(onp.unique(label)) > 2 or label.min(initial=0) < 0 or label.max(initial=0) > 1:
            raise ArrayValueError(f"{type(self).__name__} currently only supports binary classes.")
        return onp.array(
            [
                ((chosen == 1) & (label == 1)).sum(),
                ((chosen == 1) & (label == 0)).sum(),
                ((chosen == 0) & (label == 1)).sum(),
                ((chosen == 0) & (label == 0)).sum(),
            ],
            dtype="float64",
        )


@register
class F1(_Binary, name="f1"):
    """The harmonic mean of precision and recall."""

    def score(self, right: float, false: float, missed: float, rejected: float) -> float:
        """Return the harmonic mean."""
        precision = right / (right + false) if right + false else 0.0
        recall = right / (right + missed) if right + missed else 0.0
        both = precision + recall
        return 2 * precision * recall / both if both else 0.0


@register
class MCC(_Binary, name="mcc"):
    """Matthews' correlation of labels and predictions."""

    def score(self, right: float, false: float, missed: float, rejected: float) -> float:
        """Return the correlation."""
        terms = (right + false, right + missed, rejected + false, rejected + missed)
        denominator = 1.0
        for term in terms:
            denominator *= term or 1.0
        return (right * rejected - false * missed) / sqrt(denominator)


@register
class PCC(_Counted):
    """The correlation of labels and predictions for any number of classes."""

    _shape = (2, 2)

    def __init__(
        self,
        name: str = "pcc",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        has_global_stats: bool = True,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def update(self, labels: Any, preds: Any) -> None:
        """Take labels and predictions of a batch into account."""
        for label, pred in _host_pairs(labels, preds):
            truth = label.astype("int64").ravel()
            chosen = (pred if pred.shape == label.shape else pred.argmax(1)).astype("int64").ravel()
            size = int(max(truth.max(initial=0), chosen.max(initial=0))) + 1
            counts = onp.zeros((max(size, 2),) * 2)
            onp.add.at(counts, (chosen, truth), 1)
            self._local = self._added(self._local, counts)
            self._all = self._added(self._all, counts)
        self.num_inst = self.global_num_inst = 1
        self.sum_metric = self._correlation(self._local)
        self.global_sum_metric = self._correlation(self._all)

    @staticmethod
    def _added(one: Host, other: Host) -> Host:
        """Return the sum of two squares of counts, in the size of the larger one."""
        size = max(len(one), len(other))
        total = onp.zeros((size, size))
        for counts in (one, other):
            total[: len(counts), : len(counts)] += counts
        return total

    @staticmethod
    def _correlation(counts: Host) -> float:
        total = counts.sum()
        chosen, truth = counts.sum(1), counts.sum(0)
        covariance = onp.trace(counts) * total - (chosen * truth).sum()
        spread = (total * total - (chosen**2).sum()) * (total * total - (truth**2).sum())
        return float(covariance / sqrt(spread)) if spread > 0 else nan


# --- probabilities ---


@alias("ce")
@register
class CrossEntropy(EvalMetric):
    """The mean of -log of the probability given to the label."""

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "cross-entropy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, eps=eps)
        self.eps = eps

    def measure(self, label: Host, pred: Host) -> tuple[float, float]:
        """Sum -log of the probabilities."""
        label = label.astype("int64").ravel()
        check_label_shapes(label, pred)
        chosen = pred[onp.arange(label.size), label].astype("float64")
        return float(-onp.log(chosen + self.eps).sum()), label.size


@alias("nll_loss")
@register
class NegativeLogLikelihood(CrossEntropy, name="nll-loss"):
    """The mean of -log of the probability given to the label."""


@register
class Perplexity(EvalMetric):
    """e to the mean of -log of the probability given to the label.

    Labels that are no class count as the nearest one, as in MXNet.
    """

    def __init__(
        self,
        ignore_label: int | None,
        axis: int = -1,
        name: str = "perplexity",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, ignore_label=ignore_label, axis=axis)
        self.ignore_label = ignore_label
        self.axis = axis

    def measure(self, label: Host, pred: Host) -> tuple[float, float]:
        """Sum -log of the probabilities of labels that count."""
        label = label.astype("int64").ravel()
        scores = onp.moveaxis(pred, self.axis, -1).reshape(-1, pred.shape[self.axis])
        check_label_shapes(label, scores)
        nearest = label.clip(0, scores.shape[1] - 1)
        chosen = scores[onp.arange(label.size), nearest].astype("float64")
        count = label.size
        if self.ignore_label is not None:
            ignored = label == self.ignore_label
            chosen = onp.where(ignored, 1.0, chosen)
            count -= int(ignored.sum())
        return float(-onp.log(onp.maximum(chosen, 1e-10)).sum()), count

    def finish(self, total: float, instances: float) -> float:
        """Return e to the mean."""
        return exp(total / instances)


# --- numbers ---


class _Distance(EvalMetric):
    def __init__(
        self,
        name: str = "",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    @staticmethod
    def _difference(label: Host, pred: Host) -> Host:
        """Return by how much they differ; vectors are columns."""
        label, pred = (one.reshape(-1, 1) if one.ndim == 1 else one for one in (label, pred))
        return label - pred


@register
class MAE(_Distance, name="mae"):
    """The mean absolute error, averaged over batches."""

    def measure(self, label: Host, pred: Host) -> tuple[float, float]:
        """Return the mean of one batch."""
        return float(onp.abs(self._difference(label, pred)).mean()), 1


@register
class MSE(_Distance, name="mse"):
    """The mean squared error, averaged over batches."""

    def measure(self, label: Host, pred: Host) -> tuple[float, float]:
        """Return the mean of one batch."""
        return float((self._difference(label, pred) ** 2.0).mean()), 1


@register
class RMSE(_Distance, name="rmse"):
    """The root of the mean squared error, averaged over batches."""

    def measure(self, label: Host, pred: Host) -> tuple[float, float]:
        """Return the root of one batch."""
        return sqrt(float((self._difference(label, pred) ** 2.0).mean())), 1


@alias("pearsonr")
@register
class PearsonCorrelation(EvalMetric):
    """The correlation of labels and predictions, averaged over batches or over all elements."""

    def __init__(
        self,
        name: str = "pearsonr",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        average: str = "macro",
    ) -> None:
        self.average = average
        self._seen: list[tuple[Host, Host]] = []
        super().__init__(name, output_names, label_names)

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self._seen = []

    def measure(self, label: Host, pred: Host) -> tuple[float, float]:
        """Return the correlation of one batch."""
        check_label_shapes(label, pred, shape=True)
        if self.average == "macro":
            return float(onp.corrcoef(pred.ravel(), label.ravel())[0, 1]), 1
        self._seen.append((label.ravel(), pred.ravel()))
        labels, preds = (onp.concatenate(parts) for parts in zip(*self._seen, strict=True))
        self.reset_local()
        self.global_sum_metric, self.global_num_inst = 0.0, 0
        return float(onp.corrcoef(preds, labels)[0, 1]), 1


@register
class Loss(EvalMetric):
    """The mean of all predictions: for losses."""

    def __init__(
        self,
        name: str = "loss",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def update(self, _: Any, preds: Any) -> None:
        """Take the losses of a batch into account."""
        for pred in _as_list(preds):
            host = _host(pred)
            self._count(float(host.sum()), host.size)


@register
class Torch(Loss, name="torch"):
    """The mean of all predictions."""


@register
class Caffe(Loss, name="caffe"):
    """The mean of all predictions."""


def _number_in(value: Any) -> float:
    """Return a number, which may be alone in an array."""
    return float(onp.asarray(value).item())


@register
class CustomMetric(EvalMetric):
    """A function of label and prediction, both NumPy arrays; it may return (sum, count)."""

    def __init__(
        self,
        feval: Callable[[Host, Host], Any],
        name: str | None = None,
        allow_extra_outputs: bool = False,
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        if name is None:
            name = getattr(feval, "__name__", "custom")
            if "<" in name:
                name = f"custom({name})"
        super().__init__(name, output_names, label_names)
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels: Any, preds: Any) -> None:
        """Take labels and predictions of a batch into account."""
        labels, preds = _as_list(labels), _as_list(preds)
        if not self._allow_extra_outputs:
            check_label_shapes(labels, preds)
        for label, pred in zip(labels, preds, strict=False):
            value = self._feval(_host(label), _host(pred))
            total, count = value if isinstance(value, tuple) else (value, 1)
            self._count(_number_in(total), _number_in(count))

    def get_config(self) -> dict[str, Any]:
        """Refuse: a function has no description."""
        raise NotImplementedError("CustomMetric cannot be serialized")


def np(
    numpy_feval: Callable[[Host, Host], Any],
    name: str | None = None,
    allow_extra_outputs: bool = False,
) -> CustomMetric:
    """Return a metric made of a function of two NumPy arrays."""
    shown = name or numpy_feval.__name__
    return CustomMetric(
        numpy_feval, f"custom({shown})" if "<" in shown else shown, allow_extra_outputs
    )
