"""The text of dates, timestamps and times of day, `2020/1/2` and `2020-01-02 24:00:00`, in one form."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from gpuetl.types.data_types import DATE, TIME, TIMESTAMP_NS, DataType

_LAST_DAY = "9999-12-31"
_SPACES = " \t\n\v\f\r"
_DAY = r"(?P<year>[0-9]{4})(?P<sign>[-/ ])(?P<month>[0-9]{1,2})(?P=sign)(?P<day>[0-9]{1,2})"
_CLOCK = r"(?P<hour>[0-9]{2}|[0-9](?=:))(?::(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]+))?)?)?"
_ZONE = r"(?P<zone>Z| ?UTC|[-+][0-9]{2}(?::?[0-5][0-9])?)"
_DATE = re.compile(_DAY)
_TIME = re.compile(_CLOCK)
_NAIVE = re.compile(f"{_DAY}(?:[ T] *{_CLOCK})?")
_ZONED = re.compile(f"{_DAY}[ T] *{_CLOCK}{_ZONE}")


def iso_form(text: str, dtype: DataType) -> str:
    """Return a date, timestamp or time of day as ISO 8601 has it.

    Digits behind those of its unit must be 0, since none is lost.  24:00:00 is the midnight of the next day.  Whether
    the parts are in range is for the reader of the result to say.

    Raises
    ------
    ValueError
        For a text of another form, and for more digits of a second than the type has.
    """
    zoned = bool(getattr(dtype, "tz", None))
    form = _DATE if dtype == DATE else _TIME if dtype == TIME else _ZONED if zoned else _NAIVE
    hit = form.fullmatch(text.strip(_SPACES))
    if hit is None or (dtype == TIME and not hit["minute"]):
        raise ValueError(text)
    if dtype == TIME:
        return _clock(hit, 6)
    day = f"{hit['year']}-{hit['month']:0>2}-{hit['day']:0>2}"
    if dtype == DATE or not hit["hour"]:
        return day
    clock = _clock(hit, 9 if dtype == TIMESTAMP_NS else 6)
    if hit["hour"] == "24" and not clock[2:].strip("0:."):
        if day == _LAST_DAY:
            raise ValueError(text)
        day, clock = str(np.datetime64(day, "D") + 1), "00:00:00"
    zone = hit["zone"].strip().replace("UTC", "Z") if zoned else ""
    return f"{day} {clock}{zone}"


def _clock(hit: re.Match[str], places: int) -> str:
    if (hit["fraction"] or "")[places:].strip("0"):
        raise ValueError(hit[0])
    clock = f"{hit['hour']:0>2}:{hit['minute'] or '00'}:{hit['second'] or '00'}"
    return f"{clock}.{hit['fraction'][:places]}" if hit["fraction"] else clock


LIKELY = rf"^[{_SPACES}]*[0-9]{{4}}[-/ ][0-9]{{1,2}}[-/ ][0-9]"
"""Pattern of texts that may be dates or timestamps."""


def is_moment(dtype: DataType) -> bool:
    """Return whether values of a type are dates, timestamps or times of day."""
    return bool(pa.types.is_temporal(dtype) and not pa.types.is_duration(dtype))
