# SPDX-License-Identifier: Apache-2.0
"""``mx.onnx``: symbols as ONNX models and back; needs ``pip install afterglow[onnx]``."""

from __future__ import annotations

from .._package.namespace import tend
from ._export import export_model, get_operator_support
from ._import import get_model_metadata, import_model, import_to_gluon

__all__ = [
    "export_model",
    "get_model_metadata",
    "get_operator_support",
    "import_model",
    "import_to_gluon",
]

tend(__name__)
