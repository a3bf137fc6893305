# SPDX-License-Identifier: Apache-2.0
"""The handler that writes models while they are trained, and goes on from what it wrote."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from ....error import ArrayValueError
from ....metric import EvalMetric
from .events import BatchEnd, EpochEnd, TrainBegin
from .utils import Best


class _Checkpoint(NamedTuple):
    """What the name of a checkpoint says, in the order of training."""

    epoch: int
    batch: int
    prefix: str


class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    """Writes parameters and states of the trainer every few epochs or batches.

    Files are ``model_prefix-epoch0batch4.params`` and ``.states``, of which the last
    ``max_checkpoints`` are kept, ``model_prefix-best`` if ``save_best``, and
    ``model_prefix-symbol.json`` of a hybridized net. With ``resume_from_checkpoint`` training goes
    on from the last ones, for as many epochs or batches as are left.
    """

    def __init__(
        self,
        model_dir: str,
        model_prefix: str = "model",
        monitor: EvalMetric | None = None,
        verbose: int = 0,
        save_best: bool = False,
        mode: str = "auto",
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        max_checkpoints: int = 5,
        resume_from_checkpoint: bool = False,
    ) -> None:
        if save_best and not isinstance(monitor, EvalMetric):
            raise ArrayValueError(
                "To save best model only, please provide one of the metric objects from "
                "estimator.train_metrics and estimator.val_metrics as monitor."
            )
        self._best = Best(type(self).__name__, monitor, mode) if save_best and monitor else None
        self._folder = Path(model_dir)
        self._folder.mkdir(parents=True, exist_ok=True)
        self.model_dir = model_dir
        self.model_prefix = model_prefix
        self.monitor = monitor
        self.verbose = verbose
        self.save_best = save_best
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.max_checkpoints = max_checkpoints
        self.resume_from_checkpoint = resume_from_checkpoint
        self.saved_checkpoints: list[str] = []
        self.current_batch = 0
        self.current_epoch = 0
        self.trained_epoch = -1
        self.trained_batch = -1

    @property
    def best(self) -> float | None:
        """The best value of the metric so far."""
        return None if self._best is None else self._best.value

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Begin to count; read the last checkpoint if training shall go on from it."""
        self.current_epoch = 0
        self.current_batch = 0
        if self._best is not None:
            self._best.reset(None)
        if self.resume_from_checkpoint:
            by_batch, by_epoch = bool(self.batch_period), bool(self.epoch_period)
            assert (by_batch, by_epoch) == (bool(estimator.max_batch), bool(estimator.max_epoch)), (
                "To use resume from checkpoint, you must only specify the same type of period you "
                "used for training: epoch_period alone where epochs are counted, batch_period "
                "alone where batches are"
            )
            self._resume(estimator)

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Write every ``batch_period`` batches."""
        if self.current_batch == 0:
            self._save_symbol(estimator)
        if self.batch_period and (self.current_batch + 1) % self.batch_period == 0:
            self._save(estimator)
        self.current_batch += 1

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Write every ``epoch_period`` epochs."""
        if self.epoch_period and (self.current_epoch + 1) % self.epoch_period == 0:
            self._save(estimator)
        self.current_epoch += 1

    def _path(self, name: str) -> str:
        return str(self._folder / name)

    def _save(self, estimator: Any) -> None:
        epoch, batch = self.current_epoch, self.current_batch
        if self.resume_from_checkpoint:
            epoch += self.trained_epoch + 1
            batch += self.trained_batch + (0 if estimator.max_epoch else 1)
        prefix = f"{self.model_prefix}-epoch{epoch}batch{batch}"
        self._write(estimator, prefix)
        self.saved_checkpoints.append(prefix)
        while len(self.saved_checkpoints) > self.max_checkpoints:
            oldest = self.saved_checkpoints.pop(0)
            for kind in (".params", ".states"):
                Path(self._path(oldest + kind)).unlink(missing_ok=True)
        self._tell(
            estimator,
            f"trained total {self.current_batch + 1} batches, saving model at {self.model_dir} "
            f"with prefix: {prefix}",
        )
        if self._best is not None:
            self._save_if_best(estimator, self._best)

    def _save_if_best(self, estimator: Any, best: Best) -> None:
        before = best.value
        seen = best.look()
        if seen is None:
            return
        name, value, is_better = seen
        if is_better:
            self._write(estimator, f"{self.model_prefix}-best")
            text = f"{name} improved from {before:0.5f} to {value:0.5f}, updating best model"
        else:
            text = f"{name} did not improve from {before:0.5f}, skipping updating best model"
        self._tell(estimator, text)

    def _tell(self, estimator: Any, text: str) -> None:
        if self.verbose > 0:
            estimator.logger.info("[Epoch %d] CheckpointHandler: %s", self.current_epoch, text)

    def _write(self, estimator: Any, prefix: str) -> None:
        estimator.net.save_parameters(self._path(f"{prefix}.params"))
        estimator.trainer.save_states(self._path(f"{prefix}.states"))

    def _save_symbol(self, estimator: Any) -> None:
        path = self._path(f"{self.model_prefix}-symbol.json")
        if getattr(estimator.net, "_active", False):
            estimator.net._block_graph().save(path)
        else:
            estimator.logger.info(
                "Model architecture(symbol file) is not saved, please use HybridBlock to construct "
                "your model, and call net.hybridize() before passing to Estimator in order to save "
                "model architecture as %s.",
                path,
            )

    def _resume(self, estimator: Any) -> None:
        """Read the last checkpoint, and let the estimator do what is left."""
        kind = "epoch" if estimator.max_epoch else "batch"
        several = "epochs" if estimator.max_epoch else "batches"
        wanted = estimator.max_epoch or estimator.max_batch
        found = self._found()
        self.saved_checkpoints = [one.prefix for one in found]
        if not found:
            self.trained_epoch = self.trained_batch = -1
            estimator.logger.info(
                "CheckpointHandler: No checkpoint found, training from scratch for %d %s",
                wanted,
                several,
            )
            return
        self.trained_epoch, self.trained_batch, prefix = found[-1]
        trained = self.trained_epoch if kind == "epoch" else self.trained_batch
        if trained >= wanted - 1:
            raise ArrayValueError(
                f"Found checkpoint with maximum number of {kind} {wanted} reached, please specify "
                "resume_from_checkpoint=False (default value) if you wan to train from scratch."
            )
        setattr(estimator, f"max_{kind}", wanted - trained - 1)
        states = self._path(f"{prefix}.states")
        assert Path(states).exists(), f"Failed to load checkpoint, {states} does not exist"
        estimator.net.load_parameters(self._path(f"{prefix}.params"), ctx=estimator.context)
        estimator.trainer.load_states(states)
        estimator.logger.warning(
            "CheckpointHandler: Checkpoint resumed from epoch %d batch %d, continue to train for "
            "%d %s",
            self.trained_epoch,
            self.trained_batch,
            wanted - trained - 1,
            several,
        )

    def _found(self) -> list[_Checkpoint]:
        """Return the checkpoints in the folder, the last one at the end."""
        name = re.compile(re.escape(self.model_prefix) + r"-epoch(\d+)batch(\d+)\.params")
        matches = (name.fullmatch(path.name) for path in self._folder.iterdir())
        return sorted(
            _Checkpoint(int(one[1]), int(one[2]), one[0].removesuffix(".params"))
            for one in matches
            if one
        )
