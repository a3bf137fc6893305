# SPDX-License-Identifier: Apache-2.0
"""``python -m afterglow.distributed.remote``: one rank on another machine.

The launcher says what to run in one line of its input, and holds that open. At its end, also where
the launcher or the connection died, the rank is ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

from .launcher import end_with_parent


def _first_line() -> bytes:
    """Return the first line of the input, past Python's buffers, whose locks outlive no thread."""
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(0, 1)
        if not part:
            raise SystemExit("the launcher is gone")
        line += part
    return line


def main() -> int:
    """Run the rank and return its exit status."""
    told = json.loads(_first_line())
    process = subprocess.Popen(
        told["command"],
        cwd=told["folder"],
        env={**os.environ, **told["environment"]},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=end_with_parent,
    )

    def end_with_input() -> None:
        while os.read(0, 4096):
            pass
        os.killpg(process.pid, signal.SIGTERM)
        time.sleep(2.0)
        os.killpg(process.pid, signal.SIGKILL)

    threading.Thread(target=end_with_input, daemon=True).start()
    status = process.wait()
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    sys.exit(main())
