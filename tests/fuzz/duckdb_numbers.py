"""Arithmetic and mathematics in DuckDB's SQL."""

import numpy as np

from fuzz import duckdb_decimals as decimals
from fuzz.duckdb_logic import greater, less
from fuzz.duckdb_text import Text, constant_of
from fuzz.duckdb_types import sql_type
from gpuetl.expressions.ir import Call
from gpuetl.types.data_types import DATE, TIME, is_floating, is_integer
from gpuetl.types.decimal_types import is_decimal

DAY = 86_400_000_000
NUMBER_MACROS = """
CREATE MACRO modulo_64(n) AS (n % 18446744073709551616 + 18446744073709551616) % 18446744073709551616;
CREATE MACRO wrapped(n) AS CAST(modulo_64(n) - CASE WHEN modulo_64(n) >= 9223372036854775808
    THEN 18446744073709551616 ELSE 0 END AS BIGINT);
CREATE MACRO within(x, low, high) AS CASE WHEN x < low THEN low WHEN x > high THEN high ELSE x END;
CREATE MACRO binom_64(n, k) AS CASE WHEN n IS NULL OR k IS NULL THEN NULL WHEN n < 0 OR k < 0 THEN error('no number of choices')
    WHEN k > n THEN 0 WHEN k = 0 OR k = n THEN 1 WHEN n <= 2147483647 THEN CAST(binom(CAST(n AS INTEGER), CAST(k AS INTEGER)) AS BIGINT)
    WHEN least(k, n - k) = 1 THEN n WHEN least(k, n - k) > 2 THEN error('overflow')
    ELSE CAST(CAST(n AS HUGEINT) * (n - 1) // 2 AS BIGINT) END;
CREATE MACRO scaled_length(x, y, m) AS CASE WHEN m = 0 THEN m ELSE m * sqrt((x / m) * (x / m) + (y / m) * (y / m)) END;
CREATE MACRO vector_length(x, y) AS CASE WHEN x IS NULL OR y IS NULL THEN NULL WHEN isinf(x) OR isinf(y) THEN CAST('inf' AS DOUBLE)
    ELSE scaled_length(x, y, greatest(abs(x), abs(y))) END;
"""


def arithmetic(operator: str) -> Text:
    """Checked for integers and times, which are integers in DuckDB; IEEE for floats, exact for decimals."""

    def text(call: Call, x: str, y: str) -> str:
        if is_decimal(call.dtype):
            return f"CAST({decimals.widened(x, call.args[0].dtype)} {operator} {y} AS {sql_type(call.dtype)})"
        if call.dtype == TIME:
            return f"CAST(past(CAST({x} AS HUGEINT) {operator} {y}, {DAY}) AS BIGINT)"
        if DATE in (types := [arg.dtype for arg in call.args]):
            return (
                f"({x} - {y})"
                if types == [DATE, DATE]
                else moved_day(operator, *((x, y) if types[0] == DATE else (y, x)))
            )
        return f"({x} {operator} {y})"

    return text


def moved_day(operator: str, date: str, days: str) -> str:
    """A date and a number of days, which DuckDB takes as an INTEGER; to no day any number may be added."""
    return f"({date} {operator} CAST(CASE WHEN {date} IS NOT NULL THEN {days} END AS INTEGER))"


def tried(operator: str) -> Text:
    """Integers in 128 bits; null where 64 do not hold the result."""

    def text(call: Call, x: str, y: str) -> str:
        if is_floating(call.dtype):
            return f"({x} {operator} {y})"
        return f"TRY_CAST(CAST({x} AS HUGEINT) {operator} CAST({y} AS HUGEINT) AS BIGINT)"

    return text


def by_decimal(exact: Text, other: Text) -> Text:
    """One text for decimals, another for other numbers."""

    def text(call: Call, *args: str) -> str:
        chosen = exact if is_decimal(call.args[0].dtype) else other
        return chosen.format(*args) if isinstance(chosen, str) else chosen(call, *args)

    return text


