# SPDX-License-Identifier: Apache-2.0
"""``mx.rnn``: cells of symbols against loops and each other, checkpoints, buckets."""

from __future__ import annotations

import doctest
import random
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd, rnn, sym

STEPS, BATCH, INPUTS, HIDDEN = 4, 3, 5, 6
MODULES = (
    rnn.io,
    rnn._base,
    rnn._combined,
    rnn._convolutional,
    rnn._fused,
    rnn._plain,
)


def run(output: Any, given: dict[str, Any], is_train: bool = False) -> list[Any]:
    """Return what a symbol computes, with states and all else that is not given made of zeros."""
    return [
        array.asnumpy() for array in output.bind(mx.cpu(), dict(given)).forward(is_train=is_train)
    ]


def weights_of(output: Any, **shapes: tuple[int, ...]) -> dict[str, Any]:
    """Return random arrays for all arguments of a symbol."""
    draw = onp.random.RandomState(1)
    found, _, _ = output.infer_shape(**shapes)
    return {
        name: nd.array(draw.uniform(-0.5, 0.5, shape))
        for name, shape in zip(output.list_arguments(), found, strict=True)
    }


def sigmoid(x: Any) -> Any:
    return 1 / (1 + onp.exp(-x))


def lstm_in_numpy(x: Any, weights: dict[str, Any], prefix: str) -> Any:
    """Return the outputs of an LSTM, from weights that were unpacked: one for each gate."""
    h = c = onp.zeros((x.shape[0], HIDDEN), "float32")
    values = {name.removeprefix(prefix): one.asnumpy() for name, one in weights.items()}

    def gate(name: str, step: Any) -> Any:
        of_input = step @ values[f"i2h_{name}_weight"].T + values[f"i2h_{name}_bias"]
        return of_input + h @ values[f"h2h_{name}_weight"].T + values[f"h2h_{name}_bias"]

    outputs = []
    for step in x.transpose(1, 0, 2):
        taken, kept, shown = (sigmoid(gate(name, step)) for name in "ifo")
        c = kept * c + taken * onp.tanh(gate("c", step))
        h = shown * onp.tanh(c)
        outputs.append(h)
    return onp.stack(outputs, axis=1)


def test_an_lstm_is_what_a_loop_computes() -> None:
    cell = rnn.LSTMCell(HIDDEN, prefix="cell_")
    outputs, states = cell.unroll(STEPS, sym.var("data"), merge_outputs=True)
    assert sorted(cell.params._params) == [
        f"cell_{group}_{kind}" for group in ("h2h", "i2h") for kind in ("bias", "weight")
    ]
    given = weights_of(outputs, data=(BATCH, STEPS, INPUTS))
    single = cell.unpack_weights({name: one for name, one in given.items() if name != "data"})
    expected = lstm_in_numpy(given["data"].asnumpy(), single, "cell_")
    onp.testing.assert_allclose(run(outputs, given)[0], expected, rtol=1e-5, atol=1e-6)
    last = run(states[0], given)[0]
    onp.testing.assert_allclose(last, expected[:, -1], rtol=1e-5, atol=1e-6)
    again = cell.pack_weights(single)
    for name, one in again.items():
        onp.testing.assert_array_equal(one.asnumpy(), given[name].asnumpy())


@pytest.mark.parametrize("mode", ["rnn_tanh", "rnn_relu", "lstm", "gru"])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layout", ["NTC", "TNC"])
@pytest.mark.filterwarnings("ignore:NTC layout")
def test_a_fused_cell_computes_what_its_plain_cells_do(
    mode: str, bidirectional: bool, layout: str
) -> None:
    fused = rnn.FusedRNNCell(
        HIDDEN, num_layers=2, mode=mode, bidirectional=bidirectional, get_next_state=True
    )
    shape = (BATCH, STEPS, INPUTS) if layout == "NTC" else (STEPS, BATCH, INPUTS)
    outputs, states = fused.unroll(STEPS, sym.var("data"), layout=layout, merge_outputs=True)
    assert len(states) == (2 if mode == "lstm" else 1)
    given = weights_of(outputs, data=shape)
    stack = fused.unfuse()
    plain, _ = stack.unroll(STEPS, sym.var("data"), layout=layout, merge_outputs=True)
    parts = fused.unpack_weights({f"{mode}_parameters": given[f"{mode}_parameters"]})
    unfused = {**stack.pack_weights(parts), "data": given["data"]}
    onp.testing.assert_allclose(
        run(outputs, given)[0], run(plain, unfused)[0], rtol=1e-4, atol=1e-5
    )
    whole = fused.pack_weights(parts)[f"{mode}_parameters"]
    onp.testing.assert_array_equal(whole.asnumpy(), given[f"{mode}_parameters"].asnumpy())


