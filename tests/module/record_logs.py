# SPDX-License-Identifier: Apache-2.0
"""Write MXNet's lines to ``logs.json``. Needs MXNet 1.9.1; run it in this folder."""

from __future__ import annotations

import json
from pathlib import Path

import mxnet
from log_cases import CASES, lines_of


def main() -> None:
    """Record everything."""
    lines = {name: lines_of(mxnet, name) for name in CASES}
    Path(__file__).with_name("logs.json").write_text(json.dumps(lines, indent=1) + "\n")


if __name__ == "__main__":
    main()
