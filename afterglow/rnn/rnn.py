# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of models with cells: files have one weight for each gate."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from ..model import load_checkpoint, save_checkpoint
from ..symbol import Symbol, var
from ._base import BaseRNNCell, in_all

__all__ = ["do_rnn_checkpoint", "load_rnn_checkpoint", "rnn_unroll", "save_rnn_checkpoint"]


def _as_cells(cells: Any) -> list[BaseRNNCell]:
    return [cells] if isinstance(cells, BaseRNNCell) else list(cells)


def rnn_unroll(
    cell: BaseRNNCell,
    length: int,
    inputs: Any = None,
    begin_state: Any = None,
    input_prefix: str = "",
    layout: str = "NTC",
) -> tuple[Any, Any]:
    """Unroll a cell, as ``cell.unroll`` does. Without inputs there is a variable for each step."""
    warnings.warn("rnn_unroll is deprecated. Please call cell.unroll directly.", stacklevel=2)
    if inputs is None:
        inputs = [var(f"{input_prefix}t{step}_data") for step in range(length)]
    return cell.unroll(length, inputs, begin_state=begin_state, layout=layout)


def save_rnn_checkpoint(
    cells: Any,
    prefix: str,
    epoch: int,
    symbol: Symbol | None,
    arg_params: Mapping[str, Any],
    aux_params: Mapping[str, Any],
) -> None:
    """Write a model whose cells are these; their weights are unpacked before."""
    arguments = in_all(_as_cells(cells), "unpack_weights", arg_params)
    save_checkpoint(prefix, epoch, symbol, arguments, aux_params)


def load_rnn_checkpoint(
    cells: Any, prefix: str, epoch: int
) -> tuple[Symbol, dict[str, Any], dict[str, Any]]:
    """Return graph, arguments and states of a model whose cells are these, packed again."""
    symbol, arguments, states = load_checkpoint(prefix, epoch)
    return symbol, in_all(_as_cells(cells), "pack_weights", arguments), states


def do_rnn_checkpoint(cells: Any, prefix: str, period: int = 1) -> Callable[..., None]:
    """Return a callback for ``fit`` that writes a checkpoint every ``period`` epochs."""
    period = max(1, int(period))

    def save(iter_no: int, sym: Any = None, arg: Any = None, aux: Any = None) -> None:
        if (iter_no + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, iter_no + 1, sym, arg, aux)

    return save
