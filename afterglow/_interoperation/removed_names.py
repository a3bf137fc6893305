# SPDX-License-Identifier: Apache-2.0
"""Names that NumPy and Python had in MXNet's time, and that they have removed.

Nothing of the package is imported here, and NumPy only where it is there already: ``afterglow
install-shim --old-names`` puts a copy of this file into an environment, whose programs then find
these names from their first line on. What NumPy, Python or an installed package (setuptools has a
``distutils``) still gives is left as it is.
"""

from __future__ import annotations

import collections
import collections.abc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

# Every Python of such an environment pays for what is imported here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# --- adapting modules ---


def are_wanted() -> bool:
    """Tell whether older names are put back: unless ``AFTERGLOW_OLDER_NAMES`` is 0."""
    return os.environ.get("AFTERGLOW_OLDER_NAMES") != "0"


def put_back() -> None:
    """Let programs of this process find what NumPy and Python have removed."""
    if are_wanted():
        _collections()
        adapt_when_loaded(
            {"configparser": _configparser, "inspect": _inspect, "numpy": _numpy, "unittest": _case}
        )
        sys.meta_path.append(_RemovedModules())


def adapt_when_loaded(adaptions: Mapping[str, Callable[[Any], None]]) -> None:
    """Call these functions with modules: with loaded ones at once, with others when they are."""
    for name, adapt in adaptions.items():
        if name in sys.modules:
            adapt(sys.modules[name])
    sys.meta_path.insert(0, _Adapting(adaptions))


class _Adapting:
    """Finds what Python would, and adapts it once it is loaded."""

    def __init__(self, adaptions: Mapping[str, Callable[[Any], None]]) -> None:
        self._adaptions = adaptions

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        adapt = self._adaptions.get(fullname)
        spec = PathFinder.find_spec(fullname, path, target) if adapt else None
        if spec is None or spec.loader is None or adapt is None:
            return None
        loader = spec.loader
        execute = loader.exec_module

        def execute_and_adapt(module: ModuleType) -> None:
            vars(loader).pop("exec_module")
            execute(module)
            adapt(module)

        vars(loader)["exec_module"] = execute_and_adapt
        return spec


def _add(module: Any, values: Mapping[str, Any]) -> None:
    """Give a module, or a class, what it lacks."""
    for name, value in values.items():
        if name not in vars(module):
            setattr(module, name, value)


# --- NumPy ---

#: What is there under another name.
_NUMPY_NAMES = {
    **{"Inf": "inf", "Infinity": "inf", "PINF": "inf", "infty": "inf", "NaN": "nan", "NAN": "nan"},
    **{"bool": "bool_", "float_": "float64", "complex_": "complex128", "int0": "intp"},
    **{"string_": "bytes_", "unicode_": "str_", "object0": "object_", "bool8": "bool_"},
    **{"cfloat": "complex128", "singlecomplex": "complex64", "longfloat": "longdouble"},
    **{"longcomplex": "clongdouble", "clongfloat": "clongdouble", "uint0": "uintp"},
    **{"alltrue": "all", "sometrue": "any", "product": "prod", "cumproduct": "cumprod"},
    **{"in1d": "isin", "row_stack": "vstack", "trapz": "trapezoid", "round_": "round"},
    **{"mat": "asmatrix", "str0": "str_", "bytes0": "bytes_", "void0": "void"},
}
#: Types of Python that were in NumPy under their own names, and numbers.
_NUMPY_VALUES = {
    **{"complex": complex, "float": float, "int": int, "object": object, "str": str},
    **{"unicode": str, "NINF": -float("inf"), "NZERO": -0.0, "PZERO": 0.0},
}
#: What has moved to ``numpy.exceptions``.
_NUMPY_EXCEPTIONS = ("AxisError", "ComplexWarning", "RankWarning", "VisibleDeprecationWarning")


