"""Word the errors of names that mean nothing where they stand, and say what to write instead."""

from __future__ import annotations

from gpuetl.errors import InvalidExpression, have_hint
from gpuetl.expressions.advice import SIGNS, shown_name
from gpuetl.expressions.functions import Function, find_function, unknown_function
from gpuetl.expressions.scope import Scope
from gpuetl.expressions.syntax import Apply, Lambda, Name, Over, ParameterName, Selected, Syntax
from gpuetl.expressions.unparse import constant_text
from gpuetl.messages import coded

NAMED_VALUES = {
    **dict.fromkeys(("none", "nil", "na", "nat", "undefined"), "Write NULL, and x IS NULL to look for it."),
    "nan": "Write CAST('nan' AS float64), and is_nan(x) to look for it.",
    **dict.fromkeys(("inf", "infinity"), "Write CAST('inf' AS float64)."),
}
"""What to write for names that other languages give to constants."""
SELECTOR_PLACES = "A selector stands in select, with_columns and drop, by place: with_columns(cs.numeric().round(2))."
OVER_PLACES = "It stands in with_columns, select and filter."
PRESENT_TIME = (
    "getdate",
    "sysdate",
    "getutcdate",
    "now",
    "today",
    "current_date",
    "current_time",
    "current_timestamp",
    "localtime",
    "localtimestamp",
)


def unknown_parameter(syntax: ParameterName, scope: Scope) -> InvalidExpression:
    """Word a parameter that the pipeline does not declare."""
    have = (f"${name}" for name in scope.parameters)
    hint = have_hint(f"${syntax.name}", have, noun="Parameters") if scope.hints else ""
    if syntax.name in scope.columns:
        hint = f"'{syntax.name}' is a column: write {syntax.name} without $."
    return InvalidExpression(coded("GE1021", f"unknown parameter '${syntax.name}'"), syntax.span, hint)


def instead_of_column(syntax: Name, scope: Scope) -> str:
    """Return what to write for a name that is no column, and that may stand for something else."""
    if syntax.name.lower() in NAMED_VALUES:
        return NAMED_VALUES[syntax.name.lower()]
    if syntax.name in scope.parameters:
        return f"'{syntax.name}' is a parameter: write ${syntax.name}."
    return f"Text is written in single quotes: {constant_text(syntax.name)}." if syntax.quoted else ""


def unknown_call(syntax: Apply, scope: Scope) -> InvalidExpression:
    """Word a function that does not exist, or that cannot stand here."""
    for kind, step in (("window", "a window"), ("aggregate", "an aggregate")):
        if found := find_function(syntax.function, (kind,)):  # type: ignore[arg-type]
            if scope.inside:
                return _nested(found, scope.inside, syntax)
            message = coded("GE1107", f"{_written_name(syntax)} is {step} function and cannot stand here")
            return InvalidExpression(message, syntax.span, f"Use it directly in {step} step.")
    if syntax.function in PRESENT_TIME:
        return present_time(syntax.function, syntax)
    return unknown_function(syntax.function, syntax.span, scope.kinds)


def present_time(name: str, syntax: Syntax) -> InvalidExpression:
    """Word a function that gives the current time."""
    hint = "Pass it as a parameter, such as $run_date: a run can then be repeated with the same answer."
    return InvalidExpression(coded("GE1102", f"gpuetl does not support the current time, '{name}'"), syntax.span, hint)


def _nested(inner: Function, outer: Function, syntax: Apply) -> InvalidExpression:
    article = "an" if inner.kind == "aggregate" else "a"
    message = coded(
        "GE1107", f"{shown_name(inner)} is {article} {inner.kind} function and cannot stand inside {outer.name}"
    )
    steps = f"{outer.kind} steps" if inner.kind == outer.kind else "steps"
    hint = f"Use two {steps}: {shown_name(inner)} in the first, {outer.name} in the second."
    return InvalidExpression(message, syntax.span, hint)


def misplaced(syntax: Selected | Over | Lambda) -> InvalidExpression:
    """Word what stands in other places only."""
    if isinstance(syntax, Selected):
        return InvalidExpression(coded("GE1216", f"{syntax.text} cannot stand here"), syntax.span, SELECTOR_PLACES)
    if isinstance(syntax, Over):
        return InvalidExpression(coded("GE1213", "over cannot stand here"), syntax.span, OVER_PLACES)
    message = coded("GE1107", "a lambda cannot stand here")
    return InvalidExpression(message, syntax.span, "It is an argument of list_transform, list_filter and list_reduce.")


def _written_name(syntax: Apply) -> str:
    return SIGNS.get(syntax.function, syntax.function)
