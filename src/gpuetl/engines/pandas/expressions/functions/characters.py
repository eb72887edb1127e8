"""Characters on Arrow values, row by row."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from gpuetl.engines.no_result import EMPTY_STRING, LONG_STRINGS, NO_CODE_POINT, NOT_UTF8, OTHER_LENGTH
from gpuetl.engines.pandas.expressions.functions.text_rows import by_row
from gpuetl.errors import EvaluationError
from gpuetl.expressions.functions.characters import MOST_COMPARED
from gpuetl.types.data_types import FLOAT64, INT64, STRING


def character(number: int) -> str:
    """Return the code point of a number."""
    if not 0 <= number <= 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        raise EvaluationError(NO_CODE_POINT)
    return chr(number)


def levenshtein(x: str, y: str) -> int:
    """Return the distance of two strings, row by row of the matrix of distances."""
    if min(len(x), len(y)) > MOST_COMPARED:
        raise EvaluationError(LONG_STRINGS)
    before = list(range(len(y) + 1))
    for row, point in enumerate(x, 1):
        now = [row]
        for place, other in enumerate(y):
            now.append(min(before[place] + (point != other), before[place + 1] + 1, now[place] + 1))
        before = now
    return before[-1]


def hamming(x: str, y: str) -> int:
    """Return the number of places that differ."""
    if len(x) != len(y):
        raise EvaluationError(OTHER_LENGTH)
    return sum(a != b for a, b in zip(x, y, strict=True))


def jaccard(x: str, y: str) -> float:
    """Return the share of the distinct code points that both have."""
    if not x or not y:
        raise EvaluationError(EMPTY_STRING)
    return len({*x} & {*y}) / len({*x} | {*y})


def url_decode(text: str) -> str:
    """Replace %XX by bytes."""
    data = re.sub(rb"%([0-9A-Fa-f]{2})", lambda hit: bytes([int(hit[1], 16)]), text.encode())
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise EvaluationError(NOT_UTF8) from None


def regexp_escape(text: str) -> str:
    """Put a backslash before what is special; RE2 writes the character 0 as a number."""
    return re.sub(r"[^0-9A-Za-z_\x80-\U0010ffff]", lambda hit: "\\x00" if hit[0] == "\0" else f"\\{hit[0]}", text)


HANDLERS: dict[str, Callable[..., Any]] = {
    "ascii": by_row(lambda text: ord(text[0]) if text else 0, INT64),
    "unicode": by_row(lambda text: ord(text[0]) if text else -1, INT64),
    "chr": by_row(character, STRING),
    "levenshtein": by_row(levenshtein, INT64),
    "hamming": by_row(hamming, INT64),
    "jaccard": by_row(jaccard, FLOAT64),
    "url_encode": by_row(lambda text: quote(text, safe=""), STRING),
    "url_decode": by_row(url_decode, STRING),
    "regexp_escape": by_row(regexp_escape, STRING),
}
