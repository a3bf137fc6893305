# SPDX-License-Identifier: Apache-2.0
"""Whether the search with damaged files finds what it should."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import afterglow as mx

from . import files


def test_whole_files_are_read(tmp_path: Path) -> None:
    """What is damaged would be read otherwise."""
    path = tmp_path / "whole"
    for name, (reader, originals, _) in files.FORMATS.items():
        count = 0
        for data in originals():
            path.write_bytes(data)
            with suppress(mx.MXNetError):  # sparse arrays, tables with gaps, graphs of images
                reader(str(path))
                count += 1
        assert count > 0, name


def _takes_memory(path: str) -> None:
    bytes(1 << 31)


def _calls(path: str) -> None:
    raise KeyError("handle")


@pytest.mark.parametrize("reader", [_takes_memory, _calls])
def test_what_goes_wrong_is_kept(
    reader: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(files, "FORMATS", {"bad": (reader, lambda: [b"content"], False)})
    monkeypatch.setattr(files.tempfile, "gettempdir", lambda: str(tmp_path))
    with pytest.raises(AssertionError, match=r"seed 7, .* bytes, kept in"):
        files.run(7, 0)
    (kept,) = tmp_path.glob("*.hex")
    bytes.fromhex(kept.read_text())
