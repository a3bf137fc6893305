# SPDX-License-Identifier: Apache-2.0
"""``gluon.contrib.estimator``: a training loop with handlers of its events.

>>> from afterglow import gluon, nd
>>> from afterglow.gluon.contrib.estimator import Estimator
>>> net = gluon.nn.Dense(1)
>>> net.initialize()
>>> trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
>>> rows = gluon.data.ArrayDataset(nd.ones((8, 2)), nd.ones((8, 1)))
>>> estimator = Estimator(net, gluon.loss.L2Loss(), trainer=trainer)
>>> estimator.logger.setLevel("WARNING")
>>> estimator.fit(gluon.data.DataLoader(rows, batch_size=4), epochs=20)
>>> abs(float(net(nd.ones((1, 2)))) - 1) < 0.01
True
"""

from __future__ import annotations

from . import batch_processor, estimator, event_handler
from .batch_processor import BatchProcessor
from .estimator import Estimator
from .event_handler import *  # noqa: F403

__all__ = [
    *event_handler.__all__,
    "BatchProcessor",
    "Estimator",
    "batch_processor",
    "estimator",
    "event_handler",
]
