"""What a window function needs of the rows of earlier runs, where that is not what it needs of earlier partitions.

A state that is kept between runs may hold more than one between partitions, and nothing is known of the values to come:
`rank` and decay by rows have a state here, and sums of few rows cannot overflow between rows that are no neighbors.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from gpuetl.expressions.build import col
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.windows import NEEDS_LATER_ROWS
from gpuetl.expressions.ir import ABSENT, Call, Cast, Column, Expr, Literal
from gpuetl.expressions.resolve import formula
from gpuetl.physical.decayed_moments import moments_so_far
from gpuetl.physical.window_state import HANDLERS, is_absent
from gpuetl.physical.window_state_steps import TRUE, WindowSteps, if_true
from gpuetl.types.data_types import BOOL, DURATION, INT64, is_floating, is_integer, is_temporal
from gpuetl.types.decimal_types import integer_decimal, is_decimal, total_type

Handler = Callable[[WindowSteps, str, Call], Expr | None]

HALVINGS = 1100
"""After so many half-lives the weight of a float64 value is 0: the least float is 2^-1074."""


def kept_calls(steps: WindowSteps, calls: dict[str, Call]) -> dict[str, Expr] | None:
    """Return the results of a window's calls by the steps; None where one of them cannot keep state."""
    results: dict[str, Expr] = {}
    for name, call in calls.items():
        handler = None if call.function.name in NEEDS_LATER_ROWS else KEPT_HANDLERS.get(call.function.name)
        result = handler(steps, name, call) if handler else None
        if result is None:
            return None
        results[name] = result
    return results


def _ranked(steps: WindowSteps, name: str, call: Call) -> Expr | None:
    """Rows that tie with the last row of the state have its rank; the others come after all rows so far.

    With c rows in the state, of N rows so far, a local rank of c at most is that of a row that ties with the last one,
    whose rank the state has.  A greater one counts the c rows, and so lacks N - c.
    """
    if call.args:  # the last of rows that tie may come later
        return None
    here = steps.placed(name, call)
    place = steps.placed(name, Call(FUNCTIONS["window", "row_number"], (), INT64))
    in_state, before, shift = (steps.column(name, Literal(0, INT64)) for _ in range(3))
    state_rows, rows_before, shifted = (
        steps.call(name, "cum_sum", INT64, column) for column in (in_state, before, shift)
    )
    ties = formula(col("here") <= col("rows"), here=here, rows=state_rows)
    tied = formula(col("here") + col("shift"), here=here, shift=shifted)
    later = formula(col("here") + col("before"), here=here, before=rows_before)
    result = if_true(ties, tied, later)

    rank_again, place_again = (Column(steps.name(name), INT64), Column(steps.name(f"{name}:place"), INT64))
    steps.numbers[rank_again.name] = call
    steps.numbers[place_again.name] = Call(FUNCTIONS["window", "row_number"], (), INT64)
    is_last = formula(col("later").is_null(), later=steps.later)
    not_in_state = formula(
        col("place") + col("before") - col("again"), place=place, before=rows_before, again=place_again
    )
    steps.state[in_state.name] = Literal(1, INT64)
    steps.state[before.name] = if_true(is_last, not_in_state, Literal(0, INT64))
    steps.state[shift.name] = if_true(
        is_last, formula(col("rank") - col("again"), rank=result, again=rank_again), Literal(0, INT64)
    )
    return result


def _decayed(steps: WindowSteps, name: str, call: Call) -> Expr | None:
    """The row of the last value has the result as its value; by rows, those after it count, too.

    They are kept up to a number after which the value has no weight: few, unless values are null for long.
    """
    x, *weights = call.args
    own = steps.column(name, x)
    result = steps.call(name, call.function.name, call.dtype, own, *weights)
    last = steps.last_values(name, x, own)
    steps.state[own.name] = if_true(last, result)
    if (rows := _weighted_rows(call)) is not None:
        later = steps.call(name, "lead", own.dtype, own, Literal(1, INT64), ABSENT, TRUE)
        value = steps.call(name, "ffill", own.dtype, own)
        far = steps.call("", "lead", BOOL, steps.flag, Literal(rows, INT64))
        after = col("value").is_not_null() & col("later").is_null() & col("far").is_null()
        steps.keep(formula(after, value=value, later=later, far=far))
    return result


def _weighted_rows(call: Call) -> int | None:
    """Return the rows after which a value has no weight; None where weights depend on time alone."""
    half_life, span, alpha = [*call.args[1:], *[ABSENT] * 3][:3]
    if isinstance(half_life, Literal) and not is_absent(half_life):
        return None if half_life.dtype == DURATION else math.ceil(HALVINGS * float(half_life.value))
    rest = 1 - (2 / (float(span.value) + 1) if not is_absent(span) else float(alpha.value))  # type: ignore[union-attr]
    return max(1, math.ceil(HALVINGS / -math.log2(rest))) if rest > 0 else 1


def _summed(steps: WindowSteps, name: str, call: Call) -> Expr | None:
    """Sums of rows of the state, between which there were others, may leave int64: they are made in 38 digits."""
    x, *frame = call.args
    if is_floating(call.dtype) or call.dtype == DURATION:
        return HANDLERS["rolling_sum"](steps, name, call)
    if is_integer(x.dtype) and x.dtype.bit_width < INT64.bit_width:
        return HANDLERS["rolling_sum"](steps, name, call)  # of more rows than there can be
    wide = x.dtype if is_decimal(x.dtype) else total_type(integer_decimal(x.dtype))
    own = steps.column(name, x if x.dtype == wide else Cast(x, wide, implicit=True))
    wide_call = Call(call.function, (own, *frame), total_type(wide))
    total = HANDLERS["rolling_sum"](steps, name, wide_call)
    return None if total is None else _in_own_rows(steps, total, call)


def _differed(steps: WindowSteps, name: str, call: Call) -> Expr | None:
    """The difference of rows of the state, between which there were others, is not made."""
    x, *rest = call.args
    if is_floating(call.dtype) or is_temporal(x.dtype) or x.dtype == DURATION:
        return HANDLERS["diff"](steps, name, call)
    own = steps.column(name, x if x.dtype == call.dtype else Cast(x, call.dtype, implicit=True))
    earlier = Call(FUNCTIONS["window", "lag"], (own, *rest), own.dtype)
    before = HANDLERS["lag"](steps, name, earlier)
    if before is None:
        return None
    change = formula(col("x") - col("before"), x=own, before=before)
    return _in_own_rows(steps, change, call)


def _in_own_rows(steps: WindowSteps, result: Expr, call: Call) -> Expr:
    """Compute a result for the rows of the run alone: CASE evaluates no other branch."""
    result = result if result.dtype == call.dtype else Cast(result, call.dtype)
    return if_true(formula(~col("flag"), flag=steps.flag), result)


KEPT_HANDLERS: dict[str, Handler] = {
    **HANDLERS, "rank": _ranked, "ewm_mean": _decayed, "decayed_sum": _decayed, "rolling_sum": _summed,
    "diff": _differed, "ewm_var": moments_so_far, "ewm_std": moments_so_far,
}  # fmt: skip
