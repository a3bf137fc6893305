# SPDX-License-Identifier: Apache-2.0
"""``mx.log``: loggers whose lines say level, time, process and place."""

from __future__ import annotations

import logging
from logging import CRITICAL, DEBUG, ERROR, INFO, NOTSET, WARNING

__all__ = [
    "CRITICAL",
    "DEBUG",
    "ERROR",
    "INFO",
    "NOTSET",
    "WARNING",
    "getLogger",
    "get_logger",
]


class _Formatter(logging.Formatter):
    """Starts lines as ``W0505 00:29:47 3525 file:function:line]``."""

    def __init__(self) -> None:
        super().__init__(
            "%(letter)s%(asctime)s %(process)d %(pathname)s:%(funcName)s:%(lineno)d] %(message)s",
            "%m%d %H:%M:%S",
        )

    def format(self, record: logging.LogRecord) -> str:
        record.letter = record.levelname[0]
        return super().format(record)


def get_logger(
    name: str | None = None,
    filename: str | None = None,
    filemode: str | None = None,
    level: int = WARNING,
) -> logging.Logger:
    """Return a logger that writes to a file, or to standard error.

    >>> from afterglow import log
    >>> log.get_logger("quiet", level=log.ERROR).isEnabledFor(log.INFO)
    False
    """
    logger = logging.getLogger(name)
    if name is not None and not getattr(logger, "_init_done", False):
        handler: logging.Handler = (
            logging.FileHandler(filename, filemode or "a") if filename else logging.StreamHandler()
        )
        handler.setFormatter(_Formatter())
        logger.addHandler(handler)
        logger.setLevel(level)
        logger._init_done = True  # type: ignore[attr-defined]
    return logger


getLogger = get_logger  # noqa: N816 - the older name
