# SPDX-License-Identifier: Apache-2.0
"""``afterglow install-shim``: a distribution ``mxnet`` that is Afterglow."""

from __future__ import annotations

import argparse
import sys
import sysconfig
from pathlib import Path

from .._package import shim
from ..version import MXNET_VERSION

_NOTES = f"""\
A distribution mxnet {MXNET_VERSION} of two lines is put beside the other packages of
this environment. From then on `import mxnet` gives Afterglow in all of its
programs, console scripts, subprocesses and notebooks, and pip takes packages
that depend on mxnet. A real mxnet that is there is not replaced.

With --old-names every Python of this environment, when it starts, makes ready
what programs of MXNet's time expect: names that NumPy 2 has removed (np.float,
np.bool8, np.product...), collections.Mapping and its kin, inspect.getargspec,
configparser.SafeConfigParser, unittest's assertEquals, and what programs use of
the modules imp and distutils, unless setuptools has one. Without the option names
of modules are there from `import mxnet` on. AFTERGLOW_OLDER_NAMES=0 leaves all
modules as they are.

afterglow remove-shim, or pip uninstall mxnet, takes it out again.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what ``afterglow install-shim`` takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _NOTES
    parser.add_argument(
        "--old-names",
        action="store_true",
        help="names that NumPy 2 and Python 3.12 removed are there in all programs",
    )


def folder_of_packages() -> Path:
    """Return where this environment has its packages."""
    return Path(sysconfig.get_path("purelib"))


def run(arguments: argparse.Namespace) -> int:
    """Write the distribution and say what was written."""
    folder = folder_of_packages()
    try:
        files = shim.install(folder, arguments.old_names)
    except shim.ShimError as problem:
        print(f"afterglow install-shim: {problem}", file=sys.stderr)
        return 1
    print(f"mxnet {MXNET_VERSION} is Afterglow in {folder}")
    for file in files:
        print(f"  {file.relative_to(folder)}")
    if arguments.old_names:
        print("Older names are there from the start of each program.")
    print("afterglow remove-shim takes it out")
    return 0
