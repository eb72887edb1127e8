"""Walk the tree that sqlglot parsed, and lower each node by its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from gpuetl.errors import InvalidExpression, Span
from gpuetl.expressions.constants import LITERALS
from gpuetl.expressions.dialect import span_of
from gpuetl.expressions.lowering.operators import OPERATORS, refuse_ambiguous
from gpuetl.expressions.lowering.refusals import refusal, unsupported
from gpuetl.expressions.syntax import Apply, Constant, Syntax, Unreadable
from gpuetl.types.decimal_types import Number

READ: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.DPipe: ("this", "expression", "safe"), exp.Div: ("this", "expression", "typed", "safe"),
    exp.Like: ("this", "expression", "negate"), exp.ILike: ("this", "expression", "negate"),
    exp.Column: ("this", "table", "db", "catalog"),
    exp.Literal: ("this", "is_string"), exp.Anonymous: ("this", "expressions"),
    exp.Case: ("this", "ifs", "default"), exp.In: ("this", "expressions", "query", "unnest", "field"),
    exp.Between: ("this", "low", "high"), exp.Cast: ("this", "to"), exp.TryCast: ("this", "to", "safe"),
    exp.Interval: ("this", "unit", "fraction_in_string"), exp.AtTimeZone: ("this", "zone"),
    exp.Bracket: ("this", "expressions"), exp.Lambda: ("this", "expressions"), exp.Array: ("expressions",),
    exp.JSONExtract: ("this", "expression", "only_json_types"),
    exp.JSONExtractScalar: ("this", "expression", "only_json_types", "scalar_only"),
    exp.Struct: ("expressions",), exp.Tuple: ("expressions",),
    exp.Window: ("this", "partition_by", "order", "spec", "over"),
}  # fmt: skip
"""The parts of each node that the lowering reads, where they are not the two operands."""

Handler = Callable[["Lowering", Any], Syntax]


class Lowering:
    """Lowers one parsed tree; a node of a kind without a handler, and a part that no handler reads, is refused.

    `errors` collects what is refused: a part that is wrong hides none beside it.  `variables` are those of the lambdas
    around a node.
    """

    def __init__(self, text: str, handlers: Mapping[type[exp.Expr], Handler]) -> None:
        self.text = text
        self.handlers = handlers
        self.variables: list[str] = []
        self.errors: list[InvalidExpression] = []

    def lower(self, node: exp.Expr) -> Syntax:
        """Return the written expression; one that is wrong is `Unreadable`, and its error is kept."""
        try:
            return self.lowered(node)
        except InvalidExpression as error:
            self.errors.append(error)
            return Unreadable(span=error.span)

    def lowered(self, node: exp.Expr) -> Syntax:
        """Return the written expression.

        Raises
        ------
        InvalidExpression
            For what the language does not have.
        """
        unread = [
            key for key, value in node.args.items() if value and key not in READ.get(type(node), ("this", "expression"))
        ]
        if unread and type(node) in {*OPERATORS, *LITERALS, *self.handlers}:
            raise unsupported(self.text, node)
        if operator := OPERATORS.get(type(node)):
            refuse_ambiguous(self.text, node)
            operands = [node.this] if isinstance(node, exp.Unary) else [node.this, node.expression]
            return self.operation(operator, operands, span_of(node))
        if isinstance(node, exp.Interval) and node.args.get("unit") and not isinstance(node.this, exp.Literal):
            return self.counted_interval(node)
        if literal := LITERALS.get(type(node)):
            return literal(node)
        handler = self.handlers.get(type(node))
        if handler is None:
            raise refusal(self.text, node)
        return handler(self, node)

    def operation(self, operator: str, operands: list[exp.Expr], span: Span | None) -> Syntax:
        """Lower an operator; a minus before a number is a part of the number."""
        lowered = [self.lower(operand) for operand in operands]
        written = isinstance(operands[0], exp.Literal) and not operands[0].is_string
        if operator == "negate" and written and isinstance(lowered[0], Constant):
            value = lowered[0].value
            return Constant(Number(value.copy_negate()) if isinstance(value, Number) else -value, span=span)
        return Apply(operator, tuple(lowered), span=span)

    def counted_interval(self, node: exp.Interval) -> Syntax:
        """Lower `INTERVAL (n) DAY`: n times a day."""
        one = exp.Interval(this=exp.Literal.string("1"), unit=node.args["unit"])
        return Apply("multiply", (self.lower(node.this), self.lower(one)), span=span_of(node))
