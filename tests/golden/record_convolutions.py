# SPDX-License-Identifier: Apache-2.0
"""Writes convolutions.json: convolutions and their gradients as MXNet 1.9.1 computes them.

Needs an environment with MXNet (see CONTRIBUTING.md).

    python tests/golden/record_convolutions.py
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
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


def _recorded(names: list[str]) -> dict[str, Any]:
    """Return the answers of those cases that MXNet does not refuse here."""
    recorded = {}
    for name in names:
        with contextlib.suppress(mx.MXNetError):
            recorded[name] = {key: _numbers(one) for key, one in answers(mx, name).items()}
    return recorded


def _without_onednn(names: list[str]) -> dict[str, Any]:
    """Ask a process that computes without oneDNN, which cannot reach every shape."""
    environment = {**os.environ, "MXNET_MKLDNN_ENABLED": "0"}
    command = [sys.executable, __file__, *names]
    found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False)
    answered: dict[str, Any] = json.loads(found.stdout)
    return answered


def main() -> None:
    """Record everything."""
    recorded = _recorded(list(CASES))
    recorded.update(_without_onednn([name for name in CASES if name not in recorded]))
    lines = [f"{json.dumps(name)}: {json.dumps(recorded[name])}" for name in CASES]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    Path(__file__).with_name("convolutions.json").write_text(text)
    for name in REFUSED:
        print(f"{name}: {_refusal(name)}")


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(_recorded(sys.argv[1:])))
    else:
        main()
