# SPDX-License-Identifier: Apache-2.0
"""Recommendations: ratings of films by users, and advertisements that were clicked or not."""

from __future__ import annotations

import importlib
import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from afterglow import autograd, gluon, np
from afterglow.gluon.utils import split_and_load

from .._common import Accumulator, Timer, try_all_gpus
from .._figures import Animator
from . import downloads

__all__ = [
    "BPRLoss",
    "CTRDataset",
    "HingeLossbRec",
    "evaluate_ranking",
    "hit_and_auc",
    "load_data_ml100k",
    "read_data_ml100k",
    "split_and_load_ml100k",
    "split_data_ml100k",
    "train_ranking",
    "train_recsys_rating",
]


# --- ratings ---


def read_data_ml100k() -> tuple[Any, int, int]:
    """Return a table of pandas with 100 000 ratings, the number of users and that of films."""
    pandas = importlib.import_module("pandas")
    names = ["user_id", "item_id", "rating", "timestamp"]
    file = os.path.join(downloads.download_extract("ml-100k"), "u.data")
    data = pandas.read_csv(file, sep="\t", names=names, engine="python")
    return data, data.user_id.nunique(), data.item_id.nunique()


def split_data_ml100k(
    data: Any,
    num_users: int,
    num_items: int,
    split_mode: str = "random",
    test_ratio: float = 0.1,
) -> tuple[Any, Any]:
    """Return a table for training and one for testing.

    The latter has a random share, or with ``"seq-aware"`` the last rating of each user; then the
    former is in the order of users and times.
    """
    if split_mode == "seq-aware":
        ordered = data.sort_values(["user_id", "timestamp"], kind="stable")
        newest = ~ordered.duplicated("user_id", keep="last")
        return ordered[~newest], ordered[newest]
    test = numpy.random.uniform(0, 1, len(data)) < test_ratio
    return data[~test], data[test]


def load_data_ml100k(
    data: Any, num_users: int, num_items: int, feedback: str = "explicit"
) -> tuple[list[int], list[int], list[int], Any]:
    """Return users, films and ratings, and the same as a matrix of films by users.

    Where feedback is implicit, a rating is 1, and there is a list of films for each user instead.
    """
    users, items = (data[name].to_numpy() - 1 for name in ("user_id", "item_id"))
    explicit = feedback == "explicit"
    scores = data["rating"].to_numpy() if explicit else numpy.ones(len(data), int)
    interactions: Any
    if explicit:
        host = numpy.zeros((num_items, num_users), numpy.float32)
        host[items, users] = scores
        interactions = np.array(host)
    else:
        interactions = {}
        for user, item in zip(users.tolist(), items.tolist(), strict=True):
            interactions.setdefault(user, []).append(item)
    return users.tolist(), items.tolist(), scores.tolist(), interactions


def split_and_load_ml100k(
    split_mode: str = "seq-aware",
    feedback: str = "explicit",
    test_ratio: float = 0.1,
    batch_size: int = 256,
) -> tuple[int, int, gluon.data.DataLoader, gluon.data.DataLoader]:
    """Return the numbers of users and films, and batches for training and for testing."""
    data, users, items = read_data_ml100k()
    sets = [
        gluon.data.ArrayDataset(
            *(np.array(one) for one in load_data_ml100k(part, users, items, feedback)[:3])
        )
        for part in split_data_ml100k(data, users, items, split_mode, test_ratio)
    ]
    train = gluon.data.DataLoader(sets[0], batch_size, shuffle=True, last_batch="rollover")
    return users, items, train, gluon.data.DataLoader(sets[1], batch_size)


def _train_batch(
    values: Sequence[Any],
    devices: Sequence[Any],
    losses_of: Callable[[Sequence[Any]], Any],
    trainer: gluon.Trainer,
) -> float:
    """Take a step with a batch on several devices; return the mean loss."""
    parts = list(zip(*(split_and_load(value, devices) for value in values), strict=True))
    with autograd.record():
        losses = [losses_of(part) for part in parts]
    for loss in losses:
        loss.backward()
    trainer.step(values[0].shape[0])
    return float(sum(loss.mean().item() for loss in losses)) / len(losses)


def train_recsys_rating(
    net: Any,
    train_iter: Any,
    test_iter: Any,
    loss: Callable[..., Any],
    trainer: gluon.Trainer,
    num_epochs: int,
    devices: Sequence[Any] | None = None,
    evaluator: Any = None,
    **kwargs: Any,
) -> None:
    """Train a model of ratings and draw how it goes; ``inter_mat`` is given to the evaluator."""
    devices = try_all_gpus() if devices is None else devices

    def losses_of(part: Sequence[Any]) -> Any:
        inputs = part[:-1] or part  # a batch without ratings is to be made anew
        return loss(net(*inputs), part[-1])

    legend = ["train loss", "test RMSE"]
    animator = Animator(xlabel="epoch", xlim=[1, num_epochs], ylim=[0, 2], legend=legend)
    timer, metric, error, elements = Timer(), Accumulator(2), 0.0, 0
    for epoch in range(num_epochs):
        metric = Accumulator(2)
        for values in train_iter:
            timer.start()
            values = values if isinstance(values, (list, tuple)) else [values]
            metric.add(_train_batch(values, devices, losses_of, trainer), 1)
            elements += values[0].shape[0]
            timer.stop()
        error = evaluator(net, test_iter, *([kwargs["inter_mat"]] if kwargs else []), devices)
        animator.add(epoch + 1, (metric[0] / metric[1], error))
    print(f"train loss {metric[0] / metric[1]:.3f}, test RMSE {float(error):.3f}")
    print(f"{elements / timer.sum():.1f} examples/sec on {list(devices)}")


# --- rankings ---


