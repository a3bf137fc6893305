# SPDX-License-Identifier: Apache-2.0
"""``mx.onnx``: symbols as ONNX models; needs ``pip install afterglow[onnx]``."""

from __future__ import annotations

from .._package.namespace import tend
from ._export import export_model, get_operator_support

__all__ = ["export_model", "get_operator_support"]

tend(__name__)