def test_the_vector_of_a_fused_cell_is_filled_part_by_part() -> None:
    fused = rnn.FusedRNNCell(HIDDEN, num_layers=2, bidirectional=True, forget_bias=3.0)
    outputs, _ = fused.unroll(STEPS, sym.var("data"), layout="TNC", merge_outputs=True)
    model = mx.mod.Module(outputs, label_names=None)
    model.bind([("data", (STEPS, BATCH, INPUTS))], for_training=False)
    model.init_params(mx.init.One())
    parts = fused.unpack_weights(model.get_params()[0])
    for name, one in parts.items():
        expected = 3.0 if name.endswith("_f_bias") else float(name.endswith("weight"))
        assert (one.asnumpy() == expected).all(), name
    text = mx.init.FusedRNN(mx.init.Xavier(), HIDDEN, 1, "gru").dumps()
    assert mx.init.create(text).dumps() == text


def test_steps_may_be_lists() -> None:
    cell = rnn.GRUCell(HIDDEN)
    steps = [sym.var(f"t{step}") for step in range(STEPS)]
    outputs, _ = cell.unroll(STEPS, steps)
    assert isinstance(outputs, list)
    assert len(outputs) == STEPS
    whole = sym.Group(outputs)
    assert whole.list_outputs() == [f"gru_t{step}_out_output" for step in range(STEPS)]
    shapes = {f"t{step}": (BATCH, INPUTS) for step in range(STEPS)}
    assert whole.infer_shape(**shapes)[1] == [(BATCH, HIDDEN)] * STEPS
    with pytest.raises(AssertionError, match="needs 3 steps, but got 4"):
        cell.unroll(3, steps)
    with pytest.raises(AssertionError, match="grouped symbol"):
        cell.unroll(STEPS, sym.Group(steps))


def test_states_may_be_variables() -> None:
    cell = rnn.LSTMCell(HIDDEN)
    begin = cell.begin_state(func=sym.var)
    assert [state.name for state in begin] == ["lstm_begin_state_0", "lstm_begin_state_1"]
    output, _ = cell(sym.var("data"), begin)
    assert {"lstm_begin_state_0", "lstm_begin_state_1"} <= set(output.list_arguments())


def test_cells_that_share_variables() -> None:
    first = rnn.RNNCell(HIDDEN, prefix="a_")
    second = rnn.RNNCell(HIDDEN, prefix="b_", params=first.params)
    output, _ = second(first(sym.var("data"), first.begin_state())[0], second.begin_state())
    assert {name for name in output.list_arguments() if name.endswith("weight")} == {
        "a_i2h_weight",
        "a_h2h_weight",
    }
    stack = rnn.SequentialRNNCell(params=rnn.RNNParams("c_"))
    with pytest.raises(AssertionError, match="not both"):
        stack.add(second)


def test_a_residual_is_added_to_the_output() -> None:
    plain, residual = rnn.RNNCell(INPUTS), rnn.ResidualCell(rnn.RNNCell(INPUTS))
    one, _ = plain.unroll(STEPS, sym.var("data"), merge_outputs=True)
    other, _ = residual.unroll(STEPS, sym.var("data"), merge_outputs=True)
    given = weights_of(one, data=(BATCH, STEPS, INPUTS))
    expected = run(one, given)[0] + given["data"].asnumpy()
    onp.testing.assert_allclose(run(other, given)[0], expected, rtol=1e-6)
    steps, _ = residual.unroll(STEPS, sym.var("data"), merge_outputs=False)
    for step, array in enumerate(run(sym.Group(steps), given)):
        onp.testing.assert_allclose(array, expected[:, step], rtol=1e-6)


