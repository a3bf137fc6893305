# SPDX-License-Identifier: Apache-2.0
"""Write the parameters of ops of networks to ``network_ops.json``. Needs MXNet 1.9.1."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

from mxnet.base import _LIB, c_str, check_call, py_str

OPS = (
    "BilinearSampler Convolution Correlation CTCLoss Deconvolution GridGenerator "
    "IdentityAttachKLSparseReg LRN Pooling RNN ROIPooling SpatialTransformer UpSampling "
    "_contrib_AdaptiveAvgPooling2D _contrib_BilinearResize2D _contrib_MultiBoxDetection "
    "_contrib_MultiBoxPrior _contrib_MultiBoxTarget _contrib_box_nms"
)


def arguments_of(op: str) -> dict[str, str]:
    """Return what MXNet says of the arguments of an op: what they are, and their defaults."""
    handle = ctypes.c_void_p()
    check_call(_LIB.NNGetOpHandle(c_str(op), ctypes.byref(handle)))
    count = ctypes.c_uint()
    texts = [ctypes.c_char_p() for _ in range(4)]
    lists = [ctypes.POINTER(ctypes.c_char_p)() for _ in range(3)]
    references = [ctypes.byref(one) for one in (*texts[:2], count, *lists, *texts[2:])]
    check_call(_LIB.MXSymbolGetAtomicSymbolInfo(handle, *references))
    names, kinds, _ = lists
    return {py_str(names[i]): py_str(kinds[i]) for i in range(count.value)}


def main() -> None:
    """Record everything."""
    lines = [f"{json.dumps(op)}: {json.dumps(arguments_of(op))}" for op in OPS.split()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    Path(__file__).with_name("network_ops.json").write_text(text)


if __name__ == "__main__":
    main()
