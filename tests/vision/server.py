# SPDX-License-Identifier: Apache-2.0
"""A server on this machine that answers as it is told, and remembers what it was asked."""

from __future__ import annotations

import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Server:
    """Files by their addresses; ``with Server() as server``."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        #: What becomes of the next answers: a number of bytes after which the connection ends, a
        #: status, or None for none of it.
        self.faults: deque[int | str | None] = deque()
        #: Whether parts are given that are asked for, and what the files are called.
        self.ranges, self.version = True, '"first"'
        #: The headers of all that was asked for.
        self.asked: list[dict[str, str]] = []
        self.gate = threading.Event()
        self.gate.set()

    def __enter__(self) -> Server:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._answer(self)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def address(self, name: str = "") -> str:
        """Return where a file is."""
        return f"http://127.0.0.1:{self._server.server_port}/{name}"

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked.append(dict(handler.headers.items()))
        self.gate.wait(10)
        fault = self.faults.popleft() if self.faults else None
        content = self.files.get(handler.path.removeprefix("/"))
        if isinstance(fault, str) or content is None:
            handler.send_error(int(fault) if isinstance(fault, str) else 404)
            return
        begin = 0
        asked = handler.headers.get("Range")
        is_same = handler.headers.get("If-Range") in (None, self.version)
        if asked and self.ranges and is_same:
            begin = int(asked.removeprefix("bytes=").removesuffix("-"))
            if begin >= len(content):
                handler.send_error(416)
                return
            handler.send_response(206)
            handler.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        else:
            handler.send_response(200)
        handler.send_header("ETag", self.version)
        handler.send_header("Content-Length", str(len(content) - begin))
        handler.end_headers()
        rest = content[begin:]
        handler.wfile.write(rest if fault is None else rest[:fault])
