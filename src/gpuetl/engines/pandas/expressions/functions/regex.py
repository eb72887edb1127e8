"""Regular expressions on Arrow values, by RE2: one pattern for all rows; `regex_rows.py` finds those of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.column import whole
from gpuetl.engines.pandas.expressions.functions.regex_rows import by_pattern
from gpuetl.expressions.regex import Pattern, parse_pattern, parse_replacement
from gpuetl.types.data_types import BOOL, INT64, STRING, DataType


def pattern_of(pattern: Any, options: Any = None) -> Pattern:
    """Return the pattern of constants."""
    return parse_pattern(pattern.as_py(), options.as_py() if options is not None else "")


def is_found(text: Any, pattern: Any, options: Any = None) -> Any:
    """Whether the pattern is found anywhere."""
    return pc.match_substring_regex(text, pattern=pattern_of(pattern, options).pattern_text())


def is_whole(text: Any, pattern: Any, options: Any = None) -> Any:
    """Whether the pattern matches from the start to the very end."""
    return pc.match_substring_regex(text, pattern=f"^(?:{pattern_of(pattern, options).pattern_text()})$")


def named(parsed: Pattern, number: int) -> str:
    """Return the pattern whose group of this number is named `found`; 0 is all of it."""
    whole_match = f"(?P<found>{parsed.pattern_text()})"
    return parsed.pattern_text(number, bracket="(?P<found>") if number else whole_match


def extract(text: Any, pattern: Any, group: Any = None, options: Any = None) -> Any:
    """What a group of the first match matched; Arrow wants it to have a name."""
    number, parsed = group.as_py() if group is not None else 0, pattern_of(pattern, options)
    return pc.struct_field(pc.extract_regex(text, pattern=named(parsed, number)), "found")


def replace(text: Any, pattern: Any, replacement: Any, options: Any = None) -> Any:
    r"""Replace every match; the groups that the replacement names are all that are counted, `\0` is RE2's as well."""
    parts = parse_replacement(replacement.as_py())
    groups = sorted({part for part in parts if isinstance(part, int) and part})
    places = {number: place for place, number in enumerate([0, *groups])}
    rewritten = "".join(f"\\{places[part]}" if isinstance(part, int) else part.replace("\\", "\\\\") for part in parts)
    written = pattern_of(pattern, options).pattern_text(*groups)
    return pc.replace_substring_regex(text, pattern=written, replacement=rewritten)


def count(text: Any, pattern: Any, options: Any = None) -> Any:
    """Count what `replace` would replace, each made longer by one byte: Arrow's own count takes `^` for every start."""
    longer = pc.replace_substring_regex(text, pattern=pattern_of(pattern, options).pattern_text(), replacement="\\0.")
    return pc.subtract(pc.binary_length(longer), pc.binary_length(text))


# Lists of matches: Arrow finds the next match of all rows that have one, in rounds.


Spans = list[tuple[tuple[int, int], tuple[int, int] | None]]
"""Of each match the bytes from and to, and those of a group, None where it took no part."""


def spans(texts: list[bytes | None], parsed: Pattern, number: int) -> list[Spans]:
    """Return the matches in each text."""
    found: list[Spans] = [[] for _ in texts]
    body = parsed.pattern_text(number, bracket="(?P<group>")
    body = body if number else f"(?P<group>{body})"
    places = {row: 0 for row, text in enumerate(texts) if text is not None}
    begin = ""
    while places:  # after the first round a text begins with the character before the place, for ^ and \\b to see
        pieces = pa.array([_from(texts[row], at, begin) for row, at in places.items()], pa.binary()).cast(STRING)
        hits = pc.extract_regex_span(pieces, pattern=f"^{begin}(?s:.*?)(?P<found>{body})").to_pylist()
        later: dict[int, int] = {}
        for (row, _at), piece, hit in zip(places.items(), pieces, hits, strict=True):
            if hit is None:
                continue
            text = texts[row] or b""
            shift = len(text) - len(piece.as_py().encode())
            start, end = shift + hit["found"][0], shift + sum(hit["found"])
            group = None if hit["group"] is None else (shift + hit["group"][0], shift + sum(hit["group"]))
            found[row].append(((start, end), group))
            if end > start or end < len(text):
                later[row] = end if end > start else _after(text, end)
        places, begin = later, "(?s:.)"
    return found


def _from(text: bytes | None, at: int, begin: str) -> bytes:
    """Return the text from a place, or from the character before it."""
    assert text is not None
    if not begin:
        return text
    at -= 1
    while text[at] & 0xC0 == 0x80:
        at -= 1
    return text[at:]


def _after(text: bytes, at: int) -> int:
    """Return where the character ends that begins at a place."""
    at += 1
    while at < len(text) and text[at] & 0xC0 == 0x80:
        at += 1
    return at


def listed(text: Any, parsed: Pattern, number: int, parts: Callable[[bytes, Spans], Iterator[bytes | None]]) -> Any:
    """Return the lists that parts of the matches make."""
    scalar = isinstance(text, pa.Scalar)
    column = pa.array([text.as_py()], STRING) if scalar else whole(text)
    texts = column.cast(pa.binary()).to_pylist()
    matches = spans(texts, parsed, number)
    lists = [None if t is None else [*parts(t, found)] for t, found in zip(texts, matches, strict=True)]
    result = pa.array(lists, pa.list_(pa.binary())).cast(pa.list_(STRING))
    return result[0] if scalar else result


def extract_all(text: Any, pattern: Any, group: Any = None, options: Any = None) -> Any:
    """What a group matched in each match."""

    def groups(text: bytes, found: Spans) -> Iterator[bytes | None]:
        return (None if span is None else text[slice(*span)] for _, span in found)

    return listed(text, pattern_of(pattern, options), group.as_py() if group is not None else 0, groups)


def split(text: Any, pattern: Any, options: Any = None) -> Any:
    """The parts between the matches, none of which is empty."""

    def between(text: bytes, found: Spans) -> Iterator[bytes | None]:
        at = 0
        for (start, end), _ in found:
            yield text[at:start]
            at = end
        yield text[at:]

    return listed(text, pattern_of(pattern, options), 0, between)


RESULTS: dict[str, tuple[Callable[..., Any], DataType]] = {
    "regexp_like": (is_found, BOOL),
    "regexp_full_match": (is_whole, BOOL),
    "regexp_extract": (extract, STRING),
    "regexp_extract_all": (extract_all, pa.list_(STRING)),
    "regexp_split_to_array": (split, pa.list_(STRING)),
    "regexp_replace": (replace, STRING),
    "regexp_count": (count, INT64),
}
"""What computes each function for a constant pattern, and the type of its result."""
HANDLERS: dict[str, Callable[..., Any]] = {
    name: by_pattern(name, handler, returns) for name, (handler, returns) in RESULTS.items()
}
