# SPDX-License-Identifier: Apache-2.0
"""The node tests of the package onnx, run with imported models: which pass, and what is counted."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as onp
import onnx
from onnx import numpy_helper

import afterglow as mx
from afterglow import np
from afterglow._arrays.dtypes import is_known
from afterglow.onnx._importers.registry import find

_DRAWN = "random numbers, which no two libraries draw alike"
_ROUNDED = "two of 192 float16 numbers differ by one unit in the last place"
#: Cases of documented ops whose answers are others here, and why.
OTHER_ANSWERS = {
    **dict.fromkeys(
        (
            "test_bernoulli",
            "test_bernoulli_double",
            "test_bernoulli_double_expanded",
            "test_bernoulli_expanded",
            "test_bernoulli_seed",
            "test_bernoulli_seed_expanded",
            "test_training_dropout",
            "test_training_dropout_default",
            "test_training_dropout_default_mask",
            "test_training_dropout_mask",
        ),
        _DRAWN,
    ),
    "test_attention_4d_causal_fp16_expanded": _ROUNDED,
    "test_image_decoder_decode_jpeg_grayscale": "OpenCV rounds grey otherwise than Pillow",
    "test_image_decoder_decode_jpeg2k_rgb": "such pictures are not read",
    "test_image_decoder_decode_pnm_rgb": "such pictures are not read",
}

_STRING = onnx.TensorProto.STRING


def all_cases() -> list[Any]:
    """Return the node tests of the package, whose answers are computed by it."""
    with warnings.catch_warnings(), onp.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        return list(collect_testcases(None))


def nodes_of(graph: Any) -> Iterator[Any]:
    """Return all nodes of a graph, those of graphs inside too."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from nodes_of(attribute.g)


def is_counted(case: Any) -> bool:
    """Tell whether a case is without training, sequences, optional values, maps and strings."""
    graph = case.model.graph
    for info in (*graph.input, *graph.output):
        if not info.type.HasField("tensor_type") or info.type.tensor_type.elem_type == _STRING:
            return False
    for node in nodes_of(graph):
        if "training" in node.domain or "Sequence" in node.op_type.replace("ReverseSequence", ""):
            return False
        if "Optional" in node.op_type or "String" in node.op_type:
            return False
        if any(one.t.data_type == _STRING or _has_words(node, one) for one in node.attribute):
            return False
    return True


def _has_words(node: Any, attribute: Any) -> bool:
    """Tell whether an attribute of a table (of labels or words) holds strings."""
    return node.domain == "ai.onnx.ml" and len(attribute.strings) > 0


def is_documented(case: Any) -> bool:
    """Tell whether every op of a case has a function of its own."""
    return all(
        find("" if node.domain == "ai.onnx" else node.domain, node.op_type)
        for node in nodes_of(case.model.graph)
    )


def _value(given: Any) -> Any:
    host = numpy_helper.to_array(given) if isinstance(given, onnx.TensorProto) else given
    host = onp.asarray(host)
    return np.array(host, dtype=host.dtype) if is_known(host.dtype) else host


def _host(value: Any) -> Any:
    return value.asnumpy() if isinstance(value, mx.np.ndarray) else onp.asarray(value)


def _comparable(host: Any) -> Any:
    return host if host.dtype.kind in "biufc" else host.astype("float32")


def run(case: Any) -> None:
    """Run a case; whatever is wrong raises."""
    block = mx.onnx.import_to_gluon(case.model)
    for inputs, outputs in case.data_sets:
        found = block(*map(_value, inputs))
        found = found if isinstance(found, list) else [found]
        assert len(found) >= len(outputs), f"{len(found)} outputs for {len(outputs)}"
        for one, other in zip(map(_host, found), outputs, strict=False):
            wanted = (
                numpy_helper.to_array(other)
                if isinstance(other, onnx.TensorProto)
                else onp.asarray(other)
            )
            assert one.dtype == wanted.dtype, f"{one.dtype} for {wanted.dtype}"
            assert one.shape == wanted.shape, f"{one.shape} for {wanted.shape}"
            onp.testing.assert_allclose(
                _comparable(one), _comparable(wanted), rtol=case.rtol, atol=case.atol
            )


def failure(case: Any) -> str | None:
    """Return what is wrong with a case; None if nothing is."""
    try:
        with warnings.catch_warnings(), onp.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            run(case)
    except Exception as error:
        notes = " | ".join(getattr(error, "__notes__", ()))
        return f"{type(error).__name__}: {str(error)[:200]} {notes}".replace("\n", " ")
    return None
