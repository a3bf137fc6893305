# SPDX-License-Identifier: Apache-2.0
"""Recurrent ops, layers and cells: MXNet's answers, a plain reference, and what MXNet lacks."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, np, npx, sym
from afterglow.gluon import rnn

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path.insert(0, str(GOLDEN))

from recurrence import (  # noqa: E402
    CELLS,
    LAYERS,
    OPS,
    answer_of_cell,
    answer_of_layer,
    answer_of_op,
    plain,
)

ANSWERS = json.loads((GOLDEN / "recurrence.json").read_text())

MODES = ("rnn_relu", "rnn_tanh", "lstm", "gru")
GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


def _same(found: Any, wanted: Any, path: str = "") -> None:
    if isinstance(wanted, float):
        assert found == pytest.approx(wanted, rel=2e-4, abs=2e-5), path
    elif isinstance(wanted, dict):
        assert sorted(found) == sorted(wanted), path
        for key, value in wanted.items():
            _same(found[key], value, f"{path}.{key}")
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), path
        for place, (one, other) in enumerate(zip(found, wanted, strict=True)):
            _same(one, other, f"{path}[{place}]")
    else:
        assert found == wanted, path


@pytest.mark.parametrize("case", OPS, ids=str)
def test_mxnets_answers_of_the_op(case: Any) -> None:
    _same(plain(answer_of_op(mx, case)), ANSWERS[f"RNN{case}"])


@pytest.mark.parametrize("text", LAYERS)
def test_mxnets_answers_of_layers(text: str) -> None:
    _same(plain(answer_of_layer(mx, text)), ANSWERS[text])


@pytest.mark.parametrize("text", CELLS)
def test_mxnets_answers_of_cells(text: str) -> None:
    _same(plain(answer_of_cell(mx, text)), ANSWERS[text])


# --- a plain reference ---


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + onp.exp(-x))


def _step(mode: str, x: Any, h: Any, c: Any, one: dict[str, Any], clip: Any) -> tuple[Any, Any]:
    left = one["i2h"] @ x + one["i2h_bias"]
    right = one["h2h"] @ h + one["h2h_bias"]
    if mode == "rnn_relu":
        return onp.maximum(left + right, 0), None
    if mode == "rnn_tanh":
        return onp.tanh(left + right), None
    if mode == "gru":
        (xr, xz, xn), (hr, hz, hn) = onp.split(left, 3), onp.split(right, 3)
        update = _sigmoid(xz + hz)
        return (1 - update) * onp.tanh(xn + _sigmoid(xr + hr) * hn) + update * h, None
    i, f, g, o = onp.split(left + right, 4)
    c = _sigmoid(f) * c + _sigmoid(i) * onp.tanh(g)
    if clip:
        c = onp.clip(c, *clip)
    h = _sigmoid(o) * onp.tanh(c)
    return (one["h2r"] @ h if "h2r" in one else h), c


def _unpacked(flat: Any, case: dict[str, Any]) -> list[dict[str, Any]]:
    rows, state = GATES[case["mode"]] * case["units"], case["projected"] or case["units"]
    found: list[dict[str, Any]] = []
    start = 0

    def take(*shape: int) -> Any:
        nonlocal start
        start += int(onp.prod(shape))
        return flat[start - int(onp.prod(shape)) : start].reshape(shape)

    for layer, _ in itertools.product(range(case["layers"]), range(case["directions"])):
        columns = state * case["directions"] if layer else case["columns"]
        found.append({"i2h": take(rows, columns), "h2h": take(rows, state)})
        if case["projected"]:
            found[-1]["h2r"] = take(state, case["units"])
    for one in found:
        one["i2h_bias"], one["h2h_bias"] = take(rows), take(rows)
    assert start == flat.size
    return found


def _reference(case: dict[str, Any], x: Any, flat: Any, h0: Any, c0: Any) -> list[Any]:
    """Return outputs and last states, computed one number after the other."""
    weights, steps = _unpacked(flat, case), x.shape[0]
    last_h, last_c = h0.copy(), c0.copy()
    for layer in range(case["layers"]):
        outputs = []
        for direction in range(case["directions"]):
            place = layer * case["directions"] + direction
            y = onp.zeros((*x.shape[:2], h0.shape[2]))
            for sample, length in enumerate(case["lengths"] or [steps] * x.shape[1]):
                h, c = h0[place, sample], c0[place, sample]
                times = range(length)
                for time in reversed(times) if direction else times:
                    h, c = _step(case["mode"], x[time, sample], h, c, weights[place], case["clip"])
                    y[time, sample] = h
                last_h[place, sample] = h
                last_c[place, sample] = c if c is not None else 0
            outputs.append(y)
        x = onp.concatenate(outputs, 2)
    return [x, last_h, *([last_c] if case["mode"] == "lstm" else [])]


def _count(case: dict[str, Any]) -> int:
    directions, state = case["directions"], case["projected"] or case["units"]
    rows = directions * GATES[case["mode"]] * case["units"]
    count = rows * (case["columns"] + state + 2)
    count += (case["layers"] - 1) * rows * (directions * state + state + 2)
    return count + (case["layers"] * directions * state * case["units"] * bool(case["projected"]))


def _drawn(seed: int) -> dict[str, Any]:
    """Return a case at random."""
    rng = onp.random.RandomState(seed)
    mode = MODES[seed % 4]
    steps, samples = int(rng.choice([1, 2, 5])), int(rng.choice([0, 1, 3]))
    is_lstm = mode == "lstm"
    return {
        "mode": mode,
        "steps": steps,
        "samples": samples,
        "columns": int(rng.choice([1, 4])),
        "units": int(rng.choice([1, 3, 17])),
        "layers": int(rng.choice([1, 2, 3])),
        "directions": int(rng.choice([1, 2])),
        "projected": int(rng.choice([1, 2])) if is_lstm and rng.rand() < 0.4 else None,
        "lengths": [int(rng.randint(0, steps + 1)) for _ in range(samples)]
        if rng.rand() < 0.5
        else None,
        "clip": (-0.1, 0.2) if is_lstm and rng.rand() < 0.4 else None,
    }


def _inputs(case: dict[str, Any], seed: int) -> list[Any]:
    rng = onp.random.RandomState(seed)
    places = case["layers"] * case["directions"]
    shapes = [
        (case["steps"], case["samples"], case["columns"]),
        (_count(case),),
        (places, case["samples"], case["projected"] or case["units"]),
        (places, case["samples"], case["units"]),
    ]
    return [rng.uniform(-0.8, 0.8, shape) for shape in shapes]


def _call(case: dict[str, Any], arrays: list[Any], world: Any = nd) -> Any:
    least, greatest = case["clip"] or (None, None)
    given: dict[str, Any] = {"state_cell": arrays[3]} if case["mode"] == "lstm" else {}
    if case["lengths"] is not None:
        given["sequence_length"] = world.array(case["lengths"], dtype="int32")
    return (nd.RNN if world is nd else npx.rnn)(
        *arrays[:3],
        mode=case["mode"],
        state_size=case["units"],
        num_layers=case["layers"],
        bidirectional=case["directions"] == 2,
        projection_size=case["projected"],
        lstm_state_clip_min=least,
        lstm_state_clip_max=greatest,
        use_sequence_length=case["lengths"] is not None,
        state_outputs=True,
        **given,
    )


@pytest.mark.parametrize("seed", range(24))
def test_as_a_plain_reference(seed: int) -> None:
    case = _drawn(seed)
    inputs = _inputs(case, seed)
    wanted = _reference(case, *inputs)
    for world, dtype in itertools.product((nd, np), ("float64", "float32")):
        found = _call(case, [world.array(one, dtype=dtype) for one in inputs], world)
        for one, other in zip(found, wanted, strict=True):
            assert onp.dtype(one.dtype) == dtype
            tolerance = 1e-10 if dtype == "float64" else 1e-5
            onp.testing.assert_allclose(one.asnumpy(), other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("seed", range(100, 112))
def test_gradients_as_finite_differences(seed: int) -> None:
    case = {**_drawn(seed), "samples": 2, "lengths": [2, 1] if seed % 3 else None, "steps": 3}
    case["units"] = min(case["units"], 3)
    inputs = _inputs(case, seed)
    count = 4 if case["mode"] == "lstm" else 3
    heads = [
        onp.random.RandomState(i).uniform(-1, 1, one.shape)
        for i, one in enumerate(_reference(case, *inputs))
    ]
    arrays = [nd.array(one, dtype="float64") for one in inputs]
    for one in arrays:
        one.attach_grad()
    with autograd.record():
        results = _call(case, arrays)
        total = sum(
            (one * nd.array(head, dtype="float64")).sum()
            for one, head in zip(results, heads, strict=True)
        )
    total.backward()

    def value() -> float:
        parts = zip(_reference(case, *inputs), heads, strict=True)
        return float(sum((one * head).sum() for one, head in parts))

    rng, epsilon = onp.random.RandomState(seed), 1e-6
    for number in range(count):
        flat, gradient = inputs[number].reshape(-1), arrays[number].grad.asnumpy().reshape(-1)
        for place in rng.choice(flat.size, min(6, flat.size), replace=False):
            kept = flat[place]
            flat[place] = kept + epsilon
            above = value()
            flat[place] = kept - epsilon
            below = value()
            flat[place] = kept
            assert gradient[place] == pytest.approx((above - below) / 2 / epsilon, abs=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_float16_is_rounded_once(mode: str) -> None:
    case = {**_drawn(MODES.index(mode)), "samples": 3, "lengths": None, "projected": None}
    inputs = _inputs(case, 1)
    inputs = [one.astype("float16").astype("float64") for one in inputs]
    wanted = _reference(case, *inputs)
    found = _call(case, [nd.array(one, dtype="float16") for one in inputs])
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == onp.float16
        onp.testing.assert_allclose(one.asnumpy(), other, rtol=6e-4, atol=1e-6)


def test_nan_in_cells_can_be_clipped() -> None:
    case = {"mode": "lstm", "steps": 1, "samples": 1, "columns": 1, "units": 2, "layers": 1}
    inputs = [nd.array(one) for one in _inputs({**case, "directions": 1, "projected": None}, 1)]
    inputs[3][:] = float("nan")
    given = {"mode": "lstm", "state_size": 2, "num_layers": 1, "state_outputs": True}
    bounds = {"lstm_state_clip_min": -0.5, "lstm_state_clip_max": 0.5}
    assert onp.isnan(nd.RNN(*inputs, **given, **bounds)[2].asnumpy()).all()
    clipped = nd.RNN(*inputs, **given, **bounds, lstm_state_clip_nan=True)
    assert (clipped[2].asnumpy() == -0.5).all()


def test_dropout_acts_between_layers_in_training() -> None:
    layer = rnn.GRU(8, num_layers=2, dropout=0.5, input_size=3)
    layer.initialize()
    x = nd.ones((4, 2, 3))
    predicted = layer(x).asnumpy()
    assert onp.array_equal(layer(x).asnumpy(), predicted)
    mx.random.seed(1)
    with autograd.record():
        trained = layer(x)
    assert not onp.allclose(trained.asnumpy(), predicted)
    mx.random.seed(1)
    with autograd.record():
        again = layer(x)
    assert onp.array_equal(trained.asnumpy(), again.asnumpy())


def test_gradients_of_gradients() -> None:
    x = nd.random.uniform(-1, 1, (3, 2, 2), dtype="float64")
    weights = nd.random.uniform(-1, 1, (4 * 2 * (2 + 2 + 2),), dtype="float64")
    states = [nd.zeros((1, 2, 2), dtype="float64") for _ in range(2)]

    def slope(values: Any) -> Any:
        variable = nd.array(values, dtype="float64")
        variable.attach_grad()
        with autograd.record():
            y = nd.RNN(variable, weights, *states, state_size=2, num_layers=1, mode="lstm")
            (first,) = autograd.grad([(y * y).sum()], [variable], create_graph=True)
            total = (first * first).sum()
        total.backward()
        return total.asscalar(), variable.grad.asnumpy()

    values = x.asnumpy()
    _, gradient = slope(values)
    for place in ((0, 0, 0), (1, 1, 1), (2, 0, 1)):
        moved = [values.copy(), values.copy()]
        moved[0][place] += 1e-5
        moved[1][place] -= 1e-5
        difference = (slope(moved[0])[0] - slope(moved[1])[0]) / 2e-5
        assert gradient[place] == pytest.approx(difference, rel=1e-5, abs=1e-7)


def test_steps_of_wide_layers_take_several_calls() -> None:
    layer = rnn.LSTM(1024, bidirectional=True, use_sequence_length=True, input_size=1)
    layer.initialize()
    x, lengths = nd.random.uniform(-1, 1, (10, 2, 1)), nd.array([9, 10])
    x.attach_grad()
    answers = []
    for is_layer in (True, False):
        with autograd.record():
            if is_layer:
                outputs = layer(x, sequence_length=lengths)
            else:
                outputs, _ = layer._unfuse().unroll(
                    10, x, layout="TNC", merge_outputs=True, valid_length=lengths
                )
            total = (outputs * outputs).sum()
        total.backward()
        weight = layer.collect_params()[f"{layer.prefix}r0_h2h_weight"]
        answers.append([one.asnumpy() for one in (outputs, x.grad, weight.grad())])
    for one, other in zip(*answers, strict=True):
        onp.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


def test_lengths_by_position() -> None:
    """Inputs that are not there have no position, so lengths come right behind the state."""
    arrays = [nd.ones((3, 2, 4)), nd.ones((1 * 2 * (4 + 2 + 2),)), nd.ones((1, 2, 2))]
    given = {"mode": "rnn_tanh", "state_size": 2, "num_layers": 1, "use_sequence_length": True}
    lengths = nd.array([1, 3])
    wanted = nd.RNN(*arrays, sequence_length=lengths, **given).asnumpy()
    assert (wanted[1:, 0] == 0).all()
    assert onp.array_equal(nd.RNN(*arrays, lengths, **given).asnumpy(), wanted)
    graph = sym.RNN(*(sym.var(name) for name in "abc"), sequence_length=sym.var("d"), **given)
    values = dict(zip("abcd", [*arrays, lengths], strict=True))
    assert onp.array_equal(graph.eval(**values)[0].asnumpy(), wanted)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_layer_computes_what_the_op_does_with_packed_weights(mode: str, dtype: str) -> None:
    kind, given = {"lstm": (rnn.LSTM, {}), "gru": (rnn.GRU, {})}.get(
        mode, (rnn.RNN, {"activation": mode.removeprefix("rnn_")})
    )
    layer = kind(5, num_layers=2, bidirectional=True, input_size=3, dtype=dtype, **given)
    layer.initialize(mx.init.Normal(0.5))
    x = nd.random.normal(shape=(4, 19, 3), dtype=dtype)
    named = {key.removeprefix(layer.prefix): one for key, one in layer.collect_params().items()}
    weights = [
        named[f"{place}_{product}_{what}"].data()
        for what in ("weight", "bias")
        for place in ("l0", "r0", "l1", "r1")
        for product in ("i2h", "h2h")
    ]
    packed = nd.concat(*(weight.reshape(-1) for weight in weights), dim=0)
    packed.attach_grad()
    state = nd.zeros((4, 19, 5), dtype=dtype)
    with autograd.record():
        found = layer(x)
        cells = [state] if mode == "lstm" else []
        wanted = nd.RNN(
            x, packed, state, *cells, mode=mode, state_size=5, num_layers=2, bidirectional=True
        )
    autograd.backward([found, wanted])
    assert onp.array_equal(found.asnumpy(), wanted.asnumpy())
    gradients = [weight.grad.asnumpy().ravel() for weight in weights]
    onp.testing.assert_allclose(
        onp.concatenate(gradients), packed.grad.asnumpy(), rtol=1e-6 if dtype == "float32" else 1e-2
    )


# --- what is refused ---


def test_a_layer_refuses_data_of_another_width() -> None:
    layer = rnn.LSTM(2, input_size=4)
    layer.initialize()
    with pytest.raises(ValueError, match=r"weight has shape \(8, 4\); it needs shape \(8, 3\)"):
        layer(nd.zeros((3, 2, 3)))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"data": (3, 2)}, r"data of 3 dimensions"),
        ({"parameters": (5,)}, r"parameters has shape \(5,\); it needs shape \(64,\)"),
        ({"state": (1, 3, 2)}, r"state has shape \(1, 3, 2\); it needs shape \(1, 2, 2\)"),
        ({"state_cell": (2, 2, 2)}, r"state_cell has shape"),
        ({"state_cell": None}, "needs state_cell"),
        ({"mode": "gruu"}, "mode"),
        ({"state_size": 0}, "state_size is 0"),
        ({"p": 2}, "p is 2"),
        ({"projection_size": 0}, "projection_size is 0"),
        ({"lstm_state_clip_min": 1}, "needed together"),
        ({"use_sequence_length": True}, "needs sequence_length"),
        ({"use_sequence_length": True, "sequence_length": (3,)}, "sequence_length has shape"),
    ],
)
def test_bad_input_raises_at_the_call(changes: dict[str, Any], text: str) -> None:
    given: dict[str, Any] = {
        "data": (3, 2, 4),
        "parameters": (4 * 2 * (4 + 2 + 2),),
        "state": (1, 2, 2),
        "state_cell": (1, 2, 2),
        "mode": "lstm",
        "state_size": 2,
        "num_layers": 1,
        **changes,
    }
    arrays = ("data", "parameters", "state", "state_cell", "sequence_length")
    given = {
        name: nd.zeros(value) if name in arrays and value else value
        for name, value in given.items()
    }
    with pytest.raises((ValueError, TypeError), match=text):
        nd.RNN(**given)


def test_integers_are_refused() -> None:
    arrays = [nd.ones(shape, dtype="int32") for shape in ((3, 2, 4), (64,), (1, 2, 2), (1, 2, 2))]
    with pytest.raises(TypeError, match="float16, float32 or float64"):
        nd.RNN(*arrays, mode="lstm", state_size=2, num_layers=1)


def test_projections_are_for_lstm() -> None:
    with pytest.raises(ValueError, match="it is for mode 'lstm'"):
        nd.RNN(
            nd.zeros((3, 2, 4)),
            nd.zeros((40,)),
            nd.zeros((1, 2, 1)),
            mode="gru",
            state_size=2,
            num_layers=1,
            projection_size=1,
        )


def test_states_of_another_shape_or_type() -> None:
    layer = rnn.LSTM(3, input_size=2)
    layer.initialize()
    with pytest.raises(ValueError, match=r"Expecting \(1, 4, 3\), got \(1, 5, 3\)"):
        layer(nd.zeros((2, 4, 2)), layer.begin_state(5))
    with pytest.raises(TypeError, match="of one type"):
        layer(nd.zeros((2, 4, 2)), layer.begin_state(4, dtype="float64"))
    with pytest.raises(AssertionError, match="Invalid layout"):
        rnn.GRU(3, layout="CNT")


# --- layers ---


@pytest.mark.parametrize("kind", [rnn.RNN, rnn.LSTM, rnn.GRU])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_layers_are_stacks_of_cells(kind: Any, bidirectional: bool) -> None:
    layer = kind(5, num_layers=2, bidirectional=bidirectional, layout="NTC")
    layer.initialize()
    x = nd.random.uniform(-1, 1, (3, 4, 2))
    layer(x)
    cells = layer._unfuse()
    states = [nd.random.uniform(-1, 1, one["shape"]) for one in layer.state_info(3)]
    # Cells have the states of each layer and direction one after the other.
    of_cells = [one[place] for place in range(2 * layer._dir) for one in states]
    x.attach_grad()
    with autograd.record():
        outputs, after = layer(x, states)
        total = (outputs * outputs).sum()
    total.backward()
    wanted, x_gradient = outputs.asnumpy(), x.grad.asnumpy()
    gradients = {name: one.grad().asnumpy() for name, one in layer.collect_params().items()}
    with autograd.record():
        outputs, last = cells.unroll(4, x, of_cells, merge_outputs=True)
        total = (outputs * outputs).sum()
    total.backward()
    close = onp.testing.assert_allclose
    close(outputs.asnumpy(), wanted, rtol=1e-5, atol=1e-6)
    close(x.grad.asnumpy(), x_gradient, rtol=1e-4, atol=1e-5)
    for name, one in cells.collect_params().items():
        close(one.grad().asnumpy(), gradients[name], rtol=1e-4, atol=1e-5)
    flat = [one[place] for place in range(2 * layer._dir) for one in after]
    for one, other in zip(flat, last, strict=True):
        close(one.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [rnn.LSTM, rnn.GRU])
def test_lengths_as_cells_have_them(kind: Any) -> None:
    layer = kind(5, bidirectional=True, use_sequence_length=True, input_size=2)
    layer.initialize()
    x = nd.random.uniform(-1, 1, (4, 3, 2))
    lengths = nd.array([2, 4, 1])
    outputs, _ = layer._unfuse().unroll(
        4, x, layout="TNC", merge_outputs=True, valid_length=lengths
    )
    found = layer(x, sequence_length=lengths)
    onp.testing.assert_allclose(found.asnumpy(), outputs.asnumpy(), rtol=1e-5, atol=1e-6)
    both, states = layer(x, layer.begin_state(3), lengths)
    assert onp.array_equal(both.asnumpy(), found.asnumpy())
    onp.testing.assert_allclose(states[0][0, 0].asnumpy(), found[1, 0, :5].asnumpy())


@pytest.mark.parametrize("world", [nd, np])
def test_hybridized_as_not(world: Any) -> None:
    layer = rnn.LSTM(4, num_layers=2, layout="NTC", bidirectional=True)
    layer.initialize()
    x = world.array(onp.random.RandomState(3).uniform(-1, 1, (2, 3, 5)), dtype="float32")
    x.attach_grad()

    def answers() -> list[Any]:
        with autograd.record():
            alone = layer(x)
            outputs, states = layer(x, layer.begin_state(2, func=world.zeros))
            total = (outputs * alone).sum() + sum(one.sum() for one in states)
        total.backward()
        arrays = [alone, outputs, *states, x.grad]
        arrays += [one.grad() for one in layer.collect_params().values()]
        return [one.asnumpy() for one in arrays]

    wanted = answers()
    layer.hybridize()
    for _ in range(4):
        for one, other in zip(answers(), wanted, strict=True):
            onp.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_files_of_layers_and_of_cells(tmp_path: Path) -> None:
    layer = rnn.LSTM(3, num_layers=2, bidirectional=True, input_size=2)
    layer.initialize()
    x = nd.ones((4, 2, 2))
    wanted = layer(x).asnumpy()
    layer.save_parameters(str(tmp_path / "net.params"))
    other = rnn.LSTM(3, num_layers=2, bidirectional=True)
    other.load_parameters(str(tmp_path / "net.params"))
    assert onp.array_equal(other(x).asnumpy(), wanted)
    layer.export(str(tmp_path / "net"))
    files = (str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params"))
    read = gluon.SymbolBlock.imports(*files)
    for samples in (2, 5, 2):
        assert read(nd.ones((4, samples, 2))).shape == (4, samples, 6)
    assert onp.array_equal(read(x).asnumpy(), wanted)


def test_other_types() -> None:
    layer = rnn.GRU(3)
    layer.cast("float64")
    layer.initialize()
    assert layer(nd.ones((2, 3, 4), dtype="float64")).dtype == onp.float64
    assert layer.begin_state(2)[0].dtype == onp.float64


def test_states_that_functions_make() -> None:
    layer = rnn.LSTM(3, prefix="net_")
    ones = layer.begin_state(2, func=nd.ones)
    assert [one.asnumpy().sum() for one in ones] == [6, 6]
    assert layer.begin_state(2, func=nd.random.uniform, low=2, high=3)[0].asnumpy().min() >= 2
    names = [one.name for one in layer.begin_state(func=sym.var)]
    assert names == ["net_h0_0", "net_h0_1"]
    cell = rnn.LSTMCell(3, prefix="cell_")
    assert [one.name for one in cell.begin_state(func=sym.var)] == [
        "cell_begin_state_0",
        "cell_begin_state_1",
    ]
    assert cell.begin_state(2, nd.ones, dtype="float64")[1].dtype == onp.float64


# --- cells ---


def test_a_cell_of_no_known_name_for_its_activation() -> None:
    cell = rnn.RNNCell(3, activation=gluon.nn.LeakyReLU(0.1), input_size=2)
    cell.initialize()
    outputs, _ = cell.unroll(2, [nd.ones((1, 2)), nd.ones((1, 2))])
    assert isinstance(outputs, list)
    assert outputs[0].shape == (1, 3)
    own = rnn.RNNCell(3, activation=lambda x: x * 2, input_size=2)
    own.initialize()
    assert own(nd.ones((1, 2)), own.begin_state(1))[0].shape == (1, 3)


def test_zoneout_keeps_what_was() -> None:
    cell = rnn.ZoneoutCell(rnn.RNNCell(50, input_size=2), zoneout_outputs=0.5, zoneout_states=0.5)
    cell.initialize()
    steps = [nd.ones((1, 2)), nd.ones((1, 2)) * 2]
    with autograd.record():
        outputs, _ = cell.unroll(2, steps, begin_state=[nd.ones((1, 50)) * 7])
    first, second = (one.asnumpy()[0] for one in outputs)
    assert 5 < (first == 0).sum() < 45
    assert (second == first).any()
    assert (second != first).any()
    plain_cell = rnn.RNNCell(50, params=cell.params)
    predicted, _ = cell.unroll(2, steps)
    wanted, _ = plain_cell.unroll(2, steps)
    assert onp.array_equal(predicted[1].asnumpy(), wanted[1].asnumpy())


def test_variational_dropout_has_one_mask() -> None:
    make = gluon.contrib.rnn.VariationalDropoutCell
    for rates in ((0.5, 0, 0.5), (0.5, 0.5, 0.5)):
        cell = make(rnn.RNNCell(40, input_size=20), *rates)
        cell.initialize()
        with autograd.record():
            outputs, _ = cell.unroll(3, nd.ones((1, 3, 20)), merge_outputs=True)
        dropped = outputs.asnumpy()[0] == 0
        assert 5 < dropped[0].sum() < 35
        assert (dropped[0] == dropped[1]).all()
        assert (dropped[0] == dropped[2]).all()
        cell.reset()
        with autograd.record():
            again, _ = cell.unroll(3, nd.ones((1, 3, 20)), merge_outputs=True)
        assert not onp.array_equal(again.asnumpy()[0] == 0, dropped)


@pytest.mark.parametrize("layout", ["TNC", "NTC"])
@pytest.mark.parametrize("lengths", [None, [2, 3]])
def test_dynamic_unroll_of_symbols(layout: str, lengths: list[int] | None) -> None:
    """A graph whose number of steps follows from its input."""
    cell = gluon.rnn.LSTMCell(3)
    cell.initialize()
    names = ["x", "h", "c"] if lengths is None else ["x", "h", "c", "n"]
    inputs = [mx.sym.var(name) for name in names]
    outputs, states = gluon.contrib.rnn.rnn_cell.dynamic_unroll(
        cell,
        inputs[0],
        inputs[1:3],
        layout=layout,
        valid_length=None if lengths is None else inputs[3],
    )
    block = gluon.SymbolBlock([outputs, *states], inputs, cell.collect_params())
    for steps in (4, 5):
        x = nd.random.normal(shape=(steps, 2, 2) if layout == "TNC" else (2, steps, 2))
        begin = [nd.ones((2, 3)), nd.zeros((2, 3))]
        more = [] if lengths is None else [nd.array(lengths)]
        out, last = gluon.contrib.rnn.rnn_cell.dynamic_unroll(
            cell, x, begin, layout=layout, valid_length=more[0] if more else None
        )
        for one, other in zip(block(x, *begin, *more), [out, *last], strict=True):
            assert onp.allclose(one.asnumpy(), other.asnumpy(), atol=1e-6)


def test_dynamic_unroll() -> None:
    cell = rnn.LSTMCell(3, input_size=2)
    cell.initialize()
    x, lengths = nd.random.uniform(shape=(4, 2, 2)), nd.array([2, 4])
    outputs, states = gluon.contrib.rnn.rnn_cell.dynamic_unroll(
        cell, x, cell.begin_state(2), valid_length=lengths
    )
    wanted, last = cell.unroll(4, x, layout="TNC", merge_outputs=True, valid_length=lengths)
    assert onp.array_equal(outputs.asnumpy(), wanted.asnumpy())
    assert onp.array_equal(states[1].asnumpy(), last[1].asnumpy())
    assert (outputs[2:, 0].asnumpy() == 0).all()


def test_what_cells_refuse() -> None:
    cell = rnn.LSTMCell(3)
    modified = rnn.ZoneoutCell(cell)
    with pytest.raises(AssertionError, match="the base cell cannot be called"):
        cell.begin_state(2)
    with pytest.raises(AssertionError, match="already modified"):
        rnn.ResidualCell(cell)
    assert modified.begin_state(func=nd.zeros, batch_size=2)[0].shape == (2, 3)
    both = rnn.BidirectionalCell(rnn.GRUCell(3), rnn.GRUCell(3))
    with pytest.raises(NotImplementedError, match="cannot be stepped"):
        both(nd.ones((1, 2)), [])
    with pytest.raises(AssertionError, match="doesn't support zoneout"):
        rnn.ZoneoutCell(both)
    with pytest.raises(AssertionError, match="steps"):
        rnn.GRUCell(3).unroll(3, nd.ones((2, 4, 3)))
    with pytest.raises(AssertionError, match="inputs for 3 steps"):
        rnn.GRUCell(3).unroll(3, [nd.ones((2, 3))])
    with pytest.raises(AssertionError, match="deprecated"):
        rnn.GRUCell(3).unroll(3, None)
    one = nd.ones((2, 3))
    with pytest.raises(ValueError, match=r"\[LSTMCell\] got 1 states; it needs 2"):
        rnn.LSTMCell(3)(one, [one])
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.GRUCell(3))
    with pytest.raises(ValueError, match=r"\[SequentialRNNCell\] got 2 states; it needs 1"):
        stack(one, [one, one])
    stack.add(rnn.BidirectionalCell(rnn.GRUCell(3), rnn.GRUCell(3)))
    with pytest.raises(AssertionError, match="cannot be stepped; use unroll"):
        stack(one, [one] * 3)
    with pytest.raises(AssertionError, match="input_shape needs 3 extents"):
        gluon.contrib.rnn.Conv2DLSTMCell((2, 5), 3, 3, 3)
    layer = rnn.LSTM(3)
    layer.initialize()
    with pytest.raises(ValueError, match="Expecting 2, got 1"):
        layer(nd.ones((5, 2, 3)), [nd.ones((1, 2, 3))])


def test_stacks_are_sequences() -> None:
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.RNNCell(3))
    stack.add(rnn.RNNCell(4))
    assert len(stack) == 2
    assert stack[1]._hidden_size == 4


# --- learning ---


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("world", [nd, np])
def test_a_network_that_learns_a_grammar(world: Any, hybridize: bool) -> None:
    """Sums modulo 2 of bits so far: the state must hold one bit over all steps."""
    mx.random.seed(3)
    net = gluon.nn.HybridSequential()
    net.add(rnn.LSTM(8, layout="NTC"), gluon.nn.Dense(1, flatten=False))
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.03})
    loss = gluon.loss.SigmoidBCELoss()
    bits = onp.random.RandomState(1).randint(0, 2, (64, 6, 1))
    x = world.array(bits, dtype="float32")
    y = world.array(bits.cumsum(1) % 2, dtype="float32")
    for _ in range(150):
        with autograd.record():
            value = loss(net(x), y).mean()
        value.backward()
        trainer.step(1)
    assert ((net(x).asnumpy() > 0) == y.asnumpy()).mean() > 0.95
