"""Aggregates: one value a group.  Nulls are skipped; the aggregate of no values is null, a count is 0."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa

from gpuetl.expressions.decimals import is_decimal, total_type
from gpuetl.expressions.functions.function import (
    Function,
    TypeMismatch,
    Typing,
    anything,
    fixed,
    takes_one,
)
from gpuetl.expressions.ir import Expr
from gpuetl.expressions.types import BOOL, DURATION, FLOAT64, INT64, NULL, is_floating, is_integer, is_number, type_name

Aggregate = partial(Function, kind="aggregate", nulls="own")


def summed(args: Sequence[Expr]) -> Typing:
    """Integers in int64, floats in float64, decimals at 38 digits, durations."""
    dtype = args[0].dtype
    if is_decimal(dtype):
        return [dtype], total_type(dtype)
    if not (is_number(dtype) or dtype in (DURATION, NULL)):
        raise TypeMismatch(f"takes numbers, got {type_name(dtype)}")
    result = dtype if dtype == DURATION else FLOAT64 if is_floating(dtype) else INT64
    return [result], result


averaged = takes_one(is_number, "numbers")


def in_float64(args: Sequence[Expr]) -> Typing:
    """Numbers, computed in float64."""
    averaged(args)
    return [FLOAT64] * len(args), FLOAT64


FUNCTIONS = (
    Aggregate("count_rows", "", fixed(returns=INT64), "`count(*)`: the number of rows.", "count(*)", 4),
    Aggregate("count", "x", anything(INT64), "The number of values that are not null; NaN counts.", "count(x)", 3, lists=True),
    Aggregate("count_distinct", "x", anything(INT64), "`count(DISTINCT x)`: distinct values that are not null; NaN is one value.",
              "count(DISTINCT x)", 2),
    Aggregate("sum", "x", summed, "The sum: int64, float64 or decimal; overflow is an error.", "sum(x)", 4, can_fail=True),
    Aggregate("mean", "x", in_float64, "The arithmetic mean, in float64.", "mean(x)", 4 / 3),
    Aggregate("min", "x", anything(), "The least value; NaN only if all are.", "min(x)", 1),
    Aggregate("max", "x", anything(), "The greatest value; NaN if any is.", "max(x)", 2),
    Aggregate("var", "x", in_float64, "The sample variance (ddof 1); null of fewer than 2 values.", "var(x)", 1 / 3),
    Aggregate("std", "x", in_float64, "The sample standard deviation (ddof 1); null of fewer than 2 values.", "std(x)",
              (1 / 3) ** 0.5),
    Aggregate("median", "x", in_float64, "The exact median, linear between the middle two.", "median(x)", 1.0),
    Aggregate("any", "x", fixed(BOOL, returns=BOOL), "Whether any value is true.", "any(x > 1)", True),
    Aggregate("all", "x", fixed(BOOL, returns=BOOL), "Whether all values are true.", "all(x > 1)", False),
)  # fmt: skip
"""The examples are over x = 1, 1, 2, null."""

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
JOINED_HALVES = Function("joined_halves", "high low", anything(), "The sum of both.", "", None, can_fail=True)
"""The same for decimals of more than 19 digits: high halves are whole multiples of 10^19 of x's units, low ones the rest."""

INTERNAL = {function.name: function for function in (WIDE_SUM, HIGH_SUM, LOW_SUM, JOINED_HALVES)}
