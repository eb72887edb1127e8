"""String functions row by row: what Arrow has no kernel for, and arguments that are columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import repeat as forever
from typing import Any

import pyarrow as pa

from gpuetl.engines.no_result import EMPTY_FILL, TOO_MANY_CHARACTERS
from gpuetl.errors import EvaluationError
from gpuetl.expressions.functions.strings import MOST_CHARACTERS
from gpuetl.expressions.text_rules import WHITE_SPACE, Wildcard, parse_like, to_lower
from gpuetl.types.data_types import BOOL, INT64, STRING, DataType

Handler = Callable[..., Any]


def by_row(function: Callable[..., Any], dtype: DataType) -> Handler:
    """Return the handler that calls a function for each row without a null, and gives null for the others."""

    def handler(*values: Any) -> Any:
        if all(isinstance(value, pa.Scalar) for value in values):
            row = [value.as_py() for value in values]
            return pa.scalar(None if None in row else function(*row), dtype)
        if any(isinstance(value, pa.Scalar) and not value.is_valid for value in values):
            return pa.scalar(None, dtype)
        columns = (forever(v.as_py()) if isinstance(v, pa.Scalar) else v.to_pylist() for v in values)
        return pa.array([None if None in row else function(*row) for row in zip(*columns, strict=False)], dtype)

    return handler


def varying(constant: Handler, function: Callable[..., Any], dtype: DataType = STRING) -> Handler:
    """Return the handler of constants where all arguments but the first are, else one that goes row by row."""
    rows = by_row(function, dtype)

    def handler(text: Any, *values: Any) -> Any:
        constants = all(isinstance(value, pa.Scalar) and value.is_valid for value in values)
        return constant(text, *values) if constants else rows(text, *values)

    return handler


def substring(text: str, start: int, length: int | None = None) -> str:
    """SQL's substring: positions from 1, or from the end; those before the text count, and hold nothing."""
    first = start - 1 if start > 0 else len(text) + start if start < 0 else -1
    low, high = sorted((first, max(first, len(text)) if length is None else first + length))
    return text[max(low, 0) : max(high, 0)]


def text_slice(text: str, first: int, last: int) -> str:
    """The code points from one place to another, both from 1, or from the end where they are negative."""
    start = first - 1 if first > 0 else max(len(text) + first, 0) if first else 0
    return text[start : max(last if last >= 0 else len(text) + last + 1, 0)]


def left(text: str, count: int) -> str:
    """The first code points, or all but the last."""
    return text[:count]


def right(text: str, count: int) -> str:
    """The last code points, or all but the first."""
    return text[-count:] if count else ""


def replace(text: str, old: str, new: str) -> str:
    """Replace every occurrence; nothing is found by an empty text."""
    return text.replace(old, new) if old else text


def translate(text: str, old: str, new: str) -> str:
    """Replace characters by those in the same place, or take them out; the first of equal ones in `old` counts."""
    targets = {ord(point): new[place : place + 1] for place, point in reversed([*enumerate(old)])}
    return text.translate(targets)


def repeat(text: str, count: int) -> str:
    """The text several times."""
    if count > MOST_CHARACTERS:
        raise EvaluationError(TOO_MANY_CHARACTERS)
    return text * max(count, 0)


def split(text: str, separator: str) -> list[str]:
    """The parts between the separators; an empty one parts all characters."""
    return text.split(separator) if separator else [*text]


def split_part(text: str, separator: str, index: int) -> str:
    """The part at an index from 1, or from the end; empty where there is none."""
    parts = split(text, separator)
    place = index - 1 if index > 0 else len(parts) + index
    return parts[place] if index and 0 <= place < len(parts) else ""


def missing(text: str, length: int, fill: str) -> str:
    """What is missing to a length."""
    if length > MOST_CHARACTERS:
        raise EvaluationError(TOO_MANY_CHARACTERS)
    count = max(length - len(text), 0)
    if count and not fill:
        raise EvaluationError(EMPTY_FILL)
    return (fill * count)[:count]


