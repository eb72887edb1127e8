"""Aggregates that states of device/aggregates.cuh compute, all of them in one pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pyarrow as pa

from gpuetl.backends.cudf.device.types import c_type
from gpuetl.expressions.decimals import is_decimal
from gpuetl.expressions.ir import Call, Expr
from gpuetl.expressions.types import DURATION, STRING, is_floating, is_list
from gpuetl.records import dataclass


@dataclass(frozen=True)
class State:
    """A state's C++ type, its result (an expression that begins after the dot), and whether it takes validity alone."""

    type: str
    result: str = "result(at)"
    counts: str = ""


def sum_state(call: Call) -> State:
    """Integers and durations in 128 bits, decimals in halves, floats as they are."""
    if is_decimal(call.args[0].dtype):
        return State("DecimalSum")
    return State("FloatSum" if is_floating(call.dtype) else "IntegerSum")


def mean_state(call: Call) -> State:
    """As a sum, divided at the end; of durations in whole microseconds."""
    (x,) = call.args
    result = f"mean<{x.dtype.scale}>" if is_decimal(x.dtype) else "whole_mean" if x.dtype == DURATION else "mean"
    return replace(sum_state(replace(call, dtype=x.dtype)), result=f"{result}(at)")


def extreme_state(kind: str) -> Callable[[Call], State]:
    """Return the state of the least or greatest value of a fixed width."""
    return lambda call: State(f"{kind}<{c_type(call.args[0].dtype)}>")


def always(*state: str) -> Callable[[Call], State]:
    """Return the same state for all types."""
    return lambda call: State(*state)


STATES: dict[str, Callable[[Call], State]] = {
    "count_rows": always("CountRows"),
    "count": always("Count", "result(at)", "valid"),
    "count_if": always("Count", "result(at)", "true"),
    "sum": sum_state,
    "mean": mean_state,
    "min": extreme_state("Least"),
    "max": extreme_state("Greatest"),
    "any": extreme_state("Greatest"),
    "all": extreme_state("Least"),
    "var": always("Moments", "covariance(1)"),
    "std": always("Moments", "deviation(1)"),
    "var_pop": always("Moments", "covariance(0)"),
    "std_pop": always("Moments", "deviation(0)"),
    "covar_samp": always("Moments", "covariance(1)"),
    "covar_pop": always("Moments", "covariance(0)"),
    "corr": always("Moments", "correlation(at)"),
    "center": always("Moments", "mean(at)"),
    "co_moment": always("Moments", "moment(at)"),
    "merged_co_moment": always("Moments", "moment(at)"),
    "wide_sum": always("IntegerSum", "wide(at)"),
    "sum_of_wide": always("IntegerSum"),
    "duration_of_wide": always("IntegerSum"),
    "high_sum": always("DecimalSum", "high(at)"),
    "low_sum": always("DecimalSum", "low(at)"),
    "sum_of_halves": always("DecimalSum"),
}


def has_state(call: Call) -> bool:
    """Tell whether a state computes the call: not for extremes of texts, whose bytes lie elsewhere."""
    return call.function.name in STATES and not (call.function.name in ("min", "max") and call.dtype == STRING)


def counts_only(args: Sequence[Expr]) -> bool:
    """Tell whether an argument can only be counted: lists and columns without a type."""
    return any(is_list(arg.dtype) or arg.dtype == pa.null() for arg in args)
