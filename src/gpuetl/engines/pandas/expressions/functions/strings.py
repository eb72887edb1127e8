"""String functions on Arrow values; constants arrive as scalars."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.gather import take_or_null
from gpuetl.engines.pandas.columns.masked import Masked
from gpuetl.engines.pandas.expressions.functions.code_points import initcap, lower, on_arrays, translate, upper
from gpuetl.expressions.characters import WHITE_SPACE, to_lower
from gpuetl.expressions.like import Part, Wildcard, parse_like

MAX_PARTS = 2**31 - 1


def concat(*texts: Any) -> Any:
    """Join texts; null if any is."""
    return pc.binary_join_element_wise(*texts, "", null_handling="emit_null")


def concat_with(separator: Any, *texts: Any) -> Any:
    """Join the texts that are not null; an empty one goes before them, since Arrow drops the rows that have none."""
    joined = pc.binary_join_element_wise("", *texts, separator, null_handling="skip")
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
    """Return the pattern's texts and wildcards."""
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


HANDLERS: dict[str, Callable[..., Any]] = {
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
    "left": left,
    "right": right,
    "replace": replace,
    "translate": translate,
    "remove_prefix": without_prefix,
    "remove_suffix": without_suffix,
    "repeat": repeat,
    "split_part": split_part,
    "strpos": position,
    "reverse": pc.utf8_reverse,
    "lpad": padded(pc.utf8_lpad),
    "rpad": padded(pc.utf8_rpad),
    "starts_with": tested(pc.starts_with),
    "ends_with": tested(pc.ends_with),
    "contains": tested(pc.match_substring),
    "like": like,
    "ilike": ilike,
}
