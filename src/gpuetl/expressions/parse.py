"""SQL text to written expressions.  sqlglot parses and nothing more: what we must not accept is refused here."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp

from gpuetl.errors import InvalidExpression, Span
from gpuetl.expressions.constants import EXTRACT_PARTS, converted
from gpuetl.expressions.decimals import Number
from gpuetl.expressions.dialect import parse_tree, span_of
from gpuetl.expressions.filter_clause import filtered_call
from gpuetl.expressions.literals import LITERALS, cast_target
from gpuetl.expressions.syntax import Apply, CastTo, Constant, Name, ParameterName, Syntax


def parse_expression(text: str) -> Syntax:
    """Parse one SQL scalar expression.

    Raises
    ------
    InvalidExpression
        With the span of what is wrong: text that does not parse, anything outside the language, or a nesting
        deeper than the dialect's limits.
    """
    try:
        return _Lowering().lower(parse_tree(text))
    except RecursionError:
        raise InvalidExpression("this expression nests too deeply") from None


OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "add", exp.Sub: "subtract", exp.Mul: "multiply", exp.Div: "divide", exp.IntDiv: "int_divide",
    exp.Mod: "modulo", exp.Neg: "negate", exp.DPipe: "concat",
    exp.EQ: "equal", exp.NEQ: "not_equal", exp.LT: "less", exp.LTE: "less_equal",
    exp.GT: "greater", exp.GTE: "greater_equal", exp.And: "and", exp.Or: "or", exp.Not: "not",
    exp.NullSafeNEQ: "is_distinct", exp.NullSafeEQ: "is_not_distinct", exp.RegexpLike: "regexp_like",
}  # fmt: skip

READ: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.DPipe: ("this", "expression", "safe"), exp.Div: ("this", "expression", "typed", "safe"),
    exp.Like: ("this", "expression", "negate"), exp.ILike: ("this", "expression", "negate"),
    exp.Column: ("this", "table", "db", "catalog"),
    exp.Literal: ("this", "is_string"), exp.Anonymous: ("this", "expressions"),
    exp.Case: ("this", "ifs", "default"), exp.In: ("this", "expressions", "query", "unnest", "field"),
    exp.Between: ("this", "low", "high"), exp.Cast: ("this", "to"), exp.TryCast: ("this", "to", "safe"),
    exp.Interval: ("this", "unit", "fraction_in_string"), exp.AtTimeZone: ("this", "zone"),
}  # fmt: skip
"""The parts of each node that the lowering reads, where they are not the two operands."""


class _Lowering:
    """Lowers one parsed tree; a node kind without a method here, and a part that no method reads, is refused."""

    def lower(self, node: exp.Expr) -> Syntax:
        unread = [
            key for key, value in node.args.items() if value and key not in READ.get(type(node), ("this", "expression"))
        ]
        if unread and type(node) in {*OPERATORS, *LITERALS, *self.HANDLERS}:
            raise InvalidExpression(f"SQL's {unread[0].upper()} is not part of the language", span_of(node))
        if operator := OPERATORS.get(type(node)):
            operands = [node.this] if isinstance(node, exp.Unary) else [node.this, node.expression]
            return self.operation(operator, operands, span_of(node))
        if literal := LITERALS.get(type(node)):
            return literal(node)
        handler = self.HANDLERS.get(type(node))
        if handler is None:
            raise self.refusal(node)
        return handler(self, node)

    def operation(self, operator: str, operands: list[exp.Expr], span: Span | None) -> Syntax:
        lowered = [self.lower(operand) for operand in operands]
        written = isinstance(operands[0], exp.Literal) and not operands[0].is_string
        if operator == "negate" and written and isinstance(lowered[0], Constant):
            value = lowered[0].value
            return Constant(Number(value.copy_negate()) if isinstance(value, Number) else -value, span=span)
        return Apply(operator, tuple(lowered), span=span)

    def refusal(self, node: exp.Expr) -> InvalidExpression:
        refused: dict[type, str] = {
            exp.Alias: "two expressions without an operator between them",
            exp.Subquery: "a subquery", exp.Select: "a query", exp.Block: "more than one statement",
            exp.Window: "OVER", exp.BitwiseRightShift: "the operator '>>'", exp.BitwiseLeftShift: "the operator '<<'",
            exp.Star: "'*'", exp.BitwiseXor: "the operator '^'", exp.Order: "ORDER BY",
        }  # fmt: skip
        what = refused.get(type(node), f"SQL's {type(node).__name__}")
        hints: dict[type, str] = {
            exp.Window: "Use a window step: by and order_by are written once there.",
            exp.Subquery: "Make it a stage and join it.",
            exp.BitwiseXor: "Write power(x, y).",
            exp.Alias: "Write one expression a column; names are the keys of the map.",
        }
        return InvalidExpression(f"{what} is not part of the language", span_of(node), hints.get(type(node), ""))

    def column(self, node: exp.Column) -> Syntax:
        if node.table:
            hint = f"Write {node.name}; a join's columns have no prefix."
            raise InvalidExpression(f"'{node.table}.{node.name}': columns have plain names", span_of(node), hint)
        if isinstance(node.this, exp.Star):
            raise self.refusal(node.this)
        if node.name.startswith("$") and not node.this.quoted:
            return self.parameter(node)
        return Name(node.name, span=span_of(node))

    def parameter(self, node: exp.Column) -> Syntax:
        if not re.fullmatch(r"\$[A-Za-z_]\w*", node.name):
            raise InvalidExpression("a parameter is written $name", span_of(node))
        return ParameterName(node.name[1:], span=span_of(node))

    def no_parameter(self, node: exp.Expr) -> Syntax:
        raise InvalidExpression("a parameter is written $name", span_of(node))

    def parenthesized(self, node: exp.Paren) -> Syntax:
        return self.lower(node.this)

    def call(self, node: exp.Anonymous) -> Syntax:
        span = Span(node.meta["start"], node.meta["end"] + 1) if "start" in node.meta else None
        name = str(node.this).lower()
        keywords = [a for a in node.expressions if isinstance(a, exp.Kwarg)]
        positional = [a for a in node.expressions if not isinstance(a, exp.Kwarg)]
        if name == "count" and len(positional) == 1 and isinstance(positional[0], exp.Star):
            return Apply("count_rows", span=span)
        if len(positional) == 1 and isinstance(positional[0], exp.Distinct):
            if name != "count":
                raise InvalidExpression("only count takes DISTINCT", span, "Use a distinct step before.")
            name, positional = f"{name}_distinct", positional[0].expressions
        args = tuple(self.lower(argument) for argument in positional)
        if name in ("if", "iff"):
            if len(args) != 3 or keywords:
                raise InvalidExpression(
                    f"{name} takes a condition and two values", span, f"It is {name}(condition, value, otherwise)."
                )
            return Apply("case", args, span=span)
        return Apply(name, args, tuple((k.this.name, self.lower(k.expression)) for k in keywords), span=span)

    def filtered(self, node: exp.Filter) -> Syntax:
        return filtered_call(self.lower(node.this), self.lower(node.expression.this), span_of(node.this))

    def case(self, node: exp.Case) -> Syntax:
        args: list[Syntax] = []
        subject = self.lower(node.this) if node.this else None
        for branch in node.args["ifs"]:
            condition = self.lower(branch.this)
            args += [Apply("equal", (subject, condition)) if subject else condition, self.lower(branch.args["true"])]
        if node.args.get("default"):
            args.append(self.lower(node.args["default"]))
        return Apply("case", tuple(args), span=span_of(node))

    def is_(self, node: exp.Is) -> Syntax:
        operand = self.lower(node.this)
        if isinstance(node.expression, exp.Null):
            return Apply("is_null", (operand,), span=span_of(node))
        if isinstance(node.expression, exp.Boolean):
            return Apply("is_not_distinct", (operand, Constant(bool(node.expression.this))), span=span_of(node))
        raise self.refusal(node)

    def like(self, node: exp.Like | exp.ILike, *escape: Syntax) -> Syntax:
        span, name = span_of(node), "like" if isinstance(node, exp.Like) else "ilike"
        like = Apply(name, (self.lower(node.this), self.lower(node.expression), *escape), span=span)
        return Apply("not", (like,), span=span) if node.args.get("negate") else like

    def escaped(self, node: exp.Escape) -> Syntax:
        if not isinstance(node.this, exp.Like | exp.ILike):
            raise self.refusal(node)
        return self.like(node.this, self.lower(node.expression))

    def in_(self, node: exp.In) -> Syntax:
        if node.args.get("query") or node.args.get("unnest") or node.args.get("field"):
            raise InvalidExpression(
                "IN takes a list of values", span_of(node), "Use a join with how: semi for a table."
            )
        values = tuple(self.lower(value) for value in node.expressions)
        return Apply("in", (self.lower(node.this), *values), span=span_of(node))

    def between(self, node: exp.Between) -> Syntax:
        operand = self.lower(node.this)
        low = Apply("greater_equal", (operand, self.lower(node.args["low"])), span=span_of(node))
        high = Apply("less_equal", (operand, self.lower(node.args["high"])), span=span_of(node))
        return Apply("and", (low, high), span=span_of(node))

    def extract(self, node: exp.Extract) -> Syntax:
        part = EXTRACT_PARTS.get(node.this.name.upper())
        if part is None:
            have = ", ".join(sorted(name.lower() for name in EXTRACT_PARTS))
            raise InvalidExpression(f"extract has no part '{node.this.name.lower()}'", span_of(node), f"have: {have}.")
        return Apply(part, (self.lower(node.expression),), span=span_of(node))

    def cast(self, node: exp.Cast) -> Syntax:
        target, operand = cast_target(node), self.lower(node.this)
        lenient = isinstance(node, exp.TryCast)
        try:
            constant = None if lenient else converted(operand, target)
        except ValueError as error:
            raise InvalidExpression(str(error), operand.span) from None
        return constant or CastTo(operand, target, lenient, span=span_of(node))

    def at_time_zone(self, node: exp.AtTimeZone) -> Syntax:
        return Apply("at_time_zone", (self.lower(node.this), self.lower(node.args["zone"])), span=span_of(node))

    HANDLERS: ClassVar[dict[type[exp.Expr], Callable[[_Lowering, Any], Syntax]]] = {
        exp.Column: column, exp.Placeholder: no_parameter, exp.Parameter: no_parameter, exp.Paren: parenthesized,
        exp.Anonymous: call, exp.Filter: filtered,
        exp.Case: case, exp.Is: is_, exp.In: in_, exp.Like: like, exp.ILike: like,
        exp.Escape: escaped, exp.Between: between, exp.Extract: extract,
        exp.Cast: cast, exp.TryCast: cast,
        exp.AtTimeZone: at_time_zone,
    }  # fmt: skip
