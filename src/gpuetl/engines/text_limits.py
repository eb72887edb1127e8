"""How long one string may be, on every engine: Arrow and Parquet count its bytes in 32 bits."""

from __future__ import annotations

from gpuetl.messages import Message, coded

MOST_BYTES = (1 << 31) - 1


def too_long(size: int) -> Message:
    """Return why an expression has no result whose string would have so many bytes."""
    return coded("GE2031", f"the string would have {size:,} bytes, and a string has {MOST_BYTES:,} at most")