def test_a_cell_below_a_modifier_is_not_called() -> None:
    below = rnn.LSTMCell(HIDDEN)
    above = rnn.ZoneoutCell(below, 0.5, 0.5)
    with pytest.raises(AssertionError, match="Call the modifier cell"):
        below.begin_state()
    assert above.params is below.params
    assert len(above.begin_state()) == 2
    with pytest.raises(AssertionError, match="unfuse"):
        rnn.ZoneoutCell(rnn.FusedRNNCell(HIDDEN))


def test_zoneout_keeps_elements_in_training_only() -> None:
    cell = rnn.ZoneoutCell(rnn.RNNCell(200), zoneout_outputs=0.5)
    outputs, _ = cell.unroll(2, sym.var("data"), merge_outputs=True)
    given = weights_of(outputs, data=(BATCH, 2, INPUTS))
    plain, _ = rnn.RNNCell(200).unroll(2, sym.var("data"), merge_outputs=True)
    expected = run(plain, given)[0]
    onp.testing.assert_allclose(run(outputs, given)[0], expected, rtol=1e-6)
    trained = run(outputs, given, is_train=True)[0]
    share = float((trained[:, 0] == 0).mean())
    assert 0.3 < share < 0.7
    kept = trained[:, 0] != 0
    onp.testing.assert_allclose(trained[:, 0][kept], expected[:, 0][kept], rtol=1e-6)
    assert 0.3 < float((trained[:, 1] == trained[:, 0]).mean()) < 0.7


def test_dropout_between_layers() -> None:
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.LSTMCell(HIDDEN, prefix="below_"))
    stack.add(rnn.DropoutCell(0.5))
    stack.add(rnn.LSTMCell(HIDDEN, prefix="above_"))
    outputs, states = stack.unroll(STEPS, sym.var("data"), merge_outputs=True)
    assert len(states) == 4
    assert outputs.infer_shape(data=(BATCH, STEPS, INPUTS))[1] == [(BATCH, STEPS, HIDDEN)]
    assert "Dropout" in outputs.tojson()


@pytest.mark.parametrize("kind", [rnn.ConvRNNCell, rnn.ConvLSTMCell, rnn.ConvGRUCell])
def test_convolutional_cells(kind: Any) -> None:
    cell = kind(input_shape=(1, 2, 5, 7), num_hidden=3, prefix="conv_")
    outputs, _ = cell.unroll(2, sym.var("data"), layout="NTCHW", merge_outputs=True)
    arguments, results, _ = outputs.infer_shape(data=(BATCH, 2, 2, 5, 7))
    assert results == [(BATCH, 2, 3, 5, 7)]
    gates = len(cell._gate_names)
    shapes = dict(zip(outputs.list_arguments(), arguments, strict=True))
    assert shapes["conv_i2h_weight"] == (3 * gates, 2, 3, 3)
    given = weights_of(outputs, data=(BATCH, 2, 2, 5, 7))
    assert onp.isfinite(run(outputs, given)[0]).all()


def test_checkpoints_have_a_weight_for_each_gate(tmp_path: Path) -> None:
    cell = rnn.LSTMCell(HIDDEN)
    outputs, _ = cell.unroll(STEPS, sym.var("data"), merge_outputs=True)
    given = weights_of(outputs, data=(BATCH, STEPS, INPUTS))
    data = given.pop("data")
    prefix = str(tmp_path / "net")
    callback = rnn.do_rnn_checkpoint(cell, prefix, period=2)
    callback(0, outputs, given, {})
    assert not list(tmp_path.iterdir())
    callback(1, outputs, given, {})
    assert "lstm_i2h_f_weight" in mx.model.load_params(prefix, 2)[0]
    loaded, arguments, states = rnn.load_rnn_checkpoint(cell, prefix, 2)
    assert not states
    onp.testing.assert_array_equal(
        run(loaded, {**arguments, "data": data})[0], run(outputs, {**given, "data": data})[0]
    )


