"""Patterns, groups and replacements that are values of rows: which arguments they are, and why a row's are refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuetl.expressions.regex import InvalidPattern, parse_pattern, parse_replacement
from gpuetl.messages import coded, recoded
from gpuetl.records import dataclass

WITH_GROUP = frozenset(["regexp_extract", "regexp_extract_all"])
"""Functions whose third argument is the number of a group."""
WITH_REPLACEMENT = frozenset(["regexp_replace"])
SPLITTING = frozenset(["regexp_split_to_array"])
"""Functions whose pattern may not match an empty string."""


@dataclass(frozen=True)
class RowPattern:
    """What a call looks for in one row; `replacement` is None where the function takes none."""

    pattern: str
    options: str = ""
    group: int = 0
    replacement: str | None = None

    @classmethod
    def of(cls, function: str, values: Sequence[Any]) -> RowPattern:
        """Return what the arguments after the text say."""
        pattern, *rest = values
        if function in WITH_GROUP:
            return cls(pattern, rest[1] if len(rest) > 1 else "", rest[0] if rest else 0)
        if function in WITH_REPLACEMENT:
            return cls(pattern, rest[1] if len(rest) > 1 else "", 0, rest[0])
        return cls(pattern, rest[0] if rest else "")


def varying(function: str, count: int) -> list[int]:
    """Return the places of the arguments that may come from columns, of so many, after that of the text."""
    return list(range(1, min(count, 3 if function in WITH_GROUP | WITH_REPLACEMENT else 2)))


def refusal(function: str, row: RowPattern) -> str:
    """Return why a function cannot take a row's pattern, with the code; nothing where it can."""
    try:
        parsed = parse_pattern(row.pattern, row.options)
    except InvalidPattern as error:
        return recoded(f"the pattern is not valid: {error}", error)
    if function in SPLITTING and parsed.can_be_empty:
        return coded("GE1113", "the pattern can match an empty string")
    groups = [row.group]
    if row.replacement is not None:
        try:
            groups += [part for part in parse_replacement(row.replacement) if isinstance(part, int)]
        except InvalidPattern as error:
            return recoded(f"the replacement is not valid: {error}", error)
    for number in groups:
        if not 0 <= number <= parsed.groups:
            count = f"{parsed.groups} group{'s' * (parsed.groups != 1)}"
            return coded("GE1113", f"it asks for group {number}, and the pattern has {count}")
    return ""
