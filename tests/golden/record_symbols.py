# SPDX-License-Identifier: Apache-2.0
"""Write MXNet's answers about graphs to ``symbols.json``. Needs MXNet 1.9.1."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import mxnet

sys.path.insert(0, str(Path(__file__).parents[1] / "symbol"))

from cases import (
    DRAWN,
    LEGACY_NETS,
    NETS,
    OLD,
    SYMBOLS,
    answer_of,
    answer_of_net,
    make_symbol,
    shape_of,
)


def _symbol(name: str) -> dict[str, Any]:
    symbol = make_symbol(mxnet, name)
    answer = answer_of(mxnet, symbol, SYMBOLS[name][1])
    return {"json": symbol.tojson(), "debug": symbol.debug_str(), "text": repr(symbol), **answer}


def _drawn(name: str) -> dict[str, Any]:
    symbol = make_symbol(mxnet, name)
    shapes = symbol.infer_shape(**{key: shape_of(x) for key, x in DRAWN[name][1].items()})
    names = [
        symbol.list_arguments(),
        symbol.list_outputs(),
        symbol.list_auxiliary_states(),
    ]
    return {"json": symbol.tojson(), "shapes": shapes, "names": names}


def _old(name: str) -> dict[str, Any]:
    graph, inputs = OLD[name]
    symbol = mxnet.sym.load_json(json.dumps(graph))
    return {"json": symbol.tojson(), **answer_of(mxnet, symbol, inputs)}


def _net(name: str, numpy: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        if not numpy:
            return answer_of_net(mxnet, name, Path(folder))
        with mxnet.util.np_shape(True), mxnet.util.np_array(True):
            return answer_of_net(mxnet, name, Path(folder))


def main() -> None:
    """Record everything."""
    answers = {
        "symbols": {name: _symbol(name) for name in SYMBOLS},
        "drawn": {name: _drawn(name) for name in DRAWN},
        "old": {name: _old(name) for name in OLD},
        "nets": {name: _net(name, False) for name in [*NETS, *LEGACY_NETS]},
        "np nets": {name: _net(name, True) for name in NETS},
    }
    lines = [
        f'"{kind}": {{\n'
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(x)}" for name, x in table.items())
        + "\n}"
        for kind, table in answers.items()
    ]
    Path(__file__).with_name("symbols.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
