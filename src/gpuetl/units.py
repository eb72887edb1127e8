"""Numbers for people, with units: bytes, rates, seconds, rows, shares.  Terminal, report and notebooks use these."""

from __future__ import annotations

import re
from datetime import UTC, datetime

BYTE_UNITS = ("B", "kB", "MB", "GB", "TB")
WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?b)?", re.IGNORECASE)
SHORT_COUNTS = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
LEAST_SHARE = 0.001


def size(count: int) -> str:
    """Return a number of bytes: `1.5 GB`."""
    amount = float(count)
    for unit in BYTE_UNITS[:-1]:
        if abs(amount) < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def size_of(count: int, total: int) -> str:
    """Return a part of a number of bytes, both in the unit of the whole: `1.2 of 4.0 GB`."""
    power = 0
    while total >= 1000 ** (power + 1) and power < len(BYTE_UNITS) - 1:
        power += 1
    if not power:
        return f"{count} of {total} B"
    return f"{count / 1000**power:.1f} of {total / 1000**power:.1f} {BYTE_UNITS[power]}"


def read_size(text: str) -> int:
    """Return the bytes that a text names as `size` writes them, in whatever case: `8GB`, `1.5 tb`, `4096`.

    Raises
    ------
    ValueError
        For another text.
    """
    if not (found := WRITTEN.fullmatch(text.strip())):
        raise ValueError(f"'{text}' is not a valid size, such as 8GB or 500MB")
    units = [unit.lower() for unit in BYTE_UNITS]
    return int(float(found[1]) * 1000 ** units.index((found[2] or "B").lower()))


def rate(bytes_per_s: float) -> str:
    """Return bytes per second: `45 GB/s`, with a digit after the point below 10."""
    amount = float(bytes_per_s)
    for unit in BYTE_UNITS:
        if abs(amount) < 999.5 or unit == BYTE_UNITS[-1]:
            break
        amount /= 1000
    return f"{amount:.1f} {unit}/s" if 0 < abs(amount) < 9.95 else f"{amount:.0f} {unit}/s"


def duration(seconds: float) -> str:
    """Return seconds in the unit that suits them: `25 µs`, `3.2 ms`, `1.24 s`, `2 min 05 s`, `1 h 02 min`."""
    if seconds <= 0:
        return "0 s"
    for factor, unit in ((1e6, "µs"), (1e3, "ms")):
        if (amount := seconds * factor) < 999.5:
            return f"{amount:.1f} {unit}" if amount < 9.95 and unit == "ms" else f"{max(1, round(amount))} {unit}"
    if seconds < 59.95:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours:,} h {minutes:02} min"


def count(number: int | None) -> str:
    """Return a whole number with a comma after each three digits; nothing for None."""
    return "" if number is None else f"{number:,}"


def short_count(number: int) -> str:
    """Return a number in three digits, where there is little space: `337 k`, `1.24 M`."""
    for factor, unit in SHORT_COUNTS:
        if abs(number) >= factor:
            amount = number / factor
            digits = 0 if abs(amount) >= 99.95 else 1 if abs(amount) >= 9.995 else 2
            return f"{amount:.{digits}f} {unit}"
    return str(number)


def percent(share: float) -> str:
    """Return a share in three digits: `12.5 %`; `< 0.1 %` for less than that, but for 0."""
    if 0 < share < LEAST_SHARE:
        return "< 0.1 %"
    return f"{100 * share:.0f} %" if share >= 1 else f"{100 * share:.3g} %"


def rounded_percent(share: float) -> str:
    """Return a share in whole percents: `86 %`, `< 1 %`."""
    return "< 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def timestamp(seconds: float) -> str:
    """Return seconds since 1970 as date and time in UTC: `2026-11-24 18:22:15 UTC`."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
