"""String functions on Arrow values; constants arrive as scalars."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked, over_columns, take_or_null
from gpuetl.engines.pandas.expressions.functions import text_rows
from gpuetl.expressions.text_rules import WHITE_SPACE, Part, Wildcard, in_word, parse_like, to_lower, to_upper
from gpuetl.types.data_types import STRING

# String functions that look at single code points: a column's text as one array of them, and the count in each row.


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
    result = pa.StringArray.from_buffers(len(counts), offsets.buffers()[1], pa.py_buffer(content))
    return pc.if_else(text.is_valid(), result, pa.scalar(None, text.type))


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


MAX_PARTS = 2**31 - 1


def concat(*strings: Any) -> Any:
    """Join strings; null if any is."""
    return pc.binary_join_element_wise(*strings, "", null_handling="emit_null")


def concat_with(separator: Any, *strings: Any) -> Any:
    """Join the strings that are not null; an empty one goes before them, since Arrow drops the rows that have none."""
    if not isinstance(separator, pa.Scalar) or not separator.is_valid:
        return text_rows.concat_rows(separator, *strings)
    joined = pc.binary_join_element_wise("", *strings, separator, null_handling="skip")
    return pc.utf8_slice_codeunits(joined, len(separator.as_py()))


def trimmed(trim: Callable[..., Any]) -> Callable[..., Any]:
    """Return the handler that takes characters away at an end."""

    def handler(text: Any, characters: Any = None) -> Any:
        return trim(text, characters=characters.as_py() if characters is not None else WHITE_SPACE)

    return handler


def substring(text: Any, start: Any, length: Any = None) -> Any:
    """SQL's substring: positions from 1; those before it count toward the length and hold nothing.

    Negative positions are counted from the end, as Arrow's are; its stop of 0 is the beginning, not the end.
    """
    first = start.as_py()
    if length is not None and length.as_py() < 0:
        return text_rows.by_row(text_rows.substring, STRING)(text, start, length)
    if first < 0:
        stop = None if length is None or first + length.as_py() >= 0 else first + length.as_py()
        return pc.utf8_slice_codeunits(text, first, stop)
    if length is None:
        return pc.utf8_slice_codeunits(text, max(first, 1) - 1)
    stop = max(first + length.as_py() - 1, 0)
    return pc.utf8_slice_codeunits(text, min(max(first, 1) - 1, stop), stop)


def left(text: Any, count: Any) -> Any:
    """The first code points, or all but the last."""
    return pc.utf8_slice_codeunits(text, 0, count.as_py())


def right(text: Any, count: Any) -> Any:
    """The last code points, or all but the first."""
    kept = count.as_py()
    return pc.utf8_slice_codeunits(text, -kept) if kept else pc.utf8_slice_codeunits(text, 0, 0)


def replace(text: Any, old: Any, new: Any) -> Any:
    """Replace every occurrence; nothing is found by an empty text."""
    if not old.as_py():
        return text
    return pc.replace_substring(text, pattern=old.as_py(), replacement=new.as_py())


def without_prefix(text: Any, prefix: Any) -> Any:
    """Cut the prefix off where it is there."""
    rest = pc.utf8_slice_codeunits(text, len(prefix.as_py()))
    return pc.if_else(pc.starts_with(text, pattern=prefix.as_py()), rest, text)


def without_suffix(text: Any, suffix: Any) -> Any:
    """Cut the suffix off where it is there."""
    if not suffix.as_py():
        return text
    rest = pc.utf8_slice_codeunits(text, 0, -len(suffix.as_py()))
    return pc.if_else(pc.ends_with(text, pattern=suffix.as_py()), rest, text)


def repeat(text: Any, count: Any) -> Any:
    """The text several times."""
    return pc.binary_repeat(text, count.as_py())


@on_arrays
def split_part(text: Any, separator: Any, index: Any) -> Any:
    """The part at `index`; empty where there is none."""
    place = max(min(index.as_py(), MAX_PARTS), -MAX_PARTS)
    parts = pc.split_pattern(text, pattern=separator.as_py(), max_splits=place if place > 0 else None)
    offsets = parts.offsets.to_numpy()
    counts = np.diff(offsets)
    at = place - 1 if place > 0 else counts + place
    there = (at >= 0) & (at < counts)
    found = take_or_null(parts.values, Masked(np.where(there, offsets[:-1] + at, 0), there))
    return pc.if_else(text.is_valid(), pc.fill_null(found, ""), pa.scalar(None, text.type))


def position(text: Any, part: Any) -> Any:
    """Count the code points before the first `part`, from 1; 0 where there is none."""
    if not part.as_py():
        return pc.if_else(pc.is_valid(text), 1, pa.scalar(None, pa.int64()))
    before = split_part(text, part, pa.scalar(1))
    return pc.if_else(pc.match_substring(text, pattern=part.as_py()), pc.add(pc.utf8_length(before), 1), 0)


def padded(pad: Callable[..., Any]) -> Callable[..., Any]:
    """Return the handler that fills with one code point."""

    def handler(text: Any, length: Any, fill: Any = None) -> Any:
        return pad(text, width=length.as_py(), padding=fill.as_py() if fill is not None else " ")

    return handler


def tested(test: Callable[..., Any]) -> Callable[..., Any]:
    """Return the handler of a test against a constant pattern."""

    def handler(text: Any, pattern: Any) -> Any:
        return test(text, pattern=pattern.as_py())

    return handler


def like(text: Any, pattern: Any, escape: Any = None) -> Any:
    """LIKE."""
    return matches(text, parts_of(pattern, escape))


def ilike(text: Any, pattern: Any, escape: Any = None) -> Any:
    """LIKE, both in lower case."""
    parts = parts_of(pattern, escape)
    lowered = ["".join(map(to_lower, part)) if isinstance(part, str) else part for part in parts]
    return matches(lower(text), lowered)


def parts_of(pattern: Any, escape: Any) -> Sequence[Part]:
    """Return the pattern's strings and wildcards."""
    return parse_like(pattern.as_py(), escape.as_py() if escape is not None else None)


