# SPDX-License-Identifier: Apache-2.0
"""``mx.mod``: training of symbols with iterators of batches."""

from __future__ import annotations

from .._package.namespace import tend
from .base_module import BaseModule
from .bucketing_module import BucketingModule
from .module import Module
from .python_module import PythonLossModule, PythonModule
from .sequential_module import SequentialModule

__all__ = [
    "BaseModule",
    "BucketingModule",
    "Module",
    "PythonLossModule",
    "PythonModule",
    "SequentialModule",
]

tend(__name__)
