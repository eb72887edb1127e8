"""String functions on Arrow values; constants arrive as scalars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow.compute as pc

from gpuetl.errors import EvaluationError


def concat(x: Any, y: Any) -> Any:
    """Join two texts; null if either is."""
    return pc.binary_join_element_wise(x, y, "", null_handling="emit_null")


def substring(text: Any, start: Any, length: Any = None) -> Any:
    """SQL's substring: positions from 1; those before it count toward the length and hold nothing."""
    first = start.as_py()
    if length is None:
        return pc.utf8_slice_codeunits(text, max(first, 1) - 1)
    stop = max(first + length.as_py() - 1, 0)
    return pc.utf8_slice_codeunits(text, min(max(first, 1) - 1, stop), stop)


def left(text: Any, count: Any) -> Any:
    """The first code points."""
    return pc.utf8_slice_codeunits(text, 0, max(count.as_py(), 0))


def right(text: Any, count: Any) -> Any:
    """The last code points."""
    kept = count.as_py()
    return pc.utf8_slice_codeunits(text, -kept) if kept > 0 else pc.utf8_slice_codeunits(text, 0, 0)


def replace(text: Any, old: Any, new: Any) -> Any:
    """Replace every occurrence; nothing is found by an empty text."""
    if not old.as_py():
        return text
    return pc.replace_substring(text, pattern=old.as_py(), replacement=new.as_py())


def padded(pad: Callable[..., Any]) -> Callable[..., Any]:
    """Return the handler that fills with one code point."""

    def handler(text: Any, length: Any, fill: Any = None) -> Any:
        filling = fill.as_py() if fill is not None else " "
        if len(filling) != 1:
            raise EvaluationError(f"the fill must be one character, got '{filling}'")
        return pad(text, width=max(length.as_py(), 0), padding=filling)

    return handler


def tested(test: Callable[..., Any]) -> Callable[..., Any]:
    """Return the handler of a test against a constant pattern."""

    def handler(text: Any, pattern: Any) -> Any:
        return test(text, pattern=pattern.as_py())

    return handler


HANDLERS: dict[str, Callable[..., Any]] = {
    "concat": concat,
    "length": pc.utf8_length,
    "upper": pc.utf8_upper,
    "lower": pc.utf8_lower,
    "trim": pc.utf8_trim_whitespace,
    "ltrim": pc.utf8_ltrim_whitespace,
    "rtrim": pc.utf8_rtrim_whitespace,
    "substring": substring,
    "left": left,
    "right": right,
    "replace": replace,
    "reverse": pc.utf8_reverse,
    "lpad": padded(pc.utf8_lpad),
    "rpad": padded(pc.utf8_rpad),
    "starts_with": tested(pc.starts_with),
    "ends_with": tested(pc.ends_with),
    "contains": tested(pc.match_substring),
    "like": tested(pc.match_like),
}
