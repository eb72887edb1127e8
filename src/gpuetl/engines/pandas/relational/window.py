"""Window: rows sorted by group and order once, then one scan a call."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.no_result import window_overflow
from gpuetl.engines.pandas.columns.column import (
    Masked,
    arange,
    from_masked,
    has_numbers,
    take_or_null,
    to_masked,
    whole,
    with_column,
)
from gpuetl.engines.pandas.columns.order import SortedRows, note_ties, rank_values, sort_rows
from gpuetl.engines.pandas.expressions.evaluate import evaluate_column
from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.engines.pandas.relational.frame_rows import FrameRows, frames_between_keys, frames_between_rows
from gpuetl.engines.pandas.relational.segmented_scans import Segments
from gpuetl.engines.pandas.relational.window_decimals import DECIMAL_WINDOWS
from gpuetl.engines.pandas.relational.window_functions import DURATION_WINDOWS, WINDOW_FUNCTIONS, WindowRows
from gpuetl.errors import EvaluationError
from gpuetl.expressions.functions.frames import OPTIONS, Frame, frame_of, units_of
from gpuetl.expressions.functions.function import Argument
from gpuetl.expressions.functions.windows import TIE_FREE
from gpuetl.expressions.ir import Call
from gpuetl.plan.nodes import Grouped, Window
from gpuetl.threads import in_threads
from gpuetl.types.data_types import DURATION, INT64, TIMESTAMP, is_floating, is_number, is_temporal
from gpuetl.types.decimal_types import is_decimal

MICROSECOND = timedelta(microseconds=1)
FILLS = ("ffill", "bfill")
COUNTS = ("cum_count", "rolling_count", "rolling_count_distinct")
MOVES_VALUES = (
    "lag",
    "lead",
    "first",
    "last",
    "nth_value",
    "rolling_first",
    "rolling_last",
    "rolling_nth_value",
    *FILLS,
)
Frames = Mapping[Frame, FrameRows]


@run_operation.register
def compute_windows(operation: Window, frame: pa.Table) -> pa.Table:
    """Sort the rows, and add each call's column.

    Raises
    ------
    EvaluationError
        Where a sum or difference leaves its type.
    """
    order = group_order(operation, frame)
    if any(call.function.name not in TIE_FREE for call in operation.calls.values()):
        note_ties(operation, operation.sort_keys, order.ties)
    frame = order.apply(frame)
    rows = WindowRows(segments_of(order), order_time(operation, frame), order.new_value)
    frames = {each: frame_rows(each, operation, rows, frame) for each in frames_of(operation)}
    columns = in_threads(lambda item: named_window(operation, *item, frame, rows, frames), operation.calls.items())
    for name, column in zip(operation.calls, columns, strict=True):
        frame = with_column(frame, name, column)
    return frame


def named_window(operation: Window, name: str, call: Call, frame: pa.Table, rows: WindowRows, frames: Frames) -> Any:
    """Compute one call on sorted rows; an error says which column."""
    try:
        return call_window(call, frame, rows, frames)
    except OverflowError as error:
        text, row = error.args
        failed = window_overflow(operation, call, text, row, lambda column: frame.column(column)[row])
        raise EvaluationError.of_column(name, failed) from None
    except EvaluationError as error:
        raise EvaluationError.of_column(name, error) from None


def sorted_segments(operation: Grouped, frame: pa.Table) -> tuple[pa.Table, Segments]:
    """Return the rows in order and the segments of equal group keys; ties are noted."""
    order = group_order(operation, frame)
    note_ties(operation, operation.sort_keys, order.ties)
    return order.apply(frame), segments_of(order)


def group_order(operation: Grouped, frame: pa.Table) -> SortedRows:
    """Sort the rows by group and order."""
    return sort_rows(frame, operation.sort_keys, len(operation.by), operation.presorted)


def segments_of(order: SortedRows) -> Segments:
    """Return the segments of equal group keys."""
    return Segments(np.flatnonzero(order.new_group), len(order.new_group))


def order_key(operation: Window, frame: pa.Table) -> Masked | None:
    """Return the first order key as what frames compare, if it is an ascending number."""
    key = operation.order_by[0]
    column = whole(frame.column(key.column))
    if key.descending or not is_number(column.type):
        return None
    if is_decimal(column.type) or column.type == pa.uint64():
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        scale = column.type.scale if is_decimal(column.type) else 0
        integers = [0 if value is None else int(Decimal(value).scaleb(scale, EXACT)) for value in column.to_pylist()]
        return Masked(np.array(integers, object), valid)
    masked = to_masked(column)
    return Masked(masked.values.astype(np.float64 if is_floating(column.type) else np.int64), masked.valid)


EXACT = Context(prec=80)


def order_time(operation: Window, frame: pa.Table) -> Masked | None:
    """Return the first order key in microseconds, if it is an ascending date or timestamp."""
    key = operation.order_by[0]
    column = frame.column(key.column)
    if key.descending or not is_temporal(column.type):
        return None
    return to_masked(column if pa.types.is_timestamp(column.type) else column.cast(TIMESTAMP))


def frames_of(operation: Window) -> dict[Frame, None]:
    """Return the frames of the rolling functions, each once."""
    return dict.fromkeys(frame_of(call) for call in operation.calls.values() if has_frame(call))


def has_frame(call: Call) -> bool:
    """Return whether a function is over a frame of rows."""
    return any(slot.name == "frame" for slot in call.function.arguments)


def frame_rows(frame: Frame, operation: Window, rows: WindowRows, table: pa.Table) -> FrameRows:
    """Return the rows of each row's frame."""
    segments = rows.segments
    if frame.kind == "rows" and frame.end == 0 and frame.start is not None:
        return FrameRows(segments.frame_starts_by_rows(1 - frame.start))
    if frame.kind == "rows":
        return frames_between_rows(segments, frame.start, frame.end)
    if frame.kind == "so_far":
        assert rows.time is not None  # the planner has checked the order
        return FrameRows(segments.frame_starts_by_interval(rows.time, -frame.start // MICROSECOND))
    dtype = operation.source.schema[operation.order_by[0].column]
    key = rows.time if is_temporal(dtype) else order_key(operation, table)
    assert key is not None  # the planner has checked the order
    start, end = units_of(frame, TIMESTAMP if is_temporal(dtype) else dtype)
    return frames_between_keys(segments, key, start, end)


def call_window(call: Call, frame: pa.Table, rows: WindowRows, frames: Frames) -> Any:
    """Compute one call on sorted rows."""
    name = call.function.name
    given = [(s, a) for s, a in zip(call.function.arguments, call.args, strict=False) if not is_absent(s, a)]
    constants = {s.name: constant(argument, s.name) for s, argument in given if s.constant}
    if has_frame(call):
        constants = {name: value for name, value in constants.items() if name not in OPTIONS}
        constants["frame_starts"] = frames[frame_of(call)]
    columns = {s.name: whole(evaluate_column(argument, frame)) for s, argument in given if not s.constant}
    if not columns:
        return from_masked(WINDOW_FUNCTIONS[name](rows, **constants), call.dtype)
    if name in MOVES_VALUES:
        return shifted(name, columns, rows, constants)
    if is_decimal(columns["x"].type) and name in DECIMAL_WINDOWS:
        return DECIMAL_WINDOWS[name](rows, columns["x"], **constants)
    if columns["x"].type == DURATION and name in DURATION_WINDOWS:
        return from_masked(DURATION_WINDOWS[name](rows, to_masked(columns["x"]), **constants), call.dtype)
    if not has_numbers(columns["x"].type):
        return by_rank(name, columns["x"], rows, constants)
    masked = map(to_masked, columns.values())  # x, and y of pairs
    return from_masked(WINDOW_FUNCTIONS[name](rows, *masked, **constants), call.dtype)


def is_absent(slot: Argument, argument: Any) -> bool:
    """Return whether a constant was left out before another argument."""
    return slot.constant and argument.value is None


def constant(argument: Any, slot: str) -> Any:
    """Return a constant as the window function wants it: intervals in microseconds, half-lives in seconds or rows."""
    if argument.dtype != DURATION:
        return argument.value
    return argument.value / timedelta(seconds=1) if slot == "half_life" else argument.value // MICROSECOND


def shifted(name: str, columns: dict[str, Any], rows: WindowRows, constants: dict[str, Any]) -> Any:
    """Move values of any type by their row numbers; `default` stands where there is no such row.

    The row itself, at offset 0, is there whatever its value.
    """
    values = columns["x"]
    valid = np.ones(len(values), bool)
    if name in FILLS or (constants.get("ignore_nulls") and constants.get("offset") != 0):
        valid &= values.is_valid().to_numpy(zero_copy_only=False)
    if "only" in columns:
        only = to_masked(columns["only"])
        valid &= only.values & only.valid
        constants = {**constants, "ignore_nulls": True}
    found = WINDOW_FUNCTIONS[name](rows, Masked(arange(len(values)), valid), **constants)
    result = take_or_null(values, found)
    return pc.if_else(pa.array(found.valid), result, columns["default"]) if "default" in columns else result


def by_rank(name: str, values: Any, rows: WindowRows, constants: dict[str, Any]) -> Any:
    """Compute counts, least and greatest of strings and decimals on the ranks of their distinct values."""
    ranked = rank_values(values)
    result = WINDOW_FUNCTIONS[name](rows, Masked(ranked.ranks, ranked.valid), **constants)
    if name in COUNTS:
        return from_masked(result, INT64)
    return take_or_null(ranked.values, result)
