"""The examples of the function table as Python expressions, which docstrings show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from gpuetl.expressions.functions import find_function
from gpuetl.expressions.functions.function import Kind
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.syntax import Apply, CastTo, Constant, Lambda, Name, Syntax, Variable
from gpuetl.types.calendar_intervals import CalendarInterval
from gpuetl.types.data_types import type_name

KINDS: tuple[Kind, ...] = ("scalar", "aggregate", "window")
PYTHON_NAMES = {"in": "is_in", "and": "and_", "or": "or_", "not": "not_", "count_rows": "count"}
"""Functions whose name is a word of Python, or that have another one in Python."""
BY_NAME = frozenset(
    [
        "ambiguous",
        "nonexistent",
        "default",
        "ignore_nulls",
        "only",
        "half_life",
        "span",
        "alpha",
        "com",
        "adjust",
        "bias",
        "rows",
        "range",
        "centered",
        "min_periods",
    ]
)
"""Options that are given by name only."""
UNITS = (("days", 86_400), ("hours", 3_600), ("minutes", 60), ("seconds", 1))


def method_example(sql: str) -> str:
    """Return an SQL example as a call of methods."""
    return _written(parse_expression(sql))


def named_options(node: Apply) -> Apply:
    """Return a call whose options stand by name where Python takes them so."""
    function = find_function(node.function, KINDS)
    slots = function.arguments if function else ()
    places = [i for i, slot in enumerate(slots[: len(node.args)]) if slot.name in BY_NAME and slot.optional]
    named = tuple((slots[i].name, node.args[i]) for i in places)
    return replace(
        node, args=tuple(a for i, a in enumerate(node.args) if i not in places), keywords=named + node.keywords
    )


def function_example(sql: str, name: str) -> str:
    """Return an SQL example as a call of the module's function `name`, where it is one."""
    node = parse_expression(sql)
    if not isinstance(node, Apply) or node.function != name:
        return _written(node)
    node = named_options(node)
    if name == "in":
        return f"is_in({_operand(node.args[0])}, [{_listed(node.args[1:], ())}])"
    operands = node.args
    if operands and all(isinstance(arg, Constant) for arg in operands) and isinstance(operands[0], Constant):
        place = _receiver(name)
        texts = [_written(arg) if i == place else _operand(arg) for i, arg in enumerate(operands)]
        texts += [f"{key}={_operand(value)}" for key, value in node.keywords]
        return f"{PYTHON_NAMES.get(name, name)}({', '.join(texts)})"
    return f"{PYTHON_NAMES.get(name, name)}({_listed(operands, node.keywords)})"


def _receiver(name: str) -> int:
    """Return the place of the argument whose method a function is; -1 where it is none."""
    function = find_function(name, KINDS)
    constants = [not argument.is_receiver for argument in function.arguments] if function else []
    return constants.index(False) if False in constants else -1


def _written(node: Syntax) -> str:
    match node:
        case Name():
            return f"col({node.name!r})".replace("'", '"')
        case Constant():
            return f"lit({value_text(node.value)})"
        case Variable():
            return node.name
        case Lambda():
            return f"lambda {', '.join(node.parameters)}: {_written(node.body)}"
        case CastTo():
            return f'{_written(node.operand)}.{"try_" * node.lenient}cast("{type_name(node.dtype)}")'
        case Apply():
            return _call(node)
    raise TypeError(node)


def _call(node: Apply) -> str:
    node = named_options(node)
    name = PYTHON_NAMES.get(node.function, node.function)
    if node.function == "list_value":
        return f"lit([{_listed(node.args, ())}])"
    if node.function == "struct_pack":
        return f"struct({_listed((), node.keywords)})"
    place = _receiver(node.function)
    if place < 0 or node.function == "case":
        return f"{name}({_listed(node.args, node.keywords)})"
    rest = node.args[:place] + node.args[place + 1 :]
    given = f"[{_listed(rest, ())}]" if node.function == "in" else _listed(rest, node.keywords)
    return f"{_written(node.args[place])}.{name}({given})"


def _listed(args: tuple[Syntax, ...], keywords: tuple[tuple[str, Syntax], ...]) -> str:
    return ", ".join([*map(_operand, args), *(f"{key}={_operand(value)}" for key, value in keywords)])


def _operand(node: Syntax) -> str:
    if isinstance(node, Apply) and node.function == "list_value":
        return f"[{_listed(node.args, ())}]"
    return value_text(node.value) if isinstance(node, Constant) else _written(node)


def value_text(value: Any) -> str:
    """Return a value as Python's source has it."""
    writers: dict[type, Callable[[Any], str]] = {
        datetime: lambda v: f'datetime.fromisoformat("{v}")',
        date: lambda v: f"date({v.year}, {v.month}, {v.day})",
        time: lambda v: f'time.fromisoformat("{v}")',
        timedelta: _duration,
        CalendarInterval: lambda v: f"expr(\"INTERVAL '{v}'\")",
        dict: lambda v: f"{{{', '.join(f'{value_text(key)}: {value_text(each)}' for key, each in v.items())}}}",
        list: lambda v: f"[{', '.join(map(value_text, v))}]",
    }
    for kind, write in writers.items():
        if isinstance(value, kind):
            return write(value)
    if isinstance(value, Decimal):
        return str(float(value))
    if isinstance(value, str) and '"' not in value:
        return f'{"r" * (chr(92) in value)}"{value}"'
    return repr(value)


def _duration(value: timedelta) -> str:
    seconds = value.total_seconds()
    unit, length = next((pair for pair in UNITS if seconds % pair[1] == 0), ("seconds", 1))
    number = seconds / length
    return f"timedelta({unit}={int(number) if number == int(number) else number})"
