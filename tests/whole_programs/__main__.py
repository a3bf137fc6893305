# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.whole_programs``: runs them with Afterglow or, to record losses, with MXNet."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import itertools
import json
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as onp

LOSSES = Path(__file__).with_name("losses.json")

#: Programs, by the module that has them and their name, and the least score of each.
PROGRAMS = {
    "images.lenet": 0.95,
    "images.resnet": 0.95,
    "images.cifar": 0.6,
    "images.augmented": 0.95,
    "detector.ssd": 0.8,
    "segmentation.fcn": 0.9,
    "vectors.skip_gram": 0.95,
    "translator.attention": 0.9,
    "pretraining.bert": 0.6,
    "sequences.grammar": 0.95,
    "sequences.backwards": 0.95,
    "sentiment.recurrent": 0.85,
    "sentiment.convolutional": 0.9,
    "language.by_hand": 0.5,
    "language.layers": 0.55,
    "inference.snli": 0.8,
    "tables.houses": 0.5,
    "tables.ratings": 0.75,
    "makers.adversaries": 0.5,
    "makers.style": 0.1,
    "tuning.whole": 0.9,
    "tuning.last_layers": 0.9,
}
MODES = [
    f"{world} {way}" for world, way in itertools.product(("nd", "np"), ("plain", "hybridized"))
]


def run(name: str, mode: str) -> dict[str, Any]:
    """Run a program; return its losses and its score."""
    import mxnet as mx

    world, way = mode.split()
    mx.npx.set_np() if world == "np" else mx.npx.reset_np()
    random.seed(1)
    onp.random.seed(1)
    mx.random.seed(1)
    module, function = name.split(".")
    program = getattr(importlib.import_module(f"tests.whole_programs.{module}"), function)
    # Datasets tell that their files are not those of MXNet's store.
    quiet = contextlib.redirect_stdout(io.StringIO())
    with tempfile.TemporaryDirectory() as folder, mx.name.NameManager(), quiet:
        return program(Path(folder), way == "hybridized")._asdict()


def distance(losses: list[float], expected: list[float]) -> float:
    """Return by how much losses differ at most, relative to their size."""
    each = zip(losses, expected, strict=True)
    return max((abs(one - other) / abs(other) for one, other in each), default=0.0)


def record(names: list[str]) -> None:
    """Write MXNet's losses, or why it has none."""
    import mxnet
    from mxnet.gluon.data.vision import datasets

    # It would refuse files that are not those of its store.
    datasets.check_sha1 = mxnet.gluon.utils.check_sha1 = lambda *_: True
    answers = json.loads(LOSSES.read_text()) if LOSSES.exists() else {}
    for name in names:
        answers[name] = {}
        for mode in MODES:
            try:
                answer = run(name, mode)
                answer["losses"] = [float(f"{loss:.7g}") for loss in answer["losses"]]
            except Exception as error:
                traceback.print_exc()
                answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
            answers[name][mode] = answer
            print(name, mode, answer.get("error") or (answer["losses"][::7], answer["score"]))
    lines = [
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(f"{json.dumps(mode)}: {json.dumps(found)}" for mode, found in modes.items())
        + "\n}"
        for name, modes in sorted(answers.items())
    ]
    LOSSES.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def compare(names: list[str]) -> None:
    """Print how far losses are from MXNet's."""
    recorded = json.loads(LOSSES.read_text()) if LOSSES.exists() else {}
    for name, mode in itertools.product(names, MODES):
        start = time.perf_counter()
        found = run(name, mode)
        seconds = time.perf_counter() - start
        expected = recorded.get(name, {}).get(mode, {})
        apart = distance(found["losses"], expected["losses"]) if "losses" in expected else None
        print(f"{name:28}{mode:16}{seconds:6.2f} s  score {found['score']:.3f}", end="  ")
        print(f"{apart:.1e} from MXNet's" if apart is not None else expected.get("error", ""))


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", choices=[*PROGRAMS, []])
    parser.add_argument("--record", action="store_true", help="with MXNet: write losses.json")
    parser.add_argument("--json", action="store_true", help="print losses and scores as JSON")
    given = parser.parse_args()
    names = given.names or list(PROGRAMS)
    if given.record:
        return record(names)
    import afterglow.as_mxnet  # noqa: F401

    if given.json:
        found = {name: {mode: run(name, mode) for mode in MODES} for name in names}
        json.dump(found, sys.stdout)
        return None
    return compare(names)


if __name__ == "__main__":
    main()
