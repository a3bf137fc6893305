# SPDX-License-Identifier: Apache-2.0
"""Tells how many of the node tests of onnx pass: ``python -m tests.imported [--all] [WORD...]``."""

from __future__ import annotations

import argparse
import collections

from .node_cases import all_cases, failure, is_counted, is_documented


def main() -> None:
    """Run the cases whose names have one of the words, and print what fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.imported", description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of the names of cases")
    parser.add_argument("--all", action="store_true", help="also those that do not count")
    given = parser.parse_args()
    cases = [
        case
        for case in all_cases()
        if (given.all or is_counted(case))
        and (not given.words or any(word in case.name for word in given.words))
    ]
    counts: collections.Counter[str] = collections.Counter()
    for case in cases:
        kind = "of documented ops" if is_documented(case) else "of others"
        wrong = failure(case)
        counts[kind, wrong is None] += 1  # type: ignore[index]
        if wrong is not None:
            print(f"{case.name} ({kind}): {wrong}")
    passed = sum(count for (_, is_right), count in counts.items() if is_right)  # type: ignore[misc]
    print(f"{passed} of {len(cases)} node tests pass ({passed / max(len(cases), 1):.1%})")
    for kind in ("of documented ops", "of others"):
        right, wrong_count = counts[kind, True], counts[kind, False]  # type: ignore[index]
        print(f"  {kind}: {right} of {right + wrong_count}")


if __name__ == "__main__":
    main()
