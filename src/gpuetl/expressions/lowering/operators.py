"""The operators of the language, and those that need brackets since languages order them differently."""

from __future__ import annotations

from sqlglot import exp

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.dialect import span_of, whole_span
from gpuetl.messages import coded

OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "add", exp.Sub: "subtract", exp.Mul: "multiply", exp.Div: "divide", exp.IntDiv: "int_divide",
    exp.Mod: "modulo", exp.Neg: "negate", exp.DPipe: "concat",
    exp.EQ: "equal", exp.NEQ: "not_equal", exp.LT: "less", exp.LTE: "less_equal",
    exp.GT: "greater", exp.GTE: "greater_equal", exp.And: "and", exp.Or: "or", exp.Not: "not",
    exp.BitwiseAnd: "bit_and", exp.BitwiseOr: "bit_or", exp.BitwiseNot: "bit_not", exp.BitwiseLeftShift: "shift_left",
    exp.BitwiseRightShift: "shift_right", exp.Pow: "power",
    exp.NullSafeNEQ: "is_distinct", exp.NullSafeEQ: "is_not_distinct", exp.RegexpLike: "regexp_like",
}  # fmt: skip

TIGHTER = exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv | exp.Mod | exp.Pow
"""Operators that bind less tightly than `~` in some languages, and more tightly in others."""
BITS = exp.BitwiseAnd | exp.BitwiseOr | exp.BitwiseLeftShift | exp.BitwiseRightShift


def refuse_ambiguous(text: str, node: exp.Expr) -> None:
    """Refuse powers and bits without brackets whose order languages differ on."""
    if isinstance(node, exp.Pow) and isinstance(node.this, exp.Pow | exp.Neg):
        shown = "(-x) ** y, or -(x ** y)" if isinstance(node.this, exp.Neg) else "(x ** y) ** z, or x ** (y ** z)"
    elif isinstance(node.parent, TIGHTER) and isinstance(node, exp.BitwiseNot):
        shown = "(~x) + y, or ~(x + y)"
    elif isinstance(node, BITS) and any(
        isinstance(x, BITS) and type(x) is not type(node) for x in (node.this, node.expression)
    ):
        shown = "(x & y) | z, or x & (y | z)"
    else:
        return
    message = coded("GE1101", "languages differ on what is computed first here")
    raise InvalidExpression(message, whole_span(text, span_of(node)), f"Write {shown}.")
