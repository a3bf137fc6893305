# SPDX-License-Identifier: Apache-2.0
"""Write what MXNet says of the networks of ``zoo.py`` to ``zoo.json``. Needs MXNet 1.9.1."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mxnet
from mxnet.gluon.model_zoo.model_store import _model_sha1
from zoo import NETS, SMALL, answer_of_model, answer_of_net, files_of, names_in


def _short(rows: list[list[float]]) -> list[list[float]]:
    return [[float(f"{value:.7g}") for value in row] for row in rows]


def main() -> None:
    """Record everything."""
    with TemporaryDirectory() as folder:
        files = files_of(mxnet, SMALL[0], Path(folder))
    answers: dict[str, dict[str, Any]] = {
        "models": {name: answer_of_model(mxnet, name) for name in sorted(_model_sha1)},
        "sums": dict(sorted(_model_sha1.items())),
        "names": {name: names_in(mxnet, name) for name in SMALL},
        "outputs": {name: _short(answer_of_net(mxnet, name)) for name in NETS},
        "files": files,
    }
    lines = [
        f'"{kind}": {{\n'
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in table.items())
        + "\n}"
        for kind, table in answers.items()
    ]
    Path(__file__).with_name("zoo.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
