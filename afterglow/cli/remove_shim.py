# SPDX-License-Identifier: Apache-2.0
"""``afterglow remove-shim``: takes out what ``afterglow install-shim`` has put there."""

from __future__ import annotations

import argparse
import sys

from .._package import shim
from .install_shim import folder_of_packages


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what ``afterglow remove-shim`` takes: nothing."""


def run(arguments: argparse.Namespace) -> int:
    """Remove the distribution and say what was removed."""
    folder = folder_of_packages()
    try:
        removed = shim.remove(folder)
    except shim.ShimError as problem:
        print(f"afterglow remove-shim: {problem}", file=sys.stderr)
        return 1
    print(f"removed from {folder}")
    for file in removed.files:
        print(f"  {file.relative_to(folder)}")
    for file in removed.kept:
        print(f"left, since it was changed: {file}")
    return 0
