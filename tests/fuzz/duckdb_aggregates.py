"""Aggregate functions in DuckDB's SQL."""

import pyarrow as pa

from fuzz.duckdb_casts import sql_type
from fuzz.duckdb_text import Text, canonical
from gpuetl.expressions.ir import Call


def total(call: Call, x: str) -> str:
    """DuckDB sums integers in 128 bits; the cast back is checked."""
    return f"CAST(sum({x}) AS {sql_type(call.dtype)})"


def extreme(function: str) -> Text:
    """NaN is DuckDB's greatest value too."""
    return lambda call, x: "NULL" if call.dtype == pa.null() else f"{function}({x})"


AGGREGATES: dict[str, Text] = {
    "count_rows": "count(*)",
    "count": "count({0})",
    "count_distinct": lambda call, x: f"count(DISTINCT {canonical(x, call.args[0].dtype)})",
    "sum": total,
    "mean": "avg({0})",
    "min": extreme("min"),
    "max": extreme("max"),
    "var": "var_samp({0})",
    "std": "stddev_samp({0})",
    "median": "median_of(list_sort(list({0}) FILTER (WHERE {0} IS NOT NULL)))",
    "any": "bool_or({0})",
    "all": "bool_and({0})",
}
