"""Window functions: one value a row, from the rows of its group in the order of `order_by`.

cum_*, ewm_* and decayed_sum give null where x is null and skip it; NaN poisons what follows in the group.
A frame is the current row and those before it: a number of rows, or an interval, its far end included.  It may have both
ends: `rows => [-2, 2]` counts rows, and `range => [INTERVAL '-1 hour', INTERVAL '1 hour']` or `range => [-5, 5]` compares the
first key of order_by, rows that tie included.  NULL is an end of the group.  `centered` puts a number of rows around the row.
With fewer than `min_periods` values, a frame gives null.
With `nulls => 'carry'`, a cumulative function gives for a null x what it gave for the row before; null before the first
value, and 0 as a count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from gpuetl.expressions.functions.aggregates import (
    counted,
    in_float64,
    mean_type,
    numbers_in_float64,
    of_texts,
    quantile_type,
    selected_type,
    total_type_of,
)
from gpuetl.expressions.functions.decays import decayed_type, ewm_moment_type, ewm_type, plain_mean, plain_moment
from gpuetl.expressions.functions.frames import PARAMETERS, framed, plain_frame
from gpuetl.expressions.functions.function import (
    Function,
    Rule,
    TypeMismatch,
    Typing,
    anything,
    fixed,
    table_entry,
)
from gpuetl.expressions.functions.meeting import meet
from gpuetl.expressions.ir import ABSENT, Call, Cast, Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.data_types import (
    BOOL,
    DATE,
    DURATION,
    FLOAT64,
    INT64,
    NULL,
    STRING,
    TIME,
    is_floating,
    is_integer,
    is_number,
    is_temporal,
    type_name,
)
from gpuetl.types.decimal_types import is_decimal, sum_type

Window = partial(Function, kind="window", nulls="own")
Rolling = partial(Window, rewrite=plain_frame)


def shift_type(args: Sequence[Expr]) -> Typing:
    """Any type; a whole number of rows that is not negative; a default that meets the type; a boolean."""
    for offset in args[1:2]:
        if offset != ABSENT and (not is_integer(offset.dtype) or (isinstance(offset, Literal) and offset.value < 0)):
            got = repr(offset.value) if isinstance(offset, Literal) else type_name(offset.dtype)
            raise TypeMismatch(coded("GE1106", f"takes a number of rows from 0 as offset, got {got}"))
    fixed(BOOL, returns=BOOL)(args[3:])
    dtype = meet([args[0], *args[2:3]], "mix")
    return [dtype, INT64, dtype, BOOL][: len(args)], dtype


def difference_type(args: Sequence[Expr]) -> Typing:
    """Numbers, durations, timestamps, whose difference is a duration, or dates: days; and a number of rows."""
    shift_type(args)
    of_times = [args[0].dtype], INT64 if args[0].dtype == DATE else DURATION
    types, result = of_times if is_temporal(args[0].dtype) else total_type_of(args[:1])
    if is_decimal(types[0]):
        result = sum_type(types[0], types[0])
    return [*types, INT64][: len(args)], result


def change_type(args: Sequence[Expr]) -> Typing:
    """Numbers, compared in float64, and a number of rows."""
    shift_type(args)
    in_float64(args[:1])
    return [FLOAT64, INT64][: len(args)], FLOAT64


def ntile_type(args: Sequence[Expr]) -> Typing:
    """A whole number from 1."""
    if not is_integer(args[0].dtype) or (isinstance(args[0], Literal) and args[0].value < 1):
        got = repr(args[0].value) if isinstance(args[0], Literal) else type_name(args[0].dtype)
        raise TypeMismatch(coded("GE1106", f"takes a number of tiles from 1, got {got}"))
    return [INT64], INT64


def gap_type(args: Sequence[Expr]) -> Typing:
    """An interval that is not negative."""
    typing = fixed(DURATION, returns=INT64)(args)
    if isinstance(args[0], Literal) and args[0].value < timedelta(0):
        raise TypeMismatch(coded("GE1106", f"takes a gap that is not negative, got {args[0].value}"))
    return typing


def rank_type(args: Sequence[Expr]) -> Typing:
    """A way to number rows that tie."""
    for method in args:
        if isinstance(method, Literal) and method.value not in RANK_METHODS:
            ways = ", ".join(f"'{way}'" for way in RANK_METHODS)
            raise TypeMismatch(coded("GE1106", f"takes {ways} as method, got {method.value!r}"))
        if method.dtype != STRING:
            raise TypeMismatch(f"takes a string as method, got {type_name(method.dtype)}")
    average = any(isinstance(method, Literal) and method.value == "average" for method in args)
    return [STRING][: len(args)], FLOAT64 if average else INT64


RANK_METHODS = ("min", "max", "average", "dense", "ordinal")


def plain_rank(call: Call) -> Expr:
    """Return the rank by the functions that engines have: `rank()`, `rank('max')`, `dense_rank()`, `row_number()`."""
    method = call.args[0].value if call.args and isinstance(call.args[0], Literal) else "min"
    if method in ("dense", "ordinal"):
        return Call(table_entry("window", {"dense": "dense_rank", "ordinal": "row_number"}[method]), (), INT64)
    if method == "average":
        ends = Call(call.function, (), INT64), Call(call.function, (Literal("max", STRING),), INT64)
        total = Call(table_entry("scalar", "add"), ends, INT64)
        halves = Cast(total, FLOAT64, implicit=True), Literal(2.0, FLOAT64)
        return Call(table_entry("scalar", "divide"), halves, FLOAT64)
    return call if method == "max" or not isinstance(method, str) else Call(call.function, (), INT64)


def interpolated_type(args: Sequence[Expr]) -> Typing:
    """Numbers, in float64, and a time, date, duration or number."""
    types, result = in_float64(args[:1])
    for by in args[1:]:
        if by == ABSENT or is_temporal(by.dtype) or by.dtype in (DURATION, TIME):
            types = [*types, by.dtype]
        elif is_integer(by.dtype):
            types = [*types, INT64]
        elif is_number(by.dtype) or by.dtype == NULL:
            types = [*types, FLOAT64]
        else:
            raise TypeMismatch(f"takes a time or a number as by, got {type_name(by.dtype)}")
    return types, result


def place_type(args: Sequence[Expr]) -> Typing:
    """Any type, kept; a whole number from 1; two booleans."""
    if not is_integer(args[1].dtype) or (isinstance(args[1], Literal) and args[1].value < 1):
        got = repr(args[1].value) if isinstance(args[1], Literal) else type_name(args[1].dtype)
        raise TypeMismatch(coded("GE1106", f"takes a row's place from 1, got {got}"))
    fixed(BOOL, BOOL, returns=BOOL)(args[2:])
    return [args[0].dtype, INT64, BOOL, BOOL][: len(args)], args[0].dtype


def bins(args: Sequence[Expr]) -> Typing:
    """What is cut, a list or number, and labels: a CASE takes its place before it is typed."""
    return [arg.dtype for arg in args], STRING


def multiplied(args: Sequence[Expr]) -> Typing:
    """Integers in int64, floats in float64; the digits of a product of decimals would have no end."""
    dtype = numbers_in_float64(args)[1]
    if is_decimal(dtype):
        raise TypeMismatch("does not take decimals", "Cast to float64.")
    result = FLOAT64 if is_floating(dtype) else INT64
    return [result], result


NULLS = ("keep", "carry")
"""What a cumulative function gives where x is null: null, or what it gave for the row before."""


def so_far(result: Rule) -> Rule:
    """Type x by `result`, and what a row without a value gets."""

    def rule(args: Sequence[Expr]) -> Typing:
        for nulls in args[1:]:
            if isinstance(nulls, Literal) and nulls.value not in (None, *NULLS):
                raise TypeMismatch(coded("GE1106", f"takes 'keep' or 'carry' as nulls, got {nulls.value!r}"))
        fixed(STRING, returns=STRING)(args[1:])
        taken, dtype = result(args[:1])
        return [*taken, STRING][: len(args)], dtype

    return rule


def plain_so_far(call: Call) -> Expr:
    """Return a call without `nulls` where these are kept."""
    nulls = call.args[1] if len(call.args) > 1 else ABSENT
    return replace(call, args=call.args[:1]) if isinstance(nulls, Literal) and nulls.value != "carry" else call


Running = partial(Window, rewrite=plain_so_far)
argument_type, counts, sums, means = anything(), anything(INT64), total_type_of, mean_type

FUNCTIONS = (
    Window("row_number", "", fixed(returns=INT64), "The row's place in its group, from 1.", "row_number()", [1, 2, 3, 4]),
    Window("rank", "method?!", rank_type, "1 more than the rows before it in order; rows that tie share it.  `method` is 'min', or 'max', "
           "'average' (in float64), 'dense' or 'ordinal': how rows that tie are numbered.", "rank()", [1, 2, 3, 4], rewrite=plain_rank),
    Window("dense_rank", "", fixed(returns=INT64), "1 more than the distinct keys of order_by before it; rows that tie share it.",
           "dense_rank()", [1, 2, 3, 4]),
    Window("percent_rank", "", fixed(returns=FLOAT64), "(rank - 1) / (rows - 1), 0 in a group of 1 row.", "percent_rank()",
           [0.0, 1 / 3, 2 / 3, 1.0]),
    Window("cume_dist", "", fixed(returns=FLOAT64), "The share of the group's rows that come no later in order.", "cume_dist()",
           [0.25, 0.5, 0.75, 1.0]),
    Window("ntile", "n!", ntile_type, "The tile, from 1, when the group's rows are dealt to n equal tiles; the first ones get the rest.",
           "ntile(3)", [1, 1, 2, 3]),
    Window("lag", "x offset?! default? ignore_nulls?!", shift_type,
           "x of the row `offset` (1) rows before, `default` (null) where there is none; nulls are kept, or, with `ignore_nulls` or IGNORE NULLS, "
           "their rows not counted.", "lag(x)", [None, 1, 2, None]),
    Window("lead", "x offset?! default? ignore_nulls?!", shift_type, "x of the row `offset` (1) rows after, as in lag.",
           "lead(x, ignore_nulls => true)", [2, 4, 4, None]),
    Window("first", "x ignore_nulls?! only?", selected_type,
           "x of the group's first row, or of those where `only` is true, which FILTER sets; nulls are kept unless `ignore_nulls`.",
           "first(x)", [1, 1, 1, 1]),
    Window("last", "x ignore_nulls?! only?", selected_type, "x of the group's last row, as in first.",
           "last(x) FILTER (WHERE x < 4)", [2, 2, 2, 2]),
    Window("nth_value", "x n! ignore_nulls?! only?", place_type,
           "x of the group's row with number n, from 1, null where there is none; nulls and `only` as in first.",
           "nth_value(x, 2)", [2, 2, 2, 2]),
    Window("ffill", "x", argument_type, "The last x up to here that is not null.", "ffill(x)", [1, 2, 2, 4]),
    Window("bfill", "x", argument_type, "The next x from here on that is not null.", "bfill(x)", [1, 2, 4, 4]),
    Window("interpolate", "x by?", interpolated_type,
           "x in float64, and in place of a null what lies on the line from the last value to the next; null before the first value "
           "and after the last.  Distances are those of rows, or of `by`, a time or number, as in interpolate(x, by => ts).",
           "interpolate(x)", [1.0, 2.0, 3.0, 4.0]),
    Window("diff", "x offset?!", difference_type, "x minus the x of `offset` (1) rows before; of timestamps, a duration, and of dates, days.", "diff(x)", [None, 1, None, None],
           can_fail=True),
    Window("pct_change", "x offset?!", change_type, "x / x' - 1 in float64, with the x' of `offset` (1) rows before.",
           "pct_change(x)", [None, 1.0, None, None]),
    Running("cum_count", "x nulls?!", so_far(counts), "The number of values so far.", "cum_count(x)", [1, 2, None, 3]),
    Running("cum_sum", "x nulls?!", so_far(sums), "The sum so far; overflow is an error.", "cum_sum(x)", [1, 3, None, 7], can_fail=True),
    Running("cum_prod", "x nulls?!", so_far(multiplied), "The product so far: int64 or float64; overflow of int64 is an error.", "cum_prod(x)",
           [1, 2, None, 8], can_fail=True),
    Running("cum_mean", "x nulls?!", so_far(means), "The mean so far, as of `mean`.", "cum_mean(x)", [1.0, 1.5, None, 7 / 3]),
    Running("cum_min", "x nulls?!", so_far(argument_type), "The least value so far.", "cum_min(x)", [1, 1, None, 1]),
    Running("cum_max", "x nulls?!", so_far(argument_type), "The greatest value so far; NaN once one is NaN.", "cum_max(x)", [1, 2, None, 4]),
    Rolling("rolling_sum", f"x {PARAMETERS}", framed(sums), "The sum over the frame; overflow is an error.", "rolling_sum(x, 2)",
           [1, 3, 2, 4], can_fail=True),
    Rolling("rolling_mean", f"x {PARAMETERS}", framed(means), "The mean over the frame, as of `mean`.", "rolling_mean(x, 2)", [1.0, 1.5, 2.0, 4.0]),
    Rolling("rolling_min", f"x {PARAMETERS}", framed(argument_type), "The least value of the frame.", "rolling_min(x, 2)", [1, 1, 2, 4]),
    Rolling("rolling_max", f"x {PARAMETERS}", framed(argument_type), "The greatest value of the frame.", "rolling_max(x, 2)", [1, 2, 2, 4]),
    Rolling("rolling_count", f"x {PARAMETERS}", framed(counts), "The number of values in the frame.", "rolling_count(x, 2)",
           [1, 2, 1, 1]),
    Rolling("rolling_std", f"x {PARAMETERS}", framed(in_float64), "The sample standard deviation (ddof 1) over the frame.",
           "rolling_std(x, 2)", [None, 0.5**0.5, None, None]),
    Rolling("rolling_var", f"x {PARAMETERS}", framed(in_float64), "The sample variance (ddof 1) over the frame.", "rolling_var(x, 2)",
           [None, 0.5, None, None]),
    Rolling("rolling_median", f"x {PARAMETERS}", framed(in_float64), "The exact median over the frame, as of `median`.", "rolling_median(x, 3)",
            [1.0, 1.5, 1.5, 3.0]),
    Rolling("rolling_quantile", f"x q! {PARAMETERS}", framed(quantile_type, 2), "The exact quantile over the frame, as of `quantile`.",
            "rolling_quantile(x, 0.75, 3)", [1.0, 1.75, 1.75, 3.5]),
    Window("rolling_count_distinct", f"x {PARAMETERS}", framed(counted), "The number of distinct values in the frame, nulls not counted; NaN is one value.",
           "rolling_count_distinct(x > 1, 3)", [1, 2, 2, 1], nested=True, rewrite=lambda call: plain_frame(of_texts(call))),
    Rolling("rolling_covar_samp", f"x y {PARAMETERS}", framed(in_float64, 2),
            "The sample covariance (ddof 1) of the frame's pairs without a null; null of fewer than 2.", "rolling_covar_samp(x, 3 * x, 2)",
            [None, 1.5, None, None]),
    Rolling("rolling_covar_pop", f"x y {PARAMETERS}", framed(in_float64, 2),
            "The covariance (ddof 0) of the frame's pairs without a null.", "rolling_covar_pop(x, 3 * x, 2)", [0.0, 0.75, 0.0, 0.0]),
    Rolling("rolling_corr", f"x y {PARAMETERS}", framed(in_float64, 2),
            "Pearson's correlation of the frame's pairs without a null; NaN where x or y is constant, null of fewer than 2 pairs.",
            "rolling_corr(x, -x, 2)", [None, -1.0, None, None]),
    Rolling("rolling_first", f"x {PARAMETERS} ignore_nulls?! only?", framed(selected_type),
            "x of the frame's first row, or of those where `only` is true, which FILTER sets; nulls are kept unless `ignore_nulls`.",
            "rolling_first(x, 2)", [1, 1, 2, None]),
    Rolling("rolling_last", f"x {PARAMETERS} ignore_nulls?! only?", framed(selected_type),
            "x of the frame's last row, as in rolling_first.", "rolling_last(x, 2, ignore_nulls => true)", [1, 2, 2, 4]),
    Rolling("rolling_nth_value", f"x n! {PARAMETERS} ignore_nulls?! only?", framed(place_type, 2),
            "x of the frame's row with number n, from 1, null where there is none; nulls and `only` as in rolling_first.",
            "rolling_nth_value(x, 2, rows => [-1, 1])", [2, 2, None, 4]),
    Window("ewm_mean", "x half_life?! span?! alpha?! com?! adjust?! ignore_nulls?! min_periods?!", ewm_type,
           "The exponentially weighted mean: y = (1 - a)·y' + a·x, and the first y is x.  Give one of four: `alpha` is a, `span` "
           "sets a = 2 / (span + 1), `com` sets a = 1 / (com + 1), and `half_life` sets a = 1 - 2^(-d / half_life).  d is the distance "
           "from the last value, in seconds if order_by is a timestamp, else in rows.  `adjust` divides the decayed sum of the values by "
           "the sum of their weights, as pandas and Polars do by default.  With `adjust`, `ignore_nulls => false` counts rows of nulls.  "
           "Null before `min_periods` values.",
           "ewm_mean(x, half_life => interval '1 hour')", [1.0, 1.5, None, 3.375], rewrite=plain_mean),
    Window("ewm_var", "x half_life?! span?! alpha?! com?! adjust?! ignore_nulls?! min_periods?! bias?!", ewm_moment_type,
           "The variance of the values so far, weighted as in ewm_mean, with its options.  It is unbiased, as that of a sample; "
           "`bias => true` leaves that correction out.  Null where one value has all of the weight, as the first has; 0 with bias.",
           "ewm_var(x, alpha => 0.5)", [None, 0.5, None, 2.7], rewrite=plain_moment),
    Window("ewm_std", "x half_life?! span?! alpha?! com?! adjust?! ignore_nulls?! min_periods?! bias?!", ewm_moment_type,
           "The root of ewm_var.", "ewm_std(x, alpha => 0.5, bias => true)", [0.0, 0.5, None, 1.6875**0.5], rewrite=plain_moment),
    Window("decayed_sum", "x half_life?! span?! alpha?!", decayed_type, "y = 2^(-d / half_life)·y' + x, or (1 - a)·y' + x, with d and a as in ewm_mean.",
           "decayed_sum(x, half_life => interval '1 hour')", [1.0, 2.5, None, 4.625]),
    Window("qcut", "x quantiles! labels?! left_closed?!", bins,
           "The label of the bin of x between quantiles of the group.  `quantiles` is a number of bins of about equal counts, or the "
           "list of shares at which to cut, such as [0.25, 0.5, 0.75].  Breaks are as of `quantile`, labels and bins as of `cut`.  "
           "It needs no order.  Bins between equal quantiles are empty; no value is below a quantile of NaN.",
           "qcut(x, 2, ['low', 'high'])", ["low", "low", None, "high"], definition="CASE WHEN x <= 0 THEN '' END"),
    Window("session_id", "gap!", gap_type,
           "How many gaps longer than `gap` the group has had so far; needs order_by to begin with a timestamp.",
           "session_id(gap => interval '1 hour')", [0, 0, 1, 1]),
)  # fmt: skip
"""The examples are over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group."""

SKIPPING = frozenset(
    f.name
    for f in FUNCTIONS
    if f.name.startswith(("cum_", "rolling_"))
    or f.name in ("ewm_mean", "ewm_var", "ewm_std", "decayed_sum", "first", "last", "nth_value")
)
"""Those that take FILTER: they skip nulls, or rows that are not `only`."""

TIE_FREE = frozenset(["rank", "dense_rank", "percent_rank", "cume_dist", "session_id"])
"""Those that give the same whatever the order of rows that tie."""

NEEDS_LATER_ROWS = frozenset(
    ["nth_value", "lead", "bfill", "interpolate", "last", "percent_rank", "cume_dist", "ntile"]
)
"""Those that need later rows of the group, or all of them, as `first` with `ignore_nulls` or FILTER does."""
