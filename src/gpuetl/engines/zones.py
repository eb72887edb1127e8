"""The clocks of time zones, as tables of transitions that any engine can search.

Engines' own tables end in 2037 or at the last transition that a file lists; here the rule that a file ends with
goes on for ever: the Gregorian calendar repeats every 400 years, weekdays and all.  Times are in seconds.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from pathlib import Path
from zoneinfo import TZPATH, ZoneInfo

import numpy as np
from numpy.typing import NDArray

from gpuetl.records import dataclass
from gpuetl.types.time_zones import fixed_offset

Ints = NDArray[np.int64]

DAY = 86_400
CYCLE = 146_097 * DAY
FIRST = -62_135_596_800  # 0001-01-01, where Python's clocks begin
SAMPLE = 20 * DAY  # shorter than what any rule has between two changes
HEADER = struct.Struct(">4s1s15x6l")  # RFC 9636, section 3.1


@dataclass(frozen=True, eq=False)
class ZoneClock:
    """The offsets of a zone's clock from UTC.

    Parameters
    ----------
    transitions
        int64, ascending: the instants, in seconds since 1970 in UTC, at which the offset changes.
    offsets
        int64, one more: `offsets[i]` holds before `transitions[i]`, the last one from the last transition on.
    repeats
        Whether the last 400 years go on for ever.
    """

    transitions: Ints
    offsets: Ints
    repeats: bool = False

    def offsets_at(self, instants: Ints) -> Ints:
        """Return the offset of the clock at instants in UTC."""
        found, _ = _search(self.transitions, instants, self.repeats)
        return self.offsets[found]

    def instants_of(self, local: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the instants of what the clock shows: by the offset before a change, by the one after, and the change.

        Both are equal but around a change.  The first is the earlier where the clock is turned back and shows a
        time twice; it is the later where the clock is turned forward and does not show the time at all.
        """
        before, after = self.offsets[:-1], self.offsets[1:]
        old, _ = _search(self.transitions + np.maximum(before, after), local, self.repeats)
        new, skipped = _search(self.transitions + np.minimum(before, after), local, self.repeats)
        change = self.transitions[np.maximum(new - 1, 0)] + skipped if len(self.transitions) else local
        return local - self.offsets[old], local - self.offsets[new], change


def _search(changes: Ints, times: Ints, repeats: bool) -> tuple[Ints, Ints]:
    """Return how many changes each time is past, and the whole cycles, in seconds, that it is beyond the last one."""
    beyond = np.maximum(times - changes[-1], 0) if repeats else np.zeros_like(times)
    cycles = -(-beyond // CYCLE) * CYCLE
    return np.searchsorted(changes, times - cycles, side="right"), cycles


@cache
def zone_clock(name: str) -> ZoneClock:
    """Return the clock of a zone by its name in the tz database, or of an offset such as `+02:00`.

    Raises
    ------
    zoneinfo.ZoneInfoNotFoundError
        For a name that is not there, or where there is no tz database: neither the system's nor the package tzdata.
    """
    if (offset := fixed_offset(name)) is not None:
        return ZoneClock(np.empty(0, np.int64), np.array([offset]))
    zone = ZoneInfo(name)
    listed = [time for time in _listed_transitions(name) if time > FIRST]
    start = listed[-1] if listed else 0
    ruled = list(_changes(zone, start, start + CYCLE + 366 * DAY))
    transitions = [*listed, *ruled]
    first = transitions[0] - 1 if transitions else 0
    offsets = [_offset(zone, time) for time in (first, *transitions)]
    return ZoneClock(np.array(transitions, np.int64), np.array(offsets, np.int64), bool(ruled))


def _offset(zone: ZoneInfo, instant: int) -> int:
    offset = datetime.fromtimestamp(instant, UTC).astimezone(zone).utcoffset()
    assert offset is not None
    return round(offset.total_seconds())


def _changes(zone: ZoneInfo, start: int, stop: int) -> Iterator[int]:
    """Yield the instants in (start, stop) at which the zone's offset changes, by halving between samples."""
    offset = _offset(zone, start)
    for sample in range(start + SAMPLE, stop, SAMPLE):
        if (later := _offset(zone, sample)) != offset:
            low, high = sample - SAMPLE, sample
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if _offset(zone, middle) == offset else (low, middle)
            yield high
            offset = later


def _listed_transitions(name: str) -> list[int]:
    """Return the transitions of a zone's file: those of the second, 64-bit block (RFC 9636, section 3)."""
    data = _zone_file(name)
    _, version, *counts = HEADER.unpack_from(data)
    if version == b"\0":
        raise ValueError(f"the tz database has only 32-bit times for {name}")
    n_utc, n_standard, n_leap, n_times, n_types, n_letters = counts
    second = HEADER.size + 5 * n_times + 6 * n_types + n_letters + 8 * n_leap + n_standard + n_utc
    n_times = HEADER.unpack_from(data, second)[5]
    return list(struct.unpack_from(f">{n_times}q", data, second + HEADER.size))


def _zone_file(name: str) -> bytes:
    for folder in TZPATH:
        path = Path(folder, name)
        if path.is_file():
            return path.read_bytes()
    return resources.files("tzdata").joinpath("zoneinfo", name).read_bytes()
