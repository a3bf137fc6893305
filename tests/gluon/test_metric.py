# SPDX-License-Identifier: Apache-2.0
"""Metrics, against what MXNet 1.9.1 says of the same batches."""

from __future__ import annotations

import json
import math

import numpy as onp
import pytest

from afterglow import metric, nd

PREDICTIONS = [[0.3, 0.7], [0, 1.0], [0.4, 0.6]]
LABELS = [0, 1, 1]
NUMBERS = [[1.0, 2], [3, 4]], [[1.5, 2], [2, 4.5]]


def _value(made, *batches):
    for label, pred in batches:
        made.update([nd.array(label)], [nd.array(pred)])
    return made.get()


@pytest.mark.parametrize(
    ("made", "name", "value"),
    [
        (lambda: metric.create("acc"), "accuracy", 2 / 3),
        (lambda: metric.create("ce"), "cross-entropy", 0.5715994834899902),
        (lambda: metric.NegativeLogLikelihood(), "nll-loss", 0.5715994834899902),
        (lambda: metric.create("f1"), "f1", 0.8),
        (lambda: metric.create("mcc"), "mcc", 0.0),
        (lambda: metric.TopKAccuracy(top_k=2), "top_k_accuracy_2", 1.0),
        (lambda: metric.Perplexity(ignore_label=None), "perplexity", 1.7710976285155853),
        (lambda: metric.Perplexity(ignore_label=0), "perplexity", 1.2909944168689313),
    ],
)
def test_classes(made, name, value):
    shown, found = _value(made(), (LABELS, PREDICTIONS))
    assert shown == name
    assert math.isclose(found, value, rel_tol=1e-6)
    assert type(found) is float  # a number of NumPy's prints as such


@pytest.mark.parametrize(
    ("name", "first", "both"),
    [
        ("mae", 0.5, 1.5),
        ("mse", 0.375, 4.4375),
        ("rmse", 0.6123724579811096, 1.7639241516590118),
        ("pearsonr", 0.8581163303210331, 0.8581163303210331),
        ("loss", 2.5, 3.75),
    ],
)
def test_numbers(name, first, both):
    made = metric.create(name)
    label, pred = NUMBERS
    assert math.isclose(_value(made, (label, pred))[1], first, rel_tol=1e-6)
    doubled = (onp.array(pred) * 2).tolist()
    assert math.isclose(_value(made, (label, doubled))[1], both, rel_tol=1e-6)


@pytest.mark.parametrize(("average", "f1"), [("macro", 0.65), ("micro", 2 / 3)])
def test_averages(average, f1):
    batches = (LABELS, PREDICTIONS), ([1, 0, 0], PREDICTIONS)
    assert math.isclose(_value(metric.F1(average=average), *batches)[1], f1)
    assert _value(metric.MCC(average=average), *batches)[1] == 0


def test_a_batch_of_nothing_changes_no_average():
    made = metric.F1(average="micro")
    known = _value(made, (LABELS, PREDICTIONS))
    made.update([nd.zeros((0,))], [nd.zeros((0, 2))])
    assert made.get() == known


def test_local_and_global():
    made = metric.Accuracy()
    assert math.isnan(made.get()[1])
    assert made.get_name_value()[0][0] == "accuracy"
    _value(made, (LABELS, PREDICTIONS))
    made.reset_local()
    assert math.isnan(made.get()[1])
    assert math.isclose(made.get_global()[1], 2 / 3)
    made.reset()
    assert math.isnan(made.get_global()[1])


def test_several_at_once():
    made = metric.create(["acc", "ce"])
    names, values = _value(made, (LABELS, PREDICTIONS))
    assert names == ["accuracy", "cross-entropy"]
    assert math.isclose(values[0], 2 / 3)
    assert str(made).startswith("EvalMetric: {'accuracy': 0.66666666")
    assert made.get_config()["metrics"][0] == {
        "axis": 1,
        "metric": "Accuracy",
        "name": "accuracy",
        "output_names": None,
        "label_names": None,
    }
    assert isinstance(made.get_metric(0), metric.Accuracy)


