# SPDX-License-Identifier: Apache-2.0
"""The layers of ``src`` include what CMakeLists.txt says they use, and nothing above them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
LAYERS = sorted(path.name for path in SOURCE.iterdir() if path.is_dir())


def _uses() -> dict[str, set[str]]:
    """Return for each layer those that it may include: its own, and all below it."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    stated = {
        name: used.split()
        for name, used in re.findall(r"^add_layer\((\w+)(?: USES ([\w ]+))?\)", text, re.M)
    }

    def below(name: str) -> set[str]:
        return {name, "base"}.union(*(below(used) for used in stated[name]))

    # Side by side at the top: they know all below, and nothing of each other.
    tops = {name: {name, *below("ops")} for name in ("bindings", "c_api")}
    return {"base": {"base"}, **tops, **{name: below(name) for name in stated}}


def _includes(layer: str) -> Iterator[tuple[Path, str]]:
    for path in sorted((SOURCE / layer).rglob("*")):
        if path.suffix in (".h", ".cpp"):
            for target in re.findall(r'^#include "([^"]+)"', path.read_text("utf-8"), re.M):
                yield path, target


def test_every_folder_is_a_layer() -> None:
    assert sorted(_uses()) == LAYERS


@pytest.mark.parametrize("layer", LAYERS)
def test_includes_point_downward(layer: str) -> None:
    found = list(_includes(layer))
    wrong = [
        f"{path.relative_to(ROOT)} includes {target}"
        for path, target in found
        if target.split("/")[0] not in _uses()[layer]
    ]
    assert not wrong
    assert layer == "base" or found
    assert all((SOURCE / target).is_file() for _, target in found)
