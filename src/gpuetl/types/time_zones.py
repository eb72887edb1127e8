"""Names of time zones: those of the tz database, and offsets from UTC."""

from __future__ import annotations

import re
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from gpuetl.errors import suggestion
from gpuetl.messages import coded

_OFFSET = re.compile(r"([+-])([01]\d|2[0-3]):([0-5]\d)")


def fixed_offset(name: str) -> int | None:
    """Return the seconds that a clock named UTC, or by an offset such as `-03:30`, is ahead; None for other names."""
    if name == "UTC":
        return 0
    hit = _OFFSET.fullmatch(name)
    return int(f"{hit[1]}1") * (int(hit[2]) * 3600 + int(hit[3]) * 60) if hit else None


@cache
def is_zone(name: str) -> bool:
    """Tell whether `name` is a zone of the tz database, which is the system's or the package tzdata's, or an offset."""
    if fixed_offset(name) is not None:
        return True
    try:
        return bool(ZoneInfo(name))
    except (KeyError, ValueError, OSError):  # not there; no name; a folder of zones
        return False


@cache
def zone_named(name: str) -> str | None:
    """Return the name of a zone as the tz database has it, of one in other case as well; None for no zone."""
    if is_zone(name):
        return name
    return next((zone for zone in available_timezones() if zone.lower() == name.lower()), None)


class UnknownZone(ValueError):
    """A name that is no zone's."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(coded("GE1026", f"unknown time zone '{name}'"))

    @property
    def hint(self) -> str:
        """The nearest zone, or what to install where there is no tz database."""
        known = available_timezones()
        if not known:
            return "There is no tz database here: install the system's, or the package tzdata."
        return suggestion(self.name, known) or "A zone is named as in the tz database: 'Europe/Berlin', '+01:00'."
