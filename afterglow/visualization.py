# SPDX-License-Identifier: Apache-2.0
"""``mx.viz``: a table or a picture of a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import prod
from pathlib import Path
from typing import Any

import numpy as onp

from ._graphs.layout import Box, Layout, Point, arrange
from ._graphs.network import Node, by_output, nodes_of
from ._package.namespace import tend
from .error import ArrayTypeError
from .gluon.block import Block
from .symbol import Symbol, var

__all__ = ["Drawing", "plot_network", "print_summary"]

Shapes = Mapping[str, Sequence[int]]


# --- the graph ---


def _symbol_of(network: Any, shape: Shapes | None, what: str) -> Symbol:
    """Return a symbol, or that of a block, which is called with variables."""
    if isinstance(network, Block):
        names = list(shape) if shape else ["data"]
        network = network(*(var(name) for name in names))
    if isinstance(network, (list, tuple)):
        from .symbol import Group

        network = Group(list(network))
    if not isinstance(network, Symbol):
        raise ArrayTypeError(f"[{what}] symbol must be a Symbol or a Block, not {type(network)}")
    return network


def _output_shapes(symbol: Symbol, shape: Shapes) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return the shapes of all results inside of a symbol, by node and output."""
    _, shapes, _ = symbol.get_internals().infer_shape(**shape)
    if shapes is None:
        raise ArrayTypeError("Input shape is incomplete")
    return by_output(symbol, shapes)


def _extents(shape: Sequence[Any] | None) -> str:
    """Return a shape without the examples: 64x28x28."""
    return "x".join(str(extent) for extent in (shape or ())[1:])


# --- the table ---


def print_summary(
    symbol: Any,
    shape: Shapes | None = None,
    line_length: int = 120,
    positions: Sequence[float] = (0.44, 0.64, 0.74, 1.0),
) -> None:
    """Print the layers of a symbol or block with their output shapes and numbers of parameters.

    ``shape`` names the shapes of the inputs; without it only what follows from the layers is known.

    >>> from afterglow import sym, viz
    >>> net = sym.FullyConnected(sym.Variable("data"), num_hidden=2, name="fc")
    >>> viz.print_summary(net, {"data": (4, 3)}, 80)  # doctest: +NORMALIZE_WHITESPACE
    ________________________________________________________________________________
    Layer (type)                       Output Shape    Param # Previous Layer
    ================================================================================
    data(null)                         3               0
    ________________________________________________________________________________
    fc(FullyConnected)                 2               8       data
    ================================================================================
    Total params: 8
    ________________________________________________________________________________
    """
    symbol = _symbol_of(symbol, shape, "print_summary")
    nodes = nodes_of(symbol)
    shapes = {} if shape is None else _output_shapes(symbol, shape)
    ends = [int(line_length * one) if positions[-1] <= 1 else int(one) for one in positions]

    def row(*fields: Any) -> str:
        line = ""
        for text, end in zip(fields, ends, strict=True):
            line = (line + str(text))[:end].ljust(end)
        return line

    rule = "_" * line_length
    print(rule)
    print(row("Layer (type)", "Output Shape", "Param #", "Previous Layer"))
    print("=" * line_length)
    shown = [number for number, node in enumerate(nodes) if number == 0 or not node.is_variable]
    # Variables that are no parameters; a parameter is counted where it is used first.
    counted = {nodes[0].name, *(shape or ()), *symbol.list_auxiliary_states()}
    total = 0
    for number in shown:
        node = nodes[number]
        owned = [
            one
            for one, _ in node.inputs
            if nodes[one].is_variable
            and nodes[one].name not in counted
            and not nodes[one].name.endswith("label")
        ]
        counted.update(nodes[one].name for one in owned)
        count = (
            _known_count(node, [nodes[one].name for one in owned])
            if shape is None
            else sum(prod(shapes[one, 0]) for one in owned)
        )
        total += count
        before = [
            nodes[one].name for one, _ in node.inputs if one == 0 or not nodes[one].is_variable
        ]
        extents = _extents(shapes.get((number, 0)))
        print(row(f"{node.name}({node.op})", extents, count, before[0] if before else ""))
        for name in before[1:]:
            print(row("", "", "", name))
        print("=" * line_length if number == shown[-1] else rule)
    print(f"Total params: {total}")
    print(rule)


def _known_count(node: Node, owned: Sequence[str]) -> int:
    """Return how many elements the parameters of a layer have as far as it says so itself."""
    if node.op == "FullyConnected" and any(name.endswith("bias") for name in owned):
        return int(node.attrs["num_hidden"])
    if node.op == "Embedding":
        return int(node.attrs["input_dim"]) * int(node.attrs["output_dim"])
    return 0


# --- the picture ---

_COLOURS = {
    "null": "#8dd3c7",
    "Convolution": "#fb8072",
    "Deconvolution": "#fb8072",
    "FullyConnected": "#fb8072",
    "Activation": "#ffffb3",
    "LeakyReLU": "#ffffb3",
    "BatchNorm": "#bebada",
    "LayerNorm": "#bebada",
    "Pooling": "#80b1d3",
    "Concat": "#fdb462",
    "Flatten": "#fdb462",
    "Reshape": "#fdb462",
    "Softmax": "#b3de69",
}
_OTHER = "#fccde5"
_WEIGHTS = ("_weight", "_bias", "_beta", "_gamma", "_moving_var", "_moving_mean", "_running_var",
            "_running_mean")  # fmt: skip
