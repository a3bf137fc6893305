# SPDX-License-Identifier: Apache-2.0
"""Boxes in images: anchors, which object each of them is for, and what is found in the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from afterglow import np

from .._figures import pyplot

__all__ = [
    "assign_anchor_to_bbox",
    "bbox_to_rect",
    "box_center_to_corner",
    "box_corner_to_center",
    "box_iou",
    "multibox_detection",
    "multibox_prior",
    "multibox_target",
    "nms",
    "offset_boxes",
    "offset_inverse",
    "show_bboxes",
]

#: Offsets of centres and the logarithms of sizes are multiplied by these.
_CENTERS, _SIZES = 10, 5


def box_corner_to_center(boxes: Any) -> Any:
    """Return boxes (left, top, right, bottom) as (centre x, centre y, width, height)."""
    low, high = boxes[:, :2], boxes[:, 2:]
    return np.concatenate([(low + high) / 2, high - low], axis=-1)


def box_center_to_corner(boxes: Any) -> Any:
    """Return boxes (centre x, centre y, width, height) as (left, top, right, bottom)."""
    center, half = boxes[:, :2], boxes[:, 2:] / 2
    return np.concatenate([center - half, center + half], axis=-1)


def bbox_to_rect(bbox: Sequence[float], color: str) -> Any:
    """Return a box as a rectangle of Matplotlib's."""
    left, top, right, bottom = (float(one) for one in bbox)
    return pyplot().Rectangle(
        xy=(left, top),
        width=right - left,
        height=bottom - top,
        fill=False,
        edgecolor=color,
        linewidth=2,
    )


def show_bboxes(axes: Any, bboxes: Any, labels: Any = None, colors: Any = None) -> None:
    """Draw boxes with their labels."""

    def listed(value: Any, default: Sequence[str]) -> Sequence[str]:
        if value is None:
            return default
        return value if isinstance(value, (list, tuple)) else [value]

    names, palette = listed(labels, ()), listed(colors, "bgrmc")
    for number, bbox in enumerate(bboxes):
        color = palette[number % len(palette)]
        rect = bbox_to_rect(bbox.asnumpy() if hasattr(bbox, "asnumpy") else bbox, color)
        axes.add_patch(rect)
        if number < len(names):
            axes.text(
                *rect.xy,
                names[number],
                va="center",
                ha="center",
                fontsize=9,
                color="k" if color == "w" else "w",
                bbox={"facecolor": color, "lw": 0},
            )


def multibox_prior(data: Any, sizes: Sequence[float], ratios: Sequence[float]) -> Any:
    """Return boxes around each pixel: of each size, and of the first one in each further ratio."""
    height, width = data.shape[-2:]
    y, x = numpy.meshgrid(
        (numpy.arange(height) + 0.5) / height, (numpy.arange(width) + 0.5) / width, indexing="ij"
    )
    shapes = [(size, ratios[0]) for size in sizes] + [(sizes[0], ratio) for ratio in ratios[1:]]
    halves = [
        (size * ratio**0.5 * height / width / 2, size / ratio**0.5 / 2) for size, ratio in shapes
    ]
    centers = numpy.stack([x, y, x, y], -1).reshape(-1, 1, 4)
    corners = numpy.array([[-w, -h, w, h] for w, h in halves])
    return np.array((centers + corners).reshape(1, -1, 4), dtype="float32", ctx=data.context)


def box_iou(boxes1: Any, boxes2: Any) -> Any:
    """Return the shares of pairs of boxes that both have in common."""

    def areas(boxes: Any) -> Any:
        return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])

    first = np.expand_dims(boxes1, 1)
    low = np.maximum(first[:, :, :2], boxes2[:, :2])
    high = np.minimum(first[:, :, 2:], boxes2[:, 2:])
    sides = (high - low).clip(0, None)
    common = sides[:, :, 0] * sides[:, :, 1]
    return common / (np.expand_dims(areas(boxes1), 1) + areas(boxes2) - common)


