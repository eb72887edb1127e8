"""A window whose groups go on from partition to partition: what it carries along is rows, in place of earlier ones.

Of the earlier rows of a group, few tell all that a later row's result needs of them: of a running sum the last row
that had a value, with the sum so far in place of its value; of `lag` the row before; of an interval the rows that
lie in it.  So a partition's window is computed over these and the partition's own rows, by operations that there are:
this is the sequential scan with carries of Blelloch, "Prefix sums and their applications" (1990), a group a segment.

Where partitions are computed side by side, each first says what it carries on by itself; these carries are combined,
and the windows go on from them: the same paper's scan of blocks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

from gpuetl.expressions.build import col, lit, when
from gpuetl.expressions.functions.aggregates import EXACT_DURATION_MEAN, EXACT_MEAN, edge_arguments
from gpuetl.expressions.functions.frames import frame_of
from gpuetl.expressions.functions.windows import TIE_FREE
from gpuetl.expressions.ir import ABSENT, Call, Cast, Column, Expr, Literal
from gpuetl.expressions.resolve import formula
from gpuetl.physical.decayed_moments import is_adjusted, moments_so_far
from gpuetl.physical.window_state_steps import TRUE, ExactSum, StatefulSteps, WindowSteps, if_true
from gpuetl.plan.nodes import Window
from gpuetl.types.data_types import BOOL, DURATION, FLOAT64, INT64, TIMESTAMP, is_floating, is_temporal
from gpuetl.types.decimal_types import HALF_DIGITS, integer_decimal, is_decimal, total_type

FLOAT_MAX = sys.float_info.max


def split_window(node: Window, combined: bool = False) -> StatefulSteps | None:
    """Split a window into steps; None where one of its calls needs later rows, or too many of the earlier ones.

    A window that is the same however rows tie is left alone: its steps would not be.
    """
    if all(call.function.name in TIE_FREE for call in node.calls.values()):
        return None
    steps = WindowSteps(node, combined)
    results: dict[str, Expr] = {}
    for name, call in node.calls.items():
        handler = HANDLERS.get(call.function.name)
        result = handler(steps, name, call) if handler else None
        if result is None:
            return None
        results[name] = result
    return steps.build(results)


def is_absent(argument: Expr) -> bool:
    """Return whether an optional argument is left out; it may have a type."""
    return isinstance(argument, Literal) and argument.value is None


def _rows_before(steps: WindowSteps, name: str, call: Call) -> Expr | None:
    """The rows so many places before, or, with `ignore_nulls`, the last so many with a value."""
    x, offset, _, ignore_nulls = [*call.args, *[ABSENT] * 4][:4]
    if not (isinstance(offset, Literal) and isinstance(ignore_nulls, Literal)):
        return None
    count = 1 if is_absent(offset) else offset.value
    if ignore_nulls.value and isinstance(x, Column):
        if count:
            steps.last_values(name, x, x, count)
    else:  # a constant has a value in every row, or in none
        steps.rows = max(steps.rows, count)
    return steps.placed(name, call)


def _differed(steps: WindowSteps, name: str, call: Call) -> Expr | None:
    """As rows before; a difference is a sum of two."""
    _sums_exactly(steps, call, 2)
    return _rows_before(steps, name, call)


def _framed(steps: WindowSteps, name: str, call: Call) -> Expr | None:
    """The rows of the frame."""
    frame = frame_of(call)
    if frame.kind == "range" or frame.start is None or frame.end is None or (frame.kind == "rows" and frame.end > 0):
        return None
    if frame.kind == "so_far":
        steps.frame = max(steps.frame or -frame.start, -frame.start)
    else:
        steps.rows = max(steps.rows, -frame.start)
    return steps.placed(name, call)


def _summed(steps: WindowSteps, name: str, call: Call) -> Expr | None:
    """The rows of the frame; of an interval these may be all."""
    frame = frame_of(call)
    bounded = frame.kind == "rows" and frame.start is not None and frame.end is not None
    _sums_exactly(steps, call, frame.end - frame.start + 1 if bounded else None)
    return _framed(steps, name, call)


def _sums_exactly(steps: WindowSteps, call: Call, values: int | None = None) -> None:
    """Note what a call sums, also of carried rows, between which there were others: that sum must not be an error."""
    if not (is_floating(call.dtype) or is_temporal(call.args[0].dtype)):
        steps.sums.append(ExactSum(call.args[0], call.dtype, values))


def _running(steps: WindowSteps, name: str, call: Call) -> Expr:
    """The last row with a value has the result so far as its value."""
    x, *nulls = call.args
    own = x if x.dtype == call.dtype else Cast(x, call.dtype, implicit=True)
    return steps.running(name, x, call.function.name, own, *nulls, dtype=call.dtype)


def _totalled(steps: WindowSteps, name: str, call: Call) -> Expr:
    """A partition's own sum may leave its type where that of all rows does not."""
    if steps.combined:
        _sums_exactly(steps, call)
    return _running(steps, name, call)


