# SPDX-License-Identifier: Apache-2.0
"""Reviews of films, and whether they are kind."""

from __future__ import annotations

import os
import random
import tarfile
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from afterglow import nd
from afterglow.contrib.text.vocab import Vocabulary
from afterglow.gluon import utils

from .._common import try_gpu

__all__ = [
    "count_tokens",
    "download_imdb",
    "get_tokenized_imdb",
    "get_vocab_imdb",
    "predict_sentiment",
    "preprocess_imdb",
    "read_imdb",
]

_DATA = os.path.join("..", "data")
_IMDB = "http://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz"
_PADDING = "<pad>"
#: Reviews are cut, or padded, to so many words.
_LENGTH = 500


def count_tokens(samples: Iterable[Iterable[str]]) -> Counter[str]:
    """Return how often each word is in the samples."""
    return Counter(token for sample in samples for token in sample)


def download_imdb(data_dir: str = _DATA) -> None:
    """Fetch the reviews and unpack them."""
    archive = utils.download(_IMDB, data_dir, sha1_hash="01ada507287d82875905620988597833ad4e0903")
    with tarfile.open(archive) as members:
        members.extractall(data_dir, filter="data")


def read_imdb(folder: str = "train") -> list[list[Any]]:
    """Return reviews in random order, each with 1 for a kind one and 0 for another."""
    data = []
    for label, name in enumerate(("neg", "pos")):
        place = os.path.join(_DATA, "aclImdb", folder, name)
        for entry in os.listdir(place):
            with open(os.path.join(place, entry), encoding="utf-8") as file:
                data.append([file.read().replace("\n", "").lower(), label])
    random.shuffle(data)
    return data


def get_tokenized_imdb(data: Iterable[Sequence[Any]]) -> list[list[str]]:
    """Return the words of each review."""
    return [review.lower().split(" ") for review, _ in data]


def get_vocab_imdb(data: Iterable[Sequence[Any]]) -> Vocabulary:
    """Return the words that are there five times or more, and one to pad reviews with."""
    counter = count_tokens(get_tokenized_imdb(data))
    return Vocabulary(counter, min_freq=5, reserved_tokens=[_PADDING])


def preprocess_imdb(data: Sequence[Sequence[Any]], vocab: Vocabulary) -> tuple[Any, Any]:
    """Return reviews as rows of numbers of words, all of one length, and their labels."""
    padding = [vocab.token_to_idx[_PADDING]] * _LENGTH
    rows = [(vocab.to_indices(words) + padding)[:_LENGTH] for words in get_tokenized_imdb(data)]
    return nd.array(rows), nd.array([label for _, label in data])


def predict_sentiment(net: Any, vocab: Vocabulary, sentence: Sequence[str]) -> str:
    """Return what a network thinks of a list of words."""
    words = nd.array([vocab.to_indices(sentence)], ctx=try_gpu())
    return "positive" if net(words).argmax(axis=1).asscalar() == 1 else "negative"
