"""Text to dates and times: strings are read by fixed widths, and valid if the format writes them the same again."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.no_result import OF_ANOTHER_FORM
from gpuetl.engines.pandas.columns.column import Masked, from_masked, over_columns, to_masked
from gpuetl.engines.pandas.expressions.clock import DAY, SECOND, THURSDAY, Clock, first_day
from gpuetl.engines.pandas.expressions.functions.formats import HOUR, MINUTE, WRITERS, compose
from gpuetl.engines.zones import Ints
from gpuetl.errors import EvaluationError
from gpuetl.expressions.text_rules import SPECIFIERS, Field, letters_of, parse_format, way_of
from gpuetl.types.data_types import INT64, TIMESTAMP

NAMES = ("a", "A", "b", "B", "p")
PIVOT = 69  # %y is a year of 1969 to 2068, as in POSIX


def strptime(text: Any, form: Any) -> Any:
    """The timestamp that the format writes as this string; an error if there is none."""
    result = try_strptime(text, form)
    lost = pc.and_(pc.is_valid(text), pc.is_null(result))
    if (lost if isinstance(lost, pa.Scalar) else pc.any(lost)).as_py():
        raise EvaluationError(OF_ANOTHER_FORM)
    return result


def try_strptime(text: Any, form: Any) -> Any:
    """The timestamp that the format writes as this string; null if there is none."""
    return over_columns(lambda column: _parsed(column, form.as_py()), text)


def _parsed(column: Any, form: str) -> Any:
    found = pc.extract_regex(column, pattern=pattern_of(form))
    strings = {letter: pc.struct_field(found, [index]) for index, letter in enumerate(letters_of(form))}
    offset = {"z": strings.pop("z")} if "z" in strings else {}
    fields = {letter: numbers(letter, field) for letter, field in strings.items()}
    clock = clock_of(fields)
    short = [part.base for part in parse_format(form) if isinstance(part, Field) and part.is_short]
    kept = {f"-{letter}": strings[letter] for letter in short}  # zeros in front may stand there
    written = compose(form, clock, to_masked(pc.is_valid(found)).values, offset | kept)
    same = to_masked(pc.fill_null(pc.equal(written, column), False)).values
    for letter in short:
        same = same & (WRITERS[letter][1](clock) == fields[letter])
    micros = clock.days * DAY + clock.micros - (ahead(offset["z"]) if offset else 0)
    return from_masked(Masked(micros, same), pa.timestamp("us", tz="UTC") if offset else TIMESTAMP)


def pattern_of(form: str) -> str:
    """Return the regular expression of a format, with a group for each of its fields."""
    parts = (
        f"(?P<{part.base}>{SPECIFIERS[part.letter]})" if isinstance(part, Field) else re.escape(part)
        for part in parse_format(form)
    )
    return rf"\A{''.join(parts)}\z"


def numbers(letter: str, strings: Any) -> Ints:
    """Return the numbers that strings of a field stand for: of names, their places; 0 under a null."""
    if letter in NAMES:
        return to_masked(pc.index_in(strings, value_set=WRITERS[letter][0]()).cast(INT64)).values
    return to_masked(strings.cast(INT64)).values


def clock_of(fields: Mapping[str, Ints]) -> Clock:
    """Return the clock that shows the fields; those that are no date or time lead to another one."""
    rows = len(next(iter(fields.values())))
    read = defaultdict(lambda: np.zeros(rows, np.int64), fields)
    hour = read["H"] if "H" in fields else read["I"] % 12 + 12 * read["p"]
    fraction = read["f"] if "f" in fields else read["n"] // 1000 if "n" in fields else read["g"] * 1000
    carry, micros = np.divmod(hour * HOUR + read["M"] * MINUTE + read["S"] * SECOND + fraction, DAY)
    return Clock(days_of(fields) + carry, micros)


def days_of(fields: Mapping[str, Ints]) -> Ints:
    """Return the days since 1970 by year, month and day, by year and day of the year, or by weeks."""
    way = way_of(fields)
    if way == "iso_week":
        return iso_week_days(fields)
    year = fields["Y"] if "Y" in fields else (fields["y"] - PIVOT) % 100 + 1900 + PIVOT
    january = (year - 1970) * 12
    if way == "day_of_year":
        return first_day(january) + fields["j"] - 1
    if way in ("sunday_week", "monday_week"):
        return week_days(first_day(january), fields, int(way == "sunday_week"))
    month = fields["m"] - 1 if "m" in fields else fields["b" if "b" in fields else "B"]
    return first_day(january + month) + fields["d"] - 1


def iso_week_days(fields: Mapping[str, Ints]) -> Ints:
    """Return the days since 1970 by ISO year, week and day: January 4th is always in week 1."""
    fourth = first_day((fields["G"] - 1970) * 12) + 3
    return fourth - (fourth + THURSDAY) % 7 + (fields["V"] - 1) * 7 + weekday_of(fields)


def week_days(january: Ints, fields: Mapping[str, Ints], sunday: int) -> Ints:
    """Return the days since 1970 by a week that begins with a Sunday or Monday; days before the first are in week 0."""
    week, day = fields["U" if sunday else "W"], (weekday_of(fields) + sunday) % 7
    return january + day + 7 * (week - 1) + -(january + THURSDAY + sunday) % 7


def weekday_of(fields: Mapping[str, Ints]) -> Ints:
    """Return the weekday, Monday is 0."""
    if "u" in fields:
        return fields["u"] - 1
    return (fields["w"] + 6) % 7 if "w" in fields else fields["a" if "a" in fields else "A"]


def ahead(offsets: Any) -> Ints:
    """Return the microseconds by which clocks of offsets such as `-0330` are ahead of UTC; 0 under a null."""
    hours, minutes = (to_masked(pc.utf8_slice_codeunits(offsets, *cut).cast(INT64)).values for cut in ((1, 3), (3, 5)))
    behind = to_masked(pc.fill_null(pc.starts_with(offsets, "-"), False)).values
    micros = hours * HOUR + minutes * MINUTE
    return np.asarray(np.where(behind, -micros, micros))


HANDLERS: dict[str, Callable[..., Any]] = {"strptime": strptime, "try_strptime": try_strptime}