def _multiplied(steps: WindowSteps, name: str, call: Call) -> Expr | None:
    """A partition's own product may leave its type, or be infinite, where one with zeros before is not."""
    return None if steps.combined else _running(steps, name, call)


def _count(steps: WindowSteps, name: str, x: Expr, *nulls: Expr) -> Column:
    """A running sum of ones, where there are values."""
    ones = if_true(formula(col("x").is_not_null(), x=x), Literal(1, INT64))
    return steps.running(name, x, "cum_sum", ones, *nulls, dtype=INT64)


def _counted(steps: WindowSteps, name: str, call: Call) -> Expr:
    """As a sum; where results are carried on, 0 before the first value."""
    count = _count(steps, name, *call.args)
    return count if len(call.args) == 1 else formula(col("n").coalesce(lit(0)), n=count)


def _averaged(steps: WindowSteps, name: str, call: Call) -> Expr:
    """A running sum by a running count.  Sums are exact, but of floats: in 38 digits, of long decimals in halves."""
    x, *nulls = call.args
    if is_floating(x.dtype):
        total = steps.running(name, x, "cum_sum", x, *nulls, dtype=FLOAT64)
        return formula(col("total") / col("count"), total=total, count=_count(steps, name, x, *nulls))
    if x.dtype == DURATION:
        parts, mean = [formula(col("x").epoch_us(), x=x)], EXACT_DURATION_MEAN
    elif is_decimal(x.dtype) and x.dtype.precision > HALF_DIGITS:
        unit = lit(Decimal(10) ** (HALF_DIGITS - x.dtype.scale))
        parts, mean = [formula(col("x") % unit, x=x), formula(col("x") // unit, x=x)], EXACT_MEAN
    else:
        parts, mean = [x], EXACT_MEAN
    totals = [_running_total(steps, name, x, part, *nulls) for part in parts]
    return Call(mean, (_count(steps, name, x, *nulls), *totals), call.dtype)


def _running_total(steps: WindowSteps, name: str, x: Expr, part: Expr, *nulls: Expr) -> Column:
    """A sum in 38 digits, to which x adds a part."""
    dtype = total_type(integer_decimal(part.dtype))
    return steps.running(name, x, "cum_sum", Cast(part, dtype, implicit=True), *nulls, dtype=dtype)


def _decayed(steps: WindowSteps, name: str, call: Call) -> Expr | None:
    """By time alone: rows are not counted over those that are not carried."""
    x, *weights = call.args
    if not _decays_by_time(steps, call):
        return None
    return steps.running(name, x, call.function.name, x, *weights, dtype=call.dtype)


def _decays_by_time(steps: WindowSteps, call: Call) -> bool:
    """Return whether weights depend on the time between rows."""
    return steps.node.source.schema[steps.node.order_by[0].column] == TIMESTAMP and not is_absent(call.args[1])


def _variance(steps: WindowSteps, name: str, call: Call) -> Expr | None:
    """As decays by time.  Where carries are combined, how much the first value of one weighs is not known."""
    if not _decays_by_time(steps, call) or (steps.combined and not is_adjusted(call)):
        return None
    return moments_so_far(steps, name, call)


def _mean_from_two(steps: WindowSteps, name: str, call: Call) -> Expr | None:
    """The group's first value, whose weight another one before it changes, and at the last one what gives the mean.

    With the first value x at t and the mean y at t', of which x has the share s = 2^(-(t' - t) / half_life), that is
    (y - s·x) / (1 - s).  Where carries are not combined, the last row with the mean as its value says all.
    """
    if not steps.combined:
        return _decayed(steps, name, call)
    if not _decays_by_time(steps, call):
        return None
    x, half_life = call.args[:2]
    assert isinstance(half_life, Literal)  # the planner has checked it
    time = Column(steps.node.order_by[0].column, TIMESTAMP)
    own = steps.column(name, x)
    times = steps.column(name, if_true(formula(col("x").is_not_null(), x=x), time))
    mean = steps.call(name, "ewm_mean", FLOAT64, own, *call.args[1:])
    start = steps.call(name, "first", x.dtype, own, TRUE)
    began = steps.call(name, "first", TIMESTAMP, times, TRUE)
    first, last = steps.first_value(name, own), steps.last_values(name, x, own)

    half = half_life.value / timedelta(seconds=1) if half_life.dtype == DURATION else float(half_life.value)
    share = formula(lit(0.5).power((col("time") - col("began")).epoch() / half), time=time, began=began)
    others = (col("y") - col("share") * col("start")) / (1 - col("share"))
    others = others.least(lit(FLOAT_MAX)).greatest(lit(-FLOAT_MAX))  # rounded, it may be more than any value was
    are_mixed = (col("share") < 1) & col("start").is_finite() & col("y").is_finite()
    rest = formula(when(are_mixed, others).otherwise(col("y")), y=mean, share=share, start=start)
    steps.state[own.name] = if_true(first, own, if_true(last, rest))
    steps.state[times.name] = if_true(formula(col("first") | col("last"), first=first, last=last), times)
    return mean


def _numbered(steps: WindowSteps, name: str, call: Call) -> Expr:
    """Counts from the group's first row continue: state rows count as well, so they are subtracted."""
    here = steps.placed(name, call)
    before = steps.column(name, Literal(0, INT64))
    so_far = steps.call(name, "cum_sum", INT64, before)
    result = formula(col("here") + col("before"), here=here, before=so_far)
    again = Column(steps.name(name), INT64)
    steps.numbers[again.name] = call
    is_last = formula(col("later").is_null(), later=steps.later)
    without_state = formula(col("so_far") - col("again"), so_far=result, again=again)
    steps.state[before.name] = if_true(is_last, without_state, Literal(0, INT64))
    return result


def _numbered_by_changes(steps: WindowSteps, name: str, call: Call) -> Expr:
    """Whether a number is counted at a group's first row depends on the row before, which another partition has."""
    if steps.combined:
        steps.keep(formula(col("earlier").is_null(), earlier=steps.call("", "lag", BOOL, steps.flag)))
    return _numbered(steps, name, call)


def _first(steps: WindowSteps, name: str, call: Call) -> Expr | None:
    """Every carried row has the first one's value; of rows that are skipped a later one may be the first."""
    x, ignore_nulls, only = edge_arguments(call)
    if ignore_nulls or only != Literal(True, BOOL):
        return None
    own = steps.column(name, x)
    result = steps.call(name, "first", x.dtype, own)
    steps.state[own.name] = result
    return result


HANDLERS: dict[str, Callable[[WindowSteps, str, Call], Expr | None]] = {
    "row_number": _numbered, "dense_rank": _numbered_by_changes, "session_id": _numbered_by_changes,
    "lag": _rows_before, "diff": _differed, "pct_change": _rows_before,
    "cum_sum": _totalled, "cum_prod": _multiplied, "cum_min": _running, "cum_max": _running, "ffill": _running,
    "cum_count": _counted, "cum_mean": _averaged, "ewm_mean": _mean_from_two, "decayed_sum": _decayed, "first": _first,
    "ewm_var": _variance, "ewm_std": _variance,
    "rolling_sum": _summed,
    **dict.fromkeys(
        ("rolling_mean", "rolling_min", "rolling_max", "rolling_count", "rolling_std", "rolling_var",
         "rolling_covar_samp", "rolling_covar_pop", "rolling_corr", "rolling_first", "rolling_last",
         "rolling_nth_value",
         "rolling_median", "rolling_quantile", "rolling_count_distinct"), _framed
    ),
}  # fmt: skip
"""What each function needs of earlier partitions.

The others need later rows, or, as `rank`, count rows that tie with later ones.
"""
