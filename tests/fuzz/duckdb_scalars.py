"""Scalar functions in DuckDB's SQL."""

from functools import reduce

from fuzz.duckdb_casts import sql_type
from fuzz.duckdb_text import Text, constant_of, literal_text, moment
from gpuetl.expressions.ir import Call, Literal, can_fail
from gpuetl.expressions.types import DATE, is_floating, is_integer


def compared(operator: str, of_nan: str) -> Text:
    """IEEE comparison: NaN is unequal to everything, where DuckDB calls it equal to itself and the greatest."""

    def text(call: Call, x: str, y: str) -> str:
        plain = f"({x} {operator} {y})"
        return f"ieee({x}, {y}, {plain}, {of_nan})" if is_floating(call.args[0].dtype) else plain

    return text


equal = compared("=", "false")


def is_not_distinct(call: Call, x: str, y: str) -> str:
    """`=` where null is a value."""
    return f"(coalesce({equal(call, x, y)}, false) OR ({x} IS NULL AND {y} IS NULL))"


def is_in(call: Call, x: str, *values: str) -> str:
    """A chain of `=`."""
    return "(" + " OR ".join(equal(call, x, value) for value in values) + ")"


def case(call: Call, *args: str) -> str:
    """The first branch whose condition is true; DuckDB computes a branch for its rows alone, as we do."""
    pairs = [f"WHEN {args[i]} THEN {args[i + 1]}" for i in range(0, len(args) - 1, 2)]
    rest = args[-1] if len(args) % 2 else literal_text(Literal(None, call.dtype))
    return " ".join(["(CASE", *pairs, f"ELSE {rest} END)"])


def coalesce(call: Call, *args: str) -> str:
    """The first value that is not null; all are computed, where one could fail."""
    if any(can_fail(arg) for arg in call.args):
        return f"list_filter([{', '.join(args)}], lambda v: v IS NOT NULL)[1]"
    return f"coalesce({', '.join(args)})"


def chosen(function: str) -> Text:
    """`greatest` or `least` of the values that are not null."""
    return lambda call, *args: f"{function}({', '.join(args)})"


def joined(operator: str) -> Text:
    """Truth values, one or more."""
    return lambda call, *args: "(" + f" {operator} ".join(args) + ")"


def arithmetic(operator: str) -> Text:
    """Checked for integers and times, which are integers in DuckDB; IEEE for floats."""
    return lambda call, x, y: f"({_micros(call, 0, x)} {operator} {_micros(call, 1, y)})"


def _micros(call: Call, place: int, x: str) -> str:
    return f"epoch_us(CAST({x} AS TIMESTAMP))" if call.args[place].dtype == DATE else x


def kept_if_integer(function: str) -> Text:
    """Integers stay as they are."""
    return lambda call, x, *rest: x if is_integer(call.dtype) else f"{function}({', '.join([x, *rest])})"


def rounded(call: Call, x: str, *digits: str) -> str:
    """Half to even; integers stay as they are, unless places before the point go."""
    places = constant_of(call, 1) if digits else 0
    if is_integer(call.dtype) and places >= 0:
        return x
    wide = f"CAST({x} AS HUGEINT)" if is_integer(call.dtype) else x
    return f"CAST(round_even({wide}, {places}) AS {sql_type(call.dtype)})"


def sign(call: Call, x: str) -> str:
    """NaN of NaN; DuckDB's is 0."""
    if is_integer(call.dtype):
        return f"CAST(sign({x}) AS BIGINT)"
    return f"(CASE WHEN isnan({x}) THEN {x} ELSE sign({x}) END)"


def part(name: str) -> Text:
    """A part of a date or of a clock."""
    return lambda call, x: f"CAST({name}({moment(x, call.args[0].dtype)}) AS BIGINT)"


def epoch(call: Call, x: str) -> str:
    """Seconds with their fraction."""
    if call.args[0].dtype == DATE:
        return f"(CAST(date_diff('day', DATE '1970-01-01', {x}) AS DOUBLE) * 86400)"
    return f"(CAST({x} AS DOUBLE) / 1000000)"


def date_trunc(call: Call, unit: str, x: str) -> str:
    """The start of the unit on the clock; hours and less begin in UTC as they do on whole-hour clocks."""
    dtype, name = call.dtype, constant_of(call, 0)
    if dtype == DATE:
        return f"CAST(date_trunc('{name}', {x}) AS DATE)"
    if dtype.tz in (None, "UTC") or name in ("hour", "minute", "second"):
        return f"epoch_us(date_trunc('{name}', make_timestamp({x})))"
    return f"epoch_us(timezone('{dtype.tz}', CAST(date_trunc('{name}', {moment(x, dtype)}) AS TIMESTAMP)))"


