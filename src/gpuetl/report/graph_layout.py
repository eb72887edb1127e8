"""Lay out a directed graph in layers: longest paths for layers, barycentres for the order in each (Sugiyama 1981).

Coordinates are along the edges and across them, in any unit: a drawing decides which one is x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

Key: TypeAlias = "str | tuple[int, int]"
"""A node by its name, or the bend of an edge: the edge's number and the layer that it passes."""

ORDER_SWEEPS = 12
POSITION_SWEEPS = 8
MOST_BENDS = 20_000
"""Layers that all long edges pass together.  Beyond it they are drawn straight: bends would cost seconds."""
BEND_WEIGHT = 4.0
"""How much straighter a long edge is kept than boxes are centred."""


class Box(NamedTuple):
    """The extent of a node along and across the edges."""

    along: float
    across: float


class Spacing(NamedTuple):
    """Free room: between neighbours of a layer, between layers, and between edges that meet at one side of a box."""

    across: float = 22
    along: float = 56
    ports: float = 12


class Point(NamedTuple):
    """A place in the layout."""

    along: float
    across: float


class Layout(NamedTuple):
    """Where nodes begin (least coordinates), the points that each edge passes, and the extent of the whole.

    `gaps` has the middle between two layers for each edge's last section, where a label fits.
    An edge from a node to itself has no points.
    """

    places: dict[str, Point]
    routes: list[list[Point]]
    labels: list[Point]
    extent: Box


def layered(
    boxes: Mapping[str, Box],
    edges: Sequence[tuple[str, str]],
    label_lengths: Sequence[float] = (),
    spacing: Spacing | None = None,
) -> Layout:
    """Lay out boxes and edges, which run from lower layers to higher ones.  Edges of a cycle may run back.

    `label_lengths` are the extents of the edges' labels along the edges; the gap between two layers has room for them.

    Raises
    ------
    ValueError
        For an edge whose end is not a node.
    """
    for edge in edges:
        if unknown := [end for end in edge if end not in boxes]:
            raise ValueError(f"the edge {edge[0]} → {edge[1]} ends at '{unknown[0]}', which is not a node")
    spacing = spacing or Spacing()
    directed = without_cycles(boxes, edges)
    levels = levels_of(boxes, directed)
    paths = paths_of(directed, levels)
    layers = ordered(layers_of(boxes, levels, paths), neighbours_of(paths))
    centres = centred(layers, neighbours_of(paths), boxes, spacing)
    starts, widths = extents_along(layers, boxes, gaps_of(len(layers), paths, levels, label_lengths, spacing))
    places = {
        key: Point(starts[level], centres[key] - boxes[key].across / 2)
        for key, level in levels.items()
    }  # fmt: skip
    bounds = {key: (starts[level], widths[level]) for key, level in levels.items()}
    routes = routed(paths, boxes, bounds, centres, [*zip(starts, widths, strict=True)], spacing)
    labels = [middle_of_end(route) for route in routes]
    routes = [
        route[::-1] if directed[number] != tuple(edge) else route
        for number, (route, edge) in enumerate(zip(routes, edges, strict=True))
    ]
    whole = max((place.across + boxes[key].across for key, place in places.items()), default=0.0)
    bends = [point.across for route in routes for point in route]
    extent = Box(starts[-1] + widths[-1] if layers else 0.0, max([whole, *bends]))
    return Layout(places, routes, labels, extent)


# Which layer a node is in.


