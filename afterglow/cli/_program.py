# SPDX-License-Identifier: Apache-2.0
"""What commands that run a program have in common: FILE, and arguments that are the program's."""

from __future__ import annotations

import argparse
import sys


def add_program(parser: argparse.ArgumentParser, what: str) -> None:
    """Take FILE, and everything behind it for the program; call it after all options."""
    options = [option for action in parser._actions for option in action.option_strings]
    parser.set_defaults(own_options=options)
    parser.add_argument("file", metavar="FILE", help=what)
    rest = parser.add_argument(
        "arguments",
        metavar="ARGUMENTS",
        nargs=argparse.REMAINDER,
        help="arguments of the program: everything behind FILE",
    )
    rest.required = False  # or it is said to be missing along with FILE


def note_options_of_program(arguments: argparse.Namespace) -> None:
    """Say that an option of the command's behind FILE is the program's, as everything there is."""
    words = arguments.arguments
    ours = [word for word in words if word.partition("=")[0] in arguments.own_options]
    if ours and not getattr(arguments, "quiet", False):
        command = f"afterglow {arguments.command}"
        print(
            f"{command}: {', '.join(ours)} behind FILE is given to the program; "
            f"options of {command} stand before FILE",
            file=sys.stderr,
        )
