# SPDX-License-Identifier: Apache-2.0
"""Errors that arrays raise.

Every error of Afterglow is an :class:`MXNetError`, as code for MXNet expects. Where NumPy or
MXNet would raise a class of Python's own, the error is that class as well, so both kinds of
``except`` catch it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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


class NotImplementedForSymbol(MXNetError):  # noqa: N818
    """A function that works on arrays only was given a symbol."""


@contextmanager
def as_ours(name: str) -> Iterator[None]:
    """Raise errors of ours for those by which Python and NumPy refuse a number or an index."""
    try:
        yield
    except MXNetError:
        raise
    except OverflowError as error:
        raise ArrayOverflowError(f"[{name}] {error}") from None
    except ZeroDivisionError as error:
        raise ArrayZeroDivisionError(f"[{name}] {error}") from None
    except MemoryError as error:
        raise ArrayMemoryError(f"[{name}] {error}") from None
    except IndexError as error:
        raise ArrayIndexError(f"[{name}] {error}") from None
    except ValueError as error:
        raise ArrayValueError(f"[{name}] {error}") from None


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
]
