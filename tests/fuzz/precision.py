"""How far columns can be compared: which are bit-equal, which are rounded, which an engine may choose."""

import enum

from gpuetl.expressions.ir import Call, Cast, Column, Expr
from gpuetl.types.data_types import FLOAT64, is_floating


class Precision(enum.IntEnum):
    """What two right answers have in common, from nothing to everything."""

    NOTHING = 0
    """The rounding of large terms that cancel: not compared."""
    SELF = 1
    """Compared between runs of the engine, not with DuckDB, which has no text for it."""
    COARSE = 2
    """Rounded to float32."""
    ROUNDED = 3
    """Equal but for the last digits: not to be branched on, sorted by or joined with."""
    EXACT = 4
    """Bit-equal."""
    TAME = 5
    """Bit-equal, and so are sums of it, in any order: small integers and multiples of a quarter."""


EXACT_FLOATS = frozenset((
    "add", "subtract", "multiply", "divide", "modulo", "negate", "abs", "sign", "floor", "ceil", "trunc", "sqrt", "greatest",
    "least", "coalesce", "case", "nullif", "min", "max", "lag", "lead", "first", "last", "ffill", "cum_min", "cum_max",
    "rolling_min", "rolling_max", "rolling_first", "rolling_last", "rolling_nth_value", "nth_value", "round", "epoch", "diff", "mode", "quantile_disc", "arg_min_null", "arg_max_null", "bfill", "percent_rank", "cume_dist",
    "pct_change", "clip", "try_add", "try_subtract", "try_multiply", "list_get",
    "list_extract", "list_first", "list_last", "list_min", "list_max", "list_any_value", "list_mean", "list_mode",
))  # fmt: skip
"""Functions whose float results are correctly rounded, or one of their arguments."""
KEEPING = frozenset((
    "negate", "abs", "floor", "ceil", "trunc", "greatest", "least", "coalesce", "case", "min", "max", "lag", "lead",
    "first", "last", "ffill", "bfill", "cum_min", "cum_max", "rolling_min", "rolling_max", "rolling_first", "rolling_last", "rolling_nth_value", "nth_value", "mode", "quantile_disc", "arg_min_null", "arg_max_null", "clip",
    "list_get", "list_extract", "list_first", "list_last", "list_min", "list_max", "list_any_value", "list_mode",
))  # fmt: skip
"""Of these, those that leave tame values tame."""
VALUE_ONLY = frozenset(
    (
        "negate",
        "abs",
        "coalesce",
        "case",
        "lag",
        "lead",
        "first",
        "last",
        "rolling_first",
        "rolling_last",
        "rolling_nth_value",
        "nth_value",
        "ffill",
        "bfill",
    )
)
"""Functions that look at no digit of a number: rounded ones stay rounded."""
ACCUMULATING = frozenset((
    "sum", "mean", "var", "std", "var_pop", "std_pop", "cum_sum", "cum_mean", "rolling_sum", "rolling_mean", "rolling_std",
    "rolling_var", "rolling_covar_samp", "rolling_covar_pop", "rolling_corr", "ewm_mean", "ewm_var", "ewm_std", "decayed_sum", "corr", "covar_samp", "covar_pop", "quantile", "approx_quantile", "median", "mad", "cum_prod",
    "rolling_median", "rolling_quantile",
    "sum_distinct", "mean_distinct", "product_distinct", "median_distinct", "var_distinct", "std_distinct",
    "product", "skewness", "kurtosis", "kurtosis_pop",
    "list_cosine_similarity", "list_cosine_distance", "list_median", "list_quantile", "list_mad", "list_var", "list_std",
    "list_var_pop", "list_std_pop", "list_skewness", "list_kurtosis", "list_kurtosis_pop",
))  # fmt: skip
"""Functions whose terms can cancel."""
COLLECTING = frozenset(
    (
        "array_agg",
        "array_agg_distinct",
        "sum_distinct",
        "mean_distinct",
        "count_distinct",
        "approx_count_distinct",
        "histogram",
        "values_by_frequency",
        "approx_top_k",
        "list_entropy",
        "list_histogram",
        "entropy",
        "rolling_count_distinct",
    )
)
"""Functions that order values, or tell them apart."""
MEANS = frozenset(("mean", "mean_distinct", "cum_mean", "rolling_mean"))
"""Functions that are exact of integers and decimals."""
SELF_ONLY = frozenset(("ewm_mean", "ewm_var", "ewm_std", "decayed_sum"))
"""Functions that DuckDB has no text for."""


def precision_of(expr: Expr, columns: dict[str, Precision]) -> Precision:
    """Return how far the expression's value can be compared."""
    if isinstance(expr, Column):
        return columns[expr.name]
    if isinstance(expr, Cast):
        inner = precision_of(expr.operand, columns)
        return inner if expr.implicit else min(inner, Precision.EXACT)
    if not isinstance(expr, Call):
        return Precision.EXACT
    return of_call(expr, min((precision_of(arg, columns) for arg in expr.args), default=Precision.EXACT))


def of_call(call: Call, arguments: Precision) -> Precision:
    """Return how far a call's result can be compared, given the least of its arguments."""
    name = call.function.name
    if name in COLLECTING and arguments < Precision.EXACT:
        return Precision.NOTHING
    if not is_floating(call.dtype):
        return min(arguments, Precision.TAME if name in KEEPING else Precision.EXACT)
    if name in MEANS and not is_floating(call.args[0].dtype):
        return min(arguments, Precision.EXACT)
    if name in SELF_ONLY:
        return Precision.SELF if arguments is Precision.TAME else Precision.NOTHING
    if name in ACCUMULATING:
        return Precision.ROUNDED if arguments is Precision.TAME else Precision.NOTHING
    if name in ("round", "trunc") and len(call.args) > 1:
        return Precision.ROUNDED if arguments is Precision.TAME else Precision.NOTHING
    if arguments <= Precision.ROUNDED:
        return arguments if name in VALUE_ONLY else Precision.NOTHING
    if name in EXACT_FLOATS:
        return min(arguments, Precision.TAME if name in KEEPING else Precision.EXACT)
    return Precision.ROUNDED if call.dtype == FLOAT64 else Precision.COARSE
