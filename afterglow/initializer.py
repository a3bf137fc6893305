# SPDX-License-Identifier: Apache-2.0
"""``mx.init``: the first values of parameters.

An initializer is called with a description (a name with attributes) and the array to fill. What it
fills it with depends on the end of the name: ``weight`` is the interesting case, biases are zero,
scales are one. A parameter that has an initializer of its own always gets its weights.
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from math import ceil, prod, sqrt
from typing import Any, TypeVar

import numpy as onp

from ._core import Array, operation
from ._interoperation.host_calls import Host, declare_host
from ._package.keywords import NamedKeywords

__all__ = [
    "Bilinear",
    "Constant",
    "FusedRNN",
    "InitDesc",
    "Initializer",
    "LSTMBias",
    "Load",
    "MSRAPrelu",
    "Mixed",
    "Normal",
    "One",
    "Orthogonal",
    "Uniform",
    "Xavier",
    "Zero",
    "alias",
    "create",
    "register",
]

Registered = TypeVar("Registered", bound=type)

_registry: dict[str, Any] = {}


class InitDesc(str):
    """The name of a parameter, with what else is known about it.

    >>> from afterglow import init
    >>> init.InitDesc("dense0_weight", {"lr_mult": 2}).attrs
    {'lr_mult': 2}
    """

    attrs: dict[str, Any]
    global_init: Any

    def __new__(
        cls, name: str, attrs: dict[str, Any] | None = None, global_init: Any = None
    ) -> InitDesc:
        """Make a string that carries attributes."""
        desc = super().__new__(cls, name)
        desc.attrs = attrs or {}
        desc.global_init = global_init
        return desc


def register(klass: Registered) -> Registered:
    """Let a class of initializers be named by a string: its own name in small letters.

    >>> from afterglow import init
    >>> @init.register
    ... class Sevens(init.Initializer):
    ...     def _init_weight(self, name, arr):
    ...         arr[:] = 7
    >>> type(init.create("sevens")).__name__
    'Sevens'
    """
    name = klass.__name__.lower()
    known = _registry.get(name)
    if known is not None and known is not klass:
        warnings.warn(
            f"the name {name!r} of the initializer {known} now means {klass}",
            stacklevel=2,
        )
    _registry[name] = klass
    return klass


def alias(*aliases: str) -> Callable[[Registered], Registered]:
    """Let a class of initializers be named by further strings."""

    def decorate(klass: Registered) -> Registered:
        for name in aliases:
            _registry[name.lower()] = klass
        return register(klass)

    return decorate


def create(initializer: Any, *args: Any, **kwargs: Any) -> Any:
    """Return an initializer from its name and arguments, from what ``dumps`` gave, or as it is.

    >>> from afterglow import init
    >>> init.create("xavier", magnitude=2).dumps()
    '["xavier", {"rnd_type": "uniform", "factor_type": "avg", "magnitude": 2}]'
    """
    if not isinstance(initializer, str):
        return initializer
    if initializer.startswith("["):
        initializer, kwargs = json.loads(initializer)
    assert initializer.lower() in _registry, (
        f"{initializer} is not registered. Please register with initializer.register first"
    )
    return _registry[initializer.lower()](*args, **kwargs)


def _plain(value: Any) -> Any:
    """Return arrays and numbers of NumPy as JSON knows them."""
    if isinstance(value, Array):
        return value.asnumpy().tolist()
    return value.tolist() if isinstance(value, (onp.ndarray, onp.generic)) else value


def _assign(arr: Any, value: Any) -> None:
    """Write a number, an array of either world, or nested lists of numbers."""
    if isinstance(value, Array):
        value = value._as_class(arr._legacy)
    arr[:] = value


def _uniform(low: float, high: float, arr: Any) -> None:
    _draw("random_uniform", low, high, arr)


def _normal(loc: float, scale: float, arr: Any) -> None:
    _draw("random_normal", loc, scale, arr)


def _draw(name: str, first: float, second: float, arr: Any) -> None:
    operation(name, arr._legacy)(
        first, second, arr.shape, arr._dtype_number, ctx=arr._context_numbers, out=arr
    )


class Initializer(NamedKeywords):
    """Fills arrays according to their names. Subclasses say in ``_init_weight`` what weights are.

    >>> from afterglow import init, nd
    >>> bias = nd.full((3,), 7)
    >>> init.Xavier()(init.InitDesc("dense0_bias"), bias)
    >>> bias
    <BLANKLINE>
    [0. 0. 0.]
    <NDArray 3 @cpu(0)>
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs
        self._verbose = False
        self._print_func: Callable[[Any], str] | None = None

    def set_verbosity(
        self, verbose: bool = False, print_func: Callable[[Any], str] | None = None
    ) -> Initializer:
        """Log what is filled, with what ``print_func`` says about it."""
        self._verbose = verbose
        self._print_func = print_func
        return self

    def dumps(self) -> str:
        """Return name and arguments as JSON."""
        self._kwargs = {name: _plain(value) for name, value in self._kwargs.items()}
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._kwargs == getattr(other, "_kwargs", None)

    def __call__(self, desc: str, arr: Any) -> None:
        """Fill an array that belongs to the parameter of that name."""
        if not isinstance(desc, InitDesc):
            self._fill_by_name(desc, arr, _NAME_PARTS)
            return
        if desc.global_init is None:
            desc.global_init = self
        own = desc.attrs.get("__init__", "")
        if own:
            maker = create(own)
            maker._init_weight(desc, arr)
            self._log(desc, own, arr)
        else:
            self._fill_by_name(desc, arr, _NAME_ENDS)

    def _fill_by_name(self, name: str, arr: Any, table: Sequence[tuple[str, str]]) -> None:
        for pattern, method in table:
            if re.search(pattern, name.lower()):
                getattr(self, method)(name, arr)
                self._log(name, method.removeprefix("_init_"), arr)
                return
        self._init_default(name, arr)

    def _log(self, name: str, init: Any, arr: Any) -> None:
        if self._verbose:
            logging.info(
                "Initialized %s as %s: %s", name, init, (self._print_func or _mean_size)(arr)
            )

    def _init_bilinear(self, name: str, arr: Any) -> None:
        _fill_bilinear(arr)

    def _init_loc_bias(self, name: str, arr: Any) -> None:
        assert arr.shape == (6,), f"{name} must have shape (6,), not {arr.shape}"
        _assign(arr, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0])

    def _init_zero(self, name: str, arr: Any) -> None:
        arr[:] = 0

    def _init_one(self, name: str, arr: Any) -> None:
        arr[:] = 1

    def _init_bias(self, name: str, arr: Any) -> None:
        arr[:] = 0

    def _init_gamma(self, name: str, arr: Any) -> None:
        arr[:] = 1

    def _init_beta(self, name: str, arr: Any) -> None:
        arr[:] = 0

    def _init_weight(self, name: str, arr: Any) -> None:
        raise NotImplementedError("an initializer must say in _init_weight what weights are")

    def _init_default(self, name: str, arr: Any) -> None:
        raise ValueError(
            f"Unknown initialization pattern for {name}. Names end in weight, bias, gamma (1.0) or "
            "beta (0.0); give any other parameter an initializer of its own (init=...)."
        )


