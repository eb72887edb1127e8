"""The closed table of functions: what may stand in an expression, with types, null rule and a tested example.

A new function is an entry in one of these modules and a handler of the same name in each backend.
"""

from __future__ import annotations

from gpuetl.errors import InvalidExpression, Span
from gpuetl.expressions.functions import (
    aggregates,
    arithmetic,
    binary,
    calendar,
    characters,
    collecting,
    decays,
    distributions,
    formats,
    hashing,
    integers,
    json,
    json_editing,
    json_types,
    json_writing,
    list_aggregates,
    list_edits,
    list_shapes,
    list_statistics,
    lists,
    logic,
    maps,
    mathematics,
    moments,
    nested_elements,
    nested_text,
    ordering,
    paths,
    readable,
    regex,
    sketches,
    strings,
    structs,
    text_formats,
    timestamps,
    type_names,
    windows,
    zones,
)
from gpuetl.expressions.functions.function import ENTRIES, Function, Kind, TypeMismatch, table_entry
from gpuetl.expressions.syntax import RUN_ID
from gpuetl.messages import coded

MODULES = (
    arithmetic,
    integers,
    mathematics,
    logic,
    strings,
    regex,
    characters,
    paths,
    readable,
    text_formats,
    calendar,
    timestamps,
    formats,
    zones,
    lists,
    list_edits,
    list_shapes,
    list_aggregates,
    list_statistics,
    structs,
    maps,
    binary,
    json,
    json_writing,
    json_types,
    json_editing,
    hashing,
    type_names,
    aggregates,
    moments,
    sketches,
    distributions,
    collecting,
    windows,
)
FUNCTIONS: dict[tuple[Kind, str], Function] = {
    (function.kind, function.name): function for module in MODULES for function in module.FUNCTIONS
}
ALIASES = {
    "avg": "mean", "average": "mean", "variance": "var", "stddev": "std", "pow": "power",
    "substr": "substring", "char_length": "length", "len": "length", "ceiling": "ceil", "mod": "modulo", "isnan": "is_nan",
    "dow": "dayofweek", "weekday": "dayofweek", "doy": "dayofyear", "is_in": "in", "fill_null": "coalesce",
    "ifnull": "coalesce", "nvl": "coalesce", "instr": "strpos", "octet_length": "byte_length",
    "strlen": "byte_length", "character_length": "length", "ucase": "upper", "lcase": "lower", "ord": "unicode", "editdist3": "levenshtein",
    "mismatches": "hamming", "prefix": "starts_with", "suffix": "ends_with", "str_split": "split",
    "string_to_array": "split", "isfinite": "is_finite",
    "isinf": "is_infinite", "rlike": "regexp_like", "regexp_matches": "regexp_like", "regexp_contains": "regexp_like",
    **dict.fromkeys(("string_split_regex", "str_split_regex", "regexp_split"), "regexp_split_to_array"),
    "weekofyear": "week", "isoyear": "iso_year", "date_bin": "time_bucket",
    "list_apply": "list_transform", "array_transform": "list_transform", "array_apply": "list_transform",
    "array_filter": "list_filter", "list_avg": "list_mean", "list_var_samp": "list_var", "list_variance": "list_var", "list_stddev": "list_std",
    "list_stddev_samp": "list_std", "list_stddev_pop": "list_std_pop", "list_approx_count_distinct": "list_unique", "list_quantile_cont": "list_quantile", "list_to_string": "array_to_string", "list_join": "array_to_string", "list_cat": "list_concat",
    "array_cat": "list_concat", "array_concat": "list_concat", "array_append": "list_append", "array_push_back": "list_append",
    "array_prepend": "list_prepend", "array_push_front": "list_prepend", "array_reverse": "list_reverse", "array_reduce": "list_reduce", "reduce": "list_reduce", "array_reverse_sort": "list_reverse_sort",
    "array_grade_up": "list_grade_up", "grade_up": "list_grade_up", "array_sort": "list_sort",
    "array_distinct": "list_distinct", "array_unique": "list_unique", "list_n_unique": "list_unique", "array_intersect": "list_intersect",
    "array_select": "list_select", "list_gather": "list_select", "array_where": "list_where", "array_slice": "list_slice", "array_zip": "list_zip", **dict.fromkeys(("list_kahan_sum", "list_sumkahan"), "list_fsum"),
    **dict.fromkeys(("list_group_concat", "list_listagg"), "list_string_agg"), "struct_has": "struct_contains", "struct_indexof": "struct_position",
    **dict.fromkeys(("array_negative_dot_product", "array_negative_inner_product", "list_negative_inner_product"), "list_negative_dot_product"), "array_resize": "list_resize",
    "array_position": "list_position", "list_indexof": "list_position", "array_indexof": "list_position",
    "array_contains": "list_contains", "array_has": "list_contains", "list_has": "list_contains", "array_has_any": "list_has_any",
    "array_has_all": "list_has_all", "list_pack": "list_value", "array_value": "list_value", "list_all": "list_bool_and",
    "list_any": "list_bool_or", "list_len": "list_length", "list_element": "list_extract", "array_extract": "list_extract",
    "list_inner_product": "list_dot_product", "array_inner_product": "list_dot_product", "array_dot_product": "list_dot_product",
    "array_distance": "list_distance", "array_cosine_similarity": "list_cosine_similarity",
    "array_cosine_distance": "list_cosine_distance", "array_length": "list_length", "cardinality": "list_length", "map_extract_value": "map_get", "element_at": "map_extract", "map_from_arrays": "map", "base64": "to_base64", "string_split": "split",
    "var_samp": "var", "stddev_samp": "std", "stddev_pop": "std_pop", "covar": "covar_samp", "quantile_cont": "quantile",
    "bool_and": "all", "every": "all", "bool_or": "any", "arg_min": "min_by", "arg_max": "max_by",
    "forward_fill": "ffill", "backward_fill": "bfill", "first_value": "first", "last_value": "last", "rolling_cov": "rolling_covar_samp", "rolling_covar": "rolling_covar_samp",
    "rolling_nunique": "rolling_count_distinct", "rolling_n_unique": "rolling_count_distinct",
    "argmin": "min_by", "argmax": "max_by", "countif": "count_if", "count_star": "count_rows", "arbitrary": "any_value",
    "geomean": "geometric_mean", "wavg": "weighted_avg", "approx_n_unique": "approx_count_distinct", "percentile_cont": "quantile",
    "percentile_disc": "quantile_disc", "approx_percentile": "approx_quantile", "skew": "skewness",
    "list": "array_agg", "list_agg": "array_agg", "collect_list": "array_agg", "implode": "array_agg", "listagg": "string_agg", "group_concat": "string_agg",
    "xor": "bit_xor", "round_even": "round", "roundbankers": "round", "greatest_common_divisor": "gcd", "least_common_multiple": "lcm",
    "to_binary": "bin", "to_hex": "hex", "from_hex": "unhex",
    "json_extract_path": "json_extract", "json_extract_path_text": "json_extract_string", "json_transform": "from_json",
    "json_quote": "to_json", "array_to_json": "to_json", "row_to_json": "to_json", "json_encode": "to_json", "next_after": "nextafter", "formatreadablesize": "format_bytes",
    "dayname": "day_name", "monthname": "month_name", "dayofmonth": "day", "datetrunc": "date_trunc", "datediff": "date_diff",
    "datesub": "date_sub", "make_timestamp_ms": "from_epoch_ms", "to_days": "days", "to_weeks": "weeks", "to_hours": "hours", "to_minutes": "minutes",
    "to_seconds": "seconds", "to_milliseconds": "milliseconds", "to_microseconds": "microseconds",
}  # fmt: skip
OVERLOADS = {
    ("bit_and", 1): "bitwise_and",
    ("bit_or", 1): "bitwise_or",
    ("bit_xor", 1): "bitwise_xor",
    ("make_timestamp", 1): "from_epoch_us",
    **distributions.COUNTED,
}
"""Functions that have another name by how many arguments are given, as DuckDB's do."""
OF_LISTS = {"length": "list_length", "add": "list_concat", "concat": "list_concat", "repeat": "list_repeat"}
"""Functions that lists have under another name."""
INSTEAD = {
    "col": "Write the name alone: x > 1.", **dict.fromkeys(("fill", "interpolate_by", "locf"), "Write interpolate(x), interpolate(x, by => ts) or ffill(x) in a window step."), **dict.fromkeys(("nunique", "n_unique", "countdistinct"), "Write count(DISTINCT x)."),
    **dict.fromkeys(("safe_cast", "tryconvert", "try_convert"), "Write TRY_CAST(x AS int64)."), "convert": "Write CAST(x AS int64).",
    **dict.fromkeys(("title", "to_titlecase", "capitalize"), "Write initcap(x)."), **dict.fromkeys(("zfill", "pad_start"), "Write lpad(x, n, '0')."),
    "pad_end": "Write rpad(x, n).", "count_matches": "Write regexp_count(x, pattern).", "str_extract": "Write regexp_extract(x, pattern).",
    "parse_url": "Write regexp_extract(url, '^https?://([^/:?#]+)', 1) for the host.",
    **dict.fromkeys(("strip", "strip_chars"), "Write trim(x)."), **dict.fromkeys(("lstrip", "strip_chars_start"), "Write ltrim(x)."),
    **dict.fromkeys(("rstrip", "strip_chars_end"), "Write rtrim(x)."),
    "to_number": "Write CAST(x AS float64), or another type.", "iif": "Write if(condition, a, b).", "isin": "Write x IN (1, 2).",
    "nvl2": "Write if(x IS NOT NULL, a, b).", "zeroifnull": "Write coalesce(x, 0).",
    **dict.fromkeys(("get_json_object", "json_extract_scalar", "json_path_match"), "Write json_extract_string(text, path), or text ->> '$.a'."),
    **dict.fromkeys(("json_decode", "parse_json"), "Write from_json(text, 'STRUCT(a BIGINT)')."),
    **dict.fromkeys(("json_each", "json_tree"), "Write json_extract(text, '$.a[*]'), and explode the list in a step."),
    "regexp_substr": "Write regexp_extract(text, pattern).",
    "array": "Write [a, b, c].",
    "aggregate": "Write list_sum(x), list_max(x) or another function of lists.",
    "dateadd": "Write x + INTERVAL '1 month', add_days(x, n) or add_months(x, n).",
    "offset_by": "Write x + INTERVAL '1 month', add_days(x, n) or add_months(x, n).",
    "age": "Write date_sub('year', a, b) for whole years, or date_sub('month', a, b).",
    "make_timestamp_ns": "Write from_epoch_us(x // 1000): timestamps are in microseconds.",
    "nanosecond": "Write microsecond(x) * 1000: timestamps are in microseconds.",
    "date": "Write to_date(x), or CAST(x AS date).",
    "from_unixtime": "Write from_epoch(seconds).", "unix_timestamp": "Write epoch(x).",
    "equi_width_bins": "Write width_bucket(x, low, high, n), or cut(x, [10, 20, 30]).",
    "month_start": "Write date_trunc('month', x).", "month_end": "Write last_day(x).", "ordinal_day": "Write dayofyear(x).",
    "truncate": "Write date_trunc('month', x), or trunc(x) of a number.", "convert_time_zone": "Write convert_zone(x, zone).",
    "replace_time_zone": "Write x AT TIME ZONE 'Europe/Berlin'.", "timestamp": "Write epoch_us(x), or CAST(x AS timestamp).",
    **{f"total_{unit}": f"Write epoch(x) / {length}." for unit, length in (("days", 86_400), ("hours", 3600), ("minutes", 60))},
    "total_seconds": "Write epoch(x).", "total_milliseconds": "Write epoch_ms(x).", "total_microseconds": "Write epoch_us(x).",
    **{f"arc{name}": f"Write a{name}(x)." for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}, "arctan2": "Write atan2(y, x).",
    "is_business_day": "Write isodow(x) < 6, and join a table of holidays.", "square": "Write x * x.",
    "date_format": "Write strftime(x, format), such as '%Y-%m-%d'.", "to_char": "Write strftime(x, format), or CAST(x AS string).",
    "time": "Write CAST(text AS time).",
    "random": "A run can be repeated: take the sample step, or hash(key).", "rand": "Take the sample step, or hash(key).",
    "uuid": "Write run_id() for the run, md5(key) or hash(key) for a row.",
    "position": "Write strpos(text, part).", "charindex": "Write strpos(text, part).", "locate": "Write strpos(text, part).",
    **dict.fromkeys(("favg", "fsum", "kahan_sum", "sumkahan"), "Write sum(x) or mean(x); sum(CAST(x AS decimal(38, 6))) is exact."),
    "sum_no_overflow": "Write sum(x), which stops where the total leaves its type.",
    "reservoir_quantile": "Write approx_quantile(x, q), or quantile(x, q).", "bitstring_agg": "Write bit_or(1 << x).",
    "collect_set": "Write array_agg(DISTINCT x), which keeps a null.", "unnest": "Use an explode step for a list, and an unnest step for a struct.",
    "named_struct": "Write struct_pack(a := x, b := y).",
    **dict.fromkeys(("isnull", "isna"), "Write x IS NULL, or x.is_null() in Python."),
    **dict.fromkeys(("notnull", "notna", "isnotnull"), "Write x IS NOT NULL, or x.is_not_null() in Python."),
    **dict.fromkeys(("desc", "asc"), "An order is text: sort('x desc')."),
    "over": "Use a window step.",
    **dict.fromkeys(("grouping", "grouping_id"), "It stands in columns and having of an aggregate step, outside of aggregates."),
    **{f"cum{name}": f"Write cum_{name}(x)." for name in ("sum", "prod", "min", "max")}, "cumcount": "Write cum_count(x), or row_number() for rows.",
    "peak_max": "Write x > lag(x) AND x > lead(x) in a window step.", "peak_min": "Write x < lag(x) AND x < lead(x) in a window step.",
    **dict.fromkeys(("rle_id", "rle"), "Write changed: CAST(x IS DISTINCT FROM lag(x) AS int64) in a window step, and cum_sum(changed) in the next one."),
    **dict.fromkeys(("is_unique", "is_duplicated"), "Write count(*) = 1, or count(*) > 1, in a window step by x."),
    **dict.fromkeys(("is_first_distinct", "is_first"), "Write row_number() = 1 in a window step by x."),
    "is_last_distinct": "Write row_number() = 1 in a window step by x, in the opposite order.",
    "ngroup": "Write dense_rank() in a window step without by, ordered by the keys.", "rank_pct": "Write cume_dist() or percent_rank().",
    "shift_and_fill": "Write lag(x, default => 0).", "ewm_mean_by": "Write ewm_mean(x, half_life => INTERVAL '1 hour') with order_by: ts.",
    **dict.fromkeys(("expanding", "cumulative_eval", "cum_eval"), "Write rolling_mean(x, rows => [NULL, 0]), or another rolling function."),
    **{f"rolling_{name}_by": f"Write rolling_{name}(x, INTERVAL '1 hour') with order_by: ts." for name in ("sum", "mean", "min", "max", "std", "var", "median", "quantile")},
    "rolling_rank": "Write rank() in a window step; ranks within a frame are not had.", "fill_nan": "Write if(is_nan(x), NULL, x).",
    **dict.fromkeys(("rolling_map", "rolling_apply"), "Write a kernel of kind group, or a rolling function such as rolling_quantile(x, 0.9, 20)."), "shift": "Write lag(x) or lead(x).", "rolling": "Write rolling_mean(x, 10), or another rolling function.",
}  # fmt: skip
"""What to write for names that one may expect, and that are no alias: their meaning differs, or is not had so."""


