# SPDX-License-Identifier: Apache-2.0
"""The table of symbol ops: what each takes, gives, and how it runs.

Most entries are read from the signatures of the functions in ``nd``, where arguments that are
arrays are annotated as such. What a signature does not say stands here: auxiliary states, further
outputs, shapes of weights, and ops that can be written down but not run yet.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeGuard

from .. import _picking, ndarray
from .._core import Operation, complete_shapes
from .._dtype import BOOL, FLOAT32, INT64, dtype_number
from .._op_functions import spelling_of, table
from ..error import ArrayNotImplementedError, MXNetError
from . import _custom, _np_ops
from . import _shape_rules as rules
from ._attributes import as_value
from ._names import canonical, other_names

Attributes = dict[str, Any]
Function = Callable[..., Any]
Names = Callable[[Attributes], tuple[str, ...]]

_functions: Any = ndarray

#: More outputs than this a node cannot have: who asks for them reads a damaged file.
_MOST_OUTPUTS = 1 << 16


@dataclass(frozen=True)
class Entry:
    """What is known of an op."""

    name: str
    inputs: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    function: Function | None = None  # none: it cannot run yet
    legacy: bool = True  # whether it runs with arrays of nd
    variadic: bool = False
    is_known: bool = True
    any_parameter: bool = False
    required: frozenset[str] = frozenset()
    text: frozenset[str] = frozenset()  # parameters that are text even where they look like numbers
    optional: frozenset[str] = frozenset()  # inputs that are there only if they are given
    auxiliary: frozenset[str] = frozenset()
    is_loss: bool = False  # whether its gradient starts by itself
    is_random: bool = False
    outputs: Names | None = None
    total: int = 1  # outputs with those that only files count
    complete: rules.Complete | None = None
    result: rules.Result | None = None
    result_type: Callable[[Attributes], int | None] | None = None

    def values(self, attributes: dict[str, str]) -> Attributes:
        """Return the parameters among the attributes of a node, as what they mean."""
        return {
            name: text if name in self.text else as_value(text)
            for name, text in attributes.items()
            if name in self.parameters or (self.any_parameter and not name.startswith("__"))
        }

    def input_names(self, given: Attributes, count: int | None = None) -> tuple[str, ...]:
        """Return the names of the inputs; ``count`` is how many there are, if that is known."""
        if self.variadic:
            return tuple(f"arg{i}" for i in range(count or 0))
        names = _INPUT_RULES[self.name](given) if self.name in _INPUT_RULES else self.inputs
        if count is None:
            return tuple(name for name in names if self._is_there(name, given))
        present = [name for name in names if self._is_there(name, given)]
        if count > len(present):  # optional ones are given in their order
            present = list(names)
        return tuple(present[:count])

    def _is_there(self, name: str, given: Attributes) -> bool:
        return name not in self.optional or bool(given.get(f"use_{name}"))

    def output_names(self, given: Attributes) -> tuple[str, ...]:
        """Return the names of the outputs that symbols can use."""
        return ("output",) if self.outputs is None else self.outputs(given)

    def count_outputs(self, given: Attributes) -> int:
        """Return how many outputs files count."""
        return max(self.total, len(self.output_names(given)))

    def call(self, given: Attributes, names: tuple[str, ...], arrays: list[Any]) -> list[Any]:
        """Run the op and return its outputs."""
        if self.function is None:
            raise ArrayNotImplementedError(f"[{self.name}] the op is not implemented")
        parameters = {name: value for name, value in given.items() if name != "num_args"}
        if self.variadic:
            result = self.function(*arrays, **parameters)
        else:
            result = self.function(**dict(zip(names, arrays, strict=True)), **parameters)
        return list(result) if isinstance(result, (list, tuple)) else [result]


# --- ops that functions of nd do not stand for ---


def _scalar_ops() -> dict[str, Function]:
    def swapped(function: Function) -> Function:
        return lambda data, scalar: function(scalar, data)

    functions: dict[str, Function] = {
        "_plus_scalar": operator.add,
        "_minus_scalar": operator.sub,
        "_rminus_scalar": swapped(operator.sub),
        "_mul_scalar": operator.mul,
        "_div_scalar": operator.truediv,
        "_rdiv_scalar": swapped(operator.truediv),
        "_mod_scalar": operator.mod,
        "_rmod_scalar": swapped(operator.mod),
        "_power_scalar": operator.pow,
        "_rpower_scalar": swapped(operator.pow),
        "_equal_scalar": operator.eq,
        "_not_equal_scalar": operator.ne,
        "_greater_scalar": operator.gt,
        "_greater_equal_scalar": operator.ge,
        "_lesser_scalar": operator.lt,
        "_lesser_equal_scalar": operator.le,
        "_maximum_scalar": _functions.maximum,
        "_minimum_scalar": _functions.minimum,
        "_logical_and_scalar": _functions.logical_and,
        "_logical_or_scalar": _functions.logical_or,
        "_logical_xor_scalar": _functions.logical_xor,
        "_hypot_scalar": lambda data, scalar: (data * data + scalar * scalar).sqrt(),
    }

    def call(function: Function) -> Function:
        return lambda data, scalar=1, is_int=True: function(data, scalar)

    return {name: call(function) for name, function in functions.items()}


_BINARY: dict[str, Function] = {
    "_power": operator.pow,
    "_mod": operator.mod,
    "_equal": operator.eq,
    "_not_equal": operator.ne,
    "_greater": operator.gt,
    "_greater_equal": operator.ge,
    "_lesser": operator.lt,
    "_lesser_equal": operator.le,
    "_maximum": _functions.maximum,
    "_minimum": _functions.minimum,
    "_hypot": _functions.broadcast_hypot,
    "_logical_and": _functions.logical_and,
    "_logical_or": _functions.logical_or,
    "_logical_xor": _functions.logical_xor,
    "_grad_add": operator.add,
}


def _pick(
    data: Any,
    index: Any,
    axis: int = -1,
    keepdims: bool = False,
    mode: str = "clip",
    __labels__: bool = False,
) -> Any:
    """Pick elements. Losses say of their node that the indices are labels, which are checked."""
    if __labels__:
        return _picking.pick_labels(data, index, axis)
    return _picking.pick(data, index, axis, keepdims, mode, None)


def _zeros(shape: Any = (1,), ctx: Any = None, dtype: Any = None) -> Any:
    return _functions.zeros(shape, dtype=dtype)


def _ones(shape: Any = (1,), ctx: Any = None, dtype: Any = None) -> Any:
    return _functions.ones(shape, dtype=dtype)


def _full(shape: Any = (1,), value: Any = 0, ctx: Any = None, dtype: Any = None) -> Any:
    return _functions.full(shape, value, dtype=dtype or "float32")


def _arange(
    start: Any = 0,
    stop: Any = None,
    step: Any = 1,
    repeat: int = 1,
    infer_range: bool = False,
    ctx: Any = None,
    dtype: Any = None,
) -> Any:
    return _functions.arange(start, stop, step, repeat, dtype=dtype or "float32")


def _eye(N: int = 0, M: int = 0, k: int = 0, ctx: Any = None, dtype: Any = None) -> Any:  # noqa: N803
    return _functions.eye(N, M, k, dtype=dtype or "float32")


def _linspace(
    start: Any = 0,
    stop: Any = 1,
    step: Any = None,
    num: int = 50,
    endpoint: bool = True,
    repeat: int = 1,
    infer_range: bool = False,
    ctx: Any = None,
    dtype: Any = None,
) -> Any:
    return _functions.linspace(start, stop, num, endpoint, dtype=dtype or "float32")


def _split_v2(
    data: Any, indices: Any = (), axis: int = 0, squeeze_axis: bool = False, sections: int = 0
) -> Any:
    # The bounds in nodes begin with 0.
    where = sections or tuple(indices)[1:]
    return _functions.split_v2(data, where, axis, squeeze_axis)


_CREATION: dict[str, Function] = {
    "_zeros": _zeros,
    "_ones": _ones,
    "_full": _full,
    "_arange": _arange,
    "_eye": _eye,
    "_linspace": _linspace,
}

#: Functions of nd that are no ops.
NO_OPS = frozenset(
    [
        "add",
        "array",
        "arange",
        "concatenate",
        "divide",
        "empty",
        "equal",
        "eye",
        "from_dlpack",
        "from_numpy",
        "full",
        "greater",
        "greater_equal",
        "histogram",
        "lesser",
        "lesser_equal",
        "linspace",
        "load",
        "load_frombuffer",
        "logical_and",
        "logical_or",
        "logical_xor",
        "maximum",
        "minimum",
        "modulo",
        "moveaxis",
        "multiply",
        "not_equal",
        "onehot_encode",
        "ones",
        "power",
        "save",
        "split_v2",
        "subtract",
        "to_dlpack_for_read",
        "to_dlpack_for_write",
        "true_divide",
        "waitall",
        "zeros",
        "imdecode",
    ]
)

# --- what signatures do not say ---

#: Inputs and parameters of ops that cannot run yet, or whose function takes anything.
_DECLARED = {
    "Convolution": "data weight bias | kernel stride dilate pad num_filter num_group workspace "
    "no_bias cudnn_tune cudnn_off layout",
    "Deconvolution": "data weight bias | kernel stride dilate pad adj target_shape num_filter "
    "num_group workspace no_bias cudnn_tune cudnn_off layout",
    "Pooling": "data | kernel pool_type global_pool cudnn_off pooling_convention stride pad "
    "p_value count_include_pad layout",
    "RNN": "data parameters state state_cell sequence_length | state_size num_layers bidirectional "
    "mode p state_outputs projection_size lstm_state_clip_min lstm_state_clip_max "
    "lstm_state_clip_nan use_sequence_length",
    "LRN": "data | alpha beta knorm nsize",
    "UpSampling": "* | scale num_filter sample_type multi_input_mode num_args workspace",
    "ROIPooling": "data rois | pooled_size spatial_scale",
    "SpatialTransformer": "data loc | target_shape transform_type sampler_type cudnn_off",
    "GridGenerator": "data | transform_type target_shape",
    "BilinearSampler": "data grid | cudnn_off",
    "Correlation": "data1 data2 | kernel_size max_displacement stride1 stride2 pad_size "
    "is_multiply",
    "CTCLoss": "data label data_lengths label_lengths | use_data_lengths use_label_lengths "
    "blank_label",
    "SVMOutput": "data label | margin regularization_coefficient use_linear",
    "IdentityAttachKLSparseReg": "data moving_avg | sparseness_target penalty momentum",
    "_contrib_BilinearResize2D": "data like | height width scale_height scale_width mode "
    "align_corners",
    "_contrib_AdaptiveAvgPooling2D": "data | output_size",
    "_contrib_MultiBoxPrior": "data | sizes ratios clip steps offsets",
    "_contrib_MultiBoxTarget": "anchor label cls_pred | overlap_threshold ignore_label "
    "negative_mining_ratio negative_mining_thresh minimum_negative_samples variances",
    "_contrib_MultiBoxDetection": "cls_prob loc_pred anchor | clip threshold background_id "
    "nms_threshold force_suppress variances nms_topk",
    "_contrib_box_nms": "data | overlap_thresh valid_thresh topk coord_start score_index id_index "
    "background_id force_suppress in_format out_format",
    "khatri_rao": "* | num_args",
    "Custom": "* | op_type",
}

_REQUIRED = {
    "FullyConnected": ("num_hidden",),
    "Convolution": ("kernel", "num_filter"),
    "Deconvolution": ("kernel", "num_filter"),
    "Activation": ("act_type",),
    "Embedding": ("input_dim", "output_dim"),
    "SliceChannel": ("num_outputs",),
    "RNN": ("state_size", "num_layers", "mode"),
    "UpSampling": ("scale", "sample_type"),
    "Cast": ("dtype",),
    "slice_axis": ("axis", "begin", "end"),
    "one_hot": ("depth",),
    "expand_dims": ("axis",),
    "clip": ("a_min", "a_max"),
    "Custom": ("op_type",),
}


def _without_bias(*names: str) -> Names:
    def rule(given: Attributes) -> tuple[str, ...]:
        return names[:-1] if given.get("no_bias") else names

    return rule


def _recurrent_inputs(given: Attributes) -> tuple[str, ...]:
    names = ["data", "parameters", "state"]
    if given.get("mode") == "lstm":
        names.append("state_cell")
    if given.get("use_sequence_length"):
        names.append("sequence_length")
    return tuple(names)


def _leaky_inputs(given: Attributes) -> tuple[str, ...]:
    return ("data", "gamma") if given.get("act_type") == "prelu" else ("data",)


_INPUT_RULES: dict[str, Names] = {
    "FullyConnected": _without_bias("data", "weight", "bias"),
    "Convolution": _without_bias("data", "weight", "bias"),
    # Here there is no bias unless it is asked for.
    "Deconvolution": lambda given: (
        ("data", "weight") if given.get("no_bias", True) else ("data", "weight", "bias")
    ),
    "LeakyReLU": _leaky_inputs,
    "RNN": _recurrent_inputs,
}


def _numbered(count: Callable[[Attributes], int]) -> Names:
    def rule(given: Attributes) -> tuple[str, ...]:
        number = count(given)
        if not isinstance(number, int) or not 0 < number <= _MOST_OUTPUTS:
            raise MXNetError(f"{number!r} outputs; a node has 1 to {_MOST_OUTPUTS}")
        return tuple(f"output{i}" for i in range(number)) if number > 1 else ("output",)

    return rule


def _with_statistics(*names: str) -> Names:
    return lambda given: names if given.get("output_mean_var") else names[:1]


def _recurrent_outputs(given: Attributes) -> tuple[str, ...]:
    if not given.get("state_outputs"):
        return ("output",)
    states = ("state_output", "statecell_output")[: 2 if given.get("mode") == "lstm" else 1]
    return ("output", *states)


def _sections(given: Attributes) -> int:
    sections: int = given.get("sections") or len(given.get("indices", ()))
    return sections


_OUTPUTS: dict[str, Names] = {
    "Custom": _custom.output_names,
    "SliceChannel": _numbered(lambda given: given["num_outputs"]),
    "amp_multicast": _numbered(lambda given: given["num_outputs"]),
    "_split_v2": _numbered(_sections),
    "BatchNorm": _with_statistics("output", "mean", "var"),
    "_contrib_BatchNormWithReLU": _with_statistics("output", "mean", "var"),
    "LayerNorm": _with_statistics("output", "mean", "std"),
    "GroupNorm": _with_statistics("output", "mean", "std"),
    "RNN": _recurrent_outputs,
    "topk": _numbered(lambda given: 2 if given.get("ret_typ") == "both" else 1),
    "_sample_multinomial": _numbered(lambda given: 2 if given.get("get_prob") else 1),
    "make_loss": lambda given: ("loss",),
    "_contrib_MultiBoxTarget": lambda given: ("loc_target", "loc_mask", "cls_target"),
    "_npi_std": lambda given: ("std",),
    "_npi_var": lambda given: ("var",),
    **dict.fromkeys(
        ("_npi_matmul", "_npi_concatenate", "_npi_hstack", "_npi_dstack"), lambda given: ("out",)
    ),
    **dict.fromkeys(
        (
            "sort",
            "_linalg_det",
            "_npi_norm",
            "_npi_average",
            "_npi_normal",
            "CTCLoss",
            "_contrib_box_nms",
        ),
        lambda given: ("output0",),
    ),
    **dict.fromkeys(
        (
            *("moments", "_linalg_gelqf", "_linalg_syevd", "_linalg_slogdet"),
            *("_npi_eigh", "_npi_eig", "_histogram"),
        ),
        _numbered(lambda given: 2),
    ),
    "_npi_svd": _numbered(lambda given: 3),
}

#: How many outputs files count, where that is more than symbols can use.
_TOTAL = {
    "BatchNorm": 3,
    "BatchNorm_v1": 3,
    "_contrib_BatchNormWithReLU": 4,
    "_contrib_SyncBatchNorm": 3,
    "LayerNorm": 3,
    "GroupNorm": 3,
    "InstanceNorm": 3,
    "Dropout": 2,
    "LRN": 2,
    "L2Normalization": 2,
    "CTCLoss": 2,
    "sort": 2,
    "_linalg_det": 3,
    "_linalg_slogdet": 4,
    "_npi_std": 2,
    "_npi_var": 2,
    "_npi_norm": 4,
    "_npi_average": 2,
    "_npi_normal": 2,
    "_contrib_box_nms": 2,
    "BilinearSampler": 2,
    "GridGenerator": 2,
    "SpatialTransformer": 3,
    "Correlation": 3,
}

_STATISTICS = frozenset(("moving_mean", "moving_var"))
_AUXILIARY = {
    "BatchNorm": _STATISTICS,
    "_contrib_BatchNormWithReLU": _STATISTICS,
    "_contrib_SyncBatchNorm": _STATISTICS,
    "IdentityAttachKLSparseReg": frozenset(("moving_avg",)),
}

_ZERO, _ONE = '["zero", {}]', '["one", {}]'

#: How inputs begin that nobody gives, in the words of initializers.
INITIAL = {
    ("BatchNorm", "moving_mean"): _ZERO,
    ("BatchNorm", "moving_var"): _ONE,
    ("_contrib_BatchNormWithReLU", "moving_mean"): _ZERO,
    ("_contrib_BatchNormWithReLU", "moving_var"): _ONE,
    ("_contrib_SyncBatchNorm", "moving_mean"): _ZERO,
    ("_contrib_SyncBatchNorm", "moving_var"): _ONE,
    ("LeakyReLU", "gamma"): '["Constant", {"value": 0.25}]',
}

LOSSES = frozenset(
    [
        "SoftmaxOutput",
        "LinearRegressionOutput",
        "LogisticRegressionOutput",
        "MAERegressionOutput",
        "SVMOutput",
        "MakeLoss",
        "make_loss",
        "IdentityAttachKLSparseReg",
    ]
)

_COMPLETE: dict[str, rules.Complete] = {
    "Custom": _custom.complete,
    "Convolution": rules.convolution,
    "Deconvolution": rules.deconvolution,
    "RNN": rules.recurrent,
}

_RESULT: dict[str, rules.Result] = {
    "Custom": _custom.result,
    "FullyConnected": rules.dense_result,
    "Convolution": rules.convolution_result,
    "Deconvolution": rules.deconvolution_result,
    "Pooling": rules.pooling_result,
    "RNN": rules.recurrent_result,
    "UpSampling": rules.upsampling_result,
    "LRN": rules.same_result,
    "Dropout": rules.same_result,
    "IdentityAttachKLSparseReg": rules.same_result,
}

#: Ops of nodes whose inputs and outputs have one shape, besides those of the core's table.
_SAME_SHAPE = frozenset(
    [
        "elemwise_add",
        "elemwise_sub",
        "elemwise_mul",
        "elemwise_div",
        "add_n",
        "Activation",
        "Dropout",
        "BlockGrad",
        "_copy",
        "Cast",
        "softmax",
        "log_softmax",
        "softmin",
        "SoftmaxActivation",
        "make_loss",
        "MakeLoss",
        "clip",
        "zeros_like",
        "ones_like",
        "L2Normalization",
        "LRN",
        "smooth_l1",
    ]
)


def _own_type(default: int) -> Callable[[Attributes], int]:
    return lambda given: dtype_number(given.get("dtype"), default)


_RESULT_TYPES: dict[str, Callable[[Attributes], int | None]] = {
    **dict.fromkeys(("argmax", "argmin", "argmax_channel"), lambda given: FLOAT32),
    **dict.fromkeys(("shape_array", "size_array", "_npi_argmax", "_npi_argmin"), _own_type(INT64)),
    **dict.fromkeys(("one_hot", "argsort", "Embedding", *_CREATION), _own_type(FLOAT32)),
    **{
        f"_npi_{name}{suffix}": _own_type(BOOL)
        for name in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")
        for suffix in ("", "_scalar")
    },
}


# --- finding entries ---


@cache
def _scalar_functions() -> dict[str, Function]:
    return _scalar_ops()


@cache
def _elementwise_names() -> frozenset[str]:
    """Return the names of ops of one array that work on elements, from the core's table."""
    return frozenset(
        name
        for op, description in table().items()
        # A copy may take another shape.
        if description["elementwise"] and len(description["inputs"]) == 1 and op != "copy"
        for name in description["mxnet_names"]
    )


