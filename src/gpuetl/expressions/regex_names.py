"""Groups of regular expressions by names: `regexp_extract(text, pattern, ['name', 'num'])` is a struct of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.syntax import STRUCT, Apply, Constant, Lambda, Syntax, Variable
from gpuetl.messages import coded

NAMING = ("regexp_extract", "regexp_extract_all")
LIST, SLOTS = "list_value", ("text", "pattern", "group", "options")
GROUP, PLACE = "group of a match", "place of a match"
"""Variables: no name that users write."""


def named_groups(syntax: Apply) -> Apply | None:
    """Return the call of named groups in terms of those of numbers; None where it asks for one group.

    Raises
    ------
    InvalidExpression
        For no names, and names that are no constants.
    """
    given = {**dict(zip(SLOTS, syntax.args, strict=False)), **dict(syntax.keywords)}
    listed = given.pop("group", None)
    if not isinstance(listed, Apply) or listed.function != LIST or not {*SLOTS} >= {*given} >= {"text", "pattern"}:
        return None
    names = [name.value for name in listed.args if isinstance(name, Constant) and isinstance(name.value, str)]
    if not names or len(names) < len(listed.args):
        what = "a name" if listed.args else "at least one name"
        message = coded("GE1105", f"{syntax.function} takes {what} for each group from the first, as constants")
        raise InvalidExpression(message, listed.span or syntax.span, "Write ['year', 'month'].")

    if twice := next((name for name in names if names.count(name) > 1), None):
        message = coded("GE1104", f"{syntax.function} has two groups named '{twice}'")
        raise InvalidExpression(message, listed.span or syntax.span, "Rename one.")

    def call(function: str, *group: Syntax) -> Apply:
        args = (given["text"], given["pattern"], *group, *([given["options"]] if "options" in given else []))
        return Apply(function, args, span=syntax.span)

    parts = [call(syntax.function, Constant(number)) for number in range(1, len(names) + 1)]
    if syntax.function == "regexp_extract":
        found = call("regexp_like")
        return Apply("case", (found, struct_of(syntax, names, parts)), span=syntax.span)
    others = [Apply("list_extract", (part, Variable(PLACE)), span=syntax.span) for part in parts[1:]]
    function = Lambda((GROUP, PLACE), struct_of(syntax, names, [Variable(GROUP), *others]))
    return Apply("list_transform", (parts[0], function), span=syntax.span)


def struct_of(syntax: Apply, names: Sequence[str], values: Sequence[Syntax]) -> Apply:
    """Return the struct of names and values."""
    return replace(syntax, function=STRUCT, args=(), keywords=tuple(zip(names, values, strict=True)))
