# SPDX-License-Identifier: Apache-2.0
"""``mx.rnn``: recurrent cells made of symbols, their checkpoints, and sentences in buckets.

Gluon has cells of its own (:mod:`afterglow.gluon.rnn`); these belong to ``mx.sym`` and ``mx.mod``.
"""

from __future__ import annotations

from .._package.namespace import tend
from . import io, rnn, rnn_cell
from .io import BucketSentenceIter, encode_sentences
from .rnn import do_rnn_checkpoint, load_rnn_checkpoint, rnn_unroll, save_rnn_checkpoint
from .rnn_cell import *  # noqa: F403

__all__ = [
    *rnn_cell.__all__,
    "BucketSentenceIter",
    "do_rnn_checkpoint",
    "encode_sentences",
    "io",
    "load_rnn_checkpoint",
    "rnn",
    "rnn_cell",
    "rnn_unroll",
    "save_rnn_checkpoint",
]

tend(__name__)
