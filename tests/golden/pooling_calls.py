# SPDX-License-Identifier: Apache-2.0
"""Calls of windows, regions and samplers, whose answers ``record_pooling.py`` asks MXNet for."""

from __future__ import annotations

from typing import Any

import numpy as onp

#: By name: the function of ``nd``, the shapes of its inputs (or their numbers), its arguments.
CASES: dict[str, tuple[str, list[Any], dict[str, Any]]] = {}


def _add(name: str, function: str, inputs: list[Any], **arguments: Any) -> None:
    CASES[name] = (function, inputs, arguments)


_LINE, _IMAGE, _VOLUME = (2, 2, 9), (2, 2, 7, 6), (1, 2, 4, 5, 3)

for _kind in ("max", "avg", "sum"):
    _options: dict[str, Any] = {"pool_type": _kind}
    _add(f"{_kind} 1-D", "Pooling", [_LINE], kernel=(3,), stride=(2,), pad=(1,), **_options)
    _add(f"{_kind} 1-D last", "Pooling", [_LINE], kernel=(2,), layout="NWC", **_options)
    _add(f"{_kind} 2-D", "Pooling", [_IMAGE], kernel=(2, 3), stride=(2, 1), **_options)
    _add(f"{_kind} 2-D pairs", "Pooling", [_IMAGE], kernel=(2, 2), stride=(2, 2), **_options)
    _add(f"{_kind} 2-D full", "Pooling", [_IMAGE], kernel=(3, 3), stride=(2, 2), pad=(1, 0),
         pooling_convention="full", **_options)  # fmt: skip
    _add(f"{_kind} 2-D last", "Pooling", [_IMAGE], kernel=(3, 3), stride=(2, 2), pad=(1, 1),
         layout="NHWC", **_options)  # fmt: skip
    _add(f"{_kind} 2-D global", "Pooling", [_IMAGE], global_pool=True, kernel=(1, 1), **_options)
    _add(f"{_kind} 3-D", "Pooling", [_VOLUME], kernel=(2, 2, 2), stride=(1, 2, 1), pad=(1, 0, 1),
         **_options)  # fmt: skip
    _add(f"{_kind} 3-D last", "Pooling", [_VOLUME], kernel=(1, 2, 3), layout="NDHWC", **_options)
_add("avg of what is there", "Pooling", [_IMAGE], kernel=(3, 3), stride=(2, 2), pad=(1, 1),
     pool_type="avg", count_include_pad=False)  # fmt: skip
_add("avg of what is there, full", "Pooling", [_IMAGE], kernel=(3, 2), stride=(2, 2), pad=(1, 1),
     pool_type="avg", count_include_pad=False, pooling_convention="full")  # fmt: skip
for _power in (1, 2, 3):
    _add(f"lp {_power}", "Pooling", [_IMAGE], kernel=(2, 2), stride=(2, 2), pool_type="lp",
         p_value=_power)  # fmt: skip
_add("ties", "Pooling", [[[[[1, 1, 2, 2], [1, 1, 2, 2], [0, 0, 0, 0]]]]], kernel=(2, 2))
_add("adaptive", "contrib.AdaptiveAvgPooling2D", [_IMAGE], output_size=(3, 4))
_add("adaptive, more", "contrib.AdaptiveAvgPooling2D", [_IMAGE], output_size=9)
_add("adaptive to one", "contrib.AdaptiveAvgPooling2D", [_IMAGE])
_add("lrn", "LRN", [(2, 5, 2, 3)], nsize=3, alpha=0.5, beta=0.6, knorm=1.5)
_add("lrn, even", "LRN", [(2, 5, 2, 3)], nsize=4)
_ROIS = [[0, 0, 0, 5, 6], [1, 1.4, 2, 3.2, 3], [0, 3, 4, 9, 9], [1, -2, -2, 1, 2]]
_add("regions", "ROIPooling", [_IMAGE, _ROIS], pooled_size=(2, 3), spatial_scale=0.9)
_add("samples", "contrib.ROIAlign", [_IMAGE, _ROIS], pooled_size=(2, 3), spatial_scale=0.9)
_add("samples, so many", "contrib.ROIAlign", [_IMAGE, _ROIS], pooled_size=(2, 2),
     spatial_scale=0.7, sample_ratio=3)  # fmt: skip
