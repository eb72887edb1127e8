"""Aggregates: one value a group.  Nulls are skipped; the aggregate of no values is null, a count is 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TypeGuard

import pyarrow as pa

from gpuetl.expressions.functions.function import (
    Function,
    TypeMismatch,
    Typing,
    anything,
    fixed,
    table_entry,
    takes_one,
)
from gpuetl.expressions.functions.ordering import canonical, is_present, order_text
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.expressions.syntax import SORT_KEY
from gpuetl.messages import coded
from gpuetl.types.data_types import (
    BOOL,
    DURATION,
    FLOAT64,
    INT64,
    NULL,
    can_compare,
    is_floating,
    is_integer,
    is_number,
    type_name,
    value_kinds,
)
from gpuetl.types.decimal_types import integer_decimal, is_decimal, total_type
from gpuetl.types.nested_types import is_nested

Aggregate = partial(Function, kind="aggregate", nulls="own")


def total_type_of(args: Sequence[Expr]) -> Typing:
    """Integers in int64, floats in float64, decimals at 38 digits, durations."""
    dtype = args[0].dtype
    if is_decimal(dtype):
        return [dtype], total_type(dtype)
    if not (is_number(dtype) or dtype in (DURATION, NULL)):
        raise TypeMismatch(f"takes numbers, got {type_name(dtype)}")
    result = dtype if dtype == DURATION else FLOAT64 if is_floating(dtype) else INT64
    return [result], result


numbers_in_float64 = takes_one(is_number, "numbers")


def mean_type(args: Sequence[Expr]) -> Typing:
    """Numbers, whose mean is a float64: integers and decimals as they are, since their sum is exact; and durations."""
    dtype = args[0].dtype
    if dtype == DURATION:
        return [dtype], dtype
    numbers_in_float64(args)
    if is_integer(dtype):
        return [integer_decimal(dtype) if dtype == pa.uint64() else INT64], FLOAT64
    return [dtype if is_decimal(dtype) else FLOAT64], FLOAT64


def in_float64(args: Sequence[Expr]) -> Typing:
    """Numbers, computed in float64."""
    for arg in args:
        numbers_in_float64([arg])
    return [FLOAT64] * len(args), FLOAT64


def quantile_type(args: Sequence[Expr]) -> Typing:
    """Numbers, and a constant in 0 to 1."""
    typing = in_float64(args)
    if isinstance(args[1], Literal) and not 0 <= args[1].value <= 1:
        raise TypeMismatch(coded("GE1106", f"takes q from 0 to 1, got {args[1].value}"))
    return typing


def compared(args: Sequence[Expr]) -> Typing:
    """Any type that is compared, kept, nested or not; and what else there is."""
    for arg in args:
        if not can_compare(arg.dtype):
            raise TypeMismatch(
                coded("GE1115", f"does not take {value_kinds(arg.dtype)}"), "Such values are only passed on."
            )
    return [arg.dtype for arg in args], args[0].dtype


def counted(args: Sequence[Expr]) -> Typing:
    """Any types that are compared."""
    return compared(args)[0], INT64


def selected_type(args: Sequence[Expr]) -> Typing:
    """Any type, kept; a boolean, and a condition."""
    fixed(BOOL, BOOL, returns=BOOL)(args[1:])
    return [args[0].dtype, BOOL, BOOL][: len(args)], args[0].dtype


SORT_KEY_FUNCTION = Function(
    SORT_KEY, "x descending! nulls_first!", anything(), "A key of ORDER BY in a call.", "", None, nested=True
)
"""Not for users: the last arguments of an aggregate that has an order of its own."""


def is_sort_key(arg: Expr) -> TypeGuard[Call]:
    """Return whether an argument is a key of the call's own order."""
    return isinstance(arg, Call) and arg.function is SORT_KEY_FUNCTION


def split_order(call: Call) -> tuple[tuple[Expr, ...], tuple[Call, ...]]:
    """Return the arguments of a call, and the keys of its own order."""
    keys = tuple(arg for arg in call.args if is_sort_key(arg))
    return call.args[: len(call.args) - len(keys)], keys


def of_texts(call: Call) -> Call:
    """Return a call that only tells values apart, with the texts of nested ones by which they are compared."""
    return replace(call, args=tuple(order_text(x) if compares_text(x) else x for x in call.args))


def compares_text(x: Expr) -> bool:
    """Return whether a value is compared by its text; constants are options of a call, or are compared as they are."""
    return is_nested(x.dtype) and not (isinstance(x, Literal) or is_sort_key(x))


def with_texts(call: Call) -> Call:
    """Return a call that counts values, with the texts by which nested ones are told apart as its last argument."""
    x, *rest = call.args
    return replace(call, args=(canonical(x), *rest, order_text(x))) if is_nested(x.dtype) else call


