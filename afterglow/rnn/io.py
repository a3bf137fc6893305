# SPDX-License-Identifier: Apache-2.0
"""Sentences as numbers, and batches of sentences of about the same length."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as onp

from .. import ndarray as nd
from ..error import ArrayValueError
from ..io import DataBatch, DataDesc, DataIter

__all__ = ["BucketSentenceIter", "encode_sentences"]


def encode_sentences(
    sentences: Iterable[Sequence[str]],
    vocab: dict[str, int] | None = None,
    invalid_label: int = -1,
    invalid_key: str = "\n",
    start_label: int = 0,
    unknown_token: str | None = None,
) -> tuple[list[list[int]], dict[str, int]]:
    r"""Return sentences as numbers of their words, and the numbers of words.

    Without ``vocab`` all words are counted up from ``start_label``, and ``invalid_key`` has
    ``invalid_label``. With it, words that it lacks count as ``unknown_token``.

    >>> from afterglow import rnn
    >>> rnn.encode_sentences([["a", "b"], ["b", "c"]])
    ([[0, 1], [1, 2]], {'\n': -1, 'a': 0, 'b': 1, 'c': 2})
    """
    is_new = vocab is None
    known = {invalid_key: invalid_label} if vocab is None else vocab
    following = start_label
    encoded = []
    for sentence in sentences:
        numbers = []
        for word in sentence:
            if word not in known:
                assert is_new or unknown_token, f"Unknown token {word}"
                word = unknown_token or word
            if word not in known:
                following += following == invalid_label
                known[word] = following
                following += 1
            numbers.append(known[word])
        encoded.append(numbers)
    return encoded, known


class BucketSentenceIter(DataIter):
    """Batches of sentences for a language model; the label of each word is the next one.

    Sentences are put into buckets by their lengths, and filled up with ``invalid_label``. Without
    ``buckets`` there is one for every length of at least ``batch_size`` sentences.

    >>> from afterglow import rnn
    >>> batches = rnn.BucketSentenceIter([[1, 2, 3], [4, 5]], batch_size=2, buckets=[3])
    >>> batch = next(batches)
    >>> batch.bucket_key, batch.data[0].shape
    (3, (2, 3))
    """

    def __init__(
        self,
        sentences: Sequence[Sequence[int]],
        batch_size: int,
        buckets: Sequence[int] | None = None,
        invalid_label: int = -1,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: Any = "float32",
        layout: str = "NT",
    ) -> None:
        super().__init__(batch_size)
        if layout not in ("NT", "TN"):
            raise ArrayValueError(
                f"Invalid layout {layout}: Must by NT (batch major) or TN (time major)"
            )
        if not buckets:
            counts = onp.bincount([len(sentence) for sentence in sentences])
            buckets = [length for length, count in enumerate(counts) if count >= batch_size]
        rows: dict[int, list[Any]] = {length: [] for length in sorted(buckets)}
        lengths = list(rows)
        discarded = 0
        for sentence in sentences:
            place = bisect_left(lengths, len(sentence))
            if place == len(lengths):
                discarded += 1
                continue
            row = onp.full((lengths[place],), invalid_label, dtype=dtype)
            row[: len(sentence)] = sentence
            rows[lengths[place]].append(row)
        if discarded:
            print(
                f"WARNING: discarded {discarded} sentences longer than the largest bucket.",
                flush=True,
            )
        self.buckets = [length for length, ones in rows.items() if ones]
        if not self.buckets:
            raise ArrayValueError(
                f"[BucketSentenceIter] no bucket has a sentence: there are {len(sentences)} "
                f"sentences, buckets {lengths}, and batches of {batch_size}"
            )
        self.data = [onp.asarray(rows[length], dtype=dtype) for length in self.buckets]
        self.data_name = data_name
        self.label_name = label_name
        self.dtype = dtype
        self.invalid_label = invalid_label
        self.layout = layout
        self.major_axis = layout.find("N")
        self.default_bucket_key = max(self.buckets)
        shape = self._arranged((batch_size, self.default_bucket_key))
        self.provide_data = [DataDesc(data_name, shape, layout=layout)]
        self.provide_label = [DataDesc(label_name, shape, layout=layout)]
        self.idx = [
            (bucket, first)
            for bucket, ones in enumerate(self.data)
            for first in range(0, len(ones) - batch_size + 1, batch_size)
        ]
        self.reset()

    def _arranged(self, shape: tuple[int, int]) -> tuple[int, int]:
        return shape if self.major_axis == 0 else (shape[1], shape[0])

    def reset(self) -> None:
        """Begin again, with batches and sentences in another order."""
        self.curr_idx = 0
        random.shuffle(self.idx)
        self.nddata, self.ndlabel = [], []
        for ones in self.data:
            onp.random.shuffle(ones)
            labels = onp.full_like(ones, self.invalid_label)
            labels[:, :-1] = ones[:, 1:]
            self.nddata.append(nd.array(ones, dtype=self.dtype))
            self.ndlabel.append(nd.array(labels, dtype=self.dtype))

    def next(self) -> DataBatch:
        """Return the next batch."""
        if self.curr_idx == len(self.idx):
            raise StopIteration
        bucket, first = self.idx[self.curr_idx]
        self.curr_idx += 1
        rows = slice(first, first + self.batch_size)
        data, label = self.nddata[bucket][rows], self.ndlabel[bucket][rows]
        if self.major_axis == 1:
            data, label = data.T, label.T
        return DataBatch(
            [data],
            [label],
            pad=0,
            bucket_key=self.buckets[bucket],
            provide_data=[DataDesc(self.data_name, data.shape, layout=self.layout)],
            provide_label=[DataDesc(self.label_name, label.shape, layout=self.layout)],
        )
