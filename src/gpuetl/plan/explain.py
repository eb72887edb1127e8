"""A logical plan as an indented tree, sinks first; a node that several read is drawn once and named after that."""

from __future__ import annotations

from collections.abc import Iterator

from gpuetl.plan.node import Node
from gpuetl.plan.plan import Plan


def explain_plan(plan: Plan) -> str:
    """Return the tree of every root."""
    counts = plan.consumers()
    labels: dict[int, int] = {}

    def lines(node: Node, depth: int) -> Iterator[str]:
        shared = counts[id(node)] > 1
        if shared and id(node) in labels:
            yield f"{'  ' * depth}= #{labels[id(node)]}, above"
            return
        if shared:
            labels[id(node)] = len(labels) + 1
        yield f"{'  ' * depth}{node.describe()}{f'  (#{labels[id(node)]})' if shared else ''}"
        for child in node.inputs:
            yield from lines(child, depth + 1)

    return "\n".join(line for root in plan.roots for line in lines(root, 0))
