# SPDX-License-Identifier: Apache-2.0
"""Text: tokens, vocabularies, *The Time Machine*, pairs of English and French sentences."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from afterglow import gluon, np

from .._common import load_array
from .._figures import pyplot, set_figsize
from .._modules import DataModule
from . import downloads

__all__ = [
    "MTFraEng",
    "SeqDataLoader",
    "TimeMachine",
    "Vocab",
    "build_array_nmt",
    "count_corpus",
    "load_corpus_time_machine",
    "load_data_nmt",
    "load_data_time_machine",
    "preprocess_nmt",
    "read_data_nmt",
    "read_time_machine",
    "seq_data_iter_random",
    "seq_data_iter_sequential",
    "show_list_len_pair_hist",
    "tokenize",
    "tokenize_nmt",
    "truncate_pad",
]


def tokenize(lines: Sequence[str], token: str = "word") -> list[list[str]]:
    """Split lines into words or characters."""
    if token not in ("word", "char"):
        raise ValueError(f"a token is a 'word' or a 'char', but got {token!r}")
    return [line.split() if token == "word" else list(line) for line in lines]


def count_corpus(tokens: Sequence[Any]) -> Counter[Any]:
    """Count tokens of a list, or of lists in a list."""
    if tokens and isinstance(tokens[0], list):
        tokens = [token for line in tokens for token in line]
    return Counter(tokens)


class Vocab:
    """Numbers for tokens: 0 is for unknown ones, then come reserved ones and the most frequent.

    >>> from afterglow.books import d2l
    >>> vocab = d2l.Vocab([["a", "b"], ["b"]])
    >>> vocab[["b", "c"]], vocab.to_tokens([0, 2])
    ([1, 0], ['<unk>', 'a'])
    """

    def __init__(
        self,
        tokens: Sequence[Any] | None = None,
        min_freq: int = 0,
        reserved_tokens: Sequence[str] | None = None,
    ) -> None:
        self.token_freqs = count_corpus(tokens or []).most_common()
        frequent = [token for token, count in self.token_freqs if count >= min_freq]
        self.idx_to_token = list(dict.fromkeys(["<unk>", *(reserved_tokens or ()), *frequent]))
        self.token_to_idx = {token: index for index, token in enumerate(self.idx_to_token)}

    def __len__(self) -> int:
        return len(self.idx_to_token)

    def __getitem__(self, tokens: Any) -> Any:
        if isinstance(tokens, (list, tuple)):
            return [self[token] for token in tokens]
        return self.token_to_idx.get(tokens, self.unk)

    def to_tokens(self, indices: Any) -> Any:
        """Return the token of a number, or those of several."""
        if isinstance(indices, (list, tuple)) or getattr(indices, "ndim", 0) > 0:
            return [self.idx_to_token[int(index)] for index in indices]
        return self.idx_to_token[int(indices)]

    @property
    def unk(self) -> int:
        """The number of unknown tokens."""
        return self.token_to_idx["<unk>"]


# --- one text ---


def _letters(text: str) -> str:
    return re.sub("[^A-Za-z]+", " ", text).lower()


def read_time_machine() -> list[str]:
    """Return the lines of the novel, in small letters."""
    with open(downloads.download("time_machine"), encoding="utf-8") as file:
        return [_letters(line).strip() for line in file]


def load_corpus_time_machine(max_tokens: int = -1) -> tuple[list[int], Vocab]:
    """Return the novel as numbers of characters, and their vocabulary."""
    lines = tokenize(read_time_machine(), "char")
    vocab = Vocab(lines)
    corpus = [vocab[token] for line in lines for token in line]
    return corpus[:max_tokens] if max_tokens > 0 else corpus, vocab


def seq_data_iter_random(
    corpus: Sequence[int], batch_size: int, num_steps: int
) -> Iterator[tuple[Any, Any]]:
    """Yield batches of sequences from random places, and what follows each of their tokens."""
    corpus = corpus[random.randint(0, num_steps - 1) :]
    starts = list(range(0, len(corpus) - num_steps, num_steps))
    random.shuffle(starts)
    for first in range(0, len(starts) - batch_size + 1, batch_size):
        chosen = starts[first : first + batch_size]
        X = [corpus[start : start + num_steps] for start in chosen]
        Y = [corpus[start + 1 : start + 1 + num_steps] for start in chosen]
        yield np.array(X), np.array(Y)


def seq_data_iter_sequential(
    corpus: Sequence[int], batch_size: int, num_steps: int
) -> Iterator[tuple[Any, Any]]:
    """Yield batches whose sequences go on where those of the batch before ended."""
    offset = random.randint(0, num_steps)
    width = (len(corpus) - offset - 1) // batch_size
    rows = np.array(corpus[offset : offset + width * batch_size]).reshape(batch_size, width)
    following = np.array(corpus[offset + 1 : offset + 1 + width * batch_size])
    following = following.reshape(batch_size, width)
    for first in range(0, width - num_steps + 1, num_steps):
        yield rows[:, first : first + num_steps], following[:, first : first + num_steps]


class SeqDataLoader:
    """Batches of the novel."""

    def __init__(
        self, batch_size: int, num_steps: int, use_random_iter: bool, max_tokens: int
    ) -> None:
        self.data_iter_fn = seq_data_iter_random if use_random_iter else seq_data_iter_sequential
        self.corpus, self.vocab = load_corpus_time_machine(max_tokens)
        self.batch_size, self.num_steps = batch_size, num_steps

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self.data_iter_fn(self.corpus, self.batch_size, self.num_steps)


def load_data_time_machine(
    batch_size: int, num_steps: int, use_random_iter: bool = False, max_tokens: int = 10000
) -> tuple[SeqDataLoader, Vocab]:
    """Return batches of the novel, and the vocabulary."""
    loader = SeqDataLoader(batch_size, num_steps, use_random_iter, max_tokens)
    return loader, loader.vocab


class TimeMachine(DataModule):
    """All sequences of so many characters of the novel, and what follows each of them."""

    def __init__(
        self, batch_size: int, num_steps: int, num_train: int = 10000, num_val: int = 5000
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        corpus, self.vocab = self.build(self._download())
        width = num_steps + 1
        rows = np.array([corpus[i : i + width] for i in range(len(corpus) - num_steps)])
        self.X, self.Y = rows[:, :-1], rows[:, 1:]

    def _download(self) -> str:
        with open(downloads.download("time_machine", self.root), encoding="utf-8") as file:
            return file.read()

    def _preprocess(self, text: str) -> str:
        return _letters(text)

    def _tokenize(self, text: str) -> list[str]:
        return list(text)

    def build(self, raw_text: str, vocab: Vocab | None = None) -> tuple[list[int], Vocab]:
        """Return a text as numbers, and the vocabulary."""
        tokens = self._tokenize(self._preprocess(raw_text))
        vocab = vocab or Vocab(tokens)
        return [vocab[token] for token in tokens], vocab

    def get_dataloader(self, train: bool) -> gluon.data.DataLoader:
        """Return the batches of one of the two parts."""
        end = self.num_train + self.num_val
        part = slice(0, self.num_train) if train else slice(self.num_train, end)
        return self.get_tensorloader([self.X, self.Y], train, part)


# --- pairs of sentences ---


def read_data_nmt() -> str:
    """Return lines of an English and a French sentence."""
    folder = downloads.download_extract("fra-eng")
    with open(os.path.join(folder, "fra.txt"), encoding="utf-8") as file:
        return file.read()


def preprocess_nmt(text: str) -> str:
    """Return a text in small letters, with a space before marks that end a word."""
    text = text.replace("\u202f", " ").replace("\xa0", " ").lower()
    return re.sub(r"(?<=[^ ])([,.!?])", r" \1", text)


def _pairs(text: str, limit: int | None) -> list[list[str]]:
    """Return the pairs of sentences; the limit is that of the book, whose count begins at 0."""
    lines = text.split("\n")[: limit + 1 if limit else None]
    return [parts for line in lines if len(parts := line.split("\t")) == 2]


def tokenize_nmt(
    text: str, num_examples: int | None = None
) -> tuple[list[list[str]], list[list[str]]]:
    """Return the words of the sentences of both languages."""
    pairs = _pairs(text, num_examples)
    return [source.split(" ") for source, _ in pairs], [target.split(" ") for _, target in pairs]


def truncate_pad(line: Sequence[Any], num_steps: int, padding_token: Any) -> list[Any]:
    """Return a line of exactly that length, cut or filled up."""
    return [*line[:num_steps], *[padding_token] * (num_steps - len(line))]


def build_array_nmt(
    lines: Sequence[Sequence[str]], vocab: Vocab, num_steps: int
) -> tuple[Any, Any]:
    """Return sentences as rows of numbers of tokens, and how many of each row are not padding."""
    numbers = [[*vocab[list(line)], vocab["<eos>"]] for line in lines]
    array = np.array([truncate_pad(line, num_steps, vocab["<pad>"]) for line in numbers])
    return array, (array != vocab["<pad>"]).astype(np.int32).sum(1)


def load_data_nmt(
    batch_size: int, num_steps: int, num_examples: int = 600
) -> tuple[gluon.data.DataLoader, Vocab, Vocab]:
    """Return batches of (source, length, target, length), and both vocabularies."""
    reserved = ["<pad>", "<bos>", "<eos>"]
    sides = tokenize_nmt(preprocess_nmt(read_data_nmt()), num_examples)
    vocabs = [Vocab(side, min_freq=2, reserved_tokens=reserved) for side in sides]
    arrays: list[Any] = []
    for side, vocab in zip(sides, vocabs, strict=True):
        arrays.extend(build_array_nmt(side, vocab, num_steps))
    return load_array(arrays, batch_size), vocabs[0], vocabs[1]


class MTFraEng(DataModule):
    """English sentences and their French translations."""

    def __init__(
        self, batch_size: int, num_steps: int = 9, num_train: int = 512, num_val: int = 128
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.arrays, self.src_vocab, self.tgt_vocab = self._build_arrays(self._download())

    def _download(self) -> str:
        file = downloads.download("fra-eng", self.root)
        downloads.extract(file, self.root)
        with open(os.path.join(self.root, "fra-eng", "fra.txt"), encoding="utf-8") as text:
            return text.read()

    def _preprocess(self, text: str) -> str:
        return preprocess_nmt(text)

    def _tokenize(
        self, text: str, max_examples: int | None = None
    ) -> tuple[list[list[str]], list[list[str]]]:
        pairs = _pairs(text, max_examples)
        source = [[*first.split(), "<eos>"] for first, _ in pairs]
        return source, [[*second.split(), "<eos>"] for _, second in pairs]

    def _build_arrays(
        self, raw_text: str, src_vocab: Vocab | None = None, tgt_vocab: Vocab | None = None
    ) -> tuple[tuple[Any, ...], Vocab, Vocab]:
        def build(
            sentences: list[list[str]], vocab: Vocab | None, target: bool
        ) -> tuple[Any, Vocab, Any]:
            if target:
                sentences = [["<bos>", *one] for one in sentences]
            sentences = [truncate_pad(one, self.num_steps, "<pad>") for one in sentences]
            vocab = vocab or Vocab(sentences, min_freq=2)
            array = np.array([vocab[one] for one in sentences])
            return array, vocab, (array != vocab["<pad>"]).astype(np.int32).sum(1)

        source, target = self._tokenize(self._preprocess(raw_text), self.num_train + self.num_val)
        source_rows, source_vocab, lengths = build(source, src_vocab, target=False)
        target_rows, target_vocab, _ = build(target, tgt_vocab, target=True)
        arrays = (source_rows, target_rows[:, :-1], lengths, target_rows[:, 1:])
        return arrays, source_vocab, target_vocab

    def get_dataloader(self, train: bool) -> gluon.data.DataLoader:
        """Return the batches of one of the two parts."""
        part = slice(0, self.num_train) if train else slice(self.num_train, None)
        return self.get_tensorloader(self.arrays, train, part)

    def build(self, src_sentences: Sequence[str], tgt_sentences: Sequence[str]) -> tuple[Any, ...]:
        """Return the arrays of pairs of sentences."""
        pairs = zip(src_sentences, tgt_sentences, strict=True)
        text = "\n".join(f"{source}\t{target}" for source, target in pairs)
        return self._build_arrays(text, self.src_vocab, self.tgt_vocab)[0]


def show_list_len_pair_hist(
    legend: Sequence[str],
    xlabel: str,
    ylabel: str,
    xlist: Sequence[Sequence[Any]],
    ylist: Sequence[Sequence[Any]],
) -> None:
    """Draw how long the lists of two lists are."""
    set_figsize()
    plt = pyplot()
    bars = plt.hist([[len(one) for one in side] for side in (xlist, ylist)])[2]
    plt.xlabel(xlabel)
    plt.ylabel(ylabel)
    for bar in bars[1].patches:
        bar.set_hatch("/")
    plt.legend(legend)
