# SPDX-License-Identifier: Apache-2.0
"""Write MXNet 1.9.1's answers to the calls of ``steps.py`` to ``steps.json``."""

from __future__ import annotations

import json
from pathlib import Path

import mxnet
from steps import answers


def main() -> None:
    """Record everything."""
    lines = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in answers(mxnet).items()]
    Path(__file__).with_name("steps.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
