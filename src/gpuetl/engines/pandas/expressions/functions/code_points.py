"""String functions that look at single code points: a column's text as one array of them, and the count in each row."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import over_columns
from gpuetl.expressions.characters import in_word, to_lower, to_upper

Points = NDArray[np.uint32]
Counts = NDArray[np.int64]


def on_arrays(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Return the handler, which takes an array of text and gives one, for scalars and for columns of several chunks."""

    @wraps(handler)
    def handle(text: Any, *constants: Any) -> Any:
        if isinstance(text, pa.ChunkedArray):
            return pa.chunked_array([handler(chunk, *constants) for chunk in text.chunks], text.type)
        return over_columns(lambda column: handler(column, *constants), text)

    return handle


def read_points(text: Any) -> tuple[Points, Counts]:
    """Return the code points of all rows in a row, and how many each has; nulls have none."""
    filled = pc.fill_null(text, "")
    counts = pc.utf8_length(filled).to_numpy().astype(np.int64)
    if not counts.any():
        return np.zeros(0, np.uint32), counts
    _, offsets, data = filled.buffers()
    start, stop = np.frombuffer(offsets, np.int32)[[filled.offset, filled.offset + len(filled)]]
    content = data[int(start) : int(stop)].to_pybytes()
    return np.frombuffer(content.decode().encode("utf-32-le"), np.uint32), counts


def write_points(points: Points, counts: Counts, text: Any) -> Any:
    """Return the rows of these code points; null where `text` is."""
    content = points.astype("<u4").tobytes().decode("utf-32-le").encode()
    widths = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    ends = np.concatenate([[0], np.cumsum(widths)])
    offsets = pa.array(ends[row_bounds(counts)], pa.int32())  # raises where they do not fit
    made = pa.StringArray.from_buffers(len(counts), offsets.buffers()[1], pa.py_buffer(content))
    return pc.if_else(text.is_valid(), made, pa.scalar(None, text.type))


def row_bounds(counts: Counts) -> Counts:
    """Return where each row begins, and the end of the last."""
    return np.concatenate([[0], np.cumsum(counts)])


def mapped(points: Points, function: Callable[[str], Any], dtype: Any = np.uint32) -> NDArray[Any]:
    """Return the function of each code point; it is called once for each that occurs."""
    size = int(points.max(initial=0)) + 1
    table, occurs = np.zeros(size, dtype), np.zeros(size, bool)
    occurs[points] = True
    for point in np.flatnonzero(occurs):
        table[point] = function(chr(point))
    return table[points]


def in_case(change: Callable[[str], str], ascii_only: Callable[..., Any]) -> Callable[..., Any]:
    """Return the handler that changes each code point."""

    def handler(text: Any) -> Any:
        if pc.all(pc.string_is_ascii(text), min_count=0).as_py():
            return ascii_only(text)
        points, counts = read_points(text)
        return write_points(mapped(points, lambda character: ord(change(character))), counts, text)

    return on_arrays(handler)


upper = in_case(to_upper, pc.ascii_upper)
lower = in_case(to_lower, pc.ascii_lower)


@on_arrays
def initcap(text: Any) -> Any:
    """Each word's first code point in upper case, all others in lower case."""
    points, counts = read_points(text)
    inside = mapped(points, in_word, bool)
    after = np.concatenate([[False], inside])
    after[row_bounds(counts)] = False
    upper_case = mapped(points, lambda character: ord(to_upper(character)))
    lower_case = mapped(points, lambda character: ord(to_lower(character)))
    return write_points(np.where(after[:-1], lower_case, upper_case), counts, text)


@on_arrays
def translate(text: Any, old: Any, new: Any) -> Any:
    """Replace characters by those in the same place, or take them out; the first of equal ones in `old` counts."""
    points, counts = read_points(text)
    targets = dict(reversed([*zip(old.as_py(), [*new.as_py(), *[""] * len(old.as_py())], strict=False)]))
    removed = mapped(points, lambda character: targets.get(character) == "", bool)
    replaced = mapped(points, lambda character: ord(targets.get(character) or character))
    kept_before = np.concatenate([[0], np.cumsum(~removed)])
    return write_points(replaced[~removed], np.diff(kept_before[row_bounds(counts)]), text)
