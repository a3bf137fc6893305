# SPDX-License-Identifier: Apache-2.0
"""The distribution ``mxnet`` that is Afterglow, in environments made for the tests."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support import environment

from afterglow._package import shim
from afterglow.cli import install_shim, main


class Environment:
    """An environment with what this one has; programs of it run in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        venv.create(folder / "venv", symlinks=True)
        self.scripts = folder / "venv" / "bin"
        where = "import sysconfig; print(sysconfig.get_path('purelib'))"
        self.packages = Path(self.output("-c", where))
        borrowed = sysconfig.get_path("purelib")
        (self.packages / "borrowed.pth").write_text(f"import site; site.addsitedir({borrowed!r})\n")

    def run(self, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run Python with these arguments."""
        return self.execute(str(self.scripts / "python"), *words, **settings)

    def execute(self, *command: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.work,
            capture_output=True,
            text=True,
            timeout=120,
            env=environment(**settings),
            check=False,
        )

    def output(self, *words: str, **settings: str) -> str:
        """Run Python, which must end well, and return what it printed."""
        done = self.run(*words, **settings)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        return done.stdout.strip()

    def write(self, name: str, text: str) -> str:
        (self.work / name).write_text(text, encoding="utf-8")
        return name

    def files(self) -> set[str]:
        """Return the files among the packages, but for what Python compiles."""
        every = self.packages.rglob("*")
        return {str(path.relative_to(self.packages)) for path in every if path.suffix != ".pyc"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return an environment with the shim, for tests that leave it there."""
    made = Environment(tmp_path_factory.mktemp("shim"))
    said = made.output("-m", "afterglow", "install-shim")
    assert said.splitlines()[0] == f"mxnet 1.9.1 is Afterglow in {made.packages}"
    assert "  mxnet/__init__.py" in said.splitlines()
    return made


PROGRAM = """\
import mxnet.gluon.nn
import mxnet as mx
from mxnet.ndarray import NDArray
from mxnet.gluon import nn, Trainer
import mxnet.ndarray.random as random
import afterglow, importlib.metadata
def work(number):
    import mxnet
    return int(mxnet.nd.full((1,), number).asscalar()) + 1
def main():
    assert mx is afterglow and nn is afterglow.gluon.nn and mx.mod.Module
    assert isinstance(random.uniform(shape=(2,)), NDArray) and mxnet.nd.NDArray is NDArray
    print(mx.__version__, importlib.metadata.version("mxnet"), work(1))
"""


def test_programs_need_not_know_of_it(shared: Environment) -> None:
    shared.write("programs.py", PROGRAM)
    assert shared.output("-c", "import programs; programs.main()") == "1.9.1 1.9.1 2"
    shared.write("started.py", "from programs import main; main()")
    assert shared.output("-m", "started") == "1.9.1 1.9.1 2"
    parent = "import subprocess, sys; subprocess.run([sys.executable, '-m', 'started'])"
    assert shared.output(shared.write("parent.py", parent)) == "1.9.1 1.9.1 2"


def test_processes_that_are_spawned(shared: Environment) -> None:
    program = """
import multiprocessing
import mxnet as mx
def work(array):
    import mxnet
    assert isinstance(array, mxnet.nd.NDArray)
    return (array + 1).asnumpy().tolist()
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, [mx.nd.array([1, 2])]))
"""
    assert shared.output(shared.write("spawning.py", program)) == "[[2.0, 3.0]]"


def test_pytest(shared: Environment) -> None:
    shared.write("test_something.py", "def test():\n    from mxnet import nd\n    nd.waitall()\n")
    said = shared.output("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_something.py")
    assert "1 passed" in said


def test_pip_knows_it(tmp_path: Path) -> None:
    """A package that depends on mxnet is installed without a network; so is its console script."""
    made = Environment(tmp_path)
    before = made.files()
    wheel = tmp_path / "needy-1.0-py3-none-any.whl"
    head = "Metadata-Version: 2.1\nName: needy\nVersion: 1.0\n"
    with zipfile.ZipFile(wheel, "w") as file:
        records = {
            "METADATA": f"{head}Requires-Dist: mxnet>=1.6,<2",
            "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any",
            "entry_points.txt": "[console_scripts]\nneedy = needy:main",
            "RECORD": "",
        }
        file.writestr("needy.py", PROGRAM)
        for name, text in records.items():
            file.writestr(f"needy-1.0.dist-info/{name}", text)
    install = ("-m", "pip", "install", "--no-index", "--disable-pip-version-check", str(wheel))
    assert "No matching distribution found for mxnet" in made.run(*install).stderr
    made.output("-m", "afterglow", "install-shim", "--old-names")
    assert made.run(*install).returncode == 0
    assert made.execute(str(made.scripts / "needy")).stdout == "1.9.1 1.9.1 2\n"
    listed = made.run("-m", "pip", "list", "--disable-pip-version-check").stdout
    assert "mxnet 1.9.1" in " ".join(listed.split())
    assert made.run("-m", "pip", "uninstall", "-y", "needy", "mxnet").returncode == 0
    assert made.files() - {"__pycache__"} == before
    assert "No module named 'mxnet'" in made.run("-c", "import mxnet").stderr


OLD = """\
import collections, configparser, imp, inspect, unittest
from distutils.version import LooseVersion, StrictVersion
from distutils.util import strtobool
import numpy as np
print(np.float, np.zeros(1, np.bool8).dtype, np.asscalar(np.ones(1)), np.product([2, 3]))
print(np.cast["int8"]([1.5]), np.sctypes["complex"][0], np.asfarray([1, 2]), np.NINF)
print(collections.Mapping, configparser.SafeConfigParser().sections(), imp.reload(imp) is imp)
print(LooseVersion("1.10.0") > "1.9.1", StrictVersion("1.2b1") < "1.2", strtobool("yes"))
print(inspect.getargspec(lambda a, b=1: a).defaults, hasattr(unittest.TestCase, "assertEquals"))
"""
ANSWERS = """\
<class 'float'> bool 1.0 6
[1] <class 'numpy.complex64'> [1. 2.] -inf
<class 'collections.abc.Mapping'> [] True
True True 1
(1,) True"""


def test_older_names(tmp_path: Path) -> None:
    """From the first line on, in programs that never import mxnet too."""
    made = Environment(tmp_path)
    program = made.write("old.py", OLD)
    made.output("-m", "afterglow", "install-shim")
    assert made.run("-W", "ignore", program).returncode == 1
    said = made.output("-m", "afterglow", "install-shim", "--old-names")
    assert "  mxnet_old_names.pth" in said.splitlines()
    assert made.output("-W", "ignore", program) == ANSWERS
    assert made.output("-W", "ignore", "-c", f"import mxnet\n{OLD}") == ANSWERS
    has = ("-c", "import sys, numpy; print('float_' in vars(numpy), 'afterglow' in sys.modules)")
    assert made.output(*has) == "True False"
    assert made.output(*has, AFTERGLOW_OLDER_NAMES="0") == "False False"
    made.output("-m", "afterglow", "install-shim")  # without the option: they are taken out
    assert made.output(*has) == "False False"
    made.output("-m", "afterglow", "remove-shim")
    assert "mxnet" not in " ".join(made.files())


# --- files, in a folder that nobody imports from ---


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(install_shim, "folder_of_packages", lambda: tmp_path)
    monkeypatch.setattr("afterglow.cli.remove_shim.folder_of_packages", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return a function that runs a command, which must fail, and returns what it says."""

    def run(*words: str) -> str:
        assert main(words) == 1
        out, err = capsys.readouterr()
        assert out == ""
        return err

    return run


def test_what_others_have_changed_is_left(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install-shim", "--old-names"]) == 0
    (folder / "mxnet_old_names.py").write_text("# mine\n")
    (folder / "mxnet" / "more.py").write_text("")
    (folder / "mxnet" / "__pycache__").mkdir()
    (folder / "mxnet" / "__pycache__" / "__init__.cpython-311.pyc").write_text("")
    capsys.readouterr()
    assert main(["remove-shim"]) == 0
    assert f"left, since it was changed: {folder / 'mxnet_old_names.py'}" in capsys.readouterr().out
    assert {path.name for path in folder.rglob("*")} == {"mxnet", "more.py", "mxnet_old_names.py"}


@pytest.mark.parametrize("name", ["mxnet", "mxnet-cu112"])
def test_a_real_mxnet_is_left_alone(folder: Path, name: str, refusal: Callable[..., str]) -> None:
    records = folder / f"{name.replace('-', '_')}-1.8.0.dist-info"
    for file, text in {
        records / "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.8.0\n",
        folder / "mxnet" / "__init__.py": "real = True\n",
    }.items():
        file.parent.mkdir()
        file.write_text(text)
    before = {path: path.read_text() for path in folder.rglob("*") if path.is_file()}
    said = refusal("install-shim")
    assert f"{name} 1.8.0 is in {folder}" in said
    assert f"pip uninstall {name})" in said
    assert f"{name} 1.8.0 is there" in refusal("remove-shim")
    assert {path: path.read_text() for path in folder.rglob("*") if path.is_file()} == before


def test_a_package_without_a_distribution_is_left_alone(
    folder: Path, refusal: Callable[..., str]
) -> None:
    (folder / "mxnet.py").write_text("real = True\n")
    assert "mxnet of an unknown version" in refusal("install-shim")


def test_an_mxnet_that_is_found_first_is_named(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = tmp_path_factory.mktemp("earlier")
    (earlier / "mxnet.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(earlier), str(folder)])
    with pytest.raises(shim.ShimError, match=f"is in {earlier}"):
        shim.install(folder, False)
    monkeypatch.setattr(sys, "path", [str(folder), str(earlier)])
    assert shim.install(folder, False)


def test_nothing_to_remove(folder: Path, refusal: Callable[..., str]) -> None:
    assert refusal("remove-shim") == f"afterglow remove-shim: there is no shim in {folder}\n"


def test_a_folder_that_cannot_be_written(folder: Path, refusal: Callable[..., str]) -> None:
    (folder / "mxnet").write_text("a file in the way")
    assert f"cannot write to {folder}: " in refusal("install-shim")
