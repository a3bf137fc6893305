# SPDX-License-Identifier: Apache-2.0
"""``mx.nd.linalg``: decompositions and products of stacks of matrices."""

from __future__ import annotations

__all__: list[str] = []
