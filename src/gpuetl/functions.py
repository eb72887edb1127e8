"""The functions of the table as functions of expressions: `import gpuetl.functions as f`.

Written by `make docs` (tools/generate_functions.py) from the table in `expressions/functions`: do not edit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Never

from gpuetl.errors import UnknownMethod
from gpuetl.expressions.build import struct
from gpuetl.expressions.expression import Expression, call, function_call, method_hint
from gpuetl.expressions.operands import DateUnit, IntoExpression, OrderBy, Range, RankMethod, Rows, Scalar, ZoneChoice

__all__ = [
    "abs", "acos", "acosh", "add", "add_days", "add_months", "all", "and_", "any", "any_value", "approx_count_distinct",
    "approx_quantile", "approx_top_k", "arg_max_null", "arg_min_null", "array_agg", "array_agg_distinct",
    "array_cross_product", "array_to_string", "ascii", "asin", "asinh", "assume_zone", "at_time_zone", "atan", "atan2",
    "atanh", "bar", "bfill", "bin", "binom", "bit_and", "bit_count", "bit_length", "bit_not", "bit_or", "bit_xor",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bucket", "byte_length", "case", "cbrt", "ceil", "century", "chr",
    "clip", "coalesce", "concat", "concat_ws", "contains", "convert_zone", "corr", "cos", "cosh", "cot", "count",
    "count_distinct", "count_if", "covar_pop", "covar_samp", "cum_count", "cum_max", "cum_mean", "cum_min", "cum_prod",
    "cum_sum", "cume_dist", "cut", "damerau_levenshtein", "date_add", "date_diff", "date_sub", "date_trunc", "day",
    "day_name", "dayofweek", "dayofyear", "days", "days_in_month", "decade", "decayed_sum", "decode", "degrees",
    "dense_rank", "diff", "divide", "encode", "ends_with", "entropy", "epoch", "epoch_ms", "epoch_ns", "epoch_us",
    "equal", "era", "even", "ewm_mean", "ewm_std", "ewm_var", "exp", "expm1", "factorial", "fdiv", "ffill", "first",
    "flatten", "floor", "fmod", "format", "format_bytes", "formatreadabledecimalsize", "from_base64", "from_epoch",
    "from_epoch_ms", "from_epoch_us", "from_json", "gamma", "gcd", "generate_series", "geometric_mean", "greater",
    "greater_equal", "greatest", "hamming", "hash", "hex", "histogram", "hour", "hours", "hypot", "ilike", "initcap",
    "int_divide", "interpolate", "is_distinct", "is_finite", "is_in", "is_infinite", "is_leap_year", "is_nan",
    "is_not_distinct", "is_null", "iso_year", "isodow", "jaccard", "jaro_similarity", "jaro_winkler_similarity", "json",
    "json_array", "json_array_length", "json_contains", "json_deep_merge", "json_exists", "json_extract",
    "json_extract_string", "json_insert", "json_keys", "json_merge_patch", "json_merge_patch_diff", "json_normalize",
    "json_object", "json_remove", "json_replace", "json_set", "json_strip_nulls", "json_type", "json_valid",
    "json_value", "julian", "kurtosis", "kurtosis_pop", "lag", "last", "last_day", "lcm", "lead", "least", "left",
    "length", "less", "less_equal", "levenshtein", "lgamma", "like", "list_any_value", "list_append", "list_bit_and",
    "list_bit_or", "list_bit_xor", "list_bool_and", "list_bool_or", "list_concat", "list_contains",
    "list_cosine_distance", "list_cosine_similarity", "list_count", "list_distance", "list_distinct",
    "list_dot_product", "list_entropy", "list_extract", "list_favg", "list_filter", "list_first", "list_fsum",
    "list_get", "list_grade_up", "list_has_all", "list_has_any", "list_histogram", "list_intersect", "list_kurtosis",
    "list_kurtosis_pop", "list_last", "list_length", "list_mad", "list_max", "list_mean", "list_median", "list_min",
    "list_mode", "list_negative_dot_product", "list_of_size", "list_position", "list_prepend", "list_product",
    "list_quantile", "list_reduce", "list_repeat", "list_resize", "list_reverse", "list_reverse_sort", "list_select",
    "list_sem", "list_skewness", "list_slice", "list_sort", "list_std", "list_std_pop", "list_string_agg", "list_sum",
    "list_transform", "list_unique", "list_value", "list_var", "list_var_pop", "list_where", "list_zip", "ln",
    "local_time", "log", "log10", "log1p", "log2", "lower", "lpad", "ltrim", "mad", "make_date", "make_time",
    "make_timestamp", "make_timestamptz", "map", "map_concat", "map_contains", "map_contains_entry",
    "map_contains_value", "map_entries", "map_extract", "map_from_entries", "map_get", "map_keys", "map_values", "max",
    "max_by", "max_by_n", "max_n", "md5", "mean", "mean_distinct", "median", "median_distinct", "microsecond",
    "microseconds", "millennium", "millisecond", "milliseconds", "min", "min_by", "min_by_n", "min_n", "minute",
    "minutes", "mode", "modulo", "month", "month_name", "multiply", "negate", "nextafter", "not_", "not_equal",
    "nth_value", "ntile", "nullif", "or_", "parse_dirname", "parse_dirpath", "parse_filename", "parse_formatted_bytes",
    "parse_path", "pct_change", "percent_rank", "pi", "power", "printf", "product", "product_distinct", "qcut",
    "quantile", "quantile_disc", "quarter", "radians", "range", "rank", "regexp_count", "regexp_escape",
    "regexp_extract", "regexp_extract_all", "regexp_full_match", "regexp_like", "regexp_replace",
    "regexp_split_to_array", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2", "regr_slope",
    "regr_sxx", "regr_sxy", "regr_syy", "remove_prefix", "remove_suffix", "repeat", "replace", "reverse", "right",
    "rolling_corr", "rolling_count", "rolling_count_distinct", "rolling_covar_pop", "rolling_covar_samp",
    "rolling_first", "rolling_last", "rolling_max", "rolling_mean", "rolling_median", "rolling_min",
    "rolling_nth_value", "rolling_quantile", "rolling_std", "rolling_sum", "rolling_var", "round", "row", "row_number",
    "rpad", "rtrim", "second", "seconds", "sem", "session_id", "sha1", "sha256", "shift_left", "shift_right", "sign",
    "signbit", "sin", "sinh", "skewness", "split", "split_part", "sqrt", "starts_with", "std", "std_distinct",
    "std_pop", "strftime", "string_agg", "string_agg_distinct", "strip_accents", "strpos", "strptime", "struct_concat",
    "struct_contains", "struct_extract", "struct_extract_at", "struct_insert", "struct_keys", "struct_pack",
    "struct_position", "struct_update", "struct_values", "substring", "subtract", "sum", "sum_distinct", "tan", "tanh",
    "text_slice", "time_bucket", "to_base", "to_base64", "to_date", "to_json", "to_timestamp", "translate", "trim",
    "trunc", "try_add", "try_from_json", "try_multiply", "try_strptime", "try_subtract", "typeof", "unhex", "unicode",
    "upper", "url_decode", "url_encode", "values_by_frequency", "var", "var_distinct", "var_pop", "week", "weeks",
    "weighted_avg", "width_bucket", "year", "yearweek",
]  # fmt: skip

if not TYPE_CHECKING:  # to a type checker, what is not here is an error

    def __getattr__(name: str) -> Never:
        if name.startswith("_"):
            raise AttributeError(name)
        raise UnknownMethod("gpuetl.functions", name, method_hint(name), "function")


def is_in(x: Expression, values: Iterable[Expression | Scalar | None]) -> Expression:
    """`x IN (…)`: null if x is null, or if it is not found and a value is null."""
    return x.is_in(values)


def count(x: Expression | None = None) -> Expression:
    """The number of values of `x` that are not null; without x, `count(*)`, the number of rows."""
    return call("count_rows", ()) if x is None else function_call("count", (x,))


def list_value(*values: IntoExpression) -> Expression:
    """The list of these values, nulls included: `list_value(col("x"), 1)` is `[x, 1]`."""
    return function_call("list_value", values)


def struct_pack(**fields: IntoExpression) -> Expression:
    """A struct of named values: `struct_pack(a=col("x"))` is `struct_pack(a := x)`."""
    return struct(**fields)


def json_object(**fields: IntoExpression) -> Expression:
    """The JSON object of named values: `json_object(a=col("x"))` is `json_object('a', x)`; never null."""
    return function_call("json_object", tuple(part for pair in fields.items() for part in pair))


def struct_insert(x: Expression, **fields: IntoExpression) -> Expression:
    """The struct with more fields: `struct_insert(col("s"), b=1)` is `struct_insert(s, b := 1)`."""
    return x.struct_insert(**fields)


def struct_update(x: Expression, **fields: IntoExpression) -> Expression:
    """The struct with other values in fields, or with more: `struct_update(col("s"), a=1)` is `struct_update(s, a := 1)`."""
    return x.struct_update(**fields)


def add(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x + y`; of decimals, exactly; `date + n` is n days later.

    Null in any argument gives null.

    Example: `add(lit(1), 2)` is `3`.
    """
    return function_call("add", (x, y))


