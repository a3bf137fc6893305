# SPDX-License-Identifier: Apache-2.0
"""Calls of ops of detection, attention and unaligned sequences, as MXNet is asked and Afterglow.

Needs NumPy alone. Numbers come from ``RandomState``, whose streams never change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as onp

Host = onp.ndarray[Any, Any]

#: Ops whose parameters are compared with those that MXNet describes.
OPS = (
    "CTCLoss",
    "IdentityAttachKLSparseReg",
    "_contrib_MultiBoxDetection",
    "_contrib_MultiBoxPrior",
    "_contrib_MultiBoxTarget",
    "_contrib_MultiProposal",
    "_contrib_Proposal",
    "_contrib_bipartite_matching",
    "_contrib_box_decode",
    "_contrib_box_encode",
    "_contrib_box_iou",
    "_contrib_box_nms",
    "_contrib_interleaved_matmul_encdec_qk",
    "_contrib_interleaved_matmul_encdec_valatt",
    "_contrib_interleaved_matmul_selfatt_qk",
    "_contrib_interleaved_matmul_selfatt_valatt",
)


@dataclass
class Case:
    """A call: of which function, with which arrays and arguments, and whose gradients count."""

    function: str
    arrays: list[Host]
    arguments: dict[str, Any] = field(default_factory=dict)
    variables: int = 0  #: so many of the first arrays
    by_name: tuple[str, ...] = ()  #: the last arrays
    is_exact: bool = True  #: to the bit


def _numbers(seed: int, *shape: int) -> Host:
    return onp.random.RandomState(seed).randn(*shape).astype("float32")


def _boxes(random: onp.random.RandomState, *shape: int, grid: int | None = None) -> Host:
    """Return boxes by their edges; on a coarse grid many of them are alike."""
    one, other = random.rand(*shape, 2), random.rand(*shape, 2)
    edges = onp.concatenate([onp.minimum(one, other), onp.maximum(one, other)], -1)
    return (onp.round(edges * grid) / grid if grid else edges).astype("float32")


def _priors() -> list[Case]:
    several = tuple(0.05 * k for k in range(1, 12))
    return [
        Case("contrib.MultiBoxPrior", [onp.zeros(shape, "float32")], arguments)
        for shape, arguments in (
            ((1, 3, 2, 3), {}),
            ((2, 1, 3, 3), {"sizes": (0.5, 0.25), "ratios": (1, 2, 0.5)}),
            ((1, 1, 5, 2), {"sizes": (0.3,), "ratios": (1.5,), "clip": True}),
            ((1, 1, 2, 2), {"sizes": (0.3, 0.7), "steps": (0.3, 0.4), "offsets": (0.1, 0.9)}),
            ((1, 1, 1, 1), {"sizes": several, "ratios": several}),
        )
    ]


def _of_anchors(seed: int, grid: int | None, count: int) -> list[Case]:
    random = onp.random.RandomState(seed)
    anchors = _boxes(random, 1, count, grid=grid)
    label = onp.concatenate([random.randint(0, 3, (3, 4, 1)), _boxes(random, 3, 4, grid=grid)], -1)
    label = label.astype("float32")
    label[1, 2:] = label[2] = -1
    scores = onp.round(random.randn(3, 4, count), 1).astype("float32")
    shares = random.rand(2, 4, count)
    shares = (onp.round(shares * 5) / 5 if grid else shares).astype("float32")
    moves = _numbers(seed, 2, 4 * count)
    mining = {"negative_mining_ratio": 1.5, "negative_mining_thresh": 0.6}
    cases = [
        Case("contrib.MultiBoxTarget", [anchors, label, scores], arguments)
        for arguments in (
            {},
            {"overlap_threshold": 0.3, "ignore_label": -5, "minimum_negative_samples": 2, **mining},
            {"overlap_threshold": -1, "variances": (0.3, 0.2, 0.1, 1.0)},
        )
    ]
    return cases + [
        Case("contrib.MultiBoxDetection", [shares, moves, anchors], arguments)
        for arguments in (
            {},
            {"nms_threshold": 0.2, "threshold": 0.5, "clip": False, "force_suppress": True},
            {"nms_topk": 4, "nms_threshold": 0.3, "variances": (0.5, 0.5, 0.5, 0.5)},
            {"nms_threshold": 0, "threshold": 0.8},
        )
    ]


def _of_boxes(seed: int, grid: int | None, count: int) -> list[Case]:
    random = onp.random.RandomState(seed)
    scores = random.rand(2, count, 1) * 1.2 - 0.2
    parts = [
        random.randint(-1, 3, (2, count, 1)),
        onp.round(scores * 6) / 6 if grid else scores,
        _boxes(random, 2, count, grid=grid),
    ]
    data = onp.concatenate(parts, -1).astype("float32")
    cases = [
        Case("contrib.box_nms", [data], arguments, variables=1)
        for arguments in (
            {},
            {"overlap_thresh": 0.2, "valid_thresh": 0.3, "id_index": 0},
            {"topk": 5, "id_index": 0, "background_id": 1, "force_suppress": True},
            {"in_format": "center", "out_format": "corner", "overlap_thresh": 0.4},
            {"out_format": "center"},
            {"topk": 0},
            {"valid_thresh": 5},
        )
    ]
    cases += [
        Case("contrib.box_iou", [data[:, :3, 2:], data[0, :, 2:]], {"format": form})
        for form in ("corner", "center")
    ]
    pairs = random.rand(2, 4, 5)
    pairs = (onp.round(pairs * 4) / 4 if grid else pairs).astype("float32")
    cases += [
        Case("contrib.bipartite_matching", [pairs], arguments)
        for arguments in (
            {"threshold": 0.1},
            {"threshold": 0.6, "is_ascend": True},
            {"threshold": 1e-12, "topk": 1},
        )
    ]
    samples, matches = random.randint(-1, 2, (2, count)), random.randint(0, 3, (2, count))
    boxes = [_boxes(random, 2, count), _boxes(random, 2, 3)]
    ways = [random.rand(4).astype("float32"), (random.rand(4) + 0.5).astype("float32")]
    arrays = [samples.astype("float32"), matches.astype("float32"), *boxes, *ways]
    cases.append(Case("contrib.box_encode", arrays))
    return cases + [
        Case("contrib.box_decode", [_numbers(seed, 2, count, 4), boxes[0][:1]], arguments)
        for arguments in (
            {},
            {"std0": 0.1, "std1": 0.2, "std2": 0.3, "std3": 0.4, "format": "corner"},
            {"clip": 0.5},
        )
    ]


def _proposals(seed: int, is_rounded: bool) -> list[Case]:
    random = onp.random.RandomState(seed)
    cases = []
    for arguments in (
        {"rpn_post_nms_top_n": 5},
        {"rpn_pre_nms_top_n": 9, "rpn_post_nms_top_n": 7, "threshold": 0.5, "output_score": True},
        {"rpn_post_nms_top_n": 4, "iou_loss": True, "output_score": True, "rpn_min_size": 4},
    ):
        for function, batch in (("Proposal", 1), ("MultiProposal", 2)):
            scores = random.rand(batch, 8, 3, 4)
            scores = (onp.round(scores * 4) / 4 if is_rounded else scores).astype("float32")
            moves = (random.randn(batch, 16, 3, 4) * 0.3).astype("float32")
            images = onp.array([[48, 64, 1], [34, 48, 1.5]], "float32")[:batch]
            anchors = {"scales": (2, 8), "ratios": (0.5, 1.5)}
            arrays = [scores, moves, images]
            cases.append(Case(f"contrib.{function}", arrays, {**anchors, **arguments}))
    return cases


def _sequences() -> list[Case]:
    data = _numbers(1, 6, 3, 5)
    label = onp.array([[1, 2, 2], [3, 1, 0], [1, 4, 2]], "float32")
    times, items = (onp.array(each, "float32") for each in ([6, 5, 4], [3, 0, 2]))
    both = ("data_lengths", "label_lengths")
    chosen: list[tuple[tuple[str, ...], list[Host], dict[str, Any]]] = [
        ((), [], {}),
        ((), [], {"blank_label": "last"}),
        (both[:1], [times], {}),
        (both[1:], [items], {}),
        (both, [times, items], {"blank_label": "last"}),
    ]
    return [
        Case(
            "CTCLoss",
            [data, label - 1 if "blank_label" in arguments else label, *lengths],
            {**arguments, **{f"use_{name}": True for name in names}},
            variables=1,
            by_name=names,
            is_exact=False,
        )
        for names, lengths, arguments in chosen
    ]


def _attention() -> list[Case]:
    cases = []
    for heads in (1, 4):
        self, other = _numbers(2, 4, 2, 24), _numbers(3, 3, 2, 48)
        for function, arrays in (
            ("selfatt_qk", [self]),
            ("selfatt_valatt", [self, _numbers(4, 2 * heads, 4, 4)]),
            ("encdec_qk", [self, other]),
            ("encdec_valatt", [other, _numbers(5, 2 * heads, 4, 3)]),
        ):
            name = f"contrib.interleaved_matmul_{function}"
            cases.append(Case(name, arrays, {"heads": heads}, len(arrays), is_exact=False))
    return [*cases, Case("contrib.div_sqrt_dim", [_numbers(6, 2, 3)], {}, 1, is_exact=False)]


def _norms() -> list[Case]:
    data = _numbers(7, 2, 6, 3)
    vectors = [_numbers(seed, 6) for seed in (8, 9)]
    moments = [_numbers(10, 6), abs(_numbers(11, 6))]
    cases = [
        Case("L2Normalization", [data], {"mode": mode, "eps": 0.1}, 1)
        for mode in ("instance", "channel", "spatial")
    ]
    cases += [
        Case("GroupNorm", [data, *(_numbers(seed, 3) for seed in (8, 9))], arguments, 3)
        for arguments in ({"num_groups": 3}, {"num_groups": 3, "output_mean_var": True, "eps": 0.1})
    ]
    cases.append(Case("InstanceNorm", [data, *vectors], {"eps": 0.1}, 3))
    for name in ("BatchNormWithReLU", "SyncBatchNorm"):
        for number, arguments in enumerate(
            ({}, {"fix_gamma": False}, {"use_global_stats": True, "fix_gamma": False})
        ):
            key = {"key": f"norm{number}"} if name == "SyncBatchNorm" else {}
            arrays = [data[:, :, :, None], *vectors, *moments]
            cases.append(Case(f"contrib.{name}", arrays, {**arguments, **key}, 3))
    for case in cases:
        case.is_exact = False
    return cases


def cases() -> list[Case]:
    """Return all calls."""
    result = [*_priors(), *_sequences(), *_attention(), *_norms()]
    for seed, grid in enumerate((None, 4, 8)):
        result += _of_anchors(seed, grid, (6, 16, 9)[seed])
        result += _of_boxes(seed, grid, (5, 9, 7)[seed])
        result += _proposals(seed, grid is not None)
    return result


def answer(library: Any, case: Case) -> dict[str, Any]:
    """Return the results of a call and the gradients of their first, as nested lists."""
    function: Any = library.nd
    for part in case.function.split("."):
        function = getattr(function, part)
    arrays = [library.nd.array(one, dtype=one.dtype) for one in case.arrays]
    given = len(arrays) - len(case.by_name)
    named = dict(zip(case.by_name, arrays[given:], strict=True))
    variables = arrays[: case.variables]
    for variable in variables:
        variable.attach_grad()
    with library.autograd.record(bool(variables)):
        results = function(*arrays[:given], **named, **case.arguments)
        results = results if isinstance(results, list) else [results]
    if variables:
        head = onp.cos(onp.arange(results[0].size)).reshape(results[0].shape)
        results[0].backward(library.nd.array(head))
    found = {"results": results, "gradients": [variable.grad for variable in variables]}
    return {
        name: [
            {"shape": list(one.shape), "values": one.asnumpy().astype(object).ravel().tolist()}
            for one in ones
        ]
        for name, ones in found.items()
    }
