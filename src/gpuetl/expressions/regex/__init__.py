r"""Regular expressions: the subset that RE2 and libcudf share, with one meaning, read and checked before anything runs.

An invalid pattern is undefined behaviour in libcudf, so what is not known to mean the same in both is refused.
`\d`, `\w` and `\s` are ASCII, `.` is all but a newline, `^` and `$` are the ends of the whole text, and of several
matches the leftmost counts, then the one that the written order prefers, as in Perl.
Sources: libcudf's "Regex Features" and its regcomp.cpp; RE2's syntax page.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gpuetl.expressions.regex.parser import InvalidPattern, Parser
from gpuetl.expressions.regex.tree import Node, can_be_empty, pattern_text, repeated_groups
from gpuetl.records import dataclass


@dataclass(frozen=True)
class Pattern:
    """A checked pattern: its tree and how many groups it has."""

    root: Node
    groups: int

    @property
    def can_be_empty(self) -> bool:
        """Whether it matches the empty text."""
        return can_be_empty(self.root)

    @property
    def repeated_groups(self) -> frozenset[int]:
        """The groups that can match more than once."""
        return repeated_groups(self.root)

    def pattern_text(self, *captured: int, bracket: str = "(", end: str = "$") -> str:
        """Return the pattern for an engine, in which only the groups `captured` open with `bracket` and are counted."""
        return pattern_text(self.root, lambda number: bracket if number in captured else "(?:", end)


@lru_cache(maxsize=256)
def parse_pattern(text: str) -> Pattern:
    """Read a pattern.

    Raises
    ------
    InvalidPattern
        For what is malformed, or outside the subset, with the place in the pattern.
    """
    return Pattern(*Parser(text).pattern())


def parse_replacement(text: str) -> tuple[str | int, ...]:
    r"""Read what replaces a match: texts, and numbers of groups, `\0` to `\9`; `\\` is a backslash.

    Raises
    ------
    InvalidPattern
        For a backslash before anything else, and for other languages' `${1}`, which libcudf would take for a group.
    """
    parts: list[str | int] = []
    for hit in re.finditer(r"\\(?P<group>[0-9])|\\\\|\\|\$\{\d|[^\\$]+|\$", text):
        if hit["group"]:
            parts.append(int(hit["group"]))
        elif hit[0] == "\\" or hit[0].startswith("${"):
            message = f"'{text[hit.start() : hit.end() + 1]}' in the replacement, at character {hit.start() + 1}"
            raise InvalidPattern(message, "Write \\1 for what group 1 matched, and \\\\ for a backslash.")
        else:
            parts.append("\\" if hit[0] == "\\\\" else hit[0])
    return tuple(parts)


__all__ = ["InvalidPattern", "Pattern", "parse_pattern", "parse_replacement"]
