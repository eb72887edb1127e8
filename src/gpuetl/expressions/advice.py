"""What to write instead: expressions whose types do not fit, and expressions that cannot mean what they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.constants import TEMPORAL_NAMES, constant_form, timestamp_of
from gpuetl.expressions.foreign import reference_in_text
from gpuetl.expressions.functions import Function
from gpuetl.expressions.functions.distributions import COUNTED_NAMES
from gpuetl.expressions.ir import Call, Cast, Column, Expr, Literal
from gpuetl.expressions.syntax import Apply, CastTo, Constant, Syntax
from gpuetl.expressions.unparse import constant_text, shown_sql
from gpuetl.messages import coded, recoded
from gpuetl.types.data_types import (
    BOOL,
    DATE,
    STRING,
    TIME,
    DataType,
    is_exact,
    is_integer,
    is_number,
    is_temporal,
    type_name,
)
from gpuetl.types.decimal_types import is_decimal

# What to write where the types of an expression do not fit, and how functions are named in messages.


NAIVE_AND_ZONED = (
    "A naive and a zoned timestamp are different types: x AT TIME ZONE 'Europe/Berlin' makes one of the other, "
    "local_time(x) shows the clock of a zoned one."
)
SIGNS = {
    "equal": "=", "not_equal": "<>", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "int_divide": "//", "modulo": "%", "negate": "-",
    "concat": "||", "and": "AND", "or": "OR", "not": "NOT", "in": "IN", "like": "LIKE", "ilike": "ILIKE",
    "case": "CASE",
    "is_null": "IS NULL", "is_distinct": "IS DISTINCT FROM", "is_not_distinct": "IS NOT DISTINCT FROM",
    "at_time_zone": "AT TIME ZONE", "regexp_like": "regexp_like", "count_rows": "count",
}  # fmt: skip
"""How functions are written that are not called by their name."""
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "is_distinct", "is_not_distinct")


def shown_name(function: Function) -> str:
    """Return what a user writes for the function."""
    distinct = function.kind == "aggregate" and function.name.endswith("_distinct")
    sign = function.name.removesuffix("_distinct") if distinct else SIGNS.get(function.name, function.name)
    sign = COUNTED_NAMES.get(sign, sign)
    return sign if sign[0].isalpha() else f"'{sign}'"


def mismatch(function: Function, error: str) -> str:
    """Return the first line of an error of types: the operator is not named where the error's verb says it."""
    verbs = ("cannot compare", "cannot add", "cannot subtract", "cannot multiply", "cannot divide")
    named = error.startswith(verbs) and function.name in SIGNS
    return error if named else recoded(f"{shown_name(function)} {error}", error)


def mismatch_hint(function: Function, args: Sequence[Expr]) -> str:
    """Return what to write where a function does not take the types of its arguments; empty where that is not known."""
    slots = function.arguments
    args = [arg for index, arg in enumerate(args) if slots[min(index, len(slots) - 1)].is_receiver]
    types = [arg.dtype for arg in args]
    temporal = [dtype for dtype in types if is_temporal(dtype)]
    if temporal:
        return _temporal_hint(function, args, temporal)
    numbers = all(is_exact(a.dtype) or (isinstance(a, Literal) and is_number(a.dtype)) for a in args)
    if numbers and any(map(is_decimal, types)):
        return "A decimal has 38 digits at most: CAST one of them to fewer digits, or to float64."
    if function.name in ("and", "or", "not"):
        return _condition_hint(function, args)
    if function.name == "concat":
        other = next((arg for arg in args if arg.dtype != STRING), args[0])
        return f"|| joins strings. Write CAST({shown_sql(other)} AS string) for a string, or OR between conditions."
    if function.name == "add" and STRING in types:
        return (
            f"Write {' || '.join(map(shown_sql, args))} to join strings."
            if {*types} == {STRING}
            else "|| joins strings."
        )
    if BOOL in types and function.name != "case":
        return _boolean_hint(function, args)
    if STRING in types and any(map(is_number, types)):
        return _number_hint(function, args)
    return ""


