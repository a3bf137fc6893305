# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: scaled losses of trainers, and graphs that are converted."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as onp

from ..._arrays.dtypes import TYPES
from ...context import cpu
from ...error import ArrayTypeError, ArrayValueError, MXNetError
from ...gluon import HybridBlock, SymbolBlock, Trainer
from ...module import BucketingModule
from ...optimizer import Optimizer
from ...symbol import Symbol, var
from ...symbol._names import canonical
from ._graphs import Precisions, converted, typed
from .lists import symbol_fp16 as _lists
from .loss_scaler import LossScaler

__all__ = [
    "convert_bucketing_module",
    "convert_hybrid_block",
    "convert_model",
    "convert_symbol",
    "init",
    "init_trainer",
    "list_conditional_fp32_ops",
    "list_fp32_ops",
    "list_loss_output_functions",
    "list_lp16_fp32_ops",
    "list_lp16_ops",
    "list_lp16_use_fp32_params",
    "list_widest_type_cast",
    "scale_loss",
    "unscale",
]

_Condition = tuple[str, str, list[str]]


class _State:
    """Whether mixed precision was asked for in this process."""

    is_on = False


def _check_type(target_dtype: Any) -> None:
    if target_dtype == "bfloat16" or onp.dtype(target_dtype) != onp.float16:
        raise ArrayValueError(
            f"[amp] target_dtype must be float16, but got {target_dtype}; there is no bfloat16"
        )


# --- training ---


def init(
    target_dtype: Any = "float16",
    target_precision_ops: list[str] | None = None,
    conditional_fp32_ops: list[_Condition] | None = None,
    fp32_ops: list[str] | None = None,
) -> None:
    """Allow trainers to scale losses.

    As in MXNet, arrays on CPUs keep the types that the program gives them: blocks are made float16
    by ``net.cast("float16")`` or :func:`convert_hybrid_block`, which takes lists of ops.
    """
    _check_type(target_dtype)
    if not _State.is_on:
        _State.is_on = True
        logging.info("Using AMP")


def _need_trainer(trainer: Any) -> None:
    if isinstance(trainer, Optimizer):
        raise ArrayTypeError("AMP is currently only compatible with Gluon Trainer")
    if not isinstance(trainer, Trainer):
        raise ArrayTypeError(
            "optimizer_or_trainer should be a Gluon Trainer or an optimizer, instead is "
            f"{type(trainer)}"
        )


def init_trainer(optimizer_or_trainer: Any) -> None:
    """Let a trainer skip steps whose gradients overflow, and find by how much to scale losses."""
    assert _State.is_on, "AMP not initialized, did you forget to call amp.init()?"
    _need_trainer(optimizer_or_trainer)
    optimizer_or_trainer._amp_loss_scaler = LossScaler()
    optimizer_or_trainer._amp_original_scale = optimizer_or_trainer._scale


@contextmanager
def scale_loss(loss: Any, optimizer_or_trainer: Any) -> Iterator[Any]:
    """Give the loss, or losses, multiplied by the trainer's factor, which its step divides by."""
    scaler = getattr(optimizer_or_trainer, "_amp_loss_scaler", None)
    assert scaler is not None, (
        "Loss scaler is not initialized, did you forget to call amp.init_trainer()?"
    )
    factor = scaler.loss_scale
    optimizer_or_trainer._scale = optimizer_or_trainer._amp_original_scale / factor
    yield [one * factor for one in loss] if isinstance(loss, (list, tuple)) else loss * factor


def unscale(optimizer_or_trainer: Any) -> None:
    """Divide the gradients by the factor now, to look at them or clip them before the step."""
    _need_trainer(optimizer_or_trainer)
    trainer = optimizer_or_trainer
    for parameter in trainer._params:
        if parameter.grad_req != "null":
            for gradient in parameter.list_grad():
                gradient *= trainer._scale
    trainer._scale = 1.0


# --- graphs ---


