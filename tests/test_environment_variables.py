# SPDX-License-Identifier: Apache-2.0
"""Environment variables: one table in code and documents, and a warning at the import."""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path

import pytest
from support import output_of, run_child

import afterglow as mx
from afterglow import environment, gluon

ROOT = Path(__file__).parents[1]

#: What the compiled library of MXNet 1.9.1 and its Python files ask the environment for.
READ_BY_MXNET = """
DMLC_INTERFACE DMLC_LOCAL DMLC_LOG_STACK_TRACE_DEPTH DMLC_NODE_HOST DMLC_NUM_SERVER
DMLC_NUM_WORKER DMLC_PS_ROOT_PORT DMLC_PS_ROOT_URI DMLC_PS_VAN_TYPE DMLC_PS_WATER_MARK DMLC_RANK
DMLC_ROLE DMLC_USE_KUBERNETES MXNET_BACKWARD_DO_MIRROR MXNET_CONF_PATH
MXNET_CPU_PARALLEL_RAND_COPY MXNET_CPU_PARALLEL_SIZE MXNET_CPU_PRIORITY_NTHREADS
MXNET_CPU_TEMP_COPY MXNET_CPU_WORKER_NTHREADS MXNET_DISABLE_MKLDNN_CONV_OPT
MXNET_DISABLE_MKLDNN_FC_OPT MXNET_DISABLE_MKLDNN_FUSE_CONV_BN MXNET_DISABLE_MKLDNN_FUSE_CONV_RELU
MXNET_DISABLE_MKLDNN_FUSE_CONV_SUM MXNET_DISABLE_MKLDNN_FUSE_FC_ELTWISE
MXNET_DISABLE_MKLDNN_QEM_FLOAT_OUTPUT MXNET_DISABLE_MKLDNN_QEM_FUSE_ALL
MXNET_DISABLE_MKLDNN_QFC_FLOAT_OUTPUT MXNET_DISABLE_MKLDNN_QFC_FUSE_ALL
MXNET_DISABLE_MKLDNN_QTRANSFORMER_FLOAT_OUTPUT MXNET_DISABLE_MKLDNN_QTRANSFORMER_FUSE_ALL
MXNET_DISABLE_MKLDNN_TRANSFORMER_OPT MXNET_ELIMINATE_COMMON_EXPR MXNET_ENABLE_CYTHON
MXNET_ENABLE_GPU_P2P MXNET_ENFORCE_CYTHON MXNET_ENGINE_INFO MXNET_ENGINE_TYPE
MXNET_EXEC_BULK_EXEC_INFERENCE MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN
MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD
MXNET_EXEC_BULK_EXEC_TRAIN MXNET_EXEC_INPLACE_GRAD_SUM_CAP MXNET_EXEC_VERBOSE_LOGGING
MXNET_GLUON_REPO MXNET_GPU_COPY_NTHREADS MXNET_GPU_PARALLEL_RAND_COPY MXNET_GPU_TEMP_COPY
MXNET_GPU_WORKER_NTHREADS MXNET_HOME MXNET_INCLUDE_PATH MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING
MXNET_KVSTORE_BIGARRAY_BOUND MXNET_KVSTORE_DIST_ROW_SPARSE_VERBOSE MXNET_KVSTORE_LOGTREE
MXNET_KVSTORE_REDUCTION_NTHREADS MXNET_KVSTORE_SERIAL_PUSH MXNET_KVSTORE_SLICE_THRESHOLD
MXNET_KVSTORE_USETREE MXNET_LIBRARY_PATH MXNET_MEM_PLAN_VERBOSE_LOGGING MXNET_MKLDNN_CACHE_NUM
MXNET_MKLDNN_DEBUG MXNET_MKLDNN_ENABLED MXNET_MKLDNN_FORCE_FC_AB_FORMAT
MXNET_MKLDNN_QFC_DYNAMIC_PARAMS MXNET_MP_OPENCV_NUM_THREADS MXNET_MP_WORKER_NTHREADS
MXNET_OMP_MAX_THREADS MXNET_OPTIMIZER_AGGREGATION_SIZE MXNET_OUTPUT_TUNING_DATA
MXNET_PROFILER_AUTOSTART MXNET_PROFILER_MODE MXNET_QUANTIZATION_VERBOSE MXNET_RNN_USE_WEIGHT_CACHE
MXNET_SAFE_ACCUMULATION MXNET_STORAGE_FALLBACK_LOG_VERBOSE MXNET_SUBGRAPH_BACKEND
MXNET_SUBGRAPH_VERBOSE MXNET_TUNING_WEIGHT_SCALE MXNET_UPDATE_AGGREGATION_SIZE
MXNET_UPDATE_ON_KVSTORE MXNET_USE_FUSION MXNET_USE_MKLDNN_RNN MXNET_USE_NUM_CORES_OPERATOR_TUNING
MXNET_USE_OPERATOR_TUNING MXNET_VERBOSE_TUNING_INFO NNVM_AUTO_SEARCH_MATCH_RANGE
NNVM_EXEC_MATCH_RANGE NNVM_EXEC_NUM_TEMP PS_DROP_MSG PS_HEARTBEAT_INTERVAL PS_HEARTBEAT_TIMEOUT
PS_RESEND PS_RESEND_TIMEOUT PS_VERBOSE
"""

