# SPDX-License-Identifier: Apache-2.0
"""``afterglow run``: what it prints, where, and its exit status."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support import asks_ps, environment, run_command

from afterglow.cli import main


class Done:
    """What became of a run."""

    def __init__(self, folder: Path, *words: str, **settings: str) -> None:
        done = run_command("run", *words, folder=folder, **settings)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def chapter(folder: Path, *cells: str, name: str = "chapter.md") -> Path:
    """Write a chapter whose cells begin at lines 4, 8 + what they take, and so on."""
    blocks = [f"\n```{{.python .input}}\n{textwrap.dedent(cell).strip()}\n```\n" for cell in cells]
    return write(folder, name, "# Title\n" + "".join(blocks))


def line_of(path: Path, text: str) -> int:
    lines = path.read_text(encoding="utf-8").split("\n")
    [number] = [number for number, line in enumerate(lines, 1) if text in line]
    return number


# --- documents ---


def test_a_chapter_is_shown_as_a_notebook_would(tmp_path: Path) -> None:
    chapter(
        tmp_path,
        """
        %matplotlib inline
        import sys, os
        import d2lzh as d2l
        from mxnet import autograd, nd
        sys.argv, __name__
        """,
        "#@tab pytorch\nimport torch",
        """
        x = nd.arange(3)
        x.attach_grad()
        with autograd.record():
            y = (x * x).sum()
        y.backward()
        x.grad
        """,
        "y\nNone",
        "y;",
        "'text'",
        "print(x.sum().asscalar())\ndisplay(x[0], 'shown')\n_",
        "%matplotlib widget\ndisplay",
    )
    done = Done(tmp_path, "chapter.md", "1", "--quiet", "-x")
    assert done.status == 0
    shown = done.out.split("\n")
    assert shown[0] == "(['chapter.md', '1', '--quiet', '-x'], '__main__')"
    assert shown[1:4] == ["", "[0. 2. 4.]", "<NDArray 3 @cpu(0)>"]
    assert shown[4:9] == ["'text'", "3.0", "", "[0.]", "<NDArray 1 @cpu(0)>"]
    assert shown[9:11] == ["'shown'", "'text'"]
    note, *told = done.err.splitlines()
    assert note.startswith("afterglow run: --quiet behind FILE is given to the program")
    assert told[0] == "── cell 1, chapter.md:4 ── %matplotlib inline"
    assert told[1] == "note: %matplotlib is skipped"
    assert told[2].endswith(" ── skipped: it is for pytorch")
    assert done.err.count("note:") == 1
    assert re.fullmatch(r"── chapter.md: 7 cells run, 0 failed, 1 skipped, \d+\.\d s", told[-1]), (
        told[-1]
    )

    quiet = Done(tmp_path, "--quiet", "chapter.md", "1", "--quiet", "-x")
    assert (quiet.status, quiet.err) == (0, "")
    assert quiet.out.split("\n")[:10] == shown[:10]


FAILING = (
    "from mxnet import nd\ndef f(x):\n    return 1 / x",
    "print('before')\nf(0)\nprint('not reached')",
    "bad = nd.linalg.potrf(nd.array([[1, 2], [2, -5]]))",
    "bad",
    "nd.dot(nd.ones((2, 3)),\n       nd.ones((2, 3)))",
    "try:\n    f(0)\nexcept ZeroDivisionError as problem:\n    raise KeyError('next') from problem",
    "x = = 1",
    "%time f(0)",
    "print('the end')",
)


def test_failures_name_cell_and_line(tmp_path: Path) -> None:
    path = chapter(tmp_path, *FAILING)
    done = Done(tmp_path, "--keep-going", "chapter.md")
    assert done.status == 6
    assert done.out == "before\nthe end\n"
    failures = re.split(r"^── cell.*\n", done.err, flags=re.MULTILINE)[1:]
    assert ["failed" in failure for failure in failures] == [
        *(False, True, False, True, True, True, True, True),
        True,  # the summary
    ]
    read, call = line_of(path, "not reached") - 1, 6
    marks = "    ~^^^\n" if sys.version_info >= (3, 13) else ""  # of a call that is the whole line
    assert failures[1] == (
        f"chapter.md: cell 2, line 2 (chapter.md:{read}) failed\n"
        "Traceback (most recent call last):\n"
        f'  File "{path}", line {read}, in cell 2, line 2\n'
        f"    f(0)\n{marks}"
        f'  File "{path}", line {call}, in f (cell 1, line 3)\n'
        "    return 1 / x\n"
        "           ~~^~~\n"
        "ZeroDivisionError: division by zero\n"
    )
    # The failure of a queued call names the line that issued it, and where it was read.
    issued = line_of(path, "potrf")
    assert f"line {line_of(path, 'bad = ') + 4}, in cell 4, line 1\n    bad\n" in failures[3]
    assert failures[3].endswith(f"issued at {path}:{issued} in <module>\n")
    # What our own functions do before they refuse is of no interest.
    assert failures[4].count("File ") == 1
    assert "in cell 5, line 1\n" in failures[4]
    assert "[dot] the inner dimensions 3 and 2 differ" in failures[4]
    assert "in cell 6, line 2\n" in failures[5]
    assert "in cell 6, line 4\n" in failures[5]
    assert "direct cause" in failures[5]
    wrong = line_of(path, "= = 1")
    assert failures[6].startswith(f"chapter.md: cell 7, line 1 (chapter.md:{wrong}) failed\n")
    assert f'  File "{path}", line {wrong}\n    x = = 1\n' in failures[6]
    assert "Traceback" not in failures[6]
    assert "in f (cell 1, line 3)" in failures[7]
    assert "/documents/" not in done.err
    assert "9 cells run, 6 failed, 0 skipped" in done.err


def test_a_failure_is_the_end_unless_asked(tmp_path: Path) -> None:
    chapter(tmp_path, *FAILING)
    done = Done(tmp_path, "--quiet", "chapter.md")
    assert (done.status, done.out) == (1, "before\n")
    assert done.err.startswith("chapter.md: cell 2, line 2 (chapter.md:")
    assert done.err.endswith("ZeroDivisionError: division by zero\n")


def test_what_fails_after_the_last_cell(tmp_path: Path) -> None:
    path = chapter(
        tmp_path,
        "from mxnet import nd",
        "y = nd.linalg.potrf(nd.array([[1, 2], [2, -5]]))",
        "print('all cells ran')",
    )
    done = Done(tmp_path, "chapter.md")
    assert (done.status, done.out) == (1, "all cells ran\n")
    assert "chapter.md: cell 3 failed\n" in done.err
    assert f"issued at {path}:{line_of(path, 'potrf')} in <module>\n" in done.err
    assert "Traceback" not in done.err


def test_magics(tmp_path: Path) -> None:
    chapter(
        tmp_path,
        "name = 'a b'\n!echo first $name {name} {1,2}\nlines = !echo one; echo two\nlines",
        "%time value = sum([1, 2])\n%time value + 1",
        "%%time\nother = 4\nother",
        "%timeit -n 3 -r 2 value + 1",
        "%%timeit -n 2 -r 1 offset = 5\nvalue + offset",
        "%%writefile written.txt\nhello\nthere",
        "%%bash\ncat written.txt\necho; exit 3",
        "%%html\n<b>",
        "%%capture\nprint('hidden')",
        "len?\n%unknown\n%unknown again",
        "print(value, other)",
    )
    done = Done(tmp_path, "--keep-going", "chapter.md")
    duration = r"[\d.e+]+ (s|ms|µs|ns)"
    clocks = [rf"CPU times: total: {duration}", rf"Wall time: {duration}"]
    each = rf"{duration} ± {duration} per loop \(mean ± std\. dev\. of %d runs, %d loops each\)"
    expected = [
        r"first a b a b \{1,2\}",
        r"\['one', 'two'\]",
        *clocks,
        *clocks,
        "4",
        "4",
        *clocks,
        each % (2, 3),
        each % (1, 2),
        "Writing written.txt",
        "hello",
        "there",
        r"len\(obj, /\)",
        r"Return the number of items in a container\.",
        "3 4",
    ]
    lines = [line for line in done.out.splitlines() if line]
    assert len(lines) == len(expected), done.out
    for line, pattern in zip(lines, expected, strict=True):
        assert re.fullmatch(pattern, line), (pattern, line)
    assert done.status == 1
    assert "CalledProcessError" in done.err
    assert "note: cells with %%html are skipped\n" in done.err
    assert done.err.count("note: %unknown is skipped\n") == 1
    assert "10 cells run, 1 failed, 1 skipped" in done.err


def test_typographic_characters_of_converted_books(tmp_path: Path) -> None:
    write(
        tmp_path,
        "chapter.txt",
        """
        第八章

        ```python
        def add(a, b):\u00a0
        \u00a0   return a + b\u3000

        def program():\u0020
            return ''' \u0020
        def mul(a, b): \u0020
            return a * b \u0020
        print(mul(3, 4)) \u0020
        ''' \u0020
        #注⾏释：编译
        exec(compile(program(), '', 'exec'))\u0020
        add(1,\u00a02)\u0020
        ```
        """,
    )
    done = Done(tmp_path, "chapter.txt")
    assert (done.status, done.out) == (0, "12\n3\n"), done.err


@asks_ps
def test_the_ideas_of_the_chapters(tmp_path: Path) -> None:
    chapter(
        tmp_path,
        """
        %load_ext d2lbook.tab
        tab.interact_select(['mxnet', 'pytorch'])
        """,
        """
        %%tab mxnet
        %matplotlib inline
        import os, subprocess
        from d2l import mxnet as d2l
        from mxnet import autograd, gluon, np, npx
        from mxnet.gluon import nn
        npx.set_np()
        """,
        "%%tab pytorch\nimport torch",
        """
        %%tab all
        with d2l.Benchmark('queued'):
            for _ in range(10):
                a = np.random.normal(size=(100, 100))
                b = np.dot(a, a)
        with d2l.benchmark():
            npx.waitall()
        (np.ones((1, 2)) * np.ones((1, 2)) + 2)
        """,
        """
        def get_mem():
            res = subprocess.check_output(['ps', 'u', '-p', str(os.getpid())])
            return int(str(res).split()[15]) / 1e3
        mem = get_mem()
        """,
        """
        %%tab mxnet, tensorflow
        class Model(d2l.Module):
            def __init__(self, lr):
                super().__init__()
                self.save_hyperparameters()
                self.net = nn.HybridSequential()
                self.net.add(nn.Dense(8, activation='relu'), nn.Dense(1))
                self.net.initialize()
                self.net.hybridize()
            if tab.selected('mxnet'):
                def loss(self, y_hat, y):
                    return d2l.reduce_mean((y_hat - y) ** 2)
            if tab.selected('tensorflow'):
                raise SystemError
        """,
        """
        @d2l.add_to_class(Model)
        def configure_optimizers(self):
            return gluon.Trainer(self.parameters(), 'adam', {'learning_rate': self.lr})
        """,
        """
        model = Model(0.05)
        data = d2l.SyntheticRegressionData(d2l.tensor([2, -3.4]), 4.2, 0.01, 256, 32)
        d2l.Trainer(max_epochs=8).fit(model, data)
        losses = [point.y for point in model.board.data['val_loss']]
        d2l.plt.plot(losses); d2l.plt.show()
        len(losses), losses[-1] < losses[0] / 2, get_mem() - mem < 200
        """,
    )
    done = Done(tmp_path, "chapter.md")
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    expected = [r"queued: \d+\.\d{4} sec", r"Done in \d+\.\d{4} sec", r"array\(\[\[3\., 3\.\]\]\)"]
    for line, pattern in zip(lines, [*expected, r"\(8, True, True\)"], strict=True):
        assert re.fullmatch(pattern, line), line
    assert "skipped: it is for pytorch" in done.err
    assert "7 cells run, 0 failed, 1 skipped" in done.err


def test_notebook_and_session(tmp_path: Path) -> None:
    source = ["from mxnet import nd\n", "def f(x):\n", "    return 1 / x\n", "nd.ones(2)"]
    expected = {"cell_type": "code", "metadata": {"tags": ["raises-exception"]}, "source": ["f(0)"]}
    cells = [
        {"cell_type": "code", "metadata": {}, "source": source},
        expected,
        {"cell_type": "code", "metadata": {}, "source": ["f(4)"]},
        {"cell_type": "code", "metadata": {}, "source": ["f(\n", "  0)"]},
    ]
    text = json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}, indent=1)
    path = write(tmp_path, "n.ipynb", text)
    done = Done(tmp_path, "n.ipynb")
    assert (done.status, done.out) == (1, "\n[1. 1.]\n<NDArray 2 @cpu(0)>\n0.25\n")
    assert "cell 2, line 1 (n.ipynb:23) failed, as it is expected to\n" in done.err
    line = line_of(path, '"  0)"') - 1
    assert f"line {line}, in cell 4, line 1\n    f(\n" in done.err
    assert "3 cells run" not in done.err
    assert "4 cells run, 1 failed" in done.err

    write(
        tmp_path,
        "session.md",
        """
        ```python
        >>> x = 2
        >>> x
        2
        >>> 1 / 0
        Traceback (most recent call last):
        ...
        >>> for i in range(2):
        ...     i + x
        ```
        """,
    )
    done = Done(tmp_path, "session.md")
    assert (done.status, done.out) == (0, "2\n2\n3\n"), done.err


def test_leaving_and_interrupting(tmp_path: Path) -> None:
    chapter(tmp_path, "import sys\nsys.exit(9)", "print('not reached')")
    done = Done(tmp_path, "--keep-going", "chapter.md")
    assert (done.status, done.out) == (9, "")

    for name, text in {
        "slow.md": "```python\nimport time\nprint('begun', flush=True)\ntime.sleep(50)\n```\n",
        "slow.py": "import time\nprint('begun', flush=True)\ntime.sleep(50)\n",
    }.items():
        write(tmp_path, name, text)
        child = subprocess.Popen(
            [sys.executable, "-m", "afterglow", "run", "--keep-going", name],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        with child:
            assert child.stdout is not None
            assert child.stderr is not None
            assert child.stdout.readline() == "begun\n"
            child.send_signal(signal.SIGINT)
            told = child.stderr.read()
        assert child.returncode == 130
        assert "slow.md: interrupted in cell 1" in told or "KeyboardInterrupt" in told


# --- scripts ---


SCRIPT = """
import os, sys
import helper
print(__name__, __file__, sys.argv, sys.path[0], __spec__, type(__loader__).__name__)
print(helper.name, sorted(name for name in globals() if name.startswith('__')))
def f(x):
    return 1 / x