def _precisions(
    low: list[str] | None,
    full: list[str] | None,
    conditional: list[_Condition] | None,
    excluded: Sequence[str] | None,
) -> Precisions:
    """Return what ops take, by the lists of the program where it has some."""
    for given, name in (
        (low, "target_dtype_ops"),
        (full, "fp32_ops"),
        (conditional, "conditional_fp32_ops"),
        (excluded, "excluded_sym_names"),
    ):
        assert given is None or isinstance(given, list), f"{name} should be a list"
    conditions = _lists.CONDITIONAL_FP32_FUNCS if conditional is None else conditional
    lists = {
        "target_dtype_ops": {canonical(op) for op in (_lists.FP16_FUNCS if low is None else low)},
        "fp32_ops": {canonical(op) for op in (_lists.FP32_FUNCS if full is None else full)},
        "conditional_fp32_ops": {canonical(op) for op, _, _ in conditions},
    }
    names = list(lists)
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            common = lists[first] & lists[second]
            assert not common, (
                f"Ops cannot be in two or more lists. Common ops in {first} and {second} {common}"
            )
    return Precisions(
        low=lists["target_dtype_ops"],
        full=lists["fp32_ops"],
        conditional={(canonical(op), name): values for op, name, values in conditions},
        widest={canonical(op) for op in _lists.WIDEST_TYPE_CASTS},
        exempt=set(excluded or ()),
    )


def convert_symbol(
    sym: Symbol,
    target_dtype: Any = "float16",
    target_dtype_ops: list[str] | None = None,
    fp32_ops: list[str] | None = None,
    conditional_fp32_ops: list[_Condition] | None = None,
    excluded_sym_names: list[str] | None = None,
    data_names: Sequence[str] | None = None,
    cast_optional_params: bool = False,
) -> Symbol:
    """Return a graph whose large products are float16, with casts where types change.

    ``target_dtype_ops``, ``fp32_ops`` and ``conditional_fp32_ops`` take the place of the lists in
    ``amp.lists``; nodes named in ``excluded_sym_names`` stay float32. With
    ``data_names``, variables that are not named there state their type; with
    ``cast_optional_params`` that is float16 where nothing else is read of them, and casts are left
    out.

    >>> from afterglow import sym
    >>> from afterglow.contrib import amp
    >>> dense = sym.FullyConnected(sym.var("data"), num_hidden=2, no_bias=True, name="fc")
    >>> [one.name for one in amp.convert_symbol(sym.exp(dense)).get_internals()][1::2]
    ['data_amp_cast_float16', 'fc_weight_amp_cast_float16', 'fc_output_amp_cast_float32']
    """
    assert isinstance(sym, Symbol), "First argument to convert_symbol should be Symbol"
    _check_type(target_dtype)
    result = converted(
        sym, _precisions(target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names)
    )
    if data_names is None:
        return result
    return typed(result, set(sym.list_inputs()) - set(data_names), cast_optional_params)


