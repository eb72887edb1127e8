"""The order that a relation's rows leave in, on every engine and in any number of partitions."""

from __future__ import annotations

from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Explode, Filter, Kernel, Limit, Project, Sort


def promised_order(node: Node) -> tuple[str, ...]:
    """Return the columns in whose order a stage's rows leave on every engine: a sort's, as far as they are still there.

    Windows leave an order too, in each partition; across partitions none is promised.
    """
    below = node
    while isinstance(below, Filter | Project | Limit | Explode) or (isinstance(below, Kernel) and not below.grouped):
        below = below.source
    return tuple(key.column for key in node.ordering) if isinstance(below, Sort) else ()
