# SPDX-License-Identifier: Apache-2.0
"""Places for the boxes of a directed graph: in layers, with few crossings and straight lines.

Nodes are put into layers by their longest way from a source; an edge over several layers is given a
bend in each of them. Sweeps up and down then order every layer by the middle of the neighbours, and
move nodes towards them as far as the others let them.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

_SWEEPS = 8
_BEND_WIDTH = 12.0
_LITTLE = 1e-6  #: how much a hanging node counts beside others

Edge = tuple[int, int]
Point = tuple[float, float]


@dataclass
class Box:
    """A node to be placed, of a certain size; ``x`` and ``y`` become its middle."""

    width: float
    height: float
    x: float = 0.0
    y: float = 0.0


@dataclass
class Layout:
    """The extent of a picture, its boxes, and for every edge the points it goes through."""

    width: float
    height: float
    boxes: list[Box]
    lines: dict[Edge, list[Point]]


@dataclass
class _Graph:
    """Boxes and bends, with their neighbours in the layers before and after."""

    boxes: list[Box]
    layer_of: list[int]
    before: dict[int, list[int]] = field(default_factory=dict)
    after: dict[int, list[int]] = field(default_factory=dict)

    def connect(self, source: int, target: int) -> None:
        self.after.setdefault(source, []).append(target)
        self.before.setdefault(target, []).append(source)


def _layers(count: int, edges: Sequence[Edge], hanging: Sequence[bool]) -> list[int]:
    """Return the layer of every node; nodes must come after those they depend on.

    A hanging source, such as a label, is put right before the first node that uses it.
    """
    layers = [0] * count
    for source, target in sorted(edges, key=lambda edge: edge[1]):
        layers[target] = max(layers[target], layers[source] + 1)
    users: dict[int, list[int]] = {}
    for source, target in edges:
        users.setdefault(source, []).append(layers[target])
    for node, is_hanging in enumerate(hanging):
        if is_hanging and node in users:
            layers[node] = min(users[node]) - 1
    return layers


def _with_bends(
    boxes: Sequence[Box], edges: Sequence[Edge], layers: list[int]
) -> tuple[_Graph, dict[Edge, list[int]]]:
    """Return the graph with a bend in every layer that an edge crosses, and the ways of edges."""
    graph = _Graph(list(boxes), list(layers))
    ways: dict[Edge, list[int]] = {}
    for source, target in edges:
        way = [source]
        for layer in range(layers[source] + 1, layers[target]):
            graph.boxes.append(Box(_BEND_WIDTH, 0))
            graph.layer_of.append(layer)
            way.append(len(graph.boxes) - 1)
        way.append(target)
        for first, second in itertools.pairwise(way):
            graph.connect(first, second)
        ways[source, target] = way
    return graph, ways


def _ordered(graph: _Graph) -> list[list[int]]:
    """Return the nodes of every layer from left to right."""
    rows: list[list[int]] = [[] for _ in range(max(graph.layer_of, default=-1) + 1)]
    for node, layer in enumerate(graph.layer_of):
        rows[layer].append(node)
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        neighbours = graph.before if downwards else graph.after
        for row in rows if downwards else reversed(rows):
            place = {node: number for other in rows for number, node in enumerate(other)}
            keys = {
                node: _middle(node, neighbours, place, float(number))
                for number, node in enumerate(row)
            }
            row.sort(key=keys.__getitem__)
    return rows


def _middle(
    node: int, neighbours: Mapping[int, list[int]], place: Mapping[int, float], otherwise: float
) -> float:
    found = [place[one] for one in neighbours.get(node, ())]
    return sum(found) / len(found) if found else otherwise


def _spread(graph: _Graph, rows: list[list[int]], hanging: Sequence[bool], gap: float) -> None:
    """Set the ``x`` of all nodes: near their neighbours, without overlaps."""
    boxes = graph.boxes
    hangs = {node for node, is_hanging in enumerate(hanging) if is_hanging}
    for row in rows:
        x = 0.0
        for node in row:
            boxes[node].x = x + boxes[node].width / 2
            x += boxes[node].width + gap
        for node in row:
            boxes[node].x -= (x - gap) / 2
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        for row in rows if downwards else reversed(rows):
            wanted = []
            for node in row:
                near = graph.before if downwards else graph.after
                around = near.get(node) or graph.before.get(node, []) + graph.after.get(node, [])
                # A label goes where its user is, not the other way round.
                around = [one for one in around if one not in hangs] or around
                wanted.append(median(boxes[one].x for one in around) if around else boxes[node].x)
            weights = [_LITTLE if node in hangs else 1.0 for node in row]
            _settle([boxes[node] for node in row], wanted, weights, gap)


def _settle(row: list[Box], wanted: list[float], weights: list[float], gap: float) -> None:
    """Move boxes to where they want to be; groups that would overlap stay side by side.

    A group stands where the mean of the wishes of its boxes is, by their weights.
    """
    groups: list[tuple[list[int], float, float]] = []  # boxes, weight, wishes for the left edge
    offsets: list[float] = []
    for number, (box, x, weight) in enumerate(zip(row, wanted, weights, strict=True)):
        offsets.append(0.0 if not number else offsets[-1] + row[number - 1].width + gap)
        group = ([number], weight, weight * (x - box.width / 2 - offsets[number]))
        while groups and groups[-1][2] / groups[-1][1] > group[2] / group[1]:
            last = groups.pop()
            group = (last[0] + group[0], last[1] + group[1], last[2] + group[2])
        groups.append(group)
    for members, weight, wish in groups:
        for number in members:
            row[number].x = wish / weight + offsets[number] + row[number].width / 2


def arrange(
    boxes: Sequence[Box],
    edges: Sequence[Edge],
    hanging: Sequence[bool],
    gap: float = 24.0,
    layer_gap: float = 44.0,
    margin: float = 16.0,
) -> Layout:
    """Place boxes from top to bottom; every edge must lead to a later box."""
    edges = list(dict.fromkeys(edges))
    graph, ways = _with_bends(boxes, edges, _layers(len(boxes), edges, hanging))
    rows = _ordered(graph)
    _spread(graph, rows, hanging, gap)
    left = min((box.x - box.width / 2 for box in graph.boxes), default=0)
    y = margin
    for row in rows:
        height = max((graph.boxes[node].height for node in row), default=0)
        for node in row:
            graph.boxes[node].x += margin - left
            graph.boxes[node].y = y + height / 2
            if node >= len(boxes):
                graph.boxes[node].height = height
        y += height + layer_gap
    lines = {}
    for edge, way in ways.items():
        first, last = graph.boxes[way[0]], graph.boxes[way[-1]]
        # Straight past the boxes of a layer, bending only between layers.
        middle = [
            (graph.boxes[node].x, graph.boxes[node].y + side * graph.boxes[node].height / 2)
            for node in way[1:-1]
            for side in (-1, 1)
        ]
        lines[edge] = [
            (first.x, first.y + first.height / 2),
            *middle,
            (last.x, last.y - last.height / 2),
        ]
    width = max((box.x + box.width / 2 for box in graph.boxes), default=0) + margin
    return Layout(width, y - layer_gap + margin, list(boxes), lines)
