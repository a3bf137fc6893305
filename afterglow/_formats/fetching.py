# SPDX-License-Identifier: Apache-2.0
"""Files from the network: whole and checked, or not at all.

What has arrived is kept beside the file, as ``NAME.part``, which one process at a time writes. A
connection that ends is taken up where it ended, by the next attempt and, where a sum tells whether
all belongs together, by the next program.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import http.client
import os
import socket
import ssl
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

__all__ = ["fetch"]

#: Bytes that are read at a time; seconds without any after which a connection has ended.
_CHUNK, _PATIENCE = 1 << 16, 60.0
#: Seconds before the second attempt, twice as many before each other, and between two reports.
_PAUSE, _REPORT = 0.1, 0.1
#: Answers of servers that may be others a little later.
_PASSING = (408, 425, 429)
_NO_NETWORK = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)


class _FinalError(OSError):
    """What another attempt would not change."""


def fetch(
    url: str,
    target: str,
    sha1: str | None = None,
    attempts: int = 1,
    verify_ssl: bool = True,
    *,
    instead_of: os.stat_result | None = None,
) -> None:
    """Put what is at an address in the place of a file; raises OSError with the reason.

    ``instead_of`` is the file found there, if any. Where a right one has come since, that stays.
    """
    download = _Download(url, target, sha1, verify_ssl, instead_of)
    for left in reversed(range(attempts)):
        try:
            return download.attempt(is_last=not left)
        except _FinalError:
            raise
        except (OSError, http.client.HTTPException) as error:
            reason = _reason(error)
            if not left:
                raise OSError(reason) from None
        print(f"download failed: {reason}; {left} attempt{'s' if left > 1 else ''} left")
        time.sleep(_PAUSE * 2 ** (attempts - left - 1))


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, Exception):
        return _reason(error.reason)
    if isinstance(error, TimeoutError):
        return f"nothing has come for {_PATIENCE:.0f} seconds"
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__


def _is_final(reason: str | BaseException) -> bool:
    """Tell whether an address or a network is not there."""
    if isinstance(reason, (str, socket.gaierror, ssl.SSLCertVerificationError)):
        return True
    return isinstance(reason, OSError) and reason.errno in (*_NO_NETWORK, errno.ENOENT)


class _Download:
    """A file that is being fetched, in one attempt or several."""

    def __init__(
        self,
        url: str,
        target: str,
        sha1: str | None,
        verify_ssl: bool,
        instead_of: os.stat_result | None,
    ) -> None:
        self._url, self._target, self._sha1 = url, target, sha1
        self._before = instead_of
        self._part = f"{target}.part"
        self._context = None if verify_ssl else ssl._create_unverified_context()
        self._version: str | None = None  # of the file there, as the server calls it
        self._told = False

    def attempt(self, is_last: bool) -> None:
        """Fetch what is missing."""
        with self._alone(is_last) as file:
            if self._has_come() and self._is_right(self._target):
                os.unlink(self._part)  # another process was faster
                return
            if not self._sha1 and not self._version:
                file.truncate(0)  # of another program; nothing tells whether it is the same file
            if not (self._sha1 and file.seek(0, os.SEEK_END) and self._is_right(self._part)):
                self._receive(file)
                if not self._is_right(self._part):
                    file.truncate(0)
                    raise OSError(f"the file there does not have the SHA-1 sum {self._sha1}")
            os.replace(self._part, self._target)

    def _has_come(self) -> bool:
        try:
            now = os.stat(self._target)
        except FileNotFoundError:
            return False
        return self._before is None or not os.path.samestat(now, self._before)

    def _is_right(self, path: str) -> bool:
        if not self._sha1:
            return True
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha1").hexdigest().startswith(self._sha1)

    @contextmanager
    def _alone(self, is_last: bool) -> Iterator[IO[bytes]]:
        """Open the file of what has arrived, which no other process then does."""
        while True:
            with open(self._part, "ab", buffering=0) as file:
                with suppress(OSError):  # there are file systems without locks
                    fcntl.flock(file, fcntl.LOCK_EX)
                if not _is_named(file.fileno(), self._part):
                    continue  # who had it has put it in its place meanwhile, or taken it away
                try:
                    yield file
                except BaseException as error:
                    ends = is_last or not isinstance(error, Exception)
                    if not file.seek(0, os.SEEK_END) or (ends and not self._sha1):
                        os.unlink(self._part)  # nobody could take it up
                    raise
                return

    def _receive(self, file: IO[bytes]) -> None:
        have = file.seek(0, os.SEEK_END)
        headers = {"User-Agent": "afterglow"}
        if have:
            headers["Range"] = f"bytes={have}-"
            if self._version:
                headers["If-Range"] = self._version
        with self._open(headers, file) as answer:
            if have and answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
                begin = have
            else:
                file.truncate(0)
                begin = 0
            self._version = answer.headers.get("ETag") or answer.headers.get("Last-Modified")
            length = answer.headers.get("Content-Length")
            whole = None if length is None else begin + int(length)
            if not self._told:
                print(f"Downloading {self._target} from {self._url}...")
                self._told = True
            with _Progress(os.path.basename(self._target), begin, whole) as progress:
                while chunk := answer.read(_CHUNK):
                    file.write(chunk)
                    progress.add(len(chunk))
        arrived = file.seek(0, os.SEEK_END)
        if whole is not None and arrived != whole:
            raise OSError(f"the connection ended after {arrived} of {whole} bytes")

    def _open(self, headers: dict[str, str], file: IO[bytes]) -> Any:
        try:
            request = urllib.request.Request(self._url, headers=headers)
            return urllib.request.urlopen(request, timeout=_PATIENCE, context=self._context)
        except urllib.error.HTTPError as error:
            with error:
                reason = f"the server answers {error.code} {error.reason}"
                if error.code == 416 and "Range" in headers:
                    file.truncate(0)
                    raise OSError(reason) from None
                kind = OSError if error.code >= 500 or error.code in _PASSING else _FinalError
                raise kind(reason) from None
        except urllib.error.URLError as error:
            raise (_FinalError if _is_final(error.reason) else OSError)(_reason(error)) from None
        except ValueError as error:  # no address at all
            raise _FinalError(str(error)) from None


def _is_named(file: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


class _Progress:
    """Tells on a terminal how much has arrived."""

    def __init__(self, name: str, begin: int, whole: int | None) -> None:
        self._name, self._begin, self._whole = name, begin, whole
        self._have = begin
        self._started = self._reported = time.monotonic()
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> _Progress:
        return self

    def add(self, count: int) -> None:
        """Count bytes that have arrived."""
        self._have += count
        now = time.monotonic()
        if self._is_shown and now - self._reported >= _REPORT:
            self._reported = now
            self._show(now)

    def _show(self, now: float) -> None:
        rate = (self._have - self._begin) / max(now - self._started, 1e-9)
        of = "" if self._whole is None else f" of {self._whole / 1e6:.1f}"
        text = f"{self._name}: {self._have / 1e6:.1f}{of} MB, {rate / 1e6:.1f} MB/s"
        print(f"\r{text:<60}", end="", file=sys.stderr, flush=True)

    def __exit__(self, *error: object) -> None:
        if self._is_shown:
            self._show(time.monotonic())
            print(file=sys.stderr)
