# SPDX-License-Identifier: Apache-2.0
"""What notebooks do beside computing: they install things, import Matplotlib, call ``exit()``."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support import run_child, run_command


def run(folder: Path, *cells: str, options: tuple[str, ...] = (), **settings: str):
    """Run a document with these cells."""
    blocks = [f"```python\n{textwrap.dedent(cell).strip()}\n```\n" for cell in cells]
    (folder / "document.md").write_text("\n".join(blocks), encoding="utf-8")
    return run_command("run", *options, "document.md", folder=folder, **settings)


def test_nothing_is_installed(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("pip", "pip3", "conda"):
        (programs / name).write_text(f"#!/bin/sh\necho {name} was run with $*\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    done = run(
        tmp_path,
        """
        import sys
        !pip install mxnet==1.9.1
        !pip3 install -U \\
            d2l
        !{sys.executable} -m pip uninstall -y none-such
        !conda install none-such
        %pip install none-such
        !pip list
        """,
        PATH=f"{programs}{os.pathsep}{os.environ['PATH']}",
    )
    assert (done.returncode, done.stdout) == (0, "pip was run with list\n")
    assert done.stderr.count("note: pip is skipped: ") == 1
    assert done.stderr.count("note: conda is skipped: ") == 1


#: Stands before the path of the interpreter: there is no such package, whatever is installed.
HIDDEN = """
import sys
for name in ("IPython", "matplotlib", "matplotlib_inline"):
    for loaded in [known for known in sys.modules if known.partition(".")[0] == name]:
        del sys.modules[loaded]
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("IPython", "matplotlib", "matplotlib_inline"):
            for finder in reversed(sys.meta_path):
                if finder is not self and type(finder).__module__ == "afterglow.documents.missing":
                    spec = finder.find_spec(name, path, target)
                    if spec is None:
                        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
                    return spec
sys.meta_path.insert(0, Hide())
"""


def test_documents_run_without_matplotlib_and_ipython(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        HIDDEN,
        """
        from IPython import display
        from matplotlib import pyplot as plt
        import matplotlib.pyplot as again
        from matplotlib_inline import backend_inline
        display.set_matplotlib_formats('svg')
        backend_inline.set_matplotlib_formats('svg')
        plt.rcParams['figure.figsize'] = (3.5, 2.5)
        figure, axes = again.subplots()
        with plt.style.context('ggplot'):
            axes.plot([1, 2], [3, 4])
        """,
        """
        from IPython.display import HTML, clear_output
        clear_output(wait=True)
        display.display(figure, HTML('<b>'), 3)
        """,
        "plt.plot([1, 2])",
        "plt.plot([1, 2]);",
        "import IPython\nIPython.display.display(4)\nimport IPython.none_such",
    )
    assert done.stdout.splitlines() == [
        "<IPython.core.display.HTML object>",
        "3",
        "<no figure: Matplotlib is not installed>",
        "4",
    ], done.stderr
    assert done.stderr.count("note: Matplotlib is not installed: figures are not drawn\n") == 1
    assert done.returncode == 1
    assert "cell 6, line 3" in done.stderr
    assert "ModuleNotFoundError: No module named 'IPython.none_such'" in done.stderr


def test_a_traced_cell_waits_in_its_last_line(tmp_path: Path) -> None:
    cell = "%%trace\nimport mxnet as mx\ny = mx.nd.ones((2, 2)) + 1\nz = y * 2"
    told = run(tmp_path, "1", cell).stdout
    last = (tmp_path / "document.md").read_text().splitlines().index("z = y * 2") + 1
    assert re.search(rf"^document.md:{last} in <module> +waitall ", told, re.MULTILINE), told


def test_what_is_installed_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text("here = 'installed'\n", encoding="utf-8")
    (tmp_path / "matplotlib" / "pyplot.py").write_text(
        "def close(which): pass\ndef get_fignums(): return []\n", encoding="utf-8"
    )
    done = run(tmp_path, "import matplotlib.pyplot\nmatplotlib.here", "import matplotlib.none_such")
    assert done.stdout == "'installed'\n"
    assert "No module named 'matplotlib.none_such'" in done.stderr


def test_an_installed_ipython_shows_values_here(tmp_path: Path) -> None:
    (tmp_path / "IPython").mkdir()
    (tmp_path / "IPython" / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "IPython" / "display.py").write_text(
        "def display(*values): print('outside of a notebook')\nclass HTML: pass\n", encoding="utf-8"
    )
    cell = """
    from IPython import display
    display.set_matplotlib_formats("svg")
    display.display("a", 2)
    display.clear_output(wait=True)
    display.HTML.__module__
    """
    done = run(tmp_path, cell)
    assert (done.returncode, done.stdout) == (0, "'a'\n2\n'IPython.display'\n")


def test_scripts_see_what_python_sees(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nprint([f for f in sys.meta_path if 'missing' in type(f).__module__])\n",
        encoding="utf-8",
    )
    words = [sys.executable, "-m", "afterglow", "run", str(program)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(("leaving", "status"), [("exit()", 2), ("exit(7)", 7)])
def test_leaving_does_not_hide_failures(tmp_path: Path, leaving: str, status: int) -> None:
    done = run(tmp_path, "1 / 0", "[][1]", leaving, "print('no')", options=("--keep-going",))
    assert (done.returncode, done.stdout) == (status, "")


def test_leaving_early_is_no_failure(tmp_path: Path) -> None:
    done = run(tmp_path, "print('well')", "exit()", "print('no')")
    assert (done.returncode, done.stdout) == (0, "well\n")


def test_an_interruption_names_the_line_that_waited(tmp_path: Path) -> None:
    (tmp_path / "slow.md").write_text(
        "```python\nimport time\ndef wait():\n    print('begun', flush=True); time.sleep(50)\n```\n"
        "```python\nseconds = 50\n\nwait()\n```\n",
        encoding="utf-8",
    )
    child = subprocess.Popen(
        [sys.executable, "-m", "afterglow", "run", "--quiet", "slow.md"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline() == "begun\n"
        child.send_signal(signal.SIGINT)
        told = child.stderr.read()
    assert (child.returncode, told) == (130, "slow.md: interrupted in cell 2, slow.md:9\n")


def test_arrays_of_one_number_are_numbers_where_mxnet_is_afterglow() -> None:
    done = run_child(
        """
        from afterglow import nd
        assert type(nd.ones((1,)).asnumpy()) is onp.ndarray
        import afterglow.as_mxnet
        from mxnet import np
        mean = nd.array([1, 2]).mean().asnumpy()
        print('%f %d' % (mean, mean), float(mean), int(mean), '%.2f' % (mean / 3))
        print(repr(mean), str(mean), isinstance(mean, onp.ndarray), mean.shape, mean.dtype)
        print(repr(mean + 1), repr(mean.sum()), repr(mean[0]))
        print(type(mean + onp.ones(2)) is onp.ndarray, type(nd.ones((2,)).asnumpy()) is onp.ndarray)
        print(float(np.ones((1,)).asnumpy()), type(np.ones(()).asnumpy()) is onp.ndarray)
        try:
            float(nd.ones((2,)).asnumpy())
        except TypeError:
            print("refused")
        """
    )
    assert done.err == ""
    assert done.out.splitlines() == [
        "1.500000 1 1.5 1 0.50",
        "array([1.5], dtype=float32) [1.5] True (1,) float32",
        "array([2.5], dtype=float32) np.float32(1.5) np.float32(1.5)",
        "True True",
        "1.0 True",
        "refused",
    ]
