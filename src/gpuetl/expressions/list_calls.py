"""Aggregates of lists by name: `list_aggregate(x, 'median')` is `list_median(x)`, as in DuckDB."""

from __future__ import annotations

from dataclasses import replace

from gpuetl.errors import InvalidExpression, have_hint
from gpuetl.expressions.functions import ALIASES, find_function
from gpuetl.expressions.functions.list_aggregates import FUNCTIONS as AGGREGATES
from gpuetl.expressions.functions.list_statistics import FUNCTIONS as STATISTICS
from gpuetl.expressions.syntax import Apply, Constant
from gpuetl.messages import coded

BY_NAME = ("list_aggregate", "list_aggr", "array_aggregate", "array_aggr")
NAMES = tuple(each.name.removeprefix("list_") for each in (*AGGREGATES, *STATISTICS) if each.parameters.startswith("x"))


def named_aggregate(syntax: Apply) -> Apply:
    """Return the call that `list_aggregate` stands for.

    Raises
    ------
    InvalidExpression
        For what is no name of an aggregate of lists.
    """
    name = syntax.args[1].value if len(syntax.args) > 1 and isinstance(syntax.args[1], Constant) else None
    if not isinstance(name, str) or syntax.keywords:
        message = coded("GE1104", f"{syntax.function} takes a list and the name of an aggregate")
        raise InvalidExpression(message, syntax.span, f"Write {syntax.function}(x, 'median').")
    rest, name = syntax.args[2:], name.lower()
    if name in ("list", "array_agg"):  # null where there is no element, as of groups
        length = Apply("list_length", syntax.args[:1], span=syntax.span)
        some = Apply("greater", (length, Constant(0)), span=syntax.span)
        return Apply("case", (some, syntax.args[0]), span=syntax.span)
    function = find_function(f"list_{name}", ("scalar",)) or find_function(
        f"list_{ALIASES.get(name, name)}", ("scalar",)
    )
    if function is None or function.name.removeprefix("list_") not in (*NAMES, "unique"):
        message = coded("GE1106", f"{syntax.function} takes the name of an aggregate, got '{name}'")
        raise InvalidExpression(message, syntax.span, have_hint(name, NAMES, noun="Names"))
    return replace(syntax, function=function.name, args=(syntax.args[0], *rest))
