# SPDX-License-Identifier: Apache-2.0
"""Write what MXNet 1.9.1 answers to the calls of ``pooling_calls.py`` to ``pooling.json``."""

from __future__ import annotations

import json
from pathlib import Path

import mxnet
from pooling_calls import CASES, answers


def main() -> None:
    """Record everything."""
    lines = []
    for name in CASES:
        arrays = [
            [list(one.shape), [float(f"{number:.6g}") for number in one.ravel()]]
            for one in answers(mxnet, name)
        ]
        lines.append(f"{json.dumps(name)}: {json.dumps(arrays, separators=(',', ':'))}")
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    Path(__file__).with_name("pooling.json").write_text(text)


if __name__ == "__main__":
    main()
