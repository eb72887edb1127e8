"""Group keys that others determine are not compared: what a join adds to a row follows from the keys of the join.

    aggregate(join(lines, buyers on buyer, many_to_one) by buyer, name, address)  →  buyer determines name and address

The right side's keys are checked not to repeat, so rows of equal left keys got the same right row, or none.
(Functional dependencies of joins: Paulley 2000, "Exploiting Functional Dependence in Query Optimization".)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Aggregate, AsofJoin, ConditionJoin, Filter, Join, Limit, Project, Sort
from gpuetl.plan.plan import Plan

KEEPS_LEFT = ("inner", "left", "semi", "anti", "cross")
"""Joins whose rows have the columns of a left row, never nulls instead."""


def shorten_keys(plan: Plan) -> Plan:
    """Mark the keys of aggregates that others of them determine."""
    return plan.rewrite(_rule)


def _rule(node: Node) -> Node:
    if not isinstance(node, Aggregate) or len(node.by) < 2:
        return node
    found = frozenset(determined(node.source, {name: name for name in node.by}))
    return replace(node, determined=tuple(name for name in node.by if name in found)) if found else node


def determined(node: Node, keys: Mapping[str, str]) -> Iterator[str]:
    """Yield the keys that others determine; `keys` are their names here by those above.

    What determines a key comes from the left side of its join, so that no two keys determine each other.
    """
    while True:
        if isinstance(node, Project):
            passed = node.passed
            keys = {key: passed[name] for key, name in keys.items() if name in passed}
        elif isinstance(node, Join) and node.how in KEEPS_LEFT:
            plain = not isinstance(node, ConditionJoin)  # else rows of equal keys may differ in whether they match
            if plain and node.how in ("inner", "left") and node.unique[1] and set(node.left_on) <= set(keys.values()):
                yield from (key for key, name in keys.items() if name not in node.left.schema)
            keys = {key: name for key, name in keys.items() if name in node.left.schema}
        elif isinstance(node, AsofJoin):
            keys = {key: name for key, name in keys.items() if name in node.left.schema}
        elif not isinstance(node, Filter | Sort | Limit):
            return
        node = node.inputs[0]
