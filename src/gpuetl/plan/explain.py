"""A logical plan as an indented tree, sinks first."""

from __future__ import annotations

from gpuetl.plan.graph import draw
from gpuetl.plan.plan import Plan


def explain_plan(plan: Plan) -> str:
    """Return the tree of every root."""
    counts = plan.consumers()
    return "\n".join(draw(plan.roots, lambda node: node.describe(), lambda node: counts[id(node)] > 1))
