# SPDX-License-Identifier: Apache-2.0
"""``gluon.loss``: one number per sample that says how wrong a prediction is.

All losses take ``weight``, a number, and ``sample_weight``, an array that broadcasts to the loss of
each element; the mean over all axes but ``batch_axis`` leaves one number per sample.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as onp

from .._arrays.shapes import Shape, normal_axis
from .._interoperation.host import from_host
from ..error import ArrayNotImplementedError, ArrayValueError
from ._functions import functions, has_shape
from .block import HybridBlock

__all__ = [
    "CTCLoss",
    "CosineEmbeddingLoss",
    "HingeLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "L2Loss",
    "LogisticLoss",
    "Loss",
    "PoissonNLLLoss",
    "SDMLLoss",
    "SigmoidBCELoss",
    "SigmoidBinaryCrossEntropyLoss",
    "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss",
    "SquaredHingeLoss",
    "TripletLoss",
]


def _apply_weighting(
    F: Any, loss: Any, weight: float | None = None, sample_weight: Any = None
) -> Any:
    """Return a loss times the weights; losses that programs define for themselves call it."""
    if sample_weight is not None:
        loss = functions(loss).multiply(loss, sample_weight)
    if weight is not None:
        assert isinstance(weight, (int, float)), "weight must be a number"
        loss = loss * weight
    return loss


def _reshape_like(F: Any, x: Any, y: Any) -> Any:
    """Return an array in the shape of another one; losses that programs define call it."""
    return functions(y).reshape_like(x, y)


def _softrelu(x: Any) -> Any:
    return functions(x).Activation(x, act_type="softrelu")


def _logistic(pred: Any, label: Any) -> Any:
    """Return the cross entropy of labels 0 and 1 with the sigmoid of a prediction."""
    return functions(pred).relu(pred) - pred * label + _softrelu(-abs(pred))


class Loss(HybridBlock):
    """What all losses share. Subclasses say in ``hybrid_forward`` what they compute."""

    def __init__(self, weight: float | None, batch_axis: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._weight = weight
        self._batch_axis = batch_axis

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    def _like(self, x: Any, other: Any, names: str = "label pred") -> Any:
        """Return an array in the shape of another one, which has as many elements."""
        if has_shape(other):
            if x.shape == other.shape:
                return x
            if x.size != other.size:
                given, wanted = names.split()
                raise ArrayValueError(
                    f"[{type(self).__name__}] {given} has shape {x.shape} and {wanted} has shape "
                    f"{other.shape}; they must have equally many elements"
                )
        return _reshape_like(None, x, other)

    def _weighted(self, loss: Any, sample_weight: Any, factor: float = 1.0) -> Any:
        """Return the loss times the weights."""
        weight = factor if self._weight is None else self._weight * factor
        return _apply_weighting(None, loss, None if weight == 1.0 else weight, sample_weight)

    def _sample_mean(self, loss: Any) -> Any:
        """Return the mean over all axes but that of the batch."""
        return functions(loss).over_samples("mean", loss, self._batch_axis)

    def _finish(self, loss: Any, sample_weight: Any, factor: float = 1.0) -> Any:
        return self._sample_mean(self._weighted(loss, sample_weight, factor))


class L2Loss(Loss):
    """Half the square of the difference.

    >>> from afterglow import gluon, nd
    >>> gluon.loss.L2Loss()(nd.array([[1, 2]]), nd.array([[1, 4]]))
    <BLANKLINE>
    [1.]
    <NDArray 1 @cpu(0)>
    """

    def __init__(self, weight: float | None = 1.0, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return one number per sample."""
        loss = functions(pred).square(self._like(label, pred) - pred)
        return self._finish(loss, sample_weight, 0.5)


