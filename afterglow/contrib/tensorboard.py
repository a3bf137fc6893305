# SPDX-License-Identifier: Apache-2.0
"""``mx.contrib.tensorboard``: metrics of ``fit`` as files for TensorBoard."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Any

from ..error import MXNetError

__all__ = ["LogMetricsCallback"]

#: Packages that have a ``SummaryWriter``; MXNet's own is the first.
_WRITERS = ("mxboard", "torch.utils.tensorboard", "tensorboardX")


class LogMetricsCallback:
    """Writes the metrics that a callback is given, each epoch.

    The writer is that of mxboard, PyTorch or tensorboardX, whichever is installed; it is looked for
    when there is something to write. ``prefix`` is put before the names.
    """

    def __init__(self, logging_dir: str, prefix: str | None = None) -> None:
        self.prefix = prefix
        self._folder = logging_dir
        self._writer: Any = None

    @property
    def summary_writer(self) -> Any:
        """What writes; the first time it is made."""
        if self._writer is None:
            self._writer = _writer(self._folder)
        return self._writer

    def __call__(self, param: Any) -> None:
        """Write the metric of a ``BatchEndParam``."""
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            tag = name if self.prefix is None else f"{self.prefix}-{name}"
            self.summary_writer.add_scalar(tag, value, global_step=param.epoch)


def _writer(folder: str) -> Any:
    for package in _WRITERS:
        with suppress(ImportError):
            return import_module(package).SummaryWriter(folder)
    raise MXNetError(
        "[LogMetricsCallback] no package that writes files for TensorBoard is installed; "
        f"one of {', '.join(_WRITERS)} is needed, such as: pip install tensorboardX"
    )
