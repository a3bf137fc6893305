# SPDX-License-Identifier: Apache-2.0
"""``mx.autograd``: record what is computed, then walk it backwards.

>>> from afterglow import autograd, nd
>>> x = nd.array([1, 2, 3])
>>> x.attach_grad()
>>> with autograd.record():
...     y = (x * x).sum()
>>> y.backward()
>>> x.grad
<BLANKLINE>
[2. 4. 6.]
<NDArray 3 @cpu(0)>
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ._core import (
    AnomalyScope,
    Array,
    AutogradScope,
    TapeNode,
    collect_tape,
    is_recording,
    is_training,
    mark_variable,
    operation,
    origin_of,
    record_call,
    set_gradient_rules,
    set_recording,
    set_training,
    unshare,
    walk_tape,
)
from ._mathematics.gradients import RULES, RecordedCall
from .error import ArrayTypeError, ArrayValueError, MXNetError

#: What a star import gives beside ours, as MXNet's module imports it; `dir` does not show it.
_star_imported = ("NDArray", "Symbol", "traceback")

__all__ = [
    "Function",
    "backward",
    "detect_anomaly",
    "grad",
    "is_recording",
    "is_training",
    "mark_variables",
    "pause",
    "predict_mode",
    "record",
    "set_recording",
    "set_training",
    "train_mode",
    *_star_imported,
]

_REQUESTS = {"null": 0, "write": 1, "add": 2}


def record(train_mode: bool = True) -> Any:
    """Record the calls in a ``with`` scope, in training mode unless told otherwise."""
    return AutogradScope(True, train_mode)


def pause(train_mode: bool = False) -> Any:
    """Record nothing in a ``with`` scope."""
    return AutogradScope(False, train_mode)


def train_mode() -> Any:
    """Behave as in training in a ``with`` scope (dropout drops, statistics are gathered)."""
    return AutogradScope(None, True)


def predict_mode() -> Any:
    """Behave as in prediction in a ``with`` scope."""
    return AutogradScope(None, False)


def detect_anomaly(mode: bool | None = None) -> Any:
    """Raise at the first call whose result has nan, or is infinite although its inputs are not.

    ``with detect_anomaly():`` looks for it in a ``with`` scope, ``detect_anomaly(True)`` from here
    on, until ``detect_anomaly(False)``, in this thread. Each call is waited for meanwhile, and
    hybridized blocks run call by call.

    >>> from afterglow import autograd, nd
    >>> with autograd.detect_anomaly():
    ...     y = nd.log(nd.array([1, 0]))
    Traceback (most recent call last):
    ...
    afterglow.error.MXNetError: [log] the result, (2,) float32, has 1 inf, but all inputs are ...
    """
    return AnomalyScope(mode is not False, mode is not None)


def request_number(grad_req: str) -> int:
    """Return the number of "write", "add" or "null"."""
    try:
        return _REQUESTS[grad_req]
    except KeyError:
        raise ArrayValueError(
            f"grad_req must be 'write', 'add' or 'null', but got {grad_req!r}"
        ) from None


def mark_variables(
    variables: Any, gradients: Any, grad_reqs: str | Sequence[str] = "write"
) -> None:
    """Let gradients of ``variables`` be computed into ``gradients``."""
    if isinstance(variables, Array):
        variables, gradients = [variables], [gradients]
    requests = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else grad_reqs
    for variable, gradient, request in zip(variables, gradients, requests, strict=True):
        if gradient.shape != variable.shape:
            raise ArrayValueError(
                f"the gradient has shape {gradient.shape}, its variable {variable.shape}"
            )
        mark_variable(variable, gradient, request_number(request))


def _as_list(value: Any) -> list[Any]:
    return [value] if isinstance(value, Array) else list(value)


def _head_gradients(heads: list[Any], given: Any) -> list[Any]:
    """Return what the walk starts with: None, for ones, where nothing is given."""
    if given is None:
        return [None] * len(heads)
    result = []
    for head, gradient in zip(heads, _as_list(given), strict=True):
        if gradient is None:
            pass
        elif gradient.shape != head.shape:
            raise ArrayValueError(
                f"[backward] the head gradient has shape {gradient.shape}, its head {head.shape}"
            )
        elif gradient._dtype_number != head._dtype_number:
            gradient = operation("copy", head._legacy)(gradient, dtype=head._dtype_number)
        result.append(gradient)
    return result


set_gradient_rules(RULES, RecordedCall)


def backward(
    heads: Any, head_grads: Any = None, retain_graph: bool = False, train_mode: bool = True
) -> None:
    """Queue the computation of the gradients of all variables that ``heads`` depend on.

    Without ``retain_graph`` the recorded calls are forgotten. Returns before anything is computed.
    """
    heads = _as_list(heads)
    with AutogradScope(False, train_mode):
        walk_tape(heads, _head_gradients(heads, head_grads), [], not retain_graph)


def grad(
    heads: Any,
    variables: Any,
    head_grads: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
) -> Any:
    """Return the gradients of ``heads`` with respect to ``variables``, as a list of new arrays.

    With ``create_graph`` they are recorded themselves, so that they can be differentiated again.
    """
    heads, wanted = _as_list(heads), _as_list(variables)
    if not wanted:
        raise ArrayTypeError("[grad] needs at least one variable")
    if any(origin_of(variable) is None for variable in wanted):
        raise MXNetError(
            "[grad] a variable takes no part in the recorded computation; call attach_grad() first"
        )
    keep = create_graph if retain_graph is None else retain_graph
    with AutogradScope(create_graph, train_mode):
        totals = walk_tape(heads, _head_gradients(heads, head_grads), wanted, not keep)
        if any(total is None for total in totals):
            raise MXNetError("[grad] the heads do not depend on one of the variables")
        unshare(totals)
        results = []
        for variable, total in zip(wanted, totals, strict=True):
            result = total._as_class(variable._legacy)
            if create_graph and origin_of(result) is None:
                result = _constant_of(variable, result)
            results.append(result)
    return results


def _constant_of(variable: Any, value: Any) -> Any:
    """Return a value as a function of a variable that does not change with it."""
    copy, shape = operation("copy", variable._legacy), variable.shape
    dtype, context = variable._dtype_number, variable._context_numbers
    (result,) = record_call(
        [variable], [value], lambda _: [copy(0, shape=shape, dtype=dtype, ctx=context)]
    )
    return result


def gradients_where_reached(
    heads: list[Any], variables: list[Any], head_grads: list[Any]
) -> list[Any]:
    """Return the gradients of ``heads``; ``None`` for a variable that they do not depend on."""
    recorded = [origin_of(variable) is not None for variable in variables]
    wanted = [one for one, known in zip(variables, recorded, strict=True) if known]
    if not wanted:
        return [None] * len(variables)
    with AutogradScope(False, None):
        found = iter(walk_tape(heads, list(head_grads), wanted, False))
    return [next(found) if known else None for known in recorded]


def nodes_behind(heads: list[Any], first: int) -> list[TapeNode]:
    """Return the recorded calls behind ``heads``, from that number of the tape on."""
    return [node for node in collect_tape(heads) if node.sequence >= first and not node.is_variable]


class Function:
    """A function with a gradient of its own; an instance serves one call.

    ``forward`` and ``backward`` run at once, but what they call is queued as always. A gradient of
    the gradient is that of ``backward``, in which inputs and outputs that were saved are known as
    such; other results of ``forward`` are constants there.

    >>> from afterglow import autograd, nd
    >>> class Sigmoid(autograd.Function):
    ...     def forward(self, x):
    ...         y = 1 / (1 + nd.exp(-x))
    ...         self.save_for_backward(y)
    ...         return y
    ...
    ...     def backward(self, dy):
    ...         (y,) = self.saved_tensors
    ...         return dy * y * (1 - y)
    >>> x = nd.zeros((2,))
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = Sigmoid()(x)
    >>> y.backward()
    >>> x.grad
    <BLANKLINE>
    [0.25 0.25]
    <NDArray 2 @cpu(0)>
    """

    def __init__(self) -> None:
        self._used = False
        self._saved: tuple[Any, ...] = ()
        self._calls_again: tuple[tuple[Any, ...], list[Any]] | None = None

    def save_for_backward(self, *args: Any) -> None:
        """Keep arrays for ``backward``."""
        self._saved = args

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What ``save_for_backward`` was given."""
        return self._saved

    def __call__(self, *inputs: Any) -> Any:
        """Call ``forward``, and let gradients come from ``backward``."""
        assert not self._used, (
            "Each Function instance can only be called once. Please create another instance."
        )
        self._used = True
        with AutogradScope(False, None):
            outputs = self.forward(*inputs)
        made = [outputs] if isinstance(outputs, Array) else list(outputs)
        if any(output is saved for output in made for saved in self._saved):
            self._calls_again = (inputs, made)
        results = record_call(list(inputs), made, partial(self._gradients, len(inputs)))
        return results[0] if isinstance(outputs, Array) else results

    def _gradients(self, input_count: int, output_gradients: list[Any]) -> list[Any]:
        saved = self._saved
        if is_recording() and self._calls_again is not None:
            # What is saved of the outputs has no place on the tape: the tape holds this function,
            # which would hold the tape. So they get one now.
            inputs, made = self._calls_again
            known = record_call(list(inputs), made, partial(self._gradients, input_count))
            pairs = list(zip(made, known, strict=True))
            self._saved = tuple(
                next((new for old, new in pairs if old is one), one) for one in saved
            )
        try:
            gradients = _as_list(self.backward(*output_gradients))
        finally:
            self._saved = saved
        assert len(gradients) == input_count, (
            f"{type(self).__name__}.backward must return exactly as many arrays as forward takes: "
            f"{input_count}, but it returned {len(gradients)}."
        )
        return gradients

    def forward(self, *inputs: Any) -> Any:
        """Compute the outputs. Subclasses define it."""
        raise NotImplementedError

    def backward(self, *output_grads: Any) -> Any:
        """Compute the gradients of the inputs from those of the outputs. Subclasses define it."""
        raise NotImplementedError
