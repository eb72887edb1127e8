"""gpuetl: declarative ETL pipelines on NVIDIA GPUs, from YAML or Python, with answers that can be checked.

The way of the data, and of a reader through the code:

    pipeline.py    Pipeline and load(): the first file to read
    spec/          1  YAML text → model → bound plan; steps/ has one class a verb of the language
    expressions/   2  expressions: SQL or Python → typed IR; functions/ is the closed table
    plan/          3  the logical plan: nodes/, a file each; no engine code
    optimize/      4  named rewrites Plan → Plan, a file each
    physical/      5  partitions, exchanges, and the memory that they need
    executors/     6  run a physical plan, in this process or on a dask cluster
    engines/      7  frames and the operations on them: pandas (also the oracle)
    functions.py      the functions of the table in Python
    kernels/          users' CUDA kernels: contract and NumPy twin
    formats/          Parquet, CSV and rows in memory: described, checked, read and written
    io/               files: listed, opened, staged and committed
    report/        8  what a run did
    file_tests/       the tests that a pipeline's file holds
    testing/          for the tests of pipelines and of gpuetl itself
    cli/              the command gpuetl
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from gpuetl.uncaught import show_short_tracebacks as _show_short_tracebacks
from gpuetl.version import __version__ as __version__

if TYPE_CHECKING:
    from gpuetl.declarations import NameReplaced
    from gpuetl import functions as functions
    from gpuetl import selectors as selectors
    from gpuetl.errors import (
        ContractBroken,
        EngineUnavailable,
        GpuetlError,
        InvalidExpression,
        InvalidPipeline,
        OutOfMemory,
        PackageMissing,
        RunFailed,
        SinkExists,
    )
    from gpuetl.expressions.build import (
        col,
        expr,
        lit,
        param,
        run_id,
        struct,
        when,
    )
    from gpuetl.expressions.expression import Expression
    from gpuetl.functions import (
        acos, acosh, add_days, add_months, any_value, approx_count_distinct, approx_quantile, approx_top_k,
        arg_max_null, arg_min_null, array_agg, array_agg_distinct, array_cross_product, array_to_string, asin, asinh,
        assume_zone, at_time_zone, atan, atan2, atanh, bar, bfill, binom, bit_and, bit_count, bit_length, bit_not,
        bit_or, bit_xor, bitwise_and, bitwise_or, bitwise_xor, bucket, byte_length, case, cbrt, ceil, century, clip,
        coalesce, concat, concat_ws, contains, convert_zone, corr, cos, cosh, cot, count, count_distinct, count_if,
        covar_pop, covar_samp, cum_count, cum_max, cum_mean, cum_min, cum_prod, cum_sum, cume_dist, cut,
        damerau_levenshtein, date_add, date_diff, date_sub, date_trunc, day, day_name, dayofweek, dayofyear, days,
        days_in_month, decade, decayed_sum, decode, degrees, dense_rank, diff, encode, ends_with, entropy, epoch,
        epoch_ms, epoch_ns, epoch_us, era, even, ewm_mean, ewm_std, ewm_var, exp, expm1, factorial, fdiv, ffill, first,
        flatten, floor, fmod, format_bytes, formatreadabledecimalsize, from_base64, from_epoch, from_epoch_ms,
        from_epoch_us, from_json, gamma, gcd, generate_series, geometric_mean, greatest, hamming, histogram, hour,
        hours, hypot, ilike, initcap, interpolate, is_distinct, is_finite, is_in, is_infinite, is_leap_year, is_nan,
        is_not_distinct, is_null, iso_year, isodow, jaccard, jaro_similarity, jaro_winkler_similarity, json, json_array,
        json_array_length, json_contains, json_deep_merge, json_exists, json_extract, json_extract_string, json_insert,
        json_keys, json_merge_patch, json_merge_patch_diff, json_normalize, json_object, json_remove, json_replace,
        json_set, json_strip_nulls, json_type, json_valid, json_value, julian, kurtosis, kurtosis_pop, lag, last,
        last_day, lcm, lead, least, left, length, levenshtein, lgamma, like, list_any_value, list_append, list_bit_and,
        list_bit_or, list_bit_xor, list_bool_and, list_bool_or, list_concat, list_contains, list_cosine_distance,
        list_cosine_similarity, list_count, list_distance, list_distinct, list_dot_product, list_entropy, list_extract,
        list_favg, list_filter, list_first, list_fsum, list_get, list_grade_up, list_has_all, list_has_any,
        list_histogram, list_intersect, list_kurtosis, list_kurtosis_pop, list_last, list_length, list_mad, list_max,
        list_mean, list_median, list_min, list_mode, list_negative_dot_product, list_of_size, list_position,
        list_prepend, list_product, list_quantile, list_reduce, list_repeat, list_resize, list_reverse,
        list_reverse_sort, list_select, list_sem, list_skewness, list_slice, list_sort, list_std, list_std_pop,
        list_string_agg, list_sum, list_transform, list_unique, list_value, list_var, list_var_pop, list_where,
        list_zip, ln, local_time, log, log10, log1p, log2, lower, lpad, ltrim, mad, make_date, make_time,
        make_timestamp, make_timestamptz, map_concat, map_contains, map_contains_entry, map_contains_value, map_entries,
        map_extract, map_from_entries, map_get, map_keys, map_values, max_by, max_by_n, max_n, md5, mean, mean_distinct,
        median, median_distinct, microsecond, microseconds, millennium, millisecond, milliseconds, min_by, min_by_n,
        min_n, minute, minutes, mode, month, month_name, nextafter, nth_value, ntile, nullif, parse_dirname,
        parse_dirpath, parse_filename, parse_formatted_bytes, parse_path, pct_change, percent_rank, pi, power, printf,
        product, product_distinct, qcut, quantile, quantile_disc, quarter, radians, rank, regexp_count, regexp_escape,
        regexp_extract, regexp_extract_all, regexp_full_match, regexp_like, regexp_replace, regexp_split_to_array,
        regr_avgx, regr_avgy, regr_count, regr_intercept, regr_r2, regr_slope, regr_sxx, regr_sxy, regr_syy,
        remove_prefix, remove_suffix, repeat, replace, reverse, right, rolling_corr, rolling_count,
        rolling_count_distinct, rolling_covar_pop, rolling_covar_samp, rolling_first, rolling_last, rolling_max,
        rolling_mean, rolling_median, rolling_min, rolling_nth_value, rolling_quantile, rolling_std, rolling_sum,
        rolling_var, row, row_number, rpad, rtrim, second, seconds, sem, session_id, sha1, sha256, shift_left,
        shift_right, sign, signbit, sin, sinh, skewness, split, split_part, sqrt, starts_with, std, std_distinct,
        std_pop, strftime, string_agg, string_agg_distinct, strip_accents, strpos, strptime, struct_concat,
        struct_contains, struct_extract_at, struct_insert, struct_keys, struct_position, struct_update, struct_values,
        substring, sum_distinct, tan, tanh, text_slice, time_bucket, to_base, to_base64, to_date, to_json, to_timestamp,
        translate, trim, trunc, try_add, try_from_json, try_multiply, try_strptime, try_subtract, typeof, unhex,
        unicode, upper, url_decode, url_encode, values_by_frequency, var, var_distinct, var_pop, week, weeks,
        weighted_avg, width_bucket, year, yearweek,
    )  # fmt: skip
    from gpuetl.options import Cluster, RunOptions
    from gpuetl.pipeline import Pipeline, load, loads
    from gpuetl.run.result_cache import result_cache
    from gpuetl.sandbox import in_sandbox
    from gpuetl.spec.telemetry import Telemetry
    from gpuetl.table import Table


__all__ = [
    "Cluster", "ContractBroken", "EngineUnavailable", "Expression", "GpuetlError", "InvalidExpression",
    "InvalidPipeline", "NameReplaced", "OutOfMemory", "PackageMissing", "Pipeline", "RunFailed", "RunOptions",
    "SinkExists", "Table", "Telemetry", "col", "expr", "in_sandbox", "lit", "load", "loads", "param", "result_cache",
    "run_id", "struct", "when",
]  # fmt: skip
__all__ += [
    "acos", "acosh", "add_days", "add_months", "any_value", "approx_count_distinct", "approx_quantile", "approx_top_k",
    "arg_max_null", "arg_min_null", "array_agg", "array_agg_distinct", "array_cross_product", "array_to_string", "asin",
    "asinh", "assume_zone", "at_time_zone", "atan", "atan2", "atanh", "bar", "bfill", "binom", "bit_and", "bit_count",
    "bit_length", "bit_not", "bit_or", "bit_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "bucket", "byte_length",
    "case", "cbrt", "ceil", "century", "clip", "coalesce", "concat", "concat_ws", "contains", "convert_zone", "corr",
    "cos", "cosh", "cot", "count", "count_distinct", "count_if", "covar_pop", "covar_samp", "cum_count", "cum_max",
    "cum_mean", "cum_min", "cum_prod", "cum_sum", "cume_dist", "cut", "damerau_levenshtein", "date_add", "date_diff",
    "date_sub", "date_trunc", "day", "day_name", "dayofweek", "dayofyear", "days", "days_in_month", "decade",
    "decayed_sum", "decode", "degrees", "dense_rank", "diff", "encode", "ends_with", "entropy", "epoch", "epoch_ms",
    "epoch_ns", "epoch_us", "era", "even", "ewm_mean", "ewm_std", "ewm_var", "exp", "expm1", "factorial", "fdiv",
    "ffill", "first", "flatten", "floor", "fmod", "format_bytes", "formatreadabledecimalsize", "from_base64",
    "from_epoch", "from_epoch_ms", "from_epoch_us", "from_json", "gamma", "gcd", "generate_series", "geometric_mean",
    "greatest", "hamming", "histogram", "hour", "hours", "hypot", "ilike", "initcap", "interpolate", "is_distinct",
    "is_finite", "is_in", "is_infinite", "is_leap_year", "is_nan", "is_not_distinct", "is_null", "iso_year", "isodow",
    "jaccard", "jaro_similarity", "jaro_winkler_similarity", "json", "json_array", "json_array_length", "json_contains",
    "json_deep_merge", "json_exists", "json_extract", "json_extract_string", "json_insert", "json_keys",
    "json_merge_patch", "json_merge_patch_diff", "json_normalize", "json_object", "json_remove", "json_replace",
    "json_set", "json_strip_nulls", "json_type", "json_valid", "json_value", "julian", "kurtosis", "kurtosis_pop",
    "lag", "last", "last_day", "lcm", "lead", "least", "left", "length", "levenshtein", "lgamma", "like",
    "list_any_value", "list_append", "list_bit_and", "list_bit_or", "list_bit_xor", "list_bool_and", "list_bool_or",
    "list_concat", "list_contains", "list_cosine_distance", "list_cosine_similarity", "list_count", "list_distance",
    "list_distinct", "list_dot_product", "list_entropy", "list_extract", "list_favg", "list_filter", "list_first",
    "list_fsum", "list_get", "list_grade_up", "list_has_all", "list_has_any", "list_histogram", "list_intersect",
    "list_kurtosis", "list_kurtosis_pop", "list_last", "list_length", "list_mad", "list_max", "list_mean",
    "list_median", "list_min", "list_mode", "list_negative_dot_product", "list_of_size", "list_position",
    "list_prepend", "list_product", "list_quantile", "list_reduce", "list_repeat", "list_resize", "list_reverse",
    "list_reverse_sort", "list_select", "list_sem", "list_skewness", "list_slice", "list_sort", "list_std",
    "list_std_pop", "list_string_agg", "list_sum", "list_transform", "list_unique", "list_value", "list_var",
    "list_var_pop", "list_where", "list_zip", "ln", "local_time", "log", "log10", "log1p", "log2", "lower", "lpad",
    "ltrim", "mad", "make_date", "make_time", "make_timestamp", "make_timestamptz", "map_concat", "map_contains",
    "map_contains_entry", "map_contains_value", "map_entries", "map_extract", "map_from_entries", "map_get", "map_keys",
    "map_values", "max_by", "max_by_n", "max_n", "md5", "mean", "mean_distinct", "median", "median_distinct",
    "microsecond", "microseconds", "millennium", "millisecond", "milliseconds", "min_by", "min_by_n", "min_n", "minute",
    "minutes", "mode", "month", "month_name", "nextafter", "nth_value", "ntile", "nullif", "parse_dirname",
    "parse_dirpath", "parse_filename", "parse_formatted_bytes", "parse_path", "pct_change", "percent_rank", "pi",
    "power", "printf", "product", "product_distinct", "qcut", "quantile", "quantile_disc", "quarter", "radians", "rank",
    "regexp_count", "regexp_escape", "regexp_extract", "regexp_extract_all", "regexp_full_match", "regexp_like",
    "regexp_replace", "regexp_split_to_array", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2",
    "regr_slope", "regr_sxx", "regr_sxy", "regr_syy", "remove_prefix", "remove_suffix", "repeat", "replace", "reverse",
    "right", "rolling_corr", "rolling_count", "rolling_count_distinct", "rolling_covar_pop", "rolling_covar_samp",
    "rolling_first", "rolling_last", "rolling_max", "rolling_mean", "rolling_median", "rolling_min",
    "rolling_nth_value", "rolling_quantile", "rolling_std", "rolling_sum", "rolling_var", "row", "row_number", "rpad",
    "rtrim", "second", "seconds", "sem", "session_id", "sha1", "sha256", "shift_left", "shift_right", "sign", "signbit",
    "sin", "sinh", "skewness", "split", "split_part", "sqrt", "starts_with", "std", "std_distinct", "std_pop",
    "strftime", "string_agg", "string_agg_distinct", "strip_accents", "strpos", "strptime", "struct_concat",
    "struct_contains", "struct_extract_at", "struct_insert", "struct_keys", "struct_position", "struct_update",
    "struct_values", "substring", "sum_distinct", "tan", "tanh", "text_slice", "time_bucket", "to_base", "to_base64",
    "to_date", "to_json", "to_timestamp", "translate", "trim", "trunc", "try_add", "try_from_json", "try_multiply",
    "try_strptime", "try_subtract", "typeof", "unhex", "unicode", "upper", "url_decode", "url_encode",
    "values_by_frequency", "var", "var_distinct", "var_pop", "week", "weeks", "weighted_avg", "width_bucket", "year",
    "yearweek",
]  # fmt: skip

_show_short_tracebacks()

_MODULES = (
    "errors", "expressions.build", "functions", "declarations", "options", "pipeline", "run.result_cache", "sandbox",
    "table",
)  # fmt: skip
_SUBMODULES = ("functions", "selectors")


if not TYPE_CHECKING:  # to a type checker, what is not here is an error

    def __getattr__(name: str) -> Any:
        """Import the public names when they are first used: `gpuetl --help` needs none of them."""
        if name in _SUBMODULES:
            return _import_module(f"{__name__}.{name}")
        if name in __all__:
            for module in map(_import_module, (f"{__name__}.{module}" for module in _MODULES)):
                if name in vars(module):
                    return vars(module)[name]
        hint = "" if name.startswith("_") else _import_module(f"{__name__}.expressions.expression").method_hint(name)
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'" + f"\n{hint}" * bool(hint))


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, *_SUBMODULES, "__version__"]
