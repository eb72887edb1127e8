"""Expressions to SQL text: for YAML, for explained plans, for fingerprints.  `parse_expression` reads it back."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.expressions import ir
from gpuetl.expressions.functions import find_function
from gpuetl.expressions.ir import Call, Cast, Column, Expr, Literal, Parameter, RunId
from gpuetl.expressions.syntax import (
    AS_JSON,
    ASSOCIATIVE,
    CHANGED_STRUCTS,
    ORDER_BY,
    RUN_ID,
    SORT_KEY,
    STRUCT,
    SUBSCRIPT,
    TRY_AS_JSON,
    Apply,
    CastTo,
    Constant,
    Lambda,
    Name,
    Over,
    ParameterName,
    Selected,
    Syntax,
    Variable,
)
from gpuetl.messages import cut
from gpuetl.types.calendar_intervals import CalendarInterval
from gpuetl.types.data_types import literal_type, parse_type, type_name
from gpuetl.types.decimal_types import Number, is_decimal, plain_number

_INFIX: dict[str, tuple[str, int]] = {
    "or": ("OR", 1), "and": ("AND", 2),
    "equal": ("=", 4), "not_equal": ("<>", 4), "less": ("<", 4), "less_equal": ("<=", 4),
    "greater": (">", 4), "greater_equal": (">=", 4), "like": ("LIKE", 4), "ilike": ("ILIKE", 4),
    "is_distinct": ("IS DISTINCT FROM", 4), "is_not_distinct": ("IS NOT DISTINCT FROM", 4),
    "concat": ("||", 5), "add": ("+", 6), "subtract": ("-", 6),
    "multiply": ("*", 7), "divide": ("/", 7), "int_divide": ("//", 7), "modulo": ("%", 7),
}  # fmt: skip
_NOT, _POSTFIX, _COMPARISON, _PREFIX, _ATOM = 3, 4, 4, 8, 9


def to_sql(expression: Syntax | Expr) -> str:
    """Return the SQL text of a written or a typed expression; casts that typing put in are left out."""
    return _text(expression if isinstance(expression, Syntax) else _syntax_of(expression))[0]


WRITTEN_JSON = {"json_text": AS_JSON, "try_json_text": TRY_AS_JSON}


def shown_sql(expression: Syntax | Expr) -> str:
    """Return the SQL text of an expression as a message shows it: of a long one the beginning."""
    return cut(to_sql(expression))


def _syntax_of(expr: Expr) -> Syntax:
    match expr:
        case Column():
            return Name(expr.name)
        case RunId():
            return Apply(RUN_ID)
        case Literal():
            return _constant(expr)
        case Parameter():
            return ParameterName(expr.name)
        case ir.Variable():
            return Variable(expr.name)
        case ir.Lambda():
            return Lambda(tuple(variable.name for variable in expr.parameters), _syntax_of(expr.body))
        case Cast():
            operand = _syntax_of(expr.operand)
            return operand if expr.implicit else CastTo(operand, expr.dtype, expr.lenient)
        case Call() if expr.function.name in ASSOCIATIVE and len(expr.args) > 1:
            return reduce(lambda left, right: Apply(expr.function.name, (left, right)), map(_syntax_of, expr.args))
        case Call():
            return _written_call(expr)
    raise TypeError(expr)


def _constant(literal: Literal) -> Constant:
    """Return a constant as it is written where typing made a decimal or a float32 of a number in the text."""
    if literal.number is not None and is_decimal(literal.dtype):
        return Constant(plain_number(literal.number))
    if literal.dtype == pa.float32() and literal.value is not None:
        return Constant(float(str(np.float32(literal.value))))  # the fewest digits
    return Constant(literal.value)


def _written_call(call: Call) -> Syntax:
    """Write arguments by place up to the first that is left out before another, and the others by name."""
    written = tuple(map(_syntax_of, call.args))
    order = tuple((ORDER_BY, arg) for arg in written if isinstance(arg, Apply) and arg.function == SORT_KEY)
    args, slots = written[: len(written) - len(order)], call.function.arguments
    if call.function.name == STRUCT:
        names = [field.name for field in call.dtype]
        return Apply(STRUCT, (), tuple(zip(names, args, strict=True)))
    if call.function.name in CHANGED_STRUCTS:
        named_values = (
            (str(name.value), value)
            for name, value in zip(args[1::2], args[2::2], strict=True)
            if isinstance(name, Constant)
        )
        return Apply(call.function.name, args[:1], tuple(named_values))
    if call.function.name in TEXT_CASTS:
        return _text_cast(call, args)
    if call.function.name == "map" and (check := next(filter(_is_check, ir.walk(call)), None)):
        return _syntax_of(check)  # a cast from text to a map
    if call.function.name == "list_value" and not args and call.dtype != pa.list_(pa.null()):
        return CastTo(Apply("list_value"), call.dtype)
    if call.function.name in WRITTEN_JSON:
        return Apply(WRITTEN_JSON[call.function.name], args)
    if call.function.name == "list_resized":
        x, *filler, size = args
        return Apply("list_resize", (x, size, *(each.args[0] for each in filler if isinstance(each, Apply))))
    if call.function.name == "date_add":
        return _moved(*args)
    out = [i for i, arg in enumerate(args[:-1]) if call.function.kind != "scalar" and arg == Constant(None)]
    out = [i for i in out if slots[i].optional]
    places = out[0] if out else len(args)
    named = ((slots[i].name, args[i]) for i in range(places, len(args)) if i not in out)
    return Apply(call.function.name, args[:places], (*named, *order))


TEXT_CASTS = ("checked_text", "try_checked_text", "text_parts", "text_field", "plain_text")
"""Functions that casts from text to nested types are computed by: they are shown as the cast, or a part of it."""


def _is_check(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.function.name == "checked_text"


def _text_cast(call: Call, args: tuple[Syntax, ...]) -> Syntax:
    name, value = call.function.name, args[0]
    if name in ("text_parts", "plain_text"):
        return value
    constant = args[1]
    assert isinstance(constant, Constant)
    if name == "text_field":
        return Apply("struct_extract", (value, constant))
    return CastTo(value, parse_type(str(constant.value)), name.startswith("try_"))


def _moved(x: Syntax, interval: Syntax) -> Apply:
    """Write what is moved by an interval of months as a sum or a difference."""
    value = interval.value if isinstance(interval, Constant) else None
    if isinstance(value, CalendarInterval) and value.is_negative:
        return Apply("subtract", (x, Constant(-value)))
    return Apply("add", (x, interval))


def _text(node: Syntax) -> tuple[str, int]:
    """Return the text and how tightly its outermost operator binds."""
    match node:
        case Name():
            return quote_name(node.name), _ATOM
        case ParameterName():
            return f"${node.name}", _ATOM
        case Constant():
            return constant_text(node.value), _ATOM
        case Variable():
            return quote_name(node.name), _ATOM
        case Lambda():
            return f"lambda {', '.join(map(quote_name, node.parameters))}: {_text(node.body)[0]}", 0
        case CastTo():
            verb = "TRY_CAST" if node.lenient else "CAST"
            return f"{verb}({_text(node.operand)[0]} AS {_cast_target(node)})", _ATOM
        case Selected():
            return node.text, _ATOM
        case Over():
            by = [f"PARTITION BY {', '.join(map(quote_name, node.by))}"] if node.by else []
            order = [f"ORDER BY {', '.join(node.order_by)}"] if node.order_by else []
            return f"{_within(node.operand, _ATOM)} OVER ({' '.join([*by, *order])})", _ATOM
        case Apply():
            return _apply(node)
    raise TypeError(node)


def _apply(node: Apply) -> tuple[str, int]:
    name, args = node.function, node.args
    if name in ("and", "or") and len(args) != 2:  # SQL knows two operands, or none of the operator
        return _text(reduce(lambda left, right: Apply(name, (left, right)), args))
    if name in _INFIX and len(args) == 2:
        sign, binds = _INFIX[name]
        left = binds + (binds == _COMPARISON)  # parsers differ on chains of comparisons
        right = binds + (name not in ASSOCIATIVE)  # a chain, however it was nested: brackets have a limit
        return f"{_within(args[0], left)} {sign} {_within(args[1], right)}", binds
    return _special(name, args) or _part(name, args) or (_call(node), _ATOM)


def _special(name: str, args: tuple[Syntax, ...]) -> tuple[str, int] | None:
    """Return the text of what SQL writes in a form of its own."""
    match name:
        case "like" | "ilike" if len(args) == 3 and isinstance(args[2], Constant) and isinstance(args[2].value, str):
            return f"{_apply(Apply(name, args[:2]))[0]} ESCAPE {_within(args[2], _ATOM)}", _COMPARISON
        case "not":
            return f"NOT {_within(args[0], _NOT)}", _NOT
        case "negate":
            operand = _within(args[0], _ATOM)
            digits = isinstance(args[0], Constant) and (
                not isinstance(args[0].value, Decimal) or isinstance(args[0].value, Number)
            )  # `-1` is a constant
            return f"-({operand})" if digits else f"-{operand}", _PREFIX
        case "is_null":
            return f"{_within(args[0], _POSTFIX + 1)} IS NULL", _POSTFIX
        case "in":
            return f"{_within(args[0], _POSTFIX + 1)} IN ({', '.join(_text(a)[0] for a in args[1:])})", _POSTFIX
        case "at_time_zone" if len(args) == 2:
            return f"{_within(args[0], _ATOM)} AT TIME ZONE {_within(args[1], _ATOM)}", _POSTFIX
        case "case":
            return _case(args), _ATOM
        case "count_rows":
            return "count(*)", _ATOM
        case "list_value":
            return f"[{', '.join(_text(each)[0] for each in args)}]", _ATOM
    return None


def _part(name: str, args: tuple[Syntax, ...]) -> tuple[str, int] | None:
    """Return the text of a field, of an element, or of a cast to JSON."""
    if name in (AS_JSON, TRY_AS_JSON):
        return f"{'TRY_' * (name == TRY_AS_JSON)}CAST({_text(args[0])[0]} AS json)", _ATOM
    if name == SUBSCRIPT:
        return f"{_within(args[0], _ATOM)}[{_text(args[1])[0]}]", _ATOM
    if name == "struct_extract" and len(args) == 2 and isinstance(args[1], Constant) and _is_field(args[0]):
        return f"{_text(args[0])[0]}.{quote_name(str(args[1].value))}", _ATOM
    return None


def _is_field(node: Syntax) -> bool:
    """Return whether a field is written behind a dot: of a column, of a field, or of a function's result."""
    return isinstance(node, Name) or (isinstance(node, Apply) and _apply(node)[1] == _ATOM and node.function != "case")