def _cast_as_stated(symbol: Symbol, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with the types that variables of a graph state."""
    attributes = symbol.attr_dict()

    def cast(name: str, value: Any) -> Any:
        stated = attributes.get(name, {}).get("__dtype__", "-1")
        return value if stated == "-1" else value.astype(TYPES[int(stated)])

    return {name: cast(name, value) for name, value in values.items()}


def convert_model(
    sym: Symbol,
    arg_params: Mapping[str, Any],
    aux_params: Mapping[str, Any],
    target_dtype: Any = "float16",
    target_dtype_ops: list[str] | None = None,
    fp32_ops: list[str] | None = None,
    conditional_fp32_ops: list[_Condition] | None = None,
    excluded_sym_names: list[str] | None = None,
    cast_optional_params: bool = False,
) -> tuple[Symbol, dict[str, Any], dict[str, Any]]:
    """Return a graph as :func:`convert_symbol` does, and its parameters in the types it states."""
    for given, name in ((arg_params, "arg_params"), (aux_params, "aux_params")):
        assert isinstance(given, Mapping), f"{name} should be a dictionary"
    data = [name for name in sym.list_arguments() if name not in arg_params]
    result = convert_symbol(
        sym,
        target_dtype,
        target_dtype_ops,
        fp32_ops,
        conditional_fp32_ops,
        excluded_sym_names,
        data_names=data,
        cast_optional_params=cast_optional_params,
    )
    return result, _cast_as_stated(result, arg_params), _cast_as_stated(result, aux_params)


def convert_hybrid_block(
    block: HybridBlock,
    target_dtype: Any = "float16",
    target_dtype_ops: list[str] | None = None,
    fp32_ops: list[str] | None = None,
    conditional_fp32_ops: list[_Condition] | None = None,
    excluded_sym_names: list[str] | None = None,
    ctx: Any = None,
    cast_optional_params: bool = False,
) -> SymbolBlock:
    """Return a block that computes the same with float16, with parameters of its own.

    The block must have been hybridized and called, so that its graph and shapes are known.
    """
    assert isinstance(block, HybridBlock), "block input should be a HybridBlock"
    params = block.collect_params()
    if any(parameter._is_incomplete() for parameter in params.values()):
        raise MXNetError(
            "Please first call block.hybridize() and then run forward with this block at least "
            "once before calling convert_hybrid_block."
        )
    graph = block._block_graph()
    names = [name for name in graph.list_inputs() if name not in params]
    result = convert_symbol(
        graph,
        target_dtype,
        target_dtype_ops,
        fp32_ops,
        conditional_fp32_ops,
        excluded_sym_names,
        data_names=names,
        cast_optional_params=cast_optional_params,
    )
    values = {name: params[name]._reduce() for name in graph.list_inputs() if name in params}
    values = _cast_as_stated(result, values)
    made = SymbolBlock(result, [var(name) for name in names])
    for name, parameter in made.collect_params().items():
        parameter.cast(values[name].dtype)
    made.collect_params().load_dict(values, ctx=cpu() if ctx is None else ctx)
    return made


def convert_bucketing_module(
    bucketing_mod: BucketingModule,
    target_dtype: Any = "float16",
    target_dtype_ops: list[str] | None = None,
    fp32_ops: list[str] | None = None,
    conditional_fp32_ops: list[_Condition] | None = None,
    excluded_sym_names: list[str] | None = None,
    cast_optional_params: bool = False,
) -> BucketingModule:
    """Return a module that computes the same with float16, for each bucket."""
    assert isinstance(bucketing_mod, BucketingModule), (
        "module should be instance of bucketing module"
    )
    assert bucketing_mod.params_initialized, (
        "bucketing_mod params should be initialized for mixed precision conversion"
    )
    arguments, states = bucketing_mod.get_params()
    lists = (target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names)

    def convert(key: Any) -> tuple[Any, Any, Any]:
        symbol, data_names, label_names = bucketing_mod._sym_gen(key)
        result, _, _ = convert_model(symbol, arguments, states, *lists, cast_optional_params)
        return result, data_names, label_names

    key = bucketing_mod._default_bucket_key
    _, arguments_cast, states_cast = convert_model(
        bucketing_mod._sym_gen(key)[0], arguments, states, *lists, cast_optional_params
    )
    return BucketingModule.load_dict(
        sym_gen=convert,
        default_bucket_key=key,
        arg_params=arguments_cast,
        aux_params=states_cast,
        logger=bucketing_mod.logger,
        context=bucketing_mod._options[1],
    )


# --- lists ---


def list_lp16_ops(target_dtype: Any = "float16") -> list[str]:
    """Return the ops that take float16."""
    _check_type(target_dtype)
    return list(_lists.FP16_FUNCS)


def list_fp32_ops(target_dtype: Any = "float16") -> list[str]:
    """Return the ops that take float32."""
    _check_type(target_dtype)
    return list(_lists.FP32_FUNCS)


def list_lp16_fp32_ops(target_dtype: Any = "float16") -> list[str]:
    """Return the ops that take either: all that are in no other list."""
    from ..._package.namespace import mxnet_ops

    _check_type(target_dtype)
    others = {*_lists.FP16_FUNCS, *_lists.FP32_FUNCS, *_lists.WIDEST_TYPE_CASTS}
    others |= {op for op, _, _ in _lists.CONDITIONAL_FP32_FUNCS}
    return sorted({canonical(op) for op in mxnet_ops()[0]} - others)


def list_conditional_fp32_ops(target_dtype: Any = "float16") -> list[_Condition]:
    """Return the ops that take float32 for some values of a parameter."""
    _check_type(target_dtype)
    return list(_lists.CONDITIONAL_FP32_FUNCS)


def list_widest_type_cast(target_dtype: Any = "float16") -> list[str]:
    """Return the ops that take the widest type of their inputs."""
    _check_type(target_dtype)
    return list(_lists.WIDEST_TYPE_CASTS)


def list_loss_output_functions(target_dtype: Any = "float16") -> list[str]:
    """Return the ops whose gradients ``grad_scale`` scales."""
    _check_type(target_dtype)
    return list(_lists.LOSS_OUTPUT_FUNCTIONS)


def list_lp16_use_fp32_params(target_dtype: Any = "float16") -> None:
    """Return None: no op takes float16 data with float32 parameters."""
    _check_type(target_dtype)
