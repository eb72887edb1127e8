"""The frames of rolling functions: the rows around each row that they read.

A number of rows ends at the row itself: `rolling_sum(x, 3)` adds up the row and the 2 rows before it. So does an
interval: `rolling_sum(x, INTERVAL '1 hour')` goes back to 1 hour before.

`centered` puts the row in the middle: `rolling_sum(x, 3, centered => true)` adds up the row, the one before it and the
one after it.

`rows` and `range` have two ends. `rows => [-2, NULL]` begins 2 rows before and ends with the group.
`range => [-5, 5]` takes the rows whose key of `order_by` is at most 5 away.

Engines see calls with `frame`, `rows` or `range` only. `plain_frame` replaces the other options.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from gpuetl.expressions.functions.function import Rule, TypeMismatch, Typing, table_entry
from gpuetl.expressions.ir import ABSENT, Call, Expr, Literal
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.types.data_types import BOOL, DATE, DURATION, FLOAT64, INT64, DataType, is_floating, is_integer, type_name
from gpuetl.types.decimal_types import is_decimal

OPTIONS = ("frame", "rows", "range", "centered", "min_periods")
PARAMETERS = " ".join(f"{name}?!" for name in OPTIONS)
"""How the function table writes them."""
ROWS, TIMES, NUMBERS = (pa.list_(dtype) for dtype in (INT64, DURATION, FLOAT64))
"""The types of the two ends of a frame, a tuple: rows, intervals and numbers."""
MICROSECOND, DAY = timedelta(microseconds=1), timedelta(days=1)


@dataclass(frozen=True)
class Frame:
    """The rows of a frame.

    Parameters
    ----------
    kind
        `rows` counts rows.  `so_far` compares the time, up to the row itself.  `range` compares the first key of the
        order, and takes rows that tie.
    start, end
        How far from the row the frame begins and ends; None where it reaches the end of the group.
    """

    kind: str
    start: Any
    end: Any


def frame_of(call: Call) -> Frame:
    """Return the frame of a call whose options are constants."""
    frame, rows, by_range = options_of(call)[:3]
    if isinstance(rows, Literal) and rows.value is not None:
        return Frame("rows", *rows.value)
    if isinstance(by_range, Literal) and by_range.value is not None:
        return Frame("range", *by_range.value)
    assert isinstance(frame, Literal)
    if frame.dtype == DURATION:
        return Frame("so_far", -frame.value, timedelta(0))
    return Frame("rows", 1 - frame.value, 0)


def units_of(frame: Frame, dtype: DataType) -> tuple[Any, Any]:
    """Return both ends in units of an order's key: whole ones that leave out no row, or floats; None is no end."""
    if is_floating(dtype):
        start, end = (None if at is None else float(at) for at in (frame.start, frame.end))
        return start, end
    unit: Any = DAY if dtype == DATE else MICROSECOND
    if not isinstance(frame.start if frame.end is None else frame.end, timedelta):
        unit = Decimal(1).scaleb(-dtype.scale) if is_decimal(dtype) else 1
    start = None if frame.start is None else _whole(frame.start, unit, math.ceil)
    return start, None if frame.end is None else _whole(frame.end, unit, math.floor)