def _call(node: Apply) -> str:
    name, args = node.function, node.args
    if name in (STRUCT, *CHANGED_STRUCTS):
        fields = (f"{quote_name(key)} := {_text(value)[0]}" for key, value in node.keywords)
        return f"{name}({', '.join([*(_text(arg)[0] for arg in args), *fields])})"
    order = [_sort_key(value) for key, value in node.keywords if key == ORDER_BY]
    distinct = bool(find_function(name, ("aggregate",))) and name.endswith("_distinct")
    keywords = {key: _text(value)[0] for key, value in node.keywords if key != ORDER_BY}
    condition = keywords.pop("only", None) if order or distinct else None  # beside these, SQL has no named arguments
    listed = ", ".join([_text(a)[0] for a in args] + [f"{key} => {value}" for key, value in keywords.items()])
    if order:
        listed += f" ORDER BY {', '.join(order)}"
    call = f"{name.removesuffix('_distinct')}(DISTINCT {listed})" if distinct else f"{name}({listed})"
    return call if condition is None else f"{call} FILTER (WHERE {condition})"


def _sort_key(key: Syntax) -> str:
    """Return a key of an ORDER BY in a call."""
    assert isinstance(key, Apply)
    value, descending, nulls_first = key.args
    ways = " DESC" * (descending == Constant(True)) + " NULLS FIRST" * (nulls_first == Constant(True))
    return _text(value)[0] + ways


