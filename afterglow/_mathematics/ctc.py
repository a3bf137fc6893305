# SPDX-License-Identifier: Apache-2.0
"""Connectionist temporal classification: how likely is a label sequence, wherever its items fall.

Between any two items of a label, and around them, a blank may stand; an item may last. The
probabilities of all ways through these states are added up forwards and backwards in logarithms,
for all samples of a batch at once, by NumPy on a worker.
"""

from __future__ import annotations

from typing import Any

import numpy as onp

from .._arrays.dtypes import FLOATING, TYPES
from .._arrays.worlds import WORLDS
from .._core import is_recording
from .._interoperation.host_calls import Host, Spec, declare_host
from ..error import ArrayNotImplementedError, ArrayTypeError, ArrayValueError
from .gradients import RecordedCall, Rule


def ctc_loss(data: Any, label: Any, data_lengths: Any, label_lengths: Any, blank_label: str) -> Any:
    """Return the loss of each sample.

    ``data`` has the shape (time, batch, alphabet), ``label`` (batch, items). Lengths may be
    missing: then all of the time counts, and labels end at the first padding.
    """
    arrays = data, label, data_lengths, label_lengths
    return _losses(*arrays, blank_label=blank_label, with_slopes=is_recording())[0]


def _infer(data: Spec, label: Spec, *lengths: Spec | None, with_slopes: bool, **_: Any) -> Any:
    shape, labels = data.shape, label.shape
    if len(shape) != 3 or len(labels) != 2 or shape[1] != labels[0]:
        raise ArrayValueError(
            f"[CTCLoss] got data of shape {shape} and labels of shape {labels}; they "
            "must be (time, batch, alphabet) and (batch, items)"
        )
    if data.dtype not in FLOATING:
        raise ArrayTypeError(f"[CTCLoss] needs floating data, not {TYPES[data.dtype].__name__}")
    batch = shape[1]
    for each in lengths:
        if each is not None and each.shape != (batch,):
            raise ArrayValueError(f"[CTCLoss] lengths of shape {each.shape} must be ({batch},)")
    losses = Spec((batch,), data.dtype)
    return [losses, data] if with_slopes else [losses]


def _gradient(c: RecordedCall, g: Any) -> Any:
    of_loss, of_gradient = g
    if of_gradient is not None:
        raise ArrayNotImplementedError("[CTCLoss] has no gradient of second order")
    slopes = c.output_at(1)
    weights = of_loss._shaped((1, slopes.shape[1], 1))
    return slopes * WORLDS[c.legacy].copy(weights, shape=slopes.shape)


@declare_host("CTCLoss", infer=_infer, gradient=[Rule(_gradient, output=True), None])
def _losses(
    data: Host,
    label: Host,
    data_lengths: Host | None = None,
    label_lengths: Host | None = None,
    *,
    blank_label: str = "first",
    with_slopes: bool = False,
) -> list[Host]:
    """Return the loss of each sample, and the slopes of the losses for those who need them."""
    alignment = _Alignment(data, label, data_lengths, label_lengths, blank_label == "first")
    return [alignment.loss, alignment.gradient()] if with_slopes else [alignment.loss]


def _log_softmax(x: Host) -> Host:
    shifted = x - x.max(-1, keepdims=True)
    result: Host = shifted - onp.log(onp.exp(shifted).sum(-1, keepdims=True))
    return result


