# SPDX-License-Identifier: Apache-2.0
"""Write MXNet's answers to ``mxnet.json``. Needs MXNet 1.9.1; run it in this folder."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import mxnet
from cases import (
    LAYERS,
    LOSSES,
    LOSSES_OF_TWO,
    OPTIMIZERS,
    answer_of_layer,
    answer_of_loss,
    shapes_that_fit,
    training_curve,
)


def _array(host: Any) -> Any:
    return mxnet.nd.array(host, dtype=host.dtype)


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.7g}")


@mxnet.optimizer.register
class AdamW(mxnet.optimizer.Adam):
    """MXNet has its update, but no optimizer that calls it."""

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Call the update with the rate that Adam would have."""
        self._update_count(index)
        count = self._index_update_count[index]
        bias = math.sqrt(1 - self.beta2**count) / (1 - self.beta1**count)
        rate = self._get_lr(index)
        mxnet.nd.contrib.adamw_update(
            weight,
            grad,
            *state,
            mxnet.nd.array([self.rescale_grad]),
            out=weight,
            lr=rate * bias,
            eta=1.0,
            wd=self._get_wd(index) * rate,
        )


def _curve(name: str) -> list[float]:
    # The steps at random of Langevin dynamics are left out: what remains can be compared.
    optimizer = mxnet.optimizer.optimizer
    optimizer.normal = lambda *_, shape, **__: mxnet.nd.zeros(shape)
    return training_curve(mxnet, name, _array)


def main() -> None:
    """Record everything."""
    answers = {
        "layers": {name: answer_of_layer(mxnet, name, _array) for name in LAYERS},
        "losses": {name: answer_of_loss(mxnet, name, _array) for name in LOSSES},
        "shapes": {text: shapes_that_fit(mxnet, text, _array) for text in LOSSES_OF_TWO},
        "curves": {name: {"loss": _curve(name)} for name in OPTIMIZERS},
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
