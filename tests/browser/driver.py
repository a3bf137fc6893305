# SPDX-License-Identifier: Apache-2.0
"""A real browser, driven from Python without any package: Chromium's debugging protocol on pipes.

    with Browser() as browser:
        page = browser.open("file:///tmp/page.html", width=1400, height=900)
        page.wait_for("window.afterglow")
        page.click(100, 200)
        assert page.evaluate("document.title") == "..."
        assert page.errors == [] and page.requests == []

Messages are JSON texts that end with a zero byte; the browser reads them from its file descriptor 3
and answers on 4.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_SHIFT = 8

#: Keys that are no characters: code and number, as the protocol wants them.
_KEYS = {
    "Enter": 13,
    "Escape": 27,
    "Tab": 9,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    "Backspace": 8,
}


class BrowserError(Exception):
    """The browser is missing, did not answer in time, or refused a command."""


def executable() -> str:
    """Return the browser to use: that of the variable CHROME_BIN, or the first one found."""
    given = os.environ.get("CHROME_BIN")
    found = given or next(filter(None, map(shutil.which, _NAMES)), None)
    if not found:
        raise BrowserError(
            f"no browser: looked for {', '.join(_NAMES)}; "
            "install Debian's chromium or name one in CHROME_BIN"
        )
    return found


class Browser:
    """A browser without windows, with a profile of its own that is removed at the end."""

    def __init__(self, *, timeout: float = 60) -> None:
        self.timeout = timeout
        self.pages: dict[str, Page] = {}
        self._numbers = itertools.count(1)
        self._received = b""
        self._profile = tempfile.mkdtemp(prefix="afterglow-browser-")
        command = [
            executable(),
            "--headless=new",
            "--remote-debugging-pipe",
            f"--user-data-dir={self._profile}",
            "--no-first-run",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "about:blank",
        ]
        if os.getuid() == 0:
            command.insert(1, "--no-sandbox")
        reads_commands, self._commands = os.pipe()
        self._answers, writes_answers = os.pipe()
        # Copies far from 3 and 4: dup2 onto itself would leave them closed in the browser.
        far = [
            os.dup2(end, 200 + i, False) for i, end in enumerate((reads_commands, writes_answers))
        ]
        self._process = os.posix_spawn(
            command[0],
            command,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, far[0], 3),
                (os.POSIX_SPAWN_DUP2, far[1], 4),
            ],
            setpgroup=0,
        )
        for end in (reads_commands, writes_answers, *far):
            os.close(end)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def open(self, url: str, *, width: int = 1400, height: int = 900, dark: bool = False) -> Page:
        """Open a page in a tab of its own and return it when it is loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session, target)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        page.set_dark(dark)
        page.call("Page.navigate", url=url)
        page.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")
        return page

    def call(self, method: str, *, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._commands, data) :]
        deadline = time.monotonic() + self.timeout
        while True:
            answer = self._receive(deadline, method)
            if answer.get("id") != number:
                self._note(answer)
            elif "error" in answer:
                raise BrowserError(f"{method}: {answer['error']['message']}")
            else:
                return answer.get("result", {})

    def _receive(self, deadline: float, method: str) -> dict[str, Any]:
        while b"\0" not in self._received:
            ready, _, _ = select.select(
                [self._answers], [], [], max(0, deadline - time.monotonic())
            )
            if not ready:
                raise BrowserError(f"{method}: no answer after {self.timeout:g} s")
            part = os.read(self._answers, 1 << 20)
            if not part:
                raise BrowserError(f"{method}: the browser has ended")
            self._received += part
        message, _, self._received = self._received.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        page = self.pages.get(event.get("sessionId", ""))
        if page:
            page.note(event.get("method", ""), event.get("params", {}))

    def close(self) -> None:
        """End the browser, in peace or not."""
        try:
            self.timeout = 5
            self.call("Browser.close")
        except (BrowserError, OSError):
            pass
        os.close(self._commands)
        os.close(self._answers)
        deadline = time.monotonic() + 10
        while os.waitpid(self._process, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                os.killpg(self._process, signal.SIGKILL)
                os.waitpid(self._process, 0)
                break
            time.sleep(0.02)
        shutil.rmtree(self._profile, ignore_errors=True)


class Page:
    """One tab: ``errors`` are exceptions and errors of its console, ``requests`` its URLs."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self.browser = browser
        self.session = session
        self.target = target
        self.errors: list[str] = []
        self.requests: list[str] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command to this tab and return its result."""
        return self.browser.call(method, session=self.session, **parameters)

    def note(self, method: str, event: dict[str, Any]) -> None:
        """Take notice of what the browser tells by itself."""
        if method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "assert"):
            self.errors.append(" ".join(str(part.get("value")) for part in event["args"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] == "error":
            self.errors.append(event["entry"]["text"])

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; a promise is waited for."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait_for(self, expression: str, timeout: float | None = None) -> None:
        """Return when the expression is true."""
        deadline = time.monotonic() + (timeout or self.browser.timeout)
        while not self.evaluate(f"!!({expression})"):
            if time.monotonic() > deadline:
                raise BrowserError(f"never came true: {expression}; errors: {self.errors}")
            time.sleep(0.02)

    def settle(self) -> None:
        """Return when what was asked for is drawn: two frames later."""
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"
        )

    def resize(self, width: int, height: int) -> None:
        """Set the size of the window's inside."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def set_dark(self, dark: bool) -> None:
        """Prefer the dark or the light scheme."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def _mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def move(self, x: float, y: float) -> None:
        """Move the mouse to a point."""
        self._mouse("mouseMoved", x, y)
        self.settle()

    def click(self, x: float, y: float) -> None:
        """Press and release the left button."""
        self.drag((x, y), (x, y))

    def drag(
        self, start: tuple[float, float], end: tuple[float, float], *, shift: bool = False
    ) -> None:
        """Press the left button at a point and release it at another."""
        more = {"button": "left", "clickCount": 1, "modifiers": _SHIFT if shift else 0}
        self._mouse("mouseMoved", *start)
        self._mouse("mousePressed", *start, **more)
        if end != start:
            for part in (0.3, 0.7, 1):
                between = [a + (b - a) * part for a, b in zip(start, end, strict=True)]
                self._mouse("mouseMoved", *between, **more, buttons=1)
        self._mouse("mouseReleased", *end, **more)
        self.settle()

    def wheel(self, x: float, y: float, down: float, right: float = 0) -> None:
        """Turn the wheel at a point."""
        self._mouse("mouseWheel", x, y, deltaX=right, deltaY=down)
        self.settle()

    def key(self, key: str, *, shift: bool = False) -> None:
        """Press and release a key: a character, or a name such as ``"Enter"``."""
        more: dict[str, Any] = {"key": key, "modifiers": _SHIFT if shift else 0}
        if key in _KEYS:
            more |= {"code": key, "windowsVirtualKeyCode": _KEYS[key]}
        if len(key) == 1 or key == "Enter":
            more["text"] = "\r" if key == "Enter" else key
        self.call("Input.dispatchKeyEvent", type="keyDown", **more)
        more.pop("text", None)
        self.call("Input.dispatchKeyEvent", type="keyUp", **more)
        self.settle()

    def type(self, text: str) -> None:
        """Type a text where the focus is."""
        self.call("Input.insertText", text=text)
        self.settle()

    def click_on(self, selector: str) -> None:
        """Click on the middle of an element."""
        self.click(*self.middle(selector))

    def middle(self, selector: str) -> tuple[float, float]:
        """Return the middle of an element that is scrolled into view."""
        box = self.evaluate(
            f"(e => {{ e.scrollIntoView({{block: 'nearest'}}); const b = e.getBoundingClientRect();"
            f" return [b.x + b.width / 2, b.y + b.height / 2]; }})"
            f"(document.querySelector({json.dumps(selector)}))"
        )
        return box[0], box[1]

    def text(self, selector: str) -> str:
        """Return the text of an element as it is shown."""
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    def screenshot(self, path: str | Path) -> None:
        """Save a picture of the window's inside."""
        picture = self.call("Page.captureScreenshot", format="png")["data"]
        Path(path).write_bytes(base64.b64decode(picture))

    def close(self) -> None:
        """Close the tab."""
        self.browser.call("Target.closeTarget", targetId=self.target)
        del self.browser.pages[self.session]
