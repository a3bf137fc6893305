# SPDX-License-Identifier: Apache-2.0
"""Write MXNet's answers to ``mxnet.json``. Needs MXNet 1.9.1; run it in this folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mxnet
from cases import LAYERS, LOSSES, answer_of_layer, answer_of_loss


def _array(host: Any) -> Any:
    return mxnet.nd.array(host, dtype=host.dtype)


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.7g}")


def main() -> None:
    """Record everything."""
    answers = {
        "layers": {name: answer_of_layer(mxnet, name, _array) for name in LAYERS},
        "losses": {name: answer_of_loss(mxnet, name, _array) for name in LOSSES},
    }
    lines = [
        f'"{kind}": {{\n'
        + ",\n".join(
            json.dumps(name)
            + ": "
            + json.dumps({key: _rounded(value) for key, value in answer.items()})
            for name, answer in table.items()
        )
        + "\n}"
        for kind, table in answers.items()
    ]
    Path(__file__).with_name("mxnet.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
