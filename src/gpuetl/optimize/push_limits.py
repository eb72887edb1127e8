"""Limits toward the sources: a sort keeps only the rows that are needed, a source reads no more row groups than needed.

The limit itself stays where it is.  It says nothing to a node that two others read.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from gpuetl.plan.node import Node
from gpuetl.plan.nodes import AsofJoin, Join, Limit, Project, Read, ScalarJoin, Sort, Union
from gpuetl.plan.plan import Plan

RowLimit = int | None
"""How many of a node's first rows are needed; None for all."""


def push_limits(plan: Plan) -> Plan:
    """Tell sorts and sources how many rows are needed of them: ask from the roots down, then rebuild."""
    nodes = plan.nodes
    counts = plan.consumers()
    row_limits: dict[int, RowLimit] = {}
    for node in reversed(nodes):
        for child, limit in zip(node.inputs, input_row_limits(node, row_limits.get(id(node))), strict=True):
            if counts[id(child)] == 1:
                row_limits[id(child)] = limit
    done: dict[int, Node] = {}
    for node in nodes:
        rebuilt = node.with_inputs([done[id(child)] for child in node.inputs])
        limit = row_limits.get(id(node))
        if isinstance(rebuilt, Sort | Read) and limit is not None:
            rebuilt = replace(rebuilt, limit=limit)
        done[id(node)] = rebuilt
    return plan.with_roots(done[id(root)] for root in plan.roots)


@singledispatch
def input_row_limits(node: Node, row_limit: RowLimit) -> list[RowLimit]:
    """Return how many rows are needed of each input, where `row_limit` are of the node."""
    return [None] * len(node.inputs)


@input_row_limits.register
def of_limit(node: Limit, row_limit: RowLimit) -> list[RowLimit]:
    """Return the limit, or a lesser one above, and the rows that are left out before."""
    kept = [count for count in (node.count, row_limit) if count is not None]
    return [min(kept) + node.offset if kept else None]


@input_row_limits.register
def of_projection(node: Project, row_limit: RowLimit) -> list[RowLimit]:
    """A row gives a row."""
    return [row_limit]


@input_row_limits.register
def of_union(node: Union, row_limit: RowLimit) -> list[RowLimit]:
    """The first rows are those of the first input, and if they are too few, the first of the second."""
    return [row_limit, row_limit]


@input_row_limits.register
def of_join(node: Join, row_limit: RowLimit) -> list[RowLimit]:
    """A left join gives each left row at least once, in their order; every right row may be needed."""
    return [row_limit if node.how == "left" and not node.unique[0] else None, None]


@input_row_limits.register
def of_asof_join(node: AsofJoin, row_limit: RowLimit) -> list[RowLimit]:
    """A left join gives each left row once, in their order; every right row may be needed."""
    return [row_limit if node.how == "left" else None, None]


@input_row_limits.register
def of_scalar_join(node: ScalarJoin, row_limit: RowLimit) -> list[RowLimit]:
    """A left row gives a row."""
    return [row_limit, None]
