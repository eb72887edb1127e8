"""Window functions in DuckDB's SQL: `w` is the window; TIME and GAP are columns of the window's input.

Frames are lists: one of the rows up to the current one says what a frame is, whatever ties and nulls its times have.
DuckDB's own RANGE frames would take rows after the current one that have its time.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from fuzz.duckdb_aggregates import considered, exact_mean
from fuzz.duckdb_text import Text, canonical, constant_of
from fuzz.duckdb_types import sql_type
from gpuetl.expressions.functions.frames import frame_of, units_of
from gpuetl.expressions.ir import Call
from gpuetl.types.data_types import INT64, TIMESTAMP, is_floating, is_integer

TIME, GAP, KEY, NUMBERED = '":time"', '":gap"', '":key"', '":numbered"'
"""The time by which rows are ordered, in microseconds, what has passed since the row before, and the number."""
SO_FAR = "OVER (w ROWS UNBOUNDED PRECEDING)"
FROM_HERE = "OVER (w ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)"
WHOLE = "OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"


def so_far(text: str) -> Text:
    """An aggregate of the values so far, null where the value is."""
    return lambda call, x, *nulls: where_known(f"{text.format(x)} {SO_FAR}", x, nulls)


def where_known(text: str, x: str, nulls: tuple[str, ...]) -> str:
    """Null where x is, unless results are carried on."""
    return text if nulls else f"(CASE WHEN {x} IS NOT NULL THEN {text} END)"


def cum_mean(call: Call, x: str, *nulls: str) -> str:
    """As the aggregate."""
    mean = f"avg({x}) {SO_FAR}" if is_floating(call.args[0].dtype) else exact_mean(call, f"list({x}) {SO_FAR}")
    return where_known(f"(CASE WHEN count({x}) {SO_FAR} > 0 THEN {mean} END)", x, nulls)


def cum_sum(call: Call, x: str, *nulls: str) -> str:
    """Integers in 128 bits, then checked."""
    return f"CAST({where_known(f'sum({x}) {SO_FAR}', x, nulls)} AS {sql_type(call.dtype)})"


def cum_prod(call: Call, x: str, *nulls: str) -> str:
    """One product after the other, checked; those of floats neither overflow nor underflow on the way."""
    values = f"list({x}) FILTER (WHERE {x} IS NOT NULL) {SO_FAR}"
    product = f"product_of({values})" if is_floating(call.dtype) else f"list_reduce({values}, lambda a, b: a * b)"
    return where_known(product, x, nulls)


def moved(function: str) -> Text:
    """The value of another row; nulls are kept, unless they are no rows."""

    def text(call: Call, x: str, offset: str = "1", default: str = "NULL", ignore_nulls: str = "") -> str:
        offset = offset if given(call, 1) is not None else "1"
        if given(call, 1) == 0:
            return x  # DuckDB has null there for a constant
        return f"{function}({x}, {offset}, {default}{' IGNORE NULLS' * bool(given(call, 3))}) OVER w"

    return text


def given(call: Call, place: int) -> Any:
    """Return the value of a constant argument; None where it is left out."""
    return constant_of(call, place) if len(call.args) > place else None


def edge(function: str, place: int) -> Text:
    """The value of the group's first or last row, or of those that are considered."""

    def text(call: Call, x: str, *options: str) -> str:
        if len(options) < 2:
            return f"{function}({x}{' IGNORE NULLS' * bool(given(call, 1))}) {WHOLE}"
        return f"(list({x}) FILTER (WHERE {considered(call, x, options)}) {WHOLE})[{place}]"

    return text


def diff(call: Call, x: str, offset: str = "1") -> str:
    """Checked."""
    return f"({x} - lag({x}, {offset}) OVER w)"


def session_id(call: Call, gap: str) -> str:
    """Gaps so far, and of rows that tie: which of them has the gap is not the same in each of DuckDB's windows."""
    longer = f"sum(CASE WHEN {GAP} > {gap} THEN 1 ELSE 0 END)"
    return f"(CASE WHEN {TIME} IS NOT NULL THEN CAST({longer} OVER w AS BIGINT) END)"


