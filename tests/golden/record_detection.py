# SPDX-License-Identifier: Apache-2.0
"""Write MXNet's answers to the calls of ``detection.py`` to ``detection.json``. Needs MXNet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mxnet
from detection import OPS, Case, answer, cases
from record_network_ops import arguments_of


def _short(case: Case, found: dict[str, Any]) -> dict[str, Any]:
    """Return answers with as many digits as float32 needs, and fewer where bits do not count."""
    digits = 9 if case.is_exact else 7
    for ones in found.values():
        for one in ones:
            one["values"] = [float(f"{value:.{digits}g}") for value in one["values"]]
    return found


def main() -> None:
    """Record everything."""
    answers = [json.dumps(_short(case, answer(mxnet, case))) for case in cases()]
    parameters = [f"{json.dumps(op)}: {json.dumps(arguments_of(op))}" for op in OPS]
    text = '{"parameters": {\n' + ",\n".join(parameters) + "\n},\n"
    text += '"answers": [\n' + ",\n".join(answers) + "\n]}\n"
    Path(__file__).with_name("detection.json").write_text(text)


if __name__ == "__main__":
    main()
