"""`date_part` by a name that is a constant, a list of names, or a column: each as calls of the parts' functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.constants import EXTRACT_PARTS
from gpuetl.expressions.functions.calendar import UNKNOWN_PART
from gpuetl.expressions.functions.function import scalar_call
from gpuetl.expressions.functions.timestamps import UNIT_NAMES, unit_named
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.expressions.scope import WRONG, Scope
from gpuetl.expressions.syntax import STRUCT, Apply, CastTo, Constant, Syntax
from gpuetl.messages import coded
from gpuetl.types.data_types import FLOAT64, STRING, UNKNOWN, type_name

Typed = Callable[[Syntax, Scope], Expr]


def function_of(name: object) -> str | None:
    """Return the function of the part that a text names: `hour` of `Hours` and `h`."""
    return EXTRACT_PARTS.get((unit_named(name) or str(name)).upper())


def wrong_part(syntax: Apply, got: str) -> InvalidExpression:
    """Word a first argument that names no part."""
    message = coded("GE1106", f"date_part takes the name of a part and a date or timestamp, got {got}")
    have = ", ".join(sorted(known.lower() for known in EXTRACT_PARTS))
    return InvalidExpression(message, syntax.span, f"Write date_part('year', x).  Parts: {have}.")


def parts_listed(syntax: Apply) -> Apply | None:
    """Return the struct that `date_part(names, x)` is, null where x is; None where names are no constants."""
    names, x = syntax.args
    if not isinstance(names, Apply) or names.function != "list_value" or not names.args:
        return None
    listed = [name.value if isinstance(name, Constant) else None for name in names.args]
    fields = []
    for name in listed:
        if not isinstance(name, str) or function_of(name) is None:
            raise wrong_part(syntax, repr(name))
        fields.append((name.lower(), Apply(str(function_of(name)), (x,), span=syntax.span)))
    known = Apply("not", (Apply("is_null", (x,)),))
    return Apply("case", (known, Apply(STRUCT, (), tuple(fields), span=syntax.span)), span=syntax.span)


def is_null(node: Syntax) -> bool:
    """Return whether an argument is a written null, perhaps in a cast."""
    return is_null(node.operand) if isinstance(node, CastTo) else isinstance(node, Constant) and node.value is None


def part_by_name(syntax: Apply, scope: Scope, operand: Typed, expression: Typed) -> Expr:
    """Type `date_part(name, x)` of a name that rows have: a CASE of the parts that x has, in float64."""
    name, x = (operand(argument, scope) for argument in syntax.args)
    if UNKNOWN in (name.dtype, x.dtype):
        return WRONG
    if is_null(syntax.args[0]):
        return Literal(None, FLOAT64)
    if name.dtype != STRING:
        raise wrong_part(syntax, type_name(name.dtype))
    lower = Apply("lower", (syntax.args[0],), span=syntax.span)
    branches: list[Expr] = []
    for function in dict.fromkeys(EXTRACT_PARTS.values()):
        try:
            part = expression(
                CastTo(Apply(function, (syntax.args[1],)), FLOAT64, span=syntax.span), replace(scope, errors=[])
            )
        except InvalidExpression:  # x has no such part
            continue
        if part.dtype == UNKNOWN:
            continue
        branches += [operand(Apply("in", (lower, *map(Constant, names_of(function)))), scope), part]
    if not branches:
        raise wrong_part(syntax, type_name(x.dtype))
    return scalar_call("case", (*branches, Call(UNKNOWN_PART, (name,), FLOAT64)), FLOAT64)


def names_of(function: str) -> list[str]:
    """Return the names of the part that a function gives."""
    parts = [part.lower() for part, of in EXTRACT_PARTS.items() if of == function]
    return [*parts, *(other for part in parts for other in UNIT_NAMES.get(part, "").split())]
