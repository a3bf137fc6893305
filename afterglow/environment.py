# SPDX-License-Identifier: Apache-2.0
"""Environment variables: those that act, those of MXNet that are not needed here, and misspellings.

``docs/environment.md`` shows the same table; a test compares the two. Variables are read once, when
the package is imported or the engine starts, unless their effect says otherwise.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from typing import NamedTuple

from . import _core, engine

__all__ = ["FOR_TESTS", "IDLE", "SETTINGS", "Idle", "Setting", "apply", "explain", "problems"]


class Setting(NamedTuple):
    """A variable that acts."""

    values: str  #: what may be given
    default: str  #: what holds when it is not set
    effect: str
    pattern: str  #: a regular expression of the values that are understood


class Idle(NamedTuple):
    """A variable of MXNet's that changes nothing here."""

    reason: str
    fine: str  #: a regular expression of values that ask for nothing that is missing: no warning


# What the readers in C++ take; they know no other spellings.
_NUMBER = r" *0*[1-9]\d* *(,.*)?"
_LIMIT = r"\s*\+?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|(?i:inf(inity)?))"
_DEVICES = r"\s*0*(\d{1,2}|1\d\d|2[0-4]\d|25[0-6])\s*"
_SWITCH = r"\s*(0|1|(?i:true|false))\s*"

