# SPDX-License-Identifier: Apache-2.0
"""What all optimizers have in common: rates, counts, scaling of gradients, precision, names."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

from .._arrays.dtypes import FLOAT16, FLOAT32
from .._core import operation
from .._package.keywords import NamedKeywords
from ..error import ArrayValueError
from ..lr_scheduler import LRScheduler
from ..util import is_np_array

__all__ = ["Optimizer", "create", "register"]

Index = int | str


class Rates(NamedTuple):
    """What holds for one update of one weight."""

    lr: float
    wd: float
    number: int  #: updates of this weight so far, this one included


def share_reached(decay: float, count: int) -> float:
    """Return how much of a mean that started at zero is there after so many updates."""
    if not 0 <= decay < 1 or count < 1:
        raise ArrayValueError(
            f"[optimizer] update {count} with a mean that decays by {decay}; beta1 and beta2 must "
            "be from 0 to less than 1, and updates are counted from 1"
        )
    return 1 - decay**count


def both(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return an op as ``np`` and as ``nd`` have it, to be chosen by ``_legacy`` of an array."""
    return operation(name, False), operation(name, True)


def function(name: str) -> Callable[..., Any]:
    """Return an op of one array, answering in the array's own world."""
    ops = both(name)

    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        return ops[x._legacy](x, *args, **kwargs)

    return call


sqrt = function("sqrt")
square = function("square")
_copy = function("copy")
_clip = function("clip")


def zeros_like(weight: Any) -> Any:
    """Return zeros of the shape, type and place of a weight."""
    kind, place = weight._dtype_number, weight._context_numbers
    return weight._copy(0, shape=weight.shape, dtype=kind, ctx=place)


def follow(mean: Any, decay: float, value: Any) -> None:
    """Move a running mean towards a value, in place."""
    mean[:] = decay * mean + (1 - decay) * value


#: What an update of weights together relies on: a class with its own updates them one by one.
_USED_TOGETHER = (
    "update",
    "update_multi_precision",
    "_update_count",
    "_get_lr",
    "_get_wd",
)


