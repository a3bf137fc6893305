# SPDX-License-Identifier: Apache-2.0
"""``gluon.utils``: batches over devices, gradients of bounded size, files."""

from __future__ import annotations

import hashlib
import itertools
import os
import warnings
import weakref
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from .. import ndarray, numpy
from .._core import Array, operation
from .._formats import params as _files
from ..context import Context
from ..error import ArrayTypeError, FileError
from ..ndarray.sparse import BaseSparseNDArray
from ..util import is_np_array, is_np_shape

__all__ = [
    "check_sha1",
    "clip_global_norm",
    "download",
    "replace_file",
    "split_and_load",
    "split_data",
]


def split_data(
    data: Any, num_slice: int, batch_axis: int = 0, even_split: bool = True
) -> list[Any]:
    """Return a batch in that many parts.

    >>> from afterglow import gluon, nd
    >>> [len(part) for part in gluon.utils.split_data(nd.arange(5), 2, even_split=False)]
    [3, 2]
    """
    size = data.shape[batch_axis]
    if even_split and size % num_slice:
        raise ValueError(
            f"data with shape {data.shape} cannot be evenly split into {num_slice} slices along "
            f"axis {batch_axis}. Use a batch size that's multiple of {num_slice} or set "
            "even_split=False to allow uneven partitioning of data."
        )
    short, longer = divmod(size, num_slice)
    bounds = [short * index + min(index, longer) for index in range(num_slice + 1)]
    axis = batch_axis % len(data.shape)
    if axis and isinstance(data, BaseSparseNDArray):
        return [
            ndarray.slice_axis(data, axis=axis, begin=begin, end=end)
            for begin, end in itertools.pairwise(bounds)
        ]
    parts = [slice(*ends) for ends in itertools.pairwise(bounds)]
    return [data[(*[slice(None)] * axis, part) if axis else part] for part in parts]


def split_and_load(
    data: Any, ctx_list: Sequence[Context], batch_axis: int = 0, even_split: bool = True
) -> list[Any]:
    """Return a batch in one part per device, each where it belongs.

    >>> import afterglow as mx
    >>> parts = mx.gluon.utils.split_and_load(mx.nd.arange(2), [mx.cpu(0), mx.cpu(1)])
    >>> [part.context for part in parts]
    [cpu(0), cpu(1)]
    """
    if not isinstance(data, Array):
        make: Any = numpy.array if is_np_array() else ndarray.array
        data = make(data, ctx=ctx_list[0])
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    parts = split_data(data, len(ctx_list), batch_axis, even_split)
    return [part.as_in_context(ctx) for part, ctx in zip(parts, ctx_list, strict=True)]


def clip_global_norm(arrays: Sequence[Any], max_norm: float, check_isfinite: bool = True) -> Any:
    """Scale arrays in place so that all of them together have at most that 2-norm; return it.

    ``check_isfinite`` waits for the norm, returns it as a number, and warns when there is none;
    without it nothing waits and the norm is an array.

    >>> from afterglow import gluon, nd
    >>> gradient = nd.array([3, 4])
    >>> gluon.utils.clip_global_norm([gradient], 1.0)
    5.0
    """
    assert len(arrays) > 0, "clip_global_norm needs at least one array"
    first = arrays[0]
    squares = [operation("sum", array._legacy)(array * array) for array in arrays]
    others = (square.as_in_ctx(first.context) for square in squares[1:])
    norm = operation("sqrt", first._legacy)(sum(others, squares[0]))
    if check_isfinite:
        number = float(norm)
        if not isfinite(number):
            warnings.warn(
                "nan or inf is detected. Clipping results will be undefined.",
                stacklevel=2,
            )
        scale: Any = max_norm / (number + 1e-8)
        if scale < 1.0:
            for array in arrays:
                array *= scale
        return number
    scale = operation("minimum", first._legacy)(max_norm / (norm + 1e-8), 1.0)
    for array in arrays:
        array *= scale.as_in_ctx(array.context)
    return norm


def check_sha1(filename: str, sha1_hash: str) -> bool:
    """Tell whether a file has that SHA-1 sum, or one that begins so."""
    with _files.open_to_read(filename) as file:
        sum_of_file = hashlib.file_digest(file, "sha1").hexdigest()  # type: ignore[arg-type]
    return sum_of_file.startswith(sha1_hash) if sha1_hash else False