ENTRIES.update(FUNCTIONS)
INTERNAL = {
    **aggregates.INTERNAL,
    **decays.INTERNAL,
    **moments.INTERNAL,
    **sketches.INTERNAL,
    **json.INTERNAL,
    **json_writing.INTERNAL,
    **text_formats.INTERNAL,
    **calendar.INTERNAL,
    **ordering.INTERNAL,
    **list_shapes.INTERNAL,
    **nested_elements.INTERNAL,
    **nested_text.INTERNAL,
}
"""Functions that users cannot call, by name."""
ENTRIES.update({(entry.kind, name): entry for name, entry in INTERNAL.items()})


def find_function(name: str, kinds: tuple[Kind, ...]) -> Function | None:
    """Return the function of that name, or of that alias, in the first of `kinds` that has it."""
    name = ALIASES.get(name, name)
    for kind in kinds:
        if found := FUNCTIONS.get((kind, name)):
            return found
    return None


def unknown_function(name: str, span: Span | None = None, kinds: tuple[Kind, ...] = ("scalar",)) -> InvalidExpression:
    """Word a call of a function that the table does not hold, with what to write instead."""
    if hint := INSTEAD.get(name):
        return InvalidExpression(coded("GE1022", f"unknown function '{name}'"), span, hint)
    return InvalidExpression.unknown_function(name, function_names(kinds), span)


def function_names(kinds: tuple[Kind, ...]) -> list[str]:
    """Return the names that `find_function` knows, for suggestions."""
    return sorted([RUN_ID, *(name for kind, name in FUNCTIONS if kind in kinds)])


__all__ = [
    "ALIASES", "FUNCTIONS", "INSTEAD", "INTERNAL", "OF_LISTS", "OVERLOADS", "Function", "Kind", "TypeMismatch", "find_function", "function_names",
    "table_entry", "unknown_function",
]  # fmt: skip