def cast_hint(source: DataType, target: DataType) -> str:
    """Return what to write where there is no cast from one type to the other; empty where that is not known."""
    if is_number(source) and is_temporal(target):
        instant = "to_date(from_epoch(x))" if target == DATE else "from_epoch(x)"
        return f"Write {instant} for seconds since 1970."
    if is_temporal(source) and is_number(target):
        return "Write epoch(x) for seconds since 1970."
    return NAIVE_AND_ZONED if is_temporal(source) and is_temporal(target) else ""


def _temporal_hint(function: Function, args: Sequence[Expr], temporal: Sequence[DataType]) -> str:
    """Advise on dates and timestamps beside other types."""
    wanted = next((arg.dtype for arg in args if is_temporal(arg.dtype) and not isinstance(arg, Literal)), temporal[0])
    constants = [arg for arg in args if isinstance(arg, Literal) and arg.dtype != wanted and not arg.declared]
    if function.name in ("add", "subtract") and any(is_number(a.dtype) or a.dtype == STRING for a in args):
        return "Write x + INTERVAL '1 day'."
    if constants and isinstance(constants[0].value, str | date):
        return f"Write {_temporal_text(constants[0].value, wanted)}."
    if any(is_integer(arg.dtype) for arg in args):  # 2026-01-01 without quotes is 2024
        return f"Write {_temporal_text('', wanted)} for a constant."
    if any(arg.dtype == STRING for arg in args):
        return f"CAST the string AS {type_name(wanted)}."
    return NAIVE_AND_ZONED if len({type_name(dtype) for dtype in temporal}) == 2 else ""


def _temporal_text(value: str | date, dtype: DataType) -> str:
    """Return the constant of `dtype` that a text or another moment stands for; a pattern where it stands for none."""
    zoned = bool(getattr(dtype, "tz", None))
    if isinstance(value, str):
        value = next((found for kind in TEMPORAL_NAMES if kind != TIME and (found := _read(value, kind))), value)
    if isinstance(value, str):
        return constant_form(dtype)
    if dtype == DATE:
        return constant_text(value.date() if isinstance(value, datetime) else value)
    timestamp = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return constant_text(timestamp.replace(tzinfo=timestamp.tzinfo or UTC) if zoned else timestamp.replace(tzinfo=None))


def _read(text: str, dtype: DataType) -> date | datetime | None:
    try:
        found = timestamp_of(text, dtype)
    except ValueError:
        return None
    return found if isinstance(found, date) else None


def _condition_hint(function: Function, args: Sequence[Expr]) -> str:
    """Advise on operands of AND and OR that are no conditions: `s = 'a' OR 'b'`."""
    sign, wrong = SIGNS[function.name], next((arg for arg in args if arg.dtype != BOOL), args[0])
    before = next((arg for arg in args if isinstance(arg, Call) and arg.function.name in COMPARISONS), None)
    if isinstance(wrong, Literal) and before is not None:
        compared = f"{shown_sql(before.args[0])} {SIGNS[before.function.name]} {shown_sql(wrong)}"
        return f"Write {shown_sql(before)} {sign} {compared}."
    return (
        f"Compare it with something: {shown_sql(wrong)} > 0."
        if is_number(wrong.dtype)
        else "Compare it with something."
    )


def _boolean_hint(function: Function, args: Sequence[Expr]) -> str:
    """Advise on a boolean beside another type."""
    chained = next((a for a in args if isinstance(a, Call) and a.function.name in COMPARISONS), None)
    if chained is not None and function.name in COMPARISONS:
        return "Write a < x AND x < b, or x BETWEEN a AND b."
    column = next((a for a in args if a.dtype == BOOL and isinstance(a, Column)), None)
    if column is not None and function.name in COMPARISONS:
        return f"'{column.name}' is a boolean: write {column.name}, or NOT {column.name}."
    boolean = next(arg for arg in args if arg.dtype == BOOL)
    return f"Write CAST({shown_sql(boolean)} AS int64) for 1 and 0." if function.name in SIGNS and column else ""


