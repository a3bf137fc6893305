# SPDX-License-Identifier: Apache-2.0
"""What other packages had in MXNet's time is there again where ``mxnet`` means Afterglow.

The packages here are small ones of our own that lack what newer versions lack.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support import output_of

NEWER = {
    "IPython/__init__.py": "def get_ipython(): return None",
    "IPython/display.py": "def display(*values): pass",
    "d2l/__init__.py": "",
    "d2l/mxnet.py": """
import mxnet as mx
def try_all_gpus(): return [mx.gpu(i) for i in range(mx.context.num_gpus())]
def train(net, devices=try_all_gpus(), lr=[]): return net, devices, lr
""",
    "matplotlib/__init__.py": "",
    "matplotlib/axes.py": """
class Axes:
    def plot(self, *args, **options): return [*map(list, args[:2]), *args[2:]], options
""",
    "matplotlib/pyplot.py": "def stem(*args, linefmt=None): return args, linefmt",
    "pandas/__init__.py": """
import warnings
__version__ = "3.1.1"
options = {}
def set_option(name, value):
    options[name] = value
    warnings.warn(name + " will be gone", FutureWarning)
def get_dummies(data, prefix=None, dtype=None): return data, prefix, dtype
def read_csv(file, *, sep=",", names=None): return file, sep, names
""",
}

PROGRAM = """
import collections, numpy, sys
{early}
import afterglow.as_mxnet
from IPython import display
from matplotlib import pyplot
import pandas
print(display.set_matplotlib_formats("svg"))
print(pyplot.stem([1, 2], use_line_collection=True), pyplot.stem([3], linefmt="x"))
print(pandas.get_dummies([1]), pandas.get_dummies([1], None, bool), pandas.options)
print(pandas.read_csv("a"), pandas.read_csv("a", "-", names=[1]), pandas.read_csv("a", sep="+"))
print(collections.Mapping is collections.abc.Mapping, numpy.float is float)
print(numpy.zeros(1, numpy.object).dtype, numpy.product([2, 3]), numpy.bool == numpy.bool_)
read = numpy.fromstring(b"\\1\\2\\3", numpy.int8, 2)
read += 1
print(read, numpy.fromstring("AB", numpy.uint8), numpy.fromstring("4 5", int, sep=" "))
"""


def output(tmp_path: Path, program: str, **environment: str) -> list[str]:
    for name, text in NEWER.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{program}"
    return output_of(program, **environment)


@pytest.mark.parametrize("early", ["", "import IPython.display, matplotlib.pyplot, pandas"])
def test_older_names_are_put_back(tmp_path: Path, early: str) -> None:
    assert output(tmp_path, PROGRAM.format(early=early)) == [
        "None",
        "(([1, 2],), None) (([3],), 'x')",
        "([1], None, 'uint8') ([1], None, <class 'bool'>) {'future.infer_string': False}",
        "('a', ',', None) ('a', '-', [1]) ('a', '+', None)",
        "True True",
        "object 6 True",
        "[2 3] [65 66] [4 5]",
    ]


def test_what_packages_still_have_is_left(tmp_path: Path) -> None:
    program = """
from IPython import display
display.set_matplotlib_formats = format = lambda *names: "own"
import pandas
pandas.__version__ = "1.5.3"
get_dummies = pandas.get_dummies
import afterglow.as_mxnet
print(display.set_matplotlib_formats is format, pandas.get_dummies is get_dummies)
print(pandas.options)
"""
    assert output(tmp_path, program) == ["True True", "{}"]


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    program = """
import afterglow.as_mxnet, collections, numpy, IPython.display
print(hasattr(IPython.display, "set_matplotlib_formats"), hasattr(collections, "Mapping"))
print("float" in vars(numpy), "float_" in vars(numpy))
"""
    assert output(tmp_path, program, AFTERGLOW_OLDER_NAMES="0") == ["False False", "False False"]


@pytest.mark.parametrize("early", ["", "import matplotlib.axes"])
def test_points_are_numbers_and_arrays_of_one_number(tmp_path: Path, early: str) -> None:
    program = f"""
{early}
import afterglow.as_mxnet
from mxnet import np
from matplotlib.axes import Axes
path = [(-5, -2), (np.array([1.5]), np.array(2.5)), (np.array(3), 4)]
print(Axes().plot(*zip(*path), "-o", color="red"))
print(Axes().plot(range(2), [np.ones(2), [1, 2]])[0])
"""
    assert output(tmp_path, program) == [
        "([[-5, 1.5, 3.0], [-2, 2.5, 4], '-o'], {'color': 'red'})",
        "[[0, 1], [array([1., 1.]), [1, 2]]]",
    ]


@pytest.mark.parametrize("kept", [False, True])
def test_books_find_the_processor(tmp_path: Path, kept: bool) -> None:
    program = """
import afterglow.as_mxnet
from d2l import mxnet as d2l
print(d2l.try_all_gpus(), d2l.train(1), d2l.train(1, [2]))
"""
    devices = [] if kept else ["cpu(0)"]
    found = f"[{', '.join(devices)}]"
    assert output(tmp_path, program, **({"AFTERGLOW_OLDER_NAMES": "0"} if kept else {})) == [
        f"{found} (1, {found}, []) (1, [2], [])"
    ]
