"""Aggregate functions in DuckDB's SQL: PLACE is a column of the aggregate's input."""

from fractions import Fraction

import pyarrow as pa

from fuzz.duckdb_text import Text, canonical
from fuzz.duckdb_types import sql_type
from gpuetl.expressions.functions.aggregates import edge_arguments
from gpuetl.expressions.ir import Call
from gpuetl.types.data_types import DURATION, is_floating

PLACE = '":place"'
"""The row's place in the order that `first` and `last` go by."""
MEAN, WHOLE_MEAN = "exact_mean_of", "whole_mean_of"


def total(call: Call, x: str) -> str:
    """DuckDB sums integers in 128 bits; the cast back is checked."""
    return f"CAST(sum({x}) AS {sql_type(call.dtype)})"


def mean(call: Call, x: str) -> str:
    """DuckDB's own of floats; it would round the sum of others before it divides."""
    return f"avg({x})" if is_floating(call.args[0].dtype) else exact_mean(call, f"list({x})")


def exact_mean(call: Call, values: str) -> str:
    """The mean of a list, of durations in whole microseconds."""
    name = WHOLE_MEAN if call.dtype == DURATION else MEAN
    return f"{name}(list_transform({values}, lambda v: CAST(v AS VARCHAR)))"


def mean_of_strings(values: list[str | None]) -> Fraction | None:
    """Return the exact mean of numbers that are not null."""
    known = [Fraction(value) for value in values or () if value is not None]
    return sum(known) / Fraction(len(known)) if known else None


def nearest_float(values: list[str | None]) -> float | None:
    """Return the mean, rounded once."""
    mean = mean_of_strings(values)
    return None if mean is None else float(mean)


def nearest_integer(values: list[str | None]) -> int | None:
    """Return the mean, rounded half to even."""
    mean = mean_of_strings(values)
    return None if mean is None else round(mean)


def extreme(function: str) -> Text:
    """NaN is DuckDB's greatest value too."""
    return lambda call, x: "NULL" if call.dtype == pa.null() else f"{function}({x})"


def sorted_list(call: Call, x: str) -> str:
    """The values that are not null, the least first."""
    return f"list_sort(list({x}) FILTER (WHERE {x} IS NOT NULL))"


def edge(order: str) -> Text:
    """The value of the row whose place is first or last."""

    def text(call: Call, x: str, *options: str) -> str:
        kept = considered(call, x, options)
        return f"first({x} ORDER BY {PLACE} {order}) FILTER (WHERE {kept})"

    return text


def considered(call: Call, x: str, options: tuple[str, ...]) -> str:
    """Return the condition of the rows among which `first` and `last` choose."""
    only = options[1] if len(options) > 1 else "true"
    return f"{only} AND {x} IS NOT NULL" if edge_arguments(call)[1] else only


def extreme_by(order: str) -> Text:
    """Of the rows of the least or greatest y the least x; DuckDB's own would skip null x, and take any that tie."""

    def text(call: Call, x: str, y: str) -> str:
        keys = f"{canonical(y, call.args[1].dtype)} {order}, {canonical(x, call.args[0].dtype)} NULLS LAST"
        return f"first({x} ORDER BY {keys}) FILTER (WHERE {y} IS NOT NULL)"

    return text


def mode(call: Call, x: str) -> str:
    """DuckDB takes the value that comes first of those that tie."""
    return f"list_mode({sorted_list(call, canonical(x, call.args[0].dtype))})"


def moments(text: str, ddof: int) -> Text:
    """What `text` makes of the values {0} of a group and of their mean; DuckDB's own sums of powers cancel."""

    def made(call: Call, x: str) -> str:
        values = f"(list({x}) FILTER (WHERE {x} IS NOT NULL))"
        return f"(CASE WHEN count({x}) > {ddof} THEN {text}({values}) END)"

    return made


def spread(function: str, ddof: int = 1) -> Text:
    """A moment about the mean, which is NaN where a value is infinite or NaN; DuckDB fails there, or leaves the value out."""

    def text(call: Call, *args: str) -> str:
        known = " AND ".join(f"{x} IS NOT NULL" for x in args)
        finite = " AND ".join(f"isfinite({x})" for x in args)
        value = f"{function}({', '.join(args)}) FILTER (WHERE {finite})"
        odd = f"CASE WHEN bool_or({known} AND NOT ({finite})) THEN CAST('nan' AS DOUBLE) ELSE {value} END"
        return f"(CASE WHEN count(CASE WHEN {known} THEN 1 END) > {ddof} THEN {odd} END)"

    return text


AGGREGATES: dict[str, Text] = {
    "count_rows": "count(*)",
    "count": "count({0})",
    "count_distinct": lambda call, x: f"count(DISTINCT {canonical(x, call.args[0].dtype)})",
    "sum": total,
    "mean": mean,
    "min": extreme("min"),
    "max": extreme("max"),
    "var": spread("var_samp"),
    "std": spread("stddev_samp"),
    "var_pop": spread("var_pop", ddof=0),
    "std_pop": spread("stddev_pop", ddof=0),
    "covar_samp": spread("covar_samp"),
    "covar_pop": spread("covar_pop", ddof=0),
    "corr": spread("corr"),
    "product": "product({0})",
    "bitwise_and": "bit_and({0})",
    "bitwise_or": "bit_or({0})",
    "bitwise_xor": "bit_xor({0})",
    "skewness": moments("skewness_of", 2),
    "kurtosis": moments("kurtosis_of", 3),
    "kurtosis_pop": moments("kurtosis_pop_of", 1),
    "median": lambda call, x: f"median_of({sorted_list(call, x)})",
    "quantile": lambda call, x, q: f"quantile_of({sorted_list(call, x)}, {q})",
    "mode": mode,
    "first": edge("ASC"),
    "last": edge("DESC"),
    "min_by": extreme_by("ASC"),
    "max_by": extreme_by("DESC"),
    "count_if": "count(CASE WHEN {0} THEN 1 END)",
    "any": "bool_or({0})",
    "all": "bool_and({0})",
}