class _Alignment:
    """One batch: the states of every label, and the ways through them."""

    def __init__(
        self,
        data: Host,
        label: Host,
        data_lengths: Host | None,
        label_lengths: Host | None,
        blank_first: bool,
    ) -> None:
        steps, batch, alphabet = data.shape
        self._log = _log_softmax(data.astype(onp.float64))
        labels = label.astype(onp.int64)
        items = labels.shape[1]
        padding, blank = (0, 0) if blank_first else (-1, alphabet - 1)
        if label_lengths is None:
            ended = onp.concatenate([labels <= padding, onp.ones((batch, 1), bool)], 1)
            lengths = ended.argmax(1)
        else:
            lengths = label_lengths.astype(onp.int64)
        times = onp.full(batch, steps) if data_lengths is None else data_lengths.astype(onp.int64)
        if (lengths > items).any() or (times > steps).any() or (times < 1).any():
            raise ValueError("a length is greater than the array, or none")
        counted = onp.arange(items) < lengths[:, None]
        if ((labels < 0) | (labels >= alphabet))[counted].any():
            raise ValueError(f"a label is not in the alphabet of {alphabet}")
        self._states = onp.full((batch, 2 * items + 1), blank)
        self._states[:, 1::2] = onp.where(counted, labels, blank)
        # From an item to the next one without a blank, unless they are equal.
        self._skips = onp.zeros(self._states.shape, bool)
        self._skips[:, 3::2] = self._states[:, 3::2] != self._states[:, 1:-2:2]
        self._emitted = onp.take_along_axis(self._log, self._states[None], 2)
        # The last states of a label: its last item, and the blank after it.
        self._last = onp.zeros(self._states.shape, bool)
        rows = onp.arange(batch)
        self._last[rows, 2 * lengths] = True
        self._last[rows, onp.maximum(2 * lengths - 1, 0)] = True
        self._times = times
        self._forward = self._ways_to()
        ends = self._forward[times - 1, rows]
        self._likelihood = _logsumexp(onp.where(self._last, ends, -onp.inf))
        #: A label that no way leads to counts for nothing.
        self.loss = onp.where(onp.isfinite(self._likelihood), -self._likelihood, 0.0)

    def _ways_to(self) -> Host:
        """Return, for each time and state, the logarithm of all ways that lead there."""
        ways = onp.full(self._emitted.shape, -onp.inf)
        ways[0, :, :2] = self._emitted[0, :, :2]
        for time in range(1, len(ways)):
            ways[time] = self._emitted[time] + self._step(ways[time - 1], self._skips)
        return ways

    def _ways_from(self) -> Host:
        """Return, for each time and state, the logarithm of all ways on from there."""
        ways = onp.full(self._emitted.shape, -onp.inf)
        skips = self._skips[:, ::-1]
        skips = onp.concatenate([skips[:, -2:], skips[:, :-2]], 1)  # from where, not to where
        onward = onp.full(self._states.shape, -onp.inf)
        for time in reversed(range(len(ways))):
            if time + 1 < len(ways):
                after = ways[time + 1] + self._emitted[time + 1]
                onward = self._step(after[:, ::-1], skips)[:, ::-1]
            left = (self._times - 1 - time)[:, None]
            at_end, inside = (left == 0) & self._last, left > 0
            ways[time] = onp.where(at_end, 0.0, onp.where(inside, onward, -onp.inf))
        return ways

    @staticmethod
    def _step(ways: Host, skips: Host) -> Host:
        """Stay in a state, come from the one before, or from the one before that."""
        from_before, from_item = onp.full((2, *ways.shape), -onp.inf)
        from_before[:, 1:] = ways[:, :-1]
        from_item[:, 2:] = onp.where(skips[:, 2:], ways[:, :-2], -onp.inf)
        result: Host = onp.logaddexp(onp.logaddexp(ways, from_before), from_item)
        return result

    def gradient(self) -> Host:
        """Return the gradient of the losses: what was emitted less what should have been."""
        found = onp.isfinite(self._likelihood)
        likelihood = onp.where(found, self._likelihood, 0.0)[:, None]
        share = onp.exp(self._forward + self._ways_from() - likelihood)
        counts = (onp.arange(len(share))[:, None] < self._times) & found
        result: Host = onp.exp(self._log)
        rows = onp.arange(share.shape[1])
        for state in range(share.shape[2]):
            result[:, rows, self._states[:, state]] -= share[:, :, state]
        return result * counts[:, :, None]


def _logsumexp(x: Host) -> Host:
    top = x.max(-1)
    safe = onp.where(onp.isfinite(top), top, 0.0)
    with onp.errstate(divide="ignore"):
        result: Host = safe + onp.log(onp.exp(x - safe[:, None]).sum(-1))
    return result