#: Every variable that the package reads.
SETTINGS: dict[str, Setting] = {
    "AFTERGLOW_ENGINE": Setting(
        "`serial`, `threaded`",
        "`threaded`",
        "`serial`: every call runs at once on the calling thread, errors are raised at the call",
        "serial|threaded",
    ),
    "MXNET_ENGINE_TYPE": Setting(
        "`NaiveEngine`, `ThreadedEngine`, `ThreadedEnginePerDevice`",
        "`ThreadedEnginePerDevice`",
        "`NaiveEngine` is the serial engine, the others are the threaded one; `AFTERGLOW_ENGINE` "
        "wins",
        "NaiveEngine|ThreadedEngine|ThreadedEnginePooled|ThreadedEnginePerDevice",
    ),
    "AFTERGLOW_NUM_THREADS": Setting(
        "a positive number",
        "the processors that the process may use",
        "how many threads may compute at once, even more than there are processors",
        _NUMBER,
    ),
    "MXNET_CPU_WORKER_NTHREADS": Setting(
        "a positive number",
        "the processors that the process may use",
        "at most so many threads; `AFTERGLOW_NUM_THREADS` wins",
        _NUMBER,
    ),
    "OMP_NUM_THREADS": Setting(
        "a positive number, or a list that begins with one",
        "the processors that the process may use",
        "at most so many threads; `AFTERGLOW_NUM_THREADS` and `MXNET_CPU_WORKER_NTHREADS` win",
        _NUMBER,
    ),
    "AFTERGLOW_DEVICES": Setting(
        "a number from 0 to 256",
        "0",
        "the threads are divided among so many devices `cpu(0)`, `cpu(1)`, ...; `0`: each uses all "
        "of them; see `engine.set_devices`",
        _DEVICES,
    ),
    "AFTERGLOW_GPUS": Setting(
        "a number from 0 to 256",
        "0",
        "so many GPUs are pretended, each a share of the threads; see `engine.pretend_gpus`",
        _DEVICES,
    ),
    "AFTERGLOW_INSTRUCTION_SET": Setting(
        "`portable`, `x86-64-v2`, `x86-64-v3`, `x86-64-v4`",
        "the best that the processor has",
        "the kernels in use are at most of this kind; `portable`, where it was built, as for tests",
        "portable|x86-64-v[234]",
    ),
    "AFTERGLOW_RUN_AHEAD_BYTES": Setting(
        "a number of bytes, `inf`",
        "8388608 held, 1073741824 in all",
        "how much memory unfinished calls may hold before Python waits; see `engine.set_run_ahead`",
        _LIMIT,
    ),
    "AFTERGLOW_RUN_AHEAD_SECONDS": Setting(
        "seconds, `inf`",
        "10",
        "how much estimated work may be queued before Python waits",
        _LIMIT,
    ),
    "AFTERGLOW_DISABLE_PASSES": Setting(
        "names of `engine.passes()` with commas between them, `all`",
        "none",
        "these passes over held calls are off; values do not change",
        ".*",  # the names are looked at one by one
    ),
    "MXNET_USE_FUSION": Setting(
        "`0`, `1`", "`1`", "`0` switches the pass `fuse` off: every call runs alone", _SWITCH
    ),
    "MXNET_EXEC_ENABLE_INPLACE": Setting(
        "`0`, `1`, `false`, `true`",
        "`1`",
        "`0` switches the pass `reuse` off: no result takes over the memory of an input",
        _SWITCH,
    ),
    "MXNET_UPDATE_ON_KVSTORE": Setting(
        "`0`, `1`",
        "`1`",
        "`0`: trainers and modules on several devices do not let the store update the weights, "
        "unless they are told to; read when they are made",
        _SWITCH,
    ),
    "MXNET_STORAGE_FALLBACK_LOG_VERBOSE": Setting(
        "`0`, `1`",
        "`1`",
        "`0`: nothing is said when an op without a form for sparse arrays is given dense copies",
        _SWITCH,
    ),
    "MXNET_PROFILER_AUTOSTART": Setting(
        "`0`, `1`",
        "`0`",
        "`1`: `mx.profiler` records from the import on and writes `profile.json` at exit",
        "0|1",
    ),
    "MXNET_HOME": Setting(
        "a folder",
        "`~/.mxnet`",
        "where files that are fetched are kept: trained models in `models`, data in `datasets`, "
        "vectors of words in `embeddings`; read when one is asked for",
        ".*",
    ),
    "MXNET_GLUON_REPO": Setting(
        "an address",
        "that of MXNet's files",
        "where trained models, data and vectors of words are fetched from; read when one is asked "
        "for",
        ".*",
    ),
    "AFTERGLOW_GROUP": Setting(
        "what `afterglow launch` sets",
        "a group of one process",
        "rank, ranks, the same on this machine, and where the launcher is; read when the group is "
        "formed",
        r"\d+ \d+ \d+ \d+ \S+:\d+ \S+",
    ),
    "DMLC_NUM_WORKER": Setting(
        "what `afterglow launch` sets",
        "1",
        "the number of ranks, for programs that read it; a process that was started alone forms no "
        "group if it is more than 1",
        r"\d+",
    ),
    "AFTERGLOW_RANK_TIMEOUT": Setting(
        "seconds",
        "30",
        "how long a rank that is dead, stopped or cut off may stay unnoticed by the others",
        _LIMIT,
    ),
    "AFTERGLOW_ADDRESS": Setting(
        "an address of this machine",
        "that of the route to other networks",
        "where ranks on other machines find the launcher",
        ".*",
    ),
    "AFTERGLOW_OLDER_NAMES": Setting(
        "`0`, `1`",
        "`1`",
        "`0`: `import afterglow.as_mxnet` leaves other packages as they are; else names and "
        "defaults of MXNet's time are put back in NumPy, IPython, Matplotlib, pandas and Python's "
        "own modules, and helpers of books that find no GPU take the CPU; read by that import, and "
        "at the start of Python after `afterglow install-shim --old-names`",
        "0|1",
    ),
    "AFTERGLOW_DETECT_ANOMALY": Setting(
        "`0`, `1`",
        "`0`",
        "`1`: every thread raises at the first call whose result has nan, or is infinite although "
        "its inputs are not; see `autograd.detect_anomaly`",
        "0|1",
    ),
    "AFTERGLOW_DEBUG": Setting(
        "`0` to `4`",
        "`0`",
        "tells on standard error: `1` a line per flush of the window, `2` also per task, `3` also "
        "the calls before and after each pass, `4` also every call",
        ".*",  # what is no number is 0
    ),
}

#: Variables that only the project's own tests read.
FOR_TESTS: dict[str, str] = {
    "AFTERGLOW_TEST_SEED": "the seed of all random numbers in the Python tests",
    "AFTERGLOW_RANDOM_PROGRAMS": "how many random programs tests of the window and of blocks run",
    "AFTERGLOW_BLAS": "where the C++ tests find the maths library",
}

#: Passes that MXNet's switches turn off.
_PASSES = {"MXNET_USE_FUSION": "fuse", "MXNET_EXEC_ENABLE_INPLACE": "reuse"}

_ANY = ".*"
_NONE = ""

