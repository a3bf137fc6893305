# SPDX-License-Identifier: Apache-2.0
"""Writes convolutions.json: convolutions and their gradients as MXNet 1.9.1 computes them.

Needs an environment with MXNet (see CONTRIBUTING.md).

    python tests/golden/record_convolutions.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mxnet as mx
from convolutions import CASES, REFUSED, answers


def _refusal(name: str) -> str:
    op, shapes, given = REFUSED[name]
    try:
        function = getattr(mx.nd, op)
        function(*map(mx.nd.ones, shapes), **{"num_filter": 1, **given}).wait_to_read()
    except mx.MXNetError as error:
        return str(error).strip().splitlines()[-1]
    raise SystemExit(f"{name} is not refused")


def _numbers(array: Any) -> list[Any]:
    return [list(array.shape), [float(f"{number:.7g}") for number in array.ravel()]]


def main() -> None:
    """Record everything."""
    recorded = {}
    for name in CASES:
        recorded[name] = {key: _numbers(one) for key, one in answers(mx, name).items()}
    lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in recorded.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    Path(__file__).with_name("convolutions.json").write_text(text)
    for name in REFUSED:
        print(f"{name}: {_refusal(name)}")


if __name__ == "__main__":
    main()
