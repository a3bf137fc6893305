# SPDX-License-Identifier: Apache-2.0
"""Other names of ops: nodes and files know each by one.

``aliases.json`` has those of MXNet 1.9.1, as ``tests/golden/record_mxnet.py`` finds them there.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path


@cache
def _other_names() -> dict[str, list[str]]:
    """Return by the name in files all others."""
    text = Path(__file__).with_name("aliases.json").read_text(encoding="utf-8")
    pairs = (pair.split("=") for pair in " ".join(json.loads(text)).split())
    return {name: others.split(",") for name, others in pairs}


@cache
def _canonical() -> dict[str, str]:
    return {other: name for name, others in _other_names().items() for other in others}


def canonical(name: str) -> str:
    """Return the name of an op in files."""
    return _canonical().get(name, name)


def other_names(name: str) -> list[str]:
    """Return the other names of an op."""
    return _other_names().get(name, [])
