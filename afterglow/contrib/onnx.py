# SPDX-License-Identifier: Apache-2.0
"""Where MXNet before 1.9 had ``mx.onnx``."""

from __future__ import annotations

from typing import Any, NoReturn

from ..error import ArrayNotImplementedError
from ..onnx import export_model

__all__ = ["export_model", "get_model_metadata", "import_model", "import_to_gluon"]


def _refuse(name: str) -> NoReturn:
    raise ArrayNotImplementedError(f"[{name}] ONNX models can be written, not read")


def import_model(model_file: Any) -> NoReturn:
    """Raise: ONNX models can be written, not read."""
    _refuse("import_model")


def import_to_gluon(model_file: Any, ctx: Any) -> NoReturn:
    """Raise: ONNX models can be written, not read."""
    _refuse("import_to_gluon")


def get_model_metadata(model_file: Any) -> NoReturn:
    """Raise: ONNX models can be written, not read."""
    _refuse("get_model_metadata")
