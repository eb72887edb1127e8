"""SQL text to written expressions.  sqlglot parses and nothing more: what it accepts and we must not is refused here.

Its function classes and special forms are taken out of the dialect, so that every call arrives by the name that the user wrote and our closed table alone decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any, ClassVar, cast

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import TokenType
from sqlglot.tokens import Tokenizer

from gpuetl.errors import InvalidExpression, Span
from gpuetl.expressions.functions import find_function
from gpuetl.expressions.syntax import Apply, CastTo, Constant, Name, ParameterName, Syntax
from gpuetl.expressions.types import DATE, NAMED, TIMESTAMP, DataType, parse_type

MAX_CHARACTERS = 20_000
MAX_DEPTH = 32  # of brackets: sqlglot spends some 20 frames of the stack on each
MAX_OPERATORS = 200  # below each other: a chain of `+` is as deep as it is long


class Language(Dialect):
    """sqlglot's own dialect, narrowed: it loads no other database's, and `$x` is a word there, with its place."""

    class Tokenizer(Tokenizer):
        """Arrow's type names beside SQL's; `//` divides integers."""

        KEYWORDS: ClassVar = {
            **{word: kind for word, kind in Tokenizer.KEYWORDS.items() if word != "DIV"}, "//": TokenType.DIV,
            "INT8": TokenType.TINYINT, "INT16": TokenType.SMALLINT, "INT32": TokenType.INT, "INT64": TokenType.BIGINT,
            "UINT8": TokenType.UTINYINT, "UINT16": TokenType.USMALLINT, "UINT32": TokenType.UINT, "UINT64": TokenType.UBIGINT,
            "FLOAT32": TokenType.FLOAT, "FLOAT64": TokenType.DOUBLE,
        }  # fmt: skip

    class Parser(Parser):
        """Calls stay calls."""

        FUNCTIONS: ClassVar = {}
        NO_PAREN_FUNCTIONS: ClassVar = {}
        NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": Parser.NO_PAREN_FUNCTION_PARSERS["CASE"]}
        FUNCTION_PARSERS: ClassVar = {name: Parser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST", "EXTRACT")}


def parse_expression(text: str) -> Syntax:
    """Parse one SQL scalar expression.

    Raises
    ------
    InvalidExpression
        With the span of what is wrong: text that does not parse, anything outside the language, or a nesting
        deeper than `MAX_DEPTH`.
    """
    _refuse_bombs(text)
    try:
        tree = sqlglot.parse_one(text, dialect=Language)
        _refuse_depth(tree)
        return _Lowering().lower(tree)
    except SqlglotError as error:
        raise _syntax_error(text, error) from None
    except RecursionError:
        raise InvalidExpression("this expression nests too deeply") from None


def _refuse_depth(tree: exp.Expr) -> None:
    level = [tree]
    for _ in range(MAX_OPERATORS):
        level = [child for node in level for child in node.iter_expressions()]
        if not level:
            return
    raise InvalidExpression(
        f"more than {MAX_OPERATORS} operators build on each other",
        None,
        "Split the expression into columns, or use IN.",
    )


def _refuse_bombs(text: str) -> None:
    if not text.strip():
        raise InvalidExpression("this expression is empty")
    if len(text) > MAX_CHARACTERS:
        raise InvalidExpression(f"this expression has {len(text):,} characters; {MAX_CHARACTERS:,} are allowed")
    open_at: list[int] = []
    for token in _tokens(text):
        if token.token_type in (TokenType.L_PAREN, TokenType.L_BRACKET):
            open_at.append(token.start)
        elif token.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET) and open_at:
            open_at.pop()
        if len(open_at) > MAX_DEPTH:
            raise InvalidExpression(f"parentheses nest deeper than {MAX_DEPTH}", Span(token.start, token.start + 1))
    if open_at:
        raise InvalidExpression("this parenthesis is not closed", Span(open_at[-1], open_at[-1] + 1))


def _tokens(text: str) -> list[Any]:
    try:
        return list(Language().tokenize(text))
    except SqlglotError:
        raise InvalidExpression("this is not an SQL expression: a quote is not closed", Span(0, len(text))) from None


def _syntax_error(text: str, error: SqlglotError) -> InvalidExpression:
    details: list[dict[str, Any]] = getattr(error, "errors", None) or []
    if not details or details[0].get("col") is None:
        return InvalidExpression("this is not an SQL expression", Span(0, len(text)))
    word = str(details[0].get("highlight") or "")
    lines_before = text.splitlines(keepends=True)[: int(details[0]["line"]) - 1]
    stop = sum(map(len, lines_before)) + int(details[0]["col"])
    unfinished = stop >= len(text.rstrip()) and _UNFINISHED.match(str(details[0]["description"]))
    found = "the expression ends too early" if unfinished else f"unexpected '{word}'"
    return InvalidExpression(f"{found}: not an SQL expression", Span(max(0, stop - max(1, len(word))), stop))


_UNFINISHED = re.compile("Required keyword: '(expression|high)'|Expected END")

OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "add", exp.Sub: "subtract", exp.Mul: "multiply", exp.Div: "divide", exp.IntDiv: "int_divide",
    exp.Mod: "modulo", exp.Neg: "negate", exp.DPipe: "concat",
    exp.EQ: "equal", exp.NEQ: "not_equal", exp.LT: "less", exp.LTE: "less_equal",
    exp.GT: "greater", exp.GTE: "greater_equal", exp.And: "and", exp.Or: "or", exp.Not: "not",
    exp.NullSafeNEQ: "is_distinct", exp.NullSafeEQ: "is_not_distinct",
}  # fmt: skip

SQL_TYPES: dict[Any, str] = {
    exp.DataType.Type.BOOLEAN: "bool",
    exp.DataType.Type.TINYINT: "int8", exp.DataType.Type.SMALLINT: "int16",
    exp.DataType.Type.INT: "int32", exp.DataType.Type.BIGINT: "int64",
    exp.DataType.Type.UTINYINT: "uint8", exp.DataType.Type.USMALLINT: "uint16",
    exp.DataType.Type.UINT: "uint32", exp.DataType.Type.UBIGINT: "uint64",
    exp.DataType.Type.FLOAT: "float32", exp.DataType.Type.DOUBLE: "float64",
    exp.DataType.Type.TEXT: "string", exp.DataType.Type.VARCHAR: "string", exp.DataType.Type.DATE: "date",
    exp.DataType.Type.TIMESTAMPNTZ: "timestamp", exp.DataType.Type.TIMESTAMP: "timestamp",
    exp.DataType.Type.TIMESTAMPTZ: "timestamp[UTC]", exp.DataType.Type.INTERVAL: "duration",
}  # fmt: skip

READ: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.DPipe: ("this", "expression", "safe"), exp.Div: ("this", "expression", "typed", "safe"),
    exp.Like: ("this", "expression", "negate"), exp.Column: ("this", "table", "db", "catalog"),
    exp.Literal: ("this", "is_string"), exp.Anonymous: ("this", "expressions"),
    exp.Case: ("this", "ifs", "default"), exp.In: ("this", "expressions", "query", "unnest", "field"),
    exp.Between: ("this", "low", "high"), exp.Cast: ("this", "to"), exp.TryCast: ("this", "to", "safe"),
    exp.Interval: ("this", "unit", "fraction_in_string"),
}  # fmt: skip
"""The parts of each node that the lowering reads, where they are not the two operands."""

EXTRACT_PARTS = {
    "YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "DAY": "day", "HOUR": "hour", "MINUTE": "minute",
    "SECOND": "second", "DOW": "dayofweek", "DAYOFWEEK": "dayofweek", "DOY": "dayofyear", "DAYOFYEAR": "dayofyear",
    "EPOCH": "epoch",
}  # fmt: skip

_SECONDS = {
    "microsecond": 1e-6,
    "millisecond": 1e-3,
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
}
_INTERVAL = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")


class _Lowering:
    """Lowers one parsed tree; every node kind that has no method here, and every part that its method does not read, is refused."""

    def lower(self, node: exp.Expr) -> Syntax:
        unread = [
            key for key, value in node.args.items() if value and key not in READ.get(type(node), ("this", "expression"))
        ]
        if unread and type(node) in {*OPERATORS, *self.HANDLERS}:
            raise InvalidExpression(f"SQL's {unread[0].upper()} is not part of the language", self.span(node))
        if operator := OPERATORS.get(type(node)):
            operands = [node.this] if isinstance(node, exp.Unary) else [node.this, node.expression]
            return self.operation(operator, operands, self.span(node))
        handler = self.HANDLERS.get(type(node))
        if handler is None:
            raise self.refusal(node)
        return handler(self, node)

    def operation(self, operator: str, operands: list[exp.Expr], span: Span | None) -> Syntax:
        lowered = [self.lower(operand) for operand in operands]
        if operator == "negate" and isinstance(lowered[0], Constant) and type(lowered[0].value) in (int, float):
            return Constant(-lowered[0].value, span=span)
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
        return InvalidExpression(f"{what} is not part of the language", self.span(node), hints.get(type(node), ""))

    def span(self, node: exp.Expr) -> Span | None:
        if "span" not in node.meta:
            spans = [span for child in node.iter_expressions() if (span := self.span(child))]
            if "start" in node.meta:
                spans.append(Span(node.meta["start"], node.meta["end"] + 1))
            node.meta["span"] = Span(min(s.start for s in spans), max(s.stop for s in spans)) if spans else None
        return cast("Span | None", node.meta["span"])

    def column(self, node: exp.Column) -> Syntax:
        if node.table:
            hint = f"Write {node.name}; a join's columns have no prefix."
            raise InvalidExpression(f"'{node.table}.{node.name}': columns have plain names", self.span(node), hint)
        if isinstance(node.this, exp.Star):
            raise self.refusal(node.this)
        if node.name.startswith("$") and not node.this.quoted:
            return self.parameter(node)
        return Name(node.name, span=self.span(node))

    def literal(self, node: exp.Literal) -> Syntax:
        if node.is_string:
            return Constant(node.this, span=self.span(node))
        text = node.this.replace("_", "")
        value: int | float = int(text) if text.isdigit() else float(text)
        if isinstance(value, float) and math.isinf(value):
            raise InvalidExpression(f"{text} is not a float64", self.span(node))
        return Constant(value, span=self.span(node))

    def boolean(self, node: exp.Boolean) -> Syntax:
        return Constant(bool(node.this))

    def null(self, node: exp.Null) -> Syntax:
        return Constant(None)

    def parameter(self, node: exp.Column) -> Syntax:
        if not re.fullmatch(r"\$[A-Za-z_]\w*", node.name):
            raise InvalidExpression("a parameter is written $name", self.span(node))
        return ParameterName(node.name[1:], span=self.span(node))

    def no_parameter(self, node: exp.Expr) -> Syntax:
        raise InvalidExpression("a parameter is written $name", self.span(node))

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
            name, positional = f"{name}_distinct", positional[0].expressions
        args = tuple(self.lower(argument) for argument in positional)
        return Apply(name, args, tuple((k.this.name, self.lower(k.expression)) for k in keywords), span=span)

    def filtered(self, node: exp.Filter) -> Syntax:
        call, predicate = self.lower(node.this), self.lower(node.expression.this)
        if not isinstance(call, Apply) or not find_function(call.function, ("aggregate", "window")):
            raise InvalidExpression(
                "FILTER belongs to an aggregate", self.span(node.this), "Write CASE WHEN condition THEN value END."
            )
        if call.function == "count_rows":
            return Apply("count", (Apply("case", (predicate, Constant(1))),), span=call.span)
        kept = Apply("case", (predicate, *call.args[:1]))
        return Apply(call.function, (kept, *call.args[1:]), call.keywords, span=call.span)

    def case(self, node: exp.Case) -> Syntax:
        args: list[Syntax] = []
        subject = self.lower(node.this) if node.this else None
        for branch in node.args["ifs"]:
            condition = self.lower(branch.this)
            args += [Apply("equal", (subject, condition)) if subject else condition, self.lower(branch.args["true"])]
        if node.args.get("default"):
            args.append(self.lower(node.args["default"]))
        return Apply("case", tuple(args), span=self.span(node))

    def is_(self, node: exp.Is) -> Syntax:
        operand = self.lower(node.this)
        if isinstance(node.expression, exp.Null):
            return Apply("is_null", (operand,), span=self.span(node))
        if isinstance(node.expression, exp.Boolean):
            return Apply("is_not_distinct", (operand, Constant(bool(node.expression.this))), span=self.span(node))
        raise self.refusal(node)

    def like(self, node: exp.Like) -> Syntax:
        span = self.span(node)
        like = Apply("like", (self.lower(node.this), self.lower(node.expression)), span=span)
        return Apply("not", (like,), span=span) if node.args.get("negate") else like

    def in_(self, node: exp.In) -> Syntax:
        if node.args.get("query") or node.args.get("unnest") or node.args.get("field"):
            raise InvalidExpression(
                "IN takes a list of values", self.span(node), "Use a join with how: semi for a table."
            )
        values = tuple(self.lower(value) for value in node.expressions)
        return Apply("in", (self.lower(node.this), *values), span=self.span(node))

    def between(self, node: exp.Between) -> Syntax:
        operand = self.lower(node.this)
        low = Apply("greater_equal", (operand, self.lower(node.args["low"])), span=self.span(node))
        high = Apply("less_equal", (operand, self.lower(node.args["high"])), span=self.span(node))
        return Apply("and", (low, high), span=self.span(node))

    def extract(self, node: exp.Extract) -> Syntax:
        part = EXTRACT_PARTS.get(node.this.name.upper())
        if part is None:
            have = ", ".join(sorted(name.lower() for name in EXTRACT_PARTS))
            raise InvalidExpression(
                f"extract has no part '{node.this.name.lower()}'", self.span(node), f"have: {have}."
            )
        return Apply(part, (self.lower(node.expression),), span=self.span(node))

    def cast(self, node: exp.Cast) -> Syntax:
        target, operand = self.type_of(node), self.lower(node.this)
        lenient = isinstance(node, exp.TryCast)
        if isinstance(operand, Constant) and isinstance(operand.value, str) and target in _TEMPORAL and not lenient:
            return self.temporal(operand, target)
        return CastTo(operand, target, lenient, span=self.span(node))

    def type_of(self, node: exp.Cast) -> DataType:
        to = node.args["to"]
        try:
            return parse_type(_type_text(to))
        except ValueError:
            hint = f"have: {', '.join(NAMED)}, decimal(p,s)."
            raise InvalidExpression(
                f"unknown type '{to.sql(dialect=Language).lower()}'", self.span(node), hint
            ) from None

    def temporal(self, text: Constant, target: DataType) -> Syntax:
        try:
            value = date.fromisoformat(text.value) if target == DATE else datetime.fromisoformat(text.value)
            if _NANOSECONDS.search(text.value) or bool(getattr(value, "tzinfo", None)) != bool(
                getattr(target, "tz", None)
            ):
                raise ValueError
        except ValueError:
            raise InvalidExpression(f"'{text.value}' is not a {_TEMPORAL[target]}", text.span) from None
        return Constant(value, span=text.span)

    def interval(self, node: exp.Interval) -> Syntax:
        unit = node.args.get("unit")
        if isinstance(unit, exp.IntervalSpan):
            raise InvalidExpression("an interval has one unit", self.span(node), "Write interval '90 minutes'.")
        text = f"{node.this.name} {unit.name if unit else ''}".strip()
        parts = _INTERVAL.findall(text)
        if not parts or _INTERVAL.sub("", text):
            raise InvalidExpression(f"'{text}' is not an interval", self.span(node), "Write interval '90 minutes'.")
        seconds = 0.0
        for amount, name in parts:
            word = name.lower().removesuffix("s")
            if word not in _SECONDS:
                hint = "An interval has a fixed length: have weeks, days, hours, minutes, seconds, milliseconds, microseconds."
                raise InvalidExpression(f"interval unit '{name.lower()}' is not supported", self.span(node), hint)
            seconds += float(amount) * _SECONDS[word]
        try:
            return Constant(timedelta(microseconds=round(seconds * 1e6)), span=self.span(node))
        except OverflowError:
            raise InvalidExpression(f"the interval '{text}' is too long", self.span(node)) from None

    HANDLERS: ClassVar[dict[type[exp.Expr], Callable[[_Lowering, Any], Syntax]]] = {
        exp.Column: column, exp.Literal: literal, exp.Boolean: boolean, exp.Null: null,
        exp.Placeholder: no_parameter, exp.Parameter: no_parameter, exp.Paren: parenthesized, exp.Anonymous: call, exp.Filter: filtered,
        exp.Case: case, exp.Is: is_, exp.In: in_, exp.Like: like, exp.Between: between, exp.Extract: extract,
        exp.Cast: cast, exp.TryCast: cast, exp.Interval: interval,
    }  # fmt: skip


def _type_text(to: exp.DataType) -> str:
    """Return the name of the type in the language; the empty text where it has none."""
    parameters = [parameter.name for parameter in to.expressions]
    if to.this == exp.DataType.Type.DECIMAL:
        return "decimal({},{})".format(*parameters, *["18", "3"][len(parameters) :])
    zone = to.args.get("values")
    if to.this == exp.DataType.Type.ARRAY and zone and _type_text(to.expressions[0]) == "timestamp":
        return f"timestamp[{zone[0].sql().replace(' ', '')}]"
    return "" if parameters else str(to.args.get("kind") or "").lower() or SQL_TYPES.get(to.this, "")


_NANOSECONDS = re.compile(r"\.\d{7}")
_TEMPORAL = {DATE: "date", TIMESTAMP: "timestamp", parse_type("timestamp[UTC]"): "timestamp with a zone offset"}


def is_plain_name(name: str) -> bool:
    """Tell whether `name` stands for a column without quotes: one word that is no keyword."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        return False
    tokens = _tokens(name)
    return len(tokens) == 1 and tokens[0].token_type == TokenType.VAR
