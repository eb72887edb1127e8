"""Limits toward the sources: a sort keeps only the rows that are wanted, a source reads no more row groups than needed.

The limit itself stays where it is.  It says nothing to a node that two others read.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Join, Limit, Project, Read, Sort, Union
from gpuetl.plan.plan import Plan

Wanted = int | None
"""How many of a node's first rows are wanted; None for all."""


def push_limits(plan: Plan) -> Plan:
    """Tell sorts and sources how many rows are wanted of them: ask from the roots down, then rebuild."""
    nodes = plan.nodes
    counts = plan.consumers()
    wanted: dict[int, Wanted] = {}
    for node in reversed(nodes):
        for child, limit in zip(node.inputs, wanted_of_inputs(node, wanted.get(id(node))), strict=True):
            if counts[id(child)] == 1:
                wanted[id(child)] = limit
    done: dict[int, Node] = {}
    for node in nodes:
        rebuilt = node.with_inputs([done[id(child)] for child in node.inputs])
        limit = wanted.get(id(node))
        if isinstance(rebuilt, Sort | Read) and limit is not None:
            rebuilt = replace(rebuilt, limit=limit)
        done[id(node)] = rebuilt
    return plan.with_roots(done[id(root)] for root in plan.roots)


@singledispatch
def wanted_of_inputs(node: Node, wanted: Wanted) -> list[Wanted]:
    """Return how many rows are wanted of each input, where `wanted` are of the node."""
    return [None] * len(node.inputs)


@wanted_of_inputs.register
def of_limit(node: Limit, wanted: Wanted) -> list[Wanted]:
    """Return the limit, or a lesser one above."""
    return [node.count if wanted is None else min(node.count, wanted)]


@wanted_of_inputs.register
def of_projection(node: Project, wanted: Wanted) -> list[Wanted]:
    """A row gives a row."""
    return [wanted]


@wanted_of_inputs.register
def of_union(node: Union, wanted: Wanted) -> list[Wanted]:
    """The first rows are those of the first input, and if they are too few, the first of the second."""
    return [wanted, wanted]


@wanted_of_inputs.register
def of_join(node: Join, wanted: Wanted) -> list[Wanted]:
    """A left join gives each left row at least once, in their order; every right row may be needed."""
    return [wanted if node.how == "left" and not node.unique[0] else None, None]
