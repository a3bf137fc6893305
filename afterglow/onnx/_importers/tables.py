# SPDX-License-Identifier: Apache-2.0
"""Features of rows in tables, and how often words follow each other."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as onp

from .graph import Node
from .registry import imports
from .values import dtype_of


@imports("ArrayFeatureExtractor", domain="ai.onnx.ml")
def _array_feature_extractor(node: Node) -> Any:
    f, x = node.f, node[0]
    rows = x if len(x.shape) > 1 else f.reshape(x, (1, -1))
    return f.take(rows, f.cast(f.reshape(node[1], (-1,)), "int64"), axis=-1)


@imports("Binarizer", domain="ai.onnx.ml")
def _binarizer(node: Node) -> Any:
    return node.f.cast(node[0] > node.get("threshold", 0.0), dtype_of(node[0]))


def _pool(node: Node) -> dict[tuple[Any, ...], int]:
    """Return the places in the result by the words that follow each other."""
    words = node.get("pool_int64s") or node.get("pool_strings")
    starts = [*node.get("ngram_counts"), len(words)]
    grams = [
        tuple(words[begin : begin + length])
        for length, (first, end) in enumerate(pairwise(starts), 1)
        for begin in range(first, end, length)
    ]
    return dict(zip(grams, node.get("ngram_indexes"), strict=True))


@imports("TfIdfVectorizer", on_host=True)
def _tf_idf_vectorizer(node: Node) -> Any:
    """Count runs of words, with up to so many words left out between each two."""
    x, pool = node[0], _pool(node)
    rows = x.reshape(-1, x.shape[-1]).tolist()
    counts = onp.zeros((len(rows), max(pool.values()) + 1), "float32")
    for row, words in zip(counts, rows, strict=True):
        for length in range(node.get("min_gram_length"), node.get("max_gram_length") + 1):
            for skipped in range(1 if length == 1 else node.get("max_skip_count") + 1):
                step = skipped + 1
                for begin in range(len(words) - step * (length - 1)):
                    place = pool.get(tuple(words[begin : begin + step * length : step][:length]))
                    if place is not None:
                        row[place] += 1
    weights = onp.ones(counts.shape[1], "float32")
    if node.get("weights"):
        weights[list(pool.values())] = node.get("weights")
    if node.get("mode") == "IDF":
        counts = (counts > 0).astype("float32")
    found = counts if node.get("mode") == "TF" else counts * weights
    return found.reshape(*x.shape[:-1], -1)