def framed(of_list: str, least: int = 1) -> Callable[..., str]:
    """A function of the list of values in the frame, null where it has fewer than `least`."""

    def text(call: Call, x: str, *options: str) -> str:
        values = f"list_filter(coalesce({frame_list(call, x)}, []), lambda v: v IS NOT NULL)"
        result = f"CAST({of_list.format(values)} AS {sql_type(call.dtype)})"
        return f"(CASE WHEN len({values}) >= {least} THEN {result} END)" if least else result

    return text


def rolling_quantile(call: Call, x: str, q: str, *options: str) -> str:
    """As the aggregate."""
    return framed(f"quantile_of(list_sort({{0}}), {q})")(call, x, *options)


def rolling_count_distinct(call: Call, x: str, *options: str) -> str:
    """As the aggregate: NaN is one value, and -0.0 is 0.0."""
    return framed("len(list_distinct({0}))", least=0)(call, canonical(x, call.args[0].dtype), *options)


def paired(of_pairs: str, least: int) -> Callable[..., str]:
    """A function of the list of pairs in the frame, null where it has fewer than `least`, NaN where one is not finite."""

    def text(call: Call, x: str, y: str, *options: str) -> str:
        frame = f"coalesce({frame_list(call, f'struct_pack(a := {x}, b := {y})')}, [])"
        pairs = f"list_filter({frame}, lambda v: v.a IS NOT NULL AND v.b IS NOT NULL)"
        finite = f"list_filter({pairs}, lambda v: isfinite(v.a) AND isfinite(v.b))"
        result = f"CASE WHEN len({pairs}) > len({finite}) THEN CAST('nan' AS DOUBLE) ELSE {of_pairs.format(finite)} END"
        return f"(CASE WHEN len({pairs}) >= {least} THEN {result} END)"

    return text


def frame_edge(place: int | None) -> Callable[..., str]:
    """The value of the frame's row at a place, or of those that are considered; None: it is the argument after x."""
    others = 6 if place is None else 5

    def text(call: Call, x: str, *options: str) -> str:
        own = "TRUE" if len(options) <= others + 1 else f"coalesce({options[others + 1]}, FALSE)"
        if given(call, others + 1):
            own = f"({own} AND {x} IS NOT NULL)"
        frame = f"coalesce({frame_list(call, f'struct_pack(a := {x}, o := {own})')}, [])"
        return f"(list_filter({frame}, lambda v: v.o)[{place or options[0]}].a)"

    return text


def rolling_mean(call: Call, x: str, *options: str) -> str:
    """As the aggregate."""
    of_list = "list_avg({0})" if is_floating(call.args[0].dtype) else exact_mean(call, "{0}")
    return framed(of_list)(call, x, *options)


def spread(function: str) -> str:
    """Return a moment of a list, NaN where a value is infinite or NaN."""
    finite = "list_filter({0}, lambda v: isfinite(v))"
    return f"CASE WHEN len({{0}}) > len({finite}) THEN CAST('nan' AS DOUBLE) ELSE {function}({finite}) END"


def frame_list(call: Call, x: str) -> str:
    """Return the list of the values in the frame of each row."""
    frame = frame_of(call)
    if frame.kind == "rows":
        return f"list({x}) OVER (w ROWS BETWEEN {bound(frame.start, 'PRECEDING')} AND {bound(frame.end, 'FOLLOWING')})"
    times = isinstance(frame.start, timedelta)
    key, (start, end) = (TIME, units_of(frame, TIMESTAMP)) if times else (KEY, (frame.start, frame.end))
    rows = f"list(struct_pack(t := {key}, x := {x})) {SO_FAR if frame.kind == 'so_far' else WHOLE}"
    within = f"CASE WHEN {key} IS NULL THEN r.t IS NULL ELSE r.t >= {key} + {start} AND r.t <= {key} + {end} END"
    return f"list_transform(list_filter({rows}, lambda r: {within}), lambda r: r.x)"


def bound(at: int | None, side: str) -> str:
    """Return an end of a frame of rows."""
    if at is None:
        return f"UNBOUNDED {side}"
    return f"{abs(at)} {'PRECEDING' if at < 0 else 'FOLLOWING'}" if at else "CURRENT ROW"