class BPRLoss(gluon.loss.Loss):
    """Small where what a user likes is scored higher than what he was not seen to like."""

    def __init__(self, weight: Any = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def forward(self, positive: Any, negative: Any) -> Any:
        """Return minus the logarithm of the probability of that order."""
        return -np.log(1 / (1 + np.exp(negative - positive))).sum(0, keepdims=True)


class HingeLossbRec(gluon.loss.Loss):
    """0 where what a user likes is scored higher by a margin."""

    def __init__(self, weight: Any = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def forward(self, positive: Any, negative: Any, margin: float = 1) -> Any:
        """Return what is missing to the margin."""
        return np.maximum(negative - positive + margin, 0).sum()


def hit_and_auc(rankedlist: Sequence[int], test_matrix: Sequence[int], k: int) -> tuple[int, float]:
    """Return how many of the first ``k`` films are right, and the share behind the first right one.

    >>> from afterglow.books import d2l
    >>> d2l.hit_and_auc([3, 1, 4, 2, 5], [1, 9], 2)
    (1, 0.75)
    """
    right = set(test_matrix)
    places = [place for place, item in enumerate(rankedlist) if item in right]
    last = len(rankedlist) - 1
    return sum(place < k for place in places), (last - places[0]) / last if places else 0


def evaluate_ranking(
    net: Any,
    test_input: Any,
    seq: Any,
    candidates: Any,
    num_users: int,
    num_items: int,
    devices: Sequence[Any],
) -> tuple[Any, Any]:
    """Return the means of ``hit_and_auc`` over users, whose films are ranked by the model."""
    hits, areas = [], []
    for user in range(num_users):
        unseen = numpy.setdiff1d(numpy.arange(num_items), candidates[user])
        users = np.full((len(unseen),), user)
        inputs = [users, np.array(unseen)] if seq is None else [users, seq[users], np.array(unseen)]
        parts = zip(
            *(split_and_load(one, devices, even_split=False) for one in inputs), strict=True
        )
        scores = numpy.concatenate([net(*part).asnumpy().ravel() for part in parts])
        ranked = unseen[numpy.argsort(-scores, kind="stable")].tolist()
        hit, area = hit_and_auc(ranked, test_input[user], 50)
        hits.append(hit)
        areas.append(area)
    return np.array(hits).mean(), np.array(areas).mean()


def train_ranking(
    net: Any,
    train_iter: Any,
    test_iter: Any,
    loss: Callable[..., Any],
    trainer: gluon.Trainer,
    test_seq_iter: Any,
    num_users: int,
    num_items: int,
    num_epochs: int,
    devices: Sequence[Any],
    evaluator: Callable[..., tuple[Any, Any]],
    candidates: Any,
    eval_step: int = 1,
) -> None:
    """Train a model that ranks and draw how it goes; the last of a batch is what is not liked."""

    def losses_of(part: Sequence[Any]) -> Any:
        *inputs, positive, negative = part
        return loss(net(*inputs, positive), net(*inputs, negative))

    legend = ["test hit rate", "test AUC"]
    animator = Animator(xlabel="epoch", xlim=[1, num_epochs], ylim=[0, 1], legend=legend)
    timer, metric, elements = Timer(), Accumulator(2), 0
    hit_rate, area = 0.0, 0.0
    for epoch in range(num_epochs):
        metric = Accumulator(2)
        for values in train_iter:
            timer.start()
            metric.add(_train_batch(values, devices, losses_of, trainer), values[0].shape[0])
            elements += values[0].shape[0]
            timer.stop()
        if (epoch + 1) % eval_step == 0:
            hit_rate, area = evaluator(
                net, test_iter, test_seq_iter, candidates, num_users, num_items, devices
            )
            animator.add(epoch + 1, (hit_rate, area))
    print(
        f"train loss {metric[0] / metric[1]:.3f}, "
        f"test hit rate {float(hit_rate):.3f}, test AUC {float(area):.3f}"
    )
    print(f"{elements / timer.sum():.1f} examples/sec on {list(devices)}")


# --- advertisements ---


class CTRDataset(gluon.data.Dataset):
    """Rows of a table: whether an advertisement was clicked, and values of its features as text.

    Each value that is not rare has a number, all others of a feature have one more;
    features follow each other, so that one embedding is enough for all.
    """

    def __init__(
        self,
        data_path: str,
        feat_mapper: dict[int, dict[str, int]] | None = None,
        defaults: dict[int, int] | None = None,
        min_threshold: int = 4,
        num_feat: int = 34,
    ) -> None:
        with open(data_path, encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        rows = [row for row in rows if len(row) == num_feat + 1]
        if feat_mapper is None or defaults is None:
            counts = {i: Counter(row[i] for row in rows) for i in range(1, num_feat + 1)}
            common = {
                i: [value for value, count in counter.items() if count >= min_threshold]
                for i, counter in counts.items()
            }
            feat_mapper = {
                i: {value: number for number, value in enumerate(values)}
                for i, values in common.items()
            }
            defaults = {i: len(values) for i, values in common.items()}
        self.feat_mapper, self.defaults = feat_mapper, defaults
        dims = numpy.array([len(feat_mapper[i]) + 1 for i in range(1, num_feat + 1)])
        self.field_dims = np.array(dims, dtype=np.int64)
        self.offsets = np.array(numpy.concatenate([[0], dims.cumsum()[:-1]]))
        self._labels = [numpy.float32(row[0]) for row in rows]
        self._values = [
            [feat_mapper[i].get(row[i], defaults[i]) for i in range(1, num_feat + 1)]
            for row in rows
        ]

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, idx: int) -> tuple[Any, list[Any]]:
        return np.array(self._values[idx]) + self.offsets, [self._labels[idx]]
