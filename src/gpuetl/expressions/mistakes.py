"""Expressions that have types and a value, and that cannot mean what they say: `x = NULL`, `'${run.id}'`."""

from __future__ import annotations

from collections.abc import Iterator

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.foreign import reference_in_text
from gpuetl.expressions.syntax import Apply, CastTo, Constant, Syntax, parts
from gpuetl.expressions.unparse import shown_sql
from gpuetl.messages import coded

COMPARISONS = {"equal": "=", "not_equal": "<>", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}


def mistakes_in(syntax: Syntax) -> Iterator[InvalidExpression]:
    """Yield the error of each comparison with a null that is written, and of each reference in a text.

    A parameter may be null in one run and not in another: it is not one of these.
    """
    for node in parts(syntax):
        if isinstance(node, Constant) and isinstance(node.value, str):
            if reference := reference_in_text(node.value, node.span):
                yield reference
        elif isinstance(node, Apply) and (error := _null_comparison(node)):
            yield error


def doubts_in(syntax: Syntax) -> Iterator[InvalidExpression]:
    """Yield what is right, but hardly what is meant: a null in the list of an IN that has other values."""
    for node in parts(syntax):
        if isinstance(node, Apply) and node.function == "in":
            values = node.args[1:]
            if any(map(_is_null, values)) and not all(map(_is_null, values)):
                hint = f"Write {_shown(node.args[0])} IS NULL OR … to keep rows without a value."
                yield InvalidExpression(coded("GE1108", "NULL in this list matches no row"), node.span, hint)


def _null_comparison(node: Apply) -> InvalidExpression | None:
    """Return the error of a comparison that is null for every row."""
    if node.function in COMPARISONS and any(map(_is_null, node.args)):
        shown = f"{_shown(node.args[0])} {COMPARISONS[node.function]} {_shown(node.args[1])}"
        tested = next((arg for arg in node.args if not _is_null(arg)), node.args[0])
        return _never_true(node, shown, tested, node.function == "not_equal")
    if node.function == "in" and len(node.args) > 1 and all(map(_is_null, node.args[1:])):
        return _never_true(node, f"{_shown(node.args[0])} IN (NULL)", node.args[0])
    if node.function == "not" and isinstance(inner := node.args[0], Apply) and inner.function == "in":
        values = inner.args[1:]
        if any(map(_is_null, values)) and not all(map(_is_null, values)):
            rest = Apply("in", (inner.args[0], *(value for value in values if not _is_null(value))))
            hint = f"Take NULL out of the list: {_shown(Apply('not', (rest,)))}."
            return InvalidExpression(
                coded("GE1108", "NOT IN with NULL in its list is true for no row"), node.span or inner.span, hint
            )
    return None


def _never_true(node: Apply, shown: str, tested: Syntax, negated: bool = False) -> InvalidExpression:
    test = f"{_shown(tested)} IS {'NOT ' * negated}NULL"
    return InvalidExpression(coded("GE1108", f"'{shown}' is true for no row"), node.span, f"Write {test}.")


def _is_null(node: Syntax) -> bool:
    return _is_null(node.operand) if isinstance(node, CastTo) else node == Constant(None)


def _shown(node: Syntax) -> str:
    try:
        return shown_sql(node)
    except TypeError:  # a part of it could not be read
        return "x"
