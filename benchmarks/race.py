# SPDX-License-Identifier: Apache-2.0
"""Measures rows: all columns take their turns in random order, round after round."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from processes import MALLOCS, FailedError, GoneError, Process
from results import Result
from rows import OURS, Row, library_of

#: A column with a setting of malloc.
Turn = tuple[str, str]


class Race:
    """The processes of all columns. Those of a group start when a row needs them, all at once."""

    def __init__(self, interpreters: dict[str, str], timeout: float) -> None:
        self.interpreters = interpreters
        self.timeout = timeout
        self.versions: dict[str, str] = {}
        self.left_out: dict[str, str] = {}  #: peers and columns, with the reason
        self.group = ""
        self.started: dict[tuple[object, ...], Process] = {}
        self._meet()

    def _meet(self) -> None:
        """Ask every library for its version; what cannot be imported is left out."""
        starting = {}
        for library, interpreter in self.interpreters.items():
            starting[library] = Process(interpreter, library, timeout=self.timeout)
        for library, process in starting.items():
            try:
                self.versions[library] = process.ready()["version"]
            except FailedError as error:
                self.left_out[library] = str(error)
            process.close()

    def _process(self, row: Row, turn: Turn) -> Process:
        """Return the process behind a turn, which may still be starting."""
        column, malloc = turn
        environment = {**MALLOCS[malloc], **row.environment.get(column, {})}
        key = (column, *sorted(environment.items()))
        process = None if row.fresh else self.started.get(key)
        if process is None:
            process = self.started[key] = Process(
                self.interpreters[library_of(column)],
                *(library_of(column), row.name.split("/")[0]),
                timeout=self.timeout,
                environment=environment,
            )
        return process

    def _end(self, process: Process) -> None:
        self.started = {key: one for key, one in self.started.items() if one is not process}
        process.close()

    def close(self) -> None:
        """End all processes."""
        for process in self.started.values():
            process.close()
        self.started.clear()

    def kill(self) -> None:
        """End all processes at once, whatever they do."""
        for process in self.started.values():
            process.process.kill()

    def _start(self, row: Row, turns: list[Turn], failures: dict[str, str]) -> None:
        """Let the processes of a row start together and wait for those that are new."""
        known = set(self.started.values())
        for process, turn in [(self._process(row, turn), turn) for turn in turns]:
            if process not in known:
                self._try(row, turn, failures, Process.ready, process)

    def _try(
        self, row: Row, turn: Turn, failures: dict[str, str], call: Callable[..., Any], *words: Any
    ) -> Any:
        """Call; note a failure of the column and return None instead."""
        column = turn[0]
        try:
            return call(*words)
        except FailedError as error:
            failures[column] = str(error)
            if isinstance(error, GoneError):
                if not row.fresh:  # those of fresh rows end by themselves
                    self._end(self._process(row, turn))
                if library_of(column) != OURS:
                    self.left_out[column] = f"{error} (in {row.name})"
        return None

    def _round(self, row: Row, turn: Turn) -> dict[str, float]:
        """Make one round of one turn."""
        process = self._process(row, turn)
        request = {"row": row.name, "column": turn[0]}
        if not row.fresh:
            return process.ask(**request)
        try:
            process.ready()
            return process.watched(**request)
        finally:
            self._end(process)

    def _values(self, row: Row, turn: Turn, file: Path) -> Any:
        self._process(row, turn).ask(row=row.name, column=turn[0], file=str(file))
        if not file.is_file():
            raise FailedError("it wrote no values")
        return np.load(file)

    def _check(self, row: Row, turns: list[Turn], failures: dict[str, str]) -> None:
        """Compare the values of all columns; one that differs fails."""
        values = {}
        with tempfile.TemporaryDirectory() as folder:
            for turn in turns:
                if turn[1] == "as it is":
                    file = Path(folder) / f"{turn[0]}.npy"
                    values[turn[0]] = self._try(row, turn, failures, self._values, row, turn, file)
        self._compare(row, values, failures)

    def _compare(self, row: Row, found: dict[str, Any], failures: dict[str, str]) -> None:
        values = {column: array for column, array in found.items() if array is not None}
        reference = "numpy" if "numpy" in values else row.columns[0]
        right = values.get(reference)
        relative, absolute = row.tolerance
        for column, array in values.items():
            if right is None or np.shape(array) != np.shape(right):
                failures[column] = f"no values of the same shape from {reference} to compare with"
            elif not np.allclose(array, right, rtol=relative, atol=absolute):
                worst = np.max(np.abs(np.subtract(array, right)))
                failures[column] = f"its values differ from those of {reference} by {worst:g}"

    def measure(
        self, row: Row, rounds: int, enough: float, progress: Callable[[int], None]
    ) -> list[Result]:
        """Measure a row: the first round warms up, the others count.

        After ``enough`` seconds of those two rounds will do, after three times as long one.
        """
        if row.name.split("/")[0] != self.group:
            self.close()  # a group has its own processes
            self.group = row.name.split("/")[0]
        columns = [column for column in row.columns if library_of(column) in self.versions]
        failures = {one: self.left_out[one] for one in columns if one in self.left_out}
        turns = [
            (column, malloc)
            for column in columns
            for malloc in MALLOCS
            if malloc == "as it is" or (row.both_mallocs and library_of(column) != OURS)
            if column not in failures
        ]
        if not row.fresh:
            self._start(row, turns, failures)
        if row.values:
            self._check(row, [turn for turn in turns if turn[0] not in failures], failures)
        answers: dict[Turn, list[dict[str, float]]] = {turn: [] for turn in turns}
        for number in range(1 if row.fresh else 0, rounds + 1):
            progress(number)
            if number <= 1:
                begin = time.monotonic()
            for turn in random.sample(turns, len(turns)):
                if turn[0] in failures:
                    continue
                time.sleep(row.rest)
                answer = self._try(row, turn, failures, self._round, row, turn)
                if number > 0 and answer is not None:
                    answers[turn].append(answer)
            if number and time.monotonic() - begin > enough * (3 if number == 1 else 1):
                break
        measured = {turn: some for turn, some in answers.items() if some}
        finals = {turn[0]: some[-1].get("value") for turn, some in measured.items()}
        self._compare(row, finals, failures)
        return self._results(row, measured, failures)

    def _results(
        self, row: Row, answers: dict[Turn, list[dict[str, float]]], failures: dict[str, str]
    ) -> list[Result]:
        results = []
        for figure in row.figures:
            samples: dict[str, dict[str, list[float]]] = {}
            for (column, malloc), some in answers.items():
                if column not in failures:
                    taken = [answer[figure.unit] for answer in some]
                    samples.setdefault(column, {})[malloc] = taken
            ours = answers.get((row.columns[0], "as it is"), [])
            notes = {
                text: statistics.median(answer[name] for answer in ours)
                for name, text in row.notes.items()
                if ours
            }
            results.append(
                Result(
                    row.name if figure is row.figures[0] else f"{row.name}, {figure.unit}",
                    figure.text,
                    figure.unit,
                    figure.readme,
                    row.columns[0],
                    samples,
                    dict(failures),
                    list(figure.goals),
                    notes,
                )
            )
        return results