def lpad(text: str, length: int, fill: str = " ") -> str:
    """Fill at the start."""
    return missing(text, length, fill) + text


def rpad(text: str, length: int, fill: str = " ") -> str:
    """Fill at the end."""
    return text + missing(text, length, fill)


def trimmer(trim: Callable[[str, str], str]) -> Callable[..., str]:
    """Return the function that takes characters away at an end."""
    return lambda text, characters=WHITE_SPACE: trim(text, characters)


def concat_with(separator: str | None, *strings: str | None) -> str | None:
    """Join the strings that are not null."""
    return None if separator is None else separator.join(text for text in strings if text is not None)


def concat_rows(*values: Any) -> Any:
    """Join the strings that are not null, with the row's own separator; alone, scalars give one."""
    rows = max((len(value) for value in values if not isinstance(value, pa.Scalar)), default=None)
    columns = [
        [v.as_py()] * (1 if rows is None else rows) if isinstance(v, pa.Scalar) else v.to_pylist() for v in values
    ]
    found = [concat_with(*row) for row in zip(*columns, strict=True)]
    return pa.array(found, STRING) if rows is not None else pa.scalar(found[0], STRING)


@lru_cache(maxsize=4096)
def like_pattern(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern of LIKE without an escape."""
    wildcards = {Wildcard.ANY: ".*", Wildcard.ONE: "."}
    parts = parse_like(pattern)
    written = "".join(wildcards[part] if isinstance(part, Wildcard) else re.escape(part) for part in parts)
    return re.compile(written, re.DOTALL)


def like(text: str, pattern: str) -> bool:
    """LIKE."""
    return like_pattern(pattern).fullmatch(text) is not None


def ilike(text: str, pattern: str) -> bool:
    """LIKE, both in lower case."""
    return like("".join(map(to_lower, text)), "".join(map(to_lower, pattern)))


def varying_text(handlers: dict[str, Handler]) -> dict[str, Handler]:
    """Return handlers of constants as those that take columns, too."""
    functions: dict[str, tuple[Callable[..., Any], DataType]] = {
        "trim": (trimmer(str.strip), STRING),
        "ltrim": (trimmer(str.lstrip), STRING),
        "rtrim": (trimmer(str.rstrip), STRING),
        "substring": (substring, STRING),
        "left": (left, STRING),
        "right": (right, STRING),
        "replace": (replace, STRING),
        "translate": (translate, STRING),
        "remove_prefix": (str.removeprefix, STRING),
        "remove_suffix": (str.removesuffix, STRING),
        "repeat": (repeat, STRING),
        "split_part": (split_part, STRING),
        "strpos": (lambda text, part: text.find(part) + 1, INT64),
        "lpad": (lpad, STRING),
        "rpad": (rpad, STRING),
        "starts_with": (str.startswith, BOOL),
        "ends_with": (str.endswith, BOOL),
        "contains": (lambda text, part: part in text, BOOL),
        "like": (like, BOOL),
        "ilike": (ilike, BOOL),
    }
    return {
        name: varying(handlers[name], *functions[name]) if name in functions else handlers[name] for name in handlers
    }


def in_constants(test: Callable[[Sequence[Any]], bool], constant: Handler, function: Callable[..., Any]) -> Handler:
    """Return the handler of constants where Arrow's kernel takes them, else one that goes row by row."""
    rows = by_row(function, STRING)
    return lambda text, *values: (constant if test([v.as_py() for v in values]) else rows)(text, *values)


def is_count(values: Sequence[Any]) -> bool:
    """Return whether a count is within what a constant may be: that of a row may be any."""
    return bool(0 <= values[0] <= MOST_CHARACTERS)


counted: Callable[..., Handler] = partial(in_constants, is_count)
one_character: Callable[..., Handler] = partial(
    in_constants, lambda values: is_count(values) and (len(values) < 2 or len(values[1]) == 1)
)
with_separator: Callable[..., Handler] = partial(in_constants, lambda values: bool(values[0]) and values[1] != 0)
