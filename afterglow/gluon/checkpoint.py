# SPDX-License-Identifier: Apache-2.0
"""A training run in a file, from which it goes on bit for bit.

A checkpoint is a zip file: ``run.json`` has, for each process, where the run is and where its
streams of random numbers are; ``optimizer`` has the states, counts and schedules of the optimizer;
``parameters/...`` has an array each. A file appears whole or not at all.
"""

from __future__ import annotations

import base64
import io
import json
import os
import random
import re
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as onp

from .. import _core
from .._formats import params as _files
from ..error import ArrayValueError

if TYPE_CHECKING:
    from .trainer import Trainer

__all__ = ["Progress", "latest", "note", "resume", "save"]

_NAME = re.compile(r"checkpoint-(\d+)\.zip")
_VERSION = 1
_PARAMETERS = "parameters/"


def _streams() -> list[Any]:
    """Return where the random numbers of the library, of Python and of NumPy are."""
    kind, keys, *rest = onp.random.get_state(legacy=True)
    return [_core.random_state(), random.getstate(), [kind, onp.asarray(keys).tolist(), *rest]]


def _set_streams(streams: list[Any]) -> None:
    ours, pythons, numpys = streams
    _core.set_random_state(*ours)
    random.setstate((pythons[0], tuple(pythons[1]), pythons[2]))
    onp.random.set_state(tuple(numpys))


def _position(sampler: Any) -> Any:
    return sampler.position() if hasattr(sampler, "position") else None


class Progress:
    """Where a run is: its epoch, and how many batches of that are done.

    >>> from afterglow import gluon
    >>> progress = gluon.Progress()
    >>> for epoch in progress.epochs(2):
    ...     for batch in progress.batches([10, 20]):
    ...         print(epoch, progress.batch, batch)
    0 1 10
    0 2 20
    1 1 10
    1 2 20
    """

    def __init__(self) -> None:
        self.epoch = 0
        self.batch = 0
        self._is_done = False  # with the batches of the epoch, not with what comes behind them
        #: What the batches depend on: the streams before the first, and the sampler's position.
        self._begun: list[Any] = [None, None]
        #: After a resumption, where the streams go on behind the batches that were done.
        self._behind: list[Any] | None = None

    def __repr__(self) -> str:
        return f"Progress(epoch={self.epoch}, batch={self.batch})"

    def epochs(self, count: int) -> Iterator[int]:
        """Go through the epochs that are left of so many."""
        while self.epoch < count:
            yield self.epoch
            self.epoch, self.batch, self._is_done = self.epoch + 1, 0, False
            self._behind = None

    def batches(self, loader: Any) -> Iterator[Any]:
        """Go through the batches of this epoch that are left, and count them.

        Those that were done before the run was resumed are made and thrown away, since others may
        depend on what is drawn for them.
        """
        sampler: Any = getattr(loader, "_batch_sampler", None)
        behind, self._behind = self._behind, None
        if behind is None:
            self._begun = [_streams(), _position(sampler)]
            self.batch = 0
        else:
            streams, position = self._begun
            if position is not None:
                sampler.go_to(position)
            if self._is_done:
                return
            if streams is not None:
                _set_streams(streams)
        batches = iter(loader)
        for number in range(self.batch):
            if next(batches, None) is None:
                raise ArrayValueError(
                    f"[batches] {self.batch} batches of the epoch are done, but the loader has "
                    f"{number}; a run goes on with the data it was begun with"
                )
        if behind is not None:
            _set_streams(behind)
        for batch in batches:
            self.batch += 1
            yield batch
        self._is_done = True
        self._begun = [None, _position(sampler)]

    def _note(self) -> list[Any]:
        """Return all of it, and where the streams of random numbers are now."""
        return [self.epoch, self.batch, self._is_done, self._begun, _streams()]

    @classmethod
    def _of(cls, noted: list[Any]) -> Progress:
        """Return what was noted, and set the streams of random numbers."""
        made = cls()
        made.epoch, made.batch, made._is_done, made._begun, made._behind = noted
        _set_streams(noted[-1])
        return made


def _numbered(folder: Path) -> dict[int, Path]:
    """Return the checkpoints of a folder by their numbers."""
    found = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        match = _NAME.fullmatch(path.name)
        if match:
            found[int(match[1])] = path
    return found


