# SPDX-License-Identifier: Apache-2.0
"""Runs the rounds of one column: started by the command, in a process of its own.

``python worker.py LIBRARY [GROUP]`` reads a line of JSON per request and answers each with one:
``{"row": NAME, "column": NAME}`` makes one round; with ``"prepare": true`` it only gets ready; with
``"file": PATH`` it writes its values there.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any


class Worker:
    """Answers requests; keeps the task of the latest row only."""

    def __init__(self, group: str) -> None:
        self.rows = {row.name: row for row in importlib.import_module(group).ROWS}
        self.name = ""
        self.task: Any = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request."""
        row, column = self.rows[request["row"]], request["column"]
        if "file" in request:
            import numpy

            numpy.save(request["file"], row.values(column))
            return {}
        if self.name != row.name:
            self.task = None  # the inputs of the last row go first
            self.task, self.name = row.make(column), row.name
        return {} if request.get("prepare") else self.task()  # type: ignore[no-any-return]


def main() -> None:
    """Answer requests until standard input ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no reply

    def reply(**answer: object) -> None:
        print(json.dumps(answer), file=replies, flush=True)

    library, *groups = sys.argv[1:]
    try:
        module = importlib.import_module(library)
        worker = Worker(groups[0]) if groups else None
        reply(version=str(getattr(module, "__version__", "")))
    except BaseException as error:
        reply(error=f"{type(error).__name__}: {error}")
        return
    for line in sys.stdin:
        try:
            assert worker
            reply(**worker.answer(json.loads(line)))
        except Exception as error:
            reply(error=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
