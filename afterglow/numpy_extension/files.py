# SPDX-License-Identifier: Apache-2.0
"""Arrays in files, in MXNet's format, for ``np`` arrays."""

from __future__ import annotations

__all__: list[str] = []