@cache
def _completions() -> dict[str, rules.Complete]:
    """Return how ops of the core's table complete the shapes of their inputs, by MXNet's names."""

    def completion(op: str, inputs: list[str]) -> rules.Complete:
        def rule(given: Attributes, known: rules.Shapes) -> rules.Shapes:
            shapes = [known.get(name) for name in inputs]
            return dict(zip(inputs, complete_shapes(op, given, shapes), strict=True))

        return rule

    return {
        name: completion(op, description["inputs"])
        for op, description in table().items()
        if description["completes"]
        for name in description["mxnet_names"]
    }


def _legacy_function(name: str) -> Function | None:
    """Return the function of nd that an op stands for."""
    for candidate in (name, *other_names(name)):
        function = getattr(_functions, candidate, None)
        if _is_function(function) and candidate not in NO_OPS:
            return function
    if name.startswith("_contrib_"):
        found = getattr(_functions.contrib, name.removeprefix("_contrib_"), None)
        return found if _is_function(found) else None
    return None


def _is_function(value: Any) -> TypeGuard[Function]:
    return isinstance(value, Operation) or inspect.isfunction(inspect.unwrap(value))


def _of_table(name: str, function: Operation, legacy: bool) -> Entry:
    """Return the entry that the declaration of an op tells."""
    slots = spelling_of(function).slots
    described = table()[function.name]["described"]
    parameters = [slot for slot in slots if slot.role == "parameter"]
    numbers = [slot.name for slot in slots if slot.role == "input" and slot.default is not None]
    variadic = any(slot.role == "inputs" for slot in slots)
    names = [slot.name for slot in parameters]
    return Entry(
        name,
        tuple(slot.name for slot in slots if slot.role == "input" and slot.name not in numbers),
        tuple(dict.fromkeys((*names, *numbers, *(("num_args",) if variadic else ())))),
        function,
        legacy,
        variadic,
        required=frozenset(
            slot.name for slot in parameters if slot.required or described[slot.parameter][1]
        ),
        text=frozenset(
            slot.name for slot in parameters if described[slot.parameter][0][:1] in "'t"
        ),
        optional=frozenset(
            slot.name for slot in slots if slot.role == "input" and not slot.required
        ),
    )