def replace_file(src: str, dst: str) -> None:
    """Put a file in the place of another one, at once or not at all."""
    os.replace(src, dst)


def download(
    url: str,
    path: str | None = None,
    overwrite: bool = False,
    sha1_hash: str | None = None,
    retries: int = 5,
    verify_ssl: bool = True,
) -> str:
    """Fetch a file, unless it is there already; return where it is.

    ``path`` is the file or the folder to put it in. A file whose sum is not ``sha1_hash`` is
    fetched again. A connection that ends is taken up again, up to ``retries`` times in all.
    """
    name = url.split("/")[-1]
    if path is None:
        assert name, f"the file from {url} has no name; give a path"
        target = name
    else:
        path = os.path.expanduser(path)
        target = os.path.join(path, name) if os.path.isdir(path) else path
    assert retries >= 0, f"Number of retries should be at least 0, currently it's {retries}"
    before = os.stat(target) if os.path.exists(target) else None
    if before and not overwrite and (not sha1_hash or check_sha1(target, sha1_hash)):
        return target
    if not verify_ssl:
        warnings.warn(
            f"whether {url} is who it says will not be checked (verify_ssl=False)", stacklevel=2
        )
    from .._formats.fetching import fetch  # which takes half as long as importing gluon

    folder, file = os.path.split(os.path.abspath(target))
    try:
        os.makedirs(folder, exist_ok=True)
        fetch(url, target, sha1_hash, max(1, retries), verify_ssl, instead_of=before)
    except OSError as error:
        raise FileError(
            f"{file} could not be fetched from {url}: {error}. Where there is no network, put the "
            f"file into the folder {folder} yourself"
        ) from None
    return target


def _get_repo_url() -> str:
    """Return where MXNet keeps files of data sets and models, or what is set instead of it."""
    default = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/"
    return (os.environ.get("MXNET_GLUON_REPO") or default).rstrip("/") + "/"


def _get_repo_file_url(namespace: str, filename: str) -> str:
    """Return the address of one of these files."""
    return f"{_get_repo_url()}{namespace}/{filename}"


def shape_is_known(shape: Sequence[int] | None) -> bool:
    """Tell whether a shape has no unknown extent: none of 0, or of -1 with NumPy shapes.

    >>> from afterglow import gluon
    >>> gluon.utils.shape_is_known((2, 3)), gluon.utils.shape_is_known((2, 0))
    (True, False)
    """
    if shape is None:
        return False
    unknown = -1 if is_np_shape() else 0
    if not shape:
        return unknown == -1
    for extent in shape:
        if extent == unknown:
            return False
        assert extent > unknown, (
            f"shape dimension size cannot be less than {unknown}, while received {extent}"
        )
    return True


_hook_numbers = itertools.count()


class HookHandle:
    """What ``register_forward_hook`` returns: detaches the hook, also at the end of a ``with``."""

    def __init__(self) -> None:
        self._hooks: Callable[[], dict[int, Any] | None] = lambda: None
        self._key = 0

    def attach(self, hooks_dict: Hooks, hook: Any) -> None:
        """Add a hook to those of a block."""
        self._hooks = weakref.ref(hooks_dict)
        self._key = next(_hook_numbers)
        hooks_dict[self._key] = hook

    def detach(self) -> None:
        """Take the hook away."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self._key, None)

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.detach()


class Hooks(dict[int, Any]):
    """Hooks by handle; can be referred to weakly, so that handles keep no block alive."""


def first_array(values: Any) -> Any:
    """Return the first array in nested lists and tuples."""
    if isinstance(values, (list, tuple)):
        found = map(first_array, values)
        return next((one for one in found if one is not None), None)
    return values if isinstance(values, Array) else None


def map_arrays(function: Callable[[Any], Any], values: Any) -> Any:
    """Return nested lists and tuples with something else in place of each array."""
    if isinstance(values, Array):
        return function(values)
    if isinstance(values, (list, tuple)):
        return [map_arrays(function, value) for value in values]
    if values is None:
        return None
    raise ArrayTypeError(f"there must be arrays, or lists of them, not {type(values)}")
