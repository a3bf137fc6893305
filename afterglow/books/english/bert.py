# SPDX-License-Identifier: Apache-2.0
"""BERT: the model, and pairs of sentences with hidden words to train it with."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Sequence
from typing import Any

from afterglow import gluon, np
from afterglow.gluon import nn

from .._common import get_dataloader_workers
from . import downloads
from .attention import TransformerEncoderBlock
from .text import Vocab, tokenize, truncate_pad

__all__ = [
    "BERTEncoder",
    "BERTModel",
    "MaskLM",
    "NextSentencePred",
    "get_tokens_and_segments",
    "load_data_wiki",
]


def get_tokens_and_segments(
    tokens_a: Sequence[str], tokens_b: Sequence[str] | None = None
) -> tuple[list[str], list[int]]:
    """Return one or two sentences with the marks of BERT, and which of them each token is of."""
    tokens = ["<cls>", *tokens_a, "<sep>"]
    second = [] if tokens_b is None else [*tokens_b, "<sep>"]
    return tokens + second, [0] * len(tokens) + [1] * len(second)


class BERTEncoder(nn.Block):
    """Reads one or two sentences; ``num_layers`` is what 0.17 calls ``num_blks``."""

    def __init__(
        self,
        vocab_size: int,
        num_hiddens: int,
        ffn_num_hiddens: int,
        num_heads: int,
        num_blks: int = 0,
        dropout: float = 0,
        max_len: int = 1000,
        *,
        num_layers: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.token_embedding = nn.Embedding(vocab_size, num_hiddens)
        self.segment_embedding = nn.Embedding(2, num_hiddens)
        self.blks = nn.Sequential()
        for _ in range(num_blks or num_layers):
            self.blks.add(
                TransformerEncoderBlock(num_hiddens, ffn_num_hiddens, num_heads, dropout, True)
            )
        self.pos_embedding = self.params.get("pos_embedding", shape=(1, max_len, num_hiddens))

    def forward(self, tokens: Any, segments: Any, valid_lens: Any) -> Any:
        """Return a vector for each token."""
        X = self.token_embedding(tokens) + self.segment_embedding(segments)
        X = X + self.pos_embedding.data(ctx=X.context)[:, : X.shape[1], :]
        for block in self.blks:
            X = block(X, valid_lens)
        return X


class MaskLM(nn.Block):
    """Guesses tokens at some positions."""

    def __init__(self, vocab_size: int, num_hiddens: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mlp = nn.Sequential()
        self.mlp.add(
            nn.Dense(num_hiddens, flatten=False, activation="relu"),
            nn.LayerNorm(),
            nn.Dense(vocab_size, flatten=False),
        )

    def forward(self, X: Any, pred_positions: Any) -> Any:
        """Return the scores of all tokens for each of the positions."""
        batch, count = pred_positions.shape
        rows = np.arange(batch, ctx=X.context).repeat(count)
        chosen = X[rows.astype("int32"), pred_positions.reshape(-1).astype("int32")]
        return self.mlp(chosen.reshape((batch, count, -1)))


class NextSentencePred(nn.Block):
    """Guesses whether a sentence follows another."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.output = nn.Dense(2)

    def forward(self, X: Any) -> Any:
        """Return two scores for each vector."""
        return self.output(X)


class BERTModel(nn.Block):
    """The encoder, and both tasks to train it with; ``num_layers`` is the name of 0.17."""

    def __init__(
        self,
        vocab_size: int,
        num_hiddens: int,
        ffn_num_hiddens: int,
        num_heads: int,
        num_blks: int = 0,
        dropout: float = 0,
        max_len: int = 1000,
        *,
        num_layers: int = 0,
    ) -> None:
        super().__init__()
        self.encoder = BERTEncoder(
            vocab_size,
            num_hiddens,
            ffn_num_hiddens,
            num_heads,
            num_blks or num_layers,
            dropout,
            max_len,
        )
        self.hidden = nn.Dense(num_hiddens, activation="tanh")
        self.mlm = MaskLM(vocab_size, num_hiddens)
        self.nsp = NextSentencePred()

    def forward(
        self, tokens: Any, segments: Any, valid_lens: Any = None, pred_positions: Any = None
    ) -> tuple[Any, Any, Any]:
        """Return vectors of tokens, scores for the positions if given, and for the sentences."""
        encoded = self.encoder(tokens, segments, valid_lens)
        guesses = None if pred_positions is None else self.mlm(encoded, pred_positions)
        return encoded, guesses, self.nsp(self.hidden(encoded[:, 0, :]))


