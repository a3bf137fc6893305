# SPDX-License-Identifier: Apache-2.0
"""Cells of notebooks: their names in errors and recordings, and ``%%trace``."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from support import output_of, run_child

needs_ipython = pytest.mark.skipif(
    importlib.util.find_spec("IPython") is None, reason="IPython is not installed"
)


def test_errors_and_recordings_name_the_cell() -> None:
    lines = output_of(
        """
        from afterglow import trace
        _core.set_notebook("/nowhere/IPython/", {"/tmp/ipykernel_1/22.py": 3})
        source = "def f(x):\\n    return mx.np.linalg.cholesky(-x)\\nw = f(mx.np.eye(2))"
        exec(compile(source, "/tmp/ipykernel_1/22.py", "exec"), globals())
        exec(compile("\\nv = f(mx.np.eye(2))", "<ipython-input-5-1234>", "exec"), globals())
        try:
            print(w)
        except mx.MXNetError as error:
            print(str(error).splitlines()[-1])
        trace.start()
        exec(compile("\\n\\nz = mx.nd.ones(2) + 1", "/tmp/ipykernel_1/22.py", "exec"), globals())
        exec(compile("def show(x): x.asnumpy()", "/nowhere/IPython/pretty.py", "exec"), globals())
        exec(compile("show(z)", "/tmp/ipykernel_1/22.py", "exec"), globals())
        recording = trace.stop()
        print({recording.texts[site] for site in recording.calls["site"]})
        print({recording.texts[site] for site in recording.waits["site"]} - {""})
        """,
        AFTERGLOW_ENGINE="",
    )
    assert lines[0] == "  issued at Cell In[3], line 2 in f"
    assert lines[1] == "{'Cell In[3], line 3'}"
    assert lines[2] in ("{'Cell In[3], line 1'}", "set()")  # it may be there by then


def test_a_process_without_ipython_does_not_import_it() -> None:
    assert output_of("print('afterglow.notebooks.extension' in sys.modules)") == ["False"]


@needs_ipython
def test_a_shell_names_cells_and_shows_traces(tmp_path: Path) -> None:
    done = run_child(
        """
        import os, sys
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        run = lambda cell: shell.run_cell(cell, store_history=True)
        run("import afterglow as mx")
        run("def f(x):\\n    return mx.np.linalg.cholesky(-x)\\nw = f(mx.np.eye(2))")
        assert run("w").success
        assert "issued at Cell In[2], line 2 in f" in str(run("print(w)").error_in_exec)
        done = run("%%trace\\ny = mx.nd.ones((2, 2)) + 1\\ny")
        assert done.success
        assert shell.user_ns["y"].shape == (2, 2)
        assert isinstance(run("%%trace\\n\\n1 / 0").error_in_exec, ZeroDivisionError)
        page = os.environ["IPYTHONDIR"] + "/page.html"
        assert run(f"%%trace {page}\\n3").success
        assert os.path.getsize(page) > 10000
        assert run("%load_ext afterglow").success
        assert run("mx.trace.is_recording()").result is False
        html = shell.display_formatter.format(shell.user_ns["w"])[0]["text/html"]
        assert "failed" in html
        """,
        prelude=False,
        IPYTHONDIR=str(tmp_path),
    )
    assert (done.code, done.err.replace("\n", "")) == (0, ""), done.out + done.err
    assert "<ndarray 2x2 float32 @cpu(0), failed>" in done.out
    assert re.search(r"^Cell In\[5\], line 2 +2 ", done.out, re.MULTILINE)  # its two calls
    assert "Cell In[5], line 1" not in done.out  # which is that of the magic
    assert "page: %%trace FILE.html writes it" in done.out
