"""Lower what stands with a call: `FILTER (WHERE condition)`, `DISTINCT` and `IGNORE NULLS`."""

from __future__ import annotations

from gpuetl.errors import InvalidExpression, Span
from gpuetl.expressions.functions import ALIASES, Kind, find_function, unknown_function
from gpuetl.expressions.functions.aggregates import FILTERED, SAME_OF_DISTINCT
from gpuetl.expressions.functions.windows import SKIPPING
from gpuetl.expressions.syntax import Apply, Constant, Syntax
from gpuetl.messages import coded

KINDS: tuple[Kind, ...] = ("scalar", "aggregate", "window")


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
        message = coded("GE1107", f"{call.function} does not support FILTER: it does not skip nulls")
        raise InvalidExpression(message, span, "Filter the rows in a step before.")
    if function.name == "count_rows":
        return Apply("count", (Apply("case", (condition, Constant(1))),), span=call.span)
    names = [slot.name for slot in function.arguments]
    return _narrowed(call, names, FILTERED.get(function.name, names[0]), condition)


def distinct_name(name: str, span: Span | None) -> str:
    """Return the function that a call with DISTINCT stands for; of some, DISTINCT changes nothing.

    Raises
    ------
    InvalidExpression
        For what takes no DISTINCT.
    """
    known = ALIASES.get(name, name)
    if known in SAME_OF_DISTINCT:
        return known
    if find_function(f"{known}_distinct", ("aggregate",)):
        return f"{known}_distinct"
    if not is_function(name):
        raise unknown_function(name, span, KINDS)
    message = coded("GE1102", f"{name} does not take DISTINCT")
    raise InvalidExpression(message, span, "Use a distinct step before.")


def null_treatment(name: str, ignored: bool, span: Span | None) -> tuple[tuple[str, Syntax], ...]:
    """Return the option that IGNORE NULLS stands for, if `ignored`; RESPECT NULLS is the default.

    Raises
    ------
    InvalidExpression
        For a call that has no such option.
    """
    function = find_function(name, ("window", "aggregate", "scalar"))
    if function is None:
        raise unknown_function(name, span, KINDS)
    if all(slot.name != "ignore_nulls" for slot in function.arguments):
        message = coded("GE1102", f"{name} does not take {'IGNORE' if ignored else 'RESPECT'} NULLS")
        raise InvalidExpression(message, span, "first, last, nth_value, lag and lead do.")
    return (("ignore_nulls", Constant(True)),) if ignored else ()


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


def is_function(name: str) -> bool:
    """Return whether gpuetl has a function of this name."""
    return find_function(name, KINDS) is not None
