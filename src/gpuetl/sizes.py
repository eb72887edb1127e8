"""Numbers of bytes for people."""

from __future__ import annotations


def size(count: int) -> str:
    """Return a number of bytes for people."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"
