"""Hand a source the parts of its filters that statistics can answer.  The filter stays: statistics only exclude."""

from __future__ import annotations

from dataclasses import replace

from gpuetl.expressions.ir import Expr, conjuncts
from gpuetl.formats.row_group_limits import is_prunable
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Filter, Read
from gpuetl.plan.plan import Plan


def select_row_groups(plan: Plan) -> Plan:
    """Give each source the prunable parts of the filters right above it, if none of these has another reader."""
    counts = plan.consumers()
    parts: dict[int, tuple[Expr, ...]] = {}
    for node in reversed(plan.nodes):
        if isinstance(node, Filter) and counts[id(node.source)] == 1:
            own = (part for part in conjuncts(node.predicate) if is_prunable(part))
            parts[id(node.source)] = (*own, *parts.get(id(node), ()))

    def rule(node: Node) -> Node:
        if not isinstance(node, Read) or not parts.get(id(node)):
            return node
        return replace(node, pruning=(*node.pruning, *parts[id(node)]))

    return plan.rewrite(rule)