def note(trainer: Trainer, progress: Progress) -> dict[str, Any]:
    """Return what a process has that others may not have."""
    noted: dict[str, Any] = {"progress": progress._note()}
    left = getattr(trainer._kvstore, "_left", {})
    noted["left"] = [[key, _text_of(value)] for key, value in left.items()]
    scaler = trainer._amp_loss_scaler
    if scaler is not None:
        noted["scaler"] = vars(scaler)
    return noted


def _text_of(array: Any) -> str:
    return base64.b64encode(_files.array_to_bytes(array, numpy_shapes=True)).decode()


def save(trainer: Trainer, folder: str | os.PathLike[str], notes: list[Any], keep: int) -> None:
    """Write a checkpoint of what a trainer has, and remove all but the last."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    run = {"version": _VERSION, "processes": notes}

    def write(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("run.json", json.dumps(run))
            archive.writestr("optimizer", trainer._stateful()[0].get_states(dump_optimizer=True))
            for parameter in trainer._params:
                if parameter.stype == "default":
                    value = parameter.list_data()[0].detach()
                else:
                    value = parameter._every_row()
                data = _files.array_to_bytes(value, numpy_shapes=True)
                archive.writestr(_PARAMETERS + parameter.name, data)
        file.flush()
        os.fsync(file.fileno())

    numbered = _numbered(place)
    number = max(numbered, default=0) + 1
    numbered[number] = place / f"checkpoint-{number:08d}.zip"
    _files.replace(numbered[number], write)
    directory = os.open(place, os.O_RDONLY)
    try:
        os.fsync(directory)  # else the name could be lost
    finally:
        os.close(directory)
    for old in sorted(numbered)[:-keep]:
        numbered[old].unlink(missing_ok=True)


def latest(folder: str | os.PathLike[str]) -> bytes:
    """Return the newest checkpoint of a folder that is whole, or nothing."""
    numbered = _numbered(Path(folder))
    for number in sorted(numbered, reverse=True):
        data = _files.read(numbered[number])
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                damaged = archive.testzip()
        except (zipfile.BadZipFile, EOFError) as problem:
            damaged = str(problem)
        if damaged is None:
            return data
        warnings.warn(
            f"[resume] {numbered[number]} is damaged ({damaged}); taking the one before it",
            stacklevel=4,
        )
    return b""


def resume(trainer: Trainer, data: bytes, rank: int, processes: int) -> Progress:
    """Give a trainer what is in a checkpoint, and return where its run is."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        try:
            run = json.loads(archive.read("run.json"))
            notes, version = run["processes"], run["version"]
            states = archive.read("optimizer")
        except (KeyError, ValueError) as problem:
            raise ArrayValueError(f"[resume] this is no checkpoint: {problem}") from None
        if version != _VERSION:
            raise ArrayValueError(
                f"[resume] the checkpoint has version {version}; this library reads {_VERSION}"
            )
        if len(notes) != processes:
            raise ArrayValueError(
                f"[resume] the checkpoint is of {len(notes)} processes, but there are {processes}; "
                "each goes on with its own random numbers and samples, so there must be as many"
            )
        trainer._reset_kvstore()
        _restore_parameters(trainer, archive)
    trainer._set_states(states)
    noted = notes[rank]
    if noted["left"]:
        trainer._kvstore._left = {
            key: _files.array_from_bytes(base64.b64decode(text), True, f"what is left of {key}")
            for key, text in noted["left"]
        }
    if trainer._amp_loss_scaler is not None:
        vars(trainer._amp_loss_scaler).update(noted.get("scaler", {}))
    return Progress._of(noted["progress"])  # at the end: what is above may draw


def _restore_parameters(trainer: Trainer, archive: zipfile.ZipFile) -> None:
    saved = {name for name in archive.namelist() if name.startswith(_PARAMETERS)}
    own = {_PARAMETERS + parameter.name for parameter in trainer._params}
    if saved != own:
        raise ArrayValueError(
            f"[resume] parameters differ: only in the checkpoint {_some(saved - own)}, only in "
            f"the trainer {_some(own - saved)}"
        )
    for parameter in trainer._params:
        data = archive.read(_PARAMETERS + parameter.name)
        parameter._load_init(_files.array_from_bytes(data, True, parameter.name), None)


def _some(names: set[str]) -> str:
    listed = sorted(name.removeprefix(_PARAMETERS) for name in names)
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    return ", ".join(listed[:3]) + more if listed else "none"
