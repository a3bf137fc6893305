# SPDX-License-Identifier: Apache-2.0
"""Attention, and the Transformer's encoder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from afterglow import np, npx
from afterglow.gluon import nn

from .._figures import pyplot, use_svg_display
from .._modules import Module
from .recurrent import Decoder, Encoder

__all__ = [
    "AddNorm",
    "AdditiveAttention",
    "AttentionDecoder",
    "DotProductAttention",
    "EncoderBlock",
    "MultiHeadAttention",
    "PositionWiseFFN",
    "PositionalEncoding",
    "TransformerEncoder",
    "TransformerEncoderBlock",
    "masked_softmax",
    "show_heatmaps",
    "transpose_output",
    "transpose_qkv",
]


def show_heatmaps(
    matrices: Any,
    xlabel: str,
    ylabel: str,
    titles: Sequence[str] | None = None,
    figsize: tuple[float, float] = (2.5, 2.5),
    cmap: str = "Reds",
) -> None:
    """Draw rows of matrices as pictures."""
    use_svg_display()
    rows, columns = len(matrices), len(matrices[0])
    figure, axes = pyplot().subplots(
        rows, columns, figsize=figsize, sharex=True, sharey=True, squeeze=False
    )
    image = None
    for i in range(rows):
        for j in range(columns):
            place, matrix = axes[i][j], matrices[i][j]
            image = place.imshow(
                matrix.asnumpy() if hasattr(matrix, "asnumpy") else matrix, cmap=cmap
            )
            if i == rows - 1:
                place.set_xlabel(xlabel)
            if j == 0:
                place.set_ylabel(ylabel)
            if titles:
                place.set_title(titles[j])
    figure.colorbar(image, ax=axes, shrink=0.6)


def masked_softmax(X: Any, valid_lens: Any) -> Any:
    """Return the softmax over the last axis of the first so many elements; others become 0.

    There is one length for each matrix, or one for each row of each of them.
    """
    if valid_lens is None:
        return npx.softmax(X)
    lengths = valid_lens.repeat(X.shape[1]) if valid_lens.ndim == 1 else valid_lens.reshape(-1)
    rows = X.reshape((-1, X.shape[-1]))
    rows = npx.sequence_mask(rows, lengths, True, value=-1e6, axis=1)
    return npx.softmax(rows).reshape(X.shape)


class DotProductAttention(nn.Block):
    """Weights values by the products of queries and keys."""

    def __init__(self, dropout: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries: Any, keys: Any, values: Any, valid_lens: Any = None) -> Any:
        """Return weighted values; ``attention_weights`` are kept."""
        scores = npx.batch_dot(queries, keys, transpose_b=True) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return npx.batch_dot(self.dropout(self.attention_weights), values)


class AdditiveAttention(nn.Block):
    """Weights values by a small network of queries and keys."""

    def __init__(self, num_hiddens: int, dropout: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.W_k = nn.Dense(num_hiddens, use_bias=False, flatten=False)
        self.W_q = nn.Dense(num_hiddens, use_bias=False, flatten=False)
        self.w_v = nn.Dense(1, use_bias=False, flatten=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries: Any, keys: Any, values: Any, valid_lens: Any) -> Any:
        """Return weighted values; ``attention_weights`` are kept."""
        pairs = np.expand_dims(self.W_q(queries), 2) + np.expand_dims(self.W_k(keys), 1)
        scores = self.w_v(np.tanh(pairs)).squeeze(-1)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return npx.batch_dot(self.dropout(self.attention_weights), values)


class AttentionDecoder(Decoder):
    """A decoder that tells what it attends to."""

    @property
    def attention_weights(self) -> Any:
        """The weights of the last step."""
        raise NotImplementedError


def transpose_qkv(X: Any, num_heads: int) -> Any:
    """Return (batch, steps, features) as (batch * heads, steps, features of a head)."""
    batch, steps, _ = X.shape
    X = X.reshape((batch, steps, num_heads, -1)).transpose((0, 2, 1, 3))
    return X.reshape((batch * num_heads, steps, -1))


def transpose_output(X: Any, num_heads: int) -> Any:
    """Return (batch * heads, steps, features of a head) as (batch, steps, features)."""
    rows, steps, _ = X.shape
    X = X.reshape((rows // num_heads, num_heads, steps, -1)).transpose((0, 2, 1, 3))
    return X.reshape((rows // num_heads, steps, -1))


class MultiHeadAttention(Module):
    """Attention in several parts of the features."""

    def __init__(
        self,
        num_hiddens: int,
        num_heads: int,
        dropout: float,
        use_bias: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Dense(num_hiddens, use_bias=use_bias, flatten=False)
        self.W_k = nn.Dense(num_hiddens, use_bias=use_bias, flatten=False)
        self.W_v = nn.Dense(num_hiddens, use_bias=use_bias, flatten=False)
        self.W_o = nn.Dense(num_hiddens, use_bias=use_bias, flatten=False)

    def forward(self, queries: Any, *args: Any) -> Any:
        """Return weighted values; arguments are queries, keys, values and lengths."""
        keys, values, valid_lens = args
        if valid_lens is not None:
            valid_lens = valid_lens.repeat(self.num_heads, axis=0)
        output = self.attention(
            self.transpose_qkv(self.W_q(queries)),
            self.transpose_qkv(self.W_k(keys)),
            self.transpose_qkv(self.W_v(values)),
            valid_lens,
        )
        return self.W_o(self.transpose_output(output))

    def transpose_qkv(self, X: Any) -> Any:
        """Make rows of the batch of the heads."""
        return transpose_qkv(X, self.num_heads)

    def transpose_output(self, X: Any) -> Any:
        """Undo ``transpose_qkv``."""
        return transpose_output(X, self.num_heads)


class PositionalEncoding(nn.Block):
    """Adds sines and cosines of positions."""

    def __init__(self, num_hiddens: int, dropout: float, max_len: int = 1000) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        positions = np.arange(max_len).reshape((-1, 1))
        angles = positions / np.power(10000, np.arange(0, num_hiddens, 2) / num_hiddens)
        self.P = np.zeros((1, max_len, num_hiddens))
        self.P[:, :, 0::2] = np.sin(angles)
        self.P[:, :, 1::2] = np.cos(angles)[:, : num_hiddens // 2]

    def forward(self, X: Any) -> Any:
        """Return a sequence with its positions added."""
        return self.dropout(X + self.P[:, : X.shape[1], :].as_in_ctx(X.context))


class PositionWiseFFN(nn.Block):
    """Two dense layers for each position."""

    def __init__(self, ffn_num_hiddens: int, ffn_num_outputs: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dense1 = nn.Dense(ffn_num_hiddens, flatten=False, activation="relu")
        self.dense2 = nn.Dense(ffn_num_outputs, flatten=False)

    def forward(self, X: Any) -> Any:
        """Return what they make of a sequence."""
        return self.dense2(self.dense1(X))


class AddNorm(nn.Block):
    """A sum that is normalised."""

    def __init__(self, dropout: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm()

    def forward(self, X: Any, Y: Any) -> Any:
        """Return the sum."""
        return self.ln(self.dropout(Y) + X)


class TransformerEncoderBlock(nn.Block):
    """Attention of a sequence to itself, and two dense layers."""

    def __init__(
        self,
        num_hiddens: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float,
        use_bias: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.attention = MultiHeadAttention(num_hiddens, num_heads, dropout, use_bias)
        self.addnorm1 = AddNorm(dropout)
        self.ffn = PositionWiseFFN(ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(dropout)

    def forward(self, X: Any, valid_lens: Any) -> Any:
        """Return a sequence of the same shape."""
        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
        return self.addnorm2(Y, self.ffn(Y))


#: The name in version 0.17.
EncoderBlock = TransformerEncoderBlock


class TransformerEncoder(Encoder):
    """Reads a sentence with several such blocks; ``num_layers`` is the name of 0.17."""

    def __init__(
        self,
        vocab_size: int,
        num_hiddens: int,
        ffn_num_hiddens: int,
        num_heads: int,
        num_blks: int = 0,
        dropout: float = 0,
        use_bias: bool = False,
        *,
        num_layers: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for _ in range(num_blks or num_layers):
            self.blks.add(
                TransformerEncoderBlock(num_hiddens, ffn_num_hiddens, num_heads, dropout, use_bias)
            )
        self.initialize()

    def forward(self, X: Any, *args: Any) -> Any:
        """Return the sequence; ``attention_weights`` has those of each block."""
        valid_lens = args[0] if args else None
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        self.attention_weights = []
        block: Any
        for block in self.blks:
            X = block(X, valid_lens)
            self.attention_weights.append(block.attention.attention.attention_weights)
        return X
