# SPDX-License-Identifier: Apache-2.0
"""Other names of ops: nodes and files know each by one."""

from __future__ import annotations

#: By the name in files, all others.
_OTHER_NAMES = {
    "BlockGrad": "stop_gradient",
    "CTCLoss": "ctc_loss _contrib_CTCLoss _contrib_ctc_loss",
    "Activation": "_npx_activation",
    "BatchNorm": "_npx_batch_norm",
    "Cast": "cast _npi_cast _npx_cast",
    "Concat": "concat",
    "Convolution": "_npx_convolution",
    "Custom": "_npi_Custom",
    "Deconvolution": "_npx_deconvolution",
    "Dropout": "_npx_dropout",
    "Embedding": "_npx_embedding",
    "Flatten": "flatten _npx_batch_flatten",
    "FullyConnected": "_npx_fully_connected",
    "LayerNorm": "_npx_layer_norm",
    "LeakyReLU": "_npx_leaky_relu",
    "Pad": "pad",
    "Pooling": "_npx_pooling",
    "RNN": "_npx_rnn",
    "ROIPooling": "_npx_roi_pooling",
    "Reshape": "reshape",
    "SequenceMask": "_npx_sequence_mask",
    "SliceChannel": "split",
    "SoftmaxOutput": "Softmax",
    "SwapAxis": "swapaxes _npi_swapaxes",
    "_contrib_arange_like": "_npx_arange_like",
    "_contrib_boolean_mask": "_npi_boolean_mask",
    "_copy": "identity",
    "_full": "_npi_full",
    "_histogram": "_npi_histogram",
    "_hypot_scalar": "_HypotScalar _npi_hypot_scalar",
    "_linalg_det": "linalg_det _npi_det",
    "_linalg_inverse": "linalg_inverse _npi_inv",
    "_linalg_slogdet": "linalg_slogdet _npi_slogdet",
    "_linspace": "_npi_linspace",
    "_maximum_scalar": "_MaximumScalar _npi_maximum_scalar",
    "_minimum_scalar": "_MinimumScalar _npi_minimum_scalar",
    "_np_cumsum": "cumsum",
    "_np_max": "_np_amax",
    "_np_min": "_np_amin",
    "_np_prod": "_np_product",
    "_npi_absolute": "_npi_abs",
    "_npx_reshape": "_npi_reshape",
    "_npx_nonzero": "_npi_nonzero",
    "_random_normal": "normal random_normal",
    "_random_randint": "random_randint _npi_random_randint",
    "_random_uniform": "uniform random_uniform",
    "_ravel_multi_index": "ravel_multi_index",
    "_shuffle": "shuffle _npi_shuffle",
    "_split_v2": "_npi_split",
    "_unravel_index": "unravel_index",
    "add_n": "ElementWiseSum",
    "argsort": "_npi_argsort",
    "batch_dot": "_npx_batch_dot",
    "broadcast_add": "broadcast_plus",
    "broadcast_axis": "broadcast_axes",
    "broadcast_maximum": "_npi_maximum",
    "broadcast_minimum": "_npi_minimum",
    "broadcast_sub": "broadcast_minus",
    "clip": "_npi_clip",
    "elemwise_add": "_Plus _plus _add",
    "elemwise_div": "_Div _div",
    "elemwise_mul": "_Mul _mul",
    "elemwise_sub": "_Minus _minus _sub",
    "erf": "_npx_erf",
    "erfinv": "_npx_erfinv",
    "expand_dims": "_npi_expand_dims",
    "gamma": "_npx_gamma",
    "gammaln": "_npx_gammaln",
    "gather_nd": "_npi_gather_nd _npx_gather_nd",
    "log_softmax": "_npx_log_softmax",
    "max": "max_axis",
    "min": "min_axis",
    "one_hot": "_npx_one_hot",
    "pick": "choose_element_0index _npx_pick",
    "repeat": "_np_repeat",
    "reshape_like": "_npx_reshape_like",
    "reverse": "flip",
    "shape_array": "_npx_shape_array",
    "slice": "crop _npi_slice _npx_slice",
    "smooth_l1": "_npx_smooth_l1",
    "softmax": "_npx_softmax",
    "sort": "_npi_sort",
    "sum": "sum_axis",
    "take": "_npi_take",
    "tile": "_npi_tile",
    "topk": "_npx_topk",
    **{
        f"_linalg_{name}": f"linalg_{name}"
        for name in [
            "extractdiag",
            "extracttrian",
            "gelqf",
            "gemm",
            "gemm2",
            "makediag",
            "maketrian",
            "potrf",
            "potri",
            "sumlogdiag",
            "syrk",
            "trmm",
            "trsm",
        ]
    },
    **{
        f"_random_{name}": f"random_{name}"
        for name in [
            "exponential",
            "gamma",
            "generalized_negative_binomial",
            "negative_binomial",
            "poisson",
        ]
    },
    **{
        f"_sample_{name}": f"sample_{name}"
        for name in [
            "exponential",
            "gamma",
            "generalized_negative_binomial",
            "multinomial",
            "negative_binomial",
            "normal",
            "poisson",
            "uniform",
        ]
    },
    # The operators of symbols call these, and nodes are named after them.
    "_div_scalar": "_DivScalar",
    "_equal": "_Equal",
    "_equal_scalar": "_EqualScalar",
    "_greater": "_Greater",
    "_greater_equal": "_Greater_Equal",
    "_greater_equal_scalar": "_GreaterEqualScalar",
    "_greater_scalar": "_GreaterScalar",
    "_hypot": "_Hypot",
    "_lesser": "_Lesser",
    "_lesser_equal": "_Lesser_Equal",
    "_lesser_equal_scalar": "_LesserEqualScalar",
    "_lesser_scalar": "_LesserScalar",
    "_maximum": "_Maximum",
    "_minimum": "_Minimum",
    "_minus_scalar": "_MinusScalar",
    "_mod": "_Mod",
    "_mod_scalar": "_ModScalar",
    "_mul_scalar": "_MulScalar",
    "_not_equal": "_Not_Equal",
    "_not_equal_scalar": "_NotEqualScalar",
    "_plus_scalar": "_PlusScalar",
    "_power": "_Power",
    "_power_scalar": "_PowerScalar",
    "_rdiv_scalar": "_RDivScalar",
    "_rminus_scalar": "_RMinusScalar",
    "_rmod_scalar": "_RModScalar",
    "_rpower_scalar": "_RPowerScalar",
}

#: By any other name, the one in files.
CANONICAL = {
    name: canonical for canonical, others in _OTHER_NAMES.items() for name in others.split()
}


def canonical(name: str) -> str:
    """Return the name of an op in files."""
    if name.startswith("_sparse_"):
        name = name.removeprefix("_sparse_")
    return CANONICAL.get(name, name)


def other_names(name: str) -> list[str]:
    """Return the other names of an op."""
    return _OTHER_NAMES.get(name, "").split()
