"""What aggregates reduce rows to: states, which calls share, and what a call makes of one.

States of values of up to 8 bytes are words, as device/states.cuh has them: a kernel reduces several at once.  Others
are structs of device/aggregates.cuh, each by kernels of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gpuetl.engines.cudf.columns.vector import has_bytes, storage_type
from gpuetl.expressions.ir import Call, Expr
from gpuetl.types.data_types import DURATION, DataType, is_floating
from gpuetl.types.decimal_types import is_decimal

WORD_STATES = {
    "none": 0, "count_valid": 1, "count_true": 1, "float_sum": 2, "integer_sum": 3, "unsigned_sum": 3,
    "least_integer": 2, "least_unsigned": 2, "least_float": 2,
    "greatest_integer": 2, "greatest_unsigned": 2, "greatest_float": 2,
    "float_product": 2, "bit_and": 2, "bit_or": 2, "bit_xor": 2,
}  # fmt: skip
"""Words of 8 bytes of a state, in the order of `Kind` in device/states.cuh.  The last one counts values."""
MEMORY = {"narrow": 0, "integers": 32, "decimals": 48, "least": 32, "greatest": 32, "moments": 48,
          "high_moments": 40}  # fmt: skip
"""How states lie in memory, in the order of `State` in device/closed/results.cu, and their bytes.  Narrow ones are
words."""
WIDE = {
    "decimal_sum": "decimals", "halves_sum": "decimals", "wide_integer_sum": "integers",
    "least_wide_integer": "least", "greatest_wide_integer": "greatest",
    "moments": "moments", "pair_moments": "moments", "merged_moments": "moments",
    "high_moments": "high_moments", "merged_high_moments": "high_moments",
}  # fmt: skip
"""The states of device/closed/wide_states.cu, and how they lie in memory."""
RESULTS = (
    "rows", "count", "float_sum", "float_mean", "extreme", "integer_sum", "wide_sum", "integer_mean", "whole_mean",
    "decimal_sum", "high_sum", "low_sum", "decimal_mean",
    "covariance", "deviation", "correlation", "center", "co_moment",
    "skewness", "kurtosis", "kurtosis_pop", "third_moment", "fourth_moment",
)  # fmt: skip
"""In the order of `Kind` in device/closed/results.cu."""
SUMS = ("float_sum", "integer_sum", "unsigned_sum")
"""Kinds whose last word counts the values that are not null, as that of `count_valid` does."""


class State(NamedTuple):
    """A kind of state, and the arguments that it reads."""

    kind: str
    args: tuple[Expr, ...]


class Result(NamedTuple):
    """What a call makes of a state; None for the number of a group's rows.

    `detail` is the scale of a mean of decimals, or the degrees of freedom that a variance has less than there are rows.
    """

    kind: str
    state: State | None
    detail: int = 0


def is_wide(dtype: DataType) -> bool:
    """Return whether values lie in 16 bytes."""
    return storage_type(dtype) == "V16"


def sum_of(x: Expr) -> State:
    """Return the state of a sum, and of a mean."""
    if is_wide(x.dtype):
        return State("decimal_sum", (x,))
    if is_floating(x.dtype):
        return State("float_sum", (x,))
    return State("unsigned_sum" if storage_type(x.dtype) == "uint64" else "integer_sum", (x,))


def total(call: Call) -> Result:
    """Return the sum of integers or durations, floats or decimals."""
    (x,) = call.args
    kind = "decimal_sum" if is_decimal(x.dtype) else "float_sum" if is_floating(x.dtype) else "integer_sum"
    return Result(kind, sum_of(x))


def mean(call: Call) -> Result:
    """Return a sum that is divided at the end; of durations in whole microseconds."""
    (x,) = call.args
    if is_decimal(x.dtype):
        return Result("decimal_mean", sum_of(x), x.dtype.scale)
    kind = "whole_mean" if x.dtype == DURATION else "float_mean" if is_floating(x.dtype) else "integer_mean"
    return Result(kind, sum_of(x))


def extreme(extremum: str) -> Callable[[Call], Result]:
    """Return the least or the greatest value of a fixed width."""

    def of(call: Call) -> Result:
        (x,) = call.args
        unsigned = "unsigned" if storage_type(x.dtype) == "uint64" else "integer"
        kind = "wide_integer" if is_wide(x.dtype) else "float" if is_floating(x.dtype) else unsigned
        return Result("extreme", State(f"{extremum}_{kind}", (x,)))

    return of


def result(kind: str, state: str, detail: int = 0) -> Callable[[Call], Result]:
    """Return the same state and result for all types."""
    return lambda call: Result(kind, State(state, call.args), detail)


def sum_as(kind: str) -> Callable[[Call], Result]:
    """Return a sum in another form, which other partitions' sums are added to."""
    return lambda call: Result(kind, sum_of(call.args[0]))


RESULT_OF: dict[str, Callable[[Call], Result]] = {
    "count_rows": lambda call: Result("rows", None),
    "count": result("count", "count_valid"),
    "count_if": result("count", "count_true"),
    "sum": total,
    "mean": mean,
    "min": extreme("least"),
    "max": extreme("greatest"),
    "any": extreme("greatest"),
    "all": extreme("least"),
    "var": result("covariance", "moments", 1),
    "std": result("deviation", "moments", 1),
    "var_pop": result("covariance", "moments", 0),
    "std_pop": result("deviation", "moments", 0),
    "covar_samp": result("covariance", "pair_moments", 1),
    "covar_pop": result("covariance", "pair_moments", 0),
    "corr": result("correlation", "pair_moments"),
    "center": result("center", "moments"),
    "co_moment": result("co_moment", "pair_moments"),
    "merged_co_moment": result("co_moment", "merged_moments"),
    "product": result("extreme", "float_product"),
    "bitwise_and": result("extreme", "bit_and"),
    "bitwise_or": result("extreme", "bit_or"),
    "bitwise_xor": result("extreme", "bit_xor"),
    **{name: result(name, "high_moments") for name in ("skewness", "kurtosis", "kurtosis_pop")},
    "third_moment": result("third_moment", "high_moments"),
    "fourth_moment": result("fourth_moment", "high_moments"),
    "merged_third": result("third_moment", "merged_high_moments"),
    "merged_fourth": result("fourth_moment", "merged_high_moments"),
    "wide_sum": sum_as("wide_sum"),
    "sum_of_wide": result("integer_sum", "wide_integer_sum"),
    "duration_of_wide": result("integer_sum", "wide_integer_sum"),
    "high_sum": sum_as("high_sum"),
    "low_sum": sum_as("low_sum"),
    "sum_of_halves": result("decimal_sum", "halves_sum"),
}
"""By the name of the function."""


def has_state(call: Call) -> bool:
    """Return whether a state computes the call: not for extremes of strings, whose bytes lie elsewhere."""
    return call.function.name in RESULT_OF and not (call.function.name in ("min", "max") and has_bytes(call.dtype))
