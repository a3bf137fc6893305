# SPDX-License-Identifier: Apache-2.0
"""Blocks: what networks are made of. A block has parameters, children and a ``forward``."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any

from .. import autograd, ndarray, symbol
from .._arrays.handles import lent
from .._arrays.worlds import in_world
from .._core import Array, Scope, refuse_capture, run_forward
from .._formats.params import read, replace
from .._package.keywords import NamedKeywords
from ..error import (
    ArrayAttributeError,
    ArrayValueError,
    MismatchError,
)
from ..initializer import Uniform
from ..name import NameManager, Prefix
from ..symbol._run import Plan
from ..util import is_np_array
from . import _structure
from ._compiled import Compiled
from ._deferred import AllKnown, Unknown
from ._inputs import count_inputs, first_symbol, flat_symbols
from ._layers import Layers
from ._mxnet_internals import BlockInternals, flatten, regroup
from ._watchers import Watchers
from .parameter import (
    DeferredInitializationError,
    Parameter,
    ParameterDict,
    load_file,
    quoted,
)
from .utils import HookHandle, Hooks, first_array, map_arrays

__all__ = ["Block", "HybridBlock"]


class _Scope(threading.local):
    """The block in whose ``name_scope`` this thread makes others."""

    block: Block | None = None


_scope = _Scope()


class _NameScope(Scope):
    """Gives the blocks made in a ``with`` scope the prefix of their parent."""

    def __init__(self, block: Block) -> None:
        self._block = block

    def _enter(self) -> Any:
        if not self._block._block_has_prefix:  # without one there is no scope of its own either
            return self, []
        _, changes = Prefix(self._block._prefix)._enter()  # for symbols made in the scope
        return self, [(_scope, "block", self._block), *changes]


#: Attributes that ``Block`` itself keeps.
_OWN_CONTAINERS = frozenset(("_children", "_reg_params", "_block_names", "_flags"))


class _SetByInit:
    """What ``__init__`` sets for each block: to look for it before tells that it was not called."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner = owner.__name__

    def __get__(self, block: Any, kind: type) -> Any:
        if block is None:
            return self
        raise ArrayAttributeError(
            f"[{kind.__name__}] {self._owner}.__init__ has not been called; call "
            f"super().__init__() first in {kind.__name__}.__init__, before anything is assigned"
        )


def _unregistered(container: Any, known: set[int]) -> Iterator[Block | Parameter]:
    """Yield what is not known of the blocks with parameters, and the parameters, in a container."""
    stack = [container]
    while stack:
        value = stack.pop()
        if isinstance(value, (list, tuple, dict, Block, Parameter)) and id(value) not in known:
            known.add(id(value))
            if isinstance(value, Parameter) or (
                isinstance(value, Block) and value._collect_params_with_prefix()
            ):
                yield value
            elif not isinstance(value, Block):
                stack += reversed(list(value.values() if isinstance(value, dict) else value))