_add("samples, aligned", "contrib.ROIAlign", [_IMAGE, _ROIS], pooled_size=(2, 2), spatial_scale=0.7,
     aligned=True)  # fmt: skip
_add("samples by position", "contrib.ROIAlign", [(2, 8, 5, 5), _ROIS], pooled_size=(2, 2),
     spatial_scale=0.5, position_sensitive=True)  # fmt: skip
_add("nearest", "UpSampling", [(1, 2, 2, 3)], scale=3, sample_type="nearest")
_add("nearest, two", "UpSampling", [(1, 2, 2, 3), (1, 1, 4, 6)], scale=2, sample_type="nearest",
     num_args=2)  # fmt: skip
_add("nearest, summed", "UpSampling", [(1, 2, 2, 3), (1, 2, 4, 6)], scale=2, num_args=2,
     sample_type="nearest", multi_input_mode="sum")  # fmt: skip
_add("bilinear", "UpSampling", [(1, 2, 3, 4), (2, 1, 4, 4)], scale=2, sample_type="bilinear",
     num_filter=2, num_args=2)  # fmt: skip
_add("bilinear, odd", "UpSampling", [(1, 2, 2, 3), (2, 1, 5, 5)], scale=3, sample_type="bilinear",
     num_filter=2, num_args=2)  # fmt: skip
_add("resize", "contrib.BilinearResize2D", [_IMAGE], height=4, width=9)
_add("resize, centres", "contrib.BilinearResize2D", [_IMAGE], height=4, width=9,
     align_corners=False)  # fmt: skip
_add("resize to one", "contrib.BilinearResize2D", [_IMAGE], height=1, width=1)
_add("resize by scales", "contrib.BilinearResize2D", [_IMAGE], scale_height=1.5, scale_width=0.5)
_add("resize, odd", "contrib.BilinearResize2D", [_IMAGE], scale_height=2, scale_width=3,
     mode="odd_scale")  # fmt: skip
for _mode in ("to_even_down", "to_even_up", "to_odd_down", "to_odd_up"):
    _add(f"resize {_mode}", "contrib.BilinearResize2D", [_IMAGE], mode=_mode)
_add("affine grid", "GridGenerator", [(2, 6)], transform_type="affine", target_shape=(3, 4))
_add("warped grid", "GridGenerator", [(2, 2, 3, 4)], transform_type="warp")
_add("sampler", "BilinearSampler", [_IMAGE, (2, 2, 3, 4)])
_add("transformer", "SpatialTransformer", [_IMAGE, (2, 6)], transform_type="affine",
     sampler_type="bilinear", target_shape=(3, 4))  # fmt: skip
_add("patches", "Correlation", [(1, 2, 4, 5)] * 2, pad_size=1)
_add("patches apart", "Correlation", [(1, 2, 6, 7)] * 2, kernel_size=3, max_displacement=2,
     stride1=2, stride2=2, pad_size=3)  # fmt: skip
_add("patches, distances", "Correlation", [(1, 2, 4, 5)] * 2, pad_size=2, max_displacement=2,
     is_multiply=False)  # fmt: skip


def numbers(name: str) -> list[Any]:
    """Return the inputs of a case: waves, where only a shape is given."""
    result = []
    for place, given in enumerate(CASES[name][1]):
        if isinstance(given, tuple):
            waves = onp.sin(onp.arange(onp.prod(given)) * 1.7 + place) * 1.3
            result.append(waves.reshape(given).astype("float32"))
        else:
            result.append(onp.array(given, "float32"))
    return result


def weights(shape: tuple[int, ...]) -> Any:
    """Return the gradient that a result is given."""
    return onp.cos(onp.arange(onp.prod(shape)) * 0.9).reshape(shape).astype("float32")


def answers(mx: Any, name: str) -> list[Any]:
    """Return the result of a case and the gradients of its inputs."""
    function: Any = mx.nd
    for part in CASES[name][0].split("."):
        function = getattr(function, part)
    inputs = [mx.nd.array(one) for one in numbers(name)]
    for one in inputs:
        one.attach_grad()
    with mx.autograd.record():
        result = function(*inputs, **CASES[name][2])
    result.backward(mx.nd.array(weights(result.shape)))
    return [result.asnumpy(), *(one.grad.asnumpy() for one in inputs)]