class L1Loss(Loss):
    """The absolute difference.

    >>> from afterglow import gluon, nd
    >>> gluon.loss.L1Loss()(nd.array([[1, 2]]), nd.array([[1, 4]]))
    <BLANKLINE>
    [1.]
    <NDArray 1 @cpu(0)>
    """

    def __init__(self, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return one number per sample."""
        return self._finish(abs(self._like(label, pred) - pred), sample_weight)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """The cross entropy of labels 0 and 1 with the sigmoid of a prediction.

    With ``from_sigmoid`` the prediction is a probability already. ``pos_weight`` is the weight of
    the label 1.

    >>> from afterglow import gluon, nd
    >>> gluon.loss.SigmoidBCELoss()(nd.array([[0]]), nd.array([[1]]))
    <BLANKLINE>
    [0.6931472]
    <NDArray 1 @cpu(0)>
    """

    def __init__(
        self,
        from_sigmoid: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(
        self, F: Any, pred: Any, label: Any, sample_weight: Any = None, pos_weight: Any = None
    ) -> Any:
        """Return one number per sample."""
        ops = functions(pred)
        label = self._like(label, pred)
        if self._from_sigmoid:
            tiny = 1e-12
            hit = ops.log(pred + tiny) * label
            if pos_weight is not None:
                hit = ops.multiply(hit, pos_weight)
            loss = -(hit + ops.log(1.0 - pred + tiny) * (1.0 - label))
        elif pos_weight is None:
            loss = _logistic(pred, label)
        else:
            weights = 1 + ops.multiply(pos_weight - 1, label)
            loss = pred - pred * label
            loss = loss + weights * (_softrelu(-abs(pred)) + ops.relu(-pred))
        return self._finish(loss, sample_weight)


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """The cross entropy of labels with the softmax of a prediction along an axis.

    Labels are classes, or probabilities with ``sparse_label=False``. With ``from_logits`` the
    prediction is a log-probability already.

    >>> from afterglow import gluon, nd
    >>> gluon.loss.SoftmaxCELoss()(nd.array([[0, 0]]), nd.array([1]))
    <BLANKLINE>
    [0.6931472]
    <NDArray 1 @cpu(0)>
    """

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return one number per sample."""
        ops = functions(pred)
        if not self._from_logits:
            pred = ops.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            if has_shape(pred):
                self._check_classes(pred.shape, label.shape, normal_axis(self._axis, pred.ndim))
            loss = -ops.pick_labels(pred, label, self._axis)
        else:
            product = pred * self._like(label, pred)
            loss = -ops.sum(product, axis=self._axis, keepdims=True)
        return self._finish(loss, sample_weight)

    def _check_classes(self, shape: Shape, labels: Shape, axis: int) -> None:
        """Refuse labels that are not one for each line along the axis."""
        lines = shape[:axis] + shape[axis + 1 :]
        kept = (*shape[:axis], 1, *shape[axis + 1 :])
        if labels in (lines, kept):
            return
        hint = "; probabilities of all classes need sparse_label=False" if labels == shape else ""
        raise ArrayValueError(
            f"[{type(self).__name__}] label has shape {labels} and pred has shape {shape}; with "
            f"one class per label along axis {axis} it must be {lines} or {kept}{hint}"
        )


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """The divergence of a predicted distribution from the one given, summed for each sample.

    The prediction is a log-probability, or anything without ``from_logits``.

    >>> from afterglow import gluon, nd
    >>> gluon.loss.KLDivLoss(from_logits=False)(nd.array([[0, 0]]), nd.array([[0.5, 0.5]]))
    <BLANKLINE>
    [0.]
    <NDArray 1 @cpu(0)>
    """

    def __init__(
        self,
        from_logits: bool = True,
        axis: int = -1,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._axis = axis

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return one number per sample."""
        ops = functions(pred)
        if not self._from_logits:
            pred = ops.log_softmax(pred, axis=self._axis)
        loss = self._weighted(label * (ops.log(label + 1e-12) - pred), sample_weight)
        return ops.over_samples("sum", loss, self._batch_axis)


class HuberLoss(Loss):
    """The absolute difference, but the square near zero: as smooth as L2, as robust as L1.

    >>> from afterglow import gluon, nd
    >>> gluon.loss.HuberLoss()(nd.array([[1, 1]]), nd.array([[1.5, 4]]))
    <BLANKLINE>
    [1.3125]
    <NDArray 1 @cpu(0)>
    """

    def __init__(
        self, rho: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return one number per sample."""
        size = abs(self._like(label, pred) - pred)
        rho = self._rho
        ops = functions(pred)
        loss = ops.where(size > rho, size - 0.5 * rho, ops.square(size) * (0.5 / rho))
        return self._finish(loss, sample_weight)


class HingeLoss(Loss):
    """How much prediction times label (-1 or 1) lacks of the margin.

    >>> from afterglow import gluon, nd
    >>> gluon.loss.HingeLoss()(nd.array([[0.5], [2]]), nd.array([[1], [1]]))
    <BLANKLINE>
    [0.5 0. ]
    <NDArray 2 @cpu(0)>
    """

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return one number per sample."""
        return self._finish(self._lack(pred, self._like(label, pred)), sample_weight)

    def _lack(self, pred: Any, label: Any) -> Any:
        return functions(pred).relu(self._margin - pred * label)


class SquaredHingeLoss(HingeLoss):
    """The square of what prediction times label (-1 or 1) lacks of the margin.

    >>> from afterglow import gluon, nd
    >>> gluon.loss.SquaredHingeLoss()(nd.array([[0.5], [2]]), nd.array([[1], [1]]))
    <BLANKLINE>
    [0.25 0.  ]
    <NDArray 2 @cpu(0)>
    """

    def _lack(self, pred: Any, label: Any) -> Any:
        return functions(pred).square(super()._lack(pred, label))


class LogisticLoss(Loss):
    """The cross entropy of labels -1 and 1 (or 0 and 1: "binary") with the sigmoid.

    >>> from afterglow import gluon, nd
    >>> gluon.loss.LogisticLoss()(nd.array([[0]]), nd.array([[-1]]))
    <BLANKLINE>
    [0.6931472]
    <NDArray 1 @cpu(0)>
    """

    def __init__(
        self,
        weight: float | None = None,
        batch_axis: int = 0,
        label_format: str = "signed",
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        if label_format not in ("signed", "binary"):
            raise ValueError(f"label_format can only be signed or binary, received {label_format}.")
        self._label_format = label_format

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return one number per sample."""
        label = self._like(label, pred)
        if self._label_format == "signed":
            label = (label + 1.0) * 0.5
        return self._finish(_logistic(pred, label), sample_weight)


class TripletLoss(Loss):
    """How much farther the positive sample is than the negative one, plus the margin.

    >>> from afterglow import gluon, nd
    >>> anchor, near, far = nd.array([[0]]), nd.array([[1]]), nd.array([[1.5]])
    >>> gluon.loss.TripletLoss()(anchor, near, far)
    <BLANKLINE>
    [0.]
    <NDArray 1 @cpu(0)>
    """

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(
        self, F: Any, pred: Any, positive: Any, negative: Any, sample_weight: Any = None
    ) -> Any:
        """Return one number per sample."""
        ops = functions(pred)
        near = ops.square(self._like(positive, pred, "positive pred") - pred)
        far = ops.square(self._like(negative, pred, "negative pred") - pred)
        distance = ops.over_samples("sum", near - far, self._batch_axis)
        return self._weighted(ops.relu(distance + self._margin), sample_weight)


class PoissonNLLLoss(Loss):
    """The negative log-likelihood of counts under a Poisson distribution; one number in all.

    The prediction is the logarithm of the rate, or the rate without ``from_logits``;
    ``compute_full`` adds Stirling's approximation of the term without the prediction.

    >>> from afterglow import gluon, nd
    >>> gluon.loss.PoissonNLLLoss()(nd.array([[0, 0]]), nd.array([[1, 2]]))
    <BLANKLINE>
    [1.]
    <NDArray 1 @cpu(0)>
    """

    def __init__(
        self,
        weight: float | None = None,
        from_logits: bool = True,
        batch_axis: int = 0,
        compute_full: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._compute_full = compute_full

    def hybrid_forward(
        self, F: Any, pred: Any, target: Any, sample_weight: Any = None, epsilon: float = 1e-8
    ) -> Any:
        """Return the mean."""
        ops = functions(pred)
        target = self._like(target, pred, "target pred")
        if self._from_logits:
            loss = ops.exp(pred) - target * pred
        else:
            loss = pred - target * ops.log(pred + epsilon)
        if self._compute_full:
            # The logarithm of 0 must not be taken, not even where it is not used.
            counts = ops.maximum(target, 1)
            stirling = counts * ops.log(counts) - counts + 0.5 * ops.log(2 * pi * counts)
            loss = loss + stirling * (target > 1)
        return ops.mean(self._weighted(loss, sample_weight))


class CosineEmbeddingLoss(Loss):
    """How far two vectors are from the same direction (label 1) or from different ones (-1).

    >>> from afterglow import gluon, nd
    >>> gluon.loss.CosineEmbeddingLoss()(nd.array([[1, 0]]), nd.array([[0, 1]]), nd.array([1]))
    <BLANKLINE>
    [[1.]]
    <NDArray 1x1 @cpu(0)>
    """

    def __init__(
        self, weight: float | None = None, batch_axis: int = 0, margin: float = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(
        self, F: Any, input1: Any, input2: Any, label: Any, sample_weight: Any = None
    ) -> Any:
        """Return one number per sample, in a column."""
        ops = functions(input1)
        input1 = self._like(input1, input2, "input1 input2")
        cosine = self._cosine(input1, input2)
        apart = ops.clip(cosine - self._margin, 0, 1 - self._margin)
        loss = ops.where(label.reshape((-1, 1)) == 1, 1 - cosine, apart)
        return self._weighted(loss, sample_weight)

    @staticmethod
    def _cosine(x: Any, y: Any) -> Any:
        """Return the cosines of the angles between the vectors along the last axis, in a column."""
        ops = functions(x)
        lengths = ops.sqrt(ops.sum(ops.square(x), axis=-1) * ops.sum(ops.square(y), axis=-1))
        cosine = ops.sum(x * y, axis=-1) / ops.maximum(lengths, 1e-12)
        return cosine.reshape((-1, 1))


class CTCLoss(Loss):
    """How unlikely a label sequence is, wherever in the prediction its items fall.

    ``layout`` says where in the prediction batch (N), time (T) and alphabet (C) are,
    ``label_layout`` the same for labels. The last letter of the alphabet is the blank, which
    separates items; labels are padded with -1.

    >>> from afterglow import gluon, nd
    >>> gluon.loss.CTCLoss()(nd.zeros((1, 2, 3)), nd.array([[1, -1]]))
    <BLANKLINE>
    [1.0986123]
    <NDArray 1 @cpu(0)>
    """

    def __init__(
        self,
        layout: str = "NTC",
        label_layout: str = "NT",
        weight: float | None = None,
        **kwargs: Any,
    ) -> None:
        assert layout in ("NTC", "TNC"), (
            f"Only 'NTC' and 'TNC' layouts for pred are supported. Got: {layout}"
        )
        assert label_layout in ("NT", "TN"), (
            f"Only 'NT' and 'TN' layouts for label are supported. Got: {label_layout}"
        )
        super().__init__(weight, label_layout.find("N"), **kwargs)
        self._layout = layout
        self._label_layout = label_layout

    def hybrid_forward(
        self,
        F: Any,
        pred: Any,
        label: Any,
        pred_lengths: Any = None,
        label_lengths: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        """Return one number per sample."""
        if self._layout == "NTC":
            pred = pred.swapaxes(0, 1)
        if self._label_layout == "TN":
            label = label.swapaxes(0, 1)
        lengths = {"data_lengths": pred_lengths, "label_lengths": label_lengths}
        given = {name: value for name, value in lengths.items() if value is not None}
        used = {f"use_{name}": True for name in given}
        loss = functions(pred).CTCLoss(pred, label, blank_label="last", **given, **used)
        return self._weighted(loss, sample_weight)


class SDMLLoss(Loss):
    """How far the vectors of a batch are from their partners, compared with all the others.

    Row by row the two inputs belong together. ``smoothing_parameter`` is the share of probability
    that all other rows of the batch have in common.

    >>> from afterglow import gluon, nd
    >>> x = nd.array([[0, 0], [3, 3]])
    >>> gluon.loss.SDMLLoss(smoothing_parameter=0.5)(x, x).shape
    (2,)
    """

    def __init__(
        self,
        smoothing_parameter: float = 0.3,
        weight: float | None = 1.0,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self.kl_loss = KLDivLoss(from_logits=True)
        self.smoothing_parameter = smoothing_parameter

    def hybrid_forward(self, F: Any, x1: Any, x2: Any) -> Any:
        """Return one number per sample."""
        if not has_shape(x1):
            raise ArrayNotImplementedError(
                "[SDMLLoss] needs arrays, as in MXNet: symbols do not tell how many rows there are"
            )
        if x1.ndim != 2 or x1.shape != x2.shape:
            raise ArrayValueError(
                f"[SDMLLoss] x1 has shape {x1.shape} and x2 has shape {x2.shape}; both must be "
                "(batch, width), and equal"
            )
        rows, width = x1.shape
        ops = functions(x1)
        apart = ops.square(x1._shaped((rows, 1, width)) - x2._shaped((1, rows, width)))
        likeness = ops.log_softmax(-ops.sum(apart, axis=2), axis=1)
        others = self.smoothing_parameter / (rows - 1)
        wanted = onp.full((rows, rows), others)
        onp.fill_diagonal(wanted, 1 - self.smoothing_parameter)
        labels = from_host(wanted, x1._context_numbers, x1._legacy, x1._dtype_number)
        return self.kl_loss(likeness, labels)
