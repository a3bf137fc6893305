# SPDX-License-Identifier: Apache-2.0
"""A distribution ``mxnet`` in an environment, whose package is Afterglow.

Programs that say ``import mxnet``, and packages that depend on it, then need not know of Afterglow.
The distribution has the files that installers look for, so that ``pip`` lists it, takes it for what
others ask for, and uninstalls it. It asks for no other: a package ``afterglow`` that an index may
have is not this one.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.metadata
import io
import os
import sys
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path
from typing import NamedTuple

import afterglow

from ..version import MXNET_VERSION

__all__ = ["Removed", "ShimError", "install", "remove"]

_OURS = "afterglow"  #: what the file INSTALLER says
_RECORDS = f"mxnet-{MXNET_VERSION}.dist-info"
_PACKAGE = Path(afterglow.__file__).parent

_METADATA = f"""\
Metadata-Version: 2.1
Name: mxnet
Version: {MXNET_VERSION}
Summary: Afterglow under the name of mxnet; afterglow remove-shim takes it out
License: Apache-2.0
"""
_WHEEL = """\
Wheel-Version: 1.0
Generator: afterglow
Root-Is-Purelib: true
Tag: py3-none-any
"""
#: Python runs this line when it starts.
_AT_START = "import mxnet_old_names; mxnet_old_names.put_back()\n"


class ShimError(Exception):
    """Says why the shim cannot be put there or taken out."""


class Removed(NamedTuple):
    """What became of the files of a shim."""

    files: list[Path]
    kept: list[Path]  #: they were changed since


def install(folder: Path, old_names: bool) -> list[Path]:
    """Write the distribution to a folder of packages and return its files.

    One that is there is replaced. ``old_names`` adds a file that Python reads when it starts, which
    puts back names that NumPy and Python have removed.
    """
    _refuse_another(folder)
    files = {
        "mxnet/__init__.py": (_PACKAGE / "documents/aliases/mxnet.py").read_text("utf-8"),
        f"{_RECORDS}/METADATA": _METADATA,
        f"{_RECORDS}/WHEEL": _WHEEL,
    }
    if old_names:
        names = _PACKAGE / "_interoperation/removed_names.py"
        files["mxnet_old_names.py"] = names.read_text("utf-8")
        files["mxnet_old_names.pth"] = _AT_START
    # These come first: what is written in part can be removed.
    ours = {f"{_RECORDS}/INSTALLER": f"{_OURS}\n"}
    record = f"{_RECORDS}/RECORD"
    ours[record] = _record(ours | files, record)
    try:
        if _is_ours(folder):
            remove(folder)
        for name, text in (ours | files).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8", newline="\n")
    except OSError as problem:
        raise ShimError(f"cannot write to {folder}: {problem.strerror or problem}") from None
    return [folder / name for name in (*files, *ours)]


def remove(folder: Path) -> Removed:
    """Take the distribution out of a folder: files that are as they were written."""
    if not _is_ours(folder):
        other = _describe(folder)
        there = f"; {other} is there, which pip uninstall takes out" if other else ""
        raise ShimError(f"there is no shim in {folder}{there}")
    record = folder / _RECORDS / "RECORD"
    removed = Removed([], [])
    with record.open(encoding="utf-8", newline="") as file:
        rows = [(folder / name, digest) for name, digest, _ in csv.reader(file)]
    try:
        for path, digest in rows:
            if path == record or not path.is_file():
                continue
            if _digest(path.read_bytes()) != digest:
                removed.kept.append(path)
                continue
            path.unlink()
            removed.files.append(path)
            for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
                compiled.unlink()
        record.unlink()
    except OSError as problem:
        raise ShimError(f"cannot remove {problem.filename}: {problem.strerror}") from None
    removed.files.append(record)
    for name in ("mxnet/__pycache__", "mxnet", _RECORDS):
        with suppress(OSError):  # a file of somebody else is there
            (folder / name).rmdir()
    return removed


def _record(files: dict[str, str], record: str) -> str:
    """Return the table of files, in which the table itself has no sum."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    for name, text in files.items():
        content = text.encode()
        writer.writerow((name, _digest(content), len(content)))
    writer.writerow((record, "", ""))
    return lines.getvalue()


def _digest(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return f"sha256={digest.rstrip(b'=').decode()}"


def _is_ours(folder: Path) -> bool:
    try:
        return (folder / _RECORDS / "INSTALLER").read_text("utf-8").strip() == _OURS
    except OSError:
        return False


def _refuse_another(folder: Path) -> None:
    """Refuse to take the place of another mxnet, or to stand behind one, where nobody finds us."""
    here = os.getcwd()  # which Python puts first for -m
    places = [Path(place) for place in sys.path if place and place != here]
    before = places[: places.index(folder)] if folder in places else []
    for place in (*before, folder):
        if place == folder and _is_ours(folder):
            continue
        if other := _describe(place):
            raise ShimError(
                f"{other} is in {place}, and the shim does not take its place; take it out first "
                f"(python -m pip uninstall {other.split()[0]}), or make an environment without it "
                "(python -m venv) and install Afterglow there"
            )


def _describe(place: Path) -> str:
    """Return name and version of the mxnet in a folder; empty if there is none."""
    for one in importlib.metadata.distributions(path=[str(place)]):
        name = one.metadata["Name"] or ""
        if name == "mxnet" or name.startswith("mxnet-cu") or name == "mxnet-mkl":
            return f"{name} {one.version}"
    spec = PathFinder.find_spec("mxnet", [str(place)])
    is_package = spec is not None and spec.origin is not None  # and not just a folder
    return "mxnet of an unknown version" if is_package else ""
