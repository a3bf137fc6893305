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

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from ._core import (
    Array,
    TapeNode,
    collect_tape,
    is_recording,
    is_training,
    mark_variable,
    operation,
    origin_of,
    set_recording,
    set_training,
)
from ._gradients import RULES, RecordedCall
from ._python_calls import record_call, rules_of
from ._worlds import in_world
from .error import ArrayNotImplementedError, ArrayTypeError, ArrayValueError, MXNetError

__all__ = [
    "Function",
    "backward",
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
]

_REQUESTS = {"null": 0, "write": 1, "add": 2}
_NOT_RECORDED = (
    "Cannot differentiate node because it is not in a computational graph. You need to set "
    "is_recording to true or use autograd.record() to save computational graphs for backward. If "
    "you want to differentiate the same graph twice, you need to pass retain_graph=True to "
    "backward."
)


@contextmanager
def _scope(recording: bool | None, training: bool | None) -> Iterator[None]:
    """Set the two switches of this thread for a while; ``None`` leaves one as it is."""
    old_recording = None if recording is None else set_recording(recording)
    old_training = None if training is None else set_training(training)
    try:
        yield
    finally:
        if old_recording is not None:
            set_recording(old_recording)
        if old_training is not None:
            set_training(old_training)


def record(train_mode: bool = True) -> Any:
    """Record the calls in a ``with`` scope, in training mode unless told otherwise."""
    return _scope(True, train_mode)


def pause(train_mode: bool = False) -> Any:
    """Record nothing in a ``with`` scope."""
    return _scope(False, train_mode)


def train_mode() -> Any:
    """Behave as in training in a ``with`` scope (dropout drops, statistics are gathered)."""
    return _scope(None, True)


def predict_mode() -> Any:
    """Behave as in prediction in a ``with`` scope."""
    return _scope(None, False)


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
        fresh_variables.discard(variable_key(variable))


def _as_list(value: Any) -> list[Any]:
    return [value] if isinstance(value, Array) else list(value)


class _Backward:
    """One walk over the tape, latest call first."""

    def __init__(self, heads: list[Any], head_grads: list[Any], wanted: list[Any]) -> None:
        self._sums: dict[tuple[int, int], Any] = {}
        for head, gradient in zip(heads, head_grads, strict=True):
            origin = origin_of(head)
            if origin is None:
                raise MXNetError(_NOT_RECORDED)
            self._add(origin[0].key, origin[1], self._head_gradient(head, gradient))
        self.nodes: list[TapeNode] = collect_tape(heads, wanted)
        self._keys = {node.key for node in self.nodes}

    @staticmethod
    def _head_gradient(head: Any, gradient: Any) -> Any:
        if gradient is None:
            ones: Any = operation("copy", head._legacy)(
                1, shape=head.shape, dtype=head._dtype_number, ctx=head._context_numbers
            )
            return ones
        if gradient.shape != head.shape:
            raise ArrayValueError(
                f"[backward] the head gradient has shape {gradient.shape}, its head {head.shape}"
            )
        return gradient

    def _add(self, key: int, output: int, gradient: Any) -> None:
        place = (key, output)
        old = self._sums.get(place)
        self._sums[place] = gradient if old is None else old + in_world(gradient, old._legacy)

    def run(self, deliver: Callable[[TapeNode, Any], None], kept: set[tuple[int, int]]) -> None:
        """Call the rules; hand the sums of variables over. ``kept`` sums stay for taking."""
        for node in self.nodes:
            key = node.key
            if node.is_variable:
                place = (key, 0)
                deliver(node, self._take(place, place in kept, node.legacy))
                continue
            places = [(key, output) for output in range(node.output_count)]
            totals = [self._take(place, place in kept, node.legacy) for place in places]
            if any(total is not None for total in totals):
                self._call_rules(node, totals)

    def _take(self, place: tuple[int, int], keep: bool, legacy: bool) -> Any:
        total = self._sums.get(place) if keep else self._sums.pop(place, None)
        return None if total is None else in_world(total, legacy)

    def _call_rules(self, node: TapeNode, totals: list[Any]) -> None:
        name = node.name
        rules = (rules_of(node) if name == "write" else None) or RULES.get(name)
        if rules is None:
            raise ArrayNotImplementedError(f"[{name}] has no gradient")
        call = RecordedCall(node)
        totals = [total if total is None else in_world(total, call.legacy) for total in totals]
        gradient = totals[0] if len(totals) == 1 else totals
        for index, parent, output in node.parents:
            rule = rules[min(index, len(rules) - 1)]
            if rule is None or parent not in self._keys:
                continue
            call.index = index
            self._add(parent, output, rule.function(call, gradient))

    def kept(self, place: tuple[int, int]) -> Any:
        """Return a sum that was kept."""
        return self._sums.get(place)


