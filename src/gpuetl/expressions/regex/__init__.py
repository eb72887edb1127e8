r"""Regular expressions: RE2's, which are DuckDB's, read and checked before anything runs.

`\d`, `\w`, `\s` and `\b` are ASCII, `.` is all but a newline, `^` and `$` are the ends of the whole text.  Of several
matches the leftmost counts, then the one that the written order prefers, as in Perl.
Source: RE2's syntax page.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gpuetl.expressions.regex.parser import InvalidPattern, Parser
from gpuetl.expressions.regex.tree import Node, can_be_empty, pattern_text
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

    def pattern_text(self, *captured: int, bracket: str = "(") -> str:
        """Return the pattern for RE2, in which only the groups `captured` open with `bracket` and are counted."""
        return pattern_text(self.root, lambda number: bracket if number in captured else "(?:")


OPTIONS = "cilmnps"
"""Letters of the argument `options`, as in DuckDB."""


@lru_cache(maxsize=256)
def parse_pattern(text: str, options: str = "") -> Pattern:
    """Read a pattern.  The last of `c` and `i` counts, and of `s` and `m`, `n` or `p`; `l` is no special character.

    Raises
    ------
    InvalidPattern
        For what is malformed, or not supported, with the place in the pattern.
    """
    cases, dots = ([letter for letter in options if letter in pair] for pair in ("ci", "smnp"))
    parser = Parser(text, (cases[-1:] == ["i"]) * "i" + (dots[-1:] == ["s"]) * "s")
    return Pattern(*(parser.literal() if "l" in options else parser.pattern()))


def parse_replacement(text: str) -> tuple[str | int, ...]:
    r"""Read what replaces a match: texts, and numbers of groups, `\0` to `\9`; `\\` is a backslash.

    Raises
    ------
    InvalidPattern
        For a backslash before anything else, and for other languages' `${1}`, which may be meant for a group.
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