#: Texts in the sources that look like variables.
OTHER_NAMES = {"MXNET_VERSION"}

VARIABLE = re.compile(r"(AFTERGLOW|MXNET|OMP|DMLC|NNVM|PS)_[A-Z0-9_]+")


def names_in_sources() -> set[str]:
    """Return the texts in C++ and Python that are names of variables, without the table itself."""
    found = set()
    for path in [*ROOT.glob("src/**/*.cpp"), *ROOT.glob("src/**/*.h")]:
        found |= set(re.findall(r'"([A-Z0-9_]+)"', path.read_text(encoding="utf-8")))
    for path in ROOT.glob("afterglow/**/*.py"):
        if path.name == "environment.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return {name for name in found if VARIABLE.fullmatch(name)} - OTHER_NAMES


def test_the_table_has_what_the_sources_read() -> None:
    read = names_in_sources() | set(environment._PASSES) | set(environment._DIVISIONS)
    assert read - environment.FOR_TESTS.keys() == environment.SETTINGS.keys()


def test_every_variable_of_mxnet_is_known() -> None:
    names = READ_BY_MXNET.split()
    assert len(names) > 80
    assert [n for n in names if n not in environment.SETTINGS and n not in environment.IDLE] == []


def test_no_name_is_in_two_tables() -> None:
    listed = [name for _, _, names in environment._IDLE for name in names.split()]
    assert len(listed) == len(set(listed)) == len(environment.IDLE)
    tables = [environment.SETTINGS, environment.IDLE, environment.FOR_TESTS]
    assert len({name for table in tables for name in table}) == sum(map(len, tables))


def test_defaults_are_those_of_the_engine() -> None:
    found = output_of("print(*mx.engine.run_ahead(), mx.engine.is_serial())")[0].split()
    held, results, seconds = (float(word) for word in found[:3])
    bytes_said = environment.SETTINGS["AFTERGLOW_RUN_AHEAD_BYTES"].default
    assert bytes_said == f"{held:.0f} held, {results:.0f} in all"
    assert float(environment.SETTINGS["AFTERGLOW_RUN_AHEAD_SECONDS"].default) == seconds
    assert environment.SETTINGS["AFTERGLOW_ENGINE"].default == "`threaded`"
    assert found[3] == "False"


# --- documents ---


