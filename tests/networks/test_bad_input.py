# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the input of an op of networks raises at the call: op, shapes and rule."""

from __future__ import annotations

import re
from typing import Any

import pytest

import afterglow as mx
from afterglow import nd, np
from afterglow.error import MXNetError

Shapes = list[tuple[int, ...]]

IMAGE, WEIGHT, BIAS = (2, 4, 5, 5), (6, 4, 3, 3), (6,)
WINDOW: dict[str, Any] = {"kernel": (3, 3), "num_filter": 6}
TURNED: dict[str, Any] = {"kernel": (3, 3), "num_filter": 3}
PACKED = (84,)  # weights of an LSTM from 2 values to 3 units
LSTM: dict[str, Any] = {"mode": "lstm", "state_size": 3, "num_layers": 1}
STATE = (1, 5, 3)
ROIS = (3, 5)

#: Function of ``nd``; what is wrong; the shapes of its inputs; its arguments; part of the rule.
CASES: list[tuple[str, str, Shapes, dict[str, Any], str]] = [
    # convolutions
    ("Convolution", "kernel", [(2, 4, 2, 5), WEIGHT, BIAS], WINDOW, "exceeds data of shape"),
    ("Convolution", "rank", [(2, 4, 5), WEIGHT, BIAS], WINDOW, "does not fit the kernel"),
    ("Convolution", "groups", [(2, 5, 5, 5), WEIGHT, BIAS], {**WINDOW, "num_group": 2},
     "must be a multiple of num_group, 2"),
    ("Convolution", "filters", [IMAGE, WEIGHT, BIAS], {**WINDOW, "num_group": 4},
     "num_filter is 6; it must be a multiple of num_group, 4"),
    ("Convolution", "weight", [IMAGE, (6, 2, 3, 3), BIAS], WINDOW, "weight needs shape"),
    ("Convolution", "bias", [IMAGE, WEIGHT, (5,)], WINDOW, "bias needs shape"),
    ("Convolution", "no bias", [IMAGE, WEIGHT], WINDOW, "needs a bias"),
    ("Convolution", "layout", [IMAGE, WEIGHT, BIAS], {**WINDOW, "layout": "NHCW"}, "it must be"),
    ("Convolution", "short layout", [IMAGE, WEIGHT, BIAS], {**WINDOW, "layout": "NCW"},
     "the layout has 1 axes of space"),
    ("Convolution", "stride", [IMAGE, WEIGHT, BIAS], {**WINDOW, "stride": (0, 1)},
     "must be positive"),
    ("Convolution", "dilate", [IMAGE, WEIGHT, BIAS], {**WINDOW, "dilate": (1,)},
     "needs as many numbers"),
    ("Deconvolution", "weight", [IMAGE, (6, 4, 3, 3)], TURNED, "weight needs shape"),
    ("Deconvolution", "groups", [IMAGE, (4, 3, 3, 3)], {**TURNED, "num_group": 2},
     "must be a multiple of num_group"),
    ("Deconvolution", "adj", [IMAGE, (4, 3, 3, 3)], {**TURNED, "stride": (2, 2), "adj": (2, 0)},
     "less than the stride"),
    ("Deconvolution", "target", [IMAGE, (4, 3, 3, 3)], {**TURNED, "target_shape": (99, 9)},
     "at most 7 places"),
    ("Deconvolution", "pad", [(2, 4, 1, 1), (4, 3, 3, 3)], {**TURNED, "pad": (2, 2)},
     "leaves nothing"),
    ("contrib.DeformableConvolution", "offset", [IMAGE, (2, 17, 3, 3), WEIGHT, BIAS], WINDOW,
     "offset needs shape"),
    ("contrib.ModulatedDeformableConvolution", "mask",
     [IMAGE, (2, 18, 3, 3), (2, 8, 3, 3), WEIGHT, BIAS], WINDOW, "mask needs shape"),
    # windows and samplers
    ("Pooling", "kernel", [IMAGE], {"kernel": (7, 7)}, "exceeds data of shape"),
    ("Pooling", "rank", [(2, 4)], {"kernel": (2,)}, "3 to 5 dimensions"),
    ("Pooling", "type", [IMAGE], {"kernel": (2, 2), "pool_type": "median"}, "it must be 'avg'"),
    ("Pooling", "stride", [IMAGE], {"kernel": (2, 2), "stride": (0, 1)}, "must be positive"),
    ("Pooling", "layout", [IMAGE], {"kernel": (2, 2), "layout": "CHWN"}, "it must be"),
    ("Pooling", "pad", [IMAGE],
     {"kernel": (2, 2), "pad": (1, 1), "pooling_convention": "same"}, "takes no pad"),
    ("Pooling", "power", [IMAGE], {"kernel": (2, 2), "pool_type": "lp"}, "needs p_value"),
    ("contrib.AdaptiveAvgPooling2D", "rank", [(2, 4, 5)], {"output_size": 2}, "4 dimensions"),
    ("ROIPooling", "regions", [IMAGE, (3, 4)], {"pooled_size": (2, 2), "spatial_scale": 1},
     "rois"),
    ("ROIPooling", "size", [IMAGE, ROIS], {"pooled_size": (0, 2), "spatial_scale": 1},
     "a height and a width"),
    ("contrib.ROIAlign", "regions", [IMAGE, (3, 4)], {"pooled_size": (2, 2), "spatial_scale": 1},
     "rois"),
    ("UpSampling", "rank", [(2, 4, 5)], {"scale": 2, "sample_type": "nearest"}, "dimensions"),
    ("UpSampling", "weight", [IMAGE, (4, 1, 3, 3)],
     {"scale": 2, "sample_type": "bilinear", "num_filter": 4}, "weight"),
    ("contrib.BilinearResize2D", "rank", [(2, 4, 5)], {"height": 3, "width": 3}, "dimensions"),
    ("BilinearSampler", "grid", [IMAGE, (2, 3, 4, 4)], {}, "grid"),
    ("GridGenerator", "matrices", [(2, 5)],
     {"transform_type": "affine", "target_shape": (3, 3)}, "6"),
    ("SpatialTransformer", "matrices", [IMAGE, (2, 5)],
     {"transform_type": "affine", "sampler_type": "bilinear", "target_shape": (3, 3)}, "6"),
    ("Crop", "size", [IMAGE], {"h_w": (9, 3), "num_args": 1}, "must lie within the images"),
    ("Pad", "width", [IMAGE], {"mode": "edge", "pad_width": (0,) * 6}, "two numbers for each axis"),
    ("Pad", "mode", [IMAGE], {"mode": "mirror", "pad_width": (0,) * 8}, "it must be constant"),
    ("LRN", "rank", [(2, 4, 5)], {"nsize": 3}, "4 dimensions"),
    ("L2Normalization", "rank", [(2, 4)], {"mode": "channel"}, "three dimensions"),
    ("Correlation", "shapes", [IMAGE, (2, 3, 5, 5)], {}, "needs images of one shape"),
    # norms
    ("BatchNorm", "axis", [IMAGE, *[(4,)] * 4], {"axis": 5}, "axis 5"),
    ("BatchNorm", "scale", [IMAGE, (5,), *[(4,)] * 3], {}, r"needs shape \(4,\)"),
    ("LayerNorm", "axis", [IMAGE, (5,), (5,)], {"axis": 7}, "axis 7 is out of bounds"),
    ("LayerNorm", "scale", [IMAGE, (4,), (4,)], {}, r"needs shape \(5,\)"),
    ("GroupNorm", "groups", [IMAGE, (3,), (3,)], {"num_groups": 3}, "num_groups, 3, divides"),
    ("GroupNorm", "scale", [IMAGE, (4,), (4,)], {"num_groups": 2}, r"needs shape \(2,\)"),
    ("InstanceNorm", "rank", [(2, 4), (4,), (4,)], {}, "at least 3 axes"),
    ("InstanceNorm", "scale", [IMAGE, (5,), (4,)], {}, r"needs shape \(4,\)"),
    # recurrence
    ("RNN", "rank", [(4, 2), PACKED, STATE, STATE], LSTM, "3 dimensions"),
    ("RNN", "weights", [(4, 5, 2), (83,), STATE, STATE], LSTM, r"needs shape \(84,\)"),
    ("RNN", "states", [(4, 5, 2), PACKED, (1, 5, 4), STATE], LSTM, r"needs shape \(1, 5, 3\)"),
    ("RNN", "no cells", [(4, 5, 2), PACKED, STATE], LSTM, "needs state_cell"),
    ("RNN", "mode", [(4, 5, 2), PACKED, STATE], {**LSTM, "mode": "elman"}, "it must be 'gru'"),
    ("RNN", "rate", [(4, 5, 2), PACKED, STATE, STATE], {**LSTM, "p": 1.5}, "between 0 and 1"),
    # sequences and attention
    ("SequenceMask", "lengths", [(4, 3, 2), (4,)], {"use_sequence_length": True},
     "must have shape"),
    ("SequenceMask", "axis", [(4, 3, 2), (4,)], {"use_sequence_length": True, "axis": 2},
     "axis 0 or 1"),
    ("SequenceLast", "no lengths", [(4, 3)], {"use_sequence_length": True}, "sequence_length"),
    ("SequenceReverse", "axis", [(4, 3)], {"axis": 1}, "axis must be 0"),
    ("contrib.interleaved_matmul_selfatt_qk", "heads", [(4, 2, 24)], {"heads": 5}, "multiple of 3"),
    ("contrib.interleaved_matmul_selfatt_valatt", "scores", [(4, 2, 24), (3, 4, 4)], {"heads": 2},
     "it must be"),
    ("contrib.interleaved_matmul_encdec_qk", "keys", [(4, 2, 8), (3, 2, 12)], {"heads": 2},
     "twice their features"),
    ("contrib.interleaved_matmul_encdec_valatt", "rank", [(4, 16), (4, 4, 4)], {"heads": 2},
     "it must be"),
    ("contrib.index_array", "axes", [(4, 3)], {"axes": (2,)}, "axis 2 is out of bounds"),
    ("contrib.boolean_mask", "mask", [(4, 3), (5,)], {}, "does not fit axis 0"),
    ("CTCLoss", "batch", [(6, 3, 5), (2, 3)], {}, "they must be"),
    ("CTCLoss", "blank", [(6, 3, 5), (3, 3)], {"blank_label": "middle"}, "it must be 'first'"),
    # detection
    ("contrib.MultiBoxPrior", "rank", [(3, 4, 5)], {}, "at least 4 dimensions"),
    ("contrib.MultiBoxTarget", "label", [(1, 9, 4), (3, 5), (2, 3, 9)], {}, "it must be"),
    ("contrib.MultiBoxDetection", "places", [(2, 3, 9), (2, 30), (1, 9, 4)], {}, "it must be"),
    ("contrib.box_nms", "width", [(4, 4)], {}, "at least 5"),
    ("contrib.box_iou", "width", [(4, 3), (4, 3)], {}, "the last of 4"),
    ("contrib.box_decode", "width", [(2, 5, 3), (1, 5, 4)], {}, "it must be"),
    ("contrib.box_encode", "samples", [(2, 5), (2, 4), (2, 5, 4), (2, 3, 4), (4,), (4,)], {},
     "must"),
    ("contrib.bipartite_matching", "rank", [(4,)], {"threshold": 0.5}, "needs a matrix of scores"),
    ("contrib.Proposal", "scores", [(1, 20, 4, 5), (1, 48, 4, 5), (1, 3)], {}, "it must be"),
]  # fmt: skip


