# SPDX-License-Identifier: Apache-2.0
"""Writes names.json: which names programs use, with the keywords they pass.

    python tests/golden/record_names.py USAGE.md

USAGE.md is a count of the API uses in books and examples: a heading per namespace, below it tables
with columns "API" or "member", uses per corpus and "keyword args seen", and lists of rarer names.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

#: Heading in the count, and the namespace here. Names there are relative to ``mxnet``.
NAMESPACES = {
    "nd": "nd",
    "nd.random": "nd.random",
    "nd.contrib": "nd.contrib",
    "nd.linalg": "nd.linalg",
    "np": "np",
    "np.random": "np.random",
    "np.linalg": "np.linalg",
    "npx": "npx",
    "F (hybrid_forward namespace)": "F",
    "autograd": "autograd",
    "gluon core": "gluon",
    "gluon.nn": "gluon.nn",
    "gluon.rnn": "gluon.rnn",
    "gluon.loss": "gluon.loss",
    "gluon.data": "gluon.data",
    "gluon.data.vision": "gluon.data.vision",
    "gluon.data.vision.transforms": "gluon.data.vision.transforms",
    "gluon.utils": "gluon.utils",
    "gluon.model_zoo": "gluon.model_zoo.vision",
    "gluon.contrib": "gluon.contrib",
    "init": "init",
    "optimizer": "optimizer",
    "lr_scheduler": "lr_scheduler",
    "metric": "metric",
    "kvstore": "kv",
    "random (mx.random)": "random",
    "context / device": "",
    "operator (custom ops)": "operator",
    "top level and other": "",
}
METHODS = "NDArray / np.ndarray"
#: Heading in the count, and the class whose members are listed below it.
CLASSES = {
    "Block / HybridBlock / Sequential (incl. rnn layers and cells)": "gluon.HybridBlock",
    "Parameter": "gluon.Parameter",
    "ParameterDict (result of collect_params, Block.params)": "gluon.ParameterDict",
    "gluon.Trainer": "gluon.Trainer",
    "gluon Dataset": "gluon.data.Dataset",
    "EvalMetric": "metric.EvalMetric",
    "KVStore": "kv.KVStore",
    "Optimizer": "optimizer.Optimizer",
    "LRScheduler": "lr_scheduler.LRScheduler",
}

Names = dict[str, dict[str, list[str]]]


def keywords(text: str) -> list[str]:
    """Return the keyword names of a cell such as ``ctx ×17, dtype='int32' ×2; pos 1-2``."""
    return re.findall(r"(\w+)(?:=[^,;×]*)? ×", text)


def sections(text: str) -> dict[str, list[str]]:
    """Return the lines below every heading."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("#"):
            lines = found.setdefault(line.lstrip("# "), [])
        else:
            lines.append(line)
    return found


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def names_in(lines: list[str]) -> list[tuple[str, list[str], list[str]]]:
    """Return name, uses per corpus and keywords of every row; of rarer names the name alone."""
    rows = []
    for line in lines:
        if line.startswith("| `"):
            name, *uses, seen = cells(line)
            rows.append((name.strip("`"), uses, keywords(seen)))
        elif "nly in example/" in line:
            rows += [(name, [], []) for name in re.findall(r"`([\w.]+(?: =)?)` \d", line)]
    return rows


def record(text: str) -> Names:
    found = sections(text)
    names: Names = {namespace or "mx": {} for namespace in NAMESPACES.values()}
    for heading in NAMESPACES:
        for name, _, seen in names_in(found[heading]):
            home, _, last = name.rpartition(".")
            names.setdefault(home or "mx", {})[last] = sorted(seen)
    for heading, owner in CLASSES.items():
        names[owner] = {}
        for name, _, seen in names_in(found[heading]):
            member = name.removesuffix(" =")  # one that is assigned to
            if member.isidentifier():
                names[owner].setdefault(member, sorted(seen))
    names["NDArray"], names["ndarray"] = {}, {}
    for name, uses, seen in names_in(found[METHODS]):
        # The columns: a book and examples for nd, books for np.
        classic, numpy, example = uses or ["·", "·", "1"]
        if classic != "·" or example != "·":
            names["NDArray"][name] = sorted(seen)
        if numpy != "·":
            names["ndarray"][name] = sorted(seen)
    return names


if __name__ == "__main__":
    recorded = record(Path(sys.argv[1]).read_text(encoding="utf-8"))
    target = Path(__file__).with_name("names.json")
    target.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")