class Block(NamedKeywords):
    """A part of a network: its parameters, its children, and what it does to its inputs.

    Blocks and parameters that are assigned to attributes are found by ``collect_params`` and the
    like. Subclasses say in ``forward`` what they compute.

    >>> from afterglow import gluon, nd
    >>> class Twice(gluon.Block):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         self.dense = gluon.nn.Dense(1, weight_initializer="ones", in_units=2)
    ...
    ...     def forward(self, x):
    ...         return 2 * self.dense(x)
    >>> block = Twice()
    >>> block
    Twice(
      (dense): Dense(2 -> 1, linear)
    )
    >>> block.initialize()
    >>> block(nd.array([[1, 2]]))
    <BLANKLINE>
    [[6.]]
    <NDArray 1x1 @cpu(0)>
    """

    if not TYPE_CHECKING:
        # What is looked at first, whatever is done with a block.
        _prefix, _name, _params, _children = (_SetByInit() for _ in range(4))
        _reg_params, _forward_pre_hooks, _block_watchers = (_SetByInit() for _ in range(3))
        _block_has_prefix = _SetByInit()

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        parent = _scope.block
        self._block_has_prefix = prefix != ""
        if prefix is None:
            hint = self._alias()
            name = (
                NameManager.current.get(None, hint) if parent is None else parent._block_count(hint)
            )
            prefix = f"{name}_"
        if params is not None:
            params = ParameterDict(params.prefix, params)
        elif parent is None:
            params = ParameterDict(prefix)
        else:
            params = ParameterDict(parent.params.prefix + prefix, parent.params._shared)
        self._prefix = prefix if parent is None else parent.prefix + prefix
        self._params = params
        self._name = self._prefix.removesuffix("_")
        self._block_names: dict[str, int] = {}
        self._children: dict[str, Block] = {}
        self._reg_params: dict[str, Parameter] = {}
        self._forward_hooks = Hooks()
        self._forward_pre_hooks = Hooks()
        self._block_watchers = Watchers()
        self._block_layers = Layers()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out of copies and pickles what belongs to this block in this process."""
        own = ("_block_watchers", "_block_layers", "_block_compiled")
        return {name: value for name, value in vars(self).items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _block_watchers=Watchers(), _block_layers=Layers())

    def _block_changed(self) -> None:
        """Let hybridized blocks above look at this one anew."""
        self._block_watchers.forget()

    def _alias(self) -> str:
        """Return what names of blocks like this one begin with."""
        return type(self).__name__.lower()

    def _block_count(self, hint: str) -> str:
        """Return the next name for a child of a kind."""
        number = self._block_names.get(hint, 0)
        self._block_names[hint] = number + 1
        return f"{hint}{number}"

    def __repr__(self) -> str:
        shown = (
            f"  ({name}): {block!r}".replace("\n", "\n  ") for name, block in self._block_shown()
        )
        return "{}(\n{}\n)".format(type(self).__name__, "\n".join(shown))

    def _repr_html_(self) -> str:
        from ..notebooks.display import block_html

        return block_html(self)

    def _block_shown(self) -> Iterable[tuple[str, Any]]:
        """Return the blocks that are printed, with their names."""
        return [(name, one) for name, one in vars(self).items() if isinstance(one, Block)]

    def __setattr__(self, name: str, value: Any) -> None:
        old = vars(self).get(name)
        if isinstance(old, (Parameter, Block)) and not isinstance(value, type(old)):
            raise TypeError(
                f"Changing attribute type for {name} from {type(old)} to {type(value)} is not "
                "allowed."
            )
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            assert name not in self._reg_params, (
                f"Overriding Parameter attribute {name} is not allowed. If you want to share "
                "parameters by setting `params` at Block construction, do it there."
            )
            self._reg_params[name] = value
            self._block_changed()
        super().__setattr__(name, value)
        if isinstance(value, Array) or isinstance(old, Array):
            self._block_exchanged(name, old, value)

    def _block_exchanged(self, name: str, old: Any, value: Any) -> None:
        """Let hybridized blocks forget plans with an array that is an attribute no more."""
        refuse_capture(f"it assigns an array to its attribute {name!r}")
        like = isinstance(old, Array) and isinstance(value, Array)
        if "_block_watchers" not in vars(self):  # before Block.__init__
            return
        for compiled in self._block_watchers.alive():
            if not like or compiled.holds(old):
                compiled.forget()

    # --- names ---

    @property
    def prefix(self) -> str:
        """What the names of its parameters begin with."""
        return self._prefix

    @property
    def name(self) -> str:
        """The prefix without the underscore."""
        return self._name

    def name_scope(self) -> Any:
        """Give blocks and parameters that are made in a ``with`` scope the prefix of this one."""
        return _NameScope(self)

    # --- parameters and children ---

    @property
    def params(self) -> ParameterDict:
        """The parameters of the block itself, without those of its children."""
        return self._params

    def collect_params(self, select: str | None = None) -> ParameterDict:
        """Return the parameters of the block and its children whose names match a pattern."""
        self._block_warn_of_containers()
        result = ParameterDict(self._params.prefix)
        if select is None:
            result.update(self.params)
        else:
            pattern = re.compile(select)
            result._params.update(
                (name, value) for name, value in self.params.items() if pattern.match(name)
            )
        for child in self._children.values():
            result.update(child.collect_params(select))
        return result

    def _block_warn_of_containers(self) -> None:
        """Warn of blocks and parameters in lists and the like, which nobody finds there."""
        for name, value in vars(self).items():
            if not isinstance(value, (list, tuple, dict)) or not value or name in _OWN_CONTAINERS:
                continue
            known = {id(one) for one in (*self._block_descendants(), *self._params.values())}
            lost = [one.name for one in _unregistered(value, known)]
            if lost:
                warnings.warn(
                    f"{type(self).__name__}.{name} holds {quoted(lost)}, which collect_params() "
                    f"does not find there: they are not initialized, trained or saved with "
                    f"{self.name}. Put blocks into nn.Sequential or nn.HybridSequential, or call "
                    "register_child() with each; make parameters by params.get(), or assign each "
                    "to an attribute.",
                    stacklevel=3,
                )

    def _block_descendants(self) -> Iterator[Block | Parameter]:
        """Yield all blocks below, and the parameters that are attributes of blocks."""
        yield from self._reg_params.values()
        for child in self._children.values():
            yield child
            yield from child._block_descendants()

    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Parameter]:
        """Return the parameters by the attributes that lead to them, as in "0.weight"."""
        result = {prefix + name: parameter for name, parameter in self._reg_params.items()}
        for name, child in self._children.items():
            result.update(child._collect_params_with_prefix(f"{prefix}{name}."))
        return result

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Make a block a child: its parameters are among those of this one."""
        self._children[str(len(self._children)) if name is None else name] = block
        self._block_changed()

    def apply(self, fn: Callable[[Block], Any]) -> Any:
        """Call a function with every child, theirs before themselves, and with the block."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    def initialize(
        self,
        init: Any = Uniform(),  # noqa: B008
        ctx: Any = None,
        verbose: bool = False,
        force_reinit: bool = False,
    ) -> None:
        """Initialize all parameters; those with an initializer of their own keep it."""
        self.collect_params().initialize(init, ctx, verbose, force_reinit)

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Hybridize the children that can be: see ``HybridBlock.hybridize``."""
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    def cast(self, dtype: Any) -> None:
        """Change the type of all parameters."""
        self._block_changed()
        for child in self._children.values():
            child.cast(dtype)
        for parameter in self.params.values():
            parameter.cast(dtype)

    # --- calling ---

    def __call__(self, *args: Any) -> Any:
        """Call the hooks and ``forward``."""
        if self._forward_pre_hooks:
            for hook in tuple(self._forward_pre_hooks.values()):
                hook(self, args)
        result = run_forward(self, args)
        if self._forward_hooks:
            for hook in tuple(self._forward_hooks.values()):
                hook(self, args, result)
        return result

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs. Subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__} does not say in forward what it computes")

    def register_forward_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Let ``hook(block, inputs, output)`` be called after ``forward``."""
        return self._block_attached(self._forward_hooks, hook)

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Let ``hook(block, inputs)`` be called before ``forward``."""
        return self._block_attached(self._forward_pre_hooks, hook)

    def _block_attached(self, hooks: Hooks, hook: Callable[..., Any]) -> HookHandle:
        self._block_changed()
        handle = HookHandle()
        handle.attach(hooks, hook)
        return handle

    def register_op_hook(self, callback: Callable[..., Any], monitor_all: bool = False) -> None:
        """Let ``callback(name, op, array)`` see what the ops of hybridized blocks compute.

        The names are bytes, as MXNet gives them. With ``monitor_all`` it sees inputs too.
        """
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    # --- files ---

    def save_parameters(self, filename: str, deduplicate: bool = False) -> None:
        """Write all parameters to a file, by the attributes that lead to them."""
        params = self._collect_params_with_prefix()
        if deduplicate:  # of several names of one parameter the last one, as MXNet has it
            last = {id(parameter): name for name, parameter in params.items()}
            params = {last[id(parameter)]: parameter for parameter in params.values()}
        values = {name: value._reduce().as_nd_ndarray() for name, value in params.items()}
        ndarray.save(filename, values)

    def load_parameters(
        self,
        filename: str,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Read all parameters from a file."""
        loaded = load_file(filename)
        params = self._collect_params_with_prefix()
        given = (ctx, allow_missing, ignore_extra)
        if not any("." in name or name in params for name in loaded):
            # Not by attributes but by full names, as ParameterDict.save and old programs have it.
            self.collect_params().load_dict(
                loaded, *given, self.prefix, filename, cast_dtype, dtype_source
            )
            return
        self._block_load(loaded, filename, *given, cast_dtype, dtype_source)

    def _block_load(
        self,
        loaded: dict[str, Any],
        filename: str,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Take arrays of a file, by the attributes that lead to the parameters."""
        params = self._collect_params_with_prefix()
        if not allow_missing:
            found = {id(params[name]) for name in loaded if name in params}
            for name, parameter in params.items():
                if id(parameter) not in found:
                    raise MismatchError(
                        f"Parameter '{name}' is missing in file '{filename}', which contains "
                        f"parameters: {quoted(loaded)}. Set allow_missing=True to ignore missing "
                        "parameters."
                    )
        for name, value in loaded.items():
            if name in params:
                params[name]._load_init(value, ctx, cast_dtype, dtype_source)
            elif not ignore_extra:
                raise ArrayValueError(
                    f"Parameter '{name}' loaded from file '{filename}' is not present in Block, "
                    f"choices are: {quoted(params)}. Set ignore_extra=True to ignore."
                )

    def save_params(self, filename: str) -> None:
        """Write all parameters to a file by their full names. Deprecated."""
        warnings.warn("save_params is deprecated. Please use save_parameters.", stacklevel=2)
        try:
            self.collect_params().save(filename, strip_prefix=self.prefix)
        except ValueError:  # children with names of their own: by attributes, as MXNet means to
            self.save_parameters(filename)

    def load_params(
        self,
        filename: str,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> None:
        """Read all parameters from a file. Deprecated."""
        warnings.warn("load_params is deprecated. Please use load_parameters.", stacklevel=2)
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    def save(self, prefix: str) -> None:
        """Write how the block nests and its parameters: ``prefix-model.json`` and ``.params``."""
        text = _structure.describe(self)
        replace(f"{prefix}-model.json", lambda file: file.write(text.encode()))
        self.save_parameters(f"{prefix}-model.params")

    def load(self, prefix: str) -> None:
        """Read what ``save`` has written of a block that nests in the same way.

        What was hybridized there is hybridized here.
        """
        text = read(f"{prefix}-model.json").decode()
        file = f"{prefix}-model.params"
        self._block_load(_structure.renamed(self, text, load_file(file)), file)
        _structure.restore(self, text)

    # --- summary ---

    def summary(self, *inputs: Any) -> None:
        """Print a table of the blocks that these inputs pass, with shapes and parameters."""
        rows: list[tuple[str, str, int]] = [("Input", _shapes(list(inputs)), 0)]
        passed: list[Parameter] = []
        handles: list[HookHandle] = []

        def add_row(block: Block, _: Any, outputs: Any) -> None:
            params = block.params.values()
            passed.extend(params)
            rows.append((f"{type(block).__name__}-{len(rows)}", _shapes(outputs), _size(params)))

        def attach(block: Block) -> None:
            if not block._block_is_container():
                handles.append(block.register_forward_hook(add_row))

        try:
            self.apply(attach)
            self(*inputs)
        finally:
            for handle in handles:
                handle.detach()
        print(*_table(rows, passed), sep="\n")

    def _block_is_container(self) -> bool:
        """Tell whether the block only passes its input on from child to child."""
        return False


def _size(params: Iterable[Parameter]) -> int:
    """Return how many elements parameters have."""
    return sum(prod(parameter.shape or ()) for parameter in params)


def _shapes(values: Any) -> str:
    """Return the shapes of arrays; lists within the outermost have brackets, as in MXNet."""
    shapes = map_arrays(lambda array: array.shape, values)
    return str(list(shapes))[1:-1] if isinstance(values, (list, tuple)) else str(shapes)


def _table(rows: list[tuple[str, str, int]], passed: list[Parameter]) -> list[str]:
    """Return the lines of a table of blocks and of the parameters that inputs passed."""
    line = "{:>20}  {:>42} {:>15}".format
    total, unique = _size(passed), _size({one.name: one for one in passed}.values())
    trainable = _size(one for one in passed if one.grad_req != "null")
    return [
        "-" * 80,
        line("Layer (type)", "Output Shape", "Param #"),
        "=" * 80,
        *(line(*row) for row in rows),
        "=" * 80,
        "Parameters in forward computation graph, duplicate included",
        f"   Total params: {total}",
        f"   Trainable params: {trainable}",
        f"   Non-trainable params: {total - trainable}",
        f"Shared params in forward computation graph: {total - unique}",
        f"Unique parameters in model: {unique}",
        "-" * 80,
    ]


class HybridBlock(BlockInternals, Block):
    """A block that says in ``hybrid_forward(self, F, x, ...)`` what it computes.

    ``F`` is ``mx.nd`` (with ``F.np`` and ``F.npx``), or ``mx.sym`` for symbols; the parameters of
    the block are passed as keyword arguments named like the attributes. A plain ``forward`` will
    do as well.

    >>> from afterglow import gluon, nd
    >>> class Scale(gluon.HybridBlock):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         with self.name_scope():
    ...             self.factor = self.params.get("factor", shape=(1,), init="ones")
    ...
    ...     def hybrid_forward(self, F, x, factor):
    ...         return F.broadcast_mul(x, factor)
    >>> block = Scale()
    >>> block.initialize()
    >>> block(nd.array([1, 2]))
    <BLANKLINE>
    [1. 2.]
    <NDArray 2 @cpu(0)>
    """

    if not TYPE_CHECKING:
        _active, _block_compiled = _SetByInit(), _SetByInit()

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix, params)
        self._active = False
        self._flags: dict[str, Any] = {}
        self._block_compiled = Compiled()
        self._block_op_hook: tuple[Callable[..., Any], bool] | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._block_compiled = Compiled()

    def __call__(self, *args: Any) -> Any:
        """Call the hooks and ``forward``, or what was written down of it."""
        if not self._active:
            return super().__call__(*args)
        watching = self._block_op_hook
        if not self._forward_pre_hooks and not self._forward_hooks and watching is None:
            return self._block_compiled(self, args)
        for hook in tuple(self._forward_pre_hooks.values()):
            hook(self, args)
        if watching is None:
            result = self._block_compiled(self, args)
        else:
            result = self._block_watched(args, *watching)
        for hook in tuple(self._forward_hooks.values()):
            hook(self, args, result)
        return result

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Make a block a child: its parameters are among those of this one."""
        if not isinstance(block, HybridBlock):
            raise ValueError(
                f"Children of HybridBlock must also be HybridBlock, but {block} has type "
                f"{type(block)}. If you are using Sequential, please try HybridSequential instead."
            )
        super().register_child(block, name)

    def hybridize(
        self,
        active: bool = True,
        backend: str | None = None,
        clear: bool = True,
        static_alloc: bool = False,
        static_shape: bool = False,
        inline_limit: int = 2,
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Issue the calls of the block as a whole from the third call of a kind on.

        The calls that ``forward`` makes are written down once per kind of inputs (shapes, types,
        training or not) and issued again without running its Python. What Python reads other than
        its arguments is therefore read once; values of arrays cannot be. Other arrays, blocks and
        parameters as attributes are noticed; after a change of anything else, call this again. The
        flags are accepted: memory is planned while calls wait, whatever they say.
        """
        self._active = active
        self._block_compiled.forget()
        self._block_changed()
        flags = {
            "static_alloc": static_alloc,
            "static_shape": static_shape,
            "inline_limit": inline_limit,
            "forward_bulk_size": forward_bulk_size,
            "backward_bulk_size": backward_bulk_size,
        }
        self._flags = {"backend": backend, **flags, **kwargs}
        super().hybridize(active, **flags)

    def register_op_hook(self, callback: Callable[..., Any], monitor_all: bool = False) -> None:
        """Let ``callback(name, op, array)`` see what the ops of the hybridized block compute.

        The names are bytes, as MXNet gives them. With ``monitor_all`` it sees inputs too. What is
        seen is computed op by op, so remove the hook, by ``register_op_hook(None)``, to be fast.
        """
        self._block_op_hook = None if callback is None else (callback, monitor_all)

    def _block_watched(self, args: tuple[Any, ...], see: Callable[..., Any], inputs: bool) -> Any:
        """Compute the outputs op by op."""
        given, form = flatten(list(args), "input")
        arrays = [one for one in given if one is not None]
        names = ["data"] if len(arrays) == 1 else [f"data{i}" for i in range(len(arrays))]
        legacy, place = arrays[0]._legacy, arrays[0]._context_numbers
        variables = (symbol.var(name) for name in names)
        made = iter(variables if legacy else (one.as_np_ndarray() for one in variables))
        flat = [None if one is None else next(made) for one in given]
        params = self.collect_params()
        if any(one._deferred_init for one in params.values()):
            with autograd.pause():
                self.forward(*args)
        outputs, output_form = flatten(self.forward(*regroup(flat, form)[0]), "output")
        by_name = {name: one._at(place) for name, one in params.items()}
        by_name.update(zip(names, arrays, strict=True))
        plan = Plan([head for one in outputs for head in one._outputs])
        by_node = {node: by_name[node.name] for _, node in plan.variables}

        def watch(node: Any, taken: Sequence[Any], results: Sequence[Any]) -> None:
            names = [f"{node.name}_{name}" for name in node.watched_names()] if inputs else []
            names += [node.output_name(index) for index in range(len(results))]
            for name, array in zip(names, [*(taken if inputs else ()), *results], strict=True):
                told = in_world(array._detached(), legacy)
                with lent(told):
                    see(name.encode(), node.op.encode(), told)

        found = [in_world(one, legacy) for one in plan.run(by_node, watch)]
        return regroup(found, output_form)[0]

    def optimize_for(self, x: Any, *args: Any, backend: str | None = None, **kwargs: Any) -> None:
        """Hybridize, and pass one batch through the block."""
        self.hybridize(True, backend, **kwargs)
        self(x, *args)

    def forward(self, x: Any, *args: Any) -> Any:
        """Call ``hybrid_forward`` with the parameters on the device of the input."""
        array = x if isinstance(x, Array) else first_array((x, *args))
        if (args or array is None) and first_symbol((x, *args)) is not None:
            if array is None:
                return self._block_composed(x, *args)
            raise ValueError(
                f"{type(self).__name__} was given arrays and symbols; it takes either. In "
                "HybridBlock, we do not support mixed NDArrays and Symbols types for the input."
            )
        if array is None:
            raise ValueError(
                "In HybridBlock, there must be one NDArray in the input. Please check the type of "
                "the args."
            )
        try:
            params = self._block_arrays(array)
        except DeferredInitializationError:
            self._finish_deferred_init(x, *args)
            params = self._block_arrays(array)
        return self.hybrid_forward(ndarray, x, *args, **params)

    def _block_composed(self, *args: Any) -> Any:
        """Return the outputs as symbols, with the parameters as variables."""
        params = {name: parameter.var() for name, parameter in self._reg_params.items()}
        with self.name_scope():
            return self.hybrid_forward(symbol, *args, **params)

    def _block_arrays(self, like: Any) -> dict[str, Any]:
        """Return the parameters on the device of an array, and in its world."""
        place, legacy = like._context_numbers, like._legacy
        result = {}
        for name, parameter in self._reg_params.items():
            result[name] = in_world(parameter._at(place), legacy)
        return result

    def hybrid_forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs from ``F``, the inputs and the parameters. Subclasses define it."""
        raise NotImplementedError(
            f"{type(self).__name__} does not say in hybrid_forward what it computes"
        )

    def infer_shape(self, *args: Any, **kwargs: Any) -> None:
        """Complete the shapes of the block's own parameters from the inputs.

        Without a definition of its own, a block finds them by calling ``hybrid_forward`` once.
        """
        like = first_array(args)
        place, own = like._context_numbers, self._reg_params
        params = {
            name: Unknown(parameter, like, own.values())
            if parameter._is_incomplete()
            else in_world(parameter._at(place), like._legacy)
            for name, parameter in own.items()
        }
        try:
            with autograd.pause(), suppress(AllKnown):
                self.hybrid_forward(ndarray, *args, **params)
        except (AttributeError, TypeError) as error:  # a function cannot go on with an Unknown
            self._block_refuse_unknown(error)
            raise
        self._block_refuse_unknown(None)

    def _block_refuse_unknown(self, cause: Exception | None) -> None:
        """Raise if there are parameters whose shape is not known."""
        unknown = [
            parameter.name for parameter in self._reg_params.values() if parameter._is_incomplete()
        ]
        if unknown:
            raise ValueError(
                f"Deferred initialization failed because the shape of {quoted(unknown)} cannot be "
                f"inferred; give it, or set it from the inputs in infer_shape of "
                f"{type(self).__name__}"
            ) from cause

    def _finish_deferred_init(self, *args: Any) -> None:
        """Make the arrays of parameters that waited for the first inputs."""
        params = self._reg_params.values()
        for parameter in params:
            if not parameter._is_incomplete():
                parameter._finish_deferred_init()
        if any(parameter._is_incomplete() for parameter in params):
            self.infer_shape(*args)
            for parameter in params:
                parameter._finish_deferred_init()

    def infer_type(self, *args: Any) -> None:
        """Give parameters the type of the first input."""
        array = first_array(args)
        if array is not None:
            for parameter in self._reg_params.values():
                parameter.cast(array.dtype)

    def export(self, path: str, epoch: int = 0, remove_amp_cast: bool = True) -> Any:
        """Write the graph and the parameters: ``path-symbol.json`` and ``path-0000.params``.

        MXNet and :meth:`SymbolBlock.imports` read them. The input is named ``data``; several are
        ``data0``, ``data1`` and so on: as many as a hybridized block was last given, else those
        that it needs.
        """
        graph = self._block_graph()
        graph.save(f"{path}-symbol.json", remove_amp_cast=remove_amp_cast)
        states = set(graph.list_auxiliary_states())
        params = self.collect_params()
        values: dict[str, Any] = {}
        for name in graph.list_inputs():
            if name in params:
                kind = "aux" if name in states else "arg"
                values[f"{kind}:{name}"] = params[name]._reduce().as_nd_ndarray()
        ndarray.save(f"{path}-{epoch:04d}.params", values)

    def _block_graph(self) -> Any:
        """Return the outputs as symbols of inputs named data, or data0, data1 ..."""

        def variable(number: int, count: int) -> Any:
            made = symbol.var("data" if count == 1 else f"data{number}")
            return made.as_np_ndarray() if is_np_array() else made

        inputs = self._block_compiled.inputs_like_given(variable)
        if inputs is None:
            count = count_inputs(self)
            inputs = [variable(number, count) for number in range(count)]
        outputs = self(*inputs)
        is_one = not isinstance(outputs, (list, tuple))
        return outputs if is_one else symbol.Group(flat_symbols(outputs))