def without_cycles(nodes: Iterable[str], edges: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the edges, those turned around that would close a cycle.  Edges from a node to itself stay."""
    targets: dict[str, list[tuple[int, str]]] = {node: [] for node in nodes}
    for number, (source, target) in enumerate(edges):
        targets[source].append((number, target))
    turned: set[int] = set()
    state: dict[str, bool] = {}  # True while a node is on the path
    for root, first in targets.items():
        if root in state:
            continue
        state[root] = True
        path = [(root, iter(first))]
        while path:
            node, rest = path[-1]
            step = next(rest, None)
            if step is None:
                state[node] = False
                path.pop()
            elif state.get(step[1]):
                turned.add(step[0])
            elif step[1] not in state:
                state[step[1]] = True
                path.append((step[1], iter(targets[step[1]])))
    return [
        (target, source) if number in turned and source != target else (source, target)
        for number, (source, target) in enumerate(edges)
    ]


def levels_of(nodes: Iterable[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return each node's layer: the longest path to it.  A node without inputs is next to the first that reads it."""
    targets: dict[str, list[str]] = {node: [] for node in nodes}
    missing: dict[str, int] = dict.fromkeys(targets, 0)
    for source, target in edges:
        if source != target:
            targets[source].append(target)
            missing[target] += 1
    levels: dict[str, int] = {}
    ready = [node for node, count in missing.items() if not count]
    first = list(ready)
    levels.update(dict.fromkeys(ready, 0))
    while ready:
        node = ready.pop()
        for target in targets[node]:
            levels[target] = max(levels.get(target, 0), levels[node] + 1)
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    for node in first:
        if targets[node]:
            levels[node] = min(levels[target] for target in targets[node]) - 1
    return {node: levels[node] for node in targets}


def paths_of(edges: Sequence[tuple[str, str]], levels: Mapping[str, int]) -> list[list[Key]]:
    """Return the nodes and bends that each edge passes, one for each layer; none for an edge from a node to itself."""
    spans = [range(levels[source] + 1, levels[target]) for source, target in edges]
    bends = sum(map(len, spans)) <= MOST_BENDS
    return [
        [] if source == target else [source, *((number, level) for level in span if bends), target]
        for number, ((source, target), span) in enumerate(zip(edges, spans, strict=True))
    ]


def layers_of(nodes: Iterable[str], levels: Mapping[str, int], paths: Sequence[Sequence[Key]]) -> list[list[Key]]:
    """Return the nodes and bends of each layer."""
    layers: list[list[Key]] = [[] for _ in range(max(levels.values(), default=-1) + 1)]
    for node in nodes:
        layers[levels[node]].append(node)
    for path in paths:
        for key in path[1:-1]:
            assert isinstance(key, tuple)
            layers[key[1]].append(key)
    return layers


class Neighbours(NamedTuple):
    """The nodes and bends next to each one: in the layer before it, and in the layer after it."""

    before: dict[Key, list[Key]]
    after: dict[Key, list[Key]]


def neighbours_of(paths: Iterable[Sequence[Key]]) -> Neighbours:
    """Return what each node and bend is joined with."""
    before: dict[Key, list[Key]] = {}
    after: dict[Key, list[Key]] = {}
    for path in paths:
        for source, target in pairwise(path):
            after.setdefault(source, []).append(target)
            before.setdefault(target, []).append(source)
    return Neighbours(before, after)


# The order in a layer.


def ordered(layers: list[list[Key]], neighbours: Neighbours) -> list[list[Key]]:
    """Sort each layer by the mean place of its neighbours, back and forth; return the order with fewest crossings."""
    best, fewest = layers, crossings(layers, neighbours)
    for sweep in range(ORDER_SWEEPS):
        if not fewest:
            break
        forward = sweep % 2 == 0
        layers = [list(layer) for layer in layers]
        sides = neighbours.before if forward else neighbours.after
        numbers = range(1, len(layers)) if forward else range(len(layers) - 2, -1, -1)
        for number in numbers:
            place = ranks(layers[number - 1 if forward else number + 1])
            layers[number] = by_barycentre(layers[number], sides, place)
        count = crossings(layers, neighbours)
        if count < fewest:
            best, fewest = layers, count
    return best


def ranks(layer: Sequence[Key]) -> dict[Key, int]:
    """Return the place of each one in its layer."""
    return {key: rank for rank, key in enumerate(layer)}


def by_barycentre(layer: Sequence[Key], sides: Mapping[Key, Sequence[Key]], place: Mapping[Key, int]) -> list[Key]:
    """Return a layer in the order of its neighbours' mean places; one without neighbours stays where it is."""

    def mean(rank: int, key: Key) -> float:
        found = [place[other] for other in sides.get(key, ()) if other in place]
        return sum(found) / len(found) if found else float(rank)

    means = [(mean(rank, key), rank, key) for rank, key in enumerate(layer)]
    return [key for *_, key in sorted(means, key=lambda entry: entry[:2])]


def crossings(layers: Sequence[Sequence[Key]], neighbours: Neighbours) -> int:
    """Count the pairs of edges between layers that follow each other and cross."""
    total = 0
    for layer, following in pairwise(layers):
        place = ranks(following)
        ends = [
            end for key in layer for end in sorted(place[n] for n in neighbours.after.get(key, ()) if n in place)
        ]  # fmt: skip
        total += inversions(ends)
    return total


def inversions(values: Sequence[int]) -> int:
    """Count the pairs in which a greater value comes first, in a binary indexed tree."""
    tree = [0] * (max(values, default=0) + 2)
    total = 0
    for seen, value in enumerate(values):
        position, not_greater = value + 1, 0
        while position:
            not_greater += tree[position]
            position &= position - 1
        total += seen - not_greater
        position = value + 1
        while position < len(tree):
            tree[position] += 1
            position += position & -position
    return total


# Places across the edges.


def centred(
    layers: Sequence[Sequence[Key]], neighbours: Neighbours, boxes: Mapping[str, Box], spacing: Spacing
) -> dict[Key, float]:
    """Return the centres across the edges: as near to those of the neighbours as the order and the sizes allow."""
    sizes = {key: boxes[key].across if isinstance(key, str) else 0.0 for layer in layers for key in layer}
    offsets = [offsets_of([sizes[key] for key in layer], spacing.across) for layer in layers]
    centres: dict[Key, float] = {}
    for layer, offset in zip(layers, offsets, strict=True):
        middle = (offset[0] + offset[-1]) / 2 if offset else 0.0
        centres.update((key, at - middle) for key, at in zip(layer, offset, strict=True))

    def settle(number: int, sides: Callable[[Key], Iterable[Key]]) -> None:
        layer = layers[number]
        wanted = [mean_of([centres[other] for other in sides(key)], centres[key]) for key in layer]
        weights = [1.0 if isinstance(key, str) else BEND_WEIGHT for key in layer]
        centres.update(zip(layer, apart(wanted, weights, offsets[number]), strict=True))

    def before(key: Key) -> Iterable[Key]:
        return neighbours.before.get(key, ())

    def after(key: Key) -> Iterable[Key]:
        return neighbours.after.get(key, ())

    for _ in range(POSITION_SWEEPS):
        for number in range(1, len(layers)):
            settle(number, before)
        for number in range(len(layers) - 2, -1, -1):
            settle(number, after)
    for number in range(len(layers)):
        settle(number, lambda key: (*before(key), *after(key)))
    least = min((centre - sizes[key] / 2 for key, centre in centres.items()), default=0.0)
    return {key: centre - least for key, centre in centres.items()}


def mean_of(values: Sequence[float], default: float) -> float:
    """Return the mean, or the default of no values."""
    return sum(values) / len(values) if values else default


def offsets_of(sizes: Sequence[float], gap: float) -> list[float]:
    """Return the centres of boxes that stand as close as may be, of the first one 0."""
    offsets = [0.0] * min(1, len(sizes))
    for size, following in pairwise(sizes):
        offsets.append(offsets[-1] + (size + following) / 2 + gap)
    return offsets


def apart(wanted: Sequence[float], weights: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """Return the centres nearest to the wanted ones that are in order and do not overlap.

    It minimizes the weighted squares of the moves: isotonic regression by pooling adjacent violators.
    """
    pools: list[tuple[float, float, int]] = []  # mean, weight, members
    for value, weight, offset in zip(wanted, weights, offsets, strict=True):
        pool = (value - offset, weight, 1)
        while pools and pools[-1][0] > pool[0]:
            mean, total, members = pools.pop()
            pool = (
                (mean * total + pool[0] * pool[1]) / (total + pool[1]),
                total + pool[1],
                members + pool[2],
            )  # fmt: skip
        pools.append(pool)
    means = (mean for mean, _, members in pools for _ in range(members))
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


# Places along the edges, and the way of each edge.


def gaps_of(
    layers: int,
    paths: Sequence[Sequence[Key]],
    levels: Mapping[str, int],
    label_lengths: Sequence[float],
    spacing: Spacing,
) -> list[float]:
    """Return the free room between each layer and the next: a label stands before the edge's end."""
    gaps = [spacing.along] * max(layers - 1, 0)
    for path, length in zip(paths, label_lengths, strict=False):
        if path and length:
            last = path[-1]
            assert isinstance(last, str)
            number = levels[last] - 1
            gaps[number] = max(gaps[number], length + spacing.along / 2)
    return gaps


def extents_along(
    layers: Sequence[Sequence[Key]], boxes: Mapping[str, Box], gaps: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return where each layer begins, and its extent, along the edges."""
    widths = [max((boxes[key].along for key in layer if isinstance(key, str)), default=0.0) for layer in layers]
    starts = [0.0] * min(1, len(widths))
    for width, gap in zip(widths, gaps, strict=False):
        starts.append(starts[-1] + width + gap)
    return starts, widths


def routed(
    paths: Sequence[Sequence[Key]],
    boxes: Mapping[str, Box],
    bounds: Mapping[str, tuple[float, float]],
    centres: Mapping[Key, float],
    layers: Sequence[tuple[float, float]],
    spacing: Spacing,
) -> list[list[Point]]:
    """Return the points of each edge.  Edges meet a box at places of their own, in the order of their other ends."""
    leaving = ports(paths, False, boxes, centres, spacing)
    entering = ports(paths, True, boxes, centres, spacing)
    routes: list[list[Point]] = []
    for number, path in enumerate(paths):
        if not path:
            routes.append([])
            continue
        source, *bends, target = path
        assert isinstance(source, str)
        assert isinstance(target, str)
        begin, width = bounds[source]
        route = [Point(begin + boxes[source].along, leaving[number]), Point(begin + width, leaving[number])]
        for bend in bends:
            assert isinstance(bend, tuple)
            begin, width = layers[bend[1]]
            route += [Point(begin, centres[bend]), Point(begin + width, centres[bend])]
        routes.append([*dict.fromkeys(route), Point(bounds[target][0], entering[number])])
    return routes


def ports(
    paths: Sequence[Sequence[Key]], at_end: bool, boxes: Mapping[str, Box], centres: Mapping[Key, float],
    spacing: Spacing,
) -> dict[int, float]:  # fmt: skip
    """Return where each edge meets its box, across the edges: around the middle of its side."""
    edges_of: dict[Key, list[int]] = {}
    for number, path in enumerate(paths):
        if path:
            edges_of.setdefault(path[-1 if at_end else 0], []).append(number)
    found: dict[int, float] = {}
    for key, numbers in edges_of.items():
        assert isinstance(key, str)
        numbers.sort(key=lambda number: centres[paths[number][-2 if at_end else 1]])
        step = min(spacing.ports, boxes[key].across * 0.7 / len(numbers))
        first = centres[key] - step * (len(numbers) - 1) / 2
        found.update((number, first + rank * step) for rank, number in enumerate(numbers))
    return found


def middle_of_end(route: Sequence[Point]) -> Point:
    """Return the middle of an edge's last section, where its label stands."""
    if not route:
        return Point(0, 0)
    (begin, first), (end, last) = route[-2:]
    return Point((begin + end) / 2, (first + last) / 2)


def spread(places: Iterable[tuple[int, Point]], distance: float) -> Iterator[tuple[int, Point]]:
    """Move labels of one gap apart, across the edges, as little as may be."""
    gaps: dict[float, list[tuple[int, Point]]] = {}
    for number, point in places:
        gaps.setdefault(round(point.along), []).append((number, point))
    for labels in gaps.values():
        labels.sort(key=lambda label: label[1].across)
        offsets = [rank * distance for rank in range(len(labels))]
        moved = apart([point.across for _, point in labels], [1.0] * len(labels), offsets)
        for (number, point), across in zip(labels, moved, strict=True):
            yield number, Point(point.along, across)
