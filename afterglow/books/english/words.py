# SPDX-License-Identifier: Apache-2.0
"""Vectors for words: pairs of words that stand together, and vectors that others have learned."""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from afterglow import gluon, np

from .._common import get_dataloader_workers
from . import downloads
from .text import Vocab, count_corpus

__all__ = [
    "RandomGenerator",
    "TokenEmbedding",
    "batchify",
    "get_centers_and_contexts",
    "get_negatives",
    "load_data_ptb",
    "read_ptb",
    "subsample",
]


def read_ptb() -> list[list[str]]:
    """Return sentences of newspapers as lists of words."""
    folder = downloads.download_extract("ptb")
    with open(os.path.join(folder, "ptb.train.txt"), encoding="utf-8") as file:
        return [line.split() for line in file.read().split("\n")]


def subsample(
    sentences: Sequence[Sequence[str]], vocab: Vocab
) -> tuple[list[list[str]], Counter[str]]:
    """Return sentences without unknown words, and with few of the frequent ones; and the counts."""
    known = [[word for word in line if vocab[word] != vocab.unk] for line in sentences]
    counter = count_corpus([word for line in known for word in line])
    total = counter.total()

    def kept(word: str) -> bool:
        return random.random() < math.sqrt(1e-4 / counter[word] * total)

    return [[word for word in line if kept(word)] for line in known], counter


def get_centers_and_contexts(
    corpus: Sequence[Sequence[int]], max_window_size: int
) -> tuple[list[int], list[list[int]]]:
    """Return the words of all sentences, and for each those at most a random distance away."""
    centers: list[int] = []
    contexts: list[list[int]] = []
    for line in corpus:
        if len(line) < 2:
            continue
        for place, word in enumerate(line):
            reach = random.randint(1, max_window_size)
            before, after = line[max(0, place - reach) : place], line[place + 1 : place + 1 + reach]
            centers.append(word)
            contexts.append([*before, *after])
    return centers, contexts


class RandomGenerator:
    """Draws from 1 to n with given weights."""

    def __init__(self, sampling_weights: Sequence[float]) -> None:
        self.population = list(range(1, len(sampling_weights) + 1))
        self.sampling_weights = sampling_weights
        self.candidates: list[int] = []

    def draw(self) -> int:
        """Return the next number; ten thousand are drawn at once."""
        if not self.candidates:
            self.candidates = random.choices(self.population, self.sampling_weights, k=10000)
        return self.candidates.pop()


def get_negatives(
    all_contexts: Sequence[Sequence[int]], vocab: Vocab, counter: Counter[str], K: int
) -> list[list[int]]:
    """Return ``K`` random words for each word of each context, none of which is in the context."""
    weights = [counter[vocab.to_tokens(number)] ** 0.75 for number in range(1, len(vocab))]
    generator = RandomGenerator(weights)
    negatives = []
    for context in all_contexts:
        drawn: list[int] = []
        while len(drawn) < len(context) * K:
            word = generator.draw()
            if word not in context:
                drawn.append(word)
        negatives.append(drawn)
    return negatives


def batchify(data: Sequence[tuple[int, list[int], list[int]]]) -> tuple[Any, Any, Any, Any]:
    """Return centres, contexts with negative words, a mask of what is no padding, and labels."""
    longest = max(len(context) + len(negative) for _, context, negative in data)
    centers, rows, masks, labels = [], [], [], []
    for center, context, negative in data:
        used = len(context) + len(negative)
        centers.append([center])
        rows.append([*context, *negative, *[0] * (longest - used)])
        masks.append([1] * used + [0] * (longest - used))
        labels.append([1] * len(context) + [0] * (longest - len(context)))
    return np.array(centers), np.array(rows), np.array(masks), np.array(labels)


def load_data_ptb(
    batch_size: int, max_window_size: int, num_noise_words: int
) -> tuple[gluon.data.DataLoader, Vocab]:
    """Return batches of ``batchify``, and the vocabulary."""
    sentences = read_ptb()
    vocab = Vocab(sentences, min_freq=10)
    subsampled, counter = subsample(sentences, vocab)
    centers, contexts = get_centers_and_contexts(
        [vocab[line] for line in subsampled], max_window_size
    )
    negatives = get_negatives(contexts, vocab, counter, num_noise_words)
    samples = gluon.data.SimpleDataset(list(zip(centers, contexts, negatives, strict=True)))
    loader = gluon.data.DataLoader(
        samples,
        batch_size,
        shuffle=True,
        batchify_fn=batchify,
        num_workers=get_dataloader_workers(),
    )
    return loader, vocab


class TokenEmbedding:
    """Vectors of words that others have learned; that of unknown words is 0."""

    def __init__(self, embedding_name: str) -> None:
        self.idx_to_token, self.idx_to_vec = self._load_embedding(embedding_name)
        self.unknown_idx = 0
        self.token_to_idx = {token: index for index, token in enumerate(self.idx_to_token)}

    def _load_embedding(self, embedding_name: str) -> tuple[list[str], Any]:
        tokens, vectors = ["<unk>"], []
        folder = downloads.download_extract(embedding_name)
        with open(os.path.join(folder, "vec.txt"), encoding="utf-8") as file:
            for line in file:
                token, *numbers = line.rstrip().split(" ")
                if len(numbers) > 1:  # the first line of some files tells how many there are
                    tokens.append(token)
                    vectors.append([float(number) for number in numbers])
        return tokens, np.array([[0.0] * len(vectors[0]), *vectors])

    def __getitem__(self, tokens: Sequence[str]) -> Any:
        return self.idx_to_vec[
            np.array([self.token_to_idx.get(token, self.unknown_idx) for token in tokens])
        ]

    def __len__(self) -> int:
        return len(self.idx_to_token)
