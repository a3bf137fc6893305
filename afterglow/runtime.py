# SPDX-License-Identifier: Apache-2.0
"""``mx.runtime``: what this build can do, by the names of MXNet's features.

>>> from afterglow import runtime
>>> runtime.Features().is_enabled("CUDA")
False
"""

from __future__ import annotations

from typing import NamedTuple

from ._package.namespace import tend
from .engine import instruction_set
from .error import MXNetError

__all__ = ["Feature", "Features", "feature_list"]

#: What MXNet's builds may have and this one has not: devices, compilers, libraries of others.
_ABSENT = (
    *("CUDA", "CUDNN", "NCCL", "CUDA_RTC", "TENSORRT"),
    *("CPU_SSE4A", "JEMALLOC", "BLAS_ATLAS", "BLAS_MKL", "BLAS_APPLE"),
    *("MKLDNN", "CAFFE", "DIST_KVSTORE", "TVM_OP", "SSE", "OPENMP", "DEBUG"),
)
#: What is there whatever the processor.
_PRESENT = (
    *("BLAS_OPEN", "LAPACK", "OPENCV", "PROFILER", "CXX14", "INT64_TENSOR_SIZE"),
    "SIGNAL_HANDLER",
)
#: Instructions that kernels use, by the least level of x86-64 that has them.
_INSTRUCTIONS = {
    "CPU_SSE": 1,
    "CPU_SSE2": 1,
    "CPU_SSE3": 2,
    "CPU_SSE4_1": 2,
    "CPU_SSE4_2": 2,
    "CPU_AVX": 3,
    "CPU_AVX2": 3,
    "F16C": 3,
}


class Feature(NamedTuple):
    """A feature: its name, and whether it is there."""

    name: str
    enabled: bool

    def __repr__(self) -> str:
        return f"{'✔' if self.enabled else '✖'} {self.name}"


def feature_list() -> list[Feature]:
    """Return all features that MXNet's builds know."""
    name = instruction_set()
    level = int(name[-1]) if name.startswith("x86-64-v") else 0
    known = dict.fromkeys(_ABSENT, False) | dict.fromkeys(_PRESENT, True)
    known |= {one: least <= level for one, least in _INSTRUCTIONS.items()}
    return [Feature(one, enabled) for one, enabled in sorted(known.items())]


class Features(dict[str, Feature]):
    """The features by name; there is one such dictionary."""

    instance: Features | None = None

    def __new__(cls) -> Features:
        """Return the one dictionary."""
        if cls.instance is None:
            cls.instance = super().__new__(cls)
            cls.instance.update((one.name, one) for one in feature_list())
        return cls.instance

    def __init__(self) -> None:
        """Leave the dictionary as it is."""

    def __repr__(self) -> str:
        return str(list(self.values()))

    def is_enabled(self, feature_name: str) -> bool:
        """Tell whether a feature is there; its name may be written in small letters."""
        name = feature_name.upper()
        if name not in self:
            raise MXNetError(f"Feature '{name}' is unknown, known features are: {list(self)}")
        return self[name].enabled


tend(__name__)
