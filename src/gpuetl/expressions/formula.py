"""Typed expressions that the planner makes, written as in Python."""

from __future__ import annotations

from gpuetl.expressions.expression import Expression
from gpuetl.expressions.ir import Expr, substitute
from gpuetl.expressions.resolve import Scope, resolve


def formula(expression: Expression, **operands: Expr) -> Expr:
    """Type an expression over named operands, and put these in."""
    scope = Scope({name: operand.dtype for name, operand in operands.items()}, {})
    return substitute(resolve(expression.syntax, scope), operands)
