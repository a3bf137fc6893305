# SPDX-License-Identifier: Apache-2.0
"""``import afterglow.as_mxnet`` makes ``mxnet`` mean Afterglow in this process.

``import mxnet``, ``from mxnet import nd`` and ``import mxnet.ndarray.random`` then give the very
module objects of Afterglow, so there is one ``NDArray`` class under both names. From then on
``afterglow.__version__``, which is ``mxnet.__version__`` as well, says 1.9.1, the version that is
spoken; :mod:`afterglow.version` keeps our own.

Where the helper packages of *Dive into Deep Learning* are not installed, ``d2l`` and ``d2lzh`` mean
the stand-ins in :mod:`afterglow.books`. Names that NumPy, IPython, Matplotlib, pandas and Python
had in MXNet's time and have no more are there again, unless ``AFTERGLOW_OLDER_NAMES=0``.
"""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing.pool  # noqa: F401  programs use what MXNet has imported
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import afterglow

from ._interoperation.older_packages import put_back_older_names
from ._interoperation.one_number import let_one_number_be_a_number
from ._package.namespace import SHORT
from .version import MXNET_VERSION

__all__ = ["MXNET_VERSION"]

#: Names under which MXNet's documentation imports things that are attributes there.
_SHORT = {short: name for name, short in SHORT.items()} | {"rnd": "random"}

#: The last is what d2lzh was called before the book was printed.
_BOOKS = {"d2l": "d2l", "d2l.mxnet": "d2l", "d2lzh": "d2lzh", "gluonbook": "d2lzh"}


def _our_name(name: str) -> str:
    """Return the name that a module has here: mxnet.nd.random is afterglow.ndarray.random."""
    parts = name.split(".")
    if len(parts) > 1:
        parts[1] = _SHORT.get(parts[1], parts[1])
    return ".".join([afterglow.__name__, *parts[1:]])


class _Alias(Loader):
    """Loads nothing: the module is there already."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put the one of the alias there


class _Finder(MetaPathFinder):
    """Finds mxnet.x.y where afterglow.x.y exists."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        ours = self._ours(fullname)
        if ours is None:
            return None
        module = importlib.import_module(ours)
        return ModuleSpec(fullname, _Alias(module), is_package=hasattr(module, "__path__"))

    def _ours(self, name: str) -> str | None:
        if name != "mxnet" and not name.startswith("mxnet."):
            return None
        ours = _our_name(name)
        try:
            return ours if importlib.util.find_spec(ours) else None
        except ModuleNotFoundError:
            return None


class _BookFinder(_Finder):
    """Finds the helpers of books; it is asked last, so that installed packages come first."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        spec = super().find_spec(fullname, path, target)
        if spec is not None and fullname == "d2l":  # whose attribute mxnet is no import of its own
            sys.modules.setdefault("d2l.mxnet", importlib.import_module("afterglow.books.d2l"))
        return spec

    def _ours(self, name: str) -> str | None:
        return f"{afterglow.__name__}.books.{_BOOKS[name]}" if name in _BOOKS else None


def _install() -> None:
    present = sys.modules.get("mxnet")
    if present is not None and present is not afterglow:
        raise ImportError(
            f"mxnet is already imported from {getattr(present, '__file__', 'elsewhere')}; "
            "import afterglow.as_mxnet before anything that imports mxnet, or in another process"
        )
    if not any(
        type(finder).__name__ == "_Finder" and type(finder).__module__ == __name__
        for finder in sys.meta_path
    ):
        sys.meta_path.insert(0, _Finder())
        sys.meta_path.append(_BookFinder())
    # Modules that are loaded keep their identity under the other name too.
    prefix = afterglow.__name__ + "."
    sys.modules["mxnet"] = afterglow
    for name, module in list(sys.modules.items()):
        if name.startswith(prefix) and name != __name__:
            sys.modules.setdefault("mxnet." + name.removeprefix(prefix), module)
    for short, name in _SHORT.items():
        if prefix + name in sys.modules:
            sys.modules.setdefault("mxnet." + short, sys.modules[prefix + name])
    afterglow.__version__ = MXNET_VERSION
    let_one_number_be_a_number()
    put_back_older_names()


_install()
