# SPDX-License-Identifier: Apache-2.0
"""Which machine each rank is on."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["HostsError", "deal", "read_hosts"]


class HostsError(ValueError):
    """Hosts or their numbers of ranks make no sense."""


def read_hosts(listed: str | None, file: str | None) -> list[tuple[str, int | None]]:
    """Return (host, ranks there or None) from "a,b:2", or from the lines of a file."""
    if listed and file:
        raise HostsError("--hosts and -H say the same; give one of them")
    words: Sequence[str] = ["localhost"]
    if listed:
        words = listed.split(",")
    elif file:
        with open(file, encoding="utf-8") as lines:
            # As MPI's files have it: "host slots=2", "host:2", comments behind #.
            words = [line.partition("#")[0].strip() for line in lines]
        words = [word.replace(" slots=", ":") for word in words if word]
    found: list[tuple[str, int | None]] = []
    for word in words:
        host, _, count = word.strip().partition(":")
        if not host or (count and not (count.isdecimal() and int(count) > 0)):
            raise HostsError(f"{word!r} is no host; write HOST, or HOST:RANKS")
        if host in (one for one, _ in found):
            raise HostsError(f"{host} is named twice; write {host}:2 for two ranks there")
        found.append((host, int(count) if count else None))
    if not found:
        raise HostsError("there is no host")
    return found


def deal(hosts: list[tuple[str, int | None]], ranks: int | None) -> list[str]:
    """Return the host of each rank; ranks of a host stand together."""
    if ranks is not None and ranks < 1:
        raise HostsError(f"-n {ranks}: there must be one rank at least")
    fixed = sum(count or 0 for _, count in hosts)
    open_ = [host for host, count in hosts if count is None]
    rest = len(open_) if ranks is None else ranks - fixed
    if rest < len(open_) or (rest and not open_):
        raise HostsError(
            f"-n {ranks} does not fit the hosts, which have {fixed + len(open_)} ranks"
        )
    result = []
    for host, count in hosts:
        if count is None:
            place = open_.index(host)
            count = rest // len(open_) + (place < rest % len(open_))
        result += [host] * count
    return result
