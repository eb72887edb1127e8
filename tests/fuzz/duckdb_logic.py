"""Comparison, conditions and nulls in DuckDB's SQL."""

from collections.abc import Callable

from fuzz import duckdb_decimals as decimals
from fuzz.duckdb_text import Text, literal_text
from gpuetl.expressions.ir import Call, Literal
from gpuetl.types.data_types import is_floating
from gpuetl.types.decimal_types import is_decimal


def compared(operator: str, of_nan: str) -> Callable[..., str]:
    """IEEE comparison: NaN is unequal to everything, where DuckDB calls it equal to itself and the greatest."""

    def text(call: Call, x: str, y: str, place: int = 1) -> str:
        types = call.args[0].dtype, call.args[place].dtype
        if is_decimal(types[0]) and types[0] != types[1]:
            return decimals.compared(operator, x, y, *types)
        plain = f"({x} {operator} {y})"
        return f"ieee({x}, {y}, {plain}, {of_nan})" if is_floating(call.args[0].dtype) else plain

    return text


equal, less, greater = compared("=", "false"), compared("<", "false"), compared(">", "false")


def is_not_distinct(call: Call, x: str, y: str) -> str:
    """`=` where null is a value."""
    return f"(coalesce({equal(call, x, y)}, false) OR ({x} IS NULL AND {y} IS NULL))"


def is_in(call: Call, x: str, *values: str) -> str:
    """A chain of `=`."""
    return "(" + " OR ".join(equal(call, x, value, place) for place, value in enumerate(values, 1)) + ")"


def case(call: Call, *args: str) -> str:
    """The first branch whose condition is true; DuckDB computes a branch for its rows alone, as we do."""
    pairs = [f"WHEN {args[i]} THEN {args[i + 1]}" for i in range(0, len(args) - 1, 2)]
    rest = args[-1] if len(args) % 2 else literal_text(Literal(None, call.dtype))
    return " ".join(["(CASE", *pairs, f"ELSE {rest} END)"])


def listed(function: str) -> Text:
    """A function of any number of values; DuckDB computes those of `coalesce` for the rows that are still null, as we do."""
    return lambda call, *args: f"{function}({', '.join(args)})"


def joined(operator: str) -> Text:
    """Truth values, one or more."""
    return lambda call, *args: "(" + f" {operator} ".join(args) + ")"


LOGIC: dict[str, Text] = {
    "equal": equal,
    "not_equal": compared("<>", "true"),
    "less": less,
    "less_equal": compared("<=", "false"),
    "greater": greater,
    "greater_equal": compared(">=", "false"),
    "is_not_distinct": is_not_distinct,
    "is_distinct": lambda call, x, y: f"(NOT {is_not_distinct(call, x, y)})",
    "in": is_in,
    "and": joined("AND"),
    "or": joined("OR"),
    "not": "(NOT {0})",
    "is_null": "({0} IS NULL)",
    "case": case,
    "coalesce": listed("coalesce"),
    "nullif": lambda call, x, y: f"(CASE WHEN {equal(call, x, y)} THEN NULL ELSE {x} END)",
    "greatest": listed("greatest"),
    "least": listed("least"),
}
