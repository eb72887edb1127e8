"""Readable: numbers of bytes as people write them, and numbers as bars of text."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import pyarrow as pa

from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, fixed
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.data_types import FLOAT64, INT64, NULL, STRING, is_number, type_name

MOST_WIDTH, USUAL_WIDTH = 1000, 80
UNITS = {
    **dict.fromkeys(("b", "byte", "bytes"), 1),
    **{
        name: 1000**power
        for power, names in enumerate(("k kilobyte", "m megabyte", "g gigabyte", "t terabyte"), 1)
        for letter, long in (names.split(),)
        for name in (letter, f"{letter}b", long, f"{long}s")
    },
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", 1)},
}
"""Units of bytes by their names in lower case."""


def bar_types(args: Sequence[Expr]) -> Typing:
    """A number, the least and the greatest one, and perhaps a width in characters."""
    for arg in args:
        if arg.dtype != NULL and not is_number(arg.dtype):
            raise TypeMismatch(f"takes numbers, got {type_name(arg.dtype)}")
    for width in args[3:]:
        value = width.value if isinstance(width, Literal) else None
        if value is not None and not (isfinite(value) and 1 <= value <= MOST_WIDTH):
            raise TypeMismatch(coded("GE1106", f"takes a width from 1 to {MOST_WIDTH:,}, got {value}"))
    return [FLOAT64] * len(args), STRING


FUNCTIONS = (
    Function("format_bytes", "x", fixed(INT64, returns=STRING), "A number of bytes in units of 1,024, with one digit after the point, which is not rounded.",
             "format_bytes(16384)", "16.0 KiB"),
    Function("formatreadabledecimalsize", "x", fixed(INT64, returns=STRING), "A number of bytes in units of 1,000, with one digit after the point, which is not rounded.",
             "formatreadabledecimalsize(16000)", "16.0 kB"),
    Function("parse_formatted_bytes", "text", fixed(STRING, returns=pa.uint64()),
             "The bytes of a text such as `1.5 GiB`: B, KB, MB, GB and TB are units of 1,000, KiB to TiB of 1,024, in any case.",
             "parse_formatted_bytes('1.5 KiB')", 1536, can_fail=True),
    Function("bar", "x low~ high~ width?~", bar_types, "A bar of eighths of characters, filled up with spaces to `width` (80) where x is `high`; empty at `low`.",
             "bar(5, 0, 10, 4)", "██  ", can_fail=True),
)  # fmt: skip
