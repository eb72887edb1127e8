"""Hand a source the parts of its filters that statistics can answer.  The filter stays: statistics only exclude."""

from __future__ import annotations

from dataclasses import replace

from gpuetl.expressions.ir import conjuncts
from gpuetl.io.pruning import is_prunable
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Filter, Read
from gpuetl.plan.plan import Plan


def select_row_groups(plan: Plan) -> Plan:
    """Give each source that one filter reads the filter's prunable parts."""
    counts = plan.consumers()

    def rule(node: Node) -> Node:
        if not isinstance(node, Filter) or not isinstance(node.source, Read) or counts.get(id(node.source), 1) > 1:
            return node
        prunable = tuple(part for part in conjuncts(node.predicate) if is_prunable(part))
        return replace(node, source=replace(node.source, pruning=prunable)) if prunable else node

    return plan.rewrite(rule)
