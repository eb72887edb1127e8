"""Match the arguments of a call with the parameters of its function, and refuse those that it does not take."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.advice import shown_name
from gpuetl.expressions.functions import Function
from gpuetl.expressions.functions.function import Argument
from gpuetl.expressions.ir import ABSENT, Column, Expr, Literal
from gpuetl.expressions.numbers import constant_literal
from gpuetl.expressions.syntax import Apply, Constant, ParameterName, Syntax, Unreadable
from gpuetl.messages import coded
from gpuetl.types.calendar_intervals import CalendarInterval
from gpuetl.types.data_types import can_be_key, value_kinds
from gpuetl.types.nested_types import is_list, is_map, is_struct


def bound_arguments(function: Function, syntax: Apply) -> list[Syntax | None]:
    """Order positional and keyword arguments by the function's parameters; None for one left out before another."""
    slots = function.arguments
    if slots and slots[-1].repeats:
        if len(syntax.args) < sum(not slot.optional for slot in slots) or syntax.keywords:
            raise _arity(function, syntax)
        for slot, argument in zip(slots, syntax.args, strict=False):
            refuse_column(function, slot, argument, syntax)
        return list(syntax.args)
    given: dict[str, Syntax] = dict(zip((slot.name for slot in slots), syntax.args, strict=False))
    for name, value in syntax.keywords:
        if name in given or name not in {slot.name for slot in slots}:
            raise InvalidExpression(
                coded("GE1104", f"{function.name} has no open argument '{name}'"), syntax.span, _signature(function)
            )
        given[name] = value
    missing = any(slot.name not in given and not slot.optional for slot in slots)
    if missing or len(syntax.args) > len(slots):
        raise _arity(function, syntax)
    for slot in slots:
        if slot.name in given:
            refuse_column(function, slot, given[slot.name], syntax)
    last = max((index for index, slot in enumerate(slots) if slot.name in given), default=-1)
    bound = [given.get(slot.name) for slot in slots[: last + 1]]
    if None in bound and function.kind == "scalar":
        message = coded(
            "GE1104", f"{function.name} needs {slots[bound.index(None)].name} where {slots[last].name} is given"
        )
        raise InvalidExpression(message, syntax.span, _signature(function))
    return bound


def interval_argument(function: Function, place: int, argument: Constant) -> Expr | None:
    """Return an interval of months where a function takes a constant one; None for any other argument."""
    if isinstance(argument.value, CalendarInterval):
        slot = function.arguments[min(place, len(function.arguments) - 1)]
        if (slot.constant or slot.usual_constant) and slot.name in ("interval", "width"):
            return constant_literal(argument.value)
    return None


def refuse_column(function: Function, slot: Argument, argument: Syntax, syntax: Apply) -> None:
    """Refuse an expression where a function takes a constant."""
    if slot.constant and not isinstance(argument, Constant | ParameterName | Unreadable):
        message = coded("GE1105", f"{shown_name(function)} takes a constant or a $parameter as {slot.name}")
        other = {"min_n": "least", "max_n": "greatest"}.get(function.name)
        hint = f"Write {other}(a, b) to choose among columns." if other else ""
        raise InvalidExpression(message, argument.span or syntax.span, hint)


def refuse_null_constants(function: Function, args: Sequence[Expr], syntax: Apply) -> None:
    """Refuse null, written or as a parameter's value, where a function takes a constant."""
    if not function.takes_constants:
        return
    for slot, arg in zip(function.arguments, args, strict=False):
        if slot.constant and arg is not ABSENT and isinstance(arg, Literal) and arg.value is None:
            message = coded("GE1105", f"{shown_name(function)} takes a constant that is not null as {slot.name}")
            raise InvalidExpression(message, syntax.span, "A parameter needs a value or a default here.")


def refuse_nested(function: Function, args: Sequence[Expr], syntax: Apply) -> None:
    """Refuse values that are not compared, which few functions take."""
    if function.nested:
        return
    for arg in args:
        if not can_be_key(arg.dtype) and not is_ends(function, arg) and not _is_interval(arg):
            message = coded("GE1115", f"{shown_name(function)} does not take {value_kinds(arg.dtype)}")
            raise InvalidExpression(message, syntax.span, part_hint(arg))


def is_ends(function: Function, arg: Expr) -> bool:
    """Return whether an argument is both ends of a frame, which a window function takes as they are."""
    return function.kind == "window" and isinstance(arg, Literal) and isinstance(arg.value, tuple)


def _is_interval(arg: Expr) -> bool:
    return isinstance(arg, Literal) and isinstance(arg.value, CalendarInterval)


def part_hint(nested: Expr) -> str:
    """Return how to get a value of a type that is compared."""
    name = nested.name if isinstance(nested, Column) else "x"
    if is_struct(nested.dtype):
        first = f"{name}.{nested.dtype[0].name}" if nested.dtype.num_fields else f"{name}.field"
        return f"Take a field of the struct: {first}."
    if is_map(nested.dtype):
        return f"Take a value of the map: {name}['key']."
    if is_list(nested.dtype):
        return "Explode the list in a step before, or take list_get, list_contains or list_length of it."
    return "Such values are only passed on."


def _arity(function: Function, syntax: Apply) -> InvalidExpression:
    count = len(syntax.args) + len(syntax.keywords)
    return InvalidExpression(
        coded("GE1104", f"{shown_name(function)} got {count} argument{'s' * (count != 1)}"),
        syntax.span,
        _signature(function),
    )


def _signature(function: Function) -> str:
    words = [slot.name + ("…" if slot.repeats else "?" if slot.optional else "") for slot in function.arguments]
    rows = "  count(*) counts rows." if function.name == "count" else ""
    return f"It is {shown_name(function)}({', '.join(words)}).{rows}"