def substring(call: Call, text: str, *bounds: str) -> str:
    """Positions from 1; those before it hold nothing, where DuckDB counts from the end."""
    start = constant_of(call, 1)
    if len(bounds) == 1:
        return f"substring({text}, {max(start, 1)})"
    stop = max(start + constant_of(call, 2), 1)
    return f"substring({text}, {max(start, 1)}, {max(stop - max(start, 1), 0)})"


def replaced(call: Call, text: str, old: str, new: str) -> str:
    """Nothing is found by an empty text."""
    return f"replace({text}, {old}, {new})" if constant_of(call, 1) else text


def padded(side: str) -> Text:
    """Longer text is kept whole; DuckDB cuts it."""

    def text(call: Call, x: str, length: str, fill: str = "' '") -> str:
        return (
            f"(CASE WHEN length({x}) >= {length} THEN {x} ELSE {side}pad({x}, CAST({length} AS INTEGER), {fill}) END)"
        )

    return text


def folded(function: str) -> Text:
    """A function of two arguments, from the left."""
    return lambda call, *args: reduce(lambda x, y: f"{function}({x}, {y})", args)


SPACE = "' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(133) || chr(160)"

SCALARS: dict[str, Text] = {
    "add": arithmetic("+"),
    "subtract": arithmetic("-"),
    "multiply": arithmetic("*"),
    "divide": "({0} / {1})",
    "int_divide": "({0} // nullif({1}, 0))",
    "modulo": "({0} % nullif(CASE WHEN {1} = -1 THEN 1 ELSE {1} END, 0))",
    "negate": lambda call, x: f"(-{x})" if is_floating(call.dtype) else f"(CAST(0 AS BIGINT) - {x})",
    "abs": "abs({0})",
    "sign": sign,
    "round": rounded,
    "floor": kept_if_integer("floor"),
    "ceil": kept_if_integer("ceil"),
    "trunc": kept_if_integer("trunc"),
    **{
        name: name + "({0})"
        for name in ("sqrt", "exp", "ln", "log10", "log2", "sin", "cos", "tan", "asin", "acos", "atan")
    },
    "power": "pow({0}, {1})",
    "atan2": "atan2({0}, {1})",
    "radians": "radians({0})",
    "degrees": "degrees({0})",
    "is_nan": "isnan({0})",
    "equal": equal,
    "not_equal": compared("<>", "true"),
    "less": compared("<", "false"),
    "less_equal": compared("<=", "false"),
    "greater": compared(">", "false"),
    "greater_equal": compared(">=", "false"),
    "is_not_distinct": is_not_distinct,
    "is_distinct": lambda call, x, y: f"(NOT {is_not_distinct(call, x, y)})",
    "in": is_in,
    "and": joined("AND"),
    "or": joined("OR"),
    "not": "(NOT {0})",
    "is_null": "({0} IS NULL)",
    "case": case,
    "coalesce": coalesce,
    "nullif": lambda call, x, y: f"(CASE WHEN {equal(call, x, y)} THEN NULL ELSE {x} END)",
    "greatest": chosen("greatest"),
    "least": chosen("least"),
    "concat": "({0} || {1})",
    "length": "length({0})",
    "upper": "upper({0})",
    "lower": "lower({0})",
    "trim": f"trim({{0}}, {SPACE})",
    "ltrim": f"ltrim({{0}}, {SPACE})",
    "rtrim": f"rtrim({{0}}, {SPACE})",
    "substring": substring,
    "left": lambda call, text, count: f"substring({text}, 1, {max(constant_of(call, 1), 0)})",
    "right": lambda call, text, count: f"right({text}, {max(constant_of(call, 1), 0)})",
    "replace": replaced,
    "reverse": "array_to_string(list_reverse(regexp_extract_all({0}, '(?s).')), '')",
    "lpad": padded("l"),
    "rpad": padded("r"),
    "starts_with": "starts_with({0}, {1})",
    "ends_with": "ends_with({0}, {1})",
    "contains": "contains({0}, {1})",
    "like": "({0} LIKE {1})",
    **{
        name: part(name)
        for name in ("year", "quarter", "month", "day", "dayofweek", "dayofyear", "hour", "minute", "second")
    },
    "epoch": epoch,
    "date_trunc": date_trunc,
    "to_date": lambda call, x: f"CAST({moment(x, call.args[0].dtype)} AS DATE)",
    "make_timestamp": "epoch_us(make_timestamp({0}, {1}, {2}, {3}, {4}, CAST(0 AS DOUBLE)))",
}