def refusal(name: str, shapes: Shapes, arguments: dict[str, Any]) -> str:
    """Return what a call raises."""
    function: Any = nd
    for part in name.split("."):
        function = getattr(function, part)
    try:
        function(*map(nd.ones, shapes), **arguments)
    except MXNetError as error:
        return str(error)
    return "nothing was wrong"


@pytest.mark.parametrize(
    ("name", "shapes", "arguments", "rule"),
    [(name, *rest) for name, _, *rest in CASES],
    ids=[f"{name} {wrong}" for name, wrong, *_ in CASES],
)
def test_bad_input(name: str, shapes: Shapes, arguments: dict[str, Any], rule: str) -> None:
    text = refusal(name, shapes, arguments)
    assert text.startswith(f"[{name.split('.')[-1]}] ")
    assert re.search(rule, text), text
    assert str(shapes[0]) in text


def test_graphs_refuse_the_same() -> None:
    graph = mx.sym.Convolution(mx.sym.var("data"), **WINDOW)
    with pytest.raises(MXNetError, match="exceeds data of shape"):
        graph.infer_shape(data=(2, 4, 2, 5))
    layer = mx.gluon.nn.Conv2D(6, 3)
    layer.initialize()
    for world in (nd, np):
        with pytest.raises(MXNetError, match="exceeds data of shape"):
            layer(world.ones((2, 4, 2, 5)))
