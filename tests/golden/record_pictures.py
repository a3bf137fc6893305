# SPDX-License-Identifier: Apache-2.0
"""Writes pictures.json: small encoded pictures, and MXNet 1.9.1's answers to the calls with them.

Pictures are encoded by OpenCV, which MXNet's environment need not have; answers need MXNet:

    python tests/golden/record_pictures.py files
    python tests/golden/record_pictures.py answers
"""

from __future__ import annotations

import base64
import json
import struct
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as onp

TARGET = Path(__file__).with_name("pictures.json")
HEIGHT, WIDTH = 17, 23


def png(header: bytes, palette: bytes, rows: bytes) -> bytes:
    """Return a PNG picture of its parts."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    parts = chunk(b"IHDR", header) + chunk(b"PLTE", palette) + chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + parts + chunk(b"IEND", b"")


def encoded() -> dict[str, bytes]:
    """Return one picture in many formats."""
    import cv2

    y, x = onp.mgrid[:HEIGHT, :WIDTH]
    waves = [127 + 70 * onp.sin(x / 4 + k) + 40 * onp.cos(y / 3 - k) for k in range(3)]
    noise = onp.random.RandomState(0).normal(0, 12, (HEIGHT, WIDTH, 3))
    colour = onp.clip(onp.stack(waves, -1) + noise, 0, 255).astype("uint8")
    gray, alpha = colour[:, :, 0], onp.dstack([colour, colour[:, :, :1]])

    def jpg(pixels: Any, quality: int, *options: int) -> bytes:
        return bytes(cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality, *options])[1])

    found = {
        "colour.png": bytes(cv2.imencode(".png", colour)[1]),
        "95.jpg": jpg(colour, 95),
        "50.jpg": jpg(colour[:12], 50),
        "gray.jpg": jpg(gray, 90),
        "gray.png": bytes(cv2.imencode(".png", gray[:, :15])[1]),
        "progressive.jpg": jpg(colour[:, :9], 90, cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
        "alpha.png": bytes(cv2.imencode(".png", alpha)[1]),
        "deep.png": bytes(cv2.imencode(".png", colour.astype("uint16") * 257 - 100)[1]),
        "colour.bmp": bytes(cv2.imencode(".bmp", colour)[1]),
        "colour.tiff": bytes(cv2.imencode(".tiff", colour)[1]),
    }
    for name in ("444", "440", "422", "411"):
        factor = getattr(cv2, f"IMWRITE_JPEG_SAMPLING_FACTOR_{name}")
        found[f"{name}.jpg"] = jpg(colour, 90, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, factor)
    # Whoever took it held the camera upright: it is turned by whoever decodes it.
    tag = b"Exif\0\0MM\0*\0\0\0\x08" + struct.pack(">HHHIHHI", 1, 0x112, 3, 1, 6, 0, 0)
    plain = found["95.jpg"]
    found["turned.jpg"] = plain[:2] + struct.pack(">HH", 0xFFE1, len(tag) + 2) + tag + plain[2:]
    rows = b"".join(b"\0" + bytes(row // 16) for row in gray)
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)
    found["palette.png"] = png(header, bytes(range(0, 240, 5)), rows)
    return found


def main() -> None:
    """Write a part of the file."""
    recorded = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    if sys.argv[1] == "files":
        recorded["files"] = {
            name: base64.b64encode(data).decode() for name, data in encoded().items()
        }
    else:
        import mxnet
        from pictures import EXACT, NEAR, WARPED, answer, names_for

        files = {name: base64.b64decode(text) for name, text in recorded["files"].items()}
        with tempfile.TemporaryDirectory() as folder:
            names = names_for(mxnet, files, Path(folder))
            recorded["answers"] = {one: answer(one, names) for one in EXACT + NEAR + WARPED}
    TARGET.write_text(json.dumps(recorded, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
