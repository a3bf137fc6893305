# SPDX-License-Identifier: Apache-2.0
"""Errors that arrays raise.

Every error of Afterglow is an :class:`MXNetError`, as code for MXNet expects. Where NumPy or
MXNet would raise a class of Python's own, the error is that class as well, so both kinds of
``except`` catch it.
"""

from __future__ import annotations

__all__ = ["MXNetError", "NotImplementedForSymbol"]


class MXNetError(RuntimeError):
    """Something the library was asked to do failed or makes no sense."""


class ArrayValueError(MXNetError, ValueError):
    """Shapes, axes or values that do not fit."""


class ArrayTypeError(MXNetError, TypeError):
    """Data types or Python types that do not fit."""


class ArrayIndexError(MXNetError, IndexError):
    """An index outside of the array."""


class ArrayAttributeError(MXNetError, AttributeError):
    """Something that an object lacks."""


class MissingNameError(ArrayAttributeError):
    """A name that a module lacks. Its text is made when it is read: ``hasattr`` needs none."""

    def __init__(self, module: str, name: str) -> None:
        super().__init__(module, name)
        self.name = name

    def __str__(self) -> str:
        from ._package.namespace import explain

        return explain(*self.args)


class AxisError(ArrayValueError, ArrayIndexError):
    """An axis that the array does not have: both a wrong value and a wrong index, as in NumPy."""


class ArrayOverflowError(MXNetError, OverflowError):
    """A number that the type of an array, or any type, cannot hold."""


class ArrayZeroDivisionError(ArrayValueError, ZeroDivisionError):
    """A step or divisor of 0 among plain numbers."""


class ArrayMemoryError(MXNetError, MemoryError):
    """Memory that could not be had."""


class ArrayNotImplementedError(MXNetError, NotImplementedError):
    """Something that does not exist yet."""


class UnknownFormError(ArrayNotImplementedError, ArrayValueError):
    """A form that only NumPy has; MXNet calls it a wrong value."""


class FileError(MXNetError, OSError):
    """A file that cannot be opened, or is not what it should be."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that is not there."""


class ArgumentError(ArrayTypeError, AssertionError):
    """An argument that should have been an array; MXNet asserts it."""


class MismatchError(ArrayValueError, AssertionError):
    """Things that do not belong together, such as a file and a network; MXNet asserts it."""


class UnknownTypeError(ArrayTypeError, KeyError):
    """A NumPy type that no array can have; MXNet finds no key for it."""

    __str__ = BaseException.__str__  # a KeyError would put its message into quotes


class UnknownKeyError(MXNetError, KeyError):
    """A key that a file does not have."""

    __str__ = BaseException.__str__  # as above


class NotImplementedForSymbol(MXNetError):  # noqa: N818
    """A function that works on arrays only was given a symbol."""


class as_ours:  # noqa: N801
    """Raise errors of ours for those by which Python and NumPy refuse a number or an index.

    A generator as a context would, from Python 3.12 on, be kept with all arrays in sight by the
    error that it replaces, and keep that error, until the collector comes.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, place: object) -> None:
        if error is None or isinstance(error, MXNetError):
            return
        for theirs, ours in _OURS:
            if isinstance(error, theirs):
                raise ours(f"[{self._name}] {error}") from None


_OURS: list[tuple[type[Exception], type[MXNetError]]] = [
    (OverflowError, ArrayOverflowError),
    (ZeroDivisionError, ArrayZeroDivisionError),
    (MemoryError, ArrayMemoryError),
    (IndexError, ArrayIndexError),
    (ValueError, ArrayValueError),
]


# In the order of ErrorKind in src/base/error.h.
CLASSES: list[type[BaseException]] = [
    MXNetError,
    ArrayValueError,
    ArrayTypeError,
    ArrayIndexError,
    ArrayMemoryError,
    ArrayNotImplementedError,
    TimeoutError,
    AxisError,
    ArrayOverflowError,
    ArgumentError,
    ArrayZeroDivisionError,
    UnknownFormError,
]
