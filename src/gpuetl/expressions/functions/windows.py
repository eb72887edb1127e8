"""Window functions: one value a row, from the rows of its group in the order of `order_by`.

cum_*, ewm_mean and decayed_sum give null where x is null and skip it; NaN poisons what follows in the group.
A frame is the current row and those before it: so many rows, or an interval back, its far end included.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from math import inf
from typing import Any

from gpuetl.expressions.decimals import is_decimal, sum_type
from gpuetl.expressions.functions.aggregates import in_float64, summed
from gpuetl.expressions.functions.function import (
    Function,
    Rule,
    TypeMismatch,
    Typing,
    anything,
    fixed,
)
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.expressions.types import DURATION, FLOAT64, INT64, is_integer, is_number, type_name

Window = partial(Function, kind="window", nulls="own")


def offset_by(args: Sequence[Expr]) -> Typing:
    """Any type, and a whole number of rows that is not negative."""
    for offset in args[1:]:
        if not is_integer(offset.dtype) or (isinstance(offset, Literal) and offset.value < 0):
            got = repr(offset.value) if isinstance(offset, Literal) else type_name(offset.dtype)
            raise TypeMismatch(f"takes a number of rows from 0 as offset, got {got}")
    return [args[0].dtype, INT64][: len(args)], args[0].dtype


def differed(args: Sequence[Expr]) -> Typing:
    """Numbers, and a number of rows."""
    offset_by(args)
    types, result = summed(args[:1])
    if is_decimal(types[0]):
        result = sum_type(types[0], types[0])
    return [*types, INT64][: len(args)], result


def faded(args: Sequence[Expr]) -> Typing:
    """A number, and a half-life: an interval, or seconds where order_by is a timestamp, else rows."""
    half_life = args[1].dtype
    if half_life != DURATION and not is_number(half_life):
        raise TypeMismatch(f"takes a number or an interval as half_life, got {type_name(half_life)}")
    if isinstance(args[1], Literal) and not _is_positive(args[1].value):
        raise TypeMismatch(f"takes a half_life above zero, got {args[1].value}")
    in_float64(args[:1])
    return [FLOAT64, DURATION if half_life == DURATION else FLOAT64], FLOAT64


def _is_positive(value: Any) -> bool:
    return value > timedelta(0) if isinstance(value, timedelta) else 0 < value < inf


def gapped(args: Sequence[Expr]) -> Typing:
    """An interval that is not negative."""
    typing = fixed(DURATION, returns=INT64)(args)
    if isinstance(args[0], Literal) and args[0].value < timedelta(0):
        raise TypeMismatch(f"takes a gap that is not negative, got {args[0].value}")
    return typing


def framed(result: Rule) -> Rule:
    """A value typed by `result`, and a frame: a positive number of rows, or an interval."""

    def rule(args: Sequence[Expr]) -> Typing:
        frame = args[1]
        rows = is_integer(frame.dtype)
        if not rows and frame.dtype != DURATION:
            raise TypeMismatch(f"takes a number of rows or an interval as frame, got {type_name(frame.dtype)}")
        if rows and isinstance(frame, Literal) and frame.value < 1:
            raise TypeMismatch(f"takes a frame of 1 row or more, got {frame.value}")
        if not rows and isinstance(frame, Literal) and frame.value < timedelta(0):
            raise TypeMismatch(f"takes a frame that is not negative, got {frame.value}")
        types, dtype = result(args[:1])
        return [types[0], INT64 if rows else DURATION], dtype

    return rule


keeps, counts, sums, means = anything(), anything(INT64), summed, in_float64

FUNCTIONS = (
    Window("row_number", "", fixed(returns=INT64), "The row's place in its group, from 1.", "row_number()", [1, 2, 3, 4]),
    Window("lag", "x offset?!", offset_by, "x of the row `offset` (1) rows before; nulls are kept.", "lag(x)", [None, 1, 2, None]),
    Window("lead", "x offset?!", offset_by, "x of the row `offset` (1) rows after; nulls are kept.", "lead(x)",
           [2, None, 4, None]),
    Window("first", "x", keeps, "x of the group's first row; nulls are kept.", "first(x)", [1, 1, 1, 1]),
    Window("last", "x", keeps, "x of the group's last row; nulls are kept.", "last(x)", [4, 4, 4, 4]),
    Window("ffill", "x", keeps, "The last x up to here that is not null.", "ffill(x)", [1, 2, 2, 4]),
    Window("diff", "x offset?!", differed, "x minus the x of `offset` (1) rows before.", "diff(x)", [None, 1, None, None],
           can_fail=True),
    Window("cum_count", "x", counts, "The number of values so far.", "cum_count(x)", [1, 2, None, 3]),
    Window("cum_sum", "x", sums, "The sum so far; overflow is an error.", "cum_sum(x)", [1, 3, None, 7], can_fail=True),
    Window("cum_mean", "x", means, "The mean so far.", "cum_mean(x)", [1.0, 1.5, None, 7 / 3]),
    Window("cum_min", "x", keeps, "The least value so far.", "cum_min(x)", [1, 1, None, 1]),
    Window("cum_max", "x", keeps, "The greatest value so far; NaN once one is NaN.", "cum_max(x)", [1, 2, None, 4]),
    Window("rolling_sum", "x frame!", framed(sums), "The sum over the frame; overflow is an error.", "rolling_sum(x, 2)",
           [1, 3, 2, 4], can_fail=True),
    Window("rolling_mean", "x frame!", framed(means), "The mean over the frame.", "rolling_mean(x, 2)", [1.0, 1.5, 2.0, 4.0]),
    Window("rolling_min", "x frame!", framed(keeps), "The least value of the frame.", "rolling_min(x, 2)", [1, 1, 2, 4]),
    Window("rolling_max", "x frame!", framed(keeps), "The greatest value of the frame.", "rolling_max(x, 2)", [1, 2, 2, 4]),
    Window("rolling_count", "x frame!", framed(counts), "The number of values in the frame.", "rolling_count(x, 2)",
           [1, 2, 1, 1]),
    Window("rolling_std", "x frame!", framed(means), "The sample standard deviation (ddof 1) over the frame.",
           "rolling_std(x, 2)", [None, 0.5**0.5, None, None]),
    Window("ewm_mean", "x half_life!", faded,
           "y = (1 - a)·y' + a·x with a = 1 - 2^(-d / half_life), d since the last value: seconds where order_by is a "
           "timestamp, else rows; the first y is x.", "ewm_mean(x, half_life => interval '1 hour')",
           [1.0, 1.5, None, 3.375]),
    Window("decayed_sum", "x half_life!", faded, "y = 2^(-d / half_life)·y' + x, with d as in ewm_mean.",
           "decayed_sum(x, half_life => interval '1 hour')", [1.0, 2.5, None, 4.625]),
    Window("session_id", "gap!", gapped,
           "How many gaps longer than `gap` the group has had so far; needs order_by to begin with a timestamp.",
           "session_id(gap => interval '1 hour')", [0, 0, 1, 1]),
)  # fmt: skip
"""The examples are over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group."""

SKIPPING = frozenset(
    f.name for f in FUNCTIONS if f.name.startswith(("cum_", "rolling_")) or f.name in ("ewm_mean", "decayed_sum")
)
"""Those that skip nulls, and so can take FILTER."""