class Optimizer(NamedKeywords):
    """The base class: subclasses define ``create_state`` and ``step``.

    ``step`` is given the gradient as it is. A rule that an op states is a call of that op, which is
    told by ``_scaling`` how to scale and clip the gradient; other rules are written with array
    calls and begin with ``_scaled``.
    A class sets ``elementwise`` if the ``step`` that it defines is made of elementwise calls on
    weight, gradient and state alone and does the same for equal rates: then weights are updated
    together, by one call.
    """

    opt_registry: ClassVar[dict[str, type[Optimizer]]] = {}
    elementwise: ClassVar[bool] = False
    copy_comes_last: ClassVar[bool] = False  #: in states, of a weight in float32 beside the rest
    updates_together: ClassVar[bool] = False  #: found out for every subclass
    #: Whether ``step`` calls an op that takes sparse arrays. Set beside ``step``.
    takes_sparse: ClassVar[bool] = False
    steps_sparse: ClassVar[bool] = False  #: found out for every subclass

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        definer = next(kind for kind in cls.__mro__ if "step" in vars(kind))
        cls.steps_sparse = bool(vars(definer).get("takes_sparse"))
        cls.updates_together = bool(vars(definer).get("elementwise")) and all(
            getattr(cls, name) is getattr(Optimizer, name) for name in _USED_TOGETHER
        )

    def __init__(
        self,
        rescale_grad: float = 1.0,
        param_idx2name: Mapping[Index, str] | None = None,
        wd: float = 0.0,
        clip_gradient: float | None = None,
        learning_rate: float | None = None,
        lr_scheduler: LRScheduler | None = None,
        sym: Any = None,
        begin_num_update: int = 0,
        multi_precision: bool = False,
        param_dict: Mapping[Index, Any] | None = None,
    ) -> None:
        if param_idx2name is not None and not isinstance(param_idx2name, Mapping):
            raise ArrayValueError("param_idx2name should be a dict of param indexes to names.")
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        self.lr = 0.01 if learning_rate is None else learning_rate
        if lr_scheduler is not None and learning_rate is not None:
            if lr_scheduler.base_lr != learning_rate:
                print(
                    "learning rate from ``lr_scheduler`` has been overwritten by "
                    "``learning_rate`` in optimizer."
                )
            lr_scheduler.base_lr = learning_rate
        elif lr_scheduler is not None:
            self.lr = getattr(lr_scheduler, "base_lr", self.lr)
        self.wd = wd
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        self.aggregate_num = 0
        self.idx2name: dict[Index, str] = dict(param_idx2name or {})
        self.param_dict: dict[Index, Any] = dict(param_dict or {})
        self.sym_info: tuple[Any, ...] = (
            () if sym is None else (sym.attr_dict(), sym.list_arguments())
        )
        self.lr_mult: dict[Index, float] = {}
        self.wd_mult: dict[Index, float] = {}
        self.set_lr_mult({})
        self.set_wd_mult({})
        self.allow_np_array = is_np_array()
        self._index_update_count: dict[Index, int] = {}
        self._all_index_update_counts = {0: self._index_update_count}

    # --- names ---

    @staticmethod
    def register(klass: type[Optimizer]) -> type[Optimizer]:
        """Make a class known by its name, in any case."""
        name = klass.__name__.lower()
        known = Optimizer.opt_registry.get(name, klass)
        if known is not klass:
            warnings.warn(
                f"WARNING: New optimizer {klass.__module__}.{klass.__name__} is overriding "
                f"existing optimizer {known.__module__}.{known.__name__}",
                stacklevel=2,
            )
        Optimizer.opt_registry[name] = klass
        return klass

    @staticmethod
    def create_optimizer(name: str, **kwargs: Any) -> Optimizer:
        """Return a new optimizer of a registered name."""
        try:
            return Optimizer.opt_registry[name.lower()](**kwargs)
        except KeyError:
            known = ", ".join(sorted(Optimizer.opt_registry))
            raise ArrayValueError(f"Cannot find optimizer {name}; there are {known}") from None

    # --- rates ---

    @property
    def learning_rate(self) -> float:
        """The rate for the next update, before any multiplier."""
        if self.lr_scheduler is not None:
            return float(self.lr_scheduler(self.num_update))
        return self.lr

    def set_learning_rate(self, lr: float) -> None:
        """Set the rate; refused where a scheduler sets it."""
        if self.lr_scheduler is not None:
            raise UserWarning(
                "LRScheduler of the optimizer has already been defined. Note that "
                "set_learning_rate can mutate the value of the learning rate of the optimizer "
                "only when the LRScheduler of the optimizer is undefined."
            )
        self.lr = lr

    def set_lr_scale(self, args_lrscale: Any) -> None:
        """Refuse: ``set_lr_mult`` has taken its place."""
        raise DeprecationWarning("set_lr_scale is gone; use set_lr_mult")

    def set_lr_mult(self, args_lr_mult: Mapping[Index, float]) -> None:
        """Set factors of the rate, by index or name; variables of a symbol may name theirs."""
        self.lr_mult = self._named_in_symbol("__lr_mult__")
        self.lr_mult.update(args_lr_mult)

    def set_wd_mult(self, args_wd_mult: Mapping[Index, float]) -> None:
        """Set factors of the weight decay, by index or name; biases have 0 unless named."""
        self.wd_mult = {
            name: 0.0 for name in self.idx2name.values() if not name.endswith(("_weight", "_gamma"))
        }
        self.wd_mult.update(self._named_in_symbol("__wd_mult__"))
        self.wd_mult.update(args_wd_mult)

    def _named_in_symbol(self, attribute: str) -> dict[Index, float]:
        attributes, names = self.sym_info or ({}, ())
        return {
            name: float(attributes[name][attribute])
            for name in names
            if attribute in attributes.get(name, ())
        }

    def _multiplier(self, index: Index, attribute: str, given: Mapping[Index, float]) -> float:
        parameter = self.param_dict.get(index)
        if parameter is not None:
            return float(getattr(parameter, attribute))
        if index in given:
            return given[index]
        return given.get(self.idx2name.get(index, index), 1.0)

    def _get_lr(self, index: Index) -> float:
        return self.learning_rate * self._multiplier(index, "lr_mult", self.lr_mult)

    def _get_wd(self, index: Index) -> float:
        return self.wd * self._multiplier(index, "wd_mult", self.wd_mult)

    def _get_lrs(self, indices: Sequence[Index]) -> list[float]:
        return [self._get_lr(index) for index in indices]

    def _get_wds(self, indices: Sequence[Index]) -> list[float]:
        return [self._get_wd(index) for index in indices]

    def _update_count(self, index: Index | Sequence[Index]) -> None:
        for one in index if isinstance(index, (tuple, list)) else (index,):
            count = self._index_update_count.get(one, self.begin_num_update) + 1
            self._index_update_count[one] = count
            self.num_update = max(self.num_update, count)

    def count_together(self, indices: Sequence[Index]) -> int | None:
        """Count an update of each weight if all have had equally many; return how many by now."""
        counts = self._index_update_count
        before = set(map(counts.get, indices))
        if len(before) != 1:
            return None
        number = (before.pop() or self.begin_num_update) + 1
        counts.update(dict.fromkeys(indices, number))
        self.num_update = max(self.num_update, number)
        return number

    def _set_current_context(self, device_id: int) -> None:
        """Count the updates of the weights of one device; every device has its copy of each."""
        self._index_update_count = self._all_index_update_counts.setdefault(device_id, {})

    # --- updates ---

    def create_state(self, index: Index, weight: Any) -> Any:
        """Return what the rule remembers of a weight from update to update."""
        return None

    def create_state_multi_precision(self, index: Index, weight: Any) -> Any:
        """Return the state, with a float32 copy of a float16 weight if ``multi_precision``."""
        if weight._dtype_number == FLOAT16:
            if self.multi_precision:
                master = _copy(weight, dtype=FLOAT32)
                state = self.create_state(index, master)
                return (state, master) if self.copy_comes_last else (master, state)
            warnings.warn(
                "Accumulating with float16 in optimizer can lead to poor accuracy or slow "
                "convergence. Consider using multi_precision=True option of the optimizer",
                stacklevel=2,
            )
        return self.create_state(index, weight)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Queue one update of a weight, or of each of several given as lists."""
        if isinstance(index, (tuple, list)):
            for one in zip(index, weight, grad, state, strict=True):
                self.update(*one)
            return
        self._update_count(index)
        rates = Rates(self._get_lr(index), self._get_wd(index), self._index_update_count[index])
        self._step_with(rates, weight, grad, state)

    def _step_with(self, rates: Rates, weight: Any, grad: Any, state: Any) -> None:
        if not self.steps_sparse and (grad.stype != "default" or weight.stype != "default"):
            from ..ndarray.sparse._updates import update_by_dense

            step = partial(self.step, rates=rates)
            update_by_dense(type(self).__name__, step, weight, grad, state)
        else:
            self.step(weight, grad, state, rates)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update in float32 where ``create_state_multi_precision`` made a copy."""
        if isinstance(index, (tuple, list)):
            for one in zip(index, weight, grad, state, strict=True):
                self.update_multi_precision(*one)
        else:
            self._in_precision(partial(self.update, index), weight, grad, state)

    def update_at(self, rates: Rates, weight: Any, grad: Any, state: Any) -> None:
        """Queue one update of a weight that has been counted already."""
        self._in_precision(partial(self._step_with, rates), weight, grad, state)

    def _in_precision(
        self, update: Callable[[Any, Any, Any], None], weight: Any, grad: Any, state: Any
    ) -> None:
        """Update the float32 copy of a weight if it has one, else the weight itself."""
        if self.multi_precision and weight._dtype_number == FLOAT16:
            inner, master = state if self.copy_comes_last else state[::-1]
            update(master, _copy(grad, dtype=FLOAT32), inner)
            weight[:] = _copy(master, dtype=FLOAT16)
        else:
            update(weight, grad, state)

    @property
    def _bound(self) -> float:
        return self.clip_gradient or -1.0

    @property
    def _scaling(self) -> dict[str, float]:
        """How ops use gradients; a bound of zero is none, as in MXNet."""
        return {"rescale_grad": self.rescale_grad, "clip_gradient": self._bound}

    def _scaled(self, grad: Any, wd: float = 0.0, weight: Any = None) -> Any:
        """Return a gradient scaled and clipped, with the decay of a weight that is clipped too."""
        if self.rescale_grad != 1.0:
            grad = grad * self.rescale_grad
        if wd:
            grad = grad + wd * weight
        if self.clip_gradient is not None and self.clip_gradient >= 0:
            grad = _clip(grad, -self.clip_gradient, self.clip_gradient)
        return grad

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Change the weight, and the state, in place.

        The gradient is as it was given: ops scale and clip it, rules in Python by ``_scaled``.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define step()")

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["param_dict"]  # parameters hold devices and graphs; the trainer sets them again
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, param_dict={})


class MomentumOptimizer(Optimizer):
    """The base class of those whose state is the momentum, if there is one."""

    momentum: float

    def create_state(self, index: Index, weight: Any) -> Any:
        """Return the momentum."""
        return zeros_like(weight) if self.momentum else None


register = Optimizer.register
create = Optimizer.create_optimizer
