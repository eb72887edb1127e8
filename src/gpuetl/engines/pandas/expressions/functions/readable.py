"""Numbers of bytes as text and back, and bars."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa

from gpuetl.engines.no_result import NO_BAR, NO_SIZE, NUMBER
from gpuetl.engines.pandas.expressions.functions.binary import of_distinct
from gpuetl.engines.pandas.expressions.functions.text_rows import by_row
from gpuetl.errors import EvaluationError
from gpuetl.expressions.functions.readable import MOST_WIDTH, UNITS, USUAL_WIDTH
from gpuetl.types.data_types import STRING

NAMES = {1024: ("KiB", "MiB", "GiB", "TiB", "PiB"), 1000: ("kB", "MB", "GB", "TB", "PB")}
EIGHTHS = " ▏▎▍▌▋▊▉"
SIZE = re.compile(r"[ \t\n\v\f\r]*(?P<number>[0-9.eE-]+)[ \t\n\v\f\r]*(?P<unit>[A-Za-z]+)[ \t\n\v\f\r]*")
BEYOND_UINT64 = float(1 << 64)


def readable_size(unit: int, count: int) -> str:
    """Return a number of bytes in the greatest unit of which there is one."""
    sign, rest = "-" * (count < 0), abs(count)
    for power, name in reversed([*enumerate(NAMES[unit], 1)]):
        if rest >= unit**power:
            whole, below = divmod(rest // unit ** (power - 1), unit)
            return f"{sign}{whole}.{below * 10 // unit} {name}"
    return f"{sign}{rest} {'byte' if rest == 1 else 'bytes'}"


def size_of(text: str) -> int:
    """Return the bytes that a text says; raise `EvaluationError` for one that says none."""
    found = SIZE.fullmatch(text)
    unit = UNITS.get(found["unit"].lower()) if found else None
    if found is None or unit is None or not NUMBER.fullmatch(found["number"]):
        raise EvaluationError(NO_SIZE)
    size = float(found["number"]) * unit
    if not 0 <= size < BEYOND_UINT64:
        raise EvaluationError(NO_SIZE)
    return int(size)


def bar(x: float, low: float, high: float, most: float = USUAL_WIDTH) -> str:
    """Return a bar of a number between two others; raise `EvaluationError` where it has no width."""
    if not 1 <= most <= MOST_WIDTH:
        raise EvaluationError(NO_BAR)
    if math.isnan(x) or math.isnan(low) or math.isnan(high) or x <= low:
        width = 0.0
    else:
        width = most if x >= high else most * (x - low) / (high - low)
    if not math.isfinite(width):
        raise EvaluationError(NO_BAR)
    whole, eighths = divmod(int(width * 8), 8)
    drawn = "█" * whole + EIGHTHS[eighths] * (eighths > 0)
    return drawn + " " * (int(most) - len(drawn))


HANDLERS: dict[str, Callable[..., Any]] = {
    "format_bytes": partial(of_distinct, partial(readable_size, 1024), STRING),
    "formatreadabledecimalsize": partial(of_distinct, partial(readable_size, 1000), STRING),
    "parse_formatted_bytes": partial(of_distinct, size_of, pa.uint64()),
    "bar": by_row(bar, STRING),
}
