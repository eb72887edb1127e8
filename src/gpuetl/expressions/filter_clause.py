"""`FILTER (WHERE condition)` after a call, lowered to an argument that has the call skip the other rows."""

from __future__ import annotations

from gpuetl.errors import InvalidExpression, Span
from gpuetl.expressions.functions import find_function
from gpuetl.expressions.functions.aggregates import FILTERED
from gpuetl.expressions.functions.windows import SKIPPING
from gpuetl.expressions.syntax import Apply, Constant, Syntax
from gpuetl.messages import coded


def filtered_call(call: Syntax, condition: Syntax, span: Span | None) -> Syntax:
    """Return the call with null, or false as a condition, in the rows that are left out.

    Raises
    ------
    InvalidExpression
        For what is no aggregate, or a window that skips no rows.
    """
    function = find_function(call.function, ("aggregate", "window")) if isinstance(call, Apply) else None
    if not isinstance(call, Apply) or function is None:
        raise InvalidExpression(
            coded("GE1107", "FILTER belongs to an aggregate"), span, "Write CASE WHEN condition THEN value END."
        )
    if function.kind == "window" and function.name not in SKIPPING:
        message = coded("GE1107", f"{call.function} takes no FILTER: it does not skip nulls")
        raise InvalidExpression(message, span, "Filter the rows in a step before.")
    if function.name == "count_rows":
        return Apply("count", (Apply("case", (condition, Constant(1))),), span=call.span)
    names = [slot.name for slot in function.arguments]
    return _narrowed(call, names, FILTERED.get(function.name, names[0]), condition)


def _narrowed(call: Apply, names: list[str], name: str, condition: Syntax) -> Syntax:
    """Narrow the argument `name`, wherever it is given."""

    def narrow(argument: Syntax) -> Syntax:
        return Apply("and" if name == "only" else "case", (condition, argument))

    args, at = list(call.args), names.index(name)
    if at < len(args):
        args[at] = narrow(args[at])
    keywords = tuple((key, narrow(value) if key == name else value) for key, value in call.keywords)
    if name == "only" and at >= len(args) and name not in dict(keywords):
        keywords = (*keywords, (name, condition))
    return Apply(call.function, tuple(args), keywords, span=call.span)