def kept_if_integer(function: str) -> Text:
    """Integers stay as they are; decimals may get a digit more."""

    def text(call: Call, x: str) -> str:
        made = f"{function}({x})"
        return x if is_integer(call.dtype) else f"CAST({made} AS {sql_type(call.dtype)})"

    return text


def rounded(call: Call, x: str, *digits: str) -> str:
    """Half to even; integers stay as they are, unless places before the point go."""
    if is_integer(call.dtype) and not digits:
        return x
    wide = f"CAST({x} AS HUGEINT)" if is_integer(call.dtype) else x
    rounded = f"CAST(round_even({wide}, {places(*digits)}) AS {sql_type(call.dtype)})"
    return (
        f"(CASE WHEN {digits[0]} < 0 THEN {rounded} WHEN {digits[0]} >= 0 THEN {x} END)"
        if is_integer(call.dtype)
        else rounded
    )


def places(digits: str = "0") -> str:
    """DuckDB takes an INTEGER; no float has a digit so far from the point."""
    return f"CAST(within({digits}, -400, 400) AS INTEGER)"


def cut(call: Call, x: str, *digits: str) -> str:
    """Of fewer than no digits 0, where DuckDB's is x."""
    if not digits:
        return kept_if_integer("trunc")(call, x)
    if is_integer(call.dtype):
        return f"(CASE WHEN {digits[0]} < -18 THEN 0 * {x} ELSE trunc({x}, {places(*digits)}) END)"
    return f"(CASE WHEN {digits[0]} < -308 AND isfinite({x}) THEN 0 * {x} ELSE trunc({x}, {places(*digits)}) END)"


def remainder(call: Call, x: str, y: str) -> str:
    """Null where an integer has none; NaN of floats."""
    return f"({x} % {y})" if is_floating(call.dtype) else f"({x} % nullif(CASE WHEN {y} = -1 THEN 1 ELSE {y} END, 0))"


def negated(call: Call, x: str) -> str:
    """Checked for integers."""
    return f"(CAST(0 AS BIGINT) - {x})" if sql_type(call.dtype) == "BIGINT" else f"(-{x})"


def sign(call: Call, x: str) -> str:
    """NaN of NaN; DuckDB's is 0."""
    if is_integer(call.dtype):
        return f"CAST(sign({x}) AS BIGINT)"
    return f"(CASE WHEN isnan({x}) THEN {x} ELSE sign({x}) END)"


def shifted(result: str) -> Text:
    """Null where there are no such bits."""
    return lambda call, x, y: f"(CASE WHEN {y} BETWEEN 0 AND 63 THEN {result.format(x, y)} END)"


def clipped(call: Call, x: str, low: str, high: str) -> str:
    """The lower bound first; NaN compares to nothing."""
    unknown = f"{x} IS NULL OR {low} IS NULL OR {high} IS NULL"
    return (
        f"(CASE WHEN {unknown} THEN NULL WHEN {less(call, x, low)} THEN {low} "
        f"WHEN {greater(call, x, high)} THEN {high} ELSE {x} END)"
    )


def in_base(call: Call, x: str, base: str, least: str = "1") -> str:
    """DuckDB refuses negative numbers."""
    number, width = constant_of(call, 1), constant_of(call, 2) if len(call.args) > 2 else 1
    digits = f"to_base(abs(greatest(CAST({x} AS BIGINT), -9223372036854775807)), {number}, {width})"
    of_least = "-" + np.base_repr(2**63, number).rjust(width, "0")
    least_of_all = f"{x} = -9223372036854775808 THEN '{of_least}'"
    return f"(CASE WHEN {x} IS NULL THEN NULL WHEN {least_of_all} WHEN {x} < 0 THEN '-' || {digits} ELSE {digits} END)"


def width_bucket(call: Call, x: str, low: str, high: str, count: str) -> str:
    """A number of a bucket; NaN is above all."""
    inside = f"least(CAST(floor(({x} - {low}) / ({high} - {low}) * {count}) AS BIGINT) + 1, {count})"
    above = f"isnan({x}) OR {x} >= {high}"
    return f"(CASE WHEN {x} IS NULL THEN NULL WHEN {above} THEN {count} + 1 WHEN {x} < {low} THEN 0 ELSE {inside} END)"


