# SPDX-License-Identifier: Apache-2.0
"""States of weights, and optimizers, in bytes: the pickle that MXNet would write.

An array is MXNet's class and the bytes that it has in a file of arrays; an optimizer or scheduler
is the name of its class and its attributes, which have MXNet's names here too. Read are such
pickles and those that Afterglow wrote before; classes that a program derives are found by their
names while they exist. Nothing that a file names is called or imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as onp

from .. import lr_scheduler
from .._core import Array
from .._formats.params import array_from_bytes, array_to_bytes, needs_numpy_shapes
from .._formats.pickles import Made, Name, numpy_array, read, write
from ..error import ArrayTypeError, ArrayValueError, MXNetError
from ..lr_scheduler import LRScheduler
from ..util import is_np_shape, restore_array
from . import adaptive, large_batch, layerwise, sgd
from .base import Optimizer
from .updater import arrays_in

__all__ = ["Loaded", "dumps", "loads"]

_MXNET_ARRAYS = {  # whether the class is that of ``nd``
    Name("mxnet.ndarray.ndarray", "NDArray"): True,
    Name("mxnet.numpy", "ndarray"): False,
    Name("mxnet.numpy.multiarray", "ndarray"): False,
}
_ARRAY = Name("mxnet.ndarray.ndarray", "NDArray")
_BYTEARRAY = Name("builtins", "bytearray")
_OLD_ARRAY = Name("afterglow._array", "_restore")

_OURS: dict[Name, type[Any]] = {
    Name("mxnet.optimizer.optimizer", name): getattr(module, name)
    for module in (adaptive, large_batch, layerwise, sgd)
    for name in module.__all__
    if name != "AdamW"
}
_OURS[Name("afterglow.optimizer", "AdamW")] = adaptive.AdamW  # MXNet 1.9.1 has none
_OURS |= {
    Name("mxnet.lr_scheduler", name): getattr(lr_scheduler, name) for name in lr_scheduler.__all__
}
_NAMES = {kind: name for name, kind in _OURS.items()}

#: Deeper nesting is no state's.
_DEEPEST = 20


class Loaded(NamedTuple):
    """What a file of states holds."""

    states: dict[Any, Any]
    optimizer: Optimizer | None
    is_old: bool  #: written by Afterglow before it wrote MXNet's pickles


# --- writing ---


def dumps(states: dict[Any, Any], optimizer: Optimizer | None) -> bytes:
    """Return states, and an optimizer if it is given, as bytes. Waits for the values."""
    arrays: list[Any] = [one for one in arrays_in([*states.values()]) if isinstance(one, Array)]
    # MXNet has np arrays in the mode only in which it reads shapes as NumPy's.
    modern = is_np_shape() or needs_numpy_shapes(arrays) or any(not one._legacy for one in arrays)
    try:
        noted = _noted(states, "a state", modern)
        if optimizer is not None:
            noted = (noted, _noted(optimizer, "the optimizer", modern))
        return write(noted)
    except RecursionError:
        raise ArrayValueError("[get_states] a state holds itself") from None


def _noted(value: Any, what: str, modern: bool) -> Any:
    """Return a value as a pickle describes it."""
    if isinstance(value, Array):
        content = Made(_BYTEARRAY, (array_to_bytes(value, modern),))
        return Made(_ARRAY, (None,), {"handle": content})
    if isinstance(value, (Optimizer, LRScheduler)):
        kind = type(value)
        attributes: Any = value.__getstate__()
        state = {
            name: _noted(one, f"{name} of {kind.__name__}", modern)
            for name, one in attributes.items()
        }
        return Made(_NAMES.get(kind, Name(kind.__module__, kind.__qualname__)), (), state, True)
    if isinstance(value, onp.generic):
        return _noted(value.item(), what, modern)
    if isinstance(value, (tuple, list)):
        return (tuple if isinstance(value, tuple) else list)(
            _noted(one, what, modern) for one in value
        )
    if isinstance(value, dict) and all(isinstance(key, (int, str)) for key in value):
        return {key: _noted(one, what, modern) for key, one in value.items()}
    if value is None or isinstance(value, (int, float, str)):
        return value
    raise ArrayTypeError(
        f"[get_states] {what} is {value!r:.80}; a file of states holds arrays, numbers, text, "
        "subclasses of Optimizer and LRScheduler, and tuples, lists and dictionaries of them"
    )


# --- reading ---


def loads(data: bytes) -> Loaded:
    """Return what is in bytes; hostile or damaged ones raise a ValueError."""
    try:
        loader = _Loader(len(data))
        loaded = loader.value(read(data))
    except (MXNetError, ValueError) as error:
        raise _damaged(str(error)) from None
    has_both = isinstance(loaded, tuple) and len(loaded) == 2
    states, optimizer = loaded if has_both else (loaded, None)
    if not isinstance(states, dict):
        raise _damaged("there are no states in it")
    if has_both and not isinstance(optimizer, Optimizer):
        raise _damaged("there is no optimizer in it")
    return Loaded(states, optimizer, loader.found_old)


def _damaged(what: str) -> ArrayValueError:
    return ArrayValueError(f"[set_states] this is no file of optimizer states: {what}")


class _Loader:
    """Makes values from their descriptions.

    What stands in a file once can be named in it many times: all values together are no more than
    the file has bytes.
    """

    def __init__(self, size: int) -> None:
        self.found_old = False
        self._left = size
        self._arrays: dict[int, Any] = {}

    def value(self, noted: Any, depth: int = 0) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise ValueError("values are nested without end")
        if noted is None or isinstance(noted, (int, float, str)):
            return noted
        if isinstance(noted, (tuple, list)):
            values = [self.value(one, depth + 1) for one in noted]
            return tuple(values) if isinstance(noted, tuple) else values
        if isinstance(noted, dict):
            return {key: self.value(one, depth + 1) for key, one in noted.items()}
        if not isinstance(noted, Made):
            raise ValueError(f"a {type(noted).__name__} is no value of a state")
        if noted.name in _MXNET_ARRAYS or noted.name == _OLD_ARRAY:
            if id(noted) not in self._arrays:
                self._arrays[id(noted)] = self._array(noted)
            return self._arrays[id(noted)]
        if noted.name.name == "scalar":
            return numpy_array(noted).item()
        return self._object(noted, depth)

    def _array(self, noted: Made) -> Any:
        if noted.name == _OLD_ARRAY:
            self.found_old = True
            host, _, legacy = _of_length(noted.arguments, 3)
            host = numpy_array(host)
            self._count(host.nbytes)
            return restore_array(host, (1, 0), legacy is True)
        content = noted.state.get("handle") if isinstance(noted.state, dict) else None
        if isinstance(content, Made) and content.name == _BYTEARRAY:
            (content,) = _of_length(content.arguments, 1)
        if not isinstance(content, bytes):
            raise ValueError("an array has no bytes")
        self._count(len(content))
        return array_from_bytes(content, _MXNET_ARRAYS[noted.name], "an array")

    def _count(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise ValueError("arrays have more bytes than the file")

    def _object(self, noted: Made, depth: int) -> Any:
        kind = _kinds().get(noted.name)
        if kind is None:
            raise ValueError(
                f"it names {noted.name!s:.100}, which is no optimizer or scheduler of this program"
            )
        if not isinstance(noted.state, dict):
            raise ValueError(f"{noted.name!s:.100} has no attributes")
        given = {str(key): self.value(one, depth + 1) for key, one in noted.state.items()}
        return _made(kind, _renamed(given))


def _of_length(values: Any, length: int) -> Any:
    if not isinstance(values, tuple) or len(values) != length:
        raise ValueError(f"an array is not described by {length} values")
    return values


def _kinds() -> dict[Name, type[Any]]:
    """Return all optimizers and schedulers of the program by the names they have in files."""

    def derived(kind: type[Any]) -> Iterator[type[Any]]:
        for subclass in kind.__subclasses__():
            yield subclass
            yield from derived(subclass)

    found = {
        Name(kind.__module__, kind.__qualname__): kind
        for base in (Optimizer, LRScheduler)
        for kind in derived(base)
    }
    return found | _OURS


def _renamed(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return attributes that Afterglow wrote before by the names that they have in MXNet."""
    if "_counts" in attributes:
        attributes["_index_update_count"] = attributes.pop("_counts")
        attributes["_all_index_update_counts"] = attributes.pop("_all_counts", None)
    gathered = attributes.pop("_gathered", None)
    if isinstance(gathered, dict):
        pairs = {index: _of_length(one, 2) for index, one in gathered.items()}
        attributes["cumgrads"] = {
            index: {"cum_grad": 0 if total is None else total, "num_cums": number}
            for index, (number, total) in pairs.items()
        }
    return attributes