def assign_anchor_to_bbox(
    ground_truth: Any, anchors: Any, device: Any, iou_threshold: float = 0.5
) -> Any:
    """Return the number of the object that each anchor is for, or -1.

    Each object has the anchor that fits it best; others go to what they fit well enough.
    """
    overlaps = box_iou(anchors, ground_truth).asnumpy()
    best = overlaps.argmax(1)
    chosen = numpy.where(overlaps.max(1) >= iou_threshold, best, -1)
    for _ in range(ground_truth.shape[0]):
        anchor, truth = numpy.unravel_index(overlaps.argmax(), overlaps.shape)
        chosen[anchor] = truth
        overlaps[anchor], overlaps[:, truth] = -1, -1
    return np.array(chosen, dtype="int32", ctx=device)


def offset_boxes(anchors: Any, assigned_bb: Any, eps: float = 1e-6) -> Any:
    """Return what has to be done to anchors to make them the boxes of their objects."""
    here, there = box_corner_to_center(anchors), box_corner_to_center(assigned_bb)
    centers = _CENTERS * (there[:, :2] - here[:, :2]) / here[:, 2:]
    sizes = _SIZES * np.log(eps + there[:, 2:] / here[:, 2:])
    return np.concatenate([centers, sizes], axis=1)


def offset_inverse(anchors: Any, offset_preds: Any) -> Any:
    """Return the boxes that offsets make of anchors."""
    here = box_corner_to_center(anchors)
    centers = offset_preds[:, :2] * here[:, 2:] / _CENTERS + here[:, :2]
    sizes = np.exp(offset_preds[:, 2:] / _SIZES) * here[:, 2:]
    return box_center_to_corner(np.concatenate([centers, sizes], axis=1))


def multibox_target(anchors: Any, labels: Any) -> tuple[Any, Any, Any]:
    """Return offsets, a mask of what counts of them, and classes, of which 0 is the background."""
    anchors = anchors.squeeze(0) if anchors.ndim == 3 else anchors
    device = anchors.context
    offsets, masks, classes = [], [], []
    for label in labels:
        chosen = assign_anchor_to_bbox(label[:, 1:], anchors, device)
        inside = (chosen >= 0).astype("float32")
        mask = np.tile(np.expand_dims(inside, 1), (1, 4))
        objects = label[np.maximum(chosen, 0)]
        # What is not for an object is compared with itself.
        boxes = np.where(mask > 0, objects[:, 1:], anchors)
        offsets.append((offset_boxes(anchors, boxes) * mask).reshape(-1))
        masks.append(mask.reshape(-1))
        classes.append(((objects[:, 0] + 1) * inside).astype("int32"))
    return np.stack(offsets), np.stack(masks), np.stack(classes)


def nms(boxes: Any, scores: Any, iou_threshold: float) -> Any:
    """Return the numbers of boxes, best first, that do not overlap a better one too much."""
    overlaps = box_iou(boxes, boxes).asnumpy()
    left = numpy.argsort(-scores.asnumpy(), kind="stable")
    keep = []
    while left.size:
        best, *_ = left
        keep.append(best)
        left = left[1:][overlaps[best, left[1:]] <= iou_threshold]
    return np.array(keep, dtype=np.int32, ctx=boxes.context)


def multibox_detection(
    cls_probs: Any,
    offset_preds: Any,
    anchors: Any,
    nms_threshold: float = 0.5,
    pos_threshold: float = 0.009999999,
) -> Any:
    """Return rows (class, probability, box), those that are kept first; others have class -1."""
    anchors = anchors.squeeze(0) if anchors.ndim == 3 else anchors
    results = []
    for probabilities, offsets in zip(cls_probs, offset_preds, strict=True):
        best, kind = probabilities[1:].max(0), probabilities[1:].argmax(0)
        boxes = offset_inverse(anchors, offsets.reshape((-1, 4)))
        keep = nms(boxes, best, nms_threshold).asnumpy()
        others = numpy.setdiff1d(numpy.arange(len(best)), keep)
        order = np.array(numpy.concatenate([keep, others]), dtype="int32", ctx=boxes.context)
        best, boxes = best[order], boxes[order]
        kind = kind[order].astype("float32")
        kind[len(keep) :] = -1
        weak = best < pos_threshold
        kind, best = np.where(weak, -1, kind), np.where(weak, 1 - best, best)
        columns = [np.expand_dims(kind, 1), np.expand_dims(best, 1), boxes]
        results.append(np.concatenate(columns, axis=1))
    return np.stack(results)