#: The ends of names, with the method that fills such arrays.
_NAME_ENDS = (
    (r"weight$", "_init_weight"),
    (r"bias$", "_init_bias"),
    (r"gamma$", "_init_gamma"),
    (r"beta$", "_init_beta"),
    (r"min$", "_init_zero"),
    (r"max$", "_init_one"),
)
#: The same for plain strings, where MXNet knows more names.
_NAME_PARTS = (
    (r"^upsampling", "_init_bilinear"),
    (r"^stn_loc.*weight$", "_init_zero"),
    (r"^stn_loc.*bias$", "_init_loc_bias"),
    (r"bias$", "_init_bias"),
    (r"gamma$", "_init_gamma"),
    (r"beta$", "_init_beta"),
    (r"weight$", "_init_weight"),
    (r"moving_(mean|inv_var|avg)$", "_init_zero"),
    (r"moving_var$", "_init_one"),
    (r"min$", "_init_zero"),
    (r"max$", "_init_one"),
)


def _mean_size(arr: Any) -> str:
    """Say how large the elements are: the norm by the square root of their number."""
    host = arr.asnumpy()
    return str(onp.linalg.norm(host) / sqrt(max(1, host.size)))


def _fill_bilinear(arr: Any) -> None:
    """Write the weights with which a transposed convolution interpolates linearly."""
    height, width = arr.shape[2:]
    half = ceil(width / 2.0)
    centre = (2 * half - 1 - half % 2) / (2.0 * half)
    rows = 1 - onp.abs(onp.arange(height) / half - centre)
    columns = 1 - onp.abs(onp.arange(width) / half - centre)
    _assign(arr, onp.broadcast_to(onp.outer(rows, columns), arr.shape))


