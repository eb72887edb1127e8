"""Regular expressions on Arrow values, by RE2; patterns were checked when they were typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow.compute as pc

from gpuetl.expressions.regex import parse_pattern, parse_replacement


def is_found(text: Any, pattern: Any) -> Any:
    """Whether the pattern is found anywhere."""
    return pc.match_substring_regex(text, pattern=parse_pattern(pattern.as_py()).pattern_text())


def is_whole(text: Any, pattern: Any) -> Any:
    """Whether the pattern matches from the start to the very end."""
    return pc.match_substring_regex(text, pattern=f"^(?:{parse_pattern(pattern.as_py()).pattern_text()})$")


def extract(text: Any, pattern: Any, group: Any = None) -> Any:
    """What a group of the first match matched; Arrow wants it to have a name."""
    number, parsed = group.as_py() if group is not None else 0, parse_pattern(pattern.as_py())
    named = parsed.pattern_text(number, bracket="(?P<found>") if number else f"(?P<found>{parsed.pattern_text()})"
    return pc.struct_field(pc.extract_regex(text, pattern=named), "found")


def replace(text: Any, pattern: Any, replacement: Any) -> Any:
    r"""Replace every match; the groups that the replacement names are all that are counted, `\0` is RE2's as well."""
    parts = parse_replacement(replacement.as_py())
    groups = sorted({part for part in parts if isinstance(part, int) and part})
    places = {number: place for place, number in enumerate([0, *groups])}
    rewritten = "".join(f"\\{places[part]}" if isinstance(part, int) else part.replace("\\", "\\\\") for part in parts)
    written = parse_pattern(pattern.as_py()).pattern_text(*groups)
    return pc.replace_substring_regex(text, pattern=written, replacement=rewritten)


def count(text: Any, pattern: Any) -> Any:
    """Count what `replace` would replace, each made longer by one byte: Arrow's own count takes `^` for every start."""
    longer = pc.replace_substring_regex(text, pattern=parse_pattern(pattern.as_py()).pattern_text(), replacement="\\0.")
    return pc.subtract(pc.binary_length(longer), pc.binary_length(text))


HANDLERS: dict[str, Callable[..., Any]] = {
    "regexp_like": is_found,
    "regexp_full_match": is_whole,
    "regexp_extract": extract,
    "regexp_replace": replace,
    "regexp_count": count,
}
