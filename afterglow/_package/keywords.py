# SPDX-License-Identifier: Apache-2.0
"""Keywords that nobody takes: which one was meant, and which there are."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import CodeType
from typing import Any, Self

from ..error import ArrayTypeError


def unknown_keyword(where: str, keyword: str, known: Sequence[str]) -> ArrayTypeError:
    """Return the error for a keyword that a function or class does not take."""
    import difflib  # only a misspelling pays for it

    near = difflib.get_close_matches(keyword, known, n=1)
    meant = f" (did you mean {near[0]!r}?)" if near else ""
    takes = ", ".join(known) or "no keywords"
    return ArrayTypeError(f"[{where}] got an unknown keyword {keyword!r}{meant}; it takes {takes}")


def names_of(code: CodeType) -> tuple[str, ...]:
    """Return the names of the parameters of a function that keywords can give."""
    return code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]


def _known(kind: type) -> list[str] | None:
    """Return the keywords of a class, or None where it may take any."""
    names: list[str] = []
    for one in kind.__mro__:
        code = getattr(vars(one).get("__init__"), "__code__", None)
        if code is None:
            continue
        names += names_of(code)[1:]
        if not code.co_flags & inspect.CO_VARKEYWORDS:
            return list(dict.fromkeys(names))
        if not one.__module__.startswith("afterglow."):
            break  # the others may not be passed on
    return None


class NamedKeywords:
    """Refuses keywords that no ``__init__`` of a class takes, before the first of them runs."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make an instance if all keywords are known."""
        if kwargs:
            known = _known(cls)
            for name in kwargs:
                if known is not None and name not in known:
                    raise unknown_keyword(cls.__name__, name, known)
        return super().__new__(cls)