@alias("zeros")
class Zero(Initializer):
    """Zeros.

    >>> from afterglow import gluon, init
    >>> weight = gluon.Parameter("weight", shape=(2,))
    >>> weight.initialize(init.Zero())
    >>> weight.data()
    <BLANKLINE>
    [0. 0.]
    <NDArray 2 @cpu(0)>
    """

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: Any) -> None:
        arr[:] = 0


@alias("ones")
class One(Initializer):
    """Ones.

    >>> from afterglow import gluon
    >>> weight = gluon.Parameter("weight", shape=(2,))
    >>> weight.initialize("ones")
    >>> weight.data()
    <BLANKLINE>
    [1. 1.]
    <NDArray 2 @cpu(0)>
    """

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: Any) -> None:
        arr[:] = 1


@register
class Constant(Initializer):
    """One number, or the elements of an array.

    >>> from afterglow import gluon, init
    >>> weight = gluon.Parameter("weight", shape=(2,))
    >>> weight.initialize(init.Constant([1, 2]))
    >>> weight.data()
    <BLANKLINE>
    [1. 2.]
    <NDArray 2 @cpu(0)>
    """

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, name: str, arr: Any) -> None:
        _assign(arr, self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self.dumps() == other.dumps()


@register
class Uniform(Initializer):
    """Numbers spread evenly from ``-scale`` to ``scale``.

    >>> from afterglow import gluon, init
    >>> weight = gluon.Parameter("weight", shape=(2, 3))
    >>> weight.initialize(init.Uniform(0.5))
    >>> float(weight.data().max()) < 0.5
    True
    """

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: str, arr: Any) -> None:
        _uniform(-self.scale, self.scale, arr)


@register
class Normal(Initializer):
    """Normally distributed numbers around zero with standard deviation ``sigma``.

    >>> from afterglow import gluon, init
    >>> weight = gluon.Parameter("weight", shape=(2, 3))
    >>> weight.initialize(init.Normal(sigma=0.01))
    >>> float(weight.data().max()) < 0.1
    True
    """

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, name: str, arr: Any) -> None:
        _normal(0, self.sigma, arr)


@declare_host("orthogonal", infer=lambda matrix, scale: matrix)
def _rotation(matrix: Host, *, scale: float = 1.414) -> Any:
    """Return the singular vectors that fill a matrix, times ``scale``."""
    left, _, right = onp.linalg.svd(matrix, full_matrices=False)
    return scale * (left if left.shape == matrix.shape else right)