def _number_hint(function: Function, args: Sequence[Expr]) -> str:
    """Advise on a number beside a text."""
    text = next(arg for arg in args if arg.dtype == STRING)
    number = next(arg for arg in args if is_number(arg.dtype))
    if isinstance(text, Literal) and not text.declared:
        return f"Write {text.value} without quotes." if _is_number(text.value) else ""
    if isinstance(number, Literal) and not number.declared and function.name in (*COMPARISONS, "in", "coalesce"):
        return f"Write '{shown_sql(number)}' in quotes, or CAST({shown_sql(text)} AS {type_name(number.dtype)})."
    target = number.operand.dtype if isinstance(number, Cast) else number.dtype
    return f"Write CAST({shown_sql(text)} AS {type_name(target)})."


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False


# Expressions that have types and a value, and that cannot mean what they say: `x = NULL`, `'${run.id}'`.


COMPARISON_SIGNS = {
    "equal": "=",
    "not_equal": "<>",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}


def mistakes_in(parts: Iterable[Syntax]) -> Iterator[InvalidExpression]:
    """Yield the error of each comparison with a null that is written, and of each reference in a text.

    `parts` are those of an expression.  A parameter may be null in one run and not in another: it is not one of these.
    """
    for node in parts:
        if isinstance(node, Constant) and isinstance(node.value, str):
            if reference := reference_in_text(node.value, node.span):
                yield reference
        elif isinstance(node, Apply) and (error := _null_comparison(node)):
            yield error


def doubts_in(parts: Iterable[Syntax]) -> Iterator[InvalidExpression]:
    """Yield what is right, but hardly what is meant: a null in the list of an IN that has other values."""
    for node in parts:
        if isinstance(node, Apply) and node.function == "in":
            values = node.args[1:]
            if any(map(_is_null, values)) and not all(map(_is_null, values)):
                hint = f"Write {_node_text(node.args[0])} IS NULL OR … to keep rows without a value."
                yield InvalidExpression(coded("GE1108", "NULL in this list matches no row"), node.span, hint)


def _null_comparison(node: Apply) -> InvalidExpression | None:
    """Return the error of a comparison that is null for every row."""
    if node.function in COMPARISON_SIGNS and any(map(_is_null, node.args)):
        shown = f"{_node_text(node.args[0])} {COMPARISON_SIGNS[node.function]} {_node_text(node.args[1])}"
        tested = next((arg for arg in node.args if not _is_null(arg)), node.args[0])
        return _never_true(node, shown, tested, node.function == "not_equal")
    if node.function == "in" and len(node.args) > 1 and all(map(_is_null, node.args[1:])):
        return _never_true(node, f"{_node_text(node.args[0])} IN (NULL)", node.args[0])
    if node.function == "not" and isinstance(inner := node.args[0], Apply) and inner.function == "in":
        values = inner.args[1:]
        if any(map(_is_null, values)) and not all(map(_is_null, values)):
            rest = Apply("in", (inner.args[0], *(value for value in values if not _is_null(value))))
            hint = f"Take NULL out of the list: {_node_text(Apply('not', (rest,)))}."
            return InvalidExpression(
                coded("GE1108", "NOT IN with NULL in its list is true for no row"), node.span or inner.span, hint
            )
    return None


def _never_true(node: Apply, shown: str, tested: Syntax, negated: bool = False) -> InvalidExpression:
    test = f"{_node_text(tested)} IS {'NOT ' * negated}NULL"
    return InvalidExpression(coded("GE1108", f"'{shown}' is true for no row"), node.span, f"Write {test}.")


def _is_null(node: Syntax) -> bool:
    return _is_null(node.operand) if isinstance(node, CastTo) else node == Constant(None)


def _node_text(node: Syntax) -> str:
    try:
        return shown_sql(node)
    except TypeError:  # a part of it could not be read
        return "x"
