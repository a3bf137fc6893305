# SPDX-License-Identifier: Apache-2.0
"""Write MXNet's answers of recurrent ops, layers and cells to ``recurrence.json``.

Needs an environment with MXNet 1.9.1 (see CONTRIBUTING.md).

    python tests/golden/record_recurrence.py
"""

from __future__ import annotations

import json
from pathlib import Path

import mxnet
from recurrence import answers, plain


def main() -> None:
    """Record everything."""
    lines = [
        f"{json.dumps(case)}: {json.dumps(plain(answer))}"
        for case, answer in answers(mxnet).items()
    ]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    Path(__file__).with_name("recurrence.json").write_text(text)


if __name__ == "__main__":
    main()
