"""Window functions in DuckDB's SQL: `w` is the window; TIME and GAP are columns of the window's input.

Frames are lists: one of the rows up to the current one says what a frame is, whatever ties and nulls its times have.
DuckDB's own RANGE frames would take rows after the current one that have its time.
"""

from fuzz.duckdb_casts import sql_type
from fuzz.duckdb_text import Text, constant_of
from gpuetl.expressions.ir import Call
from gpuetl.expressions.types import DURATION

TIME, GAP = '":time"', '":gap"'
"""The time by which rows are ordered, in microseconds, and what has passed since the row before."""
SO_FAR = "OVER (w ROWS UNBOUNDED PRECEDING)"
WHOLE = "OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"


def so_far(text: str) -> Text:
    """An aggregate of the values so far, null where the value is."""
    return lambda call, x: f"(CASE WHEN {x} IS NOT NULL THEN {text.format(x)} {SO_FAR} END)"


def cum_sum(call: Call, x: str) -> str:
    """Integers in 128 bits, then checked."""
    return f"CAST((CASE WHEN {x} IS NOT NULL THEN sum({x}) {SO_FAR} END) AS {sql_type(call.dtype)})"


def moved(function: str) -> Text:
    """The value of another row; nulls are kept."""
    return lambda call, x, offset="1": f"{function}({x}, {offset}) OVER w"


def diff(call: Call, x: str, offset: str = "1") -> str:
    """Checked."""
    return f"({x} - lag({x}, {offset}) OVER w)"


def session_id(call: Call, gap: str) -> str:
    """Gaps so far; null times stand together at one end of the order."""
    longer = f"sum(CASE WHEN {GAP} > {gap} THEN 1 ELSE 0 END)"
    return f"(CASE WHEN {TIME} IS NOT NULL THEN CAST({longer} {SO_FAR} AS BIGINT) END)"


def framed(of_list: str, least: int = 1) -> Text:
    """A function of the list of values in the frame, null where it has fewer than `least`."""

    def text(call: Call, x: str, frame: str) -> str:
        values = f"list_filter({frame_list(call, x, frame)}, lambda v: v IS NOT NULL)"
        result = f"CAST({of_list.format(values)} AS {sql_type(call.dtype)})"
        return f"(CASE WHEN len({values}) >= {least} THEN {result} END)" if least else result

    return text


def frame_list(call: Call, x: str, frame: str) -> str:
    """Return the list of the values in the frame of each row."""
    if call.args[1].dtype != DURATION:
        return f"list({x}) OVER (w ROWS {constant_of(call, 1) - 1} PRECEDING)"
    rows = f"list(struct_pack(t := {TIME}, x := {x})) {SO_FAR}"
    since = f"CASE WHEN {TIME} IS NULL THEN r.t IS NULL ELSE r.t >= {TIME} - {frame} END"
    return f"list_transform(list_filter({rows}, lambda r: {since}), lambda r: r.x)"


WINDOWS: dict[str, Text] = {
    "row_number": "row_number() OVER w",
    "lag": moved("lag"),
    "lead": moved("lead"),
    "first": lambda call, x: f"first_value({x}) {WHOLE}",
    "last": lambda call, x: f"last_value({x}) {WHOLE}",
    "ffill": lambda call, x: f"last_value({x} IGNORE NULLS) {SO_FAR}",
    "diff": diff,
    "cum_count": so_far("count({0})"),
    "cum_sum": cum_sum,
    "cum_mean": so_far("avg({0})"),
    "cum_min": so_far("min({0})"),
    "cum_max": so_far("max({0})"),
    "session_id": session_id,
    "rolling_sum": framed("list_sum({0})"),
    "rolling_mean": framed("list_avg({0})"),
    "rolling_min": framed("list_min({0})"),
    "rolling_max": framed("list_max({0})"),
    "rolling_count": framed("len({0})", least=0),
    "rolling_std": framed("list_stddev_samp({0})", least=2),
}
