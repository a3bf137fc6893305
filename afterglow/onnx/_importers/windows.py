# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pooling."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as onp

from .graph import Node
from .registry import imports
from .shape import padded
from .values import dtype_of, is_float

Sides = list[tuple[int, int]]  #: before and behind, along each axis of space


@dataclass
class Windows:
    """Where windows lie: an entry for each axis of space."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: Sides

    @property
    def spans(self) -> tuple[int, ...]:
        """How many elements a window reaches over."""
        return tuple(
            dilation * (size - 1) + 1
            for size, dilation in zip(self.kernel, self.dilations, strict=True)
        )

    @property
    def is_even(self) -> bool:
        """Whether pads are as wide on both sides."""
        return all(before == after for before, after in self.pads)


def _windows(node: Node, extents: tuple[int, ...], kernel: tuple[int, ...]) -> Windows:
    rank = len(kernel)
    strides = tuple(node.get("strides") or (1,) * rank)
    dilations = tuple(node.get("dilations") or (1,) * rank)
    given = node.get("pads") or [0] * (2 * rank)
    pads = list(zip(given[:rank], given[rank:], strict=True))
    found = Windows(kernel, strides, dilations, pads)
    automatic = node.get("auto_pad", "NOTSET")
    if automatic == "VALID":
        found.pads = [(0, 0)] * rank
    elif automatic.startswith("SAME"):
        totals = [
            max((-(-extent // stride) - 1) * stride + span - extent, 0)
            for extent, stride, span in zip(extents, strides, found.spans, strict=True)
        ]
        found.pads = [_halves(total, automatic == "SAME_UPPER") for total in totals]
    return found


def _halves(total: int, more_behind: bool) -> tuple[int, int]:
    less, more = total // 2, total - total // 2
    return (less, more) if more_behind else (more, less)


# --- convolutions ---


@imports("Conv")
def _conv(node: Node) -> Any:
    return convolved(node, node[0], node[1], node[2] if node.has(2) else None)


def convolved(node: Node, x: Any, weight: Any, bias: Any = None) -> Any:
    """Return the convolution that the attributes of a node describe."""
    kernel = tuple(weight.shape[2:])
    windows = _windows(node, tuple(x.shape[2:]), kernel)
    pads = tuple(before for before, _ in windows.pads)
    if not windows.is_even:
        x, pads = padded(node.f, x, [(0, 0), (0, 0), *windows.pads]), (0,) * len(kernel)
    given = [x, weight] if bias is None else [x, weight, bias]
    return node.f.convolution(
        *given,
        kernel=kernel,
        stride=windows.strides,
        dilate=windows.dilations,
        pad=pads,
        num_filter=weight.shape[0],
        num_group=node.get("group", 1),
        no_bias=bias is None,
    )


@imports("ConvTranspose")
def _conv_transpose(node: Node) -> Any:
    """The whole result, of which pads are cut off."""
    f, x, weight = node.f, node[0], node[1]
    kernel = tuple(weight.shape[2:])
    windows = _windows(node, tuple(x.shape[2:]), kernel)
    group = node.get("group", 1)
    result = f.deconvolution(
        x,
        weight,
        kernel=kernel,
        stride=windows.strides,
        dilate=windows.dilations,
        num_filter=weight.shape[1] * group,
        num_group=group,
        no_bias=True,
    )
    more = node.get("output_padding") or [0] * len(kernel)
    sides = _cut(node, windows, tuple(x.shape[2:]), tuple(result.shape[2:]), more)
    result = padded(f, result, [(0, 0), (0, 0), *sides])
    if node.has(2):
        result = result + f.reshape(node[2], (1, -1, *[1] * len(kernel)))
    return result


def _cut(
    node: Node,
    windows: Windows,
    extents: tuple[int, ...],
    whole: tuple[int, ...],
    more: list[int],
) -> Sides:
    """Return how many elements are to be added on both sides of a result; fewer than none: cut."""
    automatic = node.get("auto_pad", "NOTSET")
    wanted = node.get("output_shape")
    if wanted is None and automatic.startswith("SAME"):
        wanted = [one * stride for one, stride in zip(extents, windows.strides, strict=True)]
    if wanted is None:
        rows = zip(windows.pads, more, strict=True)
        return [(-before, extra - after) for (before, after), extra in rows]
    sides = []
    for size, extra, out in zip(whole, more, wanted[-len(whole) :], strict=True):
        total = size + extra - out
        before, after = _halves(total, automatic == "SAME_UPPER") if total > 0 else (0, total)
        sides.append((-before, extra - after))
    return sides


# --- pooling ---


def _pool_windows(node: Node) -> tuple[Windows, Sides]:
    """Return the windows, and how far the input must reach that all of them are whole.

    With ``ceil_mode`` the last window may reach beyond the pads, but not begin there.
    """
    extents = tuple(node[0].shape[2:])
    windows = _windows(node, extents, tuple(node.get("kernel_shape")))
    needed = []
    rows = zip(extents, windows.pads, windows.spans, windows.strides, strict=True)
    for extent, (before, after), span, stride in rows:
        room = extent + before + after - span
        steps = room // stride
        if node.get("ceil_mode", 0):
            steps = -(-room // stride)
            steps -= steps * stride >= extent + before
        needed.append((before, steps * stride + span - extent - before))
    return windows, needed


def _patches(f: Any, x: Any, windows: Windows) -> Any:
    """Return all windows of an input without pads, whose elements lie along the last axis."""
    rank = len(windows.kernel)
    counts = []
    for axis in range(rank):
        place = 2 + 2 * axis
        count = (x.shape[place] - windows.spans[axis]) // windows.strides[axis] + 1
        rows = onp.arange(count)[:, None] * windows.strides[axis]
        columns = onp.arange(windows.kernel[axis])[None] * windows.dilations[axis]
        x = f.take(x, f.value(rows + columns), axis=place)
        counts.append(count)
    order = (0, 1, *range(2, 2 + 2 * rank, 2), *range(3, 3 + 2 * rank, 2))
    x = f.transpose(x, order)
    return f.reshape(x, (*x.shape[: 2 + rank], math.prod(windows.kernel)))


def _pooled(node: Node, x: Any, windows: Windows, sides: Sides, kind: str, around: Any) -> Any:
    """Return the greatest of windows, or their sums, with that number around the input."""
    f = node.f
    is_plain = is_float(x) and all(dilation == 1 for dilation in windows.dilations)
    pads = tuple(before for before, _ in windows.pads)
    reaches = zip(sides, windows.pads, strict=True)
    if not windows.is_even or any(side[1] > pad[1] for side, pad in reaches) or not is_plain:
        x, pads = padded(f, x, [(0, 0), (0, 0), *sides], "constant", around), (0,) * len(pads)
    if not is_plain:
        return getattr(f, kind)(_patches(f, x, windows), axis=-1)
    given = {"kernel": windows.kernel, "stride": windows.strides, "pad": pads}
    return f.pooling(x, pool_type=kind, **given)


@imports("MaxPool")
def _max_pool(node: Node) -> Any:
    x = node[0]
    windows, sides = _pool_windows(node)
    least = -math.inf if is_float(x) else int(onp.iinfo(dtype_of(x)).min)
    found = _pooled(node, x, windows, sides, "max", least)
    if node.count < 2:
        return found
    return found, _places_of_greatest(node, windows, sides, least)


def _places_of_greatest(node: Node, windows: Windows, sides: Sides, least: Any) -> Any:
    """Return where in the input the greatest of each window is, all elements counted."""
    x = node.host(0)
    extents = x.shape[2:]
    numbers = onp.arange(x.size).reshape(x.shape)
    if node.get("storage_order", 0):
        rows = onp.arange(math.prod(extents)).reshape(extents[::-1]).T
        planes = onp.arange(math.prod(x.shape[:2])).reshape(x.shape[:2])
        numbers = planes[(..., *[None] * len(extents))] * rows.size + rows
    every = [(0, 0), (0, 0), *sides]
    host = node.on_host().f
    values = _patches(host, padded(host, x, every, "constant", least), windows)
    places = _patches(host, padded(host, numbers, every, "constant", -1), windows)
    values = onp.where(places < 0, least, values)
    first = onp.expand_dims(onp.argmax(values, axis=-1), -1)
    return onp.take_along_axis(places, first, -1)[..., 0].astype("int64")


@imports("AveragePool")
def _average_pool(node: Node) -> Any:
    x = node[0]
    windows, sides = _pool_windows(node)
    total = _pooled(node, x, windows, sides, "sum", 0)
    counted = onp.ones((1, 1, *x.shape[2:]))
    inside = windows.pads if node.get("count_include_pad", 0) else [(0, 0)] * len(sides)
    counted = onp.pad(counted, [(0, 0), (0, 0), *inside], constant_values=1)
    rest = [
        (before - own, max(after - further, 0))
        for (before, after), (own, further) in zip(sides, inside, strict=True)
    ]
    counted = onp.pad(counted, [(0, 0), (0, 0), *rest])
    host = node.on_host().f
    lengths = [size + sum(side) for size, side in zip(x.shape[2:], sides, strict=True)]
    counted = counted[(slice(None), slice(None), *map(slice, lengths))]
    counts = _patches(host, counted, windows).sum(-1)
    if (counts == counts.flat[0]).all():
        return node.f.cast(total / float(counts.flat[0]), dtype_of(x))
    return node.f.cast(total / node.f.value(counts.astype(dtype_of(x))), dtype_of(x))


@imports("LpPool")
def _lp_pool(node: Node) -> Any:
    x, power = node[0], node.get("p", 2)
    windows, sides = _pool_windows(node)
    return _pooled(node, node.f.abs(x) ** power, windows, sides, "sum", 0) ** (1 / power)


def _space(node: Node) -> tuple[int, ...]:
    return tuple(range(2, len(node[0].shape)))


@imports("GlobalAveragePool")
def _global_average_pool(node: Node) -> Any:
    x = node[0]
    if node.f.is_host or not 3 <= len(x.shape) <= 5:
        return node.f.mean(x, axis=_space(node), keepdims=True)
    kernel = (1,) * (len(x.shape) - 2)
    return node.f.pooling(x, kernel=kernel, pool_type="avg", global_pool=True)


@imports("GlobalMaxPool")
def _global_max_pool(node: Node) -> Any:
    return node.f.max(node[0], axis=_space(node), keepdims=True)


@imports("GlobalLpPool")
def _global_lp_pool(node: Node) -> Any:
    power = node.get("p", 2)
    total = node.f.sum(node.f.abs(node[0]) ** power, axis=_space(node), keepdims=True)
    return total ** (1 / power)


@imports("MaxRoiPool")
def _max_roi_pool(node: Node) -> Any:
    return node.f.roi_pooling(
        node[0],
        node[1],
        pooled_size=tuple(node.get("pooled_shape")),
        spatial_scale=node.get("spatial_scale", 1.0),
    )


@imports("MaxUnpool", on_host=True)
def _max_unpool(node: Node) -> Any:
    """Put values where they came from. The places count within the extents that pads leave."""
    x, places = node[0], node[1]
    windows = _windows(node, x.shape[2:], tuple(node.get("kernel_shape")))
    rows = zip(x.shape[2:], windows.strides, windows.kernel, windows.pads, strict=True)
    natural = [(extent - 1) * stride + size - sum(pads) for extent, stride, size, pads in rows]
    flat = onp.zeros(math.prod(x.shape[:2]) * math.prod(natural), x.dtype)
    flat[places.ravel()] = x.ravel()
    found = flat.reshape(*x.shape[:2], *natural)
    if not node.has(2):
        return found
    shape = tuple(node.numbers(2) or ())
    whole = onp.zeros(shape, x.dtype)
    whole[tuple(slice(extent) for extent in found.shape)] = found
    return whole


@imports("Col2Im", on_host=True)
def _col2im(node: Node) -> Any:
    """Add up windows, which lie in columns, at their places in an image."""
    x, image, block = node[0], node.numbers(1) or [], tuple(node.numbers(2) or ())
    windows = _windows(node, tuple(image), block)
    wide = [extent + sum(pads) for extent, pads in zip(image, windows.pads, strict=True)]
    counts = [
        (extent - span) // stride + 1
        for extent, span, stride in zip(wide, windows.spans, windows.strides, strict=True)
    ]
    depth = x.shape[1] // math.prod(block)
    columns = x.reshape(len(x), depth, *block, *counts)
    found = onp.zeros((len(x), depth, *wide), x.dtype)
    for offset in itertools.product(*map(range, block)):
        rows = zip(offset, windows.dilations, windows.strides, counts, strict=True)
        key = tuple(
            slice(place * dilation, place * dilation + stride * (count - 1) + 1, stride)
            for place, dilation, stride, count in rows
        )
        found[(slice(None), slice(None), *key)] += columns[(slice(None), slice(None), *offset)]
    inner = tuple(
        slice(before, before + extent)
        for (before, _), extent in zip(windows.pads, image, strict=True)
    )
    return found[(slice(None), slice(None), *inner)]


@imports("DeformConv", on_host=True)
def _deform_conv(node: Node) -> Any:
    """A convolution whose windows take their elements from moved places, between pixels too."""
    x, weight, offsets = node[0], node[1], node[2]
    count, depth, height, width = x.shape
    kernel = tuple(weight.shape[2:])
    windows = _windows(node, (height, width), kernel)
    out = tuple(offsets.shape[2:])
    groups, parts = node.get("group", 1), node.get("offset_group", 1)
    size = math.prod(kernel)
    moved = offsets.reshape(count, parts, size, 2, *out)
    mask = node[4].reshape(count, parts, size, *out) if node.has(4) else onp.ones(1)
    base = []
    for axis in range(2):
        starts = onp.arange(out[axis]) * windows.strides[axis] - windows.pads[axis][0]
        steps = onp.arange(kernel[axis]) * windows.dilations[axis]
        base.append(steps[:, None] + starts)
    rows = base[0][:, None, :, None] + onp.zeros((kernel[0], kernel[1], *out))
    columns = base[1][None, :, None, :] + onp.zeros((kernel[0], kernel[1], *out))
    y = moved[:, :, :, 0] + rows.reshape(size, *out)
    z = moved[:, :, :, 1] + columns.reshape(size, *out)
    images = x.reshape(count, parts, depth // parts, height, width)
    samples = onp.arange(count)[:, None, None, None, None]
    part = onp.arange(parts)[None, :, None, None, None]
    total: Any = 0
    for above, left in itertools.product((0, 1), (0, 1)):
        i, j = onp.floor(y) + above, onp.floor(z) + left
        share = (1 - abs(y - i)) * (1 - abs(z - j))
        inside = (i >= 0) & (i < height) & (j >= 0) & (j < width)
        i, j = (onp.clip(one, 0, end - 1).astype(int) for one, end in ((i, height), (j, width)))
        taken = images[samples, part, :, i, j]  # sample, part, place, row, column, channel
        total = total + taken * (share * inside)[..., None]
    total = onp.moveaxis(total * mask[..., None], -1, 2)
    total = total.reshape(count, groups, depth // groups * size, math.prod(out))
    filters = weight.reshape(groups, len(weight) // groups, -1)
    result = onp.einsum("gfk,ngkp->ngfp", filters, total).reshape(count, len(weight), *out)
    if node.has(3):
        result = result + node[3][:, None, None]
    return result.astype(x.dtype)
