r"""Regular expressions.  A pattern is found anywhere in the text, of several matches the leftmost.

The syntax is RE2's, which is DuckDB's.  `\d`, `\w`, `\s` and `\b` are of ASCII, `.` is all but a newline, `^` and `$` are the
ends of the text.  There are classes with `[[:alpha:]]` and general categories `\p{L}`, groups `(…)`, `(?:…)` and
`(?P<name>…)`, `|`, `* + ? {n,m}` and their shortest forms `*? +? ?? {n,m}?`, `\b` and `\B`, and flags: `(?i)` any case, `(?s)`
`.` is all characters, `(?m)` `^` and `$` are the ends of lines, `(?U)` shortest forms.  There is no look-around and no back
reference, since a match takes time in proportion to the text.  `options` are letters: `i` any case, `c` case counts, `s` `.`
is all characters, `m`, `n` or `p` it is not, `l` no character is special.

Patterns, replacements and groups may come from columns: `message ~ pattern`, also as the condition of a join.  Options are
constants, but a pattern can begin with its flags.  A row's pattern that is not valid stops the run with the row, unless its
text is null.  Each distinct pattern of a partition is read once, on the CPU: thousands of them take little time, millions
take minutes, and on a GPU all of them 1 GiB at most.  In YAML's double quotes `\` is an escape: write
the expression in single quotes, or in none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import pyarrow as pa

from gpuetl.expressions.functions.function import Function, Rule, TypeMismatch, Typing, fixed
from gpuetl.expressions.ir import Expr, Literal, Parameter
from gpuetl.messages import coded, recoded
from gpuetl.types.data_types import BOOL, INT64, STRING, DataType

if TYPE_CHECKING:  # the readers of patterns are imported when there is one to read: few pipelines have any
    from gpuetl.expressions.regex import Pattern


def is_known(arg: Expr) -> TypeGuard[Literal]:
    """Return whether an argument is a constant that is not null."""
    return isinstance(arg, Literal) and arg.value is not None


def may_be_refused(function: str) -> Callable[[Sequence[Expr]], bool]:
    """Return whether a call can meet a pattern that is refused: one of a column, or that became constant later."""

    def fails(args: Sequence[Expr]) -> bool:
        given = args[1:]
        if any(not isinstance(arg, Literal | Parameter) for arg in given):
            return True
        return all(map(is_known, given)) and is_refused(function, [arg.value for arg in given if is_known(arg)])

    return fails


def is_refused(function: str, values: Sequence[Any]) -> bool:
    """Return whether constants after the text are refused."""
    from gpuetl.expressions.regex.row_patterns import RowPattern, refusal

    return bool(refusal(function, RowPattern.of(function, values)))


def checked(rule: Rule) -> Rule:
    """Return the rule with a constant pattern checked after it."""

    def checking(args: Sequence[Expr]) -> Typing:
        typing = rule(args)
        options = options_of(args)
        if is_known(args[1]):
            pattern_of(args[1], options)
        return typing

    return checking


def options_of(args: Sequence[Expr], place: int = 2, more: str = "") -> str:
    """Return the checked options, which stand at a place or are left out."""
    from gpuetl.expressions.regex import OPTIONS

    options = args[place] if len(args) > place else None
    if not isinstance(options, Literal):
        return ""
    if wrong := next((letter for letter in options.value if letter not in OPTIONS + more), ""):
        what = coded("GE1106", f"takes the options {', '.join(OPTIONS + more)}, got '{wrong}'")
        raise TypeMismatch(
            what, "Write 'i' for any case, 's' where . is also a newline, 'l' for no special characters."
        )
    return str(options.value)


def pattern_of(constant: Literal, options: str = "") -> Pattern:
    """Return the checked pattern."""
    from gpuetl.expressions.regex import InvalidPattern, parse_pattern

    try:
        return parse_pattern(constant.value, options)
    except InvalidPattern as error:
        raise TypeMismatch(recoded(f"cannot take the pattern '{constant.value}': {error}", error), error.hint) from None


def replacement_of(constant: Literal) -> tuple[str | int, ...]:
    """Return the checked replacement: strings, and numbers of groups."""
    from gpuetl.expressions.regex import InvalidPattern, parse_replacement

    try:
        return parse_replacement(constant.value)
    except InvalidPattern as error:
        raise TypeMismatch(recoded(f"cannot take {error}", error), error.hint) from None


def divided(args: Sequence[Expr]) -> Typing:
    """A text, and a pattern that separates its parts."""
    typing = checked(fixed(STRING, STRING, STRING, returns=pa.list_(STRING)))(args)
    if is_known(args[1]) and pattern_of(args[1], options_of(args)).can_be_empty:
        what = coded("GE1113", f"cannot take the pattern '{args[1].value}': it can match an empty string")
        raise TypeMismatch(what, "Write + for *; split(text, '') parts all characters.")
    return typing


def extracts(returns: DataType) -> Rule:
    """A text, a pattern, and the number of one of its groups."""

    def rule(args: Sequence[Expr]) -> Typing:
        typing = fixed(STRING, STRING, INT64, STRING, returns=returns)(args)
        options = options_of(args, 3)
        if is_known(args[1]):
            pattern = pattern_of(args[1], options)
            if len(args) > 2 and is_known(args[2]):
                check_group(args[2].value, pattern)
        return typing

    return rule


def replaced(args: Sequence[Expr]) -> Typing:
    """A text, a pattern, a replacement that names its groups, and options with `g`."""
    typing = fixed(STRING, STRING, STRING, STRING, returns=STRING)(args)
    options = options_of(args, 3, more="g")
    if len(args) > 3 and isinstance(args[3], Literal) and "g" not in options:
        what = coded("GE1106", f"replaces every match, got the options '{options}'")
        raise TypeMismatch(what, f"Write '{options}g': other databases replace only the first match without g.")
    if is_known(args[2]):
        parts = replacement_of(args[2])
        if is_known(args[1]):
            pattern = pattern_of(args[1], options)
            for part in parts:
                if isinstance(part, int):
                    check_group(part, pattern)
    return typing


def check_group(number: int, pattern: Pattern) -> None:
    """Refuse a group that the pattern does not have."""
    if not 0 <= number <= pattern.groups:
        groups = f"{pattern.groups} group{'s' * (pattern.groups != 1)}"
        raise TypeMismatch(
            coded("GE1106", f"takes the number of a group, got {number}: the pattern has {groups}"),
            "0 is the whole match.",
        )


tested = checked(fixed(STRING, STRING, STRING, returns=BOOL))

FUNCTIONS = (
    Function("regexp_like", "text pattern~ options?!", tested, "Whether the pattern is found anywhere in text; also `text RLIKE pattern` and `text ~ pattern`, `!~` for not.",
             r"regexp_like('order 66', '[0-9]+$')", True, fails=may_be_refused("regexp_like")),
    Function("regexp_full_match", "text pattern~ options?!", tested, "Whether the pattern matches the whole text; also `text SIMILAR TO pattern`.",
             r"regexp_full_match('order 66', '\d+')", False, fails=may_be_refused("regexp_full_match")),
    Function("regexp_extract", "text pattern~ group?~ options?!", extracts(STRING),
             "What the first match's group matched (0, the whole match), of several times the last; null without a match, empty "
             "if the group took no part.  A list of names, `['year', 'month']`, gives a struct of the first groups.",
             r"regexp_extract('a=1, b=2', 'b=(\d+)', 1)", "2", fails=may_be_refused("regexp_extract")),
    Function("regexp_extract_all", "text pattern~ group?~ options?!", extracts(pa.list_(STRING)),
             "What a group (0, the whole match) matched in each match, as list<string>; null where it took no part.  A list of names "
             "gives a list of structs.",
             r"regexp_extract_all('a=1, b=2', '(\w)=\d', 1)", ["a", "b"], fails=may_be_refused("regexp_extract_all")),
    Function("regexp_split_to_array", "text pattern~ options?!", divided, "The parts between the matches, as list<string>.",
             r"regexp_split_to_array('a, b,c', ',\s*')", ["a", "b", "c"], fails=may_be_refused("regexp_split_to_array")),
    Function("regexp_replace", "text pattern~ replacement~ options?!", replaced,
             r"Every match replaced, from the left; `\1` to `\9` are its groups, `\0` is all of it, `\\` a backslash.  "
             "`options` have a `g`.",
             r"regexp_replace('2024-03-09', '(\d+)-(\d+)-(\d+)', '\3.\2.\1')", "09.03.2024", fails=may_be_refused("regexp_replace")),
    Function("regexp_count", "text pattern~ options?!", checked(fixed(STRING, STRING, STRING, returns=INT64)),
             "How many matches there are, none overlapping another.",
             r"regexp_count('a1b22', '\d+')", 2, fails=may_be_refused("regexp_count")),
)  # fmt: skip
