# SPDX-License-Identifier: Apache-2.0
"""Functions that are called without Python where their arguments are plain.

``@shortcut`` puts a compiled callable in front of a function: it issues the call for the arguments
that programs use most, and leaves everything else, errors too, to the function. See
src/bindings/shortcuts.h.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ._core import make_shortcut, set_dtype_spellings
from ._dtype import SPELLINGS

F = TypeVar("F", bound=Callable[..., Any])

set_dtype_spellings(SPELLINGS)


def shortcut(
    target: str,
    *kinds: str,
    legacy: bool = False,
    **fixed: Any,
) -> Callable[[F], F]:
    """Put a call of the op ``target`` in front of a function.

    There is a kind for each leading parameter of the function: what the argument must be, then
    ``=`` and the op's parameter if that has another name; ``!`` behind a kind says that the
    argument must be given. The rest of the op's parameters is ``fixed``.
    """

    def wrap(function: F) -> F:
        code, defaults = function.__code__, function.__defaults__ or ()
        names = code.co_varnames[: len(kinds)]
        needed = code.co_argcount - len(defaults)
        made = make_shortcut(function, target, legacy, names, kinds, needed, fixed)
        return cast(F, functools.update_wrapper(made, function))

    return wrap
