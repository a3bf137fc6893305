# SPDX-License-Identifier: Apache-2.0
"""What is left without training of outputs with losses, and of ops that change gradients."""

from __future__ import annotations

from typing import Any

from .._graph import Call
from .along_axis import softmax_of_rows
from .elementwise import function
from .registry import converts


@converts("SoftmaxOutput", reads=1)
def _softmax_output(call: Call) -> Any:
    if call.get("multi_output", False):
        return call.add("Softmax", call.inputs[0], axis=1)
    if call.get("preserve_shape", False):
        return call.add("Softmax", call.inputs[0], axis=-1)
    return softmax_of_rows(call)


converts("LogisticRegressionOutput", reads=1)(function("Sigmoid"))
converts("sign_ste")(function("Sign"))
converts("Dropout")(function("Identity"))
converts(
    "BlockGrad",
    "IdentityAttachKLSparseReg",
    "LinearRegressionOutput",
    "MAERegressionOutput",
    "MakeLoss",
    "SVMOutput",
    "gradientmultiplier",
    "make_loss",
    reads=1,
)(function("Identity"))
