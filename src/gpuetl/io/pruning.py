"""Whether a row group may hold a row for which a predicate is true, by its statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gpuetl.expressions.ir import Call, Cast, Column, Expr, Literal
from gpuetl.types.data_types import is_floating

Ranges = Mapping[str, tuple[Any, Any, int]]

# What must hold of (least, greatest, value) for some row to compare true
_MAY_HOLD: dict[str, Callable[[Any, Any, Any], bool]] = {
    "equal": lambda least, greatest, value: least <= value <= greatest,
    "less": lambda least, greatest, value: least < value,
    "less_equal": lambda least, greatest, value: least <= value,
    "greater": lambda least, greatest, value: greatest > value,
    "greater_equal": lambda least, greatest, value: greatest >= value,
}
_MIRRORED = {
    "equal": "equal",
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
}


def is_prunable(predicate: Expr) -> bool:
    """Tell whether statistics can say anything about the predicate."""
    return isinstance(predicate, Call) and (
        _comparison(predicate) is not None or _listed(predicate) is not None or _null_test(predicate) is not None
    )


def may_hold(predicate: Expr, ranges: Ranges, rows: int) -> bool:
    """Return False only where no row of the group can make the predicate true.

    `ranges` has least, greatest and the count of nulls by column; NaN lies outside of them, and compares true to
    nothing.  Columns that are not there may hold anything.
    """
    if not isinstance(predicate, Call):
        return True
    if (found := _null_test(predicate)) is not None:
        column, wants_null = found
        nulls = ranges[column][2] if column in ranges else None
        return nulls is None or (nulls > 0 if wants_null else rows < 0 or nulls < rows)
    if (listed := _listed(predicate)) is not None:
        column, values = listed
        return any(_compare("equal", column, value, ranges) for value in values)
    if (compared := _comparison(predicate)) is not None:
        return _compare(*compared, ranges)
    return True


def _compare(name: str, column: str, value: Any, ranges: Ranges) -> bool:
    if column not in ranges:
        return True
    least, greatest, _ = ranges[column]
    if least is None or value is None:
        return False  # only nulls there, or a comparison with null: never true
    try:
        return _MAY_HOLD[name](least, greatest, value)
    except TypeError:  # values that Python does not compare, such as a naive and a zoned time
        return True


def _comparison(call: Call) -> tuple[str, str, Any] | None:
    if call.function.name not in _MAY_HOLD:
        return None
    left, right = call.args
    if (name := _column(left)) and isinstance(right, Literal):
        return call.function.name, name, right.value
    if (name := _column(right)) and isinstance(left, Literal):
        return _MIRRORED[call.function.name], name, left.value
    return None


def _listed(call: Call) -> tuple[str, list[Any]] | None:
    name = _column(call.args[0]) if call.args else None
    values = [arg.value for arg in call.args[1:] if isinstance(arg, Literal)]
    if call.function.name != "in" or name is None or len(values) != len(call.args) - 1:
        return None
    return name, values


def _null_test(call: Call) -> tuple[str, bool] | None:
    inner, wanted = call, True
    if call.function.name == "not" and isinstance(call.args[0], Call):
        inner, wanted = call.args[0], False
    name = _column(inner.args[0]) if inner.function.name == "is_null" else None
    return (name, wanted) if name else None


def _column(expr: Expr) -> str | None:
    """Return the column's name; a cast to a wider number keeps its order, but a float64 of an int64 may round."""
    if isinstance(expr, Cast) and expr.implicit and not is_floating(expr.dtype):
        expr = expr.operand
    return expr.name if isinstance(expr, Column) else None