@register
class Orthogonal(Initializer):
    """A random matrix with orthogonal rows (or columns, whichever are fewer), times ``scale``.

    >>> from afterglow import gluon, init, nd
    >>> weight = gluon.Parameter("weight", shape=(1, 2))
    >>> weight.initialize(init.Orthogonal(scale=3))
    >>> nd.norm(weight.data())
    <BLANKLINE>
    [3.]
    <NDArray 1 @cpu(0)>
    """

    def __init__(self, scale: float = 1.414, rand_type: str = "uniform") -> None:
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name: str, arr: Any) -> None:
        shape = (arr.shape[0], prod(arr.shape[1:]))
        drawn = arr._shaped(shape)
        if self.rand_type == "uniform":
            _uniform(-1.0, 1.0, drawn)
        elif self.rand_type == "normal":
            _normal(0.0, 1.0, drawn)

        drawn._assign(_rotation(drawn, scale=self.scale))


@register
class Xavier(Initializer):
    """Numbers whose spread keeps the size of activations and gradients from layer to layer.

    The variance is ``magnitude`` by the fan-in (``factor_type="in"``), the fan-out (``"out"``) or
    the mean of both (``"avg"``); ``rnd_type`` is ``"uniform"`` or ``"gaussian"``.

    >>> from afterglow import gluon, init
    >>> net = gluon.nn.Dense(3, in_units=3)
    >>> net.initialize(init.Xavier(magnitude=3))
    >>> float(net.weight.data().max()) <= 1
    True
    """

    def __init__(
        self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3
    ) -> None:
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name: str, arr: Any) -> None:
        shape = arr.shape
        if len(shape) < 2:
            raise ValueError(
                f"Xavier initializer cannot be applied to vector {name}. It requires at least 2D."
            )
        window = prod(shape[2:])
        fan_in, fan_out = shape[1] * window, shape[0] * window
        factors = {"avg": (fan_in + fan_out) / 2.0, "in": fan_in, "out": fan_out}
        if self.factor_type not in factors:
            raise ValueError("Incorrect factor type")
        scale = sqrt(self.magnitude / factors[self.factor_type])
        if self.rnd_type == "uniform":
            _uniform(-scale, scale, arr)
        elif self.rnd_type == "gaussian":
            _normal(0, scale, arr)
        else:
            raise ValueError("Unknown random type")


@register
class MSRAPrelu(Xavier):
    """Normally distributed numbers for layers with (leaky) ReLU of that slope.

    >>> from afterglow import init
    >>> init.MSRAPrelu(slope=0).dumps()
    '["msraprelu", {"factor_type": "avg", "slope": 0}]'
    """

    def __init__(self, factor_type: str = "avg", slope: float = 0.25) -> None:
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
class Bilinear(Initializer):
    """The weights with which a transposed convolution interpolates linearly.

    >>> from afterglow import init, nd
    >>> weight = nd.zeros((1, 1, 2, 2))
    >>> init.Bilinear()(init.InitDesc("up_weight"), weight)
    >>> weight.reshape((2, 2))
    <BLANKLINE>
    [[1. 0.]
     [0. 0.]]
    <NDArray 2x2 @cpu(0)>
    """

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: Any) -> None:
        _fill_bilinear(arr)


@register
class LSTMBias(Initializer):
    """Zeros, but ``forget_bias`` for the forget gates, the second quarter.

    >>> from afterglow import gluon, init
    >>> bias = gluon.Parameter("bias", shape=(4,), init=init.LSTMBias())
    >>> bias.initialize()
    >>> bias.data()
    <BLANKLINE>
    [0. 1. 0. 0.]
    <NDArray 4 @cpu(0)>
    """

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, arr: Any) -> None:
        hidden = arr.shape[0] // 4
        arr[:] = 0
        arr[hidden : 2 * hidden] = self.forget_bias


