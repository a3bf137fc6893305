# SPDX-License-Identifier: Apache-2.0
"""``contrib.text.utils``: tokens of a text."""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["count_tokens_from_str"]


def count_tokens_from_str(
    source_str: str,
    token_delim: str = " ",
    seq_delim: str = "\n",
    to_lower: bool = False,
    counter_to_update: Counter[str] | None = None,
) -> Counter[str]:
    r"""Count what is between the delimiters, which are regular expressions.

    The counts are added to ``counter_to_update``, if there is one.

    >>> from afterglow.contrib import text
    >>> text.utils.count_tokens_from_str("to be\nor not to be")
    Counter({'to': 2, 'be': 2, 'or': 1, 'not': 1})
    """
    tokens = filter(None, re.split(f"{token_delim}|{seq_delim}", source_str))
    counter: Counter[str] = Counter() if counter_to_update is None else counter_to_update
    counter.update(map(str.lower, tokens) if to_lower else tokens)
    return counter
