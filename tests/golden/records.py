# SPDX-License-Identifier: Apache-2.0
"""Records and headers for ``record_records.py`` and the tests: what is written and packed."""

from __future__ import annotations

import struct

MAGIC = struct.pack("<I", 0xCED7230A)

#: The records of each file.
FILES: dict[str, list[bytes]] = {
    "none": [],
    "one": [b"record"],
    "empty": [b"", b"", b"a", b""],
    "lengths": [bytes(range(length)) for length in range(9)],
    "the magic number": [MAGIC, b"next"],
    "magic numbers": [MAGIC * 3, MAGIC + b"a", b"abcd" + MAGIC, b"abcd" + MAGIC + b"efgh"],
    "not at a multiple of four": [b"a" + MAGIC + b"bc", b"abc" + MAGIC * 2, MAGIC[1:] + MAGIC],
    "mixed": [b"a" + MAGIC + b"bcd" + MAGIC + b"e", b"ab" + MAGIC * 2 + b"cd" + MAGIC],
    "cut short": [MAGIC[:3], b"abcd" + MAGIC[:3], MAGIC + MAGIC[:2]],
    "longer": [bytes(range(256)) * 5, MAGIC + bytes(1001) + MAGIC, b"end"],
}

#: Keys of an index, by what they are.
KEYS: dict[str, list[int] | list[str]] = {"int": [3, 1, 200], "str": ["a", "b c", "é"]}

#: Headers: flag, label, id, id2.
HEADERS: list[tuple[int, object, int, int]] = [
    (0, 4, 2574, 0),
    (7, -1.25, 2**64 - 1, 3),
    (0, [1, 2, 3], 1, 0),
    (0, [[0.5, 2], [1e10, -0.0]], 0, 2**40),
    (5, [], 1, 1),
    (0, True, 1, 1),
]
