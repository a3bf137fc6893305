# SPDX-License-Identifier: Apache-2.0
"""Boxes, attention and unaligned sequences: MXNet's answers, plain references, gradients."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, np, npx, sym
from afterglow._core import describe_table
from afterglow.error import MXNetError
from afterglow.symbol._ops import declared

GOLDEN = Path(__file__).parents[1] / "golden"
RECORDED = json.loads((GOLDEN / "detection.json").read_text())
_found = importlib.util.spec_from_file_location("golden_detection", GOLDEN / "detection.py")
assert _found is not None
assert _found.loader is not None
golden = importlib.util.module_from_spec(_found)
sys.modules[_found.name] = golden
_found.loader.exec_module(golden)
CASES = golden.cases()


def test_all_cases_are_recorded() -> None:
    assert len(CASES) == len(RECORDED["answers"])


def name_of(number: int) -> str:
    return f"{number} {CASES[number].function}"


@pytest.mark.parametrize("number", range(len(CASES)), ids=name_of)
def test_answers_are_those_of_mxnet(number: int) -> None:
    case = CASES[number]
    found = golden.answer(mx, case)
    for kind, wanted in RECORDED["answers"][number].items():
        assert len(found[kind]) == len(wanted)
        for ours, theirs in zip(found[kind], wanted, strict=True):
            assert ours["shape"] == theirs["shape"]
            mine, values = (onp.array(one["values"], "float32") for one in (ours, theirs))
            if case.is_exact:
                assert (mine == values).all()
            else:
                assert mine == pytest.approx(values, rel=2e-4, abs=2e-5)


@pytest.mark.parametrize("name", RECORDED["parameters"])
def test_inputs_and_parameters_are_those_of_mxnet(name: str) -> None:
    op = describe_table()[declared()[name]]
    theirs = RECORDED["parameters"][name]
    arrays = [key for key, text in theirs.items() if text.startswith("NDArray")]
    assert op["inputs"][: len(arrays)] == arrays
    assert list(op["parameters"]) == [key for key in theirs if key not in arrays]
    for key, default in op["parameters"].items():
        kind, required, doc = op["described"][key]
        assert doc
        assert required == theirs[key].endswith("required"), key
        if required:
            continue
        text = theirs[key].partition("default=")[2]
        if theirs[key].startswith("{"):
            assert sorted(re.findall(r"'(\w+)'", theirs[key].partition("}")[0])) == sorted(
                re.findall(r"'(\w+)'", kind)
            )
            assert default == text.strip("'")
        elif theirs[key].startswith("boolean"):
            assert int(default) == int(text)
        else:
            wanted = [float(one) for one in re.findall(r"[-.\de]+", text)]
            assert list(default if isinstance(default, tuple) else [default]) == pytest.approx(
                wanted
            )


def calls() -> list[Any]:
    """Return one case of each op."""
    return list({case.function: case for case in CASES}.values())


#: Those without states.
PLAIN = [case for case in calls() if "BatchNorm" not in case.function]


@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.function)
def test_symbols_and_replays_answer_alike(case: Any) -> None:
    def function_of(module: Any) -> Any:
        for part in case.function.split("."):
            module = getattr(module, part)
        return module

    names = [f"x{i}" for i in range(len(case.arrays))]
    given = len(names) - len(case.by_name)
    arrays = [nd.array(one) for one in case.arrays]

    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, *inputs: Any) -> Any:
            named = dict(zip(case.by_name, inputs[given:], strict=True))
            return function_of(F)(*inputs[:given], **named, **case.arguments)

    net = Net()
    wanted = net(*arrays)
    wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
    net.hybridize()
    for _ in range(3):
        found = net(*arrays)
        found = found if isinstance(found, (list, tuple)) else [found]
        for one, other in zip(found, wanted, strict=True):
            assert (one.asnumpy() == other.asnumpy()).all()
    variables = [sym.var(name) for name in names]
    named = dict(zip(case.by_name, variables[given:], strict=True))
    symbol = function_of(sym)(*variables[:given], **named, **case.arguments)
    shapes = symbol.infer_shape(**{n: x.shape for n, x in zip(names, arrays, strict=True)})[1]
    assert shapes == [one.shape for one in wanted]
    for one, other in zip(
        symbol.eval(**dict(zip(names, arrays, strict=True))), wanted, strict=True
    ):
        assert (one.asnumpy() == other.asnumpy()).all()


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("case", calls(), ids=lambda case: case.function)
def test_types(case: Any, dtype: str) -> None:
    arrays = [nd.array(one, dtype=dtype) for one in case.arrays]
    given = len(arrays) - len(case.by_name)
    named = dict(zip(case.by_name, arrays[given:], strict=True))
    function: Any = nd
    for part in case.function.split("."):
        function = getattr(function, part)
    if case.function.endswith("Proposal"):
        with pytest.raises(TypeError, match="float32"):
            function(*arrays, **case.arguments)
        return
    results = function(*arrays[:given], **named, **case.arguments)
    for one in results if isinstance(results, list) else [results]:
        assert one.dtype == onp.dtype(dtype).type
        assert one.asnumpy().shape == one.shape


def test_np_arrays() -> None:
    anchors = npx.multibox_prior(np.zeros((1, 1, 2, 2)), sizes=(0.5, 0.7))
    assert isinstance(anchors, np.ndarray)
    label = np.array([[[1, 0.1, 0.1, 0.6, 0.6]]])
    way, mask, found = npx.multibox_target(anchors, label, np.zeros((1, 3, 8)))
    assert way.shape == mask.shape == (1, 32)
    assert found.max() == 2
    shares = np.array([[[0.1] * 8, [0.9] * 8]])
    detected = npx.multibox_detection(shares, np.zeros((1, 32)), anchors)
    assert detected.shape == (1, 8, 6)


# --- gradients ---


@pytest.mark.parametrize(
    "case", [case for case in calls() if "interleaved" in case.function], ids=lambda c: c.function
)
def test_gradients_of_attention(case: Any) -> None:
    """Finite differences, and the gradient of the gradient."""
    name = case.function.removeprefix("contrib.")
    hosts = [one.astype("float64") for one in case.arrays]

    def total(arrays: list[Any]) -> Any:
        found = getattr(nd.contrib, name)(*arrays, **case.arguments)
        return (found * found * found).sum()

    arrays = [nd.array(one, dtype="float64") for one in hosts]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        slopes = autograd.grad(total(arrays), arrays, create_graph=True)
        second = sum((slope * slope).sum() for slope in slopes)
    second.backward()
    random, step = onp.random.RandomState(0), 1e-5
    directions = [random.randn(*one.shape) for one in hosts]

    def at(distance: float, what: Any) -> Any:
        moved = [
            nd.array(host + distance * way, dtype="float64")
            for host, way in zip(hosts, directions, strict=True)
        ]
        return what(moved)

    def of_slopes(moved: list[Any]) -> float:
        for array in moved:
            array.attach_grad()
        with autograd.record():
            result = total(moved)
        result.backward()
        return float(sum((array.grad * array.grad).sum().asscalar() for array in moved))

    def along(found: list[Any]) -> float:
        pairs = zip(found, directions, strict=True)
        return float(sum((one.asnumpy() * way).sum() for one, way in pairs))

    value = lambda moved: float(total(moved).asscalar())  # noqa: E731
    first = (at(step, value) - at(-step, value)) / (2 * step)
    assert along(slopes) == pytest.approx(first, rel=1e-6)
    wanted = (at(step, of_slopes) - at(-step, of_slopes)) / (2 * step)
    assert along([array.grad for array in arrays]) == pytest.approx(wanted, rel=1e-6)


def test_gradients_of_detection_are_zero() -> None:
    for case in calls():
        if case.variables or case.function.endswith("Norm"):
            continue
        arrays = [nd.array(one) for one in case.arrays]
        for array in arrays:
            array.attach_grad()
        function = getattr(nd.contrib, case.function.removeprefix("contrib."))
        with autograd.record():
            found = function(*arrays, **case.arguments)
            total = sum(x.sum() for x in (found if isinstance(found, list) else [found]))
            total = total + sum(array.sum() for array in arrays)
        total.backward()
        for array in arrays:
            assert (array.grad.asnumpy() == 1).all()


def ways(label: list[int], steps: int, alphabet: int, blank: int) -> list[tuple[int, ...]]:
    """Return all rows of letters that a label can be read from."""
    rows: list[tuple[int, ...]] = [()]
    for _ in range(steps):
        rows = [(*row, letter) for row in rows for letter in range(alphabet)]
    found = []
    for row in rows:
        once = [letter for i, letter in enumerate(row) if i == 0 or letter != row[i - 1]]
        if [letter for letter in once if letter != blank] == label:
            found.append(row)
    return found


@pytest.mark.parametrize("blank", ["first", "last"])
@pytest.mark.parametrize("label", [[], [1], [1, 1], [2, 1], [1, 2, 1], [2, 2, 2]])
def test_ctc_is_the_sum_over_all_ways(label: list[int], blank: str) -> None:
    steps, alphabet = 5, 3
    shift = 0 if blank == "first" else -1
    label = [letter + shift for letter in label]
    items = nd.array([label + [-7] * (3 - len(label))])
    host = onp.random.RandomState(len(label)).randn(steps, 1, alphabet)
    x = nd.array(host, dtype="float64")
    x.attach_grad()
    with autograd.record():
        loss = nd.CTCLoss(
            x,
            items,
            label_lengths=nd.array([len(label)]),
            use_label_lengths=True,
            blank_label=blank,
        )
    loss.backward()

    def reference(host: Any) -> float:
        shares = onp.exp(host[:, 0]) / onp.exp(host[:, 0]).sum(1, keepdims=True)
        rows = ways(label, steps, alphabet, 0 if blank == "first" else alphabet - 1)
        return -float(onp.log(sum(onp.prod(shares[range(steps), row]) for row in rows)))

    assert loss.asscalar() == pytest.approx(reference(host), rel=1e-12)
    slopes = onp.zeros_like(host)
    for place in onp.ndindex(host.shape):
        step = onp.zeros_like(host)
        step[place] = 1e-6
        slopes[place] = (reference(host + step) - reference(host - step)) / 2e-6
    assert x.grad.asnumpy() == pytest.approx(slopes, abs=1e-8)


def test_ctc_of_impossible_letters() -> None:
    x = nd.array([[[0, -onp.inf, 0]], [[0, -onp.inf, 0]]])
    x.attach_grad()
    with autograd.record():
        loss = nd.CTCLoss(x, nd.array([[1]]))
    loss.backward()
    assert loss.asscalar() == onp.inf
    assert nd.CTCLoss(x * onp.nan, nd.array([[1]])).asnumpy()[0] != 0


def test_sparseness_moves_an_average() -> None:
    x, average = nd.array([[0.2, 0.9], [0.4, 0.3]]), nd.array([0.5, 0.5])
    x.attach_grad()
    wanted = onp.array([0.5, 0.5])
    net = gluon.nn.HybridLambda(lambda F, x, a: F.IdentityAttachKLSparseReg(x, a, penalty=0.1))
    for hybridized in (False, True):
        net.hybridize(hybridized)
        for _ in range(4):
            with autograd.record():
                y = net(x, average)
            y.backward()
            wanted = 0.9 * wanted + 0.1 * x.asnumpy().mean(0)
            pull = 0.1 * (0.9 / (1 - wanted) - 0.1 / wanted)
            assert average.asnumpy() == pytest.approx(wanted, rel=1e-5)
            assert x.grad.asnumpy() == pytest.approx(onp.stack([1 + pull] * 2), rel=1e-5)
    assert (net(x, average).asnumpy() == x.asnumpy()).all()
    assert average.asnumpy() == pytest.approx(wanted, rel=1e-5)  # nothing was recorded
    symbol = sym.IdentityAttachKLSparseReg(sym.var("x"), name="k")
    assert symbol.list_auxiliary_states() == ["k_moving_avg"]
    with pytest.raises(ValueError, match="moving_avg"):
        nd.IdentityAttachKLSparseReg(x, nd.zeros((3,)))


# --- sizes and mistakes ---


def test_sizes_of_none_and_one() -> None:
    boxes = np.zeros((0, 3, 6))
    assert nd.contrib.box_iou(nd.zeros((1, 4)), nd.zeros((1, 4))).asnumpy().tolist() == [[0]]
    for shape in ((0, 3, 6), (2, 0, 6)):
        x = np.zeros(shape)
        x.attach_grad()
        with autograd.record():
            y = mx.nd.contrib.box_nms(x.as_nd_ndarray()).as_np_ndarray()
        y.backward()
        assert y.shape == x.grad.shape == shape
    empty = boxes.as_nd_ndarray()
    rows, columns = nd.contrib.bipartite_matching(empty, threshold=0.5)
    assert rows.shape == (0, 3)
    assert columns.shape == (0, 6)
    assert nd.CTCLoss(nd.zeros((1, 1, 1)), nd.array([[0]])).asnumpy().tolist() == [0]


@pytest.mark.parametrize(
    ("function", "shapes", "arguments", "text"),
    [
        ("MultiBoxPrior", [(1, 2, 3)], {}, "4 dimensions"),
        ("MultiBoxPrior", [(1, 1, 2, 2)], {"steps": (1,)}, "two numbers"),
        ("MultiBoxPrior", [(1, 1, 2, 2)], {"offsets": (2, 0)}, "between 0 and 1"),
        ("MultiBoxPrior", [(1, 1, 2, 2)], {"sizes": ()}, "needs sizes"),
        ("MultiBoxTarget", [(1, 3, 5), (1, 1, 5), (1, 2, 3)], {}, r"anchor has shape"),
        ("MultiBoxTarget", [(1, 3, 4), (1, 1, 4), (1, 2, 3)], {}, "at least 5"),
        ("MultiBoxTarget", [(1, 3, 4), (1, 1, 5), (1, 2, 4)], {}, r"cls_pred has shape"),
        ("MultiBoxTarget", [(1, 3, 4), (1, 1, 5), (1, 2, 3)], {"variances": (1, 2)}, "four"),
        ("MultiBoxDetection", [(1, 2, 3), (1, 11), (1, 3, 4)], {}, r"loc_pred has shape \(1, 11\)"),
        ("box_nms", [(4, 4)], {}, "at least 5"),
        ("box_nms", [(4, 6)], {"score_index": 3}, "columns of their own"),
        ("box_nms", [(4, 6)], {"coord_start": 3}, "column of the data"),
        ("box_nms", [(4, 6)], {"in_format": "middle"}, "in_format"),
        ("box_iou", [(4, 5), (4, 4)], {}, "the last of 4"),
        ("bipartite_matching", [(4,)], {"threshold": 1.0}, "matrix"),
        ("bipartite_matching", [(4, 4)], {}, "threshold"),
        ("box_encode", [(1, 2), (1, 2), (1, 2, 4), (1, 2, 4), (3,), (4,)], {}, "four numbers"),
        ("box_decode", [(1, 2, 4), (1, 3, 4)], {}, "anchors has shape"),
        ("Proposal", [(2, 24, 2, 2), (2, 48, 2, 2), (2, 3)], {}, "MultiProposal"),
        ("MultiProposal", [(2, 8, 2, 2), (2, 16, 2, 2), (2, 3)], {}, "each ratio and scale"),
        ("interleaved_matmul_selfatt_qk", [(2, 1, 10)], {"heads": 2}, "multiple of 3 times"),
        ("interleaved_matmul_selfatt_qk", [(2, 12)], {"heads": 2}, "time, batch, features"),
        ("interleaved_matmul_encdec_qk", [(2, 1, 4), (2, 1, 4)], {"heads": 1}, "twice"),
        ("interleaved_matmul_encdec_valatt", [(2, 1, 4), (1, 2, 3)], {"heads": 1}, "attention has"),
    ],
)
def test_bad_shapes_are_refused_at_the_call(
    function: str, shapes: list[tuple[int, ...]], arguments: dict[str, Any], text: str
) -> None:
    with pytest.raises(MXNetError, match=rf"\[{function}\].*{text}"):
        getattr(nd.contrib, function)(*[nd.zeros(shape) for shape in shapes], **arguments)


def test_types_are_refused_at_the_call() -> None:
    whole = nd.zeros((2, 6), dtype="int32")
    with pytest.raises(TypeError, match="floating"):
        nd.contrib.box_nms(whole)
    with pytest.raises(TypeError, match="one type"):
        nd.contrib.box_iou(nd.zeros((1, 4)), nd.zeros((1, 4), dtype="float64"))
    with pytest.raises(TypeError):
        nd.contrib.MultiBoxPrior(nd.zeros((1, 1, 2, 2)), sizes=("a",))


def test_data_that_make_no_sense_are_refused() -> None:
    ones = nd.ones((1, 1))
    box = nd.array([[[0, 0, 1, 1]]])
    zeros, factors = nd.zeros((4,)), nd.ones((4,))
    with pytest.raises(ValueError, match="match is not the index"):
        nd.contrib.box_encode(ones, ones * 5, box, box, zeros, factors)[0].asnumpy()
    label = nd.array([[[-1, 0, 0, 1, 1]]])
    with pytest.raises(ValueError, match="class -1"):
        nd.contrib.MultiBoxTarget(box, label, nd.zeros((1, 2, 1)))[2].asnumpy()
    scores, moves = nd.ones((1, 24, 2, 2)), nd.zeros((1, 48, 2, 2))
    with pytest.raises(ValueError, match="larger than the map"):
        nd.contrib.Proposal(scores, moves, nd.array([[100, 32, 1]])).asnumpy()


def test_bits_do_not_depend_on_the_number_of_boxes_beside() -> None:
    """Samples of a batch are what they are alone."""
    random = onp.random.RandomState(3)
    data = onp.concatenate([random.rand(5, 40, 2), random.rand(5, 40, 4).cumsum(-1)], -1)
    together = nd.contrib.box_nms(nd.array(data), overlap_thresh=0.2).asnumpy()
    for sample, alone in zip(data, together, strict=True):
        assert (nd.contrib.box_nms(nd.array(sample), overlap_thresh=0.2).asnumpy() == alone).all()
