"""Aggregate functions in DuckDB's SQL: PLACE is a column of the aggregate's input."""

from collections.abc import Callable
from contextvars import ContextVar
from fractions import Fraction

import pyarrow as pa

from fuzz.duckdb_text import Text, canonical
from fuzz.duckdb_types import sql_type
from gpuetl.expressions.functions.aggregates import BY_STEP, edge_arguments, split_order
from gpuetl.expressions.ir import Call
from gpuetl.types.data_types import DURATION, FLOAT64, can_be_key, is_floating

PLACE = '":place"'
"""The row's place in the order that `first` and `last` go by."""
MEAN, WHOLE_MEAN = "exact_mean_of", "whole_mean_of"


def count_distinct(call: Call, args: tuple[str, ...]) -> str:
    """Of several columns, rows without a null."""
    row = ", ".join(canonical(x, arg.dtype) for x, arg in zip(args, call.args, strict=True))
    if len(args) == 1:
        return f"count(DISTINCT {row})"
    known = " AND ".join(f"{x} IS NOT NULL" for x in args)
    return f"count(DISTINCT CASE WHEN {known} THEN row({row}) END)"


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


LIST_OF_GROUP = '":value'
"""Begins the column of a list that rows are grouped by (plan/nested_keys.py)."""


def edge(order: str) -> Text:
    """The value of the row whose place is first or last."""

    def text(call: Call, x: str, *options: str) -> str:
        plain, keys = split_order(call)
        kept = considered(call, x, options[: len(plain) - 1])
        own = ", ".join(options[len(plain) - 1 :]) if keys else f"{PLACE} {order}"
        if x.startswith(LIST_OF_GROUP):  # equal in all rows of the group
            own = x
        return f"first({x} ORDER BY {own}) FILTER (WHERE {kept})"

    return text


def considered(call: Call, x: str, options: tuple[str, ...]) -> str:
    """Return the condition of the rows among which `first` and `last` choose."""
    only = options[1] if len(options) > 1 else "true"
    return f"{only} AND {x} IS NOT NULL" if edge_arguments(call)[1] else only


STEP_ORDER: ContextVar[bool] = ContextVar("whether the step has an order", default=False)


