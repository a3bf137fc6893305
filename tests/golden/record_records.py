# SPDX-License-Identifier: Apache-2.0
"""Writes records.json: files of records, indexes and packed headers as MXNet 1.9.1 writes them.

Needs an environment with MXNet (see CONTRIBUTING.md).

    python tests/golden/record_records.py
"""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path
from typing import Any

from mxnet import recordio
from records import FILES, HEADERS, KEYS


def text(data: bytes) -> str:
    """Return bytes as a text."""
    return base64.b64encode(data).decode()


def main() -> None:
    """Record everything."""
    recorded: dict[str, Any] = {"files": {}, "indexes": {}}
    with tempfile.TemporaryDirectory() as folder:
        path, index = str(Path(folder, "file")), str(Path(folder, "index"))
        for name, records in FILES.items():
            writer = recordio.MXRecordIO(path, "w")
            for record in records:
                writer.write(record)
            writer.close()
            reader = recordio.MXRecordIO(path, "r")
            assert [reader.read() for _ in records] == records
            recorded["files"][name] = text(Path(path).read_bytes())
        for kind, keys in KEYS.items():
            writer = recordio.MXIndexedRecordIO(index, path, "w", key_type=eval(kind))
            for key in keys:
                writer.write_idx(key, f"record {key}".encode())
            end = writer.tell()
            writer.close()
            recorded["indexes"][kind] = [Path(index).read_text("utf-8"), end]
    recorded["headers"] = [text(recordio.pack(header, b"content")) for header in HEADERS]
    target = Path(__file__).with_name("records.json")
    target.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
