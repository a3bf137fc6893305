# SPDX-License-Identifier: Apache-2.0
"""``contrib.text.vocab``: numbers of tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

__all__ = ["Vocabulary"]


class Vocabulary:
    """Numbers tokens: the one for unknown tokens is 0, then reserved ones, then those counted.

    Counted tokens are numbered from the most to the least frequent, equally frequent ones in the
    order of the tokens; at most ``most_freq_count`` of them, those that were counted at least
    ``min_freq`` times.

    >>> from collections import Counter
    >>> from afterglow.contrib import text
    >>> words = text.vocab.Vocabulary(Counter("to be or not to be".split()), min_freq=2)
    >>> words.idx_to_token
    ['<unk>', 'be', 'to']
    >>> words.to_indices(["to", "sleep"])
    [2, 0]
    """

    def __init__(
        self,
        counter: Counter[Any] | None = None,
        most_freq_count: int | None = None,
        min_freq: int = 1,
        unknown_token: Hashable = "<unk>",
        reserved_tokens: list[Any] | None = None,
    ) -> None:
        assert min_freq > 0, f"min_freq must be at least 1, not {min_freq}"
        reserved = () if reserved_tokens is None else reserved_tokens
        assert unknown_token not in reserved, (
            f"reserved_tokens must not contain the unknown token {unknown_token!r}"
        )
        assert len(set(reserved)) == len(reserved), "each of reserved_tokens must be there once"
        self._unknown_token: Any = unknown_token
        self._reserved_tokens = None if reserved_tokens is None else reserved_tokens[:]
        self._idx_to_token: list[Any] = [unknown_token, *reserved]
        self._token_to_idx = {token: index for index, token in enumerate(self._idx_to_token)}
        if counter is not None:
            self._add_counted(counter, most_freq_count, min_freq)

    def _add_counted(
        self, counter: Counter[Any], most_freq_count: int | None, min_freq: int
    ) -> None:
        assert isinstance(counter, Counter), (
            f"counter must be a collections.Counter, not {type(counter)}"
        )
        most = len(counter) if most_freq_count is None else most_freq_count
        most += len(self._idx_to_token)
        in_order = sorted(counter.items(), key=lambda counted: counted[0])
        for token, frequency in sorted(in_order, key=lambda counted: -counted[1]):
            if frequency < min_freq or len(self._idx_to_token) == most:
                break
            if token not in self._token_to_idx:
                self._token_to_idx[token] = len(self._idx_to_token)
                self._idx_to_token.append(token)

    def __len__(self) -> int:
        return len(self._idx_to_token)

    @property
    def token_to_idx(self) -> dict[Any, int]:
        """The number of each token."""
        return self._token_to_idx

    @property
    def idx_to_token(self) -> list[Any]:
        """The token of each number."""
        return self._idx_to_token

    @property
    def unknown_token(self) -> Any:
        """What stands for all tokens that have no number."""
        return self._unknown_token

    @property
    def reserved_tokens(self) -> list[Any] | None:
        """Tokens that have a number whether they were counted or not."""
        return self._reserved_tokens

    def to_indices(self, tokens: Any) -> Any:
        """Return the number of a token, or those of a list of tokens."""
        if isinstance(tokens, list):
            return [self._token_to_idx.get(token, 0) for token in tokens]
        return self._token_to_idx.get(tokens, 0)

    def to_tokens(self, indices: Any) -> Any:
        """Return the token of a number, or those of a list of numbers."""
        if isinstance(indices, list):
            return [self._token(index) for index in indices]
        return self._token(indices)

    def _token(self, index: Any) -> Any:
        if not isinstance(index, int) or not -len(self) <= index < len(self):
            raise ValueError(f"{index!r} is no token; there are those from 0 to {len(self) - 1}")
        return self._idx_to_token[index]