_FONT = 'font-family="Helvetica, Arial, sans-serif"'
_LETTER = 7.6  #: the mean width of a bold letter of 12 points
_LINE = 16.0


def _numbers(text: str) -> str:
    """Return (3, 3) as 3x3."""
    return "x".join(part.strip() for part in text.strip("()[] ").split(",") if part.strip())


def _label(node: Node) -> list[str]:
    """Return the lines of text that say what a node is."""
    attrs = node.attrs
    if node.is_variable:
        return [node.name]
    if node.op in ("Convolution", "Deconvolution"):
        kernel, stride = _numbers(attrs["kernel"]), _numbers(attrs.get("stride", "")) or "1"
        return [node.op, f"{kernel}/{stride}, {attrs['num_filter']}"]
    if node.op == "FullyConnected":
        return [node.op, attrs["num_hidden"]]
    if node.op in ("Activation", "LeakyReLU"):
        return [node.op, attrs.get("act_type", "leaky")]
    if node.op == "Pooling":
        kernel, stride = _numbers(attrs.get("kernel", "")), _numbers(attrs.get("stride", ""))
        return [node.op, f"{attrs.get('pool_type', 'max')}, {kernel or 'global'}/{stride or '1'}"]
    return [node.name]


def plot_network(
    symbol: Any,
    title: str = "plot",
    save_format: str = "svg",
    shape: Shapes | None = None,
    dtype: Mapping[str, Any] | None = None,
    node_attrs: Mapping[str, str] | None = None,
    hide_weights: bool = True,
) -> Drawing:
    """Return a picture of a symbol or block, which notebooks show.

    ``shape`` names the shapes of the inputs; results then carry theirs. ``node_attrs`` may set
    ``fillcolor`` and ``shape`` (``"box"`` or ``"oval"``) of all nodes; what else it says goes into
    the text for Graphviz. The picture is an SVG, whatever ``save_format`` says.

    >>> from afterglow import sym, viz
    >>> net = sym.FullyConnected(sym.Variable("data"), num_hidden=2, name="fc")
    >>> drawing = viz.plot_network(net, shape={"data": (4, 3)})
    >>> print(drawing.source.splitlines()[-2].strip())
    fc -> data [label=3 arrowtail=open dir=back]
    """
    symbol = _symbol_of(symbol, shape, "plot_network")
    nodes = nodes_of(symbol)
    shapes = {} if shape is None else _output_shapes(symbol, shape)
    types: dict[tuple[int, int], Any] = {}
    if dtype is not None:
        types = by_output(symbol, symbol.get_internals().infer_type(**dtype)[1] or ())
    shown = [
        number
        for number, node in enumerate(nodes)
        if not (hide_weights and node.is_variable and node.name.endswith(_WEIGHTS))
    ]
    place = {number: index for index, number in enumerate(shown)}
    edges: dict[tuple[int, int], str] = {}
    for number in shown:
        for source, output in nodes[number].inputs:
            if source in place:
                extents = shapes.get((source, output))
                # Weights have no examples to leave out.
                is_weight = nodes[source].is_variable and nodes[source].name.endswith(_WEIGHTS)
                text = _extents((None, *extents) if is_weight and extents else extents)
                if dtype is not None:
                    kind = onp.dtype(types.get((source, output)) or "float32").name
                    text = f"{text} {kind}".strip()
                edges[place[source], place[number]] = text
    return Drawing(title, [nodes[number] for number in shown], edges, dict(node_attrs or {}))


