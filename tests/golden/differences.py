# SPDX-License-Identifier: Apache-2.0
"""Where Afterglow answers otherwise than MXNet 1.9.1, by name of the recorded case, with the reason.

docs/differences.md says the same to users.
"""

from __future__ import annotations

BETTER: dict[str, str] = {}
NOT_YET: dict[str, str] = {}