def gamma(call: Call, x: str) -> str:
    """DuckDB's is an error beyond the greatest float in places, and at negative whole numbers."""
    return f"(CASE WHEN {x} <= 0 AND {x} = floor({x}) AND {x} <> 0 THEN CAST('nan' AS DOUBLE) ELSE gamma({x}) END)"


NUMBERS: dict[str, Text] = {
    "add": arithmetic("+"),
    "subtract": arithmetic("-"),
    "multiply": arithmetic("*"),
    "divide": "(CAST({0} AS DOUBLE) / CAST({1} AS DOUBLE))",
    "int_divide": by_decimal(decimals.divided, "({0} // nullif({1}, 0))"),
    "modulo": by_decimal(decimals.remainder, remainder),
    "negate": negated,
    "abs": "abs({0})",
    "sign": sign,
    "round": by_decimal(decimals.rounded, rounded),
    "floor": kept_if_integer("floor"),
    "ceil": kept_if_integer("ceil"),
    "trunc": by_decimal(decimals.truncated, cut),
    "try_add": tried("+"),
    "try_subtract": tried("-"),
    "try_multiply": tried("*"),
    "bit_and": "({0} & {1})",
    "bit_or": "({0} | {1})",
    "bit_xor": "xor({0}, {1})",
    "bit_not": "(~{0})",
    "shift_left": shifted("wrapped(CAST({0} AS HUGEINT) * CAST(pow(2, {1}) AS HUGEINT))"),
    "shift_right": shifted("({0} >> {1})"),
    "clip": clipped,
    "gcd": "CAST(gcd(CAST({0} AS HUGEINT), CAST({1} AS HUGEINT)) AS BIGINT)",
    "lcm": "CAST(lcm(CAST({0} AS HUGEINT), CAST({1} AS HUGEINT)) AS BIGINT)",
    "factorial": "CAST(factorial(CAST({0} AS INTEGER)) AS BIGINT)",
    "binom": "binom_64(CAST({0} AS BIGINT), CAST({1} AS BIGINT))",
    "bit_count": "CAST(bit_count(CAST({0} AS BIGINT)) AS BIGINT)",
    "bin": "bin(CAST({0} AS BIGINT))",
    "to_base": in_base,
    "width_bucket": width_bucket,
    "format_bytes": "format_bytes(CAST({0} AS BIGINT))",
    "formatreadabledecimalsize": "formatReadableDecimalSize(CAST({0} AS BIGINT))",
    "parse_formatted_bytes": "parse_formatted_bytes({0})",
    "bar": lambda call, *args: f"bar({', '.join(args)})",
    "log": "(log10({1}) / log10({0}))",
    "gamma": gamma,
    "fdiv": "floor({0} / {1})",
    "fmod": "({0} - floor({0} / {1}) * {1})",
    "even": "even({0})",
    "nextafter": "nextafter({0}, {1})",
    "signbit": "signbit({0})",
    **{
        name: name + "({0})"
        for name in (
            "exp", "ln", "log10", "log2", "sin", "cos", "tan", "asin", "acos", "atan", "cbrt", "sinh", "cosh",
            "lgamma", "tanh", "asinh", "acosh", "atanh", "radians", "degrees",
        )
    },
    "sqrt": lambda call, x: f"CAST(sqrt({x}) AS {sql_type(call.dtype)})",  # DuckDB's is of doubles
    "cot": "(1 / tan({0}))",
    "power": "pow({0}, {1})",
    "atan2": "atan2({0}, {1})",
    "hypot": "vector_length(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE))",
    "expm1": "(CASE WHEN abs({0}) < 1 THEN 2 * exp({0} / 2) * sinh({0} / 2) ELSE exp({0}) - 1 END)",
    "log1p": "(CASE WHEN abs({0}) < 0.5 THEN 2 * atanh({0} / (2 + {0})) ELSE ln(1 + {0}) END)",
    "pi": "pi()",
    "is_finite": "isfinite({0})",
    "is_infinite": "isinf({0})",
    "is_nan": "isnan({0})",
}  # fmt: skip
