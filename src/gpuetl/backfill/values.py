"""The values of a backfill: from one to another, by steps."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa

from gpuetl.errors import InvalidPipeline
from gpuetl.messages import coded
from gpuetl.spec.parameters import parse_value
from gpuetl.types.data_types import DATE, DataType, is_integer, type_name

MOST_VALUES = 100_000
STEP = re.compile(r"\s*(\d+)\s*([a-z]+)\s*", re.IGNORECASE)
UNITS = {
    "second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1),
    "day": timedelta(days=1), "week": timedelta(weeks=1),
}  # fmt: skip
SHORT = {"s": "second", "min": "minute", "h": "hour", "d": "day", "w": "week"}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
STEPS = "Write a step such as 1d, 2 weeks, 6h or 1 month."

Value = date | datetime | int


def wrong(message: str, hint: str) -> InvalidPipeline:
    """Word what is wrong with the range of a backfill."""
    return InvalidPipeline.because(coded("GE1572", message), hint)


def values_of(name: str, dtype: DataType, first: str, last: str, step: str | None) -> list[Value]:
    """Return the values from the first to the last, both included where the steps meet them.

    Raises
    ------
    InvalidPipeline
        For a type without steps, for a text that is no value of it, and for steps that lead nowhere.
    """
    if not (is_integer(dtype) or dtype == DATE or pa.types.is_timestamp(dtype)):
        what = f"parameter '{name}' is {type_name(dtype)}, and a backfill takes a date, a timestamp or an integer"
        raise wrong(what, "Run each value by itself, or give the pipeline a parameter of such a type.")
    start, end = (value_of(name, dtype, text) for text in (first, last))
    if start > end:
        raise wrong(f"--from {text_of(start)} comes after --to {text_of(end)}", "Exchange them.")
    found: list[Value] = []
    for value in stepped(start, dtype, step):
        if value > end:
            return found
        if len(found) == MOST_VALUES:
            raise wrong(f"the range has more than {MOST_VALUES:,} values", "Take a longer step, or a shorter range.")
        found.append(value)
    return found


def value_of(name: str, dtype: DataType, text: str) -> Any:
    """Return the value of a text."""
    try:
        return parse_value(text, dtype)
    except ValueError as error:
        raise wrong(f"parameter '{name}': {error}", "") from None


def stepped(start: Any, dtype: DataType, step: str | None) -> Iterator[Any]:
    """Yield the values from the first one on, until they leave the calendar."""
    if is_integer(dtype):
        if step is not None and not (step.isdecimal() and int(step)):
            raise wrong(f"--step {step} is not a whole number above 0", "Write a step such as 10.")
        number = start
        while True:
            yield number
            number += int(step or 1)
    months, length = step_of(step or "1d")
    if dtype == DATE and length % timedelta(days=1):
        raise wrong(f"--step {step} is no number of whole days", "Write a step such as 1d, 2 weeks or 1 month.")
    count = 0
    while True:
        try:
            yield months_later(start, months * count) + length * count
        except (OverflowError, ValueError):  # after the year 9999
            return
        count += 1


def step_of(text: str) -> tuple[int, timedelta]:
    """Return the months and the length of a step.

    Raises
    ------
    InvalidPipeline
        For a text that is no step, and for a step of nothing.
    """
    found = STEP.fullmatch(text)
    count, unit = (int(found[1]), found[2].lower()) if found else (0, "")
    unit = SHORT.get(unit, unit.removesuffix("s") if len(unit) > 1 else unit)
    if not count or unit not in {*UNITS, *MONTHS}:
        raise wrong(f"--step {text} is not a step", STEPS)
    try:
        return count * MONTHS.get(unit, 0), count * UNITS.get(unit, timedelta())
    except OverflowError:
        raise wrong(f"--step {text} is too long", STEPS) from None


def months_later(value: Any, months: int) -> Any:
    """Return a date or timestamp some months later; the last day of a month where it has no such day."""
    if not months:
        return value
    years, month = divmod(value.month - 1 + months, 12)
    year = value.year + years
    if year > date.max.year:
        raise OverflowError
    return value.replace(year=year, month=month + 1, day=min(value.day, monthrange(year, month + 1)[1]))


def text_of(value: Value) -> str:
    """Return a value as on a command line."""
    return value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)
