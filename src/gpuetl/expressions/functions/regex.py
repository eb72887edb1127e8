r"""Regular expressions.  A pattern is found anywhere in the text, of several matches the leftmost.

The subset of RE2's and libcudf's syntax that means the same in both, with one meaning: `\d`, `\w` and `\s` are ASCII, `.` is
all but a newline, `^` and `$` are the ends of the text.  There are classes, groups `(…)` and `(?:…)`, `|`, `* + ? {n,m}` and their
shortest forms `*? +? ?? {n,m}?`; no look-around, back references, named groups, flags, `\b` and `\p`.  In YAML's double
quotes `\` is an escape: write the expression in single quotes, or in none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpuetl.expressions.functions.function import Function, Rule, TypeMismatch, Typing, fixed
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.messages import coded, recoded
from gpuetl.types.data_types import BOOL, INT64, STRING

if TYPE_CHECKING:  # the readers of patterns are imported when there is one to read: few pipelines have any
    from gpuetl.expressions.regex import Pattern


def checked(rule: Rule) -> Rule:
    """Return the rule with a constant pattern checked after it."""

    def checking(args: Sequence[Expr]) -> Typing:
        typing = rule(args)
        if isinstance(args[1], Literal):
            pattern_of(args[1])
        return typing

    return checking


def pattern_of(constant: Literal) -> Pattern:
    """Return the checked pattern."""
    from gpuetl.expressions.regex import InvalidPattern, parse_pattern

    try:
        return parse_pattern(constant.value)
    except InvalidPattern as error:
        raise TypeMismatch(recoded(f"cannot take the pattern '{constant.value}': {error}", error), error.hint) from None


def replacement_of(constant: Literal) -> tuple[str | int, ...]:
    """Return the checked replacement: strings, and numbers of groups."""
    from gpuetl.expressions.regex import InvalidPattern, parse_replacement

    try:
        return parse_replacement(constant.value)
    except InvalidPattern as error:
        raise TypeMismatch(recoded(f"cannot take {error}", error), error.hint) from None


def never_empty(pattern: Literal, hint: str) -> Pattern:
    """Refuse a pattern that matches between any two characters: engines differ on how often."""
    parsed = pattern_of(pattern)
    if parsed.can_be_empty:
        raise TypeMismatch(
            coded("GE1113", f"cannot take the pattern '{pattern.value}': it can match an empty string"), hint
        )
    return parsed


def counted(args: Sequence[Expr]) -> Typing:
    """A text, and a pattern that matches something."""
    typing = fixed(STRING, STRING, returns=INT64)(args)
    if isinstance(args[1], Literal):
        never_empty(args[1], "Write + for *, so that there is something to count.")
    return typing


def extracted(args: Sequence[Expr]) -> Typing:
    """A text, a pattern, and the number of one of its groups."""
    typing = fixed(STRING, STRING, INT64, returns=STRING)(args)
    if isinstance(args[1], Literal):
        pattern = pattern_of(args[1])
        if len(args) > 2 and isinstance(args[2], Literal):
            check_group(args[2].value, pattern)
    return typing


def replaced(args: Sequence[Expr]) -> Typing:
    """A text, a pattern that matches something, and a replacement that names its groups."""
    typing = fixed(STRING, STRING, STRING, returns=STRING)(args)
    if isinstance(args[2], Literal):
        parts = replacement_of(args[2])
        if isinstance(args[1], Literal):
            pattern = never_empty(args[1], "Write + for *; || joins strings.")
            for part in parts:
                if isinstance(part, int):
                    check_group(part, pattern)
    return typing


def check_group(number: int, pattern: Pattern) -> None:
    """Refuse a group that the pattern does not have, or that matches several times."""
    if not 0 <= number <= pattern.groups:
        groups = f"{pattern.groups} group{'s' * (pattern.groups != 1)}"
        raise TypeMismatch(
            coded("GE1106", f"takes the number of a group, got {number}: the pattern has {groups}"),
            "0 is the whole match.",
        )
    if number in pattern.repeated_groups:
        hint = "Put the repetition inside the group: ((?:…)+)."
        raise TypeMismatch(
            coded("GE1113", f"cannot take group {number}: it is repeated and so has several matches"), hint
        )


tested = checked(fixed(STRING, STRING, returns=BOOL))

FUNCTIONS = (
    Function("regexp_like", "text pattern!", tested, "Whether the pattern is found anywhere in text; also `text RLIKE pattern`.",
             r"regexp_like('order 66', '[0-9]+$')", True),
    Function("regexp_full_match", "text pattern!", tested, "Whether the pattern matches the whole text.",
             r"regexp_full_match('order 66', '\d+')", False),
    Function("regexp_extract", "text pattern! group?!", extracted,
             "What the first match's group matched (0, the whole match); null without a match, empty if the group took no part.",
             r"regexp_extract('a=1, b=2', 'b=(\d+)', 1)", "2"),
    Function("regexp_replace", "text pattern! replacement!", replaced,
             r"Every match replaced, from the left; `\1` to `\9` are its groups, `\0` is all of it, `\\` a backslash.",
             r"regexp_replace('2024-03-09', '(\d+)-(\d+)-(\d+)', '\3.\2.\1')", "09.03.2024"),
    Function("regexp_count", "text pattern!", counted, "How many matches there are, none overlapping another.",
             r"regexp_count('a1b22', '\d+')", 2),
)  # fmt: skip
