"""Compute and read only the columns that somebody wants."""

from __future__ import annotations

from gpuetl.plan.node import Node
from gpuetl.plan.nodes import AsofJoin, Join, Project, Read, Union, passing
from gpuetl.plan.plan import Plan
from gpuetl.telemetry.origin import Origin


def prune_columns(plan: Plan) -> Plan:
    """Ask every node, from the sinks down, what it needs; a shared node keeps what all its readers need together."""
    nodes = plan.nodes
    wanted: dict[int, frozenset[str]] = {id(root): frozenset(root.schema) for root in plan.roots}
    for node in reversed(nodes):
        for child, needed in zip(node.inputs, node.needs(wanted[id(node)]), strict=True):
            wanted[id(child)] = wanted.get(id(child), frozenset()) | _at_least_one(child, needed)
    done: dict[int, Node] = {}
    for node in nodes:
        inputs = [done[id(child)] for child in node.inputs]
        if isinstance(node, Join | AsofJoin):
            inputs = [
                _narrowed(child, needed, node.origin)
                for child, needed in zip(inputs, node.needs(wanted[id(node)]), strict=True)
            ]
        elif isinstance(node, Union):
            names = [name for name in node.schema if name in wanted[id(node)]]
            inputs = [_exactly(child, names, node.origin) for child in inputs]
        done[id(node)] = node.with_inputs(inputs).keeping(wanted[id(node)])
    return plan.with_roots(done[id(root)] for root in plan.roots)


def _at_least_one(node: Node, needed: frozenset[str]) -> frozenset[str]:
    """Count rows by some column where no column is needed: the one that is cheapest to read."""
    if needed or not node.schema:
        return needed
    return frozenset([min(node.schema, key=lambda name: _width(node, name))])


def _width(node: Node, name: str) -> int:
    try:
        return int(node.schema[name].bit_width)
    except ValueError:  # variable width
        return 1 << 16


def _narrowed(node: Node, needed: frozenset[str], origin: Origin) -> Node:
    """Drop columns before a join, which would copy them; a source or projection has dropped them already."""
    needed = _at_least_one(node, needed)
    extra = [name for name in node.schema if name not in needed]
    if not extra or isinstance(node, Read | Project):
        return node
    kept = passing(node.schema.select(name for name in node.schema if name in needed))
    return Project(source=node, columns=kept, origin=origin)


def _exactly(node: Node, names: list[str], origin: Origin) -> Node:
    """Leave these columns, in this order, to a union; what is below may have kept others for itself or its readers."""
    if list(node.schema) == names:
        return node
    return Project(source=node, columns=passing(node.schema.select(names)), origin=origin)
