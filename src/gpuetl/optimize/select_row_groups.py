"""Hand a source the parts of its filters that statistics can answer.  The filter stays: statistics only exclude."""

from __future__ import annotations

from dataclasses import replace

from gpuetl.expressions.ir import Expr, conjuncts
from gpuetl.io.pruning import is_prunable
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Filter, Read
from gpuetl.plan.plan import Plan


def select_row_groups(plan: Plan) -> Plan:
    """Give each source the prunable parts of the filters right above it, where nobody else reads it."""
    counts = plan.consumers()

    def rule(node: Node) -> Node:
        if not isinstance(node, Filter):
            return node
        prunable = tuple(part for part in conjuncts(node.predicate) if is_prunable(part))
        return handed_down(node, prunable) if prunable else node

    def handed_down(node: Node, parts: tuple[Expr, ...]) -> Node:
        if isinstance(node, Read):
            return replace(node, pruning=(*node.pruning, *parts))
        if not isinstance(node, Filter) or counts.get(id(node.source), 1) > 1:
            return node
        return node.with_inputs([handed_down(node.source, parts)])

    return plan.rewrite(rule)