def _whole(at: Any, unit: Any, rounded: Callable[[Any], int]) -> int:
    if isinstance(unit, timedelta):
        return int(-(-at // unit) if rounded is math.ceil else at // unit)
    return int(rounded(Decimal(str(at)) / unit))


def options_of(call: Call) -> tuple[Expr, ...]:
    """Return the options of a call, ABSENT for those that are left out."""
    given = dict(zip((slot.name for slot in call.function.arguments), call.args, strict=False))
    return tuple(given.get(name, ABSENT) for name in OPTIONS)


def is_given(argument: Expr) -> bool:
    """Return whether an option is not left out."""
    return not (isinstance(argument, Literal) and argument.value is None)


def framed(result: Rule, values: int = 1) -> Rule:
    """Type a number of values by `result`, with what comes after the frame, and the frame between them."""

    def rule(args: Sequence[Expr]) -> Typing:
        more = args[values + len(OPTIONS) :]
        options = dict(zip(OPTIONS, args[values:], strict=False))
        given = [name for name in OPTIONS[:3] if is_given(options.get(name, ABSENT))]
        if len(given) != 1:
            text = f"takes one of frame, rows and range, got {' and '.join(given) or 'none'}"
            raise TypeMismatch(coded("GE1104", text), "Write a number of rows, as in rolling_sum(x, 3).")
        types = {name: arg.dtype for name, arg in options.items()}
        types[given[0]] = CHECKS[given[0]](options[given[0]])
        check_options(options, given[0])
        taken, dtype = result([*args[:values], *more])
        return [*taken[:values], *types.values(), *taken[values:]], dtype

    return rule


def trailing(frame: Expr) -> DataType:
    """Check a number of rows, or an interval, up to each row."""
    rows = is_integer(frame.dtype)
    if not rows and frame.dtype != DURATION:
        raise TypeMismatch(f"takes a number of rows or an interval as frame, got {type_name(frame.dtype)}")
    if rows and isinstance(frame, Literal) and frame.value < 1:
        raise TypeMismatch(coded("GE1106", f"takes a frame of 1 row or more, got {frame.value}"))
    if not rows and isinstance(frame, Literal) and frame.value < timedelta(0):
        raise TypeMismatch(coded("GE1106", f"takes a frame that is not negative, got {frame.value}"))
    return INT64 if rows else DURATION


def between_rows(rows: Expr) -> DataType:
    """Check two numbers of rows."""
    start, end = ends_of(rows, "rows", "rows => [-2, 0] for the row and the 2 before it")
    for at in (start, end):
        if at is not None and type(at) is not int:
            raise TypeMismatch(coded("GE1106", f"takes whole numbers as rows, got {at}"))
    return ROWS


def between_values(by_range: Expr) -> DataType:
    """Check two intervals, or two numbers."""
    example = "range => [INTERVAL '-1 hour', INTERVAL '1 hour'], or range => [-5, 5]"
    found = [at for at in ends_of(by_range, "range", example) if at is not None]
    if all(isinstance(at, timedelta) for at in found):
        return TIMES
    if all(isinstance(at, int | float | Decimal) and not isinstance(at, bool) and math.isfinite(at) for at in found):
        return NUMBERS
    raise TypeMismatch(coded("GE1106", "takes two intervals or two numbers as range"), f"Write {example}.")


def ends_of(ends: Expr, name: str, example: str) -> tuple[Any, Any]:
    """Return both ends of a frame, None where it has none."""
    if not isinstance(ends, Literal) or not isinstance(ends.value, tuple) or len(ends.value) != 2:
        raise TypeMismatch(coded("GE1830", f"takes two ends as {name}, from first to last"), f"Write {example}.")
    start, end = ends.value
    if start is None and end is None:
        hint = "Write an aggregate for the whole group, such as sum(x)."
        raise TypeMismatch(coded("GE1830", f"takes {name} with an end, got [NULL, NULL]"), hint)
    try:
        backwards = start is not None and end is not None and start > end
    except TypeError:
        raise TypeMismatch(coded("GE1830", f"takes two ends of one kind as {name}"), f"Write {example}.") from None
    if backwards:
        hint = "The first number is where the frame begins; rows before the current one are negative."
        raise TypeMismatch(coded("GE1830", f"takes {name} whose first end is not after the last"), hint)
    return start, end


CHECKS: dict[str, Callable[[Expr], DataType]] = {"frame": trailing, "rows": between_rows, "range": between_values}


def check_options(options: dict[str, Expr], given: str) -> None:
    """Check `centered` and `min_periods`."""
    centered, least = options.get("centered", ABSENT), options.get("min_periods", ABSENT)
    if is_given(centered):
        if centered.dtype != BOOL:
            raise TypeMismatch(coded("GE1117", f"takes true or false as centered, got {type_name(centered.dtype)}"))
        if given != "frame" or not is_integer(options["frame"].dtype):
            hint = "Write rows => [-2, 2] or range => [INTERVAL '-1 hour', INTERVAL '1 hour'] for other frames."
            raise TypeMismatch(coded("GE1830", "takes centered with a number of rows"), hint)
    if is_given(least) and (not is_integer(least.dtype) or (isinstance(least, Literal) and least.value < 1)):
        got = least.value if isinstance(least, Literal) else type_name(least.dtype)
        raise TypeMismatch(coded("GE1106", f"takes a number of values from 1 as min_periods, got {got}"))


def plain_frame(call: Call) -> Expr:
    """Return a call without `centered` and `min_periods`: its rows as two ends, and null where values are too few."""
    begins = call.function.arguments.index(slot_of(call, "frame"))
    values, more = call.args[:begins], call.args[begins + len(OPTIONS) :]
    frame, rows, by_range, centered, least = options_of(call)
    if isinstance(centered, Literal) and centered.value and isinstance(frame, Literal):
        before = frame.value // 2
        frame, rows = ABSENT, Literal((-before, frame.value - before - 1), ROWS)
    unbound = [option for option in (centered, least) if is_given(option) and not isinstance(option, Literal)]
    if unbound:  # a parameter that has no value yet
        return call
    options = without_last_absent((frame, rows, by_range))
    given = options if not more else without_last_absent((frame, rows, by_range, ABSENT, ABSENT, *more))
    plain = replace(call, args=(*values, *given))
    if not isinstance(least, Literal) or least.value is None:
        return plain
    columns = [value for slot, value in zip(call.function.arguments, values, strict=False) if not slot.constant]
    counted = Call(table_entry("window", "rolling_count"), (both(columns), *options), INT64)
    enough = Call(table_entry("scalar", "greater_equal"), (counted, Literal(least.value, INT64)), BOOL)
    return Call(table_entry("scalar", "case"), (enough, plain), plain.dtype)


def without_last_absent(arguments: Sequence[Expr]) -> tuple[Expr, ...]:
    """Return arguments up to the last one that is given."""
    last = max((place for place, argument in enumerate(arguments) if is_given(argument)), default=-1)
    return tuple(argument if is_given(argument) else ABSENT for argument in arguments[: last + 1])


def slot_of(call: Call, name: str) -> Any:
    """Return a parameter of a call's function."""
    return next(slot for slot in call.function.arguments if slot.name == name)


def both(values: Sequence[Expr]) -> Expr:
    """Return what is null where one of the values is."""
    first, *others = values
    for other in others:
        null = Call(table_entry("scalar", "is_null"), (other,), BOOL)
        there = Call(table_entry("scalar", "not"), (null,), BOOL)
        first = Call(table_entry("scalar", "case"), (there, first), first.dtype)
    return first
