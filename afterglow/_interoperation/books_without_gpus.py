# SPDX-License-Identifier: Apache-2.0
"""The package ``d2l`` of the English book where there is no GPU.

Its ``try_all_gpus`` promises the CPU then, but version 1.0 returns no device at all, and chapters
read ``devices[0]``. Functions that train have that list as a default, made when they are.
"""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any

from ..context import cpu


def train_without_gpus(module: Any) -> None:
    """Let the module find the CPU where it finds no device."""
    find = getattr(module, "try_all_gpus", None)
    if find is None or find():
        return

    @wraps(find)
    def try_all_gpus() -> Any:
        return find() or [cpu()]

    module.try_all_gpus = try_all_gpus
    for value in list(vars(module).values()):
        if inspect.isfunction(value):
            default = inspect.signature(value).parameters.get("devices")
            if default is not None and default.default == []:
                default.default.append(cpu())
