# SPDX-License-Identifier: Apache-2.0
"""``mx.contrib.amp``: float16 where it is asked for, and losses scaled so that it does not hurt.

Results of float16 are computed in float32 and stored in 16 bits. Graphs are converted by
:func:`convert_model`, :func:`convert_hybrid_block` and :func:`convert_symbol`; blocks also by
``net.cast("float16")``. In training, gradients that float16 cannot hold are avoided by scaling the
loss:

>>> from afterglow import autograd, gluon, nd
>>> from afterglow.contrib import amp
>>> amp.init()
>>> net = gluon.nn.Dense(1, in_units=2, dtype="float16")
>>> net.initialize()
>>> trainer = gluon.Trainer(net.collect_params(), "sgd", {"multi_precision": True})
>>> amp.init_trainer(trainer)
>>> with autograd.record():
...     loss = net(nd.ones((4, 2), dtype="float16")).sum()
...     with amp.scale_loss(loss, trainer) as scaled:
...         autograd.backward(scaled)
>>> trainer.step(4)
"""

from __future__ import annotations

from . import amp, lists, loss_scaler
from .amp import *  # noqa: F403

__all__ = [*amp.__all__, "amp", "lists", "loss_scaler"]
