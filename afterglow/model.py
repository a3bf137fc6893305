# SPDX-License-Identifier: Apache-2.0
"""``mx.model``: graphs and parameters in files, as ``prefix-symbol.json`` and ``.params``."""

from __future__ import annotations

import logging
from collections import namedtuple
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import ndarray, symbol
from .context import cpu
from .error import ArrayValueError, MissingNameError

__all__ = ["BatchEndParam", "FeedForward", "load_checkpoint", "load_params", "save_checkpoint"]

if TYPE_CHECKING:
    from .module.feed_forward import FeedForward

#: What callbacks get after each batch.
BatchEndParam = namedtuple("BatchEndParam", ["epoch", "nbatch", "eval_metric", "locals"])


def save_checkpoint(
    prefix: str,
    epoch: int,
    symbol: symbol.Symbol | None,
    arg_params: Mapping[str, Any],
    aux_params: Mapping[str, Any],
    remove_amp_cast: bool = True,
) -> None:
    """Write a graph and its parameters: ``prefix-symbol.json`` and ``prefix-0001.params``.

    >>> from afterglow import model, nd, sym
    >>> net = sym.FullyConnected(sym.var("x"), num_hidden=2, name="fc", no_bias=True)
    >>> model.save_checkpoint("net", 1, net, {"fc_weight": nd.ones((2, 3))}, {})
    >>> loaded, arguments, states = model.load_checkpoint("net", 1)
    >>> loaded.list_arguments(), arguments["fc_weight"].shape, states
    (['x', 'fc_weight'], (2, 3), {})
    """
    if symbol is not None:
        symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
    name = _file_name(prefix, epoch)
    save_parameters(name, arg_params, aux_params)
    logging.info('Saved checkpoint to "%s"', name)


def save_parameters(fname: str, arguments: Mapping[str, Any], states: Mapping[str, Any]) -> None:
    """Write parameters to a file, with names that tell arguments from states."""
    values = {f"arg:{name}": value for name, value in arguments.items()}
    values |= {f"aux:{name}": value for name, value in states.items()}
    ndarray.save(
        fname, {name: value.as_in_context(cpu()).as_nd_ndarray() for name, value in values.items()}
    )


def _file_name(prefix: str, epoch: int) -> str:
    return f"{prefix}-{epoch:04d}.params"


def load_params(prefix: str, epoch: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments and the states in ``prefix-0001.params``."""
    loaded = ndarray.load(_file_name(prefix, epoch))
    if loaded and not isinstance(loaded, dict):
        raise ArrayValueError(
            f"[load_params] the arrays in {_file_name(prefix, epoch)} have no names"
        )
    parts: dict[str, dict[str, Any]] = {"arg": {}, "aux": {}}
    for key, value in dict(loaded).items():
        kind, _, name = key.partition(":")
        parts.get(kind, {})[name] = value
    return parts["arg"], parts["aux"]


def load_checkpoint(
    prefix: str, epoch: int
) -> tuple[symbol.Symbol, dict[str, Any], dict[str, Any]]:
    """Return a graph, its arguments and its states, from the files of an epoch."""
    loaded = symbol.load(f"{prefix}-symbol.json")
    return (loaded, *load_params(prefix, epoch))


def __getattr__(name: str) -> Any:
    """Return what is made of modules, which not every program uses."""
    if name != "FeedForward":
        raise MissingNameError(__name__, name)
    from .module.feed_forward import FeedForward

    return FeedForward