#: Why, which values need no warning, and the names.
_IDLE: list[tuple[str, str, str]] = [
    (
        "the same program gives the same bits every time on one machine",
        _ANY,
        "MXNET_ENFORCE_DETERMINISM",
    ),
    (
        "float16 is always summed in float32, float32 in many partial sums",
        _ANY,
        "MXNET_SAFE_ACCUMULATION",
    ),
    (
        "there is one compiled core, which the package brings along",
        _ANY,
        "MXNET_LIBRARY_PATH MXNET_INCLUDE_PATH MXNET_CONF_PATH MXNET_ENABLE_CYTHON "
        "MXNET_ENFORCE_CYTHON",
    ),
    (
        "calls are gathered by what they cost; AFTERGLOW_DISABLE_PASSES=fuse runs each alone",
        "1|true",
        "MXNET_EXEC_BULK_EXEC_INFERENCE MXNET_EXEC_BULK_EXEC_TRAIN "
        "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD "
        "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD",
    ),
    (
        "the same threads do all the work; AFTERGLOW_NUM_THREADS limits them",
        _NONE,
        "MXNET_CPU_PRIORITY_NTHREADS MXNET_CPU_NNPACK_NTHREADS MXNET_OMP_MAX_THREADS "
        "MXNET_KVSTORE_REDUCTION_NTHREADS MXNET_MP_WORKER_NTHREADS",
    ),
    (
        "OpenCV is not used",
        _ANY,
        "MXNET_MP_OPENCV_NUM_THREADS",
    ),
    (
        "work is cut by its size and cost",
        _ANY,
        "MXNET_CPU_PARALLEL_SIZE MXNET_CPU_PARALLEL_COPY_SIZE MXNET_USE_OPERATOR_TUNING "
        "MXNET_ENABLE_OPERATOR_TUNING MXNET_USE_NUM_CORES_OPERATOR_TUNING "
        "MXNET_OUTPUT_TUNING_DATA MXNET_TUNING_WEIGHT_SCALE MXNET_VERBOSE_TUNING_INFO",
    ),
    (
        "one pool keeps and hands out all buffers; memory.set_limit limits it",
        _NONE,
        "MXNET_CPU_MEM_POOL_TYPE MXNET_CPU_MEM_POOL_RESERVE MXNET_CPU_MEM_POOL_PAGE_SIZE "
        "MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF MXNET_CPU_MEM_LARGE_ALLOC_ROUND_SIZE "
        "MXNET_USE_NAIVE_STORAGE_MANAGER MXNET_USE_NAIVE_STORAGE_MANAGERS MXNET_EXEC_NUM_TEMP "
        "MXNET_EXEC_INPLACE_GRAD_SUM_CAP MXNET_CPU_TEMP_COPY NNVM_EXEC_MATCH_RANGE "
        "NNVM_EXEC_NUM_TEMP NNVM_AUTO_SEARCH_MATCH_RANGE",
    ),
    (
        "random numbers come from counters, not from generators with a state",
        _ANY,
        "MXNET_CPU_PARALLEL_RAND_COPY",
    ),
    (
        "backward computes nothing again; memory is given back when no rule needs it any more",
        "0",
        "MXNET_BACKWARD_DO_MIRROR MXNET_MEMORY_OPT",
    ),
    (
        "all parameters are updated together",
        _ANY,
        "MXNET_OPTIMIZER_AGGREGATION_SIZE MXNET_UPDATE_AGGREGATION_SIZE",
    ),
    (
        "equal calls of a hybridized block are always made once",
        "1|true",
        "MXNET_ELIMINATE_COMMON_EXPR",
    ),
    (
        "sums over processes are cut by their size",
        "0",
        "MXNET_KVSTORE_BIGARRAY_BOUND MXNET_KVSTORE_SERIAL_PUSH MXNET_KVSTORE_SLICE_THRESHOLD "
        "MXNET_KVSTORE_DIST_ROW_SPARSE_VERBOSE",
    ),
    (
        "`afterglow launch` starts the processes of a group, and there are no servers",
        _ANY,
        "DMLC_ROLE DMLC_WORKER_ID "
        "DMLC_PS_ROOT_URI DMLC_PS_ROOT_PORT DMLC_NUM_SERVER DMLC_INTERFACE "
        "DMLC_LOCAL DMLC_NODE_HOST DMLC_PS_VAN_TYPE DMLC_PS_WATER_MARK DMLC_RANK "
        "DMLC_USE_KUBERNETES PS_VERBOSE PS_RESEND PS_RESEND_TIMEOUT PS_DROP_MSG "
        "PS_HEARTBEAT_INTERVAL PS_HEARTBEAT_TIMEOUT",
    ),
    (
        "errors name the line of Python that issued the call",
        _ANY,
        "DMLC_LOG_STACK_TRACE_DEPTH",
    ),
    (
        "AFTERGLOW_DEBUG tells what happens to calls",
        "0",
        "MXNET_ENGINE_INFO MXNET_EXEC_VERBOSE_LOGGING MXNET_MEM_PLAN_VERBOSE_LOGGING "
        "MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING",
    ),
    (
        "a recording always has calls, runs, waits and memory",
        _ANY,
        "MXNET_PROFILER_MODE",
    ),
    (
        "graphs are not handed to other backends",
        "0|NONE",
        "MXNET_SUBGRAPH_BACKEND MXNET_SUBGRAPH_VERBOSE MXNET_QUANTIZATION_VERBOSE",
    ),
    (
        "oneDNN is not used",
        _ANY,
        "MXNET_MKLDNN_ENABLED MXNET_MKLDNN_CACHE_NUM MXNET_MKLDNN_DEBUG "
        "MXNET_MKLDNN_FORCE_FC_AB_FORMAT MXNET_MKLDNN_QFC_DYNAMIC_PARAMS MXNET_ONEDNN_ENABLED "
        "MXNET_ONEDNN_CACHE_NUM MXNET_ONEDNN_DEBUG MXNET_ONEDNN_FORCE_FC_AB_FORMAT "
        "MXNET_USE_MKLDNN_RNN MXNET_USE_ONEDNN_RNN MXNET_RNN_USE_WEIGHT_CACHE "
        "MXNET_DISABLE_MKLDNN_CONV_OPT MXNET_DISABLE_MKLDNN_FC_OPT "
        "MXNET_DISABLE_MKLDNN_FUSE_CONV_BN MXNET_DISABLE_MKLDNN_FUSE_CONV_RELU "
        "MXNET_DISABLE_MKLDNN_FUSE_CONV_SUM MXNET_DISABLE_MKLDNN_FUSE_FC_ELTWISE "
        "MXNET_DISABLE_MKLDNN_QEM_FLOAT_OUTPUT MXNET_DISABLE_MKLDNN_QEM_FUSE_ALL "
        "MXNET_DISABLE_MKLDNN_QFC_FLOAT_OUTPUT MXNET_DISABLE_MKLDNN_QFC_FUSE_ALL "
        "MXNET_DISABLE_MKLDNN_QTRANSFORMER_FLOAT_OUTPUT "
        "MXNET_DISABLE_MKLDNN_QTRANSFORMER_FUSE_ALL MXNET_DISABLE_MKLDNN_TRANSFORMER_OPT "
        "MKLDNN_VERBOSE MKLDNN_JIT_DUMP MKLDNN_QUANTIZE",
    ),
    (
        "there are no GPUs here",
        _ANY,
        "MXNET_GPU_WORKER_NTHREADS MXNET_GPU_WORKER_NSTREAMS MXNET_GPU_COPY_NTHREADS "
        "MXNET_GPU_MEM_POOL_TYPE MXNET_GPU_MEM_POOL_RESERVE MXNET_GPU_MEM_POOL_PAGE_SIZE "
        "MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE "
        "MXNET_GPU_TEMP_COPY MXNET_GPU_PARALLEL_RAND_COPY MXNET_GPU_CUDNN_DROPOUT_STATE_COPY "
        "MXNET_CPU_PINNED_MEM_POOL_TYPE MXNET_CPU_PINNED_MEM_POOL_RESERVE "
        "MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE MXNET_CPU_PINNED_MEM_POOL_ROUND_LINEAR_CUTOFF "
        "MXNET_CPU_PINNED_MEM_LARGE_ALLOC_ROUND_SIZE MXNET_ENABLE_GPU_P2P "
        "MXNET_KVSTORE_USETREE MXNET_KVSTORE_LOGTREE MXNET_KVSTORE_TREE_ARRAY_BOUND "
        "MXNET_KVSTORE_TREE_BACKTRACK MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY "
        "MXNET_CUDNN_AUTOTUNE_DEFAULT MXNET_CUDNN_HEUR_MODE MXNET_CUDNN_ALGO_VERBOSE_LEVEL "
        "MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION MXNET_CUDNN_ALLOW_FFT "
        "MXNET_CUDNN_ALLOW_WINOGRAD MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES "
        "MXNET_CUDNN_DISABLED_CONV_DGRAD_ENGINES MXNET_CUDNN_DISABLED_CONV_WGRAD_ENGINES "
        "MXNET_CUDNN_LIB_CHECKING MXNET_CUDA_LIB_CHECKING MXNET_CUDA_ALLOW_TENSOR_CORE "
        "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION MXNET_ENABLE_CUDA_GRAPHS "
        "MXNET_CUDA_GRAPHS_VERBOSE MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES MXNET_CUDA_GRAPHS_DBG_FILE "
        "MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS MXNET_FC_TRUE_FP16 MXNET_FUSION_VERBOSE "
        "MXNET_RTC_VERBOSE",
    ),
]

