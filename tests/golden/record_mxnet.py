# SPDX-License-Identifier: Apache-2.0
"""Writes MXNet's ops and public names, and other names of ops. Needs MXNet 1.9.1.

    python tests/golden/record_mxnet.py

``names`` has the public names of every namespace; those with a star are ops, which are registered
with the ``prefixes`` of their namespaces. ``hidden`` has ops that are functions and no public
names, ``ops`` the private ones, ``callers`` public functions that call these
(``op=function,function``).
From them come ``afterglow list --missing`` and the errors of names that are missing. All that is
in afterglow/_package/mxnet_names.json; afterglow/symbol/aliases.json has the ops of several names,
that in files first (``op=other,other``).
"""

from __future__ import annotations

import ctypes
import importlib
import inspect
import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import mxnet
from mxnet.base import _LIB, check_call, py_str

PACKAGE = Path(__file__).parents[2] / "afterglow"

#: As programs write them, without ``mx.``; the first is ``mx`` itself.
_PATHS = """
    . attribute autograd callback context engine error executor image init io kv library log
    lr_scheduler metric mod model mon name onnx operator optimizer profiler random recordio registry
    rnn rtc runtime test_utils util viz
    contrib contrib.amp contrib.io contrib.onnx contrib.quantization contrib.svrg_optimization
    contrib.svrg_optimization.svrg_module contrib.tensorboard contrib.text contrib.text.embedding
    contrib.text.utils contrib.text.vocab
    gluon gluon.block gluon.contrib gluon.contrib.cnn gluon.contrib.data gluon.contrib.data.text
    gluon.contrib.estimator gluon.contrib.nn gluon.contrib.rnn gluon.data gluon.data.vision
    gluon.data.vision.transforms gluon.loss gluon.model_zoo gluon.model_zoo.vision gluon.nn
    gluon.parameter gluon.rnn gluon.trainer gluon.utils
    nd nd.contrib nd.image nd.linalg nd.random nd.sparse
    np np.linalg np.random npx npx.image npx.random
    sym sym.contrib sym.image sym.linalg sym.np sym.np.linalg sym.np.random sym.npx sym.npx.image
    sym.npx.random sym.random sym.sparse
"""
NAMESPACES = _PATHS.split()
#: Of these, names that are defined elsewhere are public too.
GATHERED = {
    ".": ("mxnet",),
    "np": ("builtins", "numpy", "mxnet.ndarray.numpy"),
    "npx": ("mxnet.context", "mxnet.ndarray", "mxnet.random", "mxnet.util"),
    "random": ("mxnet.ndarray.random",),
}
#: Where ops that begin like this are functions; the longest beginning counts.
PLACES = {
    "": "nd",
    "_contrib_": "nd.contrib",
    "_image_": "nd.image",
    "_linalg_": "nd.linalg",
    "_np_": "np",
    "_npx_": "npx",
    "_npx__image_": "npx.image",
    "_random_": "nd.random",
    "_sparse_": "nd.sparse",
}
#: How functions write private ops: ``_internal._plus_scalar``, ``_npi.add``.
PRIVATE = {"_internal": "", "_npi": "_npi_"}
#: Where the functions of a namespace call their ops, if that is elsewhere.
IMPLEMENTED = {
    "np": "mxnet.ndarray.numpy._op",
    "np.linalg": "mxnet.ndarray.numpy.linalg",
    "np.random": "mxnet.ndarray.numpy.random",
    "npx.random": "mxnet.ndarray.numpy_extension.random",
}


def found(path: str) -> Any:
    """Return what a path stands for, which may have to be imported."""
    value: Any = mxnet
    for part in path.split(".") if path != "." else ():
        if not hasattr(value, part):
            importlib.import_module(f"{value.__name__}.{part}")
        value = getattr(value, part)
    return value


def public_names(path: str) -> Iterator[str]:
    """Yield the names that a namespace has for users, and not those that it needs itself."""
    module = found(path)
    homes = (module.__name__, *GATHERED.get(path, ()))
    namespaces = [found(one) for one in NAMESPACES]
    stated = getattr(module, "__all__", ())
    for name in dir(module):
        value = getattr(module, name)
        if inspect.ismodule(value):
            is_public = path in (".", "contrib") and value in namespaces
        elif callable(value):
            home = getattr(value, "__module__", None) or module.__name__
            is_public = home.startswith(homes)
        else:
            is_public = path == "np"
        if not name.startswith(("_", "backward_")) and (is_public or name in stated):
            yield name


