# SPDX-License-Identifier: Apache-2.0
"""The command ``afterglow``: ``afterglow --help`` lists what it does.

Each command is a module of its own here, with ``add_arguments(parser)`` and ``run(arguments)``,
which returns the exit status. It is imported when its name was given.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from .._package.namespace import did_you_mean
from ..version import version

__all__ = ["COMMANDS", "main"]

#: What ``afterglow --help`` says of each command.
COMMANDS = {
    "tour": "a guided run of the ideas, measured on this machine",
    "run": "run a script, a notebook or a chapter of a book, with mxnet meaning Afterglow",
    "trace": "run a program as above, and write a page that shows what ran when",
    "launch": "run a program on several processes or machines",
    "bench": "measure Afterglow beside other libraries",
    "books": "the data of the books: where it belongs, and fetching it",
    "im2rec": "lists of pictures, and files of records made of them",
    "list": "public names with a line each; those of MXNet that are missing",
    "reference": "write a page of all public names with signatures and texts",
    "install-shim": "let import mxnet mean Afterglow in all programs of this environment",
    "remove-shim": "take that out again",
    "info": "versions, processor, limits and environment variables",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    words = [*(sys.argv[1:] if arguments is None else arguments)]  # `list` is a command's module
    parser = argparse.ArgumentParser(
        prog="afterglow",
        description="Asynchronous, lazy arrays that speak the API of Apache MXNet.",
    )
    parser.add_argument("--version", action="version", version=f"afterglow {version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    chosen = next((word for word in words if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if name == chosen:
            module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    if not words:
        parser.print_help(sys.stderr)
        return 2
    if chosen is not None and chosen not in COMMANDS:
        known = f"commands are {', '.join(COMMANDS)}"
        parser.error(f"there is no command {chosen!r}; {did_you_mean(chosen, COMMANDS) or known}")
    parsed, unknown = parser.parse_known_args(words)
    if unknown:
        _refuse_options(commands.choices[parsed.command], unknown)
    try:
        status = int(parsed.run(parsed))
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output (head, less) has seen enough; nothing may be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _refuse_options(command: argparse.ArgumentParser, unknown: Sequence[str]) -> NoReturn:
    """End with the usage of the command, and what may have been meant."""
    first = next((word for word in unknown if word.startswith("-")), unknown[0])
    options = [option for action in command._actions for option in action.option_strings]
    question = did_you_mean(first.partition("=")[0], options)
    command.error(f"there is no {first}; {question or f'see {command.prog} --help'}")