def test_the_old_name_of_unroll() -> None:
    with pytest.warns(UserWarning, match="deprecated"):
        outputs, _ = rnn.rnn_unroll(rnn.RNNCell(HIDDEN), 2, input_prefix="in_")
    assert "in_t0_data" in sym.Group(outputs).list_arguments()


def test_words_become_numbers() -> None:
    sentences = [["one", "two"], ["two", "three"]]
    numbers, vocabulary = rnn.encode_sentences(sentences, start_label=1, invalid_label=0)
    assert numbers == [[1, 2], [2, 3]]
    assert vocabulary == {"\n": 0, "one": 1, "two": 2, "three": 3}
    assert rnn.encode_sentences([["three", "one"]], vocab=vocabulary)[0] == [[3, 1]]
    with pytest.raises(AssertionError, match="Unknown token four"):
        rnn.encode_sentences([["four"]], vocab=vocabulary)
    known = dict(vocabulary)
    found, _ = rnn.encode_sentences(
        [["four", "one", "five"]], vocab=known, unknown_token="<unk>", start_label=4
    )
    assert found == [[4, 1, 4]]
    assert known["<unk>"] == 4


@pytest.mark.parametrize("layout", ["NT", "TN"])
def test_buckets_of_sentences(layout: str, capsys: pytest.CaptureFixture[str]) -> None:
    random.seed(2)
    sentences = [list(range(1, length + 1)) for length in (2, 3, 3, 5, 5, 5, 9)]
    batches = rnn.BucketSentenceIter(sentences, 2, buckets=[3, 5], invalid_label=0, layout=layout)
    assert "discarded 1 sentences" in capsys.readouterr().out
    assert batches.default_bucket_key == 5
    whole = (2, 5) if layout == "NT" else (5, 2)
    assert batches.provide_data[0].shape == whole
    for _ in range(2):
        seen = []
        for batch in batches:
            data, label = batch.data[0].asnumpy(), batch.label[0].asnumpy()
            if layout == "TN":
                data, label = data.T, label.T
            assert data.shape == (2, batch.bucket_key)
            onp.testing.assert_array_equal(label[:, :-1], data[:, 1:])
            assert (label[:, -1] == 0).all()
            seen.append(batch.bucket_key)
        assert sorted(seen) == [3, 5]
        batches.reset()
    with pytest.raises(ValueError, match="Invalid layout"):
        rnn.BucketSentenceIter(sentences, 2, layout="NTC")
    with pytest.raises(ValueError, match="no bucket has a sentence"):
        rnn.BucketSentenceIter(sentences, 2, buckets=[1])


def test_a_language_model_is_trained_in_buckets() -> None:
    random.seed(3)
    onp.random.seed(3)
    mx.random.seed(3)
    sentences = [[(first + place) % 8 + 1 for place in range(4 + first % 2)] for first in range(64)]
    batches = rnn.BucketSentenceIter(sentences, 8, buckets=[4, 5], invalid_label=0)
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.LSTMCell(16, prefix="lstm_"))

    def network(length: int) -> Any:
        embedded = sym.Embedding(sym.var("data"), input_dim=9, output_dim=8, name="embed")
        stack.reset()
        outputs, _ = stack.unroll(length, embedded, merge_outputs=True)
        scores = sym.FullyConnected(sym.reshape(outputs, (-1, 16)), num_hidden=9, name="scores")
        label = sym.reshape(sym.var("softmax_label"), (-1,))
        return sym.SoftmaxOutput(scores, label, name="softmax"), ("data",), ("softmax_label",)

    model = mx.mod.BucketingModule(network, batches.default_bucket_key)
    metric = mx.metric.Perplexity(0)
    model.fit(
        batches,
        eval_metric=metric,
        optimizer="adam",
        optimizer_params={"learning_rate": 0.03},
        initializer=mx.init.Xavier(),
        num_epoch=8,
    )
    assert metric.get()[1] < 2


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0
