# SPDX-License-Identifier: Apache-2.0
"""Where MXNet before 1.9 had ``mx.onnx``; what reads models is still here in 1.9."""

from __future__ import annotations

from ..onnx import export_model, get_model_metadata, import_model, import_to_gluon

__all__ = ["export_model", "get_model_metadata", "import_model", "import_to_gluon"]
