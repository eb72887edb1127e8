"""The text of intervals: `90 minutes`, `1 year 2 months`, `1h30m`, `1 day 2:30:00`, `3 days ago`."""

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
    "us": "microsecond", "usec": "microsecond", "usecs": "microsecond", "usecond": "microsecond",
    "useconds": "microsecond", "ms": "millisecond", "msec": "millisecond", "msecs": "millisecond",
    "msecond": "millisecond", "mseconds": "millisecond", "s": "second", "sec": "second", "secs": "second",
    "m": "minute", "min": "minute", "mins": "minute", "h": "hour", "hr": "hour", "hrs": "hour", "d": "day", "w": "week",
    "mon": "month", "mons": "month", "y": "year", "yr": "year", "yrs": "year", "dec": "decade", "decs": "decade",
    "c": "century", "cent": "century", "centuries": "century", "millennia": "millennium", "mil": "millennium",
    "mils": "millennium", "millenium": "millennium",
}  # fmt: skip
"""DuckDB's short names of units, and plurals that are not the name and an s."""
_DAY = 86_400_000_000
_MOST_MICROSECONDS = 1 << 64
"""Of one amount, before all are added."""
_INTERVAL = re.compile(r"\s*(-?[0-9]{1,19}(?:\.[0-9]{1,9})?)\s*([A-Za-z]+)\s*", re.ASCII)
_TIME_OF_INTERVAL = re.compile(
    r"(?:^|(?<=\s))(-?)([0-9]{1,9}):([0-5]?[0-9])(?::([0-5]?[0-9](?:\.[0-9]{1,6})?))?\s*$", re.ASCII
)
_AGO = re.compile(r"(?<![A-Za-z])ago\s*$", re.ASCII | re.IGNORECASE)
_SPACE = " \t\n\r\f\v"
_SECONDS = re.compile(r"\s*-?[0-9]{1,19}(?:\.[0-9]{1,9})?\s*", re.ASCII)


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
    """Read amounts with units, also months and years, such as `1 year 2 months`, each rounded to a microsecond.

    Raises
    ------
    UnknownUnit, ValueError
        As `interval_of`; a part of a month is no interval.
    """
    months, days, micros = Fraction(0), 0, 0
    for amount, name in _amounts(text):
        unit = _unit(name)
        if unit in _MONTHS:
            months += Fraction(amount) * _MONTHS[unit]
        elif unit in _MICROSECONDS:
            length = Fraction(amount) * _MICROSECONDS[unit]
            if unit == "microsecond" and length.denominator != 1:
                raise ValueError(coded("GE1112", f"'{text}' is not a whole number of microseconds"))
            whole = int(length / _DAY) if unit in ("day", "week") else 0
            rest = _rounded(length - whole * _DAY)
            if abs(whole * _DAY + rest) > _MOST_MICROSECONDS:
                raise ValueError(coded("GE1112", f"the interval '{text}' is too long"))
            days, micros = days + whole, micros + rest
        else:
            raise UnknownUnit(name)
    if months.denominator != 1:
        raise ValueError(coded("GE1112", f"'{text}' is not a whole number of months"))
    total = micros if months else days * _DAY + micros
    if not integer_fits(total, INT64) or abs(months) > MOST_MONTHS or (months and abs(days) > MOST_MONTHS):
        raise ValueError(coded("GE1112", f"the interval '{text}' is too long"))
    return CalendarInterval(int(months), days, micros) if months else timedelta(microseconds=total)


def _rounded(value: Fraction) -> int:
    """Return the nearest integer; halves go away from zero, as in DuckDB."""
    nearest = int(abs(value) + Fraction(1, 2))
    return -nearest if value < 0 else nearest


MOST_MONTHS = 2**31 - 1
"""Arrow counts months and days in 32 bits."""


def _amounts(text: str) -> list[tuple[str, str]]:
    """Return the amounts of an interval with the names of their units, in lower case.

    A time such as `2:30` or `-2:30:00.5` can stand at the end: hours, minutes and seconds of one sign.  After `ago` all
    amounts have the other sign.
    """
    amounts = text.removeprefix("@")
    clock = list[tuple[str, str]]()
    if time := _TIME_OF_INTERVAL.search(amounts):
        amounts, (sign, *parts) = amounts[: time.start()], time.groups()
        clock = [(sign + part, unit) for part, unit in zip(parts, ("hour", "minute", "second"), strict=True) if part]
    before = _AGO.sub("", amounts)
    found = [(amount, name.lower()) for amount, name in _INTERVAL.findall(before)]
    rest = _INTERVAL.sub("", before).strip(_SPACE)
    if rest or not (found or clock) or (clock and before != amounts):
        raise ValueError(coded("GE1112", f"'{text}' is not a valid interval"))
    if before != amounts:
        found = [(amount[1:] if amount.startswith("-") else f"-{amount}", name) for amount, name in found]
    return found + clock


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


def cast_interval(text: str) -> timedelta | CalendarInterval:
    """Read an interval as CAST does: a number alone is seconds.

    Raises
    ------
    UnknownUnit, ValueError
        As `interval_of`.
    """
    return calendar_interval_of(f"{text} seconds" if _SECONDS.fullmatch(text) else text)


def cast_microseconds(text: str) -> int:
    """Read the text of a duration as CAST does, in microseconds.

    Raises
    ------
    UnknownUnit, ValueError
        As `interval_of`.
    """
    found = cast_interval(text)
    if isinstance(found, CalendarInterval) or _has_months(text):
        raise ValueError(coded("GE2003", "months have no fixed length"))
    return found // timedelta(microseconds=1)


def _has_months(text: str) -> bool:
    return not _SECONDS.fullmatch(text) and any(_unit(name) in _MONTHS for _, name in _amounts(text))


def duration_text(micros: int) -> str:
    """Return the text of a duration as DuckDB writes it: `2 days 03:04:05.25`, `-01:00:00`."""
    sign, (days, rest) = "-" * (micros < 0), divmod(abs(micros), _DAY)
    seconds, fraction = divmod(rest, 1_000_000)
    clock = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    clock += f".{fraction:06}".rstrip("0") if fraction else ""
    parts = [f"{sign}{days} day{'s' * (days != 1)}"] * bool(days) + [clock] * bool(rest or not days)
    return " ".join(parts)
