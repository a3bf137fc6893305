# SPDX-License-Identifier: Apache-2.0
"""Check that MXNet reads our graphs and networks and computes the same.

``check_symbols.py write FOLDER`` with Afterglow, then ``check_symbols.py read FOLDER`` with MXNet.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as onp

sys.path.insert(0, str(Path(__file__).parents[1] / "symbol"))

from cases import (
    LEGACY_NETS,
    NETS,
    SYMBOLS,
    answer_of,
    answer_of_net,
    make_net,
    make_symbol,
)


def _file(folder: Path, kind: str, name: str) -> Path:
    path = folder / kind / name.replace(" ", "_").replace(",", "")
    path.mkdir(parents=True, exist_ok=True)
    return path


def write(folder: Path) -> None:
    """Write graphs and networks with Afterglow, and what they compute."""
    import afterglow as mx

    for name, (_, inputs) in SYMBOLS.items():
        path = _file(folder, "symbols", name)
        symbol = make_symbol(mx, name)
        symbol.save(str(path / "net-symbol.json"))
        (path / "answer.json").write_text(json.dumps(answer_of(mx, symbol, inputs)))
    for kind, names in (("nets", [*NETS, *LEGACY_NETS]), ("np_nets", [*NETS])):
        if kind == "np_nets":
            mx.npx.set_np()
        for name in names:
            path = _file(folder, kind, name)
            (path / "answer.json").write_text(json.dumps(answer_of_net(mx, name, path)))


def _compare(what: str, ours: Any, theirs: Any) -> None:
    if isinstance(ours, dict):
        for name in ours:
            _compare(f"{what}, {name}", ours[name], theirs[name])
    elif ours and isinstance(ours[0], list):
        for one, other in zip(ours, theirs, strict=True):
            _compare(what, one, other)
    elif not onp.allclose(ours, theirs, rtol=1e-4, atol=2e-5):
        print(f"{what}: {ours} against {theirs}")


def read(folder: Path) -> None:
    """Read the graphs and networks with MXNet, and compare."""
    import mxnet as mx

    for name, (_, inputs) in SYMBOLS.items():
        path = _file(folder, "symbols", name)
        symbol = mx.sym.load(str(path / "net-symbol.json"))
        ours, theirs = json.loads((path / "answer.json").read_text()), answer_of(mx, symbol, inputs)
        for key in ("predicted", "trained", "gradients", "states"):
            _compare(f"{name}: {key}", ours[key], theirs[key])
    for kind, names in (("nets", [*NETS, *LEGACY_NETS]), ("np_nets", [*NETS])):
        if kind == "np_nets":
            mx.npx.set_np()
        for name in names:
            path = _file(folder, kind, name)
            graph, params = str(path / "net-symbol.json"), str(path / "net-0003.params")
            block = mx.gluon.SymbolBlock.imports(graph, ["data"], params)
            output = block(make_net(mx, name)[1])
            ours = json.loads((path / "answer.json").read_text())
            _compare(f"{kind}, {name}", ours["output"], output.asnumpy().ravel().tolist())
    print("read everything")


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](Path(sys.argv[2]))
