"""Characters on Arrow values, row by row."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from gpuetl.engines.no_result import (
    EMPTY_STRING,
    LONG_STRING,
    LONG_STRINGS,
    LONGER_STRING,
    NO_CODE_POINT,
    NOT_UTF8,
    OTHER_LENGTH,
)
from gpuetl.engines.pandas.expressions.functions.text_rows import by_row
from gpuetl.errors import EvaluationError
from gpuetl.expressions.functions.characters import MOST_COMPARED, MOST_IN_MATRIX
from gpuetl.expressions.text_rules import strip_accents
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


def damerau_levenshtein(x: str, y: str) -> int:
    """Return the distance of two strings in which neighbours may change places, by the whole matrix."""
    if max(len(x), len(y)) > MOST_IN_MATRIX:
        raise EvaluationError(LONGER_STRING)
    most = len(x) + len(y)
    rows: list[list[int]] = [[most] * (len(y) + 2), [most, *range(len(y) + 1)]]
    last_row: dict[str, int] = {}
    for row, point in enumerate(x, 1):
        now, last_place = [most, row], 0
        for place, other in enumerate(y, 1):
            above, before = last_row.get(other, 0), last_place
            if point == other:
                last_place = place
            swapped = rows[above][before] + (row - above - 1) + 1 + (place - before - 1)
            replaced = rows[row][place] + (point != other)
            now.append(min(replaced, now[place] + 1, rows[row][place + 1] + 1, swapped))
        rows.append(now)
        last_row[point] = row
    return rows[-1][-1]


def jaro_similarity(x: str, y: str) -> float:
    """Return the Jaro similarity: equal code points near each other, less half of those in another order."""
    if max(len(x), len(y)) > MOST_COMPARED:
        raise EvaluationError(LONG_STRING)
    window = max(max(len(x), len(y)) // 2 - 1, 0)
    found: list[int] = []
    matched: list[str] = []
    for place, point in enumerate(y):
        near = range(max(place - window, 0), min(place + window + 1, len(x)))
        if (at := next((i for i in near if x[i] == point and i not in found), None)) is not None:
            found.append(at)
            matched.append(point)
    if not found:
        return 0.0
    count, moved = len(found), sum(x[at] != point for at, point in zip(sorted(found), matched, strict=True)) // 2
    return (count / len(x) + count / len(y) + (count - moved) / count) / 3.0


def jaro_winkler_similarity(x: str, y: str) -> float:
    """Return the Jaro similarity, raised for what both begin with."""
    similarity = jaro_similarity(x, y)
    if similarity <= 0.7:
        return similarity
    alike = next(
        (place for place, (a, b) in enumerate(zip(x[:4], y[:4], strict=False)) if a != b), min(len(x), len(y), 4)
    )
    return similarity + alike * 0.1 * (1.0 - similarity)


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
    "damerau_levenshtein": by_row(damerau_levenshtein, INT64),
    "jaro_similarity": by_row(jaro_similarity, FLOAT64),
    "jaro_winkler_similarity": by_row(jaro_winkler_similarity, FLOAT64),
    "hamming": by_row(hamming, INT64),
    "jaccard": by_row(jaccard, FLOAT64),
    "strip_accents": by_row(strip_accents, STRING),
    "url_encode": by_row(lambda text: quote(text, safe=""), STRING),
    "url_decode": by_row(url_decode, STRING),
    "regexp_escape": by_row(regexp_escape, STRING),
}