def as_edge(call: Call) -> Call:
    """Return an extreme of nested values as the first one in their order; rows are picked by texts of nested values."""
    x, *given = call.args
    keys = [order_text(key) if is_nested(key.dtype) else key for key in given]
    if not is_nested(x.dtype):
        return replace(call, args=(x, *keys))
    greatest, only = "max" in call.function.name, is_present(keys[0] if keys else x)
    order = [sort_key(key, greatest) for key in keys]
    order.append(sort_key(order_text(x), greatest and not keys))
    return Call(table_entry("aggregate", "first"), (x, Literal(False, BOOL), only, *order), call.dtype)


def sort_key(x: Expr, descending: bool) -> Call:
    """Return a key of a call's own order, nulls last."""
    return Call(SORT_KEY_FUNCTION, (x, Literal(descending, BOOL), Literal(False, BOOL)), x.dtype)


def edge_arguments(call: Call) -> tuple[Expr, bool, Expr]:
    """Return the x of `first` or `last`, whether its nulls are ignored, and the condition `only`."""
    x, *options = split_order(call)[0]
    only = options[1] if len(options) > 1 else Literal(True, BOOL)
    return x, options[:1] == [Literal(True, BOOL)], only


FUNCTIONS = (
    Aggregate("count_rows", "", fixed(returns=INT64), "`count(*)`: the number of rows.", "count(*)", 4),
    Aggregate("count", "x", anything(INT64), "The number of values that are not null; NaN counts.", "count(x)", 3, nested=True),
    Aggregate("count_distinct", "x more*", counted,
              "`count(DISTINCT x)`: distinct values that are not null; NaN is one value.  Of several columns, "
              "`count(DISTINCT a, b)`: distinct rows without a null.",
              "count(DISTINCT x)", 2, nested=True, rewrite=of_texts),
    Aggregate("sum", "x", total_type_of, "The sum: int64, float64 or decimal; overflow is an error.", "sum(x)", 4, can_fail=True),
    Aggregate("mean", "x", mean_type,
              "The mean in float64; of integers and decimals the float64 nearest to the exact mean, of durations a duration.", "mean(x)", 4 / 3),
    Aggregate("min", "x", compared, "The least value; NaN only if all are.", "min(x)", 1, nested=True, rewrite=as_edge),
    Aggregate("max", "x", compared, "The greatest value; NaN if any is.", "max(x)", 2, nested=True, rewrite=as_edge),
    Aggregate("var", "x", in_float64, "The sample variance (ddof 1); null of fewer than 2 values.", "var(x)", 1 / 3),
    Aggregate("std", "x", in_float64, "The sample standard deviation (ddof 1); null of fewer than 2 values.", "std(x)",
              (1 / 3) ** 0.5),
    Aggregate("var_pop", "x", in_float64, "The variance of the values themselves (ddof 0).", "var_pop(x)", 2 / 9),
    Aggregate("std_pop", "x", in_float64, "The standard deviation of the values themselves (ddof 0).", "std_pop(x)",
              (2 / 9) ** 0.5),
    Aggregate("covar_samp", "x y", in_float64,
              "The sample covariance (ddof 1) of the pairs without a null; null of fewer than 2.", "covar_samp(x, 3 * x)", 1.0),
    Aggregate("covar_pop", "x y", in_float64, "The covariance (ddof 0) of the pairs without a null.", "covar_pop(x, 3 * x)",
              2 / 3),
    Aggregate("corr", "x y", in_float64,
              "Pearson's correlation of the pairs without a null; NaN where x or y is constant, null of fewer than 2 pairs.",
              "corr(x, -x)", -1.0),
    Aggregate("median", "x", in_float64, "The exact median, linear between the middle two; NaN is the greatest value.",
              "median(x)", 1.0),
    Aggregate("quantile", "x q!", quantile_type,
              "The exact quantile, linear between the two values next to q·(count - 1); NaN is the greatest value.",
              "quantile(x, 0.75)", 1.5),
    Aggregate("mode", "x", compared, "The most frequent value, the least of those that tie.", "mode(x)", 1, nested=True,
              rewrite=with_texts),
    Aggregate("first", "x ignore_nulls?! only?", selected_type,
              "x of the group's first row in the order of order_by; of the rows where `only` is true, which FILTER sets; nulls "
              "are kept unless `ignore_nulls`.", "first(x)", 1, nested=True),
    Aggregate("last", "x ignore_nulls?! only?", selected_type, "x of the group's last row, as in first.",
              "last(x, ignore_nulls => true)", 2, nested=True),
    Aggregate("min_by", "x y", anything(), "x of the row where y is least; rows where x or y is null are skipped; of rows that tie, the "
              "least x.", "min_by(x, -x)", 2, nested=True, definition="arg_min_null(x, CASE WHEN x IS NOT NULL THEN y END)"),
    Aggregate("max_by", "x y", anything(), "x of the row where y is greatest; rows where x or y is null are skipped; of rows that tie, "
              "the least x.", "max_by(x, -x)", 1, nested=True, definition="arg_max_null(x, CASE WHEN x IS NOT NULL THEN y END)"),
    Aggregate("arg_min_null", "x y", compared, "x, null or not, of the row where y is least; of rows that tie, the least x, null last.",
              "arg_min_null(x, coalesce(-x, -5)) IS NULL", True, nested=True, rewrite=as_edge),
    Aggregate("arg_max_null", "x y", compared, "x, null or not, of the row where y is greatest; of rows that tie, the least x, null last.",
              "arg_max_null(x, coalesce(x, 5)) IS NULL", True, nested=True, rewrite=as_edge),
    Aggregate("count_if", "condition", fixed(BOOL, returns=INT64), "The number of rows where the condition is true.",
              "count_if(x = 1)", 2),
    Aggregate("any", "x", fixed(BOOL, returns=BOOL), "Whether any value is true.", "any(x > 1)", True),
    Aggregate("all", "x", fixed(BOOL, returns=BOOL), "Whether all values are true.", "all(x > 1)", False),
)  # fmt: skip
"""The examples are over x = 1, 1, 2, null, in the order of x."""