def _declared(name: str, function: Function | None) -> Entry:
    inputs, _, parameters = (part.split() for part in _DECLARED[name].partition("|"))
    variadic = inputs == ["*"]
    return Entry(
        name,
        () if variadic else tuple(inputs),
        tuple(parameters),
        function,
        variadic=variadic,
        optional=frozenset(one for one in inputs if f"use_{one}" in parameters or one == "like"),
        any_parameter=name == "Custom",
    )


def _derived(name: str, function: Function, arrays: int | None, legacy: bool) -> Entry:
    """Return the entry that a signature tells; ``arrays`` is how many arguments are arrays."""
    if isinstance(function, Operation):
        return _of_table(name, function, legacy)
    inputs, parameters, text, required, optional = [], [], set(), set(), set()
    variadic = any_parameter = False
    for position, one in enumerate(inspect.signature(function).parameters.values()):
        if one.name in ("out", "name"):
            continue
        annotation = str(one.annotation)
        if one.kind is one.VAR_POSITIONAL:
            variadic = True
        elif one.kind is one.VAR_KEYWORD:
            any_parameter = legacy
        elif position < arrays if arrays is not None else "NDArray" in annotation:
            inputs.append(one.name)
            if one.default is not one.empty:
                optional.add(one.name)
        else:
            parameters.append(one.name)
            if one.default is one.empty:
                required.add(one.name)
            if annotation in ("str", "str | None"):
                text.add(one.name)
    if variadic:
        parameters.append("num_args")
    return Entry(
        name,
        tuple(inputs),
        tuple(dict.fromkeys(parameters)),
        function,
        legacy,
        variadic,
        any_parameter=any_parameter,
        required=frozenset(required),
        text=frozenset(text),
        optional=frozenset(optional),
    )


