# SPDX-License-Identifier: Apache-2.0
"""Tables: prices of houses, checked on parts that were left out, and ratings of films."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon
from mxnet.gluon import nn
from mxnet.gluon.data import ArrayDataset, DataLoader

from . import data
from .training import STEPS, ByName, Outcome, array, first, fit, number

Host = onp.ndarray[Any, Any]


def features_of(path: Path) -> tuple[Host, Host]:
    """Return what is known of houses, numbers standardised and texts as indicators, and prices."""
    with path.open() as file:
        rows = list(csv.DictReader(file))
    columns = []
    for name in ("Area", "Rooms", "Year"):
        column = onp.array([onp.nan if row[name] == "NA" else float(row[name]) for row in rows])
        column = (column - onp.nanmean(column)) / onp.nanstd(column)
        columns.append(onp.nan_to_num(column))
    for street in sorted({row["Street"] for row in rows}):
        columns.append(onp.array([float(row["Street"] == street) for row in rows]))
    prices = onp.array([float(row["SalePrice"]) for row in rows])
    return onp.stack(columns, 1), prices.reshape(-1, 1) / 1e5


def houses(folder: Path, hybridize: bool) -> Outcome:
    """A linear model and five parts of the data, each of which is left out once.

    The score is 1 less the error of the logarithm of prices.
    """
    data.houses(folder)
    features, prices = features_of(folder / "houses.csv")
    losses, errors = [], []
    for part in range(5):
        left_out = onp.arange(len(prices)) % 5 == part
        net = nn.HybridSequential()
        net.add(nn.Dense(1))
        net.initialize(ByName())
        if hybridize:
            net.hybridize()
        train = ArrayDataset(array(features[~left_out]), array(prices[~left_out]))
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.3, "wd": 1e-4})
        batches = DataLoader(train, 16, last_batch="rollover")
        losses += fit(net, gluon.loss.L2Loss(), trainer, batches, STEPS // 5)
        told = net(array(features[left_out])).asnumpy().clip(0.1)
        errors.append(onp.sqrt(((onp.log(told) - onp.log(prices[left_out])) ** 2).mean()))
    return Outcome(losses, 1 - float(onp.mean(errors)))


class Factors(nn.HybridBlock):
    """Rates a film by a user: the product of their vectors and how each of them is inclined."""

    def __init__(self, users: int, films: int, units: int) -> None:
        super().__init__()
        self.user, self.film = nn.Embedding(users, units), nn.Embedding(films, units)
        self.user_inclined, self.film_inclined = nn.Embedding(users, 1), nn.Embedding(films, 1)

    def hybrid_forward(self, F: Any, user: Any, film: Any) -> Any:
        product = (self.user(user) * self.film(film)).sum(axis=1, keepdims=True)
        return product + self.user_inclined(user) + self.film_inclined(film) + 3


def ratings(folder: Path, hybridize: bool) -> Outcome:
    """Factors of a matrix of ratings, with gradients of the rows that were looked at."""
    data.ratings(folder)
    table = onp.loadtxt(folder / "u.data", dtype="float32")
    users, films = (table[:, column].astype("int32") - 1 for column in (0, 1))
    net = Factors(30, 40, 6)
    net.initialize(ByName(scale=0.5))
    if hybridize:
        net.hybridize()
    loss = gluon.loss.L2Loss()
    trainer = gluon.Trainer(net.collect_params(), "adagrad", {"learning_rate": 0.2, "wd": 1e-5})
    columns = (array(users, "int32"), array(films, "int32"), array(table[:, 2:3]))
    error = mx.metric.RMSE()
    losses = []
    for user, film, rating in first(STEPS, DataLoader(ArrayDataset(*columns), 100)):
        with autograd.record():
            value = loss(net(user, film), rating).mean()
        value.backward()
        trainer.step(1)
        losses.append(number(value))
    told, rated = net(*columns[:2]).asnumpy(), columns[2].asnumpy()
    error.update([mx.nd.array(rated)], [mx.nd.array(told)])
    return Outcome(losses, 1 - error.get()[1] / float(rated.std()))
