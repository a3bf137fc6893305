# SPDX-License-Identifier: Apache-2.0
"""Write what MXNet 1.9.1, with OpenCV 3.4.2, answers to the calls of ``images.py``."""

from __future__ import annotations

import json
from pathlib import Path

import mxnet
from images import CASES, answer


def main() -> None:
    """Record everything: bytes in hexadecimal digits, other numbers in the shortest form."""
    lines = []
    for name in CASES:
        result = answer(mxnet, name)
        values = (
            result.tobytes().hex()
            if result.dtype == "uint8"
            else [float(f"{number:.8g}") for number in result.ravel()]
        )
        told = [str(result.dtype), list(result.shape), values]
        lines.append(f"{json.dumps(name)}: {json.dumps(told, separators=(',', ':'))}")
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    Path(__file__).with_name("images.json").write_text(text)


if __name__ == "__main__":
    main()