def matches(text: Any, parts: Sequence[Part]) -> Any:
    """Match the whole text; the frequent forms of LIKE need no regular expression."""
    match parts:
        case []:
            return pc.equal(text, "")
        case [str(whole)]:
            return pc.equal(text, whole)
        case [str(prefix), Wildcard.ANY]:
            return pc.starts_with(text, pattern=prefix)
        case [Wildcard.ANY, str(suffix)]:
            return pc.ends_with(text, pattern=suffix)
        case [Wildcard.ANY, str(part), Wildcard.ANY]:
            return pc.match_substring(text, pattern=part)
    wildcards = {Wildcard.ANY: ".*", Wildcard.ONE: "."}
    written = "".join(wildcards[part] if isinstance(part, Wildcard) else re.escape(part) for part in parts)
    return pc.match_substring_regex(text, pattern=f"(?s)^{written}$")


CONSTANT_HANDLERS: dict[str, Callable[..., Any]] = {
    "concat": concat,
    "concat_ws": concat_with,
    "length": pc.utf8_length,
    "byte_length": pc.binary_length,
    "upper": upper,
    "lower": lower,
    "initcap": initcap,
    "trim": trimmed(pc.utf8_trim),
    "ltrim": trimmed(pc.utf8_ltrim),
    "rtrim": trimmed(pc.utf8_rtrim),
    "substring": substring,
    "text_slice": text_rows.by_row(text_rows.text_slice, STRING),
    "left": left,
    "right": right,
    "replace": replace,
    "translate": translate,
    "remove_prefix": without_prefix,
    "remove_suffix": without_suffix,
    "repeat": text_rows.counted(repeat, text_rows.repeat),
    "split_part": text_rows.with_separator(split_part, text_rows.split_part),
    "strpos": position,
    "reverse": pc.utf8_reverse,
    "lpad": text_rows.one_character(padded(pc.utf8_lpad), text_rows.lpad),
    "rpad": text_rows.one_character(padded(pc.utf8_rpad), text_rows.rpad),
    "starts_with": tested(pc.starts_with),
    "ends_with": tested(pc.ends_with),
    "contains": tested(pc.match_substring),
    "like": like,
    "ilike": ilike,
}
"""Of constants, but for the first argument."""
HANDLERS = text_rows.varying_text(CONSTANT_HANDLERS)
