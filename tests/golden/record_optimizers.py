# SPDX-License-Identifier: Apache-2.0
"""Write what MXNet 1.9.1 leaves of a weight after five updates to ``optimizers.json``.

The kinds of optimizers and their arguments are those that the file has; to add one, write it there
with any numbers and record again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mxnet
import numpy as onp


def trained(kind: str, arguments: dict[str, Any]) -> list[float]:
    """Return the weight after five updates, as ``tests/gluon/test_optimizer.py`` makes them."""
    updater = mxnet.optimizer.get_updater(getattr(mxnet.optimizer, kind)(**arguments))
    weight = mxnet.nd.array([0.9, -0.7, 0.5, 0.0, 0.3])
    for step in range(5):
        waves = onp.cos(onp.arange(5) * (step + 1)) * onp.array([1, 0.5, 2, 1, 0.1])
        updater(0, mxnet.nd.array(waves) + 0.3 * weight, weight)
    return weight.asnumpy().tolist()  # type: ignore[no-any-return]


def main() -> None:
    """Record every optimizer again."""
    target = Path(__file__).with_name("optimizers.json")
    cases = json.loads(target.read_text())
    answers = {
        name: [kind, arguments, trained(kind, arguments)]
        for name, (kind, arguments, _) in cases.items()
    }
    target.write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
