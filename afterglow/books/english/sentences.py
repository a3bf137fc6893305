# SPDX-License-Identifier: Apache-2.0
"""Reviews of films, and pairs of sentences of which one may follow from the other."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from afterglow import gluon, np
from afterglow.gluon.utils import split_and_load

from .._common import get_dataloader_workers, load_array, try_gpu
from . import downloads
from .text import Vocab, tokenize, truncate_pad

__all__ = [
    "SNLIDataset",
    "load_data_imdb",
    "load_data_snli",
    "predict_sentiment",
    "predict_snli",
    "read_imdb",
    "read_snli",
    "split_batch_multi_inputs",
]


# --- reviews ---


def read_imdb(data_dir: str, is_train: bool) -> tuple[list[str], list[int]]:
    """Return reviews, and 1 for each that praises."""
    texts: list[str] = []
    labels: list[int] = []
    for number, kind in ((1, "pos"), (0, "neg")):
        folder = os.path.join(data_dir, "train" if is_train else "test", kind)
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                texts.append(file.read().replace("\n", ""))
            labels.append(number)
    return texts, labels


def load_data_imdb(
    batch_size: int, num_steps: int = 500
) -> tuple[gluon.data.DataLoader, gluon.data.DataLoader, Vocab]:
    """Return batches for training and for testing, and the vocabulary."""
    folder = downloads.download_extract("aclImdb", "aclImdb")
    parts = [read_imdb(folder, is_train) for is_train in (True, False)]
    tokens = [tokenize(texts) for texts, _ in parts]
    vocab = Vocab(tokens[0], min_freq=5)
    train, test = (
        load_array(
            (
                np.array([truncate_pad(vocab[one], num_steps, vocab["<pad>"]) for one in texts]),
                np.array(labels),
            ),
            batch_size,
            is_train,
        )
        for texts, (_, labels), is_train in zip(tokens, parts, (True, False), strict=True)
    )
    return train, test, vocab


def predict_sentiment(net: Any, vocab: Vocab, sequence: str) -> str:
    """Return "positive" or "negative"."""
    words = np.array(vocab[sequence.split()], ctx=try_gpu())
    label = net(words.reshape((1, -1))).argmax(axis=1).item()
    return "positive" if label == 1 else "negative"


# --- pairs of sentences ---

_RELATIONS = ("entailment", "contradiction", "neutral")


def read_snli(data_dir: str, is_train: bool) -> tuple[list[str], list[str], list[int]]:
    """Return premises, hypotheses, and whether they follow (0), contradict (1) or neither (2)."""
    name = "snli_1.0_train.txt" if is_train else "snli_1.0_test.txt"
    with open(os.path.join(data_dir, name), encoding="utf-8") as file:
        _, *rows = (line.split("\t") for line in file)

    def words(text: str) -> str:
        return re.sub(r"\s{2,}", " ", re.sub("[()]", "", text)).strip()

    rows = [row for row in rows if row[0] in _RELATIONS]
    premises, hypotheses = ([words(row[column]) for row in rows] for column in (1, 2))
    return premises, hypotheses, [_RELATIONS.index(row[0]) for row in rows]


class SNLIDataset(gluon.data.Dataset):
    """Pairs of sentences and what they are to each other."""

    def __init__(
        self,
        dataset: Sequence[Sequence[Any]],
        num_steps: int,
        vocab: Vocab | None = None,
    ) -> None:
        self.num_steps = num_steps
        premises, hypotheses, labels = tokenize(dataset[0]), tokenize(dataset[1]), dataset[2]
        self.vocab = vocab or Vocab(premises + hypotheses, min_freq=5, reserved_tokens=["<pad>"])
        self.premises, self.hypotheses = self._pad(premises), self._pad(hypotheses)
        self.labels = np.array(labels)
        print(f"read {len(self.premises)} examples")

    def _pad(self, lines: Sequence[Sequence[str]]) -> Any:
        padding = self.vocab["<pad>"]
        return np.array(
            [truncate_pad(self.vocab[list(line)], self.num_steps, padding) for line in lines]
        )

    def __getitem__(self, idx: int) -> tuple[tuple[Any, Any], Any]:
        return (self.premises[idx], self.hypotheses[idx]), self.labels[idx]

    def __len__(self) -> int:
        return len(self.premises)


def load_data_snli(
    batch_size: int, num_steps: int = 50
) -> tuple[gluon.data.DataLoader, gluon.data.DataLoader, Vocab]:
    """Return batches for training and for testing, and the vocabulary."""
    folder = downloads.download_extract("SNLI")
    train = SNLIDataset(read_snli(folder, True), num_steps)
    test = SNLIDataset(read_snli(folder, False), num_steps, train.vocab)
    workers = get_dataloader_workers()
    return (
        gluon.data.DataLoader(train, batch_size, shuffle=True, num_workers=workers),
        gluon.data.DataLoader(test, batch_size, shuffle=False, num_workers=workers),
        train.vocab,
    )


def split_batch_multi_inputs(X: Any, y: Any, devices: Sequence[Any]) -> tuple[Any, Any]:
    """Return the parts of a batch with several inputs on several devices."""
    inputs = [split_and_load(one, devices, even_split=False) for one in X]
    return list(zip(*inputs, strict=True)), split_and_load(y, devices, even_split=False)


def predict_snli(net: Any, vocab: Vocab, premise: Sequence[str], hypothesis: Sequence[str]) -> str:
    """Return what a hypothesis is to a premise."""
    rows = [np.array([vocab[list(words)]], ctx=try_gpu()) for words in (premise, hypothesis)]
    return _RELATIONS[int(net(rows).argmax(axis=1).item())]