# --- what it is trained with ---


def _read_paragraphs(folder: str) -> list[list[list[str]]]:
    """Return the paragraphs of at least two sentences, as lists of lists of words, shuffled."""
    with open(os.path.join(folder, "wiki.train.tokens"), encoding="utf-8") as file:
        lines = [line.strip().lower().split(" . ") for line in file]
    paragraphs = [tokenize(line) for line in lines if len(line) >= 2]
    random.shuffle(paragraphs)
    return paragraphs


def _hide(tokens: list[str], vocab: Vocab) -> tuple[list[str], list[int], list[int]]:
    """Hide 15 % of the tokens; return the tokens, the places, and what was there.

    Eight of ten become a mark, one becomes any other token, and one stays.
    """
    places = [place for place, token in enumerate(tokens) if token not in ("<cls>", "<sep>")]
    random.shuffle(places)
    chosen = sorted(places[: max(1, round(len(tokens) * 0.15))])
    hidden = list(tokens)
    for place in chosen:
        chance = random.random()
        if chance < 0.8:
            hidden[place] = "<mask>"
        elif chance < 0.9:
            hidden[place] = random.choice(vocab.idx_to_token)
    return hidden, chosen, vocab[[tokens[place] for place in chosen]]


class _Pairs(gluon.data.Dataset):
    """Pairs of sentences, half of which follow each other, with hidden tokens."""

    def __init__(self, paragraphs: list[list[list[str]]], max_len: int) -> None:
        sentences = [sentence for paragraph in paragraphs for sentence in paragraph]
        self.vocab = Vocab(
            sentences, min_freq=5, reserved_tokens=["<pad>", "<mask>", "<cls>", "<sep>"]
        )
        self._rows = []
        for paragraph in paragraphs:
            for first, second in itertools.pairwise(paragraph):
                follows = random.random() < 0.5
                other = second if follows else random.choice(random.choice(paragraphs))
                if len(first) + len(other) + 3 <= max_len:
                    self._rows.append(self._row(first, other, follows, max_len))

    def _row(
        self, first: list[str], second: list[str], follows: bool, max_len: int
    ) -> tuple[Any, ...]:
        tokens, segments = get_tokens_and_segments(first, second)
        hidden, places, labels = _hide(tokens, self.vocab)
        most = round(max_len * 0.15)
        padding = self.vocab["<pad>"]
        return (
            np.array(truncate_pad(self.vocab[hidden], max_len, padding), dtype="int32"),
            np.array(truncate_pad(segments, max_len, 0), dtype="int32"),
            np.array(len(tokens)),
            np.array(truncate_pad(places, most, 0), dtype="int32"),
            np.array(truncate_pad([1.0] * len(places), most, 0.0)),
            np.array(truncate_pad(labels, most, 0), dtype="int32"),
            np.array(int(follows)),
        )

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        return self._rows[idx]

    def __len__(self) -> int:
        return len(self._rows)


def load_data_wiki(batch_size: int, max_len: int) -> tuple[gluon.data.DataLoader, Vocab]:
    """Return batches of pairs of sentences of Wikipedia, and the vocabulary.

    A batch has tokens, segments, lengths, positions of hidden tokens, their weights, the tokens
    that were there, and whether the second sentence follows the first.
    """
    pairs = _Pairs(
        _read_paragraphs(downloads.download_extract("wikitext-2", "wikitext-2")), max_len
    )
    loader = gluon.data.DataLoader(
        pairs, batch_size, shuffle=True, num_workers=get_dataloader_workers()
    )
    return loader, pairs.vocab
