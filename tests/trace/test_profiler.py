# SPDX-License-Identifier: Apache-2.0
"""mx.profiler: MXNet's calls, and tables that agree with what was done."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import run_child

from afterglow import gluon, nd, profiler, trace
from afterglow.error import MXNetError


@pytest.fixture(autouse=True)
def _starts_and_ends(tmp_path: Path) -> Iterator[None]:
    profiler.set_config(filename=str(tmp_path / "profile.json"))
    yield
    if trace.is_recording():
        profiler.dump()


#: As MXNet 1.9.1 has them; ``scope`` is that of its later versions.
SIGNATURES = {
    "dump": "finished=True profile_process='worker'",
    "dump_profile": "",
    "dumps": "reset=False format='table' sort_by='total' ascending=False",
    "pause": "profile_process='worker'",
    "profiler_set_config": "mode='symbolic' filename='profile.json'",
    "profiler_set_state": "state='stop'",
    "resume": "profile_process='worker'",
    "scope": "name='<unk>:' append_mode=True",
    "set_kvstore_handle": "handle",
    "set_state": "state='stop' profile_process='worker'",
    "Counter": "domain name value=None",
    "Domain": "name",
    "Event": "name",
    "Frame": "domain name",
    "Marker": "domain name",
    "Task": "domain name",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_those_of_mxnet(name: str) -> None:
    parameters = inspect.signature(getattr(profiler, name)).parameters.values()
    empty = inspect.Parameter.empty
    seen = [
        one.name if one.default is empty else f"{one.name}={one.default!r}" for one in parameters
    ]
    assert " ".join(seen) == SIGNATURES[name]


def figures() -> dict[str, Any]:
    return json.loads(profiler.dumps(format="json"))["Time"]


def test_operators_are_counted() -> None:
    profiler.set_state("run")
    x = nd.ones((3, 3))
    for _ in range(5):
        nd.dot(x, x).wait_to_read()
    profiler.set_state("stop")
    nd.exp(x).wait_to_read()  # not recorded
    seen = figures()["operator"]
    assert seen["dot"]["Count"] == 5
    assert "exp" not in seen
    row = seen["dot"]
    assert row["Min"] <= row["Avg"] <= row["Max"] <= row["Total"]
    assert row["Avg"] == pytest.approx(row["Total"] / 5)


def test_table_is_sorted_as_asked() -> None:
    profiler.set_state("run")
    x = nd.ones((400, 400))
    nd.dot(x, x).wait_to_read()
    for _ in range(3):
        nd.tanh(nd.zeros((2,))).wait_to_read()
    nd.waitall()

    def rows(**how: Any) -> list[list[str]]:
        lines = profiler.dumps(**how).splitlines()
        begin = lines.index("operator") + 4
        return [line.split() for line in lines[begin : lines.index("", begin)]]

    most = [name for name, *_ in rows(sort_by="count")]
    assert most.index("tanh") < most.index("dot")
    assert rows(sort_by="count", ascending=True)[-1][0] == most[0]
    times = [float(time) for _, _, time, *_ in rows(sort_by="total")]
    assert times == sorted(times, reverse=True)


def test_reset_forgets() -> None:
    profiler.set_state("run")
    nd.exp(nd.ones((2,))).wait_to_read()
    profiler.dumps(reset=True)
    nd.tanh(nd.ones((2,))).wait_to_read()
    seen = figures()["operator"]
    assert "tanh" in seen
    assert "exp" not in seen


def test_marks_of_the_program() -> None:
    profiler.set_state("run")
    domain = profiler.Domain("training")
    task = domain.new_task("batch")
    task.start()
    task.stop()
    task.stop()  # it has ended already
    with domain.new_frame("epoch"):
        pass
    counter = domain.new_counter("seen", 5)
    counter += 2
    counter.decrement()
    domain.new_marker("half").mark()
    event = profiler.Event("loading")
    event.start()
    event.stop()
    seen = figures()
    assert seen["training"]["batch"]["Count"] == 1
    assert seen["training,frame"]["epoch"]["Count"] == 1
    assert (seen["training"]["seen"]["Min"], seen["training"]["seen"]["Max"]) == (5, 7)
    assert seen["training"]["seen"]["Count"] == 3
    assert "half" in seen["training,marker"]
    assert "loading" in seen["event"]
    assert (str(domain), str(task), str(counter)) == ("training", "batch", "seen")


def test_pause_and_resume() -> None:
    profiler.set_state("run")
    profiler.pause()
    nd.exp(nd.ones((2,))).wait_to_read()
    profiler.resume()
    nd.tanh(nd.ones((2,))).wait_to_read()
    assert "exp" not in figures()["operator"]


def test_scopes_name_layers() -> None:
    profiler.set_state("run")
    with profiler.scope("outer:"), profiler.scope("inner"):
        nd.tanh(nd.ones((2,))).wait_to_read()
    nd.exp(nd.ones((2,))).wait_to_read()
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(1))
    net.initialize()
    with profiler.scope("outer"):
        net(nd.ones((2, 3))).wait_to_read()
    recording = trace.snapshot()
    layers = {
        recording.texts[op]: recording.texts[layer]
        for op, layer in zip(recording.calls["op"], recording.calls["layer"], strict=True)
    }
    assert layers["tanh"] == "outer.inner"
    assert layers["exp"] == ""
    assert layers["dot"] == f"outer.net.0.{net[0].name}"


def test_dump_writes_the_file(tmp_path: Path) -> None:
    for name in ("events.json", "page.html"):
        profiler.set_config(filename=str(tmp_path / name), profile_all=True)
        profiler.set_state("run")
        nd.tanh(nd.ones((2,))).wait_to_read()
        profiler.dump(finished=False)
        assert trace.is_recording()
        profiler.dump()
        assert not trace.is_recording()
    events = json.loads((tmp_path / "events.json").read_text())["traceEvents"]
    assert any(event["name"] == "tanh" for event in events)
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_bad_arguments() -> None:
    with pytest.raises(MXNetError, match="Cannot find argument 'bad'"):
        profiler.set_config(bad=1)
    with pytest.raises(KeyError):
        profiler.set_state("walk")
    with pytest.raises(AssertionError, match="format"):
        profiler.dumps(format="text")
    with pytest.raises(AssertionError, match="sort_by"):
        profiler.dumps(sort_by="name")
    with pytest.raises(AssertionError, match="ascending"):
        profiler.dumps(ascending="yes")  # type: ignore[arg-type]
    with pytest.raises(MXNetError, match="profile_all expect boolean but value='maybe'"):
        profiler.set_config(profile_all="maybe")
    with pytest.raises(MXNetError, match="dump_period expect float but value='often'"):
        profiler.set_config(dump_period="often")
    with pytest.raises(MXNetError, match="profile_process expect worker or server"):
        profiler.set_config(profile_process="master")
    with pytest.raises(MXNetError, match="Cannot find argument 'profile_some'"):
        profiler.profiler_set_config(mode="some")
    with pytest.raises(KeyError):
        profiler.pause(profile_process="master")
    with pytest.raises(MXNetError, match="server"):
        profiler.set_state("run", profile_process="server")
    with pytest.raises(MXNetError, match="Invalid Input: 'here'"):
        profiler.Domain("d").new_marker("m").mark("here")
    assert not trace.is_recording()


def test_settings_are_all_or_nothing(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    profiler.set_config(filename=file)  # a path is as good as a text
    with pytest.raises(MXNetError):
        profiler.set_config(filename=str(tmp_path / "other.json"), aggregate_stats="perhaps")
    profiler.set_state("run")
    profiler.dump()
    assert [one.name for one in tmp_path.iterdir()] == ["kept.json"]


def test_nothing_to_dump_leaves_the_file_alone(tmp_path: Path) -> None:
    file = tmp_path / "profile.json"
    with pytest.raises(MXNetError, match="Profiler hasn't been run"):
        profiler.dump()
    assert not file.exists()
    profiler.set_state("run")
    nd.tanh(nd.ones((2,))).wait_to_read()
    profiler.dump()
    written = file.read_text()
    with pytest.raises(MXNetError, match="Profiler hasn't been run"):
        profiler.dump_profile()
    assert file.read_text() == written


def test_tables_after_the_dump() -> None:
    profiler.set_state("run")
    nd.tanh(nd.ones((2,))).wait_to_read()
    profiler.set_state("stop")
    before = profiler.dumps()
    profiler.dump()
    assert profiler.dumps(reset=True) == before
    assert "tanh" not in profiler.dumps()


def test_reset_does_not_start_what_was_stopped() -> None:
    profiler.set_state("run")
    nd.exp(nd.ones((2,))).wait_to_read()
    profiler.set_state("stop")
    profiler.dumps(reset=True)
    nd.tanh(nd.ones((2,))).wait_to_read()
    profiler.Domain("d").new_marker("m").mark()
    assert figures() == {}
    profiler.set_state("run")
    nd.sin(nd.ones((2,))).wait_to_read()
    assert "sin" in figures()["operator"]


def test_a_recording_that_somebody_else_ended() -> None:
    profiler.set_state("run")
    trace.stop()
    profiler.set_state("stop")
    profiler.dumps(reset=True)
    assert not trace.is_recording()
    trace.start()  # not the profiler's
    profiler.set_state("stop")
    nd.tanh(nd.ones((2,))).wait_to_read()
    profiler.dump()
    assert len(trace.stop().calls["op"]) == 2


def test_a_program_that_profiles_itself_can_be_traced() -> None:
    trace.start()
    profiler.set_state("run")
    nd.tanh(nd.ones((2,))).wait_to_read()
    profiler.set_state("stop")
    profiler.dump()
    nd.exp(nd.ones((2,))).wait_to_read()
    recording = trace.stop()
    ops = {recording.texts[op] for op in recording.calls["op"]}
    assert {"tanh", "exp"} <= ops


def test_autostart_records_the_whole_process(tmp_path: Path) -> None:
    child = run_child(
        f"""
        os.chdir({str(tmp_path)!r})
        mx.nd.tanh(mx.nd.ones((2,))).wait_to_read()
        """,
        MXNET_PROFILER_AUTOSTART="1",
    )
    assert child.code == 0, child.err
    events = json.loads((tmp_path / "profile.json").read_text())["traceEvents"]
    assert any(event["name"] == "tanh" for event in events)


def test_autostart_leaves_the_file_of_the_program_alone(tmp_path: Path) -> None:
    child = run_child(
        f"""
        os.chdir({str(tmp_path)!r})
        mx.nd.tanh(mx.nd.ones((2,))).wait_to_read()
        mx.profiler.dump()
        """,
        MXNET_PROFILER_AUTOSTART="1",
    )
    assert (child.code, child.err) == (0, "")
    assert "tanh" in (tmp_path / "profile.json").read_text()


def test_process_may_end_while_recording() -> None:
    # What is recorded holds places in the program, which are given back when the process ends.
    done = run_child(
        """
        from afterglow import nd, trace
        trace.start()
        (nd.zeros((2,)) + 1).wait_to_read()
        """,
        prelude=False,
    )
    assert (done.code, done.err) == (0, "")