#: What MXNet documents or reads, and Afterglow accepts without need of it.
IDLE: dict[str, Idle] = {
    name: Idle(reason, fine) for reason, fine, names in _IDLE for name in names.split()
}

_PREFIXES = ("AFTERGLOW_", "MXNET_")


def _unknown_passes(value: str) -> list[str]:
    known = _core.passes()
    return [] if value == "all" else [n for n in value.split(",") if n and n not in known]


def _problem(name: str, value: str) -> str | None:
    """Return what is to be said against a variable that is set; ``None`` for nothing."""
    if name == "AFTERGLOW_DISABLE_PASSES" and (unknown := _unknown_passes(value)):
        return f"names {', '.join(unknown)}; known are {', '.join(_core.passes())} and all"
    if setting := SETTINGS.get(name):
        if not value or re.fullmatch(setting.pattern, value):
            return None
        return f"is not understood; needed is {setting.values.replace('`', '')}"
    if idle := IDLE.get(name):
        fine = not value or re.fullmatch(idle.fine, value.strip(), re.IGNORECASE)
        return None if fine else f"has no effect: {idle.reason}"
    if name in FOR_TESTS or not name.startswith(_PREFIXES):
        return None
    import difflib  # only a misspelling pays for it

    known_names = [known for known in (*SETTINGS, *IDLE) if known.startswith(_PREFIXES)]
    near = difflib.get_close_matches(name, known_names, n=1, cutoff=0.8)
    return "is unknown" + (f"; did you mean {near[0]}?" if near else "")