def test_functions():
    def right(label, pred):
        return float((label == pred.argmax(1)).mean())

    assert _value(metric.np(right), (LABELS, PREDICTIONS))[0] == "right"
    assert _value(metric.np(lambda a, b: 1.0), (LABELS, PREDICTIONS))[0] == "custom(<lambda>)"
    made = metric.CustomMetric(lambda label, pred: (3.0, 4), name="mine")
    assert _value(made, (LABELS, PREDICTIONS)) == ("mine", 0.75)
    alone = metric.np(lambda label, pred: pred.sum(axis=1, keepdims=True)[0])
    assert math.isclose(_value(alone, (LABELS, PREDICTIONS))[1], onp.sum(PREDICTIONS[0]))


def test_metrics_of_programs_may_count_since_the_last_reset_alone():
    class Largest(metric.EvalMetric):
        def __init__(self):
            super().__init__("largest")

        def reset(self):
            self.num_inst, self.sum_metric = 0, 0.0

        def update(self, labels, preds):
            self.sum_metric += preds[0].asnumpy().max()
            self.num_inst += 1

    made = Largest()
    assert math.isnan(made.get_global()[1])
    made.update([], [nd.array([1, 3])])
    made.update([], [nd.array([5, 4])])
    assert made.get_global_name_value() == made.get_name_value() == [("largest", 4.0)]
    several = metric.CompositeEvalMetric()
    several.add(made)
    assert several.get_global()[1][0] == 4.0


def test_names_of_outputs():
    made = metric.Accuracy(output_names=["o"], label_names=["l"])
    made.update_dict({"l": nd.array(LABELS), "other": nd.array([9])}, {"o": nd.array(PREDICTIONS)})
    assert math.isclose(made.get()[1], 2 / 3)


def test_correlation_of_many_classes():
    made = metric.PCC()
    generator = onp.random.default_rng(1)
    label, pred = generator.integers(0, 4, 200), generator.integers(0, 4, 200)
    pred[:120] = label[:120]
    made.update([nd.array(label)], [nd.array(pred)])
    one_hot = [onp.eye(4)[values] for values in (label, pred)]
    centred = [values - values.mean(0) for values in one_hot]
    covariance = (centred[0] * centred[1]).sum()
    spread = (centred[0] ** 2).sum() * (centred[1] ** 2).sum()
    assert math.isclose(made.get()[1], covariance / math.sqrt(spread), rel_tol=1e-9)


def test_mistakes():
    with pytest.raises(ValueError, match="Shape of labels 2 does not match shape of predictions 3"):
        _value(metric.Accuracy(), ([0, 1], PREDICTIONS))
    with pytest.raises(ValueError, match=r"labels 2 .* predictions 1"):
        metric.Accuracy().update([nd.array(LABELS)] * 2, [nd.array(PREDICTIONS)])
    with pytest.raises(ValueError, match="not registered"):
        metric.create("zzz")
    with pytest.raises(ValueError, match="top_k"):
        metric.TopKAccuracy()


def test_metric_aliases():
    @metric.alias("Mine", "my_own")
    class Measure(metric.EvalMetric):
        pass

    assert isinstance(metric.create("mine", "x"), Measure)
    assert isinstance(metric.create("my_own", "x"), Measure)


@pytest.mark.parametrize(
    "made", ["acc", "f1", "mcc", "nll_loss", "pcc", ["acc", "ce"], "perplexity"]
)
def test_metrics_are_made_of_their_configurations(made):
    arguments = {"ignore_label": 3} if made == "perplexity" else {}
    first = metric.create(made, **arguments)
    config = first.get_config()
    for given in (config, json.dumps(config)):
        assert metric.create(given).get_config() == config
    assert isinstance(metric.create('["acc", "ce"]'), metric.CompositeEvalMetric)
    assert metric.create('["topkaccuracy", {"top_k": 3}]').get_config()["top_k"] == 3


@pytest.mark.parametrize(("ignored", "expected"), [(None, 2.2833557), (-1, 2.6726124)])
def test_perplexity_of_labels_that_are_no_class(ignored, expected):
    made = metric.Perplexity(ignored)
    scores = [[0.2, 0.8], [0.3, 0.7], [0.6, 0.4]]
    assert _value(made, ([0, 5, -1], scores))[1] == pytest.approx(expected)
