# SPDX-License-Identifier: Apache-2.0
"""What was issued, waited for and run, when and where: recorded, shown as a page, summed up."""

from .recording import Recording, Table

__all__ = ["Recording", "Table"]