def op_names() -> list[str]:
    """Return the names of all ops that are registered."""
    count, names = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXListAllOpNames(ctypes.byref(count), ctypes.byref(names)))
    return sorted(py_str(names[i]) for i in range(count.value))


def aliases() -> dict[str, list[str]]:
    """Return the other names of ops, by that which files have."""
    others: dict[str, list[str]] = {}
    for name in op_names():
        op, found = ctypes.c_void_p(), ctypes.c_char_p()
        check_call(_LIB.NNGetOpHandle(name.encode(), ctypes.byref(op)))
        check_call(_LIB.MXSymbolGetAtomicSymbolName(op, ctypes.byref(found)))
        if py_str(found.value) != name:
            others.setdefault(py_str(found.value), []).append(name)
    return others


def callers() -> dict[str, set[str]]:
    """Return by private op the public functions and methods that call it."""
    calls: dict[str, set[str]] = {}

    def look(path: str, function: Any, kind: type | None = None) -> None:
        for words in words_of(function, kind):
            for written in PRIVATE.keys() & words:
                for word in words:
                    calls.setdefault(PRIVATE[written] + word, set()).add(path)

    for path in ("nd", "nd.contrib", "nd.random", "image", *IMPLEMENTED):
        home = importlib.import_module(IMPLEMENTED[path]) if path in IMPLEMENTED else found(path)
        for name in public_names(path):
            look(f"{path}.{name}", getattr(home, name, None))
    for path in ("nd.NDArray", "np.ndarray"):
        for name, value in vars(found(path)).items():
            if not name.startswith("_") or name.endswith("__"):
                look(f"{path}.{name}", value, found(path))
    return calls


def words_of(function: Any, kind: type | None) -> Iterator[set[str]]:
    """Yield the names in a function, and in each method of a class that it calls."""
    waiting, seen = [function], []
    while waiting:
        one = inspect.unwrap(waiting.pop())
        if one in seen or not inspect.isfunction(one):
            continue
        seen.append(one)
        words = {*one.__code__.co_names}
        waiting += [getattr(kind, word, None) for word in words]
        yield words


def ops() -> dict[str, list[str]]:
    """Return the ops by namespace, without their prefixes; private ones behind the empty name."""
    by_place: dict[str, list[str]] = {path: [] for path in ("", *PLACES.values())}
    for name in op_names():
        prefix = max((one for one in PLACES if name.startswith(one)), key=len)
        home, own = PLACES[prefix], name.removeprefix(prefix)
        is_public = not own.startswith("_") and hasattr(found(home), own)
        by_place[home if is_public else ""].append(own if is_public else name)
    return by_place


def packed(words: Iterable[str]) -> list[str]:
    """Return lines of words."""
    return textwrap.wrap(" ".join(words), 116, break_long_words=False, break_on_hyphens=False)


def pairs(found: Mapping[str, Iterable[str]]) -> list[str]:
    """Return lines of words with what belongs to each."""
    return packed(f"{name}={','.join(sorted(others))}" for name, others in sorted(found.items()))


def write(path: str, recorded: Any) -> None:
    """Write a file of the package."""
    (PACKAGE / path).write_text(json.dumps(recorded, indent=0) + "\n", encoding="utf-8")


def children() -> dict[str, set[str]]:
    """Return the namespaces within each namespace."""
    within: dict[str, set[str]] = {path: set() for path in NAMESPACES}
    for path in NAMESPACES[1:]:
        parent, _, name = path.rpartition(".")
        within[parent or "."].add(name)
    return within


if __name__ == "__main__":
    names = {path: {*public_names(path)} | within for path, within in children().items()}
    registered, called = ops(), callers()
    private = registered.pop("")
    hidden = {
        path: [one for one in own if one not in names[path]] for path, own in registered.items()
    }
    starred = {
        path: [f"{one}*" if one in registered.get(path, ()) else one for one in sorted(names[path])]
        for path in sorted(names)
    }
    recorded = {
        "prefixes": {path: prefix for prefix, path in PLACES.items()},
        "ops": packed(private),
        "hidden": {path: own for path, own in hidden.items() if own},
        "callers": pairs({name: called[name] for name in private if name in called}),
        "names": {path: " ".join(own) for path, own in starred.items()},
    }
    write("_package/mxnet_names.json", recorded)
    write("symbol/aliases.json", pairs(aliases()))
