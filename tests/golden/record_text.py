# SPDX-License-Identifier: Apache-2.0
"""Write what MXNet answers to ``text.py``, and the sums of its files of vectors.

Needs MXNet 1.9.1.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mxnet
from mxnet.contrib.text.embedding import FastText, GloVe
from text import answers_of_files, answers_of_values

SUMS = Path(__file__).parents[2] / "afterglow" / "contrib" / "text" / "pretrained.json"


def _text_of_class(kind: Any) -> str:
    sums = {
        "archives": kind.pretrained_archive_name_sha1,
        "files": kind.pretrained_file_name_sha1,
    }
    return json.dumps({kind.__name__.lower(): sums}, indent=1)[2:-2]


def main() -> None:
    """Record everything."""
    SUMS.write_text(f"{{\n{_text_of_class(GloVe)},\n{_text_of_class(FastText)}\n}}\n")
    answers: dict[str, Any] = {"values": answers_of_values(mxnet)}
    with TemporaryDirectory() as folder:
        answers["nd"] = answers_of_files(mxnet, Path(folder), False)
        mxnet.npx.set_np()
        answers["np"] = answers_of_files(mxnet, Path(folder), True)
    rows = []
    for kind, table in answers.items():
        pairs = table.items() if kind == "values" else ((None, one) for one in table)
        lines = [(f"{json.dumps(key)}: " if key else "") + _line(one) for key, one in pairs]
        ends = "{}" if kind == "values" else "[]"
        rows.append(f'"{kind}": {ends[0]}\n' + ",\n".join(lines) + f"\n{ends[1]}")
    Path(__file__).with_name("text.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


def _line(answer: Any) -> str:
    """Return an answer as text, without the texts of MXNet's errors."""
    return json.dumps(_without_texts(answer))


def _without_texts(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {key: _without_texts(one) for key, one in answer.items() if key != "raised"}
    return [_without_texts(one) for one in answer] if isinstance(answer, list) else answer


if __name__ == "__main__":
    main()