def _within(node: Syntax, binds: int) -> str:
    text, own = _text(node)
    return text if own >= binds else f"({text})"


def _case(args: tuple[Syntax, ...]) -> str:
    pairs = [f"WHEN {_text(args[i])[0]} THEN {_text(args[i + 1])[0]}" for i in range(0, len(args) - 1, 2)]
    rest = [f"ELSE {_text(args[-1])[0]}"] if len(args) % 2 else []
    return " ".join(["CASE", *pairs, *rest, "END"])


def constant_text(value: Any) -> str:
    """Return the SQL text of a constant."""
    match value:
        case tuple():
            return f"[{', '.join(map(constant_text, value))}]"
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case str():
            return "'" + value.replace("'", "''") + "'"
        case float() if not math.isfinite(value):
            return f"CAST('{value}' AS float64)"
        case Number():
            text = f"{value:f}"
            return text if "." in text else f"{text}.0"
        case Decimal():
            return f"CAST('{value:f}' AS {type_name(literal_type(value))})"
        case datetime() | date() | time():
            return _temporal_text(value)
        case timedelta() | CalendarInterval():
            return f"INTERVAL '{_interval(value) if isinstance(value, timedelta) else value}'"
    return repr(value)


def _temporal_text(value: date | time) -> str:
    """Return the text of a date, a timestamp or a time of day."""
    if isinstance(value, datetime):
        return f"{'TIMESTAMPTZ' if value.tzinfo else 'TIMESTAMP'} '{value.isoformat(' ')}'"
    return f"{'TIME' if isinstance(value, time) else 'DATE'} '{value.isoformat()}'"


def _interval(value: timedelta) -> str:
    microseconds = value // timedelta(microseconds=1)
    for unit, length in (
        ("day", 86_400_000_000),
        ("hour", 3_600_000_000),
        ("minute", 60_000_000),
        ("second", 1_000_000),
    ):
        if microseconds % length == 0:
            return f"{microseconds // length} {unit}{'s' * (abs(microseconds) != length)}"
    return f"{microseconds} microseconds"


def _cast_target(node: CastTo) -> str:
    name = type_name(node.dtype)
    quoted = f'"{name}"' if "[" in name else name  # SQL has no name for a zone
    return {"timestamp[UTC]": "timestamptz", "duration": "interval"}.get(name, quoted)


@cache
def quote_name(name: str) -> str:
    """Return a column's name as SQL reads it: plain where it is a plain word, else in double quotes."""
    from gpuetl.expressions.dialect import is_plain_name

    return name if is_plain_name(name) else '"' + name.replace('"', '""') + '"'
