"""Which operations run on the rows that a stage joins or adds, instead of those that it begins with."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.physical.nodes import Map, Physical
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Origin


def stage_of(origin: Origin) -> tuple[str, str]:
    """Return the source, stage or sink of a step."""
    return origin.kind, origin.name


def beside(roots: Sequence[Physical], operations: frozenset[int]) -> frozenset[int]:
    """Return those of the operations, by identity, that are on the other side of a join or union of their own stage.

    They are filters, which the optimizer moved there; what it moves, nobody else reads, so one reader is known of each.
    """
    readers: dict[int, tuple[Physical, int]] = {}
    own: list[Map] = []
    for node in walk_graph(*roots):
        readers.update((id(child), (node, place)) for place, child in enumerate(node.inputs))
        own += [node] if isinstance(node, Map) and id(node.operation) in operations else []
    return frozenset(id(node.operation) for node in own if _is_beside(node, readers))


def _is_beside(node: Map, readers: dict[int, tuple[Physical, int]]) -> bool:
    child: Physical = node
    while found := readers.get(id(child)):
        child, place = found
        if stage_of(child.origin) == stage_of(node.origin) and len(child.inputs) > 1:
            return place != (child.main if isinstance(child, Map) else 0)
    return False