def _basic(name: str) -> Entry:
    """Return what is known of an op without the tables above."""
    if name in _scalar_functions():
        return Entry(name, ("data",), ("scalar", "is_int"), _scalar_functions()[name])
    if name in _BINARY:
        operated = _BINARY[name]
        return Entry(name, ("lhs", "rhs"), (), lambda lhs, rhs: operated(lhs, rhs))
    if name in _CREATION:
        return _derived(name, _CREATION[name], 0, True)
    if name in ("pick", "_npx_pick"):
        return _derived(name, _pick, 2, name == "pick")
    if name == "_split_v2":
        return _derived(name, _split_v2, 1, True)
    if name == "_np_cumsum":
        return _derived(name, _functions.cumsum, 1, True)
    function = _legacy_function(name)
    if name in _DECLARED:
        return _declared(name, function)
    if function is not None:
        return _derived(name, function, None, True)
    found = _np_ops.find(name)
    if found is not None:
        return _derived(name, *found, False)
    return Entry(name, variadic=True, is_known=False, any_parameter=True)


@cache
def find(op: str) -> Entry:
    """Return the entry of an op; one that nobody knows can still be written down."""
    name = canonical(op)
    entry = _basic(name)
    same = name in _SAME_SHAPE or (name in _elementwise_names() and len(entry.inputs) == 1)
    same = same or name in _scalar_functions() or (name in _BINARY)
    random = name.startswith(("_random_", "_npi_uniform", "_npi_normal")) and not entry.inputs
    return replace(
        entry,
        required=entry.required | frozenset(_REQUIRED.get(name, ())),
        optional=entry.optional - {"bias", "gamma"},
        auxiliary=_AUXILIARY.get(name, frozenset()),
        is_loss=name in LOSSES,
        is_random=random,
        outputs=_OUTPUTS.get(name),
        total=_TOTAL.get(name, 1),
        complete=_COMPLETE.get(name) or _completions().get(name, rules.alike if same else None),
        result=_RESULT.get(name, rules.drawn_result if random else None),
        result_type=_RESULT_TYPES.get(name),
    )
