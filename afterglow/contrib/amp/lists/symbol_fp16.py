# SPDX-License-Identifier: Apache-2.0
"""Ops by the types that they take in mixed precision with float16; names are those of files."""

from __future__ import annotations

#: Gain from float16: large products.
FP16_FUNCS = ["Convolution", "Deconvolution", "FullyConnected", "RNN"]

#: Need the range or the digits of float32: sums, powers, exponentials, normalising, losses.
FP32_FUNCS = [
    *("exp", "expm1", "log", "log10", "log1p", "log2", "_power", "_power_scalar"),
    *("_rpower_scalar", "_rdiv_scalar", "_hypot", "_hypot_scalar", "broadcast_power"),
    *("broadcast_hypot", "square", "rsqrt", "rcbrt", "reciprocal", "smooth_l1"),
    *("arccos", "arcsin", "arctanh", "cosh", "sinh", "tan", "erfinv", "gamma", "gammaln"),
    *("sum", "mean", "prod", "nansum", "nanprod", "norm", "moments", "_square_sum"),
    *("softmax", "softmin", "log_softmax", "SoftmaxActivation", "softmax_cross_entropy"),
    *("LayerNorm", "GroupNorm", "InstanceNorm", "L2Normalization", "LRN"),
    *("_contrib_SyncBatchNorm", "IdentityAttachKLSparseReg"),
    *("SoftmaxOutput", "LinearRegressionOutput", "LogisticRegressionOutput"),
    *("MAERegressionOutput", "SVMOutput", "MakeLoss", "make_loss", "CTCLoss"),
    *("argsort", "topk", "khatri_rao", "Custom", "Convolution_v1"),
    *("_linalg_det", "_linalg_slogdet", "_linalg_inverse", "_linalg_gemm", "_linalg_gemm2"),
    *("_linalg_potrf", "_linalg_potri", "_linalg_trmm", "_linalg_trsm", "_linalg_syrk"),
    *("_linalg_gelqf", "_linalg_syevd", "_linalg_sumlogdiag", "_linalg_extractdiag"),
    *("_linalg_makediag", "_linalg_extracttrian", "_linalg_maketrian"),
    *("_contrib_DeformableConvolution", "_contrib_DeformablePSROIPooling"),
    *("_contrib_MultiBoxPrior", "_contrib_MultiBoxTarget", "_contrib_MultiBoxDetection"),
    *("_contrib_count_sketch", "_contrib_fft", "_contrib_hawkesll"),
]

#: The same, but for some values of a parameter only: op, parameter, values.
CONDITIONAL_FP32_FUNCS = [
    ("Activation", "act_type", ["softrelu"]),
    ("LeakyReLU", "act_type", ["elu", "selu"]),
]

#: Take several arrays, which must be of one type: the widest of theirs.
WIDEST_TYPE_CASTS = [
    *("elemwise_add", "elemwise_sub", "elemwise_mul", "elemwise_div", "_mod"),
    *("_maximum", "_minimum", "_equal", "_not_equal", "_greater", "_greater_equal"),
    *("_lesser", "_lesser_equal", "_logical_and", "_logical_or", "_logical_xor"),
    *("broadcast_add", "broadcast_sub", "broadcast_mul", "broadcast_div", "broadcast_mod"),
    *("broadcast_maximum", "broadcast_minimum", "broadcast_equal", "broadcast_not_equal"),
    *("broadcast_greater", "broadcast_greater_equal", "broadcast_lesser"),
    *("broadcast_lesser_equal", "broadcast_logical_and", "broadcast_logical_or"),
    *("broadcast_logical_xor", "add_n", "Concat", "stack", "where", "dot", "batch_dot"),
    *("Correlation", "_scatter_elemwise_div", "_contrib_box_iou", "_contrib_box_nms"),
    *("_contrib_ROIAlign", "_contrib_PSROIPooling", "_contrib_Proposal"),
    *("_contrib_MultiProposal", "_contrib_interleaved_matmul_selfatt_qk"),
    *("_contrib_interleaved_matmul_selfatt_valatt", "_contrib_interleaved_matmul_encdec_qk"),
    "_contrib_interleaved_matmul_encdec_valatt",
]

#: Have gradients of their own, which ``grad_scale`` scales.
LOSS_OUTPUT_FUNCTIONS = [
    "SoftmaxOutput",
    "LinearRegressionOutput",
    "LogisticRegressionOutput",
    "MAERegressionOutput",
]
