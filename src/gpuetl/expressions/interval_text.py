"""The text of intervals: `90 minutes`, `1 year 2 months`, `1h30m`, `1 day 2:30:00`."""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction

from gpuetl.messages import coded
from gpuetl.types.calendar_intervals import CalendarInterval
from gpuetl.types.data_types import INT64, integer_fits

_MICROSECONDS = {
    "microsecond": 1, "millisecond": 1000, "second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000,
    "day": 86_400_000_000, "week": 604_800_000_000,
}  # fmt: skip
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12_000}
_UNIT_NAMES = {
    "us": "microsecond", "usec": "microsecond", "usecs": "microsecond", "ms": "millisecond", "msec": "millisecond",
    "msecs": "millisecond", "s": "second", "sec": "second", "secs": "second", "m": "minute", "min": "minute",
    "mins": "minute", "h": "hour", "hr": "hour", "hrs": "hour", "d": "day", "w": "week", "mon": "month",
    "mons": "month", "y": "year", "yr": "year", "yrs": "year", "dec": "decade", "decs": "decade", "c": "century",
    "cent": "century", "centuries": "century", "millennia": "millennium",
}  # fmt: skip
"""DuckDB's short names of units, and plurals that are not the name and an s."""
_DAY = 86_400_000_000
_INTERVAL = re.compile(r"\s*(-?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*")
_TIME_OF_INTERVAL = re.compile(
    r"(?:^|(?<=\s))(-?)([0-9]+):([0-5][0-9])(?::([0-5][0-9](?:\.[0-9]{1,6})?))?\s*$", re.ASCII
)


class UnknownUnit(ValueError):
    """An interval in a unit that has no fixed length, or is no unit."""

    @property
    def hint(self) -> str:
        """What to write instead."""
        if _unit(str(self)) in _MONTHS:
            return "Months have no fixed length: write days here, such as interval '30 days'."
        units = "weeks, days, hours, minutes, seconds, milliseconds, microseconds."
        return f"Units: years, quarters, months, {units}"


def interval_of(text: str) -> timedelta:
    """Read amounts with units of a fixed length, such as `90 minutes` or `2 days 3 hours`.

    Raises
    ------
    UnknownUnit
        With the unit.
    ValueError
        For text that is no interval, or one too long.
    """
    found = calendar_interval_of(text)
    if isinstance(found, CalendarInterval):
        raise UnknownUnit(next(name for _, name in _amounts(text) if _unit(name) in _MONTHS))
    return found


def calendar_interval_of(text: str) -> timedelta | CalendarInterval:
    """Read amounts with units, also months and years, such as `1 year 2 months`.

    Raises
    ------
    UnknownUnit, ValueError
        As `interval_of`; a part of a month is no interval.
    """
    months, days, length = Fraction(0), Fraction(0), Fraction(0)
    for amount, name in _amounts(text):
        unit = _unit(name)
        if unit in _MONTHS:
            months += Fraction(amount) * _MONTHS[unit]
        elif unit in ("day", "week"):
            days += Fraction(amount) * (1 if unit == "day" else 7)
        elif unit in _MICROSECONDS:
            length += Fraction(amount) * _MICROSECONDS[unit]
        else:
            raise UnknownUnit(name)
    if months.denominator != 1:
        raise ValueError(coded("GE1112", f"'{text}' is not a whole number of months"))
    whole = int(days) if months else 0
    micros = round(length + (days - whole) * _DAY)
    if not integer_fits(micros, INT64) or abs(months) > MOST_MONTHS or abs(whole) > MOST_MONTHS:
        raise ValueError(coded("GE1112", f"the interval '{text}' is too long"))
    return CalendarInterval(int(months), whole, micros) if months else timedelta(microseconds=micros)


MOST_MONTHS = 2**31 - 1
"""Arrow counts months and days in 32 bits."""


def _amounts(text: str) -> list[tuple[str, str]]:
    """Return the amounts of an interval with the names of their units, in lower case.

    A time such as `2:30` or `-2:30:00.5` can stand at the end: hours, minutes and seconds of one sign.
    """
    amounts = text
    clock = list[tuple[str, str]]()
    if time := _TIME_OF_INTERVAL.search(text):
        amounts, (sign, *parts) = text[: time.start()], time.groups()
        clock = [(sign + part, unit) for part, unit in zip(parts, ("hour", "minute", "second"), strict=True) if part]
    found = [(amount, name.lower()) for amount, name in _INTERVAL.findall(amounts)] + clock
    if not found or _INTERVAL.sub("", amounts).strip():
        raise ValueError(coded("GE1112", f"'{text}' is not a valid interval"))
    return found


def _unit(name: str) -> str:
    return _UNIT_NAMES.get(name, name.removesuffix("s"))


def spelled_out(text: str) -> str:
    """Return an interval with a time at its end, such as `1 day 2:30`, as amounts with units: `1 day 2 hour 30 minute`.

    Raises
    ------
    ValueError
        For text that is no interval.
    """
    return " ".join(f"{amount} {unit}" for amount, unit in _amounts(text))
