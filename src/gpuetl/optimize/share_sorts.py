"""Sort once: a window, kernel or sort whose input leaves in the order that it needs does not sort again.

The order holds within a partition; an exchange in between destroys it, and lowering takes the mark off again.
"""

from __future__ import annotations

from dataclasses import replace

from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Grouped, Kernel, Sort
from gpuetl.plan.plan import Plan


def share_sorts(plan: Plan) -> Plan:
    """Mark the windows, kernels and sorts whose rows arrive in order."""
    return plan.rewrite(_rule)


def _rule(node: Node) -> Node:
    if isinstance(node, Kernel) and not node.grouped:
        return node
    if isinstance(node, Sort | Grouped):
        needed = node.by if isinstance(node, Sort) else node.sort_keys
        return replace(node, presorted=True) if node.source.ordering[: len(needed)] == needed else node
    return node