def problems(environment: Mapping[str, str]) -> list[str]:
    """Return a sentence for each variable that is unknown, not understood or without effect."""
    found = {name: _problem(name, environment[name]) for name in sorted(environment)}
    return [f"{name}={environment[name]} {said}" for name, said in found.items() if said]


def explain(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what becomes of each variable that is set and known, or named like one of ours."""
    told = {}
    for name in sorted(environment):
        if problem := _problem(name, environment[name]):
            told[name] = problem
        elif name in SETTINGS and not environment[name]:
            told[name] = "is empty: nothing is asked for"
        elif name in SETTINGS:
            told[name] = SETTINGS[name].effect.replace("`", "")
        elif name in IDLE:
            told[name] = f"has no effect, and none is needed: {IDLE[name].reason}"
        elif name in FOR_TESTS:
            told[name] = f"is for tests: {FOR_TESTS[name]}"
    return told


def apply(names: list[str]) -> None:
    """Do what variables say of passes and devices, and name what does nothing in one warning.

    Called by the import of the package when one of these variables is set.
    """
    environment = {name: os.environ[name] for name in names}
    for name, which in _PASSES.items():
        if environment.get(name, "").strip().lower() in ("0", "false"):
            _core.set_pass(which, False)
    for name, divide in (
        ("AFTERGLOW_DEVICES", engine.set_devices),
        ("AFTERGLOW_GPUS", engine.pretend_gpus),
    ):
        if environment.get(name) and _problem(name, environment[name]) is None:
            divide(int(environment[name]))
    if found := problems(environment):
        # Names the line that imports the package.
        warnings.warn(
            "\n  ".join(["environment variables (`afterglow info` explains all):", *found]),
            RuntimeWarning,
            stacklevel=4,
        )
