"""Numbers of bytes for people."""

from __future__ import annotations

import re

UNITS = ("B", "kB", "MB", "GB", "TB")
WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?b)?", re.IGNORECASE)


def size(count: int) -> str:
    """Return a number of bytes for people."""
    amount = float(count)
    for unit in UNITS[:-1]:
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def read_size(text: str) -> int:
    """Return the bytes that a text names as `size` writes them, in whatever case: `8GB`, `1.5 tb`, `4096`.

    Raises
    ------
    ValueError
        For another text.
    """
    if not (found := WRITTEN.fullmatch(text.strip())):
        raise ValueError(f"'{text}' is no size, such as 8GB or 500MB")
    units = [unit.lower() for unit in UNITS]
    return int(float(found[1]) * 1000 ** units.index((found[2] or "B").lower()))
