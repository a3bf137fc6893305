# SPDX-License-Identifier: Apache-2.0
"""What is different between two recordings, told by kind and subject."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

Recording = dict[tuple[str, str, str], str]

#: Where a digest and the size of values stand in an outcome.
_VALUES = re.compile(r" ([0-9a-f]{16})(?: ~(\S+?))?(?=[];)},]|$)")
#: A change that so many lines share is told as one.
_MANY = 5
#: Values that differ by less, in proportion, are called other last bits.
_CLOSE = 1e-3


class Difference(NamedTuple):
    """One line that is another one now, is gone, or is new."""

    kind: str
    subject: str
    case: str
    what: str
    before: str
    after: str


def differences(before: Recording, after: Recording) -> Iterator[Difference]:
    """Yield what is different, in the order of the recordings."""
    for key, outcome in before.items():
        if key not in after:
            yield Difference(*key, "gone", outcome, "")
        elif after[key] != outcome:
            yield Difference(*key, _what(key[0], outcome, after[key]), outcome, after[key])
    for key, outcome in after.items():
        if key not in before:
            yield Difference(*key, "new", "", outcome)


def _what(kind: str, before: str, after: str) -> str:
    """Return in a word or two what has changed."""
    if kind == "surroundings":
        return "another one"
    if kind == "names":
        fields = ("parameters", "annotations", "documentation")
        pairs = zip(before.split(" || "), after.split(" || "), strict=False)
        changed = [name for name, (one, other) in zip(fields, pairs, strict=False) if one != other]
        return " and ".join(changed) or "kind"
    refused = [_is_error(before), _is_error(after)]
    if refused == [True, False]:
        return "answers now"
    if refused == [False, True]:
        return "refuses now"
    if refused == [True, True]:
        same_class = before.split(": ")[0] == after.split(": ")[0]
        return "text of the error" if same_class else "class of the error"
    if _VALUES.sub("", before) != _VALUES.sub("", after):
        return "shape, type or part"
    sizes = zip(_VALUES.findall(before), _VALUES.findall(after), strict=True)
    return "last bits" if all(_close(one, other) for one, other in sizes) else "values"


def _is_error(outcome: str) -> bool:
    return re.match(r"[\w/]*(Error|Exception|Interrupt|Warning)[\w/]*: ", outcome) is not None


def _close(one: tuple[str, str], other: tuple[str, str]) -> bool:
    if one[0] == other[0]:
        return True
    if not one[1] or not other[1]:
        return False  # a file
    left, right = float(one[1]), float(other[1])
    return abs(left - right) <= _CLOSE * max(abs(left), abs(right))


def told(found: list[Difference], counts: Counter[str], examples: int) -> Iterator[str]:
    """Yield the lines of a report: counts by kind, then subjects with a few examples each."""
    for kind, count in counts.items():
        group = [one for one in found if one.kind == kind]
        yield f"{kind}: {count} lines, {len(group)} differ{_counted(group)}"
    shared = Counter(
        (one.what, _general(one, one.before), _general(one, one.after)) for one in found
    )
    for (what, before, after), count in shared.most_common():
        if count >= _MANY and before != after:
            yield ""
            yield f"{count} lines, {what}"
            yield from (f"      {sign} {text}" for sign, text in (("-", before), ("+", after)))
    subjects: dict[tuple[str, str], list[Difference]] = defaultdict(list)
    for one in found:
        subjects[one.kind, one.subject].append(one)
    for (kind, subject), group in subjects.items():
        yield ""
        yield f"{kind} {subject}{_counted(group)}"
        for one in group[: examples or None]:
            yield f"    {one.case}: {one.what}"
            yield from (f"      {sign} {text}" for sign, text in _sides(one))
        if examples and len(group) > examples:
            yield f"    and {len(group) - examples} more"


def _general(one: Difference, outcome: str) -> str:
    """Return an outcome without what is the function's own: its name, shapes, types and values."""
    name = re.escape(one.subject.split(".")[-1])
    text = _VALUES.sub("", outcome)
    text = re.sub(rf"\b{name}\b", "NAME", text) if name else text
    return re.sub(r"\([\d, ]*\)|\b(float|u?int)\d+\b|\d+", "#", text)


def _counted(group: list[Difference]) -> str:
    """Return how many differences of each sort there are."""
    words = Counter(one.what for one in group).most_common()
    return ": " * bool(words) + ", ".join(f"{number} {what}" for what, number in words)


def _sides(one: Difference) -> Iterator[tuple[str, str]]:
    if one.before:
        yield "-", one.before
    if one.after:
        yield "+", one.after