def subtract(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x - y`; of two timestamps, a duration; of two dates, days.

    Null in any argument gives null.

    Example: `subtract(lit(1), 2)` is `-1`.
    """
    return function_call("subtract", (x, y))


def multiply(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x * y`; of decimals, exactly.

    Null in any argument gives null.

    Example: `multiply(lit(3), 4)` is `12`.
    """
    return function_call("multiply", (x, y))


def divide(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x / y` in float64: 1/0 is inf, 0/0 is NaN.

    Null in any argument gives null.

    Example: `divide(lit(7), 2)` is `3.5`.
    """
    return function_call("divide", (x, y))


def int_divide(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x // y`, truncated toward zero; null where y is 0.

    Null in any argument gives null.

    Example: `int_divide(lit(-7), 2)` is `-3`.
    """
    return function_call("int_divide", (x, y))


def modulo(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x % y` with the sign of x; null where y is 0, of floats NaN.

    Null in any argument gives null.

    Example: `modulo(lit(-7), 2)` is `-1`.
    """
    return function_call("modulo", (x, y))


def negate(x: IntoExpression) -> Expression:
    """`-x`.

    Null in any argument gives null.

    Example: `negate(lit(1).add(1))` is `-2`.
    """
    return function_call("negate", (x,))


def abs(x: IntoExpression) -> Expression:
    """The absolute value.

    Null in any argument gives null.

    Example: `abs(lit(-3))` is `3`.
    """
    return function_call("abs", (x,))


def sign(x: IntoExpression) -> Expression:
    """-1, 0 or 1; NaN of NaN; int64 of a decimal.

    Null in any argument gives null.

    Example: `sign(lit(-3))` is `-1`.
    """
    return function_call("sign", (x,))


def round(x: IntoExpression, digits: int | Expression | None = None) -> Expression:
    """To `digits` places after the point (0), half to even.

    A decimal may get a digit more.

    Null in any argument gives null.

    Example: `round(lit(2.5))` is `2.0`.
    """
    return function_call("round", (x,), (digits,))


def floor(x: IntoExpression) -> Expression:
    """The greatest whole number not above x, in x's type.

    A decimal may get a digit more.

    Null in any argument gives null.

    Example: `floor(lit(-1.5))` is `-2.0`.
    """
    return function_call("floor", (x,))


def ceil(x: IntoExpression) -> Expression:
    """The least whole number not below x, in x's type.

    A decimal may get a digit more.

    Null in any argument gives null.

    Example: `ceil(lit(-1.5))` is `-1.0`.
    """
    return function_call("ceil", (x,))


def trunc(x: IntoExpression, digits: int | Expression | None = None) -> Expression:
    """x without what is behind `digits` places after the point (0), in x's type.

    Null in any argument gives null.

    Example: `trunc(lit(-1.57), 1)` is `-1.5`.
    """
    return function_call("trunc", (x,), (digits,))


def try_add(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x + y`; null where integers overflow.

    Null in any argument gives null.

    Example: `try_add(lit(9223372036854775807), 1)` is `None`.
    """
    return function_call("try_add", (x, y))


def try_subtract(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x - y`; null where integers overflow.

    Null in any argument gives null.

    Example: `try_subtract(lit(1), 2)` is `-1`.
    """
    return function_call("try_subtract", (x, y))


def try_multiply(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x * y`; null where integers overflow.

    Null in any argument gives null.

    Example: `try_multiply(lit(9223372036854775807), 2)` is `None`.
    """
    return function_call("try_multiply", (x, y))


def bit_and(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x & y`: the bits that are set in both integers.

    Null in any argument gives null.

    Example: `bit_and(lit(12), 10)` is `8`.
    """
    return function_call("bit_and", (x, y))


def bit_or(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x | y`: the bits that are set in either integer.

    Null in any argument gives null.

    Example: `bit_or(lit(12), 10)` is `14`.
    """
    return function_call("bit_or", (x, y))


def bit_xor(x: IntoExpression, y: IntoExpression) -> Expression:
    """The bits that are set in one of the integers only.

    Null in any argument gives null.

    Example: `bit_xor(lit(12), 10)` is `6`.
    """
    return function_call("bit_xor", (x, y))


def bit_not(x: IntoExpression) -> Expression:
    """`~x`: every bit of the int64 turned over, -x - 1.

    Null in any argument gives null.

    Example: `bit_not(lit(12))` is `-13`.
    """
    return function_call("bit_not", (x,))


def shift_left(x: IntoExpression, bits: IntoExpression) -> Expression:
    """`x << bits`: the bits of the int64 moved up, those that leave lost.

    Null unless 0 <= `bits` <= 63.

    Null in any argument gives null.

    Example: `shift_left(lit(3), 2)` is `12`.
    """
    return function_call("shift_left", (x, bits))


def shift_right(x: IntoExpression, bits: IntoExpression) -> Expression:
    """`x >> bits`: the bits moved down, the sign kept.

    Null unless 0 <= `bits` <= 63.

    Null in any argument gives null.

    Example: `shift_right(lit(-8), 1)` is `-4`.
    """
    return function_call("shift_right", (x, bits))


def clip(x: IntoExpression, low: IntoExpression, high: IntoExpression) -> Expression:
    """x limited to the range from `low` to `high`; NaN stays NaN.

    Null in any argument gives null.

    Example: `clip(lit(7), 1, 5)` is `5`.
    """
    return function_call("clip", (x, low, high))


def gcd(x: IntoExpression, y: IntoExpression) -> Expression:
    """The greatest common divisor, not negative; of 0 and 0 it is 0.

    Null in any argument gives null.

    Example: `gcd(lit(12), -18)` is `6`.
    """
    return function_call("gcd", (x, y))


def lcm(x: IntoExpression, y: IntoExpression) -> Expression:
    """The least common multiple, not negative; 0 if one of them is 0.

    Null in any argument gives null.

    Example: `lcm(lit(4), -6)` is `12`.
    """
    return function_call("lcm", (x, y))


def factorial(x: IntoExpression) -> Expression:
    """The product of 1 to x, for x from 0 to 20; an error for others.

    Null in any argument gives null.

    Example: `factorial(lit(5))` is `120`.
    """
    return function_call("factorial", (x,))


def binom(n: IntoExpression, k: IntoExpression) -> Expression:
    """In how many ways k of n things are chosen; 0 if k is more than n.

    An error for negative numbers, and beyond int64.

    Null in any argument gives null.

    Example: `binom(lit(5), 2)` is `10`.
    """
    return function_call("binom", (n, k))


def bit_count(x: IntoExpression) -> Expression:
    """How many of the int64's bits are set.

    Null in any argument gives null.

    Example: `bit_count(lit(255))` is `8`.
    """
    return function_call("bit_count", (x,))


def bin(x: IntoExpression) -> Expression:
    """The digits in base 2; of a negative integer all 64 bits.

    Null in any argument gives null.

    Example: `bin(lit(5))` is `"101"`.
    """
    return function_call("bin", (x,))


def to_base(x: IntoExpression, base: int | Expression, digits: int | Expression | None = None) -> Expression:
    """The digits in a base from 2 to 36, at least `digits` (1) of them, behind a minus sign if x is negative.

    Null in any argument gives null.

    Example: `to_base(lit(255), 16, 4)` is `"00FF"`.
    """
    return function_call("to_base", (x, base), (digits,))


def width_bucket(x: IntoExpression, low: float | Expression, high: float | Expression, count: int | Expression) -> Expression:
    """The bucket of x, from 1, where `count` buckets of equal width lie from `low` to below `high`.

    0 below them, `count` + 1 above them, and of NaN.

    Null in any argument gives null.

    Example: `width_bucket(lit(5.35), 0, 10, 5)` is `3`.
    """
    return function_call("width_bucket", (x, low, high, count))


def sqrt(x: IntoExpression) -> Expression:
    """The square root; NaN of a negative number.

    Null in any argument gives null.

    Example: `sqrt(lit(9))` is `3.0`.
    """
    return function_call("sqrt", (x,))


def exp(x: IntoExpression) -> Expression:
    """e to the power of x.

    Null in any argument gives null.

    Example: `exp(lit(0))` is `1.0`.
    """
    return function_call("exp", (x,))


def ln(x: IntoExpression) -> Expression:
    """The natural logarithm; -inf of 0, NaN of a negative number.

    Null in any argument gives null.

    Example: `ln(lit(1))` is `0.0`.
    """
    return function_call("ln", (x,))


def log10(x: IntoExpression) -> Expression:
    """The logarithm to base 10.

    Null in any argument gives null.

    Example: `log10(lit(1000))` is `3.0`.
    """
    return function_call("log10", (x,))


def log2(x: IntoExpression) -> Expression:
    """The logarithm to base 2.

    Null in any argument gives null.

    Example: `log2(lit(8))` is `3.0`.
    """
    return function_call("log2", (x,))


def log(base: int | Expression, x: IntoExpression) -> Expression:
    """The logarithm of x to a base: log10(x) / log10(base).

    Null in any argument gives null.

    Example: `log(2, lit(8))` is `3.0`.
    """
    return function_call("log", (base, x))


def power(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x ** y`: x to the power of y, in floating point.

    Null in any argument gives null.

    Example: `power(lit(2), 10)` is `1024.0`.
    """
    return function_call("power", (x, y))


def sin(x: IntoExpression) -> Expression:
    """The sine of x radians.

    Null in any argument gives null.

    Example: `sin(lit(0))` is `0.0`.
    """
    return function_call("sin", (x,))


def cos(x: IntoExpression) -> Expression:
    """The cosine of x radians.

    Null in any argument gives null.

    Example: `cos(lit(0))` is `1.0`.
    """
    return function_call("cos", (x,))


def tan(x: IntoExpression) -> Expression:
    """The tangent of x radians.

    Null in any argument gives null.

    Example: `tan(lit(0))` is `0.0`.
    """
    return function_call("tan", (x,))


def cot(x: IntoExpression) -> Expression:
    """The cotangent of x radians, 1 / tan(x).

    Null in any argument gives null.

    Example: `cot(pi().divide(4))` is `1.0`.
    """
    return function_call("cot", (x,))


def asin(x: IntoExpression) -> Expression:
    """The arc sine in radians; NaN outside [-1, 1].

    Null in any argument gives null.

    Example: `asin(lit(0))` is `0.0`.
    """
    return function_call("asin", (x,))


def acos(x: IntoExpression) -> Expression:
    """The arc cosine in radians; NaN outside [-1, 1].

    Null in any argument gives null.

    Example: `acos(lit(1))` is `0.0`.
    """
    return function_call("acos", (x,))


def atan(x: IntoExpression) -> Expression:
    """The arc tangent in radians.

    Null in any argument gives null.

    Example: `atan(lit(0))` is `0.0`.
    """
    return function_call("atan", (x,))


def atan2(y: IntoExpression, x: IntoExpression) -> Expression:
    """The angle of the point (x, y) in radians.

    Null in any argument gives null.

    Example: `atan2(lit(0), 1)` is `0.0`.
    """
    return function_call("atan2", (y, x))


def radians(x: IntoExpression) -> Expression:
    """Degrees to radians.

    Null in any argument gives null.

    Example: `radians(lit(180))` is `3.141592653589793`.
    """
    return function_call("radians", (x,))


def degrees(x: IntoExpression) -> Expression:
    """Radians to degrees.

    Null in any argument gives null.

    Example: `degrees(lit(0))` is `0.0`.
    """
    return function_call("degrees", (x,))


def cbrt(x: IntoExpression) -> Expression:
    """The cube root.

    Null in any argument gives null.

    Example: `cbrt(lit(-27))` is `-3.0`.
    """
    return function_call("cbrt", (x,))


def hypot(x: IntoExpression, y: IntoExpression) -> Expression:
    """The length of the vector (x, y), without overflow on the way.

    Null in any argument gives null.

    Example: `hypot(lit(3), 4)` is `5.0`.
    """
    return function_call("hypot", (x, y))


def expm1(x: IntoExpression) -> Expression:
    """e to the power of x, less 1; exact near 0.

    Null in any argument gives null.

    Example: `expm1(lit(0))` is `0.0`.
    """
    return function_call("expm1", (x,))


def log1p(x: IntoExpression) -> Expression:
    """The natural logarithm of 1 + x; exact near 0.

    Null in any argument gives null.

    Example: `log1p(lit(0))` is `0.0`.
    """
    return function_call("log1p", (x,))


def sinh(x: IntoExpression) -> Expression:
    """The hyperbolic sine.

    Null in any argument gives null.

    Example: `sinh(lit(0))` is `0.0`.
    """
    return function_call("sinh", (x,))


def cosh(x: IntoExpression) -> Expression:
    """The hyperbolic cosine.

    Null in any argument gives null.

    Example: `cosh(lit(0))` is `1.0`.
    """
    return function_call("cosh", (x,))


def tanh(x: IntoExpression) -> Expression:
    """The hyperbolic tangent.

    Null in any argument gives null.

    Example: `tanh(lit(0))` is `0.0`.
    """
    return function_call("tanh", (x,))


def asinh(x: IntoExpression) -> Expression:
    """The inverse hyperbolic sine.

    Null in any argument gives null.

    Example: `asinh(lit(0))` is `0.0`.
    """
    return function_call("asinh", (x,))


def acosh(x: IntoExpression) -> Expression:
    """The inverse hyperbolic cosine; NaN below 1.

    Null in any argument gives null.

    Example: `acosh(lit(1))` is `0.0`.
    """
    return function_call("acosh", (x,))


def atanh(x: IntoExpression) -> Expression:
    """The inverse hyperbolic tangent; NaN outside [-1, 1].

    Null in any argument gives null.

    Example: `atanh(lit(0))` is `0.0`.
    """
    return function_call("atanh", (x,))


def gamma(x: IntoExpression) -> Expression:
    """The gamma function, (x - 1)! of a whole number.

    Inf at 0 and NaN at negative whole numbers.

    Null in any argument gives null.

    Example: `gamma(lit(5))` is `24.0`.
    """
    return function_call("gamma", (x,))


def lgamma(x: IntoExpression) -> Expression:
    """The natural logarithm of the gamma function's absolute value.

    Inf at 0 and at negative whole numbers.

    Null in any argument gives null.

    Example: `lgamma(lit(1))` is `0.0`.
    """
    return function_call("lgamma", (x,))


def fdiv(x: IntoExpression, y: IntoExpression) -> Expression:
    """floor(x / y), in floating point.

    Null in any argument gives null.

    Example: `fdiv(lit(7), -2)` is `-4.0`.
    """
    return function_call("fdiv", (x, y))


def fmod(x: IntoExpression, y: IntoExpression) -> Expression:
    """x - floor(x / y) * y, in floating point: with the sign of y.

    Null in any argument gives null.

    Example: `fmod(lit(-7), 2)` is `1.0`.
    """
    return function_call("fmod", (x, y))


def even(x: IntoExpression) -> Expression:
    """The next even whole number away from 0.

    Null in any argument gives null.

    Example: `even(lit(-2.1))` is `-4.0`.
    """
    return function_call("even", (x,))


def nextafter(x: IntoExpression, y: IntoExpression) -> Expression:
    """The next float from x toward y.

    Null in any argument gives null.

    Example: `nextafter(lit(1), 2)` is `1.0000000000000002`.
    """
    return function_call("nextafter", (x, y))


def signbit(x: IntoExpression) -> Expression:
    """Whether x has a sign: also -0.0.

    Null in any argument gives null.

    Example: `signbit(lit(-0.0))` is `True`.
    """
    return function_call("signbit", (x,))


def pi() -> Expression:
    """The ratio of a circle's circumference to its diameter.

    Example: `pi()` is `3.141592653589793`.
    """
    return call("pi", ())


def is_finite(x: IntoExpression) -> Expression:
    """Whether x is neither infinite nor NaN.

    Null in any argument gives null.

    Example: `is_finite(lit(1.5))` is `True`.
    """
    return function_call("is_finite", (x,))


def is_infinite(x: IntoExpression) -> Expression:
    """Whether x is inf or -inf.

    Null in any argument gives null.

    Example: `is_infinite(lit(1).divide(0))` is `True`.
    """
    return function_call("is_infinite", (x,))


def is_nan(x: IntoExpression) -> Expression:
    """Whether x is NaN.

    Null in any argument gives null.

    Example: `is_nan(lit(0.0).divide(0.0))` is `True`.
    """
    return function_call("is_nan", (x,))


def equal(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x = y`.

    Null in any argument gives null.

    Example: `equal(lit(1), 1)` is `True`.
    """
    return function_call("equal", (x, y))


def not_equal(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x <> y`.

    Null in any argument gives null.

    Example: `not_equal(lit(1), 1)` is `False`.
    """
    return function_call("not_equal", (x, y))


def less(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x < y`.

    Null in any argument gives null.

    Example: `less(lit(1), 2)` is `True`.
    """
    return function_call("less", (x, y))


def less_equal(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x <= y`.

    Null in any argument gives null.

    Example: `less_equal(lit(2), 1)` is `False`.
    """
    return function_call("less_equal", (x, y))


def greater(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x > y`.

    Null in any argument gives null.

    Example: `greater(lit(2), 1)` is `True`.
    """
    return function_call("greater", (x, y))


def greater_equal(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x >= y`.

    Null in any argument gives null.

    Example: `greater_equal(lit(1), 2)` is `False`.
    """
    return function_call("greater_equal", (x, y))


def is_distinct(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x IS DISTINCT FROM y`: `<>` where null is a value.

    Never null.

    Example: `is_distinct(lit(1), None)` is `True`.
    """
    return function_call("is_distinct", (x, y))


def is_not_distinct(x: IntoExpression, y: IntoExpression) -> Expression:
    """`x IS NOT DISTINCT FROM y`: `=` where null is a value.

    Never null.

    Example: `is_not_distinct(lit(None), None)` is `True`.
    """
    return function_call("is_not_distinct", (x, y))


def and_(x: IntoExpression, y: IntoExpression, *more: IntoExpression) -> Expression:
    """Kleene AND: false and null is false.

    Both sides are computed for every row: an error in one is not hidden by the other. To guard a cast, write `CASE` or
    `TRY_CAST`.

    Example: `and_(lit(False), None)` is `False`.
    """
    return function_call("and", (x, y, *more))


def or_(x: IntoExpression, y: IntoExpression, *more: IntoExpression) -> Expression:
    """Kleene OR: true or null is true.

    Both sides are computed for every row, as of `and`.

    Example: `or_(lit(True), None)` is `True`.
    """
    return function_call("or", (x, y, *more))


def not_(x: IntoExpression) -> Expression:
    """Kleene NOT: null of null.

    Null in any argument gives null.

    Example: `not_(lit(False))` is `True`.
    """
    return function_call("not", (x,))


def is_null(x: IntoExpression) -> Expression:
    """`x IS NULL`.

    NaN is not null.

    Example: `is_null(lit(None))` is `True`.
    """
    return function_call("is_null", (x,))


def case(condition: IntoExpression, value: IntoExpression, *more: IntoExpression) -> Expression:
    """`CASE WHEN condition THEN value … ELSE value END`: the first branch whose condition is true, else null.

    `if(condition, value, otherwise)` is short for it.

    Example: `case(lit(1).greater(2), "a", "b")` is `"b"`.
    """
    return function_call("case", (condition, value, *more))


def cut(x: IntoExpression, breaks: Sequence[Scalar] | Expression, labels: Sequence[Scalar] | Expression | None = None, left_closed: bool | Expression | None = None) -> Expression:
    """The label of the bin of x, where `breaks`, a list of constants, ascend: n breaks make n + 1 bins.

    A break belongs to the bin below it, or, with `left_closed`, to the one above. Without labels, a bin is a text such
    as `(0, 10]`. NaN is in the last bin.

    Null in any argument gives null.

    Example: `cut(12, [0, 10], ["low", "middle", "high"])` is `"high"`.
    """
    return function_call("cut", (x, breaks), (labels, left_closed))


def coalesce(x: IntoExpression, *more: IntoExpression) -> Expression:
    """The first value that is not null.

    What can fail is computed only for rows that are still null.

    Example: `coalesce(lit(None), 2, 3)` is `2`.
    """
    return function_call("coalesce", (x, *more))


def nullif(x: IntoExpression, y: IntoExpression) -> Expression:
    """Null where x equals y, else x.

    Example: `nullif(lit(1), 1)` is `None`.
    """
    return function_call("nullif", (x, y))


def greatest(x: IntoExpression, *more: IntoExpression) -> Expression:
    """The greatest value that is not null.

    NaN is the greatest.

    Example: `greatest(lit(1), None, 3)` is `3`.
    """
    return function_call("greatest", (x, *more))


def least(x: IntoExpression, *more: IntoExpression) -> Expression:
    """The least value that is not null.

    NaN is the greatest.

    Example: `least(lit(1), None, 3)` is `1`.
    """
    return function_call("least", (x, *more))


def concat(x: IntoExpression, y: IntoExpression, *more: IntoExpression) -> Expression:
    """`x || y`; null if any is.

    Null in any argument gives null.

    Example: `concat(lit("ab"), "cd")` is `"abcd"`.
    """
    return function_call("concat", (x, y, *more))


def concat_ws(separator: str | Expression, x: IntoExpression, *more: IntoExpression) -> Expression:
    """The strings that are not null, with the separator between them.

    Null only where the separator is.

    Example: `concat_ws("-", lit("a"), None, "b")` is `"a-b"`.
    """
    return function_call("concat_ws", (separator, x, *more))


def length(text: IntoExpression) -> Expression:
    """The number of code points.

    Null in any argument gives null.

    Example: `length(lit("añb"))` is `3`.
    """
    return function_call("length", (text,))


def byte_length(text: IntoExpression) -> Expression:
    """The number of bytes of binary, or of a string in UTF-8.

    Null in any argument gives null.

    Example: `byte_length(lit("añb"))` is `4`.
    """
    return function_call("byte_length", (text,))


def upper(text: IntoExpression) -> Expression:
    """In upper case, code point by code point.

    What has no upper case of one code point stays: `ß`.

    Null in any argument gives null.

    Example: `upper(lit("añb"))` is `"AÑB"`.
    """
    return function_call("upper", (text,))


def lower(text: IntoExpression) -> Expression:
    """In lower case, code point by code point.

    What has no lower case of one code point stays.

    Null in any argument gives null.

    Example: `lower(lit("AÑB"))` is `"añb"`.
    """
    return function_call("lower", (text,))


def initcap(text: IntoExpression) -> Expression:
    """Each word's first letter in upper case, the rest in lower case.

    Words are runs of letters, digits and marks.

    Null in any argument gives null.

    Example: `initcap(lit("JEAN-luc"))` is `"Jean-Luc"`.
    """
    return function_call("initcap", (text,))


def trim(text: IntoExpression, characters: str | Expression | None = None) -> Expression:
    """Without white space (of ASCII) at both ends, or without any of `characters`.

    Null in any argument gives null.

    Example: `trim(lit("  ab "))` is `"ab"`.
    """
    return function_call("trim", (text,), (characters,))


def ltrim(text: IntoExpression, characters: str | Expression | None = None) -> Expression:
    """Without white space, or any of `characters`, at the start.

    Null in any argument gives null.

    Example: `ltrim(lit("007"), "0")` is `"7"`.
    """
    return function_call("ltrim", (text,), (characters,))


def rtrim(text: IntoExpression, characters: str | Expression | None = None) -> Expression:
    """Without white space, or any of `characters`, at the end.

    Null in any argument gives null.

    Example: `rtrim(lit("1.500"), "0")` is `"1.5"`.
    """
    return function_call("rtrim", (text,), (characters,))


def substring(text: IntoExpression, start: int | Expression, length: int | Expression | None = None) -> Expression:
    """`length` code points (all) from the 1-based `start`; a negative one counts from the end.

    Positions before the text count, but hold nothing. A negative `length` takes those before `start`.

    Null in any argument gives null.

    Example: `substring(lit("gpuetl"), 2, 3)` is `"pue"`.
    """
    return function_call("substring", (text, start), (length,))


def text_slice(text: IntoExpression, first: IntoExpression, last: IntoExpression) -> Expression:
    """`text[first:last]`.

    The code points from the 1-based place first to last, both included, from the end where negative; empty where there
    are none.

    Null in any argument gives null.

    Example: `text_slice(lit("gpuetl"), -3, -2)` is `"et"`.
    """
    return function_call("text_slice", (text, first, last))


def left(text: IntoExpression, count: int | Expression) -> Expression:
    """The first `count` code points.

    All but the last -`count` where it is negative.

    Null in any argument gives null.

    Example: `left(lit("gpuetl"), 3)` is `"gpu"`.
    """
    return function_call("left", (text, count))


def right(text: IntoExpression, count: int | Expression) -> Expression:
    """The last `count` code points.

    All but the first -`count` where it is negative.

    Null in any argument gives null.

    Example: `right(lit("gpuetl"), 3)` is `"etl"`.
    """
    return function_call("right", (text, count))


def replace(text: IntoExpression, old: str | Expression, new: str | Expression) -> Expression:
    """Every `old` replaced by `new`, from the left.

    Null in any argument gives null.

    Example: `replace(lit("a-b-c"), "-", "+")` is `"a+b+c"`.
    """
    return function_call("replace", (text, old, new))


def translate(text: IntoExpression, old: str | Expression, new: str | Expression) -> Expression:
    """Each character of `old` replaced by the one in its place in `new`, or taken out where `new` is shorter.

    Null in any argument gives null.

    Example: `translate(lit("1.234,5"), ",.", ".")` is `"1234.5"`.
    """
    return function_call("translate", (text, old, new))


def remove_prefix(text: IntoExpression, prefix: str | Expression) -> Expression:
    """Without `prefix`, where text begins with it.

    Null in any argument gives null.

    Example: `remove_prefix(lit("ORD-7"), "ORD-")` is `"7"`.
    """
    return function_call("remove_prefix", (text, prefix))


def remove_suffix(text: IntoExpression, suffix: str | Expression) -> Expression:
    """Without `suffix`, where text ends with it.

    Null in any argument gives null.

    Example: `remove_suffix(lit("a.csv"), ".csv")` is `"a"`.
    """
    return function_call("remove_suffix", (text, suffix))


def repeat(text: IntoExpression, count: int | Expression) -> Expression:
    """The text `count` times in a row, 1,000,000 at most.

    Empty where it is negative.

    Null in any argument gives null.

    Example: `repeat(lit("ab"), 3)` is `"ababab"`.
    """
    return function_call("repeat", (text, count))


def split_part(text: IntoExpression, separator: str | Expression, index: int | Expression) -> Expression:
    """The part at `index` between separators: from 1, or from -1 at the end; empty where there is none.

    An empty separator parts all characters.

    Null in any argument gives null.

    Example: `split_part(lit("a/b/c"), "/", 2)` is `"b"`.
    """
    return function_call("split_part", (text, separator, index))


def strpos(text: IntoExpression, part: str | Expression) -> Expression:
    """Where `part` begins, in code points from 1; 0 where it is not found.

    Null in any argument gives null.

    Example: `strpos(lit("añb"), "b")` is `3`.
    """
    return function_call("strpos", (text, part))


def reverse(text: IntoExpression) -> Expression:
    """The code points in reverse order.

    Null in any argument gives null.

    Example: `reverse(lit("abc"))` is `"cba"`.
    """
    return function_call("reverse", (text,))


def lpad(text: IntoExpression, length: int | Expression, fill: str | Expression | None = None) -> Expression:
    """Filled at the start (with spaces) to `length` code points, 1,000,000 at most.

    Longer text is kept whole, and a longer `fill` is repeated.

    Null in any argument gives null.

    Example: `lpad(lit("7"), 3, "0")` is `"007"`.
    """
    return function_call("lpad", (text, length), (fill,))


def rpad(text: IntoExpression, length: int | Expression, fill: str | Expression | None = None) -> Expression:
    """Filled at the end (with spaces) to `length` code points, 1,000,000 at most.

    Longer text is kept whole, and a longer `fill` is repeated.

    Null in any argument gives null.

    Example: `rpad(lit("7"), 3, "0")` is `"700"`.
    """
    return function_call("rpad", (text, length), (fill,))


def starts_with(text: IntoExpression, prefix: str | Expression) -> Expression:
    """Whether text begins with `prefix`.

    Null in any argument gives null.

    Example: `starts_with(lit("gpuetl"), "gpu")` is `True`.
    """
    return function_call("starts_with", (text, prefix))


def ends_with(text: IntoExpression, suffix: str | Expression) -> Expression:
    """Whether text ends with `suffix`.

    Null in any argument gives null.

    Example: `ends_with(lit("gpuetl"), "etl")` is `True`.
    """
    return function_call("ends_with", (text, suffix))


def contains(text: IntoExpression, part: str | Expression) -> Expression:
    """Whether text contains `part`.

    Null in any argument gives null.

    Example: `contains(lit("gpuetl"), "ue")` is `True`.
    """
    return function_call("contains", (text, part))


def like(text: IntoExpression, pattern: str | Expression, escape: str | Expression | None = None) -> Expression:
    """`text LIKE pattern`: % is any text, _ one code point.

    After `ESCAPE '!'`, !% and !_ are themselves.

    Null in any argument gives null.

    Example: `like(lit("gpuetl"), "g%l")` is `True`.
    """
    return function_call("like", (text, pattern), (escape,))


def ilike(text: IntoExpression, pattern: str | Expression, escape: str | Expression | None = None) -> Expression:
    """`text ILIKE pattern`: LIKE of both in lower case.

    Null in any argument gives null.

    Example: `ilike(lit("GPUetl"), "g%L")` is `True`.
    """
    return function_call("ilike", (text, pattern), (escape,))


def regexp_like(text: IntoExpression, pattern: str | Expression, options: str | Expression | None = None) -> Expression:
    """Whether the pattern is found anywhere in text.

    Also `text RLIKE pattern` and `text ~ pattern`, `!~` for not.

    Null in any argument gives null.

    Example: `regexp_like(lit("order 66"), "[0-9]+$")` is `True`.
    """
    return function_call("regexp_like", (text, pattern), (options,))


def regexp_full_match(text: IntoExpression, pattern: str | Expression, options: str | Expression | None = None) -> Expression:
    """Whether the pattern matches the whole text; also `text SIMILAR TO pattern`.

    Null in any argument gives null.

    Example: `regexp_full_match(lit("order 66"), r"\\d+")` is `False`.
    """
    return function_call("regexp_full_match", (text, pattern), (options,))


def regexp_extract(text: IntoExpression, pattern: str | Expression, group: int | Sequence[str] | Expression | None = None, options: str | Expression | None = None) -> Expression:
    """What the first match's group matched (0, the whole match), of several times the last.

    Null without a match, empty if the group took no part. A list of names, `['year', 'month']`, gives a struct of the
    first groups.

    Null in any argument gives null.

    Example: `regexp_extract(lit("a=1, b=2"), r"b=(\\d+)", 1)` is `"2"`.
    """
    return function_call("regexp_extract", (text, pattern), (group, options))


def regexp_extract_all(text: IntoExpression, pattern: str | Expression, group: int | Sequence[str] | Expression | None = None, options: str | Expression | None = None) -> Expression:
    """What a group (0, the whole match) matched in each match, as list<string>; null where it took no part.

    A list of names gives a list of structs.

    Null in any argument gives null.

    Example: `regexp_extract_all(lit("a=1, b=2"), r"(\\w)=\\d", 1)` is `["a", "b"]`.
    """
    return function_call("regexp_extract_all", (text, pattern), (group, options))


def regexp_split_to_array(text: IntoExpression, pattern: str | Expression, options: str | Expression | None = None) -> Expression:
    """The parts between the matches, as list<string>.

    Null in any argument gives null.

    Example: `regexp_split_to_array(lit("a, b,c"), r",\\s*")` is `["a", "b", "c"]`.
    """
    return function_call("regexp_split_to_array", (text, pattern), (options,))


def regexp_replace(text: IntoExpression, pattern: str | Expression, replacement: str | Expression, options: str | Expression | None = None) -> Expression:
    """Every match replaced, from the left; `\\1` to `\\9` are its groups, `\\0` is all of it, `\\\\` a backslash.

    `options` have a `g`.

    Null in any argument gives null.

    Example: `regexp_replace(lit("2024-03-09"), r"(\\d+)-(\\d+)-(\\d+)", r"\\3.\\2.\\1")` is `"09.03.2024"`.
    """
    return function_call("regexp_replace", (text, pattern, replacement), (options,))


def regexp_count(text: IntoExpression, pattern: str | Expression, options: str | Expression | None = None) -> Expression:
    """How many matches there are, none overlapping another.

    Null in any argument gives null.

    Example: `regexp_count(lit("a1b22"), r"\\d+")` is `2`.
    """
    return function_call("regexp_count", (text, pattern), (options,))


def ascii(text: IntoExpression) -> Expression:
    """The number of the first code point; 0 of an empty string.

    Null in any argument gives null.

    Example: `ascii(lit("añb"))` is `97`.
    """
    return function_call("ascii", (text,))


def unicode(text: IntoExpression) -> Expression:
    """The number of the first code point; -1 of an empty string.

    Null in any argument gives null.

    Example: `unicode(lit("ñ"))` is `241`.
    """
    return function_call("unicode", (text,))


def chr(number: IntoExpression) -> Expression:
    """The code point of a number; an error for a number that is none.

    Null in any argument gives null.

    Example: `chr(lit(241))` is `"ñ"`.
    """
    return function_call("chr", (number,))


def levenshtein(x: IntoExpression, y: IntoExpression) -> Expression:
    """The fewest code points to insert, delete or replace to make y of x.

    An error where both have more than 1,024.

    Null in any argument gives null.

    Example: `levenshtein(lit("kitten"), "sitting")` is `3`.
    """
    return function_call("levenshtein", (x, y))


def hamming(x: IntoExpression, y: IntoExpression) -> Expression:
    """The number of places at which the code points differ.

    An error for strings of two lengths.

    Null in any argument gives null.

    Example: `hamming(lit("duck"), "luck")` is `1`.
    """
    return function_call("hamming", (x, y))


def jaccard(x: IntoExpression, y: IntoExpression) -> Expression:
    """The share of the distinct code points of both that are in each.

    An error for an empty string.

    Null in any argument gives null.

    Example: `jaccard(lit("duck"), "luck")` is `0.6`.
    """
    return function_call("jaccard", (x, y))


def damerau_levenshtein(x: IntoExpression, y: IntoExpression) -> Expression:
    """As `levenshtein`, but two neighbours that change places count once.

    An error where a string has more than 256 code points.

    Null in any argument gives null.

    Example: `damerau_levenshtein(lit("from"), "form")` is `1`.
    """
    return function_call("damerau_levenshtein", (x, y))


def jaro_similarity(x: IntoExpression, y: IntoExpression) -> Expression:
    """The Jaro similarity of the code points, from 0 to 1.

    An error where a string has more than 1,024.

    Null in any argument gives null.

    Example: `jaro_similarity(lit("duck"), "luck")` is `0.8333333333333334`.
    """
    return function_call("jaro_similarity", (x, y))


def jaro_winkler_similarity(x: IntoExpression, y: IntoExpression) -> Expression:
    """The Jaro similarity, raised for up to 4 equal code points at the start where it is above 0.7.

    An error where a string has more than 1,024.

    Null in any argument gives null.

    Example: `jaro_winkler_similarity(lit("duck"), "duke")` is `0.8666666666666667`.
    """
    return function_call("jaro_winkler_similarity", (x, y))


def strip_accents(text: IntoExpression) -> Expression:
    """Letters without their accents and other marks, which also go where they stand alone.

    `ø` and `ß` have none.

    Null in any argument gives null.

    Example: `strip_accents(lit("Ñandú"))` is `"Nandu"`.
    """
    return function_call("strip_accents", (text,))


def url_encode(text: IntoExpression) -> Expression:
    """The UTF-8 bytes but letters, digits and `-_.~` of ASCII as %XX.

    Null in any argument gives null.

    Example: `url_encode(lit("a b/ñ"))` is `"a%20b%2F%C3%B1"`.
    """
    return function_call("url_encode", (text,))


def url_decode(text: IntoExpression) -> Expression:
    """Each %XX replaced by its byte, other text kept.

    An error where this is no UTF-8.

    Null in any argument gives null.

    Example: `url_decode(lit("a%20b%2F%C3%B1"))` is `"a b/ñ"`.
    """
    return function_call("url_decode", (text,))


def regexp_escape(text: IntoExpression) -> Expression:
    """A regular expression that matches the text alone.

    Null in any argument gives null.

    Example: `regexp_escape(lit("1.5 (a)"))` is `r"1\\.5\\ \\(a\\)"`.
    """
    return function_call("regexp_escape", (text,))


def parse_filename(path: IntoExpression, trim_extension: bool | str | Expression | None = None, separator: str | Expression | None = None) -> Expression:
    """The name behind the last separator.

    With `true` without what begins at its last dot.

    Null in any argument gives null.

    Example: `parse_filename(lit("data/2026/sales.csv"), True)` is `"sales"`.
    """
    return function_call("parse_filename", (path,), (trim_extension, separator))


def parse_dirpath(path: IntoExpression, separator: str | Expression | None = None) -> Expression:
    """What stands before the last separator.

    Null in any argument gives null.

    Example: `parse_dirpath(lit("data/2026/sales.csv"))` is `"data/2026"`.
    """
    return function_call("parse_dirpath", (path,), (separator,))


def parse_dirname(path: IntoExpression, separator: str | Expression | None = None) -> Expression:
    """The first folder, or the separator where a path begins with one.

    Empty where there is none.

    Null in any argument gives null.

    Example: `parse_dirname(lit("data/2026/sales.csv"))` is `"data"`.
    """
    return function_call("parse_dirname", (path,), (separator,))


def parse_path(path: IntoExpression, separator: str | Expression | None = None) -> Expression:
    """The folders and the name, as list<string>.

    A separator at the start is one of them.

    Null in any argument gives null.

    Example: `parse_path(lit("/data/sales.csv"))` is `["/", "data", "sales.csv"]`.
    """
    return function_call("parse_path", (path,), (separator,))


def format_bytes(x: IntoExpression) -> Expression:
    """A number of bytes in units of 1,024, with one digit after the point, which is not rounded.

    Null in any argument gives null.

    Example: `format_bytes(lit(16384))` is `"16.0 KiB"`.
    """
    return function_call("format_bytes", (x,))


def formatreadabledecimalsize(x: IntoExpression) -> Expression:
    """A number of bytes in units of 1,000, with one digit after the point, which is not rounded.

    Null in any argument gives null.

    Example: `formatreadabledecimalsize(lit(16000))` is `"16.0 kB"`.
    """
    return function_call("formatreadabledecimalsize", (x,))


def parse_formatted_bytes(text: IntoExpression) -> Expression:
    """The bytes of a text such as `1.5 GiB`.

    B, KB, MB, GB and TB are units of 1,000, KiB to TiB of 1,024, in any case.

    Null in any argument gives null.

    Example: `parse_formatted_bytes(lit("1.5 KiB"))` is `1536`.
    """
    return function_call("parse_formatted_bytes", (text,))


def bar(x: IntoExpression, low: float | Expression, high: float | Expression, width: float | Expression | None = None) -> Expression:
    """A bar of eighths of characters, filled up with spaces to `width` (80) where x is `high`.

    Empty at `low`.

    Null in any argument gives null.

    Example: `bar(lit(5), 0, 10, 4)` is `"██  "`.
    """
    return function_call("bar", (x, low, high), (width,))


def format(format: str | Expression, value: IntoExpression, *more: IntoExpression) -> Expression:
    """Text with values in the places of `{}`.

    Null in any argument gives null.

    Example: `format("{}: {:.2f}", "a", lit(1.5).cast("float64"))` is `"a: 1.50"`.
    """
    return function_call("format", (format, value, *more))


def printf(format: str | Expression, value: IntoExpression, *more: IntoExpression) -> Expression:
    """Text with values in the places of `%s`, `%d` and `%.2f`.

    Null in any argument gives null.

    Example: `printf("%05d|%-3s|", lit(42), "a")` is `"00042|a  |"`.
    """
    return function_call("printf", (format, value, *more))


def year(x: IntoExpression) -> Expression:
    """The year.

    Null in any argument gives null.

    Example: `year(lit(date(2013, 3, 9)))` is `2013`.
    """
    return function_call("year", (x,))


def decade(x: IntoExpression) -> Expression:
    """The year by 10, without its fraction.

    Null in any argument gives null.

    Example: `decade(lit(date(2013, 3, 9)))` is `201`.
    """
    return function_call("decade", (x,))


def century(x: IntoExpression) -> Expression:
    """The century: 2001 to 2100 are the 21st; that of the year 0 is -1.

    Null in any argument gives null.

    Example: `century(lit(date(2013, 3, 9)))` is `21`.
    """
    return function_call("century", (x,))


def millennium(x: IntoExpression) -> Expression:
    """The millennium: 2001 to 3000 are the third; that of the year 0 is -1.

    Null in any argument gives null.

    Example: `millennium(lit(date(2013, 3, 9)))` is `3`.
    """
    return function_call("millennium", (x,))


def era(x: IntoExpression) -> Expression:
    """1 from the year 1 on, else 0.

    Null in any argument gives null.

    Example: `era(lit(date(2013, 3, 9)))` is `1`.
    """
    return function_call("era", (x,))


def yearweek(x: IntoExpression) -> Expression:
    """The ISO year and week in one number.

    Null in any argument gives null.

    Example: `yearweek(lit(date(2013, 3, 9)))` is `201310`.
    """
    return function_call("yearweek", (x,))


def julian(x: IntoExpression) -> Expression:
    """The Julian day number, from midnight, with the day's fraction.

    Null in any argument gives null.

    Example: `julian(lit(date(2013, 3, 9)))` is `2456361.0`.
    """
    return function_call("julian", (x,))


def quarter(x: IntoExpression) -> Expression:
    """The quarter, 1 to 4.

    Null in any argument gives null.

    Example: `quarter(lit(date(2013, 3, 9)))` is `1`.
    """
    return function_call("quarter", (x,))


def month(x: IntoExpression) -> Expression:
    """The month, 1 to 12.

    Null in any argument gives null.

    Example: `month(lit(date(2013, 3, 9)))` is `3`.
    """
    return function_call("month", (x,))


def week(x: IntoExpression) -> Expression:
    """The ISO week, 1 to 53.

    Null in any argument gives null.

    Example: `week(lit(date(2013, 3, 9)))` is `10`.
    """
    return function_call("week", (x,))


def iso_year(x: IntoExpression) -> Expression:
    """The year to which the ISO week belongs.

    Null in any argument gives null.

    Example: `iso_year(lit(date(2012, 12, 31)))` is `2013`.
    """
    return function_call("iso_year", (x,))


def day(x: IntoExpression) -> Expression:
    """The day of the month.

    Null in any argument gives null.

    Example: `day(lit(date(2013, 3, 9)))` is `9`.
    """
    return function_call("day", (x,))


def dayofweek(x: IntoExpression) -> Expression:
    """The day of the week: Sunday is 0, Saturday 6.

    Null in any argument gives null.

    Example: `dayofweek(lit(date(2013, 3, 9)))` is `6`.
    """
    return function_call("dayofweek", (x,))


def isodow(x: IntoExpression) -> Expression:
    """The ISO day of the week: Monday is 1, Sunday 7.

    Null in any argument gives null.

    Example: `isodow(lit(date(2013, 3, 9)))` is `6`.
    """
    return function_call("isodow", (x,))


def dayofyear(x: IntoExpression) -> Expression:
    """The day of the year, from 1.

    Null in any argument gives null.

    Example: `dayofyear(lit(date(2013, 3, 9)))` is `68`.
    """
    return function_call("dayofyear", (x,))


def hour(x: IntoExpression) -> Expression:
    """The hour, 0 to 23.

    Null in any argument gives null.

    Example: `hour(lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")))` is `17`.
    """
    return function_call("hour", (x,))


def minute(x: IntoExpression) -> Expression:
    """The minute.

    Null in any argument gives null.

    Example: `minute(lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")))` is `5`.
    """
    return function_call("minute", (x,))


def second(x: IntoExpression) -> Expression:
    """The second, whole.

    Null in any argument gives null.

    Example: `second(lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")))` is `30`.
    """
    return function_call("second", (x,))


def millisecond(x: IntoExpression) -> Expression:
    """The whole milliseconds of the second, 0 to 999.

    Null in any argument gives null.

    Example: `millisecond(lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")))` is `250`.
    """
    return function_call("millisecond", (x,))


def microsecond(x: IntoExpression) -> Expression:
    """The microseconds of the second, 0 to 999,999 (of the millisecond in Arrow).

    Null in any argument gives null.

    Example: `microsecond(lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")))` is `250000`.
    """
    return function_call("microsecond", (x,))


def day_name(x: IntoExpression) -> Expression:
    """The English name of the day of the week.

    Null in any argument gives null.

    Example: `day_name(lit(date(2013, 3, 9)))` is `"Saturday"`.
    """
    return function_call("day_name", (x,))


def month_name(x: IntoExpression) -> Expression:
    """The English name of the month.

    Null in any argument gives null.

    Example: `month_name(lit(date(2013, 3, 9)))` is `"March"`.
    """
    return function_call("month_name", (x,))


def last_day(x: IntoExpression) -> Expression:
    """The last day of the month.

    Null in any argument gives null.

    Example: `last_day(lit(date(2013, 3, 9)))` is `date(2013, 3, 31)`.
    """
    return function_call("last_day", (x,))


def days_in_month(x: IntoExpression) -> Expression:
    """How many days the month has.

    Null in any argument gives null.

    Example: `days_in_month(lit(date(2013, 3, 9)))` is `31`.
    """
    return function_call("days_in_month", (x,))


def is_leap_year(x: IntoExpression) -> Expression:
    """Whether the year has 366 days.

    Null in any argument gives null.

    Example: `is_leap_year(lit(date(2013, 3, 9)))` is `False`.
    """
    return function_call("is_leap_year", (x,))


def to_date(x: IntoExpression) -> Expression:
    """The day of a timestamp.

    Null in any argument gives null.

    Example: `to_date(lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")))` is `date(2013, 3, 9)`.
    """
    return function_call("to_date", (x,))


def epoch(x: IntoExpression) -> Expression:
    """Seconds since 1970-01-01 (UTC where zoned), of a time or a duration, with their fraction.

    Null in any argument gives null.

    Example: `epoch(lit(datetime.fromisoformat("1970-01-01 00:01:00.500000")))` is `60.5`.
    """
    return function_call("epoch", (x,))


def epoch_ms(x: IntoExpression) -> Expression:
    """Milliseconds since 1970-01-01 (UTC where zoned), of a time or a duration, rounded down.

    Of an integer, `from_epoch_ms`.

    Null in any argument gives null.

    Example: `epoch_ms(lit(datetime.fromisoformat("1970-01-01 00:01:00.500000")))` is `60500`.
    """
    return function_call("epoch_ms", (x,))


def epoch_us(x: IntoExpression) -> Expression:
    """Microseconds since 1970-01-01 (UTC where zoned), of a time or a duration.

    Null in any argument gives null.

    Example: `epoch_us(lit(datetime.fromisoformat("1970-01-01 00:01:00.500000")))` is `60500000`.
    """
    return function_call("epoch_us", (x,))


def epoch_ns(x: IntoExpression) -> Expression:
    """Nanoseconds since 1970-01-01 (UTC where zoned), of a time or a duration.

    Null in any argument gives null.

    Example: `epoch_ns(lit(datetime.fromisoformat("1970-01-01 00:01:00.500000")))` is `60500000000`.
    """
    return function_call("epoch_ns", (x,))


def make_date(year: IntoExpression, month: IntoExpression, day: IntoExpression) -> Expression:
    """The date of the parts; an error if they are not a valid date.

    Null in any argument gives null.

    Example: `make_date(lit(2013), 3, 9)` is `date(2013, 3, 9)`.
    """
    return function_call("make_date", (year, month, day))


def make_timestamp(year: IntoExpression, month: IntoExpression, day: IntoExpression, hour: IntoExpression, minute: IntoExpression, second: IntoExpression = None) -> Expression:
    """The naive timestamp of the parts; an error if they are not a valid date and time.

    Seconds may have a fraction.

    Null in any argument gives null.

    Example: `make_timestamp(lit(2013), 3, 9, 17, 5)` is `datetime.fromisoformat("2013-03-09 17:05:00")`.
    """
    return function_call("make_timestamp", (year, month, day, hour, minute), (second,))


def make_time(hour: IntoExpression, minute: IntoExpression, second: IntoExpression) -> Expression:
    """The time of day of the parts; an error if they are not one.

    Seconds may have a fraction.

    Null in any argument gives null.

    Example: `make_time(lit(17), 5, 30.25)` is `time.fromisoformat("17:05:30.250000")`.
    """
    return function_call("make_time", (hour, minute, second))


def to_timestamp(seconds: IntoExpression) -> Expression:
    """The instant, in UTC, of seconds since 1970, as of `from_epoch`.

    Null in any argument gives null.

    Example: `to_timestamp(lit(60.5))` is `datetime.fromisoformat("1970-01-01 00:01:00.500000+00:00")`.
    """
    return function_call("to_timestamp", (seconds,))


def from_epoch(seconds: IntoExpression) -> Expression:
    """The naive timestamp, in UTC, of seconds since 1970.

    A fraction is rounded to microseconds, half to even.

    Null in any argument gives null.

    Example: `from_epoch(lit(60.5))` is `datetime.fromisoformat("1970-01-01 00:01:00.500000")`.
    """
    return function_call("from_epoch", (seconds,))


def from_epoch_ms(milliseconds: IntoExpression) -> Expression:
    """The naive timestamp, in UTC, of whole milliseconds since 1970.

    Null in any argument gives null.

    Example: `from_epoch_ms(lit(60500))` is `datetime.fromisoformat("1970-01-01 00:01:00.500000")`.
    """
    return function_call("from_epoch_ms", (milliseconds,))


def from_epoch_us(microseconds: IntoExpression) -> Expression:
    """The naive timestamp, in UTC, of microseconds since 1970.

    Null in any argument gives null.

    Example: `from_epoch_us(lit(60500000))` is `datetime.fromisoformat("1970-01-01 00:01:00.500000")`.
    """
    return function_call("from_epoch_us", (microseconds,))


def date_add(x: IntoExpression, interval: timedelta | Expression) -> Expression:
    """`x + INTERVAL '1 month'`: months later, on the month's last day if it has no such day.

    Then the interval's days and hours. Of a date, a timestamp. A zoned one is moved on its clock.

    Null in any argument gives null.

    Example: `date_add(lit(date(2013, 1, 31)), expr("INTERVAL '1 month'"))` is `datetime.fromisoformat("2013-02-28 00:00:00")`.
    """
    return function_call("date_add", (x, interval))


def add_days(x: IntoExpression, n: IntoExpression) -> Expression:
    """n days later, on the clock; a date stays a date.

    Null in any argument gives null.

    Example: `add_days(lit(date(2013, 3, 9)), -9)` is `date(2013, 2, 28)`.
    """
    return function_call("add_days", (x, n))


def add_months(x: IntoExpression, n: IntoExpression) -> Expression:
    """n months later, on the clock; the month's last day if it has no such day.

    Null in any argument gives null.

    Example: `add_months(lit(date(2013, 1, 31)), 1)` is `date(2013, 2, 28)`.
    """
    return function_call("add_months", (x, n))


def date_diff(unit: DateUnit | Expression, a: IntoExpression, b: IntoExpression) -> Expression:
    """How many units (millennium, century, decade, year, quarter, month, week, day, hour, minute, second, millisecond, microsecond) begin after a and up to b: the `date_trunc` of b less that of a, in units.

    Null in any argument gives null.

    Example: `date_diff("month", lit(date(2013, 3, 9)), date(2013, 5, 1))` is `2`.
    """
    return function_call("date_diff", (unit, a, b))


def date_sub(unit: DateUnit | Expression, a: IntoExpression, b: IntoExpression) -> Expression:
    """How many whole units pass from a to b: negative ones if b is before a.

    A month is complete at the same day and time of the next one, or on its last day. Days and longer units of zoned
    timestamps are those of the clock.

    Null in any argument gives null.

    Example: `date_sub("month", lit(date(2013, 1, 31)), date(2013, 2, 28))` is `1`.
    """
    return function_call("date_sub", (unit, a, b))


def date_trunc(unit: DateUnit | Expression, x: IntoExpression) -> Expression:
    """The start of the unit.

    Millennium, century, decade, year, quarter, month, week, day, hour, minute, second, millisecond, microsecond. On a
    zone's clock a day starts with its first instant; smaller units keep the offset.

    Null in any argument gives null.

    Example: `date_trunc("month", lit(date(2013, 3, 9)))` is `date(2013, 3, 1)`.
    """
    return function_call("date_trunc", (unit, x))


def time_bucket(width: timedelta | Expression, x: IntoExpression, origin: date | Expression | None = None) -> Expression:
    """The start of the bucket: buckets are `width` long and one starts at `origin` (2000-01-03, a Monday.

    In UTC where zoned). A width of months or years counts months on the clock and keeps a date a date; its origin is
    the start of a month (2000-01). In the place of `origin`, an interval moves all buckets by it.

    Null in any argument gives null.

    Example: `time_bucket(timedelta(minutes=15), lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")))` is `datetime.fromisoformat("2013-03-09 17:00:00")`.
    """
    return function_call("time_bucket", (width, x), (origin,))


def weeks(x: IntoExpression) -> Expression:
    """The duration of x weeks.

    A fraction is rounded to whole microseconds, half to even.

    Null in any argument gives null.

    Example: `weeks(lit(2))` is `timedelta(days=14)`.
    """
    return function_call("weeks", (x,))


def days(x: IntoExpression) -> Expression:
    """The duration of x days.

    A fraction is rounded to whole microseconds, half to even.

    Null in any argument gives null.

    Example: `days(lit(2))` is `timedelta(days=2)`.
    """
    return function_call("days", (x,))


def hours(x: IntoExpression) -> Expression:
    """The duration of x hours.

    A fraction is rounded to whole microseconds, half to even.

    Null in any argument gives null.

    Example: `hours(lit(1.5))` is `timedelta(minutes=90)`.
    """
    return function_call("hours", (x,))


def minutes(x: IntoExpression) -> Expression:
    """The duration of x minutes.

    A fraction is rounded to whole microseconds, half to even.

    Null in any argument gives null.

    Example: `minutes(lit(90))` is `timedelta(minutes=90)`.
    """
    return function_call("minutes", (x,))


def seconds(x: IntoExpression) -> Expression:
    """The duration of x seconds.

    A fraction is rounded to whole microseconds, half to even.

    Null in any argument gives null.

    Example: `seconds(lit(0.25))` is `timedelta(seconds=0.25)`.
    """
    return function_call("seconds", (x,))


def milliseconds(x: IntoExpression) -> Expression:
    """The duration of x milliseconds.

    A fraction is rounded to whole microseconds, half to even.

    Null in any argument gives null.

    Example: `milliseconds(lit(250))` is `timedelta(seconds=0.25)`.
    """
    return function_call("milliseconds", (x,))


def microseconds(x: IntoExpression) -> Expression:
    """The duration of x microseconds.

    A fraction is rounded to whole microseconds, half to even.

    Null in any argument gives null.

    Example: `microseconds(lit(-1))` is `timedelta(seconds=-1e-06)`.
    """
    return function_call("microseconds", (x,))


def strftime(x: IntoExpression, format: str | Expression) -> Expression:
    """x as text; the year must have 4 digits.

    Null in any argument gives null.

    Example: `strftime(lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")), "%d.%m.%Y %H:%M")` is `"09.03.2013 17:05"`.
    """
    return function_call("strftime", (x, format))


def strptime(text: IntoExpression, format: str | Sequence[str] | Expression) -> Expression:
    """The timestamp that `strftime` writes as exactly this text, in UTC with %z; an error if there is none.

    Parts that the format lacks are 0; `to_date` takes the day. Of a list of formats, `strptime(x, ['%d.%m.%Y',
    '%Y-%m-%d'])`, the first one that the text has counts.

    Null in any argument gives null.

    Example: `strptime(lit("09.03.2013 17:05"), "%d.%m.%Y %H:%M")` is `datetime.fromisoformat("2013-03-09 17:05:00")`.
    """
    return function_call("strptime", (text, format))


def try_strptime(text: IntoExpression, format: str | Sequence[str] | Expression) -> Expression:
    """As `strptime`, but null if there is none.

    Null in any argument gives null.

    Example: `try_strptime(lit("29.02.2013"), "%d.%m.%Y")` is `None`.
    """
    return function_call("try_strptime", (text, format))


def at_time_zone(x: IntoExpression, zone: str | Expression) -> Expression:
    """`x AT TIME ZONE zone`: the instant at which the zone's clock shows a naive x.

    What it shows at a zoned x.

    Null in any argument gives null.

    Example: `at_time_zone(lit(datetime.fromisoformat("2013-07-09 12:00:00")), "Europe/Berlin")` is `datetime.fromisoformat("2013-07-09 10:00:00+00:00")`.
    """
    return function_call("at_time_zone", (x, zone))


def assume_zone(x: IntoExpression, zone: str | Expression, *, ambiguous: ZoneChoice | Expression | None = None, nonexistent: ZoneChoice | Expression | None = None) -> Expression:
    """The instant at which the zone's clock shows x.

    Where the clock is turned forward, 'earliest' is the last microsecond before, 'latest' the change itself.

    Null in any argument gives null.

    Example: `assume_zone(lit(datetime.fromisoformat("2013-10-27 02:30:00")), "Europe/Berlin", ambiguous="earliest")` is `datetime.fromisoformat("2013-10-27 02:30:00+02:00")`.
    """
    return function_call("assume_zone", (x, zone), ambiguous=ambiguous, nonexistent=nonexistent)


def make_timestamptz(year: IntoExpression, month: IntoExpression, day: IntoExpression, hour: IntoExpression, minute: IntoExpression, second: IntoExpression, zone: str | Expression) -> Expression:
    """The instant at which the zone's clock shows the parts.

    An error as in `make_timestamp`, and where it shows them twice or never.

    Null in any argument gives null.

    Example: `make_timestamptz(lit(2013), 7, 9, 12, 0, 0, "Europe/Berlin")` is `datetime.fromisoformat("2013-07-09 12:00:00+02:00")`.
    """
    return function_call("make_timestamptz", (year, month, day, hour, minute, second, zone))


def local_time(x: IntoExpression) -> Expression:
    """What the clock of x's own zone shows, as a naive timestamp.

    Null in any argument gives null.

    Example: `local_time(lit(datetime.fromisoformat("2013-07-09 10:00:00+00:00")).convert_zone("Europe/Berlin"))` is `datetime.fromisoformat("2013-07-09 12:00:00")`.
    """
    return function_call("local_time", (x,))


def convert_zone(x: IntoExpression, zone: str | Expression) -> Expression:
    """The same instant in another zone.

    Null in any argument gives null.

    Example: `convert_zone(lit(datetime.fromisoformat("2013-07-09 10:00:00+00:00")), "Asia/Tokyo")` is `datetime.fromisoformat("2013-07-09 10:00:00+00:00")`.
    """
    return function_call("convert_zone", (x, zone))


def range(start: IntoExpression, stop: IntoExpression = None, step: IntoExpression = None) -> Expression:
    """`range(stop)`: the whole numbers from 0, or from start, up to stop without it, step apart.

    None where step is 0; 16,777,216 at most.

    Null in any argument gives null.

    Example: `range(lit(1), 7, 2)` is `[1, 3, 5]`.
    """
    return function_call("range", (start,), (stop, step))


def generate_series(start: IntoExpression, stop: IntoExpression = None, step: IntoExpression = None) -> Expression:
    """As `range`, and stop is one of them.

    Null in any argument gives null.

    Example: `generate_series(lit(1), 3)` is `[1, 2, 3]`.
    """
    return function_call("generate_series", (start,), (stop, step))


def list_length(x: IntoExpression) -> Expression:
    """The number of elements, nulls included, or of entries of a map.

    0 of an empty one.

    Null in any argument gives null.

    Example: `list_length(lit("a,b,c").split(","))` is `3`.
    """
    return function_call("list_length", (x,))


def list_contains(x: IntoExpression, value: IntoExpression) -> Expression:
    """Whether an element is `=` value; null elements are not.

    Null in any argument gives null.

    Example: `list_contains(lit("a,b,c").split(","), "b")` is `True`.
    """
    return function_call("list_contains", (x, value))


def list_position(x: IntoExpression, value: IntoExpression) -> Expression:
    """The 1-based place of the first element that is `=` value, of a null that of the first null.

    Null where there is none.

    Example: `list_position(["a", "b", "a"], "b")` is `2`.
    """
    return function_call("list_position", (x, value))


def list_has_any(x: IntoExpression, y: IntoExpression) -> Expression:
    """Whether an element of x, not null, is `=` one of y.

    Null in any argument gives null.

    Example: `list_has_any([1, 2], [2, 3])` is `True`.
    """
    return function_call("list_has_any", (x, y))


def list_has_all(x: IntoExpression, y: IntoExpression) -> Expression:
    """Whether each element of y that is not null is `=` one of x.

    Null in any argument gives null.

    Example: `list_has_all([1, 2, 3], [3, 1])` is `True`.
    """
    return function_call("list_has_all", (x, y))


def list_get(x: IntoExpression, index: IntoExpression) -> Expression:
    """The element at the 0-based index, from the end where it is negative.

    Null beyond the list.

    Null in any argument gives null.

    Example: `list_get(lit("a,b,c").split(","), -1)` is `"c"`.
    """
    return function_call("list_get", (x, index))


def list_extract(x: IntoExpression, index: IntoExpression) -> Expression:
    """`x[index]`: the element at the 1-based index, from the end where it is negative.

    Null beyond the list, and at 0.

    Null in any argument gives null.

    Example: `list_extract(lit("a,b,c").split(","), 1)` is `"a"`.
    """
    return function_call("list_extract", (x, index))


def split(text: IntoExpression, separator: str | Expression) -> Expression:
    """The parts between the separators, as list<string>; '' gives a list of ''.

    An empty separator parts all characters.

    Null in any argument gives null.

    Example: `split(lit("a,b,c"), ",")` is `["a", "b", "c"]`.
    """
    return function_call("split", (text, separator))


def list_transform(x: IntoExpression, function: Callable[..., IntoExpression] | Expression) -> Expression:
    """`list_transform(x, lambda e.

    E + 1)`: what a lambda gives of each element, and with `lambda e, i:` of its 1-based place too; it may read columns.

    Example: `list_transform([1, 2, 3], lambda e: e.multiply(10))` is `[10, 20, 30]`.
    """
    return function_call("list_transform", (x, function))


def list_filter(x: IntoExpression, function: Callable[..., IntoExpression] | Expression) -> Expression:
    """The elements of which a lambda is true.

    Example: `list_filter([1, 2, 3], lambda e: e.greater(1))` is `[2, 3]`.
    """
    return function_call("list_filter", (x, function))


def list_slice(x: IntoExpression, first: IntoExpression, last: IntoExpression, step: IntoExpression = None) -> Expression:
    """`x[first:last]`: the elements from one 1-based place to another, both included.

    Negative places count from the end; `x[2:]` and `x[:-2]` leave one out. `x[first:last:step]` takes every step-th of
    them. With a negative step, first is the greater place: `x[:-:-1]` is all from the end.

    Null in any argument gives null.

    Example: `list_slice([1, 2, 3, 4], 2, -2)` is `[2, 3]`.
    """
    return function_call("list_slice", (x, first, last), (step,))


def list_concat(x: IntoExpression, *y: IntoExpression) -> Expression:
    """The elements of all lists, one list after the other; a null list has none.

    Never null.

    Example: `list_concat([1, 2], [3])` is `[1, 2, 3]`.
    """
    return function_call("list_concat", (x, *y))


def list_append(x: IntoExpression, value: IntoExpression) -> Expression:
    """The list with value as its last element; a null list has none.

    Never null.

    Example: `list_append([1, 2], 3)` is `[1, 2, 3]`.
    """
    return function_call("list_append", (x, value))


def list_prepend(value: IntoExpression, x: IntoExpression) -> Expression:
    """The list with value as its first element; a null list has none.

    Never null.

    Example: `list_prepend(1, [2, 3])` is `[1, 2, 3]`.
    """
    return function_call("list_prepend", (value, x))


def list_reverse(x: IntoExpression) -> Expression:
    """The elements from the last to the first.

    Null in any argument gives null.

    Example: `list_reverse([1, 2, 3])` is `[3, 2, 1]`.
    """
    return function_call("list_reverse", (x,))


def list_sort(x: IntoExpression, order: str | Expression | None = None, nulls: str | Expression | None = None) -> Expression:
    """The elements in order: 'asc' or 'desc', 'nulls first' or 'nulls last', which are last otherwise.

    NaN is the greatest value.

    Null in any argument gives null.

    Example: `list_sort([2, 3, 1], "desc")` is `[3, 2, 1]`.
    """
    return function_call("list_sort", (x,), (order, nulls))


def list_reverse_sort(x: IntoExpression, nulls: str | Expression | None = None) -> Expression:
    """`list_sort(x, 'desc')`: nulls are last, unless 'nulls first' is given.

    Null in any argument gives null.

    Example: `list_reverse_sort([2, 3, 1])` is `[3, 2, 1]`.
    """
    return function_call("list_reverse_sort", (x,), (nulls,))


def list_grade_up(x: IntoExpression, order: str | Expression | None = None, nulls: str | Expression | None = None) -> Expression:
    """The 1-based places of the elements in the order of `list_sort`.

    Equal ones as they stand.

    Null in any argument gives null.

    Example: `list_grade_up([30, 10, 20])` is `[2, 3, 1]`.
    """
    return function_call("list_grade_up", (x,), (order, nulls))


def list_distinct(x: IntoExpression) -> Expression:
    """The distinct elements that are not null, in the order in which they first come.

    NaN is one value.

    Null in any argument gives null.

    Example: `list_distinct([1, 2, 1])` is `[1, 2]`.
    """
    return function_call("list_distinct", (x,))


def list_unique(x: IntoExpression) -> Expression:
    """The number of distinct elements that are not null.

    Null in any argument gives null.

    Example: `list_unique([1, 2, 1])` is `2`.
    """
    return function_call("list_unique", (x,))


def list_intersect(x: IntoExpression, y: IntoExpression) -> Expression:
    """The distinct elements of x, not null, that are `=` one of y, in the order of x.

    Null in any argument gives null.

    Example: `list_intersect([1, 2, 3], [3, 2])` is `[2, 3]`.
    """
    return function_call("list_intersect", (x, y))


def list_select(x: IntoExpression, places: IntoExpression) -> Expression:
    """The elements at the 1-based places, from the end where negative.

    Null beyond the list.

    Null in any argument gives null.

    Example: `list_select(["a", "b", "c"], [3, 1])` is `["c", "a"]`.
    """
    return function_call("list_select", (x, places))


def list_where(x: IntoExpression, mask: IntoExpression) -> Expression:
    """The elements beside which mask is true.

    Null in any argument gives null.

    Example: `list_where([1, 2, 3], [True, False, True])` is `[1, 3]`.
    """
    return function_call("list_where", (x, mask))


def flatten(x: IntoExpression) -> Expression:
    """The elements of the lists in a list, one list after the other.

    A null list in it has none.

    Null in any argument gives null.

    Example: `flatten([[1, 2], [3]])` is `[1, 2, 3]`.
    """
    return function_call("flatten", (x,))


def list_resize(x: IntoExpression, size: IntoExpression, value: IntoExpression = None) -> Expression:
    """The first elements, as many as size; missing ones are value, or null.

    A null list is null, and a null size is 0.

    Example: `list_resize([1, 2], 4, 0)` is `[1, 2, 0, 0]`.
    """
    return function_call("list_resize", (x, size), (value,))


def list_repeat(x: IntoExpression, count: IntoExpression) -> Expression:
    """The elements `count` times, one list after the other: `repeat(x, count)`.

    None where count is negative.

    Null in any argument gives null.

    Example: `list_repeat([1, 2], 2)` is `[1, 2, 1, 2]`.
    """
    return function_call("list_repeat", (x, count))


def list_of_size(x: IntoExpression, size: int | Expression) -> Expression:
    """The list itself.

    Another number of elements is an error: `CAST(x AS FLOAT[3])`.

    Null in any argument gives null.

    Example: `list_of_size([1, 2], 2)` is `[1, 2]`.
    """
    return function_call("list_of_size", (x, size))


def list_zip(x: IntoExpression, *y: IntoExpression) -> Expression:
    """Structs of the elements in the same place, as `row(x[1], y[1])`.

    It is as long as the longest list, and missing elements are null; with `true` as the last argument, as long as the
    shortest. A null list has no elements. Never null.

    Example: `list_zip([1, 2], ["a"])` is `[{"element1": 1, "element2": "a"}, {"element1": 2, "element2": None}]`.
    """
    return function_call("list_zip", (x, *y))


def list_sum(x: IntoExpression) -> Expression:
    """The sum of the elements: int64, float64 or decimal; overflow is an error.

    Null in any argument gives null.

    Example: `list_sum([1, 2, 4])` is `7`.
    """
    return function_call("list_sum", (x,))


def list_mean(x: IntoExpression) -> Expression:
    """The mean of the elements in float64, of integers and decimals the float64 nearest to the exact mean.

    Of durations a duration.

    Null in any argument gives null.

    Example: `list_mean([1, 2, 4])` is `2.3333333333333335`.
    """
    return function_call("list_mean", (x,))


def list_fsum(x: IntoExpression) -> Expression:
    """The sum of the elements in float64, one after the other, with what rounding lost added again (Kahan).

    Null in any argument gives null.

    Example: `list_fsum([0.1, 0.2, 0.3])` is `0.6`.
    """
    return function_call("list_fsum", (x,))


def list_favg(x: IntoExpression) -> Expression:
    """`list_fsum` by the number of elements that are not null.

    Null in any argument gives null.

    Example: `list_favg([1, 2, 4])` is `2.3333333333333335`.
    """
    return function_call("list_favg", (x,))


def list_product(x: IntoExpression) -> Expression:
    """The product of the elements, in float64.

    Null in any argument gives null.

    Example: `list_product([2, 3, 4])` is `24.0`.
    """
    return function_call("list_product", (x,))


def list_min(x: IntoExpression) -> Expression:
    """The least element; NaN only if all are.

    Null in any argument gives null.

    Example: `list_min([2, 1, 3])` is `1`.
    """
    return function_call("list_min", (x,))


def list_max(x: IntoExpression) -> Expression:
    """The greatest element; NaN if any is.

    Null in any argument gives null.

    Example: `list_max([2, 3, 1])` is `3`.
    """
    return function_call("list_max", (x,))


def list_count(x: IntoExpression) -> Expression:
    """The number of elements that are not null.

    Null in any argument gives null.

    Example: `list_count([1, None, 3])` is `2`.
    """
    return function_call("list_count", (x,))


def list_any_value(x: IntoExpression) -> Expression:
    """The first element that is not null.

    Null in any argument gives null.

    Example: `list_any_value([None, 2, 3])` is `2`.
    """
    return function_call("list_any_value", (x,))


def list_first(x: IntoExpression) -> Expression:
    """The first element, which may be null.

    Null in any argument gives null.

    Example: `list_first([1, 2, 3])` is `1`.
    """
    return function_call("list_first", (x,))


def list_last(x: IntoExpression) -> Expression:
    """The last element, which may be null.

    Null in any argument gives null.

    Example: `list_last([1, 2, 3])` is `3`.
    """
    return function_call("list_last", (x,))


def list_reduce(x: IntoExpression, function: Callable[..., IntoExpression] | Expression, initial: IntoExpression = None) -> Expression:
    """`list_reduce(x, lambda total, e.

    Total + e)`: what a lambda makes of the first element and the next, of that and the next, and so on. It begins with
    `initial` if that is given. With `lambda total, e, i:` it knows the element's 1-based place. An empty list without
    `initial` is an error.

    Example: `list_reduce([1, 2, 3], lambda total, e: total.add(e), 10)` is `16`.
    """
    return function_call("list_reduce", (x, function), (initial,))


def list_bool_and(x: IntoExpression) -> Expression:
    """Whether all elements are true.

    Null in any argument gives null.

    Example: `list_bool_and([True, False])` is `False`.
    """
    return function_call("list_bool_and", (x,))


def list_bool_or(x: IntoExpression) -> Expression:
    """Whether any element is true.

    Null in any argument gives null.

    Example: `list_bool_or([True, False])` is `True`.
    """
    return function_call("list_bool_or", (x,))


def array_to_string(x: IntoExpression, separator: str | Expression) -> Expression:
    """The strings of a list with the separator between them; nulls are left out.

    Null in any argument gives null.

    Example: `array_to_string(["a", "b"], "-")` is `"a-b"`.
    """
    return function_call("array_to_string", (x, separator))


def list_string_agg(x: IntoExpression, separator: str | Expression | None = None) -> Expression:
    """`array_to_string`, null where no element is a value.

    The separator is ',' unless another one is given.

    Null in any argument gives null.

    Example: `list_string_agg(["a", None, "b"])` is `"a,b"`.
    """
    return function_call("list_string_agg", (x,), (separator,))


def list_dot_product(x: IntoExpression, y: IntoExpression) -> Expression:
    """The sum of the products of elements in the same place, in float64.

    Lists of other lengths, and nulls in them, are an error.

    Null in any argument gives null.

    Example: `list_dot_product([1, 2], [3, 4])` is `11.0`.
    """
    return function_call("list_dot_product", (x, y))


def list_negative_dot_product(x: IntoExpression, y: IntoExpression) -> Expression:
    """-`list_dot_product`.

    Null in any argument gives null.

    Example: `list_negative_dot_product([1, 2], [3, 4])` is `-11.0`.
    """
    return function_call("list_negative_dot_product", (x, y))


def array_cross_product(x: IntoExpression, y: IntoExpression) -> Expression:
    """The vector product of two lists of three numbers, in float64.

    Other lengths are an error, and null elements give null.

    Null in any argument gives null.

    Example: `array_cross_product([1, 2, 3], [4, 5, 6])` is `[-3.0, 6.0, -3.0]`.
    """
    return function_call("array_cross_product", (x, y))


def list_distance(x: IntoExpression, y: IntoExpression) -> Expression:
    """The Euclidean distance of two lists of one length without nulls, in float64.

    Null in any argument gives null.

    Example: `list_distance([0, 0], [3, 4])` is `5.0`.
    """
    return function_call("list_distance", (x, y))


def list_cosine_similarity(x: IntoExpression, y: IntoExpression) -> Expression:
    """The cosine of the angle between two lists of one length without nulls.

    NaN beside zeros alone, null of empty lists.

    Null in any argument gives null.

    Example: `list_cosine_similarity([1, 0], [1, 0])` is `1.0`.
    """
    return function_call("list_cosine_similarity", (x, y))


def list_cosine_distance(x: IntoExpression, y: IntoExpression) -> Expression:
    """1 - `list_cosine_similarity`.

    Null in any argument gives null.

    Example: `list_cosine_distance([1, 0], [0, 1])` is `1.0`.
    """
    return function_call("list_cosine_distance", (x, y))


def list_median(x: IntoExpression) -> Expression:
    """`median` of the elements, in float64.

    Null in any argument gives null.

    Example: `list_median([4, 1, 2])` is `2.0`.
    """
    return function_call("list_median", (x,))


def list_quantile(x: IntoExpression, q: float | Sequence[float] | Expression) -> Expression:
    """`quantile` of the elements, in float64.

    Null in any argument gives null.

    Example: `list_quantile([1, 2, 4], 0.25)` is `1.5`.
    """
    return function_call("list_quantile", (x, q))


def list_mode(x: IntoExpression) -> Expression:
    """`mode` of the elements: the most frequent, the least of those that tie.

    Null in any argument gives null.

    Example: `list_mode([2, 1, 2])` is `2`.
    """
    return function_call("list_mode", (x,))


def list_mad(x: IntoExpression) -> Expression:
    """`mad` of the elements.

    Null in any argument gives null.

    Example: `list_mad([1, 2, 9])` is `1.0`.
    """
    return function_call("list_mad", (x,))


def list_entropy(x: IntoExpression) -> Expression:
    """`entropy` of the elements, in bits; 0 of no values.

    Null in any argument gives null.

    Example: `list_entropy([1, 2])` is `1.0`.
    """
    return function_call("list_entropy", (x,))


def list_histogram(x: IntoExpression) -> Expression:
    """`histogram` of the elements.

    A map of distinct values to how often each comes.

    Null in any argument gives null.

    Example: `lit([2, 1, 2]).list_histogram().map_values()` is `[1, 2]`.
    """
    return function_call("list_histogram", (x,))


def list_var(x: IntoExpression) -> Expression:
    """`var` of the elements: the sample variance.

    Null in any argument gives null.

    Example: `list_var([1, 2, 3])` is `1.0`.
    """
    return function_call("list_var", (x,))


def list_std(x: IntoExpression) -> Expression:
    """`std` of the elements: the sample standard deviation.

    Null in any argument gives null.

    Example: `list_std([1, 2, 3])` is `1.0`.
    """
    return function_call("list_std", (x,))


def list_var_pop(x: IntoExpression) -> Expression:
    """`var_pop` of the elements.

    Null in any argument gives null.

    Example: `list_var_pop([1, 3])` is `1.0`.
    """
    return function_call("list_var_pop", (x,))


def list_std_pop(x: IntoExpression) -> Expression:
    """`std_pop` of the elements.

    Null in any argument gives null.

    Example: `list_std_pop([1, 3])` is `1.0`.
    """
    return function_call("list_std_pop", (x,))


def list_sem(x: IntoExpression) -> Expression:
    """`sem` of the elements: list_std_pop(x) / sqrt(list_count(x)).

    Null in any argument gives null.

    Example: `list_sem([1, 3, 1, 3])` is `0.5`.
    """
    return function_call("list_sem", (x,))


def list_skewness(x: IntoExpression) -> Expression:
    """`skewness` of the elements.

    Null in any argument gives null.

    Example: `list_skewness([1, 2, 3])` is `0.0`.
    """
    return function_call("list_skewness", (x,))


def list_kurtosis(x: IntoExpression) -> Expression:
    """`kurtosis` of the elements.

    Null in any argument gives null.

    Example: `list_kurtosis([1, 2])` is `None`.
    """
    return function_call("list_kurtosis", (x,))


def list_kurtosis_pop(x: IntoExpression) -> Expression:
    """`kurtosis_pop` of the elements.

    Null in any argument gives null.

    Example: `list_kurtosis_pop([1, 3])` is `-2.0`.
    """
    return function_call("list_kurtosis_pop", (x,))


def list_bit_and(x: IntoExpression) -> Expression:
    """The bits that are set in all elements.

    Null in any argument gives null.

    Example: `list_bit_and([7, 5])` is `5`.
    """
    return function_call("list_bit_and", (x,))


def list_bit_or(x: IntoExpression) -> Expression:
    """The bits that are set in any element.

    Null in any argument gives null.

    Example: `list_bit_or([4, 1])` is `5`.
    """
    return function_call("list_bit_or", (x,))


def list_bit_xor(x: IntoExpression) -> Expression:
    """The bits that are set in an odd number of elements.

    Null in any argument gives null.

    Example: `list_bit_xor([7, 2])` is `5`.
    """
    return function_call("list_bit_xor", (x,))


def struct_extract(x: IntoExpression, field: str | Expression) -> Expression:
    """`x.field`: a field of a struct; null where the struct is.

    Null in any argument gives null.

    Example: `struct_extract(struct(a=1, b="x"), "b")` is `"x"`.
    """
    return function_call("struct_extract", (x, field))


def row(x: IntoExpression, *y: IntoExpression) -> Expression:
    """`(x, y)`, a struct of values without names.

    Its fields are element1, element2 and so on, and `[1]` is the first. Never null.

    Example: `row(lit(1), "x")` is `{"element1": 1, "element2": "x"}`.
    """
    return function_call("row", (x, *y))


def struct_concat(x: IntoExpression, *y: IntoExpression) -> Expression:
    """The fields of all structs, in one.

    Never null.

    Example: `struct_concat(struct(a=1), struct(b="x"))` is `{"a": 1, "b": "x"}`.
    """
    return function_call("struct_concat", (x, *y))


def struct_keys(x: IntoExpression) -> Expression:
    """The names of the fields, as a list.

    Null in any argument gives null.

    Example: `struct_keys(struct(a=1, b="x"))` is `["a", "b"]`.
    """
    return function_call("struct_keys", (x,))


def struct_values(x: IntoExpression) -> Expression:
    """The values of the fields without names: see `row`.

    Null in any argument gives null.

    Example: `struct_values(struct(a=1, b="x"))` is `{"element1": 1, "element2": "x"}`.
    """
    return function_call("struct_values", (x,))


def struct_extract_at(x: IntoExpression, place: int | Expression) -> Expression:
    """The field at a place, from 1.

    Null in any argument gives null.

    Example: `struct_extract_at(struct(a=1, b="x"), 2)` is `"x"`.
    """
    return function_call("struct_extract_at", (x, place))


def struct_position(x: IntoExpression, value: IntoExpression) -> Expression:
    """The place, from 1, of the first field that is value, or null as it is; null where there is none.

    Fields of types that do not meet the value's are not compared.

    Example: `struct_position(lit(7).row("a", 5), 5)` is `3`.
    """
    return function_call("struct_position", (x, value))


def struct_contains(x: IntoExpression, value: IntoExpression) -> Expression:
    """Whether a field is value.

    Null in any argument gives null.

    Example: `struct_contains(lit(7).row("a", 5), "a")` is `True`.
    """
    return function_call("struct_contains", (x, value))


def map(keys: IntoExpression, values: IntoExpression) -> Expression:
    """`MAP {'a': 1, k: v}`, or a list of keys and one of as many values.

    A null key, and one that stands twice, is an error.

    Null in any argument gives null.

    Example: `lit(["a", "b"]).map([1, 2]).map_values()` is `[1, 2]`, over a map m of 1 for 'a' and 2 for 'b'.
    """
    return function_call("map", (keys, values))


def map_from_entries(x: IntoExpression) -> Expression:
    """The map of a list of structs, of a key and a value each.

    Null in any argument gives null.

    Example: `lit([struct(k="a", v=1)]).map_from_entries().map_keys()` is `["a"]`, over a map m of 1 for 'a' and 2 for 'b'.
    """
    return function_call("map_from_entries", (x,))


def map_entries(x: IntoExpression) -> Expression:
    """The entries, as a list of structs of `key` and `value`.

    Null in any argument gives null.

    Example: `map_entries(col("m"))` is `[{"key": "a", "value": 1}, {"key": "b", "value": 2}]`, over a map m of 1 for 'a' and 2 for 'b'.
    """
    return function_call("map_entries", (x,))


def map_get(x: IntoExpression, key: IntoExpression) -> Expression:
    """`x[key]`: the value of the key, of equal keys the first.

    Null where there is none.

    Null in any argument gives null.

    Example: `map_get(col("m"), "b")` is `2`, over a map m of 1 for 'a' and 2 for 'b'.
    """
    return function_call("map_get", (x, key))


def map_extract(x: IntoExpression, key: IntoExpression) -> Expression:
    """A list of the key's value, empty where there is none.

    `x[key]` is the value.

    Example: `map_extract(col("m"), "b")` is `[2]`, over a map m of 1 for 'a' and 2 for 'b'.
    """
    return function_call("map_extract", (x, key))


def map_contains(x: IntoExpression, key: IntoExpression) -> Expression:
    """Whether the map has the key.

    Null in any argument gives null.

    Example: `map_contains(col("m"), "b")` is `True`, over a map m of 1 for 'a' and 2 for 'b'.
    """
    return function_call("map_contains", (x, key))


def map_contains_value(x: IntoExpression, value: IntoExpression) -> Expression:
    """Whether a key has this value.

    Null in any argument gives null.

    Example: `map_contains_value(col("m"), 2)` is `True`, over a map m of 1 for 'a' and 2 for 'b'.
    """
    return function_call("map_contains_value", (x, value))


def map_contains_entry(x: IntoExpression, key: IntoExpression, value: IntoExpression) -> Expression:
    """Whether the map has the key with this value.

    A null value is one.

    Example: `map_contains_entry(col("m"), "b", 2)` is `True`, over a map m of 1 for 'a' and 2 for 'b'.
    """
    return function_call("map_contains_entry", (x, key, value))


def map_concat(x: IntoExpression, *y: IntoExpression) -> Expression:
    """The entries of all maps; of a key in several the last value, in the place of the first.

    A null map has none; null where all are.

    Example: `col("m").map_concat(lit(["c", "a"]).map([3, 4])).map_values()` is `[4, 2, 3]`, over a map m of 1 for 'a' and 2 for 'b'.
    """
    return function_call("map_concat", (x, *y))


def map_keys(x: IntoExpression) -> Expression:
    """The keys, as a list.

    Null in any argument gives null.

    Example: `map_keys(col("m"))` is `["a", "b"]`, over a map m of 1 for 'a' and 2 for 'b'.
    """
    return function_call("map_keys", (x,))


def map_values(x: IntoExpression) -> Expression:
    """The values, as a list.

    Null in any argument gives null.

    Example: `map_values(col("m"))` is `[1, 2]`, over a map m of 1 for 'a' and 2 for 'b'.
    """
    return function_call("map_values", (x,))


def hex(x: IntoExpression) -> Expression:
    """The bytes of binary or of a string in hexadecimal digits, in upper case.

    The digits of an integer.

    Null in any argument gives null.

    Example: `hex(lit("añ"))` is `"61C3B1"`.
    """
    return function_call("hex", (x,))


def bit_length(x: IntoExpression) -> Expression:
    """The bits of binary or of a string's UTF-8: 8 of each byte.

    Null in any argument gives null.

    Example: `bit_length(lit("añ"))` is `24`.
    """
    return function_call("bit_length", (x,))


def unhex(text: IntoExpression) -> Expression:
    """The bytes that hexadecimal digits stand for, in either case.

    An error for other text.

    Null in any argument gives null.

    Example: `unhex(lit("61c3B1"))` is `b'a\\xc3\\xb1'`.
    """
    return function_call("unhex", (text,))


def to_base64(x: IntoExpression) -> Expression:
    """The bytes of binary or of a string in base64, with padding.

    Null in any argument gives null.

    Example: `to_base64(lit("añb"))` is `"YcOxYg=="`.
    """
    return function_call("to_base64", (x,))


def from_base64(text: IntoExpression) -> Expression:
    """The bytes of base64 with padding; an error for other text.

    Null in any argument gives null.

    Example: `from_base64(lit("YcOxYg=="))` is `b'a\\xc3\\xb1b'`.
    """
    return function_call("from_base64", (text,))


def encode(text: IntoExpression) -> Expression:
    """The UTF-8 bytes of a string.

    Null in any argument gives null.

    Example: `encode(lit("ñ"))` is `b'\\xc3\\xb1'`.
    """
    return function_call("encode", (text,))


def decode(x: IntoExpression) -> Expression:
    """The string of UTF-8 bytes; an error for others.

    Null in any argument gives null.

    Example: `decode(lit("C3B1").unhex())` is `"ñ"`.
    """
    return function_call("decode", (x,))


def json_extract(text: IntoExpression, path: str | int | Sequence[str] | Expression) -> Expression:
    """`text -> path`: the value at a path, as JSON; null where there is none.

    Null in any argument gives null.

    Example: `json_extract(lit('{"a": [1, {"b": "x"}]}'), "$.a[1]")` is `'{"b":"x"}'`.
    """
    return function_call("json_extract", (text, path))


def json_extract_string(text: IntoExpression, path: str | int | Sequence[str] | Expression) -> Expression:
    """`text ->> path`: a string at a path without its quotes, any other value as JSON.

    Null for `null`, and where there is none.

    Null in any argument gives null.

    Example: `json_extract_string(lit('{"a": {"b": "x"}}'), "$.a.b")` is `"x"`.
    """
    return function_call("json_extract_string", (text, path))


def json_value(text: IntoExpression, path: str | int | Sequence[str] | Expression) -> Expression:
    """A string, number or boolean at a path as JSON, a string with its quotes.

    Null for others.

    Null in any argument gives null.

    Example: `json_value(lit('{"a": 1.5}'), "$.a")` is `"1.5"`.
    """
    return function_call("json_value", (text, path))


def json_exists(text: IntoExpression, path: str | int | Sequence[str] | Expression) -> Expression:
    """Whether there is a value at a path, perhaps `null`.

    Null in any argument gives null.

    Example: `json_exists(lit('{"a": null}'), "$.a")` is `True`.
    """
    return function_call("json_exists", (text, path))


def json_type(text: IntoExpression, path: str | int | Sequence[str] | Expression | None = None) -> Expression:
    """The type of the value.

    OBJECT, ARRAY, VARCHAR, BOOLEAN, NULL, UBIGINT, BIGINT for negative integers, or DOUBLE; null where there is none.

    Null in any argument gives null.

    Example: `json_type(lit('{"a": [1]}'), "$.a")` is `"ARRAY"`.
    """
    return function_call("json_type", (text,), (path,))


def json_array_length(text: IntoExpression, path: str | int | Sequence[str] | Expression | None = None) -> Expression:
    """The number of elements of an array, 0 of another value.

    Null where there is none.

    Null in any argument gives null.

    Example: `json_array_length(lit("[1, 2, [3, 4]]"))` is `3`.
    """
    return function_call("json_array_length", (text,), (path,))


def json_keys(text: IntoExpression, path: str | int | Sequence[str] | Expression | None = None) -> Expression:
    """The keys of an object in their order, no keys of another value.

    Null where there is none.

    Null in any argument gives null.

    Example: `json_keys(lit('{"b": 1, "a": 2}'))` is `["b", "a"]`.
    """
    return function_call("json_keys", (text,), (path,))


def json_valid(text: IntoExpression) -> Expression:
    """Whether a string is JSON.

    Null in any argument gives null.

    Example: `json_valid(lit('{"a": 1'))` is `False`.
    """
    return function_call("json_valid", (text,))


def json(text: IntoExpression) -> Expression:
    """JSON without blanks.

    Null in any argument gives null.

    Example: `json(lit('{"a": [1, 2]}'))` is `'{"a":[1,2]}'`.
    """
    return function_call("json", (text,))


def to_json(x: IntoExpression) -> Expression:
    """A value as JSON.

    JSON that is made in the same expression stays; other strings are quoted. NaN and infinities are an error.

    Null in any argument gives null.

    Example: `to_json(struct(a=1, b=["x", None]))` is `'{"a":1,"b":["x",null]}'`.
    """
    return function_call("to_json", (x,))


def json_array(x: IntoExpression, *more: IntoExpression) -> Expression:
    """The JSON array of values as `to_json` writes them.

    Never null.

    Example: `json_array(lit(1), "x", None)` is `'[1,"x",null]'`.
    """
    return function_call("json_array", (x, *more))


def from_json(text: IntoExpression, structure: str | Expression) -> Expression:
    """JSON as values of declared types, such as 'STRUCT(a BIGINT, b VARCHAR[])'.

    Null where a value is missing or does not convert, as by TRY_CAST of its text.

    Example: `from_json(lit('{"a": 1, "b": ["x"]}'), "STRUCT(a BIGINT, b VARCHAR[])")` is `{"a": 1, "b": ["x"]}`.
    """
    return function_call("from_json", (text, structure))


def try_from_json(text: IntoExpression, structure: str | Expression) -> Expression:
    """As `from_json`, but null where the string is not JSON.

    Example: `try_from_json(lit("{"), "STRUCT(a BIGINT)")` is `None`.
    """
    return function_call("try_from_json", (text, structure))


def json_set(text: IntoExpression, path: str | Expression, value: IntoExpression) -> Expression:
    """JSON with a value at a path: in place of one that is there, else as a new member or the next element.

    As it is where that cannot be.

    Null in any argument gives null.

    Example: `json_set(lit('{"a": 1}'), "$.b", "[2]")` is `'{"a":1,"b":[2]}'`.
    """
    return function_call("json_set", (text, path, value))


def json_insert(text: IntoExpression, path: str | Expression, value: IntoExpression) -> Expression:
    """As `json_set`, but a value that is there stays.

    Null in any argument gives null.

    Example: `json_insert(lit('{"a": 1}'), "$.a", "2")` is `'{"a":1}'`.
    """
    return function_call("json_insert", (text, path, value))


def json_replace(text: IntoExpression, path: str | Expression, value: IntoExpression) -> Expression:
    """As `json_set`, but only in place of a value that is there.

    Null in any argument gives null.

    Example: `json_replace(lit('{"a": 1}'), "$.b", "2")` is `'{"a":1}'`.
    """
    return function_call("json_replace", (text, path, value))


def json_remove(text: IntoExpression, path: str | Expression) -> Expression:
    """JSON without the value at a path; null where that is all of it.

    Null in any argument gives null.

    Example: `json_remove(lit('{"a": [1, 2], "b": 3}'), "$.a[0]")` is `'{"a":[2],"b":3}'`.
    """
    return function_call("json_remove", (text, path))


def json_merge_patch(text: IntoExpression, patch: IntoExpression, *more: IntoExpression) -> Expression:
    """JSON changed by a patch, as RFC 7396 has it.

    Members of objects are merged, `null` takes a member out, and any other value takes the old one's place. A null text
    counts as none; a null patch gives null.

    Example: `json_merge_patch(lit('{"a": 1, "b": {"c": 2}}'), '{"a": null, "b": {"d": 3}}')` is `'{"b":{"c":2,"d":3}}'`.
    """
    return function_call("json_merge_patch", (text, patch, *more))


def json_merge_patch_diff(old: IntoExpression, new: IntoExpression) -> Expression:
    """The patch that makes `old` into `new`, by `json_merge_patch`.

    A null `old` counts as none.

    Example: `json_merge_patch_diff(lit('{"a": 1, "b": 2}'), '{"b": 3}')` is `'{"a":null,"b":3}'`.
    """
    return function_call("json_merge_patch_diff", (old, new))


def json_deep_merge(text: IntoExpression, patch: IntoExpression, *more: IntoExpression) -> Expression:
    """As `json_merge_patch`, but `null` changes nothing.

    Example: `json_deep_merge(lit('{"a": 1, "b": {"c": 2}}'), '{"a": null, "b": {"d": 3}}')` is `'{"a":1,"b":{"c":2,"d":3}}'`.
    """
    return function_call("json_deep_merge", (text, patch, *more))


def json_strip_nulls(text: IntoExpression) -> Expression:
    """JSON without the members of objects that are `null`, at any depth.

    Null in any argument gives null.

    Example: `json_strip_nulls(lit('{"a": null, "b": [null]}'))` is `'{"b":[null]}'`.
    """
    return function_call("json_strip_nulls", (text,))


def json_normalize(text: IntoExpression) -> Expression:
    """JSON with the members of objects in the order of their keys' bytes, at any depth.

    Null in any argument gives null.

    Example: `json_normalize(lit('{"b": 1, "a": {"d": 2, "c": 3}}'))` is `'{"a":{"c":3,"d":2},"b":1}'`.
    """
    return function_call("json_normalize", (text,))


def json_contains(text: IntoExpression, part: IntoExpression) -> Expression:
    """Whether a part is anywhere in JSON.

    An object has its members and perhaps others, an array its elements in any order, a scalar is equal.

    Null in any argument gives null.

    Example: `json_contains(lit('{"a": [1, {"b": 2, "c": 3}]}'), '{"b": 2}')` is `True`.
    """
    return function_call("json_contains", (text, part))


def hash(x: IntoExpression, *more: IntoExpression) -> Expression:
    """XXH64 of the values, in order, as int64.

    Never null.

    Example: `hash(lit("a"))` is `-3292477735350538661`.
    """
    return function_call("hash", (x, *more))


def bucket(x: IntoExpression, n: int | Expression) -> Expression:
    """`hash(x)`, its bits unsigned, modulo n: from 0 to n - 1, never null.

    Several columns: bucket(hash(a, b), n).

    Example: `bucket(lit("a"), 16)` is `11`.
    """
    return function_call("bucket", (x, n))


def md5(text: IntoExpression) -> Expression:
    """MD5 of the bytes of binary or of a string, in lower-case hexadecimal.

    Null in any argument gives null.

    Example: `md5(lit("a"))` is `"0cc175b9c0f1b6a831c399e269772661"`.
    """
    return function_call("md5", (text,))


def sha1(text: IntoExpression) -> Expression:
    """SHA-1 of the bytes of binary or of a string, in lower-case hexadecimal.

    Null in any argument gives null.

    Example: `sha1(lit("a"))` is `"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"`.
    """
    return function_call("sha1", (text,))


def sha256(text: IntoExpression) -> Expression:
    """SHA-256 of the bytes of binary or of a string, in lower-case hexadecimal.

    Null in any argument gives null.

    Example: `sha256(lit("a"))` is `"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"`.
    """
    return function_call("sha256", (text,))


def typeof(x: IntoExpression) -> Expression:
    """The type of x as DuckDB writes it, which CAST takes as well: `DOUBLE`, `VARCHAR[]`.

    Whole numbers in a text are `BIGINT`. Never null.

    Example: `typeof([1.5])` is `"DOUBLE[]"`.
    """
    return function_call("typeof", (x,))


def count_distinct(x: Expression, *more: Expression) -> Expression:
    """`count(DISTINCT x)`: distinct values that are not null; NaN is one value.

    Of several columns, `count(DISTINCT a, b)`: distinct rows without a null.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `count_distinct(col("x"))` is `2`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("count_distinct", (x, *more))


def sum(x: Expression) -> Expression:
    """The sum: int64, float64 or decimal.

    Overflow is an error.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `sum(col("x"))` is `4`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("sum", (x,))


def mean(x: Expression) -> Expression:
    """The mean in float64.

    Of integers and decimals the float64 nearest to the exact mean, of durations a duration.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `mean(col("x"))` is `1.3333333333333333`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("mean", (x,))


def min(x: Expression) -> Expression:
    """The least value.

    NaN only if all are.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `min(col("x"))` is `1`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("min", (x,))


def max(x: Expression) -> Expression:
    """The greatest value.

    NaN if any is.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `max(col("x"))` is `2`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("max", (x,))


def var(x: Expression) -> Expression:
    """The sample variance (ddof 1).

    Null of fewer than 2 values.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `var(col("x"))` is `0.3333333333333333`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("var", (x,))


def std(x: Expression) -> Expression:
    """The sample standard deviation (ddof 1).

    Null of fewer than 2 values.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `std(col("x"))` is `0.5773502691896257`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("std", (x,))


def var_pop(x: Expression) -> Expression:
    """The variance of the values themselves (ddof 0).

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `var_pop(col("x"))` is `0.2222222222222222`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("var_pop", (x,))


def std_pop(x: Expression) -> Expression:
    """The standard deviation of the values themselves (ddof 0).

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `std_pop(col("x"))` is `0.4714045207910317`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("std_pop", (x,))


def covar_samp(x: Expression, y: Expression) -> Expression:
    """The sample covariance (ddof 1) of the pairs without a null.

    Null of fewer than 2.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `covar_samp(col("x"), lit(3).multiply(col("x")))` is `1.0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("covar_samp", (x, y))


def covar_pop(x: Expression, y: Expression) -> Expression:
    """The covariance (ddof 0) of the pairs without a null.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `covar_pop(col("x"), lit(3).multiply(col("x")))` is `0.6666666666666666`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("covar_pop", (x, y))


def corr(x: Expression, y: Expression) -> Expression:
    """Pearson's correlation of the pairs without a null.

    NaN where x or y is constant, null of fewer than 2 pairs.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `corr(col("x"), col("x").negate())` is `-1.0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("corr", (x, y))


def median(x: Expression) -> Expression:
    """The exact median, linear between the middle two.

    NaN is the greatest value.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `median(col("x"))` is `1.0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("median", (x,))


def quantile(x: Expression, q: float | Sequence[float] | Expression) -> Expression:
    """The exact quantile, linear between the two values next to q·(count - 1).

    NaN is the greatest value.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `quantile(col("x"), 0.75)` is `1.5`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("quantile", (x, q))


def mode(x: Expression) -> Expression:
    """The most frequent value, the least of those that tie.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `mode(col("x"))` is `1`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("mode", (x,))


def first(x: Expression, *, ignore_nulls: bool | Expression | None = None, only: Expression | None = None) -> Expression:
    """x of the group's first row in the order of order_by.

    Of the rows where `only` is true, which FILTER sets; nulls are kept unless `ignore_nulls`.

    An aggregate, and a window function.

    Example: `first(col("x"))` is `1`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("first", (x,), ignore_nulls=ignore_nulls, only=only)


def last(x: Expression, *, ignore_nulls: bool | Expression | None = None, only: Expression | None = None) -> Expression:
    """x of the group's last row, as in first.

    An aggregate, and a window function.

    Example: `last(col("x"), ignore_nulls=True)` is `2`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("last", (x,), ignore_nulls=ignore_nulls, only=only)


def min_by(x: Expression, y: Expression) -> Expression:
    """x of the row where y is least.

    Rows where x or y is null are skipped; of rows that tie, the least x.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `min_by(col("x"), col("x").negate())` is `2`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("min_by", (x, y))


def max_by(x: Expression, y: Expression) -> Expression:
    """x of the row where y is greatest.

    Rows where x or y is null are skipped; of rows that tie, the least x.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `max_by(col("x"), col("x").negate())` is `1`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("max_by", (x, y))


def arg_min_null(x: Expression, y: Expression) -> Expression:
    """x, null or not, of the row where y is least.

    Of rows that tie, the least x, null last.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `col("x").arg_min_null(col("x").negate().coalesce(-5)).is_null()` is `True`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("arg_min_null", (x, y))


def arg_max_null(x: Expression, y: Expression) -> Expression:
    """x, null or not, of the row where y is greatest.

    Of rows that tie, the least x, null last.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `col("x").arg_max_null(col("x").coalesce(5)).is_null()` is `True`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("arg_max_null", (x, y))


def count_if(condition: Expression) -> Expression:
    """The number of rows where the condition is true.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `count_if(col("x").equal(1))` is `2`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("count_if", (condition,))


def any(x: Expression) -> Expression:
    """Whether any value is true.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `any(col("x").greater(1))` is `True`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("any", (x,))


def all(x: Expression) -> Expression:
    """Whether all values are true.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `all(col("x").greater(1))` is `False`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("all", (x,))


def any_value(x: Expression) -> Expression:
    """One of the values that are not null.

    Always the least, so that every run gives the same.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `any_value(col("x"))` is `1`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("any_value", (x,))


def product(x: Expression) -> Expression:
    """The product in float64.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `product(col("x"))` is `2.0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("product", (x,))


def bitwise_and(x: Expression) -> Expression:
    """The bits that are set in all integers.

    `bit_and(x)` in SQL.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `bitwise_and(col("x"))` is `0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("bitwise_and", (x,))


def bitwise_or(x: Expression) -> Expression:
    """The bits that are set in any integer.

    `bit_or(x)` in SQL.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `bitwise_or(col("x"))` is `3`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("bitwise_or", (x,))


def bitwise_xor(x: Expression) -> Expression:
    """The bits that are set in an odd number of integers.

    `bit_xor(x)` in SQL.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `bitwise_xor(col("x"))` is `2`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("bitwise_xor", (x,))


def skewness(x: Expression) -> Expression:
    """The skewness of a sample.

    Null of fewer than 3 values, and of equal ones.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `skewness(col("x"))` is `1.7320508075688767`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("skewness", (x,))


def kurtosis(x: Expression) -> Expression:
    """The excess kurtosis of a sample.

    Null of fewer than 4 values, and of equal ones.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `kurtosis(col("x").abs())` is `None`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("kurtosis", (x,))


def kurtosis_pop(x: Expression) -> Expression:
    """The excess kurtosis of the values themselves.

    Null of equal ones.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `kurtosis_pop(col("x"))` is `-1.5`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("kurtosis_pop", (x,))


def quantile_disc(x: Expression, q: float | Sequence[float] | Expression) -> Expression:
    """The value at the quantile, one of the values themselves.

    Of n values the one at max(1, n - floor(n - n·q)), the least is 1.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `quantile_disc(col("x"), 0.75)` is `2`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("quantile_disc", (x, q))


def mad(x: Expression) -> Expression:
    """The median of the absolute deviations from the median.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `mad(col("x"))` is `0.0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("mad", (x,))


def sem(x: Expression) -> Expression:
    """The standard error of the mean, as DuckDB has it.

    Std_pop(x) / sqrt(count(x)).

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `sem(col("x"))` is `0.2721655269759087`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("sem", (x,))


def geometric_mean(x: Expression) -> Expression:
    """The geometric mean.

    Exp(mean(ln(x))), so 0 if any value is 0, NaN if one is negative.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `geometric_mean(col("x"))` is `1.2599210498948732`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("geometric_mean", (x,))


def weighted_avg(x: Expression, weight: Expression) -> Expression:
    """The mean of x by weight, of the pairs without a null.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `weighted_avg(col("x"), col("x"))` is `1.5`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("weighted_avg", (x, weight))


def regr_count(y: Expression, x: Expression) -> Expression:
    """The number of pairs without a null.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `regr_count(col("x"), lit(2).multiply(col("x")))` is `3`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("regr_count", (y, x))


def regr_avgx(y: Expression, x: Expression) -> Expression:
    """The mean of x over pairs.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `regr_avgx(col("x"), lit(3).multiply(col("x")))` is `4.0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("regr_avgx", (y, x))


def regr_avgy(y: Expression, x: Expression) -> Expression:
    """The mean of y over pairs.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `regr_avgy(lit(3).multiply(col("x")), col("x"))` is `4.0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("regr_avgy", (y, x))


def regr_sxx(y: Expression, x: Expression) -> Expression:
    """The sum of squared deviations of x over pairs.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `regr_sxx(col("x"), lit(3).multiply(col("x")))` is `6.0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("regr_sxx", (y, x))


def regr_syy(y: Expression, x: Expression) -> Expression:
    """The sum of squared deviations of y over pairs.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `regr_syy(lit(3).multiply(col("x")), col("x"))` is `6.0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("regr_syy", (y, x))


def regr_sxy(y: Expression, x: Expression) -> Expression:
    """The sum of products of deviations over pairs.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `regr_sxy(lit(3).multiply(col("x")), col("x"))` is `2.0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("regr_sxy", (y, x))


def regr_slope(y: Expression, x: Expression) -> Expression:
    """The slope of the least squares line y = a + b·x.

    NaN where x is constant.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `regr_slope(lit(3).multiply(col("x")), col("x"))` is `3.0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("regr_slope", (y, x))


def regr_intercept(y: Expression, x: Expression) -> Expression:
    """The intercept of the least squares line.

    Null where x is constant.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `regr_intercept(lit(3).multiply(col("x")).add(1), col("x"))` is `1.0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("regr_intercept", (y, x))


def regr_r2(y: Expression, x: Expression) -> Expression:
    """The coefficient of determination: corr(y, x) squared.

    Null where x is constant, 1 where only y is.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `regr_r2(col("x"), lit(3).multiply(col("x")))` is `1.0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("regr_r2", (y, x))


def approx_count_distinct(x: Expression) -> Expression:
    """About how many distinct values there are that are not null.

    HyperLogLog with 4,096 registers, a standard error of 1.6 %. The same on every engine, for every order and split of
    the rows.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `approx_count_distinct(col("x"))` is `2`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("approx_count_distinct", (x,))


def approx_quantile(x: Expression, q: float | Sequence[float] | Expression) -> Expression:
    """`quantile(x, q)` of the values rounded to 8 significant bits, so within 1/256 (0.4 %) of it where the two values next to it have one sign; integers up to 256 are exact.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `approx_quantile(col("x"), 0.75)` is `1.5`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("approx_quantile", (x, q))


def histogram(x: Expression) -> Expression:
    """A map of the distinct values, ascending, to how often each comes.

    Null of no values.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `col("x").histogram().map_values()` is `[2, 1]`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("histogram", (x,))


def entropy(x: Expression) -> Expression:
    """The entropy of the distinct values in bits: the sum of p·log2(1 / p).

    0 of no values.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `entropy(col("x"))` is `0.9182958340544896`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("entropy", (x,))


def approx_top_k(x: Expression, k: int | Expression) -> Expression:
    """A list of the k most frequent values, exact, in the order of `values_by_frequency`.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `approx_top_k(col("x"), 1)` is `[1]`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("approx_top_k", (x, k))


def values_by_frequency(x: Expression) -> Expression:
    """A list of the distinct values, the most frequent first, of those that tie the least.

    Null of no values.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `values_by_frequency(col("x"))` is `[1, 2]`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("values_by_frequency", (x,))


def min_n(x: Expression, n: int | Expression) -> Expression:
    """`min(x, n)`: a list of the n least values, ascending.

    Null of no values.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `min_n(col("x"), 2)` is `[1, 1]`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("min_n", (x, n))


def max_n(x: Expression, n: int | Expression) -> Expression:
    """`max(x, n)`: a list of the n greatest values, descending.

    Null of no values.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `max_n(col("x"), 2)` is `[2, 1]`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("max_n", (x, n))


def min_by_n(x: Expression, y: Expression, n: int | Expression) -> Expression:
    """`min_by(x, y, n)`: a list of x of the n rows where y is least.

    Rows where x or y is null are skipped; of rows that tie, the least x first.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `min_by_n(col("x"), col("x").negate(), 2)` is `[2, 1]`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("min_by_n", (x, y, n))


def max_by_n(x: Expression, y: Expression, n: int | Expression) -> Expression:
    """`max_by(x, y, n)`.

    A list of x of the n rows where y is greatest, as in `min_by`.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `max_by_n(col("x"), col("x").negate(), 2)` is `[1, 1]`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("max_by_n", (x, y, n))


def array_agg(x: Expression, *, only: Expression | None = None, order_by: OrderBy | None = None) -> Expression:
    """A list of the values with the nulls, of the rows where `only` is true, which FILTER sets.

    Null of no rows.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `col("x").array_agg().list_length()` is `4`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("array_agg", (x,), only=only, order_by=order_by)


def array_agg_distinct(x: Expression, *, only: Expression | None = None, order_by: OrderBy | None = None) -> Expression:
    """`array_agg(DISTINCT x)`: a list of the distinct values.

    Null is one.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `col("x").array_agg_distinct().list_length()` is `3`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("array_agg_distinct", (x,), only=only, order_by=order_by)


def string_agg(x: Expression, separator: str | Expression | None = None, *, order_by: OrderBy | None = None) -> Expression:
    """The strings that are not null, with a separator between them: a comma if none is given.

    Null of none.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `string_agg(col("x").cast("string"), "-")` is `"1-1-2"`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("string_agg", (x,), (separator,), order_by=order_by)


def string_agg_distinct(x: Expression, separator: str | Expression | None = None, *, order_by: OrderBy | None = None) -> Expression:
    """`string_agg(DISTINCT x)`.

    The same of distinct strings.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `string_agg_distinct(col("x").cast("string"))` is `"1,2"`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("string_agg_distinct", (x,), (separator,), order_by=order_by)


def sum_distinct(x: Expression) -> Expression:
    """`sum(DISTINCT x)`.

    The sum of the distinct values.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `sum_distinct(col("x"))` is `3`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("sum_distinct", (x,))


def mean_distinct(x: Expression) -> Expression:
    """`mean(DISTINCT x)`.

    The mean of the distinct values.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `mean_distinct(col("x"))` is `1.5`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("mean_distinct", (x,))


def product_distinct(x: Expression) -> Expression:
    """`product(DISTINCT x)`.

    The product of the distinct values.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `product_distinct(col("x"))` is `2.0`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("product_distinct", (x,))


def median_distinct(x: Expression) -> Expression:
    """`median(DISTINCT x)`.

    The median of the distinct values.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `median_distinct(col("x"))` is `1.5`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("median_distinct", (x,))


def var_distinct(x: Expression) -> Expression:
    """`var(DISTINCT x)`.

    The sample variance of the distinct values.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `var_distinct(col("x"))` is `0.5`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("var_distinct", (x,))


def std_distinct(x: Expression) -> Expression:
    """`std(DISTINCT x)`.

    The sample standard deviation of the distinct values.

    An aggregate: for `aggregate`, `agg`, and `over` of groups.

    Example: `std_distinct(col("x"))` is `0.7071067811865476`, over x = 1, 1, 2, null, in the order of x.
    """
    return function_call("std_distinct", (x,))


def row_number() -> Expression:
    """The row's place in its group, from 1.

    A window function: for `window`, and `over` of groups in order.

    Example: `row_number()` is `[1, 2, 3, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return call("row_number", ())


def rank(method: RankMethod | Expression | None = None) -> Expression:
    """1 more than the rows before it in order; rows that tie share it.

    `method` is 'min', or 'max', 'average' (in float64), 'dense' or 'ordinal': how rows that tie are numbered.

    A window function: for `window`, and `over` of groups in order.

    Example: `rank()` is `[1, 2, 3, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return call("rank", (), (method,))


def dense_rank() -> Expression:
    """1 more than the distinct keys of order_by before it.

    Rows that tie share it.

    A window function: for `window`, and `over` of groups in order.

    Example: `dense_rank()` is `[1, 2, 3, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return call("dense_rank", ())


def percent_rank() -> Expression:
    """(rank - 1) / (rows - 1), 0 in a group of 1 row.

    A window function: for `window`, and `over` of groups in order.

    Example: `percent_rank()` is `[0.0, 0.3333333333333333, 0.6666666666666666, 1.0]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return call("percent_rank", ())


def cume_dist() -> Expression:
    """The share of the group's rows that come no later in order.

    A window function: for `window`, and `over` of groups in order.

    Example: `cume_dist()` is `[0.25, 0.5, 0.75, 1.0]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return call("cume_dist", ())


def ntile(n: int | Expression) -> Expression:
    """The tile, from 1, when the group's rows are dealt to n equal tiles.

    The first ones get the rest.

    A window function: for `window`, and `over` of groups in order.

    Example: `ntile(3)` is `[1, 1, 2, 3]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return call("ntile", (n,))


def lag(x: Expression, offset: int | Expression | None = None, *, default: IntoExpression = None, ignore_nulls: bool | Expression | None = None) -> Expression:
    """x of the row `offset` (1) rows before, `default` (null) where there is none.

    Nulls are kept, or, with `ignore_nulls` or IGNORE NULLS, their rows not counted.

    A window function: for `window`, and `over` of groups in order.

    Example: `lag(col("x"))` is `[None, 1, 2, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("lag", (x,), (offset,), default=default, ignore_nulls=ignore_nulls)


def lead(x: Expression, offset: int | Expression | None = None, *, default: IntoExpression = None, ignore_nulls: bool | Expression | None = None) -> Expression:
    """x of the row `offset` (1) rows after, as in lag.

    A window function: for `window`, and `over` of groups in order.

    Example: `lead(col("x"), ignore_nulls=True)` is `[2, 4, 4, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("lead", (x,), (offset,), default=default, ignore_nulls=ignore_nulls)


def nth_value(x: Expression, n: int | Expression, *, ignore_nulls: bool | Expression | None = None, only: Expression | None = None) -> Expression:
    """x of the group's row with number n, from 1, null where there is none.

    Nulls and `only` as in first.

    A window function: for `window`, and `over` of groups in order.

    Example: `nth_value(col("x"), 2)` is `[2, 2, 2, 2]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("nth_value", (x, n), ignore_nulls=ignore_nulls, only=only)


def ffill(x: Expression) -> Expression:
    """The last x up to here that is not null.

    A window function: for `window`, and `over` of groups in order.

    Example: `ffill(col("x"))` is `[1, 2, 2, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("ffill", (x,))


def bfill(x: Expression) -> Expression:
    """The next x from here on that is not null.

    A window function: for `window`, and `over` of groups in order.

    Example: `bfill(col("x"))` is `[1, 2, 4, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("bfill", (x,))


def interpolate(x: Expression, by: Expression | None = None) -> Expression:
    """x in float64, and in place of a null what lies on the line from the last value to the next.

    Null before the first value and after the last. Distances are those of rows, or of `by`, a time or number, as in
    interpolate(x, by => ts).

    A window function: for `window`, and `over` of groups in order.

    Example: `interpolate(col("x"))` is `[1.0, 2.0, 3.0, 4.0]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("interpolate", (x,), (by,))


def diff(x: Expression, offset: int | Expression | None = None) -> Expression:
    """x minus the x of `offset` (1) rows before.

    Of timestamps, a duration, and of dates, days.

    A window function: for `window`, and `over` of groups in order.

    Example: `diff(col("x"))` is `[None, 1, None, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("diff", (x,), (offset,))


def pct_change(x: Expression, offset: int | Expression | None = None) -> Expression:
    """x / x' - 1 in float64, with the x' of `offset` (1) rows before.

    A window function: for `window`, and `over` of groups in order.

    Example: `pct_change(col("x"))` is `[None, 1.0, None, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("pct_change", (x,), (offset,))


def cum_count(x: Expression, nulls: str | Expression | None = None) -> Expression:
    """The number of values so far.

    A window function: for `window`, and `over` of groups in order.

    Example: `cum_count(col("x"))` is `[1, 2, None, 3]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("cum_count", (x,), (nulls,))


def cum_sum(x: Expression, nulls: str | Expression | None = None) -> Expression:
    """The sum so far.

    Overflow is an error.

    A window function: for `window`, and `over` of groups in order.

    Example: `cum_sum(col("x"))` is `[1, 3, None, 7]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("cum_sum", (x,), (nulls,))


def cum_prod(x: Expression, nulls: str | Expression | None = None) -> Expression:
    """The product so far: int64 or float64.

    Overflow of int64 is an error.

    A window function: for `window`, and `over` of groups in order.

    Example: `cum_prod(col("x"))` is `[1, 2, None, 8]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("cum_prod", (x,), (nulls,))


def cum_mean(x: Expression, nulls: str | Expression | None = None) -> Expression:
    """The mean so far, as of `mean`.

    A window function: for `window`, and `over` of groups in order.

    Example: `cum_mean(col("x"))` is `[1.0, 1.5, None, 2.3333333333333335]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("cum_mean", (x,), (nulls,))


def cum_min(x: Expression, nulls: str | Expression | None = None) -> Expression:
    """The least value so far.

    A window function: for `window`, and `over` of groups in order.

    Example: `cum_min(col("x"))` is `[1, 1, None, 1]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("cum_min", (x,), (nulls,))


def cum_max(x: Expression, nulls: str | Expression | None = None) -> Expression:
    """The greatest value so far.

    NaN once one is NaN.

    A window function: for `window`, and `over` of groups in order.

    Example: `cum_max(col("x"))` is `[1, 2, None, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("cum_max", (x,), (nulls,))


def rolling_sum(x: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
    """The sum over the frame.

    Overflow is an error.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_sum(col("x"), 2)` is `[1, 3, 2, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_sum", (x,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)


def rolling_mean(x: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
    """The mean over the frame, as of `mean`.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_mean(col("x"), 2)` is `[1.0, 1.5, 2.0, 4.0]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_mean", (x,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)


def rolling_min(x: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
    """The least value of the frame.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_min(col("x"), 2)` is `[1, 1, 2, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_min", (x,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)


def rolling_max(x: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
    """The greatest value of the frame.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_max(col("x"), 2)` is `[1, 2, 2, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_max", (x,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)


def rolling_count(x: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
    """The number of values in the frame.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_count(col("x"), 2)` is `[1, 2, 1, 1]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_count", (x,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)


def rolling_std(x: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
    """The sample standard deviation (ddof 1) over the frame.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_std(col("x"), 2)` is `[None, 0.7071067811865476, None, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_std", (x,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)


def rolling_var(x: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
    """The sample variance (ddof 1) over the frame.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_var(col("x"), 2)` is `[None, 0.5, None, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_var", (x,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)


def rolling_median(x: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
    """The exact median over the frame, as of `median`.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_median(col("x"), 3)` is `[1.0, 1.5, 1.5, 3.0]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_median", (x,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)


def rolling_quantile(x: Expression, q: float | Sequence[float] | Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
    """The exact quantile over the frame, as of `quantile`.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_quantile(col("x"), 0.75, 3)` is `[1.0, 1.75, 1.75, 3.5]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_quantile", (x, q), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)


def rolling_count_distinct(x: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
    """The number of distinct values in the frame, nulls not counted.

    NaN is one value.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_count_distinct(col("x").greater(1), 3)` is `[1, 2, 2, 1]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_count_distinct", (x,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)


def rolling_covar_samp(x: Expression, y: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
    """The sample covariance (ddof 1) of the frame's pairs without a null.

    Null of fewer than 2.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_covar_samp(col("x"), lit(3).multiply(col("x")), 2)` is `[None, 1.5, None, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_covar_samp", (x, y), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)


def rolling_covar_pop(x: Expression, y: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
    """The covariance (ddof 0) of the frame's pairs without a null.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_covar_pop(col("x"), lit(3).multiply(col("x")), 2)` is `[0.0, 0.75, 0.0, 0.0]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_covar_pop", (x, y), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)


def rolling_corr(x: Expression, y: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
    """Pearson's correlation of the frame's pairs without a null.

    NaN where x or y is constant, null of fewer than 2 pairs.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_corr(col("x"), col("x").negate(), 2)` is `[None, -1.0, None, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_corr", (x, y), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)


def rolling_first(x: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None, ignore_nulls: bool | Expression | None = None, only: Expression | None = None) -> Expression:
    """x of the frame's first row, or of those where `only` is true, which FILTER sets.

    Nulls are kept unless `ignore_nulls`.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_first(col("x"), 2)` is `[1, 1, 2, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_first", (x,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods, ignore_nulls=ignore_nulls, only=only)


def rolling_last(x: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None, ignore_nulls: bool | Expression | None = None, only: Expression | None = None) -> Expression:
    """x of the frame's last row, as in rolling_first.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_last(col("x"), 2, ignore_nulls=True)` is `[1, 2, 2, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_last", (x,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods, ignore_nulls=ignore_nulls, only=only)


def rolling_nth_value(x: Expression, n: int | Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None, ignore_nulls: bool | Expression | None = None, only: Expression | None = None) -> Expression:
    """x of the frame's row with number n, from 1, null where there is none.

    Nulls and `only` as in rolling_first.

    A window function: for `window`, and `over` of groups in order.

    Example: `rolling_nth_value(col("x"), 2, rows=(-1, 1))` is `[2, 2, None, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("rolling_nth_value", (x, n), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods, ignore_nulls=ignore_nulls, only=only)


def ewm_mean(x: Expression, *, half_life: float | timedelta | Expression | None = None, span: float | Expression | None = None, alpha: float | Expression | None = None, com: float | Expression | None = None, adjust: bool | Expression | None = None, ignore_nulls: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
    """The exponentially weighted mean: y = (1 - a)·y' + a·x, and the first y is x.

    Give one of four: `alpha` is a, `span` sets a = 2 / (span + 1), `com` sets a = 1 / (com + 1), and `half_life` sets a
    = 1 - 2^(-d / half_life). d is the distance from the last value, in seconds if order_by is a timestamp, else in
    rows. `adjust` divides the decayed sum of the values by the sum of their weights, as pandas and Polars do by
    default. With `adjust`, `ignore_nulls => false` counts rows of nulls. Null before `min_periods` values.

    A window function: for `window`, and `over` of groups in order.

    Example: `ewm_mean(col("x"), half_life=timedelta(hours=1))` is `[1.0, 1.5, None, 3.375]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("ewm_mean", (x,), half_life=half_life, span=span, alpha=alpha, com=com, adjust=adjust, ignore_nulls=ignore_nulls, min_periods=min_periods)


def ewm_var(x: Expression, *, half_life: float | timedelta | Expression | None = None, span: float | Expression | None = None, alpha: float | Expression | None = None, com: float | Expression | None = None, adjust: bool | Expression | None = None, ignore_nulls: bool | Expression | None = None, min_periods: int | Expression | None = None, bias: bool | Expression | None = None) -> Expression:
    """The variance of the values so far, weighted as in ewm_mean, with its options.

    It is unbiased, as that of a sample; `bias => true` leaves that correction out. Null where one value has all of the
    weight, as the first has; 0 with bias.

    A window function: for `window`, and `over` of groups in order.

    Example: `ewm_var(col("x"), alpha=0.5)` is `[None, 0.5, None, 2.7]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("ewm_var", (x,), half_life=half_life, span=span, alpha=alpha, com=com, adjust=adjust, ignore_nulls=ignore_nulls, min_periods=min_periods, bias=bias)


def ewm_std(x: Expression, *, half_life: float | timedelta | Expression | None = None, span: float | Expression | None = None, alpha: float | Expression | None = None, com: float | Expression | None = None, adjust: bool | Expression | None = None, ignore_nulls: bool | Expression | None = None, min_periods: int | Expression | None = None, bias: bool | Expression | None = None) -> Expression:
    """The root of ewm_var.

    A window function: for `window`, and `over` of groups in order.

    Example: `ewm_std(col("x"), alpha=0.5, bias=True)` is `[0.0, 0.5, None, 1.299038105676658]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("ewm_std", (x,), half_life=half_life, span=span, alpha=alpha, com=com, adjust=adjust, ignore_nulls=ignore_nulls, min_periods=min_periods, bias=bias)


def decayed_sum(x: Expression, *, half_life: float | timedelta | Expression | None = None, span: float | Expression | None = None, alpha: float | Expression | None = None) -> Expression:
    """y = 2^(-d / half_life)·y' + x, or (1 - a)·y' + x, with d and a as in ewm_mean.

    A window function: for `window`, and `over` of groups in order.

    Example: `decayed_sum(col("x"), half_life=timedelta(hours=1))` is `[1.0, 2.5, None, 4.625]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("decayed_sum", (x,), half_life=half_life, span=span, alpha=alpha)


def qcut(x: Expression, quantiles: int | Sequence[float] | Expression, labels: Sequence[Scalar] | Expression | None = None, left_closed: bool | Expression | None = None) -> Expression:
    """The label of the bin of x between quantiles of the group.

    `quantiles` is a number of bins of about equal counts, or the list of shares at which to cut, such as [0.25, 0.5,
    0.75]. Breaks are as of `quantile`, labels and bins as of `cut`. It needs no order. Bins between equal quantiles are
    empty; no value is below a quantile of NaN.

    A window function: for `window`, and `over` of groups in order.

    Example: `qcut(col("x"), 2, ["low", "high"])` is `["low", "low", None, "high"]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return function_call("qcut", (x, quantiles), (labels, left_closed))


def session_id(gap: timedelta | Expression) -> Expression:
    """How many gaps longer than `gap` the group has had so far.

    Needs order_by to begin with a timestamp.

    A window function: for `window`, and `over` of groups in order.

    Example: `session_id(gap=timedelta(hours=1))` is `[0, 0, 1, 1]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
    """
    return call("session_id", (gap,))
