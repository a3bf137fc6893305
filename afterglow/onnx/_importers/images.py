# SPDX-License-Identifier: Apache-2.0
"""Images in other sizes, parts of images, boxes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as onp

from .graph import Node
from .registry import imports
from .values import HOSTS, dtype_of, rounded

Host = onp.ndarray[Any, Any]


# --- sizes ---


def _coordinates(node: Node, out: int, extent: int, scale: float, roi: tuple[float, float]) -> Host:
    """Return where in the input each element of the output lies along an axis."""
    old = "asymmetric" if node.version < 11 else "half_pixel"
    places, exact = onp.arange(out, dtype="float64"), scale * extent
    match node.get("coordinate_transformation_mode", old):
        case "asymmetric":
            return places / scale
        case "align_corners":
            return places * (extent - 1) / (exact - 1) if exact != 1 else 0 * places
        case "pytorch_half_pixel":
            return (places + 0.5) / scale - 0.5 if exact > 1 else 0 * places
        case "half_pixel_symmetric":
            middle = extent / 2
            return middle * (1 - out / exact) + (places + 0.5) / scale - 0.5
        case "tf_half_pixel_for_nn":
            return (places + 0.5) / scale
        case "tf_crop_and_resize":
            begin, end = roi
            if exact > 1:
                return begin * (extent - 1) + places * (end - begin) * (extent - 1) / (exact - 1)
            return 0.5 * (begin + end) * (extent - 1) + 0 * places
        case _:
            return (places + 0.5) / scale - 0.5


_ROUNDED: dict[str, Callable[[Host], Host]] = {
    "round_prefer_floor": lambda x: onp.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: onp.floor(x + 0.5),
    "floor": onp.floor,
    "ceil": onp.ceil,
}


def _cubic(f: Any, x: Any, a: float) -> Any:
    """Return the weights of four neighbours at these distances."""
    x = f.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return f.where(x <= 1, near, f.where(x < 2, far, 0 * x))


def _weights(node: Node, places: Host, extent: int, scale: float, mode: str) -> Host:
    """Return the matrix that makes the output of the input along an axis."""
    wide = min(scale, 1.0) if node.get("antialias", 0) else 1.0
    reach = 1 if mode == "linear" else 2
    first = math.floor(-reach / wide) + 1
    base = onp.floor(places)
    neighbours = base[:, None] + onp.arange(first, 2 - first)
    distances = (neighbours - places[:, None]) * wide
    if mode == "linear":
        shares = onp.clip(1 - onp.abs(distances), 0, 1)
    else:
        shares = _cubic(HOSTS, distances, node.get("cubic_coeff_a", -0.75))
    if node.get("exclude_outside", 0):
        shares = shares * ((neighbours >= 0) & (neighbours < extent))
    shares = shares / shares.sum(1, keepdims=True)
    inside = onp.clip(neighbours, 0, extent - 1).astype(int)
    matrix = onp.zeros((len(places), extent))
    onp.add.at(matrix, (onp.arange(len(places))[:, None], inside), shares)
    return matrix


def _sizes(node: Node, axes: list[int]) -> list[tuple[int, float]]:
    """Return for each axis how many elements there will be, and the scale."""
    shape = node[0].shape
    index = 1 if node.version < 11 else 2
    scales = node.numbers(index, "scales")
    wanted = node.numbers(3)
    if not wanted:
        return [
            (math.floor(shape[axis] * scale), scale)
            for axis, scale in zip(axes, scales or (), strict=True)
        ]
    exact = [size / shape[axis] for size, axis in zip(wanted, axes, strict=True)]
    policy = node.get("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return list(zip(wanted, exact, strict=True))
    scale = min(exact) if policy == "not_larger" else max(exact)
    return [(math.floor(shape[axis] * scale + 0.5), scale) for axis in axes]


@imports("Resize", "Upsample")
def _resize(node: Node) -> Any:
    """Along one axis after the other: by indices, or by products with matrices of weights."""
    f, x = node.f, node[0]
    rank, dtype = len(x.shape), dtype_of(node[0])
    axes = [axis % rank for axis in node.get("axes") or range(rank)]
    sizes = _sizes(node, axes)
    roi = node.numbers(1) if node.version >= 11 and node.has(1) else None
    roi = roi or [0.0] * len(axes) + [1.0] * len(axes)
    mode = node.get("mode", "nearest")
    is_cropped = node.get("coordinate_transformation_mode") == "tf_crop_and_resize"
    outside: Host = onp.zeros([1] * rank, bool)
    for number, (axis, (out, scale)) in enumerate(zip(axes, sizes, strict=True)):
        extent = x.shape[axis]
        span = (roi[number], roi[number + len(axes)])
        places = _coordinates(node, out, extent, scale, span)
        if is_cropped:
            beyond = (places < 0) | (places > extent - 1)
            outside = outside | beyond.reshape([-1] + [1] * (rank - 1 - axis))
        if out == extent and onp.array_equal(places, onp.arange(out)):
            continue
        if mode == "nearest":
            old = "floor" if node.version < 11 else "round_prefer_floor"
            nearest = _ROUNDED[node.get("nearest_mode", old)](places)
            nearest = onp.clip(nearest, 0, extent - 1).astype("int64")
            x = f.take(x, f.value(nearest), axis=axis)
        else:
            matrix = _weights(node, places, extent, scale, mode.removeprefix("bi"))
            kind = dtype if dtype.kind == "f" else "float32"
            last = f.cast(f.moveaxis(x, axis, -1), kind)
            product = f.matmul(last, f.value(onp.asarray(matrix.T, kind, order="C")))
            x = f.moveaxis(product, -1, axis)
    if outside.any():
        value = node.get("extrapolation_value", 0.0)
        x = f.where(f.value(onp.broadcast_to(outside, x.shape).copy()), f.full_like(x, value), x)
    return f.cast(x, dtype)


@imports("ImageDecoder", on_host=True)
def _image_decoder(node: Node) -> Any:
    """Pixels of a picture; needs OpenCV."""
    from ..._formats.pictures import decode  # here: it looks for OpenCV

    form = node.get("pixel_format", "RGB")
    pixels = decode(node[0].tobytes(), int(form != "Grayscale"), "[onnx] the input of ImageDecoder")
    if form == "Grayscale":
        return pixels[..., None]
    return pixels[..., ::-1].copy() if form == "RGB" else pixels


# --- places between pixels ---


def _reflected(f: Any, x: Any, low: float, high: float) -> Any:
    """Return places in a range, at whose ends they turn round."""
    span = high - low
    if span == 0:
        return 0 * x + low
    turn = f.mod(f.abs(x - low), 2 * span)
    return low + f.where(turn > span, 2 * span - turn, turn)


@imports("GridSample")
def _grid_sample(node: Node) -> Any:
    """Take elements at places that a grid names, from -1 to 1 along each axis."""
    f, x, grid = node.f, node[0], node[1]
    aligned, padding = bool(node.get("align_corners", 0)), node.get("padding_mode", "zeros")
    mode = node.get("mode", "linear").removeprefix("bi")
    extents = x.shape[2:]
    ends = [(0.0, one - 1.0) if aligned else (-0.5, one - 0.5) for one in extents]
    places = []
    for axis, (extent, (low, high)) in enumerate(zip(extents, ends, strict=True)):
        place = grid[(slice(None),) * (len(extents) + 1) + (len(extents) - 1 - axis,)]
        place = (place + 1) / 2 * (extent - 1) if aligned else ((place + 1) * extent - 1) / 2
        place = rounded(f, place) if mode == "nearest" else place
        if padding == "border":
            place = f.clip(place, 0, extent - 1)
        elif padding == "reflection":
            inside = f.logical_and(place >= low, place <= high)
            place = f.where(inside, place, _reflected(f, place, low, high))
        places.append(place)
    count, depth = x.shape[:2]
    rows = f.reshape(f.moveaxis(x, 1, -1), (-1, depth))
    first = onp.arange(count).reshape(-1, *[1] * len(extents)) * math.prod(extents)

    def pixels(index: list[Any], share: Any) -> Any:
        """Return pixels, of which those outside are others, or zeros, times their shares."""
        row: Any = f.value(first)
        for axis, (place, extent, (low, high)) in enumerate(zip(index, extents, ends, strict=True)):
            if padding == "reflection":
                place = _reflected(f, place, low, high)
            elif padding == "zeros":
                inside = f.logical_and(place >= 0, place <= extent - 1)
                share = share * f.cast(inside, dtype_of(x))
            whole = f.cast(f.clip(place, 0, extent - 1), "int64")
            row = row + whole * math.prod(extents[axis + 1 :])
        return f.take(rows, row, axis=0) * f.expand_dims(share, -1)

    total: Any = 0
    steps = {"nearest": (0,), "linear": (0, 1), "cubic": (-1, 0, 1, 2)}[mode]
    for offset in itertools.product(steps, repeat=len(extents)):
        index: list[Any] = []
        share: Any = f.ones_like(places[0])
        for place, step in zip(places, offset, strict=True):
            near = place if mode == "nearest" else f.floor(place) + step
            if mode == "linear":
                share = share * (1 - f.abs(place - near))
            elif mode == "cubic":
                share = share * _cubic(f, place - near, -0.75)
            index.append(near)
        total = total + pixels(index, share)
    return f.cast(f.moveaxis(total, -1, 1), dtype_of(x))


@imports("RoiAlign", on_host=True)
def _roi_align(node: Node) -> Any:
    """Means, or the greatest, of points inside of boxes, each of which becomes a small image."""
    x, boxes, images = node[0], node[1].astype("float64"), node[2]
    height, width = x.shape[2:]
    out = (node.get("output_height", 1), node.get("output_width", 1))
    ratio, scale = node.get("sampling_ratio", 0), node.get("spatial_scale", 1.0)
    default = "half_pixel" if node.version >= 16 else "output_half_pixel"
    is_half = node.get("coordinate_transformation_mode", default) == "half_pixel"
    found = onp.zeros((len(boxes), x.shape[1], *out))
    for number, box in enumerate(boxes):
        left, top, right, bottom = box * scale - 0.5 * is_half
        sizes = [bottom - top, right - left]
        if not is_half:
            sizes = [max(size, 1.0) for size in sizes]
        points = []
        for start, size, count in zip((top, left), sizes, out, strict=True):
            each = ratio if ratio > 0 else math.ceil(size / count)
            steps = (onp.arange(each) + 0.5) / each
            points.append(start + (onp.arange(count)[:, None] + steps) * size / count)
        rows, columns = points[0][:, :, None, None], points[1][None, None]
        corners = _corners(x[images[number]], rows, columns, height, width)
        if node.get("mode", "avg") == "avg":
            found[number] = sum(corners).mean(axis=(2, 4))  # type: ignore[union-attr]
        else:
            found[number] = onp.max(corners, axis=0).max(axis=(2, 4))
    return found.astype(x.dtype)


def _corners(image: Host, rows: Host, columns: Host, height: int, width: int) -> list[Host]:
    """Return the shares that four pixels have in each point."""
    inside = (rows >= -1) & (rows <= height) & (columns >= -1) & (columns <= width)
    y, z = onp.clip(rows, 0, height - 1), onp.clip(columns, 0, width - 1)
    i, j = onp.floor(y).astype(int), onp.floor(z).astype(int)
    shares = []
    for below, right in itertools.product((0, 1), (0, 1)):
        row, column = onp.minimum(i + below, height - 1), onp.minimum(j + right, width - 1)
        share = abs(1 - below - (y - i)) * abs(1 - right - (z - j))
        shares.append(image[:, row, column] * (share * inside))
    return shares


@imports("NonMaxSuppression", on_host=True)
def _non_max_suppression(node: Node) -> Any:
    """Return the best boxes that do not cover each other: image, class and number of each."""
    boxes, scores = node[0], node[1]
    most = int(node.number(2, 0))
    overlap, least = node.number(3, 0.0), node.number(4, -math.inf)
    if node.get("center_point_box", 0):
        middle, half = boxes[..., :2], boxes[..., 2:] / 2
        low, high = middle - half, middle + half
    else:
        low = onp.minimum(boxes[..., :2], boxes[..., 2:])
        high = onp.maximum(boxes[..., :2], boxes[..., 2:])
    area = (high - low).prod(-1)
    found = []
    for image, kind in itertools.product(range(scores.shape[0]), range(scores.shape[1])):
        kept: list[int] = []
        for one in onp.argsort(-scores[image, kind], kind="stable").tolist():
            if len(kept) >= most or scores[image, kind, one] <= least:
                break
            common = onp.minimum(high[image, kept], high[image, one]) - onp.maximum(
                low[image, kept], low[image, one]
            )
            shared = onp.clip(common, 0, None).prod(-1)
            union = area[image, kept] + area[image, one] - shared
            if not onp.any(shared > overlap * union):
                kept.append(one)
        found += [(image, kind, one) for one in kept]
    return onp.asarray(found, "int64").reshape(-1, 3)