def tables_of(name: str) -> list[list[list[str]]]:
    """Return the tables of a document: rows of cells, without the heads."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    found = []
    for table in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        rows = [[cell.strip() for cell in line[1:-1].split(" | ")] for line in table.splitlines()]
        assert set(rows[1][0]) <= set("-|")
        found.append(rows[2:])
    return found


def test_the_document_is_the_table() -> None:
    acting, tests, idle = tables_of("environment.md")
    assert acting == [
        [f"`{name}`", setting.values, setting.default, setting.effect]
        for name, setting in environment.SETTINGS.items()
    ]
    assert tests == [[f"`{name}`", meaning] for name, meaning in environment.FOR_TESTS.items()]
    assert idle == [
        [reason, " ".join(f"`{name}`" for name in names.split())]
        for reason, _, names in environment._IDLE
    ]


def test_the_chinese_document_says_the_same() -> None:
    """The same variables in the same order, with the same values and numbers."""

    def fixed(cell: str) -> list[str]:
        return sorted(re.findall(r"`[^`]+`|\d+", cell))

    english, chinese = tables_of("environment.md"), tables_of("environment.zh.md")
    assert len(english) == len(chinese) == 3
    for ours, theirs in zip(english[0], chinese[0], strict=True):
        assert ours[0] == theirs[0]
        assert [fixed(cell) for cell in ours] == [fixed(cell) for cell in theirs]
    assert [row[0] for row in english[1]] == [row[0] for row in chinese[1]]
    assert [row[1] for row in english[2]] == [row[1] for row in chinese[2]]
    assert not {row[-1] for row in english[0]} & {row[-1] for row in chinese[0]}


# --- at the import ---


def warning_of(**settings: str) -> str:
    done = run_child("print('alive')", **settings)
    assert (done.code, done.out) == (0, "alive\n")
    return done.err


def test_all_problems_are_in_one_warning() -> None:
    said = warning_of(
        AFTERGLOW_NUM_TREADS="3",
        AFTERGLOW_QQQ="1",
        MXNET_ENGINE_TYP="NaiveEngine",
        MXNET_BACKWARD_DO_MIRROR="1",
        AFTERGLOW_ENGINE="parallel",
    )
    assert said.count("RuntimeWarning") == 1
    assert "AFTERGLOW_NUM_TREADS=3 is unknown; did you mean AFTERGLOW_NUM_THREADS?\n" in said
    assert "AFTERGLOW_QQQ=1 is unknown\n" in said
    assert "MXNET_ENGINE_TYP=NaiveEngine is unknown; did you mean MXNET_ENGINE_TYPE?\n" in said
    assert "MXNET_BACKWARD_DO_MIRROR=1 has no effect: backward computes nothing again" in said
    assert "AFTERGLOW_ENGINE=parallel is not understood; needed is serial, threaded\n" in said


def test_the_warning_names_the_line_of_the_import(tmp_path: Path) -> None:
    module = tmp_path / "uses_it.py"
    module.write_text("import sys\n\nimport afterglow\n")
    done = run_child(
        f"import runpy\nrunpy.run_path({str(module)!r})", prelude=False, AFTERGLOW_QQQ="1"
    )
    assert done.code == 0
    assert done.err.startswith(f"{module}:3: RuntimeWarning: environment variables")


def test_what_is_harmless_is_not_named() -> None:
    harmless = {
        "MXNET_HOME": "/somewhere",
        "MXNET_CUDNN_AUTOTUNE_DEFAULT": "0",
        "MXNET_SAFE_ACCUMULATION": "1",
        "MXNET_ENFORCE_DETERMINISM": "1",
        "MXNET_BACKWARD_DO_MIRROR": "0",
        "MXNET_SUBGRAPH_BACKEND": "None",
        "MXNET_EXEC_BULK_EXEC_TRAIN": "1",
        "MXNET_CPU_MEM_POOL_TYPE": "",
        "DMLC_ROLE": "worker",
        "AFTERGLOW_TEST_SEED": "4",
        "AFTERGLOW_ENGINE": "",
    }
    assert warning_of(**harmless) == ""


@pytest.mark.parametrize(
    ("seconds", "seconds_used", "threads", "threads_used"),
    [
        ("0.25", 0.25, "5", 5),
        (".5", 0.5, " 5 ,x", 5),
        ("2.", 2, "+5", None),
        (" +3e-1", 0.3, "0", None),
        ("Infinity", math.inf, "five", None),
        ("1 s", None, "-1", None),
        ("1 ", None, "07", 7),
        ("-1", None, "3,", 3),
        ("nan", None, "3 4", None),
    ],
)
def test_patterns_say_what_the_core_understands(
    seconds: str, seconds_used: float | None, threads: str, threads_used: int | None
) -> None:
    """The core reads the variables by itself: a warning comes just when it does not use one."""
    done = run_child(
        "print(mx.engine.run_ahead().seconds, mx.engine.thread_limit())",
        AFTERGLOW_RUN_AHEAD_SECONDS=seconds,
        AFTERGLOW_NUM_THREADS=threads,
    )
    found = [float(word) for word in done.out.split()]
    warned = re.findall(r"^  (\w+)=.* is not understood; needed is", done.err, re.MULTILINE)
    if seconds_used is not None:
        assert found[0] == seconds_used
    if threads_used is not None:
        assert found[1] == threads_used
    assert ("AFTERGLOW_RUN_AHEAD_SECONDS" in warned) == (seconds_used is None)
    assert ("AFTERGLOW_NUM_THREADS" in warned) == (threads_used is None)


@pytest.mark.parametrize(
    ("settings", "off"),
    [
        ({"MXNET_EXEC_ENABLE_INPLACE": "False"}, ["reuse"]),
        ({"MXNET_USE_FUSION": "1", "MXNET_EXEC_ENABLE_INPLACE": "true"}, []),
        ({"MXNET_USE_FUSION": "0", "AFTERGLOW_DISABLE_PASSES": "drop"}, ["drop", "fuse"]),
    ],
    ids=str,
)
def test_switches_of_mxnet(settings: dict[str, str], off: list[str]) -> None:
    printed = output_of(
        "print(*[name for name, on in mx.engine.passes().items() if not on])", **settings
    )
    assert printed[0].split() == off


def test_nothing_is_loaded_when_nothing_is_set() -> None:
    script = """
        import os, sys
        for name in [n for n in os.environ if n.startswith(("AFTERGLOW_", "MXNET_"))]:
            del os.environ[name]
        import afterglow
        print("afterglow.environment" in sys.modules, "difflib" in sys.modules)
        """
    done = run_child(script, prelude=False)
    assert (done.out, done.err) == ("False False\n", "")


@pytest.mark.parametrize(("value", "together"), [(None, True), ("1", True), ("0", False)])
def test_update_on_kvstore(
    monkeypatch: pytest.MonkeyPatch, value: str | None, together: bool
) -> None:
    if value is None:
        monkeypatch.delenv("MXNET_UPDATE_ON_KVSTORE", raising=False)
    else:
        monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", value)
    contexts = [mx.cpu(0), mx.cpu(1)]
    net = gluon.nn.Dense(1, in_units=2)
    net.initialize(ctx=contexts)
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    told = gluon.Trainer(net.collect_params(), "sgd", update_on_kvstore=True)
    for one in (trainer, told):
        one._init_kvstore()
    assert trainer._update_on_kvstore == together
    assert told._update_on_kvstore
    module = mx.mod.Module(
        mx.sym.LinearRegressionOutput(
            mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1), mx.sym.var("label")
        ),
        label_names=["label"],
        context=contexts,
    )
    module.bind([("data", (4, 2))], [("label", (4, 1))])
    module.init_params()
    module.init_optimizer(kvstore="local")
    assert module._update_on_kvstore == together


def test_explanations() -> None:
    told = environment.explain(
        {
            "PATH": "/bin",
            "AFTERGLOW_ENGINE": "serial",
            "MXNET_HOME": "/x",
            "AFTERGLOW_TEST_SEED": "1",
            "MXNET_NOVEL": "1",
            "OMP_NUM_THREADS": "no",
        }
    )
    assert list(told) == [
        "AFTERGLOW_ENGINE",
        "AFTERGLOW_TEST_SEED",
        "MXNET_HOME",
        "MXNET_NOVEL",
        "OMP_NUM_THREADS",
    ]
    assert told["AFTERGLOW_ENGINE"].startswith("serial: every call runs at once")
    assert told["MXNET_NOVEL"] == "is unknown"
    assert told["OMP_NUM_THREADS"].startswith("is not understood; needed is a positive number")