if sys.argv[1] == 'exit':
    sys.exit(int(sys.argv[2]))
if sys.argv[1] == 'text':
    sys.exit('an explanation')
f(0)
"""


@pytest.mark.parametrize("arguments", [("exit", "77"), ("text",), ("fail", "--going", "-x")])
def test_a_script_runs_as_python_would_run_it(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    write(tmp_path, "program.py", SCRIPT)
    write(tmp_path, "helper.py", "name = 'beside the program'")
    done = Done(tmp_path, "program.py", *arguments)
    plain = subprocess.run(
        [sys.executable, "program.py", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert (done.status, done.out, done.err) == (plain.returncode, plain.stdout, plain.stderr)
    assert "beside the program" in done.out


def test_new_processes_know_what_mxnet_means(tmp_path: Path) -> None:
    write(
        tmp_path,
        "program.py",
        """
        import d2l
        import mxnet as mx
        import multiprocessing

        def work(n):
            import d2lzh
            names = (mx.__name__, d2l.__name__, d2lzh.__name__)
            return names, float(mx.nd.ones(n).sum().asscalar())

        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(work, [3]))
        """,
    )
    done = Done(tmp_path, "program.py")
    names = ("afterglow", "afterglow.books.d2l", "afterglow.books.d2lzh")
    assert (done.status, done.out, done.err) == (0, f"{[(names, 3.0)]}\n", "")


def test_installed_helpers_come_first(tmp_path: Path) -> None:
    write(tmp_path, "d2lzh.py", "here = 'the real one'")
    (tmp_path / "programs").mkdir()
    write(tmp_path / "programs", "program.py", "import d2lzh, d2l\nprint(d2lzh.here, d2l.__name__)")
    done = Done(tmp_path, "programs/program.py", PYTHONPATH=str(tmp_path))
    assert (done.out, done.err) == ("the real one afterglow.books.d2l\n", "")


# --- what cannot be run ---


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.py", "none.py cannot be read: No such file or directory"),
        (".", ". is a folder; a file is needed"),
        ("latin.py", "latin.py is not UTF-8, nor what it says it is: "),
        ("empty.md", "empty.md has no cells; "),
    ],
)
def test_files_that_cannot_be_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.py").write_bytes(b"x = '\xe9'\n")
    write(tmp_path, "empty.md", "nothing")
    before = list(sys.argv), list(sys.path), sys.modules["__main__"], "mxnet" in sys.modules
    assert main(["run", name]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"afterglow run: {message}")
    assert err.count("\n") == 1
    assert before == (
        list(sys.argv),
        list(sys.path),
        sys.modules["__main__"],
        "mxnet" in sys.modules,
    )


def test_no_file_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["run"])
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith("the following arguments are required: FILE\n")