ORDERED = frozenset(["first", "last"])
"""Those that need order_by."""

ORDERABLE = ORDERED | {"array_agg", "array_agg_distinct", "string_agg", "string_agg_distinct"}
"""Those that take an order."""

BY_STEP = frozenset(name for name in ORDERABLE if not name.endswith("_distinct"))
"""Of these, those that the order of the step is for: distinct values are in their own."""

SAME_OF_DISTINCT = frozenset(
    ["min", "max", "any", "all", "any_value", "bitwise_and", "bitwise_or", "approx_count_distinct"]
)
"""Those that give the same of distinct values."""

BY_KEY = ":key of "
"""Stands in the name of a column by which a partition's first or last row is compared with those of others."""

FILTERED = {
    "array_agg": "only",
    "array_agg_distinct": "only",
    "first": "only",
    "last": "only",
    "rolling_first": "only",
    "rolling_last": "only",
    "nth_value": "only",
    "rolling_nth_value": "only",
    **dict.fromkeys(("min_by", "max_by", "arg_min_null", "arg_max_null", "min_by_n", "max_by_n"), "y"),
}
"""The argument by which FILTER leaves rows out, where it is not x: null there has a row skipped, false as `only`."""

WIDE = pa.decimal128(38, 0)
WIDE_SUM = Aggregate(
    "wide_sum", "x", takes_one(is_integer, "integers", WIDE), "A sum that no number of rows overflows.", "", None
)
"""Not for users: what a partition gives of a sum of integers or durations.  Its own sum may leave int64 where the sum
of all does not, and the answer must not depend on the partitions."""

HIGH_SUM, LOW_SUM = (
    Aggregate(
        f"{half}_sum", "x", takes_one(is_decimal, "decimals"), f"The sum of the {half} halves of decimals.", "", None
    )
    for half in ("high", "low")
)
"""The same for decimals of more than 19 digits: high halves are whole multiples of 10^19 of x's units, low ones the rest."""

WHOLE_SUMS = {
    name: Aggregate(name, parts, anything(), f"The sum of all, from each partition's {parts}.", "", None, can_fail=True)
    for name, parts in (
        ("sum_of_wide", "wide_sum"),
        ("duration_of_wide", "wide_sum"),
        ("sum_of_halves", "high_sum low_sum"),
    )
}
"""What adds them up, and refuses a total that the sum's type cannot hold as `sum` does."""

EXACT_MEAN, EXACT_DURATION_MEAN = (
    Function(
        name,
        "count total high?",
        fixed(returns=dtype),
        f"The {what} nearest to a decimal total by its count.",
        "",
        None,
    )
    for name, dtype, what in (("exact_mean", FLOAT64, "float64"), ("exact_duration_mean", DURATION, "duration"))
)
"""Scalar functions, not for users: means of what partitions carry.  `high` counts as in `HIGH_SUM`."""

CELL = Aggregate(
    "cell",
    "x place number! cells!",
    anything(),
    "x of the group's one row whose place has a number, from 0; null of none.",
    "",
    None,
    nested=True,
)
"""Not for users: what pivot takes a column from.  A row has a place below `cells`, or a negative one, which is in no cell."""

CENTER = Aggregate("center", "x", in_float64, "The mean, exact where all values are equal.", "", None)
CO_MOMENT = Aggregate("co_moment", "x y", in_float64, "The sum of (x - mean x)(y - mean y) over pairs.", "", None)
MERGED_CO_MOMENT = Aggregate(
    "merged_co_moment",
    "n x y moment",
    in_float64,
    "The co-moment of parts of n pairs around the means x and y.",
    "",
    None,
)
"""Not for users: what the partitions give of variances and correlations, and what merges them."""

INTERNAL = {
    function.name: function
    for function in (
        SORT_KEY_FUNCTION,
        WIDE_SUM,
        HIGH_SUM,
        LOW_SUM,
        *WHOLE_SUMS.values(),
        EXACT_MEAN,
        EXACT_DURATION_MEAN,
        CELL,
        CENTER,
        CO_MOMENT,
        MERGED_CO_MOMENT,
    )
}
