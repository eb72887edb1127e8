"""Dates and times to text, composed of columns of digits and names; Arrow's own depend on locale and platform."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.no_result import OFFSET_SECONDS, YEAR_DIGITS
from gpuetl.engines.pandas.columns.column import Masked, from_masked, over_columns, to_masked
from gpuetl.engines.pandas.expressions.clock import SECOND, Clock
from gpuetl.engines.pandas.expressions.functions.calendar import DAY_NAMES, MONTH_NAMES
from gpuetl.engines.zones import Ints, zone_clock
from gpuetl.errors import EvaluationError
from gpuetl.expressions.text_rules import letters_of, parse_format
from gpuetl.types.data_types import DATE, INT64, STRING, DataType

HOUR, MINUTE = 3600 * SECOND, 60 * SECOND


@cache
def digits(width: int) -> Any:
    """Return the strings of all numbers of this number of digits, each at its position."""
    return pa.array([f"{number:0{width}}" for number in range(10**width)])


@cache
def plain_digits(width: int) -> Any:
    """Return the same without zeros in front."""
    return pa.array([str(number) for number in range(10**width)])


SHORT_DAYS, SHORT_MONTHS = (pc.utf8_slice_codeunits(names, 0, 3) for names in (DAY_NAMES, MONTH_NAMES))
HALVES = pa.array(["AM", "PM"])

WRITERS: dict[str, tuple[Callable[[], Any], Callable[[Clock], Ints]]] = {
    "Y": (lambda: digits(4), lambda clock: clock.year),
    "m": (lambda: digits(2), lambda clock: clock.month),
    "d": (lambda: digits(2), lambda clock: clock.day),
    "H": (lambda: digits(2), lambda clock: clock.micros // HOUR),
    "I": (lambda: digits(2), lambda clock: (clock.micros // HOUR + 11) % 12 + 1),
    "M": (lambda: digits(2), lambda clock: clock.micros // MINUTE % 60),
    "S": (lambda: digits(2), lambda clock: clock.micros // SECOND % 60),
    "j": (lambda: digits(3), lambda clock: clock.dayofyear),
    "y": (lambda: digits(2), lambda clock: clock.year % 100),
    "G": (lambda: digits(4), lambda clock: clock.thursday.year),
    "V": (lambda: digits(2), lambda clock: (clock.thursday.dayofyear + 6) // 7),
    "u": (lambda: digits(1), lambda clock: clock.weekday + 1),
    "w": (lambda: digits(1), lambda clock: (clock.weekday + 1) % 7),
    "p": (lambda: HALVES, lambda clock: clock.micros // (12 * HOUR)),
    "b": (lambda: SHORT_MONTHS, lambda clock: clock.month - 1),
    "B": (lambda: MONTH_NAMES, lambda clock: clock.month - 1),
    "a": (lambda: SHORT_DAYS, lambda clock: clock.weekday),
    "A": (lambda: DAY_NAMES, lambda clock: clock.weekday),
    "g": (lambda: digits(3), lambda clock: clock.micros % SECOND // 1000),
    "U": (lambda: digits(2), lambda clock: (clock.dayofyear + 6 - (clock.weekday + 1) % 7) // 7),
    "W": (lambda: digits(2), lambda clock: (clock.dayofyear + 6 - clock.weekday) // 7),
}
WRITERS |= {f"-{letter}": (lambda: plain_digits(2), WRITERS[letter][1]) for letter in "dmyHIMS"}
WRITERS["-j"] = (lambda: plain_digits(3), WRITERS["j"][1])
"""The strings of each specifier and the place, on a clock, of the one that is written."""


def strftime(x: Any, form: Any) -> Any:
    """X as text, exactly; an error in a year without 4 digits."""
    return over_columns(lambda times: _written(times, form.as_py()), x)


def _written(times: Any, form: str) -> Any:
    column = to_masked(times)
    clock = Clock.of(column.values, times.type)
    years = clock.thursday.year if "G" in letters_of(form) else clock.year
    if (column.valid & ((years < 0) | (years > 9999) | (clock.year < 0) | (clock.year > 9999))).any():
        raise EvaluationError(YEAR_DIGITS)
    offset = {"z": offsets(column, times.type)} if "z" in letters_of(form) else {}
    return compose(form, clock, column.valid, offset)


def compose(form: str, clock: Clock, valid: Any, strings: Mapping[str, Any]) -> Any:
    """Return the strings of a clock, null where not `valid` or a year lacks 4 digits; `strings` has other fields."""
    pieces: list[Any] = []
    for part in parse_format(form):
        if isinstance(part, str):
            pieces.append(part)
        elif part.letter in strings:
            pieces.append(strings[part.letter])
        elif part.letter in ("f", "n"):
            micros = clock.micros % SECOND
            pieces += [chosen(digits(3), micros // 1000, valid), chosen(digits(3), micros % 1000, valid)]
            pieces += ["000"] * (part.letter == "n")
        else:
            table, place = WRITERS[part.letter]
            pieces.append(chosen(table(), place(clock), valid))
    return pc.binary_join_element_wise(*pieces, "", null_handling="emit_null")


def chosen(strings: Any, places: Ints, valid: Any) -> Any:
    """Return the strings at places, null where there is none."""
    within = valid & (places >= 0) & (places < len(strings))
    return strings.take(from_masked(Masked(places, within), INT64))


def offsets(column: Masked, dtype: DataType) -> Any:
    """Return the offsets of a zone's clock, such as `+0200`; raise `EvaluationError` where one has seconds."""
    seconds = np.where(column.valid, zone_clock(dtype.tz).offsets_at(column.values // SECOND), 0)
    if (seconds % 60).any():
        raise EvaluationError(OFFSET_SECONDS)
    distinct, places = np.unique(seconds // 60, return_inverse=True)
    strings = [f"{'-' if m < 0 else '+'}{abs(m) // 60:02}{abs(m) % 60:02}" for m in distinct]
    return chosen(pa.array(strings, STRING), places, column.valid)


def iso_text(x: Any) -> Any:
    """The text that CAST writes of a date or a timestamp."""
    if x.type == DATE:
        return strftime(x, pa.scalar("%Y-%m-%d"))
    ending = "Z" if x.type.tz == "UTC" else "%z" if x.type.tz else ""
    return strftime(x, pa.scalar(f"%Y-%m-%d %H:%M:%S.%f{ending}"))


HANDLERS: dict[str, Callable[..., Any]] = {"strftime": strftime}
