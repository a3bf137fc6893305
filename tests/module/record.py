# SPDX-License-Identifier: Apache-2.0
"""Write MXNet's answers to ``mxnet.json``. Needs MXNet 1.9.1; run it in this folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mxnet
from programs import PROGRAMS, answer


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def main() -> None:
    """Record everything."""
    lines = [
        json.dumps(program.__name__) + ": " + json.dumps(_rounded(answer(mxnet, program)))
        for program in PROGRAMS
    ]
    Path(__file__).with_name("mxnet.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