class Drawing:
    """A picture of a network: ``_repr_svg_`` for notebooks, ``source`` for Graphviz."""

    def __init__(
        self,
        title: str,
        nodes: list[Node],
        edges: Mapping[tuple[int, int], str],
        node_attrs: Mapping[str, str],
    ) -> None:
        self.name = self.title = title
        self.format = "svg"
        self._nodes = nodes
        self._edges = edges
        self._attrs = node_attrs

    def __str__(self) -> str:
        return self.source

    # --- Graphviz ---

    @property
    def source(self) -> str:
        """The graph in the language of Graphviz."""
        lines = [f"digraph {_quoted(self.title)} {{"]
        for node in self._nodes:
            attributes = {
                "fillcolor": _COLOURS.get(node.op, _OTHER),
                "fixedsize": "true",
                "height": "0.8034",
                "shape": "oval" if node.is_variable else "box",
                "style": "filled",
                "width": "1.3",
                **self._attrs,
            }
            described = " ".join(
                f"{key}={_quoted(str(value))}" for key, value in sorted(attributes.items())
            )
            label = _quoted("\n".join(_label(node)))
            lines.append(f"\t{_quoted(node.name)} [label={label} {described}]")
        for (source, target), text in self._edges.items():
            ends = f"{_quoted(self._nodes[target].name)} -> {_quoted(self._nodes[source].name)}"
            lines.append(f"\t{ends} [label={_quoted(text)} arrowtail=open dir=back]")
        return "\n".join([*lines, "}"])

    def save(self, filename: str | None = None, directory: str | None = None) -> str:
        """Write the text for Graphviz to a file; return its name."""
        path = Path(directory or "") / (filename or f"{self.title}.gv")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.source + "\n", encoding="utf-8")
        return str(path)

    # --- SVG ---

    def render(
        self,
        filename: str | None = None,
        directory: str | None = None,
        view: bool = False,
        cleanup: bool = False,
        format: str | None = None,
        **kwargs: Any,
    ) -> str:
        """Write the picture as an SVG file; return its name, which ends with ``.svg``."""
        name = filename or self.title
        path = Path(directory or "") / (name if name.endswith(".svg") else f"{name}.svg")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._repr_svg_(), encoding="utf-8")
        return str(path)

    def view(self, filename: str | None = None, directory: str | None = None, **_: Any) -> str:
        """Write the picture to a file and return its name; no program is started."""
        return self.render(filename, directory)

    def pipe(self, format: str | None = None, **kwargs: Any) -> bytes:
        """Return the picture as the bytes of an SVG file."""
        return self._repr_svg_().encode()

    def _repr_svg_(self) -> str:
        labels = [self._lines(node) for node in self._nodes]
        boxes = [
            Box(
                max(92.0, *(len(line) * _LETTER + 24 for line in lines)),
                14 + _LINE * len(lines),
            )
            for lines in labels
        ]
        hanging = [node.is_variable for node in self._nodes]
        layout = arrange(boxes, list(self._edges), hanging)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{layout.width:.0f}" '
            f'height="{layout.height:.0f}" '
            f'viewBox="0 0 {layout.width:.0f} {layout.height:.0f}">',
            f"<title>{escape(self.title)}</title>",
            '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0,1 L9,5 L0,9 z" fill="#666"/></marker>'
            "</defs>",
            '<rect width="100%" height="100%" fill="white"/>',
            *self._drawn_edges(layout),
            *(
                self._drawn_box(node, box, lines)
                for node, box, lines in zip(self._nodes, boxes, labels, strict=True)
            ),
            "</svg>",
        ]
        return "\n".join(parts)

    @staticmethod
    def _lines(node: Node) -> list[str]:
        lines = _label(node)
        return lines if node.is_variable or len(lines) > 1 else [node.op, node.name]

    def _drawn_edges(self, layout: Layout) -> list[str]:
        lines, texts = [], []
        for edge, points in layout.lines.items():
            lines.append(
                f'<path d="{_curve(points)}" fill="none" stroke="#666" stroke-width="1.2" '
                'marker-end="url(#arrow)"/>'
            )
            if self._edges[edge]:
                # In the gap below the source, where an edge is still near its beginning.
                (x, y), (next_x, next_y) = points[0], points[1]
                share = min(0.5, 22 / max(next_y - y, 1))
                texts.append(
                    f'<text x="{x + (next_x - x) * share + 5:.1f}" y="{y + 24:.1f}" {_FONT} '
                    'font-size="11" fill="#333" stroke="white" stroke-width="3" '
                    f'paint-order="stroke">{escape(self._edges[edge])}</text>'
                )
        return lines + texts

    def _drawn_box(self, node: Node, box: Box, lines: list[str]) -> str:
        fill = self._attrs.get("fillcolor", _COLOURS.get(node.op, _OTHER))
        shape = self._attrs.get("shape", "oval" if node.is_variable else "box")
        radius = box.height / 2 if shape in ("oval", "ellipse") else 5
        left, top = box.x - box.width / 2, box.y - box.height / 2
        texts = "".join(
            f'<text x="{box.x:.1f}" y="{top + 18 + _LINE * number:.1f}" text-anchor="middle" '
            f'{_FONT} font-size="12"'
            + (' font-weight="bold"' if number == 0 else ' fill="#333"')
            + f">{escape(line)}</text>"
            for number, line in enumerate(lines)
        )
        return (
            f"<g><title>{escape(f'{node.name} ({node.op})')}</title>"
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" '
            f'height="{box.height:.1f}" rx="{radius:.1f}" fill="{escape(fill)}" '
            f'stroke="#555"/>{texts}</g>'
        )


def _curve(points: list[Point]) -> str:
    """Return a path through points that leaves and enters each of them vertically."""
    (x, y), *rest = points
    path = f"M{x:.1f},{y:.1f}"
    for next_x, next_y in rest:
        bend = (next_y - y) / 2
        path += (
            f" C{x:.1f},{y + bend:.1f} {next_x:.1f},{next_y - bend:.1f} {next_x:.1f},{next_y:.1f}"
        )
        x, y = next_x, next_y
    return path


def _quoted(text: str) -> str:
    """Return a name or text as Graphviz reads it."""
    if (text.isascii() and text.isidentifier()) or text.isdigit():
        return text
    if text.replace(".", "", 1).isdigit():
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


tend(__name__)
