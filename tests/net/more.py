# SPDX-License-Identifier: Apache-2.0
"""Records of functions whose own tests compare with something else than NumPy."""

from __future__ import annotations

from typing import Any

from .tables import Record, fixed, of

_FLOATS = ("float32", "float64", "float16")


def _norm(channels: int) -> tuple[Any, Any]:
    """Return scale and shift."""
    return of(channels, low=0.5, high=2), of(channels)


def _layers(world: str, names: dict[str, str]) -> list[Record]:
    """Return the layers that both worlds have as functions."""

    def record(name: str, *args: Any, **keywords: Any) -> Record:
        return Record(f"{world}.{names[name]}", args, keywords, types=_FLOATS)

    cube, moving = of(2, 3, 4), (of(3), of(3, low=0.5, high=2))
    return [
        record("connected", of(2, 3), of(5, 3), of(5), num_hidden=5),
        record("connected", cube, of(5, 12), num_hidden=5, no_bias=True),
        record("connected", cube, of(5, 4), of(5), num_hidden=5, flatten=False),
        record("batch", cube, *_norm(3), *moving),
        record("batch", cube, *_norm(3), *moving, fix_gamma=False, eps=0.01, momentum=0.5),
        record("batch", cube, *_norm(3), *moving, fix_gamma=False, use_global_stats=True),
        record("batch", cube, *_norm(3), *moving, fix_gamma=False, output_mean_var=True),
        record("batch", of(2, 4, 3), *_norm(3), *moving, fix_gamma=False, axis=-1),
        record("layer", cube, *_norm(4)),
        record("layer", cube, *_norm(3), axis=1, eps=0.01),
        record("layer", cube, *_norm(4), output_mean_var=True),
        record("dropout", cube),
        record("dropout", cube, p=0.25, mode="always"),
        record("dropout", cube, p=0.25, mode="always", axes=(1,)),
    ]


_HALVES = fixed([[0.25, 0.75], [0.5, 0.5]])
_LABELS = fixed([1, 0, 3], "float32")
_SEQUENCES = (of(4, 2, 5), fixed([[1, 2], [3, 0]], "float32"))
_LENGTHS = (fixed([3, 4], "int32"), fixed([2, 1], "int32"))

MORE = [
    *_layers(
        "nd",
        {
            "connected": "FullyConnected",
            "batch": "BatchNorm",
            "layer": "LayerNorm",
            "dropout": "Dropout",
        },
    ),
    *_layers(
        "npx",
        {
            "connected": "fully_connected",
            "batch": "batch_norm",
            "layer": "layer_norm",
            "dropout": "dropout",
        },
    ),
    Record("nd.InstanceNorm", (of(2, 3, 4), *_norm(3)), types=_FLOATS),
    Record("nd.GroupNorm", (of(2, 4, 3), *_norm(2)), {"num_groups": 2}, types=_FLOATS),
    Record(
        "nd.GroupNorm",
        (of(2, 4, 3), *_norm(2)),
        {"num_groups": 2, "output_mean_var": True},
        types=_FLOATS,
    ),
    *(
        Record(name, (of(2, 3), of(3, low=0, high=1)), {"act_type": "prelu"}, types=_FLOATS)
        for name in ("nd.LeakyReLU", "npx.leaky_relu")
    ),
    *(
        Record("nd.SoftmaxOutput", (of(3, 4), _LABELS), keywords, types=("float32",))
        for keywords in (
            {"grad_scale": 2.0, "normalization": "batch"},
            {"use_ignore": True, "ignore_label": 1, "normalization": "valid"},
            {"smooth_alpha": 0.1, "out_grad": True},
        )
    ),
    Record(
        "nd.SoftmaxOutput",
        (of(2, 3, 4), fixed([[0, 1, 2, 0], [2, 2, 1, 0]], "float32")),
        {"multi_output": True},
        types=("float32",),
    ),
    Record("nd.SVMOutput", (of(3, 4), _LABELS), {"margin": 0.5, "use_linear": True}),
    *(
        Record(name, (*_SEQUENCES, *_LENGTHS), keywords, types=("float32",))
        for name in ("nd.CTCLoss", "nd.ctc_loss")
        for keywords in (
            {"use_data_lengths": True, "use_label_lengths": True},
            {"use_data_lengths": True, "use_label_lengths": True, "blank_label": "last"},
        )
    ),
    *(
        Record(
            name,
            (of(2, 3, 4), fixed([[2, 3, 1, 3], [3, 1, 2, 1]], "int32")),
            {"axis": 1, "use_length": True},
            types=_FLOATS,
        )
        for name in ("nd.softmax", "npx.softmax")
    ),
    *(
        Record("nd.dot", (one, other), {"transpose_a": first, "transpose_b": second}, types=_FLOATS)
        for one, first in ((of(3, 4), False), (of(4, 3), True))
        for other, second in ((of(4, 2), False), (of(2, 4), True))
    ),
    Record("nd.sample_multinomial", (_HALVES,), {"shape": 3, "get_prob": True}, random=True),
    Record("nd.onehot_encode", (fixed([1, 0], "float32"), of(2, 3)), types=("float32",)),
    Record("nd.Embedding", (fixed([[0, 2]], "float32"), of(3, 4), 3, 4), types=_FLOATS),
]