def nth_value(call: Call, x: str, n: str, *options: str) -> str:
    """The value of a row by its number."""
    if len(options) < 2:
        return f"nth_value({x}, {n}{' IGNORE NULLS' * bool(given(call, 2))}) {WHOLE}"
    skips = f" AND {x} IS NOT NULL" * bool(given(call, 2))
    return f"(list({x}) FILTER (WHERE {options[1]}{skips}) {WHOLE})[{n}]"


def interpolate(call: Call, x: str, by: str = "") -> str:
    """The line between the nearest two values, by the numbers of rows or by a column."""
    dtype = call.args[1].dtype if by else INT64
    if not by:
        place = f"CAST({NUMBERED} AS DOUBLE)"
    elif is_floating(dtype):
        place = f"CAST({by} AS DOUBLE)"
    else:
        place = f"CAST({by} AS HUGEINT)" if is_integer(dtype) else f"CAST(epoch_us({by}) AS HUGEINT)"
    present = f"{x} IS NOT NULL" + f" AND {by} IS NOT NULL" * bool(by)
    before, after, start, end = (
        f"{which}_value(CASE WHEN {present} THEN {value} END IGNORE NULLS) {over}"
        for value in (x, place)
        for which, over in (("last", SO_FAR), ("first", FROM_HERE))
    )
    ordered = [f"NOT isnan({value})" for value in (start, place, end) if is_floating(dtype)]
    inside = " AND ".join([f"{start} <= {place}", f"{place} <= {end}", *ordered])
    share = (
        f"CASE WHEN {start} = {end} THEN 0.0::DOUBLE ELSE ({place} - {start})::DOUBLE / ({end} - {start})::DOUBLE END"
    )
    line = f"{before} + ({after} - {before}) * ({share})"
    return f"CASE WHEN {x} IS NOT NULL THEN {x} WHEN {inside} THEN {line} END"


def rank(call: Call, *method: str) -> str:
    """The number of the first row that ties, or of the last."""
    return "count(*) OVER (w RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)" if method else "rank() OVER w"


WINDOWS: dict[str, Text] = {
    "row_number": "row_number() OVER w",
    "lag": moved("lag"),
    "lead": moved("lead"),
    "rank": rank,
    "nth_value": nth_value,
    "dense_rank": "dense_rank() OVER w",
    "percent_rank": "percent_rank() OVER w",
    "cume_dist": "cume_dist() OVER w",
    "ntile": "ntile({0}) OVER w",
    "first": edge("first_value", 1),
    "last": edge("last_value", -1),
    "ffill": f"last_value({{0}} IGNORE NULLS) {SO_FAR}",
    "bfill": f"first_value({{0}} IGNORE NULLS) {FROM_HERE}",
    "interpolate": interpolate,
    "diff": diff,
    "pct_change": lambda call, x, offset="1": f"({x} / lag({x}, {offset}) OVER w - 1)",
    "cum_count": so_far("count({0})"),
    "cum_sum": cum_sum,
    "cum_prod": cum_prod,
    "cum_mean": cum_mean,
    "cum_min": so_far("min({0})"),
    "cum_max": so_far("max({0})"),
    "session_id": session_id,
    "rolling_sum": framed("list_sum({0})"),
    "rolling_mean": rolling_mean,
    "rolling_min": framed("list_min({0})"),
    "rolling_max": framed("list_max({0})"),
    "rolling_count": framed("len({0})", least=0),
    "rolling_std": framed(spread("list_stddev_samp"), least=2),
    "rolling_median": framed("median_of(list_sort({0}))"),
    "rolling_quantile": rolling_quantile,
    "rolling_count_distinct": rolling_count_distinct,
    "rolling_covar_samp": paired("co_moment_of({0}) / (len({0}) - 1)", least=2),
    "rolling_covar_pop": paired("co_moment_of({0}) / len({0})", least=1),
    "rolling_corr": paired("correlation_of({0})", least=2),
    "rolling_first": frame_edge(1),
    "rolling_last": frame_edge(-1),
    "rolling_nth_value": frame_edge(None),
    "rolling_var": framed(spread("list_var_samp"), least=2),
}