def _numpy(numpy: Any) -> None:
    _add(numpy, _NUMPY_VALUES)
    _add(numpy, {old: getattr(numpy, new) for old, new in _NUMPY_NAMES.items()})
    _add(numpy, {name: getattr(numpy.exceptions, name) for name in _NUMPY_EXCEPTIONS})

    def asfarray(a: Any, dtype: Any = numpy.float64) -> Any:
        """Return an array of floating numbers."""
        is_inexact = numpy.issubdtype(dtype, numpy.inexact)
        return numpy.asarray(a, dtype if is_inexact else numpy.float64)

    class Casts(dict[object, object]):
        """For each type a function that converts to it."""

        def __missing__(self, dtype: Any) -> Any:
            return lambda values: numpy.asarray(values, dtype)

    groups = {
        "int": ("int8", "int16", "int32", "int64"),
        "uint": ("uint8", "uint16", "uint32", "uint64"),
        "float": ("float16", "float32", "float64", "longdouble"),
        "complex": ("complex64", "complex128", "clongdouble"),
        "others": ("bool_", "object_", "bytes_", "str_", "void"),
    }
    _add(
        numpy,
        {
            "asfarray": asfarray,
            "asscalar": lambda a: a.item(),
            "cast": Casts(),
            "issubclass_": lambda one, of: isinstance(one, type) and issubclass(one, of),
            "msort": lambda a: numpy.sort(a, axis=0),
            "sctypes": {kind: [vars(numpy)[n] for n in names] for kind, names in groups.items()},
        },
    )
    if not hasattr(numpy.fromstring, "__wrapped__"):
        numpy.fromstring = _reading_bytes(numpy)


def _reading_bytes(numpy: Any) -> Callable[..., Any]:
    """Return ``fromstring`` that reads the bytes of numbers as well, as it did until NumPy 2.3."""
    of_text = numpy.fromstring

    def fromstring(string: Any, dtype: Any = float, count: int = -1, **options: Any) -> Any:
        if options.get("sep", "") == "":
            given = string.encode("latin1") if isinstance(string, str) else string
            return numpy.frombuffer(given, dtype, count).copy()
        return of_text(string, dtype, count, **options)

    fromstring.__doc__ = of_text.__doc__
    vars(fromstring)["__wrapped__"] = of_text
    return fromstring


# --- names in modules of Python ---


def _collections() -> None:
    """Until Python 3.10 the abstract classes were here too."""
    for name in collections.abc.__all__:
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))


def _configparser(module: Any) -> None:
    """Until Python 3.12 the class had a second name, and a method too."""
    _add(module, {"SafeConfigParser": module.ConfigParser})
    _add(module.RawConfigParser, {"readfp": lambda self, *given: self.read_file(*given)})


def _inspect(module: Any) -> None:
    """Until Python 3.11 there was a function for signatures without names behind ``*``."""
    ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")

    def getargspec(func: Any) -> Any:
        whole = module.getfullargspec(func)
        if whole.kwonlyargs or whole.annotations:
            raise ValueError(
                f"{func} has annotations or arguments that only have names; use getfullargspec"
            )
        return ArgSpec(*whole[:4])

    _add(module, {"ArgSpec": ArgSpec, "getargspec": getargspec})


#: Names of methods of test cases until Python 3.12.
_OF_CASES = {
    **{"assertEquals": "assertEqual", "assertNotEquals": "assertNotEqual", "assert_": "assertTrue"},
    **{"assertAlmostEquals": "assertAlmostEqual", "assertRaisesRegexp": "assertRaisesRegex"},
    **{"assertNotAlmostEquals": "assertNotAlmostEqual", "assertRegexpMatches": "assertRegex"},
    "assertNotRegexpMatches": "assertNotRegex",
}


def _case(module: Any) -> None:
    names = {old: getattr(module.TestCase, new) for old, new in _OF_CASES.items()}
    _add(module.TestCase, names)


# --- modules that Python had until 3.12: what programs use of them, building packages aside ---


