"""Moments, regressions and other statistics: one value a group.  Nulls are skipped, and so are pairs with a null."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gpuetl.expressions.functions.aggregates import in_float64
from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, anything, takes_one
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.data_types import BOOL, FLOAT64, INT64, NULL, is_integer, is_number, type_name

Aggregate = partial(Function, kind="aggregate", nulls="own")


def counted_pairs(args: Sequence[Expr]) -> Typing:
    """Pairs of numbers, counted."""
    return in_float64(args)[0], INT64


def integers(args: Sequence[Expr]) -> Typing:
    """Integers, kept; null is an int64."""
    if args[0].dtype == NULL:
        return [INT64], INT64
    return takes_one(is_integer, "integers")(args)


def integers_or_booleans(args: Sequence[Expr]) -> Typing:
    """Refuse booleans with what to write instead."""
    if args[0].dtype == BOOL:
        raise TypeMismatch(f"takes integers, got {type_name(BOOL)}", "Write any(x) or all(x) of conditions.")
    return integers(args)


def quantile_of_values(args: Sequence[Expr]) -> Typing:
    """Any type, kept, and a constant in 0 to 1."""
    if isinstance(args[1], Literal) and not (is_number(args[1].dtype) and 0 <= args[1].value <= 1):
        raise TypeMismatch(coded("GE1106", f"takes q from 0 to 1, got {args[1].value}"))
    return [args[0].dtype, FLOAT64], args[0].dtype


OF_X, OF_Y = "CASE WHEN y IS NOT NULL THEN x END", "CASE WHEN x IS NOT NULL THEN y END"
SLOPE = f"covar_pop(y, x) / var_pop({OF_X})"

FUNCTIONS = (
    Aggregate("any_value", "x", anything(), "One of the values that are not null: always the least, so that every run gives the same.",
              "any_value(x)", 1, nested=True, definition="min(x)"),
    Aggregate("product", "x", in_float64, "The product in float64.", "product(x)", 2.0),
    Aggregate("bitwise_and", "x", integers_or_booleans, "The bits that are set in all integers; `bit_and(x)` in SQL.", "bitwise_and(x)", 0),
    Aggregate("bitwise_or", "x", integers_or_booleans, "The bits that are set in any integer; `bit_or(x)` in SQL.", "bitwise_or(x)", 3),
    Aggregate("bitwise_xor", "x", integers_or_booleans, "The bits that are set in an odd number of integers; `bit_xor(x)` in SQL.",
              "bitwise_xor(x)", 2),
    Aggregate("skewness", "x", in_float64, "The skewness of a sample; null of fewer than 3 values, and of equal ones.", "skewness(x)",
              1.7320508075688767),
    Aggregate("kurtosis", "x", in_float64,
              "The excess kurtosis of a sample; null of fewer than 4 values, and of equal ones.", "kurtosis(abs(x))", None),
    Aggregate("kurtosis_pop", "x", in_float64, "The excess kurtosis of the values themselves; null of equal ones.", "kurtosis_pop(x)", -1.5),
    Aggregate("quantile_disc", "x q!", quantile_of_values,
              "The value at the quantile, one of the values themselves: of n values the one at max(1, n - floor(n - n·q)), the least is 1.",
              "quantile_disc(x, 0.75)", 2),
    Aggregate("mad", "x", in_float64, "The median of the absolute deviations from the median.", "mad(x)", 0.0),
    Aggregate("sem", "x", in_float64, "The standard error of the mean, as DuckDB has it: std_pop(x) / sqrt(count(x)).", "sem(x)",
              0.27216552697590868, definition="std_pop(x) / sqrt(count(x))"),
    Aggregate("geometric_mean", "x", in_float64, "The geometric mean: exp(mean(ln(x))), so 0 if any value is 0, NaN if one is negative.",
              "geometric_mean(x)", 1.2599210498948732, definition="exp(mean(ln(x)))"),
    Aggregate("weighted_avg", "x weight", in_float64, "The mean of x by weight, of the pairs without a null.", "weighted_avg(x, x)", 1.5,
              definition="sum(x * weight) / sum(CASE WHEN x IS NOT NULL THEN weight END)"),
    Aggregate("regr_count", "y x", counted_pairs, "The number of pairs without a null.", "regr_count(x, 2 * x)", 3,
              definition=f"count({OF_X})"),
    Aggregate("regr_avgx", "y x", in_float64, "The mean of x over pairs.", "regr_avgx(x, 3 * x)", 4.0, definition=f"mean({OF_X})"),
    Aggregate("regr_avgy", "y x", in_float64, "The mean of y over pairs.", "regr_avgy(3 * x, x)", 4.0, definition=f"mean({OF_Y})"),
    Aggregate("regr_sxx", "y x", in_float64, "The sum of squared deviations of x over pairs.", "regr_sxx(x, 3 * x)", 6.0,
              definition=f"count({OF_X}) * var_pop({OF_X})"),
    Aggregate("regr_syy", "y x", in_float64, "The sum of squared deviations of y over pairs.", "regr_syy(3 * x, x)", 6.0,
              definition=f"count({OF_X}) * var_pop({OF_Y})"),
    Aggregate("regr_sxy", "y x", in_float64, "The sum of products of deviations over pairs.", "regr_sxy(3 * x, x)", 2.0,
              definition=f"count({OF_X}) * covar_pop(y, x)"),
    Aggregate("regr_slope", "y x", in_float64, "The slope of the least squares line y = a + b·x; NaN where x is constant.",
              "regr_slope(3 * x, x)", 3.0, definition=SLOPE),
    Aggregate("regr_intercept", "y x", in_float64, "The intercept of the least squares line; null where x is constant.",
              "regr_intercept(3 * x + 1, x)", 1.0,
              definition=f"CASE WHEN var_pop({OF_X}) <> 0 THEN mean({OF_Y}) - {SLOPE} * mean({OF_X}) END"),
    Aggregate("regr_r2", "y x", in_float64, "The coefficient of determination: corr(y, x) squared; null where x is constant, 1 where only y is.",
              "regr_r2(x, 3 * x)", 1.0,
              definition=f"CASE WHEN var_pop({OF_X}) = 0 THEN NULL WHEN var_pop({OF_Y}) = 0 THEN 1.0 "
              "ELSE corr(y, x) * corr(y, x) END"),
)  # fmt: skip
"""The examples are over x = 1, 1, 2, null, in the order of x."""

THIRD_MOMENT, FOURTH_MOMENT = (
    Aggregate(f"{name}_moment", "x", in_float64, f"The sum of {name} powers of deviations.", "", None)
    for name in ("third", "fourth")
)
MERGED_THIRD, MERGED_FOURTH = (
    Aggregate(
        f"merged_{name}", "n mean second third fourth", in_float64, f"The {name} moment of parts of n values.", "", None
    )
    for name in ("third", "fourth")
)
"""Not for users: what the partitions give of skewness and kurtosis, and what merges them."""

INTERNAL = {function.name: function for function in (THIRD_MOMENT, FOURTH_MOMENT, MERGED_THIRD, MERGED_FOURTH)}
