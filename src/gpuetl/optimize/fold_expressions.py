"""Fold every expression of a plan, and drop filters that are always true."""

from __future__ import annotations

from dataclasses import replace

from gpuetl.expressions.fold import fold
from gpuetl.expressions.ir import Literal
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Filter, Project
from gpuetl.plan.plan import Plan
from gpuetl.types.data_types import BOOL


def fold_expressions(plan: Plan) -> Plan:
    """Fold every expression of the plan, and drop filters that are always true."""
    return plan.rewrite(_fold_node)


def _fold_node(node: Node) -> Node:
    if isinstance(node, Filter):
        predicate = fold(node.predicate)
        if predicate == Literal(True, BOOL):
            return node.source
        return node if predicate == node.predicate else replace(node, predicate=predicate)
    if isinstance(node, Project):
        columns = {name: fold(expr) for name, expr in node.columns.items()}
        return node if columns == node.columns else replace(node, columns=columns)
    return node