def backward(
    heads: Any, head_grads: Any = None, retain_graph: bool = False, train_mode: bool = True
) -> None:
    """Queue the computation of the gradients of all variables that ``heads`` depend on.

    Without ``retain_graph`` the recorded calls are forgotten. Returns before anything is computed.
    """
    heads = _as_list(heads)
    gradients = [None] * len(heads) if head_grads is None else _as_list(head_grads)
    with _scope(False, train_mode):
        walk = _Backward(heads, gradients, [])
        walk.run(_deliver, set())
    if not retain_graph:
        for node in walk.nodes:
            if not node.is_variable:
                node.release()


#: The variables, by key, that ``backward`` has reached and no trainer has updated since. The key
#: of a variable that is gone is used again, so it is taken out for every new one.
fresh_variables: set[int] = set()


def variable_key(variable: Any) -> int:
    """Return the key of a variable among ``fresh_variables``; 0 for other arrays."""
    origin = origin_of(variable)
    return 0 if origin is None else origin[0].key


def _deliver(node: TapeNode, total: Any) -> None:
    """Write or add to the gradient of a variable."""
    fresh_variables.add(node.key)
    target = node.gradient
    if target is None or node.request == 0:
        return
    if total is None:
        if node.request == 1:
            target._assign(0)
        return
    total = in_world(total, target._legacy)
    if node.request == 2:
        target += total
    else:
        del target  # else it would hold the memory that is about to be replaced
        if not node.replace_gradient(total):
            node.gradient._assign(total)


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
    origins = [origin_of(variable) for variable in wanted]
    places = [(origin[0].key, origin[1]) for origin in origins if origin is not None]
    if len(places) < len(wanted):
        raise MXNetError(
            "[grad] a variable takes no part in the recorded computation; call attach_grad() first"
        )
    gradients = [None] * len(heads) if head_grads is None else _as_list(head_grads)
    with _scope(create_graph, train_mode):
        walk = _Backward(heads, gradients, wanted)
        walk.run(lambda node, total: None, set(places))
        results = []
        for variable, place in zip(wanted, places, strict=True):
            total = walk.kept(place)
            if total is None:
                raise MXNetError("[grad] the heads do not depend on one of the variables")
            result = total._as_class(variable._legacy)
            if create_graph and origin_of(result) is None:
                result = _constant_of(variable, result)
            results.append(result)
    keep = create_graph if retain_graph is None else retain_graph
    if not keep:
        for node in walk.nodes:
            if not node.is_variable:
                node.release()
    return results


def _constant_of(variable: Any, value: Any) -> Any:
    """Return a value as a function of a variable that does not change with it."""
    copy, shape = operation("copy", variable._legacy), variable.shape
    dtype, context = variable._dtype_number, variable._context_numbers
    (result,) = record_call(
        [variable], [value], lambda _: [copy(0, shape=shape, dtype=dtype, ctx=context)]
    )
    return result


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
        with _scope(False, None):
            outputs = self.forward(*inputs)
        made = [outputs] if isinstance(outputs, Array) else list(outputs)
        if any(output is saved for output in made for saved in self._saved):
            self._calls_again = (inputs, made)
        results = record_call(inputs, made, partial(self._gradients, len(inputs)))
        return results[0] if isinstance(outputs, Array) else results

    def _gradients(self, input_count: int, output_gradients: list[Any]) -> list[Any]:
        saved = self._saved
        if is_recording() and self._calls_again is not None:
            # What is saved of the outputs has no place on the tape: the tape holds this function,
            # which would hold the tape. So they get one now.
            inputs, made = self._calls_again
            known = record_call(inputs, made, partial(self._gradients, input_count))
            pairs = list(zip(made, known, strict=True))
            self._saved = tuple(
                next((new for old, new in pairs if old is one), one) for one in saved
            )
        gradients = _as_list(self.backward(*output_gradients))
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
