# SPDX-License-Identifier: Apache-2.0
"""Programs, graphs, networks, layers, losses and optimizers of other tests' tables."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as onp

import afterglow as mx
from afterglow import autograd, gluon
from afterglow.name import NameManager

from .lines import Line, Seen, digest, outcome, shown
from .tables import GOLDEN, ONNX, graphs, layers, random_programs, run_golden
from .tapes import TAPES
from .ways import CALLS, executed, gradients, numpy_mode

#: Random programs of each world.
PROGRAMS = 60
Cases = Iterator[tuple[str, str]]


def lines(wanted: Callable[[str], bool]) -> Iterator[Line]:
    """Yield the lines of all tables that are wanted."""
    for subject, cases in SUBJECTS.items():
        if wanted(subject):
            yield from (Line("bits", subject, case, found) for case, found in cases())


def _golden() -> Cases:
    """Yield the answers to all programs that MXNet answered."""
    for case in GOLDEN:
        mx.random.seed(1)
        yield case["name"], outcome(run_golden, case)
        with autograd.record():
            yield f"{case['name']}, recorded", outcome(run_golden, case)


def _random() -> Cases:
    """Yield digests of random programs."""
    for front in ("nd", "np"):
        for number in range(PROGRAMS):
            yield f"{front} {number}", outcome(random_programs, front, number, number + 1)


def _tapes() -> Cases:
    """Yield what the short programs show."""
    for world in ("nd", "np"):
        for program in TAPES:
            with numpy_mode(world == "np"):
                yield f"{world} {program.__name__}", outcome(program, getattr(mx, world))


def _models() -> Cases:
    """Yield the ONNX files of graphs."""
    for expression, shapes in ONNX.items():
        with tempfile.TemporaryDirectory() as folder:
            yield expression, outcome(_model, expression, shapes, Path(folder) / "model.onnx")


def _model(expression: str, shapes: dict[str, tuple[int, ...]], path: Path) -> Any:
    names: dict[str, Any] = {"sym": mx.sym, **{name: mx.sym.var(name) for name in shapes}}
    with NameManager():
        symbol = eval(expression, names)
    arguments, _, states = symbol.infer_shape(**shapes)
    wanted = [*symbol.list_arguments(), *symbol.list_auxiliary_states()]
    parameters = {
        name: mx.nd.array(graphs.numbers(shape, seed))
        for seed, (name, shape) in enumerate(zip(wanted, [*arguments, *states], strict=True))
        if name not in shapes
    }
    mx.onnx.export_model(symbol, parameters, list(shapes.values()), "float32", path)
    return Seen(f"file {digest(path.read_bytes())}")


def _graphs() -> Cases:
    """Yield the files and answers of graphs."""
    for name, (_, inputs) in graphs.SYMBOLS.items():
        yield f"{name}, file", outcome(graphs.make_symbol, mx, name)
        yield name, outcome(_answers, name, inputs)
    for name, (_, inputs) in graphs.DRAWN.items():
        yield f"{name}, file", outcome(graphs.make_symbol, mx, name)
        shapes = {key: graphs.shape_of(given) for key, given in inputs.items()}
        symbol = graphs.make_symbol(mx, name)
        yield f"{name}, shapes", outcome(symbol.infer_shape, **shapes)


def _answers(name: str, inputs: dict[str, Any]) -> Any:
    """Return what an executor answers for the inputs of a table, and made-up parameters."""
    symbol = graphs.make_symbol(mx, name)
    shapes = symbol.infer_shape(**{key: graphs.shape_of(given) for key, given in inputs.items()})
    values = {
        key: mx.nd.array(graphs.value_of(inputs.get(key, shape), seed))
        for seed, (key, shape) in enumerate(zip(symbol.list_arguments(), shapes[0], strict=True))
    }
    states = {
        key: mx.nd.array(onp.abs(graphs.numbers(shape, seed)) + 0.5)
        for seed, (key, shape) in enumerate(
            zip(symbol.list_auxiliary_states(), shapes[2], strict=True)
        )
    }
    return shapes, executed(symbol, values, states)


def _networks() -> Cases:
    """Yield the files that networks are exported to."""
    for world, names in (("nd", {**graphs.NETS, **graphs.LEGACY_NETS}), ("np", graphs.NETS)):
        for name in names:
            with tempfile.TemporaryDirectory() as folder, numpy_mode(world == "np"):
                found = outcome(graphs.answer_of_net, mx, name, Path(folder))
            yield f"{world} {name}", found


def _optimizers() -> Cases:
    """Yield the losses of a network in training."""
    for name in layers.OPTIMIZERS:
        for world in ("nd", "np"):
            with numpy_mode(world == "np"):
                mx.random.seed(5)
                yield f"{world} {name}", outcome(layers.training_curve, mx, name, _array())


def _layers() -> Cases:
    """Yield what layers do in training and in prediction."""
    names = {"nn": gluon.nn, "contrib": gluon.contrib}
    for name, (code, shape) in layers.LAYERS.items():
        host = layers.numbers(shape, 1, "float64" if "float64" in code else "float32")
        yield from _of_block(name, code, names, [host], [])


def _losses() -> Cases:
    """Yield what losses do."""
    for name, (code, kind) in layers.LOSSES.items():
        first, further = layers.inputs_of_loss(kind, onp.asarray)
        yield from _of_block(name, code, vars(gluon.loss), first, further)


def _of_block(
    name: str, code: str, names: dict[str, Any], first: list[Any], further: list[Any]
) -> Cases:
    """Yield what a block does in both worlds: called, hybridized, and with symbols."""
    for world in ("nd", "np"):
        for way in ("called", "hybridized", "symbol"):

            def run(way: str = way) -> Any:
                block = eval(code, dict(names))
                if way == "hybridized":
                    block.hybridize()
                arrays = [_array()(one, dtype=one.dtype) for one in [*first, *further]]
                mx.random.seed(3)
                answer = _drawn if way == "symbol" else _trained
                return answer(block, arrays[: len(first)], arrays[len(first) :])

            with numpy_mode(world == "np"):
                yield f"{world} {name} {way}", outcome(run)


def _array() -> Any:
    """Return the function that makes arrays of the world that is on."""
    return mx.np.array if mx.util.is_np_array() else mx.nd.array


def _fill(block: Any) -> dict[str, Any]:
    """Give the parameters of a block numbers, and return them by name."""
    parameters: dict[str, Any] = block._collect_params_with_prefix()
    for seed, (key, parameter) in enumerate(sorted(parameters.items())):
        host = layers.numbers(parameter.shape, 10 + seed, onp.dtype(parameter.dtype).name)
        values = abs(host) if key.endswith("var") else host
        parameter.set_data(_array()(values, dtype=host.dtype))
    return parameters


def _trained(block: Any, first: list[Any], further: list[Any]) -> Any:
    """Return results, gradients and parameters, after enough calls for a block to be replayed."""
    block.initialize()
    block(*first, *further)
    parameters = _fill(block)
    for variable in first:
        variable.attach_grad()
    seen = []
    for _ in range(CALLS):
        with autograd.record():
            result = block(*first, *further)
        seen.append(shown([result, gradients(result, first)]))
    for key, parameter in parameters.items():
        kept = parameter.grad() if parameter.grad_req != "null" else None
        seen.append(shown({key: [parameter.data(), kept]}))
    for _ in range(CALLS):
        seen.append(shown(block(*first, *further)))
    return seen


def _drawn(block: Any, first: list[Any], further: list[Any]) -> Any:
    """Return what the graph answers that a block makes of symbols."""
    block.initialize()
    block(*first, *further)
    given = {parameter.name: parameter.data() for parameter in _fill(block).values()}
    variables: list[Any] = []
    for number, array in enumerate([*first, *further]):
        given[f"x{number}"] = array
        variable = mx.sym.var(f"x{number}")
        variables.append(variable.as_np_ndarray() if mx.util.is_np_array() else variable)
    with NameManager():
        symbol = block(*variables)
    values = [given[name] for name in symbol.list_arguments()]
    states = [given[name] for name in symbol.list_auxiliary_states()]
    predicted, trained, slopes, moved = executed(
        symbol,
        dict(zip(symbol.list_arguments(), values, strict=True)),
        dict(zip(symbol.list_auxiliary_states(), states, strict=True)),
    )
    # Names of parameters count the blocks that there were.
    return predicted, trained, list(slopes.values()), list(moved.values())


SUBJECTS: dict[str, Callable[[], Cases]] = {
    "golden programs": _golden,
    "random programs": _random,
    "tapes": _tapes,
    "models": _models,
    "graphs": _graphs,
    "networks": _networks,
    "optimizers": _optimizers,
    "layers": _layers,
    "losses": _losses,
}