@register
class FusedRNN(Initializer):
    """The vector of all weights of ``rnn.FusedRNNCell``, each filled by ``init``.

    Without ``init`` the initializer of the whole network fills them. The biases of forget gates are
    ``forget_bias``.

    >>> from afterglow import init, nd
    >>> weights = nd.zeros((16,))  # of one LSTM unit with one input
    >>> init.FusedRNN(init.One(), 1, 1, "lstm")(init.InitDesc("weight"), weights)
    >>> print(weights.asnumpy())
    [1. 1. 1. 1. 1. 1. 1. 1. 0. 1. 0. 0. 0. 1. 0. 0.]
    """

    def __init__(
        self,
        init: Any,
        num_hidden: int,
        num_layers: int,
        mode: str,
        bidirectional: bool = False,
        forget_bias: float = 1.0,
    ) -> None:
        self._init = create(init)
        super().__init__(
            init=None if self._init is None else self._init.dumps(),
            num_hidden=num_hidden,
            num_layers=num_layers,
            mode=mode,
            bidirectional=bidirectional,
            forget_bias=forget_bias,
        )

    def _init_weight(self, name: str, arr: Any) -> None:
        from .rnn import FusedRNNCell

        own = {key: value for key, value in self._kwargs.items() if key != "init"}
        cell = FusedRNNCell(**own, prefix="")
        whole: Any = getattr(name, "global_init", None)
        parts = cell.unpack_weights({"parameters": arr})
        for part, values in parts.items():
            if own["mode"] == "lstm" and part.endswith("_f_bias"):
                values[:] = own["forget_bias"]
            else:
                (self._init or whole)(InitDesc(part, global_init=whole), values)
        _assign(arr, cell.pack_weights(parts)["parameters"])


@register
class Mixed(NamedKeywords):
    """The initializer of the first pattern (a regular expression) that a name matches.

    >>> from afterglow import init, nd
    >>> mixed = init.Mixed(["bias", ".*"], [init.Zero(), init.One()])
    >>> weight = nd.zeros((2,))
    >>> mixed("dense0_weight", weight)
    >>> weight
    <BLANKLINE>
    [1. 1.]
    <NDArray 2 @cpu(0)>
    """

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Any]) -> None:
        assert len(patterns) == len(initializers), "as many patterns as initializers are needed"
        self.map = [
            (re.compile(pattern), initializer)
            for pattern, initializer in zip(patterns, initializers, strict=True)
        ]

    def __call__(self, name: str, arr: Any) -> None:
        """Fill an array."""
        for pattern, initializer in self.map:
            if pattern.match(name):
                initializer(name, arr)
                return
        raise ValueError(
            f'Parameter name {name} did not match any pattern. Consider adding a ".*" pattern at '
            "the end with a default Initializer."
        )

    def _init_weight(self, name: str, arr: Any) -> None:
        """Serve a parameter that has this object for its own initializer."""
        self(InitDesc(name), arr)


@register
class Load(NamedKeywords):
    """Values from a file or a dictionary; what is not there is left to ``default_init``.

    >>> from afterglow import init, nd
    >>> weight = nd.zeros((2,))
    >>> init.Load({"weight": nd.array([1, 2])})("weight", weight)
    >>> weight
    <BLANKLINE>
    [1. 2.]
    <NDArray 2 @cpu(0)>
    """

    def __init__(
        self, param: str | Mapping[str, Any], default_init: Any = None, verbose: bool = False
    ) -> None:
        from . import ndarray

        functions: Any = ndarray
        values = functions.load(param) if isinstance(param, str) else param
        self.param = {
            name[4:] if name.startswith(("arg:", "aux:")) else name: value
            for name, value in values.items()
        }
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name: str, arr: Any) -> None:
        """Fill an array."""
        if name in self.param:
            value = self.param[name]
            assert arr.shape == value.shape, (
                f"Parameter {name} cannot be initialized from loading. Shape mismatch, target "
                f"{arr.shape} vs loaded {value.shape}"
            )
            _assign(arr, value)
        else:
            assert self.default_init is not None, (
                f"Cannot Initialize {name}. Not found in loaded param and no default Initializer "
                "is provided."
            )
            self.default_init(name, arr)
        if self.verbose:
            source = "loading" if name in self.param else "default"
            logging.info("Initialized %s by %s", name, source)

    def _init_weight(self, name: str, arr: Any) -> None:
        """Serve a parameter that has this object for its own initializer."""
        self(name, arr)