def order_in(call: Call, args: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return the arguments without those of the order, and the order: that of the call, or the step's, then the values."""
    plain, keys = split_order(call)
    own, x = list(args[len(plain) :]), call.args[0]
    if not own and STEP_ORDER.get() and call.function.name in BY_STEP:
        own = [PLACE]
    if can_be_key(x.dtype) and not (keys and call.function.name.endswith("_distinct")):
        own.append(f"{canonical(args[0], x.dtype)} NULLS LAST")
    return args[: len(plain)], ", ".join(own)


def distinct_nested(x: str, key: str, only: str) -> str:
    """A list of distinct values in the order of their texts, of which one says how they are sorted."""
    text, way, _, nulls = key.rsplit(" ", 3)
    last = (nulls == "LAST") == (way == "ASC")
    place = f"CASE WHEN {text} IS NULL THEN {2 * last} ELSE 1 END"
    entries = f"list(DISTINCT struct_pack(n := {place}, k := {text}, v := {x})) FILTER (WHERE {only})"
    return f"list_transform(list_sort({entries}, '{way}'), lambda entry: entry.v)"


def collected(call: Call, *args: str) -> str:
    """A list of all values, or of the distinct ones, in order."""
    (x, *options), order = order_in(call, args)
    if call.function.name.endswith("_distinct") and not can_be_key(call.args[0].dtype):
        return distinct_nested(x, args[-1], options[0] if options else "true")
    distinct = "DISTINCT " if call.function.name.endswith("_distinct") else ""
    x = canonical(x, call.args[0].dtype) if distinct else x
    only = options[0] if options else "true"
    return f"list({distinct}{x} ORDER BY {order}) FILTER (WHERE {only})"


def joined_text(call: Call, *args: str) -> str:
    """Strings with a separator between them."""
    (x, *options), order = order_in(call, args)
    separator = options[0] if options else "','"
    distinct = "DISTINCT " if call.function.name.endswith("_distinct") else ""
    return f"array_to_string(list({distinct}{x} ORDER BY {order}) FILTER (WHERE {x} IS NOT NULL), {separator})"


def of_distinct(name: str) -> Callable[[Call, str], str]:
    """Another aggregate of the list of distinct values."""

    def text(call: Call, x: str) -> str:
        distinct = f"(list(DISTINCT {canonical(x, call.args[0].dtype)}) FILTER (WHERE {x} IS NOT NULL))"
        return f"list_aggregate({distinct}, '{name}')"

    return text


def extreme_by(order: str) -> Text:
    """Of the rows of the least or greatest y the least x; DuckDB's own would skip null x, and take any that tie."""

    def text(call: Call, x: str, y: str) -> str:
        keys = f"{canonical(y, call.args[1].dtype)} {order}, {canonical(x, call.args[0].dtype)} NULLS LAST"
        return f"first({x} ORDER BY {keys}) FILTER (WHERE {y} IS NOT NULL)"

    return text


def by_frequency(call: Call, x: str, key: str = "") -> str:
    """The distinct values; DuckDB's own list of them is an estimate.  Nested ones are told apart by their texts."""
    value = f"struct_pack(k := {key}, v := {x})" if key else canonical(x, call.args[0].dtype)
    counted = f"map_entries(histogram({value}) FILTER (WHERE {key or x} IS NOT NULL))"
    rows = f"list_transform({counted}, lambda entry: struct_pack(n := -CAST(entry.value AS BIGINT), v := entry.key))"
    return f"list_transform(list_sort({rows}), lambda entry: entry.v{'.v' * bool(key)})"


def mode(call: Call, x: str, key: str = "") -> str:
    """DuckDB takes the value that comes first of those that tie."""
    if key:
        return f"({by_frequency(call, x, key)})[1]"
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


def distinct_spread(call: Call, x: str, function: str) -> str:
    """A moment of distinct values; see `spread`."""
    known = f"CASE WHEN isfinite({x}) THEN {x} END"
    value = of_distinct(function)(call, f"({known})")
    odd = f"CASE WHEN bool_or({x} IS NOT NULL AND NOT isfinite({x})) THEN CAST('nan' AS DOUBLE) ELSE {value} END"
    return f"(CASE WHEN count(DISTINCT {canonical(x, FLOAT64)}) > 1 THEN {odd} END)"


def mad_text(call: Call, x: str) -> str:
    """The median of deviations; DuckDB's own fails where a value is infinite."""
    return f"mad_of({sorted_list(call, x)})"


def disc_text(call: Call, x: str, q: str) -> str:
    """The value at a place from 1."""
    values = sorted_list(call, canonical(x, call.args[0].dtype))
    return f"value_at({values}, {q})"


AGGREGATES: dict[str, Text] = {
    "count_rows": "count(*)",
    "count": "count({0})",
    "count_distinct": lambda call, *args: count_distinct(call, args),
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
    "array_agg": collected,
    "array_agg_distinct": collected,
    "string_agg": joined_text,
    "string_agg_distinct": joined_text,
    "sum_distinct": lambda call, x: f"CAST({of_distinct('sum')(call, x)} AS {sql_type(call.dtype)})",
    "mean_distinct": lambda call, x: (
        of_distinct("avg")(call, x)
        if is_floating(call.args[0].dtype)
        else exact_mean(call, f"(list(DISTINCT {x}) FILTER (WHERE {x} IS NOT NULL))")
    ),
    "product_distinct": of_distinct("product"),
    "median_distinct": lambda call, x: (
        f"median_of(list_sort(list(DISTINCT {canonical(x, FLOAT64)}) FILTER (WHERE {x} IS NOT NULL)))"
    ),
    "var_distinct": lambda call, x: distinct_spread(call, x, "var_samp"),
    "std_distinct": lambda call, x: distinct_spread(call, x, "stddev_samp"),
    "skewness": moments("skewness_of", 2),
    "kurtosis": moments("kurtosis_of", 3),
    "kurtosis_pop": moments("kurtosis_pop_of", 1),
    "median": lambda call, x: f"median_of({sorted_list(call, x)})",
    "quantile": lambda call, x, q: f"quantile_of({sorted_list(call, x)}, {q})",
    "approx_quantile": lambda call, x, q: (
        f"quantile_of(list_transform({sorted_list(call, x)}, lambda v: rounded(v)), {q})"
    ),
    "mode": mode,
    "mad": mad_text,
    "quantile_disc": disc_text,
    "cell": lambda call, x, place, number, cells: f"max({x}) FILTER (WHERE {place} = {number})",
    "first": edge("ASC"),
    "last": edge("DESC"),
    "arg_min_null": extreme_by("ASC"),
    "arg_max_null": extreme_by("DESC"),
    "histogram": lambda call, x: f"CAST(histogram({canonical(x, call.args[0].dtype)}) AS {sql_type(call.dtype)})",
    "values_by_frequency": by_frequency,
    "entropy": lambda call, x: f"entropy({canonical(x, call.args[0].dtype)})",
    "count_if": "count(CASE WHEN {0} THEN 1 END)",
    "any": "bool_or({0})",
    "all": "bool_and({0})",
}
