# SPDX-License-Identifier: Apache-2.0
"""The events of an estimator: a class for each, which handlers of it are of."""

from __future__ import annotations

from typing import Any

from ....error import ArrayValueError


class EventHandler:
    """The base class of handlers."""


def checked_handlers(handlers: Any) -> list[EventHandler]:
    """Return handlers as a list."""
    given = [handlers] if isinstance(handlers, EventHandler) else list(handlers or ())
    if not all(isinstance(handler, EventHandler) for handler in given):
        raise ArrayValueError(
            f"handlers must be an EventHandler or a list of EventHandler, got: {handlers}"
        )
    return given


class TrainBegin(EventHandler):
    """Is told when training begins."""

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Do something before the first epoch."""


class TrainEnd(EventHandler):
    """Is told when training has ended."""

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Do something after the last epoch."""


class EpochBegin(EventHandler):
    """Is told when an epoch begins."""

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Do something before the first batch."""


class EpochEnd(EventHandler):
    """Is told when an epoch has ended."""

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool | None:
        """Do something after the last batch; return whether to stop."""
        return False


class BatchBegin(EventHandler):
    """Is told when a batch begins."""

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Do something with ``batch`` before it is computed."""


class BatchEnd(EventHandler):
    """Is told when a batch has been computed."""

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool | None:
        """Do something with ``batch``, ``label``, ``pred``, ``loss``; return whether to stop."""
        return False