class _RemovedModules:
    """Finds them; it is asked last, so that what is installed comes first."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _MODULES:
            return None
        loader: Any = self
        return ModuleSpec(fullname, loader, is_package=fullname == "distutils")

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.__doc__ = "What programs use of a module that Python had until 3.12."
        vars(module).update(_MODULES[module.__name__]())


def _imp() -> dict[str, Any]:
    import importlib.util
    from importlib.machinery import ExtensionFileLoader, SourceFileLoader, SourcelessFileLoader

    def loading(kind: Any) -> Callable[..., ModuleType]:
        def load(name: str, pathname: str, file: object = None) -> ModuleType:
            spec = importlib.util.spec_from_loader(name, kind(name, pathname))
            assert spec is not None
            assert spec.loader is not None
            module = sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module

        return load

    return {
        "cache_from_source": importlib.util.cache_from_source,
        "load_compiled": loading(SourcelessFileLoader),
        "load_dynamic": loading(ExtensionFileLoader),
        "load_source": loading(SourceFileLoader),
        "new_module": ModuleType,
        "reload": importlib.reload,
    }


def _dir_util() -> dict[str, Any]:
    import shutil

    def copy_tree(src: str, dst: str) -> list[str]:
        shutil.copytree(src, dst, dirs_exist_ok=True)
        return [os.path.join(at, name) for at, _, names in os.walk(dst) for name in names]

    def mkpath(name: str, mode: int = 0o777) -> None:
        os.makedirs(name, mode, exist_ok=True)

    return {"copy_tree": copy_tree, "mkpath": mkpath, "remove_tree": shutil.rmtree}


def _spawn() -> dict[str, Any]:
    import shutil

    return {"find_executable": lambda executable, path=None: shutil.which(executable, path=path)}


def _util() -> dict[str, Any]:
    def strtobool(val: str) -> int:
        words = ("n", "no", "f", "false", "off", "0"), ("y", "yes", "t", "true", "on", "1")
        for value, known in enumerate(words):
            if val.lower() in known:
                return value
        raise ValueError(f"invalid truth value {val!r}; it is one of {', '.join(sum(words, ()))}")

    return {"strtobool": strtobool}


def _version() -> dict[str, Any]:
    return {"LooseVersion": LooseVersion, "StrictVersion": StrictVersion}


class LooseVersion:
    """A version of numbers and words, which are compared one after the other."""

    version: Any

    def __init__(self, vstring: str | None = None) -> None:
        self.vstring = ""
        if vstring:
            self.parse(vstring)

    def parse(self, vstring: str) -> None:
        """Take the parts of a text."""
        import re

        self.vstring = vstring
        parts = re.findall(r"\d+|[a-z]+|[^\da-z.]+", vstring)
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def __str__(self) -> str:
        return self.vstring

    def __repr__(self) -> str:
        return f"{type(self).__name__} ('{self}')"

    def _key(self) -> Any:
        return self.version

    def _with(self, other: Any) -> Any:
        """Return what another version, maybe a text, is compared by."""
        return (type(self)(other) if isinstance(other, str) else other)._key()

    def __eq__(self, other: object) -> bool:
        return bool(self._key() == self._with(other))

    def __lt__(self, other: Any) -> bool:
        return bool(self._key() < self._with(other))

    def __le__(self, other: Any) -> bool:
        return bool(self._key() <= self._with(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self._key() > self._with(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self._key() >= self._with(other))

    __hash__ = None  # type: ignore[assignment]  # versions can be parsed anew


class StrictVersion(LooseVersion):
    """Two or three numbers, with the number of an alpha or beta version behind them."""

    prerelease: tuple[str, int] | None

    def parse(self, vstring: str) -> None:
        """Take the parts of a text."""
        import re

        found = re.fullmatch(r"(\d+)\.(\d+)(?:\.(\d+))?(?:([ab])(\d+))?", vstring)
        if found is None:
            raise ValueError(f"invalid version number {vstring!r}; one such as 1.2.3 or 1.2b1 is")
        self.vstring = vstring
        self.version = tuple(int(part or 0) for part in found.group(1, 2, 3))
        self.prerelease = (found[4], int(found[5])) if found[4] else None

    def __str__(self) -> str:
        numbers = self.version if self.version[2] else self.version[:2]
        return ".".join(map(str, numbers)) + "".join(map(str, self.prerelease or ()))

    def _key(self) -> Any:
        return self.version, self.prerelease or ("final", 0)


_MODULES: dict[str, Callable[[], dict[str, Any]]] = {
    "distutils": dict,
    "distutils.dir_util": _dir_util,
    "distutils.spawn": _spawn,
    "distutils.util": _util,
    "distutils.version": _version,
    "imp": _imp,
}