#: What is in attributes whose value is empty in a new optimizer.
_FILLED: dict[str, Any] = {
    "lr_mult": {0: 1.0},
    "wd_mult": {0: 1.0},
    "idx2name": {0: "name"},
    "_index_update_count": {0: 1},
    "_all_index_update_counts": {0: {0: 1}},
}


def _example(kind: type[Any]) -> dict[str, Any]:
    """Return attributes as an object of a class has them; of a program's own, those of the base."""
    schedulers: dict[type[Any], tuple[Any, ...]] = {
        lr_scheduler.FactorScheduler: (1,),
        lr_scheduler.MultiFactorScheduler: ([1],),
        lr_scheduler.PolyScheduler: (1,),
        lr_scheduler.CosineScheduler: (1,),
    }
    if kind not in _NAMES:
        kind = Optimizer if issubclass(kind, Optimizer) else LRScheduler
    attributes: dict[str, Any] = vars(kind(*schedulers.get(kind, ())))
    return attributes


def _made(kind: type[Any], given: dict[str, Any]) -> Any:
    """Return an object of a class with given attributes, if they can be its attributes."""
    example = _example(kind)
    scheduler = given.get("lr_scheduler")
    if isinstance(scheduler, LRScheduler) and given.get("lr") is None:
        given["lr"] = scheduler.base_lr  # MXNet has no other rate then
    for name, value in given.items():
        if name == "lr_scheduler":
            fits = value is None or isinstance(value, LRScheduler)
        elif name == "cumgrads":
            fits = _is_gathered(value)
        elif name in example:
            fits = _is_like(value, _FILLED.get(name, example[name]))
        else:
            shadowed = getattr(kind, name, None)
            fits = not callable(shadowed) and not isinstance(shadowed, property)
        if not fits or name.startswith("__"):
            raise ValueError(f"{name} of {kind.__name__} is {value!r:.60}")
    if isinstance(given.get("step"), (int, float)) and not given["step"] >= 1:
        raise ValueError(f"step of {kind.__name__} is {given['step']}")
    made = object.__new__(kind)
    attributes = {name: value for name, value in example.items() if name != "param_dict"} | given
    if hasattr(made, "__setstate__"):
        made.__setstate__(attributes)
    else:
        vars(made).update(attributes)
    return made


def _is_gathered(value: Any) -> bool:
    """Tell whether these are sums of gradients, and how many they are of, by weight."""
    return isinstance(value, dict) and all(
        isinstance(one, dict)
        and one.keys() == {"cum_grad", "num_cums"}
        and isinstance(one["num_cums"], int)
        and isinstance(one["cum_grad"], (int, float, Array))
        for one in value.values()
    )


def _is_like(value: Any, example: Any) -> bool:
    """Tell whether a value can stand where an example of what belongs there stands."""
    if isinstance(example, dict):
        inner = next(iter(example.values()), None)
        return isinstance(value, dict) and (
            not example or all(_is_like(one, inner) for one in value.values())
        )
    if isinstance(example, (tuple, list)):
        return isinstance(value, (tuple, list)) and (
            not example or all(_is_like(one, example[0]) for one in value)
        )
    if isinstance(example, str):
        return isinstance(value, str)
    if isinstance(value, int):
        return abs(value) < 2**63
    return isinstance(value, float) or (example is None and value is None)
