# SPDX-License-Identifier: Apache-2.0
"""What the machine is and what it lets this process use, for ``afterglow info``."""

from __future__ import annotations

import ctypes
import os
import platform
import re
from math import ceil
from pathlib import Path

from .. import _core, environment

#: What decides how fast arrays are computed, in the words of /proc/cpuinfo.
_FEATURES = (
    "sse4_2 avx f16c fma bmi2 avx2 avx512f avx512bw avx512dq avx512vl avx512_vnni avx512_bf16 "
    "avx512_fp16 avx_vnni amx_tile amx_int8 amx_bf16 asimd asimdhp asimddp sve sve2 bf16 i8mm"
)


def _text(path: str | Path) -> str:
    """Return what a file of the system says; nothing where there is none."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _processor_entry(*names: str) -> str:
    for name in names:
        if found := re.search(rf"^{name}\s*:\s*(.*)$", _text("/proc/cpuinfo"), re.MULTILINE):
            return found[1].strip()
    return ""


def processor_name() -> str:
    """Return the name of the processor, as good as the system knows it."""
    return _processor_entry("model name", "Model") or platform.processor() or platform.machine()


def features() -> list[str]:
    """Return the vector instructions that the processor says it has."""
    present = set(_processor_entry("flags", "Features").split())
    return [feature for feature in _FEATURES.split() if feature in present]


def usable_processors() -> int:
    """Return how many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quota_in(folder: Path) -> float | None:
    """Return how many processors one control group may use: version 2, or 1."""
    words = _text(folder / "cpu.max").split() or [
        *_text(folder / "cpu.cfs_quota_us").split(),
        *_text(folder / "cpu.cfs_period_us").split(),
    ]
    if len(words) != 2 or not words[0].isdigit() or not int(words[1]):
        return None  # "max", or -1
    return int(words[0]) / int(words[1]) or None


def quota(root: str = "/") -> float | None:
    """Return how many processors the control groups of this process grant, ``None`` for all.

    The core looks at the same files when it chooses how many threads to use.
    """
    groups = Path(root, "sys/fs/cgroup")
    found = []
    for line in _text(Path(root, "proc/self/cgroup")).splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if not path.startswith("/"):
            continue
        if not controllers:
            mounts = [groups, groups / "unified"]
        elif "cpu" in controllers.split(","):
            mounts = [groups / controllers, groups / "cpu"]
        else:
            continue
        for mount in mounts:
            # A group is also bound by those above it, up to the root of the mount.
            inside = Path(path.lstrip("/"))
            found += [_quota_in(mount / part) for part in (inside, *inside.parents)]
    return min((processors for processors in found if processors), default=None)


def why_so_many_threads() -> str:
    """Say what set the limit of :func:`afterglow.engine.thread_limit`."""
    if _core.is_serial():
        return "the engine is serial"

    def wanted(name: str) -> int:
        value = os.environ.get(name, "")
        understood = re.fullmatch(environment.SETTINGS[name].pattern, value)
        return int(value.split(",")[0]) if understood else 0

    if wanted("AFTERGLOW_NUM_THREADS"):
        return "AFTERGLOW_NUM_THREADS"
    granted, usable = quota(), usable_processors()
    available = max(1, usable if granted is None else min(usable, ceil(granted)))
    for name in ("MXNET_CPU_WORKER_NTHREADS", "OMP_NUM_THREADS"):
        if number := wanted(name):
            if number <= available:
                return name
            break  # asks for more than there are
    if available < usable:
        return f"the control group grants {granted:g} processors"
    present = os.cpu_count() or usable
    if usable < present:
        return f"affinity: {usable} of {present} processors"
    return "one per processor"


def available_memory() -> tuple[int, int] | None:
    """Return the bytes of memory that the machine has, and those that are free to use."""
    found = dict(re.findall(r"^(MemTotal|MemAvailable):\s+(\d+) kB", _text("/proc/meminfo"), re.M))
    if len(found) < 2:
        return None
    return int(found["MemTotal"]) << 10, int(found["MemAvailable"]) << 10


def compiler() -> str | None:
    """Return the compiler that made the core, which leaves its name in the file."""
    content = Path(_core.__file__).read_bytes()
    found = re.search(rb"GCC: \([^\0)]*\) [\d.]+|clang version [^\0\n]{1,60}", content)
    return found[0].decode(errors="replace") if found else None


def blas_path() -> str:
    """Return where the maths library lies."""
    return str(Path(_core.__file__).parent / "lib" / "libscipy_openblas.so")


def blas_version() -> str:
    """Return what the maths library says of itself, after a product made the core open it.

    Opened by this function first, it would start threads.
    """
    from .. import nd

    matrix = nd.ones((64, 64))
    nd.dot(matrix, matrix).wait_to_read()
    describe = ctypes.CDLL(blas_path()).scipy_openblas_get_config
    describe.restype = ctypes.c_char_p
    return str(describe().decode(errors="replace"))
