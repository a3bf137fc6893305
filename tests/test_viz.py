# SPDX-License-Identifier: Apache-2.0
"""Pictures and tables of networks. What MXNet prints is compared in tests/module."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

import afterglow as mx
from afterglow import sym
from afterglow._graphs.layout import Box, arrange

SVG = "{http://www.w3.org/2000/svg}"


def perceptron() -> Any:
    net = sym.FullyConnected(sym.Variable("data"), num_hidden=8, name="fc1")
    net = sym.Activation(net, act_type="relu", name="relu1")
    net = sym.BatchNorm(net, name="bn", fix_gamma=False)
    net = sym.FullyConnected(net, num_hidden=3, name="fc2")
    return sym.SoftmaxOutput(net, name="softmax")


# --- text for Graphviz ---

#: What str() of MXNet's drawing says.
SOURCE = """\
digraph plot {
	data [label=data fillcolor="#8dd3c7" fixedsize=true height=0.8034 shape=oval style=filled width=1.3]
	fc1 [label="FullyConnected
8" fillcolor="#fb8072" fixedsize=true height=0.8034 shape=box style=filled width=1.3]
	relu1 [label="Activation
relu" fillcolor="#ffffb3" fixedsize=true height=0.8034 shape=box style=filled width=1.3]
	bn [label=bn fillcolor="#bebada" fixedsize=true height=0.8034 shape=box style=filled width=1.3]
	fc2 [label="FullyConnected
3" fillcolor="#fb8072" fixedsize=true height=0.8034 shape=box style=filled width=1.3]
	softmax_label [label=softmax_label fillcolor="#8dd3c7" fixedsize=true height=0.8034 shape=oval style=filled width=1.3]
	softmax [label=softmax fillcolor="#fccde5" fixedsize=true height=0.8034 shape=box style=filled width=1.3]
	fc1 -> data [label="" arrowtail=open dir=back]
	relu1 -> fc1 [label="" arrowtail=open dir=back]
	bn -> relu1 [label="" arrowtail=open dir=back]
	fc2 -> bn [label="" arrowtail=open dir=back]
	softmax -> fc2 [label="" arrowtail=open dir=back]
	softmax -> softmax_label [label="" arrowtail=open dir=back]
}"""  # noqa: E501


def test_source_like_mxnet() -> None:
    assert mx.viz.plot_network(perceptron()).source == SOURCE
    assert str(mx.viz.plot_network(perceptron())) == SOURCE


def test_shapes_and_types_at_edges() -> None:
    source = mx.viz.plot_network(perceptron(), shape={"data": (4, 5)}).source
    assert "fc1 -> data [label=5 arrowtail" in source
    assert "softmax -> fc2 [label=3 arrowtail" in source
    image = sym.flatten(sym.var("data"), name="flat")
    drawing = mx.viz.plot_network(image, shape={"data": (2, 3, 4)}, dtype={"data": "float16"})
    assert 'flat -> data [label="3x4 float16"' in drawing.source


def test_weights_can_be_shown() -> None:
    hidden = mx.viz.plot_network(perceptron()).source
    shown = mx.viz.plot_network(perceptron(), hide_weights=False).source
    for name in ("fc1_weight", "fc1_bias", "bn_gamma", "bn_moving_mean"):
        assert name not in hidden
        assert f"-> {name} [" in shown
    sized = mx.viz.plot_network(perceptron(), shape={"data": (4, 5)}, hide_weights=False).source
    assert "fc1 -> fc1_weight [label=" in sized
    assert '"8x5"' in sized


def test_attributes_of_nodes() -> None:
    drawing = mx.viz.plot_network(
        perceptron(), title="my net", node_attrs={"shape": "oval", "fixedsize": "false"}
    )
    assert drawing.source.startswith('digraph "my net" {')
    assert "fixedsize=false" in drawing.source
    assert "shape=box" not in drawing.source


# --- the picture ---


def parsed(drawing: Any) -> Any:
    return ElementTree.fromstring(drawing._repr_svg_())


def texts(drawing: Any) -> list[str]:
    return [one.text for one in parsed(drawing).iter(f"{SVG}text")]


def boxes(drawing: Any) -> dict[str, tuple[float, float, float, float]]:
    """Return left, top, right and bottom by name."""
    found = {}
    for group in parsed(drawing).iter(f"{SVG}g"):
        name = group.find(f"{SVG}title").text.split(" ")[0]
        box = {
            key: float(group.find(f"{SVG}rect").get(key)) for key in ("x", "y", "width", "height")
        }
        found[name] = (box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"])
    return found


def test_picture() -> None:
    drawing = mx.viz.plot_network(perceptron(), shape={"data": (4, 5)}, title="a < b & c")
    assert parsed(drawing).find(f"{SVG}title").text == "a < b & c"
    seen = texts(drawing)
    for text in ("FullyConnected", "8", "Activation", "relu", "BatchNorm", "bn", "softmax_label"):
        assert text in seen
    found = boxes(drawing)
    assert list(found) == ["data", "fc1", "relu1", "bn", "fc2", "softmax_label", "softmax"]
    chain = [found[name] for name in ("data", "fc1", "relu1", "bn", "fc2", "softmax")]
    assert all(upper[3] < lower[1] for upper, lower in itertools.pairwise(chain))
    middles = {round(box[0] + box[2]) for box in chain}
    assert max(middles) - min(middles) <= 2  # a chain is straight
    assert len(list(parsed(drawing).iter(f"{SVG}path"))) == 6 + 1  # edges and the arrow head


def branches(count: int) -> Any:
    x = sym.Variable("data")
    for number in range(count):
        y = sym.FullyConnected(x, num_hidden=16, name=f"a{number}")
        y = sym.FullyConnected(y, num_hidden=5, name=f"b{number}")
        gate = sym.sigmoid(x, name=f"gate{number}_with_a_long_name")
        x = sym.add_n(x, y, gate, name=f"sum{number}")
    return x


def overlap(one: Any, other: Any) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def test_boxes_of_branches_do_not_overlap() -> None:
    drawing = mx.viz.plot_network(branches(4))
    found = list(boxes(drawing).values())
    assert len(found) == 17
    assert not any(
        overlap(one, other) for number, one in enumerate(found) for other in found[:number]
    )
    root = parsed(drawing)
    width, height = float(root.get("width")), float(root.get("height"))
    assert all(
        box[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height for box in found
    )


def test_long_network() -> None:
    drawing = mx.viz.plot_network(branches(60))
    assert len(boxes(drawing)) == 241


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    drawing = mx.viz.plot_network(perceptron(), title="net")
    assert drawing.render() == "net.svg"
    assert drawing.render("other", directory="sub", format="png") == "sub/other.svg"
    assert drawing.view("shown.svg") == "shown.svg"
    assert drawing.save() == "net.gv"
    assert Path("net.gv").read_text() == drawing.source + "\n"
    assert ElementTree.parse("sub/other.svg").getroot().tag == f"{SVG}svg"
    assert drawing.pipe() == Path("net.svg").read_bytes()


def test_block() -> None:
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(4, activation="relu"), mx.gluon.nn.Dense(2))
    net.initialize()
    assert texts(mx.viz.plot_network(net)).count("FullyConnected") == 2


def test_summary_of_a_block(capsys: pytest.CaptureFixture[str]) -> None:
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(4, activation="relu"), mx.gluon.nn.LayerNorm())
    net.initialize()
    mx.viz.print_summary(net, {"data": (2, 3)})
    printed = capsys.readouterr().out
    assert "net_dense0_fwd(FullyConnected)" in printed
    assert "Total params: 24" in printed  # 4 x 3, 4, and 4 + 4 of the norm


@pytest.mark.parametrize("function", [mx.viz.plot_network, mx.viz.print_summary])
def test_refusal(function: Any) -> None:
    with pytest.raises(TypeError, match="symbol must be a Symbol"):
        function(3)
    with pytest.raises(mx.MXNetError):
        function(perceptron(), shape={"foo": (1,)})


# --- the layout ---


def test_layout_of_nothing_and_of_one() -> None:
    assert arrange([], [], []).lines == {}
    (box,) = arrange([Box(10, 10)], [], [False]).boxes
    assert (box.x, box.y) == (21, 21)


def test_edges_lead_down_past_other_boxes() -> None:
    """A long edge goes around the boxes of the layers that it crosses."""
    sizes = [Box(50, 20) for _ in range(4)]
    layout = arrange(sizes, [(0, 1), (1, 2), (2, 3), (0, 3)], [False] * 4)
    assert [box.y for box in layout.boxes] == sorted(box.y for box in layout.boxes)
    for x, y in layout.lines[0, 3][1:-1]:
        for box in layout.boxes[1:3]:
            inside = abs(x - box.x) < box.width / 2 and abs(y - box.y) < box.height / 2
            assert not inside
    assert layout.lines[0, 3][0][1] < layout.lines[0, 3][-1][1]


def test_equal_edges_are_one() -> None:
    layout = arrange([Box(9, 9), Box(9, 9)], [(0, 1), (0, 1)], [False, False])
    assert list(layout.lines) == [(0, 1)]
