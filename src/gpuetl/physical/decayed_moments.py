"""Decaying variances whose groups go on: the row of the last value stands for all values so far."""

from __future__ import annotations

from gpuetl.expressions.build import col, lit
from gpuetl.expressions.functions.decays import EWM_MOMENT
from gpuetl.expressions.ir import ABSENT, Call, Column, Expr, Literal
from gpuetl.expressions.resolve import formula
from gpuetl.physical.window_state_steps import WindowSteps, if_true
from gpuetl.types.data_types import FLOAT64, STRING

PARTS = {"ewm_var": "variance", "ewm_std": "deviation"}
NOTHING = Literal(None, FLOAT64)


def is_adjusted(call: Call) -> bool:
    """Return whether new rows weigh 1, and not a share of all."""
    adjust = call.args[5] if len(call.args) > 5 else ABSENT
    return isinstance(adjust, Literal) and bool(adjust.value)


def moments_so_far(steps: WindowSteps, name: str, call: Call) -> Expr:
    """Carry the mean, as the value, and the other moments of `ewm_moment`.

    Where rows of nulls count for the decay, they are values without a weight, so that the last row has the state.
    """
    x, half_life, span, alpha, _, adjust, ignore_nulls, _, bias = [*call.args, *[ABSENT] * 8][:9]
    nulls_fade = isinstance(ignore_nulls, Literal) and ignore_nulls.value is False
    unweighted = if_true(formula(col("x").is_null(), x=x), Literal(0.0, FLOAT64)) if nulls_fade else NOTHING
    own = steps.column(name, formula(col("x").coalesce(lit(0.0)), x=x) if nulls_fade else x)
    weight, pairs, squares = (steps.column(name, unweighted) for _ in range(3))

    def part(of: str, *more: Expr) -> Column:
        options = (half_life, span, alpha, adjust, ABSENT, *more)
        arguments = (own, weight, pairs, squares, Literal(of, STRING), *options)
        return steps.placed(name, Call(EWM_MOMENT, arguments, FLOAT64))

    last = steps.last_values(name, own if nulls_fade else x, own)
    for column, of in ((own, "mean"), (weight, "weight"), (pairs, "pairs"), (squares, "squares")):
        steps.state[column.name] = if_true(last, part(of))
    result = part(PARTS[call.function.name], bias)
    return if_true(formula(col("x").is_not_null(), x=x), result) if nulls_fade else result
