# SPDX-License-Identifier: Apache-2.0
"""The tables of cases that other tests are made from."""

from __future__ import annotations

import sys
from pathlib import Path

_TESTS = Path(__file__).parents[1]
for _folder in (_TESTS, _TESTS / "ndarray"):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

from gluon import cases as layers  # noqa: E402
from lazy.programs import digests as random_programs  # noqa: E402
from records import RECORDS, Record, Sample, as_list, fixed, of, public_names  # noqa: E402
from symbol import cases as graphs  # noqa: E402
from test_golden import CASES as GOLDEN  # noqa: E402
from test_golden import run as run_golden  # noqa: E402
from test_onnx import CASES as ONNX  # noqa: E402

__all__ = [
    "GOLDEN",
    "ONNX",
    "RECORDS",
    "Record",
    "Sample",
    "as_list",
    "fixed",
    "graphs",
    "layers",
    "of",
    "public_names",
    "random_programs",
    "run_golden",
]
